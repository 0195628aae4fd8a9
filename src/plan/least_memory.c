/* The plan that holds least. What the problem counts is not what a plan holds (resharded copies are missing, and a
 * value counts to the end that a smaller copy may take the place of), so its limit is a handle and no measure: solve at
 * a few limits from the least feasible one upwards, and keep the plan whose exact peak is smallest. What is proven of
 * all plans comes from a problem that counts no more than any plan holds (strategy/least_held.h).
 *
 *   no limit below 1930 bytes; limit 1930: a plan of 2700; limit 1988: one of 2560; limit 2046: one of 2810
 *
 * The limits do not depend on the capacity that was asked for, so that the capacity a message names is found again.
 */
#include "plan/search.h"

#include "base/checked.h"
#include "strategy/least_held.h"

enum { MOST_RAISES = 64, LIVE_SHOWN = 5 };

/* Limits to try, as multiples of the least feasible one. */
static const double kSteps[] = {1, 1.03, 1.06, 1.1, 1.15, 1.25, 1.4, 1.7, 2};
enum { N_STEPS = sizeof kSteps / sizeof kSteps[0] };

typedef struct smallest {
  int64_t least; /* no choice stays below this, as the problem counts */
  int64_t peak;  /* of the best solution; INT64_MAX: none */
  sw_solution sol;
} smallest;

/* The lowest limit that is not proven infeasible, and its solution; INT64_MAX when no limit helps. A solver that does
 * not say how much is needed has the limit doubled. */
static sw_rc raise_limit(const sw_searcher *s, smallest *w, sw_solution *sol, sw_diag *d) {
  int64_t limit = 1;
  for (int i = 0; i < MOST_RAISES; i++) {
    SW_TRY(sw_search_solve(s, limit, NULL, sol, d));
    if (sol->status != SW_SOLVE_INFEASIBLE) break;
    w->least = limit + 1;
    limit = sol->least_peak > limit ? sol->least_peak : limit > INT64_MAX / 2 ? INT64_MAX : 2 * limit;
    if (sol->least_peak == limit) w->least = limit;
    if (w->least > INT64_MAX / 2) w->least = INT64_MAX;
    if (w->least == INT64_MAX) break;
  }
  return SW_OK;
}

static sw_rc keep(const sw_searcher *s, const sw_solution *sol, const sw_fit *fit, sw_plan *out, smallest *w,
                  sw_diag *d) {
  int64_t peak;
  if (!sol->choice) return SW_OK;
  SW_TRY(sw_search_take(s, sol, fit, out, &peak, d));
  if (peak < w->peak) {
    w->peak = peak;
    w->sol = *sol;
  }
  return SW_OK;
}

static sw_rc find_smallest(const sw_searcher *s, const sw_fit *fit, sw_plan *out, smallest *w, sw_diag *d) {
  sw_solution sol = {0};
  *w = (smallest){.least = 1, .peak = INT64_MAX};
  SW_TRY(raise_limit(s, w, &sol, d));
  if (w->least == INT64_MAX) return SW_OK;
  SW_TRY(keep(s, &sol, fit, out, w, d));
  for (int i = 1; i < N_STEPS && w->peak > fit->capacity && !sw_search_is_over(s); i++) {
    SW_TRY(sw_search_solve(s, (int64_t)((double)w->least * kSteps[i]), NULL, &sol, d));
    SW_TRY(keep(s, &sol, fit, out, w, d));
  }
  return SW_OK;
}

/* What every plan of the problem's strategies holds at least. */
static sw_rc prove_held(const sw_searcher *s, int64_t *held, sw_diag *d) {
  const double kOfLeft = 0.25;
  sw_problem p;
  *held = 1;
  SW_TRY(sw_selection_least_held(s->selection, s->arena, &p, d));
  for (int i = 0; i < MOST_RAISES; i++) {
    const sw_solve_options *from = &s->o->solve;
    sw_solve_options o = {.solver = from->solver,
                          .gap = 1, /* any solution ends it */
                          .threads = from->threads,
                          .seed = from->seed,
                          .cancel = from->cancel};
    sw_solution sol;
    p.limit = *held;
    SW_TRY(sw_search_call(s, &p, kOfLeft, &o, s->arena, &sol, d));
    if (sol.status != SW_SOLVE_INFEASIBLE || *held > INT64_MAX / 2) break;
    *held = sw_max_i64(*held + 1, sol.least_peak);
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
    sw_text_printf(t, "%s %s%s (", i ? "," : "", p->graph->values[top[i]->value].name,
                   top[i]->kind == SW_LIVE_COPY ? ", a copy" : "");
    sw_text_bytes(t, (double)top[i]->bytes);
    sw_text_puts(t, ")");
  }
  sw_arena_deinit(&mem);
  return rc;
}

static sw_rc explain(const sw_searcher *s, const sw_fit *fit, const smallest *w, sw_plan *out, sw_diag *d) {
  const int64_t left_out = sw_selection_pruned_inexact(s->selection);
  int64_t held;
  SW_TRY(prove_held(s, &held, d));
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
  return rc;
}

sw_rc sw_search_least_memory(const sw_searcher *s, const sw_fit *fit, sw_plan *out, sw_diag *d) {
  smallest w;
  const double kOfLeft = 0.25; /* one of several solves */
  sw_searcher part = s->limit > 0 ? sw_search_for(s, kOfLeft * sw_search_left(s)) : *s;
  part.bound = 0; /* it may hold more than the capacity */
  SW_TRY(find_smallest(&part, fit, out, &w, d));
  if (w.least == INT64_MAX) SW_TRY(sw_requirements_check(s->g, s->machine, d)); /* it names both places */
  if (w.least == INT64_MAX && sw_selection_pruned_inexact(s->selection)) {
    return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE,
                   "no plan of the strategies enumerated meets all required shardings (%lld strategies were left out)",
                   (long long)sw_selection_pruned_inexact(s->selection));
  }
  if (w.least == INT64_MAX) {
    return SW_FAIL(d, SW_E_INFEASIBLE, SW_NOWHERE, "the required shardings exclude each other: no plan meets them all");
  }
  if (w.peak > fit->capacity) return explain(s, fit, &w, out, d);
  int64_t peak;
  return sw_search_take(s, &w.sol, fit, out, &peak, d);
}
