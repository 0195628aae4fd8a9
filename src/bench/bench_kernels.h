/* How fast kernels are on this machine, one thread, beside what the machine can do: a plain matrix product through the
 * same BLAS and a plain memcpy, measured in the same run. Work and traffic are those of sw_op_work: operands and
 * results once.
 */
#ifndef BENCH_BENCH_KERNELS_H_
#define BENCH_BENCH_KERNELS_H_

#include "shardwright/exec.h"

typedef struct sw_bench_kernels_options {
  double min_s;     /* repeat each kernel for at least this long; <= 0: 0.2. The best time counts */
  const char *only; /* NULL, or a part of the names to run */
} sw_bench_kernels_options;

typedef struct sw_bench_kernel_row {
  const char *name;  /* static: "dot f32 1024x1024x1024" */
  double seconds;    /* best of all repetitions */
  double flop_per_s; /* 0 for ops that move data only */
  double bytes_per_s;
  /* The larger of flop_per_s and bytes_per_s over the machine's: near 1 is as fast as it gets. The memcpy's rate is
   * taken for a footprint beyond the caches. */
  double share;
} sw_bench_kernel_row;

/* Called once per row in a fixed order; a failure ends the bench. The first two rows are the references. */
typedef sw_rc (*sw_bench_kernel_visit)(void *user, const sw_bench_kernel_row *row, sw_diag *d);
SW_API SW_CHECKED sw_rc sw_bench_kernels(const sw_bench_kernels_options *o, sw_bench_kernel_visit visit, void *user,
                                         sw_diag *d);

#endif
