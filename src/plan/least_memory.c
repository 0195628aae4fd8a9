/* The plan that holds least. The problem counts what a plan holds, but for the buffers of its routes, so the least
 * limit that has a solution is searched for: any solution will do, and where there is none the solver says how much is
 * needed at least. From the plan found that holds least, tries are at what is proven so far, as long as that leads on,
 * at a plan at all, and ever half way to what is found. As soon as one fits, the search goes on from there.
 */
#include "plan/search.h"

#include "base/checked.h"

enum { MOST_TRIES = 96, LIVE_SHOWN = 5 };

typedef struct smallest {
  int tries;
  int64_t from;  /* what is worth trying at least */
  int64_t most;  /* a choice stays within this, as the problem counts; INT64_MAX: none is known */
  int64_t limit; /* of the try */
} smallest;

static sw_rc begin_least(sw_search *k, bool *due, sw_diag *d) {
  smallest *w;
  *due = !k->best.choice;
  if (!*due) return SW_OK;
  SW_ARENA_NEW(w, k->arena, 1, d);
  *w = (smallest){.from = 1, .most = INT64_MAX, .limit = 1};
  k->own = w;
  k->least_held = 1;
  k->lives = SW_LIVES_EXACT;
  if (k->nearest.choice) {
    sw_score score;
    SW_TRY(sw_problem_score(k->problem, k->nearest.choice, &score, d));
    w->most = (int64_t)score.peak;
  }
  return SW_OK;
}

/* Any solution that holds no more than the limit, copies as they are held. */
static sw_rc make_least(sw_search *k, sw_round *r, sw_diag *d) {
  const double kOfLeft = 0.1;
  const smallest *w = k->own;
  const sw_solve_options *o = &k->asked->solve;
  k->limit = w->limit;
  SW_TRY(sw_relaxation_problem(k->relaxed, &r->problem, d));
  r->problem.limit = w->limit;
  r->o = (sw_solve_options){.solver = o->solver, .gap = 1, .threads = o->threads, .seed = o->seed, .cancel = o->cancel};
  r->part = kOfLeft;
  return SW_OK;
}

/* The next limit to try; false: what holds least is known. */
static bool choose_limit(sw_search *k, smallest *w, const sw_round *r, bool holds) {
  const int64_t tried = w->limit;
  sw_score score;
  if (holds && !sw_problem_score(k->problem, r->now.choice, &score, NULL))
    w->most = sw_min_i64(w->most, (int64_t)score.peak);
  if (!holds) w->from = tried < INT64_MAX / 2 ? tried + 1 : INT64_MAX;
  if (!holds && r->now.status == SW_SOLVE_INFEASIBLE) {
    w->from = k->least_held = sw_max_i64(w->from, r->now.least_peak);
    if (k->least_held > INT64_MAX / 2) k->least_held = INT64_MAX;
  }
  const bool leads_on = w->from == k->least_held && w->from > tried + 1;
  w->limit = leads_on ? w->from : w->most == INT64_MAX ? INT64_MAX / 2 : w->from + (w->most - w->from) / 2;
  return ++w->tries < MOST_TRIES && w->from < w->most && k->least_held < INT64_MAX;
}

/* Once more where the choice is not allowed after all, or holds more than was counted; else at another limit. */
static sw_rc add_least(sw_search *k, sw_round *r, sw_diag *d) {
  smallest *w = k->own;
  bool lives = false;
  if (r->now.choice) SW_TRY(sw_relaxation_refine_lives(k->relaxed, r->now.choice, w->limit, &lives, d));
  if (lives) r->added |= SW_ADDED_LIVES;
  r->again = lives || (r->now.choice && r->cost >= SW_FORBIDDEN && (r->added & SW_ADDED_PRICES));
  if (r->kept) k->next = &sw_form_exact;
  if (r->kept) r->again = false;
  if (r->kept || r->again) return SW_OK;
  r->again = choose_limit(k, w, r, r->now.choice != NULL);
  r->added |= SW_ADDED_CUT;
  return SW_OK;
}

const sw_form sw_form_least = {
    .name = "least memory", .part = 0.25, .insists = true, .begin = begin_least, .make = make_least, .add = add_least};

/* --- in words ----------------------------------------------------------------------------------------------------- */

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

static sw_rc explain(const sw_search *k, sw_plan *out, sw_diag *d) {
  const int64_t left_out = sw_selection_pruned_inexact(k->selection), capacity = k->selected.capacity_bytes;
  const int64_t held = k->least_held;
  const bool proven = !left_out && capacity < held;
  sw_text t = {0};
  sw_rc rc = SW_OK;
  sw_text_puts(&t, proven ? "no plan fits into " : "no plan was found that fits into ");
  put_bytes(&t, capacity);
  sw_text_puts(&t, " per device");
  if (held > 1) sw_text_printf(&t, "; every plan%s holds at least ", left_out ? " of the strategies enumerated" : "");
  if (held > 1) put_bytes(&t, held);
  if (left_out) sw_text_printf(&t, " (%lld strategies were left out)", (long long)left_out);
  if (k->nearest.choice) {
    int64_t peak;
    sw_text_puts(&t, "; the smallest capacity that would do is ");
    put_bytes(&t, k->nearest_peak);
    if (k->nearest_peak > held) sw_text_puts(&t, ", as far as found");
    rc = sw_search_take(k, &k->nearest, out, &peak, d);
    if (!rc) rc = put_largest(out, &t, d);
  }
  if (!rc) rc = SW_FAIL(d, proven ? SW_E_INFEASIBLE : SW_E_RESOURCE, SW_NOWHERE, "%s", sw_text_str(&t));
  sw_text_free(&t);
  if (k->asked->none_fits) *k->asked->none_fits = true;
  return rc;
}

static bool is_anything_required(const sw_request *r) {
  bool any = false;
  for (int32_t i = 0; i < r->n_annotations; i++) any = any || r->annotations[i].required;
  return any;
}

/* No choice is allowed, whatever the limit. Where nothing is required, each costs more than numbers count. */
static sw_rc fail_without_choice(const sw_search *k, sw_diag *d) {
  sw_text t = {0};
  if (is_anything_required(k->job.request))
    return SW_FAIL(d, SW_E_INFEASIBLE, SW_NOWHERE, "the required shardings exclude each other: no plan meets them all");
  sw_text_seconds(&t, sw_cost_seconds(k->job.machine, SW_FORBIDDEN));
  const sw_rc rc = SW_FAIL_INPUT(d, SW_NOWHERE,
                                 "every plan takes longer than %s, the longest step that is counted; expected fewer "
                                 "trips of loops, or smaller sizes",
                                 sw_text_str(&t));
  sw_text_free(&t);
  return rc;
}

sw_rc sw_search_fail(sw_search *k, sw_plan *out, sw_diag *d) {
  const int64_t left_out = sw_selection_pruned_inexact(k->selection);
  if (k->least_held < INT64_MAX) return explain(k, out, d);
  SW_TRY(sw_requirements_check(&k->job, d)); /* it names both places */
  if (!left_out) return fail_without_choice(k, d);
  return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE,
                 "no plan of the strategies enumerated meets all required shardings (%lld strategies were left out)",
                 (long long)left_out);
}
