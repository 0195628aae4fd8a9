/* The end of building: growing arrays become the graph's own, use lists are made, and the whole is verified. */
#include "graph/builder.h"

#include <assert.h>
#include "graph/control.h"
#include "graph/derive.h"
#include "graph/infinite.h"

/* Everything but values and ops, of which use lists and frames are to be found yet. */
static sw_rc settle_ends(sw_graph *g, sw_diag *d) {
  struct sw_graph_builder *b = g->builder;
  sw_request *r = b->request;
  for (size_t i = 0; i < b->annotations.n; i++) SW_TRY(sw_annotation_settle(g, &b->annotations.at[i], d));
  r->annotations = sw_arena_copy(&g->arena, b->annotations.at, b->annotations.n, sizeof *r->annotations, d);
  r->sharding_groups =
      sw_arena_copy(&g->arena, b->sharding_groups.at, b->sharding_groups.n, sizeof *r->sharding_groups, d);
  g->args = sw_arena_copy(&g->arena, b->args.at, b->args.n, sizeof *g->args, d);
  g->outputs = sw_arena_copy(&g->arena, b->outputs.at, b->outputs.n, sizeof *g->outputs, d);
  g->alias = sw_arena_copy(&g->arena, b->alias.at, b->alias.n, sizeof *g->alias, d);
  g->output_names = sw_arena_copy(&g->arena, b->output_names.at, b->output_names.n, sizeof *g->output_names, d);
  g->output_spans = sw_arena_copy(&g->arena, b->output_spans.at, b->output_spans.n, sizeof *g->output_spans, d);
  if (!r->annotations || !r->sharding_groups) return SW_E_RESOURCE;
  if (!g->args || !g->outputs || !g->alias || !g->output_names || !g->output_spans) return SW_E_RESOURCE;
  g->n_args = (int32_t)b->args.n;
  g->n_outputs = (int32_t)b->outputs.n;
  r->n_annotations = (int32_t)b->annotations.n;
  r->n_sharding_groups = (int32_t)b->sharding_groups.n;
  return SW_OK;
}

/* Calls `see` for every slot that reads a value: operands in program order, then outputs. */
static void for_each_use(sw_graph *g, void (*see)(sw_value *v, sw_value_use use)) {
  sw_value *values = g->builder->values.at;
  for (sw_id i = 0; i < g->n_ops; i++) {
    for (int32_t k = 0; k < g->ops[i].n_operands; k++) see(&values[g->ops[i].operands[k]], (sw_value_use){i, k});
  }
  for (int32_t k = 0; k < g->n_outputs; k++) see(&values[g->outputs[k]], (sw_value_use){-1, k});
}

static void count_use(sw_value *v, sw_value_use use) {
  (void)use;
  v->n_uses++;
}

static void record_use(sw_value *v, sw_value_use use) { ((sw_value_use *)v->uses)[v->n_uses++] = use; }

static sw_rc make_use_lists(sw_graph *g, sw_diag *d) {
  sw_value *values = g->builder->values.at;
  for_each_use(g, count_use);
  size_t total = 0;
  for (sw_id v = 0; v < g->n_values; v++) total += (size_t)values[v].n_uses;
  sw_value_use *uses;
  SW_ARENA_NEW(uses, &g->arena, total, d);
  for (sw_id v = 0; v < g->n_values; v++) {
    values[v].uses = uses;
    uses += values[v].n_uses;
    values[v].n_uses = 0;
  }
  for_each_use(g, record_use);
  return SW_OK;
}

static sw_rc keep_arrays(sw_graph *g, sw_diag *d) {
  const struct sw_graph_builder *b = g->builder;
  g->values = sw_arena_copy(&g->arena, b->values.at, b->values.n, sizeof *g->values, d);
  g->ops = sw_arena_copy(&g->arena, b->ops.at, b->ops.n, sizeof *g->ops, d);
  return g->values && g->ops ? SW_OK : SW_E_RESOURCE;
}

sw_rc sw_graph_seal(sw_graph *g, sw_diag *d) {
  if (g->sealed) return SW_BUG(d, "%s", "the graph is sealed twice");
  sw_request *written = g->builder->request;
  SW_TRY(settle_ends(g, d));
  SW_TRY(make_use_lists(g, d));
  SW_TRY(sw_graph_read_frames(g, d));
  SW_TRY(sw_graph_find_on_host(g, d));
  SW_TRY(sw_graph_mind_infinities(g, d));
  SW_TRY(keep_arrays(g, d));
  sw_graph_builder_free(g);
  g->sealed = true;
  SW_TRY(sw_graph_verify(g, d));
  SW_TRY(sw_request_verify(written, d));
  return sw_request_index_said(written, &g->arena, d);
}

sw_rc sw_graph_derive(const sw_graph *g, const sw_graph_parts *other, sw_arena *arena, sw_graph **out, sw_diag *d) {
  sw_graph *copy = sw_arena_copy(arena, g, 1, sizeof *g, d);
  sw_request *written = sw_arena_copy(arena, g->written, 1, sizeof *written, d);
  if (!copy || !written) return SW_E_RESOURCE;
  assert(g->sealed || other->args); /* of one that is being built, with its arguments */
  if (other->ops) copy->ops = other->ops;
  if (other->values) copy->values = other->values;
  if (other->frames) copy->frames = other->frames;
  if (other->args) copy->args = other->args, copy->n_args = other->n_args;
  written->graph = copy;
  copy->written = written;
  *out = copy;
  return SW_OK;
}
