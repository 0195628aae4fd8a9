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
#ifndef MLIR_VECTORIZE_H_
#define MLIR_VECTORIZE_H_

#include "mlir/import/import_emit.h"

/* A region of `op` that can be written out: `n_args` arguments, `n_results` results, elementwise ops; or the one op
 * that it `applies`; or one with tensors in it, which is read and stacked. */
typedef struct sw_im_body {
  uint32_t op, block;
  const sw_ir_row *applied; /* NULL: a region */
  bool captures;            /* it reads values from around it */
  struct sw_im_inside *inside;
} sw_im_body;
/* *vectorizes = false: it cannot be. */
SW_CHECKED sw_rc sw_im_open_body(sw_importer *m, uint32_t op, uint32_t region, uint32_t n_args, uint32_t n_results,
                                 sw_im_body *out, bool *vectorizes);
/* Its results for arguments of the shape; `out` has room for all of them. */
SW_CHECKED sw_rc sw_im_apply(sw_importer *m, const sw_im_body *b, const sw_id *args, const sw_type *shape, sw_id *out);
/* The parts of both that control flow needs (vectorize_control.c): can a block be written out, `depth` regions and
 * calls deep; its ops on arguments, and the *n values that it returns, of SW_MAX_RESULTS. */
bool sw_im_block_vectorizes(const sw_importer *m, uint32_t block, uint32_t n_results, int depth);
SW_CHECKED sw_rc sw_im_run_vectorized(sw_importer *m, uint32_t op, uint32_t block, const sw_id *args, sw_id *out,
                                      uint32_t *n);
/* A while, case or if in such a block. */
bool sw_im_control_vectorizes(const sw_importer *m, const sw_ir_row *row, uint32_t op, int depth);
SW_CHECKED sw_rc sw_im_vectorized_control(sw_importer *m, const sw_ir_row *row, uint32_t op);

/* sw_im_open_repeat around applications of the body, with what it reads. */
SW_CHECKED sw_rc sw_im_open_body_repeat(const sw_im_body *b, sw_im_repeat *l, int64_t trips, sw_id first, int64_t limit,
                                        sw_id *values, int n);

/* --- ops with regions of their own: *done = false when the region cannot be written out --------------------------- */

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
