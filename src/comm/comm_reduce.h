/* Element-wise reduction of contiguous runs, in the order of the sources. */
#ifndef SRC_COMM_REDUCE_H_
#define SRC_COMM_REDUCE_H_

#include "shardwright/comm.h"

typedef struct sw_reducer {
  sw_reduction kind;
  sw_dtype from, to;
  const sw_combiner *generic;
  bool streams; /* results go past the caches */
} sw_reducer;

/* dst[*][dst_at + i] = reduction over s of src[s][src_at + i], i < count (offsets in elements). Sources are of dtype
 * `from`, destinations of `to`. What is written may be what is read of a source (then from = to), and otherwise
 * overlaps none of it. n_src >= 1. */
void sw_reduce_run(const sw_reducer *r, int64_t n_src, const void *const *src, int64_t src_at, int64_t n_dst,
                   void *const *dst, int64_t dst_at, int64_t count);

#endif
