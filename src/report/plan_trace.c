/* A plan's timeline in the Chrome trace format (trace.h): a track for each stream, flows from a collective to the
 * kernel that waits for it, and what a device holds as a counter. Of loops the first trip is shown.
 */
#include "io/json_write.h"
#include "report/beside.h"
#include "shardwright/report.h"

/* One on a track, left open. */
static void begin_event(sw_json_out *o, const char *phase, int track, const char *name) {
  sw_jw_object_row(o, NULL);
  sw_jw_string(o, "name", name);
  sw_jw_string(o, "ph", phase);
  sw_jw_i64(o, "pid", 0);
  sw_jw_i64(o, "tid", track);
}

static void put_track(sw_json_out *o, const sw_plan *p, int stream) {
  begin_event(o, "M", stream, "thread_name");
  sw_jw_object_row(o, "args");
  sw_jw_string(o, "name", stream == SW_STREAM_WORK ? "kernels" : sw_stream_text(p, stream));
  sw_jw_end(o);
  sw_jw_end(o);
}

static void put_flow(sw_json_out *o, const char *phase, int track, int32_t id, double at_s) {
  begin_event(o, phase, track, "needed");
  sw_jw_string(o, "cat", "needed");
  sw_jw_i64(o, "id", id);
  sw_jw_f64(o, "ts", at_s * 1e6);
  if (*phase == 'f') sw_jw_string(o, "bp", "e");
  sw_jw_end(o);
}

static void put_timed_slice(sw_json_out *o, const sw_plan *p, const sw_breakdown *a, int32_t i) {
  const sw_timed *e = &a->timeline->at[i];
  const sw_plan_reshard *r = e->reshard < 0 ? NULL : &a->reshards[e->reshard];
  const char *collective = sw_timed_collective(a, e),
             *work = r ? "copy" : sw_opcode_text(p->job.graph->ops[e->op].code);
  begin_event(o, "X", e->stream, collective ? collective : work);
  sw_jw_f64(o, "ts", e->start_s * 1e6);
  sw_jw_f64(o, "dur", (e->end_s - e->start_s) * 1e6);
  sw_jw_object_row(o, "args");
  sw_jw_string(o, "of", r ? p->job.graph->values[r->value].name : p->job.graph->ops[e->op].name);
  if (e->repeats != 1) sw_jw_i64(o, "repeats", e->repeats);
  if (sw_timed_is_exchange(e)) sw_jw_f64(o, "exposed_us", e->exposed_s * 1e6);
  sw_jw_end(o);
  sw_jw_end(o);
  if (e->needed < 0) return;
  put_flow(o, "s", e->stream, i, e->start_s);
  put_flow(o, "f", a->timeline->at[e->needed].stream, i, a->timeline->at[e->needed].start_s);
}

/* When the op of a step starts; a step that begins nothing has no entry of its own. */
static void put_memory_then(sw_json_out *o, const sw_breakdown *a, const sw_timed *e) {
  begin_event(o, "C", 0, "memory");
  sw_jw_f64(o, "ts", e->start_s * 1e6);
  sw_jw_object_row(o, "args");
  sw_jw_i64(o, "bytes", a->bytes_at[e->op]);
  sw_jw_end(o);
  sw_jw_end(o);
}

void sw_plan_trace_print(const sw_plan *p, const sw_breakdown *a, sw_text *out) {
  const sw_timeline *t = a->timeline;
  sw_json_out o;
  sw_json_out_init(&o, out);
  sw_jw_object(&o, NULL);
  sw_jw_string(&o, "displayTimeUnit", "ms");
  sw_jw_array(&o, "traceEvents");
  for (int s = SW_STREAM_WORK; s < SW_MAX_STREAMS; s++)
    if (t->busy_s[s] > 0) put_track(&o, p, s);
  for (int32_t i = 0; i < t->n; i++) {
    if (t->at[i].end_s <= t->at[i].start_s) continue;
    put_timed_slice(&o, p, a, i);
    if (t->at[i].stream == SW_STREAM_WORK && t->at[i].reshard < 0) put_memory_then(&o, a, &t->at[i]);
  }
  sw_jw_end(&o);
  sw_jw_end(&o);
}
