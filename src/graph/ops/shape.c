/* Ops that give the same elements another shape: broadcast_in_dim, transpose, reshape.
 *
 * reshape splits both shapes into common factors, major first. f32[4,12] -> f32[4,2,6]: loops d0 (4), d1 (2), d2 (6),
 * maps (d0,d1,d2)->(d0,6*d1+d2) and (d0,d1,d2)->(d0,d1,d2). Where the factors do not meet, the leading common one is a
 * loop and the rest is a WHOLE loop in no map: f32[6,4] -> f32[4,6] has loops d0 (2) and d1 (12, whole), maps
 * (d0,d1)->(3*d0,0) and (d0,d1)->(2*d0,0), and block d0 of the one holds the same elements as block d0 of the other.
 */
#include "base/checked.h"
#include "graph/ops/op_rules.h"

sw_rc sw_infer_broadcast(sw_rule_call *c) {
  const sw_type *x = &c->operands[0];
  SW_TRY(sw_check_shape(c, SW_ATTR_SHAPE));
  int rank, n;
  const int64_t *shape = sw_call_ints(c, SW_ATTR_SHAPE, &rank);
  const int64_t *dims = sw_call_ints(c, SW_ATTR_DIMS, &n);
  if (n != x->rank) {
    return SW_RULE_FAIL(c, "'dims' has %d numbers; expected %d, one per dim of operand 0", n, x->rank);
  }
  SW_TRY(sw_check_dims(c, SW_ATTR_DIMS, rank, "the result"));
  for (int i = 0; i < n; i++) {
    if (x->dims[i] != 1 && x->dims[i] != shape[dims[i]]) {
      return SW_RULE_FAIL(c, "dim %d of operand 0 has size %lld and dim %lld of the result %lld; expected 1 or equal",
                          i, (long long)x->dims[i], (long long)dims[i], (long long)shape[dims[i]]);
    }
  }
  return sw_call_result_like(c, x->dtype, &(sw_type){x->dtype, rank, shape});
}

void sw_nest_of_broadcast(const sw_rule_call *c, sw_nest_builder *b) {
  const sw_type *x = &c->operands[0], *r = &c->results[0];
  int n, first = sw_nest_parallel_dims(b, r);
  const int64_t *dims = sw_call_ints(c, SW_ATTR_DIMS, &n);
  for (int i = 0; i < n; i++) {
    if (x->dims[i] == r->dims[dims[i]]) sw_nest_set(b, 0, i, first + (int)dims[i]);
  }
  sw_nest_identity(b, sw_nest_result(b, 0), first);
  sw_nest_moves(b, 1);
}

sw_rc sw_infer_transpose(sw_rule_call *c) {
  const sw_type *x = &c->operands[0];
  int n;
  const int64_t *perm = sw_call_ints(c, SW_ATTR_PERMUTATION, &n);
  if (n != x->rank) {
    return SW_RULE_FAIL(c, "'permutation' has %d numbers; expected %d, one per dim of operand 0", n, x->rank);
  }
  SW_TRY(sw_check_dims(c, SW_ATTR_PERMUTATION, x->rank, "operand 0"));
  int64_t *dims;
  SW_TRY(sw_call_result(c, x->dtype, n, &dims));
  for (int i = 0; i < n; i++) dims[i] = x->dims[perm[i]];
  return SW_OK;
}

void sw_nest_of_transpose(const sw_rule_call *c, sw_nest_builder *b) {
  int n, first = sw_nest_parallel_dims(b, &c->results[0]);
  const int64_t *perm = sw_call_ints(c, SW_ATTR_PERMUTATION, &n);
  for (int i = 0; i < n; i++) sw_nest_set(b, 0, (int)perm[i], first + i);
  sw_nest_identity(b, sw_nest_result(b, 0), first);
  sw_nest_moves(b, 1);
}

sw_rc sw_infer_reshape(sw_rule_call *c) {
  const sw_type *x = &c->operands[0];
  SW_TRY(sw_check_shape(c, SW_ATTR_SHAPE));
  int rank;
  const int64_t *shape = sw_call_ints(c, SW_ATTR_SHAPE, &rank);
  sw_type r = {x->dtype, rank, shape};
  int64_t have = sw_type_elements(x), want = sw_type_elements(&r);
  if (have < 0 || have != want) {
    return SW_RULE_FAIL(c, "operand 0 has %lld elements and 'shape' %lld; expected as many", (long long)have,
                        (long long)want);
  }
  return sw_call_result_like(c, x->dtype, &r);
}

/* One side of a reshape while its dims are walked, major first. */
typedef struct side {
  const sw_type *t;
  int map, dim;
  int64_t left; /* what is left of the dim; 1 = done with it */
  int n;
  int loops[SW_MAX_LOOPS]; /* found for this dim so far */
} side;

/* Record the loops found for the dim, whose minor `rest` no loop reaches, and go on to the next dim that is not 1. */
static bool next_dim(sw_nest_builder *b, side *s, int64_t rest) {
  if (s->n) sw_nest_digits(b, s->map, s->dim, s->n, s->loops, rest);
  s->n = 0;
  do {
    s->dim++;
  } while (s->dim < s->t->rank && s->t->dims[s->dim] == 1);
  bool more = s->dim < s->t->rank;
  s->left = more ? s->t->dims[s->dim] : 1;
  return more;
}

static void take_loop(side *s, int loop, int64_t factor) {
  s->loops[s->n++] = loop;
  s->left /= factor;
}

/* The rest of a group whose factors do not meet: walk on until both sides have the same number of elements. */
static void skip_group(sw_nest_builder *b, side *x, side *r) {
  int64_t in_x = x->left, in_r = r->left;
  bool more_x = next_dim(b, x, in_x), more_r = next_dim(b, r, in_r);
  while (in_x != in_r) {
    if (in_x < in_r) {
      in_x *= x->left;
      more_x = more_x && next_dim(b, x, 1);
    } else {
      in_r *= r->left;
      more_r = more_r && next_dim(b, r, 1);
    }
  }
  (void)sw_nest_loop(b, in_x, SW_LOOP_WHOLE);
}

void sw_nest_of_reshape(const sw_rule_call *c, sw_nest_builder *b) {
  sw_nest_moves(b, 1);
  if (sw_type_elements(&c->operands[0]) == 0) {
    (void)sw_nest_loop(b, 0, SW_LOOP_WHOLE);
    return;
  }
  side x = {.t = &c->operands[0], .map = 0, .dim = -1},
       r = {.t = &c->results[0], .map = sw_nest_result(b, 0), .dim = -1};
  bool more = next_dim(b, &x, 1) && next_dim(b, &r, 1);
  while (more && !b->rc) {
    int64_t f = sw_gcd_i64(x.left, r.left);
    if (f > 1) {
      int loop = sw_nest_loop(b, f, SW_LOOP_PARALLEL);
      take_loop(&x, loop, f);
      take_loop(&r, loop, f);
    }
    if (x.left > 1 && r.left > 1) {
      skip_group(b, &x, &r);
    } else {
      if (x.left == 1) (void)next_dim(b, &x, 1);
      if (r.left == 1) (void)next_dim(b, &r, 1);
    }
    more = x.dim < x.t->rank || r.dim < r.t->rank;
  }
}

/* --- bitcast_convert --------------------------------------------------------------------------------------------- */

/* How many elements of the narrower dtype make one of the wider; 0: no whole number of them. */
static int64_t parts_of(const sw_rule_call *c, bool *wider) {
  int from = sw_dtype_bits(c->operands[0].dtype), to = sw_dtype_bits(sw_call_dtype(c, SW_ATTR_DTYPE));
  *wider = to > from;
  int more = *wider ? to : from, fewer = *wider ? from : to;
  return more % fewer ? 0 : more / fewer;
}

sw_rc sw_infer_bitcast(sw_rule_call *c) {
  const sw_type *x = &c->operands[0];
  sw_dtype to = sw_call_dtype(c, SW_ATTR_DTYPE);
  unsigned classes = x->dtype == to ? SW_ELEMENTS : SW_NUMBERS; /* we hold no bits of bools */
  SW_TRY(sw_check_class(c, 0, classes));
  if (!(1u << sw_dtype_class_of(to) & classes)) {
    return SW_RULE_FAIL(c, "'dtype' is %s; expected a dtype of numbers", sw_dtype_text(to));
  }
  bool wider;
  int64_t parts = parts_of(c, &wider);
  if (!parts)
    return SW_RULE_FAIL(c, "%s has no whole number of elements of %s", sw_dtype_text(x->dtype), sw_dtype_text(to));
  int rank = parts == 1 ? x->rank : wider ? x->rank - 1 : x->rank + 1;
  if (parts > 1 && wider && (x->rank == 0 || x->dims[rank] != parts)) {
    return SW_RULE_FAIL(c, "the last dim has %lld elements; expected %lld, which make one %s",
                        x->rank ? (long long)x->dims[rank] : 0, (long long)parts, sw_dtype_text(to));
  }
  if (rank > SW_MAX_RANK) return SW_RULE_FAIL(c, "the result has %d dims; expected at most %d", rank, SW_MAX_RANK);
  int64_t *dims;
  SW_TRY(sw_call_result(c, to, rank, &dims));
  for (int i = 0; i < rank; i++) dims[i] = i < x->rank ? x->dims[i] : parts;
  return SW_OK;
}

void sw_nest_of_bitcast(const sw_rule_call *c, sw_nest_builder *b) {
  bool wider;
  int64_t parts = parts_of(c, &wider);
  const sw_type *fewer = wider ? &c->results[0] : &c->operands[0];
  int first = sw_nest_parallel_dims(b, fewer), result = sw_nest_result(b, 0);
  for (int i = 0; i < fewer->rank; i++) {
    sw_nest_set(b, 0, i, first + i);
    sw_nest_set(b, result, i, first + i);
  }
  if (parts > 1) sw_nest_set(b, wider ? 0 : result, fewer->rank, sw_nest_loop(b, parts, SW_LOOP_WHOLE));
}
