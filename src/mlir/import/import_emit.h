/* Adding ops of the graph that an op of the text is written out in: one function each, named after the op of the text.
 * All of them can fail as sw_graph_add_op does, with the place of the op of the text. */
#ifndef MLIR_EMIT_H_
#define MLIR_EMIT_H_

#include "mlir/import/import.h"

static inline const sw_type *sw_im_type(const sw_importer *m, sw_id v) { return &m->g->values[v].type; }
/* The n whole numbers of a constant, or of what follows from constants as sizes do; false: it is none. */
bool sw_im_constant_numbers(const sw_importer *m, sw_id value, int n, int64_t *out);
/* Does "lt", "ge" and so on hold for values in this order: -1, 0, 1, or 2 where there is none (NaN)? */
bool sw_im_compares(const char *direction, int order);
/* The op of the graph whose results are those of the op of the text. */
SW_CHECKED sw_rc sw_im_emit_op(sw_importer *m, uint32_t op, sw_opcode code, int n, const sw_id *x,
                               const sw_im_attrs *a);
/* A helper: any op with one result. */
SW_CHECKED sw_rc sw_im_help(sw_importer *m, uint32_t op, sw_opcode code, int n, const sw_id *x, const sw_im_attrs *a,
                            sw_id *out);
/* Of one operand; of two. */
SW_CHECKED sw_rc sw_im_one(sw_importer *m, uint32_t op, sw_opcode code, sw_id x, sw_id *out);
/* An op without results that holds a loop or choice together; operand -1: none, a NULL: no attributes. */
SW_CHECKED sw_rc sw_im_mark(sw_importer *m, uint32_t op, sw_opcode code, sw_id operand, const sw_im_attrs *a);
SW_CHECKED sw_rc sw_im_two(sw_importer *m, uint32_t op, sw_opcode code, sw_id x, sw_id y, sw_id *out);
SW_CHECKED sw_rc sw_im_choose(sw_importer *m, uint32_t op, sw_id pred, sw_id x, sw_id y, sw_id *out);
SW_CHECKED sw_rc sw_im_compared(sw_importer *m, uint32_t op, const char *direction, sw_id x, sw_id y, sw_id *out);
SW_CHECKED sw_rc sw_im_converted(sw_importer *m, uint32_t op, sw_id x, sw_dtype t, sw_id *out);
/* An input or initial value of a reduction in the type of elements of result `i`, in which it is reduced. */
SW_CHECKED sw_rc sw_im_reduced_as(sw_importer *m, uint32_t op, uint32_t i, sw_id *x);
/* Sizes that the type of result i leaves open, by the names of result and dim. */
SW_CHECKED sw_rc sw_im_close_dims(sw_importer *m, uint32_t op, uint32_t i, sw_type *t);
/* The type of the only result: sizes that it leaves open are taken from operand `given`, if that is there and known,
 * and the others must be what it says. */
SW_CHECKED sw_rc sw_im_shape_of_result(sw_importer *m, uint32_t op, uint32_t given, sw_type *t);
/* A constant of one number, and positions along a dim. */
SW_CHECKED sw_rc sw_im_number(sw_importer *m, uint32_t op, sw_dtype t, double v, int rank, const int64_t *dims,
                              sw_id *out);
SW_CHECKED sw_rc sw_im_positions(sw_importer *m, uint32_t op, sw_dtype t, int rank, const int64_t *dims, int64_t dim,
                                 sw_id *out);
/* A scalar, or with `dim` a vector along that dim, in a shape. */
SW_CHECKED sw_rc sw_im_spread(sw_importer *m, uint32_t op, sw_id x, int rank, const int64_t *dims, int64_t dim,
                              sw_id *out);
SW_CHECKED sw_rc sw_im_reshaped(sw_importer *m, uint32_t op, sw_id x, int rank, const int64_t *dims, sw_id *out);
/* The value transposed (dim i of *out is dim permutation[i]); itself, when all are in order. */
bool sw_im_is_in_order(int rank, const int64_t *permutation);
SW_CHECKED sw_rc sw_im_permuted(sw_importer *m, uint32_t op, sw_id x, const int64_t *permutation, sw_id *out);
/* Every `stride`-th of positions [start, limit) of a dim. */
typedef struct sw_im_range {
  int dim;
  int64_t start, limit, stride;
} sw_im_range;
SW_CHECKED sw_rc sw_im_cut(sw_importer *m, uint32_t op, sw_id x, const sw_im_range *r, sw_id *out);
/* Result `i` of the op is this value, in the shape that the text says; annotations of the op are not read yet. All of
 * them, and its annotations. */
SW_CHECKED sw_rc sw_im_result_is(sw_importer *m, uint32_t op, uint32_t i, sw_id value);
SW_CHECKED sw_rc sw_im_results_are(sw_importer *m, uint32_t op, const sw_id *values, uint32_t n);

/* Real and imaginary part of a complex number; those of the conjugate one; x, of any type, conjugated. */
SW_CHECKED sw_rc sw_im_parts_of(sw_importer *m, uint32_t op, sw_id x, sw_id parts[2]);
SW_CHECKED sw_rc sw_im_conjugate_parts(sw_importer *m, uint32_t op, sw_id x, sw_id parts[2]);
SW_CHECKED sw_rc sw_im_conjugate(sw_importer *m, uint32_t op, sw_id x, sw_id *out);
/* An op that is linear in each of its one or two complex operands, as ops on their real and imaginary parts; it gives
 * the results of the op of the text. */
SW_CHECKED sw_rc sw_im_by_parts(sw_importer *m, uint32_t op, const sw_im_add *add);
/* maximum or minimum of two complex numbers: the one with the greater (or smaller) real part or, where these are equal,
 * imaginary part. */
bool sw_im_is_complex_extreme(const sw_importer *m, const sw_ir_row *row, const sw_id *x);
SW_CHECKED sw_rc sw_im_complex_extreme(sw_importer *m, uint32_t op, bool greatest, const sw_id *x, sw_id *out);
static inline bool sw_im_is_complex(const sw_importer *m, sw_id v) {
  return sw_dtype_class_of(sw_im_type(m, v)->dtype) == SW_CLASS_COMPLEX;
}

/* Behind the beginning of a loop or branch of the graph: values from around it that ops of the text [at, end) read are
 * entered, those in slots before `first`; until it is left their slots hold what was entered. */
typedef struct sw_im_captured {
  uint32_t n;
  uint32_t *slots;
  sw_id *before; /* what they held */
} sw_im_captured;
SW_CHECKED sw_rc sw_im_find_captured(sw_importer *m, uint32_t op, sw_ir_span text, uint32_t first,
                                     sw_im_captured *out); /* their slots alone */
SW_CHECKED sw_rc sw_im_enter_captured(sw_importer *m, uint32_t op, sw_ir_span text, uint32_t first,
                                      sw_im_captured *out);
void sw_im_leave_captured(sw_importer *m, const sw_im_captured *c);

/* A loop of the graph that counts: `trips` turns while the counter, which comes in as `first`, is below `limit` (of its
 * type). The n values enter in place, and with `region` what its ops read from around, those in slots before `slot`.
 * The second ends it: `next` is the next counter, the n values in place are what `entered` become, then what comes out.
 */
typedef struct sw_im_repeat {
  sw_importer *m;
  uint32_t op;
  sw_id counter;
  sw_im_captured read;
} sw_im_repeat;
SW_CHECKED sw_rc sw_im_open_repeat(sw_im_repeat *l, int64_t trips, sw_id first, int64_t limit, sw_id *values, int n,
                                   const sw_ir_span *region, uint32_t slot);
SW_CHECKED sw_rc sw_im_close_repeat(const sw_im_repeat *l, sw_id next, const sw_id *entered, sw_id *values, int n);

/* In a region that is being written out, scalars among the operands get its shape. */
SW_CHECKED sw_rc sw_im_spread_operands(sw_importer *m, uint32_t op, sw_im_add *add);

#endif
