/* Partition: the model under a plan becomes the program of one device.
 *
 * Ops go in program order. For each operand the copy that the strategy wants is found or made (the steps of its route,
 * right here, once for all later users), then the op's lowering rule writes the local work. Arguments have the block
 * shapes of their shardings, or come whole and are sliced first.
 *
 * On whole tensors (sw_partition_whole) the walk and the routes are the same, but nothing gets smaller: ops are copied,
 * and the steps of routes only say how their results lie.
 */
#include <string.h>

#include "shardwright/log.h"
#include "spmd/spmd_emit.h"
#include "spmd/order.h"

/* A value of the model as the program has it: local ids by sharding. */
typedef struct copies {
  SW_ARRAY(sw_id) local; /* layouts say in which sharding */
} copies;

typedef struct partition {
  sw_emit e;
  copies *of; /* by model value */
  int32_t n_fallbacks;
  bool whole; /* tensors are */
} partition;

/* What a program value is: a block of the model's under a sharding, whose lists live as long as the program. */
static sw_rc say_layout(partition *p, sw_id local, sw_id source, const sw_sharding *s, sw_diag *d) {
  sw_layout *l = &p->e.layouts.at[local];
  *l = (sw_layout){source, true, *s};
  return sw_sharding_keep(&l->sharding, &p->e.program->arena, d);
}

static sw_rc note_local_copy(partition *p, sw_id local, sw_id source, const sw_sharding *s, sw_diag *d) {
  SW_TRY(say_layout(p, local, source, s, d));
  return sw_array_push(&p->of[source].local, local, d);
}

/* In another type, lying as before. */
static sw_rc hold_as(partition *p, sw_id *local, sw_dtype t, sw_diag *d) {
  if (sw_emit_type(&p->e, *local)->dtype == t) return SW_OK;
  const sw_layout layout = p->e.layouts.at[*local];
  SW_TRY(sw_emit_convert(&p->e, *local, t, local, d));
  p->e.layouts.at[*local] = layout;
  return SW_OK;
}

/* --- copies of a value -------------------------------------------------------------------------------------------- */

/* Extents of a value's block, or of all of it. */
static sw_rc block_dims(const partition *p, const sw_value *v, const sw_sharding *s, int64_t *dims, sw_diag *d) {
  if (v->type.rank) memcpy(dims, v->type.dims, (size_t)v->type.rank * sizeof *dims);
  if (p->whole || sw_sharding_local_dims(s, v->type.dims, dims)) return SW_OK;
  return SW_FAIL_INPUT(d, v->span, "a block of '%s' is too large", v->name);
}

static sw_id find_copy(const partition *p, sw_id value, const sw_sharding *want, size_t first) {
  const copies *c = &p->of[value];
  for (size_t i = first; i < c->local.n; i++) {
    if (sw_sharding_equal(&p->e.layouts.at[c->local.at[i]].sharding, want)) return c->local.at[i];
  }
  return -1;
}

/* The steps of a route from a copy that is there, `local`. */
static sw_rc take_route(partition *p, sw_id value, sw_id local, const sw_sharding *from, const sw_sharding *want,
                        sw_id *out, sw_diag *d) {
  sw_emit *e = &p->e;
  if (local < 0) return SW_BUG(d, "value '%s' is used before it is made", e->model->values[value].name);
  const sw_type *type = &e->model->values[value].type;
  sw_route route;
  const sw_dtype moved = sw_sharding_moved_as(from, want, type->dtype);
  const sw_reshard wanted = {sw_value_machine(&e->plan->job, value), from, want, type->rank, type->dims, moved, {0}};
  SW_TRY_NOTE(d, sw_route_find(&wanted, &e->scratch, &route, d), "while resharding '%s'", e->model->values[value].name);
  for (int i = 0; i < route.n_steps; i++) {
    int64_t dims[SW_MAX_RANK];
    if (i == 0 && !p->whole) SW_TRY(hold_as(p, &local, moved, d));
    SW_TRY(block_dims(p, &e->model->values[value], &route.step[i].after, dims, d));
    SW_TRY(sw_emit_collective(e, local, &route.step[i].coll, dims, &local, d));
    SW_TRY(say_layout(p, local, value, &route.step[i].after, d));
  }
  if (route.n_steps > 0 && !p->whole) SW_TRY(hold_as(p, &local, sw_sharding_held_as(want, type->dtype), d));
  *out = local;
  return SW_OK;
}

/* A copy in the wanted sharding from one that is there, unless it was made before; `first`: the first that counts. */
static sw_rc reshard(partition *p, sw_id value, sw_id local, const sw_sharding *from, const sw_sharding *want,
                     size_t first, sw_id *out, sw_diag *d) {
  *out = find_copy(p, value, want, first);
  if (*out >= 0) return SW_OK;
  SW_TRY(take_route(p, value, local, from, want, out, d));
  return *out == local ? SW_OK
                       : note_local_copy(p, *out, value, want, d); /* one placement, spelled differently, is there */
}

/* --- arguments --------------------------------------------------------------------------------------------------- */

static sw_rc slice_whole(partition *p, sw_id whole, const sw_value *v, const sw_sharding *s, sw_id *out, sw_diag *d) {
  int64_t dims[SW_MAX_RANK];
  sw_sharding at = sw_sharding_replicated(v->type.rank);
  *out = whole;
  for (int k = 0; k < v->type.rank; k++) {
    int n;
    const sw_axis_ref *refs = sw_sharding_dim(s, k, &n);
    if (!n) continue;
    sw_collective c = {.op = SW_COLL_ALL_SLICE, .n_axes = n, .dim = k};
    memcpy(c.axes, refs, (size_t)n * sizeof *refs);
    for (int i = 0; i < n; i++) {
      if (!sw_sharding_push(&at, k, refs[i])) return SW_BUG(d, "a sharding of '%s' does not fit", v->name);
    }
    SW_TRY(block_dims(p, v, &at, dims, d));
    SW_TRY(sw_emit_collective(&p->e, *out, &c, dims, out, d));
    SW_TRY(say_layout(p, *out, (sw_id)(v - p->e.model->values), &at, d));
  }
  return SW_OK;
}

static sw_rc add_args(partition *p, sw_diag *d) {
  sw_emit *e = &p->e;
  const sw_graph *g = e->model;
  sw_id *ids;
  SW_ARENA_NEW(ids, &e->scratch, g->n_args, d);
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    const sw_sharding *s = &e->plan->args[i];
    sw_sharding all = sw_sharding_replicated(v->type.rank);
    int64_t dims[SW_MAX_RANK];
    SW_TRY(block_dims(p, v, e->plan->args_whole ? &all : s, dims, d));
    SW_TRY(sw_graph_add_arg(e->program, v->name, v->type.dtype, v->type.rank, dims, v->kind, v->span, &ids[i], d));
    sw_graph_set_arg_location(e->program, ids[i], v->location);
    while (e->layouts.n < (size_t)e->program->n_values)
      SW_TRY(sw_array_push(&e->layouts, ((sw_layout){.source = -1}), d));
  }
  for (int32_t i = 0; i < g->n_args; i++) { /* slices follow all arguments: they are ops */
    const sw_value *v = &g->values[g->args[i]];
    sw_sharding whole = sw_sharding_replicated(v->type.rank);
    const sw_sharding *as = e->plan->args_whole ? &whole : &e->plan->args[i];
    SW_TRY(say_layout(p, ids[i], g->args[i], as, d));
    if (!p->whole) SW_TRY(hold_as(p, &ids[i], sw_sharding_held_as(as, v->type.dtype), d));
    SW_TRY(note_local_copy(p, ids[i], g->args[i], as, d));
    if (!e->plan->args_whole || sw_sharding_equal(&whole, &e->plan->args[i])) continue;
    sw_id local;
    e->now = (sw_origin){-1, g->args[i]};
    const sw_sharding *s = &e->plan->args[i];
    if (s->n_partial || s->offsets || s->halos) {
      SW_TRY(reshard(p, g->args[i], ids[i], &whole, s, 0, &local, d));
      continue;
    }
    SW_TRY(slice_whole(p, ids[i], v, s, &local, d));
    SW_TRY(note_local_copy(p, local, g->args[i], &e->plan->args[i], d));
  }
  return SW_OK;
}

/* --- operands ---------------------------------------------------------------------------------------------------- */

/* The value in the wanted sharding: there already, or by its route from how it was made; where another sharding is
 * stated of it, from that, whatever it was made in. */
static sw_rc fetch(partition *p, sw_id value, const sw_sharding *want, sw_id *out, sw_diag *d) {
  sw_sharding made, stated;
  sw_id local;
  sw_plan_made_sharding(p->e.plan, value, &made);
  sw_plan_value_sharding(p->e.plan, value, &stated);
  const size_t brought = sw_sharding_equal(&made, &stated) ? 0 : 1; /* the first is how it was made */
  SW_TRY(reshard(p, value, find_copy(p, value, &made, 0), &made, &stated, brought, &local, d));
  return reshard(p, value, local, &stated, want, brought, out, d);
}

/* What an op works on: the value as it is stated of this use, and from there as the strategy wants it. */
static sw_rc fetch_operand(partition *p, sw_id id, int i, sw_id *out, sw_diag *d) {
  sw_emit *e = &p->e;
  const sw_id value = e->model->ops[id].operands[i];
  sw_sharding stated, taken;
  sw_plan_use_sharding(e->plan, (sw_value_use){id, i}, &stated);
  sw_plan_taken_sharding(e->plan, (sw_value_use){id, i}, &taken);
  e->now = (sw_origin){id, value};
  if (sw_plan_use_is_of_made(e->plan, (sw_value_use){id, i})) {
    *out = find_copy(p, value, &taken, 0);
    return *out >= 0 ? SW_OK : SW_BUG(d, "'%s' joins in another sharding", e->model->values[value].name);
  }
  SW_TRY(fetch(p, value, &stated, out, d));
  if (sw_plan_takes_halo(e->plan, (sw_value_use){id, i})) return SW_OK;
  return sw_sharding_equal(&stated, &taken) ? SW_OK : take_route(p, value, *out, &stated, &taken, out, d);
}

/* What enters a loop or a branch is resharded before it: once, and whichever branch runs. */
static sw_rc fetch_entering(partition *p, sw_id opener, sw_diag *d) {
  const sw_graph *g = p->e.model;
  for (sw_id f = sw_frame_begun_by(g, opener); f >= 0; f = sw_frame_begun_by(g, g->frames[f].end)) {
    for (sw_id id = g->frames[f].begin + 1; g->ops[id].code == SW_OP_ENTER; id++) {
      sw_id local;
      SW_TRY(fetch_operand(p, id, 0, &local, d));
    }
  }
  return SW_OK;
}

/* --- ops and outputs --------------------------------------------------------------------------------------------- */

static bool gives_tokens(const sw_graph *g, const sw_op *op) {
  int n = 0;
  while (n < op->n_results && g->values[op->results[n]].type.dtype == SW_TOKEN) n++;
  return n == op->n_results;
}

/* An op whose results are held wider than they are computes in that type: what is added up is added up in it. What only
 * picks elements is widened afterwards; a contraction has its own result's type, and factors that are alike. */
static sw_rc widen_op(partition *p, sw_diag *d) {
  sw_emit *e = &p->e;
  const sw_op *op = e->op;
  bool gathers = sw_op_content(op) >= SW_CONTENT_CHOSEN || sw_op_class_of(op->code) == SW_OPS_GIVEN, partial = false;
  e->wide = false;
  for (int i = 0; i < op->n_results && !p->whole; i++) {
    sw_sharding s;
    const sw_dtype t = sw_result_type(e->model, op, i)->dtype;
    sw_strategy_result(op, e->strategy, i, &s);
    e->wide = e->wide || sw_sharding_held_as(&s, t) != t;
  }
  for (int i = 0; i < op->n_operands; i++) {
    partial = partial || sw_emit_type(e, e->in[i])->dtype != sw_operand_type(e->model, op, i)->dtype;
  }
  const bool contracts = sw_op_class_of(op->code) == SW_OPS_CONTRACTION;
  if (!(contracts && partial) && (!e->wide || ((gathers || op->code == SW_OP_DOT) && !partial))) return SW_OK;
  for (int i = 0; i < op->n_operands; i++) {
    if (sw_dtype_class_of(sw_operand_type(e->model, op, i)->dtype) != SW_CLASS_FLOAT) continue;
    SW_TRY(hold_as(p, &e->in[i], SW_F32, d));
  }
  return SW_OK;
}

/* One result without elements: whatever the op does, nothing of it is to be computed. */
static bool gives_nothing(const partition *p, const sw_op *op) {
  if (p->whole || op->n_results != 1 || !op->nest || !op->nest->n_loops) return false;
  return sw_op_class_of(op->code) != SW_OPS_CONTROL && sw_type_elements(sw_result_type(p->e.model, op, 0)) == 0;
}

static sw_rc lower_nothing(partition *p, const sw_op *op, sw_diag *d) {
  sw_emit *e = &p->e;
  sw_sharding s;
  int64_t dims[SW_MAX_RANK];
  const sw_type *t = sw_result_type(e->model, op, 0);
  sw_strategy_result(op, e->strategy, 0, &s);
  SW_TRY(block_dims(p, &e->model->values[op->results[0]], &s, dims, d));
  sw_id zero;
  SW_TRY(sw_emit_scalar(e, t->dtype, 0, &zero, d));
  return sw_emit_broadcast(e, zero, t->rank, dims, NULL, &e->results[0], d);
}

static sw_rc partition_op(partition *p, sw_id id, sw_diag *d) {
  sw_emit *e = &p->e;
  const sw_op *op = &e->model->ops[id];
  e->op = op;
  e->strategy = &e->plan->ops[id];
  SW_ARENA_NEW_EACH(&e->scratch, op->n_operands, d, e->in, e->windowed);
  if (op->code == SW_OP_WHILE || op->code == SW_OP_CASE) SW_TRY(fetch_entering(p, id, d));
  for (int i = 0; i < op->n_operands; i++) SW_TRY(fetch_operand(p, id, i, &e->in[i], d));
  e->now = (sw_origin){id, -1};
  if (op->code == SW_OP_OPAQUE && !op->nest->n_loops && !gives_tokens(e->model, op)) {
    p->n_fallbacks++;
    sw_log(SW_LOG_WARN, "op '%s' (%s) is not known: every device runs all of it", op->name,
           sw_op_text(op, SW_ATTR_TARGET, "no target"));
  }
  SW_TRY(widen_op(p, d));
  SW_TRY_NOTE(d,
              p->whole               ? sw_emit_same(e, d)
              : gives_nothing(p, op) ? lower_nothing(p, op, d)
                                     : sw_lower_op(e, d),
              "in op '%s'", op->name);
  for (int i = 0; i < op->n_results; i++) {
    sw_sharding s;
    int64_t dims[SW_MAX_RANK];
    sw_strategy_result(op, e->strategy, i, &s);
    if (e->wide) SW_TRY(hold_as(p, &e->results[i], sw_sharding_held_as(&s, sw_result_type(e->model, op, i)->dtype), d));
    SW_TRY(block_dims(p, &e->model->values[op->results[i]], &s, dims, d));
    const sw_type *have = sw_emit_type(e, e->results[i]);
    for (int k = 0; k < have->rank; k++) {
      if (have->dims[k] != dims[k]) {
        return SW_BUG(d, "result %d of '%s' has extent %lld of dimension %d, the plan says %lld", i, op->name,
                      (long long)have->dims[k], k, (long long)dims[k]);
      }
    }
    /* A rule may hand an operand through (a pad of nothing): each model value still gets a program value of its own. */
    if (e->layouts.at[e->results[i]].source >= 0) {
      sw_attrs at = {0};
      sw_attrs_ints(&at, SW_ATTR_SHAPE, dims, have->rank);
      SW_TRY(sw_emit_op(e, SW_OP_RESHAPE, &e->results[i], 1, &at, &e->results[i], d));
    }
    SW_TRY(note_local_copy(p, e->results[i], op->results[i], &s, d));
  }
  sw_arena_reset(&e->scratch);
  return SW_OK;
}

static sw_rc add_outputs(partition *p, sw_diag *d) {
  sw_emit *e = &p->e;
  const sw_graph *g = e->model;
  for (int32_t i = 0; i < g->n_outputs; i++) {
    sw_id local;
    e->now = (sw_origin){-1, g->outputs[i]};
    SW_TRY(fetch(p, g->outputs[i], &e->plan->outputs[i], &local, d));
    SW_TRY(hold_as(p, &local, g->values[g->outputs[i]].type.dtype, d));
    SW_TRY(sw_graph_add_output(e->program, g->output_names[i], local, -1,
                               g->output_spans ? g->output_spans[i] : SW_NOWHERE, d));
  }
  return SW_OK;
}

static sw_rc partition_program(partition *p, sw_diag *d) {
  sw_emit *e = &p->e;
  sw_id *order;
  SW_TRY(add_args(p, d));
  SW_TRY(sw_spmd_order(e->plan, &e->program->arena, &order, d));
  for (int32_t i = 0; i < e->model->n_ops; i++) SW_TRY(partition_op(p, order[i], d));
  SW_TRY(add_outputs(p, d));
  return sw_graph_seal(e->program, d);
}

static sw_rc hand_over_program(partition *p, sw_spmd *out, sw_diag *d) {
  sw_emit *e = &p->e;
  *out = (sw_spmd){.model = e->model,
                   .program = e->program,
                   .mesh = e->mesh,
                   .n_fallbacks = p->n_fallbacks,
                   .args_whole = e->plan->args_whole,
                   .whole_tensors = p->whole};
  out->layout = sw_arena_copy(&e->program->arena, e->layouts.at, e->layouts.n, sizeof *e->layouts.at, d);
  out->origin = sw_arena_copy(&e->program->arena, e->origins.at, e->origins.n, sizeof *e->origins.at, d);
  return out->layout && out->origin ? SW_OK : SW_E_RESOURCE;
}

static sw_rc partition_as(const sw_plan *plan, bool whole, sw_spmd *out, sw_diag *d) {
  partition p = {
      .e = {.plan = plan, .model = plan->job.graph, .mesh = sw_machine_mesh(plan->job.machine), .now = {-1, -1}},
      .whole = whole};
  sw_rc rc = sw_graph_create(plan->job.graph->name, &p.e.program, d);
  if (rc) return rc;
  p.of = sw_mem_alloc((size_t)plan->job.graph->n_values, sizeof *p.of, d);
  rc = p.of ? partition_program(&p, d) : SW_E_RESOURCE;
  if (!rc) rc = hand_over_program(&p, out, d);
  for (int32_t v = 0; p.of && v < plan->job.graph->n_values; v++) sw_array_free(&p.of[v].local);
  sw_mem_free(p.of);
  sw_array_free(&p.e.layouts);
  sw_array_free(&p.e.origins);
  sw_arena_deinit(&p.e.scratch);
  if (rc) sw_graph_destroy(p.e.program);
  if (rc || !plan->passes) return rc;
  rc = sw_spmd_run_passes(out, plan->job.machine, plan->passes, NULL, NULL, d);
  if (rc) sw_spmd_deinit(out);
  return rc;
}

sw_rc sw_partition(const sw_plan *plan, sw_spmd *out, sw_diag *d) { return partition_as(plan, false, out, d); }

sw_rc sw_partition_whole(const sw_plan *plan, sw_spmd *out, sw_diag *d) { return partition_as(plan, true, out, d); }

void sw_spmd_deinit(sw_spmd *s) {
  sw_graph_destroy(s->program);
  *s = (sw_spmd){0};
}
