/* The text of a program with the shardings of a plan written into it. Nothing else changes:
 *
 *   func.func @main(%arg0: tensor<8x4xf32>)
 *   func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
 *
 * Ops of functions that are called several times are annotated where all calls agree.
 */
#include <stdlib.h>
#include <string.h>

#include "graph/said.h"
#include "mlir/emit/emit_sdy.h"
#include "mlir/import/tuple.h"
#include "mlir/write/split.h"
#include "mlir/write/write.h"

/* --- functions --------------------------------------------------------------------------------------------------- */

static sw_rc value_text(sw_ir_writer *w, const sw_sharding *s, const char **out) {
  sw_text text = {0};
  const sw_rc rc = w->form->put_value(w, s, &text);
  return sw_ir_keep_text(rc, &text, &w->arena, out, w->d);
}

/* Axes have names in Shardy's forms alone. */
static bool has_names(const sw_ir_writer *w) { return strcmp(w->form->key, "sdy.sharding") == 0; }

/* Of arguments, or of outputs. */
static sw_rc value_texts(sw_ir_writer *w, const sw_sharding *all, bool outputs, uint32_t n, const char ***out) {
  const sw_graph *g = w->p->graph;
  SW_ARENA_NEW(*out, &w->arena, n, w->d);
  for (uint32_t i = 0; i < n; i++) {
    sw_sharding s = all[i];
    if (has_names(w))
      s = outputs ? sw_output_said(w->p->graph->written, (int32_t)i, &s)
                  : sw_value_said(w->p->graph->written, g->args[i], &s);
    SW_TRY(value_text(w, &s, &(*out)[i]));
  }
  return SW_OK;
}

/* Tuples have no sharding. */
static bool has_tuples(const sw_ir_writer *w, const sw_ir_op *f, const sw_ir_block *b) {
  sw_ir_types_cursor c = sw_ir_declared_results(w->t, f);
  sw_ir_span type;
  for (uint32_t i = 0; i < b->n_args; i++) {
    if (sw_ir_is_tuple_type(w->t, w->t->args.at[b->first_arg + i].type)) return true;
  }
  while (sw_ir_next_type(w->t, &c, &type)) {
    if (sw_ir_is_tuple_type(w->t, type)) return true;
  }
  return false;
}

/* A value that is said to be on one device stays so: no plan has it there. `said`: the sharding of a value, or a list
 * of them. */
static bool is_on_one_device(sw_ir_writer *w, sw_ir_span said) {
  sw_ir_span item;
  uint32_t cursor = 0;
  sw_open_sharding s;
  if (!sw_ir_present(said) || !sw_ir_len(said)) return false;
  if (!sw_ir_starts(w->t, sw_ir_resolved(w->t, said), "#sdy.sharding_per_value"))
    return !sw_open_sharding_read(&w->sdy, said, &s) && sw_sdy_is_maximal(&w->sdy.meshes.at[s.mesh].mesh);
  said = sw_sdy_items(w->t, said);
  while (sw_ir_next_item(w->t, said, &cursor, &item)) {
    if (is_on_one_device(w, item)) return true;
  }
  return false;
}

/* May there be one? */
static bool may_be_on_one_device(const sw_ir_writer *w) {
  bool any = strstr(w->t->s, "mesh<[") != NULL; /* written out */
  for (size_t i = 0; i < w->sdy.meshes.n && !any; i++) any = sw_sdy_is_maximal(&w->sdy.meshes.at[i].mesh);
  return any;
}

/* Arguments and results of main that stay as they are get nothing. */
static void leave_on_one_device(sw_ir_writer *w, const sw_ir_op *f, const char **args, uint32_t n_args,
                                const char **results, uint32_t n_results) {
  sw_ir_types_cursor c = sw_ir_declared_results(w->t, f);
  sw_ir_span list = f->generic ? sw_ir_entry(w->t, f->props, "res_attrs") : (sw_ir_span){0, 0}, item;
  uint32_t cursor = 0;
  for (uint32_t i = 0; i < n_args; i++) {
    if (is_on_one_device(w, sw_ir_entry(w->t, sw_im_arg_attrs(w->t, f, i), "sdy.sharding"))) args[i] = NULL;
  }
  for (uint32_t i = 0; i < n_results && sw_ir_next_type(w->t, &c, &item); i++) {
    sw_ir_span attrs = {sw_ir_type_alone(w->t, item).end, item.end};
    if (sw_ir_present(list)) (void)sw_ir_next_item(w->t, list, &cursor, &attrs);
    attrs = sw_ir_trimmed(w->t, attrs);
    if (sw_ir_len(attrs) && is_on_one_device(w, sw_ir_entry(w->t, attrs, "sdy.sharding"))) results[i] = NULL;
  }
}

static sw_rc write_main_signature(sw_ir_writer *w) {
  const sw_ir_op *f = &w->t->ops.at[w->p->main];
  const sw_ir_block *b = &w->t->blocks.at[sw_ir_block_at(w->t, f, 0)];
  const uint32_t n_outputs = (uint32_t)w->p->graph->n_outputs;
  const char **args, **results;
  if (has_tuples(w, f, b)) return SW_OK;
  SW_TRY(value_texts(w, w->plan->args, false, b->n_args, &args));
  SW_TRY(value_texts(w, w->plan->outputs, true, n_outputs, &results));
  if (may_be_on_one_device(w)) leave_on_one_device(w, f, args, b->n_args, results, n_outputs);
  SW_TRY(sw_ir_set_args(&w->edits, f, args, b->n_args));
  return sw_ir_set_results(&w->edits, f, results, n_outputs);
}

/* --- ops --------------------------------------------------------------------------------------------------------- */

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
  return sw_ir_is(t, sw_ir_call_target(t, o), "ApproxTopK");
}

/* Loops and choices stay as they are: Shardy carries shardings into and out of them, and XLA does not compile a loop
 * that both has shardings and reads values from around it (JAX 0.10). A constraint says its sharding itself. */
static bool is_left_alone(const sw_ir_tree *t, const sw_ir_op *o) {
  static const char kNames[] =
      "stablehlo.while stablehlo.case stablehlo.if mhlo.while mhlo.case mhlo.if "
      "sdy.sharding_constraint sdy.reshard";
  return sw_ir_is_among(t, o->name, kNames) || is_approximate(t, o);
}

/* Computations say the shardings of their results themselves; Shardy does not look at others beside them. */
static bool says_itself(const sw_ir_writer *w, const sw_ir_op *o) {
  return !w->form->constraints && strcmp(w->form->key, "sdy.sharding") == 0 && sw_ir_starts(w->t, o->name, "sdy.") &&
         sw_ir_present(sw_ir_attr(w->t, o, "out_shardings", "out_shardings"));
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
static bool form_can_say(const sw_ir_writer *w, const sw_sharding *s) {
  return !s->n_partial || (w->form->sums && s->partial_kind == SW_REDUCE_SUM);
}

/* By value, whether it is annotated and the plan keeps that. */
static sw_rc find_kept_annotations(sw_ir_writer *w) {
  const sw_graph *g = w->p->graph;
  bool *left;
  if (w->kept) return SW_OK;
  SW_ARENA_NEW_EACH(&w->arena, g->n_values, w->d, w->kept, left);
  for (int32_t i = 0; i < g->written->n_annotations; i++) {
    const sw_annotation *a = &g->written->annotations[i];
    if (a->value < 0 || a->derived) continue;
    w->kept[a->value] = !left[a->value] && !a->open_dims && sw_plan_keeps(w->plan, a);
    left[a->value] = !w->kept[a->value];
  }
  return SW_OK;
}

static bool is_sdy_collective(const sw_ir_writer *w, const sw_ir_op *o) {
  return strcmp(w->form->key, "sdy.sharding") == 0 && sw_ir_starts(w->t, o->name, "sdy.") && o->n_uses &&
         sw_ir_present(sw_ir_attr(w->t, o, "out_sharding", "out_sharding"));
}

/* Does the plan have what the collective takes and gives as it says? */
static sw_rc is_as_planned(sw_ir_writer *w, const sw_ir_made *made, bool *as_planned) {
  const sw_graph *g = w->p->graph;
  const sw_id def = g->values[made->value].def;
  SW_TRY(find_kept_annotations(w));
  *as_planned = made->own && def >= 0 && w->kept[made->value] && w->kept[g->ops[def].operands[0]];
  return SW_OK;
}

/* A collective on whole tensors says what its operand and its result are cut by. Where the plan has it otherwise, it is
 * a reshard to what the plan has; beside constraints, a constraint. */
static sw_rc write_collective(sw_ir_writer *w, const sw_ir_op *o, const sw_ir_made *made) {
  sw_sharding s;
  bool as_planned = false;
  if (!w->form->constraints) SW_TRY(is_as_planned(w, made, &as_planned));
  if (as_planned) return SW_OK;
  const sw_ir_use *u = &w->t->uses.at[o->first_use];
  const sw_ir_span type = sw_ir_result_type(w->t, o, 0);
  sw_text text = {0};
  sw_text_printf(&text, "sdy.%s %%%.*s", w->form->constraints ? "sharding_constraint" : "reshard",
                 SW_IR_TEXT(w->t, u->name));
  if (w->t->s[u->name.end] == '#') sw_text_printf(&text, "#%u", u->index);
  sw_text_puts(&text, " ");
  if (w->form->constraints)
    sw_ir_sharding_said(w, made->value, &s);
  else
    sw_plan_value_sharding(w->plan, made->value, &s);
  sw_rc rc = sw_sdy_sharding(w->mesh, w->mesh_name, &s, &text, w->d);
  sw_text_printf(&text, " : %.*s", SW_IR_TEXT(w->t, type));
  const char *whole;
  SW_TRY(sw_ir_keep_text(rc, &text, &w->arena, &whole, w->d));
  return sw_ir_replace(&w->edits, o->name.at - o->generic, o->types.end, whole);
}

/* made[0 .. n): all results of one op. */
static sw_rc write_results_of(sw_ir_writer *w, const sw_ir_made *made, size_t n) {
  const sw_ir_op *o = &w->t->ops.at[made[0].op];
  uint32_t count = sw_ir_result_count(w->t, o), next = 0;
  sw_sharding *all;
  if (is_sdy_collective(w, o)) return write_collective(w, o, &made[0]);
  if (is_simplified(w, &made[0]) || is_on_one_device(w, sw_ir_entry(w->t, o->attrs, "sdy.sharding"))) return SW_OK;
  SW_ARENA_NEW(all, &w->arena, count, w->d);
  for (size_t i = 0; i < n;) {
    size_t end = i + 1;
    while (end < n && made[end].result == made[i].result) end++;
    if (made[i].result != next || !one_sharding(w, made + i, end - i, &all[next])) return SW_OK;
    if (!w->form->constraints && !form_can_say(w, &all[next])) return SW_OK;
    next++;
    i = end;
  }
  if (next != count || says_itself(w, o)) return SW_OK;
  if (w->form->constraints) return sw_ir_constrain_results(w, made, n, all);
  for (size_t i = 0; i < n && has_names(w); i++)
    all[made[i].result] = sw_value_said(w->p->graph->written, made[i].value, &all[made[i].result]);
  sw_text text = {0};
  sw_rc rc = w->form->put_values(w, all, count, &text);
  const char *value;
  SW_TRY(sw_ir_keep_text(rc, &text, &w->arena, &value, w->d));
  return sw_ir_set_op(&w->edits, o, value);
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
  /* The text's op is no op of the plan: what that says of operands is not said of the text's. */
  for (size_t i = 0; i < n && w->form->constraints; i++) made[i].own = made[i].own && !made[i].replaced;
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

int64_t sw_ir_last_number(const sw_ir_tree *t, const char *words) {
  int64_t last = -1;
  for (const char *at = t->s; (at = strstr(at, words)) != NULL;) {
    at += strlen(words);
    const long long n = *at >= '0' && *at <= '9' ? strtoll(at, NULL, 10) : -1;
    if (n > last) last = n;
  }
  return last;
}

sw_rc sw_ir_write_at_top(sw_ir_writer *w, const char *line) {
  const sw_ir_tree *t = w->t;
  if (w->p->module == SW_IR_NONE) {
    const char *text = sw_arena_printf(&w->arena, w->d, "%s\n", line);
    return sw_ir_insert(&w->edits, t->ops.at[w->p->main].text.at, text);
  }
  uint32_t at = t->regions.at[t->ops.at[w->p->module].first_region].text.at + 1;
  bool line_ends = t->s[at + strspn(t->s + at, " \t\r")] == '\n';
  return sw_ir_insert(&w->edits, at, sw_arena_printf(&w->arena, w->d, "\n  %s%s", line, line_ends ? "" : "\n"));
}

static sw_rc write_planned_text(sw_ir_writer *w, sw_text *out) {
  w->edits = (sw_ir_edits){.t = w->t, .key = w->form->key, .other = w->form->other, .d = w->d};
  SW_TRY(sw_sdy_open(&w->sdy, w->t, &w->arena, w->d));
  SW_TRY(w->form->begin(w));
  SW_TRY(write_main_signature(w));
  if (!w->form->ends) SW_TRY(write_ops(w));
  return sw_ir_edits_apply(&w->edits, out);
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
  if (!rc) rc = write_planned_text(w, out);
  sw_ir_split_free(&split);
  return rc;
}

sw_rc sw_program_emit(const sw_program *p, const sw_plan *plan, const char *kind, sw_text *out, sw_diag *d) {
  static const sw_ir_form *const kForms[] = {&sw_ir_form_sdy, &sw_ir_form_sdy_ops, &sw_ir_form_sdy_ends,
                                             &sw_ir_form_hlo};
  sw_ir_writer w = {.p = p, .t = &p->tree, .plan = plan, .mesh = sw_machine_mesh(plan->job.machine), .d = d};
  if (plan->job.graph->values != p->graph->values) /* which loops said to run so often share */
    return SW_BUG(d, "%s", "the plan is of another program");
  for (size_t i = 0; i < sizeof kForms / sizeof *kForms; i++) {
    if (strcmp(kind, kForms[i]->kind) == 0) w.form = kForms[i];
  }
  if (!w.form)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "there is no form '%s'; expected sdy, sdy-ops, sdy-ends or hlo", kind);
  sw_rc rc = write_split(&w, out);
  sw_sdy_close(&w.sdy);
  sw_ir_edits_free(&w.edits);
  sw_dict_deinit(&w.helpers);
  sw_dict_deinit(&w.steps);
  sw_array_free(&w.reads);
  sw_arena_deinit(&w.arena);
  return rc;
}
