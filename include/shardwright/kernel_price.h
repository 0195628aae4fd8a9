/* Kernels whose time hangs on more than their flops and bytes: matrix products and attention (docs/cost-model.md).
 *
 *   product of m x k by k x n      tiles of the result fill multiprocessors in waves
 *   attention over a sequence      blocks of 128 queries do, each over the keys that they see
 *   decode                         one query per sequence: the cache is read, by few blocks
 *
 * A profile has constants of each, or not: then the roofline of hw.h counts.
 */
#ifndef SHARDWRIGHT_KERNEL_PRICE_H_
#define SHARDWRIGHT_KERNEL_PRICE_H_

#include "shardwright/op.h"

/* Constants of kernels: X(id, key). */
#define SW_KERNEL_CONSTANTS(X)                                                                                         \
  X(FLOP_FRACTION, "flop_fraction")     /* of the peak of the dtype, by the best tiles */                              \
  X(MEMORY_FRACTION, "memory_fraction") /* of the memory rate */                                                       \
  X(LAUNCH, "launch_s")                                                                                                \
  X(OVERLAP, "overlap")       /* of the lesser of arithmetic and memory traffic, what is added to the greater */       \
  X(SMALL_TILE, "small_tile") /* how much smaller tiles lose, as their traffic within the chip grows */                \
  X(RAMP, "ramp")             /* elements of k that filling and draining a tile take as long as */                     \
  X(HALF_WIDTH, "half_width") /* width of a head at which half of the fraction is reached */                           \
  X(LONGEST, "longest")       /* how much of the longest block is not hidden by others */                              \
  X(HEAD, "head_s")           /* what a multiprocessor needs for a head at least, times sqrt(queries that share it) */ \
  X(CHUNK, "chunk")           /* keys that a block reads, where one sequence is split over blocks */                   \
  X(FEW, "few")               /* how the memory rate falls where blocks are fewer than multiprocessors: an exponent */ \
  X(AGAIN, "again")           /* what is read again takes so much of what it took first: caches hold it */

typedef enum sw_kernel_constant {
#define SW_X(id, key) SW_KERNEL_##id,
  SW_KERNEL_CONSTANTS(SW_X) SW_KERNEL_CONSTANT_COUNT
#undef SW_X
} sw_kernel_constant;

/* X(id, key, constants that it has). */
#define SW_PRICED_KERNELS(X)                                                           \
  X(PRODUCT, "product", TILED)           /* of floats of two bytes */                  \
  X(PRODUCT_8BIT, "product_8bit", TILED) /* of floats of one byte */                   \
  X(ATTENTION, "attention", BLOCKED)     /* of floats of two bytes, as what follows */ \
  X(ATTENTION_GRAD, "attention_grad", BLOCKED)                                         \
  X(DECODE, "decode", READING)
#define SW_KERNEL_BIT(id) (1u << SW_KERNEL_##id)
#define SW_KERNEL_COMMON (SW_KERNEL_BIT(MEMORY_FRACTION) | SW_KERNEL_BIT(LAUNCH) | SW_KERNEL_BIT(OVERLAP))
#define SW_KERNEL_TILED \
  (SW_KERNEL_COMMON | SW_KERNEL_BIT(FLOP_FRACTION) | SW_KERNEL_BIT(SMALL_TILE) | SW_KERNEL_BIT(RAMP))
#define SW_KERNEL_BLOCKED                                                                              \
  (SW_KERNEL_COMMON | SW_KERNEL_BIT(FLOP_FRACTION) | SW_KERNEL_BIT(HALF_WIDTH) | SW_KERNEL_BIT(RAMP) | \
   SW_KERNEL_BIT(LONGEST))
#define SW_KERNEL_READING \
  (SW_KERNEL_COMMON | SW_KERNEL_BIT(HEAD) | SW_KERNEL_BIT(CHUNK) | SW_KERNEL_BIT(FEW) | SW_KERNEL_BIT(AGAIN))
#define SW_KERNEL_AGAIN_UNSAID 0.5 /* where a profile does not say it */

typedef enum sw_priced_kernel {
#define SW_X(id, key, constants) SW_PRICED_##id,
  SW_PRICED_KERNELS(SW_X) SW_PRICED_COUNT
#undef SW_X
} sw_priced_kernel;

typedef struct sw_kernel_price {
  const char *library; /* whose kernel was measured; NULL: not said */
  bool known;
  double v[SW_KERNEL_CONSTANT_COUNT];
} sw_kernel_price;

typedef enum sw_work_kind {
  SW_WORK_ANY, /* the roofline */
  SW_WORK_PRODUCT,
  SW_WORK_ATTENTION,
  SW_WORK_ATTENTION_GRAD,
} sw_work_kind;

/* What one device does in one op. */
typedef struct sw_work {
  sw_work_kind kind;
  sw_dtype dtype;
  double flops, bytes;
  double batch;   /* products of one shape; of attention sequences */
  double m, n, k; /* of a product; of attention queries, keys and the width of a head */
  double heads, kv_heads;
  sw_precision precision; /* of a product of f32 */
} sw_work;

SW_API const char *sw_kernel_constant_text(sw_kernel_constant c);
SW_API const char *sw_priced_kernel_text(sw_priced_kernel k);
SW_API uint32_t sw_priced_kernel_constants(sw_priced_kernel k); /* bits */
/* The kernel that does it; SW_PRICED_COUNT: none whose price hangs on the shape. */
SW_API sw_priced_kernel sw_work_kernel(const sw_work *w);

#endif
