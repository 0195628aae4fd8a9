/* How one tensor is cut over a mesh.
 *
 * Dimension d is cut by its axis refs, major first: with N = the product of their sizes and K elements, shard i holds
 * [min(K, i*B), min(K, (i+1)*B)) where B = ceil(K/N); later shards may be short or empty. A device's shard index is
 * its coordinates along those refs read major to minor. Over axes of `partial` the value is the reduction of what the
 * devices hold; over every other axis it is replicated.
 *
 *   mesh x=2,y=4, tensor 64x1024, "[[x],[y]]": device (i,j) holds rows [32i, 32i+32) and columns [256j, 256j+256).
 *
 * A plain value: copy freely. `offsets` and `halos` are borrowed (arena-owned) and usually NULL; they exclude each
 * other. Compare with sw_sharding_equal, not memcmp.
 */
#ifndef SHARDWRIGHT_SHARDING_H_
#define SHARDWRIGHT_SHARDING_H_

#include "shardwright/dtype.h"
#include "shardwright/mesh.h"
#include "shardwright/text.h"

enum { SW_MAX_REFS = 16 };

typedef struct sw_sharding {
  uint8_t rank;
  uint8_t n_refs;                /* refs that cut dimensions */
  uint8_t n_partial;             /* further refs, after those, over which the value is partial */
  uint8_t partial_kind;          /* sw_reduction; meaningful when n_partial > 0 */
  int8_t dim_of[SW_MAX_REFS];    /* dimension cut by refs[i], not decreasing; i < n_refs */
  sw_axis_ref refs[SW_MAX_REFS]; /* no digit of an axis twice */
  const int64_t *offsets;        /* per cut dimension in order: N_d + 1 starts, first 0, last K */
  const int64_t *halos;          /* per cut dimension in order: lo, hi */
} sw_sharding;

SW_API sw_sharding sw_sharding_replicated(int rank);
SW_API bool sw_sharding_equal(const sw_sharding *a, const sw_sharding *b);
SW_API int sw_sharding_compare(const sw_sharding *a, const sw_sharding *b); /* a total order, for stable output */
SW_API uint64_t sw_sharding_hash(const sw_sharding *s);
/* Appends bytes that two shardings share only when they are equal: a part of a dictionary's key. */
SW_API void sw_sharding_key(const sw_sharding *s, sw_text *key);
static inline bool sw_sharding_is_replicated(const sw_sharding *s) { return s->n_refs == 0 && s->n_partial == 0; }

/* Its lists of offsets and halos in the arena: for one that outlives what it borrows from. */
SW_API SW_CHECKED sw_rc sw_sharding_keep(sw_sharding *s, sw_arena *arena, sw_diag *d);

/* Append a ref to a dimension (as the minor-most), or put one into the partial list, which is kept sorted. False when
 * the table is full. */
SW_API bool sw_sharding_push(sw_sharding *s, int dim, sw_axis_ref ref);
SW_API bool sw_sharding_push_partial(sw_sharding *s, sw_reduction kind, sw_axis_ref ref);
/* The refs of one dimension: *n of them from the returned pointer. */
SW_API const sw_axis_ref *sw_sharding_dim(const sw_sharding *s, int dim, int *n);
static inline const sw_axis_ref *sw_sharding_partial(const sw_sharding *s) { return s->refs + s->n_refs; }
/* Does it have an axis in part alone? */
SW_API bool sw_sharding_has_subaxes(const sw_mesh *m, const sw_sharding *s);
/* Sub-axes that follow each other on one dimension, or in the partial list, joined: x:(1)2, x:(2)4 of x=8 are x. */
SW_API void sw_sharding_join(sw_sharding *s);
/* Sub-axes that follow each other on one dimension joined, sizes of 1 dropped, partial refs sorted:
 * equal placements of elements by equal axis lists become equal values. */
SW_API void sw_sharding_normalise(const sw_mesh *m, sw_sharding *s);
/* The same, and offsets and halos say nothing of dims that only axes of size 1 cut, unless these have halos: lists that
 * change are in the arena. The form that annotations, pins and plans are compared in. */
SW_API SW_CHECKED sw_rc sw_sharding_settle(const sw_mesh *m, sw_sharding *s, sw_arena *arena, sw_diag *d);

/* Does it fit the mesh and a tensor of these dims: refs exist, no digit twice, offsets and halos well formed. */
SW_API SW_CHECKED sw_rc sw_sharding_verify(const sw_mesh *m, const sw_sharding *s, int rank, const int64_t *dims,
                                           sw_diag *d);

/* Shards along a dimension (product of its ref sizes). */
SW_API int64_t sw_sharding_shards(const sw_sharding *s, int dim);
/* Extent of every device's buffer along a dimension: ceil(K/N), or the longest of `offsets`, plus halos. */
SW_API int64_t sw_sharding_block(const sw_sharding *s, int dim, int64_t k);
/* All of them; returns false when the product of block extents overflows. */
SW_API bool sw_sharding_local_dims(const sw_sharding *s, const int64_t *dims, int64_t *local);
/* What the elements are held in on a device: parts of f16 and of floats of fewer than 16 bits in f32, since a partial
 * sum may leave a range that the sum is within; everything else as it is. */
SW_API sw_dtype sw_sharding_held_as(const sw_sharding *s, sw_dtype t);
/* What moves between two shardings of a value: the wider of the two. */
SW_API sw_dtype sw_sharding_moved_as(const sw_sharding *from, const sw_sharding *to, sw_dtype t);
/* Bytes of one device's (padded) buffer of elements of type t, INT64_MAX on overflow. */
SW_API int64_t sw_sharding_local_bytes(const sw_sharding *s, const int64_t *dims, sw_dtype t);
/* The same of a value of type t as it is held. */
static inline int64_t sw_sharding_held_bytes(const sw_sharding *s, const int64_t *dims, sw_dtype t) {
  return sw_sharding_local_bytes(s, dims, sw_sharding_held_as(s, t));
}
/* Shard index of a device along a dimension, and the elements [*lo, *hi) that it holds there (halos not included). */
SW_API int64_t sw_sharding_index(const sw_mesh *m, const sw_sharding *s, int dim, int64_t device);
SW_API void sw_sharding_extent(const sw_mesh *m, const sw_sharding *s, int dim, int64_t k, int64_t device, int64_t *lo,
                               int64_t *hi);

/* What a device's buffer holds along a dimension: position p stands for global index start + p. */
typedef struct sw_extent {
  int64_t start, len;
  int64_t lo, hi;           /* positions that exist in the tensor, halos included */
  int64_t core_lo, core_hi; /* those that are the device's own */
} sw_extent;
SW_API void sw_sharding_extents(const sw_mesh *m, const sw_sharding *s, const int64_t *dims, int64_t device,
                                sw_extent *out);
/* Of a partial value: how many parts combine to it, and which one a device holds. One and 0 when it is not. */
SW_API int64_t sw_sharding_parts(const sw_sharding *s);
SW_API int64_t sw_sharding_part(const sw_mesh *m, const sw_sharding *s, int64_t device);

/* Native text: [[x],[y,z:(1)2],[]] partial sum[w]; missing trailing dimensions are whole; axes by name or number;
 * suffixes "offsets=[0,24,32]" and "halos=[1,2]". parse(print(s)) = s. `at` is where the text stands in a user's file,
 * for messages. */
SW_API void sw_sharding_print(const sw_mesh *m, const sw_sharding *s, sw_text *out);
SW_API SW_CHECKED sw_rc sw_sharding_parse(const sw_mesh *m, int rank, const char *text, size_t n, sw_span at,
                                          sw_arena *arena, sw_sharding *out, sw_diag *d);

/* Other spellings (docs/sharding-forms.md): */
typedef enum sw_sharding_form {
  SW_FORM_NATIVE,
  SW_FORM_SHARD,  /* [[0], [1]]: split_axes of MLIR's shard dialect */
  SW_FORM_SDY,    /* [{"x"}, {"y"}]: dimension shardings of Shardy; unreduced={"z"} */
  SW_FORM_JAX,    /* PartitionSpec('x', ('y', 'z'), None) */
  SW_FORM_DTENSOR /* S(0)R, one letter per mesh axis; P(sum) */
} sw_sharding_form;
/* SW_E_INPUT with a reason when the form cannot say it (partial in JAX, sub-axes in shard, ...). */
SW_API SW_CHECKED sw_rc sw_sharding_print_as(const sw_mesh *m, const sw_sharding *s, sw_sharding_form form,
                                             sw_text *out, sw_diag *d);
SW_API SW_CHECKED sw_rc sw_sharding_parse_as(const sw_mesh *m, int rank, sw_sharding_form form, const char *text,
                                             size_t n, sw_span at, sw_arena *arena, sw_sharding *out, sw_diag *d);
/* The same of a text that may leave dims open: "[[x,?],[?]]", [{"x", ?}], P(UNCONSTRAINED, 'x'). */
typedef struct sw_parsed_sharding {
  sw_sharding sharding;
  uint32_t open; /* dims, as bits */
} sw_parsed_sharding;
SW_API SW_CHECKED sw_rc sw_sharding_parse_open(const sw_mesh *m, int rank, sw_sharding_form form, const char *text,
                                               size_t n, sw_span at, sw_arena *arena, sw_parsed_sharding *out,
                                               sw_diag *d);

/* Which spelling a text is in, by its first signs: "[{" and "#sdy" Shardy, "PartitionSpec" and P with quotes JAX,
 * "split_axes" the shard dialect, letters S, R, P DTensor, else native (whose axes may be numbers too). */
SW_API sw_sharding_form sw_sharding_form_of(const char *text, size_t n);

#endif
