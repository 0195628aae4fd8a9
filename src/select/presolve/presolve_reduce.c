/* The order in which the rules run, until nothing changes.
 *
 * Edges first (they lower rows and columns, which later rules rely on), then variables that can go, then memory, then
 * dominated values; whatever a rule touches is queued again.
 */
#include "select/presolve/presolve_model.h"

#include <assert.h>

static sw_rc drain(sel_model *m, sel_budget *b, sw_diag *d) {
  while (!m->infeasible && (m->queue.edges.n || m->queue.vars.n)) {
    if ((m->queue.edges.n + m->queue.vars.n) % 64 == 0 && sel_stop(b)) return SW_OK;
    if (m->queue.edges.n) {
      int32_t e = m->queue.edges.at[--m->queue.edges.n];
      m->edges[e].queued = false;
      if (m->edges[e].gone) continue;
      sel_spend(b, (int64_t)m->vars[m->edges[e].i].n * m->vars[m->edges[e].j].n);
      SW_TRY(sel_rule_edge(m, e, d));
    } else {
      int32_t v = m->queue.vars.at[--m->queue.vars.n];
      m->vars[v].queued = false;
      if (!m->vars[v].gone) SW_TRY(sel_rule_degree(m, v, b, d));
    }
  }
  return SW_OK;
}

static sw_rc drop_dominated(sel_model *m, sel_budget *b, sw_diag *d) {
  sel_beaten cache = {0};
  sw_rc rc = SW_OK;
  for (int32_t i = 0; i < m->n && !m->infeasible && !rc; i++) {
    if (m->vars[i].gone || !m->vars[i].stale) continue;
    if (sel_stop(b)) break;
    rc = sel_rule_dominated(m, i, &cache, b, d);
  }
  sel_beaten_deinit(&cache);
  return rc;
}

static sw_rc one_round(sel_model *m, sel_budget *b, bool *changed, sw_diag *d) {
  *changed = false;
  if (m->steps.n) {
    SW_TRY(sel_rule_steps(m, d));
    if (m->given.rules & SW_RULE_HEAVY && !m->infeasible && m->steps.n) SW_TRY(sel_rule_heavy(m, changed, d));
    *changed |= m->queue.edges.n > 0 || m->queue.vars.n > 0;
    SW_TRY(drain(m, b, d));
  }
  if (m->given.rules & SW_RULE_DOMINATED) SW_TRY(drop_dominated(m, b, d));
  *changed |= m->queue.edges.n > 0 || m->queue.vars.n > 0;
  return drain(m, b, d);
}

sw_rc sel_model_reduce(sel_model *m, sel_budget *b, sw_diag *d) {
  SW_TRY(drain(m, b, d));
  bool changed = true;
  while (changed && !m->infeasible && !sel_stop(b)) {
    SW_TRY(one_round(m, b, &changed, d));
    assert(sel_model_is_sound(m));
  }
  return SW_OK;
}
