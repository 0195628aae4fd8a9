#include "cli/open_sizes.h"

#include <string.h>

#include "shardwright/log.h"
#include "shardwright/plan_json.h"
#include "report/polynomial.h"

enum { MOVED, TWICE, MEASURES };

/* Classes of sizes that are open, in order, and the names by which they are called. */
typedef struct unknowns {
  int n, class_of[SW_MAX_SIZES];
  const char *name[SW_MAX_SIZES];
} unknowns;

typedef struct asker {
  const sw_model_options *from;
  sw_opened *session;
  const sw_plan *plan;
  const unknowns *open;
  int32_t n_ops, n_values;
} asker;

static void list_unknowns(const sw_sizes *s, unknowns *out) {
  out->n = 0;
  for (int i = 0; i < s->n; i++) {
    if (s->at[i].given || !s->at[i].met) continue;
    bool listed = false;
    for (int k = 0; k < out->n; k++) listed = listed || out->class_of[k] == s->at[i].class_of;
    if (listed) continue;
    out->class_of[out->n] = s->at[i].class_of;
    out->name[out->n++] = s->at[i].name;
  }
}

/* The plan's measures at other sizes. */
static sw_rc measure_at_sizes(void *user, const int64_t *at, double *out, sw_diag *d) {
  asker *a = user;
  sw_opened *s = a->session;
  sw_arena scratch = {0};
  sw_breakdown breakdown;
  for (int i = 0; i < a->open->n; i++) s->stand_in.times[a->open->class_of[i]] = at[i];
  SW_TRY(sw_session_read_again(a->from, sw_machine_mesh(s->job.machine), s, d));
  if (s->job.graph->n_ops != a->n_ops || s->job.graph->n_values != a->n_values)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "the program is another one at other sizes; expected the same ops at all");
  sw_plan plan = *a->plan;
  plan.job = s->job;
  sw_rc rc = sw_plan_breakdown(&plan, &scratch, &breakdown, d);
  out[MOVED] = breakdown.moved_bytes;
  out[TWICE] = sw_breakdown_redundant_flops(&breakdown, s->job.machine);
  sw_arena_deinit(&scratch);
  return rc;
}

static void put_type(const sw_opened *s, const sw_value *v, sw_text *out) {
  sw_text_printf(out, "%s[", sw_dtype_text(v->type.dtype));
  for (int k = 0; k < v->type.rank; k++) {
    const char *name = NULL;
    for (int i = 0; i < s->sizes.n; i++) {
      const sw_size *size = &s->sizes.at[i];
      const bool open = size->met && !size->given;
      if (open && v->type.dims[k] == s->stand_in.unit * s->stand_in.times[size->class_of] && !name) name = size->name;
    }
    if (name) sw_text_printf(out, "%s%s", k ? "," : "", name);
    if (!name) sw_text_printf(out, "%s%lld", k ? "," : "", (long long)v->type.dims[k]);
  }
  sw_text_puts(out, "]");
}

static void put_open_names(const sw_opened *session, sw_text *out) {
  const sw_sizes *s = &session->sizes;
  int n = 0;
  const sw_mesh *mesh = sw_machine_mesh(session->job.machine);
  for (int a = 0; a < mesh->n_axes; a++) {
    if (session->open_axes >> a & 1) sw_text_printf(out, "%s%s", n++ ? ", " : "", mesh->axis[a].name);
  }
  for (int i = 0; i < s->n; i++) {
    const sw_size *size = &s->at[i];
    const sw_size *first = size;
    if (size->given || !size->met) continue;
    for (int k = i; k >= 0; k--) first = s->at[k].class_of == size->class_of && !s->at[k].given ? &s->at[k] : first;
    sw_text_printf(out, "%s%s", n++ ? ", " : "", size->name);
    if (first != size) sw_text_printf(out, " = %s", first->name);
  }
}

static void put_size_table(const sw_opened *s, const sw_plan *plan, const sw_text *moved, const sw_text *twice,
                           sw_text *out) {
  const sw_graph *g = plan->job.graph;
  sw_text mesh = {0};
  sw_mesh said = *sw_machine_mesh(s->job.machine);
  for (int a = 0; a < said.n_axes; a++) said.axis[a].size = s->open_axes >> a & 1 ? -1 : said.axis[a].size;
  sw_mesh_print(&said, &mesh);
  sw_text_printf(out, "model    %s: %d ops, %d arguments\nmesh     %s\nunknown  ", g->name, g->n_ops, g->n_args,
                 sw_text_str(&mesh));
  put_open_names(s, out);
  if (!s->open_axes) {
    sw_text_printf(out, "\nmoved    %s bytes between all devices\ntwice    %s flops done twice", sw_text_str(moved),
                   sw_text_str(twice));
  }
  sw_text_puts(out, "\n\narguments\n");
  for (int32_t i = 0; i < g->n_args; i++) {
    sw_text_printf(out, "  %s  ", g->values[g->args[i]].name);
    put_type(s, &g->values[g->args[i]], out);
    sw_text_puts(out, "  ");
    sw_sharding_print(sw_machine_mesh(s->job.machine), &plan->args[i], out);
    sw_text_puts(out, "\n");
  }
  sw_text_free(&mesh);
}

static sw_rc find_measures(asker *a, sw_arena *arena, sw_text text[MEASURES], sw_diag *d) {
  int64_t around[SW_MAX_SIZES];
  sw_poly poly[MEASURES];
  bool fits;
  for (int i = 0; i < a->open->n; i++) around[i] = a->session->stand_in.times[a->open->class_of[i]];
  const sw_poly_grid grid = {a->open->n, a->session->stand_in.unit, around};
  SW_TRY(sw_poly_fit(&grid, MEASURES, measure_at_sizes, a, arena, poly, &fits, d));
  for (int k = 0; k < MEASURES; k++) {
    if (fits)
      sw_poly_print(&poly[k], a->open->name, &text[k]);
    else
      sw_text_puts(&text[k], "no polynomial of");
  }
  for (int i = 0; i < a->open->n; i++) a->session->stand_in.times[a->open->class_of[i]] = around[i];
  return SW_OK;
}

sw_rc sw_open_sizes_print(const sw_model_options *from, sw_opened *session, const sw_plan *plan, bool table,
                          sw_arena *arena, sw_text *out, sw_diag *d) {
  unknowns open;
  sw_text text[MEASURES] = {{0}};
  list_unknowns(&session->sizes, &open);
  asker a = {from, session, plan, &open, plan->job.graph->n_ops, plan->job.graph->n_values};
  sw_opened planned = *session; /* stays while the text is read again: the plan borrows from it */
  session->program = NULL;
  session->read = session->as_written = NULL;
  sw_rc rc = session->open_axes ? SW_OK : find_measures(&a, arena, text, d);
  if (!rc) rc = sw_session_read_again(from, sw_machine_mesh(session->job.machine), session, d);
  sw_plan same = *plan;
  if (!rc) same.job = session->job;
  const bool known = !session->open_axes;
  const sw_open_measures measures = {open.n, open.name, known ? sw_text_str(&text[MOVED]) : NULL,
                                     known ? sw_text_str(&text[TWICE]) : NULL, session->open_axes};
  if (!rc && table) put_size_table(session, &same, &text[MOVED], &text[TWICE], out);
  if (!rc && !table) rc = sw_plan_write_open(&same, &measures, out, d);
  for (int k = 0; k < MEASURES; k++) sw_text_free(&text[k]);
  sw_close_job(&planned);
  return rc;
}

/* --- axes --------------------------------------------------------------------------------------------------------- */

/* The same parts of two meshes that differ in the sizes of axes? */
static bool same_refs(const sw_mesh *m, const sw_axis_ref *a, const sw_mesh *n, const sw_axis_ref *b, int count) {
  for (int i = 0; i < count; i++) {
    const bool whole =
        sw_axis_ref_equal(a[i], sw_axis_whole(m, a[i].axis)) && sw_axis_ref_equal(b[i], sw_axis_whole(n, b[i].axis));
    if (a[i].axis != b[i].axis || (!whole && !sw_axis_ref_equal(a[i], b[i]))) return false;
  }
  return true;
}

static bool same_shardings(const sw_plan *p, const sw_mesh *m, const sw_plan *q, const sw_mesh *n, int32_t n_ops,
                           int32_t n_args) {
  for (int32_t i = 0; i < n_ops; i++) {
    const sw_strategy *a = &p->ops[i], *b = &q->ops[i];
    const bool alike = a->n_refs == b->n_refs && memcmp(a->loop_of, b->loop_of, a->n_refs * sizeof *a->loop_of) == 0;
    if (!alike || !same_refs(m, a->refs, n, b->refs, a->n_refs)) return false;
  }
  for (int32_t i = 0; i < n_args; i++) {
    const sw_sharding *a = &p->args[i], *b = &q->args[i];
    const bool alike = a->n_refs == b->n_refs && memcmp(a->dim_of, b->dim_of, a->n_refs * sizeof *a->dim_of) == 0;
    if (!alike || !same_refs(m, a->refs, n, b->refs, a->n_refs)) return false;
  }
  return true;
}

sw_rc sw_open_axes_compare(const sw_model_options *from, sw_opened *session, const sw_plan *plan, sw_traversal t,
                           sw_arena *arena, sw_diag *d) {
  enum { TIMES = 2 };
  const sw_mesh *mesh = sw_machine_mesh(session->job.machine);
  sw_mesh larger = *mesh;
  sw_machine *machine;
  sw_plan other;
  sw_diag why = {0};
  if (!session->open_axes) return SW_OK;
  for (int a = 0; a < larger.n_axes; a++) larger.axis[a].size *= session->open_axes >> a & 1 ? TIMES : 1;
  sw_rc rc = sw_machine_build(arena, session->profile, &larger, &machine, &why);
  if (rc) return rc == SW_E_INPUT ? SW_OK : rc; /* the profile has no more devices */
  SW_TRY(sw_session_read_again(from, &larger, session, d));
  const sw_graph *g = session->job.graph;
  const sw_job job = {g, g->written, NULL, machine};
  rc = sw_propagate(&job, t, arena, &other, &why);
  if (rc == SW_E_RESOURCE) return rc;
  if (!rc && same_shardings(plan, mesh, &other, &larger, g->n_ops, g->n_args)) return SW_OK;
  sw_log(SW_LOG_WARN,
         "shardings hang on sizes of the mesh that are unknown; these are for %d devices along each such axis",
         SW_OPEN_AXIS);
  return SW_OK;
}
