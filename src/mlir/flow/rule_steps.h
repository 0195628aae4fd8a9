/* The sharding rule of an op of the text: the op is imported alone, and its factors are those of what it becomes. */
#ifndef MLIR_RULE_STEPS_H_
#define MLIR_RULE_STEPS_H_

#include "mlir/flow/program_flow.h"
#include "mlir/import/alone.h"

/* Steps for op `op`, whose operands and results are tensor_of[slot]; none where it has no rule. */
SW_CHECKED sw_rc sw_rule_steps(sw_im_alone *r, sw_program_flow *p, uint32_t op, const int32_t *tensor_of);

/* When the steps of an op are read, from `first_step` on: is its result a constant? (constants.c) */
SW_CHECKED sw_rc sw_constant_note(sw_program_flow *p, uint32_t op, int32_t tensor, const int32_t *operands,
                                  size_t first_step);
/* The tensor for a use of one: a copy; of another tensor that itself. */
SW_CHECKED sw_rc sw_constant_use(sw_program_flow *p, int32_t tensor, int32_t *out);

/* Is it the name behind the dialect? */
bool sw_ir_last_part_is(const sw_ir_tree *t, sw_ir_span name, const char *text);
/* Is it a custom_call of this target? */
bool sw_ir_calls(const sw_ir_tree *t, const sw_ir_op *o, const char *target);
/* The rule of an op that no op of the graph stands for: collectives, what is reduced together, custom calls known by
 * their target (text_rules.c); s->rule stays NULL where there is none. */
SW_CHECKED sw_rc sw_text_rule(sw_program_flow *p, const sw_ir_op *o, sw_flow_op *s);

#endif
