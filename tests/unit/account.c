/* Searches under memory limits against the account of every combination of choices: random graphs, under every
 * compiler's kernels. The plan found costs as little as the cheapest that fits, and no capacity below the one that a
 * message names has a plan. Where buffers of routes decide, which the problem does not know of, nothing is claimed that
 * is not so. */
#include "check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "shardwright/model_json.h"
#include "shardwright/plan.h"
#include "shardwright/profile_json.h"
#include "shardwright/selection.h"
#include "base/checked.h"
#include "select/copies/copies.h"
#include "support/job.h"
#include "support/settle.h"

enum { GRAPHS = 200, MOST_COMBINATIONS = 1500, MOST_OPS = 4 };

/* More, the longer it may take: SW_TEST_SCALE. */
static int64_t most_combinations(void) { return sw_min_i64(1000000, check_scale(MOST_COMBINATIONS)); }

static const char *const kCompilers[] = {"none", "eager", "xla", "xla-cpu", "inductor", "ideal"};
static const char *const kMeshes[] = {"x=2", "x=4", "x=3", "x=2,y=2", "x=2,y=3"};

/* Ops over square matrices, each of an argument or of what was made before. */
static void write_graph(sw_rng *r, sw_text *t) {
  static const char *const kOps[] = {"\"transpose\", \"attrs\": {\"permutation\": [1, 0]}", "\"exponential\"",
                                     "\"softmax\", \"attrs\": {\"dim\": 1}", "\"dot_general\"", "\"add\""};
  const int n = 2 + (int)sw_rng_below(r, MOST_OPS - 1), size = 4 + 4 * (int)sw_rng_below(r, 2);
  const char *const dtype = sw_rng_below(r, 2) ? "f32" : "f16";
  sw_text_puts(t, "{\"format\": \"shardwright-model\", \"version\": 1, \"name\": \"m\", \"values\": [");
  for (int i = 0; i < 2; i++)
    sw_text_printf(t, "%s{\"name\": \"v%d\", \"kind\": \"%s\", \"dtype\": \"%s\", \"shape\": [%d, %d]}", i ? ", " : "",
                   i, i ? "parameter" : "input", dtype, size, size);
  sw_text_puts(t, "], \"ops\": [");
  for (int i = 0; i < n; i++) {
    const int kind = (int)sw_rng_below(r, 5), made = 2 + i;
    const int a = (int)sw_rng_below(r, made), b = (int)sw_rng_below(r, made);
    sw_text_printf(t, "%s{\"op\": %s%s, \"outputs\": [\"v%d\"], \"inputs\": [\"v%d\"", i ? ", " : "", kOps[kind],
                   kind == 3 ? ", \"attrs\": {\"lhs_contract\": [1], \"rhs_contract\": [0]}" : "", made, a);
    if (kind >= 3) sw_text_printf(t, ", \"v%d\"", b);
    sw_text_puts(t, "]}");
  }
  sw_text_printf(t, "], \"outputs\": [\"v%d\"%s]}", n + 1, n > 2 ? ", \"v3\"" : "");
}

/* A combination of choices. */
typedef struct combination {
  int64_t cost, counted, held; /* as the problem counts, as the account has it */
} combination;

typedef struct subject {
  sw_job job;
  int64_t n;
  combination *all;
} subject;

/* As solved with lives counted by layout alone, the form of large groups: nothing holds less than `least`, and
 * something no more; what a choice is completed to holds what it holds. */
static void check_layouts(const sw_problem *whole, int64_t least, const int32_t *choice) {
  sw_arena a = {0};
  sw_problem p = *whole, now;
  sw_relaxation *r;
  sw_solution s = {.status = SW_SOLVE_UNKNOWN};
  sw_score score, relaxed;
  bool counted = true;
  assert_ok(sw_relaxation_make(&p, &a, &r, &diag));
  r->most_together = 0;
  for (int below = 0; below < 2; below++) {
    p.limit = least - below;
    p.version++;
    for (counted = true; counted;) {
      const sw_solve_options o = {.gap = 1, .threads = 1};
      assert_ok(sw_relaxation_problem(r, &now, &diag));
      assert_ok(sw_solve(&now, &o, &a, &s, &diag));
      counted = false;
      if (s.choice) assert_ok(sw_relaxation_refine_lives(r, s.choice, p.limit, &counted, &diag));
    }
    if (below) assert_int_equal(s.status, SW_SOLVE_INFEASIBLE);
    if (!below) assert_ok(sw_problem_score(&p, s.choice, &score, &diag));
    if (!below) assert_true(score.peak <= least);
  }
  assert_ok(sw_relaxation_refine_lives(r, choice, 0, &counted, &diag));
  assert_ok(sw_relaxation_problem(r, &now, &diag));
  int32_t *all = sw_arena_alloc(&a, (size_t)now.n_nodes, sizeof *all, &diag);
  assert_non_null(all);
  assert_ok(sw_relaxation_complete(r, choice, all, &diag));
  assert_ok(sw_problem_score(whole, choice, &score, &diag));
  assert_ok(sw_relaxation_problem(r, &now, &diag));
  assert_ok(sw_problem_score(&now, all, &relaxed, &diag));
  assert_true(relaxed.cost <= score.cost && relaxed.peak <= score.peak);
  sw_relaxation_deinit(r);
  sw_arena_deinit(&a);
}

/* What a group holds for one of its readers alone. */
static double price_of_reader(const sw_copies *c, int32_t reader, const int32_t *choice, const double *sum) {
  sw_copy_table table = *c->table;
  sw_lives lives = *c->lives;
  sw_copies one = *c;
  double price = 0;
  table.n_readers = 1;
  table.wants += reader;
  lives.taken += reader, lives.until += reader, lives.until_made += reader;
  one.table = &table, one.lives = &lives, one.reader += reader;
  sw_occupied *held = calloc((size_t)sw_copies_most_held(&one), sizeof *held);
  assert_non_null(held);
  const int32_t n = sw_copies_held(&one, choice, held);
  for (int32_t k = 0; k < n; k++)
    if (held[k].begin < held[k].end) price += (double)held[k].amount * (sum[held[k].end] - sum[held[k].begin]);
  free(held);
  return price;
}

/* By the definition, at prices of which sum[t] is the sum before step t. */
static double price_by_definition(const sw_problem *p, const int32_t *choice, const double *sum) {
  double price = 0;
  for (int32_t i = 0; i < p->n_nodes; i++)
    for (int32_t k = 0; k < p->nodes[i].n_uses; k++) {
      const sw_usage *use = &p->nodes[i].uses[k];
      price += (double)use->amount[choice[i]] * (sum[use->end] - sum[use->begin]);
    }
  for (int32_t g = 0; g < p->n_copies; g++)
    for (int32_t i = 0; p->copies[g].lives && i < p->copies[g].table->n_readers; i++)
      price += price_of_reader(&p->copies[g], i, choice, sum);
  return price;
}

/* Under prices of memory a choice pays for all that it holds, and each reader of it for itself. */
static void check_prices(const sw_problem *p, sw_rng *r) {
  enum { CHOICES = 20, LARGE = 1000000 };
  const double kRounded = 1000; /* what is paid, by a unit each */
  sw_arena a = {0};
  sw_relaxation *relaxed;
  sw_problem now;
  sw_problem priced;
  sw_score before, after;
  assert_ok(sw_relaxation_make(p, &a, &relaxed, &diag));
  const int64_t n_steps = sw_relaxation_last_step(relaxed);
  double *prices = sw_arena_alloc(&a, (size_t)n_steps, sizeof *prices, &diag),
         *sum = sw_arena_alloc(&a, (size_t)n_steps + 1, sizeof *sum, &diag);
  int32_t *choice = sw_arena_alloc(&a, (size_t)p->n_nodes, sizeof *choice, &diag);
  assert_true(prices && sum && choice);
  for (int64_t t = 0; t < n_steps; t++) {
    prices[t] = sw_rng_below(r, 2) ? (double)sw_rng_below(r, LARGE) : 0;
    sum[t + 1] = sum[t] + prices[t];
  }
  assert_ok(sw_relaxation_price_memory(relaxed, n_steps, prices, &a, &priced, &diag));
  for (int k = 0; k < CHOICES; k++) {
    for (int32_t i = 0; i < p->n_nodes; i++) choice[i] = (int32_t)sw_rng_below(r, p->nodes[i].n_choices);
    assert_ok(sw_relaxation_problem(relaxed, &now, &diag));
    assert_ok(sw_problem_score(&now, choice, &before, &diag));
    assert_ok(sw_problem_score(&priced, choice, &after, &diag));
    if (before.cost >= SW_FORBIDDEN) continue;
    const double paid = (double)(after.cost - before.cost), defined = price_by_definition(p, choice, sum);
    assert_true(paid <= defined && paid >= defined - kRounded);
  }
  sw_relaxation_deinit(relaxed);
  sw_arena_deinit(&a);
}

/* All of them but the forbidden ones; none when there are too many. */
static void list_combinations(subject *u, sw_rng *r, sw_arena *a) {
  sw_selection *s;
  const int64_t most = most_combinations();
  int64_t least, n = 1, least_held = INT64_MAX;
  const sw_selection_options o = {.enumerate.runs = SW_MAX_REFS, .capacity_bytes = INT64_MAX};
  assert_ok(sw_selection_build(&u->job, &o, a, &s, &least, &diag));
  settle_all(s);
  const sw_problem *p = sw_selection_problem(s);
  int32_t *choice = sw_arena_alloc(a, (size_t)p->n_nodes, sizeof *choice, &diag), k = 0;
  int32_t *held_by = sw_arena_alloc(a, (size_t)p->n_nodes, sizeof *held_by, &diag);
  sw_plan plan;
  assert_true(choice && held_by);
  assert_ok(sw_plan_build(&u->job, a, &plan, &diag));
  for (int32_t i = 0; i < p->n_nodes && n <= most; i++) n *= p->nodes[i].n_choices;
  u->n = 0;
  u->all = sw_arena_alloc(a, (size_t)most, sizeof *u->all, &diag);
  assert_non_null(u->all);
  while (n <= most && k < p->n_nodes) {
    sw_arena scratch = {0};
    sw_breakdown b;
    sw_score score;
    assert_ok(sw_problem_score(p, choice, &score, &diag));
    if (score.feasible && (int64_t)score.peak < least_held) {
      least_held = (int64_t)score.peak;
      memcpy(held_by, choice, (size_t)p->n_nodes * sizeof *choice);
    }
    sw_selection_decode(s, choice, plan.ops, plan.args, plan.outputs);
    if (score.feasible && sw_plan_breakdown(&plan, &scratch, &b, &diag) == SW_OK)
      u->all[u->n++] = (combination){(int64_t)score.cost, (int64_t)score.peak, b.peak_bytes};
    sw_arena_deinit(&scratch);
    for (k = 0; k < p->n_nodes && ++choice[k] == p->nodes[k].n_choices; k++) choice[k] = 0;
  }
  if (least_held < INT64_MAX) check_layouts(p, least_held, held_by);
  check_prices(p, r);
  sw_selection_deinit(s);
}

/* The least cost of those that fit; INT64_MAX: none does. */
static int64_t least_cost(const subject *u, int64_t capacity, bool counted) {
  int64_t least = INT64_MAX;
  for (int64_t k = 0; k < u->n; k++) {
    const combination *c = &u->all[k];
    if ((counted ? c->counted : c->held) <= capacity && c->cost < least) least = c->cost;
  }
  return least;
}

static int64_t least_memory(const subject *u, bool counted) {
  int64_t least = INT64_MAX;
  for (int64_t k = 0; k < u->n; k++) {
    const int64_t bytes = counted ? u->all[k].counted : u->all[k].held;
    least = bytes < least ? bytes : least;
  }
  return least;
}

static sw_rc search(const subject *u, int64_t capacity, sw_arena *a, sw_plan *out, sw_diag *d) {
  const sw_plan_options o = {.solve = {.work_limit = INT64_C(20000000000), .threads = 1},
                             .selection = {.capacity_bytes = capacity}};
  return sw_plan_search(&u->job, &o, a, out, d);
}

static void check_cost(const subject *u, int64_t capacity, sw_arena *a, int *exact) {
  sw_plan plan;
  const int64_t least = least_cost(u, capacity, false), counted = least_cost(u, capacity, true);
  const sw_rc rc = search(u, capacity, a, &plan, &diag);
  if (least == INT64_MAX) {
    assert_true(rc == SW_E_INFEASIBLE || (rc == SW_E_RESOURCE && counted < INT64_MAX));
    return;
  }
  assert_ok(rc);
  assert_true(plan.cost_units >= least && plan.bound_units <= least);
  if (plan.cost_units != least || plan.status != SW_SOLVE_OPTIMAL)
    print_message("%" PRId64 " bytes: %" PRId64 " units, least %" PRId64 ", counted %" PRId64 ", bound %" PRId64 "\n",
                  capacity, plan.cost_units, least, counted, plan.bound_units);
  if (counted != least) return; /* buffers of routes decide */
  assert_true(plan.cost_units == least && plan.status == SW_SOLVE_OPTIMAL);
  ++*exact;
}

/* "... is 60 B", "... is 2 KiB (2048 bytes)". */
static int64_t named_bytes(const char *message, const char *before) {
  const char *at = strstr(message, before);
  if (!at) return -1;
  at += strlen(before);
  const char *open = strchr(at, '('), *end = strpbrk(at, ";,");
  return strtoll(open && (!end || open < end) ? open + 1 : at, NULL, 10);
}

static void check_least_capacity(const subject *u, sw_arena *a) {
  diag = (sw_diag){0};
  sw_plan plan;
  const int64_t least = least_memory(u, false), counted = least_memory(u, true);
  assert_int_equal(search(u, counted - 1, a, &plan, &diag), SW_E_INFEASIBLE);
  assert_int_equal(named_bytes(diag.text, "holds at least "), counted);
  if (least == counted) assert_int_equal(named_bytes(diag.text, "capacity that would do is "), least);
}

static bool check_graph(sw_rng *r, const sw_profile *hw, int k, int *exact) {
  sw_arena a = {0};
  sw_text t = {0};
  sw_mesh mesh;
  sw_machine *machine;
  sw_graph *g;
  write_graph(r, &t);
  assert_ok(sw_mesh_parse(kMeshes[sw_rng_below(r, 5)], &a, &mesh, &diag));
  assert_ok(sw_machine_build(&a, hw, &mesh, &machine, &diag));
  assert_ok(sw_model_parse("random.json", t.at, t.n, &g, &diag));
  const char *compiler = kCompilers[k % 6];
  subject u = {.job = job_under(g, machine, compiler, &a)};
  list_combinations(&u, r, &a);
  const int64_t capacity = u.n ? u.all[sw_rng_below(r, u.n)].held - sw_rng_below(r, 2) : 0;
  if (u.n) {
    check_cost(&u, capacity, &a, exact);
    check_least_capacity(&u, &a);
  }
  const bool looked_at = u.n > 0;
  sw_graph_destroy(g);
  sw_text_free(&t);
  sw_arena_deinit(&a);
  return looked_at;
}

static void searches_are_about_the_account(void **state) {
  (void)state;
  sw_arena a = {0};
  const sw_profile *hw;
  sw_rng r;
  int n = 0, exact = 0;
  sw_rng_seed(&r, check_seed(77));
  assert_ok(sw_profile_read("h100", &a, &hw, &diag));
  for (int k = 0; n < check_scale(GRAPHS); k++) n += check_graph(&r, hw, k, &exact);
  print_message("%d graphs, of which %d without buffers of routes that decide\n", n, exact);
  sw_arena_deinit(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(searches_are_about_the_account)};
  return cmocka_run_group_tests_name("account", tests, NULL, NULL);
}
