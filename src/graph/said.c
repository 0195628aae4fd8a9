/* Annotations that name axes of size 1, by what they are about (sw_request.said). */
#include "graph/said.h"

#include "graph/builder.h"

/* Is all that the normal form lacks of it the names of whole axes of size 1? That a value is partial over one, few
 * forms can say. */
static bool has_more_names(const sw_request *r, const sw_annotation *a) {
  const sw_sharding *said = &a->said->sharding;
  int ones = 0;
  for (int i = 0; i < said->n_refs; i++) ones += r->mesh.axis[said->refs[i].axis].size == 1;
  return ones > 0 && said->n_refs - ones <= a->sharding.n_refs && said->n_partial == a->sharding.n_partial;
}

/* The first of each counts, and of a value's its definition before its uses. */
sw_rc sw_request_index_said(sw_request *r, sw_arena *arena, sw_diag *d) {
  const sw_graph *g = r->graph;
  const sw_annotation **said = NULL;
  for (int32_t i = 0; i < r->n_annotations; i++) {
    const sw_annotation *a = &r->annotations[i];
    if (!a->said || a->value < 0 || !has_more_names(r, a)) continue;
    if (!said) SW_ARENA_NEW(said, arena, g->n_values + g->n_outputs, d);
    r->said = said;
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

sw_sharding sw_value_said(const sw_request *r, sw_id value, const sw_sharding *s) {
  return r->said ? in_words(r->said[value], s) : *s;
}

sw_sharding sw_output_said(const sw_request *r, int32_t output, const sw_sharding *s) {
  if (!r->said) return *s;
  const sw_annotation *a = r->said[r->graph->n_values + output];
  return in_words(a ? a : r->said[r->graph->outputs[output]], s);
}
