/* A route in Shardy's dialect: whole tensors, one op per step, each with the sharding that it leaves behind.
 *
 *   %0 = sdy.all_to_all [{"y"}: 0->1] %x out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
 *
 * A permute is sdy.collective_permute. Shardy has no direct exchange: sdy.reshard names what is wanted and leaves the
 * way to Shardy.
 */
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
};

static sw_rc put_step(const writer *w, const sw_route_step *step, int i, sw_diag *d) {
  const sdy_row *row = &kRows[step->coll.op];
  if (step->mesh != w->mesh) return SW_FAIL_INPUT(d, SW_NOWHERE, "sdy: a route between two meshes has no spelling");
  if (!row->name) return SW_BUG(d, "a route has a step %s", sw_coll_text(step->coll.op));
  sw_text_printf(w->out, "    %%%d = %s ", i, row->name);
  if (row->put_axes) {
    SW_TRY(row->put_axes(w, &step->coll, d));
    sw_text_puts(w->out, " ");
  }
  if (i == 0) sw_text_puts(w->out, "%x ");
  if (i > 0) sw_text_printf(w->out, "%%%d ", i - 1);
  if (step->coll.op != SW_COLL_EXCHANGE) sw_text_puts(w->out, "out_sharding=");
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
