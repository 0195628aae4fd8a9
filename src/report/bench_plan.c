/* shardwright bench plan. Models are generated, so that any size can be asked for. */
#include "report/bench_plan.h"

#include <string.h>

#include "report/bench_row.h"
#include "io/gen.h"
#include "shardwright/report.h"

static const double SETTLED_PERCENT = 0.005;

typedef struct bench {
  const sw_bench_plan_options *o;
  sw_bench_line line;
  void *user;
  sw_machine *machine;
  int worse;
  bool glpk_stopped; /* in the table by layers: it gave up on fewer */
} bench;

/* A search; *made is false when it found no plan that fits. */
static sw_rc search(const bench *b, const sw_graph *g, sw_solver solver, sw_arena *arena, sw_plan *plan, bool *made,
                    sw_diag *d) {
  sw_plan_options o = {
      .solve = {.solver = solver, .time_limit_s = b->o->time_limit_s, .threads = 1, .cancel = b->o->cancel}};
  sw_diag why = {0};
  sw_rc rc = sw_plan_search(g, b->machine, &o, arena, plan, &why);
  *made = rc == SW_OK;
  if (sw_cancelled(b->o->cancel)) return SW_FAIL(d, SW_E_CANCELLED, SW_NOWHERE, "interrupted");
  if (rc == SW_E_INFEASIBLE || rc == SW_E_RESOURCE) return SW_OK;
  if (rc && d) *d = why;
  return rc;
}

/* One line: name, ops, plan time, cost, gap, and each baseline as a multiple of the cost. */
static sw_rc model_row(bench *b, const char *name, const sw_graph *g, sw_arena *arena, sw_diag *d) {
  sw_plan plan;
  sw_breakdown breakdown;
  sw_report report;
  bool made;
  sw_text t = {0};
  SW_TRY(search(b, g, SW_SOLVER_AUTO, arena, &plan, &made, d));
  sw_text_printf(&t, "%-20s %6d ", name, g->n_ops);
  if (!made) {
    sw_text_puts(&t, "no plan was found");
    return sw_bench_emit(b->line, b->user, &t, d);
  }
  SW_TRY(sw_plan_breakdown(&plan, arena, &breakdown, d));
  SW_TRY(sw_report_build(&plan, &breakdown, NULL, arena, &report, d));
  sw_bench_cell_seconds(&t, plan.time_s);
  sw_bench_cell_seconds(&t, breakdown.total_s);
  sw_text_printf(&t, "%6.2f %% ", 100 * sw_plan_gap(&plan));
  for (int i = 0; i < report.n_comparisons; i++) {
    const sw_comparison *c = &report.comparisons[i];
    if (!c->made) {
      sw_text_printf(&t, "%14s", "-");
      continue;
    }
    const bool fits = sw_comparison_fits(&report, c) && !c->breaks;
    sw_text_printf(&t, "%12.2f%s", c->breakdown.total_s / breakdown.total_s, fits ? "  " : " *");
    b->worse += fits && c->breakdown.total_s < breakdown.total_s;
  }
  return sw_bench_emit(b->line, b->user, &t, d);
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

static sw_rc models_table(bench *b, sw_diag *d) {
  sw_text head = {0};
  sw_text_printf(&head, "%-20s %6s %-11s%-11s%8s ", "model", "ops", "planned in", "predicted", "gap");
  for (int i = 0; i < SW_BASELINE_COUNT; i++) sw_text_printf(&head, "%12s  ", sw_baseline_text((sw_baseline)i));
  SW_TRY(sw_bench_emit(b->line, b->user, &head, d));
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
  return SW_OK;
}

/* What GLPK alone makes of the same: stopped when it leaves a gap that is more than the rounding of its doubles. */
static sw_rc glpk_cells(bench *b, const sw_graph *g, sw_text *t, sw_diag *d) {
  sw_arena arena = {0};
  sw_plan plan;
  bool made = false;
  sw_rc rc = b->glpk_stopped ? SW_OK : search(b, g, SW_SOLVER_GLPK, &arena, &plan, &made, d);
  if (!rc && made) {
    sw_text_puts(t, "  ");
    sw_bench_cell_seconds(t, plan.time_s);
    sw_text_printf(t, "%6.2f %%", 100 * sw_plan_gap(&plan));
  } else if (!rc) {
    sw_text_puts(t, b->glpk_stopped ? "" : "  no plan");
  }
  if (!rc && !b->glpk_stopped && (!made || 100 * sw_plan_gap(&plan) > SETTLED_PERCENT)) {
    sw_text_puts(t, "  GLPK stops here");
    b->glpk_stopped = true;
  }
  sw_arena_deinit(&arena);
  return rc;
}

static sw_rc layers_cells(bench *b, const sw_graph *g, sw_arena *arena, sw_text *t, sw_diag *d) {
  sw_plan plan;
  sw_breakdown breakdown;
  bool made;
  SW_TRY(search(b, g, SW_SOLVER_AUTO, arena, &plan, &made, d));
  if (!made) {
    sw_text_puts(t, " no plan was found");
    return SW_OK;
  }
  SW_TRY(sw_plan_breakdown(&plan, arena, &breakdown, d));
  sw_text_printf(t, " %8d %8d  ", plan.n_nodes, plan.n_edges);
  sw_bench_cell_seconds(t, plan.time_s);
  sw_bench_cell_seconds(t, breakdown.total_s);
  sw_text_printf(t, "%6.2f %%  %-8s", 100 * sw_plan_gap(&plan), sw_solve_status_text(plan.status));
  return glpk_cells(b, g, t, d);
}

static sw_rc layers_row(bench *b, const char *mode, int64_t layers, sw_diag *d) {
  char text[24];
  snprintf(text, sizeof text, "%lld", (long long)layers);
  sw_gen_arg args[] = {{"layers", text}, {"mode", mode}};
  sw_graph *g;
  sw_arena arena = {0};
  sw_text t = {0};
  SW_TRY(sw_gen_model("gpt2", args, 2, &g, d));
  sw_text_printf(&t, "%6lld %8d", (long long)layers, g->n_ops);
  sw_rc rc = layers_cells(b, g, &arena, &t, d);
  if (!rc) rc = sw_bench_emit(b->line, b->user, &t, d);
  sw_text_free(&t);
  sw_arena_deinit(&arena);
  sw_graph_destroy(g);
  return rc;
}

static sw_rc layers_table(bench *b, const char *mode, sw_diag *d) {
  sw_text head = {0};
  sw_text_printf(&head, "\ngpt2 (%s) by layers\n%6s %8s %8s %8s  %-11s%-11s%8s  %-8s  %-11s%8s", mode, "layers", "ops",
                 "nodes", "edges", "planned in", "predicted", "gap", "status", "by GLPK", "gap");
  SW_TRY(sw_bench_emit(b->line, b->user, &head, d));
  b->glpk_stopped = false;
  for (int64_t n = 1; n <= b->o->most_layers; n *= 2) SW_TRY(layers_row(b, mode, n, d));
  return SW_OK;
}

sw_rc sw_bench_plan(const sw_bench_plan_options *o, sw_bench_line line, void *user, int *worse, sw_diag *d) {
  bench b = {.o = o, .line = line, .user = user};
  sw_arena arena = {0};
  sw_rc rc = sw_machine_build(&arena, o->profile, o->mesh, &b.machine, d);
  if (!rc) rc = models_table(&b, d);
  static const char *const kModes[] = {"forward", "train"};
  for (size_t i = 0; !rc && o->most_layers > 0 && i < sizeof kModes / sizeof kModes[0]; i++)
    rc = layers_table(&b, kModes[i], d);
  sw_arena_deinit(&arena);
  *worse = b.worse;
  return rc;
}
