/* A plan that fits, by prices of memory: what is held at steps where plans hold too much costs so much a byte, and
 * there is no limit. Such a problem is solved as soon as one with memory to spare. Prices rise where a plan holds too
 * much until one fits, and are then halved towards the last that were too low.
 *
 * Copies that several readers share are priced for each of them: a plan may be better than its prices say, and nothing
 * is proven.
 */
#include "plan/search.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"

enum { MOST_RAISES = 24, MOST_HALVINGS = 6, MOST_CELLS = 1 << 27 };

typedef struct pricing {
  const sw_searcher *s;
  const sw_fit *fit;
  sw_plan *out; /* the last that was tried */
  int64_t n_steps;
  double *low, *high, *now; /* by step: too low, high enough, and at hand */
  double *sum;              /* by step: of all before it, at hand */
  sw_solution best;         /* found so far */
  int64_t least;            /* what it holds more than the limit */
  sw_arena mem;             /* of one problem */
  int64_t cells;            /* of its tables; above MOST_CELLS it is not built */
} pricing;

/* --- the problem under prices ------------------------------------------------------------------------------------- */

static double price_of(const pricing *p, int64_t begin, int64_t end, int64_t amount) {
  return end > begin ? (double)amount * (p->sum[end] - p->sum[begin]) : 0;
}

static int64_t with_price(int64_t cost, double price) {
  const double kMost = 1e17; /* counted */
  return cost >= SW_FORBIDDEN ? cost : sw_min_i64(SW_FORBIDDEN - 1, cost + (int64_t)fmin(price, kMost));
}

static sw_rc price_node(pricing *p, const sw_node *held, sw_node *node, sw_diag *d) {
  int64_t *cost;
  bool any = false;
  node->n_uses = 0;
  for (int32_t a = 0; a < held->n_uses; a++) any = any || price_of(p, held->uses[a].begin, held->uses[a].end, 1) > 0;
  if (!any) return SW_OK;
  SW_ARENA_NEW(cost, &p->mem, node->n_choices, d);
  for (int32_t c = 0; c < node->n_choices; c++) {
    double price = 0;
    for (int32_t a = 0; a < held->n_uses; a++)
      price += price_of(p, held->uses[a].begin, held->uses[a].end, held->uses[a].amount[c]);
    cost[c] = with_price(node->cost[c], price);
  }
  node->cost = cost;
  return SW_OK;
}

/* What a reader's wants hold of what a class of the maker's choices gives. */
static double price_of_wants(const pricing *p, const sw_copies *c, int32_t reader, int32_t made, int32_t wanted) {
  const sw_lives *l = c->lives;
  const sw_wants *w = &c->table->wants[reader];
  double price = 0;
  for (int32_t k = w->first[wanted]; k < w->first[wanted + 1]; k++) {
    const bool taken = l->made_as[w->layout[k]] == made;
    const int64_t until = taken ? l->until_made[reader] : l->taken[reader] + 1;
    price += price_of(p, l->held, until, l->made[made]);
    if (!taken) price += price_of(p, l->taken[reader], l->until[reader], l->amount[w->layout[k]]);
  }
  return price;
}

static sw_rc price_reader(pricing *p, const sw_copies *c, int32_t reader, sw_edge *edge, bool *any, sw_diag *d) {
  const sw_copy_table *t = c->table;
  const sw_wants *w = &t->wants[reader];
  double *price;
  int64_t *cost;
  *any = false;
  SW_ARENA_NEW(price, &p->mem, (size_t)t->n_classes * (size_t)w->n_classes, d);
  for (int32_t f = 0; f < t->n_classes; f++) {
    for (int32_t x = 0; x < w->n_classes; x++) {
      price[f * w->n_classes + x] = price_of_wants(p, c, reader, f, x);
      *any = *any || price[f * w->n_classes + x] > 0;
    }
  }
  p->cells += *any ? (int64_t)t->n_choices * w->n_choices : 0;
  if (!*any || p->cells > MOST_CELLS) return SW_OK;
  SW_ARENA_NEW(cost, &p->mem, (size_t)t->n_choices * (size_t)w->n_choices, d);
  for (int32_t f = 0; f < t->n_choices; f++)
    for (int32_t x = 0; x < w->n_choices; x++)
      cost[(int64_t)f * w->n_choices + x] = with_price(0, price[t->class_of[f] * w->n_classes + w->class_of[x]]);
  *edge = (sw_edge){c->maker, c->reader[reader], cost};
  return SW_OK;
}

/* The relaxation as it is, without its limit. */
static sw_rc build(pricing *p, sw_problem *out, sw_diag *d) {
  const sw_problem *whole = p->s->problem;
  sw_node *nodes;
  sw_edge *edges;
  size_t n_readers = 0;
  *out = *sw_relaxation_problem(p->s->relaxed);
  out->limit = INT64_MAX;
  p->cells = 0;
  for (int64_t t = 0; t < p->n_steps; t++) p->sum[t + 1] = p->sum[t] + p->now[t];
  for (int32_t g = 0; g < whole->n_copies; g++) n_readers += (size_t)whole->copies[g].table->n_readers;
  if (!(nodes = sw_arena_copy(&p->mem, out->nodes, (size_t)out->n_nodes, sizeof *nodes, d))) return SW_E_RESOURCE;
  SW_ARENA_NEW(edges, &p->mem, (size_t)out->n_edges + n_readers, d);
  memcpy(edges, out->edges, (size_t)out->n_edges * sizeof *edges);
  for (int32_t i = 0; i < out->n_nodes; i++) {
    nodes[i].n_uses = 0;
    if (i < whole->n_nodes) SW_TRY(price_node(p, &whole->nodes[i], &nodes[i], d));
  }
  for (int32_t g = 0; g < whole->n_copies; g++) {
    const sw_copies *c = &whole->copies[g];
    bool any;
    for (int32_t i = 0; c->lives && i < c->table->n_readers && p->cells <= MOST_CELLS; i++) {
      SW_TRY(price_reader(p, c, i, &edges[out->n_edges], &any, d));
      out->n_edges += any;
    }
  }
  out->nodes = nodes;
  out->edges = edges;
  return SW_OK;
}

static sw_rc solve_once(pricing *p, const int32_t *from, sw_solution *out, bool *refined, sw_diag *d) {
  const double kOfLeft = 0.05, kGap = 2e-3;
  const sw_solve_options *asked = &p->s->o->solve;
  sw_solve_options o = {
      .solver = asked->solver, .gap = kGap, .threads = asked->threads, .seed = asked->seed, .cancel = asked->cancel};
  sw_problem q;
  int32_t *choice;
  SW_TRY(build(p, &q, d));
  *refined = false;
  *out = (sw_solution){0};
  if (p->cells > MOST_CELLS) return SW_OK;
  SW_ARENA_NEW(choice, &p->mem, q.n_nodes, d);
  SW_TRY(sw_relaxation_complete(p->s->relaxed, from, choice, d));
  const sw_solve_state state = {.n_nodes = q.n_nodes, .choice = choice};
  o.from = &state;
  SW_TRY(sw_search_call(p->s, &q, kOfLeft, &o, p->s->arena, out, d));
  if (out->choice) SW_TRY(sw_search_refine(p->s, out->choice, refined, d));
  if (out->choice) SW_TRY(sw_search_cost(p->s, out->choice, &out->cost, NULL, d));
  return SW_OK;
}

/* Again where copies cost something else than was counted. */
static sw_rc solve(pricing *p, const int32_t *from, sw_solution *out, sw_diag *d) {
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

static int64_t last_step(const sw_problem *p) {
  int64_t last = 0;
  for (int32_t i = 0; i < p->n_nodes; i++)
    for (int32_t a = 0; a < p->nodes[i].n_uses; a++) last = sw_max_i64(last, p->nodes[i].uses[a].end);
  for (int32_t g = 0; g < p->n_copies; g++) {
    const sw_copies *c = &p->copies[g];
    for (int32_t i = 0; c->lives && i < c->table->n_readers; i++)
      last = sw_max_i64(last, sw_max_i64(c->lives->until[i], c->lives->until_made[i]));
  }
  return last + 1;
}

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
    for (int64_t t = over[k].begin; t < over[k].end; t++) p->now[t] += by / (double)steps;
  return SW_OK;
}

/* The plan at the prices at hand, and what it holds too much. The cheapest that fits is kept; while there is none, that
 * which holds least. */
static sw_rc try_prices(pricing *p, const int32_t *from, sw_solution *at, int64_t *excess, sw_diag *d) {
  int64_t peak;
  const bool fitted = p->best.choice && p->least <= 0;
  SW_TRY(solve(p, from, at, d));
  if (!at->choice) return SW_OK;
  SW_TRY(sw_search_take(p->s, at, p->fit, p->out, &peak, d));
  *excess = peak - p->fit->capacity;
  const bool better =
      *excess <= 0 ? !fitted || at->cost < p->best.cost : !fitted && (!p->best.choice || *excess < p->least);
  if (better) p->best = *at;
  if (better) p->least = *excess;
  return SW_OK;
}

/* Buffers of routes have no price: where they are too much, the rest must hold less. */
static sw_rc raise_for(pricing *p, const sw_solution *at, int64_t excess, double raised, sw_diag *d) {
  sw_score score;
  SW_TRY(sw_problem_score(p->s->problem, at->choice, &score, d));
  const double by = raised * (double)at->cost / (double)p->fit->capacity;
  memcpy(p->low, p->now, (size_t)p->n_steps * sizeof *p->low);
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
  memcpy(p->high, p->now, (size_t)p->n_steps * sizeof *p->high);
  for (int i = 0; i < MOST_HALVINGS && !sw_search_is_over(p->s); i++) {
    sw_solution at;
    int64_t excess;
    for (int64_t t = 0; t < p->n_steps; t++) p->now[t] = (p->low[t] + p->high[t]) / 2;
    SW_TRY(try_prices(p, p->best.choice, &at, &excess, d));
    if (!at.choice) return SW_OK;
    memcpy(excess > 0 ? p->low : p->high, p->now, (size_t)p->n_steps * sizeof *p->now);
  }
  return SW_OK;
}

sw_rc sw_search_by_price(const sw_searcher *s, const sw_fit *fit, const int32_t *from, sw_plan *out, sw_solution *best,
                         sw_diag *d) {
  pricing p = {.s = s, .fit = fit, .out = out, .n_steps = last_step(s->problem)};
  SW_ARENA_NEW(p.low, s->arena, p.n_steps, d);
  SW_ARENA_NEW(p.now, s->arena, p.n_steps, d);
  SW_ARENA_NEW(p.high, s->arena, p.n_steps, d);
  SW_ARENA_NEW(p.sum, s->arena, p.n_steps + 1, d);
  SW_TRY(sw_relaxation_price_whole(s->relaxed, true, d));
  sw_rc rc = raise_until_it_fits(&p, from, d);
  if (!rc && p.best.choice && p.least <= 0) rc = halve(&p, d);
  *best = p.best;
  sw_arena_deinit(&p.mem);
  return rc ? rc : sw_relaxation_price_whole(s->relaxed, false, d);
}
