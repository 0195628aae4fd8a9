/* Rewriting a program: a new one is written beside the old one, op by op, and what nobody reads any more is left out.
 *
 *   old:  y = all_reduce x   z = all_slice y        new:  y = all_reduce x   z' = reduce_scatter x
 *
 * A pass walks the old ops in order. Each is copied, on what now stands for its operands, and then looked at: a pass
 * that knows better adds ops of its own behind it and lets their result stand for the op's. The copy, and what only it
 * reads, is swept away at the end. So a rewrite sees what earlier ones made, and one walk follows a chain of ops.
 */
#ifndef SPMD_PASSES_SPMD_REWRITE_H_
#define SPMD_PASSES_SPMD_REWRITE_H_

#include "base/array.h"
#include "shardwright/spmd.h"
#include "spmd/price.h"

typedef struct sw_rewrite {
  const sw_spmd *from; /* the old program, sealed */
  const sw_machine *machine;
  const sw_passes *how;
  const char *pass; /* its name: that of new values begins with it */
  sw_spmd to;       /* as far as it is written; not sealed */
  SW_ARRAY(sw_layout) layouts;
  SW_ARRAY(sw_origin) origins;
  SW_ARRAY(bool) kept;    /* by new op: it stays though nobody reads it */
  SW_ARRAY(int32_t) uses; /* by new value: its readers, as far as is known; no less than there will be */
  SW_ARRAY(bool) is_new;  /* by new value: the pass made it */
  sw_id *now;             /* by old value: what stands for it; -1: nothing yet */
  sw_arena scratch;       /* what one visit needs */
  int64_t counter;
  int32_t rewrites;
} sw_rewrite;

sw_rc sw_rewrite_begin(sw_rewrite *r, const sw_spmd *from, sw_diag *d);
/* The program without what nobody reads, sealed. What `from` points to is not needed by it. */
sw_rc sw_rewrite_end(sw_rewrite *r, sw_spmd *out, sw_diag *d);
void sw_rewrite_deinit(sw_rewrite *r);

/* An old op on what stands for its operands; its results then stand for themselves. (Of a reshape that changes nothing
 * the operand stands for the result.) */
sw_rc sw_rewrite_copy(sw_rewrite *r, sw_id old_op, sw_diag *d);
/* Copies every old op in order, and calls `visit` with the copy. */
typedef sw_rc (*sw_rewrite_visit)(sw_rewrite *r, sw_id old_op, sw_id new_op, void *user, sw_diag *d);
sw_rc sw_rewrite_walk(sw_rewrite *r, sw_rewrite_visit visit, void *user, sw_diag *d);
/* From here on `value` stands for the old one: a rewrite. */
void sw_rewrite_replace(sw_rewrite *r, sw_id old_value, sw_id value);
/* The same walk, whose `user` is by old value the axes of the mesh (bits) over which it is the same on all devices: a
 * const uint32_t ** (layout.c). */
sw_rc sw_rewrite_walk_same(sw_rewrite *r, sw_rewrite_visit visit, sw_diag *d);

/* --- what is there ------------------------------------------------------------------------------------------------ */

static inline const sw_op *sw_rewrite_op(const sw_rewrite *r, sw_id op) { return &r->to.program->ops[op]; }
static inline const sw_type *sw_rewrite_type(const sw_rewrite *r, sw_id v) { return &r->to.program->values[v].type; }
static inline const sw_layout *sw_rewrite_layout(const sw_rewrite *r, sw_id v) { return &r->layouts.at[v]; }
/* The op that makes a value; NULL: it is an argument. As the list of ops moves when one is added, a pass that adds ops
 * copies what it looks at. */
const sw_op *sw_rewrite_def(const sw_rewrite *r, sw_id value);
/* The same when it is that collective among axes, and moves a block of a tensor that lies on the program's mesh without
 * offsets or halos; else NULL. */
const sw_op *sw_rewrite_def_as(const sw_rewrite *r, sw_id value, sw_coll_op c);
bool sw_rewrite_is(const sw_rewrite *r, const sw_op *op, sw_coll_op c);
/* Do two values lie alike, as blocks of tensors of one type, or as none: can one stand for the other if they are equal?
 */
bool sw_rewrite_lie_alike(const sw_rewrite *r, sw_id a, sw_id b);
/* Does nobody but this op read the value, so that what makes it goes when the op does not need it any more? */
bool sw_rewrite_read_by_one(const sw_rewrite *r, const sw_op *reader, sw_id value);
double sw_rewrite_seconds(const sw_rewrite *r, const sw_op *op);
double sw_rewrite_seconds_of(const sw_rewrite *r, sw_id value); /* of the op that makes it */

/* --- adding ops --------------------------------------------------------------------------------------------------- */

/* What the new ops do is done for the op `like`, which they stand for. */
typedef struct sw_rewrite_as {
  sw_id like;       /* new op; -1: none, but something of this origin */
  sw_layout layout; /* of the result */
  const sw_origin *origin;
} sw_rewrite_as;
/* Where a value that is no block of anything lies. */
#define SW_NO_LAYOUT ((sw_layout){.source = -1})

sw_rc sw_rewrite_add(sw_rewrite *r, const sw_op_spec *spec, const sw_rewrite_as *as, sw_id *out, sw_diag *d);
/* Result dims follow from the layout, or are `dims` where there is none. */
sw_rc sw_rewrite_add_collective(sw_rewrite *r, sw_id x, const sw_collective *c, const int64_t *dims,
                                const sw_rewrite_as *as, sw_id *out, sw_diag *d);
/* The op `as->like` on other operands; `dims`: of its result, for what names its shape. */
sw_rc sw_rewrite_add_like(sw_rewrite *r, const sw_id *operands, const int64_t *dims, const sw_rewrite_as *as,
                          sw_id *out, sw_diag *d);
sw_rc sw_rewrite_add_convert(sw_rewrite *r, sw_id x, sw_dtype t, const sw_rewrite_as *as, sw_id *out, sw_diag *d);

/* --- layouts ------------------------------------------------------------------------------------------------------ */

/* Local extents of a block; false when the layout is none of a block, or does not fit. */
bool sw_rewrite_block_dims(const sw_rewrite *r, const sw_layout *l, int64_t *dims);
/* Extent of dimension `dim` on a device when `value` lies as the layout says: of a whole tensor, too. */
int64_t sw_rewrite_extent(const sw_rewrite *r, sw_id value, const sw_layout *l, int dim);
/* The layout with the axes as the last of a dimension, without them there, partial over them. False where that cannot
 * be: they cut or are partial already, are not there, or there is no room. */
bool sw_layout_cut(sw_layout *l, int dim, const sw_axis_ref *axes, int n);
bool sw_layout_join(sw_layout *l, int dim, const sw_axis_ref *axes, int n);
bool sw_layout_make_partial(sw_layout *l, sw_reduction kind, const sw_axis_ref *axes, int n);
/* Equal lists; equal sets. */
bool sw_refs_same_set(const sw_axis_ref *a, int n, const sw_axis_ref *b, int m);
bool sw_refs_overlap(const sw_axis_ref *a, int n, const sw_axis_ref *b, int m);

/* Are the refs whole axes of that set? */
bool sw_refs_within(const sw_mesh *m, const sw_axis_ref *refs, int n, uint32_t axes);

/* --- one dimension through an op ---------------------------------------------------------------------------------- */

enum { SW_MOST_FOLLOWED = 8 };
/* A parallel loop that is one dimension of the result, and of some operands. */
typedef struct sw_followed {
  int result_dim;
  int operand_dim[SW_MOST_FOLLOWED]; /* -1: the operand does not have it */
} sw_followed;
/* That of dimension `dim` of a port (operands, then the result); false where there is none, or the op cannot run on
 * blocks along it. */
bool sw_follow(const sw_rewrite *r, const sw_op *op, int port, int dim, sw_followed *out);
/* A value that is the same all along dimension `dim` (a splat constant, a broadcast into it) with another extent there,
 * or lying as `as` says; *out -1: it is no such value. */
sw_rc sw_rewrite_resized(sw_rewrite *r, sw_id value, int dim, int64_t extent, sw_id *out, sw_diag *d);
/* A value as an operand of the new op `like`, whose loop has this extent there: as it is where it does not have the
 * loop (dim -1), the same with another extent, or by an all_gather or all_slice like `c`; *out -1: it cannot be had. */
sw_rc sw_rewrite_take(sw_rewrite *r, sw_id value, int dim, const sw_collective *c, sw_id like, int64_t extent,
                      sw_id *out, sw_diag *d);

#endif
