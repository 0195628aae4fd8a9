/* Reads a model file (docs/model-format.md): the JSON tree is walked once in this order,
 *
 *   mesh; values that are arguments or constants; ops; outputs; what the values list says about results; annotations;
 *
 * so that an op may use what stands before it and an annotation may name any op. The graph takes over names and spans;
 * the tree ends with the reading.
 */
#include <stdlib.h>
#include <string.h>

#include "io/model/model.h"
#include "base/file.h"
#include "shardwright/model_json.h"
#include "base/nearest.h"
#include "shardwright/request.h"

sw_rc sw_model_place(const sw_model_reader *r, const sw_json *v, sw_rc rc) {
  if (rc && r->d && !r->d->line) {
    snprintf(r->d->file, sizeof r->d->file, "%s", r->file);
    r->d->line = v->line;
    r->d->col = v->col;
  }
  return rc;
}

/* --- values ------------------------------------------------------------------------------------------------------ */

typedef enum value_kind { INPUT, PARAMETER, STATE, CONSTANT, INTERMEDIATE, OUTPUT } value_kind;
static const char *const kKinds[] = {"input", "parameter", "state", "constant", "intermediate", "output"};
enum { N_KINDS = sizeof kKinds / sizeof *kKinds };
_Static_assert((int)INPUT == SW_VALUE_INPUT && (int)PARAMETER == SW_VALUE_PARAMETER && (int)STATE == SW_VALUE_STATE &&
                   (int)CONSTANT == SW_VALUE_CONSTANT && (int)INTERMEDIATE == SW_VALUE_INTERMEDIATE,
               "kinds of a file are those of a graph, and output");

static sw_rc read_value_kind(const sw_model_reader *r, const sw_json *entry, value_kind *out) {
  const sw_json *kind = sw_json_find(entry, "kind");
  int k = INTERMEDIATE;
  if (kind) SW_TRY(sw_json_word(kind, kKinds, N_KINDS, &k, r->d));
  *out = (value_kind)k;
  return SW_OK;
}

static sw_rc read_type(const sw_model_reader *r, const sw_json *entry, int64_t dims[SW_MAX_RANK], sw_type *out) {
  const sw_json *dtype, *shape;
  SW_TRY(sw_json_member(entry, "dtype", &dtype, r->d));
  SW_TRY(sw_json_member(entry, "shape", &shape, r->d));
  SW_TRY(sw_model_read_dtype(r, dtype, &out->dtype));
  SW_TRY(sw_model_read_shape(r, shape, dims, &out->rank));
  out->dims = dims;
  return SW_OK;
}

/* "?" of an argument has the name of the argument and the dimension. */
static sw_rc name_open_sizes(const sw_model_reader *r, const sw_json *entry, const char *name, sw_type *t,
                             int64_t *dims) {
  for (int k = 0; k < t->rank; k++) {
    char size[SW_SIZE_NAME_BYTES + 16];
    if (dims[k] >= 0) continue;
    snprintf(size, sizeof size, "%.*s:%d", SW_SIZE_NAME_BYTES, name, k);
    SW_TRY(sw_sizes_meet(r->sizes, size, sw_model_span(r, entry), &dims[k], r->d));
  }
  return SW_OK;
}

/* A constant written among the values: an op of its own. */
static sw_rc add_constant(const sw_model_reader *r, const sw_json *entry, const char *name, const sw_type *t) {
  const sw_json *value;
  sw_attr a[] = {{.key = SW_ATTR_DTYPE, .u.i = t->dtype},
                 {.key = SW_ATTR_SHAPE, .u.ints = {t->dims, t->rank}},
                 {.key = SW_ATTR_VALUE}};
  SW_TRY(sw_json_member(entry, "value", &value, r->d));
  SW_TRY(sw_model_read_data(r, value, t, &a[2].u.data));
  sw_op_spec spec = {.code = SW_OP_CONSTANT, .name = name, .n_attrs = 3, .attrs = a, .span = sw_model_span(r, entry)};
  sw_id results[SW_MAX_RESULTS];
  return sw_graph_add_op(r->g, &spec, results, r->d);
}

static sw_rc read_listed_value(sw_model_reader *r, int index) {
  static const char *const kKeys[] = {"name", "kind", "dtype", "shape", "value", "annotations"};
  const sw_json *entry = &r->values->at[index];
  const char *name;
  value_kind kind;
  bool fresh;
  int64_t *first, dims[SW_MAX_RANK];
  SW_TRY(sw_json_only(entry, kKeys, 6, "a value", r->d));
  SW_TRY(sw_json_string(entry, "name", &name, r->d));
  SW_TRY(read_value_kind(r, entry, &kind));
  SW_TRY(sw_dict_put(&r->value_at, name, strlen(name), index, &first, &fresh, r->d));
  if (!fresh) {
    const sw_json *other = &r->values->at[*first];
    return SW_MODEL_FAIL(r, entry, "value '%.60s' is listed twice; the first is at %d:%d", name, other->line,
                         other->col);
  }
  bool constant = sw_json_find(entry, "value") != NULL;
  if (constant && kind != CONSTANT) {
    return SW_MODEL_FAIL(r, entry, "value '%.60s' has a \"value\" and is no constant; expected \"kind\": \"constant\"",
                         name);
  }
  if (kind > STATE && !constant) return SW_OK;
  sw_type t;
  SW_TRY_NOTE(r->d, read_type(r, entry, dims, &t), "in value '%s'", name);
  if (constant) return add_constant(r, entry, name, &t);
  SW_TRY(name_open_sizes(r, entry, name, &t, dims));
  return sw_graph_add_arg(r->g, name, t.dtype, t.rank, dims, (sw_value_kind)kind, sw_model_span(r, entry), NULL, r->d);
}

/* What the list says about the result of an op must be so. */
static sw_rc check_listed(const sw_model_reader *r, const sw_json *entry) {
  const char *name;
  value_kind kind;
  SW_TRY(sw_json_string(entry, "name", &name, r->d));
  SW_TRY(read_value_kind(r, entry, &kind));
  sw_id id = sw_graph_value_named(r->g, name);
  if (id < 0) {
    return SW_MODEL_FAIL(r, entry,
                         "value '%.60s' is the result of no op; expected one with this result, or kind input, "
                         "parameter, state or constant",
                         name);
  }
  const sw_value *v = &r->g->values[id];
  if (sw_json_find(entry, "kind") && kind != OUTPUT && (int)v->kind != (int)kind) {
    return SW_MODEL_FAIL(r, entry, "value '%.60s' is listed as %s, but is %s", name, kKinds[kind], kKinds[v->kind]);
  }
  const sw_json *dtype = sw_json_find(entry, "dtype"), *shape = sw_json_find(entry, "shape");
  sw_type t = v->type;
  int64_t dims[SW_MAX_RANK];
  if (dtype) SW_TRY(sw_model_read_dtype(r, dtype, &t.dtype));
  if (shape) SW_TRY(sw_model_read_shape(r, shape, dims, &t.rank));
  if (shape) t.dims = dims;
  for (int k = 0; shape && t.rank == v->type.rank && k < t.rank; k++) dims[k] = dims[k] < 0 ? v->type.dims[k] : dims[k];
  if (sw_type_equal(&t, &v->type)) return SW_OK;
  sw_text listed = {0}, found = {0};
  sw_type_print(&t, &listed);
  sw_type_print(&v->type, &found);
  sw_rc rc = SW_MODEL_FAIL(r, entry, "value '%.60s' is listed as %s, but its op gives %s", name, sw_text_str(&listed),
                           sw_text_str(&found));
  sw_text_free(&listed);
  sw_text_free(&found);
  return rc;
}

/* --- ops --------------------------------------------------------------------------------------------------------- */

/* "model.py:12:3", "model.py:12" or "model.py". */
static sw_rc read_location(const sw_model_reader *r, const sw_json *op, sw_span *out) {
  const char *text = NULL;
  *out = SW_NOWHERE;
  SW_TRY(sw_json_opt_string(op, "location", &text, r->d));
  if (!text) return SW_OK;
  size_t n = strlen(text);
  int32_t numbers[2];
  int found = 0;
  for (size_t i = n; i > 0 && found < 2;) {
    i--;
    if (text[i] == ':' && i + 1 < n) {
      numbers[found++] = (int32_t)strtol(text + i + 1, NULL, 10);
      n = i;
    } else if (text[i] < '0' || text[i] > '9') {
      break;
    }
  }
  out->file = sw_arena_strndup(&r->g->arena, text, n, r->d);
  out->line = found ? numbers[found - 1] : 0;
  out->col = found == 2 ? numbers[0] : 0;
  return out->file ? SW_OK : SW_E_RESOURCE;
}

static sw_rc unknown_opcode(const sw_model_reader *r, const sw_json *v) {
  sw_nearest near = {.wanted = v->text};
  for (int i = 0; i < SW_OP_COUNT; i++) sw_nearest_offer(&near, sw_opcode_text((sw_opcode)i));
  return SW_MODEL_FAIL(r, v, "op '%.60s' is not known%s", v->text, sw_nearest_hint(&near));
}

static sw_rc read_opcode(const sw_model_reader *r, const sw_json *op, sw_opcode *out) {
  const sw_json *v;
  const char *text;
  SW_TRY(sw_json_member(op, "op", &v, r->d));
  SW_TRY(sw_json_as_string(v, &text, r->d));
  if (!sw_opcode_parse(text, out)) return unknown_opcode(r, v);
  if (*out != SW_OP_COLLECTIVE && *out != SW_OP_SHARD_START && *out != SW_OP_MASK) return SW_OK;
  return SW_MODEL_FAIL(r, v, "op '%s' belongs to the program of one device; expected an op of a model", text);
}

static sw_rc read_inputs(const sw_model_reader *r, const sw_json *op, sw_op_spec *spec) {
  const sw_json *list = NULL;
  SW_TRY(sw_json_opt_array(op, "inputs", &list, r->d));
  sw_id *ids;
  spec->n_operands = list ? list->n : 0;
  SW_ARENA_NEW(ids, r->arena, spec->n_operands, r->d);
  for (int i = 0; i < spec->n_operands; i++) {
    const char *name;
    SW_TRY(sw_json_as_string(&list->at[i], &name, r->d));
    ids[i] = sw_graph_value_named(r->g, name);
    if (ids[i] >= 0) continue;
    return SW_MODEL_FAIL(r, &list->at[i],
                         "value '%.60s' is not defined before this op; expected an argument, a constant "
                         "or the result of an op above",
                         name);
  }
  spec->operands = ids;
  return SW_OK;
}

/* Type of output i of an op that does not say it by itself; dims NULL: not given. */
static sw_rc output_type(const sw_model_reader *r, const sw_json *output, const char *name, const sw_op_spec *spec,
                         sw_type *out) {
  const int64_t *listed =
      output->kind == SW_JSON_OBJECT || !name ? NULL : sw_dict_get(&r->value_at, name, strlen(name));
  const sw_json *entry = output->kind == SW_JSON_OBJECT ? output : listed ? &r->values->at[*listed] : NULL;
  const sw_json *dtype = entry ? sw_json_find(entry, "dtype") : NULL;
  const sw_json *shape = entry ? sw_json_find(entry, "shape") : NULL;
  *out = (sw_type){.dtype = spec->n_operands ? r->g->values[spec->operands[0]].type.dtype : SW_F32};
  if (dtype) SW_TRY(sw_model_read_dtype(r, dtype, &out->dtype));
  if (shape) {
    int64_t *dims;
    SW_ARENA_NEW(dims, r->arena, SW_MAX_RANK, r->d);
    SW_TRY(sw_model_read_shape(r, shape, dims, &out->rank));
    out->dims = dims;
  }
  if (spec->code == SW_OP_OPAQUE && (!dtype || !shape)) {
    return SW_MODEL_FAIL(r, output, "the result of an opaque op has no dtype and shape; expected both");
  }
  return SW_OK;
}

static sw_rc read_outputs_of(const sw_model_reader *r, const sw_json *op, sw_op_spec *spec) {
  static const char *const kKeys[] = {"name", "dtype", "shape"};
  const sw_json *list = NULL;
  SW_TRY(sw_json_opt_array(op, "outputs", &list, r->d));
  bool given_types = sw_op_class_of(spec->code) == SW_OPS_GIVEN;
  if (list && list->n > SW_MAX_RESULTS) {
    return SW_MODEL_FAIL(r, list, "an op has %d outputs; expected at most %d", list->n, SW_MAX_RESULTS);
  }
  const char **names;
  sw_type *types;
  int n = list ? list->n : 0;
  SW_ARENA_NEW_EACH(r->arena, n, r->d, names, types);
  for (int i = 0; i < n; i++) {
    const sw_json *v = &list->at[i];
    if (v->kind == SW_JSON_OBJECT) {
      SW_TRY(sw_json_only(v, kKeys, 3, "an output of an op", r->d));
      SW_TRY(sw_json_string(v, "name", &names[i], r->d));
    } else {
      SW_TRY(sw_json_as_string(v, &names[i], r->d));
    }
    if (given_types) SW_TRY(output_type(r, v, names[i], spec, &types[i]));
  }
  spec->n_result_names = n;
  spec->result_names = names;
  spec->n_result_types = given_types ? n : 0;
  spec->result_types = types;
  return SW_OK;
}

/* Every output that is given an own type must have it. */
static sw_rc check_outputs_of(const sw_model_reader *r, const sw_json *op, const sw_op_spec *spec) {
  const sw_op *made = &r->g->ops[r->g->n_ops - 1];
  const sw_json *list = sw_json_find(op, "outputs");
  if (list && list->n != made->n_results) {
    return SW_MODEL_FAIL(r, list, "%s '%s' has %d results and %d outputs are given; expected as many",
                         sw_opcode_text(spec->code), made->name, made->n_results, list->n);
  }
  for (int i = 0; list && i < list->n; i++) {
    if (list->at[i].kind == SW_JSON_OBJECT) SW_TRY(check_listed(r, &list->at[i]));
  }
  return SW_OK;
}

/* Of a barrier. */
static sw_rc read_direction(const sw_model_reader *r, const sw_json *op, sw_direction *blocked) {
  const char *text = NULL;
  sw_direction allowed = SW_DIRECTION_BOTH;
  SW_TRY(sw_json_opt_string(op, "allowed_direction", &text, r->d));
  if (text && !sw_direction_parse(text, &allowed))
    return SW_MODEL_FAIL(r, op, "allowed_direction is '%.20s'; expected forward, backward or none", text);
  *blocked = SW_DIRECTION_BOTH & ~allowed;
  return SW_OK;
}

static sw_rc read_op(sw_model_reader *r, int index) {
  static const char *const kKeys[] = {"op",       "name",     "inputs", "outputs",           "location",
                                      "sharding", "required", "attrs",  "allowed_direction", "function"};
  static const char *const kGenericKeys[] = {
      "op",   "name",  "inputs", "outputs", "location",        "sharding",          "required",
      "body", "loops", "maps",   "linear",  "flops_per_point", "allowed_direction", "function"};
  const sw_json *v = &r->ops->at[index], *attrs = NULL;
  sw_op_spec spec = {.span = sw_model_span(r, v)};
  sw_attr *list;
  sw_id results[SW_MAX_RESULTS];
  SW_TRY(sw_json_expect(v, SW_JSON_OBJECT, r->d));
  SW_TRY(read_opcode(r, v, &spec.code));
  bool generic = spec.code == SW_OP_GENERIC;
  SW_TRY(generic ? sw_json_only(v, kGenericKeys, 14, "a generic op", r->d) : sw_json_only(v, kKeys, 10, "an op", r->d));
  SW_TRY(sw_json_opt_string(v, "name", &spec.name, r->d));
  SW_TRY(sw_json_opt_string(v, "function", &spec.function, r->d));
  SW_TRY(sw_json_opt_object(v, "attrs", &attrs, r->d));
  SW_TRY(read_inputs(r, v, &spec));
  SW_TRY(read_outputs_of(r, v, &spec));
  SW_TRY(sw_model_read_attrs(r, attrs, &list, &spec.n_attrs));
  SW_TRY(read_location(r, v, &spec.location.at));
  SW_TRY(read_direction(r, v, &spec.blocked));
  spec.attrs = list;
  sw_attr body = {.key = SW_ATTR_BODY};
  if (generic) {
    SW_TRY(sw_model_read_nest(r, v, &spec.nest));
    SW_TRY(sw_json_string(v, "body", &body.u.text, r->d));
    spec.n_attrs = 1;
    spec.attrs = &body;
  }
  r->ranges[index].first = r->g->n_ops;
  SW_TRY(sw_graph_add_op(r->g, &spec, results, r->d));
  r->ranges[index].end = r->g->n_ops;
  const char *name = r->g->ops[r->g->n_ops - 1].name;
  SW_TRY(sw_dict_put(&r->op_at, name, strlen(name), index, NULL, NULL, r->d));
  return check_outputs_of(r, v, &spec);
}

/* --- outputs ----------------------------------------------------------------------------------------------------- */

sw_rc sw_model_named_value(const sw_model_reader *r, const sw_json *v, sw_id *out) {
  const char *name;
  SW_TRY(sw_json_as_string(v, &name, r->d));
  *out = sw_graph_value_named(r->g, name);
  return *out >= 0 ? SW_OK : SW_MODEL_FAIL(r, v, "there is no value '%.60s'; expected the name of one", name);
}

static sw_rc add_output(sw_model_reader *r, const sw_json *v, const char *name, sw_id value, sw_id alias) {
  if (!name) name = r->g->values[value].name;
  SW_TRY(sw_dict_put(&r->output_at, name, strlen(name), (int64_t)r->output_at.n, NULL, NULL, r->d));
  return sw_graph_add_output(r->g, name, value, alias, sw_model_span(r, v), r->d);
}

static sw_rc read_output(sw_model_reader *r, const sw_json *v) {
  static const char *const kKeys[] = {"value", "name", "alias"};
  sw_id value, alias = -1;
  const char *name = NULL;
  if (v->kind == SW_JSON_STRING) {
    SW_TRY(sw_model_named_value(r, v, &value));
    return add_output(r, v, NULL, value, -1);
  }
  const sw_json *returned;
  SW_TRY(sw_json_only(v, kKeys, 3, "an output", r->d));
  SW_TRY(sw_json_member(v, "value", &returned, r->d));
  SW_TRY(sw_model_named_value(r, returned, &value));
  SW_TRY(sw_json_opt_string(v, "name", &name, r->d));
  const sw_json *state = sw_json_find(v, "alias");
  if (state) SW_TRY(sw_model_named_value(r, state, &alias));
  return add_output(r, v, name, value, alias);
}

/* Values of kind "output" are returned after those of the list, in their order. */
static sw_rc read_output_values(sw_model_reader *r) {
  for (int i = 0; r->values && i < r->values->n; i++) {
    const sw_json *entry = &r->values->at[i];
    value_kind kind;
    const char *name;
    SW_TRY(read_value_kind(r, entry, &kind));
    if (kind != OUTPUT) continue;
    SW_TRY(sw_json_string(entry, "name", &name, r->d));
    SW_TRY(check_listed(r, entry));
    bool returned = sw_dict_get(&r->output_at, name, strlen(name)) != NULL;
    if (!returned) SW_TRY(add_output(r, entry, NULL, sw_graph_value_named(r->g, name), -1));
  }
  return SW_OK;
}

/* --- the whole --------------------------------------------------------------------------------------------------- */

static sw_rc read_model_head(const sw_model_reader *r, const sw_json *root) {
  static const char *const kKeys[] = {"format", "version", "name",    "mesh",
                                      "values", "ops",     "outputs", "sharding_groups"};
  const char *format;
  int64_t version;
  SW_TRY(sw_json_only(root, kKeys, 8, "a model", r->d));
  SW_TRY(sw_json_string(root, "format", &format, r->d));
  if (strcmp(format, "shardwright-model") != 0) {
    return SW_MODEL_FAIL(r, root, "the format is '%.60s'; expected 'shardwright-model'", format);
  }
  SW_TRY(sw_json_i64(root, "version", INT64_MIN, INT64_MAX, &version, r->d));
  if (version == 1) return SW_OK;
  return SW_MODEL_FAIL(r, root, "the version of the format is %lld; this program reads version 1", (long long)version);
}

static sw_rc read_mesh(const sw_model_reader *r, const sw_json *root) {
  const sw_json *at = sw_json_find(root, "mesh");
  const char *text;
  sw_mesh own, mesh;
  if (!at) return SW_OK;
  SW_TRY(sw_json_as_string(at, &text, r->d));
  SW_TRY(sw_model_place(r, at, sw_mesh_parse(text, &r->g->arena, &own, r->d)));
  mesh = r->given ? *r->given : own;
  bool named = r->given && r->given->n_axes == own.n_axes && sw_mesh_is_unnamed(r->given);
  for (int a = 0; named && a < own.n_axes; a++) memcpy(mesh.axis[a].name, own.axis[a].name, sizeof own.axis[a].name);
  sw_graph_set_mesh(r->g, &mesh);
  return SW_OK;
}

static sw_rc read_model_parts(sw_model_reader *r, const sw_json *root) {
  SW_TRY(sw_json_opt_array(root, "values", &r->values, r->d));
  SW_TRY(sw_json_array(root, "ops", &r->ops, r->d));
  SW_TRY(sw_json_opt_array(root, "outputs", &r->outputs, r->d));
  SW_ARENA_NEW(r->ranges, r->arena, r->ops->n, r->d);
  for (int i = 0; r->values && i < r->values->n; i++) SW_TRY(read_listed_value(r, i));
  for (int i = 0; i < r->ops->n; i++) SW_TRY(read_op(r, i));
  for (int i = 0; r->outputs && i < r->outputs->n; i++) SW_TRY(read_output(r, &r->outputs->at[i]));
  SW_TRY(read_output_values(r));
  if (!r->output_at.n) {
    return SW_MODEL_FAIL(r, root, "the model returns nothing; expected \"outputs\", or a value of kind output");
  }
  for (int i = 0; r->values && i < r->values->n; i++) SW_TRY(check_listed(r, &r->values->at[i]));
  SW_TRY(sw_model_read_groups(r, root));
  return sw_model_read_annotations(r);
}

static sw_rc read_model(sw_model_reader *r, const sw_json *root) {
  const char *name = "model";
  r->file = root->file;
  SW_TRY(read_model_head(r, root));
  SW_TRY(sw_json_opt_string(root, "name", &name, r->d));
  SW_TRY(sw_graph_create(name, &r->g, r->d));
  SW_TRY(sw_arena_keep(&r->g->arena, root->file, &r->file, r->d));
  SW_TRY(read_mesh(r, root));
  SW_TRY(read_model_parts(r, root));
  return sw_graph_seal(r->g, r->d);
}

/* `bytes` or the file at `path`. */
static sw_rc read_from(const char *path, const char *bytes, size_t n, const sw_mesh *mesh, sw_sizes *sizes,
                       sw_graph **out, sw_diag *d) {
  sw_arena arena = {0};
  const sw_json *root;
  sw_model_reader r = {.arena = &arena, .given = mesh, .sizes = sizes, .d = d};
  sw_rc rc = bytes ? sw_json_parse(path, bytes, n, &arena, &root, d) : sw_json_read(path, &arena, &root, d);
  if (!rc) rc = read_model(&r, root);
  sw_dict_deinit(&r.value_at);
  sw_dict_deinit(&r.op_at);
  sw_dict_deinit(&r.output_at);
  sw_arena_deinit(&arena);
  if (rc) {
    sw_graph_destroy(r.g);
  } else {
    *out = r.g;
  }
  return rc;
}

sw_rc sw_model_read(const char *path, sw_graph **out, sw_diag *d) {
  return read_from(path, NULL, 0, NULL, NULL, out, d);
}

sw_rc sw_model_parse(const char *file, const char *bytes, size_t n, sw_graph **out, sw_diag *d) {
  return read_from(file, bytes, n, NULL, NULL, out, d);
}

sw_rc sw_model_parse_on(const char *file, const char *bytes, size_t n, const sw_mesh *mesh, sw_sizes *sizes,
                        sw_graph **out, sw_diag *d) {
  return read_from(file, bytes, n, mesh, sizes, out, d);
}
