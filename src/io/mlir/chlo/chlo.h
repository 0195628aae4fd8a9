/* Importers of the rows and custom calls of this dialect that stand in files of their own. */
#ifndef IO_MLIR_CHLO_H_
#define IO_MLIR_CHLO_H_

#include "io/mlir/import/import.h"

SW_IR_IMPORTER(sw_im_scan);
SW_IR_IMPORTER(sw_im_ragged_dot);
/* top_k of the last dim; ApproxTopK, as exact as may be. */
SW_IR_IMPORTER(sw_im_top_k);
SW_IR_IMPORTER(sw_im_approx_top_k);

#endif
