/* Quantized element types. A graph has their storage (whole numbers), and ops between it and what it stands for:
 *
 *   !quant.uniform<i8:f32, 0.5:3>     stored q stands for (q - 3) * 0.5
 *   !quant.uniform<i8<-127:127>:f32:1, {0.5, 0.25:3}>     a scale and a zero point for each index of dim 1
 *
 * StableHLO defines ops on them as ops on what they stand for, quantized again; so they are written out. Ops that only
 * move elements work on the storage.
 */
#ifndef IO_MLIR_QUANT_H_
#define IO_MLIR_QUANT_H_

#include "io/mlir/import/import.h"

typedef struct sw_ir_quant {
  sw_dtype storage, expressed;
  double min, max; /* of the storage */
  int axis;        /* -1: one scale for all */
  int n;           /* scales and zero points */
  const double *scale, *zero;
} sw_ir_quant;

/* Is the type of a value (tensor<...>, or the element alone) of a quantized element? Its element then. */
bool sw_ir_quant_element(const sw_ir_tree *t, sw_ir_span type, sw_ir_span *element);
SW_CHECKED sw_rc sw_ir_read_quant(const sw_ir_tree *t, sw_ir_span element, sw_arena *arena, sw_ir_quant *out,
                                  sw_diag *d);

/* An op some of whose operands or results are quantized: imports it and sets *done. Another is left to its row. */
SW_CHECKED sw_rc sw_im_quantized(sw_importer *m, const sw_ir_row *row, uint32_t op, bool *done);
/* The value is of this type of the text. */
SW_CHECKED sw_rc sw_im_see_quant(sw_importer *m, sw_id value, sw_ir_span type);
/* `to` is quantized as `from` is. */
SW_CHECKED sw_rc sw_im_pass_quant(sw_importer *m, sw_id from, sw_id to);

#endif
