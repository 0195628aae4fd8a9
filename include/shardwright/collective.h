/* The collectives of the shard dialect (and two of our own) as data: one table row per op, one descriptor per call.
 * Semantics on local shapes are those of seeds/shard-dialect.txt; `exchange` moves boxes between tilings and
 * `redistribute` is an exchange between two shardings.
 */
#ifndef SHARDWRIGHT_COLLECTIVE_H_
#define SHARDWRIGHT_COLLECTIVE_H_

#include "shardwright/tiling.h"

/* Which fields of the descriptor an op uses. */
enum {
  SW_COLL_USES_REDUCTION = 1,
  SW_COLL_USES_DIM = 2,     /* dim: gather_axis, slice_axis, scatter_axis, split_axis, or index of shift_axis */
  SW_COLL_USES_CONCAT = 4,  /* concat_dim */
  SW_COLL_USES_ROOT = 8,    /* root: in-group multi-index; destination of send, source of recv */
  SW_COLL_USES_OFFSET = 16, /* offset and rotate */
  SW_COLL_USES_TILES = 32,  /* src and dst tilings, fill */
  SW_COLL_USES_HALOS = 64,  /* halo_sizes and split axes, given as dst */
  SW_COLL_LOCAL = 128,      /* no communication */
};

/* X(id, text, flags): the text is the op's name in the shard dialect. */
#define SW_COLLECTIVES(X)                                                        \
  X(ALL_GATHER, "all_gather", SW_COLL_USES_DIM)                                  \
  X(ALL_REDUCE, "all_reduce", SW_COLL_USES_REDUCTION)                            \
  X(ALL_SLICE, "all_slice", SW_COLL_USES_DIM | SW_COLL_LOCAL)                    \
  X(ALL_TO_ALL, "all_to_all", SW_COLL_USES_DIM | SW_COLL_USES_CONCAT)            \
  X(REDUCE_SCATTER, "reduce_scatter", SW_COLL_USES_REDUCTION | SW_COLL_USES_DIM) \
  X(BROADCAST, "broadcast", SW_COLL_USES_ROOT)                                   \
  X(GATHER, "gather", SW_COLL_USES_DIM | SW_COLL_USES_ROOT)                      \
  X(SCATTER, "scatter", SW_COLL_USES_DIM | SW_COLL_USES_ROOT)                    \
  X(REDUCE, "reduce", SW_COLL_USES_REDUCTION | SW_COLL_USES_ROOT)                \
  X(SEND, "send", SW_COLL_USES_ROOT)                                             \
  X(RECV, "recv", SW_COLL_USES_ROOT)                                             \
  X(SHIFT, "shift", SW_COLL_USES_DIM | SW_COLL_USES_OFFSET)                      \
  X(UPDATE_HALO, "update_halo", SW_COLL_USES_HALOS)                              \
  X(BARRIER, "barrier", 0)                                                       \
  X(PERMUTE, "permute", SW_COLL_USES_TILES)                                      \
  X(EXCHANGE, "exchange", SW_COLL_USES_TILES)                                    \
  X(TO_PARTIAL, "to_partial", SW_COLL_USES_REDUCTION | SW_COLL_LOCAL)

typedef enum sw_coll_op {
#define SW_X(id, text, flags) SW_COLL_##id,
  SW_COLLECTIVES(SW_X)
#undef SW_X
      SW_COLL_COUNT
} sw_coll_op;

/* One collective, the same on every device of the program.
 *
 * all_slice/all_gather/all_to_all/reduce_scatter split and join by ceil blocks: piece i of a dimension of extent K
 * over n devices is [min(K,i*B), min(K,(i+1)*B)), B = ceil(K/n); a device's valid extents are those pieces and its
 * buffer is padded to B. permute is an exchange in which every device sends at most one whole block and receives at
 * most one. to_partial keeps the value on the first device of each group over `axes` and stores the reduction's
 * identity on the others (replicated -> partial, without communication). */
typedef struct sw_collective {
  sw_coll_op op;
  int n_axes;
  sw_axis_ref axes[SW_MAX_REFS]; /* the group; empty = a group of one; for exchange and permute unused */
  sw_reduction reduction;
  int dim, concat_dim;
  int n_root;
  int64_t root[SW_MAX_REFS]; /* recv: n_root 0 = from whoever sends */
  int64_t offset;
  bool rotate;
  const sw_tiling *src, *dst; /* borrowed */
  /* Positions of an exchange's result that lie outside the tensor: the reduction's identity (reduction used) or
   * poison. */
  bool fill_outside;
  double fill;
} sw_collective;

SW_API const char *sw_coll_text(sw_coll_op op);
SW_API unsigned sw_coll_flags(sw_coll_op op);
SW_API bool sw_coll_parse(const char *text, sw_coll_op *out);

/* "all_gather axes=[x,y] dim=1 f32 4x8 -> 4x64": for messages, traces and reports. dims may be NULL. */
SW_API void sw_collective_print(const sw_mesh *m, const sw_collective *c, sw_text *out);
/* Axes exist and do not overlap, dims < rank, root inside the group, tilings present. */
SW_API SW_CHECKED sw_rc sw_collective_verify(const sw_mesh *m, const sw_collective *c, int rank, sw_diag *d);
/* Local (padded) result dims from local input dims (rank of both). For gather on non-roots as well. */
SW_API SW_CHECKED sw_rc sw_collective_result_dims(const sw_mesh *m, const sw_collective *c, int rank, const int64_t *in,
                                                  int64_t *out, sw_diag *d);

/* A device's view of a tensor: dense row-major buffer of `dims` (padded), of which valid[i] <= dims[i] leading
 * positions mean something. */
typedef struct sw_buffer {
  void *data;
  sw_dtype dtype;
  int rank;
  int64_t dims[SW_MAX_RANK];
  int64_t valid[SW_MAX_RANK];
} sw_buffer;

/* The oracle: apply the collective's definition to every device's buffers in one loop, nothing clever. in[d] and
 * out[d] for every device of the mesh (out[d].dims set by the caller, .valid filled here); send/recv excepted.
 * Undefined results are poisoned. */
SW_API SW_CHECKED sw_rc sw_collective_oracle(const sw_mesh *m, const sw_collective *c, const sw_buffer *in,
                                             sw_buffer *out, sw_diag *d);
/* Fill with a pattern that shows in results: signalling garbage that is NaN for floats, 0xA5.. for integers. */
SW_API void sw_buffer_poison(sw_buffer *b);

#endif
