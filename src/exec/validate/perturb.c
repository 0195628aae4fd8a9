/* Where large terms cancel, what remains is their rounding: 1e8 + 1 - 1e8 in f32 may be 0 or 8. A comparison of two
 * runs that add in different orders has to know this of every value. Monte Carlo arithmetic (D. S. Parker, UCLA
 * CSD-970002, 1997) finds it by trial, for any op: run again with every result perturbed by a rounding, and see how far
 * values move.
 *
 *   the gradient of a bias that softmax ignores: terms of 1e-3 cancel; it is 3e-11 in one run and -5e-11 in the next
 */
#include "exec/validate/perturb.h"

#include <math.h>
#include <string.h>

#include "exec/kernels/native.h"

/* Elements [first, first + n) as f64, n <= SW_CHUNK. */
static void load_chunk(const sw_buffer *b, int64_t first, int64_t n, double *out) {
  sw_convert(b->dtype, (const char *)b->data + first * sw_dtype_bytes(b->dtype), SW_F64, out, n);
}

static int64_t chunk_at(int64_t i, int64_t all) { return all - i < SW_CHUNK ? all - i : SW_CHUNK; }

/* Floats as one row, complex numbers as their parts; no elements when the tensor is of neither. */
static sw_buffer row_of_floats(const sw_buffer *b) {
  sw_dtype_class class = sw_dtype_class_of(b->dtype);
  sw_buffer row = {.dtype = b->dtype, .rank = 1, .data = b->data};
  if (class == SW_CLASS_COMPLEX) row.dtype = b->dtype == SW_C64 ? SW_F32 : SW_F64;
  if (class == SW_CLASS_FLOAT) row.dims[0] = sw_buffer_elements(b);
  if (class == SW_CLASS_COMPLEX) row.dims[0] = 2 * sw_buffer_elements(b);
  return row;
}

int64_t sw_count_not_finite(const sw_buffer *b) {
  sw_buffer row = row_of_floats(b);
  int64_t count = 0;
  double v[SW_CHUNK];
  for (int64_t i = 0, n; i < row.dims[0]; i += n) {
    load_chunk(&row, i, n = chunk_at(i, row.dims[0]), v);
    for (int64_t k = 0; k < n; k++) count += !isfinite(v[k]);
  }
  return count;
}

/* Up to which integers; partial sums may be some times as large. */
static double most_exact(sw_dtype t, bool held) {
  if (t == SW_F32 || t == SW_F64 || (held && t == SW_F8E8M0FNU)) return 0x1p20;
  if (!held) return -1;
  return 1 / sw_unit_roundoff(t) / (t == SW_BF16 || t == SW_F16 ? 8 : 1);
}

bool sw_small_integers(const sw_buffer *b, bool held) {
  sw_dtype_class class = sw_dtype_class_of(b->dtype);
  if (class != SW_CLASS_FLOAT) return class != SW_CLASS_COMPLEX;
  const double most = most_exact(b->dtype, held);
  if (most < 0) return false;
  double v[SW_CHUNK];
  for (int64_t i = 0, n, all = sw_buffer_elements(b); i < all; i += n) {
    load_chunk(b, i, n = chunk_at(i, all), v);
    for (int64_t k = 0; k < n; k++) {
      if (v[k] != rint(v[k]) || fabs(v[k]) > most) return false;
    }
  }
  return true;
}

/* Numbers in [-1, 1), two of a draw: 32 random bits are more than enough for a direction and a size. */
static void draw_chunk(sw_rng *rng, int64_t n, double *out) {
  int32_t bits[SW_CHUNK];
  for (int64_t k = 0; k < n; k += 2) {
    uint64_t two = sw_rng_next(rng);
    memcpy(&bits[k], &two, sizeof two); /* SW_CHUNK is even */
  }
  for (int64_t k = 0; k < n; k++) out[k] = bits[k] * 0x1p-31;
}

/* Rounded twice on the way to narrow floats, which is quicker, and no matter here. */
static void store_chunk(const double *v, int64_t n, const sw_buffer *b, int64_t first) {
  char *at = (char *)b->data + first * sw_dtype_bytes(b->dtype);
  float f[SW_CHUNK];
  if (b->dtype == SW_F64) {
    memcpy(at, v, (size_t)n * sizeof *v);
  } else {
    sw_convert(SW_F64, v, SW_F32, f, n);
    sw_convert(SW_F32, f, b->dtype, at, n);
  }
}

void sw_perturb(sw_buffer *b, const double *least, sw_rng *rng) {
  static const double kNone[SW_CHUNK];
  sw_buffer row = row_of_floats(b);
  if (row.dims[0] == 0 || sw_small_integers(b, false)) return;
  double v[SW_CHUNK], by[SW_CHUNK], unit = 2 * sw_unit_roundoff(row.dtype), top = sw_top_binade(row.dtype);
  for (int64_t i = 0, n; i < row.dims[0]; i += n) {
    const double *floor_of = least ? least + i : kNone;
    load_chunk(&row, i, n = chunk_at(i, row.dims[0]), v);
    draw_chunk(rng, n, by);
    for (int64_t k = 0; k < n; k++) {
      double size = fabs(v[k]), scale = size > floor_of[k] ? size : floor_of[k];
      v[k] += size < top ? unit * scale * by[k] : 0;
    }
    store_chunk(v, n, &row, i);
  }
}

double sw_farthest(const sw_buffer *a, const sw_buffer *b) {
  sw_buffer x = row_of_floats(a), y = row_of_floats(b ? b : a);
  double most = 0, v[SW_CHUNK], w[SW_CHUNK] = {0};
  for (int64_t i = 0, n; i < x.dims[0]; i += n) {
    n = chunk_at(i, x.dims[0]);
    load_chunk(&x, i, n, v);
    if (b) load_chunk(&y, i, n, w);
    for (int64_t k = 0; k < n; k++) {
      double gap = fabs(v[k] - w[k]);
      if (gap > most && isfinite(gap)) most = gap;
    }
  }
  return most;
}

double sw_magnitude(const sw_buffer *b) { return sw_farthest(b, NULL); }

double sw_norm(const sw_buffer *a, const sw_buffer *b) {
  sw_buffer x = row_of_floats(a), y = row_of_floats(b ? b : a);
  double sum = 0, v[SW_CHUNK], w[SW_CHUNK] = {0};
  for (int64_t i = 0, n; i < x.dims[0]; i += n) {
    n = chunk_at(i, x.dims[0]);
    load_chunk(&x, i, n, v);
    if (b) load_chunk(&y, i, n, w);
    for (int64_t k = 0; k < n; k++) {
      double gap = v[k] - w[k];
      if (isfinite(gap)) sum += gap * gap;
    }
  }
  return sqrt(sum);
}
