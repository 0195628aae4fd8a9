/* Layouts of new values, and over which axes values are the same. */
#include <string.h>

#include "spmd/passes/spmd_rewrite.h"

bool sw_rewrite_block_dims(const sw_rewrite *r, const sw_layout *l, int64_t *dims) {
  if (!l->is_block) return false;
  const sw_type *t = &r->to.model->values[l->source].type;
  if (t->rank) memcpy(dims, t->dims, (size_t)t->rank * sizeof *dims);
  return r->to.whole_tensors || sw_sharding_local_dims(&l->sharding, t->dims, dims);
}

int64_t sw_rewrite_extent(const sw_rewrite *r, sw_id value, const sw_layout *l, int dim) {
  const sw_type *t = sw_rewrite_type(r, value);
  if (dim >= t->rank) return 1;
  return l->is_block ? sw_sharding_block(&l->sharding, dim, r->to.model->values[l->source].type.dims[dim])
                     : t->dims[dim];
}

/* --- lists of axes ------------------------------------------------------------------------------------------------ */

static bool holds_ref(const sw_axis_ref *a, int n, sw_axis_ref x) {
  for (int i = 0; i < n; i++) {
    if (sw_axis_ref_equal(a[i], x)) return true;
  }
  return false;
}

bool sw_refs_same_set(const sw_axis_ref *a, int n, const sw_axis_ref *b, int m) {
  for (int i = 0; n == m && i < n; i++) {
    if (!holds_ref(b, m, a[i])) return false;
  }
  return n == m;
}

bool sw_refs_overlap(const sw_axis_ref *a, int n, const sw_axis_ref *b, int m) {
  for (int i = 0; i < n * m; i++) {
    if (sw_axis_ref_overlaps(a[i / m], b[i % m])) return true;
  }
  return false;
}

/* --- shardings with other axes ------------------------------------------------------------------------------------ */

static bool is_free(const sw_sharding *s, const sw_axis_ref *axes, int n) {
  return !s->offsets && !s->halos && !sw_refs_overlap(s->refs, s->n_refs + s->n_partial, axes, n);
}

bool sw_layout_cut(sw_layout *l, int dim, const sw_axis_ref *axes, int n) {
  bool ok = l->is_block && is_free(&l->sharding, axes, n);
  for (int i = 0; ok && i < n; i++) ok = sw_sharding_push(&l->sharding, dim, axes[i]);
  return ok;
}

bool sw_layout_make_partial(sw_layout *l, sw_reduction kind, const sw_axis_ref *axes, int n) {
  bool ok = l->is_block && is_free(&l->sharding, axes, n);
  for (int i = 0; ok && i < n; i++) ok = sw_sharding_push_partial(&l->sharding, kind, axes[i]);
  return ok;
}

bool sw_layout_join(sw_layout *l, int dim, const sw_axis_ref *axes, int n) {
  const sw_sharding s = l->sharding;
  int m;
  const sw_axis_ref *refs = sw_sharding_dim(&s, dim, &m);
  if (!l->is_block || s.offsets || s.halos || m < n || !sw_axis_refs_equal(refs + m - n, n, axes, n)) return false;
  const int first = (int)(refs - s.refs) + m - n;
  l->sharding = sw_sharding_replicated(s.rank);
  for (int i = 0; i < s.n_refs; i++) {
    if (i < first || i >= first + n) (void)sw_sharding_push(&l->sharding, s.dim_of[i], s.refs[i]);
  }
  for (int i = 0; i < s.n_partial; i++) {
    (void)sw_sharding_push_partial(&l->sharding, (sw_reduction)s.partial_kind, sw_sharding_partial(&s)[i]);
  }
  return true;
}

/* --- the same on all devices -------------------------------------------------------------------------------------- */

static uint32_t axis_set_of(const sw_axis_ref *refs, int n) {
  uint32_t set = 0;
  for (int i = 0; i < n; i++) set |= UINT32_C(1) << refs[i].axis;
  return set;
}

static uint32_t whole_axes_of(const sw_mesh *m, const sw_axis_ref *refs, int n) {
  uint32_t set = 0;
  for (int i = 0; i < n; i++) {
    if (refs[i].pre == 1 && refs[i].size == m->axis[refs[i].axis].size) set |= UINT32_C(1) << refs[i].axis;
  }
  return set;
}

bool sw_refs_within(const sw_mesh *m, const sw_axis_ref *refs, int n, uint32_t axes) {
  const uint32_t set = axis_set_of(refs, n);
  return (set & axes) == set && whole_axes_of(m, refs, n) == set;
}

static uint32_t after_collective(const sw_mesh *m, const sw_collective *c, uint32_t before) {
  const uint32_t is = UINT32_C(1) << c->op;
  const uint32_t alike = 1u << SW_COLL_ALL_GATHER | 1u << SW_COLL_ALL_REDUCE | 1u << SW_COLL_BROADCAST;
  const uint32_t apart =
      1u << SW_COLL_ALL_SLICE | 1u << SW_COLL_REDUCE_SCATTER | 1u << SW_COLL_ALL_TO_ALL | 1u << SW_COLL_TO_PARTIAL;
  if (c->lists || c->dst) return 0;
  if (is & alike) return before | whole_axes_of(m, c->axes, c->n_axes);
  return is & apart ? before & ~axis_set_of(c->axes, c->n_axes) : 0;
}

static uint32_t after_op(const sw_spmd *s, const sw_op *op, const uint32_t *same, uint32_t all) {
  const sw_frame *f = op->frame < 0 ? NULL : &s->program->frames[op->frame];
  uint32_t set = all;
  for (int i = 0; i < op->n_operands; i++) set &= same[op->operands[i]];
  if (op->collective) return after_collective(s->mesh, op->collective, set);
  if (op->code == SW_OP_OPAQUE || op->code == SW_OP_JOIN) return 0;
  if (op->code == SW_OP_ENTER && f && f->kind == SW_OP_WHILE) return 0; /* what comes round may differ */
  return set & ~axis_set_of(op->refs, op->n_refs);
}

/* What the layout promises. */
static uint32_t by_layout(const sw_layout *l, uint32_t all) {
  if (!l->is_block || l->on) return 0;
  return all & ~axis_set_of(l->sharding.refs, l->sharding.n_refs + l->sharding.n_partial);
}

/* Over which axes of the mesh each value is the same on all devices. In the arena. */
static sw_rc same_over(const sw_spmd *s, sw_arena *arena, const uint32_t **out, sw_diag *d) {
  const sw_graph *g = s->program;
  const uint32_t all = (UINT32_C(1) << s->mesh->n_axes) - 1;
  uint32_t *same;
  SW_ARENA_NEW(same, arena, g->n_values, d);
  for (int32_t i = 0; i < g->n_args; i++) same[g->args[i]] = by_layout(&s->layout[g->args[i]], all);
  for (sw_id i = 0; i < g->n_ops; i++) {
    const uint32_t set = after_op(s, &g->ops[i], same, all);
    for (int k = 0; k < g->ops[i].n_results; k++) {
      const sw_id v = g->ops[i].results[k];
      same[v] = set | by_layout(&s->layout[v], all);
    }
  }
  *out = same;
  return SW_OK;
}

sw_rc sw_rewrite_walk_same(sw_rewrite *r, sw_rewrite_visit visit, sw_diag *d) {
  sw_arena arena = {0};
  const uint32_t *same;
  sw_rc rc = same_over(r->from, &arena, &same, d);
  if (!rc) rc = sw_rewrite_walk(r, visit, &same, d);
  sw_arena_deinit(&arena);
  return rc;
}
