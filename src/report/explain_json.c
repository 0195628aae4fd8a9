/* Why a plan is as it is (explain.h), as JSON: docs/explain.schema.json. */
#include "graph/find.h"
#include "io/json_write.h"
#include "report/made_again.h"
#include "report/memory.h"
#include "report/places.h"
#include "shardwright/explain.h"

static void put_alone(sw_json_out *o, const sw_explanation *e, const sw_alternative *x) {
  sw_jw_row(o, "ops");
  for (int32_t i = 0; i < x->n_ops; i++) {
    const sw_op *op = &e->plan->job.graph->ops[x->ops[i]];
    sw_text t = {0};
    sw_strategy_print(sw_explanation_mesh(e), op->nest, &x->strategies[i], &t);
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "name", op->name);
    sw_jw_text(o, "strategy", &t);
    sw_jw_end(o);
  }
  sw_jw_end(o);
  sw_jw_object_row(o, "alone");
  sw_jw_bool(o, "possible", x->legal);
  if (!x->legal) sw_jw_string(o, "why", x->why);
  if (x->legal) {
    sw_jw_f64(o, "total_s", x->total_s);
    sw_jw_i64(o, "peak_bytes", x->peak_bytes);
    sw_jw_f64(o, "op_s", x->op_s);
    sw_jw_f64(o, "value_s", x->value_s);
    sw_jw_f64(o, "others_s", x->others_s);
  }
  sw_jw_end(o);
}

static void put_anew(sw_json_out *o, const sw_anew *a) {
  if (!a->asked) return;
  sw_jw_object_row(o, "anew");
  if (a->pins) sw_jw_string(o, "pins", a->pins);
  sw_jw_bool(o, "made", a->made);
  if (!a->made) sw_jw_string(o, "why", a->why);
  if (a->made) {
    sw_jw_f64(o, "total_s", a->total_s);
    sw_jw_f64(o, "gap", a->gap);
    sw_jw_i64(o, "peak_bytes", a->peak_bytes);
  }
  sw_jw_end(o);
}

static void put_options(sw_json_out *o, const sw_explanation *e, int32_t n, const sw_explained_option *options,
                        const char *because) {
  static const char *const kWays[] = {[SW_WAY_MADE] = "made", [SW_WAY_TAKEN] = "taken"};
  sw_jw_array(o, "options");
  for (int32_t i = 0; i < n; i++) {
    sw_jw_object(o, NULL);
    sw_jw_string(o, "way", kWays[options[i].way]);
    sw_jw_sharding(o, "sharding", sw_explanation_mesh(e), &options[i].alone.sharding);
    put_alone(o, e, &options[i].alone);
    put_anew(o, &options[i].anew);
    sw_jw_end(o);
  }
  sw_jw_end(o);
  if (because) sw_jw_string(o, "because", because);
}

static void put_maker(sw_json_out *o, const sw_graph *g, sw_id value) {
  const sw_value *v = &g->values[value];
  sw_jw_object_row(o, "made_by");
  sw_jw_string(o, "name", v->def >= 0 ? g->ops[v->def].name : v->name);
  sw_jw_string(o, "op", v->def >= 0 ? sw_opcode_text(g->ops[v->def].code) : "argument");
  if (v->def >= 0)
    sw_jw_places(o, &g->ops[v->def]);
  else
    sw_jw_place(o, "location", v->span);
  sw_jw_end(o);
}

static void put_users(sw_json_out *o, const sw_explanation *e, int32_t n, const sw_value_use *uses) {
  const sw_graph *g = e->plan->job.graph;
  sw_jw_array(o, "wanted_by");
  for (int32_t i = 0; i < n; i++) {
    sw_sharding s;
    sw_plan_use_sharding(e->plan, uses[i], &s);
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "name", sw_use_name(g, uses[i]));
    sw_jw_string(o, "op", uses[i].op >= 0 ? sw_opcode_text(g->ops[uses[i].op].code) : "output");
    sw_jw_sharding(o, "sharding", sw_explanation_mesh(e), &s);
    if (uses[i].op >= 0)
      sw_jw_places(o, &g->ops[uses[i].op]);
    else
      sw_jw_place(o, "location", g->output_spans[uses[i].index]);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

static void put_reshard(sw_json_out *o, const sw_explanation *e, const sw_plan_reshard *r) {
  put_maker(o, e->plan->job.graph, r->value);
  put_users(o, e, r->n_uses, r->uses);
  sw_jw_sharding(o, "from", sw_explanation_mesh(e), &r->from);
  sw_jw_sharding(o, "to", sw_explanation_mesh(e), &r->to);
  sw_jw_array(o, "steps");
  for (int k = 0; k < r->route->n_steps; k++) {
    sw_text t = {0};
    sw_collective_print(sw_explanation_mesh(e), &r->route->step[k].coll, &t);
    sw_jw_object_row(o, NULL);
    sw_jw_text(o, "collective", &t);
    sw_jw_f64(o, "seconds", r->route->step[k].cost_s);
    sw_jw_f64(o, "bytes", r->route->step[k].max_bytes);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

static void put_traffic(sw_json_out *o, const sw_explanation *e, const sw_traffic *t) {
  const sw_graph *g = e->plan->job.graph;
  sw_jw_object(o, NULL);
  sw_jw_string(o, "name", t->name);
  sw_jw_string(o, "kind", t->reshards ? "reshard" : "inside");
  sw_jw_i64(o, "count", t->n);
  sw_jw_row(o, t->reshards ? "values" : "ops");
  for (int32_t i = 0; i < t->n; i++)
    sw_jw_string(o, NULL, t->reshards ? g->values[t->reshards[i]->value].name : g->ops[t->ops[i]].name);
  sw_jw_end(o);
  sw_jw_f64(o, "seconds", t->seconds);
  sw_jw_f64(o, "hidden_s", t->hidden_s);
  sw_jw_f64(o, "break_s", t->break_s);
  sw_jw_f64(o, "bytes", t->bytes);
  if (t->reshards) put_reshard(o, e, t->reshards[0]);
  if (t->explained) put_options(o, e, t->n_options, t->options, t->because);
  sw_jw_end(o);
}

static void put_value_again(sw_json_out *o, const sw_explanation *e, const sw_again *x) {
  sw_text t = {0};
  sw_again_print(e->plan, e->breakdown, x, &t);
  sw_jw_object_row(o, "made_again");
  sw_jw_text(o, "in_words", &t);
  if (x->offload >= 0) sw_jw_i64(o, "host_bytes", x->host_bytes), sw_jw_f64(o, "host_s", x->host_s);
  if (x->copy < 0) {
    sw_jw_end(o);
    return;
  }
  sw_jw_string(o, "by", e->plan->job.graph->ops[x->copy].name);
  sw_jw_i64(o, "ops", x->n_ops);
  sw_jw_f64(o, "seconds", x->seconds);
  sw_jw_i64(o, "bytes_if_kept", x->bytes);
  sw_jw_i64(o, "peak_bytes_if_kept", e->breakdown->bytes_at[x->fullest] + x->bytes);
  sw_jw_end(o);
}

static void put_explained_value(sw_json_out *o, const sw_explanation *e, const sw_explained_value *x) {
  const sw_graph *g = e->plan->job.graph;
  const sw_value *v = &g->values[x->values[0]];
  sw_text type = {0};
  sw_type_print(&v->type, &type);
  sw_jw_object(o, NULL);
  sw_jw_string(o, "name", x->name);
  sw_jw_i64(o, "count", x->n);
  sw_jw_row(o, "values");
  for (int32_t i = 0; i < x->n; i++) sw_jw_string(o, NULL, g->values[x->values[i]].name);
  sw_jw_end(o);
  sw_jw_text(o, "type", &type);
  sw_jw_sharding(o, "sharding", sw_explanation_mesh(e), &x->sharding);
  put_maker(o, g, x->values[0]);
  put_users(o, e, v->n_uses, v->uses);
  put_options(o, e, x->n_options, x->options, x->because);
  if (sw_again_is_any(&x->again)) put_value_again(o, e, &x->again);
  sw_jw_row(o, "traffic");
  for (int32_t i = 0; i < x->n_traffic; i++) sw_jw_i64(o, NULL, x->traffic[i]);
  sw_jw_end(o);
  sw_jw_end(o);
}

static void put_memory(sw_json_out *o, const sw_explanation *e) {
  sw_arena scratch = {0};
  sw_memory m = {0};
  if (sw_memory_at(e->plan, e->breakdown, e->breakdown->peak_step, &scratch, &m, NULL)) o->text->rc = SW_E_RESOURCE;
  sw_jw_object(o, "peak");
  sw_jw_i64(o, "step", e->breakdown->peak_step);
  sw_memory_rows_json(&m, "held", o);
  sw_jw_array(o, "lower");
  for (int32_t i = 0; i < e->n_lower; i++) {
    const sw_lower *x = &e->lower[i];
    sw_jw_object(o, NULL);
    sw_jw_string(o, "name", x->name);
    sw_jw_i64(o, "count", x->n);
    sw_jw_string(o, "value", e->plan->job.graph->values[x->value].name);
    sw_jw_sharding(o, "sharding", sw_explanation_mesh(e), &x->alone.sharding);
    put_alone(o, e, &x->alone);
    sw_jw_end(o);
  }
  sw_jw_end(o);
  sw_jw_end(o);
  sw_arena_deinit(&scratch);
}

/* Loops of which the program does not say how often they run; nothing where there are none. */
static void put_open_loops(sw_json_out *o, const sw_graph *g) {
  bool any = false;
  for (int32_t i = 0; i < g->n_frames; i++) any = any || sw_frame_is_open(&g->frames[i]);
  if (!any) return;
  sw_jw_object_row(o, "trips");
  for (int32_t i = 0; i < g->n_frames; i++) {
    const sw_frame *f = &g->frames[i];
    if (sw_frame_is_open(f)) sw_jw_i64(o, g->ops[f->opened_by].name, f->assumed ? f->trips : 1);
  }
  sw_jw_end(o);
}

void sw_explanation_json(const sw_explanation *e, sw_text *out) {
  const sw_plan *p = e->plan;
  sw_json_out o;
  sw_json_out_init(&o, out);
  sw_jw_format(&o, "explain", 1);
  sw_jw_string(&o, "model", p->job.graph->name);
  sw_jw_string(&o, "profile", sw_profile_name(sw_machine_profile(p->job.machine)));
  sw_jw_mesh(&o, "mesh", sw_explanation_mesh(e));
  sw_jw_string(&o, "compiler", sw_compiled_as(&p->job));
  put_open_loops(&o, p->job.graph);
  sw_jw_f64(&o, "total_s", e->breakdown->total_s);
  sw_jw_i64(&o, "peak_bytes", e->breakdown->peak_bytes);
  if (p->capacity_bytes != INT64_MAX) sw_jw_i64(&o, "capacity_bytes", p->capacity_bytes);
  if (e->options.free_plan) sw_jw_f64(&o, "total_s_without_limit", e->free_total_s);
  sw_jw_array(&o, "traffic");
  for (int32_t i = 0; i < e->n_traffic; i++) put_traffic(&o, e, &e->traffic[i]);
  sw_jw_end(&o);
  sw_jw_array(&o, "explained");
  for (int32_t i = 0; i < e->n_values; i++) put_explained_value(&o, e, &e->values[i]);
  sw_jw_end(&o);
  if (e->options.peak) put_memory(&o, e);
  sw_jw_end(&o);
}
