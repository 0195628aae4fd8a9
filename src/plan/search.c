/* The search: graph -> selection problem -> solver -> plan, and the recount that the plan is judged by.
 *
 * The problem is a relaxation in how it counts copies that several uses share (selection.h): it is solved, refined
 * where its solution was too cheap, and solved again, until the best true cost meets the bound or time is up. In
 * between the best choice is improved under prices that are never too low.
 *
 * So it is in memory: the relaxation counts the least that values and their copies hold, and is refined where a
 * solution holds more than the limit. What the problem does not know of, buffers of a route at work, may take the plan
 * past the capacity all the same: then the limit is lowered by the excess and solved again, and what is proven is what
 * was proven under the capacity itself.
 */
#include "plan/search.h"

#include <math.h>

#include "base/checked.h"

enum { MOST_REFINEMENTS = 100, MOST_BOUNDS = 10 };

/* A relaxation is not worth more effort than what it leaves out: the first is solved to 1 %, the next to half of what
 * the last one counted too little. Where that is less than the gap asked for, what it leaves of it is wanted, or half.
 */
static const double kFirstGap = 0.01, kOfExcess = 0.5, kOfGap = 0.5;

/* Nor more than this part of the time that is left, as long as it is known to count too little. */
static const double kOfTime = 0.25, kOfSymmetricTime = 0.5;

/* When the first solution costs so much more than the bound, copies are no detail. */
static const double kMuch = 0.08;

/* A gap below this closes sooner by solving alone. */
static const double kWorthSplitting = 0.01;

/* A choice read off messages that costs so much more than they prove says nothing about what to refine. */
static const double kAstray = 0.05;

static bool is_within_gap(const sw_solution *x, double gap) {
  return x->choice && (double)(x->cost - x->bound) <= gap * (double)x->cost;
}

bool sw_search_is_close(const sw_searcher *s, const sw_solution *x) { return is_within_gap(x, s->o->solve.gap); }

/* Near enough; or time is up, with an answer. */
static bool is_done(const sw_searcher *s, const sw_solution *x) {
  return sw_search_is_close(s, x) || (x->choice && sw_search_is_over(s));
}

/* One problem, in a part of what is left. It starts from the choice given (NULL: nothing cut, no copies), and from the
 * prices and messages of the problem before, which was much the same. */
static sw_rc solve_relaxed_once(const sw_searcher *s, int64_t limit, double gap, double part, const int32_t *choice,
                                int64_t bound, sw_solution *out, sw_diag *d) {
  sw_problem problem = *sw_relaxation_problem(s->relaxed);
  sw_solve_state kept = {0}, from, to = {0};
  sw_solve_options o = s->o->solve;
  problem.limit = limit;
  if (s->state) kept = *s->state;
  kept.choice = choice;
  kept.bound = bound;
  SW_TRY(sw_relaxation_recall(s->relaxed, &kept, s->arena, &from, d));
  o.from = &from;
  o.to = s->state ? &to : NULL;
  o.symmetric = s->symmetric;
  o.gap = gap;
  SW_TRY(sw_search_call(s, &problem, part, &o, s->arena, out, d));
  return to.n_links ? sw_relaxation_keep(s->relaxed, &to, s->arena, s->state, d) : SW_OK;
}

/* What a choice came to. */
typedef struct search_found {
  int64_t cost; /* truly */
  bool raised;  /* it seemed less, as prices were not exact */
  bool fits;    /* with the copies that it makes */
} search_found;

sw_rc sw_search_cost(const sw_searcher *s, const int32_t *choice, int64_t *cost, bool *raised, sw_diag *d) {
  const double kNearTime = 0.2, now_s = sw_now_s(); /* for routes near those that are taken */
  bool here = false;
  SW_TRY(sw_selection_settle(s->selection, choice,
                             s->deadline_s > 0 ? now_s + kNearTime * fmax(0, s->deadline_s - now_s) : 0, &here, d));
  if (here) SW_TRY(sw_relaxation_reprice(s->relaxed, d));
  if (raised) *raised = here;
  *cost = sw_problem_cost(s->problem, choice);
  return SW_OK;
}

/* The relaxation counts the choice as it costs, and its copies as they are held where that is more than the limit. */
static sw_rc refine_relaxation(const sw_searcher *s, int64_t limit, const int32_t *choice, bool *refined, sw_diag *d) {
  bool lives = false;
  SW_TRY(sw_relaxation_refine(s->relaxed, choice, refined, d));
  if (s->lives == SW_LIVES_EXACT) SW_TRY(sw_relaxation_refine_lives(s->relaxed, choice, limit, &lives, d));
  *refined = *refined || lives;
  return SW_OK;
}

sw_rc sw_search_refine(const sw_searcher *s, const int32_t *choice, bool *refined, sw_diag *d) {
  int64_t cost;
  bool raised;
  SW_TRY(sw_search_cost(s, choice, &cost, &raised, d));
  SW_TRY(sw_relaxation_refine(s->relaxed, choice, refined, d));
  *refined = *refined || raised;
  return SW_OK;
}

/* What a round of solving, or of improving, came to: kept where it is better, and holds no more than the limit. */
static sw_rc keep_better(const sw_searcher *s, int64_t limit, const sw_solution *now, sw_solution *best,
                         search_found *f, sw_diag *d) {
  sw_problem problem = *s->problem;
  sw_score score;
  SW_TRY(sw_search_cost(s, now->choice, &f->cost, &f->raised, d));
  problem.limit = limit;
  SW_TRY(sw_problem_score(&problem, now->choice, &score, d));
  f->fits = score.peak <= limit;
  s->spent->over = s->spent->over || !f->fits;
  if (!f->fits || (best->choice && f->cost >= best->cost)) return SW_OK;
  best->choice = now->choice;
  best->cost = f->cost;
  best->solver = now->solver;
  return SW_OK;
}

/* What messages alone prove about the problem as it is now, and the choice they lead to: soon there, where layers
 * repeat.
 */
static sw_rc bound_now(const sw_searcher *s, int64_t limit, sw_solution *best, bool *refined, sw_diag *d) {
  sw_problem problem = *sw_relaxation_problem(s->relaxed);
  sw_bound_options o = {.cost = best->choice ? best->cost : INT64_MAX,
                        .gap = s->o->solve.gap,
                        .work_limit = sw_search_part(s, 1),
                        .deadline_s = s->deadline_s,
                        .cancel = s->o->solve.cancel};
  sw_solution now = {.solver = "native"};
  sw_bound found;
  sw_score score;
  search_found came_to;
  problem.limit = limit;
  SW_ARENA_NEW(now.choice, s->arena, problem.n_nodes, d);
  found.choice = now.choice;
  SW_TRY(sw_problem_bound(&problem, &o, &found, d));
  s->spent->work += found.work;
  if (!found.any) return SW_OK;
  best->bound = sw_max_i64(best->bound, found.bound);
  SW_TRY(sw_problem_score(&problem, now.choice, &score, d));
  bool astray = score.feasible && (double)(score.cost - found.bound) > kAstray * (double)found.bound;
  if (!found.settled || !score.feasible || astray) return SW_OK;
  SW_TRY(keep_better(s, limit, &now, best, &came_to, d));
  SW_TRY(refine_relaxation(s, limit, now.choice, refined, d));
  *refined = *refined || came_to.raised;
  return SW_OK;
}

static double missing_part(const sw_solution *x) {
  return x->choice && x->cost > 0 ? (double)(x->cost - x->bound) / (double)x->cost : 1;
}

/* A search in rounds. */
typedef struct search_loop {
  const sw_searcher *s;
  int64_t limit;
  const int32_t *start;
  double gap;               /* of the next relaxation */
  bool refined, split_once; /* refined by the last round; shares were split anew */
  int improve_at, pause;    /* rounds in between double while it is of no use */
  double longest;           /* that a round took which came as near as it should, 0: none did */
  double gained;            /* by the bound in the last round, of what was missing */
  sw_solution over;         /* holds more than the limit */
} search_loop;

static bool is_worth_splitting(const sw_searcher *s, const sw_solution *best) {
  return !sw_search_is_close(s, best) && !sw_search_is_over(s) && missing_part(best) > kWorthSplitting;
}

/* Shares under which the bound is high are worth the time of some solutions, once it is known that copies matter. */
static sw_rc split_for_bound(const sw_searcher *s, const sw_solution *best, sw_diag *d) {
  enum { PASSES = 400 };
  sw_split_options o = {.passes = PASSES,
                        .target = best->cost,
                        .bound = best->bound,
                        .gap = s->o->solve.gap,
                        .work_limit = sw_search_part(s, kOfTime),
                        .deadline_s = s->deadline_s,
                        .cancel = s->o->solve.cancel};
  int64_t work = 0;
  *s->state = (sw_solve_state){0};
  sw_rc rc = sw_relaxation_split(s->relaxed, &o, &work, d);
  s->spent->work += work;
  return rc;
}

/* Where little more than the gap is missing, shares soon close it; refinements of one choice lead to the next. */
static bool is_soon_closed(const search_loop *c, const sw_solution *best) {
  const double kNear = 3; /* gaps */
  return !c->split_once && !c->s->start && is_worth_splitting(c->s, best) &&
         missing_part(best) <= kNear * c->s->o->solve.gap;
}

/* ... refined as long as that choice costs more than it seems and this leads on, at most so many times. */
static sw_rc bound(search_loop *c, int most, sw_solution *best, sw_diag *d) {
  enum { PATIENCE = 1 };
  const double kLeastGain = 0.3; /* of what is missing */
  const sw_searcher *s = c->s;
  bool refined = s->o->solve.solver == SW_SOLVER_AUTO || s->o->solve.solver == SW_SOLVER_NATIVE;
  int idle = 0;
  for (int k = 0; refined && k < most && idle < PATIENCE && !sw_search_is_close(s, best) && !sw_search_is_over(s);
       k++) {
    double before = missing_part(best);
    refined = false;
    SW_TRY(bound_now(s, c->limit, best, &refined, d));
    idle = missing_part(best) < (1 - kLeastGain) * before ? 0 : idle + 1;
    if (!refined || !is_soon_closed(c, best)) continue;
    c->split_once = true;
    idle = 0;
    SW_TRY(split_for_bound(s, best, d));
  }
  return SW_OK;
}

/* What the search starts from is the first plan, where it keeps the limit. */
static sw_rc keep_start(const sw_searcher *s, int64_t limit, const int32_t *start, sw_solution *best, sw_diag *d) {
  sw_problem problem = *sw_relaxation_problem(s->relaxed);
  sw_solution now = {.solver = "warm"};
  sw_score score;
  search_found came_to;
  problem.limit = limit;
  SW_ARENA_NEW(now.choice, s->arena, problem.n_nodes, d);
  SW_TRY(sw_relaxation_complete(s->relaxed, start, now.choice, d));
  SW_TRY(sw_problem_score(&problem, now.choice, &score, d));
  return score.feasible ? keep_better(s, limit, &now, best, &came_to, d) : SW_OK;
}

/* A relaxation is drawn to what it counts too little. So what is known is improved under prices that count nothing too
 * little, for as much as the relaxation took. */
static sw_rc improve_priced(const sw_searcher *s, int64_t limit, double took, sw_solution *best, bool *better,
                            sw_diag *d) {
  sw_solution now;
  search_found came_to;
  const int64_t before = best->cost;
  bool refined;
  sw_searcher brief = sw_search_for(s, took);
  brief.state = NULL; /* other prices of copies, other messages */
  SW_TRY(sw_relaxation_price_whole(s->relaxed, true, d));
  SW_TRY(solve_relaxed_once(&brief, limit, s->o->solve.gap, 1, best->choice, 0, &now, d));
  if (now.choice) SW_TRY(keep_better(s, limit, &now, best, &came_to, d));
  *better = best->cost < before;
  SW_TRY(sw_relaxation_price_whole(s->relaxed, false, d));
  return *better ? sw_relaxation_refine(s->relaxed, best->choice, &refined, d) : SW_OK;
}

/* How near to solve the next relaxation when the last one counted `excess` too little, of the cost. */
static double next_gap(double asked, double excess) {
  return excess > asked ? fmax(kOfExcess * excess, asked) : fmax(kOfGap * asked, asked - excess);
}

/* When what was repaired at first leaves a gap, more is. */
static sw_rc repair_more(search_loop *c, sw_solution *best, sw_diag *d) {
  const sw_searcher *s = c->s;
  if (!best->choice || sw_search_is_close(s, best)) return SW_OK;
  int32_t *start = sw_arena_copy(s->arena, best->choice, (size_t)s->problem->n_nodes, sizeof *start, d);
  if (!start) return SW_E_RESOURCE;
  SW_TRY(sw_search_repair(s, c->limit, SW_REPAIR_MORE, start, d));
  SW_TRY(keep_start(s, c->limit, start, best, d));
  return bound(c, MOST_BOUNDS, best, d);
}

static sw_rc conclude_status(sw_solution *out) {
  out->bound = out->choice ? sw_min_i64(out->bound, out->cost) : out->bound;
  if (out->choice) out->status = out->bound == out->cost ? SW_SOLVE_OPTIMAL : SW_SOLVE_FEASIBLE;
  return SW_OK;
}

/* What the next round may take of what is left. Layers that choose alike prove nothing: where their problem is harder
 * to close than it was before, what it leads to is good enough. */
static double part_of_time(const search_loop *c) {
  const double kOfLongest = 4, left = sw_search_left(c->s);
  if (!c->s->symmetric) return c->refined ? kOfTime : 1;
  double part = c->refined ? kOfSymmetricTime : 1;
  return c->longest > 0 && left > 0 ? fmin(part, kOfLongest * c->longest / left) : part;
}

/* Shares are split anew where much is missing at first, or where refinements don't lead on and are not near: as
 * long as each closes a part of what is missing, some do so sooner. */
static bool is_time_to_split(const search_loop *c, int round, const sw_solution *best) {
  const double kLeadsOn = 0.15, kFar = 2; /* gaps */
  if (c->split_once || !is_worth_splitting(c->s, best)) return false;
  return round == 0 || (c->gained <= kLeadsOn && missing_part(best) > kFar * c->s->o->solve.gap);
}

/* What is known is improved in some rounds; at first shares are split anew where much is missing. */
static sw_rc improve_in_turn(search_loop *c, int round, double took, sw_solution *out, bool *better, sw_diag *d) {
  const sw_searcher *s = c->s;
  *better = false;
  if (round == 0 && missing_part(out) > kMuch) c->improve_at = 0;
  if (round == c->improve_at && !out->choice) c->improve_at++;
  if (round != c->improve_at) return SW_OK;
  SW_TRY(improve_priced(s, c->limit, took, out, better, d));
  c->pause = *better ? 1 : 2 * c->pause;
  c->improve_at += c->pause;
  if (!is_time_to_split(c, round, out)) return SW_OK;
  c->split_once = c->refined = true;
  return split_for_bound(s, out, d);
}

/* Reductions had no time to end: what is chosen is no answer to the problem, and says nothing about what to refine. */
static bool was_cut_short(const sw_solution *x, double gap) {
  return x->presolve.nodes == 0 && (double)(x->cost - x->bound) > gap * (double)x->cost;
}

/* Solve, refine, and again. An infeasible problem ends it with that status in *out, when nothing else is known. */
static sw_rc solve_and_refine(search_loop *c, sw_solution *out, sw_diag *d) {
  const sw_searcher *s = c->s;
  const double least_gap = s->o->solve.gap;
  for (int round = 0; round < MOST_REFINEMENTS; round++) {
    sw_solution now;
    search_found came_to;
    bool better;
    const int64_t proven = out->bound;
    double began = sw_search_used(s), part = part_of_time(c);
    const int32_t *from = out->choice ? out->choice : c->start;
    SW_TRY(solve_relaxed_once(s, c->limit, c->gap, part, from, out->bound, &now, d));
    if (now.status == SW_SOLVE_INFEASIBLE && !out->choice) {
      *out = now;
      return SW_OK;
    }
    out->bound = sw_max_i64(out->bound, now.bound);
    if (!now.choice) return SW_OK;
    double took = sw_search_used(s) - began;
    if (is_within_gap(&now, c->gap)) c->longest = fmax(c->longest, took);
    SW_TRY(keep_better(s, c->limit, &now, out, &came_to, d));
    if (!came_to.fits) c->over = now;
    if (!came_to.fits) c->over.cost = came_to.cost;
    if (!came_to.fits && s->lives == SW_LIVES_LEAST && is_within_gap(&now, c->gap))
      return SW_OK; /* lives must be counted */
    if (out->cost > proven) c->gained = (double)(out->bound - proven) / (double)(out->cost - proven);
    bool cut = was_cut_short(&now, c->gap);
    c->refined = false;
    if (!cut) SW_TRY(refine_relaxation(s, c->limit, now.choice, &c->refined, d));
    c->refined = c->refined || came_to.raised;
    if (sw_search_is_close(s, out) || sw_search_is_over(s)) return SW_OK;
    SW_TRY(improve_in_turn(c, round, took, out, &better, d));
    if (sw_search_is_close(s, out) || sw_search_is_over(s)) return SW_OK;
    bool no_more = s->symmetric && !cut; /* what is left to find is in all nodes */
    bool ended = part >= 1 || is_within_gap(&now, c->gap);
    if (!c->refined && !better && (no_more || (ended && c->gap <= kOfGap * least_gap))) return SW_OK;
    double excess = (double)(came_to.cost - now.cost) / (double)came_to.cost;
    if (cut && part >= 1) return SW_OK;
    if (cut) continue; /* with more time */
    c->gap = c->refined ? fmin(c->gap, next_gap(least_gap, excess)) : kOfGap * least_gap;
  }
  return SW_OK;
}

/* How many nodes there are of a symmetry class, on average; 0 where nodes are few or classes many. */
static sw_rc count_repeats(const sw_searcher *s, int32_t *out, sw_diag *d) {
  enum { FEWEST = 6, LEAST = 2000 }; /* of a class; few nodes are soon searched as they are */
  const sw_problem *p = sw_relaxation_problem(s->relaxed);
  sw_problem q;
  sw_arena mem = {0};
  *out = 0;
  if (p->n_nodes < LEAST) return SW_OK;
  int32_t *class_of = sw_arena_alloc(&mem, (size_t)p->n_nodes, sizeof *class_of, d);
  sw_rc rc = class_of ? sw_problem_quotient(p, &mem, &q, class_of, d) : SW_E_RESOURCE;
  if (!rc && q.n_nodes <= p->n_nodes / FEWEST) *out = p->n_nodes / q.n_nodes;
  sw_arena_deinit(&mem);
  return rc;
}

/* First with layers that are alike choosing alike: rounds cost what a few layers do, and lead to copies that count and
 * to a choice that is near the best, but prove nothing. *ran: there are layers that are alike. */
static sw_rc run_symmetric(search_loop *c, sw_solution *out, bool *ran, sw_diag *d) {
  enum { MANY = 12 }; /* of a kind; where they are fewer, rounds over all soon close more than the last of a gap here */
  const double kOfLeft = 0.6, kLeastGap = 5e-4, kOfSymmetricGap = 2; /* who wants less must look at all nodes */
  sw_plan_options o = *c->s->o;
  const sw_searcher *all = c->s;
  sw_searcher classes = all->limit > 0 ? sw_search_for(all, kOfLeft * sw_search_left(all)) : *all;
  sw_solution found = *out;
  int32_t of_each;
  SW_TRY(count_repeats(c->s, &of_each, d));
  *ran = of_each > 0;
  if (!*ran) return SW_OK;
  c->longest = 0;
  o.solve.gap = fmax(kLeastGap, (of_each < MANY ? kOfSymmetricGap : kOfGap) * o.solve.gap);
  classes.o = &o;
  classes.symmetric = true;
  c->s = &classes;
  sw_rc rc = solve_and_refine(c, &found, d);
  c->s = all;
  if (!rc && found.choice && (!out->choice || found.cost < out->cost)) {
    found.bound = out->bound;
    *out = found;
  }
  *classes.state = (sw_solve_state){0};
  return rc;
}

/* What layers that are alike have led to, in all nodes. */
static sw_rc prove_anew(search_loop *c, sw_solution *out, sw_diag *d) {
  SW_TRY(bound(c, MOST_BOUNDS, out, d));
  if (!c->split_once && out->bound > 0 &&
      is_worth_splitting(c->s, out)) { /* messages are there: soon seen what it helps */
    c->split_once = true;
    SW_TRY(split_for_bound(c->s, out, d));
    SW_TRY(bound(c, MOST_BOUNDS, out, d));
  }
  c->gap = fmax(c->s->o->solve.gap, fmin(kFirstGap, kOfExcess * missing_part(out)));
  c->refined = true;
  return SW_OK;
}

sw_rc sw_search_solve(const sw_searcher *s, int64_t limit, const sw_solution *before, sw_solution *out, sw_diag *d) {
  const double least_gap = s->o->solve.gap;
  search_loop c = {
      .s = s,
      .limit = limit,
      .start = before ? before->choice : s->start,
      .gap = s->start ? least_gap : fmax(least_gap, kFirstGap), /* from a start the first problem is refined */
      .refined = true,
      .split_once = before || s->bound > 0, /* what was proven before, was so with shares that do */
      .improve_at = 1,
      .pause = 1};
  *out = (sw_solution){.status = SW_SOLVE_UNKNOWN, .bound = before ? before->bound : s->bound};
  if (s->start && !before) SW_TRY(keep_start(s, limit, c.start, out, d));
  const bool knows = s->bound > 0 && s->state && s->state->n_links > 0;
  if (!knows && !is_done(s, out)) SW_TRY(bound(&c, s->missing && !before ? 1 : MOST_BOUNDS, out, d));
  if (s->missing && !before) SW_TRY(repair_more(&c, out, d));
  if (missing_part(out) < kFirstGap) c.gap = least_gap;
  if (!s->start && !is_done(s, out)) {
    bool ran;
    SW_TRY(run_symmetric(&c, out, &ran, d));
    if (ran) SW_TRY(prove_anew(&c, out, d));
  }
  if (!is_done(s, out)) SW_TRY(solve_and_refine(&c, out, d));
  if (!out->choice && out->status != SW_SOLVE_INFEASIBLE) {
    out->choice = c.over.choice;
    out->cost = c.over.cost;
    out->solver = c.over.solver;
  }
  return out->status == SW_SOLVE_INFEASIBLE ? SW_OK : conclude_status(out);
}
