/* Checks and look-ups that the rules of several ops share. Every message names the op, the operand, what was found and
 * what was expected. */
#include "graph/ops/op_rule.h"

#include "base/checked.h"

const sw_attr *sw_call_attr(const sw_rule_call *c, sw_attr_key k) { return sw_attr_find(c->attrs, c->n_attrs, k); }

int64_t sw_call_int(const sw_rule_call *c, sw_attr_key k) { return sw_call_attr(c, k)->u.i; }
sw_dtype sw_call_dtype(const sw_rule_call *c, sw_attr_key k) { return (sw_dtype)sw_call_attr(c, k)->u.i; }
const char *sw_call_text(const sw_rule_call *c, sw_attr_key k) { return sw_call_attr(c, k)->u.text; }

const int64_t *sw_call_ints(const sw_rule_call *c, sw_attr_key k, int *n) {
  const sw_attr *a = sw_call_attr(c, k);
  *n = a->u.ints.n;
  return a->u.ints.at;
}

sw_rc sw_call_result(sw_rule_call *c, sw_dtype t, int rank, int64_t **dims) {
  if (rank > SW_MAX_RANK) {
    return SW_RULE_FAIL(c, "the result has %d dims; expected at most %d", rank, SW_MAX_RANK);
  }
  if (c->n_results == SW_MAX_RESULTS) return SW_RULE_FAIL(c, "there are more than %d results", SW_MAX_RESULTS);
  SW_ARENA_NEW(*dims, c->arena, rank, c->d);
  c->results[c->n_results++] = (sw_type){t, rank, *dims};
  return SW_OK;
}

sw_rc sw_call_result_like(sw_rule_call *c, sw_dtype t, const sw_type *shape) {
  int64_t *dims;
  SW_TRY(sw_call_result(c, t, shape->rank, &dims));
  for (int i = 0; i < shape->rank; i++) dims[i] = shape->dims[i];
  return SW_OK;
}

static const char *class_words(unsigned classes) {
  static const struct {
    unsigned classes;
    const char *words;
  } kWords[] = {
      {SW_FLOATS, "a float dtype"},
      {SW_INTS, "an integer dtype"},
      {SW_SIGNED | SW_FLOATS, "a signed integer or float dtype"},
      {SW_SIGNED | SW_FLOATS | SW_COMPLEX, "a signed integer, float or complex dtype"},
      {SW_FLOATS | SW_COMPLEX, "a float or complex dtype"},
      {SW_BOOLS, "bool"},
      {SW_INTS | SW_BOOLS, "an integer dtype or bool"},
      {SW_REALS, "an integer or float dtype"},
      {SW_REALS | SW_BOOLS, "an integer or float dtype or bool"},
      {SW_NUMBERS, "a number dtype"},
      {SW_ELEMENTS, "a dtype with elements"},
  };
  for (size_t i = 0; i < sizeof kWords / sizeof *kWords; i++) {
    if (kWords[i].classes == classes) return kWords[i].words;
  }
  return "another dtype";
}

sw_rc sw_check_class(const sw_rule_call *c, int operand, unsigned classes) {
  sw_dtype t = c->operands[operand].dtype;
  if (classes & (1u << sw_dtype_class_of(t))) return SW_OK;
  return SW_RULE_FAIL(c, "operand %d is %s; expected %s", operand, sw_dtype_text(t), class_words(classes));
}

/* "operand 1 is f32[2,3] and operand 0 is f32[3,2]; expected <want>". */
static sw_rc differ(const sw_rule_call *c, int a, int b, const char *want) {
  sw_text t = {0};
  sw_text_printf(&t, "operand %d is ", b);
  sw_type_print(&c->operands[b], &t);
  sw_text_printf(&t, " and operand %d is ", a);
  sw_type_print(&c->operands[a], &t);
  sw_rc rc = t.rc ? t.rc : SW_RULE_FAIL(c, "%s; expected %s", sw_text_str(&t), want);
  sw_text_free(&t);
  return rc;
}

sw_rc sw_check_same_shape(const sw_rule_call *c, int a, int b) {
  return sw_type_same_shape(&c->operands[a], &c->operands[b]) ? SW_OK : differ(c, a, b, "the same shape");
}

sw_rc sw_check_same_dtype(const sw_rule_call *c, int a, int b) {
  return c->operands[a].dtype == c->operands[b].dtype ? SW_OK : differ(c, a, b, "the same dtype");
}

sw_rc sw_check_scalar(const sw_rule_call *c, int operand) {
  int rank = c->operands[operand].rank;
  if (rank == 0) return SW_OK;
  return SW_RULE_FAIL(c, "operand %d has %d dims; expected a scalar (rank 0)", operand, rank);
}

sw_rc sw_check_starts(const sw_rule_call *c, int first, int count) {
  if (c->n_operands != first + count) {
    return SW_RULE_FAIL(c, "there are %d start indices; expected %d, one per dim of operand 0", c->n_operands - first,
                        count);
  }
  for (int i = first; i < c->n_operands; i++) {
    SW_TRY(sw_check_scalar(c, i));
    SW_TRY(sw_check_class(c, i, SW_INTS));
    SW_TRY(sw_check_same_dtype(c, first, i));
  }
  return SW_OK;
}

sw_rc sw_check_list(const sw_rule_call *c, sw_attr_key k, int n, int64_t least) {
  int have;
  const int64_t *at = sw_call_ints(c, k, &have);
  if (have != n) return SW_RULE_FAIL(c, "'%s' has %d numbers; expected %d", sw_attr_text(k), have, n);
  for (int i = 0; i < n; i++) {
    if (at[i] < least) {
      return SW_RULE_FAIL(c, "'%s' holds %lld at position %d; expected at least %lld", sw_attr_text(k),
                          (long long)at[i], i, (long long)least);
    }
  }
  return SW_OK;
}

sw_rc sw_check_dims(const sw_rule_call *c, sw_attr_key k, int rank, const char *of) {
  int n;
  const int64_t *at = sw_call_ints(c, k, &n);
  for (int i = 0; i < n; i++) {
    if (at[i] < 0 || at[i] >= rank) {
      return SW_RULE_FAIL(c, "'%s' holds %lld, but %s has %d dims; expected numbers in 0 .. %d", sw_attr_text(k),
                          (long long)at[i], of, rank, rank - 1);
    }
    if (sw_list_has(at, i, at[i])) {
      return SW_RULE_FAIL(c, "'%s' holds %lld twice; expected distinct dims", sw_attr_text(k), (long long)at[i]);
    }
  }
  return SW_OK;
}

sw_rc sw_check_sorted_dims(const sw_rule_call *c, sw_attr_key k, int rank, const char *of) {
  SW_TRY(sw_check_dims(c, k, rank, of));
  int n;
  const int64_t *at = sw_call_ints(c, k, &n);
  for (int i = 1; i < n; i++) {
    if (at[i] < at[i - 1]) {
      return SW_RULE_FAIL(c, "'%s' holds %lld after %lld; expected ascending dims", sw_attr_text(k), (long long)at[i],
                          (long long)at[i - 1]);
    }
  }
  return SW_OK;
}

sw_rc sw_check_dim(const sw_rule_call *c, sw_attr_key k, int rank) {
  int64_t dim = sw_call_int(c, k);
  if (dim >= 0 && dim < rank) return SW_OK;
  if (rank <= 0) return SW_RULE_FAIL(c, "'%s' names a dim of a scalar; expected at least 1 dim", sw_attr_text(k));
  return SW_RULE_FAIL(c, "'%s' is %lld; expected a dim in 0 .. %d", sw_attr_text(k), (long long)dim, rank - 1);
}

sw_reduction sw_call_kind(const sw_rule_call *c) {
  sw_reduction r = SW_REDUCE_SUM;
  (void)sw_reduction_parse(sw_call_text(c, SW_ATTR_KIND), &r);
  return r;
}

sw_rc sw_check_kind(const sw_rule_call *c, sw_reduction *out) {
  static const unsigned kClasses[SW_REDUCTION_COUNT] = {
      [SW_REDUCE_SUM] = SW_NUMBERS | SW_BOOLS,
      [SW_REDUCE_PRODUCT] = SW_NUMBERS | SW_BOOLS,
      [SW_REDUCE_MIN] = SW_REALS | SW_BOOLS,
      [SW_REDUCE_MAX] = SW_REALS | SW_BOOLS,
      [SW_REDUCE_AND] = SW_BOOLS,
      [SW_REDUCE_OR] = SW_BOOLS,
      [SW_REDUCE_BIT_AND] = SW_INTS,
      [SW_REDUCE_BIT_OR] = SW_INTS,
      [SW_REDUCE_BIT_XOR] = SW_INTS | SW_BOOLS,
  };
  const char *text = sw_call_text(c, SW_ATTR_KIND);
  if (!sw_reduction_parse(text, out) || !kClasses[*out]) {
    return SW_RULE_FAIL(c,
                        "'kind' is '%s'; expected sum, product, min, max, and, or, bitwise_and, bitwise_or or "
                        "bitwise_xor",
                        text);
  }
  return sw_check_class(c, 0, kClasses[*out]);
}

sw_rc sw_check_shape(const sw_rule_call *c, sw_attr_key k) {
  int n;
  const int64_t *at = sw_call_ints(c, k, &n);
  if (n > SW_MAX_RANK) {
    return SW_RULE_FAIL(c, "'%s' has %d dims; expected at most %d", sw_attr_text(k), n, SW_MAX_RANK);
  }
  for (int i = 0; i < n; i++) {
    if (at[i] < 0) {
      return SW_RULE_FAIL(c, "'%s' holds %lld at position %d; expected at least 0", sw_attr_text(k), (long long)at[i],
                          i);
    }
  }
  return SW_OK;
}

int64_t sw_window_extent(int64_t extent, int64_t low, int64_t high, int64_t lhs_dilation, int64_t size,
                         int64_t rhs_dilation, int64_t stride) {
  sw_i128 dilated = extent == 0 ? 0 : (sw_i128)(extent - 1) * lhs_dilation + 1;
  sw_i128 window = size == 0 ? 0 : (sw_i128)(size - 1) * rhs_dilation + 1;
  sw_i128 padded = low + dilated + high;
  if (padded <= 0 || padded < window) return 0;
  sw_i128 n = (padded - window) / stride + 1;
  return n > INT64_MAX ? -1 : (int64_t)n;
}
