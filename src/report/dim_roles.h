/* What the dimensions of values stand for, whatever the values are called: samples, positions in them, heads, experts,
 * words. Found from the roles of arguments and what ops do with them, in a few walks over the ops. */
#ifndef REPORT_DIM_ROLES_H_
#define REPORT_DIM_ROLES_H_

#include "shardwright/graph.h"

typedef enum sw_dim_role {
  SW_DIM_FEATURE, /* none of the others: of weights, and what products make of them */
  SW_DIM_SAMPLE,
  SW_DIM_TOKEN, /* a position inside a sample */
  SW_DIM_EXPERT,
  SW_DIM_HEAD,
  SW_DIM_VOCABULARY,
  SW_DIM_ROLES
} sw_dim_role;

typedef struct sw_dim_roles {
  const sw_graph *g;
  int32_t *weight_of; /* by value: the argument that it is, moved, converted or a part of it, of a weight; -1 */
  uint64_t *part_of;  /* by such a value: tells parts of weights apart, but not the slices that a loop takes in turn */
  int64_t *first;     /* by value: of its dims in `of` */
  uint8_t *of;        /* by dim: roles as bits, as a dim may be several merged */
  uint8_t *loops;     /* room for those of one op */
} sw_dim_roles;

/* `class_of`: by value (plan/value_class.h). Where no argument is a parameter, those are weights that are the larger
 * operand of a product. In the arena. */
sw_rc sw_dim_roles_find(const sw_graph *g, const uint8_t *class_of, sw_arena *arena, sw_dim_roles *out, sw_diag *d);

/* The operand of a product that is a weight while the other is none; -1: there is none. */
int sw_weight_operand(const sw_dim_roles *r, const sw_op *op);
/* By loop of the op; valid until the next call. */
const uint8_t *sw_loop_roles(sw_dim_roles *r, const sw_op *op);
/* Has any dim of the value the role? */
bool sw_value_has_role(const sw_dim_roles *r, sw_id value, sw_dim_role role);

#endif
