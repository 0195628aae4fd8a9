/* Runs: a graph on this thread, or a device program on one thread per device.
 *
 * A device that fails leaves the communicator, so that nobody waits for it; the others then fail too, and the failure
 * that came first is the one reported.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "exec/device.h"
#include "exec/parallel.h"

static const sw_exec_options kNoOptions;

sw_rc sw_exec_run(const sw_graph *g, const sw_buffer *const *args, const sw_exec_options *o, sw_tensor *outputs,
                  sw_diag *d) {
  sw_device v = {.graph = g, .options = o ? o : &kNoOptions, .began_s = sw_now_s()};
  return sw_device_execute(&v, args, outputs, d);
}

sw_rc sw_exec_run_device(const sw_exec_program *p, int64_t device, const sw_buffer *const *args,
                         const sw_exec_options *o, sw_tensor *outputs, sw_diag *d) {
  sw_device v = {.graph = p->graph, .program = p, .device = device, .options = o ? o : &kNoOptions};
  v.began_s = sw_now_s();
  sw_rc rc = sw_device_execute(&v, args, outputs, d);
  if (rc) sw_diag_note(d, "on device %lld of %lld", (long long)device, (long long)sw_mesh_devices(p->mesh));
  return rc;
}

typedef struct device_thread {
  sw_device v;
  const sw_buffer *const *args;
  sw_tensor *outputs;
  atomic_int *failures; /* of all devices so far */
  int failed_as;        /* this device was the n-th to fail, from 0; -1: it did not */
  pthread_t thread;
  bool started;
  sw_rc rc;
  sw_diag diag;
} device_thread;

static void device_failed(device_thread *t, sw_rc rc) {
  t->rc = rc;
  t->failed_as = atomic_fetch_add(t->failures, 1);
}

/* A failure is noted before the others hear of it and fail, too. */
static void device_end(device_thread *t, sw_rc rc) {
  const sw_exec_program *p = t->v.program;
  if (rc) device_failed(t, rc);
  for (int s = 0; s < SW_MAX_STREAMS; s++) {
    sw_comm *c = s == SW_STREAM_WORK ? p->comm : p->beside[s];
    const sw_rc left = c ? sw_comm_leave(c, t->v.device, rc, t->diag.text, &t->diag) : SW_OK;
    if (left && !t->rc) device_failed(t, left);
  }
}

static void *device_main(void *arg) {
  device_thread *t = arg;
  device_end(t, sw_device_execute(&t->v, t->args, t->outputs, &t->diag));
  return NULL;
}

/* False: neither it nor those behind it run; a failure ends the others. */
static bool device_start(device_thread *t, const pthread_attr_t *how) {
  sw_rc rc = SW_OK;
  if (atomic_load(t->failures) > 0) return false;
  if (sw_cancelled(t->v.options->cancel)) {
    rc = SW_FAIL(&t->diag, SW_E_CANCELLED, SW_NOWHERE, "execution was interrupted");
  } else {
    int error = pthread_create(&t->thread, how, device_main, t);
    t->started = error == 0;
    if (error) rc = SW_FAIL(&t->diag, SW_E_RESOURCE, SW_NOWHERE, "no thread for the device: %s", strerror(error));
  }
  if (rc) device_end(t, rc);
  return !rc;
}

static void run_device_threads(device_thread *threads, int64_t devices) {
  pthread_attr_t how;
  pthread_attr_init(&how);
  (void)pthread_attr_setstacksize(&how, SW_DEVICE_STACK_BYTES);
  for (int64_t i = 0; i < devices && device_start(&threads[i], &how);) i++;
  pthread_attr_destroy(&how);
  for (int64_t i = 0; i < devices; i++) {
    if (threads[i].started) (void)pthread_join(threads[i].thread, NULL);
  }
}

/* The device that failed first, or NULL. */
static const device_thread *first_failure(const device_thread *threads, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    if (threads[i].failed_as == 0) return &threads[i];
  }
  return NULL;
}

static sw_rc report_failure(const device_thread *t, int64_t devices, sw_diag *d) {
  if (d) *d = t->diag;
  sw_diag_note(d, "on device %lld of %lld", (long long)t->v.device, (long long)devices);
  return t->rc;
}

sw_rc sw_exec_run_spmd(const sw_exec_program *p, const sw_buffer *const *args, const sw_exec_options *o,
                       sw_tensor *outputs, sw_diag *d) {
  const sw_graph *g = p->graph;
  int64_t devices = sw_mesh_devices(p->mesh);
  device_thread *threads;
  SW_MEM_NEW(threads, devices, d);
  atomic_int failures = 0;
  double began_s = sw_now_s();
  memset(outputs, 0, (size_t)(devices * g->n_outputs) * sizeof *outputs);
  for (int64_t i = 0; i < devices; i++) {
    threads[i] = (device_thread){
        .v = {.graph = g, .program = p, .device = i, .options = o ? o : &kNoOptions, .began_s = began_s},
        .args = args + i * g->n_args,
        .outputs = outputs + i * g->n_outputs,
        .failures = &failures,
        .failed_as = -1};
  }
  run_device_threads(threads, devices);
  const device_thread *failed = first_failure(threads, devices);
  sw_rc rc = failed ? report_failure(failed, devices, d) : SW_OK;
  for (int64_t i = 0; rc && i < devices * g->n_outputs; i++) sw_tensor_deinit(&outputs[i]);
  sw_mem_free(threads);
  return rc;
}
