/* States before the target: where a permute may lead, because few collectives lead from there to the target.
 *
 *   target [[x],[]]     one all_gather before it [[x,y],[]], [[x],[y]]     one all_to_all before it [[],[x]]
 */
#include <string.h>

#include "reshard/moves.h"

static int gathers_before(const rs_query *q, const rs_lists *t, rs_state *out, int n) {
  for (int d = 0; d < q->space.rank; d++) {
    for (uint8_t a = 0; a < q->space.n && n < RS_MAX_NEAR; a++) {
      if ((t->used >> a & 1u) || !rs_cuts_nest(q->space.dims[d], t->shards[d], q->space.atom[a].size)) continue;
      rs_lists l = *t;
      rs_push(q, &l, d, &a, 1);
      out[n++] = rs_state_of_lists(&q->space, &l);
    }
  }
  return n;
}

static bool moved_back(const rs_query *q, const rs_lists *t, int from, int to, int count, rs_state *out) {
  const uint8_t *atoms = &t->atom[from][t->len[from] - count];
  int64_t size = rs_size_of(q, atoms, count);
  if (!rs_cuts_nest(q->space.dims[from], t->shards[from] / size, size)) return false;
  if (!rs_cuts_nest(q->space.dims[to], t->shards[to], size)) return false;
  rs_lists l = *t;
  rs_pop(q, &l, from, count);
  rs_push(q, &l, to, atoms, count);
  *out = rs_state_of_lists(&q->space, &l);
  return true;
}

static int states_before(const rs_query *q, const rs_state *state, rs_state *out, int n) {
  rs_lists t;
  rs_lists_of(&q->space, state, &t);
  n = gathers_before(q, &t, out, n);
  for (int d = 0; d < q->space.rank; d++) {
    for (int count = 1; count <= t.len[d]; count++) {
      for (int e = 0; e < q->space.rank && n < RS_MAX_NEAR; e++) {
        if (e != d) n += moved_back(q, &t, d, e, count, &out[n]);
      }
    }
  }
  return n;
}

int rs_states_before(const rs_query *q, rs_state *out) {
  int n = states_before(q, &q->target, out, 0);
  for (int steps = 2, i = 0; steps <= 3 && q->no_exchange; steps++) {
    for (const int last = n; i < last; i++) n = states_before(q, &out[i], out, n);
  }
  return n;
}

/* Atoms that the target leaves, behind what it has, until every dimension is cut as often as wanted. */
static bool fill_up(const rs_query *q, rs_lists *l, const int64_t *shards, int dim) {
  while (dim < q->space.rank && l->shards[dim] == shards[dim]) dim++;
  if (dim == q->space.rank) return true;
  if (shards[dim] % l->shards[dim] != 0) return false;
  for (uint8_t a = 0; a < q->space.n; a++) {
    if ((l->used >> a & 1u) || shards[dim] / l->shards[dim] % q->space.atom[a].size != 0) continue;
    rs_push(q, l, dim, &a, 1);
    if (fill_up(q, l, shards, dim)) return true;
    rs_pop(q, l, dim, 1);
  }
  return false;
}

bool rs_state_to_gather(const rs_query *q, const int64_t *shards, rs_state *out) {
  rs_lists l;
  rs_lists_of(&q->space, &q->target, &l);
  for (int d = 0; d < q->space.rank; d++) {
    if (q->space.dims[d] % shards[d] != 0) return false;
  }
  if (!fill_up(q, &l, shards, 0)) return false;
  *out = rs_state_of_lists(&q->space, &l);
  return true;
}
