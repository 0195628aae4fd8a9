/* Op priority: rounds, each of which lets more ops, or more of their factors and directions, take part.
 *
 *   1  elementwise ops and moves of elements, be it between host and device, whose operands have no other use
 *   2  all of these; slices at places that are data go forward alone until round 3
 *   3  all other ops along the factors that pass through, broadcasts backward alone
 *   4  all other ops, broadcasts backward alone
 *   5  all
 *
 * Edges hand on at any time.
 */
#include "propagate/flow/propagation_run.h"

enum { ROUNDS = 5 };

static sw_direction direction_of(const sw_run *r, int32_t step, int factor) {
  const sw_flow_op *s = &r->f->steps[step];
  const bool slices = s->kind == SW_STEP_SLICE,
             passes = s->kind == SW_STEP_ELEMENTWISE || s->kind == SW_STEP_MOVE || slices;
  const sw_direction all = slices && r->round < 3 ? SW_DIRECTION_FORWARD : SW_DIRECTION_BOTH;
  if (s->kind == SW_STEP_EDGE || r->round == ROUNDS) return SW_DIRECTION_BOTH;
  if (passes) return r->round == 1 && s->shared_operand ? SW_DIRECTION_NONE : all;
  if (r->round < 3 || (r->round == 3 && s->rule && s->rule->kind[factor] != SW_FACTOR_PASS)) return SW_DIRECTION_NONE;
  return s->kind == SW_STEP_BROADCAST ? SW_DIRECTION_BACKWARD : SW_DIRECTION_BOTH;
}

sw_rc sw_run_op_priority(sw_run *r, sw_diag *d) {
  r->direction = direction_of;
  sw_rc rc = SW_OK;
  for (r->round = 1; r->round <= ROUNDS && !rc; r->round++) rc = sw_run_all(r, d);
  r->direction = NULL;
  return rc;
}
