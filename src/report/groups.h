/* Repeated layers in one row: arguments whose names differ only in numbers and that are alike otherwise. */
#ifndef REPORT_GROUPS_H_
#define REPORT_GROUPS_H_

#include "shardwright/plan.h"

typedef struct sw_arg_group {
  const char *name; /* "h.*.attn.wq" when there are several, else the name */
  int32_t first;    /* argument */
  int32_t count;
} sw_arg_group;

/* In the order of their first argument. */
sw_rc sw_group_args(const sw_plan *p, sw_arena *arena, int32_t *n, const sw_arg_group **out, sw_diag *d);

#endif
