/* The whole problem, as a relaxation that counts copies which several uses share, and memory, too little at first.
 *
 *   messages   what messages alone prove, and the choice they lead to: soon there, where layers repeat
 *   alike      nodes of one symmetry class choose alike, the size of a few layers: copies that count, no bound
 *   proof      messages again, in all nodes
 *   whole      solved, each round nearer
 *   exact      the same with lives counted exactly
 *
 * Each round refines the relaxation by its choice. In between the best choice is improved under prices that count no
 * copy too little, as a relaxation is drawn to what it counts too little; and shares are split anew.
 */
#include "plan/search.h"

#include <math.h>

#include "base/checked.h"

enum { MOST_MESSAGES = 10 };

/* A relaxation is not worth more effort than what it leaves out: the first is solved to 1 %, the next to a part of what
 * the last one counted too little (unsure_gap). Where that is less than the gap asked for, what it leaves of it is
 * wanted, or that part. Nor more than a part of the time that is left, as long as it is known to count too little
 * (unsure_part). */
static const double kFirstGap = 0.01;

/* When the first solution costs so much more than the bound, copies are no detail. */
static const double kMuch = 0.08;

static const sw_parameters *by(const sw_search *k) { return sel_parameters(k->asked->solve.parameters); }

static sw_rc take_problem(sw_search *k, sw_round *r, sw_diag *d) {
  SW_TRY(sw_relaxation_problem(k->relaxed, &r->problem, d));
  r->problem.limit = k->limit;
  r->o = k->asked->solve;
  return SW_OK;
}

/* Shares under which the bound is high are worth the time of some solutions, once it is known that copies matter. */
static sw_rc split_shares(sw_search *k, sw_round *r, int64_t bound, sw_diag *d) {
  sw_split_options o = {.passes = (int)by(k)->split_passes,
                        .target = k->best.cost,
                        .bound = bound,
                        .gap = k->gap,
                        .work_limit = sw_search_steps(k, &k->form, by(k)->unsure_part),
                        .deadline_s = k->form.deadline_s,
                        .cancel = k->asked->solve.cancel,
                        .parameters = k->asked->solve.parameters};
  int64_t work = 0;
  k->shares_split = true;
  r->added |= SW_ADDED_SHARES;
  sw_rc rc = sw_relaxation_split(k->relaxed, &o, &work, d);
  k->work += work;
  return rc;
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

typedef struct by_messages {
  int round;
  bool any, splits; /* they prove something; shares may be split by them */
} by_messages;

static bool is_native(const sw_search *k) {
  return k->asked->solve.solver == SW_SOLVER_AUTO || k->asked->solve.solver == SW_SOLVER_NATIVE;
}

static sw_rc new_messages(sw_search *k, bool splits, sw_diag *d) {
  by_messages *m;
  SW_ARENA_NEW(m, k->arena, 1, d);
  m->splits = splits;
  k->own = m;
  return SW_OK;
}

static sw_rc begin_by_messages(sw_search *k, bool *due, sw_diag *d) {
  const bool knows = k->is_question && k->state.n_links > 0;
  *due = is_native(k) && !knows;
  k->repeats = false;
  return new_messages(k, false, d);
}

static sw_rc make_messages(sw_search *k, sw_round *r, sw_diag *d) {
  r->by_messages = true;
  r->proves = k->limit == k->selected.capacity_bytes;
  return take_problem(k, r, d);
}

/* Refined as long as the choice costs more than it seems. */
static sw_rc add_messages(sw_search *k, sw_round *r, sw_diag *d) {
  by_messages *m = k->own;
  m->any = m->any || r->now.bound > 0;
  if (r->now.choice) SW_TRY(sw_search_refine(k, r->now.choice, &r->added, d));
  if (sw_search_is_closed(k)) return SW_OK;
  r->again = r->added && ++m->round < MOST_MESSAGES;
  if (r->again || !m->any || !m->splits || k->shares_split || sw_search_missing(k) <= by(k)->split_missing)
    return SW_OK;
  m->round = 0;
  r->again = true;
  return split_shares(k, r, k->bound, d);
}

const sw_form sw_form_messages = {
    .name = "messages", .part = 1, .begin = begin_by_messages, .make = make_messages, .add = add_messages};

/* What layers that are alike have led to, in all nodes. */
static sw_rc begin_proof(sw_search *k, bool *due, sw_diag *d) {
  *due = k->repeats && is_native(k);
  if (k->repeats) k->state = (sw_solve_state){0};
  return new_messages(k, true, d);
}

const sw_form sw_form_proof = {
    .name = "proof", .part = 1, .begin = begin_proof, .make = make_messages, .add = add_messages};

/* --- solving ------------------------------------------------------------------------------------------------------ */

typedef struct relaxed {
  bool alike;    /* nodes of one symmetry class choose alike */
  double wanted; /* the gap at which to end */
  double gap;    /* of the next round */
  int64_t bound; /* of those that choose alike */
  int round;
  bool refined;       /* by the last round */
  bool dear;          /* the next round is under prices that count nothing too little */
  bool ends;          /* the last round is that, unless the next is better */
  int dear_at, pause; /* rounds in between double while it is of no use */
  double took;        /* by the last round */
  double excess;      /* that the last round counted too little, of the cost */
} relaxed;

static int64_t bound_for(const sw_search *k, const relaxed *w) { return w->alike ? w->bound : k->bound; }

static double missing_of(const sw_search *k, const relaxed *w) {
  const sw_solution *x = &k->best;
  return x->choice && x->cost > 0 ? (double)(x->cost - bound_for(k, w)) / (double)x->cost : 1;
}

static bool is_done(const sw_search *k, const relaxed *w) {
  return (k->best.choice && missing_of(k, w) <= w->wanted) || sw_search_is_over(k, &k->form);
}

static sw_rc begin_relaxed(sw_search *k, double wanted, bool alike, sw_diag *d) {
  relaxed *w;
  SW_ARENA_NEW(w, k->arena, 1, d);
  *w = (relaxed){.alike = alike, .wanted = wanted, .refined = true, .bound = k->bound, .dear_at = 1, .pause = 1};
  w->gap = k->start ? wanted : fmax(wanted, fmin(kFirstGap, by(k)->unsure_gap * sw_search_missing(k)));
  k->own = w;
  return SW_OK;
}

static sw_rc make_relaxed(sw_search *k, sw_round *r, sw_diag *d) {
  const relaxed *w = k->own;
  sw_solve_state kept = {0};
  if (w->dear) r->name = "dear";
  if (w->dear) sw_relaxation_price_whole(k->relaxed, true);
  SW_TRY(take_problem(k, r, d));
  if (!w->dear) kept = k->state; /* other prices of copies, other messages */
  kept.choice = k->best.choice ? k->best.choice : k->start;
  kept.bound = w->dear ? 0 : k->bound;
  SW_TRY(sw_relaxation_recall(k->relaxed, &kept, k->arena, &r->from, d));
  r->o.from = &r->from;
  r->o.to = w->dear ? NULL : &r->to;
  r->o.symmetric = w->alike;
  r->o.gap = w->dear ? w->wanted : w->gap;
  r->proves = !w->dear && !w->alike && k->limit == k->selected.capacity_bytes;
  r->most = w->dear ? fmax(1, w->took) : 0;
  r->part = w->dear ? 1 : w->refined ? by(k)->unsure_part : 1;
  return SW_OK;
}

static sw_rc read_relaxed(sw_search *k, sw_round *r, sw_diag *d) {
  return r->to.n_links ? sw_relaxation_keep(k->relaxed, &r->to, k->arena, &k->state, d) : SW_OK;
}

/* How near to solve the next relaxation. */
static void choose_gap(const sw_search *k, relaxed *w) {
  const double part = by(k)->unsure_gap, next = w->excess > w->wanted ? fmax(part * w->excess, w->wanted)
                                                                      : fmax(part * w->wanted, w->wanted - w->excess);
  w->gap = w->refined ? fmin(w->gap, next) : part * w->wanted;
}

/* Shares are split anew once, where much is missing. */
static bool is_time_to_split(const sw_search *k, const relaxed *w) {
  return !k->shares_split && !is_done(k, w) && missing_of(k, w) > by(k)->split_missing;
}

/* After a round under prices that count nothing too little. */
static sw_rc add_dear(sw_search *k, relaxed *w, sw_round *r, sw_diag *d) {
  sw_relaxation_price_whole(k->relaxed, false);
  if (r->kept) SW_TRY(sw_search_refine(k, k->best.choice, &r->added, d));
  w->dear = false;
  w->pause = r->kept ? 1 : 2 * w->pause;
  w->dear_at += w->pause;
  if (is_time_to_split(k, w)) {
    SW_TRY(split_shares(k, r, bound_for(k, w), d));
    w->refined = true;
  }
  w->ends = w->ends && !r->kept && !(r->added & SW_ADDED_SHARES);
  choose_gap(k, w);
  r->again = !w->ends && !is_done(k, w);
  return SW_OK;
}

/* Is the next round to be one under prices that count nothing too little? */
static bool is_dear_due(const sw_search *k, relaxed *w) {
  if (w->round == 0 && missing_of(k, w) > kMuch) w->dear_at = 0;
  if (w->round == w->dear_at && !k->best.choice) w->dear_at++;
  return w->round == w->dear_at;
}

/* Refine by what was chosen; nothing to refine, and nearer than wanted: that is all. */
static sw_rc add_relaxed(sw_search *k, sw_round *r, sw_diag *d) {
  relaxed *w = k->own;
  const sw_solution *x = &r->now;
  if (w->dear) return add_dear(k, w, r, d);
  if (!x->choice) return SW_OK;
  const bool near = sw_is_within(x->cost, x->bound, w->gap);
  w->bound = sw_max_i64(w->bound, x->bound);
  w->took = r->took;
  if (r->exceeds && near && k->lives == SW_LIVES_LEAST) return SW_OK; /* lives must be counted */
  SW_TRY(sw_search_refine(k, x->choice, &r->added, d));
  w->refined = r->added != 0;
  if (is_done(k, w)) return SW_OK;
  w->excess = (double)(r->cost - x->cost) / (double)r->cost;
  const bool ended = (r->part >= 1 || near) && w->gap <= by(k)->unsure_gap * w->wanted;
  w->ends = !w->refined && (ended || w->alike); /* there what is left to find is in all nodes */
  w->dear = is_dear_due(k, w);
  if (!w->dear) choose_gap(k, w);
  w->round++;
  r->again = w->dear || !w->ends;
  return SW_OK;
}

/* How many nodes there are of a symmetry class, on average; 0 where nodes are few or classes many. */
static sw_rc count_repeats(const sw_search *k, int32_t *out, sw_diag *d) {
  enum { FEWEST = 6, LEAST = 2000 }; /* of a class; few nodes are soon searched as they are */
  sw_problem p, q;
  sw_arena mem = {0};
  *out = 0;
  SW_TRY(sw_relaxation_problem(k->relaxed, &p, d));
  if (p.n_nodes < LEAST) return SW_OK;
  int32_t *class_of = sw_arena_alloc(&mem, (size_t)p.n_nodes, sizeof *class_of, d);
  sw_rc rc = class_of ? sw_problem_quotient(&p, &mem, &q, class_of, d) : SW_E_RESOURCE;
  if (!rc && q.n_nodes <= p.n_nodes / FEWEST) *out = p.n_nodes / q.n_nodes;
  sw_arena_deinit(&mem);
  return rc;
}

static sw_rc begin_alike(sw_search *k, bool *due, sw_diag *d) {
  enum { MANY = 12 }; /* of a kind; where they are fewer, rounds over all soon close more than the last of a gap here */
  const double kLeastGap = 5e-4, kOfSymmetricGap = 2; /* who wants less must look at all nodes */
  int32_t of_each = 0;
  if (!k->start) SW_TRY(count_repeats(k, &of_each, d));
  *due = k->repeats = of_each > 0;
  return begin_relaxed(k, fmax(kLeastGap, (of_each < MANY ? kOfSymmetricGap : by(k)->unsure_gap) * k->gap), true, d);
}

static sw_rc begin_whole(sw_search *k, bool *due, sw_diag *d) {
  *due = true;
  return begin_relaxed(k, k->gap, false, d);
}

static sw_rc begin_exact(sw_search *k, bool *due, sw_diag *d) {
  *due = true;
  k->lives = SW_LIVES_EXACT;
  k->limit = k->selected.capacity_bytes;
  if (!k->best.choice) k->form = sw_search_part(k, &k->form, 1.0 / 2); /* the least memory may have to be found, too */
  return begin_relaxed(k, k->gap, false, d);
}

const sw_form sw_form_alike = {
    .name = "alike", .part = 0.3, .begin = begin_alike, .make = make_relaxed, .read = read_relaxed, .add = add_relaxed};
const sw_form sw_form_whole = {.name = "whole",
                               .part = 1.0 / 2,
                               .insists = true,
                               .begin = begin_whole,
                               .make = make_relaxed,
                               .read = read_relaxed,
                               .add = add_relaxed};
const sw_form sw_form_exact = {
    .name = "exact", .part = 1, .begin = begin_exact, .make = make_relaxed, .read = read_relaxed, .add = add_relaxed};
