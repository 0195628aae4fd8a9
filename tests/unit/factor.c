/* factor and tridiagonal_solve: what they give is put together again and must be the matrix, whatever the signs and
 * orders of vectors are; real and complex, in batches, of no elements and of what has no factors. */
#include <complex.h>
#include <math.h>

#include "check.h"

#include "shardwright/exec.h"
#include "shardwright/graph.h"

enum { MOST = 6 };

/* --- small matrices ----------------------------------------------------------------------------------------------- */

typedef struct matrix {
  int m, n;
  double complex at[MOST][MOST];
} matrix;

static matrix unit(int n) {
  matrix x = {.m = n, .n = n};
  for (int i = 0; i < n; i++) x.at[i][i] = 1;
  return x;
}

static matrix times(matrix a, matrix b) {
  matrix c = {.m = a.m, .n = b.n};
  assert_int_equal(a.n, b.m);
  for (int i = 0; i < a.m; i++) {
    for (int j = 0; j < b.n; j++) {
      for (int k = 0; k < a.n; k++) c.at[i][j] += a.at[i][k] * b.at[k][j];
    }
  }
  return c;
}

static matrix adjoint(matrix a) {
  matrix c = {.m = a.n, .n = a.m};
  for (int i = 0; i < a.m; i++) {
    for (int j = 0; j < a.n; j++) c.at[j][i] = conj(a.at[i][j]);
  }
  return c;
}

static matrix part(matrix a, int m, int n) {
  a.m = m;
  a.n = n;
  return a;
}

/* Row i below the diagonal by `below`, and further down, is not there. */
static matrix upper(matrix a, int below) {
  for (int i = 0; i < a.m; i++) {
    for (int j = 0; j < a.n && j < i - below; j++) a.at[i][j] = 0;
  }
  return a;
}

static void expect_same(matrix a, matrix b, double tolerance, const char *what) {
  double scale = 1;
  assert_int_equal(a.m, b.m);
  assert_int_equal(a.n, b.n);
  for (int i = 0; i < a.m * a.n; i++) scale = fmax(scale, cabs(b.at[i / a.n][i % a.n]));
  for (int i = 0; i < a.m; i++) {
    for (int j = 0; j < a.n; j++) {
      if (cabs(a.at[i][j] - b.at[i][j]) <= tolerance * scale) continue;
      fail_msg("%s: element (%d,%d) is %g%+gi, expected %g%+gi", what, i, j, creal(a.at[i][j]), cimag(a.at[i][j]),
               creal(b.at[i][j]), cimag(b.at[i][j]));
    }
  }
}

/* --- one op, run -------------------------------------------------------------------------------------------------- */

typedef struct run {
  int n_in, n_out, batch; /* of `batch` matrices */
  sw_tensor in[4], out[5];
  double tolerance;
} run;

static bool is_complex(sw_dtype t) { return t == SW_C64 || t == SW_C128; }

static double complex load(const sw_buffer *b, int64_t i) {
  const char *at = (const char *)b->data + i * sw_dtype_bytes(b->dtype);
  if (!is_complex(b->dtype)) return sw_element_load(b->dtype, at);
  sw_dtype half = b->dtype == SW_C64 ? SW_F32 : SW_F64;
  return sw_element_load(half, at) + I * sw_element_load(half, at + sw_dtype_bytes(half));
}

static void store(sw_buffer *b, int64_t i, double re, double im) {
  char *at = (char *)b->data + i * sw_dtype_bytes(b->dtype);
  sw_dtype half = b->dtype == SW_C64 ? SW_F32 : b->dtype == SW_C128 ? SW_F64 : b->dtype;
  sw_element_store(half, re, at);
  if (half != b->dtype) sw_element_store(half, im, at + sw_dtype_bytes(half));
}

/* Matrix `i` of a batch, or a vector as a matrix of one column. */
static matrix matrix_of(const sw_tensor *x, int batch, int i) {
  bool vector = x->rank == 2;
  int64_t each = sw_buffer_elements(x) / batch;
  matrix out = {.m = (int)x->dims[1], .n = vector ? 1 : (int)x->dims[2]};
  for (int k = 0; k < each; k++) out.at[k / out.n][k % out.n] = load(x, i * each + k);
  return out;
}

static void input(run *r, sw_rng *rng, sw_dtype t, int rank, const int64_t *dims) {
  sw_tensor *x = &r->in[r->n_in++];
  assert_ok(sw_tensor_init(x, t, rank, dims, &diag));
  for (int64_t i = 0; i < sw_buffer_elements(x); i++) {
    store(x, i, 2 * sw_rng_unit(rng) - 1, 2 * sw_rng_unit(rng) - 1);
  }
}

static sw_rc evaluate(run *r, sw_opcode code, const char *how, bool lower, sw_diag *out) {
  sw_graph *g;
  sw_id x[4], made[SW_MAX_RESULTS];
  sw_attr attrs[] = {{.key = SW_ATTR_HOW, .u.text = how}, {.key = SW_ATTR_LOWER, .u.i = lower}};
  assert_ok(sw_graph_create("case", &g, &diag));
  for (int i = 0; i < r->n_in; i++) {
    char name[8];
    snprintf(name, sizeof name, "x%d", i);
    assert_ok(sw_graph_add_arg(g, name, r->in[i].dtype, r->in[i].rank, r->in[i].dims, SW_VALUE_INPUT, SW_NOWHERE, &x[i],
                               &diag));
  }
  sw_op_spec spec = {.code = code, .n_operands = r->n_in, .operands = x, .n_attrs = how ? 2 : 0, .attrs = attrs};
  sw_rc rc = sw_graph_add_op(g, &spec, made, out);
  if (!rc) {
    const sw_op *op = &g->ops[g->n_ops - 1];
    const sw_buffer *ins[4];
    sw_buffer *outs[5];
    r->n_out = op->n_results;
    for (int i = 0; i < r->n_in; i++) ins[i] = &r->in[i];
    for (int i = 0; i < r->n_out; i++) {
      const sw_type *t = sw_result_type(g, op, i);
      assert_ok(sw_tensor_init(&r->out[i], t->dtype, t->rank, t->dims, &diag));
      outs[i] = &r->out[i];
    }
    rc = sw_exec_eval(op, ins, outs, &(sw_exec_ctx){0}, out);
  }
  sw_graph_destroy(g);
  return rc;
}

static void close_run(run *r) {
  for (int i = 0; i < r->n_in; i++) sw_tensor_deinit(&r->in[i]);
  for (int i = 0; i < r->n_out; i++) sw_tensor_deinit(&r->out[i]);
  *r = (run){0};
}

/* --- what the results stand for ----------------------------------------------------------------------------------- */

/* Reflector j of a, whose vector is 1 in row j + below and stands under that: 1 - tau v v'. */
static matrix reflector(matrix a, double complex tau, int j, int below) {
  matrix v = {.m = a.m, .n = 1}, h = unit(a.m);
  for (int i = j + below; i < a.m; i++) v.at[i][0] = i == j + below ? 1 : a.at[i][j];
  matrix square = times(v, adjoint(v));
  for (int i = 0; i < a.m * a.m; i++) h.at[i / a.m][i % a.m] -= tau * square.at[i / a.m][i % a.m];
  return h;
}

static matrix reflectors(matrix a, matrix taus, int below) {
  matrix q = unit(a.m);
  for (int j = 0; j < taus.m; j++) q = times(q, reflector(a, taus.at[j][0], j, below));
  return q;
}

static matrix diagonal(matrix v, int m, int n) {
  matrix d = {.m = m, .n = n};
  for (int i = 0; i < v.m; i++) d.at[i][i] = v.at[i][0];
  return d;
}

static matrix symmetric(matrix a, bool lower) {
  for (int i = 0; i < a.m; i++) {
    for (int j = 0; j < i; j++) {
      if (lower)
        a.at[j][i] = conj(a.at[i][j]);
      else
        a.at[i][j] = conj(a.at[j][i]);
    }
    a.at[i][i] = creal(a.at[i][i]);
  }
  return a;
}

static void expect_unit(matrix q, double tolerance, const char *what) {
  expect_same(times(adjoint(q), q), unit(q.n), tolerance, what);
}

#define OUT(r, i, b) matrix_of(&(r)->out[i], (r)->batch, b)

static void check_lu(const run *r, int b, matrix a, bool lower) {
  (void)lower;
  matrix f = OUT(r, 0, b), l = unit(a.m), pivots = OUT(r, 1, b);
  for (int k = 0; k < pivots.m; k++) {
    int other = (int)creal(pivots.at[k][0]) - 1;
    assert_in_range(other, k, a.m - 1);
    for (int j = 0; j < a.n; j++) {
      double complex t = a.at[k][j];
      a.at[k][j] = a.at[other][j];
      a.at[other][j] = t;
    }
  }
  for (int i = 0; i < a.m; i++) {
    for (int j = 0; j < i && j < a.n; j++) {
      l.at[i][j] = f.at[i][j];
      assert_true(cabs(l.at[i][j]) < 1.415); /* the largest is the pivot, by |re| + |im| */
    }
  }
  expect_same(times(l, upper(f, 0)), a, r->tolerance, "l u");
}

static void check_qr(const run *r, int b, matrix a, bool lower) {
  (void)lower;
  matrix f = OUT(r, 0, b), q = reflectors(f, OUT(r, 1, b), 0);
  expect_unit(q, r->tolerance, "q");
  expect_same(times(q, upper(f, 0)), a, r->tolerance, "q r");
}

static void check_pivoted_qr(const run *r, int b, matrix a, bool lower) {
  (void)lower;
  matrix f = OUT(r, 0, b), columns = OUT(r, 1, b), q = reflectors(f, OUT(r, 2, b), 0), moved = a;
  for (int j = 0; j < a.n; j++) {
    for (int i = 0; i < a.m; i++) moved.at[i][j] = a.at[i][(int)creal(columns.at[j][0]) - 1];
  }
  expect_same(times(q, upper(f, 0)), moved, r->tolerance, "q r of the columns in their order");
  for (int j = 1; j < a.m && j < a.n; j++) assert_true(cabs(f.at[j][j]) <= cabs(f.at[j - 1][j - 1]) * 1.0001);
}

static void check_eigh(const run *r, int b, matrix a, bool lower) {
  matrix v = OUT(r, 0, b), w = OUT(r, 1, b);
  expect_unit(v, r->tolerance, "eigenvectors");
  expect_same(times(times(v, diagonal(w, a.n, a.n)), adjoint(v)), symmetric(a, lower), r->tolerance, "v w v'");
  for (int i = 1; i < a.n; i++) assert_true(creal(w.at[i][0]) >= creal(w.at[i - 1][0]));
}

static void check_svd(const run *r, int b, matrix a, bool lower) {
  (void)lower;
  matrix w = OUT(r, 0, b), u = OUT(r, 1, b), v = OUT(r, 2, b);
  expect_unit(u, r->tolerance, "u");
  expect_unit(adjoint(v), r->tolerance, "v");
  expect_same(times(times(u, diagonal(w, u.n, v.m)), v), a, r->tolerance, "u w v'");
  for (int i = 1; i < w.m; i++) assert_true(creal(w.at[i][0]) <= creal(w.at[i - 1][0]) && creal(w.at[i][0]) >= 0);
}

static void check_eig(const run *r, int b, matrix a, bool lower) {
  (void)lower;
  matrix w = OUT(r, 0, b), left = OUT(r, 1, b), right = OUT(r, 2, b), d = diagonal(w, a.n, a.n);
  expect_same(times(a, right), times(right, d), r->tolerance, "a v");
  expect_same(times(adjoint(left), a), times(d, adjoint(left)), r->tolerance, "u' a");
  for (int j = 0; j < a.n; j++) {
    double norm = 0;
    for (int i = 0; i < a.n; i++) norm = hypot(norm, cabs(right.at[i][j]));
    assert_true(fabs(norm - 1) < r->tolerance);
  }
}

static void check_schur(const run *r, int b, matrix a, bool lower) {
  (void)lower;
  matrix t = OUT(r, 0, b), z = OUT(r, 1, b), w = OUT(r, 2, b);
  expect_unit(z, r->tolerance, "vectors");
  expect_same(times(times(z, t), adjoint(z)), a, r->tolerance, "z t z'");
  expect_same(t, upper(t, is_complex(r->in[0].dtype) ? 0 : 1), 0, "t");
  for (int i = 0; i < a.n; i++) assert_true(fabs(creal(w.at[i][0]) - creal(t.at[i][i])) < r->tolerance * 4);
}

static void check_hessenberg(const run *r, int b, matrix a, bool lower) {
  (void)lower;
  matrix f = OUT(r, 0, b), q = reflectors(f, OUT(r, 1, b), 1);
  expect_same(times(times(q, upper(f, 1)), adjoint(q)), a, r->tolerance, "q h q'");
}

/* Of the lower triangle; that of the upper one has its reflectors the other way round, and only its numbers count. */
static void check_tridiagonal(const run *r, int b, matrix a, bool lower) {
  matrix d = OUT(r, 1, b), e = OUT(r, 2, b), t = diagonal(d, a.n, a.n), whole = symmetric(a, lower);
  for (int i = 0; i < e.m; i++) t.at[i][i + 1] = t.at[i + 1][i] = e.at[i][0];
  if (lower) {
    matrix q = reflectors(OUT(r, 0, b), OUT(r, 3, b), 1);
    expect_same(times(times(q, t), adjoint(q)), whole, r->tolerance, "q t q'");
  }
  double complex traces[2] = {0, 0};
  matrix squares[2] = {times(t, t), times(whole, whole)};
  for (int i = 0; i < a.n; i++) {
    for (int k = 0; k < 2; k++) traces[k] += squares[k].at[i][i];
  }
  assert_true(cabs(traces[0] - traces[1]) < 40 * r->tolerance);
}

static const struct way {
  const char *how;
  bool square, has_info;
  void (*check)(const run *r, int b, matrix a, bool lower);
} kWays[] = {
    {"lu", false, true, check_lu},
    {"qr", false, false, check_qr},
    {"pivoted_qr", false, false, check_pivoted_qr},
    {"eigh", true, true, check_eigh},
    {"svd", false, true, check_svd},
    {"full_svd", false, true, check_svd},
    {"eig", true, true, check_eig},
    {"schur", true, true, check_schur},
    {"hessenberg", true, true, check_hessenberg},
    {"tridiagonal", true, true, check_tridiagonal},
};
enum { N_WAYS = sizeof kWays / sizeof *kWays };

static const sw_dtype kTypes[] = {SW_F64, SW_F32, SW_C64, SW_C128};

static double tolerance_of(sw_dtype t) { return t == SW_F32 || t == SW_C64 ? 1e-4 : 1e-11; }

static void columns_first(run *r) {
  for (int64_t i = 0; i < sw_buffer_elements(&r->in[1]); i++) store(&r->in[1], i, 0, 0);
}

static void results_make_the_matrix(void **state) {
  const struct way *way = *state;
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(1));
  for (int n = 0; n < check_scale(60); n++) {
    int64_t dims[3] = {1 + sw_rng_below(&rng, 3), 1 + sw_rng_below(&rng, MOST), 1 + sw_rng_below(&rng, MOST)};
    if (way->square) dims[2] = dims[1];
    sw_dtype t = kTypes[sw_rng_below(&rng, 4)];
    bool lower = sw_rng_below(&rng, 2);
    run r = {.batch = (int)dims[0], .tolerance = tolerance_of(t)};
    input(&r, &rng, t, 3, dims);
    if (strcmp(way->how, "pivoted_qr") == 0) {
      input(&r, &rng, SW_I32, 2, (int64_t[]){dims[0], dims[2]});
      columns_first(&r);
    }
    assert_ok(evaluate(&r, SW_OP_FACTOR, way->how, lower, &diag));
    for (int b = 0; b < r.batch; b++) {
      bool fine = !way->has_info || load(&r.out[r.n_out - 1], b) == 0;
      assert_true(fine);
      way->check(&r, b, matrix_of(&r.in[0], r.batch, b), lower);
    }
    close_run(&r);
  }
}

/* The product of reflectors is that of the reflectors one by one; fewer of them than columns, too. */
static void reflectors_are_multiplied(void **state) {
  (void)state;
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(1));
  for (int n = 0; n < check_scale(60); n++) {
    int64_t columns = 1 + sw_rng_below(&rng, MOST), rows = columns + sw_rng_below(&rng, MOST - columns + 1);
    int64_t dims[3] = {2, rows, columns}, taus[2] = {2, sw_rng_below(&rng, columns + 1)};
    run r = {.batch = 2, .tolerance = 1e-9};
    sw_dtype t = sw_rng_below(&rng, 2) ? SW_F64 : SW_C128;
    input(&r, &rng, t, 3, dims);
    input(&r, &rng, t, 2, taus);
    assert_ok(evaluate(&r, SW_OP_FACTOR, "householder", true, &diag));
    for (int b = 0; b < 2; b++) {
      matrix given = taus[1] ? matrix_of(&r.in[1], 2, b) : (matrix){.m = 0, .n = 1};
      matrix q = reflectors(matrix_of(&r.in[0], 2, b), given, 0);
      expect_same(OUT(&r, 0, b), part(q, (int)rows, (int)columns), r.tolerance, "q");
    }
    close_run(&r);
  }
}

static void tridiagonal_systems_are_solved(void **state) {
  (void)state;
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(1));
  for (int n = 0; n < check_scale(100); n++) {
    int64_t dims[3] = {2, 1 + sw_rng_below(&rng, MOST), 1 + sw_rng_below(&rng, MOST)};
    sw_dtype t = kTypes[sw_rng_below(&rng, 4)];
    run r = {.batch = 2, .tolerance = tolerance_of(t)};
    bool singular = sw_rng_below(&rng, 4) == 0; /* the first matrix has a row of zeros */
    for (int k = 0; k < 3; k++) input(&r, &rng, t, 2, dims);
    input(&r, &rng, t, 3, dims);
    for (int64_t i = 0; i < 2 * dims[1]; i++) store(&r.in[1], i, 3 + sw_rng_unit(&rng), sw_rng_unit(&rng));
    for (int k = 0; k < 3 && singular; k++) store(&r.in[k], dims[1] - 1, 0, 0);
    assert_ok(evaluate(&r, SW_OP_TRIDIAGONAL_SOLVE, NULL, true, &diag));
    for (int b = 0; b < 2; b++) {
      matrix a = diagonal(matrix_of(&r.in[1], 2, b), (int)dims[1], (int)dims[1]);
      for (int i = 1; i < a.n; i++) {
        a.at[i][i - 1] = load(&r.in[0], b * dims[1] + i);
        a.at[i - 1][i] = load(&r.in[2], b * dims[1] + i - 1);
      }
      matrix x = OUT(&r, 0, b);
      if (b == 0 && singular)
        assert_true(isnan(creal(x.at[0][0])));
      else
        expect_same(times(a, x), matrix_of(&r.in[3], 2, b), r.tolerance * 10, "a x");
    }
    close_run(&r);
  }
}

/* An infinity, or NaN: NaN, and said so; the other matrix of the batch has its results. Without elements: none. */
static void what_has_no_factors(void **state) {
  (void)state;
  static const char *const kHow[] = {"eigh", "svd", "full_svd", "eig", "schur"};
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(1));
  for (size_t k = 0; k < sizeof kHow / sizeof *kHow; k++) {
    run r = {.batch = 2};
    input(&r, &rng, k % 2 ? SW_C64 : SW_F64, 3, (int64_t[]){2, 3, 3});
    store(&r.in[0], 4, k % 2 ? NAN : INFINITY, 0);
    assert_ok(evaluate(&r, SW_OP_FACTOR, kHow[k], true, &diag));
    for (int i = 0; i < r.n_out - 1; i++) {
      bool first = isnan(creal(load(&r.out[i], 0)));
      assert_true(first);
      bool other = isnan(creal(load(&r.out[i], sw_buffer_elements(&r.out[i]) - 1)));
      assert_false(other);
    }
    bool said = load(&r.out[r.n_out - 1], 0) == -4 && load(&r.out[r.n_out - 1], 1) == 0;
    assert_true(said);
    close_run(&r);
  }
  for (int k = 0; k < N_WAYS; k++) {
    run r = {.batch = 2};
    int64_t rows = kWays[k].square ? 0 : 2;
    input(&r, &rng, SW_F32, 3, (int64_t[]){2, rows, 0});
    if (strcmp(kWays[k].how, "pivoted_qr") == 0) input(&r, &rng, SW_I32, 2, (int64_t[]){2, 0});
    assert_ok(evaluate(&r, SW_OP_FACTOR, kWays[k].how, true, &diag));
    if (strcmp(kWays[k].how, "full_svd") == 0) expect_same(OUT(&r, 1, 1), unit(2), 0, "u of nothing");
    close_run(&r);
  }
}

static void wrong_operands_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *how;
    int64_t rows, columns, second; /* -1: none */
    sw_dtype t, of_second;
    const char *message;
  } kRows[] = {
      {"eig", 2, 3, -1, SW_F32, SW_F32, "matrices that are not square"},
      {"householder", 2, 3, 2, SW_F32, SW_F32, "fewer rows than columns"},
      {"householder", 3, 2, 3, SW_F32, SW_F32, "expected a factor for each reflector"},
      {"pivoted_qr", 3, 2, 2, SW_F32, SW_F32, "expected a number (i32) for each column"},
      {"pivoted_qr", 3, 2, -1, SW_F32, SW_F32, "there are 1 operands; expected 2"},
      {"qr", 3, 2, -1, SW_I32, SW_F32, "operand 0"},
      {"ql", 3, 2, -1, SW_F32, SW_F32, "'how' is 'ql'; expected lu"},
  };
  sw_rng rng;
  sw_rng_seed(&rng, 1);
  for (size_t i = 0; i < sizeof kRows / sizeof *kRows; i++) {
    diag = (sw_diag){0};
    run r = {.batch = 2};
    input(&r, &rng, kRows[i].t, 3, (int64_t[]){2, kRows[i].rows, kRows[i].columns});
    if (kRows[i].second >= 0) input(&r, &rng, kRows[i].of_second, 2, (int64_t[]){2, kRows[i].second});
    assert_int_equal(evaluate(&r, SW_OP_FACTOR, kRows[i].how, true, &diag), SW_E_INPUT);
    if (!strstr(diag.text, kRows[i].message)) fail_msg("'%s' has not '%s'", diag.text, kRows[i].message);
    close_run(&r);
  }
}

int main(void) {
  struct CMUnitTest tests[N_WAYS + 4] = {
      cmocka_unit_test(reflectors_are_multiplied),
      cmocka_unit_test(tridiagonal_systems_are_solved),
      cmocka_unit_test(what_has_no_factors),
      cmocka_unit_test(wrong_operands_are_refused),
  };
  for (int i = 0; i < N_WAYS; i++) {
    tests[4 + i] = (struct CMUnitTest){
        .name = kWays[i].how, .test_func = results_make_the_matrix, .initial_state = (void *)(uintptr_t)&kWays[i]};
  }
  return cmocka_run_group_tests_name("factor", tests, NULL, NULL);
}
