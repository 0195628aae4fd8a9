/* argmax, argmin and top_k: the best elements along a dim, equals by index. For argmax and argmin NaN beats numbers;
 * top_k picks by the total order, in which it does by its sign.
 *
 *   argmax of (3, 7, 7) = 1      top_k of (3, 7, 7), k 2: values (7, 7), indices (1, 2)
 *
 * Elements become 64-bit keys (keys.h), so one loop serves all dtypes.
 */
#include <string.h>

#include "exec/kernels/op_kernel.h"
#include "exec/kernels/keys.h"
#include "exec/kernels/native.h"
#include "base/checked.h"

static int64_t best_of_line(const sw_buffer *x, const sw_lines *l, int64_t first, bool least) {
  int64_t bytes = sw_dtype_bytes(x->dtype), best = 0;
  uint64_t keys[SW_CHUNK], best_key = 0;
  for (int64_t i = 0; i < l->extent; i += SW_CHUNK) {
    int64_t m = sw_min_i64(SW_CHUNK, l->extent - i);
    sw_load_keys(x->dtype, (const char *)x->data + (first + i * l->inner) * bytes, l->inner * bytes, m, least, keys);
    for (int64_t j = 0; j < m; j++) {
      if (keys[j] > best_key || i + j == 0) best_key = keys[j], best = i + j;
    }
  }
  return best;
}

sw_rc sw_kernel_arg_pick(const sw_kernel_call *c, sw_diag *d) {
  const sw_buffer *x = c->in[0];
  sw_buffer *y = c->out[0];
  if (!sw_convertible(x->dtype)) return sw_kernel_no_dtype(c, x->dtype, d);
  sw_lines l = sw_lines_of(x, sw_op_int(c->op, SW_ATTR_DIM, 0));
  int64_t bytes = sw_dtype_bytes(y->dtype);
  char *to = y->data;
  for (int64_t o = 0; o < l.outer; o++) {
    for (int64_t i = 0; i < l.inner; i++, to += bytes) {
      int64_t at = best_of_line(x, &l, o * l.extent * l.inner + i, c->op->code == SW_OP_ARGMIN);
      sw_convert(SW_I64, &at, y->dtype, to, 1);
    }
  }
  return SW_OK;
}

/* --- top_k -------------------------------------------------------------------------------------------------------- */

typedef struct candidate {
  uint64_t key;
  int64_t index;
} candidate;

static bool better(candidate a, candidate b) { return a.key != b.key ? a.key > b.key : a.index < b.index; }

/* heap[0] is the worst of n candidates; the hole at `i` is filled with x. */
static void sift_down(candidate *heap, int64_t n, int64_t i, candidate x) {
  for (;;) {
    int64_t child = 2 * i + 1;
    if (child >= n) break;
    if (child + 1 < n && better(heap[child], heap[child + 1])) child++;
    if (!better(x, heap[child])) break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = x;
}

/* The k best of a line, best first: a heap of the k best so far, emptied from its worst end. */
static void top_of_line(const sw_buffer *x, const sw_lines *l, int64_t first, candidate *heap, int64_t k) {
  int64_t bytes = sw_dtype_bytes(x->dtype), held = 0;
  uint64_t keys[SW_CHUNK];
  for (int64_t i = 0; i < l->extent; i += SW_CHUNK) {
    int64_t m = sw_min_i64(SW_CHUNK, l->extent - i);
    sw_load_total_keys(x->dtype, (const char *)x->data + (first + i * l->inner) * bytes, l->inner * bytes, m, keys);
    for (int64_t j = 0; j < m; j++) {
      candidate next = {keys[j], i + j};
      if (held < k) {
        heap[held++] = next;
        if (held == k) {
          for (int64_t p = k / 2 - 1; p >= 0; p--) sift_down(heap, k, p, heap[p]);
        }
      } else if (k > 0 && better(next, heap[0])) {
        sift_down(heap, k, 0, next);
      }
    }
  }
  for (int64_t n = k - 1; n > 0; n--) {
    candidate last = heap[n];
    heap[n] = heap[0];
    sift_down(heap, n, 0, last);
  }
}

sw_rc sw_kernel_top_k(const sw_kernel_call *c, sw_diag *d) {
  const sw_buffer *x = c->in[0];
  sw_buffer *values = c->out[0], *indices = c->op->n_results > 1 ? c->out[1] : NULL;
  if (!sw_convertible(x->dtype)) return sw_kernel_no_dtype(c, x->dtype, d);
  int64_t dim = sw_op_int(c->op, SW_ATTR_DIM, x->rank - 1), k = values->dims[dim];
  sw_lines l = sw_lines_of(x, dim);
  if (k > l.extent) return SW_BUG(d, "top_k '%s' picks %lld of %lld", c->op->name, (long long)k, (long long)l.extent);
  candidate *heap;
  SW_ARENA_NEW(heap, c->scratch, k, d);
  size_t bytes = (size_t)sw_dtype_bytes(x->dtype);
  for (int64_t line = 0; line < l.outer * l.inner; line++) {
    int64_t o = line / l.inner, i = line % l.inner, first = o * l.extent * l.inner + i;
    top_of_line(x, &l, first, heap, k);
    for (int64_t r = 0; r < k; r++) {
      size_t to = (size_t)((o * k + r) * l.inner + i), from = (size_t)(first + heap[r].index * l.inner);
      memcpy((char *)values->data + to * bytes, (const char *)x->data + from * bytes, bytes);
      if (!indices) continue;
      char *at = (char *)indices->data + (int64_t)to * sw_dtype_bytes(indices->dtype);
      sw_convert(SW_I64, &heap[r].index, indices->dtype, at, 1);
    }
  }
  return SW_OK;
}
