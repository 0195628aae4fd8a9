/* Prices of all copies of a selection problem, made exact for tests. */
#ifndef SUPPORT_SETTLE_H_
#define SUPPORT_SETTLE_H_

#include "check.h"
#include "shardwright/selection.h"

/* Each choice of each node beside the first ones of all others; what lies near is settled, too. */
static inline void settle_all(sw_selection *s) {
  const sw_problem *p = sw_selection_problem(s);
  int32_t *choice = calloc((size_t)p->n_nodes, sizeof *choice);
  assert_non_null(choice);
  for (int32_t i = 0; i < p->n_nodes; choice[i++] = 0)
    for (choice[i] = 0; choice[i] < p->nodes[i].n_choices; choice[i]++)
      assert_int_equal(sw_selection_settle(s, choice, 0, &diag), SW_OK);
  free(choice);
}

#endif
