/* The graph that a search walks: states, with what steps and bounds ask of them, one step between any two. */
#ifndef SRC_RESHARD_GRAPH_H_
#define SRC_RESHARD_GRAPH_H_

#include "hw/group.h"
#include "reshard/request.h"

enum { RS_MAX_STATES = 1024, RS_MAX_CUTS = 512, RS_STATE_SLOTS = 4096, RS_CUT_SLOTS = 2048, RS_GROUP_SLOTS = 64 };

/* A list of atoms, and what it makes of a dimension. By level of the network, [0] being the devices themselves: */
typedef struct rs_cut {
  rs_list list;
  int n;
  uint32_t set;
  double shards;
  uint16_t head[RS_MAX_ATOMS + 1]; /* sets of so many leading atoms */
  uint8_t visible[SW_MAX_LEVELS];  /* leading atoms by which units differ */
  double inside[SW_MAX_LEVELS];    /* blocks that a unit has one after the other */
  double outer[SW_MAX_LEVELS];     /* shards that units tell apart */
  double block[SW_MAX_RANK];       /* elements of a shard, rounded up, by dimension */
  bool even[SW_MAX_RANK];          /* is nothing rounded? */
} rs_cut;

typedef struct rs_vertex {
  rs_state state;
  uint16_t cut[SW_MAX_RANK]; /* by dimension */
  double bytes;              /* of one device's buffer */
  double begun_s, left_s;    /* bounds on what paths cost from the source to here, and on to the target */
} rs_vertex;

/* What no step can do better than. A level's constants hold for what crosses between its units, or between those of
 * levels above. */
typedef struct rs_floor {
  double step_s; /* of any step */
  struct rs_level_floor {
    double latency_s, ramp_s, slope_s; /* seconds, per root of a byte and per byte that a device receives */
    double unit;                       /* devices of a unit */
  } level[SW_MAX_LEVELS];
} rs_floor;

typedef struct rs_graph {
  const rs_request *r;
  int n_levels;
  double elem_bytes, whole_bytes, devices;
  double inside[SW_MAX_LEVELS][RS_MAX_ATOMS]; /* devices of a unit that an atom tells apart */
  uint32_t alike[RS_MAX_ATOMS];               /* atoms before it of the same size and place on the network */
  rs_floor floor;
  int n, n_cuts;
  int source, target;
  double enough_s; /* states that only dearer paths lead over are left out */
  uint16_t state_slot[RS_STATE_SLOTS], cut_slot[RS_CUT_SLOTS]; /* hashes: number + 1 */
  uint32_t group_set[RS_GROUP_SLOTS];
  rs_cut cut[RS_MAX_CUTS];
  rs_vertex vertex[RS_MAX_STATES];
  sw_group group[RS_GROUP_SLOTS];
} rs_graph;

/* Both ends and no other states yet. The request is borrowed. */
void rs_graph_init(rs_graph *g, const rs_request *r);
/* The state's number, found or added; -1: there is no room, or no path over it costs less than `enough_s`. */
int rs_graph_add(rs_graph *g, const rs_state *state);
/* The states that cheapest paths go over: those that one collective leads to from an end, or from one with nothing
 * partial, and all states of axes as the ends name them where these are few (near.c). */
void rs_graph_add_near(rs_graph *g);
/* Those around all states that there are, as far as there is room. */
void rs_graph_add_nearer(rs_graph *g);
/* Devices that differ along a set of atoms. Valid until the next is asked for. */
const sw_group *rs_graph_group(rs_graph *g, uint32_t set);

/* What the step is: one collective, which route.c writes. */
typedef struct rs_move {
  uint8_t op;     /* sw_coll_op; an exchange may turn out a permute */
  uint8_t dim;    /* cut or gathered; all_to_all: cut */
  uint8_t of_dim; /* all_to_all: joined */
  rs_list list;   /* atoms in order, of ops with a dimension; all_slice: 0 where several dimensions are cut */
  uint32_t set;   /* of the others, all in mesh order */
} rs_move;

typedef struct rs_step {
  rs_move move;
  double cost_s;
  bool exact; /* else cost_s is the least, until what devices receive is counted */
} rs_step;

/* The one collective that leads from a state to another, else the exchange; false where neither does. `count` what
 * uneven blocks receive? */
bool rs_graph_step(rs_graph *g, int from, int to, bool count, rs_step *out);
/* What an exchange between even blocks moves, `bytes` of them on a device afterwards; along `changed` atoms. */
bool rs_even_load(rs_graph *g, const rs_vertex *a, const rs_vertex *b, uint32_t changed, double bytes,
                  sw_exchange_load *out);

void rs_floor_init(rs_graph *g);
/* No path from a state to another costs less. */
double rs_graph_bound_s(const rs_graph *g, int from, int to);

#endif
