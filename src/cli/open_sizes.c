#include "cli/open_sizes.h"

#include "cli/read_model.h"
#include "shardwright/plan_json.h"
#include "shardwright/polynomial.h"

enum { MOVED, TWICE, MEASURES };

/* Classes of sizes that are open, in order, and the names by which they are called. */
typedef struct unknowns {
  int n, class_of[SW_MAX_SIZES];
  const char *name[SW_MAX_SIZES];
} unknowns;

typedef struct asker {
  const sw_model_options *from;
  sw_session *session;
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
static sw_rc measure(void *user, const int64_t *at, double *out, sw_diag *d) {
  asker *a = user;
  sw_session *s = a->session;
  sw_arena scratch = {0};
  sw_account account;
  for (int i = 0; i < a->open->n; i++) s->stand_in.times[a->open->class_of[i]] = at[i];
  SW_TRY(sw_read_model_again(a->from, sw_machine_mesh(s->machine), s, d));
  if (s->graph->n_ops != a->n_ops || s->graph->n_values != a->n_values)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "the program is another one at other sizes; expected the same ops at all");
  sw_plan plan = *a->plan;
  plan.graph = s->graph;
  sw_rc rc = sw_plan_account(&plan, &scratch, &account, d);
  out[MOVED] = account.moved_bytes;
  out[TWICE] = sw_account_redundant_flops(&account, s->machine);
  sw_arena_deinit(&scratch);
  return rc;
}

static void put_type(const sw_session *s, const sw_value *v, sw_text *out) {
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

static void put_names(const sw_sizes *s, sw_text *out) {
  int n = 0;
  for (int i = 0; i < s->n; i++) {
    const sw_size *size = &s->at[i];
    const sw_size *first = size;
    if (size->given || !size->met) continue;
    for (int k = i; k >= 0; k--) first = s->at[k].class_of == size->class_of && !s->at[k].given ? &s->at[k] : first;
    sw_text_printf(out, "%s%s", n++ ? ", " : "", size->name);
    if (first != size) sw_text_printf(out, " = %s", first->name);
  }
}

static void put_table(const sw_session *s, const sw_plan *plan, const sw_text *moved, const sw_text *twice,
                      sw_text *out) {
  const sw_function *f = &plan->graph->functions[plan->graph->main];
  sw_text mesh = {0};
  sw_mesh_print(sw_machine_mesh(s->machine), &mesh);
  sw_text_printf(out, "model    %s: %d ops, %d arguments\nmesh     %s\nunknown  ", plan->graph->name,
                 sw_graph_main_block(plan->graph)->n_ops, f->n_args, sw_text_str(&mesh));
  put_names(&s->sizes, out);
  sw_text_printf(out, "\nmoved    %s bytes between all devices\ntwice    %s flops done twice\n\narguments\n",
                 sw_text_str(moved), sw_text_str(twice));
  for (int32_t i = 0; i < f->n_args; i++) {
    sw_text_printf(out, "  %s  ", plan->graph->values[f->args[i]].name);
    put_type(s, &plan->graph->values[f->args[i]], out);
    sw_text_puts(out, "  ");
    sw_sharding_print(sw_machine_mesh(s->machine), &plan->args[i], out);
    sw_text_puts(out, "\n");
  }
  sw_text_free(&mesh);
}

static sw_rc find_measures(asker *a, sw_arena *arena, sw_text text[MEASURES], sw_diag *d) {
  int64_t around[SW_MAX_SIZES];
  sw_poly poly[MEASURES];
  bool fits;
  for (int i = 0; i < a->open->n; i++) around[i] = a->session->stand_in.times[a->open->class_of[i]];
  SW_TRY(sw_poly_fit(a->open->n, a->session->stand_in.unit, around, MEASURES, measure, a, arena, poly, &fits, d));
  for (int k = 0; k < MEASURES; k++) {
    if (fits)
      sw_poly_print(&poly[k], a->open->name, &text[k]);
    else
      sw_text_puts(&text[k], "no polynomial of");
  }
  for (int i = 0; i < a->open->n; i++) a->session->stand_in.times[a->open->class_of[i]] = around[i];
  return SW_OK;
}

sw_rc sw_open_sizes_print(const sw_model_options *from, sw_session *session, const sw_plan *plan, bool table,
                          sw_arena *arena, sw_text *out, sw_diag *d) {
  unknowns open;
  sw_text text[MEASURES] = {{0}};
  list_unknowns(&session->sizes, &open);
  asker a = {from, session, plan, &open, plan->graph->n_ops, plan->graph->n_values};
  sw_rc rc = find_measures(&a, arena, text, d);
  if (!rc) rc = sw_read_model_again(from, sw_machine_mesh(session->machine), session, d);
  sw_plan same = *plan;
  same.graph = session->graph;
  const sw_open_measures measures = {open.n, open.name, sw_text_str(&text[MOVED]), sw_text_str(&text[TWICE])};
  if (!rc && table) put_table(session, &same, &text[MOVED], &text[TWICE], out);
  if (!rc && !table) rc = sw_plan_write_open(&same, &measures, out, d);
  for (int k = 0; k < MEASURES; k++) sw_text_free(&text[k]);
  return rc;
}
