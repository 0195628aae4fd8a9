#include "report/completion.h"

#include "base/columns.h"

typedef enum state { AS_SAID, REFINED, FILLED_IN } state;

typedef struct completion {
  const sw_plan *p;
  const sw_annotation **said; /* by value: what is required of it where it is made, or a hint that is kept; or NULL */
  int32_t hints_kept, hints_left;
  sw_arena arena;
} completion;

static sw_rc completion_init(completion *c, const sw_plan *p) {
  const sw_graph *g = p->job.graph;
  *c = (completion){.p = p};
  SW_ARENA_NEW(c->said, &c->arena, g->n_values, NULL);
  for (int32_t i = 0; i < p->job.request->n_annotations; i++) {
    const sw_annotation *a = &p->job.request->annotations[i];
    const bool kept = a->required || sw_plan_keeps(p, a);
    if (!a->required) *(kept ? &c->hints_kept : &c->hints_left) += 1;
    if (kept && !a->derived && a->value >= 0 && !a->for_users && !c->said[a->value]) c->said[a->value] = a;
  }
  return SW_OK;
}

static state completion_state_of(const completion *c, sw_id value) {
  const sw_annotation *a = c->said[value];
  sw_sharding now;
  if (!a) return FILLED_IN;
  sw_plan_value_sharding(c->p, value, &now);
  return sw_sharding_equal(&now, &a->sharding) ? AS_SAID : REFINED;
}

static void put_said(const completion *c, sw_id value, sw_text *out) {
  sw_annotation_print(c->p->job.request, c->said[value], out);
}

static void put_now(const completion *c, sw_id value, sw_text *out) {
  sw_sharding now;
  sw_plan_value_sharding(c->p, value, &now);
  sw_sharding_print(sw_machine_mesh(c->p->job.machine), &now, out);
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

/* The first ones by name. */
static void put_refined(const completion *c, sw_text *out) {
  enum { MOST = 4 };
  int n = 0;
  for (sw_id v = 0; v < c->p->job.graph->n_values; v++) {
    if (completion_state_of(c, v) != REFINED || n++ >= MOST) continue;
    sw_text_printf(out, "%s%s ", n > 1 ? ", " : ": ", c->p->job.graph->values[v].name);
    put_said(c, v, out);
    sw_text_puts(out, " to ");
    put_now(c, v, out);
  }
  if (n > MOST) sw_text_puts(out, ", ...");
}

void sw_completion_table(const sw_plan *p, bool colour, sw_text *out) {
  completion c;
  sw_columns t = {.n = 2};
  sw_text refined = {0};
  int32_t n[3] = {0}, args = 0;
  if (completion_init(&c, p)) return;
  for (sw_id v = 0; v < p->job.graph->n_values; v++) {
    const state s = completion_state_of(&c, v);
    n[s]++;
    args += s == FILLED_IN && p->job.graph->values[v].def < 0;
  }
  put_refined(&c, &refined);
  sw_text_printf(out, colour ? "\n\033[1m%s\033[0m\n" : "\n%s\n", "completed");
  sw_columns_add(&t, "as annotated");
  sw_columns_add(&t, "%d values", n[AS_SAID]);
  sw_columns_add(&t, "open and refined");
  sw_columns_add(&t, "%d values%s", n[REFINED], sw_text_str(&refined));
  sw_columns_add(&t, "filled in");
  sw_columns_add(&t, "%d arguments, %d results of ops", args, n[FILLED_IN] - args);
  sw_columns_add(&t, "hints");
  sw_columns_add(&t, "%d kept, %d left", c.hints_kept, c.hints_left);
  sw_columns_print(&t, 2, out);
  sw_text_free(&refined);
  sw_arena_deinit(&c.arena);
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void put_completed_value(const completion *c, sw_id v, bool said, sw_json_out *o) {
  sw_text was = {0}, now = {0};
  sw_jw_object_row(o, NULL);
  sw_jw_string(o, "value", c->p->job.graph->values[v].name);
  if (said) put_said(c, v, &was);
  put_now(c, v, &now);
  if (said) sw_jw_text(o, "said", &was);
  sw_jw_text(o, "sharding", &now);
  sw_jw_end(o);
}

static void put_values_in_state(const completion *c, const char *key, state of, sw_json_out *o) {
  sw_jw_array(o, key);
  for (sw_id v = 0; v < c->p->job.graph->n_values; v++) {
    if (completion_state_of(c, v) == of) put_completed_value(c, v, of != FILLED_IN, o);
  }
  sw_jw_end(o);
}

void sw_completion_json(const sw_plan *p, sw_json_out *o) {
  completion c;
  if (completion_init(&c, p)) {
    o->text->rc = SW_E_RESOURCE;
    return;
  }
  sw_jw_object(o, "completed");
  put_values_in_state(&c, "as_annotated", AS_SAID, o);
  put_values_in_state(&c, "refined", REFINED, o);
  put_values_in_state(&c, "filled_in", FILLED_IN, o);
  sw_jw_i64(o, "hints_kept", c.hints_kept);
  sw_jw_i64(o, "hints_left", c.hints_left);
  sw_jw_end(o);
  sw_arena_deinit(&c.arena);
}
