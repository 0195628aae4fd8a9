/* An SPMD program as MLIR: local shapes, StableHLO for the local work, the shard dialect for what devices say to each
 * other and for where a device stands.
 *
 *   %i = shard.process_multi_index on @mesh axes = [0] : index
 *   %y = shard.all_reduce %x on @mesh grid_axes = [1] : tensor<4x8xf32> -> tensor<4x8xf32>
 *
 * In Shardy's dialect tensors stay whole, each op says how its results lie, and reshards are ops between them:
 *
 *   %y = sdy.all_reduce {"y"} %x out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
 */
#include "mlir/emit/emit_sdy.h"
#include "mlir/emit/spmd_collective.h"
#include "mlir/text/tree.h"

/* --- where a device stands --------------------------------------------------------------------------------------- */

/* The index as an i64 of the arith dialect; a name. */
static const char *index_in_grid(sw_spmd_writer *s, const sw_axis_ref *refs, int n) {
  sw_mlir *w = &s->w;
  sw_type none = {SW_I64, 0, NULL};
  int axes[SW_GRID_AXES], n_axes = sw_grid_axes(&w->grid, refs, n, axes);
  const char *coord[SW_GRID_AXES] = {NULL}, *index = sw_mlir_temp(w, none).name;
  if (n_axes == 0) {
    sw_text_printf(w->out, "    %s = arith.constant 0 : i64\n", index);
    return index;
  }
  sw_text_puts(w->out, "    ");
  for (int i = 0; i < n_axes; i++) {
    coord[i] = sw_mlir_temp(w, none).name;
    sw_text_printf(w->out, "%s%s", i ? ", " : "", coord[i]);
  }
  sw_text_puts(w->out, " = shard.process_multi_index on @mesh axes = [");
  for (int i = 0; i < n_axes; i++) sw_text_printf(w->out, "%s%d", i ? ", " : "", axes[i]);
  sw_text_puts(w->out, "] : ");
  for (int i = 0; i < n_axes; i++) sw_text_puts(w->out, i ? ", index" : "index");
  sw_text_puts(w->out, "\n");
  const char *sum = coord[0];
  for (int i = 1; i < n_axes; i++) { /* major to minor: sum = sum * size + coordinate */
    const char *size = sw_mlir_temp(w, none).name, *scaled = sw_mlir_temp(w, none).name,
               *next = sw_mlir_temp(w, none).name;
    sw_text_printf(w->out, "    %s = arith.constant %d : index\n", size, w->grid.axis[axes[i]].size);
    sw_text_printf(w->out, "    %s = arith.muli %s, %s : index\n", scaled, sum, size);
    sw_text_printf(w->out, "    %s = arith.addi %s, %s : index\n", next, scaled, coord[i]);
    sum = next;
  }
  sw_text_printf(w->out, "    %s = arith.index_cast %s : index to i64\n", index, sum);
  return index;
}

sw_ssa sw_spmd_group_index(sw_spmd_writer *s, const sw_axis_ref *refs, int n) {
  if (s->dialect == SW_SPMD_STABLEHLO) return sw_spmd_index_by_partition(s, refs, n);
  sw_mlir *w = &s->w;
  const char *index = index_in_grid(s, refs, n);
  sw_ssa at = sw_mlir_temp(w, (sw_type){SW_I64, 0, NULL});
  sw_text_printf(w->out, "    %s = tensor.from_elements %s : tensor<i64>", at.name, index);
  sw_mlir_end_line(w);
  return at;
}

/* base + step * index, as tensor<i64>. */
static sw_ssa emit_block_start(sw_spmd_writer *s, const sw_op *op) {
  sw_mlir *w = &s->w;
  sw_type none = {SW_I64, 0, NULL};
  sw_ssa index = sw_spmd_group_index(s, op->refs, op->n_refs);
  sw_ssa step = sw_mlir_int(w, none, sw_op_int(op, SW_ATTR_STEP, 0));
  sw_ssa base = sw_mlir_int(w, none, sw_op_int(op, SW_ATTR_BASE, 0));
  return sw_mlir_binary(w, "stablehlo.add", base, sw_mlir_binary(w, "stablehlo.multiply", index, step, NULL), NULL);
}

static void write_shard_start(sw_spmd_writer *s, const sw_op *op, const sw_ssa *in, const sw_ssa *out) {
  (void)in;
  sw_ssa start = emit_block_start(s, op);
  sw_mlir_line(&s->w, &(sw_line){"stablehlo.convert", 1, 1, &start, out, NULL, NULL});
}

/* Positions whose global index is in [start, limit) keep their value. */
static void write_mask(sw_spmd_writer *s, const sw_op *op, const sw_ssa *in, const sw_ssa *out) {
  sw_mlir *w = &s->w;
  int n;
  sw_type index = {SW_I64, in[0].type.rank, in[0].type.dims};
  const int64_t *start = sw_op_ints(op, SW_ATTR_START, &n), *limit = sw_op_ints(op, SW_ATTR_LIMIT, &n);
  sw_ssa first = sw_mlir_spread(w, emit_block_start(s, op), index);
  sw_ssa at =
      sw_mlir_binary(w, "stablehlo.add", first, sw_mlir_iota(w, index, (int)sw_op_int(op, SW_ATTR_DIM, 0)), NULL);
  sw_ssa above = sw_mlir_compare(w, "GE", at, sw_mlir_int(w, index, start ? start[0] : 0));
  sw_ssa below = sw_mlir_compare(w, "LT", at, sw_mlir_int(w, index, limit ? limit[0] : INT64_MAX));
  sw_ssa other = in[1].type.rank == in[0].type.rank ? in[1] : sw_mlir_spread(w, in[1], in[0].type);
  sw_ssa args[3] = {sw_mlir_binary(w, "stablehlo.and", above, below, NULL), in[0], other};
  sw_mlir_line(w, &(sw_line){"stablehlo.select", 3, 1, args, out, NULL, NULL});
}

/* --- Shardy ------------------------------------------------------------------------------------------------------ */

sw_rc sw_spmd_add_result_sharding(sw_spmd_writer *s, sw_ssa x, sw_id value, sw_diag *d) {
  sw_text t = {0};
  if (s->dialect < SW_SPMD_SDY || x.type.dtype == SW_TOKEN) return SW_OK;
  sw_rc rc = sw_sdy_sharding(s->spmd->mesh, "mesh", &s->spmd->layout[value].sharding, &t, d);
  const char *text;
  SW_TRY(sw_ir_keep_text(rc, &t, &s->w.arena, &text, d));
  return sw_array_push(&s->w.results, ((sw_mlir_result_sharding){x.name, text}), d);
}

/* A step of a route. What enters a loop has no sharding that Shardy knows while it checks the op. */
static sw_rc write_step(sw_spmd_writer *s, const sw_op *op, sw_ssa in, sw_ssa out, sw_diag *d) {
  sw_id def = s->w.graph->values[op->operands[0]].def;
  bool entered = def >= 0 && s->w.graph->ops[def].code == SW_OP_ENTER;
  const sw_sharding *after = &s->spmd->layout[op->results[0]].sharding;
  const sw_sdy_hop step = {s->spmd->mesh, "mesh", in.name, out.name, &out.type, after, entered, s->w.out};
  SW_TRY(sw_sdy_hop_write(&step, op->collective, d));
  sw_mlir_end_line(&s->w);
  return SW_OK;
}

/* `out` is `in`, as `value` of the program lies; one that is partial, which XLA cannot be told, as it likes. */
static sw_rc write_constraint(sw_spmd_writer *s, sw_ssa in, sw_ssa out, sw_id value, sw_diag *d) {
  const sw_sharding *lies = &s->spmd->layout[value].sharding;
  sw_text *t = s->w.out;
  sw_text_printf(t, "    %s = sdy.sharding_constraint %s ", out.name, in.name);
  if (!lies->n_partial) SW_TRY(sw_sdy_sharding(s->spmd->mesh, "mesh", lies, t, d));
  if (lies->n_partial) sw_text_puts(t, "<@mesh, [");
  for (int k = 0; lies->n_partial && k < out.type.rank; k++) sw_text_puts(t, k ? ", {?}" : "{?}");
  if (lies->n_partial) sw_text_puts(t, "]>");
  sw_text_puts(t, " : ");
  sw_mlir_type(&out.type, t);
  sw_mlir_end_line(&s->w);
  return SW_OK;
}

/* Is the result of an op to be constrained? Of loops, what they carry is not. */
static bool is_constrained(const sw_spmd_writer *s, const sw_op *op, sw_id value) {
  const sw_value *v = &s->w.graph->values[value];
  return s->dialect == SW_SPMD_CONSTRAINTS && v->type.dtype != SW_TOKEN && v->type.rank > 0 && op->frame < 0 &&
         sw_op_class_of(op->code) != SW_OPS_CONTROL && !s->spmd->layout[value].sharding.n_partial;
}

/* --- the program ------------------------------------------------------------------------------------------------- */

static sw_rc write_spmd_op(sw_spmd_writer *s, sw_id id, sw_diag *d) {
  const sw_graph *g = s->w.graph;
  const sw_op *op = &g->ops[id];
  sw_id origin = s->spmd->origin[id].op;
  sw_ssa *in, *out, *said;
  s->w.results.n = 0;
  SW_ARENA_NEW(in, &s->w.arena, op->n_operands, d);
  SW_ARENA_NEW_EACH(&s->w.arena, op->n_results, d, out, said);
  for (int k = 0; k < op->n_operands; k++) in[k] = sw_mlir_value(&s->w, g, op->operands[k]);
  for (int k = 0; k < op->n_results; k++) {
    said[k] = out[k] = sw_mlir_value(&s->w, g, op->results[k]);
    if (op->code != SW_OP_COLLECTIVE && is_constrained(s, op, op->results[k]))
      out[k] = sw_mlir_temp(&s->w, out[k].type);
    SW_TRY(sw_spmd_add_result_sharding(s, out[k], op->results[k], d));
  }
  s->w.at = origin >= 0 ? s->spmd->model->ops[origin].location : (sw_source){0};
  if (op->code == SW_OP_COLLECTIVE && s->dialect == SW_SPMD_CONSTRAINTS)
    return write_constraint(s, in[0], out[0], op->results[0], d);
  if (op->code == SW_OP_COLLECTIVE && s->dialect == SW_SPMD_SDY) return write_step(s, op, in[0], out[0], d);
  if (op->code == SW_OP_COLLECTIVE) return sw_spmd_write_collective(s, op->collective, in[0], out[0], d);
  if (op->code == SW_OP_MASK) {
    write_mask(s, op, in, out);
  } else if (op->code == SW_OP_SHARD_START) {
    write_shard_start(s, op, in, out);
  } else {
    sw_hlo_write(&(sw_hlo){&s->w, op, in, out});
  }
  for (int k = 0; k < op->n_results; k++)
    if (out[k].name != said[k].name) SW_TRY(write_constraint(s, out[k], said[k], op->results[k], d));
  return SW_OK;
}

sw_rc sw_spmd_write_ops(sw_spmd_writer *s, int32_t from, int32_t to, sw_diag *d) {
  const sw_graph *g = s->w.graph;
  while (from < to) {
    sw_opcode code = g->ops[from].code;
    if (code == SW_OP_WHILE || code == SW_OP_CASE) {
      SW_TRY(sw_spmd_write_control(s, from, &from, d));
    } else {
      SW_TRY(write_spmd_op(s, from++, d));
    }
  }
  return SW_OK;
}

sw_rc sw_spmd_use_axes(sw_spmd_writer *s, const sw_collective *c, sw_diag *d) {
  const sw_tiling *t[2] = {c->src, c->dst};
  SW_TRY(sw_grid_use(&s->w.grid, c->axes, c->n_axes, d));
  for (int k = 0; k < 2; k++) {
    for (int dim = 0; t[k] && !t[k]->other && dim < t[k]->rank; dim++) {
      SW_TRY(sw_grid_use(&s->w.grid, t[k]->refs + t[k]->dim[dim].first_ref, t[k]->dim[dim].n_refs, d));
    }
    if (t[k] && !t[k]->other) SW_TRY(sw_grid_use(&s->w.grid, t[k]->refs + t[k]->first_apart, t[k]->n_apart, d));
  }
  return SW_OK;
}

static sw_rc use_program_axes(sw_spmd_writer *s, sw_diag *d) {
  const sw_graph *g = s->w.graph;
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    SW_TRY(sw_grid_use(&s->w.grid, op->refs, op->n_refs, d));
    if (op->collective) SW_TRY(sw_spmd_use_axes(s, op->collective, d));
  }
  return SW_OK;
}

/* Of which tensor an argument or result is a block, and how it is cut; of a whole one, how it lies. */
static void put_block_layout(void *user, bool is_result, int32_t i, sw_text *out) {
  const sw_spmd *s = user;
  const sw_graph *g = s->program;
  const sw_layout *l = &s->layout[is_result ? g->outputs[i] : g->args[i]];
  if (!l->is_block) return;
  if (s->whole_tensors) {
    sw_text_puts(out, ", sdy.sharding = #sdy.sharding");
    if (sw_sdy_sharding(s->mesh, "mesh", &l->sharding, out, NULL)) out->rc = SW_E_RESOURCE;
    return;
  }
  sw_text_puts(out, ", shardwright.sharding = \"");
  sw_sharding_print(l->on ? &l->on->mesh : s->mesh, &l->sharding, out);
  if (l->on) {
    sw_text_puts(out, "\", shardwright.mesh = \"");
    sw_mesh_print(&l->on->mesh, out);
  }
  sw_text_puts(out, "\", shardwright.tensor = ");
  sw_mlir_type(&s->model->values[l->source].type, out);
}

/* Can Shardy say how a whole argument or result lies? */
static sw_rc check_layout(const sw_spmd *s, sw_id value, sw_diag *d) {
  sw_text text = {0};
  const sw_layout *l = &s->layout[value];
  sw_rc rc = l->is_block ? sw_sdy_sharding(s->mesh, "mesh", &l->sharding, &text, d) : SW_OK;
  sw_text_free(&text);
  return rc;
}

static sw_rc check_layouts(const sw_spmd *s, sw_diag *d) {
  const sw_graph *g = s->program;
  if (!s->whole_tensors) return SW_OK;
  for (int32_t i = 0; i < g->n_args; i++)
    SW_TRY_NOTE(d, check_layout(s, g->args[i], d), "in the sharding of argument %d", i);
  for (int32_t i = 0; i < g->n_outputs; i++)
    SW_TRY_NOTE(d, check_layout(s, g->outputs[i], d), "in the sharding of result %d", i);
  return SW_OK;
}

static sw_rc write_spmd_module(sw_spmd_writer *s, sw_diag *d) {
  static const sw_mlir_devices kDevices[] = {[SW_SPMD_SHARD] = SW_MLIR_GRID,
                                             [SW_SPMD_STABLEHLO] = SW_MLIR_PARTITIONS,
                                             [SW_SPMD_SDY] = SW_MLIR_MESH,
                                             [SW_SPMD_CONSTRAINTS] = SW_MLIR_MESH};
  const sw_graph *g = s->w.graph;
  sw_spmd spmd = *s->spmd;
  sw_ssa *v;
  SW_TRY(sw_hlo_check(g, true, d));
  SW_TRY(check_layouts(s->spmd, d));
  if (s->dialect < SW_SPMD_SDY) SW_TRY(use_program_axes(s, d)); /* Shardy has parts of axes */
  sw_mlir_open_module(&s->w, "spmd", kDevices[s->dialect]);
  sw_mlir_open_function(&s->w, s->spmd->model, put_block_layout, &spmd);
  SW_TRY(sw_spmd_write_ops(s, 0, g->n_ops, d));
  SW_ARENA_NEW(v, &s->w.arena, g->n_outputs, d);
  for (int32_t i = 0; i < g->n_outputs; i++) v[i] = sw_mlir_value(&s->w, g, g->outputs[i]);
  s->w.at = (sw_source){0};
  sw_mlir_return(&s->w, v, g->n_outputs);
  for (size_t i = 0; i < s->externals.n; i++) {
    sw_text_printf(s->w.out, "  func.func private @shardwright.exchange_%zu%s\n", i, s->externals.at[i]);
  }
  sw_mlir_close_module(&s->w);
  return SW_OK;
}

sw_rc sw_emit_spmd(const sw_spmd *spmd, sw_spmd_dialect dialect, sw_text *out, sw_diag *d) {
  sw_spmd_writer s = {.w = {.graph = spmd->program, .out = out}, .spmd = spmd, .dialect = dialect};
  if (spmd->whole_tensors != (dialect >= SW_SPMD_SDY)) return SW_BUG(d, "%s", "tensors are whole in Shardy alone");
  sw_grid_init(spmd->mesh, &s.w.grid);
  sw_rc rc = write_spmd_module(&s, d);
  sw_array_free(&s.externals);
  sw_mlir_deinit(&s.w);
  if (!rc && out->rc) rc = SW_FAIL(d, out->rc, SW_NOWHERE, "out of memory");
  return rc;
}
