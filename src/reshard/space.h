/* The sharding states that a search walks through, written in atoms.
 *
 * Atoms are the digits of mesh axes that neither end of a route needs split further; a state says where each atom is:
 * at some place of some dimension's list, partial, or unused (replicated).
 *
 *   mesh x=4,y=2   from [[x],[y]]   to [[y],[x]]   atoms x:(1)2, x:(2)2, y
 *   the state [[y, x:(2)2], [x:(1)2]] is reachable by one permute, the target from there by one all_to_all
 */
#ifndef SRC_RESHARD_SPACE_H_
#define SRC_RESHARD_SPACE_H_

#include "shardwright/reshard.h"

enum { RS_MAX_ATOMS = 14, RS_UNUSED = 0xff, RS_PARTIAL = 0xfe };

typedef struct rs_space {
  const sw_mesh *mesh;
  int rank;
  const int64_t *dims;
  int n;                          /* atoms, in mesh order, major first */
  sw_axis_ref atom[RS_MAX_ATOMS]; /* sizes >= 2 */
  /* Atoms that stand behind the one before them in all states of a net but those that spread (net.h). */
  unsigned joined;
} rs_space;

/* at[a] = dim << 4 | place in that dimension's list, or RS_PARTIAL, or RS_UNUSED; past n: RS_UNUSED. */
typedef struct rs_state {
  uint8_t at[16];
} rs_state;

/* The same, dimension by dimension: the form that moves are made on. */
typedef struct rs_lists {
  unsigned used, partial; /* bit sets of atoms */
  uint8_t len[SW_MAX_RANK];
  int64_t shards[SW_MAX_RANK];
  uint8_t atom[SW_MAX_RANK][RS_MAX_ATOMS]; /* last, as it is copied for as many dimensions as there are */
} rs_lists;

/* Atoms for two plain shardings (no offsets, no halos) in normal form; axes are split for equal slots while that gives
 * at most `most_split` atoms. False when their sub-axes have no common digits, or the atoms are too many. */
bool rs_space_init(rs_space *s, const sw_mesh *m, int rank, const int64_t *dims, const sw_sharding *a,
                   const sw_sharding *b, int most_split);
/* Atoms for all of n such shardings, and for the refs of one more, or NULL. */
bool rs_space_init_all(rs_space *s, const sw_mesh *m, int rank, const int64_t *dims, const sw_sharding *all, int n,
                       const sw_sharding *also);
bool rs_space_equal(const rs_space *a, const rs_space *b); /* the atoms */
rs_state rs_state_of(const rs_space *s, const sw_sharding *sharding);
void rs_lists_of(const rs_space *s, const rs_state *state, rs_lists *out);
rs_state rs_state_of_lists(const rs_space *s, const rs_lists *l);
/* In normal form: atoms that follow each other are joined. */
sw_sharding rs_sharding_of(const rs_space *s, const rs_state *state, sw_reduction kind);

/* Is cutting a dimension of k elements, already cut `a` times, `b` times more the same as cutting it a*b times? Then
 * all_slice, all_gather, all_to_all and reduce_scatter of that suffix place elements where the shardings say. */
bool rs_cuts_nest(int64_t k, int64_t a, int64_t b);

#endif
