/* Opening a job for those who read a model several times: while sizes of it are unknown, or with other shardings. */
#ifndef OPEN_OPEN_STEPS_H_
#define OPEN_OPEN_STEPS_H_

#include "base/array.h"
#include "shardwright/open.h"

enum { SW_OPEN_AXIS = 2 }; /* devices that stand in along an axis of unknown size */

typedef struct sw_opening {
  const sw_open_options *o; /* with the text */
  sw_opened *out;
  SW_ARRAY(sw_diag) said; /* by the last reading: kept until it is known whether it is to be told */
  sw_arena *arena;
  sw_machine *machine;
} sw_opening;

/* Read the text, with what stands in for unknown sizes now. Drops what was read before. */
SW_API SW_CHECKED sw_rc sw_open_read(sw_opening *r, sw_diag *d);
/* Again, while readings (the last of which came out as `rc`) find something out of sizes. */
SW_API SW_CHECKED sw_rc sw_open_read_on(sw_opening *r, sw_rc rc, sw_diag *d);

/* Reads on, where sizes stay unknown and the last reading came out as `rc`. */
typedef sw_rc (*sw_open_search)(sw_opening *r, sw_rc rc, sw_diag *d);
/* sw_open_job; `search` may be NULL. */
SW_API SW_CHECKED sw_rc sw_open_searching(const sw_open_options *o, sw_open_search search, sw_arena *arena,
                                          sw_opened *out, sw_diag *d);

/* sw_machine_build; where the mesh does not fit, a note names profiles on which it would. */
SW_API SW_CHECKED sw_rc sw_bind_hw(const sw_profile *p, const sw_mesh *mesh, sw_arena *arena, sw_machine **out,
                                   sw_diag *d);

#endif
