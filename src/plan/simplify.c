/* The simplest plan among those that cost little more than the cheapest one found: the same roles cut alike in all
 * layers, few reshards, small arguments whole, near to the plan to start from.
 *
 * What is not simple has points (select/simple.h), and points have a price: a kind of reshard that saves less than a
 * thousandth of the time is not worth it, nor a small argument cut for a ten-thousandth. The problem of roles is solved
 * at that price; where its plan is too dear, or holds too much, at a lower one. What the search has proven stays true
 * of all plans, so it is told of the plan chosen: its gap is from its own cost.
 */
#include "plan/search.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/hash.h"
#include "select/simple.h"

enum {
  POINTS_SMALL = 1, /* an argument is cut that is small */
  POINTS_AWAY = 2,  /* another choice than that of the plan to start from */
  MOST_TRIES = 5,
};

/* An argument is small beside one of so many times its elements. */
static const int64_t kSmall = 1000;
/* Of the time: what a kind of reshard is to save. */
static const double kWorthCopy = 1e-3;
/* From one price of points to the next, where a plan was too dear. */
static const double kLess = 0.25;
/* Of the work of the search. */
static const double kOfWork = 0.08, kLeastWork = 4e7;
static const double kGap = 1e-5, kOfLeft = 0.5;

/* A choice that was found. */
typedef struct candidate {
  int32_t *choice;
  int64_t cost, points;
  bool raised; /* it seemed cheaper, as prices were not exact */
} candidate;

typedef struct simplifier {
  const sw_searcher *s;
  sw_fit fit;
  int64_t most;      /* units that a plan may cost */
  double work_until; /* of sw_search_used */
  const uint8_t **points;
  int32_t *role; /* by node, by names */
  sw_simplicity simplicity;
  candidate best;
} simplifier;

/* --- points of choices ------------------------------------------------------------------------------------------- */

static int64_t count_elements(const sw_type *t) {
  int64_t n = 1;
  for (int i = 0; i < t->rank; i++) n = sw_cost_times(t->dims[i], n);
  return n;
}

static bool is_held(const sw_value *v) { return v->kind == SW_VALUE_PARAMETER || v->kind == SW_VALUE_STATE; }

/* Arguments are the first nodes. */
static sw_rc add_small(const simplifier *m, uint8_t **points, sw_diag *d) {
  const sw_searcher *s = m->s;
  int64_t most = 0;
  for (int32_t i = 0; i < s->job.graph->n_args; i++)
    most = sw_max_i64(most, count_elements(&s->job.graph->values[s->job.graph->args[i]].type));
  for (int32_t i = 0; i < s->job.graph->n_args; i++) {
    const sw_value *v = &s->job.graph->values[s->job.graph->args[i]];
    const int32_t n = s->problem->nodes[i].n_choices;
    if (!is_held(v) || count_elements(&v->type) > most / kSmall) continue;
    if (!points[i]) SW_ARENA_NEW(points[i], s->arena, n, d);
    for (int32_t k = 0; k < n; k++) {
      if (!sw_sharding_is_replicated(sw_selection_sharding(s->selection, i, k))) points[i][k] += POINTS_SMALL;
    }
  }
  return SW_OK;
}

static sw_rc add_away(const simplifier *m, uint8_t **points, sw_diag *d) {
  const sw_searcher *s = m->s;
  const sw_plan *from = s->o->start;
  int32_t *choice;
  bool *missing;
  if (!from) return SW_OK;
  SW_ARENA_NEW(choice, s->arena, s->problem->n_nodes, d);
  SW_ARENA_NEW(missing, s->arena, s->problem->n_nodes, d);
  sw_selection_encode(s->selection, sw_plan_selected(from), choice, missing);
  for (int32_t i = 0; i < s->problem->n_nodes; i++) {
    const int32_t n = s->problem->nodes[i].n_choices;
    if (missing[i]) continue;
    if (!points[i]) SW_ARENA_NEW(points[i], s->arena, n, d);
    for (int32_t k = 0; k < n; k++)
      if (k != choice[i]) points[i][k] += POINTS_AWAY;
  }
  return SW_OK;
}

static sw_rc make_points(simplifier *m, sw_diag *d) {
  uint8_t **points;
  SW_ARENA_NEW(points, m->s->arena, m->s->problem->n_nodes, d);
  SW_TRY(add_small(m, points, d));
  SW_TRY(add_away(m, points, d));
  m->points = (const uint8_t **)points;
  return SW_OK;
}

/* --- roles by names ---------------------------------------------------------------------------------------------- */

static bool ends_part(char c) { return c == '\0' || strchr("./[]", c) != NULL; }

/* The name with every number of a layer (a part of it that is a number, behind which another follows) left out;
 * false: it has none. */
static bool put_role(const char *name, sw_text *out) {
  bool any = false;
  for (const char *at = name; *at;) {
    const size_t digits = strspn(at, "0123456789");
    const bool begins = at == name || ends_part(at[-1]);
    const char *behind = at + digits + strspn(at + digits, "./[]");
    const bool layer = begins && digits && behind > at + digits && *behind;
    if (!layer) sw_text_append(out, at, digits ? digits : 1);
    if (layer) sw_text_puts(out, "#");
    any = any || layer;
    at += digits ? digits : 1;
  }
  return any;
}

static const char *unit_name(const sw_graph *g, const sw_unit *unit) {
  return unit->kind == SW_UNIT_OP ? g->ops[unit->id].name : g->values[unit->makes[0]].name;
}

/* Units that have the same options at the same prices, and names that differ by numbers of layers alone. */
static sw_rc find_unit_roles(simplifier *m, sw_dict *seen, sw_text *key, sw_diag *d) {
  const sw_searcher *s = m->s;
  const sw_units units = sw_units_of(&s->job);
  SW_ARENA_NEW(m->role, s->arena, s->problem->n_nodes, d);
  for (int32_t i = 0; i < s->problem->n_nodes; i++) {
    const sw_node *node = &s->problem->nodes[i];
    const sw_unit unit = sw_unit_at(&units, i);
    int64_t *at;
    key->n = 0;
    m->role[i] = -1;
    sw_text_append(key, (const char *)&node->cost, sizeof node->cost);
    if (unit.kind == SW_UNIT_OUTPUT || !put_role(unit_name(s->job.graph, &unit), key)) continue;
    if (key->rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
    SW_TRY(sw_dict_put(seen, key->at, key->n, i, &at, NULL, d));
    m->role[i] = (int32_t)*at;
  }
  return SW_OK;
}

static sw_rc make_roles(simplifier *m, sw_diag *d) {
  sw_dict seen = {0};
  sw_text key = {0};
  sw_rc rc = find_unit_roles(m, &seen, &key, d);
  if (!rc) rc = sw_simplicity_make(m->s->problem, m->role, m->points, m->s->arena, &m->simplicity, d);
  sw_dict_deinit(&seen);
  sw_text_free(&key);
  return rc;
}

/* --- simpler choices --------------------------------------------------------------------------------------------- */

/* Routes that a choice takes are priced exactly; those near are not searched for. */
static sw_rc settle_choice(const simplifier *m, const int32_t *choice, int64_t *cost, bool *raised, sw_diag *d) {
  const double kPast_s = 1e-9;
  *raised = false;
  SW_TRY(sw_selection_settle(m->s->selection, choice, kPast_s, raised, d));
  if (*raised) SW_TRY(sw_relaxation_reprice(m->s->relaxed, d));
  *cost = sw_problem_cost(m->s->problem, choice);
  return SW_OK;
}

/* The plan of a choice, if it holds no more than the capacity; *excess: how much more. */
static sw_rc take_plan_of_choice(const simplifier *m, const int32_t *choice, int64_t cost, sw_plan *out,
                                 int64_t *excess, sw_diag *d) {
  const sw_graph *g = m->s->job.graph;
  sw_plan plan = *out;
  const sw_solution sol = {.choice = (int32_t *)choice, .cost = cost, .solver = out->solver};
  int64_t peak;
  SW_ARENA_NEW(plan.ops, m->s->arena, g->n_ops, d);
  SW_ARENA_NEW(plan.args, m->s->arena, g->n_args, d);
  SW_ARENA_NEW(plan.outputs, m->s->arena, g->n_outputs, d);
  SW_TRY(sw_search_take(m->s, &sol, &m->fit, &plan, &peak, d));
  *excess = sw_max_i64(0, peak - m->fit.capacity);
  if (*excess == 0) *out = plan;
  return SW_OK;
}

/* The problem at a price of points, from a choice on: the one it leads to; *choice NULL: none was found. */
static sw_rc solve_at_point_price(simplifier *m, const int32_t *begin, int64_t limit, double price, int32_t **choice,
                                  sw_diag *d) {
  const sw_searcher *s = m->s;
  const int32_t n = s->problem->n_nodes;
  const double left = m->work_until - sw_search_used(s);
  sw_problem parts;
  sw_solution sol;
  int32_t *start, *part_of;
  *choice = NULL;
  if (left <= 0 || sw_cancelled(s->o->solve.cancel)) return SW_OK;
  SW_ARENA_NEW(start, s->arena, n, d);
  SW_ARENA_NEW(part_of, s->arena, n, d);
  SW_TRY(sw_simplicity_problem(&m->simplicity, begin, (int64_t)ceil(price), s->arena, &parts, part_of, start, d));
  parts.limit = limit;
  const sw_solve_state from = {.n_nodes = parts.n_nodes, .choice = start};
  sw_solve_options o = {.solver = SW_SOLVER_NATIVE,
                        .gap = kGap,
                        .threads = 1,
                        .seed = s->o->solve.seed,
                        .cancel = s->o->solve.cancel,
                        .from = &from};
  const sw_searcher some = sw_search_for(s, kOfLeft * left);
  SW_TRY(sw_search_call(&some, &parts, 1, &o, s->arena, &sol, d));
  if (!sol.choice) return SW_OK;
  SW_ARENA_NEW(*choice, s->arena, n, d);
  for (int32_t i = 0; i < n; i++) (*choice)[i] = sol.choice[part_of[i]];
  return SW_OK;
}

static sw_rc judge_candidate(simplifier *m, candidate *c, sw_diag *d) {
  SW_TRY(settle_choice(m, c->choice, &c->cost, &c->raised, d));
  SW_TRY(sw_simplicity_points(&m->simplicity, c->choice, &c->points, d));
  return SW_OK;
}

/* Simpler than the best, or as simple and cheaper? */
static bool is_simpler(const simplifier *m, const candidate *c) {
  return c->cost <= m->most && (c->points < m->best.points || (c->points == m->best.points && c->cost < m->best.cost));
}

/* Keep what is simpler, cheap enough, and fits; else *limit is lowered by what it holds too much. */
static sw_rc keep_simpler(simplifier *m, const candidate *c, sw_plan *out, int64_t *limit, sw_diag *d) {
  int64_t excess;
  if (!is_simpler(m, c)) return SW_OK;
  SW_TRY(take_plan_of_choice(m, c->choice, c->cost, out, &excess, d));
  if (excess == 0) m->best = *c;
  *limit = sw_max_i64(0, *limit - excess);
  return SW_OK;
}

/* First where each role chooses as most of it do, and from there; then from the best, at ever lower prices of points.
 */
static sw_rc simplify(simplifier *m, sw_plan *out, sw_diag *d) {
  double price = kWorthCopy * (double)m->best.cost / SW_POINTS_COPY;
  int64_t limit = m->fit.capacity;
  int32_t *united;
  candidate c;
  SW_ARENA_NEW(united, m->s->arena, m->s->problem->n_nodes, d);
  SW_TRY(sw_simplicity_unite(&m->simplicity, m->best.choice, united, d));
  c.choice = united;
  SW_TRY(judge_candidate(m, &c, d));
  SW_TRY(keep_simpler(m, &c, out, &limit, d));
  for (int k = 0; k < MOST_TRIES; k++) {
    SW_TRY(solve_at_point_price(m, k ? m->best.choice : united, limit, price, &c.choice, d));
    if (!c.choice) return SW_OK;
    SW_TRY(judge_candidate(m, &c, d));
    const bool dear = c.cost > m->most, idle = !dear && !is_simpler(m, &c);
    if (k && idle && !c.raised) return SW_OK;
    if (k && dear && !c.raised) price *= kLess;
    SW_TRY(keep_simpler(m, &c, out, &limit, d));
  }
  return SW_OK;
}

sw_rc sw_search_simplify(const sw_searcher *s, sw_plan *out, sw_diag *d) {
  simplifier m = {.s = s, .fit = {.capacity = out->capacity_bytes, .bound = out->bound_units, .found = true}};
  bool *missing, raised;
  out->found_units = out->cost_units;
  if (s->o->simplicity <= 0 || !s->selection || strcmp(out->origin, "search") != 0) return SW_OK;
  const int32_t n = s->problem->n_nodes;
  SW_ARENA_NEW(m.best.choice, s->arena, n, d);
  SW_ARENA_NEW(missing, s->arena, n, d);
  sw_selection_encode(s->selection, sw_plan_selected(out), m.best.choice, missing);
  for (int32_t i = 0; i < n; i++)
    if (missing[i]) return SW_OK;
  SW_TRY(settle_choice(&m, m.best.choice, &m.best.cost, &raised, d));
  m.most = (int64_t)((1 + s->o->simplicity) * (double)sw_min_i64(m.best.cost, out->cost_units));
  m.work_until = sw_search_used(s) + fmax(kLeastWork, kOfWork * sw_search_used(s));
  SW_TRY(make_points(&m, d));
  SW_TRY(make_roles(&m, d));
  SW_TRY(sw_simplicity_points(&m.simplicity, m.best.choice, &m.best.points, d));
  return simplify(&m, out, d);
}
