/* Sharding rules in Shardy's notation. Rows say what Shardy's own rule registry gives for the same op (its tests of
 * 2026, restated), or what follows from its rules where they have no case. */
#include "check.h"

#include "propagate/factor_rule.h"
#include "shardwright/program.h"
#include "support/program.h"

static const struct {
  const char *args, *op, *rule; /* rule of the last op; "" for none */
} kRows[] = {
    /* elementwise */
    {"a f32 2,1,4", "r = add(a, a)", "([i, j, k], [i, j, k])->([i, j, k]) {i=2, j=1, k=4}"},
    {"a f32 2,0,4", "r = add(a, a)", "([i, j, k], [i, j, k])->([i, j, k]) {i=2, j=0, k=4}"},
    {"a f32", "r = add(a, a)", "([], [])->([])"},
    {"a f32 4,8; l f32", "r = clamp(l, a, l)", "([], [i, j], [])->([i, j]) {i=4, j=8}"},
    {"a f32 4,8", "r = clamp(a, a, a)", "([i, j], [i, j], [i, j])->([i, j]) {i=4, j=8}"},
    {"p bool; a f32 4,8", "r = select(p, a, a)", "([], [i, j], [i, j])->([i, j]) {i=4, j=8}"},
    {"a f32 8,4", "r = erf(a)", "([i, j])->([i, j]) {i=8, j=4}"},
    /* shapes */
    {"a u32 4,2,2", "r = bitcast_convert(a) 'dtype':'u64'",
     "([i, j, k])->([i, j]) {i=4, j=2, k=2} need_replication={k}"},
    {"a u32 4,2,2", "r = bitcast_convert(a) 'dtype':'f32'", "([i, j, k])->([i, j, k]) {i=4, j=2, k=2}"},
    {"a u64 4,2", "r = bitcast_convert(a) 'dtype':'u32'", "([i, j])->([i, j, k]) {i=4, j=2, k=2} need_replication={k}"},
    {"a f32 2,13,1", "r = broadcast_in_dim(a) 'shape':[2,64,13,1],'dims':[0,2,3]",
     "([i, k, l])->([i, j, k, l]) {i=2, j=64, k=13, l=1}"},
    {"a f32", "r = broadcast_in_dim(a) 'shape':[2,1,13],'dims':[]", "([])->([i, j, k]) {i=2, j=1, k=13}"},
    {"a f32 2,1,13", "r = broadcast_in_dim(a) 'shape':[2,64,13],'dims':[0,1,2]",
     "([i, j, l])->([i, k, l]) {i=2, j=1, k=64, l=13}"},
    {"a f32 2,3,5,1,7", "r = broadcast_in_dim(a) 'shape':[2,5,3,11,7,13],'dims':[0,2,1,3,4]",
     "([i, k, j, l, n])->([i, j, k, m, n, o]) {i=2, j=5, k=3, l=1, m=11, n=7, o=13}"},
    {"a f32 4,3,256; b f32 4,5,256", "r = concatenate(a, b) 'dim':1",
     "([i, j, k], [i, j, k])->([i, j, k]) {i=4, j=8, k=256} need_replication={j}"},
    {"a f32 4,8",
     "b = slice(a) 'start':[0,4],'limit':[4,8]; c = slice(a) 'start':[0,0],'limit':[4,4]; r = concatenate(b, c) "
     "'dim':1",
     "([i, j], [i, j])->([i, j]) {i=4, j=8} permutation={j}"},
    {"a f32 28,28,16; v f32", "r = pad(a, v) 'low':[1,-1,0],'high':[1,-1,0]",
     "([i, j, k], [])->([i, j, k]) {i=28, j=28, k=16} permutation={i, j}"},
    {"a f32 32,4,8", "r = slice(a) 'start':[0,1,4],'limit':[32,2,8],'strides':[1,1,2]",
     "([i, j, k])->([i, j, k]) {i=32, j=4, k=8} permutation={j, k}"},
    {"a f32 6,4", "r = reshape(a) 'shape':[4,6]", "([ij, mn])->([ik, ln]) {i=2, j=3, k=2, l=3, m=2, n=2}"},
    {"a f32 4,7,5,8", "r = reshape(a) 'shape':[14,10,8]",
     "([ij, l, n, o])->([ik, mn, o]) {i=2, j=2, k=7, l=7, m=2, n=5, o=8}"},
    {"a f32 2,3,8", "r = reshape(a) 'shape':[3,4,4]", "([i, k, mn])->([j, lm, n]) {i=2, j=3, k=3, l=2, m=2, n=4}"},
    {"a f32 1,8,4", "r = reshape(a) 'shape':[8,1,4,1]", "([i, j, l])->([j, k, l, m]) {i=1, j=8, k=1, l=4, m=1}"},
    {"a f32 4,12", "r = reshape(a) 'shape':[4,2,3,2]", "([i, jkl])->([i, j, k, l]) {i=4, j=2, k=3, l=2}"},
    {"a f32 3,2", "r = reshape(a) 'shape':[2,3]", "([i, l])->([j, k]) {i=3, j=2, k=3, l=2}"},
    {"a f32 0,2", "r = reshape(a) 'shape':[2,0]", ""},
    {"a f32 4,32,8,2", "r = reverse(a) 'dims':[1,3]",
     "([i, j, k, l])->([i, j, k, l]) {i=4, j=32, k=8, l=2} permutation={j, l}"},
    {"a f32 2,3,4", "r = transpose(a) 'permutation':[2,0,1]", "([j, k, i])->([i, j, k]) {i=4, j=2, k=3}"},
    /* contractions */
    {"a f32 8,32; b f32 32,16", "r = dot_general(a, b) 'lhs_contract':[1],'rhs_contract':[0]",
     "([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}"},
    {"a f32 32; b f32 32", "r = dot_general(a, b) 'lhs_contract':[0],'rhs_contract':[0]",
     "([i], [i])->([]) {i=32} reduction={i}"},
    {"a f32 4,8,32; b f32 4,32,16",
     "r = dot_general(a, b) 'lhs_batch':[0],'rhs_batch':[0],'lhs_contract':[2],'rhs_contract':[1]",
     "([i, j, l], [i, l, k])->([i, j, k]) {i=4, j=8, k=16, l=32} reduction={l}"},
    {"a f32 2,4,8,4,64,32; b f32 16,32,64,4,2",
     "r = dot_general(a, b) 'lhs_batch':[0,1],'rhs_batch':[4,3],'lhs_contract':[5,4],'rhs_contract':[1,2]",
     "([i, j, k, l, o, n], [m, n, o, j, i])->([i, j, k, l, m]) {i=2, j=4, k=8, l=4, m=16, n=32, o=64} reduction={n, "
     "o}"},
#define CONV "'lhs_layout':'b01f','rhs_layout':'01io','out_layout':'b01f','strides':[2,2],'pad_high':[1,1]"
    {"a f32 2,224,224,192; w f32 3,3,192,64", "r = convolution(a, w) " CONV,
     "([i, jk, lm, n], [k, m, n, o])->([i, j, l, o]) {i=2, j=112, k=2, l=112, m=2, n=192, o=64} reduction={k, m, n} "
     "permutation={j, l}"},
    {"a f32 2,224,224,192; w f32 112,112,192,64", "r = convolution(a, w) " CONV,
     "([i, jk, lm, n], [j, l, n, o])->([i, k, m, o]) {i=2, j=112, k=2, l=112, m=2, n=192, o=64} reduction={j, l, n} "
     "permutation={k, m}"},
    {"a f32 8,224,224,192; w f32 3,3,192,256", "r = convolution(a, w) 'batch_groups':4," CONV,
     "([ij, kl, mn, o], [l, n, o, ip])->([j, k, m, ip]) {i=4, j=2, k=112, l=2, m=112, n=2, o=192, p=64} reduction={l, "
     "n, o} permutation={k, m}"},
    {"a f32 8,224,224,192; w f32 3,3,12,256", "r = convolution(a, w) 'feature_groups':16," CONV,
     "([i, jk, lm, no], [k, m, o, np])->([i, j, l, np]) {i=8, j=112, k=2, l=112, m=2, n=16, o=12, p=16} reduction={k, "
     "m, o} permutation={j, l}"},
    {"a f32 4,224,224,192; w f32 3,3,192,256", "r = convolution(a, w) 'batch_groups':4," CONV,
     "([i, kl, mn, o], [l, n, o, ip])->([j, k, m, ip]) {i=4, j=1, k=112, l=2, m=112, n=2, o=192, p=64} reduction={l, "
     "n, o} permutation={k, m}"},
    {"a f32 8,224,224,16; w f32 3,3,1,256", "r = convolution(a, w) 'feature_groups':16," CONV,
     "([i, jk, lm, n], [k, m, o, np])->([i, j, l, np]) {i=8, j=112, k=2, l=112, m=2, n=16, o=1, p=16} reduction={k, "
     "m, o} permutation={j, l}"},
    {"a f32 8,224,224,192; w f32 3,3,12,16", "r = convolution(a, w) 'feature_groups':16," CONV,
     "([i, jk, lm, no], [k, m, o, n])->([i, j, l, n]) {i=8, j=112, k=2, l=112, m=2, n=16, o=12} reduction={k, m, o} "
     "permutation={j, l}"},
    {"a f32 8,112,112,16; w f32 3,3,16,4", "r = convolution(a, w) 'lhs_dilation':[2,2]," CONV,
     "([i, j, l, n], [k, m, n, o])->([i, j, l, o]) {i=8, j=111, k=1, l=111, m=1, n=16, o=4} reduction={n} "
     "permutation={j, l}"},
    /* reductions, windows, sorting */
    {"a f32 2,64,13", "r = reduce(a) 'kind':'sum','dims':[1]",
     "([i, j, k], [])->([i, k]) {i=2, j=64, k=13} reduction={j}"},
    {"a f32 2,64,1,13", "r = reduce(a) 'kind':'sum','dims':[1]",
     "([i, j, k, l], [])->([i, k, l]) {i=2, j=64, k=1, l=13} reduction={j}"},
    {"a f32 48,48,3",
     "r = reduce_window(a) 'kind':'max','window':[3,1,1],'strides':[3,1,1],'pad_low':[0,2,0],'pad_high':[0,-2,0]",
     "([i, j, k], [])->([i, j, k]) {i=16, j=48, k=3} permutation={i, j}"},
    {"a i32 4,32,8; b f32 4,32,8", "r, s = sort(a, b) 'dim':0",
     "([i, j, k], [i, j, k])->([i, j, k], [i, j, k]) {i=4, j=32, k=8} need_replication={i}"},
    {"a i32 1,4,1", "r = sort(a) 'dim':1",
     "([i, j, k])->([i, j, k]) {i=1, j=4, k=1} need_replication={j} blocked_propagation={j}"},
    {"a f32 16,8", "r, s = top_k(a) 'k':2",
     "([i, j])->([i, j], [i, j]) {i=16, j=8} need_replication={j} blocked_propagation={j}"},
    {"a f32 16", "r, s = top_k(a) 'k':16", "([i])->([i], [i]) {i=16}"},
    {"a c64 8,32,64", "r = fft(a) 'fft_type':'fft','fft_length':[32,64]",
     "([i, j, k])->([i, j, k]) {i=8, j=32, k=64} need_replication={j, k}"},
    {"a f32 8,32,64", "r = fft(a) 'fft_type':'rfft','fft_length':[32,64]",
     "([i, j, k])->([i, j, k]) {i=8, j=32, k=64} need_replication={j, k} blocked_propagation={k}"},
    {"a c64 8,32,33", "r = fft(a) 'fft_type':'irfft','fft_length':[32,64]",
     "([i, j, k])->([i, j, k]) {i=8, j=32, k=33} need_replication={j, k} blocked_propagation={k}"},
    {"a f32 2,4,8,8", "r = cholesky(a)", "([i, j, k, l])->([i, j, k, l]) {i=2, j=4, k=8, l=8} need_replication={k, l}"},
    {"a f32 8,5,3", "r, s = factor(a) 'how':'qr'",
     "([i, j, k])->([i, j, k], [i, l]) {i=8, j=5, k=3, l=3} need_replication={j, k, l}"},
    {"a f32 8,3,3; b f32 8,3,5", "r = triangular_solve(a, b)",
     "([i, j, l], [i, j, k])->([i, l, k]) {i=8, j=3, k=5, l=3} need_replication={j, k, l}"},
    {"a f32 8,3,3; b f32 8,3,5", "r = triangular_solve(a, b) 'transpose':'transpose'",
     "([i, l, j], [i, j, k])->([i, l, k]) {i=8, j=3, k=5, l=3} need_replication={j, k, l}"},
    {"s u64 2", "t, r = rng_bit_generator(s) 'shape':[4,1000],'dtype':'u32'",
     "([i])->([i], [j, k]) {i=2, j=4, k=1000} need_replication={i} blocked_propagation={i}"},
    {"x f32 10,24,24,64; s f32 9,12,12,64; i f32",
     "r = select_and_scatter(x, s, i) 'window':[1,2,2,1],'strides':[1,2,2,1],'pad_low':[-1,0,0,0]",
     "([j, l, n, o], [i, k, m, o], [])->([j, l, n, o]) {i=9, j=10, k=12, l=24, m=12, n=24, o=64} "
     "need_replication={i, k, m} permutation={j, l, n}"},
    /* run-time positions */
    {"a f32 32,4,8; i i32", "r = dynamic_slice(a, i, i, i) 'sizes':[32,1,2]",
     "([i, j, k], [], [], [])->([i, j, k]) {i=32, j=4, k=8} need_replication={j, k} blocked_propagation={j, k}"},
    {"a f32 32,4,8; u f32 32,1,2; i i32", "r = dynamic_update_slice(a, u, i, i, i)",
     "([i, j, l], [i, k, m], [], [], [])->([i, j, l]) {i=32, j=4, k=1, l=8, m=2} need_replication={k, m}"},
    {"a f32 32,4,8; u f32 32,1,2",
     "i = constant() 'value':1,'shape':[],'dtype':'i32'; r = dynamic_update_slice(a, u, i, i, i)",
     "([i, j, l], [i, k, m], [], [], [])->([i, j, l]) {i=32, j=4, k=1, l=8, m=2}"},
    {"a f32 3,4,2,5; i i64 2,3,3",
     "r = gather(a, i) "
     "'offset_dims':[2,3,4],'collapsed_dims':[0],'start_index_map':[1,0,3],'index_vector_dim':2,'sizes':[1,2,2,1]",
     "([o, k, l, m], [i, j, p])->([i, j, k, l, n]) {i=2, j=3, k=4, l=2, m=5, n=1, o=3, p=3} reduction={m, o} "
     "need_replication={k, n, p} blocked_propagation={k}"},
    {"a f32 5,3,7,4; i i64 7,5,3,2",
     "r = gather(a, i) "
     "'offset_dims':[3],'collapsed_dims':[1],'operand_batch':[0,2],'indices_batch':[1,0],'start_index_map':[1,3],'"
     "index_vector_dim':3,'sizes':[1,1,1,2]",
     "([j, m, i, l], [i, j, k, n])->([i, j, k, l]) {i=7, j=5, k=3, l=4, m=3, n=2} reduction={m} need_replication={l, "
     "n} "
     "blocked_propagation={l}"},
    {"a f32 3,4,2; i i64 2,3,2; u f32 2,3,2,2",
     "r = scatter(a, i, u) "
     "'kind':'sum','update_window_dims':[2,3],'inserted_dims':[0],'start_index_map':[1,0],'index_vector_dim':2",
     "([n, k, m], [i, j, o], [i, j, l, m])->([n, k, m]) {i=2, j=3, k=4, l=2, m=2, n=3, o=2} reduction={i, j} "
     "need_replication={k, l, o}"},
    {"a f32 3,4,2; i i64 2,3,2; u f32 2,3,2,2",
     "r = scatter(a, i, u) "
     "'kind':'replace','update_window_dims':[2,3],'inserted_dims':[0],'start_index_map':[1,0],'index_vector_dim':2",
     "([n, k, m], [i, j, o], [i, j, l, m])->([n, k, m]) {i=2, j=3, k=4, l=2, m=2, n=3, o=2} need_replication={i, j, k, "
     "l, o}"},
    {"a f32 5,3,7,4; i i64 7,5,3,2; u f32 7,5,3,2",
     "r = scatter(a, i, u) "
     "'kind':'sum','update_window_dims':[3],'inserted_dims':[1],'operand_batch':[0,2],'indices_batch':[1,0],'start_"
     "index_map':[1,3],'index_vector_dim':3",
     "([j, n, i, l], [i, j, k, o], [i, j, k, m])->([j, n, i, l]) {i=7, j=5, k=3, l=4, m=2, n=3, o=2} reduction={k} "
     "need_replication={l, m, o}"},
    /* no rule, and rules by loops */
    {"", "r = iota() 'shape':[4],'dtype':'i32','dim':0", ""},
    {"a f32 3,9", "r = argmax(a) 'dim':1", "([i, j])->([i]) {i=3, j=9} need_replication={j}"},
    {"a f32 3,9", "r = cumulative_logsumexp(a) 'dim':1", "([i, j])->([i, j]) {i=3, j=9} need_replication={j}"},
    {"a f32 3,9", "r = cumulative(a) 'kind':'sum','dim':1", "([i, j], [])->([i, j]) {i=3, j=9} permutation={j}"},
};

static void rules_are_shardys(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kRows / sizeof *kRows; i++) {
    sw_graph *g;
    sw_text rule = {0};
    assert_ok(program_of(kRows[i].args, NULL, kRows[i].op, "r", &g, &diag));
    bool any = sw_factor_rule_print(g, &g->ops[g->n_ops - 1], &rule);
    if (strcmp(sw_text_str(&rule), kRows[i].rule) != 0 || any != (*kRows[i].rule != 0)) {
      fail_msg("%s over %s:\n  %s\nexpected\n  %s", kRows[i].op, kRows[i].args, sw_text_str(&rule), kRows[i].rule);
    }
    sw_text_free(&rule);
    sw_graph_destroy(g);
  }
}

/* Ops that we do not know: with a rule of their own, and without. */
static void unknown_ops_have_given_rules(void **state) {
  (void)state;
  static const struct {
    const char *call, *rule;
  } kCalls[] = {
      {"@foo(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([j, i]) {i=8, j=2}, custom>} : "
       "(tensor<8x2xui32>) -> tensor<2x8xui32>",
       "([i, j])->([j, i]) {i=8, j=2}"},
      {"@foo(%a) : (tensor<8x2xui32>) -> tensor<2x8xui32>", ""},
  };
  for (size_t i = 0; i < sizeof kCalls / sizeof *kCalls; i++) {
    sw_text text = {0}, rule = {0};
    sw_program *p;
    sw_text_printf(&text, "func.func @main(%%a: tensor<8x2xui32>) {\n%%0 = stablehlo.custom_call %s\nreturn\n}\n",
                   kCalls[i].call);
    assert_ok(sw_program_parse("t.mlir", text.at, text.n, NULL, &p, &diag));
    const sw_graph *g = sw_program_graph(p);
    assert_true(sw_factor_rule_print(g, &g->ops[0], &rule) == (*kCalls[i].rule != 0));
    assert_string_equal(sw_text_str(&rule), kCalls[i].rule);
    sw_program_destroy(p);
    sw_text_free(&text);
    sw_text_free(&rule);
  }
}

/* Letters end at z; then z_1, z_2, ... */
static void many_factors_have_names(void **state) {
  (void)state;
  sw_graph *g;
  sw_text rule = {0};
  assert_ok(program_of("a f32 1,1,1,1,1,1,1,1,1,1,1,1", NULL, "r = reshape(a) 'shape':[1,1,1,1,1,1,1,1,1,1,1,1]", "r",
                       &g, &diag));
  assert_true(sw_factor_rule_print(g, &g->ops[0], &rule));
  assert_non_null(strstr(sw_text_str(&rule), ", z, z_1, z_2, z_3, z_4, z_5, z_6]) {"));
  sw_text_free(&rule);
  sw_graph_destroy(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rules_are_shardys),
                                     cmocka_unit_test(unknown_ops_have_given_rules),
                                     cmocka_unit_test(many_factors_have_names)};
  return cmocka_run_group_tests_name("sharding rules", tests, NULL, NULL);
}
