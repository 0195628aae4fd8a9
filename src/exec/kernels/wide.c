/* Buffers in the computing type, and folds.
 *
 * A row is folded in lanes and those by halves, so that loops stay vectorised and rounding errors grow slowly:
 *
 *   1 2 3 4 5  ->  (1+4) (2+5) 3  ->  (5+3) 7  ->  15
 */
#include "exec/kernels/wide.h"

#include <string.h>

#include "exec/kernels/native.h"
#include "exec/walk.h"
#include "base/checked.h"
#include "collective/scalar.h"

#define LANES INT64_C(64)

sw_rc sw_wide_load(const sw_kernel_call *c, const sw_buffer *b, sw_dtype wide, const void **out, sw_diag *d) {
  *out = b->data;
  if (b->dtype == wide) return SW_OK;
  int64_t n = sw_buffer_elements(b);
  if (!sw_convertible(b->dtype)) return sw_kernel_no_dtype(c, b->dtype, d);
  void *copy = sw_arena_alloc(c->scratch, (size_t)n, (size_t)sw_dtype_bytes(wide), d);
  if (!copy) return SW_E_RESOURCE;
  sw_convert(b->dtype, b->data, wide, copy, n);
  *out = copy;
  return SW_OK;
}

sw_rc sw_wide_begin(const sw_kernel_call *c, sw_buffer *b, sw_dtype wide, void **out, sw_diag *d) {
  *out = b->data;
  if (b->dtype == wide) return SW_OK;
  *out = sw_arena_alloc(c->scratch, (size_t)sw_buffer_elements(b), (size_t)sw_dtype_bytes(wide), d);
  return *out ? SW_OK : SW_E_RESOURCE;
}

void sw_wide_finish(sw_buffer *b, sw_dtype wide, const void *from) {
  if (from != b->data) sw_convert(wide, from, b->dtype, b->data, sw_buffer_elements(b));
}

sw_rc sw_fold_init(const sw_kernel_call *c, sw_reduction kind, sw_dtype t, sw_fold *out, sw_diag *d) {
  if (!sw_convertible(t)) return sw_kernel_no_dtype(c, t, d);
  out->wide = sw_wide_of(t);
  out->loop = sw_reduction_loop_of(kind, out->wide);
  if (!out->loop || !sw_reduction_applies(kind, t)) {
    return SW_FAIL_INPUT(d, c->op->span, "op '%s': reduction '%s' is not executed on %s", c->op->name,
                         sw_reduction_text(kind), sw_dtype_text(t));
  }
  _Alignas(8) char narrow[16];
  sw_reduction_identity_bytes(kind, t, narrow);
  sw_convert(t, narrow, out->wide, out->identity, 1);
  if (kind == SW_REDUCE_SUM) memset(out->identity, 0, sizeof out->identity); /* not -0: the sum of nothing is 0 */
  return SW_OK;
}

sw_rc sw_fold_of_op(const sw_kernel_call *c, sw_dtype t, sw_fold *out, sw_diag *d) {
  const char *word = sw_op_text(c->op, SW_ATTR_KIND, "");
  sw_reduction kind;
  if (!sw_reduction_parse(word, &kind)) {
    return SW_FAIL_INPUT(d, c->op->span, "op '%s': kind '%s' is not a reduction", c->op->name, word);
  }
  return sw_fold_init(c, kind, t, out, d);
}

/* *acc = *acc combined with n <= SW_CHUNK wide elements; `room` holds as many and may be `x`. */
static void fold_chunk(const sw_fold *f, void *acc, const char *x, int64_t n, char *room) {
  int64_t bytes = sw_dtype_bytes(f->wide), lanes = n;
  if (n >= 2 * LANES) { /* lanes first: element i goes to lane i mod LANES */
    f->loop(x, x + LANES * bytes, room, LANES);
    int64_t i = 2 * LANES;
    for (; i + LANES <= n; i += LANES) f->loop(room, x + i * bytes, room, LANES);
    f->loop(room, x + i * bytes, room, n - i);
    x = room, lanes = LANES;
  }
  while (lanes > 1) { /* fold the upper half onto the lower; an odd middle element stays */
    int64_t half = lanes / 2;
    f->loop(x, x + (lanes - half) * bytes, room, half);
    if (lanes % 2 && x != room) memcpy(room + half * bytes, x + half * bytes, (size_t)bytes);
    x = room;
    lanes -= half;
  }
  f->loop(acc, x, acc, 1);
}

void sw_fold_row(const sw_fold *f, void *acc, sw_dtype t, const void *x, int64_t n) {
  int64_t bytes = sw_dtype_bytes(t);
  sw_chunk store;
  for (int64_t at = 0; at < n; at += SW_CHUNK) {
    int64_t m = sw_min_i64(SW_CHUNK, n - at);
    const char *from = (const char *)x + at * bytes;
    if (t != f->wide) {
      sw_convert(t, from, f->wide, store.bytes, m);
      from = store.bytes;
    }
    fold_chunk(f, acc, from, m, store.bytes);
  }
}

/* Elements that are apart are gathered, combined and put back. */
void sw_fold_strided(const sw_fold *f, char *acc, int64_t acc_stride, const char *x, int64_t x_stride, int64_t n) {
  int64_t bytes = sw_dtype_bytes(f->wide);
  bool direct = acc_stride == bytes || n == 1;
  if (direct && (x_stride == bytes || n == 1)) {
    f->loop(acc, x, acc, n);
    return;
  }
  sw_chunk a, b;
  for (int64_t i = 0; i < n; i += SW_CHUNK) {
    int64_t m = sw_min_i64(SW_CHUNK, n - i);
    char *to = acc + i * acc_stride;
    sw_copy_row((int)bytes, b.bytes, bytes, x + i * x_stride, x_stride, m);
    if (direct) {
      f->loop(to, b.bytes, to, m);
    } else {
      sw_copy_row((int)bytes, a.bytes, bytes, to, acc_stride, m);
      f->loop(a.bytes, b.bytes, a.bytes, m);
      sw_copy_row((int)bytes, to, acc_stride, a.bytes, bytes, m);
    }
  }
}

static void fold_strided_row(void *user, char *const *at, const int64_t *stride, int64_t n) {
  sw_fold_strided(user, at[0], stride[0], at[1], stride[1], n);
}

void sw_fold_walk(const sw_walk *w, const sw_fold *f, char *acc, const char *x) {
  sw_walk_run(w, (char *[SW_WALK_ARRAYS]){acc, (char *)(uintptr_t)x}, fold_strided_row, (void *)(uintptr_t)f);
}
