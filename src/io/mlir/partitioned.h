/* Programs that are partitioned already (partitioned.c). */
#ifndef IO_MLIR_PARTITIONED_H_
#define IO_MLIR_PARTITIONED_H_

#include "io/mlir/import.h"
#include "shardwright/local.h"

/* Does the text hold collectives outside of manual computations, or says that it is the program of one device? */
SW_CHECKED sw_rc sw_im_is_partitioned(const sw_ir_tree *t, bool *out, sw_diag *d);
/* Has it collectives of Shardy's on whole tensors, or says that it is a program with reshards written out? */
bool sw_im_is_resharded(const sw_ir_tree *t);
/* What was imported by device. All that is new lives in the arena. */
SW_CHECKED sw_rc sw_im_local_program(sw_importer *m, sw_arena *arena, sw_local_program *out);

#endif
