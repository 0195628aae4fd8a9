/* What is added to scores or chosen in their place: numbers, values that are spread, and which pairs of queries and
 * keys are seen when no query sees a later key. */
#include <math.h>

#include "collective/scalar.h"
#include "graph/fuse/region.h"

static const sw_op *maker(const sw_graph *g, sw_id v) {
  return g->values[v].def < 0 ? NULL : &g->ops[g->values[v].def];
}

bool sw_fuse_is_number(const sw_graph *g, sw_id value, double *out) {
  const sw_op *op = maker(g, value);
  while (op && (op->code == SW_OP_BROADCAST || op->code == SW_OP_CONVERT || op->code == SW_OP_RESHAPE))
    op = maker(g, op->operands[0]);
  if (!op || op->code != SW_OP_CONSTANT) return false;
  const sw_data *data = &sw_op_attr(op, SW_ATTR_VALUE)->u.data;
  const sw_type *t = sw_result_type(g, op, 0);
  if (sw_dtype_class_of(t->dtype) == SW_CLASS_COMPLEX || (!data->splat && sw_type_elements(t) != 1)) return false;
  *out = sw_scalar_convert(t->dtype, SW_F64, sw_scalar_load(t->dtype, data->bytes)).re;
  return true;
}

void sw_fuse_unspread(const sw_graph *g, sw_fuse_operand *x) {
  for (const sw_op *op = maker(g, x->id); op && op->code == SW_OP_BROADCAST; op = maker(g, x->id)) {
    int n;
    const int64_t *dims = sw_op_ints(op, SW_ATTR_DIMS, &n);
    sw_fuse_dims of = {.rank = n};
    for (int i = 0; i < n; i++) {
      const bool one = g->values[op->operands[0]].type.dims[i] == 1;
      of.at[i] = one ? (sw_fuse_dim){-1, 0} : x->dims.at[dims[i]];
    }
    *x = (sw_fuse_operand){op->operands[0], of};
  }
}

/* A position along one dim of the scores (-1: none), and a number added. */
typedef struct place {
  int dim;
  double plus;
} place;

static bool place_of(const sw_graph *g, sw_fuse_operand x, place *out) {
  double by, sign = 1, sum = 0;
  for (int hops = 0; hops < 16; hops++) {
    sw_fuse_unspread(g, &x);
    const sw_op *op = maker(g, x.id);
    if (sw_fuse_is_number(g, x.id, &by)) {
      *out = (place){-1, sum + by};
      return true;
    }
    if (!op) return false;
    if (op->code == SW_OP_IOTA) {
      *out = (place){x.dims.at[sw_op_int(op, SW_ATTR_DIM, 0)].dim, sum};
      return x.dims.at[sw_op_int(op, SW_ATTR_DIM, 0)].stride <= 1;
    }
    const int number = op->code == SW_OP_ADD && sw_fuse_is_number(g, op->operands[0], &by) ? 0 : 1;
    if (op->code == SW_OP_ADD || op->code == SW_OP_SUBTRACT) {
      sign = op->code == SW_OP_SUBTRACT ? -1 : 1;
      if (!sw_fuse_is_number(g, op->operands[number], &by)) return false;
      sum += sign * by;
      x.id = op->operands[1 - number];
    } else if (op->code == SW_OP_CONVERT) {
      x.id = op->operands[0];
    } else {
      return false;
    }
  }
  return false;
}

bool sw_fuse_is_causal(const sw_fuse_region *r, const sw_fuse_operand *x, int64_t *base) {
  sw_fuse_operand of = *x;
  sw_fuse_unspread(r->g, &of);
  const sw_op *op = maker(r->g, of.id);
  place a, b;
  if (!op || op->code != SW_OP_COMPARE || r->query < 0) return false;
  if (!place_of(r->g, (sw_fuse_operand){op->operands[0], of.dims}, &a)) return false;
  if (!place_of(r->g, (sw_fuse_operand){op->operands[1], of.dims}, &b)) return false;
  const char *how = sw_op_text(op, SW_ATTR_DIRECTION, "");
  bool less = how[0] == 'l';
  if ((how[0] != 'l' && how[0] != 'g') || (how[1] != 't' && how[1] != 'e')) return false;
  if (!less) { /* as a < b or a <= b */
    const place t = a;
    a = b;
    b = t;
  }
  if (a.dim != r->key || b.dim != r->query) return false;
  const double off = b.plus - a.plus - (how[1] == 't' ? 1 : 0);
  if (off != floor(off) || fabs(off) > 1e15) return false;
  *base = (int64_t)off;
  return true;
}
