/* One step of a route in Shardy's dialect, on the whole tensor: the collective, and the sharding that it leaves behind.
 *
 *   %0 = sdy.all_to_all [{"y"}: 0->1] %x out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
 *
 * A permute is sdy.collective_permute. Shardy has no direct exchange, nor all_to_alls in which a dimension gives to
 * several or takes from several, nor values partial by another kind than a sum: sdy.reshard names what is wanted and
 * leaves the way to Shardy.
 */
#include "mlir/emit/emit_sdy.h"

#include <string.h>

void sw_sdy_mesh(const sw_mesh *m, sw_text *out) {
  sw_text_puts(out, "<[");
  for (int a = 0; a < m->n_axes; a++) {
    sw_text_printf(out, "%s\"%s\"=%lld", a ? ", " : "", m->axis[a].name, (long long)m->axis[a].size);
  }
  sw_text_puts(out, "]");
  for (int64_t i = 0; m->device_ids && i < sw_mesh_devices(m); i++) {
    sw_text_printf(out, "%s%d", i ? ", " : ", device_ids=[", (int)m->device_ids[i]);
  }
  sw_text_puts(out, m->device_ids ? "]>" : ">");
}

sw_rc sw_sdy_sharding(const sw_mesh *m, const char *mesh_name, const sw_sharding *s, sw_text *out, sw_diag *d) {
  sw_sharding said = *s;
  if (said.partial_kind != SW_REDUCE_SUM) said.n_partial = 0;
  sw_text_printf(out, "<@%s, ", mesh_name);
  SW_TRY(sw_sharding_print_as(m, &said, SW_FORM_SDY, out, d));
  sw_text_puts(out, ">");
  return out->rc;
}

/* The axes of a collective on its dimension, out of `rank`: [{}, {"y"}]. */
static sw_rc put_collective_axes(const sw_sdy_hop *w, const sw_collective *c, int rank, int dim, sw_text *out,
                                 sw_diag *d) {
  sw_sharding s = sw_sharding_replicated(rank);
  for (int i = 0; i < c->n_axes; i++) {
    if (!sw_sharding_push(&s, dim, c->axes[i])) return SW_BUG(d, "a collective has too many axes");
  }
  return sw_sharding_print_as(w->mesh, &s, SW_FORM_SDY, out, d);
}

/* {"x", "y"} */
static sw_rc put_set(const sw_sdy_hop *w, const sw_collective *c, sw_diag *d) {
  sw_text list = {0};
  sw_rc rc = put_collective_axes(w, c, 1, 0, &list, d); /* [{"x", "y"}] */
  if (!rc && list.n > 2) sw_text_append(w->out, list.at + 1, list.n - 2);
  sw_text_free(&list);
  return rc;
}

static sw_rc put_per_dim(const sw_sdy_hop *w, const sw_collective *c, sw_diag *d) {
  return put_collective_axes(w, c, w->type->rank, c->dim, w->out, d);
}

static sw_rc put_moves(const sw_sdy_hop *w, const sw_collective *c, sw_diag *d) {
  sw_text_puts(w->out, "[");
  SW_TRY(put_set(w, c, d));
  sw_text_printf(w->out, ": %d->%d]", c->concat_dim, c->dim);
  return SW_OK;
}

/* Refs that dimension d has more in `more` than in `less`, at the end. */
static int refs_more(const sw_tiling *less, const sw_tiling *more, int d, const sw_axis_ref **refs) {
  const sw_tile_dim *x = &less->dim[d], *y = &more->dim[d];
  int common = 0;
  while (common < x->n_refs && common < y->n_refs &&
         sw_axis_ref_equal(less->refs[x->first_ref + common], more->refs[y->first_ref + common])) {
    common++;
  }
  *refs = more->refs + y->first_ref + common;
  return y->n_refs - common;
}

/* Where the axes that leave dimension d go, if one dimension takes them as they are; else -1. */
static int dim_taking_axes(const sw_collective *c, int d) {
  const sw_axis_ref *lost, *gained;
  int n = refs_more(c->dst, c->src, d, &lost);
  for (int e = 0; e < c->src->rank; e++) {
    if (refs_more(c->src, c->dst, e, &gained) != n) continue;
    int same = 0;
    while (same < n && sw_axis_ref_equal(lost[same], gained[same])) same++;
    if (same == n) return e;
  }
  return -1;
}

/* Shardy's all_to_all moves lists of axes as they are, each dimension giving or taking once: [{"x"}: 0->2, {"y"}:
 * 1->3]. False when this one is not like that. */
static bool is_all_to_all(const sw_collective *c) {
  const sw_axis_ref *refs;
  for (int d = 0; d < c->src->rank; d++) {
    int lost = refs_more(c->dst, c->src, d, &refs), gained = refs_more(c->src, c->dst, d, &refs);
    if (lost && (gained || dim_taking_axes(c, d) < 0)) return false;
  }
  return true;
}

static sw_rc put_all_moves(const sw_sdy_hop *w, const sw_collective *c, sw_diag *d) {
  const char *before = "[";
  for (int dim = 0; dim < c->src->rank; dim++) {
    const sw_axis_ref *lost;
    sw_collective one = {.n_axes = refs_more(c->dst, c->src, dim, &lost)};
    if (!one.n_axes) continue;
    memcpy(one.axes, lost, (size_t)one.n_axes * sizeof *lost);
    sw_text_puts(w->out, before);
    SW_TRY(put_set(w, &one, d));
    sw_text_printf(w->out, ": %d->%d", dim, dim_taking_axes(c, dim));
    before = ", ";
  }
  sw_text_puts(w->out, "]");
  return SW_OK;
}

/* All that dims of `more` have beyond those of `less`: [{"x"}, {"y"}]. */
static sw_rc put_difference(const sw_sdy_hop *w, const sw_tiling *less, const sw_tiling *more, sw_diag *d) {
  sw_sharding s = sw_sharding_replicated(less->rank);
  for (int dim = 0; dim < less->rank; dim++) {
    const sw_axis_ref *refs;
    int n = refs_more(less, more, dim, &refs);
    for (int i = 0; i < n; i++) {
      if (!sw_sharding_push(&s, dim, refs[i])) return SW_BUG(d, "%s", "an exchange has too many axes");
    }
  }
  return sw_sharding_print_as(w->mesh, &s, SW_FORM_SDY, w->out, d);
}

static sw_rc put_gained(const sw_sdy_hop *w, const sw_collective *c, sw_diag *d) {
  return put_difference(w, c->src, c->dst, d);
}

static sw_rc put_lost(const sw_sdy_hop *w, const sw_collective *c, sw_diag *d) {
  return put_difference(w, c->dst, c->src, d);
}

/* Does every dim of `more` begin with the axes of `less`? */
static bool begins(const sw_tiling *less, const sw_tiling *more) {
  const sw_axis_ref *refs;
  for (int d = 0; d < less->rank; d++) {
    if (refs_more(more, less, d, &refs) != 0) return false;
  }
  return true;
}

static bool extends(const sw_tiling *less, const sw_tiling *more) {
  return less->n_apart == more->n_apart && begins(less, more);
}

static int64_t shards(const sw_tiling *t, int dim) {
  int64_t n = 1;
  for (int i = 0; i < t->dim[dim].n_refs; i++) n *= t->refs[t->dim[dim].first_ref + i].size;
  return n;
}

/* Has each dim as many shards in both? Shardy's permute wants that, also where some of them are empty. */
static bool same_shard_counts(const sw_tiling *a, const sw_tiling *b) {
  for (int d = 0; d < a->rank; d++) {
    if (shards(a, d) != shards(b, d)) return false;
  }
  return true;
}

typedef struct row {
  const char *name;
  sw_rc (*put_axes)(const sw_sdy_hop *w, const sw_collective *c, sw_diag *d); /* NULL: none */
} row;

static const row kRows[SW_COLL_COUNT] = {
    [SW_COLL_ALL_GATHER] = {"sdy.all_gather", put_per_dim},
    [SW_COLL_ALL_SLICE] = {"sdy.all_slice", put_per_dim},
    [SW_COLL_REDUCE_SCATTER] = {"sdy.reduce_scatter", put_per_dim},
    [SW_COLL_ALL_TO_ALL] = {"sdy.all_to_all", put_moves},
    [SW_COLL_ALL_REDUCE] = {"sdy.all_reduce", put_set},
    [SW_COLL_TO_PARTIAL] = {"sdy.replicated_to_unreduced", put_set},
    [SW_COLL_SHARD_TO_PARTIAL] = {"sdy.sharded_to_unreduced", put_lost},
    [SW_COLL_PERMUTE] = {"sdy.collective_permute", NULL},
    [SW_COLL_EXCHANGE] = {"sdy.reshard", NULL},
    [SW_COLL_ALL_TO_ALL_DIMS] = {"sdy.all_to_all", put_all_moves},
};

/* What the dialect has for it. */
static const row *find_sdy_row(const sw_collective *c) {
  static const row kSlices = {"sdy.all_slice", put_gained}, kGathers = {"sdy.all_gather", put_lost};
  bool reshards = (sw_coll_flags(c->op) & SW_COLL_USES_REDUCTION) && c->reduction != SW_REDUCE_SUM;
  if (c->op == SW_COLL_ALL_TO_ALL_DIMS && !is_all_to_all(c)) reshards = true;
  if (c->op == SW_COLL_SHARD_TO_PARTIAL && !begins(c->dst, c->src)) reshards = true;
  if (c->op == SW_COLL_PERMUTE && !same_shard_counts(c->src, c->dst)) reshards = true;
  if (c->dst && c->src && c->dst->other != c->src->other) return &kRows[SW_COLL_EXCHANGE];
  bool exchanges = c->op == SW_COLL_EXCHANGE && c->src && c->dst;
  if (exchanges && extends(c->src, c->dst)) return &kSlices;
  if (exchanges && extends(c->dst, c->src)) return &kGathers;
  return &kRows[reshards ? SW_COLL_EXCHANGE : c->op];
}

sw_rc sw_sdy_hop_write(const sw_sdy_hop *w, const sw_collective *c, sw_diag *d) {
  const row *r = w->free_form ? &kRows[SW_COLL_EXCHANGE] : find_sdy_row(c);
  if (!r->name) return SW_BUG(d, "a route has a step %s", sw_coll_text(c->op));
  sw_text_printf(w->out, "    %s = %s ", w->to, r->name);
  if (r->put_axes) {
    SW_TRY(r->put_axes(w, c, d));
    sw_text_puts(w->out, " ");
  }
  sw_text_printf(w->out, "%s %s", w->from, r == &kRows[SW_COLL_EXCHANGE] ? "" : "out_sharding=");
  SW_TRY(sw_sdy_sharding(w->mesh, w->mesh_name, w->after, w->out, d));
  sw_text_puts(w->out, " : ");
  sw_mlir_type(w->type, w->out);
  return w->out->rc ? SW_FAIL(d, w->out->rc, SW_NOWHERE, "out of memory") : SW_OK;
}
