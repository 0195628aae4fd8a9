/* Importers of the rows and custom calls of this dialect that stand in files of their own. */
#ifndef MLIR_CHLO_H_
#define MLIR_CHLO_H_

#include "mlir/import/import.h"

SW_IR_IMPORTER(sw_im_scan);
SW_IR_IMPORTER(sw_im_ragged_dot);
/* top_k of the last dim; ApproxTopK, as exact as may be. */
SW_IR_IMPORTER(sw_im_top_k);
SW_IR_IMPORTER(sw_im_approx_top_k);

#endif
