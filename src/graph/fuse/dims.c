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
static bool spread(const sw_graph *g, const sw_op *op, const int64_t *size, const sw_fuse_dims *of, sw_fuse_dims *out) {
  int n;
  const int64_t *dims = sw_op_ints(op, SW_ATTR_DIMS, &n);
  bool has[SW_MAX_RANK] = {false};
  for (int i = 0; i < out->rank; i++) out->at[i] = kNone;
  for (int i = 0; i < n; i++) {
    if (of->at[i].dim >= 0 && of->at[i].dim < SW_MAX_RANK) has[of->at[i].dim] = true;
    if (extent(g, op->operands[0], i) == extent(g, op->results[0], (int)dims[i])) out->at[dims[i]] = of->at[i];
  }
  for (int k = 0; k < out->rank; k++) {
    int found = -1;
    if (out->at[k].dim >= 0 || extent(g, op->results[0], k) == 1) continue;
    for (int s = 0; s < SW_MAX_RANK; s++) {
      if (size[s] != extent(g, op->results[0], k) || has[s]) continue;
      if (found >= 0) return false;
      found = s;
    }
    if (found < 0) return false;
    out->at[k] = (sw_fuse_dim){found, 1};
    has[found] = true;
  }
  return true;
}

/* Dims that are cut in parts or put together again; those of one element come and go. */
bool sw_fuse_reshaped(const sw_graph *g, sw_id x, sw_id y, const sw_fuse_dims *of, sw_fuse_dims *out) {
  int i = 0, k = 0;
  out->rank = g->values[y].type.rank;
  for (int n = 0; n < out->rank; n++) out->at[n] = kNone;
  while (i < of->rank || k < out->rank) {
    while (i < of->rank && extent(g, x, i) == 1) i++;
    while (k < out->rank && extent(g, y, k) == 1) k++;
    if (i == of->rank || k == out->rank) break;
    sw_fuse_dim from = of->at[i];
    int64_t left = extent(g, x, i), right = extent(g, y, k);
    if (left == right) {
      out->at[k++] = from;
      i++;
    } else if (left > right) { /* in parts, major first */
      for (; k < out->rank && left > 1; k++) {
        if (left % extent(g, y, k)) return false;
        left /= extent(g, y, k);
        out->at[k] = extent(g, y, k) == 1 ? kNone : (sw_fuse_dim){from.dim, from.stride * left};
      }
      i++;
    } else { /* together: digits of one dim */
      int64_t whole = left, stride = from.stride;
      for (i++; i < of->rank && whole < right; i++) {
        const int64_t n = extent(g, x, i);
        if (n == 1) continue;
        if (of->at[i].dim != from.dim || of->at[i].stride * n != stride) return false;
        stride = of->at[i].stride;
        whole *= n;
      }
      if (whole != right) return false;
      out->at[k++] = (sw_fuse_dim){from.dim, stride};
    }
  }
  return i == of->rank && k == out->rank;
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

bool sw_fuse_dims_after(const sw_graph *g, const sw_op *op, const int64_t *size, const sw_fuse_dims *of,
                        sw_fuse_dims *out) {
  out->rank = g->values[op->results[0]].type.rank;
  switch ((int)op->code) {
    case SW_OP_TRANSPOSE:
      transposed(op, of, out);
      return true;
    case SW_OP_BROADCAST:
      return spread(g, op, size, of, out);
    case SW_OP_RESHAPE:
      return sw_fuse_reshaped(g, op->operands[0], op->results[0], of, out);
    case SW_OP_REDUCE:
      reduced(op, of, out);
      return true;
    default:
      *out = *of;
      return true;
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
