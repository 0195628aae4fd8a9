/* Inside of a machine: where the mesh's axes lie on the network, and the folded price of every axis subset. */
#ifndef HW_MACHINE_H_
#define HW_MACHINE_H_

#include "shardwright/profile.h"

enum { SW_MAX_DIMS = SW_MAX_LEVELS * SW_MAX_TORUS_DIMS, SW_MAX_DIGITS = 24 };

/* One dimension of the network, all levels flattened, innermost first. */
typedef struct net_dim {
  int level;
  bool wrap;
  int64_t size;
  int64_t stride; /* in device ids */
} net_dim;

/* A part of an axis: `size` steps of `stride` units along one dimension of the network. */
typedef struct axis_digit {
  int dim;
  int64_t stride, size;
} axis_digit;

typedef struct axis_place {
  int n;
  axis_digit digit[SW_MAX_DIGITS]; /* minor first; sizes multiply to the axis' size */
} axis_place;

/* What a group of devices is on one level. Members of the level below count once. */
typedef struct group_part {
  int level;
  int64_t n;      /* members, > 1 */
  int64_t inside; /* devices of the group below each member */
  double steps;   /* of the latency: n-1, on a torus the hops of the longest path */
  double links;   /* torus: links into a device that a ring collective can use at once, shared ones counted in part */
  double spread;  /* torus: bytes over the busiest link in an all_to_all, per byte of a device's buffer */
  double stride;  /* torus: groups that share a link */
} group_part;

typedef struct group_shape {
  int64_t size;
  int n_parts;
  group_part part[SW_MAX_LEVELS]; /* innermost first; only levels where the group has several members */
} group_shape;

/* Price of one class over one group: latency + combine over parts (ramp*sqrt(bytes) + slope*bytes). */
typedef struct folded_line {
  double latency_s;
  double ramp[SW_MAX_LEVELS], slope[SW_MAX_LEVELS];
} folded_line;

typedef struct group_price {
  int64_t size;
  int n_parts;
  double serial[SW_MAX_LEVELS];
  folded_line line[SW_COST_CLASS_COUNT];
} group_price;

struct sw_machine {
  const sw_profile *profile;
  sw_mesh mesh;
  double share; /* slowdown when devices outnumber the cores they run on; 1 elsewhere */
  int n_dims;
  net_dim dim[SW_MAX_DIMS];
  axis_place axis[SW_MAX_AXES];
  const group_price *subset; /* by bit mask of whole axes */
};

/* The group over refs, which may be parts of axes. */
void sw_group_shape_of(const sw_machine *m, const sw_axis_ref *refs, int n, group_shape *out);
/* Into how many the minor part of the ref cuts one unit of the level: 1 when it has none, its size when all of it stays
 * inside a unit. */
int64_t sw_axis_ref_inside(const sw_machine *m, sw_axis_ref ref, int level);

/* Lay the axes of m->mesh on the dimensions of the profile's network. */
SW_CHECKED sw_rc sw_machine_place(sw_machine *m, sw_diag *d);

/* Fold the profile's constants and the group's shape into a price. */
void sw_group_price_of(const sw_machine *m, const group_shape *g, group_price *out);
/* Seconds of a class over a group; `bytes` as in hw.h. */
double sw_group_price_s(const group_price *p, sw_cost_class c, double bytes);

#endif
