/* How far off predicted steps are, by software constants as plans have them, by none, and by constants that other runs
 * than the judged ones ask for. */
#ifndef BENCH_RUNS_JUDGED_H_
#define BENCH_RUNS_JUDGED_H_

#include "bench/runs_fit.h"
#include "io/json_write.h"
#include "shardwright/clock.h"

typedef struct sw_runs_predicting {
  const sw_run_profiles *profiles;
  sw_overlap overlap;
  sw_cancel *cancel;
} sw_runs_predicting;

/* Fills in all rows; in_step as in sw_run_predict. */
SW_CHECKED sw_rc sw_runs_predict(sw_runs *all, const sw_runs_predicting *how, double in_step, sw_diag *d);

typedef struct sw_runs_judged {
  const sw_runs *all;     /* as plans price them */
  const double *alone_ln; /* by judged row: ln(predicted / measured) with kernels as measured alone */
  sw_runs_fit fit;
  double *scratch; /* room for as many */
} sw_runs_judged;

/* `all`: predicted as plans price them; lives as long as what is made of it. In the arena. */
SW_CHECKED sw_rc sw_runs_judge(const sw_runs *all, const sw_runs_predicting *how, sw_arena *arena, sw_runs_judged *out,
                               sw_diag *d);
void sw_runs_judged_print(sw_text *t, const sw_runs_judged *j);
void sw_runs_judged_write(sw_json_out *o, const sw_runs_judged *j); /* keys of the object that is open */

#endif
