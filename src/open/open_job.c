/* A model, a profile and a mesh become a job (open.h). */
#include <stdarg.h>
#include <string.h>

#include "graph/fuse.h"
#include "io/foreign.h"
#include "open/open_steps.h"
#include "shardwright/model_json.h"
#include "shardwright/profile_json.h"

enum { FIRST_UNIT = 64, FIRST_TIMES = 1009, TIMES_APART = 101 };

/* --- the profile -------------------------------------------------------------------------------------------------- */

/* The profile that a plan was made for, where one of that name is shipped. */
static sw_rc profile_of_plan(const char *name, sw_arena *arena, const char **out, sw_diag *d) {
  const char *const *names;
  int n;
  const char *changed = strstr(name, SW_PROFILE_CHANGED); /* it is shipped without the changes */
  const size_t length = changed ? (size_t)(changed - name) : strlen(name);
  SW_TRY(sw_profile_names(arena, &names, &n, d));
  for (int i = 0; i < n; i++) {
    if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0) *out = names[i];
  }
  return SW_OK;
}

static sw_rc open_profile(sw_opening *r, sw_diag *d) {
  const sw_open_options *o = r->o;
  const sw_profile_reading reading = {o->changes, o->n_changes, o->report, o->user};
  const char *hw = o->hw ? o->hw : "uniform";
  *r->out = (sw_opened){.stand_in.unit = FIRST_UNIT};
  for (int i = 0; i < SW_MAX_SIZES; i++) r->out->stand_in.times[i] = FIRST_TIMES + TIMES_APART * i;
  if (o->sizes) r->out->sizes = *o->sizes;
  if (!o->hw && o->of_plan) SW_TRY(profile_of_plan(o->of_plan->profile, r->arena, &hw, d));
  SW_TRY(sw_profile_read_with(hw, &reading, r->arena, &r->out->profile, d));
  return o->devices ? sw_profile_with_devices(r->out->profile, o->devices, r->arena, &r->out->profile, d) : SW_OK;
}

/* --- the model ---------------------------------------------------------------------------------------------------- */

static void keep_saying(void *user, const sw_diag *d) {
  sw_opening *r = user;
  if (sw_array_push(&r->said, *d, NULL) && r->o->report) r->o->report(r->o->user, d);
}

static int64_t stand_in(const void *user, int class_of) {
  const sw_stand_in *s = user;
  return s->unit * s->times[class_of];
}

/* The number of a word among "a|b|c"; NULL: 0. */
static sw_rc choose_word(const char *what, const char *said, const char *words, int *out, sw_diag *d) {
  *out = 0;
  if (!said) return SW_OK;
  for (const char *at = words;; ++*out) {
    const size_t n = strcspn(at, "|");
    if (strlen(said) == n && strncmp(at, said, n) == 0) return SW_OK;
    if (!at[n]) break;
    at += n + 1;
  }
  return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "%s is '%s'; expected one of %s", what, said, words);
}

static sw_rc read_stablehlo(sw_opening *r, const char *file, int fuses, sw_diag *d) {
  const sw_open_options *o = r->o;
  sw_opened *out = r->out;
  int keep;
  sw_program_options options = {.mesh = o->mesh,
                                .roles = o->roles,
                                .said_roles = o->said_roles,
                                .n_said_roles = o->n_said_roles,
                                .roles_option = o->roles_option,
                                .rules = o->rules,
                                .sizes = &out->sizes,
                                .open_axis = o->open_sizes ? SW_OPEN_AXIS : 0,
                                .fuse_attention = fuses != 0,
                                .by_device = o->by_device,
                                .report = keep_saying,
                                .user = r};
  if (sw_profile_mesh_count(out->profile) > 0) options.fallback = sw_profile_mesh(out->profile, 0);
  SW_TRY(choose_word("keep", o->keep, "all|io|none", &keep, d));
  options.keep = (sw_keep)keep;
  SW_TRY(sw_program_parse(file, o->text, o->text_bytes, &options, &out->program, d));
  out->read = sw_program_graph(out->program);
  if (!options.mesh) out->open_axes = sw_program_open_axes(out->program);
  return SW_OK;
}

/* On a mesh of its own, of which some sizes are not known: numbers stand in for these. */
static sw_rc close_unknown_axes(sw_opening *r, const char *file, sw_diag *d) {
  sw_opened *out = r->out;
  sw_mesh closed = out->read->written->mesh;
  for (int a = 0; a < closed.n_axes; a++) {
    if (closed.axis[a].size >= 0) continue;
    closed.axis[a].size = SW_OPEN_AXIS;
    out->open_axes |= UINT32_C(1) << a;
  }
  if (!out->open_axes) return SW_OK;
  sw_close_job(out);
  return sw_model_parse_on(file, r->o->text, r->o->text_bytes, &closed, &out->sizes, &out->read, d);
}

static sw_rc read_model_json(sw_opening *r, const char *file, int fuses, sw_diag *d) {
  sw_opened *out = r->out;
  sw_arena scratch = {0};
  sw_fused what;
  SW_TRY(sw_model_parse_on(file, r->o->text, r->o->text_bytes, r->o->mesh, &out->sizes, &out->read, d));
  if (!r->o->mesh && r->o->open_sizes && out->read->written->has_mesh) SW_TRY(close_unknown_axes(r, file, d));
  if (!fuses) return SW_OK;
  sw_rc rc = sw_graph_fuse_in_place(&out->read, &out->as_written, &scratch, &what, d);
  sw_arena_deinit(&scratch);
  return rc;
}

sw_rc sw_open_read(sw_opening *r, sw_diag *d) {
  const char *file = strcmp(r->o->model, "-") == 0 ? "<stdin>" : r->o->model;
  sw_opened *out = r->out;
  int fuses;
  sw_close_job(out);
  r->said.n = 0;
  out->sizes.stand_in = stand_in;
  out->sizes.user = &out->stand_in;
  SW_TRY(choose_word("attention", r->o->attention, "as-written|fused", &fuses, d));
  SW_TRY((sw_program_is(r->o->model, r->o->text) ? read_stablehlo : read_model_json)(r, file, fuses, d));
  out->job.graph = out->read;
  out->job.request = out->read->written;
  return SW_OK;
}

sw_rc sw_open_read_on(sw_opening *r, sw_rc rc, sw_diag *d) {
  for (int before = 0; rc == SW_E_INPUT && r->out->sizes.found > before;) {
    before = r->out->sizes.found;
    if (d) *d = (sw_diag){0};
    rc = sw_open_read(r, d);
  }
  return rc;
}

/* --- the machine -------------------------------------------------------------------------------------------------- */

sw_rc sw_bind_hw(const sw_profile *p, const sw_mesh *mesh, sw_arena *arena, sw_machine **out, sw_diag *d) {
  sw_rc rc = sw_machine_build(arena, p, mesh, out, d);
  if (rc == SW_E_INPUT) sw_profile_note_fitting(mesh, d);
  return rc;
}

static sw_rc bind_mesh(sw_opening *r, sw_diag *d) {
  sw_opened *out = r->out;
  const sw_mesh *given = r->o->mesh;
  sw_mesh mesh = {0};
  if (out->read->written->has_mesh) /* what is given has been taken in place of it already */
    mesh = out->read->written->mesh;
  else if (given && !(out->program && sw_program_local(out->program))) /* that has its devices, and no prices */
    mesh = *given;
  else if (sw_profile_mesh_count(out->profile) > 0)
    mesh = *sw_profile_mesh(out->profile, 0);
  SW_TRY(sw_mesh_verify(&mesh, true, d));
  sw_rc rc = sw_bind_hw(out->profile, &mesh, r->arena, &r->machine, d);
  if (rc == SW_E_INPUT && out->open_axes) {
    if (d) *d = (sw_diag){0};
    /* what stands in for unknown sizes is too much for the profile, of which no price is asked */
    SW_TRY(sw_profile_read("uniform", r->arena, &out->profile, d));
    rc = sw_machine_build(r->arena, out->profile, &mesh, &r->machine, d);
  }
  if (!rc) out->job.machine = r->machine;
  return rc;
}

/* Sizes that stand in for unknown ones become such that any of the axes cut them evenly. */
static sw_rc bind_evenly(sw_opening *r, sw_diag *d) {
  SW_TRY(bind_mesh(r, d));
  if (!sw_sizes_open(&r->out->sizes)) return SW_OK;
  r->out->stand_in.unit = sw_mesh_devices(sw_machine_mesh(r->machine));
  sw_rc rc = sw_open_read(r, d);
  sw_array_free(&r->said); /* it has been told of the first reading */
  return rc ? rc : bind_mesh(r, d);
}

/* --- trips and kernels -------------------------------------------------------------------------------------------- */

SW_PRINTF(2, 3) static void tell(const sw_open_options *o, const char *fmt, ...) {
  sw_diag w = {0};
  va_list args;
  if (!o->report) return;
  va_start(args, fmt);
  vsnprintf(w.text, sizeof w.text, fmt, args);
  va_end(args);
  o->report(o->user, &w);
}

/* Of loops that there are; what the caller says of all is said of the plan's, too. */
static sw_rc take_trips_of_plan(sw_opening *r, sw_graph **g, sw_diag *d) {
  const sw_open_options *o = r->o;
  for (int32_t i = 0; i < o->n_trips; i++) {
    if (strcmp(o->trips[i].loop, "*") == 0) return SW_OK;
  }
  for (int32_t i = 0; i < o->of_plan->n_trips; i++) {
    sw_diag why = {0};
    const sw_rc rc = sw_graph_with_trips(*g, &o->of_plan->trips[i], r->arena, g, &why);
    if (rc == SW_E_INPUT && o->adapt) {
      tell(o, "of \"trips\" of the plan is left out: %s", why.text);
      continue;
    }
    if (rc && d) *d = why;
    if (rc) sw_diag_note(d, "in \"trips\" of the plan");
    if (rc) return rc;
  }
  return SW_OK;
}

static sw_rc take_trips(sw_opening *r, const sw_graph **out, sw_diag *d) {
  const sw_open_options *o = r->o;
  const char *option = o->trips_option ? o->trips_option : "trips", *form = o->trips_form ? o->trips_form : "";
  sw_text unknown = {0};
  sw_graph *g = r->out->read;
  if (o->of_plan) SW_TRY(take_trips_of_plan(r, &g, d));
  for (int32_t i = 0; i < o->n_trips; i++) {
    SW_TRY_NOTE(d, sw_graph_with_trips(g, &o->trips[i], r->arena, &g, d), "in %s %s=%lld", option, o->trips[i].loop,
                (long long)o->trips[i].trips);
  }
  *out = g;
  sw_graph_put_unknown_loops(g, &unknown);
  if (unknown.n)
    tell(o, "nobody says how many trips these loops make, and they are priced as one: %s; %s%s says it",
         sw_text_str(&unknown), option, form);
  sw_text_free(&unknown);
  return SW_OK;
}

/* Timed as the plan that is read, unless what others say has nothing that could run beside anything. */
static sw_rc make_job(const sw_opening *r, const sw_graph *g, sw_job *out, sw_diag *d) {
  const sw_open_options *o = r->o;
  const sw_plan_head *as = o->of_plan;
  SW_TRY(sw_job_make(o->compiler || !as ? o->compiler : as->compiler, g->written, r->machine, r->arena, out, d));
  out->memory = o->memory;
  const char *profile = sw_profile_name(sw_machine_profile(r->machine));
  const bool as_made = as && as->profile && strcmp(as->profile, profile) == 0 && as->compiler &&
                       strcmp(as->compiler, sw_compiled_as(out)) == 0;
  const char *of_plan = as && (as_made || out->overlap) ? as->overlap : NULL;
  return sw_overlap_parse(o->overlap ? o->overlap : of_plan, &out->overlap, d);
}

static sw_rc bind_rest(sw_opening *r, sw_diag *d) {
  const sw_open_options *o = r->o;
  sw_opened *out = r->out;
  const sw_graph *g;
  int32_t stage = 0;
  bool any = false;
  SW_TRY(take_trips(r, &g, d));
  if (o->schedule)
    SW_TRY(sw_schedule_read(o->schedule, g->written, r->arena, o->adapt, &out->schedule, &stage, &any, d));
  if (any && o->recompute == SW_RECOMPUTE_NONE) {
    sw_schedule_spec spec;
    SW_TRY(sw_schedule_without_copies(&out->schedule, r->arena, &spec, d));
    sw_schedule_deinit(&out->schedule);
    SW_TRY(sw_schedule_make(g->written, &spec, r->arena, &out->schedule, d));
  }
  if (!any && o->recompute >= SW_RECOMPUTE_FULL) {
    SW_TRY(make_job(r, g, &out->job, d));
    SW_TRY(sw_lever_choose(&out->job, o->recompute, o->memory, r->arena, &out->schedule, d));
    any = true;
  }
  if (any) g = out->schedule.stages[stage].graph;
  SW_TRY(make_job(r, g, &out->job, d));
  if (any) out->job.schedule = &out->schedule, out->job.stage = stage;
  return SW_OK;
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

/* Sizes that nobody says are told rather than what follows from them. */
static sw_rc read_sized(sw_opening *r, sw_open_search search, sw_diag *d) {
  const sw_sizes *sizes = &r->out->sizes;
  sw_rc rc = sw_open_read_on(r, sw_open_read(r, d), d);
  const bool open = sw_sizes_open(sizes) > 0;
  if (open && r->o->open_sizes) return search ? search(r, rc, d) : rc;
  if (rc && !(open && rc == SW_E_INPUT)) return rc;
  if (open) r->said.n = 0;
  if (open && d) *d = (sw_diag){0};
  return open || !r->o->spare_sizes ? sw_sizes_check(sizes, r->o->model, d) : SW_OK;
}

sw_rc sw_open_searching(const sw_open_options *o, sw_open_search search, sw_arena *arena, sw_opened *out, sw_diag *d) {
  sw_open_options with_text = *o;
  sw_opening r = {.o = &with_text, .arena = arena, .out = out};
  char *text = NULL;
  sw_rc rc = open_profile(&r, d);
  if (!rc && !o->text) rc = sw_read_model_text(o->model, &text, &with_text.text_bytes, d);
  if (!o->text) with_text.text = text;
  if (!rc) rc = read_sized(&r, search, d);
  for (size_t i = 0; i < r.said.n && o->report; i++) o->report(o->user, &r.said.at[i]);
  sw_array_free(&r.said);
  if (!rc) rc = bind_evenly(&r, d);
  sw_mem_free(text);
  if (!rc) rc = bind_rest(&r, d);
  if (rc) sw_close_job(out);
  return rc;
}

sw_rc sw_open_job(const sw_open_options *o, sw_arena *arena, sw_opened *out, sw_diag *d) {
  return sw_open_searching(o, NULL, arena, out, d);
}

void sw_close_job(sw_opened *o) {
  sw_schedule_deinit(&o->schedule);
  sw_schedule_deinit(&o->of_start);
  for (int32_t i = 0; i < o->n_compared; i++) sw_schedule_deinit(&o->compared[i]);
  o->n_compared = 0;
  if (!o->program) sw_graph_destroy(o->read);
  sw_graph_destroy(o->as_written);
  sw_program_destroy(o->program);
  o->read = o->as_written = NULL;
  o->program = NULL;
  o->job = (sw_job){.machine = o->job.machine};
}
