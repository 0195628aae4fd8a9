/* Custom calls of LAPACK, which JAX writes for jax.numpy.linalg, as ops of the graph: those of CPUs, of CUDA's and
 * ROCm's libraries, and those that XLA itself expands.
 *
 *   lapack_strsm_ffi(a, b) {side, uplo, trans_x, diag}                 triangular_solve
 *   lapack_spotrf_ffi(a) {uplo}, cusolver_potrf_ffi(a) {lower}         cholesky; info from the NaN that it leaves
 *   lapack_sgetrf_ffi, sgeqrf, sorgqr, ssyevd, sgesdd, sgesvd          factor {lu, qr, householder, eigh, svd}
 *   cusolver_getrf_ffi, ...; Qr, ProductOfElementaryHouseholderReflectors, Eigh
 */
#include <string.h>

#include "io/mlir/lapack.h"
#include "io/mlir/lift.h"

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
  sw_id x[2], results[SW_MAX_RESULTS];
  bool svd = strcmp(how, "svd") == 0;
  char mode = letter_of(m, op, "mode", 'S');
  uint32_t n = sw_ir_result_count(m->t, o), first = svd ? 1 : 0; /* gesdd gives back its operand, destroyed */
  sw_im_attrs a = {.n = 0};
  if (o->n_uses > 2 || (svd && mode == 'N')) return SW_OK;
  for (uint32_t i = 0; i < o->n_uses; i++) x[i] = sw_im_operand(m, op, i);
  sw_im_text(&a, SW_ATTR_HOW, svd && mode == 'A' ? "full_svd" : how);
  sw_im_int(&a, SW_ATTR_LOWER, is_lower(m, op));
  sw_im_add add = {.code = SW_OP_FACTOR, .n_operands = (int)o->n_uses, .operands = x, .attrs = &a};
  *done = true;
  if (!svd) return sw_im_emit(m, op, &add, NULL);
  SW_TRY(sw_im_help_all(m, op, &add, n - first, results));
  SW_TRY(sw_im_result_is(m, op, 0, x[0]));
  for (uint32_t i = first; i < n; i++) SW_TRY(sw_im_result_is(m, op, i, results[i - first]));
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
    {"gesdd_ffi", LAPACK, factor, "svd", 1, 5},
    {"gesvd_ffi", LAPACK, factor, "svd", 1, 5},
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
    return t == SW_F32 || t == SW_F64 ? c->import(m, op, c->how, done) : SW_OK; /* others are not factored */
  }
  return SW_OK;
}
