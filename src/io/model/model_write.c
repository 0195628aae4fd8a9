/* Writes a graph as a model file: arguments and annotated results in "values", one op a line in "ops". Attributes that
 * say what their absence would are left out, so reading gives the same graph again. */
#include <string.h>

#include "io/model/model.h"
#include "shardwright/model_json.h"
#include "shardwright/request.h"

/* Indices of annotations by value and by op: those of value v are list[first[v] .. first[v+1]). */
typedef struct notes {
  int32_t *first, *list, *of_op;
} notes;

static sw_rc sort_notes(const sw_graph *g, sw_arena *arena, notes *out, sw_diag *d) {
  SW_ARENA_NEW(out->first, arena, g->n_values + 2, d);
  SW_ARENA_NEW(out->list, arena, g->written->n_annotations, d);
  SW_ARENA_NEW(out->of_op, arena, g->n_ops, d);
  for (int32_t i = 0; i < g->n_ops; i++) out->of_op[i] = -1;
  for (int32_t i = 0; i < g->written->n_annotations; i++) {
    const sw_annotation *a = &g->written->annotations[i];
    if (a->value >= 0) out->first[a->value + 2]++;
    if (a->op >= 0) out->of_op[a->op] = i;
  }
  for (int32_t v = 0; v < g->n_values; v++) out->first[v + 2] += out->first[v + 1];
  for (int32_t i = 0; i < g->written->n_annotations; i++) {
    sw_id v = g->written->annotations[i].value;
    if (v >= 0) out->list[out->first[v + 1]++] = i;
  }
  return SW_OK;
}

static void write_value(const sw_graph *g, sw_id id, const notes *of, sw_json_out *o) {
  static const char *const kKinds[] = {"input", "parameter", "state", "constant", "intermediate"};
  const sw_value *v = &g->values[id];
  int n = of->first[id + 1] - of->first[id];
  if (v->def >= 0 && !n) return;
  sw_jw_object_row(o, NULL);
  sw_jw_string(o, "name", v->name);
  if (v->def < 0) {
    sw_jw_string(o, "kind", kKinds[v->kind]);
    sw_jw_string(o, "dtype", sw_dtype_text(v->type.dtype));
    sw_model_write_shape(&v->type, o);
  }
  if (n) sw_model_write_value_annotations(g, of->list + of->first[id], n, o);
  sw_jw_end(o);
}

static void write_op_outputs(const sw_graph *g, const sw_op *op, sw_json_out *o) {
  bool typed = sw_op_class_of(op->code) == SW_OPS_GIVEN;
  sw_jw_row(o, "outputs");
  for (int i = 0; i < op->n_results; i++) {
    const sw_value *v = &g->values[op->results[i]];
    if (!typed) {
      sw_jw_string(o, NULL, v->name);
      continue;
    }
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "name", v->name);
    sw_jw_string(o, "dtype", sw_dtype_text(v->type.dtype));
    sw_model_write_shape(&v->type, o);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

static void write_attrs(const sw_graph *g, const sw_op *op, sw_json_out *o) {
  bool any = false;
  for (int i = 0; i < op->n_attrs; i++) {
    if (op->attrs[i].key == SW_ATTR_BODY || sw_op_attr_is_default(g, op, &op->attrs[i])) continue;
    if (!any) sw_jw_object_row(o, "attrs");
    any = true;
    sw_model_write_attr(g, op, &op->attrs[i], o);
  }
  if (any) sw_jw_end(o);
}

static void write_location(sw_span at, sw_json_out *o) {
  if (!at.file) return;
  sw_text text = {0};
  sw_text_puts(&text, at.file);
  if (at.line) sw_text_printf(&text, ":%d", at.line);
  if (at.line && at.col) sw_text_printf(&text, ":%d", at.col);
  sw_jw_text(o, "location", &text);
}

static void write_op(const sw_graph *g, sw_id id, const notes *of, sw_json_out *o) {
  const sw_op *op = &g->ops[id];
  bool same_name = op->n_results && strcmp(g->values[op->results[0]].name, op->name) == 0;
  sw_jw_object_row(o, NULL);
  sw_jw_string(o, "op", sw_opcode_text(op->code));
  if (!same_name) sw_jw_string(o, "name", op->name);
  if (op->n_operands) {
    sw_jw_row(o, "inputs");
    for (int i = 0; i < op->n_operands; i++) sw_jw_string(o, NULL, g->values[op->operands[i]].name);
    sw_jw_end(o);
  }
  write_op_outputs(g, op, o);
  write_attrs(g, op, o);
  if (op->code == SW_OP_GENERIC) {
    sw_model_write_nest(op, o);
    sw_jw_string(o, "body", sw_op_text(op, SW_ATTR_BODY, ""));
  }
  write_location(op->location.at, o);
  if (op->function) sw_jw_string(o, "function", op->function);
  if (op->blocked) sw_jw_string(o, "allowed_direction", sw_direction_text(SW_DIRECTION_BOTH & ~op->blocked));
  if (of->of_op[id] >= 0) sw_model_write_op_annotation(g, &g->written->annotations[of->of_op[id]], o);
  sw_jw_end(o);
}

static void write_output(const sw_graph *g, int i, sw_json_out *o) {
  const char *value = g->values[g->outputs[i]].name;
  if (strcmp(value, g->output_names[i]) == 0 && g->alias[i] < 0) {
    sw_jw_string(o, NULL, value);
    return;
  }
  sw_jw_object_row(o, NULL);
  sw_jw_string(o, "value", value);
  if (strcmp(value, g->output_names[i]) != 0) sw_jw_string(o, "name", g->output_names[i]);
  if (g->alias[i] >= 0) sw_jw_string(o, "alias", g->values[g->alias[i]].name);
  sw_jw_end(o);
}

static void write_all(const sw_graph *g, const notes *of, sw_json_out *o) {
  sw_jw_format(o, "model", 1);
  sw_jw_string(o, "name", g->name);
  if (g->written->has_mesh) sw_jw_mesh(o, "mesh", &g->written->mesh);
  sw_jw_array(o, "values");
  for (sw_id i = 0; i < g->n_values; i++) write_value(g, i, of, o);
  sw_jw_end(o);
  sw_jw_array(o, "ops");
  for (sw_id i = 0; i < g->n_ops; i++) write_op(g, i, of, o);
  sw_jw_end(o);
  sw_jw_array(o, "outputs");
  for (int i = 0; i < g->n_outputs; i++) write_output(g, i, o);
  sw_jw_end(o);
  sw_model_write_groups(g, o);
  sw_jw_end(o);
}

static sw_rc check_writable(const sw_graph *g, sw_diag *d) {
  if (!g->sealed) return SW_BUG(d, "%s", "a graph is written before it is sealed");
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    if (op->nest) continue;
    return SW_FAIL_INPUT(d, op->span, "op '%s' (%s) cannot be written to a model file", op->name,
                         sw_opcode_text(op->code));
  }
  return SW_OK;
}

sw_rc sw_model_write(const sw_graph *g, sw_text *out, sw_diag *d) {
  SW_TRY(check_writable(g, d));
  sw_arena arena = {0};
  notes of;
  sw_rc rc = sort_notes(g, &arena, &of, d);
  if (!rc) {
    sw_json_out o;
    sw_json_out_init(&o, out);
    write_all(g, &of, &o);
    if (out->rc) rc = SW_FAIL(d, out->rc, SW_NOWHERE, "the model '%s' cannot be written", g->name);
  }
  sw_arena_deinit(&arena);
  return rc;
}
