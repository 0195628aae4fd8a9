/* The graph that a search walks: states as vertices, one step between any two. */
#ifndef SRC_RESHARD_GRAPH_H_
#define SRC_RESHARD_GRAPH_H_

#include "hw/group.h"
#include "reshard/wanted_reshard.h"

enum {
  RS_MAX_VERTICES = 1024,
  RS_MAX_DIM_SHARDINGS = 512,
  RS_VERTEX_SLOTS = 4096, /* of hashes */
  RS_DIM_SLOTS = 2048,
  RS_DIM_STEPS = 1024, /* kept, of groups likewise */
  RS_GROUPS = 64
};

/* How one dimension may be cut. By level of the network, [0] being the devices themselves: */
typedef struct rs_dim_sharding {
  rs_list list;
  int n;
  uint32_t set;
  double shards;
  uint16_t prefix[RS_MAX_ATOMS + 1]; /* sets of so many leading atoms */
  uint8_t visible[SW_MAX_LEVELS];    /* leading atoms by which units differ */
  double inside[SW_MAX_LEVELS];      /* blocks that a unit has one after the other */
  double outer[SW_MAX_LEVELS];       /* shards that units tell apart */
  double block[SW_MAX_RANK];         /* elements of a shard, rounded up, by dimension */
  bool even[SW_MAX_RANK];            /* is nothing rounded? */
} rs_dim_sharding;

/* What a step does to one dimension. */
typedef struct rs_dim_leg {
  int common;               /* leading atoms of both lists */
  uint32_t gained, dropped; /* sets of atoms behind them */
  uint32_t changed; /* atoms along which devices may lack something: these, and where leading blocks of the lists
                       are not the same, all */
  bool even, nests;
  double before, after;        /* elements of a block, with the padding that lets it be cut into equal parts */
  double touched;              /* old blocks that a new one meets */
  double kept[SW_MAX_LEVELS];  /* part of a new block that the unit had, as exchanges are priced, ... */
  double had[SW_MAX_LEVELS];   /* ... and at most; */
  double both[SW_MAX_LEVELS];  /* of the tensor, what a unit has before and after, at most */
  bool crosses[SW_MAX_LEVELS]; /* must a unit get anything from others? */
} rs_dim_leg;

typedef struct rs_vertex {
  rs_state state;
  uint16_t dim[SW_MAX_RANK]; /* dim shardings */
  uint32_t cut_by;           /* set of atoms, of all dimensions */
  double bytes;              /* of one device's buffer */
  double source_s, target_s; /* bounds on what paths cost from the source, and to the target */
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
  uint32_t equivalent[RS_MAX_ATOMS];          /* atoms before it of the same size and place on the network */
  rs_floor floor;
  int n, n_dims;
  int source, target;
  double upper_s; /* states that only dearer paths lead over are not added */
  uint16_t vertex_slot[RS_VERTEX_SLOTS], dim_slot[RS_DIM_SLOTS]; /* number + 1 */
  uint32_t dim_step_key[RS_DIM_STEPS], group_set[RS_GROUPS];
  rs_dim_sharding dim[RS_MAX_DIM_SHARDINGS];
  rs_vertex vertex[RS_MAX_VERTICES];
  rs_dim_leg dim_step[RS_DIM_STEPS];
  sw_group group[RS_GROUPS];
} rs_graph;

/* Both ends and no other states yet. The request is borrowed. */
void rs_graph_init(rs_graph *g, const rs_request *r);
/* The state's number, found or added; -1: there is no room, or no path over it costs less than `upper_s`. */
int rs_graph_add(rs_graph *g, const rs_state *state);
/* The states that a cheapest path is looked for over (candidates.c): those around the ends, .. */
void rs_graph_add_near(rs_graph *g);
/* .. all of the axes that the ends name, if they are few, .. */
void rs_graph_add_all(rs_graph *g);
/* .. and those that one more collective leads to, as far as there is room. */
void rs_graph_add_neighbours(rs_graph *g);

/* Devices that differ along a set of atoms. Valid until the next is asked for. */
const sw_group *rs_graph_group(rs_graph *g, uint32_t set);
/* The number of a list; -1: there is no room. */
int rs_graph_dim(rs_graph *g, rs_list list);
/* Of dimension `d`, from a dim sharding to another one. Valid until the next is asked for. */
const rs_dim_leg *rs_graph_dim_leg(rs_graph *g, int d, int from, int to);

/* What the step is: one collective, which route.c writes. */
typedef struct rs_move {
  uint8_t op;       /* sw_coll_op; an exchange may turn out a permute */
  uint8_t dim;      /* cut or gathered; all_to_all: cut */
  uint8_t of_dim;   /* all_to_all: joined */
  uint8_t n_slices; /* all_slice: of so many dimensions, one after the other; else 0 */
  rs_list list;     /* atoms in order, of ops with a dimension */
  uint32_t set;     /* of the others, all in mesh order */
} rs_move;

typedef struct rs_leg {
  rs_move move;
  double cost_s;
} rs_leg;

/* The one collective that leads from a state to another, else the exchange; false where neither does. */
bool rs_graph_leg(rs_graph *g, int from, int to, rs_leg *out);
/* The exchange along `changed` atoms (exchange.c); from or to an end that is not plain. */
double rs_graph_exchange_s(rs_graph *g, const rs_vertex *from, const rs_vertex *to, uint32_t changed);
double rs_graph_counted_exchange_s(const rs_graph *g, const rs_vertex *from, const rs_vertex *to);

void rs_floor_init(rs_graph *g);
/* No path from a state to another costs less. */
double rs_graph_bound_s(rs_graph *g, int from, int to);

#endif
