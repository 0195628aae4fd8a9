/* How much longer kernels took in measured runs than this program says, by what they do. */
#ifndef BENCH_RUNS_FIT_H_
#define BENCH_RUNS_FIT_H_

#include "bench/runs.h"

/* Sorts the errors; what so large a share of them stays below, between two of them in proportion. n > 0. */
void sw_errors_sort(double *errors, int64_t n);
double sw_errors_quantile(const double *sorted, int64_t n, double share);
double sw_errors_mean(const double *errors, int64_t n);

typedef struct sw_runs_fit {
  const char *source, *hardware;
  int64_t n;                     /* judged rows */
  sw_run_scales scales;          /* fitted on all of them */
  double mean, median;           /* of |ln(predicted / measured)| with these */
  double held_mean, held_median; /* of each model's rows with scales fitted on the other models; n_models > 1 */
  double held_bar;               /* what four of five of these stay below */
  int n_models;
} sw_runs_fit;

/* One per source and hardware that has judged rows, in the order of the first. In the arena. Deterministic. */
SW_CHECKED sw_rc sw_runs_fit_all(const sw_runs *all, sw_arena *arena, sw_runs_fit **out, int *n, sw_diag *d);
/* The scales that these rows alone ask for. */
sw_run_scales sw_runs_fit_rows(const sw_run_row **rows, int64_t n);

#endif
