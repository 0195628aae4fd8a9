/* What the files of the shard dialect share. */
#ifndef MLIR_SHARD_H_
#define MLIR_SHARD_H_

#include "mlir/import/import_local.h"
#include "mlir/shard/cuts.h"

/* What is remembered while a text is read. */
typedef struct sw_shard_state {
  sw_im_grid *grids; /* that the text declares */
  uint32_t n_grids;
  const sw_im_grid *grid; /* the program's; NULL: there is none */
  sw_axis_ref *grid_refs; /* its axes in the mesh; axis -1: the mesh has none of the kind */
  uint32_t **definers;    /* by function, slot: the op that gives it (cuts.c); from here on nothing is inherited */
  sw_dict annotated;      /* names (call, slot) that are annotated: by which op */
  sw_dict said_of;        /* values that are annotated: number in `said` */
  SW_ARRAY(sw_sharding) said;
} sw_shard_state;
sw_shard_state *sw_shard_state_of(const sw_importer *m);

/* What the type of a value says of its sharding, in the spelling of the mesh dialect: of the value, or of output
 * `*output`. Then what types and attributes of an op say that became ops of the graph from `first` on. */
SW_CHECKED sw_rc sw_im_annotate_typed(sw_importer *m, uint32_t op, sw_id value, const int32_t *output, sw_ir_span type);
SW_CHECKED sw_rc sw_im_annotate_distributed(sw_importer *m, uint32_t op, sw_id first);

SW_IR_IMPORTER(sw_im_shard);
SW_IR_IMPORTER(sw_im_shard_sharding);
SW_IR_IMPORTER(sw_im_get_sharding);
SW_IR_IMPORTER(sw_im_distributed);

/* --- programs of one device --- */

/* The module's grid into m->cut. */
SW_CHECKED sw_rc sw_im_read_grid(sw_importer *m);
/* A collective, or a question about the grid; shard.neighbors_linear_indices, shard.shard_shape. */
SW_IR_IMPORTER(sw_im_on_grid);
SW_CHECKED sw_rc sw_im_neighbours(sw_importer *m, uint32_t op);
SW_CHECKED sw_rc sw_im_shard_shape(sw_importer *m, uint32_t op);
/* The call of a function that is declared alone and says which exchange it is; *done = false: another. */
SW_CHECKED sw_rc sw_im_declared_exchange(sw_importer *m, uint32_t op, sw_ir_span callee, bool *done);

#endif
