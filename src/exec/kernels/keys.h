/* Elements as 64-bit keys whose unsigned order is that of the values: argmax, top_k and sort compare those alone. */
#ifndef EXEC_KEYS_H_
#define EXEC_KEYS_H_

#include "shardwright/tensor.h"

/* Keys of n elements (n <= SW_CHUNK) that are `stride` bytes apart. They grow with the value; NaN is above all, -0 and
 * 0 have one key. `least` reverses the order of numbers, not the place of NaN. */
void sw_load_keys(sw_dtype t, const char *x, int64_t stride, int64_t n, bool least, uint64_t *keys);
/* The total order of floats, by sign: -NaN, -inf, ..., -0, 0, ..., inf, NaN. Other dtypes as above. */
void sw_load_total_keys(sw_dtype t, const char *x, int64_t stride, int64_t n, uint64_t *keys);

/* The lines of a tensor along a dim: line (o, i) starts at element o*extent*inner + i and steps by `inner`. */
typedef struct sw_lines {
  int64_t outer, extent, inner;
} sw_lines;
sw_lines sw_lines_of(const sw_buffer *b, int64_t dim);

#endif
