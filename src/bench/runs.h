/* Measured training runs: their rows, and what is predicted for them (bench_runs.h). */
#ifndef BENCH_RUNS_H_
#define BENCH_RUNS_H_

#include "bench/bench_runs.h"
#include "bench/csv.h"
#include "shardwright/job.h"
#include "shardwright/profile.h"

/* What a step takes when nothing runs beside anything, by what is done. */
typedef struct sw_run_parts {
  double product_s, attention_s, other_s; /* kernels: contractions, attention, all else */
  double communication_s;
} sw_run_parts;

/* The same when they take so many times longer. */
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

/* Does it say that something is made again? */
bool sw_run_recomputes(const sw_run_row *r);

typedef struct sw_runs {
  sw_run_row *rows;
  int64_t n;
} sw_runs;

/* Rows of models whose name holds `only` (NULL: all), in the order of the file; texts live in the arena. */
SW_CHECKED sw_rc sw_runs_read(const char *path, const char *only, sw_arena *arena, sw_runs *out, sw_diag *d);
/* The same of a table that is already read. */
SW_CHECKED sw_rc sw_runs_of(const sw_csv *t, const char *only, sw_arena *arena, sw_runs *out, sw_diag *d);

/* The profiles that are shipped, by the names that they have in tables of runs (sw_run_hardware), with the memory of
 * those; in the arena. */
typedef struct sw_run_profiles {
  const sw_profile **at; /* each has one name left */
  int n;
} sw_run_profiles;
SW_CHECKED sw_rc sw_run_profiles_read(sw_arena *arena, sw_run_profiles *out, sw_diag *d);
/* The one that the row's hardware names; NULL: none does. */
const sw_profile *sw_run_profile_of(const sw_run_profiles *all, const sw_run_row *r);

/* Fill in what is predicted for a row on a machine of this profile (NULL: it is not known), or why nothing is. With
 * overlap the time is that of the timeline, without factors. */
SW_CHECKED sw_rc sw_run_predict(sw_run_row *r, const sw_profile *p, sw_overlap overlap, sw_diag *d);

#endif
