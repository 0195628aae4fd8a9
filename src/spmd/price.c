/* What the program costs as it stands. */
#include "spmd/price.h"

/* Of one device's buffer: also where the program is written on whole tensors. */
static int64_t value_bytes(const sw_spmd *s, sw_id v) {
  const sw_type *t = &s->program->values[v].type;
  if (!s->whole_tensors || !s->layout[v].is_block) return sw_type_bytes(t);
  return sw_sharding_held_bytes(&s->layout[v].sharding, t->dims, t->dtype);
}

/* What routes price: the larger side, and of a slice what is copied. */
double sw_spmd_collective_bytes(const sw_spmd *s, const sw_op *op) {
  const unsigned flags = sw_coll_flags(op->collective->op);
  const bool by_result = (flags & SW_COLL_LOCAL) || (flags & (SW_COLL_JOINS | SW_COLL_CUTS)) == SW_COLL_JOINS;
  return (double)value_bytes(s, by_result ? op->results[0] : op->operands[0]);
}

static double collective_seconds(const sw_spmd *s, const sw_machine *machine, const sw_op *op) {
  const sw_collective *c = op->collective;
  if (!op->n_operands || !op->n_results) return 0;
  if (c->src && c->n_axes == 0) {
    return sw_machine_exchange_s(machine, c->src, c->dst, sw_dtype_bytes(sw_operand_type(s->program, op, 0)->dtype));
  }
  return sw_machine_collective_s(machine, c->op, c->axes, c->n_axes, sw_spmd_collective_bytes(s, op));
}

double sw_spmd_op_s(const sw_spmd *s, const sw_machine *machine, const sw_op *op) {
  const sw_graph *g = s->program;
  if (op->collective) return collective_seconds(s, machine, op);
  if (!op->n_results) return 0;
  const sw_job alone = {.graph = g, .machine = machine}; /* what its kernels are is not known */
  const sw_type *made = sw_result_type(g, op, 0);
  const double whole = (double)sw_type_bytes(made);
  sw_op_cost cost = {.bytes = 2 * whole}; /* mask, shard_start: both ways */
  if (op->nest) sw_strategy_cost(&alone, op, &(sw_strategy){0}, &cost);
  if (op->nest && !s->whole_tensors) return cost.local_s;
  const double part = s->whole_tensors && whole > 0 ? (double)value_bytes(s, op->results[0]) / whole : 1;
  const sw_dtype dtype = (op->n_operands ? sw_operand_type(g, op, 0) : made)->dtype;
  return cost.flops > 0 || cost.bytes > 0 ? sw_machine_local_s(machine, dtype, cost.flops * part, cost.bytes * part)
                                          : 0;
}

/* What one device receives, padding included. */
static double received_bytes(const sw_spmd *s, const sw_op *op) {
  const sw_collective *c = op->collective;
  double most, all;
  if (!op->n_operands || !op->n_results || sw_coll_flags(c->op) & SW_COLL_LOCAL) return 0;
  if (c->src && c->n_axes == 0) {
    sw_tiling_traffic(s->mesh, c->src, c->dst, &most, &all);
    return most * sw_dtype_bytes(sw_operand_type(s->program, op, 0)->dtype);
  }
  const double n = (double)sw_collective_members(c, 0), bytes = sw_spmd_collective_bytes(s, op);
  if (c->op == SW_COLL_ALL_REDUCE) return 2 * (n - 1) / n * bytes;
  return c->op == SW_COLL_SHIFT || c->op == SW_COLL_BROADCAST ? bytes : (n - 1) / n * bytes;
}

/* Values are held as those of any program. */
static sw_rc find_live_peak(const sw_spmd *s, int64_t *peak, sw_diag *d) {
  const sw_graph *g = s->program;
  const sw_units units = sw_units_of(&(sw_job){.graph = g});
  int32_t at;
  int64_t *bytes;
  SW_MEM_NEW(bytes, (size_t)units.n_steps + 1, d);
  for (sw_id v = 0; v < g->n_values; v++) sw_line_hold(bytes, sw_value_life(&units, v, NULL), value_bytes(s, v));
  sw_line_sum(bytes, units.n_steps, &at);
  *peak = bytes[at];
  sw_mem_free(bytes);
  return SW_OK;
}

sw_rc sw_spmd_price(const sw_spmd *s, const sw_machine *machine, sw_spmd_cost *out, sw_diag *d) {
  const sw_graph *g = s->program;
  *out = (sw_spmd_cost){0};
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    const double times = (double)op->repeats;
    *(op->collective ? &out->comm_s : &out->local_s) += sw_spmd_op_s(s, machine, op) * times;
    if (!op->collective) continue;
    out->calls[op->collective->op] += op->repeats;
    out->received_bytes += received_bytes(s, op) * times;
  }
  return find_live_peak(s, &out->peak_bytes, d);
}

int64_t sw_spmd_cost_calls(const sw_spmd_cost *c) {
  int64_t sum = 0;
  for (int i = 0; i < SW_COLL_COUNT; i++) sum += sw_coll_flags((sw_coll_op)i) & SW_COLL_LOCAL ? 0 : c->calls[i];
  return sum;
}
