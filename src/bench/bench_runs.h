/* Predicted against measured training runs: a table of runs, each with its model, hardware and strategy.
 *
 * A row says the model by a name that the generators know, the hardware, how it was cut (sharding, dp_or_fsdp, tp, pp,
 * cp, ep), micro_batch, grad_accum, global_batch, recompute, and what was measured: tokens_per_s_per_gpu, and
 * peak_mem_gib where it is known. The step is global_batch * seq / (tokens_per_s_per_gpu * gpus) seconds. The plan is
 * the one that the strategy says, by rule, without search.
 */
#ifndef BENCH_BENCH_RUNS_H_
#define BENCH_BENCH_RUNS_H_

#include "shardwright/clock.h"
#include "shardwright/job.h"
#include "shardwright/text.h"

typedef struct sw_bench_runs_options {
  const char *const *paths; /* CSV files */
  int n_paths;
  const char *only;   /* NULL, or models whose name holds this */
  sw_overlap overlap; /* what steps are timed with */
  bool fit; /* also say how much longer kernels took than alone, in one set for all rows, and judge what is priced */
  sw_cancel *cancel;
} sw_bench_runs_options;

/* Rows, then errors by source and hardware, then how well each family's rows are put in order. `table` or `json`; NULL:
 * not wanted. SW_E_INPUT: a column is missing or a cell is no number. */
SW_API SW_CHECKED sw_rc sw_bench_runs(const sw_bench_runs_options *o, sw_text *table, sw_text *json, sw_diag *d);

#endif
