/* The passes over a program, a file each, and the table of them (passes.c). */
#ifndef SPMD_PASSES_SPMD_PASSES_H_
#define SPMD_PASSES_SPMD_PASSES_H_

#include "spmd/passes/spmd_rewrite.h"

typedef struct sw_pass {
  const char *name;
  /* One of them. run: walks; what it does not change it copies */
  sw_rewrite_visit visit, visit_same;
  sw_rc (*run)(sw_rewrite *r, sw_diag *d);
  bool repeats;    /* what it did may let it do more: run again while it does */
  bool local_only; /* it writes what has no counterpart on whole tensors */
} sw_pass;

extern const sw_pass sw_pass_share, sw_pass_drop, sw_pass_gather_up, sw_pass_gather_down, sw_pass_slice_up,
    sw_pass_cancel, sw_pass_reassociate, sw_pass_scatter, sw_pass_fold, sw_pass_hoist, sw_pass_combine;

#endif
