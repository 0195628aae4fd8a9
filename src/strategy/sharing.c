#include "strategy/sharing.h"

#include <string.h>

#include "base/checked.h"

/* Of a hub: more copies would only make the tables larger. */
enum { MOST_ROWS = 512, MOST_COPIES = 30 };

/* --- classes of choices ------------------------------------------------------------------------------------------ */

/* Add a want to a list of *n, unless it is there. */
static void add_want(int32_t *list, int32_t *n, int32_t want) {
  for (int32_t k = 0; k < *n; k++) {
    if (list[k] == want) return;
  }
  list[(*n)++] = want;
}

/* The class of the wants list[0 .. n), perhaps a new one. */
static int32_t class_of_wants(sw_wants *w, const int32_t *list, int32_t n) {
  for (int32_t c = 0; c < w->n_classes; c++) {
    const int32_t *known = w->id + w->first[c];
    if (w->first[c + 1] - w->first[c] == n && memcmp(known, list, (size_t)n * sizeof *list) == 0) return c;
  }
  int32_t at = w->first[w->n_classes];
  memcpy(w->id + at, list, (size_t)n * sizeof *list);
  w->first[w->n_classes + 1] = at + n;
  return w->n_classes++;
}

static sw_rc class_wants(const sw_consumer *c, sw_wants *w, sw_arena *arena, sw_diag *d) {
  int32_t *list;
  size_t n = (size_t)c->options->n, ports = (size_t)c->n_ports;
  SW_ARENA_NEW(w->class_of, arena, n, d);
  SW_ARENA_NEW(w->first, arena, n + 1, d);
  SW_ARENA_NEW(w->id, arena, n * ports, d);
  SW_ARENA_NEW(list, arena, ports, d);
  for (int32_t y = 0; y < c->options->n; y++) {
    int32_t wants = 0;
    for (int32_t k = 0; k < c->n_ports; k++) {
      const sw_option_port *port = &c->options->ports[c->ports[k]];
      add_want(list, &wants, port->tied ? ~port->id[y] : port->id[y]);
    }
    w->class_of[y] = class_of_wants(w, list, wants);
  }
  return SW_OK;
}

static sw_rc class_givings(sw_pattern *p, sw_arena *arena, sw_diag *d) {
  const int32_t *id = p->producer->ports[p->port].id;
  SW_ARENA_NEW(p->from_of, arena, p->producer->n, d);
  SW_ARENA_NEW(p->from_id, arena, p->producer->n, d);
  for (int32_t x = 0; x < p->producer->n; x++) {
    int32_t f = 0;
    while (f < p->n_from && p->from_id[f] != id[x]) f++;
    if (f == p->n_from) p->from_id[p->n_from++] = id[x];
    p->from_of[x] = f;
  }
  return SW_OK;
}

/* Does a consumer want a copy in sharding `id` when its choice is of class c? */
static bool wants(const sw_wants *w, int32_t c, int32_t id) {
  for (int32_t k = w->first[c]; k < w->first[c + 1]; k++) {
    if (w->id[k] == id) return true;
  }
  return false;
}

/* One more for each sharding that consumer i can want. `last` [n_ids] has i + 1 where that is done already. */
static void count_wants_of(sw_pattern *p, int32_t i, int32_t *last) {
  const sw_wants *w = &p->wants[i];
  for (int32_t k = 0; k < w->first[w->n_classes]; k++) {
    int32_t id = w->id[k];
    if (id < 0 || last[id] == i + 1) continue;
    last[id] = i + 1;
    if (p->wanting[id]++ == 0) p->wanting_first[id] = i;
  }
}

sw_rc sw_pattern_init(sw_pattern *p, const sw_prices *prices, sw_arena *arena, sw_diag *d) {
  int32_t *last;
  p->shape_class = p->producer->ports[p->port].shape_class;
  p->n_ids = (int32_t)prices->classes.at[p->shape_class].shardings.n;
  SW_ARENA_NEW(p->wants, arena, p->n_consumers, d);
  SW_ARENA_NEW(p->wanting, arena, p->n_ids, d);
  SW_ARENA_NEW(p->wanting_first, arena, p->n_ids, d);
  SW_ARENA_NEW(p->shared_at, arena, p->n_ids, d);
  SW_ARENA_NEW(p->shared, arena, p->n_ids, d);
  SW_ARENA_NEW(last, arena, p->n_ids, d);
  for (int32_t id = 0; id < p->n_ids; id++) p->shared_at[id] = -1;
  SW_TRY(class_givings(p, arena, d));
  for (int32_t i = 0; i < p->n_consumers; i++) {
    SW_TRY(class_wants(&p->consumers[i], &p->wants[i], arena, d));
    count_wants_of(p, i, last);
  }
  return sw_array_push(&p->hubs, (sw_hub){0}, d);
}

void sw_pattern_deinit(sw_pattern *p) { sw_array_free(&p->hubs); }

/* --- what is paid ------------------------------------------------------------------------------------------------ */

bool sw_pattern_can_want(const sw_pattern *p, int32_t i, int32_t id) {
  const sw_wants *w = &p->wants[i];
  for (int32_t k = 0; k < w->first[w->n_classes]; k++) {
    if (w->id[k] == id) return true;
  }
  return false;
}

sw_rc sw_pattern_route(const sw_pattern *p, sw_prices *prices, int32_t from, int32_t id, int64_t *out, sw_diag *d) {
  SW_TRY(sw_prices_get(prices, p->shape_class, p->from_id[from], id, out, d));
  *out = sw_cost_times(*out, p->repeats);
  return SW_OK;
}

/* Consumer i's share of a route that costs `units`; of equal shares the first has the remainder of the division. */
static int64_t share_of(const sw_pattern *p, int32_t i, int32_t from, int32_t id, int64_t units) {
  if (units >= SW_FORBIDDEN) return SW_FORBIDDEN;
  if (p->share) return p->share[i][(int64_t)from * p->n_ids + id];
  int64_t m = p->wanting[id];
  return units / m + (p->wanting_first[id] == i ? units % m : 0);
}

/* What consumer i pays in the hub for one want of its. */
static sw_rc charge(const sw_pattern *p, const sw_hub *h, sw_prices *prices, const sw_source *row, int32_t i,
                    int32_t want, int64_t *out, sw_diag *d) {
  int32_t copy = want < 0 ? -1 : p->shared_at[want];
  *out = 0;
  if (want < 0) {
    *out = h->first == 0 && p->from_id[row->from] != ~want ? SW_FORBIDDEN : 0;
    return SW_OK;
  }
  bool other = copy < 0 ? h->first > 0 : copy < h->first || copy >= h->first + h->n;
  if (other || (copy >= 0 && row->made >> (copy - h->first) & 1)) return SW_OK;
  SW_TRY(sw_pattern_route(p, prices, row->from, want, out, d));
  if (copy < 0 && !p->whole) *out = share_of(p, i, row->from, want, *out);
  return SW_OK;
}

static sw_rc fill_table(const sw_pattern *p, const sw_hub *h, sw_prices *prices, int32_t i, int64_t *of_class,
                        int64_t *table, bool *any, sw_diag *d) {
  const sw_wants *w = &p->wants[i];
  int32_t n = p->consumers[i].options->n;
  for (int32_t x = 0; x < h->n_rows; x++, table += n) {
    for (int32_t c = 0; c < w->n_classes; c++) {
      int64_t units;
      of_class[c] = 0;
      for (int32_t k = w->first[c]; k < w->first[c + 1]; k++) {
        SW_TRY(charge(p, h, prices, &h->rows[x], i, w->id[k], &units, d));
        of_class[c] = sw_cost_add(of_class[c], units);
      }
      *any = *any || of_class[c];
    }
    for (int32_t y = 0; y < n; y++) table[y] = of_class[w->class_of[y]];
  }
  return SW_OK;
}

/* --- hubs -------------------------------------------------------------------------------------------------------- */

/* The sum of the routes to the copies in `made`; no row when one of them is free or cannot be made. */
static sw_rc price_copies(const sw_pattern *p, const sw_hub *h, sw_prices *prices, const sw_source *row, int64_t *cost,
                          bool *is_row, sw_diag *d) {
  *cost = 0;
  *is_row = true;
  for (int32_t k = 0; k < h->n; k++) {
    int64_t units;
    if (!(row->made >> k & 1)) continue;
    SW_TRY(sw_pattern_route(p, prices, row->from, p->shared[h->first + k], &units, d));
    *is_row = *is_row && units > 0 && units < SW_FORBIDDEN;
    *cost = sw_cost_add(*cost, units);
  }
  return SW_OK;
}

/* Of n copies, the sets that a value can need: each copy in them has two takers. */
static int64_t count_sets(const sw_pattern *p, int32_t n) {
  int64_t sum = 1, of_k = 1;
  for (int32_t k = 1; k <= n && 2 * k <= p->n_consumers; k++) {
    of_k = of_k * (n - k + 1) / k;
    sum += of_k;
  }
  return sum;
}

/* Those sets, smaller ones first. */
static sw_rc list_sets(const sw_pattern *p, const sw_hub *h, sw_arena *arena, int32_t *n, uint32_t **sets, sw_diag *d) {
  SW_ARENA_NEW(*sets, arena, count_sets(p, h->n), d);
  *n = 1;
  for (int32_t i = 0; i < *n; i++) {
    uint32_t set = (*sets)[i];
    if (2 * (__builtin_popcount(set) + 1) > p->n_consumers) break;
    for (int32_t k = 0; k < h->n; k++) {
      if (set >> k == 0) (*sets)[(*n)++] = set | UINT32_C(1) << k;
    }
  }
  return SW_OK;
}

/* Rows of a hub: each sharding that the producer gives with each set of copies that can be worth their price. */
static sw_rc list_rows(const sw_pattern *p, sw_hub *h, sw_prices *prices, sw_arena *arena, sw_diag *d) {
  int32_t n_sets;
  uint32_t *sets;
  int64_t *link;
  SW_TRY(list_sets(p, h, arena, &n_sets, &sets, d));
  SW_ARENA_NEW(h->rows, arena, (size_t)p->n_from * (size_t)n_sets, d);
  SW_ARENA_NEW(h->row_cost, arena, (size_t)p->n_from * (size_t)n_sets, d);
  h->n_rows = 0;
  for (int32_t from = 0; from < p->n_from; from++) {
    for (int32_t i = 0; i < n_sets; i++) {
      bool is_row;
      sw_source row = {from, sets[i]};
      SW_TRY(price_copies(p, h, prices, &row, &h->row_cost[h->n_rows], &is_row, d));
      if (is_row) h->rows[h->n_rows++] = row;
    }
  }
  SW_ARENA_NEW(link, arena, (size_t)p->producer->n * (size_t)h->n_rows, d);
  h->link = link;
  for (int32_t x = 0; x < p->producer->n; x++) {
    for (int32_t r = 0; r < h->n_rows; r++) *link++ = p->from_of[x] == h->rows[r].from ? 0 : SW_FORBIDDEN;
  }
  return SW_OK;
}

/* Without shared copies the rows are the producer's choices. */
static sw_rc list_options(const sw_pattern *p, sw_hub *h, sw_arena *arena, sw_diag *d) {
  h->n_rows = p->producer->n;
  SW_ARENA_NEW(h->rows, arena, h->n_rows, d);
  for (int32_t x = 0; x < h->n_rows; x++) h->rows[x].from = p->from_of[x];
  return SW_OK;
}

static sw_rc fill_hub(const sw_pattern *p, sw_hub *h, sw_prices *prices, sw_arena *arena, sw_diag *d) {
  SW_ARENA_NEW(h->tables, arena, p->n_consumers, d);
  SW_TRY(h->n ? list_rows(p, h, prices, arena, d) : list_options(p, h, arena, d));
  for (int32_t i = 0; i < p->n_consumers; i++) {
    int64_t *table, *of_class;
    bool any = false;
    SW_ARENA_NEW(table, arena, (size_t)h->n_rows * (size_t)p->consumers[i].options->n, d);
    SW_ARENA_NEW(of_class, arena, p->wants[i].n_classes, d);
    SW_TRY(fill_table(p, h, prices, i, of_class, table, &any, d));
    h->tables[i] = any ? table : NULL;
  }
  return SW_OK;
}

sw_rc sw_pattern_tables(sw_pattern *p, sw_prices *prices, sw_arena *arena, sw_diag *d) {
  if (p->ready) return SW_OK;
  for (size_t k = 0; k < p->hubs.n; k++) SW_TRY(fill_hub(p, &p->hubs.at[k], prices, arena, d));
  p->ready = true;
  return SW_OK;
}

sw_rc sw_pattern_share(sw_pattern *p, int32_t id, bool *marked, sw_diag *d) {
  if (p->shared_at[id] >= 0) return SW_OK;
  sw_hub *h = &p->hubs.at[p->hubs.n - 1];
  if (h->n && (h->n == MOST_COPIES || p->n_from * count_sets(p, h->n + 1) > MOST_ROWS)) {
    SW_TRY(sw_array_push(&p->hubs, ((sw_hub){.first = p->n_shared}), d));
    h = &p->hubs.at[p->hubs.n - 1];
  }
  h->n++;
  p->shared_at[id] = p->n_shared;
  p->shared[p->n_shared++] = id;
  p->ready = false;
  *marked = true;
  return SW_OK;
}

void sw_pattern_unshare(sw_pattern *p) {
  for (int32_t k = 0; k < p->n_shared; k++) p->shared_at[p->shared[k]] = -1;
  p->n_shared = 0;
  p->hubs.at[0] = (sw_hub){0};
  p->hubs.n = 1;
  p->ready = false;
}

/* --- the truth --------------------------------------------------------------------------------------------------- */

/* How many of the consumers want `id`; what they pay in shares. */
static int32_t count_wanting(const sw_pattern *p, const int32_t *y, int32_t id) {
  int32_t n = 0;
  for (int32_t i = 0; i < p->n_consumers; i++) n += wants(&p->wants[i], p->wants[i].class_of[y[i]], id);
  return n;
}

static int64_t sum_of_shares(const sw_pattern *p, int32_t from, const int32_t *y, int32_t id, int64_t units) {
  int64_t sum = 0;
  for (int32_t i = 0; i < p->n_consumers; i++) {
    if (wants(&p->wants[i], p->wants[i].class_of[y[i]], id)) sum = sw_cost_add(sum, share_of(p, i, from, id, units));
  }
  return sum;
}

/* Has an earlier consumer the same want? */
static bool is_new_want(const sw_pattern *p, const int32_t *y, int32_t i, int32_t id) {
  for (int32_t j = 0; j < i; j++) {
    if (wants(&p->wants[j], p->wants[j].class_of[y[j]], id)) return false;
  }
  return true;
}

sw_rc sw_pattern_true_cost(sw_pattern *p, sw_prices *prices, int32_t x, const int32_t *y, bool refine, int64_t *cost,
                           bool *marked, sw_diag *d) {
  *cost = 0;
  int32_t from = p->from_of[x];
  for (int32_t i = 0; i < p->n_consumers; i++) {
    const sw_wants *w = &p->wants[i];
    int32_t c = w->class_of[y[i]];
    for (int32_t k = w->first[c]; k < w->first[c + 1]; k++) {
      int64_t units;
      int32_t id = w->id[k];
      if (id < 0 && ~id != p->from_id[from]) *cost = SW_FORBIDDEN;
      if (id < 0 || !is_new_want(p, y, i, id)) continue;
      SW_TRY(sw_pattern_route(p, prices, from, id, &units, d));
      *cost = sw_cost_add(*cost, units);
      bool counted = units == 0 || p->shared_at[id] >= 0 || sum_of_shares(p, from, y, id, units) >= units;
      if (refine && !counted) SW_TRY(sw_pattern_share(p, id, marked, d));
    }
  }
  return SW_OK;
}

int32_t sw_pattern_row(const sw_pattern *p, const sw_hub *h, int32_t x, const int32_t *y) {
  int32_t best = 0, most = -1;
  for (int32_t r = 0; r < h->n_rows; r++) {
    int32_t used = 0;
    if (h->rows[r].from != p->from_of[x]) continue;
    for (int32_t k = 0; k < h->n; k++) {
      if (h->rows[r].made >> k & 1) used += count_wanting(p, y, p->shared[h->first + k]) > 1 ? 1 : -1;
    }
    if (used > most) best = r, most = used;
  }
  return best;
}
