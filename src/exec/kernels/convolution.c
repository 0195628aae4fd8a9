/* convolution as matrix products over patches (im2col), in canonical layouts.
 *
 * The operand becomes x[batch, feature, space...], the kernel w[out, in, window...]; per batch element and feature
 * group the patches p[in * window, positions] are gathered and out[o, positions] = w[o, in * window] * p. A 1x1 window
 * without padding and strides needs no patches: x itself is p.
 *
 *   x[1,1,4], window 3, padding 1: p = (0 x0 x1 x2; x0 x1 x2 x3; x1 x2 x3 0)
 */
#include <string.h>

#include "exec/kernels/gemm.h"
#include "exec/kernels/lapack_calls.h"
#include "exec/kernels/native.h"
#include "exec/walk.h"
#include "exec/kernels/wide.h"
#include "base/checked.h"

/* Most elements of p at a time. */
enum { PATCH_ELEMENTS = 1 << 18 };

typedef struct space_dim {
  int64_t in, window, out, stride, low, dilation, window_dilation;
} space_dim;

typedef struct conv {
  int rank; /* spatial dims */
  space_dim dim[SW_MAX_RANK];
  int64_t batch, features, out_features; /* of x, of x, of w */
  int64_t in_features;                   /* of w: features per group */
  int64_t feature_groups, batch_groups;
  int64_t window, positions, space; /* products over spatial dims of window, out, in */
  sw_dtype wide;
  const char *x, *w;
  char *y; /* [batch / batch_groups, out_features, positions] */
  char *patches;
} conv;

/* permutation[i] = the dim of a buffer laid out as `layout` that is i-th in canonical order: letters, then digits. */
static bool canonical_order(const char *layout, const char *letters, int rank, int *permutation) {
  if ((int)strlen(layout) != rank) return false;
  for (int i = 0; i < rank; i++) {
    const char *at = strchr(layout, i < 2 ? letters[i] : '0' + i - 2);
    if (!at) return false;
    permutation[i] = (int)(at - layout);
  }
  return true;
}

static sw_rc read_conv_layout(const sw_kernel_call *c, sw_attr_key k, const char *letters, int rank, int *permutation,
                              sw_diag *d) {
  const char *text = sw_op_text(c->op, k, "");
  if (canonical_order(text, letters, rank, permutation)) return SW_OK;
  return SW_FAIL_INPUT(d, c->op->span, "op '%s': %s '%s' does not fit rank %d", c->op->name, sw_attr_text(k), text,
                       rank);
}

/* The operand in canonical order and in the wide type. */
static sw_rc load_canonical(const sw_kernel_call *c, const sw_buffer *b, const int *permutation, sw_dtype wide,
                            const char **out, sw_diag *d) {
  const void *at;
  SW_TRY(sw_wide_load(c, b, wide, &at, d));
  *out = at;
  int64_t dims[SW_MAX_RANK], from[SW_MAX_RANK], dense[SW_MAX_RANK], to[SW_MAX_RANK], bytes = sw_dtype_bytes(wide);
  bool in_order = true;
  sw_dense_strides(b->rank, b->dims, bytes, dense);
  for (int i = 0; i < b->rank; i++) {
    dims[i] = b->dims[permutation[i]];
    from[i] = dense[permutation[i]];
    in_order = in_order && permutation[i] == i;
  }
  if (in_order) return SW_OK;
  char *copy = sw_arena_alloc(c->scratch, (size_t)sw_buffer_elements(b), (size_t)bytes, d);
  if (!copy) return SW_E_RESOURCE;
  sw_dense_strides(b->rank, dims, bytes, to);
  sw_copy_box(b->rank, dims, (int)bytes, copy, to, *out, from);
  *out = copy;
  return SW_OK;
}

static sw_rc conv_init(conv *v, const sw_kernel_call *c, int *y_order, sw_diag *d) {
  const sw_buffer *x = c->in[0], *w = c->in[1], *y = c->out[0];
  int x_order[SW_MAX_RANK] = {0}, w_order[SW_MAX_RANK] = {0};
  SW_TRY(read_conv_layout(c, SW_ATTR_LHS_LAYOUT, "bf", x->rank, x_order, d));
  SW_TRY(read_conv_layout(c, SW_ATTR_RHS_LAYOUT, "oi", w->rank, w_order, d));
  SW_TRY(read_conv_layout(c, SW_ATTR_OUT_LAYOUT, "bf", y->rank, y_order, d));
  if (!sw_convertible(x->dtype) || !sw_convertible(y->dtype)) return sw_kernel_no_dtype(c, x->dtype, d);
  *v = (conv){.rank = x->rank - 2, .window = 1, .positions = 1, .space = 1, .wide = sw_wide_of(y->dtype)};
  int64_t store[5][SW_MAX_RANK];
  const int64_t *stride = sw_kernel_ints(c->op, SW_ATTR_STRIDES, v->rank, 1, store[0]);
  const int64_t *low = sw_kernel_ints(c->op, SW_ATTR_PAD_LOW, v->rank, 0, store[1]);
  const int64_t *dilation = sw_kernel_ints(c->op, SW_ATTR_LHS_DILATION, v->rank, 1, store[2]);
  const int64_t *window_dilation = sw_kernel_ints(c->op, SW_ATTR_RHS_DILATION, v->rank, 1, store[3]);
  for (int i = 0; i < v->rank; i++) {
    space_dim s = {
        x->dims[x_order[i + 2]], w->dims[w_order[i + 2]], y->dims[y_order[i + 2]], stride[i], low[i], dilation[i],
        window_dilation[i]};
    v->dim[i] = s;
    v->window *= s.window, v->positions *= s.out, v->space *= s.in;
  }
  v->batch = x->dims[x_order[0]], v->features = x->dims[x_order[1]];
  v->out_features = w->dims[w_order[0]], v->in_features = w->dims[w_order[1]];
  v->feature_groups = sw_op_int(c->op, SW_ATTR_FEATURE_GROUPS, 1);
  v->batch_groups = sw_op_int(c->op, SW_ATTR_BATCH_GROUPS, 1);
  SW_TRY(load_canonical(c, x, x_order, v->wide, &v->x, d));
  return load_canonical(c, w, w_order, v->wide, &v->w, d);
}

/* Where along a dim the output position o reads the operand with window offset `offset`:
 * (o*stride + offset*window_dilation - low) / dilation, where that divides and lies inside; else -1. */
static int64_t input_index(const space_dim *s, int64_t o, int64_t offset) {
  int64_t p = o * s->stride + offset * s->window_dilation - s->low;
  if (p < 0 || p % s->dilation != 0) return -1;
  p /= s->dilation;
  return p < s->in ? p : -1;
}

/* One row of a patch: positions [first, first+n) along the last spatial dim, others fixed; `from` is the input row. */
#define PATCH_ROW(id, T)                                                                                     \
  static void patch_row_##id(const space_dim *s, int64_t offset, int64_t first, int64_t n, const void *from, \
                             void *to) {                                                                     \
    const T *x = from;                                                                                       \
    T *y = to;                                                                                               \
    for (int64_t i = 0; i < n; i++) {                                                                        \
      int64_t at = input_index(s, first + i, offset);                                                        \
      y[i] = at < 0 ? 0 : x[at];                                                                             \
    }                                                                                                        \
  }
PATCH_ROW(4, uint32_t)
PATCH_ROW(8, uint64_t)

/* Undilated rows are a run of the input with a step: only its ends need a test. */
static void patch_row(const conv *v, int64_t offset, int64_t first, int64_t n, const char *from, char *to) {
  const space_dim *s = &v->dim[v->rank - 1];
  int64_t bytes = sw_dtype_bytes(v->wide);
  if (s->dilation == 1) {
    int64_t shift = offset * s->window_dilation - s->low;
    int64_t lo = sw_max_i64(first, -sw_floor_div(shift, s->stride));
    int64_t hi = sw_min_i64(first + n, sw_floor_div(s->in - 1 - shift, s->stride) + 1);
    lo = sw_min_i64(lo, first + n), hi = sw_max_i64(hi, lo);
    int64_t count = hi - lo, step = s->stride * bytes;
    memset(to, 0, (size_t)((lo - first) * bytes));
    memset(to + (hi - first) * bytes, 0, (size_t)((first + n - hi) * bytes));
    sw_copy_row((int)bytes, to + (lo - first) * bytes, bytes, from + (lo * s->stride + shift) * bytes, step, count);
  } else if (bytes == 4) {
    patch_row_4(s, offset, first, n, from, to);
  } else {
    patch_row_8(s, offset, first, n, from, to);
  }
}

/* Start of the input row that window offset `offset` and outer output index `outer` read; -1: padding. */
static int64_t input_row(const conv *v, const int64_t *offset, int64_t outer) {
  int64_t start = 0, scale = v->dim[v->rank - 1].in;
  for (int i = v->rank - 2; i >= 0; i--) {
    int64_t at = input_index(&v->dim[i], outer % v->dim[i].out, offset[i]);
    if (at < 0) return -1;
    start += at * scale;
    scale *= v->dim[i].in;
    outer /= v->dim[i].out;
  }
  return start;
}

/* Row (feature, offset) of the patches: positions [first, first+n) of the output. */
static void patch_line(const conv *v, const char *feature, const int64_t *offset, int64_t first, int64_t n, char *to) {
  int64_t bytes = sw_dtype_bytes(v->wide), width = v->dim[v->rank - 1].out;
  for (int64_t at = first; at < first + n;) {
    int64_t column = at % width, m = sw_min_i64(width - column, first + n - at);
    int64_t row = input_row(v, offset, at / width);
    char *out = to + (at - first) * bytes;
    if (row < 0) {
      memset(out, 0, (size_t)(m * bytes));
    } else {
      patch_row(v, offset[v->rank - 1], column, m, feature + row * bytes, out);
    }
    at += m;
  }
}

static void gather_patches(const conv *v, const char *x, int64_t first, int64_t n) {
  int64_t bytes = sw_dtype_bytes(v->wide);
  char *to = v->patches;
  for (int64_t f = 0; f < v->in_features; f++) {
    for (int64_t at = 0; at < v->window; at++, to += n * bytes) {
      int64_t offset[SW_MAX_RANK], rest = at;
      for (int i = v->rank - 1; i >= 0; i--) {
        offset[i] = rest % v->dim[i].window;
        rest /= v->dim[i].window;
      }
      patch_line(v, x + f * v->space * bytes, offset, first, n, to);
    }
  }
}

static bool needs_patches(const conv *v) {
  for (int i = 0; i < v->rank; i++) {
    const space_dim *s = &v->dim[i];
    if (s->window != 1 || s->stride != 1 || s->low != 0 || s->dilation != 1 || s->out != s->in) return true;
  }
  return false;
}

/* out[o, positions] of one batch element and group: x points at its features, w at its kernels, y at its result. */
static void convolve(const conv *v, int64_t out_features, const char *x, const char *w, char *y) {
  int64_t bytes = sw_dtype_bytes(v->wide), depth = v->in_features * v->window;
  sw_matrix kernel = {w, depth, 1};
  if (!v->patches) {
    sw_gemm(v->wide, out_features, v->positions, depth, kernel, (sw_matrix){x, v->positions, 1}, y, v->positions);
    return;
  }
  int64_t step = sw_max_i64(1, PATCH_ELEMENTS / sw_max_i64(depth, 1));
  for (int64_t at = 0; at < v->positions; at += step) {
    int64_t n = sw_min_i64(step, v->positions - at);
    gather_patches(v, x, at, n);
    sw_gemm(v->wide, out_features, n, depth, kernel, (sw_matrix){v->patches, n, 1}, y + at * bytes, v->positions);
  }
}

static void convolve_all(const conv *v) {
  int64_t bytes = sw_dtype_bytes(v->wide), groups = sw_max_i64(v->feature_groups, v->batch_groups);
  int64_t out_per_group = v->out_features / groups, batch = v->batch / v->batch_groups;
  int64_t depth = v->in_features * v->window;
  for (int64_t b = 0; b < batch; b++) {
    for (int64_t g = 0; g < groups; g++) {
      int64_t feature = v->feature_groups > 1 ? g * v->in_features : 0;
      int64_t element = v->batch_groups > 1 ? g * batch + b : b;
      convolve(v, out_per_group, v->x + (element * v->features + feature) * v->space * bytes,
               v->w + g * out_per_group * depth * bytes,
               v->y + (b * v->out_features + g * out_per_group) * v->positions * bytes);
    }
  }
}

/* The result from canonical order to its own layout and dtype. */
static sw_rc store_canonical(const sw_kernel_call *c, const conv *v, const int *y_order, sw_diag *d) {
  sw_buffer *y = c->out[0];
  int64_t dims[SW_MAX_RANK], dense[SW_MAX_RANK], from[SW_MAX_RANK], to[SW_MAX_RANK], bytes = sw_dtype_bytes(v->wide);
  void *wide;
  SW_TRY(sw_wide_begin(c, y, v->wide, &wide, d));
  sw_dense_strides(y->rank, y->dims, bytes, dense);
  for (int i = 0; i < y->rank; i++) {
    dims[i] = y->dims[y_order[i]];
    to[i] = dense[y_order[i]];
  }
  sw_dense_strides(y->rank, dims, bytes, from);
  sw_copy_box(y->rank, dims, (int)bytes, wide, to, v->y, from);
  sw_wide_finish(y, v->wide, wide);
  return SW_OK;
}

sw_rc sw_kernel_convolution(const sw_kernel_call *c, sw_diag *d) {
  conv v = {.feature_groups = 1, .batch_groups = 1};
  int y_order[SW_MAX_RANK] = {0};
  int64_t elements = sw_buffer_elements(c->out[0]);
  if (elements == 0) return SW_OK;
  SW_TRY(conv_init(&v, c, y_order, d));
  size_t bytes = (size_t)sw_dtype_bytes(v.wide);
  v.y = sw_arena_alloc(c->scratch, (size_t)elements, bytes, d);
  if (!v.y) return SW_E_RESOURCE;
  if (v.rank > 0 && needs_patches(&v)) {
    int64_t depth = v.in_features * v.window;
    size_t most = (size_t)sw_max_i64(depth, sw_min_i64(PATCH_ELEMENTS, depth * v.positions));
    v.patches = sw_arena_alloc(c->scratch, most, bytes, d);
    if (!v.patches) return SW_E_RESOURCE;
  }
  SW_TRY(sw_blas_enter(d));
  convolve_all(&v);
  sw_blas_leave();
  return store_canonical(c, &v, y_order, d);
}
