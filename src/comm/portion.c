/* Shares of work.
 *
 * Copying ops: share i makes member i's result by reading from the others' inputs; gather: share i brings member i's
 * input to the root. reduce_scatter: share i reduces member i's slice. all_reduce and reduce: share i reduces the i-th
 * part of the value, from all inputs into all results (the root's result); the parts are disjoint, so inputs and
 * results may be the same memory.
 *
 *   all_reduce of 4 elements over 2:  share 0: r0[0,1] = r1[0,1] = i0[0,1] + i1[0,1];  share 1: the same for [2,3]
 */
#include "comm/portion.h"

#include <string.h>

#include "comm/copy.h"
#include "comm/comm_reduce.h"
#include "comm/rows.h"
#include "base/checked.h"

/* Parts of a reduction start at multiples of this many elements: no two shares write the same cache line of f32. */
enum { PART_ELEMS = 64 };

/* Below this size of a member's piece, copying another's finished result beats collecting the pieces again. */
enum { PIECE_BYTES = 4096 };

typedef struct worker {
  const sw_shared_call *job;
  int64_t share;
  int64_t bytes; /* from other members */
  bool streams;  /* more than a cache holds */
} worker;

static const sw_buffer *input_of(const sw_shared_call *j, int64_t i) { return sw_view_member(&j->view, i)->call.in; }
static const sw_buffer *result_of_member(const sw_shared_call *j, int64_t i) {
  return sw_view_member(&j->view, i)->call.out;
}

static const void *source(const sw_shared_call *j, int64_t i) { return j->src[i - j->base]; }
static void *target(const sw_shared_call *j, int64_t i) { return j->dst[i - j->base]; }

static sw_rc copy_box(const worker *w, const sw_transfer *m) {
  const sw_shared_call *j = w->job;
  const sw_buffer *in = input_of(j, m->from), *out = result_of_member(j, m->to);
  size_t size = (size_t)sw_dtype_bytes(in->dtype);
  sw_rows rows;
  sw_rows_init(&rows, in->rank, m->extent, in->dims, m->src_at, out->dims, m->dst_at);
  while (sw_rows_next(&rows)) {
    const char *from = (const char *)source(j, m->from) + (size_t)rows.a * size;
    char *to = (char *)target(j, m->to) + (size_t)rows.b * size;
    if (from != to) sw_copy(to, from, (size_t)rows.len * size, w->streams);
  }
  return SW_OK;
}

static int64_t copy_step_bytes(const sw_buffer *b, const sw_transfer *m) {
  int64_t n = sw_dtype_bytes(b->dtype);
  for (int i = 0; i < b->rank; i++) n *= m->extent[i];
  return n;
}

static sw_rc visit_copy(void *user, const sw_transfer *m, sw_diag *d) {
  worker *w = user;
  (void)d;
  if (m->from != m->to) w->bytes += copy_step_bytes(input_of(w->job, m->from), m);
  return copy_box(w, m);
}

static sw_rc visit_push(void *user, const sw_transfer *m, sw_diag *d) {
  worker *w = user;
  (void)d;
  if (w->share == m->to && m->from != m->to) w->bytes += copy_step_bytes(input_of(w->job, m->from), m);
  return m->from == w->share ? copy_box(w, m) : SW_OK;
}

static sw_reducer reducer_of_member(const worker *w, int64_t i) {
  const sw_comm_call *call = &sw_view_member(&w->job->view, i)->call;
  return (sw_reducer){call->coll->reduction, call->in->dtype, call->out->dtype, call->generic, w->streams};
}

static sw_rc reduce_box(void *user, const sw_transfer *m, sw_diag *d) {
  worker *w = user;
  const sw_shared_call *j = w->job;
  const sw_buffer *in = input_of(j, m->to), *out = result_of_member(j, m->to);
  sw_reducer r = reducer_of_member(w, m->to);
  (void)d;
  w->bytes += copy_step_bytes(in, m) * (j->view.n - 1);
  sw_rows rows;
  sw_rows_init(&rows, in->rank, m->extent, in->dims, m->src_at, out->dims, m->dst_at);
  while (sw_rows_next(&rows)) sw_reduce_run(&r, j->view.n, j->src, rows.a, 1, &j->dst[m->to], rows.b, rows.len);
  return SW_OK;
}

void sw_portion_range(int64_t total, int64_t i, int64_t n, int64_t *lo, int64_t *hi) {
  int64_t lines = sw_ceil_div(total, PART_ELEMS);
  *lo = sw_min_i64(total, (int64_t)((sw_i128)lines * i / n) * PART_ELEMS);
  *hi = sw_min_i64(total, (int64_t)((sw_i128)lines * (i + 1) / n) * PART_ELEMS);
}

/* An n-th of the value is heard from n-1 others and reduced; all_reduce hears the other n-ths, the root too. */
static int64_t part_bytes(const sw_shared_call *j, int64_t i, const sw_transfer *m) {
  bool hears = j->view.coll->op == SW_COLL_ALL_REDUCE || i == m->to;
  return copy_step_bytes(input_of(j, m->to), m) / j->view.n * (j->view.n - 1) * (hears ? 2 : 1);
}

/* The box is one of all members' inputs; results have the same dims. */
static sw_rc visit_part(void *user, const sw_transfer *m, sw_diag *d) {
  worker *w = user;
  const sw_shared_call *j = w->job;
  const sw_buffer *in = input_of(j, m->to);
  bool to_all = j->view.coll->op == SW_COLL_ALL_REDUCE;
  sw_reducer r = reducer_of_member(w, m->to);
  (void)d;
  sw_rows rows;
  sw_rows_init(&rows, in->rank, m->extent, in->dims, m->src_at, in->dims, m->src_at);
  int64_t lo, hi, at = 0, n = j->view.n;
  sw_portion_range(sw_rows_total(&rows), w->share, n, &lo, &hi);
  w->bytes += part_bytes(j, w->share, m);
  for (; at < hi && sw_rows_next(&rows); at += rows.len) {
    int64_t from = sw_max_i64(lo - at, 0), to = sw_min_i64(hi - at, rows.len);
    if (from < to)
      sw_reduce_run(&r, j->view.n, j->src, rows.a + from, to_all ? j->view.n : 1, to_all ? j->dst : &j->dst[m->to],
                    rows.a + from, to - from);
  }
  return SW_OK;
}

/* Positions of an exchange's result that no box covers: the fill value, or poison. */
static void fill_result(const sw_view *v, int64_t i) {
  const sw_member *m = sw_view_member(v, i);
  sw_buffer *out = m->call.out;
  bool covered = true;
  for (int k = 0; k < out->rank; k++) {
    int64_t start, lo, hi;
    sw_tiling_window(v->mesh, v->coll->dst, k, m->device, &start, &lo, &hi);
    covered = covered && lo == 0 && hi == out->dims[k];
  }
  int64_t bytes;
  if (covered || !sw_buffer_bytes(out, &bytes) || bytes == 0) return;
  if (!v->coll->fill_outside) {
    sw_buffer_poison(out);
    return;
  }
  int size = sw_dtype_bytes(out->dtype);
  char cell[16];
  sw_element_store(out->dtype, v->coll->fill, cell);
  for (int64_t at = 0; at < bytes; at += size) memcpy((char *)out->data + at, cell, (size_t)size);
}

static sw_rc visit_size(void *user, const sw_transfer *m, sw_diag *d) {
  worker *w = user;
  (void)d;
  w->bytes += copy_step_bytes(result_of_member(w->job, m->to), m);
  return SW_OK;
}

/* The reduction's identity where no box comes. What boxes cover is left as it is: it may be the input's memory. */
static sw_rc fill_identity(const sw_shared_call *j, int64_t i, sw_diag *d) {
  const sw_buffer *out = result_of_member(j, i);
  int size = sw_dtype_bytes(out->dtype);
  char cell[16];
  worker boxes = {.job = j};
  SW_TRY(sw_moves_to(&j->view, i, visit_size, &boxes, d));
  sw_reduction_identity_bytes(j->view.coll->reduction, out->dtype, cell);
  static const int64_t kOrigin[SW_MAX_RANK];
  int64_t valid[SW_MAX_RANK];
  sw_moves_valid(&j->view, i, valid);
  sw_rows rows;
  sw_rows_init(&rows, out->rank, valid, out->dims, kOrigin, out->dims, kOrigin);
  if (boxes.bytes == sw_rows_total(&rows) * size) return SW_OK;
  while (sw_rows_next(&rows))
    for (int64_t e = rows.a; e < rows.a + rows.len; e++) memcpy((char *)target(j, i) + e * size, cell, (size_t)size);
  return SW_OK;
}

void sw_portion_prepare(const sw_view *v, int64_t i, const void *src, void *dst) {
  int64_t bytes;
  if (v->coll->op == SW_COLL_UPDATE_HALO && src != dst && sw_buffer_bytes(sw_view_member(v, i)->call.out, &bytes) &&
      bytes)
    memcpy(dst, src, (size_t)bytes);
  if (sw_coll_flags(v->coll->op) & SW_COLL_USES_TILES) fill_result(v, i);
}

/* What comes before the boxes, and these. */
static sw_rc copy_boxes(const sw_shared_call *j, int64_t i, worker *w, sw_diag *d) {
  const sw_collective *c = j->view.coll;
  if (sw_coll_flags(c->op) & SW_COLL_TILED) sw_portion_prepare(&j->view, i, source(j, i), target(j, i));
  if (sw_collective_is_neutral_beside(c)) SW_TRY(fill_identity(j, i, d));
  return sw_moves_to(&j->view, i, visit_copy, w, d);
}

/* Ops whose share is not "copy the boxes of the member's own result". */
static const struct {
  sw_transfer_visit visit;
  bool own; /* boxes of the member's own result, else of the root's (or of the first member: all are the same) */
} kWork[SW_COLL_COUNT] = {
    [SW_COLL_GATHER] = {visit_push, false},
    [SW_COLL_ALL_REDUCE] = {visit_part, false},
    [SW_COLL_REDUCE] = {visit_part, false},
    [SW_COLL_REDUCE_SCATTER] = {reduce_box, true},
};

/* all_gather of small pieces: the first complete result serves the others. */
static bool copy_model(const sw_shared_call *j, int64_t i, worker *w) {
  int64_t model = atomic_load_explicit(j->model, memory_order_acquire) - 1;
  if (model < 0) return false;
  const sw_buffer *in = input_of(j, i), *out = result_of_member(j, i);
  static const int64_t kOrigin[SW_MAX_RANK];
  sw_transfer own;
  memcpy(own.extent, in->valid, sizeof own.extent);
  int64_t valid[SW_MAX_RANK], size = sw_dtype_bytes(out->dtype);
  sw_moves_valid(&j->view, model, valid);
  sw_rows rows;
  sw_rows_init(&rows, out->rank, valid, out->dims, kOrigin, out->dims, kOrigin);
  w->bytes = sw_rows_total(&rows) * size - copy_step_bytes(in, &own);
  while (sw_rows_next(&rows))
    memcpy((char *)target(j, i) + rows.b * size, (const char *)target(j, model) + rows.a * size,
           (size_t)(rows.len * size));
  return true;
}

static sw_rc gather_all(const sw_shared_call *j, int64_t i, worker *w, sw_diag *d) {
  int64_t piece;
  bool small = sw_buffer_bytes(input_of(j, i), &piece) && piece < PIECE_BYTES;
  if (small && copy_model(j, i, w)) return SW_OK;
  SW_TRY(sw_moves_to(&j->view, i, visit_copy, w, d));
  atomic_store_explicit(j->model, i + 1, memory_order_release);
  return SW_OK;
}

/* Bytes that all shares read and write. */
static int64_t footprint(const sw_shared_call *j) {
  const sw_collective *c = j->view.coll;
  const bool from_root = sw_coll_flags(c->op) & SW_COLL_FROM_ROOT, to_root = sw_coll_flags(c->op) & SW_COLL_TO_ROOT;
  int64_t some = from_root || to_root ? sw_collective_root(c) : j->base, in = 0, out = 0;
  const sw_buffer *from = input_of(j, some), *to = result_of_member(j, some);
  if (from) (void)sw_buffer_bytes(from, &in); /* checked before */
  if (to) (void)sw_buffer_bytes(to, &out);
  return in * (from_root ? 1 : j->view.n) + out * (to_root ? 1 : j->view.n);
}

sw_rc sw_portion_run(const sw_shared_call *j, int64_t i, int64_t *bytes, sw_diag *d) {
  worker w = {j, i, 0, footprint(j) >= SW_STREAM_BYTES};
  const sw_collective *c = j->view.coll;
  sw_rc rc;
  if (kWork[c->op].visit)
    rc = sw_moves_to(&j->view, kWork[c->op].own ? i : sw_collective_root(c), kWork[c->op].visit, &w, d);
  else if (c->op == SW_COLL_ALL_GATHER)
    rc = gather_all(j, i, &w, d);
  else
    rc = copy_boxes(j, i, &w, d);
  *bytes = w.bytes;
  return rc;
}

/* Of a reduction: as many bytes as shares would have brought, so that the count does not tell how the call was made. */
static sw_rc visit_own(void *user, const sw_transfer *m, sw_diag *d) {
  worker *w = user;
  if (m->from != SW_FROM_ALL) return visit_copy(user, m, d);
  bool pieces = w->job->view.coll->op == SW_COLL_REDUCE_SCATTER;
  if (m->to == w->share) SW_TRY(reduce_box(user, m, d));
  if (!pieces) w->bytes = part_bytes(w->job, w->share, m);
  return SW_OK;
}

sw_rc sw_portion_run_own(const sw_shared_call *j, int64_t i, int64_t *bytes, sw_diag *d) {
  worker w = {.job = j, .share = i};
  const sw_collective *c = j->view.coll;
  sw_rc rc = sw_moves_to(&j->view, c->op == SW_COLL_REDUCE ? sw_collective_root(c) : i, visit_own, &w, d);
  *bytes = w.bytes;
  return rc;
}

sw_rc sw_portion_run_local(const sw_view *view, int64_t i, sw_diag *d) {
  const sw_comm_call *call = &view->members->call;
  const void *src = call->in->data;
  void *dst = call->out->data;
  sw_shared_call job = {.view = *view, .src = &src, .dst = &dst, .base = i};
  int64_t bytes;
  return sw_portion_run(&job, i, &bytes, d);
}

int64_t sw_portions_cost(const sw_comm_call *call, int64_t n) {
  int64_t in = 0, out = 0, sum;
  if (call->in && !sw_buffer_bytes(call->in, &in)) return INT64_MAX;
  if (call->out && !sw_buffer_bytes(call->out, &out)) return INT64_MAX;
  return sw_add_i64(in, out, &sum) && sw_mul_i64(sum, n, &sum) ? sum : INT64_MAX;
}

static bool overlaps(const sw_buffer *a, const sw_buffer *b) {
  int64_t na = 0, nb = 0;
  if (!sw_buffer_bytes(a, &na) || !sw_buffer_bytes(b, &nb) || na == 0 || nb == 0) return false;
  uintptr_t pa = (uintptr_t)a->data, pb = (uintptr_t)b->data;
  return pa < pb + (uintptr_t)nb && pb < pa + (uintptr_t)na;
}

/* Is the result where its piece lies in the input? */
static bool is_own_piece(const sw_comm_call *call, int64_t index) {
  const sw_buffer *in = call->in, *out = call->out;
  int dim = call->coll->dim;
  int64_t piece = sw_dtype_bytes(out->dtype);
  for (int i = 0; i < in->rank; i++) {
    if (i < dim ? in->dims[i] != 1 : i > dim && in->dims[i] != out->dims[i]) return false;
    piece *= out->dims[i];
  }
  return in->dtype == out->dtype && out->data == (char *)in->data + index * piece &&
         (index + 1) * out->dims[dim] <= in->dims[dim];
}

bool sw_portion_in_place(const sw_comm_call *call, int64_t index) {
  if (!call->in || !call->out || !overlaps(call->in, call->out)) return true;
  sw_coll_op op = call->coll->op;
  if (op == SW_COLL_REDUCE_SCATTER || op == SW_COLL_SCATTER) return is_own_piece(call, index);
  bool safe = op == SW_COLL_ALL_REDUCE || op == SW_COLL_REDUCE || op == SW_COLL_BROADCAST ||
              op == SW_COLL_UPDATE_HALO || op == SW_COLL_TO_PARTIAL;
  return safe && call->in->data == call->out->data && call->in->dtype == call->out->dtype;
}
