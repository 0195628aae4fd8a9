/* The public calls: each goes to the communicator's engine. */
#include "comm/engine.h"

#include <string.h>

/* Set before main by the MPI engine, where one is linked. */
static sw_comm_mpi_create mpi_create;

void sw_comm_provide_mpi(sw_comm_mpi_create create) { mpi_create = create; }

sw_rc sw_comm_create_mpi(const sw_mesh *mesh, const sw_comm_options *o, sw_comm **out, int64_t *device, sw_diag *d) {
  if (!mpi_create)
    return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE,
                   "this program has no MPI in it; use shardwright-openmpi or shardwright-mpich under mpirun");
  return mpi_create(mesh, o, out, device, d);
}

static sw_rc check_device(const sw_comm *c, int64_t device, sw_diag *d) {
  if (device >= 0 && device < c->devices) return SW_OK;
  return SW_FAIL_INPUT(d, SW_NOWHERE, "device %lld is not in a mesh of %lld devices", (long long)device,
                       (long long)c->devices);
}

void sw_comm_destroy(sw_comm *c) {
  if (c) c->engine->destroy(c);
}

static void tell_call(const sw_comm *c, int64_t device, const sw_comm_call *call, double start_s, sw_rc rc) {
  sw_comm_event e = {&c->mesh, device, call, start_s, sw_now_s(), rc};
  c->options.on_call(c->options.on_call_user, &e);
}

static sw_rc run_and_tell(sw_comm *c, int64_t device, const sw_comm_call *call, sw_diag *d) {
  double start = sw_now_s();
  sw_rc rc = c->engine->run(c, device, call, d);
  tell_call(c, device, call, start, rc);
  return rc;
}

sw_rc sw_comm_run(sw_comm *c, int64_t device, const sw_comm_call *call, sw_diag *d) {
  SW_TRY(check_device(c, device, d));
  return c->options.on_call ? run_and_tell(c, device, call, d) : c->engine->run(c, device, call, d);
}

sw_rc sw_comm_start(sw_comm *c, int64_t device, const sw_comm_call *call, sw_comm_request **out, sw_diag *d) {
  *out = NULL;
  SW_TRY(check_device(c, device, d));
  double start = c->options.on_call ? sw_now_s() : 0;
  sw_rc rc = c->engine->start(c, device, call, out, d);
  if (c->options.on_call) tell_call(c, device, call, start, rc);
  return rc;
}

sw_rc sw_comm_wait(sw_comm *c, sw_comm_request *request, sw_diag *d) { return c->engine->wait(c, request, d); }

sw_rc sw_comm_leave(sw_comm *c, int64_t device, sw_rc rc, const char *why, sw_diag *d) {
  SW_TRY(check_device(c, device, d));
  return c->engine->leave(c, device, rc, why, d);
}

void sw_comm_get_stats(const sw_comm *c, int64_t device, sw_comm_stats *out) {
  memset(out, 0, sizeof *out);
  if (!check_device(c, device, NULL)) c->engine->get_stats(c, device, out);
}

void sw_comm_report(const sw_comm *c, sw_text *out) { c->engine->report(c, out); }
