#include "cli/would_fit.h"

#include "plan/levers.h"
#include "schedule/layers.h"

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
      [SW_RECOMPUTE_NONE] = "drop the program's checkpoints",
  };
  const bool named = layers && l->how == SW_RECOMPUTE_FULL;
  sw_text_printf(t, "%s", named ? "recompute " : kWhat[l->how]);
  if (layers && l->how != SW_RECOMPUTE_AS_WRITTEN && l->how != SW_RECOMPUTE_NONE)
    sw_text_printf(t, "%s%s", named ? "" : " of ", layers);
}

static void put_price(const sw_comparison *c, double base_s, sw_text *t) {
  if (base_s > 0) sw_text_printf(t, ": %+.0f %%, ", 1e2 * (c->breakdown.total_s / base_s - 1));
  sw_text_bytes(t, (double)c->breakdown.peak_bytes);
  sw_text_printf(t, " (%s)", c->name);
}

/* Levers of one kind follow each other: the better of them. */
static const sw_comparison *best_of_kind(const sw_ruled_levers *l, int first, int64_t capacity) {
  const sw_comparison *best = NULL;
  for (int i = first; i < l->n && l->at[i].how == l->at[first].how; i++) {
    const sw_comparison *here = sw_lever_best(&l->at[i], capacity);
    if (here && here->breakdown.peak_bytes <= capacity && (!best || here->breakdown.total_s < best->breakdown.total_s))
      best = here;
  }
  return best;
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
  if (!o->levers && sw_levers_open(j, arena, &all, NULL)) return;
  const sw_ruled_levers *l = o->levers ? o->levers : &all;
  for (int i = 0; i < l->n; i++) {
    const sw_comparison *best = i && l->at[i].how == l->at[i - 1].how ? NULL : best_of_kind(l, i, capacity);
    if (!best) continue;
    if (t.n) sw_text_puts(&t, "; ");
    put_what(&l->at[i], name, &t);
    put_price(best, fastest_s(written), &t);
  }
  if (t.n) sw_diag_note(d, "what would fit: %s; or --recompute search", sw_text_str(&t));
  sw_text_free(&t);
  sw_levers_close(&all);
}
