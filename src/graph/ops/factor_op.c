/* factor and tridiagonal_solve: the last two dims are whole, those before are batches.
 *
 *   eig of f32[8,3,3]    eigenvalues c64[8,3], left and right vectors c64[8,3,3], info i32[8]
 *   tridiagonal_solve(dl[8,3], d[8,3], du[8,3], b[8,3,5])    d0 (8), d1 (5: columns of b by themselves), d2 (3, whole)
 */
#include <string.h>

#include "graph/ops/op_rules.h"

enum { MOST_RESULTS = 5 };

/* Results by their types and last dims: i32 (i), real (r), complex (c) or as the operand; m x n is "mn", k the smaller
 * one, e is n - 1. */
typedef struct factoring {
  const char *how;
  const char
      *given; /* operand 1: a factor for each reflector ("taus"), a number for each column ("columns"); or NULL */
  bool square, tall; /* what matrices have to be */
  const char *results[MOST_RESULTS];
  double flops; /* per element and k */
} factoring;
static const factoring kFactorings[] = {
    {"lu", NULL, false, false, {"mn", "ik", "i"}, 1},
    {"qr", NULL, false, false, {"mn", "k"}, 2},
    {"pivoted_qr", "columns", false, false, {"mn", "in", "k"}, 2},
    {"householder", "taus", false, true, {"mn"}, 2},
    {"eigh", NULL, true, false, {"mn", "rn", "i"}, 9},
    {"svd", NULL, false, false, {"rk", "mk", "kn", "i"}, 12},
    {"full_svd", NULL, false, false, {"rk", "mm", "nn", "i"}, 16},
    {"eig", NULL, true, false, {"cn", "cnn", "cnn", "i"}, 25},
    {"schur", NULL, true, false, {"nn", "nn", "cn", "i"}, 25},
    {"hessenberg", NULL, true, false, {"nn", "e", "i"}, 10.0 / 3},
    {"tridiagonal", NULL, true, false, {"nn", "rn", "re", "e", "i"}, 4.0 / 3},
};

static const factoring *factoring_of(const sw_rule_call *c) {
  for (size_t i = 0; i < sizeof kFactorings / sizeof *kFactorings; i++) {
    if (strcmp(kFactorings[i].how, sw_call_text(c, SW_ATTR_HOW)) == 0) return &kFactorings[i];
  }
  return NULL;
}

static sw_dtype dtype_of_result_kind(char kind, sw_dtype t) {
  bool wide = t == SW_F64 || t == SW_C128, complex = sw_dtype_class_of(t) == SW_CLASS_COMPLEX;
  if (kind == 'i') return SW_I32;
  if (kind == 'c') return wide ? SW_C128 : SW_C64;
  return kind == 'r' && complex ? wide ? SW_F64 : SW_F32 : t;
}

static sw_rc factor_result(sw_rule_call *c, const char *dims) {
  const sw_type *a = &c->operands[0];
  int64_t m = a->dims[a->rank - 2], n = a->dims[a->rank - 1], *out;
  sw_dtype t = dtype_of_result_kind(*dims, a->dtype);
  if (*dims && strchr("irc", *dims)) dims++;
  int batch = a->rank - 2, inner = (int)strlen(dims);
  SW_TRY(sw_call_result(c, t, batch + inner, &out));
  for (int i = 0; i < batch; i++) out[i] = a->dims[i];
  for (int i = 0; i < inner; i++) {
    out[batch + i] = dims[i] == 'm' ? m : dims[i] == 'n' ? n : dims[i] == 'k' ? (m < n ? m : n) : n > 0 ? n - 1 : 0;
  }
  return SW_OK;
}

/* Operand 1: one vector for each matrix. */
static sw_rc check_given_vectors(const sw_rule_call *c, bool taus) {
  const sw_type *a = &c->operands[0], *t = &c->operands[1];
  int64_t n = a->dims[a->rank - 1];
  bool fits = t->rank == a->rank - 1 && t->dtype == (taus ? a->dtype : SW_I32);
  for (int i = 0; fits && i < a->rank - 2; i++) fits = t->dims[i] == a->dims[i];
  if (fits) fits = taus ? t->dims[t->rank - 1] <= n : t->dims[t->rank - 1] == n;
  if (fits) return SW_OK;
  return SW_RULE_FAIL(c, "operand 1 has %d dims of %s and does not fit; expected a %s, in each batch", t->rank,
                      sw_dtype_text(t->dtype), taus ? "factor for each reflector" : "number (i32) for each column");
}

sw_rc sw_infer_factor(sw_rule_call *c) {
  const factoring *f = factoring_of(c);
  const sw_type *a = &c->operands[0];
  if (!f) {
    return SW_RULE_FAIL(c,
                        "'how' is '%s'; expected lu, qr, pivoted_qr, householder, eigh, svd, full_svd, eig, schur, "
                        "hessenberg or tridiagonal",
                        sw_call_text(c, SW_ATTR_HOW));
  }
  int operands = f->given ? 2 : 1;
  if (c->n_operands != operands) {
    return SW_RULE_FAIL(c, "there are %d operands; expected %d", c->n_operands, operands);
  }
  SW_TRY(sw_check_class(c, 0, SW_FLOATS | SW_COMPLEX));
  if (a->rank < 2) return SW_RULE_FAIL(c, "operand 0 has %d dims; expected matrices as the last two", a->rank);
  int64_t m = a->dims[a->rank - 2], n = a->dims[a->rank - 1];
  if (f->square && m != n) return SW_RULE_FAIL(c, "%s", "operand 0 has matrices that are not square");
  if (f->tall && m < n) return SW_RULE_FAIL(c, "%s", "operand 0 has fewer rows than columns");
  if (f->given) SW_TRY(check_given_vectors(c, strcmp(f->given, "taus") == 0));
  for (int r = 0; r < MOST_RESULTS && f->results[r]; r++) SW_TRY(factor_result(c, f->results[r]));
  return SW_OK;
}

void sw_nest_of_factor(const sw_rule_call *c, sw_nest_builder *b) {
  const sw_type *a = &c->operands[0];
  int64_t m = a->dims[a->rank - 2], n = a->dims[a->rank - 1];
  for (int i = 0; i < a->rank - 2; i++) {
    int loop = sw_nest_loop(b, a->dims[i], SW_LOOP_PARALLEL);
    for (int k = 0; k < c->n_operands; k++) sw_nest_set(b, k, i, loop);
    for (int r = 0; r < c->n_results; r++) sw_nest_set(b, sw_nest_result(b, r), i, loop);
  }
  for (int r = 0; r < c->n_results; r++) {
    for (int i = a->rank - 2; i < c->results[r].rank; i++) {
      sw_nest_set(b, sw_nest_result(b, r), i, sw_nest_loop(b, c->results[r].dims[i], SW_LOOP_WHOLE));
    }
  }
  sw_nest_total_flops(b, factoring_of(c)->flops * (double)sw_type_elements(a) * (double)(m < n ? m : n));
}

sw_rc sw_infer_tridiagonal_solve(sw_rule_call *c) {
  const sw_type *x = &c->operands[3];
  SW_TRY(sw_check_class(c, 3, SW_FLOATS | SW_COMPLEX));
  if (x->rank < 2) return SW_RULE_FAIL(c, "operand 3 has %d dims; expected matrices as the last two", x->rank);
  for (int k = 0; k < 3; k++) {
    const sw_type *t = &c->operands[k];
    bool fits = t->rank == x->rank - 1 && t->dtype == x->dtype;
    for (int i = 0; fits && i < t->rank; i++) fits = t->dims[i] == x->dims[i];
    if (!fits) return SW_RULE_FAIL(c, "operand %d does not fit operand 3; expected a number for each of its rows", k);
  }
  return sw_call_result_like(c, x->dtype, x);
}

/* Rows are whole; a column of the right-hand sides is solved for by itself. */
void sw_nest_of_tridiagonal_solve(const sw_rule_call *c, sw_nest_builder *b) {
  const sw_type *x = &c->operands[3];
  int rows = x->rank - 2;
  for (int i = 0; i < x->rank; i++) {
    int loop = sw_nest_loop(b, x->dims[i], i == rows ? SW_LOOP_WHOLE : SW_LOOP_PARALLEL);
    sw_nest_set(b, sw_nest_result(b, 0), i, loop);
    if (i == rows) continue;
    sw_nest_set(b, 3, i, loop);
    for (int k = 0; k < 3 && i < rows; k++) sw_nest_set(b, k, i, loop);
  }
  sw_nest_total_flops(b, 7 * (double)sw_type_elements(x));
}
