/* Blocks of whole tensors by global index, for comparisons: no reassembly shares code with the collectives that are
 * being checked. */
#ifndef EXEC_BLOCK_H_
#define EXEC_BLOCK_H_

#include "shardwright/sharding.h"
#include "shardwright/tensor.h"
#include "base/lists.h"

/* A device's own block of a whole tensor: n[k] elements from lo[k] on, at positions from at[k] on of its buffer (behind
 * a low halo). */
void sw_block_extent(const sw_mesh *m, const sw_sharding *s, const sw_buffer *whole, int64_t device, int64_t *lo,
                     int64_t *n, int64_t *at);

/* A box of n[k] positions from lo[k] on in each dimension of a buffer. */
typedef struct sw_box {
  const sw_buffer *b;
  const int64_t *lo;
} sw_box;
extern const int64_t sw_box_origin[SW_MAX_RANK]; /* zeros */

/* Which element of a dense buffer is at an index. */
int64_t sw_box_offset(const sw_buffer *b, const int64_t *index);
/* Copies the real part of a block between its buffer and the whole tensor. */
void sw_block_copy(const sw_mesh *m, const sw_sharding *s, const sw_buffer *whole, const sw_buffer *block,
                   int64_t device, bool to_whole);

/* The blocks of one tensor on several devices. */
typedef struct sw_cut {
  const sw_mesh *mesh;
  const sw_sharding *sharding; /* NULL: every device has all of it */
  const sw_buffer *whole;
  const int64_t *position; /* of devices in the mesh; NULL: device i at position i */
  int64_t first, end;      /* devices */
  int64_t stride;          /* from one device's block to the next one's */
  bool poison;             /* halos, and what lies beyond the tensor's end */
} sw_cut;

static inline int64_t sw_cut_position(const sw_cut *c, int64_t device) {
  return c->position ? c->position[device] : device;
}

/* blocks[device * stride] for each of the devices; of a partial value its part (parts.h). Equal ones share their
 * elements, which those own that own[device * stride] says; an uncut tensor's are those of the whole. *borrows: some
 * are. */
SW_CHECKED sw_rc sw_cut_blocks(const sw_cut *c, sw_tensor *blocks, bool *own, bool *borrows, sw_diag *d);

/* One device's block beside its part of the whole. */
typedef struct sw_block_pair {
  const sw_mesh *mesh;
  const sw_sharding *sharding;
  const sw_buffer *whole, *block;
  const sw_buffer *turned; /* where it is true the block is right whatever it is; NULL: nowhere */
  int64_t device;
} sw_block_pair;

/* Compares its real part; indices in *out are global. */
SW_CHECKED sw_rc sw_block_compare(const sw_block_pair *c, sw_tolerance tol, sw_difference *out, sw_diag *d);

#endif
