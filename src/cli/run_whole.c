/* shardwright run without a plan: the model as it is, on one device. */
#include "cli/run_whole.h"

#include "cli/arrays.h"
#include "cli/output.h"
#include "cli/run_report.h"
#include "shardwright/clock.h"
#include "shardwright/validate.h"

/* Room for a function's arguments and outputs. */
typedef struct tensors {
  sw_tensor *in, *out;
  const sw_buffer **buffers;
} tensors;

static sw_rc execute_whole(const sw_whole_run *r, const sw_graph *g, tensors *t, double *seconds, sw_diag *d) {
  for (int32_t i = 0; i < g->n_args; i++) t->buffers[i] = &t->in[i];
  double start = sw_now_s();
  SW_TRY(sw_exec_run(g, t->buffers, &(sw_exec_options){.cancel = r->cancel}, t->out, d));
  *seconds = sw_now_s() - start;
  sw_rc rc = r->outputs ? sw_arrays_write(g, r->outputs, t->out, d) : SW_OK;
  sw_arrays_free(t->out, g->n_outputs);
  return rc;
}

sw_rc sw_run_whole(const sw_whole_run *r, const sw_graph *g, sw_arena *arena, sw_diag *d) {
  tensors t;
  double seconds = 0;
  SW_ARENA_NEW(t.in, arena, g->n_args, d);
  SW_ARENA_NEW(t.out, arena, g->n_outputs, d);
  SW_ARENA_NEW(t.buffers, arena, g->n_args, d);
  SW_TRY(sw_arrays_check(g, r->inputs, r->outputs, d));
  SW_TRY(r->inputs ? sw_arrays_read(g, r->inputs, t.in, d) : sw_make_arguments(g, r->seed, r->random_floats, t.in, d));
  sw_rc rc = execute_whole(r, g, &t, &seconds, d);
  sw_arrays_free(t.in, g->n_args);
  if (rc) return rc;
  sw_text out = {0};
  if (r->json) {
    sw_report_unjudged_json(&(sw_run_unjudged){.graph = g, .devices = 1, .seconds = seconds}, &out);
    return sw_print_text(&out, d);
  }
  sw_text_printf(&out, "%s on one device: %d output%s\ntime: ", g->name, (int)g->n_outputs,
                 g->n_outputs == 1 ? "" : "s");
  sw_text_seconds(&out, seconds);
  sw_text_puts(&out, "\n");
  return sw_print_text(&out, d);
}
