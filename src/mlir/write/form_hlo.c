/* GSPMD's tiles: devices in the order of the tiles, as a transposed numbering of the mesh.
 *
 *   mesh x=2,y=4, [[y],[]]     mhlo.sharding = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"
 *   [[x],[y]]                  "{devices=[2,4]<=[8]}"
 *   [[],[]]                    "{replicated}"
 *
 * Partial values, which the form lacks, are not annotated.
 */
#include "mlir/write/write.h"

static sw_rc use_sharding_axes(sw_ir_writer *w, const sw_sharding *s) {
  return sw_grid_use(&w->grid, s->refs, s->n_refs, w->d);
}

/* The grid must have the ends of all axes' parts that any sharding uses. */
static sw_rc begin_hlo_form(sw_ir_writer *w) {
  const sw_graph *g = w->p->graph;
  sw_sharding s;
  sw_grid_init(w->mesh, &w->grid);
  for (int32_t i = 0; i < g->n_args; i++) SW_TRY(use_sharding_axes(w, &w->plan->args[i]));
  for (int32_t i = 0; i < g->n_outputs; i++) SW_TRY(use_sharding_axes(w, &w->plan->outputs[i]));
  for (size_t i = 0; i < w->p->trace.made.n; i++) {
    sw_plan_value_sharding(w->plan, w->p->trace.made.at[i].value, &s);
    SW_TRY(use_sharding_axes(w, &s));
  }
  return SW_OK;
}

/* Grid axes in the order of the tiles: those of each dim, then the others. */
static int axis_order(const sw_ir_writer *w, const sw_sharding *s, int *order) {
  bool used[SW_GRID_AXES] = {false};
  int n = 0;
  for (int k = 0; k < s->rank; k++) {
    int count;
    const sw_axis_ref *refs = sw_sharding_dim(s, k, &count);
    n += sw_grid_axes(&w->grid, refs, count, order + n);
  }
  for (int i = 0; i < n; i++) used[order[i]] = true;
  for (int i = 0; i < w->grid.n; i++) {
    if (!used[i]) order[n++] = i;
  }
  return n;
}

static void put_numbering(const sw_ir_writer *w, const sw_sharding *s, sw_text *out) {
  int order[2 * SW_GRID_AXES], n = axis_order(w, s, order);
  bool plain = true;
  for (int i = 0; i < n; i++) plain = plain && order[i] == i;
  if (plain) {
    sw_text_printf(out, "<=[%lld]", (long long)sw_mesh_devices(w->mesh));
    return;
  }
  for (int i = 0; i < n; i++) sw_text_printf(out, "%s%d", i ? "," : "<=[", (int)w->grid.axis[i].size);
  for (int i = 0; i < n; i++) sw_text_printf(out, "%s%d", i ? "," : "]T(", order[i]);
  sw_text_puts(out, ")");
}

/* Devices one by one, for a mesh with an order of its own. */
static void put_devices(const sw_ir_writer *w, const sw_sharding *s, sw_text *out) {
  int order[2 * SW_GRID_AXES], n = axis_order(w, s, order);
  sw_axis_ref refs[2 * SW_GRID_AXES];
  for (int i = 0; i < n; i++) refs[i] = w->grid.axis[order[i]];
  for (int64_t i = 0; i < sw_mesh_devices(w->mesh); i++) {
    int64_t at = sw_mesh_group_peer(w->mesh, 0, refs, n, i);
    sw_text_printf(out, "%s%d", i ? "," : "", (int)w->mesh->device_ids[at]);
  }
}

static void put_hlo_sharding(const sw_ir_writer *w, const sw_sharding *s, sw_text *out) {
  int64_t tiles = 1;
  for (int k = 0; k < s->rank; k++) tiles *= sw_sharding_shards(s, k);
  if (tiles == 1) {
    sw_text_puts(out, "{replicated}");
    return;
  }
  int64_t copies = sw_mesh_devices(w->mesh) / tiles;
  sw_text_puts(out, "{devices=[");
  for (int k = 0; k < s->rank; k++) sw_text_printf(out, "%s%lld", k ? "," : "", (long long)sw_sharding_shards(s, k));
  if (copies > 1) sw_text_printf(out, ",%lld", (long long)copies);
  sw_text_puts(out, "]");
  if (w->mesh->device_ids)
    put_devices(w, s, out);
  else
    put_numbering(w, s, out);
  sw_text_puts(out, copies > 1 ? " last_tile_dim_replicate}" : "}");
}

static sw_rc put_value(sw_ir_writer *w, const sw_sharding *s, sw_text *out) {
  sw_text_puts(out, "\"");
  put_hlo_sharding(w, s, out);
  sw_text_puts(out, "\"");
  return out->rc;
}

static sw_rc put_values(sw_ir_writer *w, const sw_sharding *s, uint32_t n, sw_text *out) {
  if (n == 1) return put_value(w, s, out);
  sw_text_puts(out, "\"{");
  for (uint32_t i = 0; i < n; i++) {
    if (i) sw_text_puts(out, ", ");
    put_hlo_sharding(w, &s[i], out);
  }
  sw_text_puts(out, "}\"");
  return out->rc;
}

const sw_ir_form sw_ir_form_hlo = {.kind = "hlo",
                                   .key = "mhlo.sharding",
                                   .other = "sdy.sharding",
                                   .begin = begin_hlo_form,
                                   .put_value = put_value,
                                   .put_values = put_values};
