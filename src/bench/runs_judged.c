/* Errors of predicted steps: by source and hardware, by length of sequences, and how steps grow with devices. */
#include "bench/runs_judged.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 3, FEW = 8, MANY = 128 };

sw_rc sw_runs_predict(sw_runs *all, const sw_runs_predicting *how, double in_step, sw_diag *d) {
  for (int64_t i = 0; i < all->n; i++) {
    sw_run_row *r = &all->rows[i];
    if (sw_cancelled(how->cancel)) return SW_FAIL(d, SW_E_CANCELLED, SW_NOWHERE, "interrupted");
    SW_TRY(sw_run_predict(r, sw_run_profile_of(how->profiles, r), how->overlap, in_step, d));
  }
  return SW_OK;
}

static double ln_of(const sw_run_row *r) { return log(r->predicted_s / r->measured_s); }

/* How much of the communication hides hangs on how long kernels take: it is fitted and priced in turn. */
sw_rc sw_runs_judge(const sw_runs *all, const sw_runs_predicting *how, sw_arena *arena, sw_runs_judged *out,
                    sw_diag *d) {
  sw_runs rows = {.n = all->n};
  double *alone_ln;
  double now = 1;
  SW_ARENA_NEW(alone_ln, arena, all->n, d);
  rows.rows = sw_arena_copy(arena, all->rows, (size_t)all->n, sizeof *all->rows, d);
  if (!rows.rows) return SW_E_RESOURCE;
  *out = (sw_runs_judged){.all = all, .alone_ln = alone_ln};
  SW_ARENA_NEW(out->scratch, arena, all->n, d);
  for (int round = 0; round < ROUNDS; round++) {
    SW_TRY(sw_runs_predict(&rows, how, now, d));
    for (int64_t i = 0; i < rows.n; i++) {
      sw_run_row *r = &rows.rows[i];
      if (!r->judged) continue;
      if (round == 0) alone_ln[i] = ln_of(r);
      for (int k = 0; k < SW_RUN_SCALES; k++) r->parts.kernels_s[k] /= now;
    }
    SW_TRY(sw_runs_fit_all(&rows, arena, &out->fit, d));
    now = out->fit.in_step;
  }
  return SW_OK;
}

/* --- errors of some rows ------------------------------------------------------------------------------------------ */

typedef enum column { PLANNED, ALONE, HELD, COLUMNS } column;
static const char *const kColumns[COLUMNS] = {"as planned", "kernels alone", "held out"};
static const char *const kColumnKeys[COLUMNS] = {"planned", "kernels_alone", "held_out"};

typedef struct errors {
  int64_t n;
  double mean, median, bias, bar; /* of |ln|, of |ln|, of ln; what four of five |ln| stay below */
} errors;

static double error_in(const sw_runs_judged *j, int64_t i, column c) {
  return c == PLANNED ? ln_of(&j->all->rows[i]) : c == ALONE ? j->alone_ln[i] : j->fit.held_ln[i];
}

typedef bool (*alike)(const sw_run_row *a, const sw_run_row *b);

static bool of_one_kind(const sw_run_row *a, const sw_run_row *b) {
  return strcmp(sw_run_kind_text(a), sw_run_kind_text(b)) == 0;
}

static bool same_source(const sw_run_row *a, const sw_run_row *b) {
  return strcmp(a->source, b->source) == 0 && strcmp(a->hardware, b->hardware) == 0 && of_one_kind(a, b);
}

static bool same_device(const sw_run_row *a, const sw_run_row *b) {
  return strcmp(a->device, b->device) == 0 && of_one_kind(a, b);
}

static bool same_length(const sw_run_row *a, const sw_run_row *b) { return a->seq == b->seq && of_one_kind(a, b); }

static errors errors_of(const sw_runs_judged *j, const sw_run_row *like, alike fits, column c) {
  double *all = j->scratch;
  errors e = {0};
  for (int64_t i = 0; i < j->all->n; i++) {
    if (!j->all->rows[i].judged || !fits(&j->all->rows[i], like)) continue;
    const double ln = error_in(j, i, c);
    e.bias += ln;
    all[e.n++] = fabs(ln);
  }
  if (!e.n) return e;
  e.bias /= (double)e.n;
  e.mean = sw_errors_mean(all, e.n);
  sw_errors_sort(all, e.n);
  e.median = sw_errors_quantile(all, e.n, 0.5);
  e.bar = sw_errors_quantile(all, e.n, 0.8);
  return e;
}

static bool is_first(const sw_runs_judged *j, int64_t i, alike fits) {
  if (!j->all->rows[i].judged) return false;
  for (int64_t k = 0; k < i; k++)
    if (j->all->rows[k].judged && fits(&j->all->rows[k], &j->all->rows[i])) return false;
  return true;
}

/* Of a row on few devices the one on many that is like it in all else; NULL: none. */
static const sw_run_row *grown(const sw_runs_judged *j, const sw_run_row *few) {
  if (!few->judged || few->gpus != FEW) return NULL;
  for (int64_t i = 0; i < j->all->n; i++) {
    const sw_run_row *r = &j->all->rows[i];
    if (r->judged && r->gpus == MANY && same_source(r, few) && strcmp(r->model, few->model) == 0 &&
        strcmp(r->notes, few->notes) == 0 && strcmp(r->dtype, few->dtype) == 0 && r->seq == few->seq &&
        r->micro_batch == few->micro_batch && strcmp(r->sharding, few->sharding) == 0)
      return r;
  }
  return NULL;
}

/* --- groupings ---------------------------------------------------------------------------------------------------- */

enum { NAME_WIDTH = 32, HARDWARE_WIDTH = 18, KIND_WIDTH = 11 };

static void print_judged_source(sw_text *t, const sw_run_row *r) {
  sw_text_printf(t, "%-*.*s %-*.*s ", NAME_WIDTH, NAME_WIDTH, r->source, HARDWARE_WIDTH, HARDWARE_WIDTH, r->hardware);
}
static void print_judged_device(sw_text *t, const sw_run_row *r) {
  sw_text_printf(t, "%-*s ", HARDWARE_WIDTH, r->device);
}
static void print_judged_length(sw_text *t, const sw_run_row *r) {
  sw_text_printf(t, "%-*lld ", HARDWARE_WIDTH, (long long)r->seq);
}

static void write_judged_source(sw_json_out *o, const sw_run_row *r) {
  sw_jw_string(o, "source", r->source);
  sw_jw_string(o, "hardware", r->hardware);
}
static void write_judged_device(sw_json_out *o, const sw_run_row *r) { sw_jw_string(o, "device", r->device); }
static void write_judged_length(sw_json_out *o, const sw_run_row *r) { sw_jw_i64(o, "seq", r->seq); }

/* Rows whose errors are told together, and what they are called by their first. */
typedef struct grouping {
  const char *key, *head;
  int width;
  alike fits;
  void (*print)(sw_text *t, const sw_run_row *r);
  void (*write)(sw_json_out *o, const sw_run_row *r);
} grouping;

static const grouping kGroupings[] = {
    {"by_source", "source", NAME_WIDTH + HARDWARE_WIDTH + 1, same_source, print_judged_source, write_judged_source},
    {"by_device", "device", HARDWARE_WIDTH, same_device, print_judged_device, write_judged_device},
    {"by_length", "tokens a sequence", HARDWARE_WIDTH, same_length, print_judged_length, write_judged_length},
};

/* --- text --------------------------------------------------------------------------------------------------------- */

static void print_errors(sw_text *t, const sw_runs_judged *j, const sw_run_row *r, alike fits) {
  const errors planned = errors_of(j, r, fits, PLANNED);
  sw_text_printf(t, "%-*s %4lld", KIND_WIDTH, sw_run_kind_text(r), (long long)planned.n);
  for (int c = 0; c < COLUMNS; c++) {
    const errors e = errors_of(j, r, fits, (column)c);
    sw_text_printf(t, "   %5.1f %5.1f %+6.1f", 100 * e.mean, 100 * e.median, 100 * e.bias);
  }
  sw_text_puts(t, "\n");
}

static void print_errors_head(sw_text *t, const char *what, int width) {
  sw_text_printf(t, "\n%-*s %-*s %4s", width, "", KIND_WIDTH, "", "");
  for (int c = 0; c < COLUMNS; c++) sw_text_printf(t, "   %-18s", kColumns[c]);
  sw_text_printf(t, "\n%-*s %-*s %4s", width, what, KIND_WIDTH, "kind", "rows");
  for (int c = 0; c < COLUMNS; c++) sw_text_puts(t, "    mean   med   bias");
  sw_text_puts(t, "\n");
}

static void print_grouping(sw_text *t, const sw_runs_judged *j, const grouping *g) {
  print_errors_head(t, g->head, g->width);
  for (int64_t i = 0; i < j->all->n; i++) {
    if (!is_first(j, i, g->fits)) continue;
    g->print(t, &j->all->rows[i]);
    print_errors(t, j, &j->all->rows[i], g->fits);
  }
}

void sw_runs_judged_print(sw_text *t, const sw_runs_judged *j) {
  const sw_runs_fit *f = &j->fit;
  sw_text_printf(
      t, "\nkernels take %.2f times as long (+- %.1f %%) within steps as alone, by every second judged row, %lld",
      f->in_step, 100 * f->spread, (long long)f->n);
  sw_text_puts(t,
               "\nln(predicted / measured) in %; held out: by rows of other models and other lengths of sequences\n");
  for (size_t g = 0; g < sizeof kGroupings / sizeof *kGroupings; g++) print_grouping(t, j, &kGroupings[g]);
  sw_text_printf(t, "\nlonger on %d devices than on %d\n", MANY, FEW);
  for (int64_t i = 0; i < j->all->n; i++) {
    const sw_run_row *few = &j->all->rows[i], *many = grown(j, few);
    if (!many) continue;
    sw_text_printf(t, "%-*s %s, %s: measured %+.1f %%, predicted %+.1f %%\n", HARDWARE_WIDTH, few->model, few->dtype,
                   *few->notes ? few->notes : "eager", 100 * (many->measured_s / few->measured_s - 1),
                   100 * (many->predicted_s / few->predicted_s - 1));
  }
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void write_errors(sw_json_out *o, const sw_runs_judged *j, const sw_run_row *r, alike fits) {
  sw_jw_string(o, "kind", sw_run_kind_text(r));
  sw_jw_i64(o, "rows", errors_of(j, r, fits, PLANNED).n);
  for (int c = 0; c < COLUMNS; c++) {
    const errors e = errors_of(j, r, fits, (column)c);
    sw_jw_object_row(o, kColumnKeys[c]);
    sw_jw_f64(o, "mean_abs_ln", e.mean);
    sw_jw_f64(o, "median_abs_ln", e.median);
    sw_jw_f64(o, "mean_ln", e.bias);
    sw_jw_f64(o, "bar_ln", e.bar);
    sw_jw_end(o);
  }
}

static void write_grouping(sw_json_out *o, const sw_runs_judged *j, const grouping *g) {
  sw_jw_array(o, g->key);
  for (int64_t i = 0; i < j->all->n; i++) {
    if (!is_first(j, i, g->fits)) continue;
    sw_jw_object(o, NULL);
    g->write(o, &j->all->rows[i]);
    write_errors(o, j, &j->all->rows[i], g->fits);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

void sw_runs_judged_write(sw_json_out *o, const sw_runs_judged *j) {
  sw_jw_f64(o, "in_step", j->fit.in_step);
  sw_jw_f64(o, "in_step_deviation_ln", j->fit.spread);
  for (size_t g = 0; g < sizeof kGroupings / sizeof *kGroupings; g++) write_grouping(o, j, &kGroupings[g]);
  sw_jw_array(o, "growth");
  for (int64_t i = 0; i < j->all->n; i++) {
    const sw_run_row *few = &j->all->rows[i], *many = grown(j, few);
    if (!many) continue;
    sw_jw_object(o, NULL);
    sw_jw_string(o, "model", few->model);
    sw_jw_string(o, "dtype", few->dtype);
    sw_jw_f64(o, "measured", many->measured_s / few->measured_s - 1);
    sw_jw_f64(o, "predicted", many->predicted_s / few->predicted_s - 1);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}
