/* A partitioned program beside the plan that it was written from: its text says "%h", and the program of the plan has a
 * value of that name and type, so it is known of which tensor %h is a block. A text by others keeps its own names, and
 * only its arguments and results are told by the plan, in their order.
 */
#include <string.h>

#include "mlir/emit/mlir.h"
#include "mlir/import/import_program.h"

/* --- blocks ------------------------------------------------------------------------------------------------------- */

static sw_rc cut_as_planned(const sw_plan *plan, sw_local_program *p, sw_arena *arena, sw_diag *d) {
  const sw_graph *g = plan->job.graph;
  if (g->n_args != p->graph->n_args || g->n_outputs != p->graph->n_outputs)
    return SW_OK; /* told when they are compared */
  p->mesh = *sw_machine_mesh(plan->job.machine);
  p->mesh.device_ids = NULL;
  p->position = NULL;
  SW_ARENA_NEW(p->args, arena, g->n_args, d);
  SW_ARENA_NEW(p->outputs, arena, g->n_outputs, d);
  for (int32_t i = 0; i < g->n_args; i++) {
    sw_sharding s = plan->args_whole ? sw_sharding_replicated(plan->args[i].rank) : plan->args[i];
    p->args[i] = (sw_local_border){g->values[g->args[i]].type, s, true};
  }
  for (int32_t i = 0; i < g->n_outputs; i++) {
    p->outputs[i] = (sw_local_border){g->values[g->outputs[i]].type, plan->outputs[i], true};
  }
  return sw_local_verify(p, d);
}

/* --- values in between -------------------------------------------------------------------------------------------- */

typedef struct matcher {
  const sw_spmd *spmd;
  sw_dict names; /* of the plan's program, as MLIR spells them */
  sw_layout *layout;
  sw_origin *origin;
} matcher;

static sw_rc note_names(matcher *m, sw_diag *d) {
  const sw_graph *g = m->spmd->program;
  sw_mlir w = {.graph = g};
  sw_rc rc = SW_OK;
  for (sw_id i = 0; i < g->n_values && !rc; i++) {
    const char *name = sw_mlir_name(&w, g->values[i].name, i) + 1;
    rc = sw_dict_put(&m->names, name, strlen(name), i, NULL, NULL, d);
  }
  sw_mlir_deinit(&w);
  return rc;
}

static void match_value(matcher *m, const sw_graph *g, sw_id id) {
  const sw_value *v = &g->values[id];
  const int64_t *known = v->def < 0 ? NULL : sw_dict_get(&m->names, v->name, strlen(v->name));
  const sw_value *planned = known ? &m->spmd->program->values[*known] : NULL;
  m->layout[id] = (sw_layout){.source = -1};
  if (!planned || planned->def < 0 || !sw_type_equal(&v->type, &planned->type)) return;
  m->layout[id] = m->spmd->layout[*known];
  m->origin[v->def] = m->spmd->origin[planned->def];
}

static sw_rc match_values(matcher *m, sw_local_program *p, sw_arena *arena, sw_diag *d) {
  const sw_graph *g = p->graph;
  SW_ARENA_NEW(m->layout, arena, g->n_values, d);
  SW_ARENA_NEW(m->origin, arena, g->n_ops, d);
  SW_TRY(note_names(m, d));
  for (int32_t i = 0; i < g->n_ops; i++) m->origin[i] = (sw_origin){-1, -1};
  for (sw_id i = 0; i < g->n_values; i++) match_value(m, g, i);
  /* What layouts point to is the plan's program's, which goes. */
  for (sw_id i = 0; i < g->n_values; i++) {
    if (m->layout[i].on || m->layout[i].sharding.offsets || m->layout[i].sharding.halos) m->layout[i].is_block = false;
  }
  p->layout = m->layout;
  p->origin = m->origin;
  return SW_OK;
}

sw_rc sw_program_local_of_plan(const sw_program *program, const sw_plan *plan, sw_arena *arena, sw_local_program *out,
                               sw_diag *d) {
  sw_spmd spmd;
  *out = program->local;
  SW_TRY(cut_as_planned(plan, out, arena, d));
  if (!program->is_spmd) return SW_OK;
  SW_TRY(sw_partition(plan, &spmd, d));
  matcher m = {.spmd = &spmd};
  sw_rc rc = match_values(&m, out, arena, d);
  sw_dict_deinit(&m.names);
  sw_spmd_deinit(&spmd);
  return rc;
}
