/* Programs over MPI that end in some way, four devices on the mesh x=2,y=2:
 *
 *   mpirun -n 4 mpi_ends_openmpi unread     prints how each device's program has ended; status 0: all well
 *
 * tests/run-mpi says what is expected.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "shardwright/comm.h"
#include "shardwright/clock.h"

typedef struct program {
  const sw_mesh *mesh;
  sw_comm *comm;
  int64_t device;
} program;

/* A sum along an axis, or over all devices (axis 2). */
static sw_rc sum(const program *p, int axis, int64_t where, sw_diag *d) {
  int32_t x = 1, y = 0;
  sw_collective c = {.op = SW_COLL_ALL_REDUCE, .n_axes = axis == 2 ? 2 : 1};
  for (int i = 0; i < c.n_axes; i++) c.axes[i] = sw_axis_whole(p->mesh, axis == 2 ? i : axis);
  sw_buffer in = {&x, SW_I32, 0, {0}, {0}}, out = {&y, SW_I32, 0, {0}, {0}};
  SW_TRY(sw_comm_run(p->comm, p->device, &(sw_comm_call){.coll = &c, .in = &in, .out = &out, .where = where}, d));
  return y == (axis == 2 ? 4 : 2) ? SW_OK : SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "a sum of %d", y);
}

/* To or from member `peer` of the group of all devices; -1: from any. */
static sw_rc message(const program *p, sw_coll_op op, int64_t peer, int64_t where, sw_diag *d) {
  int32_t x = 5;
  sw_collective c = {.op = op, .n_axes = 2, .n_root = peer < 0 ? 0 : 2, .root = {peer / 2, peer % 2}};
  for (int i = 0; i < 2; i++) c.axes[i] = sw_axis_whole(p->mesh, i);
  sw_buffer b = {&x, SW_I32, 0, {0}, {0}};
  sw_comm_call call = {.coll = &c, .in = op == SW_COLL_SEND ? &b : NULL, .out = op == SW_COLL_RECV ? &b : NULL};
  call.where = where;
  return sw_comm_run(p->comm, p->device, &call, d);
}

static void pause_s(double seconds) {
  struct timespec t = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
  (void)nanosleep(&t, NULL);
}

static sw_rc unread(const program *p, sw_diag *d) { return p->device == 0 ? message(p, SW_COLL_SEND, 1, 7, d) : SW_OK; }

/* 0 waits for 2 along x, 2 for 3 along y, 3 for 1 along x, 1 for 0 along y. */
static sw_rc circle(const program *p, sw_diag *d) {
  static const int kAxis[] = {0, 1, 1, 0};
  return sum(p, kAxis[p->device], 10 + p->device, d);
}

/* The same when the groups have met before. */
static sw_rc known_circle(const program *p, sw_diag *d) {
  for (int i = 0; i < 3; i++) {
    SW_TRY(sum(p, 0, 1, d));
    SW_TRY(sum(p, 1, 2, d));
  }
  return circle(p, d);
}

static sw_rc receivers(const program *p, sw_diag *d) {
  return message(p, SW_COLL_RECV, p->device == 0 ? -1 : 0, 20 + p->device, d);
}

/* Three sum all devices' values, and one wants the largest. */
static sw_rc mismatch(const program *p, sw_diag *d) {
  int32_t x = 1, y = 0;
  sw_collective c = {
      .op = SW_COLL_ALL_REDUCE, .n_axes = 2, .reduction = p->device == 3 ? SW_REDUCE_MAX : SW_REDUCE_SUM};
  for (int i = 0; i < 2; i++) c.axes[i] = sw_axis_whole(p->mesh, i);
  sw_buffer in = {&x, SW_I32, 0, {0}, {0}}, out = {&y, SW_I32, 0, {0}, {0}};
  return sw_comm_run(p->comm, p->device, &(sw_comm_call){.coll = &c, .in = &in, .out = &out, .where = 30}, d);
}

static sw_rc leaver(const program *p, sw_diag *d) {
  SW_TRY(sum(p, 2, 1, d));
  return p->device == 3 ? SW_OK : sum(p, 2, 2, d);
}

/* Who has ended waits for the others however long they compute. */
static sw_rc slow_end(const program *p, sw_diag *d) {
  SW_TRY(sum(p, 2, 1, d));
  if (p->device == 2) pause_s(1.5);
  return SW_OK;
}

/* Devices that come late, one after the other, so that waits are told all the time. */
static sw_rc delays(const program *p, sw_diag *d) {
  sw_rng rng;
  sw_rng_seed(&rng, 1);
  for (int i = 0; i < 24; i++) {
    int64_t late = sw_rng_below(&rng, 4), axis = sw_rng_below(&rng, 3), to = sw_rng_below(&rng, 4);
    if (p->device == late) pause_s(0.08);
    SW_TRY(sum(p, (int)axis, 2 * i, d));
    if (to == late) continue;
    if (p->device == to) SW_TRY(message(p, SW_COLL_RECV, i % 2 ? -1 : late, 2 * i + 1, d));
    if (p->device == late) pause_s(0.08);
    if (p->device == late) SW_TRY(message(p, SW_COLL_SEND, to, 2 * i + 1, d));
  }
  return SW_OK;
}

static const struct {
  const char *name;
  sw_rc (*run)(const program *p, sw_diag *d);
  double timeout_s;
} kPrograms[] = {
    {"unread", unread, 20},       {"circle", circle, 20},     {"known_circle", known_circle, 20},
    {"receivers", receivers, 20}, {"leaver", leaver, 20},     {"slow_end", slow_end, 0.5},
    {"delays", delays, 20},       {"mismatch", mismatch, 20},
};

static sw_rc run(size_t k, const sw_mesh *mesh, sw_diag *d) {
  program p = {.mesh = mesh};
  SW_TRY(sw_comm_create_mpi(mesh, &(sw_comm_options){.timeout_s = kPrograms[k].timeout_s}, &p.comm, &p.device, d));
  sw_rc rc = kPrograms[k].run(&p, d);
  rc = sw_comm_leave(p.comm, p.device, rc, rc ? d->text : NULL, d);
  printf("device %d: %s\n", (int)p.device, rc ? d->text : "ended well");
  sw_text report = {0};
  sw_comm_report(p.comm, &report);
  if (rc && p.device == 0) printf("%s", sw_text_str(&report));
  sw_text_free(&report);
  sw_comm_destroy(p.comm);
  return rc;
}

int main(int argc, char **argv) {
  sw_mesh mesh = {.n_axes = 2, .axis = {{.name = "x", .size = 2}, {.name = "y", .size = 2}}};
  sw_diag d = {0};
  for (size_t k = 0; argc == 2 && k < sizeof kPrograms / sizeof kPrograms[0]; k++)
    if (strcmp(argv[1], kPrograms[k].name) == 0) return (int)run(k, &mesh, &d);
  fprintf(stderr, "usage: mpi_ends unread|circle|...\n");
  return SW_E_USAGE;
}
