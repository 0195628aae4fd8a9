/* Units, ports and lives against the graph read naively; and the two that are made of them against each other: what the
 * selection problem says of the options of a plan is what the plan's breakdown says of the plan. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "shardwright/plan.h"
#include "shardwright/profile_json.h"
#include "support/meshes.h"
#include "support/job.h"

static const char *const kModels[] = {"mlp", "gpt2", "llama3", "llama3-decode", "mixtral", "mlp-train", "gpt2-train"};

/* Each value is made at one port, each use taken at one, by units in order, which run in the order of their steps. */
static void every_port_is_one(const sw_graph *g) {
  const sw_units u = sw_units_of(JOB(g, NULL));
  int32_t made = 0, taken = 0, returned = 0, step = 0;
  for (int32_t i = 0; i < u.n; i++) {
    const sw_unit unit = sw_unit_at(&u, i);
    assert_true(unit.kind == (i < u.n_args ? SW_UNIT_ARGUMENT : i < u.n_args + u.n_ops ? SW_UNIT_OP : SW_UNIT_OUTPUT));
    assert_true(unit.step >= step && unit.step < u.n_steps);
    step = unit.step;
    for (int32_t k = 0; k < unit.n_makes; k++) {
      const sw_port at = sw_value_made_at(&u, unit.makes[k]);
      assert_true(at.unit == i && at.port == unit.n_reads + k);
      assert_int_equal(sw_value_step(&u, unit.makes[k]), unit.step);
      made++;
    }
  }
  assert_int_equal(made, g->n_values);
  for (sw_id v = 0; v < g->n_values; v++) {
    for (int32_t k = 0; k < g->values[v].n_uses; k++) {
      const sw_value_use use = g->values[v].uses[k];
      const sw_port at = sw_use_taken_at(&u, use);
      const sw_unit unit = sw_unit_at(&u, at.unit);
      if (unit.kind == SW_UNIT_ARGUMENT) returned++; /* the state that it becomes next time */
      if (unit.kind != SW_UNIT_ARGUMENT) assert_int_equal(unit.reads[at.port], v);
      if (unit.kind != SW_UNIT_ARGUMENT) assert_int_equal(unit.step, sw_use_step(&u, use));
      taken++;
    }
  }
  int32_t reads = u.n_outputs;
  for (sw_id i = 0; i < g->n_ops; i++) reads += g->ops[i].n_operands;
  assert_true(taken == reads && returned <= u.n_outputs);
}

/* Bytes at each step of a plan that cuts nothing, from the text of the program. */
static void uncut_plan_holds_what_is_in_use(const sw_plan *p, const sw_breakdown *b) {
  const sw_graph *g = p->job.graph;
  assert_int_equal(b->n_reshards, 0);
  assert_int_equal(b->n_steps, g->n_ops + 1);
  for (int32_t t = 0; t <= g->n_ops; t++) {
    int64_t bytes = t < g->n_ops ? (int64_t)b->op[t].temp_bytes : 0;
    for (sw_id id = 0; id < g->n_values; id++) {
      const sw_value *v = &g->values[id];
      const bool stays = v->kind == SW_VALUE_PARAMETER || v->kind == SW_VALUE_STATE;
      bool needed = stays || v->def == t || (v->def < 0 && t == 0);
      for (int32_t k = 0; k < v->n_uses && !needed; k++)
        needed = v->def < t && (v->uses[k].op < 0 || v->uses[k].op >= t);
      bytes += needed ? sw_type_bytes(&v->type) : 0;
    }
    assert_int_equal(b->bytes_at[t], bytes);
  }
}

/* Cost in units, but for the one that every step of communication, and up to three that every argument, adds. */
static void problem_says_the_same(sw_selection *s, const sw_plan *p, const sw_breakdown *b, bool uncut, int *compared) {
  const sw_problem *problem = sw_selection_problem(s);
  const int32_t n = sw_units_of(JOB(p->job.graph, NULL)).n;
  int32_t *choice = calloc((size_t)n, sizeof *choice);
  bool *missing = calloc((size_t)n, sizeof *missing), any = false;
  assert_true(choice && missing && problem->n_nodes == n);
  sw_selection_encode(s, sw_plan_selected(p), choice, missing);
  for (int32_t i = 0; i < n; i++) any = any || missing[i];
  if (!any) {
    assert_ok(sw_selection_settle(s, choice, 0, &diag));
    const int64_t cost = sw_problem_cost(problem, choice);
    const double rounding = 3.0 * n + 2.0 * b->n_reshards + 1e-9 * (double)cost;
    assert_true(fabs((double)cost - b->total_s * sw_cost_units_per_s(p->job.machine)) <= rounding);
    ++*compared;
  }
  if (uncut) {
    sw_score score;
    assert_false(any);
    assert_ok(sw_problem_score(problem, choice, &score, &diag));
    assert_true(score.peak == b->peak_bytes);
  }
  free(choice);
  free(missing);
}

static void add_held(int64_t *at, int64_t begin, int64_t end, int64_t bytes) {
  at[begin] += bytes;
  at[end] -= bytes;
}

/* What the problem counts at each step. */
static void count_steps(const sw_problem *problem, const int32_t *choice, int64_t *at, int32_t n, sw_arena *arena) {
  for (int32_t i = 0; i < problem->n_nodes; i++)
    for (int32_t k = 0; k < problem->nodes[i].n_uses; k++) {
      const sw_usage *u = &problem->nodes[i].uses[k];
      add_held(at, u->begin, u->end, u->amount[choice[i]]);
    }
  for (int32_t k = 0; k < problem->n_copies; k++) {
    const sw_copies *c = &problem->copies[k];
    sw_occupied *held = sw_arena_alloc(arena, (size_t)sw_copies_most_held(c), sizeof *held, &diag);
    assert_non_null(held);
    const int32_t n_held = sw_copies_held(c, choice, held);
    for (int32_t a = 0; a < n_held; a++) add_held(at, held[a].begin, held[a].end, held[a].amount);
  }
  for (int32_t t = 1; t < n; t++) at[t] += at[t - 1];
}

/* Of the account, all but the buffers of routes; less where a result is written over a value in another sharding, or a
 * sharding is stated. */
static void steps_count_the_same(const sw_problem *problem, const int32_t *choice, const sw_plan *p,
                                 const sw_breakdown *b, sw_arena *arena) {
  const sw_graph *g = p->job.graph;
  int64_t *at, *routes;
  bool exact = p->n_stated == 0;
  for (sw_id v = 0; v < g->n_values; v++) exact = exact && sw_value_keeping(p->job.kernels, v) != SW_KEPT_IN_PLACE;
  assert_non_null(at = sw_arena_alloc(arena, (size_t)b->n_steps + 1, sizeof *at, &diag));
  assert_non_null(routes = sw_arena_alloc(arena, (size_t)b->n_steps + 1, sizeof *routes, &diag));
  count_steps(problem, choice, at, b->n_steps, arena);
  for (int32_t k = 0; k < b->n_live; k++) {
    const sw_live *l = &b->live[k];
    if (l->kind == SW_LIVE_BUFFER && l->value >= 0) add_held(routes, l->steps.first, l->steps.last + 1, l->bytes);
  }
  for (int32_t t = 0; t < b->n_steps; t++) {
    if (t) routes[t] += routes[t - 1];
    const int64_t most = b->bytes_at[t], others = most - routes[t];
    if (at[t] > most || (exact && at[t] != others))
      print_message("%s under %s: at step %d the problem counts %lld bytes, the plan %lld, %lld without routes\n",
                    g->name, sw_compiled_as(&p->job), t, (long long)at[t], (long long)most, (long long)others);
    assert_true(at[t] <= most && (!exact || at[t] == others));
  }
}

/* Plans hold at each step what the problem counts: choices at random, a part of them or all, from a plan that is a
 * choice. */
static void plans_hold_as_much(sw_selection *s, const sw_plan *from, sw_arena *arena, sw_rng *rng, int *drawn) {
  enum { TRIES = 4 };
  const sw_problem *problem = sw_selection_problem(s);
  const int32_t n = problem->n_nodes;
  int32_t *first, *choice;
  bool *missing, any = false;
  sw_plan p;
  assert_non_null(first = sw_arena_alloc(arena, (size_t)n, sizeof *first, &diag));
  assert_non_null(choice = sw_arena_alloc(arena, (size_t)n, sizeof *choice, &diag));
  assert_non_null(missing = sw_arena_alloc(arena, (size_t)n, sizeof *missing, &diag));
  assert_ok(sw_plan_build(&from->job, arena, &p, &diag));
  sw_selection_encode(s, sw_plan_selected(from), first, missing);
  for (int32_t i = 0; i < n; i++) any = any || missing[i];
  for (int t = 0; t < TRIES && !any; t++) {
    sw_breakdown b;
    memcpy(choice, first, (size_t)n * sizeof *choice);
    for (int32_t i = 0; i < n; i++) {
      const int32_t was = choice[i];
      if (sw_rng_below(rng, t % 4 + 1) > 0) continue;
      choice[i] = (int32_t)sw_rng_below(rng, problem->nodes[i].n_choices);
      if (sw_problem_cost(problem, choice) >= SW_FORBIDDEN) choice[i] = was;
    }
    sw_selection_decode(s, choice, p.ops, p.args, p.outputs);
    assert_ok(sw_selection_stated(s, choice, arena, &p.n_stated, &p.stated, &diag));
    if (sw_plan_breakdown(&p, arena, &b, &diag)) continue;
    steps_count_the_same(problem, choice, &p, &b, arena);
    ++*drawn;
  }
}

/* Under every compiler's kernels. */
static const char *const kCompilers[] = {"none", "eager", "xla", "xla-cpu", "inductor", "ideal"};

static void agree_on(sw_graph *g, const sw_machine *machine, const char *compiler, sw_arena *a, int *compared,
                     sw_rng *rng, int *drawn) {
  sw_selection *s;
  const sw_comparison *all;
  int64_t least;
  const sw_job job = job_under(g, machine, compiler, a);
  const sw_selection_options o = {.capacity_bytes = INT64_MAX};
  assert_ok(sw_selection_build(&job, &o, a, &s, &least, &diag));
  assert_ok(sw_baselines_build(&job, a, &all, &diag));
  for (int b = 0; b < SW_BASELINE_COUNT; b++) {
    if (!all[b].made) continue;
    if (b == SW_BASELINE_REPLICATED && !job.kernels) uncut_plan_holds_what_is_in_use(&all[b].plan, &all[b].breakdown);
    problem_says_the_same(s, &all[b].plan, &all[b].breakdown, b == SW_BASELINE_REPLICATED, compared);
    plans_hold_as_much(s, &all[b].plan, a, rng, drawn);
  }
  sw_selection_deinit(s);
}

static void problem_and_breakdown_agree(void **state) {
  (void)state;
  sw_arena a = {0};
  const sw_profile *profile;
  sw_mesh mesh;
  sw_machine *machine;
  int compared = 0, drawn = 0, models = 0;
  const uint64_t seed = check_seed(1);
  sw_rng rng;
  sw_rng_seed(&rng, seed);
  assert_ok(sw_profile_read("dgx-h100", &a, &profile, &diag));
  assert_ok(sw_mesh_parse("x=2,y=4", &a, &mesh, &diag));
  assert_ok(sw_machine_build(&a, profile, &mesh, &machine, &diag));
  for (size_t i = 0; i < sizeof kModels / sizeof *kModels; i++) {
    if (!check_turn(seed, (int)i)) continue;
    sw_graph *g = small_model(kModels[i]);
    models++;
    every_port_is_one(g);
    for (size_t c = 0; c < sizeof kCompilers / sizeof *kCompilers; c++)
      agree_on(g, machine, kCompilers[c], &a, &compared, &rng, &drawn);
    sw_graph_destroy(g);
  }
  print_message("%d plans, %d at random\n", compared, drawn);
  assert_in_range(models, 1, compared);
  sw_arena_deinit(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(problem_and_breakdown_agree)};
  return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
