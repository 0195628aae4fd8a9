/* The selection problem against the truth: on a value that several ops read, every combination of choices is priced
 * with each copy counted once (sw_problem_cost); the search, which starts from a relaxation and refines it, must find
 * the least of them and prove it. */
#include "check.h"

#include "select/relaxation.h"

#include "shardwright/model_json.h"
#include "shardwright/plan.h"
#include "shardwright/profile_json.h"
#include "shardwright/selection.h"
#include "support/job.h"
#include "support/settle.h"

enum { ROUNDS = 60, MOST_COMBINATIONS = 200000, FEW_COMBINATIONS = 10000 };

/* A pinned input that `n` ops read, each of which needs one of its dims whole or adds along it. */
static void write_model(sw_rng *r, const char *mesh, const char *axes, int n, sw_text *t) {
  static const char *const kPins[] = {"[[%s],[],[]]", "[[],[%s],[]]", "[[],[],[%s]]"};
  static const char *const kOps[] = {"cumulative", "reduce", "reverse"};
  char pin[32];
  snprintf(pin, sizeof pin, kPins[sw_rng_below(r, 3)], axes);
  sw_text_printf(t,
                 "{\"format\": \"shardwright-model\", \"version\": 1, \"name\": \"shared\", \"mesh\": \"%s\", "
                 "\"values\": [{\"name\": "
                 "\"x\", \"kind\": \"input\", \"dtype\": \"f32\", \"shape\": [%d, %d, %d], \"annotations\": "
                 "[{\"sharding\": \"%s\", \"required\": true}]}], \"ops\": [",
                 mesh, 64 << sw_rng_below(r, 5), 64 << sw_rng_below(r, 5), 6, pin);
  for (int i = 0; i < n; i++) {
    const char *op = kOps[sw_rng_below(r, 3)];
    bool list = op[0] == 'r';
    sw_text_printf(t, "%s{\"op\": \"%s\", \"inputs\": [\"x\"], \"outputs\": [\"y%d\"], \"attrs\": {\"%s\": %s%d%s%s}}",
                   i ? ", " : "", op, i, list ? "dims" : "dim", list ? "[" : "", (int)sw_rng_below(r, 3),
                   list ? "]" : "", op[2] == 'v' ? "" : ", \"kind\": \"sum\"");
  }
  sw_text_puts(t, "], \"outputs\": [");
  for (int i = 0; i < n; i++) sw_text_printf(t, "%s\"y%d\"", i ? ", " : "", i);
  sw_text_puts(t, "]}");
}

/* The least true cost of all combinations; -1 when there are too many. */
static int64_t least_of_all(sw_selection *s, int64_t *combinations) {
  settle_all(s);
  const sw_problem *p = sw_selection_problem(s);
  int32_t n = p->n_nodes, *choice = calloc((size_t)n, sizeof *choice), k = 0;
  int64_t least = INT64_MAX;
  *combinations = 1;
  for (int32_t i = 0; i < n; i++) *combinations *= p->nodes[i].n_choices;
  while (*combinations <= MOST_COMBINATIONS && k < n) {
    const int64_t cost = sw_problem_cost(p, choice);
    least = cost < least ? cost : least;
    for (k = 0; k < n && ++choice[k] == p->nodes[k].n_choices; k++) choice[k] = 0;
  }
  free(choice);
  return least;
}

/* The plan with strategies that no op has, here and there: as a pin leaves it. */
static sw_plan with_holes(const sw_plan *plan, sw_arena *arena) {
  sw_plan holes = *plan;
  const sw_graph *g = plan->job.graph;
  holes.ops = sw_arena_copy(arena, plan->ops, (size_t)g->n_ops, sizeof *holes.ops, &diag);
  assert_non_null(holes.ops);
  for (int32_t i = 0; i < g->n_ops; i += 2) holes.ops[i].n_refs = INT8_MAX;
  return holes;
}

/* Starting from the best plan, from the one that cuts nothing, or from what is left of either, changes nothing in the
 * end. */
static void start_again(const sw_plan *best, const sw_plan_options *o, sw_arena *arena, int64_t least) {
  sw_plan uncut, again;
  assert_ok(sw_plan_build(JOB(best->job.graph, best->job.machine), arena, &uncut, &diag));
  sw_plan holes = with_holes(best, arena), uncut_holes = with_holes(&uncut, arena);
  const sw_plan *const starts[] = {best, &uncut, &holes, &uncut_holes};
  for (int k = 0; k < 4; k++) {
    sw_plan_options from = *o;
    from.start = starts[k];
    assert_ok(sw_plan_search(JOB(best->job.graph, best->job.machine), &from, arena, &again, &diag));
    assert_true(again.cost_units == least && again.status == SW_SOLVE_OPTIMAL);
    from.solve.work_limit = 1; /* no time for anything: what is given is not lost */
    assert_ok(sw_plan_search(JOB(best->job.graph, best->job.machine), &from, arena, &again, &diag));
    assert_true(k > 0 || again.cost_units == least);
  }
}

/* What the problem counts for random choices: by shares never more than the truth, in full never less. */
static void prices_enclose_the_truth(const sw_problem *p, sw_relaxation *relaxed, sw_rng *r) {
  sw_problem now;
  int32_t n = p->n_nodes, *choice = calloc((size_t)n, sizeof *choice);
  for (int k = 0; k < 20; k++) {
    sw_score in_parts, in_full;
    for (int32_t i = 0; i < n; i++) choice[i] = (int32_t)sw_rng_below(r, p->nodes[i].n_choices);
    const int64_t cost = sw_problem_cost(p, choice);
    assert_ok(sw_relaxation_problem(relaxed, &now, &diag));
    assert_ok(sw_problem_score(&now, choice, &in_parts, &diag));
    sw_relaxation_price_whole(relaxed, true);
    assert_ok(sw_relaxation_problem(relaxed, &now, &diag));
    assert_ok(sw_problem_score(&now, choice, &in_full, &diag));
    sw_relaxation_price_whole(relaxed, false);
    if (in_full.cost < SW_FORBIDDEN) assert_true(in_parts.cost <= cost && cost <= in_full.cost);
  }
  free(choice);
}

/* Some sharding of what an op makes. */
static sw_pin random_pin(const sw_graph *g, const sw_machine *machine, sw_rng *r, sw_arena *arena) {
  const sw_id value = g->ops[sw_rng_below(r, g->n_ops)].results[0];
  const sw_type *type = &g->values[value].type;
  sw_listed_shardings all;
  assert_ok(sw_shardings_enumerate(NULL, sw_machine_mesh(machine), type->rank, type->dims, 0, arena, &all, &diag));
  return (sw_pin){.value = value, .sharding = all.at[sw_rng_below(r, all.n)]};
}

/* Further pins, asked of a search that has ended: the least of what they leave, whatever was asked before. */
static int questions_are_answered(const sw_graph *g, const sw_machine *machine, const sw_plan_options *o,
                                  sw_selection *s, sw_rng *r, int64_t least, sw_arena *arena) {
  diag = (sw_diag){0};
  sw_planner *planner;
  sw_plan plan;
  int64_t combinations;
  int bound = 0; /* questions whose pins cost something */
  assert_ok(sw_planner_open(JOB(g, machine), o, arena, &planner, &plan, &diag));
  assert_true(plan.cost_units == least);
  for (int k = 0; k < 4; k++) {
    const sw_pin pins[2] = {random_pin(g, machine, r, arena), random_pin(g, machine, r, arena)};
    const int n = k < 3 ? 1 + k % 2 : 0;
    diag = (sw_diag){0};
    sw_rc rc = sw_selection_pin(s, n, pins, &diag);
    const int64_t want = rc ? SW_FORBIDDEN : least_of_all(s, &combinations);
    diag = (sw_diag){0};
    rc = sw_planner_ask(planner, n, pins, arena, &plan, &diag);
    bool twice = n == 2 && pins[0].value == pins[1].value && !sw_sharding_equal(&pins[0].sharding, &pins[1].sharding);
    if (twice) assert_int_equal(rc, SW_E_INFEASIBLE);
    if (want >= SW_FORBIDDEN && rc == SW_E_INFEASIBLE) continue;
    assert_ok(rc);
    /* What no strategy gives by itself is resharded: at a price that choices alone do not know. */
    if (want < SW_FORBIDDEN) assert_true(plan.cost_units == want && plan.bound_units == want && want >= least);
    for (int i = 0; i < n; i++) {
      sw_sharding made;
      sw_plan_value_sharding(&plan, pins[i].value, &made);
      assert_true(sw_sharding_equal(&made, &pins[i].sharding));
    }
    assert_ok(sw_plan_verify(&plan, &diag));
    assert_true(n > 0 || want == least);
    bound += want > least && want < SW_FORBIDDEN;
  }
  diag = (sw_diag){0};
  assert_ok(sw_selection_pin(s, 0, NULL, &diag));
  sw_planner_close(planner);
  return bound;
}

/* With other shares than equal ones: still never more than the truth, and refined until nothing is left to refine, the
 * optimum is the truth. */
static void split_shares_lead_there_too(const sw_problem *p, sw_relaxation *relaxed, sw_rng *r, int64_t least) {
  sw_arena arena = {0};
  sw_problem now;
  sw_solution found;
  bool refined = true;
  sw_split_options split = {.passes = (int)sw_rng_below(r, 40), .target = least};
  const sw_solve_options solve = {.threads = 1};
  int64_t work;
  assert_ok(sw_relaxation_split(relaxed, &split, &work, &diag));
  prices_enclose_the_truth(p, relaxed, r);
  while (refined) {
    assert_ok(sw_relaxation_problem(relaxed, &now, &diag));
    assert_ok(sw_solve(&now, &solve, &arena, &found, &diag));
    assert_true(found.status == SW_SOLVE_OPTIMAL && found.cost <= least);
    assert_ok(sw_relaxation_refine(relaxed, found.choice, &refined, &diag));
  }
  assert_true(found.cost == least);
  sw_arena_deinit(&arena);
}

static bool one_round(sw_rng *r, const sw_profile *hw, const char *mesh, const char *axes, int *questions) {
  sw_arena arena = {0};
  sw_text text = {0};
  sw_graph *g;
  sw_mesh m;
  sw_machine *machine;
  sw_selection *s;
  sw_relaxation *relaxed;
  sw_plan plan;
  int64_t combinations;
  write_model(r, mesh, axes, 2 + (int)sw_rng_below(r, 4), &text);
  assert_ok(sw_model_parse("shared.json", text.at, text.n, &g, &diag));
  assert_ok(sw_mesh_parse(mesh, &arena, &m, &diag));
  assert_ok(sw_machine_build(&arena, hw, &m, &machine, &diag));
  sw_plan_options o = {.solve = {.threads = 1}, .selection = {.capacity_bytes = INT64_MAX}};
  int64_t alone;
  assert_ok(sw_selection_build(JOB(g, machine), &o.selection, &arena, &s, &alone, &diag));
  const sw_problem *p = sw_selection_problem(s);
  assert_ok(sw_relaxation_make(p, &arena, &relaxed, &diag));
  prices_enclose_the_truth(p, relaxed, r);
  int64_t least = least_of_all(s, &combinations);
  assert_true(alone > 0 && alone <= least);
  bool small = combinations <= MOST_COMBINATIONS;
  if (small) {
    assert_ok(sw_plan_search(JOB(g, machine), &o, &arena, &plan, &diag));
    if (plan.cost_units != least || plan.bound_units != least || plan.status != SW_SOLVE_OPTIMAL)
      fail_msg("mesh %s: the least cost is %lld, the search found %lld and proved %lld\n%s", mesh, (long long)least,
               (long long)plan.cost_units, (long long)plan.bound_units, sw_text_str(&text));
    start_again(&plan, &o, &arena, least);
    if (combinations <= FEW_COMBINATIONS) *questions += questions_are_answered(g, machine, &o, s, r, least, &arena);
    split_shares_lead_there_too(p, relaxed, r, least);
  }
  sw_relaxation_deinit(relaxed);
  sw_selection_deinit(s);
  sw_graph_destroy(g);
  sw_text_free(&text);
  sw_arena_deinit(&arena);
  return small;
}

static void search_finds_the_least(void **state) {
  (void)state;
  static const char *const kMeshes[][2] = {{"x=2", "x"}, {"x=3", "x"}, {"x=2,y=2", "x"}, {"x=2,y=2", "x,y"}};
  sw_arena arena = {0};
  const sw_profile *hw;
  sw_rng r;
  sw_rng_seed(&r, check_seed(29));
  int compared = 0, questions = 0;
  assert_ok(sw_profile_read(SW_SOURCE_DIR "/hwprofiles/dgx-h100.json", &arena, &hw, &diag));
  for (int k = 0; k < check_scale(ROUNDS); k++) {
    const char *const *mesh = kMeshes[sw_rng_below(&r, 4)];
    compared += one_round(&r, hw, mesh[0], mesh[1], &questions);
  }
  print_message("%d problems compared, %d questions whose pins cost something\n", compared, questions);
  assert_true(compared > 0 && questions > 0);
  sw_arena_deinit(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(search_finds_the_least)};
  return cmocka_run_group_tests_name("selection", tests, NULL, NULL);
}
