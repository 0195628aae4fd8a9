/* Shardy: a mesh in the module, and
 *
 *   sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>                       of arguments and results
 *   sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>         of ops, in the form "sdy-ops"
 *   sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]>                        around ops, in the form "sdy"
 * (constraints.c)
 */
#include <string.h>

#include "mlir/emit/emit_sdy.h"
#include "mlir/write/write.h"

/* Without blanks. */
static bool text_same_but_blanks(const sw_ir_tree *t, sw_ir_span s, const char *text) {
  uint32_t at = s.at;
  for (; *text; text++) {
    if (*text == ' ') continue;
    while (at < s.end && t->s[at] == ' ') at++;
    if (at >= s.end || t->s[at++] != *text) return false;
  }
  while (at < s.end && t->s[at] == ' ') at++;
  return at >= s.end;
}

bool sw_ir_is_taken(const sw_ir_tree *t, const char *name) {
  for (size_t i = 0; i < t->ops.n; i++) {
    const sw_ir_op *o = &t->ops.at[i];
    bool names = o->block == 0 || sw_ir_is(t, o->name, "sdy.mesh") || sw_ir_is_function(t, o);
    sw_ir_span symbol = o->generic ? sw_ir_unquoted(t, sw_ir_entry(t, o->props, "sym_name")) : o->symbol;
    if (names && sw_ir_is(t, symbol, name)) return true;
  }
  return false;
}

/* A mesh of the module with the same axes; NULL: none. */
static const char *find_mesh_op(sw_ir_writer *w, const char *text) {
  for (size_t i = 0; i < w->t->ops.n; i++) {
    const sw_ir_op *o = &w->t->ops.at[i];
    if (!sw_ir_is(w->t, o->name, "sdy.mesh") || o->generic) continue;
    uint32_t at = o->body.at;
    while (at < o->body.end && w->t->s[at] != '<') at++;
    sw_ir_span in = sw_ir_inside(w->t, (sw_ir_span){at, o->body.end});
    if (at == o->body.end || !text_same_but_blanks(w->t, (sw_ir_span){in.at - 1, in.end + 1}, text)) continue;
    return sw_arena_strndup(&w->arena, w->t->s + o->symbol.at, sw_ir_len(o->symbol), w->d);
  }
  return NULL;
}

static sw_rc begin_sdy_form(sw_ir_writer *w) {
  sw_text mesh = {0};
  sw_sdy_mesh(w->mesh, &mesh);
  sw_rc rc = mesh.rc;
  w->mesh_name = rc ? "" : find_mesh_op(w, sw_text_str(&mesh));
  if (!w->mesh_name) {
    w->mesh_name = "mesh";
    for (int i = 0; w->mesh_name && sw_ir_is_taken(w->t, w->mesh_name); i++) {
      w->mesh_name = sw_arena_printf(&w->arena, w->d, "mesh_%d", i);
    }
    const char *line =
        w->mesh_name ? sw_arena_printf(&w->arena, w->d, "sdy.mesh @%s = %s", w->mesh_name, sw_text_str(&mesh)) : NULL;
    rc = line ? sw_ir_write_at_top(w, line) : SW_E_RESOURCE;
  }
  sw_text_free(&mesh);
  return rc;
}

static sw_rc put_inside(sw_ir_writer *w, const sw_sharding *s, sw_text *out) {
  return sw_sdy_sharding(w->mesh, w->mesh_name, s, out, w->d);
}

static sw_rc put_sdy_value(sw_ir_writer *w, const sw_sharding *s, sw_text *out) {
  sw_text_puts(out, "#sdy.sharding");
  return put_inside(w, s, out);
}

static sw_rc put_sdy_values(sw_ir_writer *w, const sw_sharding *s, uint32_t n, sw_text *out) {
  sw_text_puts(out, "#sdy.sharding_per_value<[");
  for (uint32_t i = 0; i < n; i++) {
    if (i) sw_text_puts(out, ", ");
    SW_TRY(put_inside(w, &s[i], out));
  }
  sw_text_puts(out, "]>");
  return out->rc;
}

const sw_ir_form sw_ir_form_sdy_ops = {.kind = "sdy-ops",
                                       .key = "sdy.sharding",
                                       .other = "mhlo.sharding",
                                       .sums = true,
                                       .begin = begin_sdy_form,
                                       .put_value = put_sdy_value,
                                       .put_values = put_sdy_values};

const sw_ir_form sw_ir_form_sdy_ends = {.kind = "sdy-ends",
                                        .key = "sdy.sharding",
                                        .other = "mhlo.sharding",
                                        .ends = true,
                                        .begin = begin_sdy_form,
                                        .put_value = put_sdy_value,
                                        .put_values = put_sdy_values};

const sw_ir_form sw_ir_form_sdy = {.kind = "sdy",
                                   .key = "sdy.sharding",
                                   .other = "mhlo.sharding",
                                   .constraints = true,
                                   .begin = begin_sdy_form,
                                   .put_value = put_sdy_value,
                                   .put_values = put_sdy_values};
