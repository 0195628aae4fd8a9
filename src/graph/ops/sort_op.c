/* Ops on lines along a dim, which every device has whole. sort: operands of one shape, reordered together.
 *
 *   sort(i32[4,8], f32[4,8]) {dim=1}   d0 (4), d1 (8, whole); operands (d0,0): all of a line, results (d0,d1)
 */
#include <math.h>

#include "graph/ops/op_rules.h"

sw_rc sw_infer_sort(sw_rule_call *c) {
  int n;
  const int64_t *keys = sw_call_ints(c, SW_ATTR_KEYS, &n);
  SW_TRY(sw_check_dim(c, SW_ATTR_DIM, c->operands[0].rank));
  if (n == 0) return SW_RULE_FAIL(c, "'%s' is empty; expected the number of an operand", "keys");
  for (int i = 0; i < n; i++) {
    if (keys[i] < 0 || keys[i] >= c->n_operands) {
      return SW_RULE_FAIL(c, "'keys' holds %lld; expected an operand below %d", (long long)keys[i], c->n_operands);
    }
    SW_TRY(sw_check_class(c, (int)keys[i], SW_REALS | SW_BOOLS));
  }
  for (int i = 0; i < c->n_operands; i++) {
    SW_TRY(sw_check_same_shape(c, 0, i));
    SW_TRY(sw_call_result_like(c, c->operands[i].dtype, &c->operands[i]));
  }
  return SW_OK;
}

void sw_nest_of_lines(const sw_rule_call *c, sw_nest_builder *b) {
  const sw_type *x = &c->operands[0];
  int64_t dim = sw_call_int(c, SW_ATTR_DIM);
  int first = b->n_loops;
  for (int i = 0; i < x->rank; i++) {
    (void)sw_nest_loop(b, x->dims[i], i == dim ? SW_LOOP_WHOLE : SW_LOOP_PARALLEL);
  }
  for (int i = 0; i < b->n_maps; i++) {
    for (int k = 0; k < x->rank; k++) {
      if (k != dim || i >= c->n_operands) sw_nest_set(b, i, k, first + k);
    }
  }
}

void sw_nest_of_sort(const sw_rule_call *c, sw_nest_builder *b) {
  const sw_type *x = &c->operands[0];
  int64_t dim = sw_call_int(c, SW_ATTR_DIM);
  sw_nest_of_lines(c, b);
  double depth = ceil(log2((double)(x->dims[dim] > 1 ? x->dims[dim] : 2)));
  sw_nest_total_flops(b, (double)sw_type_elements(x) * depth);
}
