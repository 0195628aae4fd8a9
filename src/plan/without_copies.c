/* The plan of which nothing is made again, all else being as it is: what copies save is told beside it. */
#include "shardwright/plan.h"

/* Of the entries: no copies, and no source but of arguments that something else reads late. */
static sw_rc leave_out_copies(const sw_schedule *of, sw_arena *arena, sw_schedule_spec *out, sw_diag *d) {
  const sw_schedule_spec *s = &of->spec;
  const sw_graph *g = of->program;
  sw_entry *entries;
  bool *read; /* by value: by an entry that stays, up to its source */
  int32_t n = 0;
  if (g->n_frames) return sw_schedule_without_copies(of, arena, out, d);
  SW_ARENA_NEW(entries, arena, s->n_entries, d);
  SW_ARENA_NEW(read, arena, g->n_values + 1, d);
  for (int32_t i = s->n_entries; i-- > 0;) {
    const sw_entry *e = &s->entries[i];
    if (e->instance || (e->source && (e->op >= 0 || !read[e->value]))) continue;
    for (int k = 0; !e->source && k < g->ops[e->op].n_operands; k++) read[g->ops[e->op].operands[k]] = true;
    if (e->source) read[e->value] = false;
    entries[s->n_entries - ++n] = *e;
  }
  *out = *s;
  out->n_entries = n;
  out->entries = entries + s->n_entries - n;
  return SW_OK;
}

/* What has the same name in both: arguments, ops, and what is stated of them. `stands`: by op. */
static sw_rc take_same_names(const sw_plan *p, sw_arena *arena, bool *args, bool *stands, sw_plan *out, sw_diag *d) {
  const sw_graph *g = out->job.graph, *from = p->job.graph;
  sw_stated *stated;
  SW_ARENA_NEW(stated, arena, p->n_stated, d);
  out->stated = stated;
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_id was = sw_graph_value_named(from, g->values[g->args[i]].name);
    args[i] = was >= 0 && from->values[was].def < 0;
    if (args[i]) out->args[i] = p->args[from->values[was].def_index];
  }
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_id was = sw_graph_op_named(from, g->ops[i].name);
    stands[i] = was >= 0 && from->ops[was].code == g->ops[i].code;
    if (stands[i]) out->ops[i] = p->ops[was];
    for (int32_t k = 0; stands[i] && k < p->n_stated; k++) {
      if (p->stated[k].op != was) continue;
      stated[out->n_stated] = p->stated[k];
      stated[out->n_stated++].op = i;
    }
  }
  return SW_OK;
}

sw_rc sw_plan_without_copies(const sw_plan *p, sw_arena *arena, sw_schedule *schedule, sw_plan *out, sw_diag *d) {
  const sw_schedule *with = p->job.schedule;
  sw_schedule_spec spec;
  sw_job job;
  bool *stands, *args, *outputs, all = true;
  SW_TRY(leave_out_copies(with, arena, &spec, d));
  SW_TRY(sw_schedule_make(with->written, &spec, arena, schedule, d));
  SW_TRY(sw_job_of_stage(&p->job, schedule, p->job.stage, arena, &job, d));
  SW_TRY(sw_plan_build(&job, arena, out, d));
  SW_ARENA_NEW(stands, arena, job.graph->n_ops + 1, d);
  SW_ARENA_NEW(args, arena, job.graph->n_args + 1, d);
  SW_ARENA_NEW(outputs, arena, job.graph->n_outputs + 1, d);
  SW_TRY(take_same_names(p, arena, args, stands, out, d));
  for (int32_t i = 0; i < job.graph->n_outputs && job.graph->n_outputs == p->job.graph->n_outputs; i++) {
    outputs[i] = true;
    out->outputs[i] = p->outputs[i];
  }
  for (sw_id i = 0; i < job.graph->n_ops; i++) all = all && stands[i];
  return all ? SW_OK : sw_plan_complete(out, &(sw_plan_given){args, stands, outputs}, d);
}
