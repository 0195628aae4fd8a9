/* What the two lowerings of attention share: on blocks as they lie (rules_attention.c), and in a ring (rules_ring.c).
 */
#ifndef SPMD_RULES_ATTENTION_H_
#define SPMD_RULES_ATTENTION_H_

#include "graph/attention.h"
#include "spmd/spmd_emit.h"

/* x, but no less than a number far below any score: what is -inf, as nothing was seen, may then be subtracted. */
sw_rc sw_emit_at_least(sw_emit *e, sw_id x, sw_id *out, sw_diag *d);
/* exp(lse - all) for each query, spread over the widths of an output like o, in its type. */
sw_rc sw_emit_weighted_part(sw_emit *e, const sw_attention *a, sw_id lse, sw_id all, sw_id o, sw_id *out, sw_diag *d);

/* The op at hand where its strategy is a ring. */
sw_rc sw_lower_ring(sw_emit *e, const sw_attention *a, sw_diag *d);

#endif
