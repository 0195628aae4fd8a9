/* Timing of one collective at one size, in the conventions of nccl-tests: `bytes` is the larger of a device's input
 * and result (of the root, for rooted ops), algorithm bandwidth is bytes/time, bus bandwidth multiplies it by the
 * share of the data that must cross between devices: 2(n-1)/n for all_reduce, (n-1)/n for all_gather, reduce_scatter,
 * all_to_all, gather and scatter, 1 for the others; n devices are a group. In place, all_gather reads its piece where
 * it lies in the result, reduce_scatter leaves its piece in the input, and so do the roots of gather and scatter.
 *
 *   sw_comm_bench b = {.op = SW_COLL_ALL_REDUCE, .devices = 8, .bytes = 1 << 20, .dtype = SW_F32, .min_s = 0.02};
 *   sw_comm_bench_row row;
 *   sw_comm_bench_run(&b, &row, d);
 */
#ifndef COMM_COMM_BENCH_H_
#define COMM_COMM_BENCH_H_

#include "shardwright/comm.h"

typedef struct sw_comm_bench {
  sw_coll_op op;
  const sw_mesh *mesh; /* NULL: a single axis of `devices`, all of it the group */
  int64_t devices;     /* without a mesh */
  int n_axes;          /* the groups of a mesh, which work at the same time */
  sw_axis_ref axes[SW_MAX_REFS];
  int64_t bytes; /* rounded down to whole elements on every device */
  sw_dtype dtype;
  sw_reduction reduction; /* not generic */
  int threads;            /* 0: as many as cores */
  double min_s;           /* measure about so long, per kind */
  sw_cancel *cancel;      /* NULL allowed */
} sw_comm_bench;

/* Times are the least of several batches of calls: the machine may have other work. */
typedef struct sw_comm_bench_row {
  sw_coll_op op;
  int64_t devices, group; /* of the mesh; of one group */
  int64_t bytes, count;   /* count: elements of `bytes` */
  double time_s, in_place_s;
  double alg_bytes_per_s, bus_bytes_per_s; /* out of place */
  double bus_factor;                       /* bus over algorithm bandwidth */
  /* A copy (memcpy, on all devices at once, in the op's own buffers) that reads and writes as many bytes as the op
   * must: the least of several batches; and its share of the op's time, the median of batches beside each other: 1
   * means as fast as memory allows, as memcpy uses it. */
  double copy_s, limit_share;
  int64_t wrong, wrong_in_place; /* elements of all results that were not the expected ones */
} sw_comm_bench_row;

/* all_gather, all_reduce, all_to_all, broadcast, gather, reduce, reduce_scatter, scatter, shift, barrier. */
SW_API bool sw_comm_bench_knows(sw_coll_op op);
SW_API SW_CHECKED sw_rc sw_comm_bench_run(const sw_comm_bench *b, sw_comm_bench_row *out, sw_diag *d);

#endif
