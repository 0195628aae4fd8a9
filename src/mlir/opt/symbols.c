/* Symbols of the module that passes add. */
#include <string.h>

#include "mlir/opt/opt_rewrite.h"

static sw_ir_span symbol_of(const sw_ir_tree *t, const sw_ir_op *o) {
  if (sw_ir_is_function(t, o)) return sw_ir_function_name(t, o);
  if (sw_ir_is(t, o->name, "sdy.mesh")) return sw_ir_mesh_name(t, o);
  return sw_ir_unquoted(t, sw_ir_attr(t, o, "sym_name", NULL));
}

static sw_rc take_symbol(sw_opt_work *w, const char *name, size_t n, bool *fresh) {
  int64_t *slot;
  SW_TRY(sw_dict_put(w->symbols, name, n, 1, &slot, fresh, w->d));
  *fresh |= !*slot;
  *slot = 1;
  return SW_OK;
}

static sw_rc read_symbols(sw_opt_work *w) {
  if (w->symbols) return SW_OK;
  SW_TRY(sw_opt_dict(w, &w->symbols));
  for (uint32_t i = 0; i < w->t->ops.n; i++) {
    if (w->values.function_of[i] != SW_IR_NONE && w->values.function_of[i] != i) continue;
    const sw_ir_span name = symbol_of(w->t, &w->t->ops.at[i]);
    bool fresh;
    if (sw_ir_len(name)) SW_TRY(take_symbol(w, w->t->s + name.at, sw_ir_len(name), &fresh));
  }
  return SW_OK;
}

sw_rc sw_opt_forget_symbol(sw_opt_work *w, const char *name, size_t n) {
  SW_TRY(read_symbols(w));
  int64_t *slot = sw_dict_get(w->symbols, name, n);
  if (slot) *slot = 0;
  return SW_OK;
}

sw_rc sw_opt_new_symbol(sw_opt_work *w, const char *name, size_t n, const char **out) {
  bool fresh = false;
  SW_TRY(read_symbols(w));
  *out = sw_arena_strndup(&w->arena, name, n, w->d);
  if (!*out) return SW_E_RESOURCE;
  SW_TRY(take_symbol(w, *out, n, &fresh));
  while (!fresh) {
    *out = sw_arena_printf(&w->arena, w->d, "%.*s_%u", (int)n, name, w->n_symbols++);
    if (!*out) return SW_E_RESOURCE;
    SW_TRY(take_symbol(w, *out, strlen(*out), &fresh));
  }
  return SW_OK;
}
