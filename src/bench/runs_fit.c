/* Factors per source and hardware on the time of matrix products, of attention, of all other kernels and of
 * communication (kernels run beside it, so that a part of it counts). They make the mean |ln(predicted / measured)|
 * small, with a little pull towards 1, since rows of few models do not tell them apart. How well they foresee is told
 * by models that they were not fitted on. Rows that recompute are not fitted: what is made again is held against them.
 */
#include "bench/runs_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shardwright/clock.h"
#include "base/lists.h"

enum { PROPOSALS = 6000 };
static const double kPull = 0.003, kReach = 3; /* in ln */

typedef struct rows {
  const sw_run_row **at;
  int64_t n;
} rows;

static double error_of(const sw_run_row *r, const sw_run_scales *s) {
  return fabs(log(sw_run_step_s(&r->parts, s) / r->measured_s));
}

/* Of all rows but those of the model `but` (NULL: none). */
static double runs_objective(const rows *all, const char *but, const sw_run_scales *s) {
  double sum = 0, pull = 0;
  int64_t n = 0;
  for (int64_t i = 0; i < all->n; i++) {
    if (but && strcmp(all->at[i]->model, but) == 0) continue;
    sum += error_of(all->at[i], s);
    n++;
  }
  for (int k = 0; k < SW_RUN_SCALES; k++) pull += pow(log(s->of[k]), 2);
  return n ? sum / (double)n + kPull * pull : 0;
}

static sw_run_scales fit_scales(const rows *all, const char *but) {
  sw_run_scales best = {{1, 1, 1, 1}};
  double least = runs_objective(all, but, &best), step = 0.4;
  sw_rng rng;
  sw_rng_seed(&rng, 1);
  for (int i = 0; i < PROPOSALS; i++) {
    sw_run_scales next = best;
    for (int k = 0; k < SW_RUN_SCALES; k++) {
      const double to = log(next.of[k]) + step * (2 * sw_rng_unit(&rng) - 1);
      next.of[k] = exp(fmin(fmax(to, -kReach), kReach));
    }
    const double now = runs_objective(all, but, &next);
    if (now < least) {
      least = now;
      best = next;
    }
    step = fmax(now <= least ? step * 1.5 : step * 0.99, 1e-3);
    step = fmin(step, 0.4);
  }
  return best;
}

sw_run_scales sw_runs_fit_rows(const sw_run_row **at, int64_t n) { return fit_scales(&(rows){at, n}, NULL); }

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

static bool first_of_model(const rows *all, int64_t i) {
  for (int64_t j = 0; j < i; j++)
    if (strcmp(all->at[j]->model, all->at[i]->model) == 0) return false;
  return true;
}

static void judge_runs_fit(const rows *all, double *errors, sw_runs_fit *out) {
  for (int64_t i = 0; i < all->n; i++) errors[i] = error_of(all->at[i], &out->scales);
  out->mean = sw_errors_mean(errors, all->n);
  sw_errors_sort(errors, all->n);
  out->median = sw_errors_quantile(errors, all->n, 0.5);
  for (int64_t i = 0; i < all->n; i++) {
    if (!first_of_model(all, i)) continue;
    const sw_run_scales others = fit_scales(all, all->at[i]->model);
    out->n_models++;
    for (int64_t j = i; j < all->n; j++)
      if (strcmp(all->at[j]->model, all->at[i]->model) == 0) errors[j] = error_of(all->at[j], &others);
  }
  out->held_mean = sw_errors_mean(errors, all->n);
  sw_errors_sort(errors, all->n);
  out->held_median = sw_errors_quantile(errors, all->n, 0.5);
  out->held_bar = sw_errors_quantile(errors, all->n, 0.8);
}

static bool is_fitted(const sw_run_row *r) { return r->judged && !sw_run_recomputes(r); }

sw_rc sw_runs_fit_all(const sw_runs *all, sw_arena *arena, sw_runs_fit **out, int *n, sw_diag *d) {
  bool *done;
  double *errors;
  rows group = {0};
  SW_ARENA_NEW(done, arena, all->n, d);
  SW_ARENA_NEW(errors, arena, all->n, d);
  SW_ARENA_NEW(group.at, arena, all->n, d);
  SW_ARENA_NEW(*out, arena, all->n, d);
  *n = 0;
  for (int64_t i = 0; i < all->n; i++) {
    const sw_run_row *first = &all->rows[i];
    if (done[i] || !is_fitted(first)) continue;
    group.n = 0;
    for (int64_t j = i; j < all->n; j++) {
      const sw_run_row *r = &all->rows[j];
      if (!is_fitted(r) || strcmp(r->source, first->source) != 0 || strcmp(r->hardware, first->hardware) != 0) continue;
      group.at[group.n++] = r;
      done[j] = true;
    }
    sw_runs_fit *f = &(*out)[(*n)++];
    *f = (sw_runs_fit){.source = first->source, .hardware = first->hardware, .n = group.n};
    f->scales = fit_scales(&group, NULL);
    judge_runs_fit(&group, errors, f);
  }
  return SW_OK;
}
