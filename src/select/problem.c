/* The selection problem as data: is it well formed, and what does a choice cost?
 *
 * This file stands alone: no solver is called here, so what it says about a solution is an independent check.
 * Example: two nodes of memory 3 in steps [0, 4) and 5 in [2, 6) peak at 8, at step 2.
 */
#include "shardwright/select.h"
#include "base/lists.h"

#include <stdlib.h>
#include <string.h>

static sw_rc verify_costs(const int64_t *cost, int64_t n, const char *what, int64_t at, sw_diag *d) {
  if (!cost) return SW_FAIL_INPUT(d, SW_NOWHERE, "%s %lld has no costs", what, (long long)at);
  for (int64_t k = 0; k < n; k++)
    if (cost[k] < 0 || cost[k] > SW_FORBIDDEN)
      return SW_FAIL_INPUT(d, SW_NOWHERE, "cost %lld of %s %lld is %lld; expected 0 to 10^18", (long long)k, what,
                           (long long)at, (long long)cost[k]);
  return SW_OK;
}

static sw_rc verify_use(const sw_usage *u, int32_t n_choices, int32_t node, int32_t at, sw_diag *d) {
  if (u->begin > u->end)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "use %d of node %d begins at %lld and ends before, at %lld", at, node,
                         (long long)u->begin, (long long)u->end);
  if (!u->amount) return SW_FAIL_INPUT(d, SW_NOWHERE, "use %d of node %d has no amounts", at, node);
  for (int32_t s = 0; s < n_choices; s++)
    if (u->amount[s] < 0)
      return SW_FAIL_INPUT(d, SW_NOWHERE, "amount %d of use %d of node %d is %lld; expected 0 or more", s, at, node,
                           (long long)u->amount[s]);
  return SW_OK;
}

static sw_rc verify_node(const sw_problem *p, int32_t i, sw_diag *d) {
  const sw_node *v = &p->nodes[i];
  if (v->n_choices < 1)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "node %d has %d choices; expected 1 or more", i, v->n_choices);
  if (v->n_uses < 0 || (v->n_uses > 0 && !v->uses))
    return SW_FAIL_INPUT(d, SW_NOWHERE, "node %d has %d uses; expected 0 or more", i, v->n_uses);
  SW_TRY(verify_costs(v->cost, v->n_choices, "node", i, d));
  for (int32_t k = 0; k < v->n_uses; k++) SW_TRY(verify_use(&v->uses[k], v->n_choices, i, k, d));
  return SW_OK;
}

/* `what`: of whom the classes are, for messages. */
static sw_rc verify_classes(const int32_t *class_of, int32_t n, int32_t n_classes, const char *what, int32_t at,
                            sw_diag *d) {
  for (int32_t s = 0; s < n; s++)
    if (class_of[s] < 0 || class_of[s] >= n_classes)
      return SW_FAIL_INPUT(d, SW_NOWHERE, "choice %d of the %s of copies %d is of class %d; expected 0 to %d", s, what,
                           at, class_of[s], n_classes - 1);
  return SW_OK;
}

static sw_rc verify_wants(const sw_wants *w, int32_t n_layouts, int32_t at, sw_diag *d) {
  SW_TRY(verify_classes(w->class_of, w->n_choices, w->n_classes, "reader", at, d));
  if (w->first[0] != 0)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "the wants of copies %d begin at %d; expected 0", at, w->first[0]);
  for (int32_t c = 0; c < w->n_classes; c++) {
    if (w->first[c + 1] < w->first[c])
      return SW_FAIL_INPUT(d, SW_NOWHERE, "class %d of a reader of copies %d wants less than nothing", c, at);
    for (int32_t k = w->first[c]; k < w->first[c + 1]; k++) {
      bool again = false;
      for (int32_t a = w->first[c]; a < k; a++) again |= w->layout[a] == w->layout[k];
      if (again || w->layout[k] < 0 || w->layout[k] >= n_layouts)
        return SW_FAIL_INPUT(d, SW_NOWHERE, "class %d of a reader of copies %d wants layout %d; expected 0 to %d, once",
                             c, at, w->layout[k], n_layouts - 1);
    }
  }
  return SW_OK;
}

static sw_rc verify_copy_table(const sw_copy_table *t, int32_t at, sw_diag *d) {
  SW_TRY(verify_classes(t->class_of, t->n_choices, t->n_classes, "maker", at, d));
  SW_TRY(verify_costs(t->cost, (int64_t)t->n_classes * t->n_layouts, "copies", at, d));
  for (int32_t i = 0; i < t->n_readers; i++) SW_TRY(verify_wants(&t->wants[i], t->n_layouts, at, d));
  return SW_OK;
}

static sw_rc verify_end(const sw_problem *p, int32_t node, int32_t n_choices, int32_t at, sw_diag *d) {
  if (node < 0 || node >= p->n_nodes)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "copies %d name node %d; expected 0 to %d", at, node, p->n_nodes - 1);
  if (p->nodes[node].n_choices != n_choices)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "copies %d have %d choices for node %d, which has %d", at, n_choices, node,
                         p->nodes[node].n_choices);
  return SW_OK;
}

/* Groups with one table stand together as a rule: it is looked at once. */
static sw_rc verify_copies(const sw_problem *p, sw_diag *d) {
  const sw_copy_table *last = NULL;
  for (int32_t k = 0; k < p->n_copies; k++) {
    const sw_copies *c = &p->copies[k];
    SW_TRY(verify_end(p, c->maker, c->table->n_choices, k, d));
    for (int32_t i = 0; i < c->table->n_readers; i++) {
      SW_TRY(verify_end(p, c->reader[i], c->table->wants[i].n_choices, k, d));
      if (c->reader[i] == c->maker)
        return SW_FAIL_INPUT(d, SW_NOWHERE, "copies %d: node %d reads what it makes", k, c->maker);
    }
    if (c->table != last) SW_TRY(verify_copy_table(c->table, k, d));
    last = c->table;
  }
  return SW_OK;
}

sw_rc sw_problem_verify(const sw_problem *p, sw_diag *d) {
  if (p->n_nodes < 0 || p->n_edges < 0 || p->n_copies < 0)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "a problem of %d nodes, %d edges and %d copies; expected 0 or more", p->n_nodes,
                         p->n_edges, p->n_copies);
  if (p->limit < 0) return SW_FAIL_INPUT(d, SW_NOWHERE, "memory limit %lld; expected 0 or more", (long long)p->limit);
  for (int32_t i = 0; i < p->n_nodes; i++) SW_TRY(verify_node(p, i, d));
  for (int32_t e = 0; e < p->n_edges; e++) {
    const sw_edge *g = &p->edges[e];
    if (g->i < 0 || g->i >= p->n_nodes || g->j < 0 || g->j >= p->n_nodes)
      return SW_FAIL_INPUT(d, SW_NOWHERE, "edge %d joins nodes %d and %d; expected 0 to %d", e, g->i, g->j,
                           p->n_nodes - 1);
    if (g->i == g->j) return SW_FAIL_INPUT(d, SW_NOWHERE, "edge %d joins node %d with itself", e, g->i);
    SW_TRY(verify_costs(g->cost, (int64_t)p->nodes[g->i].n_choices * p->nodes[g->j].n_choices, "edge", e, d));
  }
  return verify_copies(p, d);
}

typedef struct peak_event {
  int64_t time;
  sw_i128 change;
} peak_event;

static int by_time(const void *a, const void *b) {
  const peak_event *x = a, *y = b;
  return (x->time > y->time) - (x->time < y->time);
}

/* The reader's layouts under a choice. */
static const int32_t *wanted_by(const sw_copies *c, int32_t reader, const int32_t *choice, int32_t *n) {
  const sw_wants *w = &c->table->wants[reader];
  const int32_t class = w->class_of[choice[c->reader[reader]]];
  *n = w->first[class + 1] - w->first[class];
  return w->layout + w->first[class];
}

static bool wants(const sw_copies *c, int32_t reader, const int32_t *choice, int32_t layout) {
  int32_t n;
  const int32_t *list = wanted_by(c, reader, choice, &n);
  return sw_list_has_i32(list, n, layout);
}

int32_t sw_copies_most_held(const sw_copies *c) {
  int32_t n = 1;
  for (int32_t i = 0; c->lives && i < c->table->n_readers; i++) {
    const sw_wants *w = &c->table->wants[i];
    int32_t most = 0;
    for (int32_t k = 0; k < w->n_classes; k++)
      most = w->first[k + 1] - w->first[k] > most ? w->first[k + 1] - w->first[k] : most;
    n += most;
  }
  return n;
}

/* The life of a copy that reader `first` is the first to take. */
static sw_occupied life_of_copy(const sw_copies *c, int32_t first, const int32_t *choice, int32_t layout) {
  const sw_lives *l = c->lives;
  sw_occupied h = {l->taken[first], l->until[first], l->amount[layout]};
  for (int32_t i = first + 1; i < c->table->n_readers; i++) {
    if (!wants(c, i, choice, layout)) continue;
    h.begin = l->taken[i] < h.begin ? l->taken[i] : h.begin;
    h.end = l->until[i] > h.end ? l->until[i] : h.end;
  }
  return h;
}

int32_t sw_copies_held(const sw_copies *c, const int32_t *choice, sw_occupied *out) {
  const sw_lives *l = c->lives;
  if (!l) return 0;
  const int32_t class = c->table->class_of[choice[c->maker]];
  int32_t n = 1;
  out[0] = (sw_occupied){l->held, l->held, l->made[class]};
  for (int32_t i = 0; i < c->table->n_readers; i++) {
    int32_t n_wanted;
    const int32_t *wanted = wanted_by(c, i, choice, &n_wanted);
    for (int32_t k = 0; k < n_wanted; k++) {
      const bool as_made = l->made_as[wanted[k]] == class;
      bool seen = false;
      for (int32_t a = 0; a < i && !as_made && !seen; a++) seen = wants(c, a, choice, wanted[k]);
      if (seen) continue;
      if (!as_made) out[n++] = life_of_copy(c, i, choice, wanted[k]);
      const int64_t end = as_made ? l->until_made[i] : out[n - 1].begin + 1;
      out[0].end = end > out[0].end ? end : out[0].end;
    }
  }
  return n;
}

static void add_events(peak_event *ev, size_t *n, int64_t begin, int64_t end, int64_t amount) {
  if (begin >= end || amount == 0) return;
  ev[(*n)++] = (peak_event){begin, amount};
  ev[(*n)++] = (peak_event){end, -(sw_i128)amount};
}

static sw_rc add_lives(const sw_problem *p, const int32_t *choice, peak_event *ev, size_t *n, sw_diag *d) {
  int32_t most = 0;
  for (int32_t k = 0; k < p->n_copies; k++)
    if (sw_copies_most_held(&p->copies[k]) > most) most = sw_copies_most_held(&p->copies[k]);
  sw_occupied *held = sw_mem_alloc((size_t)most, sizeof *held, d);
  if (!held) return SW_E_RESOURCE;
  for (int32_t k = 0; k < p->n_copies; k++) {
    const int32_t n_held = sw_copies_held(&p->copies[k], choice, held);
    for (int32_t a = 0; a < n_held; a++) add_events(ev, n, held[a].begin, held[a].end, held[a].amount);
  }
  sw_mem_free(held);
  return SW_OK;
}

/* Changes of what is held, by time; freed by the caller. */
static sw_rc list_events(const sw_problem *p, const int32_t *choice, peak_event **out, size_t *n, sw_diag *d) {
  size_t most = 0;
  for (int32_t i = 0; i < p->n_nodes; i++) most += (size_t)p->nodes[i].n_uses;
  for (int32_t k = 0; k < p->n_copies; k++) most += p->copies[k].lives ? (size_t)sw_copies_most_held(&p->copies[k]) : 0;
  *n = 0;
  *out = sw_mem_alloc(2 * most, sizeof **out, d);
  if (!*out) return SW_E_RESOURCE;
  for (int32_t i = 0; i < p->n_nodes; i++)
    for (int32_t k = 0; k < p->nodes[i].n_uses; k++) {
      const sw_usage *u = &p->nodes[i].uses[k];
      add_events(*out, n, u->begin, u->end, u->amount[choice[i]]);
    }
  sw_rc rc = p->n_copies ? add_lives(p, choice, *out, n, d) : SW_OK;
  if (rc) sw_mem_free(*out);
  if (!rc) qsort(*out, *n, sizeof **out, by_time);
  return rc;
}

/* Largest running sum of the uses; 0 at time 0 when nothing is used. */
static sw_rc find_peak(const sw_problem *p, const int32_t *choice, sw_score *out, sw_diag *d) {
  peak_event *ev;
  size_t n;
  SW_TRY(list_events(p, choice, &ev, &n, d));
  out->peak = 0;
  out->peak_time = 0;
  sw_i128 now = 0;
  for (size_t k = 0; k < n;) {
    int64_t t = ev[k].time;
    for (; k < n && ev[k].time == t; k++) now += ev[k].change;
    if (now > out->peak) {
      out->peak = now;
      out->peak_time = t;
    }
  }
  sw_mem_free(ev);
  return SW_OK;
}

sw_rc sw_problem_over(const sw_problem *p, const int32_t *choice, sw_arena *arena, int32_t *n, const sw_occupied **out,
                      sw_diag *d) {
  peak_event *ev;
  size_t n_events;
  sw_i128 now = 0;
  *n = 0;
  SW_TRY(list_events(p, choice, &ev, &n_events, d));
  sw_occupied *list = sw_arena_alloc(arena, n_events, sizeof *list, d);
  for (size_t k = 0; k < n_events && list;) {
    const int64_t t = ev[k].time;
    const bool was = now > p->limit;
    for (; k < n_events && ev[k].time == t; k++) now += ev[k].change;
    if (!was && now > p->limit) list[(*n)++] = (sw_occupied){.begin = t};
    if (was && now <= p->limit) list[*n - 1].end = t;
  }
  sw_mem_free(ev);
  *out = list;
  return list ? SW_OK : SW_E_RESOURCE;
}

typedef struct sum {
  sw_i128 cost;
  bool forbidden;
} sum;

static void pay_cost(sum *s, int64_t cost) {
  s->forbidden |= cost >= SW_FORBIDDEN;
  s->cost += cost;
}

/* Does a reader before number `n` want the layout? */
static bool is_wanted(const sw_copies *c, int32_t n, const int32_t *choice, int32_t layout) {
  for (int32_t i = 0; i < n; i++)
    if (wants(c, i, choice, layout)) return true;
  return false;
}

static void pay_copies(const sw_copies *c, const int32_t *choice, sum *s) {
  const sw_copy_table *t = c->table;
  const int64_t *cost = t->cost + (int64_t)t->class_of[choice[c->maker]] * t->n_layouts;
  for (int32_t i = 0; i < t->n_readers; i++) {
    const sw_wants *w = &t->wants[i];
    const int32_t class = w->class_of[choice[c->reader[i]]];
    for (int32_t k = w->first[class]; k < w->first[class + 1]; k++)
      if (!is_wanted(c, i, choice, w->layout[k])) pay_cost(s, cost[w->layout[k]]);
  }
}

static sum cost_of_choices(const sw_problem *p, const int32_t *choice) {
  sum s = {0};
  for (int32_t i = 0; i < p->n_nodes; i++) pay_cost(&s, p->nodes[i].cost[choice[i]]);
  for (int32_t e = 0; e < p->n_edges; e++) {
    const sw_edge *g = &p->edges[e];
    pay_cost(&s, g->cost[(int64_t)choice[g->i] * p->nodes[g->j].n_choices + choice[g->j]]);
  }
  for (int32_t k = 0; k < p->n_copies; k++) pay_copies(&p->copies[k], choice, &s);
  return s;
}

int64_t sw_problem_cost(const sw_problem *p, const int32_t *choice) {
  const sum s = cost_of_choices(p, choice);
  return s.forbidden || s.cost >= SW_FORBIDDEN ? SW_FORBIDDEN : (int64_t)s.cost;
}

sw_rc sw_problem_score(const sw_problem *p, const int32_t *choice, sw_score *out, sw_diag *d) {
  for (int32_t i = 0; i < p->n_nodes; i++)
    if (choice[i] < 0 || choice[i] >= p->nodes[i].n_choices)
      return SW_FAIL_INPUT(d, SW_NOWHERE, "choice of node %d is %d; expected 0 to %d", i, choice[i],
                           p->nodes[i].n_choices - 1);
  const sum s = cost_of_choices(p, choice);
  out->cost = s.cost;
  SW_TRY(find_peak(p, choice, out, d));
  out->feasible = !s.forbidden && s.cost < SW_FORBIDDEN && out->peak <= p->limit;
  return SW_OK;
}

static const char *const kSolvers[] = {
    [SW_SOLVER_AUTO] = "auto",
    [SW_SOLVER_NATIVE] = "native",
    [SW_SOLVER_GLPK] = "glpk",
    [SW_SOLVER_EXHAUSTIVE] = "exhaustive",
};
static const char *const kStatuses[] = {
    [SW_SOLVE_OPTIMAL] = "optimal",
    [SW_SOLVE_FEASIBLE] = "feasible",
    [SW_SOLVE_INFEASIBLE] = "infeasible",
    [SW_SOLVE_UNKNOWN] = "unknown",
};

static const char *const kRules[SW_SELECT_RULES] = {"separable", "functional", "dominated", "degree", "steps", "heavy"};
const char *sw_select_rule_text(int k) { return k >= 0 && k < SW_SELECT_RULES ? kRules[k] : NULL; }

bool sw_solver_parse(const char *text, sw_solver *out) {
  for (size_t k = 0; k < sizeof kSolvers / sizeof kSolvers[0]; k++)
    if (strcmp(text, kSolvers[k]) == 0) {
      *out = (sw_solver)k;
      return true;
    }
  return false;
}

const char *sw_solver_text(sw_solver s) { return kSolvers[s]; }
const char *sw_solve_status_text(sw_solve_status s) { return kStatuses[s]; }
