/* Best-first branch and bound. A node is a list of restrictions of the core, "variable v takes one of these values".
 *
 * At a node the restricted core is reduced anew (values too heavy beside the restricted ones then go by themselves),
 * its bound raised from the parent's prices, and its decoded choice repaired and offered. The variable whose memory the
 * marginals leave most open, weighted by prices, is split into its lighter and its heavier values.
 */
#include "select/exact/branch.h"

#include <math.h>
#include <string.h>

#include "select/exact/elim.h"
#include "select/exact/leaf.h"
#include "select/search/search_moves.h"
#include "base/array.h"

typedef struct restriction {
  const struct restriction *up;
  int32_t var; /* of the core */
  const bool *keep;
} restriction;

typedef struct open_node {
  int64_t bound; /* of the core, without offset */
  int64_t id;    /* order of birth, for ties */
  const restriction *list;
  const float *lambda; /* per step of the core */
} open_node;

typedef struct sel_brancher {
  const sel_base *k;
  sel_budget *b;
  sw_arena mem;
  SW_ARRAY(open_node) heap;
  int64_t breaks; /* the least that a leaf's best choice costs which breaks the limit that the core leaves out */
  int64_t born;
  int64_t copied; /* cells of the core's nodes and uses, which each node of the tree starts from */
  sw_diag *d;
} brancher;

static bool sooner(const open_node *a, const open_node *b) {
  return a->bound != b->bound ? a->bound < b->bound : a->id > b->id; /* newest first: towards leaves */
}

static sw_rc push(brancher *q, open_node node) {
  SW_TRY(sw_array_push(&q->heap, node, q->d));
  size_t k = q->heap.n - 1;
  for (; k > 0 && sooner(&node, &q->heap.at[(k - 1) / 2]); k = (k - 1) / 2) q->heap.at[k] = q->heap.at[(k - 1) / 2];
  q->heap.at[k] = node;
  return SW_OK;
}

static open_node pop(brancher *q) {
  open_node top = q->heap.at[0], last = q->heap.at[--q->heap.n];
  size_t k = 0, n = q->heap.n;
  for (size_t kid = 1; kid < n; kid = 2 * k + 1) {
    if (kid + 1 < n && sooner(&q->heap.at[kid + 1], &q->heap.at[kid])) kid++;
    if (!sooner(&q->heap.at[kid], &last)) break;
    q->heap.at[k] = q->heap.at[kid];
    k = kid;
  }
  if (n) q->heap.at[k] = last;
  return top;
}

sw_rc sel_base_offer(const sel_base *k, const int32_t *x, const char *solver, bool *taken, sw_diag *d) {
  sel_model_expand(k->model, x, k->full);
  return sel_offer(k->r, k->full, solver, taken, d);
}

int64_t sel_base_target(const sel_base *k) {
  int64_t cost = sel_best_cost(k->r);
  return cost == INT64_MAX ? cost : cost - k->core->offset;
}

void sel_base_raise(const sel_base *k, int64_t bound) {
  int64_t whole;
  if (sw_add_i64(bound, k->core->offset, &whole)) sel_raise(k->r, whole);
}

static void log_elimination(const sel_model *m, const sel_core *rest, const sel_elim_plan *plan, sw_text *out) {
  if (!out) return;
  sw_text_puts(out, "eliminate");
  for (int32_t k = 0; k < rest->n; k++) sw_text_printf(out, " %d", sel_name_var(m, m->alive.of[plan->order[k]]));
  sw_text_puts(out, "\n");
}

sw_rc sel_base_narrow(const sel_base *k, sel_budget *b, int64_t *value, bool *done, sw_diag *d) {
  sw_arena mem = {0};
  sel_elim_plan plan;
  int32_t *x = sw_arena_alloc(&mem, (size_t)k->core->n, sizeof *x, d);
  *done = false;
  sw_rc rc = x ? SW_OK : SW_E_RESOURCE;
  if (rc) goto end;
  SW_TRY_TO(end, sel_elim_plan_build(k->core, (int64_t)sel_by(b)->eliminate_cells, SEL_ELIM_ALL_CELLS, &mem, &plan, d));
  if (!plan.fits) goto end;
  SW_TRY_TO(end, sel_elim_run(k->core, &plan, k->core->cost, b, x, value, done, d));
  if (*done) log_elimination(k->model, k->core, &plan, k->proof ? &k->proof->end : NULL);
  if (*done && *value < SW_FORBIDDEN) rc = sel_base_offer(k, x, "native", NULL, d);
end:
  sw_arena_deinit(&mem);
  return rc;
}

/* What evaluating a node needs, all of it gone afterwards. */
typedef struct node_view {
  sel_model m;
  sel_core rest;
  sel_dual dual;
  sw_arena mem;
  sel_base here; /* of the rest: its model's variables are the core's */
  int32_t *x, *core_x;
  sw_text proof, proof_split; /* kept only when a certificate is wanted */
  int64_t proof_bound, kid[2];
} node_view;

static sw_rc restrict_model(brancher *q, node_view *w, const open_node *node) {
  const sel_model_given given = {q->k->model->given.rules, q->k->r->proof ? &w->proof : NULL, q->k->model};
  SW_TRY(sel_model_init(&w->m, q->k->core, given, q->d));
  sel_spend(q->b, q->copied);
  for (const restriction *l = node->list; l && !w->m.infeasible; l = l->up) {
    const sel_var *v = &w->m.vars[l->var];
    bool *keep;
    SW_ARENA_NEW(keep, &w->mem, v->n, q->d);
    for (int32_t s = 0; s < v->n; s++) keep[s] = l->keep[v->id[s]];
    SW_TRY(sel_keep_values(&w->m, l->var, keep, q->d));
  }
  if (!w->m.infeasible) SW_TRY(sel_model_reduce(&w->m, q->b, q->d));
  return w->m.infeasible ? SW_OK : sel_model_freeze(&w->m, &w->rest, q->d);
}

/* Offer a choice of the rest, through both ways back, where it costs less than what is known. */
static sw_rc offer_rest(brancher *q, node_view *w, const int32_t *x, bool *taken) {
  *taken = false;
  if (sw_cost_add(sel_core_cost(&w->rest, x), sw_min_i64(w->rest.offset, SW_FORBIDDEN)) >= sel_base_target(q->k))
    return SW_OK;
  sel_model_expand(&w->m, x, w->core_x);
  return sel_base_offer(q->k, w->core_x, "native", taken, q->d);
}

/* The best choice of a leaf, that costs `cost` of the core. One that breaks the limit is no solution, and no proof that
 * there is none. */
static sw_rc offer_leaf(brancher *q, node_view *w, int64_t cost) {
  const bool better = cost < sel_base_target(q->k);
  bool taken;
  SW_TRY(offer_rest(q, w, w->x, &taken));
  if (better && !taken) q->breaks = sw_min_i64(q->breaks, cost);
  return SW_OK;
}

static sw_rc solve_without_uses(brancher *q, node_view *w, bool *done) {
  sel_elim_plan plan;
  *done = false;
  SW_TRY(
      sel_elim_plan_build(&w->rest, (int64_t)sel_by(q->b)->eliminate_cells, SEL_ELIM_ALL_CELLS, &w->mem, &plan, q->d));
  if (!plan.fits) return SW_OK;
  int64_t value;
  SW_TRY(sel_elim_run(&w->rest, &plan, w->rest.cost, q->b, w->x, &value, done, q->d));
  if (*done) log_elimination(&w->m, &w->rest, &plan, w->m.given.log);
  value = *done ? sw_cost_add(value, sw_min_i64(w->rest.offset, SW_FORBIDDEN)) : SW_FORBIDDEN;
  return value < SW_FORBIDDEN ? offer_leaf(q, w, value) : SW_OK;
}

static sw_rc enumerate(brancher *q, node_view *w, bool *done) {
  int64_t target = sel_base_target(q->k), cost;
  int64_t below = target == INT64_MAX ? SW_FORBIDDEN : sw_max_i64(0, target - w->rest.offset);
  SW_TRY(sel_leaf_solve(&w->rest, below, q->b, w->x, &cost, q->d));
  *done = true;
  if (w->m.given.log) sw_text_puts(w->m.given.log, "enumerate\n");
  return cost < sw_min_i64(below, SW_FORBIDDEN) ? offer_leaf(q, w, cost + w->rest.offset) : SW_OK;
}

static sw_rc improve(brancher *q, node_view *w) {
  sel_field f;
  sel_state s;
  sel_mover mover;
  double *price;
  SW_TRY(sel_field_init(&f, &w->rest, 0, &w->mem, q->d));
  SW_TRY(sel_state_init(&s, &f, &w->mem, q->d));
  sel_dual_decode(&w->dual, w->x);
  sel_state_set(&s, w->x);
  sel_spend(q->b, w->dual.cells);
  if (!sel_repair(&s, NULL, q->b)) return SW_OK;
  bool taken;
  SW_TRY(offer_rest(q, w, s.x, &taken));
  SW_TRY(sel_mover_init(&mover, &f, q->k->r->o->seed + (uint64_t)q->born, &w->mem, q->d));
  SW_ARENA_NEW(price, &w->mem, f.offset[w->rest.n], q->d);
  mover.price = NULL;
  sel_budget part = sel_budget_part(q->b, 2e7, 10 * (w->dual.cells + w->dual.n_flat));
  int64_t best = INT64_MAX;
  sel_anneal(&mover, &s, 0, &part, w->x, &best);
  sel_budget_join(q->b, &part);
  return best < INT64_MAX ? offer_rest(q, w, w->x, &taken) : SW_OK;
}

/* Variance of the priced use under the marginals; *mean is their mean. */
static double openness(const sel_dual *u, const double *price, int32_t i, double *mean) {
  const double *p = u->pass.mean + u->offset[i], *v = price + u->offset[i];
  double sum = 0, squares = 0;
  for (int32_t s = 0; s < u->c->dom[i]; s++) {
    sum += p[s] * v[s];
    squares += p[s] * v[s] * v[s];
  }
  *mean = sum;
  return squares - sum * sum;
}

static double largest_share(const sel_dual *u, int32_t i, int32_t *value) {
  const double *p = u->pass.mean + u->offset[i];
  *value = 0;
  for (int32_t s = 1; s < u->c->dom[i]; s++)
    if (p[s] > p[*value]) *value = s;
  return p[*value];
}

/* Pick a variable of the rest and the half of its values that the first child keeps. */
static void pick(const sel_dual *u, const double *price, int32_t *var, bool *half) {
  const sel_core *c = u->c;
  double most = 0, mean = 0, m = 0, clearest = 2;
  int32_t value = 0, v;
  *var = -1;
  for (int32_t i = 0; i < c->n; i++) {
    double o = c->dom[i] > 1 ? openness(u, price, i, &m) : 0;
    if (o <= most * (1 + 1e-9) + 1e-9) continue;
    most = o;
    mean = m;
    *var = i;
  }
  int32_t lighter = 0;
  if (*var >= 0)
    for (int32_t s = 0; s < c->dom[*var]; s++) lighter += half[s] = price[u->offset[*var] + s] <= mean;
  if (*var >= 0 && lighter > 0 && lighter < c->dom[*var]) return;
  for (int32_t i = 0; i < c->n; i++) { /* no memory to split: the least decided value against the others */
    if (c->dom[i] < 2 || largest_share(u, i, &v) >= clearest) continue;
    clearest = largest_share(u, i, &value);
    *var = i;
  }
  for (int32_t s = 0; s < c->dom[*var]; s++) half[s] = s == value;
}

static void log_split(node_view *w, int32_t var, const bool *half) {
  int32_t v = w->m.alive.of[var];
  sw_text_printf(&w->proof_split, "split %d", sel_name_var(&w->m, v));
  for (int32_t s = 0; s < w->m.vars[v].n; s++)
    if (!half[s]) sw_text_printf(&w->proof_split, " %d", sel_name_value(&w->m, v, s));
  sw_text_puts(&w->proof_split, "\n");
}

static sw_rc push_child(brancher *q, node_view *w, const open_node *node, int64_t bound, int32_t var, const bool *half,
                        bool side, const float *lambda) {
  int32_t v = w->m.alive.of[var];
  w->kid[side] = q->born;
  bool *keep;
  restriction *l;
  SW_ARENA_NEW(keep, &q->mem, w->m.vars[v].n0, q->d);
  SW_ARENA_NEW(l, &q->mem, 1, q->d);
  for (int32_t s = 0; s < w->m.vars[v].n; s++) keep[w->m.vars[v].id[s]] = half[s] == side;
  *l = (restriction){node->list, v, keep};
  return push(q, (open_node){bound, q->born++, l, lambda});
}

static sw_rc split_node(brancher *q, node_view *w, const open_node *node, int64_t bound) {
  double *price;
  bool *half;
  float *lambda;
  int32_t most = 1, var;
  for (int32_t i = 0; i < w->rest.n; i++) most = w->rest.dom[i] > most ? w->rest.dom[i] : most;
  SW_ARENA_NEW(price, &w->mem, w->dual.n_flat, q->d);
  SW_ARENA_NEW(half, &w->mem, most, q->d);
  SW_ARENA_NEW(lambda, &q->mem, q->k->core->n_steps, q->d);
  for (int32_t t = 0; t < w->rest.n_steps; t++)
    lambda[w->m.steps.of[t]] = (float)(w->dual.best.lambda[t] / w->dual.unit);
  sel_dual_prices(&w->dual, price);
  pick(&w->dual, price, &var, half);
  if (w->m.given.log) log_split(w, var, half);
  SW_TRY(push_child(q, w, node, bound, var, half, false, lambda));
  return push_child(q, w, node, bound, var, half, true, lambda);
}

/* Passes while they pay: a round must close a part of the gap to the goal, or branching is the better use of time. */
static void ascend_node(brancher *q, sel_dual *u, double goal) {
  enum { ROUND = 50 };
  for (int k = 0;; k++) {
    double before = u->best.bound;
    for (int a = 0; a < ROUND; a++) {
      if (u->best.bound >= goal || sel_stop(q->b)) return;
      sel_dual_pass(u, goal);
      sel_spend(q->b, 2 * u->cells + u->n_flat + u->c->n_uses);
    }
    if (k > 0 && u->best.bound - before < SEL_LEAST_GAIN * (goal - u->best.bound)) return;
  }
}

/* Bound the node; push children unless it is closed. */
static sw_rc bound_node(brancher *q, node_view *w, const open_node *node) {
  SW_TRY(sel_dual_init(&w->dual, &w->rest, q->b->parameters, true, q->d));
  sel_dual *u = &w->dual;
  for (int32_t t = 0; t < w->rest.n_steps && node->lambda; t++)
    u->memory.lambda[t] = (double)node->lambda[w->m.steps.of[t]] * u->unit;
  int64_t target = sel_base_target(q->k), bound;
  double goal = target == INT64_MAX ? fmax(1.0, (double)(node->bound - w->rest.offset)) * u->by->goal_first
                                    : (double)(target - w->rest.offset);
  ascend_node(q, u, goal);
  sel_dual_rewind(u);
  SW_TRY(sel_dual_certify(u, &w->m, w->m.given.log, &bound, q->d));
  bound = sw_cost_add(sw_max_i64(bound, 0), sw_min_i64(w->rest.offset, SW_FORBIDDEN));
  (void)sw_add_i64(bound, q->k->core->offset, &w->proof_bound);
  bound = sw_max_i64(bound, node->bound);
  if (bound >= SW_FORBIDDEN || bound >= target) return SW_OK;
  SW_TRY(improve(q, w));
  if (bound >= sel_base_target(q->k)) return SW_OK;
  return split_node(q, w, node, bound);
}

static void keep_node_proof(const brancher *q, node_view *w, int64_t id) {
  sel_proof_node *to = q->k->r->proof ? sel_proof_node_at(q->k->r->proof, id) : NULL;
  if (to)
    *to = (sel_proof_node){w->proof, w->proof_split, w->proof_bound, {w->kid[0], w->kid[1]}};
  else
    sw_text_free(&w->proof), sw_text_free(&w->proof_split);
}

static sw_rc evaluate(brancher *q, const open_node *node) {
  node_view w = {.proof_bound = INT64_MIN, .kid = {-1, -1}};
  bool done = false;
  sw_rc rc;
  SW_TRY_TO(end, restrict_model(q, &w, node));
  if (w.m.infeasible) goto end;
  w.x = sw_arena_alloc(&w.mem, (size_t)w.rest.n, sizeof *w.x, q->d);
  w.core_x = sw_arena_alloc(&w.mem, (size_t)q->k->core->n, sizeof *w.core_x, q->d);
  rc = w.x && w.core_x ? SW_OK : SW_E_RESOURCE;
  if (rc) goto end;
  if (w.rest.n_uses == 0) SW_TRY_TO(end, solve_without_uses(q, &w, &done));
  if (!done && sel_leaf_small(&w.rest)) SW_TRY_TO(end, enumerate(q, &w, &done));
  if (!done) rc = bound_node(q, &w, node);
end:
  keep_node_proof(q, &w, node->id);
  sel_dual_deinit(&w.dual);
  sel_model_deinit(&w.m);
  sw_arena_deinit(&w.mem);
  return rc;
}

static sw_rc plant(brancher *q, const double *lambda) {
  float *start;
  SW_ARENA_NEW(start, &q->mem, q->k->core->n_steps, q->d);
  for (int32_t t = 0; t < q->k->core->n_steps; t++) start[t] = (float)lambda[t];
  int64_t root = q->k->r->bound - q->k->core->offset;
  return push(q, (open_node){sw_max_i64(0, root), q->born++, NULL, start});
}

sw_rc sel_branch_open(const sel_base *k, const double *lambda, sel_budget *whole, sel_brancher **out, sw_diag *d) {
  brancher *q = sw_mem_alloc(1, sizeof *q, d);
  if (!q) return SW_E_RESOURCE;
  *q = (brancher){.k = k, .b = whole, .breaks = INT64_MAX, .d = d};
  for (int32_t i = 0; i < k->core->n; i++)
    q->copied += k->core->dom[i] * (1 + (int64_t)k->core->first_use[i + 1] - k->core->first_use[i]);
  *out = q;
  sw_rc rc = plant(q, lambda);
  if (rc) sel_branch_close(q);
  return rc;
}

void sel_branch_close(brancher *q) {
  sw_array_free(&q->heap);
  sw_arena_deinit(&q->mem);
  sw_mem_free(q);
}

sw_rc sel_branch_run(brancher *q, const sel_budget *part, bool *broken) {
  sel_budget now = *part;
  *broken = false;
  while (q->heap.n > 0) {
    const int64_t least = sw_min_i64(q->heap.at[0].bound, q->breaks);
    sel_base_raise(q->k, least);
    *broken = least < q->heap.at[0].bound;
    if (*broken) return SW_OK;
    if (least >= sel_base_target(q->k)) break;
    if (sel_closed(q->k->r)) return SW_OK; /* near enough */
    now.work = q->b->work;
    if (sel_stop(&now)) return SW_OK;
    open_node node = pop(q);
    SW_TRY(evaluate(q, &node));
    if (sel_stop(q->b)) return SW_OK; /* the node may have been cut short */
  }
  const int64_t best = sel_best_cost(q->k->r);
  *broken = q->breaks < INT64_MAX;
  if (*broken)
    sel_base_raise(q->k, q->breaks);
  else if (best == INT64_MAX)
    q->k->r->infeasible = true;
  else
    sel_raise(q->k->r, best);
  return SW_OK;
}
