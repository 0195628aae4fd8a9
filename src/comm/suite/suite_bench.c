/* How long a collective takes: every device repeats the call between two barriers; device 0's clock counts, and it
 * tells the others by a broadcast whether to go on with twice as many repeats. Of several such batches the fastest
 * counts. Batches of calls take turns with batches of the copy that bounds them, in the same memory.
 *
 * Element i of member j's input is 1 + (3j + i) % 7, so every expected element is known exactly: of a reduction there
 * are seven different ones, made by definition.
 */
#include "comm/comm_bench.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "shardwright/comm.h"
#include "base/limits.h"
#include "base/lists.h"
#include "collective/scalar.h"

enum { PERIOD = 7, BATCHES = 8, MAX_ELEM_BYTES = 16 };

typedef char cell[MAX_ELEM_BYTES];

typedef struct bench_op bench_op;

typedef struct bench_run {
  sw_comm_bench b;
  const bench_op *op;
  sw_mesh mesh;
  sw_collective coll, barrier, tell;
  int64_t n, unit; /* devices of a group; elements */
  size_t size;     /* of an element */
  cell value[PERIOD], reduced[PERIOD];
  sw_comm_bench_row *row;
  atomic_llong wrong;
} bench_run;

typedef struct bench_device {
  const bench_run *r;
  atomic_llong *wrong;
  sw_comm *comm;
  int64_t device, me; /* in the mesh; in its group */
  sw_buffer in, out, own_in, own_out;
  char *copy_from, *copy_to;
  size_t copy_bytes;
} bench_device;

static const char *input_cell(const bench_run *r, int64_t member, int64_t i) {
  return r->value[(member * 3 + i) % PERIOD];
}

/* Element i of the result of member `me`: one rule per op, looked up in kOps. */
static const char *expect_reduced(const bench_run *r, int64_t me, int64_t i) {
  (void)me;
  return r->reduced[i % PERIOD];
}

static const char *expect_reduced_piece(const bench_run *r, int64_t me, int64_t i) {
  return r->reduced[(me * r->unit + i) % PERIOD];
}

static const char *expect_joined(const bench_run *r, int64_t me, int64_t i) {
  (void)me;
  return input_cell(r, i / r->unit, i % r->unit);
}

static const char *expect_exchanged(const bench_run *r, int64_t me, int64_t i) {
  return input_cell(r, i / r->unit, me * r->unit + i % r->unit);
}

static const char *expect_root(const bench_run *r, int64_t me, int64_t i) {
  (void)me;
  return input_cell(r, 0, i);
}

static const char *expect_root_piece(const bench_run *r, int64_t me, int64_t i) {
  return input_cell(r, 0, me * r->unit + i);
}

static const char *expect_previous(const bench_run *r, int64_t me, int64_t i) {
  return input_cell(r, (me + r->n - 1) % r->n, i);
}

/* Sizes count units of bytes/n for n devices. */
struct bench_op {
  const char *(*expected)(const bench_run *r, int64_t me, int64_t i); /* NULL: the op has no result */
  bool known, root_only;                                              /* root_only: others get nothing */
  bool in_unit, out_unit; /* a device's input (result) is one unit, else n */
  int moves_n2, moves_n;  /* units read and written by all devices together: moves_n2*n*n + moves_n*n */
  int crossings;          /* 0: bus bandwidth is algorithm bandwidth; k: k(n-1)/n of it */
};

static const bench_op kOps[SW_COLL_COUNT] = {
    [SW_COLL_ALL_REDUCE] = {expect_reduced, true, false, false, false, 2, 0, 2},
    [SW_COLL_ALL_GATHER] = {expect_joined, true, false, true, false, 2, 0, 1},
    [SW_COLL_REDUCE_SCATTER] = {expect_reduced_piece, true, false, false, true, 1, 1, 1},
    [SW_COLL_ALL_TO_ALL] = {expect_exchanged, true, false, false, false, 2, 0, 1},
    [SW_COLL_BROADCAST] = {expect_root, true, false, false, false, 2, 0, 0},
    [SW_COLL_GATHER] = {expect_joined, true, true, true, false, 0, 2, 1},
    [SW_COLL_SCATTER] = {expect_root_piece, true, false, false, true, 0, 2, 1},
    [SW_COLL_REDUCE] = {expect_reduced, true, true, false, false, 1, 1, 0},
    [SW_COLL_SHIFT] = {expect_previous, true, false, false, false, 2, 0, 0},
    [SW_COLL_BARRIER] = {NULL, true, false, true, true, 0, 0, 0},
};

bool sw_comm_bench_knows(sw_coll_op op) { return kOps[op].known; }

static sw_rc call(const bench_device *v, const sw_collective *c, const sw_buffer *in, sw_buffer *out, sw_diag *d) {
  return sw_comm_run(v->comm, v->device, &(sw_comm_call){.coll = c, .in = in, .out = out}, d);
}

static sw_rc barrier(const bench_device *v, sw_diag *d) { return call(v, &v->r->barrier, NULL, NULL, d); }

static void fill_input(const bench_device *v, const sw_buffer *in) {
  char *at = in->data;
  for (int64_t i = 0; i < in->dims[0]; i++, at += v->r->size) memcpy(at, input_cell(v->r, v->me, i), v->r->size);
}

static int64_t count_wrong(const bench_device *v, const sw_buffer *out) {
  bool gets = !v->r->op->root_only || v->me == 0;
  const char *at = out->data;
  int64_t wrong = 0;
  for (int64_t i = 0; gets && i < out->dims[0]; i++, at += v->r->size)
    wrong += memcmp(at, v->r->op->expected(v->r, v->me, i), v->r->size) != 0;
  return wrong;
}

/* --- timing --- */

/* From this size on devices copy in turn, as the collective does: a device that shares its thread would else find its
 * own last copy in the cache, and no others'. */
enum { TOGETHER_BYTES = 256 << 10 };

/* What is timed: a call (with buffers, but for a barrier), or the copy that bounds it. */
typedef struct timed {
  bool copies;
  const sw_buffer *in;
  sw_buffer *out;
} timed;

static sw_rc once(const bench_device *v, const timed *what, sw_diag *d) {
  if (sw_cancelled(v->r->b.cancel)) return SW_FAIL(d, SW_E_CANCELLED, SW_NOWHERE, "interrupted");
  if (!what->copies) return call(v, &v->r->coll, what->in, what->out, d);
  memcpy(v->copy_to, v->copy_from, v->copy_bytes);
  return v->copy_bytes >= TOGETHER_BYTES ? barrier(v, d) : SW_OK;
}

static sw_rc time_batch(const bench_device *v, const timed *what, int64_t repeats, double *seconds, sw_diag *d) {
  SW_TRY(barrier(v, d));
  double start = sw_now_s();
  for (int64_t i = 0; i < repeats; i++) SW_TRY(once(v, what, d));
  SW_TRY(barrier(v, d));
  *seconds = sw_now_s() - start;
  return SW_OK;
}

/* As device 0 says. */
static sw_rc agree_with_first(const bench_device *v, bool *yes, sw_diag *d) {
  int32_t say = *yes, hear = 0;
  sw_buffer from = {&say, SW_I32, 1, {1}, {1}}, to = {&hear, SW_I32, 1, {1}, {1}};
  SW_TRY(call(v, &v->r->tell, &from, &to, d));
  *yes = hear != 0;
  return SW_OK;
}

/* How many repeats make a batch of min_s / BATCHES. */
static sw_rc find_repeats(const bench_device *v, const timed *what, int64_t *repeats, sw_diag *d) {
  double took;
  SW_TRY(once(v, what, d));
  for (*repeats = 1;; *repeats *= 2) {
    SW_TRY(time_batch(v, what, *repeats, &took, d));
    bool enough = took >= v->r->b.min_s / BATCHES || *repeats > INT64_C(1) << 40;
    SW_TRY(agree_with_first(v, &enough, d));
    if (enough) return SW_OK;
  }
}

/* Seconds of one repeat, on device 0: the least of BATCHES batches. */
static sw_rc measure(const bench_device *v, const timed *what, double *seconds, sw_diag *d) {
  int64_t repeats;
  SW_TRY(find_repeats(v, what, &repeats, d));
  *seconds = INFINITY;
  for (int i = 0; i < BATCHES; i++) {
    double took;
    SW_TRY(time_batch(v, what, repeats, &took, d));
    if (took / (double)repeats < *seconds) *seconds = took / (double)repeats;
  }
  return SW_OK;
}

/* Batches in turn: the copy's time over the call's is the median of what neighbours say, as the memory of a machine
 * that others use, too, is twice as fast in one second as in the next. A repeat before each batch finds in the caches
 * what its own kind has left there. */
static sw_rc measure_beside(const bench_device *v, const timed *what, const timed *copy, sw_comm_bench_row *row,
                            sw_diag *d) {
  int64_t repeats[2];
  double share[BATCHES], took[2];
  SW_TRY(find_repeats(v, copy, &repeats[1], d));
  SW_TRY(find_repeats(v, what, &repeats[0], d));
  row->time_s = row->copy_s = INFINITY;
  for (int i = 0; i < BATCHES; i++) {
    for (int k = 0; k < 2; k++) {
      SW_TRY(once(v, k ? copy : what, d));
      SW_TRY(time_batch(v, k ? copy : what, repeats[k], &took[k], d));
      took[k] /= (double)repeats[k];
    }
    share[i] = took[1] / took[0];
    row->time_s = fmin(row->time_s, took[0]);
    row->copy_s = fmin(row->copy_s, took[1]);
  }
  qsort(share, BATCHES, sizeof *share, sw_compare_f64);
  row->limit_share = (share[BATCHES / 2 - 1] + share[BATCHES / 2]) / 2;
  return SW_OK;
}

static sw_rc check_once(const bench_device *v, const sw_buffer *in, sw_buffer *out, int64_t *wrong, sw_diag *d) {
  if (!v->r->op->expected) return SW_OK;
  fill_input(v, in);
  if (v->device == 0) atomic_store(v->wrong, 0);
  SW_TRY(barrier(v, d));
  SW_TRY(call(v, &v->r->coll, in, out, d));
  atomic_fetch_add(v->wrong, count_wrong(v, out));
  SW_TRY(barrier(v, d));
  *wrong = atomic_load(v->wrong);
  return barrier(v, d);
}

static sw_rc run_steps(bench_device *v, sw_comm_bench_row *row, sw_diag *d) {
  timed out_of_place = {.in = &v->in, .out = &v->out}, in_place = {.in = &v->own_in, .out = &v->own_out};
  timed nothing = {.copies = false}, copy = {.copies = true};
  bool bare = v->r->b.op == SW_COLL_BARRIER;
  if (bare) return measure(v, &nothing, &row->time_s, d);
  SW_TRY(measure_beside(v, &out_of_place, &copy, row, d));
  SW_TRY(check_once(v, &v->in, &v->out, &row->wrong, d));
  memset(v->own_in.data, 0, (size_t)v->own_in.dims[0] * v->r->size); /* sums of sums stay finite */
  SW_TRY(measure(v, &in_place, &row->in_place_s, d));
  return check_once(v, &v->own_in, &v->own_out, &row->wrong_in_place, d);
}

/* --- buffers --- */

static sw_buffer vector_of(const bench_run *r, void *data, int64_t n) {
  return (sw_buffer){data, r->b.dtype, 1, {n}, {n}};
}

/* Of two buffers of one size the result takes the input's; a piece lies where it belongs in the whole. */
static void set_in_place(bench_device *v) {
  const bench_run *r = v->r;
  size_t at = (size_t)(v->me * r->unit) * r->size;
  bool rooted = sw_coll_flags(r->b.op) & SW_COLL_USES_ROOT;
  v->own_in = v->in;
  v->own_out = v->out;
  if (r->op->in_unit == r->op->out_unit)
    v->own_out.data = v->in.data;
  else if (rooted && v->me != 0)
    return;
  else if (r->op->in_unit)
    v->own_in.data = (char *)v->out.data + at;
  else
    v->own_out.data = (char *)v->in.data + at;
}

/* Elements of a device's input, of its result, and of each side of its copy. */
typedef struct bench_sizes {
  int64_t in, out, copy;
} bench_sizes;

static bench_sizes sizes_of(const bench_run *r) {
  int64_t n = r->n, units = r->op->moves_n2 * n * n + r->op->moves_n * n;
  return (bench_sizes){r->op->in_unit ? r->unit : r->unit * n, r->op->out_unit ? r->unit : r->unit * n,
                       units * r->unit / n / 2};
}

static size_t store_bytes(const bench_run *r) {
  bench_sizes s = sizes_of(r);
  return (size_t)sw_max_i64(s.in + s.out, 2 * s.copy) * r->size;
}

static sw_rc admit(const bench_run *r, sw_diag *d) {
  int64_t devices = sw_mesh_devices(&r->mesh);
  sw_needs n = {.bytes = INT64_MAX};
  char what[64];
  if ((int64_t)store_bytes(r) < INT64_MAX / devices) n.bytes = (int64_t)store_bytes(r) * devices;
  snprintf(what, sizeof what, "the buffers of %lld devices", (long long)devices);
  return sw_limits_check(&n, what, d);
}

static sw_rc run_device(sw_comm *c, int64_t device, void *user, sw_diag *d) {
  bench_run *r = user;
  bench_sizes s = sizes_of(r);
  bench_device v = {.r = r, .wrong = &r->wrong, .comm = c, .device = device};
  v.me = sw_mesh_group_index(&r->mesh, device, r->coll.axes, r->coll.n_axes);
  v.copy_bytes = (size_t)s.copy * r->size;
  size_t most = store_bytes(r);
  char *store = sw_mem_alloc(most, 1, d);
  if (!store) return SW_E_RESOURCE;
  v.in = vector_of(r, store, s.in);
  v.out = vector_of(r, store + (size_t)s.in * r->size, s.out);
  v.copy_from = store; /* the op's own memory, from one end to the other */
  v.copy_to = store + most - v.copy_bytes;
  set_in_place(&v);
  memset(store, 0, most); /* by the thread that uses it */
  fill_input(&v, &v.in);
  sw_comm_bench_row unheard = *r->row;
  sw_rc rc = run_steps(&v, device == 0 ? r->row : &unheard, d);
  sw_mem_free(store);
  return rc;
}

/* --- one row --- */

static void make_cells(bench_run *r) {
  sw_dtype t = r->b.dtype;
  for (int i = 0; i < PERIOD; i++) sw_element_store(t, 1 + i, r->value[i]);
  for (int i = 0; i < PERIOD && r->b.reduction != SW_REDUCE_GENERIC; i++) {
    sw_scalar sum = sw_scalar_load(t, input_cell(r, 0, i));
    for (int64_t j = 1; j < r->n; j++)
      sum = sw_reduction_combine(r->b.reduction, t, sum, sw_scalar_load(t, input_cell(r, j, i)));
    sw_scalar_store(t, sw_reduction_finish(r->b.reduction, t, sum, r->n), r->reduced[i]);
  }
}

static void make_collectives(bench_run *r) {
  const sw_mesh *m = &r->mesh;
  r->coll = (sw_collective){.op = r->b.op, .reduction = r->b.reduction, .rotate = true, .offset = 1};
  r->barrier = (sw_collective){.op = SW_COLL_BARRIER, .n_axes = m->n_axes};
  r->tell = (sw_collective){.op = SW_COLL_BROADCAST, .n_axes = m->n_axes, .n_root = m->n_axes};
  for (int a = 0; a < m->n_axes; a++) r->barrier.axes[a] = r->tell.axes[a] = sw_axis_whole(m, a);
  r->coll.n_axes = r->b.mesh ? r->b.n_axes : 1;
  memcpy(r->coll.axes, r->b.mesh ? r->b.axes : r->barrier.axes, sizeof r->coll.axes);
  if (sw_coll_flags(r->b.op) & SW_COLL_USES_ROOT) r->coll.n_root = r->coll.n_axes;
  if (r->b.op == SW_COLL_SHIFT) { /* along the innermost axis of a group */
    r->coll.axes[0] = r->coll.axes[r->coll.n_axes - 1];
    r->coll.n_axes = 1;
  }
  r->n = sw_axis_refs_size(r->coll.axes, r->coll.n_axes);
}

static sw_rc check_request(const sw_comm_bench *b, sw_diag *d) {
  if (!sw_comm_bench_knows(b->op))
    return SW_FAIL_INPUT(d, SW_NOWHERE, "'%s' is not timed alone; expected all_reduce, all_gather, ...",
                         sw_coll_text(b->op));
  if (b->mesh ? b->n_axes < 1 : b->devices < 1) return SW_FAIL_INPUT(d, SW_NOWHERE, "a bench needs a device");
  bool reduces = sw_coll_flags(b->op) & SW_COLL_USES_REDUCTION;
  if (b->dtype == SW_TOKEN ||
      (reduces && (b->reduction == SW_REDUCE_GENERIC || !sw_reduction_applies(b->reduction, b->dtype))))
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: reduction '%s' of %s cannot be timed", sw_coll_text(b->op),
                         sw_reduction_text(b->reduction), sw_dtype_text(b->dtype));
  return SW_OK;
}

static void start_row(const bench_run *r) {
  *r->row = (sw_comm_bench_row){.op = r->b.op, .devices = sw_mesh_devices(&r->mesh), .group = r->n};
  if (r->b.op != SW_COLL_BARRIER) r->row->count = r->unit * r->n;
  r->row->bytes = r->row->count * (int64_t)r->size;
}

static void end_row(const bench_run *r) {
  sw_comm_bench_row *row = r->row;
  double n = (double)r->n;
  row->bus_factor = r->op->crossings ? r->op->crossings * (n - 1) / n : 1;
  if (!(row->time_s > 0)) return;
  row->alg_bytes_per_s = (double)row->bytes / row->time_s;
  row->bus_bytes_per_s = row->alg_bytes_per_s * row->bus_factor;
}

sw_rc sw_comm_bench_run(const sw_comm_bench *b, sw_comm_bench_row *row, sw_diag *d) {
  SW_TRY(check_request(b, d));
  bench_run r = {.b = *b, .op = &kOps[b->op], .row = row, .size = (size_t)sw_dtype_bytes(b->dtype)};
  r.mesh = b->mesh ? *b->mesh : (sw_mesh){.n_axes = 1, .axis = {{.name = "x", .size = b->devices}}};
  make_collectives(&r);
  r.unit = sw_max_i64(1, b->bytes / (int64_t)r.size / r.n);
  make_cells(&r);
  start_row(&r);
  SW_TRY(admit(&r, d));
  sw_comm *c;
  SW_TRY(sw_comm_create_threads(&r.mesh, &(sw_comm_options){.keep_undefined = true, .cancel = b->cancel}, &c, d));
  sw_rc rc = sw_comm_launch(c, run_device, &r, &(sw_launch_options){.threads = b->threads, .pin = true}, d);
  sw_comm_destroy(c);
  if (!rc) end_row(&r);
  return rc;
}
