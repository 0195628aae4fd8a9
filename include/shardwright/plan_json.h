/* Plans as JSON files (docs/plan-format.md): written by a search, edited by hand, checked when read. */
#ifndef SHARDWRIGHT_PLAN_JSON_H_
#define SHARDWRIGHT_PLAN_JSON_H_

#include "shardwright/plan.h"

SW_API SW_CHECKED sw_rc sw_plan_write(const sw_plan *p, const sw_breakdown *breakdown, sw_text *out, sw_diag *d);

/* What is known of a plan for a model whose sizes are not: measures as polynomials in the sizes. */
typedef struct sw_open_measures {
  int n;
  const char *const *sizes;                  /* names */
  const char *moved_bytes, *redundant_flops; /* NULL: not known, as sizes of the mesh are not */
  uint32_t open_axes;                        /* of the mesh, as bits */
} sw_open_measures;
/* The same without times; read back for the model with any sizes. */
SW_API SW_CHECKED sw_rc sw_plan_write_open(const sw_plan *p, const sw_open_measures *open, sw_text *out, sw_diag *d);

/* What a plan file is made for, read before a machine can be built: the mesh, and the name of the profile. Texts live
 * in the arena. */
SW_API SW_CHECKED sw_rc sw_plan_read_mesh(const char *path, sw_arena *arena, sw_mesh *out, const char **profile,
                                          sw_diag *d);

/* Read a plan for the graph and the machine, and verify it. A plan made for another model or mesh is stale: refused
 * with both hashes. A plan made for another profile is accepted when `any_profile` (its costs are then recounted by
 * whoever asks), refused otherwise. Ops that the file does not name are uncut. */
SW_API SW_CHECKED sw_rc sw_plan_read(const char *path, const sw_graph *g, const sw_machine *machine, bool any_profile,
                                     sw_arena *arena, sw_plan *out, sw_diag *d);

/* Read a plan to start a search from: it may be for another version of the model (other pins, more layers), and need
 * not be legal. What has the name and the sharding of something in the graph is taken, the rest is uncut. */
SW_API SW_CHECKED sw_rc sw_plan_read_start(const char *path, const sw_graph *g, const sw_machine *machine,
                                           sw_arena *arena, sw_plan *out, sw_diag *d);

#endif
