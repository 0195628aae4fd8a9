/* What is alike over all layers in one row: arguments of one role and one sharding, reshards of one way. */
#ifndef REPORT_FOLDED_ROWS_H_
#define REPORT_FOLDED_ROWS_H_

#include "base/folded_names.h"
#include "shardwright/plan.h"

typedef struct sw_arg_rows {
  int32_t n;
  const sw_folded_name *at; /* items are arguments; `uniform`: of one type, else of several shapes of one rank */
} sw_arg_rows;

/* In the order of their first argument; in the arena. */
sw_rc sw_fold_args(const sw_plan *p, sw_arena *arena, sw_arg_rows *out, sw_diag *d);
/* Each argument by itself, as groups of one. */
sw_rc sw_list_args(const sw_plan *p, sw_arena *arena, sw_arg_rows *out, sw_diag *d);

/* f32[64..512,64,1,1]: of each dimension the sizes that it has in the group. */
void sw_arg_row_type_print(const sw_plan *p, const sw_folded_name *g, sw_text *out);
/* What a device holds of argument i, padding included; and of all of a group. */
int64_t sw_arg_bytes(const sw_plan *p, int32_t i);
int64_t sw_arg_row_bytes(const sw_plan *p, const sw_folded_name *g);

/* By value, what it is called where people read: by its scopes where the program says them,
 * "jit(step)/block_3/attn/exp", and "#2" behind the second of the same, for numbers of values say nothing and differ
 * from layer to layer; else by its name. No two are equal; in the arena. */
sw_rc sw_name_values(const sw_graph *g, sw_arena *arena, const char ***out, sw_diag *d);
/* Reshards for sw_fold_names: alike are those from one sharding to one other by the same collectives. `names`: of
 * values; `out` has room for all. */
sw_rc sw_name_reshards(const sw_plan *p, const sw_breakdown *a, const char *const *names, sw_arena *arena,
                       sw_named *out, sw_diag *d);
/* Reshards from one sharding to one other by the same collectives, in the order of the first; items are reshards. */
sw_rc sw_fold_reshards(const sw_plan *p, const sw_breakdown *a, sw_arena *arena, int32_t *n, const sw_folded_name **out,
                       sw_diag *d);

#endif
