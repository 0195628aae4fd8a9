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
#include "hw/group.h"

enum { RS_NET_ATOMS = 6, RS_NET_LISTS = 240, RS_NET_STATES = 2424 };

/* What a dimension may be cut by: atoms in order. */
typedef struct rs_net_list {
  uint8_t n, set, atom[RS_NET_ATOMS];
  uint8_t next;   /* number of the first list behind those that begin with this one */
  uint32_t order; /* atoms + 1, four bits each, the first one lowest */
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

/* A dimension cut by one list, and by another after it. */
typedef struct rs_net_diff {
  bool other;                         /* neither list begins with the other */
  uint8_t appended, dropped, changed; /* sets of atoms: at the end; behind what both cut alike */
  uint32_t order;                     /* of those at the end, as one number */
  int32_t more, fewer;                /* sizes of what is appended, of what is dropped; else 1 */
} rs_net_diff;

/* The same, evenly. */
typedef struct rs_net_pair {
  double touched;             /* old blocks that a new one meets */
  double kept[SW_MAX_LEVELS]; /* elements of a new block that the device's unit of a level had */
  double had[SW_MAX_LEVELS];  /* rs_net_had of one device, ... */
  double both[SW_MAX_LEVELS]; /* ... and rs_net_both_had */
} rs_net_pair;

/* What no step can do better than, by level: what crosses between its units, or between units of levels above. */
typedef struct rs_net_floor {
  double step_s;                   /* of any step */
  double latency_s[SW_MAX_LEVELS]; /* of one that crosses */
  double unit[SW_MAX_LEVELS];      /* devices of a unit */
  double copy_s, copied_s;         /* of making parts: of any, and of a byte */
  struct rs_net_lines { /* of moving bytes: the least of them; those behind n_plain only where something is reduced */
    int n, n_plain;
    struct rs_net_line {
      double ramp_s, slope_s;
    } line[SW_MAX_LEVELS * SW_COST_CLASS_COUNT];
  } lines[SW_MAX_LEVELS];
  struct rs_net_line least[SW_MAX_LEVELS]; /* no line of the level alone takes less */
  struct rs_net_line together;             /* of what may go over all levels at once, in any parts */
} rs_net_floor;

enum { RS_NET_PLACES = 512, RS_NET_LANES = 8 };
enum { RS_NET_SLOTS = 4096 }; /* of the hash that finds states */
enum { RS_NET_HELD = 1024 };  /* pairs of lists, where not all are compared */

/* What the states of a net that does not hold all are made of: the lists of two ends. Unions of blocks of atoms may be
 * partial in it. */
typedef struct rs_net_ends {
  rs_lists end[2];
  int n_blocks;
  uint8_t block[RS_NET_ATOMS];
} rs_net_ends;

typedef struct rs_net {
  const rs_query *q;       /* of a tensor whose dimensions are of one extent, which every list cuts evenly */
  const rs_net_ends *ends; /* NULL: all lists that the atoms give */
  int n_lists, n_states, n_levels;
  bool partial; /* with states of partial values */
  double elem, whole_bytes, devices;
  int n_places;        /* of the devices, if they count and are at most RS_NET_PLACES */
  int32_t *place;      /* rs_net_place */
  struct rs_net_part { /* devices that a set of atoms tells apart: their places */
    int n;             /* and, up to a multiple of RS_NET_LANES, the first device's again */
    ptrdiff_t first;
  } part[1 << RS_NET_ATOMS];
  double inside[SW_MAX_LEVELS][RS_NET_ATOMS];     /* devices of a unit that an atom tells apart */
  double units[SW_MAX_LEVELS][1 << RS_NET_ATOMS]; /* of a level, that a set of atoms tells apart */
  rs_net_list list[RS_NET_LISTS];
  double block[RS_NET_LISTS]; /* elements of a dimension's shard */
  uint16_t *held;             /* which lists are compared in the two that follow; NULL: all with all */
  rs_net_diff *diff;          /* rs_net_diff_of */
  rs_net_pair *pair;          /* rs_net_pair_of */
  rs_net_state state[RS_NET_STATES];
  uint16_t slot[RS_NET_SLOTS];                     /* state + 1 */
  double bytes[RS_NET_STATES];                     /* of one device */
  double unit_bytes[SW_MAX_LEVELS][RS_NET_STATES]; /* that a unit of the level holds in all; not of level 0 */
  sw_group *group; /* rs_net_group, by set of atoms; those with no size are not known yet */
  rs_net_floor floor;
} rs_net;

/* Atoms for a net that holds all of n plain shardings: the prime factors of the axes where these give few enough
 * states, else the axes, cut at the borders of units where that is not too much, the widest cut further where there is
 * room, and what the shardings name of them.
 * False where that is too much, too. Which it is depends on the machine and the rank, as long as only whole axes are
 * named. Crossing axes are cut into prime factors, and one that lies across the border of a unit there, for the states
 * that spread (net_spread.c), where dimensions are even and those are not too many. */
bool rs_net_space(rs_space *s, const sw_machine *machine, int rank, const int64_t *dims, const sw_sharding *all, int n);
/* Does all of an atom lie between the smallest units, as nodes are? */
bool rs_crosses_units(const sw_machine *machine, sw_axis_ref atom);
/* Ways to place some of n atoms (or whole axes) on lists of `rank` dimensions, the rest being unused or, with
 * `partial`, each unused or partial. */
int64_t rs_net_count(int n, int rank, bool partial);
/* Atoms for a net of two ends: the prime factors of the axes where these are few enough, else what the ends name of the
 * axes, cut at the borders of units where that is not too much. */
void rs_net_ends_space(rs_space *s, const sw_machine *machine, const sw_sharding ends[2]);
/* Of a query; false where its atoms are too many. */
bool rs_net_ends_of(const rs_query *q, rs_net_ends *out);
/* What the atoms alone decide. The query, its space included, is borrowed. */
SW_CHECKED sw_rc rs_net_init(rs_net *n, const rs_query *q, sw_diag *d);
/* Lists and states: all that the atoms give, or those of two ends (borrowed), maybe in place of others'. `partial`:
 * with states of partial values. `counts`: blocks may be uneven, or have offsets, so that it is to be known who has
 * which. */
SW_CHECKED sw_rc rs_net_fill(rs_net *n, const rs_net_ends *ends, bool partial, bool counts, sw_diag *d);
void rs_net_deinit(rs_net *n);
/* While a net of two ends is made: a list that it lacks, which gets a number; a state, as far as there is room; all its
 * lists and states. */
uint8_t rs_net_add_list(rs_net *n, const rs_net_list *list);
rs_net_list rs_net_longer(const rs_net *n, const rs_net_list *list, int atom); /* with an atom more behind it */
void rs_net_add_state(rs_net *n, const rs_net_state *at);
void rs_net_add_hubs(rs_net *n);
void rs_net_add_spread(rs_net *n);                                         /* net_spread.c */
int64_t rs_net_spread_count(const rs_space *s, const sw_machine *machine); /* of these states, at most */
int rs_net_find_list(const rs_net *n, const uint8_t *atom, int len);       /* n_lists: it has none such */
int rs_net_find(const rs_net *n, const rs_state *state);                   /* -1: it has none such */
int rs_net_find_state(const rs_net *n, const rs_net_state *at);
rs_state rs_net_state_of(const rs_net *n, int state);

/* Where two lists are compared. With few slots for them it holds until the next is asked for. */
void rs_net_compare(const rs_net *n, int from, int to, int slot);
/* Atoms that two lists both begin with. */
static inline int rs_net_alike(const rs_net_list *a, const rs_net_list *b) {
  return a->order == b->order ? a->n : __builtin_ctz(a->order ^ b->order) / 4;
}
/* Elements of a new block that the device's unit of a level had. */
double rs_net_kept(const rs_net *n, int from, int to, int alike, int level);
/* For bounds, of what makes parts over the set `made` of atoms together: elements of a new block that their units of a
 * level had. No more than some such units: with their own atoms and `made` left out, the old list's rest cuts what both
 * lists begin alike; where both go on in other ways, some find nothing. */
double rs_net_had(const rs_net *n, int from, int to, int alike, unsigned made, int level);
/* Of what they shall have in all, some had no more than so much. */
double rs_net_both_had(const rs_net *n, int from, int to, unsigned made, int level);
static inline int rs_net_both(const rs_net *n, int from, int to) {
  const int both = from * n->n_lists + to, slot = both % RS_NET_HELD;
  if (!n->held) return both;
  if (n->held[slot] != both + 1) rs_net_compare(n, from, to, slot);
  return slot;
}
static inline const rs_net_diff *rs_net_diff_of(const rs_net *n, int from, int to) {
  return &n->diff[rs_net_both(n, from, to)];
}
static inline const rs_net_pair *rs_net_pair_of(const rs_net *n, int from, int to) {
  return &n->pair[rs_net_both(n, from, to)];
}
void rs_net_make_group(const rs_net *n, unsigned set);
static inline const sw_group *rs_net_group(const rs_net *n, unsigned set) {
  if (n->group[set].shape.size == 0) rs_net_make_group(n, set);
  return &n->group[set];
}
/* The shard that each device's unit of a level has by a list, counted in shards of as many devices as lie inside. Of
 * the devices that a set of atoms, those of the list among them, tells apart: one of those alike. */
static inline const int32_t *rs_net_place(const rs_net *n, unsigned set, int level, int list) {
  return n->place + n->part[set].first + (ptrdiff_t)(level * n->n_lists + list) * n->part[set].n;
}

/* No path costs less, and none of more than one step. */
typedef struct rs_net_bound {
  double any_s, longer_s;
} rs_net_bound;
/* What bounds on paths from a state to another follow from, whatever the tensor's size. Equal ones are equal bytes. */
typedef struct rs_net_gap {
  double lacked[SW_MAX_LEVELS]; /* bytes that cross between units of a level, per device; 0 from where none do */
  double again[SW_MAX_LEVELS];  /* the same, if what stays partial is reduced and made partial again */
  double wanted[SW_MAX_LEVELS]; /* bytes of what units of a level shall have, per device; where something is reduced */
  uint32_t gone, kept;          /* sets of atoms that are reduced, and that stay partial */
  double parts;                 /* bytes of a device's parts, where some become partial or stay so */
  uint32_t made;                /* set of atoms */
  uint64_t same;                /* is it one state? */
} rs_net_gap;
rs_net_gap rs_net_gap_of(const rs_net *n, int from, int to);
/* Between even blocks of a tensor `scale` times as large as the net's. */
rs_net_bound rs_net_gap_bound(const rs_net *n, const rs_net_gap *gap, double scale);
static inline rs_net_bound rs_net_bound_of(const rs_net *n, int from, int to, double scale) {
  const rs_net_gap gap = rs_net_gap_of(n, from, to);
  return rs_net_gap_bound(n, &gap, scale);
}

/* Nor does one that brings so many bytes to some device, over whichever levels. */
double rs_net_bytes_s(const rs_net *n, double bytes);

/* No step from a state to another costs less; HUGE_VAL where there is none. Looks at no pair of lists unless that may
 * make it `enough`. */
double rs_net_step_least_s(const rs_net *n, int from, int to, double scale, double enough);

/* What one step between two states is, and what it is priced by. */
typedef struct rs_step {
  bool exchanges; /* by `load` */
  uint8_t group;  /* set of atoms */
  rs_move move;
  double bytes; /* of a collective */
  sw_exchange_load load;
} rs_step;

/* The one collective that leads from a state to another, else the exchange; false where neither does. Of even blocks.
 */
bool rs_net_step(const rs_net *n, int from, int to, rs_step *out);
/* Its price as curves over the scale; returns how many. */
int rs_step_curves(const rs_net *n, const rs_step *step, sw_curve out[SW_MAX_CURVES]);

/* Has either end of the query partial atoms? */
bool rs_net_has_partial(const rs_query *q);
/* The cheapest path, as rs_search, of a query whose space is rs_net_space of its ends, which are plain. */
SW_CHECKED sw_rc rs_net_search(const rs_query *q, rs_path *out, sw_diag *d);
/* The cheapest path over states that are made of the ends' own lists, whatever the space; none where atoms are too
 * many.
 */
SW_CHECKED sw_rc rs_net_search_ends(const rs_query *q, rs_path *out, sw_diag *d);

/* The cheapest path of collectives and permutes alone, between whole values; HUGE_VAL where there is none. */
SW_CHECKED sw_rc rs_net_search_plain(const rs_query *q, rs_path *out, sw_diag *d);

#endif
