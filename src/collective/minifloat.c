/* Floats of 16 bits and less: exact decoding, and encoding with a single rounding from double.
 *
 *   a number 1.m * 2^e has the code ((e + bias) << man_bits) + m; in units of its last place it is an integer r with
 *   code = ((e - e_min) << man_bits) + r, which also holds for subnormal numbers (e = e_min) and when rounding
 *   carries into the next power of two
 */
#include "collective/minifloat.h"

#include <math.h>
#include <string.h>

static const sw_minifloat kFormats[SW_DTYPE_COUNT] = {
    [SW_F16] = {10, 15, 0x8000, 0x7bff, 0x7e00, SW_MINI_IEEE},
    [SW_BF16] = {7, 127, 0x8000, 0x7f7f, 0x7fc0, SW_MINI_IEEE},
    [SW_F8E4M3FN] = {3, 7, 0x80, 0x7e, 0x7f, SW_MINI_NAN},
    [SW_F8E5M2] = {2, 15, 0x80, 0x7b, 0x7e, SW_MINI_IEEE},
    [SW_F8E3M4] = {4, 3, 0x80, 0x6f, 0x78, SW_MINI_IEEE},
    [SW_F8E4M3] = {3, 7, 0x80, 0x77, 0x7c, SW_MINI_IEEE},
    [SW_F8E4M3FNUZ] = {3, 8, 0x80, 0x7f, 0x80, SW_MINI_UZ},
    [SW_F8E4M3B11FNUZ] = {3, 11, 0x80, 0x7f, 0x80, SW_MINI_UZ},
    [SW_F8E5M2FNUZ] = {2, 16, 0x80, 0x7f, 0x80, SW_MINI_UZ},
    [SW_F8E8M0FNU] = {0, 127, 0, 0xfe, 0xff, SW_MINI_POWERS},
    [SW_F6E2M3FN] = {3, 1, 0x20, 0x1f, 0x20, SW_MINI_FINITE},
    [SW_F6E3M2FN] = {2, 3, 0x20, 0x1f, 0x20, SW_MINI_FINITE},
    [SW_F4E2M1FN] = {1, 1, 0x08, 0x07, 0x08, SW_MINI_FINITE},
};

const sw_minifloat *sw_minifloat_of(sw_dtype t) { return kFormats[t].max ? &kFormats[t] : NULL; }

/* 1.5 and more of a power of two is the next one. */
static uint32_t encode_power(const sw_minifloat *f, double v) {
  int e;
  if (isnan(v) || isinf(v) || v <= 0) return f->nan;
  double digits = frexp(v, &e); /* v = digits * 2^e, digits in [0.5, 1) */
  int code = e - 1 + f->bias + (digits >= 0.75);
  return code < 0 ? 0 : (uint32_t)code > f->max ? f->nan : (uint32_t)code;
}

static uint32_t beyond(const sw_minifloat *f, uint32_t sign) {
  return f->kind == SW_MINI_UZ ? f->nan : sign | (f->kind == SW_MINI_FINITE ? f->max : f->max + 1);
}

uint32_t sw_minifloat_encode(const sw_minifloat *f, double v) {
  if (f->kind == SW_MINI_POWERS) return encode_power(f, v);
  uint32_t sign = signbit(v) ? f->sign : 0;
  if (isnan(v)) return f->kind == SW_MINI_FINITE ? f->nan : sign | f->nan;
  if (isinf(v)) return beyond(f, sign);
  int e_min = 1 - f->bias, e;
  (void)frexp(v, &e);
  e = v == 0 || e - 1 < e_min ? e_min : e - 1;
  if (e > f->bias + 1) return beyond(f, sign);
  double units = rint(ldexp(fabs(v), f->man_bits - e));
  uint32_t code = ((uint32_t)(e - e_min) << f->man_bits) + (uint32_t)units;
  if (code > f->max) return beyond(f, sign);
  return code == 0 && f->kind == SW_MINI_UZ ? 0 : sign | code;
}

double sw_minifloat_decode(const sw_minifloat *f, uint32_t code) {
  if (f->kind == SW_MINI_POWERS) return code > f->max ? NAN : ldexp(1, (int)code - f->bias);
  uint32_t magnitude = code & (f->sign - 1);
  double sign = code & f->sign ? -1.0 : 1.0;
  if (f->kind == SW_MINI_UZ && code == f->nan) return NAN;
  if (magnitude > f->max) return copysign(f->kind == SW_MINI_IEEE && magnitude == f->max + 1 ? INFINITY : NAN, sign);
  uint32_t man = magnitude & ((1u << f->man_bits) - 1), field = magnitude >> f->man_bits;
  uint32_t units = field ? man + (1u << f->man_bits) : man;
  int e = (field ? (int)field : 1) - f->bias;
  return sign * ldexp((double)units, e - f->man_bits);
}

double sw_minifloat_greatest(const sw_minifloat *f) {
  return f->kind == SW_MINI_IEEE ? INFINITY : sw_minifloat_decode(f, f->max);
}

double sw_minifloat_least(const sw_minifloat *f) {
  return f->kind == SW_MINI_POWERS ? sw_minifloat_decode(f, 0) : -sw_minifloat_greatest(f);
}

bool sw_float_overflows(sw_dtype t, double v) {
  const sw_minifloat *f = sw_minifloat_of(t);
  uint64_t cell[2] = {0};
  if (!isfinite(v)) return false;
  sw_element_store(t, v, cell);
  if (!isfinite(sw_element_load(t, cell))) return true;
  if (!f || f->kind != SW_MINI_FINITE) return false;
  const double greatest = sw_minifloat_greatest(f), apart = greatest - sw_minifloat_decode(f, f->max - 1);
  return fabs(v) - greatest >= apart / 2 && sw_element_load(t, cell) == copysign(greatest, v);
}

static float float_of_bits(uint32_t u) {
  float f;
  memcpy(&f, &u, sizeof f);
  return f;
}

static uint32_t bits_of_float(float f) {
  uint32_t u;
  memcpy(&u, &f, sizeof u);
  return u;
}

float sw_f16_to_f32(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16, u = (uint32_t)(h & 0x7fff) << 13;
  if (u >= 0x7c00u << 13) return float_of_bits(sign | (u + ((255u - 31u) << 23)));
  if (u >= 0x0400u << 13) return float_of_bits(sign | (u + ((127u - 15u) << 23)));
  /* Subnormal: as the fraction of a number at 2^-14, less that number. */
  return float_of_bits(sign | bits_of_float(float_of_bits(u + (113u << 23)) - float_of_bits(113u << 23)));
}

uint16_t sw_f32_to_f16(float f) {
  uint32_t u = bits_of_float(f), sign = (u >> 16) & 0x8000;
  u &= 0x7fffffff;
  if (u > 0x7f800000) return (uint16_t)(sign | 0x7e00 | ((u >> 13) & 0x3ff));
  if (u >= 0x477ff000) return (uint16_t)(sign | 0x7c00); /* 65520 and above round to infinity */
  /* Below 2^-14: adding 0.5, whose last place is 2^-24, rounds as a subnormal f16 must. */
  if (u < 0x38800000) return (uint16_t)(sign | (bits_of_float(float_of_bits(u) + 0.5f) - bits_of_float(0.5f)));
  u += 0xfff + ((u >> 13) & 1);
  return (uint16_t)(sign | ((u - (112u << 23)) >> 13));
}
