/* Remembering the last call of a seat, so that a loop over one collective is checked once.
 *
 *   all_reduce f32 4 -> f32 4 at x, y; then the same at x2, y2: nothing to check, and the signature is known
 */
#include "comm/threads.h"

static bool same_shape(const sw_buffer *a, const sw_buffer *b) {
  if (a->dtype != b->dtype || a->rank != b->rank || !b->data) return false;
  for (int i = 0; i < a->rank; i++)
    if (a->dims[i] != b->dims[i] || a->valid[i] != b->valid[i]) return false;
  return true;
}

/* The result's valid extents are its own affair. */
static bool same_result(const sw_buffer *a, const sw_buffer *b) {
  if (a->dtype != b->dtype || a->rank != b->rank || !b->data) return false;
  for (int i = 0; i < a->rank; i++)
    if (a->dims[i] != b->dims[i]) return false;
  return true;
}

/* Of collectives without tilings. */
static bool same_collective(const sw_collective *a, const sw_collective *b) {
  bool same = a->op == b->op && a->n_axes == b->n_axes && a->reduction == b->reduction && a->dim == b->dim &&
              a->concat_dim == b->concat_dim && a->n_root == b->n_root && a->offset == b->offset &&
              a->rotate == b->rotate;
  for (int i = 0; same && i < a->n_axes; i++) same = sw_axis_ref_equal(a->axes[i], b->axes[i]);
  for (int i = 0; same && i < a->n_root; i++) same = a->root[i] == b->root[i];
  return same;
}

bool sw_memo_holds(const sw_memo *m, const sw_comm_call *call) {
  if (!m->set || m->has_in != (call->in != NULL) || m->has_out != (call->out != NULL)) return false;
  if (!same_collective(&m->coll, call->coll)) return false;
  if (call->in && !same_shape(&m->in, call->in)) return false;
  return !call->out || same_result(&m->out, call->out);
}

void sw_memo_set(sw_memo *m, const sw_comm_call *call, uint64_t signature) {
  bool tiled = sw_coll_flags(call->coll->op) & (SW_COLL_USES_TILES | SW_COLL_USES_HALOS);
  bool generic = (sw_coll_flags(call->coll->op) & SW_COLL_USES_REDUCTION) && call->coll->reduction == SW_REDUCE_GENERIC;
  m->set = !tiled && !generic;
  if (!m->set) return;
  m->coll = *call->coll;
  m->has_in = call->in != NULL;
  m->has_out = call->out != NULL;
  if (call->in) m->in = *call->in;
  if (call->out) m->out = *call->out;
  m->signature = signature;
}
