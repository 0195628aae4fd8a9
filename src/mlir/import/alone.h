/* Ops imported one at a time, each into a graph of its own: what an op becomes, whatever stands around it. Nothing is
 * said of values, and dialects' hooks are not asked. */
#ifndef MLIR_ALONE_H_
#define MLIR_ALONE_H_

#include "mlir/import/import.h"

typedef struct sw_im_alone {
  sw_importer m;
  sw_ir_instance instance; /* slots[]: the values of the graph at hand, -1: none */
  sw_program_options options;
} sw_im_alone;

/* For ops of a function. To be closed in any case. */
SW_CHECKED sw_rc sw_im_alone_open(sw_im_alone *a, const sw_ir_tree *t, const sw_ir_names *names, uint32_t function,
                                  sw_diag *d);
void sw_im_alone_close(sw_im_alone *a);
/* A new graph for op `op`; what it reads is to be put into slots. */
SW_CHECKED sw_rc sw_im_alone_begin(sw_im_alone *a, uint32_t op, sw_diag *d);
/* *done = false: it has no row, or is a call or region that would have to be gone through. */
SW_CHECKED sw_rc sw_im_alone_import(sw_im_alone *a, uint32_t op, bool *done);
/* The graph goes. Slots are the caller's to empty. */
void sw_im_alone_end(sw_im_alone *a);

#endif
