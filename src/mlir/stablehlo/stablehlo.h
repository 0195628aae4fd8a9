/* What the files of this dialect share: importers of its rows, and what regions compute. */
#ifndef MLIR_STABLEHLO_H_
#define MLIR_STABLEHLO_H_

#include "mlir/import/import.h"

/* A reduce of (values, positions) that picks the greatest or least: emits it as reduce and argmax, else *done = false.
 */
SW_CHECKED sw_rc sw_im_arg_reduce(sw_importer *m, uint32_t op, bool *done);
/* How a compare op compares: "ge" and so on in lower case; floats in their total order. */
void sw_im_direction_of(const sw_importer *m, const sw_ir_op *o, char direction[3]);
bool sw_im_is_total_order(const sw_importer *m, const sw_ir_op *o);

SW_IR_IMPORTER(sw_im_real_dynamic_slice);
SW_IR_IMPORTER(sw_im_dynamic_pad);
SW_IR_IMPORTER(sw_im_set_dimension_size);
SW_IR_IMPORTER(sw_im_torch_index_select);
SW_IR_IMPORTER(sw_im_compare);
SW_IR_IMPORTER(sw_im_old_broadcast);
SW_IR_IMPORTER(sw_im_einsum);
SW_IR_IMPORTER(sw_im_dimension_size);
SW_IR_IMPORTER(sw_im_slice);
SW_IR_IMPORTER(sw_im_dot);
SW_IR_IMPORTER(sw_im_convolution);
SW_IR_IMPORTER(sw_im_reduce);
SW_IR_IMPORTER(sw_im_reduce_window);
SW_IR_IMPORTER(sw_im_map);
SW_IR_IMPORTER(sw_im_batch_norm_inference);
SW_IR_IMPORTER(sw_im_batch_norm_training);
SW_IR_IMPORTER(sw_im_batch_norm_grad);
SW_IR_IMPORTER(sw_im_rng);
SW_IR_IMPORTER(sw_im_gather);
SW_IR_IMPORTER(sw_im_scatter);
SW_IR_IMPORTER(sw_im_rng_bits);
SW_IR_IMPORTER(sw_im_triangular_solve);
SW_IR_IMPORTER(sw_im_select_and_scatter);
SW_IR_IMPORTER(sw_im_token);
SW_IR_IMPORTER(sw_im_from_host);
SW_IR_IMPORTER(sw_im_sort);
SW_IR_IMPORTER(sw_im_reduce_precision);

#endif
