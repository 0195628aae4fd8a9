/* Which ops may run again, as people set it: by layer, or as a framework has it. */
#ifndef SCHEDULE_POLICIES_H_
#define SCHEDULE_POLICIES_H_

#include "schedule/layers.h"
#include "shardwright/schedule.h"

/* Does it say what goes from layer to layer is kept, and what else is? */
bool sw_policy_is_of_layers(sw_recompute r);
/* Does all of a layer run again that may, though nothing reads it? */
bool sw_policy_is_whole(sw_recompute r);
/* Of the first n_ops ops, of which `layers` are; `large`: by value, what is worth it. may[i]: op i may run again. */
sw_rc sw_policy_apply(const sw_graph *g, sw_recompute how, sw_id n_ops, const sw_layers *layers, const bool *large,
                      bool *may, sw_diag *d);

#endif
