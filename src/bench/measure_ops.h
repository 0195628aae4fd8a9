/* Times of local ops on this machine. */
#ifndef BENCH_MEASURE_OPS_H_
#define BENCH_MEASURE_OPS_H_

#include "bench/measured.h"
#include "shardwright/clock.h"

/* Append a sample per op and size, as the interpreter runs it on one device; sources are named after the op. The best
 * rates seen go to *flop_per_s and *bytes_per_s. */
SW_CHECKED sw_rc sw_measure_ops(double min_s, sw_cancel *cancel, sample_set *set, sample_list *list, double *flop_per_s,
                                double *bytes_per_s, sw_diag *d);

#endif
