/* The tables of bench_runs.h: rows, errors by source and hardware, and the order within families.
 *
 *   model     hardware    gpus  strategy    recompute micro accum   seq  measured   predicted      ln
 *   mpt-1b    H100-80GB     16  FULL_SHARD  none         20     1  2048  890 ms     1.02 s      +0.14
 * and with that the peak, its measured one, and whether it fits.
 */
#include "bench/bench_runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/json_write.h"
#include "bench/bench_row.h"
#include "bench/runs.h"
#include "bench/runs_fit.h"
#include "bench/runs_judged.h"

enum { FAMILY_ROWS = 4 }; /* fewer say nothing about an order */

static const double kGib = 1 << 30;

/* Judged rows with one source and hardware, or one model and hardware. */
typedef struct group {
  const char *name, *hardware;
  int64_t n, fits;
  double mean, median; /* of |ln(predicted / measured)| */
  double tau;          /* Kendall's, of rates per device */
  double regret;       /* of following the prediction: what is lost of the best measured rate */
  int64_t n_again;     /* rows that recompute */
  double again, plain; /* mean ln(predicted / measured) of those, and of the others */
  int64_t n_memory;    /* rows whose peak was measured */
  double memory;       /* mean |predicted / measured - 1| of those */
} group;

typedef struct groups {
  group *at;
  int64_t n;
} groups;

typedef const char *(*name_of)(const sw_run_row *r);
static const char *run_source_of(const sw_run_row *r) { return r->source; }
static const char *model_of(const sw_run_row *r) { return r->model; }

static double ln_ratio(const sw_run_row *r) { return log(r->predicted_s / r->measured_s); }
static bool fits_capacity(const sw_run_row *r) { return r->peak_bytes <= r->capacity_bytes; }
static double predicted_rate(const sw_run_row *r) { return r->tokens_per_s * r->measured_s / r->predicted_s; }

static int64_t sign(double x) { return (x > 0) - (x < 0); }

/* Kendall's tau (Kendall 1938): pairs in the same order less those in the other, of all pairs. */
static double kendall(const sw_run_row *const *rows, int64_t n) {
  int64_t sum = 0;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < i; j++) {
      sum +=
          sign(rows[i]->tokens_per_s - rows[j]->tokens_per_s) * sign(predicted_rate(rows[i]) - predicted_rate(rows[j]));
    }
  }
  return n > 1 ? 2.0 * (double)sum / ((double)n * (double)(n - 1)) : 0;
}

static double regret_of(const sw_run_row *const *rows, int64_t n) {
  double best = 0, chosen = 0, most = 0;
  for (int64_t i = 0; i < n; i++) {
    best = fmax(best, rows[i]->tokens_per_s);
    if (predicted_rate(rows[i]) <= most) continue;
    most = predicted_rate(rows[i]);
    chosen = rows[i]->tokens_per_s;
  }
  return 1 - chosen / best;
}

static void fill_recomputing(group *g, const sw_run_row *const *rows, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const bool again = sw_run_recomputes(rows[i]);
    *(again ? &g->again : &g->plain) += ln_ratio(rows[i]);
    g->n_again += again;
  }
  if (g->n_again) g->again /= (double)g->n_again;
  if (g->n_again < n) g->plain /= (double)(n - g->n_again);
}

static void fill_memory(group *g, const sw_run_row *const *rows, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    if (!(rows[i]->memory_gib > 0)) continue;
    g->memory += fabs((double)rows[i]->peak_bytes / (rows[i]->memory_gib * kGib) - 1);
    g->n_memory++;
  }
  if (g->n_memory) g->memory /= (double)g->n_memory;
}

static void fill_run_group(group *g, const sw_run_row *const *rows, double *errors, int64_t n) {
  g->n = n;
  for (int64_t i = 0; i < n; i++) {
    errors[i] = fabs(ln_ratio(rows[i]));
    g->fits += fits_capacity(rows[i]);
  }
  g->mean = sw_errors_mean(errors, n);
  sw_errors_sort(errors, n);
  g->median = sw_errors_quantile(errors, n, 0.5);
  g->tau = kendall(rows, n);
  g->regret = regret_of(rows, n);
  fill_recomputing(g, rows, n);
  fill_memory(g, rows, n);
}

/* Groups of at least `least` judged rows, in the order of their first. */
static sw_rc group_run_rows(const sw_runs *all, name_of name, int64_t least, sw_arena *arena, groups *out, sw_diag *d) {
  bool *done;
  const sw_run_row **rows;
  double *errors;
  SW_ARENA_NEW_EACH(arena, all->n, d, done, rows, errors, out->at);
  for (int64_t i = 0; i < all->n; i++) {
    const sw_run_row *first = &all->rows[i];
    int64_t n = 0;
    if (done[i] || !first->judged) continue;
    for (int64_t j = i; j < all->n; j++) {
      const sw_run_row *r = &all->rows[j];
      if (!r->judged || strcmp(name(r), name(first)) != 0 || strcmp(r->hardware, first->hardware) != 0) continue;
      rows[n++] = r;
      done[j] = true;
    }
    if (n < least) continue;
    group *g = &out->at[out->n++];
    *g = (group){.name = name(first), .hardware = first->hardware};
    fill_run_group(g, rows, errors, n);
  }
  return SW_OK;
}

/* --- text -------------------------------------------------------------------------------------------------------- */

enum { NAME_COLUMN = 18, HARDWARE_COLUMN = 29, STRATEGY_COLUMN = 51, SOURCE_COLUMN = 32, AGAIN_WIDTH = 10 };

/* A text of at most width - 1 characters, and blanks to the width. */
static void cell(sw_text *t, const char *text, int width) { sw_text_printf(t, "%-*.*s", width, width - 1, text); }

static void cell_of(sw_text *t, int64_t n, double mean) {
  if (n > 0)
    sw_text_printf(t, " %9.3f", mean);
  else
    sw_text_printf(t, "%10s", "");
}

static void print_row(sw_text *t, const sw_run_row *r) {
  cell(t, r->model, NAME_COLUMN);
  cell(t, r->hardware, HARDWARE_COLUMN - NAME_COLUMN);
  sw_text_printf(t, "%5lld  ", (long long)r->gpus);
  cell(t, r->sharding, STRATEGY_COLUMN - HARDWARE_COLUMN - 7);
  cell(t, r->recompute, AGAIN_WIDTH);
  sw_text_printf(t, "%5lld %5lld %6lld  ", (long long)r->micro_batch, (long long)r->accumulations, (long long)r->seq);
  sw_bench_cell_seconds(t, r->measured_s);
  if (r->left) {
    sw_text_printf(t, "not predicted: %s\n", r->left);
    return;
  }
  sw_bench_cell_seconds(t, r->predicted_s);
  sw_text_printf(t, "%+6.2f %8.1f ", ln_ratio(r), (double)r->peak_bytes / kGib);
  if (r->memory_gib > 0) {
    sw_text_printf(t, "%8.1f", r->memory_gib);
  } else {
    sw_text_printf(t, "%8s", "");
  }
  sw_text_printf(t, "  %s%s\n", fits_capacity(r) ? "yes" : "no", r->judged ? "" : "   not judged");
}

static void print_run_rows(sw_text *t, const sw_runs *all) {
  cell(t, "model", NAME_COLUMN);
  cell(t, "hardware", HARDWARE_COLUMN - NAME_COLUMN);
  sw_text_puts(t, " gpus  ");
  cell(t, "strategy", STRATEGY_COLUMN - HARDWARE_COLUMN - 7);
  cell(t, "recompute", AGAIN_WIDTH);
  sw_text_puts(t, "micro accum    seq  measured   predicted       ln      GiB measured  fits\n");
  for (int64_t i = 0; i < all->n; i++) print_row(t, &all->rows[i]);
}

static void print_groups(sw_text *t, const groups *sources, const groups *families) {
  sw_text_printf(t, "\n%-*s %-*s %4s %9s %8s %5s %9s %9s %9s %9s\n", SOURCE_COLUMN, "source", NAME_COLUMN, "hardware",
                 "rows", "mean |ln|", "median", "fit", "recompute", "mean ln", "of others", "memory");
  for (int64_t i = 0; i < sources->n; i++) {
    const group *g = &sources->at[i];
    cell(t, g->name, SOURCE_COLUMN + 1);
    cell(t, g->hardware, NAME_COLUMN + 1);
    sw_text_printf(t, "%4lld %9.3f %8.3f %5lld %9lld", (long long)g->n, g->mean, g->median, (long long)g->fits,
                   (long long)g->n_again);
    cell_of(t, g->n_again, g->again);
    cell_of(t, g->n - g->n_again, g->plain);
    cell_of(t, g->n_memory, g->memory);
    sw_text_puts(t, "\n");
  }
  sw_text_printf(t, "\n%-*s %-*s %4s %13s %8s\n", SOURCE_COLUMN, "family", NAME_COLUMN, "hardware", "rows",
                 "Kendall's tau", "regret");
  for (int64_t i = 0; i < families->n; i++) {
    const group *g = &families->at[i];
    cell(t, g->name, SOURCE_COLUMN + 1);
    cell(t, g->hardware, NAME_COLUMN + 1);
    sw_text_printf(t, "%4lld %+13.2f %6.1f %%\n", (long long)g->n, g->tau, 100 * g->regret);
  }
}

/* --- JSON -------------------------------------------------------------------------------------------------------- */

static void write_run_row(sw_json_out *o, const sw_run_row *r) {
  sw_jw_object(o, NULL);
  sw_jw_i64(o, "line", r->line);
  sw_jw_string(o, "source", r->source);
  sw_jw_string(o, "model", r->model);
  sw_jw_string(o, "hardware", r->hardware);
  sw_jw_i64(o, "gpus", r->gpus);
  sw_jw_string(o, "sharding", r->sharding);
  sw_jw_string(o, "recompute", r->recompute);
  sw_jw_i64(o, "micro_batch", r->micro_batch);
  sw_jw_i64(o, "accumulations", r->accumulations);
  sw_jw_i64(o, "seq", r->seq);
  sw_jw_f64(o, "measured_s", r->measured_s);
  if (r->memory_gib > 0) sw_jw_f64(o, "measured_peak_bytes", r->memory_gib * kGib);
  if (r->left) {
    sw_jw_string(o, "not_predicted", r->left);
  } else {
    sw_jw_f64(o, "predicted_s", r->predicted_s);
    sw_jw_f64(o, "products_s", r->parts.kernels_s[0]);
    sw_jw_f64(o, "attention_s", r->parts.kernels_s[1]);
    sw_jw_f64(o, "other_kernels_s", r->parts.kernels_s[2]);
    sw_jw_f64(o, "rest_s", r->parts.rest_s);
    sw_jw_i64(o, "peak_bytes", r->peak_bytes);
    sw_jw_i64(o, "capacity_bytes", r->capacity_bytes);
    sw_jw_bool(o, "fits", fits_capacity(r));
    sw_jw_bool(o, "judged", r->judged);
  }
  sw_jw_end(o);
}

static void write_run_groups(sw_json_out *o, const char *key, const char *name, const groups *all) {
  sw_jw_array(o, key);
  for (int64_t i = 0; i < all->n; i++) {
    const group *g = &all->at[i];
    sw_jw_object(o, NULL);
    sw_jw_string(o, name, g->name);
    sw_jw_string(o, "hardware", g->hardware);
    sw_jw_i64(o, "rows", g->n);
    sw_jw_f64(o, "mean_abs_ln", g->mean);
    sw_jw_f64(o, "median_abs_ln", g->median);
    sw_jw_i64(o, "fit", g->fits);
    sw_jw_f64(o, "kendall_tau", g->tau);
    sw_jw_f64(o, "regret", g->regret);
    sw_jw_i64(o, "recompute", g->n_again);
    if (g->n_again) sw_jw_f64(o, "mean_ln_of_recompute", g->again);
    if (g->n_again < g->n) sw_jw_f64(o, "mean_ln_of_others", g->plain);
    if (g->n_memory) sw_jw_f64(o, "mean_memory_error", g->memory);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

static void write_runs_json(sw_text *json, const sw_runs *all, const groups *sources, const groups *families,
                            const sw_runs_judged *judged) {
  sw_json_out o;
  sw_json_out_init(&o, json);
  sw_jw_format(&o, "bench-runs", 1);
  sw_jw_array(&o, "runs");
  for (int64_t i = 0; i < all->n; i++) write_run_row(&o, &all->rows[i]);
  sw_jw_end(&o);
  write_run_groups(&o, "sources", "source", sources);
  write_run_groups(&o, "families", "model", families);
  if (judged) sw_runs_judged_write(&o, judged);
  sw_jw_end(&o);
}

/* Rows of all files, in their order. */
static sw_rc read_all_runs(const sw_bench_runs_options *o, sw_arena *arena, sw_runs *all, sw_diag *d) {
  *all = (sw_runs){0};
  for (int i = 0; i < o->n_paths; i++) {
    sw_runs one, both = {0};
    SW_TRY(sw_runs_read(o->paths[i], o->only, arena, &one, d));
    SW_ARENA_NEW(both.rows, arena, all->n + one.n, d);
    if (all->n) memcpy(both.rows, all->rows, (size_t)all->n * sizeof *both.rows);
    if (one.n) memcpy(both.rows + all->n, one.rows, (size_t)one.n * sizeof *both.rows);
    both.n = all->n + one.n;
    *all = both;
  }
  return SW_OK;
}

static sw_rc bench(const sw_bench_runs_options *o, sw_arena *arena, sw_text *table, sw_text *json, sw_diag *d) {
  sw_runs all;
  sw_run_profiles profiles;
  groups sources = {0}, families = {0};
  sw_runs_judged judged;
  const sw_runs_predicting how = {&profiles, o->overlap, o->cancel};
  SW_TRY(read_all_runs(o, arena, &all, d));
  SW_TRY(sw_run_profiles_read(arena, &profiles, d));
  SW_TRY(sw_runs_predict(&all, &how, 0, d));
  SW_TRY(group_run_rows(&all, run_source_of, 1, arena, &sources, d));
  SW_TRY(group_run_rows(&all, model_of, FAMILY_ROWS, arena, &families, d));
  if (o->fit) SW_TRY(sw_runs_judge(&all, &how, arena, &judged, d));
  if (table) {
    print_run_rows(table, &all);
    print_groups(table, &sources, &families);
    if (o->fit) sw_runs_judged_print(table, &judged);
  }
  if (json) write_runs_json(json, &all, &sources, &families, o->fit ? &judged : NULL);
  bool whole = !(table && table->rc) && !(json && json->rc);
  return whole ? SW_OK : SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
}

sw_rc sw_bench_runs(const sw_bench_runs_options *o, sw_text *table, sw_text *json, sw_diag *d) {
  sw_arena arena = {0};
  sw_rc rc = bench(o, &arena, table, json, d);
  sw_arena_deinit(&arena);
  return rc;
}
