/* Importers of the dialects that say shardings, and what they say of values. */
#ifndef IO_MLIR_ANNOTATE_H_
#define IO_MLIR_ANNOTATE_H_

#include "io/mlir/import/import.h"

/* sdy.sharding of the op's attributes. */
SW_CHECKED sw_rc sw_im_annotate_op(sw_importer *m, uint32_t op);
SW_IR_IMPORTER(sw_im_sharding_group);
SW_IR_IMPORTER(sw_im_shard);
SW_IR_IMPORTER(sw_im_shard_sharding);
SW_IR_IMPORTER(sw_im_get_sharding);
SW_IR_IMPORTER(sw_im_distributed);
SW_IR_IMPORTER(sw_im_on_grid);

#endif
