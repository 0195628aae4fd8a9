/* select_and_scatter: the gradient of pooling. Each window of x chooses an element; what stands for the window in
 * `source` is combined into the result there.
 *
 *   x (3, 5, 5, 1), window 2, stride 2, source (10, 20), init 0, ge: (0, 10, 20, 0)
 *
 * The choice goes through a window in row-major order and keeps what it has while `select` holds between that and the
 * next one. Places outside x are no candidates.
 */
#include <string.h>

#include "exec/kernels/op_kernel.h"
#include "exec/kernels/native.h"
#include "exec/kernels/wide.h"
#include "base/lists.h"

typedef struct pooling {
  const sw_buffer *x;
  const int64_t *window, *stride, *low;
  const char *select;
  const double *values; /* of x */
} pooling;

static bool keeps(const char *select, double chosen, double next) {
  bool equal_too = select[1] == 'e';
  if (chosen == next) return equal_too;
  return select[0] == 'g' ? chosen > next : chosen < next;
}

/* Row-major number of the chosen element; -1: the window lies outside. */
static int64_t chosen_in(const pooling *p, const int64_t *window_at) {
  int64_t at[SW_MAX_RANK] = {0}, best = -1;
  do {
    int64_t number = 0;
    bool inside = true;
    for (int i = 0; i < p->x->rank && inside; i++) {
      int64_t k = window_at[i] * p->stride[i] + at[i] - p->low[i];
      inside = k >= 0 && k < p->x->dims[i];
      number = number * p->x->dims[i] + k;
    }
    if (inside && (best < 0 || !keeps(p->select, p->values[best], p->values[number]))) best = number;
  } while (sw_next_position(p->x->rank, p->window, at));
  return best;
}

sw_rc sw_kernel_select_and_scatter(const sw_kernel_call *c, sw_diag *d) {
  const sw_buffer *source = c->in[1];
  sw_buffer *y = c->out[0];
  int n;
  pooling p = {.x = c->in[0],
               .window = sw_op_ints(c->op, SW_ATTR_WINDOW, &n),
               .stride = sw_op_ints(c->op, SW_ATTR_STRIDES, &n),
               .low = sw_op_ints(c->op, SW_ATTR_PAD_LOW, &n),
               .select = sw_op_text(c->op, SW_ATTR_SELECT_BY, "ge")};
  sw_fold fold;
  void *result;
  const void *updates, *values;
  int64_t at[SW_MAX_RANK] = {0}, elements = sw_buffer_elements(y);
  SW_TRY(sw_fold_of_op(c, y->dtype, &fold, d));
  SW_TRY(sw_wide_begin(c, y, fold.wide, &result, d));
  SW_TRY(sw_wide_load(c, source, fold.wide, &updates, d));
  SW_TRY(sw_wide_load(c, p.x, SW_F64, &values, d));
  p.values = values;
  int bytes = sw_dtype_bytes(fold.wide);
  for (int64_t i = 0; i < elements; i++) sw_convert(y->dtype, c->in[2]->data, fold.wide, (char *)result + i * bytes, 1);
  const char *from = updates;
  for (int64_t left = sw_buffer_elements(source); left > 0; left--, from += bytes) {
    int64_t to = chosen_in(&p, at);
    if (to >= 0) sw_fold_strided(&fold, (char *)result + to * bytes, bytes, from, bytes, 1);
    (void)sw_next_position(source->rank, source->dims, at);
  }
  sw_wide_finish(y, fold.wide, result);
  return SW_OK;
}
