#include "cli/compared_plans.h"

#include <string.h>

#include "base/file.h"

static const char *plan_name_of_path(const char *path, sw_arena *arena, sw_diag *d) {
  const char *name = sw_path_base(path), *dot = strrchr(name, '.');
  return sw_arena_strndup(arena, name, dot && dot > name ? (size_t)(dot - name) : strlen(name), d);
}

/* The job of the plan's own schedule, or of the program as it is. */
static sw_rc open_compared(const char *path, sw_opened *s, sw_arena *arena, sw_job *out, sw_diag *d) {
  const sw_request *written = sw_job_written(&s->job);
  sw_schedule *own = &s->compared[s->n_compared];
  int32_t stage = 0;
  bool any;
  SW_TRY(sw_schedule_read(path, written, arena, false, own, &stage, &any, d));
  if (!any) return sw_job_of_program(&s->job, arena, out, d);
  s->n_compared++;
  return sw_job_of_stage(&s->job, own, stage, arena, out, d);
}

static sw_rc read_compared_plan(const char *path, sw_opened *s, sw_arena *arena, sw_comparison *out, sw_diag *d) {
  sw_job *job;
  *out = (sw_comparison){.made = true, .name = plan_name_of_path(path, arena, d)};
  if (!out->name) return SW_E_RESOURCE;
  SW_ARENA_NEW(job, arena, 1, d);
  SW_TRY(open_compared(path, s, arena, job, d));
  SW_TRY(sw_plan_read(path, job, arena, &out->plan, d));
  return sw_plan_breakdown(&out->plan, arena, &out->breakdown, d);
}

sw_rc sw_compare_with(const sw_words *files, sw_opened *s, sw_arena *arena, sw_report *r, sw_diag *d) {
  sw_comparison *all;
  if (!files->n) return SW_OK;
  SW_ARENA_NEW(all, arena, r->n_comparisons + files->n, d);
  SW_ARENA_NEW(s->compared, arena, files->n, d);
  memcpy(all, r->comparisons, (size_t)r->n_comparisons * sizeof *all);
  for (int i = 0; i < files->n; i++) SW_TRY(read_compared_plan(files->at[i], s, arena, &all[r->n_comparisons + i], d));
  r->comparisons = all;
  r->n_comparisons += files->n;
  return SW_OK;
}
