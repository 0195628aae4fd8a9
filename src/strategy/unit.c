#include "shardwright/unit.h"

#include <assert.h>

#include "shardwright/kernel.h"
#include "base/checked.h"

sw_units sw_units_of(const sw_job *j) {
  const sw_graph *g = j->graph;
  return (sw_units){.g = g,
                    .kernels = j->kernels,
                    .n_args = g->n_args,
                    .n_ops = g->n_ops,
                    .n_outputs = g->n_outputs,
                    .n = g->n_args + g->n_ops + g->n_outputs,
                    .n_steps = g->n_ops + 1};
}

sw_unit sw_unit_at(const sw_units *u, int32_t unit) {
  const sw_graph *g = u->g;
  assert(unit >= 0 && unit < u->n);
  const sw_id op = unit - u->n_args, output = op - u->n_ops;
  if (op < 0) return (sw_unit){.kind = SW_UNIT_ARGUMENT, .id = unit, .n_makes = 1, .makes = &g->args[unit]};
  if (output >= 0) return (sw_unit){SW_UNIT_OUTPUT, output, u->n_ops, 1, 0, &g->outputs[output], NULL};
  const sw_op *o = &g->ops[op];
  return (sw_unit){SW_UNIT_OP, op, op, o->n_operands, o->n_results, o->operands, o->results};
}

int32_t sw_unit_of_output(const sw_units *u, int32_t output) {
  const sw_id state = u->g->alias[output];
  return state >= 0 ? u->g->values[state].def_index : u->n_args + u->n_ops + output;
}

sw_port sw_value_made_at(const sw_units *u, sw_id value) {
  const sw_value *v = &u->g->values[value];
  if (v->def < 0) return (sw_port){v->def_index, 0};
  return (sw_port){sw_unit_of_op(u, v->def), u->g->ops[v->def].n_operands + v->def_index};
}

sw_port sw_use_taken_at(const sw_units *u, sw_value_use use) {
  return use.op < 0 ? (sw_port){sw_unit_of_output(u, use.index), 0} : (sw_port){sw_unit_of_op(u, use.op), use.index};
}

/* What is written over a value holds its memory; what is made again from it needs it, and so does a kernel until it
 * runs. */
int32_t sw_use_until(const sw_units *u, sw_value_use use) {
  const sw_kernels *kernels = u->kernels;
  if (!kernels || use.op < 0) return sw_use_step(u, use);
  const sw_op *op = &u->g->ops[use.op];
  const int32_t until = kernels->until[use.op];
  const bool over = (op->n_results && kernels->updates[op->results[0]] == op->operands[use.index]) ||
                    (op->code == SW_OP_KEEP && !sw_value_is_stored(kernels, op->results[0]));
  assert(until >= use.op && until < u->n_ops);
  return over ? sw_max_i32(until, kernels->over[use.op]) : until;
}

sw_interval sw_value_life(const sw_units *u, sw_id value, const int32_t *needed) {
  const sw_value *v = &u->g->values[value];
  const sw_id held_for = sw_value_held_for(u->g, value);
  sw_interval life = {sw_value_step(u, value), 0};
  if (v->kind == SW_VALUE_PARAMETER || v->kind == SW_VALUE_STATE) return (sw_interval){0, u->n_steps - 1};
  life.last = sw_max_i32(life.first, held_for);
  for (int32_t k = 0; k < v->n_uses; k++)
    life.last = sw_max_i32(life.last, needed ? needed[k] : sw_use_until(u, v->uses[k]));
  assert(life.first >= 0 && life.first <= life.last && life.last < u->n_steps);
  return life;
}

int sw_op_stores(const sw_job *j, const sw_op *op) {
  const sw_graph *g = j->graph;
  const bool chooses = op->code == SW_OP_KEEP && sw_keep_operand(g, op, SW_WAY_AGAIN) >= 0;
  const int at = chooses ? sw_keep_operand(g, op, SW_WAY_KEPT) : op->code == SW_OP_OFFLOAD ? 0 : -1;
  return at >= 0 && !sw_value_is_stored(j->kernels, op->operands[at]) ? at : -1;
}

void sw_line_sum(int64_t *line, int32_t n_steps, int32_t *peak) {
  *peak = 0;
  for (int32_t i = 1; i < n_steps; i++) {
    line[i] += line[i - 1];
    assert(line[i] >= 0);
    if (line[i] > line[*peak]) *peak = i;
  }
}

int32_t sw_annotation_n_ports(const sw_graph *g, const sw_annotation *a) {
  if (a->op >= 0 || !a->for_users) return 1;
  return a->n_users ? a->n_users : g->values[a->value].n_uses;
}

sw_port sw_annotation_port(const sw_units *u, const sw_annotation *a, int32_t i) {
  if (a->op >= 0) return (sw_port){sw_unit_of_op(u, a->op), -1};
  return a->for_users ? sw_use_taken_at(u, sw_annotation_use(u->g, a, i)) : sw_value_made_at(u, a->value);
}
