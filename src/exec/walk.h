/* Walking several strided arrays together, one innermost row at a time.
 *
 * Strides are in bytes, may be 0 (broadcast, reduction) or negative (reverse). Dimensions of extent 1 vanish and
 * neighbours that all arrays see as one are merged, so that rows are as long as possible. Rows come in row-major order
 * of the dims.
 */
#ifndef EXEC_WALK_H_
#define EXEC_WALK_H_

#include "shardwright/collective.h"

enum { SW_WALK_ARRAYS = 3 };

typedef struct sw_walk {
  int rank, n_arrays;
  int64_t dims[SW_MAX_RANK];
  int64_t stride[SW_WALK_ARRAYS][SW_MAX_RANK];
} sw_walk;

/* A row of n elements: array i starts at at[i] and steps stride[i] bytes. */
typedef void (*sw_walk_row)(void *user, char *const *at, const int64_t *stride, int64_t n);

void sw_walk_simplify(sw_walk *w);
/* w is simplified. No row when an extent is 0; one row of one element at rank 0. */
void sw_walk_run(const sw_walk *w, char *const *base, sw_walk_row row, void *user);

/* Row-major byte strides of a dense array. */
void sw_dense_strides(int rank, const int64_t *dims, int64_t element_bytes, int64_t *stride);

/* n elements from src to dst, `ss` and `ds` bytes apart; elements of 1, 2, 4, 8 or 16 bytes. */
void sw_copy_row(int element_bytes, char *dst, int64_t ds, const char *src, int64_t ss, int64_t n);

/* dst box = src box, both given by their first element and byte strides; elements of 1, 2, 4, 8 or 16 bytes. */
void sw_copy_box(int rank, const int64_t *dims, int element_bytes, char *dst, const int64_t *dst_stride,
                 const char *src, const int64_t *src_stride);
/* The same for a simplified walk over {dst, src}: for many boxes of one shape. */
void sw_copy_walk(const sw_walk *w, int element_bytes, char *dst, const char *src);
/* n elements, each a copy of *value. */
void sw_fill_elements(void *dst, const void *value, int element_bytes, int64_t n);

#endif
