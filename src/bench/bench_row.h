/* Rows of the benches' tables, which grow while one looks on. */
#ifndef BENCH_BENCH_ROW_H_
#define BENCH_BENCH_ROW_H_

#include "shardwright/text.h"

/* Called with each finished row's text (a line of a table, the headings among them). */
typedef sw_rc (*sw_bench_line)(const char *line, sw_diag *d);

/* Hands the row over and frees it. */
SW_CHECKED sw_rc sw_bench_emit(sw_bench_line line, sw_text *row, sw_diag *d);
/* Seconds in a cell that ends 11 columns on. */
void sw_bench_cell_seconds(sw_text *row, double seconds);

#endif
