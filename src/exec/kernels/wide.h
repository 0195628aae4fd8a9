/* Buffers in the type that a kernel computes in, and folding elements with a reduction. */
#ifndef EXEC_WIDE_H_
#define EXEC_WIDE_H_

#include "exec/kernels/elementwise.h"
#include "exec/walk.h"

/* The elements of `b` as `wide`: its own data where the types agree, else a converted copy in scratch. */
sw_rc sw_wide_load(const sw_kernel_call *c, const sw_buffer *b, sw_dtype wide, const void **out, sw_diag *d);
/* Where a result is computed: b's own data where the types agree, else scratch; sw_wide_finish then converts. */
sw_rc sw_wide_begin(const sw_kernel_call *c, sw_buffer *b, sw_dtype wide, void **out, sw_diag *d);
void sw_wide_finish(sw_buffer *b, sw_dtype wide, const void *from);

/* A reduction over elements of one dtype. */
typedef struct sw_fold {
  sw_dtype wide;                /* accumulates in */
  sw_binary_function loop;      /* on `wide` */
  _Alignas(8) char identity[8]; /* one element of `wide` */
} sw_fold;

sw_rc sw_fold_init(const sw_kernel_call *c, sw_reduction kind, sw_dtype t, sw_fold *out, sw_diag *d);
/* The attribute `kind` of the op. */
sw_rc sw_fold_of_op(const sw_kernel_call *c, sw_dtype t, sw_fold *out, sw_diag *d);
/* *acc = *acc combined with n elements of dtype t in a row: pairwise within chunks, chunk after chunk. */
void sw_fold_row(const sw_fold *f, void *acc, sw_dtype t, const void *x, int64_t n);
/* acc[i] = acc[i] combined with x[i] for n elements of f->wide that are `acc_stride` and `x_stride` bytes apart
 * (acc_stride not 0). */
void sw_fold_strided(const sw_fold *f, char *acc, int64_t acc_stride, const char *x, int64_t x_stride, int64_t n);
/* The same along a walk of two arrays. */
void sw_fold_walk(const sw_walk *w, const sw_fold *f, char *acc, const char *x);

#endif
