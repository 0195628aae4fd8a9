/* A tiling: which box of a tensor each device holds, more general than a sharding. Along dimension d the device with
 * shard index i (over that dimension's refs) has a buffer of `len` positions that stand for
 *
 *   global indices base + i*step, base + i*step + 1, ... base + i*step + len-1
 *
 * of which those in [0, size) exist; the others are outside the tensor. A sharding is base 0, step = len = ceil(K/N).
 * Windows of an op are tilings too: a convolution of stride 2, kernel 3, padding 1 whose result is cut into blocks of
 * B needs base -1, step 2B, len 2(B-1)+3 of its input; a slice from s base s; a reverse a negative step. This one
 * notion makes halo exchange, shifts, slices, pads and concatenations the same collective: an exchange from one
 * tiling to another.
 */
#ifndef SHARDWRIGHT_TILING_H_
#define SHARDWRIGHT_TILING_H_

#include "shardwright/sharding.h"

typedef struct sw_tile_dim {
  uint8_t first_ref, n_refs; /* into refs */
  int64_t size;              /* of the tensor along this dimension */
  int64_t base, step, len;
  const int64_t *starts; /* NULL, or shard i holds [starts[i], starts[i+1]) (sharded_dims_offsets); borrowed */
} sw_tile_dim;

/* Another mesh over the same devices (another order, other axes): a device of the program's mesh sits there at
 * position[device], and device[position] is the inverse. */
typedef struct sw_other_mesh {
  sw_mesh mesh;
  const int32_t *position, *device;
} sw_other_mesh;

typedef struct sw_tiling {
  int rank;
  uint8_t first_apart, n_apart; /* into refs: along these devices hold different values (the value is partial over
                                   them), so that nobody takes from another across them */
  sw_tile_dim dim[SW_MAX_RANK];
  sw_axis_ref refs[SW_MAX_REFS];
  const sw_other_mesh *other; /* NULL, or (in what an exchange arrives at, nothing apart, and what then becomes partial)
                                 the mesh that refs speak of; borrowed */
} sw_tiling;

/* The tiling of a sharding (its partial axes are `apart`; halos give base -lo, len B+lo+hi). */
SW_API void sw_tiling_of(const sw_sharding *s, int rank, const int64_t *dims, sw_tiling *out);
SW_API bool sw_tiling_equal(const sw_tiling *a, const sw_tiling *b);

/* Pairs devices of the two bound meshes by their ids. In the arena; the meshes' id lists are not kept.
 * SW_E_INPUT unless both have as many devices. */
SW_API SW_CHECKED sw_rc sw_other_mesh_make(const sw_mesh *program, const sw_mesh *other, sw_arena *arena,
                                           const sw_other_mesh **out, sw_diag *d);
/* The same placement written with axes of the program's mesh; false where these cannot say it. */
SW_API bool sw_sharding_from_other_mesh(const sw_mesh *program, const sw_other_mesh *o, const sw_sharding *s,
                                        sw_sharding *out);
/* Shard index of a device of the program's mesh along a dimension. */
SW_API int64_t sw_tiling_shard(const sw_mesh *m, const sw_tiling *t, int dim, int64_t device);

/* Along dimension d, device's buffer position p stands for global index *start + p; positions [*lo, *hi) (buffer
 * coordinates, 0 <= lo <= hi <= len) exist in the tensor. */
SW_API void sw_tiling_window(const sw_mesh *m, const sw_tiling *t, int dim, int64_t device, int64_t *start, int64_t *lo,
                             int64_t *hi);

/* One message of the exchange src -> dst: a box of the tensor, in global indices, that `to` takes from `from`. */
typedef struct sw_tile_move {
  int64_t from, to; /* devices; equal for a local copy */
  int64_t lo[SW_MAX_RANK], hi[SW_MAX_RANK];
} sw_tile_move;

/* Every box that device `to` needs, each from exactly one holder, boxes disjoint and covering what of `to`'s window
 * exists. Among replicas of a block: itself first, then holders that differ from `to` only in the innermost axes, then
 * round robin, so that senders share the load. Calls `visit` once per box, in a fixed order; stops at a failure. Cost:
 * proportional to the boxes found. */
typedef sw_rc (*sw_tile_visit)(void *user, const sw_tile_move *move, sw_diag *d);
SW_API SW_CHECKED sw_rc sw_tiling_moves_to(const sw_mesh *m, const sw_tiling *src, const sw_tiling *dst, int64_t to,
                                           sw_tile_visit visit, void *user, sw_diag *d);

/* Elements each device must receive that it does not hold already: the lower bound of any exchange, and what the
 * direct exchange moves. *max over devices, *total over all. Closed form per dimension where possible: this is in the
 * inner loop of planning. */
SW_API void sw_tiling_traffic(const sw_mesh *m, const sw_tiling *src, const sw_tiling *dst, double *max, double *total);

#endif
