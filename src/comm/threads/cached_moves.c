/* What small calls move, kept for when they are made again.
 *
 *   all_gather of 8 bytes over 2, member 1:  copy 8 from 0 at 0 to 0;  copy 8 from 1 at 0 to 8
 *   all_reduce of 2 elements:                reduce 2 from all at 0 to 0
 */
#include "comm/threads/cached_moves.h"

#include <string.h>

#include "comm/comm_reduce.h"
#include "comm/rows.h"

typedef struct builder {
  const sw_view *v;
  sw_cached_moves *r;
} builder;

static sw_rc add_box(void *user, const sw_transfer *m, sw_diag *d) {
  const builder *b = user;
  const sw_comm_call *call = &sw_view_member(b->v, 0)->call;
  int64_t unit = m->from == SW_FROM_ALL ? 1 : sw_dtype_bytes(call->out->dtype);
  (void)d;
  sw_rows rows;
  sw_rows_init(&rows, call->in->rank, m->extent, call->in->dims, m->src_at, call->out->dims, m->dst_at);
  while (b->r->state == SW_CACHED_MOVES_KNOWN && sw_rows_next(&rows)) {
    if (b->r->n == SW_CACHED_MOVES_TRANSFERS) b->r->state = SW_CACHED_MOVES_TOO_LONG;
    if (b->r->n < SW_CACHED_MOVES_TRANSFERS)
      b->r->step[b->r->n++] = (sw_short_transfer){(int32_t)m->from, (int32_t)(rows.a * unit), (int32_t)(rows.b * unit),
                                                  (int32_t)(rows.len * unit)};
  }
  return SW_OK;
}

void sw_cached_moves_make(const sw_view *v, int64_t i, int64_t bytes, sw_cached_moves *r) {
  *r = (sw_cached_moves){.state = SW_CACHED_MOVES_KNOWN, .defined = sw_moves_defined(v, i), .bytes = bytes};
  sw_moves_valid(v, i, r->valid);
  if (sw_moves_to(v, i, add_box, &(builder){v, r}, NULL)) r->state = SW_CACHED_MOVES_TOO_LONG;
}

void sw_cached_moves_run(const sw_cached_moves *r, const sw_comm_call *call, int64_t n, const void *const *src) {
  sw_buffer *out = call->out;
  if (!out) return;
  for (int k = 0; k < r->n; k++) {
    const sw_short_transfer *s = &r->step[k];
    if (s->from != SW_FROM_ALL) {
      sw_copy_run((char *)out->data + s->dst, (const char *)src[s->from] + s->src, (size_t)s->len);
      continue;
    }
    sw_reducer reducer = {call->coll->reduction, call->in->dtype, out->dtype, call->generic, false};
    sw_reduce_run(&reducer, n, src, s->src, 1, &out->data, s->dst, s->len);
  }
  sw_cached_moves_give_valid(r, out);
}
