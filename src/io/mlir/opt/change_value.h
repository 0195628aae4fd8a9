/* Ops that take a value from one sharding to another, in Shardy's dialect: a reduction of what stays unreduced no
 * longer, a reshard, and what makes it unreduced over further axes.
 *
 *   %1 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{"x"}, {}]>
 *   %2 = sdy.reshard %1 <@mesh, [{}, {"z"}]>
 */
#ifndef IO_MLIR_CHANGE_VALUE_H_
#define IO_MLIR_CHANGE_VALUE_H_

#include "io/mlir/opt/rewrite.h"

typedef struct sw_value_change {
  const char *value; /* as the text has it */
  const sw_type *type;
  const sw_open_sharding *from, *to; /* both on some mesh */
  bool is_unsaid;                    /* the text does not say how it is before, so it is whole */
  bool reduces_only;                 /* dimensions stay as they are, unless it becomes unreduced over further axes */
  uint32_t op;                       /* where the ops stand: */
  bool behind;                       /* behind it, or before */
} sw_value_change;

/* *name: the value now; c->value where nothing has to be done. */
SW_CHECKED sw_rc sw_opt_change_value(sw_opt_work *w, const sw_value_change *c, const char **name);

/* refs[0 .. n) without the axes of without[0 .. m), in parts where these are parts; at most SW_MAX_REFS in out[].
 * Returns how many. */
int sw_refs_minus(const sw_axis_ref *refs, int n, const sw_axis_ref *without, int m, sw_axis_ref *out);

#endif
