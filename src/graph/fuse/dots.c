/* Products that an attention begins with and ends in. */
#include <math.h>

#include "graph/fuse/finder.h"
#include "graph/fuse/terms.h"

static const double kSame = 1e-5; /* relative difference of numbers that are meant to be one */

/* Dims of the other operand of a dot, of which those of one (`side`) are known: pairs agree, its free dim is `free`. */
static bool partner(const sw_finder *f, const sw_op *op, int side, const sw_fuse_dims *of, int free,
                    sw_fuse_operand *out) {
  sw_fuse_dot dot;
  int frees[SW_MAX_RANK];
  sw_fuse_dot_of(op, &dot);
  *out = (sw_fuse_operand){op->operands[1 - side], {.rank = sw_finder_type(f, op->operands[1 - side])->rank}};
  if (sw_fuse_free_dims(f->r->g, op, 1 - side, frees) != 1) return false;
  out->dims.at[frees[0]] = (sw_fuse_dim){free, 1};
  for (int i = 0; i < dot.n_batch; i++) out->dims.at[dot.batch[1 - side][i]] = of->at[dot.batch[side][i]];
  for (int i = 0; i < dot.n_contract; i++) out->dims.at[dot.contract[1 - side][i]] = of->at[dot.contract[side][i]];
  return true;
}

static void product_dims(const sw_finder *f, const sw_op *op, const sw_fuse_dims of[2], sw_fuse_dims *out) {
  sw_fuse_dot dot;
  int frees[SW_MAX_RANK];
  sw_fuse_dot_of(op, &dot);
  out->rank = 0;
  for (int i = 0; i < dot.n_batch; i++) out->at[out->rank++] = of[0].at[dot.batch[0][i]];
  for (int side = 0; side < 2; side++) {
    const int n = sw_fuse_free_dims(f->r->g, op, side, frees);
    for (int i = 0; i < n; i++) out->at[out->rank++] = of[side].at[frees[i]];
  }
}

/* The other way round: dims of both operands, the one that they sum over being `summed`. */
static bool factor_dims(const sw_finder *f, const sw_op *op, const sw_fuse_dims *product, int summed,
                        sw_fuse_operand out[2]) {
  sw_fuse_dot dot;
  int frees[SW_MAX_RANK], at = 0;
  sw_fuse_dot_of(op, &dot);
  if (dot.n_contract != 1) return false;
  for (int side = 0; side < 2; side++) {
    out[side] = (sw_fuse_operand){op->operands[side], {.rank = sw_finder_type(f, op->operands[side])->rank}};
    out[side].dims.at[dot.contract[side][0]] = (sw_fuse_dim){summed, 1};
    for (int i = 0; i < dot.n_batch; i++) out[side].dims.at[dot.batch[side][i]] = product->at[i];
  }
  at = dot.n_batch;
  for (int side = 0; side < 2; side++) {
    const int n = sw_fuse_free_dims(f->r->g, op, side, frees);
    for (int i = 0; i < n; i++) out[side].dims.at[frees[i]] = product->at[at++];
  }
  return true;
}

/* The operand that was met as this one, or is met now; perhaps converted to more bits. */
static bool agree(const sw_finder *f, sw_fuse_operand *known, const sw_fuse_operand *now) {
  if (known->id < 0) *known = *now;
  return sw_fuse_unwidened(f->r->g, known->id) == sw_fuse_unwidened(f->r->g, now->id) &&
         sw_fuse_dims_equal(f->r->g, known->id, &known->dims, now->id, &now->dims);
}

static bool has_dim(const sw_fuse_operand *x, int dim) {
  for (int i = 0; i < x->dims.rank; i++) {
    if (x->dims.at[i].dim == dim) return true;
  }
  return false;
}

bool sw_fuse_finds_keys(sw_finder *f, int key) {
  sw_fuse_region *r = f->r;
  const sw_op *op = &r->g->ops[r->scores];
  sw_fuse_operand of[2];
  sw_fuse_dims all = {.rank = r->n_dims};
  int frees[SW_MAX_RANK];
  for (int i = 0; i < r->n_dims; i++) all.at[i] = (sw_fuse_dim){i, 1};
  if (key < r->n_batch || !factor_dims(f, op, &all, SW_FUSE_WIDTH, of)) return false;
  const int side = has_dim(&of[0], key) ? 0 : 1;
  if (sw_fuse_free_dims(r->g, op, side, frees) != 1) return false;
  const int n = sw_fuse_free_dims(r->g, op, 1 - side, frees), first = side == 0 ? r->n_batch + 1 : r->n_batch;
  if (n > 2) return false;
  r->key = key;
  r->query = n > 0 ? first : -1;
  r->group = n > 1 ? first + 1 : -1;
  r->kv_head = r->n_batch > 1 ? r->n_batch - 1 : -1;
  r->heads = r->n_batch > 1 ? r->size[r->kv_head] : 1;
  r->k = of[side];
  r->q = of[1 - side];
  return true;
}

/* What a dot sums over: 0 the keys, 1 all of queries and group, -1 something else. */
static int summed(const sw_finder *f, const sw_op *op, int side, const sw_fuse_dims *of) {
  const sw_fuse_region *r = f->r;
  sw_fuse_dot dot;
  int keys = 0, queries = 0, others = 0;
  sw_fuse_dot_of(op, &dot);
  for (int i = 0; i < dot.n_contract; i++) {
    const int k = (int)dot.contract[side][i], dim = of->at[k].dim;
    if (dim < 0 && sw_finder_type(f, op->operands[side])->dims[k] == 1) continue;
    keys += dim == r->key;
    queries += dim == r->query || dim == r->group;
    others += dim != r->key && dim != r->query && dim != r->group;
  }
  if (others || (keys && queries)) return -1;
  if (keys) return 0;
  return queries == (r->query >= 0) + (r->group >= 0) ? 1 : -1;
}

static bool leave(sw_finder *f, const sw_op *op, int which, int side, const sw_fuse_dims *of,
                  const sw_fuse_operand *other) {
  sw_fuse_dims both[2];
  sw_fuse_exit *e = &f->r->exit[which];
  if (e->op >= 0) return false;
  both[side] = *of;
  both[1 - side] = other->dims;
  e->op = sw_finder_id(f, op);
  product_dims(f, op, both, &e->dims);
  return true;
}

sw_fuse_verdict sw_fuse_dot_rule(sw_finder *f, const sw_op *op) {
  sw_fuse_region *r = f->r;
  const int side = sw_finder_inside(f, op->operands[0]) ? 0 : 1;
  const sw_fuse_value *x = sw_finder_inside(f, op->operands[side]);
  sw_fuse_operand other;
  double by;
  if (sw_finder_inside(f, op->operands[1 - side]) || r->final < 0) return SW_FUSE_NO;
  const int over = summed(f, op, side, &x->dims);
  const bool drops = r->keep.id >= 0, softmax = sw_fuse_is_softmax(x, drops, &by);
  if (over < 0 || (!softmax && !sw_fuse_is_derivative(x, r->scale, r->is_capped, drops, &by))) return SW_FUSE_NO;
  if (r->kept_by == 0) r->kept_by = by;
  if (fabs(by - r->kept_by) > kSame * by) return SW_FUSE_NO;
  if (!partner(f, op, side, &x->dims, softmax ? SW_FUSE_VALUE_WIDTH : SW_FUSE_WIDTH, &other)) return SW_FUSE_NO;
  sw_fuse_operand *const known[2][2] = {{&r->k, &r->q}, {&r->v, &r->d_o}};
  static const int kWhich[2][2] = {{SW_FUSE_DQ, SW_FUSE_DK}, {SW_FUSE_O, SW_FUSE_DV}};
  if (!agree(f, known[softmax][over], &other)) return SW_FUSE_NO;
  return leave(f, op, kWhich[softmax][over], side, &x->dims, &other) ? SW_FUSE_YES : SW_FUSE_NO;
}

/* What is only moved, scaled, or kept in part: of what it is made; -1: it is something else. */
static sw_id made_of(const sw_finder *f, const sw_op *op, const sw_fuse_dims *of, sw_fuse_dims *before) {
  double c;
  const int scaled = sw_fuse_scaled(f->r->g, op, &c);
  *before = *of;
  if (scaled >= 0) return op->operands[scaled];
  if (op->code == SW_OP_SELECT) {
    for (int i = 1; i < 3; i++) {
      if (sw_fuse_is_number(f->r->g, op->operands[i], &c) && c == 0) return op->operands[3 - i];
    }
    return -1;
  }
  for (int i = 0; op->code == SW_OP_MULTIPLY && i < 2; i++) {
    sw_fuse_operand keep = {op->operands[i], *of};
    if (sw_fuse_is_kept(f, &keep, &c)) return op->operands[1 - i];
  }
  return op->code != SW_OP_BROADCAST && sw_fuse_dims_before(f->r, op, of, before) ? op->operands[0] : -1;
}

bool sw_fuse_finds_gradient(sw_finder *f, sw_id value, const sw_fuse_dims *dims) {
  enum { MOST_HOPS = 8 };
  sw_fuse_value g = {.kind = SW_FUSE_SUM, .dims = *dims, .n = 1, .term = {{.factor = 1, .g = 1}}};
  sw_fuse_operand of[2];
  const sw_op *op = sw_value_maker(f->r->g, value);
  for (int hops = 0; op && op->code != SW_OP_DOT && hops < MOST_HOPS; hops++) {
    sw_fuse_dims before;
    const sw_id from = made_of(f, op, &g.dims, &before);
    if (from < 0) return false;
    g.dims = before;
    op = sw_value_maker(f->r->g, from);
  }
  if (!op || op->code != SW_OP_DOT || f->r->final < 0 || sw_finder_inside(f, op->results[0])) return false;
  if (!factor_dims(f, op, &g.dims, SW_FUSE_VALUE_WIDTH, of)) return false;
  const int v = has_dim(&of[0], f->r->key) ? 0 : 1;
  if (!agree(f, &f->r->v, &of[v]) || !agree(f, &f->r->d_o, &of[1 - v])) return false;
  if (f->rc || !sw_finder_take(f, op, &g)) return false;
  f->rc = sw_array_push(&f->r->removed, sw_finder_id(f, op), f->d);
  return !f->rc;
}
