/* How simple a choice of a problem is, and the problem in which simpler choices cost less.
 *
 * Nodes are of one role when they have the same place in repeated layers. A choice is the simpler the fewer points it
 * has:
 *
 *   each further choice that nodes of one role make                                  SW_POINTS_SPLIT
 *   each kind of copy that is made and costs anything (of one role, in one layout)   SW_POINTS_COPY
 *   what the caller gives to choices, once for a role that makes them
 *
 * So what repeats in many layers counts once. Where nodes of a role choose alike now, they do so in the problem that is
 * to lead to a simpler choice: it is as small as the parts of a graph that differ.
 */
#ifndef SELECT_SIMPLE_H_
#define SELECT_SIMPLE_H_

#include "shardwright/select.h"

enum { SW_POINTS_SPLIT = 10, SW_POINTS_COPY = 10 };

typedef struct sw_simplicity {
  const sw_problem *p;
  int32_t n_classes, n_roles;
  int32_t *class_of, *role_of; /* by node; those of a class are of one role */
  int32_t *first;              /* by role: its first node */
  int32_t *group_role;         /* by group of copies: those of one table between the same roles have one number */
  const uint8_t *const *points;
} sw_simplicity;

/* role: by node, nodes with the same choices having the same number >= 0, or -1: those of its symmetry class are of its
 * role; NULL: all are so. points: by node, NULL or the points of each of its choices; those of a role's first node
 * count. Borrows p, its tables and the points; the rest is in the arena. */
SW_CHECKED sw_rc sw_simplicity_make(const sw_problem *p, const int32_t *role, const uint8_t *const *points,
                                    sw_arena *arena, sw_simplicity *out, sw_diag *d);
/* Of a choice of p. */
SW_CHECKED sw_rc sw_simplicity_points(const sw_simplicity *k, const int32_t *choice, int64_t *out, sw_diag *d);
/* Every node as most of its role (of as many, those of the first node) choose. */
SW_CHECKED sw_rc sw_simplicity_unite(const sw_simplicity *k, const int32_t *choice, int32_t *out, sw_diag *d);
/* The problem in which each point costs so much more, and nodes of one class that choose alike in `choice` do so: node
 * i is of part part_of[i]. start: `choice` as one of the parts, room for a node of p each. In the arena, but borrows
 * tables of p. */
SW_CHECKED sw_rc sw_simplicity_problem(const sw_simplicity *k, const int32_t *choice, int64_t per_point,
                                       sw_arena *arena, sw_problem *out, int32_t *part_of, int32_t *start, sw_diag *d);

#endif
