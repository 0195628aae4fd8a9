/* Ops that make values from nothing: iota, constant, rng. Every dim of the result is a parallel loop. */
#include "graph/ops/op_rules.h"

#include <string.h>

static sw_rc result_of_shape(sw_rule_call *c) {
  SW_TRY(sw_check_shape(c, SW_ATTR_SHAPE));
  int rank;
  const int64_t *shape = sw_call_ints(c, SW_ATTR_SHAPE, &rank);
  sw_dtype t = sw_call_dtype(c, SW_ATTR_DTYPE);
  if (t == SW_TOKEN) return SW_RULE_FAIL(c, "'dtype' is %s; expected a dtype with elements", sw_dtype_text(t));
  sw_type r = {t, rank, shape};
  if (sw_type_bytes(&r) < 0) return SW_RULE_FAIL(c, "'shape' with %d dims has too many elements", rank);
  return sw_call_result_like(c, t, &r);
}

sw_rc sw_infer_iota(sw_rule_call *c) {
  SW_TRY(result_of_shape(c));
  return sw_check_dim(c, SW_ATTR_DIM, c->results[0].rank);
}

sw_rc sw_infer_constant(sw_rule_call *c) { return result_of_shape(c); }

sw_rc sw_infer_rng(sw_rule_call *c) {
  SW_TRY(result_of_shape(c));
  int rank = c->results[0].rank;
  const char *kind = sw_call_text(c, SW_ATTR_DISTRIBUTION);
  if (strcmp(kind, "uniform") != 0 && strcmp(kind, "normal") != 0) {
    return SW_RULE_FAIL(c, "'distribution' is '%s'; expected uniform or normal", kind);
  }
  SW_TRY(sw_check_list(c, SW_ATTR_GLOBAL, rank, 0));
  if (c->n_operands && c->n_operands != rank) {
    return SW_RULE_FAIL(c, "there are %d starts; expected none, or one per dim of 'shape' (%d)", c->n_operands, rank);
  }
  for (int i = 0; i < c->n_operands; i++) {
    SW_TRY(sw_check_scalar(c, i));
    if (c->operands[i].dtype != SW_I64) {
      return SW_RULE_FAIL(c, "operand %d is %s; expected i64", i, sw_dtype_text(c->operands[i].dtype));
    }
  }
  return SW_OK;
}

void sw_nest_of_source(const sw_rule_call *c, sw_nest_builder *b) {
  sw_nest_identity(b, sw_nest_result(b, 0), sw_nest_parallel_dims(b, &c->results[0]));
}
