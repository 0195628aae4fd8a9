/* A relaxation under prices of memory: what a choice holds at a step costs so much a byte, and there is no limit.
 *
 * Nodes pay for what they hold whatever others choose, and edges from makers to readers for copies and for what is made
 * behind that. Each reader pays as if it were the only one.
 *
 * Prices are whole numbers of a unit, and what is paid is rounded down.
 */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "select/copies/copies.h"

enum { MOST_CELLS = 1 << 27, BITS = 50 }; /* of all prices together */

typedef struct priced {
  int shift;    /* a unit is 2^-shift */
  int64_t *sum; /* of the prices of all steps before */
  sw_arena *arena;
} priced;

/* --- prices ------------------------------------------------------------------------------------------------------ */

static int64_t price_of_bytes(const priced *p, int64_t amount, int64_t begin, int64_t end) {
  if (begin >= end) return 0;
  const sw_i128 price = (sw_i128)amount * (p->sum[end] - p->sum[begin]), most = SW_FORBIDDEN - 1;
  const sw_i128 rounded = p->shift >= 0 ? price >> p->shift : price << -p->shift;
  return (int64_t)(rounded < most ? rounded : most);
}

static int64_t with_price(int64_t cost, int64_t price) {
  return cost >= SW_FORBIDDEN ? cost : sw_min_i64(SW_FORBIDDEN - 1, cost + price);
}

static sw_rc sum_prices(priced *p, int64_t n_steps, const double *prices, sw_diag *d) {
  double all = 0;
  for (int64_t t = 0; t < n_steps; t++) all += prices[t];
  p->shift = all > 0 ? BITS - ilogb(all) : 0;
  SW_ARENA_NEW(p->sum, p->arena, n_steps + 1, d);
  for (int64_t t = 0; t < n_steps; t++) p->sum[t + 1] = p->sum[t] + (int64_t)ldexp(prices[t], p->shift);
  return SW_OK;
}

static sw_rc put_price_on_node(const priced *p, const sw_node *held, sw_node *node, sw_diag *d) {
  int64_t *cost;
  bool any = false;
  node->n_uses = 0;
  for (int32_t a = 0; a < held->n_uses; a++) any = any || p->sum[held->uses[a].end] > p->sum[held->uses[a].begin];
  if (!any) return SW_OK;
  SW_ARENA_NEW(cost, p->arena, node->n_choices, d);
  for (int32_t c = 0; c < node->n_choices; c++) {
    cost[c] = node->cost[c];
    for (int32_t a = 0; a < held->n_uses; a++) {
      const sw_usage *use = &held->uses[a];
      cost[c] = with_price(cost[c], price_of_bytes(p, use->amount[c], use->begin, use->end));
    }
  }
  node->cost = cost;
  return SW_OK;
}

/* What a reader's wants hold of what a class of the maker's choices gives, and in copies of it: what is made is held
 * until behind the step at which the first copy is made of it, which may be for another reader. */
static int64_t price_of_wants(const priced *p, const sw_copies *c, int32_t reader, int32_t made, int32_t wanted) {
  const sw_lives *l = c->lives;
  const sw_wants *w = &c->table->wants[reader];
  int64_t price = 0, until = l->held;
  for (int32_t k = w->first[wanted]; k < w->first[wanted + 1]; k++) {
    const int32_t layout = w->layout[k];
    const bool as_made = l->made_as[layout] == made;
    until = sw_max_i64(until, as_made ? l->until_made[reader] : l->taken[reader] + 1);
    if (!as_made) price = with_price(price, price_of_bytes(p, l->amount[layout], l->taken[reader], l->until[reader]));
  }
  return with_price(price, price_of_bytes(p, l->made[made], l->held, until));
}

/* The edge of a reader; *cells: of its table, 0: nothing has a price. */
static sw_rc price_reader(const priced *p, const sw_copies *c, int32_t reader, sw_edge *edge, int64_t *cells,
                          sw_diag *d) {
  const sw_copy_table *t = c->table;
  const sw_wants *w = &t->wants[reader];
  int64_t *price, *cost;
  bool any = false;
  SW_ARENA_NEW(price, p->arena, (size_t)t->n_classes * (size_t)w->n_classes, d);
  for (int32_t f = 0; f < t->n_classes; f++) {
    for (int32_t x = 0; x < w->n_classes; x++) {
      price[f * w->n_classes + x] = price_of_wants(p, c, reader, f, x);
      any = any || price[f * w->n_classes + x] > 0;
    }
  }
  *cells = any ? (int64_t)t->n_choices * w->n_choices : 0;
  if (!any) return SW_OK;
  SW_ARENA_NEW(cost, p->arena, *cells, d);
  for (int32_t f = 0; f < t->n_choices; f++)
    for (int32_t x = 0; x < w->n_choices; x++)
      cost[(int64_t)f * w->n_choices + x] = price[t->class_of[f] * w->n_classes + w->class_of[x]];
  *edge = (sw_edge){c->maker, c->reader[reader], cost};
  return SW_OK;
}

/* Until when a group can hold anything behind what its maker's uses say. */
static int64_t last_held(const sw_copies *c) {
  int64_t last = c->lives->held;
  for (int32_t i = 0; i < c->table->n_readers; i++)
    last =
        sw_max_i64(last, sw_max_i64(c->lives->until[i], sw_max_i64(c->lives->until_made[i], c->lives->taken[i] + 1)));
  return last;
}

static int64_t first_held(const sw_copies *c) {
  int64_t first = c->lives->held;
  for (int32_t i = 0; i < c->table->n_readers; i++) first = sw_min_i64(first, c->lives->taken[i]);
  return first;
}

static sw_rc price_group(const priced *p, const sw_copies *c, sw_edge *edges, int32_t *n, int64_t *cells, sw_diag *d) {
  if (!c->lives || p->sum[last_held(c)] == p->sum[first_held(c)]) return SW_OK;
  for (int32_t i = 0; i < c->table->n_readers && *cells <= MOST_CELLS; i++) {
    int64_t more;
    SW_TRY(price_reader(p, c, i, &edges[*n], &more, d));
    *n += more > 0;
    *cells += more;
  }
  return SW_OK;
}

sw_rc sw_relaxation_price_memory(sw_relaxation *r, int64_t n_steps, const double *prices, sw_arena *arena,
                                 sw_problem *out, sw_diag *d) {
  const sw_problem *whole = r->p;
  priced p = {.arena = arena};
  sw_node *nodes;
  sw_edge *edges;
  size_t n_readers = 0;
  int64_t cells = 0;
  SW_TRY(sw_relaxation_problem(r, out, d));
  out->limit = INT64_MAX;
  SW_TRY(sum_prices(&p, n_steps, prices, d));
  for (int32_t g = 0; g < whole->n_copies; g++) n_readers += (size_t)whole->copies[g].table->n_readers;
  if (!(nodes = sw_arena_copy(arena, out->nodes, (size_t)out->n_nodes, sizeof *nodes, d))) return SW_E_RESOURCE;
  SW_ARENA_NEW(edges, arena, (size_t)out->n_edges + n_readers, d);
  memcpy(edges, out->edges, (size_t)out->n_edges * sizeof *edges);
  for (int32_t i = 0; i < out->n_nodes; i++) {
    nodes[i].n_uses = 0;
    if (i < whole->n_nodes) SW_TRY(put_price_on_node(&p, &whole->nodes[i], &nodes[i], d));
  }
  for (int32_t g = 0; g < whole->n_copies && cells <= MOST_CELLS; g++)
    SW_TRY(price_group(&p, &whole->copies[g], edges, &out->n_edges, &cells, d));
  out->nodes = nodes;
  out->edges = edges;
  return SW_OK;
}

int64_t sw_relaxation_last_step(const sw_relaxation *r) {
  int64_t last = 0;
  for (int32_t i = 0; i < r->p->n_nodes; i++)
    for (int32_t a = 0; a < r->p->nodes[i].n_uses; a++) last = sw_max_i64(last, r->p->nodes[i].uses[a].end);
  for (int32_t g = 0; g < r->p->n_copies; g++)
    if (r->p->copies[g].lives) last = sw_max_i64(last, last_held(&r->p->copies[g]));
  return last;
}
