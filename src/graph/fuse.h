/* Attention that is written as products and a softmax, as ops of its own.
 *
 *   s = dot(q, k); p = softmax(s * 0.5 + mask); o = dot(p, v)      o, lse = attention(q, k, v) {scale=0.5, causal}
 *
 * and likewise its gradient where it is there: dots of the softmax and of its derivative, however that is written. What
 * may stand between is in graph/fuse/region.h, what masks say in graph/fuse/seen.c. What is said of a
 * value in between is said of the op (graph/fuse/say.c); where that cannot be, or where something else uses the value,
 * the attention stays as it is written. Values keep their names.
 *
 * Transposes that undo each other go with it.
 *
 * The numbers stay the same but for rounding, and but for queries that see no key: they get 0.
 */
#ifndef GRAPH_FUSE_H_
#define GRAPH_FUSE_H_

#include "shardwright/graph.h"

/* What became of the values and ops of the old graph: ids of the new one, -1: gone. In the arena. */
typedef struct sw_fused {
  sw_id *value, *op;
  int32_t n_forward, n_gradient; /* ops that were made */
  int32_t n_there;               /* that were there before */
} sw_fused;

/* `g` is sealed and stays; *out is the caller's, and borrows places in files from it. */
SW_API SW_CHECKED sw_rc sw_graph_fuse_attention(const sw_graph *g, sw_arena *arena, sw_graph **out, sw_fused *what,
                                                sw_diag *d);

/* The same of *g, which the new graph takes the place of; the old one, which must outlive it, is *as_written then.
 * Warns where nothing was found. */
SW_API SW_CHECKED sw_rc sw_graph_fuse_in_place(sw_graph **g, sw_graph **as_written, sw_arena *arena, sw_fused *what,
                                               sw_diag *d);

/* The graph without ops whose results nobody reads, as compilers drop them: programs of gradients come with the product
 * that they are the gradient of. Ops stay of which more is said than how their results are cut, constraints without
 * uses, ops that read nothing, or that the graph does not know. NULL: there are none to drop. */
SW_API SW_CHECKED sw_rc sw_graph_drop_unread(const sw_graph *g, sw_arena *arena, sw_graph **out, sw_fused *what,
                                             sw_diag *d);

/* The value that a transpose of a transpose gives back; -1: another. Calls of libraries give heads before positions. */
SW_API sw_id sw_value_given_back(const sw_graph *g, const sw_op *op);

/* The other way: an attention or attention_grad op as a graph of products and a softmax, whose arguments are the op's
 * operands and whose outputs are its results. The caller's. */
SW_API SW_CHECKED sw_rc sw_attention_written_out(const sw_graph *of, const sw_op *attention, sw_graph **out,
                                                 sw_diag *d);

#endif
