/* shardwright bench plan. Models are generated, so that any size can be asked for. */
#include "bench/bench_plan.h"

#include <string.h>

#include "gen/gen.h"
#include "shardwright/report.h"

static const double SETTLED_PERCENT = 0.005;

typedef struct bench {
  const sw_bench_plan_options *o;
  sw_bench_line line;
  sw_job job; /* the model that is planned */
  int worse;
  bool glpk_stopped; /* in the table by layers: it gave up on fewer */
} bench;

static sw_rc compile(bench *b, const sw_graph *g, sw_arena *arena, sw_diag *d) {
  sw_machine *machine;
  SW_TRY(sw_machine_build(arena, b->o->profile, b->o->mesh, &machine, d));
  SW_TRY(sw_job_make(b->o->compiler, g->written, machine, arena, &b->job, d));
  return sw_overlap_parse(b->o->overlap, &b->job.overlap, d);
}

/* A search; *made is false when it found no plan that fits. */
static sw_rc search_bench_plan(const bench *b, sw_solver solver, sw_arena *arena, sw_plan *plan, bool *made,
                               sw_diag *d) {
  sw_plan_options o = {
      .solve = {.solver = solver, .time_limit_s = b->o->time_limit_s, .threads = 1, .cancel = b->o->cancel}};
  sw_diag why = {0};
  sw_rc rc = sw_plan_search(&b->job, &o, arena, plan, &why);
  *made = rc == SW_OK;
  if (sw_cancelled(b->o->cancel)) return SW_FAIL(d, SW_E_CANCELLED, SW_NOWHERE, "interrupted");
  if (rc == SW_E_INFEASIBLE || rc == SW_E_RESOURCE) return SW_OK;
  if (rc && d) *d = why;
  return rc;
}

/* What one search gave, in the words of both tables. */
static void put_search_figures(const sw_plan *plan, const sw_breakdown *a, sw_json_out *o) {
  sw_jw_string(o, "compiler", sw_compiled_as(&plan->job));
  sw_jw_f64(o, "planned_s", plan->time_s);
  sw_jw_f64(o, "total_s", a->total_s);
  sw_jw_f64(o, "gap", sw_plan_gap(plan));
  sw_jw_string(o, "status", sw_solve_status_text(plan->status));
}

static bool is_answer(const sw_report *r, const sw_comparison *c) { return sw_comparison_fits(r, c) && !c->breaks; }

static void put_baselines(const sw_report *r, sw_json_out *o) {
  sw_jw_array(o, "baselines");
  for (int i = 0; i < r->n_comparisons; i++) {
    const sw_comparison *c = &r->comparisons[i];
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "plan", c->name);
    sw_jw_bool(o, "made", c->made);
    if (c->made) {
      sw_jw_bool(o, "fits", is_answer(r, c));
      sw_jw_f64(o, "total_s", c->breakdown.total_s);
    }
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

static void print_baselines(const sw_report *r, sw_text *t) {
  for (int i = 0; i < r->n_comparisons; i++) {
    const sw_comparison *c = &r->comparisons[i];
    if (c->made)
      sw_text_printf(t, "%12.2f%s", c->breakdown.total_s / r->breakdown->total_s, is_answer(r, c) ? "  " : " *");
    else
      sw_text_printf(t, "%14s", "-");
  }
}

static void begin_model(const bench *b, const char *name, const sw_graph *g, bool made, sw_text *t) {
  sw_json_out *o = b->o->json;
  if (!o) {
    sw_text_printf(t, "%-20s %6d %s", name, g->n_ops, made ? "" : "no plan was found");
    return;
  }
  sw_jw_object(o, NULL);
  sw_jw_string(o, "model", name);
  sw_jw_i64(o, "ops", g->n_ops);
  sw_jw_bool(o, "made", made);
}

/* The row goes out. */
static sw_rc end_plan_row(const bench *b, sw_text *t, sw_diag *d) {
  if (!b->o->json) return sw_bench_emit(b->line, t, d);
  sw_jw_end(b->o->json);
  return SW_OK;
}

/* One row: name, ops, plan time, cost, gap, and each baseline as a multiple of the cost. */
static sw_rc model_row(bench *b, const char *name, sw_graph *g, sw_arena *arena, sw_diag *d) {
  sw_plan plan;
  sw_breakdown breakdown;
  sw_report report;
  bool made;
  sw_text t = {0};
  SW_TRY(compile(b, g, arena, d));
  SW_TRY(search_bench_plan(b, SW_SOLVER_AUTO, arena, &plan, &made, d));
  begin_model(b, name, g, made, &t);
  if (!made) return end_plan_row(b, &t, d);
  SW_TRY(sw_plan_breakdown(&plan, arena, &breakdown, d));
  SW_TRY(sw_report_build(&plan, &breakdown, NULL, arena, &report, d));
  if (b->o->json) {
    put_search_figures(&plan, &breakdown, b->o->json);
    put_baselines(&report, b->o->json);
  } else {
    sw_bench_cell_seconds(&t, plan.time_s);
    sw_bench_cell_seconds(&t, breakdown.total_s);
    sw_text_printf(&t, "%6.2f %% ", 100 * sw_plan_gap(&plan));
    print_baselines(&report, &t);
    sw_text_puts(&t, "  ");
    sw_compiled_print(&plan.job, &t);
  }
  for (int i = 0; i < report.n_comparisons; i++)
    b->worse +=
        is_answer(&report, &report.comparisons[i]) && report.comparisons[i].breakdown.total_s < breakdown.total_s;
  return end_plan_row(b, &t, d);
}

/* Rows of the first table: a name, the architecture, and one parameter that is not the default. */
static const struct {
  const char *name, *arch;
  sw_gen_arg arg;
} kModels[] = {
    {"rfc-mlp", "rfc-mlp", {"variant", "plain"}}, /* the other variants pin a mesh of their own */
    {"mlp-train", "mlp-train", {NULL, NULL}},
    {"gpt2-small", "gpt2", {NULL, NULL}},
    {"gpt2-small-train", "gpt2", {"mode", "train"}},
    {"llama3-8b", "llama3-8b", {NULL, NULL}},
    {"llama3-8b-decode", "llama3-8b", {"mode", "decode"}},
    {"mixtral-8x7b", "mixtral-8x7b", {NULL, NULL}},
    {"vit-l16", "vit-l16", {NULL, NULL}},
    {"resnet50", "resnet50", {NULL, NULL}},
};

/* Rows of a table, or of an array. */
static sw_rc begin_rows(const bench *b, sw_text *head, sw_diag *d) {
  if (!b->o->json) return sw_bench_emit(b->line, head, d);
  sw_text_free(head);
  sw_jw_array(b->o->json, "models");
  return SW_OK;
}

static void end_rows(const bench *b) {
  if (b->o->json) sw_jw_end(b->o->json);
}

static sw_rc models_table(bench *b, sw_diag *d) {
  sw_text head = {0};
  sw_text_printf(&head, "%-20s %6s %-11s%-11s%8s ", "model", "ops", "planned in", "predicted", "gap");
  for (int i = 0; i < SW_BASELINE_COUNT; i++) sw_text_printf(&head, "%12s  ", sw_baseline_text((sw_baseline)i));
  SW_TRY(begin_rows(b, &head, d));
  for (size_t i = 0; i < sizeof kModels / sizeof kModels[0]; i++) {
    if (b->o->only && !strstr(kModels[i].name, b->o->only)) continue;
    sw_graph *g;
    sw_arena arena = {0};
    SW_TRY(sw_gen_model(kModels[i].arch, &kModels[i].arg, kModels[i].arg.name != NULL, &g, d));
    sw_rc rc = model_row(b, kModels[i].name, g, &arena, d);
    sw_arena_deinit(&arena);
    sw_graph_destroy(g);
    if (rc) return rc;
  }
  end_rows(b);
  return SW_OK;
}

/* What GLPK alone makes of the same: stopped when it leaves a gap that is more than the rounding of its doubles. */
static sw_rc glpk_cells(bench *b, sw_text *t, sw_diag *d) {
  sw_json_out *o = b->o->json;
  sw_arena arena = {0};
  sw_plan plan;
  bool made = false;
  if (b->glpk_stopped) return SW_OK;
  sw_rc rc = search_bench_plan(b, SW_SOLVER_GLPK, &arena, &plan, &made, d);
  if (!rc && made && o) {
    sw_jw_f64(o, "glpk_planned_s", plan.time_s);
    sw_jw_f64(o, "glpk_gap", sw_plan_gap(&plan));
  } else if (!rc && made) {
    sw_text_puts(t, "  ");
    sw_bench_cell_seconds(t, plan.time_s);
    sw_text_printf(t, "%6.2f %%", 100 * sw_plan_gap(&plan));
  } else if (!rc && !o) {
    sw_text_puts(t, "  no plan");
  }
  if (!rc && (!made || 100 * sw_plan_gap(&plan) > SETTLED_PERCENT)) {
    if (!o) sw_text_puts(t, "  GLPK stops here");
    b->glpk_stopped = true;
  }
  sw_arena_deinit(&arena);
  return rc;
}

static sw_rc layers_cells(bench *b, const sw_graph *g, sw_arena *arena, sw_text *t, sw_diag *d) {
  sw_json_out *o = b->o->json;
  sw_plan plan;
  sw_breakdown breakdown;
  bool made;
  SW_TRY(compile(b, g, arena, d));
  SW_TRY(search_bench_plan(b, SW_SOLVER_AUTO, arena, &plan, &made, d));
  if (o) sw_jw_bool(o, "made", made);
  if (!made) {
    if (!o) sw_text_puts(t, " no plan was found");
    return SW_OK;
  }
  SW_TRY(sw_plan_breakdown(&plan, arena, &breakdown, d));
  if (o) {
    sw_jw_i64(o, "nodes", plan.n_nodes);
    sw_jw_i64(o, "edges", plan.n_edges);
    put_search_figures(&plan, &breakdown, o);
  } else {
    sw_text_printf(t, " %8d %8d  ", plan.n_nodes, plan.n_edges);
    sw_bench_cell_seconds(t, plan.time_s);
    sw_bench_cell_seconds(t, breakdown.total_s);
    sw_text_printf(t, "%6.2f %%  %-8s", 100 * sw_plan_gap(&plan), sw_solve_status_text(plan.status));
  }
  return glpk_cells(b, t, d);
}

static sw_rc layers_row(bench *b, const char *mode, int64_t layers, sw_diag *d) {
  char text[24];
  snprintf(text, sizeof text, "%lld", (long long)layers);
  sw_gen_arg args[] = {{"layers", text}, {"mode", mode}};
  sw_graph *g;
  sw_arena arena = {0};
  sw_text t = {0};
  SW_TRY(sw_gen_model("gpt2", args, 2, &g, d));
  if (b->o->json) {
    sw_jw_object(b->o->json, NULL);
    sw_jw_string(b->o->json, "mode", mode);
    sw_jw_i64(b->o->json, "layers", layers);
    sw_jw_i64(b->o->json, "ops", g->n_ops);
  } else {
    sw_text_printf(&t, "%6lld %8d", (long long)layers, g->n_ops);
  }
  sw_rc rc = layers_cells(b, g, &arena, &t, d);
  if (!rc) rc = end_plan_row(b, &t, d);
  sw_text_free(&t);
  sw_arena_deinit(&arena);
  sw_graph_destroy(g);
  return rc;
}

static sw_rc layers_table(bench *b, const char *mode, sw_diag *d) {
  sw_text head = {0};
  sw_text_printf(&head, "\ngpt2 (%s) by layers\n%6s %8s %8s %8s  %-11s%-11s%8s  %-8s  %-11s%8s", mode, "layers", "ops",
                 "nodes", "edges", "planned in", "predicted", "gap", "status", "by GLPK", "gap");
  if (b->o->json)
    sw_text_free(&head);
  else
    SW_TRY(sw_bench_emit(b->line, &head, d));
  b->glpk_stopped = false;
  for (int64_t n = 1; n <= b->o->most_layers; n *= 2) SW_TRY(layers_row(b, mode, n, d));
  return SW_OK;
}

sw_rc sw_bench_plan(const sw_bench_plan_options *o, sw_bench_line line, int *worse, sw_diag *d) {
  bench b = {.o = o, .line = line};
  sw_rc rc = models_table(&b, d);
  static const char *const kModes[] = {"forward", "train"};
  if (!rc && o->json) sw_jw_array(o->json, "by_layers");
  for (size_t i = 0; !rc && o->most_layers > 0 && i < sizeof kModes / sizeof kModes[0]; i++)
    rc = layers_table(&b, kModes[i], d);
  if (!rc) end_rows(&b);
  *worse = b.worse;
  return rc;
}
