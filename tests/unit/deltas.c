/* Changes of a problem that stands, in random sequences: after each, the problem, what is made of it and what is proven
 * of it are as if it had been so from the beginning; and nothing has changed where the version has not risen. */
#include "copies_case.h"

#include <stdlib.h>

#include "select/copies/copies.h"
#include "shardwright/certificate.h"
#include "shardwright/selection.h"
#include "support/job.h"
#include "support/meshes.h"

enum { DELTAS = 20, MOST_CALLS = 64, CERTIFICATES_EVERY = 10 };

/* --- what a problem says ------------------------------------------------------------------------------------------ */

static void put(sw_text *t, const void *at, int64_t n, size_t size) {
  if (n) sw_text_append(t, at, (size_t)n * size);
}

/* All of it but for its version, to be compared byte by byte. */
static sw_text said_by(const sw_problem *p) {
  sw_text t = {0};
  sw_text_printf(&t, "%d %d %d %lld\n", p->n_nodes, p->n_edges, p->n_copies, (long long)p->limit);
  for (int32_t i = 0; i < p->n_nodes; i++) {
    const sw_node *v = &p->nodes[i];
    sw_text_printf(&t, "node %d %d ", v->n_choices, v->n_uses);
    put(&t, v->cost, v->n_choices, sizeof *v->cost);
    for (int32_t k = 0; k < v->n_uses; k++) {
      sw_text_printf(&t, "use %lld %lld ", (long long)v->uses[k].begin, (long long)v->uses[k].end);
      put(&t, v->uses[k].amount, v->n_choices, sizeof *v->uses[k].amount);
    }
  }
  for (int32_t e = 0; e < p->n_edges; e++) {
    const sw_edge *g = &p->edges[e];
    sw_text_printf(&t, "edge %d %d ", g->i, g->j);
    put(&t, g->cost, (int64_t)p->nodes[g->i].n_choices * p->nodes[g->j].n_choices, sizeof *g->cost);
  }
  for (int32_t k = 0; k < p->n_copies; k++) {
    const sw_copy_table *c = p->copies[k].table;
    sw_text_printf(&t, "copies %d ", p->copies[k].maker);
    put(&t, c->cost, (int64_t)c->n_classes * c->n_layouts, sizeof *c->cost);
  }
  assert_int_equal(t.rc, SW_OK);
  return t;
}

static bool say_the_same(const sw_problem *a, const sw_problem *b) {
  sw_text x = said_by(a), y = said_by(b);
  const bool same = x.n == y.n && memcmp(x.at, y.at, x.n) == 0;
  sw_text_free(&x);
  sw_text_free(&y);
  return same;
}

/* --- a relaxation ------------------------------------------------------------------------------------------------- */

/* A problem that stands, its relaxation, and what that was told of lives. */
typedef struct subject {
  sw_rng *g;
  sw_arena *arena;
  const sw_problem *p;
  sw_relaxation *r;
  int32_t *x; /* a choice */
  sw_solve_state kept;
  int n_calls;
  struct {
    int32_t *choice;
    int64_t limit;
  } call[MOST_CALLS];
} subject;

static void choose(subject *s) {
  for (int32_t i = 0; i < s->p->n_nodes; i++) s->x[i] = (int32_t)sw_rng_below(s->g, s->p->nodes[i].n_choices);
}

static subject subject_of(const sw_problem *p, sw_rng *g, sw_arena *a) {
  subject s = {.g = g, .arena = a, .p = p, .x = take(a, (size_t)p->n_nodes, sizeof *s.x)};
  assert_ok(sw_relaxation_make(p, a, &s.r, &diag));
  return s;
}

/* A relaxation of the problem as it is, told at once how the other one counts. */
static sw_relaxation *made_anew(const subject *s, sw_arena *a) {
  sw_relaxation *r;
  assert_ok(sw_relaxation_make(s->p, a, &r, &diag));
  for (size_t k = 0; k < r->patterns.n; k++) {
    const sel_pattern *from = &s->r->patterns.at[k];
    sel_pattern *to = &r->patterns.at[k];
    to->whole = from->whole;
    to->share = from->share;
    for (int32_t i = 0; i < from->n_shared; i++) assert_ok(sel_pattern_share(to, from->shared[i], &diag));
  }
  for (int i = 0; i < s->n_calls; i++) assert_ok(sel_lives_count(r, s->call[i].choice, s->call[i].limit, &diag));
  return r;
}

/* How it is counted changes. */
static void change_counting(subject *s) {
  bool refined;
  int64_t work;
  const sw_split_options split = {.passes = (int)sw_rng_below(s->g, 20), .target = 100};
  choose(s);
  switch (sw_rng_below(s->g, 4)) {
    case 0:
      assert_ok(sw_relaxation_refine(s->r, s->x, &refined, &diag));
      break;
    case 1:
      assert_ok(sw_relaxation_split(s->r, &split, &work, &diag));
      break;
    case 2:
      sw_relaxation_price_whole(s->r, sw_rng_below(s->g, 2));
      break;
    default:
      if (s->n_calls == MOST_CALLS) return;
      s->call[s->n_calls].choice = sw_arena_copy(s->arena, s->x, (size_t)s->p->n_nodes, sizeof *s->x, &diag);
      s->call[s->n_calls].limit = sw_rng_below(s->g, 2) ? 0 : INT64_MAX / 2;
      assert_non_null(s->call[s->n_calls].choice);
      assert_ok(sw_relaxation_refine_lives(s->r, s->x, s->call[s->n_calls++].limit, &refined, &diag));
  }
}

/* Shares of every copy add up to what it costs. */
static void check_shares(const sel_pattern *p) {
  const sw_copy_table *t = p->t;
  for (int64_t k = 0; p->share && k < (int64_t)t->n_classes * t->n_layouts; k++) {
    int64_t sum = 0;
    const int32_t layout = (int32_t)(k % t->n_layouts);
    for (int32_t i = 0; i < t->n_readers; i++) sum += sel_wants(&t->wants[i], layout) ? p->share[i][k] : 0;
    if (p->wanting[layout] && t->cost[k] < SW_FORBIDDEN) assert_true(sum == t->cost[k]);
  }
}

static void check_relaxation(subject *s) {
  sw_problem now, again;
  sw_score score, truth;
  sw_relaxation *anew = made_anew(s, s->arena);
  assert_ok(sw_relaxation_problem(s->r, &now, &diag));
  assert_ok(sw_relaxation_problem(anew, &again, &diag));
  assert_true(say_the_same(&now, &again));
  for (size_t k = 0; k < s->r->patterns.n; k++) check_shares(&s->r->patterns.at[k]);
  int32_t *all = take(s->arena, (size_t)now.n_nodes, sizeof *all);
  choose(s);
  assert_ok(sw_relaxation_complete(s->r, s->x, all, &diag));
  assert_ok(sw_problem_score(&now, all, &score, &diag));
  assert_ok(sw_problem_score(s->p, s->x, &truth, &diag));
  bool whole = false;
  for (size_t k = 0; k < s->r->patterns.n; k++) whole = whole || s->r->patterns.at[k].whole;
  if (!whole) assert_true(score.cost <= truth.cost || truth.cost >= SW_FORBIDDEN);
  assert_true(score.peak <= truth.peak);
  sw_relaxation_deinit(anew);
}

/* What is proven from what was known before is what is proven from nothing. */
static void check_bound(subject *s) {
  sw_problem now;
  sw_solution cold, warm;
  sw_solve_state from, to = {0};
  sw_solve_options o = {.threads = 1};
  assert_ok(sw_relaxation_problem(s->r, &now, &diag));
  assert_ok(sw_solve(&now, &o, s->arena, &cold, &diag));
  s->kept.bound = 0;
  assert_ok(sw_relaxation_recall(s->r, &s->kept, s->arena, &from, &diag));
  o.from = &from;
  o.to = &to;
  assert_ok(sw_solve(&now, &o, s->arena, &warm, &diag));
  assert_int_equal(cold.status, warm.status);
  assert_true(cold.bound == warm.bound && (!cold.choice || cold.cost == warm.cost));
  if (to.n_links) assert_ok(sw_relaxation_keep(s->r, &to, s->arena, &s->kept, &diag));
}

/* --- problems made up --------------------------------------------------------------------------------------------- */

/* Its owner: nodes and tables can be written. */
typedef struct owner {
  sw_problem p;
  sw_node *nodes;
  const int64_t **own; /* by node: its costs without a pin */
} owner;

static void raise_a_cost(owner *o, sw_rng *g) {
  sw_copy_table *t = (sw_copy_table *)o->p.copies[sw_rng_below(g, o->p.n_copies)].table;
  int64_t *cost = (int64_t *)t->cost + sw_rng_below(g, (int64_t)t->n_classes * t->n_layouts);
  if (*cost == 0 || *cost >= SW_FORBIDDEN) return;
  *cost += 1 + sw_rng_below(g, 20);
  t->version = ++o->p.version;
}

static void pin_a_node(owner *o, sw_rng *g, sw_arena *a) {
  const int32_t i = (int32_t)sw_rng_below(g, o->p.n_nodes), n = o->nodes[i].n_choices,
                only = (int32_t)sw_rng_below(g, n);
  const bool lift = o->nodes[i].cost != o->own[i];
  int64_t *cost = take(a, (size_t)n, sizeof *cost);
  for (int32_t c = 0; c < n; c++) cost[c] = c == only ? o->own[i][c] : SW_FORBIDDEN;
  o->nodes[i].cost = lift ? o->own[i] : cost;
  o->p.version++;
}

static void change_made_up(owner *o, subject *s) {
  const int64_t what = sw_rng_below(s->g, 6);
  if (what == 0) raise_a_cost(o, s->g);
  if (what == 1) pin_a_node(o, s->g, s->arena);
  if (what == 2) o->p.limit = sw_rng_below(s->g, 60), o->p.version++;
  if (what > 2) change_counting(s);
}

static void check_certificate(const sw_problem *p, sw_arena *a) {
  sw_text proof = {0};
  sw_solution x;
  int64_t bound;
  const sw_solve_options o = {.threads = 1, .certificate = &proof};
  assert_ok(sw_solve(p, &o, a, &x, &diag));
  assert_ok(sw_certificate_check(p, sw_text_str(&proof), proof.n, "proof", &bound, &diag));
  assert_true(bound == (x.status == SW_SOLVE_INFEASIBLE ? SW_FORBIDDEN : x.bound));
  sw_text_free(&proof);
}

static void made_up_problems(void **state) {
  (void)state;
  sw_rng g;
  int n = 0;
  sw_rng_seed(&g, check_seed(61));
  for (int k = 0; k < check_scale(100); k++) {
    sw_arena a = {0};
    owner o = {.p = small_copies(&g, &a, k)};
    if (o.p.n_copies) {
      o.nodes = (sw_node *)o.p.nodes;
      o.own = take(&a, (size_t)o.p.n_nodes, sizeof *o.own);
      for (int32_t i = 0; i < o.p.n_nodes; i++) o.own[i] = o.nodes[i].cost;
      subject s = subject_of(&o.p, &g, &a);
      for (int i = 0; i < DELTAS; i++) {
        change_made_up(&o, &s);
        check_relaxation(&s);
        check_bound(&s);
        if (++n % CERTIFICATES_EVERY == 0) check_certificate(&o.p, &a);
      }
      sw_relaxation_deinit(s.r);
    }
    sw_arena_deinit(&a);
  }
  assert_true(n > 0);
}

/* --- problems of graphs ------------------------------------------------------------------------------------------- */

/* Some sharding of what an op makes. */
static sw_pin some_pin(const sw_job *j, sw_rng *g, sw_arena *a) {
  const sw_id value = j->graph->ops[sw_rng_below(g, j->graph->n_ops)].results[0];
  const sw_type *type = &j->graph->values[value].type;
  sw_listed_shardings all;
  assert_ok(sw_shardings_enumerate(NULL, sw_machine_mesh(j->machine), type->rank, type->dims, 0, a, &all, &diag));
  return (sw_pin){.value = value, .sharding = all.at[sw_rng_below(g, all.n)]};
}

/* Choices whose routes have been settled, and the pin that is set. */
typedef struct told {
  int n, n_pins;
  int32_t *settled[DELTAS];
  sw_pin pin;
} told;

static void change_selection(sw_selection *sel, const sw_job *j, subject *s, told *t) {
  const int64_t what = sw_rng_below(s->g, 3);
  if (what == 0) {
    choose(s);
    t->settled[t->n] = sw_arena_copy(s->arena, s->x, (size_t)s->p->n_nodes, sizeof *s->x, &diag);
    assert_ok(sw_selection_settle(sel, t->settled[t->n++], 0, &diag));
  }
  if (what == 1) {
    t->pin = some_pin(j, s->g, s->arena);
    t->n_pins = sw_rng_below(s->g, 3) > 0;
    if (sw_selection_pin(sel, t->n_pins, &t->pin, &diag)) t->n_pins = 0; /* no choice meets it */
  }
  if (what == 2) change_counting(s);
}

/* The same problem, told at once. */
static void check_selection(const sw_selection *sel, const sw_job *j, const sw_selection_options *o, const told *t,
                            sw_arena *a) {
  sw_selection *anew;
  int64_t least;
  assert_ok(sw_selection_build(j, o, a, &anew, &least, &diag));
  for (int i = 0; i < t->n; i++) assert_ok(sw_selection_settle(anew, t->settled[i], 0, &diag));
  assert_ok(sw_selection_pin(anew, t->n_pins, &t->pin, &diag));
  assert_true(say_the_same(sw_selection_problem(sel), sw_selection_problem(anew)));
  sw_selection_deinit(anew);
}

static void problems_of_graphs(void **state) {
  (void)state;
  static const char *const kModels[] = {"mlp", "mlp-train"};
  sw_rng g;
  int risen = 0;
  sw_rng_seed(&g, check_seed(62));
  for (int k = 0; k < check_scale(4); k++) {
    sw_arena a = {0};
    sw_graph *graph = small_model(kModels[k % 2]);
    const sw_job *j = JOB(graph, machine_of("dgx-h100", k % 4 < 2 ? "x=2,y=2" : "x=4", &a));
    const sw_selection_options o = {.capacity_bytes = INT64_MAX};
    sw_selection *sel;
    int64_t least;
    told t = {0};
    assert_ok(sw_selection_build(j, &o, &a, &sel, &least, &diag));
    subject s = subject_of(sw_selection_problem(sel), &g, &a);
    for (int i = 0; i < DELTAS; i++) {
      const int64_t version = s.p->version;
      sw_text before = said_by(s.p);
      change_selection(sel, j, &s, &t);
      sw_text now = said_by(s.p);
      if (s.p->version == version) assert_true(now.n == before.n && memcmp(now.at, before.at, now.n) == 0);
      risen += s.p->version != version;
      check_relaxation(&s);
      check_selection(sel, j, &o, &t, &a);
      sw_text_free(&before);
      sw_text_free(&now);
    }
    sw_relaxation_deinit(s.r);
    sw_selection_deinit(sel);
    sw_graph_destroy(graph);
    sw_arena_deinit(&a);
  }
  assert_true(risen > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(made_up_problems), cmocka_unit_test(problems_of_graphs)};
  return cmocka_run_group_tests_name("deltas", tests, NULL, NULL);
}
