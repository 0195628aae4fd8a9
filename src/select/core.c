/* Cores: the frozen form of a selection problem that bounds and searches work on.
 *
 * Example: uses [10, 30) and [20, 40) give the steps [10, 20), [20, 30), [30, 40), numbered 0, 1, 2.
 */
#include "select/core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/lists.h"

double sel_elapsed(const sel_budget *b) { return sw_now_s() - b->start_s; }

double sel_left(const sel_budget *b) {
  const double kLeast = 0.05, all = (double)b->foreseen;
  return fmax(all - (double)b->work, kLeast * all);
}

double sel_left_on_clock(const sel_budget *b) { return b->deadline_s > 0 ? b->deadline_s - sw_now_s() : 1e9; }

bool sel_stop(const sel_budget *b) {
  if (sw_cancelled(b->cancel)) return true;
  if (b->halt && atomic_load_explicit(b->halt, memory_order_relaxed)) return true;
  if (b->work_limit && b->work >= b->work_limit) return true;
  return b->deadline_s > 0 && sw_now_s() >= b->deadline_s;
}

sel_budget sel_budget_part(const sel_budget *b, double steps, int64_t cells) {
  sel_budget part = *b;
  int64_t until = b->work + sw_min_i64(cells, (int64_t)steps);
  part.work_limit = b->work_limit ? sw_min_i64(b->work_limit, until) : until;
  part.foreseen = part.work_limit;
  return part;
}

void sel_budget_join(sel_budget *b, const sel_budget *part) { b->work = part->work; }

static int64_t largest_amount(const sw_usage *u, int32_t n) {
  int64_t most = 0;
  for (int32_t s = 0; s < n; s++) most = sw_max_i64(most, u->amount[s]);
  return most;
}

/* Sorted distinct times at which a use that matters begins or ends. */
static sw_rc find_use_times(const sw_problem *p, sw_arena *mem, int64_t **times, int32_t *n_times, int32_t *n_uses,
                            sw_diag *d) {
  int32_t n = 0;
  for (int32_t i = 0; i < p->n_nodes; i++) n += p->nodes[i].n_uses;
  SW_ARENA_NEW(*times, mem, 2 * (size_t)n, d);
  int64_t *t = *times;
  size_t k = 0;
  for (int32_t i = 0; i < p->n_nodes; i++)
    for (int32_t a = 0; a < p->nodes[i].n_uses; a++) {
      const sw_usage *u = &p->nodes[i].uses[a];
      if (u->begin == u->end || largest_amount(u, p->nodes[i].n_choices) == 0) continue;
      t[k++] = u->begin;
      t[k++] = u->end;
    }
  *n_uses = (int32_t)(k / 2);
  *n_times = sw_sort_unique(t, (int32_t)k);
  return SW_OK;
}

static int32_t step_at_time(const int64_t *times, int32_t n, int64_t t) {
  int32_t lo = 0, hi = n - 1;
  while (lo < hi) {
    int32_t mid = (lo + hi) / 2;
    if (times[mid] < t)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

static sw_rc add_core_uses(const sw_problem *p, sw_arena *mem, sel_core *out, sw_diag *d) {
  int64_t *times;
  int32_t n_times, n_uses;
  SW_TRY(find_use_times(p, mem, &times, &n_times, &n_uses, d));
  sel_usage *uses;
  int32_t *first;
  int64_t *cap;
  SW_ARENA_NEW(uses, mem, n_uses, d);
  SW_ARENA_NEW(first, mem, (size_t)p->n_nodes + 1, d);
  SW_ARENA_NEW(cap, mem, n_times, d);
  int32_t n = 0;
  for (int32_t i = 0; i < p->n_nodes; i++) {
    first[i] = n;
    for (int32_t a = 0; a < p->nodes[i].n_uses; a++) {
      const sw_usage *u = &p->nodes[i].uses[a];
      if (u->begin == u->end || largest_amount(u, p->nodes[i].n_choices) == 0) continue;
      uses[n++] =
          (sel_usage){i, step_at_time(times, n_times, u->begin), step_at_time(times, n_times, u->end), u->amount};
    }
  }
  first[p->n_nodes] = n;
  out->n_steps = n_times ? n_times - 1 : 0;
  for (int32_t t = 0; t < out->n_steps; t++) cap[t] = p->limit;
  out->cap = cap;
  out->time = times;
  out->uses = uses;
  out->n_uses = n;
  out->first_use = first;
  return SW_OK;
}

/* The most that all uses together could occupy. */
static sw_i128 largest_total(const sw_problem *p) {
  sw_i128 all = 0;
  for (int32_t i = 0; i < p->n_nodes; i++)
    for (int32_t a = 0; a < p->nodes[i].n_uses; a++) all += largest_amount(&p->nodes[i].uses[a], p->nodes[i].n_choices);
  return all;
}

/* Each copy node right behind the first of its neighbours: a pass hands on to it, and it to the others. */
static sw_rc place_copy_nodes(const sw_problem *p, sw_arena *mem, const int32_t **out, sw_diag *d) {
  int32_t *place, *behind, *at;
  if (p->copy_nodes_at <= 0) return SW_OK;
  SW_ARENA_NEW_EACH(mem, p->n_nodes, d, place, behind);
  SW_ARENA_NEW(at, mem, (size_t)p->n_nodes + 1, d);
  for (int32_t i = 0; i < p->n_nodes; i++) behind[i] = i;
  for (int32_t e = 0; e < p->n_edges; e++) {
    int32_t i = p->edges[e].i, j = p->edges[e].j;
    if (i >= p->copy_nodes_at && j < behind[i]) behind[i] = j;
    if (j >= p->copy_nodes_at && i < behind[j]) behind[j] = i;
  }
  for (int32_t i = 0; i < p->n_nodes; i++) at[behind[i] + 1]++;
  for (int32_t i = 0; i < p->n_nodes; i++) at[i + 1] += at[i];
  for (int32_t i = 0; i < p->n_nodes; i++) place[i] = at[behind[i]]++;
  *out = place;
  return SW_OK;
}

sw_rc sel_core_of_problem(const sw_problem *p, sw_arena *mem, sel_core *out, sw_diag *d) {
  *out = (sel_core){.n = p->n_nodes, .n_pairs = p->n_edges, .n_mats = p->n_edges};
  int32_t *dom, *zeros;
  const int64_t **cost;
  sel_pair *pairs;
  sel_mat *mats;
  SW_ARENA_NEW(dom, mem, p->n_nodes, d);
  SW_ARENA_NEW(zeros, mem, (size_t)p->n_nodes + 1, d);
  SW_ARENA_NEW(cost, mem, p->n_nodes, d);
  SW_ARENA_NEW_EACH(mem, p->n_edges, d, pairs, mats);
  for (int32_t i = 0; i < p->n_nodes; i++) {
    dom[i] = p->nodes[i].n_choices;
    cost[i] = p->nodes[i].cost;
  }
  for (int32_t e = 0; e < p->n_edges; e++) {
    pairs[e] = (sel_pair){p->edges[e].i, p->edges[e].j, e};
    mats[e] = (sel_mat){dom[p->edges[e].i], dom[p->edges[e].j], p->edges[e].cost};
  }
  out->dom = dom;
  out->cost = cost;
  out->pairs = pairs;
  out->mats = mats;
  out->first_use = zeros;
  SW_TRY(place_copy_nodes(p, mem, &out->place, d));
  sw_i128 most = largest_total(p);
  if (most <= p->limit) return SW_OK;
  if (most > INT64_MAX / 4) return SW_FAIL_INPUT(d, SW_NOWHERE, "the uses add up to more than 2^61; expected less");
  return add_core_uses(p, mem, out, d);
}

static sw_rc order_uses(const sel_core *c, const int32_t *order, sw_arena *mem, sel_core *out, sw_diag *d) {
  sel_usage *uses;
  int32_t *first, n = 0;
  SW_ARENA_NEW(uses, mem, c->n_uses, d);
  SW_ARENA_NEW(first, mem, (size_t)c->n + 1, d);
  for (int32_t k = 0; k < c->n; k++) {
    first[k] = n;
    for (int32_t a = c->first_use[order[k]]; a < c->first_use[order[k] + 1]; a++) {
      uses[n] = c->uses[a];
      uses[n++].var = k;
    }
  }
  first[c->n] = n;
  out->uses = uses;
  out->first_use = first;
  return SW_OK;
}

sw_rc sel_core_in_order(const sel_core *c, sw_arena *mem, sel_core *out, int32_t **order, sw_diag *d) {
  int32_t *dom;
  const int64_t **cost;
  sel_pair *pairs;
  *out = *c;
  out->place = NULL;
  SW_ARENA_NEW_EACH(mem, c->n, d, *order, dom, cost);
  SW_ARENA_NEW(pairs, mem, c->n_pairs, d);
  for (int32_t i = 0; i < c->n; i++) (*order)[c->place ? c->place[i] : i] = i;
  for (int32_t k = 0; k < c->n; k++) {
    dom[k] = c->dom[(*order)[k]];
    cost[k] = c->cost[(*order)[k]];
  }
  for (int32_t e = 0; e < c->n_pairs; e++) {
    pairs[e] = c->pairs[e];
    if (c->place) pairs[e].i = c->place[pairs[e].i], pairs[e].j = c->place[pairs[e].j];
  }
  out->dom = dom;
  out->cost = cost;
  out->pairs = pairs;
  return order_uses(c, *order, mem, out, d);
}

sel_core sel_core_without_uses(const sel_core *c, const int32_t *zeros) {
  sel_core bare = *c;
  bare.n_uses = bare.n_steps = 0;
  bare.first_use = zeros;
  return bare;
}

int64_t sel_core_cost(const sel_core *c, const int32_t *x) {
  int64_t sum = 0;
  for (int32_t i = 0; i < c->n; i++) sum = sw_cost_add(sum, c->cost[i][x[i]]);
  for (int32_t e = 0; e < c->n_pairs; e++) {
    const sel_pair *g = &c->pairs[e];
    const sel_mat *m = &c->mats[g->mat];
    sum = sw_cost_add(sum, sw_min_i64(SW_FORBIDDEN, m->v[(int64_t)x[g->i] * m->cols + x[g->j]]));
  }
  return sum;
}

bool sel_core_usage(const sel_core *c, const int32_t *x, int64_t *used) {
  memset(used, 0, (size_t)c->n_steps * sizeof *used);
  for (int32_t k = 0; k < c->n_uses; k++) {
    const sel_usage *u = &c->uses[k];
    used[u->begin] += u->amount[x[u->var]];
    if (u->end < c->n_steps) used[u->end] -= u->amount[x[u->var]];
  }
  bool ok = true;
  for (int32_t t = 0; t < c->n_steps; t++) {
    if (t) used[t] += used[t - 1];
    ok &= used[t] <= c->cap[t];
  }
  return ok;
}

typedef struct table_key {
  uint64_t what; /* an address, or a hash */
  int32_t rows, cols;
} table_key;

/* Where the core's tables are known by address and by what is in them. */
typedef struct tables {
  sw_dict by_address, by_hash;
} tables;

/* The first table that is equal to number m. */
static sw_rc find_table(tables *k, const sel_core *c, int32_t m, int32_t *out, sw_diag *d) {
  const sel_mat *mat = &c->mats[m];
  size_t bytes = (size_t)mat->rows * (size_t)mat->cols * sizeof *mat->v;
  table_key key = {(uint64_t)(uintptr_t)mat->v, mat->rows, mat->cols};
  int64_t *known, *first;
  bool fresh;
  SW_TRY(sw_dict_put(&k->by_address, &key, sizeof key, m, &known, &fresh, d));
  if (fresh) {
    key.what = sw_hash_quick(mat->v, bytes);
    SW_TRY(sw_dict_put(&k->by_hash, &key, sizeof key, m, &first, &fresh, d));
    if (memcmp(c->mats[*first].v, mat->v, bytes) == 0) *known = *first;
  }
  *out = (int32_t)*known;
  return SW_OK;
}

sw_rc sel_core_pool_tables(sel_core *c, sw_arena *mem, sw_diag *d) {
  tables k = {0};
  sel_pair *pairs = sw_arena_copy(mem, c->pairs, (size_t)c->n_pairs, sizeof *pairs, d);
  sw_rc rc = pairs || !c->n_pairs ? SW_OK : SW_E_RESOURCE;
  for (int32_t e = 0; e < c->n_pairs && !rc; e++) rc = find_table(&k, c, pairs[e].mat, &pairs[e].mat, d);
  c->pairs = pairs;
  sw_dict_deinit(&k.by_address);
  sw_dict_deinit(&k.by_hash);
  return rc;
}
