/* Variable elimination: the exact minimum of a core without memory, when its graph is narrow.
 *
 * The variable that goes is replaced by a table over its neighbours: for each of their choices the least of what it
 * and its factors can cost, and which value reaches it. Example: on a chain a - b - c, a leaves a table over b, b one
 * over c; then c is chosen, and b and a follow from their tables, last to first.
 *
 * Cost: the sum of the tables' sizes times the values of the variable that goes.
 */
#include "select/exact/elim.h"

#include <assert.h>
#include <string.h>

#include "base/array.h"

enum { SCOPE_MOST = 64 }; /* the cap on cells leaves room for 22 variables of two values or more */

typedef struct near_set {
  int32_t *at; /* sorted */
  int32_t n, cap;
} near_set;

typedef struct heap_item {
  int64_t key;
  int32_t var;
} heap_item;

typedef struct planner {
  const sel_core *c;
  sw_arena *mem;
  near_set *near;
  bool *gone;
  int64_t *key;
  SW_ARRAY(heap_item) heap;
} planner;

static bool before(heap_item a, heap_item b) { return a.key != b.key ? a.key < b.key : a.var < b.var; }

static sw_rc heap_push(planner *p, heap_item item, sw_diag *d) {
  SW_TRY(sw_array_push(&p->heap, item, d));
  size_t k = p->heap.n - 1;
  for (; k > 0 && before(item, p->heap.at[(k - 1) / 2]); k = (k - 1) / 2) p->heap.at[k] = p->heap.at[(k - 1) / 2];
  p->heap.at[k] = item;
  return SW_OK;
}

static heap_item heap_pop(planner *p) {
  assert(p->heap.at && p->heap.n > 0);
  heap_item top = p->heap.at[0], last = p->heap.at[--p->heap.n];
  size_t k = 0, n = p->heap.n;
  for (;;) {
    size_t kid = 2 * k + 1;
    if (kid >= n) break;
    if (kid + 1 < n && before(p->heap.at[kid + 1], p->heap.at[kid])) kid++;
    if (!before(p->heap.at[kid], last)) break;
    p->heap.at[k] = p->heap.at[kid];
    k = kid;
  }
  if (n) p->heap.at[k] = last;
  return top;
}

static sw_rc near_add(planner *p, int32_t a, int32_t b, sw_diag *d) {
  near_set *s = &p->near[a];
  int32_t k = s->n;
  while (k > 0 && s->at[k - 1] > b) k--;
  if (k > 0 && s->at[k - 1] == b) return SW_OK;
  SW_ARENA_ROOM(s->at, s->n, s->cap, p->mem, d);
  memmove(s->at + k + 1, s->at + k, (size_t)(s->n - k) * sizeof *s->at);
  s->at[k] = b;
  s->n++;
  return SW_OK;
}

static void near_remove(near_set *s, int32_t b) {
  int32_t kept = 0;
  for (int32_t k = 0; k < s->n; k++)
    if (s->at[k] != b) s->at[kept++] = s->at[k];
  s->n = kept;
}

/* Cells of the table that eliminating v needs, v included; saturates. */
static int64_t table_cells(const planner *p, int32_t v) {
  int64_t cells = p->c->dom[v];
  for (int32_t k = 0; k < p->near[v].n; k++)
    if (!sw_mul_i64(cells, p->c->dom[p->near[v].at[k]], &cells)) return INT64_MAX;
  return cells;
}

/* Where memory counts, of tables of like sizes those of variables that occupy nothing come first, which are the same
 * whatever memory costs, and then those that leave least. */
static int64_t elimination_key(const planner *p, int32_t v) {
  enum { OCCUPYING = 8 };
  const int64_t cells = table_cells(p, v);
  int64_t key = cells;
  if (p->c->n_uses == 0) return cells;
  if (p->c->first_use[v] < p->c->first_use[v + 1] && !sw_mul_i64(key, OCCUPYING, &key)) return INT64_MAX;
  return sw_add_i64(key, cells / p->c->dom[v], &key) ? key : INT64_MAX;
}

static sw_rc requeue(planner *p, int32_t v, sw_diag *d) {
  int64_t key = elimination_key(p, v);
  if (key == p->key[v]) return SW_OK;
  p->key[v] = key;
  return heap_push(p, (heap_item){key, v}, d);
}

static sw_rc take_into_order(planner *p, sel_elim_plan *out, int32_t at, int32_t v, sw_diag *d) {
  near_set *s = &p->near[v];
  out->order[at] = v;
  out->place[v] = at;
  p->gone[v] = true;
  for (int32_t a = 0; a < s->n; a++) {
    near_remove(&p->near[s->at[a]], v);
    for (int32_t b = 0; b < s->n; b++)
      if (a != b) SW_TRY(near_add(p, s->at[a], s->at[b], d));
  }
  for (int32_t a = 0; a < s->n; a++) SW_TRY(requeue(p, s->at[a], d));
  return SW_OK;
}

static sw_rc plan_order(planner *p, int64_t cap, int64_t all_cap, sel_elim_plan *out, sw_diag *d) {
  const sel_core *c = p->c;
  for (int32_t e = 0; e < c->n_pairs; e++) {
    SW_TRY(near_add(p, c->pairs[e].i, c->pairs[e].j, d));
    SW_TRY(near_add(p, c->pairs[e].j, c->pairs[e].i, d));
  }
  for (int32_t i = 0; i < c->n; i++) {
    p->key[i] = -1;
    SW_TRY(requeue(p, i, d));
  }
  for (int32_t at = 0; at < c->n;) {
    heap_item top = heap_pop(p);
    if (p->gone[top.var] || top.key != p->key[top.var]) continue;
    const int64_t cells = table_cells(p, top.var);
    out->cells += cells > cap ? 0 : cells;
    if (cells > cap || out->cells > all_cap || p->near[top.var].n > SCOPE_MOST) return SW_OK;
    SW_TRY(take_into_order(p, out, at++, top.var, d));
  }
  out->fits = true;
  return SW_OK;
}

static sw_rc plan_scopes(const planner *p, sel_elim_plan *out, sw_diag *d) {
  int32_t n = p->c->n, total = 0;
  SW_ARENA_NEW(out->scope_first, p->mem, (size_t)n + 1, d);
  for (int32_t i = 0; i < n; i++) total += p->near[i].n;
  SW_ARENA_NEW(out->scope, p->mem, total, d);
  total = 0;
  for (int32_t at = 0; at < n; at++) {
    const near_set *s = &p->near[out->order[at]];
    out->scope_first[at] = total;
    for (int32_t k = 0; k < s->n; k++) out->scope[total++] = s->at[k];
  }
  out->scope_first[n] = total;
  return SW_OK;
}

sw_rc sel_elim_plan_build(const sel_core *c, int64_t cap, int64_t all_cap, sw_arena *mem, sel_elim_plan *out,
                          sw_diag *d) {
  *out = (sel_elim_plan){0};
  planner p = {.c = c, .mem = mem};
  SW_ARENA_NEW_EACH(mem, c->n, d, p.near, p.gone, p.key, out->order, out->place);
  for (int32_t i = 0; i < c->n; i++)
    if (c->dom[i] > UINT16_MAX) return SW_OK;
  sw_rc rc = plan_order(&p, cap, all_cap, out, d);
  sw_array_free(&p.heap);
  if (rc || !out->fits) return rc;
  return plan_scopes(&p, out, d);
}

/* A table over some variables; the last in `vars` varies fastest. */
typedef struct factor {
  struct factor *next; /* in the same bucket */
  int32_t n;
  const int32_t *vars;
  const int64_t *v;
} factor;

typedef struct eliminator {
  const sel_core *c;
  const sel_elim_plan *plan;
  sw_arena mem;
  factor **bucket;  /* by position */
  uint16_t **arg;   /* by position: best value per cell of the scope */
  int64_t *scratch; /* cells of the scope times values of the variable */
} eliminator;

static void put_into_bucket(eliminator *e, factor *f) {
  int32_t first = INT32_MAX;
  for (int32_t k = 0; k < f->n; k++)
    if (e->plan->place[f->vars[k]] < first) first = e->plan->place[f->vars[k]];
  f->next = e->bucket[first];
  e->bucket[first] = f;
}

/* Add `f` to the scratch table over (scope..., v), with an odometer over the scope. */
static void add_factor(eliminator *e, const factor *f, const int32_t *scope, int32_t n, int32_t v, int64_t cells) {
  int64_t stride[SCOPE_MOST] = {0}, stride_v = 0, step = 1;
  for (int32_t k = f->n - 1; k >= 0; k--) {
    if (f->vars[k] == v) stride_v = step;
    for (int32_t a = 0; a < n; a++)
      if (scope[a] == f->vars[k]) stride[a] = step;
    step *= e->c->dom[f->vars[k]];
  }
  int32_t digit[SCOPE_MOST] = {0}, nv = e->c->dom[v];
  int64_t at = 0, *out = e->scratch;
  for (int64_t cell = 0; cell < cells; cell++, out += nv) {
    const int64_t *in = f->v + at;
    for (int32_t s = 0; s < nv; s++) out[s] = sw_cost_add(out[s], sw_min_i64(SW_FORBIDDEN, in[s * stride_v]));
    for (int32_t k = n - 1; k >= 0; k--) {
      at += stride[k];
      if (++digit[k] < e->c->dom[scope[k]]) break;
      at -= stride[k] * digit[k];
      digit[k] = 0;
    }
  }
}

static sw_rc eliminate_variable(eliminator *e, int32_t at, const int64_t *cost, int64_t *constant, sw_diag *d) {
  int32_t v = e->plan->order[at], nv = e->c->dom[v];
  const int32_t *scope = e->plan->scope + e->plan->scope_first[at];
  int32_t n = e->plan->scope_first[at + 1] - e->plan->scope_first[at];
  int64_t cells = 1;
  for (int32_t k = 0; k < n; k++) cells *= e->c->dom[scope[k]];
  for (int64_t k = 0; k < cells; k++) memcpy(e->scratch + k * nv, cost, (size_t)nv * sizeof *cost);
  for (const factor *f = e->bucket[at]; f; f = f->next) add_factor(e, f, scope, n, v, cells);
  int64_t *best;
  SW_ARENA_NEW_EACH(&e->mem, cells, d, best, e->arg[at]);
  for (int64_t k = 0; k < cells; k++) {
    const int64_t *row = e->scratch + k * nv;
    int32_t arg = 0;
    for (int32_t s = 1; s < nv; s++)
      if (row[s] < row[arg]) arg = s;
    best[k] = row[arg];
    e->arg[at][k] = (uint16_t)arg;
  }
  if (n == 0) {
    *constant = sw_cost_add(*constant, best[0]);
    return SW_OK;
  }
  factor *f;
  SW_ARENA_NEW(f, &e->mem, 1, d);
  *f = (factor){.n = n, .vars = scope, .v = best};
  put_into_bucket(e, f);
  return SW_OK;
}

static void decode(const eliminator *e, int32_t *x) {
  for (int32_t at = e->c->n - 1; at >= 0; at--) {
    int64_t cell = 0;
    for (int32_t k = e->plan->scope_first[at]; k < e->plan->scope_first[at + 1]; k++)
      cell = cell * e->c->dom[e->plan->scope[k]] + x[e->plan->scope[k]];
    x[e->plan->order[at]] = e->arg[at][cell];
  }
}

static sw_rc prepare(eliminator *e, sw_diag *d) {
  const sel_core *c = e->c;
  SW_ARENA_NEW_EACH(&e->mem, c->n, d, e->bucket, e->arg);
  int64_t most = 1;
  for (int32_t at = 0; at < c->n; at++) {
    int64_t cells = c->dom[e->plan->order[at]];
    for (int32_t k = e->plan->scope_first[at]; k < e->plan->scope_first[at + 1]; k++)
      cells *= c->dom[e->plan->scope[k]];
    most = sw_max_i64(most, cells);
  }
  SW_ARENA_NEW(e->scratch, &e->mem, most, d);
  factor *f;
  int32_t(*ends)[2];
  SW_ARENA_NEW_EACH(&e->mem, c->n_pairs, d, f, ends);
  for (int32_t k = 0; k < c->n_pairs; k++) {
    ends[k][0] = c->pairs[k].i;
    ends[k][1] = c->pairs[k].j;
    f[k] = (factor){.n = 2, .vars = ends[k], .v = c->mats[c->pairs[k].mat].v};
    put_into_bucket(e, &f[k]);
  }
  return SW_OK;
}

sw_rc sel_elim_run(const sel_core *c, const sel_elim_plan *plan, const int64_t *const *cost, sel_budget *b, int32_t *x,
                   int64_t *value, bool *done, sw_diag *d) {
  eliminator e = {.c = c, .plan = plan};
  *done = false;
  *value = 0;
  sw_rc rc = prepare(&e, d);
  sel_spend(b, plan->cells);
  int32_t at = 0;
  for (; at < c->n && !rc && (at % 64 || !sel_stop(b)); at++)
    rc = eliminate_variable(&e, at, cost[plan->order[at]], value, d);
  if (!rc && at == c->n) {
    *done = true;
    decode(&e, x);
  }
  sw_arena_deinit(&e.mem);
  return rc;
}
