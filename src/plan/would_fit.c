/* What would fit, where no plan of a job does: what is made again in plans made by rule that fit, and what that costs
 * over the fastest by rule without a limit; a larger mesh; a smaller batch is for those who can read the model again.
 */
#include "plan/would_fit.h"

#include <math.h>

#include "plan/levers.h"
#include "plan/search.h"
#include "schedule/layers.h"

/* --- a try -------------------------------------------------------------------------------------------------------- */

bool sw_fit_is_over(const sw_fit_limits *l) {
  return sw_cancelled(l->asked->solve.cancel) || (!l->asked->solve.work_limit && sw_now_s() >= l->until_s);
}

/* What a search may take. False: there is too little left for one. */
static bool limit_try(const sw_fit_limits *l, int tries_left, sw_plan_options *o) {
  const int64_t kLeast = 100000000, work = l->asked->solve.work_limit;
  const double left_s = l->until_s - sw_now_s();
  o->solve = (sw_solve_options){
      .solver = o->solve.solver, .gap = 1, .threads = 1, .seed = o->solve.seed, .cancel = o->solve.cancel};
  o->solve.work_limit = work / (INT64_C(2) * SW_FIT_TRIES);
  if (work > 0) return work >= kLeast;
  o->solve.time_limit_s = left_s / tries_left;
  return left_s > 0;
}

static sw_rc find_by_full(const sw_job *j, int64_t capacity, sw_arena *arena, sw_fitting *out, bool *any, sw_diag *d) {
  sw_schedule s = {0};
  sw_ruled_lever full = {.how = SW_RECOMPUTE_FULL, .schedule = &s};
  SW_TRY(sw_lever_choose(j, full.how, capacity, arena, &s, d));
  sw_rc rc = sw_job_of_stage(j, &s, 0, arena, &full.job, d);
  if (!rc) rc = sw_baselines_build(&full.job, arena, &full.made, d);
  const sw_comparison *best = rc || full.job.graph == j->graph ? NULL : sw_lever_best(&full, capacity);
  *any = best && best->breakdown.peak_bytes <= capacity;
  if (*any) *out = (sw_fitting){best->breakdown.total_s, best->breakdown.peak_bytes, true};
  sw_schedule_deinit(&s);
  return rc;
}

sw_rc sw_find_fitting(const sw_job *j, const sw_fit_limits *l, int tries_left, sw_arena *arena, sw_fitting *out,
                      bool *any, sw_diag *d) {
  sw_plan_options o = {.solve = l->asked->solve, .selection = l->asked->selection};
  sw_search k = {.job = *j, .asked = &o, .arena = arena};
  sw_plan plan;
  sw_breakdown a;
  o.selection.capacity_bytes = sw_plan_capacity(j, &o);
  k.selected = o.selection;
  k.selected.cancel = o.solve.cancel;
  SW_TRY(sw_search_find_known(&k, &plan, any, d));
  if (!*any && limit_try(l, tries_left, &o)) {
    const sw_rc rc = sw_search_open(&k, &plan, d);
    sw_search_close(&k);
    *any = !rc;
    if (rc && rc != SW_E_INFEASIBLE && rc != SW_E_RESOURCE) return rc;
  }
  if (!*any && l->recomputes && !j->schedule) return find_by_full(j, o.selection.capacity_bytes, arena, out, any, d);
  if (!*any) return SW_OK;
  SW_TRY(sw_plan_breakdown(&plan, arena, &a, d));
  *any = a.peak_bytes <= o.selection.capacity_bytes;
  *out = (sw_fitting){a.total_s, a.peak_bytes, false};
  return SW_OK;
}

/* --- in words ----------------------------------------------------------------------------------------------------- */

void sw_fitting_print(const sw_fitting *f, const sw_fit_limits *l, sw_text *out) {
  if (l->base_s > 0)
    sw_text_printf(out, "%+.0f %%", round(1e2 * (f->total_s / l->base_s - 1)) + 0.0); /* no "-0 %" */
  else
    sw_text_seconds(out, f->total_s);
  sw_text_puts(out, ", ");
  sw_text_bytes(out, (double)f->peak_bytes);
  if (f->recomputes) sw_text_puts(out, ", with layers recomputed");
}

/* The fastest by rule that breaks nothing, whatever it holds; 0: there is none. */
static double fastest_s(const sw_comparison *made) {
  double best = 0;
  for (int b = 0; b < SW_BASELINE_COUNT; b++)
    if (made[b].made && !made[b].breaks && (best <= 0 || made[b].breakdown.total_s < best))
      best = made[b].breakdown.total_s;
  return best;
}

/* "recompute attention of layers.{0..79}" */
static void put_what(const sw_ruled_lever *l, const char *layers, sw_text *t) {
  static const char *const kWhat[SW_RECOMPUTE_COUNT] = {
      [SW_RECOMPUTE_AS_WRITTEN] = "gather weights again",
      [SW_RECOMPUTE_MEGATRON] = "recompute attention",
      [SW_RECOMPUTE_TORCHTITAN] = "recompute all but attention and every second product",
      [SW_RECOMPUTE_FULL] = "recompute layers",
      [SW_RECOMPUTE_WHOLE] = "recompute whole layers",
      [SW_RECOMPUTE_NONE] = "drop the program's checkpoints",
  };
  const bool named = layers && l->how == SW_RECOMPUTE_FULL;
  const bool some = l->of_layers > 0, whole = l->how == SW_RECOMPUTE_FULL;
  if (some && whole) sw_text_printf(t, "recompute %d layer%s", l->of_layers, l->of_layers > 1 ? "s" : "");
  if (some && !whole) sw_text_printf(t, "%s in %d layer%s", kWhat[l->how], l->of_layers, l->of_layers > 1 ? "s" : "");
  if (some) return;
  sw_text_puts(t, named ? "recompute " : kWhat[l->how]);
  if (layers && l->how != SW_RECOMPUTE_AS_WRITTEN && l->how != SW_RECOMPUTE_NONE)
    sw_text_printf(t, "%s%s", named ? "" : " of ", layers);
}

static void put_priced(const sw_ruled_lever *lever, const sw_comparison *c, const char *layers, const sw_fit_limits *l,
                       sw_text *t) {
  put_what(lever, layers, t);
  sw_text_puts(t, ": ");
  sw_fitting_print(&(sw_fitting){c->breakdown.total_s, c->breakdown.peak_bytes, false}, l, t);
  sw_text_printf(t, " (%s)", c->name);
}

/* What holds least, where that is less than the program as it is does by rule. */
static void note_nearest(const sw_ruled_levers *all, const sw_comparison *written, const char *layers,
                         const sw_fit_limits *l, sw_diag *d) {
  const sw_ruled_lever as_is = {.made = written}, *nearest = sw_levers_best(all, 0);
  const sw_comparison *least = sw_lever_best(&as_is, 0);
  sw_text t = {0};
  if (!nearest) return;
  if (least && least->breakdown.peak_bytes <= sw_lever_best(nearest, 0)->breakdown.peak_bytes) return;
  put_priced(nearest, sw_lever_best(nearest, 0), layers, l, &t);
  sw_diag_note(d, "what holds least by rule: %s", sw_text_str(&t));
  sw_text_free(&t);
}

/* The fastest, and slower ones that hold less. *any: one fits. */
static void note_levers(const sw_ruled_levers *all, const char *layers, int64_t capacity, const sw_fit_limits *l,
                        bool *any, sw_diag *d) {
  enum { MOST_TOLD = 3 };
  int64_t below = capacity + 1;
  for (int told = 0; told < MOST_TOLD; told++) {
    const sw_comparison *best = NULL;
    sw_text t = {0};
    int of = -1;
    for (int i = 0; i < all->n; i++) {
      const sw_comparison *here = sw_lever_best(&all->at[i], below - 1);
      if (!here || here->breakdown.peak_bytes >= below) continue;
      if (!best || here->breakdown.total_s < best->breakdown.total_s) best = here, of = i;
    }
    if (!best) return;
    *any = true;
    below = best->breakdown.peak_bytes;
    put_priced(&all->at[of], best, layers, l, &t);
    sw_diag_note(d, "what would fit: %s%s", sw_text_str(&t), told ? "" : "; perhaps less, with --recompute search");
    sw_text_free(&t);
  }
}

static void note_wider(const sw_job *j, const sw_fit_limits *l, sw_diag *d) {
  sw_mesh mesh;
  sw_fitting f;
  sw_text t = {0};
  if (sw_find_wider_mesh(j, l, &mesh, &f)) {
    sw_mesh_print(&mesh, &t);
    sw_text_puts(&t, ", as far as found: ");
    sw_fitting_print(&f, l, &t);
    sw_diag_note(d, "the smallest mesh with more devices along %s that would do is %s", mesh.axis[0].name,
                 sw_text_str(&t));
  }
  sw_text_free(&t);
}

/* Of the job, which runs as it is written; *any: one fits. */
static sw_rc note_by_lever(const sw_job *j, const sw_comparison *written, const sw_fit_limits *l, sw_arena *arena,
                           const char **layers, bool *any, sw_diag *d) {
  const sw_plan_options *o = l->asked;
  const int64_t capacity = sw_plan_capacity(j, o);
  sw_layers found;
  sw_ruled_levers opened = {0};
  SW_TRY(sw_layers_of_early(j->graph, arena, &found, NULL));
  SW_TRY(sw_layers_name(j->graph, &found, arena, layers, NULL));
  if (!o->levers) SW_TRY(sw_levers_open(j, capacity, arena, &opened, NULL));
  const sw_ruled_levers *all = o->levers ? o->levers : &opened;
  note_levers(all, *layers, capacity, l, any, d);
  if (!*any) note_nearest(all, written, *layers, l, d);
  sw_levers_close(&opened);
  return SW_OK;
}

void sw_note_fits(const sw_job *j, sw_fit_limits *l, sw_arena *arena, sw_diag *d) {
  const sw_comparison *written;
  const char *layers = NULL;
  bool lever = false;
  const double kMost_s = 10, limit_s = l->asked->solve.time_limit_s;
  l->until_s = sw_now_s() + (limit_s > 0 ? fmin(kMost_s, limit_s) : kMost_s);
  if (sw_baselines_build(j, arena, &written, NULL)) return;
  l->base_s = fastest_s(written);
  if (!j->schedule && note_by_lever(j, written, l, arena, &layers, &lever, d)) return;
  l->recomputes = !lever;
  note_wider(j, l, d);
}

void sw_note_what_fits(const sw_job *j, const sw_plan_options *o, sw_arena *arena, sw_diag *d) {
  sw_fit_limits l = {.asked = o};
  sw_note_fits(j, &l, arena, d);
}
