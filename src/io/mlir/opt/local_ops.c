/* Ops that say sizes or positions, or that do not give each device its part by themselves. */
#include <string.h>

#include "io/mlir/import/import.h"
#include "io/mlir/opt/local.h"

static uint32_t operand(const sw_local *l, uint32_t op, uint32_t i) {
  return sw_ir_operand_value(&l->w->values, &l->t->ops.at[op], i);
}
static uint32_t result(const sw_local *l, uint32_t op, uint32_t i) {
  return sw_ir_result_value(&l->w->values, l->t, &l->t->ops.at[op], i);
}

bool sw_local_same_cut(const sw_local *l, uint32_t a, uint32_t b) {
  const sw_open_sharding *x = sw_local_sharding(l, a), *y = sw_local_sharding(l, b);
  if (!x || !y || !x->cut.n_refs || !y->cut.n_refs) return !sw_local_is_cut(l, a) && !sw_local_is_cut(l, b);
  bool same = x->cut.n_refs == y->cut.n_refs;
  for (int i = 0; same && i < x->cut.n_refs; i++)
    same = x->cut.dim_of[i] == y->cut.dim_of[i] && sw_axis_ref_equal(x->cut.refs[i], y->cut.refs[i]);
  return same;
}

static bool any_cut(const sw_local *l, uint32_t op) {
  const sw_ir_op *o = &l->t->ops.at[op];
  const uint32_t n = sw_ir_result_count(l->t, o);
  bool cut = false;
  for (uint32_t i = 0; i < o->n_uses && !cut; i++) cut = sw_local_is_cut(l, operand(l, op, i));
  for (uint32_t i = 0; i < n && !cut; i++) cut = result(l, op, i) != SW_IR_NONE && sw_local_is_cut(l, result(l, op, i));
  return cut;
}

const sw_axis_ref *sw_local_axes(const sw_local *l, uint32_t value, int dim, int *n) {
  const sw_open_sharding *s = sw_local_sharding(l, value);
  *n = 0;
  return s ? sw_sharding_dim(&s->cut, dim, n) : NULL;
}

/* --- lists of sizes ----------------------------------------------------------------------------------------------- */

/* `[1, 2]`, `array<i64: 1, 2>` or `dense<[1, 2]> : tensor<2xi64>`, as the text has it. */
static sw_rc rewrite_ints(sw_local *l, sw_ir_span list, const int64_t *n, size_t count) {
  const bool is_array = sw_ir_starts(l->t, list, "array"), is_dense = sw_ir_starts(l->t, list, "dense");
  sw_text out = {0};
  sw_text_puts(&out, is_array ? "array<i64: " : is_dense ? "dense<[" : "[");
  for (size_t i = 0; i < count; i++) sw_text_printf(&out, "%s%lld", i ? ", " : "", (long long)n[i]);
  if (is_dense)
    sw_text_printf(&out, "]> : tensor<%zuxi64>", count);
  else
    sw_text_puts(&out, is_array ? ">" : "]");
  const char *text = sw_text_keep(&out, &l->w->arena, l->d);
  return text ? sw_ir_replace(&l->w->edits, list.at, list.end, text) : SW_E_RESOURCE;
}

/* slice_sizes of dimensions that are cut and taken whole become those of the part. */
sw_rc sw_local_cut_sizes(sw_local *l, uint32_t op, const char *key, const char *custom) {
  const sw_ir_span list = sw_ir_attr(l->t, &l->t->ops.at[op], key, custom);
  const sw_tensor_text whole = sw_local_whole(l, operand(l, op, 0));
  sw_tensor_text part;
  sw_ir_ints n = {0};
  SW_TRY(sw_local_part(l, operand(l, op, 0), &part));
  sw_rc rc = sw_ir_present(list) ? sw_ir_read_ints(l->t, list, &n, l->d) : SW_OK;
  for (size_t i = 0; !rc && i < n.n && i < (size_t)part.rank; i++) {
    if (n.at[i] == whole.dims[i]) n.at[i] = part.dims[i];
  }
  if (!rc && n.n) rc = rewrite_ints(l, list, n.at, n.n);
  sw_array_free(&n);
  return rc;
}

/* [0:8, 2:10:2]: what is cut is whole. */
static sw_rc slice(sw_local *l, uint32_t op, bool *kept) {
  const sw_ir_op *o = &l->t->ops.at[op];
  sw_ir_span list = o->body, item;
  uint32_t cursor = 0;
  sw_tensor_text part;
  *kept = true;
  if (o->generic) return sw_local_cut_sizes(l, op, "limit_indices", NULL);
  SW_TRY(sw_local_part(l, operand(l, op, 0), &part));
  while (list.at < list.end && l->t->s[list.at] != '[') list.at++;
  list.end = sw_ir_inside(l->t, list).end + 1;
  for (int k = 0; k < part.rank && sw_ir_next_item(l->t, list, &cursor, &item); k++) {
    int n;
    (void)sw_local_axes(l, operand(l, op, 0), k, &n);
    if (!n) continue;
    SW_TRY(sw_ir_replace(&l->w->edits, item.at, item.end,
                         sw_arena_printf(&l->w->arena, l->d, "0:%lld", (long long)part.dims[k])));
  }
  return SW_OK;
}

static sw_rc dynamic_slice(sw_local *l, uint32_t op, bool *kept) {
  *kept = true;
  return sw_local_cut_sizes(l, op, "slice_sizes", "sizes");
}

/* --- updates ------------------------------------------------------------------------------------------------------ */

/* `name = stablehlo.compare HOW, a, b` of scalars. */
static const char *compare(sw_local *l, const char *how, const char *a, const char *b, const sw_tensor_text *type) {
  const char *name = sw_local_begin(l, NULL);
  sw_text_printf(&l->lines, "stablehlo.compare %s, %s, %s : (", how, a, b);
  sw_local_put_type(l, type);
  sw_text_puts(&l->lines, ", ");
  sw_local_put_type(l, type);
  sw_text_puts(&l->lines, ") -> tensor<i1>\n");
  return name;
}

static const char *scalar(sw_local *l, int64_t n, const sw_tensor_text *type) {
  const char *name = sw_local_begin(l, NULL);
  sw_text_printf(&l->lines, "stablehlo.constant dense<%lld> : ", (long long)n);
  sw_local_put_type(l, type);
  sw_local_end(l);
  return name;
}

/* Where one element of `whole` goes along a dimension of parts of `part`, and whether that is in this device's part. */
static const char *place_in_part(sw_local *l, const char *at, const sw_tensor_text *type, const char *before,
                                 int64_t whole, int64_t part, const char **is_inside) {
  static const sw_tensor_text kBool = {.element = "i1", .n_element = 2};
  const char *zero = scalar(l, 0, type);
  at = sw_local_binary(l, "minimum", at, scalar(l, whole - 1, type), type, NULL);
  at = sw_local_binary(l, "maximum", at, zero, type, NULL);
  at = sw_local_binary(l, "subtract", at, sw_local_spread(l, before, type, -1), type, NULL);
  const char *not_before = compare(l, "GE", at, zero, type),
             *not_behind = compare(l, "LT", at, scalar(l, part, type), type);
  const char *here = sw_local_binary(l, "and", not_before, not_behind, &kBool, NULL);
  *is_inside = *is_inside ? sw_local_binary(l, "and", *is_inside, here, &kBool, NULL) : here;
  return at;
}

/* The update, where it is in this device's part; otherwise what was there. */
static sw_rc keep_outside(sw_local *l, uint32_t op, const char *is_inside) {
  const uint32_t value = result(l, op, 0);
  sw_tensor_text part;
  SW_TRY(sw_local_part(l, value, &part));
  SW_TRY(sw_local_put_before(l, op));
  SW_TRY(sw_local_begin_lines(l, op));
  const char *name = sw_local_begin(l, NULL);
  sw_text_printf(&l->lines, "stablehlo.select %s, %s, %s : tensor<i1>, ", is_inside, sw_opt_text_of_uses(l->w, value),
                 sw_opt_text_of_uses(l->w, operand(l, op, 0)));
  sw_local_put_type(l, &part);
  sw_local_end(l);
  SW_TRY(sw_local_put_behind(l, op));
  sw_opt_replace(l->w, value, name);
  return name ? SW_OK : SW_E_RESOURCE;
}

/* An update as long as what it updates begins at 0. One of a single element is in the part of one device. */
static sw_rc dynamic_update_slice(sw_local *l, uint32_t op, bool *kept) {
  const uint32_t x = operand(l, op, 0), first_use = l->t->ops.at[op].first_use;
  const sw_tensor_text whole = sw_local_whole(l, x), update = sw_local_whole(l, operand(l, op, 1));
  const char *is_inside = NULL;
  sw_tensor_text part;
  *kept = true;
  SW_TRY(sw_local_part(l, x, &part));
  for (int k = 0; k < whole.rank && k < update.rank; k++) {
    int n;
    const sw_axis_ref *axes = sw_local_axes(l, x, k, &n);
    const uint32_t at = operand(l, op, 2 + (uint32_t)k);
    if (!n || whole.dims[k] == update.dims[k]) continue;
    if (update.dims[k] != 1)
      return SW_LOCAL_FAIL(l, op,
                           "'stablehlo.dynamic_update_slice' writes %lld elements of dimension %d, which is cut; "
                           "expected 1 or all",
                           (long long)update.dims[k], k);
    const sw_tensor_text type = sw_local_whole(l, at);
    const char *before = sw_local_offset(l, sw_local_mesh(l, sw_local_sharding(l, x)), axes, n, part.dims[k]);
    const char *y =
        place_in_part(l, sw_opt_text_of_uses(l->w, at), &type, before, whole.dims[k], part.dims[k], &is_inside);
    SW_TRY(sw_opt_replace_use(l->w, first_use + 2 + (uint32_t)k, y));
  }
  return is_inside ? keep_outside(l, op, is_inside) : SW_OK;
}

/* --- constants, iota, random bits --------------------------------------------------------------------------------- */

sw_ir_span sw_local_literal(const sw_local *l, uint32_t op, bool *splat) {
  const sw_ir_op *o = &l->t->ops.at[op];
  sw_ir_span v = sw_ir_attr(l->t, o, "value", NULL);
  if (!sw_ir_present(v)) {
    v = o->body;
    if (sw_ir_len(o->attrs) && o->attrs.end > v.at && o->attrs.end <= v.end) v.at = o->attrs.end;
  }
  v = sw_ir_trimmed(l->t, v);
  const sw_ir_span inside = sw_ir_trimmed(l->t, sw_ir_inside(l->t, v));
  *splat = sw_ir_starts(l->t, v, "dense<") && !strchr("[\"", l->t->s[inside.at]);
  return (sw_ir_span){v.at, sw_ir_inside(l->t, v).end + 1};
}

/* The part of a value that all devices have whole, under the name of the op. */
static sw_rc slice_whole(sw_local *l, const char *x, uint32_t value, const char *name, const char **out) {
  const sw_tensor_text whole = sw_local_whole(l, value);
  const sw_open_sharding *s = sw_local_sharding(l, value);
  const char *starts[SW_MAX_RANK] = {NULL};
  sw_tensor_text part;
  SW_TRY(sw_local_part(l, value, &part));
  for (int k = 0; k < whole.rank; k++) {
    int n;
    const sw_axis_ref *axes = sw_local_axes(l, value, k, &n);
    if (n && !(starts[k] = sw_local_offset(l, sw_local_mesh(l, s), axes, n, part.dims[k]))) return SW_E_RESOURCE;
  }
  *out = sw_local_slice(l, x, &whole, starts, &part, name);
  return *out ? SW_OK : SW_E_RESOURCE;
}

static sw_rc constant(sw_local *l, uint32_t op, bool *kept) {
  const sw_ir_op *o = &l->t->ops.at[op];
  const uint32_t value = result(l, op, 0);
  bool splat;
  const sw_ir_span literal = sw_local_literal(l, op, &splat);
  const bool cut = sw_local_is_cut(l, value);
  *kept = !cut && !sw_ir_is(l->t, o->name, "sdy.constant");
  if (*kept) return SW_OK;
  const char *name = sw_local_name(l, op), *whole_name = cut && !splat ? NULL : name, *y;
  const sw_tensor_text whole = sw_local_whole(l, value);
  sw_tensor_text part;
  SW_TRY(sw_local_part(l, value, &part));
  whole_name = sw_local_begin(l, whole_name);
  sw_text_printf(&l->lines, "stablehlo.constant %.*s : ", SW_IR_TEXT(l->t, literal));
  sw_local_put_type(l, splat ? &part : &whole);
  sw_local_end(l);
  if (cut && !splat) SW_TRY(slice_whole(l, whole_name, value, name, &y));
  return sw_local_replace(l, op);
}

/* Counts on from where this device's part begins. */
static sw_rc iota(sw_local *l, uint32_t op, bool *kept) {
  const uint32_t value = result(l, op, 0);
  const sw_open_sharding *s = sw_local_sharding(l, value);
  int64_t dim = -1;
  int n = 0;
  sw_tensor_text part;
  (void)sw_ir_read_int(l->t, sw_ir_attr(l->t, &l->t->ops.at[op], "iota_dimension", "dim"), &dim);
  const sw_axis_ref *axes = dim < 0 ? NULL : sw_local_axes(l, value, (int)dim, &n);
  *kept = n == 0;
  if (*kept) return SW_OK;
  SW_TRY(sw_local_part(l, value, &part));
  const char *near = sw_local_begin(l, NULL);
  sw_text_printf(&l->lines, "stablehlo.iota dim = %lld : ", (long long)dim);
  sw_local_put_type(l, &part);
  sw_local_end(l);
  const char *start = sw_local_offset(l, sw_local_mesh(l, s), axes, n, part.dims[dim]);
  const char *far = start ? sw_local_spread(l, start, &part, -1) : NULL;
  if (!far) return SW_E_RESOURCE;
  (void)sw_local_binary(l, "add", near, far, &part, sw_local_name(l, op));
  return sw_local_replace(l, op);
}

/* All devices draw all bits, and each keeps its part. */
static sw_rc rng_bit_generator(sw_local *l, uint32_t op, bool *kept) {
  const uint32_t state = result(l, op, 0), bits = result(l, op, 1);
  const char *part;
  *kept = true;
  if (state != SW_IR_NONE && sw_local_is_cut(l, state))
    return SW_LOCAL_FAIL(l, op, "'stablehlo.rng_bit_generator' needs its state whole, which is cut");
  if (bits == SW_IR_NONE) return SW_LOCAL_FAIL(l, op, "expected names for both results");
  SW_TRY(slice_whole(l, sw_opt_text_of_uses(l->w, bits), bits, NULL, &part));
  SW_TRY(sw_local_put_behind(l, op));
  sw_opt_replace(l->w, bits, part);
  l->whole = op;
  return SW_OK;
}

/* --- convolution -------------------------------------------------------------------------------------------------- */

/* The place of a letter in list i of [b, 0, f]x[0, i, o]->[b, 0, f]; -1: there is none. */
static int place_of(const sw_local *l, sw_ir_span lists, int i, char letter) {
  uint32_t at = lists.at;
  for (int k = 0; k <= i; k++, at++) {
    while (at < lists.end && l->t->s[at] != '[') at++;
  }
  for (int k = 0; at < lists.end && l->t->s[at] != ']'; at++) {
    if (l->t->s[at] == letter) return k;
    k += l->t->s[at] == ',';
  }
  return -1;
}

/* As many groups as the part of one tensor is larger than that of another. */
static sw_rc cut_groups(sw_local *l, uint32_t op, const char *key, const sw_tensor_text *a, int i,
                        const sw_tensor_text *b, int k) {
  const sw_ir_span v = sw_ir_attr(l->t, &l->t->ops.at[op], key, key);
  int64_t groups = 1;
  if (!sw_ir_present(v) || !sw_ir_read_int(l->t, v, &groups) || groups == 1) return SW_OK;
  if (i < 0 || k < 0 || a->dims[i] % b->dims[k])
    return SW_LOCAL_FAIL(l, op, "'stablehlo.convolution' is cut within a group");
  return sw_ir_replace(&l->w->edits, v.at, v.end,
                       sw_arena_printf(&l->w->arena, l->d, "%lld : i64", (long long)(a->dims[i] / b->dims[k])));
}

static sw_rc convolution(sw_local *l, uint32_t op, bool *kept) {
  sw_ir_span lists = sw_ir_attr(l->t, &l->t->ops.at[op], "dimension_numbers", NULL);
  sw_tensor_text x, kernel, y;
  *kept = true;
  if (!sw_ir_present(lists)) lists = l->t->ops.at[op].body;
  SW_TRY(sw_local_part(l, operand(l, op, 0), &x));
  SW_TRY(sw_local_part(l, operand(l, op, 1), &kernel));
  SW_TRY(sw_local_part(l, result(l, op, 0), &y));
  SW_TRY(cut_groups(l, op, "feature_group_count", &x, place_of(l, lists, 0, 'f'), &kernel, place_of(l, lists, 1, 'i')));
  return cut_groups(l, op, "batch_group_count", &x, place_of(l, lists, 0, 'b'), &y, place_of(l, lists, 2, 'b'));
}

/* --- reductions --------------------------------------------------------------------------------------------------- */

/* `applies stablehlo.add`, or the only op of the region but for its return; empty: another region. */
static sw_ir_span combiner_of(const sw_local *l, const sw_ir_op *o) {
  const uint32_t block = sw_ir_block_at(l->t, o, 0);
  const char *word = "applies ";
  if (block != SW_IR_NONE) {
    const uint32_t first = l->t->blocks.at[block].first_op;
    const uint32_t second = first == SW_IR_NONE ? first : l->t->ops.at[first].next;
    const bool one = second != SW_IR_NONE && l->t->ops.at[second].next == SW_IR_NONE;
    return one ? l->t->ops.at[first].name : (sw_ir_span){0, 0};
  }
  for (uint32_t at = o->body.at; at + strlen(word) < o->body.end; at++) {
    if (strncmp(l->t->s + at, word, strlen(word)) != 0) continue;
    at = sw_ir_blanks(l->t->s, at + (uint32_t)strlen(word));
    return (sw_ir_span){at, sw_ir_name(l->t->s, at)};
  }
  return (sw_ir_span){0, 0};
}

static bool combines_by(const sw_local *l, sw_ir_span name, const char *op) {
  return sw_ir_len(name) && sw_ir_ends(l->t, name, op);
}

const char *sw_local_combiner(const sw_local *l, uint32_t value) {
  static const char *const kOps[] = {".add", ".maximum", ".minimum", ".multiply", ".and", ".or", ".xor"};
  const uint32_t maker = value == SW_IR_NONE ? SW_IR_NONE : l->w->values.maker[value];
  if (maker == SW_IR_NONE || !(sw_ir_ends(l->t, l->t->ops.at[maker].name, ".reduce") ||
                               sw_ir_ends(l->t, l->t->ops.at[maker].name, ".scatter")))
    return "add";
  const sw_ir_span name = combiner_of(l, &l->t->ops.at[maker]);
  for (size_t i = 0; i < sizeof kOps / sizeof *kOps; i++) {
    if (combines_by(l, name, kOps[i])) return kOps[i] + 1;
  }
  return NULL;
}

/* What the parts begin with is combined as often as there are parts: it changes nothing, or not once more. */
static bool begins_neutrally(const sw_local *l, sw_ir_span name, uint32_t initial) {
  const uint32_t maker = l->w->values.maker[initial];
  double begins;
  bool splat;
  if (combines_by(l, name, ".maximum") || combines_by(l, name, ".minimum") || combines_by(l, name, ".and") ||
      combines_by(l, name, ".or"))
    return true;
  if (maker == SW_IR_NONE || !sw_ir_ends(l->t, l->t->ops.at[maker].name, ".constant")) return false;
  const sw_ir_span literal = sw_ir_inside(l->t, sw_local_literal(l, maker, &splat));
  if (sw_ir_is(l->t, literal, "false")) return true;
  return sw_ir_read_float(l->t, literal, &begins) && begins == (combines_by(l, name, ".multiply") ? 1 : 0);
}

/* Of a dimension that is cut a device reduces its part; what it gets is combined with what the others get. */
static sw_rc reduce(sw_local *l, uint32_t op, bool *kept) {
  const sw_ir_op *o = &l->t->ops.at[op];
  const uint32_t x = operand(l, op, 0);
  sw_ir_ints dims = {0};
  *kept = true;
  SW_TRY(sw_ir_read_ints(l->t, sw_ir_attr(l->t, o, "dimensions", "dimensions"), &dims, l->d));
  bool cut = false;
  for (size_t i = 0; i < dims.n; i++) {
    int n = 0;
    if (dims.at[i] >= 0 && dims.at[i] < SW_MAX_RANK) (void)sw_local_axes(l, x, (int)dims.at[i], &n);
    cut = cut || n;
  }
  sw_array_free(&dims);
  if (!cut) return SW_OK;
  if (o->n_uses != 2 || !sw_local_combiner(l, result(l, op, 0)))
    return SW_LOCAL_FAIL(l, op,
                         "'stablehlo.reduce' of a dimension that is cut by a region of its own; expected add, "
                         "multiply, maximum, minimum, and, or or xor");
  if (!begins_neutrally(l, combiner_of(l, o), operand(l, op, 1)))
    return SW_LOCAL_FAIL(l, op,
                         "'stablehlo.reduce' of a dimension that is cut begins with a value of its own; expected "
                         "a constant that is neutral");
  return SW_OK;
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

/* What a function gets and gives is cut as in the function. */
static sw_rc call(sw_local *l, uint32_t op, bool *kept) {
  const sw_ir_op *o = &l->t->ops.at[op];
  const sw_ir_span symbol = o->generic ? sw_ir_unquoted(l->t, sw_ir_entry(l->t, o->props, "callee")) : o->symbol;
  const uint32_t f = sw_ir_function_named(l->t, l->w->names, symbol);
  const uint32_t block = f == SW_IR_NONE ? f : sw_ir_block_at(l->t, &l->t->ops.at[f], 0);
  *kept = true;
  if (block == SW_IR_NONE)
    return any_cut(l, op) ? SW_LOCAL_FAIL(l, op, "a function without a body is called with parts") : SW_OK;
  const sw_ir_block *b = &l->t->blocks.at[block];
  uint32_t ret = b->first_op;
  while (ret != SW_IR_NONE && l->t->ops.at[ret].next != SW_IR_NONE) ret = l->t->ops.at[ret].next;
  for (uint32_t i = 0; i < o->n_uses && i < b->n_args; i++) {
    if (!sw_local_same_cut(l, operand(l, op, i), l->w->values.of_block[block] + i))
      return SW_LOCAL_FAIL(l, op, "argument %u is cut in another way in the function; expected a reshard of it", i);
  }
  for (uint32_t i = 0; ret != SW_IR_NONE && i < l->t->ops.at[ret].n_uses && i < sw_ir_result_count(l->t, o); i++) {
    if (result(l, op, i) != SW_IR_NONE && !sw_local_same_cut(l, result(l, op, i), operand(l, ret, i)))
      return SW_LOCAL_FAIL(l, op, "result %u is cut in another way in the function; expected a reshard there", i);
  }
  return SW_OK;
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

typedef struct row {
  const char *name;                                       /* behind the dialect */
  sw_rc (*convert)(sw_local *l, uint32_t op, bool *kept); /* NULL: refused when anything is cut */
  const char *pass;
} row;

static const row kRows[] = {
    {".constant", constant, NULL},
    {".iota", iota, NULL},
    {".slice", slice, NULL},
    {".dynamic_slice", dynamic_slice, NULL},
    {".dynamic_update_slice", dynamic_update_slice, NULL},
    {".rng_bit_generator", rng_bit_generator, NULL},
    {".convolution", convolution, NULL},
    {".reduce", reduce, NULL},
    {".gather", sw_local_gather, NULL},
    {".scatter", sw_local_scatter, NULL},
    {".rng", NULL, NULL},
    {".get_dimension_size", NULL, NULL},
    {".set_dimension_size", NULL, NULL},
    {".real_dynamic_slice", NULL, NULL},
    {".composite", NULL, NULL},
    {".tuple", NULL, NULL},
    {".get_tuple_element", NULL, NULL},
    {"sdy.sharding_constraint", NULL, "sharding-constraint-to-reshard and reshard-to-collectives"},
    {"sdy.reshard", NULL, "reshard-to-collectives"},
    {"sdy.data_flow_edge", NULL, "sink-data-flow-edges"},
    {"sdy.func_data_flow_edge", NULL, "sink-func-data-flow-edges"},
    {"sdy.sharding_group", NULL, "remove-sharding-groups"},
    {"sdy.propagation_barrier", NULL, "drop-sharding-and-mesh"},
};

static const row *row_of(const sw_local *l, sw_ir_span name) {
  for (size_t i = 0; i < sizeof kRows / sizeof *kRows; i++) {
    const bool whole = kRows[i].name[0] != '.';
    if (whole ? sw_ir_is(l->t, name, kRows[i].name) : sw_ir_ends(l->t, name, kRows[i].name)) return &kRows[i];
  }
  return NULL;
}

/* Ops that pass values on without a rule. */
static bool passes_on(const sw_local *l, sw_ir_span name) {
  return sw_ir_ends(l->t, name, "return") || sw_ir_ends(l->t, name, ".while") || sw_ir_ends(l->t, name, ".case") ||
         sw_ir_ends(l->t, name, ".if") || sw_ir_ends(l->t, name, ".optimization_barrier") ||
         sw_ir_is(l->t, name, "sdy.named_computation") || sw_ir_ends(l->t, name, ".constant") ||
         sw_ir_ends(l->t, name, ".iota");
}

sw_rc sw_local_refuse(sw_local *l) {
  for (uint32_t op = 0; op < l->t->ops.n; op++) {
    const sw_ir_span name = l->t->ops.at[op].name;
    const row *r = sw_ir_starts(l->t, name, "sdy.") ? row_of(l, name) : NULL;
    if (r && r->pass)
      return SW_LOCAL_FAIL(l, op, "'%.*s' has no form on one device; expected %s to have run", SW_IR_TEXT(l->t, name),
                           r->pass);
  }
  return SW_OK;
}

sw_rc sw_local_op(sw_local *l, uint32_t op, bool *kept) {
  const sw_ir_span name = l->t->ops.at[op].name;
  const row *r = row_of(l, name);
  *kept = true;
  if (sw_ir_is_among(l->t, name, "call func.call")) return call(l, op, kept);
  if (r && r->convert && sw_ir_is(l->t, name, "sdy.constant")) return r->convert(l, op, kept);
  if (!any_cut(l, op)) return SW_OK;
  if ((r && !r->convert) || !(l->has_rule[op] || passes_on(l, name)) || !sw_local_types_known(l, op))
    return SW_LOCAL_FAIL(l, op, "'%.*s' is of values that are cut, and it is not known how it is done in parts",
                         SW_IR_TEXT(l->t, name));
  return r ? r->convert(l, op, kept) : SW_OK;
}
