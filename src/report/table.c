/* The report as text for a terminal. */
#include <math.h>
#include <string.h>

#include "base/columns.h"
#include "graph/said.h"
#include "report/compare.h"
#include "report/completion.h"
#include "report/folded_rows.h"
#include "report/made_again.h"
#include "report/memory.h"
#include "report/words.h"
#include "shardwright/report.h"

static void heading(bool colour, const char *text, sw_text *out) {
  sw_text_printf(out, colour ? "\n\033[1m%s\033[0m\n" : "\n%s\n", text);
}

/* One that two digits tell from none. */
static bool has_bound(const sw_plan *p) { return sw_plan_gap(p) < 0.99995; }

static void print_bound(const sw_plan *p, const sw_breakdown *a, sw_text *t) {
  double gap = 100 * sw_plan_gap(p);
  if (!has_bound(p)) {
    sw_text_puts(t, "; no lower bound in time");
    return;
  }
  sw_text_puts(t, "; ");
  sw_plan_bound_print(p, t);
  sw_text_puts(t, " ");
  sw_text_seconds(t, sw_plan_bound_s(p, a));
  if (gap > 0 && gap < 0.005)
    sw_text_puts(t, ", gap below 0.01 %");
  else
    sw_text_printf(t, ", gap %.2f %%", gap);
}

static void print_search(const sw_plan *p, const sw_breakdown *a, sw_columns *c) {
  const bool begun = p->n_nodes > 0;
  sw_text t = {0};
  sw_text_seconds(&t, a->total_s);
  sw_columns_add(c, "predicted time");
  if (p->solver && strcmp(p->origin, "search") == 0) {
    print_bound(p, a, &t);
    sw_text_puts(&t, p->status == SW_SOLVE_OPTIMAL ? ": proven optimal" : ": the best plan found");
    if (strcmp(p->solver, "glpk") == 0) sw_text_puts(&t, ", by GLPK");
  } else if (begun || p->status == SW_SOLVE_FEASIBLE) { /* plans made by rule have no status */
    if (begun || has_bound(p)) print_bound(p, a, &t);
    sw_text_printf(
        &t, begun ? " (%s: the search found nothing better)" : " (%s: time was up before the search could begin)",
        p->origin);
  } else {
    sw_text_printf(&t, " (%s)", p->origin);
  }
  sw_columns_add(c, "%s", sw_text_str(&t));
  sw_text_free(&t);
}

/* What a plan that is simpler than the cheapest one found costs for it. */
static void print_simpler(const sw_plan *p, sw_columns *c) {
  const double percent = 100 * sw_plan_dearer(p), kLeast = 0.01;
  const bool optimal = p->found_units == p->bound_units && sw_plan_bound_is_proven(p);
  if (percent <= 0) return;
  sw_columns_add(c, "simpler");
  sw_columns_add(c, "%s%.2f %% dearer than the cheapest plan found%s", percent < kLeast ? "less than " : "",
                 fmax(percent, kLeast), optimal ? ", which is optimal" : "");
}

/* Where the time of a step goes: "12.3 ms kernels, 1.2 ms more beside collectives, ..." */
static void print_timeline(const sw_breakdown *a, sw_columns *c) {
  const sw_timeline_sums *s = &a->timeline->sums;
  const struct {
    double seconds;
    const char *what;
  } parts[] = {{s->work_s, "kernels"},
               {s->slowed_s, "longer beside collectives"},
               {s->exposed_s, "communication that nothing hides"},
               {s->waited_s, "waiting for launches"}};
  sw_text t = {0};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (i && parts[i].seconds <= 0) continue;
    if (i) sw_text_puts(&t, ", ");
    sw_text_seconds(&t, parts[i].seconds);
    sw_text_printf(&t, " %s (%.0f %%)", parts[i].what, sw_percent_of(parts[i].seconds, s->total_s));
  }
  sw_columns_add(c, "of which");
  sw_columns_add(c, "%s", sw_text_str(&t));
  sw_text_free(&t);
  sw_text_seconds(&t, a->sum_s);
  sw_columns_add(c, "one by one");
  sw_columns_add(c, "%s", sw_text_str(&t));
  sw_text_free(&t);
}

static void print_time_parts(const sw_breakdown *a, sw_columns *c) {
  sw_text t = {0};
  sw_text_seconds(&t, a->local_s);
  sw_text_printf(&t, " local work (%.0f %%), ", sw_percent_of(a->local_s, a->sum_s));
  sw_text_seconds(&t, a->reshard_s);
  sw_text_printf(&t, " resharding (%.0f %%), ", sw_percent_of(a->reshard_s, a->sum_s));
  sw_text_seconds(&t, a->move_s);
  sw_text_printf(&t, " inside ops (%.0f %%)", sw_percent_of(a->move_s, a->sum_s));
  sw_columns_add(c, "of which");
  sw_columns_add(c, "%s", sw_text_str(&t));
  sw_text_free(&t);
}

/* As people write rates: 0.0123, 37.5, 76800 */
static void put_rate(sw_text *t, double rate) {
  if (rate < 1000)
    sw_text_printf(t, "%.3g", rate);
  else
    sw_text_printf(t, "%.0f", rate);
}

/* "37.5 samples and 76800 tokens a second on each device; model flops utilisation 41.2 %" */
static void print_throughput(const sw_throughput *r, sw_columns *c) {
  sw_text t = {0};
  if (r->batch) put_rate(&t, r->samples_per_s);
  if (r->batch) sw_text_puts(&t, " samples");
  if (r->tokens) sw_text_puts(&t, " and ");
  if (r->tokens) put_rate(&t, r->tokens_per_s);
  if (r->tokens) sw_text_puts(&t, " tokens");
  if (r->batch) sw_text_puts(&t, " a second on each device");
  if (r->utilisation > 0)
    sw_text_printf(&t, "%smodel flops utilisation %.1f %%", r->batch ? "; " : "", 100 * r->utilisation);
  if (t.n) sw_columns_add(c, "throughput");
  if (t.n) sw_columns_add(c, "%s", sw_text_str(&t));
  sw_text_free(&t);
}

static void print_measures(const sw_plan *p, const sw_breakdown *a, sw_columns *c) {
  const double twice = sw_breakdown_redundant_flops(a, p->job.machine);
  sw_text t = {0};
  sw_text_bytes(&t, a->moved_bytes);
  sw_text_puts(&t, " between all devices; ");
  if (twice > 0)
    sw_text_printf(&t, "%.3g of %.3g flops done twice", twice, a->whole_flops + twice);
  else
    sw_text_puts(&t, "no flops done twice");
  sw_columns_add(c, "moved");
  sw_columns_add(c, "%s", sw_text_str(&t));
  sw_text_free(&t);
}

static void print_made_again(const sw_report *r, sw_columns *c) {
  sw_arena scratch = {0};
  sw_made_again again;
  sw_text t = {0};
  if (sw_made_again_find(r->plan, r->breakdown, &scratch, &again, NULL)) c->cells.rc = SW_E_RESOURCE;
  if (!c->cells.rc && sw_made_again_is_any(&again)) {
    sw_made_again_print(&again, r->breakdown->total_s, &t);
    sw_columns_add(c, "made again");
    sw_columns_add(c, "%s", sw_text_str(&t));
  }
  sw_text_free(&t);
  sw_arena_deinit(&scratch);
}

static void print_memory(const sw_plan *p, const sw_breakdown *a, sw_columns *c) {
  const sw_graph *g = p->job.graph;
  sw_text t = {0};
  sw_text_bytes(&t, (double)a->peak_bytes);
  if (p->capacity_bytes != INT64_MAX) {
    sw_text_puts(&t, " of ");
    sw_text_bytes(&t, (double)p->capacity_bytes);
  }
  sw_text_puts(&t, " per device, ");
  sw_text_bytes(&t, (double)a->param_bytes);
  sw_text_puts(&t, " of it parameters and state; peak at ");
  sw_text_puts(&t, a->peak_step < g->n_ops ? g->ops[a->peak_step].name : "the end");
  if (a->peak_step < g->n_ops && g->ops[a->peak_step].location.scope)
    sw_text_printf(&t, " (%s)", g->ops[a->peak_step].location.scope);
  sw_columns_add(c, "memory");
  sw_columns_add(c, "%s", sw_text_str(&t));
  sw_text_free(&t);
}

static void print_words(const sw_plan *p, sw_columns *c) {
  sw_text t = {0};
  if (sw_plan_words(p, &t, NULL)) c->cells.rc = SW_E_RESOURCE;
  sw_columns_add(c, "plan");
  sw_columns_add(c, "%s", sw_text_str(&t));
  sw_text_free(&t);
}

static void print_summary(const sw_report *r, sw_text *out) {
  const sw_plan *p = r->plan;
  sw_text mesh = {0};
  sw_text compiled = {0};
  sw_mesh_print(sw_machine_mesh(p->job.machine), &mesh);
  sw_compiled_print(&p->job, &compiled);
  sw_columns c = {.n = 2};
  print_words(p, &c);
  sw_columns_add(&c, "model");
  sw_columns_add(&c, "%s: %d ops, %d arguments", p->job.graph->name, p->job.graph->n_ops, p->job.graph->n_args);
  sw_columns_add(&c, "machine");
  sw_columns_add(&c, "%s, mesh %s (%lld devices); %s", sw_profile_name(sw_machine_profile(p->job.machine)),
                 sw_text_str(&mesh), (long long)sw_mesh_devices(sw_machine_mesh(p->job.machine)),
                 sw_text_str(&compiled));
  const char *roofline = sw_profile_roofline_text(sw_machine_profile(p->job.machine));
  if (roofline) {
    sw_columns_add(&c, "prices");
    sw_columns_add(&c, "%s", roofline);
  }
  if (p->job.kernels) {
    sw_columns_add(&c, "kernels");
    sw_columns_add(&c, "%d", p->job.kernels->n);
  }
  print_search(p, r->breakdown, &c);
  print_simpler(p, &c);
  if (r->breakdown->timeline) print_timeline(r->breakdown, &c);
  print_time_parts(r->breakdown, &c);
  print_throughput(&r->throughput, &c);
  print_measures(p, r->breakdown, &c);
  print_memory(p, r->breakdown, &c);
  print_made_again(r, &c);
  if (p->n_nodes) {
    sw_columns_add(&c, "problem");
    sw_columns_add(&c, "%d nodes, %d edges from %d kinds of op; planned in %.2f s", p->n_nodes, p->n_edges,
                   p->n_classes, p->time_s);
  }
  if (mesh.rc || compiled.rc) c.cells.rc = SW_E_RESOURCE;
  sw_columns_print(&c, 0, out);
  sw_text_free(&mesh);
  sw_text_free(&compiled);
}

static void print_group(const sw_plan *p, const sw_folded_name *group, sw_columns *c) {
  sw_text type = {0}, sharding = {0};
  sw_arg_row_type_print(p, group, &type);
  const int32_t first = group->items[0];
  const sw_sharding said = sw_value_said(p->job.request, p->job.graph->args[first], &p->args[first]);
  sw_sharding_print(sw_machine_mesh(p->job.machine), &said, &sharding);
  sw_columns_add(c, "%s", group->name);
  sw_columns_add(c, group->n > 1 ? "x%d" : "", group->n);
  sw_columns_add(c, "%s", sw_text_str(&type));
  sw_columns_add(c, "%s", sw_text_str(&sharding));
  sw_columns_add_bytes(c, (double)sw_arg_row_bytes(p, group));
  sw_text_free(&type);
  sw_text_free(&sharding);
}

static void print_arguments(const sw_report *r, bool colour, sw_text *out) {
  const sw_plan *p = r->plan;
  sw_arena scratch = {0};
  sw_arg_rows groups;
  sw_columns c = {.n = 5, .right = {false, true, false, false, true}};
  if ((r->all_arguments ? sw_list_args : sw_fold_args)(p, &scratch, &groups, NULL)) groups.n = 0;
  heading(colour, "arguments", out);
  if (p->job.graph->n_args) {
    static const char *const kHeads[] = {"name", "", "type", "sharding", "bytes/device"};
    for (size_t i = 0; i < sizeof kHeads / sizeof *kHeads; i++) sw_columns_add(&c, "%s", kHeads[i]);
  }
  for (int32_t i = 0; i < groups.n; i++) print_group(p, &groups.at[i], &c);
  sw_columns_print(&c, 2, out);
  sw_arena_deinit(&scratch);
}

/* The largest rows of a class, in words. */
static void name_largest(const sw_memory *m, sw_memory_class c, int most, sw_text *out) {
  int32_t n = 0, shown = 0;
  for (int32_t i = 0; i < m->n; i++) {
    if (m->rows[i].class_of != c) continue;
    if (shown < most) sw_text_printf(out, "%s%s", shown++ ? ", " : "", m->rows[i].name);
    n++;
  }
  if (n > shown) sw_text_printf(out, " and %d more", n - shown);
}

/* Every class with its largest rows; or every row (`full`). */
static void print_held_classes(const sw_memory *m, bool full, int64_t peak, sw_columns *c) {
  enum { LARGEST = 2 };
  for (int k = 0; k < SW_MEMORY_CLASSES; k++) {
    sw_text names = {0};
    if (!m->bytes[k]) continue;
    if (!full) name_largest(m, (sw_memory_class)k, LARGEST, &names);
    sw_columns_add(c, "%s", sw_memory_class_text((sw_memory_class)k));
    sw_columns_add_bytes(c, (double)m->bytes[k]);
    sw_columns_add(c, "%.1f %%", sw_percent_of((double)m->bytes[k], (double)peak));
    sw_columns_add(c, "%s", sw_text_str(&names));
    sw_text_free(&names);
    for (int32_t i = 0; full && i < m->n; i++) {
      if ((int)m->rows[i].class_of != k) continue;
      sw_columns_add(c, m->rows[i].count > 1 ? "  x%d" : "", m->rows[i].count);
      sw_columns_add_bytes(c, (double)m->rows[i].bytes);
      sw_columns_add(c, "%s", "");
      sw_columns_add(c, "%s", m->rows[i].name);
    }
  }
}

static void print_peak_table(const sw_report *r, bool colour, sw_text *out) {
  sw_arena scratch = {0};
  sw_memory m;
  sw_columns c = {.n = 4, .right = {false, true, true, false}};
  heading(colour, "memory at the peak", out);
  if (sw_memory_at(r->plan, r->breakdown, r->breakdown->peak_step, &scratch, &m, NULL))
    out->rc = SW_E_RESOURCE;
  else
    print_held_classes(&m, r->all_arguments, r->breakdown->peak_bytes, &c);
  sw_columns_print(&c, 2, out);
  sw_arena_deinit(&scratch);
}

static void print_communication(const sw_report *r, bool colour, sw_text *out) {
  sw_columns c = {.n = 4, .right = {false, true, true, true}};
  int64_t calls = 0, parts = 0;
  heading(colour, "communication", out);
  for (int i = 0; i < SW_COLL_COUNT; i++) {
    calls += r->breakdown->by_collective[i].calls;
    parts += r->breakdown->by_collective[i].parts;
  }
  if (!calls) sw_text_puts(out, "  none\n");
  if (!calls) return;
  sw_columns_add(&c, "collective");
  sw_columns_add(&c, "calls");
  sw_columns_add(&c, "bytes/device");
  sw_columns_add(&c, "time");
  for (int i = 0; i < SW_COLL_COUNT; i++) {
    const sw_collective_sum *s = &r->breakdown->by_collective[i];
    if (!s->calls) continue;
    sw_columns_add(&c, "%s", sw_coll_text((sw_coll_op)i));
    sw_columns_add(&c, "%lld", (long long)s->calls);
    sw_columns_add_bytes(&c, s->bytes);
    sw_columns_add_seconds(&c, s->seconds);
  }
  sw_columns_print(&c, 2, out);
  if (parts) {
    const sw_kernels *k = r->plan->job.kernels;
    sw_text_printf(out, "  %lld of these are done together, as by %s, in calls of up to ", (long long)parts,
                   k->compiler);
    sw_text_bytes(out, (double)k->combine_bytes);
    sw_text_puts(out, "\n");
  }
  if (r->breakdown->hidden_s > 0) {
    sw_text_puts(out, "  ");
    sw_text_seconds(out, r->breakdown->hidden_s);
    sw_text_puts(out, " of it behind the arithmetic of attention in rings\n");
  }
  if (r->breakdown->full_replications) {
    sw_text_printf(out, "  %d reshards go through full replication: it is the cheapest way there\n",
                   r->breakdown->full_replications);
  }
}

void sw_report_table(const sw_report *r, bool colour, sw_text *out) {
  print_summary(r, out);
  if (r->completes) sw_completion_table(r->plan, colour, out);
  print_arguments(r, colour, out);
  if (r->breakdown->peak_bytes > 0) print_peak_table(r, colour, out);
  print_communication(r, colour, out);
  if (r->n_comparisons) {
    const bool others = r->n_comparisons > SW_BASELINE_COUNT;
    heading(colour, others ? "against other plans" : "against plans made without search", out);
    sw_comparisons_table(r, out);
  }
}
