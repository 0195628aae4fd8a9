/* Building the loops and maps of one op.
 *
 * Map i < n_operands is that of operand i, the next ones are those of the results. A dimension that is not set stays
 * "constant 0 without terms": of extent 1 it is broadcast or trivial, of a larger extent no loop reaches it and every
 * device needs all of it. The first failure is remembered in `rc` and later calls do nothing.
 */
#ifndef GRAPH_SPACE_H_
#define GRAPH_SPACE_H_

#include "shardwright/graph.h"

enum { SW_MAX_LOOPS = 64, SW_MAX_LINEAR = 8 };

typedef struct sw_space_builder {
  sw_arena *arena; /* of the finished space */
  sw_diag *d;
  sw_rc rc;
  int n_loops, n_linear, n_maps, n_operands;
  double flops;       /* of one point of all loops */
  unsigned undefined; /* bits: kinds of reductions that some operand or result does not have (complex: a least) */
  sw_loop loops[SW_MAX_LOOPS];
  sw_linear linear[SW_MAX_LINEAR];
  sw_map *maps;
} sw_space_builder;

/* Maps get the ranks of the types. */
void sw_space_begin(sw_space_builder *b, sw_arena *arena, int n_operands, const sw_type *operands, int n_results,
                    const sw_type *results, double flops, sw_diag *d);
/* Add a loop and return its number. A size that is 0 or unknown makes it WHOLE. */
int sw_space_loop(sw_space_builder *b, int64_t size, sw_loop_kind kind);
int sw_space_combining_loop(sw_space_builder *b, int64_t size, sw_loop_kind kind, sw_reduction combiner);

/* index = coef * loop + constant, or with no loops (-1) the constant alone. */
void sw_space_scaled(sw_space_builder *b, int map, int dim, int loop, int64_t coef, int64_t constant);
static inline void sw_space_set(sw_space_builder *b, int map, int dim, int loop) {
  sw_space_scaled(b, map, dim, loop, 1, 0);
}
/* index = coefs[0]*loops[0] + coefs[1]*loops[1] + constant; loops of size 1 are left out. */
void sw_space_window(sw_space_builder *b, int map, int dim, const int loops[2], const int64_t coefs[2],
                     int64_t constant);
/* index = the loops as digits, major first, the last one counted in steps of `rest`; of several loops those of
 * size 1 are left out. */
void sw_space_digits(sw_space_builder *b, int map, int dim, int n, const int *loops, int64_t rest);
/* One PARALLEL loop per dimension of the type, from the returned number on. */
int sw_space_parallel_dims(sw_space_builder *b, const sw_type *t);
/* Dimensions of the map are the loops first, first+1, ... */
void sw_space_identity(sw_space_builder *b, int map, int first);

void sw_space_linear(sw_space_builder *b, uint32_t operands, sw_reduction kind);
/* Moving elements around commutes with sum, min and max. */
void sw_space_moves(sw_space_builder *b, uint32_t operands);
static inline int sw_space_result(const sw_space_builder *b, int r) { return b->n_operands + r; }

SW_CHECKED sw_rc sw_space_finish(sw_space_builder *b, const sw_space **out);
/* A deep copy into the arena. */
SW_CHECKED sw_rc sw_space_copy(const sw_space *s, sw_arena *arena, const sw_space **out, sw_diag *d);
/* Count `flops` for the whole op, however many points its loops have. */
void sw_space_total_flops(sw_space_builder *b, double flops);

#endif
