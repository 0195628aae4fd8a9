/* Which boxes a collective moves between the members of a group: the same arithmetic for every engine. */
#ifndef SRC_COMM_MOVES_H_
#define SRC_COMM_MOVES_H_

#include "shardwright/comm.h"

/* What a member brings to a call, as the others see it. */
typedef struct sw_member {
  sw_comm_call call;
  int64_t device;
} sw_member;

/* One call of a whole group. */
typedef struct sw_view {
  const sw_mesh *mesh;
  const sw_collective *coll; /* of any member: they agree */
  int64_t n;
  const sw_member *members; /* group order; `stride` bytes apart */
  size_t stride;
} sw_view;

static inline const sw_member *sw_view_member(const sw_view *v, int64_t j) {
  return (const sw_member *)(const void *)((const char *)v->members + (size_t)j * v->stride);
}

enum { SW_FROM_ALL = -1 };

/* A box of `extent` at `src_at` of member `from`'s input that goes to `dst_at` of member `to`'s result; from
 * SW_FROM_ALL: the reduction of the same box of all members. */
typedef struct sw_transfer {
  int64_t from, to;
  int64_t extent[SW_MAX_RANK], src_at[SW_MAX_RANK], dst_at[SW_MAX_RANK];
} sw_transfer;

typedef sw_rc (*sw_transfer_visit)(void *user, const sw_transfer *move, sw_diag *d);

/* Every box of member `to`'s result that holds something, in a fixed order; none is visited when it is empty.
 * update_halo leaves out what is the member's own. */
SW_CHECKED sw_rc sw_moves_to(const sw_view *v, int64_t to, sw_transfer_visit visit, void *user, sw_diag *d);
/* The result's valid extents. */
void sw_moves_valid(const sw_view *v, int64_t to, int64_t *valid);
/* Is the member's result defined (not: non-roots of gather and reduce, the open end of a shift)? */
bool sw_moves_defined(const sw_view *v, int64_t to);

/* The member whose input a shift brings to member `to`, or -1. */
int64_t sw_moves_shift_source(const sw_collective *c, int64_t to);

/* What makes devices a group: axes (coll->axes, the split axes of update_halo, or all for exchange), or a list. */
typedef struct sw_circle {
  int n_axes;
  sw_axis_ref axes[SW_MAX_REFS];
  const sw_device_list *list; /* NULL: the axes */
} sw_circle;

/* The device's in a call. */
void sw_circle_of(const sw_mesh *m, const sw_collective *c, int64_t device, sw_circle *out);
bool sw_circle_equal(const sw_circle *a, const sw_circle *b);
int64_t sw_circle_size(const sw_circle *c);
/* The device's index in its circle, and who is at an index. */
int64_t sw_circle_index(const sw_mesh *m, const sw_circle *c, int64_t device);
int64_t sw_circle_peer(const sw_mesh *m, const sw_circle *c, int64_t device, int64_t index);
/* Does the input's valid extent along `dim` have to be the same on all members? */
bool sw_moves_extent_agrees(const sw_collective *c, int dim);

#endif
