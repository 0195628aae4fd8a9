/* Checks of a call, the copy that some calls in place need, and the ops that need nobody else:
 *
 *   all_slice dim=0 of [a b c d] over 2 devices: [a b] on the first, [c d] on the second
 */
#include "comm/call.h"

#include <string.h>

#include "comm/portion.h"

sw_rc sw_call_check(const sw_mesh *m, int64_t device, const sw_comm_call *call, sw_diag *d) {
  const sw_collective *c = call->coll;
  int rank = call->in ? call->in->rank : call->out ? call->out->rank : 0;
  SW_TRY(sw_collective_verify(m, c, rank, d));
  if (!sw_collective_members(c, device))
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: device %lld is in no group", sw_coll_text(c->op), (long long)device);
  bool rooted = sw_coll_flags(c->op) & SW_COLL_USES_ROOT;
  bool is_root = !rooted || sw_collective_place(m, c, device) == sw_collective_root(c);
  SW_TRY(sw_collective_check_buffers(m, c, is_root, call->in, call->out, d));
  bool generic = (sw_coll_flags(c->op) & SW_COLL_USES_REDUCTION) && c->reduction == SW_REDUCE_GENERIC;
  if (generic && !call->generic)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: a generic reduction needs its combiner", sw_coll_text(c->op));
  return SW_OK;
}

sw_rc sw_call_stage(const sw_comm_call *call, sw_room *room, sw_buffer *staged, sw_diag *d) {
  int64_t bytes = 0;
  (void)sw_buffer_bytes(call->in, &bytes); /* checked before */
  if (bytes > room->bytes) {
    sw_mem_free(room->data);
    *room = (sw_room){sw_mem_alloc((size_t)bytes, 1, d), bytes};
    if (!room->data) return room->bytes = 0, SW_E_RESOURCE;
  }
  *staged = *call->in;
  staged->data = room->data;
  if (bytes > 0) memcpy(staged->data, call->in->data, (size_t)bytes);
  return SW_OK;
}

/* A group in which every member is this device. */
sw_rc sw_call_run_local(const sw_mesh *m, int64_t device, const sw_comm_call *call, sw_diag *d) {
  const sw_collective *c = call->coll;
  int64_t index = sw_collective_place(m, c, device), valid[SW_MAX_RANK];
  sw_member me = {.call = *call, .device = device};
  sw_room room = {0};
  sw_buffer staged;
  if (!sw_portion_in_place(call, index)) {
    SW_TRY(sw_call_stage(call, &room, &staged, d));
    me.call.in = &staged;
  }
  sw_view view = {m, c, sw_collective_members(c, device), &me, 0};
  sw_rc rc = sw_portion_run_local(&view, index, d);
  sw_moves_valid(&view, index, valid);
  if (!rc) memcpy(call->out->valid, valid, sizeof valid);
  sw_mem_free(room.data);
  return rc;
}

sw_rc sw_call_receive(int64_t device, const sw_comm_call *call, const sw_sent *sent, int64_t *bytes, sw_diag *d) {
  sw_buffer *out = call->out;
  bool same = out->dtype == sent->buffer.dtype && out->rank == sent->buffer.rank;
  for (int i = 0; same && i < out->rank; i++) same = out->dims[i] == sent->buffer.dims[i];
  if (!same)
    return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE,
                   "recv mismatch: device %lld at position %lld expects another dtype or dims than device %lld sent at "
                   "position %lld",
                   (long long)device, (long long)call->where, (long long)sent->from, (long long)sent->where);
  *bytes = 0;
  (void)sw_buffer_bytes(out, bytes);
  if (*bytes) memcpy(out->data, sent->buffer.data, (size_t)*bytes);
  memcpy(out->valid, sent->buffer.valid, sizeof out->valid);
  if (sent->from == device) *bytes = 0;
  return SW_OK;
}

sw_rc sw_call_fail_rivals(int64_t device, const sw_comm_call *call, int64_t first, int64_t other, sw_diag *d) {
  return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE,
                 "recv without a source: at position %lld of device %lld, devices %lld and %lld have both sent; "
                 "expected one sender",
                 (long long)call->where, (long long)device, (long long)first, (long long)other);
}

sw_rc sw_call_fail_unread(int64_t device, int64_t from, int64_t where, sw_diag *d) {
  return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE,
                 "send mismatch: device %lld has ended its program and not received what device %lld sent at position "
                 "%lld",
                 (long long)device, (long long)from, (long long)where);
}
