/* What the dims of values inside an attention are, through ops that move elements. */
#include <string.h>

#include "graph/fuse/region.h"

static int64_t extent(const sw_graph *g, sw_id v, int k) { return g->values[v].type.dims[k]; }

static const sw_fuse_dim kNone = {-1, 0};

static void transposed(const sw_op *op, const sw_fuse_dims *of, sw_fuse_dims *out) {
  int n;
  const int64_t *p = sw_op_ints(op, SW_ATTR_PERMUTATION, &n);
  for (int i = 0; i < n; i++) out->at[i] = of->at[p[i]];
}

/* A dim that is new and longer than 1 is one that the value lacks: which, its extent says where just one does. */
static bool spread(const sw_fuse_region *r, const sw_op *op, const sw_fuse_dims *of, sw_fuse_dims *out) {
  const sw_graph *g = r->g;
  int n;
  const int64_t *dims = sw_op_ints(op, SW_ATTR_DIMS, &n);
  bool has[SW_MAX_RANK] = {false};
  for (int i = 0; i < out->rank; i++) out->at[i] = kNone;
  for (int i = 0; i < n; i++) {
    if (of->at[i].dim >= 0 && of->at[i].dim < SW_MAX_RANK) has[of->at[i].dim] = true;
    if (of->at[i].dim == SW_FUSE_JOINED) has[r->joined[0]] = has[r->joined[1]] = true;
    if (extent(g, op->operands[0], i) == extent(g, op->results[0], (int)dims[i])) out->at[dims[i]] = of->at[i];
  }
  for (int k = 0; k < out->rank; k++) {
    int found = -1;
    if (out->at[k].dim >= 0 || extent(g, op->results[0], k) == 1) continue;
    for (int s = 0; s < SW_MAX_RANK; s++) {
      if (r->size[s] != extent(g, op->results[0], k) || has[s]) continue;
      if (found >= 0) return false;
      found = s;
    }
    if (found < 0) return false;
    out->at[k] = (sw_fuse_dim){found, 1};
    has[found] = true;
  }
  return true;
}

/* A part of one of two dims as a part of both joined; and back, if it is of one. */
static sw_fuse_dim of_both(const sw_fuse_region *r, sw_fuse_dim x) {
  if (x.dim < 0 || r->joined[0] < 0) return x;
  if (x.dim == r->joined[0]) return (sw_fuse_dim){SW_FUSE_JOINED, x.stride * r->size[r->joined[1]]};
  return x.dim == r->joined[1] ? (sw_fuse_dim){SW_FUSE_JOINED, x.stride} : x;
}
static sw_fuse_dim of_one(const sw_fuse_region *r, sw_fuse_dim x, int64_t n) {
  if (x.dim != SW_FUSE_JOINED) return x;
  const int64_t minor = r->size[r->joined[1]];
  if (x.stride % minor == 0) return (sw_fuse_dim){r->joined[0], x.stride / minor};
  return x.stride * n <= minor ? (sw_fuse_dim){r->joined[1], x.stride} : x;
}

/* Dims that are cut in parts or put together again; those of one element come and go. */
bool sw_fuse_reshaped(const sw_fuse_region *r, sw_id x, sw_id y, const sw_fuse_dims *of, sw_fuse_dims *out) {
  const sw_graph *g = r->g;
  int i = 0, k = 0;
  out->rank = g->values[y].type.rank;
  for (int n = 0; n < out->rank; n++) out->at[n] = kNone;
  while (i < of->rank || k < out->rank) {
    while (i < of->rank && extent(g, x, i) == 1) i++;
    while (k < out->rank && extent(g, y, k) == 1) k++;
    if (i == of->rank || k == out->rank) break;
    const sw_fuse_dim from = of_both(r, of->at[i]);
    int64_t left = extent(g, x, i), right = extent(g, y, k);
    if (left == right) {
      out->at[k++] = of->at[i++];
    } else if (left > right) { /* in parts, major first */
      for (; k < out->rank && left > 1; k++) {
        const int64_t n = extent(g, y, k);
        if (left % n) return false;
        left /= n;
        out->at[k] = n == 1 ? kNone : of_one(r, (sw_fuse_dim){from.dim, from.stride * left}, n);
      }
      i++;
    } else { /* together: digits of one dim */
      int64_t whole = left, stride = from.stride;
      for (i++; i < of->rank && whole < right; i++) {
        const int64_t n = extent(g, x, i);
        const sw_fuse_dim next = of_both(r, of->at[i]);
        if (n == 1) continue;
        if (next.dim != from.dim || next.stride * n != stride) return false;
        stride = next.stride;
        whole *= n;
      }
      if (whole != right) return false;
      out->at[k++] = of_one(r, (sw_fuse_dim){from.dim, stride}, whole);
    }
  }
  return i == of->rank && k == out->rank;
}

static int next_long(const sw_graph *g, sw_id v, int i) {
  const sw_type *t = &g->values[v].type;
  while (i < t->rank && t->dims[i] == 1) i++;
  return i;
}

void sw_fuse_join(sw_fuse_region *r, sw_id x, sw_id y, const sw_fuse_dims *of) {
  const sw_graph *g = r->g;
  if (r->joined[0] >= 0) return;
  for (int i = next_long(g, x, 0); i < of->rank; i = next_long(g, x, i + 1)) {
    const int next = next_long(g, x, i + 1);
    if (next == of->rank) return;
    const sw_fuse_dim major = of->at[i], minor = of->at[next];
    const bool scores = major.dim >= 0 && minor.dim >= 0 && major.dim < r->n_dims && minor.dim < r->n_dims;
    if (!scores || major.dim == minor.dim || minor.stride != 1) continue;
    if (extent(g, x, next) != r->size[minor.dim]) continue;
    r->joined[0] = major.dim;
    r->joined[1] = minor.dim;
    sw_fuse_dims after;
    if (sw_fuse_reshaped(r, x, y, of, &after)) return;
    r->joined[0] = r->joined[1] = -1;
  }
}

static void reduced(const sw_op *op, const sw_fuse_dims *of, sw_fuse_dims *out) {
  int n, to = 0;
  const int64_t *gone = sw_op_ints(op, SW_ATTR_DIMS, &n);
  const bool keep = sw_op_int(op, SW_ATTR_KEEP_DIMS, 0) != 0;
  for (int i = 0; i < of->rank; i++) {
    bool is_gone = false;
    for (int k = 0; k < n; k++) is_gone = is_gone || gone[k] == i;
    if (!is_gone || keep) out->at[to++] = is_gone ? kNone : of->at[i];
  }
}

bool sw_fuse_dims_after(const sw_fuse_region *r, const sw_op *op, const sw_fuse_dims *of, sw_fuse_dims *out) {
  out->rank = r->g->values[op->results[0]].type.rank;
  switch ((int)op->code) {
    case SW_OP_TRANSPOSE:
      transposed(op, of, out);
      return true;
    case SW_OP_BROADCAST:
      return spread(r, op, of, out);
    case SW_OP_RESHAPE:
      return sw_fuse_reshaped(r, op->operands[0], op->results[0], of, out);
    case SW_OP_REDUCE:
      reduced(op, of, out);
      return true;
    default:
      *out = *of;
      return true;
  }
}

bool sw_fuse_dims_before(const sw_fuse_region *r, const sw_op *op, const sw_fuse_dims *of, sw_fuse_dims *out) {
  const sw_graph *g = r->g;
  int n;
  const int64_t *p;
  *out = (sw_fuse_dims){.rank = op->n_operands ? g->values[op->operands[0]].type.rank : 0};
  switch ((int)op->code) {
    case SW_OP_TRANSPOSE:
      p = sw_op_ints(op, SW_ATTR_PERMUTATION, &n);
      for (int i = 0; i < n; i++) out->at[p[i]] = of->at[i];
      return true;
    case SW_OP_BROADCAST:
      p = sw_op_ints(op, SW_ATTR_DIMS, &n);
      for (int i = 0; i < n; i++) out->at[i] = extent(g, op->operands[0], i) == 1 ? kNone : of->at[p[i]];
      return true;
    case SW_OP_RESHAPE:
      return sw_fuse_reshaped(r, op->results[0], op->operands[0], of, out);
    case SW_OP_CONVERT:
      *out = *of;
      return true;
    default:
      return false;
  }
}

bool sw_fuse_dims_equal(const sw_graph *g, sw_id x, const sw_fuse_dims *a, sw_id y, const sw_fuse_dims *b) {
  if (a->rank != b->rank) return false;
  for (int i = 0; i < a->rank; i++) {
    if (extent(g, x, i) == 1 && extent(g, y, i) == 1) continue;
    if (a->at[i].dim != b->at[i].dim || a->at[i].stride != b->at[i].stride) return false;
  }
  return true;
}

void sw_fuse_dot_of(const sw_op *op, sw_fuse_dot *out) {
  out->batch[0] = sw_op_ints(op, SW_ATTR_LHS_BATCH, &out->n_batch);
  out->batch[1] = sw_op_ints(op, SW_ATTR_RHS_BATCH, &out->n_batch);
  out->contract[0] = sw_op_ints(op, SW_ATTR_LHS_CONTRACT, &out->n_contract);
  out->contract[1] = sw_op_ints(op, SW_ATTR_RHS_CONTRACT, &out->n_contract);
}

int sw_fuse_free_dims(const sw_graph *g, const sw_op *op, int side, int *out) {
  sw_fuse_dot dot;
  int n = 0;
  sw_fuse_dot_of(op, &dot);
  for (int i = 0; i < g->values[op->operands[side]].type.rank; i++) {
    bool taken = false;
    for (int k = 0; k < dot.n_batch; k++) taken = taken || dot.batch[side][k] == i;
    for (int k = 0; k < dot.n_contract; k++) taken = taken || dot.contract[side][k] == i;
    if (!taken) out[n++] = i;
  }
  return n;
}
