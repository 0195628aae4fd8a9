/* One shared cost per route of a pattern, one table per pattern and consumer, one edge per value and consumer: values
 * of one pattern have the same shares, so that repeated layers go on sharing tables. */
#include "strategy/split.h"

#include "base/checked.h"

/* The route that a shared cost is: of a pattern's copies in sharding `id`, from class `from` of what is given. */
typedef struct route {
  int32_t pattern, from, id;
} route;

typedef struct builder {
  sw_selection *s;
  sw_arena mem;
  sw_shared_problem p;
  SW_ARRAY(sw_shared_cost) costs;
  SW_ARRAY(route) routes; /* of costs */
  SW_ARRAY(sw_shared_table) tables;
  SW_ARRAY(sw_shared_edge) edges;
} builder;

/* The shared costs of one sharding, from whatever the producer gives; the shares go to the consumers that can want it.
 * share_at[i]: by [class of the producer][sharding id], the share of consumer i; -1: none. */
static sw_rc share_copy(builder *b, int32_t pattern, int32_t id, int32_t **share_at, sw_diag *d) {
  const sw_pattern *p = &b->s->patterns.at[pattern];
  for (int32_t from = 0; from < p->n_from; from++) {
    sw_shared_cost k = {.first = b->p.n_shares, .n = p->wanting[id]};
    SW_TRY(sw_pattern_route(p, &b->s->prices, from, id, &k.cost, d));
    if (k.cost == 0 || k.cost >= SW_FORBIDDEN) continue;
    SW_TRY(sw_array_push(&b->costs, k, d));
    SW_TRY(sw_array_push(&b->routes, ((route){pattern, from, id}), d));
    for (int32_t i = 0; i < p->n_consumers; i++)
      if (sw_pattern_can_want(p, i, id)) share_at[i][(int64_t)from * p->n_ids + id] = b->p.n_shares++;
  }
  return SW_OK;
}

static sw_rc share_copies(builder *b, int32_t pattern, int32_t **share_at, sw_diag *d) {
  const sw_pattern *p = &b->s->patterns.at[pattern];
  size_t cells = (size_t)p->n_from * (size_t)p->n_ids;
  for (int32_t i = 0; i < p->n_consumers && p->n_consumers > 1; i++) {
    SW_ARENA_NEW(share_at[i], &b->mem, cells, d);
    for (size_t k = 0; k < cells; k++) share_at[i][k] = -1;
  }
  for (int32_t id = 0; id < p->n_ids; id++)
    if (p->wanting[id] > 1) SW_TRY(share_copy(b, pattern, id, share_at, d));
  return SW_OK;
}

/* Shares of a table's entries, one entry after the other. */
typedef struct share_list {
  int32_t *at, n;
} share_list;

/* What a consumer's class c pays beside a class of the producer, and the shares in that. */
static sw_rc fill_cell(builder *b, const sw_pattern *p, const sw_wants *w, int32_t from, int32_t c,
                       const int32_t *share_at, int64_t *cost, share_list *shares, sw_diag *d) {
  for (int32_t k = w->first[c]; k < w->first[c + 1]; k++) {
    int64_t units = ~w->id[k] == p->from_id[from] ? 0 : SW_FORBIDDEN;
    const int32_t at = share_at && w->id[k] >= 0 ? share_at[(int64_t)from * p->n_ids + w->id[k]] : -1;
    if (at >= 0) {
      shares->at[shares->n++] = at;
      continue;
    }
    if (w->id[k] >= 0) SW_TRY(sw_pattern_route(p, &b->s->prices, from, w->id[k], &units, d));
    *cost = sw_min_i64(SW_FORBIDDEN, sw_cost_add(*cost, units));
  }
  return SW_OK;
}

static sw_rc new_table(builder *b, const sw_pattern *p, const sw_wants *w, const int32_t *share_at, sw_diag *d) {
  sw_shared_table t = {.n = {p->n_from, w->n_classes}, .class_of = {p->from_of, w->class_of}};
  const size_t cells = (size_t)p->n_from * (size_t)w->n_classes;
  int64_t *cost;
  int32_t *first;
  share_list shares = {0};
  SW_ARENA_NEW(cost, &b->mem, cells, d);
  SW_ARENA_NEW(first, &b->mem, cells + 1, d);
  SW_ARENA_NEW(shares.at, &b->mem, share_at ? (size_t)p->n_from * (size_t)w->first[w->n_classes] : 0, d);
  for (size_t k = 0; k < cells; k++) {
    const int32_t from = (int32_t)(k / (size_t)w->n_classes), c = (int32_t)(k % (size_t)w->n_classes);
    SW_TRY(fill_cell(b, p, w, from, c, share_at, &cost[k], &shares, d));
    first[k + 1] = shares.n;
  }
  t.cost = cost;
  t.first = shares.n ? first : NULL;
  t.share = shares.at;
  return sw_array_push(&b->tables, t, d);
}

static sw_rc build(builder *b, sw_diag *d) {
  const sw_selection *s = b->s;
  int32_t *first_table; /* of a pattern: tables of its consumers */
  SW_ARENA_NEW(first_table, &b->mem, s->patterns.n, d);
  for (size_t k = 0; k < s->patterns.n; k++) {
    const sw_pattern *p = &s->patterns.at[k];
    int32_t **share_at;
    SW_ARENA_NEW(share_at, &b->mem, p->n_consumers, d);
    SW_TRY(share_copies(b, (int32_t)k, share_at, d));
    first_table[k] = (int32_t)b->tables.n;
    for (int32_t i = 0; i < p->n_consumers; i++) SW_TRY(new_table(b, p, &p->wants[i], share_at[i], d));
  }
  for (size_t k = 0; k < s->values.n; k++) {
    const sw_read_value *r = &s->values.at[k];
    for (int32_t i = 0; i < s->patterns.at[r->pattern].n_consumers; i++) {
      sw_shared_edge e = {r->producer, s->consumer_nodes.at[r->first_consumer + i], first_table[r->pattern] + i};
      SW_TRY(sw_array_push(&b->edges, e, d));
    }
  }
  b->p.base = s->problem;
  b->p.base.n_nodes = s->units.n;
  b->p.base.n_edges = b->p.base.hubs_at = 0;
  b->p.n_edges = (int32_t)b->edges.n;
  b->p.n_tables = (int32_t)b->tables.n;
  b->p.n_costs = (int32_t)b->costs.n;
  b->p.edges = b->edges.at;
  b->p.tables = b->tables.at;
  b->p.costs = b->costs.at;
  return SW_OK;
}

static sw_rc room_for_shares(sw_selection *s, sw_pattern *p, sw_diag *d) {
  if (p->share) return SW_OK;
  SW_ARENA_NEW(p->share, s->arena, p->n_consumers, d);
  for (int32_t i = 0; i < p->n_consumers; i++) {
    SW_ARENA_NEW(p->share[i], s->arena, (size_t)p->n_from * (size_t)p->n_ids, d);
    for (int32_t from = 0; from < p->n_from; from++)
      for (int32_t id = 0; id < p->n_ids; id++) {
        if (p->wanting[id] != 1) continue; /* all of it, or of no cost */
        SW_TRY(sw_pattern_route(p, &s->prices, from, id, &p->share[i][(int64_t)from * p->n_ids + id], d));
      }
  }
  return SW_OK;
}

/* Patterns of which nothing has moved have equal shares, as they had without any. */
static sw_rc write_shares(builder *b, const sw_split *found, sw_diag *d) {
  bool *moved;
  SW_ARENA_NEW(moved, &b->mem, b->s->patterns.n, d);
  for (size_t k = 0; k < b->costs.n; k++) moved[b->routes.at[k].pattern] |= found->moved[k];
  for (size_t k = 0; k < b->costs.n; k++) {
    const route *r = &b->routes.at[k];
    sw_pattern *p = &b->s->patterns.at[r->pattern];
    if (!p->share && !moved[r->pattern]) continue;
    SW_TRY(room_for_shares(b->s, p, d));
    int32_t a = b->costs.at[k].first;
    for (int32_t i = 0; i < p->n_consumers; i++)
      if (sw_pattern_can_want(p, i, r->id)) p->share[i][(int64_t)r->from * p->n_ids + r->id] = found->share[a++];
    p->ready = false;
  }
  return SW_OK;
}

static sw_rc split(builder *b, const sw_split_options *o, sw_split *found, sw_diag *d) {
  SW_TRY(build(b, d));
  SW_ARENA_NEW(found->share, &b->mem, b->p.n_shares, d);
  SW_ARENA_NEW(found->moved, &b->mem, b->costs.n, d);
  SW_TRY(sw_problem_split(&b->p, o, found, d));
  return found->taken ? write_shares(b, found, d) : SW_OK;
}

sw_rc sw_split_copies(sw_selection *s, const sw_split_options *o, bool *taken, int64_t *work, sw_diag *d) {
  builder b = {.s = s};
  sw_split found = {0};
  sw_rc rc = split(&b, o, &found, d);
  *taken = found.taken;
  *work = found.work;
  sw_array_free(&b.costs);
  sw_array_free(&b.routes);
  sw_array_free(&b.tables);
  sw_array_free(&b.edges);
  sw_arena_deinit(&b.mem);
  return rc;
}
