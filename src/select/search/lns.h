/* Inside the solver: large moves. Some dozens of variables are set free and chosen anew, exactly if the work allows. */
#ifndef SELECT_LNS_H_
#define SELECT_LNS_H_

#include "select/bound/dual.h"
#include "select/search/state.h"

/* Scratch for moves on one field; one per thread. */
typedef struct sel_lns {
  const sel_field *f;
  const sel_link *links; /* of the field's core */
  sw_rng rng;
  const int32_t *guide; /* another good choice: moves free where the two differ (path relinking); NULL: none */
  const double *prefix; /* n_steps + 1: sum of the prices before a step, per unit of memory; NULL: none */
  sw_arena mem;         /* of one move */
  int32_t *place;       /* of a variable among the free ones, or -1 */
  int32_t *free, *rim;
  int32_t n_free;
  double size; /* how many to set free; follows what the moves need */
} sel_lns;

sw_rc sel_lns_init(sel_lns *l, const sel_field *f, const sel_link *links, uint64_t seed, sw_arena *mem, sw_diag *d);
void sel_lns_deinit(sel_lns *l);
/* One move from a choice that keeps its caps; *better says whether the state changed, then to a cheaper one. */
sw_rc sel_lns_move(sel_lns *l, sel_state *s, sel_budget *b, bool *better, sw_diag *d);

#endif
