/* Numbers of a profile that the format allows and no machine has: as a rule, a unit was mistaken. */
#ifndef IO_PROFILE_PLAUSIBLE_H_
#define IO_PROFILE_PLAUSIBLE_H_

#include "io/json_tree.h"
#include "shardwright/profile_json.h"

/* A warning to `o->report` for each; the tree is that of a profile without errors. */
SW_CHECKED sw_rc sw_profile_doubt(const sw_json *tree, const sw_profile_reading *o, sw_arena *arena, sw_diag *d);

#endif
