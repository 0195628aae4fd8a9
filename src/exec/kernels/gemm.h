/* Matrix products in the wide types (native.h): BLAS for floats, loops for integers (modulo 2^64). */
#ifndef EXEC_GEMM_H_
#define EXEC_GEMM_H_

#include "shardwright/dtype.h"

/* A matrix in memory: element (i,j) is at[i*row + j*col] in elements. One of row and col is 1 where the extent allows
 * a choice; the other is at least the extent. */
typedef struct sw_matrix {
  const void *at;
  int64_t row, col;
} sw_matrix;

/* c[m,n] (dense, row-major, leading dimension ldc) = a[m,k] * b[k,n]; k = 0 gives zeros. Any sizes >= 0. Between
 * sw_blas_enter and sw_blas_leave (lapack.h). */
void sw_gemm(sw_dtype wide, int64_t m, int64_t n, int64_t k, sw_matrix a, sw_matrix b, void *c, int64_t ldc);
/* Can sw_gemm read a matrix of these extents with these steps? */
bool sw_gemm_accepts(int64_t rows, int64_t cols, int64_t row, int64_t col);

#endif
