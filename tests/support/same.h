/* A plan beside a program. */
#ifndef SUPPORT_SAME_H_
#define SUPPORT_SAME_H_

#include "check.h"
#include "shardwright/validate.h"

/* The partitioned plan gives on its devices what the program gives on one. */
static inline void gives_the_same(const sw_plan *plan, const sw_graph *program, sw_arena *arena) {
  sw_validation v;
  assert_ok(
      sw_validate(plan, &(sw_validate_options){.seed = 7, .timeout_s = 60, .against = program}, arena, &v, &diag));
  assert_true(v.matches && v.elements > 0);
}

#endif
