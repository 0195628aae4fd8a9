/* One value in another sharding than a plan has it in, all else as it is: what the plan would take then.
 *
 *   h = dot(x, w), made as [[x],[]]. Made as [[],[x]] by the strategy "d1:[x]" of its op it would take
 *     op_s      4 us less: the op has less to read
 *     value_s   9 us more: h is gathered for the op that wants [[x],[]]
 *     others_s  3 us more: w is held as [[],[]], and taken as [[],[x]]
 *
 * No search: what else would change with it is another question (sw_planner_ask). The three parts are exact, and so is
 * the peak: the plan is counted anew.
 */
#ifndef SHARDWRIGHT_ALTERNATIVES_H_
#define SHARDWRIGHT_ALTERNATIVES_H_

#include "shardwright/plan.h"

typedef struct sw_alternative {
  sw_sharding sharding; /* as the value is made, or taken */
  int32_t n_ops; /* that are cut otherwise for it: the maker, and those tied to it; or the users. 0: an argument */
  const sw_id *ops;
  const sw_strategy *strategies; /* of these */
  bool legal;
  const char *why; /* it is not: what requires otherwise, or cannot be; the rest is not set */
  double total_s;
  int64_t peak_bytes;
  double op_s;     /* of the difference: work, and moves inside ops */
  double value_s;  /* reshards of the value */
  double others_s; /* reshards of other values */
  sw_id dearest;   /* of these: the one whose reshards take most longer; -1: none takes longer */
} sw_alternative;

/* The value made otherwise, or the argument held so: the cheapest for each sharding, at most `most`, the cheapest
 * first. `a` is what the plan takes as it is. All in the arena. */
SW_API SW_CHECKED sw_rc sw_alternatives_made(const sw_plan *p, const sw_breakdown *a, sw_id value, int32_t most,
                                             sw_arena *arena, int32_t *n, const sw_alternative **out, sw_diag *d);
/* The one that is made in just this sharding; not legal where no strategy gives it. */
SW_API SW_CHECKED sw_rc sw_alternative_made_as(const sw_plan *p, const sw_breakdown *a, sw_id value,
                                               const sw_sharding *sharding, sw_arena *arena, sw_alternative *out,
                                               sw_diag *d);
/* All these uses of the value take it in this sharding; not legal where no strategy of one does. */
SW_API SW_CHECKED sw_rc sw_alternative_taken_as(const sw_plan *p, const sw_breakdown *a, int32_t n,
                                                const sw_value_use *uses, const sw_sharding *sharding, sw_arena *arena,
                                                sw_alternative *out, sw_diag *d);

#endif
