/* Which entry of a plan for an older model is about what of the model as it is now: by names, and what was renamed by
 * its place among what was not.
 *
 *   plan:   a "add f32[8]"   b "dot_general f32[8,4]"   c "tanh f32[8,4]"
 *   model:  a "add f32[8]"   n "negate f32[8]"   m "dot_general f32[8,4]"   c "tanh f32[8,4]"
 *   a and c are matched by name, b to m, as only that is of its form between them
 */
#ifndef IO_PLAN_MATCH_H_
#define IO_PLAN_MATCH_H_

#include "shardwright/arena.h"

/* Names are unique. A form says what kind of thing stands there ("dot_general") and, behind a blank, its type; of an
 * argument only the type. NULL: not known. */
typedef struct sw_match_side {
  int32_t n;
  const char *const *names, *const *forms;
} sw_match_side;

/* to[i] is the index in `now` of what entry i of `was` is about, or -1; no index twice. Equal names match, unless the
 * kinds differ. Between two names that stand in both in the same order, what is left is matched in order so that the
 * most forms are equal, then the most kinds; without forms only where as many are left on both sides. */
SW_API SW_CHECKED sw_rc sw_plan_match(const sw_match_side *was, const sw_match_side *now, int32_t *to, sw_diag *d);

#endif
