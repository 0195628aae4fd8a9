/* Points of choices against their definition; the problem in which points have a price never counts less than they are,
 * and nothing more where they cost nothing; plans that are simpler cost no more than was allowed, hold no more, and
 * have repeated layers cut alike.
 */
#include <math.h>

#include "check.h"

#include "copies_case.h"
#include "support/meshes.h"

#include "base/checked.h"
#include "select/simple.h"
#include "shardwright/model_json.h"
#include "shardwright/plan.h"
#include "shardwright/profile_json.h"
#include "support/job.h"

/* --- by definition ------------------------------------------------------------------------------------------------ */

static int64_t points_of_choices(const sw_simplicity *k, const int32_t *x) {
  int64_t sum = 0;
  for (int32_t i = 0; i < k->p->n_nodes; i++) {
    bool seen = false, first = true;
    const uint8_t *points = NULL;
    for (int32_t j = 0; j < i; j++) {
      if (k->role_of[j] != k->role_of[i]) continue;
      first = false;
      seen = seen || x[j] == x[i];
    }
    for (int32_t j = 0; j <= i && !points; j++)
      if (k->role_of[j] == k->role_of[i]) points = k->points[j];
    if (!seen) sum += points[x[i]] + (first ? 0 : SW_POINTS_SPLIT);
  }
  return sum;
}

typedef struct copy_kind {
  int32_t group, from, layout;
} copy_kind;

static bool alike_groups(const sw_simplicity *k, const sw_copies *a, const sw_copies *b) {
  bool alike = a->table == b->table && k->role_of[a->maker] == k->role_of[b->maker];
  for (int32_t i = 0; alike && i < a->table->n_readers; i++)
    alike = k->role_of[a->reader[i]] == k->role_of[b->reader[i]];
  return alike;
}

static int64_t kinds_of_copies(const sw_simplicity *k, const int32_t *x) {
  enum { MOST = 256 };
  copy_kind all[MOST];
  int n = 0;
  for (int32_t c = 0; c < k->p->n_copies; c++) {
    const sw_copies *g = &k->p->copies[c];
    const int32_t from = g->table->class_of[x[g->maker]];
    for (int32_t i = 0; i < g->table->n_readers; i++) {
      const sw_wants *w = &g->table->wants[i];
      const int32_t of = w->class_of[x[g->reader[i]]];
      for (int32_t a = w->first[of]; a < w->first[of + 1]; a++) {
        const int64_t cost = g->table->cost[from * g->table->n_layouts + w->layout[a]];
        bool seen = cost == 0 || cost >= SW_FORBIDDEN;
        for (int b = 0; b < n && !seen; b++)
          seen =
              all[b].from == from && all[b].layout == w->layout[a] && alike_groups(k, g, &k->p->copies[all[b].group]);
        if (seen) continue;
        assert_true(n < MOST);
        all[n++] = (copy_kind){c, from, w->layout[a]};
      }
    }
  }
  return n;
}

static int64_t points_by_definition(const sw_simplicity *k, const int32_t *x) {
  return points_of_choices(k, x) + SW_POINTS_COPY * kinds_of_copies(k, x);
}

/* --- random problems ---------------------------------------------------------------------------------------------- */

typedef struct subject {
  sw_problem p;
  int32_t *role;
  const uint8_t **points;
  int32_t *x;
} subject;

/* Some layers of one problem, so that there are roles; nodes of as many choices may be given one role, too. */
static subject random_subject(sw_rng *g, sw_arena *a, int k) {
  subject s = {.p = small_copies(g, a, k)};
  const sw_problem layer = s.p;
  const int32_t layers = 1 + (int32_t)sw_rng_below(g, 4), each = layer.n_nodes;
  sw_node *nodes = take(a, (size_t)layers * (size_t)each, sizeof *nodes);
  sw_edge *edges = take(a, (size_t)layers * (size_t)layer.n_edges + 1, sizeof *edges);
  sw_copies *copies = take(a, (size_t)layers * (size_t)layer.n_copies + 1, sizeof *copies);
  s.p.n_nodes = s.p.n_edges = s.p.n_copies = 0;
  for (int32_t l = 0; l < layers; l++) {
    for (int32_t e = 0; e < layer.n_edges; e++)
      edges[s.p.n_edges++] = (sw_edge){layer.edges[e].i + l * each, layer.edges[e].j + l * each, layer.edges[e].cost};
    for (int32_t c = 0; c < layer.n_copies; c++) {
      const sw_copies *from = &layer.copies[c];
      int32_t *reader = take(a, (size_t)from->table->n_readers, sizeof *reader);
      for (int32_t i = 0; i < from->table->n_readers; i++) reader[i] = from->reader[i] + l * each;
      copies[s.p.n_copies++] = (sw_copies){from->maker + l * each, reader, from->table, NULL};
    }
    for (int32_t i = 0; i < each; i++) nodes[s.p.n_nodes++] = layer.nodes[i];
  }
  s.p.nodes = nodes;
  s.p.edges = edges;
  s.p.copies = copies;
  s.role = take(a, (size_t)s.p.n_nodes, sizeof *s.role);
  s.points = take(a, (size_t)s.p.n_nodes, sizeof *s.points);
  s.x = take(a, (size_t)s.p.n_nodes, sizeof *s.x);
  for (int32_t i = 0; i < s.p.n_nodes; i++) {
    const int32_t n = nodes[i].n_choices;
    uint8_t *points = take(a, (size_t)n, sizeof *points);
    for (int32_t c = 0; c < n; c++) points[c] = (uint8_t)sw_rng_below(g, 4);
    s.points[i] = points;
    s.role[i] = sw_rng_below(g, 3) ? -1 : n;
  }
  return s;
}

static void choose(sw_rng *g, const sw_problem *p, int32_t *x) {
  for (int32_t i = 0; i < p->n_nodes; i++) x[i] = (int32_t)sw_rng_below(g, p->nodes[i].n_choices);
}

static void check_united(const sw_simplicity *k, const int32_t *x, sw_arena *a) {
  int32_t *y = take(a, (size_t)k->p->n_nodes, sizeof *y);
  assert_ok(sw_simplicity_unite(k, x, y, &diag));
  for (int32_t i = 0; i < k->p->n_nodes; i++) {
    int chosen = 0, mine = 0;
    for (int32_t j = 0; j < k->p->n_nodes; j++) {
      if (k->role_of[j] != k->role_of[i]) continue;
      assert_int_equal(y[j], y[i]);
      chosen += x[j] == y[i];
      mine += x[j] == x[i];
    }
    assert_true(chosen >= mine);
  }
}

/* Copies that a part makes for itself are counted among what it costs, without points. */
static int64_t own_copies(const sw_problem *p, const int32_t *part_of) {
  int64_t n = 0;
  for (int32_t c = 0; c < p->n_copies; c++)
    for (int32_t i = 0; i < p->copies[c].table->n_readers; i++)
      if (part_of[p->copies[c].maker] == part_of[p->copies[c].reader[i]]) n += p->copies[c].table->n_layouts;
  return n;
}

static void check_priced(sw_rng *g, const sw_simplicity *k, const int32_t *x, int64_t price, sw_arena *a) {
  const sw_problem *p = k->p;
  sw_problem q;
  int32_t *part_of = take(a, (size_t)p->n_nodes, sizeof *part_of), *y = take(a, (size_t)p->n_nodes, sizeof *y),
          *full = take(a, (size_t)p->n_nodes, sizeof *full);
  assert_ok(sw_simplicity_problem(k, x, price, a, &q, part_of, y, &diag));
  assert_ok(sw_problem_verify(&q, &diag));
  for (int32_t i = 0; i < p->n_nodes; i++) assert_int_equal(y[part_of[i]], x[i]);
  for (int n = 0; n < 6; n++) {
    sw_score of_parts, of_all;
    if (n) choose(g, &q, y);
    for (int32_t i = 0; i < p->n_nodes; i++) full[i] = y[part_of[i]];
    assert_ok(sw_problem_score(&q, y, &of_parts, &diag));
    assert_ok(sw_problem_score(p, full, &of_all, &diag));
    assert_true(of_parts.peak == of_all.peak);
    assert_int_equal(of_parts.cost >= SW_FORBIDDEN, of_all.cost >= SW_FORBIDDEN);
    if (of_all.cost >= SW_FORBIDDEN) continue;
    const int64_t points = points_by_definition(k, full) - SW_POINTS_COPY * own_copies(p, part_of);
    if (price == 0) assert_true(of_parts.cost == of_all.cost);
    assert_true(of_parts.cost >= of_all.cost && of_parts.cost >= of_all.cost + (sw_i128)price * points);
  }
}

static void points_are_as_defined(void **state) {
  (void)state;
  sw_rng g;
  sw_rng_seed(&g, check_seed(51));
  int split = 0;
  for (int n = 0; n < check_scale(400); n++) {
    sw_arena a = {0};
    sw_simplicity k;
    int64_t points;
    const subject s = random_subject(&g, &a, n);
    assert_ok(sw_simplicity_make(&s.p, n % 4 ? s.role : NULL, s.points, &a, &k, &diag));
    split += k.n_roles < s.p.n_nodes;
    for (int round = 0; round < 4; round++) {
      choose(&g, &s.p, s.x);
      assert_ok(sw_simplicity_points(&k, s.x, &points, &diag));
      assert_int_equal(points, points_by_definition(&k, s.x));
      check_united(&k, s.x, &a);
      check_priced(&g, &k, s.x, round % 2 ? 7 : 0, &a);
    }
    sw_arena_deinit(&a);
  }
  assert_true(split > 0);
}

/* --- plans -------------------------------------------------------------------------------------------------------- */

typedef struct question {
  const char *model, *hw;
  double simplicity;
  double of_memory; /* of what the cheapest plan holds; 0: all there is */
} question;

static void search(const sw_graph *g, const sw_machine *machine, double simplicity, int64_t capacity, sw_arena *a,
                   sw_plan *out, int64_t *peak) {
  sw_breakdown breakdown;
  const sw_plan_options o = {.solve = {.work_limit = 300000000, .gap = 0.001, .threads = 1},
                             .selection = {.capacity_bytes = capacity},
                             .simplicity = simplicity};
  assert_ok(sw_plan_search(JOB(g, machine), &o, a, out, &diag));
  assert_ok(sw_plan_verify(out, &diag));
  assert_ok(sw_plan_breakdown(out, a, &breakdown, &diag));
  *peak = breakdown.peak_bytes;
  assert_true(*peak <= out->capacity_bytes);
  assert_true(out->bound_units <= out->cost_units);
  const double cost = breakdown.total_s * sw_cost_units_per_s(machine); /* its price is its own */
  assert_true(cost <= (double)out->cost_units && (double)out->cost_units <= cost * 1.0001 + 16e5);
}

/* Only the price of the simpler plan, never the search before it, hangs on what is allowed. */
static void simpler_plans_stay_within_what_is_allowed(void **state) {
  (void)state;
  static const question kAll[] = {{"gpt2-train", "local", 0.02, 0.97},
                                  {"llama3-fused-train", "local", 0.003, 0},
                                  {"mixtral", "dgx-h100", 0.003, 0},
                                  {"dlrm-train", "local", 0.003, 0.97}};
  int simpler = 0;
  for (size_t q = 0; q < sizeof kAll / sizeof *kAll; q++) {
    char path[256];
    sw_arena a = {0};
    sw_graph *g;
    sw_plan cheapest, plan, again;
    int64_t peak, capacity;
    snprintf(path, sizeof path, "%s/models/small/%s.json", SW_SOURCE_DIR, kAll[q].model);
    assert_ok(sw_model_read(path, &g, &diag));
    const sw_machine *machine = machine_of(kAll[q].hw, "x=2,y=2", &a);
    search(g, machine, 0, 0, &a, &cheapest, &peak);
    capacity = (int64_t)(kAll[q].of_memory * (double)peak);
    if (capacity) search(g, machine, 0, capacity, &a, &cheapest, &peak);
    search(g, machine, kAll[q].simplicity, capacity, &a, &plan, &peak);
    search(g, machine, kAll[q].simplicity, capacity, &a, &again, &peak);
    assert_int_equal(cheapest.cost_units, cheapest.found_units);
    assert_int_equal(plan.found_units, cheapest.cost_units);
    assert_int_equal(plan.bound_units, sw_min_i64(cheapest.bound_units, plan.cost_units));
    assert_true((double)plan.cost_units <= (1 + kAll[q].simplicity) * (double)cheapest.cost_units);
    assert_true(sw_plan_dearer(&plan) <= kAll[q].simplicity);
    assert_true(plan.status != SW_SOLVE_OPTIMAL || plan.cost_units == plan.bound_units);
    for (sw_id i = 0; i < g->n_ops; i++) {
      assert_true(sw_strategy_equal(&plan.ops[i], &again.ops[i]));
      simpler += !sw_strategy_equal(&plan.ops[i], &cheapest.ops[i]);
    }
    sw_graph_destroy(g);
    sw_arena_deinit(&a);
  }
  assert_true(simpler > 0);
}

/* A layer at the end may be cheaper cut otherwise by next to nothing; people cut it as all others. */
static void layers_are_cut_alike(void **state) {
  (void)state;
  sw_arena a = {0};
  sw_graph *g;
  sw_plan plan;
  int64_t peak;
  int compared = 0;
  assert_ok(sw_model_read(SW_SOURCE_DIR "/models/llama3-8b-decode.json", &g, &diag));
  search(g, machine_of("dgx-h100", "x=2,y=4", &a), 0.003, 0, &a, &plan, &peak);
  for (int32_t i = 0; i < g->n_args; i++) {
    const char *name = g->values[g->args[i]].name, *role = strncmp(name, "layers.", 7) ? NULL : strchr(name + 7, '.');
    for (int32_t j = 0; role && j < i; j++) {
      const char *other = g->values[g->args[j]].name, *end = strchr(other, '.') ? strchr(other + 7, '.') : NULL;
      if (strncmp(other, "layers.", 7) || !end || strcmp(role, end)) continue;
      assert_true(sw_sharding_equal(&plan.args[i], &plan.args[j]));
      compared++;
    }
  }
  assert_true(compared > 1000);
  sw_graph_destroy(g);
  sw_arena_deinit(&a);
}

/* --- a machine that is slower throughout -------------------------------------------------------------------------- */

typedef struct slower {
  const char *hw, *model, *mesh;
} slower;

static const slower kSlower[] = {{"local", "small/gpt2", "x=2,y=4"},
                                 {"local", "small/mixtral", "x=2,y=2"},
                                 {"dgx-h100", "small/gpt2-train", "x=2,y=4"},
                                 {"dgx-h100", "llama3-8b-decode", "x=2,y=4"}};

/* Each number that is of a time, or a rate. */
static const char *const kChanges[] = {"**.*bytes_per_s*=0.5", "device.flop_per_s.**=0.5",
                                       "**.{base_s,peer_s,launch_s,head_s,ramp_s_per_sqrt_byte}*=2"};

static void plan_slower(const slower *c, bool slow, sw_arena *a, const sw_graph *g, sw_plan *out) {
  const sw_mesh mesh = mesh_of(c->mesh);
  char path[256];
  sw_machine *machine;
  const sw_profile *hw;
  int64_t peak;
  const sw_profile_reading reading = {.changes = kChanges,
                                      .n_changes = slow ? (int)(sizeof kChanges / sizeof *kChanges) : 0};
  snprintf(path, sizeof path, "%s/hwprofiles/%s.json", SW_SOURCE_DIR, c->hw);
  assert_ok(sw_profile_read_with(path, &reading, a, &hw, &diag));
  assert_ok(sw_machine_build(a, hw, &mesh, &machine, &diag));
  search(g, machine, 0.003, 0, a, out, &peak);
}

/* All takes twice as long there, and the plan is the same. */
static void a_machine_half_as_fast_has_the_same_plan(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof kSlower / sizeof *kSlower; k++) {
    char path[256];
    sw_arena a = {0};
    sw_graph *g;
    sw_plan plan, slow;
    snprintf(path, sizeof path, "%s/models/%s.json", SW_SOURCE_DIR, kSlower[k].model);
    assert_ok(sw_model_read(path, &g, &diag));
    plan_slower(&kSlower[k], false, &a, g, &plan);
    plan_slower(&kSlower[k], true, &a, g, &slow);
    assert_int_equal(plan.cost_units, slow.cost_units);
    assert_int_equal(plan.bound_units, slow.bound_units);
    assert_true(fabs(2 * sw_cost_seconds(plan.job.machine, plan.cost_units) /
                         sw_cost_seconds(slow.job.machine, slow.cost_units) -
                     1) < 1e-12);
    for (sw_id i = 0; i < g->n_ops; i++) assert_true(sw_strategy_equal(&plan.ops[i], &slow.ops[i]));
    for (int32_t i = 0; i < g->n_args; i++) assert_true(sw_sharding_equal(&plan.args[i], &slow.args[i]));
    sw_graph_destroy(g);
    sw_arena_deinit(&a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_are_as_defined),
      cmocka_unit_test(simpler_plans_stay_within_what_is_allowed),
      cmocka_unit_test(layers_are_cut_alike),
      cmocka_unit_test(a_machine_half_as_fast_has_the_same_plan),
  };
  return cmocka_run_group_tests_name("simple", tests, NULL, NULL);
}
