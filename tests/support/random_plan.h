/* Plans at random: every op, argument and output cut in some legal way. */
#ifndef TESTS_RANDOM_PLAN_H_
#define TESTS_RANDOM_PLAN_H_

#include "shardwright/clock.h"
#include "shardwright/plan.h"

/* Models of models/small and meshes that such plans are tried on. */
enum { RANDOM_MODELS = 14, RANDOM_MESHES = 7 };
extern const char *const random_models[RANDOM_MODELS], *const random_meshes[RANDOM_MESHES];

sw_rc random_plan(const sw_job *j, sw_rng *rng, sw_arena *arena, sw_plan *out, sw_diag *d);

#endif
