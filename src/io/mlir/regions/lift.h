/* Regions on scalars, written out on tensors: what reduce, sort, scatter and others do with a region that is none of
 * the known kinds. The ops of the region are added once per application, with values of one shape in place of its
 * scalars.
 *
 *   { c = compare GT, %a, %b; return select c, %a, %b }   applied to x[4,8], y[4,8]
 *
 *   c = compare(x, y); r = select(c, x, y)
 *
 * So programs with such regions are planned, partitioned, executed and written like all others.
 */
#ifndef IO_MLIR_LIFT_H_
#define IO_MLIR_LIFT_H_

#include "io/mlir/import/import.h"

/* A region of `op` that can be written out: `n_args` arguments, `n_results` results, elementwise ops; or the one op
 * that it `applies`; or one with tensors in it, which is read and stacked. */
typedef struct sw_im_body {
  uint32_t op, block;
  const sw_ir_row *applied; /* NULL: a region */
  bool captures;            /* it reads values from around it */
  struct sw_im_inside *inside;
} sw_im_body;
/* *lifts = false: it cannot be. */
SW_CHECKED sw_rc sw_im_open_body(sw_importer *m, uint32_t op, uint32_t region, uint32_t n_args, uint32_t n_results,
                                 sw_im_body *out, bool *lifts);
/* Its results for arguments of the shape; `out` has room for all of them. */
SW_CHECKED sw_rc sw_im_apply(sw_importer *m, const sw_im_body *b, const sw_id *args, const sw_type *shape, sw_id *out);
/* The row behind `applies`, of an op that has it in place of a region; NULL: it has not. */
const sw_ir_row *sw_im_applied(const sw_importer *m, const sw_ir_op *o, sw_ir_span *name);
/* The parts of both that control flow needs (lift_control.c): can a block be written out, `depth` regions and calls
 * deep; its ops on arguments, and what it returns is in `returned` of the importer. */
bool sw_im_block_lifts(const sw_importer *m, uint32_t block, uint32_t n_results, int depth);
SW_CHECKED sw_rc sw_im_run_block(sw_importer *m, uint32_t op, uint32_t block, const sw_id *args);
/* A while, case or if in such a block. */
bool sw_im_control_lifts(const sw_importer *m, const sw_ir_row *row, uint32_t op, int depth);
SW_CHECKED sw_rc sw_im_lifted_control(sw_importer *m, const sw_ir_row *row, uint32_t op);

/* Regions in which tensors are, or ops with regions of their own (manual/stack_region.c): what is inside, read once and
 * kept until the importer ends; NULL: it cannot be written out. Then as sw_im_apply. */
SW_CHECKED sw_rc sw_im_open_inside(sw_importer *m, uint32_t op, uint32_t block, uint32_t n_args, uint32_t n_results,
                                   struct sw_im_inside **out);
SW_CHECKED sw_rc sw_im_apply_inside(sw_importer *m, struct sw_im_inside *inside, const sw_id *args,
                                    const sw_type *shape, sw_id *out);

/* Behind the beginning of a loop or branch of the graph: values from around it that ops of the text [at, end) read are
 * entered, those in slots before `first`; until it is left their slots hold what was entered. The second: those
 * that a region reads. */
typedef struct sw_im_captured {
  uint32_t n;
  uint32_t *slots;
  sw_id *before; /* what they held */
} sw_im_captured;
SW_CHECKED sw_rc sw_im_find_captured(sw_importer *m, uint32_t op, sw_ir_span text, uint32_t first,
                                     sw_im_captured *out); /* their slots alone */
SW_CHECKED sw_rc sw_im_enter_captured(sw_importer *m, uint32_t op, sw_ir_span text, uint32_t first,
                                      sw_im_captured *out);
SW_CHECKED sw_rc sw_im_enter_read_by(sw_importer *m, const sw_im_body *b, sw_im_captured *out);
void sw_im_leave_captured(sw_importer *m, const sw_im_captured *c);

/* In a region that is being written out, scalars among the operands get its shape. */
SW_CHECKED sw_rc sw_im_spread_operands(sw_importer *m, uint32_t op, sw_im_add *add);

/* --- helpers: one op of the graph each, named after the op of the text ---------------------------------------------
 */

static inline const sw_type *sw_im_type(const sw_importer *m, sw_id v) { return &m->g->values[v].type; }
/* The n whole numbers of a constant, or of what follows from constants as sizes do; false: it is none. */
bool sw_im_constant_numbers(const sw_importer *m, sw_id value, int n, int64_t *out);
/* Any op with one result. */
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
/* An input of a reduction in the type of its initial value, in which it is reduced. */
SW_CHECKED sw_rc sw_im_reduced_as(sw_importer *m, uint32_t op, sw_id x, sw_id init, sw_id *out);
/* A constant of one number, and positions along a dim. */
SW_CHECKED sw_rc sw_im_number(sw_importer *m, uint32_t op, sw_dtype t, double v, int rank, const int64_t *dims,
                              sw_id *out);
SW_CHECKED sw_rc sw_im_positions(sw_importer *m, uint32_t op, sw_dtype t, int rank, const int64_t *dims, int64_t dim,
                                 sw_id *out);
/* A scalar, or with `dim` a vector along that dim, in a shape. */
SW_CHECKED sw_rc sw_im_spread(sw_importer *m, uint32_t op, sw_id x, int rank, const int64_t *dims, int64_t dim,
                              sw_id *out);
/* An operand of chlo.broadcast_... in the shape of the result. */
SW_CHECKED sw_rc sw_im_broadcast_to(sw_importer *m, uint32_t op, sw_id x, const sw_type *shape, sw_id *out);
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
/* Result `i` of the op is this value, in the shape that the text says; annotations of the op are not read yet. */
SW_CHECKED sw_rc sw_im_result_is(sw_importer *m, uint32_t op, uint32_t i, sw_id value);

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

/* --- ops with regions of their own: *done = false when the region cannot be written out ----------------------------
 */

/* A window with all its lists, one number per dim (two of padding). */
typedef struct sw_im_window {
  int n;
  int64_t sizes[SW_MAX_RANK], strides[SW_MAX_RANK], base[SW_MAX_RANK], holes[SW_MAX_RANK], padding[2 * SW_MAX_RANK];
} sw_im_window;
SW_CHECKED sw_rc sw_im_reduce_by_region(sw_importer *m, uint32_t op, const int64_t *dims, int n_dims, bool *done);
SW_CHECKED sw_rc sw_im_window_by_region(sw_importer *m, uint32_t op, const sw_im_window *w, bool *done);
/* In each window of x[0] the element that the region selects, places outside of it being none: what x[0] and the others
 * have there; the last of the n, of bools, says whether there is anything (true all over, as it comes in). Windows are
 * as many as the dims `said`; *empty: there are none, and x is left as it is. */
SW_CHECKED sw_rc sw_im_select_in_windows(sw_importer *m, const sw_im_body *select, const sw_im_window *w,
                                         const sw_type *said, int n, sw_id *x, bool *empty);
SW_CHECKED sw_rc sw_im_pool_by_regions(sw_importer *m, uint32_t op, const sw_im_window *w, bool *done);
SW_CHECKED sw_rc sw_im_sort_by_region(sw_importer *m, uint32_t op, int64_t dim, bool *done);
SW_CHECKED sw_rc sw_im_scatter_by_region(sw_importer *m, uint32_t op, const sw_im_attrs *numbers, bool unique,
                                         bool *done);

#endif
