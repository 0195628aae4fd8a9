/* A route in Shardy's dialect: whole tensors, one op per step, each with the sharding that it leaves behind.
 *
 *   func.func @main(%x: tensor<8x8xf32> {sdy.sharding = ...}) -> (tensor<8x8xf32> {sdy.sharding = ...}) {
 *     %0 = sdy.all_to_all [{"y"}: 0->1] %x out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
 *     return %0 : tensor<8x8xf32>
 */
#include <stdio.h>

#include "mlir/emit/emit_sdy.h"
#include "shardwright/emit.h"

typedef struct writer {
  const sw_mesh *mesh;
  sw_type type;
  sw_text *out;
} writer;

static const char *route_mesh_name(const writer *w, const sw_mesh *m) { return m == w->mesh ? "mesh" : "to_mesh"; }

static void put_mesh(const writer *w, const sw_mesh *m) {
  sw_text_printf(w->out, "  sdy.mesh @%s = ", route_mesh_name(w, m));
  sw_sdy_mesh(m, w->out);
  sw_text_puts(w->out, "\n");
}

/* Partial by another kind than a sum: refused. */
static sw_rc put_type_with_sharding(const writer *w, const sw_mesh *m, const sw_sharding *s, sw_diag *d) {
  sw_mlir_type(&w->type, w->out);
  sw_text_printf(w->out, " {sdy.sharding = #sdy.sharding<@%s, ", route_mesh_name(w, m));
  sw_sharding cut = *s; /* without axes of size 1, of which no step speaks */
  sw_sharding_normalise(m, &cut);
  SW_TRY(sw_sharding_print_as(m, &cut, SW_FORM_SDY, w->out, d));
  sw_text_puts(w->out, ">}");
  return SW_OK;
}

static sw_rc put_step(const writer *w, const sw_hop *step, int i, sw_diag *d) {
  char from[24], to[24];
  snprintf(to, sizeof to, "%%%d", i);
  snprintf(from, sizeof from, i ? "%%%d" : "%%x", i - 1);
  sw_sharding after = step->after;
  sw_sharding_normalise(step->mesh, &after);
  const sw_sdy_hop line = {step->mesh, route_mesh_name(w, step->mesh), from, to, &w->type, &after, false, w->out};
  SW_TRY(sw_sdy_hop_write(&line, &step->coll, d));
  sw_text_puts(w->out, "\n");
  return SW_OK;
}

sw_rc sw_emit_route_sdy(const sw_reshard *wanted, const sw_route *route, sw_text *out, sw_diag *d) {
  const writer w = {sw_machine_mesh(wanted->machine), {wanted->dtype, wanted->rank, wanted->dims}, out};
  const sw_hop *last = route->n_steps ? &route->step[route->n_steps - 1] : NULL;
  const sw_mesh *end_mesh = last ? last->mesh : w.mesh;
  sw_text_puts(out, "module {\n");
  put_mesh(&w, w.mesh);
  if (end_mesh != w.mesh) put_mesh(&w, end_mesh);
  sw_text_puts(out, "  func.func @main(%x: ");
  SW_TRY(put_type_with_sharding(&w, w.mesh, wanted->from, d));
  sw_text_puts(out, ") -> (");
  SW_TRY(put_type_with_sharding(&w, end_mesh, last ? &last->after : wanted->from, d));
  sw_text_puts(out, ") {\n");
  for (int i = 0; i < route->n_steps; i++) SW_TRY(put_step(&w, &route->step[i], i, d));
  if (route->n_steps) sw_text_printf(out, "    return %%%d : ", route->n_steps - 1);
  if (!route->n_steps) sw_text_puts(out, "    return %x : ");
  sw_mlir_type(&w.type, out);
  sw_text_puts(out, "\n  }\n}\n");
  return out->rc ? SW_FAIL(d, out->rc, SW_NOWHERE, "out of memory") : SW_OK;
}
