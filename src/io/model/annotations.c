/* Annotations of a model file:
 *
 *   of a value   "annotations": [{"sharding": "[[x],[]]", "required": true},
 *                                {"sharding": "[[],[y]]", "for_users": ["attention", {"op": "add", "operand": 1}]}]
 *   of an op     "sharding": "[[],[],[],[x]]", "required": true        one list of axes per loop, then per linearity
 *
 * "?" as the last entry of a dim ("[[x,?],[?]]") leaves the dim open: further axes may cut it, but those of
 * "replicated". Values of one sharding are listed at the end of the model: "sharding_groups": [["a", "b"], ...].
 */
#include <string.h>

#include "io/model/model.h"
#include "shardwright/request.h"

/* --- shardings with open dims ------------------------------------------------------------------------------------ */

static sw_rc check_mesh(const sw_model_reader *r, const sw_json *v) {
  if (r->g->written->has_mesh) return SW_OK;
  return SW_MODEL_FAIL(r, v, "a sharding names mesh axes and the model has no mesh; expected \"mesh\"");
}

static sw_rc read_sharding(const sw_model_reader *r, const sw_json *v, int rank, sw_sharding *out, uint32_t *open) {
  const char *text;
  SW_TRY(sw_json_as_string(v, &text, r->d));
  SW_TRY(check_mesh(r, v));
  sw_span at = sw_model_span(r, v);
  at.col++; /* the quote */
  sw_parsed_sharding read;
  const sw_rc rc = sw_sharding_parse_open(&r->g->written->mesh, rank, SW_FORM_NATIVE, text, strlen(text), at,
                                          &r->g->arena, &read, r->d);
  if (!rc) *out = read.sharding;
  if (!rc && open) *open = read.open;
  return sw_model_place(r, v, rc);
}

/* --- users ------------------------------------------------------------------------------------------------------- */

typedef SW_ARRAY(sw_value_use) use_list;

static sw_rc find_op(const sw_model_reader *r, const sw_json *v, const char *name, sw_model_op *out) {
  const int64_t *at = sw_dict_get(&r->op_at, name, strlen(name));
  if (!at) return SW_MODEL_FAIL(r, v, "there is no op '%.60s'; expected the name of an op", name);
  *out = r->ranges[*at];
  return SW_OK;
}

/* The uses of the value by an op (all of its steps, where it is sugar), or by one operand of it (-1: all). */
static sw_rc add_op_uses(const sw_model_reader *r, const sw_json *v, const char *name, int64_t operand, sw_id value,
                         use_list *out) {
  sw_model_op range;
  SW_TRY(find_op(r, v, name, &range));
  size_t before = out->n;
  for (sw_id op = range.first; op < range.end; op++) {
    for (int k = 0; k < r->g->ops[op].n_operands; k++) {
      if (r->g->ops[op].operands[k] != value || (operand >= 0 && operand != k)) continue;
      SW_TRY(sw_array_push(out, ((sw_value_use){op, k}), r->d));
    }
  }
  if (out->n > before) return SW_OK;
  return SW_MODEL_FAIL(r, v, "op '%.60s' does not use value '%s' there; expected one of its users", name,
                       r->g->values[value].name);
}

static sw_rc add_output_use(const sw_model_reader *r, const sw_json *v, const char *name, use_list *out) {
  const int64_t *at = sw_dict_get(&r->output_at, name, strlen(name));
  if (!at) return SW_MODEL_FAIL(r, v, "there is no output '%.60s'; expected the name of one", name);
  return sw_array_push(out, ((sw_value_use){-1, (int32_t)*at}), r->d);
}

static sw_rc read_user(const sw_model_reader *r, const sw_json *v, sw_id value, use_list *out) {
  static const char *const kKeys[] = {"op", "operand", "output"};
  const char *name = NULL;
  int64_t operand = -1;
  if (v->kind == SW_JSON_STRING) return add_op_uses(r, v, v->text, -1, value, out);
  SW_TRY(sw_json_only(v, kKeys, 3, "a user", r->d));
  SW_TRY(sw_json_opt_string(v, "output", &name, r->d));
  if (name) return add_output_use(r, v, name, out);
  SW_TRY(sw_json_string(v, "op", &name, r->d));
  SW_TRY(sw_json_opt_i64(v, "operand", 0, INT32_MAX, &operand, r->d));
  return add_op_uses(r, v, name, operand, value, out);
}

/* --- reading ----------------------------------------------------------------------------------------------------- */

static sw_rc read_for_users(const sw_model_reader *r, const sw_json *v, sw_annotation *a, use_list *uses) {
  if (!v || v->kind != SW_JSON_ARRAY) {
    if (v) SW_TRY(sw_json_as_bool(v, &a->for_users, r->d));
    return SW_OK;
  }
  if (!v->n) return SW_MODEL_FAIL(r, v, "'for_users' is empty; expected true, false or a list of users");
  a->for_users = true;
  for (int i = 0; i < v->n; i++) SW_TRY(read_user(r, &v->at[i], a->value, uses));
  return SW_OK;
}

/* ["x", "y:(1)2"] */
static sw_rc read_replicated(const sw_model_reader *r, const sw_json *v, sw_annotation *a, sw_axis_ref *refs) {
  const sw_json *list = NULL;
  SW_TRY(sw_json_opt_array(v, "replicated", &list, r->d));
  for (int i = 0; list && i < list->n; i++) {
    const char *text;
    SW_TRY(sw_json_as_string(&list->at[i], &text, r->d));
    if (a->n_kept == SW_MAX_REFS) return SW_MODEL_FAIL(r, list, "'replicated' has more than %d axes", SW_MAX_REFS);
    const char *end = text + strlen(text);
    sw_rc rc = sw_axis_ref_parse(&r->g->written->mesh, &text, end, &refs[a->n_kept++], r->d);
    SW_TRY(sw_model_place(r, &list->at[i], rc));
    if (*text) return SW_MODEL_FAIL(r, &list->at[i], "'%.20s' follows an axis; expected one axis", text);
  }
  a->kept = refs;
  return SW_OK;
}

/* What is said to be replicated over an axis is neither cut by it nor partial over it. */
static sw_rc check_replicated(const sw_model_reader *r, const sw_json *v, const sw_annotation *a) {
  const sw_sharding *s = &a->sharding;
  for (int i = 0; i < a->n_kept; i++) {
    for (int k = 0; k < s->n_refs + s->n_partial; k++) {
      if (!sw_axis_ref_overlaps(a->kept[i], s->refs[k])) continue;
      return SW_MODEL_FAIL(r, v, "axis '%s' is in the sharding and in 'replicated'; expected it in one",
                           r->g->written->mesh.axis[a->kept[i].axis].name);
    }
  }
  return SW_OK;
}

/* How much a hint counts; what is required counts all. */
static sw_rc read_weight(const sw_model_reader *r, const sw_json *v, sw_annotation *a) {
  int64_t priority = 0;
  SW_TRY(sw_json_opt_i64(v, "priority", 0, INT32_MAX, &priority, r->d));
  SW_TRY(sw_json_opt_bool(v, "derived", &a->derived, r->d));
  a->priority = (int32_t)priority;
  if (!a->required || (!priority && !a->derived)) return SW_OK;
  return SW_MODEL_FAIL(r, v, "an annotation is required and has a priority; expected one of a hint");
}

static sw_rc read_one(const sw_model_reader *r, const sw_json *v, sw_id value, use_list *uses) {
  static const char *const kKeys[] = {"sharding", "required", "for_users", "replicated", "priority", "derived"};
  const sw_json *sharding;
  sw_axis_ref replicated[SW_MAX_REFS];
  sw_annotation a = {.value = value, .op = -1, .span = sw_model_span(r, v)};
  SW_TRY(sw_json_only(v, kKeys, 6, "an annotation", r->d));
  SW_TRY(sw_json_member(v, "sharding", &sharding, r->d));
  SW_TRY(read_sharding(r, sharding, r->g->values[value].type.rank, &a.sharding, &a.open_dims));
  SW_TRY(sw_json_opt_bool(v, "required", &a.required, r->d));
  SW_TRY(read_replicated(r, v, &a, replicated));
  SW_TRY(check_replicated(r, v, &a));
  SW_TRY(read_weight(r, v, &a));
  SW_TRY(read_for_users(r, sw_json_find(v, "for_users"), &a, uses));
  a.n_users = (int32_t)uses->n;
  a.users = uses->at;
  return sw_graph_add_annotation(r->g, &a, r->d);
}

static sw_rc read_of_value(const sw_model_reader *r, const sw_json *entry) {
  const sw_json *list = NULL;
  const char *name;
  SW_TRY(sw_json_opt_array(entry, "annotations", &list, r->d));
  if (!list) return SW_OK;
  SW_TRY(sw_json_string(entry, "name", &name, r->d));
  sw_id value = sw_graph_value_named(r->g, name);
  for (int i = 0; i < list->n; i++) {
    use_list uses = {0};
    sw_rc rc = read_one(r, &list->at[i], value, &uses);
    if (rc) sw_diag_note(r->d, "in an annotation of value '%s'", name);
    sw_array_free(&uses);
    SW_TRY(rc);
  }
  return SW_OK;
}

/* A cursor over "[[x],[],[y,z:(1)2]]". */
typedef struct axes_reader {
  const sw_model_reader *r;
  const sw_json *v;
  const char *at;
} axes_reader;

static bool accept_sign(axes_reader *in, char c) {
  while (*in->at == ' ') in->at++;
  if (*in->at != c) return false;
  in->at++;
  return true;
}

static sw_rc expect_sign(axes_reader *in, char c) {
  if (accept_sign(in, c)) return SW_OK;
  return SW_MODEL_FAIL(in->r, in->v, "'%s' has '%.8s' at character %d; expected '%c', as in [[x],[],[y,z]]",
                       in->v->text, in->at, (int)(in->at - in->v->text) + 1, c);
}

/* The axes of one loop: "[x,y]". */
static sw_rc read_axes(axes_reader *in, int loop, sw_annotation *a, int32_t *loop_of, sw_axis_ref *refs) {
  const char *end = in->v->text + strlen(in->v->text);
  SW_TRY(expect_sign(in, '['));
  if (accept_sign(in, ']')) return SW_OK;
  do {
    if (a->n_loop_refs == SW_MAX_REFS) {
      return SW_MODEL_FAIL(in->r, in->v, "'%s' has more than %d axes", in->v->text, SW_MAX_REFS);
    }
    loop_of[a->n_loop_refs] = loop;
    sw_rc rc = sw_axis_ref_parse(&in->r->g->written->mesh, &in->at, end, &refs[a->n_loop_refs++], in->r->d);
    SW_TRY(sw_model_place(in->r, in->v, rc));
  } while (accept_sign(in, ','));
  return expect_sign(in, ']');
}

/* Loops beyond the last list are whole. */
static sw_rc read_loop_axes(axes_reader *in, sw_annotation *a, int32_t *loop_of, sw_axis_ref *refs) {
  int loop = 0;
  SW_TRY(expect_sign(in, '['));
  if (!accept_sign(in, ']')) {
    do {
      SW_TRY(read_axes(in, loop++, a, loop_of, refs));
    } while (accept_sign(in, ','));
    SW_TRY(expect_sign(in, ']'));
  }
  while (*in->at == ' ') in->at++;
  const sw_op *op = &in->r->g->ops[a->op];
  int n = op->nest->n_loops, n_linear = op->nest->n_linear;
  if (*in->at) return SW_MODEL_FAIL(in->r, in->v, "'%s' goes on after the axes of the loops", in->v->text);
  if (loop <= n + n_linear) return SW_OK;
  return SW_MODEL_FAIL(in->r, in->v, "'%s' has %d lists; op '%s' has %d loops and %d linearities", in->v->text, loop,
                       op->name, n, n_linear);
}

static sw_rc read_of_op(const sw_model_reader *r, const sw_json *v, sw_id op) {
  const sw_json *sharding = sw_json_find(v, "sharding"), *required = sw_json_find(v, "required");
  if (!sharding && !required) return SW_OK;
  if (!sharding)
    return SW_MODEL_FAIL(r, required, "\"required\" is without a sharding; expected \"sharding\" beside it");
  sw_annotation a = {.value = -1, .op = op, .span = sw_model_span(r, sharding)};
  int32_t loop_of[SW_MAX_REFS];
  sw_axis_ref refs[SW_MAX_REFS];
  axes_reader in = {r, sharding, NULL};
  SW_TRY(sw_json_opt_bool(v, "required", &a.required, r->d));
  SW_TRY(sw_json_as_string(sharding, &in.at, r->d));
  SW_TRY(check_mesh(r, sharding));
  SW_TRY(read_loop_axes(&in, &a, loop_of, refs));
  a.loop_of = loop_of;
  a.loop_refs = refs;
  return sw_graph_add_annotation(r->g, &a, r->d);
}

/* [["a", "b", "c"], ...]: each with the first. */
sw_rc sw_model_read_groups(const sw_model_reader *r, const sw_json *root) {
  const sw_json *groups = NULL;
  SW_TRY(sw_json_opt_array(root, "sharding_groups", &groups, r->d));
  for (int i = 0; groups && i < groups->n; i++) {
    const sw_json *list = &groups->at[i];
    SW_TRY(sw_json_expect(list, SW_JSON_ARRAY, r->d));
    sw_id first = -1;
    for (int k = 0; k < list->n; k++) {
      sw_id value;
      SW_TRY(sw_model_named_value(r, &list->at[k], &value));
      if (k == 0) first = value;
      SW_TRY(sw_graph_add_sharding_group(r->g, first, value, sw_model_span(r, &list->at[k]), r->d));
    }
  }
  return SW_OK;
}

sw_rc sw_model_read_annotations(const sw_model_reader *r) {
  for (int i = 0; r->values && i < r->values->n; i++) SW_TRY(read_of_value(r, &r->values->at[i]));
  for (int i = 0; i < r->ops->n; i++) SW_TRY(read_of_op(r, &r->ops->at[i], r->ranges[i].end - 1));
  return SW_OK;
}

/* --- writing ----------------------------------------------------------------------------------------------------- */

static void write_text(sw_json_out *o, const char *key, sw_text *text) {
  if (text->rc) o->text->rc = text->rc;
  sw_jw_string(o, key, sw_text_str(text));
  sw_text_free(text);
}

static void write_users(const sw_graph *g, const sw_annotation *a, sw_json_out *o) {
  if (!a->n_users) {
    sw_jw_bool(o, "for_users", true);
    return;
  }
  sw_jw_row(o, "for_users");
  for (int i = 0; i < a->n_users; i++) {
    sw_value_use u = a->users[i];
    sw_jw_object_row(o, NULL);
    if (u.op < 0) {
      sw_jw_string(o, "output", g->output_names[u.index]);
    } else {
      sw_jw_string(o, "op", g->ops[u.op].name);
      sw_jw_i64(o, "operand", u.index);
    }
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

static void write_replicated(const sw_graph *g, const sw_annotation *a, sw_json_out *o) {
  sw_jw_row(o, "replicated");
  for (int i = 0; i < a->n_kept; i++) {
    sw_text axis = {0};
    sw_axis_ref_print(&g->written->mesh, a->kept[i], &axis);
    write_text(o, NULL, &axis);
  }
  sw_jw_end(o);
}

void sw_model_write_value_annotations(const sw_graph *g, const int32_t *indices, int n, sw_json_out *o) {
  sw_jw_row(o, "annotations");
  for (int i = 0; i < n; i++) {
    const sw_annotation *a = &g->written->annotations[indices[i]];
    sw_text text = {0};
    sw_annotation_print(g->written, a, &text);
    sw_jw_object_row(o, NULL);
    write_text(o, "sharding", &text);
    if (a->required) sw_jw_bool(o, "required", true);
    if (a->for_users) write_users(g, a, o);
    if (sw_annotation_said(a)->n_kept) write_replicated(g, sw_annotation_said(a), o);
    if (a->priority) sw_jw_i64(o, "priority", a->priority);
    if (a->derived) sw_jw_bool(o, "derived", true);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

void sw_model_write_groups(const sw_graph *g, sw_json_out *o) {
  if (!g->written->n_sharding_groups) return;
  sw_jw_array(o, "sharding_groups");
  for (int32_t i = 0; i < g->written->n_sharding_groups; i++) {
    const sw_sharding_group *pair = &g->written->sharding_groups[i];
    const bool first = i == 0 || g->written->sharding_groups[i - 1].a != pair->a;
    if (first && i) sw_jw_end(o);
    if (first) sw_jw_row(o, NULL);
    if (first) sw_jw_string(o, NULL, g->values[pair->a].name);
    sw_jw_string(o, NULL, g->values[pair->b].name);
  }
  sw_jw_end(o);
  sw_jw_end(o);
}

void sw_model_write_op_annotation(const sw_graph *g, const sw_annotation *a, sw_json_out *o) {
  const sw_loop_nest *s = g->ops[a->op].nest;
  sw_text text = {0};
  a = sw_annotation_said(a);
  for (int l = 0; l < s->n_loops + s->n_linear; l++) {
    int n = 0;
    sw_text_puts(&text, l ? ",[" : "[[");
    for (int i = 0; i < a->n_loop_refs; i++) {
      if (a->loop_of[i] != l) continue;
      if (n++) sw_text_puts(&text, ",");
      sw_axis_ref_print(&g->written->mesh, a->loop_refs[i], &text);
    }
    sw_text_puts(&text, "]");
  }
  sw_text_puts(&text, text.n ? "]" : "[]");
  write_text(o, "sharding", &text);
  if (a->required) sw_jw_bool(o, "required", true);
}
