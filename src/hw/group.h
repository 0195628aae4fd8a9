/* Groups of devices on a machine, folded once for many questions: what a collective or a direct exchange costs among
 * the devices that differ along some axes. hw.h answers single questions with these.
 */
#ifndef HW_GROUP_H_
#define HW_GROUP_H_

#include "shardwright/hw.h"
#include "shardwright/profile.h"

/* What a group of devices is on one level. Members are what the level connects: devices, or units of the level below
 * with all their devices. Where the device order puts unequally many into members, the worst of them counts. */
typedef struct sw_group_part {
  int level;
  int64_t n;     /* members, > 1 */
  int64_t under; /* devices of the group in all members together */
  int64_t apart; /* of those, the ones that are not in a device's own member */
  double lacked; /* of what all hold together, what a member lacks, per device of the group in it */
  double steps;  /* of the latency: n-1, on a torus the hops of the longest path */
  double links;  /* torus: links into a device that a ring collective can use at once, shared ones counted in part */
  double spread; /* torus: bytes over the busiest link in an all_to_all, per byte of a device's buffer */
  double stride; /* torus: groups that share a link */
} sw_group_part;

typedef struct sw_group_shape {
  int64_t size;
  int n_parts;
  sw_group_part part[SW_MAX_LEVELS]; /* innermost first; only levels where the group has several members */
} sw_group_shape;

/* Where a part of a curve lies among knots. */
typedef struct sw_curve_knots {
  const sw_cost_knots *at; /* NULL: none */
  double ln_bytes;         /* over the busiest link, of a size of one */
  double position;         /* among the members */
  double latency_s;        /* of the formula */
  double first_s;          /* of no bytes, which is in the curve's latency */
} sw_curve_knots;

/* The price of one question at any size: latency, and work over the parts, from the inside out, each ramp*sqrt(size) +
 * slope*size; with knots, what the part takes beyond no bytes. */
typedef struct sw_curve {
  int n_parts;
  double latency_s;
  double ramp[SW_MAX_LEVELS], slope[SW_MAX_LEVELS];
  double serial[SW_MAX_LEVELS]; /* of the shorter of two parts' work, what does not overlap */
  bool has_knots;
  sw_curve_knots knots[SW_MAX_LEVELS];
} sw_curve;

/* All groups along some axes lie alike, unless the device order mixes them: then it is one of those that cost most, and
 * `next` another one, that costs more for some question. */
typedef struct sw_group {
  sw_group_shape shape;
  sw_curve line[SW_COST_CLASS_COUNT]; /* of a class, by bytes */
  const struct sw_group *next;        /* lives as long as the machine; NULL: none */
} sw_group;

/* Of such an op several may be done in one call. */
SW_API bool sw_coll_is_combined(sw_coll_op op);
/* Are collectives parts of calls, which share their latency? */
SW_API bool sw_machine_combines(const sw_machine *m);

/* What another layer has worked out of a machine and keeps with it, for whoever asks next, on any thread. `of` tells
 * whose it is; found by walking the list; destroyed with the machine's arena. */
typedef struct sw_machine_cache {
  struct sw_machine_cache *next;
  const void *of;
  void (*destroy)(struct sw_machine_cache *cache);
} sw_machine_cache;
SW_API sw_machine_cache *sw_machine_caches(const sw_machine *m); /* the newest, NULL when there is none */
SW_API void sw_machine_cache_add(const sw_machine *m, sw_machine_cache *cache);

/* The group along refs, which may be parts of axes. */
SW_API void sw_machine_group(const sw_machine *m, const sw_axis_ref *refs, int n, sw_group *out);
/* What prices over the group are multiplied by, and the least that those are which cross a level. */
double sw_group_weight(const sw_machine *m, const sw_group_shape *g);
SW_API double sw_machine_least_weight(const sw_machine *m, int level);
/* Whose formula prices the op; SW_COST_CLASS_COUNT or more: it is local. */
SW_API sw_cost_class sw_coll_cost_class(sw_coll_op op);
/* As sw_machine_collective_s. */
SW_API double sw_group_collective_s(const sw_machine *m, const sw_group *g, sw_coll_op op, double bytes);

/* What the busiest device of a direct exchange receives. */
typedef struct sw_exchange_load {
  double bytes;                        /* in all, > 0 */
  double outside_bytes[SW_MAX_LEVELS]; /* by level: from outside its unit of that level; [0] is not read, and none where
                                          groups do not lie alike: there all cross the outermost level */
  double peers;                        /* senders, >= 1 */
  double buffer_bytes;                 /* of its block after the exchange */
} sw_exchange_load;

/* As sw_machine_exchange_s, which counts the load of two tilings and asks this. */
SW_API double sw_group_exchange_s(const sw_machine *m, const sw_group *g, const sw_exchange_load *load);

double sw_curve_with_knots_s(const sw_curve *c, double size, double root);

/* Seconds at a size, whose square root is given. */
static inline double sw_curve_s(const sw_curve *c, double size, double root) {
  if (c->has_knots) return sw_curve_with_knots_s(c, size, root);
  double work = c->ramp[0] * root + c->slope[0] * size;
  for (int i = 1; i < c->n_parts; i++) {
    const double outer = c->ramp[i] * root + c->slope[i] * size;
    work = work > outer ? work + c->serial[i] * outer : outer + c->serial[i] * work;
  }
  return c->latency_s + work;
}

enum { SW_MAX_WORST = 3 };
/* Into how many the minor part of the ref cuts one unit of the level: 1 when it has none, its size when all of it stays
 * inside a unit, and where groups do not lie alike: there nothing is known to leave units. */
SW_API int64_t sw_axis_ref_inside(const sw_machine *m, sw_axis_ref ref, int level);

#endif
