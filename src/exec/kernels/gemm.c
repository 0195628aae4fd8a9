/* Matrix products. A matrix whose rows are contiguous is passed to BLAS as it is, one whose columns are as a transpose:
 *
 *   x[4,8] dense: row 8, col 1      its transpose [8,4]: row 1, col 8
 */
#include "exec/kernels/gemm.h"

#include <cblas.h>
#include <string.h>

#include "base/checked.h"

enum { MOST_PER_CALL = 1 << 30 }; /* BLAS counts in int */

bool sw_gemm_accepts(int64_t rows, int64_t cols, int64_t row, int64_t col) {
  if (row > MOST_PER_CALL || col > MOST_PER_CALL) return false;
  if (col == 1 || cols <= 1) return row >= cols || rows <= 1;
  return (row == 1 || rows <= 1) && col >= rows;
}

/* How BLAS is told of a matrix. */
typedef struct blas_form {
  enum CBLAS_TRANSPOSE trans;
  int ld;
} blas_form;

static blas_form form_of(int64_t rows, int64_t cols, sw_matrix m) {
  if (m.col == 1 || cols <= 1) return (blas_form){CblasNoTrans, (int)sw_max_i64(rows <= 1 ? cols : m.row, 1)};
  return (blas_form){CblasTrans, (int)sw_max_i64(cols <= 1 ? rows : m.col, 1)};
}

static void gemm_part(sw_dtype wide, int64_t m, int64_t n, int64_t k, sw_matrix a, sw_matrix b, void *c, int64_t ldc) {
  blas_form fa = form_of(m, k, a), fb = form_of(k, n, b);
  if (wide == SW_F32) {
    cblas_sgemm(CblasRowMajor, fa.trans, fb.trans, (int)m, (int)n, (int)k, 1.0F, a.at, fa.ld, b.at, fb.ld, 0.0F, c,
                (int)ldc);
  } else {
    cblas_dgemm(CblasRowMajor, fa.trans, fb.trans, (int)m, (int)n, (int)k, 1.0, a.at, fa.ld, b.at, fb.ld, 0.0, c,
                (int)ldc);
  }
}

/* Rows of c at a time: c[i,:] += a[i,p] * b[p,:]. Signed and unsigned products agree modulo 2^64. */
static void gemm_integers(int64_t m, int64_t n, int64_t k, sw_matrix a, sw_matrix b, uint64_t *c, int64_t ldc) {
  const uint64_t *x = a.at, *y = b.at;
  for (int64_t i = 0; i < m; i++) {
    uint64_t *row = c + i * ldc;
    memset(row, 0, (size_t)n * sizeof *row);
    for (int64_t p = 0; p < k; p++) {
      uint64_t f = x[i * a.row + p * a.col];
      const uint64_t *from = y + p * b.row;
      if (b.col == 1) {
        for (int64_t j = 0; j < n; j++) row[j] += f * from[j];
      } else {
        for (int64_t j = 0; j < n; j++) row[j] += f * from[j * b.col];
      }
    }
  }
}

void sw_gemm(sw_dtype wide, int64_t m, int64_t n, int64_t k, sw_matrix a, sw_matrix b, void *c, int64_t ldc) {
  if (m <= 0 || n <= 0) return;
  if (wide == SW_I64 || wide == SW_U64) {
    gemm_integers(m, n, k, a, b, c, ldc);
    return;
  }
  size_t bytes = (size_t)sw_dtype_bytes(wide);
  if (k == 0) {
    for (int64_t i = 0; i < m; i++) memset((char *)c + (size_t)(i * ldc) * bytes, 0, (size_t)n * bytes);
    return;
  }
  gemm_part(wide, m, n, k, a, b, c, ldc);
}
