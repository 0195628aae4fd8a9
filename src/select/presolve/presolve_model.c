/* The changeable model: building it from a core, the primitive changes that rules are made of, and the way back.
 *
 * Example of the way back: a variable with one neighbour a leaves the record {var, a, table}, where table[s] is the
 * best value when a has value s. Records are replayed last to first, so a record only names variables known by then.
 */
#include "select/proof.h"

#include <string.h>

static sw_rc ids_push(sel_ids *ids, int32_t x, sw_arena *mem, sw_diag *d) {
  SW_ARENA_ROOM(ids->at, ids->n, ids->cap, mem, d);
  ids->at[ids->n++] = x;
  return SW_OK;
}

sw_rc sel_queue_var(sel_model *m, int32_t v, sw_diag *d) {
  m->vars[v].stale = true;
  if (m->vars[v].queued || m->vars[v].gone) return SW_OK;
  m->vars[v].queued = true;
  return ids_push(&m->queue.vars, v, &m->mem, d);
}

static sw_rc queue_edge(sel_model *m, int32_t e, sw_diag *d) {
  if (m->edges[e].queued || m->edges[e].gone) return SW_OK;
  m->edges[e].queued = true;
  return ids_push(&m->queue.edges, e, &m->mem, d);
}

struct sel_cells {
  struct sel_cells *next;
  int64_t size;
};

/* Up to (5 to 8) * 2^k numbers. */
static int32_t size_of_cells(int64_t n, int64_t *room) {
  const int64_t least = 8, last = sw_max_i64(n, least) - 1;
  const int32_t power = 63 - __builtin_clzll((uint64_t)last);
  const int64_t quarter = INT64_C(1) << (power - 2), at = (last >> (power - 2)) & 3;
  *room = (INT64_C(1) << power) + (at + 1) * quarter;
  return 4 * power + (int32_t)at;
}

int64_t *sel_cells_take(sel_model *m, int64_t n, sw_diag *d) {
  int64_t room;
  const int32_t size = size_of_cells(n, &room);
  struct sel_cells *c = m->cells.given[size];
  if (c)
    m->cells.given[size] = c->next;
  else
    c = sw_arena_alloc(&m->mem, 1, sizeof *c + (size_t)room * sizeof(int64_t), d);
  if (!c) return NULL;
  c->size = size;
  return (int64_t *)(void *)(c + 1);
}

void sel_cells_give(sel_model *m, int64_t *cells) {
  if (!cells) return;
  struct sel_cells *c = (struct sel_cells *)(void *)cells - 1;
  c->next = m->cells.given[c->size];
  m->cells.given[c->size] = c;
}

static int64_t *copy_cells(sel_model *m, const int64_t *from, size_t n, sw_diag *d) {
  int64_t *to = sel_cells_take(m, (int64_t)n, d);
  return to ? memcpy(to, from, n * sizeof *to) : NULL;
}

/* The first that was equal, or the cells themselves, which stay as they are. */
static sw_rc pool_cells(sel_model *m, int64_t *own, int64_t n, int64_t **out, sw_diag *d) {
  const size_t bytes = (size_t)n * sizeof *own;
  const uint64_t key[] = {sw_hash_quick(own, bytes), (uint64_t)n};
  int64_t *slot;
  SW_TRY(sw_dict_put(&m->kept.pool, key, sizeof key, (int64_t)(intptr_t)own, &slot, NULL, d));
  int64_t *known = (int64_t *)(intptr_t)*slot;
  const bool same = known != own && memcmp(known, own, bytes) == 0;
  if (same) sel_cells_give(m, own);
  *out = same ? known : own;
  return SW_OK;
}

sw_rc sel_pool_table(sel_model *m, sel_edge *g, int64_t n, sw_diag *d) {
  int64_t *v;
  SW_TRY(pool_cells(m, (int64_t *)(uintptr_t)g->v, n, &v, d));
  g->v = v;
  g->shared = true;
  return SW_OK;
}

void sel_end_edge(sel_model *m, sel_edge *g) {
  g->gone = true;
  if (!g->shared) sel_cells_give(m, (int64_t *)(uintptr_t)g->v);
  g->v = NULL;
}

void sel_tidy_edges(sel_model *m, int32_t v) {
  sel_ids *ids = &m->vars[v].edges;
  int32_t kept = 0;
  for (int32_t k = 0; k < ids->n; k++) {
    const sel_edge *g = &m->edges[ids->at[k]];
    if (!g->gone && (g->i == v || g->j == v)) ids->at[kept++] = ids->at[k];
  }
  ids->n = kept;
}

static int32_t find_edge(const sel_model *m, int32_t a, int32_t b) {
  if (m->vars[b].edges.n < m->vars[a].edges.n) {
    int32_t c = a;
    a = b;
    b = c;
  }
  const sel_ids *ids = &m->vars[a].edges;
  for (int32_t k = 0; k < ids->n; k++) {
    const sel_edge *g = &m->edges[ids->at[k]];
    if (!g->gone && ((g->i == a && g->j == b) || (g->i == b && g->j == a))) return ids->at[k];
  }
  return -1;
}

sw_rc sel_drop_edge(sel_model *m, int32_t e, sw_diag *d) {
  sel_end_edge(m, &m->edges[e]);
  SW_TRY(sel_queue_var(m, m->edges[e].i, d));
  return sel_queue_var(m, m->edges[e].j, d);
}

int64_t *sel_own_table(sel_model *m, sel_edge *g, sw_diag *d) {
  size_t cells = (size_t)m->vars[g->i].n * (size_t)m->vars[g->j].n;
  if (g->shared) {
    g->v = copy_cells(m, g->v, cells, d);
    g->shared = false;
  }
  return (int64_t *)(uintptr_t)g->v;
}

static sw_rc new_edge(sel_model *m, int32_t a, int32_t b, const int64_t *costs, bool shared, sw_diag *d) {
  SW_ARENA_ROOM(m->edges, m->n_edges, m->cap_edges, &m->mem, d);
  int32_t e = m->n_edges++;
  m->edges[e] = (sel_edge){.i = a, .j = b, .v = costs, .shared = shared};
  SW_TRY(ids_push(&m->vars[a].edges, e, &m->mem, d));
  SW_TRY(ids_push(&m->vars[b].edges, e, &m->mem, d));
  return queue_edge(m, e, d);
}

/* `costs` not shared is taken over. */
static sw_rc add_edge_table(sel_model *m, int32_t a, int32_t b, const int64_t *costs, bool shared, sw_diag *d) {
  int32_t e = find_edge(m, a, b);
  SW_TRY(sel_queue_var(m, a, d));
  SW_TRY(sel_queue_var(m, b, d));
  if (e < 0) return new_edge(m, a, b, costs, shared, d);
  sel_edge *g = &m->edges[e];
  int64_t *v = sel_own_table(m, g, d);
  if (!v) return SW_E_RESOURCE;
  int32_t na = m->vars[a].n, nb = m->vars[b].n;
  for (int32_t s = 0; s < na; s++)
    for (int32_t t = 0; t < nb; t++) {
      int64_t *c = g->i == a ? &v[(int64_t)s * nb + t] : &v[(int64_t)t * na + s];
      *c = sw_cost_add(*c, costs[(int64_t)s * nb + t]);
    }
  if (!shared) sel_cells_give(m, (int64_t *)(uintptr_t)costs);
  return queue_edge(m, e, d);
}

sw_rc sel_add_edge(sel_model *m, int32_t a, int32_t b, int64_t *costs, sw_diag *d) {
  return add_edge_table(m, a, b, costs, false, d);
}

/* In place; few of many go to a table of their own. Of a shared table they are shared again. */
static sw_rc keep_cells(sel_model *m, sel_edge *g, int32_t v, const bool *keep, sw_diag *d) {
  const int32_t rows = m->vars[g->i].n, cols = m->vars[g->j].n;
  const bool shared = g->shared;
  int32_t kept = 0;
  for (int32_t s = 0; s < m->vars[v].n; s++) kept += keep[s];
  const int64_t left = (int64_t)kept * (g->i == v ? cols : rows);
  int64_t *was = (int64_t *)(uintptr_t)g->v, *to = was, k = 0;
  const bool moves = shared || 2 * kept <= m->vars[v].n;
  if (moves && !(to = sel_cells_take(m, left, d))) return SW_E_RESOURCE;
  for (int32_t s = 0; s < rows; s++)
    for (int32_t t = 0; t < cols; t++)
      if (keep[g->i == v ? s : t]) to[k++] = was[(int64_t)s * cols + t];
  if (moves && !shared) sel_cells_give(m, was);
  g->v = to;
  g->shared = false;
  return shared ? sel_pool_table(m, g, left, d) : SW_OK;
}

sw_rc sel_keep_values(sel_model *m, int32_t v, const bool *keep, sw_diag *d) {
  sel_var *x = &m->vars[v];
  sel_tidy_edges(m, v);
  for (int32_t k = 0; k < x->edges.n; k++) {
    sel_edge *g = &m->edges[x->edges.at[k]];
    SW_TRY(keep_cells(m, g, v, keep, d));
    SW_TRY(queue_edge(m, x->edges.at[k], d));
    SW_TRY(sel_queue_var(m, sel_other(g, v), d));
  }
  int32_t kept = 0;
  for (int32_t s = 0; s < x->n; s++) {
    if (!keep[s]) continue;
    x->cost[kept] = x->cost[s];
    x->id[kept] = x->id[s];
    for (int32_t k = 0; k < x->n_spans; k++) x->spans[k].amount[kept] = x->spans[k].amount[s];
    kept++;
  }
  x->n = kept;
  if (kept == 0) m->infeasible = true;
  sel_settle_spans(m, v);
  return sel_queue_var(m, v, d);
}

void sel_settle_spans(sel_model *m, int32_t v) {
  sel_var *x = &m->vars[v];
  int32_t kept = 0;
  for (int32_t k = 0; k < x->n_spans && x->n > 0; k++) {
    sel_span *u = &x->spans[k];
    int64_t least = INT64_MAX, most = 0;
    for (int32_t s = 0; s < x->n; s++) {
      least = sw_min_i64(least, u->amount[s]);
      most = sw_max_i64(most, u->amount[s]);
    }
    m->steps.base_diff[u->begin] += least;
    m->steps.base_diff[u->end] -= least;
    if (most == least) {
      sel_cells_give(m, u->amount);
      continue;
    }
    for (int32_t s = 0; s < x->n; s++) u->amount[s] -= least;
    x->spans[kept++] = *u;
  }
  x->n_spans = kept;
}

sw_rc sel_add_span(sel_model *m, int32_t v, sel_span s, sw_diag *d) {
  sel_var *x = &m->vars[v];
  for (int32_t k = 0; k < x->n_spans; k++)
    if (x->spans[k].begin == s.begin && x->spans[k].end == s.end) {
      for (int32_t a = 0; a < x->n; a++) x->spans[k].amount[a] += s.amount[a];
      sel_cells_give(m, s.amount);
      return SW_OK;
    }
  SW_ARENA_ROOM(x->spans, x->n_spans, x->cap_spans, &m->mem, d);
  x->spans[x->n_spans++] = s;
  return SW_OK;
}

/* In numbers of 64 bits. */
static int64_t record_cells(const sel_model *m, const sel_record *r) {
  return ((int64_t)(r->a < 0 ? 1 : m->vars[r->a].n0) * r->stride + 1) / 2;
}

sw_rc sel_record_new(sel_model *m, int32_t var, int32_t a, int32_t b, int32_t **table, sw_diag *d) {
  sel_record *r = m->records;
  int64_t *cells;
  if (r) { /* filled by now */
    SW_TRY(pool_cells(m, (int64_t *)(void *)r->table, record_cells(m, r), &cells, d));
    r->table = (int32_t *)(void *)cells;
  }
  SW_ARENA_NEW(r, &m->mem, 1, d);
  *r = (sel_record){.before = m->records, .var = var, .a = a, .b = b, .stride = b < 0 ? 1 : m->vars[b].n0};
  cells = sel_cells_take(m, record_cells(m, r), d);
  if (!cells) return SW_E_RESOURCE;
  r->table = memset(cells, 0, (size_t)record_cells(m, r) * sizeof *cells);
  m->records = r;
  *table = r->table;
  return SW_OK;
}

static sw_rc init_var(sel_model *m, const sel_core *c, int32_t i, sw_diag *d) {
  sel_var *x = &m->vars[i];
  x->n = x->n0 = c->dom[i];
  SW_ARENA_NEW_EACH(&m->mem, x->n, d, x->id, x->cost);
  for (int32_t s = 0; s < x->n; s++) {
    x->id[s] = s;
    x->cost[s] = c->cost[i][s];
  }
  for (int32_t k = c->first_use[i]; k < c->first_use[i + 1]; k++) {
    const sel_usage *u = &c->uses[k];
    sel_span s = {u->begin, u->end, copy_cells(m, u->amount, (size_t)x->n, d)};
    if (!s.amount) return SW_E_RESOURCE;
    SW_TRY(sel_add_span(m, i, s, d));
  }
  sel_settle_spans(m, i);
  return SW_OK;
}

static sw_rc drop_bad_values(sel_model *m, int32_t i, sw_diag *d) {
  sel_var *x = &m->vars[i];
  int32_t bad = 0;
  for (int32_t s = 0; s < x->n; s++) bad += sel_bad(x->cost[s]);
  if (!bad) return sel_queue_var(m, i, d);
  bool *keep;
  SW_ARENA_NEW(keep, &m->mem, x->n, d);
  for (int32_t s = 0; s < x->n; s++) keep[s] = !sel_bad(x->cost[s]);
  sel_log_forbidden(m, i, keep);
  return sel_keep_values(m, i, keep, d);
}

static sw_rc init_edges(sel_model *m, const sel_core *c, sw_diag *d) {
  SW_ARENA_NEW(m->edges, &m->mem, c->n_pairs, d);
  m->cap_edges = c->n_pairs;
  for (int32_t e = 0; e < c->n_pairs; e++) {
    const sel_pair *g = &c->pairs[e];
    SW_TRY(add_edge_table(m, g->i, g->j, c->mats[g->mat].v, true, d));
  }
  return SW_OK;
}

sw_rc sel_model_init(sel_model *m, const sel_core *c, sel_model_given given, sw_diag *d) {
  *m = (sel_model){.given = given, .time = c->time, .place = c->place, .n = c->n, .steps.n = c->n_steps};
  SW_ARENA_NEW(m->vars, &m->mem, c->n, d);
  SW_ARENA_NEW(m->steps.base_diff, &m->mem, (size_t)c->n_steps + 1, d);
  m->steps.cap = sw_arena_copy(&m->mem, c->cap, (size_t)c->n_steps, sizeof *m->steps.cap, d);
  if (!m->steps.cap) return SW_E_RESOURCE;
  SW_ARENA_NEW(m->steps.of, &m->mem, c->n_steps, d);
  for (int32_t t = 0; t < c->n_steps; t++) m->steps.of[t] = t;
  for (int32_t i = 0; i < c->n; i++) SW_TRY(init_var(m, c, i, d));
  SW_TRY(init_edges(m, c, d));
  for (int32_t i = 0; i < c->n; i++) SW_TRY(drop_bad_values(m, i, d));
  return SW_OK;
}

static bool is_var_sound(const sel_model *m, const sel_var *x) {
  bool sound = x->n >= 0 && x->n <= x->n0 && (x->n > 0 || m->infeasible);
  for (int32_t s = 0; s < x->n; s++) {
    sound = sound && x->cost[s] >= 0 && !sel_bad(x->cost[s]) && x->id[s] < x->n0;
    sound = sound && (s == 0 || x->id[s] != x->id[s - 1]);
  }
  for (int32_t k = 0; k < x->n_spans; k++) {
    const sel_span *u = &x->spans[k];
    sound = sound && 0 <= u->begin && u->begin < u->end && u->end <= m->steps.n;
    for (int32_t s = 0; s < x->n; s++) sound = sound && u->amount[s] >= 0;
  }
  return sound;
}

bool sel_model_is_sound(const sel_model *m) {
  bool sound = true;
  for (int32_t i = 0; i < m->n; i++) sound = sound && (m->vars[i].gone || is_var_sound(m, &m->vars[i]));
  for (int32_t e = 0; e < m->n_edges; e++) {
    const sel_edge *g = &m->edges[e];
    sound = sound && (g->gone || (g->i != g->j && !m->vars[g->i].gone && !m->vars[g->j].gone));
  }
  for (int32_t k = 0; k < m->queue.vars.n; k++) sound = sound && m->vars[m->queue.vars.at[k]].queued;
  for (int32_t k = 0; k < m->queue.edges.n; k++) sound = sound && m->edges[m->queue.edges.at[k]].queued;
  for (int32_t t = 1; t < m->steps.n; t++) sound = sound && m->steps.of[t] > m->steps.of[t - 1];
  return sound;
}

void sel_model_deinit(sel_model *m) {
  sw_dict_deinit(&m->kept.folds);
  sw_dict_deinit(&m->kept.lowered);
  sw_dict_deinit(&m->kept.pool);
  sw_arena_deinit(&m->mem);
}

/* A table seen before is used again: `seen` maps a hash to the number of the table; that of shared ones is their
 * address.
 */
static sw_rc share_table(sel_model *m, sw_dict *seen, const sel_edge *g, sel_mat *mats, int32_t *n_mats, int32_t *mat,
                         sw_diag *d) {
  int32_t rows = m->vars[g->i].n, cols = m->vars[g->j].n;
  size_t cells = (size_t)rows * (size_t)cols;
  uint64_t key[2] = {g->shared ? (uintptr_t)g->v : sw_hash_quick(g->v, cells * sizeof *g->v),
                     ((uint64_t)rows << 32) | (uint32_t)cols};
  int64_t *slot;
  bool fresh;
  SW_TRY(sw_dict_put(seen, key, sizeof key, *n_mats, &slot, &fresh, d));
  *mat = (int32_t)*slot;
  if (!fresh && (mats[*mat].v == g->v || memcmp(mats[*mat].v, g->v, cells * sizeof *g->v) == 0)) return SW_OK;
  *mat = *n_mats;
  mats[(*n_mats)++] = (sel_mat){rows, cols, g->v};
  return SW_OK;
}

static sw_rc freeze_edges(sel_model *m, const int32_t *rank, sel_core *out, sw_diag *d) {
  int32_t n = 0;
  for (int32_t e = 0; e < m->n_edges; e++) n += !m->edges[e].gone;
  sel_pair *pairs;
  sel_mat *mats;
  SW_ARENA_NEW_EACH(&m->mem, n, d, pairs, mats);
  sw_dict seen = {0};
  sw_rc rc = SW_OK;
  int32_t k = 0, n_mats = 0;
  for (int32_t e = 0; e < m->n_edges && !rc; e++) {
    const sel_edge *g = &m->edges[e];
    if (g->gone) continue;
    pairs[k] = (sel_pair){rank[g->i], rank[g->j], 0};
    rc = share_table(m, &seen, g, mats, &n_mats, &pairs[k++].mat, d);
  }
  sw_dict_deinit(&seen);
  out->n_pairs = n;
  out->pairs = pairs;
  out->n_mats = n_mats;
  out->mats = mats;
  return rc;
}

static sw_rc freeze_uses(sel_model *m, sel_core *out, sw_diag *d) {
  int32_t n = 0;
  for (int32_t a = 0; a < m->alive.n; a++) n += m->vars[m->alive.of[a]].n_spans;
  sel_usage *uses;
  int32_t *first;
  int64_t *cap;
  SW_ARENA_NEW(uses, &m->mem, n, d);
  SW_ARENA_NEW(first, &m->mem, (size_t)m->alive.n + 1, d);
  SW_ARENA_NEW(cap, &m->mem, m->steps.n, d);
  n = 0;
  for (int32_t a = 0; a < m->alive.n; a++) {
    const sel_var *x = &m->vars[m->alive.of[a]];
    first[a] = n;
    for (int32_t k = 0; k < x->n_spans; k++)
      uses[n++] = (sel_usage){a, x->spans[k].begin, x->spans[k].end, x->spans[k].amount};
  }
  first[m->alive.n] = n;
  int64_t base = 0;
  for (int32_t t = 0; t < m->steps.n; t++) {
    base += m->steps.base_diff[t];
    cap[t] = m->steps.cap[t] - base;
    if (cap[t] >= 0) continue;
    if (!m->infeasible) sel_log_overfull(m, t);
    m->infeasible = true;
  }
  out->n_uses = n;
  out->uses = uses;
  out->first_use = first;
  out->n_steps = m->steps.n;
  out->cap = cap;
  return SW_OK;
}

/* What is left, in the order of the core. */
static sw_rc list_alive(sel_model *m, int32_t *rank, sw_diag *d) {
  int32_t *order;
  SW_ARENA_NEW_EACH(&m->mem, m->n, d, order, m->alive.of);
  for (int32_t i = 0; i < m->n; i++) order[m->place ? m->place[i] : i] = i;
  m->alive.n = 0;
  for (int32_t k = 0; k < m->n; k++) {
    rank[order[k]] = m->alive.n;
    if (!m->vars[order[k]].gone) m->alive.of[m->alive.n++] = order[k];
  }
  return SW_OK;
}

sw_rc sel_model_freeze(sel_model *m, sel_core *out, sw_diag *d) {
  int32_t *rank, *dom;
  const int64_t **cost;
  SW_ARENA_NEW(rank, &m->mem, m->n, d);
  SW_TRY(list_alive(m, rank, d));
  SW_ARENA_NEW_EACH(&m->mem, m->alive.n, d, dom, cost);
  for (int32_t a = 0; a < m->alive.n; a++) {
    dom[a] = m->vars[m->alive.of[a]].n;
    cost[a] = m->vars[m->alive.of[a]].cost;
  }
  *out = (sel_core){.n = m->alive.n, .dom = dom, .cost = cost, .offset = m->offset};
  SW_TRY(freeze_edges(m, rank, out, d));
  return freeze_uses(m, out, d);
}

void sel_model_expand(const sel_model *m, const int32_t *x, int32_t *full) {
  for (int32_t a = 0; a < m->alive.n; a++) full[m->alive.of[a]] = m->vars[m->alive.of[a]].id[x[a]];
  for (const sel_record *r = m->records; r; r = r->before) {
    int32_t at = r->a < 0 ? 0 : full[r->a] * r->stride + (r->b < 0 ? 0 : full[r->b]);
    full[r->var] = r->table[at];
  }
}
