/* One element of any dtype, held without loss, with conversion and reduction by definition: the slow, plain
 * arithmetic that fast loops are checked against.
 *
 *   sw_scalar a = sw_scalar_convert(SW_I64, SW_F32, sw_scalar_load(SW_I64, p));
 */
#ifndef COLLECTIVE_SCALAR_H_
#define COLLECTIVE_SCALAR_H_

#include <stddef.h>

#include "shardwright/dtype.h"

/* Which field counts follows from the dtype's class: `re` for floats, `re` and `im` for complex numbers, `bits` for
 * integers and bool (sign-extended, so that (int64_t)bits is the value of a signed one). */
typedef struct sw_scalar {
  double re, im;
  uint64_t bits;
} sw_scalar;

SW_API sw_scalar sw_scalar_load(sw_dtype t, const void *at);
/* Rounds floats to nearest (ties to even) and wraps integers to the width of `t`. */
SW_API void sw_scalar_store(sw_dtype t, sw_scalar v, void *at);
/* The value as a number of `to`, rounded once. Integer to integer wraps; float to integer drops the fraction,
 * saturates and takes NaN to 0; anything to bool asks "is it not 0"; complex to real drops the imaginary part. */
SW_API sw_scalar sw_scalar_convert(sw_dtype from, sw_dtype to, sw_scalar v);

/* Is the reduction defined on the dtype? Bitwise kinds want integers or bool; complex numbers have no order; tokens
 * have none at all; `generic` is defined by its user. */
SW_API bool sw_reduction_applies(sw_reduction r, sw_dtype t);
/* a combined with b, both of dtype `t`; f16, bf16 and f8 are kept as f32 (and rounded by the final store). min and max
 * give NaN when either is NaN, and order -0 before +0. `average` adds here and divides in sw_reduction_finish.
 * On bool: sum, max, or = or; product, min, and, average = and. `generic` is not allowed. */
SW_API sw_scalar sw_reduction_combine(sw_reduction r, sw_dtype t, sw_scalar a, sw_scalar b);
/* After `n` elements were combined: divides for `average` (integers truncate towards 0; their sum is taken in 64 bits,
 * so that it does not wrap for narrower types). */
SW_API sw_scalar sw_reduction_finish(sw_reduction r, sw_dtype t, sw_scalar v, int64_t n);

/* `n` elements from one dtype to another, as sw_scalar_convert. The two ranges do not overlap. */
SW_API void sw_convert_elements(sw_dtype to, void *dst, sw_dtype from, const void *src, size_t n);

#endif
