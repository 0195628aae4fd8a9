/* A box of one dense row-major buffer beside a box of the same shape in another: walked as contiguous rows. */
#ifndef SRC_COMM_ROWS_H_
#define SRC_COMM_ROWS_H_

#include "shardwright/collective.h"

/* After each true sw_rows_next: `len` elements from element `a` of the one buffer and `b` of the other. */
typedef struct sw_rows {
  int64_t a, b, len;
  int rank; /* of the loop over rows; trailing dimensions that are contiguous in both are part of the row */
  bool first, empty;
  int64_t extent[SW_MAX_RANK], at[SW_MAX_RANK], step_a[SW_MAX_RANK], step_b[SW_MAX_RANK];
} sw_rows;

/* A box of `extent` at `at_a` of a buffer of `dims_a`, and at `at_b` of one of `dims_b`. */
void sw_rows_init(sw_rows *r, int rank, const int64_t *extent, const int64_t *dims_a, const int64_t *at_a,
                  const int64_t *dims_b, const int64_t *at_b);
bool sw_rows_next(sw_rows *r);
/* Elements of the box. */
int64_t sw_rows_total(const sw_rows *r);

#endif
