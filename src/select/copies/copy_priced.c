/* A relaxation under prices of memory: what a choice holds at a step costs so much a byte, and there is no limit.
 *
 * Nodes pay for what they hold whatever others choose, and edges from makers to readers for copies and for what is made
 * behind that. Readers that can hold the same thing at a step share its price there, so that all of them together pay
 * no more than it costs: the least cost of this problem, less what the capacity is worth at these prices, bounds every
 * choice that keeps the limit.
 *
 * Prices are whole numbers of a unit, and what is paid is rounded down.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/lists.h"
#include "select/copies/copies.h"

enum { MOST_CELLS = 1 << 27, BITS = 50 }; /* of all prices together */

/* Who can hold a thing, and when. */
typedef struct holders {
  int32_t n_times;
  int64_t *time; /* ascending, where any begins or ends */
  int32_t *n;    /* from there to the next */
  int64_t *sum;  /* a holder's share of the prices, of all steps before */
} holders;

/* A group's: what is made, and each layout of which several readers can want a copy. */
typedef struct group {
  const sw_copies *c;
  int64_t *first; /* by layout: when the first can take a copy */
  holders made;
  holders *copy; /* by layout */
} group;

typedef struct priced {
  const sw_relaxation *r;
  const sw_memory_prices *prices;
  int shift; /* a unit is 2^-shift */
  int64_t *sum;
  sw_arena *arena;
} priced;

/* --- who holds what ---------------------------------------------------------------------------------------------- */

/* The last time that is no later. */
static int32_t interval_of(const holders *h, int64_t time) {
  int32_t low = 0, high = h->n_times - 1;
  while (low < high) {
    const int32_t mid = low + (high - low + 1) / 2;
    if (h->time[mid] <= time)
      low = mid;
    else
      high = mid - 1;
  }
  return low;
}

/* What a holder pays for a byte until a time behind the one of rank k. */
static int64_t sum_until(const priced *p, const holders *h, int32_t k, int64_t time) {
  const int32_t n = p->prices->whole ? 1 : h->n[k];
  return n ? h->sum[k] + (p->sum[time] - p->sum[h->time[k]]) / n : h->sum[k];
}

/* What one pays for a byte in an interval in which it can hold it. */
static int64_t share_in(const priced *p, const holders *h, int64_t begin, int64_t end) {
  return begin < end ? sum_until(p, h, interval_of(h, end), end) - sum_until(p, h, interval_of(h, begin), begin) : 0;
}

/* From n intervals, those that are empty left out. */
static sw_rc find_holders(const priced *p, int32_t n, const sw_occupied *held, holders *out, sw_diag *d) {
  *out = (holders){0};
  SW_ARENA_NEW(out->time, p->arena, 2 * (size_t)n, d);
  for (int32_t i = 0; i < n; i++) {
    if (held[i].begin >= held[i].end) continue;
    out->time[out->n_times++] = held[i].begin;
    out->time[out->n_times++] = held[i].end;
  }
  if (!out->n_times) return SW_OK;
  out->n_times = sw_sort_unique(out->time, out->n_times);
  SW_ARENA_NEW_EACH(p->arena, out->n_times, d, out->n, out->sum);
  for (int32_t i = 0; i < n; i++) {
    if (held[i].begin >= held[i].end) continue;
    out->n[interval_of(out, held[i].begin)]++;
    out->n[interval_of(out, held[i].end)]--;
  }
  for (int32_t k = 1; k < out->n_times; k++) {
    out->sum[k] = sum_until(p, out, k - 1, out->time[k]);
    out->n[k] += out->n[k - 1];
  }
  return SW_OK;
}

/* What is made is held until behind the step at which the first copy is made of it, which may be for another reader. */
static int64_t pays_made_until(const priced *p, const group *g, int32_t reader, int32_t layout, int32_t made) {
  const sw_lives *l = g->c->lives;
  if (l->made_as[layout] == made) return l->until_made[reader];
  return (p->prices->whole ? l->taken[reader] : g->first[layout]) + 1;
}

static sw_rc find_group_holders(const priced *p, const sw_copies *c, group *g, sw_diag *d) {
  const sw_copy_table *t = c->table;
  const sw_lives *l = c->lives;
  sw_occupied *held;
  g->c = c;
  SW_ARENA_NEW(held, p->arena, t->n_readers, d);
  SW_ARENA_NEW_EACH(p->arena, t->n_layouts, d, g->first, g->copy);
  for (int32_t k = 0; k < t->n_layouts; k++) {
    g->first[k] = INT64_MAX - 1;
    for (int32_t i = 0; i < t->n_readers; i++) {
      const bool can = sel_wants(&t->wants[i], k);
      held[i] = (sw_occupied){l->taken[i], can ? l->until[i] : l->taken[i], 0};
      if (can) g->first[k] = sw_min_i64(g->first[k], l->taken[i]);
    }
    SW_TRY(find_holders(p, t->n_readers, held, &g->copy[k], d));
  }
  for (int32_t i = 0; i < t->n_readers; i++) {
    const sw_wants *w = &t->wants[i];
    held[i] = (sw_occupied){l->held, l->until_made[i], 0};
    for (int32_t k = 0; k < w->first[w->n_classes]; k++)
      held[i].end = sw_max_i64(held[i].end, g->first[w->layout[k]] + 1);
  }
  return find_holders(p, t->n_readers, held, &g->made, d);
}

/* --- prices ------------------------------------------------------------------------------------------------------ */

/* What an amount costs: shares are of a byte. */
static int64_t price_of_amount(const priced *p, int64_t amount, int64_t share) {
  const sw_i128 price = (sw_i128)amount * share, most = SW_FORBIDDEN - 1;
  const sw_i128 rounded = p->shift >= 0 ? price >> p->shift : price << -p->shift;
  return (int64_t)(rounded < most ? rounded : most);
}

static int64_t with_price(int64_t cost, int64_t price) {
  return cost >= SW_FORBIDDEN ? cost : sw_min_i64(SW_FORBIDDEN - 1, cost + price);
}

static sw_rc sum_prices(priced *p, sw_diag *d) {
  const int64_t n = p->prices->n_steps;
  double all = 0;
  for (int64_t t = 0; t < n; t++) all += p->prices->at[t];
  p->shift = all > 0 ? BITS - ilogb(all) : 0;
  SW_ARENA_NEW(p->sum, p->arena, n + 1, d);
  for (int64_t t = 0; t < n; t++) p->sum[t + 1] = p->sum[t] + (int64_t)ldexp(p->prices->at[t], p->shift);
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
      cost[c] = with_price(cost[c], price_of_amount(p, use->amount[c], p->sum[use->end] - p->sum[use->begin]));
    }
  }
  node->cost = cost;
  return SW_OK;
}

/* What a reader's wants hold of what a class of the maker's choices gives, and in copies of it. */
static int64_t price_of_wants(const priced *p, const group *g, int32_t reader, int32_t made, int32_t wanted) {
  const sw_lives *l = g->c->lives;
  const sw_wants *w = &g->c->table->wants[reader];
  int64_t price = 0, until = l->held;
  for (int32_t k = w->first[wanted]; k < w->first[wanted + 1]; k++) {
    const int32_t layout = w->layout[k];
    until = sw_max_i64(until, pays_made_until(p, g, reader, layout, made));
    if (l->made_as[layout] == made) continue;
    const int64_t share = share_in(p, &g->copy[layout], l->taken[reader], l->until[reader]);
    price = with_price(price, price_of_amount(p, l->amount[layout], share));
  }
  return with_price(price, price_of_amount(p, l->made[made], share_in(p, &g->made, l->held, until)));
}

/* The edge of a reader; *cells: of its table, 0: nothing has a price. */
static sw_rc price_reader(const priced *p, const group *g, int32_t reader, sw_edge *edge, int64_t *cells, sw_diag *d) {
  const sw_copy_table *t = g->c->table;
  const sw_wants *w = &t->wants[reader];
  int64_t *price, *cost;
  bool any = false;
  SW_ARENA_NEW(price, p->arena, (size_t)t->n_classes * (size_t)w->n_classes, d);
  for (int32_t f = 0; f < t->n_classes; f++) {
    for (int32_t x = 0; x < w->n_classes; x++) {
      price[f * w->n_classes + x] = price_of_wants(p, g, reader, f, x);
      any = any || price[f * w->n_classes + x] > 0;
    }
  }
  *cells = any ? (int64_t)t->n_choices * w->n_choices : 0;
  if (!any) return SW_OK;
  SW_ARENA_NEW(cost, p->arena, *cells, d);
  for (int32_t f = 0; f < t->n_choices; f++)
    for (int32_t x = 0; x < w->n_choices; x++)
      cost[(int64_t)f * w->n_choices + x] = price[t->class_of[f] * w->n_classes + w->class_of[x]];
  *edge = (sw_edge){g->c->maker, g->c->reader[reader], cost};
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
  group g;
  if (!c->lives || p->sum[last_held(c)] == p->sum[first_held(c)]) return SW_OK;
  SW_TRY(find_group_holders(p, c, &g, d));
  for (int32_t i = 0; i < c->table->n_readers && *cells <= MOST_CELLS; i++) {
    int64_t more;
    SW_TRY(price_reader(p, &g, i, &edges[*n], &more, d));
    *n += more > 0;
    *cells += more;
  }
  return SW_OK;
}

sw_rc sw_relaxation_price_memory(sw_relaxation *r, const sw_memory_prices *prices, int64_t capacity, sw_arena *arena,
                                 sw_problem *out, int64_t *worth, sw_diag *d) {
  const sw_problem *whole = r->p;
  priced p = {.r = r, .prices = prices, .arena = arena};
  sw_node *nodes;
  sw_edge *edges;
  size_t n_readers = 0;
  int64_t cells = 0;
  SW_TRY(sw_relaxation_problem(r, out, d));
  out->limit = INT64_MAX;
  SW_TRY(sum_prices(&p, d));
  *worth = sw_cost_add(price_of_amount(&p, capacity, p.sum[prices->n_steps]), 1);
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

/* --- what is held ------------------------------------------------------------------------------------------------ */

static void add_held(double *change, int64_t begin, int64_t end, double amount) {
  if (begin >= end) return;
  change[begin] += amount;
  change[end] -= amount;
}

/* The amount over the number of those who can hold it. */
static void hold_share(const holders *h, int64_t begin, int64_t end, int64_t amount, double *change) {
  for (int32_t k = begin < end ? interval_of(h, begin) : h->n_times; k < h->n_times && h->time[k] < end; k++)
    add_held(change, sw_max_i64(begin, h->time[k]), sw_min_i64(end, k + 1 < h->n_times ? h->time[k + 1] : end),
             (double)amount / h->n[k]);
}

static sw_rc hold_group(const priced *p, const sw_copies *c, const int32_t *choice, double *change, sw_diag *d) {
  const sw_copy_table *t = c->table;
  const sw_lives *l = c->lives;
  const int32_t made = t->class_of[choice[c->maker]];
  group g;
  if (!l) return SW_OK;
  SW_TRY(find_group_holders(p, c, &g, d));
  for (int32_t i = 0; i < t->n_readers; i++) {
    const sw_wants *w = &t->wants[i];
    const int32_t wanted = w->class_of[choice[c->reader[i]]];
    int64_t until = l->held;
    for (int32_t k = w->first[wanted]; k < w->first[wanted + 1]; k++) {
      const int32_t layout = w->layout[k];
      until = sw_max_i64(until, pays_made_until(p, &g, i, layout, made));
      if (l->made_as[layout] == made) continue;
      hold_share(&g.copy[layout], l->taken[i], l->until[i], l->amount[layout], change);
    }
    hold_share(&g.made, l->held, until, l->made[made], change);
  }
  return SW_OK;
}

sw_rc sw_relaxation_priced_held(const sw_relaxation *r, const sw_memory_prices *prices, const int32_t *choice,
                                sw_arena *arena, double *held, sw_diag *d) {
  priced p = {.r = r, .prices = prices, .arena = arena};
  SW_TRY(sum_prices(&p, d));
  memset(held, 0, ((size_t)prices->n_steps + 1) * sizeof *held);
  for (int32_t i = 0; i < r->p->n_nodes; i++) {
    const sw_node *node = &r->p->nodes[i];
    for (int32_t a = 0; a < node->n_uses; a++)
      add_held(held, node->uses[a].begin, node->uses[a].end, (double)node->uses[a].amount[choice[i]]);
  }
  for (int32_t g = 0; g < r->p->n_copies; g++) SW_TRY(hold_group(&p, &r->p->copies[g], choice, held, d));
  for (int64_t t = 0; t < prices->n_steps; t++) held[t + 1] += held[t];
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
