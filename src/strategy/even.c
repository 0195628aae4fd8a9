#include "shardwright/strategy.h"

#include <string.h>

/* Does a dimension's cut go into equal blocks? */
static bool is_shared_evenly(const sw_sharding *s, const int64_t *dims, int dim) {
  return !s->offsets && dims[dim] % sw_sharding_shards(s, dim) == 0;
}

static bool is_required(const sw_even_rule *rule, int64_t size, const sw_axis_ref *refs, int n) {
  for (int32_t i = 0; rule && i < rule->n_required; i++) {
    const sw_dim_cut *c = &rule->required[i];
    if (c->size == size && sw_axis_refs_equal(c->refs, c->n_refs, refs, n)) return true;
  }
  return false;
}

bool sw_sharding_is_even(const sw_even_rule *rule, const sw_sharding *s, const int64_t *dims) {
  for (int k = 0; k < s->rank; k++) {
    int n;
    const sw_axis_ref *refs = sw_sharding_dim(s, k, &n);
    if (n && !is_shared_evenly(s, dims, k) && !is_required(rule, dims[k], refs, n)) return false;
  }
  return true;
}

bool sw_strategy_is_even(const sw_even_rule *rule, const sw_graph *g, const sw_op *op, const sw_strategy *s) {
  sw_sharding at;
  for (int p = 0; p < op->n_operands + op->n_results; p++) {
    sw_strategy_port(op, s, p, &at);
    if (!sw_sharding_is_even(rule, &at, sw_port_type(g, op, p)->dims)) return false;
  }
  return true;
}

/* Uneven cuts that the annotation requires, behind those known already. */
static void add_required(const sw_graph *g, const sw_annotation *a, sw_dim_cut *list, sw_even_rule *out) {
  const sw_sharding *s = &a->sharding;
  if (!a->required || a->value < 0) return;
  const int64_t *dims = g->values[a->value].type.dims;
  for (int k = 0; k < s->rank; k++) {
    sw_dim_cut cut = {.size = dims[k]};
    const sw_axis_ref *refs = sw_sharding_dim(s, k, &cut.n_refs);
    if (!cut.n_refs || is_shared_evenly(s, dims, k) || is_required(out, dims[k], refs, cut.n_refs)) continue;
    memcpy(cut.refs, refs, (size_t)cut.n_refs * sizeof *refs);
    list[out->n_required++] = cut;
  }
}

sw_rc sw_even_rule_of(const sw_request *r, sw_arena *arena, sw_even_rule *out, sw_diag *d) {
  const sw_graph *g = r->graph;
  size_t most = 0;
  sw_dim_cut *list;
  *out = (sw_even_rule){0};
  for (int32_t i = 0; i < r->n_annotations; i++)
    most += r->annotations[i].required ? r->annotations[i].sharding.n_refs : 0;
  SW_ARENA_NEW(list, arena, most, d);
  out->required = list;
  for (int32_t i = 0; i < r->n_annotations; i++) add_required(g, &r->annotations[i], list, out);
  return SW_OK;
}
