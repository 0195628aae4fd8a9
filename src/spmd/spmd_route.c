/* One reshard as an SPMD program: an argument, the collectives of the route, an output.
 *
 *   [[x],[]] -> [[],[]]     main(x: f32[4,8]) { y = all_gather x }
 */
#include "spmd/spmd_emit.h"

sw_rc sw_reshard_model(const sw_reshard *wanted, sw_graph **out, sw_diag *d) {
  sw_id x;
  SW_TRY(sw_graph_create("reshard", out, d));
  sw_rc rc = sw_graph_add_arg(*out, "x", wanted->dtype, wanted->rank, wanted->dims, SW_VALUE_INPUT, SW_NOWHERE, &x, d);
  if (!rc) rc = sw_graph_add_output(*out, "y", x, -1, SW_NOWHERE, d);
  if (!rc) rc = sw_graph_seal(*out, d);
  if (rc) sw_graph_destroy(*out);
  return rc;
}

static sw_rc set_local_layout(sw_emit *e, sw_id local, const sw_sharding *s, const sw_other_mesh *on, sw_diag *d) {
  while (e->layouts.n < (size_t)e->program->n_values) {
    SW_TRY(sw_array_push(&e->layouts, ((sw_layout){.source = -1}), d));
  }
  e->layouts.at[local] = (sw_layout){0, true, *s, on};
  return SW_OK;
}

/* to_partial over axes of the other mesh: they are what is apart in its tiling. */
static sw_rc emit_partial_elsewhere(sw_emit *e, sw_id x, const sw_reshard *wanted, const sw_hop *step,
                                    const int64_t *dims, sw_id *out, sw_diag *d) {
  sw_tiling t;
  sw_tiling_of(&step->after, wanted->rank, wanted->dims, &t);
  t.other = wanted->options.to_mesh;
  const sw_collective c = {.op = SW_COLL_TO_PARTIAL, .reduction = step->coll.reduction, .dst = &t};
  return sw_emit_collective(e, x, &c, dims, out, d);
}

static sw_rc emit_route(sw_emit *e, const sw_reshard *wanted, const sw_route *route, sw_diag *d) {
  sw_id local;
  int64_t dims[SW_MAX_RANK];
  const sw_sharding *at = wanted->from;
  for (int i = -1; i < route->n_steps; i++) {
    if (i >= 0) at = &route->step[i].after;
    bool elsewhere = i >= 0 && route->step[i].mesh != e->mesh;
    if (!sw_sharding_local_dims(at, wanted->dims, dims)) {
      return SW_FAIL_INPUT(d, SW_NOWHERE, "a block of the tensor is too large");
    }
    if (elsewhere && route->step[i].coll.op == SW_COLL_TO_PARTIAL) {
      SW_TRY(emit_partial_elsewhere(e, local, wanted, &route->step[i], dims, &local, d));
    } else if (i >= 0) {
      SW_TRY(sw_emit_collective(e, local, &route->step[i].coll, dims, &local, d));
    } else {
      SW_TRY(
          sw_graph_add_arg(e->program, "x", wanted->dtype, wanted->rank, dims, SW_VALUE_INPUT, SW_NOWHERE, &local, d));
    }
    SW_TRY(set_local_layout(e, local, at, elsewhere ? wanted->options.to_mesh : NULL, d));
  }
  SW_TRY(sw_graph_add_output(e->program, "y", local, -1, SW_NOWHERE, d));
  return sw_graph_seal(e->program, d);
}

sw_rc sw_partition_route(const sw_graph *model, const sw_reshard *wanted, const sw_route *route, sw_spmd *out,
                         sw_diag *d) {
  sw_emit e = {.model = model, .mesh = sw_machine_mesh(wanted->machine), .now = {-1, 0}};
  SW_TRY(sw_graph_create(model->name, &e.program, d));
  sw_rc rc = emit_route(&e, wanted, route, d);
  *out = (sw_spmd){.model = model, .program = e.program, .mesh = e.mesh};
  if (!rc) {
    out->layout = sw_arena_copy(&e.program->arena, e.layouts.at, e.layouts.n, sizeof *e.layouts.at, d);
    out->origin = sw_arena_copy(&e.program->arena, e.origins.at, e.origins.n, sizeof *e.origins.at, d);
    if (!out->layout || !out->origin) rc = SW_E_RESOURCE;
  }
  sw_array_free(&e.layouts);
  sw_array_free(&e.origins);
  sw_arena_deinit(&e.scratch);
  if (rc) sw_spmd_deinit(out);
  return rc;
}
