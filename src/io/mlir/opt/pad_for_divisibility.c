/* Dimensions that their axes do not divide become as long as the next multiple; what is behind the end may be anything:
 *
 *   %0 = sdy.all_slice [{"x"}] %a out_sharding=<@mesh, [{"x"}]> : tensor<5xf32>     x=2
 *
 *   %1 = stablehlo.pad %a, %zero, low = [0], high = [1], interior = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<6xf32>
 *   %0 = sdy.all_slice [{"x"}] %1 out_sharding=<@mesh, [{"x"}]> : tensor<6xf32>
 *
 * That is put on before the collective by which a dimension begins to be cut, comes off behind the one that makes it
 * whole again, and is masked where an op would reduce over it. What a function takes and gives stays as it is.
 */
#include <string.h>

#include "base/checked.h"
#include "io/mlir/opt/local.h"

typedef struct padder {
  sw_local *l;
  const sw_flow_step **rule_of; /* by op: its step, if that has a rule; NULL: none */
} padder;

static uint32_t operand(const sw_local *l, uint32_t op, uint32_t i) {
  return sw_ir_operand_value(&l->w->values, &l->t->ops.at[op], i);
}

/* --- sizes -------------------------------------------------------------------------------------------------------- */

static int64_t padded_size(const sw_open_sharding *s, int k, int64_t size) {
  int n = 0;
  const sw_axis_ref *axes = s && s->mesh >= 0 ? sw_sharding_dim(&s->cut, k, &n) : NULL;
  const int64_t parts = n ? sw_axis_refs_size(axes, n) : 1;
  return sw_ceil_div(size, parts) * parts;
}

/* Its type afterwards; false: it stays. */
static bool padded_type(const sw_local *l, uint32_t value, sw_tensor_text *out) {
  const sw_open_sharding *s = sw_local_sharding(l, value);
  bool padded = false;
  *out = (sw_tensor_text){.rank = -1};
  if (value == SW_IR_NONE) return false;
  *out = sw_local_whole(l, value);
  for (int k = 0; s && out->rank == s->cut.rank && k < out->rank; k++) {
    const int64_t size = padded_size(s, k, out->dims[k]);
    padded = padded || size != out->dims[k];
    out->dims[k] = size;
  }
  return padded;
}

static bool is_padded(const sw_local *l, uint32_t value) {
  sw_tensor_text type;
  return padded_type(l, value, &type);
}

static bool any_padded(const sw_local *l, uint32_t op) {
  const sw_ir_op *o = &l->t->ops.at[op];
  const uint32_t n = sw_ir_result_count(l->t, o);
  bool padded = false;
  for (uint32_t i = 0; i < o->n_uses && !padded; i++) padded = is_padded(l, operand(l, op, i));
  for (uint32_t i = 0; i < n && !padded; i++) padded = is_padded(l, sw_ir_result_value(&l->w->values, l->t, o, i));
  return padded;
}

static int64_t tensor_size(const sw_local *l, int32_t tensor, int k, int64_t *padded) {
  const int64_t size = l->flow.type.at[tensor].dims[k];
  *padded = padded_size(&l->sharding[tensor], k, size);
  return size;
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

static const char *begin(sw_local *l, const char *op) {
  const char *name = sw_local_begin(l, NULL);
  sw_text_printf(&l->lines, "stablehlo.%s", op);
  return name;
}

/* ` {sdy.sharding = ...}` of a value, and without what is unreduced where it is not made of the value. */
static sw_rc put_sharding(sw_local *l, uint32_t value, bool unreduced) {
  const sw_open_sharding *of = sw_local_sharding(l, value);
  if (!of) return SW_OK;
  sw_open_sharding s = *of;
  if (!unreduced) s.cut.n_partial = 0;
  sw_text_puts(&l->lines, " {sdy.sharding = #sdy.sharding_per_value<[");
  SW_TRY(sw_open_sharding_print(&l->flow.sdy, &s, &l->lines));
  sw_text_puts(&l->lines, "]>}");
  return SW_OK;
}

static sw_tensor_text as_element(const sw_tensor_text *type, const char *element) {
  sw_tensor_text out = *type;
  out.element = element, out.n_element = (int)strlen(element);
  return out;
}

/* `tensor<f32>` of `tensor<4xf32>`. */
static sw_tensor_text scalar_of(const sw_tensor_text *type) {
  sw_tensor_text out = *type;
  out.rank = 0;
  return out;
}

static const char *zero_of(const sw_tensor_text *type) {
  static const struct {
    const char *begin, *zero;
  } kZeros[] = {{"f", "0.0"}, {"bf", "0.0"}, {"i1", "false"}, {"i", "0"}, {"ui", "0"}, {"complex", "(0.0, 0.0)"}};
  for (size_t i = 0; i < sizeof kZeros / sizeof *kZeros; i++) {
    const char *begin = kZeros[i].begin;
    if (strcmp(begin, "i1") == 0 && type->n_element != 2) continue;
    if (strncmp(type->element, begin, strlen(begin)) == 0) return kZeros[i].zero;
  }
  return NULL;
}

/* A scalar 0 of the elements. */
static sw_rc put_zero(sw_local *l, uint32_t op, const sw_tensor_text *type, const char **name) {
  const char *zero = zero_of(type);
  const sw_tensor_text scalar = scalar_of(type);
  if (!zero)
    return SW_LOCAL_FAIL(l, op, "elements of %.*s cannot be padded; expected floats, integers, bools or complex",
                         type->n_element, type->element);
  *name = begin(l, "constant");
  sw_text_printf(&l->lines, " dense<%s> : ", zero);
  sw_local_put_type(l, &scalar);
  sw_local_end(l);
  return SW_OK;
}

/* %x with zeros behind it. Sharded as `value` (SW_IR_NONE: not at all). */
static sw_rc put_pad(sw_local *l, uint32_t op, const char *x, uint32_t value, const sw_tensor_text *from,
                     const sw_tensor_text *to, const char **name) {
  const sw_tensor_text scalar = scalar_of(from);
  const char *zero;
  SW_TRY(put_zero(l, op, from, &zero));
  *name = begin(l, "pad");
  sw_text_printf(&l->lines, " %s, %s, low = [", x, zero);
  for (int k = 0; k < to->rank; k++) sw_text_puts(&l->lines, k ? ", 0" : "0");
  sw_text_puts(&l->lines, "], high = [");
  for (int k = 0; k < to->rank; k++)
    sw_text_printf(&l->lines, "%s%lld", k ? ", " : "", (long long)(to->dims[k] - from->dims[k]));
  sw_text_puts(&l->lines, "], interior = [");
  for (int k = 0; k < to->rank; k++) sw_text_puts(&l->lines, k ? ", 0" : "0");
  sw_text_puts(&l->lines, "]");
  SW_TRY(put_sharding(l, value, true));
  sw_text_puts(&l->lines, " : (");
  sw_local_put_type(l, from);
  sw_text_puts(&l->lines, ", ");
  sw_local_put_type(l, &scalar);
  sw_text_puts(&l->lines, ") -> ");
  sw_local_put_type(l, to);
  sw_local_end(l);
  return SW_OK;
}

/* The beginning of %x. Sharded as put_pad says. */
static sw_rc put_slice(sw_local *l, const char *x, uint32_t value, const sw_tensor_text *from, const sw_tensor_text *to,
                       const char **name) {
  *name = begin(l, "slice");
  sw_text_printf(&l->lines, " %s [", x);
  for (int k = 0; k < to->rank; k++) sw_text_printf(&l->lines, "%s0:%lld", k ? ", " : "", (long long)to->dims[k]);
  sw_text_puts(&l->lines, "]");
  SW_TRY(put_sharding(l, value, true));
  sw_text_puts(&l->lines, " : (");
  sw_local_put_type(l, from);
  sw_text_puts(&l->lines, ") -> ");
  sw_local_put_type(l, to);
  sw_local_end(l);
  return *name ? SW_OK : SW_E_RESOURCE;
}

/* `sdy.OP [{"x"}, {}] %x out_sharding=... : type`, over all axes that cut `value`. */
static sw_rc put_over_all(sw_local *l, const char *op, const char *x, uint32_t value, const sw_open_sharding *out,
                          const sw_tensor_text *type) {
  sw_text_printf(&l->lines, "sdy.%s [", op);
  for (int k = 0; k < type->rank; k++) {
    int n;
    const sw_axis_ref *axes = sw_local_axes(l, value, k, &n);
    sw_text_puts(&l->lines, k ? ", {" : "{");
    sw_sdy_axes_print(sw_local_mesh(l, out), axes, n, &l->lines);
    sw_text_puts(&l->lines, "}");
  }
  sw_text_printf(&l->lines, "] %s out_sharding=", x);
  SW_TRY(sw_open_sharding_print(&l->flow.sdy, out, &l->lines));
  sw_text_puts(&l->lines, " : ");
  sw_local_put_type(l, type);
  sw_local_end(l);
  return SW_OK;
}

/* --- collectives and constants: where padding comes and goes ------------------------------------------------------ */

static sw_rc retype_all(sw_local *l, uint32_t op, const sw_tensor_text *type) {
  sw_local_types at = sw_local_types_of(l, op);
  sw_ir_span span;
  uint32_t value;
  while (sw_local_next_type(l, op, &at, &span, &value)) SW_TRY(sw_local_set_type(l, span, type));
  return SW_OK;
}

static bool same_dims(const sw_tensor_text *a, const sw_tensor_text *b) {
  return a->rank == b->rank && memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0;
}

/* Where a dimension stays cut and is padded otherwise, its elements go to other devices: over the whole. */
static sw_rc pad_over_whole(sw_local *l, uint32_t op, uint32_t x, uint32_t y) {
  const sw_open_sharding *s = sw_local_sharding(l, x);
  const sw_ir_span name = l->t->ops.at[op].name;
  const sw_tensor_text whole = sw_local_whole(l, x);
  sw_tensor_text from, to;
  const char *sliced, *padded;
  if (!sw_ir_is_among(l->t, name, "sdy.all_slice sdy.all_gather sdy.all_to_all sdy.collective_permute") ||
      s->cut.n_partial || sw_local_sharding(l, y)->cut.n_partial)
    return SW_LOCAL_FAIL(l, op,
                         "'%.*s' reduces, or is of unreduced values, and a dimension that is cut before and behind it "
                         "would be padded otherwise; expected it to be whole at one end",
                         SW_IR_TEXT(l->t, name));
  (void)padded_type(l, x, &from);
  (void)padded_type(l, y, &to);
  const sw_open_sharding none = {.mesh = s->mesh, .cut = sw_sharding_replicated(s->cut.rank)};
  const char *gathered = sw_local_begin(l, NULL);
  SW_TRY(put_over_all(l, "all_gather", sw_opt_text_of_uses(l->w, x), x, &none, &from));
  SW_TRY(put_slice(l, gathered, SW_IR_NONE, &from, &whole, &sliced));
  SW_TRY(put_pad(l, op, sliced, SW_IR_NONE, &whole, &to, &padded));
  (void)sw_local_begin(l, sw_opt_value_text(l->w, y));
  SW_TRY(put_over_all(l, "all_slice", padded, y, sw_local_sharding(l, y), &to));
  return sw_local_replace(l, op);
}

/* A dimension that is whole before it is padded there, one that is whole behind it is cut off there. */
static sw_rc pad_collective(sw_local *l, uint32_t op) {
  const uint32_t x = operand(l, op, 0), y = sw_ir_result_value(&l->w->values, l->t, &l->t->ops.at[op], 0);
  sw_tensor_text from, to;
  const char *name;
  if (y == SW_IR_NONE) return SW_LOCAL_FAIL(l, op, "a collective without a result");
  (void)padded_type(l, x, &from);
  (void)padded_type(l, y, &to);
  if (from.rank < 0 || from.rank != to.rank) return SW_LOCAL_FAIL(l, op, "a collective of values of other ranks");
  sw_tensor_text between = from;
  for (int k = 0; k < from.rank; k++) {
    int n_before, n_behind;
    (void)sw_local_axes(l, x, k, &n_before);
    (void)sw_local_axes(l, y, k, &n_behind);
    if (!n_before) between.dims[k] = to.dims[k];
    if (n_before && n_behind && from.dims[k] != to.dims[k]) return pad_over_whole(l, op, x, y);
  }
  if (!same_dims(&from, &between)) {
    SW_TRY(put_pad(l, op, sw_opt_text_of_uses(l->w, x), x, &from, &between, &name));
    SW_TRY(sw_local_put_before(l, op));
    SW_TRY(sw_opt_replace_use(l->w, l->t->ops.at[op].first_use, name));
  }
  SW_TRY(retype_all(l, op, &between));
  if (same_dims(&between, &to)) return SW_OK;
  SW_TRY(sw_local_begin_lines(l, op));
  SW_TRY(put_slice(l, sw_opt_text_of_uses(l->w, y), y, &between, &to, &name));
  SW_TRY(sw_local_put_behind(l, op));
  sw_opt_replace(l->w, y, name);
  return SW_OK;
}

/* Elements that are written out are padded whole and cut then. */
static sw_rc pad_constant(sw_local *l, uint32_t op, sw_ir_span literal) {
  const uint32_t value = sw_ir_result_value(&l->w->values, l->t, &l->t->ops.at[op], 0);
  const sw_tensor_text whole = sw_local_whole(l, value);
  sw_tensor_text type;
  const char *padded;
  (void)padded_type(l, value, &type);
  const char *name = begin(l, "constant");
  sw_text_printf(&l->lines, " %.*s : ", SW_IR_TEXT(l->t, literal));
  sw_local_put_type(l, &whole);
  sw_local_end(l);
  SW_TRY(put_pad(l, op, name, SW_IR_NONE, &whole, &type, &padded));
  (void)sw_local_begin(l, sw_opt_value_text(l->w, value));
  SW_TRY(put_over_all(l, "all_slice", padded, value, sw_local_sharding(l, value), &type));
  return sw_local_replace(l, op);
}

/* --- ops with rules ----------------------------------------------------------------------------------------------- */

/* These pass on what a dimension has to the same places of it, where their rules say so, and no size of it stands in
 * their attributes; so do elementwise ops. */
static const char kByTheirRules[] =
    "stablehlo.transpose stablehlo.reshape stablehlo.broadcast_in_dim stablehlo.broadcast stablehlo.convert "
    "stablehlo.compare stablehlo.select stablehlo.concatenate stablehlo.reverse stablehlo.pad stablehlo.sort "
    "stablehlo.reduce_window stablehlo.dynamic_update_slice stablehlo.cholesky stablehlo.triangular_solve "
    "stablehlo.dot stablehlo.dot_general stablehlo.reduce";
/* All that they take and give is padded alike, or from the start. */
static const char kByTheirTypes[] =
    "stablehlo.while stablehlo.case stablehlo.if stablehlo.optimization_barrier "
    "stablehlo.return stablehlo.iota";

static sw_rc not_known(const sw_local *l, uint32_t op) {
  const sw_ir_span name = l->t->ops.at[op].name;
  return SW_LOCAL_FAIL(l, op, "'%.*s' is of values that are to be padded, and it is not known how it is done then%s",
                       SW_IR_TEXT(l->t, name),
                       sw_ir_is(l->t, name, "sdy.reshard") ? "; expected reshard-to-collectives to have run" : "");
}

/* Of what a reduction is masked with it gets the same. */
static bool may_mask(const sw_local *l, uint32_t op) {
  const sw_ir_op *o = &l->t->ops.at[op];
  return sw_ir_is_among(l->t, o->name, "stablehlo.dot stablehlo.dot_general") ||
         (sw_ir_is(l->t, o->name, "stablehlo.reduce") && o->n_uses == 2);
}

/* A dimension that is padded is one factor, of its size, which all tensors have padded alike. */
static sw_rc check_rule(const sw_local *l, const sw_flow_step *s) {
  const sw_flow_rule *rule = s->rule;
  const int n = s->n_operands + s->n_results;
  int64_t want[SW_MOST_FACTORS] = {0}, padded;
  for (int i = 0; i < n; i++) {
    for (int k = 0; s->tensors[i] >= 0 && k < l->flow.type.at[s->tensors[i]].rank; k++) {
      const sw_flow_dim *dim = &rule->dim[i * SW_MAX_RANK + k];
      const int64_t size = tensor_size(l, s->tensors[i], k, &padded);
      const int f = dim->at[0];
      if (size == padded) continue;
      if (dim->n != 1 || rule->size[f] != size || rule->resized[f]) return not_known(l, s->source);
      if (rule->kind[f] != SW_FACTOR_PASS && !(rule->kind[f] == SW_FACTOR_REDUCTION && may_mask(l, s->source)))
        return not_known(l, s->source);
      want[f] = padded;
    }
  }
  for (int i = 0; i < n; i++) {
    for (int k = 0; s->tensors[i] >= 0 && k < l->flow.type.at[s->tensors[i]].rank; k++) {
      const sw_flow_dim *dim = &rule->dim[i * SW_MAX_RANK + k];
      (void)tensor_size(l, s->tensors[i], k, &padded);
      for (int a = 0; a < dim->n; a++) {
        if (!want[dim->at[a]] || (dim->n == 1 && want[dim->at[a]] == padded)) continue;
        return SW_LOCAL_FAIL(l, s->source,
                             "values of '%.*s' would not be padded alike; expected reshards between them (passes "
                             "insert-explicit-reshards and reshard-to-collectives)",
                             SW_IR_TEXT(l->t, l->t->ops.at[s->source].name));
      }
    }
  }
  return SW_OK;
}

/* ` {...} : (operands) -> result` of an op whose result is cut as `value`; `from` ends in NULL, and may be that alone.
 */
static sw_rc put_types(sw_local *l, uint32_t value, const sw_tensor_text *const *from, const sw_tensor_text *to) {
  SW_TRY(put_sharding(l, value, false));
  sw_text_puts(&l->lines, from[0] ? " : (" : " : ");
  for (int i = 0; from[i]; i++) {
    sw_text_puts(&l->lines, i ? ", " : "");
    sw_local_put_type(l, from[i]);
  }
  sw_text_puts(&l->lines, from[0] ? ") -> " : "");
  sw_local_put_type(l, to);
  sw_local_end(l);
  return SW_OK;
}

/* `%x` where dimension k is not behind its end, else the scalar `%fill`. */
static sw_rc put_mask(sw_local *l, uint32_t value, int k, int64_t size, const char *fill, const char **x) {
  sw_tensor_text type;
  (void)padded_type(l, value, &type);
  const sw_tensor_text index = as_element(&type, "i64"), is = as_element(&type, "i1"), scalar = scalar_of(&type);
  const sw_tensor_text *const none[] = {NULL}, *const indices[] = {&index, &index, NULL},
                              *const one[] = {&scalar, NULL};
  const char *at = begin(l, "iota");
  sw_text_printf(&l->lines, " dim = %d", k);
  SW_TRY(put_types(l, value, none, &index));
  const char *end = begin(l, "constant");
  SW_TRY(put_sharding(l, value, false));
  sw_text_printf(&l->lines, " dense<%lld> : ", (long long)size);
  sw_local_put_type(l, &index);
  sw_local_end(l);
  const char *inside = begin(l, "compare");
  sw_text_printf(&l->lines, " LT, %s, %s", at, end);
  SW_TRY(put_types(l, value, indices, &is));
  const char *spread = begin(l, "broadcast_in_dim");
  sw_text_printf(&l->lines, " %s, dims = []", fill);
  SW_TRY(put_types(l, value, one, &type));
  const char *masked = begin(l, "select");
  sw_text_printf(&l->lines, " %s, %s, %s", inside, *x, spread);
  SW_TRY(put_sharding(l, value, true));
  sw_text_puts(&l->lines, " : ");
  sw_local_put_type(l, &is);
  sw_text_puts(&l->lines, ", ");
  sw_local_put_type(l, &type);
  sw_local_end(l);
  *x = masked;
  return masked ? SW_OK : SW_E_RESOURCE;
}

/* What operand i has behind the ends of dimensions that are reduced: what a reduction begins with, or 0 of products. */
static sw_rc mask_operand(sw_local *l, const sw_flow_step *s, uint32_t i) {
  const uint32_t op = s->source, value = operand(l, op, i);
  const sw_tensor_text whole = sw_local_whole(l, value);
  const bool reduces = sw_ir_is(l->t, l->t->ops.at[op].name, "stablehlo.reduce");
  const char *x = sw_opt_text_of_uses(l->w, value), *fill = NULL;
  int64_t padded;
  SW_TRY(sw_local_begin_lines(l, op));
  for (int k = 0; k < whole.rank; k++) {
    const sw_flow_dim *dim = &s->rule->dim[i * SW_MAX_RANK + (uint32_t)k];
    const int64_t size = tensor_size(l, s->tensors[i], k, &padded);
    if (size == padded || s->rule->kind[dim->at[0]] != SW_FACTOR_REDUCTION) continue;
    if (reduces) {
      const uint32_t begins = operand(l, op, 1);
      const sw_tensor_text scalar = sw_local_whole(l, begins);
      if (scalar.n_element != whole.n_element || strncmp(scalar.element, whole.element, (size_t)whole.n_element) != 0)
        return not_known(l, op);
      fill = sw_opt_text_of_uses(l->w, begins);
    } else if (!fill) {
      SW_TRY(put_zero(l, op, &whole, &fill));
    }
    SW_TRY(put_mask(l, value, k, size, fill, &x));
  }
  if (!fill) return SW_OK;
  SW_TRY(sw_local_put_before(l, op));
  return sw_opt_replace_use(l->w, l->t->ops.at[op].first_use + i, x);
}

/* --- all ops ------------------------------------------------------------------------------------------------------ */

static sw_rc set_padded(sw_local *l, sw_ir_span type, uint32_t value) {
  sw_tensor_text padded;
  return padded_type(l, value, &padded) ? sw_local_set_type(l, type, &padded) : SW_OK;
}

static sw_rc retype(sw_local *l, uint32_t op) {
  const sw_ir_op *o = &l->t->ops.at[op];
  sw_local_types at = sw_local_types_of(l, op);
  sw_ir_span type;
  uint32_t value;
  if (!sw_local_types_known(l, op)) return not_known(l, op);
  while (sw_local_next_type(l, op, &at, &type, &value)) SW_TRY(set_padded(l, type, value));
  for (uint32_t k = 0; k < sw_ir_region_count(l->t, o); k++) {
    for (uint32_t b = sw_ir_block_at(l->t, o, k); b != SW_IR_NONE; b = l->t->blocks.at[b].next) {
      for (uint32_t i = 0; i < l->t->blocks.at[b].n_args; i++) {
        const sw_ir_arg *a = &l->t->args.at[l->t->blocks.at[b].first_arg + i];
        if (sw_ir_len(a->type)) SW_TRY(set_padded(l, a->type, l->w->values.of_block[b] + i));
      }
    }
  }
  return SW_OK;
}

static sw_rc at_border(const sw_local *l, uint32_t op) {
  return SW_LOCAL_FAIL(l, op,
                       "a function takes or gives a value whose axes do not divide it; expected those to be divisible "
                       "(pass update-non-divisible-input-output-shardings)");
}

static sw_rc pad_op(padder *p, uint32_t op) {
  sw_local *l = p->l;
  const sw_ir_op *o = &l->t->ops.at[op];
  const sw_flow_step *s = p->rule_of[op];
  if (l->w->values.function_of[op] == SW_IR_NONE) return SW_OK;
  if (sw_ir_is_function(l->t, o)) {
    const uint32_t block = sw_ir_block_at(l->t, o, 0);
    for (uint32_t i = 0; block != SW_IR_NONE && i < l->t->blocks.at[block].n_args; i++) {
      if (is_padded(l, l->w->values.of_block[block] + i)) return at_border(l, op);
    }
    return SW_OK;
  }
  if (!any_padded(l, op)) return SW_OK;
  if (sw_ir_is_among(l->t, o->name, "return func.return call func.call")) return at_border(l, op);
  SW_TRY(sw_local_begin_lines(l, op));
  if (sw_local_is_collective(l, op)) return pad_collective(l, op);
  if (sw_ir_is_among(l->t, o->name, "stablehlo.constant sdy.constant")) {
    bool splat;
    const sw_ir_span literal = sw_local_literal(l, op, &splat);
    return splat ? retype(l, op) : pad_constant(l, op, literal);
  }
  if (s && (s->kind == SW_STEP_ELEMENTWISE || sw_ir_is_among(l->t, o->name, kByTheirRules))) {
    SW_TRY(check_rule(l, s));
    for (uint32_t i = 0; may_mask(l, op) && i < 2; i++) {
      if (s->tensors[i] >= 0) SW_TRY(mask_operand(l, s, i));
    }
    return retype(l, op);
  }
  return sw_ir_is_among(l->t, o->name, kByTheirTypes) ? retype(l, op) : not_known(l, op);
}

/* Values that are one (of loops, choices and results) are padded alike; those of a manual computation not at all. */
static sw_rc check_edge(const sw_local *l, const sw_flow_step *s) {
  int64_t first, other;
  for (int i = 0; i < s->n_operands + s->n_results; i++) {
    for (int k = 0; k < l->flow.type.at[s->tensors[i]].rank; k++) {
      const int64_t size = tensor_size(l, s->tensors[i], k, &other);
      if (s->n_manual && size != other)
        return SW_LOCAL_FAIL(l, s->source,
                             "a manual computation takes or gives a value whose axes do not divide it; expected "
                             "those to be divisible (pass update-non-divisible-input-output-shardings)");
      if (s->n_manual) continue;
      (void)tensor_size(l, s->tensors[0], k, &first);
      if (first != other)
        return SW_LOCAL_FAIL(l, s->source,
                             "values that are one (of a loop, a choice, or what a function returns) would not be "
                             "padded alike; expected reshards between them (passes insert-explicit-reshards and "
                             "reshard-to-collectives)");
    }
  }
  return SW_OK;
}

static sw_rc pad(sw_local *l) {
  padder p = {.l = l};
  SW_TRY(sw_local_read(l));
  SW_ARENA_NEW(p.rule_of, &l->w->arena, l->t->ops.n, l->d);
  for (int32_t i = 0; i < l->flow.flow.n_steps; i++) {
    const sw_flow_step *s = &l->flow.flow.steps[i];
    if (s->rule) p.rule_of[s->source] = s;
  }
  for (uint32_t i = 0; i < l->t->ops.n; i++) SW_TRY(pad_op(&p, i));
  for (int32_t i = 0; i < l->flow.flow.n_steps; i++) {
    if (!l->flow.flow.steps[i].rule) SW_TRY(check_edge(l, &l->flow.flow.steps[i]));
  }
  return SW_OK;
}

static sw_rc pad_for_divisibility(sw_opt_work *w) { return sw_local_pass(w, pad); }

const sw_opt_pass sw_pass_pad_for_divisibility = {
    "pad-for-divisibility", "pad dimensions that their axes do not divide", NULL, false, pad_for_divisibility};
