#include "shardwright/report.h"

#include "report/source_lines.h"

bool sw_comparison_fits(const sw_report *r, const sw_comparison *c) {
  return c->made && c->breakdown.peak_bytes <= r->plan->capacity_bytes;
}

sw_rc sw_report_build(const sw_plan *plan, const sw_breakdown *breakdown, const sw_comparison *baselines,
                      sw_arena *arena, sw_report *out, sw_diag *d) {
  if (!baselines) SW_TRY(sw_baselines_build(&plan->job, arena, &baselines, d));
  *out =
      (sw_report){.plan = plan, .breakdown = breakdown, .n_comparisons = SW_BASELINE_COUNT, .comparisons = baselines};
  SW_TRY(sw_throughput_measure(plan, breakdown, NULL, arena, &out->throughput, d));
  return sw_read_source_lines(plan->job.graph, arena, &out->n_sources, &out->sources, d);
}
