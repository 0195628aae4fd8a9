/* shardwright comm bench: collectives timed one after the other, printed as nccl-tests does.
 *
 *   op         devices  size(B)  count  type  redop  root   time(us)  algbw  busbw  #wrong   (the same in place) limit
 *   all_reduce       2     4096   1024   f32    sum    -1       0.55   7.41   7.41       0   ... 31%
 */
#include <string.h>

#include "cli/cmd_comm.h"
#include "cli/output.h"
#include "comm/comm_bench.h"

typedef struct sweep {
  sw_comm_bench base; /* what all rows share */
  sw_mesh mesh;
  bool ops[SW_COLL_COUNT];
  int64_t devices[32];
  int n_devices;
  int64_t from, to;
  double bus_sum;
  int64_t rows, wrong;
} sweep;

static sw_rc read_device_counts(const char *text, sw_arena *arena, sweep *w, sw_diag *d) {
  while (*text) {
    size_t n = strcspn(text, ",");
    char *word = sw_arena_strndup(arena, text, n, d);
    if (!word) return SW_E_RESOURCE;
    if (w->n_devices == (int)(sizeof w->devices / sizeof w->devices[0]))
      return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "too many device counts in --devices");
    SW_TRY(sw_parse_i64(word, 1, 4096, "a device count", &w->devices[w->n_devices++], d));
    text += n + (text[n] == ',');
  }
  return SW_OK;
}

/* The groups of a mesh: over the axes named, or all. */
static sw_rc read_bench_mesh(const char *mesh, const char *axes, sw_arena *arena, sweep *w, sw_diag *d) {
  sw_comm_bench *b = &w->base;
  SW_TRY(sw_mesh_parse(mesh, arena, &w->mesh, d));
  SW_TRY(sw_mesh_verify(&w->mesh, true, d));
  b->mesh = &w->mesh;
  w->n_devices = 1;
  if (!axes) {
    for (int a = 0; a < w->mesh.n_axes; a++) b->axes[b->n_axes++] = sw_axis_whole(&w->mesh, a);
    return SW_OK;
  }
  size_t n = strlen(axes);
  bool listed = n > 2 && axes[0] == '[' && axes[n - 1] == ']';
  const char *at = axes + 1, *end = axes + n;
  while (listed && *at != ']') {
    if (b->n_axes == SW_MAX_REFS) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "too many axes in --axes");
    SW_TRY(sw_axis_ref_parse(&w->mesh, &at, end, &b->axes[b->n_axes++], d));
    listed = *at == ']' || *at++ == ',';
  }
  return listed ? SW_OK : SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--axes is '%s'; expected a list such as [x,y]", axes);
}

static sw_rc read_byte_range(const char *text, sw_arena *arena, sweep *w, sw_diag *d) {
  size_t n = strcspn(text, ":");
  char *from = sw_arena_strndup(arena, text, n, d);
  if (!from) return SW_E_RESOURCE;
  SW_TRY(sw_parse_bytes(from, "the first size of --bytes", &w->from, d));
  w->to = w->from;
  if (text[n]) SW_TRY(sw_parse_bytes(text + n + 1, "the last size of --bytes", &w->to, d));
  if (w->from >= 4 && w->from <= w->to) return SW_OK;
  return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--bytes is '%s'; expected FROM:TO with 4 <= FROM <= TO", text);
}

static sw_rc read_bench_ops(const char *text, sweep *w, sw_diag *d) {
  sw_coll_op op;
  if (strcmp(text, "all") == 0) {
    for (int i = 0; i < SW_COLL_COUNT; i++) w->ops[i] = sw_comm_bench_knows((sw_coll_op)i);
    return SW_OK;
  }
  if (!sw_coll_parse(text, &op) || !sw_comm_bench_knows(op))
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--op is '%s'; expected a collective such as all_reduce, or all", text);
  w->ops[op] = true;
  return SW_OK;
}

static sw_rc read_kind(const sw_comm_settings *s, sweep *w, sw_diag *d) {
  if (!sw_dtype_parse(s->dtype, &w->base.dtype))
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--dtype is '%s'; expected an element type such as bf16", s->dtype);
  if (!sw_reduction_parse(s->reduction, &w->base.reduction))
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--reduction is '%s'; expected one such as sum", s->reduction);
  return SW_OK;
}

static sw_rc read_sweep(const sw_call *call, sweep *w, sw_diag *d) {
  const sw_comm_settings *s = call->settings;
  w->base = (sw_comm_bench){.threads = (int)s->threads, .min_s = s->min_s, .cancel = call->cancel};
  SW_TRY(read_bench_ops(s->op, w, d));
  SW_TRY(read_kind(s, w, d));
  SW_TRY(read_byte_range(s->bytes, call->arena, w, d));
  return s->mesh ? read_bench_mesh(s->mesh, s->axes, call->arena, w, d)
                 : read_device_counts(s->devices, call->arena, w, d);
}

/* --- printing --- */

static const char *redop_of(const sweep *w, const sw_comm_bench_row *r) {
  bool reduces = sw_coll_flags(r->op) & SW_COLL_USES_REDUCTION;
  return reduces ? sw_reduction_text(w->base.reduction) : "none";
}

static int bench_root(const sw_comm_bench_row *r) { return sw_coll_flags(r->op) & SW_COLL_USES_ROOT ? 0 : -1; }

static double in_place_alg(const sw_comm_bench_row *r) {
  return r->in_place_s > 0 ? (double)r->bytes / r->in_place_s : 0;
}

static void head_table(sw_text *out) {
  sw_text_printf(out, "# %-28s %10s %10s %9s %5s %5s  %30s      %30s\n", "", "", "", "", "", "", "out-of-place       ",
                 "in-place         ");
  sw_text_printf(out, "# %-14s %6s %6s %10s %10s %9s %5s %5s", "op", "devs", "group", "size", "count", "type", "redop",
                 "root");
  for (int i = 0; i < 2; i++) sw_text_printf(out, " %11s %7s %7s %6s", "time", "algbw", "busbw", "#wrong");
  sw_text_printf(out, " %6s\n# %-28s %10s %10s %9s %5s %5s", "limit", "", "(B)", "(elements)", "", "", "");
  for (int i = 0; i < 2; i++) sw_text_printf(out, " %11s %7s %7s %6s", "(us)", "(GB/s)", "(GB/s)", "");
  sw_text_puts(out, "\n");
}

static void row_table(const sweep *w, const sw_comm_bench_row *r, sw_text *out) {
  sw_text_printf(out, "  %-14s %6lld %6lld %10lld %10lld %9s %5s %5d", sw_coll_text(r->op), (long long)r->devices,
                 (long long)r->group, (long long)r->bytes, (long long)r->count, sw_dtype_text(w->base.dtype),
                 redop_of(w, r), bench_root(r));
  sw_text_printf(out, " %11.2f %7.2f %7.2f %6lld", r->time_s * 1e6, r->alg_bytes_per_s / 1e9, r->bus_bytes_per_s / 1e9,
                 (long long)r->wrong);
  sw_text_printf(out, " %11.2f %7.2f %7.2f %6lld %5.0f%%\n", r->in_place_s * 1e6, in_place_alg(r) / 1e9,
                 in_place_alg(r) * r->bus_factor / 1e9, (long long)r->wrong_in_place, r->limit_share * 100);
}

/* Bytes that each of n devices copies for `limit`, as comm_bench.h says. */
static const char kLimits[] =
    "# limit: time of a memcpy in the same buffers, by each device of size (all_gather, all_reduce, all_to_all,\n"
    "#        broadcast, shift), size (n+1)/2n (reduce, reduce_scatter) or size/n (gather, scatter), over time\n";

static void tail_table(const sweep *w, sw_text *out) {
  sw_text_puts(out, kLimits);
  sw_text_printf(out, "# wrong elements: %lld %s\n# average bus bandwidth: %.3f GB/s\n", (long long)w->wrong,
                 w->wrong ? "FAILED" : "OK", w->rows ? w->bus_sum / (double)w->rows / 1e9 : 0);
}

static void head_csv(sw_text *out) {
  sw_text_puts(out,
               "op,devices,bytes,count,time_s,alg_bytes_per_s,bus_bytes_per_s,limit_share,wrong,in_place_s,"
               "wrong_in_place,group,dtype,reduction,root,in_place_alg_bytes_per_s,in_place_bus_bytes_per_s\n");
}

static void row_csv(const sweep *w, const sw_comm_bench_row *r, sw_text *out) {
  sw_text_printf(out, "%s,%lld,%lld,%lld,%.4g,%.4g,%.4g,%.3g,%lld,%.4g,%lld,%lld,%s,%s,%d,%.4g,%.4g\n",
                 sw_coll_text(r->op), (long long)r->devices, (long long)r->bytes, (long long)r->count, r->time_s,
                 r->alg_bytes_per_s, r->bus_bytes_per_s, r->limit_share, (long long)r->wrong, r->in_place_s,
                 (long long)r->wrong_in_place, (long long)r->group, sw_dtype_text(w->base.dtype), redop_of(w, r),
                 bench_root(r), in_place_alg(r), in_place_alg(r) * r->bus_factor);
}

/* Row by row, as they are measured. */
static void head_json(sw_text *out) {
  sw_text_puts(out, "{\"format\": \"shardwright-comm-bench\", \"version\": 1, \"rows\": [");
}

static void row_json(const sweep *w, const sw_comm_bench_row *r, sw_text *out) {
  sw_text_printf(out, "%s\n {\"op\": \"%s\", \"devices\": %lld, \"group\": %lld, \"bytes\": %lld, \"count\": %lld, ",
                 w->rows ? "," : "", sw_coll_text(r->op), (long long)r->devices, (long long)r->group,
                 (long long)r->bytes, (long long)r->count);
  sw_text_printf(out, "\"dtype\": \"%s\", \"reduction\": \"%s\", \"root\": %d, ", sw_dtype_text(w->base.dtype),
                 redop_of(w, r), bench_root(r));
  sw_text_printf(out, "\"time_s\": %.4g, \"alg_bytes_per_s\": %.4g, \"bus_bytes_per_s\": %.4g, \"limit_share\": %.3g, ",
                 r->time_s, r->alg_bytes_per_s, r->bus_bytes_per_s, r->limit_share);
  sw_text_printf(out,
                 "\"wrong\": %lld, \"in_place_s\": %.4g, \"in_place_alg_bytes_per_s\": %.4g, "
                 "\"in_place_bus_bytes_per_s\": %.4g, \"wrong_in_place\": %lld}",
                 (long long)r->wrong, r->in_place_s, in_place_alg(r), in_place_alg(r) * r->bus_factor,
                 (long long)r->wrong_in_place);
}

static void tail_json(const sweep *w, sw_text *out) {
  sw_text_printf(out, "\n], \"wrong\": %lld}\n", (long long)w->wrong);
}

typedef struct form {
  const char *name;
  void (*head)(sw_text *out);
  void (*row)(const sweep *w, const sw_comm_bench_row *r, sw_text *out);
  void (*tail)(const sweep *w, sw_text *out); /* NULL: none */
} form;

static const form kForms[] = {{"table", head_table, row_table, tail_table},
                              {"csv", head_csv, row_csv, NULL},
                              {"json", head_json, row_json, tail_json}};

static const form *form_named(const char *name) {
  const form *f = kForms;
  while (strcmp(f->name, name) != 0) f++; /* the option's choices are these */
  return f;
}

/* --- running --- */

/* One line per figure, printed as it is there. */
static sw_rc bench_one(const sw_call *call, const form *f, sweep *w, sw_comm_bench b, sw_diag *d) {
  if (sw_cancelled(call->cancel)) return SW_FAIL(d, SW_E_CANCELLED, SW_NOWHERE, "interrupted");
  sw_comm_bench_row row;
  SW_TRY(sw_comm_bench_run(&b, &row, d));
  sw_text out = {0};
  f->row(w, &row, &out);
  w->rows++;
  w->bus_sum += row.bus_bytes_per_s;
  w->wrong += row.wrong + row.wrong_in_place;
  return sw_print_text(&out, d);
}

static sw_rc bench_op(const sw_call *call, const form *f, sweep *w, sw_coll_op op, sw_diag *d) {
  int64_t step = ((const sw_comm_settings *)call->settings)->step;
  for (int k = 0; k < w->n_devices; k++)
    for (int64_t bytes = w->from; bytes <= w->to; bytes *= step) {
      sw_comm_bench b = w->base;
      b.op = op;
      b.devices = w->devices[k];
      b.bytes = bytes;
      SW_TRY(bench_one(call, f, w, b, d));
      if (op == SW_COLL_BARRIER || bytes > w->to / step) break;
    }
  return SW_OK;
}

sw_rc sw_comm_bench_command(const sw_call *call, sw_diag *d) {
  const sw_comm_settings *s = call->settings;
  const form *f = form_named(s->json ? "json" : s->format);
  sweep w = {.n_devices = 0};
  sw_text out = {0};
  SW_TRY(read_sweep(call, &w, d));
  f->head(&out);
  SW_TRY(sw_print_text(&out, d));
  for (int op = 0; op < SW_COLL_COUNT; op++)
    if (w.ops[op]) SW_TRY(bench_op(call, f, &w, (sw_coll_op)op, d));
  if (f->tail) {
    f->tail(&w, &out);
    SW_TRY(sw_print_text(&out, d));
  }
  if (w.wrong == 0) return SW_OK;
  return SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "a collective gave wrong elements (column #wrong)");
}
