/* The cost model against measured tables: how far are the prices of a profile from what was measured, and what
 * constants would fit best.
 *
 * Tables in one folder, those that are there, each with a header line: collectives.csv (source, hardware, ranks, nodes,
 * collective, bytes, time_us, place), gemm.csv (source, hardware, dtype, m, n, k, time_us) and attention.csv (source,
 * hardware, kind, batch, seq, heads, kv_heads, head_dim, window, time_us). A profile names the rows that speak of it
 * ("measured" in its file). Rows are split: within each table every other size, on ranks other than 4, is for fitting;
 * all other rows judge. Errors are mean |ln(predicted / measured)| in per cent; collectives below
 * 1 MiB and kernels below 20 us stand apart. A source
 * passes at SW_BENCH_COSTS_LIMIT or less; a profile with fewer than SW_BENCH_COSTS_MIN_ROWS rows is reported only.
 */
#ifndef BENCH_BENCH_COSTS_H_
#define BENCH_BENCH_COSTS_H_

#include "shardwright/profile.h"

#define SW_BENCH_COSTS_LIMIT 15.0        /* per cent */
#define SW_BENCH_COSTS_DECODE_LIMIT 25.0 /* of attention with one query */
enum { SW_BENCH_COSTS_MIN_ROWS = 10 };
/* That a fit may move: of collectives and rooflines, reduce_scatter having its own, and of kernels priced by shape. */
enum { SW_BENCH_COSTS_MAX_CONSTANTS = 21, SW_BENCH_COSTS_MAX_KERNEL_CONSTANTS = 26 };

typedef struct sw_bench_costs_options {
  const char *facts_dir; /* holds the two tables */
  bool fit;              /* fit the constants anew, from those of the profile, and judge the result */
  bool rows;             /* print every judged row as well */
} sw_bench_costs_options;

/* Appends a table for people to `table` and a JSON document to `json` (either may be NULL). *passed: no judged source
 * is beyond the limit. Same input, same output. */
SW_API SW_CHECKED sw_rc sw_bench_costs(const sw_profile *const *profiles, int n, const sw_bench_costs_options *o,
                                       sw_text *table, sw_text *json, bool *passed, sw_diag *d);

#endif
