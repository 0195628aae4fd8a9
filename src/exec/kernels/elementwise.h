/* Elementwise loops by opcode and dtype, for kernels that compute with rows too: reductions, scans, scatter, generic.
 */
#ifndef EXEC_ELEMENTWISE_H_
#define EXEC_ELEMENTWISE_H_

#include "exec/kernels/op_kernel.h"

/* y[i] = f(a[i], b[i]); y may be a or b. */
typedef void (*sw_binary_function)(const void *a, const void *b, void *y, int64_t n);

/* NULL when the op has no meaning for the dtype. Native dtypes and bool only: narrow floats are widened first. */
sw_binary_function sw_binary_function_of(sw_opcode code, sw_dtype t);
typedef void (*sw_unary_function)(const void *x, void *y, int64_t n);
sw_unary_function sw_unary_function_of(sw_opcode code, sw_dtype t);

/* y[i] = 1 or 0. `direction`: eq ne lt le gt ge; NULL for another word. */
typedef void (*sw_compare_function)(const void *a, const void *b, uint8_t *y, int64_t n);
sw_compare_function sw_compare_function_of(const char *direction, sw_dtype t);
/* The loop that a reduction repeats, for the wide types (native.h); NULL when it has no meaning. */
sw_binary_function sw_reduction_loop_of(sw_reduction r, sw_dtype wide);

/* Complex numbers (complex.c): the same, for c64 and c128. */
sw_unary_function sw_complex_unary_of(sw_opcode code, sw_dtype t);
sw_binary_function sw_complex_binary_of(sw_opcode code, sw_dtype t);
sw_compare_function sw_complex_compare_of(const char *direction, sw_dtype t);

#endif
