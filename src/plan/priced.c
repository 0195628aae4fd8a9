/* A plan that fits, by prices of memory: what is held at steps where plans hold too much costs so much a byte, and
 * there is no limit. Such a problem is solved as soon as one with memory to spare. Prices rise where a plan holds too
 * much until one fits, and are then halved towards the last that were too low. Readers pay in full for what they share
 * with others, so that a plan is no worse than its prices say.
 *
 * From there readers pay shares, and prices step to where they prove most: what a plan costs at least, with what it
 * holds at these prices, less what the capacity is worth at them. Plans on the way may be better, too.
 */
#include "plan/search.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"

enum { MOST_RAISES = 24, MOST_HALVINGS = 6 };

typedef struct pricing {
  const sw_searcher *s;
  const sw_fit *fit;
  sw_plan *out;            /* the last that was tried */
  sw_memory_prices prices; /* at hand */
  double *low, *high;      /* too low, high enough */
  sw_solution best;        /* found so far */
  int64_t least;           /* what it holds more than the limit */
  int64_t bound;           /* proven so far */
  sw_arena mem;            /* of one problem */
} pricing;

static sw_rc solve_once(pricing *p, const int32_t *from, sw_solution *out, bool *refined, sw_diag *d) {
  const double kOfLeft = 0.05, kGap = 2e-3;
  const sw_solve_options *asked = &p->s->o->solve;
  sw_solve_options o = {
      .solver = asked->solver, .gap = kGap, .threads = asked->threads, .seed = asked->seed, .cancel = asked->cancel};
  sw_problem q;
  int64_t worth;
  int32_t *choice;
  SW_TRY(sw_relaxation_price_memory(p->s->relaxed, &p->prices, p->fit->capacity, &p->mem, &q, &worth, d));
  *refined = false;
  SW_ARENA_NEW(choice, &p->mem, q.n_nodes, d);
  SW_TRY(sw_relaxation_complete(p->s->relaxed, from, choice, d));
  const sw_solve_state state = {.n_nodes = q.n_nodes, .choice = choice};
  o.from = &state;
  SW_TRY(sw_search_call(p->s, &q, kOfLeft, &o, p->s->arena, out, d));
  if (!p->prices.whole) p->bound = sw_max_i64(p->bound, out->bound - worth);
  if (out->choice) SW_TRY(sw_search_refine(p->s, out->choice, refined, d));
  if (out->choice) SW_TRY(sw_search_cost(p->s, out->choice, &out->cost, NULL, d));
  return SW_OK;
}

/* Again where copies cost something else than was counted. */
static sw_rc solve_priced(pricing *p, const int32_t *from, sw_solution *out, sw_diag *d) {
  enum { ROUNDS = 4 };
  bool refined = true;
  *out = (sw_solution){0};
  for (int i = 0; i < ROUNDS && refined && !sw_search_is_over(p->s); i++) {
    sw_rc rc = solve_once(p, out->choice ? out->choice : from, out, &refined, d);
    sw_arena_deinit(&p->mem);
    if (rc || !out->choice) return rc;
  }
  return SW_OK;
}

/* --- prices ------------------------------------------------------------------------------------------------------- */

/* Where the choice holds more than a limit, bytes cost so much more, over all such steps. */
static sw_rc raise(pricing *p, const int32_t *choice, int64_t limit, double by, sw_diag *d) {
  sw_problem q = *p->s->problem;
  const sw_occupied *over;
  int32_t n;
  int64_t steps = 0;
  q.limit = limit;
  SW_TRY(sw_problem_over(&q, choice, &p->mem, &n, &over, d));
  for (int32_t k = 0; k < n; k++) steps += over[k].end - over[k].begin;
  for (int32_t k = 0; k < n; k++)
    for (int64_t t = over[k].begin; t < over[k].end; t++) p->prices.at[t] += by / (double)steps;
  return SW_OK;
}

/* The plan at the prices at hand, and what it holds too much. The cheapest that fits is kept; while there is none, that
 * which holds least. */
static sw_rc try_prices(pricing *p, const int32_t *from, sw_solution *at, int64_t *excess, sw_diag *d) {
  int64_t peak;
  const bool fitted = p->best.choice && p->least <= 0;
  SW_TRY(solve_priced(p, from, at, d));
  if (!at->choice) return SW_OK;
  SW_TRY(sw_search_take(p->s, at, p->fit, p->out, &peak, d));
  *excess = peak - p->fit->capacity;
  const bool better =
      *excess <= 0 ? !fitted || at->cost < p->best.cost : !fitted && (!p->best.choice || *excess < p->least);
  if (better) p->best = *at;
  if (better) p->least = *excess;
  return SW_OK;
}

/* What is proven is as near as was asked for. */
static bool proves_enough(const pricing *p) {
  sw_solution known = p->best;
  known.bound = p->bound;
  return sw_search_is_close(p->s, &known);
}

/* Buffers of routes have no price: where they are too much, the rest must hold less. */
static sw_rc raise_for(pricing *p, const sw_solution *at, int64_t excess, double raised, sw_diag *d) {
  sw_score score;
  SW_TRY(sw_problem_score(p->s->problem, at->choice, &score, d));
  const double by = raised * (double)at->cost / (double)p->fit->capacity;
  memcpy(p->low, p->prices.at, (size_t)p->prices.n_steps * sizeof *p->low);
  return raise(p, at->choice, sw_min_i64(p->fit->capacity, (int64_t)score.peak - excess), by, d);
}

static sw_rc raise_until_it_fits(pricing *p, const int32_t *from, sw_diag *d) {
  const double kFirst = 0.05, kFaster = 1.5; /* of the cost, what the whole capacity is priced at */
  sw_solution at;
  int64_t excess = 0;
  double raised = kFirst;
  SW_TRY(try_prices(p, from, &at, &excess, d));
  for (int i = 0; i < MOST_RAISES && at.choice && excess > 0 && !sw_search_is_over(p->s); i++, raised *= kFaster) {
    SW_TRY(raise_for(p, &at, excess, raised, d));
    SW_TRY(try_prices(p, at.choice, &at, &excess, d));
  }
  return SW_OK;
}

/* Half way between prices that are too low and those at which a plan fits. */
static sw_rc halve(pricing *p, sw_diag *d) {
  memcpy(p->high, p->prices.at, (size_t)p->prices.n_steps * sizeof *p->high);
  for (int i = 0; i < MOST_HALVINGS && !sw_search_is_over(p->s); i++) {
    sw_solution at;
    int64_t excess;
    for (int64_t t = 0; t < p->prices.n_steps; t++) p->prices.at[t] = (p->low[t] + p->high[t]) / 2;
    SW_TRY(try_prices(p, p->best.choice, &at, &excess, d));
    if (!at.choice) return SW_OK;
    memcpy(excess > 0 ? p->low : p->high, p->prices.at, (size_t)p->prices.n_steps * sizeof *p->prices.at);
  }
  return SW_OK;
}

/* --- what prices prove -------------------------------------------------------------------------------------------- */

/* Steps of prices, from those at which most is proven. */
typedef struct ascent {
  double *centre, *toward, *held; /* by step: those prices; the supergradient on average; what the last plan holds */
  double factor;                  /* of the step that would close the gap if all went on as it begins */
  int64_t proven;                 /* at the centre */
} ascent;

static void step_on(pricing *p, ascent *a) {
  double length = 0;
  for (int64_t t = 0; t < p->prices.n_steps; t++)
    if (a->centre[t] > 0 || a->toward[t] > 0) length += a->toward[t] * a->toward[t];
  const double by = length > 0 ? a->factor * (double)(p->best.cost - a->proven) / length : 0;
  for (int64_t t = 0; t < p->prices.n_steps; t++) p->prices.at[t] = fmax(0, a->centre[t] + by * a->toward[t]);
}

/* Where more is proven the steps grow and go on from there, else they shrink. */
static void judge_step(pricing *p, ascent *a, bool first) {
  const double kMix = 0.3, kShrink = 0.7, kGrow = 1.2;
  if (p->bound > a->proven) {
    a->proven = p->bound;
    memcpy(a->centre, p->prices.at, (size_t)p->prices.n_steps * sizeof *a->centre);
    a->factor *= kGrow;
  } else if (!first) {
    a->factor *= kShrink;
  }
  for (int64_t t = 0; t < p->prices.n_steps; t++)
    a->toward[t] += (first ? 1 : kMix) * (a->held[t] - (double)p->fit->capacity - a->toward[t]);
}

/* Prices step along a supergradient of what they prove. Plans on the way may fit and be cheaper. */
static sw_rc climb_prices(pricing *p, sw_diag *d) {
  const double kFirst = 0.5, kLeast = 0.02;
  const int64_t n = p->prices.n_steps;
  ascent a = {.factor = kFirst, .proven = p->bound};
  SW_ARENA_NEW(a.held, p->s->arena, n + 1, d);
  SW_ARENA_NEW(a.toward, p->s->arena, n, d);
  SW_ARENA_NEW(a.centre, p->s->arena, n, d);
  memcpy(a.centre, p->prices.at, (size_t)n * sizeof *a.centre);
  for (bool first = true; a.factor > kLeast && !proves_enough(p) && !sw_search_is_over(p->s); first = false) {
    sw_solution at;
    int64_t excess;
    step_on(p, &a);
    SW_TRY(try_prices(p, p->best.choice, &at, &excess, d));
    if (!at.choice) return SW_OK;
    sw_rc rc = sw_relaxation_priced_held(p->s->relaxed, &p->prices, at.choice, &p->mem, a.held, d);
    sw_arena_deinit(&p->mem);
    if (rc) return rc;
    judge_step(p, &a, first);
  }
  return SW_OK;
}

/* Copies are priced for each of their readers, too. */
static sw_rc find_that_fits(pricing *p, const int32_t *from, sw_diag *d) {
  p->prices.whole = true;
  SW_TRY(sw_relaxation_price_whole(p->s->relaxed, true, d));
  sw_rc rc = raise_until_it_fits(p, from, d);
  if (!rc && p->best.choice && p->least <= 0) rc = halve(p, d);
  p->prices.whole = false;
  return rc ? rc : sw_relaxation_price_whole(p->s->relaxed, false, d);
}

sw_rc sw_search_by_price(const sw_searcher *s, const sw_fit *fit, const int32_t *from, sw_plan *out, sw_solution *best,
                         int64_t *bound, sw_diag *d) {
  pricing p = {.s = s, .fit = fit, .out = out, .prices.n_steps = sw_relaxation_last_step(s->relaxed)};
  SW_ARENA_NEW(p.low, s->arena, p.prices.n_steps, d);
  SW_ARENA_NEW(p.prices.at, s->arena, p.prices.n_steps, d);
  SW_ARENA_NEW(p.high, s->arena, p.prices.n_steps, d);
  sw_rc rc = find_that_fits(&p, from, d);
  if (!rc && p.best.choice && p.least <= 0) rc = climb_prices(&p, d);
  sw_arena_deinit(&p.mem);
  *best = p.best;
  *bound = p.bound;
  return rc;
}
