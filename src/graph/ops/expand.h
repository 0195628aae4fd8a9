/* Building primitive ops for sugar. Steps are named "name.part", the last one has the name of the sugar; a failed step
 * is remembered and later ones do nothing, so an expansion reads like an expression. */
#ifndef GRAPH_EXPAND_H_
#define GRAPH_EXPAND_H_

#include "graph/attr_of.h"
#include "graph/ops/op_rule.h"

typedef struct sw_expansion {
  sw_graph *g;
  const sw_op_spec *spec;   /* of the sugar */
  const sw_rule_call *call; /* its operands' types and canonical attributes */
  sw_id *results;           /* of the last step */
  bool done;                /* the last step was added */
  bool function;            /* it is one function of libraries, and its steps are parts of that */
  sw_rc rc;
  sw_diag *d;
} sw_expansion;

#define SW_LAST_STEP NULL

/* Add an op and return its (first) result. part: SW_LAST_STEP for the one that stands for the sugar. */
sw_id sw_expand_op(sw_expansion *e, const char *part, sw_opcode code, int n_operands, const sw_id *operands,
                   int n_attrs, const sw_attr *attrs);
sw_id sw_expand_reduce(sw_expansion *e, const char *part, const char *kind, sw_id x, int n, const int64_t *dims);

#endif
