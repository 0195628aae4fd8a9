/* Where strategies come from: all at once, or in stages.
 *
 * On a mesh of many axes an op has hundreds of strategies, most of them of no use. First those are searched that the
 * mesh has with all its axes merged into one, then those of meshes with neighbouring axes merged into two, then further
 * ones that go well with what was found, each from where the last ended. Where all together are few, all at once.
 */
#include "plan/search.h"

#include <math.h>

enum { MOST_AT_ONCE = 16384, FURTHER = 24 };

typedef struct stage {
  int runs;     /* of axes that go together (strategy.h) */
  bool further; /* besides, strategies near the plan so far */
  double part;  /* of the time that is left */
  double gap;   /* no less is asked for */
} stage;

static const stage kStages[] = {{1, false, 0.1, 0.01}, {2, false, 0.6, 0.005}, {2, true, 1, 0}};
enum { N_STAGES = sizeof kStages / sizeof kStages[0] };

void sw_search_close(sw_search *k) {
  sw_arena_deinit(&k->mem);
  sw_relaxation_deinit(k->relaxed);
  sw_selection_deinit(k->selection);
  k->relaxed = NULL;
  k->selection = NULL;
}

/* The problem of so many runs of axes, in place of the one before; of it nothing is known. */
static sw_rc build_problem(sw_search *k, int runs, sw_diag *d) {
  sw_search_close(k);
  k->selected.enumerate.runs = runs;
  k->selected.deadline_s = k->all.deadline_s;
  SW_TRY(sw_selection_build(&k->job, &k->selected, k->arena, &k->selection, &k->least, d));
  k->problem = sw_selection_problem(k->selection);
  k->bound = 0;
  k->best = k->nearest = (sw_solution){0};
  k->state = (sw_solve_state){0};
  k->limit = k->selected.capacity_bytes;
  k->lives = SW_LIVES_LEAST;
  k->over = k->shares_split = false;
  k->start = NULL;
  k->missing = NULL;
  return sw_relaxation_make(k->problem, k->arena, &k->relaxed, d);
}

/* Of what is left. Further strategies seldom lead to a better plan: they get no more than what led to the one so far.
 */
static double part_for(const sw_search *k, const stage *at) {
  const double now_s = sw_now_s(), deadline_s = k->all.deadline_s;
  if (!at->further || k->all.limit <= 0) return at->part;
  const double used = deadline_s > 0 ? now_s - k->started_s : (double)k->work,
               left = deadline_s > 0 ? deadline_s - now_s : sw_search_left(k, &k->all);
  return used < at->part * left ? used / left : at->part;
}

static void enter_column(sw_search *k, int column) {
  k->column = column;
  k->stage = column < 0 ? k->all : sw_search_part(k, &k->all, part_for(k, &kStages[column]));
  k->gap = fmax(k->asked->solve.gap, column < 0 ? 0 : kStages[column].gap);
}

sw_rc sw_search_build(sw_search *k, sw_diag *d) {
  const int asked = k->selected.enumerate.runs;
  sw_atoms atoms;
  sw_atoms_of(k->job.request, sw_machine_mesh(k->job.machine), &atoms);
  bool staged = asked == 0 && atoms.n > kStages[N_STAGES - 1].runs;
  SW_TRY(build_problem(k, staged ? kStages[0].runs : asked ? asked : SW_MAX_REFS, d));
  if (staged && sw_selection_pruned_inexact(k->selection) <= MOST_AT_ONCE) {
    staged = false;
    SW_TRY(build_problem(k, SW_MAX_REFS, d));
  }
  enter_column(k, staged ? 0 : -1);
  return SW_OK;
}

/* --- as a form: a round that adds strategies ---------------------------------------------------------------------- */

/* The plan so far, unless an earlier one is cheaper, or as cheap and nearer to its bound. */
static sw_rc keep_earlier(sw_search *k, sw_diag *d) {
  sw_plan *plan;
  int64_t peak;
  if (!k->best.choice) return SW_OK;
  SW_ARENA_NEW(plan, k->arena, 1, d);
  SW_TRY(sw_search_take(k, &k->best, plan, &peak, d));
  if (!k->earlier || plan->cost_units <= k->earlier->cost_units) k->earlier = plan;
  return SW_OK;
}

static sw_rc begin_columns(sw_search *k, bool *due, sw_diag *d) {
  *due = k->column >= 0;
  if (!*due) return SW_OK;
  SW_TRY(keep_earlier(k, d));
  *due = k->column + 1 < N_STAGES && !(k->earlier && sw_search_is_over(k, &k->all));
  if (!*due) enter_column(k, -1);
  return SW_OK;
}

static sw_rc make_columns(sw_search *k, sw_round *r, sw_diag *d) {
  const stage *to = &kStages[k->column + 1];
  if (to->further && k->earlier) {
    int32_t *choice;
    bool *missing, all;
    SW_TRY(sw_search_encode(k, k->earlier, &choice, &missing, &all, d));
    SW_TRY(sw_selection_further(k->selection, choice, FURTHER, k->arena, &k->selected.further, d));
  }
  r->given = true;
  const sw_rc rc = build_problem(k, to->runs, d);
  if (rc == SW_E_CANCELLED && k->earlier) k->answer = k->earlier; /* time is up */
  if (rc) sw_search_close(k);
  return rc == SW_E_CANCELLED && k->earlier ? SW_OK : rc;
}

static sw_rc add_columns(sw_search *k, sw_round *r, sw_diag *d) {
  (void)d;
  if (!k->selection) return SW_OK;
  if (k->earlier) k->from = k->earlier;
  enter_column(k, k->column + 1);
  r->added |= SW_ADDED_STRATEGIES;
  k->next = &sw_form_start;
  return SW_OK;
}

const sw_form sw_form_columns = {
    .name = "strategies", .closing = true, .begin = begin_columns, .make = make_columns, .add = add_columns};
