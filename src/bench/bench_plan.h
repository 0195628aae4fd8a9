/* Figures of planning: every architecture against plans made without search, time by number of layers, and programs. */
#ifndef BENCH_BENCH_PLAN_H_
#define BENCH_BENCH_PLAN_H_

#include "io/json_write.h"
#include "bench/bench_row.h"
#include "shardwright/plan.h"

typedef struct sw_bench_plan_options {
  const sw_profile *profile;
  const sw_mesh *mesh;     /* programs: NULL for their own */
  const sw_mesh *fallback; /* programs: the mesh of those without one */
  const char *compiler;    /* NULL: as sw_compiler_of */
  const char *overlap;     /* NULL: as sw_job_make */
  double time_limit_s;     /* of one search */
  double gap;              /* programs: close enough to the bound, as a part of the cost */
  const char *only;        /* NULL, or models whose name holds this */
  int64_t most_layers;     /* of the tables by layers: 1, 2, 4, ...; 0: none */
  sw_cancel *cancel;
  sw_json_out *json; /* NULL: lines; else `line` is not called, and arrays are written into an open object */
} sw_bench_plan_options;

/* *worse: how many plans cost more than a baseline that fits. */
SW_API SW_CHECKED sw_rc sw_bench_plan(const sw_bench_plan_options *o, sw_bench_line line, int *worse, sw_diag *d);
/* A row for each StableHLO program: files, or gpt2:LAYERS for a made one. */
SW_API SW_CHECKED sw_rc sw_bench_programs(const sw_bench_plan_options *o, const char *const *names, int n,
                                          sw_bench_line line, sw_diag *d);

#endif
