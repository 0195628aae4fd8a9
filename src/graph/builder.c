/* Building a graph: arguments, ops, outputs. Equal ops (opcode, operand types, attributes) are inferred once
 * and share attributes, result types and loops, so that a model of a thousand equal layers costs one of them.
 *
 * After a failure the graph can only be destroyed.
 */
#include "graph/builder.h"

#include <string.h>

#include "graph/ops/expand.h"

sw_rc sw_graph_create(const char *name, sw_graph **out, sw_diag *d) {
  sw_graph *g;
  SW_MEM_NEW(g, 1, d);
  sw_rc rc = SW_E_RESOURCE;
  g->builder = sw_mem_alloc(1, sizeof *g->builder, d);
  g->names = sw_mem_alloc(1, sizeof *g->names, d);
  if (!g->builder || !g->names) goto failed;
  g->name = sw_arena_strndup(&g->arena, name, strlen(name), d);
  if (!g->name) goto failed;
  g->builder->request = sw_arena_alloc(&g->arena, 1, sizeof *g->builder->request, d);
  if (!g->builder->request) goto failed;
  g->builder->request->graph = g;
  g->written = g->builder->request;
  *out = g;
  return SW_OK;
failed:
  sw_graph_destroy(g);
  return rc;
}

void sw_graph_builder_free(sw_graph *g) {
  struct sw_graph_builder *b = g->builder;
  if (!b) return;
  sw_array_free(&b->values);
  sw_array_free(&b->ops);
  sw_array_free(&b->args);
  sw_array_free(&b->outputs);
  sw_array_free(&b->alias);
  sw_array_free(&b->output_names);
  sw_dict_deinit(&b->output_at);
  sw_array_free(&b->output_spans);
  sw_array_free(&b->annotations);
  sw_array_free(&b->sharding_groups);
  sw_array_free(&b->shapes);
  sw_dict_deinit(&b->shape_of);
  sw_arena_deinit(&b->scratch);
  sw_text_free(&b->key);
  sw_mem_free(b);
  g->builder = NULL;
}

void sw_graph_destroy(sw_graph *g) {
  if (!g) return;
  sw_graph_builder_free(g);
  if (g->names) sw_dict_deinit(&g->names->ids);
  sw_mem_free(g->names);
  sw_arena_deinit(&g->arena);
  sw_mem_free(g);
}

static sw_rc check_open(const sw_graph *g, sw_span span, sw_diag *d) {
  return g->sealed ? SW_FAIL(d, SW_E_BUG, span, "internal: the graph is sealed") : SW_OK;
}

/* --- names ------------------------------------------------------------------------------------------------------- */

static sw_id id_in(int64_t slot, enum sw_name_use use) {
  return (sw_id)(use == SW_NAME_OF_OP ? slot >> 32 : slot & INT64_C(0xffffffff)) - 1;
}

sw_id sw_graph_named(const sw_graph *g, const char *name, size_t n, enum sw_name_use use) {
  const int64_t *slot = sw_dict_get(&g->names->ids, name, n);
  return slot ? id_in(*slot, use) : -1;
}

/* Record `id` under the name; *out is the graph's copy of the text. */
static sw_rc claim(sw_graph *g, const char *name, enum sw_name_use use, sw_id id, sw_span span, const char **out,
                   sw_diag *d) {
  if (!*name) return SW_FAIL_INPUT(d, span, "a name is empty; expected at least one character");
  int64_t *slot;
  SW_TRY(sw_dict_put(&g->names->ids, name, strlen(name), 0, &slot, NULL, d));
  sw_id value = id_in(*slot, SW_NAME_OF_VALUE), op = id_in(*slot, SW_NAME_OF_OP),
        other = use == SW_NAME_OF_OP ? op : value;
  if (other >= 0) {
    sw_span at = use == SW_NAME_OF_OP ? g->ops[op].span : g->values[value].span;
    return SW_FAIL_INPUT(d, span, "name '%s' is taken by another %s (line %d, column %d); expected a new name", name,
                         use == SW_NAME_OF_OP ? "op" : "value", at.line, at.col);
  }
  *slot += use == SW_NAME_OF_OP ? ((int64_t)id + 1) << 32 : (int64_t)id + 1;
  *out = sw_arena_strndup(&g->arena, name, strlen(name), d);
  return *out ? SW_OK : SW_E_RESOURCE;
}

sw_rc sw_graph_free_name(sw_graph *g, const char *base, const char **out, sw_diag *d) {
  struct sw_graph_builder *b = g->builder;
  *out = base;
  while (sw_graph_op_named(g, *out) >= 0 || sw_graph_value_named(g, *out) >= 0) {
    *out = sw_arena_printf(&b->scratch, d, "%s_%lld", base, (long long)++b->counter);
    if (!*out) return SW_E_RESOURCE;
  }
  return SW_OK;
}

/* --- values ------------------------------------------------------------------------------------------------------ */

static sw_rc add_value(sw_graph *g, const char *name, const sw_value *v, sw_id *out, sw_diag *d) {
  struct sw_graph_builder *b = g->builder;
  sw_id id = (sw_id)b->values.n;
  if (id == INT32_MAX) return SW_FAIL_INPUT(d, v->span, "there are more than %d values", INT32_MAX);
  sw_value copy = *v;
  SW_TRY(claim(g, name, SW_NAME_OF_VALUE, id, v->span, &copy.name, d));
  SW_TRY(sw_array_push(&b->values, copy, d));
  g->values = b->values.at;
  g->n_values = id + 1;
  *out = id;
  return SW_OK;
}

void sw_graph_set_arg_location(sw_graph *g, sw_id arg, const sw_source *from) {
  g->builder->values.at[arg].location = from;
}

void sw_graph_set_arg_kind(sw_graph *g, sw_id arg, sw_value_kind kind) { g->builder->values.at[arg].kind = kind; }

void sw_graph_block_op(sw_graph *g, sw_id op, sw_direction ways) { g->builder->ops.at[op].blocked = ways; }

sw_rc sw_graph_add_arg(sw_graph *g, const char *name, sw_dtype t, int rank, const int64_t *dims, sw_value_kind kind,
                       sw_span span, sw_id *out, sw_diag *d) {
  SW_TRY(check_open(g, span, d));
  if (kind != SW_VALUE_INPUT && kind != SW_VALUE_PARAMETER && kind != SW_VALUE_STATE) {
    return SW_FAIL(d, SW_E_BUG, span, "internal: argument '%s' is no input, parameter or state", name);
  }
  if (rank < 0 || rank > SW_MAX_RANK) {
    return SW_FAIL_INPUT(d, span, "value '%s' has %d dims; expected at most %d", name, rank, SW_MAX_RANK);
  }
  bool known = true;
  for (int i = 0; i < rank; i++) {
    known = known && dims[i] >= 0;
    if (dims[i] < -1) {
      return SW_FAIL_INPUT(d, span, "dim %d of value '%s' has size %lld; expected at least 0", i, name,
                           (long long)dims[i]);
    }
  }
  sw_value v = {.kind = kind, .def = -1, .def_index = (int32_t)g->builder->args.n, .span = span};
  v.type = (sw_type){t, rank, sw_arena_copy(&g->arena, dims, (size_t)rank, sizeof *dims, d)};
  if (!v.type.dims) return SW_E_RESOURCE;
  if (known && sw_type_bytes(&v.type) < 0) return SW_FAIL_INPUT(d, span, "value '%s' does not fit 2^63 bytes", name);
  sw_id id;
  SW_TRY(add_value(g, name, &v, &id, d));
  SW_TRY(sw_array_push(&g->builder->args, id, d));
  if (out) *out = id;
  return SW_OK;
}

static sw_rc check_alias(const sw_graph *g, const sw_value *v, sw_id alias, sw_span span, sw_diag *d) {
  const struct sw_graph_builder *b = g->builder;
  const sw_value *a = alias < g->n_values ? &g->values[alias] : NULL;
  if (!a || a->kind != SW_VALUE_STATE) {
    return SW_FAIL_INPUT(d, span, "output '%s' becomes '%s'; expected a value of kind state", v->name,
                         a ? a->name : "?");
  }
  if (!sw_type_equal(&a->type, &v->type)) {
    return SW_FAIL_INPUT(d, span, "output '%s' becomes state '%s' of another shape or dtype; expected the same",
                         v->name, a->name);
  }
  for (size_t i = 0; i < b->alias.n; i++) {
    if (b->alias.at[i] == alias) {
      return SW_FAIL_INPUT(d, span, "two outputs become state '%s'; expected one", a->name);
    }
  }
  return SW_OK;
}

static bool has_output(const struct sw_graph_builder *b, const char *name) {
  return sw_dict_get(&b->output_at, name, strlen(name)) != NULL;
}

sw_rc sw_graph_add_output(sw_graph *g, const char *name, sw_id value, sw_id alias, sw_span span, sw_diag *d) {
  SW_TRY(check_open(g, span, d));
  struct sw_graph_builder *b = g->builder;
  if (!g->values || value < 0 || value >= g->n_values) {
    return SW_FAIL(d, SW_E_BUG, span, "internal: output value %d is not one of the graph", (int)value);
  }
  const sw_value *v = &g->values[value];
  if (alias >= 0) SW_TRY(check_alias(g, v, alias, span, d));
  if (name && has_output(b, name)) {
    return SW_FAIL_INPUT(d, span, "two outputs are named '%s'; expected distinct names", name);
  }
  const char *text = name ? name : v->name;
  for (int copy = 2; has_output(b, text); copy++) {
    text = sw_arena_printf(&g->arena, d, "%s_%d", v->name, copy);
    if (!text) return SW_E_RESOURCE;
  }
  text = sw_arena_strndup(&g->arena, text, strlen(text), d);
  if (!text) return SW_E_RESOURCE;
  SW_TRY(sw_dict_put(&b->output_at, text, strlen(text), (int64_t)b->outputs.n, NULL, NULL, d));
  SW_TRY(sw_array_push(&b->outputs, value, d));
  SW_TRY(sw_array_push(&b->alias, alias < 0 ? -1 : alias, d));
  SW_TRY(sw_array_push(&b->output_names, text, d));
  return sw_array_push(&b->output_spans, span, d);
}

/* --- ops --------------------------------------------------------------------------------------------------------- */

static void key_bytes(sw_text *key, const void *bytes, size_t n) { sw_text_append(key, bytes, n); }
static void key_int(sw_text *key, int64_t v) { key_bytes(key, &v, sizeof v); }

static void key_attr(sw_text *key, const sw_attr *a) {
  key_int(key, a->key);
  switch (sw_attr_kind_of(a->key)) {
    case SW_ATTR_KIND_INT:
    case SW_ATTR_KIND_BOOL:
    case SW_ATTR_KIND_DTYPE:
      key_int(key, a->u.i);
      break;
    case SW_ATTR_KIND_FLOAT:
      key_bytes(key, &a->u.f, sizeof a->u.f);
      break;
    case SW_ATTR_KIND_TEXT:
      key_bytes(key, a->u.text, strlen(a->u.text) + 1);
      break;
    case SW_ATTR_KIND_INTS:
      key_int(key, a->u.ints.n);
      if (a->u.ints.n) key_bytes(key, a->u.ints.at, sizeof(int64_t) * (size_t)a->u.ints.n);
      break;
    case SW_ATTR_KIND_DATA: /* belongs to the op, not to the shape */
      break;
  }
}

/* The bytes that decide types, loops and maps. */
static void write_key(sw_text *key, const sw_rule_call *c, const sw_op_spec *spec) {
  key->n = 0;
  key_int(key, spec->code);
  key_int(key, c->n_operands);
  for (int i = 0; i < c->n_operands; i++) {
    const sw_type *t = &c->operands[i];
    key_int(key, t->dtype);
    key_int(key, t->rank);
    if (t->rank) key_bytes(key, t->dims, sizeof(int64_t) * (size_t)t->rank);
  }
  for (int i = 0; i < spec->n_attrs; i++) key_attr(key, &spec->attrs[i]);
}

/* The shape of the op: found among those of earlier ops, or built. */
static sw_rc shape_of(sw_graph *g, sw_rule_call *c, const sw_op_spec *spec, sw_shape *out, sw_diag *d) {
  struct sw_graph_builder *b = g->builder;
  if (c->rule->flags & SW_RULE_UNSHARED) return sw_shape_build(c, spec->n_attrs, spec->attrs, out);
  write_key(&b->key, c, spec);
  SW_TRY(b->key.rc);
  int64_t *slot = sw_dict_get(&b->shape_of, b->key.at, b->key.n);
  if (slot) {
    *out = b->shapes.at[*slot];
    return SW_OK;
  }
  SW_TRY(sw_shape_build(c, spec->n_attrs, spec->attrs, out));
  SW_TRY(sw_dict_put(&b->shape_of, b->key.at, b->key.n, (int64_t)b->shapes.n, NULL, NULL, d));
  return sw_array_push(&b->shapes, *out, d);
}

/* A constant's elements, in an attribute list of its own. */
static sw_rc own_data(sw_graph *g, const sw_op_spec *spec, const sw_shape *s, sw_op *op, sw_diag *d) {
  op->attrs = s->attrs;
  op->n_attrs = s->n_attrs;
  if (spec->code != SW_OP_CONSTANT) return SW_OK;
  const sw_data *data = NULL;
  for (int i = 0; i < spec->n_attrs; i++) {
    if (spec->attrs[i].key == SW_ATTR_VALUE) data = &spec->attrs[i].u.data;
  }
  if (!data) return SW_BUG(d, "%s", "a constant without elements passed its checks");
  sw_attr *attrs = sw_arena_copy(&g->arena, s->attrs, (size_t)s->n_attrs, sizeof *attrs, d);
  if (!attrs) return SW_E_RESOURCE;
  bool one = data->splat || sw_type_elements(&s->results[0]) == 1;
  int64_t bytes = one ? sw_dtype_bytes(s->results[0].dtype) : sw_type_bytes(&s->results[0]);
  void *copy = sw_arena_copy(&g->arena, data->bytes, (size_t)bytes, 1, d);
  if (!copy) return SW_E_RESOURCE;
  for (int i = 0; i < s->n_attrs; i++) {
    if (attrs[i].key == SW_ATTR_VALUE) attrs[i].u.data = (sw_data){copy, one};
  }
  op->attrs = attrs;
  return SW_OK;
}

static sw_rc own_spmd_parts(sw_graph *g, const sw_op_spec *spec, sw_op *op, sw_diag *d) {
  if (spec->collective) {
    op->collective = sw_arena_copy(&g->arena, spec->collective, 1, sizeof *spec->collective, d);
    if (!op->collective) return SW_E_RESOURCE;
  }
  op->n_refs = spec->n_refs;
  op->refs = sw_arena_copy(&g->arena, spec->refs, (size_t)spec->n_refs, sizeof *spec->refs, d);
  return op->refs ? SW_OK : SW_E_RESOURCE;
}

/* Result i is named as asked, or after the op: name, name.1, ... */
static sw_rc add_results(sw_graph *g, const sw_op_spec *spec, const sw_shape *s, const sw_op *op, sw_id *results,
                         sw_diag *d) {
  for (int i = 0; i < s->n_results; i++) {
    const char *name = op->name;
    if (i < spec->n_result_names && spec->result_names[i]) {
      name = spec->result_names[i];
    } else if (i > 0) {
      name = sw_arena_printf(&g->builder->scratch, d, "%s.%d", op->name, i);
      if (!name) return SW_E_RESOURCE;
    }
    sw_value v = {.kind = op->code == SW_OP_CONSTANT ? SW_VALUE_CONSTANT : SW_VALUE_INTERMEDIATE,
                  .type = s->results[i],
                  .def = g->n_ops,
                  .def_index = i,
                  .span = spec->span};
    SW_TRY(add_value(g, name, &v, &results[i], d));
  }
  return SW_OK;
}

/* Ops of one function stand together and share its text. */
static sw_rc own_function(sw_graph *g, const sw_op_spec *spec, sw_op *op, sw_diag *d) {
  if (!spec->function) return SW_OK;
  const char *last = g->n_ops ? g->ops[g->n_ops - 1].function : NULL;
  op->function = last && strcmp(last, spec->function) == 0
                     ? last
                     : sw_arena_strndup(&g->arena, spec->function, strlen(spec->function), d);
  return op->function ? SW_OK : SW_E_RESOURCE;
}

static sw_rc append(sw_graph *g, const sw_op_spec *spec, const char *name, const sw_shape *s, sw_id *results,
                    sw_diag *d) {
  struct sw_graph_builder *b = g->builder;
  sw_op op = {.code = spec->code,
              .n_operands = spec->n_operands,
              .n_results = s->n_results,
              .span = spec->span,
              .location = spec->location,
              .blocked = spec->blocked,
              .nest = s->nest};
  if (spec->n_result_names > s->n_results) {
    return SW_FAIL_INPUT(d, spec->span, "%s '%s' has %d results, but %d names are given; expected at most as many",
                         sw_opcode_text(spec->code), name, s->n_results, spec->n_result_names);
  }
  SW_TRY(claim(g, name, SW_NAME_OF_OP, g->n_ops, spec->span, &op.name, d));
  SW_TRY(own_data(g, spec, s, &op, d));
  SW_TRY(own_function(g, spec, &op, d));
  SW_TRY(own_spmd_parts(g, spec, &op, d));
  SW_TRY(add_results(g, spec, s, &op, results, d));
  op.operands = sw_arena_copy(&g->arena, spec->operands, (size_t)spec->n_operands, sizeof *spec->operands, d);
  op.results = sw_arena_copy(&g->arena, results, (size_t)s->n_results, sizeof *results, d);
  if (!op.operands || !op.results) return SW_E_RESOURCE;
  SW_TRY(sw_array_push(&b->ops, op, d));
  g->ops = b->ops.at;
  g->n_ops = (int32_t)b->ops.n;
  return SW_OK;
}

static sw_rc op_name(sw_graph *g, const sw_op_spec *spec, const char **out, sw_diag *d) {
  *out = spec->name ? spec->name : spec->n_result_names ? spec->result_names[0] : NULL;
  return *out ? SW_OK : sw_graph_free_name(g, sw_opcode_text(spec->code), out, d);
}

static sw_rc collect_operands(sw_graph *g, const sw_op_spec *spec, sw_rule_call *c, sw_diag *d) {
  sw_type *types;
  SW_ARENA_NEW(types, &g->builder->scratch, spec->n_operands, d);
  for (int i = 0; i < spec->n_operands; i++) {
    sw_id v = spec->operands[i];
    if (v < 0 || v >= g->n_values) {
      return SW_FAIL(d, SW_E_BUG, spec->span, "internal: operand %d of '%s' is no earlier value", i, c->name);
    }
    types[i] = g->values[v].type;
  }
  c->operands = types;
  c->n_operands = spec->n_operands;
  return SW_OK;
}

static sw_rc expand(sw_graph *g, const sw_op_spec *spec, sw_rule_call *c, sw_id *results, sw_diag *d) {
  sw_shape s;
  c->arena = &g->builder->scratch;
  SW_TRY(sw_shape_build(c, spec->n_attrs, spec->attrs, &s));
  sw_expansion e = {.g = g, .spec = spec, .call = c, .results = results, .d = d};
  g->builder->depth++;
  sw_rc rc = c->rule->expand(&e);
  g->builder->depth--;
  return rc;
}

sw_rc sw_graph_add_op(sw_graph *g, const sw_op_spec *spec, sw_id *results, sw_diag *d) {
  SW_TRY(check_open(g, spec->span, d));
  struct sw_graph_builder *b = g->builder;
  if (!b->depth) sw_arena_reset(&b->scratch);
  sw_rule_call c = {.rule = sw_op_rule_of(spec->code),
                    .code = spec->code,
                    .span = spec->span,
                    .arena = &g->arena,
                    .given_nest = spec->nest,
                    .n_given_types = spec->n_result_types,
                    .given_types = spec->result_types,
                    .d = d};
  SW_TRY(op_name(g, spec, &c.name, d));
  SW_TRY(collect_operands(g, spec, &c, d));
  if (c.rule->expand) return expand(g, spec, &c, results, d);
  sw_shape s;
  SW_TRY(shape_of(g, &c, spec, &s, d));
  return append(g, spec, c.name, &s, results, d);
}
