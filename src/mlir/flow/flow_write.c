/* The text with shardings in their places. */
#include <string.h>

#include "mlir/flow/program_flow.h"

typedef struct writer {
  const sw_program_flow *p;
  const sw_ir_tree *t;
  const bool *erased;
  sw_ir_edits *edits;
} writer;

/* {a = "self"} of a tensor. */
static const char *origins_of(const writer *w, const sw_said *s, int32_t i) {
  int32_t tensor = w->p->said_of.at[s->first + i];
  if (tensor >= 0 && w->p->next_copy.at[tensor] >= 0) tensor = w->p->next_copy.at[tensor];
  const char *text = tensor < 0 ? NULL : w->p->origins[tensor];
  return text ? text : "";
}

/* `, sdy.sharding_origins = [{a = "self"}, {}]` of all that a place has. */
static void put_origins(const writer *w, const char *key, const sw_said *s, sw_text *out) {
  sw_text_printf(out, "%s = [", key);
  for (int32_t i = 0; i < s->n; i++)
    sw_text_printf(out, "%s%s", i ? ", " : "", *origins_of(w, s, i) ? origins_of(w, s, i) : "{}");
  sw_text_puts(out, "]");
}

static bool has_origins(const writer *w, const sw_said *s) {
  for (int32_t i = 0; i < s->n && w->p->origins; i++) {
    if (*origins_of(w, s, i)) return true;
  }
  return false;
}

static const char *keep_edit_text(writer *w, sw_text *t) { return sw_text_keep(t, &w->edits->arena, w->edits->d); }

static const char *spelled(writer *w, const char *before, const sw_open_sharding *s) {
  sw_text t = {0};
  sw_text_puts(&t, before);
  sw_rc rc = sw_open_sharding_print(&w->p->sdy, s, &t);
  if (rc) sw_text_free(&t);
  return rc ? NULL : keep_edit_text(w, &t);
}

static const sw_open_sharding *of(const writer *w, const sw_said *s, int32_t i) {
  int32_t tensor = w->p->said_of.at[s->first + i];
  const sw_open_sharding *said = tensor < 0 ? NULL : &w->p->said.at[tensor];
  int32_t copy = tensor < 0 ? -1 : w->p->next_copy.at[tensor]; /* what each use of a constant has for itself */
  if (copy >= 0) said = &w->p->said.at[copy];
  for (; copy >= 0; copy = w->p->next_copy.at[copy]) {
    const sw_open_sharding *other = &w->p->said.at[copy];
    if (other->mesh != said->mesh || !sw_sharding_equal(&other->cut, &said->cut)) return NULL;
  }
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
    if (s && has_origins(w, &places[i]))
      values[i] = sw_arena_printf(&w->edits->arena, w->edits->d, "%s, sdy.sharding_origins = %s", values[i],
                                  origins_of(w, &places[i], 0));
  }
  return places->kind == SW_SAID_ARGUMENT ? sw_ir_set_args(w->edits, f, values, n)
                                          : sw_ir_set_results(w->edits, f, values, n);
}

/* The mesh of the first that has a sharding, for those that have none. */
static int32_t first_mesh(const writer *w, const sw_said *s) {
  for (int32_t k = 0; k < s->n; k++) {
    if (of(w, s, k)) return of(w, s, k)->mesh;
  }
  return -1;
}

/* Ops that hand values on, and make some of their own only where they say how these are cut. */
static bool op_hands_on(const writer *w, uint32_t op) {
  const sw_ir_op *o = &w->t->ops.at[op];
  const sw_ir_row *row = sw_ir_row_of(w->t, o->name);
  if (!row || (row->import != sw_im_optimization_barrier && row->import != sw_im_call)) return false;
  return !sw_ir_present(o->attrs) || !sw_ir_present(sw_ir_entry(w->t, o->attrs, "sdy.sharding"));
}

/* Open in all dims, as what has no sharding is written beside others. */
static sw_open_sharding open_at(const writer *w, const sw_said *s, int32_t i) {
  const int32_t tensor = w->p->said_of.at[s->first + i];
  sw_open_sharding none = {.mesh = first_mesh(w, s)};
  none.cut.rank = tensor < 0 ? 0 : (uint8_t)w->p->type.at[tensor].rank;
  none.open = (1u << none.cut.rank) - 1;
  return none;
}

static sw_rc write_op_shardings(writer *w, const sw_said *s) {
  sw_text t = {0};
  if (w->p->same_ops && op_hands_on(w, s->op)) return SW_OK;
  sw_text_puts(&t, "#sdy.sharding_per_value<[");
  for (int32_t i = 0; i < s->n; i++) {
    const sw_open_sharding *said = of(w, s, i), none = open_at(w, s, i);
    if (i) sw_text_puts(&t, ", ");
    if (sw_open_sharding_print(&w->p->sdy, said ? said : &none, &t)) break;
  }
  sw_text_puts(&t, "]>");
  if (has_origins(w, s)) {
    const bool joined = sw_ir_region_count(w->t, &w->t->ops.at[s->op]) > 0;
    put_origins(w, joined ? ", sdy.result_sharding_origins" : ", sdy.sharding_origins", s, &t);
  }
  const char *value = keep_edit_text(w, &t);
  return value ? sw_ir_set_op(w->edits, &w->t->ops.at[s->op], value) : SW_E_RESOURCE;
}

static const char *sharding_key(const writer *w, const sw_ir_op *o) {
  return sw_ir_present(sw_ir_attr(w->t, o, "out_sharding", "out_sharding")) ? "out_sharding" : "sharding";
}

/* The rule that applying a constraint has left on it goes, where nothing else stands with it. */
static sw_rc drop_rule(writer *w, const sw_ir_op *o) {
  sw_ir_span key, value, dict = o->attrs;
  uint32_t cursor = 0;
  if (!w->p->whole || o->generic || !sw_ir_len(dict) || !sw_ir_is(w->t, o->name, "sdy.sharding_constraint"))
    return SW_OK;
  if (!sw_ir_next_entry(w->t, dict, &cursor, &key, &value) || !sw_ir_is(w->t, key, "sdy.sharding_rule")) return SW_OK;
  if (sw_ir_next_entry(w->t, dict, &cursor, &key, &value) || w->p->origins) return SW_OK;
  while (dict.at > o->text.at && w->t->s[dict.at - 1] == ' ') dict.at--;
  return sw_ir_replace(w->edits, dict.at, dict.end, "");
}

static sw_rc write_inside(writer *w, const sw_said *s) {
  const sw_ir_op *o = &w->t->ops.at[s->op];
  SW_TRY(drop_rule(w, o));
  bool is_edge = sw_ir_is(w->t, o->name, "sdy.data_flow_edge");
  sw_ir_span at =
      is_edge ? sw_ir_attr(w->t, o, "sharding", "sharding") : sw_sdy_own_sharding(w->t, o, sharding_key(w, o));
  if (is_edge && !sw_ir_len(at) && w->p->same_ops) return SW_OK;
  const char *value = spelled(w, is_edge && !sw_ir_len(at) ? " sharding=" : "", of(w, s, 0));
  return sw_ir_len(at) ? sw_ir_replace(w->edits, at.at, at.end, value)
                       : sw_ir_insert(w->edits, sw_ir_body_end(w->t, o), value);
}

/* Behind in_shardings, or the operands of `sdy.named_computation<"f">(%0, %1) (%a: T, %b: U)`. */
static uint32_t behind_operands(const writer *w, const sw_ir_op *o) {
  uint32_t at = o->body.at;
  const sw_ir_span in = sw_ir_attr(w->t, o, "in_shardings", "in_shardings");
  if (sw_ir_present(in)) return in.end;
  while (at < o->body.end && w->t->s[at] != '(') at++;
  while (at < o->body.end && w->t->s[at] != ')') at++;
  return at < o->body.end ? at + 1 : at;
}

/* in_shardings=[<..>, <..>]; what is of no tensor stays. */
static sw_rc write_list(writer *w, const sw_said *s) {
  const sw_ir_op *o = &w->t->ops.at[s->op];
  const char *key = s->kind == SW_SAID_IN ? "in_shardings" : "out_shardings";
  sw_ir_span list = sw_ir_attr(w->t, o, key, key), item;
  const bool is_there = sw_ir_present(list), bare = is_there && w->t->s[list.at] == '[';
  uint32_t cursor = 0;
  sw_text t = {0};
  if (!is_there && (o->generic || w->p->same_ops)) return SW_OK;
  if (!is_there) sw_text_printf(&t, " %s=", key);
  sw_text_puts(&t, is_there && !bare ? "#sdy.sharding_per_value<[" : "[");
  for (int32_t i = 0; i < s->n; i++) {
    const sw_open_sharding *said = of(w, s, i);
    const bool has_item = is_there && sw_ir_next_item(w->t, sw_ir_inside(w->t, list), &cursor, &item);
    const sw_open_sharding none = open_at(w, s, i);
    if (i) sw_text_puts(&t, ", ");
    if (!said && has_item)
      sw_text_printf(&t, "%.*s", SW_IR_TEXT(w->t, item));
    else if (sw_open_sharding_print(&w->p->sdy, said ? said : &none, &t))
      break;
  }
  sw_text_puts(&t, is_there && !bare ? "]>" : "]");
  const char *value = keep_edit_text(w, &t);
  return !is_there ? sw_ir_insert(w->edits, behind_operands(w, o), value)
                   : sw_ir_replace(w->edits, list.at, list.end, value);
}

/* The origins of what is said inside an op, in an attribute that has nothing else: of a constraint, of an edge; of a
 * computation at its first list, both. */
static sw_rc write_inner_origins(writer *w, const sw_said *s) {
  const char *name = w->p->op_name[s->op], *key = w->edits->key;
  sw_text t = {0};
  if (s->kind == SW_SAID_OUT || (!name && !has_origins(w, s))) return SW_OK;
  if (name) sw_text_printf(&t, "\"%s\"", name);
  if (s->kind == SW_SAID_INSIDE) {
    if (has_origins(w, s)) sw_text_printf(&t, "%s%s", name ? ", sdy.sharding_origins = " : "", origins_of(w, s, 0));
  } else {
    put_origins(w, ", sdy.block_arg_sharding_origins", s, &t);
    put_origins(w, ", sdy.result_sharding_origins", &w->p->places.at[w->p->out_place[s->op]], &t);
  }
  w->edits->key = name ? "sdy.sharding_origin_name" : "sdy.sharding_origins";
  const char *value = keep_edit_text(w, &t);
  sw_rc rc = value ? sw_ir_set_op(w->edits, &w->t->ops.at[s->op], value) : SW_E_RESOURCE;
  w->edits->key = key;
  return rc;
}

static sw_rc write_place(writer *w, const sw_said *s) {
  if (first_mesh(w, s) < 0) return SW_OK; /* nothing is said */
  if (s->kind == SW_SAID_IN ? w->p->has_arg_edge[s->op] : s->kind != SW_SAID_INSIDE && w->p->has_edge[s->op])
    return SW_OK; /* the edges say it */
  if (s->kind == SW_SAID_OP) return write_op_shardings(w, s);
  SW_TRY(s->kind == SW_SAID_INSIDE ? write_inside(w, s) : write_list(w, s));
  return w->p->origins ? write_inner_origins(w, s) : SW_OK;
}

static sw_rc write_all_places(writer *w) {
  const sw_said *places = w->p->places.at;
  for (size_t i = 0, end; i < w->p->places.n; i = end) {
    const sw_said *s = &places[i];
    end = i + 1;
    if (w->erased && w->erased[s->op]) continue;
    if (s->kind == SW_SAID_ARGUMENT || s->kind == SW_SAID_RESULT) {
      while (end < w->p->places.n && places[end].kind == s->kind && places[end].op == s->op) end++;
      SW_TRY(write_signature(w, s, (uint32_t)(end - i)));
    } else {
      SW_TRY(write_place(w, s));
    }
  }
  return SW_OK;
}

sw_rc sw_program_flow_edit(const sw_program_flow *p, const bool *erased, sw_ir_edits *e) {
  return write_all_places(&(writer){p, p->t, erased, e});
}

sw_rc sw_program_flow_write(const sw_program_flow *p, sw_text *out, sw_diag *d) {
  sw_ir_edits edits = {.t = p->t, .key = "sdy.sharding", .d = d};
  sw_rc rc = sw_program_flow_edit(p, NULL, &edits);
  if (!rc) rc = sw_ir_edits_apply(&edits, out);
  sw_ir_edits_free(&edits);
  return rc;
}
