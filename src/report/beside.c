#include "report/beside.h"

#include <math.h>

#include "shardwright/report.h"

const char *sw_stream_text(const sw_plan *p, int stream) {
  static const char *const kNames[] = {
      [SW_STREAM_WORK] = "work", [SW_STREAM_TO_HOST] = "to host", [SW_STREAM_FROM_HOST] = "from host"};
  return kNames[stream] ? kNames[stream] : sw_machine_level_name(p->job.machine, stream - SW_STREAM_LEVEL);
}

const char *sw_timed_collective(const sw_breakdown *a, const sw_timed *e) {
  const sw_route *route = e->reshard < 0 ? NULL : a->reshards[e->reshard].route;
  return route && e->hop >= 0 && e->hop < route->n_steps ? sw_coll_text(route->step[e->hop].coll.op) : NULL;
}

bool sw_timed_is_exchange(const sw_timed *e) { return e->stream != SW_STREAM_WORK; }

void sw_reshards_hidden(const sw_timeline *t, double *hidden_s) {
  for (int32_t i = 0; i < t->n; i++) {
    const sw_timed *e = &t->at[i];
    if (sw_timed_is_exchange(e) && e->reshard >= 0)
      hidden_s[e->reshard] += fmax(0, e->end_s - e->start_s - e->exposed_s) * (double)e->repeats;
  }
}

static const char *timed_name(const sw_plan *p, const sw_breakdown *a, const sw_timed *e) {
  return e->reshard < 0 ? p->job.graph->ops[e->op].name : p->job.graph->values[a->reshards[e->reshard].value].name;
}

/* What ends when it starts: what it exchanges, or what its stream was busy with; NULL: neither. */
static const sw_timed *find_before(const sw_breakdown *a, const sw_timed *x, bool on_stream) {
  const double kRounding = 1e-9;
  for (int32_t i = 0; i < a->timeline->n; i++) {
    const sw_timed *e = &a->timeline->at[i];
    if (e == x || e->end_s <= e->start_s || fabs(e->end_s - x->start_s) > kRounding * x->start_s) continue;
    if (on_stream ? e->stream == x->stream : e->reshard >= 0 && e->reshard == x->reshard && e < x) return e;
  }
  return NULL;
}

static void print_why(const sw_plan *p, const sw_breakdown *a, const sw_timed *x, sw_text *out) {
  const double kRounding = 1e-9;
  const sw_graph *g = p->job.graph;
  const sw_id def = g->values[x->reshard < 0 ? g->ops[x->op].operands[0] : a->reshards[x->reshard].value].def;
  const sw_timed *maker = NULL, *busy = find_before(a, x, true);
  for (int32_t i = 0; i < a->timeline->n; i++)
    if (def >= 0 && a->timeline->at[i].reshard < 0 && a->timeline->at[i].op == def) maker = &a->timeline->at[i];
  sw_text_puts(out, "    exposed ");
  sw_text_seconds(out, x->exposed_s);
  if (x->needed >= 0) sw_text_printf(out, ": '%s' waits", timed_name(p, a, &a->timeline->at[x->needed]));
  if (maker && fabs(maker->end_s - x->start_s) <= kRounding * x->start_s)
    sw_text_printf(out, ", and '%s' was made right before", timed_name(p, a, maker));
  else if (busy)
    sw_text_printf(out, ", and '%s' was on its link before", timed_name(p, a, busy));
  else if (!find_before(a, x, false))
    sw_text_puts(out, x->start_s > 0 ? ", and it was issued no earlier" : ", and nothing runs before");
  sw_text_puts(out, "\n");
}

void sw_beside_print(const sw_plan *p, const sw_breakdown *a, int32_t reshard, sw_id op, const char *runs,
                     sw_text *out) {
  const sw_timeline *t = a->timeline;
  const sw_timed *first = NULL, *last = NULL, *most = NULL;
  double from = HUGE_VAL, to = 0;
  for (int32_t i = 0; i < t->n; i++) {
    const sw_timed *e = &t->at[i];
    if (e->reshard != reshard || (reshard < 0 && e->op != op) || !sw_timed_is_exchange(e)) continue;
    from = fmin(from, e->start_s);
    to = fmax(to, e->end_s);
    if (!most || e->exposed_s > most->exposed_s) most = e;
  }
  for (int32_t i = 0; i < t->n; i++) {
    const sw_timed *e = &t->at[i];
    if (sw_timed_is_exchange(e) || e->reshard >= 0 || e->end_s <= from || e->start_s >= to || e->end_s <= e->start_s)
      continue;
    if (!first || e->start_s < first->start_s) first = e;
    if (!last || e->end_s > last->end_s) last = e;
  }
  if (first) sw_text_printf(out, "    %s beside '%s'", runs, timed_name(p, a, first));
  if (first != last) sw_text_printf(out, " to '%s'", timed_name(p, a, last));
  if (first) sw_text_puts(out, "\n");
  if (most && most->exposed_s > 0) print_why(p, a, most, out);
}
