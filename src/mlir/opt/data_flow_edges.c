/* sdy.data_flow_edge on values that a loop, a choice, a barrier or a region makes: put in before propagation, and taken
 * out after it with the sharding that it has by then. */
#include "mlir/import/types.h"
#include "mlir/opt/opt_rewrite.h"

static bool is_region(const sw_opt_work *w, uint32_t op) {
  return sw_ir_is_among(w->t, w->t->ops.at[op].name, "sdy.manual_computation sdy.named_computation");
}

/* --- add-data-flow-edges ------------------------------------------------------------------------------------------ */

/* What the body of a manual computation sees of a sharding. */
static void without_axes(sw_open_sharding *s, uint32_t axes) {
  const sw_open_sharding old = *s;
  s->cut = (sw_sharding){.rank = old.cut.rank};
  s->n_replicated = 0;
  for (int k = 0; k < old.cut.rank; k++) {
    int n, kept = 0;
    const sw_axis_ref *a = sw_sharding_dim(&old.cut, k, &n);
    for (int i = 0; i < n; i++) kept += !(axes >> a[i].axis & 1) && sw_sharding_push(&s->cut, k, a[i]);
    if (!kept && !(old.open >> k & 1)) s->has_priority &= ~(1u << k);
  }
  for (int i = 0; i < old.n_replicated; i++) {
    if (!(axes >> old.replicated[i].axis & 1)) s->replicated[s->n_replicated++] = old.replicated[i];
  }
  for (int i = 0; i < old.cut.n_partial; i++) {
    const sw_axis_ref a = sw_sharding_partial(&old.cut)[i];
    if (!(axes >> a.axis & 1)) (void)sw_sharding_push_partial(&s->cut, (sw_reduction)old.cut.partial_kind, a);
  }
}

/* " sharding=<...>" as the edge says it, or nothing. */
static sw_rc edge_sharding_text(sw_opt_work *w, uint32_t slot, const char **out) {
  sw_open_sharding s;
  bool any;
  const sw_sharded_place p = w->shardings.places.at[w->shardings.slots.at[slot].place];
  SW_TRY(sw_opt_sharding(w, slot, &s, &any));
  *out = "";
  if (!any) return SW_OK;
  if (p.kind == SW_SHARDED_IN) without_axes(&s, sw_opt_manual_axes(w, &p, &sw_opt_mesh(&w->shardings, &s)->mesh));
  SW_TRY(sw_opt_spell(w, &s, out));
  *out = sw_arena_printf(&w->arena, w->d, " sharding=%s", *out);
  return *out ? SW_OK : SW_E_RESOURCE;
}

/* The op of an edge on a value, whose uses become it. */
static sw_rc make_data_flow_edge(sw_opt_work *w, uint32_t slot, sw_ir_span type, const char **out) {
  const uint32_t value = w->shardings.slots.at[slot].value;
  const char *sharding, *name = sw_opt_new_name(w), *of = sw_opt_value_text(w, value);
  SW_TRY(edge_sharding_text(w, slot, &sharding));
  if (!name || !of) return SW_E_RESOURCE;
  *out = sw_arena_printf(&w->arena, w->d, "%s = sdy.data_flow_edge %s%s : %.*s", name, of, sharding,
                         SW_IR_TEXT(w->t, type));
  sw_opt_replace(w, value, name);
  return *out ? SW_OK : SW_E_RESOURCE;
}

static sw_rc add_edges_at_place(sw_opt_work *w, const sw_sharded_place *p) {
  for (uint32_t i = p->first; i < p->first + p->n; i++) {
    const sw_sharded_slot s = w->shardings.slots.at[i];
    const char *text;
    sw_type read;
    bool known;
    if (s.value == SW_IR_NONE || sw_opt_edge_on(w, s.value, "sdy.data_flow_edge") != SW_IR_NONE) continue;
    const sw_ir_span type =
        p->kind == SW_SHARDED_IN ? w->t->args.at[w->values.index_of[s.value]].type : sw_ir_type_alone(w->t, s.type);
    SW_TRY(sw_ir_read_sized_type(w->t, type, &w->arena, &read, &known));
    if (!known) continue;
    SW_TRY(make_data_flow_edge(w, i, type, &text));
    SW_TRY(p->kind == SW_SHARDED_IN ? sw_opt_put_first(w, sw_ir_block_at(w->t, &w->t->ops.at[p->op], 0), text)
                                    : sw_opt_put_behind(w, p->op, text));
  }
  return SW_OK;
}

sw_rc sw_pass_add_data_flow_edges(sw_opt_work *w) {
  bool named;
  SW_TRY(sw_opt_flag(w, "named-computations", false, &named));
  for (size_t i = 0; i < w->shardings.places.n; i++) {
    const sw_sharded_place p = w->shardings.places.at[i];
    if (named && !sw_ir_is(w->t, w->t->ops.at[p.op].name, "sdy.named_computation")) continue;
    if (is_region(w, p.op) || sw_opt_is_data_flow(w->t, &w->t->ops.at[p.op])) SW_TRY(add_edges_at_place(w, &p));
  }
  return SW_OK;
}

/* --- sink-data-flow-edges ----------------------------------------------------------------------------------------- */

/* What the value of a manual computation's argument is cut by, from what its body has: the manual axes before. */
static sw_rc with_manual_axes(sw_opt_work *w, uint32_t slot, const sw_open_sharding *inside) {
  sw_open_sharding whole, out = *inside;
  bool any;
  const sw_sharded_place p = w->shardings.places.at[w->shardings.slots.at[slot].place];
  SW_TRY(sw_opt_sharding(w, slot, &whole, &any));
  if (!any) return sw_opt_say(w, slot, inside);
  const uint32_t manual = sw_opt_manual_axes(w, &p, &sw_opt_mesh(&w->shardings, &whole)->mesh);
  out.cut = (sw_sharding){.rank = inside->cut.rank};
  for (int k = 0; k < inside->cut.rank; k++) {
    int n, n_inside;
    const sw_axis_ref *a = sw_sharding_dim(&whole.cut, k, &n), *b = sw_sharding_dim(&inside->cut, k, &n_inside);
    for (int i = 0; i < n; i++) {
      if (manual >> a[i].axis & 1) (void)sw_sharding_push(&out.cut, k, a[i]);
    }
    for (int i = 0; i < n_inside; i++) (void)sw_sharding_push(&out.cut, k, b[i]);
  }
  for (int i = 0; i < inside->cut.n_partial; i++)
    (void)sw_sharding_push_partial(&out.cut, (sw_reduction)inside->cut.partial_kind,
                                   sw_sharding_partial(&inside->cut)[i]);
  for (int i = 0; i < whole.cut.n_partial; i++) {
    const sw_axis_ref a = sw_sharding_partial(&whole.cut)[i];
    if (manual >> a.axis & 1) (void)sw_sharding_push_partial(&out.cut, (sw_reduction)whole.cut.partial_kind, a);
  }
  for (int i = 0; i < whole.n_replicated && out.n_replicated < SW_MAX_REFS; i++) {
    const sw_axis_ref a = whole.replicated[i];
    if (!(manual >> a.axis & 1)) continue;
    int at = out.n_replicated++; /* in the order of the mesh */
    for (; at > 0 && out.replicated[at - 1].axis > a.axis; at--) out.replicated[at] = out.replicated[at - 1];
    out.replicated[at] = a;
  }
  return sw_opt_say(w, slot, &out);
}

static sw_rc sink_edge(sw_opt_work *w, uint32_t op) {
  const sw_ir_op *o = &w->t->ops.at[op];
  const uint32_t from = sw_ir_operand_value(&w->values, o, 0), to = sw_ir_result_value(&w->values, w->t, o, 0);
  sw_open_sharding s;
  bool any = false;
  if (to != SW_IR_NONE) sw_opt_forward(w, to, from);
  SW_TRY(sw_opt_erase(w, op));
  if (to != SW_IR_NONE) SW_TRY(sw_opt_sharding(w, w->shardings.of_value[to], &s, &any));
  if (!any) return SW_OK;
  const uint32_t owner = w->shardings.of_value[from];
  if (owner == SW_IR_NONE) return SW_OK;
  const sw_sharded_kind kind = w->shardings.places.at[w->shardings.slots.at[owner].place].kind;
  if (kind == SW_SHARDED_ARGUMENTS) return SW_OK; /* of a function: no edge is on it */
  return kind == SW_SHARDED_IN ? with_manual_axes(w, owner, &s) : sw_opt_say(w, owner, &s);
}

/* Is the edge on what a named computation takes or gives? */
static bool is_of_named(const sw_opt_work *w, uint32_t edge) {
  const uint32_t value = sw_ir_operand_value(&w->values, &w->t->ops.at[edge], 0), maker = w->values.maker[value];
  const uint32_t op =
      maker != SW_IR_NONE ? maker : w->t->regions.at[w->t->blocks.at[w->values.block_of_value[value]].region].op;
  return sw_ir_is(w->t, w->t->ops.at[op].name, "sdy.named_computation");
}

sw_rc sw_pass_sink_data_flow_edges(sw_opt_work *w) {
  bool named;
  SW_TRY(sw_opt_flag(w, "named-computations", false, &named));
  for (uint32_t i = 0; i < w->t->ops.n; i++) {
    if (!sw_ir_is(w->t, w->t->ops.at[i].name, "sdy.data_flow_edge")) continue;
    if (!named || is_of_named(w, i)) SW_TRY(sink_edge(w, i));
  }
  return SW_OK;
}
