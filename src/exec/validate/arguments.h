/* Arguments that validation makes up. */
#ifndef EXEC_ARGUMENTS_H_
#define EXEC_ARGUMENTS_H_

#include "exec/validate/block.h"
#include "exec/validate/domains.h"
#include "shardwright/validate.h"

/* The ways in which a program cuts one argument. */
typedef struct sw_sharding_list {
  const sw_mesh *mesh;
  int32_t n;
  const sw_sharding *const *shardings;
} sw_sharding_list;

typedef struct sw_argument_maker {
  const sw_graph *graph;
  const sw_type *const *types; /* NULL: the graph's; else one per argument */
  uint64_t seed;
  bool random_floats;
  double scale;                                      /* of random floats that may be anything; 0: 1 */
  sw_sharding_list (*cuts)(void *user, int32_t arg); /* NULL: not known */
  void *cuts_user;
} sw_argument_maker;

/* One tensor per argument; the caller frees. */
SW_CHECKED sw_rc sw_arguments_make(const sw_argument_maker *m, sw_tensor *out, sw_diag *d);

/* Changes elements, within what the fill may hold, until no two blocks of one sharding are equal, where there are
 * enough different blocks: a collective that confuses two blocks, or leaves one out, then changes something. */
SW_CHECKED sw_rc sw_make_distinct(sw_tensor *t, const sw_fill *f, sw_sharding_list ways, sw_diag *d);
/* Equal pairs of blocks that are left: 0 wherever there is room. For tests. */
SW_CHECKED sw_rc sw_count_equal_blocks(const sw_buffer *t, sw_sharding_list ways, int64_t *out, sw_diag *d);

#endif
