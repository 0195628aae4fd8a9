/* Choosing strategies op by op in program order, without a look ahead: what plans made by rule and plans that are
 * completed have in common.
 *
 * An op takes the strategy that is cheapest given what its operands are cut like by then (ties: fewer bytes of
 * results), among those that meet what is required of it. A partial result is completed by whoever uses it next.
 * Constants, broadcasts and gradients may wait for their first use and are then made as it wants them.
 *
 * Where the batch cuts data it stays so: of strategies, those that move the fewest bytes along its axes are looked at,
 * and sums over them are completed whole. Weights are whole along them, and cut along others stay as they are where
 * the rule says so. Updates are free.
 */
#ifndef PLAN_FOLLOW_H_
#define PLAN_FOLLOW_H_

#include "base/array.h"
#include "base/hash.h"
#include "shardwright/plan.h"
#include "strategy/demands.h"

/* What is asked of a graph on a machine whatever the rule: it is the same for all plans of them. */
typedef struct sw_follow_known {
  sw_arena mem;
  sw_dict classes;
  SW_ARRAY(sw_enumeration) enumerations;
  sw_route_prices *routes;
  sw_dict chosen; /* context of an op -> index into its enumeration */
  sw_demand_index demands;
  int32_t most_stated;
  sw_id *groups; /* sw_value_groups */
} sw_follow_known;

/* What an op works on. */
typedef enum sw_follow_work {
  FOLLOW_DATA,
  FOLLOW_WEIGHTS, /* on nothing but weights, which it turns or converts: for all who use them */
  FOLLOW_UPDATES, /* it makes new state, or what that is made of */
  FOLLOW_WORKS
} sw_follow_work;

typedef struct sw_follower {
  sw_job job;
  const sw_mesh *mesh;
  sw_follow_known *known;
  const sw_plan_given *given; /* NULL: nothing is */
  sw_plan *plan;
  bool *fixed;                 /* by argument: its sharding is decided */
  uint8_t *waits;              /* by op: how many ops are tried together when its use is decided; 0: it is decided */
  const uint8_t *work;         /* by op: sw_follow_work; NULL: all are of FOLLOW_DATA */
  uint32_t idle[FOLLOW_WORKS]; /* axes that no op of the kind is cut by, as bits */
  uint32_t kept;               /* axes along which data stays as it is cut, as bits */
  uint32_t placed;             /* axes along which ops take weights as they are cut, as bits */
  const bool *weight;          /* by value: it is a weight, or one that was turned or converted; NULL: none is */
  const uint8_t *class_of;     /* by value: sw_memory_class; with `placed` */
  sw_id *first_of;             /* by value that stands for a sharding group: the first that is decided; -1 */
  sw_text key;
} sw_follower;

SW_CHECKED sw_rc sw_follow_known_init(sw_follow_known *k, const sw_job *j, sw_diag *d);
void sw_follow_known_deinit(sw_follow_known *k);

/* `f` has the graph, machine, mesh, plan and what is known. Room for what is stated is in the arena. */
SW_CHECKED sw_rc sw_follow_begin(sw_follower *f, sw_arena *arena, sw_diag *d);
void sw_follow_end(sw_follower *f);

/* The strategies that are looked at; until the next call. */
SW_CHECKED sw_rc sw_follow_strategies(sw_follower *f, const sw_op *op, sw_enumeration *out, sw_diag *d);
/* The first annotation that requires something of an argument, or of an output that is none of a state; NULL. */
const sw_annotation *sw_follow_required(const sw_follow_known *k, int32_t unit);
/* The argument is decided: it is as its group's first, or that from now on. */
void sw_follow_fix(sw_follower *f, int32_t arg);
bool sw_follow_is_asked(const sw_follower *f,
                        sw_id id); /* is something required of its ports, or are these in a group? */
/* How many ops are tried together when this one waits for its use; 0: it does not wait. */
uint8_t sw_follow_can_wait(const sw_follower *f, const sw_op *op);
/* Decide an op, and what its operands waited for; what no strategy of it meets is stated of its ports. */
SW_CHECKED sw_rc sw_follow_op(sw_follower *f, sw_id id, sw_diag *d);
/* The plan has the op's strategy: decide what its operands waited for. */
SW_CHECKED sw_rc sw_follow_settle(sw_follower *f, sw_id id, sw_diag *d);
/* Decide an op in the place that it has between operands and given uses; arguments that it is the first to use arrive
 * as it takes them. */
SW_CHECKED sw_rc sw_follow_between(sw_follower *f, sw_id id, sw_diag *d);
/* Outputs that are not given follow from the rest, or are as is required of them. */
void sw_follow_deliver(sw_follower *f);
/* Does an operand's use stand already? */
bool sw_follow_is_given(const sw_follower *f, sw_value_use use);

#endif
