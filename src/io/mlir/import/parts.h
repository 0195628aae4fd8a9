/* Parts of a program that are written for one device in GSPMD's form, as manual computations are in Shardy's:
 *
 *   %1 = custom_call @SPMDFullToShardShape(%0)     tensor<8x4xf32> -> tensor<1x4xf32>: from here on, one device's part
 *   %2 = sine %1
 *   %3 = custom_call @SPMDShardToFullShape(%2)     the whole again
 *
 * A part is all ops of a block that hang together by such values, wherever they stand among others.
 */
#ifndef IO_MLIR_PARTS_H_
#define IO_MLIR_PARTS_H_

#include "io/mlir/import/import.h"

typedef struct sw_im_part {
  uint32_t n_ops, *ops;           /* in the order of the text; with constants that stand outside and are read inside */
  uint32_t n_in, *in;             /* of them: those that go in */
  uint32_t n_out, *out;           /* those that go out */
  uint32_t n_captured, *captured; /* slots of values from outside */
} sw_im_part;

/* The parts that can be taken out: what comes in is there before the first value goes out. In the importer's keep
 * arena. */
SW_CHECKED sw_rc sw_im_find_parts(sw_importer *m);
bool sw_im_goes_in(const sw_ir_tree *t, const sw_ir_op *o);
bool sw_im_goes_out(const sw_ir_tree *t, const sw_ir_op *o);

/* The part as a graph of its own, and what read it: arguments are what goes in and then what is captured, outputs what
 * goes out. To be closed by sw_im_close_body. */
SW_CHECKED sw_rc sw_im_read_part(sw_importer *m, const sw_im_part *part, sw_importer *reader, sw_graph **body);

#endif
