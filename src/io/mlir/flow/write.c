/* The text with shardings in their places. */
#include <stdlib.h>
#include <string.h>

#include "io/mlir/flow/program_flow.h"
#include "io/mlir/import/types.h"

typedef struct edit {
  uint32_t at, end;
  size_t order;
  const char *text;
} edit;

typedef struct writer {
  const sw_program_flow *p;
  const sw_ir_tree *t;
  SW_ARRAY(edit) edits;
  sw_arena arena;
  sw_diag *d;
} writer;

static sw_rc put(writer *w, uint32_t at, uint32_t end, const char *text) {
  edit e = {at, end, w->edits.n, text};
  return text ? sw_array_push(&w->edits, e, w->d) : SW_E_RESOURCE;
}

static int compare(const void *a, const void *b) {
  const edit *x = a, *y = b;
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

static const char *spelled(writer *w, const char *before, const sw_open_sharding *s, const char *behind) {
  sw_text t = {0};
  sw_text_puts(&t, before);
  sw_rc rc = sw_open_sharding_print(w->p, s, &t);
  sw_text_puts(&t, behind);
  const char *out = rc || t.rc ? NULL : sw_arena_strndup(&w->arena, sw_text_str(&t), t.n, w->d);
  sw_text_free(&t);
  return out;
}

static const sw_open_sharding *of(const writer *w, const sw_said *s, int32_t i) {
  int32_t tensor = w->p->said_of.at[s->first + i];
  const sw_open_sharding *said = tensor < 0 ? NULL : &w->p->said.at[tensor];
  return said && said->mesh >= 0 ? said : NULL;
}

/* `value` into a dictionary; where there is none, at `at` as one of its own. */
static sw_rc into(writer *w, sw_ir_span dict, uint32_t at, const char *value) {
  if (!sw_ir_len(dict)) return put(w, at, at, sw_arena_printf(&w->arena, w->d, " {sdy.sharding = %s}", value));
  sw_ir_span old = sw_ir_entry(w->t, dict, "sdy.sharding");
  if (sw_ir_len(old)) return put(w, old.at, old.end, value);
  bool empty = w->t->s[sw_ir_blanks(w->t->s, dict.at + 1)] == '}';
  return put(w, dict.at + 1, dict.at + 1,
             sw_arena_printf(&w->arena, w->d, "sdy.sharding = %s%s", value, empty ? "" : ", "));
}

static sw_rc write_argument(writer *w, const sw_said *s) {
  const sw_ir_op *f = &w->t->ops.at[s->op];
  const sw_ir_block *b = &w->t->blocks.at[sw_ir_block_at(w->t, f, 0)];
  const sw_ir_arg *a = &w->t->args.at[b->first_arg + s->index];
  const char *value = spelled(w, "#sdy.sharding", of(w, s, 0), "");
  return value ? into(w, a->attrs, a->type.end, value) : SW_E_RESOURCE;
}

static sw_rc write_result(writer *w, const sw_said *s) {
  const sw_ir_op *f = &w->t->ops.at[s->op];
  sw_ir_types_cursor c = sw_ir_result_types(w->t, f->types);
  sw_ir_span item = {0, 0};
  for (uint32_t i = 0; i <= s->index; i++) {
    if (!sw_ir_next_type(w->t, &c, &item)) return SW_OK;
  }
  sw_ir_span alone = sw_ir_type_alone(w->t, item), attrs = sw_ir_trimmed(w->t, (sw_ir_span){alone.end, item.end});
  const char *value = spelled(w, "#sdy.sharding", of(w, s, 0), "");
  if (!value) return SW_E_RESOURCE;
  bool bare = w->t->s[f->types.at] != '(';
  if (bare) SW_TRY(put(w, item.at, item.at, "("));
  SW_TRY(into(w, attrs, alone.end, value));
  return bare ? put(w, alone.end, alone.end, ")") : SW_OK;
}

static sw_rc write_op(writer *w, const sw_said *s) {
  static const char *const kLiterals[] = {"stablehlo.constant", "mhlo.constant", "sdy.constant", "arith.constant"};
  const sw_ir_op *o = &w->t->ops.at[s->op];
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
    if (sw_open_sharding_print(w->p, said ? said : &none, &t)) break;
  }
  sw_text_puts(&t, "]>");
  const char *value = t.rc ? NULL : sw_arena_strndup(&w->arena, sw_text_str(&t), t.n, w->d);
  sw_text_free(&t);
  if (!value) return SW_E_RESOURCE;
  uint32_t at = o->body.end;
  while (at > o->body.at && strchr(" \t\r\n", w->t->s[at - 1])) at--;
  for (size_t i = 0; !o->generic && !sw_ir_len(o->props) && i < sizeof kLiterals / sizeof *kLiterals; i++) {
    if (sw_ir_is(w->t, o->name, kLiterals[i])) at = o->name.end;
  }
  return into(w, o->attrs, at, value);
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
  const char *value = spelled(w, is_edge && !sw_ir_len(at) ? " sharding=" : "", of(w, s, 0), "");
  uint32_t end = o->body.end;
  while (end > o->body.at && strchr(" \t\r\n", w->t->s[end - 1])) end--;
  return sw_ir_len(at) ? put(w, at.at, at.end, value) : put(w, end, end, value);
}

static sw_rc write_place(writer *w, const sw_said *s) {
  static sw_rc (*const kWrite[])(writer *, const sw_said *) = {write_argument, write_result, write_op, write_inside};
  bool any = false;
  for (int32_t i = 0; i < s->n; i++) any |= of(w, s, i) != NULL;
  return any ? kWrite[s->kind](w, s) : SW_OK;
}

static sw_rc write_all(writer *w, sw_text *out) {
  uint32_t at = 0;
  for (size_t i = 0; i < w->p->places.n; i++) SW_TRY(write_place(w, &w->p->places.at[i]));
  if (w->edits.n) qsort(w->edits.at, w->edits.n, sizeof *w->edits.at, compare);
  for (size_t i = 0; i < w->edits.n; i++) {
    const edit *e = &w->edits.at[i];
    sw_text_append(out, w->t->s + at, e->at - at);
    sw_text_puts(out, e->text);
    at = e->end;
  }
  sw_text_append(out, w->t->s + at, w->t->n - at);
  return out->rc;
}

sw_rc sw_program_flow_write(const sw_program_flow *p, sw_text *out, sw_diag *d) {
  writer w = {.p = p, .t = p->t, .d = d};
  sw_rc rc = write_all(&w, out);
  sw_array_free(&w.edits);
  sw_arena_deinit(&w.arena);
  return rc;
}
