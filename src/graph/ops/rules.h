/* The rule functions of every op, by file; registry.c puts them into one table. */
#ifndef GRAPH_RULES_H_
#define GRAPH_RULES_H_

#include "graph/ops/rule.h"

#define SW_RULE_PAIR(name)                \
  sw_rc sw_infer_##name(sw_rule_call *c); \
  void sw_space_of_##name(const sw_rule_call *c, sw_space_builder *b);

/* elementwise.c; the space is the same for all */
sw_rc sw_infer_unary(sw_rule_call *c);
sw_rc sw_infer_test(sw_rule_call *c); /* gives bool */
sw_rc sw_infer_magnitude(sw_rule_call *c);
sw_rc sw_infer_complex(sw_rule_call *c);
sw_rc sw_infer_binary(sw_rule_call *c);
sw_rc sw_infer_compare(sw_rule_call *c);
sw_rc sw_infer_select(sw_rule_call *c);
sw_rc sw_infer_clamp(sw_rule_call *c);
sw_rc sw_infer_convert(sw_rule_call *c);
void sw_space_of_elementwise(const sw_rule_call *c, sw_space_builder *b);
sw_rc sw_infer_reduce_precision(sw_rule_call *c);
void sw_space_of_convert(const sw_rule_call *c, sw_space_builder *b);
void sw_space_of_divide(const sw_rule_call *c, sw_space_builder *b);

/* shape.c, move.c */
SW_RULE_PAIR(broadcast)
SW_RULE_PAIR(transpose)
SW_RULE_PAIR(reshape)
SW_RULE_PAIR(reverse)
SW_RULE_PAIR(shuffle)
SW_RULE_PAIR(bitcast)
SW_RULE_PAIR(slice)
SW_RULE_PAIR(pad)
SW_RULE_PAIR(concatenate)
SW_RULE_PAIR(dynamic_slice)
SW_RULE_PAIR(dynamic_update_slice)

/* source.c: ops that make values from nothing */
sw_rc sw_infer_iota(sw_rule_call *c);
sw_rc sw_infer_constant(sw_rule_call *c);
sw_rc sw_infer_rng(sw_rule_call *c);
void sw_space_of_source(const sw_rule_call *c, sw_space_builder *b);

/* reduce.c */
SW_RULE_PAIR(reduce)
SW_RULE_PAIR(pick)
SW_RULE_PAIR(cumulative)
SW_RULE_PAIR(top_k)
SW_RULE_PAIR(sort)
SW_RULE_PAIR(reduce_window)

SW_RULE_PAIR(select_and_scatter)

/* random.c, linalg.c */
SW_RULE_PAIR(rng_bits)
SW_RULE_PAIR(cholesky)
SW_RULE_PAIR(factor)
SW_RULE_PAIR(tridiagonal_solve)
SW_RULE_PAIR(fft)
SW_RULE_PAIR(triangular_solve)

/* contract.c */
SW_RULE_PAIR(dot)
SW_RULE_PAIR(convolution)

/* gather.c */
SW_RULE_PAIR(gather)
SW_RULE_PAIR(scatter)

/* given.c: generic, opaque and what SPMD programs add */
sw_rc sw_infer_generic(sw_rule_call *c);
sw_rc sw_infer_opaque(sw_rule_call *c);
sw_rc sw_infer_given(sw_rule_call *c);
void sw_space_of_opaque(const sw_rule_call *c, sw_space_builder *b);

/* control.c */
sw_rc sw_infer_marker(sw_rule_call *c);
sw_rc sw_infer_choice(sw_rule_call *c);
sw_rc sw_infer_alike(sw_rule_call *c);

/* sugar.c, einsum.c: operands are checked by `infer`, which gives no result types */
sw_rc sw_infer_float(sw_rule_call *c);
sw_rc sw_infer_along_dim(sw_rule_call *c);
sw_rc sw_infer_norm(sw_rule_call *c);
sw_rc sw_infer_take(sw_rule_call *c);
sw_rc sw_infer_scatter_add(sw_rule_call *c);
sw_rc sw_infer_one_hot(sw_rule_call *c);
sw_rc sw_infer_einsum(sw_rule_call *c);
sw_rc sw_expand_softmax(struct sw_expansion *e);
sw_rc sw_expand_layer_norm(struct sw_expansion *e);
sw_rc sw_expand_rms_norm(struct sw_expansion *e);
sw_rc sw_expand_gelu(struct sw_expansion *e);
sw_rc sw_expand_silu(struct sw_expansion *e);
sw_rc sw_expand_take(struct sw_expansion *e);
sw_rc sw_expand_scatter_add(struct sw_expansion *e);
sw_rc sw_expand_one_hot(struct sw_expansion *e);
sw_rc sw_expand_cumsum(struct sw_expansion *e);
sw_rc sw_expand_einsum(struct sw_expansion *e);

#endif
