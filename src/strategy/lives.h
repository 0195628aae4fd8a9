/* What units hold in memory, and when: as the account of a plan has it, never more. What is left out: the buffers that
 * a route works with, and what is written over another value in another sharding. */
#ifndef STRATEGY_LIVES_H_
#define STRATEGY_LIVES_H_

#include "strategy/selection_data.h"

/* The uses of a unit's node: what it makes, as long as it is held in any case, and its temporaries. */
SW_CHECKED sw_rc sw_hold_unit(const sw_selection *s, int32_t unit, sw_node *out, sw_diag *d);
/* When a value of the problem's copies, of this table, and what is copied of it are held. `reader`: the units that read
 * it, each once. */
SW_CHECKED sw_rc sw_lives_make(const sw_selection *s, sw_id value, const sw_border_table *t, const int32_t *reader,
                               const sw_lives **out, sw_diag *d);

#endif
