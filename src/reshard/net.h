/* Every sharding that a few atoms can write, as the states of one graph, and what one step between two of them costs.
 *
 * The states are the same for every pair of ends, and every step is priced by the same function, so that cheapest paths
 * obey the triangle inequality.
 *
 *   atoms x, y, z at rank 4: 193 states, 296 where values may be partial
 */
#ifndef SRC_RESHARD_NET_H_
#define SRC_RESHARD_NET_H_

#include "reshard/search.h"
#include "shardwright/group.h"

enum { RS_NET_ATOMS = 4, RS_NET_LISTS = 65, RS_NET_STATES = 460 };

/* What a dimension may be cut by: atoms in order. */
typedef struct rs_net_list {
  uint8_t n, set, atom[RS_NET_ATOMS];
  uint8_t next; /* number of the first list behind those that begin with this one */
  int64_t shards;
  uint8_t visible[SW_MAX_LEVELS]; /* leading atoms by which units of a level differ, ... */
  int64_t inside[SW_MAX_LEVELS];  /* ... and how many blocks a unit has one after the other */
  int64_t outer[SW_MAX_LEVELS];   /* shards that units of the level tell apart */
} rs_net_list;

typedef struct rs_net_state {
  uint8_t list[SW_MAX_RANK]; /* by dimension; 0 past the rank */
  uint8_t used, partial;     /* sets of atoms */
  uint8_t unused[2];         /* so that two words tell states apart */
} rs_net_state;

/* A dimension cut by a list. */
typedef struct rs_net_cut {
  double block; /* elements of the largest */
  bool even;
} rs_net_cut;

/* What no step can do better than, by level: what crosses between its units, or between units of levels above. */
typedef struct rs_net_floor {
  double step_s;                   /* of any step */
  double latency_s[SW_MAX_LEVELS]; /* of one that crosses */
  double unit[SW_MAX_LEVELS];      /* devices of a unit */
  int n_lines;
  struct rs_net_line { /* of moving bytes: the least of the lines from first_line on */
    double ramp_s, slope_s;
    bool reduces; /* only where something is reduced */
  } line[SW_MAX_LEVELS * SW_COST_CLASS_COUNT];
  uint8_t first_line[SW_MAX_LEVELS];
} rs_net_floor;

typedef struct rs_net {
  const rs_query *q;
  int n_lists, n_states, n_levels;
  double elem, whole_bytes, devices;
  double inside[SW_MAX_LEVELS][RS_NET_ATOMS]; /* devices of a unit that an atom tells apart */
  rs_net_list list[RS_NET_LISTS];
  rs_net_cut cut[SW_MAX_RANK][RS_NET_LISTS];
  rs_net_state state[RS_NET_STATES];
  double bytes[RS_NET_STATES];                     /* padded, of one device */
  double unit_bytes[SW_MAX_LEVELS][RS_NET_STATES]; /* that a unit of the level holds in all; not of level 0 */
  sw_group group[1 << RS_NET_ATOMS];
  rs_net_floor floor;
} rs_net;

/* Atoms for a net that holds all of n plain shardings: the prime factors of the axes where these give few enough
 * states, else the axes and what the shardings name of them. False where that is too much, too. Which it is depends on
 * the mesh and the rank, as long as only whole axes are named. */
bool rs_net_space(rs_space *s, const sw_mesh *m, int rank, const int64_t *dims, const sw_sharding *all, int n);
/* Which states a net has: values may be partial, blocks may be uneven. */
typedef struct rs_net_scope {
  bool partial, uneven;
} rs_net_scope;

/* The query, its space included, is borrowed. */
void rs_net_init(rs_net *n, const rs_query *q, rs_net_scope scope);
int rs_net_find(const rs_net *n, const rs_state *state); /* -1: it has none such */
rs_state rs_net_state_of(const rs_net *n, int state);

/* Leading atoms that two lists have in common. */
static inline int rs_net_alike(const rs_net_list *a, const rs_net_list *b) {
  int n = 0;
  while (n < a->n && n < b->n && a->atom[n] == b->atom[n]) n++;
  return n;
}
/* How many elements of a new block the device's unit of a level (0: the device) had of it, of even blocks: where the
 * unit's atoms are a beginning of the new list all, where it is the other way round the unit's blocks, else nothing, on
 * some device. */
static inline double rs_net_overlap(const rs_net *n, int dim, int from, int to, int alike, int level) {
  const double new = n->cut[dim][to].block, unit = n->cut[dim][from].block *(double)n->list[from].inside[level];
  if (alike >= n->list[from].visible[level]) return new;
  if (alike < n->list[to].n) return 0;
  return unit < new ? unit : new;
}

/* What two lists of a dimension mean for a bound. */
typedef struct rs_net_pair {
  double had[SW_MAX_LEVELS];  /* of a new block, by some device's unit */
  double both[SW_MAX_LEVELS]; /* of what a unit shall have in all, at most so much did it have */
} rs_net_pair;

/* From one state to all, or from all to one. */
typedef struct rs_net_view {
  int state;
  bool to_it;
  rs_net_pair pair[SW_MAX_RANK][RS_NET_LISTS];
} rs_net_view;

void rs_net_look(const rs_net *n, int state, bool to_it, rs_net_view *out);
/* No path between the view's state and another costs less. Of even blocks. */
double rs_net_bound_s(const rs_net *n, const rs_net_view *v, int other);

/* The price of the one collective, else of the exchange, between two states; HUGE_VAL where neither does it. `move` may
 * be NULL. */
double rs_net_step_s(const rs_net *n, int from, int to, rs_move *move);

/* Has either end of the query partial atoms? */
bool rs_net_has_partial(const rs_query *q);
/* The cheapest path, as rs_search, of a query whose space is rs_net_space of its ends, which are plain and even. */
void rs_net_search(const rs_query *q, rs_path *out);

#endif
