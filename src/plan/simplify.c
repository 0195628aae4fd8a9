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
typedef struct simplifier {
  int64_t most;          /* units that a plan may cost */
  int64_t points;        /* of the best */
  int64_t points_of_now; /* of the last choice */
  double price;          /* of a point */
  int tries;
  const uint8_t **of_choice;
  int32_t *role; /* by node, by names */
  int32_t *part_of, *united;
  sw_simplicity simplicity;
} simplifier;

/* --- points of choices ------------------------------------------------------------------------------------------- */

static int64_t count_elements(const sw_type *t) {
  int64_t n = 1;
  for (int i = 0; i < t->rank; i++) n = sw_cost_times(t->dims[i], n);
  return n;
}

static bool is_held(const sw_value *v) { return v->kind == SW_VALUE_PARAMETER || v->kind == SW_VALUE_STATE; }

/* Arguments are the first nodes. */
static sw_rc add_small(const sw_search *k, uint8_t **points, sw_diag *d) {
  int64_t most = 0;
  for (int32_t i = 0; i < k->job.graph->n_args; i++)
    most = sw_max_i64(most, count_elements(&k->job.graph->values[k->job.graph->args[i]].type));
  for (int32_t i = 0; i < k->job.graph->n_args; i++) {
    const sw_value *v = &k->job.graph->values[k->job.graph->args[i]];
    const int32_t n = k->problem->nodes[i].n_choices;
    if (!is_held(v) || count_elements(&v->type) > most / kSmall) continue;
    if (!points[i]) SW_ARENA_NEW(points[i], k->arena, n, d);
    for (int32_t c = 0; c < n; c++) {
      if (!sw_sharding_is_replicated(sw_selection_sharding(k->selection, i, c))) points[i][c] += POINTS_SMALL;
    }
  }
  return SW_OK;
}

static sw_rc add_away(const sw_search *k, uint8_t **points, sw_diag *d) {
  const sw_plan *from = k->asked->start;
  int32_t *choice;
  bool *missing, all;
  if (!from) return SW_OK;
  SW_TRY(sw_search_encode(k, from, &choice, &missing, &all, d));
  for (int32_t i = 0; i < k->problem->n_nodes; i++) {
    const int32_t n = k->problem->nodes[i].n_choices;
    if (missing[i]) continue;
    if (!points[i]) SW_ARENA_NEW(points[i], k->arena, n, d);
    for (int32_t c = 0; c < n; c++)
      if (c != choice[i]) points[i][c] += POINTS_AWAY;
  }
  return SW_OK;
}

static sw_rc make_points(const sw_search *k, simplifier *m, sw_diag *d) {
  uint8_t **points;
  SW_ARENA_NEW(points, k->arena, k->problem->n_nodes, d);
  SW_TRY(add_small(k, points, d));
  SW_TRY(add_away(k, points, d));
  m->of_choice = (const uint8_t **)points;
  return SW_OK;
}

/* --- roles by names ---------------------------------------------------------------------------------------------- */

static bool ends_part(char c) { return c == '\0' || strchr("./[]", c) != NULL; }

bool sw_put_role(const char *name, sw_text *out) {
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
static sw_rc find_unit_roles(const sw_search *k, simplifier *m, sw_dict *seen, sw_text *key, sw_diag *d) {
  const sw_units units = sw_units_of(&k->job);
  SW_ARENA_NEW(m->role, k->arena, k->problem->n_nodes, d);
  for (int32_t i = 0; i < k->problem->n_nodes; i++) {
    const sw_node *node = &k->problem->nodes[i];
    const sw_unit unit = sw_unit_at(&units, i);
    int64_t *at;
    key->n = 0;
    m->role[i] = -1;
    sw_text_append(key, (const char *)&node->cost, sizeof node->cost);
    if (unit.kind == SW_UNIT_OUTPUT || !sw_put_role(unit_name(k->job.graph, &unit), key)) continue;
    if (key->rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
    SW_TRY(sw_dict_put(seen, key->at, key->n, i, &at, NULL, d));
    m->role[i] = (int32_t)*at;
  }
  return SW_OK;
}

static sw_rc make_roles(const sw_search *k, simplifier *m, sw_diag *d) {
  sw_dict seen = {0};
  sw_text key = {0};
  sw_rc rc = find_unit_roles(k, m, &seen, &key, d);
  if (!rc) rc = sw_simplicity_make(k->problem, m->role, m->of_choice, k->arena, &m->simplicity, d);
  sw_dict_deinit(&seen);
  sw_text_free(&key);
  return rc;
}

/* --- as a form: points as a second objective ---------------------------------------------------------------------- */

/* First where each role chooses as most of it do, and from there; then from the best, at ever lower prices of points.
 */
static sw_rc begin_simple(sw_search *k, bool *due, sw_diag *d) {
  const double kOfWork = 0.08, kLeastWork = 4e7, kLeast_s = 0.3; /* of the search */
  simplifier *m;
  *due = k->asked->simplicity > 0 && !k->answer && k->best.choice;
  if (!*due) return SW_OK;
  SW_ARENA_NEW(m, k->arena, 1, d);
  SW_ARENA_NEW_EACH(k->arena, k->problem->n_nodes, d, m->united, m->part_of);
  SW_TRY(make_points(k, m, d));
  SW_TRY(make_roles(k, m, d));
  SW_TRY(sw_simplicity_points(&m->simplicity, k->best.choice, &m->points, d));
  SW_TRY(sw_simplicity_unite(&m->simplicity, k->best.choice, m->united, d));
  m->most = (int64_t)((1 + k->asked->simplicity) * (double)k->best.cost);
  m->price = kWorthCopy * (double)k->best.cost / SW_POINTS_COPY;
  k->limit = k->selected.capacity_bytes;
  k->found_units = k->best.cost;
  k->form.limit = (double)k->work + fmax(kLeastWork, kOfWork * (double)k->work);
  k->form.counted = true;
  if (k->form.deadline_s > 0) k->form.deadline_s = fmax(k->form.deadline_s, sw_now_s() + kLeast_s);
  k->own = m;
  return SW_OK;
}

/* The problem of parts that choose alike, points at a price among its costs. */
static sw_rc make_simple(sw_search *k, sw_round *r, sw_diag *d) {
  const double kGap = 1e-5, kOfLeft = 1.0 / 2;
  simplifier *m = k->own;
  const sw_solve_options *o = &k->asked->solve;
  int32_t *start;
  r->given = m->tries == 0;
  if (r->given) {
    r->now = (sw_solution){.choice = m->united, .solver = k->best.solver};
    return SW_OK;
  }
  SW_ARENA_NEW(start, &k->mem, k->problem->n_nodes, d);
  SW_TRY(sw_simplicity_problem(&m->simplicity, m->tries == 1 ? m->united : k->best.choice, (int64_t)ceil(m->price),
                               &k->mem, &r->problem, m->part_of, start, d));
  r->problem.limit = k->limit;
  r->from = (sw_solve_state){.n_nodes = r->problem.n_nodes, .choice = start};
  r->o = (sw_solve_options){
      .solver = SW_SOLVER_NATIVE, .gap = kGap, .threads = 1, .seed = o->seed, .cancel = o->cancel, .from = &r->from};
  r->part = kOfLeft;
  return SW_OK;
}

static sw_rc read_simple(sw_search *k, sw_round *r, sw_diag *d) {
  const simplifier *m = k->own;
  int32_t *choice;
  if (!r->now.choice) return SW_OK;
  SW_ARENA_NEW(choice, k->arena, k->problem->n_nodes, d);
  for (int32_t i = 0; i < k->problem->n_nodes; i++) choice[i] = r->now.choice[m->part_of[i]];
  r->now.choice = choice;
  r->now.solver = k->best.solver;
  return SW_OK;
}

/* Simpler than the best, or as simple and cheaper; and cheap enough. */
static sw_rc judge_simple(sw_search *k, sw_round *r, bool *better, sw_diag *d) {
  simplifier *m = k->own;
  SW_TRY(sw_simplicity_points(&m->simplicity, r->now.choice, &m->points_of_now, d));
  const int64_t points = m->points_of_now;
  *better = r->cost <= m->most && (points < m->points || (points == m->points && r->cost < k->best.cost));
  return SW_OK;
}

static sw_rc add_simple(sw_search *k, sw_round *r, sw_diag *d) {
  simplifier *m = k->own;
  const bool raised = r->added & SW_ADDED_PRICES, dear = r->cost > m->most, first = m->tries <= 1;
  (void)d;
  if (!r->now.choice) return SW_OK;
  if (r->kept) m->points = m->points_of_now;
  if (!first && dear && !raised) {
    m->price *= kLess;
    r->added |= SW_ADDED_RATES;
  }
  const bool idle = !dear && !r->kept && !(r->added & SW_ADDED_CUT);
  r->again = m->tries++ < MOST_TRIES && (first || !idle || raised) && !sw_cancelled(k->asked->solve.cancel);
  return SW_OK;
}

const sw_form sw_form_simple = {.name = "simple",
                                .part = 1,
                                .closing = true,
                                .begin = begin_simple,
                                .make = make_simple,
                                .read = read_simple,
                                .judge = judge_simple,
                                .add = add_simple};
