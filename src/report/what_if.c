/* Answers of a search to questions with pins (what_if.h). */
#include "shardwright/what_if.h"

#include <string.h>

#include "base/columns.h"
#include "base/folded_names.h"
#include "report/answer.h"
#include "report/made_again.h"

enum { MOST_ROWS = 8 };

struct sw_answer {
  const char *text;       /* of the question */
  int64_t capacity_bytes; /* INT64_MAX: that of the search */
  int32_t n_pins;
  sw_rc rc;
  const char *why; /* there is no plan */
  sw_plan plan;
  sw_breakdown breakdown;
  sw_made_again again, again_before;
  int32_t n_values, n_changed; /* of the plan that was asked about: values, those that are made in another sharding */
  const sw_named *changed;
  int32_t n_groups;
  const sw_folded_name *groups; /* of these */
};

static double change_of(const sw_questions *q, const sw_answer *a) {
  return q->breakdown->total_s > 0 ? a->breakdown.total_s / q->breakdown->total_s - 1 : 0;
}

static bool sums_differ(const sw_collective_sum *a, const sw_collective_sum *b) {
  return a->calls != b->calls || a->bytes < b->bytes || a->bytes > b->bytes;
}

static void print_calls(const sw_questions *q, const sw_answer *a, sw_text *out) {
  bool any = false;
  for (int i = 0; i < SW_COLL_COUNT; i++) {
    const sw_collective_sum *was = &q->breakdown->by_collective[i], *is_now = &a->breakdown.by_collective[i];
    if (!sums_differ(was, is_now)) continue;
    sw_text_printf(out, "%s %s %lld -> %lld calls, ", any ? ";" : "  collectives", sw_coll_text((sw_coll_op)i),
                   (long long)was->calls, (long long)is_now->calls);
    sw_text_bytes(out, was->bytes);
    sw_text_puts(out, " -> ");
    sw_text_bytes(out, is_now->bytes);
    any = true;
  }
  sw_text_puts(out, any ? "\n" : "  collectives as before\n");
}

static void print_changes(const sw_questions *q, const sw_answer *a, sw_text *out) {
  sw_columns c = {.n = 3, .right = {false, true, false}};
  if (a->n_pins > 1) sw_text_printf(out, "  %d pins\n", a->n_pins);
  print_calls(q, a, out);
  sw_text_puts(out, "  memory ");
  sw_text_bytes(out, (double)q->breakdown->peak_bytes);
  sw_text_puts(out, " -> ");
  sw_text_bytes(out, (double)a->breakdown.peak_bytes);
  if (a->again.n_ops) sw_text_puts(out, "\n  made again: ");
  if (a->again.n_ops) sw_made_again_print(&a->again, a->breakdown.total_s, out);
  if (a->again_before.n_ops && !a->again.n_ops)
    sw_text_printf(out, "\n  nothing is made again, not %d ops", a->again_before.n_ops);
  sw_text_printf(out, "\n  %d of %d values made in another sharding\n", a->n_changed, a->n_values);
  for (int32_t i = 0; i < a->n_groups && i < MOST_ROWS; i++) {
    const sw_folded_name *g = &a->groups[i];
    sw_columns_add(&c, "%s", g->name);
    sw_columns_add(&c, g->n > 1 ? "x%d" : "", g->n);
    sw_columns_add(&c, "%s", a->changed[g->items[0]].like);
  }
  sw_columns_print(&c, 4, out);
  if (a->n_groups > MOST_ROWS) sw_text_printf(out, "    and %d more rows; --json has all\n", a->n_groups - MOST_ROWS);
}

static void print_lines(const sw_questions *q, const sw_answer *a, sw_text *out) {
  sw_text_printf(out, "what if %s: ", a->text);
  if (a->rc) {
    sw_text_printf(out, "no plan: %s\n", a->why);
    return;
  }
  sw_text_seconds(out, a->breakdown.total_s);
  sw_text_printf(out, " (%+.2f %%), gap %.2f %%", 100 * change_of(q, a), 100 * sw_plan_gap(&a->plan));
  if (!sw_plan_bound_is_proven(&a->plan)) sw_text_puts(out, " to the strategies enumerated");
  sw_text_puts(out, ", ");
  sw_text_bytes(out, (double)a->breakdown.peak_bytes);
  sw_text_puts(out, "; planned in ");
  sw_text_seconds(out, a->plan.time_s);
  sw_text_puts(out, "\n");
  print_changes(q, a, out);
}

static void put_changes(const sw_questions *q, const sw_answer *a, sw_json_out *o) {
  sw_jw_i64(o, "pins", a->n_pins);
  sw_jw_i64(o, "peak_bytes_before", q->breakdown->peak_bytes);
  sw_made_again_json(&a->again, a->breakdown.total_s, o);
  sw_jw_i64(o, "values_changed", a->n_changed);
  sw_jw_row(o, "changed");
  for (int32_t i = 0; i < a->n_groups; i++) {
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "name", a->groups[i].name);
    sw_jw_i64(o, "count", a->groups[i].n);
    sw_jw_string(o, "sharding", a->changed[a->groups[i].items[0]].like);
    sw_jw_end(o);
  }
  sw_jw_end(o);
  sw_jw_row(o, "collectives");
  for (int i = 0; i < SW_COLL_COUNT; i++) {
    const sw_collective_sum *was = &q->breakdown->by_collective[i], *is_now = &a->breakdown.by_collective[i];
    if (!sums_differ(was, is_now)) continue;
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "op", sw_coll_text((sw_coll_op)i));
    sw_jw_i64(o, "calls_before", was->calls);
    sw_jw_i64(o, "calls", is_now->calls);
    sw_jw_f64(o, "bytes_before", was->bytes);
    sw_jw_f64(o, "bytes", is_now->bytes);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

/* Begins the object. */
static void put_question(const sw_answer *a, sw_json_out *o, sw_text *out) {
  sw_json_out_init(o, out);
  sw_jw_object_row(o, NULL);
  sw_jw_string(o, "format", "shardwright-what-if");
  sw_jw_i64(o, "version", 1);
  sw_jw_string(o, "what_if", a->text);
  sw_jw_bool(o, "made", !a->rc);
  if (a->rc) sw_jw_string(o, "why", a->why);
}

static void put_plan(const sw_questions *q, const sw_answer *a, sw_json_out *o) {
  sw_jw_f64(o, "total_s", a->breakdown.total_s);
  sw_jw_f64(o, "change", change_of(q, a));
  sw_jw_f64(o, "bound_s", sw_plan_bound_s(&a->plan, &a->breakdown));
  sw_jw_f64(o, "gap", sw_plan_gap(&a->plan));
  sw_jw_bool(o, "bound_proven", sw_plan_bound_is_proven(&a->plan));
  sw_jw_i64(o, "peak_bytes", a->breakdown.peak_bytes);
  put_changes(q, a, o);
  sw_jw_f64(o, "time_s", a->plan.time_s);
}

static void print_json(const sw_questions *q, const sw_answer *a, sw_text *out) {
  sw_json_out o;
  put_question(a, &o, out);
  if (!a->rc) put_plan(q, a, &o);
  sw_jw_end(&o);
}

void sw_answer_json(const sw_report *r, const sw_answer *a, sw_json_out *o) {
  const sw_questions q = {.plan = r->plan, .breakdown = r->breakdown};
  sw_jw_object(o, NULL);
  sw_jw_i64(o, "capacity_bytes", a->capacity_bytes);
  sw_jw_bool(o, "made", !a->rc);
  if (a->rc) sw_jw_string(o, "why", a->why);
  if (!a->rc) put_plan(&q, a, o);
  sw_jw_end(o);
}

void sw_answer_print(const sw_questions *q, const sw_answer *a, sw_text *out) {
  (q->json ? print_json : print_lines)(q, a, out);
}

/* Values that the two plans make otherwise, by their names, those that changed alike in groups. */
static sw_rc find_changes(const sw_questions *q, const sw_plan *plan, sw_arena *arena, sw_answer *a, sw_diag *d) {
  const sw_graph *g = q->plan->job.graph, *now = plan->job.graph;
  const sw_mesh *m = sw_machine_mesh(q->plan->job.machine);
  sw_named *items;
  SW_ARENA_NEW(items, arena, g->n_values, d);
  a->n_values = g->n_values;
  for (sw_id v = 0; v < g->n_values; v++) {
    const sw_id same = g == now ? v : sw_graph_value_named(now, g->values[v].name);
    sw_sharding was, is_now;
    if (same < 0) continue;
    sw_plan_value_sharding(q->plan, v, &was);
    sw_plan_value_sharding(plan, same, &is_now);
    if (sw_sharding_equal(&was, &is_now)) continue;
    sw_text t = {0};
    sw_sharding_print(m, &was, &t);
    sw_text_puts(&t, " -> ");
    sw_sharding_print(m, &is_now, &t);
    const char *like = sw_text_keep(&t, arena, d);
    if (!like) return SW_E_RESOURCE;
    items[a->n_changed++] = (sw_named){g->values[v].name, like, ""};
  }
  a->changed = items;
  return sw_fold_names(a->n_changed, items, arena, &a->n_groups, &a->groups, d);
}

/* A plan that does not exist or was not found is an answer, too. `rc`: of the search for it. */
static sw_rc take_answer(const sw_questions *q, sw_rc rc, const sw_diag *why, sw_arena *arena, sw_answer *a,
                         sw_diag *d) {
  a->rc = rc;
  if (rc == SW_E_INFEASIBLE || rc == SW_E_RESOURCE) {
    a->why = sw_arena_copy(arena, why->text, strlen(why->text) + 1, 1, d);
    return a->why ? SW_OK : SW_E_RESOURCE;
  }
  if (rc && d) *d = *why;
  if (rc) return rc;
  SW_TRY(sw_plan_breakdown(&a->plan, arena, &a->breakdown, d));
  SW_TRY(sw_made_again_find(&a->plan, &a->breakdown, arena, &a->again, d));
  SW_TRY(sw_made_again_find(q->plan, q->breakdown, arena, &a->again_before, d));
  return find_changes(q, &a->plan, arena, a, d);
}

static sw_rc search_by(const sw_questions *q, sw_recompute how, const sw_job *j, const sw_answer *a, sw_arena *arena,
                       sw_schedule *schedule, sw_plan *out, sw_diag *d) {
  sw_plan_options o = *q->options;
  sw_job *job;
  o.baselines = NULL;
  o.known = NULL;
  o.n_known = 0;
  o.start = NULL;
  o.none_fits = NULL;
  o.solve.deadline_s = 0; /* every question has the whole limit */
  if (a->capacity_bytes != INT64_MAX) o.selection.capacity_bytes = a->capacity_bytes;
  if (how == SW_RECOMPUTE_SEARCH) return sw_plan_search_sources(j, j->request, &o, arena, schedule, out, d);
  SW_ARENA_NEW(job, arena, 1, d);
  SW_TRY(sw_lever_choose(j, how, sw_plan_capacity(j, &o), arena, schedule, d));
  SW_TRY(sw_job_of_stage(j, schedule, 0, arena, job, d));
  return sw_plan_search(job, &o, arena, out, d);
}

/* By a search of its own; pins are of the program. */
static sw_rc ask_search(const sw_questions *q, sw_recompute how, const sw_pin *pins, sw_arena *arena, sw_answer *a,
                        sw_diag *d) {
  sw_job job = *q->program;
  sw_schedule schedule = {0};
  sw_request pinned;
  sw_diag why = {0};
  if (a->n_pins) {
    SW_TRY(sw_pins_require(job.request, sw_machine_mesh(job.machine), a->n_pins, pins, SW_NOWHERE, arena, &pinned, d));
    job.request = &pinned;
  }
  sw_rc rc = search_by(q, how, &job, a, arena, &schedule, &a->plan, &why);
  rc = take_answer(q, rc, &why, arena, a, d);
  sw_schedule_deinit(&schedule); /* and the plan's graph, which the answer is told without */
  return rc;
}

static sw_rc ask_planner(const sw_questions *q, const sw_pin *pins, sw_arena *arena, sw_answer *a, sw_diag *d) {
  sw_diag why = {0};
  if (q->how == SW_RECOMPUTE_SEARCH) return ask_search(q, q->how, pins, arena, a, d);
  const sw_rc rc = sw_planner_ask_within(q->planner, a->capacity_bytes, a->n_pins, pins, arena, &a->plan, &why);
  return take_answer(q, rc, &why, arena, a, d);
}

sw_rc sw_question_read(const sw_graph *g, const sw_graph *program, const sw_mesh *mesh, const char *text, sw_span at,
                       sw_arena *arena, sw_question *out, sw_diag *d) {
  static const char kRecompute[] = "recompute=";
  const size_t n = strlen(kRecompute);
  *out = (sw_question){.text = text, .at = at, .of_recompute = strncmp(text, kRecompute, n) == 0};
  if (!out->of_recompute) return sw_pins_parse(g, mesh, text, at, arena, &out->n, &out->pins, d);
  const size_t how = strcspn(text + n, ";");
  const char *said = sw_arena_strndup(arena, text + n, how, d), *pins = text + n + how;
  if (!said) return SW_E_RESOURCE;
  SW_TRY(sw_recompute_parse(said, at, &out->how, d));
  return *pins ? sw_pins_parse(program, mesh, pins + 1, at, arena, &out->n, &out->pins, d) : SW_OK;
}

sw_rc sw_what_if(const sw_questions *q, const sw_question *asked, sw_arena *arena, sw_text *out, sw_diag *d) {
  sw_answer a = {.text = asked->text, .capacity_bytes = INT64_MAX, .n_pins = asked->n};
  if (asked->of_recompute && !q->program)
    return SW_FAIL(d, SW_E_USAGE, asked->at, "what is made again is said by --schedule; expected no '%s' beside it",
                   asked->text);
  SW_TRY(asked->of_recompute ? ask_search(q, asked->how, asked->pins, arena, &a, d)
                             : ask_planner(q, asked->pins, arena, &a, d));
  sw_answer_print(q, &a, out);
  return SW_OK;
}

sw_rc sw_what_if_memory(const sw_questions *q, int64_t capacity_bytes, sw_arena *arena, const sw_answer **out,
                        sw_diag *d) {
  sw_answer *a;
  SW_ARENA_NEW(a, arena, 1, d);
  *a = (sw_answer){.capacity_bytes = capacity_bytes};
  if (!(a->text = sw_arena_printf(arena, d, "memory=%lldB", (long long)capacity_bytes))) return SW_E_RESOURCE;
  *out = a;
  return ask_planner(q, NULL, arena, a, d);
}

void sw_what_if_unread(const char *text, const sw_diag *why, sw_text *out) {
  const sw_answer a = {.text = text, .rc = why->rc, .why = why->text};
  sw_json_out o;
  put_question(&a, &o, out);
  sw_jw_end(&o);
}
