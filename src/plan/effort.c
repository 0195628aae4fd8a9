/* What a search may take, and what it has taken. */
#include "plan/search.h"

#include <math.h>

void sw_search_begin(sw_searcher *s, sw_effort *spent) {
  const sw_solve_options *o = &s->o->solve;
  *spent = (sw_effort){.counted = o->work_limit > 0, .started_s = sw_now_s()};
  s->spent = spent;
  s->limit = spent->counted ? (double)o->work_limit : o->time_limit_s;
}

double sw_search_used(const sw_searcher *s) {
  return s->spent->counted ? (double)s->spent->work : sw_now_s() - s->spent->started_s;
}

double sw_search_left(const sw_searcher *s) { return s->limit > 0 ? fmax(0, s->limit - sw_search_used(s)) : INFINITY; }

bool sw_search_is_over(const sw_searcher *s) { return sw_search_left(s) <= 0 || sw_cancelled(s->o->solve.cancel); }

double sw_search_deadline_s(const sw_searcher *s, double part) {
  return s->limit > 0 && !s->spent->counted ? sw_now_s() + part * sw_search_left(s) : 0;
}

sw_rc sw_search_call(const sw_searcher *s, const sw_problem *p, double part, sw_solve_options *o, sw_arena *arena,
                     sw_solution *out, sw_diag *d) {
  const double kLeast_s = 0.05, kLeastWork = 1e7; /* so that a quick solution is still found */
  const double allowed = part * sw_search_left(s);
  const bool counted = s->spent->counted;
  o->time_limit_s = s->limit > 0 && !counted ? fmax(allowed, kLeast_s) : 0;
  o->work_limit = counted ? (int64_t)fmax(allowed, kLeastWork) : 0;
  SW_TRY(sw_solve(p, o, arena, out, d));
  s->spent->work += out->work;
  return SW_OK;
}
