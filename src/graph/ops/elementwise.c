/* Elementwise ops: one parallel loop per dim, and every operand of full rank is indexed like the result. select's
 * predicate and clamp's bounds may be scalars, whose maps have no dims.
 *
 *   add(f32[2,3], f32[2,3])   loops d0 (2), d1 (3)   maps (d0,d1)->(d0,d1), thrice
 */
#include <string.h>

#include <math.h>

#include "graph/ops/op_rules.h"

sw_rc sw_infer_unary(sw_rule_call *c) {
  SW_TRY(sw_check_class(c, 0, c->rule->classes));
  return sw_call_result_like(c, c->operands[0].dtype, &c->operands[0]);
}

sw_rc sw_infer_test(sw_rule_call *c) {
  SW_TRY(sw_check_class(c, 0, c->rule->classes));
  return sw_call_result_like(c, SW_BOOL, &c->operands[0]);
}

/* abs of a complex number is real. */
sw_rc sw_infer_magnitude(sw_rule_call *c) {
  SW_TRY(sw_check_class(c, 0, c->rule->classes));
  sw_dtype t = c->operands[0].dtype;
  return sw_call_result_like(c, t == SW_C64 ? SW_F32 : t == SW_C128 ? SW_F64 : t, &c->operands[0]);
}

static sw_rc check_same_type(const sw_rule_call *c, int a, int b) {
  SW_TRY(sw_check_same_shape(c, a, b));
  return sw_check_same_dtype(c, a, b);
}

sw_rc sw_infer_binary(sw_rule_call *c) {
  SW_TRY(sw_check_class(c, 0, c->rule->classes));
  SW_TRY(check_same_type(c, 0, 1));
  return sw_call_result_like(c, c->operands[0].dtype, &c->operands[0]);
}

sw_rc sw_infer_complex(sw_rule_call *c) {
  sw_dtype t = c->operands[0].dtype;
  SW_TRY(check_same_type(c, 0, 1));
  if (t != SW_F32 && t != SW_F64) {
    return SW_RULE_FAIL(c, "operand 0 is %s; expected f32 or f64", sw_dtype_text(t));
  }
  return sw_call_result_like(c, t == SW_F32 ? SW_C64 : SW_C128, &c->operands[0]);
}

sw_rc sw_infer_compare(sw_rule_call *c) {
  static const char *const kDirections[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  const char *text = sw_call_text(c, SW_ATTR_DIRECTION);
  bool known = false;
  for (int i = 0; i < 6; i++) known = known || strcmp(kDirections[i], text) == 0;
  if (!known) return SW_RULE_FAIL(c, "'direction' is '%s'; expected eq, ne, lt, le, gt or ge", text);
  SW_TRY(sw_check_class(c, 0, c->rule->classes));
  SW_TRY(check_same_type(c, 0, 1));
  return sw_call_result_like(c, SW_BOOL, &c->operands[0]);
}

sw_rc sw_infer_select(sw_rule_call *c) {
  SW_TRY(sw_check_class(c, 0, SW_BOOLS));
  SW_TRY(sw_check_class(c, 1, c->rule->classes));
  SW_TRY(check_same_type(c, 1, 2));
  if (c->operands[0].rank > 0) SW_TRY(sw_check_same_shape(c, 1, 0));
  return sw_call_result_like(c, c->operands[1].dtype, &c->operands[1]);
}

sw_rc sw_infer_clamp(sw_rule_call *c) {
  SW_TRY(sw_check_class(c, 1, c->rule->classes));
  for (int i = 0; i <= 2; i += 2) {
    SW_TRY(sw_check_same_dtype(c, 1, i));
    if (c->operands[i].rank > 0) SW_TRY(sw_check_same_shape(c, 1, i));
  }
  return sw_call_result_like(c, c->operands[1].dtype, &c->operands[1]);
}

sw_rc sw_infer_convert(sw_rule_call *c) {
  SW_TRY(sw_check_class(c, 0, c->rule->classes));
  sw_dtype t = sw_call_dtype(c, SW_ATTR_DTYPE);
  if (t == SW_TOKEN) return SW_RULE_FAIL(c, "'dtype' is %s; expected a dtype with elements", sw_dtype_text(t));
  return sw_call_result_like(c, t, &c->operands[0]);
}

sw_rc sw_infer_reduce_precision(sw_rule_call *c) {
  int64_t exponent = sw_call_int(c, SW_ATTR_EXPONENT_BITS), mantissa = sw_call_int(c, SW_ATTR_MANTISSA_BITS);
  if (exponent < 1 || mantissa < 0) {
    return SW_RULE_FAIL(c, "there are %lld exponent and %lld mantissa bits; expected at least 1 and 0",
                        (long long)exponent, (long long)mantissa);
  }
  return sw_infer_unary(c);
}

static void loops_and_maps(const sw_rule_call *c, sw_nest_builder *b) {
  int first = sw_nest_parallel_dims(b, &c->results[0]);
  for (int i = 0; i <= c->n_operands; i++) sw_nest_identity(b, i, first);
}

void sw_nest_of_elementwise(const sw_rule_call *c, sw_nest_builder *b) {
  loops_and_maps(c, b);
  for (int i = 0; i < c->rule->n_linear; i++) {
    sw_nest_linear(b, c->rule->linear[i].operands, c->rule->linear[i].kind);
  }
}

/* Dividing a sum: only where division is exact in the field, not for integers, which truncate. */
void sw_nest_of_divide(const sw_rule_call *c, sw_nest_builder *b) {
  loops_and_maps(c, b);
  if ((1u << sw_dtype_class_of(c->results[0].dtype)) & (SW_FLOATS | SW_COMPLEX)) sw_nest_linear(b, 1, SW_REDUCE_SUM);
}

/* Between floats (the reduction is then in the result's precision; not to 8 bits, where sums of rounded parts are far
 * from rounded sums). Widening integers keeps their order; a sum may wrap in the narrow type and not in the wide
 * one. */
void sw_nest_of_convert(const sw_rule_call *c, sw_nest_builder *b) {
  loops_and_maps(c, b);
  sw_dtype from = c->operands[0].dtype, to = c->results[0].dtype;
  sw_dtype_class cls = sw_dtype_class_of(to);
  if (sw_dtype_class_of(from) != cls) return;
  bool inexact = cls == SW_CLASS_FLOAT || cls == SW_CLASS_COMPLEX, coarse = sw_dtype_bytes(to) == 1;
  bool keeps_infinity = isinf(sw_reduction_identity(SW_REDUCE_MAX, to)); /* where a device has nothing, it has -inf */
  if (from == to || (inexact && !coarse)) sw_nest_linear(b, 1, SW_REDUCE_SUM);
  if (from == to || (inexact && keeps_infinity) || (!inexact && sw_dtype_bits(to) > sw_dtype_bits(from))) {
    sw_nest_linear(b, 1, SW_REDUCE_MIN);
    sw_nest_linear(b, 1, SW_REDUCE_MAX);
  }
}
