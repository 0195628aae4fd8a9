/* Small calls: every member's input lies in its slot, and each makes its own result from the slots as soon as those
 * that it needs are filled. Nobody waits for another's work, so a call costs one exchange of cache lines, and none for
 * who needs nobody.
 *
 *   all_gather of 8 bytes over 2: slots [a] [b]; both members read both slots and write [a b]
 *   scatter of 16 bytes over 2:   slots [a b] []; the root takes a and goes on, the other takes b
 */
#include <string.h>

#include "comm/rows.h"
#include "comm/threads/threads.h"

/* What a member reads, above which doing the work once is better: each all inputs, or as much as its own is; or the
 * root alone all, while the others go on. */
typedef enum reading { NEVER, READS_ALL, READS_PIECES, ROOT_READS_ALL } reading;

static const int64_t kReadBytes[] = {[READS_ALL] = 4096, [READS_PIECES] = 4096, [ROOT_READS_ALL] = 16384};

/* Not what has tilings. */
static const reading kSmall[SW_COLL_COUNT] = {
    [SW_COLL_ALL_GATHER] = READS_ALL,   [SW_COLL_ALL_REDUCE] = READS_ALL,  [SW_COLL_ALL_TO_ALL] = READS_PIECES,
    [SW_COLL_BROADCAST] = READS_PIECES, [SW_COLL_GATHER] = ROOT_READS_ALL, [SW_COLL_REDUCE] = ROOT_READS_ALL,
    [SW_COLL_SCATTER] = READS_PIECES,   [SW_COLL_SHIFT] = READS_PIECES,    [SW_COLL_REDUCE_SCATTER] = READS_PIECES,
    [SW_COLL_BARRIER] = READS_PIECES,
};

static bool is_from_root(sw_coll_op op) { return sw_coll_flags(op) & SW_COLL_FROM_ROOT; }

/* A root's input as the others know it: from their results. A scatter's is packed into blocks. */
static sw_buffer input_from_root(const sw_comm_call *call, int64_t n) {
  sw_buffer b = *call->out;
  if (call->coll->op == SW_COLL_SCATTER) b.dims[call->coll->dim] *= n;
  memcpy(b.valid, b.dims, sizeof b.valid);
  return b;
}

/* Follows from what the members agree on. */
bool sw_small_applies(const sw_comm_call *call, int64_t n, int64_t *bytes) {
  sw_coll_op op = call->coll->op;
  if (!kSmall[op] || n > SW_SMALL_MEMBERS) return false;
  const sw_buffer *b = is_from_root(op) ? call->out : call->in;
  *bytes = 0;
  if (b && op != SW_COLL_BARRIER && !sw_buffer_bytes(b, bytes)) return false;
  if (*bytes > SW_SMALL_BYTES) return false;
  if (op == SW_COLL_SCATTER) *bytes *= n;
  return *bytes <= SW_SMALL_BYTES && *bytes * (kSmall[op] == READS_PIECES ? 1 : n) <= kReadBytes[kSmall[op]];
}

static bool is_whole_buffer(const sw_buffer *b) {
  for (int i = 0; i < b->rank; i++)
    if (b->valid[i] != b->dims[i]) return false;
  return true;
}

/* What fits of `in` into `packed`, which may have other dims. */
static void pack_input(const sw_buffer *in, sw_buffer *packed, char *to) {
  static const int64_t kOrigin[SW_MAX_RANK];
  size_t size = (size_t)sw_dtype_bytes(in->dtype);
  for (int i = 0; i < in->rank; i++)
    if (in->valid[i] < packed->dims[i]) packed->valid[i] = in->valid[i];
  sw_rows rows;
  sw_rows_init(&rows, in->rank, packed->valid, in->dims, kOrigin, packed->dims, kOrigin);
  while (sw_rows_next(&rows))
    memcpy(to + (size_t)rows.b * size, (const char *)in->data + (size_t)rows.a * size, (size_t)rows.len * size);
}

static sw_arrival *arrival_of(const sw_comm_request *r, int64_t member) {
  return sw_arrival_at(r->rank->group, r->number, member);
}

/* Where a member's input lies. */
static char *small_input_of(const sw_comm_request *r, int64_t member) {
  return sw_small_at(r->rank->group, r->cached, r->number, member);
}

static void put_packed(const sw_comm_request *r, sw_comm_slot *slot, sw_arrival *f) {
  sw_buffer packed = input_from_root(&r->call, r->rank->group->n);
  pack_input(r->call.in, &packed, small_input_of(r, r->rank->index));
  f->whole = is_whole_buffer(&packed);
  if (!f->whole) slot->small_in = packed;
}

void sw_small_put(const sw_comm_request *r) {
  const sw_comm_call *call = &r->call;
  sw_coll_op op = call->coll->op;
  size_t bytes = (size_t)r->cached->small_bytes;
  sw_comm_slot *slot = &sw_rendezvous_of(r)->slots[r->rank->index];
  sw_arrival *f = arrival_of(r, r->rank->index);
  sw_thread_group *g = r->rank->group;
  *sw_posted_at(g, r->number, r->rank->index) = (sw_posted){r->cached, call->where};
  f->whole = true;
  /* Only the root's input of a broadcast or scatter counts; others' need not be there. */
  if (op == SW_COLL_BARRIER || (is_from_root(op) && !r->cached->feeds)) return;
  if (op == SW_COLL_SCATTER) {
    put_packed(r, slot, f);
    return;
  }
  f->whole = is_whole_buffer(call->in);
  if (!f->whole) slot->small_in = *call->in;
  if (bytes) memcpy(small_input_of(r, r->rank->index), call->in->data, bytes);
}

/* What the members brought, as this device tells it: their calls agree with its own, but for valid extents. */
typedef struct cast {
  sw_member member[SW_SMALL_MEMBERS];
  sw_buffer in[SW_SMALL_MEMBERS];
} cast;

static bool is_input_needed(const sw_comm_request *r, int64_t j) {
  return j == r->rank->index || (j >= r->cached->needs.first && j < r->cached->needs.end);
}

/* One member stands for all when all inputs that count are whole; others may not be there yet. */
static sw_view view_of(const sw_comm_request *r, const sw_mesh *mesh, bool whole, cast *c) {
  const sw_comm_slot *slots = sw_rendezvous_of(r)->slots;
  int64_t n = r->rank->group->n;
  sw_buffer own = is_from_root(r->call.coll->op) ? input_from_root(&r->call, n) : *r->call.in;
  if (!arrival_of(r, r->rank->index)->whole)
    own = slots[r->rank->index].small_in;
  else
    memcpy(own.valid, own.dims, sizeof own.valid);
  sw_buffer full = own;
  memcpy(full.valid, full.dims, sizeof full.valid);
  for (int64_t j = 0; j < (whole ? 1 : n); j++) {
    c->member[j] = (sw_member){.call = r->call, .device = r->device};
    c->in[j] = !is_input_needed(r, j) ? own : arrival_of(r, j)->whole ? full : slots[j].small_in;
    c->member[j].call.in = &c->in[j];
  }
  return (sw_view){mesh, r->call.coll, n, c->member, whole ? 0 : sizeof c->member[0]};
}

static bool all_whole(const sw_comm_request *r) {
  bool whole = arrival_of(r, r->rank->index)->whole;
  for (int64_t j = r->cached->needs.first; j < r->cached->needs.end; j++) whole = whole && arrival_of(r, j)->whole;
  return whole;
}

/* By the boxes of the collective; *bytes: received. */
static sw_rc make_small_output(sw_threads *t, const sw_comm_request *r, const void *const *src, bool whole,
                               int64_t *bytes, sw_diag *d) {
  sw_buffer *out = r->call.out;
  int64_t index = r->rank->index;
  void *dst[SW_SMALL_MEMBERS] = {NULL};
  bool gets = r->cached->has_out;
  dst[index] = gets ? out->data : NULL;
  cast c;
  sw_view view = view_of(r, &t->base.mesh, whole, &c);
  SW_TRY(sw_portion_run_own(&(sw_shared_call){.view = view, .src = src, .dst = dst}, index, bytes, d));
  if (gets) sw_moves_valid(&view, index, out->valid);
  if (gets && !sw_moves_defined(&view, index)) sw_threads_leave_undefined(t, out);
  if (whole && r->cached->again) sw_cached_moves_make(&view, index, *bytes, &r->cached->schedule);
  return SW_OK;
}

/* From now on the call takes the fast path, if nothing has to be done that it does not do: a root's input packed into
 * other dims, a result poisoned, delays. */
static void allow_fast_path(const sw_threads *t, const sw_comm_request *r) {
  const sw_comm_call *call = &r->call;
  sw_cached_call *cached = r->cached;
  sw_coll_op op = call->coll->op;
  bool brings = is_from_root(op) ? cached->feeds : true;
  int64_t bytes = 0;
  if (t->base.options.jitter_seed || (brings && !is_whole_buffer(call->in))) return;
  if (!cached->schedule.defined && call->out && !t->base.options.keep_undefined) return;
  if (brings && (!sw_buffer_bytes(call->in, &bytes) || bytes != cached->small_bytes)) return;
  cached->put_bytes = (size_t)bytes;
  cached->reduces = false;
  for (int k = 0; k < cached->schedule.n; k++)
    cached->reduces = cached->reduces || cached->schedule.step[k].from == SW_FROM_ALL;
  cached->fast_path = true;
}

sw_rc sw_small_make(sw_threads *t, const sw_comm_request *r, sw_diag *d) {
  if (r->call.coll->op == SW_COLL_BARRIER) return SW_OK;
  const sw_cached_moves *schedule = &r->cached->schedule;
  const void *src[SW_SMALL_MEMBERS];
  int64_t n = r->rank->group->n, bytes;
  bool whole = all_whole(r);
  for (int64_t j = 0; j < n; j++) src[j] = small_input_of(r, j);
  if (whole && schedule->state == SW_CACHED_MOVES_KNOWN) {
    bytes = schedule->bytes;
    sw_cached_moves_run(schedule, &r->call, n, src);
    if (!schedule->defined && r->call.out) sw_threads_leave_undefined(t, r->call.out);
    allow_fast_path(t, r);
  } else {
    SW_TRY(make_small_output(t, r, src, whole, &bytes, d));
  }
  sw_count(&t->device[r->device].stat_bytes[r->call.coll->op], bytes);
  return SW_OK;
}
