/* shardwright bench plan. Models are generated, so that any size can be asked for. */
#include "shardwright/bench_plan.h"

#include <string.h>

#include "shardwright/gen.h"
#include "shardwright/report.h"

typedef struct bench {
  const sw_bench_plan_options *o;
  sw_bench_line line;
  void *user;
  sw_machine *machine;
  int worse;
} bench;

static sw_rc emit(const bench *b, sw_text *t, sw_diag *d) {
  sw_rc rc = t->rc ? SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory") : b->line(b->user, sw_text_str(t), d);
  sw_text_free(t);
  return rc;
}

static void cell_seconds(sw_text *t, double seconds) {
  size_t start = t->n;
  sw_text_seconds(t, seconds);
  sw_text_pad(t, start, 11);
}

static sw_rc search(const bench *b, const sw_graph *g, sw_arena *arena, sw_plan *plan, sw_account *account,
                    sw_diag *d) {
  sw_plan_options o = {.solve = {.time_limit_s = b->o->time_limit_s, .threads = 1, .cancel = b->o->cancel}};
  SW_TRY(sw_plan_search(g, b->machine, &o, arena, plan, d));
  return sw_plan_account(plan, arena, account, d);
}

static double gap_of(const sw_plan *p) {
  return p->cost_units > 0 ? 100.0 * (double)(p->cost_units - p->bound_units) / (double)p->cost_units : 0;
}

/* One line: name, ops, plan time, cost, gap, and each baseline as a multiple of the cost. */
static sw_rc model_row(bench *b, const char *name, const sw_graph *g, sw_arena *arena, sw_diag *d) {
  sw_plan plan;
  sw_account account;
  sw_report report;
  SW_TRY(search(b, g, arena, &plan, &account, d));
  SW_TRY(sw_report_build(&plan, &account, arena, &report, d));
  sw_text t = {0};
  sw_text_printf(&t, "%-20s %6d ", name, sw_graph_main_block(g)->n_ops);
  cell_seconds(&t, plan.time_s);
  cell_seconds(&t, account.total_s);
  sw_text_printf(&t, "%6.2f %% ", gap_of(&plan));
  for (int i = 0; i < report.n_comparisons; i++) {
    const sw_comparison *c = &report.comparisons[i];
    if (!c->made) {
      sw_text_printf(&t, "%14s", "-");
      continue;
    }
    sw_text_printf(&t, "%12.2f%s", c->account.total_s / account.total_s, c->fits ? "  " : " *");
    b->worse += c->fits && c->account.total_s < account.total_s;
  }
  return emit(b, &t, d);
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
  SW_TRY(emit(b, &head, d));
  for (size_t i = 0; i < sizeof kModels / sizeof kModels[0]; i++) {
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

static sw_rc layers_row(bench *b, int64_t layers, sw_diag *d) {
  char text[24];
  snprintf(text, sizeof text, "%lld", (long long)layers);
  sw_gen_arg arg = {"layers", text};
  sw_graph *g;
  sw_arena arena = {0};
  sw_plan plan;
  sw_account account;
  SW_TRY(sw_gen_model("gpt2", &arg, 1, &g, d));
  sw_rc rc = search(b, g, &arena, &plan, &account, d);
  if (!rc) {
    sw_text t = {0};
    sw_text_printf(&t, "%6lld %8d %8d %8d  ", (long long)layers, sw_graph_main_block(g)->n_ops, plan.n_nodes,
                   plan.n_edges);
    cell_seconds(&t, plan.time_s);
    cell_seconds(&t, account.total_s);
    sw_text_printf(&t, "%6.2f %%  %s", gap_of(&plan), sw_solve_status_text(plan.status));
    rc = emit(b, &t, d);
  }
  sw_arena_deinit(&arena);
  sw_graph_destroy(g);
  return rc;
}

static sw_rc layers_table(bench *b, sw_diag *d) {
  sw_text head = {0};
  sw_text_printf(&head, "\n%6s %8s %8s %8s  %-11s%-11s%8s", "layers", "ops", "nodes", "edges", "planned in",
                 "predicted", "gap");
  SW_TRY(emit(b, &head, d));
  for (int64_t n = 1; n <= b->o->most_layers; n *= 2) SW_TRY(layers_row(b, n, d));
  return SW_OK;
}

sw_rc sw_bench_plan(const sw_bench_plan_options *o, sw_bench_line line, void *user, int *worse, sw_diag *d) {
  bench b = {.o = o, .line = line, .user = user};
  sw_arena arena = {0};
  sw_rc rc = sw_machine_build(&arena, o->profile, o->mesh, &b.machine, d);
  if (!rc) rc = models_table(&b, d);
  if (!rc) rc = layers_table(&b, d);
  sw_arena_deinit(&arena);
  *worse = b.worse;
  return rc;
}
