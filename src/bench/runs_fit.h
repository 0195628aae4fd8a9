/* How much longer kernels take within steps than measured alone. */
#ifndef BENCH_RUNS_FIT_H_
#define BENCH_RUNS_FIT_H_

#include "bench/runs.h"

/* Sorts the errors; what so large a share of them stays below, between two of them in proportion. n > 0. */
void sw_errors_sort(double *errors, int64_t n);
double sw_errors_quantile(const double *sorted, int64_t n, double share);
double sw_errors_mean(const double *errors, int64_t n);

typedef struct sw_runs_fit {
  int64_t n; /* rows that it is fitted to: every second judged one */
  double in_step;
  double spread;   /* standard deviation of its logarithm, over fits to rows drawn from those */
  bool *fitted;    /* by row */
  double *held_ln; /* by judged row: ln(predicted / measured) by the fit to other models and lengths of sequences */
} sw_runs_fit;

/* Of rows whose kernels are priced as measured alone. In the arena. Deterministic. */
SW_CHECKED sw_rc sw_runs_fit_all(const sw_runs *all, sw_arena *arena, sw_runs_fit *out, sw_diag *d);
/* The scales that these rows alone ask for. */
SW_CHECKED sw_rc sw_runs_fit_rows(const sw_run_row *const *rows, int64_t n, sw_arena *arena, sw_run_scales *out,
                                  sw_diag *d);

#endif
