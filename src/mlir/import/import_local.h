/* Programs that are partitioned already, and what their dialects share (local.c). */
#ifndef MLIR_LOCAL_H_
#define MLIR_LOCAL_H_

#include "mlir/import/import.h"
#include "shardwright/local.h"

/* Is the program of one device, and what else its text says of that (program.h): the importer is prepared for it. */
SW_CHECKED sw_rc sw_im_begin_local(sw_importer *m, struct sw_program *p, sw_program_options *o);

enum { SW_IM_GRID_AXES = 40 };

/* What an importer knows of the devices. */
typedef struct sw_im_cut_program {
  sw_local_program *out;
  sw_arena *arena;      /* of the program */
  const sw_mesh *given; /* in place of its own; NULL: none is */
  /* StableHLO: device number r * partitions + p is partition p of replica r. */
  int64_t replicas, partitions;
  bool counted; /* the module says how many there are */
  /* What each axis of the text's grid is in out->grid. */
  int n_axes; /* 0: there is none */
  sw_axis_ref axes[SW_IM_GRID_AXES];
  sw_dict known; /* lists by what is in them: number of `lists` */
  SW_ARRAY(const sw_device_list *) lists;
} sw_im_cut_program;

/* Before ops are imported: devices, grid and mesh into m->cut, of which `out` and `arena` are set. Afterwards: what
 * arguments and results are blocks of. Neither does anything for a whole program. */
SW_CHECKED sw_rc sw_im_open_local(sw_importer *m);
SW_CHECKED sw_rc sw_im_finish_local(sw_importer *m);

/* Result i of the op as an op of the graph: the collective of an operand (and coordinates of its root), and this
 * device's index over axes of the grid. */
SW_CHECKED sw_rc sw_im_add_collective(sw_importer *m, uint32_t op, uint32_t i, const sw_collective *c, int n_operands,
                                      const sw_id *operands);
SW_CHECKED sw_rc sw_im_own_number(sw_importer *m, uint32_t op, uint32_t i, const sw_axis_ref *refs, int n);

#endif
