/* Kernels: which ops of a graph run as one launch, as a compiler would have it (docs/kernels.md).
 *
 * A kernel stores what others read, and nothing else. For softmax over rows under `xla`:
 *
 *   m = reduce_max(x)  d = x - m  e = exp(d)  s = reduce_sum(e)  y = e / s        one kernel: reads x, writes y
 *
 * Which compiler is modelled is a table of rules (src/kernel/kernel_rules.c). Under `none` each op is a kernel, and
 * nothing here has a say: a job with no kernels (NULL) is priced so.
 *
 * Every op is in one kernel. A kernel that is made again runs inside each of its readers and stores nothing. Ops of one
 * kernel hang together and stand in one frame; kernels, with those made again dissolved in their readers, can run in
 * the order of their numbers.
 */
#ifndef SHARDWRIGHT_KERNEL_H_
#define SHARDWRIGHT_KERNEL_H_

#include "shardwright/graph.h"

/* Why an op is a kernel by itself. */
#define SW_APARTS(X)                                                               \
  X(TOGETHER, "")                                                                  \
  X(NEVER, "the compiler runs each op by itself")                                  \
  X(CONTROL, "a border of a loop or choice")                                       \
  X(AGAIN, "made again in each kernel that reads it")                              \
  X(LIBRARY, "a library call, or an op that nothing is fused with")                \
  X(WANTED, "several kernels read its result")                                     \
  X(DELIVERED, "its result leaves the program, loop or choice")                    \
  X(READER, "the compiler does not fuse such an op with the kernel that reads it") \
  X(ROWS, "it reduces other rows than the kernel that reads it, or rows too long to be kept on chip")

typedef enum sw_apart {
#define SW_X(id, text) SW_APART_##id,
  SW_APARTS(SW_X) SW_APART_COUNT
#undef SW_X
} sw_apart;
SW_API const char *sw_apart_text(sw_apart a);

/* What becomes of a value. */
typedef enum sw_keeping {
  SW_KEPT_STORED,   /* written to memory by its kernel, held while it is needed */
  SW_KEPT_INSIDE,   /* only its own kernel reads it: neither stored nor moved */
  SW_KEPT_AGAIN,    /* made again by each reader: likewise */
  SW_KEPT_IN_PLACE, /* stored where the operand was that it updates */
} sw_keeping;

/* How a compiler carries collectives out where that is not as they are asked for. All false: as they are. */
typedef struct sw_lowering {
  bool wide_floats;    /* floats narrower than f32 are moved as f32 */
  bool whole_scatters; /* a reduce_scatter is an all_reduce of which each device keeps its part */
  bool rounds;         /* exchanges are permutes, one after the other, and of no parts of sums */
  bool early_sums;     /* sums are completed where they are made: an op that is linear takes no parts of one */
} sw_lowering;

/* How programs of a compiler run beside kernels that are measured alone, one after the other. */
typedef struct sw_software {
  const char *library; /* whose attention they call, where a profile knows several; NULL: the profile's first */
  double in_step;      /* how many times longer kernels take within a step */
  double host_s;       /* what the host takes for a launch; 0, or less than the profile's launch: as long as that */
  bool unpacks;        /* what is gathered of a weight is copied out of the buffer of the call */
  bool free_products, free_convolutions; /* those of f32 that say no precision are as the device likes, not in f32 */
} sw_software;

typedef struct sw_kernels {
  const char *compiler;
  int32_t n;              /* kernels */
  const int32_t *of;      /* by op: its kernel */
  const uint8_t *why;     /* by op: sw_apart */
  const uint8_t *keeping; /* by value: sw_keeping */
  const sw_id *updates;   /* by value in place: the value whose memory it takes over; else -1 */
  const int32_t *until;   /* by op: the step up to which its operands are needed */
  const int32_t *over;    /* by op: the step up to which the memory is needed that its result takes over */
  const bool *launches;   /* by op: it bears the launch of its kernel */
  const int32_t *port;    /* by op: of its ports in `width` */
  const double *width;    /* by port: bytes that its kernel moves per element of it; 0: does not cross a border */
  int64_t combine_bytes;  /* up to which collectives are done together in one call; 0: each alone */
  const bool *combines;   /* by value: its collectives are, as it is no larger and nobody needs it soon */
  sw_lowering lowering;
  sw_software software;
} sw_kernels;

/* The compilers there are: "none|eager|xla|xla-cpu|inductor|ideal". */
#define SW_COMPILERS "none|eager|xla|xla-cpu|inductor|ideal"
SW_API bool sw_compiler_is_known(const char *name);
/* Do its programs run collectives beside kernels? */
SW_API bool sw_compiler_overlaps(const char *name);

/* The kernels of a sealed graph under the rules of a compiler (one of SW_COMPILERS); in the arena. Linear in ops and
 * operands. SW_E_INPUT: no such compiler. */
SW_API SW_CHECKED sw_rc sw_kernels_find(const sw_graph *g, const char *compiler, sw_arena *arena,
                                        const sw_kernels **out, sw_diag *d);
/* The same kernels, with collectives done together up to another size; in the arena. */
SW_API SW_CHECKED sw_rc sw_kernels_combine(const sw_graph *g, int64_t bytes, sw_arena *arena, const sw_kernels **k,
                                           sw_diag *d);
/* Bytes that the op's kernel moves for its ports, when its loops have these extents (NULL: all). */
SW_API void sw_kernels_traffic(const sw_graph *g, const sw_kernels *k, const sw_op *op, const int64_t *extents,
                               double *read, double *written);
/* What the op costs memory traffic, in bytes, when its loops have these extents (NULL: all): the ports that cross the
 * border of its kernel. Without kernels as sw_op_work. */
SW_API double sw_op_traffic(const sw_graph *g, const sw_kernels *k, const sw_op *op, const int64_t *extents);
/* Bears the op a launch? Without kernels each does. */
static inline bool sw_op_launches(const sw_kernels *k, sw_id op) { return !k || k->launches[op]; }
static inline sw_keeping sw_value_keeping(const sw_kernels *k, sw_id value) {
  return k ? (sw_keeping)k->keeping[value] : SW_KEPT_STORED;
}
static inline bool sw_value_combines(const sw_kernels *k, sw_id value) { return k && k->combines[value]; }
/* Holds a value memory of its own wherever it is used as it is made? */
static inline bool sw_value_is_stored(const sw_kernels *k, sw_id value) {
  return sw_value_keeping(k, value) == SW_KEPT_STORED;
}

#endif
