/* Propagation that keeps what is required whenever that can be kept. The rules come first; where they end in a
 * conflict, hints around the op in question are left, one after another, and where requirements alone lead them nowhere
 * a search finds shardings that meet these, or shows that none do. */
#include "propagate/by_rule.h"

enum { MOST_HINTS_LEFT = 64 };

static bool is_around(const sw_graph *g, const sw_annotation *a, sw_id op) {
  if (a->op >= 0) return a->op == op;
  const sw_value *v = &g->values[a->value];
  if (v->def == op) return true;
  const int32_t n = a->n_users ? a->n_users : v->n_uses;
  for (int32_t i = 0; i < n; i++) {
    if ((a->n_users ? a->users : v->uses)[i].op == op) return true;
  }
  return false;
}

/* Of the hints around an op that are not left yet the last one of the highest priority number; -1: there is none. */
static int32_t hint_around(const sw_request *r, sw_id op, const bool *left) {
  int32_t found = -1;
  for (int32_t i = r->n_annotations - 1; op >= 0 && i >= 0; i--) {
    const sw_annotation *a = &r->annotations[i];
    const bool later = found < 0 || a->priority > r->annotations[found].priority;
    if (!a->required && !left[i] && later && is_around(r->graph, a, op)) found = i;
  }
  return found;
}

static sw_rc search_propagation(const sw_job *j, sw_arena *arena, sw_plan *out, sw_diag *d) {
  const int64_t kSteps = 4000000000; /* about a minute; small graphs take none of it */
  sw_plan_options o = {.solve = {.work_limit = kSteps, .gap = 0.01, .threads = 1}};
  o.selection.capacity_bytes = INT64_MAX / 2;
  SW_TRY(sw_plan_search(j, &o, arena, out, d));
  out->origin = "propagate";
  return SW_OK;
}

/* Annotations exclude each other by the rules, or the plan that they lead to is none. */
static bool leads_nowhere(sw_rc rc) { return rc == SW_E_INFEASIBLE || rc == SW_E_INPUT; }

static sw_rc leave_hints(const sw_job *j, sw_traversal t, bool *left, sw_arena *arena, sw_plan *out, sw_diag *d) {
  sw_diag why = {0};
  sw_id failed = -1;
  sw_rc rc = sw_propagate_by_rule(j, t, left, &failed, arena, out, &why);
  for (int n = 0; leads_nowhere(rc) && n < MOST_HINTS_LEFT; n++) {
    const int32_t hint = hint_around(j->request, failed, left);
    if (hint < 0) break;
    left[hint] = true;
    why = (sw_diag){0};
    rc = sw_propagate_by_rule(j, t, left, &failed, arena, out, &why);
  }
  if (leads_nowhere(rc)) return search_propagation(j, arena, out, d);
  if (rc && d) *d = why;
  return rc;
}

sw_rc sw_propagate(const sw_job *j, sw_traversal t, sw_arena *arena, sw_plan *out, sw_diag *d) {
  const sw_request *r = j->request;
  bool *left;
  SW_MEM_NEW(left, (size_t)r->n_annotations + 1, d);
  for (int32_t i = 0; i < r->n_annotations; i++) left[i] = r->annotations[i].derived; /* marks of values go there */
  sw_rc rc = leave_hints(j, t, left, arena, out, d);
  sw_mem_free(left);
  return rc;
}

sw_rc sw_propagate_known(const sw_job *j, sw_arena *arena, sw_plan_options *o, sw_diag *d) {
  sw_plan *known;
  if (j->request->n_annotations == 0) return SW_OK;
  SW_ARENA_NEW(known, arena, 1, d);
  if (sw_propagate(j, SW_TRAVERSE_BACKWARD_FORWARD, arena, known, NULL)) return SW_OK;
  o->known = known;
  o->n_known = 1;
  return SW_OK;
}
