/* Ops that take positions and sizes as values; where those are constants, or follow from the types, other ops do it.
 *
 *   real_dynamic_slice(x, start, limit, strides)      slice, or dynamic_slice of what the result's size says
 *   dynamic_gather(x, indices, sizes)                 gather of what the result's size says
 *   dynamic_pad(x, v, low, high, interior)            pad
 *   torch_index_select(x, indices)                    gather
 *   set_dimension_size(x, n)                          x, when n is what it has
 *   shape_of(x)                                       a constant
 */
#include <string.h>

#include "io/mlir/regions/lift.h"
#include "shardwright/checked.h"
#include "shardwright/scalar.h"

enum { MOST_NUMBERS = 64, MOST_HOPS = 64, MOST_STEPS = 1 << 16 };

/* A look for numbers: how many more ops may follow each other, and be looked at in all (values that are used twice are
 * looked at twice). */
typedef struct search {
  const sw_importer *m;
  int hops;
  int *steps;
} search;

static bool numbers_at(search s, sw_id value, int n, int64_t *out);

static const sw_type *type_of(const search *s, sw_id value) { return sw_im_type(s->m, value); }

/* Along dim 0: the numbers of the parts one after the other. */
static bool joined_numbers(search s, const sw_op *op, int n, int64_t *out) {
  int done = 0;
  if (sw_op_int(op, SW_ATTR_DIM, -1) != 0) return false;
  for (int i = 0; i < op->n_operands; i++) {
    int64_t more = sw_type_elements(type_of(&s, op->operands[i]));
    if (more > n - done || !numbers_at(s, op->operands[i], (int)more, out + done)) return false;
    done += (int)more;
  }
  return done == n;
}

static bool cut_numbers(search s, const sw_op *op, int n, int64_t *out) {
  const sw_type *t = type_of(&s, op->operands[0]);
  int64_t all[MOST_NUMBERS];
  int n_start, n_strides;
  const int64_t *start = sw_op_ints(op, SW_ATTR_START, &n_start),
                *strides = sw_op_ints(op, SW_ATTR_STRIDES, &n_strides);
  if (t->rank != 1 || t->dims[0] > MOST_NUMBERS || n_start != 1) return false;
  if (!numbers_at(s, op->operands[0], (int)t->dims[0], all)) return false;
  for (int i = 0; i < n; i++) out[i] = all[start[0] + i * (n_strides == 1 ? strides[0] : 1)];
  return true;
}

static int64_t compared(const char *direction, int64_t x, int64_t y) {
  bool strict = direction[1] != 'e' && direction[0] != 'e';
  switch (direction[0]) {
    case 'e':
      return x == y;
    case 'n':
      return x != y;
    case 'l':
      return strict ? x < y : x <= y;
    default:
      return strict ? x > y : x >= y;
  }
}

/* One number, by an op that sizes are computed with; false: it is none of those. */
static bool combined(const sw_op *op, int64_t x, int64_t y, int64_t *out) {
  bool divides = op->code == SW_OP_DIVIDE || op->code == SW_OP_REMAINDER;
  if (divides && y == 0) return false;
  switch ((int)op->code) {
    case SW_OP_ADD:
      return *out = x + y, true;
    case SW_OP_SUBTRACT:
      return *out = x - y, true;
    case SW_OP_MULTIPLY:
      return *out = x * y, true;
    case SW_OP_DIVIDE:
      return *out = x / y, true;
    case SW_OP_REMAINDER:
      return *out = x % y, true;
    case SW_OP_MAXIMUM:
      return *out = sw_max_i64(x, y), true;
    case SW_OP_MINIMUM:
      return *out = sw_min_i64(x, y), true;
    case SW_OP_AND:
      return *out = x & y, true;
    case SW_OP_OR:
      return *out = x | y, true;
    case SW_OP_COMPARE:
      return *out = compared(sw_op_text(op, SW_ATTR_DIRECTION, "eq"), x, y), true;
    case SW_OP_SIGN:
      return *out = (x > 0) - (x < 0), true;
    case SW_OP_NEGATE:
      return *out = -x, true;
    default:
      return false;
  }
}

/* Numbers so small that no operation on them leaves its type. */
static bool is_small(int64_t x) { return x > INT32_MIN && x <= INT32_MAX; }

static bool combined_numbers(search s, const sw_op *op, int n, int64_t *out) {
  int64_t with[MOST_NUMBERS] = {0};
  sw_dtype_class class = sw_dtype_class_of(type_of(&s, op->results[0])->dtype);
  if (op->n_operands < 1 || op->n_operands > 2 || !numbers_at(s, op->operands[0], n, out)) return false;
  if (op->n_operands == 2 && !numbers_at(s, op->operands[1], n, with)) return false;
  for (int i = 0; i < n; i++) {
    if (!is_small(out[i]) || !is_small(with[i]) || !combined(op, out[i], with[i], &out[i])) return false;
    bool fits = class == SW_CLASS_BOOL ? out[i] == 0 || out[i] == 1 : is_small(out[i]);
    if (!fits || (class == SW_CLASS_UNSIGNED && out[i] < 0)) return false;
  }
  return true;
}

static bool chosen_numbers(search s, const sw_op *op, int n, int64_t *out) {
  int64_t which[MOST_NUMBERS], others[MOST_NUMBERS];
  bool one = sw_type_elements(type_of(&s, op->operands[0])) == 1;
  if (!numbers_at(s, op->operands[0], one ? 1 : n, which)) return false;
  if (!numbers_at(s, op->operands[1], n, out) || !numbers_at(s, op->operands[2], n, others)) return false;
  for (int i = 0; i < n; i++) out[i] = which[one ? 0 : i] ? out[i] : others[i];
  return true;
}

/* What sizes are made of in programs: constants, and ops on whole numbers of 32 or 64 bits and on bools. */
static bool numbers_at(search s, sw_id value, int n, int64_t *out) {
  const sw_value *v = &s.m->g->values[value];
  const sw_op *op = v->def < 0 ? NULL : &s.m->g->ops[v->def];
  sw_dtype_class c = sw_dtype_class_of(v->type.dtype);
  bool whole = c == SW_CLASS_SIGNED || c == SW_CLASS_UNSIGNED;
  if (!op || !s.hops-- || !*s.steps || sw_type_elements(&v->type) != n || (!whole && c != SW_CLASS_BOOL)) return false;
  --*s.steps;
  const sw_attr *a = op->code == SW_OP_CONSTANT ? sw_op_attr(op, SW_ATTR_VALUE) : NULL;
  int bytes = sw_dtype_bytes(v->type.dtype);
  for (int i = 0; a && i < n; i++) {
    const char *at = (const char *)a->u.data.bytes + (a->u.data.splat ? 0 : i * bytes);
    out[i] = (int64_t)sw_element_load(v->type.dtype, at);
  }
  if (a || n > MOST_NUMBERS || (whole && bytes < 4)) return a != NULL;
  switch ((int)op->code) {
    case SW_OP_CONVERT:
      return whole && numbers_at(s, op->operands[0], n, out);
    case SW_OP_RESHAPE:
      return numbers_at(s, op->operands[0], n, out);
    case SW_OP_BROADCAST:
      if (!numbers_at(s, op->operands[0], 1, out)) return false;
      for (int i = 1; i < n; i++) out[i] = out[0];
      return n > 0;
    case SW_OP_CONCATENATE:
      return joined_numbers(s, op, n, out);
    case SW_OP_SLICE:
      return cut_numbers(s, op, n, out);
    case SW_OP_SELECT:
      return chosen_numbers(s, op, n, out);
    default:
      return combined_numbers(s, op, n, out);
  }
}

bool sw_im_constant_numbers(const sw_importer *m, sw_id value, int n, int64_t *out) {
  int steps = MOST_STEPS;
  return numbers_at((search){m, MOST_HOPS, &steps}, value, n, out);
}

static sw_rc not_known(sw_importer *m, uint32_t op, const char *what) {
  return SW_IM_FAIL(m, op, "%s are no constants; planning needs them", what);
}

/* Element k of a vector, a scalar. */
static sw_rc element(sw_importer *m, uint32_t op, sw_id x, int k, sw_id *out) {
  SW_TRY(sw_im_cut(m, op, x, &(sw_im_range){0, k, k + 1, 1}, out));
  return sw_im_reshaped(m, op, *out, 0, NULL, out);
}

/* From a start that is computed: as long a piece as the strides step over, then every so many. */
static sw_rc slice_from(sw_importer *m, uint32_t op, const sw_type *said, const int64_t *strides) {
  sw_id x[SW_MAX_RANK + 1] = {sw_im_operand(m, op, 0)};
  int64_t sizes[SW_MAX_RANK], zero[SW_MAX_RANK] = {0};
  for (int k = 0; k < said->rank; k++) {
    sizes[k] = said->dims[k] ? (said->dims[k] - 1) * strides[k] + 1 : 0;
    SW_TRY(element(m, op, sw_im_operand(m, op, 1), k, &x[k + 1]));
  }
  sw_im_attrs a = {.n = 0}, b = {.n = 0};
  sw_id piece;
  sw_im_numbers(&a, SW_ATTR_SIZES, sizes, said->rank);
  SW_TRY(sw_im_help(m, op, SW_OP_DYNAMIC_SLICE, said->rank + 1, x, &a, &piece));
  sw_im_numbers(&b, SW_ATTR_START, zero, said->rank);
  sw_im_numbers(&b, SW_ATTR_LIMIT, sizes, said->rank);
  sw_im_numbers(&b, SW_ATTR_STRIDES, strides, said->rank);
  return sw_im_emit(m, op, &(sw_im_add){.code = SW_OP_SLICE, .n_operands = 1, .operands = &piece, .attrs = &b}, NULL);
}

sw_rc sw_im_real_dynamic_slice(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  int64_t start[SW_MAX_RANK], limit[SW_MAX_RANK], strides[SW_MAX_RANK];
  sw_type said;
  SW_TRY(sw_im_operand_count(m, op, 4, 4));
  SW_TRY(sw_im_result_type(m, op, 0, &said));
  if (!sw_im_constant_numbers(m, sw_im_operand(m, op, 3), said.rank, strides)) return not_known(m, op, "strides");
  bool placed = sw_im_constant_numbers(m, sw_im_operand(m, op, 1), said.rank, start);
  if (!placed || !sw_im_constant_numbers(m, sw_im_operand(m, op, 2), said.rank, limit)) {
    for (int k = 0; k < said.rank; k++) {
      if (said.dims[k] < 0) return not_known(m, op, "start and limit");
    }
    return slice_from(m, op, &said, strides);
  }
  sw_id x = sw_im_operand(m, op, 0);
  sw_im_attrs a = {.n = 0};
  sw_im_numbers(&a, SW_ATTR_START, start, said.rank);
  sw_im_numbers(&a, SW_ATTR_LIMIT, limit, said.rank);
  sw_im_numbers(&a, SW_ATTR_STRIDES, strides, said.rank);
  return sw_im_emit(m, op, &(sw_im_add){.code = SW_OP_SLICE, .n_operands = 1, .operands = &x, .attrs = &a}, NULL);
}

sw_rc sw_im_dynamic_pad(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  static const sw_attr_key kKeys[] = {SW_ATTR_LOW, SW_ATTR_HIGH, SW_ATTR_INTERIOR};
  int64_t by[3][SW_MAX_RANK];
  SW_TRY(sw_im_operand_count(m, op, 5, 5));
  sw_id x[2] = {sw_im_operand(m, op, 0), sw_im_operand(m, op, 1)};
  int rank = sw_im_type(m, x[0])->rank;
  sw_im_attrs a = {.n = 0};
  for (uint32_t i = 0; i < 3; i++) {
    if (!sw_im_constant_numbers(m, sw_im_operand(m, op, 2 + i), rank, by[i]))
      return not_known(m, op, "amounts of padding");
    sw_im_numbers(&a, kKeys[i], by[i], rank);
  }
  return sw_im_emit(m, op, &(sw_im_add){.code = SW_OP_PAD, .n_operands = 2, .operands = x, .attrs = &a}, NULL);
}

sw_rc sw_im_set_dimension_size(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  int64_t dim = -1, size;
  SW_TRY(sw_im_operand_count(m, op, 2, 2));
  const sw_type *t = sw_im_type(m, sw_im_operand(m, op, 0));
  sw_ir_span at = sw_ir_attr(m->t, sw_im_op(m, op), "dimension", "dim");
  bool known = sw_ir_present(at) && sw_ir_read_int(m->t, at, &dim) && dim >= 0 && dim < t->rank &&
               sw_im_constant_numbers(m, sw_im_operand(m, op, 1), 1, &size) && size == t->dims[dim];
  if (!known) {
    return SW_IM_FAIL(m, op, "the size is not known to be the operand's own; planning needs sizes that stay%s",
                      sw_im_bound_hint(m));
  }
  (void)row;
  return sw_im_bind(m, op, 0, sw_im_operand(m, op, 0), false);
}

/* Result dims: those that the two share, of x before the dim, of the indices, of x behind the dim. */
sw_rc sw_im_torch_index_select(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  const sw_ir_op *o = sw_im_op(m, op);
  int64_t dim = 0, shared = 0, offsets[SW_MAX_RANK], sizes[SW_MAX_RANK], first[SW_MAX_RANK], n_offsets = 0;
  SW_TRY(sw_im_operand_count(m, op, 2, 2));
  sw_id x[2] = {sw_im_operand(m, op, 0), sw_im_operand(m, op, 1)};
  const sw_type *t = sw_im_type(m, x[0]), *at = sw_im_type(m, x[1]);
  if (!sw_ir_read_int(m->t, sw_ir_attr(m->t, o, "dim", "dim"), &dim) ||
      !sw_ir_read_int(m->t, sw_ir_attr(m->t, o, "batch_dims", "batch_dims"), &shared) || dim < 0 || dim >= t->rank ||
      shared < 0 || shared > dim || shared > at->rank || t->rank + at->rank - shared - 1 > SW_MAX_RANK) {
    return SW_IM_FAIL(m, op, "expected 'dim' to be a dim of the operand, and 'batch_dims' not to be behind it");
  }
  for (int64_t k = 0; k < t->rank; k++) {
    first[k] = k;
    sizes[k] = k < shared || k == dim ? 1 : t->dims[k];
    if (k >= shared && k != dim) offsets[n_offsets++] = k < dim ? k : k - 1 + at->rank - shared;
  }
  sw_im_attrs a = {.n = 0};
  sw_im_numbers(&a, SW_ATTR_OFFSET_DIMS, offsets, (int)n_offsets);
  sw_im_numbers(&a, SW_ATTR_COLLAPSED_DIMS, &dim, 1);
  sw_im_numbers(&a, SW_ATTR_OPERAND_BATCH, first, (int)shared);
  sw_im_numbers(&a, SW_ATTR_INDICES_BATCH, first, (int)shared);
  sw_im_numbers(&a, SW_ATTR_START_INDEX_MAP, &dim, 1);
  sw_im_int(&a, SW_ATTR_INDEX_VECTOR_DIM, at->rank);
  sw_im_numbers(&a, SW_ATTR_SIZES, sizes, t->rank);
  return sw_im_emit(m, op, &(sw_im_add){.code = SW_OP_GATHER, .n_operands = 2, .operands = x, .attrs = &a}, NULL);
}

/* shape.shape_of: the sizes, which are known. */
sw_rc sw_im_shape_of(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  const sw_type *x = sw_im_type(m, sw_im_operand(m, op, 0));
  sw_im_attrs a = {.n = 0};
  int64_t rank = x->rank;
  for (int k = 0; k < x->rank; k++) {
    if (x->dims[k] < 0) return SW_IM_FAIL(m, op, "the size of dim %d is not known", k);
  }
  sw_im_numbers(&a, SW_ATTR_SHAPE, &rank, 1);
  sw_im_int(&a, SW_ATTR_DTYPE, SW_I64);
  a.at[a.n++] = (sw_attr){.key = SW_ATTR_VALUE, .u.data = {x->dims, false}};
  return sw_im_emit(m, op, &(sw_im_add){.code = row->code, .attrs = &a}, NULL);
}
