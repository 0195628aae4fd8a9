/* A plan that fits, by prices of memory: what is held at steps where plans hold too much costs so much a byte, and
 * there is no limit. Such a problem is solved as soon as one with memory to spare. Prices rise where a plan holds too
 * much until one fits, and are then halved towards the last that were too low. Readers pay in full for what they share
 * with others.
 */
#include "plan/search.h"

#include <string.h>

#include "base/checked.h"

enum { MOST_RAISES = 24, MOST_HALVINGS = 6, MOST_REFINED = 4 };

/* From the cost, what the whole capacity is priced at: at first, and how much faster each time. */
static const double kFirstRaise = 0.05, kFaster = 1.5;

typedef struct pricing {
  bool fitted; /* a plan has: prices are halved */
  int tries;   /* of raising, of halving */
  int refined; /* rounds at the prices at hand */
  int64_t n_steps;
  double *prices;     /* at hand */
  double *low, *high; /* too low, high enough */
  double raised;
  const int32_t *from;
} pricing;

static sw_rc begin_prices(sw_search *k, bool *due, sw_diag *d) {
  const int64_t n = sw_relaxation_last_step(k->relaxed);
  pricing *p;
  *due = k->over;
  if (!*due) return SW_OK;
  SW_ARENA_NEW(p, k->arena, 1, d);
  *p = (pricing){.raised = kFirstRaise, .n_steps = n};
  SW_ARENA_NEW_EACH(k->arena, n, d, p->prices, p->low, p->high);
  p->from = k->best.choice ? k->best.choice : k->nearest.choice;
  k->own = p;
  return SW_OK;
}

/* Copies are priced for each of their readers, too. */
static sw_rc make_priced(sw_search *k, sw_round *r, sw_diag *d) {
  const double kOfLeft = 0.05, kGap = 2e-3;
  const pricing *p = k->own;
  const sw_solve_options *o = &k->asked->solve;
  int32_t *choice;
  sw_relaxation_price_whole(k->relaxed, true);
  SW_TRY(sw_relaxation_price_memory(k->relaxed, p->n_steps, p->prices, &k->mem, &r->problem, d));
  SW_ARENA_NEW(choice, &k->mem, r->problem.n_nodes, d);
  SW_TRY(sw_relaxation_complete(k->relaxed, p->from, choice, d));
  r->from = (sw_solve_state){.n_nodes = r->problem.n_nodes, .choice = choice};
  r->o = (sw_solve_options){
      .solver = o->solver, .gap = kGap, .threads = o->threads, .seed = o->seed, .cancel = o->cancel, .from = &r->from};
  r->part = kOfLeft;
  return SW_OK;
}

/* --- other prices ------------------------------------------------------------------------------------------------- */

static void copy_prices(const pricing *p, double *to, const double *from) {
  memcpy(to, from, (size_t)p->n_steps * sizeof *to);
}

/* Where the choice holds more than a limit, bytes cost so much more, over all such steps. Buffers of routes have no
 * price: where they are too much, the rest must hold less. */
static sw_rc raise(sw_search *k, pricing *p, const sw_round *r, sw_diag *d) {
  const double by = p->raised * (double)r->cost / (double)k->selected.capacity_bytes;
  sw_problem q = *k->problem;
  const sw_occupied *over;
  sw_score score;
  int64_t steps = 0;
  int32_t n;
  SW_TRY(sw_problem_score(k->problem, r->now.choice, &score, d));
  copy_prices(p, p->low, p->prices);
  q.limit = sw_min_i64(k->selected.capacity_bytes, (int64_t)score.peak - r->excess);
  SW_TRY(sw_problem_over(&q, r->now.choice, &k->mem, &n, &over, d));
  for (int32_t i = 0; i < n; i++) steps += over[i].end - over[i].begin;
  for (int32_t i = 0; i < n; i++)
    for (int64_t t = over[i].begin; t < over[i].end; t++) p->prices[t] += by / (double)steps;
  p->raised *= kFaster;
  return SW_OK;
}

/* Half way between prices that are too low and those at which a plan fits. */
static void halve(pricing *p) {
  for (int64_t t = 0; t < p->n_steps; t++) p->prices[t] = (p->low[t] + p->high[t]) / 2;
}

/* The next prices; *any: there are some. */
static sw_rc choose_prices(sw_search *k, pricing *p, const sw_round *r, bool *any, sw_diag *d) {
  const bool fits = r->excess <= 0;
  if (!p->fitted && !fits) {
    *any = p->tries++ < MOST_RAISES;
    return *any ? raise(k, p, r, d) : SW_OK;
  }
  copy_prices(p, fits ? p->high : p->low, p->prices);
  if (!p->fitted) p->tries = 0;
  p->fitted = true;
  *any = p->tries++ < MOST_HALVINGS;
  if (*any) halve(p);
  return SW_OK;
}

/* Again where copies cost something else than was counted, else at other prices. */
static sw_rc add_prices(sw_search *k, sw_round *r, sw_diag *d) {
  pricing *p = k->own;
  bool any = true;
  if (r->now.choice) SW_TRY(sw_search_refine(k, r->now.choice, &r->added, d));
  sw_relaxation_price_whole(k->relaxed, false);
  if (!r->now.choice) return SW_OK;
  p->from = k->best.choice && p->fitted ? k->best.choice : r->now.choice;
  if (!(r->added & (SW_ADDED_PRICES | SW_ADDED_COPIES)) || ++p->refined == MOST_REFINED) {
    p->refined = 0;
    SW_TRY(choose_prices(k, p, r, &any, d));
    r->added |= SW_ADDED_RATES;
  }
  r->again = any;
  return SW_OK;
}

const sw_form sw_form_prices = {
    .name = "prices", .part = 1.0 / 2, .begin = begin_prices, .make = make_priced, .add = add_prices};
