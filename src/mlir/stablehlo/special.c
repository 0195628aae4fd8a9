/* Ops that few programs have: random bits, factors of matrices, Fourier transforms, old forms. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "mlir/stablehlo/vectorize.h"
#include "mlir/stablehlo/stablehlo.h"

/* Integers of other widths as a vector of ui64, or (`back`) such a vector as what it was; the lower half comes first.
 */
static sw_rc as_words(sw_importer *m, uint32_t op, sw_id x, const sw_type *was, bool back, sw_id *out) {
  int64_t parts = 64 / sw_dtype_bits(was->dtype), pairs[2] = {was->dims[0] / parts, parts};
  sw_im_attrs a = {.n = 0};
  sw_im_int(&a, SW_ATTR_DTYPE, back ? was->dtype : SW_U64);
  if (!back && parts > 1) SW_TRY(sw_im_reshaped(m, op, x, 2, pairs, &x));
  SW_TRY(sw_im_help(m, op, SW_OP_BITCAST, 1, &x, &a, out));
  return back && parts > 1 ? sw_im_reshaped(m, op, *out, 1, was->dims, out) : SW_OK;
}

/* Is it a state that is some words of 64 bits? */
static bool has_words(const sw_type *t) {
  sw_dtype_class class = sw_dtype_class_of(t->dtype);
  bool integer = class == SW_CLASS_SIGNED || class == SW_CLASS_UNSIGNED;
  return t->rank == 1 && integer && sw_dtype_bits(t->dtype) >= 8 && t->dims[0] * sw_dtype_bits(t->dtype) % 64 == 0;
}

static sw_rc rng_of_words(sw_importer *m, uint32_t op, sw_opcode code, sw_id state, const sw_im_attrs *a) {
  const sw_type was = *sw_im_type(m, state);
  sw_id r[SW_MAX_RESULTS];
  SW_TRY(as_words(m, op, state, &was, false, &state));
  SW_TRY(sw_im_help_all(m, op, &(sw_im_add){.code = code, .n_operands = 1, .operands = &state, .attrs = a}, 2, r));
  SW_TRY(as_words(m, op, r[0], &was, true, &r[0]));
  return sw_im_results_are(m, op, r, 2);
}

sw_rc sw_im_rng_bits(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_type bits;
  sw_im_attrs a = {.n = 0};
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  sw_id state = sw_im_operand(m, op, 0);
  const sw_type *type = &m->g->values[state].type;
  bool words = type->dtype == SW_U64 && type->rank == 1;
  if (!words && !has_words(type)) return sw_im_opaque(m, op, "stablehlo.rng_bit_generator (another state)");
  SW_TRY(sw_im_result_type(m, op, 1, &bits));
  sw_im_shape(&a, &bits);
  sw_im_int(&a, SW_ATTR_DTYPE, bits.dtype);
  sw_im_text(&a, SW_ATTR_ALGORITHM, sw_im_small_word(m, sw_ir_attr(m->t, o, "rng_algorithm", "algorithm")));
  if (!words) return rng_of_words(m, op, row->code, state, &a);
  return sw_im_emit_op(m, op, row->code, 1, &state, &a);
}

static sw_rc add_flag(sw_importer *m, uint32_t op, const char *name, sw_attr_key key, sw_im_attrs *a) {
  int64_t v;
  sw_ir_span at = sw_ir_attr(m->t, sw_im_op(m, op), name, name);
  SW_TRY(sw_im_whole(m, at, "true or false", name, &v));
  if (sw_ir_present(at)) sw_im_int(a, key, v);
  return SW_OK;
}

sw_rc sw_im_triangular_solve(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  static const char *const kSaid[] = {"no_transpose", "transpose", "adjoint", ""};
  static const char *const kTransposes[] = {"none", "transpose", "adjoint", "none"};
  sw_im_attrs a = {.n = 0};
  SW_TRY(sw_im_operand_count(m, op, 2, 2));
  sw_id x[2] = {sw_im_operand(m, op, 0), sw_im_operand(m, op, 1)};
  SW_TRY(add_flag(m, op, "left_side", SW_ATTR_LEFT_SIDE, &a));
  SW_TRY(add_flag(m, op, "lower", SW_ATTR_LOWER, &a));
  SW_TRY(add_flag(m, op, "unit_diagonal", SW_ATTR_UNIT_DIAGONAL, &a));
  sw_ir_span at = sw_ir_attr(m->t, sw_im_op(m, op), "transpose_a", "transpose_a");
  const char *how = sw_im_small_word(m, at);
  int which = 0;
  while (which < 4 && strcmp(how, kSaid[which]) != 0) which++;
  if (which == 4) {
    return SW_IM_FAIL_AT(m, at.at, "expected NO_TRANSPOSE, TRANSPOSE or ADJOINT as 'transpose_a'");
  }
  sw_im_text(&a, SW_ATTR_TRANSPOSE_A, kTransposes[which]);
  return sw_im_emit_op(m, op, row->code, 2, x, &a);
}

/* stablehlo.broadcast: new dims in front. */
sw_rc sw_im_old_broadcast(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  sw_im_attrs a = {.n = 0};
  sw_type t;
  int64_t dims[SW_MAX_RANK];
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  SW_TRY(sw_im_result_type(m, op, 0, &t));
  sw_id x = sw_im_operand(m, op, 0);
  int rank = m->g->values[x].type.rank, n;
  const int64_t *sizes = NULL;
  SW_TRY(sw_im_list(m, sw_ir_attr(m->t, sw_im_op(m, op), "broadcast_sizes", "sizes"), &sizes, &n));
  bool same = n < 0 || n == t.rank - rank;
  for (int k = 0; k < n && same; k++) same = sizes[k] == t.dims[k];
  if (!same) return SW_IM_FAIL(m, op, "the first dims of the result are not of the sizes in 'broadcast_sizes'");
  for (int k = 0; k < rank; k++) dims[k] = t.rank - rank + k;
  sw_im_shape(&a, &t);
  sw_im_numbers(&a, SW_ATTR_DIMS, dims, rank);
  return sw_im_emit_op(m, op, row->code, 1, &x, &a);
}

/* The equation with capital letters, which it may not have itself, in place of `...`: as many as the operand has more
 * dims, the last ones of those that the result has. */
static sw_rc write_dots_out(sw_importer *m, uint32_t op, const sw_id *x, const char **equation) {
  static const char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  int dots[2] = {0, 0}, most = 0;
  uint32_t n = sw_im_op(m, op)->n_uses, term = 0;
  sw_text text = {0};
  for (const char *at = *equation; *at && *at != '-'; at++) {
    if (*at == ',' && ++term == n) break;
    if (isalpha((unsigned char)*at)) dots[term]--;
  }
  for (uint32_t i = 0; i < n; i++) dots[i] += sw_im_type(m, x[i])->rank;
  for (uint32_t i = 0; i < n; i++) most = dots[i] > most ? dots[i] : most;
  if (most > 26 || strpbrk(*equation, kLetters)) {
    return SW_IM_FAIL(m, op, "the equation leaves out %d dims; expected at most 26, and small letters", most);
  }
  term = 0;
  for (const char *at = *equation; *at; at++) {
    if (strncmp(at, "->", 2) == 0) term = n;
    if (*at == ',') term++;
    bool here = strncmp(at, "...", 3) == 0;
    for (int k = here && term < n ? most - dots[term] : 0; here && k < most; k++)
      sw_text_append(&text, &kLetters[k], 1);
    if (here)
      at += 2;
    else
      sw_text_append(&text, at, 1);
  }
  *equation = text.rc ? NULL : sw_arena_printf(&m->scratch, m->d, "%s", sw_text_str(&text));
  sw_text_free(&text);
  return *equation ? SW_OK : SW_E_RESOURCE;
}

sw_rc sw_im_einsum(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_im_attrs a = {.n = 0};
  SW_TRY(sw_im_operand_count(m, op, 1, 2));
  const sw_id *x;
  int n;
  SW_TRY(sw_im_operands(m, op, 0, &x, &n));
  sw_ir_span equation = sw_ir_unquoted(m->t, sw_ir_attr(m->t, o, "einsum_config", "config"));
  const char *text = sw_im_string(m, equation);
  if (text && strstr(text, "...")) SW_TRY(write_dots_out(m, op, x, &text));
  sw_im_text(&a, SW_ATTR_EQUATION, text);
  return sw_im_emit_op(m, op, row->code, n, x, &a);
}

/* Sizes are known. */
sw_rc sw_im_dimension_size(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  sw_im_attrs a = {.n = 0};
  sw_type t;
  int64_t dim = -1;
  int32_t *size;
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  SW_TRY(sw_im_result_type(m, op, 0, &t));
  const sw_type *x = &m->g->values[sw_im_operand(m, op, 0)].type;
  sw_ir_span at = sw_ir_attr(m->t, sw_im_op(m, op), "dimension", "dim");
  if (!sw_ir_present(at) || !sw_ir_read_int(m->t, at, &dim) || dim < 0 || dim >= x->rank || t.dtype != SW_I32 || t.rank)
    return SW_IM_FAIL(m, op, "expected a dim of the operand, and an i32 as result");
  if (x->dims[dim] < 0)
    return SW_IM_FAIL(m, op, "dim %lld of the operand has a size that is not known ('?'); planning needs all sizes",
                      (long long)dim);
  SW_ARENA_NEW(size, &m->scratch, 1, m->d);
  *size = (int32_t)x->dims[dim];
  sw_im_value(&a, &t, size, true);
  return sw_im_emit_op(m, op, row->code, 0, NULL, &a);
}
