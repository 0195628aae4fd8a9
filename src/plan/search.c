/* The search: graph -> selection problem -> plan, in rounds over forms of the problem (search.h, docs/selection.md). */
#include "plan/search.h"

#include <math.h>

#include "base/checked.h"
#include "shardwright/log.h"

/* --- the loop ----------------------------------------------------------------------------------------------------- */

static const sw_form *const kForms[] = {
    &sw_form_start,   &sw_form_messages, &sw_form_around, &sw_form_alike,   &sw_form_rule,
    &sw_form_proof,   &sw_form_whole,    &sw_form_prices, &sw_form_sources, &sw_form_exact,
    &sw_form_columns, &sw_form_least,    &sw_form_known,  &sw_form_simple,  NULL};

static bool has_a_turn(const sw_search *k, const sw_form *f) {
  if (f->closing) return true;
  if (sw_search_is_closed(k)) return false;
  return !sw_search_is_over(k, &k->stage) || (f->insists && !k->best.choice);
}

static const sw_form *const *turn_of(const sw_form *f) {
  const sw_form *const *at = kForms;
  while (*at != f) at++;
  return at;
}

/* Search the form of the problem, within what the round may take. */
static sw_rc solve_round(sw_search *k, sw_round *r, sw_diag *d) {
  const double kLeast_s = 0.05, deadline_s = k->form.deadline_s;
  sw_search_budget b = k->form;
  if (r->most > 0 && b.limit > 0) b.limit = fmin(b.limit, (double)k->work + r->most);
  if (r->most > 0 && b.limit > 0) b.counted = true;
  r->o.deadline_s = deadline_s > 0 ? fmax(deadline_s, sw_now_s() + kLeast_s) : 0;
  /* What is foreseen. Without a deadline it would be one, though work alone is limited. */
  r->o.time_limit_s = deadline_s > 0 && b.limit > 0 ? r->part * sw_search_left(k, &b) / SW_STEPS_PER_S : 0;
  r->o.work_limit = sw_search_steps(k, &b, r->part);
  r->o.parameters = k->asked->solve.parameters;
  SW_TRY(sw_solve(&r->problem, &r->o, k->arena, &r->now, d));
  k->work += r->now.work;
  r->took = (double)r->now.work;
  return SW_OK;
}

/* What messages alone prove of it, and the choice they lead to; none, where it says nothing of what to refine. */
static sw_rc read_messages(sw_search *k, sw_round *r, sw_diag *d) {
  const double kAstray = 0.05; /* it costs so much more than they prove */
  const sw_bound_options o = {.cost = k->best.choice ? k->best.cost : INT64_MAX,
                              .gap = k->gap,
                              .work_limit = sw_search_steps(k, &k->form, r->part),
                              .deadline_s = k->form.deadline_s,
                              .cancel = k->asked->solve.cancel,
                              .parameters = k->asked->solve.parameters};
  int32_t *choice;
  sw_bound found;
  sw_score score;
  SW_ARENA_NEW(choice, k->arena, r->problem.n_nodes, d);
  found.choice = choice;
  SW_TRY(sw_problem_bound(&r->problem, &o, &found, d));
  k->work += found.work;
  if (!found.any) return SW_OK;
  r->now.bound = found.bound;
  r->now.solver = "native";
  SW_TRY(sw_problem_score(&r->problem, choice, &score, d));
  const bool astray = (double)(score.cost - found.bound) > kAstray * (double)found.bound;
  if (found.settled && score.feasible && !astray) r->now.choice = choice;
  return SW_OK;
}

/* Bound and improve the form of the problem. */
static sw_rc solve_form(sw_search *k, const sw_form *f, sw_round *r, sw_diag *d) {
  if (r->given) return SW_OK;
  SW_TRY(r->by_messages ? read_messages(k, r, d) : solve_round(k, r, d));
  return f->read ? f->read(k, r, d) : SW_OK;
}

/* What a round added, and what is known after it. */
static void tell_round(sw_search *k, const sw_form *f, const sw_round *r) {
  static const char *const kAdded[] = {"prices of routes", "copies", "lives",     "shares of copies",
                                       "a cut of memory",  "prices", "strategies"};
  const double s_per_unit = sw_cost_seconds(k->job.machine, 1);
  sw_text t = {0};
  k->rounds++;
  if (sw_log_get_level() < SW_LOG_INFO) return;
  sw_text_printf(&t, "round %d, %s:", k->rounds, r->name ? r->name : f->name);
  if (k->best.choice) sw_text_puts(&t, r->kept ? " better, " : " ");
  if (k->best.choice) sw_text_seconds(&t, s_per_unit * (double)k->best.cost);
  if (!k->best.choice) sw_text_puts(&t, " no plan yet");
  if (k->bound > 0) sw_text_puts(&t, ", bound ");
  if (k->bound > 0) sw_text_seconds(&t, s_per_unit * (double)k->bound);
  if (k->best.choice) sw_text_printf(&t, ", gap %.2f %%", 1e2 * sw_search_missing(k));
  for (int i = 0, n = 0; i < (int)(sizeof kAdded / sizeof *kAdded); i++)
    if (r->added >> i & 1) sw_text_printf(&t, "%s%s", n++ ? ", " : "; adds ", kAdded[i]);
  sw_log(SW_LOG_INFO, "%s", sw_text_str(&t));
  sw_text_free(&t);
}

static sw_rc search_in_turns(sw_search *k, sw_diag *d) {
  for (const sw_form *const *at = kForms; *at && k->selection;) {
    const sw_form *f = *at;
    bool due = has_a_turn(k, f);
    k->form = sw_search_part(k, &k->stage, f->part);
    k->next = NULL;
    if (due) SW_TRY(f->begin(k, &due, d));
    while (due) {
      sw_round r = {.part = 1};
      sw_arena_deinit(&k->mem);
      SW_TRY(f->make(k, &r, d));            /* the form of the problem as it stands */
      SW_TRY(solve_form(k, f, &r, d));      /* its bound, its choice */
      SW_TRY(sw_search_judge(k, f, &r, d)); /* what is proven, and better, is kept */
      SW_TRY(f->add(k, &r, d));             /* what was counted too little, or is missing */
      tell_round(k, f, &r);
      due = r.again && (f->closing || !sw_search_is_closed(k)) && !sw_search_is_over(k, &k->form);
    }
    at = k->next ? turn_of(k->next) : at + 1;
  }
  return SW_OK;
}

/* --- from the problem to a plan ----------------------------------------------------------------------------------- */

sw_rc sw_search_run(sw_search *k, sw_plan *out, sw_diag *d) {
  int64_t peak;
  k->limit = k->selected.capacity_bytes;
  SW_TRY(search_in_turns(k, d));
  if (!k->best.choice && (!k->answer || k->answer->cost_units >= SW_FORBIDDEN)) return sw_search_fail(k, out, d);
  if (!k->answer) SW_TRY(sw_search_take(k, &k->best, out, &peak, d));
  if (k->answer) *out = *k->answer;
  k->bound = sw_min_i64(sw_max_i64(k->bound, k->least), out->cost_units);
  return SW_OK;
}

sw_rc sw_search_open(sw_search *k, sw_plan *out, sw_diag *d) {
  sw_search_begin(k);
  k->from = k->asked->start;
  sw_rc rc = sw_search_build(k, d);
  if (!rc) rc = sw_search_run(k, out, d);
  return rc == SW_E_CANCELLED ? sw_search_fall_back(k, out, d) : rc;
}
