/* The collectives of the shard dialect (and some of our own) as data: one table row per op, one descriptor per call.
 * Semantics on local shapes are those of the dialect (tests/seeds/shard-dialect.txt shows each); `exchange` moves boxes
 * between tilings and `redistribute` is an exchange between two shardings.
 */
#ifndef SHARDWRIGHT_COLLECTIVE_H_
#define SHARDWRIGHT_COLLECTIVE_H_

#include "shardwright/tiling.h"

/* Which fields of the descriptor an op uses, and what it does. */
enum {
  SW_COLL_USES_REDUCTION = 1,
  SW_COLL_USES_DIM = 2,     /* dim: gather_axis, slice_axis, scatter_axis, split_axis; of shift: index into axes */
  SW_COLL_USES_CONCAT = 4,  /* concat_dim */
  SW_COLL_USES_ROOT = 8,    /* root: in-group multi-index; destination of send, source of recv */
  SW_COLL_USES_OFFSET = 16, /* offset and rotate */
  SW_COLL_USES_TILES = 32,  /* src and dst tilings, fill */
  SW_COLL_USES_HALOS = 64,  /* halo_sizes and split axes, given as dst */
  SW_COLL_TILED = SW_COLL_USES_TILES | SW_COLL_USES_HALOS,
  SW_COLL_LOCAL = 128,      /* no communication */
  SW_COLL_CUTS = 256,       /* a result is a piece along dim */
  SW_COLL_JOINS = 512,      /* a result has pieces of all members along concat_dim, or dim where that is not used */
  SW_COLL_FROM_ROOT = 1024, /* of inputs only the root's counts */
  SW_COLL_TO_ROOT = 2048,   /* only the root gets a result */
  SW_COLL_NO_INPUT = 4096,
  SW_COLL_NO_RESULT = 8192,
  SW_COLL_WHOLE = 16384, /* moves all of a buffer, where its price is that of the (n-1)/n which a device lacks */
};

/* X(id, text, cost, flags): the op's name in the shard dialect; SW_COST_* of the formula that prices it
 * (src/hw/machine.c has those of local ops). What an op means is a row of src/collective/oracle.c, what it moves one of
 * src/comm/comm_moves.c, how it is written one each of emit/sdy.c and emit/spmd_collective.c, and src/reshard/step.c
 * says where it leads. */
#define SW_COLLECTIVES(X)                                                                                           \
  X(ALL_GATHER, "all_gather", ALL_GATHER, SW_COLL_USES_DIM | SW_COLL_JOINS)                                         \
  X(ALL_REDUCE, "all_reduce", ALL_REDUCE, SW_COLL_USES_REDUCTION)                                                   \
  X(ALL_SLICE, "all_slice", COPY, SW_COLL_USES_DIM | SW_COLL_CUTS | SW_COLL_LOCAL)                                  \
  X(ALL_TO_ALL, "all_to_all", ALL_TO_ALL, SW_COLL_USES_DIM | SW_COLL_USES_CONCAT | SW_COLL_CUTS | SW_COLL_JOINS)    \
  X(REDUCE_SCATTER, "reduce_scatter", REDUCE_SCATTER, SW_COLL_USES_REDUCTION | SW_COLL_USES_DIM | SW_COLL_CUTS)     \
  X(BROADCAST, "broadcast", ALL_GATHER, SW_COLL_USES_ROOT | SW_COLL_FROM_ROOT | SW_COLL_WHOLE)                      \
  X(GATHER, "gather", ALL_GATHER, SW_COLL_USES_DIM | SW_COLL_USES_ROOT | SW_COLL_JOINS | SW_COLL_TO_ROOT)           \
  X(SCATTER, "scatter", ALL_GATHER, SW_COLL_USES_DIM | SW_COLL_USES_ROOT | SW_COLL_CUTS | SW_COLL_FROM_ROOT)        \
  X(REDUCE, "reduce", REDUCE_SCATTER, SW_COLL_USES_REDUCTION | SW_COLL_USES_ROOT | SW_COLL_TO_ROOT | SW_COLL_WHOLE) \
  X(SEND, "send", PERMUTE, SW_COLL_USES_ROOT | SW_COLL_NO_RESULT)                                                   \
  X(RECV, "recv", PERMUTE, SW_COLL_USES_ROOT | SW_COLL_NO_INPUT)                                                    \
  X(SHIFT, "shift", PERMUTE, SW_COLL_USES_DIM | SW_COLL_USES_OFFSET)                                                \
  X(UPDATE_HALO, "update_halo", PERMUTE, SW_COLL_USES_HALOS)                                                        \
  X(BARRIER, "barrier", ALL_REDUCE, SW_COLL_NO_INPUT | SW_COLL_NO_RESULT)                                           \
  X(PERMUTE, "permute", PERMUTE, SW_COLL_USES_TILES)                                                                \
  X(EXCHANGE, "exchange", ALL_TO_ALL, SW_COLL_USES_TILES)                                                           \
  X(ALL_TO_ALL_DIMS, "all_to_all_dims", ALL_TO_ALL, SW_COLL_USES_TILES)                                             \
  X(TO_PARTIAL, "to_partial", COPY, SW_COLL_USES_REDUCTION | SW_COLL_LOCAL)                                         \
  X(SHARD_TO_PARTIAL, "shard_to_partial", PIECE, SW_COLL_USES_REDUCTION | SW_COLL_USES_TILES | SW_COLL_LOCAL)

typedef enum sw_coll_op {
#define SW_X(id, text, cost, flags) SW_COLL_##id,
  SW_COLLECTIVES(SW_X) SW_COLL_COUNT
#undef SW_X
} sw_coll_op;

/* The list of devices that a device is in, and its place there. */
typedef struct sw_device_list {
  const int64_t *members;
  int64_t n, place; /* n 0: it is in none */
} sw_device_list;

/* A root that an operand gives, of an op of a graph. */
enum { SW_ROOT_IS_OPERAND = -1 };

/* One collective, the same on every device of the program (roots may differ per group).
 *
 * Pieces are ceil blocks: piece i of K positions in blocks of B is [min(K,i*B), min(K,(i+1)*B)). A device's buffer is
 * padded to the block, and only its valid positions move:
 * - all_slice, reduce_scatter, scatter cut the input's valid extent along `dim` into blocks of the result's extent.
 * - all_gather, gather put the members' valid extents along `dim` one after the other in group order (so the piece of
 *   member i starts at i*B, as full blocks come before short and empty ones), cut to the result's extent.
 * - all_to_all cuts along `dim` and joins along `concat_dim`; when both are one, the block is ceil(extent / members).
 * - shift brings the input of the device at coordinate c - offset along axes[dim] to the one at c.
 * - update_halo: `dst` is a tiling with base -lo, step B, len B+lo+hi; input and result have its shape, the input's
 *   core [lo, lo+B) is initialised; positions of the result outside the tensor are the input's.
 * - exchange: the result's positions inside the tensor come from a holder under `src`; permute is an exchange in which
 *   every device sends at most one whole block and receives at most one, and all_to_all_dims one in which the devices
 *   of each group over `axes` give each other equal parts: an all_to_all that cuts and joins several dimensions.
 * - to_partial keeps the value on the first device of each group over `axes` and stores the reduction's identity on
 *   the others (replicated -> partial, without communication). Parts of an `average` are the copies as they are.
 * - shard_to_partial keeps the positions of the result that the device itself holds under `src` and stores the
 *   reduction's identity at the others (sharded -> partial, without communication): what axes cut before, and do not
 *   cut `dst`, is partial (`axes`).
 * Groups that no axes make are lists of devices (`lists`), and moves that no shift makes name their sources
 * (`sources`). Along every other dimension the members' valid extents agree. The result's valid extents follow; those
 * of exchange and update_halo are the positions up to the end of the tensor, or all when `fill_outside`. What the
 * dialect leaves undefined (non-roots of gather and reduce, the open end of a shift) has valid extents 0 and is
 * poisoned. */
typedef struct sw_collective {
  sw_coll_op op;
  int n_axes;
  sw_axis_ref axes[SW_MAX_REFS]; /* the group; empty = a group of one; for exchange and permute unused */
  /* NULL, or by device its group, instead of `axes` and without a root (the first is it). All are as long where the op
   * cuts or joins. Borrowed. */
  const sw_device_list *lists;
  sw_reduction reduction;
  int dim, concat_dim;
  int n_root;
  int64_t root[SW_MAX_REFS]; /* recv: n_root 0 = from whoever sends; of an op of a graph: or an operand */
  int64_t offset;
  bool rotate;
  const int64_t
      *sources; /* of a shift: NULL, or by member whose input it gets (-1: nobody's), instead of dim and offset */
  const sw_tiling *src, *dst; /* borrowed */
  /* Positions of an exchange's result that lie outside the tensor: the reduction's identity (reduction used) or
   * poison. */
  bool fill_outside;
  double fill;
} sw_collective;

SW_API const char *sw_coll_text(sw_coll_op op);
SW_API unsigned sw_coll_flags(sw_coll_op op);
SW_API bool sw_coll_parse(const char *text, sw_coll_op *out);

/* Does it combine values of several devices? (Ops that make partial values use a reduction for its identity.) */
static inline bool sw_coll_combines(sw_coll_op op) {
  return (sw_coll_flags(op) & (SW_COLL_USES_REDUCTION | SW_COLL_LOCAL)) == SW_COLL_USES_REDUCTION;
}

/* Does it make parts of a value that none of the devices has in parts? */
static inline bool sw_coll_makes_parts(sw_coll_op op) {
  const unsigned both = SW_COLL_USES_REDUCTION | SW_COLL_LOCAL;
  return (sw_coll_flags(op) & both) == both;
}

/* Is the reduction's identity part of its result? Copies are parts of an average as they are. */
static inline bool sw_collective_is_neutral_beside(const sw_collective *c) {
  return sw_coll_makes_parts(c->op) && !(c->op == SW_COLL_TO_PARTIAL && c->reduction == SW_REDUCE_AVERAGE);
}

/* The dimension along which the members' pieces stand one after the other in a result, or -1. */
static inline int sw_collective_joined_dim(const sw_collective *c) {
  const unsigned flags = sw_coll_flags(c->op);
  return !(flags & SW_COLL_JOINS) ? -1 : flags & SW_COLL_USES_CONCAT ? c->concat_dim : c->dim;
}

/* The dimension of which a result has a piece, or -1. */
static inline int sw_collective_cut_dim(const sw_collective *c) {
  return sw_coll_flags(c->op) & SW_COLL_CUTS ? c->dim : -1;
}

/* "all_gather axes=[x,y] dim=1": for messages, traces and reports. */
SW_API void sw_collective_print(const sw_mesh *m, const sw_collective *c, sw_text *out);
/* A device's group: how many are in it, its own index there, and the device at an index. */
SW_API int64_t sw_collective_members(const sw_collective *c, int64_t device);
SW_API int64_t sw_collective_place(const sw_mesh *m, const sw_collective *c, int64_t device);
SW_API int64_t sw_collective_peer(const sw_mesh *m, const sw_collective *c, int64_t device, int64_t index);
/* Index of the root in its group (0 when there is no root). */
SW_API int64_t sw_collective_root(const sw_collective *c);
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

/* Where the element at index at[0 .. rank) is. */
static inline void *sw_buffer_element(const sw_buffer *b, const int64_t *at) {
  int64_t index = 0;
  for (int i = 0; i < b->rank; i++) index = index * b->dims[i] + at[i];
  return (char *)b->data + index * sw_dtype_bytes(b->dtype);
}

SW_API bool sw_buffer_bytes(const sw_buffer *b, int64_t *bytes); /* of all of dims; false when it overflows */

/* Do one device's buffers fit the collective: ranks, dtypes, extents, valid <= dims. `is_root`: the device is the root
 * of its group (others may lack `in` of broadcast and scatter, and `out` of gather and reduce). */
SW_API SW_CHECKED sw_rc sw_collective_check_buffers(const sw_mesh *m, const sw_collective *c, bool is_root,
                                                    const sw_buffer *in, const sw_buffer *out, sw_diag *d);

/* The oracle: apply the collective's definition to every device's buffers in one loop, nothing clever. in[d] and
 * out[d] for every device of the mesh (out[d].dims set by the caller, .valid filled here); send/recv excepted.
 * Undefined results are poisoned. */
SW_API SW_CHECKED sw_rc sw_collective_oracle(const sw_mesh *m, const sw_collective *c, const sw_buffer *in,
                                             sw_buffer *out, sw_diag *d);
/* Fill with a pattern that shows in results: signalling garbage that is NaN for floats, 0xA5.. for integers. */
SW_API void sw_buffer_poison(sw_buffer *b);
SW_API void sw_element_poison(sw_dtype t, void *at);

/* The tiling of the owned blocks inside a tiling with halos (base -lo, step B, len B+lo+hi): base 0, len B. */
SW_API void sw_tiling_core(const sw_tiling *halo, sw_tiling *core);

#endif
