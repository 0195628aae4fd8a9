/* Prices of moves. Sizes are those that the machine asks for: the gathered result, the whole input of a
 * reduce_scatter, the buffer otherwise (hw.h). */
#include "reshard/price.h"

#include <math.h>

#include "base/checked.h"

double rs_local_bytes(const rs_query *q, const int64_t *shards) {
  double bytes = sw_dtype_bytes(q->dtype);
  for (int d = 0; d < q->space.rank; d++) {
    bytes *= (double)(shards[d] == 1 ? q->space.dims[d] : sw_ceil_div(q->space.dims[d], shards[d]));
  }
  return bytes;
}

int rs_refs_of(const rs_space *s, const uint8_t *atoms, int n, sw_axis_ref *refs) {
  int k = 0;
  for (int i = 0; i < n; i++) {
    sw_axis_ref r = s->atom[atoms[i]];
    if (k > 0 && refs[k - 1].axis == r.axis && refs[k - 1].pre * refs[k - 1].size == r.pre) {
      refs[k - 1].size *= r.size;
    } else {
      refs[k++] = r;
    }
  }
  return k;
}

int rs_refs_of_set(const rs_space *s, unsigned atoms, sw_axis_ref *refs) {
  uint8_t list[RS_MAX_ATOMS];
  int n = 0;
  for (int i = 0; i < s->n; i++) {
    if (atoms >> i & 1u) list[n++] = (uint8_t)i;
  }
  return rs_refs_of(s, list, n, refs);
}

double rs_collective_s(const rs_query *q, sw_coll_op op, const uint8_t *atoms, int n, double bytes) {
  sw_axis_ref refs[RS_MAX_ATOMS];
  int k = rs_refs_of(&q->space, atoms, n, refs);
  return sw_machine_collective_s(q->machine, op, refs, k, bytes);
}

double rs_collective_over_s(const rs_query *q, sw_coll_op op, unsigned atoms, double bytes) {
  sw_axis_ref refs[RS_MAX_ATOMS];
  int k = rs_refs_of_set(&q->space, atoms, refs);
  return sw_machine_collective_s(q->machine, op, refs, k, bytes);
}

void rs_tiling_of(const rs_query *q, const rs_state *state, const sw_sharding *opaque, sw_tiling *out) {
  sw_sharding s = opaque ? *opaque : rs_sharding_of(&q->space, state, q->kind);
  sw_tiling_of(&s, q->space.rank, q->space.dims, out);
  if (opaque && opaque == q->opaque_target) out->other = q->target_mesh;
}

double rs_exchange_s(const rs_query *q, const rs_state *from, const rs_state *to) {
  sw_tiling src, dst;
  rs_tiling_of(q, from, from ? NULL : q->opaque_source, &src);
  rs_tiling_of(q, to, to ? NULL : q->opaque_target, &dst);
  return sw_machine_exchange_s(q->machine, &src, &dst, sw_dtype_bytes(q->dtype));
}

bool rs_exchange_beats(const rs_query *q, const int64_t *shards_from, const int64_t *shards_to, double exchange_s,
                       double collective_s) {
  bool even = true;
  for (int d = 0; d < q->space.rank; d++) {
    even = even && q->space.dims[d] % shards_from[d] == 0 && q->space.dims[d] % shards_to[d] == 0;
  }
  return !even && exchange_s * 1.1 < collective_s;
}
