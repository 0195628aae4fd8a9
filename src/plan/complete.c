/* A plan of which parts are given, completed without search: the rest of its ops in program order, each between what
 * its operands are cut like and what those of its uses that are given want.
 */
#include "plan/choices.h"
#include "plan/follow.h"

/* Arguments that are not given arrive as they are required to, or as the first given op takes them. */
static void place_open_args(sw_follower *f) {
  const sw_graph *g = f->job.graph;
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    const sw_annotation *a = f->given->args[i] ? NULL : sw_follow_required(f->known, i);
    f->fixed[i] = f->given->args[i] || a;
    if (a) f->plan->args[i] = a->sharding;
    for (int32_t u = 0; u < v->n_uses && !f->fixed[i]; u++) {
      if (v->uses[u].op < 0 || !sw_follow_is_given(f, v->uses[u])) continue;
      sw_plan_taken_sharding(f->plan, v->uses[u], &f->plan->args[i]);
      f->plan->args[i].n_partial = 0;
      f->fixed[i] = true;
    }
  }
}

static sw_rc choose_all(sw_follower *f, sw_diag *d) {
  const sw_graph *g = f->job.graph;
  place_open_args(f);
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_id leader = sw_op_tied_to(g, i);
    if (leader >= 0)
      f->plan->ops[i] = f->plan->ops[leader];
    else if (!f->given->ops[i])
      SW_TRY(sw_follow_between(f, i, d));
  }
  sw_follow_deliver(f);
  return SW_OK;
}

/* Strategies that were enumerated die with what is known, but for those chosen, which are values; unequal blocks are
 * never among them. */
sw_rc sw_plan_complete(sw_plan *p, const sw_plan_given *given, sw_diag *d) {
  sw_follow_known k = {0};
  sw_follower f = {.job = p->job, .mesh = sw_machine_mesh(p->job.machine), .known = &k, .given = given, .plan = p};
  sw_rc rc = sw_follow_known_init(&k, &p->job, d);
  if (!rc) rc = sw_follow_begin(&f, NULL, d);
  if (!rc) rc = choose_all(&f, d);
  if (!rc) sw_plan_keep_all(p);
  sw_follow_end(&f);
  sw_follow_known_deinit(&k);
  return rc;
}
