/* Measured training runs: their rows, and what is predicted for them (bench_runs.h). */
#ifndef BENCH_RUNS_H_
#define BENCH_RUNS_H_

#include "bench/bench_runs.h"
#include "bench/csv.h"
#include "shardwright/job.h"
#include "shardwright/profile.h"

/* How many times longer products, attention and other kernels take. */
enum { SW_RUN_SCALES = 3 };
typedef struct sw_run_scales {
  double of[SW_RUN_SCALES];
} sw_run_scales;
const char *sw_run_scale_text(int i); /* "products", "attention", "other" */

/* What a step takes, by what is done. */
typedef struct sw_run_parts {
  double kernels_s[SW_RUN_SCALES];
  double rest_s; /* launches, and communication, as far as they do not hide behind kernels */
} sw_run_parts;

/* The same when kernels take so many times longer. */
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
  const char *device;             /* the profile's; NULL: not predicted */
  double measured_s, predicted_s; /* 0: not known */
  sw_run_parts parts;
  int64_t peak_bytes, capacity_bytes;
} sw_run_row;

/* Does it say that something is made again? */
bool sw_run_recomputes(const sw_run_row *r);
/* "neither", "recomputes" or "accumulates", which may recompute, too. */
const char *sw_run_kind_text(const sw_run_row *r);

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

/* Fill in what is predicted for a row on a machine of this profile (NULL: it is not known), or why nothing is. in_step:
 * how many times longer kernels take than measured alone; 0: as the compiler's row says. */
SW_CHECKED sw_rc sw_run_predict(sw_run_row *r, const sw_profile *p, sw_overlap overlap, double in_step, sw_diag *d);

#endif
