/* Kernels in the making: groups of ops, each named by one of them. */
#ifndef KERNEL_CLUSTERS_H_
#define KERNEL_CLUSTERS_H_

#include "kernel/kernel_rules.h"

typedef struct sw_fusion {
  uint32_t kinds;
  const char *function; /* of a library, which nothing else goes together with; NULL: none, or it does not matter */
  int64_t points;       /* elements that it goes through */
  int64_t row;          /* elements of the rows that it reduces; 0: none */
  bool column;          /* it reduces what is no row */
  bool heavy;           /* it has a contraction, gather, update or library call */
  bool again;
  bool updates; /* it gives the next value of a state */
  int32_t at;   /* groups can run in this order */
  sw_id from;   /* of the groups that it reads from the last one; -1: none */
} sw_fusion;

typedef struct sw_clusters {
  const sw_graph *g;
  const sw_fusion_rules *rules;
  sw_id *of;        /* by op: the op that names its group */
  sw_fusion *group; /* by that op */
  uint8_t *why;     /* by op: sw_apart */
  int32_t *first;   /* by naming op: of its members in `member`; one more at the end */
  sw_id *member;
  sw_id *read_by; /* by value: the group that was last seen to read it */
  bool *offered;  /* by op: it is there for what a keep in a loop may take instead of making it again: a stack */
  bool *again;    /* by op: likewise for what is made again */
  bool offers;    /* there are such */
} sw_clusters;

SW_CHECKED sw_rc sw_clusters_make(const sw_graph *g, const sw_fusion_rules *rules, sw_arena *arena, sw_clusters *out,
                                  sw_diag *d);
/* The group that makes a value; -1: an argument. */
static inline sw_id sw_clusters_maker(const sw_clusters *p, sw_id value) {
  return p->g->values[value].def < 0 ? -1 : p->of[p->g->values[value].def];
}
/* Does a plan choose whether the value is read so? */
static inline bool sw_use_is_by_choice(const sw_clusters *p, sw_value_use use) {
  if (use.op < 0) return false;
  const sw_op *op = &p->g->ops[use.op];
  const sw_id def = use.index < op->n_operands ? p->g->values[op->operands[use.index]].def : -1;
  return use.index >= sw_kernel_operands(op) || (op->code == SW_OP_OFFLOAD && sw_is_offload_by_choice(p->g, op)) ||
         (def >= 0 && p->offered[def] ? op->code == SW_OP_KEEP : p->offered[use.op]);
}
/* Is all that leaves the group the next value of a state? */
bool sw_clusters_only_updates(const sw_clusters *p, sw_id group);

#endif
