/* Factoring and solving: the last two dims are whole, those before are batches.
 *
 *   triangular_solve(a[2,3,3], b[2,3,5])   d0 (2), d1 (5: columns of b are solved for by themselves), d2 (3, whole)
 *                                          a (d0,0,0), b (d0,0,d1), result (d0,d2,d1)
 */
#include <math.h>
#include <string.h>

#include "graph/ops/op_rules.h"

static sw_rc check_matrices(const sw_rule_call *c) {
  const sw_type *a = &c->operands[0];
  SW_TRY(sw_check_class(c, 0, SW_FLOATS | SW_COMPLEX));
  if (a->rank >= 2 && a->dims[a->rank - 1] == a->dims[a->rank - 2]) return SW_OK;
  return SW_RULE_FAIL(c, "operand 0 has %d dims%s; expected square matrices as the last two", a->rank,
                      a->rank < 2 ? "" : ", the last two of different size");
}

sw_rc sw_infer_cholesky(sw_rule_call *c) {
  SW_TRY(check_matrices(c));
  return sw_call_result_like(c, c->operands[0].dtype, &c->operands[0]);
}

void sw_nest_of_cholesky(const sw_rule_call *c, sw_nest_builder *b) {
  const sw_type *a = &c->operands[0];
  for (int i = 0; i < a->rank; i++) {
    bool batch = i < a->rank - 2;
    int loop = sw_nest_loop(b, a->dims[i], batch ? SW_LOOP_PARALLEL : SW_LOOP_WHOLE);
    if (batch) sw_nest_set(b, 0, i, loop);
    sw_nest_set(b, sw_nest_result(b, 0), i, loop);
  }
  sw_nest_total_flops(b, (double)sw_type_elements(a) * (double)a->dims[a->rank - 1] / 3);
}

static sw_rc check_transpose(const sw_rule_call *c) {
  const char *word = sw_call_text(c, SW_ATTR_TRANSPOSE_A);
  if (strcmp(word, "none") == 0 || strcmp(word, "transpose") == 0 || strcmp(word, "adjoint") == 0) return SW_OK;
  return SW_RULE_FAIL(c, "'transpose' is '%s'; expected none, transpose or adjoint", word);
}

/* The dim of b that the matrix acts on. */
static int solved_dim(const sw_rule_call *c) {
  return c->operands[1].rank - (sw_call_int(c, SW_ATTR_LEFT_SIDE) ? 2 : 1);
}

sw_rc sw_infer_triangular_solve(sw_rule_call *c) {
  const sw_type *a = &c->operands[0], *x = &c->operands[1];
  SW_TRY(check_matrices(c));
  SW_TRY(check_transpose(c));
  SW_TRY(sw_check_same_dtype(c, 0, 1));
  bool fits = x->rank == a->rank && x->dims[solved_dim(c)] == a->dims[a->rank - 1];
  for (int i = 0; fits && i < a->rank - 2; i++) fits = a->dims[i] == x->dims[i];
  if (!fits) {
    return SW_RULE_FAIL(c, "operand 1 does not fit matrices of size %lld; expected it in dim %s, and the same batches",
                        (long long)a->dims[a->rank - 1], sw_call_int(c, SW_ATTR_LEFT_SIDE) ? "-2" : "-1");
  }
  return sw_call_result_like(c, x->dtype, x);
}

void sw_nest_of_triangular_solve(const sw_rule_call *c, sw_nest_builder *b) {
  const sw_type *x = &c->operands[1];
  for (int i = 0; i < x->rank; i++) {
    bool whole = i == solved_dim(c);
    int loop = sw_nest_loop(b, x->dims[i], whole ? SW_LOOP_WHOLE : SW_LOOP_PARALLEL);
    if (i < x->rank - 2) sw_nest_set(b, 0, i, loop);
    if (!whole) sw_nest_set(b, 1, i, loop);
    sw_nest_set(b, sw_nest_result(b, 0), i, loop);
  }
  sw_nest_total_flops(b, (double)sw_type_elements(x) * (double)x->dims[solved_dim(c)]);
}

/* --- fft --------------------------------------------------------------------------------------------------------- */

typedef struct transform {
  const char *name;
  bool from_real, to_real;
} transform;
static const transform kTransforms[] = {
    {"fft", false, false}, {"ifft", false, false}, {"rfft", true, false}, {"irfft", false, true}};

static const transform *transform_of(const sw_rule_call *c) {
  for (int i = 0; i < 4; i++) {
    if (strcmp(kTransforms[i].name, sw_call_text(c, SW_ATTR_FFT_TYPE)) == 0) return &kTransforms[i];
  }
  return NULL;
}

static sw_rc check_lengths(const sw_rule_call *c, const transform *t) {
  int n;
  const sw_type *x = &c->operands[0];
  const int64_t *length = sw_call_ints(c, SW_ATTR_FFT_LENGTH, &n);
  if (n < 1 || n > x->rank) {
    return SW_RULE_FAIL(c, "'fft_length' has %d numbers; expected 1 to %d, one per transformed dim", n, x->rank);
  }
  for (int i = 0; i < n; i++) {
    int64_t want = t->to_real && i == n - 1 ? length[i] / 2 + 1 : length[i];
    if (length[i] >= 0 && x->dims[x->rank - n + i] == want) continue;
    return SW_RULE_FAIL(c, "dim %d has size %lld; expected %lld, from 'fft_length'", x->rank - n + i,
                        (long long)x->dims[x->rank - n + i], (long long)want);
  }
  return SW_OK;
}

sw_rc sw_infer_fft(sw_rule_call *c) {
  const sw_type *x = &c->operands[0];
  const transform *t = transform_of(c);
  if (!t) {
    return SW_RULE_FAIL(c, "'fft_type' is '%s'; expected fft, ifft, rfft or irfft", sw_call_text(c, SW_ATTR_FFT_TYPE));
  }
  SW_TRY(sw_check_class(c, 0, t->from_real ? SW_FLOATS : SW_COMPLEX));
  if (t->from_real && x->dtype != SW_F32 && x->dtype != SW_F64) {
    return SW_RULE_FAIL(c, "operand 0 is %s; expected f32 or f64", sw_dtype_text(x->dtype));
  }
  SW_TRY(check_lengths(c, t));
  bool wide = x->dtype == SW_F64 || x->dtype == SW_C128;
  SW_TRY(sw_call_result_like(c, t->to_real ? (wide ? SW_F64 : SW_F32) : wide ? SW_C128 : SW_C64, x));
  int n;
  int64_t last = sw_call_ints(c, SW_ATTR_FFT_LENGTH, &n)[n - 1], *dims = (int64_t *)c->results[0].dims;
  dims[x->rank - 1] = t->from_real ? last / 2 + 1 : last;
  return SW_OK;
}

void sw_nest_of_fft(const sw_rule_call *c, sw_nest_builder *b) {
  int n;
  const int64_t *length = sw_call_ints(c, SW_ATTR_FFT_LENGTH, &n);
  const sw_type *r = &c->results[0];
  for (int i = 0; i < r->rank; i++) {
    bool batch = i < r->rank - n;
    int loop = sw_nest_loop(b, r->dims[i], batch ? SW_LOOP_PARALLEL : SW_LOOP_WHOLE);
    if (batch) sw_nest_set(b, 0, i, loop);
    sw_nest_set(b, sw_nest_result(b, 0), i, loop);
  }
  sw_nest_linear(b, 1, SW_REDUCE_SUM);
  double depth = 0;
  for (int i = 0; i < n; i++) depth += log2((double)(length[i] > 1 ? length[i] : 2));
  sw_nest_total_flops(b, 5 * depth * (double)sw_type_elements(r));
}
