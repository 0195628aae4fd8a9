/* The text with shardings in their places. */
#include <string.h>

#include "io/mlir/flow/program_flow.h"

typedef struct writer {
  const sw_program_flow *p;
  const sw_ir_tree *t;
  const bool *erased;
  sw_ir_edits *edits;
} writer;

static const char *spelled(writer *w, const char *before, const sw_open_sharding *s) {
  sw_text t = {0};
  sw_text_puts(&t, before);
  sw_rc rc = sw_open_sharding_print(&w->p->sdy, s, &t);
  const char *out = rc ? NULL : sw_arena_strndup(&w->edits->arena, sw_text_str(&t), t.n, w->edits->d);
  sw_text_free(&t);
  return out;
}

static const sw_open_sharding *of(const writer *w, const sw_said *s, int32_t i) {
  int32_t tensor = w->p->said_of.at[s->first + i];
  const sw_open_sharding *said = tensor < 0 ? NULL : &w->p->said.at[tensor];
  return said && said->mesh >= 0 ? said : NULL;
}

/* Arguments, or results, of one function: places[0 .. n). */
static sw_rc write_signature(writer *w, const sw_said *places, uint32_t n) {
  const sw_ir_op *f = &w->t->ops.at[places->op];
  const char **values;
  SW_ARENA_NEW(values, &w->edits->arena, n, w->edits->d);
  for (uint32_t i = 0; i < n; i++) {
    const sw_open_sharding *s = of(w, &places[i], 0);
    if (s && !(values[i] = spelled(w, "#sdy.sharding", s))) return SW_E_RESOURCE;
  }
  return places->kind == SW_SAID_ARGUMENT ? sw_ir_set_args(w->edits, f, values, n)
                                          : sw_ir_set_results(w->edits, f, values, n);
}

static sw_rc write_op(writer *w, const sw_said *s) {
  sw_text t = {0};
  sw_text_puts(&t, "#sdy.sharding_per_value<[");
  for (int32_t i = 0; i < s->n; i++) {
    int32_t tensor = w->p->said_of.at[s->first + i];
    const sw_open_sharding *said = of(w, s, i);
    sw_open_sharding none = {.mesh = -1};
    for (int32_t k = 0; !said && k < s->n; k++) none.mesh = of(w, s, k) ? of(w, s, k)->mesh : none.mesh;
    if (!said) {
      none.cut.rank = tensor < 0 ? 0 : (uint8_t)w->p->type.at[tensor].rank;
      none.open = (1u << none.cut.rank) - 1;
    }
    if (i) sw_text_puts(&t, ", ");
    if (sw_open_sharding_print(&w->p->sdy, said ? said : &none, &t)) break;
  }
  sw_text_puts(&t, "]>");
  const char *value = t.rc ? NULL : sw_arena_strndup(&w->edits->arena, sw_text_str(&t), t.n, w->edits->d);
  sw_text_free(&t);
  return value ? sw_ir_set_op(w->edits, &w->t->ops.at[s->op], value) : SW_E_RESOURCE;
}

static sw_rc write_inside(writer *w, const sw_said *s) {
  const sw_ir_op *o = &w->t->ops.at[s->op];
  bool is_edge = sw_ir_is(w->t, o->name, "sdy.data_flow_edge");
  sw_ir_span at = sw_ir_attr(w->t, o, "sharding", "sharding");
  if (!sw_ir_present(at)) {
    at = o->body;
    while (at.at < at.end && w->t->s[at.at] != '<') at.at++;
    while (at.end > at.at && w->t->s[at.end - 1] != '>') at.end--;
  }
  const char *value = spelled(w, is_edge && !sw_ir_len(at) ? " sharding=" : "", of(w, s, 0));
  return sw_ir_len(at) ? sw_ir_replace(w->edits, at.at, at.end, value)
                       : sw_ir_insert(w->edits, sw_ir_body_end(w->t, o), value);
}

static bool says_any(const writer *w, const sw_said *s) {
  for (int32_t i = 0; i < s->n; i++) {
    if (of(w, s, i)) return true;
  }
  return false;
}

static sw_rc write_all(writer *w) {
  const sw_said *places = w->p->places.at;
  for (size_t i = 0, end; i < w->p->places.n; i = end) {
    const sw_said *s = &places[i];
    end = i + 1;
    if (w->erased && w->erased[s->op]) continue;
    if (s->kind == SW_SAID_ARGUMENT || s->kind == SW_SAID_RESULT) {
      while (end < w->p->places.n && places[end].kind == s->kind && places[end].op == s->op) end++;
      SW_TRY(write_signature(w, s, (uint32_t)(end - i)));
    } else if (says_any(w, s)) {
      SW_TRY(s->kind == SW_SAID_OP ? write_op(w, s) : write_inside(w, s));
    }
  }
  return SW_OK;
}

sw_rc sw_program_flow_edit(const sw_program_flow *p, const bool *erased, sw_ir_edits *e) {
  return write_all(&(writer){p, p->t, erased, e});
}

sw_rc sw_program_flow_write(const sw_program_flow *p, sw_text *out, sw_diag *d) {
  sw_ir_edits edits = {.t = p->t, .key = "sdy.sharding", .d = d};
  sw_rc rc = sw_program_flow_edit(p, NULL, &edits);
  if (!rc) rc = sw_ir_edits_apply(&edits, out);
  sw_ir_edits_free(&edits);
  return rc;
}
