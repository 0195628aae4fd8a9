/* Propagation along factors, as Shardy does it: tensors with shardings that may be open, and steps that relate them.
 *
 * A step is an op with its sharding rule (factor_rule.h), or an edge on which all tensors are cut alike. Every change
 * of a tensor's sharding extends a dimension that is open: what was cut stays cut. The steps are run until none changes
 * anything. Which of several conflicting axes win is decided by a hierarchy, each layer a file that calls the one
 * below:
 *
 *   user priority     shardings by their priorities, the lowest number first       user_priority.c
 *   op priority       cheap ops first: those that only pass shardings on           op_priority.c
 *   aggressive        conflicts are resolved, a tensor at a time                   aggressive.c
 *   basic             only what no tensor of the step contradicts                  basic.c
 *
 * Semantics: Shardy's "Propagation" and "Sharding representation" documents.
 */
#ifndef PROPAGATE_FLOW_H_
#define PROPAGATE_FLOW_H_

#include "propagate/factor_rule.h"
#include "shardwright/propagate.h"

/* Axes in order, major first. */
typedef struct sw_axes {
  int n;
  sw_axis_ref at[SW_MAX_REFS];
} sw_axes;

/* A sharding in Shardy's words. Without one (mesh -1) a tensor is open in all dimensions. */
typedef struct sw_open_sharding {
  int32_t mesh;    /* of the flow's; -1: the tensor has no sharding */
  sw_sharding cut; /* what is partial in it is unreduced */
  uint32_t open;   /* by dimension: may be cut further */
  uint32_t has_priority;
  int32_t priority[SW_MAX_RANK]; /* of those that have one; 0 of others */
  uint8_t n_replicated;
  sw_axis_ref replicated[SW_MAX_REFS]; /* explicitly: cut no dimension */
} sw_open_sharding;

/* How a step takes part in op priority (op_priority.c). */
typedef enum sw_flow_op_class {
  SW_STEP_EDGE, /* two that have one sharding by what the text says, what flows into loops, a barrier: at any time */
  SW_STEP_ELEMENTWISE, /* a move between host and device, too */
  SW_STEP_MOVE,        /* reshape, transpose */
  SW_STEP_SLICE,       /* dynamic slices and their updates: as moves, forward */
  SW_STEP_BROADCAST,
  SW_STEP_OTHER
} sw_flow_op_class;

typedef struct sw_flow_op {
  sw_factor_rule *rule; /* NULL: an edge, all tensors alike; borrowed */
  int32_t n_operands, n_results;
  const int32_t *tensors; /* operands, then results; -1: one that has no sharding (a scalar of the rule) */
  sw_direction allowed;   /* BOTH but for barriers */
  /* The edge of a manual computation: tensor `outside` is the whole value, whose dimensions are first cut by manual
   * axes; the others are what one device of these has of it. 0 manual axes: -1. */
  int outside, n_manual;
  const sw_axis_ref *manual;
  sw_flow_op_class kind;
  bool shared_operand; /* one that is no scalar has several uses in the program */
  uint32_t source;     /* where it comes from, for messages: an op of the text */
} sw_flow_op;

typedef struct sw_flow {
  int32_t n_meshes, n_tensors, n_steps;
  const sw_mesh *meshes;
  sw_open_sharding *shardings; /* by tensor; changed in place */
  const sw_type *const *types; /* by tensor */
  const int32_t *group;        /* by tensor: tensors of one number have one sharding; -1: alone. NULL: none has */
  const sw_flow_op *steps;     /* in program order */
  bool conservative;           /* no parts of axes, and nothing along resized factors */
  struct sw_origins *origins;  /* to be recorded there (flow/origins.h), empty before; NULL: not wanted */
} sw_flow;

/* Run the hierarchy up to a layer. Priorities are gone after the one that minds them. */
SW_API SW_CHECKED sw_rc sw_flow_propagate(sw_flow *f, sw_layer layer, sw_diag *d);

#endif
