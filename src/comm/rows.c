/* Walking a box in two buffers at once.
 *
 *   a 2x3 box at (0,1) of a 4x8 buffer and at (0,0) of a 2x3 one:  rows of 3:  (a 1, b 0), (a 9, b 3)
 *   a 2x8 box of 4x8 and 2x8 buffers: dimensions join: one row of 16
 */
#include "comm/rows.h"

void sw_rows_init(sw_rows *r, int rank, const int64_t *extent, const int64_t *dims_a, const int64_t *at_a,
                  const int64_t *dims_b, const int64_t *at_b) {
  r->a = r->b = 0; /* field by field: the arrays are set as far as they are used */
  r->len = 1;
  r->rank = 0;
  r->first = true;
  r->empty = false;
  int64_t stride_a = 1, stride_b = 1;
  bool joined = true; /* all dimensions so far are whole in both buffers */
  for (int i = rank - 1; i >= 0; i--) {
    r->a += at_a[i] * stride_a;
    r->b += at_b[i] * stride_b;
    if (extent[i] <= 0) r->empty = true;
    if (joined) {
      r->len *= extent[i];
    } else if (extent[i] != 1) {
      r->extent[r->rank] = extent[i];
      r->step_a[r->rank] = stride_a;
      r->step_b[r->rank] = stride_b;
      r->at[r->rank] = 0;
      r->rank++;
    }
    joined = joined && extent[i] == dims_a[i] && extent[i] == dims_b[i];
    stride_a *= dims_a[i];
    stride_b *= dims_b[i];
  }
}

bool sw_rows_next(sw_rows *r) {
  if (r->empty) return false;
  if (r->first) {
    r->first = false;
    return true;
  }
  for (int i = 0; i < r->rank; i++) {
    r->a += r->step_a[i];
    r->b += r->step_b[i];
    if (++r->at[i] < r->extent[i]) return true;
    r->a -= r->extent[i] * r->step_a[i];
    r->b -= r->extent[i] * r->step_b[i];
    r->at[i] = 0;
  }
  return false;
}

int64_t sw_rows_total(const sw_rows *r) {
  int64_t n = r->empty ? 0 : r->len;
  for (int i = 0; i < r->rank; i++) n *= r->extent[i];
  return n;
}
