/* rng_bit_generator: bits are counted, so that every device can make its own block of them; the next state follows from
 * how many there are in all.
 *
 *   rng_bit_generator(u64[2]) {shape=[4,8]}   d0 (4), d1 (8), d2 (2, whole); state (0), next (d2), bits (d0,d1)
 */
#include <string.h>

#include "graph/ops/op_rules.h"

static sw_rc check_algorithm(const sw_rule_call *c) {
  const char *word = sw_call_text(c, SW_ATTR_ALGORITHM);
  const sw_type *state = &c->operands[0];
  bool fry = strcmp(word, "three_fry") == 0, philox = strcmp(word, "philox") == 0 || strcmp(word, "default") == 0;
  if (!fry && !philox) return SW_RULE_FAIL(c, "'algorithm' is '%s'; expected default, three_fry or philox", word);
  if (state->dtype == SW_U64 && state->rank == 1 && (state->dims[0] == 2 || (philox && state->dims[0] == 3)))
    return SW_OK;
  return SW_RULE_FAIL(c, "the state of %s is no u64[2]%s; expected it", word, philox ? " or u64[3]" : "");
}

sw_rc sw_infer_rng_bits(sw_rule_call *c) {
  int rank, n;
  SW_TRY(check_algorithm(c));
  SW_TRY(sw_check_shape(c, SW_ATTR_SHAPE));
  SW_TRY(sw_check_shape(c, SW_ATTR_GLOBAL));
  const int64_t *shape = sw_call_ints(c, SW_ATTR_SHAPE, &rank);
  (void)sw_call_ints(c, SW_ATTR_GLOBAL, &n);
  if (n != rank) return SW_RULE_FAIL(c, "'global' has %d dims and 'shape' %d; expected as many", n, rank);
  sw_dtype t = sw_call_dtype(c, SW_ATTR_DTYPE);
  if (!(1u << sw_dtype_class_of(t) & SW_INTS)) {
    return SW_RULE_FAIL(c, "'dtype' is %s; expected an integer dtype", sw_dtype_text(t));
  }
  if (c->n_operands > 1) SW_TRY(sw_check_starts(c, 1, rank));
  SW_TRY(sw_call_result_like(c, SW_U64, &c->operands[0]));
  return sw_call_result_like(c, t, &(sw_type){t, rank, shape});
}

void sw_nest_of_rng_bits(const sw_rule_call *c, sw_nest_builder *b) {
  int first = sw_nest_parallel_dims(b, &c->results[1]);
  sw_nest_identity(b, sw_nest_result(b, 1), first);
  sw_nest_set(b, sw_nest_result(b, 0), 0, sw_nest_loop(b, c->operands[0].dims[0], SW_LOOP_WHOLE));
  sw_nest_total_flops(b, 40 * (double)sw_type_elements(&c->results[1])); /* rounds of integer arithmetic */
}
