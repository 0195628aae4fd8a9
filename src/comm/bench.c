/* How long a collective takes: every device repeats the call between two barriers; device 0's clock counts, and it
 * tells the others by a broadcast whether to go on with twice as many repeats.
 *
 * Inputs are small integers that follow from (member, index), so every expected element is known exactly.
 */
#include "shardwright/comm_bench.h"

#include <stdatomic.h>
#include <string.h>

#include "shardwright/checked.h"
#include "shardwright/comm_launch.h"

typedef struct bench_op bench_op;

typedef struct bench_run {
  sw_comm_bench b;
  const bench_op *op;
  sw_collective coll, barrier, tell;
  int64_t unit; /* elements */
  sw_comm_bench_row *row;
  atomic_llong wrong;
} bench_run;

typedef struct bench_device {
  bench_run *r;
  sw_comm *comm;
  int64_t device;
  sw_buffer in, out;
  float *copy_from, *copy_to;
  size_t copy_bytes;
} bench_device;

static float input_value(int64_t member, int64_t i) { return (float)((member * 3 + i) % 7); }

/* Element i of the result of device `me`: one rule per op, looked up in kOps. */
static float expect_sum(const bench_run *r, int64_t me, int64_t i) {
  float sum = 0;
  (void)me;
  for (int64_t j = 0; j < r->b.devices; j++) sum += input_value(j, i);
  return sum;
}

static float expect_sum_piece(const bench_run *r, int64_t me, int64_t i) { return expect_sum(r, me, me * r->unit + i); }

static float expect_joined(const bench_run *r, int64_t me, int64_t i) {
  (void)me;
  return input_value(i / r->unit, i % r->unit);
}

static float expect_exchanged(const bench_run *r, int64_t me, int64_t i) {
  return input_value(i / r->unit, me * r->unit + i % r->unit);
}

static float expect_root(const bench_run *r, int64_t me, int64_t i) {
  (void)r, (void)me;
  return input_value(0, i);
}

static float expect_root_piece(const bench_run *r, int64_t me, int64_t i) { return input_value(0, me * r->unit + i); }

static float expect_previous(const bench_run *r, int64_t me, int64_t i) {
  return input_value((me + r->b.devices - 1) % r->b.devices, i);
}

/* Sizes count units of bytes/n for n devices. */
struct bench_op {
  float (*expected)(const bench_run *r, int64_t me, int64_t i); /* NULL: the op is not timed, or has no result */
  bool known, in_place, root_only;                              /* root_only: others get nothing */
  bool in_unit, out_unit;                                       /* a device's input (result) is one unit, else n */
  int moves_n2, moves_n; /* units read and written by all devices together: moves_n2*n*n + moves_n*n */
  int crossings;         /* 0: bus bandwidth is algorithm bandwidth; k: k(n-1)/n of it */
};

static const bench_op kOps[SW_COLL_COUNT] = {
    [SW_COLL_ALL_REDUCE] = {expect_sum, true, true, false, false, false, 2, 0, 2},
    [SW_COLL_ALL_GATHER] = {expect_joined, true, false, false, true, false, 2, 0, 1},
    [SW_COLL_REDUCE_SCATTER] = {expect_sum_piece, true, false, false, false, true, 1, 1, 1},
    [SW_COLL_ALL_TO_ALL] = {expect_exchanged, true, true, false, false, false, 2, 0, 1},
    [SW_COLL_BROADCAST] = {expect_root, true, true, false, false, false, 2, 0, 0},
    [SW_COLL_GATHER] = {expect_joined, true, false, true, true, false, 0, 2, 0},
    [SW_COLL_SCATTER] = {expect_root_piece, true, false, false, false, true, 0, 2, 0},
    [SW_COLL_REDUCE] = {expect_sum, true, true, true, false, false, 1, 1, 0},
    [SW_COLL_SHIFT] = {expect_previous, true, true, false, false, false, 2, 0, 0},
    [SW_COLL_BARRIER] = {NULL, true, false, false, true, true, 0, 0, 0},
};

bool sw_comm_bench_knows(sw_coll_op op) { return kOps[op].known; }

static sw_rc call(const bench_device *v, const sw_collective *c, const sw_buffer *in, sw_buffer *out, sw_diag *d) {
  return sw_comm_run(v->comm, v->device, &(sw_comm_call){.coll = c, .in = in, .out = out}, d);
}

static sw_rc barrier(const bench_device *v, sw_diag *d) { return call(v, &v->r->barrier, NULL, NULL, d); }

static void fill(const bench_device *v) {
  float *x = v->in.data;
  for (int64_t i = 0; i < v->in.dims[0]; i++) x[i] = input_value(v->device, i);
}

static int64_t count_wrong(const bench_device *v, const sw_buffer *out) {
  bool gets = !v->r->op->root_only || v->device == 0;
  const float *y = out->data;
  int64_t wrong = 0;
  for (int64_t i = 0; gets && i < out->dims[0]; i++) wrong += y[i] != v->r->op->expected(v->r, v->device, i);
  return wrong;
}

/* What is timed: the call, or the copy that bounds it. */
static sw_rc once(const bench_device *v, bool copies, sw_buffer *out, sw_diag *d) {
  if (!copies) return call(v, &v->r->coll, v->r->b.op == SW_COLL_BARRIER ? NULL : &v->in, out, d);
  memcpy(v->copy_to, v->copy_from, v->copy_bytes);
  return SW_OK;
}

/* Seconds of one repeat, on device 0. */
static sw_rc measure(const bench_device *v, bool copies, sw_buffer *out, double *seconds, sw_diag *d) {
  SW_TRY(once(v, copies, out, d));
  for (int64_t repeats = 1;; repeats *= 2) {
    SW_TRY(barrier(v, d));
    double start = sw_now_s();
    for (int64_t i = 0; i < repeats; i++) SW_TRY(once(v, copies, out, d));
    SW_TRY(barrier(v, d));
    double took = sw_now_s() - start;
    int32_t enough = took >= v->r->b.min_s || repeats > INT64_C(1) << 40, told = 0;
    sw_buffer say = {&enough, SW_I32, 1, {1}, {1}}, hear = {&told, SW_I32, 1, {1}, {1}};
    SW_TRY(call(v, &v->r->tell, &say, &hear, d));
    if (!told) continue;
    *seconds = took / (double)repeats;
    return SW_OK;
  }
}

static sw_rc check_once(const bench_device *v, sw_buffer *out, int64_t *wrong, sw_diag *d) {
  if (v->r->b.op == SW_COLL_BARRIER) return SW_OK;
  fill(v);
  if (v->device == 0) atomic_store(&v->r->wrong, 0);
  SW_TRY(barrier(v, d));
  SW_TRY(once(v, false, out, d));
  atomic_fetch_add(&v->r->wrong, count_wrong(v, out));
  SW_TRY(barrier(v, d));
  if (v->device == 0) *wrong = atomic_load(&v->r->wrong);
  return barrier(v, d);
}

static sw_rc run_steps(bench_device *v, sw_diag *d) {
  bench_run *r = v->r;
  double times[3] = {0};
  int64_t wrong[2] = {0};
  sw_buffer *out = r->b.op == SW_COLL_BARRIER ? NULL : &v->out;
  SW_TRY(measure(v, false, out, &times[0], d));
  SW_TRY(check_once(v, out, &wrong[0], d));
  if (v->copy_bytes) SW_TRY(measure(v, true, out, &times[1], d));
  if (r->op->in_place) {
    sw_buffer own = v->in;
    memset(v->in.data, 0, (size_t)v->in.dims[0] * sizeof(float)); /* sums of sums stay finite */
    SW_TRY(measure(v, false, &own, &times[2], d));
    SW_TRY(check_once(v, &own, &wrong[1], d));
  }
  if (v->device != 0) return SW_OK;
  r->row->time_s = times[0];
  r->row->copy_s = times[1];
  r->row->in_place_s = times[2];
  r->row->wrong = wrong[0];
  r->row->wrong_in_place = wrong[1];
  return SW_OK;
}

static sw_buffer vector_of(void *data, int64_t n) { return (sw_buffer){data, SW_F32, 1, {n}, {n}}; }

static sw_rc run_device(sw_comm *c, int64_t device, void *user, sw_diag *d) {
  bench_run *r = user;
  int64_t n = r->b.devices, in = r->op->in_unit ? r->unit : r->unit * n, out = r->op->out_unit ? r->unit : r->unit * n;
  int64_t units = r->op->moves_n2 * n * n + r->op->moves_n * n;
  bench_device v = {.r = r, .comm = c, .device = device};
  v.copy_bytes = (size_t)(units * r->unit / n / 2) * sizeof(float);
  float *store = sw_mem_alloc((size_t)(in + out) + v.copy_bytes / 2, sizeof(float), d);
  if (!store) return SW_E_RESOURCE;
  v.in = vector_of(store, in);
  v.out = vector_of(store + in, out);
  v.copy_from = store + in + out;
  v.copy_to = v.copy_from + v.copy_bytes / sizeof(float);
  fill(&v);
  memset(v.out.data, 0, (size_t)out * sizeof(float));
  memset(v.copy_from, 1, 2 * v.copy_bytes);
  sw_rc rc = run_steps(&v, d);
  sw_mem_free(store);
  return rc;
}

static void fill_row(const bench_run *r) {
  sw_comm_bench_row *row = r->row;
  double n = (double)r->b.devices;
  if (row->time_s > 0) row->alg_bytes_per_s = (double)row->bytes / row->time_s;
  double factor = r->op->crossings ? r->op->crossings * (n - 1) / n : 1;
  row->bus_bytes_per_s = row->alg_bytes_per_s * factor;
  if (row->time_s > 0) row->limit_share = row->copy_s / row->time_s;
}

sw_rc sw_comm_bench_run(const sw_comm_bench *b, sw_comm_bench_row *row, sw_diag *d) {
  if (!sw_comm_bench_knows(b->op))
    return SW_FAIL_INPUT(d, SW_NOWHERE, "'%s' is not timed alone; expected all_reduce, all_gather, ...",
                         sw_coll_text(b->op));
  if (b->devices < 1) return SW_FAIL_INPUT(d, SW_NOWHERE, "a bench needs a device");
  sw_mesh mesh = {.n_axes = 1, .axis = {{.name = "x", .size = b->devices}}};
  bench_run r = {.b = *b, .op = &kOps[b->op], .row = row};
  r.unit = sw_max_i64(1, b->bytes / (int64_t)sizeof(float) / b->devices);
  r.coll = (sw_collective){.op = b->op, .n_axes = 1, .rotate = true, .offset = 1};
  r.coll.n_root = (sw_coll_flags(b->op) & SW_COLL_USES_ROOT) != 0;
  r.barrier = (sw_collective){.op = SW_COLL_BARRIER, .n_axes = 1};
  r.tell = (sw_collective){.op = SW_COLL_BROADCAST, .n_axes = 1, .n_root = 1};
  r.coll.axes[0] = r.barrier.axes[0] = r.tell.axes[0] = sw_axis_whole(&mesh, 0);
  *row = (sw_comm_bench_row){.op = b->op, .devices = b->devices, .count = r.unit * b->devices};
  if (b->op == SW_COLL_BARRIER) row->count = 0;
  row->bytes = row->count * (int64_t)sizeof(float);
  sw_comm *c;
  SW_TRY(sw_comm_create_threads(&mesh, NULL, &c, d));
  sw_rc rc = sw_comm_launch(c, run_device, &r, &(sw_launch_options){.threads = b->threads, .pin = true}, d);
  sw_comm_destroy(c);
  if (!rc) fill_row(&r);
  return rc;
}
