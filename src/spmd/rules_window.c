/* Ops that reach their operands at an offset or through a window: exchange first, then the op on what was fetched. */
#include <string.h>

#include "spmd/spmd_emit.h"

/* A copy of a per-dimension attribute (absent: n times `absent`) that the rule may change; lives in the scratch
 * arena. */
static sw_rc own_ints(sw_emit *e, sw_attrs *at, sw_attr_key k, int n, int64_t absent, int64_t **out, sw_diag *d) {
  int have;
  const int64_t *v = sw_op_ints(e->op, k, &have);
  SW_ARENA_NEW(*out, &e->scratch, n, d);
  for (int i = 0; i < n; i++) (*out)[i] = i < have ? v[i] : absent;
  sw_attrs_ints(at, k, *out, n);
  return SW_OK;
}

sw_rc sw_lower_reverse(sw_emit *e, sw_diag *d) {
  SW_TRY(sw_emit_window(e, 0, NULL, d));
  return sw_lower_same(e, d);
}

sw_rc sw_lower_shuffle(sw_emit *e, sw_diag *d) {
  int n, n_sources, loop = sw_emit_cut_loop_of_dim(e, 0, 0);
  if (loop < 0) return sw_lower_same(e, d);
  const sw_axis_ref *refs = sw_emit_loop(e, loop, &n);
  const int64_t *sources = sw_op_ints(e->op, SW_ATTR_SOURCES, &n_sources);
  const sw_type *type = sw_operand_type(e->model, e->op, 0);
  sw_sharding s;
  sw_tiling from, to;
  sw_strategy_operand(e->op, e->strategy, 0, &s);
  sw_tiling_of(&s, type->rank, type->dims, &from);
  to = from;
  SW_TRY(sw_emit_mesh_of_sources(e, refs, n, sources, &to.other, d));
  sw_collective c = {.op = SW_COLL_PERMUTE, .src = &from, .dst = &to};
  return sw_emit_collective(e, e->in[0], &c, sw_emit_type(e, e->in[0])->dims, &e->results[0], d);
}

sw_rc sw_lower_slice(sw_emit *e, sw_diag *d) {
  sw_attrs at;
  int64_t *start, *limit;
  int rank = e->op->nest->maps[0].rank;
  sw_attrs_copy(e->op, &at);
  SW_TRY(sw_emit_window(e, 0, NULL, d));
  SW_TRY(own_ints(e, &at, SW_ATTR_START, rank, 0, &start, d));
  SW_TRY(own_ints(e, &at, SW_ATTR_LIMIT, rank, 0, &limit, d));
  for (int k = 0; k < rank; k++) {
    if (sw_emit_cut_loop_of_dim(e, 0, k) < 0) continue;
    start[k] = 0;
    limit[k] = sw_emit_type(e, e->in[0])->dims[k];
  }
  return sw_emit_with(e, &at, d);
}

/* Cut dimensions: positions of the window outside the operand become the padding value. */
sw_rc sw_lower_pad(sw_emit *e, sw_diag *d) {
  sw_attrs at;
  int64_t *low, *high, *interior;
  const sw_type *type = sw_operand_type(e->model, e->op, 0);
  bool more = false;
  sw_attrs_copy(e->op, &at);
  SW_TRY(sw_emit_window(e, 0, NULL, d));
  SW_TRY(own_ints(e, &at, SW_ATTR_LOW, type->rank, 0, &low, d));
  SW_TRY(own_ints(e, &at, SW_ATTR_HIGH, type->rank, 0, &high, d));
  SW_TRY(own_ints(e, &at, SW_ATTR_INTERIOR, type->rank, 0, &interior, d));
  for (int k = 0; k < type->rank; k++) {
    int loop = sw_emit_cut_loop_of_dim(e, 0, k);
    if (loop >= 0) interior[k] = 0; /* it had one element, and nothing in between */
    if (loop >= 0 && (low[k] || high[k])) {
      sw_mask m = {.dim = k, .base = -low[k], .step = sw_emit_block(e, loop), .limit = type->dims[k]};
      m.refs = sw_emit_loop(e, loop, &m.n_refs);
      SW_TRY(sw_emit_mask(e, e->in[0], e->in[1], &m, &e->in[0], d));
      low[k] = high[k] = 0;
    }
    more = more || low[k] || high[k] || interior[k];
  }
  if (more) return sw_emit_with(e, &at, d);
  e->results[0] = e->in[0];
  return SW_OK;
}

/* Along a cut dimension every operand is fetched at its offset; each position then comes from the one that has it. */
sw_rc sw_lower_concatenate(sw_emit *e, sw_diag *d) {
  int dim = (int)sw_op_int(e->op, SW_ATTR_DIM, 0), last = e->op->n_operands - 1;
  int loop = sw_emit_cut_loop_of_dim(e, e->op->n_operands, dim);
  if (loop < 0) return sw_lower_same(e, d);
  int64_t offset = 0;
  for (int i = 0; i <= last; i++) SW_TRY(sw_emit_window(e, i, NULL, d));
  sw_id all = e->in[last];
  for (int i = 0; i < last; i++) offset += sw_operand_type(e->model, e->op, i)->dims[dim];
  for (int i = last - 1; i >= 0; i--) {
    int64_t n = sw_operand_type(e->model, e->op, i)->dims[dim];
    offset -= n;
    sw_mask m = {.dim = dim, .base = -offset, .step = sw_emit_block(e, loop), .limit = n};
    m.refs = sw_emit_loop(e, loop, &m.n_refs);
    SW_TRY(sw_emit_mask(e, e->in[i], all, &m, &all, d));
  }
  e->results[0] = all;
  return SW_OK;
}

static int layout_dim(const char *layout, char letter) {
  const char *p = strchr(layout, letter);
  return p ? (int)(p - layout) : 0; /* checked when the op was built */
}

/* Groups are the major digit of the feature (or batch) dimension: cutting it leaves fewer groups per device. */
static void local_groups(sw_emit *e, sw_attrs *at, sw_attr_key k, char letter) {
  int dim = layout_dim(sw_op_text(e->op, SW_ATTR_LHS_LAYOUT, ""), letter);
  if (sw_op_int(e->op, k, 1) > 1) sw_attrs_int(at, k, sw_emit_block(e, e->op->nest->maps[0].dims[dim].terms[0].loop));
}

sw_rc sw_lower_convolution(sw_emit *e, sw_diag *d) {
  static const double kZero = 0;
  sw_attrs at;
  int64_t *low, *high;
  const char *layout = sw_op_text(e->op, SW_ATTR_LHS_LAYOUT, "");
  int spatial = (int)strlen(layout) - 2;
  sw_attrs_copy(e->op, &at);
  for (int i = 0; i < 2; i++) SW_TRY(sw_emit_neutralise(e, i, 1u << SW_LOOP_REDUCTION, SW_REDUCE_SUM, d));
  SW_TRY(sw_emit_window(e, 0, &kZero, d));
  SW_TRY(own_ints(e, &at, SW_ATTR_PAD_LOW, spatial, 0, &low, d));
  SW_TRY(own_ints(e, &at, SW_ATTR_PAD_HIGH, spatial, 0, &high, d));
  for (int j = 0; j < spatial; j++) {
    if (sw_emit_cut_loop_of_dim(e, 0, layout_dim(layout, (char)('0' + j))) >= 0) low[j] = high[j] = 0;
  }
  local_groups(e, &at, SW_ATTR_FEATURE_GROUPS, 'f');
  local_groups(e, &at, SW_ATTR_BATCH_GROUPS, 'b');
  return sw_emit_with(e, &at, d);
}

sw_rc sw_lower_reduce_window(sw_emit *e, sw_diag *d) {
  sw_attrs at;
  int64_t *low, *high;
  sw_reduction kind = SW_REDUCE_SUM;
  const sw_type *type = sw_operand_type(e->model, e->op, 0);
  if (!sw_reduction_parse(sw_op_text(e->op, SW_ATTR_KIND, ""), &kind)) return SW_BUG(d, "reduce_window without a kind");
  double fill = sw_reduction_identity(kind, type->dtype);
  sw_attrs_copy(e->op, &at);
  SW_TRY(sw_emit_window(e, 0, &fill, d));
  SW_TRY(own_ints(e, &at, SW_ATTR_PAD_LOW, type->rank, 0, &low, d));
  SW_TRY(own_ints(e, &at, SW_ATTR_PAD_HIGH, type->rank, 0, &high, d));
  for (int k = 0; k < type->rank; k++) {
    if (sw_emit_cut_loop_of_dim(e, 0, k) >= 0) low[k] = high[k] = 0;
  }
  return sw_emit_with(e, &at, d);
}
