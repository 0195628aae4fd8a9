/* What the parts of the search for a route by collectives share (collective_route.c): where atoms of axes are now, and
 * where they are wanted.
 */
#ifndef IO_MLIR_COLLECTIVE_ROUTER_H_
#define IO_MLIR_COLLECTIVE_ROUTER_H_

#include "io/mlir/opt/collective_route.h"

enum { CR_MOST_ATOMS = 32 };

typedef struct cr_list {
  int n;
  uint8_t at[CR_MOST_ATOMS];
} cr_list;

typedef struct cr_lists {
  cr_list dim[SW_MAX_RANK];
} cr_lists;

/* Where a permute puts what leaves for other dimensions. */
typedef enum cr_leaving {
  CR_LEAVES_WHERE_IT_IS, /* if there is room */
  CR_LEAVES_IN_TURN,  /* dimensions one after the other, so that each has what follows each other where it is wanted */
  CR_LEAVES_TOGETHER, /* the same before what is dropped has its place */
  CR_LEAVING_COUNT
} cr_leaving;

/* What may be done in more than one way. */
typedef struct cr_choices {
  bool apart;       /* no slice goes where what stands before it is, to move on with it */
  bool permutes;    /* even where all_to_alls and a gather would do */
  cr_leaving first; /* which is tried first */
  bool unfinished;  /* an arrangement from which not all gets where it is wanted is better than none */
  bool late;        /* nothing is gathered as long as anything can be moved */
} cr_choices;

typedef struct cr_router {
  const sw_collective_ends *ends;
  cr_choices choice;
  int rank, n_atoms;
  sw_axis_ref atom[CR_MOST_ATOMS];
  cr_lists cur, out;
  cr_lists likely;               /* while an arrangement is looked for */
  uint32_t partial, out_partial; /* sets of atoms */
  uint32_t kept;                 /* of those that are partial now, what stays so */
  sw_reduction kind, out_kind;
  bool there;
  bool hard; /* sizes do not fit each other */
  bool full; /* more atoms than there is room for */
  sw_route_parts *parts;
  sw_diag *d;
} cr_router;

static inline void cr_append(cr_list *l, int atom) {
  if (l->n < CR_MOST_ATOMS) l->at[l->n++] = (uint8_t)atom;
}

static inline int cr_place_in(const cr_list *l, int atom) {
  for (int i = 0; i < l->n; i++) {
    if (l->at[i] == atom) return i;
  }
  return -1;
}

/* The dimension that has the atom; -1: none. */
static inline int cr_dim_with(const cr_router *r, const cr_lists *l, int atom) {
  for (int d = 0; d < r->rank; d++) {
    if (cr_place_in(&l->dim[d], atom) >= 0) return d;
  }
  return -1;
}

static inline bool cr_is_used(const cr_router *r, int atom) { return cr_dim_with(r, &r->cur, atom) >= 0; }

static inline bool cr_is_wanted(const cr_router *r, int atom) { return cr_dim_with(r, &r->out, atom) >= 0; }

static inline int64_t cr_size_of(const cr_router *r, const cr_list *l, int first, int end) {
  int64_t size = 1;
  for (int i = first; i < end; i++) size *= r->atom[l->at[i]].size;
  return size;
}

static inline int64_t cr_shards(const cr_router *r, const cr_list *l) { return cr_size_of(r, l, 0, l->n); }

/* Wanted, and not in use. */
static inline bool cr_is_missing(const cr_router *r, int atom) { return !cr_is_used(r, atom); }

/* --- atoms and lists (collective_state.c) ------------------------------------------------------------------------- */

/* Atoms for both ends; false where parts of axes do not nest. */
bool cr_make_atoms(cr_router *r);
/* Appends to the lists of dimensions, which are empty; what is partial. */
uint32_t cr_read_sharding(const cr_router *r, const sw_sharding *s, cr_lists *out);
/* Cuts the first `size` of an atom off from the rest of it, which is a new atom. */
void cr_split(cr_router *r, int atom, int64_t size);
/* The atom, or a first part of it that is cut off, that divides `room`, which becomes what is left of it; false: no
 * part does. */
bool cr_take(cr_router *r, int atom, int64_t *room);
int64_t cr_gcd(int64_t a, int64_t b);
/* Leading atoms of a dimension that stand as they are wanted. */
int cr_right_of(const cr_router *r, int d);
bool cr_same_lists(const cr_router *r, const cr_lists *a, const cr_lists *b);

/* The next all_to_all, if there is any to make: `n` atoms from the end of a dimension to that of another; making it. */
bool cr_find_move(const cr_router *r, int *from, int *to, int *n);
void cr_move(cr_router *r, int from, int to, int n);
/* Would all_to_alls and a gather do? */
bool cr_can_finish(const cr_router *now);

/* Atoms of a list from `first` on as refs of a dimension; false where there is no room. */
bool cr_push_list(const cr_router *r, sw_sharding *s, int dim, const cr_list *l, int first);
/* A part that has led to where atoms are now; one over the axes of a set. */
SW_CHECKED sw_rc cr_add_part(cr_router *r, sw_route_part part);
SW_CHECKED sw_rc cr_add_set(cr_router *r, sw_coll_op op, uint32_t set);

/* --- where a permute puts atoms (collective_arrange.c) ------------------------------------------------------------ */

/* As many shards per dimension as now. From what is found all_to_alls and a gather lead to the target, if there is such
 * an arrangement. */
void cr_find_arrangement(cr_router *r, cr_lists *next);

#endif
