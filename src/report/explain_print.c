/* Why a plan is as it is (explain.h), for people. */
#include <math.h>

#include "base/columns.h"
#include "report/beside.h"
#include "report/made_again.h"
#include "report/memory.h"
#include "report/places.h"
#include "shardwright/explain.h"

enum { MOST_USERS = 4 };

/* "+1.20 ms", "-3 us", "as long". */
static void print_difference(double s, sw_text *out) {
  const double kNone = 1e-12;
  if (fabs(s) < kNone) {
    sw_text_puts(out, "0");
    return;
  }
  sw_text_puts(out, s < 0 ? "-" : "+");
  sw_text_seconds(out, fabs(s));
}

static const char *way_text(const sw_explanation *e, sw_option_way way, sw_id value) {
  if (way == SW_WAY_TAKEN) return "taken as";
  return e->plan->job.graph->values[value].def < 0 ? "held as" : "made as";
}

/* --- options ------------------------------------------------------------------------------------------------------ */

/* Where the difference comes from, in the order of its size. */
static void print_parts(const sw_alternative *x, sw_text *out) {
  const double kNone = 1e-12;
  const double parts[] = {x->op_s, x->value_s, x->others_s};
  static const char *const kTexts[] = {"op", "its reshards", "others"};
  const char *sep = "";
  for (int i = 0; i < 3; i++) {
    if (fabs(parts[i]) < kNone) continue;
    sw_text_printf(out, "%s%s ", sep, kTexts[i]);
    print_difference(parts[i], out);
    sep = ", ";
  }
}

static void print_anew(const sw_explanation *e, const sw_anew *a, sw_text *out) {
  const double kWide = 0.01;
  if (!a->asked) return;
  if (!a->made) {
    sw_text_puts(out, "no plan found");
    return;
  }
  sw_text_printf(out, "%+.2f %%, ", sw_percent_of(a->total_s - e->breakdown->total_s, e->breakdown->total_s));
  sw_text_bytes(out, (double)a->peak_bytes);
  if (a->gap > kWide) sw_text_printf(out, ", gap %.0f %%", 100 * a->gap);
}

static void add_option(const sw_explanation *e, const sw_explained_option *o, sw_id value, sw_columns *c) {
  const sw_alternative *x = &o->alone;
  sw_text as = {0}, time = {0}, parts = {0}, anew = {0};
  sw_text_printf(&as, "%s ", way_text(e, o->way, value));
  sw_sharding_print(sw_explanation_mesh(e), &x->sharding, &as);
  if (x->legal) {
    print_difference(x->total_s - e->breakdown->total_s, &time);
    print_parts(x, &parts);
  } else {
    sw_text_printf(&parts, "no: %s", x->why);
  }
  print_anew(e, &o->anew, &anew);
  sw_columns_add(c, "%s", sw_text_str(&as));
  sw_columns_add(c, "%s", sw_text_str(&time));
  if (x->legal)
    sw_columns_add_bytes(c, (double)x->peak_bytes);
  else
    sw_columns_add(c, "%s", "");
  sw_columns_add(c, "%s", sw_text_str(&anew));
  sw_columns_add(c, "%s", sw_text_str(&parts));
  if (as.rc || time.rc || parts.rc || anew.rc) c->cells.rc = SW_E_RESOURCE;
  sw_text_free(&as);
  sw_text_free(&time);
  sw_text_free(&parts);
  sw_text_free(&anew);
}

/* `pinned`: how many are pinned where all is chosen anew. */
static void print_options(const sw_explanation *e, int32_t n, const sw_explained_option *options, sw_id value,
                          int32_t pinned, sw_text *out) {
  sw_columns c = {.n = 5, .right = {false, true, true, false, false}};
  bool asked = false;
  for (int32_t i = 0; i < n; i++) asked = asked || options[i].anew.asked;
  if (n) {
    sw_columns_add(&c, "otherwise, alone");
    sw_columns_add(&c, "time");
    sw_columns_add(&c, "memory");
    sw_columns_add(&c, !asked ? "" : pinned > 1 ? "anew, all %d" : "anew", pinned);
    sw_columns_add(&c, "of the time");
  }
  for (int32_t i = 0; i < n; i++) add_option(e, &options[i], value, &c);
  sw_columns_print(&c, 4, out);
}

/* --- traffic ------------------------------------------------------------------------------------------------------ */

static void print_maker(const sw_explanation *e, sw_id value, sw_text *out) {
  const sw_graph *g = e->plan->job.graph;
  const sw_value *v = &g->values[value];
  if (v->def < 0) {
    sw_text_printf(out, "argument '%s'", v->name);
    sw_place_print(v->span, NULL, out);
    return;
  }
  sw_text_printf(out, "'%s' of %s '%s'", v->name, sw_opcode_text(g->ops[v->def].code), g->ops[v->def].name);
  sw_place_print(g->ops[v->def].span, &g->ops[v->def].location, out);
}

static void print_user(const sw_explanation *e, sw_value_use use, sw_text *out) {
  const sw_graph *g = e->plan->job.graph;
  if (use.op < 0) {
    sw_text_printf(out, "output '%s'", g->output_names[use.index]);
    sw_place_print(g->output_spans[use.index], NULL, out);
    return;
  }
  sw_text_printf(out, "%s '%s'", sw_opcode_text(g->ops[use.op].code), g->ops[use.op].name);
  sw_place_print(g->ops[use.op].span, &g->ops[use.op].location, out);
}

static void print_reshard(const sw_explanation *e, const sw_plan_reshard *r, sw_text *out) {
  sw_text_puts(out, "    from ");
  print_maker(e, r->value, out);
  sw_text_puts(out, ", as ");
  sw_sharding_print(sw_explanation_mesh(e), &r->from, out);
  for (int32_t i = 0, shown = 0; i < r->n_uses && shown < MOST_USERS; i++) {
    if (i && r->uses[i].op >= 0 && r->uses[i].op == r->uses[i - 1].op) continue; /* x * x */
    shown++;
    sw_text_puts(out, i ? "\n     and " : "\n    for ");
    print_user(e, r->uses[i], out);
    if (i) continue;
    sw_text_puts(out, ", as ");
    sw_sharding_print(sw_explanation_mesh(e), &r->to, out);
  }
  if (r->n_uses > MOST_USERS) sw_text_printf(out, "\n     and %d more", r->n_uses - MOST_USERS);
  sw_text_puts(out, "\n");
  for (int k = 0; k < r->route->n_steps; k++) {
    sw_text_puts(out, k ? "    then " : "    by ");
    sw_collective_print(sw_explanation_mesh(e), &r->route->step[k].coll, out);
    sw_text_puts(out, ": ");
    sw_text_seconds(out, r->route->step[k].cost_s);
    sw_text_puts(out, ", ");
    sw_text_bytes(out, r->route->step[k].max_bytes);
    sw_text_puts(out, "\n");
  }
}

static void print_inside(const sw_explanation *e, sw_id op, sw_text *out) {
  const sw_graph *g = e->plan->job.graph;
  sw_text_puts(out, "    inside ");
  print_user(e, (sw_value_use){op, 0}, out);
  sw_text_puts(out, ", cut as ");
  sw_strategy_print(sw_explanation_mesh(e), g->ops[op].nest, &e->plan->ops[op], out);
  sw_text_puts(out, "\n");
}

static sw_id value_of_traffic(const sw_explanation *e, const sw_traffic *t) {
  if (t->reshards) return t->reshards[0]->value;
  return e->plan->job.graph->ops[t->ops[0]].n_results ? e->plan->job.graph->ops[t->ops[0]].results[0] : 0;
}

static void print_traffic(const sw_explanation *e, const sw_traffic *t, sw_text *out) {
  sw_text_seconds(out, t->seconds);
  sw_text_printf(out, " (%.1f %% of all), ", sw_percent_of(t->seconds, e->breakdown->total_s));
  sw_text_bytes(out, t->bytes);
  sw_text_printf(out, ": %s", t->name);
  if (t->n > 1) sw_text_printf(out, " x%d", t->n);
  if (t->hidden_s > 0) {
    sw_text_puts(out, ", ");
    sw_text_seconds(out, t->hidden_s);
    sw_text_puts(out, " hidden behind arithmetic");
  }
  if (t->break_s > 0) {
    sw_text_puts(out, ", and ");
    sw_text_seconds(out, t->break_s);
    sw_text_puts(out, " in kernels around it");
  }
  sw_text_puts(out, "\n");
  if (t->reshards && e->breakdown->timeline)
    sw_beside_print(e->plan, e->breakdown, (int32_t)(t->reshards[0] - e->breakdown->reshards), -1, "runs", out);
  if (t->reshards)
    print_reshard(e, t->reshards[0], out);
  else
    print_inside(e, t->ops[0], out);
  if (t->explained) print_options(e, t->n_options, t->options, value_of_traffic(e, t), t->n, out);
  if (t->explained && t->because) sw_text_printf(out, "    because: %s\n", t->because);
}

static void print_top(const sw_explanation *e, sw_text *out) {
  double seconds = 0, hidden_s = 0, shown_s = 0;
  for (int32_t i = 0; i < e->n_traffic; i++) {
    seconds += e->traffic[i].seconds;
    hidden_s += e->traffic[i].hidden_s;
    if (i < e->options.top) shown_s += e->traffic[i].seconds;
  }
  if (!e->n_traffic) {
    sw_text_puts(out, "no communication\n");
    return;
  }
  sw_text_seconds(out, seconds);
  sw_text_puts(out, " of communication beside ");
  sw_text_seconds(out, e->breakdown->total_s);
  sw_text_puts(out, " in all, ");
  sw_text_seconds(out, seconds - hidden_s);
  sw_text_printf(out, " of it exposed; %d kinds\n", e->n_traffic);
  for (int32_t i = 0; i < e->options.top && i < e->n_traffic; i++) {
    sw_text_printf(out, "\n%d. ", i + 1);
    print_traffic(e, &e->traffic[i], out);
  }
  if (e->n_traffic <= e->options.top) return;
  sw_text_printf(out, "\n%d more: ", e->n_traffic - e->options.top);
  sw_text_seconds(out, seconds - shown_s);
  sw_text_puts(out, "; --top shows more, a name explains a value\n");
}

static void print_host_copies(const sw_explanation *e, sw_id offload, sw_text *out) {
  const sw_graph *g = e->plan->job.graph;
  const sw_value *away = &g->values[g->ops[offload].results[0]];
  sw_beside_print(e->plan, e->breakdown, -1, offload, "goes there", out);
  for (int32_t i = 0; i < away->n_uses; i++)
    if (away->uses[i].op >= 0) sw_beside_print(e->plan, e->breakdown, -1, away->uses[i].op, "comes back", out);
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static void print_value(const sw_explanation *e, const sw_explained_value *x, sw_text *out) {
  const sw_graph *g = e->plan->job.graph;
  const sw_value *v = &g->values[x->values[0]];
  sw_text_printf(out, "%s: ", x->name);
  sw_type_print(&v->type, out);
  sw_text_printf(out, ", %s as ", v->def < 0 ? "held" : "made");
  sw_sharding_print(sw_explanation_mesh(e), &x->sharding, out);
  if (x->n > 1) sw_text_printf(out, "; %d alike, of the first:", x->n);
  sw_text_puts(out, "\n    from ");
  print_maker(e, x->values[0], out);
  for (int32_t i = 0, shown = 0; i < v->n_uses && shown < MOST_USERS; i++) {
    sw_sharding wants;
    if (i && v->uses[i].op >= 0 && v->uses[i].op == v->uses[i - 1].op) continue; /* x * x */
    shown++;
    sw_plan_use_sharding(e->plan, v->uses[i], &wants);
    sw_text_puts(out, "\n    for ");
    print_user(e, v->uses[i], out);
    sw_text_puts(out, ", as ");
    sw_sharding_print(sw_explanation_mesh(e), &wants, out);
  }
  if (v->n_uses > MOST_USERS) sw_text_printf(out, "\n    and %d more", v->n_uses - MOST_USERS);
  sw_text_puts(out, "\n");
  print_options(e, x->n_options, x->options, x->values[0], x->n, out);
  if (x->because) sw_text_printf(out, "    because: %s\n", x->because);
  if (sw_again_is_any(&x->again)) {
    sw_text_puts(out, "    ");
    sw_again_print(e->plan, e->breakdown, &x->again, out);
    sw_text_puts(out, "\n");
    if (x->again.offload >= 0 && e->breakdown->timeline) print_host_copies(e, x->again.offload, out);
  }
  for (int32_t i = 0; i < x->n_traffic; i++) {
    sw_text_puts(out, "\n  ");
    print_traffic(e, &e->traffic[x->traffic[i]], out);
  }
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

static void print_held_rows(const sw_memory *m, int64_t peak, sw_text *out) {
  enum { MOST_ROWS = 6 };
  sw_columns c = {.n = 4, .right = {false, true, true, false}};
  for (int k = 0; k < SW_MEMORY_CLASSES; k++) {
    int32_t shown = 0, n = 0;
    if (!m->bytes[k]) continue;
    sw_columns_add(&c, "%s", sw_memory_class_text((sw_memory_class)k));
    sw_columns_add_bytes(&c, (double)m->bytes[k]);
    sw_columns_add(&c, "%.1f %%", sw_percent_of((double)m->bytes[k], (double)peak));
    sw_columns_add(&c, "%s", "");
    for (int32_t i = 0; i < m->n; i++) {
      if ((int)m->rows[i].class_of != k || n++ >= MOST_ROWS) continue;
      shown++;
      sw_columns_add(&c, m->rows[i].count > 1 ? "  x%d" : "", m->rows[i].count);
      sw_columns_add_bytes(&c, (double)m->rows[i].bytes);
      sw_columns_add(&c, "%s", "");
      sw_columns_add(&c, "%s", m->rows[i].name);
    }
    if (n == shown) continue;
    for (int i = 0; i < 3; i++) sw_columns_add(&c, "%s", "");
    sw_columns_add(&c, "and %d more", n - shown);
  }
  sw_columns_print(&c, 2, out);
}

static void print_lower(const sw_explanation *e, sw_text *out) {
  sw_columns c = {.n = 5, .right = {false, true, false, true, true}};
  sw_text_puts(out, "\nheld otherwise, alone: the cheapest per byte, of each\n");
  for (int32_t i = 0; i < e->n_lower; i++) {
    const sw_lower *x = &e->lower[i];
    sw_text as = {0}, time = {0};
    sw_sharding_print(sw_explanation_mesh(e), &x->alone.sharding, &as);
    print_difference(x->alone.total_s - e->breakdown->total_s, &time);
    sw_columns_add(&c, "%s", x->name);
    sw_columns_add(&c, x->n > 1 ? "x%d" : "", x->n);
    sw_columns_add(&c, "%s", sw_text_str(&as));
    sw_columns_add(&c, "%s", sw_text_str(&time));
    sw_text_free(&time);
    sw_text_puts(&time, "-");
    sw_text_bytes(&time, (double)(e->breakdown->peak_bytes - x->alone.peak_bytes));
    sw_columns_add(&c, "%s", sw_text_str(&time));
    if (as.rc || time.rc) c.cells.rc = SW_E_RESOURCE;
    sw_text_free(&as);
    sw_text_free(&time);
  }
  sw_columns_print(&c, 2, out);
  if (!e->n_lower)
    sw_text_puts(out, "  nothing that is held at the peak leaves less of it when it alone is cut otherwise\n");
}

static void print_peak(const sw_explanation *e, sw_text *out) {
  const sw_graph *g = e->plan->job.graph;
  const int32_t step = e->breakdown->peak_step;
  sw_arena scratch = {0};
  sw_memory m;
  sw_text_bytes(out, (double)e->breakdown->peak_bytes);
  if (e->plan->capacity_bytes != INT64_MAX) {
    sw_text_puts(out, " of ");
    sw_text_bytes(out, (double)e->plan->capacity_bytes);
  }
  sw_text_puts(out, " per device at the peak, ");
  if (step < g->n_ops)
    print_user(e, (sw_value_use){step, 0}, out);
  else
    sw_text_puts(out, "the end");
  sw_text_puts(out, "\n");
  if (sw_memory_at(e->plan, e->breakdown, step, &scratch, &m, NULL))
    out->rc = SW_E_RESOURCE;
  else
    print_held_rows(&m, e->breakdown->peak_bytes, out);
  sw_arena_deinit(&scratch);
  print_lower(e, out);
}

/* The names that --trips takes. */
static void print_trips(const sw_graph *g, sw_text *out) {
  for (int32_t i = 0; i < g->n_frames; i++) {
    const sw_frame *f = &g->frames[i];
    if (!sw_frame_is_open(f)) continue;
    sw_text_printf(out, "loop '%s' ", g->ops[f->opened_by].name);
    if (f->assumed)
      sw_text_printf(out, "is taken to run %lld times", (long long)f->trips);
    else
      sw_text_puts(out, "is priced as one trip, as nobody says how many it makes");
    sw_text_puts(out, " (--trips)\n");
  }
}

static void print_head(const sw_explanation *e, sw_text *out) {
  const sw_plan *p = e->plan;
  sw_text_printf(out, "%s on %s, mesh ", p->job.graph->name, sw_profile_name(sw_machine_profile(p->job.machine)));
  sw_mesh_print(sw_explanation_mesh(e), out);
  sw_text_puts(out, "; ");
  sw_compiled_print(&p->job, out);
  sw_text_puts(out, "\n");
  print_trips(p->job.graph, out);
  sw_text_puts(out, "\n");
}

void sw_explanation_table(const sw_explanation *e, sw_text *out) {
  print_head(e, out);
  for (int32_t i = 0; i < e->n_values; i++) {
    if (i) sw_text_puts(out, "\n");
    print_value(e, &e->values[i], out);
  }
  if (e->options.top) print_top(e, out);
  if (e->options.peak) print_peak(e, out);
}
