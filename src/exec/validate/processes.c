/* Gathering what processes hold, as bytes in one all_gather over the whole mesh.
 *
 *   2 processes, blocks of 3 bytes: [a b c] and [d e f] become [a b c d e f] in both
 */
#include "exec/validate/processes.h"

#include <string.h>

/* all: room for `bytes` of each member, in the order of sw_processes_device. */
static sw_rc gather_from_all(const sw_processes *p, const void *own, int64_t bytes, void *all, sw_diag *d) {
  int64_t n = sw_mesh_devices(p->mesh);
  sw_collective c = {.op = SW_COLL_ALL_GATHER, .n_axes = p->mesh->n_axes};
  for (int a = 0; a < p->mesh->n_axes; a++) c.axes[a] = sw_axis_whole(p->mesh, a);
  void *in = sw_mem_alloc((size_t)bytes + 1, 1, d); /* not const, as a buffer's data is */
  if (!in) return SW_E_RESOURCE;
  if (bytes) memcpy(in, own, (size_t)bytes);
  sw_buffer from = {in, SW_U8, 1, {bytes}, {bytes}}, to = {all, SW_U8, 1, {bytes * n}, {bytes * n}};
  sw_rc rc = sw_comm_run(p->comm, p->device, &(sw_comm_call){.coll = &c, .in = &from, .out = &to, .where = -1}, d);
  sw_mem_free(in);
  return rc;
}

/* The device of the i-th member of the whole mesh. */
static int64_t device_of(const sw_processes *p, int64_t i) {
  sw_axis_ref axes[SW_MAX_AXES];
  for (int a = 0; a < p->mesh->n_axes; a++) axes[a] = sw_axis_whole(p->mesh, a);
  return sw_mesh_group_peer(p->mesh, p->device, axes, p->mesh->n_axes, i);
}

/* Blocks of an output have the same padded dims everywhere. */
static sw_rc share_tensor(const sw_processes *p, int32_t n, int32_t i, sw_tensor *all, sw_diag *d) {
  const sw_tensor *own = &all[p->device * n + i];
  int64_t bytes = 0, devices = sw_mesh_devices(p->mesh);
  (void)sw_buffer_bytes(own, &bytes); /* it exists */
  char *room = sw_mem_alloc((size_t)(bytes * devices) + 1, 1, d);
  sw_rc rc = room ? gather_from_all(p, own->data, bytes, room, d) : SW_E_RESOURCE;
  for (int64_t m = 0; !rc && m < devices; m++) {
    int64_t device = device_of(p, m);
    sw_tensor *t = &all[device * n + i];
    if (device == p->device) continue;
    rc = sw_tensor_init(t, own->dtype, own->rank, own->dims, d);
    if (!rc && bytes) memcpy(t->data, room + m * bytes, (size_t)bytes);
  }
  sw_mem_free(room);
  return rc;
}

sw_rc sw_processes_share_tensors(const sw_processes *p, int32_t n, sw_tensor *all, sw_diag *d) {
  for (int32_t i = 0; i < n; i++) SW_TRY(share_tensor(p, n, i, all, d));
  return SW_OK;
}

enum { NAME_BYTES = 128 };

/* What one process has found, without pointers. */
typedef struct findings {
  sw_comm_stats comm;
  int64_t values_compared;
  bool bad;
  int32_t step;
  sw_validate_entry entry;
  char op[NAME_BYTES], value[NAME_BYTES];
} findings;

static void add_findings(const findings *f, sw_validation *v) {
  for (int c = 0; c < SW_COLL_COUNT; c++) {
    v->comm.calls[c] += f->comm.calls[c];
    v->comm.bytes_received[c] += f->comm.bytes_received[c];
  }
  v->values_compared += f->values_compared;
}

static sw_rc adopt(const findings *f, sw_validation *v, sw_arena *arena, sw_diag *d) {
  char *op = sw_arena_printf(arena, d, "%s", f->op), *value = sw_arena_printf(arena, d, "%s", f->value);
  if (!op || !value) return SW_E_RESOURCE;
  v->first_bad_op = op;
  v->first_bad = f->entry;
  v->first_bad.name = value;
  return SW_OK;
}

static findings own_findings(int32_t step, const sw_validation *v) {
  findings f;
  memset(&f, 0, sizeof f); /* padding is sent, too */
  f.comm = v->comm;
  f.values_compared = v->values_compared;
  f.bad = v->first_bad_op != NULL;
  f.step = step;
  f.entry = v->first_bad;
  if (!f.bad) return f;
  snprintf(f.op, sizeof f.op, "%s", v->first_bad_op);
  snprintf(f.value, sizeof f.value, "%s", v->first_bad.name);
  return f;
}

sw_rc sw_processes_share_findings(const sw_processes *p, int32_t first_bad_step, sw_validation *v, sw_arena *arena,
                                  sw_diag *d) {
  int64_t n = sw_mesh_devices(p->mesh);
  findings own = own_findings(first_bad_step, v), *all;
  SW_ARENA_NEW(all, arena, n, d);
  SW_TRY(gather_from_all(p, &own, sizeof own, all, d));
  const findings *first = NULL;
  memset(&v->comm, 0, sizeof v->comm);
  v->values_compared = 0;
  v->first_bad_op = NULL;
  for (int64_t i = 0; i < n; i++) {
    add_findings(&all[i], v);
    if (all[i].bad && (!first || all[i].step < first->step)) first = &all[i];
  }
  return first ? adopt(first, v, arena, d) : SW_OK;
}
