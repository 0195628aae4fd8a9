/* Building the loops and maps of one op.
 *
 * Map i < n_operands is that of operand i, the next ones are those of the results. A dimension that is not set stays
 * "constant 0 without terms": of extent 1 it is broadcast or trivial, of a larger extent no loop reaches it and every
 * device needs all of it. The first failure is remembered in `rc` and later calls do nothing.
 */
#ifndef GRAPH_NEST_H_
#define GRAPH_NEST_H_

#include "shardwright/graph.h"

enum { SW_MAX_LOOPS = 64, SW_MAX_LINEAR = 8 };

typedef struct sw_nest_builder {
  sw_arena *arena; /* of the finished nest */
  sw_diag *d;
  sw_rc rc;
  int n_loops, n_linear, n_maps, n_operands;
  double flops;       /* of one point of all loops */
  unsigned undefined; /* bits: kinds of reductions that some operand or result does not have (complex: a least) */
  sw_loop loops[SW_MAX_LOOPS];
  sw_linearity linear[SW_MAX_LINEAR];
  sw_map *maps;
} sw_nest_builder;

/* Maps get the ranks of the types. */
void sw_nest_begin(sw_nest_builder *b, sw_arena *arena, int n_operands, const sw_type *operands, int n_results,
                   const sw_type *results, double flops, sw_diag *d);
/* Add a loop and return its number. A size that is 0 or unknown makes it WHOLE. */
int sw_nest_loop(sw_nest_builder *b, int64_t size, sw_loop_kind kind);
int sw_nest_combining_loop(sw_nest_builder *b, int64_t size, sw_loop_kind kind, sw_reduction combiner);

/* index = coef * loop + constant, or with no loops (-1) the constant alone. */
void sw_nest_scaled(sw_nest_builder *b, int map, int dim, int loop, int64_t coef, int64_t constant);
static inline void sw_nest_set(sw_nest_builder *b, int map, int dim, int loop) {
  sw_nest_scaled(b, map, dim, loop, 1, 0);
}
/* index = coefs[0]*loops[0] + coefs[1]*loops[1] + constant; loops of size 1 are left out. */
void sw_nest_window(sw_nest_builder *b, int map, int dim, const int loops[2], const int64_t coefs[2], int64_t constant);
/* index = the loops as digits, major first, the last one counted in steps of `rest`; of several loops those of
 * size 1 are left out. */
void sw_nest_digits(sw_nest_builder *b, int map, int dim, int n, const int *loops, int64_t rest);
/* One PARALLEL loop per dimension of the type, from the returned number on. */
int sw_nest_parallel_dims(sw_nest_builder *b, const sw_type *t);
/* Dimensions of the map are the loops first, first+1, ... */
void sw_nest_identity(sw_nest_builder *b, int map, int first);

void sw_nest_linear(sw_nest_builder *b, uint32_t operands, sw_reduction kind);
/* Moving elements around commutes with sum, min and max. */
void sw_nest_moves(sw_nest_builder *b, uint32_t operands);
static inline int sw_nest_result(const sw_nest_builder *b, int r) { return b->n_operands + r; }

SW_CHECKED sw_rc sw_nest_finish(sw_nest_builder *b, const sw_loop_nest **out);
/* A deep copy into the arena. */
SW_CHECKED sw_rc sw_nest_copy(const sw_loop_nest *s, sw_arena *arena, const sw_loop_nest **out, sw_diag *d);
/* Count `flops` for the whole op, however many points its loops have. */
void sw_nest_total_flops(sw_nest_builder *b, double flops);

#endif
