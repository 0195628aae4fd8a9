/* Plans: known optima come out of the search, what is priced is what runs, and no plan is beaten by a plan that anyone
 * would write by hand. */
#include "check.h"
#include "support/meshes.h"

#include <math.h>

#include "base/file.h"
#include "gen/gen.h"
#include "shardwright/model_json.h"
#include "shardwright/plan_json.h"
#include "shardwright/spmd.h"
#include "support/job.h"

typedef struct planned {
  sw_arena arena;
  sw_graph *graph;
  sw_machine *machine;
  sw_plan plan;
  sw_breakdown breakdown;
} planned;

static void open_model(planned *p, const char *model, const char *profile, const char *mesh) {
  char path[512];
  memset(p, 0, sizeof *p);
  snprintf(path, sizeof path, "%s/models/%s.json", SW_SOURCE_DIR, model);
  assert_ok(sw_model_read(path, &p->graph, &diag));
  p->machine = machine_of(profile, mesh, &p->arena);
}

static void close_model(planned *p) {
  sw_graph_destroy(p->graph);
  sw_arena_deinit(&p->arena);
}

static sw_plan_options options(bool cut_heavy) {
  return (sw_plan_options){.solve = {.time_limit_s = 60, .threads = 1}, .selection = {.cut_heavy_ops = cut_heavy}};
}

static void search(planned *p, bool cut_heavy) {
  sw_plan_options o = options(cut_heavy);
  assert_ok(sw_plan_search(JOB(p->graph, p->machine), &o, &p->arena, &p->plan, &diag));
  assert_ok(sw_plan_verify(&p->plan, &diag));
  assert_ok(sw_plan_breakdown(&p->plan, &p->arena, &p->breakdown, &diag));
}

/* Alpa's own tests (tests/shard_parallel at b8078a9f75): collectives of the known optimum, unit prices, 4 devices. */
static const struct {
  const char *model;
  int64_t all_reduces, all_to_alls;
} kAlpa[] = {
    {"alpa-mlp-data", 13, 0},   /* gradients of 6 weights and 6 biases, and the loss: data parallel */
    {"alpa-mlp-tensor", 5, 0},  /* layers - 1: columns and rows in turn */
    {"alpa-bert-tensor", 7, 0}, /* 4 * layers - 1: Megatron */
    {"alpa-moe", 8, 4},         /* experts over devices: 4 all-to-alls */
};

static void known_optima_come_out(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kAlpa / sizeof kAlpa[0]; i++) {
    planned p;
    open_model(&p, kAlpa[i].model, "unit-alpa", "x=4");
    search(&p, true);
    print_message("%s: %.6g s\n", kAlpa[i].model, p.breakdown.total_s);
    assert_int_equal(p.plan.status, SW_SOLVE_OPTIMAL);
    assert_int_equal(p.breakdown.by_collective[SW_COLL_ALL_REDUCE].calls, kAlpa[i].all_reduces);
    assert_int_equal(p.breakdown.by_collective[SW_COLL_ALL_TO_ALL].calls, kAlpa[i].all_to_alls);
    assert_int_equal(p.breakdown.by_collective[SW_COLL_ALL_GATHER].calls, 0);
    close_model(&p);
  }
}

/* The weights of the tensor-parallel MLP: every second one by rows, the others by columns. */
static void weights_alternate_columns_and_rows(void **state) {
  (void)state;
  planned p;
  int columns = 0, rows = 0, last = -1;
  open_model(&p, "alpa-mlp-tensor", "unit-alpa", "x=4");
  search(&p, true);
  const sw_graph *g = p.graph;
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    if (v->type.rank != 2 || v->kind == SW_VALUE_INPUT) continue;
    const sw_sharding *s = &p.plan.args[i];
    assert_int_equal(s->n_refs, 1);
    assert_true(s->dim_of[0] != last);
    last = s->dim_of[0];
    *(last == 0 ? &rows : &columns) += 1;
  }
  assert_int_equal(columns, 3);
  assert_int_equal(rows, 3);
  close_model(&p);
}

static const char *const kModels[] = {"small/mlp", "small/gpt2", "small/llama3", "small/mlp-train",
                                      "small/vit", "mlp-train",  "gpt2-small",   "resnet50"};

static void assert_no_baseline_beats(planned *p, const char *name) {
  for (int b = 0; b < SW_BASELINE_COUNT; b++) {
    sw_plan base;
    sw_breakdown a;
    assert_ok(sw_baseline_build(JOB(p->graph, p->machine), (sw_baseline)b, &p->arena, &base, &diag));
    assert_ok(sw_plan_breakdown(&base, &p->arena, &a, &diag));
    if (p->breakdown.total_s > a.total_s * (1 + 1e-9)) {
      fail_msg("%s: %g s, but %s takes %g s", name, p->breakdown.total_s, sw_baseline_text((sw_baseline)b), a.total_s);
    }
  }
}

static void no_baseline_beats_the_search(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kModels / sizeof kModels[0]; i++) {
    planned p;
    open_model(&p, kModels[i], "dgx-h100", "x=8");
    search(&p, false);
    assert_true(p.plan.bound_units <= p.plan.cost_units);
    assert_no_baseline_beats(&p, kModels[i]);
    close_model(&p);
  }
}

/* A small mpt's training step over 8 devices by rule; its own number of parameters in *n. */
static void plan_by_rule(sw_baseline rule, const char *dtype, const char *convert, const char *state,
                         const char *matmul, sw_arena *arena, sw_breakdown *out, int64_t *n) {
  const sw_gen_arg args[] = {{"layers", "2"},        {"hidden", "128"}, {"heads", "8"},          {"vocab", "512"},
                             {"seq", "16"},          {"batch", "8"},    {"mode", NULL},          {"convert", convert},
                             {"state-dtype", state}, {"dtype", dtype},  {"matmul-dtype", matmul}};
  enum { N_ARGS = sizeof args / sizeof *args };
  sw_gen_arg own[N_ARGS];
  sw_graph *g;
  sw_plan plan;
  memcpy(own, args, sizeof args);
  own[6].value = "forward";
  assert_ok(sw_gen_model("mpt", own, N_ARGS, &g, &diag));
  *n = 0;
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    if (v->kind == SW_VALUE_PARAMETER) *n += sw_type_elements(&v->type);
  }
  sw_graph_destroy(g);
  own[6].value = "train";
  assert_ok(sw_gen_model("mpt", own, N_ARGS, &g, &diag));
  assert_ok(sw_baseline_build(JOB(g, machine_of("dgx-h100", "x=8", arena)), rule, arena, &plan, &diag));
  assert_ok(sw_plan_verify(&plan, &diag));
  assert_ok(sw_plan_breakdown(&plan, arena, out, &diag));
  sw_graph_destroy(g);
}

/* ZeRO (Rajbhandari et al. 2019, figure 1, K = 12): f32 parameters and both moments, cut over all devices; what ops use
 * is gathered in two bytes, and once more for the backward part where forward's is not kept. */
static void zero_holds_what_it_says(void **state) {
  (void)state;
  sw_arena arena = {0};
  sw_breakdown once, again, narrow;
  int64_t n;
  const int64_t devices = 8, step = 4;
  plan_by_rule(SW_BASELINE_FSDP, "bf16", "once", "f32", "same", &arena, &once, &n);
  plan_by_rule(SW_BASELINE_FSDP, "bf16", "again", "f32", "same", &arena, &again, &n);
  plan_by_rule(SW_BASELINE_FSDP, "bf16", "again", "bf16", "same", &arena, &narrow, &n);
  assert_int_equal(once.param_bytes, 12 * n / devices + step);
  assert_int_equal(again.param_bytes, 12 * n / devices + step);
  assert_int_equal(narrow.param_bytes, 8 * n / devices + step);
  double gathered = once.by_collective[SW_COLL_ALL_GATHER].bytes, twice = again.by_collective[SW_COLL_ALL_GATHER].bytes;
  double whole = 2.0 * (double)n * (double)(devices - 1) / (double)devices;
  assert_true(gathered >= whole && gathered < 1.02 * whole);
  assert_true(twice > 1.5 * whole && twice < 2.02 * whole); /* the table of positions is not used again */
  assert_true(again.peak_bytes < once.peak_bytes);
  sw_arena_deinit(&arena);
}

/* Weights of linear layers are made narrow in parts and gathered in one byte, in both directions. */
static void narrow_weights_are_gathered_narrow(void **state) {
  (void)state;
  sw_arena arena = {0};
  sw_breakdown wide, narrow;
  int64_t n;
  const double layers = 2 * 12 * 128 * 128, others = 7.0 / 8, scalars = 2e4;
  plan_by_rule(SW_BASELINE_FSDP, "bf16", "again", "f32", "same", &arena, &wide, &n);
  plan_by_rule(SW_BASELINE_FSDP, "bf16", "again", "f32", "f8", &arena, &narrow, &n);
  assert_int_equal(wide.param_bytes, narrow.param_bytes);
  const double saved = wide.by_collective[SW_COLL_ALL_GATHER].bytes - narrow.by_collective[SW_COLL_ALL_GATHER].bytes;
  if (fabs(saved - 2 * layers * others) > scalars) fail_msg("%g bytes fewer, not %g", saved, 2 * layers * others);
  sw_arena_deinit(&arena);
}

/* By Megatron's rule a weight is cut as the product takes it, converted and scaled or not. */
static void megatron_cuts_what_is_converted(void **state) {
  (void)state;
  static const char *const kHow[][2] = {{"same", "same"}, {"f32", "same"}, {"same", "f8"}, {"f32", "f8-mixed"}};
  for (size_t i = 0; i < sizeof kHow / sizeof *kHow; i++) {
    const sw_gen_arg args[] = {{"mode", "train"},
                               {"layers", "1"},
                               {"hidden", "64"},
                               {"heads", "8"},
                               {"vocab", "64"},
                               {"seq", "8"},
                               {"batch", "8"},
                               {"param-dtype", kHow[i][0]},
                               {"matmul-dtype", kHow[i][1]}};
    sw_arena arena = {0};
    sw_graph *g;
    sw_plan plan;
    int cut = 0;
    assert_ok(sw_gen_model("mpt", args, sizeof args / sizeof *args, &g, &diag));
    const sw_machine *machine = machine_of("dgx-h100", "x=2,y=4", &arena);
    assert_ok(sw_baseline_build(JOB(g, machine), SW_BASELINE_MEGATRON, &arena, &plan, &diag));
    assert_ok(sw_plan_verify(&plan, &diag));
    for (int32_t a = 0; a < g->n_args; a++) {
      const char *name = g->values[g->args[a]].name;
      const bool last = strstr(name, ".wo") || strstr(name, "w_out"); /* by rows or columns, as its input is cut */
      if (strncmp(name, "h.0.", 4) != 0 || !strstr(name, ".w") || strstr(name, ".weight")) continue;
      if (strchr(name + 4, '.') != strrchr(name, '.')) continue; /* what Adam keeps of it */
      assert_int_equal(plan.args[a].n_refs, 1);
      if (!last) assert_int_equal(plan.args[a].dim_of[0], 1);
      assert_int_equal(plan.args[a].refs[0].size, 4);
      cut++;
    }
    assert_int_equal(cut, 6);
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
}

static void assert_near(double got, double want, double off) {
  if (got < want || got > (1 + off) * want) fail_msg("%g, not %g", got, want);
}

/* The first stage of ZeRO: parameters whole, what only updates read cut over all devices. Gradients are reduced into
 * parts, in the type that they are made in, and what ops use next is gathered, in that type. */
static void the_first_stage_of_zero_holds_what_it_says(void **state) {
  (void)state;
  sw_arena arena = {0};
  sw_breakdown masters, single, whole;
  int64_t n;
  const int64_t devices = 8, step = 4;
  plan_by_rule(SW_BASELINE_ZERO1, "bf16", "once", "f32", "same", &arena, &masters, &n);
  plan_by_rule(SW_BASELINE_ZERO1, "f32", "once", "f32", "same", &arena, &single, &n);
  plan_by_rule(SW_BASELINE_DATA_PARALLEL, "f32", "once", "f32", "same", &arena, &whole, &n);
  assert_int_equal(whole.param_bytes, 12 * n + step);
  assert_int_equal(masters.param_bytes, 12 * n / devices + step);
  assert_int_equal(single.param_bytes, 4 * n + 8 * n / devices + step);
  const double sent = (double)n * (double)(devices - 1) / (double)devices;
  assert_near(masters.by_collective[SW_COLL_ALL_GATHER].bytes, 2 * sent, 0.02);
  assert_near(single.by_collective[SW_COLL_ALL_GATHER].bytes, 4 * sent, 0.02);
  const double table = 512.0 * 128 * sent / (double)n; /* of tokens, whose gradient is reduced in two parts */
  assert_near(single.by_collective[SW_COLL_REDUCE_SCATTER].bytes, 4 * (sent + table), 0.02);
  assert_true(single.peak_bytes < whole.peak_bytes);
  sw_arena_deinit(&arena);
}

static void stop(void *user, const sw_solve_progress *progress) {
  (void)progress;
  sw_cancel_set(user);
}

/* Time is up as soon as the search has any solution. */
static void search_shortly(planned *p, bool cut_heavy) {
  sw_cancel cancel = {0};
  sw_plan_options o = options(cut_heavy);
  o.solve.cancel = &cancel;
  o.solve.user = &cancel;
  o.solve.on_progress = stop;
  assert_ok(sw_plan_search(JOB(p->graph, p->machine), &o, &p->arena, &p->plan, &diag));
  assert_true(p->plan.n_nodes > 0);
  assert_true(p->plan.bound_units <= p->plan.cost_units);
  assert_ok(sw_plan_verify(&p->plan, &diag));
  assert_ok(sw_plan_breakdown(&p->plan, &p->arena, &p->breakdown, &diag));
}

/* What the search has then may be worse than what anyone would write; which may not be what was asked for. */
static void nor_one_that_is_short_of_time(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kModels / sizeof kModels[0]; i++) {
    planned p;
    open_model(&p, kModels[i], "dgx-h100", "x=2,y=4");
    search_shortly(&p, false);
    assert_no_baseline_beats(&p, kModels[i]);
    search_shortly(&p, true);
    assert_string_equal(p.plan.origin, "search");
    close_model(&p);
  }
}

/* c(n) = c(n-1) + c(n-1) from a constant: as many ways to make it as steps doubled, of which few may be tried. */
static void constants_of_many_steps_are_no_search(void **state) {
  (void)state;
  sw_text text = {0};
  planned p;
  sw_plan base;
  open_model(&p, "small/mlp", "dgx-h100", "x=8");
  sw_graph_destroy(p.graph);
  sw_text_puts(&text,
               "{\"format\":\"shardwright-model\",\"version\":1,\"name\":\"steps\",\"values\":["
               "{\"name\":\"x\",\"kind\":\"input\",\"dtype\":\"f32\",\"shape\":[64]},"
               "{\"name\":\"c0\",\"kind\":\"constant\",\"dtype\":\"f32\",\"shape\":[64],\"value\":1}],\"ops\":[");
  for (int i = 0; i < 100; i++) {
    sw_text_printf(&text, "{\"op\":\"add\",\"inputs\":[\"c%d\",\"c%d\"],\"outputs\":[\"c%d\"]},", i, i, i + 1);
  }
  sw_text_puts(&text, "{\"op\":\"add\",\"inputs\":[\"x\",\"c100\"],\"outputs\":[\"y\"]}],\"outputs\":[\"y\"]}");
  assert_ok(sw_model_parse("steps.json", text.at, text.n, &p.graph, &diag));
  assert_ok(sw_baseline_build(JOB(p.graph, p.machine), SW_BASELINE_DATA_PARALLEL, &p.arena, &base, &diag));
  assert_ok(sw_plan_verify(&base, &diag));
  sw_text_free(&text);
  close_model(&p);
}

/* What ops exchange, and routes, is what is summed up by collective. */
static void assert_bytes_add_up(const planned *p) {
  const sw_breakdown *a = &p->breakdown;
  double sum = 0, by_item = 0;
  for (int c = 0; c < SW_COLL_COUNT; c++) sum += a->by_collective[c].bytes;
  for (sw_id i = 0; i < p->graph->n_ops; i++) by_item += a->moves[i].bytes * (double)p->graph->ops[i].repeats;
  for (int32_t i = 0; i < a->n_reshards; i++)
    by_item += a->reshards[i].route->max_bytes * (double)sw_value_repeats(p->graph, a->reshards[i].value);
  assert_near(by_item, sum, 1e-9);
}

/* The breakdown adds up, and the program that is emitted communicates as often and as long as was priced. */
static void what_is_priced_is_what_runs(void **state) {
  (void)state;
  static const char *const kPriced[] = {"small/gpt2", "small/llama3-decode", "small/resnet", "small/mlp-train",
                                        "small/mixtral"};
  for (size_t i = 0; i < sizeof kPriced / sizeof kPriced[0]; i++) {
    for (int b = 0; b < SW_BASELINE_COUNT; b++) {
      planned p;
      sw_spmd spmd;
      sw_spmd_cost cost;
      open_model(&p, kPriced[i], "dgx-h100", "x=2,y=2");
      assert_ok(sw_baseline_build(JOB(p.graph, p.machine), (sw_baseline)b, &p.arena, &p.plan, &diag));
      assert_ok(sw_plan_breakdown(&p.plan, &p.arena, &p.breakdown, &diag));
      assert_ok(sw_partition(&p.plan, &spmd, &diag));
      assert_ok(sw_spmd_price(&spmd, p.machine, &cost, &diag));
      assert_bytes_add_up(&p);
      double comm = p.breakdown.move_s + p.breakdown.reshard_s;
      if (fabs(comm - cost.comm_s) > 2e-8 + 1e-6 * comm) { /* as above: copies of constants */
        fail_msg("%s, %s: communication priced at %g s, the program's is %g s", kPriced[i],
                 sw_baseline_text((sw_baseline)b), comm, cost.comm_s);
      }
      for (int c = 0; c < SW_COLL_COUNT; c++) {
        if (c == SW_COLL_ALL_SLICE) continue; /* a dense constant is cut without being a reshard */
        assert_int_equal(p.breakdown.by_collective[c].calls, cost.calls[c]);
      }
      sw_spmd_deinit(&spmd);
      close_model(&p);
    }
  }
}

static void memory_is_a_limit_or_a_reason(void **state) {
  (void)state;
  diag = (sw_diag){0};
  planned p;
  open_model(&p, "mlp-train", "dgx-h100", "x=8");
  search(&p, false);
  int64_t free_peak = p.breakdown.peak_bytes;
  sw_plan_options o = options(false);
  o.selection.capacity_bytes = free_peak * 9 / 10;
  o.solve.work_limit = 1000000000;
  sw_rc rc = sw_plan_search(JOB(p.graph, p.machine), &o, &p.arena, &p.plan, &diag);
  if (rc == SW_OK) {
    assert_ok(sw_plan_breakdown(&p.plan, &p.arena, &p.breakdown, &diag));
    assert_true(p.breakdown.peak_bytes <= o.selection.capacity_bytes);
  }
  o.selection.capacity_bytes = 1 << 20;
  assert_int_equal(sw_plan_search(JOB(p.graph, p.machine), &o, &p.arena, &p.plan, &diag), SW_E_INFEASIBLE);
  assert_non_null(strstr(diag.text, "no plan fits"));
  close_model(&p);
}

/* A plan that was written and read again as a start is what the search begins with: with no work to spend it is also
 * what comes out. A start for more layers than the model has gives what the model has. */
static void a_start_is_taken_up(void **state) {
  (void)state;
  sw_text text = {0};
  planned p, other;
  sw_plan start, again;
  sw_plan_transfer taken;
  open_model(&p, "small/gpt2", "dgx-h100", "x=2,y=4");
  search(&p, false);
  assert_ok(sw_plan_write(&p.plan, &p.breakdown, &text, &diag));
  assert_ok(sw_file_write("unit-plan-start.json", text.at, text.n, &diag));
  assert_ok(sw_plan_read_other("unit-plan-start.json", JOB(p.graph, p.machine), &p.arena, &start, &taken, &diag));
  assert_int_equal(start.n_shared, p.plan.n_shared);
  const sw_graph *g = p.graph;
  for (int32_t i = 0; i < g->n_ops; i++) {
    assert_true(sw_strategy_equal(&start.ops[i], &p.plan.ops[i]));
  }
  sw_plan_options o = options(false);
  o.solve.work_limit = 1;
  o.start = &start;
  assert_ok(sw_plan_search(JOB(g, p.machine), &o, &p.arena, &again, &diag));
  assert_true(again.cost_units == p.plan.cost_units);
  open_model(&other, "small/mlp", "dgx-h100", "x=2,y=4");
  assert_int_equal(sw_plan_read("unit-plan-start.json", JOB(other.graph, other.machine), &other.arena, &again, &diag),
                   SW_E_INPUT);
  assert_ok(
      sw_plan_read_other("unit-plan-start.json", JOB(other.graph, other.machine), &other.arena, &again, &taken, &diag));
  (void)remove("unit-plan-start.json");
  sw_text_free(&text);
  close_model(&other);
  close_model(&p);
}

/* What a plan lacks is chosen anew around what it has, and both searches prove no more than the other finds. */
static void what_a_start_lacks_is_mended(void **state) {
  (void)state;
  planned p;
  sw_plan start, again;
  open_model(&p, "gpt2-small", "dgx-h100", "x=2,y=4");
  sw_plan_options o = options(false);
  o.solve.gap = 0.01;
  assert_ok(sw_plan_search(JOB(p.graph, p.machine), &o, &p.arena, &p.plan, &diag));
  start = p.plan;
  start.ops = sw_arena_copy(&p.arena, start.ops, (size_t)p.graph->n_ops, sizeof *start.ops, &diag);
  assert_non_null(start.ops);
  for (int32_t i = 100; i < 110; i++) start.ops[i].n_refs = INT8_MAX; /* no strategy of any op */
  o.start = &start;
  assert_ok(sw_plan_search(JOB(p.graph, p.machine), &o, &p.arena, &again, &diag));
  assert_ok(sw_plan_verify(&again, &diag));
  assert_true(again.bound_units <= p.plan.cost_units && p.plan.bound_units <= again.cost_units);
  assert_true((double)(again.cost_units - again.bound_units) <= o.solve.gap * (double)again.cost_units);
  close_model(&p);
}

/* Limited by work, a search that is far from done ends with the same plan again, on several threads too. */
static void a_work_limit_makes_plans_repeatable(void **state) {
  (void)state;
  for (int threads = 1; threads <= 2; threads++) {
    sw_text text[2] = {{0}, {0}};
    int64_t bound[2];
    for (int k = 0; k < 2; k++) {
      planned p;
      open_model(&p, "small/gpt2-train", "dgx-h100", "x=2,y=4");
      sw_plan_options o = {.solve = {.threads = threads, .seed = 5, .work_limit = (int64_t)check_scale(40) * 1000000}};
      assert_ok(sw_plan_search(JOB(p.graph, p.machine), &o, &p.arena, &p.plan, &diag));
      bound[k] = p.plan.bound_units;
      p.plan.time_s = 0;
      assert_ok(sw_plan_breakdown(&p.plan, &p.arena, &p.breakdown, &diag));
      assert_ok(sw_plan_write(&p.plan, &p.breakdown, &text[k], &diag));
      close_model(&p);
    }
    assert_int_equal(bound[0], bound[1]);
    assert_string_equal(sw_text_str(&text[0]), sw_text_str(&text[1]));
    sw_text_free(&text[0]);
    sw_text_free(&text[1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_optima_come_out),
      cmocka_unit_test(weights_alternate_columns_and_rows),
      cmocka_unit_test(no_baseline_beats_the_search),
      cmocka_unit_test(the_first_stage_of_zero_holds_what_it_says),
      cmocka_unit_test(zero_holds_what_it_says),
      cmocka_unit_test(narrow_weights_are_gathered_narrow),
      cmocka_unit_test(megatron_cuts_what_is_converted),
      cmocka_unit_test(nor_one_that_is_short_of_time),
      cmocka_unit_test(what_is_priced_is_what_runs),
      cmocka_unit_test(memory_is_a_limit_or_a_reason),
      cmocka_unit_test(constants_of_many_steps_are_no_search),
      cmocka_unit_test(a_start_is_taken_up),
      cmocka_unit_test(what_a_start_lacks_is_mended),
      cmocka_unit_test(a_work_limit_makes_plans_repeatable),
  };
  cmocka_set_test_filter(getenv("SW_TEST_ONLY")); /* a pattern of names; NULL: all */
  return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
