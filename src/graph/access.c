/* Reading a graph: attributes of an op, names, and how much work an op is. */
#include <string.h>

#include "graph/affine.h"
#include "graph/attention.h"
#include "graph/builder.h"

const sw_attr *sw_op_attr(const sw_op *op, sw_attr_key k) { return sw_attr_find(op->attrs, op->n_attrs, k); }

int64_t sw_op_int(const sw_op *op, sw_attr_key k, int64_t absent) {
  const sw_attr *a = sw_op_attr(op, k);
  return a ? a->u.i : absent;
}

double sw_op_float(const sw_op *op, sw_attr_key k, double absent) {
  const sw_attr *a = sw_op_attr(op, k);
  return a ? a->u.f : absent;
}

const char *sw_op_text(const sw_op *op, sw_attr_key k, const char *absent) {
  const sw_attr *a = sw_op_attr(op, k);
  return a ? a->u.text : absent;
}

sw_precision sw_op_precision(const sw_op *op) {
  sw_precision p = SW_PRECISION_DEFAULT;
  const sw_attr *a = sw_op_attr(op, SW_ATTR_PRECISION);
  if (a) (void)sw_precision_parse(a->u.text, &p);
  return p;
}

const int64_t *sw_op_ints(const sw_op *op, sw_attr_key k, int *n) {
  const sw_attr *a = sw_op_attr(op, k);
  *n = a ? a->u.ints.n : 0;
  return a ? a->u.ints.at : NULL;
}

sw_content sw_op_content(const sw_op *op) {
  bool replaces = strcmp(sw_op_text(op, SW_ATTR_KIND, "replace"), "replace") == 0;
  return op->code == SW_OP_SCATTER && !replaces ? SW_CONTENT_COMPUTED : sw_content_of(op->code);
}

bool sw_op_attr_is_default(const sw_graph *g, const sw_op *op, const sw_attr *a) {
  sw_type first = op->n_operands ? *sw_operand_type(g, op, 0) : (sw_type){0};
  sw_rule_call c = {.rule = sw_op_rule_of(op->code),
                    .code = op->code,
                    .n_operands = op->n_operands > 0,
                    .operands = &first,
                    .n_attrs = op->n_attrs,
                    .attrs = op->attrs};
  return sw_attr_is_default(&c, a);
}

sw_id sw_graph_value_named(const sw_graph *g, const char *name) {
  return sw_graph_named(g, name, strlen(name), SW_NAME_OF_VALUE);
}
sw_id sw_graph_op_named(const sw_graph *g, const char *name) {
  return sw_graph_named(g, name, strlen(name), SW_NAME_OF_OP);
}

/* The part of a tensor that loops over `extents` reach, in units of `each`. */
static double reached(const sw_type *t, const sw_map *m, const int64_t *extents, double each) {
  for (int i = 0; i < t->rank; i++) each *= (double)sw_affine_reach(&m->dims[i], t->dims[i], extents);
  return each;
}

static double bytes_reached(const sw_type *t, const sw_map *m, const int64_t *extents) {
  return reached(t, m, extents, sw_dtype_bytes(t->dtype));
}

double sw_op_reached(const sw_graph *g, const sw_op *op, int port, const int64_t *extents) {
  const sw_type *t = sw_port_type(g, op, port);
  return extents ? reached(t, &op->nest->maps[port], extents, 1) : (double)sw_type_elements(t);
}

bool sw_op_is_sparse(const sw_op *op) { return sw_op_rule_of(op->code)->flags & SW_RULE_SPARSE; }

/* Loops of more than one iteration that dims of a map follow, in the order of the dims. */
static int long_loops(const sw_map *m, const int64_t *extents, int32_t *out) {
  int n = 0;
  for (int k = 0; k < m->rank; k++) {
    for (int t = 0; t < m->dims[k].n_terms; t++) {
      if (extents[m->dims[k].terms[t].loop] > 1) out[n++] = m->dims[k].terms[t].loop;
    }
  }
  return n;
}

/* A transpose of dims of one element: the same elements in the same order. */
bool sw_op_moves_nothing(const sw_op *op, const int64_t *extents) {
  int32_t from[SW_MAX_LOOPS], to[SW_MAX_LOOPS];
  if (op->code != SW_OP_TRANSPOSE) return false;
  int n = long_loops(&op->nest->maps[0], extents, from);
  return n == long_loops(&op->nest->maps[1], extents, to) && memcmp(from, to, (size_t)n * sizeof *from) == 0;
}

void sw_op_work(const sw_graph *g, const sw_op *op, const int64_t *extents, double *flops, double *bytes) {
  *flops = *bytes = 0;
  unsigned flags = sw_op_rule_of(op->code)->flags;
  if (!op->nest || (flags & SW_RULE_FREE)) return;
  int64_t whole[SW_MAX_LOOPS];
  for (int i = 0; !extents && i < op->nest->n_loops; i++) whole[i] = op->nest->loops[i].size;
  if (!extents) extents = whole;
  if (sw_op_moves_nothing(op, extents)) return;
  double points = 1, written = 0, read = 0;
  for (int i = 0; i < op->nest->n_loops; i++) points *= (double)extents[i];
  *flops = points * op->nest->flops_per_point;
  if (sw_is_attention(op->code))
    *flops *= sw_attention_seen_part(g, op, extents[SW_ATTENTION_QUERY], extents[SW_ATTENTION_KEY]);
  for (int r = 0; r < op->n_results; r++) {
    written += bytes_reached(sw_result_type(g, op, r), &op->nest->maps[op->n_operands + r], extents);
  }
  for (int i = 0; i < op->n_operands; i++) {
    double part = bytes_reached(sw_operand_type(g, op, i), &op->nest->maps[i], extents);
    read += i == 0 && (flags & SW_RULE_SPARSE) && part > written ? written : part;
  }
  *bytes = read + written;
}
