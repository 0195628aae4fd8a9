/* Running a device program: the communicator, the devices' arguments, and what is left to read when it fails.
 *
 *   over 4 threads devices 0 .. 3 run here; in process 2 of an MPI run, device 2
 */
#include "exec/parallel.h"

#include <string.h>

#include "shardwright/log.h"

static sw_comm_options comm_options(const sw_parallel_options *o) {
  return (sw_comm_options){.timeout_s = o->timeout_s,
                           .jitter_seed = o->jitter_seed,
                           .cancel = o->cancel,
                           .on_call = o->on_call,
                           .on_call_user = o->listener};
}

sw_rc sw_parallel_open(const sw_mesh *grid, const sw_parallel_options *o, sw_parallel *out, sw_diag *d) {
  const sw_comm_options co = comm_options(o);
  *out = (sw_parallel){.o = o, .grid = grid, .devices = sw_mesh_devices(grid)};
  out->end = out->devices;
  if (!o->mpi) return sw_comm_create_threads(grid, &co, &out->comm, d);
  SW_TRY(sw_comm_create_mpi(grid, &co, &out->comm, &out->first, d));
  out->end = out->first + 1;
  return SW_OK;
}

sw_rc sw_parallel_close(sw_parallel *p, sw_rc rc, sw_diag *d) {
  if (p->comm && p->o->mpi) rc = sw_comm_leave(p->comm, p->first, rc, rc && d ? d->text : NULL, d);
  sw_comm_destroy(p->comm);
  for (int s = 0; s < SW_MAX_STREAMS; s++) sw_comm_destroy(p->beside[s]);
  p->comm = NULL;
  memset(p->beside, 0, sizeof p->beside);
  return rc;
}

/* Those of the streams that communicate. */
static sw_rc open_beside(sw_parallel *p, const sw_exec_delays *delays, sw_diag *d) {
  const sw_comm_options co = comm_options(p->o);
  for (int s = SW_STREAM_LEVEL; s < SW_STREAM_TO_HOST; s++)
    if (delays->has[s] && !p->beside[s]) SW_TRY(sw_comm_create_threads(p->grid, &co, &p->beside[s], d));
  return SW_OK;
}

/* Where each device stood when the run failed. */
static void log_flight_record(const sw_parallel *p) {
  sw_text text = {0};
  sw_comm_report(p->comm, &text);
  sw_log(SW_LOG_WARN, "the last collectives of each device:\n%s", sw_text_str(&text));
  sw_text_free(&text);
}

sw_rc sw_parallel_run(sw_parallel *run, const sw_exec_program *p, const sw_exec_options *o, const sw_tensor *blocks,
                      sw_tensor *outputs, sw_diag *d) {
  const sw_graph *g = p->graph;
  if (o->delays) SW_TRY(open_beside(run, o->delays, d));
  size_t n = (size_t)run->devices * (size_t)g->n_args;
  sw_exec_program program = *p;
  sw_exec_options options = *o;
  const sw_buffer **args = sw_mem_alloc(n + 1, sizeof *args, d);
  if (!args) return SW_E_RESOURCE;
  for (size_t i = 0; i < n; i++) args[i] = &blocks[i];
  program.mesh = run->grid;
  program.comm = run->comm;
  memcpy(program.beside, run->beside, sizeof program.beside);
  options.cancel = run->o->cancel;
  options.on_op = run->o->on_op;
  options.on_op_user = run->o->listener;
  double start = sw_now_s();
  sw_rc rc = run->o->mpi ? sw_exec_run_device(&program, run->first, args + run->first * g->n_args, &options,
                                              &outputs[run->first * g->n_outputs], d)
                         : sw_exec_run_spmd(&program, args, &options, outputs, d);
  run->seconds = sw_now_s() - start;
  if (rc && rc != SW_E_CANCELLED && !run->o->quiet) log_flight_record(run);
  sw_mem_free(args);
  return rc;
}

static void add_stats_of(const sw_comm *comm, int64_t device, sw_comm_stats *sum) {
  sw_comm_stats s;
  sw_comm_get_stats(comm, device, &s);
  for (int c = 0; c < SW_COLL_COUNT; c++) {
    sum->calls[c] += s.calls[c];
    sum->bytes_received[c] += s.bytes_received[c];
  }
}

void sw_parallel_add_stats(const sw_parallel *p, sw_comm_stats *sum) {
  for (int64_t device = p->first; device < p->end; device++) {
    add_stats_of(p->comm, device, sum);
    for (int s = 0; s < SW_MAX_STREAMS; s++)
      if (p->beside[s]) add_stats_of(p->beside[s], device, sum);
  }
}
