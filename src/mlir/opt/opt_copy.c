#include "mlir/opt/opt_copy.h"

#include "mlir/opt/opt_rewrite.h"

void sw_opt_copy_begin(sw_opt_work *w, sw_ir_span text, sw_opt_copy *out) {
  *out = (sw_opt_copy){.w = w, .text = text, .edits = {.t = w->t, .d = w->d}};
}

sw_rc sw_opt_copy_result(sw_opt_copy *c, uint32_t result, const char *name) {
  const sw_ir_span at = c->w->t->results.at[result].name;
  return sw_ir_replace(&c->edits, at.at - 1, at.end, name);
}

sw_rc sw_opt_copy_use(sw_opt_copy *c, uint32_t use, const char *name) {
  const sw_ir_span at = c->w->t->uses.at[use].name;
  return sw_ir_replace(&c->edits, at.at - 1, sw_opt_use_end(c->w->t, use), name);
}

sw_rc sw_opt_copy_end(sw_opt_copy *c, sw_rc rc, const char **out) {
  sw_text t = {0};
  if (!rc) rc = sw_ir_edits_apply_within(&c->edits, c->text, &t);
  sw_ir_edits_free(&c->edits);
  return sw_ir_keep_text(rc, &t, &c->w->arena, out, c->w->d);
}
