/* Partial choices along an order of elimination.
 *
 * Elimination without memory leaves, for every variable and every choice of those that it touches when it goes (its
 * scope), what it and all that went before cost at least. Going back along the order, each variable then adds to a
 * partial choice exactly what its value costs more than the least: partial choices know what completing them costs at
 * least. Prices on memory, for which elimination is run as well, raise that.
 *
 *   order a, b, c    tables: a's least given (b, c), b's given (c), c's    labels: (c), then (b, c), then (a, b, c)
 *
 * A label is a partial choice: what it costs at least under each of the prices, and what it occupies. One that costs no
 * more and occupies no more, with the same values for all variables that those still to come touch, makes another
 * superfluous. Labels whose completion costs too much, or passes a cap, go at once.
 */
#include "select/exact/along.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "select/exact/elim.h"
#include "base/lists.h"

enum {
  PRICES = 4,
  TABLE_CELLS = 1 << 22,
  ALL_TABLE_CELLS = 1 << 23,
  SCOPE_ROOM = 16,
  RIVALS = 48,
  CELLS_AT_ONCE = 4 /* of rows, which processors pass over in bundles */
};
static const int64_t kMostTableWork = INT64_C(1) << 31;
static const double kScale[PRICES] = {0, 0.5, 1, 2}; /* of the prices given */

/* Of a variable given its scope: values in excess of the least, and the least, under each of the prices. */
typedef struct table {
  int32_t var, n_scope;
  const int32_t *scope;
  int64_t cells;
  bool plain;             /* neither it nor what went into its table occupies anything: no label needs its value */
  double *left;           /* cells: the least, as it was made last */
  double *excess[PRICES]; /* cells x values; not of plain ones */
} table;

/* A factor of the elimination under way: a pair, or what a variable left. */
typedef struct factor {
  struct factor *next;
  int32_t n;
  const int32_t *vars;
  const int64_t *pair; /* or */
  const double *left;
  bool plain;
} factor;

typedef struct origin {
  int32_t parent, value;
} origin;

/* Labels of one level, a row in each of these. */
typedef struct labels {
  int32_t n, room;
  double *cost;    /* PRICES each */
  int64_t *used;   /* steps each */
  int32_t *x;      /* variables each: the values of those chosen */
  origin *origins; /* kept for all levels */
} labels;

typedef struct along {
  const sel_core *c;
  const sel_along_options *o;
  sel_budget *b;
  sw_arena mem;
  sel_elim_plan plan;
  table *tables;    /* by position */
  factor **buckets; /* by position, of the first elimination; those of plain variables stay */
  double constant[PRICES];
  int64_t *rest;  /* position x step: what variables before it occupy at least */
  bool *busy;     /* likewise: whether one of them may occupy anything */
  bool **matters; /* position: per variable, whether one of those before it touches it */
  labels now, next;
  origin **origins; /* by position */
  int32_t *order;   /* scratch of sorting */
  uint64_t *key;
  int64_t below;
  int64_t least; /* of what was given up: INT64_MAX, nothing was */
  bool full;
  sw_diag *d;
} along;

/* --- tables ------------------------------------------------------------------------------------------------------ */

static double read_factor(const along *a, const factor *f, const int32_t *x) {
  int64_t at = 0;
  for (int32_t k = 0; k < f->n; k++) at = at * a->c->dom[f->vars[k]] + x[f->vars[k]];
  if (f->left) return f->left[at];
  return f->pair[at] >= SW_FORBIDDEN ? INFINITY : (double)f->pair[at];
}

static void into_bucket(const along *a, factor **bucket, factor *f) {
  int32_t first = INT32_MAX;
  for (int32_t k = 0; k < f->n; k++)
    if (a->plan.place[f->vars[k]] < first) first = a->plan.place[f->vars[k]];
  f->next = bucket[first];
  bucket[first] = f;
}

static double own_cost(const along *a, int32_t v, int32_t s, int k) {
  const sel_core *c = a->c;
  double sum = c->cost[v][s] >= SW_FORBIDDEN ? INFINITY : (double)c->cost[v][s];
  for (int32_t u = c->first_use[v]; u < c->first_use[v + 1]; u++)
    for (int32_t t = c->uses[u].begin; t < c->uses[u].end; t++)
      sum += kScale[k] * a->o->lambda[t] * (double)c->uses[u].amount[s];
  return sum;
}

/* A factor with the variable that goes as its fastest index, the others in the order of the scope. */
typedef struct rows {
  int32_t last;               /* the last of the scope that it has; -1: none */
  int64_t stride[SCOPE_ROOM]; /* of each of the scope, in rows */
  const double *at;
} rows;

static sw_rc rows_of(const along *a, const factor *f, const table *t, int32_t *x, sw_arena *mem, rows *out) {
  int32_t others[SCOPE_ROOM], n_others = 0;
  int64_t n_rows = 1;
  double *at;
  *out = (rows){.last = -1};
  for (int32_t i = 0; i < t->n_scope; i++) {
    for (int32_t k = 0; k < f->n; k++)
      if (f->vars[k] == t->scope[i]) others[n_others++] = i;
  }
  for (int32_t k = n_others - 1; k >= 0; k--) {
    out->stride[others[k]] = n_rows;
    n_rows *= a->c->dom[t->scope[others[k]]];
    if (out->last < others[k]) out->last = others[k];
  }
  const int32_t n = a->c->dom[t->var];
  SW_ARENA_NEW(at, mem, (size_t)n_rows * (size_t)n, a->d);
  for (int64_t row = 0; row < n_rows; row++) {
    for (int32_t k = 0; k < n_others; k++)
      x[t->scope[others[k]]] = (int32_t)(row / out->stride[others[k]] % a->c->dom[t->scope[others[k]]]);
    for (int32_t s = 0; s < n; s++) {
      x[t->var] = s;
      at[row * n + s] = read_factor(a, f, x);
    }
  }
  out->at = at;
  return SW_OK;
}

/* sums[i + 1]: of the variable's own costs and of the factors that have none of the scope behind i, for the digits at
 * hand. From `from` on they are made anew. */
static void sum_up(const table *t, const rows *f, int32_t n_factors, const int32_t *digit, int32_t from, int32_t n,
                   double *sums) {
  for (int32_t i = from; i < t->n_scope; i++) {
    double *to = sums + (int64_t)(i + 1) * n;
    memcpy(to, to - n, (size_t)n * sizeof *to);
    for (int32_t k = 0; k < n_factors; k++) {
      int64_t row = 0;
      if (f[k].last != i) continue;
      for (int32_t j = 0; j <= i; j++) row += digit[j] * f[k].stride[j];
      const double *in = f[k].at + row * n;
      for (int32_t s = 0; s < n; s++) to[s] += in[s];
    }
  }
}

static double least_of(const double *row, int32_t n) {
  double least = INFINITY;
  for (int32_t s = 0; s < n; s++) least = row[s] < least ? row[s] : least;
  return least;
}

/* left[cell]: the least given the scope; excess: NULL, or what each value costs more. */
static void fill_left_table(const along *a, const table *t, const rows *f, int32_t n_factors, double *sums,
                            double *left, double *excess) {
  const int32_t n = a->c->dom[t->var];
  int32_t digit[SCOPE_ROOM] = {0}, from = 0;
  for (int64_t cell = 0; cell < t->cells; cell++) {
    sum_up(t, f, n_factors, digit, from, n, sums);
    const double *row = sums + (int64_t)t->n_scope * n;
    const double least = left[cell] = least_of(row, n);
    for (int32_t s = 0; excess && s < n; s++) excess[cell * n + s] = isfinite(least) ? row[s] - least : INFINITY;
    for (from = t->n_scope - 1; from >= 0 && ++digit[from] == a->c->dom[t->scope[from]]; from--) digit[from] = 0;
    if (from < 0) return;
  }
}

/* Under the prices k. What a plain variable leaves is the same under all. */
static sw_rc eliminate(along *a, table *t, int k, const factor *bucket, int32_t *x, sw_arena *mem) {
  const int32_t n = a->c->dom[t->var];
  double *sums;
  rows *f;
  int32_t n_factors = 0, at = 0;
  for (const factor *g = bucket; g; g = g->next) n_factors++;
  SW_ARENA_NEW(f, mem, n_factors, a->d);
  SW_ARENA_NEW(sums, mem, (size_t)(t->n_scope + 1) * (size_t)n, a->d);
  SW_ARENA_NEW(t->left, t->plain ? &a->mem : mem, t->cells, a->d);
  if (!t->plain) SW_ARENA_NEW(t->excess[k], &a->mem, (size_t)t->cells * (size_t)n, a->d);
  for (int32_t s = 0; s < n; s++) sums[s] = own_cost(a, t->var, s, k);
  for (const factor *g = bucket; g; g = g->next) {
    SW_TRY(rows_of(a, g, t, x, mem, &f[at]));
    for (int32_t s = 0; f[at].last < 0 && s < n; s++) sums[s] += f[at].at[s];
    at++;
  }
  fill_left_table(a, t, f, n_factors, sums, t->left, t->excess[k]);
  sel_spend(a->b, t->cells * n / CELLS_AT_ONCE);
  return SW_OK;
}

/* Nothing that goes into it occupies anything. */
static bool is_plain_table(const along *a, const table *t, const factor *bucket) {
  for (const factor *f = bucket; f; f = f->next)
    if (f->left && !f->plain) return false;
  return a->c->first_use[t->var] == a->c->first_use[t->var + 1];
}

static sw_rc make_along_tables(along *a, int k, sw_arena *mem) {
  const sel_core *c = a->c;
  factor **bucket, *pairs;
  int32_t(*ends)[2], *x;
  SW_ARENA_NEW(bucket, &a->mem, c->n, a->d);
  SW_ARENA_NEW_EACH(&a->mem, c->n_pairs, a->d, pairs, ends);
  SW_ARENA_NEW(x, mem, c->n, a->d);
  if (k == 0) a->buckets = bucket;
  for (int32_t t = 0; t < c->n_steps; t++) a->constant[k] -= kScale[k] * a->o->lambda[t] * (double)c->cap[t];
  for (int32_t e = 0; e < c->n_pairs; e++) {
    ends[e][0] = c->pairs[e].i;
    ends[e][1] = c->pairs[e].j;
    pairs[e] = (factor){.n = 2, .vars = ends[e], .pair = c->mats[c->pairs[e].mat].v};
    into_bucket(a, bucket, &pairs[e]);
  }
  for (int32_t at = 0; at < c->n && !sel_stop(a->b); at++) {
    table *t = &a->tables[at];
    factor *f;
    if (k == 0) t->plain = is_plain_table(a, t, bucket[at]);
    if (k == 0 || !t->plain) SW_TRY(eliminate(a, t, k, bucket[at], x, mem));
    if (t->n_scope == 0) a->constant[k] += t->left[0];
    if (t->n_scope == 0) continue;
    SW_ARENA_NEW(f, &a->mem, 1, a->d);
    *f = (factor){.n = t->n_scope, .vars = t->scope, .left = t->left, .plain = t->plain};
    into_bucket(a, bucket, f);
  }
  return SW_OK;
}

static sw_rc list_tables(along *a) {
  const sel_core *c = a->c;
  SW_ARENA_NEW(a->tables, &a->mem, c->n, a->d);
  for (int32_t at = 0; at < c->n; at++) {
    table *t = &a->tables[at];
    t->var = a->plan.order[at];
    t->scope = a->plan.scope + a->plan.scope_first[at];
    t->n_scope = a->plan.scope_first[at + 1] - a->plan.scope_first[at];
    t->cells = 1;
    for (int32_t k = 0; k < t->n_scope; k++) t->cells *= c->dom[t->scope[k]];
  }
  return SW_OK;
}

/* Tables of plain variables are made once, and without their values. */
static bool has_room(const along *a) {
  int64_t kept = 0, work = 0;
  for (int32_t at = 0; at < a->c->n; at++) {
    const table *t = &a->tables[at];
    const int32_t v = t->var, n = a->c->dom[v];
    const bool may_be_plain = a->c->first_use[v] == a->c->first_use[v + 1];
    if (t->n_scope >= SCOPE_ROOM || t->cells > TABLE_CELLS) return false;
    kept += may_be_plain ? t->cells : t->cells * n;
    work += t->cells * n;
    if (kept > ALL_TABLE_CELLS || work > kMostTableWork) return false;
  }
  return true;
}

static sw_rc make_all_tables(along *a) {
  for (int k = 0; k < PRICES; k++) {
    sw_arena mem = {0};
    sw_rc rc = make_along_tables(a, k, &mem);
    sw_arena_deinit(&mem);
    if (rc) return rc;
  }
  return SW_OK;
}

/* --- what is still to come --------------------------------------------------------------------------------------- */

static sw_rc look_ahead(along *a) {
  const sel_core *c = a->c;
  SW_ARENA_NEW_EACH(&a->mem, (size_t)(c->n + 1) * ((size_t)c->n_steps + 1), a->d, a->rest, a->busy);
  SW_ARENA_NEW(a->matters, &a->mem, (size_t)c->n + 1, a->d);
  SW_ARENA_NEW(a->matters[0], &a->mem, c->n, a->d);
  for (int32_t at = 0; at < c->n; at++) {
    const int32_t v = a->plan.order[at];
    int64_t *here = a->rest + (int64_t)at * c->n_steps, *after = here + c->n_steps;
    bool *busy = a->busy + (int64_t)(at + 1) * c->n_steps;
    memcpy(after, here, (size_t)c->n_steps * sizeof *after);
    memcpy(busy, busy - c->n_steps, (size_t)c->n_steps * sizeof *busy);
    for (int32_t u = c->first_use[v]; u < c->first_use[v + 1]; u++) {
      int64_t least = INT64_MAX;
      for (int32_t s = 0; s < c->dom[v]; s++) least = sw_min_i64(least, c->uses[u].amount[s]);
      for (int32_t t = c->uses[u].begin; t < c->uses[u].end; t++) {
        after[t] += least;
        busy[t] = true;
      }
    }
    a->matters[at + 1] = sw_arena_copy(&a->mem, a->matters[at], (size_t)c->n, sizeof(bool), a->d);
    if (!a->matters[at + 1]) return SW_E_RESOURCE;
    for (int32_t k = 0; k < a->tables[at].n_scope; k++) a->matters[at + 1][a->tables[at].scope[k]] = true;
  }
  return SW_OK;
}

/* --- labels ------------------------------------------------------------------------------------------------------ */

static void labels_free(labels *l) {
  sw_mem_free(l->cost);
  sw_mem_free(l->used);
  sw_mem_free(l->x);
  *l = (labels){0};
}

static sw_rc labels_grow(along *a, labels *l, int32_t at) {
  const sel_core *c = a->c;
  if (l->n < l->room) return SW_OK;
  const int32_t room = l->room ? 2 * l->room : 256;
  double *cost = sw_mem_alloc((size_t)room * PRICES, sizeof *cost, a->d);
  int64_t *used = sw_mem_alloc((size_t)room * (size_t)c->n_steps + 1, sizeof *used, a->d);
  int32_t *x = sw_mem_alloc((size_t)room * (size_t)c->n, sizeof *x, a->d);
  origin *origins;
  SW_ARENA_NEW(origins, &a->mem, room, a->d); /* the smaller ones are not given back: as much again */
  if (cost && used && x && l->n) {
    memcpy(cost, l->cost, (size_t)l->n * PRICES * sizeof *cost);
    memcpy(used, l->used, (size_t)l->n * (size_t)c->n_steps * sizeof *used);
    memcpy(x, l->x, (size_t)l->n * (size_t)c->n * sizeof *x);
    memcpy(origins, l->origins, (size_t)l->n * sizeof *origins);
  }
  const int32_t n = l->n;
  labels_free(l);
  *l = (labels){.n = n, .room = room, .cost = cost, .used = used, .x = x, .origins = origins};
  a->origins[at] = origins;
  return cost && used && x ? SW_OK : SW_E_RESOURCE;
}

/* Room for the error of sums of doubles. */
static double safe(double cost) { return cost - 1e-6 - 1e-12 * fabs(cost); }

static double bound_of(const double *cost) {
  double most = cost[0];
  for (int k = 1; k < PRICES; k++) most = fmax(most, safe(cost[k]));
  return most;
}

static bool is_too_dear(const along *a, const double *cost) { return ceil(safe(bound_of(cost))) >= (double)a->below; }

/* The label at the end of `next` with the value of the variable at a position: does it stay? */
static bool extend(along *a, const table *t, int32_t at, int64_t cell, int32_t from, int32_t s) {
  const sel_core *c = a->c;
  labels *to = &a->next;
  const int64_t row = cell * c->dom[t->var] + s, *rest = a->rest + (int64_t)at * c->n_steps;
  double *cost = to->cost + (int64_t)to->n * PRICES;
  int64_t *used = to->used + (int64_t)to->n * c->n_steps;
  for (int k = 0; k < PRICES; k++) cost[k] = a->now.cost[(int64_t)from * PRICES + k] + t->excess[k][row];
  if (!isfinite(cost[0]) || is_too_dear(a, cost)) return false;
  memcpy(used, a->now.used + (int64_t)from * c->n_steps, (size_t)c->n_steps * sizeof *used);
  for (int32_t u = c->first_use[t->var]; u < c->first_use[t->var + 1]; u++)
    for (int32_t i = c->uses[u].begin; i < c->uses[u].end; i++) used[i] += c->uses[u].amount[s];
  for (int32_t i = 0; i < c->n_steps; i++)
    if (used[i] + rest[i] > c->cap[i]) return false;
  memcpy(to->x + (int64_t)to->n * c->n, a->now.x + (int64_t)from * c->n, (size_t)c->n * sizeof *to->x);
  to->x[(int64_t)to->n * c->n + t->var] = s;
  to->origins[to->n] = (origin){from, s};
  return true;
}

static sw_rc expand_labels(along *a, int32_t at) {
  const table *t = &a->tables[at];
  const int32_t n = a->c->dom[t->var];
  a->next.n = 0;
  for (int32_t from = 0; from < a->now.n; from++) {
    const int32_t *x = a->now.x + (int64_t)from * a->c->n;
    int64_t cell = 0;
    for (int32_t k = 0; k < t->n_scope; k++) cell = cell * a->c->dom[t->scope[k]] + x[t->scope[k]];
    for (int32_t s = 0; s < n; s++) {
      SW_TRY(labels_grow(a, &a->next, at));
      a->next.n += extend(a, t, at, cell, from, s);
    }
    sel_spend(a->b, (int64_t)PRICES * n);
    a->full = a->next.n > a->o->most_labels || (from % 256 == 0 && sel_stop(a->b));
    if (a->full) return SW_OK;
  }
  return SW_OK;
}

/* --- superfluous ones -------------------------------------------------------------------------------------------- */

typedef struct ranked {
  uint64_t key;
  double cost;
  int32_t label;
} ranked;

static int by_key_and_cost(const void *p, const void *q) {
  const ranked *a = p, *b = q;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  if (a->cost < b->cost || a->cost > b->cost) return a->cost < b->cost ? -1 : 1;
  return (a->label > b->label) - (a->label < b->label);
}

/* Values of the variables that those still to come touch. */
static bool same_values(const along *a, int32_t at, int32_t p, int32_t q) {
  const int32_t *x = a->next.x + (int64_t)p * a->c->n, *y = a->next.x + (int64_t)q * a->c->n;
  for (int32_t v = 0; v < a->c->n; v++)
    if (a->matters[at][v] && a->plan.place[v] >= at && x[v] != y[v]) return false;
  return true;
}

static uint64_t key_of(const along *a, int32_t at, int32_t p) {
  const int32_t *x = a->next.x + (int64_t)p * a->c->n;
  uint64_t h = 1469598103934665603u;
  for (int32_t v = 0; v < a->c->n; v++)
    if (a->matters[at][v] && a->plan.place[v] >= at) h = (h ^ (uint64_t)(uint32_t)x[v]) * 1099511628211u;
  return h;
}

/* Steps that nobody still to come occupies do not count. */
static bool occupies_no_more(const along *a, int32_t at, int32_t p, int32_t q) {
  const int64_t *x = a->next.used + (int64_t)p * a->c->n_steps, *y = a->next.used + (int64_t)q * a->c->n_steps;
  const bool *busy = a->busy + (int64_t)at * a->c->n_steps;
  for (int32_t t = 0; t < a->c->n_steps; t++)
    if (x[t] > y[t] && busy[t]) return false;
  return true;
}

static void move_label(along *a, int32_t from, int32_t to) {
  const sel_core *c = a->c;
  labels *l = &a->next;
  if (from == to) return;
  memcpy(l->cost + (int64_t)to * PRICES, l->cost + (int64_t)from * PRICES, PRICES * sizeof *l->cost);
  memcpy(l->used + (int64_t)to * c->n_steps, l->used + (int64_t)from * c->n_steps,
         (size_t)c->n_steps * sizeof *l->used);
  memcpy(l->x + (int64_t)to * c->n, l->x + (int64_t)from * c->n, (size_t)c->n * sizeof *l->x);
  l->origins[to] = l->origins[from];
}

static sw_rc drop_superfluous(along *a, int32_t at) {
  labels *l = &a->next;
  sw_arena mem = {0};
  ranked *r = sw_arena_alloc(&mem, (size_t)l->n + 1, sizeof *r, a->d);
  int32_t *kept = sw_arena_alloc(&mem, (size_t)l->n + 1, sizeof *kept, a->d), n = 0, first = 0;
  if (!r || !kept) {
    sw_arena_deinit(&mem);
    return SW_E_RESOURCE;
  }
  for (int32_t i = 0; i < l->n; i++) r[i] = (ranked){key_of(a, at, i), l->cost[(int64_t)i * PRICES], i};
  if (l->n) qsort(r, (size_t)l->n, sizeof *r, by_key_and_cost);
  for (int32_t i = 0; i < l->n; i++) {
    bool superfluous = false;
    if (i == 0 || r[i].key != r[i - 1].key) first = n;
    for (int32_t k = first; k < n && k < first + RIVALS && !superfluous; k++)
      superfluous = same_values(a, at, kept[k], r[i].label) && occupies_no_more(a, at, kept[k], r[i].label);
    if (!superfluous) kept[n++] = r[i].label;
  }
  sel_spend(a->b, (int64_t)l->n * 8);
  if (n) qsort(kept, (size_t)n, sizeof *kept, sw_compare_i32); /* each then moves down, if at all */
  for (int32_t i = 0; i < n; i++) move_label(a, kept[i], i);
  l->n = n;
  sw_arena_deinit(&mem);
  return SW_OK;
}

/* --- all together ------------------------------------------------------------------------------------------------ */

static double least_bound(const labels *l) {
  double least = INFINITY;
  for (int32_t i = 0; i < l->n; i++) least = fmin(least, bound_of(l->cost + (int64_t)i * PRICES));
  return least;
}

static void trace_back(const along *a, int32_t label, int32_t *best) {
  for (int32_t at = 0; at < a->c->n; at++) {
    if (a->tables[at].plain) continue;
    const origin o = a->origins[at][label];
    best[a->plan.order[at]] = o.value;
    label = o.parent;
  }
  for (int32_t at = a->c->n - 1; at >= 0; at--) { /* each when those that it touches are known */
    const int32_t v = a->plan.order[at];
    double least = INFINITY;
    int32_t value = 0;
    for (int32_t s = 0; a->tables[at].plain && s < a->c->dom[v]; s++) {
      double sum = own_cost(a, v, s, 0);
      best[v] = s;
      for (const factor *f = a->buckets[at]; f; f = f->next) sum += read_factor(a, f, best);
      if (sum >= least) continue;
      least = sum;
      value = s;
    }
    if (a->tables[at].plain) best[v] = value;
  }
}

static void conclude_along(const along *a, int32_t *best, sel_along_result *out) {
  int32_t least = 0;
  const labels *l = &a->now;
  if (a->full || sel_stop(a->b)) return;
  out->done = true;
  out->found = l->n > 0;
  out->bound = a->below;
  if (!out->found) return;
  for (int32_t i = 1; i < l->n; i++)
    if (l->cost[(int64_t)i * PRICES] < l->cost[(int64_t)least * PRICES]) least = i;
  trace_back(a, least, best);
  out->cost = sel_core_cost(a->c, best);
  out->found = out->cost < a->below; /* where nothing occupies anything, nobody has asked yet */
  if (out->found) out->bound = out->cost;
}

static sw_rc go_back(along *a, sel_along_result *out) {
  const sel_core *c = a->c;
  SW_ARENA_NEW(a->origins, &a->mem, (size_t)c->n + 1, a->d);
  SW_TRY(labels_grow(a, &a->now, c->n));
  a->now.n = 1;
  for (int k = 0; k < PRICES; k++) a->now.cost[k] = a->constant[k];
  for (int32_t at = c->n - 1; at >= 0; at--) {
    if (a->tables[at].plain) continue;
    const double least = least_bound(&a->now);
    if (isfinite(least)) out->bound = sw_max_i64(out->bound, (int64_t)fmin(ceil(safe(least)), (double)a->below));
    SW_TRY(expand_labels(a, at));
    if (a->full) return SW_OK;
    SW_TRY(drop_superfluous(a, at));
    labels t = a->now;
    a->now = a->next;
    a->next = t;
    a->next.room = 0; /* its origins stay with the level before */
    sw_mem_free(a->next.cost);
    sw_mem_free(a->next.used);
    sw_mem_free(a->next.x);
    a->next = (labels){0};
  }
  return SW_OK;
}

/* Sums of costs that doubles hold to the unit. */
static bool is_exact(const sel_core *c) {
  const double kMost = 4e15;
  double sum = 0;
  for (int32_t i = 0; i < c->n; i++) {
    int64_t most = 0;
    for (int32_t s = 0; s < c->dom[i]; s++)
      if (c->cost[i][s] < SW_FORBIDDEN) most = sw_max_i64(most, c->cost[i][s]);
    sum += (double)most;
  }
  for (int32_t e = 0; e < c->n_pairs && sum <= kMost; e++) {
    const sel_mat *m = &c->mats[c->pairs[e].mat];
    int64_t most = 0;
    for (int64_t k = 0; k < (int64_t)m->rows * m->cols; k++)
      if (m->v[k] < SW_FORBIDDEN) most = sw_max_i64(most, m->v[k]);
    sum += (double)most;
  }
  return sum <= kMost;
}

static sw_rc solve(along *a, int32_t *best, sel_along_result *out) {
  SW_TRY(sel_elim_plan_build(a->c, kMostTableWork, kMostTableWork, &a->mem, &a->plan, a->d));
  if (!a->plan.fits || !is_exact(a->c)) return SW_OK;
  SW_TRY(list_tables(a));
  if (!has_room(a)) return SW_OK;
  SW_TRY(make_all_tables(a));
  if (sel_stop(a->b)) return SW_OK;
  SW_TRY(look_ahead(a));
  SW_TRY(go_back(a, out));
  conclude_along(a, best, out);
  return SW_OK;
}

sw_rc sel_along_solve(const sel_core *c, const sel_along_options *o, sel_budget *b, int32_t *best,
                      sel_along_result *out, sw_diag *d) {
  along a = {.c = c, .o = o, .b = b, .below = sw_min_i64(o->below, SW_FORBIDDEN), .d = d};
  *out = (sel_along_result){0};
  sw_rc rc = solve(&a, best, out);
  labels_free(&a.now);
  labels_free(&a.next);
  sw_arena_deinit(&a.mem);
  return rc;
}
