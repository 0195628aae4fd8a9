/* Custom calls of LAPACK, which JAX writes for jax.numpy.linalg, as ops of the graph: those of CPUs, of CUDA's and
 * ROCm's libraries, and those that XLA itself expands.
 *
 *   lapack_strsm_ffi(a, b) {side, uplo, trans_x, diag}                 triangular_solve
 *   lapack_spotrf_ffi(a) {uplo}, cusolver_potrf_ffi(a) {lower}         cholesky; info from the NaN that it leaves
 *   lapack_sgetrf_ffi, sgeqrf, sorgqr, ssyevd, sgesdd, sgesvd          factor {lu, qr, householder, eigh, svd}
 *   cusolver_getrf_ffi, ...; Qr, ProductOfElementaryHouseholderReflectors, Eigh
 *   cu_lu_pivots_to_permutation(p), LuDecomposition                    a loop that exchanges numbers of rows
 */
#include <string.h>

#include "io/mlir/ops/lapack.h"
#include "io/mlir/regions/lift.h"

static sw_ir_span config_of(sw_importer *m, uint32_t op) {
  sw_ir_span config = sw_ir_entry(m->t, sw_im_op(m, op)->attrs, "mhlo.backend_config");
  return sw_ir_present(config) ? config : sw_ir_attr(m->t, sw_im_op(m, op), "backend_config", NULL);
}

/* A letter among the call's settings, given by its number (76 : ui8 is L). */
static char letter_of(sw_importer *m, uint32_t op, const char *key, char absent) {
  sw_ir_span config = config_of(m, op), v;
  int64_t n;
  if (!sw_ir_present(config)) return absent;
  v = sw_ir_entry(m->t, config, key);
  return sw_ir_present(v) && sw_ir_read_int(m->t, v, &n) && n > 0 && n < 128 ? (char)n : absent;
}

/* Which triangle counts: uplo = 76 : ui8, lower = true, or "1,..." in Eigh's settings. */
static bool is_lower(sw_importer *m, uint32_t op) {
  sw_ir_span config = config_of(m, op), v;
  int64_t n = 1;
  if (!sw_ir_present(config)) return true;
  if (m->t->s[config.at] == '"') return m->t->s[config.at + 1] != '0';
  v = sw_ir_entry(m->t, config, "lower");
  if (sw_ir_present(v) && sw_ir_read_int(m->t, v, &n)) return n != 0;
  return letter_of(m, op, "uplo", 'L') == 'L';
}

static sw_rc solve(sw_importer *m, uint32_t op, const char *how, bool *done) {
  (void)how;
  char trans = letter_of(m, op, "trans_x", 'N');
  sw_im_attrs a = {.n = 0};
  SW_TRY(sw_im_operand_count(m, op, 2, 2));
  sw_id x[2] = {sw_im_operand(m, op, 0), sw_im_operand(m, op, 1)};
  sw_im_int(&a, SW_ATTR_LEFT_SIDE, letter_of(m, op, "side", 'L') == 'L');
  sw_im_int(&a, SW_ATTR_LOWER, is_lower(m, op));
  sw_im_int(&a, SW_ATTR_UNIT_DIAGONAL, letter_of(m, op, "diag", 'N') == 'U');
  sw_im_text(&a, SW_ATTR_TRANSPOSE_A, trans == 'N' ? "none" : trans == 'C' ? "adjoint" : "transpose");
  *done = true;
  return sw_im_emit(m, op, &(sw_im_add){.code = SW_OP_TRIANGULAR_SOLVE, .n_operands = 2, .operands = x, .attrs = &a},
                    NULL);
}

/* A matrix that is not positive definite leaves NaN, which is what info tells. */
static sw_rc cholesky(sw_importer *m, uint32_t op, const char *how, bool *done) {
  (void)how;
  sw_id x = sw_im_operand(m, op, 0), l, bad, any, info;
  int rank = sw_im_type(m, x)->rank;
  int64_t last[2] = {rank - 2, rank - 1};
  sw_im_attrs a = {.n = 0}, r = {.n = 0};
  if (sw_ir_result_count(m->t, sw_im_op(m, op)) != 2 || rank < 2) return SW_OK;
  sw_im_int(&a, SW_ATTR_LOWER, is_lower(m, op));
  SW_TRY(sw_im_help(m, op, SW_OP_CHOLESKY, 1, &x, &a, &l));
  SW_TRY(sw_im_compared(m, op, "ne", l, l, &bad));
  sw_im_text(&r, SW_ATTR_KIND, sw_reduction_text(SW_REDUCE_OR));
  sw_im_numbers(&r, SW_ATTR_DIMS, last, 2);
  SW_TRY(sw_im_help(m, op, SW_OP_REDUCE, 1, &bad, &r, &any));
  SW_TRY(sw_im_converted(m, op, any, SW_I32, &info));
  *done = true;
  SW_TRY(sw_im_result_is(m, op, 0, l));
  return sw_im_result_is(m, op, 1, info);
}

static sw_rc factor(sw_importer *m, uint32_t op, const char *how, bool *done) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_id x[2];
  sw_im_attrs a = {.n = 0};
  for (uint32_t i = 0; i < o->n_uses; i++) x[i] = sw_im_operand(m, op, i);
  sw_im_text(&a, SW_ATTR_HOW, how);
  sw_im_int(&a, SW_ATTR_LOWER, is_lower(m, op));
  *done = true;
  return sw_im_emit(m, op, &(sw_im_add){.code = SW_OP_FACTOR, .n_operands = (int)o->n_uses, .operands = x, .attrs = &a},
                    NULL);
}

/* The operand (destroyed), values, u, v transposed (or, `how` "v", not) and info; thin or full, as u and v are. What
 * was not asked for is there all the same. */
static sw_rc svd(sw_importer *m, uint32_t op, const char *how, bool *done) {
  sw_id x = sw_im_operand(m, op, 0), r[SW_MAX_RESULTS];
  sw_im_attrs a = {.n = 0}, turned = {.n = 0};
  sw_type u, v;
  int rank = sw_im_type(m, x)->rank;
  int64_t permutation[SW_MAX_RANK];
  SW_TRY(sw_im_result_type(m, op, 2, &u));
  SW_TRY(sw_im_result_type(m, op, 3, &v));
  if (rank < 2 || u.rank != rank || v.rank != rank) return SW_OK;
  bool full = u.dims[rank - 1] == u.dims[rank - 2] && v.dims[rank - 1] == v.dims[rank - 2];
  sw_im_text(&a, SW_ATTR_HOW, full ? "full_svd" : "svd");
  SW_TRY(sw_im_help_all(m, op, &(sw_im_add){.code = SW_OP_FACTOR, .n_operands = 1, .operands = &x, .attrs = &a}, 4, r));
  for (int k = 0; k < rank; k++) permutation[k] = k < rank - 2 ? k : 2 * rank - 3 - k;
  sw_im_numbers(&turned, SW_ATTR_PERMUTATION, permutation, rank);
  if (strcmp(how, "v") == 0) SW_TRY(sw_im_help(m, op, SW_OP_TRANSPOSE, 1, &r[2], &turned, &r[2]));
  *done = true;
  SW_TRY(sw_im_result_is(m, op, 0, x));
  for (uint32_t i = 1; i < 5; i++) SW_TRY(sw_im_result_is(m, op, i, r[i - 1]));
  return sw_im_annotate_results(m, op);
}

/* In each row of x (i32, none negative) the element for which `here` is true, in a row of n. */
static sw_rc element_at(sw_importer *m, uint32_t op, sw_id x, sw_id here, int64_t n, sw_id *out) {
  sw_type t = *sw_im_type(m, x);
  int64_t dims[SW_MAX_RANK], kept[SW_MAX_RANK], last = t.rank - 1;
  sw_id zero;
  sw_im_attrs r = {.n = 0}, b = {.n = 0};
  for (int k = 0; k < t.rank; k++) {
    dims[k] = k < last ? t.dims[k] : n;
    kept[k] = k;
  }
  SW_TRY(sw_im_number(m, op, SW_I32, 0, t.rank, t.dims, &zero));
  SW_TRY(sw_im_choose(m, op, here, x, zero, out));
  sw_im_text(&r, SW_ATTR_KIND, sw_reduction_text(SW_REDUCE_MAX));
  sw_im_numbers(&r, SW_ATTR_DIMS, &last, 1);
  SW_TRY(sw_im_help(m, op, SW_OP_REDUCE, 1, out, &r, out));
  sw_im_numbers(&b, SW_ATTR_SHAPE, dims, t.rank);
  sw_im_numbers(&b, SW_ATTR_DIMS, kept, (int)last);
  return sw_im_help(m, op, SW_OP_BROADCAST, 1, out, &b, out);
}

/* Is it position `i` (a scalar) of the row? */
static sw_rc is_position(sw_importer *m, uint32_t op, const sw_type *t, sw_id i, sw_id *out) {
  sw_id at;
  SW_TRY(sw_im_positions(m, op, SW_I32, t->rank, t->dims, t->rank - 1, &at));
  SW_TRY(sw_im_spread(m, op, i, t->rank, t->dims, -1, &i));
  return sw_im_compared(m, op, "eq", at, i, out);
}

/* One step: element i of each row and the one that pivot i names change places. */
static sw_rc exchange(sw_importer *m, uint32_t op, sw_id pivots, sw_id i, sw_id *rows) {
  sw_type t = *sw_im_type(m, *rows), p = *sw_im_type(m, pivots);
  int64_t n = t.dims[t.rank - 1];
  sw_id first, second, at, here, there, mine, its;
  SW_TRY(is_position(m, op, &p, i, &here));
  SW_TRY(element_at(m, op, pivots, here, n, &second));
  SW_TRY(sw_im_positions(m, op, SW_I32, t.rank, t.dims, t.rank - 1, &at));
  SW_TRY(is_position(m, op, &t, i, &first));
  SW_TRY(sw_im_compared(m, op, "eq", at, second, &there));
  SW_TRY(element_at(m, op, *rows, first, n, &mine));
  SW_TRY(element_at(m, op, *rows, there, n, &its));
  SW_TRY(sw_im_choose(m, op, there, mine, *rows, rows));
  return sw_im_choose(m, op, first, its, *rows, rows);
}

/* Rows 0, 1, 2, ... of `n` after all exchanges, one after the other in a loop. */
static sw_rc permuted(sw_importer *m, uint32_t op, sw_id pivots, int64_t n, sw_id *out) {
  sw_type t = *sw_im_type(m, pivots);
  int64_t dims[SW_MAX_RANK], steps = t.dims[t.rank - 1];
  sw_im_attrs trips = {.n = 0};
  sw_id i, rows, in[3], limit, test, one, next, last;
  for (int k = 0; k < t.rank; k++) dims[k] = k < t.rank - 1 ? t.dims[k] : n;
  SW_TRY(sw_im_number(m, op, SW_I32, 0, 0, NULL, &i));
  SW_TRY(sw_im_positions(m, op, SW_I32, t.rank, dims, t.rank - 1, &rows));
  sw_im_int(&trips, SW_ATTR_TRIPS, steps);
  SW_TRY(sw_im_mark(m, op, SW_OP_WHILE, -1, &trips));
  SW_TRY(sw_im_one(m, op, SW_OP_ENTER, i, &in[0]));
  SW_TRY(sw_im_one(m, op, SW_OP_ENTER, rows, &in[1]));
  SW_TRY(sw_im_one(m, op, SW_OP_ENTER, pivots, &in[2]));
  SW_TRY(sw_im_number(m, op, SW_I32, (double)steps, 0, NULL, &limit));
  SW_TRY(sw_im_compared(m, op, "lt", in[0], limit, &test));
  SW_TRY(sw_im_mark(m, op, SW_OP_TEST, test, NULL));
  rows = in[1];
  SW_TRY(exchange(m, op, in[2], in[0], &rows));
  SW_TRY(sw_im_number(m, op, SW_I32, 1, 0, NULL, &one));
  SW_TRY(sw_im_two(m, op, SW_OP_ADD, in[0], one, &next));
  SW_TRY(sw_im_one(m, op, SW_OP_YIELD, next, &last));
  SW_TRY(sw_im_one(m, op, SW_OP_YIELD, rows, &rows));
  SW_TRY(sw_im_mark(m, op, SW_OP_END, -1, NULL));
  SW_TRY(sw_im_two(m, op, SW_OP_JOIN, in[0], last, &next));
  return sw_im_two(m, op, SW_OP_JOIN, in[1], rows, out);
}

static sw_rc pivots_to_permutation(sw_importer *m, uint32_t op, const char *how, bool *done) {
  (void)how;
  sw_type t;
  sw_id pivots = sw_im_operand(m, op, 0), out;
  SW_TRY(sw_im_result_type(m, op, 0, &t));
  int rank = sw_im_type(m, pivots)->rank;
  if (rank < 1 || t.rank != rank) return SW_OK;
  *done = true;
  SW_TRY(permuted(m, op, pivots, t.dims[rank - 1], &out));
  SW_TRY(sw_im_result_is(m, op, 0, out));
  return sw_im_annotate_results(m, op);
}

/* XLA's: pivots count from 0, and what rows they make. */
static sw_rc lu_with_permutation(sw_importer *m, uint32_t op, const char *how, bool *done) {
  sw_id x = sw_im_operand(m, op, 0), r[SW_MAX_RESULTS], one, rows;
  sw_im_attrs a = {.n = 0};
  const sw_type *t = sw_im_type(m, x);
  int64_t m_rows = t->rank < 2 ? 0 : t->dims[t->rank - 2];
  if (t->rank < 2) return SW_OK;
  sw_im_text(&a, SW_ATTR_HOW, how);
  SW_TRY(sw_im_help_all(m, op, &(sw_im_add){.code = SW_OP_FACTOR, .n_operands = 1, .operands = &x, .attrs = &a}, 3, r));
  sw_type pivots = *sw_im_type(m, r[1]);
  SW_TRY(sw_im_number(m, op, SW_I32, 1, pivots.rank, pivots.dims, &one));
  SW_TRY(sw_im_two(m, op, SW_OP_SUBTRACT, r[1], one, &r[1]));
  SW_TRY(permuted(m, op, r[1], m_rows, &rows));
  *done = true;
  SW_TRY(sw_im_result_is(m, op, 0, r[0]));
  SW_TRY(sw_im_result_is(m, op, 1, r[1]));
  SW_TRY(sw_im_result_is(m, op, 2, rows));
  return sw_im_annotate_results(m, op);
}

/* Without info: (v, w). */
static sw_rc eigh(sw_importer *m, uint32_t op, const char *how, bool *done) {
  sw_id x = sw_im_operand(m, op, 0), results[SW_MAX_RESULTS];
  sw_im_attrs a = {.n = 0};
  sw_im_text(&a, SW_ATTR_HOW, how);
  sw_im_int(&a, SW_ATTR_LOWER, is_lower(m, op));
  SW_TRY(sw_im_help_all(m, op, &(sw_im_add){.code = SW_OP_FACTOR, .n_operands = 1, .operands = &x, .attrs = &a}, 3,
                        results));
  *done = true;
  for (uint32_t i = 0; i < 2; i++) SW_TRY(sw_im_result_is(m, op, i, results[i]));
  return sw_im_annotate_results(m, op);
}

/* Whose calls have a name. */
enum { LAPACK = 1, SOLVER = 2, XLA = 4 };

typedef struct call_row {
  const char *name; /* behind lapack_ and the letter of the type, or behind cusolver_ */
  int of;
  sw_rc (*import)(sw_importer *m, uint32_t op, const char *how, bool *done);
  const char *how;
  uint32_t operands, results;
} call_row;

static const call_row kCalls[] = {
    {"trsm_ffi", LAPACK, solve, NULL, 2, 1},
    {"potrf_ffi", LAPACK | SOLVER, cholesky, NULL, 1, 2},
    {"getrf_ffi", LAPACK | SOLVER, factor, "lu", 1, 3},
    {"geqrf_ffi", LAPACK | SOLVER, factor, "qr", 1, 2},
    {"orgqr_ffi", LAPACK | SOLVER, factor, "householder", 2, 1},
    {"syevd_ffi", LAPACK | SOLVER, factor, "eigh", 1, 3},
    {"gesdd_ffi", LAPACK, svd, "", 1, 5},
    {"gesvd_ffi", LAPACK, svd, "", 1, 5},
    {"gesvdj_ffi", SOLVER, svd, "v", 1, 5},
    {"cu_lu_pivots_to_permutation", XLA, pivots_to_permutation, NULL, 1, 1},
    {"hip_lu_pivots_to_permutation", XLA, pivots_to_permutation, NULL, 1, 1},
    {"LuDecomposition", XLA, lu_with_permutation, "lu", 1, 3},
    {"Qr", XLA, factor, "qr", 1, 2},
    {"ProductOfElementaryHouseholderReflectors", XLA, factor, "householder", 2, 1},
    {"Eigh", XLA, eigh, "eigh", 1, 2},
};

/* Whose the target is, and the name behind their prefix. */
static int owner_of(const sw_ir_tree *t, sw_ir_span target, sw_ir_span *name) {
  static const struct {
    const char *text;
    uint32_t letters; /* of the type, behind it */
    int of;
  } kPrefixes[] = {{"lapack_", 1, LAPACK}, {"cusolver_", 0, SOLVER}, {"hipsolver_", 0, SOLVER}};
  *name = target;
  for (size_t i = 0; i < sizeof kPrefixes / sizeof *kPrefixes; i++) {
    uint32_t n = (uint32_t)strlen(kPrefixes[i].text);
    if (sw_ir_len(target) <= n + 1 || memcmp(t->s + target.at, kPrefixes[i].text, n) != 0) continue;
    name->at += n + kPrefixes[i].letters;
    return kPrefixes[i].of;
  }
  return XLA;
}

sw_rc sw_im_lapack(sw_importer *m, uint32_t op, sw_ir_span target, bool *done) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_ir_span name;
  int of = owner_of(m->t, target, &name);
  *done = false;
  for (size_t i = 0; i < sizeof kCalls / sizeof *kCalls; i++) {
    const call_row *c = &kCalls[i];
    if (!(c->of & of) || !sw_ir_is(m->t, name, c->name)) continue;
    if (o->n_uses != c->operands || sw_ir_result_count(m->t, o) != c->results) return SW_OK;
    sw_dtype t = sw_im_type(m, sw_im_operand(m, op, 0))->dtype;
    bool pivots = c->import == pivots_to_permutation;
    if (pivots ? t != SW_I32 : t != SW_F32 && t != SW_F64) return SW_OK; /* others are not factored */
    return c->import(m, op, c->how, done);
  }
  return SW_OK;
}
