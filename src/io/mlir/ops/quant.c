/* Quantized values (quant.h): which they are, and ops on them written out.
 *
 *   %r = stablehlo.add %a, %b : tensor<4x!quant.uniform<i8:f32, 0.5>>
 *
 *   a' = (a - 0) * 0.5; b' = (b - 0) * 0.5; r' = add(a', b'); r = convert(round(clamp(-128, r' / 0.5 + 0, 127)))
 */
#include "io/mlir/ops/quant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/mlir/regions/lift.h"
#include "shardwright/scalar.h"

static const char kUniform[] = "!quant.uniform<";

/* --- types ------------------------------------------------------------------------------------------------------- */

bool sw_ir_quant_element(const sw_ir_tree *t, sw_ir_span type, sw_ir_span *element) {
  type = sw_ir_resolved(t, sw_ir_trimmed(t, type));
  if (sw_ir_len(type) > 7 && memcmp(t->s + type.at, "tensor<", 7) == 0) {
    sw_ir_span inside = sw_ir_inside(t, type);
    const char *mark = memchr(t->s + inside.at, '!', sw_ir_len(inside));
    uint32_t cursor = 0;
    if (!mark) return false;
    inside.at = (uint32_t)(mark - t->s);
    if (!sw_ir_next_item(t, inside, &cursor, &type)) return false;
    type = sw_ir_resolved(t, type);
  }
  *element = type;
  return sw_ir_len(type) > sizeof kUniform - 1 && memcmp(t->s + type.at, kUniform, sizeof kUniform - 1) == 0;
}

typedef struct reader {
  const sw_ir_tree *t;
  uint32_t at, end;
  sw_diag *d;
} reader;

static sw_rc expected(const reader *r, const char *what) {
  return SW_FAIL_INPUT(r->d, sw_ir_place(r->t, r->at), "found '%.12s'; expected %s", r->t->s + r->at, what);
}

static bool accept(reader *r, char c) {
  r->at = sw_ir_blanks(r->t->s, r->at);
  if (r->at >= r->end || r->t->s[r->at] != c) return false;
  r->at++;
  return true;
}

static sw_rc read_number(reader *r, double *out) {
  char *end;
  r->at = sw_ir_blanks(r->t->s, r->at);
  *out = strtod(r->t->s + r->at, &end);
  if (end == r->t->s + r->at || end > r->t->s + r->end) return expected(r, "a number");
  r->at = (uint32_t)(end - r->t->s);
  return SW_OK;
}

/* i8, u8, i4<-7:7>. */
static sw_rc read_storage(reader *r, sw_ir_quant *q) {
  static const sw_dtype kSigned[] = {SW_I2, SW_I4, SW_I8, SW_I16, SW_I32};
  static const sw_dtype kUnsigned[] = {SW_U2, SW_U4, SW_U8, SW_U16, SW_U32};
  bool is_signed = accept(r, 'i');
  double bits = 0;
  if (!is_signed && !accept(r, 'u')) return expected(r, "a storage type like i8 or u8");
  (void)accept(r, 'i'); /* ui8 */
  SW_TRY(read_number(r, &bits));
  if (bits < 1 || bits > 32 || bits != floor(bits)) return expected(r, "a storage type of at most 32 bits");
  int size = 0;
  while (sw_dtype_bits(kSigned[size]) < (int)bits) size++;
  q->storage = is_signed ? kSigned[size] : kUnsigned[size];
  q->min = is_signed ? -ldexp(1, (int)bits - 1) : 0;
  q->max = ldexp(1, (int)bits - is_signed) - 1;
  if (!accept(r, '<')) return SW_OK;
  SW_TRY(read_number(r, &q->min));
  if (!accept(r, ':')) return expected(r, "':'");
  SW_TRY(read_number(r, &q->max));
  return accept(r, '>') ? SW_OK : expected(r, "'>'");
}

static sw_rc read_expressed(reader *r, sw_ir_quant *q) {
  char text[16] = {0};
  if (!accept(r, ':')) return expected(r, "':' and the type that is expressed");
  uint32_t at = sw_ir_blanks(r->t->s, r->at), end = sw_ir_name(r->t->s, at);
  if (end - at < sizeof text) memcpy(text, r->t->s + at, end - at);
  if (!sw_dtype_parse(text, &q->expressed) || sw_dtype_class_of(q->expressed) != SW_CLASS_FLOAT)
    return expected(r, "a floating-point type");
  r->at = end;
  q->axis = -1;
  if (!accept(r, ':')) return SW_OK;
  double axis;
  SW_TRY(read_number(r, &axis));
  q->axis = axis >= 0 && axis < SW_MAX_RANK ? (int)axis : SW_MAX_RANK;
  return SW_OK;
}

typedef SW_ARRAY(double) numbers;

static sw_rc read_scale(reader *r, numbers *scales, numbers *zeros) {
  double scale, zero = 0;
  SW_TRY(read_number(r, &scale));
  if (accept(r, ':')) SW_TRY(read_number(r, &zero));
  if (!(scale > 0) || isinf(scale)) return expected(r, "scales above 0");
  SW_TRY(sw_array_push(scales, scale, r->d));
  return sw_array_push(zeros, zero, r->d);
}

static sw_rc read_scales(reader *r, bool listed, numbers *scales, numbers *zeros) {
  if (!accept(r, ',')) return expected(r, "',' and a scale");
  if (!listed) return read_scale(r, scales, zeros);
  if (!accept(r, '{')) return expected(r, "'{' and a scale for each index");
  do {
    SW_TRY(read_scale(r, scales, zeros));
  } while (accept(r, ','));
  return accept(r, '}') ? SW_OK : expected(r, "'}'");
}

sw_rc sw_ir_read_quant(const sw_ir_tree *t, sw_ir_span element, sw_arena *arena, sw_ir_quant *out, sw_diag *d) {
  reader r = {t, element.at + (uint32_t)sizeof kUniform - 1, element.end, d};
  numbers scales = {0}, zeros = {0};
  *out = (sw_ir_quant){.axis = -1};
  sw_rc rc = read_storage(&r, out);
  if (!rc) rc = read_expressed(&r, out);
  if (!rc) rc = read_scales(&r, out->axis >= 0, &scales, &zeros);
  if (!rc && !accept(&r, '>')) rc = expected(&r, "'>' (scales of blocks are not supported)");
  out->n = (int)scales.n;
  out->scale = rc ? NULL : sw_arena_copy(arena, scales.at, scales.n, sizeof *scales.at, d);
  out->zero = rc ? NULL : sw_arena_copy(arena, zeros.at, zeros.n, sizeof *zeros.at, d);
  sw_array_free(&scales);
  sw_array_free(&zeros);
  return rc ? rc : out->scale && out->zero ? SW_OK : SW_E_RESOURCE;
}

/* --- which values are ------------------------------------------------------------------------------------------------
 */

static sw_ir_span quant_of(const sw_importer *m, sw_id value) {
  return value >= 0 && (size_t)value < m->quants.n ? m->quants.at[value] : (sw_ir_span){0, 0};
}

static sw_rc set_quant(sw_importer *m, sw_id value, sw_ir_span element) {
  while (m->quants.n <= (size_t)value) SW_TRY(sw_array_push(&m->quants, ((sw_ir_span){0, 0}), m->d));
  m->quants.at[value] = element;
  return SW_OK;
}

sw_rc sw_im_see_quant(sw_importer *m, sw_id value, sw_ir_span type) {
  sw_ir_span element;
  return sw_ir_quant_element(m->t, type, &element) ? set_quant(m, value, element) : SW_OK;
}

sw_rc sw_im_pass_quant(sw_importer *m, sw_id from, sw_id to) {
  sw_ir_span element = quant_of(m, from);
  return sw_ir_len(element) ? set_quant(m, to, element) : SW_OK;
}

/* --- between storage and what it stands for ----------------------------------------------------------------------- */

/* Scales or zero points in a shape. */
static sw_rc spread_numbers(sw_importer *m, uint32_t op, const sw_ir_quant *q, const double *v, sw_dtype t,
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
  sw_im_numbers(&a, SW_ATTR_SHAPE, &n, 1);
  sw_im_int(&a, SW_ATTR_DTYPE, t);
  a.at[a.n++] = (sw_attr){.key = SW_ATTR_VALUE, .u.data = {bytes, n == 1}};
  SW_TRY(sw_im_help(m, op, SW_OP_CONSTANT, 0, NULL, &a, &list));
  return sw_im_spread(m, op, list, shape->rank, shape->dims, q->axis, out);
}

static bool all_zero(const sw_ir_quant *q) {
  for (int i = 0; i < q->n; i++) {
    if (q->zero[i] != 0) return false;
  }
  return true;
}

/* (x - zero) * scale; the difference in whole numbers. */
static sw_rc dequantize(sw_importer *m, uint32_t op, sw_id x, sw_id *out) {
  sw_ir_quant q;
  sw_id other;
  const sw_type shape = *sw_im_type(m, x);
  SW_TRY(sw_ir_read_quant(m->t, quant_of(m, x), &m->scratch, &q, m->d));
  if (!all_zero(&q)) {
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
  sw_ir_quant q;
  sw_id other, bounds[3];
  const sw_type shape = *sw_im_type(m, x);
  SW_TRY(sw_ir_read_quant(m->t, element, &m->scratch, &q, m->d));
  if (shape.dtype != q.expressed) SW_TRY(sw_im_converted(m, op, x, q.expressed, &x));
  SW_TRY(spread_numbers(m, op, &q, q.scale, q.expressed, &shape, &other));
  SW_TRY(sw_im_two(m, op, SW_OP_DIVIDE, x, other, &x));
  if (!all_zero(&q)) {
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

sw_rc sw_im_uniform_quantize(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  sw_ir_span element;
  sw_id y;
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  sw_id x = sw_im_operand(m, op, 0);
  if (!sw_ir_quant_element(m->t, sw_ir_result_type(m->t, sw_im_op(m, op)->types, 0), &element))
    return SW_IM_FAIL(m, op, "the result is not of a uniformly quantized type");
  if (sw_ir_len(quant_of(m, x))) SW_TRY(dequantize(m, op, x, &x));
  SW_TRY(quantize(m, op, x, element, &y));
  SW_TRY(sw_im_result_is(m, op, 0, y));
  SW_TRY(set_quant(m, *sw_im_result(m, op, 0), element));
  return sw_im_annotate_results(m, op);
}

sw_rc sw_im_uniform_dequantize(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  sw_id y;
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  sw_id x = sw_im_operand(m, op, 0);
  if (!sw_ir_len(quant_of(m, x))) return SW_IM_FAIL(m, op, "the operand is not of a uniformly quantized type");
  SW_TRY(dequantize(m, op, x, &y));
  SW_TRY(sw_im_result_is(m, op, 0, y));
  return sw_im_annotate_results(m, op);
}

/* Ops that move elements as they are, or order them; calls, loops and choices, whose values are seen where they are
 * made. */
static bool works_on_storage(const sw_ir_row *row) {
  static const sw_ir_import kMoves[] = {sw_im_slice,
                                        sw_im_gather,
                                        sw_im_constant,
                                        sw_im_sort,
                                        sw_im_top_k,
                                        sw_im_constraint,
                                        sw_im_old_broadcast,
                                        sw_im_torch_index_select,
                                        sw_im_return,
                                        sw_im_call,
                                        sw_im_composite,
                                        sw_im_identity,
                                        sw_im_while,
                                        sw_im_case,
                                        sw_im_tuple,
                                        sw_im_get_tuple_element,
                                        sw_im_local,
                                        sw_im_custom_call,
                                        sw_im_named_computation,
                                        sw_im_dimension_size,
                                        sw_im_uniform_quantize,
                                        sw_im_uniform_dequantize,
                                        sw_im_sharding_group,
                                        sw_im_real_dynamic_slice};
  static const sw_opcode kCodes[] = {
      SW_OP_BROADCAST,   SW_OP_TRANSPOSE, SW_OP_RESHAPE,       SW_OP_REVERSE,
      SW_OP_CONCATENATE, SW_OP_PAD,       SW_OP_DYNAMIC_SLICE, SW_OP_DYNAMIC_UPDATE_SLICE,
      SW_OP_SELECT,      SW_OP_BITCAST};
  if (!row) return true;
  for (size_t i = 0; i < sizeof kMoves / sizeof *kMoves; i++) {
    if (row->import == kMoves[i]) return true;
  }
  for (size_t i = 0; row->import == sw_im_simple && i < sizeof kCodes / sizeof *kCodes; i++) {
    if (row->code == kCodes[i]) return true;
  }
  return false;
}

/* The operands as what they stand for, the op, its results quantized. */
static sw_rc written_out(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_id *slots = sw_im_top(m)->instance->slots, *before;
  sw_ir_span element;
  SW_ARENA_NEW(before, &m->scratch, o->n_uses, m->d);
  for (uint32_t i = 0; i < o->n_uses; i++) before[i] = sw_im_operand(m, op, i);
  for (uint32_t i = 0; i < o->n_uses; i++) {
    sw_id *slot = &slots[m->names->use[o->first_use + i]];
    if (*slot == before[i] && sw_ir_len(quant_of(m, *slot))) SW_TRY(dequantize(m, op, *slot, slot));
  }
  m->expressed = true;
  SW_TRY(row->import(m, row, op));
  m->expressed = false;
  for (uint32_t i = 0; i < o->n_uses; i++) slots[m->names->use[o->first_use + i]] = before[i];
  for (uint32_t i = 0; i < sw_ir_result_count(m->t, o); i++) {
    sw_id y;
    if (!sw_ir_quant_element(m->t, sw_ir_result_type(m->t, o->types, (int)i), &element)) continue;
    SW_TRY(quantize(m, op, *sw_im_result(m, op, i), element, &y));
    SW_TRY(sw_im_bind(m, op, i, y, true));
  }
  return SW_OK;
}

sw_rc sw_im_quantized(sw_importer *m, const sw_ir_row *row, uint32_t op, bool *done) {
  const sw_ir_op *o = sw_im_op(m, op);
  bool touched = false;
  sw_ir_span element;
  *done = false;
  if (!m->has_quants || m->lifted) return SW_OK;
  for (uint32_t i = 0; i < o->n_uses && !touched; i++) touched = sw_ir_len(quant_of(m, sw_im_operand(m, op, i))) > 0;
  uint32_t n = sw_ir_result_count(m->t, o);
  for (uint32_t i = 0; i < n && !touched; i++)
    touched = sw_ir_quant_element(m->t, sw_ir_result_type(m->t, o->types, (int)i), &element);
  if (!touched) return SW_OK;
  if (!works_on_storage(row)) {
    *done = true;
    return written_out(m, row, op);
  }
  if (row && row->import == sw_im_return) return SW_OK;
  size_t depth = m->walks.n;
  *done = true;
  SW_TRY(row ? row->import(m, row, op) : sw_im_opaque(m, op, sw_im_string(m, o->name)));
  for (uint32_t i = 0; i < n && m->walks.n == depth; i++) {
    sw_id *slot = sw_im_result(m, op, i);
    if (slot && *slot >= 0) SW_TRY(sw_im_see_quant(m, *slot, sw_ir_result_type(m->t, o->types, (int)i)));
  }
  return SW_OK;
}
