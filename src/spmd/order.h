#ifndef SPMD_ORDER_H_
#define SPMD_ORDER_H_

#include "shardwright/plan.h"

/* All ops of the plan's graph, each behind what makes its operands; in the arena. Linear in ops and operands. */
sw_rc sw_spmd_order(const sw_plan *p, sw_arena *arena, sw_id **out, sw_diag *d);

#endif
