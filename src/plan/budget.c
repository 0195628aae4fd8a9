/* What a search may take, and what it has taken. */
#include "plan/search.h"

#include <math.h>

static const double kLeastWork = 1e7; /* so that a quick solution is still found */

void sw_search_begin(sw_searcher *s, sw_search_budget *spent) {
  const sw_solve_options *o = &s->o->solve;
  *spent = (sw_search_budget){.started_s = sw_now_s()};
  s->spent = spent;
  s->deadline_s = 0;
  s->counted = o->work_limit > 0;
  s->limit = s->counted ? (double)o->work_limit : SW_STEPS_PER_S * o->time_limit_s;
  if (s->counted || o->time_limit_s <= 0) return;
  s->deadline_s = o->deadline_s > 0 ? o->deadline_s : spent->started_s + o->time_limit_s;
}

double sw_search_used(const sw_searcher *s) { return (double)s->spent->work; }

double sw_search_left(const sw_searcher *s) {
  const double kLeast = 0.3; /* more is done than was foreseen: there may be as much to come */
  if (s->limit <= 0) return INFINITY;
  return fmax(s->counted ? 0 : kLeast * s->limit, s->limit - sw_search_used(s));
}

bool sw_search_is_over(const sw_searcher *s) {
  const double deadline_s = s->deadline_s;
  if (sw_cancelled(s->o->solve.cancel) || (s->counted && sw_search_left(s) <= 0)) return true;
  return deadline_s > 0 && sw_now_s() >= deadline_s;
}

int64_t sw_search_part(const sw_searcher *s, double part) {
  if (s->limit <= 0 || (!s->counted && part >= 1)) return 0;
  return (int64_t)fmax(part * sw_search_left(s), kLeastWork);
}

sw_searcher sw_search_for(const sw_searcher *s, double steps) {
  sw_searcher part = *s;
  part.limit = sw_search_used(s) + fmin(steps, sw_search_left(s));
  part.counted = true;
  return part;
}

sw_searcher sw_search_within(const sw_searcher *s, double part) {
  const double now_s = sw_now_s();
  sw_searcher some = s->limit > 0 ? sw_search_for(s, part * sw_search_left(s)) : *s;
  some.counted = s->counted;
  if (s->deadline_s > 0) some.deadline_s = now_s + part * fmax(0, s->deadline_s - now_s);
  return some;
}

sw_rc sw_search_call(const sw_searcher *s, const sw_problem *p, double part, sw_solve_options *o, sw_arena *arena,
                     sw_solution *out, sw_diag *d) {
  const double kLeast_s = 0.05, deadline_s = s->deadline_s;
  o->deadline_s = deadline_s > 0 ? fmax(deadline_s, sw_now_s() + kLeast_s) : 0;
  /* What is foreseen. Without a deadline it would be one, though work alone is limited. */
  o->time_limit_s = deadline_s > 0 && s->limit > 0 ? part * sw_search_left(s) / SW_STEPS_PER_S : 0;
  o->work_limit = sw_search_part(s, part);
  SW_TRY(sw_solve(p, o, arena, out, d));
  s->spent->work += out->work;
  return SW_OK;
}
