/* One shared cost per layout of a pattern and class of its makers, one table per pattern and reader, one edge per group
 * and reader: groups of one pattern have the same shares, so that repeated layers go on sharing tables. */
#include "base/checked.h"
#include "select/bound/shares.h"
#include "select/copies/copies.h"

/* The copy that a shared cost is of. */
typedef struct copy {
  int32_t pattern, from, layout;
} copy;

typedef struct builder {
  sw_relaxation *r;
  sw_arena mem;
  sel_shared_problem p;
  SW_ARRAY(sel_shared_cost) costs;
  SW_ARRAY(copy) copies; /* of costs */
  SW_ARRAY(sel_shared_table) tables;
  SW_ARRAY(sel_shared_edge) edges;
} builder;

/* The shared costs of one layout, for every class of makers; the shares go to the readers that can want it.
 * share_at[i]: by [class of the maker][layout], the share of reader i; -1: none. */
static sw_rc share_copy(builder *b, int32_t pattern, int32_t layout, int32_t **share_at, sw_diag *d) {
  const sel_pattern *p = &b->r->patterns.at[pattern];
  for (int32_t from = 0; from < p->t->n_classes; from++) {
    const sel_shared_cost k = {
        .cost = sel_copy_cost(p->t, from, layout), .first = b->p.n_shares, .n = p->wanting[layout]};
    if (k.cost == 0 || k.cost >= SW_FORBIDDEN) continue;
    SW_TRY(sw_array_push(&b->costs, k, d));
    SW_TRY(sw_array_push(&b->copies, ((copy){pattern, from, layout}), d));
    for (int32_t i = 0; i < p->t->n_readers; i++)
      if (sel_wants(&p->t->wants[i], layout)) share_at[i][(int64_t)from * p->t->n_layouts + layout] = b->p.n_shares++;
  }
  return SW_OK;
}

static sw_rc share_copies(builder *b, int32_t pattern, int32_t **share_at, sw_diag *d) {
  const sel_pattern *p = &b->r->patterns.at[pattern];
  const size_t cells = (size_t)p->t->n_classes * (size_t)p->t->n_layouts;
  for (int32_t i = 0; i < p->t->n_readers && p->t->n_readers > 1; i++) {
    SW_ARENA_NEW(share_at[i], &b->mem, cells, d);
    for (size_t k = 0; k < cells; k++) share_at[i][k] = -1;
  }
  for (int32_t a = 0; a < p->t->n_layouts; a++)
    if (p->wanting[a] > 1) SW_TRY(share_copy(b, pattern, a, share_at, d));
  return SW_OK;
}

/* Shares of a table's entries, one entry after the other. */
typedef struct share_list {
  int32_t *at, n;
} share_list;

/* What a reader's class c pays beside a class of the maker, and the shares in that. */
static void fill_cell(const sw_copy_table *t, const sw_wants *w, int32_t from, int32_t c, const int32_t *share_at,
                      int64_t *cost, share_list *shares) {
  for (int32_t k = w->first[c]; k < w->first[c + 1]; k++) {
    const int32_t at = share_at ? share_at[(int64_t)from * t->n_layouts + w->layout[k]] : -1;
    if (at >= 0) shares->at[shares->n++] = at;
    if (at < 0) *cost = sw_min_i64(SW_FORBIDDEN, sw_cost_add(*cost, sel_copy_cost(t, from, w->layout[k])));
  }
}

static sw_rc new_table(builder *b, const sw_copy_table *t, const sw_wants *w, const int32_t *share_at, sw_diag *d) {
  sel_shared_table to = {.n = {t->n_classes, w->n_classes}, .class_of = {t->class_of, w->class_of}};
  const size_t cells = (size_t)t->n_classes * (size_t)w->n_classes;
  int64_t *cost;
  int32_t *first;
  share_list shares = {0};
  SW_ARENA_NEW(cost, &b->mem, cells, d);
  SW_ARENA_NEW(first, &b->mem, cells + 1, d);
  SW_ARENA_NEW(shares.at, &b->mem, share_at ? (size_t)t->n_classes * (size_t)w->first[w->n_classes] : 0, d);
  for (size_t k = 0; k < cells; k++) {
    const int32_t from = (int32_t)(k / (size_t)w->n_classes), c = (int32_t)(k % (size_t)w->n_classes);
    fill_cell(t, w, from, c, share_at, &cost[k], &shares);
    first[k + 1] = shares.n;
  }
  to.cost = cost;
  to.first = shares.n ? first : NULL;
  to.share = shares.at;
  return sw_array_push(&b->tables, to, d);
}

static sw_rc build_split(builder *b, sw_diag *d) {
  const sw_relaxation *r = b->r;
  int32_t *first_table; /* of a pattern: tables of its readers */
  SW_ARENA_NEW(first_table, &b->mem, r->patterns.n, d);
  for (size_t k = 0; k < r->patterns.n; k++) {
    const sw_copy_table *t = r->patterns.at[k].t;
    int32_t **share_at;
    SW_ARENA_NEW(share_at, &b->mem, t->n_readers, d);
    SW_TRY(share_copies(b, (int32_t)k, share_at, d));
    first_table[k] = (int32_t)b->tables.n;
    for (int32_t i = 0; i < t->n_readers; i++) SW_TRY(new_table(b, t, &t->wants[i], share_at[i], d));
  }
  for (int32_t k = 0; k < r->p->n_copies; k++) {
    const sw_copies *c = &r->p->copies[k];
    for (int32_t i = 0; i < c->table->n_readers; i++) {
      sel_shared_edge e = {c->maker, c->reader[i], first_table[r->pattern_of[k]] + i};
      SW_TRY(sw_array_push(&b->edges, e, d));
    }
  }
  b->p.base = *r->p;
  b->p.base.n_edges = b->p.base.n_copies = b->p.base.copy_nodes_at = 0;
  b->p.n_edges = (int32_t)b->edges.n;
  b->p.n_tables = (int32_t)b->tables.n;
  b->p.n_costs = (int32_t)b->costs.n;
  b->p.edges = b->edges.at;
  b->p.tables = b->tables.at;
  b->p.costs = b->costs.at;
  return SW_OK;
}

static sw_rc room_for_shares(const sw_relaxation *r, sel_pattern *p, sw_diag *d) {
  const sw_copy_table *t = p->t;
  if (p->share) return SW_OK;
  SW_ARENA_NEW(p->share, r->arena, t->n_readers, d);
  for (int32_t i = 0; i < t->n_readers; i++) {
    SW_ARENA_NEW(p->share[i], r->arena, (size_t)t->n_classes * (size_t)t->n_layouts, d);
    for (int64_t k = 0; k < (int64_t)t->n_classes * t->n_layouts; k++)
      if (p->wanting[k % t->n_layouts] == 1) p->share[i][k] = t->cost[k]; /* all of it, or of no cost */
  }
  return SW_OK;
}

/* Patterns of which nothing has moved have equal shares, as they had without any. */
static sw_rc write_shares(builder *b, const sel_split *found, sw_diag *d) {
  bool *moved;
  SW_ARENA_NEW(moved, &b->mem, b->r->patterns.n, d);
  for (size_t k = 0; k < b->costs.n; k++) moved[b->copies.at[k].pattern] |= found->moved[k];
  for (size_t k = 0; k < b->costs.n; k++) {
    const copy *c = &b->copies.at[k];
    sel_pattern *p = &b->r->patterns.at[c->pattern];
    if (!p->share && !moved[c->pattern]) continue;
    SW_TRY(room_for_shares(b->r, p, d));
    int32_t a = b->costs.at[k].first;
    for (int32_t i = 0; i < p->t->n_readers; i++)
      if (sel_wants(&p->t->wants[i], c->layout))
        p->share[i][(int64_t)c->from * p->t->n_layouts + c->layout] = found->share[a++];
    sel_pattern_change(p);
  }
  return SW_OK;
}

static sw_rc split_copy_shares(builder *b, const sw_split_options *o, sel_split *found, sw_diag *d) {
  SW_TRY(build_split(b, d));
  SW_ARENA_NEW(found->share, &b->mem, b->p.n_shares, d);
  SW_ARENA_NEW(found->moved, &b->mem, b->costs.n, d);
  SW_TRY(sel_split_shares(&b->p, o, found, d));
  return found->taken ? write_shares(b, found, d) : SW_OK;
}

sw_rc sel_split_copies(sw_relaxation *r, const sw_split_options *o, bool *taken, int64_t *work, sw_diag *d) {
  builder b = {.r = r};
  sel_split found = {0};
  sw_rc rc = split_copy_shares(&b, o, &found, d);
  *taken = found.taken;
  *work = found.work;
  sw_array_free(&b.costs);
  sw_array_free(&b.copies);
  sw_array_free(&b.tables);
  sw_array_free(&b.edges);
  sw_arena_deinit(&b.mem);
  return rc;
}
