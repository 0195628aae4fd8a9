/* Custom calls whose names are LAPACK's. */
#ifndef IO_MLIR_LAPACK_H_
#define IO_MLIR_LAPACK_H_

#include "io/mlir/import/import.h"

/* *done = false: it is none that is known. */
SW_CHECKED sw_rc sw_im_lapack(sw_importer *m, uint32_t op, sw_ir_span target, bool *done);

#endif
