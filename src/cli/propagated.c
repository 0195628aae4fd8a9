#include "cli/propagated.h"

#include "shardwright/log.h"

/* The plan is one of the model as it is given, so that it can be used with it: it borrows the shardings that the same
 * program has after Shardy's propagation. */
sw_rc sw_plan_of_propagated(const sw_model_options *from, const sw_opened *session, const sw_text *text, sw_traversal t,
                            sw_arena *arena, sw_opened *read, sw_plan *out, sw_diag *d) {
  const sw_graph *g = session->job.graph;
  sw_model_options other = *from;
  other.open.text = sw_text_str(text);
  other.open.text_bytes = text->n;
  *read = (sw_opened){.profile = session->profile, .sizes = session->sizes, .stand_in = session->stand_in};
  SW_TRY(sw_session_read_again(&other, from->mesh ? sw_machine_mesh(session->job.machine) : NULL, read, d));
  if (g->n_ops != read->job.graph->n_ops || g->n_values != read->job.graph->n_values)
    return SW_BUG(d, "a program has other ops with its shardings");
  sw_request asked = *session->job.request;
  sw_job job = session->job;
  asked.annotations = read->job.request->annotations;
  asked.n_annotations = read->job.request->n_annotations;
  job.request = &asked;
  SW_TRY(sw_propagate(&job, t, arena, out, d));
  out->job = session->job;
  return SW_OK;
}

static void tell_whether_carried(const sw_breakdown *plan, const sw_breakdown *alone) {
  const double kSame = 1e-3; /* of the plan's time */
  sw_text t = {0};
  const double dearer = plan->total_s > 0 ? alone->total_s / plan->total_s - 1 : 0;
  if (dearer <= kSame && alone->peak_bytes <= plan->peak_bytes) {
    sw_log(SW_LOG_INFO, "shardings of arguments and results alone carry the plan");
    return;
  }
  sw_text_puts(&t, "shardings of arguments and results alone do not carry the plan: what Shardy makes of them takes ");
  sw_text_seconds(&t, alone->total_s);
  sw_text_printf(&t, " a run (%+.1f %%) and ", 100 * dearer);
  sw_text_bytes(&t, (double)alone->peak_bytes);
  sw_text_puts(&t, " instead of ");
  sw_text_bytes(&t, (double)plan->peak_bytes);
  sw_text_puts(&t, "; --emit sdy says them all");
  sw_log(SW_LOG_WARN, "%s", sw_text_str(&t));
  sw_text_free(&t);
}

static sw_rc compare_with_plan(const sw_model_options *from, const sw_opened *session, const sw_text *ends,
                               const sw_breakdown *of_plan, sw_arena *arena, sw_diag *d) {
  const sw_propagation how = {.layer = SW_LAYER_WHOLE, .same_ops = true};
  sw_text text = {0};
  sw_opened read = {0};
  sw_plan alone;
  sw_breakdown of_alone;
  sw_rc rc = sw_program_propagate(from->open.model, ends->at, ends->n, &how, &text, d);
  if (!rc) rc = sw_plan_of_propagated(from, session, &text, SW_TRAVERSE_BACKWARD_FORWARD, arena, &read, &alone, d);
  if (!rc) rc = sw_plan_breakdown(&alone, arena, &of_alone, d);
  if (!rc) tell_whether_carried(of_plan, &of_alone);
  sw_close_job(&read);
  sw_text_free(&text);
  return rc;
}

sw_rc sw_tell_ends_alone(const sw_model_options *from, const sw_opened *session, const sw_plan *plan,
                         const sw_breakdown *of_plan, sw_arena *arena, sw_diag *d) {
  sw_text ends = {0};
  if (!session->program || session->job.graph != sw_program_graph(session->program)) return SW_OK;
  sw_rc rc = sw_program_emit(session->program, plan, "sdy-ends", &ends, d);
  if (!rc) rc = compare_with_plan(from, session, &ends, of_plan, arena, d);
  sw_text_free(&ends);
  if (rc != SW_E_INFEASIBLE && rc != SW_E_INPUT) return rc;
  sw_log(SW_LOG_WARN, "what shardings of arguments and results alone make of the program cannot be told: %s",
         d ? d->text : "");
  if (d) *d = (sw_diag){0};
  return SW_OK;
}
