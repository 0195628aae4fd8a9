/* Measured training runs: their rows, and what is predicted for them (bench_runs.h). */
#ifndef BENCH_RUNS_H_
#define BENCH_RUNS_H_

#include "bench/bench_runs.h"
#include "bench/csv.h"
#include "shardwright/profile.h"

/* What a step takes when nothing runs beside anything, by what is done. */
typedef struct sw_run_parts {
  double product_s, attention_s, other_s; /* kernels: contractions, attention, all else */
  double communication_s;
} sw_run_parts;

/* How many times longer these take than the cost model says, in their order; of communication, how much is not hidden
 * behind kernels. */
enum { SW_RUN_SCALES = 4 };
typedef struct sw_run_scales {
  double of[SW_RUN_SCALES];
} sw_run_scales;

double sw_run_step_s(const sw_run_parts *p, const sw_run_scales *s);

typedef struct sw_run_row {
  int32_t line; /* in the file */
  const char *source, *model, *hardware, *dtype, *sharding, *recompute, *notes;
  int64_t gpus, seq, dp, tp, pp, cp, micro_batch, accumulations, global_batch;
  double tokens_per_s; /* of one device */
  double memory_gib;   /* 0: not said */
  /* What follows from it. */
  const char *left;               /* NULL, or why nothing is predicted */
  bool judged;                    /* its source says enough to be held against */
  double measured_s, predicted_s; /* 0: not known */
  double bar;                     /* of ln(predicted): four of five runs are expected to be within it; 0: not known */
  sw_run_parts parts;
  int64_t peak_bytes, capacity_bytes;
} sw_run_row;

typedef struct sw_runs {
  sw_run_row *rows;
  int64_t n;
} sw_runs;

/* Rows of models whose name holds `only` (NULL: all), in the order of the file; texts live in the arena. */
SW_CHECKED sw_rc sw_runs_read(const char *path, const char *only, sw_arena *arena, sw_runs *out, sw_diag *d);
/* The same of a table that is already read. */
SW_CHECKED sw_rc sw_runs_of(const sw_csv *t, const char *only, sw_arena *arena, sw_runs *out, sw_diag *d);
/* Fill in what is predicted for a row, or why nothing is. */
SW_CHECKED sw_rc sw_run_predict(sw_run_row *r, sw_diag *d);
/* The same on a machine of this profile, whatever the row calls its hardware; NULL: what the hardware names. */
SW_CHECKED sw_rc sw_run_predict_on(sw_run_row *r, const sw_profile *p, sw_diag *d);

#endif
