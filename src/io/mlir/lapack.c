/* Custom calls of LAPACK, which JAX writes for jax.numpy.linalg on CPUs, as ops of the graph.
 *
 *   lapack_strsm_ffi(a, b) {side, uplo, trans_x, diag}    triangular_solve
 *   lapack_spotrf_ffi(a) {uplo}                           cholesky; info from the NaN that it leaves
 *   lapack_sgetrf_ffi, sgeqrf, sorgqr, ssyevd, sgesdd     factor {lu, qr, householder, eigh, svd}
 */
#include <string.h>

#include "io/mlir/lapack.h"
#include "io/mlir/lift.h"

/* A letter among the call's settings, given by its number (76 : ui8 is L). */
static char letter_of(sw_importer *m, uint32_t op, const char *key, char absent) {
  sw_ir_span config = sw_ir_entry(m->t, sw_im_op(m, op)->attrs, "mhlo.backend_config"), v;
  int64_t n;
  if (!sw_ir_present(config)) config = sw_ir_attr(m->t, sw_im_op(m, op), "backend_config", NULL);
  if (!sw_ir_present(config)) return absent;
  v = sw_ir_entry(m->t, config, key);
  return sw_ir_present(v) && sw_ir_read_int(m->t, v, &n) && n > 0 && n < 128 ? (char)n : absent;
}

static sw_rc solve(sw_importer *m, uint32_t op, const char *how, bool *done) {
  (void)how;
  char trans = letter_of(m, op, "trans_x", 'N');
  sw_im_attrs a = {.n = 0};
  SW_TRY(sw_im_operand_count(m, op, 2, 2));
  sw_id x[2] = {sw_im_operand(m, op, 0), sw_im_operand(m, op, 1)};
  sw_im_int(&a, SW_ATTR_LEFT_SIDE, letter_of(m, op, "side", 'L') == 'L');
  sw_im_int(&a, SW_ATTR_LOWER, letter_of(m, op, "uplo", 'L') == 'L');
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
  sw_im_int(&a, SW_ATTR_LOWER, letter_of(m, op, "uplo", 'L') == 'L');
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
  sw_im_int(&a, SW_ATTR_LOWER, letter_of(m, op, "uplo", 'L') == 'L');
  sw_im_add add = {.code = SW_OP_FACTOR, .n_operands = (int)o->n_uses, .operands = x, .attrs = &a};
  *done = true;
  if (!svd) return sw_im_emit(m, op, &add, NULL);
  SW_TRY(sw_im_help_all(m, op, &add, n - first, results));
  SW_TRY(sw_im_result_is(m, op, 0, x[0]));
  for (uint32_t i = first; i < n; i++) SW_TRY(sw_im_result_is(m, op, i, results[i - first]));
  return sw_im_annotate_results(m, op);
}

static const struct {
  const char *name; /* behind lapack_ and the letter of the type */
  sw_rc (*import)(sw_importer *m, uint32_t op, const char *how, bool *done);
  const char *how;
  uint32_t operands, results;
} kCalls[] = {
    {"trsm_ffi", solve, NULL, 2, 1},    {"potrf_ffi", cholesky, NULL, 1, 2},        {"getrf_ffi", factor, "lu", 1, 3},
    {"geqrf_ffi", factor, "qr", 1, 2},  {"orgqr_ffi", factor, "householder", 2, 1}, {"syevd_ffi", factor, "eigh", 1, 3},
    {"gesdd_ffi", factor, "svd", 1, 5},
};

sw_rc sw_im_lapack(sw_importer *m, uint32_t op, sw_ir_span target, bool *done) {
  static const char kPrefix[] = "lapack_";
  const size_t n = sizeof kPrefix - 1;
  const sw_ir_op *o = sw_im_op(m, op);
  *done = false;
  if (sw_ir_len(target) < n + 2 || memcmp(m->t->s + target.at, kPrefix, n) != 0) return SW_OK;
  char type = m->t->s[target.at + n];
  if (type != 's' && type != 'd') return SW_OK; /* complex numbers are not factored */
  sw_ir_span name = {target.at + (uint32_t)n + 1, target.end};
  for (size_t i = 0; i < sizeof kCalls / sizeof *kCalls; i++) {
    if (!sw_ir_is(m->t, name, kCalls[i].name)) continue;
    bool fits = o->n_uses == kCalls[i].operands && sw_ir_result_count(m->t, o) == kCalls[i].results;
    return fits ? kCalls[i].import(m, op, kCalls[i].how, done) : SW_OK;
  }
  return SW_OK;
}
