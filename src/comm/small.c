/* Small calls: every member's input lies in its slot, and each makes its own result from the slots as soon as all have
 * come alike. Nobody waits for another's work, so a call costs one exchange of cache lines.
 *
 *   all_gather of 8 bytes over 2: slots [a] [b]; both members read both slots and write [a b]
 */
#include <string.h>

#include "comm/rows.h"
#include "comm/threads.h"

/* The reading of all members together, above which doing the work once is better. */
enum { READ_BYTES = 4096 };

/* Not scatter, whose root alone knows how much it brings; nor what has tilings. */
static const bool kSmall[SW_COLL_COUNT] = {
    [SW_COLL_ALL_GATHER] = true, [SW_COLL_ALL_REDUCE] = true, [SW_COLL_ALL_TO_ALL] = true,
    [SW_COLL_BROADCAST] = true,  [SW_COLL_GATHER] = true,     [SW_COLL_REDUCE] = true,
    [SW_COLL_SHIFT] = true,      [SW_COLL_BARRIER] = true,    [SW_COLL_REDUCE_SCATTER] = true,
};

/* Follows from what the members agree on. */
bool sw_small_applies(const sw_comm_call *call, int64_t n) {
  if (!kSmall[call->coll->op] || n > SW_SMALL_MEMBERS) return false;
  const sw_buffer *b = call->coll->op == SW_COLL_BROADCAST ? call->out : call->in;
  int64_t bytes = 0;
  if (b && call->coll->op != SW_COLL_BARRIER && !sw_buffer_bytes(b, &bytes)) return false;
  return bytes <= SW_SMALL_BYTES && bytes * n <= READ_BYTES;
}

static bool is_whole(const sw_buffer *b) {
  for (int i = 0; i < b->rank; i++)
    if (b->valid[i] != b->dims[i]) return false;
  return true;
}

void sw_small_put(const sw_comm_call *call, sw_slot *slot) {
  int64_t bytes = 0;
  slot->staged.data = NULL;
  slot->whole = true;
  /* Of a broadcast only the root's input counts, and others' need not be there. */
  bool brings = call->in && call->coll->op != SW_COLL_BARRIER && sw_buffer_bytes(call->in, &bytes);
  if (!brings || bytes > SW_SMALL_BYTES) return;
  if (bytes) memcpy(slot->small, call->in->data, (size_t)bytes);
  slot->whole = is_whole(call->in);
  if (!slot->whole) slot->small_in = *call->in;
}

/* What the members brought, as this device tells it: their calls agree with its own, but for valid extents. */
typedef struct cast {
  sw_member member[SW_SMALL_MEMBERS];
  sw_buffer in[SW_SMALL_MEMBERS];
  const void *src[SW_SMALL_MEMBERS];
  void *dst[SW_SMALL_MEMBERS];
} cast;

/* One member stands for all when all inputs are whole. */
static sw_view view_of(const sw_comm_request *r, const sw_mesh *mesh, const sw_slot *slots, cast *c) {
  int64_t n = r->seat->group->n;
  bool whole = true;
  for (int64_t j = 0; j < n; j++) {
    c->src[j] = slots[j].small;
    c->dst[j] = NULL;
    whole = whole && slots[j].whole;
  }
  for (int64_t j = 0; j < (whole ? 1 : n); j++) {
    c->member[j] = (sw_member){.call = r->call, .device = r->device};
    c->in[j] = r->call.coll->op == SW_COLL_BROADCAST ? *r->call.out : *r->call.in;
    memcpy(c->in[j].valid, slots[j].whole ? c->in[j].dims : slots[j].small_in.valid, sizeof c->in[j].valid);
    c->member[j].call.in = &c->in[j];
  }
  return (sw_view){mesh, r->call.coll, n, c->member, whole ? 0 : sizeof c->member[0]};
}

sw_rc sw_small_make(sw_threads *t, const sw_comm_request *r, const sw_slot *slots, sw_diag *d) {
  sw_buffer *out = r->call.out;
  if (r->call.coll->op == SW_COLL_BARRIER) return SW_OK;
  int64_t index = r->seat->index, bytes;
  cast c;
  sw_view view = view_of(r, &t->base.mesh, slots, &c);
  c.dst[index] = out ? out->data : NULL;
  SW_TRY(sw_share_run_own(&(sw_job){.view = view, .src = c.src, .dst = c.dst}, index, &bytes, d));
  if (out) {
    sw_moves_valid(&view, index, out->valid);
    if (!sw_moves_defined(&view, index)) sw_threads_leave_undefined(t, out);
  }
  sw_count(&t->device[r->device].stat_bytes[r->call.coll->op], bytes);
  return SW_OK;
}
