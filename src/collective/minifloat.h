/* Floats of 16 bits and less, described by their field widths. */
#ifndef SRC_COLLECTIVE_MINIFLOAT_H_
#define SRC_COLLECTIVE_MINIFLOAT_H_

#include "shardwright/dtype.h"

/* What stands for other than finite numbers. */
typedef enum sw_minifloat_kind {
  SW_MINI_IEEE,   /* infinity behind `max`, NaN behind that */
  SW_MINI_NAN,    /* NaN behind `max` */
  SW_MINI_UZ,     /* the code of -0 is NaN, and there is no -0 */
  SW_MINI_FINITE, /* neither: what is too large becomes `max`, NaN becomes -0 */
  SW_MINI_POWERS  /* no sign, no zero, no fraction: powers of two, NaN behind them */
} sw_minifloat_kind;

/* `max` is the code of the greatest finite number; `sign` the bit of the sign. */
typedef struct sw_minifloat {
  int man_bits, bias;
  uint32_t sign, max, nan;
  sw_minifloat_kind kind;
} sw_minifloat;

/* NULL when `t` is no such type. */
const sw_minifloat *sw_minifloat_of(sw_dtype t);
/* Rounded once, to nearest, ties to even (powers of two: upwards). */
uint32_t sw_minifloat_encode(const sw_minifloat *f, double v);
double sw_minifloat_decode(const sw_minifloat *f, uint32_t code);
/* The greatest and the least number, infinity included. */
double sw_minifloat_greatest(const sw_minifloat *f);
double sw_minifloat_least(const sw_minifloat *f);
/* Is a finite number past the largest one of a float type, of any size, after it is rounded? */
SW_API bool sw_float_overflows(sw_dtype t, double v);

#endif
