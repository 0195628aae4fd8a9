/* The plan that holds least. The problem counts what a plan holds, but for the buffers of its routes, so the least
 * limit that has a solution is searched for: any solution will do, and where there is none the solver says how much is
 * needed at least. Between what is proven and what is found limits are tried by halves. Of the plans found the one is
 * kept whose exact peak is smallest.
 */
#include "plan/search.h"

#include "base/checked.h"

enum { MOST_TRIES = 96, LIVE_SHOWN = 5 };

typedef struct smallest {
  int64_t least; /* no choice stays below this, as the problem counts */
  int64_t most;  /* one does with this; INT64_MAX: none is known */
  int64_t peak;  /* of the best solution; INT64_MAX: none */
  sw_solution sol;
} smallest;

/* Any solution that holds no more than the limit, copies as they are held. */
static sw_rc solve_any(const sw_searcher *s, int64_t limit, sw_solution *sol, sw_diag *d) {
  const double kOfLeft = 0.1;
  const sw_solve_options *from = &s->o->solve;
  bool refined = true;
  while (refined) {
    sw_problem p = *sw_relaxation_problem(s->relaxed);
    sw_solve_options o = {
        .solver = from->solver, .gap = 1, .threads = from->threads, .seed = from->seed, .cancel = from->cancel};
    bool lives;
    p.limit = limit;
    SW_TRY(sw_search_call(s, &p, kOfLeft, &o, s->arena, sol, d));
    if (!sol->choice) return SW_OK;
    SW_TRY(sw_search_cost(s, sol->choice, &sol->cost, &refined, d));
    SW_TRY(sw_relaxation_refine_lives(s->relaxed, sol->choice, limit, &lives, d));
    refined = (refined && sol->cost >= SW_FORBIDDEN) || lives;
    if (refined && sw_search_is_over(s)) sol->choice = NULL;
    if (!sol->choice) sol->status = SW_SOLVE_UNKNOWN;
    refined = refined && sol->choice;
  }
  return SW_OK;
}

static sw_rc keep(const sw_searcher *s, const sw_solution *sol, const sw_fit *fit, sw_plan *out, smallest *w,
                  sw_diag *d) {
  int64_t peak;
  sw_score score;
  SW_TRY(sw_problem_score(s->problem, sol->choice, &score, d));
  w->most = sw_min_i64(w->most, (int64_t)score.peak);
  SW_TRY(sw_search_take(s, sol, fit, out, &peak, d));
  if (peak < w->peak) {
    w->peak = peak;
    w->sol = *sol;
  }
  return SW_OK;
}

/* What a try at a limit came to; `from`: what is worth trying next. */
static sw_rc try_limit(const sw_searcher *s, int64_t limit, const sw_fit *fit, sw_plan *out, smallest *w, int64_t *from,
                       sw_diag *d) {
  sw_solution sol = {0};
  SW_TRY(solve_any(s, limit, &sol, d));
  if (sol.choice) return keep(s, &sol, fit, out, w, d);
  *from = limit < INT64_MAX / 2 ? limit + 1 : INT64_MAX;
  if (sol.status != SW_SOLVE_INFEASIBLE) return SW_OK;
  *from = w->least = sw_max_i64(*from, sol.least_peak);
  if (w->least > INT64_MAX / 2) w->least = INT64_MAX;
  return SW_OK;
}

/* From the plan found that holds least, tries at what is proven so far, as long as that leads on, at a plan at all, and
 * ever half way to what is found. */
static sw_rc find_smallest(const sw_searcher *s, const sw_fit *fit, sw_plan *out, smallest *w, sw_diag *d) {
  int64_t from = 1, limit = 1, before = 0;
  *w = (smallest){.least = 1, .most = INT64_MAX, .peak = INT64_MAX};
  if (fit->nearest.choice) SW_TRY(keep(s, &fit->nearest, fit, out, w, d));
  for (int i = 0; i < MOST_TRIES && from < w->most && w->least < INT64_MAX && !(i && sw_search_is_over(s)); i++) {
    before = limit;
    SW_TRY(try_limit(s, limit, fit, out, w, &from, d));
    const bool leads_on = from == w->least && from > before + 1;
    limit = leads_on ? from : w->most == INT64_MAX ? INT64_MAX / 2 : from + (w->most - from) / 2;
  }
  return SW_OK;
}

static void put_bytes(sw_text *t, int64_t bytes) {
  sw_text_bytes(t, (double)bytes);
  if (bytes >= 1024) sw_text_printf(t, " (%lld bytes)", (long long)bytes);
}

/* What fills the peak of a plan. */
static sw_rc put_largest(const sw_plan *p, sw_text *t, sw_diag *d) {
  sw_arena mem = {0};
  sw_breakdown a;
  const sw_live *top[LIVE_SHOWN];
  int32_t n = 0;
  sw_rc rc = sw_plan_breakdown(p, &mem, &a, d);
  if (!rc) n = sw_breakdown_largest(&a, a.peak_step, LIVE_SHOWN, top);
  if (!rc && n) sw_text_puts(t, "; its peak is filled by");
  for (int32_t i = 0; !rc && i < n; i++) {
    sw_text_printf(t, "%s %s%s (", i ? "," : "", p->job.graph->values[top[i]->value].name,
                   top[i]->kind == SW_LIVE_COPY ? ", a copy" : "");
    sw_text_bytes(t, (double)top[i]->bytes);
    sw_text_puts(t, ")");
  }
  sw_arena_deinit(&mem);
  return rc;
}

static sw_rc explain(const sw_searcher *s, const sw_fit *fit, const smallest *w, sw_plan *out, sw_diag *d) {
  const int64_t left_out = sw_selection_pruned_inexact(s->selection);
  const int64_t held = w->least;
  const bool proven = !left_out && fit->capacity < held;
  sw_text t = {0};
  sw_rc rc = SW_OK;
  sw_text_puts(&t, proven ? "no plan fits into " : "no plan was found that fits into ");
  put_bytes(&t, fit->capacity);
  sw_text_puts(&t, " per device");
  if (held > 1) sw_text_printf(&t, "; every plan%s holds at least ", left_out ? " of the strategies enumerated" : "");
  if (held > 1) put_bytes(&t, held);
  if (left_out) sw_text_printf(&t, " (%lld strategies were left out)", (long long)left_out);
  if (w->peak < INT64_MAX) {
    int64_t peak;
    sw_text_puts(&t, "; the smallest capacity that would do is ");
    put_bytes(&t, w->peak);
    if (w->peak > held) sw_text_puts(&t, ", as far as found");
    rc = sw_search_take(s, &w->sol, fit, out, &peak, d);
    if (!rc) rc = put_largest(out, &t, d);
  }
  if (!rc) rc = SW_FAIL(d, proven ? SW_E_INFEASIBLE : SW_E_RESOURCE, SW_NOWHERE, "%s", sw_text_str(&t));
  sw_text_free(&t);
  if (s->o->none_fits) *s->o->none_fits = true;
  if (s->o->notes_mesh) sw_search_note_wider_mesh(s, d);
  return rc;
}

/* A plan that fits, from which the search goes on. */
static sw_rc improve_fitting(const sw_searcher *s, const sw_solution *sol, const sw_fit *fit, sw_plan *out,
                             sw_diag *d) {
  int64_t peak = 0;
  sw_solution now;
  SW_TRY(sw_search_solve(s, fit->capacity, sol, &now, d));
  if (now.choice && now.cost < sol->cost) SW_TRY(sw_search_take(s, &now, fit, out, &peak, d));
  if (peak > 0 && peak <= fit->capacity) return SW_OK;
  return sw_search_take(s, sol, fit, out, &peak, d);
}

static bool is_anything_required(const sw_request *r) {
  bool any = false;
  for (int32_t i = 0; i < r->n_annotations; i++) any = any || r->annotations[i].required;
  return any;
}

/* No choice is allowed, whatever the limit. Where nothing is required, each costs more than numbers count. */
static sw_rc fail_without_choice(const sw_searcher *s, sw_diag *d) {
  sw_text t = {0};
  if (is_anything_required(s->job.request))
    return SW_FAIL(d, SW_E_INFEASIBLE, SW_NOWHERE, "the required shardings exclude each other: no plan meets them all");
  sw_text_seconds(&t, sw_cost_seconds(s->job.machine, SW_FORBIDDEN));
  const sw_rc rc = SW_FAIL_INPUT(d, SW_NOWHERE,
                                 "every plan takes longer than %s, the longest step that is counted; expected fewer "
                                 "trips of loops, or smaller sizes",
                                 sw_text_str(&t));
  sw_text_free(&t);
  return rc;
}

sw_rc sw_search_least_memory(const sw_searcher *s, const sw_fit *fit, sw_plan *out, sw_diag *d) {
  smallest w;
  const double kOfLeft = 0.25; /* one of several solves */
  sw_searcher part = s->limit > 0 ? sw_search_for(s, kOfLeft * sw_search_left(s)) : *s;
  part.bound = 0; /* it may hold more than the capacity */
  SW_TRY(find_smallest(&part, fit, out, &w, d));
  if (w.least == INT64_MAX) SW_TRY(sw_requirements_check(&s->job, d)); /* it names both places */
  if (w.least == INT64_MAX && sw_selection_pruned_inexact(s->selection)) {
    return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE,
                   "no plan of the strategies enumerated meets all required shardings (%lld strategies were left out)",
                   (long long)sw_selection_pruned_inexact(s->selection));
  }
  if (w.least == INT64_MAX) return fail_without_choice(s, d);
  if (w.peak > fit->capacity) return explain(s, fit, &w, out, d);
  return improve_fitting(s, &w.sol, fit, out, d);
}
