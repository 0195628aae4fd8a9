/* Tensors: buffers that own their elements, how to fill and how to compare them.
 *
 *   sw_tensor x;
 *   SW_TRY(sw_tensor_init(&x, SW_F32, 2, (int64_t[]){4, 8}, d));
 *   SW_TRY(sw_tensor_fill(&x, &(sw_fill){.kind = SW_FILL_SMALL, .seed = 7, .limit = 8}, d));
 *   ...
 *   sw_tensor_deinit(&x);
 *
 * Tensors are made by shardwright::core; what fills, pads and compares them is in shardwright::run.
 *
 * A sw_tensor is a sw_buffer whose `data` came from sw_mem_alloc; `valid` equals `dims` unless somebody lowers it.
 */
#ifndef SHARDWRIGHT_TENSOR_H_
#define SHARDWRIGHT_TENSOR_H_

#include "shardwright/collective.h"

typedef sw_buffer sw_tensor;

/* Zeroed elements; rank 0 has one. On failure *t is zeroed, so that sw_tensor_deinit is always safe afterwards.
 * SW_E_RESOURCE when the bytes cannot be had, SW_E_INPUT when rank or a dim is out of range. */
SW_API SW_CHECKED sw_rc sw_tensor_init(sw_tensor *t, sw_dtype dtype, int rank, const int64_t *dims, sw_diag *d);
SW_API SW_CHECKED sw_rc sw_tensor_copy(sw_tensor *out, const sw_buffer *from, sw_diag *d);
SW_API void sw_tensor_deinit(sw_tensor *t); /* a zeroed tensor is allowed */

SW_API int64_t sw_buffer_elements(const sw_buffer *b); /* product of dims */
/* Poison every element at a position >= valid in some dimension. */
SW_API void sw_buffer_poison_padding(sw_buffer *b);
/* One integer element (any integer dtype or bool), saturated to int64. */
SW_API int64_t sw_buffer_int(const sw_buffer *b, int64_t element);

/* --- filling ----------------------------------------------------------------------------------------------------- */

typedef enum sw_fill_kind {
  SW_FILL_SMALL,  /* integers in [-limit, limit] but 0 (unsigned: [0, limit], bool: 0 or 1), mixed signs: sums of
                     products  stay exact in floating point while terms * limit^2 < 2^mantissa bits */
  SW_FILL_RANDOM, /* floats uniform in [-limit, limit); integers and bool as SMALL */
  SW_FILL_INDEX,  /* integers in [0, limit), for index operands of gathers and slices */
  SW_FILL_WITHIN, /* in [low, limit], ends included: floats, of the integers those within */
} sw_fill_kind;

typedef struct sw_fill {
  sw_fill_kind kind;
  uint64_t seed; /* elements are a function of seed and their row-major number */
  double limit;  /* <= 0: 8; but as it is for WITHIN */
  double low;    /* of WITHIN */
  bool whole;    /* of WITHIN: floats are integers, too */
} sw_fill;

/* Neighbours differ and both signs occur, so that a misplaced shard shows. SW_E_INPUT on tokens and complex. */
SW_API SW_CHECKED sw_rc sw_tensor_fill(sw_tensor *t, const sw_fill *f, sw_diag *d);

/* --- comparing --------------------------------------------------------------------------------------------------- */

typedef struct sw_tolerance {
  double relative; /* 0 and 0: bit for bit, but NaN equals NaN and -0 equals 0 */
  double absolute;
} sw_tolerance;

/* What rounding may do to a result of this dtype that adds up `terms` numbers of size `magnitude` in any order. With u
 * the unit roundoff of the dtype and v that of its accumulator (f32 for narrower floats):
 *
 *   relative = 4 u + 4 v sqrt(terms)        absolute = 4 v terms magnitude (0 when terms <= 1)
 *
 * (partial sums of mixed sign grow like sqrt(terms), and so do their roundings). Integers and bool: {0, 0}. */
SW_API sw_tolerance sw_tolerance_for(sw_dtype t, int64_t terms, double magnitude);

typedef struct sw_difference {
  int64_t compared;                               /* elements */
  int64_t differing;                              /* elements outside the tolerance */
  int64_t first[SW_MAX_RANK], worst[SW_MAX_RANK]; /* indices; meaningful when differing > 0 */
  double first_got, first_want, worst_got, worst_want;
  double worst_relative; /* |got-want| / max(|want|, least normal), over the differing elements */
  double worst_absolute;
  double worst_ulp; /* in units of the dtype's last place at `want`; integers: the absolute difference */
  /* Over all elements, also those within the tolerance: the largest |got-want|, and the largest part of what is allowed
   * that an element is off by (above 1: it differs). Infinite where only one of the two is finite, or nothing
   * allowed. */
  double most_off, most_used;
} sw_difference;

/* Compare all elements; dtypes and dims must agree (SW_E_INPUT otherwise). Differences are reported in *out, not as an
 * error. */
SW_API SW_CHECKED sw_rc sw_tensor_compare(const sw_buffer *got, const sw_buffer *want, sw_tolerance tol,
                                          sw_difference *out, sw_diag *d);
/* "12 of 64 elements differ; first at [0,3]: got 1.5, expected 2; worst at [7,1]: ... (relative 3e-2, 41 ulp)". */
/* What was measured of both, as the larger. */
SW_API void sw_difference_raise(sw_difference *x, const sw_difference *by);
SW_API void sw_difference_print(const sw_difference *x, int rank, sw_text *out);

#endif
