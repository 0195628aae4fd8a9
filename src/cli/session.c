#include "cli/session.h"

#include <string.h>

#include "cli/output.h"
#include "cli/read_model.h"
#include "shardwright/emit.h"
#include "base/file.h"
#include "graph/source.h"
#include "shardwright/log.h"
#include "shardwright/pins.h"
#include "shardwright/plan_json.h"
#include "shardwright/profile_json.h"

void sw_session_report(void *user, const sw_diag *d) {
  (void)user;
  if (d->rc)
    sw_tell_error(d, false);
  else
    sw_log(SW_LOG_WARN, "%s:%d:%d: %s", d->file, d->line, d->col, d->text);
}

sw_rc sw_read_hw(const char *hw, const sw_words *changes, sw_arena *arena, const sw_profile **out, sw_diag *d) {
  const sw_profile_reading o = {changes->at, changes->n, sw_session_report, NULL};
  return sw_profile_read_with(hw, &o, arena, out, d);
}

sw_rc sw_bind_hw(const sw_profile *p, const sw_mesh *mesh, sw_arena *arena, sw_machine **out, sw_diag *d) {
  sw_rc rc = sw_machine_build(arena, p, mesh, out, d);
  if (rc == SW_E_INPUT) sw_profile_note_fitting(mesh, d);
  return rc;
}

static sw_rc bind_mesh(sw_session *s, const sw_mesh *mesh, sw_arena *arena, sw_machine **machine, sw_diag *d) {
  if (s->graph->written->has_mesh) { /* what is given has been taken in place of it already */
    s->mesh = s->graph->written->mesh;
  } else if (mesh && !(s->program && sw_program_local(s->program))) { /* that has its devices, and no prices */
    s->mesh = *mesh;
  } else if (sw_profile_mesh_count(s->profile) > 0) {
    s->mesh = *sw_profile_mesh(s->profile, 0);
  }
  SW_TRY(sw_mesh_verify(&s->mesh, true, d));
  sw_rc rc = sw_bind_hw(s->profile, &s->mesh, arena, machine, d);
  if (rc != SW_E_INPUT || !s->open_axes) return rc;
  if (d)
    *d = (sw_diag){0}; /* what stands in for unknown sizes is too much for the profile, of which no price is asked */
  SW_TRY(sw_profile_read("uniform", arena, &s->profile, d));
  return sw_machine_build(arena, s->profile, &s->mesh, machine, d);
}

void sw_session_warn_of_hints(const sw_plan *plan) {
  enum { MOST = 5 };
  const sw_graph *g = plan->job.graph;
  int32_t n = 0;
  for (int32_t i = 0; i < plan->job.request->n_annotations; i++) {
    const sw_annotation *a = &plan->job.request->annotations[i];
    if (a->required || a->derived || sw_plan_keeps(plan, a) || n++ >= MOST) continue;
    sw_log(SW_LOG_WARN, "%s:%d:%d: the hint for '%s' is left", a->span.file ? a->span.file : "?", a->span.line,
           a->span.col, a->op >= 0 ? g->ops[a->op].name : g->values[a->value].name);
  }
  if (n > MOST) sw_log(SW_LOG_WARN, "%d more hints are left", n - MOST);
}

void sw_session_note_source(const sw_session *s, sw_diag *d) {
  if (!d || !d->line || !s->graph) return;
  for (sw_id i = 0; i < s->graph->n_ops; i++) {
    const sw_op *op = &s->graph->ops[i];
    if (op->span.line != d->line || op->span.col != d->col || !op->span.file || strcmp(op->span.file, d->file) != 0)
      continue;
    sw_source_note(&op->location, d);
    return;
  }
  for (int32_t i = 0; i < s->graph->n_args; i++) {
    const sw_value *v = &s->graph->values[s->graph->args[i]];
    if (v->span.line != d->line || v->span.col != d->col || !v->span.file || strcmp(v->span.file, d->file) != 0)
      continue;
    if (v->location) sw_source_note(v->location, d);
    return;
  }
}

/* Sizes that stand in for unknown ones are such that any of the mesh's axes cut them evenly. */
static sw_rc divide_evenly(const sw_model_options *o, const sw_mesh *mesh, sw_arena *arena, sw_session *s,
                           sw_machine **machine, sw_diag *d) {
  if (!sw_sizes_open(&s->sizes)) return SW_OK;
  s->stand_in.unit = sw_mesh_devices(&s->mesh);
  SW_TRY(sw_read_model_again(o, mesh, s, d));
  return bind_mesh(s, mesh, arena, machine, d);
}

/* Those of the plan, of loops that there are, then those of the command line. */
static sw_rc take_trips(const sw_model_options *o, sw_session *s, sw_arena *arena, sw_diag *d) {
  sw_text unknown = {0};
  sw_graph *g = s->read;
  bool all = false;
  for (int i = 0; i < o->trips.n; i++) all = all || strcmp(o->trips.at[i].key, "*") == 0;
  for (int32_t i = 0; o->of_plan && !all && i < o->of_plan->n_trips; i++) {
    sw_diag why = {0};
    const sw_rc rc = sw_graph_with_trips(g, &o->of_plan->trips[i], arena, &g, &why);
    if (rc == SW_E_INPUT && o->adapt) {
      sw_log(SW_LOG_WARN, "of \"trips\" of the plan is left out: %s", why.text);
      continue;
    }
    if (rc && d) *d = why;
    if (rc) sw_diag_note(d, "in \"trips\" of the plan");
    if (rc) return rc;
  }
  for (int i = 0; i < o->trips.n; i++) {
    const sw_pair *p = &o->trips.at[i];
    sw_said_trips one = {p->key, 0};
    SW_TRY_NOTE(d, sw_parse_i64(p->value, 0, INT64_MAX, "trips", &one.trips, d), "in --trips %s=%s", p->key, p->value);
    SW_TRY_NOTE(d, sw_graph_with_trips(g, &one, arena, &g, d), "in --trips %s=%s", p->key, p->value);
  }
  s->graph = g;
  sw_graph_put_unknown_loops(g, &unknown);
  if (sw_text_str(&unknown)[0])
    sw_log(SW_LOG_WARN,
           "nobody says how many trips these loops make, and they are priced as one: %s; --trips NAME=N says it",
           sw_text_str(&unknown));
  sw_text_free(&unknown);
  return SW_OK;
}

/* From here on the graph is that of the stage that is planned. */
static sw_rc take_schedule(const sw_model_options *o, sw_session *s, sw_arena *arena, int32_t *stage, bool *any,
                           sw_diag *d) {
  *any = false;
  if (!o->schedule) return SW_OK;
  SW_TRY(sw_schedule_read(o->schedule, s->graph->written, arena, &s->schedule, stage, any, d));
  if (*any) s->graph = s->schedule.stages[*stage].graph;
  return SW_OK;
}

sw_rc sw_session_open(const sw_model_options *o, sw_arena *arena, sw_session *out, sw_diag *d) {
  sw_mesh mesh;
  sw_machine *machine;
  int32_t stage = 0;
  bool any = false;
  *out = (sw_session){0};
  SW_TRY(sw_read_hw(o->hw, &o->hw_set, arena, &out->profile, d));
  if (o->devices) SW_TRY(sw_profile_with_devices(out->profile, o->devices, arena, &out->profile, d));
  if (o->mesh) SW_TRY_NOTE(d, sw_mesh_parse(o->mesh, arena, &mesh, d), "in --mesh %s", o->mesh);
  sw_rc rc = sw_read_model(o, o->mesh ? &mesh : NULL, out, d);
  if (!rc) rc = bind_mesh(out, o->mesh ? &mesh : NULL, arena, &machine, d);
  if (!rc) rc = divide_evenly(o, o->mesh ? &mesh : NULL, arena, out, &machine, d);
  if (!rc) rc = take_trips(o, out, arena, d);
  if (!rc) rc = take_schedule(o, out, arena, &stage, &any, d);
  if (!rc) rc = sw_job_make(o->compiler, out->graph->written, machine, arena, &out->job, d);
  if (any) out->job.schedule = &out->schedule, out->job.stage = stage;
  if (rc) sw_session_close(out);
  return rc;
}

/* The plan's mesh is the one that --mesh says, if it says one. */
static sw_rc check_plan_mesh(const char *said, const sw_mesh *of_plan, sw_arena *arena, sw_diag *d) {
  sw_mesh mesh;
  if (!said) return SW_OK;
  SW_TRY_NOTE(d, sw_mesh_parse(said, arena, &mesh, d), "in --mesh %s", said);
  if (sw_mesh_same_sizes(&mesh, of_plan)) return SW_OK;
  sw_text text = {0};
  sw_mesh_print(of_plan, &text);
  sw_rc rc = SW_FAIL_INPUT(d, SW_NOWHERE, "the plan is for the mesh %s; expected --mesh to be that one, not %s",
                           sw_text_str(&text), said);
  sw_text_free(&text);
  return rc;
}

/* The profile that a plan was made for, where one of that name is shipped. */
static sw_rc profile_of_plan(const char *name, sw_arena *arena, const char **out, sw_diag *d) {
  const char *const *names;
  int n;
  const char *changed = strstr(name, SW_PROFILE_CHANGED); /* it is shipped without the changes */
  const size_t length = changed ? (size_t)(changed - name) : strlen(name);
  SW_TRY(sw_profile_names(arena, &names, &n, d));
  *out = "uniform";
  for (int i = 0; i < n; i++) {
    if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0) *out = names[i];
  }
  return SW_OK;
}

static void tell_left(const char *path, const sw_plan_transfer *t, sw_log_level level, int32_t most) {
  for (int32_t i = 0; i < t->n_left && i < most; i++)
    sw_log(level, "%s:%d:%d: %s", path, t->left[i].line, t->left[i].col, t->left[i].why);
  if (t->n_left > most) sw_log(level, "%d more entries fit nothing", t->n_left - most);
}

void sw_session_warn_of_transfer(const char *path, const sw_plan_transfer *t, bool in_brief) {
  enum { MOST = 10 };
  if (t->same_model) return;
  sw_log(SW_LOG_WARN,
         "%s is for another version of the model: %d entries taken (%d of them for something of another name), %d fit "
         "nothing; chosen anew: %d of the arguments, %d of the ops",
         path, t->n_taken, t->n_renamed, t->n_left, t->n_args_open, t->n_ops_open);
  tell_left(path, t, in_brief ? SW_LOG_INFO : SW_LOG_WARN, in_brief ? t->n_left : MOST);
  for (int32_t i = 0; i < t->n_renamed; i++)
    sw_log(SW_LOG_INFO, "'%s' is taken for '%s'", t->renamed[i].was, t->renamed[i].now);
}

/* What is read of the plan, or what becomes of it. */
static sw_rc adapt_plan(const char *path, const sw_session *s, bool by_half, sw_arena *arena, sw_plan *plan,
                        sw_diag *d) {
  sw_plan_transfer t;
  SW_TRY(sw_plan_read_other(path, &s->job, arena, plan, &t, d));
  if (by_half && !t.same_model && (t.n_taken < t.n_left || 2 * t.n_ops_open > s->graph->n_ops)) {
    return SW_FAIL_INPUT(
        d, SW_NOWHERE,
        "%s is of another model: %d of its %d entries fit by name or place, and %d of %d ops have one; "
        "expected half of both at least",
        path, t.n_taken, t.n_taken + t.n_left, s->graph->n_ops - t.n_ops_open, s->graph->n_ops);
  }
  sw_session_warn_of_transfer(path, &t, by_half);
  SW_TRY(sw_plan_complete(plan, &(sw_plan_given){t.args, t.ops, t.outputs}, d));
  sw_rc rc = sw_plan_verify(plan, d);
  if (rc == SW_E_INPUT || rc == SW_E_INFEASIBLE) {
    sw_diag_note(d, "in what fits of %s, completed by rule", path);
    sw_diag_note(d, "`shardwright plan MODEL --start %s` searches from it", path);
  }
  return rc;
}

static sw_rc read_session_plan(const sw_model_options *o, const char *path, const sw_session *s, sw_arena *arena,
                               sw_plan *plan, sw_diag *d) {
  if (o->adapt) return adapt_plan(path, s, o->by_half, arena, plan, d);
  sw_rc rc = sw_plan_read(path, &s->job, true, arena, plan, d);
  if (rc == SW_E_INPUT && d && strstr(d->text, "is stale"))
    sw_diag_note(d, "--adapt takes what fits of it, completes the rest by rule, and says what does not fit");
  return rc;
}

sw_rc sw_session_open_plan(const sw_model_options *o, const char *plan_path, sw_arena *arena, sw_session *s,
                           sw_plan *plan, sw_diag *d) {
  sw_plan_head head;
  sw_text text = {0};
  sw_model_options with_mesh = *o;
  SW_TRY(sw_plan_read_head(plan_path, arena, &head, d));
  with_mesh.of_plan = &head;
  with_mesh.schedule = plan_path;
  if (!o->compiler) with_mesh.compiler = head.compiler;
  if (!o->hw) SW_TRY(profile_of_plan(head.profile, arena, &with_mesh.hw, d));
  SW_TRY(check_plan_mesh(o->mesh, &head.mesh, arena, d));
  sw_mesh_print(&head.mesh, &text);
  with_mesh.mesh = sw_text_str(&text);
  sw_rc rc = text.rc ? SW_FAIL(d, text.rc, SW_NOWHERE, "out of memory") : sw_session_open(&with_mesh, arena, s, d);
  sw_text_free(&text);
  if (rc) return rc;
  rc = read_session_plan(o, plan_path, s, arena, plan, d);
  if (rc) sw_session_close(s);
  return rc;
}

void sw_session_close(sw_session *s) {
  sw_schedule_deinit(&s->schedule);
  sw_drop_model(s);
  sw_mem_free(s->text);
  s->text = NULL;
}

sw_rc sw_save_text(const char *path, sw_text *t, sw_diag *d) {
  sw_rc rc = t->rc ? SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory while writing '%s'", path)
                   : sw_file_write(path, sw_text_str(t), t->n, d);
  sw_text_free(t);
  return rc;
}

sw_rc sw_save_made(sw_rc rc, const char *path, sw_text *t, sw_diag *d) {
  if (!rc) return sw_save_text(path, t, d);
  sw_text_free(t);
  return rc;
}

sw_rc sw_save_reports(const sw_report *r, const sw_words *files, sw_diag *d) {
  for (int i = 0; i < files->n; i++) {
    sw_text page = {0};
    (sw_path_ends_in(files->at[i], ".html") ? sw_report_html : sw_report_json)(r, &page);
    SW_TRY(sw_save_text(files->at[i], &page, d));
  }
  return SW_OK;
}

bool sw_session_emits_sizes_open(const char *kind) { return sw_plan_form_find(kind)->in_program; }

sw_rc sw_emit_check(const sw_session *s, const sw_pairs *emit, sw_diag *d) {
  for (int i = 0; i < emit->n; i++) {
    if (!sw_plan_form_find(emit->at[i].key)->in_program) continue;
    if (s->job.schedule)
      return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE,
                     "--emit %s writes the shardings into the program that was read; it runs by a schedule of its own, "
                     "which --emit spmd writes",
                     emit->at[i].key);
    if (s->program) continue;
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE,
                   "--emit %s writes the shardings into the program that was read; expected a model in MLIR",
                   emit->at[i].key);
  }
  return SW_OK;
}

static sw_rc emit_one(const sw_session *s, const sw_plan *plan, const char *kind, sw_text *out, sw_diag *d) {
  return sw_plan_form_find(kind)->in_program ? sw_program_emit(s->program, plan, kind, out, d)
                                             : sw_emit_plan(plan, kind, out, d);
}

static const char *spmd_of(const char *dialect) {
  static const char *const kSpmd[] = {"spmd-stablehlo", "spmd-sdy"}; /* spmd: of the shard dialect */
  for (size_t i = 0; dialect && i < sizeof kSpmd / sizeof *kSpmd; i++) {
    if (strcmp(dialect, kSpmd[i] + strlen("spmd-")) == 0) return kSpmd[i];
  }
  return "spmd";
}

/* A form that refuses the plan does so before any is written. */
sw_rc sw_emit_all(const sw_session *s, const sw_plan *plan, const sw_pairs *emit, const char *dialect, sw_diag *d) {
  sw_text *texts;
  sw_rc rc = SW_OK;
  SW_TRY(sw_emit_check(s, emit, d));
  SW_MEM_NEW(texts, (size_t)emit->n + 1, d);
  for (int i = 0; i < emit->n && !rc; i++) {
    const char *kind = emit->at[i].key;
    rc = emit_one(s, plan, strcmp(kind, "spmd") == 0 ? spmd_of(dialect) : kind, &texts[i], d);
    if (rc) sw_diag_note(d, "in --emit %s=%s", kind, emit->at[i].value);
  }
  for (int i = 0; i < emit->n && !rc; i++) rc = sw_save_text(emit->at[i].value, &texts[i], d);
  for (int i = 0; i < emit->n; i++) sw_text_free(&texts[i]);
  sw_mem_free(texts);
  return rc;
}

sw_rc sw_session_take_passes(const char *names, int64_t combine_bytes, sw_arena *arena, sw_plan *plan, sw_diag *d) {
  const int64_t of_compiler = plan->job.kernels ? plan->job.kernels->combine_bytes : 0;
  sw_passes *passes;
  if (!names && !of_compiler) return SW_OK;
  SW_ARENA_NEW(passes, arena, 1, d);
  SW_TRY(sw_passes_parse(names ? names : "combine", passes, d));
  passes->combine_bytes = combine_bytes ? combine_bytes : of_compiler;
  passes->combine_in_place = !names;
  plan->passes = passes;
  return SW_OK;
}

sw_rc sw_session_rewrite_local(const sw_session *s, const sw_local_program *local, const sw_local_passes *how,
                               sw_arena *arena, sw_spmd *out, sw_diag *d) {
  sw_machine *machine;
  sw_passes passes = {0};
  if (how->names) SW_TRY(sw_passes_parse(how->names, &passes, d));
  passes.combine_bytes = how->combine_bytes;
  SW_TRY(sw_bind_hw(s->profile, &local->mesh, arena, &machine, d));
  if (how->machine) *how->machine = machine;
  SW_TRY(sw_spmd_of_local(local, arena, out, d));
  sw_rc rc = sw_spmd_verify(out, d);
  if (!rc && passes.n) rc = sw_spmd_run_passes(out, machine, &passes, how->reports, how->n_reports, d);
  if (rc) sw_spmd_deinit(out);
  return rc;
}

sw_rc sw_session_plan_resharded(const sw_session *s, const sw_call *call, sw_plan *out, sw_diag *d) {
  enum { MOST_SEARCH_S = 10 };
  sw_plan_options o = {.solve = {.time_limit_s = MOST_SEARCH_S, .gap = 0.01, .threads = 1, .cancel = call->cancel}};
  o.selection.capacity_bytes = INT64_MAX / 2;
  return sw_plan_search(&s->job, &o, call->arena, out, d);
}

sw_rc sw_session_take_pins(const sw_session *s, const sw_words *texts, sw_arena *arena, sw_job *out, sw_diag *d) {
  const sw_mesh *mesh = sw_machine_mesh(s->job.machine);
  const sw_span at = {"--pin", 1, 1};
  *out = s->job;
  for (int i = 0; i < texts->n; i++) {
    const sw_pin *pins;
    sw_request *pinned;
    int32_t n;
    SW_ARENA_NEW(pinned, arena, 1, d);
    SW_TRY(sw_pins_parse(s->graph, mesh, texts->at[i], at, arena, &n, &pins, d));
    SW_TRY(sw_pins_require(out->request, n, pins, at, arena, pinned, d));
    out->request = pinned;
  }
  return SW_OK;
}

sw_plan_options sw_search_from(const sw_search_limits *l, const sw_plan *start, int64_t capacity_bytes,
                               sw_cancel *cancel) {
  sw_plan_options o = {.solve = {.time_limit_s = l->work_limit ? 0 : l->time_limit,
                                 .work_limit = l->work_limit,
                                 .gap = l->gap / 100,
                                 .threads = 1,
                                 .seed = (uint64_t)l->seed,
                                 .cancel = cancel},
                       .start = start};
  o.selection.capacity_bytes = capacity_bytes;
  o.selection.args_whole = start->args_whole;
  return o;
}
