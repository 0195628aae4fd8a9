/* Eigenvalues and singular values: the calls of each library give the results of one factor op in their own way.
 *
 *   lapack_sgeev_ffi(a)      real and imaginary parts of the eigenvalues, left and right vectors, info
 *   cusolver_geev_ffi(a)     a, eigenvalues, vectors with both parts of a conjugate pair as two real columns, info
 *   cusolver_gesvdj_ffi(a)   a, values, u, v where LAPACK gives the adjoint of v, info
 */
#include <string.h>

#include "mlir/lapack/lapack.h"
#include "mlir/import/tuple.h"
#include "mlir/import/import_emit.h"

static sw_rc factored(sw_importer *m, uint32_t op, const char *how, uint32_t results, sw_id *out) {
  sw_id x = sw_im_operand(m, op, 0);
  sw_im_attrs a = {.n = 0};
  sw_im_text(&a, SW_ATTR_HOW, how);
  sw_im_int(&a, SW_ATTR_LOWER, sw_im_call_lower(m, op));
  sw_im_text(&a, SW_ATTR_TARGET, sw_im_call_library(m, op));
  sw_im_add add = {.code = SW_OP_FACTOR, .n_operands = 1, .operands = &x, .attrs = &a};
  return sw_im_help_all(m, op, &add, results, out);
}

static sw_rc adjoint(sw_importer *m, uint32_t op, sw_id *x) {
  int64_t permutation[SW_MAX_RANK];
  int rank = sw_im_type(m, *x)->rank;
  for (int k = 0; k < rank; k++) permutation[k] = k < rank - 2 ? k : 2 * rank - 3 - k;
  SW_TRY(sw_im_permuted(m, op, *x, permutation, x));
  return sw_im_conjugate(m, op, *x, x);
}

/* Result `i` is nothing that counts: zeros. */
static sw_rc nothing(sw_importer *m, uint32_t op, uint32_t i, const sw_type *t) {
  sw_id zero;
  SW_TRY(sw_im_number(m, op, t->dtype, 0, t->rank, t->dims, &zero));
  return sw_im_result_is(m, op, i, zero);
}

/* The operand (destroyed), values, u, v adjoint (or, `how` "v", not) and info; thin or full, as u and v are. What was
 * not asked for is there all the same, or, where the text has no room for it, nothing. */
sw_rc sw_im_svd(sw_importer *m, uint32_t op, const char *how, bool *done) {
  sw_id x = sw_im_operand(m, op, 0), r[SW_MAX_RESULTS];
  sw_type t[2];
  int rank = sw_im_type(m, x)->rank;
  bool swapped = sw_im_call_number(m, op, "transposed", 0) != 0; /* v adjoint, then u */
  if (rank < 2) return SW_OK;
  for (int i = 0; i < 2; i++) SW_TRY(sw_im_result_type(m, op, 2 + i, &t[i]));
  const sw_type *u = &t[swapped], *v = &t[!swapped];
  bool there = u->rank == rank && v->rank == rank;
  bool full = there && u->dims[rank - 1] == u->dims[rank - 2] && v->dims[rank - 1] == v->dims[rank - 2];
  SW_TRY(factored(m, op, full ? "full_svd" : "svd", 4, r));
  if (strcmp(how, "v") == 0) SW_TRY(adjoint(m, op, &r[2]));
  *done = true;
  SW_TRY(sw_im_result_is(m, op, 0, x));
  SW_TRY(sw_im_result_is(m, op, 1, r[0]));
  for (uint32_t i = 0; i < 2; i++) {
    SW_TRY(there ? sw_im_result_is(m, op, 2 + i, r[1 + (i ^ swapped)]) : nothing(m, op, 2 + i, &t[i]));
  }
  SW_TRY(sw_im_result_is(m, op, 4, r[3]));
  return sw_im_annotate_results(m, op);
}

/* Of a conjugate pair the first column is the real part, the second the imaginary one of the first vector. */
static sw_rc pack_conjugate_pairs(sw_importer *m, uint32_t op, sw_id w, sw_id *v) {
  sw_type t = *sw_im_type(m, *v);
  int64_t kept[SW_MAX_RANK];
  sw_id part[2], zero, second;
  sw_im_attrs b = {.n = 0};
  SW_TRY(sw_im_parts_of(m, op, *v, part));
  SW_TRY(sw_im_one(m, op, SW_OP_NEGATE, part[1], &part[1]));
  SW_TRY(sw_im_one(m, op, SW_OP_IMAG, w, &second));
  sw_type parts = *sw_im_type(m, second);
  SW_TRY(sw_im_number(m, op, parts.dtype, 0, parts.rank, parts.dims, &zero));
  SW_TRY(sw_im_compared(m, op, "lt", second, zero, &second));
  for (int k = 0; k < t.rank - 1; k++) kept[k] = k < t.rank - 2 ? k : t.rank - 1;
  sw_im_shape(&b, &t);
  sw_im_numbers(&b, SW_ATTR_DIMS, kept, t.rank - 1);
  SW_TRY(sw_im_help(m, op, SW_OP_BROADCAST, 1, &second, &b, &second));
  return sw_im_choose(m, op, second, part[1], part[0], v);
}

/* LAPACK's real parts and imaginary parts of real matrices, else complex numbers. */
static sw_rc eigenvalues(sw_importer *m, uint32_t op, sw_id w, bool real, sw_id *out) {
  out[0] = w;
  return real ? sw_im_parts_of(m, op, w, out) : SW_OK;
}

sw_rc sw_im_eig(sw_importer *m, uint32_t op, const char *how, bool *done) {
  sw_id x = sw_im_operand(m, op, 0), r[SW_MAX_RESULTS], all[5];
  bool real = !sw_im_is_complex(m, x), packed = strcmp(how, "packed") == 0;
  uint32_t n = packed || real ? 5 : 4;
  if (sw_im_result_count(m, op) != n) return SW_OK;
  *done = true;
  SW_TRY(factored(m, op, "eig", 4, r));
  if (packed) {
    for (int i = 1; real && i < 3; i++) SW_TRY(pack_conjugate_pairs(m, op, r[0], &r[i]));
    return sw_im_results_are(m, op, (sw_id[]){x, r[0], r[1], r[2], r[3]}, n);
  }
  SW_TRY(eigenvalues(m, op, r[0], real, all));
  memcpy(all + 1 + real, r + 1, 3 * sizeof *r);
  return sw_im_results_are(m, op, all, n);
}

/* t, vectors, eigenvalues, how many were chosen (none: they are not sorted), info. */
sw_rc sw_im_schur(sw_importer *m, uint32_t op, const char *how, bool *done) {
  (void)how;
  sw_id r[SW_MAX_RESULTS], all[6];
  bool real = !sw_im_is_complex(m, sw_im_operand(m, op, 0));
  uint32_t n = real ? 6 : 5;
  if (sw_im_result_count(m, op) != n || sw_im_call_number(m, op, "sort", 'N') != 'N') return SW_OK;
  *done = true;
  SW_TRY(factored(m, op, "schur", 4, r));
  memcpy(all, r, 2 * sizeof *r);
  SW_TRY(eigenvalues(m, op, r[2], real, all + 2));
  sw_type info = *sw_im_type(m, r[3]);
  SW_TRY(sw_im_number(m, op, info.dtype, 0, info.rank, info.dims, &all[n - 2]));
  all[n - 1] = r[3];
  return sw_im_results_are(m, op, all, n);
}

/* Without info: (v, w). */
sw_rc sw_im_eigh(sw_importer *m, uint32_t op, const char *how, bool *done) {
  sw_id r[SW_MAX_RESULTS];
  *done = true;
  SW_TRY(factored(m, op, how, 3, r));
  return sw_im_results_are(m, op, r, 2);
}
