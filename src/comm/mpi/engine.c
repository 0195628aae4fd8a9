/* The MPI engine: groups, headers, calls (see mpi.h for how a call goes). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "comm/call.h"
#include "comm/mpi/mpi.h"
#include "comm/signature.h"
#include "base/hash.h"

/* --- groups: sub-communicators, made by their members when they first need them --- */

static void free_group(sw_mpi_group *g) {
  sw_mem_free(g->devices);
  sw_mem_free(g->headers);
  sw_mem_free(g->members);
  sw_mem_free(g->in);
  sw_mem_free(g->out);
  sw_mem_free(g);
}

/* Making a communicator cannot be given up, so its members first hear of each other that they are about to. What they
 * write to stays when they do not. */
static sw_rc hear_all(sw_mpi *m, const sw_mpi_group *g, sw_diag *d) {
  uint64_t *said;
  MPI_Request *requests;
  int n = 0;
  SW_MEM_NEW(said, g->n + 1, d);
  SW_MEM_NEW(requests, 2 * g->n, d);
  said[g->n] = sw_hash_bytes(g->devices, (size_t)g->n * sizeof *g->devices, 1);
  for (int64_t i = 0; i < g->n; i++) {
    if (i == g->index) continue;
    MPI_Irecv(&said[i], sizeof *said, MPI_BYTE, (int)g->devices[i], SW_MPI_TAG_GROUP, m->world, &requests[n++]);
    MPI_Isend(&said[g->n], sizeof *said, MPI_BYTE, (int)g->devices[i], SW_MPI_TAG_GROUP, m->world, &requests[n++]);
  }
  SW_TRY(sw_mpi_wait(m, requests, n, d));
  said[g->index] = said[g->n];
  int64_t other = 0;
  while (other < g->n && said[other] == said[g->n]) other++;
  sw_mem_free(said);
  sw_mem_free(requests);
  if (other == g->n) return SW_OK;
  return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE,
                 "collective mismatch: device %lld makes a call in a group of %lld, of which device %lld calls in "
                 "another one with it",
                 (long long)m->device, (long long)g->n, (long long)g->devices[other]);
}

static sw_rc make_comm(sw_mpi *m, sw_mpi_group *g, sw_diag *d) {
  int *ranks;
  SW_TRY(hear_all(m, g, d));
  SW_MEM_NEW(ranks, g->n, d);
  for (int64_t i = 0; i < g->n; i++) ranks[i] = (int)g->devices[i];
  MPI_Group world, own;
  MPI_Comm_group(m->world, &world);
  MPI_Group_incl(world, (int)g->n, ranks, &own);
  MPI_Comm_create_group(m->world, own, SW_MPI_TAG_GROUP, &g->comm);
  MPI_Group_free(&own);
  MPI_Group_free(&world);
  sw_mem_free(ranks);
  return SW_OK;
}

static int64_t mpi_group_key(const sw_mpi_group *g) {
  const sw_circle *c = &g->circle;
  uint64_t axes = sw_hash_bytes(c->axes, (size_t)c->n_axes * sizeof *c->axes, c->list != NULL);
  return (int64_t)sw_hash_bytes(g->devices, (size_t)g->n * sizeof *g->devices, axes);
}

static void come_to_call(sw_mpi *m, sw_mpi_group *g, const sw_comm_call *call) {
  g->came = g->number + 1;
  sw_stand_wait(m, SW_STAND_MEMBERS, g, -1, call);
}

static sw_rc fill_group(sw_mpi *m, sw_mpi_group *g, sw_diag *d) {
  const sw_mesh *mesh = &m->base.mesh;
  g->n = sw_circle_size(&g->circle);
  g->index = sw_circle_index(mesh, &g->circle, m->device);
  SW_MEM_NEW(g->devices, g->n, d);
  SW_MEM_NEW(g->headers, g->n, d);
  SW_MEM_NEW(g->members, g->n, d);
  SW_MEM_NEW(g->in, g->n, d);
  SW_MEM_NEW(g->out, g->n, d);
  for (int64_t i = 0; i < g->n; i++) g->devices[i] = sw_circle_peer(mesh, &g->circle, m->device, i);
  g->key = mpi_group_key(g);
  g->listed = (sw_device_list){g->devices, g->n, g->index}; /* the caller's list may be gone by the next call */
  if (g->circle.list) g->circle.list = &g->listed;
  return SW_OK;
}

/* As its members say in what they wait for the others: the group is known before it has its communicator. */
static sw_rc new_group(sw_mpi *m, sw_mpi_group *g, const sw_comm_call *call, sw_diag *d) {
  SW_TRY(fill_group(m, g, d));
  m->groups.at[m->groups.n++] = g;
  come_to_call(m, g, call);
  sw_rc rc = make_comm(m, g, d);
  if (rc) m->groups.n--;
  return rc;
}

static sw_rc find_group(sw_mpi *m, const sw_comm_call *call, sw_mpi_group **out, sw_diag *d) {
  sw_circle circle;
  sw_circle_of(&m->base.mesh, call->coll, m->device, &circle);
  for (size_t i = 0; i < m->groups.n; i++) {
    *out = m->groups.at[i];
    if (sw_circle_equal(&(*out)->circle, &circle)) return SW_OK;
  }
  SW_TRY(sw_array_reserve(&m->groups, m->groups.n + 1, d));
  sw_mpi_group *g;
  SW_MEM_NEW(g, 1, d);
  g->circle = circle;
  *out = g;
  sw_rc rc = new_group(m, g, call, d);
  if (rc) free_group(g);
  return rc;
}

/* --- headers --- */

static sw_header header_of(const sw_mpi *m, const sw_mpi_group *g, const sw_comm_call *call) {
  sw_header h = {.where = call->where, .number = g->number};
  h.signature = sw_signature_at(sw_signature(call), call->where);
  h.has_in = call->in != NULL;
  h.has_out = call->out != NULL;
  if (call->in) h.in = *call->in;
  if (call->out) h.out = *call->out;
  sw_text text = {0};
  sw_call_print(&m->base.mesh, call, &text);
  snprintf(h.text, sizeof h.text, "%s", sw_text_str(&text));
  sw_text_free(&text);
  return h;
}

static sw_rc swap_headers(sw_mpi *m, sw_mpi_group *g, const sw_comm_call *call, sw_diag *d) {
  sw_header mine = header_of(m, g, call);
  MPI_Request request;
  MPI_Iallgather(&mine, (int)sizeof mine, MPI_BYTE, g->headers, (int)sizeof mine, MPI_BYTE, g->comm, &request);
  return sw_mpi_wait(m, &request, 1, d);
}

/* What the members' headers show to the arithmetic; own buffers with their data. */
static void show_members(sw_mpi_group *g, const sw_comm_call *call) {
  for (int64_t j = 0; j < g->n; j++) {
    sw_header *h = &g->headers[j];
    g->in[j] = h->in;
    g->out[j] = h->out;
    g->in[j].data = g->out[j].data = NULL;
    g->members[j] = (sw_member){.call = *call, .device = g->devices[j]};
    g->members[j].call.in = h->has_in ? &g->in[j] : NULL;
    g->members[j].call.out = h->has_out ? &g->out[j] : NULL;
  }
  g->members[g->index].call = *call;
}

static sw_rc compare_headers(const sw_mpi_group *g, sw_diag *d) {
  int64_t other = 1;
  while (other < g->n && g->headers[other].signature == g->headers[0].signature) other++;
  if (other >= g->n) return SW_OK;
  const sw_header *a = &g->headers[0], *b = &g->headers[other];
  return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE,
                 "collective mismatch: device %lld calls at position %lld '%s', device %lld of its group at position "
                 "%lld '%s' (call %lld of the group)",
                 (long long)g->devices[0], (long long)a->where, a->text, (long long)g->devices[other],
                 (long long)b->where, b->text, (long long)a->number + 1);
}

/* --- calls --- */

static sw_rc run_group(sw_mpi *m, const sw_comm_call *call, sw_diag *d) {
  sw_mpi_group *g;
  int64_t bytes, valid[SW_MAX_RANK];
  SW_TRY(find_group(m, call, &g, d));
  come_to_call(m, g, call);
  SW_TRY(swap_headers(m, g, call, d));
  sw_stand_wait(m, SW_STAND_NONE, NULL, -1, NULL);
  g->number++;
  SW_TRY(compare_headers(g, d));
  show_members(g, call);
  SW_TRY(sw_mpi_collect(m, g, call, &bytes, d));
  m->stats.bytes_received[call->coll->op] += bytes;
  if (!call->out || call->coll->op == SW_COLL_BARRIER) return SW_OK;
  sw_view view = {&m->base.mesh, call->coll, g->n, g->members, sizeof *g->members};
  sw_moves_valid(&view, g->index, valid);
  memcpy(call->out->valid, valid, sizeof valid);
  if (!sw_moves_defined(&view, g->index) && !m->base.options.keep_undefined) sw_buffer_poison(call->out);
  return SW_OK;
}

static sw_rc run_checked(sw_mpi *m, const sw_comm_call *call, sw_diag *d) {
  sw_coll_op op = call->coll->op;
  SW_TRY(sw_call_check(&m->base.mesh, m->device, call, d));
  m->stats.calls[op]++;
  m->calls++;
  m->last_op = op;
  m->last_where = call->where;
  if (sw_coll_flags(op) & SW_COLL_LOCAL) return sw_call_run_local(&m->base.mesh, m->device, call, d);
  if (op == SW_COLL_SEND) return sw_mpi_send(m, call, d);
  return op == SW_COLL_RECV ? sw_mpi_receive(m, call, d) : run_group(m, call, d);
}

static sw_rc mpi_run(sw_comm *c, int64_t device, const sw_comm_call *call, sw_diag *d) {
  sw_mpi *m = sw_mpi_of(c);
  sw_diag local = {0};
  if (device != m->device)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "device %lld is another process's; this one is %lld", (long long)device,
                         (long long)m->device);
  sw_patience patience = sw_patience_begin(&m->base);
  SW_TRY(sw_mpi_look(m, &patience, d));
  sw_rc rc = run_checked(m, call, &local);
  return rc ? sw_mpi_fail(m, &local, d) : SW_OK;
}

struct sw_comm_request {
  int64_t where;
};

static sw_rc mpi_start(sw_comm *c, int64_t device, const sw_comm_call *call, sw_comm_request **out, sw_diag *d) {
  SW_MEM_NEW(*out, 1, d);
  sw_rc rc = mpi_run(c, device, call, d);
  if (!rc) return SW_OK;
  sw_mem_free(*out);
  *out = NULL;
  return rc;
}

static sw_rc mpi_wait(sw_comm *c, sw_comm_request *request, sw_diag *d) {
  (void)c, (void)d;
  sw_mem_free(request);
  return SW_OK;
}

static sw_rc leave_well(sw_mpi *m, sw_diag *d) {
  SW_TRY(sw_stand_leave(m, d));
  return sw_mpi_check_read(m, d);
}

static sw_rc mpi_leave(sw_comm *c, int64_t device, sw_rc rc, const char *why, sw_diag *d) {
  sw_mpi *m = sw_mpi_of(c);
  sw_diag local = {0};
  if (rc) {
    (void)SW_FAIL(&local, SW_E_RESOURCE, SW_NOWHERE, "device %lld failed: %s", (long long)device,
                  why ? why : sw_rc_text(rc));
    (void)sw_mpi_fail(m, &local, NULL);
    return rc;
  }
  if (m->left) return SW_OK;
  m->left = true;
  rc = leave_well(m, &local);
  return rc ? sw_mpi_fail(m, &local, d) : SW_OK;
}

static void mpi_get_stats(const sw_comm *c, int64_t device, sw_comm_stats *out) {
  const sw_mpi *m = (const sw_mpi *)(const void *)c;
  if (device == m->device) *out = m->stats;
}

static void mpi_report(const sw_comm *c, sw_text *out) {
  const sw_mpi *m = (const sw_mpi *)(const void *)c;
  sw_text_printf(out, "device %lld: %lld calls, the last %s@%lld\n", (long long)m->device, (long long)m->calls,
                 sw_coll_text(m->last_op), (long long)m->last_where);
  sw_stand_print_others(m, out);
}

/* The exit status of a failed run must not wait for ranks that will not come. */
static int failed_rc;

static void end_mpi(void) {
  int ended;
  MPI_Finalized(&ended);
  if (ended) return;
  if (!failed_rc) {
    MPI_Finalize();
    return;
  }
  /* The launcher forgets what it has not passed on when a rank aborts: time for the message to get there. */
  const struct timespec kPassedOn = {.tv_nsec = 300000000};
  fflush(NULL);
  nanosleep(&kPassedOn, NULL);
  MPI_Abort(MPI_COMM_WORLD, failed_rc);
}

static void mpi_destroy(sw_comm *c) {
  sw_mpi *m = sw_mpi_of(c);
  if (m->failure.rc) {
    failed_rc = (int)m->failure.rc;
    return; /* MPI may still write into buffers of the call that failed */
  }
  for (size_t i = 0; i < m->groups.n; i++) {
    MPI_Comm_free(&m->groups.at[i]->comm);
    free_group(m->groups.at[i]);
  }
  sw_array_free(&m->groups);
  sw_mpi_mail_free(m);
  sw_stand_free(m);
  MPI_Comm_free(&m->world);
  sw_mem_free(m);
}

static const sw_comm_engine kMpi = {
    .name = "mpi",
    .destroy = mpi_destroy,
    .run = mpi_run,
    .start = mpi_start,
    .wait = mpi_wait,
    .leave = mpi_leave,
    .get_stats = mpi_get_stats,
    .report = mpi_report,
};

static sw_rc create(const sw_mesh *mesh, const sw_comm_options *o, sw_comm **out, int64_t *device, sw_diag *d) {
  int started, rank, size;
  SW_TRY(sw_mesh_verify(mesh, true, d));
  MPI_Initialized(&started);
  if (!started) {
    MPI_Init(NULL, NULL);
    if (atexit(end_mpi)) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "cannot arrange for MPI to be ended");
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != sw_mesh_devices(mesh)) /* every process says so, and none has to be ended */
    return SW_FAIL_INPUT(d, SW_NOWHERE, "the mesh has %lld devices and MPI runs %d processes; expected as many",
                         (long long)sw_mesh_devices(mesh), size);
  sw_mpi *m;
  SW_MEM_NEW(m, 1, d);
  m->base = (sw_comm){.engine = &kMpi, .mesh = *mesh, .devices = size};
  m->device = *device = rank;
  if (o) m->base.options = *o;
  if (!(m->base.options.timeout_s > 0)) m->base.options.timeout_s = 30;
  sw_rc rc = sw_stand_init(m, d);
  if (rc) {
    sw_stand_free(m);
    sw_mem_free(m);
    return rc;
  }
  MPI_Comm_dup(MPI_COMM_WORLD, &m->world);
  *out = &m->base;
  return SW_OK;
}

__attribute__((constructor)) static void provide(void) { sw_comm_provide_mpi(create); }
