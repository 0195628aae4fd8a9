/* Remembering a rank's calls, so that a program that makes the same ones over and over has each checked once.
 *
 *   all_reduce f32 4 -> f32 4 at x, y; then the same at x2, y2: nothing to check, and the signature is known
 */
#include "comm/threads/threads.h"

static bool same_buffer_shape(const sw_buffer *a, const sw_buffer *b) {
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
  if (a->op != b->op || a->reduction != b->reduction || a->dim != b->dim) return false;
  if (a->concat_dim != b->concat_dim || a->n_root != b->n_root || a->offset != b->offset) return false;
  if (a->rotate != b->rotate || a->lists != b->lists || a->sources != b->sources) return false;
  if (!sw_axis_refs_equal(a->axes, a->n_axes, b->axes, b->n_axes)) return false;
  for (int i = 0; i < a->n_root; i++)
    if (a->root[i] != b->root[i]) return false;
  return true;
}

bool sw_cached_call_holds(const sw_cached_call *m, const sw_comm_call *call) {
  if (!m->holds || m->has_in != (call->in != NULL) || m->has_out != (call->out != NULL)) return false;
  if (!same_collective(&m->coll, call->coll)) return false;
  if (call->in && !same_buffer_shape(&m->in, call->in)) return false;
  return !call->out || same_result(&m->out, call->out);
}

static sw_cached_call *find_in(sw_rank *rank, const sw_comm_call *call) {
  for (int i = 0; i < SW_CACHED_CALLS && rank->cached_calls[i]; i++)
    if (sw_cached_call_holds(rank->cached_calls[i], call)) return rank->cached_calls[i];
  return NULL;
}

static sw_cached_call *use(sw_thread_device *dev, sw_cached_call *m) {
  dev->last_rank = m->rank;
  m->rank->last = m;
  m->used = m->rank->next;
  m->again = true;
  return m;
}

sw_cached_call *sw_cached_call_find(sw_thread_device *dev, const sw_comm_call *call) {
  sw_rank *last = dev->last_rank;
  if (!last || (sw_coll_flags(call->coll->op) & SW_COLL_TILED)) return NULL;
  if (last->last && sw_cached_call_holds(last->last, call)) return use(dev, last->last);
  for (size_t i = 0; i < dev->ranks.n; i++) {
    sw_cached_call *m = find_in(dev->ranks.at[i], call);
    if (m) return use(dev, m);
  }
  return NULL;
}

/* Is a result made of everybody's input? */
static bool asks_all(const sw_collective *c) {
  return c->op != SW_COLL_SHIFT && !(sw_coll_flags(c->op) & (SW_COLL_FROM_ROOT | SW_COLL_TO_ROOT));
}

/* Whose inputs a member's result is made of, besides its own. */
static sw_members needs_of(const sw_comm_call *call, int64_t n, int64_t index) {
  const sw_collective *c = call->coll;
  const bool to_root = sw_coll_flags(c->op) & SW_COLL_TO_ROOT;
  const int64_t from = c->op == SW_COLL_SHIFT ? sw_moves_shift_source(c, index) : sw_collective_root(c);
  if (asks_all(c) || (to_root && from == index)) return (sw_members){0, n};
  return to_root || from == index || from < 0 ? (sw_members){0, 0} : (sw_members){from, from + 1};
}

static bool feeds_one(const sw_comm_call *call, int64_t index) {
  const sw_collective *c = call->coll;
  const bool from_root = sw_coll_flags(c->op) & SW_COLL_FROM_ROOT;
  return c->op == SW_COLL_SHIFT || (from_root && sw_collective_root(c) == index);
}

/* A new one, or else the one used longest ago. Numbers wrap. */
static sw_rc take_entry(sw_rank *rank, sw_cached_call **out, sw_diag *d) {
  sw_cached_call **oldest = &rank->cached_calls[0];
  for (int i = 0; i < SW_CACHED_CALLS; i++) {
    if (!rank->cached_calls[i]) {
      SW_MEM_NEW(rank->cached_calls[i], 1, d);
      *out = rank->cached_calls[i];
      return SW_OK;
    }
    if (rank->next - rank->cached_calls[i]->used > rank->next - (*oldest)->used) oldest = &rank->cached_calls[i];
  }
  *out = *oldest;
  return SW_OK;
}

/* Where the inputs of a small call lie: in the arrivals if they fit, all in the line that others look at or none. */
static void choose_area(sw_cached_call *m) {
  const sw_thread_group *g = m->rank->group;
  size_t bytes = (size_t)m->small_bytes, at = offsetof(sw_arrival, near);
  if (at + bytes > SW_LINE) at = SW_LINE;
  bool near = at + bytes <= g->arrivals.item_bytes;
  m->small_in = near ? &g->arrivals : bytes <= g->mid.item_bytes ? &g->mid : &g->bulk;
  m->small_offset = near ? at : 0;
}

sw_rc sw_cached_call_make(sw_rank *rank, const sw_comm_call *call, sw_cached_call **out, sw_diag *d) {
  unsigned flags = sw_coll_flags(call->coll->op);
  bool tiled = flags & SW_COLL_TILED;
  bool generic = (flags & SW_COLL_USES_REDUCTION) && call->coll->reduction == SW_REDUCE_GENERIC;
  sw_cached_call *m;
  SW_TRY(take_entry(rank, &m, d));
  *out = rank->last = m;
  m->rank = rank;
  m->holds = !tiled && !generic;
  m->again = m->fast_path = false;
  m->schedule.state = SW_CACHED_MOVES_UNKNOWN;
  m->used = rank->next;
  m->small = rank->group->ended && sw_small_applies(call, rank->group->n, &m->small_bytes);
  choose_area(m);
  m->needs = needs_of(call, rank->group->n, rank->index);
  m->feeds = feeds_one(call, rank->index);
  m->meets = asks_all(call->coll);
  m->signature = sw_signature(call);
  m->coll = *call->coll;
  m->has_in = call->in != NULL;
  m->has_out = call->out != NULL;
  if (call->in) m->in = *call->in;
  if (call->out) m->out = *call->out;
  return SW_OK;
}

void sw_cached_call_give(sw_cached_call *m, int64_t where, sw_comm_call *out) {
  out->coll = &m->coll;
  out->in = m->has_in ? &m->in : NULL;
  out->out = m->has_out ? &m->out : NULL;
  out->where = where;
  out->generic = NULL;
}
