/* Elements one at a time: load, store, convert, combine. Written for clarity: this is what "correct" means for every
 * faster loop.
 *
 *   sum of f16 1, 2^-12, 2^-12 : kept as f32, 1 + 2^-11, rounded once at the end
 */
#include "collective/scalar.h"

#include <math.h>
#include <string.h>

#include "collective/minifloat.h"

#define LOAD(type, at) ((type *)memcpy(&(type){0}, (at), sizeof(type)))[0]

static sw_scalar load_float(sw_dtype t, const void *at) {
  if (t == SW_F64) return (sw_scalar){.re = LOAD(double, at)};
  if (t == SW_F32) return (sw_scalar){.re = (double)LOAD(float, at)};
  uint32_t code = sw_dtype_bytes(t) == 1 ? LOAD(uint8_t, at) : LOAD(uint16_t, at);
  return (sw_scalar){.re = sw_minifloat_decode(sw_minifloat_of(t), code)};
}

static uint64_t load_bits(const void *at, int bytes) {
  switch (bytes) {
    case 1:
      return LOAD(uint8_t, at);
    case 2:
      return LOAD(uint16_t, at);
    case 4:
      return LOAD(uint32_t, at);
    default:
      return LOAD(uint64_t, at);
  }
}

sw_scalar sw_scalar_load(sw_dtype t, const void *at) {
  int bytes = sw_dtype_bytes(t);
  switch (sw_dtype_class_of(t)) {
    case SW_CLASS_FLOAT:
      return load_float(t, at);
    case SW_CLASS_SIGNED:
    case SW_CLASS_UNSIGNED:
      return (sw_scalar){.bits = sw_dtype_wrap(t, load_bits(at, bytes))};
    case SW_CLASS_BOOL:
      return (sw_scalar){.bits = load_bits(at, bytes) != 0};
    case SW_CLASS_COMPLEX:
      if (t == SW_C128) return (sw_scalar){.re = LOAD(double, at), .im = LOAD(double, (const char *)at + 8)};
      return (sw_scalar){.re = (double)LOAD(float, at), .im = (double)LOAD(float, (const char *)at + 4)};
    case SW_CLASS_TOKEN:
      break;
  }
  return (sw_scalar){0};
}

/* Two floats or doubles side by side; a real number has one. */
static void store_reals(const double *v, int n, int bytes, void *at) {
  for (int i = 0; i < n; i++) {
    float narrow = (float)v[i];
    memcpy((char *)at + (ptrdiff_t)i * bytes, bytes == 8 ? (const void *)&v[i] : (const void *)&narrow, (size_t)bytes);
  }
}

static void store_bits(uint64_t bits, int bytes, void *at) {
  uint8_t narrow8 = (uint8_t)bits;
  uint16_t narrow16 = (uint16_t)bits;
  uint32_t narrow32 = (uint32_t)bits;
  const void *from[] = {[1] = &narrow8, [2] = &narrow16, [4] = &narrow32, [8] = &bits};
  memcpy(at, from[bytes], (size_t)bytes);
}

void sw_scalar_store(sw_dtype t, sw_scalar v, void *at) {
  int bytes = sw_dtype_bytes(t);
  const sw_minifloat *mini = sw_minifloat_of(t);
  switch (sw_dtype_class_of(t)) {
    case SW_CLASS_FLOAT:
      if (mini)
        store_bits(sw_minifloat_encode(mini, v.re), bytes, at);
      else
        store_reals(&v.re, 1, bytes, at);
      break;
    case SW_CLASS_SIGNED:
    case SW_CLASS_UNSIGNED:
      store_bits(sw_dtype_wrap(t, v.bits), bytes, at);
      break;
    case SW_CLASS_BOOL:
      store_bits(v.bits != 0, bytes, at);
      break;
    case SW_CLASS_COMPLEX:
      store_reals((double[]){v.re, v.im}, 2, bytes / 2, at);
      break;
    case SW_CLASS_TOKEN:
      break;
  }
}

static bool is_integer(sw_dtype_class c) {
  return c == SW_CLASS_SIGNED || c == SW_CLASS_UNSIGNED || c == SW_CLASS_BOOL;
}

/* An integer as a double from which every narrower float rounds as from the integer itself: a last bit that stands
 * for all that was cut off ("round to odd") decides ties. */
static double double_of_integer(sw_dtype_class from, sw_dtype to, uint64_t bits) {
  bool negative = from == SW_CLASS_SIGNED && (int64_t)bits < 0;
  uint64_t magnitude = negative ? 0 - bits : bits;
  if (to != SW_F64 && to != SW_C128 && magnitude >> 53) {
    int cut = 11 - __builtin_clzll(magnitude);
    uint64_t rest = magnitude & ((UINT64_C(1) << cut) - 1);
    magnitude = ((magnitude >> cut) | (rest != 0)) << cut;
  }
  return negative ? -(double)magnitude : (double)magnitude;
}

static uint64_t integer_of_double(sw_dtype to, double v) {
  if (isnan(v)) return 0;
  v = trunc(v);
  int width = sw_dtype_bits(to);
  if (sw_dtype_class_of(to) == SW_CLASS_UNSIGNED) {
    if (v <= 0) return 0;
    return v >= ldexp(1, width) ? UINT64_MAX >> (64 - width) : (uint64_t)v;
  }
  int64_t max = (int64_t)(UINT64_MAX >> (65 - width));
  if (v >= ldexp(1, width - 1)) return (uint64_t)max;
  if (v < -ldexp(1, width - 1)) return (uint64_t)(-max - 1);
  return (uint64_t)(int64_t)v;
}

/* The value as a buffer of dtype `t` would hold it. */
static sw_scalar through_memory(sw_dtype t, sw_scalar v) {
  uint64_t cell[2] = {0};
  sw_scalar_store(t, v, cell);
  return sw_scalar_load(t, cell);
}

sw_scalar sw_scalar_convert(sw_dtype from, sw_dtype to, sw_scalar v) {
  sw_dtype_class cf = sw_dtype_class_of(from), ct = sw_dtype_class_of(to);
  bool int_from = is_integer(cf), int_to = is_integer(ct);
  if (ct == SW_CLASS_BOOL) return (sw_scalar){.bits = int_from ? v.bits != 0 : v.re != 0};
  if (int_to && !int_from) v.bits = integer_of_double(to, v.re);
  if (!int_to && int_from) v = (sw_scalar){.re = double_of_integer(cf, to, v.bits)};
  return through_memory(to, v);
}

bool sw_reduction_applies(sw_reduction r, sw_dtype t) {
  sw_dtype_class c = sw_dtype_class_of(t);
  if (c == SW_CLASS_TOKEN) return false;
  if (r == SW_REDUCE_GENERIC) return true;
  if (c == SW_CLASS_COMPLEX) return r == SW_REDUCE_SUM || r == SW_REDUCE_PRODUCT || r == SW_REDUCE_AVERAGE;
  if (t == SW_F8E8M0FNU) return r == SW_REDUCE_PRODUCT || r == SW_REDUCE_MIN || r == SW_REDUCE_MAX; /* it has no 0 */
  bool bitwise = r == SW_REDUCE_BIT_AND || r == SW_REDUCE_BIT_OR || r == SW_REDUCE_BIT_XOR;
  return !bitwise || is_integer(c) || c == SW_CLASS_BOOL;
}

static double least_float(double a, double b) {
  if (isnan(a) || isnan(b)) return NAN;
  if (a == b) return signbit(a) ? a : b;
  return a < b ? a : b;
}

static double combine_doubles(sw_reduction r, double a, double b) {
  switch (r) {
    case SW_REDUCE_SUM:
    case SW_REDUCE_AVERAGE:
      return a + b;
    case SW_REDUCE_PRODUCT:
      return a * b;
    case SW_REDUCE_MIN:
      return least_float(a, b);
    case SW_REDUCE_MAX:
      return -least_float(-a, -b);
    case SW_REDUCE_AND:
      return a != 0 && b != 0;
    case SW_REDUCE_OR:
      return a != 0 || b != 0;
    case SW_REDUCE_BIT_AND:
    case SW_REDUCE_BIT_OR:
    case SW_REDUCE_BIT_XOR:
    case SW_REDUCE_GENERIC:
    case SW_REDUCTION_COUNT:
      break;
  }
  return NAN;
}

static sw_scalar combine_complex(sw_reduction r, bool narrow, sw_scalar a, sw_scalar b) {
  if (r != SW_REDUCE_PRODUCT) {
    sw_scalar s = {.re = a.re + b.re, .im = a.im + b.im};
    return narrow ? (sw_scalar){.re = (double)(float)s.re, .im = (double)(float)s.im} : s;
  }
  if (!narrow) return (sw_scalar){.re = a.re * b.re - a.im * b.im, .im = a.re * b.im + a.im * b.re};
  float ar = (float)a.re, ai = (float)a.im, br = (float)b.re, bi = (float)b.im;
  return (sw_scalar){.re = (double)(ar * br - ai * bi), .im = (double)(ar * bi + ai * br)};
}

static uint64_t combine_bits(sw_reduction r, bool is_signed, uint64_t a, uint64_t b) {
  bool a_less = is_signed ? (int64_t)a < (int64_t)b : a < b;
  switch (r) {
    case SW_REDUCE_SUM:
    case SW_REDUCE_AVERAGE:
      return a + b;
    case SW_REDUCE_PRODUCT:
      return a * b;
    case SW_REDUCE_MIN:
      return a_less ? a : b;
    case SW_REDUCE_MAX:
      return a_less ? b : a;
    case SW_REDUCE_BIT_AND:
      return a & b;
    case SW_REDUCE_BIT_OR:
      return a | b;
    case SW_REDUCE_BIT_XOR:
      return a ^ b;
    case SW_REDUCE_AND:
      return a && b;
    case SW_REDUCE_OR:
      return a || b;
    case SW_REDUCE_GENERIC:
    case SW_REDUCTION_COUNT:
      break;
  }
  return 0;
}

static uint64_t combine_bools(sw_reduction r, uint64_t a, uint64_t b) {
  bool any = r == SW_REDUCE_SUM || r == SW_REDUCE_MAX || r == SW_REDUCE_OR || r == SW_REDUCE_BIT_OR;
  if (r == SW_REDUCE_BIT_XOR) return a ^ b;
  return any ? a | b : a & b;
}

sw_scalar sw_reduction_combine(sw_reduction r, sw_dtype t, sw_scalar a, sw_scalar b) {
  switch (sw_dtype_class_of(t)) {
    case SW_CLASS_FLOAT: {
      double v = combine_doubles(r, a.re, b.re); /* of two f32 and rounded again: as computed in f32 */
      return (sw_scalar){.re = t == SW_F64 ? v : (double)(float)v};
    }
    case SW_CLASS_COMPLEX:
      return combine_complex(r, t == SW_C64, a, b);
    case SW_CLASS_BOOL:
      return (sw_scalar){.bits = combine_bools(r, a.bits, b.bits)};
    case SW_CLASS_SIGNED:
    case SW_CLASS_UNSIGNED: {
      sw_scalar v = {.bits = combine_bits(r, sw_dtype_class_of(t) == SW_CLASS_SIGNED, a.bits, b.bits)};
      return r == SW_REDUCE_AVERAGE ? v : through_memory(t, v);
    }
    case SW_CLASS_TOKEN:
      break;
  }
  return a;
}

sw_scalar sw_reduction_finish(sw_reduction r, sw_dtype t, sw_scalar v, int64_t n) {
  if (r == SW_REDUCE_GENERIC) return v;
  sw_dtype_class c = sw_dtype_class_of(t);
  bool narrow = t != SW_F64 && t != SW_C128;
  if ((r == SW_REDUCE_AND || r == SW_REDUCE_OR) && n == 1) /* a group of one still answers 0 or 1 */
    return is_integer(c) ? (sw_scalar){.bits = v.bits != 0} : (sw_scalar){.re = v.re != 0};
  if (r != SW_REDUCE_AVERAGE || c == SW_CLASS_BOOL) return v;
  if (c == SW_CLASS_SIGNED) return (sw_scalar){.bits = (uint64_t)((int64_t)v.bits / n)};
  if (c == SW_CLASS_UNSIGNED) return (sw_scalar){.bits = v.bits / (uint64_t)n};
  v.re = narrow ? (double)((float)v.re / (float)n) : v.re / (double)n;
  v.im = narrow ? (double)((float)v.im / (float)n) : v.im / (double)n;
  return v;
}

void sw_convert_elements(sw_dtype to, void *dst, sw_dtype from, const void *src, size_t n) {
  size_t to_bytes = (size_t)sw_dtype_bytes(to), from_bytes = (size_t)sw_dtype_bytes(from);
  if (to == from) {
    memcpy(dst, src, n * to_bytes);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    sw_scalar v = sw_scalar_load(from, (const char *)src + i * from_bytes);
    sw_scalar_store(to, sw_scalar_convert(from, to, v), (char *)dst + i * to_bytes);
  }
}

double sw_element_load(sw_dtype t, const void *at) {
  sw_scalar v = sw_scalar_load(t, at);
  sw_dtype_class c = sw_dtype_class_of(t);
  if (c == SW_CLASS_SIGNED) return (double)(int64_t)v.bits;
  return is_integer(c) ? (double)v.bits : v.re;
}

void sw_element_store(sw_dtype t, double v, void *at) {
  sw_scalar_store(t, sw_scalar_convert(SW_F64, t, (sw_scalar){.re = v}), at);
}

static double farthest_float(sw_dtype t, bool least) {
  const sw_minifloat *mini = sw_minifloat_of(t);
  if (!mini) return least ? -INFINITY : INFINITY;
  return least ? sw_minifloat_least(mini) : sw_minifloat_greatest(mini);
}

static sw_scalar identity(sw_reduction r, sw_dtype t) {
  sw_dtype_class c = sw_dtype_class_of(t);
  uint64_t ones = UINT64_MAX;
  bool is_max = r == SW_REDUCE_MAX;
  if (r == SW_REDUCE_BIT_AND) return (sw_scalar){.bits = ones};
  if (r == SW_REDUCE_PRODUCT || r == SW_REDUCE_AND) return (sw_scalar){.re = 1, .bits = 1};
  if (r != SW_REDUCE_MIN && !is_max) /* -0 is what leaves every float as it is under addition */
    return (sw_scalar){.re = r == SW_REDUCE_SUM ? -0.0 : 0, .im = r == SW_REDUCE_SUM ? -0.0 : 0};
  if (c == SW_CLASS_FLOAT) return (sw_scalar){.re = farthest_float(t, is_max)};
  if (c != SW_CLASS_SIGNED) return (sw_scalar){.bits = is_max ? 0 : ones};
  uint64_t least_bits = ones << (sw_dtype_bits(t) - 1);
  return (sw_scalar){.bits = is_max ? least_bits : ~least_bits};
}

void sw_reduction_identity_bytes(sw_reduction r, sw_dtype t, void *out) { sw_scalar_store(t, identity(r, t), out); }

double sw_reduction_identity(sw_reduction r, sw_dtype t) {
  uint64_t cell[2] = {0};
  sw_reduction_identity_bytes(r, t, cell);
  return sw_element_load(t, cell);
}
