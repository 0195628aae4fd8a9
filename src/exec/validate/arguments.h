/* Arguments that validation makes up. */
#ifndef EXEC_ARGUMENTS_H_
#define EXEC_ARGUMENTS_H_

#include "exec/validate/block.h"
#include "exec/validate/domains.h"
#include "exec/validate/extremes.h"
#include "shardwright/validate.h"

typedef struct sw_argument_maker {
  const sw_graph *graph;
  const sw_type *const *types; /* NULL: the graph's; else one per argument */
  uint64_t seed;
  bool random_floats;
  double scale;     /* of random floats that may be anything; 0: 1 */
  bool wide;        /* what reaches an extreme by other ops is of many different numbers */
  sw_cuts_of *cuts; /* NULL: not known */
  void *cuts_user;
} sw_argument_maker;

/* One tensor per argument; the caller frees. *far (may be NULL): some argument is of those that `wide` speaks of. */
SW_CHECKED sw_rc sw_arguments_make(const sw_argument_maker *m, sw_tensor *out, bool *far, sw_diag *d);

/* Changes elements, within what the fill may hold, until no two blocks of one sharding are equal, where there are
 * enough different blocks: a collective that confuses two blocks, or leaves one out, then changes something. */
SW_CHECKED sw_rc sw_make_distinct(sw_tensor *t, const sw_fill *f, sw_sharding_list ways, sw_diag *d);
/* Equal pairs of blocks that are left: 0 wherever there is room. For tests. */
SW_CHECKED sw_rc sw_count_equal_blocks(const sw_buffer *t, sw_sharding_list ways, int64_t *out, sw_diag *d);

#endif
