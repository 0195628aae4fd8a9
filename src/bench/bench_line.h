/* Tables that grow while one looks on. */
#ifndef BENCH_BENCH_LINE_H_
#define BENCH_BENCH_LINE_H_

#include "shardwright/status.h"

/* Called with each finished row's text (a line of a table, the headings among them). */
typedef sw_rc (*sw_bench_line)(void *user, const char *line, sw_diag *d);

#endif
