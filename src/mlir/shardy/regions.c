/* Computations with a body of their own.
 *
 *   mesh x=2: manual over x, in_shardings [<@mesh, [{"x"}, {}]>] of tensor<8x4xf32>: the body has tensor<4x4xf32>
 */
#include "mlir/shardy/shardy_check.h"

typedef struct side {
  const char *key, *what; /* "in_shardings", "operand" */
  sw_ir_span list;        /* items in brackets */
} side;

static sw_ir_types_cursor body_border_types(const sw_ir_tree *t, const sw_ir_op *o, bool in) {
  return in ? sw_ir_operand_types(t, o->types) : sw_ir_result_types(t, o);
}

/* The list of a side, checked; `required` or not. */
static sw_rc check_side(sw_sdy_checker *c, const sw_ir_op *o, bool in, bool required, side *s) {
  *s = (side){in ? "in_shardings" : "out_shardings", in ? "operand" : "result", {0, 0}};
  const sw_ir_span text = sw_ir_attr(c->t, o, s->key, s->key);
  if (!sw_ir_present(text) && !required) return SW_OK;
  if (!sw_ir_present(text)) return SW_SDY_WRONG(c, o->text.at, "expected %s=[<@mesh, [{\"x\"}]>]", s->key);
  s->list = sw_sdy_items(c->t, text);
  SW_TRY(sw_sdy_take_types(c, body_border_types(c->t, o, in)));
  return sw_sdy_check_list(c, text, !o->generic, s->what);
}

/* The body has an argument for each operand and gives a value for each result. */
static sw_rc check_body_counts(sw_sdy_checker *c, const sw_ir_op *o, uint32_t *block, uint32_t *ret) {
  *block = sw_ir_block_at(c->t, o, 0);
  if (*block == SW_IR_NONE) return SW_SDY_WRONG(c, o->text.at, "the op has no body");
  const uint32_t n_args = c->t->blocks.at[*block].n_args, n_results = sw_ir_result_count(c->t, o);
  *ret = sw_ir_last_op(c->t, *block);
  if (n_args != o->n_uses)
    return SW_SDY_WRONG(c, o->text.at, "'%.*s' has %u operands, and its body %u arguments; expected as many",
                        SW_IR_TEXT(c->t, o->name), o->n_uses, n_args);
  const uint32_t n_returned = *ret == SW_IR_NONE ? 0 : c->t->ops.at[*ret].n_uses;
  SW_TRY(sw_sdy_take_types(c, body_border_types(c->t, o, false)));
  if (n_returned == c->types.n && (!n_results || n_results == n_returned)) return SW_OK;
  return SW_SDY_WRONG(c, o->text.at, "'%.*s' has %zu results, and its body returns %u values; expected as many",
                      SW_IR_TEXT(c->t, o->name), c->types.n, n_returned);
}

/* Type of argument or returned value `i` of the body. */
static sw_ir_span inner_type(sw_sdy_checker *c, uint32_t block, uint32_t ret, bool in, uint32_t i) {
  if (in) return c->t->args.at[c->t->blocks.at[block].first_arg + i].type;
  return sw_sdy_type_of(c, sw_ir_operand_value(&c->values, &c->t->ops.at[ret], i));
}

static void print_shape(const sw_ir_tree *t, const sw_sdy_shape *s, sw_text *out) {
  sw_text_puts(out, "tensor<");
  for (int k = 0; k < s->rank; k++) {
    if (s->dims[k] < 0)
      sw_text_puts(out, "?x");
    else
      sw_text_printf(out, "%lldx", (long long)s->dims[k]);
  }
  sw_text_printf(out, "%.*s>", SW_IR_TEXT(t, s->element));
}

static bool same_sdy_shape(const sw_ir_tree *t, const sw_sdy_shape *a, const sw_sdy_shape *b) {
  bool same = a->kind == b->kind && a->rank == b->rank && sw_ir_same(t, a->element, b->element);
  for (int k = 0; same && a->kind == SW_SDY_TENSOR && k < a->rank; k++) same = a->dims[k] == b->dims[k];
  return same;
}

/* Value `i` inside is `want`. */
static sw_rc check_inner(sw_sdy_checker *c, uint32_t at, const side *s, uint32_t i, const sw_sdy_shape *want,
                         sw_ir_span inner) {
  const sw_sdy_shape is = sw_sdy_shape_of(c->t, inner);
  if (want->kind != SW_SDY_TENSOR || is.kind == SW_SDY_UNKNOWN || same_sdy_shape(c->t, want, &is)) return SW_OK;
  sw_text text = {0};
  print_shape(c->t, want, &text);
  sw_rc rc = SW_SDY_WRONG(c, at, "%s %u is %.*s in the body; expected %s", s->what, i, SW_IR_TEXT(c->t, inner),
                          sw_text_str(&text));
  sw_text_free(&text);
  return rc;
}

/* --- manual computations ------------------------------------------------------------------------------------------ */

sw_ir_span sw_sdy_manual_axes(const sw_ir_tree *t, const sw_ir_op *o) {
  const sw_ir_span v = sw_ir_attr(t, o, "manual_axes", "manual_axes");
  if (!sw_ir_starts(t, v, "#")) return v;
  uint32_t at = v.at; /* #sdy<manual_axes{"x"}> */
  while (at < v.end && t->s[at] != '{') at++;
  const sw_ir_span inside = sw_ir_inside(t, (sw_ir_span){at, v.end});
  return at < v.end ? (sw_ir_span){at, inside.end + 1} : (sw_ir_span){0, 0};
}

bool sw_sdy_is_manual_axis(const sw_ir_tree *t, sw_ir_span axes, const char *name) {
  uint32_t cursor = 0;
  sw_ir_span item;
  while (sw_ir_present(axes) && sw_ir_next_item(t, axes, &cursor, &item)) {
    if (sw_ir_is(t, sw_ir_unquoted(t, item), name)) return true;
  }
  return false;
}

static sw_rc check_manual_axes(sw_sdy_checker *c, sw_ir_span axes, const sw_mesh *m) {
  uint32_t cursor = 0;
  sw_ir_span item;
  while (sw_ir_next_item(c->t, axes, &cursor, &item)) {
    const sw_ir_span name = sw_ir_unquoted(c->t, item);
    int axis = 0;
    if (c->t->s[item.at] != '"')
      return SW_SDY_WRONG(c, item.at, "found '%.*s'; expected an axis in quotes", SW_IR_TEXT(c->t, item));
    for (size_t i = 0; i < c->bound.n; i++) {
      if (!sw_ir_same(c->t, c->bound.at[i], name)) continue;
      return SW_SDY_WRONG(c, item.at,
                          "axis \"%.*s\" is bound by a manual computation around (line %d); expected another",
                          SW_IR_TEXT(c->t, name), sw_ir_place(c->t, c->bound.at[i].at).line);
    }
    while (m && axis < m->n_axes && !sw_ir_is(c->t, name, m->axis[axis].name)) axis++;
    if (!m || axis < m->n_axes) continue;
    return SW_SDY_WRONG(c, item.at, "manual axis %.*s is not in the mesh of the shardings; expected one of its axes",
                        SW_IR_TEXT(c->t, item));
  }
  return SW_OK;
}

/* The mesh of all shardings that have one with axes. */
static sw_rc find_mesh(sw_sdy_checker *c, sw_ir_span list, const sw_mesh **mesh) {
  uint32_t cursor = 0;
  sw_ir_span item;
  sw_open_sharding s;
  while (sw_ir_next_item(c->t, list, &cursor, &item)) {
    SW_TRY(sw_open_sharding_read(&c->x, item, &s));
    const sw_mesh *m = &c->x.meshes.at[s.mesh].mesh;
    if (*mesh && !sw_sdy_is_empty(*mesh) && !sw_sdy_is_empty(m) && !sw_sdy_same_mesh(*mesh, m))
      return SW_SDY_WRONG(c, item.at, "a sharding of another mesh than the others; expected all of one mesh");
    if (!*mesh || sw_sdy_is_empty(*mesh)) *mesh = m;
  }
  return SW_OK;
}

/* What a device of the manual axes has of a dimension; these come first among its axes. */
static sw_rc local_size(sw_sdy_checker *c, sw_ir_span text, const side *of, const sw_open_sharding *s,
                        sw_ir_span manual, int k, int64_t *size) {
  const sw_mesh *m = &c->x.meshes.at[s->mesh].mesh;
  const char *free_axis = NULL;
  int64_t parts = 1;
  int n;
  const sw_axis_ref *a = sw_sharding_dim(&s->cut, k, &n);
  for (int i = 0; i < n; i++) {
    const char *name = m->axis[a[i].axis].name;
    if (!sw_sdy_is_manual_axis(c->t, manual, name)) {
      free_axis = name;
      continue;
    }
    if (free_axis)
      return SW_SDY_WRONG(c, text.at,
                          "dimension %d has manual axis \"%s\" behind free axis \"%s\"; expected manual "
                          "axes first",
                          k, name, free_axis);
    parts *= a[i].size;
  }
  if (*size < 0) return SW_OK;
  if (*size % parts)
    return SW_SDY_WRONG(c, text.at,
                        "dimension %d of the %s has size %lld; expected a multiple of %lld, the size of "
                        "its manual axes",
                        k, of->what, (long long)*size, (long long)parts);
  *size /= parts;
  return SW_OK;
}

static sw_rc check_local(sw_sdy_checker *c, const sw_ir_op *o, const side *s, bool in, sw_ir_span manual,
                         uint32_t block, uint32_t ret) {
  sw_ir_types_cursor types = body_border_types(c->t, o, in);
  sw_ir_span item, type;
  uint32_t cursor = 0;
  for (uint32_t i = 0; sw_ir_next_item(c->t, s->list, &cursor, &item) && sw_ir_next_type(c->t, &types, &type); i++) {
    sw_open_sharding said;
    sw_sdy_shape shape = sw_sdy_shape_of(c->t, type);
    SW_TRY(sw_open_sharding_read(&c->x, item, &said));
    for (int k = 0; shape.kind == SW_SDY_TENSOR && k < said.cut.rank; k++)
      SW_TRY(local_size(c, item, s, &said, manual, k, &shape.dims[k]));
    SW_TRY(check_inner(c, item.at, s, i, &shape, inner_type(c, block, ret, in, i)));
  }
  return SW_OK;
}

sw_rc sw_sdy_check_manual(sw_sdy_checker *c, uint32_t op) {
  const sw_ir_op *o = &c->t->ops.at[op];
  const sw_ir_span manual = sw_sdy_manual_axes(c->t, o);
  const sw_mesh *mesh = NULL;
  uint32_t block, ret;
  side in, out;
  SW_TRY(check_side(c, o, true, true, &in));
  SW_TRY(check_side(c, o, false, true, &out));
  if (!sw_ir_starts(c->t, manual, "{")) return SW_SDY_WRONG(c, o->text.at, "expected manual_axes={\"x\"}");
  SW_TRY(check_body_counts(c, o, &block, &ret));
  if (sw_ir_len(sw_ir_trimmed(c->t, sw_ir_inside(c->t, manual)))) {
    SW_TRY(find_mesh(c, in.list, &mesh));
    SW_TRY(find_mesh(c, out.list, &mesh));
    SW_TRY(check_manual_axes(c, manual, mesh));
  }
  SW_TRY(check_local(c, o, &in, true, manual, block, ret));
  return check_local(c, o, &out, false, manual, block, ret);
}

/* --- named computations ------------------------------------------------------------------------------------------- */

sw_rc sw_sdy_check_named(sw_sdy_checker *c, uint32_t op) {
  const sw_ir_op *o = &c->t->ops.at[op];
  uint32_t block, ret;
  SW_TRY(check_body_counts(c, o, &block, &ret));
  for (int in = 1; in >= 0; in--) {
    side s;
    sw_ir_types_cursor types = body_border_types(c->t, o, in);
    sw_ir_span type;
    SW_TRY(check_side(c, o, in, false, &s));
    for (uint32_t i = 0; sw_ir_next_type(c->t, &types, &type); i++) {
      const sw_sdy_shape shape = sw_sdy_shape_of(c->t, type);
      SW_TRY(check_inner(c, o->text.at, &s, i, &shape, inner_type(c, block, ret, in, i)));
    }
  }
  return SW_OK;
}
