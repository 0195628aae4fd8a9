/* A partitioned program beside the model that it computes, whoever partitioned it. */
#ifndef EXEC_SHARDED_H_
#define EXEC_SHARDED_H_

#include "exec/validate/block.h"
#include "shardwright/spmd.h"
#include "shardwright/validate.h"

typedef struct sw_sharded {
  const sw_graph *model, *program;
  const sw_mesh *grid;     /* its collectives speak of; a device is its position there */
  const sw_mesh *mesh;     /* shardings speak of; as many devices */
  const int64_t *position; /* by device: where it sits in the mesh; NULL: device i at position i */
  /* By argument and output of both; NULL: every device has all of it. */
  const sw_sharding *const *args, *const *outputs;
  bool by_plan;            /* ops of the program run as often as their origins in the model */
  const sw_layout *layout; /* by value of the program; NULL: of no value is known what it is */
  const sw_origin *origin; /* by op of the program; NULL with layout */
  sw_exec_valid valid;     /* NULL: all positions count */
  void *valid_user;
  const sw_exec_delays *delays; /* NULL, or how long its ops take where devices are judged */
} sw_sharded;

/* What they share: where a device of it has its block of a whole. */
static inline sw_cut sw_sharded_cut(const sw_sharded *s, const sw_sharding *sharding, const sw_buffer *whole,
                                    int64_t stride) {
  return (sw_cut){.mesh = s->mesh,
                  .sharding = sharding,
                  .whole = whole,
                  .position = s->position,
                  .end = sw_mesh_devices(s->grid),
                  .stride = stride};
}

/* The same program beside another one than its own model. SW_E_INPUT when arguments or results are of other types. */
SW_CHECKED sw_rc sw_sharded_against(sw_sharded *s, const sw_graph *whole, sw_diag *d);
/* Of a text and the program that it should be. */
SW_CHECKED sw_rc sw_sharded_of_local(const sw_local_program *p, const sw_graph *model, sw_arena *arena, sw_sharded *out,
                                     sw_diag *d);

#endif
