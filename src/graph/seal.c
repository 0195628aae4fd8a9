/* The end of building: growing arrays become the graph's own, use lists are made, and the whole is verified. */
#include "graph/control.h"
#include "graph/infinite.h"

static sw_rc settle_function(sw_graph *g, const sw_function_draft *f, sw_id id, sw_diag *d) {
  sw_function *out = &g->functions[id];
  *out = (sw_function){.name = f->name, .body = id, .n_args = (int32_t)f->args.n, .n_outputs = (int32_t)f->outputs.n};
  out->args = sw_arena_copy(&g->arena, f->args.at, f->args.n, sizeof(sw_id), d);
  out->outputs = sw_arena_copy(&g->arena, f->outputs.at, f->outputs.n, sizeof(sw_id), d);
  out->alias = sw_arena_copy(&g->arena, f->alias.at, f->alias.n, sizeof(sw_id), d);
  out->output_names = sw_arena_copy(&g->arena, f->output_names.at, f->output_names.n, sizeof(char *), d);
  out->output_spans = sw_arena_copy(&g->arena, f->output_spans.at, f->output_spans.n, sizeof(sw_span), d);
  sw_block *block = &g->blocks[id];
  *block = (sw_block){.region = id, .n_args = out->n_args, .n_ops = (int32_t)f->ops.n, .args = out->args};
  block->ops = sw_arena_copy(&g->arena, f->ops.at, f->ops.n, sizeof(sw_id), d);
  sw_id *blocks = sw_arena_copy(&g->arena, &id, 1, sizeof id, d);
  g->regions[id] = (sw_region){.parent_op = -1, .n_blocks = 1, .blocks = blocks};
  bool ok = out->args && out->outputs && out->alias && out->output_names && out->output_spans && block->ops && blocks;
  return ok ? SW_OK : SW_E_RESOURCE;
}

static sw_rc settle(sw_graph *g, sw_diag *d) {
  struct sw_graph_builder *b = g->builder;
  int32_t n = (int32_t)b->functions.n;
  for (size_t i = 0; i < b->annotations.n; i++) sw_sharding_join(&b->annotations.at[i].sharding);
  g->values = sw_arena_copy(&g->arena, b->values.at, b->values.n, sizeof *g->values, d);
  g->ops = sw_arena_copy(&g->arena, b->ops.at, b->ops.n, sizeof *g->ops, d);
  g->annotations = sw_arena_copy(&g->arena, b->annotations.at, b->annotations.n, sizeof *g->annotations, d);
  SW_ARENA_NEW(g->functions, &g->arena, n, d);
  SW_ARENA_NEW(g->blocks, &g->arena, n, d);
  SW_ARENA_NEW(g->regions, &g->arena, n, d);
  g->twins = sw_arena_copy(&g->arena, b->twins.at, b->twins.n, sizeof *g->twins, d);
  if (!g->values || !g->ops || !g->annotations || !g->twins) return SW_E_RESOURCE;
  g->n_functions = g->n_blocks = g->n_regions = n;
  g->n_annotations = (int32_t)b->annotations.n;
  g->n_twins = (int32_t)b->twins.n;
  for (int32_t i = 0; i < n; i++) SW_TRY(settle_function(g, &b->functions.at[i], i, d));
  return SW_OK;
}

/* Calls `see` for every slot that reads a value: operands in program order, then outputs. */
static void for_each_use(const sw_graph *g, void (*see)(sw_value *v, sw_value_use use)) {
  for (sw_id i = 0; i < g->n_ops; i++) {
    for (int32_t k = 0; k < g->ops[i].n_operands; k++) {
      see(&g->values[g->ops[i].operands[k]], (sw_value_use){i, k});
    }
  }
  for (sw_id f = 0; f < g->n_functions; f++) {
    for (int32_t k = 0; k < g->functions[f].n_outputs; k++) {
      see(&g->values[g->functions[f].outputs[k]], (sw_value_use){-1, k});
    }
  }
}

static void count_use(sw_value *v, sw_value_use use) {
  (void)use;
  v->n_uses++;
}

static void record_use(sw_value *v, sw_value_use use) { ((sw_value_use *)v->uses)[v->n_uses++] = use; }

static sw_rc make_use_lists(sw_graph *g, sw_diag *d) {
  for_each_use(g, count_use);
  size_t total = 0;
  for (sw_id v = 0; v < g->n_values; v++) total += (size_t)g->values[v].n_uses;
  sw_value_use *uses;
  SW_ARENA_NEW(uses, &g->arena, total, d);
  for (sw_id v = 0; v < g->n_values; v++) {
    g->values[v].uses = uses;
    uses += g->values[v].n_uses;
    g->values[v].n_uses = 0;
  }
  for_each_use(g, record_use);
  return SW_OK;
}

sw_rc sw_graph_seal(sw_graph *g, sw_diag *d) {
  if (g->sealed) return SW_BUG(d, "%s", "the graph is sealed twice");
  if (!g->builder->functions.n) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "the model '%s' has no function; expected one", g->name);
  }
  SW_TRY(settle(g, d));
  sw_graph_builder_free(g);
  g->sealed = true;
  SW_TRY(make_use_lists(g, d));
  SW_TRY(sw_graph_read_frames(g, d));
  SW_TRY(sw_graph_mind_infinities(g, d));
  return sw_graph_verify(g, d);
}
