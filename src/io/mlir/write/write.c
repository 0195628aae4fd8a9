/* The text of a program with the shardings of a plan written into it. Nothing else changes:
 *
 *   func.func @main(%arg0: tensor<8x4xf32>)
 *   func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
 *
 * Every change is an edit, some bytes put in place of some others (mostly of none); sorted by place they go into the
 * text in one pass. Ops of functions that are called several times are annotated where all calls agree.
 */
#include <stdlib.h>
#include <string.h>

#include "io/mlir/import/tuple.h"
#include "io/mlir/write/split.h"
#include "io/mlir/write/write.h"

/* --- edits ------------------------------------------------------------------------------------------------------- */

sw_rc sw_ir_replace(sw_ir_writer *w, uint32_t at, uint32_t end, const char *text) {
  sw_ir_edit e = {at, end, (uint32_t)w->edits.n, text};
  return text ? sw_array_push(&w->edits, e, w->d) : SW_E_RESOURCE;
}

sw_rc sw_ir_insert(sw_ir_writer *w, uint32_t at, const char *text) { return sw_ir_replace(w, at, at, text); }

static int compare_edits(const void *a, const void *b) {
  const sw_ir_edit *x = a, *y = b;
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

static void apply(sw_ir_writer *w, sw_text *out) {
  uint32_t at = 0;
  qsort(w->edits.at, w->edits.n, sizeof *w->edits.at, compare_edits);
  for (size_t i = 0; i < w->edits.n; i++) {
    const sw_ir_edit *e = &w->edits.at[i];
    sw_text_append(out, w->t->s + at, e->at - at);
    sw_text_puts(out, e->text);
    at = e->end;
  }
  sw_text_append(out, w->t->s + at, w->t->n - at);
}

/* --- dictionaries ------------------------------------------------------------------------------------------------ */

static const char *entry_text(sw_ir_writer *w, const char *value, const char *before, const char *behind) {
  return sw_arena_printf(&w->arena, w->d, "%s%s = %s%s", before, w->form->key, value, behind);
}

/* `key = value`, the key perhaps in quotes, of a dictionary; empty when there is none. */
static sw_ir_span whole_entry(const sw_ir_tree *t, sw_ir_span dict, const char *name) {
  sw_ir_span key, value;
  uint32_t cursor = 0;
  while (sw_ir_next_entry(t, dict, &cursor, &key, &value)) {
    if (sw_ir_is(t, key, name)) return (sw_ir_span){key.at - (t->s[key.at - 1] == '"'), value.end};
  }
  return (sw_ir_span){0, 0};
}

/* Into a dictionary that is there: over an older value of the key, or in front. */
static sw_rc into_dictionary(sw_ir_writer *w, sw_ir_span dict, const char *value) {
  sw_ir_span old = sw_ir_entry(w->t, dict, w->form->key);
  if (sw_ir_len(old)) return sw_ir_replace(w, old.at, old.end, value);
  bool empty = w->t->s[sw_ir_blanks(w->t->s, dict.at + 1)] == '}';
  return sw_ir_insert(w, dict.at + 1, entry_text(w, value, "", empty ? "" : ", "));
}

/* Likewise of an argument or result, which may say it in the other form: that would contradict. */
static sw_rc into_attrs(sw_ir_writer *w, sw_ir_span dict, const char *value) {
  sw_ir_span other = whole_entry(w->t, dict, w->form->other);
  bool replace = sw_ir_len(other) && !sw_ir_len(sw_ir_entry(w->t, dict, w->form->key));
  return replace ? sw_ir_replace(w, other.at, other.end, entry_text(w, value, "", ""))
                 : into_dictionary(w, dict, value);
}

static sw_rc new_dictionary(sw_ir_writer *w, uint32_t at, const char *before, const char *value) {
  const char *open = sw_arena_printf(&w->arena, w->d, " %s{", before);
  return open ? sw_ir_insert(w, at, entry_text(w, value, open, "}")) : SW_E_RESOURCE;
}

/* --- functions --------------------------------------------------------------------------------------------------- */

static sw_rc value_text(sw_ir_writer *w, const sw_sharding *s, const char **out) {
  sw_text text = {0};
  SW_TRY(w->form->put_value(w, s, &text));
  *out = sw_arena_strndup(&w->arena, sw_text_str(&text), text.n, w->d);
  sw_rc rc = text.rc ? text.rc : *out ? SW_OK : SW_E_RESOURCE;
  sw_text_free(&text);
  return rc;
}

/* arg_attrs or res_attrs of a function in generic form. */
static sw_rc write_list(sw_ir_writer *w, const char *key, const sw_sharding *all, uint32_t n) {
  const sw_ir_op *f = &w->t->ops.at[w->p->main];
  sw_ir_span list = sw_ir_entry(w->t, f->props, key), item;
  uint32_t cursor = 0;
  const char *value;
  if (!n) return SW_OK;
  for (uint32_t i = 0; sw_ir_present(list) && i < n && sw_ir_next_item(w->t, list, &cursor, &item); i++) {
    SW_TRY(value_text(w, &all[i], &value));
    SW_TRY(into_attrs(w, item, value));
  }
  if (sw_ir_present(list)) return SW_OK;
  sw_text t = {0};
  sw_text_printf(&t, "%s = [", key);
  for (uint32_t i = 0; i < n; i++) {
    SW_TRY(value_text(w, &all[i], &value));
    sw_text_printf(&t, "%s{%s = %s}", i ? ", " : "", w->form->key, value);
  }
  sw_text_puts(&t, "], ");
  const char *text = sw_arena_strndup(&w->arena, sw_text_str(&t), t.n, w->d);
  sw_text_free(&t);
  return sw_ir_insert(w, f->props.at + 1, text);
}

/* Tuples have no sharding. */
static bool has_tuples(const sw_ir_writer *w, const sw_ir_op *f, const sw_ir_block *b) {
  sw_ir_types_cursor c = sw_ir_result_types(w->t, f->generic ? sw_ir_entry(w->t, f->props, "function_type") : f->types);
  sw_ir_span type;
  for (uint32_t i = 0; i < b->n_args; i++) {
    if (sw_ir_is_tuple_type(w->t, w->t->args.at[b->first_arg + i].type)) return true;
  }
  while (sw_ir_next_type(w->t, &c, &type)) {
    if (sw_ir_is_tuple_type(w->t, type)) return true;
  }
  return false;
}

static sw_rc write_args(sw_ir_writer *w) {
  const sw_ir_op *f = &w->t->ops.at[w->p->main];
  const sw_ir_block *b = &w->t->blocks.at[sw_ir_block_at(w->t, f, 0)];
  const char *value;
  if (f->generic) return write_list(w, "arg_attrs", w->plan->args, b->n_args);
  for (uint32_t i = 0; i < b->n_args; i++) {
    const sw_ir_arg *a = &w->t->args.at[b->first_arg + i];
    SW_TRY(value_text(w, &w->plan->args[i], &value));
    SW_TRY(sw_ir_present(a->attrs) ? into_attrs(w, a->attrs, value) : new_dictionary(w, a->type.end, "", value));
  }
  return SW_OK;
}

static sw_rc write_results(sw_ir_writer *w) {
  const sw_ir_op *f = &w->t->ops.at[w->p->main];
  const sw_graph *g = w->p->graph;
  uint32_t n = (uint32_t)g->n_outputs;
  const char *value;
  if (f->generic) return write_list(w, "res_attrs", w->plan->outputs, n);
  if (!sw_ir_len(f->types) || !n) return SW_OK;
  sw_ir_types_cursor c = {f->types, 0};
  sw_ir_span item;
  bool bare = w->t->s[f->types.at] != '(';
  if (bare) SW_TRY(sw_ir_insert(w, f->types.at, "("));
  for (uint32_t i = 0; i < n && sw_ir_next_type(w->t, &c, &item); i++) {
    sw_ir_span dict = item;
    while (dict.at < dict.end && w->t->s[dict.at] != '{') dict.at++;
    SW_TRY(value_text(w, &w->plan->outputs[i], &value));
    SW_TRY(dict.at < dict.end ? into_attrs(w, dict, value) : new_dictionary(w, item.end, "", value));
  }
  return bare ? sw_ir_insert(w, f->types.end, ")") : SW_OK;
}

/* --- ops --------------------------------------------------------------------------------------------------------- */

/* Where the dictionary of a custom form goes: before the types, but for ops that have their literal there. */
static sw_rc write_op(sw_ir_writer *w, const sw_ir_op *o, const char *value) {
  static const char kLiterals[] = "stablehlo.constant mhlo.constant sdy.constant arith.constant";
  if (sw_ir_len(o->attrs)) return into_dictionary(w, o->attrs, value);
  if (!o->generic && o->n_bound) return new_dictionary(w, o->types.end, "attributes ", value);
  if (!o->generic && !sw_ir_len(o->props) && sw_ir_is_among(w->t, o->name, kLiterals))
    return new_dictionary(w, o->name.end, "", value);
  uint32_t at = o->body.end;
  while (at > o->body.at && strchr(" \t\r\n", w->t->s[at - 1])) at--;
  return new_dictionary(w, at, "", value);
}

static int compare_made(const void *a, const void *b) {
  const sw_ir_made *x = a, *y = b;
  if (x->op != y->op) return x->op < y->op ? -1 : 1;
  if (x->result != y->result) return x->result < y->result ? -1 : 1;
  return x->value < y->value ? -1 : x->value > y->value;
}

/* Do all calls give result `made[0]` one sharding? */
static bool one_sharding(const sw_ir_writer *w, const sw_ir_made *made, size_t n, sw_sharding *out) {
  sw_sharding s;
  sw_plan_value_sharding(w->plan, made[0].value, out);
  for (size_t i = 0; i < n; i++) {
    if (!made[i].own) return false;
    sw_plan_value_sharding(w->plan, made[i].value, &s);
    if (!sw_sharding_equal(&s, out)) return false;
  }
  return true;
}

/* XLA refuses shardings on calls of ApproxTopK. */
static bool is_approximate(const sw_ir_tree *t, const sw_ir_op *o) {
  sw_ir_span target = sw_ir_unquoted(t, sw_ir_attr(t, o, "call_target_name", NULL));
  return sw_ir_is(t, sw_ir_present(target) ? target : o->symbol, "ApproxTopK");
}

/* Loops and choices stay as they are: Shardy carries shardings into and out of them, and XLA does not compile a loop
 * that both has shardings and reads values from around it (JAX 0.10). A constraint says its sharding itself. */
static bool is_left_alone(const sw_ir_tree *t, const sw_ir_op *o) {
  static const char kNames[] =
      "stablehlo.while stablehlo.case stablehlo.if mhlo.while mhlo.case mhlo.if "
      "sdy.sharding_constraint sdy.reshard";
  return sw_ir_is_among(t, o->name, kNames) || is_approximate(t, o);
}

/* A simplifier hangs what such an op is annotated with onto the op that made the value; where that is a loop with
 * several results, XLA crashes (JAX 0.10). */
static bool is_simplified(const sw_ir_writer *w, const sw_ir_made *made) {
  const sw_graph *g = w->p->graph;
  sw_id def = g->values[made->value].def;
  return !w->form->constraints && def >= 0 && sw_ir_changes_nothing(g, &g->ops[def]);
}

/* Has the form words for it? What it has none for is left to whoever propagates the others: replicated in its place
 * would ask for a reduction earlier than the plan makes it, and for all of it. */
static bool can_say(const sw_ir_writer *w, const sw_sharding *s) {
  return !s->n_partial || (w->form->sums && s->partial_kind == SW_REDUCE_SUM);
}

/* made[0 .. n): all results of one op. */
static sw_rc write_results_of(sw_ir_writer *w, const sw_ir_made *made, size_t n) {
  const sw_ir_op *o = &w->t->ops.at[made[0].op];
  uint32_t count = sw_ir_result_count(w->t, o), next = 0;
  sw_sharding *all;
  if (is_simplified(w, &made[0])) return SW_OK;
  SW_ARENA_NEW(all, &w->arena, count, w->d);
  for (size_t i = 0; i < n;) {
    size_t end = i + 1;
    while (end < n && made[end].result == made[i].result) end++;
    if (made[i].result != next || !one_sharding(w, made + i, end - i, &all[next])) return SW_OK;
    if (!w->form->constraints && !can_say(w, &all[next])) return SW_OK;
    next++;
    i = end;
  }
  if (next != count) return SW_OK;
  if (w->form->constraints) return sw_ir_constrain_results(w, made, n, all);
  sw_text text = {0};
  sw_rc rc = w->form->put_values(w, all, count, &text);
  const char *value = rc ? NULL : sw_arena_strndup(&w->arena, sw_text_str(&text), text.n, w->d);
  sw_text_free(&text);
  return rc ? rc : value ? write_op(w, o, value) : SW_E_RESOURCE;
}

typedef sw_rc (*of_results)(sw_ir_writer *w, const sw_ir_made *made, size_t n);

static sw_rc for_each_op(sw_ir_writer *w, const sw_ir_made *made, size_t n, of_results write) {
  for (size_t i = 0; i < n;) {
    size_t end = i + 1;
    while (end < n && made[end].op == made[i].op) end++;
    if (!is_left_alone(w->t, &w->t->ops.at[made[i].op])) SW_TRY(write(w, made + i, end - i));
    i = end;
  }
  return SW_OK;
}

static sw_rc write_ops(sw_ir_writer *w) {
  size_t n = w->p->trace.made.n;
  sw_ir_made *made = sw_arena_copy(&w->arena, w->p->trace.made.at, n, sizeof *made, w->d);
  if (!made) return SW_E_RESOURCE;
  qsort(made, n, sizeof *made, compare_made);
  SW_ARENA_NEW(w->named, &w->arena, w->p->graph->n_values, w->d);
  for (size_t i = 0; i < n; i++) w->named[made[i].value] = true;
  if (w->form->constraints) SW_TRY(sw_ir_begin_constraints(w));
  SW_TRY(for_each_op(w, made, n, write_results_of));
  if (!w->form->constraints) return SW_OK;
  SW_TRY(for_each_op(w, made, n, sw_ir_constrain_passed_on));
  if (w->is_split) SW_TRY(sw_ir_read_by_calls(w, made, n));
  SW_TRY(for_each_op(w, made, n, sw_ir_read_by_op));
  SW_TRY(sw_ir_read_by_loops(w));
  SW_TRY(sw_ir_read_in_regions(w));
  return sw_ir_constrain_reads(w);
}

/* --- the whole --------------------------------------------------------------------------------------------------- */

sw_rc sw_ir_write_at_top(sw_ir_writer *w, const char *line) {
  const sw_ir_tree *t = w->t;
  if (w->p->module == SW_IR_NONE) {
    const char *text = sw_arena_printf(&w->arena, w->d, "%s\n", line);
    return sw_ir_insert(w, t->ops.at[w->p->main].text.at, text);
  }
  uint32_t at = t->regions.at[t->ops.at[w->p->module].first_region].text.at + 1;
  bool line_ends = t->s[at + strspn(t->s + at, " \t\r")] == '\n';
  return sw_ir_insert(w, at, sw_arena_printf(&w->arena, w->d, "\n  %s%s", line, line_ends ? "" : "\n"));
}

static sw_rc write_all(sw_ir_writer *w, sw_text *out) {
  SW_TRY(w->form->begin(w));
  const sw_ir_op *f = &w->t->ops.at[w->p->main];
  if (!has_tuples(w, f, &w->t->blocks.at[sw_ir_block_at(w->t, f, 0)])) {
    SW_TRY(write_args(w));
    SW_TRY(write_results(w));
  }
  SW_TRY(write_ops(w));
  apply(w, out);
  return out->rc;
}

/* With constraints, functions that are cut in several ways are several: the text of each says one. */
static sw_rc write_split(sw_ir_writer *w, sw_text *out) {
  sw_program split = {0};
  bool done = false;
  sw_rc rc = w->form->constraints ? sw_ir_split(w->p, w->plan, &split, &done, w->d) : SW_OK;
  if (!rc && done) {
    w->is_split = true;
    w->p = &split;
    w->t = &split.tree;
  }
  if (!rc) rc = write_all(w, out);
  sw_ir_split_free(&split);
  return rc;
}

sw_rc sw_program_emit(const sw_program *p, const sw_plan *plan, const char *kind, sw_text *out, sw_diag *d) {
  static const sw_ir_form *const kForms[] = {&sw_ir_form_sdy, &sw_ir_form_hlo, &sw_ir_form_constraints};
  sw_ir_writer w = {.p = p, .t = &p->tree, .plan = plan, .mesh = sw_machine_mesh(plan->machine), .d = d};
  if (plan->graph != p->graph) return SW_BUG(d, "%s", "the plan is of another program");
  for (size_t i = 0; i < sizeof kForms / sizeof *kForms; i++) {
    if (strcmp(kind, kForms[i]->kind) == 0) w.form = kForms[i];
  }
  if (!w.form)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "there is no form '%s'; expected sdy, hlo or constraints", kind);
  sw_rc rc = write_split(&w, out);
  sw_array_free(&w.edits);
  sw_dict_deinit(&w.helpers);
  sw_array_free(&w.reads);
  sw_arena_deinit(&w.arena);
  return rc;
}
