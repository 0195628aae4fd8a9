/* sdy.func_data_flow_edge on what functions take and calls give: what a function takes is what all its calls hand in.
 */
#include "mlir/opt/opt_rewrite.h"

/* --- add-func-data-flow-edges ------------------------------------------------------------------------------------- */

static sw_rc make_func_edge(sw_opt_work *w, uint32_t slot, const char **out) {
  const sw_sharded_slot *s = &w->shardings.slots.at[slot];
  const char *name = sw_opt_new_name(w), *of = sw_opt_value_text(w, s->value), *sharding, *attr = "";
  SW_TRY(sw_opt_sharding_text(w, slot, &sharding));
  if (*sharding) attr = sw_arena_printf(&w->arena, w->d, " {sdy.sharding = #sdy.sharding_per_value<[%s]>}", sharding);
  if (!name || !of || !attr) return SW_E_RESOURCE;
  *out = sw_arena_printf(&w->arena, w->d, "%s = sdy.func_data_flow_edge %s%s : %.*s", name, of, attr,
                         SW_IR_TEXT(w->t, s->type));
  sw_opt_replace(w, s->value, name);
  return *out ? SW_OK : SW_E_RESOURCE;
}

static sw_rc add_func_edges(sw_opt_work *w, const sw_sharded_place *p) {
  for (uint32_t i = p->first; i < p->first + p->n; i++) {
    const uint32_t value = w->shardings.slots.at[i].value;
    const char *text;
    sw_type type;
    bool known;
    if (value == SW_IR_NONE || sw_opt_edge_on(w, value, "sdy.func_data_flow_edge") != SW_IR_NONE) continue;
    SW_TRY(sw_opt_slot_type(w, i, &type, &known));
    if (!known) continue;
    SW_TRY(make_func_edge(w, i, &text));
    SW_TRY(p->kind == SW_SHARDED_ARGUMENTS ? sw_opt_put_first(w, sw_ir_block_at(w->t, &w->t->ops.at[p->op], 0), text)
                                           : sw_opt_put_behind(w, p->op, text));
  }
  return SW_OK;
}

sw_rc sw_pass_add_func_data_flow_edges(sw_opt_work *w) {
  for (size_t i = 0; i < w->shardings.places.n; i++) {
    const sw_sharded_place p = w->shardings.places.at[i];
    const sw_ir_op *o = &w->t->ops.at[p.op];
    const bool argument = p.kind == SW_SHARDED_ARGUMENTS && !sw_opt_is_main(w->t, o);
    if (argument || sw_opt_is_call(w->t, o)) SW_TRY(add_func_edges(w, &p));
  }
  return SW_OK;
}

/* --- sink-func-data-flow-edges ------------------------------------------------------------------------------------ */

static sw_rc sink_func_edge(sw_opt_work *w, uint32_t op) {
  const sw_ir_op *o = &w->t->ops.at[op];
  const uint32_t from = sw_ir_operand_value(&w->values, o, 0), to = sw_ir_result_value(&w->values, w->t, o, 0);
  const char *sharding = "";
  SW_TRY(sw_opt_erase(w, op));
  if (to == SW_IR_NONE) return SW_OK;
  sw_opt_forward(w, to, from);
  SW_TRY(sw_opt_sharding_text(w, w->shardings.of_value[to], &sharding));
  if (*sharding && w->shardings.of_value[from] != SW_IR_NONE) sw_opt_say_text(w, w->shardings.of_value[from], sharding);
  return SW_OK;
}

sw_rc sw_pass_sink_func_data_flow_edges(sw_opt_work *w) {
  for (uint32_t i = 0; i < w->t->ops.n; i++) {
    if (sw_ir_is(w->t, w->t->ops.at[i].name, "sdy.func_data_flow_edge")) SW_TRY(sink_func_edge(w, i));
  }
  return SW_OK;
}
