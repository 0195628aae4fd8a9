/* The cheapest path between two states. */
#ifndef SRC_RESHARD_SEARCH_H_
#define SRC_RESHARD_SEARCH_H_

#include "reshard/space.h"

/* What is asked. Refs are in normal form; `target` is where the search ends: the wanted sharding without those partial
 * axes that a last to_partial makes. */
typedef struct rs_query {
  const sw_machine *machine;
  sw_dtype dtype;
  sw_reduction kind; /* of partial atoms */
  int64_t max_temp_bytes;
  bool no_exchange;
  double limit_s; /* only cheaper paths are wanted; 0: any */
  bool thorough;  /* every move, not only those that a cheapest route normally has: without exchanges, and in tests */
  rs_space space;
  rs_state source, target;
  /* A target that atoms cannot write (offsets, halos, foreign sub-axes) is reached by an exchange alone, and a source
   * of that kind is left by one. NULL for plain ends. */
  const sw_sharding *opaque_source, *opaque_target;
  const sw_other_mesh *target_mesh; /* of an opaque target that no axes of the machine's mesh can say; else NULL */
} rs_query;

typedef struct rs_move {
  uint8_t op;     /* sw_coll_op */
  uint8_t dim;    /* gathered, cut, or (all_to_all) joined */
  uint8_t to_dim; /* all_to_all: cut */
  uint8_t count;  /* atoms moved: the last ones of a list */
  uint16_t atoms; /* reductions without a dimension: bit set */
} rs_move;

typedef struct rs_hop {
  rs_move move;
  rs_state after;
  double cost_s;
} rs_hop;

typedef struct rs_path {
  int n;
  rs_hop hop[SW_MAX_ROUTE_STEPS];
  double cost_s; /* HUGE_VAL when there is no path */
  int n_left;    /* states of a net that the search went on from */
} rs_path;

SW_CHECKED sw_rc rs_search(const rs_query *q, rs_path *out, sw_diag *d);

#endif
