/* Comparing tensors, element by element, in f64 (floats) or exactly (integers).
 *
 *   got (1, 2.5, NaN), want (1, 2, NaN): 1 of 3 elements differs; first at [1]: got 2.5, expected 2 (relative 0.25)
 */
#include <math.h>
#include <string.h>

#include "exec/kernels/native.h"
#include "base/checked.h"
#include "collective/scalar.h"
#include "shardwright/tensor.h"

/* Bits of precision (the leading one included) and exponents of the least normal and the largest number. */
typedef struct float_shape {
  int digits, least_exponent, most_exponent;
} float_shape;

static float_shape float_shape_of(sw_dtype t) {
  static const float_shape kShapes[SW_DTYPE_COUNT] = {
      [SW_F64] = {53, -1022, 1023},     [SW_F32] = {24, -126, 127},     [SW_F16] = {11, -14, 15},
      [SW_BF16] = {8, -126, 127},       [SW_F8E4M3FN] = {4, -6, 8},     [SW_F8E5M2] = {3, -14, 15},
      [SW_F8E3M4] = {5, -2, 3},         [SW_F8E4M3] = {4, -6, 7},       [SW_F8E4M3FNUZ] = {4, -7, 7},
      [SW_F8E4M3B11FNUZ] = {4, -10, 4}, [SW_F8E5M2FNUZ] = {3, -15, 15}, [SW_F8E8M0FNU] = {1, -127, 127},
      [SW_F6E2M3FN] = {4, 0, 2},        [SW_F6E3M2FN] = {3, -2, 4},     [SW_F4E2M1FN] = {2, 0, 2}};
  return kShapes[t];
}

double sw_unit_roundoff(sw_dtype t) { return ldexp(1, -float_shape_of(t).digits); }

double sw_top_binade(sw_dtype t) { return ldexp(1, float_shape_of(t).most_exponent); }

sw_tolerance sw_tolerance_for(sw_dtype t, int64_t terms, double magnitude) {
  if (t == SW_C64 || t == SW_C128) t = t == SW_C64 ? SW_F32 : SW_F64;
  if (sw_dtype_class_of(t) != SW_CLASS_FLOAT) return (sw_tolerance){0, 0};
  double u = sw_unit_roundoff(t), v = sw_unit_roundoff(sw_wide_of(t));
  double n = terms > 1 ? (double)terms : 1;
  return (sw_tolerance){4 * u + 4 * v * sqrt(n), terms > 1 ? 4 * v * n * magnitude : 0};
}

/* One unit in the last place at v. */
static double ulp_at(sw_dtype t, double v) {
  float_shape s = float_shape_of(t);
  int exponent;
  if (!s.digits || !isfinite(v)) return 1;
  (void)frexp(v, &exponent);
  exponent -= 1; /* v = 1.xxx * 2^exponent */
  if (v == 0 || exponent < s.least_exponent) exponent = s.least_exponent;
  return ldexp(1, exponent - s.digits + 1);
}

static void index_of(const sw_buffer *b, int64_t element, int64_t *index) {
  for (int i = b->rank - 1; i >= 0; i--) {
    index[i] = element % b->dims[i];
    element /= b->dims[i];
  }
}

/* Two elements that are not equal; gap: not finite when only one of them is, or one alone is NaN. Are they too far
 * apart? */
static bool is_off(sw_difference *x, double gap, double size, sw_tolerance tol) {
  double allowed = tol.absolute + tol.relative * size;
  bool fine = isfinite(gap) && isfinite(size) && gap <= allowed;
  double off = isfinite(gap) ? gap : INFINITY;
  x->most_off = fmax(x->most_off, off);
  x->most_used = fmax(x->most_used, off <= 0 ? 0 : allowed > 0 && isfinite(allowed) ? off / allowed : INFINITY);
  return !fine;
}

void sw_difference_raise(sw_difference *x, const sw_difference *by) {
  x->most_off = fmax(x->most_off, by->most_off);
  x->most_used = fmax(x->most_used, by->most_used);
}

/* A differing element; the worst is the one with the largest relative difference. */
static void record(sw_difference *x, const sw_buffer *b, int64_t element, double got, double want, double gap) {
  double size = fmax(fabs(want), ldexp(1, float_shape_of(b->dtype).least_exponent));
  double relative = isfinite(want) && isfinite(got) ? gap / size : INFINITY;
  if (x->differing++ == 0) {
    index_of(b, element, x->first);
    x->first_got = got, x->first_want = want;
  } else if (relative <= x->worst_relative) {
    return;
  }
  index_of(b, element, x->worst);
  x->worst_got = got, x->worst_want = want;
  x->worst_relative = relative;
  x->worst_absolute = gap;
  x->worst_ulp = gap / ulp_at(b->dtype, want);
}

static void compare_floats(const sw_buffer *b, const sw_chunk *got, const sw_chunk *want, int64_t first, int64_t n,
                           sw_tolerance tol, sw_difference *out) {
  for (int64_t i = 0; i < n; i++) {
    double g = got->f64[i], w = want->f64[i];
    if (g == w || (isnan(g) && isnan(w))) continue;
    double gap = fabs(g - w);
    if (is_off(out, gap, fabs(w), tol)) record(out, b, first + i, g, w, isnan(gap) ? INFINITY : gap);
  }
}

static void compare_integers(const sw_buffer *b, const sw_chunk *got, const sw_chunk *want, int64_t first, int64_t n,
                             sw_tolerance tol, sw_difference *out) {
  bool is_signed = sw_dtype_class_of(b->dtype) == SW_CLASS_SIGNED;
  for (int64_t i = 0; i < n; i++) {
    uint64_t g = got->u64[i], w = want->u64[i];
    if (g == w) continue;
    bool above = is_signed ? (int64_t)g > (int64_t)w : g > w;
    double gap = (double)(above ? g - w : w - g), vg = is_signed ? (double)(int64_t)g : (double)g;
    double vw = is_signed ? (double)(int64_t)w : (double)w;
    if (is_off(out, gap, fabs(vw), tol)) record(out, b, first + i, vg, vw, gap);
  }
}

/* By distance in the plane. */
static void compare_complex(const sw_buffer *got, const sw_buffer *want, sw_tolerance tol, sw_difference *out) {
  int64_t bytes = sw_dtype_bytes(got->dtype);
  for (int64_t i = 0; i < out->compared; i++) {
    sw_scalar g = sw_scalar_load(got->dtype, (const char *)got->data + i * bytes),
              w = sw_scalar_load(want->dtype, (const char *)want->data + i * bytes);
    if ((g.re == w.re || (isnan(g.re) && isnan(w.re))) && (g.im == w.im || (isnan(g.im) && isnan(w.im)))) continue;
    double gap = hypot(g.re - w.re, g.im - w.im), size = hypot(w.re, w.im);
    if (is_off(out, gap, size, tol)) record(out, want, i, hypot(g.re, g.im), size, isnan(gap) ? INFINITY : gap);
  }
}

sw_rc sw_tensor_compare(const sw_buffer *got, const sw_buffer *want, sw_tolerance tol, sw_difference *out, sw_diag *d) {
  bool alike = got->dtype == want->dtype && got->rank == want->rank;
  for (int i = 0; alike && i < got->rank; i++) alike = got->dims[i] == want->dims[i];
  if (!alike) return SW_FAIL_INPUT(d, SW_NOWHERE, "tensors of different types cannot be compared");
  *out = (sw_difference){.compared = want->dtype == SW_TOKEN ? 0 : sw_buffer_elements(want)};
  if (want->dtype == SW_TOKEN) return SW_OK;
  if (sw_dtype_class_of(got->dtype) == SW_CLASS_COMPLEX) {
    compare_complex(got, want, tol, out);
    return SW_OK;
  }
  bool floats = sw_dtype_class_of(got->dtype) == SW_CLASS_FLOAT;
  sw_dtype wide = floats ? SW_F64 : sw_wide_of(got->dtype);
  int64_t bytes = sw_dtype_bytes(got->dtype);
  sw_chunk g, w;
  for (int64_t i = 0; i < out->compared; i += SW_CHUNK) {
    int64_t n = sw_min_i64(SW_CHUNK, out->compared - i);
    const char *at_got = (const char *)got->data + i * bytes, *at_want = (const char *)want->data + i * bytes;
    if (memcmp(at_got, at_want, (size_t)(n * bytes)) == 0) continue;
    sw_convert(got->dtype, at_got, wide, g.bytes, n);
    sw_convert(want->dtype, at_want, wide, w.bytes, n);
    (floats ? compare_floats : compare_integers)(want, &g, &w, i, n, tol, out);
  }
  return SW_OK;
}

static void print_index(const int64_t *index, int rank, sw_text *out) {
  sw_text_puts(out, "[");
  for (int i = 0; i < rank; i++) sw_text_printf(out, "%s%lld", i ? "," : "", (long long)index[i]);
  sw_text_puts(out, "]");
}

void sw_difference_print(const sw_difference *x, int rank, sw_text *out) {
  if (x->differing == 0) {
    sw_text_printf(out, "all %lld elements agree", (long long)x->compared);
    return;
  }
  sw_text_printf(out, "%lld of %lld elements differ; first at ", (long long)x->differing, (long long)x->compared);
  print_index(x->first, rank, out);
  sw_text_printf(out, ": got %.9g, expected %.9g; worst at ", x->first_got, x->first_want);
  print_index(x->worst, rank, out);
  sw_text_printf(out, ": got %.9g, expected %.9g (relative %.3g, %.3g ulp)", x->worst_got, x->worst_want,
                 x->worst_relative, x->worst_ulp);
}
