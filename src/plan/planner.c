/* A search that answers further questions (plan.h): plans with further pins of the problem that stands. */
#include "plan/search.h"
#include "plan/timed_search.h"

#include "base/checked.h"

struct sw_planner {
  sw_search s; /* of the first plan; without a selection: time was up before the problem stood */
  sw_plan_options o;
  sw_plan base;            /* the plan without further pins; what is proven of it, s.bound, is so of all with pins */
  sw_route_prices *routes; /* of all its problems */
  sw_timed_prices by;      /* of its answers, where these are by the timeline */
  sw_job timed;            /* by.job */
};

int64_t sw_plan_capacity(const sw_job *j, const sw_plan_options *o) {
  const int64_t asked = o->selection.capacity_bytes;
  return asked ? asked : sw_profile_memory_bytes(sw_machine_profile(j->machine));
}

sw_rc sw_planner_open(const sw_job *j, const sw_plan_options *o, sw_arena *arena, sw_planner **out, sw_plan *plan,
                      sw_diag *d) {
  return (j->overlap ? sw_timed_search : sw_planner_open_priced)(j, o, arena, out, plan, d);
}

int64_t sw_planner_work(const sw_planner *p) { return p->s.work; }

void sw_planner_answer_by(sw_planner *p, const sw_timed_prices *by) {
  p->timed = *by->job;
  p->by = *by;
  p->by.job = &p->timed;
}

sw_rc sw_planner_open_priced(const sw_job *j, const sw_plan_options *o, sw_arena *arena, sw_planner **out,
                             sw_plan *plan, sw_diag *d) {
  sw_planner *p;
  SW_ARENA_NEW(p, arena, 1, d);
  p->o = *o;
  p->s = (sw_search){.job = *j, .asked = &p->o, .selected = o->selection, .arena = arena};
  p->s.selected.capacity_bytes = sw_plan_capacity(j, o);
  p->o.selection.capacity_bytes = p->s.selected.capacity_bytes;
  p->s.selected.cancel = o->solve.cancel;
  SW_TRY(sw_route_prices_make(j->machine, &p->routes, d));
  p->s.selected.routes = p->routes;
  sw_rc rc = sw_search_open(&p->s, plan, d);
  p->o.solve.deadline_s = 0; /* every question has the whole limit */
  p->o.none_fits = NULL;
  plan->time_s = sw_now_s() - p->s.started_s;
  p->base = *plan;
  if (rc) sw_planner_close(p);
  if (!rc) *out = p;
  return rc;
}

void sw_planner_close(sw_planner *p) {
  if (!p) return;
  sw_search_close(&p->s);
  sw_route_prices_destroy(p->routes);
}

/* A pin among the requirements of a model's definitions; one that contradicts another is SW_E_INFEASIBLE. */
static sw_rc require(const sw_request *r, const sw_pin *pin, sw_annotation *all, int32_t *n, sw_diag *d) {
  const sw_value *v = &r->graph->values[pin->value];
  const sw_annotation a = sw_pin_required(pin, v->span);
  for (int32_t i = 0; i < *n; i++) {
    const sw_annotation *other = &all[i];
    if (!other->required || other->for_users || other->op >= 0 || other->value != pin->value) continue;
    if (sw_annotation_admits(&a, &other->sharding) || sw_annotation_admits(other, &a.sharding)) continue;
    return SW_FAIL(d, SW_E_INFEASIBLE, other->span, "'%s' is required in another sharding already", v->name);
  }
  all[(*n)++] = a;
  return SW_OK;
}

/* Pins that no choice of the problem meets (unequal blocks, halos, parts of a value), or that are met behind an op: a
 * problem of its own, with the pins as requirements of the model. */
static sw_rc ask_anew(const sw_planner *p, int64_t capacity, int32_t n, const sw_pin *pins, sw_arena *arena,
                      sw_plan *out, sw_diag *d) {
  const sw_request *r = p->s.job.request;
  sw_request pinned = *r;
  sw_job job = p->s.job;
  sw_plan_options o = p->o;
  o.selection.capacity_bytes = capacity;
  sw_annotation *all;
  SW_ARENA_NEW(all, arena, r->n_annotations + n, d);
  for (int32_t i = 0; i < r->n_annotations; i++) all[i] = r->annotations[i];
  for (int32_t i = 0; i < n; i++) SW_TRY(require(r, &pins[i], all, &pinned.n_annotations, d));
  pinned.annotations = all;
  job.request = &pinned;
  o.start = &p->base;
  SW_TRY(sw_plan_search(&job, &o, arena, out, d));
  out->job.request = r;
  return SW_OK;
}

static bool any_of_use(int32_t n, const sw_pin *pins) {
  bool any = false;
  for (int32_t i = 0; i < n; i++) any = any || pins[i].of_use;
  return any;
}

/* The search of a question: what is known of the problem that stands holds, and nothing that it finds is left to be
 * forgotten by the next one. */
static sw_search search_for_question(const sw_planner *p, const sw_plan_options *o, sw_arena *arena) {
  const sw_search *base = &p->s;
  return (sw_search){.job = base->job,
                     .asked = o,
                     .selected = o->selection,
                     .arena = arena,
                     .is_question = true,
                     .gap = o->solve.gap,
                     .selection = base->selection,
                     .problem = base->problem,
                     .relaxed = base->relaxed,
                     .shares_split = true,
                     .column = -1,
                     .bound = base->bound,
                     .least = base->least,
                     .state = base->state,
                     .from = &p->base};
}

static sw_rc ask_priced(sw_planner *p, int64_t capacity_bytes, int32_t n, const sw_pin *pins, sw_arena *arena,
                        sw_plan *out, sw_diag *d) {
  const int64_t capacity = sw_min_i64(capacity_bytes, p->o.selection.capacity_bytes);
  sw_plan_options o = p->o;
  if (!p->s.selection)
    return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE,
                   "time was up before the problem stood; more time (--time-limit) is needed");
  o.start = &p->base;
  o.selection.capacity_bytes = capacity;
  sw_search s = search_for_question(p, &o, arena);
  sw_search_begin(&s);
  if (sw_selection_brings(s.selection, n, pins) && !any_of_use(n, pins))
    return ask_anew(p, capacity, n, pins, arena, out, d);
  sw_rc rc = sw_selection_pin(s.selection, n, pins, d);
  if (rc == SW_E_INFEASIBLE && !any_of_use(n, pins)) return ask_anew(p, capacity, n, pins, arena, out, d);
  if (rc) return rc;
  rc = sw_search_run(&s, out, d);
  sw_arena_deinit(&s.mem);
  out->time_s = sw_now_s() - s.started_s;
  sw_rc freed = sw_selection_pin(s.selection, 0, NULL, d);
  return rc ? rc : freed;
}

sw_rc sw_planner_ask_within(sw_planner *p, int64_t capacity_bytes, int32_t n, const sw_pin *pins, sw_arena *arena,
                            sw_plan *out, sw_diag *d) {
  sw_breakdown timed;
  SW_TRY(ask_priced(p, capacity_bytes, n, pins, arena, out, d));
  return p->by.job ? sw_timed_record(&p->by, out, arena, &timed, d) : SW_OK;
}

sw_rc sw_planner_ask(sw_planner *p, int32_t n, const sw_pin *pins, sw_arena *arena, sw_plan *out, sw_diag *d) {
  return sw_planner_ask_within(p, p->o.selection.capacity_bytes, n, pins, arena, out, d);
}

sw_rc sw_plan_search(const sw_job *j, const sw_plan_options *o, sw_arena *arena, sw_plan *out, sw_diag *d) {
  sw_planner *p;
  SW_TRY(sw_planner_open(j, o, arena, &p, out, d));
  sw_planner_close(p);
  return SW_OK;
}
