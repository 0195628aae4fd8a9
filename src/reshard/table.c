/* All prices of one shape at once.
 *
 * With few atoms the states are few: three atoms at rank 4 have 193, or 296 where values may be partial. All of them
 * become nodes; an edge is the one collective that leads from one to the other, else the direct exchange; then every
 * pair is relaxed over every third (Floyd and Warshall), so that the triangle inequality holds by construction.
 *
 *   [[x],[y]] -> [[],[]]   no single collective; relaxed over [[x],[]]: all_gather y, all_gather x
 */
#include <math.h>
#include <string.h>

#include "reshard/price.h"
#include "reshard/request.h"
#include "shardwright/checked.h"

enum { MAX_STATES = 512 };

typedef struct table {
  rs_query q;
  int n;
  rs_state *state;
  rs_lists *lists;
  double *cost; /* n * n */
  bool may_be_partial, overflow;
} table;

/* Every way to give atom number `atom` and those after it a place. */
static void enumerate(table *t, rs_lists *l, int atom) {
  const rs_space *s = &t->q.space;
  if (atom == s->n) {
    t->overflow = t->overflow || t->n == MAX_STATES;
    if (t->overflow) return;
    t->lists[t->n] = *l;
    t->state[t->n++] = rs_state_of_lists(s, l);
    return;
  }
  enumerate(t, l, atom + 1);
  l->used |= 1u << atom;
  if (t->may_be_partial) {
    l->partial |= 1u << atom;
    enumerate(t, l, atom + 1);
    l->partial &= ~(1u << atom);
  }
  for (int d = 0; d < s->rank && !t->overflow; d++) {
    l->shards[d] *= s->atom[atom].size;
    l->len[d]++;
    for (int place = l->len[d] - 1; place >= 0; place--) { /* into every place among those already there */
      memmove(&l->atom[d][place + 1], &l->atom[d][place], (size_t)(l->len[d] - 1 - place));
      l->atom[d][place] = (uint8_t)atom;
      enumerate(t, l, atom + 1);
      memmove(&l->atom[d][place], &l->atom[d][place + 1], (size_t)(l->len[d] - 1 - place));
    }
    l->len[d]--;
    l->shards[d] /= s->atom[atom].size;
  }
  l->used &= ~(1u << atom);
}

/* How two lists of a dimension differ: the longer one has more at its end, or they are not alike. */
typedef enum change { SAME, APPENDED, DROPPED, OTHER } change;

static change compare_dim(const rs_lists *a, const rs_lists *b, int d) {
  int n = a->len[d] < b->len[d] ? a->len[d] : b->len[d];
  if (memcmp(a->atom[d], b->atom[d], (size_t)n) != 0) return OTHER;
  return a->len[d] == b->len[d] ? SAME : a->len[d] < b->len[d] ? APPENDED : DROPPED;
}

typedef struct difference {
  int appended, dropped; /* dimensions, or -1 */
  bool other;
} difference;

static difference compare(const rs_lists *a, const rs_lists *b, int rank) {
  difference diff = {-1, -1, false};
  for (int d = 0; d < rank && !diff.other; d++) {
    switch (compare_dim(a, b, d)) {
      case SAME:
        break;
      case APPENDED:
        diff.other = diff.appended >= 0;
        diff.appended = d;
        break;
      case DROPPED:
        diff.other = diff.dropped >= 0;
        diff.dropped = d;
        break;
      case OTHER:
        diff.other = true;
    }
  }
  return diff;
}

static bool nests(const table *t, const rs_lists *shorter, const rs_lists *longer, int dim) {
  return rs_cuts_nest(t->q.space.dims[dim], shorter->shards[dim], longer->shards[dim] / shorter->shards[dim]);
}

static unsigned set_of(const uint8_t *atoms, int n) {
  unsigned set = 0;
  for (int i = 0; i < n; i++) set |= 1u << atoms[i];
  return set;
}

static double appended_s(const table *t, const rs_lists *a, const rs_lists *b, int dim) {
  const uint8_t *atoms = &b->atom[dim][a->len[dim]];
  int n = b->len[dim] - a->len[dim];
  unsigned set = set_of(atoms, n);
  if (!nests(t, a, b, dim)) return HUGE_VAL;
  if (a->partial == b->partial && !(a->used & set)) {
    return rs_collective_s(&t->q, SW_COLL_ALL_SLICE, atoms, n, rs_local_bytes(&t->q, b->shards));
  }
  if (a->partial != (b->partial | set) || (b->partial & set)) return HUGE_VAL;
  return rs_collective_s(&t->q, SW_COLL_REDUCE_SCATTER, atoms, n, rs_local_bytes(&t->q, a->shards));
}

static double dropped_s(const table *t, const rs_lists *a, const rs_lists *b, int dim) {
  const uint8_t *atoms = &a->atom[dim][b->len[dim]];
  int n = a->len[dim] - b->len[dim];
  if (!nests(t, b, a, dim) || a->partial != b->partial || (b->used & set_of(atoms, n))) return HUGE_VAL;
  return rs_collective_s(&t->q, SW_COLL_ALL_GATHER, atoms, n, rs_local_bytes(&t->q, b->shards));
}

static double moved_s(const table *t, const rs_lists *a, const rs_lists *b, difference diff) {
  const uint8_t *atoms = &a->atom[diff.dropped][b->len[diff.dropped]];
  int n = a->len[diff.dropped] - b->len[diff.dropped];
  bool same = n == b->len[diff.appended] - a->len[diff.appended] && a->partial == b->partial &&
              memcmp(atoms, &b->atom[diff.appended][a->len[diff.appended]], (size_t)n) == 0;
  if (!same || !nests(t, b, a, diff.dropped) || !nests(t, a, b, diff.appended)) return HUGE_VAL;
  double before = rs_local_bytes(&t->q, a->shards), after = rs_local_bytes(&t->q, b->shards);
  return rs_collective_s(&t->q, SW_COLL_ALL_TO_ALL, atoms, n, after > before ? after : before);
}

/* Several lists, or another order: one all_to_all_dims where each list only loses or only gains, and blocks are even.
 */
static double together_s(const table *t, const rs_lists *a, const rs_lists *b) {
  unsigned moved = 0;
  if (a->used != b->used || a->partial != b->partial) return HUGE_VAL;
  for (int d = 0; d < t->q.space.rank; d++) {
    change c = compare_dim(a, b, d);
    if (c == SAME) continue;
    int64_t finer = c == DROPPED ? a->shards[d] : b->shards[d];
    if (c == OTHER || t->q.space.dims[d] % finer != 0) return HUGE_VAL;
    if (c == DROPPED) moved |= set_of(&a->atom[d][b->len[d]], a->len[d] - b->len[d]);
  }
  return rs_collective_over_s(&t->q, SW_COLL_ALL_TO_ALL, moved, rs_local_bytes(&t->q, a->shards));
}

/* Lists equal: only what is partial differs. */
static double partial_s(const table *t, const rs_lists *a, const rs_lists *b) {
  unsigned gone = a->partial & ~b->partial, made = b->partial & ~a->partial;
  double bytes = rs_local_bytes(&t->q, a->shards);
  if (gone && made) return HUGE_VAL;
  if (gone) return rs_collective_over_s(&t->q, SW_COLL_ALL_REDUCE, gone, bytes);
  bool can_make = t->q.kind != SW_REDUCE_AVERAGE && t->q.kind != SW_REDUCE_GENERIC;
  return can_make ? rs_collective_over_s(&t->q, SW_COLL_TO_PARTIAL, made, bytes) : HUGE_VAL;
}

/* The one collective from a state to another, else the exchange. */
static double edge_s(const table *t, int from, int to) {
  const rs_lists *a = &t->lists[from], *b = &t->lists[to];
  difference diff = compare(a, b, t->q.space.rank);
  double price = HUGE_VAL;
  if (!diff.other) {
    bool appended = diff.appended >= 0, dropped = diff.dropped >= 0;
    if (appended && dropped) price = moved_s(t, a, b, diff);
    if (appended && !dropped) price = appended_s(t, a, b, diff.appended);
    if (!appended && dropped) price = dropped_s(t, a, b, diff.dropped);
    if (!appended && !dropped) price = partial_s(t, a, b);
  }
  if (a->partial != b->partial) return price;
  if (isinf(price)) price = together_s(t, a, b);
  if (!isinf(price) && !rs_exchange_beats(&t->q, a->shards, b->shards, 0, price)) return price;
  double exchange = rs_exchange_s(&t->q, &t->state[from], &t->state[to]);
  return isinf(price) || rs_exchange_beats(&t->q, a->shards, b->shards, exchange, price) ? exchange : price;
}

static void relax_all(table *t) {
  for (int k = 0; k < t->n; k++) {
    const double *over = t->cost + (ptrdiff_t)k * t->n;
    for (int i = 0; i < t->n; i++) {
      double *row = t->cost + (ptrdiff_t)i * t->n, first = row[k];
      if (isinf(first)) continue;
      for (int j = 0; j < t->n; j++) {
        double sum = first + over[j];
        row[j] = sum < row[j] ? sum : row[j];
      }
    }
  }
}

/* One kind of partial at most, nothing opaque, few states. */
static sw_rc build_states(table *t, const sw_machine *machine, const sw_sharding *all, int n, int rank,
                          const int64_t *dims, sw_dtype dtype, sw_diag *d) {
  t->overflow = true;
  t->q = (rs_query){.machine = machine, .dtype = dtype};
  for (int i = 0; i < n; i++) {
    if (all[i].offsets || all[i].halos) return SW_OK;
    if (all[i].n_partial == 0) continue;
    if (t->may_be_partial && t->q.kind != (sw_reduction)all[i].partial_kind) return SW_OK;
    t->may_be_partial = true;
    t->q.kind = (sw_reduction)all[i].partial_kind;
  }
  if (!rs_space_init_all(&t->q.space, sw_machine_mesh(machine), rank, dims, all, n)) return SW_OK;
  SW_MEM_NEW(t->state, MAX_STATES, d);
  SW_MEM_NEW(t->lists, MAX_STATES, d);
  t->overflow = false;
  rs_lists none;
  rs_state unused = rs_state_of(&t->q.space, &(sw_sharding){.rank = (uint8_t)rank});
  rs_lists_of(&t->q.space, &unused, &none);
  enumerate(t, &none, 0);
  return SW_OK;
}

static sw_rc price_states(table *t, sw_diag *d) {
  SW_MEM_NEW(t->cost, (size_t)t->n * (size_t)t->n, d);
  for (int i = 0; i < t->n; i++) {
    for (int j = 0; j < t->n; j++) t->cost[i * t->n + j] = i == j ? 0 : edge_s(t, i, j);
  }
  relax_all(t);
  return SW_OK;
}

static sw_rc pick(const table *t, const sw_sharding *all, int n, double *out, sw_diag *d) {
  int *at;
  SW_MEM_NEW(at, n, d);
  for (int i = 0; i < n; i++) {
    rs_state state = rs_state_of(&t->q.space, &all[i]);
    while (memcmp(&t->state[at[i]], &state, sizeof state) != 0) at[i]++;
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) out[i * n + j] = t->cost[at[i] * t->n + at[j]];
  }
  sw_mem_free(at);
  return SW_OK;
}

sw_rc sw_route_table(const sw_machine *machine, const sw_sharding *shardings, int n, int rank, const int64_t *dims,
                     sw_dtype dtype, sw_arena *arena, const double **cost_s, sw_diag *d) {
  sw_sharding *all;
  double *out;
  SW_ARENA_NEW(out, arena, (size_t)n * (size_t)n, d);
  SW_MEM_NEW(all, n, d);
  for (int i = 0; i < n; i++) {
    all[i] = shardings[i];
    sw_sharding_normalise(sw_machine_mesh(machine), &all[i]);
  }
  table t = {0};
  sw_rc rc = build_states(&t, machine, all, n, rank, dims, dtype, d);
  if (!rc && !t.overflow) {
    rc = price_states(&t, d);
    if (!rc) rc = pick(&t, all, n, out, d);
  }
  for (int i = 0; i < n && !rc && t.overflow; i++) {
    for (int j = 0; j < n; j++) {
      out[i * n + j] = sw_route_cost_s(&(sw_reshard){machine, &shardings[i], &shardings[j], rank, dims, dtype, {0}});
    }
  }
  sw_mem_free(t.state);
  sw_mem_free(t.lists);
  sw_mem_free(t.cost);
  sw_mem_free(all);
  *cost_s = out;
  return rc;
}
