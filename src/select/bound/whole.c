/* A bound of a whole problem: passes over one node of each class, a few over all, then exact integers. */
#include <math.h>

#include "select/bound/by_class.h"

/* Without a cost that is known, where the bound may hope to get. */
static double target_of(const sel_dual *u, const sw_bound_options *o) {
  return o->cost < INT64_MAX ? (double)o->cost : u->by->goal_first * fmax(u->best.bound, 0) + 1;
}

/* Making the bound safe costs a little. */
static double enough(const sw_bound_options *o) {
  if (o->cost == INT64_MAX) return INFINITY;
  return (double)o->cost * (1 - o->gap * (1 - sel_parameters(o->parameters)->slack));
}

/* Passes over all nodes as long as each closes a part of what is missing. */
static void ascend_all(sel_dual *u, const sw_bound_options *o, sel_budget *b) {
  double before = -INFINITY;
  while (u->best.bound < enough(o) && !sel_stop(b)) {
    if (u->best.bound - before < SEL_LEAST_GAIN * (enough(o) - u->best.bound)) break;
    before = u->best.bound;
    sel_dual_pass(u, target_of(u, o));
    sel_spend(b, 2 * u->cells + u->n_flat + u->c->n_uses);
  }
  sel_dual_rewind(u);
}

static sw_rc ascend_whole(sel_dual *u, const sw_bound_options *o, sel_budget *b, sw_bound *out, sw_diag *d) {
  const sel_settled end = {.quiet = (int)u->by->quiet_passes,
                           .gain = u->by->slack,
                           .most = (int64_t)u->by->class_passes,
                           .enough = enough(o)};
  int64_t passes;
  SW_TRY(sel_dual_ascend_by_class(u, target_of(u, o), end, b, &passes, d));
  out->any = passes > 0;
  out->settled = passes < end.most;
  if (!out->any) return SW_OK;
  sel_dual_pass(u, 0);
  if (out->choice) sel_dual_decode(u, out->choice); /* as long as those who are alike choose alike */
  ascend_all(u, o, b);
  return SW_OK;
}

static sw_rc bound_core(const sel_core *c, const sw_bound_options *o, sw_bound *out, sw_diag *d) {
  sel_dual u;
  sel_budget b = {.start_s = sw_now_s(),
                  .deadline_s = o->deadline_s,
                  .cancel = o->cancel,
                  .work_limit = o->work_limit,
                  .parameters = o->parameters};
  int64_t bound;
  sw_rc rc = sel_dual_init(&u, c, o->parameters, true, d);
  if (!rc) sel_dual_pass(&u, 0); /* no step */
  /* What comes after the passes takes about as long as what came before. */
  if (b.deadline_s > 0) b.deadline_s -= sw_now_s() - b.start_s;
  if (!rc && !sel_stop(&b)) rc = ascend_whole(&u, o, &b, out, d);
  if (!rc && out->any) rc = sel_dual_certify(&u, NULL, NULL, &bound, d);
  if (!rc && out->any) out->bound = sw_max_i64(bound, 0);
  out->work = b.work + 2 * u.cells;
  sel_dual_deinit(&u);
  return rc;
}

static sw_rc bound_in_order(const sw_problem *p, const sw_bound_options *o, sw_arena *mem, sw_bound *out, sw_diag *d) {
  sel_core given, whole;
  int32_t *order;
  sw_bound found = {.any = false};
  SW_TRY(sel_core_of_problem(p, mem, &given, d));
  SW_TRY(sel_core_in_order(&given, mem, &whole, &order, d));
  SW_TRY(sel_core_pool_tables(&whole, mem, d));
  if (out->choice) SW_ARENA_NEW(found.choice, mem, whole.n, d);
  SW_TRY(bound_core(&whole, o, &found, d));
  for (int32_t k = 0; k < whole.n && out->choice && found.any; k++) out->choice[order[k]] = found.choice[k];
  out->any = found.any;
  out->settled = found.settled;
  out->bound = found.bound;
  out->work = found.work;
  return SW_OK;
}

sw_rc sw_problem_bound(const sw_problem *p, const sw_bound_options *o, sw_bound *out, sw_diag *d) {
  sw_arena mem = {0};
  if (p->n_copies)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "a bound of a problem with copies; expected its relaxation");
  sw_rc rc = bound_in_order(p, o, &mem, out, d);
  sw_arena_deinit(&mem);
  return rc;
}
