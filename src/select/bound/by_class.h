/* Inside the solver: the dual of a core in which layers repeat, at the price of a layer.
 *
 * Variables with equal costs, amounts and tables to equal neighbours, some steps far, have nearly the same messages. So
 * at first passes see one variable of each class, whose links have their messages in one place: the bound is then only
 * an estimate. Copied to all, the messages and prices are near to where passes over everything would lead.
 */
#ifndef SELECT_BY_CLASS_H_
#define SELECT_BY_CLASS_H_

#include "select/bound/dual.h"

/* What a dual has while each variable stands by itself. */
typedef struct sel_apart {
  int32_t classes; /* of variables; 0: too few are alike, nothing is merged */
  int32_t *offset;
  int32_t n_flat;
  int64_t n_messages, passes;
  double *mean;
} sel_apart;

/* From now on passes see one variable of each class: equal to `rounds` steps far. The bound is then an estimate. */
sw_rc sel_dual_merge_classes(sel_dual *u, int rounds, sel_apart *was, sw_diag *d);
/* Each variable by itself again, with the messages of its class. */
sw_rc sel_dual_split_classes(sel_dual *u, const sel_apart *was, sw_diag *d);

/* When passes have settled: so many in a row that gain less than a part of the bound, all together. */
typedef struct sel_settled {
  int quiet;
  double gain;
  int64_t most;  /* passes, settled or not */
  double enough; /* the bound that will do */
} sel_settled;

/* Passes towards `target`, and on where they pass it, until they settle or the budget is spent; `u` then is as after
 * sel_dual_init, but for its messages and prices. *passes: how many there were, 0 where too few variables are alike. */
sw_rc sel_dual_ascend_by_class(sel_dual *u, double target, sel_settled end, sel_budget *b, int64_t *passes, sw_diag *d);

#endif
