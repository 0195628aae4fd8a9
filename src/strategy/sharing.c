#include "strategy/sharing.h"

#include <string.h>

#include "shardwright/checked.h"

enum { MOST_SETS = 128 };

static const sw_port *port_of(const sw_consumer *c, int32_t k) { return &c->choices->ports[c->ports[k]]; }

/* Does consumer c want a copy in sharding `id` under its choice y? */
static bool wants(const sw_consumer *c, int32_t y, int32_t id) {
  for (int32_t k = 0; k < c->n_ports; k++) {
    if (!port_of(c, k)->tied && c->choices->ports[c->ports[k]].id[y] == id) return true;
  }
  return false;
}

/* What the route of one value of the pattern costs; a tied port takes the value as it is. */
static sw_rc route_units(const sw_pattern *p, sw_prices *prices, int32_t from, int32_t to, bool tied, int64_t *out,
                         sw_diag *d) {
  *out = from == to ? 0 : SW_FORBIDDEN;
  if (tied) return SW_OK;
  SW_TRY(sw_prices_get(prices, p->shape_class, from, to, out, d));
  *out = sw_cost_times(*out, p->repeats);
  return SW_OK;
}

/* Is the k-th port's want under y the first of its kind (an op that reads a value twice alike wants it once)? */
static bool is_first(const sw_consumer *c, int32_t y, int32_t k) {
  for (int32_t j = 0; j < k; j++) {
    if (!port_of(c, j)->tied && c->choices->ports[c->ports[j]].id[y] == c->choices->ports[c->ports[k]].id[y])
      return false;
  }
  return true;
}

/* One more for each sharding that consumer i can want. `last` [n_ids] has i + 1 where that is done already. */
static void count_wants_of(const sw_pattern *p, int32_t i, int32_t *last, int32_t *count) {
  const sw_consumer *c = &p->consumers[i];
  for (int32_t k = 0; k < c->n_ports; k++) {
    for (int32_t y = 0; y < c->choices->n && !port_of(c, k)->tied; y++) {
      int32_t id = c->choices->ports[c->ports[k]].id[y];
      count[id] += last[id] != i + 1;
      last[id] = i + 1;
    }
  }
}

sw_rc sw_pattern_init(sw_pattern *p, const sw_prices *prices, sw_arena *arena, sw_diag *d) {
  p->shape_class = p->producer->ports[p->port].shape_class;
  p->n_ids = (int32_t)prices->classes.at[p->shape_class].shardings.n;
  int32_t *last;
  SW_ARENA_NEW(p->wanting, arena, p->n_ids, d);
  SW_ARENA_NEW(p->shared_at, arena, p->n_ids, d);
  for (int32_t id = 0; id < p->n_ids; id++) p->shared_at[id] = -1;
  SW_ARENA_NEW(p->tables, arena, p->n_consumers, d);
  SW_ARENA_NEW(last, arena, p->n_ids, d);
  for (int32_t i = 0; i < p->n_consumers; i++) count_wants_of(p, i, last, p->wanting);
  return SW_OK;
}

/* What a consumer is charged for wanting `id` when the whole route costs `units`. `rank`: how many before it can want
 * it; the first ones carry the remainder of the division. */
static int64_t part_of(const sw_pattern *p, int32_t id, int32_t rank, int64_t units) {
  if (units >= SW_FORBIDDEN) return SW_FORBIDDEN;
  int64_t m = p->wanting[id];
  return units / m + (rank < units % m);
}

/* Shardings that the producer can give: their number; each once in `from`, of room for its choices. */
static int32_t list_given(const sw_pattern *p, int32_t *from) {
  const sw_port *port = &p->producer->ports[p->port];
  int32_t n = 0;
  for (int32_t x = 0; x < p->producer->n; x++) {
    int32_t k = 0;
    while (k < n && from[k] != port->id[x]) k++;
    if (k == n) from[n++] = port->id[x];
  }
  return n;
}

/* The sum of the routes from `from` to the copies in `made`; no row when one of them is free or cannot be made. */
static sw_rc price_copies(const sw_pattern *p, sw_prices *prices, int32_t from, uint64_t made, int64_t *cost, bool *row,
                          sw_diag *d) {
  *cost = 0;
  *row = true;
  for (int32_t k = 0; k < p->n_shared; k++) {
    int64_t units;
    if (!(made >> k & 1)) continue;
    SW_TRY(route_units(p, prices, from, p->shared[k], false, &units, d));
    *row = *row && units > 0 && units < SW_FORBIDDEN;
    *cost = sw_cost_add(*cost, units);
  }
  return SW_OK;
}

/* Of n copies, the sets that a value can need: each copy in them has two takers. */
static int64_t count_sets(const sw_pattern *p, int32_t n) {
  int64_t sum = 1, of_k = 1;
  for (int32_t k = 1; k <= n && 2 * k <= p->n_consumers && sum <= MOST_SETS; k++) {
    of_k = of_k * (n - k + 1) / k;
    sum += of_k;
  }
  return sum;
}

/* Those sets, smaller ones first. */
static int32_t list_sets(const sw_pattern *p, uint64_t *sets) {
  int32_t n = 1;
  sets[0] = 0;
  for (int32_t i = 0; i < n; i++) {
    if (2 * (__builtin_popcountll(sets[i]) + 1) > p->n_consumers) break;
    for (int32_t k = 0; k < p->n_shared; k++) {
      if (sets[i] >> k == 0) sets[n++] = sets[i] | UINT64_C(1) << k;
    }
  }
  return n;
}

/* Rows of the hub: each sharding that the producer gives with each set of copies that can be worth their price. */
static sw_rc list_rows(sw_pattern *p, sw_prices *prices, sw_arena *arena, sw_diag *d) {
  int32_t *given;
  uint64_t sets[MOST_SETS];
  SW_ARENA_NEW(given, arena, p->producer->n, d);
  int32_t n_given = list_given(p, given), n_sets = list_sets(p, sets);
  SW_ARENA_NEW(p->rows, arena, (size_t)n_given * (size_t)n_sets, d);
  SW_ARENA_NEW(p->row_cost, arena, (size_t)n_given * (size_t)n_sets, d);
  p->n_rows = 0;
  for (int32_t g = 0; g < n_given; g++) {
    for (int32_t i = 0; i < n_sets; i++) {
      bool row;
      SW_TRY(price_copies(p, prices, given[g], sets[i], &p->row_cost[p->n_rows], &row, d));
      if (row) p->rows[p->n_rows++] = (sw_source){given[g], sets[i]};
    }
  }
  int64_t *link;
  const int32_t *id = p->producer->ports[p->port].id;
  SW_ARENA_NEW(link, arena, (size_t)p->producer->n * (size_t)p->n_rows, d);
  p->link = link;
  for (int32_t x = 0; x < p->producer->n; x++) {
    for (int32_t r = 0; r < p->n_rows; r++) *link++ = id[x] == p->rows[r].from ? 0 : SW_FORBIDDEN;
  }
  return SW_OK;
}

/* Without shared copies the rows are the producer's choices. */
static sw_rc list_choices(sw_pattern *p, sw_arena *arena, sw_diag *d) {
  p->n_rows = p->producer->n;
  SW_ARENA_NEW(p->rows, arena, p->n_rows, d);
  for (int32_t x = 0; x < p->n_rows; x++) p->rows[x].from = p->producer->ports[p->port].id[x];
  return SW_OK;
}

/* What consumer i pays for its k-th port under y. */
static sw_rc charge(const sw_pattern *p, sw_prices *prices, const sw_source *row, const sw_consumer *c, int32_t y,
                    int32_t k, const int32_t *rank, int64_t *out, sw_diag *d) {
  int32_t id = port_of(c, k)->id[y], shared = p->shared_at[id];
  bool tied = port_of(c, k)->tied;
  *out = 0;
  if (!tied && (!is_first(c, y, k) || (shared >= 0 && row->made >> shared & 1))) return SW_OK;
  SW_TRY(route_units(p, prices, row->from, id, tied, out, d));
  if (!tied && shared < 0 && !p->whole) *out = part_of(p, id, rank[id], *out);
  return SW_OK;
}

static sw_rc fill_table(const sw_pattern *p, sw_prices *prices, int32_t i, const int32_t *rank, int64_t *table,
                        bool *any, sw_diag *d) {
  const sw_consumer *c = &p->consumers[i];
  for (int32_t x = 0; x < p->n_rows; x++) {
    for (int32_t y = 0; y < c->choices->n; y++) {
      int64_t sum = 0, units;
      for (int32_t k = 0; k < c->n_ports; k++) {
        SW_TRY(charge(p, prices, &p->rows[x], c, y, k, rank, &units, d));
        sum = sw_cost_add(sum, units);
      }
      *table++ = sum;
      *any = *any || sum;
    }
  }
  return SW_OK;
}

sw_rc sw_pattern_tables(sw_pattern *p, sw_prices *prices, sw_arena *arena, sw_diag *d) {
  if (p->ready) return SW_OK;
  int32_t *rank, *last;
  SW_ARENA_NEW(rank, arena, p->n_ids, d);
  SW_ARENA_NEW(last, arena, p->n_ids, d);
  SW_TRY(p->n_shared ? list_rows(p, prices, arena, d) : list_choices(p, arena, d));
  for (int32_t i = 0; i < p->n_consumers; i++) {
    int64_t *table;
    bool any = false;
    SW_ARENA_NEW(table, arena, (size_t)p->n_rows * (size_t)p->consumers[i].choices->n, d);
    SW_TRY(fill_table(p, prices, i, rank, table, &any, d));
    p->tables[i] = any ? table : NULL;
    count_wants_of(p, i, last, rank);
  }
  p->ready = true;
  return SW_OK;
}

/* How many of the consumers want `id`. */
static int32_t count_wanting(const sw_pattern *p, const int32_t *y, int32_t id) {
  int32_t n = 0;
  for (int32_t i = 0; i < p->n_consumers; i++) n += wants(&p->consumers[i], y[i], id);
  return n;
}

/* Has an earlier consumer (or an earlier port of this one) the same want? */
static bool is_new_want(const sw_pattern *p, const int32_t *y, int32_t i, int32_t k, int32_t id) {
  for (int32_t j = 0; j < i; j++) {
    if (wants(&p->consumers[j], y[j], id)) return false;
  }
  return is_first(&p->consumers[i], y[i], k);
}

bool sw_pattern_share(sw_pattern *p, int32_t id) {
  if (p->shared_at[id] >= 0 || p->n_shared == SW_MOST_SHARED || count_sets(p, p->n_shared + 1) > MOST_SETS)
    return false;
  p->shared_at[id] = p->n_shared;
  p->shared[p->n_shared++] = id;
  p->ready = false;
  return true;
}

sw_rc sw_pattern_true_cost(sw_pattern *p, sw_prices *prices, int32_t x, const int32_t *y, bool refine, int64_t *cost,
                           bool *marked, sw_diag *d) {
  *cost = 0;
  int32_t from = p->producer->ports[p->port].id[x];
  for (int32_t i = 0; i < p->n_consumers; i++) {
    const sw_consumer *c = &p->consumers[i];
    for (int32_t k = 0; k < c->n_ports; k++) {
      int32_t id = c->choices->ports[c->ports[k]].id[y[i]];
      int64_t units;
      bool tied = port_of(c, k)->tied;
      if (!tied && !is_new_want(p, y, i, k, id)) continue;
      SW_TRY(route_units(p, prices, from, id, tied, &units, d));
      *cost = sw_cost_add(*cost, units);
      bool counted = tied || units == 0 || p->shared_at[id] >= 0 || count_wanting(p, y, id) == p->wanting[id];
      if (refine && !counted && sw_pattern_share(p, id)) *marked = true;
    }
  }
  return SW_OK;
}

int32_t sw_pattern_row(const sw_pattern *p, int32_t x, const int32_t *y) {
  int32_t from = p->producer->ports[p->port].id[x], best = 0, most = -1;
  for (int32_t r = 0; r < p->n_rows; r++) {
    int32_t used = 0;
    if (p->rows[r].from != from) continue;
    for (int32_t k = 0; k < p->n_shared; k++) {
      if (p->rows[r].made >> k & 1) used += count_wanting(p, y, p->shared[k]) > 1 ? 1 : -1;
    }
    if (used > most) best = r, most = used;
  }
  return best;
}
