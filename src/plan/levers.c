/* Ways to run a program in less memory, and the plans made by rule for each (plan.h). */
#include "plan/levers.h"

#include "plan/choices.h"

static const struct {
  sw_recompute how;
  bool gathers_again;
} kLevers[SW_MAX_LEVERS] = {
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
  if (l->how == SW_RECOMPUTE_NONE) return spec->n_entries < j->graph->n_ops;
  return (again || l->how == SW_RECOMPUTE_AS_WRITTEN) && (kept || !l->gathers_again);
}

static sw_rc open_lever(const sw_job *j, sw_ruled_lever *l, sw_arena *arena, bool *any, sw_diag *d) {
  sw_schedule_spec spec;
  SW_ARENA_NEW(l->schedule, arena, 1, d);
  SW_TRY(sw_recompute_spec(j->graph, l->how, l->gathers_again, arena, &spec, d));
  *any = is_of_use(j, l, &spec);
  if (!*any) return SW_OK;
  SW_TRY(sw_schedule_make(j->request, &spec, arena, l->schedule, d));
  sw_rc rc = sw_job_of_stage(j, l->schedule, 0, arena, &l->job, d);
  if (!rc) rc = sw_baselines_build(&l->job, arena, &l->made, d);
  if (rc) sw_schedule_deinit(l->schedule);
  return rc;
}

sw_rc sw_levers_open(const sw_job *j, sw_arena *arena, sw_ruled_levers *out, sw_diag *d) {
  *out = (sw_ruled_levers){.request = j->request};
  for (int i = 0; i < SW_MAX_LEVERS; i++) {
    sw_ruled_lever *l = &out->at[out->n];
    bool any;
    *l = (sw_ruled_lever){.how = kLevers[i].how, .gathers_again = kLevers[i].gathers_again};
    const sw_rc rc = open_lever(j, l, arena, &any, d);
    if (rc) sw_levers_close(out);
    if (rc) return rc;
    out->n += any;
  }
  return SW_OK;
}

void sw_levers_close(sw_ruled_levers *l) {
  for (int i = 0; i < l->n; i++) sw_schedule_deinit(l->at[i].schedule);
  l->n = 0;
}

void sw_lever_print(const sw_ruled_lever *l, sw_text *out) {
  if (l->how != SW_RECOMPUTE_AS_WRITTEN) sw_text_puts(out, sw_recompute_text(l->how));
  if (l->gathers_again) sw_text_printf(out, "%sgathered again", out->n ? ", " : "");
}

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

sw_rc sw_lever_choose(const sw_job *j, sw_recompute how, int64_t capacity, sw_arena *arena, sw_schedule *out,
                      sw_diag *d) {
  sw_ruled_lever held = {.how = how}, again = {.how = how, .gathers_again = true};
  const bool written = how == SW_RECOMPUTE_AS_WRITTEN || how == SW_RECOMPUTE_NONE;
  bool any = false, both = false;
  sw_schedule_spec plain;
  sw_rc rc = written ? SW_OK : open_lever(j, &held, arena, &any, d);
  if (!rc && any) rc = open_lever(j, &again, arena, &both, d);
  if (!rc && !any) rc = sw_recompute_spec(j->graph, how, false, arena, &plain, d);
  if (!rc && !any) rc = sw_schedule_make(j->request, &plain, arena, out, d);
  if (any && rc) sw_schedule_deinit(held.schedule);
  if (!any || rc) return rc;
  const sw_comparison *best = both ? sw_lever_best(&again, capacity) : NULL;
  const bool takes_again = best && is_better_made(best, sw_lever_best(&held, capacity), capacity);
  *out = *(takes_again ? again : held).schedule;
  sw_schedule_deinit((takes_again ? held : again).schedule);
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
