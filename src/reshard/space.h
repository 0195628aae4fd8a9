/* States: shardings as a search walks through them.
 *
 * Atoms are digits of mesh axes. A state says which of them cut each dimension, in which order, and over which of them
 * the value is partial.
 *
 *   mesh x=4,y=2    atoms 0 x:(1)2, 1 x:(2)2, 2 y    the state [[y,x:(2)2],[]] partial sum[x:(1)2]
 */
#ifndef SRC_RESHARD_SPACE_H_
#define SRC_RESHARD_SPACE_H_

#include "shardwright/reshard.h"

enum { RS_MAX_ATOMS = 14 };

typedef struct rs_space {
  const sw_mesh *mesh;
  int rank;
  const int64_t *dims;
  int n;                          /* atoms, in mesh order, major first; symmetric axes in the order of the ends */
  sw_axis_ref atom[RS_MAX_ATOMS]; /* sizes >= 2 */
  unsigned joined;                /* atoms that stand right behind the one before them wherever the ends name them */
} rs_space;

/* Atoms that cut one dimension: number + 1 in four bits each, the first one lowest. 0: it is whole. */
typedef uint64_t rs_list;

/* Offsets, halos and another mesh's axes are not written in atoms: such an end is one state of its own. */
typedef enum rs_form { RS_PLAIN, RS_SOURCE, RS_TARGET } rs_form;

/* Past the rank and where nothing is partial all is 0, so that bytes tell states apart. */
typedef struct rs_state {
  uint32_t partial; /* set of atoms */
  uint16_t kind;    /* 0: partial as the source is, 1: as the target is, where that is another reduction */
  uint16_t form;
  rs_list list[SW_MAX_RANK]; /* by dimension */
} rs_state;

/* Atoms that can write both shardings: what these name of the axes, cut further while there are few. `b` may be NULL.
 * False when their parts of axes have no common digits, or the atoms are too many. */
bool rs_space_init(rs_space *s, const sw_machine *machine, int rank, const int64_t *dims, const sw_sharding *a,
                   const sw_sharding *b);
/* The lists and partial axes of a sharding that the atoms can write. */
rs_state rs_state_of(const rs_space *s, const sw_sharding *sharding);
/* In normal form: atoms that follow each other are joined. */
sw_sharding rs_sharding_of(const rs_space *s, const rs_state *state, sw_reduction kind);
/* Atoms as axis refs, those that follow each other joined, a set's in mesh order; returns how many. */
int rs_refs_of_list(const rs_space *s, rs_list list, sw_axis_ref refs[RS_MAX_ATOMS]);
int rs_refs_of_set(const rs_space *s, uint32_t set, sw_axis_ref refs[RS_MAX_ATOMS]);

static inline int rs_list_atom(rs_list list, int i) { return (int)(list >> 4 * i & 15) - 1; }
static inline int rs_list_len(rs_list list) { return list ? (67 - __builtin_clzll(list)) / 4 : 0; }
/* Leading atoms that two lists share. */
static inline int rs_list_common(rs_list a, rs_list b) { return a == b ? rs_list_len(a) : __builtin_ctzll(a ^ b) / 4; }
static inline rs_list rs_list_begin(rs_list list, int n) { return list & ((UINT64_C(1) << 4 * n) - 1); }
/* `tail` behind it. */
static inline rs_list rs_list_join(rs_list list, rs_list tail) { return list | tail << 4 * rs_list_len(list); }
/* A set's atoms in their order. */
rs_list rs_list_of_set(uint32_t set);
uint32_t rs_list_set(rs_list list);

#endif
