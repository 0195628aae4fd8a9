/* SPMD programs from text on device threads. Each list of devices that talk has a communicator of its own, in which a
 * device's number is its place in the list:
 *
 *   all_reduce of groups {0, 2}, {1, 3}    two communicators of two devices; device 2 is number 1 of the first
 *   collective_permute                     sends and receives in the one of all devices
 */
#include "shardwright/local.h"

#include <string.h>

#include "exec/block.h"
#include "shardwright/array.h"
#include "shardwright/hash.h"
#include "shardwright/scalar.h"
#include "shardwright/validate.h"

/* Devices that talk, in order. */
typedef struct circle {
  sw_comm *comm;
  sw_mesh mesh;
  const int64_t *members;
} circle;

typedef struct seat {
  int32_t circle; /* -1: in no group */
  int64_t place;
} seat;

typedef struct runner {
  const sw_local_program *p;
  const sw_local_options *o;
  sw_arena arena;
  SW_ARRAY(circle) circles;
  sw_dict known;    /* members to number of the circle */
  int32_t *call_of; /* by op: its call, or -1 */
  seat *seats;      /* calls * devices, of GROUPS */
  int64_t *targets; /* calls * devices, of PAIRS: who gets the device's operand, or -1 */
} runner;

/* Where a device sits in the mesh. */
static int64_t position_of(const sw_local_program *p, int64_t device) {
  return p->position ? p->position[device] : device;
}

/* --- who talks with whom ------------------------------------------------------------------------------------------ */

static sw_rc open_circle(runner *r, const int64_t *members, int64_t n, int32_t *out, sw_diag *d) {
  int64_t *number;
  bool fresh;
  size_t bytes = (size_t)n * sizeof *members;
  SW_TRY(sw_dict_put(&r->known, members, bytes, (int64_t)r->circles.n, &number, &fresh, d));
  *out = (int32_t)*number;
  if (!fresh) return SW_OK;
  sw_comm_options o = {.timeout_s = r->o->timeout_s, .jitter_seed = r->o->jitter_seed, .cancel = r->o->cancel};
  circle c = {.mesh = {.n_axes = 1, .axis = {{.name = "group", .size = n}}}};
  c.members = sw_arena_copy(&r->arena, members, (size_t)n, sizeof *members, d);
  if (!c.members) return SW_E_RESOURCE;
  SW_TRY(sw_comm_create_threads(&c.mesh, &o, &c.comm, d));
  sw_rc rc = sw_array_push(&r->circles, c, d);
  if (rc) sw_comm_destroy(c.comm);
  return rc;
}

static sw_rc seat_groups(runner *r, const sw_local_call *c, seat *seats, sw_diag *d) {
  const int64_t *members = c->members;
  for (int64_t i = 0; i < r->p->devices; i++) seats[i].circle = -1;
  for (int32_t g = 0; g < c->n_groups; g++) {
    int32_t number;
    SW_TRY(open_circle(r, members, c->sizes[g], &number, d));
    for (int64_t i = 0; i < c->sizes[g]; i++) seats[members[i]] = (seat){number, i};
    members += c->sizes[g];
  }
  return SW_OK;
}

static sw_rc open_runner(runner *r, sw_diag *d) {
  const sw_local_program *p = r->p;
  int64_t *all;
  int32_t first;
  SW_ARENA_NEW(r->call_of, &r->arena, p->graph->n_ops, d);
  SW_ARENA_NEW(r->seats, &r->arena, p->n_calls * p->devices, d);
  SW_ARENA_NEW(r->targets, &r->arena, p->n_calls * p->devices, d);
  SW_ARENA_NEW(all, &r->arena, p->devices, d);
  for (int64_t i = 0; i < p->devices; i++) all[i] = i;
  SW_TRY(open_circle(r, all, p->devices, &first, d)); /* number 0 */
  for (int32_t i = 0; i < p->graph->n_ops; i++) r->call_of[i] = -1;
  for (int32_t k = 0; k < p->n_calls; k++) {
    const sw_local_call *c = &p->calls[k];
    int64_t *targets = r->targets + k * p->devices;
    r->call_of[c->op] = k;
    for (int64_t i = 0; i < p->devices; i++) targets[i] = -1;
    for (int64_t i = 0; i < p->devices && c->kind == SW_LOCAL_PAIRS; i++) {
      if (c->by_device[i] >= 0) targets[c->by_device[i]] = i;
    }
    if (c->kind == SW_LOCAL_GROUPS) SW_TRY(seat_groups(r, c, r->seats + k * p->devices, d));
  }
  return SW_OK;
}

static void close_runner(runner *r) {
  for (size_t i = 0; i < r->circles.n; i++) sw_comm_destroy(r->circles.at[i].comm);
  sw_array_free(&r->circles);
  sw_dict_deinit(&r->known);
  sw_arena_deinit(&r->arena);
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

static int64_t bytes_of(const sw_buffer *b) { return sw_buffer_elements(b) * sw_dtype_bytes(b->dtype); }

static sw_rc run_group(runner *r, const sw_local_call *c, int64_t device, const sw_buffer *in, sw_buffer *out,
                       sw_diag *d) {
  seat s = r->seats[(c - r->p->calls) * r->p->devices + device];
  if (s.circle < 0) {
    memset(out->data, 0, (size_t)bytes_of(out));
    return SW_OK;
  }
  const circle *at = &r->circles.at[s.circle];
  sw_collective coll = c->coll;
  coll.n_axes = 1;
  coll.axes[0] = sw_axis_whole(&at->mesh, 0);
  return sw_comm_run(at->comm, s.place, &(sw_comm_call){.coll = &coll, .in = in, .out = out, .where = c->op}, d);
}

/* The sends of a round never wait for each other: they are started, and ended after the device has received. */
static sw_rc run_pair(runner *r, const sw_local_call *c, int64_t device, const sw_buffer *in, sw_buffer *out,
                      sw_diag *d) {
  const circle *all = &r->circles.at[0];
  int64_t source = c->by_device[device], target = r->targets[(c - r->p->calls) * r->p->devices + device];
  sw_collective send = {.op = SW_COLL_SEND, .n_axes = 1, .n_root = 1, .root = {target}}, receive = send;
  sw_comm_request *sent = NULL;
  sw_rc rc = SW_OK;
  send.axes[0] = receive.axes[0] = sw_axis_whole(&all->mesh, 0);
  receive.op = SW_COLL_RECV;
  receive.root[0] = source;
  sw_comm_call sending = {.coll = &send, .in = in, .where = c->op}, receiving = {.coll = &receive, .out = out};
  receiving.where = c->op;
  if (source < 0) memset(out->data, 0, (size_t)bytes_of(out));
  if (source == device) memcpy(out->data, in->data, (size_t)bytes_of(out));
  if (target >= 0 && target != device) SW_TRY(sw_comm_start(all->comm, device, &sending, &sent, d));
  if (source >= 0 && source != device) rc = sw_comm_run(all->comm, device, &receiving, d);
  if (!sent) return rc;
  sw_rc ended = sw_comm_wait(all->comm, sent, rc ? NULL : d);
  return rc ? rc : ended;
}

static void give_number(const sw_local_call *c, int64_t device, sw_buffer *out) {
  sw_scalar v = sw_scalar_convert(SW_I64, out->dtype, sw_scalar_load(SW_I64, &c->by_device[device]));
  sw_scalar_store(out->dtype, v, out->data);
}

static sw_rc run_call(void *user, int64_t device, const sw_op *op, const sw_buffer *const *in, sw_buffer *const *out,
                      sw_diag *d) {
  runner *r = user;
  int32_t k = r->call_of[op - r->p->graph->ops];
  if (k < 0) return sw_exec_eval(op, in, out, &(sw_exec_ctx){0}, d); /* refused there */
  const sw_local_call *c = &r->p->calls[k];
  for (int i = 0; i < op->n_results; i++) {
    if (c->kind == SW_LOCAL_GROUPS) SW_TRY(run_group(r, c, device, in[i], out[i], d));
    if (c->kind == SW_LOCAL_PAIRS) SW_TRY(run_pair(r, c, device, in[i], out[i], d));
    if (c->kind == SW_LOCAL_NUMBER) give_number(c, device, out[i]);
  }
  return SW_OK;
}

/* Its place in a circle, or -1. */
static int64_t place_in(const circle *c, int64_t device) {
  for (int64_t i = 0; i < c->mesh.axis[0].size; i++) {
    if (c->members[i] == device) return i;
  }
  return -1;
}

static sw_rc leave(void *user, int64_t device, sw_rc rc, sw_diag *d) {
  runner *r = user;
  for (size_t i = 0; i < r->circles.n; i++) {
    int64_t place = place_in(&r->circles.at[i], device);
    if (place >= 0) rc = sw_comm_leave(r->circles.at[i].comm, place, rc, rc ? d->text : NULL, d);
  }
  return rc;
}

static void add_stats(const runner *r, sw_local_stats *out) {
  for (size_t i = 0; i < r->circles.n; i++) {
    for (int64_t k = 0; k < r->circles.at[i].mesh.axis[0].size; k++) {
      sw_comm_stats s;
      sw_comm_get_stats(r->circles.at[i].comm, k, &s);
      for (int c = 0; c < SW_COLL_COUNT; c++) {
        out->comm.calls[c] += s.calls[c];
        out->comm.bytes_received[c] += s.bytes_received[c];
      }
    }
  }
}

/* --- the run ------------------------------------------------------------------------------------------------------ */

static sw_rc cut_all(const sw_local_program *p, const sw_tensor *args, sw_tensor *blocks, bool *own, sw_diag *d) {
  int32_t n = p->graph->functions[p->graph->main].n_args;
  for (int32_t i = 0; i < n; i++) {
    sw_cut c = {.mesh = &p->mesh,
                .sharding = &p->args[i].sharding,
                .whole = &args[i],
                .position = p->position,
                .end = p->devices,
                .stride = n,
                .poison = true};
    bool borrows;
    SW_TRY(sw_cut_blocks(&c, blocks + i, own + i, &borrows, d));
  }
  return SW_OK;
}

static sw_rc execute(runner *r, const sw_tensor *args, sw_tensor *blocks, sw_local_stats *stats, sw_diag *d) {
  const sw_local_program *p = r->p;
  int64_t n = p->devices * p->graph->functions[p->graph->main].n_args;
  sw_mesh all = {.n_axes = 1, .axis = {{.name = "device", .size = p->devices}}};
  sw_exec_calls calls = {run_call, leave, r};
  sw_exec_program program = {.graph = p->graph, .mesh = &all, .calls = &calls};
  sw_exec_options o = {.poison = true, .cancel = r->o->cancel, .on_op = r->o->on_op, .on_op_user = r->o->on_op_user};
  sw_tensor *in;
  const sw_buffer **list;
  bool *own;
  SW_ARENA_NEW(in, &r->arena, n, d);
  SW_ARENA_NEW(own, &r->arena, n, d);
  SW_ARENA_NEW(list, &r->arena, n, d);
  for (int64_t i = 0; i < n; i++) list[i] = &in[i];
  sw_rc rc = cut_all(p, args, in, own, d);
  double start = sw_now_s();
  if (!rc) rc = sw_exec_run_spmd(&program, list, &o, blocks, d);
  stats->seconds = sw_now_s() - start;
  for (int64_t i = 0; i < n; i++) {
    if (own[i]) sw_tensor_deinit(&in[i]);
  }
  return rc;
}

sw_rc sw_local_run(const sw_local_program *p, const sw_tensor *args, const sw_local_options *o, sw_tensor *blocks,
                   sw_local_stats *stats, sw_diag *d) {
  static const sw_local_options kNone;
  runner r = {.p = p, .o = o ? o : &kNone};
  *stats = (sw_local_stats){0};
  sw_rc rc = open_runner(&r, d);
  if (!rc) rc = execute(&r, args, blocks, stats, d);
  if (!rc) add_stats(&r, stats);
  close_runner(&r);
  return rc;
}

/* --- whole outputs ------------------------------------------------------------------------------------------------ */

/* Devices later in order than others that hold the same elements agree with them, or those are counted. */
static sw_rc join_one(const sw_local_program *p, int32_t i, const sw_tensor *blocks, sw_tensor *out, int64_t *torn,
                      sw_diag *d) {
  const sw_local_border *b = &p->outputs[i];
  int32_t n = p->graph->functions[p->graph->main].n_outputs;
  SW_TRY(sw_tensor_init(out, b->whole.dtype, b->whole.rank, b->whole.dims, d));
  for (int64_t device = p->devices - 1; device >= 0; device--) { /* the first device's word counts */
    sw_block_copy(&p->mesh, &b->sharding, out, &blocks[device * n + i], position_of(p, device), true);
  }
  for (int64_t device = 1; device < p->devices && torn; device++) {
    sw_difference diff;
    sw_block_pair c = {&p->mesh, &b->sharding, out, &blocks[device * n + i], NULL, position_of(p, device)};
    SW_TRY(sw_block_compare(&c, (sw_tolerance){0, 0}, &diff, d));
    *torn += diff.differing;
  }
  return SW_OK;
}

sw_rc sw_local_join(const sw_local_program *p, const sw_tensor *blocks, sw_tensor *outputs, int64_t *torn, sw_diag *d) {
  int32_t n = p->graph->functions[p->graph->main].n_outputs;
  sw_rc rc = SW_OK;
  memset(outputs, 0, (size_t)n * sizeof *outputs);
  if (torn) *torn = 0;
  for (int32_t i = 0; i < n && !rc; i++) rc = join_one(p, i, blocks, &outputs[i], torn, d);
  for (int32_t i = 0; i < n && rc; i++) sw_tensor_deinit(&outputs[i]);
  return rc;
}

/* --- checks ------------------------------------------------------------------------------------------------------- */

static sw_rc verify_border(const sw_local_program *p, const char *what, int32_t i, const sw_local_border *b,
                           const sw_value *v, sw_diag *d) {
  int64_t dims[SW_MAX_RANK];
  bool fits = b->whole.dtype == v->type.dtype && b->whole.rank == v->type.rank && !b->sharding.n_partial;
  if (fits) SW_TRY(sw_sharding_verify(&p->mesh, &b->sharding, b->whole.rank, b->whole.dims, d));
  fits = fits && sw_sharding_local_dims(&b->sharding, b->whole.dims, dims);
  for (int k = 0; fits && k < b->whole.rank; k++) fits = dims[k] == v->type.dims[k];
  if (fits) return SW_OK;
  return SW_FAIL_INPUT(d, v->span, "%s %d is not a block of the tensor that it is said to be a part of", what, i);
}

static sw_rc verify_call(const sw_local_program *p, const sw_local_call *c, sw_diag *d) {
  const int64_t *m = c->members;
  for (int32_t g = 0; g < c->n_groups; g++) {
    for (int64_t i = 0; i < c->sizes[g]; i++, m++) {
      if (*m < 0 || *m >= p->devices) return SW_BUG(d, "a group has device %lld", (long long)*m);
    }
  }
  for (int64_t i = 0; i < p->devices && c->kind == SW_LOCAL_PAIRS; i++) {
    if (c->by_device[i] < -1 || c->by_device[i] >= p->devices) return SW_BUG(d, "a pair has another device");
  }
  return SW_OK;
}

sw_rc sw_local_verify(const sw_local_program *p, sw_diag *d) {
  const sw_graph *g = p->graph;
  const sw_function *f = &g->functions[g->main];
  if (sw_mesh_devices(&p->mesh) != p->devices) return SW_BUG(d, "the mesh has other devices than the program");
  for (int32_t i = 0; i < f->n_args; i++) {
    SW_TRY(verify_border(p, "argument", i, &p->args[i], &g->values[f->args[i]], d));
  }
  for (int32_t i = 0; i < f->n_outputs; i++) {
    SW_TRY(verify_border(p, "result", i, &p->outputs[i], &g->values[f->outputs[i]], d));
  }
  for (int32_t k = 0; k < p->n_calls; k++) SW_TRY(verify_call(p, &p->calls[k], d));
  return SW_OK;
}
