/* Problems in which nodes choose alike (quotient.c). */
#ifndef SELECT_QUOTIENT_H_
#define SELECT_QUOTIENT_H_

#include "shardwright/select.h"

/* Symmetry classes of nodes that are alike so many steps far, numbered by their first nodes. */
SW_CHECKED sw_rc sel_find_classes(const sw_problem *p, int rounds, int32_t *class_of, int32_t *n, sw_diag *d);
/* The problem in which nodes of one class choose alike: class_of[i] in [0, n), none empty, nodes of a class with as
 * many choices. In the arena, but borrows p's amounts and some of its tables. */
SW_CHECKED sw_rc sel_merge_classes(const sw_problem *p, const int32_t *class_of, int32_t n, sw_arena *arena,
                                   sw_problem *out, sw_diag *d);

#endif
