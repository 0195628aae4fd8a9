/* sort: for every line along the dim the keys of its elements, a stable order of them, and all operands in that order.
 *
 *   sort of (3, 1, 3), (a, b, c), keys [0]: (1, 3, 3), (b, a, c)
 */
#include <string.h>

#include "exec/kernels/op_kernel.h"
#include "exec/kernels/keys.h"
#include "exec/kernels/native.h"
#include "base/checked.h"

typedef struct sorter {
  int n_keys;
  int64_t n;       /* elements of a line */
  uint64_t **keys; /* per key operand, by element */
} sorter;

static bool is_after(const sorter *s, int64_t a, int64_t b) {
  for (int k = 0; k < s->n_keys; k++) {
    if (s->keys[k][a] != s->keys[k][b]) return s->keys[k][a] > s->keys[k][b];
  }
  return false;
}

/* Two neighbouring runs of `from`, merged into `to`; the first one wins among equals. */
static void merge_runs(const sorter *s, const int64_t *from, int64_t lo, int64_t middle, int64_t hi, int64_t *to) {
  int64_t a = lo, b = middle;
  for (int64_t i = lo; i < hi; i++) {
    bool second = a == middle || (b < hi && is_after(s, from[a], from[b]));
    to[i] = second ? from[b++] : from[a++];
  }
}

/* The order of a line's elements, in one of the two buffers. */
static const int64_t *sort_line(const sorter *s, int64_t *at, int64_t *spare) {
  for (int64_t i = 0; i < s->n; i++) at[i] = i;
  for (int64_t run = 1; run < s->n; run *= 2) {
    for (int64_t lo = 0; lo < s->n; lo += 2 * run) {
      merge_runs(s, at, lo, sw_min_i64(lo + run, s->n), sw_min_i64(lo + 2 * run, s->n), spare);
    }
    int64_t *t = at;
    at = spare;
    spare = t;
  }
  return at;
}

static void load_line(const sorter *s, const sw_op *op, const sw_buffer *const *in, int64_t first, int64_t step) {
  int n;
  const int64_t *which = sw_op_ints(op, SW_ATTR_KEYS, &n);
  bool total = sw_op_int(op, SW_ATTR_TOTAL_ORDER, 0) != 0;
  uint64_t flip = sw_op_int(op, SW_ATTR_DESCENDING, 0) ? UINT64_MAX : 0;
  for (int k = 0; k < n; k++) {
    const sw_buffer *x = in[which[k]];
    int64_t bytes = sw_dtype_bytes(x->dtype);
    for (int64_t i = 0; i < s->n; i += SW_CHUNK) {
      int64_t m = sw_min_i64(SW_CHUNK, s->n - i);
      const char *from = (const char *)x->data + (first + i * step) * bytes;
      if (total) sw_load_total_keys(x->dtype, from, step * bytes, m, s->keys[k] + i);
      if (!total) sw_load_keys(x->dtype, from, step * bytes, m, false, s->keys[k] + i);
      for (int64_t j = 0; j < m; j++) s->keys[k][i + j] ^= flip;
    }
  }
}

static void permute_line(const sw_buffer *x, sw_buffer *y, int64_t first, int64_t step, const int64_t *order,
                         int64_t n) {
  size_t bytes = (size_t)sw_dtype_bytes(x->dtype);
  for (int64_t i = 0; i < n; i++) {
    memcpy((char *)y->data + (size_t)(first + i * step) * bytes,
           (const char *)x->data + (size_t)(first + order[i] * step) * bytes, bytes);
  }
}

sw_rc sw_kernel_sort(const sw_kernel_call *c, sw_diag *d) {
  sw_lines l = sw_lines_of(c->in[0], sw_op_int(c->op, SW_ATTR_DIM, 0));
  sorter s = {.n = l.extent};
  const int64_t *which = sw_op_ints(c->op, SW_ATTR_KEYS, &s.n_keys);
  int64_t *at, *spare;
  SW_ARENA_NEW(s.keys, c->scratch, s.n_keys, d);
  for (int k = 0; k < s.n_keys; k++) {
    if (!sw_convertible(c->in[which[k]]->dtype)) return sw_kernel_no_dtype(c, c->in[which[k]]->dtype, d);
    SW_ARENA_NEW(s.keys[k], c->scratch, l.extent, d);
  }
  SW_ARENA_NEW_EACH(c->scratch, l.extent, d, at, spare);
  for (int64_t line = 0; line < l.outer * l.inner; line++) {
    int64_t first = line / l.inner * l.extent * l.inner + line % l.inner;
    load_line(&s, c->op, c->in, first, l.inner);
    const int64_t *order = sort_line(&s, at, spare);
    for (int i = 0; i < c->op->n_operands; i++) permute_line(c->in[i], c->out[i], first, l.inner, order, l.extent);
  }
  return SW_OK;
}
