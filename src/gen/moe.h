/* A mixture-of-experts feed-forward block with a fixed capacity per expert. */
#ifndef GEN_MOE_H_
#define GEN_MOE_H_

#include "gen/arch.h"

typedef struct swg_moe {
  int64_t hidden, ffn, experts, top_k;
  int64_t capacity; /* tokens of one sequence that an expert takes; the rest pass by */
  bool bias;        /* of the router and the experts */
  bool clamped;     /* gpt-oss's gate: (up + 1) gate logistic(1.702 gate), both within 7 of 0, gate from above only */
  bool sigmoid;     /* DeepSeek-V3's router: sigmoids, chosen by them plus a correction, weights times `scale` */
  double scale;
} swg_moe;

/* From experts, top-k, capacity and seq. */
SW_CHECKED sw_rc swg_moe_init(const swg_config *c, swg_moe *m, sw_diag *d);
/* x: [batch, seq, hidden]. Parameters router, w_gate, w_up and w_down, the last three with experts as dim 0; with
 * biases also router_bias, gate.b, up.b and down.b; of a sigmoid router the correction. */
sw_id swg_moe_block(swg_builder *b, const swg_moe *m, sw_id x);

#endif
