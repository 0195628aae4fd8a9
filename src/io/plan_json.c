/* plan.json: see docs/plan-format.md.
 *
 *   {"format": "shardwright-plan", "version": 2, "model": {"name": .., "hash": ..}, "mesh": "x=2,y=4",
 *    "profile": {..}, "search": {..}, "arguments": [{"name": "w1", "sharding": "[[],[y]]", "form": "f32[8,16]"}],
 *    "ops": [{"name": "dot.0", "strategy": "d2:[y]", "form": "dot_general f32[4,16]"}],
 *    "outputs": [{"name": "y", "sharding": "[[x],[]]"}]}
 */
#include "shardwright/log.h"
#include "shardwright/kernel.h"
#include "shardwright/plan_json.h"

#include <string.h>

#include "graph/said.h"
#include "io/json_tree.h"
#include "io/json_write.h"
#include "io/plan_match.h"
#include "io/schedule_json.h"
#include "strategy/demands.h"
#include "base/array.h"

enum { FIRST_VERSION = 1, PLAN_VERSION = 2 }; /* the second can have a schedule */
static const char kFormat[] = "shardwright-plan", kSchedule[] = "shardwright-schedule";

/* --- writing ----------------------------------------------------------------------------------------------------- */

static void put_hash(sw_json_out *o, uint64_t hash) {
  char text[20];
  snprintf(text, sizeof text, "%016llx", (unsigned long long)hash);
  sw_jw_string(o, "hash", text);
}

static void put_named_sharding(sw_json_out *o, const sw_mesh *m, const char *name, const sw_sharding *s) {
  sw_jw_object_row(o, NULL);
  sw_jw_string(o, "name", name);
  sw_jw_sharding(o, "sharding", m, s);
  sw_jw_end(o);
}

/* By which it is known again under another name (plan_match.h). */
static void print_form(const sw_graph *g, const sw_op *op, sw_text *out) {
  sw_text_puts(out, sw_opcode_text(op->code));
  if (op->n_results) sw_text_puts(out, " ");
  if (op->n_results) sw_type_print(sw_result_type(g, op, 0), out);
}

/* Without forms where sizes are not known. */
static void put_arguments(sw_json_out *o, const sw_plan *p, bool forms) {
  const sw_graph *g = p->job.graph;
  sw_jw_array(o, "arguments");
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    sw_text form = {0};
    if (forms) sw_type_print(&v->type, &form);
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "name", v->name);
    const sw_sharding said = sw_value_said(p->job.request, g->args[i], &p->args[i]);
    sw_jw_sharding(o, "sharding", sw_machine_mesh(p->job.machine), &said);
    if (forms) sw_jw_text(o, "form", &form);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

static void put_search(sw_json_out *o, const sw_plan *p) {
  bool searched = p->solver && strcmp(p->origin, "search") == 0; /* not of a plan that was read */
  sw_jw_object(o, "search");
  sw_jw_string(o, "origin", p->origin);
  if (searched) {
    double gap = sw_plan_gap(p);
    sw_jw_string(o, "status", sw_solve_status_text(p->status));
    sw_jw_string(o, "solver", p->solver);
    sw_jw_i64(o, "cost_units", p->cost_units);
    sw_jw_i64(o, "bound_units", p->bound_units);
    sw_jw_i64(o, "found_units", p->found_units);
    sw_jw_f64(o, "gap", gap);
    sw_jw_bool(o, "bound_proven", sw_plan_bound_is_proven(p));
    sw_jw_i64(o, "strategies_dropped_inexactly", p->pruned_inexact);
  }
  if (p->capacity_bytes != INT64_MAX) sw_jw_i64(o, "capacity_bytes", p->capacity_bytes);
  sw_jw_end(o);
}

static void put_costs(sw_json_out *o, const sw_breakdown *a) {
  sw_jw_object(o, "costs");
  sw_jw_f64(o, "total_s", a->total_s);
  sw_jw_f64(o, "local_s", a->local_s);
  sw_jw_f64(o, "move_s", a->move_s);
  sw_jw_f64(o, "reshard_s", a->reshard_s);
  sw_jw_i64(o, "peak_bytes", a->peak_bytes);
  sw_jw_i64(o, "parameter_bytes", a->param_bytes);
  sw_jw_end(o);
}

static void put_ops(sw_json_out *o, const sw_plan *p, bool forms) {
  const sw_graph *g = p->job.graph;
  sw_jw_array(o, "ops");
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    sw_text t = {0}, form = {0};
    sw_strategy_print(sw_machine_mesh(p->job.machine), op->nest, &p->ops[i], &t);
    if (forms) print_form(g, op, &form);
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "name", op->name);
    sw_jw_text(o, "strategy", &t);
    if (forms) sw_jw_text(o, "form", &form);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

static void put_stated(sw_json_out *o, const sw_plan *p) {
  if (!p->n_stated) return;
  sw_jw_array(o, "stated");
  for (int32_t i = 0; i < p->n_stated; i++) {
    const sw_stated *s = &p->stated[i];
    const sw_op *op = &p->job.graph->ops[s->op];
    const bool operand = s->port < op->n_operands;
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "name", op->name);
    sw_jw_i64(o, operand ? "operand" : "result", operand ? s->port : s->port - op->n_operands);
    sw_jw_sharding(o, "sharding", sw_machine_mesh(p->job.machine), &s->sharding);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

/* How often loops were taken to run. */
static void put_trips(sw_json_out *o, const sw_graph *g) {
  bool any = false;
  for (int32_t i = 0; i < g->n_frames; i++) any = any || g->frames[i].assumed;
  if (!any) return;
  sw_jw_object_row(o, "trips");
  for (int32_t i = 0; i < g->n_frames; i++)
    if (g->frames[i].assumed) sw_jw_i64(o, g->ops[g->frames[i].opened_by].name, g->frames[i].trips);
  sw_jw_end(o);
}

static void put_shared(sw_json_out *o, const sw_plan *p) {
  if (!p->n_shared) return;
  sw_jw_array(o, "shared");
  for (int32_t i = 0; i < p->n_shared; i++) {
    put_named_sharding(o, sw_machine_mesh(p->job.machine), p->job.graph->values[p->shared[i].value].name,
                       &p->shared[i].sharding);
  }
  sw_jw_end(o);
}

/* What is open of a model, in place of its hash. */
static void put_sizes(sw_json_out *o, const sw_open_measures *open) {
  sw_jw_row(o, "sizes");
  for (int i = 0; i < open->n; i++) sw_jw_string(o, NULL, open->sizes[i]);
  sw_jw_end(o);
}

static void put_open_costs(sw_json_out *o, const sw_open_measures *open) {
  sw_jw_object(o, "costs");
  sw_jw_string(o, "moved_bytes", open->moved_bytes);
  sw_jw_string(o, "redundant_flops", open->redundant_flops);
  sw_jw_end(o);
}

/* Open axes as "?". */
static void put_plan_mesh(sw_json_out *o, const sw_mesh *m, uint32_t open) {
  sw_mesh said = *m;
  for (int a = 0; a < m->n_axes; a++) said.axis[a].size = open >> a & 1 ? -1 : m->axis[a].size;
  sw_jw_mesh(o, "mesh", &said);
}

static sw_rc write_plan(const sw_plan *p, const sw_breakdown *breakdown, const sw_open_measures *open, sw_text *out,
                        sw_diag *d) {
  const sw_graph *g = p->job.graph;
  const sw_mesh *m = sw_machine_mesh(p->job.machine);
  const sw_profile *profile = sw_machine_profile(p->job.machine);
  sw_json_out o;
  sw_json_out_init(&o, out);
  sw_jw_format(&o, "plan", PLAN_VERSION);
  sw_jw_object_row(&o, "model");
  sw_jw_string(&o, "name", g->name);
  if (open)
    put_sizes(&o, open);
  else
    put_hash(&o, sw_request_hash(sw_job_written(&p->job)));
  sw_jw_end(&o);
  put_plan_mesh(&o, m, open ? open->open_axes : 0);
  sw_jw_object_row(&o, "profile");
  sw_jw_string(&o, "name", sw_profile_name(profile));
  put_hash(&o, sw_profile_hash(profile));
  sw_jw_end(&o);
  if (p->job.kernels) sw_jw_string(&o, "compiler", p->job.kernels->compiler);
  if (p->job.kernels) sw_jw_string(&o, "dtype", sw_dtype_text(sw_job_dtype(&p->job)));
  if (p->job.overlap) sw_jw_string(&o, "overlap", sw_overlap_text(p->job.overlap));
  put_trips(&o, g);
  if (p->job.schedule) sw_schedule_put(&o, "schedule", p->job.schedule, p->job.stage);
  put_search(&o, p);
  if (breakdown) put_costs(&o, breakdown);
  if (open && open->moved_bytes) put_open_costs(&o, open);
  sw_jw_bool(&o, "args_whole", p->args_whole);
  put_arguments(&o, p, !open);
  put_ops(&o, p, !open);
  put_stated(&o, p);
  sw_jw_array(&o, "outputs");
  for (int32_t i = 0; i < g->n_outputs; i++) {
    const sw_sharding said = sw_output_said(p->job.request, i, &p->outputs[i]);
    put_named_sharding(&o, m, g->output_names[i], &said);
  }
  sw_jw_end(&o);
  put_shared(&o, p);
  sw_jw_end(&o);
  return out->rc ? SW_FAIL(d, out->rc, SW_NOWHERE, "cannot write the plan") : SW_OK;
}

sw_rc sw_plan_write(const sw_plan *p, const sw_breakdown *breakdown, sw_text *out, sw_diag *d) {
  return write_plan(p, breakdown, NULL, out, d);
}

sw_rc sw_plan_write_open(const sw_plan *p, const sw_open_measures *open, sw_text *out, sw_diag *d) {
  return write_plan(p, NULL, open, out, d);
}

/* --- reading ----------------------------------------------------------------------------------------------------- */

/* A plan for another version of the model, while it is read. */
typedef struct transfer {
  sw_plan_transfer *out;
  bool *args, *ops, *outputs;
  SW_ARRAY(sw_plan_left) left;
  SW_ARRAY(sw_plan_renamed) renamed;
} transfer;

typedef struct reader {
  const sw_job *job;
  sw_arena *arena, *tree;
  sw_plan *p;
  transfer *t;           /* take what fits, and say what does not; NULL: all must fit */
  const sw_json **of_op; /* by id: the entry that has been read; NULL: none yet, as of: */
  const sw_json **of_value;
} reader;

/* Of a plan for another version of the model, what does not fit is left out, and said. */
static sw_rc leave_out_entry(const reader *r, sw_rc rc, const sw_json *entry, sw_diag *d) {
  sw_diag own = {0};
  const sw_diag *why = d ? d : &own;
  if (rc != SW_E_INPUT) return rc;
  const sw_span at = sw_json_span(entry);
  sw_plan_left left = {at.line, at.col, sw_arena_strndup(r->arena, why->text, strlen(why->text), NULL)};
  if (d) *d = (sw_diag){0};
  if (!left.why) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  return sw_array_push(&r->t->left, left, d);
}

static sw_rc check_format(const sw_json *root, sw_diag *d) {
  static const char *const kKeys[] = {"format", "version",    "model",     "mesh",  "profile",  "search",
                                      "costs",  "args_whole", "arguments", "ops",   "outputs",  "shared",
                                      "stated", "compiler",   "dtype",     "trips", "schedule", "overlap"};
  const char *format;
  int64_t version;
  SW_TRY(sw_json_only(root, kKeys, (int)(sizeof kKeys / sizeof kKeys[0]), "a plan", d));
  SW_TRY(sw_json_string(root, "format", &format, d));
  if (strcmp(format, kFormat) != 0) {
    return SW_FAIL_INPUT(d, sw_json_span(root), "the format is '%s'; expected '%s'", format, kFormat);
  }
  return sw_json_i64(root, "version", FIRST_VERSION, PLAN_VERSION, &version, d);
}

/* Is it for just this model? Not where it is for another version, which is told; else it must be. */
static sw_rc check_model_of_plan(const reader *r, const sw_json *root, sw_diag *d) {
  const sw_json *of;
  const char *name, *hash;
  char now[20];
  SW_TRY(sw_json_object(root, "model", &of, d));
  SW_TRY(sw_json_string(of, "name", &name, d));
  bool same = sw_json_find(of, "sizes") != NULL; /* of any sizes: whether it fits is seen op by op */
  if (!same) {
    SW_TRY(sw_json_string(of, "hash", &hash, d));
    snprintf(now, sizeof now, "%016llx", (unsigned long long)sw_request_hash(sw_job_written(r->job)));
    same = strcmp(hash, now) == 0;
  }
  if (r->t) r->t->out->same_model = same;
  if (r->t || same) return SW_OK;
  return SW_FAIL_INPUT(d, sw_json_span(of),
                       "the plan is stale: it was made for model '%s' of hash %s; the one given has hash %s", name,
                       hash, now);
}

static sw_rc check_mesh_of_plan(const sw_json *root, const sw_mesh *m, sw_diag *d) {
  const char *text;
  SW_TRY(sw_json_string(root, "mesh", &text, d));
  sw_text now = {0};
  sw_mesh_print(m, &now);
  bool same = !now.rc && strcmp(text, sw_text_str(&now)) == 0;
  sw_rc rc = same ? SW_OK
                  : SW_FAIL_INPUT(d, sw_json_span(sw_json_find(root, "mesh")), "the plan is for the mesh %s, not %s",
                                  text, sw_text_str(&now));
  sw_text_free(&now);
  return rc;
}

/* Members name and `key` of an entry. */
static sw_rc read_plan_entry(const sw_json *v, const char *key, const char **name, const char **text, sw_diag *d) {
  const char *const keys[] = {"name", key, "form"};
  SW_TRY(sw_json_only(v, keys, 3, "an entry of a plan", d));
  SW_TRY(sw_json_string(v, "name", name, d));
  return sw_json_string(v, key, text, d);
}

/* Of two entries for one thing neither is believed. */
static sw_rc note_entry(const sw_json **of, const sw_json *v, const char *what, const char *name, sw_diag *d) {
  if (*of)
    return SW_FAIL_INPUT(d, sw_json_span(v), "%s '%s' stands twice in the plan; the first time at line %d", what, name,
                         sw_json_span(*of).line);
  *of = v;
  return SW_OK;
}

static sw_rc read_plan_sharding(const reader *r, const sw_json *at, const char *text, const sw_type *type,
                                sw_sharding *out, sw_diag *d) {
  const sw_mesh *mesh = sw_machine_mesh(r->job->machine);
  sw_sharding s;
  SW_TRY(sw_sharding_parse(mesh, type->rank, text, strlen(text), sw_json_span(at), r->arena, &s, d));
  const bool fits = sw_sharding_verify(mesh, &s, type->rank, type->dims, NULL) == SW_OK; /* else said with its place */
  if (fits) SW_TRY(sw_sharding_settle(mesh, &s, r->arena, d));
  *out = s;
  return SW_OK;
}

static sw_rc read_argument(const reader *r, const sw_json *v, sw_id id, const char *name, sw_diag *d) {
  const sw_json *at = sw_json_find(v, "sharding");
  const sw_type *type = &r->job->graph->values[id].type;
  sw_sharding *out = &r->p->args[r->job->graph->values[id].def_index];
  SW_TRY(note_entry(&r->of_value[id], v, "argument", name, d));
  if (!r->t) return read_plan_sharding(r, at, at->text, type, out, d);
  sw_sharding s;
  SW_TRY(read_plan_sharding(r, at, at->text, type, &s, d));
  SW_TRY(sw_sharding_verify(sw_machine_mesh(r->job->machine), &s, type->rank, type->dims, d));
  *out = s;
  return SW_OK;
}

static sw_rc read_arguments(const reader *r, const sw_json *list, sw_diag *d) {
  for (int32_t i = 0; i < list->n; i++) {
    const char *name, *text;
    const sw_json *v = &list->at[i];
    SW_TRY(read_plan_entry(v, "sharding", &name, &text, d));
    sw_id id = sw_graph_value_named(r->job->graph, name);
    if (id < 0 || r->job->graph->values[id].def >= 0) {
      return SW_FAIL_INPUT(d, sw_json_span(v), "the model has no argument '%s'", name);
    }
    SW_TRY(read_argument(r, v, id, name, d));
  }
  return SW_OK;
}

static sw_rc read_strategy(const reader *r, sw_id id, const char *text, sw_span at, sw_strategy *out, sw_diag *d) {
  const sw_op *op = &r->job->graph->ops[id];
  sw_diag inner = {0};
  SW_TRY_NOTE(d, sw_strategy_parse(r->job->graph, op, sw_machine_mesh(r->job->machine), text, at, r->arena, out, d),
              "in the strategy of '%s' at line %d", op->name, at.line);
  sw_rc rc = sw_strategy_check(r->job->graph, op, sw_machine_mesh(r->job->machine), out, &inner);
  if (rc) return SW_FAIL(d, rc, at, "op '%s' cannot be cut as '%s': %s", op->name, text, inner.text);
  sw_strategy_join(out);
  return SW_OK;
}

static sw_rc read_op_strategy(const reader *r, const sw_json *v, sw_id id, const char *name, sw_diag *d) {
  const sw_json *at = sw_json_find(v, "strategy");
  sw_strategy s;
  SW_TRY(note_entry(&r->of_op[id], v, "op", name, d));
  SW_TRY(read_strategy(r, id, at->text, sw_json_span(at), &s, d));
  r->p->ops[id] = s;
  return SW_OK;
}

static sw_rc read_ops(const reader *r, const sw_json *list, sw_diag *d) {
  for (int32_t i = 0; i < list->n; i++) {
    const char *name, *text;
    const sw_json *v = &list->at[i];
    SW_TRY(read_plan_entry(v, "strategy", &name, &text, d));
    sw_id id = sw_graph_op_named(r->job->graph, name);
    if (id < 0) return SW_FAIL_INPUT(d, sw_json_span(v), "the model has no op '%s'", name);
    SW_TRY(read_op_strategy(r, v, id, name, d));
  }
  return SW_OK;
}

/* The port that an entry names: "operand" or "result", and its number. */
static sw_rc read_port(const sw_json *v, const sw_op *op, int32_t *out, sw_diag *d) {
  const bool operand = sw_json_find(v, "operand") != NULL;
  const int32_t n = operand ? op->n_operands : op->n_results;
  int64_t index;
  if (operand == (sw_json_find(v, "result") != NULL))
    return SW_FAIL_INPUT(d, sw_json_span(v), "an entry of \"stated\" names an \"operand\" or a \"result\"");
  if (n == 0) return SW_FAIL_INPUT(d, sw_json_span(v), "op '%s' has none", op->name);
  SW_TRY(sw_json_i64(v, operand ? "operand" : "result", 0, n - 1, &index, d));
  *out = (int32_t)index + (operand ? 0 : op->n_operands);
  return SW_OK;
}

static sw_rc read_stated_entry(const reader *r, const sw_json *v, sw_stated_list *stated, sw_diag *d) {
  static const char *const kKeys[] = {"name", "operand", "result", "sharding"};
  const char *name, *text;
  int32_t port;
  SW_TRY(sw_json_only(v, kKeys, 4, "an entry of \"stated\"", d));
  SW_TRY(sw_json_string(v, "name", &name, d));
  SW_TRY(sw_json_string(v, "sharding", &text, d));
  sw_id id = sw_graph_op_named(r->job->graph, name);
  if (id < 0) return SW_FAIL_INPUT(d, sw_json_span(v), "the model has no op '%s'", name);
  const sw_op *op = &r->job->graph->ops[id];
  SW_TRY(read_port(v, op, &port, d));
  const sw_type *type = sw_port_type(r->job->graph, op, port);
  sw_sharding s = sw_sharding_replicated(type->rank);
  SW_TRY(read_plan_sharding(r, sw_json_find(v, "sharding"), text, type, &s, d));
  SW_TRY_NOTE(d, sw_sharding_verify(sw_machine_mesh(r->job->machine), &s, type->rank, type->dims, d),
              "in \"stated\" of '%s' at line %d", name, sw_json_span(v).line);
  return sw_stated_put(stated, &(sw_stated){id, port, s}, d);
}

static sw_rc read_stated(const reader *r, const sw_json *root, sw_diag *d) {
  const sw_json *list = sw_json_find(root, "stated");
  if (!list) return SW_OK;
  SW_TRY(sw_json_array(root, "stated", &list, d));
  sw_stated_list stated;
  SW_TRY(sw_stated_begin(r->job, list->n, r->arena, &stated, d));
  for (int32_t i = 0; i < list->n; i++) {
    sw_rc rc = read_stated_entry(r, &list->at[i], &stated, d);
    if (rc == SW_E_INPUT) sw_diag_note(d, "in \"stated\" at line %d", sw_json_span(list).line);
    SW_TRY(r->t ? leave_out_entry(r, rc, &list->at[i], d) : rc);
  }
  sw_stated_end(&stated);
  r->p->n_stated = stated.n;
  r->p->stated = stated.at;
  return SW_OK;
}

static sw_rc read_outputs(const reader *r, const sw_json *list, sw_diag *d) {
  const sw_graph *g = r->job->graph;
  if (list->n != g->n_outputs) {
    return SW_FAIL_INPUT(d, sw_json_span(list), "%d outputs; the model has %d", list->n, g->n_outputs);
  }
  for (int32_t i = 0; i < list->n; i++) {
    const char *name, *text;
    const sw_json *v = &list->at[i];
    SW_TRY(read_plan_entry(v, "sharding", &name, &text, d));
    if (strcmp(name, g->output_names[i]) != 0) {
      return SW_FAIL_INPUT(d, sw_json_span(v), "output %d is '%s'; the model calls it '%s'", i, name,
                           g->output_names[i]);
    }
    SW_TRY(
        read_plan_sharding(r, sw_json_find(v, "sharding"), text, &g->values[g->outputs[i]].type, &r->p->outputs[i], d));
  }
  return SW_OK;
}

static sw_rc read_shared(const reader *r, const sw_json *root, sw_diag *d) {
  const sw_json *list = sw_json_find(root, "shared");
  sw_shared_copy *out;
  if (!list) return SW_OK;
  SW_TRY(sw_json_array(root, "shared", &list, d));
  SW_ARENA_NEW(out, r->arena, list->n, d);
  r->p->shared = out;
  for (int32_t i = 0; i < list->n; i++) {
    const char *name, *text;
    const sw_json *v = &list->at[i];
    SW_TRY(read_plan_entry(v, "sharding", &name, &text, d));
    sw_id id = sw_graph_value_named(r->job->graph, name);
    if (id < 0 && r->t) continue;
    if (id < 0) return SW_FAIL_INPUT(d, sw_json_span(v), "the model has no value '%s'", name);
    sw_shared_copy copy = {id, sw_sharding_replicated(r->job->graph->values[id].type.rank)};
    sw_rc rc =
        read_plan_sharding(r, sw_json_find(v, "sharding"), text, &r->job->graph->values[id].type, &copy.sharding, d);
    if (rc == SW_E_INPUT && r->t) continue; /* a search counts it in time */
    if (rc) return rc;
    out[r->p->n_shared++] = copy;
  }
  return SW_OK;
}

static sw_rc read_search(const reader *r, const sw_json *root, sw_diag *d) {
  const sw_json *s = NULL;
  SW_TRY(sw_json_opt_object(root, "search", &s, d));
  r->p->origin = "file";
  if (!s) return SW_OK;
  const char *origin = r->p->origin;
  SW_TRY(sw_json_opt_string(s, "origin", &origin, d));
  SW_TRY(sw_arena_keep(r->arena, origin, &r->p->origin, d));
  return sw_json_opt_i64(s, "capacity_bytes", 0, INT64_MAX, &r->p->capacity_bytes, d);
}

static sw_rc read_compiler(const sw_json *root, const char **made, sw_diag *d) {
  SW_TRY(sw_json_opt_string(root, "compiler", made, d));
  if (sw_compiler_is_known(*made)) return SW_OK;
  return SW_FAIL_INPUT(d, sw_json_span(sw_json_find(root, "compiler")), "compiler '%.40s' is not known; expected %s",
                       *made, SW_COMPILERS);
}

/* A plan for other kernels is as right, and priced otherwise. */
static sw_rc check_compiler(const reader *r, const sw_json *root, sw_diag *d) {
  const char *made = "none", *now = sw_compiled_as(r->job);
  SW_TRY(read_compiler(root, &made, d));
  if (strcmp(made, now) != 0)
    sw_log(SW_LOG_INFO, "the plan was made for kernels as by '%s'; it is priced as by '%s'", made, now);
  return SW_OK;
}

/* --- plans for another version of the model ----------------------------------------------------------------------- */

/* Entries of a list of the file. */
typedef struct entries {
  sw_match_side side;
  const sw_json *list;
  int32_t *to;
} entries;

static sw_rc match_entries(const reader *r, const sw_json *list, const char *key, const sw_match_side *now,
                           entries *out, sw_diag *d) {
  const char **names, **forms;
  SW_ARENA_NEW_EACH(r->tree, list->n, d, names, forms, out->to);
  for (int32_t i = 0; i < list->n; i++) {
    const char *text;
    SW_TRY(read_plan_entry(&list->at[i], key, &names[i], &text, d));
    SW_TRY(sw_json_opt_string(&list->at[i], "form", &forms[i], d));
  }
  out->side = (sw_match_side){list->n, names, forms};
  out->list = list;
  return sw_plan_match(&out->side, now, out->to, d);
}

static sw_rc note_taken(const reader *r, const char *was, const char *now, sw_diag *d) {
  transfer *t = r->t;
  t->out->n_taken++;
  if (strcmp(was, now) == 0) return SW_OK;
  sw_plan_renamed renamed = {sw_arena_strndup(r->arena, was, strlen(was), d), now};
  return renamed.was ? sw_array_push(&t->renamed, renamed, d) : SW_E_RESOURCE;
}

/* The model's side: names and forms of arguments, or of ops. */
static sw_rc list_now(const reader *r, bool ops, sw_match_side *out, sw_diag *d) {
  const char **names, **forms;
  const int32_t n = ops ? r->job->graph->n_ops : r->job->graph->n_args;
  SW_ARENA_NEW_EACH(r->tree, n, d, names, forms);
  for (int32_t i = 0; i < n; i++) {
    sw_text form = {0};
    const sw_value *arg = ops ? NULL : &r->job->graph->values[r->job->graph->args[i]];
    names[i] = ops ? r->job->graph->ops[i].name : arg->name;
    if (ops)
      print_form(r->job->graph, &r->job->graph->ops[i], &form);
    else
      sw_type_print(&arg->type, &form);
    forms[i] = sw_text_keep(&form, r->tree, d);
    if (!forms[i]) return SW_E_RESOURCE;
  }
  *out = (sw_match_side){n, names, forms};
  return SW_OK;
}

static sw_rc leave_unmatched(const reader *r, const entries *e, int32_t i, const char *what, sw_diag *d) {
  (void)SW_FAIL_INPUT(d, sw_json_span(&e->list->at[i]), "the model has no %s '%s', nor one like it in its place", what,
                      e->side.names[i]);
  return leave_out_entry(r, SW_E_INPUT, &e->list->at[i], d);
}

/* Of arguments, or of ops. */
static sw_rc take_entries(const reader *r, const sw_json *list, bool ops, sw_diag *d) {
  bool *taken = ops ? r->t->ops : r->t->args;
  sw_match_side now;
  entries e;
  SW_TRY(list_now(r, ops, &now, d));
  SW_TRY(match_entries(r, list, ops ? "strategy" : "sharding", &now, &e, d));
  for (int32_t i = 0; i < e.side.n; i++) {
    const int32_t at = e.to[i];
    if (at < 0) {
      SW_TRY(leave_unmatched(r, &e, i, ops ? "op" : "argument", d));
      continue;
    }
    sw_rc rc = ops ? read_op_strategy(r, &list->at[i], at, e.side.names[i], d)
                   : read_argument(r, &list->at[i], r->job->graph->args[at], e.side.names[i], d);
    taken[at] = rc == SW_OK;
    SW_TRY(rc ? leave_out_entry(r, rc, &list->at[i], d) : note_taken(r, e.side.names[i], now.names[at], d));
  }
  return SW_OK;
}

static sw_rc take_output(const reader *r, const sw_json *v, int32_t at, sw_diag *d) {
  const sw_json *text = sw_json_find(v, "sharding");
  const sw_type *type = &r->job->graph->values[r->job->graph->outputs[at]].type;
  sw_sharding s;
  SW_TRY(read_plan_sharding(r, text, text->text, type, &s, d));
  SW_TRY(sw_sharding_verify(sw_machine_mesh(r->job->machine), &s, type->rank, type->dims, d));
  r->p->outputs[at] = s;
  r->t->outputs[at] = true;
  r->t->out->n_taken++;
  return SW_OK;
}

/* By name alone: names of outputs are the model's interface. */
static sw_rc take_outputs(const reader *r, const sw_json *list, sw_diag *d) {
  for (int32_t i = 0; i < list->n; i++) {
    const char *name, *text;
    int32_t at = 0;
    SW_TRY(read_plan_entry(&list->at[i], "sharding", &name, &text, d));
    while (at < r->job->graph->n_outputs && strcmp(r->job->graph->output_names[at], name) != 0) at++;
    sw_rc rc = at == r->job->graph->n_outputs
                   ? SW_FAIL_INPUT(d, sw_json_span(&list->at[i]), "the model has no output '%s'", name)
                   : take_output(r, &list->at[i], at, d);
    SW_TRY(leave_out_entry(r, rc, &list->at[i], d));
  }
  return SW_OK;
}

static sw_rc begin_transfer(transfer *t, const reader *r, sw_diag *d) {
  SW_ARENA_NEW(t->args, r->arena, r->job->graph->n_args, d);
  SW_ARENA_NEW(t->ops, r->arena, r->job->graph->n_ops, d);
  SW_ARENA_NEW(t->outputs, r->arena, r->job->graph->n_outputs, d);
  return SW_OK;
}

static sw_rc end_transfer(transfer *t, const reader *r, sw_diag *d) {
  sw_plan_transfer *out = t->out;
  out->args = t->args;
  out->ops = t->ops;
  out->outputs = t->outputs;
  out->n_left = (int32_t)t->left.n;
  out->n_renamed = (int32_t)t->renamed.n;
  for (int32_t i = 0; i < r->job->graph->n_args; i++) out->n_args_open += !t->args[i];
  for (int32_t i = 0; i < r->job->graph->n_ops; i++) out->n_ops_open += !t->ops[i];
  out->left = sw_arena_copy(r->arena, t->left.at, t->left.n, sizeof *t->left.at, d);
  out->renamed = sw_arena_copy(r->arena, t->renamed.at, t->renamed.n, sizeof *t->renamed.at, d);
  return out->left && out->renamed ? SW_OK : SW_E_RESOURCE;
}

/* --- all of a file ------------------------------------------------------------------------------------------------ */

static sw_rc read_plan_parts(const reader *r, const sw_json *root, sw_diag *d) {
  const sw_json *list;
  SW_TRY(sw_json_array(root, "arguments", &list, d));
  SW_TRY(r->t ? take_entries(r, list, false, d) : read_arguments(r, list, d));
  SW_TRY(sw_json_array(root, "ops", &list, d));
  SW_TRY(r->t ? take_entries(r, list, true, d) : read_ops(r, list, d));
  SW_TRY(read_stated(r, root, d));
  SW_TRY(sw_json_array(root, "outputs", &list, d));
  SW_TRY((r->t ? take_outputs : read_outputs)(r, list, d));
  return read_shared(r, root, d);
}

static sw_rc read_plan(const reader *r, const sw_json *root, sw_diag *d) {
  SW_TRY(check_format(root, d));
  SW_TRY(check_model_of_plan(r, root, d));
  SW_TRY(check_mesh_of_plan(root, sw_machine_mesh(r->job->machine), d));
  SW_TRY(read_search(r, root, d));
  SW_TRY(check_compiler(r, root, d));
  SW_TRY(sw_json_opt_bool(root, "args_whole", &r->p->args_whole, d));
  SW_TRY(read_plan_parts(r, root, d));
  if (r->t) return SW_OK;
  SW_TRY_NOTE(d, sw_plan_verify(r->p, d), "while checking the plan");
  return SW_OK;
}

static sw_rc read_in(reader *r, const char *path, sw_diag *d) {
  const sw_json *root;
  SW_ARENA_NEW(r->of_op, r->tree, r->job->graph->n_ops, d);
  SW_ARENA_NEW(r->of_value, r->tree, r->job->graph->n_values, d);
  SW_TRY(sw_json_read(path, r->tree, &root, d));
  return read_plan(r, root, d);
}

static sw_rc read_plan_file(reader *r, const char *path, sw_diag *d) {
  sw_arena tree = {0};
  r->tree = &tree;
  sw_rc rc = read_in(r, path, d);
  r->tree = NULL;
  sw_arena_deinit(&tree);
  return rc;
}

sw_rc sw_plan_read(const char *path, const sw_job *j, sw_arena *arena, sw_plan *out, sw_diag *d) {
  SW_TRY(sw_plan_build(j, arena, out, d));
  reader r = {.job = j, .arena = arena, .p = out};
  return read_plan_file(&r, path, d);
}

sw_rc sw_plan_read_other(const char *path, const sw_job *j, sw_arena *arena, sw_plan *out, sw_plan_transfer *taken,
                         sw_diag *d) {
  transfer t = {.out = taken};
  sw_diag own = {0};
  if (!d) d = &own;
  *taken = (sw_plan_transfer){0};
  SW_TRY(sw_plan_build(j, arena, out, d));
  reader r = {.job = j, .arena = arena, .p = out, .t = &t};
  sw_rc rc = begin_transfer(&t, &r, d);
  if (!rc) rc = read_plan_file(&r, path, d);
  if (!rc) rc = end_transfer(&t, &r, d);
  if (!rc) rc = sw_plan_complete(out, &(sw_plan_given){t.args, t.ops, t.outputs}, d);
  sw_array_free(&t.left);
  sw_array_free(&t.renamed);
  return rc;
}

static sw_rc read_trips(const sw_json *root, sw_arena *arena, sw_plan_head *out, sw_diag *d) {
  const sw_json *list = NULL;
  sw_said_trips *trips;
  SW_TRY(sw_json_opt_object(root, "trips", &list, d));
  if (!list) return SW_OK;
  SW_ARENA_NEW(trips, arena, list->n, d);
  for (int32_t i = 0; i < list->n; i++) {
    const char *name = list->at[i].key;
    SW_TRY(sw_arena_keep(arena, name, &trips[i].loop, d));
    SW_TRY(sw_json_i64(list, name, 0, INT64_MAX, &trips[i].trips, d));
  }
  out->n_trips = list->n;
  out->trips = trips;
  return SW_OK;
}

sw_rc sw_plan_read_head(const char *path, sw_arena *arena, sw_plan_head *out, sw_diag *d) {
  sw_arena tree = {0};
  const sw_json *root, *of;
  const char *text;
  if (strcmp(path, "-") == 0)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "a plan is read twice, standard input only once; expected a file");
  sw_rc rc = sw_json_read(path, &tree, &root, d);
  if (!rc) rc = check_format(root, d);
  if (!rc) rc = sw_json_string(root, "mesh", &text, d);
  *out = (sw_plan_head){0};
  if (!rc) rc = sw_mesh_parse(text, arena, &out->mesh, d);
  if (!rc) rc = sw_json_object(root, "profile", &of, d);
  if (!rc) rc = sw_json_string(of, "name", &text, d);
  if (!rc) rc = sw_arena_keep(arena, text, &out->profile, d);
  text = "none";
  if (!rc) rc = read_compiler(root, &text, d);
  if (!rc) rc = sw_arena_keep(arena, text, &out->compiler, d);
  text = sw_overlap_text(SW_OVERLAP_NONE);
  if (!rc) rc = sw_json_opt_string(root, "overlap", &text, d);
  if (!rc) rc = sw_arena_keep(arena, text, &out->overlap, d);
  if (!rc) rc = read_trips(root, arena, out, d);
  sw_arena_deinit(&tree);
  return rc;
}

static sw_rc read_record(const sw_json *root, sw_plan_record *out, sw_diag *d) {
  const sw_json *costs = NULL;
  SW_TRY(check_format(root, d));
  SW_TRY(sw_json_opt_object(root, "costs", &costs, d));
  out->priced = costs && sw_json_find(costs, "total_s");
  if (!out->priced) return SW_OK;
  SW_TRY(sw_json_f64(costs, "total_s", 0, 1e300, &out->total_s, d));
  return sw_json_i64(costs, "peak_bytes", 0, INT64_MAX, &out->peak_bytes, d);
}

sw_rc sw_plan_read_record(const char *path, sw_plan_record *out, sw_diag *d) {
  sw_arena tree = {0};
  const sw_json *root;
  *out = (sw_plan_record){0};
  sw_rc rc = sw_json_read(path, &tree, &root, d);
  if (!rc) rc = read_record(root, out, d);
  sw_arena_deinit(&tree);
  return rc;
}

static sw_rc read_schedule(const sw_json *root, const sw_request *written, sw_arena *arena, bool adapt,
                           sw_schedule *out, int32_t *stage, bool *any, sw_diag *d) {
  const char *format;
  const sw_json *object = NULL;
  SW_TRY(sw_json_string(root, "format", &format, d));
  if (strcmp(format, kFormat) == 0) {
    SW_TRY(check_format(root, d));
    SW_TRY(sw_json_opt_object(root, "schedule", &object, d));
  } else {
    int64_t version;
    static const char *const kKeys[] = {"format", "version", "schedule"};
    if (strcmp(format, kSchedule) != 0)
      return SW_FAIL_INPUT(d, sw_json_span(root), "the format is '%s'; expected '%s' or '%s'", format, kSchedule,
                           kFormat);
    SW_TRY(sw_json_only(root, kKeys, 3, "a file with a schedule", d));
    SW_TRY(sw_json_i64(root, "version", 1, 1, &version, d));
    SW_TRY(sw_json_object(root, "schedule", &object, d));
  }
  *any = object != NULL;
  return *any ? sw_schedule_take(object, written, arena, adapt, out, stage, d) : SW_OK;
}

sw_rc sw_schedule_read(const char *path, const sw_request *written, sw_arena *arena, bool adapt, sw_schedule *out,
                       int32_t *stage, bool *any, sw_diag *d) {
  sw_arena tree = {0};
  const sw_json *root;
  *any = false;
  sw_rc rc = sw_json_read(path, &tree, &root, d);
  if (!rc) rc = read_schedule(root, written, arena, adapt, out, stage, any, d);
  sw_arena_deinit(&tree);
  return rc;
}
