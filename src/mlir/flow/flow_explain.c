/* How each axis of a value came, as a table for people: from where it was annotated on, back from the value. */
#include <string.h>

#include "base/columns.h"
#include "mlir/flow/program_flow.h"

typedef struct explainer {
  const sw_program_flow *p;
  const sw_flow *f;
  const sw_origins *o;
  sw_tensor_names names;
  sw_arena arena;
  sw_columns columns;
  sw_text *out;
  sw_diag *d;
} explainer;

/* --- words -------------------------------------------------------------------------------------------------------- */

static const char *explained_name_of(explainer *e, int32_t tensor) {
  const char *name = e->names.name[tensor];
  return name ? name : "(inside an op)";
}

/* "x":(1)2 */
static const char *axis_text(explainer *e, int32_t tensor, sw_axis_ref a) {
  const sw_mesh *m = &e->f->meshes[e->f->shardings[tensor].mesh];
  if (a.size == m->axis[a.axis].size) return sw_arena_printf(&e->arena, e->d, "\"%s\"", m->axis[a.axis].name);
  return sw_arena_printf(&e->arena, e->d, "\"%s\":(%d)%d", m->axis[a.axis].name, a.pre, a.size);
}

/* model.mlir:12:5 */
static const char *place_text(explainer *e, uint32_t at) {
  const sw_span s = sw_ir_place(e->p->t, at);
  return sw_arena_printf(&e->arena, e->d, "%s:%d:%d", e->p->t->file, s.line, s.col);
}

/* "along i of stablehlo.add"; of edges "through stablehlo.while". */
static const char *step_text(explainer *e, int32_t step, int factor) {
  if (step < 0) return "of its sharding group";
  const sw_flow_op *s = &e->f->steps[step];
  const sw_ir_span op = e->p->t->ops.at[s->source].name;
  sw_text letter = {0};
  if (!s->rule) return sw_arena_printf(&e->arena, e->d, "through %.*s", SW_IR_TEXT(e->p->t, op));
  sw_factor_put(factor, &letter);
  const char *text =
      sw_arena_printf(&e->arena, e->d, "along %s of %.*s", sw_text_str(&letter), SW_IR_TEXT(e->p->t, op));
  sw_text_free(&letter);
  return text;
}

static uint32_t text_place_of_step(const explainer *e, int32_t step, int32_t tensor) {
  if (step >= 0) return e->p->t->ops.at[e->f->steps[step].source].text.at;
  return e->names.at[tensor] == SW_IR_NONE ? 0 : e->names.at[tensor];
}

/* When: "p1, round 2: elementwise". */
static const char *time_text(explainer *e, const sw_axis_arrival *o) {
  static const char *const kRounds[] = {
      "",   "elementwise, of single use", "elementwise", "factors that pass through", "all but broadcasts forward",
      "all"};
  if (o->round < 0) return "";
  if (o->priority == INT32_MAX) return sw_arena_printf(&e->arena, e->d, "round %d: %s", o->round, kRounds[o->round]);
  return sw_arena_printf(&e->arena, e->d, "p%d, round %d: %s", o->priority, o->round, kRounds[o->round]);
}

static const char *sharding_text(explainer *e, const sw_open_sharding *s) {
  sw_text t = {0};
  const sw_rc rc = sw_open_sharding_print(&e->p->sdy, s, &t);
  const char *text;
  return sw_ir_keep_text(rc, &t, &e->arena, &text, e->d) ? NULL : text;
}

/* --- chains ------------------------------------------------------------------------------------------------------- */

static void add_explained_row(explainer *e, const char *value, const char *from, const char *how, const char *when,
                              const char *at) {
  const char *cells[] = {value, from, how, when, at};
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
    if (!cells[i]) e->columns.cells.rc = SW_E_RESOURCE;
    sw_columns_add(&e->columns, "%s", cells[i] ? cells[i] : "");
  }
}

static void annotated(explainer *e, int32_t tensor) {
  const sw_open_sharding *said = e->o->initial[tensor];
  const uint32_t at = e->p->said_at.at[tensor];
  add_explained_row(e, explained_name_of(e, tensor), "annotated", sharding_text(e, said), "",
                    at == SW_IR_NONE ? "" : place_text(e, at));
}

/* From record `i` of a tensor back to what was annotated. */
static void chain(explainer *e, int32_t tensor, int32_t i) {
  while (i >= 0) {
    const sw_axis_arrival *o = &e->o->came.at[i];
    add_explained_row(
        e, explained_name_of(e, tensor), sw_arena_printf(&e->arena, e->d, "from %s", explained_name_of(e, o->from)),
        step_text(e, o->step, o->factor), time_text(e, o), place_text(e, text_place_of_step(e, o->step, tensor)));
    tensor = o->from;
    i = sw_origin_of(e->o, tensor, o->axis, i);
  }
  if (i == SW_ORIGIN_SAID) annotated(e, tensor);
}

static void put_explained_columns(explainer *e) {
  sw_columns_print(&e->columns, 2, e->out);
  e->columns = (sw_columns){.n = 5};
}

static void put_axis_head(explainer *e, int32_t tensor, int dim, sw_axis_ref axis) {
  const char *text = axis_text(e, tensor, axis);
  sw_text_printf(e->out, "\ndimension %d, %s\n", dim, text ? text : "");
}

/* The axis, or each part of it that came alone. */
static void explain_axis(explainer *e, int32_t tensor, int dim, sw_axis_ref axis) {
  const sw_open_sharding *said = e->o->initial[tensor];
  SW_ARRAY(int32_t) at = {0}; /* records, the latest first */
  for (int32_t i = e->o->last[tensor]; i >= 0; i = e->o->came.at[i].before) {
    if (sw_axis_common(e->o->came.at[i].axis, axis).size && sw_array_push(&at, i, e->d)) e->out->rc = SW_E_RESOURCE;
  }
  for (int k = 0; said && k < said->cut.n_refs; k++) {
    const sw_axis_ref part = sw_axis_common(said->cut.refs[k], axis);
    if (!part.size) continue;
    put_axis_head(e, tensor, dim, part);
    annotated(e, tensor);
    put_explained_columns(e);
  }
  for (size_t k = at.n; k-- > 0;) {
    put_axis_head(e, tensor, dim, sw_axis_common(e->o->came.at[at.at[k]].axis, axis));
    chain(e, tensor, at.at[k]);
    put_explained_columns(e);
  }
  sw_array_free(&at);
}

/* --- conflicts ---------------------------------------------------------------------------------------------------- */

static const char *why(explainer *e, const sw_refusal *r) {
  static const char *const kWhy[] = {
      [SW_REFUSED_STANDS] = "other axes stand there",
      [SW_REFUSED_BLOCKED] = "nothing is propagated along it",
      [SW_REFUSED_BARRIER] = "nothing goes that way",
      [SW_REFUSED_CLOSED] = "the dimension is closed",
      [SW_REFUSED_LISTED] = "it is replicated or unreduced",
      [SW_REFUSED_SIZE] = "it does not divide the factor",
      [SW_REFUSED_LAYER] = "a conflict that this layer does not settle",
  };
  if (r->why == SW_REFUSED_USED) return sw_arena_printf(&e->arena, e->d, "it cuts dimension %d", r->by);
  if (r->why == SW_REFUSED_TENSOR)
    return sw_arena_printf(&e->arena, e->d, "contradicted by %s", explained_name_of(e, r->by));
  return kWhy[r->why];
}

static bool is_lost(const explainer *e, int32_t tensor, const sw_refusal *r) {
  for (int32_t i = e->o->last_lost[tensor]; i >= 0; i = e->o->lost.at[i].before) {
    if (e->o->lost.at[i].step == r->step && e->o->lost.at[i].factor == r->factor) return true;
  }
  return false;
}

/* What a neighbour has and the value has not. */
static void refused(explainer *e, int32_t tensor, int dim, sw_axis_ref axis, int32_t from, int32_t step, int factor,
                    const char *reason) {
  add_explained_row(
      e, sw_arena_printf(&e->arena, e->d, "dimension %d", dim),
      sw_arena_printf(&e->arena, e->d, "not %s of %s", axis_text(e, from, axis), explained_name_of(e, from)),
      step_text(e, step, factor), reason, place_text(e, text_place_of_step(e, step, tensor)));
}

static sw_rc refusals(explainer *e, int32_t tensor) {
  sw_refusals list = {0};
  sw_rc rc = sw_flow_refusals(e->f, tensor, &list, e->d);
  for (size_t i = 0; i < list.n && !rc; i++) {
    const sw_refusal *r = &list.at[i];
    if (!is_lost(e, tensor, r)) refused(e, tensor, r->dim, r->axis, r->from, r->step, r->factor, why(e, r));
  }
  sw_array_free(&list);
  return rc;
}

/* Which of two factors got an axis in one step, and why that one. */
static void losses(explainer *e, int32_t tensor) {
  for (int32_t i = e->o->last_lost[tensor]; i >= 0; i = e->o->lost.at[i].before) {
    const sw_loss *l = &e->o->lost.at[i];
    const bool elementwise = e->f->steps[l->step].kind == SW_STEP_ELEMENTWISE;
    const char *unit = elementwise ? "shards" : "elements", *verb = "comes first";
    if (l->winner_weight > l->weight) verb = elementwise ? "is cut more" : "is larger";
    refused(e, tensor, l->dim, l->axis, l->from, l->step, l->factor,
            sw_arena_printf(&e->arena, e->d, "lost to dimension %d: %s %s, %.0f %s, and this %.0f", l->winner_dim,
                            explained_name_of(e, l->winner_from), verb, l->winner_weight, unit, l->weight));
  }
}

/* --- the value ---------------------------------------------------------------------------------------------------- */

/* Of all tensors, those that the text calls `value` in some function, or exactly so. */
static sw_rc find_named_tensor(explainer *e, const char *value, int32_t *out) {
  int32_t several = 0;
  *out = -1;
  for (size_t i = 0; i < e->p->type.n; i++) {
    const char *name = e->names.name[i], *colon = name ? strchr(name, ':') : NULL;
    if (!name) continue;
    if (!strcmp(name, value)) {
      *out = (int32_t)i;
      return SW_OK;
    }
    if (!colon || strcmp(colon + 1, value)) continue;
    *out = (int32_t)i;
    several++;
  }
  if (several == 1) return SW_OK;
  if (several)
    return SW_FAIL_INPUT(e->d, SW_NOWHERE, "%d functions have a value %s; expected @NAME:%s", several, value, value);
  return SW_FAIL_INPUT(
      e->d, SW_NOWHERE,
      "%s has no value '%s' that can be cut; expected %%NAME, %%NAME#N, @FUNCTION:%%NAME or @FUNCTION#N", e->p->t->file,
      value);
}

static sw_rc explain_tensor(explainer *e, const char *value) {
  int32_t tensor;
  SW_TRY(sw_tensor_names_find(e->p, &e->arena, &e->names, e->d));
  SW_TRY(find_named_tensor(e, value, &tensor));
  if (e->p->next_copy.at[tensor] >= 0) tensor = e->p->next_copy.at[tensor]; /* a constant: as its last use has it */
  const sw_open_sharding *s = &e->f->shardings[tensor];
  sw_text_printf(e->out, "%s : ", explained_name_of(e, tensor));
  sw_type_print(e->f->types[tensor], e->out);
  if (s->mesh < 0) {
    sw_text_puts(e->out, "  no sharding\n");
  } else {
    sw_text_puts(e->out, "  ");
    SW_TRY(sw_open_sharding_print(&e->p->sdy, s, e->out));
    sw_text_puts(e->out, "\n");
  }
  for (int i = 0; s->mesh >= 0 && i < s->cut.n_refs; i++) explain_axis(e, tensor, s->cut.dim_of[i], s->cut.refs[i]);
  losses(e, tensor);
  SW_TRY(refusals(e, tensor));
  if (e->columns.at.n) sw_text_puts(e->out, "\nconflicts\n");
  put_explained_columns(e);
  return e->out->rc;
}

sw_rc sw_program_flow_explain(const sw_program_flow *p, const char *value, sw_text *out, sw_diag *d) {
  explainer e = {.p = p, .f = &p->flow, .o = p->flow.origins, .columns = {.n = 5}, .out = out, .d = d};
  sw_rc rc = explain_tensor(&e, value);
  sw_text_free(&e.columns.cells);
  sw_array_free(&e.columns.at);
  sw_arena_deinit(&e.arena);
  return rc;
}
