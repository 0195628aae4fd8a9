/* Groups of devices on a machine, folded once for many questions: what a collective or a direct exchange costs among
 * the devices that differ along some axes. hw.h answers single questions with these.
 */
#ifndef SHARDWRIGHT_GROUP_H_
#define SHARDWRIGHT_GROUP_H_

#include "shardwright/hw.h"
#include "shardwright/profile.h"

/* What a group of devices is on one level. Members of the level below count once. */
typedef struct sw_group_part {
  int level;
  int64_t n;      /* members, > 1 */
  int64_t inside; /* devices of the group below each member */
  double steps;   /* of the latency: n-1, on a torus the hops of the longest path */
  double links;   /* torus: links into a device that a ring collective can use at once, shared ones counted in part */
  double spread;  /* torus: bytes over the busiest link in an all_to_all, per byte of a device's buffer */
  double stride;  /* torus: groups that share a link */
} sw_group_part;

typedef struct sw_group_shape {
  int64_t size;
  int n_parts;
  sw_group_part part[SW_MAX_LEVELS]; /* innermost first; only levels where the group has several members */
} sw_group_shape;

/* Price of one class over one group: latency + combine over parts (ramp*sqrt(bytes) + slope*bytes). */
typedef struct sw_folded_line {
  double latency_s;
  double ramp[SW_MAX_LEVELS], slope[SW_MAX_LEVELS];
} sw_folded_line;

typedef struct sw_group {
  sw_group_shape shape;
  double serial[SW_MAX_LEVELS]; /* by part: of the shorter of two levels' work, what does not overlap */
  sw_folded_line line[SW_COST_CLASS_COUNT];
} sw_group;

/* The group along refs, which may be parts of axes. */
SW_API void sw_machine_group(const sw_machine *m, const sw_axis_ref *refs, int n, sw_group *out);
/* As sw_machine_collective_s. */
SW_API double sw_group_collective_s(const sw_machine *m, const sw_group *g, sw_coll_op op, double bytes);

/* What the busiest device of a direct exchange receives. */
typedef struct sw_exchange_load {
  double bytes;                        /* in all, > 0 */
  double outside_bytes[SW_MAX_LEVELS]; /* by level: from outside its unit of that level; [0] is not read */
  double peers;                        /* senders, >= 1 */
  double buffer_bytes;                 /* of its block after the exchange */
} sw_exchange_load;

/* As sw_machine_exchange_s, which counts the load of two tilings and asks this. */
SW_API double sw_group_exchange_s(const sw_machine *m, const sw_group *g, const sw_exchange_load *load);
/* Into how many the minor part of the ref cuts one unit of the level: 1 when it has none, its size when all of it stays
 * inside a unit. */
SW_API int64_t sw_axis_ref_inside(const sw_machine *m, sw_axis_ref ref, int level);

#endif
