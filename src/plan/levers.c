/* Ways to run a program in less memory, and the plans made by rule for each (plan.h). */
#include "plan/levers.h"

#include "schedule/layers.h"

/* --- the best of those made by rule ------------------------------------------------------------------------------- */

/* The faster one that fits, or that which holds less where neither does. */
static bool is_better_made(const sw_comparison *a, const sw_comparison *b, int64_t capacity) {
  if (!a->made || a->breaks) return false;
  if (!b || !b->made || b->breaks) return true;
  const bool fits = a->breakdown.peak_bytes <= capacity, other = b->breakdown.peak_bytes <= capacity;
  if (fits != other) return fits;
  return fits ? a->breakdown.total_s < b->breakdown.total_s : a->breakdown.peak_bytes < b->breakdown.peak_bytes;
}

const sw_comparison *sw_lever_best(const sw_ruled_lever *l, int64_t capacity) {
  const sw_comparison *best = NULL;
  for (int b = 0; b < SW_BASELINE_COUNT; b++)
    if (is_better_made(&l->made[b], best, capacity)) best = &l->made[b];
  return best;
}

const sw_ruled_lever *sw_levers_best(const sw_ruled_levers *l, int64_t capacity) {
  const sw_ruled_lever *best = NULL;
  for (int i = 0; i < l->n; i++) {
    const sw_comparison *here = sw_lever_best(&l->at[i], capacity);
    if (here && is_better_made(here, best ? sw_lever_best(best, capacity) : NULL, capacity)) best = &l->at[i];
  }
  return best;
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

static const struct {
  sw_recompute how;
  bool gathers_again;
} kLevers[] = {
    {SW_RECOMPUTE_AS_WRITTEN, true},  {SW_RECOMPUTE_MEGATRON, false},  {SW_RECOMPUTE_MEGATRON, true},
    {SW_RECOMPUTE_TORCHTITAN, false}, {SW_RECOMPUTE_TORCHTITAN, true}, {SW_RECOMPUTE_FULL, false},
    {SW_RECOMPUTE_FULL, true},        {SW_RECOMPUTE_NONE, false},
};

/* Is there something that the program as it is does not have, or less? */
static bool is_of_use(const sw_job *j, const sw_ruled_lever *l, const sw_schedule_spec *spec) {
  bool again = false, kept = false;
  for (int32_t i = 0; i < spec->n_entries; i++) {
    again = again || spec->entries[i].instance;
    kept = kept || (spec->entries[i].source && spec->entries[i].op < 0);
  }
  if (l->how == SW_RECOMPUTE_NONE) return spec->folded || spec->n_entries < j->graph->n_ops;
  return (again || l->how == SW_RECOMPUTE_AS_WRITTEN) && (kept || !l->gathers_again);
}

/* Copies of ops from `end` on do not run: who reads them reads the ops themselves. */
static sw_rc stop_at(sw_schedule_spec *s, sw_id end, sw_arena *arena, sw_diag *d) {
  sw_entry *entries;
  int32_t n = 0;
  SW_ARENA_NEW(entries, arena, s->n_entries, d);
  for (int32_t i = 0; i < s->n_entries; i++)
    if (!s->entries[i].instance || s->entries[i].op < end) entries[n++] = s->entries[i];
  s->entries = entries;
  s->n_entries = n;
  return SW_OK;
}

static void close_lever(sw_ruled_lever *l) {
  sw_schedule_deinit(l->schedule);
  sw_arena_deinit(&l->mem);
}

/* `layers`: of the program, where it is in some of them alone. */
static sw_rc open_lever(const sw_job *j, const sw_layers *layers, sw_ruled_lever *l, sw_arena *arena, bool *any,
                        sw_diag *d) {
  sw_schedule_spec spec;
  SW_ARENA_NEW(l->schedule, arena, 1, d);
  SW_TRY(sw_recompute_spec(j->graph, l->how, l->gathers_again, arena, &spec, d));
  if (layers && l->of_layers) SW_TRY(stop_at(&spec, layers->end[l->of_layers - 1], arena, d));
  *any = is_of_use(j, l, &spec);
  if (!*any) return SW_OK;
  SW_TRY(sw_schedule_make(j->request, &spec, arena, l->schedule, d));
  sw_rc rc = sw_job_of_stage(j, l->schedule, 0, arena, &l->job, d);
  if (!rc) rc = sw_baselines_build(&l->job, &l->mem, &l->made, d);
  if (rc) close_lever(l);
  return rc;
}

/* In as few layers as fit, by halving; *any: in less than all. */
static sw_rc open_partly(const sw_job *j, const sw_ruled_lever *all, int64_t capacity, sw_arena *arena,
                         sw_ruled_lever *out, bool *any, sw_diag *d) {
  sw_layers layers;
  int32_t least = 1;
  *any = false;
  SW_TRY(sw_layers_of_early(j->graph, arena, &layers, d));
  for (int32_t most = layers.n; least < most;) {
    const int32_t n = least + (most - least) / 2;
    sw_ruled_lever l = {.how = all->how, .gathers_again = all->gathers_again, .of_layers = n};
    bool made;
    SW_TRY(open_lever(j, &layers, &l, arena, &made, d));
    const sw_comparison *best = made ? sw_lever_best(&l, capacity) : NULL;
    const bool fits = best && best->breakdown.peak_bytes <= capacity;
    if (fits && *any) close_lever(out);
    if (fits) *out = l;
    *any = *any || fits;
    if (made && !fits) close_lever(&l);
    if (fits)
      most = n;
    else
      least = n + 1;
  }
  return SW_OK;
}

static sw_rc add_partly(const sw_job *j, int64_t capacity, sw_arena *arena, sw_ruled_levers *l, sw_diag *d) {
  const sw_ruled_lever *best = sw_levers_best(l, capacity);
  const sw_comparison *made = best ? sw_lever_best(best, capacity) : NULL;
  bool any;
  if (!made || made->breakdown.peak_bytes > capacity || best->how < SW_RECOMPUTE_FULL || best->how == SW_RECOMPUTE_NONE)
    return SW_OK;
  SW_TRY(open_partly(j, best, capacity, arena, &l->at[l->n], &any, d));
  l->n += any;
  return SW_OK;
}

sw_rc sw_levers_open(const sw_job *j, int64_t capacity, sw_arena *arena, sw_ruled_levers *out, sw_diag *d) {
  *out = (sw_ruled_levers){.request = j->request};
  sw_rc rc = SW_OK;
  for (size_t i = 0; i < sizeof kLevers / sizeof *kLevers && !rc; i++) {
    sw_ruled_lever *l = &out->at[out->n];
    bool any;
    *l = (sw_ruled_lever){.how = kLevers[i].how, .gathers_again = kLevers[i].gathers_again};
    rc = open_lever(j, NULL, l, arena, &any, d);
    out->n += !rc && any;
  }
  if (!rc) rc = add_partly(j, capacity, arena, out, d);
  if (rc) sw_levers_close(out);
  return rc;
}

void sw_levers_close(sw_ruled_levers *l) {
  for (int i = 0; i < l->n; i++) close_lever(&l->at[i]);
  l->n = 0;
}

void sw_lever_print(const sw_ruled_lever *l, sw_text *out) {
  if (l->how != SW_RECOMPUTE_AS_WRITTEN) sw_text_puts(out, sw_recompute_text(l->how));
  if (l->of_layers) sw_text_printf(out, " in %d layers", l->of_layers);
  if (l->gathers_again) sw_text_printf(out, "%sgathered again", out->n ? ", " : "");
}

sw_rc sw_lever_choose(const sw_job *j, sw_recompute how, int64_t capacity, sw_arena *arena, sw_schedule *out,
                      sw_diag *d) {
  sw_ruled_lever held = {.how = how}, again = {.how = how, .gathers_again = true};
  const bool written = how == SW_RECOMPUTE_AS_WRITTEN || how == SW_RECOMPUTE_NONE;
  bool any = false, both = false;
  sw_schedule_spec plain;
  if (!capacity) capacity = sw_profile_memory_bytes(sw_machine_profile(j->machine));
  sw_rc rc = written ? SW_OK : open_lever(j, NULL, &held, arena, &any, d);
  if (!rc && any) rc = open_lever(j, NULL, &again, arena, &both, d);
  if (!rc && !any) rc = sw_recompute_spec(j->graph, how, false, arena, &plain, d);
  if (!rc && !any) rc = sw_schedule_make(j->request, &plain, arena, out, d);
  if (any && rc) close_lever(&held);
  if (!any || rc) return rc;
  const sw_comparison *best = both ? sw_lever_best(&again, capacity) : NULL;
  const bool takes_again = best && is_better_made(best, sw_lever_best(&held, capacity), capacity);
  sw_schedule none = {0}, *taken = takes_again ? again.schedule : held.schedule;
  *out = *taken;
  *taken = none;
  close_lever(&held);
  if (both) close_lever(&again);
  return SW_OK;
}

static sw_rc name_with_lever(const sw_ruled_lever *l, sw_arena *arena, sw_comparison *c, sw_diag *d) {
  sw_text t = {0};
  sw_lever_print(l, &t);
  c->name = sw_arena_printf(arena, d, "%s, %s", c->name, sw_text_str(&t));
  sw_text_free(&t);
  return c->name ? SW_OK : SW_E_RESOURCE;
}

sw_rc sw_levers_compare(const sw_ruled_levers *l, const sw_comparison *written, int64_t capacity, sw_arena *arena,
                        const sw_comparison **out, sw_diag *d) {
  sw_comparison *best = sw_arena_copy(arena, written, SW_BASELINE_COUNT, sizeof *best, d);
  if (!best) return SW_E_RESOURCE;
  for (int b = 0; b < SW_BASELINE_COUNT; b++) {
    const sw_ruled_lever *of = NULL;
    for (int i = 0; i < l->n; i++) {
      if (!is_better_made(&l->at[i].made[b], &best[b], capacity)) continue;
      best[b] = l->at[i].made[b];
      of = &l->at[i];
    }
    if (of) SW_TRY(name_with_lever(of, arena, &best[b], d));
  }
  *out = best;
  return SW_OK;
}
