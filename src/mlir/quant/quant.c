/* Quantized element types. A graph has their storage (whole numbers), and ops between it and what it stands for:
 *
 *   !quant.uniform<i8:f32, 0.5:3>     stored q stands for (q - 3) * 0.5
 *   !quant.uniform<i8<-127:127>:f32:1, {0.5, 0.25:3}>     a scale and a zero point for each index of dim 1
 *
 * StableHLO defines ops on them as ops on what they stand for, quantized again; so they are written out. Ops that only
 * move elements work on the storage.
 *
 *   %r = stablehlo.add %a, %b : tensor<4x!quant.uniform<i8:f32, 0.5>>
 *
 *   a' = (a - 0) * 0.5; b' = (b - 0) * 0.5; r' = add(a', b'); r = convert(round(clamp(-128, r' / 0.5 + 0, 127)))
 */
#include <stddef.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mlir/import/dialect.h"
#include "mlir/import/import_emit.h"

extern const sw_dialect sw_dialect_quant;

static const char kUniform[] = "!quant.uniform<";

/* --- types ------------------------------------------------------------------------------------------------------- */

typedef struct quant {
  sw_dtype storage, expressed;
  double min, max; /* of the storage */
  int axis;        /* -1: one scale for all */
  int n;           /* scales and zero points */
  const double *scale, *zero;
} quant;

/* Is the type of a value (tensor<...>, or the element alone) of a quantized element? Its element then. */
static bool quant_element(const sw_ir_tree *t, sw_ir_span type, sw_ir_span *element) {
  type = sw_ir_resolved(t, sw_ir_trimmed(t, type));
  if (sw_ir_starts(t, type, "tensor<")) {
    sw_ir_span inside = sw_ir_inside(t, type);
    const char *mark = memchr(t->s + inside.at, '!', sw_ir_len(inside));
    uint32_t cursor = 0;
    if (!mark) return false;
    inside.at = (uint32_t)(mark - t->s);
    if (!sw_ir_next_item(t, inside, &cursor, &type)) return false;
    type = sw_ir_resolved(t, type);
  }
  *element = type;
  return sw_ir_starts(t, type, kUniform);
}

typedef struct reader {
  const sw_ir_tree *t;
  uint32_t at, end;
  sw_diag *d;
} reader;

static sw_rc fail_quant_expected(const reader *r, const char *what) {
  return SW_FAIL_INPUT(r->d, sw_ir_place(r->t, r->at), "found '%.12s'; expected %s", r->t->s + r->at, what);
}

static bool accept_quant_char(reader *r, char c) {
  r->at = sw_ir_blanks(r->t->s, r->at);
  if (r->at >= r->end || r->t->s[r->at] != c) return false;
  r->at++;
  return true;
}

static sw_rc read_quant_number(reader *r, double *out) {
  char *end;
  r->at = sw_ir_blanks(r->t->s, r->at);
  *out = strtod(r->t->s + r->at, &end);
  if (end == r->t->s + r->at || end > r->t->s + r->end) return fail_quant_expected(r, "a number");
  r->at = (uint32_t)(end - r->t->s);
  return SW_OK;
}

/* i8, u8, i4<-7:7>. */
static sw_rc read_storage(reader *r, quant *q) {
  static const sw_dtype kSigned[] = {SW_I2, SW_I4, SW_I8, SW_I16, SW_I32};
  static const sw_dtype kUnsigned[] = {SW_U2, SW_U4, SW_U8, SW_U16, SW_U32};
  bool is_signed = accept_quant_char(r, 'i');
  double bits = 0;
  if (!is_signed && !accept_quant_char(r, 'u')) return fail_quant_expected(r, "a storage type like i8 or u8");
  (void)accept_quant_char(r, 'i'); /* ui8 */
  SW_TRY(read_quant_number(r, &bits));
  if (bits < 1 || bits > 32 || bits != floor(bits)) return fail_quant_expected(r, "a storage type of at most 32 bits");
  int size = 0;
  while (sw_dtype_bits(kSigned[size]) < (int)bits) size++;
  q->storage = is_signed ? kSigned[size] : kUnsigned[size];
  q->min = is_signed ? -ldexp(1, (int)bits - 1) : 0;
  q->max = ldexp(1, (int)bits - is_signed) - 1;
  if (!accept_quant_char(r, '<')) return SW_OK;
  SW_TRY(read_quant_number(r, &q->min));
  if (!accept_quant_char(r, ':')) return fail_quant_expected(r, "':'");
  SW_TRY(read_quant_number(r, &q->max));
  return accept_quant_char(r, '>') ? SW_OK : fail_quant_expected(r, "'>'");
}

static sw_rc read_expressed(reader *r, quant *q) {
  char text[16] = {0};
  if (!accept_quant_char(r, ':')) return fail_quant_expected(r, "':' and the type that is expressed");
  uint32_t at = sw_ir_blanks(r->t->s, r->at), end = sw_ir_name(r->t->s, at);
  if (end - at < sizeof text) memcpy(text, r->t->s + at, end - at);
  if (!sw_dtype_parse(text, &q->expressed) || sw_dtype_class_of(q->expressed) != SW_CLASS_FLOAT)
    return fail_quant_expected(r, "a floating-point type");
  r->at = end;
  q->axis = -1;
  if (!accept_quant_char(r, ':')) return SW_OK;
  double axis;
  SW_TRY(read_quant_number(r, &axis));
  q->axis = axis >= 0 && axis < SW_MAX_RANK ? (int)axis : SW_MAX_RANK;
  return SW_OK;
}

typedef SW_ARRAY(double) numbers;

static sw_rc read_scale(reader *r, numbers *scales, numbers *zeros) {
  double scale, zero = 0;
  SW_TRY(read_quant_number(r, &scale));
  if (accept_quant_char(r, ':')) SW_TRY(read_quant_number(r, &zero));
  if (!(scale > 0) || isinf(scale)) return fail_quant_expected(r, "scales above 0");
  SW_TRY(sw_array_push(scales, scale, r->d));
  return sw_array_push(zeros, zero, r->d);
}

static sw_rc read_scales(reader *r, bool listed, numbers *scales, numbers *zeros) {
  if (!accept_quant_char(r, ',')) return fail_quant_expected(r, "',' and a scale");
  if (!listed) return read_scale(r, scales, zeros);
  if (!accept_quant_char(r, '{')) return fail_quant_expected(r, "'{' and a scale for each index");
  do {
    SW_TRY(read_scale(r, scales, zeros));
  } while (accept_quant_char(r, ','));
  return accept_quant_char(r, '}') ? SW_OK : fail_quant_expected(r, "'}'");
}

static sw_rc read_quant(const sw_ir_tree *t, sw_ir_span element, sw_arena *arena, quant *out, sw_diag *d) {
  reader r = {t, element.at + (uint32_t)sizeof kUniform - 1, element.end, d};
  numbers scales = {0}, zeros = {0};
  *out = (quant){.axis = -1};
  sw_rc rc = read_storage(&r, out);
  if (!rc) rc = read_expressed(&r, out);
  if (!rc) rc = read_scales(&r, out->axis >= 0, &scales, &zeros);
  if (!rc && !accept_quant_char(&r, '>')) rc = fail_quant_expected(&r, "'>' (scales of blocks are not supported)");
  out->n = (int)scales.n;
  out->scale = rc ? NULL : sw_arena_copy(arena, scales.at, scales.n, sizeof *scales.at, d);
  out->zero = rc ? NULL : sw_arena_copy(arena, zeros.at, zeros.n, sizeof *zeros.at, d);
  sw_array_free(&scales);
  sw_array_free(&zeros);
  return rc ? rc : out->scale && out->zero ? SW_OK : SW_E_RESOURCE;
}

/* --- which values are --------------------------------------------------------------------------------------------- */

typedef struct state {
  bool any;                   /* the text has such types */
  bool expressed;             /* they are read as what they stand for */
  SW_ARRAY(sw_ir_span) types; /* by value: its element type; empty: none; not inherited */
} state;

static state *state_of(const sw_importer *m) { return sw_im_state_of(m, &sw_dialect_quant); }

static sw_ir_span quant_of(const sw_importer *m, sw_id value) {
  const state *s = state_of(m);
  return value >= 0 && (size_t)value < s->types.n ? s->types.at[value] : (sw_ir_span){0, 0};
}

static sw_rc set_quant(sw_importer *m, sw_id value, sw_ir_span element) {
  state *s = state_of(m);
  while (s->types.n <= (size_t)value) SW_TRY(sw_array_push(&s->types, ((sw_ir_span){0, 0}), m->d));
  s->types.at[value] = element;
  return SW_OK;
}

static sw_rc see_type(sw_importer *m, sw_id value, sw_ir_span type) {
  sw_ir_span element;
  return quant_element(m->t, type, &element) ? set_quant(m, value, element) : SW_OK;
}

static sw_rc hand_on(sw_importer *m, sw_id from, sw_id to) {
  sw_ir_span element = quant_of(m, from);
  return sw_ir_len(element) ? set_quant(m, to, element) : SW_OK;
}

static sw_rc open_quant_state(sw_importer *m) {
  state_of(m)->any = strstr(m->t->s, kUniform) != NULL;
  return SW_OK;
}

static void close_state(void *of) {
  state *s = of;
  sw_array_free(&s->types);
}

/* --- between storage and what it stands for ----------------------------------------------------------------------- */

/* Scales or zero points in a shape. */
static sw_rc spread_numbers(sw_importer *m, uint32_t op, const quant *q, const double *v, sw_dtype t,
                            const sw_type *shape, sw_id *out) {
  if (q->axis < 0) return sw_im_number(m, op, t, v[0], shape->rank, shape->dims, out);
  if (q->axis >= shape->rank || shape->dims[q->axis] != q->n)
    return SW_IM_FAIL(m, op, "a quantized type has %d scales for dim %d; expected one for each index", q->n, q->axis);
  char *bytes;
  int64_t n = q->n, size = sw_dtype_bytes(t);
  sw_im_attrs a = {.n = 0};
  sw_id list;
  SW_ARENA_NEW(bytes, &m->scratch, n * size, m->d);
  for (int i = 0; i < q->n; i++) sw_element_store(t, v[i], bytes + i * size);
  sw_im_value(&a, &(sw_type){t, 1, &n}, bytes, n == 1);
  SW_TRY(sw_im_help(m, op, SW_OP_CONSTANT, 0, NULL, &a, &list));
  return sw_im_spread(m, op, list, shape->rank, shape->dims, q->axis, out);
}

static bool has_no_zero_points(const quant *q) {
  for (int i = 0; i < q->n; i++) {
    if (q->zero[i] != 0) return false;
  }
  return true;
}

/* (x - zero) * scale; the difference in whole numbers. */
static sw_rc dequantize(sw_importer *m, uint32_t op, sw_id x, sw_id *out) {
  quant q;
  sw_id other;
  const sw_type shape = *sw_im_type(m, x);
  SW_TRY(read_quant(m->t, quant_of(m, x), &m->scratch, &q, m->d));
  if (!has_no_zero_points(&q)) {
    sw_dtype wide = sw_dtype_bytes(q.storage) < 4 ? SW_I32 : q.storage;
    if (wide != q.storage) SW_TRY(sw_im_converted(m, op, x, wide, &x));
    SW_TRY(spread_numbers(m, op, &q, q.zero, wide, &shape, &other));
    SW_TRY(sw_im_two(m, op, SW_OP_SUBTRACT, x, other, &x));
  }
  SW_TRY(sw_im_converted(m, op, x, q.expressed, &x));
  SW_TRY(spread_numbers(m, op, &q, q.scale, q.expressed, &shape, &other));
  return sw_im_two(m, op, SW_OP_MULTIPLY, x, other, out);
}

/* round(clamp(min, x / scale + zero, max)) */
static sw_rc quantize(sw_importer *m, uint32_t op, sw_id x, sw_ir_span element, sw_id *out) {
  quant q;
  sw_id other, bounds[3];
  const sw_type shape = *sw_im_type(m, x);
  SW_TRY(read_quant(m->t, element, &m->scratch, &q, m->d));
  if (shape.dtype != q.expressed) SW_TRY(sw_im_converted(m, op, x, q.expressed, &x));
  SW_TRY(spread_numbers(m, op, &q, q.scale, q.expressed, &shape, &other));
  SW_TRY(sw_im_two(m, op, SW_OP_DIVIDE, x, other, &x));
  if (!has_no_zero_points(&q)) {
    SW_TRY(spread_numbers(m, op, &q, q.zero, q.expressed, &shape, &other));
    SW_TRY(sw_im_two(m, op, SW_OP_ADD, x, other, &x));
  }
  SW_TRY(sw_im_number(m, op, q.expressed, q.min, 0, NULL, &bounds[0]));
  SW_TRY(sw_im_number(m, op, q.expressed, q.max, 0, NULL, &bounds[2]));
  bounds[1] = x;
  SW_TRY(sw_im_help(m, op, SW_OP_CLAMP, 3, bounds, NULL, &x));
  SW_TRY(sw_im_one(m, op, SW_OP_ROUND_EVEN, x, &x));
  SW_TRY(sw_im_converted(m, op, x, q.storage, out));
  return set_quant(m, *out, element);
}

/* --- ops ---------------------------------------------------------------------------------------------------------- */

static sw_rc uniform_quantize(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  sw_ir_span element;
  sw_id y;
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  sw_id x = sw_im_operand(m, op, 0);
  if (!quant_element(m->t, sw_ir_result_type(m->t, sw_im_op(m, op), 0), &element))
    return SW_IM_FAIL(m, op, "the result is not of a uniformly quantized type");
  if (sw_ir_len(quant_of(m, x))) SW_TRY(dequantize(m, op, x, &x));
  SW_TRY(quantize(m, op, x, element, &y));
  SW_TRY(sw_im_result_is(m, op, 0, y));
  SW_TRY(set_quant(m, *sw_im_result(m, op, 0), element));
  return sw_im_annotate_results(m, op);
}

static sw_rc uniform_dequantize(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  sw_id y;
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  sw_id x = sw_im_operand(m, op, 0);
  if (!sw_ir_len(quant_of(m, x))) return SW_IM_FAIL(m, op, "the operand is not of a uniformly quantized type");
  SW_TRY(dequantize(m, op, x, &y));
  return sw_im_results_are(m, op, &y, 1);
}

/* The operands as what they stand for, the op, its results quantized. */
static sw_rc written_out(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_id *slots = sw_im_here(m)->slots;
  const sw_id *before;
  sw_ir_span element;
  int n;
  SW_TRY(sw_im_operands(m, op, 0, &before, &n));
  for (uint32_t i = 0; i < o->n_uses; i++) {
    sw_id *slot = &slots[m->names->use[o->first_use + i]];
    if (*slot == before[i] && sw_ir_len(quant_of(m, *slot))) SW_TRY(dequantize(m, op, *slot, slot));
  }
  state_of(m)->expressed = true;
  SW_TRY(row->import(m, row, op));
  state_of(m)->expressed = false;
  for (uint32_t i = 0; i < o->n_uses; i++) slots[m->names->use[o->first_use + i]] = before[i];
  for (uint32_t i = 0; i < sw_ir_result_count(m->t, o); i++) {
    sw_id y;
    if (!quant_element(m->t, sw_ir_result_type(m->t, o, (int)i), &element)) continue;
    SW_TRY(quantize(m, op, *sw_im_result(m, op, i), element, &y));
    SW_TRY(sw_im_bind(m, op, i, y, true));
  }
  return SW_OK;
}

/* An op some of whose operands or results are quantized. */
static sw_rc take_quantized_op(sw_importer *m, const sw_ir_row *row, uint32_t op, bool *done) {
  const sw_ir_op *o = sw_im_op(m, op);
  bool touched = false;
  sw_ir_span element;
  if (!state_of(m)->any || m->vectorized) return SW_OK;
  for (uint32_t i = 0; i < o->n_uses && !touched; i++) touched = sw_ir_len(quant_of(m, sw_im_operand(m, op, i))) > 0;
  uint32_t n = sw_ir_result_count(m->t, o);
  for (uint32_t i = 0; i < n && !touched; i++)
    touched = quant_element(m->t, sw_ir_result_type(m->t, o, (int)i), &element);
  if (!touched) return SW_OK;
  if (row && !(row->flags & SW_IR_STORAGE)) {
    *done = true;
    return written_out(m, row, op);
  }
  if (row && row->import == sw_im_return) return SW_OK;
  size_t depth = sw_im_depth(m);
  *done = true;
  SW_TRY(sw_im_import_by_row(m, row, op));
  for (uint32_t i = 0; i < n && sw_im_depth(m) == depth; i++) {
    sw_id *slot = sw_im_result(m, op, i);
    if (slot && *slot >= 0) SW_TRY(see_type(m, *slot, sw_ir_result_type(m->t, o, (int)i)));
  }
  return SW_OK;
}

/* --- the dialect -------------------------------------------------------------------------------------------------- */

static sw_rc read_storage_type(const sw_ir_tree *t, sw_ir_span type, sw_dtype *out, bool *known, sw_diag *d) {
  sw_ir_span element;
  quant q;
  sw_arena scratch = {0};
  *known = quant_element(t, type, &element);
  if (!*known) return SW_OK;
  sw_rc rc = read_quant(t, element, &scratch, &q, d);
  sw_arena_deinit(&scratch);
  *out = q.storage;
  return rc;
}

static sw_rc result_type(sw_importer *m, sw_ir_span type, sw_type *out) {
  sw_ir_span element;
  quant q;
  if (!state_of(m)->expressed || !quant_element(m->t, type, &element)) return SW_OK;
  SW_TRY(read_quant(m->t, element, &m->scratch, &q, m->d));
  out->dtype = q.expressed;
  return SW_OK;
}

static const sw_ir_row kRows[] = {
    {"uniform_quantize", uniform_quantize, .flags = SW_IR_STORAGE},
    {"uniform_dequantize", uniform_dequantize, .flags = SW_IR_STORAGE},
};

static const sw_dialect_hooks kHooks = {.state_bytes = sizeof(state),
                                        .inherited_bytes = offsetof(state, types),
                                        .open = open_quant_state,
                                        .close = close_state,
                                        .take = take_quantized_op,
                                        .typed = see_type,
                                        .handed = hand_on,
                                        .element = read_storage_type,
                                        .result_type = result_type};
const sw_dialect sw_dialect_quant = {"quant", SW_IR_ROWS(kRows), NULL, 0, &kHooks};
