#include "cli/would_fit.h"

#include "plan/levers.h"
#include "schedule/layers.h"
#include "shardwright/clock.h"

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
  if (some && whole) sw_text_printf(t, "recompute %d layers", l->of_layers);
  if (some && !whole) sw_text_printf(t, "%s in %d layers", kWhat[l->how], l->of_layers);
  if (some) return;
  sw_text_puts(t, named ? "recompute " : kWhat[l->how]);
  if (layers && l->how != SW_RECOMPUTE_AS_WRITTEN && l->how != SW_RECOMPUTE_NONE)
    sw_text_printf(t, "%s%s", named ? "" : " of ", layers);
}

static void put_price(const sw_comparison *c, double base_s, sw_text *t) {
  sw_text_puts(t, ": ");
  if (base_s > 0) sw_text_printf(t, "%+.0f %%, ", 1e2 * (c->breakdown.total_s / base_s - 1));
  sw_text_bytes(t, (double)c->breakdown.peak_bytes);
  sw_text_printf(t, " (%s)", c->name);
}

/* Levers of one kind follow each other: the better of them. */
static const sw_comparison *best_of_kind(const sw_ruled_levers *l, int first, int64_t capacity) {
  const sw_comparison *best = NULL;
  for (int i = first; i < l->n && l->at[i].how == l->at[first].how && !l->at[i].of_layers == !l->at[first].of_layers;
       i++) {
    const sw_comparison *here = sw_lever_best(&l->at[i], capacity);
    if (here && here->breakdown.peak_bytes <= capacity && (!best || here->breakdown.total_s < best->breakdown.total_s))
      best = here;
  }
  return best;
}

/* --- on more devices ---------------------------------------------------------------------------------------------- */

/* By rule, with all of layers made again, on the mesh. False: nothing fits. */
static bool note_on_mesh(const sw_job *j, const sw_mesh *mesh, const char *layers, int64_t capacity, sw_arena *arena,
                         sw_diag *d) {
  sw_schedule s = {0};
  sw_ruled_lever full = {.how = SW_RECOMPUTE_FULL, .schedule = &s};
  sw_job job;
  sw_text t = {0};
  const sw_comparison *best = NULL;
  if (sw_job_on_mesh(j, mesh, arena, &job, NULL)) return false;
  if (sw_lever_choose(&job, full.how, capacity, arena, &s, NULL)) return false;
  if (!sw_job_of_stage(&job, &s, 0, arena, &full.job, NULL) && !sw_baselines_build(&full.job, arena, &full.made, NULL))
    best = sw_lever_best(&full, capacity);
  const bool fits = best && best->breakdown.peak_bytes <= capacity;
  if (fits) {
    put_what(&full, layers, &t);
    put_price(best, 0, &t);
    sw_text_puts(&t, " on ");
    sw_mesh_print(mesh, &t);
    sw_diag_note(d, "what would fit: %s", sw_text_str(&t));
  }
  sw_text_free(&t);
  sw_schedule_deinit(&s);
  return fits;
}

static bool note_more_devices(const sw_job *j, const sw_plan_options *o, const char *layers, sw_arena *arena,
                              sw_diag *d) {
  enum { MOST_DOUBLED = 4 };
  const double kMost_s = 10, until_s = sw_now_s() + kMost_s;
  sw_mesh mesh = *sw_machine_mesh(j->machine);
  if (!mesh.n_axes || mesh.device_ids) return false;
  for (int k = 0; k < MOST_DOUBLED && (o->solve.work_limit || sw_now_s() < until_s); k++) {
    mesh.axis[0].size *= 2;
    if (sw_cancelled(o->solve.cancel)) return false;
    if (note_on_mesh(j, &mesh, layers, sw_plan_capacity(j, o), arena, d)) return true;
  }
  return false;
}

/* What holds least, where that is less than the program as it is does by rule. */
static void note_nearest(const sw_ruled_levers *l, const sw_comparison *written, const char *layers, double base_s,
                         sw_diag *d) {
  const sw_ruled_lever as_is = {.made = written}, *nearest = sw_levers_best(l, 0);
  const sw_comparison *least = sw_lever_best(&as_is, 0);
  sw_text t = {0};
  if (!nearest) return;
  if (least && least->breakdown.peak_bytes <= sw_lever_best(nearest, 0)->breakdown.peak_bytes) return;
  put_what(nearest, layers, &t);
  put_price(sw_lever_best(nearest, 0), base_s, &t);
  sw_diag_note(d, "what holds least by rule: %s; more devices, or a smaller batch, would do", sw_text_str(&t));
  sw_text_free(&t);
}

void sw_note_levers(const sw_job *j, const sw_plan_options *o, sw_arena *arena, sw_diag *d) {
  const int64_t capacity = sw_plan_capacity(j, o);
  const sw_comparison *written;
  const char *name;
  sw_layers layers;
  sw_ruled_levers all = {0};
  sw_text t = {0};
  if (j->schedule || sw_layers_of_early(j->graph, arena, &layers, NULL)) return;
  if (sw_layers_name(j->graph, &layers, arena, &name, NULL)) return;
  if (sw_baselines_build(j, arena, &written, NULL)) return;
  if (!o->levers && sw_levers_open(j, capacity, arena, &all, NULL)) return;
  const sw_ruled_levers *l = o->levers ? o->levers : &all;
  for (int i = 0; i < l->n; i++) {
    const sw_comparison *best =
        i && l->at[i].how == l->at[i - 1].how && !l->at[i].of_layers ? NULL : best_of_kind(l, i, capacity);
    if (!best) continue;
    if (t.n) sw_text_puts(&t, "; ");
    put_what(&l->at[i], name, &t);
    put_price(best, fastest_s(written), &t);
  }
  if (t.n) sw_diag_note(d, "what would fit: %s; or --recompute search", sw_text_str(&t));
  if (!t.n && !note_more_devices(j, o, name, arena, d)) note_nearest(l, written, name, fastest_s(written), d);
  sw_text_free(&t);
  sw_levers_close(&all);
}
