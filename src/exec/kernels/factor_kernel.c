/* factor and tridiagonal_solve: what LAPACK's drivers give, matrix by matrix, in f64 or c128 (eig and schur of f32 in
 * f32, as the order of eigenvalues is that in which they were found).
 *
 *   lu of [[0,1],[2,4]]    [[2,4],[0,1]], pivots [2,2] (rows that were exchanged, from 1), info 0
 *   qr of [[3],[4]]        [[-5],[0.5]], tau [1.6]: the reflectors stand below r
 *   eig of [[0,1],[-1,0]]  eigenvalues i and -i
 *
 * Each driver is called twice: for the work space that it wants, and to work. What is not finite has no eigenvalues and
 * no singular values; all is NaN then, and info -4, as XLA says it.
 */
#include <math.h>
#include <string.h>

#include "exec/kernels/complex.h"
#include "exec/kernels/op_kernel.h"
#include "exec/kernels/lapack_calls.h"
#include "exec/kernels/matrix.h"
#include "exec/kernels/native.h"
#include "base/checked.h"

enum { MOST_RESULTS = 5, MOST_SQUARE = 30000 }; /* LAPACK counts in int, twice the square among others */

/* One matrix of the batch: m x n, k the smaller one. Matrices column by column; with complex numbers, two doubles
 * each. */
typedef struct matrix {
  int m, n, k, taus;
  bool is_complex, lower, full;
  bool single;           /* of an op on f32 or c64, by a driver that has them */
  void *a;               /* operand 0; the drivers leave the first result of some in it */
  double *b;             /* operand 1: taus or columns */
  void *r[MOST_RESULTS]; /* results, matrices column by column; columns and pivots as doubles */
  double *w;             /* room for real numbers: 2 of each column */
  void *work;
  int lwork; /* in elements of a; -1: asked for */
  double *rwork;
  int *iwork, liwork;
} matrix;

static const char *uplo(const matrix *x) { return x->lower ? "L" : "U"; }

/* Leading dims are at least 1. */
static int lead(int n) { return n > 1 ? n : 1; }

/* --- drivers ----------------------------------------------------------------------------------------------------- */

static int lu(matrix *x) {
  int lda = lead(x->m), info;
  (x->is_complex ? zgetrf_ : dgetrf_)(&x->m, &x->n, x->a, &lda, x->iwork, &info);
  for (int i = 0; i < x->k; i++) ((double *)x->r[1])[i] = x->iwork[i];
  return info;
}

static int qr(matrix *x) {
  int lda = lead(x->m), info;
  (x->is_complex ? zgeqrf_ : dgeqrf_)(&x->m, &x->n, x->a, &lda, x->r[1], x->work, &x->lwork, &info);
  return info;
}

static int pivoted_qr(matrix *x) {
  int lda = lead(x->m), info, *columns = x->iwork;
  for (int i = 0; i < x->n; i++) columns[i] = (int)x->b[i];
  if (x->is_complex)
    zgeqp3_(&x->m, &x->n, x->a, &lda, columns, x->r[2], x->work, &x->lwork, x->rwork, &info);
  else
    dgeqp3_(&x->m, &x->n, x->a, &lda, columns, x->r[2], x->work, &x->lwork, &info);
  for (int i = 0; i < x->n; i++) ((double *)x->r[1])[i] = columns[i];
  return info;
}

static int householder(matrix *x) {
  int lda = lead(x->m), info;
  (x->is_complex ? zungqr_ : dorgqr_)(&x->m, &x->n, &x->taus, x->a, &lda, x->b, x->work, &x->lwork, &info);
  return info;
}

static int eigh(matrix *x) {
  int lda = lead(x->n), lrwork = 1 + 5 * x->n + 2 * x->n * x->n, info;
  if (x->is_complex) {
    zheevd_("V", uplo(x), &x->n, x->a, &lda, x->r[1], x->work, &x->lwork, x->rwork, &lrwork, x->iwork, &x->liwork,
            &info, 1, 1);
  } else {
    dsyevd_("V", uplo(x), &x->n, x->a, &lda, x->r[1], x->work, &x->lwork, x->iwork, &x->liwork, &info, 1, 1);
  }
  return info;
}

static int svd(matrix *x) {
  int lda = lead(x->m), ldvt = lead(x->full ? x->n : x->k), info;
  const char *job = x->full ? "A" : "S";
  if (x->is_complex) {
    zgesdd_(job, &x->m, &x->n, x->a, &lda, x->r[0], x->r[1], &lda, x->r[2], &ldvt, x->work, &x->lwork, x->rwork,
            x->iwork, &info, 1);
  } else {
    dgesdd_(job, &x->m, &x->n, x->a, &lda, x->r[0], x->r[1], &lda, x->r[2], &ldvt, x->work, &x->lwork, x->iwork, &info,
            1);
  }
  return info;
}

static void put_eigenvalues(const matrix *x, double complex *w) {
  for (int i = 0; i < x->n; i++) w[i] = sw_complex_of(x->w[i], x->w[x->n + i]);
}

/* Of a pair of conjugate eigenvalues, real and imaginary parts stand in two columns; from behind, in place. */
static void unpack_vectors(const matrix *x, void *v) {
  int64_t n = x->n;
  double *from = v;
  double complex *to = v;
  for (int64_t j = n - 1; j >= 0; j--) {
    bool second = j > 0 && x->w[n + j] < 0;
    for (int64_t i = n - 1; i >= 0 && !second; i--) to[j * n + i] = sw_complex_of(from[j * n + i], 0);
    if (!second) continue;
    memcpy(x->work, from + (j - 1) * n, (size_t)(2 * n) * sizeof *from);
    const double *re = x->work, *im = re + n;
    for (int64_t i = 0; i < n; i++) {
      to[j * n + i] = sw_complex_of(re[i], -im[i]);
      to[(j - 1) * n + i] = sw_complex_of(re[i], im[i]);
    }
    j--;
  }
}

/* Numbers that are computed with as f32, in place. */
static void narrow_to_f32(const matrix *x, void *v, int64_t n) {
  char *at = v;
  for (int64_t i = 0; x->single && x->lwork >= 0 && i < n * (x->is_complex ? 2 : 1); i++) {
    double wide;
    memcpy(&wide, at + i * (int64_t)sizeof wide, sizeof wide);
    float f = (float)wide;
    memcpy(at + i * (int64_t)sizeof f, &f, sizeof f);
  }
}
static void widen_to_f64(const matrix *x, void *v, int64_t n) {
  char *at = v;
  for (int64_t i = n * (x->is_complex ? 2 : 1) - 1; x->single && x->lwork >= 0 && i >= 0; i--) {
    float f;
    memcpy(&f, at + i * (int64_t)sizeof f, sizeof f);
    double wide = f;
    memcpy(at + i * (int64_t)sizeof wide, &wide, sizeof wide);
  }
}

/* The eigenvalues of a driver that has been here: real and imaginary parts stand behind each other. */
static void take_eigenvalues(const matrix *x, void *to) {
  if (x->is_complex) {
    widen_to_f64(x, to, x->n);
  } else if (x->lwork >= 0) {
    widen_to_f64(x, x->w, 2 * (int64_t)x->n);
    put_eigenvalues(x, to);
  }
}

static int eig(matrix *x) {
  int n = x->n, ld = lead(n), info;
  int64_t all = (int64_t)n * n;
  void *im = x->single ? (void *)((float *)(void *)x->w + n) : x->w + n;
  narrow_to_f32(x, x->a, all);
  if (x->is_complex) {
    (x->single ? cgeev_ : zgeev_)("V", "V", &n, x->a, &ld, x->r[0], x->r[1], &ld, x->r[2], &ld, x->work, &x->lwork,
                                  x->rwork, &info, 1, 1);
  } else {
    (x->single ? sgeev_ : dgeev_)("V", "V", &n, x->a, &ld, x->w, im, x->r[1], &ld, x->r[2], &ld, x->work, &x->lwork,
                                  &info, 1, 1);
  }
  take_eigenvalues(x, x->r[0]);
  for (int r = 1; r < 3; r++) {
    widen_to_f64(x, x->r[r], all);
    if (!x->is_complex && x->lwork >= 0) unpack_vectors(x, x->r[r]);
  }
  return info;
}

static int schur(matrix *x) {
  int n = x->n, ld = lead(n), chosen, info;
  int64_t all = (int64_t)n * n;
  void *im = x->single ? (void *)((float *)(void *)x->w + n) : x->w + n;
  narrow_to_f32(x, x->a, all);
  if (x->is_complex) {
    (x->single ? cgees_ : zgees_)("V", "N", NULL, &n, x->a, &ld, &chosen, x->r[2], x->r[1], &ld, x->work, &x->lwork,
                                  x->rwork, x->iwork, &info, 1, 1);
  } else {
    (x->single ? sgees_ : dgees_)("V", "N", NULL, &n, x->a, &ld, &chosen, x->w, im, x->r[1], &ld, x->work, &x->lwork,
                                  x->iwork, &info, 1, 1);
  }
  take_eigenvalues(x, x->r[2]);
  widen_to_f64(x, x->a, all);
  widen_to_f64(x, x->r[1], all);
  return info;
}

static int hessenberg(matrix *x) {
  int ld = lead(x->n), low = 1, info;
  (x->is_complex ? zgehrd_ : dgehrd_)(&x->n, &low, &x->n, x->a, &ld, x->r[1], x->work, &x->lwork, &info);
  return info;
}

static int tridiagonal(matrix *x) {
  int ld = lead(x->n), info;
  (x->is_complex ? zhetrd_ : dsytrd_)(uplo(x), &x->n, x->a, &ld, x->r[1], x->r[2], x->r[3], x->work, &x->lwork, &info,
                                      1);
  return info;
}

typedef struct driver {
  const char *how;
  int (*run)(matrix *x);
  bool in_place;   /* result 0 is left in a */
  bool has_info;   /* as its last result */
  bool finite;     /* wants finite numbers */
  bool as_single;  /* computes with f32 where the op does */
  int real_square; /* room for real numbers in the complex case: times the square of the smaller size */
  bool asks;       /* for its work space */
} driver;

static const driver kDrivers[] = {
    {"lu", lu, .in_place = true, .has_info = true},
    {"qr", qr, .in_place = true, .asks = true},
    {"pivoted_qr", pivoted_qr, .in_place = true, .asks = true},
    {"householder", householder, .in_place = true, .asks = true},
    {"eigh", eigh, .in_place = true, .has_info = true, .finite = true, .real_square = 2, .asks = true},
    {"svd", svd, .has_info = true, .finite = true, .real_square = 5, .asks = true},
    {"full_svd", svd, .has_info = true, .finite = true, .real_square = 5, .asks = true},
    {"eig", eig, .has_info = true, .finite = true, .as_single = true, .asks = true},
    {"schur", schur, .in_place = true, .has_info = true, .finite = true, .as_single = true, .asks = true},
    {"hessenberg", hessenberg, .in_place = true, .has_info = true, .asks = true},
    {"tridiagonal", tridiagonal, .in_place = true, .has_info = true, .asks = true},
};

static const driver *driver_of(const sw_op *op) {
  const char *how = sw_op_text(op, SW_ATTR_HOW, "");
  for (size_t i = 0; i < sizeof kDrivers / sizeof *kDrivers; i++) {
    if (strcmp(kDrivers[i].how, how) == 0) return &kDrivers[i];
  }
  return NULL;
}

/* --- the op ------------------------------------------------------------------------------------------------------ */

/* Elements of result `r` in one matrix of the batch. */
static int64_t piece_of(const sw_kernel_call *c, int r, int64_t batch) { return sw_buffer_elements(c->out[r]) / batch; }

static sw_rc open_matrix(const sw_kernel_call *c, const driver *v, int64_t batch, matrix *x, sw_diag *d) {
  const sw_buffer *a = c->in[0];
  int64_t m = a->dims[a->rank - 2], n = a->dims[a->rank - 1], most = m > n ? m : n, k = m < n ? m : n;
  if (k > MOST_SQUARE || most > INT32_MAX / 8 - 2) {
    return SW_FAIL(d, SW_E_RESOURCE, c->op->span, "op '%s': matrices of %lld x %lld are not factored; at most %d x %d",
                   c->op->name, (long long)m, (long long)n, MOST_SQUARE, INT32_MAX / 8 - 2);
  }
  *x = (matrix){.m = (int)m,
                .n = (int)n,
                .k = (int)k,
                .is_complex = sw_is_complex(a),
                .single = v->as_single && a->dtype != SW_F64 && a->dtype != SW_C128,
                .lower = sw_op_int(c->op, SW_ATTR_LOWER, 1) != 0,
                .full = strcmp(v->how, "full_svd") == 0,
                .liwork = (int)(8 * most + 16)};
  double complex *room;
  SW_ARENA_NEW(room, c->scratch, m * n, d);
  x->a = room;
  for (int r = 0; r < c->op->n_results; r++) {
    SW_ARENA_NEW(room, c->scratch, piece_of(c, r, batch), d);
    x->r[r] = r == 0 && v->in_place ? x->a : room;
  }
  if (c->op->n_operands > 1) x->taus = (int)(sw_buffer_elements(c->in[1]) / batch);
  SW_ARENA_NEW(x->b, c->scratch, 2 * (x->taus + 1), d);
  SW_ARENA_NEW(x->w, c->scratch, 2 * n, d);
  SW_ARENA_NEW(x->iwork, c->scratch, x->liwork, d);
  SW_ARENA_NEW(x->rwork, c->scratch, x->is_complex ? (v->real_square * k + 64) * (k + 1) + 2 * most * (k + 1) : 0, d);
  SW_ARENA_NEW(room, c->scratch, most + 64, d);
  x->work = room;
  return SW_OK;
}

/* As much as the driver asks for. */
static sw_rc open_workspace(const sw_kernel_call *c, const driver *v, matrix *x, sw_diag *d) {
  double complex *room;
  int least = 2 * x->n;
  if (!v->asks) return SW_OK;
  x->lwork = -1;
  (void)v->run(x);
  x->lwork = (int)(x->single ? (double)*(float *)x->work : *(double *)x->work);
  if (x->lwork < least) x->lwork = least;
  SW_ARENA_NEW(room, c->scratch, x->lwork, d);
  x->work = room;
  return SW_OK;
}

static bool all_finite(const matrix *x) {
  const double *a = x->a;
  int64_t n = (int64_t)x->m * x->n * (x->is_complex ? 2 : 1);
  for (int64_t i = 0; i < n; i++) {
    if (!isfinite(a[i])) return false;
  }
  return true;
}

static void fill_results(const sw_kernel_call *c, matrix *x, int64_t batch, double value) {
  for (int r = 0; r < c->op->n_results; r++) {
    double *to = x->r[r];
    int64_t n = piece_of(c, r, batch) * (sw_is_complex(c->out[r]) ? 2 : 1);
    for (int64_t i = 0; i < n; i++) to[i] = value;
  }
}

/* Of a matrix without elements; only the vectors of a full svd are there. */
static void without_elements(const sw_kernel_call *c, matrix *x, int64_t batch) {
  fill_results(c, x, batch, 0);
  for (int r = 1; x->full && r < 3; r++) {
    int64_t n = r == 1 ? x->m : x->n, step = x->is_complex ? 2 : 1;
    for (int64_t i = 0; i < n; i++) ((double *)x->r[r])[(i * n + i) * step] = 1;
  }
}

static void factor_one(const sw_kernel_call *c, const driver *v, matrix *x, int64_t batch) {
  int info = 0;
  if (x->k == 0)
    without_elements(c, x, batch);
  else if (v->finite && !all_finite(x)) {
    fill_results(c, x, batch, (double)NAN);
    info = -4;
  } else {
    info = v->run(x);
  }
  if (v->has_info) *(double *)x->r[c->op->n_results - 1] = info;
}

sw_rc sw_kernel_factor(const sw_kernel_call *c, sw_diag *d) {
  const sw_buffer *a = c->in[0];
  const driver *v = driver_of(c->op);
  matrix x;
  int64_t batch = 1;
  double complex *turned;
  if (!v || (!sw_is_complex(a) && !sw_convertible(a->dtype))) return sw_kernel_no_dtype(c, a->dtype, d);
  for (int i = 0; i < a->rank - 2; i++) batch *= a->dims[i];
  if (!batch) return SW_OK;
  SW_TRY(open_matrix(c, v, batch, &x, d));
  if (x.k) SW_TRY(open_workspace(c, v, &x, d));
  int64_t most = (int64_t)x.m * x.n;
  for (int r = 0; r < c->op->n_results; r++) most = sw_max_i64(most, piece_of(c, r, batch));
  SW_ARENA_NEW(turned, c->scratch, most, d);
  SW_TRY(sw_blas_enter(d));
  for (int64_t i = 0; i < batch; i++) {
    sw_load_piece(a, i, (int64_t)x.m * x.n, turned);
    sw_turn_piece(x.is_complex, x.m, x.n, turned, x.a);
    if (x.taus) sw_load_piece(c->in[1], i, x.taus, x.b);
    factor_one(c, v, &x, batch);
    for (int r = 0; r < c->op->n_results; r++) {
      sw_buffer *out = c->out[r];
      bool is_matrix = out->rank == a->rank;
      if (is_matrix) {
        sw_turn_piece(sw_is_complex(out), out->dims[out->rank - 1], out->dims[out->rank - 2], x.r[r], turned);
      }
      sw_store_piece(out, i, piece_of(c, r, batch), is_matrix ? turned : x.r[r]);
    }
  }
  sw_blas_leave();
  return SW_OK;
}

/* --- tridiagonal_solve ------------------------------------------------------------------------------------------- */

sw_rc sw_kernel_tridiagonal_solve(const sw_kernel_call *c, sw_diag *d) {
  const sw_buffer *b = c->in[3];
  bool is_complex = sw_is_complex(b);
  if (!is_complex && !sw_convertible(b->dtype)) return sw_kernel_no_dtype(c, b->dtype, d);
  int64_t rows = b->dims[b->rank - 2], columns = b->dims[b->rank - 1], all = sw_buffer_elements(b), words;
  if (!all) return SW_OK;
  if (rows > INT32_MAX || columns > INT32_MAX) return sw_kernel_no_dtype(c, b->dtype, d);
  int n = (int)rows, rhs = (int)columns, info;
  double complex *lines[3], *given, *turned;
  for (int k = 0; k < 3; k++) SW_ARENA_NEW(lines[k], c->scratch, rows, d);
  SW_ARENA_NEW_EACH(c->scratch, rows * columns, d, given, turned);
  words = rows * columns * (is_complex ? 2 : 1);
  SW_TRY(sw_blas_enter(d));
  for (int64_t i = 0; i < all / (rows * columns); i++) {
    for (int k = 0; k < 3; k++) sw_load_piece(c->in[k], i, rows, lines[k]);
    sw_load_piece(b, i, rows * columns, given);
    sw_turn_piece(is_complex, rows, columns, given, turned);
    double *below = (double *)lines[0] + (is_complex ? 2 : 1); /* its first number belongs to no row */
    (is_complex ? zgtsv_ : dgtsv_)(&n, &rhs, below, lines[1], lines[2], turned, &n, &info);
    for (int64_t k = 0; info != 0 && k < words; k++) ((double *)turned)[k] = (double)NAN;
    sw_turn_piece(is_complex, columns, rows, turned, given);
    sw_store_piece(c->out[0], i, rows * columns, given);
  }
  sw_blas_leave();
  return SW_OK;
}
