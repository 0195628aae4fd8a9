/* What a kernel gets, and the table of kernels. One kernel serves all dtypes of its op. */
#ifndef EXEC_KERNEL_H_
#define EXEC_KERNEL_H_

#include "shardwright/exec.h"

typedef struct sw_kernel_call {
  const sw_op *op;
  const sw_buffer *const *in;
  sw_buffer *const *out;
  const sw_mesh *mesh; /* NULL: one device */
  int64_t device;
  sw_arena *scratch; /* worthless once the kernel has returned */
} sw_kernel_call;

typedef sw_rc (*sw_kernel)(const sw_kernel_call *c, sw_diag *d);

/* X(id, function): every op of SW_OPS_OTHER and of SW_OPS_SPMD but COLLECTIVE. */
#define SW_KERNELS(X)                           \
  X(COMPARE, compare)                           \
  X(SELECT, select)                             \
  X(CLAMP, clamp)                               \
  X(CONVERT, convert)                           \
  X(COMPLEX, complex)                           \
  X(FFT, fft)                                   \
  X(BITCAST, bitcast)                           \
  X(REDUCE_PRECISION, reduce_precision)         \
  X(BROADCAST, broadcast)                       \
  X(TRANSPOSE, transpose)                       \
  X(RESHAPE, reshape)                           \
  X(REVERSE, reverse)                           \
  X(SHUFFLE, shuffle)                           \
  X(REDUCE, reduce)                             \
  X(ARGMAX, arg_pick)                           \
  X(ARGMIN, arg_pick)                           \
  X(DOT, dot)                                   \
  X(IOTA, iota)                                 \
  X(CONSTANT, constant)                         \
  X(RNG, rng)                                   \
  X(SLICE, slice)                               \
  X(DYNAMIC_SLICE, dynamic_slice)               \
  X(DYNAMIC_UPDATE_SLICE, dynamic_update_slice) \
  X(PAD, pad)                                   \
  X(CONCATENATE, concatenate)                   \
  X(CONVOLUTION, convolution)                   \
  X(REDUCE_WINDOW, reduce_window)               \
  X(CUMULATIVE, cumulative)                     \
  X(TOP_K, top_k)                               \
  X(SORT, sort)                                 \
  X(RNG_BITS, rng_bits)                         \
  X(SELECT_AND_SCATTER, select_and_scatter)     \
  X(CHOLESKY, cholesky)                         \
  X(TRIANGULAR_SOLVE, triangular_solve)         \
  X(FACTOR, factor)                             \
  X(TRIDIAGONAL_SOLVE, tridiagonal_solve)       \
  X(GATHER, gather)                             \
  X(SCATTER, scatter)                           \
  X(GENERIC, generic)                           \
  X(OPAQUE, opaque)                             \
  X(SHARD_START, shard_start)                   \
  X(MASK, mask)

sw_rc sw_kernel_unary(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_binary(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_compare(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_select(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_clamp(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_convert(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_complex(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_fft(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_reduce_precision(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_broadcast(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_transpose(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_reshape(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_bitcast(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_reverse(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_shuffle(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_slice(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_dynamic_slice(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_dynamic_update_slice(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_pad(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_concatenate(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_reduce(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_reduce_window(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_cumulative(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_arg_pick(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_top_k(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_rng_bits(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_select_and_scatter(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_cholesky(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_triangular_solve(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_factor(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_tridiagonal_solve(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_sort(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_dot(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_convolution(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_gather(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_scatter(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_iota(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_constant(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_rng(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_generic(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_opaque(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_shard_start(const sw_kernel_call *c, sw_diag *d);
sw_rc sw_kernel_mask(const sw_kernel_call *c, sw_diag *d);

/* The op has no kernel for this dtype. */
sw_rc sw_kernel_no_dtype(const sw_kernel_call *c, sw_dtype t, sw_diag *d);

/* The ints of an attribute, or `absent` repeated n times into `store` (room for SW_MAX_RANK). */
const int64_t *sw_kernel_ints(const sw_op *op, sw_attr_key k, int n, int64_t absent, int64_t *store);

#endif
