/* What a search may take, and what it has taken. */
#include "plan/search.h"

#include <math.h>

static const double kLeastWork = 1e7; /* so that a quick solution is still found */

void sw_search_begin(sw_search *k) {
  const sw_solve_options *o = &k->asked->solve;
  k->started_s = sw_now_s();
  k->work = 0;
  k->all = (sw_search_budget){.counted = o->work_limit > 0};
  k->all.limit = k->all.counted ? (double)o->work_limit : SW_STEPS_PER_S * o->time_limit_s;
  if (!k->all.counted && o->time_limit_s > 0)
    k->all.deadline_s = o->deadline_s > 0 ? o->deadline_s : k->started_s + o->time_limit_s;
  k->stage = k->form = k->all;
}

double sw_search_left(const sw_search *k, const sw_search_budget *b) {
  const double kLeast = 0.3; /* more is done than was foreseen: there may be as much to come */
  if (b->limit <= 0) return INFINITY;
  return fmax(b->counted ? 0 : kLeast * b->limit, b->limit - (double)k->work);
}

bool sw_search_is_over(const sw_search *k, const sw_search_budget *b) {
  if (sw_cancelled(k->asked->solve.cancel) || (b->counted && sw_search_left(k, b) <= 0)) return true;
  return b->deadline_s > 0 && sw_now_s() >= b->deadline_s;
}

int64_t sw_search_steps(const sw_search *k, const sw_search_budget *b, double part) {
  if (b->limit <= 0 || (!b->counted && part >= 1)) return 0;
  return (int64_t)fmax(part * sw_search_left(k, b), kLeastWork);
}

sw_search_budget sw_search_part(const sw_search *k, const sw_search_budget *of, double part) {
  const double now_s = sw_now_s();
  sw_search_budget some = *of;
  if (part >= 1) return some;
  some.counted = of->limit > 0;
  if (some.counted) some.limit = (double)k->work + part * sw_search_left(k, of);
  if (of->deadline_s > 0) some.deadline_s = now_s + part * fmax(0, of->deadline_s - now_s);
  return some;
}
