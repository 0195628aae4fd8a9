/* Running a program of the suite: a device fills its result with poison, makes the call and compares every element, so
 * that whoever writes padding or leaves an element out is found. Some calls are started, and waited for after the next
 * one.
 *
 *   start(call 3), run(call 4), compare call 4, wait(call 3), compare call 3, run(call 5), ...
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "comm/comm_moves.h"
#include "comm/suite/suite.h"
#include "base/hash.h"
#include "collective/scalar.h"

/* --- comparing --- */

/* NaN is NaN; zeros differ in sign. */
static bool same_real(double a, double b) {
  return isnan(a) || isnan(b) ? isnan(a) && isnan(b) : a == b && !signbit(a) == !signbit(b);
}

static bool same_element(sw_dtype t, const void *a, const void *b) {
  if (memcmp(a, b, (size_t)sw_dtype_bytes(t)) == 0) return true;
  sw_scalar x = sw_scalar_load(t, a), y = sw_scalar_load(t, b);
  sw_dtype_class c = sw_dtype_class_of(t);
  bool real = c == SW_CLASS_FLOAT || c == SW_CLASS_COMPLEX;
  return real && same_real(x.re, y.re) && same_real(x.im, y.im);
}

static sw_rc different(const sw_comm_suite *s, int call, int64_t device, const char *what, int64_t index, sw_diag *d) {
  sw_text text = {0};
  sw_collective_print(&s->mesh, &s->cases[call].coll, &text);
  (void)SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "call %d (%s) on device %lld: wrong %s %lld", call, sw_text_str(&text),
                (long long)device, what, (long long)index);
  sw_text_free(&text);
  return SW_E_MISMATCH;
}

/* In place, what lies outside of the valid extents is the input's; else it must still be poison. */
static sw_rc compare_with_wanted(const sw_comm_suite *s, int call, int64_t device, const sw_buffer *got, sw_diag *d) {
  const sw_suite_case *c = &s->cases[call];
  const sw_buffer *want = &c->want[device];
  for (int i = 0; i < want->rank; i++)
    if (got->valid[i] != want->valid[i]) return different(s, call, device, "valid extent of dimension", i, d);
  bool whole = !c->in_place || (sw_coll_flags(c->coll.op) & SW_COLL_TILED);
  const int64_t *limit = whole ? want->dims : want->valid;
  if (sw_has_no_position(want->rank, limit)) return SW_OK;
  int64_t at[SW_MAX_RANK] = {0}, size = sw_dtype_bytes(want->dtype);
  do {
    const char *a = sw_buffer_element(want, at);
    if (!same_element(want->dtype, a, sw_buffer_element(got, at)))
      return different(s, call, device, "element", (a - (const char *)want->data) / size, d);
  } while (sw_next_position(want->rank, limit, at));
  return SW_OK;
}

/* --- calls --- */

/* A device in the program. */
typedef struct player {
  const sw_comm_suite *suite;
  sw_comm *comm;
  int64_t device;
  sw_arena scratch;
} player;

/* A call of the device and what it holds. */
typedef struct attempt {
  int call;
  sw_collective coll;
  sw_combiner combiner;
  sw_buffer in, out;
  sw_comm_request *request; /* when it was started */
} attempt;

typedef struct plain_kind {
  sw_reduction kind;
  sw_dtype dtype;
} plain_kind;

/* What a user might write: the reduction's definition, element by element. */
static void combine_plainly(void *user, void *acc, const void *x, size_t n) {
  const plain_kind *k = user;
  size_t size = (size_t)sw_dtype_bytes(k->dtype);
  for (size_t i = 0; i < n * size; i += size) {
    sw_scalar a = sw_scalar_load(k->dtype, (char *)acc + i), b = sw_scalar_load(k->dtype, (const char *)x + i);
    sw_scalar_store(k->dtype, sw_reduction_combine(k->kind, k->dtype, a, b), (char *)acc + i);
  }
}

static sw_rc prepare_attempt(player *p, int call, attempt *a, sw_diag *d) {
  const sw_suite_case *c = &p->suite->cases[call];
  const sw_buffer *in = &c->in[p->device], *want = &c->want[p->device];
  *a = (attempt){.call = call, .coll = c->coll};
  SW_TRY(sw_suite_buffer(&p->scratch, in->dtype, in->rank, in->dims, &a->in, d));
  SW_TRY(sw_suite_buffer(&p->scratch, want->dtype, want->rank, want->dims, &a->out, d));
  int64_t bytes = 0;
  if (sw_buffer_bytes(in, &bytes) && bytes) memcpy(a->in.data, in->data, (size_t)bytes);
  memcpy(a->in.valid, in->valid, sizeof in->valid);
  if (c->in_place) a->out.data = a->in.data;
  if (!c->by_user) return SW_OK;
  plain_kind *kind;
  SW_ARENA_NEW(kind, &p->scratch, 1, d);
  *kind = (plain_kind){c->coll.reduction, want->dtype};
  a->combiner = (sw_combiner){combine_plainly, kind};
  a->coll.reduction = SW_REDUCE_GENERIC;
  return SW_OK;
}

static sw_comm_call call_of(const player *p, attempt *a) {
  sw_comm_call one = {.coll = &a->coll, .where = a->call};
  if (a->coll.op == SW_COLL_BARRIER) return one;
  one.in = &a->in;
  one.out = &a->out;
  if (p->suite->cases[a->call].by_user) one.generic = &a->combiner;
  return one;
}

/* The peer `offset` further along the one axis of a shift. */
static sw_collective message(const player *p, const attempt *a, sw_coll_op op, int64_t offset) {
  sw_axis_ref axis = a->coll.axes[0];
  int64_t at = sw_mesh_coord(&p->suite->mesh, p->device, axis);
  sw_collective c = {.op = op, .n_axes = 1, .axes = {axis}, .n_root = 1};
  c.root[0] = ((at + offset) % axis.size + axis.size) % axis.size;
  return c;
}

static sw_rc run_messages(player *p, attempt *a, sw_diag *d) {
  sw_collective send = message(p, a, SW_COLL_SEND, a->coll.offset), recv = message(p, a, SW_COLL_RECV, -a->coll.offset);
  SW_TRY(sw_comm_run(p->comm, p->device, &(sw_comm_call){.coll = &send, .in = &a->in, .where = a->call}, d));
  return sw_comm_run(p->comm, p->device, &(sw_comm_call){.coll = &recv, .out = &a->out, .where = a->call}, d);
}

static sw_rc check_result(const player *p, const attempt *a, sw_diag *d) {
  if (a->coll.op == SW_COLL_BARRIER) return SW_OK;
  return compare_with_wanted(p->suite, a->call, p->device, &a->out, d);
}

static sw_rc run_case(player *p, int call, sw_diag *d) {
  attempt a;
  SW_TRY(prepare_attempt(p, call, &a, d));
  sw_comm_call one = call_of(p, &a);
  if (p->suite->cases[call].by_messages)
    SW_TRY(run_messages(p, &a, d));
  else
    SW_TRY(sw_comm_run(p->comm, p->device, &one, d));
  return check_result(p, &a, d);
}

static sw_rc start_case(player *p, int call, attempt *a, sw_diag *d) {
  SW_TRY(prepare_attempt(p, call, a, d));
  sw_comm_call one = call_of(p, a);
  return sw_comm_start(p->comm, p->device, &one, &a->request, d);
}

static sw_rc end_case(player *p, attempt *a, sw_diag *d) {
  sw_comm_request *request = a->request;
  a->request = NULL;
  SW_TRY(sw_comm_wait(p->comm, request, d));
  return check_result(p, a, d);
}

/* --- faults --- */

static const char *const kFaultTexts[SW_FAULT_COUNT] = {
#define SW_X(id, text) [SW_FAULT_##id] = text,
    SW_COMM_FAULTS(SW_X)
#undef SW_X
};

const char *sw_comm_fault_text(sw_comm_fault_kind kind) { return kFaultTexts[kind]; }

/* Does the call involve another device? */
static bool has_others(const sw_comm_suite *s, int call) {
  const sw_suite_case *c = &s->cases[call];
  if (sw_coll_flags(c->coll.op) & SW_COLL_LOCAL) return false;
  if (c->by_messages) return c->coll.offset % c->coll.axes[0].size != 0;
  sw_circle circle;
  sw_circle_of(&s->mesh, &c->coll, 0, &circle);
  return sw_circle_size(&circle) > 1;
}

sw_comm_fault_end sw_comm_suite_fault_end(const sw_comm_suite *s, const sw_comm_fault *f) {
  bool told = f->kind == SW_FAULT_OTHER || f->kind == SW_FAULT_RECEIVE || f->kind == SW_FAULT_FAIL;
  if (f->kind == SW_FAULT_SKIP || f->kind == SW_FAULT_REPEAT) told = has_others(s, f->call);
  if (f->kind == SW_FAULT_ROOT) told = s->cases[f->call].coll.n_root > 0 && has_others(s, f->call);
  for (int i = f->call; f->kind == SW_FAULT_LEAVE && i < s->n; i++) told = told || has_others(s, i);
  if (told) return SW_FAULT_ENDS_BADLY;
  return f->kind == SW_FAULT_MEMORY || f->kind == SW_FAULT_LEAVE ? SW_FAULT_ENDS_ANYHOW : SW_FAULT_ENDS_WELL;
}

/* A call that is not in the program: a sum over the whole mesh, or a recv. */
static sw_rc stray_call(const sw_comm_suite *s, sw_comm *comm, int64_t device, bool receives, sw_diag *d) {
  sw_collective c = {.op = receives ? SW_COLL_RECV : SW_COLL_ALL_REDUCE, .n_axes = s->mesh.n_axes};
  for (int a = 0; a < s->mesh.n_axes; a++) c.axes[a] = sw_axis_whole(&s->mesh, a);
  double x[2] = {0};
  sw_buffer in = {&x[0], SW_F64, 0, {0}, {0}}, out = {&x[1], SW_F64, 0, {0}, {0}};
  return sw_comm_run(comm, device, &(sw_comm_call){.coll = &c, .in = &in, .out = &out, .where = -1}, d);
}

/* The call with another root, where it has one. */
static sw_rc run_with_other_root(player *p, int call, sw_diag *d) {
  attempt a;
  SW_TRY(prepare_attempt(p, call, &a, d));
  for (int i = 0; i < a.coll.n_root; i++) a.coll.root[i] = (a.coll.root[i] + 1) % a.coll.axes[i].size;
  sw_comm_call one = call_of(p, &a);
  return sw_comm_run(p->comm, p->device, &one, d);
}

/* What happens instead of, or before, a call. *skips: the call itself is left out; *ends: and so is the rest. */
static sw_rc do_fault(const sw_comm_suite *s, sw_comm *comm, const sw_comm_fault *f, bool *skips, bool *ends,
                      sw_diag *d) {
  *skips = f->kind == SW_FAULT_SKIP || f->kind == SW_FAULT_OTHER || f->kind == SW_FAULT_RECEIVE;
  *ends = f->kind == SW_FAULT_LEAVE;
  if (f->kind == SW_FAULT_FAIL) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "an injected failure");
  if (f->kind == SW_FAULT_MEMORY) sw_mem_fail_after(1 + (long)(f->amount % 40));
  struct timespec pause = {.tv_nsec = (long)(f->amount % 3000000)};
  if (f->kind == SW_FAULT_DELAY) (void)nanosleep(&pause, NULL);
  bool strays = f->kind == SW_FAULT_OTHER || f->kind == SW_FAULT_RECEIVE;
  return strays ? stray_call(s, comm, f->device, f->kind == SW_FAULT_RECEIVE, d) : SW_OK;
}

/* --- programs --- */

typedef struct progress {
  attempt started; /* a call that is waited for after the next one; request NULL: none */
  bool skips, ends;
} progress;

/* Faults meet calls that are not started, so that they stand where the program says. */
static bool starts(const player *p, int call) {
  const sw_suite_case *c = &p->suite->cases[call];
  return !c->by_messages && sw_hash_u64((uint64_t)p->device, c->start_seed) % 4 == 0;
}

static sw_rc play(player *p, progress *g, int i, const sw_comm_fault *f, sw_diag *d) {
  if (f) SW_TRY(do_fault(p->suite, p->comm, f, &g->skips, &g->ends, d));
  if (f && (g->skips || g->ends)) return SW_OK;
  if (!f && !g->started.request && i + 1 < p->suite->n && starts(p, i)) return start_case(p, i, &g->started, d);
  bool alters = f && f->kind == SW_FAULT_ROOT && p->suite->cases[i].coll.n_root > 0;
  SW_TRY(alters ? run_with_other_root(p, i, d) : run_case(p, i, d));
  if (f && f->kind == SW_FAULT_REPEAT) SW_TRY(run_case(p, i, d));
  return g->started.request ? end_case(p, &g->started, d) : SW_OK;
}

sw_rc sw_comm_suite_run(const sw_comm_suite *s, sw_comm *comm, int64_t device, const sw_comm_fault *f, sw_diag *d) {
  player p = {.suite = s, .comm = comm, .device = device};
  progress g = {.skips = false};
  sw_rc rc = SW_OK;
  for (int i = 0; i < s->n && !rc && !g.ends; i++) {
    rc = play(&p, &g, i, f && f->device == device && f->call == i ? f : NULL, d);
    if (!g.started.request) sw_arena_reset(&p.scratch);
  }
  if (!rc && g.started.request && !g.ends) rc = end_case(&p, &g.started, d);
  /* A started call still uses these buffers, until this device leaves. */
  if (g.started.request) rc = sw_comm_leave(comm, device, rc, rc && d ? d->text : NULL, d);
  sw_arena_deinit(&p.scratch);
  return rc;
}
