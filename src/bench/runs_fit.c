/* A factor on the time of all kernels, one for all sources of runs: what is told apart by no more rows than there are
 * would be noise. It makes small the mean over sources and hardware of the mean |ln(predicted / measured)|, with a
 * little pull towards 1. How well it foresees is told by rows of a model and a length of sequences that none of those
 * has to which it was fitted. Runs of one's own are fitted with a factor each for products, attention and others.
 */
#include "bench/runs_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shardwright/clock.h"
#include "base/lists.h"

enum { PROPOSALS = 3000, DRAWS = 30 };
static const double kPull = 0.003, kReach = 2; /* in ln */

typedef struct rows {
  const sw_run_row *const *at;
  int64_t n;
} rows;

static double ln_with(const sw_run_row *r, const sw_run_scales *s) {
  return log(sw_run_step_s(&r->parts, s) / r->measured_s);
}

static bool same_runs(const sw_run_row *a, const sw_run_row *b) {
  return strcmp(a->source, b->source) == 0 && strcmp(a->hardware, b->hardware) == 0;
}

static int64_t group_size(const rows *all, const sw_run_row *of) {
  int64_t n = 0;
  for (int64_t i = 0; i < all->n; i++) n += same_runs(all->at[i], of);
  return n;
}

/* Sources and hardware count alike, however many rows they have. weight: by row. */
static double runs_objective(const rows *all, const double *weight, const sw_run_scales *s) {
  double sum = 0, whole = 0, pull = 0;
  for (int64_t i = 0; i < all->n; i++) {
    sum += weight[i] * fabs(ln_with(all->at[i], s));
    whole += weight[i];
  }
  for (int k = 0; k < SW_RUN_SCALES; k++) pull += pow(log(s->of[k]), 2);
  return whole > 0 ? sum / whole + kPull * pull : 0;
}

static sw_run_scales fit_scales(const rows *all, const double *weight, bool together, sw_rng *rng) {
  sw_run_scales best = {{1, 1, 1}};
  double least = runs_objective(all, weight, &best), step = 0.4;
  for (int i = 0; i < PROPOSALS; i++) {
    sw_run_scales next = best;
    double by = 0;
    for (int k = 0; k < SW_RUN_SCALES; k++) {
      if (k == 0 || !together) by = step * (2 * sw_rng_unit(rng) - 1);
      const double to = log(next.of[k]) + by;
      next.of[k] = exp(fmin(fmax(to, -kReach), kReach));
    }
    const double now = runs_objective(all, weight, &next);
    const bool better = now < least;
    if (better) {
      least = now;
      best = next;
    }
    step = fmin(fmax(better ? step * 1.5 : step * 0.99, 1e-3), 0.4);
  }
  return best;
}

/* The fit to rows; but (NULL: none): those of its model, and of its length of sequences, do not count. */
static sw_run_scales fit_without(const rows *all, const sw_run_row *but, bool together, double *weight) {
  sw_rng rng;
  sw_rng_seed(&rng, 1);
  for (int64_t i = 0; i < all->n; i++) {
    const sw_run_row *r = all->at[i];
    const bool left_out = but && (strcmp(r->model, but->model) == 0 || r->seq == but->seq);
    weight[i] = left_out ? 0 : 1.0 / (double)group_size(all, r);
  }
  return fit_scales(all, weight, together, &rng);
}

sw_rc sw_runs_fit_rows(const sw_run_row *const *at, int64_t n, sw_arena *arena, sw_run_scales *out, sw_diag *d) {
  double *weight;
  SW_ARENA_NEW(weight, arena, n, d);
  *out = fit_without(&(rows){at, n}, NULL, false, weight);
  return SW_OK;
}

void sw_errors_sort(double *errors, int64_t n) { qsort(errors, (size_t)n, sizeof *errors, sw_compare_f64); }

double sw_errors_quantile(const double *sorted, int64_t n, double share) {
  const double x = share * (double)(n - 1);
  const int64_t i = (int64_t)x;
  return i + 1 < n ? sorted[i] + (x - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

double sw_errors_mean(const double *errors, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) sum += errors[i];
  return sum / (double)n;
}

/* How far fits to as many rows, drawn from them with repetition, lie apart. */
static double spread_of_fits(const rows *all, double *weight) {
  double sum = 0, squares = 0;
  sw_rng rng;
  sw_rng_seed(&rng, 2);
  for (int draw = 0; draw < DRAWS; draw++) {
    for (int64_t i = 0; i < all->n; i++) weight[i] = 0;
    for (int64_t i = 0; i < all->n; i++) {
      const int64_t k = sw_rng_below(&rng, all->n);
      weight[k] += 1.0 / (double)group_size(all, all->at[k]);
    }
    const double ln = log(fit_scales(all, weight, true, &rng).of[0]);
    sum += ln / DRAWS;
    squares += ln * ln / DRAWS;
  }
  return sqrt(fmax(0, squares - sum * sum));
}

/* Micro-batches are priced one by one, though something may run beside two of them. */
static bool is_fit_for(const sw_run_row *r) { return r->judged && r->accumulations == 1; }

/* Every second row of a source and hardware. */
static void choose_half(const sw_runs *all, sw_runs_fit *out, const sw_run_row **half) {
  for (int64_t i = 0; i < all->n; i++) {
    const sw_run_row *r = &all->rows[i];
    int64_t before = 0;
    for (int64_t j = 0; j < i; j++) before += is_fit_for(&all->rows[j]) && same_runs(&all->rows[j], r);
    out->fitted[i] = is_fit_for(r) && before % 2 == 0;
    if (out->fitted[i]) half[out->n++] = r;
  }
}

sw_rc sw_runs_fit_all(const sw_runs *all, sw_arena *arena, sw_runs_fit *out, sw_diag *d) {
  const sw_run_row **half;
  double *weight;
  *out = (sw_runs_fit){0};
  SW_ARENA_NEW_EACH(arena, all->n, d, half, weight, out->fitted, out->held_ln);
  choose_half(all, out, half);
  const rows r = {half, out->n};
  out->in_step = fit_without(&r, NULL, true, weight).of[0];
  out->spread = spread_of_fits(&r, weight);
  for (int64_t i = 0; i < all->n; i++) {
    const sw_run_row *row = &all->rows[i];
    if (!row->judged) continue;
    const sw_run_scales s = fit_without(&r, row, true, weight);
    out->held_ln[i] = ln_with(row, &s);
  }
  return SW_OK;
}
