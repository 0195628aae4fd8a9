/* The builder of models (build.h): names with scopes, and one failure remembered.
 *
 *   swg_enter(b, "h.%d", 3); swg_unary(b, SW_OP_TANH, "act", x);      adds op "h.3.act"
 */
#include "gen/build.h"

#include <string.h>

sw_rc swg_begin(swg_builder *b, const char *name, sw_dtype t, sw_diag *d) {
  *b = (swg_builder){.diag = d, .dtype = t, .stored = t};
  return sw_graph_create(name, &b->graph, d);
}

sw_rc swg_finish(swg_builder *b, sw_graph **out) {
  if (!b->rc) b->rc = sw_graph_seal(b->graph, b->diag);
  sw_text_free(&b->scope);
  sw_text_free(&b->name);
  sw_text_free(&b->of_function);
  if (b->rc) {
    sw_graph_destroy(b->graph);
    return b->rc;
  }
  *out = b->graph;
  return SW_OK;
}

void swg_fail(swg_builder *b, sw_rc rc) {
  if (!b->rc) b->rc = rc;
}

void swg_enter(swg_builder *b, const char *fmt, ...) {
  if (b->depth == SWG_SCOPES) {
    swg_fail(b, SW_BUG(b->diag, "scopes of a model nest deeper than %d", SWG_SCOPES));
    return;
  }
  b->outer[b->depth++] = b->scope.n;
  char text[256];
  va_list args;
  va_start(args, fmt);
  int n = vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  if (n < 0 || (size_t)n >= sizeof text) swg_fail(b, SW_BUG(b->diag, "a name is longer than %zu", sizeof text));
  sw_text_printf(&b->scope, "%s.", text);
}

void swg_leave(swg_builder *b) {
  if (b->depth == 0) return;
  b->scope.n = b->outer[--b->depth];
  if (b->scope.at) b->scope.at[b->scope.n] = '\0';
}

void swg_leave_all(swg_builder *b, sw_text *scope) {
  *scope = b->scope;
  b->scope = (sw_text){0};
}

void swg_return(swg_builder *b, sw_text *scope) {
  sw_text_free(&b->scope);
  b->scope = *scope;
}

void swg_name_like(swg_builder *b, sw_id v, const char *behind, char *out, size_t size) {
  const char *name = b->rc || v < 0 ? "" : b->graph->values[v].name;
  const int n = snprintf(out, size, "%s%s", name, behind);
  if (n < 0 || (size_t)n >= size) swg_fail(b, SW_BUG(b->diag, "a name is longer than %zu", size));
}

/* Scope and name; NULL after a failure. Valid until the next call. */
static const char *full_name(swg_builder *b, const char *name) {
  b->name.n = 0;
  sw_text_puts(&b->name, sw_text_str(&b->scope));
  sw_text_puts(&b->name, name);
  if (b->scope.rc || b->name.rc) swg_fail(b, SW_FAIL(b->diag, SW_E_RESOURCE, SW_NOWHERE, "out of memory"));
  return b->rc ? NULL : sw_text_str(&b->name);
}

void swg_function(swg_builder *b, const char *name) {
  const char *full = name ? full_name(b, name) : NULL;
  b->of_function.n = 0;
  if (full) sw_text_puts(&b->of_function, full);
  if (b->of_function.rc) swg_fail(b, SW_FAIL(b->diag, SW_E_RESOURCE, SW_NOWHERE, "out of memory"));
  b->function = full ? sw_text_str(&b->of_function) : NULL;
}

const sw_type *swg_type(const swg_builder *b, sw_id v) {
  static const int64_t kOne[1] = {1};
  static const sw_type kAnything = {SW_F32, 1, kOne};
  return b->rc || v < 0 ? &kAnything : &b->graph->values[v].type;
}

swg_shape swg_shape_of(const swg_builder *b, sw_id v) {
  const sw_type *t = swg_type(b, v);
  swg_shape s = {.n = t->rank};
  if (t->rank) memcpy(s.at, t->dims, (size_t)t->rank * sizeof *t->dims);
  return s;
}

sw_id swg_arg(swg_builder *b, const char *name, sw_value_kind kind, sw_dtype t, swg_shape shape) {
  const char *full = full_name(b, name);
  sw_id id = -1;
  if (full) b->rc = sw_graph_add_arg(b->graph, full, t, shape.n, shape.at, kind, SW_NOWHERE, &id, b->diag);
  return b->rc ? -1 : id;
}

sw_id swg_param(swg_builder *b, const char *name, swg_shape shape) {
  sw_id stored = swg_arg(b, name, SW_VALUE_PARAMETER, b->stored, shape);
  swg_enter(b, "%s", name);
  sw_id used = swg_convert(b, "used", stored, b->dtype);
  swg_leave(b);
  return used;
}

sw_id swg_tokens(swg_builder *b, const char *name, swg_shape shape) {
  return swg_arg(b, name, SW_VALUE_INPUT, SW_I32, shape);
}

void swg_output(swg_builder *b, const char *name, sw_id v, sw_id alias) {
  if (!b->rc) b->rc = sw_graph_add_output(b->graph, name, v, alias, SW_NOWHERE, b->diag);
}

sw_id swg_op(swg_builder *b, sw_opcode c, const char *name, int n, const sw_id *operands, int n_attrs,
             const sw_attr *attrs) {
  const char *full = full_name(b, name);
  if (!full) return -1;
  sw_op_spec spec = {.code = c,
                     .name = full,
                     .n_operands = n,
                     .operands = operands,
                     .n_attrs = n_attrs,
                     .attrs = attrs,
                     .span = SW_NOWHERE,
                     .function = b->function};
  sw_id results[SW_MAX_RESULTS];
  b->rc = sw_graph_add_op(b->graph, &spec, results, b->diag);
  return b->rc ? -1 : results[0];
}

sw_id swg_unary(swg_builder *b, sw_opcode c, const char *name, sw_id x) {
  return swg_op(b, c, name, SWG_IDS(x), SWG_NONE);
}

sw_id swg_binary(swg_builder *b, sw_opcode c, const char *name, sw_id x, sw_id y) {
  return swg_op(b, c, name, SWG_IDS(x, y), SWG_NONE);
}

sw_id swg_compare(swg_builder *b, const char *direction, const char *name, sw_id x, sw_id y) {
  return swg_op(b, SW_OP_COMPARE, name, SWG_IDS(x, y), SWG_ATTRS(SWG_TEXT(DIRECTION, direction)));
}

sw_id swg_select(swg_builder *b, const char *name, sw_id pred, sw_id x, sw_id y) {
  return swg_op(b, SW_OP_SELECT, name, SWG_IDS(pred, x, y), SWG_NONE);
}

sw_id swg_convert(swg_builder *b, const char *name, sw_id x, sw_dtype t) {
  if (swg_type(b, x)->dtype == t) return x;
  return swg_op(b, SW_OP_CONVERT, name, SWG_IDS(x), SWG_ATTRS(SWG_INT(DTYPE, t)));
}

sw_id swg_einsum(swg_builder *b, const char *name, const char *equation, int n, const sw_id *operands) {
  return swg_op(b, SW_OP_EINSUM, name, n, operands, SWG_ATTRS(SWG_TEXT(EQUATION, equation)));
}

sw_id swg_splat(swg_builder *b, const char *name, double v, sw_dtype t, swg_shape shape) {
  union {
    char bytes[16];
    double aligned;
  } element;
  sw_element_store(t, v, element.bytes);
  const sw_attr value = {.key = SW_ATTR_VALUE, .u.data = {element.bytes, true}};
  return swg_op(b, SW_OP_CONSTANT, name, SWG_NONE,
                SWG_ATTRS(value, SWG_INTS_N(SHAPE, shape.at, shape.n), SWG_INT(DTYPE, t)));
}

sw_id swg_splat_like(swg_builder *b, const char *name, double v, sw_id like) {
  return swg_splat(b, name, v, swg_type(b, like)->dtype, swg_shape_of(b, like));
}

sw_id swg_iota(swg_builder *b, const char *name, sw_dtype t, swg_shape shape, int dim) {
  return swg_op(b, SW_OP_IOTA, name, SWG_NONE,
                SWG_ATTRS(SWG_INTS_N(SHAPE, shape.at, shape.n), SWG_INT(DTYPE, t), SWG_INT(DIM, dim)));
}

/* x op splat(v), the splat called "name.by". */
static sw_id op_with_number(swg_builder *b, sw_opcode c, const char *name, sw_id x, double v) {
  swg_enter(b, "%s", name);
  sw_id number = swg_splat_like(b, "by", v, x);
  swg_leave(b);
  return swg_binary(b, c, name, x, number);
}

sw_id swg_scale(swg_builder *b, const char *name, sw_id x, double by) {
  return op_with_number(b, SW_OP_MULTIPLY, name, x, by);
}

sw_id swg_shift(swg_builder *b, const char *name, sw_id x, double by) {
  return op_with_number(b, SW_OP_ADD, name, x, by);
}

static bool shapes_equal(const swg_shape *a, const swg_shape *b) {
  return a->n == b->n && memcmp(a->at, b->at, (size_t)a->n * sizeof *a->at) == 0;
}

sw_id swg_broadcast(swg_builder *b, const char *name, sw_id x, swg_shape shape, swg_shape dims) {
  swg_shape have = swg_shape_of(b, x);
  if (shapes_equal(&have, &shape)) return x;
  return swg_op(b, SW_OP_BROADCAST, name, SWG_IDS(x),
                SWG_ATTRS(SWG_INTS_N(SHAPE, shape.at, shape.n), SWG_INTS_N(DIMS, dims.at, dims.n)));
}

sw_id swg_trailing(swg_builder *b, const char *name, sw_id x, sw_id like) {
  swg_shape shape = swg_shape_of(b, like), dims = {.n = swg_type(b, x)->rank};
  for (int i = 0; i < dims.n; i++) dims.at[i] = shape.n - dims.n + i;
  return swg_broadcast(b, name, x, shape, dims);
}

sw_id swg_reduce(swg_builder *b, const char *name, const char *kind, sw_id x, swg_shape dims) {
  return swg_op(b, SW_OP_REDUCE, name, SWG_IDS(x), SWG_ATTRS(SWG_TEXT(KIND, kind), SWG_INTS_N(DIMS, dims.at, dims.n)));
}

sw_id swg_reshape(swg_builder *b, const char *name, sw_id x, swg_shape shape) {
  swg_shape have = swg_shape_of(b, x);
  if (shapes_equal(&have, &shape)) return x;
  return swg_op(b, SW_OP_RESHAPE, name, SWG_IDS(x), SWG_ATTRS(SWG_INTS_N(SHAPE, shape.at, shape.n)));
}

sw_id swg_slice(swg_builder *b, const char *name, sw_id x, int dim, int64_t start, int64_t limit) {
  swg_shape low = {.n = swg_type(b, x)->rank}, high = swg_shape_of(b, x);
  if (dim < high.n) {
    low.at[dim] = start;
    high.at[dim] = limit;
  }
  return swg_op(b, SW_OP_SLICE, name, SWG_IDS(x),
                SWG_ATTRS(SWG_INTS_N(START, low.at, low.n), SWG_INTS_N(LIMIT, high.at, high.n)));
}

sw_id swg_concatenate(swg_builder *b, const char *name, int dim, int n, const sw_id *operands) {
  return swg_op(b, SW_OP_CONCATENATE, name, n, operands, SWG_ATTRS(SWG_INT(DIM, dim)));
}
