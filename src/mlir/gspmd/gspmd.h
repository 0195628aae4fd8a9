/* GSPMD: shardings in tiles, and parts of a program that are written for one device in GSPMD's form, as manual
 * computations are in Shardy's:
 *
 *   %1 = custom_call @SPMDFullToShardShape(%0)     tensor<8x4xf32> -> tensor<1x4xf32>: from here on, one device's part
 *   %2 = sine %1
 *   %3 = custom_call @SPMDShardToFullShape(%2)     the whole again
 *
 * A part is all ops of a block that hang together by such values, wherever they stand among others.
 */
#ifndef MLIR_GSPMD_H_
#define MLIR_GSPMD_H_

#include "mlir/import/dialect.h"

/* What is kept of them in an importer. */
typedef struct sw_im_parts {
  uint32_t n;
  sw_im_part *at;
  uint32_t *part_of;        /* by op of the text: 0, or 1 + its part; NULL: there are none */
  const sw_im_part *within; /* the one that is being read */
  SW_ARRAY(sw_id) local;    /* values of one device, in ascending order; not inherited */
} sw_im_parts;
sw_im_parts *sw_gspmd_parts_of(const sw_importer *m);

/* The parts that can be taken out: what comes in is there before the first value goes out. In the importer's keep
 * arena. */
SW_CHECKED sw_rc sw_im_find_parts(sw_importer *m);
bool sw_im_goes_in(const sw_ir_tree *t, const sw_ir_op *o);
bool sw_im_goes_out(const sw_ir_tree *t, const sw_ir_op *o);

/* Parts for one device in GSPMD's form. The first imports all of a part where its first value goes out, and
 * leaves out its other ops; the second keeps, op by op, what is of a part that cannot be taken out. Both set *done for
 * such ops; others are left to their rows. */
SW_CHECKED sw_rc sw_im_part_at(sw_importer *m, uint32_t op, bool *done);
SW_CHECKED sw_rc sw_im_local_part(sw_importer *m, uint32_t op, bool *done);

/* backend_config = "unspecified_dims=[0,2]": dims that a sharding leaves to others, as bits. */
uint32_t sw_im_unspecified_dims(sw_importer *m, uint32_t op);
/* A sharding in tiles, "{devices=[2,4]<=[8]}", over the mesh; *ok = false when it cannot be said there. *manual (may be
 * NULL): the axes that the text calls manual, on the dim of a vector; they cut no dim. */
SW_CHECKED sw_rc sw_im_read_tiles(sw_importer *m, const sw_mesh *mesh, const char *text, int rank, sw_sharding *out,
                                  sw_sharding *manual, bool *ok);
/* How many dims the tensor has that a sharding in tiles is of; -1: the text is none in tiles, or not known. */
int sw_im_tiles_rank(const char *text);
/* The mesh cut into axes of prime size; false: they are too many. */
bool sw_im_digits(const sw_mesh *mesh, sw_mesh *out);

#endif
