#include "strategy/sharing.h"

#include <string.h>

#include "shardwright/checked.h"

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

sw_rc sw_pattern_init(sw_pattern *p, const sw_prices *prices, sw_arena *arena, sw_diag *d) {
  p->shape_class = p->producer->ports[p->port].shape_class;
  p->n_ids = (int32_t)prices->classes.at[p->shape_class].shardings.n;
  int32_t *last; /* consumer that was counted last, + 1 */
  SW_ARENA_NEW(p->wanting, arena, p->n_ids, d);
  SW_ARENA_NEW(p->exact, arena, p->n_ids, d);
  SW_ARENA_NEW(p->tables, arena, p->n_consumers, d);
  SW_ARENA_NEW(last, arena, p->n_ids, d);
  for (int32_t i = 0; i < p->n_consumers; i++) {
    const sw_consumer *c = &p->consumers[i];
    for (int32_t k = 0; k < c->n_ports; k++) {
      for (int32_t y = 0; y < c->choices->n && !port_of(c, k)->tied; y++) {
        int32_t id = c->choices->ports[c->ports[k]].id[y];
        if (last[id] == i + 1) continue;
        last[id] = i + 1;
        p->wanting[id]++;
      }
    }
  }
  return SW_OK;
}

/* Which of the consumers that can want `id` the i-th is: the first ones carry the remainder of the division. */
static int32_t rank_of(const sw_pattern *p, int32_t i, int32_t id) {
  int32_t rank = 0;
  for (int32_t j = 0; j < i; j++) {
    const sw_consumer *c = &p->consumers[j];
    bool can = false;
    for (int32_t y = 0; y < c->choices->n && !can; y++) can = wants(c, y, id);
    rank += can;
  }
  return rank;
}

/* What consumer i is charged for wanting `id` when the whole route costs `units`. */
static int64_t part_of(const sw_pattern *p, int32_t id, int32_t rank, int64_t units) {
  if (units >= SW_FORBIDDEN) return SW_FORBIDDEN;
  int64_t m = p->wanting[id];
  return units / m + (rank < units % m);
}

static sw_rc fill_table(const sw_pattern *p, sw_prices *prices, int32_t i, const int32_t *rank, int64_t *table,
                        bool *any, sw_diag *d) {
  const sw_port *from = &p->producer->ports[p->port];
  const sw_consumer *c = &p->consumers[i];
  for (int32_t x = 0; x < p->producer->n; x++) {
    for (int32_t y = 0; y < c->choices->n; y++) {
      int64_t sum = 0;
      for (int32_t k = 0; k < c->n_ports; k++) {
        int32_t id = c->choices->ports[c->ports[k]].id[y];
        bool tied = port_of(c, k)->tied;
        if (!tied && (p->exact[id] || !is_first(c, y, k))) continue;
        int64_t units;
        SW_TRY(route_units(p, prices, from->id[x], id, tied, &units, d));
        sum = sw_cost_add(sum, tied ? units : part_of(p, id, rank[id], units));
      }
      table[(size_t)x * (size_t)c->choices->n + (size_t)y] = sum;
      *any = *any || sum;
    }
  }
  return SW_OK;
}

sw_rc sw_pattern_tables(sw_pattern *p, sw_prices *prices, sw_arena *arena, sw_diag *d) {
  if (p->ready) return SW_OK;
  int32_t *rank;
  SW_ARENA_NEW(rank, arena, p->n_ids, d);
  for (int32_t i = 0; i < p->n_consumers; i++) {
    int64_t *table;
    bool any = false;
    for (int32_t id = 0; id < p->n_ids; id++) rank[id] = p->wanting[id] > 1 ? rank_of(p, i, id) : 0;
    SW_ARENA_NEW(table, arena, (size_t)p->producer->n * (size_t)p->consumers[i].choices->n, d);
    SW_TRY(fill_table(p, prices, i, rank, table, &any, d));
    p->tables[i] = any ? table : NULL;
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
      if (!refine || tied || units == 0 || p->exact[id] || count_wanting(p, y, id) == p->wanting[id]) continue;
      p->exact[id] = true;
      p->ready = false;
      *marked = true;
    }
  }
  return SW_OK;
}

sw_rc sw_pattern_copy_tables(const sw_pattern *p, sw_prices *prices, int32_t q, sw_arena *arena,
                             const int64_t **from_producer, const int64_t **to_consumer, sw_diag *d) {
  const sw_port *from = &p->producer->ports[p->port];
  int64_t *made;
  SW_ARENA_NEW(made, arena, 2 * (size_t)p->producer->n, d);
  for (int32_t x = 0; x < p->producer->n; x++) {
    SW_TRY(route_units(p, prices, from->id[x], q, false, &made[2 * x + 1], d));
  }
  *from_producer = made;
  for (int32_t i = 0; i < p->n_consumers; i++) {
    const sw_consumer *c = &p->consumers[i];
    int64_t *table;
    bool any = false;
    SW_ARENA_NEW(table, arena, 2 * (size_t)c->choices->n, d);
    for (int32_t y = 0; y < c->choices->n; y++) {
      bool w = wants(c, y, q);
      table[y] = w ? SW_FORBIDDEN : 0; /* row 0: not made */
      any = any || w;
    }
    to_consumer[i] = any ? table : NULL;
  }
  return SW_OK;
}
