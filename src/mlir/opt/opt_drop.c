/* Passes that take out what only propagation needs, or all of Shardy's language. */
#include "mlir/opt/opt_rewrite.h"

#include <string.h>

/* --- remove-sharding-groups --------------------------------------------------------------------------------------- */

static sw_rc erase_all(sw_opt_work *w, const char *name) {
  for (uint32_t i = 0; i < w->t->ops.n; i++) {
    if (sw_ir_is(w->t, w->t->ops.at[i].name, name)) SW_TRY(sw_opt_erase(w, i));
  }
  return SW_OK;
}

sw_rc sw_pass_remove_sharding_groups(sw_opt_work *w) { return erase_all(w, "sdy.sharding_group"); }

/* --- drop-sharding-rules ------------------------------------------------------------------------------------------ */

/* A rule that the program gave stays. */
static bool is_custom(const sw_ir_tree *t, sw_ir_span rule) {
  rule = sw_ir_trimmed(t, sw_ir_inside(t, sw_ir_resolved(t, rule)));
  return sw_ir_ends(t, rule, "custom");
}

sw_rc sw_pass_drop_sharding_rules(sw_opt_work *w) {
  w->edits.key = "sdy.sharding_rule";
  for (uint32_t i = 0; i < w->t->ops.n; i++) {
    const sw_ir_span rule = sw_ir_entry(w->t, w->t->ops.at[i].attrs, "sdy.sharding_rule");
    if (sw_ir_present(rule) && !is_custom(w->t, rule)) SW_TRY(sw_ir_set_op(&w->edits, &w->t->ops.at[i], ""));
  }
  return SW_OK;
}

/* --- remove-propagation-debug-info -------------------------------------------------------------------------------- */

sw_rc sw_pass_remove_propagation_debug_info(sw_opt_work *w) {
  static const char *const kKeys[] = {"sdy.sharding_origins",        "sdy.sharding_origin_name",
                                      "sdy.propagation_edges",       "sdy.block_arg_sharding_origins",
                                      "sdy.result_sharding_origins", "sdy.block_arg_propagation_edges",
                                      "sdy.result_propagation_edges"};
  return sw_opt_drop_attributes(w, kKeys, sizeof kKeys / sizeof *kKeys);
}

/* --- drop-sharding-and-mesh --------------------------------------------------------------------------------------- */

sw_rc sw_pass_drop_sharding_and_mesh(sw_opt_work *w) {
  for (uint32_t i = 0; i < w->shardings.slots.n; i++) {
    const sw_sharded_slot *s = &w->shardings.slots.at[i];
    const sw_sharded_place *p = &w->shardings.places.at[s->place];
    if (!sw_ir_len(s->said)) continue;
    if (p->kind == SW_SHARDED_IN || p->kind == SW_SHARDED_OUT || p->kind == SW_SHARDED_INSIDE)
      return SW_FAIL_INPUT(w->d, sw_ir_place(w->t, w->t->ops.at[p->op].text.at),
                           "'%.*s' would speak of a mesh that is gone; expected a program without it",
                           SW_IR_TEXT(w->t, w->t->ops.at[p->op].name));
    sw_opt_say_text(w, i, "");
  }
  return erase_all(w, "sdy.mesh");
}
