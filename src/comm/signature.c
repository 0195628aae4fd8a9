/* Signatures: the fields of a call that all members of a group share, as numbers.
 *
 *   device 0: all_reduce sum f32 4x8    device 1: all_reduce sum f32 4x9   ->  they differ in the dims of the input
 */
#include "comm/signature.h"

#include <string.h>

#include "base/hash.h"

#define FIELDS(X)                       \
  X(OP, "the op")                       \
  X(REDUCTION, "the reduction")         \
  X(DIM, "the dimension")               \
  X(CONCAT, "the concat dimension")     \
  X(ROOT, "the root")                   \
  X(OFFSET, "the offset")               \
  X(ROTATE, "rotate")                   \
  X(TILES, "the tilings")               \
  X(FILL, "the fill value")             \
  X(FROM, "the dtype of the input")     \
  X(TO, "the dtype of the result")      \
  X(RANK, "the rank")                   \
  X(IN_DIMS, "the dims of the input")   \
  X(OUT_DIMS, "the dims of the result") \
  X(VALID, "the valid extents of the input")

enum {
#define SW_X(id, text) F_##id,
  FIELDS(SW_X)
#undef SW_X
      F_COUNT
};

static const char *const kNames[F_COUNT] = {
#define SW_X(id, text) [F_##id] = text,
    FIELDS(SW_X)
#undef SW_X
};

static uint64_t mix_word(uint64_t h, uint64_t x) {
  h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15);
  return h ^ (h >> 29);
}

static uint64_t mix_all(uint64_t h, const int64_t *v, int n) {
  for (int i = 0; i < n; i++) h = mix_word(h, (uint64_t)v[i]);
  return h;
}

static uint64_t mix_tiling(uint64_t h, const sw_tiling *t) {
  for (int i = 0; i < t->rank; i++) {
    const sw_tile_dim *d = &t->dim[i];
    h = mix_all(h, (const int64_t[]){d->n_refs, d->size, d->base, d->step, d->len}, 5);
    for (int r = 0; r < d->n_refs; r++) {
      sw_axis_ref ref = t->refs[d->first_ref + r];
      h = mix_all(h, (const int64_t[]){ref.axis, ref.pre, ref.size}, 3);
    }
    if (d->starts) h = mix_all(h, d->starts, (int)sw_axis_refs_size(t->refs + d->first_ref, d->n_refs) + 1);
  }
  return h;
}

static void op_fields(const sw_collective *c, uint64_t *f) {
  unsigned flags = sw_coll_flags(c->op);
  f[F_OP] = (uint64_t)c->op + 1;
  if (flags & SW_COLL_USES_REDUCTION) f[F_REDUCTION] = (uint64_t)c->reduction;
  if (flags & SW_COLL_USES_DIM) f[F_DIM] = (uint64_t)c->dim;
  if (flags & SW_COLL_USES_CONCAT) f[F_CONCAT] = (uint64_t)c->concat_dim;
  if (flags & SW_COLL_USES_ROOT) f[F_ROOT] = (uint64_t)sw_collective_root(c);
  if (flags & SW_COLL_USES_OFFSET) {
    f[F_OFFSET] = (uint64_t)c->offset;
    f[F_ROTATE] = c->rotate;
  }
  if (flags & SW_COLL_USES_TILES) {
    f[F_TILES] = mix_tiling(1, c->src);
    f[F_FILL] = c->fill_outside;
    if (c->fill_outside) f[F_FILL] = sw_hash_bytes(&c->fill, sizeof c->fill, 1);
  }
  if (flags & SW_COLL_TILED) f[F_TILES] = mix_tiling(f[F_TILES], c->dst);
}

/* Of what only the root has nothing counts; as the root's own pair was checked, the other side says all. */
static void fields(const sw_comm_call *call, uint64_t *f) {
  const sw_collective *c = call->coll;
  const unsigned flags = sw_coll_flags(c->op);
  const sw_buffer *in = flags & (SW_COLL_NO_INPUT | SW_COLL_FROM_ROOT) ? NULL : call->in;
  const sw_buffer *out = flags & (SW_COLL_NO_RESULT | SW_COLL_TO_ROOT) ? NULL : call->out;
  memset(f, 0, F_COUNT * sizeof *f);
  op_fields(c, f);
  if (in) {
    f[F_FROM] = (uint64_t)in->dtype;
    f[F_RANK] = (uint64_t)in->rank;
    f[F_IN_DIMS] = mix_all(1, in->dims, in->rank);
    for (int i = 0; i < in->rank; i++)
      if (sw_moves_extent_agrees(c, i)) f[F_VALID] = mix_word(f[F_VALID], (uint64_t)in->valid[i]);
  }
  if (out) {
    f[F_TO] = (uint64_t)out->dtype;
    f[F_RANK] = (uint64_t)out->rank;
    f[F_OUT_DIMS] = mix_all(1, out->dims, out->rank);
  }
}

uint64_t sw_signature(const sw_comm_call *call) {
  uint64_t f[F_COUNT], h = 0;
  fields(call, f);
  for (int i = 0; i < F_COUNT; i++) h = mix_word(h, f[i]);
  return h;
}

const char *sw_signature_difference(const sw_comm_call *a, const sw_comm_call *b) {
  uint64_t fa[F_COUNT], fb[F_COUNT];
  fields(a, fa);
  fields(b, fb);
  for (int i = 0; i < F_COUNT; i++)
    if (fa[i] != fb[i]) return kNames[i];
  return a->where != b->where ? "the position" : NULL;
}

static void print_buffer(const sw_buffer *b, sw_text *out) {
  sw_text_printf(out, "%s%s", sw_dtype_text(b->dtype), b->rank ? " " : "");
  for (int i = 0; i < b->rank; i++) sw_text_printf(out, "%s%lld", i ? "x" : "", (long long)b->dims[i]);
}

void sw_call_print(const sw_mesh *m, const sw_comm_call *call, sw_text *out) {
  sw_collective_print(m, call->coll, out);
  if (call->in || call->out) sw_text_puts(out, ", ");
  if (call->in) print_buffer(call->in, out);
  if (call->out) sw_text_puts(out, call->in ? " -> " : "-> ");
  if (call->out) print_buffer(call->out, out);
}
