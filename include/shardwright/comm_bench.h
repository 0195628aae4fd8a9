/* Timing of one collective at one size, in the conventions of nccl-tests: `bytes` is the larger of a device's input
 * and result (of the root, for rooted ops), algorithm bandwidth is bytes/time, bus bandwidth multiplies it by the
 * share of the data that must cross between devices: 2(n-1)/n for all_reduce, (n-1)/n for all_gather, reduce_scatter
 * and all_to_all, 1 for the others.
 */
#ifndef SHARDWRIGHT_COMM_BENCH_H_
#define SHARDWRIGHT_COMM_BENCH_H_

#include "shardwright/comm.h"

typedef struct sw_comm_bench {
  sw_coll_op op;
  int64_t devices;
  int64_t bytes; /* rounded down to whole f32 on every device */
  int threads;   /* 0: as many as cores */
  double min_s;  /* measure at least so long, per kind */
} sw_comm_bench;

typedef struct sw_comm_bench_row {
  sw_coll_op op;
  int64_t devices, bytes, count; /* count: f32 elements of `bytes` */
  double time_s, in_place_s;     /* of one call; in_place_s 0: the op has no in-place form */
  double alg_bytes_per_s, bus_bytes_per_s;
  /* A copy (memcpy, on all devices at once) that reads and writes as many bytes as the op must, and its time's share
   * of time_s: 1 means as fast as memory allows. */
  double copy_s, limit_share;
  int64_t wrong, wrong_in_place; /* elements of all results that were not the expected ones */
} sw_comm_bench_row;

/* all_gather, all_reduce, all_to_all, broadcast, gather, reduce, reduce_scatter, scatter, shift, barrier. */
SW_API bool sw_comm_bench_knows(sw_coll_op op);
SW_API SW_CHECKED sw_rc sw_comm_bench_run(const sw_comm_bench *b, sw_comm_bench_row *out, sw_diag *d);

#endif
