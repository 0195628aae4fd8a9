/* Inside the solver: local search with tree moves. */
#ifndef SELECT_MOVES_H_
#define SELECT_MOVES_H_

#include "select/search/state.h"

/* Scratch for moves on one field; one per thread. */
typedef struct sel_mover {
  const sel_field *f;
  sw_rng rng;
  const double *price; /* of memory per value, by the field's offsets; borrowed */
  double weight;       /* of the price in the current move */
  int32_t *mark;       /* per variable: stamp when in the tree, -stamp when seen twice */
  int32_t stamp;
  int32_t *tree, *parent, *via; /* tree order, parent's place in it, near index from child to parent */
  int32_t n_tree;
  int32_t *place; /* of a variable in the tree */
  double *up;     /* [place][value]: cost of the subtree */
  int32_t *up_first;
  double *least; /* scratch, for the values of one variable */
  int32_t *undo; /* values before the move, by place */
  int32_t *rim;
} sel_mover;

sw_rc sel_mover_init(sel_mover *m, const sel_field *f, uint64_t seed, sw_arena *mem, sw_diag *d);
/* Tree moves of random size and weight until the budget is spent; the best choice seen is left in `best` (cost in
 * *best_cost), the state where it ended. */
void sel_anneal(sel_mover *m, sel_state *s, double heat, sel_budget *b, int32_t *best, int64_t *best_cost);

#endif
