/* Figures of the solver: cost, bound and times on problem files and on made-up problems. */
#ifndef BENCH_BENCH_SOLVE_H_
#define BENCH_BENCH_SOLVE_H_

#include "io/json_write.h"
#include "bench/bench_row.h"
#include "shardwright/select.h"

typedef struct sw_bench_solve_options {
  const char *const *instances; /* files of the contest's format, or FAMILY:SEED (gen_problem.h) */
  int n_instances;
  double time_limit_s; /* of one run, reading included */
  int threads, seeds;  /* runs with seeds 1 to `seeds` */
  sw_solver solver;
  sw_cancel *cancel;
  sw_json_out *json; /* NULL: lines; else `line` is not called, and an array is written into an open object */
} sw_bench_solve_options;

/* A row per run, and with several seeds one of the least and the middle cost. Every run's certificate is checked. */
SW_API SW_CHECKED sw_rc sw_bench_solve(const sw_bench_solve_options *o, sw_bench_line line, sw_diag *d);

#endif
