/* Inside of a machine: where the mesh's axes lie on the network, and the folded price of every axis subset. */
#ifndef HW_MACHINE_H_
#define HW_MACHINE_H_

#include <stdatomic.h>

#include "hw/group.h"

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
  int way; /* 1: ids ascend with coordinates, -1: they descend, else neither */
} axis_digit;

typedef struct axis_place {
  int n;
  axis_digit digit[SW_MAX_DIGITS]; /* minor first; sizes multiply to the axis' size */
} axis_place;

typedef struct sw_order sw_order; /* groups of a device order that mixes axes, as far as they are known */

struct sw_machine {
  const sw_profile *profile;
  const sw_profile *run; /* its kernels as the software of the compiler runs them */
  double host_s;         /* of a launch; 0: as the profile has it */
  bool unpacks;          /* sw_software.unpacks */
  sw_mesh mesh;
  double share; /* slowdown when devices outnumber the cores they run on; 1 elsewhere */
  int n_dims;
  net_dim dim[SW_MAX_DIMS];
  axis_place axis[SW_MAX_AXES];        /* empty where there is an order */
  sw_order *order;                     /* NULL: all groups along the same axes lie alike */
  const sw_group *subset;              /* by bit mask of whole axes */
  _Atomic(sw_machine_cache *) *caches; /* the first one */
  sw_lowering lowering;
  int64_t combine_bytes;       /* of calls of which a collective is a part; 0: it is a call */
  const sw_machine *combining; /* this machine with such calls; NULL: none */
  sw_price_weights weights;
};

/* Adds a dimension of a torus along which the group has n members, so many positions from the first to behind the last,
 * strides included. */
void sw_group_add_torus_dim(sw_group_part *part, const net_dim *dim, int64_t n, double extent);
/* An open profile with as many units of its outermost level as hold so many devices; another one as it is. */
SW_CHECKED sw_rc sw_profile_to_hold(const sw_profile *p, int64_t devices, sw_arena *arena, const sw_profile **out,
                                    sw_diag *d);
/* Lay the axes of m->mesh on the dimensions of the profile's network; m->order, where they do not lie regularly. */
SW_CHECKED sw_rc sw_machine_place(sw_machine *m, sw_arena *arena, sw_diag *d);

/* For machines whose device order mixes axes. */
SW_CHECKED sw_rc sw_order_make(const sw_machine *m, sw_arena *arena, sw_order **out, sw_diag *d);
/* The groups over refs that cost most, each looked at with all its devices. */
void sw_order_group(const sw_machine *m, const sw_axis_ref *refs, int n, sw_group *out);

/* Fold the profile's constants and the group's shape into prices. */
void sw_group_fold(const sw_machine *m, sw_group *g);
/* Seconds of a class over a group; `bytes` as in hw.h. */
double sw_group_price_s(const sw_group *g, sw_cost_class c, double bytes);

#endif
