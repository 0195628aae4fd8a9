/* Shardings of what functions give, and of calls of them. */
#include "mlir/opt/opt_rewrite.h"

#include <string.h>

static const sw_ir_op *op_of(const sw_opt_work *w, const sw_sharded_place *p) { return &w->t->ops.at[p->op]; }

/* The place of the results of what a call calls; NULL: it calls nothing of the text. */
static const sw_sharded_place *called(const sw_opt_work *w, const sw_sharded_place *call) {
  const uint32_t callee = sw_opt_callee(w->t, w->names, op_of(w, call));
  if (call->kind != SW_SHARDED_OP || callee == SW_IR_NONE) return NULL;
  const sw_sharded_place *p = sw_opt_place(w, callee) + 1;
  return p->n == call->n ? p : NULL;
}

static bool place_says_any(const sw_opt_work *w, const sw_sharded_place *p) {
  for (uint32_t i = p->first; i < p->first + p->n; i++) {
    if (sw_ir_len(w->shardings.slots.at[i].said)) return true;
  }
  return false;
}

/* Over the calls of the program. */
static sw_rc each_call(sw_opt_work *w,
                       sw_rc (*run)(sw_opt_work *w, const sw_sharded_place *call, const sw_sharded_place *callee)) {
  for (size_t i = 0; i < w->shardings.places.n; i++) {
    const sw_sharded_place call = w->shardings.places.at[i], *callee = called(w, &call);
    if (callee) SW_TRY(run(w, &call, callee));
  }
  return SW_OK;
}

/* --- propagate-sharding-from-func-to-call ------------------------------------------------------------------------- */

static sw_rc take_callee_shardings(sw_opt_work *w, const sw_sharded_place *call, const sw_sharded_place *callee) {
  if (sw_ir_len(call->text) || !place_says_any(w, callee)) return SW_OK;
  for (uint32_t i = 0; i < call->n; i++) {
    const char *text;
    SW_TRY(sw_opt_sharding_text(w, callee->first + i, &text));
    if (*text) sw_opt_say_text(w, call->first + i, text);
  }
  return SW_OK;
}

sw_rc sw_pass_propagate_sharding_from_func_to_call(sw_opt_work *w) { return each_call(w, take_callee_shardings); }

/* --- insert-func-call-reshards ------------------------------------------------------------------------------------ */

/* A call says what the function gives; what it said is a reshard of that. */
static sw_rc reshard_result(sw_opt_work *w, const sw_sharded_place *call, uint32_t slot, uint32_t of_function,
                            bool callee_says) {
  sw_open_sharding here, there;
  bool any_here, any_there;
  sw_type type;
  const char *says;
  const sw_sharded_slot s = w->shardings.slots.at[slot];
  SW_TRY(sw_opt_sharding(w, slot, &here, &any_here));
  SW_TRY(sw_opt_sharding(w, of_function, &there, &any_there));
  if (!any_here && !any_there) return SW_OK;
  SW_TRY(sw_opt_slot_type(w, slot, &type, &(bool){false}));
  const sw_open_sharding none = {.mesh = any_here ? here.mesh : there.mesh, .cut = {.rank = (uint8_t)type.rank}};
  if (!any_here) here = none;
  if (!any_there) there = none;
  if (any_there || !callee_says)
    SW_TRY(sw_opt_say(w, slot, &there));
  else
    sw_opt_say_text(w, slot, ""); /* open, beside what the function says */
  if (sw_opt_cut_alike(&here, &there) || s.value == SW_IR_NONE) return SW_OK;
  const char *name = sw_opt_new_name(w), *of = sw_opt_value_text(w, s.value);
  SW_TRY(sw_opt_spell(w, &here, &says));
  if (!name || !of) return SW_E_RESOURCE;
  sw_opt_replace(w, s.value, name);
  return sw_opt_put_behind(
      w, call->op,
      sw_arena_printf(&w->arena, w->d, "%s = sdy.reshard %s %s : %.*s", name, of, says, SW_IR_TEXT(w->t, s.type)));
}

static sw_rc reshard_call(sw_opt_work *w, const sw_sharded_place *call, const sw_sharded_place *callee) {
  const bool callee_says = place_says_any(w, callee);
  if (!place_says_any(w, call) && !callee_says) return SW_OK;
  for (uint32_t i = call->n; i-- > 0;) SW_TRY(reshard_result(w, call, call->first + i, callee->first + i, callee_says));
  return SW_OK;
}

sw_rc sw_pass_insert_func_call_reshards(sw_opt_work *w) { return each_call(w, reshard_call); }

/* --- propagate-to-func-results ------------------------------------------------------------------------------------ */

static sw_rc say_returned(sw_opt_work *w, const sw_sharded_place *p) {
  const sw_ir_tree *t = w->t;
  const uint32_t last = sw_ir_last_op(t, sw_ir_block_at(t, op_of(w, p), 0));
  for (uint32_t i = 0; last != SW_IR_NONE && i < p->n && i < t->ops.at[last].n_uses; i++) {
    const uint32_t slot = w->shardings.of_value[sw_ir_operand_value(&w->values, &t->ops.at[last], i)];
    const char *text = "", *old;
    if (slot != SW_IR_NONE) SW_TRY(sw_opt_sharding_text(w, slot, &text));
    SW_TRY(sw_opt_sharding_text(w, p->first + i, &old));
    if (strcmp(text, old) != 0) sw_opt_say_text(w, p->first + i, text);
  }
  return SW_OK;
}

sw_rc sw_pass_propagate_to_func_results(sw_opt_work *w) {
  for (size_t i = 0; i < w->shardings.places.n; i++) {
    const sw_sharded_place p = w->shardings.places.at[i];
    if (p.kind == SW_SHARDED_RESULTS && !sw_opt_is_main(w->t, op_of(w, &p))) SW_TRY(say_returned(w, &p));
  }
  return SW_OK;
}
