/* What compilers fuse, as data. */
#ifndef KERNEL_KERNEL_RULES_H_
#define KERNEL_KERNEL_RULES_H_

#include "shardwright/kernel.h"

/* What an op is to a compiler. */
typedef enum sw_kind {
  SW_KIND_LIBRARY, /* stands alone: sort, fft, convolution in some, opaque */
  SW_KIND_CONTROL,
  SW_KIND_LITERAL, /* a constant that is no splat: in memory before the program runs */
  SW_KIND_HOST,    /* copies to the host and back, and what happens there: no kernels of the device */
  SW_KIND_CHEAP,   /* element by element, some instructions */
  SW_KIND_DEAR,    /* element by element, a function such as exp */
  SW_KIND_CAST,
  SW_KIND_VIEW, /* another shape of the same elements */
  SW_KIND_SPREAD,
  SW_KIND_SOURCE, /* made from nothing: iota, splats */
  SW_KIND_RANDOM,
  SW_KIND_TURN,  /* transpose */
  SW_KIND_SLICE, /* reads a part */
  SW_KIND_MOVE,  /* pad, concatenate, reverse */
  SW_KIND_REDUCE,
  SW_KIND_CONTRACT,
  SW_KIND_GATHER,
  SW_KIND_UPDATE, /* scatter, dynamic_update_slice */
  SW_KIND_COUNT
} sw_kind;
#define SW_KIND_BIT(k) (1u << SW_KIND_##k)
static inline uint32_t sw_kind_bit(sw_kind k) { return 1u << k; }

typedef struct sw_fusion_rules {
  const char *name;
  uint32_t again;      /* kinds that each reader makes for itself, where reading on costs no more than reading them */
  uint32_t into_loop;  /* kinds that go into a kernel of elementwise ops or reductions that alone reads them */
  uint32_t into_heavy; /* likewise into a contraction, gather or update */
  uint32_t into_call;  /* likewise into a library call, which reads operands as they lie in memory */
  uint32_t epilogue;   /* kinds that a contraction takes behind it */
  int64_t row;         /* elements of the longest row that reductions and what reads them share on chip */
  bool several;        /* a kernel may give several values */
  bool by_function;    /* only what is one function of a library: a program's own, of rows, of one tensor, an update */
  bool in_place;       /* updates of what nobody else needs overwrite it */
  bool one_update;     /* updates of all parameters run as one launch */
  bool scales;         /* contractions with scales and widened operands are one call, where they are one function */
  bool widens;         /* contractions of narrow floats work on f32 copies */
  bool overlaps;       /* collectives run beside kernels */
  int64_t combine;     /* bytes up to which collectives are done together in one call */
  sw_lowering lowering;
  sw_software software;
} sw_fusion_rules;

/* Operands that a kernel reads. A keep of several chooses between what is made again, which a kernel may have inside,
 * and what is kept or offloaded, which is not known before a plan is: what that costs is on those ports alone. */
static inline int sw_kernel_operands(const sw_op *op) { return op->code == SW_OP_KEEP ? 1 : op->n_operands; }
/* Of an offload or fetch: do keeps alone read what is fetched, as one of several? */
static inline bool sw_is_offload_by_choice(const sw_graph *g, const sw_op *op) {
  const sw_value *v = &g->values[op->results[0]];
  if (op->code == SW_OP_OFFLOAD)
    return v->n_uses == 1 && v->uses[0].op >= 0 && sw_is_offload_by_choice(g, &g->ops[v->uses[0].op]);
  return op->code == SW_OP_FETCH && v->n_uses == 1 && v->uses[0].op >= 0 && v->uses[0].index > 0 &&
         g->ops[v->uses[0].op].code == SW_OP_KEEP;
}

const sw_fusion_rules *sw_fusion_rules_of(const char *compiler); /* NULL: no such */
sw_kind sw_kind_of(const sw_graph *g, const sw_op *op);

#endif
