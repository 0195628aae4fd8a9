/* A plan as annotations of MLIR's shard dialect, in the complete form that its partition pass wants: one shard.shard
 * for every value that is made, one with annotate_for_users for every use.
 *
 *   %s$0 = shard.sharding @mesh split_axes = [[0], []] : !shard.sharding
 *   %h = "stablehlo.tanh"(%x$u0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
 *   %h$d = shard.shard %h to %s$0 : tensor<4x8xf32>
 *   %h$u1 = shard.shard %h$d to %s$0 annotate_for_users : tensor<4x8xf32>
 *
 * The dialect has no partial values: a discardable attribute says them. Helpers of ops that StableHLO composes (%t$N)
 * are no values of the model and bear no annotation.
 */
#include <string.h>

#include "mlir/emit/mlir.h"
#include "shardwright/emit.h"

typedef struct shard_writer {
  sw_mlir w;
  const sw_plan *plan;
  const char **made;               /* by value: its name after the annotation of its definition */
  SW_ARRAY(sw_sharding) shardings; /* distinct ones, partial axes left out: %s$I is the I-th */
  int64_t n_uses;
} shard_writer;

static sw_sharding without_partial_axes(const sw_sharding *s) {
  sw_sharding c = *s;
  c.n_partial = 0;
  return c;
}

/* A use and a definition of the plan, one after the other: `visit` is called with each one's sharding. */
typedef sw_rc (*visitor)(shard_writer *s, const sw_sharding *sharding, sw_diag *d);

static sw_rc visit_shardings(shard_writer *s, visitor visit, sw_diag *d) {
  const sw_graph *g = s->w.graph;
  sw_sharding sharding;
  for (int32_t i = 0; i < g->n_args; i++) SW_TRY(visit(s, &s->plan->args[i], d));
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    for (int k = 0; k < op->n_operands; k++) {
      sw_plan_use_sharding(s->plan, (sw_value_use){i, k}, &sharding);
      SW_TRY(visit(s, &sharding, d));
    }
    for (int k = 0; k < op->n_results; k++) {
      sw_plan_value_sharding(s->plan, op->results[k], &sharding);
      SW_TRY(visit(s, &sharding, d));
    }
  }
  for (int32_t i = 0; i < g->n_outputs; i++) SW_TRY(visit(s, &s->plan->outputs[i], d));
  return SW_OK;
}

static sw_rc use_refs(shard_writer *s, const sw_sharding *sharding, sw_diag *d) {
  return sw_grid_use(&s->w.grid, sharding->refs, sharding->n_refs + sharding->n_partial, d);
}

static size_t find_sharding(const shard_writer *s, const sw_sharding *sharding) {
  sw_sharding cuts = without_partial_axes(sharding);
  size_t i = 0;
  while (i < s->shardings.n && !sw_sharding_equal(&s->shardings.at[i], &cuts)) i++;
  return i;
}

static void put_split_axes(const sw_grid *grid, const sw_sharding *s, sw_text *out) {
  int axes[SW_GRID_AXES];
  sw_text_puts(out, s->rank ? "[" : "[[]");
  for (int k = 0; k < s->rank; k++) {
    int n;
    const sw_axis_ref *refs = sw_sharding_dim(s, k, &n);
    n = sw_grid_axes(grid, refs, n, axes);
    sw_text_puts(out, k ? ", [" : "[");
    for (int i = 0; i < n; i++) sw_text_printf(out, "%s%d", i ? ", " : "", axes[i]);
    sw_text_puts(out, "]");
  }
  sw_text_puts(out, "]");
}

static void put_cut_list(const sw_sharding *s, const char *key, const int64_t *v, bool offsets, sw_text *out) {
  int n = 0;
  if (!v) return;
  for (int k = 0; k < s->rank; k++) {
    int64_t shards = sw_sharding_shards(s, k);
    int n_refs;
    (void)sw_sharding_dim(s, k, &n_refs);
    if (n_refs) n += offsets ? (int)shards + 1 : 2;
  }
  sw_text_printf(out, " %s = [", key);
  sw_mlir_list(v, n, out);
  sw_text_puts(out, "]");
}

/* Every sharding is defined once, at the first place that needs it: here, at the top. */
static sw_rc define(shard_writer *s, const sw_sharding *sharding, sw_diag *d) {
  sw_text *out = s->w.out;
  if (find_sharding(s, sharding) < s->shardings.n) return SW_OK;
  sw_sharding cuts = without_partial_axes(sharding);
  sw_text_printf(out, "    %%s$%zu = shard.sharding @mesh split_axes = ", s->shardings.n);
  put_split_axes(&s->w.grid, &cuts, out);
  put_cut_list(&cuts, "sharded_dims_offsets", cuts.offsets, true, out);
  put_cut_list(&cuts, "halo_sizes", cuts.halos, false, out);
  sw_text_puts(out, " : !shard.sharding\n");
  return sw_array_push(&s->shardings, cuts, d);
}

static sw_ssa put_shard_annotation(shard_writer *s, sw_ssa x, const char *name, const sw_sharding *sharding,
                                   bool for_users) {
  sw_text *out = s->w.out;
  sw_text_printf(out, "    %s = shard.shard %s to %%s$%zu%s", name, x.name, find_sharding(s, sharding),
                 for_users ? " annotate_for_users" : "");
  if (sharding->n_partial) {
    sw_text_puts(out, " {shardwright.partial = \"");
    sw_mlir_partial(s->w.grid.mesh, sharding, out);
    sw_text_puts(out, "\"}");
  }
  sw_text_puts(out, " : ");
  sw_mlir_type(&x.type, out);
  sw_mlir_end_line(&s->w);
  return (sw_ssa){name, x.type};
}

/* Tokens have no sharding; they go as they are. */
static void annotate_definition(shard_writer *s, sw_ssa x, sw_id value, const sw_sharding *sharding) {
  s->made[value] = x.name;
  if (x.type.dtype == SW_TOKEN) return;
  s->made[value] = put_shard_annotation(s, x, sw_mlir_suffixed(&s->w, x.name, "d", -1), sharding, false).name;
}

static sw_ssa annotate_use(shard_writer *s, sw_id value, const sw_sharding *sharding) {
  const sw_value *v = &s->w.graph->values[value];
  sw_ssa x = {s->made[value], v->type};
  if (x.type.dtype == SW_TOKEN) return x;
  const char *name = sw_mlir_suffixed(&s->w, sw_mlir_name(&s->w, v->name, value), "u", s->n_uses++);
  return put_shard_annotation(s, x, name, sharding, true);
}

/* --- the function ------------------------------------------------------------------------------------------------ */

static sw_rc write_annotated_op(shard_writer *s, sw_id id, sw_diag *d) {
  const sw_op *op = &s->w.graph->ops[id];
  sw_ssa *in, out[SW_MAX_RESULTS];
  sw_sharding sharding;
  SW_ARENA_NEW(in, &s->w.arena, op->n_operands, d);
  s->w.at = op->location;
  for (int k = 0; k < op->n_operands; k++) {
    sw_plan_use_sharding(s->plan, (sw_value_use){id, k}, &sharding);
    in[k] = annotate_use(s, op->operands[k], &sharding);
  }
  for (int k = 0; k < op->n_results; k++) out[k] = sw_mlir_value(&s->w, s->w.graph, op->results[k]);
  sw_hlo_write(&(sw_hlo){&s->w, op, in, out});
  for (int k = 0; k < op->n_results; k++) {
    sw_plan_value_sharding(s->plan, op->results[k], &sharding);
    annotate_definition(s, out[k], op->results[k], &sharding);
  }
  s->w.at = (sw_source){0};
  return SW_OK;
}

static sw_rc write_return(shard_writer *s, sw_diag *d) {
  const sw_graph *g = s->w.graph;
  sw_ssa *v;
  SW_ARENA_NEW(v, &s->w.arena, g->n_outputs, d);
  for (int32_t i = 0; i < g->n_outputs; i++) v[i] = annotate_use(s, g->outputs[i], &s->plan->outputs[i]);
  sw_mlir_return(&s->w, v, g->n_outputs);
  return SW_OK;
}

static sw_rc write_module(shard_writer *s, sw_diag *d) {
  const sw_graph *g = s->w.graph;
  SW_TRY(sw_hlo_check(g, false, d));
  SW_TRY(visit_shardings(s, use_refs, d));
  sw_mlir_open_module(&s->w, "shard", SW_MLIR_GRID);
  sw_mlir_open_function(&s->w, g, NULL, NULL);
  SW_TRY(visit_shardings(s, define, d));
  for (int32_t i = 0; i < g->n_args; i++)
    annotate_definition(s, sw_mlir_value(&s->w, g, g->args[i]), g->args[i], &s->plan->args[i]);
  for (int32_t i = 0; i < g->n_ops; i++) SW_TRY(write_annotated_op(s, i, d));
  SW_TRY(write_return(s, d));
  sw_mlir_close_module(&s->w);
  return SW_OK;
}

sw_rc sw_emit_shard(const sw_plan *plan, sw_text *out, sw_diag *d) {
  shard_writer s = {.w = {.graph = plan->job.graph, .out = out}, .plan = plan};
  SW_MEM_NEW(s.made, plan->job.graph->n_values, d);
  sw_grid_init(sw_machine_mesh(plan->job.machine), &s.w.grid);
  sw_rc rc = write_module(&s, d);
  sw_mem_free(s.made);
  sw_array_free(&s.shardings);
  sw_mlir_deinit(&s.w);
  if (!rc && out->rc) rc = SW_FAIL(d, out->rc, SW_NOWHERE, "out of memory");
  return rc;
}
