/* Rows of the benches' tables. */
#ifndef BENCH_BENCH_ROW_H_
#define BENCH_BENCH_ROW_H_

#include "bench/bench_line.h"
#include "shardwright/text.h"

/* Hands the row over and frees it. */
SW_CHECKED sw_rc sw_bench_emit(sw_bench_line line, void *user, sw_text *row, sw_diag *d);
/* Seconds in a cell that ends 11 columns on. */
void sw_bench_cell_seconds(sw_text *row, double seconds);

#endif
