/* gather-down: an op runs on what an all_gather is about to put together, and its result is gathered instead.
 *
 *   before  y = all_gather [x] dim=0 a    z = convert y : bf16
 *   after   b = convert a : bf16          z = all_gather [x] dim=0 b
 *
 * Where the op has a parallel loop along the gathered dimension, which every result and each operand has as one whole
 * dimension, or not at all. Other operands that have it come as they lie before a gather of their own, or are sliced,
 * or are the same all along it. Judged by what the gathers move and what the op computes before and after. Does not:
 * move a gather that somebody else reads, too. */
#include "spmd/passes/spmd_passes.h"

typedef struct moving {
  sw_op op;     /* that the gather moves behind */
  sw_id id;     /* of it */
  sw_op gather; /* of one of its operands */
  sw_followed along;
  int64_t extent;       /* of one device's part of the loop */
  double before, after; /* seconds */
  sw_id in[SW_MOST_FOLLOWED];
} moving;

static int64_t extent_of(const sw_rewrite *r, sw_id v, int dim) {
  return sw_rewrite_extent(r, v, sw_rewrite_layout(r, v), dim);
}

/* Operand k on one device's part of the loop; in[k] -1: it cannot be had. */
static sw_rc take_operand(sw_rewrite *r, moving *m, int k, sw_diag *d) {
  const sw_collective *c = m->gather.collective;
  const sw_id v = m->op.operands[k];
  const int dim = m->along.operand_dim[k];
  const sw_op *same = sw_rewrite_def_as(r, v, SW_COLL_ALL_GATHER);
  m->in[k] = dim < 0 ? v : -1;
  if (dim < 0) return SW_OK;
  if (same && same->collective->dim == dim &&
      sw_axis_refs_equal(same->collective->axes, same->collective->n_axes, c->axes, c->n_axes)) {
    bool counted = false;
    for (int i = 0; i < k; i++) counted = counted || m->op.operands[i] == v;
    m->in[k] = extent_of(r, same->operands[0], dim) == m->extent ? same->operands[0] : -1;
    if (!counted && sw_rewrite_read_by_one(r, &m->op, v)) m->before += sw_rewrite_seconds(r, same);
    return SW_OK;
  }
  sw_collective slice = *c;
  slice.op = SW_COLL_ALL_SLICE;
  SW_TRY(sw_rewrite_take(r, v, dim, &slice, m->id, m->extent, &m->in[k], d));
  if (m->in[k] >= 0 && sw_rewrite_def_as(r, m->in[k], SW_COLL_ALL_SLICE))
    m->after += sw_rewrite_seconds_of(r, m->in[k]);
  return SW_OK;
}

static sw_rc push_down(sw_rewrite *r, sw_id id, sw_id *out, int depth, sw_diag *d);

/* The op on parts, and its result gathered; *out -1: it is no better. */
static sw_rc push_one(sw_rewrite *r, moving *m, sw_id *out, int depth, sw_diag *d) {
  sw_rewrite_as as = {m->id, *sw_rewrite_layout(r, m->op.results[0])}, part = as;
  sw_collective c = *m->gather.collective;
  int64_t dims[SW_MAX_RANK];
  sw_id made;
  *out = -1;
  c.dim = m->along.result_dim;
  if (as.layout.on || !sw_layout_cut(&part.layout, c.dim, c.axes, c.n_axes)) return SW_OK;
  if (!sw_rewrite_block_dims(r, &part.layout, dims)) return SW_OK;
  m->extent = extent_of(r, m->gather.operands[0], m->gather.collective->dim);
  if (sw_rewrite_extent(r, m->op.results[0], &part.layout, c.dim) != m->extent) return SW_OK;
  m->before = sw_rewrite_seconds(r, &m->op);
  for (int k = 0; k < m->op.n_operands; k++) {
    SW_TRY(take_operand(r, m, k, d));
    if (m->in[k] < 0) return SW_OK;
  }
  SW_TRY(sw_rewrite_add_like(r, m->in, dims, &part, &made, d));
  m->after += sw_rewrite_seconds_of(r, made);
  const sw_id inner = r->to.program->values[made].def;
  sw_id gathered;
  SW_TRY(sw_rewrite_add_collective(r, made, &c, NULL, &as, &gathered, d));
  if (m->after + sw_rewrite_seconds_of(r, gathered) >= m->before) return SW_OK;
  *out = gathered;
  sw_id below;
  SW_TRY(push_down(r, inner, &below, depth + 1, d));
  return below < 0 ? SW_OK : sw_rewrite_add_collective(r, below, &c, NULL, &as, out, d);
}

enum { MOST_GATHERS = 8 }; /* of one operand, one dimension after the other */

static sw_rc push_down(sw_rewrite *r, sw_id id, sw_id *out, int depth, sw_diag *d) {
  moving m = {.op = *sw_rewrite_op(r, id), .id = id};
  *out = -1;
  for (int k = 0; k < m.op.n_operands && *out < 0 && depth < MOST_GATHERS; k++) {
    const sw_op *gather = sw_rewrite_def_as(r, m.op.operands[k], SW_COLL_ALL_GATHER);
    if (!gather || !sw_follow(r, &m.op, k, gather->collective->dim, &m.along)) continue;
    m.gather = *gather;
    m.before = m.after = 0;
    SW_TRY(push_one(r, &m, out, depth, d));
  }
  return SW_OK;
}

static sw_rc move_gather_down(sw_rewrite *r, sw_id old, sw_id id, void *user, sw_diag *d) {
  sw_id out;
  (void)user;
  SW_TRY(push_down(r, id, &out, 0, d));
  if (out >= 0) sw_rewrite_replace(r, r->from->program->ops[old].results[0], out);
  return SW_OK;
}

const sw_pass sw_pass_gather_down = {.name = "gather-down", .visit = move_gather_down};
