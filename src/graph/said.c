/* Annotations that name axes of size 1, by what they are about (sw_graph_names.said). */
#include "graph/said.h"

#include "graph/builder.h"

/* Is all that the normal form lacks of it the names of whole axes of size 1? That a value is partial over one, few
 * forms can say. */
static bool has_more_names(const sw_graph *g, const sw_annotation *a) {
  const sw_sharding *said = &a->said->sharding;
  int ones = 0;
  for (int i = 0; i < said->n_refs; i++) ones += g->mesh.axis[said->refs[i].axis].size == 1;
  return ones > 0 && said->n_refs - ones <= a->sharding.n_refs && said->n_partial == a->sharding.n_partial;
}

/* The first of each counts, and of a value's its definition before its uses. */
sw_rc sw_graph_index_said(sw_graph *g, sw_diag *d) {
  const sw_annotation **said = NULL;
  for (int32_t i = 0; i < g->n_annotations; i++) {
    const sw_annotation *a = &g->annotations[i];
    if (!a->said || a->value < 0 || !has_more_names(g, a)) continue;
    if (!said) SW_ARENA_NEW(said, &g->arena, g->n_values + g->n_outputs, d);
    g->names->said = said;
    const sw_annotation **of = &said[a->value];
    if (!*of || ((*of)->for_users && !a->for_users)) *of = a;
    for (int32_t k = 0; a->for_users && k < g->n_outputs; k++) {
      bool of_output = !a->n_users && g->outputs[k] == a->value;
      for (int32_t u = 0; u < a->n_users; u++) of_output = of_output || (a->users[u].op < 0 && a->users[u].index == k);
      if (of_output && !said[g->n_values + k]) said[g->n_values + k] = a;
    }
  }
  return SW_OK;
}

static sw_sharding in_words(const sw_annotation *a, const sw_sharding *s) {
  return a && sw_sharding_equal(&a->sharding, s) ? a->said->sharding : *s;
}

sw_sharding sw_value_said(const sw_graph *g, sw_id value, const sw_sharding *s) {
  return g->names->said ? in_words(g->names->said[value], s) : *s;
}

sw_sharding sw_output_said(const sw_graph *g, int32_t output, const sw_sharding *s) {
  if (!g->names->said) return *s;
  const sw_annotation *a = g->names->said[g->n_values + output];
  return in_words(a ? a : g->names->said[g->outputs[output]], s);
}
