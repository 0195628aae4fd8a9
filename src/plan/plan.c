/* The plan as data: making, reading, checking. */
#include "shardwright/plan.h"

#include <assert.h>

#include "plan/borders.h"
#include "shardwright/profile.h"

sw_rc sw_plan_build(const sw_job *j, sw_arena *arena, sw_plan *out, sw_diag *d) {
  const sw_graph *g = j->graph;
  assert(j->request->graph == j->graph && j->graph->sealed);
  assert(!j->schedule || j->schedule->stages[j->stage].graph == j->graph);
  *out = (sw_plan){.job = *j, .capacity_bytes = INT64_MAX, .origin = "replicated"};
  SW_ARENA_NEW(out->ops, arena, g->n_ops, d);
  SW_ARENA_NEW(out->args, arena, g->n_args, d);
  SW_ARENA_NEW(out->outputs, arena, g->n_outputs, d);
  for (int32_t i = 0; i < g->n_args; i++) out->args[i] = sw_sharding_replicated(g->values[g->args[i]].type.rank);
  for (int32_t i = 0; i < g->n_outputs; i++)
    out->outputs[i] = sw_sharding_replicated(g->values[g->outputs[i]].type.rank);
  return SW_OK;
}

void sw_plan_deliver(sw_plan *p, const bool *stands) {
  const sw_graph *g = p->job.graph;
  for (int32_t i = 0; i < g->n_outputs; i++) {
    const bool made = g->alias[i] < 0 && !(stands && stands[i]);
    if (g->alias[i] >= 0) p->outputs[i] = p->args[g->values[g->alias[i]].def_index];
    if (made) sw_plan_value_sharding(p, g->outputs[i], &p->outputs[i]);
    if (made) p->outputs[i].n_partial = 0;
  }
}

void sw_plan_made_sharding(const sw_plan *p, sw_id value, sw_sharding *out) {
  const sw_value *v = &p->job.graph->values[value];
  if (v->def < 0) {
    *out = p->args[v->def_index];
    return;
  }
  sw_strategy_result(&p->job.graph->ops[v->def], &p->ops[v->def], v->def_index, out);
}

void sw_plan_taken_sharding(const sw_plan *p, sw_value_use use, sw_sharding *out) {
  if (use.op < 0) {
    *out = p->outputs[use.index];
    return;
  }
  sw_strategy_operand(&p->job.graph->ops[use.op], &p->ops[use.op], use.index, out);
}

void sw_plan_value_sharding(const sw_plan *p, sw_id value, sw_sharding *out) {
  const sw_value *v = &p->job.graph->values[value];
  const sw_sharding *stated = NULL;
  if (v->def >= 0 && p->n_stated)
    stated = sw_stated_at(p->stated, p->n_stated, v->def, p->job.graph->ops[v->def].n_operands + v->def_index);
  if (stated) *out = *stated;
  if (!stated) sw_plan_made_sharding(p, value, out);
}

void sw_plan_use_sharding(const sw_plan *p, sw_value_use use, sw_sharding *out) {
  const sw_sharding *stated = use.op >= 0 ? sw_stated_at(p->stated, p->n_stated, use.op, use.index) : NULL;
  if (stated) *out = *stated;
  if (!stated) sw_plan_taken_sharding(p, use, out);
}

bool sw_plan_use_is_of_made(const sw_plan *p, sw_value_use use) {
  return use.op >= 0 && p->job.graph->ops[use.op].code == SW_OP_JOIN;
}

bool sw_plan_takes_halo(const sw_plan *p, sw_value_use use) {
  const sw_sharding *stated = use.op >= 0 ? sw_stated_at(p->stated, p->n_stated, use.op, use.index) : NULL;
  if (!stated) return false;
  const sw_op *op = &p->job.graph->ops[use.op];
  return p->job.graph->values[op->operands[use.index]].def >= 0 &&
         sw_strategy_halo_is_held(p->job.graph, op, &p->ops[use.op], use.index, stated);
}

double sw_plan_gap(const sw_plan *p) {
  return p->cost_units > 0 ? (double)(p->cost_units - p->bound_units) / (double)p->cost_units : 0;
}

double sw_plan_bound_s(const sw_plan *p, const sw_breakdown *a) { return a->total_s - a->total_s * sw_plan_gap(p); }

double sw_plan_dearer(const sw_plan *p) {
  const bool is_dearer = p->found_units > 0 && p->cost_units > p->found_units;
  return is_dearer ? (double)(p->cost_units - p->found_units) / (double)p->found_units : 0;
}

bool sw_plan_bound_is_proven(const sw_plan *p) { return p->pruned_inexact == 0; }

void sw_plan_bound_print(const sw_plan *p, sw_text *out) {
  if (sw_plan_bound_is_proven(p)) {
    sw_text_puts(out, "proven lower bound");
    return;
  }
  sw_text_printf(out, "bound over the strategies enumerated (%lld left out)", (long long)p->pruned_inexact);
}

static sw_rc verify_args_and_outputs(const sw_plan *p, sw_diag *d) {
  const sw_graph *g = p->job.graph;
  const sw_mesh *m = sw_machine_mesh(p->job.machine);
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    SW_TRY_NOTE(d, sw_sharding_verify(m, &p->args[i], v->type.rank, v->type.dims, d),
                "in the sharding of argument '%s'", v->name);
  }
  for (int32_t i = 0; i < g->n_outputs; i++) {
    const sw_value *v = &g->values[g->outputs[i]];
    SW_TRY_NOTE(d, sw_sharding_verify(m, &p->outputs[i], v->type.rank, v->type.dims, d),
                "in the sharding of output '%s'", g->output_names[i]);
    if (g->alias[i] >= 0 && !sw_sharding_equal(&p->outputs[i], &p->args[g->values[g->alias[i]].def_index])) {
      return SW_FAIL_INPUT(d, SW_NOWHERE, "output '%s' comes back as state '%s' in another sharding",
                           g->output_names[i], g->values[g->alias[i]].name);
    }
  }
  return SW_OK;
}

/* Is port i of the annotation as it says? *have: what a value is in there. */
static bool keeps_port(const sw_plan *p, const sw_annotation *a, int32_t i, sw_sharding *have) {
  if (a->value < 0) return sw_annotation_admits_strategy(p->job.graph, a, &p->ops[a->op]);
  if (a->for_users) sw_plan_use_sharding(p, sw_annotation_use(p->job.graph, a, i), have);
  if (!a->for_users) sw_plan_value_sharding(p, a->value, have);
  return sw_annotation_admits(a, have);
}

bool sw_plan_keeps(const sw_plan *p, const sw_annotation *a) {
  sw_sharding have;
  for (int32_t i = 0; i < sw_annotation_n_ports(p->job.graph, a); i++) {
    if (!keeps_port(p, a, i, &have)) return false;
  }
  return true;
}

static sw_rc verify_annotation(const sw_plan *p, const sw_annotation *a, sw_diag *d) {
  const sw_mesh *m = sw_machine_mesh(p->job.machine);
  sw_sharding have;
  for (int32_t i = 0; a->required && i < sw_annotation_n_ports(p->job.graph, a); i++) {
    if (keeps_port(p, a, i, &have)) continue;
    sw_text t = {0};
    sw_rc rc;
    if (a->value < 0) {
      sw_strategy_print(m, p->job.graph->ops[a->op].nest, &p->ops[a->op], &t);
      rc = SW_FAIL(d, SW_E_INFEASIBLE, a->span, "the plan cuts '%s' as %s; the model requires another option",
                   p->job.graph->ops[a->op].name, sw_text_str(&t));
    } else {
      sw_sharding_print(m, &have, &t);
      rc = SW_FAIL(d, SW_E_INFEASIBLE, a->span, "the plan gives '%s' the sharding %s; the model requires another",
                   p->job.graph->values[a->value].name, sw_text_str(&t));
    }
    sw_text_free(&t);
    return rc;
  }
  return SW_OK;
}

/* Nothing is moved where values leave a loop or branch, nor on the host. */
static sw_rc verify_joins(const sw_plan *p, const sw_op *op, sw_id id, sw_diag *d) {
  for (int i = 0; i < op->n_operands; i++) {
    sw_sharding have, want;
    const bool on_host = sw_value_is_on_host(p->job.graph, op->operands[i]) && sw_strategy_runs(&p->ops[id]);
    if (op->code != SW_OP_JOIN && !on_host) continue;
    sw_plan_made_sharding(p, op->operands[i], &have);
    sw_plan_taken_sharding(p, (sw_value_use){id, i}, &want);
    if (sw_sharding_equal(&have, &want)) continue;
    return SW_FAIL_INPUT(d, SW_NOWHERE, "operand %d of %s '%s' has another sharding than its result", i,
                         sw_opcode_text(op->code), op->name);
  }
  return SW_OK;
}

static sw_rc verify_sharding_group(const sw_plan *p, const sw_sharding_group *t, sw_diag *d) {
  const sw_graph *g = p->job.graph;
  sw_sharding a, b;
  sw_plan_value_sharding(p, t->a, &a);
  sw_plan_value_sharding(p, t->b, &b);
  if (sw_sharding_equal(&a, &b)) return SW_OK;
  return SW_FAIL(d, SW_E_INFEASIBLE, t->span, "the plan gives '%s' another sharding than '%s', which is in its group",
                 g->values[t->b].name, g->values[t->a].name);
}

int64_t sw_plan_host_bytes(const sw_plan *p) {
  int64_t sum = 0;
  for (sw_id i = 0; i < p->job.graph->n_ops; i++)
    sum += sw_strategy_host_held(p->job.graph, &p->job.graph->ops[i], &p->ops[i]);
  return sum;
}

sw_rc sw_plan_check_host(const sw_plan *p, sw_diag *d) {
  const int64_t held = sw_plan_host_bytes(p), has = sw_machine_profile(p->job.machine)->host_memory_bytes;
  sw_text need = {0}, room = {0};
  if (held <= has) return SW_OK;
  sw_text_bytes(&need, (double)held);
  sw_text_bytes(&room, (double)has);
  const sw_rc rc = SW_FAIL(d, SW_E_INFEASIBLE, SW_NOWHERE, "the plan offloads %s of a device; its host has %s for it",
                           sw_text_str(&need), sw_text_str(&room));
  sw_text_free(&need);
  sw_text_free(&room);
  return rc;
}

sw_rc sw_plan_verify(const sw_plan *p, sw_diag *d) {
  const sw_graph *g = p->job.graph;
  SW_TRY(verify_args_and_outputs(p, d));
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    SW_TRY_NOTE(d, sw_strategy_check(g, op, sw_machine_mesh(p->job.machine), &p->ops[i], d),
                "in the strategy of op '%s'", op->name);
    SW_TRY(verify_joins(p, op, i, d));
  }
  for (int32_t i = 0; i < p->job.request->n_annotations; i++)
    SW_TRY(verify_annotation(p, &p->job.request->annotations[i], d));
  for (int32_t i = 0; i < p->job.request->n_sharding_groups; i++)
    SW_TRY(verify_sharding_group(p, &p->job.request->sharding_groups[i], d));
  sw_arena scratch = {0};
  sw_plan_borders uses;
  sw_rc rc = sw_plan_find_borders(p, &scratch, &uses, d); /* fails where a reshard is impossible */
  sw_arena_deinit(&scratch);
  return rc;
}

static sw_rc fail_uneven(const sw_plan *p, const char *what, const char *name, const sw_value *v, const sw_sharding *s,
                         sw_diag *d) {
  sw_text type = {0}, cut = {0};
  sw_type_print(&v->type, &type);
  sw_sharding_print(sw_machine_mesh(p->job.machine), s, &cut);
  const sw_rc rc = SW_FAIL(d, SW_E_INPUT, v->span,
                           "%s '%s', %s, is cut as %s; expected axes that divide its dimensions, as JAX wants them",
                           what, name, sw_text_str(&type), sw_text_str(&cut));
  sw_text_free(&type);
  sw_text_free(&cut);
  return rc;
}

sw_rc sw_plan_check_even(const sw_plan *p, const sw_even_rule *rule, sw_diag *d) {
  const sw_graph *g = p->job.graph;
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    if (!sw_sharding_is_even(rule, &p->args[i], v->type.dims))
      return fail_uneven(p, "argument", v->name, v, &p->args[i], d);
  }
  for (int32_t i = 0; i < g->n_outputs; i++) {
    const sw_value *v = &g->values[g->outputs[i]];
    if (!sw_sharding_is_even(rule, &p->outputs[i], v->type.dims))
      return fail_uneven(p, "output", g->output_names[i], v, &p->outputs[i], d);
  }
  return SW_OK;
}
