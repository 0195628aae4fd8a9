/* How the shard dialect says that a tensor is cut: over axes of a grid, which are numbers, and with halos and offsets
 * some of which may be values of the program.
 *
 *   shard.sharding @g split_axes = [[0], [1]] halo_sizes = [%h, 1, 0, 0]
 *   mesh.sharding @g split_axes = [[0], []] partial = sum[1]
 *   <@g, [[0], []], partial = sum[1]>         in place of a value of that type, or as #mesh.shard<...>
 *   [[0], [], [1]]                            the RFC's: behind a list for each of two dims, sums over axis 1
 */
#ifndef MLIR_CUTS_H_
#define MLIR_CUTS_H_

#include "mlir/shard/grids.h"

/* A list of numbers and operands: [%i, 1, ?], or array<i64: -9223372036854775808, 1> with %i among the operands. */
typedef struct sw_im_mixed {
  int n;
  sw_id *operand; /* SW_IM_NUMBER: a number; SW_IM_OPEN: a value that no operand gives */
  int64_t *number;
} sw_im_mixed;
enum { SW_IM_NUMBER = -1, SW_IM_OPEN = -2 };
/* *use: the next operand of the op; moved behind those of the list. Nothing at v: an empty list. In the scratch arena.
 */
SW_CHECKED sw_rc sw_im_read_mixed(sw_importer *m, uint32_t op, sw_ir_span v, uint32_t *use, sw_im_mixed *out);
/* Is item i a number, or a value that follows from constants? */
bool sw_im_mixed_is_known(const sw_importer *m, const sw_im_mixed *x, int i, int64_t *out);

typedef struct sw_im_cuts {
  const sw_im_grid *grid;
  uint32_t at;                   /* where it is said */
  int n_dims;                    /* lists of axes */
  int n, n_partial;              /* axes that cut dims, and then those of the partial list */
  int8_t dim[SW_IM_GRID_AXES];   /* that axis[i] cuts, not decreasing */
  int16_t axis[SW_IM_GRID_AXES]; /* of the grid */
  sw_reduction kind;
  sw_ir_span partial; /* shardwright.partial: the partial list in the mesh's names; empty: none */
  sw_im_mixed halos, offsets;
} sw_im_cuts;

/* The axes of all shard.sharding ops of the text, also of functions that nobody calls. */
SW_CHECKED sw_rc sw_im_check_cuts(sw_importer *m);
/* Of a shard.sharding op; of what stands in place of its value; of the RFC's lists, for a tensor of that rank. Grids
 * and axes that are not there, and an axis twice, are errors at their place. */
SW_CHECKED sw_rc sw_im_read_cut(sw_importer *m, uint32_t op, sw_im_cuts *out);
SW_CHECKED sw_rc sw_im_read_inline_cut(sw_importer *m, uint32_t op, sw_ir_span in, sw_im_cuts *out);
SW_CHECKED sw_rc sw_im_read_listed_cut(sw_importer *m, uint32_t op, sw_ir_span list, int rank, sw_im_cuts *out);
/* [0, 1] as the axes of one dim; nothing at v: none. */
SW_CHECKED sw_rc sw_im_read_axes_cut(sw_importer *m, uint32_t op, sw_ir_span v, sw_im_cuts *out);
bool sw_im_same_cut(const sw_importer *m, const sw_im_cuts *a, const sw_im_cuts *b);
/* Does it fit a tensor of that rank? */
SW_CHECKED sw_rc sw_im_check_cut(sw_importer *m, const sw_im_cuts *c, int rank);
/* What axis `i` of the sharding is in the graph's mesh. */
SW_CHECKED sw_rc sw_im_ref_of_cut(sw_importer *m, const sw_im_cuts *c, int i, sw_axis_ref *out);
/* Over the graph's mesh; halos and offsets must be known. */
SW_CHECKED sw_rc sw_im_cut_as_sharding(sw_importer *m, const sw_im_cuts *c, const sw_type *t, sw_sharding *out);

/* Of operand `use`: a shard.sharding, or what a value is annotated with whose shard.get_sharding it is. */
SW_CHECKED sw_rc sw_im_read_sharding_of(sw_importer *m, uint32_t op, uint32_t use, sw_im_cuts *out);
/* The op in the same function that gives operand `use`; SW_IR_NONE: an argument. */
SW_CHECKED sw_rc sw_im_definer(sw_importer *m, uint32_t op, uint32_t use, uint32_t *out);
bool sw_im_is_sharding(const sw_ir_tree *t, const sw_ir_op *o);

#endif
