/* What required annotations ask of an op: of its strategy, of what it wants of an operand, of what it gives. */
#ifndef STRATEGY_DEMANDS_H_
#define STRATEGY_DEMANDS_H_

#include <assert.h>

#include "base/array.h"
#include "base/disjoint.h"
#include "shardwright/selection.h"

/* An annotation and the port that it is about: operands, then results; -1: the strategy itself. */
typedef struct sw_demand {
  const sw_annotation *a;
  int port;
} sw_demand;

typedef SW_ARRAY(sw_demand) sw_demands;

/* By unit: at[first[u] .. first[u + 1]), in the order of the annotations. */
typedef struct sw_demand_index {
  int32_t *first;
  sw_demand *at;
} sw_demand_index;
/* Of all that is required; with `hints` of these, too. In the arena. */
SW_API SW_CHECKED sw_rc sw_demands_find(const sw_job *j, bool hints, sw_arena *arena, sw_demand_index *out, sw_diag *d);
static inline int32_t sw_demands_count(const sw_demand_index *x, int32_t unit) {
  assert(x->first);
  return x->first[unit + 1] - x->first[unit];
}
/* Those of a unit, in a list of their own. */
SW_API SW_CHECKED sw_rc sw_demands_of(const sw_demand_index *x, int32_t unit, sw_demands *out, sw_diag *d);
/* Can the value be resharded to or from what is demanded, where no strategy has it so: unequal blocks, halos, parts of
 * a value? Nothing can stand between a yield and its join: they are the border of a loop or branch. */
SW_API bool sw_demand_is_flexible(const sw_graph *g, sw_id op, const sw_demand *m);
/* Without those. */
SW_API void sw_demands_drop_flexible(const sw_graph *g, sw_id op, sw_demands *m);
SW_API bool sw_port_is_border(const sw_op *op, int port);
/* What a result that is made so may be where its readers see it, to be as is demanded: as it is made where that will
 * do; else a partial value completed right behind the op, or scattered there. Returns how many, the plainest first; 0:
 * it does not meet the demand. Likewise of an operand, which is taken as it is. */
SW_API int sw_demand_behind(const sw_request *r, const sw_op *op, const sw_demand *m, const sw_sharding *made,
                            sw_sharding out[SW_MAX_RANK + 1]);
/* The plainest with a strategy; as is demanded where that does not meet it. */
SW_API void sw_demand_stated(const sw_request *r, const sw_op *op, const sw_demand *m, const sw_strategy *s,
                             sw_sharding *out);
/* Of a result, also by what stands behind the op. */
SW_API bool sw_demand_is_met(const sw_request *r, const sw_op *op, const sw_demand *m, const sw_strategy *s);

/* For sw_enumerate_options.admits: strategies that meet n of them. */
typedef struct sw_demands_meet {
  const sw_request *request;
  const sw_op *op;
  const sw_demand *at;
  size_t n;
} sw_demands_meet;
SW_API bool sw_demands_are_met(const void *user, const sw_strategy *s);
/* Is there a strategy that meets n of them, whatever size its shards have? */
SW_API SW_CHECKED sw_rc sw_demands_can_be_met(const sw_job *j, const sw_op *op, const sw_demand *at, size_t n,
                                              bool *out, sw_diag *d);
/* Is the value resharded at the port, for want of strategies? `met`: by a strategy that is at hand. Where none is, it
 * is, if it can be and is asked for what strategies do not do by themselves, or if no strategy meets the
 * requirement. */
SW_API SW_CHECKED sw_rc sw_demand_is_resharded(const sw_job *j, sw_id op, const sw_demand *m, bool met,
                                               const sw_enumerate_options *o, bool *out, sw_diag *d);
/* Without those that no strategy meets. */
SW_API SW_CHECKED sw_rc sw_demands_drop_impossible(const sw_job *j, const sw_op *op, const sw_enumerate_options *o,
                                                   sw_demands *m, sw_diag *d);

/* Shardings that are stated of ports, while they are gathered in any order. */
typedef struct sw_stated_list {
  const sw_graph *g; /* borrowed */
  int32_t n;
  sw_stated *at;
  int32_t *earlier, *newest; /* by entry: the one before of its op; by op: its last one; -1: none */
} sw_stated_list;
/* With room for `most`; -1: for as many as the graph's annotations can lead to. */
SW_API SW_CHECKED sw_rc sw_stated_begin(const sw_job *j, int32_t most, sw_arena *arena, sw_stated_list *out,
                                        sw_diag *d);
const sw_sharding *sw_stated_find(const sw_stated_list *l, sw_id op, int32_t port);
/* SW_E_INPUT when the port has another one. */
SW_API SW_CHECKED sw_rc sw_stated_put(sw_stated_list *l, const sw_stated *one, sw_diag *d);
/* Puts them in order of ops and ports; then nothing can be found or put any more. */
SW_API void sw_stated_end(sw_stated_list *l);
/* By value: another of its sharding group, at last the one that stands for all of them; -1: it is in none. *out NULL:
 * there are no groups. In the arena. */
SW_API SW_CHECKED sw_rc sw_value_groups(const sw_request *r, sw_arena *arena, sw_id **out, sw_diag *d);
/* The one that stands for the group of a value; -1: it is in none. */
static inline sw_id sw_value_group(sw_id *groups, sw_id value) {
  return !groups || groups[value] < 0 ? -1 : sw_disjoint_find(groups, value);
}

/* Is there a sharding that both admit? */
static inline bool sw_annotations_agree(const sw_annotation *a, const sw_annotation *b) {
  return sw_annotation_admits(a, &b->sharding) || sw_annotation_admits(b, &a->sharding);
}

#endif
