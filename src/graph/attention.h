/* How an attention or attention_grad op is to be read: which operand is what, and which key a query sees.
 *
 *   attention(q, k, v, bias, lengths, start)   keep -1, bias 3, mask -1, lengths 4, start 5
 *
 * Query i stands at key position p = base + i (+ start) and sees the keys j with p - left <= j <= p + right and
 * j < lengths[batch], where the mask is true. With dropout, and then only, there is keep.
 */
#ifndef GRAPH_ATTENTION_H_
#define GRAPH_ATTENTION_H_

#include "shardwright/graph.h"

enum { SW_ATTENTION_Q, SW_ATTENTION_K, SW_ATTENTION_V, SW_ATTENTION_O, SW_ATTENTION_LSE, SW_ATTENTION_DO };

static inline bool sw_is_attention(sw_opcode c) { return c == SW_OP_ATTENTION || c == SW_OP_ATTENTION_GRAD; }
/* Log-sum-exps, and what is added up over keys or steps, of operands of that type. */
static inline sw_dtype sw_attention_sums(sw_dtype t) { return t == SW_F64 ? SW_F64 : SW_F32; }

typedef struct sw_attention {
  int least;                            /* operands that every such op has: 3, of the gradient 6 */
  int keep, bias, mask, lengths, start; /* operands; -1: none */
  int heads, positions;                 /* dims of q, k, v and o */
  bool left_bound, right_bound;         /* is there a first, a last key that a query sees? */
  int64_t left, right, base;
  double scale;   /* 0: 1 / sqrt of the head's width */
  double softcap; /* 0: none */
  double dropout; /* of the softmax, where keep is true, 1 / (1 - dropout) times as much is left, else 0; 0: all */
  bool bias_grad; /* the gradient of the bias is a result, too */
} sw_attention;

/* From the attributes; no optional operand yet. */
SW_API void sw_attention_read(sw_opcode code, int n_attrs, const sw_attr *attrs, sw_attention *out);
/* The next optional operand is of this type: false where none is missing that may come now. */
SW_API bool sw_attention_take(sw_attention *a, int operand, sw_dtype t, int rank);
/* Both, of an op that is right. */
SW_API void sw_attention_of(const sw_graph *g, const sw_op *op, sw_attention *out);
/* Does it matter where queries stand? */
static inline bool sw_attention_is_placed(const sw_attention *a) { return a->left_bound || a->right_bound; }

/* How many keys in [k0, k1) the queries in [q0, q1) see, as numbers of pairs; `start` and lengths are not counted. */
double sw_attention_pairs(const sw_attention *a, int64_t q0, int64_t q1, int64_t k0, int64_t k1);

/* Of all pairs of a device that does `queries` of the op's queries and `keys` of its keys, the share that is seen where
 * it is largest: 1 without window. */
double sw_attention_seen_part(const sw_graph *g, const sw_op *op, int64_t queries, int64_t keys);

/* A ring of n devices, each with a block of so many queries and of so many keys: at step t device c attends to block
 * (c - t) mod n of the keys. Does any device see a key at this step? Exact where both blocks are as long, else it may
 * say so where none does. */
bool sw_attention_ring_sees(const sw_attention *a, int64_t queries, int64_t keys, int64_t n, int64_t step);

/* Loops of both ops. */
enum {
  SW_ATTENTION_BATCH,
  SW_ATTENTION_KV_HEAD,
  SW_ATTENTION_GROUP, /* query heads of one kv head */
  SW_ATTENTION_QUERY,
  SW_ATTENTION_KEY,
  SW_ATTENTION_WIDTH,       /* of q and k; whole */
  SW_ATTENTION_VALUE_WIDTH, /* of v and o; whole */
  SW_ATTENTION_LOOPS,
  SW_ATTENTION_GRAD_WIDTH = SW_ATTENTION_LOOPS, /* of the gradients of q and k, and of v; whole */
  SW_ATTENTION_GRAD_VALUE_WIDTH,
  SW_ATTENTION_GRAD_LOOPS
};

#endif
