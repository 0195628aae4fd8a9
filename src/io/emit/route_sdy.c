/* A route in Shardy's dialect: whole tensors, one op per step, each with the sharding that it leaves behind.
 *
 *   %0 = sdy.all_to_all [{"y"}: 0->1] %x out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
 *
 * A permute is sdy.collective_permute. Shardy has no direct exchange, nor all_to_alls in which a dimension gives to
 * several or takes from several: sdy.reshard names what is wanted and leaves the way to Shardy.
 */
#include <string.h>

#include "shardwright/emit.h"

typedef struct writer {
  const sw_reshard *wanted;
  const sw_mesh *mesh;
  sw_text *out;
} writer;

static void put_type(const writer *w) {
  sw_text_puts(w->out, "tensor<");
  for (int i = 0; i < w->wanted->rank; i++) sw_text_printf(w->out, "%lldx", (long long)w->wanted->dims[i]);
  sw_text_printf(w->out, "%s>", sw_dtype_mlir(w->wanted->dtype));
}

static sw_rc put_sharding(const writer *w, const sw_sharding *s, sw_diag *d) {
  sw_text_puts(w->out, "<@mesh, ");
  SW_TRY(sw_sharding_print_as(w->mesh, s, SW_FORM_SDY, w->out, d));
  sw_text_puts(w->out, ">");
  return SW_OK;
}

static sw_rc put_attribute(const writer *w, const sw_sharding *s, sw_diag *d) {
  put_type(w);
  sw_text_puts(w->out, " {sdy.sharding = #sdy.sharding");
  SW_TRY(put_sharding(w, s, d));
  sw_text_puts(w->out, "}");
  return SW_OK;
}

/* The axes of a collective on its dimension, out of `rank`: [{}, {"y"}]. */
static sw_rc put_axes(const writer *w, const sw_collective *c, int rank, int dim, sw_text *out, sw_diag *d) {
  sw_sharding s = sw_sharding_replicated(rank);
  for (int i = 0; i < c->n_axes; i++) {
    if (!sw_sharding_push(&s, dim, c->axes[i])) return SW_BUG(d, "a collective has too many axes");
  }
  return sw_sharding_print_as(w->mesh, &s, SW_FORM_SDY, out, d);
}

/* {"x", "y"} */
static sw_rc put_set(const writer *w, const sw_collective *c, sw_diag *d) {
  sw_text list = {0};
  sw_rc rc = put_axes(w, c, 1, 0, &list, d); /* [{"x", "y"}] */
  if (!rc && list.n > 2) sw_text_append(w->out, list.at + 1, list.n - 2);
  sw_text_free(&list);
  return rc;
}

static sw_rc put_per_dim(const writer *w, const sw_collective *c, sw_diag *d) {
  return put_axes(w, c, w->wanted->rank, c->dim, w->out, d);
}

static sw_rc put_moves(const writer *w, const sw_collective *c, sw_diag *d) {
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
static int taken_by(const sw_collective *c, int d) {
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
    if (lost && (gained || taken_by(c, d) < 0)) return false;
  }
  return true;
}

static sw_rc put_all_moves(const writer *w, const sw_collective *c, sw_diag *d) {
  const char *before = "[";
  for (int dim = 0; dim < c->src->rank; dim++) {
    const sw_axis_ref *lost;
    sw_collective one = {.n_axes = refs_more(c->dst, c->src, dim, &lost)};
    if (!one.n_axes) continue;
    memcpy(one.axes, lost, (size_t)one.n_axes * sizeof *lost);
    sw_text_puts(w->out, before);
    SW_TRY(put_set(w, &one, d));
    sw_text_printf(w->out, ": %d->%d", dim, taken_by(c, dim));
    before = ", ";
  }
  sw_text_puts(w->out, "]");
  return SW_OK;
}

typedef struct sdy_row {
  const char *name;
  sw_rc (*put_axes)(const writer *w, const sw_collective *c, sw_diag *d); /* NULL: none */
} sdy_row;

static const sdy_row kRows[SW_COLL_COUNT] = {
    [SW_COLL_ALL_GATHER] = {"sdy.all_gather", put_per_dim},
    [SW_COLL_ALL_SLICE] = {"sdy.all_slice", put_per_dim},
    [SW_COLL_REDUCE_SCATTER] = {"sdy.reduce_scatter", put_per_dim},
    [SW_COLL_ALL_TO_ALL] = {"sdy.all_to_all", put_moves},
    [SW_COLL_ALL_REDUCE] = {"sdy.all_reduce", put_set},
    [SW_COLL_TO_PARTIAL] = {"sdy.replicated_to_unreduced", put_set},
    [SW_COLL_PERMUTE] = {"sdy.collective_permute", NULL},
    [SW_COLL_EXCHANGE] = {"sdy.reshard", NULL},
    [SW_COLL_ALL_TO_ALL_DIMS] = {"sdy.all_to_all", put_all_moves},
};

static sw_rc put_step(const writer *w, const sw_route_step *step, int i, sw_diag *d) {
  sw_coll_op op = step->coll.op;
  if (op == SW_COLL_ALL_TO_ALL_DIMS && !is_all_to_all(&step->coll)) op = SW_COLL_EXCHANGE;
  const sdy_row *row = &kRows[op];
  if (step->mesh != w->mesh) return SW_FAIL_INPUT(d, SW_NOWHERE, "sdy: a route between two meshes has no spelling");
  if (!row->name) return SW_BUG(d, "a route has a step %s", sw_coll_text(step->coll.op));
  sw_text_printf(w->out, "    %%%d = %s ", i, row->name);
  if (row->put_axes) {
    SW_TRY(row->put_axes(w, &step->coll, d));
    sw_text_puts(w->out, " ");
  }
  if (i == 0) sw_text_puts(w->out, "%x ");
  if (i > 0) sw_text_printf(w->out, "%%%d ", i - 1);
  if (op != SW_COLL_EXCHANGE) sw_text_puts(w->out, "out_sharding=");
  SW_TRY(put_sharding(w, &step->after, d));
  sw_text_puts(w->out, " : ");
  put_type(w);
  sw_text_puts(w->out, "\n");
  return SW_OK;
}

static void put_mesh(const writer *w) {
  const sw_mesh *m = w->mesh;
  sw_text_puts(w->out, "  sdy.mesh @mesh = <[");
  for (int a = 0; a < m->n_axes; a++) {
    sw_text_printf(w->out, "%s\"%s\"=%lld", a ? ", " : "", m->axis[a].name, (long long)m->axis[a].size);
  }
  sw_text_puts(w->out, "]");
  for (int64_t i = 0; m->device_ids && i < sw_mesh_devices(m); i++) {
    sw_text_printf(w->out, "%s%d", i ? ", " : ", device_ids=[", m->device_ids[i]);
  }
  sw_text_puts(w->out, m->device_ids ? "]>\n" : ">\n");
}

sw_rc sw_emit_route_sdy(const sw_reshard *wanted, const sw_route *route, sw_text *out, sw_diag *d) {
  const writer w = {wanted, sw_machine_mesh(wanted->machine), out};
  const sw_sharding *end = route->n_steps ? &route->step[route->n_steps - 1].after : wanted->from;
  sw_text_puts(out, "module {\n");
  put_mesh(&w);
  sw_text_puts(out, "  func.func @main(%x: ");
  SW_TRY(put_attribute(&w, wanted->from, d));
  sw_text_puts(out, ") -> (");
  SW_TRY(put_attribute(&w, end, d));
  sw_text_puts(out, ") {\n");
  for (int i = 0; i < route->n_steps; i++) SW_TRY(put_step(&w, &route->step[i], i, d));
  if (route->n_steps) sw_text_printf(out, "    return %%%d : ", route->n_steps - 1);
  if (!route->n_steps) sw_text_puts(out, "    return %x : ");
  put_type(&w);
  sw_text_puts(out, "\n  }\n}\n");
  return out->rc ? SW_FAIL(d, out->rc, SW_NOWHERE, "out of memory") : SW_OK;
}
