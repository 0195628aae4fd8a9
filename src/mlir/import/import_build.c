/* Adding ops to the graph: attributes, names, types that must agree with the text. */
#include <ctype.h>
#include <string.h>

#include "mlir/import/import_passes.h"
#include "base/checked.h"
#include "mlir/import/dialect.h"
#include "mlir/import/import_emit.h"
#include "mlir/import/tuple.h"

/* --- attributes -------------------------------------------------------------------------------------------------- */

static sw_attr *next_attr(sw_im_attrs *a, sw_attr_key k) {
  sw_attr *at = &a->at[a->n < SW_IM_ATTRS ? a->n++ : SW_IM_ATTRS - 1];
  *at = (sw_attr){.key = k};
  return at;
}

void sw_im_int(sw_im_attrs *a, sw_attr_key k, int64_t v) { next_attr(a, k)->u.i = v; }
void sw_im_text(sw_im_attrs *a, sw_attr_key k, const char *v) { next_attr(a, k)->u.text = v; }

void sw_im_numbers(sw_im_attrs *a, sw_attr_key k, const int64_t *v, int n) {
  if (n < 0) return;
  sw_attr *at = next_attr(a, k);
  at->u.ints.at = v;
  at->u.ints.n = n;
}

void sw_im_shape(sw_im_attrs *a, const sw_type *t) { sw_im_numbers(a, SW_ATTR_SHAPE, t->dims, t->rank); }

void sw_im_value(sw_im_attrs *a, const sw_type *t, const void *bytes, bool splat) {
  sw_im_shape(a, t);
  sw_im_int(a, SW_ATTR_DTYPE, t->dtype);
  next_attr(a, SW_ATTR_VALUE)->u.data = (sw_data){.bytes = bytes, .splat = splat};
}

sw_rc sw_im_list(sw_importer *m, sw_ir_span value, const int64_t **out, int *n) {
  *n = -1;
  if (!sw_ir_present(value)) return SW_OK;
  sw_ir_ints ints = {0};
  sw_rc rc = sw_ir_read_ints(m->t, value, &ints, m->d);
  *out = rc ? NULL : sw_arena_copy(&m->scratch, ints.at, ints.n, sizeof *ints.at, m->d);
  *n = (int)ints.n;
  sw_array_free(&ints);
  return rc ? rc : *out ? SW_OK : SW_E_RESOURCE;
}

sw_rc sw_im_pairs(sw_importer *m, uint32_t op, const char *name, sw_ir_span value, const int64_t **out, int *n) {
  SW_TRY(sw_im_list(m, value, out, n));
  bool fits = true, typed = false;
  for (uint32_t at = value.at; at + 7 < value.end && !typed; at++) {
    if (memcmp(m->t->s + at, "tensor<", 7) != 0) continue;
    sw_type type;
    SW_TRY(sw_ir_read_type(m->t, (sw_ir_span){at, value.end}, &m->scratch, &type, m->d));
    typed = true;
    fits = type.rank == 2 && type.dims[1] == 2;
  }
  uint32_t cursor = 0, inner;
  sw_ir_span row, number;
  while (fits && !typed && *n > 0 && sw_ir_next_item(m->t, value, &cursor, &row)) {
    int numbers = 0;
    inner = 0;
    while (sw_ir_next_item(m->t, row, &inner, &number)) numbers++;
    fits = numbers == 2;
  }
  if (fits) return SW_OK;
  return SW_IM_FAIL(m, op, "'%s' has no two numbers for each dim; expected pairs of a low and a high one", name);
}

sw_rc sw_im_ints(sw_importer *m, sw_im_attrs *a, sw_attr_key k, sw_ir_span value) {
  const int64_t *v = NULL;
  int n;
  SW_TRY(sw_im_list(m, value, &v, &n));
  sw_im_numbers(a, k, v, n);
  return SW_OK;
}

sw_rc sw_im_ints_or_none(sw_importer *m, sw_im_attrs *a, sw_attr_key k, sw_ir_span value) {
  if (sw_ir_present(value)) return sw_im_ints(m, a, k, value);
  sw_im_numbers(a, k, NULL, 0);
  return SW_OK;
}

sw_rc sw_im_whole(sw_importer *m, sw_ir_span value, const char *what, const char *name, int64_t *out) {
  if (!sw_ir_present(value) || sw_ir_read_int(m->t, value, out)) return SW_OK;
  return SW_IM_FAIL_AT(m, value.at, "expected %s as '%s'", what, name);
}

const char *sw_im_small_word(sw_importer *m, sw_ir_span value) {
  sw_ir_span word = sw_ir_last_word(m->t, value);
  char *text = sw_arena_strndup(&m->scratch, m->t->s + word.at, sw_ir_len(word), m->d);
  for (char *c = text; c && *c; c++) *c = (char)tolower((unsigned char)*c);
  return text ? text : "";
}

const char *sw_im_string(sw_importer *m, sw_ir_span s) {
  const char *text = sw_arena_strndup(&m->scratch, m->t->s + s.at, sw_ir_len(s), m->d);
  return text ? text : "?";
}

/* --- names ------------------------------------------------------------------------------------------------------- */

sw_rc sw_im_fresh_name(sw_importer *m, const char *base, const char **out) {
  *out = base;
  int64_t *next;
  bool fresh;
  SW_TRY(sw_dict_put(&m->passes->taken, base, strlen(base), 2, &next, &fresh, m->d));
  while (!fresh) {
    int64_t copy = (*next)++;
    *out = sw_arena_printf(&m->scratch, m->d, "%s.%lld", base, (long long)copy);
    if (!*out) return SW_E_RESOURCE;
    SW_TRY(sw_dict_put(&m->passes->taken, *out, strlen(*out), 2, NULL, &fresh, m->d));
    next = sw_dict_get(&m->passes->taken, base, strlen(base));
  }
  return SW_OK;
}

/* Prefix, then the name of result `i` of the op: "5", "26.3" of %26:27, "3.mask" of a helper. */
static sw_rc value_name(sw_importer *m, uint32_t op, uint32_t i, const char *part, const char **out) {
  const sw_ir_op *o = sw_im_op(m, op);
  const char *prefix = sw_im_top(m)->instance->prefix, *base = NULL;
  bool split = m->passes->split && m->passes->split->op == op; /* names as those of an op with several results */
  uint32_t number;
  const sw_ir_result *r = sw_ir_result_at(m->t, o, split ? 0 : i, &number);
  if (r) {
    base = sw_arena_printf(&m->scratch, m->d, "%s%.*s", prefix, SW_IR_TEXT(m->t, r->name));
    if (base && (split || r->count > 1)) base = sw_arena_printf(&m->scratch, m->d, "%s.%u", base, split ? i : number);
    if (!base) return SW_E_RESOURCE;
  }
  if (!base) base = sw_arena_printf(&m->scratch, m->d, "%sline%d", prefix, sw_im_place(m, op).line);
  if (base && part) base = sw_arena_printf(&m->scratch, m->d, "%s.%s", base, part);
  return base ? sw_im_fresh_name(m, base, out) : SW_E_RESOURCE;
}

sw_rc sw_im_arg_label(sw_importer *m, uint32_t i, const char **out) {
  static const char *const kKeys[] = {"shardwright.name", "jax.arg_info", "ttir.name"};
  const sw_ir_op *f = sw_im_op(m, m->main);
  const sw_ir_block *b = &m->t->blocks.at[sw_ir_block_at(m->t, f, 0)];
  const sw_ir_arg *a = &m->t->args.at[b->first_arg + i];
  sw_ir_span attrs = sw_im_arg_attrs(m->t, f, i), name = {0, 0};
  for (size_t k = 0; k < sizeof kKeys / sizeof *kKeys && !sw_ir_len(name); k++) {
    name = sw_ir_unquoted(m->t, sw_ir_entry(m->t, attrs, kKeys[k]));
  }
  if (!sw_ir_len(name)) name = sw_im_location_name(m, a->loc);
  if (!sw_ir_len(name)) name = a->name;
  *out = sw_ir_len(name) ? sw_im_string(m, name) : sw_arena_printf(&m->scratch, m->d, "arg%u", i);
  return *out ? SW_OK : SW_E_RESOURCE;
}

sw_rc sw_im_arg_name(sw_importer *m, uint32_t i, const char **out) {
  const char *base;
  SW_TRY(sw_im_arg_label(m, i, &base));
  return sw_im_fresh_name(m, base, out);
}

/* --- ops --------------------------------------------------------------------------------------------------------- */

sw_rc sw_im_result_type(sw_importer *m, uint32_t op, int i, sw_type *out) {
  const sw_im_split *split = m->passes->split;
  sw_ir_span type = split && split->op == op ? split->types[i] : sw_ir_result_type(m->t, sw_im_op(m, op), i);
  if (!sw_ir_present(type)) return SW_IM_FAIL(m, op, "the op does not say the type of result %d", i);
  SW_TRY(sw_ir_read_type(m->t, type, &m->scratch, out, m->d));
  return sw_im_adjust_result_type(m, type, out);
}

bool sw_im_type_fits(const sw_type *said, const sw_type *is) {
  if (said->dtype != is->dtype || said->rank != is->rank) return false;
  for (int k = 0; k < said->rank; k++) {
    if (said->dims[k] >= 0 && said->dims[k] != is->dims[k]) return false;
  }
  return true;
}

/* --- sizes that an op says are equal ------------------------------------------------------------------------------ */

static void equate_dims(const sw_importer *m, const sw_type *a, const sw_type *b, int but) {
  for (int k = 0; a->rank == b->rank && k < a->rank; k++) {
    if (k != but) sw_sizes_equate(m->o->sizes, a->dims[k], b->dims[k]);
  }
}

static const sw_attr *attr_of(const sw_im_add *add, sw_attr_key key) {
  for (int i = 0; add->attrs && i < add->attrs->n; i++) {
    if (add->attrs->at[i].key == key) return &add->attrs->at[i];
  }
  return NULL;
}

/* Dims of the two operands that are contracted, or batches, with each other. */
static void equate_pairs(const sw_importer *m, const sw_im_add *add, sw_attr_key left, sw_attr_key right) {
  const sw_attr *a = attr_of(add, left), *b = attr_of(add, right);
  const sw_type *x = sw_im_type(m, add->operands[0]), *y = sw_im_type(m, add->operands[1]);
  for (int i = 0; a && b && i < a->u.ints.n && i < b->u.ints.n; i++) {
    int64_t k = a->u.ints.at[i], l = b->u.ints.at[i];
    if (k >= 0 && k < x->rank && l >= 0 && l < y->rank) sw_sizes_equate(m->o->sizes, x->dims[k], y->dims[l]);
  }
}

/* A dim is spread when it is 1, else kept. */
static void equate_spread(const sw_importer *m, const sw_im_add *add) {
  const sw_attr *dims = attr_of(add, SW_ATTR_DIMS), *shape = attr_of(add, SW_ATTR_SHAPE);
  const sw_type *x = sw_im_type(m, add->operands[0]);
  for (int k = 0; dims && shape && k < x->rank && k < dims->u.ints.n; k++) {
    int64_t to = dims->u.ints.at[k];
    if (to >= 0 && to < shape->u.ints.n && x->dims[k] != 1)
      sw_sizes_equate(m->o->sizes, x->dims[k], shape->u.ints.at[to]);
  }
}

/* As many elements. */
static void equate_elements(const sw_importer *m, const sw_im_add *add) {
  const sw_attr *shape = attr_of(add, SW_ATTR_SHAPE);
  int64_t n = 1;
  for (int k = 0; shape && k < shape->u.ints.n; k++) {
    if (shape->u.ints.at[k] < 0 || !sw_mul_i64(n, shape->u.ints.at[k], &n)) return;
  }
  if (shape) sw_sizes_equate(m->o->sizes, sw_type_elements(sw_im_type(m, add->operands[0])), n);
}

/* The last two of matrices, which are square. */
static void equate_square(const sw_importer *m, const sw_im_add *add) {
  const sw_type *x = sw_im_type(m, add->operands[0]);
  if (x->rank > 1) sw_sizes_equate(m->o->sizes, x->dims[x->rank - 1], x->dims[x->rank - 2]);
}

/* Those, and what is solved: batches alike, and the dim that the matrices are on the side of. */
static void equate_solved(const sw_importer *m, const sw_im_add *add) {
  const sw_type *x = sw_im_type(m, add->operands[0]), *y = sw_im_type(m, add->operands[1]);
  const sw_attr *left = attr_of(add, SW_ATTR_LEFT_SIDE);
  equate_square(m, add);
  for (int k = 0; x->rank == y->rank && k < x->rank - 2; k++) sw_sizes_equate(m->o->sizes, x->dims[k], y->dims[k]);
  const int side = left && !left->u.i ? 1 : 2;
  if (x->rank == y->rank && x->rank > 1) sw_sizes_equate(m->o->sizes, x->dims[x->rank - 1], y->dims[y->rank - side]);
}

static void equate_operands(const sw_importer *m, const sw_im_add *add) {
  const sw_opcode code = add->code;
  if (!m->o->sizes || add->n_operands < 1) return;
  bool alike = sw_op_class_of(code) == SW_OPS_BINARY || code == SW_OP_COMPARE || code == SW_OP_SELECT ||
               code == SW_OP_CLAMP || code == SW_OP_CONCATENATE || code == SW_OP_COMPLEX;
  const sw_attr *dim = code == SW_OP_CONCATENATE ? attr_of(add, SW_ATTR_DIM) : NULL;
  for (int i = 1; alike && i < add->n_operands; i++) {
    int first = sw_im_type(m, add->operands[0])->rank ? 0 : 1; /* a scalar chooses, or is a bound */
    equate_dims(m, sw_im_type(m, add->operands[first]), sw_im_type(m, add->operands[i]), dim ? (int)dim->u.i : -1);
  }
  if (code == SW_OP_DOT) {
    equate_pairs(m, add, SW_ATTR_LHS_CONTRACT, SW_ATTR_RHS_CONTRACT);
    equate_pairs(m, add, SW_ATTR_LHS_BATCH, SW_ATTR_RHS_BATCH);
  }
  if (code == SW_OP_BROADCAST) equate_spread(m, add);
  if (code == SW_OP_RESHAPE) equate_elements(m, add);
  if (code == SW_OP_CHOLESKY) equate_square(m, add);
  if (code == SW_OP_TRIANGULAR_SOLVE) equate_solved(m, add);
}

/* The graph infers types by itself; here they meet those of the text. */
static sw_rc check_result_type(sw_importer *m, uint32_t op, uint32_t i, sw_id result) {
  sw_type said;
  const sw_type *is = &m->g->values[result].type;
  SW_TRY(sw_im_result_type(m, op, (int)i, &said));
  if (m->vectorized ? said.dtype == is->dtype : sw_im_type_fits(&said, is)) return SW_OK;
  equate_dims(m, &said, is, -1);
  sw_text a = {0}, b = {0};
  sw_type_print(is, &a);
  sw_type_print(&said, &b);
  sw_rc rc = SW_IM_FAIL(m, op, "result %u is %s by the operands and attributes, but %s by its type", i, sw_text_str(&a),
                        sw_text_str(&b));
  sw_text_free(&a);
  sw_text_free(&b);
  return rc;
}

static sw_rc add_op(sw_importer *m, uint32_t op, const sw_im_add *add, uint32_t n, const char *const *names,
                    sw_id *results) {
  bool gives = add->code != SW_OP_WHILE && add->code != SW_OP_CASE && add->code != SW_OP_TEST &&
               add->code != SW_OP_OTHERWISE && add->code != SW_OP_END;
  sw_op_spec spec = {.code = add->code,
                     .name = n ? names[0] : NULL,
                     .n_operands = add->n_operands,
                     .operands = add->operands,
                     .n_attrs = add->attrs ? add->attrs->n : 0,
                     .attrs = add->attrs ? add->attrs->at : NULL,
                     .span = sw_im_place(m, op),
                     .n_result_names = gives ? (int)n : 0,
                     .result_names = names,
                     .nest = add->nest,
                     .collective = add->collective,
                     .n_refs = add->n_refs,
                     .refs = add->refs,
                     .n_result_types = add->n_types,
                     .result_types = add->types};
  SW_TRY(sw_im_location(m, sw_im_op(m, op)->loc, &spec.location));
  equate_operands(m, add);
  SW_TRY(sw_graph_add_op(m->g, &spec, results, m->d));
  bool carries = add->code == SW_OP_ENTER || add->code == SW_OP_YIELD || add->code == SW_OP_JOIN;
  return carries ? sw_im_hand_on(m, add->operands[0], results[0]) : SW_OK;
}

sw_rc sw_im_emit(sw_importer *m, uint32_t op, const sw_im_add *add, sw_id *results) {
  if (add->part) return sw_im_emit_one(m, op, add, 0, results);
  sw_im_add spread = *add;
  if (m->vectorized) SW_TRY(sw_im_spread_operands(m, op, &spread));
  uint32_t n = sw_im_result_count(m, op);
  sw_id own[SW_MAX_RESULTS];
  const char *names[SW_MAX_RESULTS];
  if (n > SW_MAX_RESULTS) return SW_IM_FAIL(m, op, "the op has %u results; expected at most %d", n, SW_MAX_RESULTS);
  for (uint32_t i = 0; i < n; i++) SW_TRY(value_name(m, op, i, NULL, &names[i]));
  if (!results) results = own;
  SW_TRY(add_op(m, op, &spread, n, names, results));
  for (uint32_t i = 0; i < n; i++) SW_TRY(check_result_type(m, op, i, results[i]));
  for (uint32_t i = 0; i < n; i++) SW_TRY(sw_im_bind(m, op, i, results[i], true));
  return m->vectorized ? SW_OK : sw_im_annotate_results(m, op);
}

sw_rc sw_im_emit_one(sw_importer *m, uint32_t op, const sw_im_add *add, uint32_t result, sw_id *out) {
  const char *name;
  sw_id own[SW_MAX_RESULTS];
  SW_TRY(value_name(m, op, result, add->part, &name));
  SW_TRY(add_op(m, op, add, 1, &name, own));
  if (out) *out = own[0];
  if (add->part) return SW_OK;
  SW_TRY(check_result_type(m, op, result, own[0]));
  return sw_im_bind(m, op, result, own[0], true);
}

sw_rc sw_im_help_all(sw_importer *m, uint32_t op, const sw_im_add *add, uint32_t n, sw_id *results) {
  const char *names[SW_MAX_RESULTS];
  for (uint32_t i = 0; i < n; i++) SW_TRY(value_name(m, op, i, sw_opcode_text(add->code), &names[i]));
  return add_op(m, op, add, n, names, results);
}

/* The constant behind scalars that are only spread or reshaped. */
static const sw_op *constant_behind(const sw_graph *g, sw_id value) {
  for (int hops = 0; hops < 8; hops++) {
    if (g->values[value].def < 0) return NULL;
    const sw_op *op = &g->ops[g->values[value].def];
    if (op->code == SW_OP_CONSTANT) return op;
    if (op->code != SW_OP_BROADCAST && op->code != SW_OP_RESHAPE) return NULL;
    value = op->operands[0];
  }
  return NULL;
}

bool sw_ir_is_neutral(const sw_graph *g, sw_id value, sw_reduction kind) {
  const sw_op *op = constant_behind(g, value);
  const sw_attr *a = op ? sw_op_attr(op, SW_ATTR_VALUE) : NULL;
  if (!a || !a->u.data.splat) return false;
  sw_dtype t = g->values[op->results[0]].type.dtype;
  _Alignas(16) unsigned char neutral[16], zero[16] = {0};
  sw_reduction_identity_bytes(kind, t, neutral);
  size_t n = (size_t)sw_dtype_bytes(t);
  return memcmp(a->u.data.bytes, neutral, n) == 0 ||
         (kind == SW_REDUCE_SUM && memcmp(a->u.data.bytes, zero, n) == 0); /* the other zero */
}

/* --- ops that we do not know, and those that do nothing ---------------------------------------------------------- */

/* Types of all results, those of tuples one by one; *tuples: there are some. */
static sw_rc result_leaves(sw_importer *m, uint32_t op, const char *target, sw_type *types, uint32_t *n, bool *tuples) {
  const sw_ir_op *o = sw_im_op(m, op);
  uint32_t said = sw_ir_result_count(m->t, o);
  *tuples = false;
  *n = 0;
  for (uint32_t i = 0; i < said; i++) {
    sw_ir_span whole = sw_ir_result_type(m->t, o, (int)i), *leaves;
    uint32_t n_leaves;
    if (!sw_ir_present(whole)) return SW_IM_FAIL(m, op, "the op does not say the type of result %u", i);
    *tuples = *tuples || sw_ir_is_tuple_type(m->t, whole);
    SW_TRY(sw_im_leaf_types(m, &whole, 1, &leaves, &n_leaves));
    if (*n + n_leaves > SW_MAX_RESULTS) {
      return SW_IM_FAIL(m, op, "'%s' is not known and has %u results; expected at most %d", target, *n + n_leaves,
                        SW_MAX_RESULTS);
    }
    for (uint32_t k = 0; k < n_leaves; k++) SW_TRY(sw_ir_read_type(m->t, leaves[k], &m->scratch, &types[(*n)++], m->d));
  }
  return SW_OK;
}

sw_rc sw_im_give(sw_importer *m, uint32_t op, const sw_im_add *add, uint32_t n) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_id leaves[SW_MAX_RESULTS], value;
  const sw_id *next = leaves;
  const char *names[SW_MAX_RESULTS];
  for (uint32_t i = 0; i < n; i++) {
    const char *number = sw_arena_printf(&m->scratch, m->d, "%u", i);
    SW_TRY(number ? value_name(m, op, 0, number, &names[i]) : SW_E_RESOURCE);
  }
  SW_TRY(add_op(m, op, add, n, names, leaves));
  for (uint32_t i = 0; i < sw_ir_result_count(m->t, o); i++) {
    SW_TRY(sw_im_built_of_type(m, op, sw_ir_result_type(m->t, o, (int)i), &next, &value));
    SW_TRY(sw_im_bind(m, op, i, value, false));
  }
  return SW_OK;
}

/* `rule`: NULL, replicated. */
static sw_rc opaque(sw_importer *m, uint32_t op, const char *target, sw_factor_rule *rule) {
  const sw_ir_op *o = sw_im_op(m, op);
  uint32_t n = sw_ir_result_count(m->t, o);
  if (!n) return SW_OK; /* nothing comes of it */
  bool tuples;
  const sw_id *operands;
  sw_im_leaves leaves;
  sw_type types[SW_MAX_RESULTS], *operand_types;
  sw_im_attrs a = {.n = 0};
  SW_TRY(result_leaves(m, op, target, types, &n, &tuples));
  for (uint32_t i = 0; i < n; i++) SW_TRY(sw_im_close_dims(m, op, i, &types[i]));
  SW_TRY(sw_im_all_operands(m, op, &operands));
  SW_TRY(sw_im_leaves_of(m, operands, o->n_uses, &leaves));
  SW_ARENA_NEW(operand_types, &m->scratch, leaves.n, m->d);
  for (uint32_t i = 0; i < leaves.n; i++) operand_types[i] = m->g->values[leaves.at[i]].type;
  sw_im_add add = {.code = SW_OP_OPAQUE,
                   .n_operands = (int)leaves.n,
                   .operands = leaves.at,
                   .attrs = &a,
                   .n_types = (int)n,
                   .types = types};
  sw_im_text(&a, SW_ATTR_TARGET, target);
  if (rule) SW_TRY(sw_im_loops_of_rule(m, op, rule, operand_types, add.n_operands, types, (int)n, &add.nest));
  return tuples ? sw_im_give(m, op, &add, n) : sw_im_emit(m, op, &add, NULL);
}

sw_rc sw_im_opaque_known(sw_importer *m, uint32_t op, const char *target) { return opaque(m, op, target, NULL); }

/* Calls of kernels that come compiled, which nobody can look into. */
static const struct {
  const char *target, *what;
} kKernels[] = {
    {"__gpu$xla.gpu.triton", "a Triton kernel (Pallas on GPUs)"}, {"triton_kernel_call", "a Triton kernel"},
    {"mosaic_gpu_v2", "a Mosaic kernel (Pallas on GPUs)"},        {"mosaic_gpu", "a Mosaic kernel (Pallas on GPUs)"},
    {"tpu_custom_call", "a Mosaic kernel (Pallas on TPUs)"},
};

/* What its program calls it; NULL: it does not say. */
static const char *kernel_name(sw_importer *m, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_ir_span name = sw_ir_attr(m->t, o, "kernel_name", NULL);
  sw_ir_span config = sw_ir_attr(m->t, o, "mhlo.backend_config", NULL);
  if (!sw_ir_present(name) && sw_ir_present(config)) name = sw_ir_entry(m->t, config, "name");
  return sw_ir_present(name) ? sw_im_string(m, sw_ir_unquoted(m->t, name)) : NULL;
}

static sw_rc warn_of_opaque(sw_importer *m, uint32_t op, const char *target, const char *name, const char *how) {
  for (size_t i = 0; i < sizeof kKernels / sizeof *kKernels; i++) {
    if (strcmp(target, kKernels[i].target) != 0) continue;
    return sw_im_warn_once(m, op, name ? name : target,
                           "'%s' is %s%s%s%s: planned %s, not executed; a line of --custom-rules may say how it is cut",
                           target, kKernels[i].what, name ? ", '" : "", name ? name : "", name ? "'" : "", how);
  }
  return sw_im_warn_once(m, op, target, "'%s' is not known: planned %s, not executed", target, how);
}

sw_rc sw_im_opaque(sw_importer *m, uint32_t op, const char *target) {
  bool gives = sw_ir_result_count(m->t, sw_im_op(m, op)) > 0;
  const char *name = kernel_name(m, op);
  sw_factor_rule *rule = NULL;
  if (gives && name) SW_TRY(sw_im_rule_of(m, op, name, &rule));
  if (gives && !rule) SW_TRY(sw_im_rule_of(m, op, target, &rule));
  bool said = rule != NULL;
  if (!rule && gives) SW_TRY(sw_im_elementwise_rule(m, op, &rule));
  if (!said) SW_TRY(warn_of_opaque(m, op, target, name, rule ? "element by element" : "replicated"));
  return opaque(m, op, target, rule);
}

sw_rc sw_im_identity(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  uint32_t n = sw_ir_result_count(m->t, sw_im_op(m, op));
  SW_TRY(sw_im_operand_count(m, op, n, UINT32_MAX));
  for (uint32_t i = 0; i < n; i++) SW_TRY(sw_im_bind(m, op, i, sw_im_operand(m, op, i), false));
  return SW_OK;
}

bool sw_im_says_shardings(const sw_importer *m, uint32_t op, const sw_id *values, uint32_t n) {
  const sw_ir_op *o = sw_im_op(m, op);
  bool all = m->o->keep == SW_KEEP_ALL && !m->vectorized && !m->alone && sw_ir_present(o->attrs) &&
             sw_ir_present(sw_ir_entry(m->t, o->attrs, "sdy.sharding"));
  for (uint32_t i = 0; i < n && all; i++) all = values[i] >= 0 && m->g->values[values[i]].type.dtype != SW_TOKEN;
  return all;
}

/* Values of its own only where it says how these are cut. */
sw_rc sw_im_optimization_barrier(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_id *values;
  SW_TRY(sw_im_all_operands(m, op, &values));
  const uint32_t n = sw_ir_result_count(m->t, sw_im_op(m, op));
  if (n > sw_im_op(m, op)->n_uses || !sw_im_says_shardings(m, op, values, n)) return sw_im_identity(m, row, op);
  return sw_im_results_are(m, op, values, n);
}
