/* Inside the solver: searches for better choices, one per thread, beside whatever the calling thread does.
 *
 * A round starts every local search from the best choice known and the prices of that moment; nothing is shared while
 * it lasts. When it ends the best of all is taken, the lowest number among equals. Rounds that are limited by work
 * therefore give the same result every time.
 */
#ifndef SELECT_LOCAL_SEARCH_H_
#define SELECT_LOCAL_SEARCH_H_

#include <stdatomic.h>

#include <pthread.h>

#include "select/search/lns.h"
#include "select/search/search_moves.h"

typedef struct sel_local_search {
  const struct sel_local_searches *all;
  sw_arena mem;
  sel_state state;
  sel_mover mover;
  sel_lns lns;
  int32_t *x; /* its best choice; cost below */
  int64_t cost;
  int32_t *tried;
  sel_budget budget;
  pthread_t thread;
  bool started;
  sw_rc rc;
  sw_diag diag;
} sel_local_search;

typedef struct sel_local_searches {
  const sel_field *field;
  const sel_link *links; /* of its core; their tables alone are looked at */
  sw_arena mem;
  int n; /* the first is the calling thread's own */
  sel_local_search *at;
  double *price;  /* of memory, per value by the field's offsets */
  double *prefix; /* per step, as sel_lns wants it */
  int32_t *guide; /* another good choice than the best, for moves between the two */
  bool guided;    /* there is one */
  int64_t sweep;  /* cells of one pass over everything: the measure of work */
  atomic_int halt;
} sel_local_searches;

/* `ws` stays where it is until sel_local_searches_deinit. */
sw_rc sel_local_searches_init(sel_local_searches *ws, const sel_field *f, const sel_link *links, int threads,
                              uint64_t seed, int64_t sweep, sw_diag *d);
void sel_local_searches_deinit(sel_local_searches *ws);
/* Prices for the rounds to come. */
void sel_local_searches_price(sel_local_searches *ws, const sel_dual *u, const double *packed);

/* Another good choice than the best; not while local searches are under way. */
void sel_local_searches_guide(sel_local_searches *ws, const int32_t *x);

/* Start all but the first local search from `x`, to run until `b` is spent. */
sw_rc sel_local_searches_start(sel_local_searches *ws, const int32_t *x, int64_t cost, const sel_budget *b, sw_diag *d);
/* Wait for them; the best choice of all with its cost, when it is better than *cost. */
sw_rc sel_local_searches_join(sel_local_searches *ws, int32_t *x, int64_t *cost, sw_diag *d);
/* Do without what they find. */
void sel_local_searches_drop(sel_local_searches *ws);
/* The first local search, in the calling thread: improve `x` until `b` is spent. */
sw_rc sel_local_searches_run(sel_local_searches *ws, int32_t *x, int64_t *cost, sel_budget *b, sw_diag *d);

#endif
