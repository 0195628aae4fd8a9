/* Shardy's dialect: meshes, shardings, and steps of routes on whole tensors. */
#ifndef MLIR_EMIT_EMIT_SDY_H_
#define MLIR_EMIT_EMIT_SDY_H_

#include "mlir/emit/mlir.h"
#include "shardwright/reshard.h"

/* <["x"=2, "y"=4]>, with device_ids where the order is not that of the numbers */
void sw_sdy_mesh(const sw_mesh *m, sw_text *out);
/* <@mesh, [{"x"}, {}], unreduced={"y"}>. Unreduced means a sum: a value partial by another kind stands as replicated
 * over its axes, so Shardy reduces it where it is made and not where it is used. */
SW_CHECKED sw_rc sw_sdy_sharding(const sw_mesh *m, const char *mesh_name, const sw_sharding *s, sw_text *out,
                                 sw_diag *d);

/* One step: where it leads from and to, by the names of the text (with their %). */
typedef struct sw_sdy_hop {
  const sw_mesh *mesh; /* that `after` speaks of */
  const char *mesh_name;
  const char *from, *to;
  const sw_type *type; /* of the whole tensor */
  const sw_sharding *after;
  bool free_form; /* as sdy.reshard, whose operand's sharding need not be known */
  sw_text *out;
} sw_sdy_hop;

/* The line without its end: a location may follow. */
SW_CHECKED sw_rc sw_sdy_hop_write(const sw_sdy_hop *w, const sw_collective *c, sw_diag *d);

#endif
