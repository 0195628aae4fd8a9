/* A search that answers further questions (plan.h): graph -> problem -> plan, and plans with further pins of the same
 * problem.
 */
#include "plan/search.h"

struct sw_planner {
  sw_searcher s; /* without a selection: time was up before the problem stood */
  sw_plan_options o;
  sw_plan base;  /* the plan without further pins */
  int64_t bound; /* proven of it, and so of all with pins */
  sw_learned learned;
};

static sw_rc build(sw_planner *p, sw_diag *d) {
  p->o.selection.deadline_s = p->s.spent->deadline_s;
  p->o.selection.cancel = p->o.solve.cancel;
  SW_TRY(sw_selection_build(p->s.g, p->s.machine, &p->o.selection, p->s.arena, &p->s.selection, &p->s.least, d));
  p->s.n = sw_selection_problem(p->s.selection)->n_nodes;
  return SW_OK;
}

/* The first search. */
static sw_rc find_base(sw_planner *p, sw_plan *out, sw_diag *d) {
  sw_fit fit;
  sw_rc rc = build(p, d);
  if (rc == SW_E_CANCELLED) return sw_search_fall_back(&p->s, out, d);
  if (!rc) rc = sw_search_find(&p->s, out, &fit, d);
  if (!rc && sw_search_is_over(&p->s)) rc = sw_search_prefer_known(&p->s, out, d);
  if (!rc) p->bound = fit.bound;
  return rc;
}

sw_rc sw_planner_open(const sw_graph *g, const sw_machine *machine, const sw_plan_options *o, sw_arena *arena,
                      sw_planner **out, sw_plan *plan, sw_diag *d) {
  sw_planner *p;
  sw_effort spent;
  SW_ARENA_NEW(p, arena, 1, d);
  p->o = *o;
  if (p->o.selection.capacity_bytes == 0)
    p->o.selection.capacity_bytes = sw_profile_memory_bytes(sw_machine_profile(machine));
  p->s = (sw_searcher){.g = g, .machine = machine, .o = &p->o, .arena = arena, .learned = &p->learned};
  sw_search_begin(&p->s, &spent);
  SW_TRY(sw_plan_build(g, machine, arena, plan, d));
  sw_rc rc = find_base(p, plan, d);
  p->o.solve.deadline_s = 0; /* every question has the whole limit */
  plan->time_s = sw_now_s() - spent.started_s;
  p->base = *plan;
  if (rc) sw_planner_close(p);
  if (!rc) *out = p;
  return rc;
}

void sw_planner_close(sw_planner *p) {
  if (p) sw_selection_deinit(p->s.selection);
}

sw_rc sw_planner_ask(sw_planner *p, int32_t n, const sw_pin *pins, sw_arena *arena, sw_plan *out, sw_diag *d) {
  sw_plan_options o = p->o;
  sw_learned learned = p->learned; /* a question leaves nothing that the next one would have to forget */
  sw_searcher s = {.g = p->s.g, .machine = p->s.machine, .o = &o, .arena = arena, .learned = &learned, .n = p->s.n};
  sw_effort spent;
  sw_fit fit;
  if (!p->s.selection)
    return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE,
                   "time was up before the problem stood; more time (--time-limit) is needed");
  o.start = &p->base;
  s.selection = p->s.selection;
  s.bound = p->bound;
  s.least = p->s.least;
  sw_search_begin(&s, &spent);
  SW_TRY(sw_plan_build(s.g, s.machine, arena, out, d));
  SW_TRY(sw_selection_pin(s.selection, n, pins, d));
  sw_rc rc = sw_search_find(&s, out, &fit, d);
  out->time_s = sw_now_s() - spent.started_s;
  sw_rc freed = sw_selection_pin(s.selection, 0, NULL, d);
  return rc ? rc : freed;
}

sw_rc sw_plan_search(const sw_graph *g, const sw_machine *machine, const sw_plan_options *o, sw_arena *arena,
                     sw_plan *out, sw_diag *d) {
  sw_planner *p;
  SW_TRY(sw_planner_open(g, machine, o, arena, &p, out, d));
  sw_planner_close(p);
  return SW_OK;
}
