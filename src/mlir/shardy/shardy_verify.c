/* One walk over the ops of a text in their order: the shardings and rules that they say, and ops of the dialect. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "mlir/shardy/shardy_check.h"

/* --- types -------------------------------------------------------------------------------------------------------- */

static sw_sdy_shape tensor_shape(const sw_ir_tree *t, sw_ir_span in) {
  sw_sdy_shape s = {.kind = SW_SDY_TENSOR};
  uint32_t at = in.at;
  if (t->s[at] == '*') return (sw_sdy_shape){.kind = SW_SDY_UNRANKED};
  while (at < in.end && (isdigit((unsigned char)t->s[at]) || t->s[at] == '?')) {
    char *end = NULL;
    const int64_t size = t->s[at] == '?' ? -1 : strtoll(t->s + at, &end, 10);
    at = end ? (uint32_t)(end - t->s) : at + 1;
    if (s.rank == SW_MAX_RANK || t->s[at] != 'x') return (sw_sdy_shape){.kind = SW_SDY_UNKNOWN};
    s.dims[s.rank++] = size;
    at++;
  }
  s.element = sw_ir_trimmed(t, (sw_ir_span){at, in.end});
  return s;
}

sw_sdy_shape sw_sdy_shape_of(const sw_ir_tree *t, sw_ir_span type) {
  if (!sw_ir_present(type)) return (sw_sdy_shape){.kind = SW_SDY_UNKNOWN};
  type = sw_ir_resolved(t, sw_ir_trimmed(t, type));
  sw_sdy_shape s = {.kind = SW_SDY_SCALAR, .element = type};
  if (sw_ir_starts(t, type, "tensor<") || sw_ir_starts(t, type, "memref<"))
    return tensor_shape(t, sw_ir_inside(t, type));
  if (!sw_ir_starts(t, type, "tuple<")) { /* !stablehlo.token, f32, complex<f32>; nobody knows of others */
    const bool known = sw_ir_starts(t, type, "!") || sw_ir_starts(t, type, "complex<") ||
                       !memchr(t->s + type.at, '<', sw_ir_len(type));
    return known ? s : (sw_sdy_shape){.kind = SW_SDY_UNKNOWN};
  }
  uint32_t cursor = 0;
  sw_ir_span list = sw_ir_inside(t, type), item;
  s = (sw_sdy_shape){.kind = SW_SDY_TUPLE};
  while (sw_ir_next_item(t, list, &cursor, &item)) {
    if (!s.rank++) s.element = item;
  }
  return s;
}

sw_rc sw_sdy_take_types(sw_sdy_checker *c, sw_ir_types_cursor from) {
  sw_ir_span type;
  c->types.n = 0;
  while (sw_ir_next_type(c->t, &from, &type)) SW_TRY(sw_array_push(&c->types, type, c->x.d));
  return SW_OK;
}

static sw_rc take_result_types(sw_sdy_checker *c, const sw_ir_op *o) {
  SW_TRY(sw_sdy_take_types(c, sw_ir_result_types(c->t, o)));
  if (!sw_ir_result_count(c->t, o) && !sw_ir_has_function_type(c->t, o)) c->types.n = 0; /* those of operands */
  return SW_OK;
}

/* Type i of those that op `op` lists. They are asked for one after the other, and may be thousands. */
static sw_ir_span listed_type_at(sw_sdy_checker *c, uint32_t op, bool results, uint32_t i) {
  const sw_ir_op *o = &c->t->ops.at[op];
  if (c->listed_of != 2 * op + results + 1) {
    sw_ir_types_cursor list = results ? sw_ir_result_types(c->t, o) : sw_ir_operand_types(c->t, o->types);
    sw_ir_span type;
    c->listed.n = 0;
    c->listed_of = 2 * op + results + 1;
    while (sw_ir_next_type(c->t, &list, &type)) {
      if (sw_array_push(&c->listed, type, NULL)) c->listed_of = 0; /* as many as there is room for */
    }
  }
  return i < c->listed.n ? c->listed.at[i] : (sw_ir_span){0, 0};
}

/* Which result of its op a value is, over all names. */
static uint32_t result_index(const sw_sdy_checker *c, uint32_t value) {
  const sw_ir_op *o = &c->t->ops.at[c->values.maker[value]];
  const uint32_t name = c->values.index_of[value];
  uint32_t index = value - c->values.of_result[name];
  for (uint32_t k = o->first_result; k < name; k++) index += c->t->results.at[k].count;
  return index;
}

/* Which argument of its block a value is; its block is the one of its home that has it. */
static uint32_t argument_index(const sw_sdy_checker *c, uint32_t value, uint32_t *block) {
  const sw_ir_op *o = &c->t->ops.at[c->home[value]];
  for (uint32_t k = 0; k < sw_ir_region_count(c->t, o); k++) {
    for (*block = sw_ir_block_at(c->t, o, k); *block != SW_IR_NONE; *block = c->t->blocks.at[*block].next) {
      const sw_ir_block *b = &c->t->blocks.at[*block];
      if (value - c->values.of_block[*block] < b->n_args) return value - c->values.of_block[*block];
    }
  }
  return SW_IR_NONE;
}

sw_ir_span sw_sdy_type_of(sw_sdy_checker *c, uint32_t value) {
  if (value == SW_IR_NONE) return (sw_ir_span){0, 0};
  if (c->values.maker[value] == SW_IR_NONE) {
    const sw_ir_arg *a = &c->t->args.at[c->values.index_of[value]];
    uint32_t block, index = sw_ir_present(a->type) ? 0 : argument_index(c, value, &block);
    if (sw_ir_present(a->type) || index == SW_IR_NONE) return a->type;
    return listed_type_at(c, c->home[value], false, index);
  }
  const sw_ir_op *o = &c->t->ops.at[c->values.maker[value]];
  return sw_ir_present(o->types) ? listed_type_at(c, c->values.maker[value], true, result_index(c, value))
                                 : (sw_ir_span){0, 0};
}

/* --- shardings ---------------------------------------------------------------------------------------------------- */

static sw_rc check_bound(sw_sdy_checker *c, sw_ir_span text, const sw_mesh *m, const sw_axis_ref *a, int n) {
  for (int i = 0; i < n && c->bound.n; i++) {
    for (size_t k = 0; k < c->bound.n; k++) {
      if (!sw_ir_is(c->t, c->bound.at[k], m->axis[a[i].axis].name)) continue;
      return SW_SDY_WRONG(c, text.at, "axis \"%s\" is bound by a manual computation around (line %d); expected another",
                          m->axis[a[i].axis].name, sw_ir_place(c->t, c->bound.at[k].at).line);
    }
  }
  return SW_OK;
}

/* What has no elements is not cut. */
static sw_rc check_no_elements(sw_sdy_checker *c, sw_ir_span text, const sw_open_sharding *s,
                               const sw_sdy_shape *shape) {
  for (int k = 0; k < shape->rank; k++) {
    if (shape->dims[k] || sw_sharding_shards(&s->cut, k) == 1) continue;
    return SW_SDY_WRONG(c, text.at, "dimension %d has size 0 and is cut; expected no axes", k);
  }
  return SW_OK;
}

static sw_rc check_shape(sw_sdy_checker *c, sw_ir_span text, sw_ir_span type, const sw_open_sharding *s) {
  const sw_sdy_shape shape = sw_sdy_shape_of(c->t, type);
  type = sw_ir_trimmed(c->t, type);
  switch (shape.kind) {
    case SW_SDY_UNKNOWN:
      return SW_OK;
    case SW_SDY_UNRANKED:
      return SW_SDY_WRONG(c, text.at, "a sharding of %.*s; expected a tensor with a rank", SW_IR_TEXT(c->t, type));
    case SW_SDY_TUPLE:
      if (shape.rank == 1) return check_shape(c, text, shape.element, s);
      return SW_SDY_WRONG(c, text.at, "a sharding of a tuple of %d; expected a tuple of one element", shape.rank);
    case SW_SDY_SCALAR:
      if (!s->cut.rank && !s->cut.n_partial && !s->n_replicated) return SW_OK;
      return SW_SDY_WRONG(c, text.at, "%.*s has no shape; expected a sharding without dimensions and axes, <@mesh, []>",
                          SW_IR_TEXT(c->t, type));
    case SW_SDY_TENSOR:
      if (s->cut.rank == shape.rank) return check_no_elements(c, text, s, &shape);
  }
  return SW_SDY_WRONG(c, text.at, "the sharding has %d dimensions; expected %d, the rank of %.*s", s->cut.rank,
                      shape.rank, SW_IR_TEXT(c->t, type));
}

static sw_rc other_devices(sw_sdy_checker *c, const sw_sdy_devices *first, int64_t n, sw_ir_span at) {
  return SW_SDY_WRONG(c, at.at, "a sharding over a mesh of %lld devices; expected %lld, as in line %d", (long long)n,
                      (long long)first->n, sw_ir_place(c->t, first->at.at).line);
}

/* The shardings of a function are over as many devices, but for those on one device and those that name none. */
static sw_rc check_devices(sw_sdy_checker *c, sw_ir_span text, const sw_mesh *m) {
  const int64_t n = m->n_axes ? sw_mesh_devices(m) : 0;
  if (!n || n == c->over.n || c->alike == SW_SDY_NONE_ALIKE) return SW_OK;
  if (c->over.at.end) return other_devices(c, &c->over, n, text);
  c->over.n = n;
  c->over.at = text;
  return SW_OK;
}

sw_rc sw_sdy_check_sharding(sw_sdy_checker *c, sw_ir_span text, sw_ir_span type, sw_open_sharding *out) {
  sw_open_sharding own;
  if (!out) out = &own;
  SW_TRY(sw_open_sharding_read(&c->x, text, out));
  const sw_mesh *m = &c->x.meshes.at[out->mesh].mesh;
  SW_TRY(check_bound(c, text, m, out->cut.refs, out->cut.n_refs + out->cut.n_partial));
  SW_TRY(check_bound(c, text, m, out->replicated, out->n_replicated));
  SW_TRY(check_devices(c, text, m));
  return sw_sdy_is_maximal(m) ? SW_OK : check_shape(c, text, type, out);
}

sw_ir_span sw_sdy_items(const sw_ir_tree *t, sw_ir_span list) {
  list = sw_ir_resolved(t, sw_ir_trimmed(t, list));
  return sw_ir_starts(t, list, "#") ? sw_ir_trimmed(t, sw_ir_inside(t, list)) : list;
}

sw_rc sw_sdy_check_list(sw_sdy_checker *c, sw_ir_span text, bool stripped, const char *what) {
  const uint32_t at = text.at;
  text = sw_ir_resolved(c->t, sw_ir_trimmed(c->t, text));
  const bool named = sw_ir_starts(c->t, text, "#sdy.sharding_per_value<");
  sw_ir_span items = sw_sdy_items(c->t, text), item;
  uint32_t cursor = 0;
  size_t n = 0;
  sw_open_sharding s = {.mesh = -1};
  if ((!named && !stripped) || !sw_ir_starts(c->t, items, "["))
    return SW_SDY_WRONG(c, at, "expected a list of shardings, #sdy.sharding_per_value<[<@mesh, [{\"x\"}]>]>");
  for (; sw_ir_next_item(c->t, items, &cursor, &item); n++) {
    const sw_ir_span type = n < c->types.n ? c->types.at[n] : (sw_ir_span){0, 0};
    SW_TRY(sw_sdy_check_sharding(c, item, type, &s));
  }
  const bool of_op = n == 1 && !c->types.n && !s.cut.rank; /* an op without results may say where it runs */
  const sw_ir_span inside = sw_ir_trimmed(c->t, sw_ir_inside(c->t, items));
  if (sw_ir_ends(c->t, inside, ",")) return SW_SDY_WRONG(c, inside.end - 1, "the list of shardings ends in a comma");
  if (n == c->types.n || of_op) return SW_OK;
  return SW_SDY_WRONG(c, at, "there are %zu shardings of %zu %ss; expected one for each", n, c->types.n, what);
}

/* `<...>` without what stands behind it. */
static sw_ir_span in_angles(const sw_ir_tree *t, sw_ir_span v) {
  int depth = 0;
  for (uint32_t i = v.at; i < v.end && t->s[v.at] == '<'; i++) {
    if (t->s[i] == '"') i = sw_ir_behind_string(t->s, i, v.end) - 1;
    depth += t->s[i] == '<';
    if (t->s[i] == '>' && --depth == 0) return (sw_ir_span){v.at, i + 1};
  }
  return v;
}

sw_ir_span sw_sdy_own_sharding(const sw_ir_tree *t, const sw_ir_op *o, const char *key) {
  sw_ir_span v = sw_ir_attr(t, o, key, key);
  if (sw_ir_present(v) || o->generic) return v;
  if (!o->n_uses) return v;
  v = (sw_ir_span){t->uses.at[o->first_use].name.end, o->body.end}; /* behind the operand, %a or %a#1 */
  if (t->s[v.at] == '#') v.at++;
  while (isdigit((unsigned char)t->s[v.at])) v.at++;
  return in_angles(t, sw_ir_trimmed(t, v));
}

/* --- what is said of a value -------------------------------------------------------------------------------------- */

static sw_ir_span nth_item(const sw_ir_tree *t, sw_ir_span list, uint32_t i) {
  uint32_t cursor = 0;
  sw_ir_span item;
  if (!sw_ir_present(list)) return list;
  list = sw_sdy_items(t, list);
  while (sw_ir_next_item(t, list, &cursor, &item)) {
    if (!i--) return item;
  }
  return (sw_ir_span){0, 0};
}

static bool sdy_op_is(const sw_sdy_checker *c, const sw_ir_op *o, const char *name) {
  return sw_ir_is(c->t, o->name, name);
}

static sw_ir_span attr_or_prop_of(const sw_ir_tree *t, const sw_ir_op *o, const char *key) {
  sw_ir_span v = sw_ir_entry(t, o->attrs, key);
  return sw_ir_present(v) ? v : sw_ir_entry(t, o->props, key);
}

static bool is_sdy_computation(const sw_sdy_checker *c, const sw_ir_op *o) {
  return sdy_op_is(c, o, "sdy.manual_computation") || sdy_op_is(c, o, "sdy.named_computation");
}

/* Of a result of an op, and of its edge, on which it stands where there is one. */
static sw_ir_span said_of_result(const sw_sdy_checker *c, const sw_ir_op *o, uint32_t i) {
  const uint32_t value = sw_ir_result_value(&c->values, c->t, o, i);
  const uint32_t use = value == SW_IR_NONE ? SW_IR_NONE : c->values.first_use[value];
  const sw_ir_op *user = use == SW_IR_NONE ? NULL : &c->t->ops.at[c->values.op_of_use[use]];
  if (user && sdy_op_is(c, user, "sdy.data_flow_edge")) return sw_sdy_own_sharding(c->t, user, "sharding");
  if (is_sdy_computation(c, o)) return nth_item(c->t, sw_ir_attr(c->t, o, "out_shardings", "out_shardings"), i);
  return nth_item(c->t, attr_or_prop_of(c->t, o, "sdy.sharding"), i);
}

static sw_ir_span said_of_argument(const sw_sdy_checker *c, uint32_t value, uint32_t *manual, bool *known) {
  const sw_ir_op *o = &c->t->ops.at[c->home[value]];
  const sw_ir_arg *a = &c->t->args.at[c->values.index_of[value]];
  uint32_t block, index = argument_index(c, value, &block);
  if (sw_ir_is_function(c->t, o)) {
    if (!o->generic) return sw_ir_entry(c->t, a->attrs, "sdy.sharding");
    sw_ir_span attrs = sw_ir_entry(c->t, o->props, "arg_attrs");
    return sw_ir_entry(c->t, nth_item(c->t, attrs, index), "sdy.sharding");
  }
  if (is_sdy_computation(c, o)) {
    if (sdy_op_is(c, o, "sdy.manual_computation")) *manual = c->home[value];
    return nth_item(c->t, sw_ir_attr(c->t, o, "in_shardings", "in_shardings"), index);
  }
  *known = sw_ir_ends(c->t, o->name, ".while");
  return *known ? said_of_result(c, o, index) : (sw_ir_span){0, 0};
}

sw_ir_span sw_sdy_said_of(const sw_sdy_checker *c, uint32_t value, uint32_t *manual, bool *known) {
  *manual = SW_IR_NONE;
  *known = value != SW_IR_NONE;
  if (!*known) return (sw_ir_span){0, 0};
  if (c->values.maker[value] == SW_IR_NONE) return said_of_argument(c, value, manual, known);
  const sw_ir_op *o = &c->t->ops.at[c->values.maker[value]];
  if (sw_ir_is_among(c->t, o->name, "sdy.sharding_constraint sdy.reshard sdy.data_flow_edge"))
    return sw_sdy_own_sharding(c->t, o, "sharding");
  const sw_ir_span out = sw_ir_attr(c->t, o, "out_sharding", "out_sharding");
  return sw_ir_starts(c->t, o->name, "sdy.") && sw_ir_present(out) ? out : said_of_result(c, o, result_index(c, value));
}

/* --- attributes of any op ----------------------------------------------------------------------------------------- */

/* A constraint has one when it has been applied to its input (opt/apply_sharding_constraints.c), and as a reshard, too.
 */
static bool has_no_rule(const sw_sdy_checker *c, const sw_ir_op *o) {
  return (sw_ir_starts(c->t, o->name, "sdy.") &&
          !sw_ir_is_among(c->t, o->name, "sdy.sharding_constraint sdy.reshard")) ||
         sw_ir_ends(c->t, o->name, "return") || sw_ir_is_function(c->t, o) ||
         sw_ir_is_among(c->t, o->name, "module builtin.module");
}

static bool has_known_sizes(const sw_sdy_shape *s) {
  for (int k = 0; s->kind == SW_SDY_TENSOR && k < s->rank; k++) {
    if (s->dims[k] < 0) return false;
  }
  return s->kind == SW_SDY_TENSOR;
}

/* Several factors of a dimension divide it; longest[f] is that of the dimensions that factor f is of. */
static sw_rc check_factors(sw_sdy_checker *c, sw_ir_span text, const sw_factor_rule *r, int tensor,
                           const sw_sdy_shape *shape, int64_t longest[SW_MOST_FACTORS]) {
  for (int k = 0; k < shape->rank; k++) {
    const sw_factor_dim *d = &r->dim[tensor * SW_MAX_RANK + k];
    int64_t product = 1;
    bool small = true;
    for (int i = 0; i < d->n; i++) {
      const uint8_t f = d->at[i];
      if (shape->dims[k] > longest[f]) longest[f] = shape->dims[k];
      small = small && sw_mul_i64(product, r->size[f], &product);
    }
    if (d->n < 2 || (small && (product ? shape->dims[k] % product == 0 : shape->dims[k] == 0))) continue;
    return SW_SDY_WRONG(c, text.at,
                        "the factors of a dimension of size %lld do not divide it; expected factors that do",
                        (long long)shape->dims[k]);
  }
  return SW_OK;
}

static sw_rc check_longest(sw_sdy_checker *c, sw_ir_span text, const sw_factor_rule *r, const int64_t *longest) {
  for (int f = 0; f < r->n; f++) {
    if (r->size[f] <= (longest[f] ? longest[f] : 1)) continue; /* rules of none say 1 */
    return SW_SDY_WRONG(c, text.at, "factor %d of the rule has size %lld; expected at most %lld, its longest dimension",
                        f, (long long)r->size[f], (long long)longest[f]);
  }
  return SW_OK;
}

static sw_rc check_rule_dims(sw_sdy_checker *c, sw_ir_span text, const sw_ir_op *o, const sw_factor_rule *r) {
  int64_t longest[SW_MOST_FACTORS] = {0};
  bool known = true;
  for (int i = 0; i < r->n_operands + r->n_results; i++) {
    const bool result = i >= r->n_operands;
    const uint32_t k = (uint32_t)(result ? i - r->n_operands : i);
    const sw_ir_span type =
        result ? k < c->types.n ? c->types.at[k] : (sw_ir_span){0, 0}
               : sw_sdy_type_of(c, sw_ir_operand_value(&c->values, o, sw_ir_operand_of_type(c->t, o, k)));
    const sw_sdy_shape shape = sw_sdy_shape_of(c->t, type);
    known = known && shape.kind != SW_SDY_UNKNOWN;
    if (shape.kind == SW_SDY_UNKNOWN) continue;
    if (!has_known_sizes(&shape))
      return SW_SDY_WRONG(c, text.at, "a rule of %s %u, which is %.*s; expected a tensor of known sizes",
                          result ? "result" : "operand", k, SW_IR_TEXT(c->t, type));
    if (shape.rank != r->rank[i])
      return SW_SDY_WRONG(c, text.at, "the rule has %d dimensions for %s %u; expected %d, the rank of %.*s", r->rank[i],
                          result ? "result" : "operand", k, shape.rank, SW_IR_TEXT(c->t, type));
    SW_TRY(check_factors(c, text, r, i, &shape, longest));
  }
  return known ? check_longest(c, text, r, longest) : SW_OK;
}

static sw_rc check_rule(sw_sdy_checker *c, const sw_ir_op *o, sw_ir_span text) {
  sw_factor_rule *rule;
  SW_TRY(sw_sdy_rule_read(c->t, text, c->x.arena, &rule, c->x.d));
  if (has_no_rule(c, o))
    return SW_SDY_WRONG(c, text.at, "'%.*s' has no sharding rule; expected one of an op that computes",
                        SW_IR_TEXT(c->t, o->name));
  const uint32_t n_results = sw_ir_result_count(c->t, o);
  if ((uint32_t)rule->n_operands != o->n_uses || (n_results && (uint32_t)rule->n_results != n_results))
    return SW_SDY_WRONG(c, text.at, "the rule has %d operands and %d results; expected %u and %u, as '%.*s' has",
                        rule->n_operands, rule->n_results, o->n_uses, n_results, SW_IR_TEXT(c->t, o->name));
  SW_TRY(take_result_types(c, o));
  SW_TRY(check_rule_dims(c, text, o, rule));
  if (!rule->custom || sw_ir_ends(c->t, o->name, ".custom_call")) return SW_OK;
  return SW_SDY_WRONG(c, text.at, "a custom rule of '%.*s'; expected one of a custom_call", SW_IR_TEXT(c->t, o->name));
}

static sw_rc check_results_anew(sw_sdy_checker *c, const sw_ir_op *o, sw_ir_span list) {
  c->types.n = 0;
  if (!sw_ir_is_function(c->t, o)) SW_TRY(take_result_types(c, o));
  return sw_sdy_check_list(c, list, false, "result");
}

/* Outside of manual computations what holds of an op holds of all with the same text. */
static sw_rc check_results(sw_sdy_checker *c, const sw_ir_op *o, sw_ir_span list) {
  enum { MOST_HELD = 4096 };
  if (c->bound.n || c->held.n == MOST_HELD) return check_results_anew(c, o, list);
  c->key.n = 0;
  sw_text_printf(&c->key, "%u ", sw_ir_result_count(c->t, o));
  sw_text_append(&c->key, c->t->s + list.at, sw_ir_len(list));
  sw_text_append(&c->key, c->t->s + o->types.at, sw_ir_len(o->types));
  if (c->key.rc || sw_dict_get(&c->held, c->key.at, c->key.n)) return c->key.rc;
  SW_TRY(check_results_anew(c, o, list));
  return sw_dict_put(&c->held, c->key.at, c->key.n, 1, NULL, NULL, c->x.d);
}

static sw_rc check_entries(sw_sdy_checker *c, const sw_ir_op *o, sw_ir_span entries) {
  uint32_t cursor = 0;
  bool said = false;
  sw_ir_span key, value;
  while (sw_ir_present(entries) && sw_ir_next_entry(c->t, entries, &cursor, &key, &value)) {
    if (!sw_ir_starts(c->t, key, "sdy.sharding")) continue;
    if (sw_ir_is(c->t, key, "sdy.sharding_rule")) SW_TRY(check_rule(c, o, value));
    if (!sw_ir_is(c->t, key, "sdy.sharding")) continue;
    if (said) return SW_SDY_WRONG(c, key.at, "'sdy.sharding' is said twice; expected it once");
    said = true;
    SW_TRY(check_results(c, o, value));
  }
  return SW_OK;
}

static sw_rc check_attrs(sw_sdy_checker *c, const sw_ir_op *o) {
  SW_TRY(check_entries(c, o, o->attrs));
  return o->generic && !sw_ir_is_function(c->t, o) ? check_entries(c, o, o->props) : SW_OK;
}

/* --- functions ---------------------------------------------------------------------------------------------------- */

static sw_rc check_declared(sw_sdy_checker *c, sw_ir_span type, sw_ir_span attrs) {
  const sw_ir_span text = sw_ir_len(attrs) ? sw_ir_entry(c->t, attrs, "sdy.sharding") : attrs;
  return sw_ir_present(text) && sw_ir_len(text) ? sw_sdy_check_sharding(c, text, type, NULL) : SW_OK;
}

/* T {...}, T, ...: of results, and of arguments where no body names them; or their dictionaries in a list. */
static sw_rc check_signature(sw_sdy_checker *c, sw_ir_types_cursor types, sw_ir_span dictionaries) {
  sw_ir_span item, attrs;
  uint32_t cursor = 0;
  while (sw_ir_next_type(c->t, &types, &item)) {
    const uint32_t name = sw_ir_starts(c->t, item, "%") ? sw_ir_value_name(c->t->s, item.at + 1) : item.at;
    if (name > item.at) item.at = sw_ir_blanks(c->t->s, name) + 1; /* behind "%a:" */
    const sw_ir_span type = sw_ir_type_alone(c->t, item);
    attrs = sw_ir_trimmed(c->t, (sw_ir_span){type.end, item.end});
    if (sw_ir_present(dictionaries) && !sw_ir_next_item(c->t, dictionaries, &cursor, &attrs)) return SW_OK;
    SW_TRY(check_declared(c, type, attrs));
  }
  return SW_OK;
}

/* Arguments by the types that the body has, as they are read. */
static sw_rc check_arguments(sw_sdy_checker *c, const sw_ir_op *f, uint32_t block) {
  const sw_ir_block *b = &c->t->blocks.at[block];
  const sw_ir_span list = sw_ir_entry(c->t, f->props, "arg_attrs");
  sw_ir_span item = {0, 0};
  uint32_t cursor = 0;
  for (uint32_t i = 0; i < b->n_args; i++) {
    const sw_ir_arg *a = &c->t->args.at[b->first_arg + i];
    if (f->generic && (!sw_ir_present(list) || !sw_ir_next_item(c->t, list, &cursor, &item))) return SW_OK;
    SW_TRY(check_declared(c, a->type, f->generic ? item : a->attrs));
  }
  return SW_OK;
}

static sw_rc check_function(sw_sdy_checker *c, const sw_ir_op *f) {
  const sw_ir_tree *t = c->t;
  const uint32_t block = sw_ir_block_at(t, f, 0);
  const sw_ir_span types = f->generic ? sw_ir_entry(t, f->props, "function_type") : f->types;
  const sw_ir_span none = {0, 0};
  if (block != SW_IR_NONE) SW_TRY(check_arguments(c, f, block));
  if (f->generic) {
    if (block == SW_IR_NONE)
      SW_TRY(check_signature(c, sw_ir_operand_types(t, types), sw_ir_entry(t, f->props, "arg_attrs")));
    return check_signature(c, sw_ir_declared_results(t, f), sw_ir_entry(t, f->props, "res_attrs"));
  }
  uint32_t at = sw_ir_blanks(t->s, f->symbol.end);
  if (t->s[at] == '"') at = sw_ir_blanks(t->s, at + 1);
  if (block == SW_IR_NONE && t->s[at] == '(') {
    const sw_ir_span list = sw_ir_inside(t, (sw_ir_span){at, f->text.end});
    SW_TRY(check_signature(c, (sw_ir_types_cursor){.list = list}, none));
  }
  return sw_ir_present(types) ? check_signature(c, sw_ir_declared_results(t, f), none) : SW_OK;
}

/* --- ops of the dialect ------------------------------------------------------------------------------------------- */

static sw_rc operands(sw_sdy_checker *c, const sw_ir_op *o, uint32_t n) {
  if (o->n_uses == n) return SW_OK;
  return SW_SDY_WRONG(c, o->text.at, "'%.*s' has %u operands; expected %u", SW_IR_TEXT(c->t, o->name), o->n_uses, n);
}

/* One operand, whose type is that of the result. */
static sw_rc check_unary(sw_sdy_checker *c, const sw_ir_op *o) {
  SW_TRY(operands(c, o, 1));
  const sw_ir_span from = sw_sdy_type_of(c, sw_ir_operand_value(&c->values, o, 0));
  const sw_ir_span to = sw_ir_result_type(c->t, o, 0);
  const sw_sdy_shape a = sw_sdy_shape_of(c->t, from), b = sw_sdy_shape_of(c->t, to);
  bool same = a.kind == SW_SDY_UNKNOWN || b.kind == SW_SDY_UNKNOWN || (a.kind == b.kind && a.rank == b.rank);
  for (int k = 0; same && a.kind == SW_SDY_TENSOR && k < a.rank; k++) same = a.dims[k] == b.dims[k];
  if (same && a.kind == SW_SDY_TENSOR && b.kind == SW_SDY_TENSOR) same = sw_ir_same(c->t, a.element, b.element);
  if (same) return SW_OK;
  return SW_SDY_WRONG(c, o->text.at, "'%.*s' makes %.*s of %.*s; expected one type", SW_IR_TEXT(c->t, o->name),
                      SW_IR_TEXT(c->t, to), SW_IR_TEXT(c->t, from));
}

/* A tensor with a rank. */
static sw_rc check_tensor(sw_sdy_checker *c, const sw_ir_op *o, sw_ir_span type) {
  const sw_sdy_kind kind = sw_sdy_shape_of(c->t, type).kind;
  if (kind == SW_SDY_UNKNOWN || kind == SW_SDY_TENSOR) return SW_OK;
  return SW_SDY_WRONG(c, o->text.at, "'%.*s' of %.*s; expected a tensor with a rank", SW_IR_TEXT(c->t, o->name),
                      SW_IR_TEXT(c->t, type));
}

/* The end of the body of a computation. */
static sw_rc check_sdy_return(sw_sdy_checker *c, uint32_t op) {
  const sw_ir_op *o = &c->t->ops.at[op];
  const uint32_t region = c->t->blocks.at[o->block].region;
  const bool in_body = region != SW_IR_NONE && is_sdy_computation(c, &c->t->ops.at[c->t->regions.at[region].op]);
  if (in_body && o->next == SW_IR_NONE) return SW_OK;
  return SW_SDY_WRONG(c, o->text.at, "'sdy.return' stands elsewhere than at the end of a computation's body");
}

static sw_rc check_mesh_place(sw_sdy_checker *c, uint32_t op) {
  const sw_ir_op *o = &c->t->ops.at[op];
  if (c->values.function_of[op] == SW_IR_NONE) return SW_OK;
  return SW_SDY_WRONG(c, o->text.at, "a mesh is declared in a function; expected it in the module");
}

static sw_rc check_constraint(sw_sdy_checker *c, uint32_t op) {
  const sw_ir_op *o = &c->t->ops.at[op];
  const sw_ir_span text = sw_sdy_own_sharding(c->t, o, "sharding");
  SW_TRY(check_unary(c, o));
  if (!sw_ir_present(text)) return SW_SDY_WRONG(c, o->text.at, "expected a sharding, <@mesh, [{\"x\"}, {}]>");
  return sw_sdy_check_sharding(c, text, sw_ir_result_type(c->t, o, 0), NULL);
}

static sw_rc check_group(sw_sdy_checker *c, uint32_t op) {
  const sw_ir_op *o = &c->t->ops.at[op];
  const sw_ir_span id = sw_ir_attr(c->t, o, "group_id", "group_id");
  int64_t number;
  SW_TRY(operands(c, o, 1));
  SW_TRY(check_tensor(c, o, sw_sdy_type_of(c, sw_ir_operand_value(&c->values, o, 0))));
  if (o->n_results) return SW_SDY_WRONG(c, o->text.at, "'sdy.sharding_group' has a result; expected none");
  const bool is_i64 = !memchr(c->t->s + id.at, ':', sw_ir_len(id)) || sw_ir_ends(c->t, id, "i64");
  if (sw_ir_present(id) && is_i64 && sw_ir_read_int(c->t, id, &number)) return SW_OK;
  return SW_SDY_WRONG(c, sw_ir_len(id) ? id.at : o->text.at, "expected group_id = a whole number");
}

static sw_rc check_barrier(sw_sdy_checker *c, uint32_t op) {
  const sw_ir_op *o = &c->t->ops.at[op];
  const sw_ir_span v = sw_ir_attr(c->t, o, "allowed_direction", "allowed_direction");
  sw_direction unused;
  SW_TRY(check_unary(c, o));
  SW_TRY(check_tensor(c, o, sw_ir_result_type(c->t, o, 0)));
  if (sw_sdy_direction(c->t, v, &unused)) return SW_OK;
  return SW_SDY_WRONG(c, sw_ir_len(v) ? v.at : o->text.at,
                      "found allowed_direction '%.*s'; expected NONE, FORWARD or BACKWARD, as one that lets both pass "
                      "is no barrier",
                      SW_IR_TEXT(c->t, v));
}

static bool has_one_use(const sw_sdy_checker *c, uint32_t value) {
  const uint32_t use = c->values.first_use[value];
  return use != SW_IR_NONE && c->values.next_use[use] == SW_IR_NONE;
}

/* An edge is the only user of a value of known sizes that no op of the dialect gives. */
static sw_rc check_edge(sw_sdy_checker *c, uint32_t op) {
  const sw_ir_op *o = &c->t->ops.at[op];
  const sw_ir_span text = sw_ir_attr(c->t, o, "sharding", "sharding"), type = sw_ir_result_type(c->t, o, 0);
  const sw_sdy_shape shape = sw_sdy_shape_of(c->t, type);
  SW_TRY(check_unary(c, o));
  const uint32_t value = sw_ir_operand_value(&c->values, o, 0);
  const uint32_t maker = value == SW_IR_NONE ? SW_IR_NONE : c->values.maker[value];
  if (shape.kind != SW_SDY_UNKNOWN && !has_known_sizes(&shape))
    return SW_SDY_WRONG(c, o->text.at, "an edge on %.*s; expected a tensor of known sizes", SW_IR_TEXT(c->t, type));
  if (maker != SW_IR_NONE && sw_ir_starts(c->t, c->t->ops.at[maker].name, "sdy.") &&
      !is_sdy_computation(c, &c->t->ops.at[maker]))
    return SW_SDY_WRONG(c, o->text.at, "an edge on the result of '%.*s'; expected one of an op of another dialect",
                        SW_IR_TEXT(c->t, c->t->ops.at[maker].name));
  if (value != SW_IR_NONE && !has_one_use(c, value))
    return SW_SDY_WRONG(c, o->text.at, "a value with an edge has other users; expected the edge alone");
  return sw_ir_present(text) ? sw_sdy_check_sharding(c, text, type, NULL) : SW_OK;
}

/* The same on an argument of a function or a result of a call. */
static sw_rc check_function_edge(sw_sdy_checker *c, uint32_t op) {
  const sw_ir_op *o = &c->t->ops.at[op];
  SW_TRY(check_unary(c, o));
  const uint32_t value = sw_ir_operand_value(&c->values, o, 0);
  if (value == SW_IR_NONE) return SW_OK;
  const sw_ir_op *home = &c->t->ops.at[c->home[value]];
  if (!sw_ir_is_function(c->t, home) && !sw_ir_is_among(c->t, home->name, "call func.call"))
    return SW_SDY_WRONG(c, o->text.at,
                        "an edge between functions on a value of '%.*s'; expected an argument of a function or the "
                        "result of a call",
                        SW_IR_TEXT(c->t, home->name));
  if (has_one_use(c, value)) return SW_OK;
  return SW_SDY_WRONG(c, o->text.at, "a value with an edge has other users; expected the edge alone");
}

static sw_rc check_constant(sw_sdy_checker *c, uint32_t op) { return operands(c, &c->t->ops.at[op], 0); }

static const struct {
  const char *name;
  sw_rc (*check)(sw_sdy_checker *c, uint32_t op);
} kOps[] = {
    {"sdy.mesh", check_mesh_place},
    {"sdy.sharding_constraint", check_constraint},
    {"sdy.reshard", check_constraint},
    {"sdy.sharding_group", check_group},
    {"sdy.propagation_barrier", check_barrier},
    {"sdy.data_flow_edge", check_edge},
    {"sdy.func_data_flow_edge", check_function_edge},
    {"sdy.manual_computation", sw_sdy_check_manual},
    {"sdy.named_computation", sw_sdy_check_named},
    {"sdy.return", check_sdy_return},
    {"sdy.constant", check_constant},
};

static sw_rc check_sdy_op(sw_sdy_checker *c, uint32_t op) {
  const sw_ir_op *o = &c->t->ops.at[op];
  bool is_collective;
  if (!sw_ir_starts(c->t, o->name, "sdy.")) return SW_OK;
  for (size_t i = 0; i < sizeof kOps / sizeof *kOps; i++) {
    if (sdy_op_is(c, o, kOps[i].name)) return kOps[i].check(c, op);
  }
  SW_TRY(sw_sdy_check_collective(c, op, &is_collective));
  if (is_collective) return SW_OK;
  return SW_SDY_WRONG(c, o->text.at, "there is no op '%.*s'", SW_IR_TEXT(c->t, o->name));
}

/* --- the walk ----------------------------------------------------------------------------------------------------- */

/* A computation's body sees its own values alone. */
static sw_rc check_body_uses(sw_sdy_checker *c, const sw_ir_op *o) {
  if (!c->around.n) return SW_OK;
  const uint32_t around = c->around.at[c->around.n - 1].op;
  for (uint32_t i = 0; i < o->n_uses; i++) {
    const uint32_t value = sw_ir_operand_value(&c->values, o, i), home = value == SW_IR_NONE ? around : c->home[value];
    const bool argument = value != SW_IR_NONE && c->values.maker[value] == SW_IR_NONE;
    if (home > around || (home == around && (argument || value == SW_IR_NONE))) continue;
    const sw_ir_use *u = &c->t->uses.at[o->first_use + i];
    return SW_SDY_WRONG(c, u->name.at - 1, "'%%%.*s' is defined outside of '%.*s'; expected a value of its body",
                        SW_IR_TEXT(c->t, u->name), SW_IR_TEXT(c->t, c->t->ops.at[around].name));
  }
  return SW_OK;
}

static sw_rc push_computation(sw_sdy_checker *c, uint32_t op) {
  const sw_ir_op *o = &c->t->ops.at[op];
  if (!is_sdy_computation(c, o)) return SW_OK;
  SW_TRY(sw_array_push(&c->around, ((sw_sdy_frame){op, c->bound.n}), c->x.d));
  if (!sdy_op_is(c, o, "sdy.manual_computation")) return SW_OK;
  sw_ir_span axes = sw_sdy_manual_axes(c->t, o), item;
  uint32_t cursor = 0;
  while (sw_ir_present(axes) && sw_ir_next_item(c->t, axes, &cursor, &item))
    SW_TRY(sw_array_push(&c->bound, sw_ir_unquoted(c->t, item), c->x.d));
  return SW_OK;
}

/* What was right in the one before may be over other devices. */
static sw_rc next_function(sw_sdy_checker *c, uint32_t op) {
  SW_TRY(sw_array_push(&c->functions, c->over, c->x.d));
  c->over = (sw_sdy_devices){.function = op};
  sw_dict_deinit(&c->held);
  c->held = (sw_dict){0};
  return SW_OK;
}

static sw_rc visit_sdy_op(sw_sdy_checker *c, uint32_t op) {
  const sw_ir_op *o = &c->t->ops.at[op];
  while (c->around.n && c->t->ops.at[c->around.at[c->around.n - 1].op].text.end <= o->text.at)
    c->bound.n = c->around.at[--c->around.n].n_bound;
  if (sw_ir_is_function(c->t, o)) SW_TRY(next_function(c, op));
  SW_TRY(check_body_uses(c, o));
  SW_TRY(check_attrs(c, o));
  if (sw_ir_is_function(c->t, o)) SW_TRY(check_function(c, o));
  SW_TRY(check_sdy_op(c, op));
  return push_computation(c, op);
}

static sw_rc find_homes(sw_sdy_checker *c) {
  SW_ARENA_NEW(c->home, &c->arena, c->values.n, c->x.d);
  for (uint32_t i = 0; i < c->values.n; i++) c->home[i] = c->values.maker[i];
  for (uint32_t b = 1; b < c->t->blocks.n; b++) {
    const uint32_t first = c->values.of_block[b];
    for (uint32_t k = 0; first != SW_IR_NONE && k < c->t->blocks.at[b].n_args; k++)
      c->home[first + k] = c->t->regions.at[c->t->blocks.at[b].region].op;
  }
  return SW_OK;
}

/* A plan is of one machine: of the program's function and those that are called. */
static sw_rc check_machine(sw_sdy_checker *c, const sw_ir_names *names) {
  const sw_sdy_devices *first = NULL;
  bool *called;
  SW_ARENA_NEW(called, &c->arena, c->t->ops.n, c->x.d);
  for (uint32_t i = 0; i < c->t->ops.n; i++) {
    const sw_ir_op *o = &c->t->ops.at[i];
    const uint32_t f = sw_ir_is_function(c->t, o) ? SW_IR_NONE : sw_ir_function_named(c->t, names, o->symbol);
    if (f != SW_IR_NONE) called[f] = true;
    if (sw_ir_is_function(c->t, o) && sw_opt_is_main(c->t, o)) called[i] = true;
  }
  for (size_t i = 0; i < c->functions.n; i++) {
    const sw_sdy_devices *f = &c->functions.at[i];
    if (!f->at.end || !called[f->function]) continue;
    if (!first) first = f;
    if (f->n != first->n) return other_devices(c, first, f->n, f->at);
  }
  return SW_OK;
}

/* Has the text anything of the language? */
static bool speaks(const sw_ir_tree *t) { return strstr(t->s, "sdy.") != NULL; }

sw_rc sw_sdy_verify(const sw_ir_tree *t, const sw_ir_names *names, sw_sdy_alike alike, sw_diag *d) {
  sw_sdy_checker c = {.t = t, .alike = alike};
  if (!speaks(t)) return SW_OK;
  sw_rc rc = sw_sdy_open(&c.x, t, &c.arena, d);
  if (!rc) rc = sw_ir_values_find(t, names, &c.arena, &c.values, d);
  if (!rc) rc = find_homes(&c);
  for (uint32_t i = 0; i < t->ops.n && !rc; i++) rc = visit_sdy_op(&c, i);
  if (!rc) rc = sw_array_push(&c.functions, c.over, d);
  if (!rc && alike == SW_SDY_ALIKE_IN_PROGRAM) rc = check_machine(&c, names);
  sw_sdy_close(&c.x);
  sw_dict_deinit(&c.held);
  sw_text_free(&c.key);
  sw_array_free(&c.around);
  sw_array_free(&c.functions);
  sw_array_free(&c.bound);
  sw_array_free(&c.types);
  sw_array_free(&c.listed);
  sw_arena_deinit(&c.arena);
  return rc;
}
