/* Collectives that frameworks do in one call: DDP's buckets, XLA's combiner passes. */
#ifndef KERNEL_COMBINE_H_
#define KERNEL_COMBINE_H_

#include "shardwright/graph.h"

/* A value waits for others only if it can for so many steps: some kernels that run while calls gather. */
enum { SW_LEAST_WAIT = 16 };

/* By value: may its all_gathers, all_reduces and reduce_scatters be done with others of so many bytes together? It is
 * no larger than that, and none of its readers needs it soon. In the arena; linear in ops and operands. */
sw_rc sw_combined_find(const sw_graph *g, int64_t combine_bytes, sw_arena *arena, const bool **out, sw_diag *d);

#endif
