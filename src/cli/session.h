/* What most subcommands start with: the model, the profile, the mesh, and the machine they make. */
#ifndef CLI_SESSION_H_
#define CLI_SESSION_H_

#include "cli/command.h"
#include "shardwright/plan.h"

typedef struct sw_session {
  sw_graph *graph; /* owned */
  const sw_profile *profile;
  sw_mesh mesh;
  sw_machine *machine;
} sw_session;

/* Read the model and the profile, and bind the mesh: `mesh` as text, or NULL for the model's own, or else the profile's
 * first. Everything but the graph lives in the arena. */
SW_CHECKED sw_rc sw_session_open(const char *model, const char *hw, const char *mesh, sw_arena *arena, sw_session *out,
                                 sw_diag *d);
/* The same for a plan file: the mesh is the plan's. */
SW_CHECKED sw_rc sw_session_open_plan(const char *model, const char *hw, const char *plan_path, sw_arena *arena,
                                      sw_session *s, sw_plan *plan, sw_diag *d);
void sw_session_close(sw_session *s);

/* Write each --emit KIND=FILE of a plan; `spmd` dialect as given ("shard", ...). */
SW_CHECKED sw_rc sw_emit_all(const sw_plan *plan, const sw_pairs *emit, sw_diag *d);
#define SW_EMIT_KINDS "shard|spmd|jax|dtensor"

/* Write text to a file ("-": standard output) and free it. */
SW_CHECKED sw_rc sw_save_text(const char *path, sw_text *t, sw_diag *d);

#endif
