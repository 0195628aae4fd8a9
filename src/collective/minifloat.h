/* Floats of 16 and 8 bits, described by their field widths. */
#ifndef SRC_COLLECTIVE_MINIFLOAT_H_
#define SRC_COLLECTIVE_MINIFLOAT_H_

#include "shardwright/dtype.h"

/* `max` is the code of the greatest finite number; the code after it is what an overflow gives: infinity, or NaN in
 * formats without infinity. */
typedef struct sw_minifloat {
  int man_bits, bias;
  uint32_t sign, max, nan;
} sw_minifloat;

/* NULL when `t` is no such type. */
const sw_minifloat *sw_minifloat_of(sw_dtype t);
/* Rounded once, to nearest, ties to even. */
uint32_t sw_minifloat_encode(const sw_minifloat *f, double v);
double sw_minifloat_decode(const sw_minifloat *f, uint32_t code);

#endif
