/* What a program says of the faults of its collectives, before any of them runs. */
#ifndef EXEC_NO_EFFECT_H_
#define EXEC_NO_EFFECT_H_

#include "exec/audit.h"
#include "exec/validate/sharded.h"

/* By value of the program. */
typedef struct sw_no_effects {
  const sw_sharded *s;
  bool *same;  /* every device holds the same elements */
  bool *equal; /* and these are all one number: of what any device holds */
  bool *zero;  /* which is 0 */
  bool *read;  /* it is compared, or what is made of it is */
} sw_no_effects;

SW_CHECKED sw_rc sw_no_effects_find(const sw_sharded *s, bool intermediates, sw_arena *arena, sw_no_effects *out,
                                    sw_diag *d);
sw_no_effect sw_no_effect_of(const sw_no_effects *n, const sw_op *op, sw_coll_fault fault);

/* Is a value of the program compared: an output, or with `intermediates` a block of one of the model's values? */
bool sw_is_compared(const sw_sharded *s, bool intermediates, sw_id value);

#endif
