/* Prices and messages raise the bound; what they decode to is repaired and polished; local searches improve the best
 * choice.
 *
 * First the dual and the local searches take turns, each turn longer than the last, until the dual has settled. Then
 * branch and bound closes the gap where nodes are cheap; elsewhere the dual starts again with fresh steps now and then.
 * With several threads the local searches run beside all of this; with one they get a part of every turn.
 */
#include "select/search/primal_search.h"

#include <math.h>
#include <string.h>

#include "select/exact/along.h"
#include "select/bound/by_class.h"
#include "select/bound/warm_start.h"
#include "select/search/local_search.h"

typedef struct searcher {
  const sel_base *k;
  sel_budget *b;
  const sw_parameters *by;
  sw_arena mem;
  sel_dual dual;
  sel_field field;
  sel_state state;
  sel_mover mover;
  sel_local_searches searches;
  double *price;             /* by the dual's offsets */
  double *packed;            /* by the field's offsets */
  int32_t *x, *best, *guide; /* guide: polished last, and not the best */
  int64_t best_cost;         /* of `best`; INT64_MAX: none */
  bool searching;            /* local searches of other threads are under way */
  bool has_guide;
  bool primed;      /* prices and messages are from an earlier search */
  bool broken;      /* the best choice of a relaxed core breaks the limit: memory matters */
  int32_t labels;   /* that close_narrow has tried with */
  double closing_s; /* that it takes to make a bound safe and to write down why */
  sw_diag *d;
} searcher;

/* Work of one pass over all tables: small cores get little time, large ones more. */
static int64_t sweep_cells(const searcher *q) { return q->dual.cells + q->dual.n_flat + q->k->core->n_uses; }

static sw_rc searcher_init(searcher *q) {
  const double kClosing_s = 3e-8;
  const sel_core *c = q->k->core;
  const sw_solve_options *o = q->k->r->o;
  SW_TRY(sel_dual_init(&q->dual, c, q->by, true, q->d));
  SW_TRY(sel_field_init(&q->field, c, 0, &q->mem, q->d));
  SW_TRY(sel_state_init(&q->state, &q->field, &q->mem, q->d));
  SW_TRY(sel_mover_init(&q->mover, &q->field, o->seed, &q->mem, q->d));
  SW_TRY(sel_local_searches_init(&q->searches, &q->field, q->dual.links, o->threads > 0 ? o->threads : 1, o->seed,
                                 sweep_cells(q), q->d));
  SW_ARENA_NEW(q->price, &q->mem, q->dual.n_flat, q->d);
  SW_ARENA_NEW(q->packed, &q->mem, q->field.offset[c->n], q->d);
  SW_ARENA_NEW_EACH(&q->mem, c->n, q->d, q->x, q->best, q->guide);
  q->best_cost = INT64_MAX;
  q->mover.price = q->packed;
  q->closing_s = kClosing_s * (double)q->dual.cells; /* until it is measured */
  return SW_OK;
}

static void take_best_prices(searcher *q) {
  sel_dual_prices(&q->dual, q->price);
  for (int32_t i = 0; i < q->k->core->n; i++)
    memcpy(q->packed + q->field.offset[i], q->price + q->dual.offset[i],
           (size_t)q->k->core->dom[i] * sizeof *q->packed);
}

/* Prices and messages of an earlier search. */
static sw_rc take_warm_start(searcher *q) {
  const sel_run *r = q->k->r;
  if (!r->o->from) return SW_OK;
  SW_TRY(sel_warm_start_take(&q->dual, q->k->model, r->o->from, &q->primed, q->d));
  if (!q->primed) return SW_OK;
  q->dual.stride.factor = q->by->dual_step_again;
  sel_dual_pass(&q->dual, 0); /* no step; for a goal that makes sense */
  sel_spend(q->b, 2 * sweep_cells(q));
  return SW_OK;
}

static sw_rc give_warm_start(searcher *q) {
  const sel_run *r = q->k->r;
  if (!r->o->to) return SW_OK;
  return sel_warm_start_give(&q->dual, q->k->model, r->arena, r->o->to, q->d);
}

static sw_rc take_best(searcher *q, const int32_t *x, int64_t cost) {
  if (cost >= q->best_cost) return SW_OK;
  bool better = cost < sel_base_target(q->k), taken;
  memcpy(q->best, x, (size_t)q->k->core->n * sizeof *x);
  q->best_cost = cost;
  SW_TRY(sel_base_offer(q->k, x, "native", &taken, q->d));
  q->broken = better && !taken;
  return SW_OK;
}

/* The other threads walk from the best choice. */
static sw_rc begin_round(searcher *q, double steps, int64_t sweeps) {
  if (q->has_guide) sel_local_searches_guide(&q->searches, q->guide);
  q->has_guide = false;
  if (q->searches.n < 2 || q->best_cost == INT64_MAX) return SW_OK;
  take_best_prices(q);
  sel_local_searches_price(&q->searches, &q->dual, q->packed);
  sel_budget part = sel_budget_part(q->b, steps, sweeps * sweep_cells(q));
  q->searching = true;
  return sel_local_searches_start(&q->searches, q->best, q->best_cost, &part, q->d);
}

/* Once there is nothing left to do, what they might find would hang on the clock. */
static sw_rc end_round(searcher *q) {
  if (!q->searching) return SW_OK;
  q->searching = false;
  if (q->broken || sel_closed(q->k->r)) {
    sel_local_searches_drop(&q->searches);
    return SW_OK;
  }
  int64_t cost = q->best_cost;
  SW_TRY(sel_local_searches_join(&q->searches, q->x, &cost, q->d));
  return cost < q->best_cost ? take_best(q, q->x, cost) : SW_OK;
}

/* This thread's local search, from the best choice. */
static sw_rc walk_from_best(searcher *q, double steps, int64_t sweeps) {
  if (q->best_cost == INT64_MAX) return SW_OK;
  int64_t cost = q->best_cost;
  if (!q->searching) {
    take_best_prices(q);
    sel_local_searches_price(&q->searches, &q->dual, q->packed);
  }
  sel_budget part = sel_budget_part(q->b, steps, sweeps * sweep_cells(q));
  memcpy(q->x, q->best, (size_t)q->k->core->n * sizeof *q->x);
  SW_TRY(sel_local_searches_run(&q->searches, q->x, &cost, &part, q->d));
  sel_budget_join(q->b, &part);
  return take_best(q, q->x, cost);
}

static bool over(const searcher *q) { return q->broken || sel_closed(q->k->r) || sel_stop(q->b); }

/* Tree moves from what was decoded, before it is compared. */
static sw_rc polish(searcher *q, double steps) {
  int64_t cost = INT64_MAX;
  double heat = q->by->heat * (double)(q->best_cost < INT64_MAX ? q->best_cost : (int64_t)q->state.cost);
  sel_budget part = sel_budget_part(q->b, steps, 30 * sweep_cells(q));
  sel_anneal(&q->mover, &q->state, heat, &part, q->x, &cost);
  sel_budget_join(q->b, &part);
  q->has_guide = cost < INT64_MAX && cost >= q->best_cost;
  if (q->has_guide) memcpy(q->guide, q->x, (size_t)q->k->core->n * sizeof *q->x);
  return cost < INT64_MAX ? take_best(q, q->x, cost) : SW_OK;
}

/* From everybody's smallest values, for when nothing else keeps the caps. */
static bool start_small(searcher *q) {
  const sel_core *c = q->k->core;
  for (int32_t i = 0; i < c->n; i++) {
    double least = INFINITY;
    for (int32_t s = 0; s < c->dom[i]; s++) {
      double held = 0;
      for (int32_t k = c->first_use[i]; k < c->first_use[i + 1]; k++)
        held += (double)c->uses[k].amount[s] * (c->uses[k].end - c->uses[k].begin);
      if (held >= least) continue;
      least = held;
      q->x[i] = s;
    }
  }
  sel_state_set(&q->state, q->x);
  return sel_repair(&q->state, q->packed, q->b);
}

/* Decode the best prices and messages, repair, and polish. */
static sw_rc decode_and_polish(searcher *q, double polish_steps) {
  take_best_prices(q);
  sel_dual_decode(&q->dual, q->x);
  sel_state_set(&q->state, q->x);
  sel_spend(q->b, q->dual.cells);
  if (!sel_repair(&q->state, q->packed, q->b) && (q->best_cost < INT64_MAX || !start_small(q))) return SW_OK;
  if (q->state.cost < sw_min_i64(q->best_cost, SW_FORBIDDEN)) SW_TRY(take_best(q, q->state.x, (int64_t)q->state.cost));
  return over(q) ? SW_OK : polish(q, polish_steps);
}

/* The best prices so far prove `bound`, without the core's offset. */
static sw_rc keep_price_proof(searcher *q, int64_t bound) {
  sel_proof_part *to = q->k->proof;
  int64_t whole;
  if (!to || !sw_add_i64(bound, q->k->core->offset, &whole) || whole <= to->bound) return SW_OK;
  sw_text_free(&to->end);
  to->bound = whole;
  return sel_dual_certify(&q->dual, q->k->model, &to->end, &bound, q->d);
}

/* Where the bound may hope to get: below the best cost, or not far above what is known. */
static double goal_of(const searcher *q) {
  const double kFarOff = 4; /* a worse choice says nothing about where the bound can go */
  double known = fmax(q->dual.best.bound, 1.0);
  int64_t target = sel_base_target(q->k);
  return target == INT64_MAX ? q->by->goal_first * known + 1 : fmin((double)target, kFarOff * known + 1);
}

/* The bound that is near enough to the best cost known; making it safe costs a little. */
static double enough_of(const searcher *q, double goal) {
  double gap = q->k->r->o->gap * (1 - q->by->slack), offset = (double)q->k->core->offset;
  int64_t target = sel_base_target(q->k);
  return target == INT64_MAX ? goal : fmin(goal, ((double)target + offset) * (1 - gap) - offset);
}

/* Passes of the dual for a while, then its bound made safe. */
static sw_rc ascend_dual(searcher *q, double steps, int64_t sweeps) {
  sel_dual *u = &q->dual;
  const int64_t least_passes = 2 * u->stride.patience + 9;
  const double goal = goal_of(q), enough = enough_of(q, goal);
  int64_t passes = u->pass.n, last, bound;
  sel_budget open = *q->b; /* until there is just time for the rest */
  if (open.deadline_s > 0) open.deadline_s -= q->closing_s;
  do { /* on a large core or a busy machine the time is soon gone; a few passes say nothing about what is to come */
    last = u->pass.n;
    sel_budget part = sel_budget_part(&open, steps, sweeps * sweep_cells(q));
    sel_dual_ascend(u, goal, enough, &part);
    sel_budget_join(&open, &part);
  } while (u->pass.n - passes < least_passes && u->pass.n > last && u->best.bound < enough && !sel_stop(&open));
  sel_budget_join(q->b, &open);
  double start_s = sw_now_s();
  SW_TRY(sel_dual_certify(u, q->k->model, NULL, &bound, q->d));
  SW_TRY(keep_price_proof(q, bound));
  q->closing_s = fmax(q->closing_s, sw_now_s() - start_s);
  sel_base_raise(q->k, bound);
  return SW_OK;
}

/* Who is content with such a gap may find it with little polish. */
static bool is_coarse(const searcher *q) { return q->k->r->o->gap > q->by->coarse_gap; }

/* Start from a choice of the problem's, as far as its values are left; repaired and polished where that breaks caps. */
static sw_rc start_from(searcher *q, const int32_t *choice) {
  const sel_model *m = q->k->model;
  for (int32_t a = 0; a < q->k->core->n; a++) {
    const sel_var *v = &m->vars[m->alive.of[a]];
    q->x[a] = 0;
    for (int32_t s = 0; s < v->n; s++)
      if (v->id[s] == choice[m->alive.of[a]]) q->x[a] = s;
  }
  sel_state_set(&q->state, q->x);
  if (sel_state_feasible(&q->state)) return take_best(q, q->state.x, (int64_t)q->state.cost);
  if (!sel_repair(&q->state, NULL, q->b)) return SW_OK;
  if (is_coarse(q)) return take_best(q, q->state.x, (int64_t)q->state.cost);
  return polish(q, q->by->polish_steps);
}

/* From the best choice known, else the smallest amounts; and from the caller's when that was found together with a
 * bound and breaks the limit. */
static sw_rc start_search(searcher *q) {
  const sel_run *r = q->k->r;
  sw_score given = {.feasible = true};
  if (r->has) SW_TRY(start_from(q, r->best));
  if (!r->has && !q->k->relaxed && start_small(q)) SW_TRY(take_best(q, q->state.x, (int64_t)q->state.cost));
  if (r->warm && r->o->from->bound > 0) SW_TRY(sw_problem_score(r->p, r->warm, &given, q->d));
  return given.feasible || sel_closed(q->k->r) ? SW_OK : start_from(q, r->warm);
}

static sw_rc take_turn(searcher *q, double turn, int64_t sweeps) {
  SW_TRY(ascend_dual(q, turn, sweeps));
  if (over(q)) return SW_OK;
  const double walk_steps = (is_coarse(q) ? turn / 2 : turn) / 2;
  SW_TRY(decode_and_polish(q, walk_steps));
  return q->searches.n == 1 && !over(q) ? walk_from_best(q, walk_steps, sweeps / 2) : SW_OK;
}

/* Cores too large for branching: all that will ever be known of the bound comes from the dual at the root. */
static bool is_large(const searcher *q) { return (double)sweep_cells(q) > q->by->branch_cells; }

/* Spend a part of the run on the way to small steps. Who is content with a gap is there sooner in haste. */
static void set_pace(searcher *q) {
  if (!is_large(q) || q->k->r->o->gap > q->by->coarse_gap / 2) return;
  sel_dual_pace(&q->dual, q->by->dual_part * sel_left(q->b) / (double)(2 * sweep_cells(q)));
}

/* Prices and messages near their goal at the price of a layer, where layers repeat. Without prices to find there is
 * little to gain, and choices are read off messages that are better told apart. */
static sw_rc ascend_classes(searcher *q) {
  enum { SWEEPS = 30 };
  const sel_settled end = {.quiet = 40, .gain = 2e-4, .most = INT64_MAX, .enough = (double)sel_base_target(q->k)};
  int64_t passes;
  if (q->k->core->n_steps == 0) return SW_OK;
  sel_dual_pass(&q->dual, 0); /* no step; for a goal that makes sense */
  sel_spend(q->b, 2 * sweep_cells(q));
  sel_budget part = sel_budget_part(q->b, q->by->dual_part / 2 * sel_left(q->b), SWEEPS * sweep_cells(q));
  SW_TRY(sel_dual_ascend_by_class(&q->dual, goal_of(q), end, &part, &passes, q->d));
  sel_budget_join(q->b, &part);
  if (passes) sel_dual_pass(&q->dual, 0);
  return SW_OK;
}

/* Messages of a problem that was unlike this one may lead to where no pass leads on. What is proven says how far a few
 * should bring them; where they do not get there, passes come from below. */
static void try_warm_start(searcher *q) {
  if (!q->primed) return;
  double known = (double)(q->k->r->bound - q->k->core->offset);
  for (int k = 0; k < q->by->quiet_passes && q->dual.best.bound < known && !sel_stop(q->b); k++) {
    sel_dual_pass(&q->dual, goal_of(q));
    sel_spend(q->b, 2 * sweep_cells(q));
  }
  q->primed = q->dual.best.bound >= known - q->by->slack * fabs(known);
  if (!q->primed) sel_dual_forget(&q->dual);
}

/* As many partial choices as a side search may hold in memory: two levels of them, and where those of all levels came
 * from. The same on every machine, so that plans are. */
static int32_t labels_that_fit(const sel_core *c, int32_t wanted) {
  const int64_t kBytes = INT64_C(1) << 29;
  const int64_t each = 2 * (INT64_C(32) + 8 * (int64_t)c->n_steps + 4 * (int64_t)c->n) + 8 * (int64_t)c->n;
  return (int32_t)sw_min_i64(wanted, kBytes / each);
}

/* A narrow core to the end: with few partial choices at a time, and with more when asked again. A certificate has no
 * words for that. Without room for it the search goes on. */
static sw_rc close_narrow(searcher *q) {
  enum { FIRST_LABELS = 1 << 15, MORE = 32, MOST_LABELS = 1 << 20, MOST_VARIABLES = 400, MOST_STEPS = 400 };
  sel_along_options o = {.below = sel_base_target(q->k)};
  sel_along_result found;
  double *lambda;
  if (q->k->r->proof || q->k->relaxed || q->labels >= MOST_LABELS) return SW_OK;
  if (q->k->core->n > MOST_VARIABLES || q->k->core->n_steps > MOST_STEPS) return SW_OK;
  q->labels = q->labels ? MORE * q->labels : FIRST_LABELS;
  o.most_labels = labels_that_fit(q->k->core, q->labels);
  SW_ARENA_NEW(lambda, &q->mem, (size_t)q->k->core->n_steps + 1, q->d);
  for (int32_t t = 0; t < q->k->core->n_steps; t++) lambda[t] = q->dual.best.lambda[t] / q->dual.unit;
  o.lambda = lambda;
  sel_budget part = sel_budget_part(q->b, sel_left(q->b) / 2, INT64_MAX / 2);
  sw_rc rc = sel_along_solve(q->k->core, &o, &part, q->x, &found, q->d);
  sel_budget_join(q->b, &part);
  if (rc == SW_E_RESOURCE) {
    q->labels = MOST_LABELS;
    if (q->d) *q->d = (sw_diag){0};
    return SW_OK;
  }
  if (!rc && found.found) rc = take_best(q, q->x, found.cost);
  if (rc) return rc;
  if (found.done && !found.found && !q->k->r->has) q->k->r->infeasible = true;
  if (found.bound > 0) sel_base_raise(q->k, found.bound);
  return SW_OK;
}

static sw_rc take_turns(searcher *q) {
  double turn = q->by->turn_steps;
  int64_t sweeps = (int64_t)q->by->turn_sweeps;
  try_warm_start(q);
  if (!q->primed) SW_TRY(ascend_classes(q));
  set_pace(q);
  while (!over(q)) {
    double before = q->dual.best.bound;
    SW_TRY(begin_round(q, 2 * turn, 2 * sweeps));
    SW_TRY(take_turn(q, turn, sweeps));
    SW_TRY(end_round(q));
    if (!over(q)) SW_TRY(close_narrow(q));
    if (over(q) || sel_dual_settled(&q->dual, before)) return SW_OK;
    turn = fmin(q->by->turn_steps_most, q->by->turn_grow * turn);
    sweeps += sweeps / 2;
  }
  return SW_OK;
}

/* Rounds of branch and bound. The local search of a single thread gets a part of each, less when it finds nothing. */
static sw_rc branch(searcher *q) {
  enum { SWEEPS = 3000 };
  const double kTurn = 2.8e8;
  const sel_core *c = q->k->core;
  double *lambda, share = 1; /* of half a round */
  bool broken;
  sel_brancher *tree;
  SW_ARENA_NEW(lambda, &q->mem, c->n_steps, q->d);
  for (int32_t t = 0; t < c->n_steps; t++) lambda[t] = q->dual.best.lambda[t] / q->dual.unit;
  SW_TRY(sel_branch_open(q->k, lambda, q->b, &tree, q->d));
  sw_rc rc = SW_OK;
  while (!rc && !over(q)) {
    int64_t before = q->best_cost;
    sel_budget part = sel_budget_part(q->b, kTurn, SWEEPS * sweep_cells(q));
    SW_TRY_TO(end, begin_round(q, kTurn, SWEEPS));
    SW_TRY_TO(end, sel_branch_run(tree, &part, &broken));
    q->broken = q->broken || broken;
    if (!over(q)) SW_TRY_TO(end, close_narrow(q));
    SW_TRY_TO(end, end_round(q));
    if (over(q) || q->searches.n > 1) continue;
    rc = walk_from_best(q, kTurn * share / 2, (int64_t)(share * SWEEPS / 2));
    share = q->best_cost < before ? 1 : fmax(0.1, 0.8 * share);
  }
end:
  sel_branch_close(tree);
  return rc;
}

enum { SWEEPS_OF_TURN = 150 };

/* Large cores: raise the bound, round what it gives, and walk from the best, in turn. */
static sw_rc alternate(searcher *q) {
  const double kFreshFactor = 0.02, kTooSmall = 2e-4; /* steps that have become too small start again */
  const double kTurn = 4e8;
  while (!over(q)) {
    SW_TRY(begin_round(q, 2 * kTurn, (int64_t)2 * SWEEPS_OF_TURN));
    if (q->dual.stride.factor < kTooSmall) q->dual.stride.factor = kFreshFactor;
    SW_TRY(ascend_dual(q, kTurn, SWEEPS_OF_TURN));
    if (!over(q)) SW_TRY(decode_and_polish(q, q->by->polish_steps));
    if (!over(q) && q->searches.n == 1) SW_TRY(walk_from_best(q, kTurn, SWEEPS_OF_TURN));
    if (!over(q)) SW_TRY(close_narrow(q));
    SW_TRY(end_round(q));
  }
  return SW_OK;
}

static sw_rc finish_search(searcher *q) {
  if (q->best_cost < INT64_MAX && q->searches.n == 1)
    SW_TRY(walk_from_best(q, 0.05 * fmin(sel_left(q->b), 1.6e10), SWEEPS_OF_TURN));
  if (!over(q)) SW_TRY(close_narrow(q));
  if (over(q)) return SW_OK;
  return is_large(q) && q->best_cost < INT64_MAX ? alternate(q) : branch(q);
}

sw_rc sel_search(const sel_base *k, sel_budget *b, sw_diag *d) {
  searcher q = {.k = k, .b = b, .by = sel_by(b), .d = d};
  sw_rc rc = searcher_init(&q);
  if (!rc) rc = take_warm_start(&q);
  if (!rc) rc = start_search(&q);
  if (!rc) rc = take_turns(&q);
  bool goes_on = !k->relaxed || (!q.broken && !k->proof); /* a tree is written down for the whole problem alone */
  if (!rc && goes_on && !sel_closed(k->r)) rc = finish_search(&q);
  if (q.searching) sel_local_searches_drop(&q.searches);
  if (!rc) rc = give_warm_start(&q);
  sel_local_searches_deinit(&q.searches);
  sel_dual_deinit(&q.dual);
  sw_arena_deinit(&q.mem);
  return rc;
}
