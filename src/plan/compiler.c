/* Whose kernels and calls a program is priced as (kernel.h). */
#include <string.h>

#include "shardwright/plan.h"

static const char *const kOverlaps[] = {[SW_OVERLAP_NONE] = "none", [SW_OVERLAP_COMPILER] = "compiler"};

const char *sw_overlap_text(sw_overlap o) { return kOverlaps[o]; }

sw_rc sw_overlap_parse(const char *text, sw_overlap *out, sw_diag *d) {
  if (!text) return SW_OK;
  for (sw_overlap o = SW_OVERLAP_NONE; o <= SW_OVERLAP_COMPILER; o++)
    if (strcmp(text, kOverlaps[o]) == 0) return *out = o, SW_OK;
  return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "overlap is '%s'; expected one of " SW_OVERLAPS, text);
}

const char *sw_compiler_of(const char *named, const sw_request *r, const sw_profile *p) {
  if (named) return named;
  const char *of_profile = sw_profile_compiler(p);
  return of_profile ? of_profile : r->compiler ? r->compiler : "inductor";
}

/* A profile whose kernels stand alone is of a host, which computes and moves with the same processors. */
static sw_overlap overlap_of(const char *compiler, const sw_profile *p) {
  const char *of_profile = sw_profile_compiler(p);
  const bool on_host = of_profile && !sw_compiler_overlaps(of_profile);
  return on_host || !sw_compiler_overlaps(compiler) ? SW_OVERLAP_NONE : SW_OVERLAP_COMPILER;
}

sw_rc sw_job_make(const char *compiler, const sw_request *r, sw_machine *m, sw_arena *arena, sw_job *out, sw_diag *d) {
  const sw_profile *p = sw_machine_profile(m);
  const sw_kernels *k;
  compiler = sw_compiler_of(compiler, r, p);
  *out = (sw_job){r->graph, r, NULL, m, .overlap = overlap_of(compiler, p)};
  if (strcmp(compiler, "none") == 0) {
    SW_TRY(sw_machine_lower(m, (sw_lowering){0}, arena, d));
    SW_TRY(sw_machine_run(m, &(sw_software){NULL, 1}, arena, d));
    return sw_machine_combine(m, 0, arena, d);
  }
  SW_TRY(sw_kernels_find(r->graph, compiler, arena, &k, d));
  const int64_t of_compiler = k->combine_bytes, bytes = sw_profile_combine_bytes(p, of_compiler);
  if (bytes != of_compiler) SW_TRY(sw_kernels_combine(r->graph, bytes, arena, &k, d));
  out->kernels = k;
  SW_TRY(sw_machine_lower(m, k->lowering, arena, d));
  SW_TRY(sw_machine_run(m, &k->software, arena, d));
  return sw_machine_combine(m, bytes, arena, d);
}

/* With the kernels that the compiler of `j` finds in its graph. */
static sw_rc find_kernels_as(const sw_job *j, sw_arena *arena, sw_job *out, sw_diag *d) {
  const sw_graph *g = out->graph;
  if (!j->kernels) return SW_OK;
  SW_TRY(sw_kernels_find(g, j->kernels->compiler, arena, &out->kernels, d));
  if (out->kernels->combine_bytes == j->kernels->combine_bytes) return SW_OK;
  return sw_kernels_combine(g, j->kernels->combine_bytes, arena, &out->kernels, d);
}

sw_rc sw_job_of_stage(const sw_job *j, const sw_schedule *s, int32_t stage, sw_arena *arena, sw_job *out, sw_diag *d) {
  const sw_graph *g = s->stages[stage].graph;
  *out = (sw_job){g, g == s->program ? s->asked : g->written, NULL, j->machine, s, stage, j->overlap, j->memory};
  return find_kernels_as(j, arena, out, d);
}

sw_rc sw_job_of_program(const sw_job *j, sw_arena *arena, sw_job *out, sw_diag *d) {
  const sw_request *written = sw_job_written(j);
  *out = (sw_job){written->graph, written, NULL, j->machine, NULL, 0, j->overlap, j->memory};
  return find_kernels_as(j, arena, out, d);
}

sw_rc sw_job_own_ops(const sw_job *j, sw_arena *arena, sw_id **out, sw_diag *d) {
  const sw_id n = (j->schedule ? j->schedule->program : j->graph)->n_ops;
  SW_ARENA_NEW(*out, arena, n + 1, d);
  for (sw_id i = 0; i < n; i++) (*out)[i] = -1;
  for (sw_id i = 0; i < j->graph->n_ops; i++) {
    const sw_entry *e = sw_job_entry(j, i);
    if (!j->schedule) (*out)[i] = i;
    if (e && !e->instance && !e->source) (*out)[e->op] = i;
  }
  return SW_OK;
}

sw_dtype sw_job_dtype(const sw_job *j) {
  const sw_graph *g = j->graph;
  double flops[SW_DTYPE_COUNT] = {0};
  sw_dtype most = SW_F32;
  for (sw_id i = 0; i < g->n_ops; i++) {
    sw_work w;
    sw_op_shape(j, &g->ops[i], NULL, &w);
    flops[w.dtype] += w.flops * (double)g->ops[i].repeats;
  }
  for (int t = 0; t < SW_DTYPE_COUNT; t++)
    if (flops[t] > flops[most]) most = (sw_dtype)t;
  return most;
}

const char *sw_compiled_as(const sw_job *j) { return j->kernels ? j->kernels->compiler : "none"; }

void sw_compiled_print(const sw_job *j, sw_text *out) {
  sw_text_printf(out, "compiler %s, %s", sw_compiled_as(j), sw_dtype_text(sw_job_dtype(j)));
}
