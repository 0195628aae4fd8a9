/* A mixture-of-experts feed-forward block with a fixed capacity per expert. */
#ifndef IO_GEN_MOE_H_
#define IO_GEN_MOE_H_

#include "io/gen/arch.h"

typedef struct swg_moe {
  int64_t hidden, ffn, experts, top_k;
  int64_t capacity; /* tokens of one sequence that an expert takes; the rest pass by */
} swg_moe;

/* From experts, top-k, capacity and seq. */
SW_CHECKED sw_rc swg_moe_init(const swg_config *c, swg_moe *m, sw_diag *d);
/* x: [batch, seq, hidden]. Parameters router, w_gate, w_up and w_down, the last three with experts as dim 0. */
sw_id swg_moe_block(swg_builder *b, const swg_moe *m, sw_id x);

#endif
