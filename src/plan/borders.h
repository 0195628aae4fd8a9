/* What becomes of the values of a plan: who reads them as they are made, and the resharded copies of them. */
#ifndef PLAN_BORDERS_H_
#define PLAN_BORDERS_H_

#include "shardwright/plan.h"

typedef struct sw_plan_borders {
  int32_t n_reshards;
  const sw_plan_reshard *reshards; /* as the program makes them: by step of the first use, then by operand */
  sw_interval *life;               /* by value: when it is held as it is made */
  int64_t *bytes;                  /* by value: of one device's block as it is made */
} sw_plan_borders;

/* All in the arena. Fails where a reshard is impossible. */
SW_CHECKED sw_rc sw_plan_find_borders(const sw_plan *p, sw_arena *arena, sw_plan_borders *out, sw_diag *d);

/* What one run of the op takes with its strategy: a halo that is there is not exchanged. */
void sw_plan_op_cost(const sw_plan *p, sw_id op, sw_op_cost *out);

/* What the reshards of single values take, asked again and again of plans that differ in little. Lives in the arena;
 * plans are of the graph and the machine of the first. HUGE_VAL where one is impossible. */
typedef struct sw_border_prices sw_border_prices;
SW_CHECKED sw_rc sw_border_prices_make(const sw_plan *p, sw_arena *arena, sw_border_prices **out, sw_diag *d);
SW_CHECKED sw_rc sw_border_prices_ask(sw_border_prices *b, const sw_plan *p, sw_id value, double *seconds, sw_diag *d);
void sw_border_prices_free(sw_border_prices *b); /* what the arena does not hold; NULL allowed */

#endif
