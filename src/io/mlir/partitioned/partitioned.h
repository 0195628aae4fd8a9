/* Collectives of StableHLO in programs that are partitioned already. */
#ifndef IO_MLIR_PARTITIONED_H_
#define IO_MLIR_PARTITIONED_H_

#include "io/mlir/import/local.h"

/* A collective, or the number of a device, among devices that the text lists. */
SW_IR_IMPORTER(sw_im_listed);

#endif
