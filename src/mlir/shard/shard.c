/* The shard dialect, the mesh dialect that it was before, and the RFC of both: which ops they have, and what types say
 * of values. */
#include "mlir/shard/shard.h"

#include <stddef.h>

#include "mlir/import/dialect.h"

extern const sw_dialect sw_dialect_shard;

/* clang-format off */
static const sw_ir_row kRows[] = {
#define GRID(text) {"shard." text, sw_im_on_grid, .flags = SW_IR_BY_DEVICE}
    GRID("all_gather"), GRID("all_reduce"), GRID("all_slice"), GRID("all_to_all"), GRID("reduce_scatter"),
    GRID("broadcast"), GRID("gather"), GRID("scatter"), GRID("reduce"), GRID("send"), GRID("recv"), GRID("shift"),
    GRID("update_halo"), GRID("process_linear_index"), GRID("process_multi_index"), GRID("grid_shape"),
    GRID("neighbors_linear_indices"),
#undef GRID
    {"shard.shard_shape", sw_im_on_grid, .flags = SW_IR_BY_DEVICE | SW_IR_UNPLANNED},
    {"mesh.mesh_shape", sw_im_on_grid, .flags = SW_IR_BY_DEVICE},
    {"mesh.size", sw_im_on_grid, .flags = SW_IR_BY_DEVICE},
    {"mesh.idx", sw_im_on_grid, .flags = SW_IR_BY_DEVICE},
    {"shard.sharding", sw_im_shard_sharding},
    {"shard.get_sharding", sw_im_get_sharding},
    {"shard.shard", sw_im_shard, .flags = SW_IR_UNPLANNED},
    {"mesh.annotate", sw_im_shard, .flags = SW_IR_UNPLANNED},
    {"mesh.local_split", sw_im_distributed},
};
/* clang-format on */

sw_shard_state *sw_shard_state_of(const sw_importer *m) { return sw_im_state_of(m, &sw_dialect_shard); }

static sw_rc own_grid_mesh(sw_importer *m, bool *known) {
  sw_shard_state *s = sw_shard_state_of(m);
  SW_TRY(sw_im_read_grids(m, s));
  *known = s->grid != NULL;
  if (!s->grid) return SW_OK;
  SW_TRY(sw_im_check_cuts(m));
  return m->cut ? sw_im_read_grid(m) : sw_im_grid_as_mesh(m, s->grid, &m->own_mesh, s->grid_refs);
}

/* The program's grid in the mesh that it is planned on, which may be another than its own. */
static sw_rc place_grid(sw_importer *m) {
  sw_shard_state *s = sw_shard_state_of(m);
  sw_mesh own;
  if (!s->grid || m->cut) return SW_OK;
  SW_TRY(sw_im_grid_as_mesh(m, s->grid, &own, s->grid_refs));
  if (m->o->mesh || m->open_axes) sw_im_grid_on_mesh(s->grid, &own, &m->g->written->mesh, s->grid_refs);
  return m->has_named_meshes ? SW_OK : sw_im_grid_is_known(m, s->grid, &m->g->written->mesh);
}

static void close_shard_state(void *state) {
  sw_shard_state *s = state;
  sw_dict_deinit(&s->annotated);
  sw_dict_deinit(&s->said_of);
  sw_array_free(&s->said);
}

static sw_rc argument(sw_importer *m, uint32_t i, sw_id value, sw_ir_span type) {
  (void)i;
  return sw_im_annotate_typed(m, m->main, value, NULL, type);
}

static sw_rc output(sw_importer *m, uint32_t ret, sw_id value, int32_t index, sw_ir_span type) {
  return sw_im_annotate_typed(m, ret, value, &index, type);
}

static const sw_dialect_hooks kHooks = {.state_bytes = sizeof(sw_shard_state),
                                        .inherited_bytes = offsetof(sw_shard_state, definers),
                                        .own_mesh = own_grid_mesh,
                                        .open = place_grid,
                                        .close = close_shard_state,
                                        .reshards = sw_im_is_distributed,
                                        .callee = sw_im_declared_exchange,
                                        .imported = sw_im_annotate_distributed,
                                        .argument = argument,
                                        .output = output};
const sw_dialect sw_dialect_shard = {"shard", SW_IR_ROWS(kRows), NULL, 0, &kHooks};
