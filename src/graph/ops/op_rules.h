/* The rule functions that rows of ops.def name: what a row names must be defined in this folder. */
#ifndef GRAPH_RULES_H_
#define GRAPH_RULES_H_

#include "graph/ops/op_rule.h"

#define SW_COLUMN_RULE(id, least, most, attributes, types, nest, expand, flops, dtypes, linear, flags) \
  sw_rc sw_infer_##types(sw_rule_call *c);                                                             \
  void sw_nest_of_##nest(const sw_rule_call *c, sw_nest_builder *b);                                   \
  sw_rc sw_expand_##expand(struct sw_expansion *e);
#include "shardwright/ops.def"

#endif
