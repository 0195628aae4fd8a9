/* The table of bench_costs.h: per profile and source the error of the judged rows, by collective and in all.
 *
 *   dgx-h100   19 constants
 *     source                  what            >= 1 MiB  error   bias   < 1 MiB  error
 *     NVIDIA/dgxc-benchmark.. all_reduce            14  4.6 %  -2.1 %       18   31 %
 */
#include "bench/bench_costs.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "io/json_write.h"
#include "bench/cost_fit.h"

static const double SHORT_S = 20e-6; /* of a kernel */
enum { ALL_OPS = SW_COLL_COUNT, SMALL_BYTES = 1 << 20 };

/* Errors of some judged rows. */
typedef struct tally {
  int64_t n, small_n;
  double error, bias, worst, small_error; /* sums, but for the worst */
  double limit;                           /* per cent that the mean error may be */
} tally;

typedef struct profile_result {
  const sw_profile *p;
  const sample_set *set;
  const double *predicted;
  int n_constants, n_kernel_constants;
  int64_t judged; /* rows at 1 MiB and above */
  tally by[MAX_SOURCES][SW_COLL_COUNT + 1];
} profile_result;

typedef struct output {
  sw_text *table;
  sw_json_out *json; /* NULL: none */
  bool passed;
} output;

static void count_row(tally *t, double ln_ratio, bool small) {
  double e = fabs(ln_ratio);
  if (small) {
    t->small_n++;
    t->small_error += e;
    return;
  }
  t->n++;
  t->error += e;
  t->bias += ln_ratio;
  t->worst = fmax(t->worst, e);
}

/* Reading a cache hangs on the kernel that a library chooses. */
static double error_limit(const sample *s) {
  return s->layout < 0 && sw_work_kernel(&s->work) == SW_PRICED_DECODE ? SW_BENCH_COSTS_DECODE_LIMIT
                                                                       : SW_BENCH_COSTS_LIMIT;
}

static void count_rows(profile_result *r) {
  for (int64_t i = 0; i < r->set->n; i++) {
    const sample *s = &r->set->at[i];
    if (s->train) continue;
    double ln_ratio = log(r->predicted[i] / s->measured_s);
    bool small = s->layout < 0 ? s->measured_s < SHORT_S : s->bytes < SMALL_BYTES;
    r->judged += !small;
    count_row(&r->by[s->source][ALL_OPS], ln_ratio, small);
    r->by[s->source][ALL_OPS].limit = error_limit(s);
    if (s->layout >= 0) count_row(&r->by[s->source][s->op], ln_ratio, small);
  }
}

static double per_cent(double sum, int64_t n) { return n ? 100 * sum / (double)n : 0; }

static bool is_judged(const profile_result *r) { return r->judged >= SW_BENCH_COSTS_MIN_ROWS; }

static const char *verdict(const profile_result *r, const tally *t) {
  if (!is_judged(r) || !t->n) return "reported";
  return per_cent(t->error, t->n) <= t->limit ? "ok" : "beyond";
}

static void print_cell(sw_text *out, size_t *start, size_t width, const char *fmt, double v) {
  sw_text_printf(out, fmt, v);
  *start += width;
  if (out->n < *start) sw_text_pad(out, *start - width, width);
}

static void print_line(sw_text *out, const char *source, const char *what, const tally *t, const char *mark) {
  size_t start = out->n;
  sw_text_printf(out, "  %-36.36s", source);
  sw_text_pad(out, start, 40);
  sw_text_printf(out, "%-15s", what);
  start += 55;
  print_cell(out, &start, 10, "%8.0f", (double)t->n);
  if (t->n) {
    print_cell(out, &start, 9, "%6.1f %%", per_cent(t->error, t->n));
    print_cell(out, &start, 9, "%+6.1f %%", per_cent(t->bias, t->n));
    print_cell(out, &start, 9, "%6.1f %%", 100 * t->worst);
  } else {
    print_cell(out, &start, 27, "%.0s", 0);
  }
  print_cell(out, &start, 9, "%8.0f", (double)t->small_n);
  if (t->small_n) print_cell(out, &start, 9, "%6.1f %%", per_cent(t->small_error, t->small_n));
  sw_text_printf(out, "  %s", mark);
  while (out->n && out->at[out->n - 1] == ' ') out->at[--out->n] = 0;
  sw_text_puts(out, "\n");
}

static void write_tally(sw_json_out *j, const tally *t) {
  sw_jw_i64(j, "rows", t->n);
  sw_jw_f64(j, "error_per_cent", per_cent(t->error, t->n));
  sw_jw_f64(j, "bias_per_cent", per_cent(t->bias, t->n));
  sw_jw_f64(j, "worst_per_cent", 100 * t->worst);
  sw_jw_i64(j, "small_rows", t->small_n);
  sw_jw_f64(j, "small_error_per_cent", per_cent(t->small_error, t->small_n));
}

static void report_source(profile_result *r, int source, output *o) {
  const char *name = r->set->source[source];
  const tally *all = &r->by[source][ALL_OPS];
  if (all->n + all->small_n == 0) return;
  const char *mark = verdict(r, all);
  if (!strcmp(mark, "beyond")) o->passed = false;
  if (o->json) {
    sw_jw_object(o->json, NULL);
    sw_jw_string(o->json, "source", name);
    sw_jw_string(o->json, "verdict", mark);
    write_tally(o->json, all);
    sw_jw_array(o->json, "by_collective");
  }
  for (int op = 0; op < SW_COLL_COUNT; op++) {
    const tally *t = &r->by[source][op];
    if (t->n + t->small_n == 0) continue;
    print_line(o->table, name, sw_coll_text((sw_coll_op)op), t, "");
    if (!o->json) continue;
    sw_jw_object_row(o->json, NULL);
    sw_jw_string(o->json, "collective", sw_coll_text((sw_coll_op)op));
    write_tally(o->json, t);
    sw_jw_end(o->json);
  }
  print_line(o->table, name, "all", all, mark);
  if (!o->json) return;
  sw_jw_end(o->json);
  sw_jw_end(o->json);
}

static void report_rows(const profile_result *r, sw_text *out) {
  for (int64_t i = 0; i < r->set->n; i++) {
    const sample *s = &r->set->at[i];
    sw_text_printf(out, "    %-36.36s %-14s ranks %-4" PRId64 " nodes %-3" PRId64 " %12.0f B  measured ",
                   r->set->source[s->source], s->layout < 0 ? "kernel" : sw_coll_text(s->op),
                   s->layout < 0 ? 1 : r->set->layouts[s->layout].ranks,
                   s->layout < 0 ? 1 : r->set->layouts[s->layout].nodes, s->bytes);
    sw_text_seconds(out, s->measured_s);
    sw_text_puts(out, "  predicted ");
    sw_text_seconds(out, r->predicted[i]);
    sw_text_puts(out, s->train ? "  (fit)\n" : "\n");
  }
}

static void report_kernels(const sw_profile *p, sw_text *out) {
  for (int k = 0; k < SW_PRICED_COUNT; k++) {
    if (!p->kernel[k].known) continue;
    sw_text_printf(out, "    %s:", sw_priced_kernel_text((sw_priced_kernel)k));
    for (int c = 0; c < SW_KERNEL_CONSTANT_COUNT; c++)
      if (sw_priced_kernel_constants((sw_priced_kernel)k) >> c & 1)
        sw_text_printf(out, " \"%s\": %.3g,", sw_kernel_constant_text((sw_kernel_constant)c), p->kernel[k].v[c]);
    out->at[out->n - 1] = '\n';
  }
}

static void print_f64_list(sw_text *out, const char *key, const double *at, int n) {
  sw_text_printf(out, "%s[", key);
  for (int i = 0; i < n; i++) sw_text_printf(out, "%s%.10g", i ? ", " : "", at[i]);
  sw_text_puts(out, "]");
}

/* As in a profile. */
static void report_knots(const sw_cost_knots *k, sw_text *out) {
  double members[SW_MAX_KNOT_MEMBERS], bytes[SW_MAX_KNOT_SIZES];
  for (int i = 0; i < k->n_members; i++) members[i] = round(exp(k->ln_members[i]));
  for (int j = 0; j < k->n_sizes; j++) bytes[j] = round(exp(k->ln_bytes[j]));
  print_f64_list(out, "      \"knots\": {\"members\": ", members, k->n_members);
  print_f64_list(out, ", \"bytes\": ", bytes, k->n_sizes);
  for (int i = 0; i < k->n_members; i++)
    print_f64_list(out, i ? ", " : ", \"ln_factor\": [", k->ln_factor[i], k->n_sizes);
  sw_text_puts(out, "]}\n");
}

static void report_constants(sw_profile *p, const sample_set *set, sw_text *out) {
  fit_constants c;
  sw_fit_constants_of(p, set, &c);
  const sw_level *level = &p->level[p->n_levels - 1];
  for (int k = 0; k < SW_COST_CLASS_COUNT; k++) {
    const sw_cost_line *l = &level->line[k];
    sw_text_printf(out, "    %s %s: base_s %.3g, peer_s %.3g, ramp_s_per_sqrt_byte %.3g, bytes_per_s %.4g", level->name,
                   sw_cost_class_text((sw_cost_class)k), l->base_s, l->peer_s, l->ramp_s_per_sqrt_byte,
                   1 / l->s_per_byte);
    if (l->pair_s_per_byte > 0) sw_text_printf(out, ", pair_bytes_per_s %.4g", 1 / l->pair_s_per_byte);
    if (l->in_network_min) sw_text_printf(out, ", in_network bytes_per_s %.4g", 1 / l->in_network_s_per_byte);
    sw_text_puts(out, "\n");
    if (l->knots) report_knots(l->knots, out);
  }
  sw_text_printf(
      out,
      "    serial_fraction %.3g, flop_fraction %.3g, flop_fraction_8bit %.3g, memory_fraction %.3g, launch_s %.3g\n",
      level->serial_fraction, p->flop_fraction, p->flop_fraction_8bit, p->memory_fraction, p->launch_s);
  report_kernels(p, out);
}

static void report_profile(profile_result *r, const sw_bench_costs_options *o, sw_profile *own, output *out) {
  sw_text_printf(out->table, "%s: %d constants, %d of kernels, %" PRId64 " rows judged%s\n", r->p->name, r->n_constants,
                 r->n_kernel_constants, r->judged, is_judged(r) ? "" : " (too few: reported only)");
  if (r->set->skipped)
    sw_text_printf(out->table, "  %" PRId64 " rows left out: a group or a collective that the profile does not have\n",
                   r->set->skipped);
  if (o->fit) report_constants(own, r->set, out->table);
  if (out->json) {
    sw_jw_object(out->json, NULL);
    sw_jw_string(out->json, "profile", r->p->name);
    sw_jw_i64(out->json, "constants", r->n_constants);
    sw_jw_i64(out->json, "kernel_constants", r->n_kernel_constants);
    sw_jw_bool(out->json, "judged", is_judged(r));
    sw_jw_array(out->json, "sources");
  }
  for (int s = 0; s < r->set->n_sources; s++) report_source(r, s, out);
  if (o->rows) report_rows(r, out->table);
  if (!out->json) return;
  sw_jw_end(out->json);
  sw_jw_end(out->json);
}

/* A line per source with the errors of the constants that the profile has: as it is, or `how` else. */
static sw_rc report_given(const sw_profile *p, const char *how, const sample_set *set, double *predicted,
                          profile_result *r, output *out, sw_diag *d) {
  SW_TRY(sw_samples_predict(p, set, predicted, d));
  r->p = p;
  r->set = set;
  r->predicted = predicted;
  count_rows(r);
  if (set->n) sw_text_printf(out->table, "%s %s, judged rows\n", p->name, how);
  for (int s = 0; s < set->n_sources; s++) {
    const tally *all = &r->by[s][ALL_OPS];
    if (all->n + all->small_n) print_line(out->table, set->source[s], "all", all, "");
  }
  memset(r, 0, sizeof *r);
  return SW_OK;
}

/* What the roofline makes of kernels that the profile knows: sw_profile_roofline_text says it of devices without them.
 */
static sw_rc report_roofline(const sw_profile *p, const sample_set *set, sw_arena *scratch, output *out, sw_diag *d) {
  sample_set kernels = *set;
  double *predicted;
  profile_result *r;
  sw_profile *bare = sw_arena_copy(scratch, p, 1, sizeof *p, d);
  if (!bare) return SW_E_RESOURCE;
  SW_ARENA_NEW(predicted, scratch, set->n, d);
  SW_ARENA_NEW(r, scratch, 1, d);
  SW_ARENA_NEW(kernels.at, scratch, set->n, d);
  kernels.n = 0;
  for (int k = 0; k < SW_PRICED_COUNT; k++) bare->kernel[k].known = false;
  for (int64_t i = 0; i < set->n; i++)
    if (set->at[i].layout < 0) kernels.at[kernels.n++] = set->at[i];
  return report_given(bare, "by its peaks alone", &kernels, predicted, r, out, d);
}

static sw_rc bench_profile(const sw_profile *p, const sw_bench_costs_options *o, sw_arena *scratch, output *out,
                           sw_diag *d) {
  sample_set set;
  double *predicted;
  profile_result *r;
  sw_profile *own = sw_arena_copy(scratch, p, 1, sizeof *p, d);
  if (!own) return SW_E_RESOURCE;
  SW_TRY(sw_samples_read(p, o->facts_dir, scratch, &set, d));
  SW_ARENA_NEW(predicted, scratch, set.n, d);
  SW_ARENA_NEW(r, scratch, 1, d);
  if (o->fit) {
    SW_TRY(report_given(own, "as it is", &set, predicted, r, out, d));
    SW_TRY(sw_fit(own, &set, predicted, d));
    SW_TRY(sw_fit_knots(own, &set, scratch, predicted, d));
  }
  SW_TRY(sw_samples_predict(own, &set, predicted, d));
  fit_constants c;
  sw_fit_constants_of(own, &set, &c);
  if (set.no_products) sw_text_printf(out->table, "%s: no gemm.csv, so matrix products are not judged\n", p->name);
  r->p = own;
  r->set = &set;
  r->predicted = predicted;
  r->n_constants = c.n - c.n_kernels;
  r->n_kernel_constants = c.n_kernels;
  count_rows(r);
  if (set.n + set.skipped == 0)
    sw_text_printf(out->table, "%s: no measured rows\n", p->name);
  else
    report_profile(r, o, own, out);
  return c.n_kernels ? report_roofline(p, &set, scratch, out, d) : SW_OK;
}

static sw_rc report_unclaimed(const sw_profile *const *profiles, int n, const sw_bench_costs_options *o, output *out,
                              sw_diag *d) {
  sw_text lines = {0};
  int64_t count;
  sw_rc rc = sw_rows_unclaimed(profiles, n, o->facts_dir, &count, &lines, d);
  if (!rc) {
    sw_text_printf(out->table, "rows that no profile here claims: %" PRId64 "\n", count);
    if (o->rows) sw_text_append(out->table, lines.at, lines.n);
    if (out->json) sw_jw_i64(out->json, "unclaimed_rows", count);
  }
  sw_text_free(&lines);
  return rc;
}

sw_rc sw_bench_costs(const sw_profile *const *profiles, int n, const sw_bench_costs_options *o, sw_text *table,
                     sw_text *json, bool *passed, sw_diag *d) {
  sw_text unused = {0};
  sw_json_out writer;
  output out = {.table = table ? table : &unused, .json = json ? &writer : NULL, .passed = true};
  sw_rc rc = SW_OK;
  if (json) {
    sw_json_out_init(&writer, json);
    sw_jw_format(&writer, "bench-costs", 1);
    sw_jw_f64(&writer, "limit_per_cent", SW_BENCH_COSTS_LIMIT);
    sw_jw_array(&writer, "profiles");
  }
  sw_text_printf(out.table, "  %-38s%-15s%10s%9s%9s%9s%9s%9s\n", "source", "what", ">= 1 MiB  ", "error  ", "bias  ",
                 "worst  ", "< 1 MiB ", "error  ");
  for (int i = 0; i < n && !rc; i++) {
    sw_arena scratch = {0};
    rc = bench_profile(profiles[i], o, &scratch, &out, d);
    sw_arena_deinit(&scratch);
  }
  if (json) sw_jw_end(&writer);
  if (!rc) rc = report_unclaimed(profiles, n, o, &out, d);
  if (json) {
    sw_jw_bool(&writer, "passed", out.passed);
    sw_jw_end(&writer);
  }
  *passed = out.passed;
  if (!rc && (out.table->rc || (json && json->rc))) rc = SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  sw_text_free(&unused);
  return rc;
}
