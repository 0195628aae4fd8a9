/* The grids of devices that a text declares, in MLIR's shard dialect, in the mesh dialect that it was before, and as
 * the RFC of both has them:
 *
 *   shard.grid @g(shape = 2x?)
 *   mesh.mesh @g(shape = 2x4)
 *   mesh.cluster @g(rank = 2, dim_sizes = [2])        the second size is not known
 *
 * What the dialects spell in several ways is looked up here. Ops of "mesh." are those of "shard." (import/dialects.c).
 */
#ifndef MLIR_GRIDS_H_
#define MLIR_GRIDS_H_

#include "mlir/import/import_local.h"

typedef struct sw_im_grid {
  sw_ir_span name;
  uint32_t op;
  int n_axes;
  int64_t size[SW_IM_GRID_AXES];    /* -1: not known */
  sw_ir_span axis[SW_IM_GRID_AXES]; /* its name, "x" or "x:(1)2"; empty: not said */
} sw_im_grid;

/* The grids of the text, and which is the program's: that of main's mesh_cluster, or that which its ops speak of, or
 * the first. An op or function that speaks of a grid that is not there, and ops that speak of two, are errors. */
struct sw_shard_state;
SW_CHECKED sw_rc sw_im_read_grids(sw_importer *m, struct sw_shard_state *s);
/* Of the op: by its name, or by its function's mesh_cluster. */
SW_CHECKED sw_rc sw_im_grid_of(sw_importer *m, uint32_t op, const sw_im_grid **out);
SW_CHECKED sw_rc sw_im_grid_named(sw_importer *m, sw_ir_span name, const sw_im_grid **out);

/* A grid as a mesh: its parts of axes (x:(1)2, x:(2)4) are those of one axis. refs[i]: what axis i of the grid is. */
SW_CHECKED sw_rc sw_im_grid_as_mesh(sw_importer *m, const sw_im_grid *g, sw_mesh *out, sw_axis_ref *refs);
/* The same axes in a mesh that was given in place of the grid's own: by their names, or, where only one of the two has
 * names, by their order. A ref of axis -1: the mesh has no such axis. */
void sw_im_grid_on_mesh(const sw_im_grid *g, const sw_mesh *own, const sw_mesh *given, sw_axis_ref *refs);
/* An unknown size is an error. */
SW_CHECKED sw_rc sw_im_grid_is_known(sw_importer *m, const sw_im_grid *g, const sw_mesh *mesh);

/* An attribute by its name in the shard dialect. */
sw_ir_span sw_im_grid_attr(const sw_ir_tree *t, const sw_ir_op *o, const char *key);
/* max, <max>, #shard.partial<max>; nothing at v: a sum. `at`: the place of an error. */
SW_CHECKED sw_rc sw_im_read_reduction(sw_importer *m, sw_span at, sw_ir_span v, sw_reduction *out);
/* Has the op a unit attribute, in its custom form a word of its own? */
bool sw_im_has_word(const sw_ir_tree *t, const sw_ir_op *o, const char *word);
/* Of the dialects, without a grid: the RFC's collectives, on tensors whose types say how they are cut. */
bool sw_im_is_distributed(const sw_ir_tree *t, const sw_ir_op *o);

#endif
