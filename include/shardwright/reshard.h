/* From one sharding to another: the cheapest route, its traffic beside the lower bound.
 *
 * A route is a list of steps, each one collective from one sharding to the next; the cost used in the search, the
 * collectives that are emitted and the ones that run all come from this one function.
 */
#ifndef SHARDWRIGHT_RESHARD_H_
#define SHARDWRIGHT_RESHARD_H_

#include "shardwright/hw.h"

enum { SW_MAX_ROUTE_STEPS = 12 };

typedef struct sw_hop {
  sw_collective coll;  /* exchange/permute: src and dst in the route's arena */
  sw_sharding after;   /* the sharding once this step is done */
  const sw_mesh *mesh; /* that `after`, an exchange's dst and a to_partial's axes speak of: the machine's, but to_mesh's
                          for the last steps where no axes of the machine's mesh say what `to` does */
  double cost_s;
  double max_bytes;   /* received by the busiest device */
  double total_bytes; /* received by all */
} sw_hop;

typedef struct sw_route {
  int n_steps; /* 0: nothing to do */
  sw_hop step[SW_MAX_ROUTE_STEPS];
  double cost_s, max_bytes, total_bytes;
  double bound_max_bytes, bound_total_bytes; /* what any route must move */
  bool full_replication; /* some step holds the whole tensor on every device though neither end does */
} sw_route;

typedef struct sw_reshard_options {
  int64_t max_temp_bytes; /* per device; 0: no limit */
  bool no_exchange;       /* only collectives, and permutes of equal blocks, where a route of them exists */
  bool refresh_halos;     /* halos of `from` are stale, so that equal shardings with halos still need an exchange */
  const sw_other_mesh *to_mesh; /* the mesh that `to` speaks of, NULL: the machine's; outlives the route */
} sw_reshard_options;

/* What is wanted: a tensor of `dims` that lies as `from` says shall lie as `to` says. Both fit their mesh and the
 * dims. Everything is borrowed. */
typedef struct sw_reshard {
  const sw_machine *machine;
  const sw_sharding *from, *to;
  int rank;
  const int64_t *dims;
  sw_dtype dtype;
  sw_reshard_options options; /* zeros: the defaults */
} sw_reshard;

/* The cheapest route under the machine's prices. Partial: sum-like values may be reduced, scattered, kept, or made from
 * replicated ones (to_partial); SW_E_INPUT when no route exists (a value partial by `average` wanted from a whole one).
 * What the steps point to is in the arena. Same inputs, same route. */
SW_API SW_CHECKED sw_rc sw_route_find(const sw_reshard *wanted, sw_arena *arena, sw_route *out, sw_diag *d);
/* Routes found before, for callers that ask again and again. Everything is in the arena; one thread at a time. The
 * route lives as long as the arena; machines and other meshes are told apart by address. */
typedef struct sw_route_cache sw_route_cache;
SW_API SW_CHECKED sw_rc sw_route_cache_make(sw_arena *arena, sw_route_cache **out, sw_diag *d);
SW_API SW_CHECKED sw_rc sw_route_cached(sw_route_cache *c, const sw_reshard *wanted, const sw_route **out, sw_diag *d);
/* The same price without the steps; HUGE_VAL when no route exists, or memory is short. Cached by the caller. */
SW_API double sw_route_cost_s(const sw_reshard *wanted);

/* Prices asked pair by pair, which remember what was asked: those of sw_route_cost_s, on the machine and on
 * sw_machine_combining of it. One thread at a time. The machine is borrowed. */
typedef struct sw_route_prices sw_route_prices;
SW_API SW_CHECKED sw_rc sw_route_prices_make(const sw_machine *machine, sw_route_prices **out, sw_diag *d);
SW_API void sw_route_prices_destroy(sw_route_prices *p);
/* The number that a shape is asked by from now on: rank extents in elements, copied. `combines`: collectives are parts
 * of calls. */
SW_API SW_CHECKED sw_rc sw_route_prices_shape(sw_route_prices *p, bool combines, int rank, const int64_t *dims,
                                              sw_dtype t, int32_t *out, sw_diag *d);
/* HUGE_VAL, too, where it is known without a search that it is more than `enough`; HUGE_VAL: nothing is. */
SW_API SW_CHECKED sw_rc sw_route_prices_get(sw_route_prices *p, int32_t shape, const sw_sharding *from,
                                            const sw_sharding *to, double enough, double *cost_s, sw_diag *d);

/* Prices between all pairs of n shardings of one shape, each that of sw_route_cost_s: cost_s[i*n + j], HUGE_VAL where
 * no route exists. The table is in the arena. */
SW_API SW_CHECKED sw_rc sw_route_table(const sw_machine *machine, const sw_sharding *shardings, int n, int rank,
                                       const int64_t *dims, sw_dtype t, sw_arena *arena, const double **cost_s,
                                       sw_diag *d);

#endif
