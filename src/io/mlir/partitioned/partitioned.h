/* Programs that are partitioned already (partitioned.c, listed.c, grid.c). */
#ifndef IO_MLIR_PARTITIONED_H_
#define IO_MLIR_PARTITIONED_H_

#include "io/mlir/annotate/cuts.h"
#include "shardwright/local.h"

/* Is the program of one device, and what else its text says of that (program.h): the importer is prepared for it. */
SW_CHECKED sw_rc sw_im_begin_cut(sw_importer *m, struct sw_program *p, sw_program_options *o);

/* What an importer knows of the devices. */
typedef struct sw_im_cut_program {
  sw_local_program *out;
  sw_arena *arena;      /* of the program */
  const sw_mesh *given; /* in place of its own; NULL: none is */
  /* StableHLO: device number r * partitions + p is partition p of replica r. */
  int64_t replicas, partitions;
  bool counted; /* the module says how many there are */
  /* The shard dialect: the name of its grid, and what each axis of it is in out->grid. */
  sw_ir_span grid;
  int n_axes; /* 0: there is none */
  sw_axis_ref axes[SW_IM_GRID_AXES];
  sw_dict known; /* lists by what is in them: number of `lists` */
  SW_ARRAY(const sw_device_list *) lists;
} sw_im_cut_program;

/* Before ops are imported: devices, grid and mesh into m->cut, of which `out` and `arena` are set. */
SW_CHECKED sw_rc sw_im_open_cut(sw_importer *m);
/* Afterwards: what arguments and results are blocks of. */
SW_CHECKED sw_rc sw_im_local_program(sw_importer *m);

/* The module's grid into m->cut; *found = false: it has none. */
SW_CHECKED sw_rc sw_im_read_grid(sw_importer *m, bool *found);

/* Result i of the op as an op of the graph: the collective of an operand (and coordinates of its root), and this
 * device's index over axes of the grid. */
SW_CHECKED sw_rc sw_im_add_collective(sw_importer *m, uint32_t op, uint32_t i, const sw_collective *c, int n_operands,
                                      const sw_id *operands);
SW_CHECKED sw_rc sw_im_own_number(sw_importer *m, uint32_t op, uint32_t i, const sw_axis_ref *refs, int n);

/* shard.neighbors_linear_indices, shard.shard_shape */
SW_CHECKED sw_rc sw_im_neighbours(sw_importer *m, uint32_t op);
SW_CHECKED sw_rc sw_im_shard_shape(sw_importer *m, uint32_t op);

/* An op of StableHLO among devices; a collective or the number of a device, wherever it stands. */
SW_IR_IMPORTER(sw_im_listed);
SW_IR_IMPORTER(sw_im_local);
/* A collective of the shard dialect, or a question about its grid. */
SW_IR_IMPORTER(sw_im_on_grid);
/* The call of a function that is declared alone and says which exchange it is; *done = false: another. */
SW_CHECKED sw_rc sw_im_declared_exchange(sw_importer *m, uint32_t op, sw_ir_span callee, bool *done);

#endif
