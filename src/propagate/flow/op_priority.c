/* Op priority: rounds, each of which lets more ops, or more of their factors and directions, take part.
 *
 *   0  moves between host and device
 *   1  elementwise ops and moves of elements, but not forward out of a value with several uses, nor backward into one;
 *      what flows into loops and the like
 *   2  these, in both directions; slices at places that are data go forward alone until round 4
 *   3  broadcasts, backward
 *   4  all other ops along the factors that pass through
 *   5  all other ops
 *   6  all
 */
#include "propagate/flow/propagation_run.h"

enum { ROUNDS = 7 };

static bool has_several_uses(const sw_run *r, int32_t tensor) { return tensor >= 0 && r->n_reads[tensor] > 1; }

static sw_direction where_uses_are_single(const sw_run *r, const sw_flow_op *s) {
  int out = SW_DIRECTION_BOTH;
  for (int i = 0; i < s->n_operands; i++) {
    if (s->tensors[i] < 0 || !r->f->types[s->tensors[i]]->rank) continue;
    if (has_several_uses(r, s->tensors[i])) out &= ~SW_DIRECTION_BACKWARD;
  }
  for (int i = s->n_operands; i < s->n_operands + s->n_results; i++) {
    if (has_several_uses(r, s->tensors[i])) out &= ~SW_DIRECTION_FORWARD;
  }
  return (sw_direction)out;
}

static sw_direction direction_of(const sw_run *r, int32_t step, int factor) {
  const sw_flow_op *s = &r->f->steps[step];
  const bool slices = s->kind == SW_STEP_SLICE,
             passes = s->kind == SW_STEP_ELEMENTWISE || s->kind == SW_STEP_MOVE || slices;
  const sw_direction all = slices && r->round < 4 ? SW_DIRECTION_FORWARD : SW_DIRECTION_BOTH;
  if (s->kind == SW_STEP_EDGE || s->kind == SW_STEP_OFFLOAD) return SW_DIRECTION_BOTH;
  if (s->kind == SW_STEP_FLOW) return r->round ? SW_DIRECTION_BOTH : SW_DIRECTION_NONE;
  if (passes && r->round == 1) return (sw_direction)(all & where_uses_are_single(r, s));
  if (passes && r->round > 1) return all;
  if (r->round == ROUNDS - 1) return SW_DIRECTION_BOTH;
  if (s->kind == SW_STEP_BROADCAST) return r->round >= 3 ? SW_DIRECTION_BACKWARD : SW_DIRECTION_NONE;
  if (r->round > 4 || (r->round == 4 && (!s->rule || s->rule->kind[factor] == SW_FACTOR_PASS)))
    return SW_DIRECTION_BOTH;
  return SW_DIRECTION_NONE;
}

sw_rc sw_run_op_priority(sw_run *r, sw_diag *d) {
  r->direction = direction_of;
  sw_rc rc = SW_OK;
  for (r->round = 0; r->round < ROUNDS && !rc; r->round++) rc = sw_run_all(r, d);
  r->direction = NULL;
  return rc;
}
