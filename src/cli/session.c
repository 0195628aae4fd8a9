#include "cli/session.h"

#include <string.h>

#include "cli/output.h"
#include "cli/read_model.h"
#include "shardwright/emit.h"
#include "base/file.h"
#include "graph/source.h"
#include "shardwright/log.h"
#include "shardwright/plan_json.h"
#include "shardwright/profile_json.h"

void sw_session_report(void *user, const sw_diag *d) {
  (void)user;
  if (d->rc)
    sw_tell_error(d, false);
  else if (!d->line)
    sw_log(SW_LOG_WARN, "%s", d->text);
  else
    sw_log(SW_LOG_WARN, "%s:%d:%d: %s", d->file, d->line, d->col, d->text);
}

sw_rc sw_read_hw(const char *hw, const sw_words *changes, sw_arena *arena, const sw_profile **out, sw_diag *d) {
  const sw_profile_reading o = {changes->at, changes->n, sw_session_report, NULL};
  return sw_profile_read_with(hw, &o, arena, out, d);
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

void sw_session_note_source(const sw_opened *s, sw_diag *d) {
  if (!d || !d->line || !s->job.graph) return;
  for (sw_id i = 0; i < s->job.graph->n_ops; i++) {
    const sw_op *op = &s->job.graph->ops[i];
    if (op->span.line != d->line || op->span.col != d->col || !op->span.file || strcmp(op->span.file, d->file) != 0)
      continue;
    sw_source_note(&op->location, d);
    return;
  }
  for (int32_t i = 0; i < s->job.graph->n_args; i++) {
    const sw_value *v = &s->job.graph->values[s->job.graph->args[i]];
    if (v->span.line != d->line || v->span.col != d->col || !v->span.file || strcmp(v->span.file, d->file) != 0)
      continue;
    if (v->location) sw_source_note(v->location, d);
    return;
  }
}

static sw_rc open_on(const sw_model_options *o, const sw_mesh *mesh, sw_arena *arena, sw_opened *out, sw_diag *d) {
  sw_open_options open = o->open;
  sw_sizes sizes = {0};
  sw_said_trips *trips;
  for (int i = 0; i < o->sizes.n; i++) SW_TRY(sw_sizes_give(&sizes, o->sizes.at[i].key, o->sizes.at[i].value, d));
  SW_ARENA_NEW(trips, arena, o->trips.n, d);
  for (int i = 0; i < o->trips.n; i++) {
    const sw_pair *p = &o->trips.at[i];
    trips[i].loop = p->key;
    SW_TRY_NOTE(d, sw_parse_i64(p->value, 0, INT64_MAX, "trips", &trips[i].trips, d), "in --trips %s=%s", p->key,
                p->value);
  }
  open.changes = o->hw_set.at;
  open.n_changes = o->hw_set.n;
  open.mesh = mesh;
  open.sizes = &sizes;
  open.trips = trips;
  open.n_trips = o->trips.n;
  open.trips_option = "--trips";
  open.trips_form = " NAME=N";
  open.roles_option = "--roles";
  open.report = sw_session_report;
  return sw_open_searching(&open, sw_leave_open, arena, out, d);
}

sw_rc sw_session_open(const sw_model_options *o, sw_arena *arena, sw_opened *out, sw_diag *d) {
  sw_mesh mesh;
  if (o->mesh) SW_TRY_NOTE(d, sw_mesh_parse(o->mesh, arena, &mesh, d), "in --mesh %s", o->mesh);
  return open_on(o, o->mesh ? &mesh : NULL, arena, out, d);
}

sw_rc sw_session_read_again(const sw_model_options *o, const sw_mesh *mesh, sw_opened *s, sw_diag *d) {
  sw_open_options open = o->open;
  sw_opening r = {.o = &open, .out = s};
  open.mesh = mesh;
  sw_rc rc = sw_open_read(&r, d);
  sw_array_free(&r.said);
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
static sw_rc adapt_plan(const char *path, const sw_opened *s, bool by_half, sw_arena *arena, sw_plan *plan,
                        sw_diag *d) {
  sw_plan_transfer t;
  SW_TRY(sw_plan_read_other(path, &s->job, arena, plan, &t, d));
  if (by_half && !t.same_model && (t.n_taken < t.n_left || 2 * t.n_ops_open > s->job.graph->n_ops)) {
    return SW_FAIL_INPUT(
        d, SW_NOWHERE,
        "%s is of another model: %d of its %d entries fit by name or place, and %d of %d ops have one; "
        "expected half of both at least",
        path, t.n_taken, t.n_taken + t.n_left, s->job.graph->n_ops - t.n_ops_open, s->job.graph->n_ops);
  }
  sw_session_warn_of_transfer(path, &t, by_half);
  sw_rc rc = sw_plan_verify(plan, d);
  if (rc == SW_E_INPUT || rc == SW_E_INFEASIBLE) {
    sw_diag_note(d, "in what fits of %s, completed by rule", path);
    sw_diag_note(d, "`shardwright plan MODEL --start %s` searches from it", path);
  }
  return rc;
}

static sw_rc read_session_plan(const sw_model_options *o, const char *path, const sw_opened *s, sw_arena *arena,
                               sw_plan *plan, sw_diag *d) {
  if (o->open.adapt) return adapt_plan(path, s, o->by_half, arena, plan, d);
  sw_rc rc = sw_plan_read(path, &s->job, arena, plan, d);
  if (rc == SW_E_INPUT && d && strstr(d->text, "is stale"))
    sw_diag_note(d, "--adapt takes what fits of it, completes the rest by rule, and says what does not fit");
  return rc;
}

sw_rc sw_session_open_plan(const sw_model_options *o, const char *plan_path, sw_arena *arena, sw_opened *s,
                           sw_plan *plan, sw_diag *d) {
  sw_plan_head head;
  sw_model_options with = *o;
  SW_TRY(sw_plan_read_head(plan_path, arena, &head, d));
  SW_TRY(check_plan_mesh(o->mesh, &head.mesh, arena, d));
  with.open.schedule = plan_path;
  with.open.of_plan = &head;
  SW_TRY(open_on(&with, &head.mesh, arena, s, d));
  sw_rc rc = read_session_plan(o, plan_path, s, arena, plan, d);
  if (rc) sw_close_job(s);
  return rc;
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

sw_rc sw_emit_check(const sw_opened *s, const sw_pairs *emit, sw_diag *d) {
  for (int i = 0; i < emit->n; i++) {
    if (!sw_plan_form_find(emit->at[i].key)->in_program) continue;
    if (s->job.schedule && strcmp(emit->at[i].key, "sdy") == 0) continue;
    if (s->job.schedule)
      return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE,
                     "--emit %s writes the shardings into the program that was read; it runs by a schedule of its own, "
                     "which --emit sdy and spmd write",
                     emit->at[i].key);
    if (s->program) continue;
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE,
                   "--emit %s writes the shardings into the program that was read; expected a model in MLIR",
                   emit->at[i].key);
  }
  return SW_OK;
}

static sw_rc emit_one(const sw_opened *s, const sw_plan *plan, const char *kind, sw_text *out, sw_diag *d) {
  return sw_plan_form_find(kind)->in_program && !plan->job.schedule ? sw_program_emit(s->program, plan, kind, out, d)
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
sw_rc sw_emit_all(const sw_opened *s, const sw_plan *plan, const sw_pairs *emit, const char *dialect, sw_diag *d) {
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

sw_rc sw_session_rewrite_local(const sw_opened *s, const sw_local_program *local, const sw_local_passes *how,
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

sw_rc sw_session_plan_resharded(const sw_opened *s, const sw_call *call, sw_plan *out, sw_diag *d) {
  enum { MOST_SEARCH_S = 10 };
  sw_plan_options o = {.solve = {.time_limit_s = MOST_SEARCH_S, .gap = 0.01, .threads = 1, .cancel = call->cancel}};
  o.selection.capacity_bytes = INT64_MAX / 2;
  return sw_plan_search(&s->job, &o, call->arena, out, d);
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
