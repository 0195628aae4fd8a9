/* Custom calls of LAPACK, which JAX writes for jax.numpy.linalg, as ops of the graph: those of CPUs, of CUDA's and
 * ROCm's libraries, and those that XLA itself expands.
 *
 *   lapack_strsm_ffi(a, b) {side, uplo, trans_x, diag}                 triangular_solve
 *   lapack_spotrf_ffi(a) {uplo}, cusolver_potrf_ffi(a) {lower}         cholesky; info from the NaN that it leaves
 *   lapack_sgtsv_ffi(dl, d, du, b), cusparse_gtsv2_ffi                 tridiagonal_solve
 *   lapack_sgetrf_ffi, cgeqrf, zungqr, cusolver_getrf_ffi, Qr, ...     factor {lu, qr, householder, ...}
 *   lapack_sormqr_ffi(a, taus, c) {left, transpose}                    that product, and a contraction
 *
 * What a call leaves in an operand that it only works in is not given: that result is the operand.
 */
#include "mlir/lapack/lapack.h"

#include <string.h>

#include "mlir/import/dialect.h"
#include "mlir/import/import_emit.h"
#include "mlir/import/tuple.h"

static sw_ir_span config_of(sw_importer *m, uint32_t op) {
  sw_ir_span config = sw_ir_entry(m->t, sw_im_op(m, op)->attrs, "mhlo.backend_config");
  return sw_ir_present(config) ? config : sw_ir_attr(m->t, sw_im_op(m, op), "backend_config", NULL);
}

int64_t sw_im_call_number(sw_importer *m, uint32_t op, const char *key, int64_t absent) {
  sw_ir_span config = config_of(m, op), v;
  int64_t n;
  if (!sw_ir_present(config)) return absent;
  v = sw_ir_entry(m->t, config, key);
  return sw_ir_present(v) && sw_ir_read_int(m->t, v, &n) ? n : absent;
}

/* lapack, cuda or rocm. */
const char *sw_im_call_library(sw_importer *m, uint32_t op) {
  const sw_ir_span v = sw_ir_call_target(m->t, sw_im_op(m, op));
  return sw_ir_starts(m->t, v, "cu") ? "cuda" : sw_ir_starts(m->t, v, "hip") ? "rocm" : "lapack";
}

/* Which triangle counts: uplo = 76 : ui8, lower = true, or "1,..." in Eigh's settings. */
bool sw_im_call_lower(sw_importer *m, uint32_t op) {
  sw_ir_span config = config_of(m, op);
  if (!sw_ir_present(config)) return true;
  if (m->t->s[config.at] == '"') return m->t->s[config.at + 1] != '0';
  int64_t lower = sw_im_call_number(m, op, "lower", -1);
  return lower >= 0 ? lower != 0 : sw_im_call_number(m, op, "uplo", 'L') == 'L';
}

static sw_rc import_triangular_solve(sw_importer *m, uint32_t op, const char *how, bool *done) {
  (void)how;
  int64_t trans = sw_im_call_number(m, op, "trans_x", 'N');
  sw_im_attrs a = {.n = 0};
  SW_TRY(sw_im_operand_count(m, op, 2, 2));
  sw_id x[2] = {sw_im_operand(m, op, 0), sw_im_operand(m, op, 1)};
  sw_im_int(&a, SW_ATTR_LEFT_SIDE, sw_im_call_number(m, op, "side", 'L') == 'L');
  sw_im_int(&a, SW_ATTR_LOWER, sw_im_call_lower(m, op));
  sw_im_int(&a, SW_ATTR_UNIT_DIAGONAL, sw_im_call_number(m, op, "diag", 'N') == 'U');
  sw_im_text(&a, SW_ATTR_TRANSPOSE_A, trans == 'N' ? "none" : trans == 'C' ? "adjoint" : "transpose");
  *done = true;
  return sw_im_emit_op(m, op, SW_OP_TRIANGULAR_SOLVE, 2, x, &a);
}

/* LAPACK's info, of the matrices in x: 1 where there is a NaN. */
static sw_rc info_of(sw_importer *m, uint32_t op, sw_id x, sw_id *info) {
  int rank = sw_im_type(m, x)->rank;
  int64_t last[2] = {rank - 2, rank - 1};
  sw_id bad, any;
  sw_im_attrs a = {.n = 0};
  SW_TRY(sw_im_compared(m, op, "ne", x, x, &bad));
  sw_im_text(&a, SW_ATTR_KIND, sw_reduction_text(SW_REDUCE_OR));
  sw_im_numbers(&a, SW_ATTR_DIMS, last, 2);
  SW_TRY(sw_im_help(m, op, SW_OP_REDUCE, 1, &bad, &a, &any));
  return sw_im_converted(m, op, any, SW_I32, info);
}

/* A matrix that is not positive definite leaves NaN, which is what info tells. */
static sw_rc cholesky(sw_importer *m, uint32_t op, const char *how, bool *done) {
  (void)how;
  sw_id x = sw_im_operand(m, op, 0), l, info;
  sw_im_attrs a = {.n = 0};
  if (sw_im_result_count(m, op) != 2 || sw_im_type(m, x)->rank < 2) return SW_OK;
  sw_im_int(&a, SW_ATTR_LOWER, sw_im_call_lower(m, op));
  SW_TRY(sw_im_help(m, op, SW_OP_CHOLESKY, 1, &x, &a, &l));
  SW_TRY(info_of(m, op, l, &info));
  *done = true;
  SW_TRY(sw_im_result_is(m, op, 0, l));
  return sw_im_result_is(m, op, 1, info);
}

static sw_rc import_factor_call(sw_importer *m, uint32_t op, const char *how, bool *done) {
  const sw_id *x;
  int n;
  sw_im_attrs a = {.n = 0};
  SW_TRY(sw_im_operands(m, op, 0, &x, &n));
  sw_im_text(&a, SW_ATTR_HOW, how);
  sw_im_int(&a, SW_ATTR_LOWER, sw_im_call_lower(m, op));
  sw_im_text(&a, SW_ATTR_TARGET, sw_im_call_library(m, op));
  *done = true;
  return sw_im_emit_op(m, op, SW_OP_FACTOR, n, x, &a);
}

/* Of all rows and columns. */
static sw_rc import_hessenberg_call(sw_importer *m, uint32_t op, const char *how, bool *done) {
  const sw_type *t = sw_im_type(m, sw_im_operand(m, op, 0));
  int64_t n = t->rank < 2 ? 0 : t->dims[t->rank - 1];
  if (sw_im_call_number(m, op, "low", 1) != 1 || sw_im_call_number(m, op, "high", n) != n) return SW_OK;
  return import_factor_call(m, op, how, done);
}

/* Reflectors in a as a square matrix: columns of zeros behind, which none of them is in. */
static sw_rc pad_reflectors(sw_importer *m, uint32_t op, sw_id *a) {
  sw_type t = *sw_im_type(m, *a);
  int64_t low[SW_MAX_RANK] = {0}, high[SW_MAX_RANK] = {0};
  sw_im_attrs pad = {.n = 0};
  sw_id x[2] = {*a};
  high[t.rank - 1] = t.dims[t.rank - 2] - t.dims[t.rank - 1];
  SW_TRY(sw_im_number(m, op, t.dtype, 0, 0, NULL, &x[1]));
  sw_im_numbers(&pad, SW_ATTR_LOW, low, t.rank);
  sw_im_numbers(&pad, SW_ATTR_HIGH, high, t.rank);
  return sw_im_help(m, op, SW_OP_PAD, 2, x, &pad, a);
}

/* (a, taus, c): q c, or c q, or with the adjoint of q. */
static sw_rc multiply_by_reflectors(sw_importer *m, uint32_t op, const char *how, bool *done) {
  sw_id x[2] = {sw_im_operand(m, op, 0), sw_im_operand(m, op, 1)}, c = sw_im_operand(m, op, 2), q;
  const sw_type *t = sw_im_type(m, x[0]);
  int batch = t->rank - 2;
  bool left = sw_im_call_number(m, op, "left", sw_im_call_number(m, op, "side", 'L') == 'L') != 0;
  bool turned = sw_im_call_number(m, op, "transpose", 0) != 0;
  int64_t dims[SW_MAX_RANK], from[2];
  sw_im_attrs f = {.n = 0}, dot = {.n = 0};
  if (t->rank < 2 || t->dims[batch] < t->dims[batch + 1] || sw_im_type(m, c)->rank != t->rank) return SW_OK;
  *done = true;
  SW_TRY(pad_reflectors(m, op, &x[0]));
  sw_im_text(&f, SW_ATTR_HOW, how);
  sw_im_text(&f, SW_ATTR_TARGET, sw_im_call_library(m, op));
  SW_TRY(sw_im_help(m, op, SW_OP_FACTOR, 2, x, &f, &q));
  if (turned) SW_TRY(sw_im_conjugate(m, op, q, &q));
  for (int k = 0; k < batch; k++) dims[k] = k;
  from[0] = turned == left ? batch : batch + 1; /* of q */
  from[1] = left ? batch : batch + 1;           /* of c */
  sw_im_numbers(&dot, SW_ATTR_LHS_BATCH, dims, batch);
  sw_im_numbers(&dot, SW_ATTR_RHS_BATCH, dims, batch);
  sw_im_numbers(&dot, SW_ATTR_LHS_CONTRACT, &from[left ? 0 : 1], 1);
  sw_im_numbers(&dot, SW_ATTR_RHS_CONTRACT, &from[left ? 1 : 0], 1);
  sw_im_int(&dot, SW_ATTR_DTYPE, sw_im_type(m, c)->dtype);
  sw_im_add add = {
      .code = SW_OP_DOT, .n_operands = 2, .operands = left ? (sw_id[2]){q, c} : (sw_id[2]){c, q}, .attrs = &dot};
  return sw_im_is_complex(m, c) ? sw_im_by_parts(m, op, &add) : sw_im_emit(m, op, &add, NULL);
}

/* x of the four operands; LAPACK's call gives those first, and info: is the inverse times zeros NaN? */
static sw_rc tridiagonal_solve(sw_importer *m, uint32_t op, const char *how, bool *done) {
  (void)how;
  sw_id x[4], y, test, info;
  sw_im_attrs a = {.n = 0};
  for (uint32_t i = 0; i < 4; i++) x[i] = sw_im_operand(m, op, i);
  sw_type t = *sw_im_type(m, x[3]);
  uint32_t results = sw_im_result_count(m, op);
  if (t.rank < 2 || (results != 1 && results != 5)) return SW_OK;
  *done = true;
  sw_im_text(&a, SW_ATTR_TARGET, sw_im_call_library(m, op));
  sw_im_add add = {.code = SW_OP_TRIDIAGONAL_SOLVE, .n_operands = 4, .operands = x, .attrs = &a};
  if (results == 1) return sw_im_emit(m, op, &add, NULL);
  SW_TRY(sw_im_help(m, op, SW_OP_TRIDIAGONAL_SOLVE, 4, x, &a, &y));
  for (uint32_t i = 0; i < 3; i++) SW_TRY(sw_im_result_is(m, op, i, x[i]));
  SW_TRY(sw_im_result_is(m, op, 3, y));
  int64_t dims[SW_MAX_RANK];
  for (int k = 0; k < t.rank; k++) dims[k] = k < t.rank - 1 ? t.dims[k] : 1;
  SW_TRY(sw_im_number(m, op, t.dtype, 0, t.rank, dims, &x[3]));
  SW_TRY(sw_im_help(m, op, SW_OP_TRIDIAGONAL_SOLVE, 4, x, &a, &test));
  SW_TRY(info_of(m, op, test, &info));
  SW_TRY(sw_im_result_is(m, op, 4, info));
  return sw_im_annotate_results(m, op);
}

/* Whose calls have a name. */
enum { LAPACK = 1, SOLVER = 2, SPARSE = 4, HYBRID = 8, XLA = 16 };

typedef struct call_row {
  const char *name; /* behind lapack_ and the letter of the type, or behind cusolver_ and others' prefix */
  int of;
  sw_rc (*import)(sw_importer *m, uint32_t op, const char *how, bool *done);
  const char *how;
  uint32_t operands, results; /* no results: the importer looks */
} call_row;

static const call_row kCalls[] = {
    {"trsm_ffi", LAPACK, import_triangular_solve, NULL, 2, 1},
    {"potrf_ffi", LAPACK | SOLVER, cholesky, NULL, 1, 2},
    {"gtsv_ffi", LAPACK, tridiagonal_solve, NULL, 4, 5},
    {"gtsv2_ffi", SPARSE, tridiagonal_solve, NULL, 4, 1},
    {"getrf_ffi", LAPACK | SOLVER, import_factor_call, "lu", 1, 3},
    {"geqrf_ffi", LAPACK | SOLVER, import_factor_call, "qr", 1, 2},
    {"geqp3_ffi", LAPACK, import_factor_call, "pivoted_qr", 2, 3},
    {"geqp3", HYBRID, import_factor_call, "pivoted_qr", 2, 3},
    {"orgqr_ffi", LAPACK | SOLVER, import_factor_call, "householder", 2, 1},
    {"ungqr_ffi", LAPACK, import_factor_call, "householder", 2, 1},
    {"ormqr_ffi", LAPACK | SOLVER, multiply_by_reflectors, "householder", 3, 1},
    {"unmqr_ffi", LAPACK, multiply_by_reflectors, "householder", 3, 1},
    {"gehrd_ffi", LAPACK, import_hessenberg_call, "hessenberg", 1, 3},
    {"sytrd_ffi", LAPACK | SOLVER, import_factor_call, "tridiagonal", 1, 5},
    {"hetrd_ffi", LAPACK, import_factor_call, "tridiagonal", 1, 5},
    {"syevd_ffi", LAPACK | SOLVER, import_factor_call, "eigh", 1, 3},
    {"heevd_ffi", LAPACK, import_factor_call, "eigh", 1, 3},
    {"gesdd_ffi", LAPACK | SOLVER, sw_im_svd, "", 1, 5},
    {"gesvd_ffi", LAPACK | SOLVER, sw_im_svd, "", 1, 5},
    {"gesvdj_ffi", SOLVER, sw_im_svd, "v", 1, 5},
    {"gesvdp_ffi", SOLVER, sw_im_svd, "v", 1, 5},
    {"geev_ffi", LAPACK, sw_im_eig, "", 1, 0},
    {"geev_ffi", SOLVER, sw_im_eig, "packed", 1, 5},
    {"eig_real", HYBRID, sw_im_eig, "", 1, 5},
    {"eig_comp", HYBRID, sw_im_eig, "", 1, 4},
    {"gees_ffi", LAPACK, sw_im_schur, NULL, 1, 0},
    {"cu_lu_pivots_to_permutation", XLA, sw_im_pivots_to_permutation, NULL, 1, 1},
    {"hip_lu_pivots_to_permutation", XLA, sw_im_pivots_to_permutation, NULL, 1, 1},
    {"LuDecomposition", XLA, sw_im_lu_with_permutation, "lu", 1, 3},
    {"Qr", XLA, import_factor_call, "qr", 1, 2},
    {"ProductOfElementaryHouseholderReflectors", XLA, import_factor_call, "householder", 2, 1},
    {"Eigh", XLA, sw_im_eigh, "eigh", 1, 2},
};

/* Whose the target is, and the name behind their prefix. */
static int owner_of(const sw_ir_tree *t, sw_ir_span target, sw_ir_span *name) {
  static const struct {
    const char *text;
    uint32_t letters; /* of the type, behind it */
    int of;
  } kPrefixes[] = {{"lapack_", 1, LAPACK},   {"cusolver_", 0, SOLVER},  {"hipsolver_", 0, SOLVER},
                   {"cusparse_", 0, SPARSE}, {"hipsparse_", 0, SPARSE}, {"cuhybrid_", 0, HYBRID},
                   {"hiphybrid_", 0, HYBRID}};
  *name = target;
  for (size_t i = 0; i < sizeof kPrefixes / sizeof *kPrefixes; i++) {
    uint32_t n = (uint32_t)strlen(kPrefixes[i].text) + kPrefixes[i].letters;
    if (sw_ir_len(target) <= n || !sw_ir_starts(t, target, kPrefixes[i].text)) continue;
    name->at += n;
    return kPrefixes[i].of;
  }
  return XLA;
}

static sw_rc import_lapack_call(sw_importer *m, uint32_t op, sw_ir_span target, bool *done) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_ir_span name;
  int of = owner_of(m->t, target, &name);
  for (size_t i = 0; i < sizeof kCalls / sizeof *kCalls; i++) {
    const call_row *c = &kCalls[i];
    if (!(c->of & of) || !sw_ir_is(m->t, name, c->name)) continue;
    if (o->n_uses != c->operands || (c->results && sw_im_result_count(m, op) != c->results)) return SW_OK;
    sw_dtype t = sw_im_type(m, sw_im_operand(m, op, 0))->dtype;
    bool pivots = c->import == sw_im_pivots_to_permutation, wide = t == SW_F64 || t == SW_C128;
    if (pivots ? t != SW_I32 : !wide && t != SW_F32 && t != SW_C64) return SW_OK; /* others are not factored */
    return c->import(m, op, c->how, done);
  }
  return SW_OK;
}

static const sw_dialect_hooks kHooks = {.call = import_lapack_call};
const sw_dialect sw_dialect_lapack = {"lapack", NULL, 0, NULL, 0, &kHooks};
