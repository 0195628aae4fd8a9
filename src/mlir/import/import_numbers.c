/* Whole numbers that follow from constants, as sizes do in programs whose types leave them open. */
#include "mlir/import/import_emit.h"

#include <string.h>

#include "base/checked.h"

enum { MOST_NUMBERS = 64, MOST_HOPS = 64, MOST_STEPS = 1 << 16 };

/* A look for numbers: how many more ops may follow each other, and be looked at in all (values that are used twice are
 * looked at twice). */
typedef struct search {
  const sw_importer *m;
  int hops;
  int *steps;
} search;

static bool numbers_at(search s, sw_id value, int n, int64_t *out);

static const sw_type *searched_type_of(const search *s, sw_id value) { return sw_im_type(s->m, value); }

/* Along dim 0: the numbers of the parts one after the other. */
static bool joined_numbers(search s, const sw_op *op, int n, int64_t *out) {
  int done = 0;
  if (sw_op_int(op, SW_ATTR_DIM, -1) != 0) return false;
  for (int i = 0; i < op->n_operands; i++) {
    int64_t more = sw_type_elements(searched_type_of(&s, op->operands[i]));
    if (more > n - done || !numbers_at(s, op->operands[i], (int)more, out + done)) return false;
    done += (int)more;
  }
  return done == n;
}

static bool cut_numbers(search s, const sw_op *op, int n, int64_t *out) {
  const sw_type *t = searched_type_of(&s, op->operands[0]);
  int64_t all[MOST_NUMBERS];
  int n_start, n_strides;
  const int64_t *start = sw_op_ints(op, SW_ATTR_START, &n_start),
                *strides = sw_op_ints(op, SW_ATTR_STRIDES, &n_strides);
  if (t->rank != 1 || t->dims[0] > MOST_NUMBERS || n_start != 1) return false;
  if (!numbers_at(s, op->operands[0], (int)t->dims[0], all)) return false;
  for (int i = 0; i < n; i++) out[i] = all[start[0] + i * (n_strides == 1 ? strides[0] : 1)];
  return true;
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
      return *out = sw_im_compares(sw_op_text(op, SW_ATTR_DIRECTION, "eq"), x < y ? -1 : x > y), true;
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
  sw_dtype_class class = sw_dtype_class_of(searched_type_of(&s, op->results[0])->dtype);
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
  bool one = sw_type_elements(searched_type_of(&s, op->operands[0])) == 1;
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

bool sw_im_compares(const char *direction, int order) {
  if (strcmp(direction, "ne") == 0) return order != 0;
  if (order == 2) return false;
  bool less = direction[0] == 'l', greater = direction[0] == 'g';
  return (less && order < 0) || (greater && order > 0) || (direction[1] != 't' && order == 0);
}
