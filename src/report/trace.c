/* Chrome traces. A slice is a "complete" event:
 *
 *   {"name": "all_reduce", "cat": "comm", "ph": "X", "ts": 12.5, "dur": 3.0, "pid": 0, "tid": 1,
 *    "args": {"position": 17, "bytes": 4096, "group": [0, 1], "detail": "all_reduce axes=[x] reduction=sum"}}
 *
 * with times in microseconds; a track's name is a "metadata" event. Streams are threads of their device's process. Each
 * track keeps its own list, so adding takes no lock, and slices come out in the order of tracks and starts.
 */
#include "report/trace.h"

#include "base/array.h"
#include "base/file.h"
#include "io/json_write.h"

/* What is shown of a call beside its detail; bytes -1: of no call. */
typedef struct call_facts {
  int64_t position, bytes;
  const int64_t *group; /* devices; NULL: all */
  int n_group;
} call_facts;

typedef struct slice {
  const char *name, *category, *detail; /* in the track's arena */
  double start_s, end_s;
  call_facts call;
} slice;

typedef struct track {
  sw_arena arena;
  SW_ARRAY(slice) slices;
  int64_t lost;
} track;

struct sw_trace {
  int64_t n; /* tracks */
  int n_streams;
  const char *const *streams; /* names; NULL: of a device all is on one track */
  track *tracks;
};

sw_rc sw_trace_create(int64_t devices, const char *const *streams, sw_trace **out, sw_diag *d) {
  sw_trace *t;
  SW_MEM_NEW(t, 1, d);
  t->streams = streams;
  t->n_streams = streams ? SW_MAX_STREAMS : 1;
  t->n = devices * t->n_streams;
  t->tracks = sw_mem_alloc((size_t)t->n, sizeof *t->tracks, d);
  if (!t->tracks) {
    sw_mem_free(t);
    return SW_E_RESOURCE;
  }
  *out = t;
  return SW_OK;
}

void sw_trace_destroy(sw_trace *t) {
  if (!t) return;
  for (int64_t i = 0; i < t->n; i++) {
    sw_array_free(&t->tracks[i].slices);
    sw_arena_deinit(&t->tracks[i].arena);
  }
  sw_mem_free(t->tracks);
  sw_mem_free(t);
}

static const char *keep_trace_text(track *k, const char *text) {
  return sw_arena_printf(&k->arena, NULL, "%s", text ? text : "");
}

static track *track_of(sw_trace *t, int64_t device, int stream) {
  const int64_t i = device * t->n_streams + (t->streams ? stream : 0);
  return i >= 0 && i < t->n ? &t->tracks[i] : NULL;
}

static void add_slice(track *k, slice s) {
  s.name = keep_trace_text(k, s.name);
  s.category = keep_trace_text(k, s.category);
  s.detail = keep_trace_text(k, s.detail);
  if (!s.name || !s.category || !s.detail || sw_array_push(&k->slices, s, NULL)) k->lost++;
}

void sw_trace_add(sw_trace *t, int64_t device, const char *name, const char *category, double start_s, double end_s,
                  const char *detail) {
  track *k = track_of(t, device, 0);
  if (k) add_slice(k, (slice){name, category, detail, start_s, end_s, {.bytes = -1}});
}

/* The devices that take part, where the call names them; in the track's arena. */
static void find_call_group(track *k, const sw_comm_event *e, call_facts *facts) {
  const sw_collective *c = e->call->coll;
  if (sw_coll_flags(c->op) & SW_COLL_TILED) return;
  int64_t n = sw_collective_members(c, e->device),
          *devices = sw_arena_alloc(&k->arena, (size_t)n, sizeof *devices, NULL);
  for (int64_t i = 0; devices && i < n; i++) devices[i] = sw_collective_peer(e->mesh, c, e->device, i);
  facts->group = devices;
  facts->n_group = (int)n;
}

void sw_trace_on_call(void *trace, const sw_comm_event *e) {
  track *k = track_of(trace, e->device, 0);
  if (!k) return;
  sw_text text = {0};
  const sw_buffer *shown = e->call->in ? e->call->in : e->call->out;
  call_facts facts = {.position = e->call->where};
  if (shown) (void)sw_buffer_bytes(shown, &facts.bytes);
  find_call_group(k, e, &facts);
  sw_collective_print(e->mesh, e->call->coll, &text);
  if (e->rc) sw_text_puts(&text, ", failed");
  add_slice(k, (slice){sw_coll_text(e->call->coll->op), "comm", sw_text_str(&text), e->start_s, e->end_s, facts});
  sw_text_free(&text);
}

void sw_trace_on_op(void *trace, const sw_exec_event *e) {
  track *k = track_of(trace, e->device, e->stream);
  if (!k || (e->op && e->op->collective)) return;
  sw_text text = {0};
  sw_text_printf(&text, "%s%s", e->op ? e->op->name : e->item->of, e->rc ? ", failed" : "");
  add_slice(k, (slice){e->op ? sw_opcode_text(e->op->code) : e->item->what,
                       e->stream >= SW_STREAM_LEVEL ? "comm" : "compute",
                       sw_text_str(&text),
                       e->start_s,
                       e->end_s,
                       {.bytes = -1}});
  sw_text_free(&text);
}

static double first_start(const sw_trace *t) {
  double first = 0;
  bool any = false;
  for (int64_t i = 0; i < t->n; i++)
    for (size_t s = 0; s < t->tracks[i].slices.n; s++) {
      double start = t->tracks[i].slices.at[s].start_s;
      if (!any || start < first) first = start;
      any = true;
    }
  return first;
}

/* Its process and thread. */
static void print_place(sw_json_out *o, const sw_trace *t, int64_t i) {
  sw_jw_i64(o, "pid", t->streams ? i / t->n_streams : 0);
  sw_jw_i64(o, "tid", t->streams ? i % t->n_streams : i);
}

/* What: "thread_name" or "process_name". NULL `of`: it is of a whole device. */
static void print_name(sw_json_out *o, const sw_trace *t, int64_t i, const char *what, const char *of) {
  const track *k = &t->tracks[i];
  sw_jw_object_row(o, NULL);
  sw_jw_string(o, "name", what);
  sw_jw_string(o, "ph", "M");
  print_place(o, t, i);
  sw_jw_object_row(o, "args");
  sw_text name = {0};
  if (of)
    sw_text_puts(&name, of);
  else
    sw_text_printf(&name, "device %lld", (long long)(i / t->n_streams));
  if (k->lost) sw_text_printf(&name, " (%lld slices lost)", (long long)k->lost);
  sw_jw_text(o, "name", &name);
  sw_jw_end(o);
  sw_jw_end(o);
}

static void print_args(sw_json_out *o, const slice *s) {
  sw_jw_object_row(o, "args");
  if (s->call.bytes >= 0) {
    sw_jw_i64(o, "position", s->call.position);
    sw_jw_i64(o, "bytes", s->call.bytes);
    if (s->call.group)
      sw_jw_i64_list(o, "group", s->call.group, s->call.n_group);
    else
      sw_jw_string(o, "group", "all");
  }
  if (s->detail[0]) sw_jw_string(o, "detail", s->detail);
  sw_jw_end(o);
}

static void print_slice(sw_json_out *o, const sw_trace *t, int64_t i, const slice *s, double zero_s) {
  sw_jw_object_row(o, NULL);
  sw_jw_string(o, "name", s->name);
  sw_jw_string(o, "cat", s->category);
  sw_jw_string(o, "ph", "X");
  sw_jw_f64(o, "ts", (s->start_s - zero_s) * 1e6);
  sw_jw_f64(o, "dur", (s->end_s - s->start_s) * 1e6);
  print_place(o, t, i);
  if (s->detail[0] || s->call.bytes >= 0) print_args(o, s);
  sw_jw_end(o);
}

void sw_trace_print(const sw_trace *t, sw_text *out) {
  double zero = first_start(t);
  sw_json_out o;
  sw_json_out_init(&o, out);
  sw_jw_object(&o, NULL);
  sw_jw_string(&o, "displayTimeUnit", "ms");
  sw_jw_array(&o, "traceEvents");
  for (int64_t i = 0; i < t->n; i++) {
    const char *name = t->streams ? t->streams[i % t->n_streams] : NULL;
    if (t->streams && i % t->n_streams == 0) print_name(&o, t, i, "process_name", NULL);
    if (name || !t->streams) print_name(&o, t, i, "thread_name", name);
    for (size_t s = 0; s < t->tracks[i].slices.n; s++) print_slice(&o, t, i, &t->tracks[i].slices.at[s], zero);
  }
  sw_jw_end(&o);
  sw_jw_end(&o);
}

sw_rc sw_trace_write(const sw_trace *t, const char *path, sw_diag *d) {
  sw_text text = {0};
  sw_trace_print(t, &text);
  sw_rc rc = text.rc ? SW_FAIL(d, text.rc, SW_NOWHERE, "no memory to print the trace")
                     : sw_file_write(path, sw_text_str(&text), text.n, d);
  sw_text_free(&text);
  return rc;
}
