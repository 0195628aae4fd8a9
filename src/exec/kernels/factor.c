/* factor: what LAPACK's drivers give, matrix by matrix, in f64.
 *
 *   lu of [[0,1],[2,4]]    [[2,4],[0,1]], pivots [2,2] (rows that were exchanged, from 1), info 0
 *   qr of [[3],[4]]        [[-5],[0.5]], tau [1.6]: the reflectors stand below r
 *   eigh, svd              by Jacobi's rotations; vectors have the sign that these leave
 */
#include <math.h>
#include <string.h>

#include "exec/kernels/kernel.h"
#include "exec/kernels/native.h"

enum { MOST_RESULTS = 4 };

/* One matrix of the batch: m x n, k the smaller one. */
typedef struct matrix {
  int64_t m, n, k;
  double *a;               /* operand 0; may be worked on */
  double *b;               /* operand 1; empty where there is none */
  double *r[MOST_RESULTS]; /* results, as f64; empty beyond the last */
  double *spare;           /* m x m and n x n */
} matrix;

/* --- lu ---------------------------------------------------------------------------------------------------------- */

static void swap_rows(double *a, int64_t n, int64_t i, int64_t j) {
  for (int64_t c = 0; i != j && c < n; c++) {
    double t = a[i * n + c];
    a[i * n + c] = a[j * n + c];
    a[j * n + c] = t;
  }
}

static void lu(const matrix *x) {
  double *a = x->r[0];
  memcpy(a, x->a, (size_t)(x->m * x->n) * sizeof *a);
  x->r[2][0] = 0;
  for (int64_t j = 0; j < x->k; j++) {
    int64_t best = j;
    for (int64_t i = j + 1; i < x->m; i++) {
      if (fabs(a[i * x->n + j]) > fabs(a[best * x->n + j])) best = i;
    }
    x->r[1][j] = (double)best + 1;
    swap_rows(a, x->n, j, best);
    double pivot = a[j * x->n + j];
    if (pivot == 0 && x->r[2][0] == 0) x->r[2][0] = (double)j + 1;
    for (int64_t i = j + 1; i < x->m && pivot != 0; i++) {
      double f = a[i * x->n + j] /= pivot;
      for (int64_t c = j + 1; c < x->n; c++) a[i * x->n + c] -= f * a[j * x->n + c];
    }
  }
}

/* --- qr ---------------------------------------------------------------------------------------------------------- */

/* Columns from..n of a times (1 - tau v v'), v = (1, column j of `of` below row j). */
static void reflect(double *a, int64_t m, int64_t n, int64_t from, const double *of, int64_t width, int64_t j,
                    double tau) {
  for (int64_t c = from; c < n; c++) {
    double dot = a[j * n + c];
    for (int64_t i = j + 1; i < m; i++) dot += of[i * width + j] * a[i * n + c];
    dot *= tau;
    a[j * n + c] -= dot;
    for (int64_t i = j + 1; i < m; i++) a[i * n + c] -= dot * of[i * width + j];
  }
}

static void qr(const matrix *x) {
  double *a = x->r[0];
  memcpy(a, x->a, (size_t)(x->m * x->n) * sizeof *a);
  for (int64_t j = 0; j < x->k; j++) {
    double below = 0, alpha = a[j * x->n + j];
    for (int64_t i = j + 1; i < x->m; i++) below = hypot(below, a[i * x->n + j]);
    x->r[1][j] = 0;
    if (below == 0) continue;
    double beta = -copysign(hypot(alpha, below), alpha);
    x->r[1][j] = (beta - alpha) / beta;
    for (int64_t i = j + 1; i < x->m; i++) a[i * x->n + j] /= alpha - beta;
    reflect(a, x->m, x->n, j + 1, a, x->n, j, x->r[1][j]);
    a[j * x->n + j] = beta;
  }
}

/* The first n columns of the product of the reflectors below the diagonal of a, b their taus. */
static void householder(const matrix *x, int64_t taus) {
  double *q = x->r[0];
  for (int64_t i = 0; i < x->m * x->n; i++) q[i] = i / x->n == i % x->n;
  for (int64_t j = taus - 1; j >= 0; j--) reflect(q, x->m, x->n, j, x->a, x->n, j, x->b[j]);
}

/* --- eigenvalues and singular values ----------------------------------------------------------------------------- */

/* The rotation that makes [[p, r], [r, q]] diagonal; false: it is. */
static bool rotation(double p, double q, double r, double *c, double *s) {
  if (fabs(r) <= 1e-17 * sqrt(fabs(p * q)) || r == 0 || !isfinite(r)) return false;
  double t = (q - p) / (2 * r);
  t = copysign(1, t) / (fabs(t) + hypot(1, t));
  *c = 1 / hypot(1, t);
  *s = t * *c;
  return true;
}

/* Columns i and j of a matrix with `rows` rows of n. */
static void rotate_columns(double *a, int64_t rows, int64_t n, int64_t i, int64_t j, double c, double s) {
  for (int64_t r = 0; r < rows; r++) {
    double x = a[r * n + i], y = a[r * n + j];
    a[r * n + i] = c * x - s * y;
    a[r * n + j] = s * x + c * y;
  }
}

static void rotate_rows(double *a, int64_t n, int64_t i, int64_t j, double c, double s) {
  for (int64_t r = 0; r < n; r++) {
    double x = a[i * n + r], y = a[j * n + r];
    a[i * n + r] = c * x - s * y;
    a[j * n + r] = s * x + c * y;
  }
}

enum { MOST_SWEEPS = 60 };

static void identity(double *a, int64_t n) {
  for (int64_t i = 0; i < n * n; i++) a[i] = i / n == i % n;
}

/* Columns of v in the order of w: ascending, or descending. */
static void sort_columns(double *w, double *v, int64_t rows, double *u, int64_t u_rows, int64_t n, bool descending) {
  for (int64_t i = 0; i < n; i++) {
    int64_t best = i;
    for (int64_t j = i + 1; j < n; j++) {
      if (descending ? w[j] > w[best] : w[j] < w[best]) best = j;
    }
    if (best == i) continue;
    double t = w[i];
    w[i] = w[best];
    w[best] = t;
    rotate_columns(v, rows, n, i, best, 0, 1);
    if (u) rotate_columns(u, u_rows, n, i, best, 0, 1);
  }
}

static void eigh(const matrix *x, bool lower) {
  int64_t n = x->n;
  double *a = x->a, *v = x->r[0], *w = x->r[1], c, s;
  identity(v, n);
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < i; j++) {
      if (lower)
        a[j * n + i] = a[i * n + j];
      else
        a[i * n + j] = a[j * n + i];
    }
  }
  bool more = true;
  for (int sweep = 0; sweep < MOST_SWEEPS && more; sweep++) {
    more = false;
    for (int64_t i = 0; i < n; i++) {
      for (int64_t j = i + 1; j < n; j++) {
        if (!rotation(a[i * n + i], a[j * n + j], a[i * n + j], &c, &s)) continue;
        rotate_columns(a, n, n, i, j, c, s);
        rotate_rows(a, n, i, j, c, s);
        rotate_columns(v, n, n, i, j, c, s);
        more = true;
      }
    }
  }
  for (int64_t i = 0; i < n; i++) w[i] = a[i * n + i];
  sort_columns(w, v, n, NULL, 0, n, false);
  x->r[2][0] = 0;
}

/* Columns from `have` on of q (rows x columns): unit vectors made orthogonal to those before. */
static void complete(double *q, int64_t rows, int64_t columns, int64_t have) {
  int64_t unit = 0;
  for (int64_t c = have; c < columns && unit < rows; unit++) {
    for (int64_t i = 0; i < rows; i++) q[i * columns + c] = i == unit;
    for (int pass = 0; pass < 2; pass++) {
      for (int64_t k = 0; k < c; k++) {
        double dot = 0;
        for (int64_t i = 0; i < rows; i++) dot += q[i * columns + k] * q[i * columns + c];
        for (int64_t i = 0; i < rows; i++) q[i * columns + c] -= dot * q[i * columns + k];
      }
    }
    double norm = 0;
    for (int64_t i = 0; i < rows; i++) norm = hypot(norm, q[i * columns + c]);
    if (norm < 0.5 / sqrt((double)rows)) continue;
    for (int64_t i = 0; i < rows; i++) q[i * columns + c] /= norm;
    c++;
  }
}

/* g (rows >= n columns) becomes u times the singular values w; v the right vectors. One-sided rotations. */
static void make_orthogonal(double *g, int64_t rows, int64_t n, double *v, double *w) {
  bool more = true;
  double c, s;
  identity(v, n);
  for (int sweep = 0; sweep < MOST_SWEEPS && more; sweep++) {
    more = false;
    for (int64_t i = 0; i < n; i++) {
      for (int64_t j = i + 1; j < n; j++) {
        double p = 0, q = 0, r = 0;
        for (int64_t k = 0; k < rows; k++) {
          p += g[k * n + i] * g[k * n + i];
          q += g[k * n + j] * g[k * n + j];
          r += g[k * n + i] * g[k * n + j];
        }
        if (fabs(r) <= 1e-15 * sqrt(p * q) || !rotation(p, q, r, &c, &s)) continue;
        rotate_columns(g, rows, n, i, j, c, s);
        rotate_columns(v, n, n, i, j, c, s);
        more = true;
      }
    }
  }
  for (int64_t j = 0; j < n; j++) {
    w[j] = 0;
    for (int64_t k = 0; k < rows; k++) w[j] = hypot(w[j], g[k * n + j]);
  }
  sort_columns(w, v, n, g, rows, n, true);
}

/* u (rows x columns) from g = u w, further columns completed. */
static void unit_columns(const double *g, const double *w, int64_t rows, int64_t n, double *u, int64_t columns) {
  int64_t have = 0;
  for (; have < n && w[have] > 1e-14 * w[0] && have < columns; have++) {
    for (int64_t i = 0; i < rows; i++) u[i * columns + have] = g[i * n + have] / w[have];
  }
  complete(u, rows, columns, have);
}

static void transposed(const double *a, int64_t m, int64_t n, double *to) {
  for (int64_t i = 0; i < m * n; i++) to[i % n * m + i / n] = a[i];
}

/* results: values, u, v transposed, info. */
static void svd(const matrix *x, bool full) {
  int64_t m = x->m, n = x->n, k = x->k;
  bool tall = m >= n;
  int64_t rows = tall ? m : n, columns = full ? rows : k;
  double *g = x->spare, *v = g + rows * k, *u = v + k * k;
  if (tall)
    memcpy(g, x->a, (size_t)(m * n) * sizeof *g);
  else
    transposed(x->a, m, n, g);
  make_orthogonal(g, rows, k, v, x->r[0]);
  unit_columns(g, x->r[0], rows, k, u, columns);
  if (tall) { /* a = u w v' */
    memcpy(x->r[1], u, (size_t)(rows * columns) * sizeof *u);
    transposed(v, k, k, x->r[2]);
  } else { /* a' = u w v', a = v w u' */
    memcpy(x->r[1], v, (size_t)(k * k) * sizeof *v);
    transposed(u, rows, columns, x->r[2]);
  }
  x->r[3][0] = 0;
}

/* --- the op ------------------------------------------------------------------------------------------------------ */

static void factor_one(const sw_op *op, const matrix *x, int64_t taus) {
  const char *how = sw_op_text(op, SW_ATTR_HOW, "");
  if (strcmp(how, "lu") == 0) lu(x);
  if (strcmp(how, "qr") == 0) qr(x);
  if (strcmp(how, "householder") == 0) householder(x, taus);
  if (strcmp(how, "eigh") == 0) eigh(x, sw_op_int(op, SW_ATTR_LOWER, 1) != 0);
  if (strcmp(how, "svd") == 0) svd(x, false);
  if (strcmp(how, "full_svd") == 0) svd(x, true);
}

static void load(const sw_buffer *b, int64_t i, int64_t elements, double *to) {
  sw_convert(b->dtype, (const char *)b->data + i * elements * sw_dtype_bytes(b->dtype), SW_F64, to, elements);
}
static void store(sw_buffer *b, int64_t i, int64_t elements, const double *from) {
  sw_convert(SW_F64, from, b->dtype, (char *)b->data + i * elements * sw_dtype_bytes(b->dtype), elements);
}

sw_rc sw_kernel_factor(const sw_kernel_call *c, sw_diag *d) {
  const sw_buffer *a = c->in[0];
  if (!sw_convertible(a->dtype)) return sw_kernel_no_dtype(c, a->dtype, d);
  matrix x = {.m = a->dims[a->rank - 2], .n = a->dims[a->rank - 1]};
  x.k = x.m < x.n ? x.m : x.n;
  int64_t batch = 1, size[MOST_RESULTS] = {0}, taus = 0;
  for (int i = 0; i < a->rank - 2; i++) batch *= a->dims[i];
  if (!batch) return SW_OK;
  SW_ARENA_NEW(x.a, c->scratch, x.m * x.n, d);
  SW_ARENA_NEW(x.spare, c->scratch, x.m * x.n + x.k * x.k + x.m * x.m + x.n * x.n, d);
  for (int r = 0; r < MOST_RESULTS; r++) {
    size[r] = r < c->op->n_results ? sw_buffer_elements(c->out[r]) / batch : 0;
    SW_ARENA_NEW(x.r[r], c->scratch, size[r], d);
  }
  if (c->op->n_operands > 1) taus = sw_buffer_elements(c->in[1]) / batch;
  SW_ARENA_NEW(x.b, c->scratch, taus, d);
  for (int64_t i = 0; i < batch; i++) {
    load(a, i, x.m * x.n, x.a);
    if (taus) load(c->in[1], i, taus, x.b);
    factor_one(c->op, &x, taus);
    for (int r = 0; r < c->op->n_results; r++) store(c->out[r], i, size[r], x.r[r]);
  }
  return SW_OK;
}
