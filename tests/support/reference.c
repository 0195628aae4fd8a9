/* Each op is a function from an index of the result to its element, but for those that are easier said for the whole
 * result (scatter, top_k). Everything is recomputed from indices; nothing is fast. */
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collective/scalar.h"
#include "support/special.h"

typedef struct call {
  const sw_op *op;
  const sw_buffer *const *in;
  sw_buffer *const *out;
  const sw_mesh *mesh;
  int64_t device;
} call;

typedef sw_scalar (*element)(const call *c, const int64_t *at);

/* --- indices ------------------------------------------------------------------------------------------------------ */

static void *address(const sw_buffer *b, const int64_t *at) {
  int64_t n = 0;
  for (int i = 0; i < b->rank; i++) n = n * b->dims[i] + at[i];
  return (char *)b->data + n * sw_dtype_bytes(b->dtype);
}
static sw_scalar get(const sw_buffer *b, const int64_t *at) { return sw_scalar_load(b->dtype, address(b, at)); }

/* The next index of a box, row-major; false after the last. */
static bool next(int rank, const int64_t *dims, int64_t *at) {
  for (int i = rank - 1; i >= 0; i--) {
    if (++at[i] < dims[i]) return true;
    at[i] = 0;
  }
  return false;
}
static bool is_empty(int rank, const int64_t *dims) {
  for (int i = 0; i < rank; i++) {
    if (dims[i] == 0) return true;
  }
  return false;
}
static bool has(const int64_t *list, int n, int64_t x) {
  for (int i = 0; i < n; i++) {
    if (list[i] == x) return true;
  }
  return false;
}
static int64_t attr(const call *c, sw_attr_key k, int i, int64_t absent) {
  int n;
  const int64_t *v = sw_op_ints(c->op, k, &n);
  return i < n ? v[i] : absent;
}
static int64_t whole(sw_dtype t, sw_scalar v) { /* integers of any sign, floats unused */
  if (t == SW_U64 && v.bits > INT64_MAX) return INT64_MAX;
  return (int64_t)v.bits;
}
static int64_t clamp(int64_t lo, int64_t v, int64_t hi) { return v < lo ? lo : v > hi ? hi : v; }

/* --- elementwise -------------------------------------------------------------------------------------------------- */

static bool is_float(sw_dtype t) { return sw_dtype_class_of(t) == SW_CLASS_FLOAT; }
static bool is_signed(sw_dtype t) { return sw_dtype_class_of(t) == SW_CLASS_SIGNED; }
static int width(sw_dtype t) { return sw_dtype_bits(t); }

static uint64_t unary_int(sw_opcode code, sw_dtype t, uint64_t a) {
  uint64_t low = width(t) == 64 ? a : a & ((UINT64_C(1) << width(t)) - 1);
  int64_t s = (int64_t)a;
  int ones = 0, leading = 0;
  for (int i = 0; i < width(t); i++) ones += (int)(low >> i & 1);
  for (int i = width(t) - 1; i >= 0 && !(low >> i & 1); i--) leading++;
  switch ((int)code) {
    case SW_OP_ABS:
      return is_signed(t) && s < 0 ? -a : a;
    case SW_OP_NEGATE:
      return -a;
    case SW_OP_SIGN:
      return is_signed(t) ? (uint64_t)((s > 0) - (s < 0)) : a > 0;
    case SW_OP_NOT:
      return t == SW_BOOL ? !a : ~a;
    case SW_OP_POPCNT:
      return (uint64_t)ones;
    default:
      return (uint64_t)leading;
  }
}

static sw_scalar unary(const call *c, const int64_t *at) {
  sw_dtype t = c->in[0]->dtype;
  sw_scalar a = get(c->in[0], at);
  if (sw_dtype_class_of(t) == SW_CLASS_COMPLEX) return complex_op(c->op->code, a, a);
  if (c->op->code == SW_OP_IS_FINITE) return (sw_scalar){.bits = isfinite(a.re) != 0};
  if (is_float(t)) return (sw_scalar){.re = unary_float(c->op->code, a.re)};
  return (sw_scalar){.bits = unary_int(c->op->code, t, a.bits)};
}

static double binary_float(sw_opcode code, double a, double b) {
  switch ((int)code) {
    case SW_OP_ADD:
      return a + b;
    case SW_OP_SUBTRACT:
      return a - b;
    case SW_OP_MULTIPLY:
      return a * b;
    case SW_OP_DIVIDE:
      return a / b;
    case SW_OP_REMAINDER:
      return fmod(a, b);
    case SW_OP_MAXIMUM:
      return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
    case SW_OP_MINIMUM:
      return isnan(a) || isnan(b) ? NAN : a < b ? a : b;
    case SW_OP_ZETA:
    case SW_OP_POLYGAMMA:
      return zeta_or_polygamma(code, a, b);
    case SW_OP_POWER:
      return pow(a, b);
    case SW_OP_HYPOT:
      return isinf(a) || isinf(b) ? INFINITY : (double)sqrtl((long double)a * a + (long double)b * b);
    default:
      return atan2(a, b);
  }
}

static uint64_t power(bool sign, uint64_t a, uint64_t n) {
  uint64_t r = 1;
  if (sign && (int64_t)n < 0) return a == 1 ? 1 : a == UINT64_MAX ? (n & 1 ? UINT64_MAX : 1) : 0;
  if (n > 64 && a != 0 &&
      a != 1) { /* only the parity of a base of 2 and more matters beyond the width... by squaring */
    uint64_t half = power(false, a, n / 2);
    return half * half * (n & 1 ? a : 1);
  }
  for (uint64_t i = 0; i < n && i < 65; i++) r *= a;
  return r;
}

static uint64_t shift(sw_opcode code, sw_dtype t, uint64_t a, uint64_t b) {
  int w = width(t);
  uint64_t mask = w == 64 ? UINT64_MAX : (UINT64_C(1) << w) - 1;
  uint64_t low = a & mask, amount = b & mask;
  bool negative = low >> (w - 1) & 1;
  if (code == SW_OP_SHIFT_LEFT) return amount >= (uint64_t)w ? 0 : low << amount;
  if (code == SW_OP_SHIFT_RIGHT_LOGICAL || !negative) return amount >= (uint64_t)w ? 0 : low >> amount;
  return amount >= (uint64_t)w ? UINT64_MAX : low >> amount | (amount ? mask << ((uint64_t)w - amount) : 0);
}

static uint64_t binary_int(sw_opcode code, sw_dtype t, uint64_t a, uint64_t b) {
  bool sign = is_signed(t);
  int64_t x = (int64_t)a, y = (int64_t)b;
  bool less = sign ? x < y : a < b;
  switch ((int)code) {
    case SW_OP_ADD:
      return a + b;
    case SW_OP_SUBTRACT:
      return a - b;
    case SW_OP_MULTIPLY:
      return a * b;
    case SW_OP_DIVIDE:
      return b == 0 ? UINT64_MAX : sign && y == -1 ? -a : sign ? (uint64_t)(x / y) : a / b;
    case SW_OP_REMAINDER:
      return b == 0 ? a : sign && y == -1 ? 0 : sign ? (uint64_t)(x % y) : a % b;
    case SW_OP_MAXIMUM:
      return less ? b : a;
    case SW_OP_MINIMUM:
      return less ? a : b;
    case SW_OP_POWER:
      return power(sign, a, b);
    case SW_OP_AND:
      return a & b;
    case SW_OP_OR:
      return a | b;
    case SW_OP_XOR:
      return a ^ b;
    default:
      return shift(code, t, a, b);
  }
}

static uint64_t binary_bool(sw_opcode code, uint64_t a, uint64_t b) {
  if (code == SW_OP_XOR) return a ^ b;
  return code == SW_OP_ADD || code == SW_OP_OR || code == SW_OP_MAXIMUM ? a | b : a & b;
}

static sw_scalar binary(const call *c, const int64_t *at) {
  if (sw_dtype_class_of(c->in[0]->dtype) == SW_CLASS_COMPLEX) {
    return complex_op(c->op->code, get(c->in[0], at), get(c->in[1], at));
  }
  sw_dtype t = c->in[0]->dtype;
  sw_scalar a = get(c->in[0], at), b = get(c->in[1], at);
  if (is_float(t)) return (sw_scalar){.re = binary_float(c->op->code, a.re, b.re)};
  if (t == SW_BOOL) return (sw_scalar){.bits = binary_bool(c->op->code, a.bits, b.bits)};
  return (sw_scalar){.bits = binary_int(c->op->code, t, a.bits, b.bits)};
}

static int order_of(sw_dtype t, sw_scalar a, sw_scalar b) { /* -1, 0, 1; 2: not comparable */
  if (is_float(t)) return isnan(a.re) || isnan(b.re) ? 2 : (a.re > b.re) - (a.re < b.re);
  if (is_signed(t)) return ((int64_t)a.bits > (int64_t)b.bits) - ((int64_t)a.bits < (int64_t)b.bits);
  return (a.bits > b.bits) - (a.bits < b.bits);
}

static sw_scalar compare(const call *c, const int64_t *at) {
  const char *word = sw_op_text(c->op, SW_ATTR_DIRECTION, "");
  int o = order_of(c->in[0]->dtype, get(c->in[0], at), get(c->in[1], at));
  bool r = strcmp(word, "eq") == 0   ? o == 0
           : strcmp(word, "ne") == 0 ? o != 0
           : strcmp(word, "lt") == 0 ? o == -1
           : strcmp(word, "gt") == 0 ? o == 1
           : strcmp(word, "le") == 0 ? o == -1 || o == 0
                                     : o == 1 || o == 0;
  return (sw_scalar){.bits = r};
}

static sw_scalar select_one(const call *c, const int64_t *at) {
  return get(c->in[get(c->in[0], c->in[0]->rank ? at : NULL).bits ? 1 : 2], at);
}

static sw_scalar clamp_one(const call *c, const int64_t *at) {
  sw_dtype t = c->in[1]->dtype;
  sw_scalar lo = get(c->in[0], c->in[0]->rank ? at : NULL), x = get(c->in[1], at);
  sw_scalar hi = get(c->in[2], c->in[2]->rank ? at : NULL);
  if (is_float(t) && (isnan(lo.re) || isnan(x.re) || isnan(hi.re))) return (sw_scalar){.re = NAN};
  sw_scalar r = order_of(t, lo, x) > 0 ? lo : x;
  return order_of(t, r, hi) > 0 ? hi : r;
}

static sw_scalar convert(const call *c, const int64_t *at) {
  return sw_scalar_convert(c->in[0]->dtype, c->out[0]->dtype, get(c->in[0], at));
}

/* --- moving ------------------------------------------------------------------------------------------------------- */

static sw_scalar broadcast(const call *c, const int64_t *at) {
  int64_t from[SW_MAX_RANK];
  for (int i = 0; i < c->in[0]->rank; i++) from[i] = c->in[0]->dims[i] == 1 ? 0 : at[attr(c, SW_ATTR_DIMS, i, 0)];
  return get(c->in[0], from);
}

static sw_scalar transpose(const call *c, const int64_t *at) {
  int64_t from[SW_MAX_RANK];
  for (int i = 0; i < c->in[0]->rank; i++) from[attr(c, SW_ATTR_PERMUTATION, i, 0)] = at[i];
  return get(c->in[0], from);
}

static sw_scalar reshape(const call *c, const int64_t *at) {
  int64_t n = ((char *)address(c->out[0], at) - (char *)c->out[0]->data) / sw_dtype_bytes(c->out[0]->dtype);
  return sw_scalar_load(c->in[0]->dtype, (char *)c->in[0]->data + n * sw_dtype_bytes(c->in[0]->dtype));
}

static sw_scalar reverse(const call *c, const int64_t *at) {
  int64_t from[SW_MAX_RANK];
  int n;
  const int64_t *dims = sw_op_ints(c->op, SW_ATTR_DIMS, &n);
  for (int i = 0; i < c->in[0]->rank; i++) from[i] = has(dims, n, i) ? c->in[0]->dims[i] - 1 - at[i] : at[i];
  return get(c->in[0], from);
}

static sw_scalar slice(const call *c, const int64_t *at) {
  int64_t from[SW_MAX_RANK];
  for (int i = 0; i < c->in[0]->rank; i++) {
    from[i] = attr(c, SW_ATTR_START, i, 0) + at[i] * attr(c, SW_ATTR_STRIDES, i, 1);
  }
  return get(c->in[0], from);
}

static int64_t start_of(const call *c, int first, int dim, int64_t most) {
  const sw_buffer *b = c->in[first + dim];
  return clamp(0, whole(b->dtype, get(b, NULL)), most);
}

static sw_scalar dynamic_slice(const call *c, const int64_t *at) {
  int64_t from[SW_MAX_RANK];
  for (int i = 0; i < c->in[0]->rank; i++) {
    from[i] = at[i] + start_of(c, 1, i, c->in[0]->dims[i] - c->out[0]->dims[i]);
  }
  return get(c->in[0], from);
}

static sw_scalar dynamic_update_slice(const call *c, const int64_t *at) {
  int64_t from[SW_MAX_RANK];
  const sw_buffer *u = c->in[1];
  for (int i = 0; i < u->rank; i++) {
    from[i] = at[i] - start_of(c, 2, i, c->in[0]->dims[i] - u->dims[i]);
    if (from[i] < 0 || from[i] >= u->dims[i]) return get(c->in[0], at);
  }
  return get(u, from);
}

static sw_scalar pad(const call *c, const int64_t *at) {
  int64_t from[SW_MAX_RANK];
  for (int i = 0; i < c->in[0]->rank; i++) {
    int64_t p = at[i] - attr(c, SW_ATTR_LOW, i, 0), step = attr(c, SW_ATTR_INTERIOR, i, 0) + 1;
    if (p < 0 || p % step || p / step >= c->in[0]->dims[i]) return get(c->in[1], NULL);
    from[i] = p / step;
  }
  return get(c->in[0], from);
}

static sw_scalar concatenate(const call *c, const int64_t *at) {
  int64_t dim = sw_op_int(c->op, SW_ATTR_DIM, 0), from[SW_MAX_RANK];
  memcpy(from, at, sizeof(int64_t) * (size_t)c->out[0]->rank);
  int i = 0;
  for (; from[dim] >= c->in[i]->dims[dim]; i++) from[dim] -= c->in[i]->dims[dim];
  return get(c->in[i], from);
}

/* --- reducing ----------------------------------------------------------------------------------------------------- */

/* Accumulates in f64 and 64-bit integers, whatever the dtype. */
typedef struct accumulator {
  sw_reduction kind;
  sw_dtype dtype;
  sw_dtype wide;
  sw_scalar v;
} accumulator;

static accumulator accumulate(sw_reduction kind, sw_dtype t) {
  accumulator a = {.kind = kind, .dtype = t, .wide = is_float(t) ? SW_F64 : t};
  char cell[16];
  sw_reduction_identity_bytes(kind, t, cell);
  a.v = sw_scalar_load(t, cell);
  return a;
}
static void add_to(accumulator *a, sw_scalar x) { a->v = sw_reduction_combine(a->kind, a->wide, a->v, x); }
static sw_reduction kind_of(const call *c) {
  sw_reduction r = SW_REDUCE_SUM;
  if (!sw_reduction_parse(sw_op_text(c->op, SW_ATTR_KIND, ""), &r)) r = SW_REDUCE_GENERIC;
  return r;
}

static sw_scalar reduce(const call *c, const int64_t *at) {
  const sw_buffer *x = c->in[0];
  int n;
  const int64_t *dims = sw_op_ints(c->op, SW_ATTR_DIMS, &n);
  bool keep = sw_op_int(c->op, SW_ATTR_KEEP_DIMS, 0) != 0;
  accumulator a = accumulate(kind_of(c), x->dtype);
  int64_t from[SW_MAX_RANK] = {0};
  if (is_empty(x->rank, x->dims)) return a.v;
  do {
    bool mine = true;
    for (int i = 0, k = 0; i < x->rank; i++) {
      if (!has(dims, n, i)) {
        mine = mine && from[i] == at[k++];
      } else if (keep) {
        k++;
      }
    }
    if (mine) add_to(&a, get(x, from));
  } while (next(x->rank, x->dims, from));
  return a.v;
}

static sw_scalar reduce_window(const call *c, const int64_t *at) {
  const sw_buffer *x = c->in[0];
  int64_t window[SW_MAX_RANK], w[SW_MAX_RANK] = {0};
  accumulator a = accumulate(kind_of(c), x->dtype);
  for (int i = 0; i < x->rank; i++) window[i] = attr(c, SW_ATTR_WINDOW, i, 1);
  do {
    int64_t from[SW_MAX_RANK];
    bool inside = true;
    for (int i = 0; i < x->rank; i++) {
      int64_t p = at[i] * attr(c, SW_ATTR_STRIDES, i, 1) + w[i] * attr(c, SW_ATTR_RHS_DILATION, i, 1) -
                  attr(c, SW_ATTR_PAD_LOW, i, 0);
      int64_t step = attr(c, SW_ATTR_LHS_DILATION, i, 1);
      inside = inside && p >= 0 && p % step == 0 && p / step < x->dims[i];
      from[i] = p / step;
    }
    if (inside) add_to(&a, get(x, from));
  } while (next(x->rank, window, w));
  return a.v;
}

static sw_scalar cumulative(const call *c, const int64_t *at) {
  const sw_buffer *x = c->in[0];
  int64_t dim = sw_op_int(c->op, SW_ATTR_DIM, 0), from[SW_MAX_RANK];
  bool reversed = sw_op_int(c->op, SW_ATTR_REVERSED, 0) != 0, exclusive = sw_op_int(c->op, SW_ATTR_EXCLUSIVE, 0) != 0;
  accumulator a = accumulate(kind_of(c), x->dtype);
  memcpy(from, at, sizeof(int64_t) * (size_t)x->rank);
  for (int64_t i = 0; i < x->dims[dim]; i++) {
    from[dim] = i;
    bool before = reversed ? i > at[dim] : i < at[dim];
    if (before || (!exclusive && i == at[dim])) add_to(&a, get(x, from));
  }
  return a.v;
}

/* Does a come before b (of higher index) when the best is the greatest (or the least)? */
static bool beats(sw_dtype t, sw_scalar a, sw_scalar b, bool least) {
  if (is_float(t) && isnan(a.re)) return !isnan(b.re);
  if (is_float(t) && isnan(b.re)) return false;
  return order_of(t, a, b) == (least ? -1 : 1);
}

static sw_scalar arg_pick(const call *c, const int64_t *at) {
  const sw_buffer *x = c->in[0];
  int64_t dim = sw_op_int(c->op, SW_ATTR_DIM, 0), from[SW_MAX_RANK], best[SW_MAX_RANK];
  bool keep = sw_op_int(c->op, SW_ATTR_KEEP_DIMS, 0) != 0;
  for (int i = 0, k = 0; i < x->rank; i++) {
    from[i] = i == dim ? 0 : at[k];
    if (i != dim || keep) k++;
  }
  memcpy(best, from, sizeof best);
  for (int64_t i = 1; i < x->dims[dim]; i++) {
    from[dim] = i;
    if (beats(x->dtype, get(x, from), get(x, best), c->op->code == SW_OP_ARGMIN)) best[dim] = i;
  }
  return (sw_scalar){.bits = (uint64_t)best[dim]};
}

/* Where an element stands in the order: NaN above numbers, -0 as 0; or the total order by sign. */
static int before(sw_dtype t, bool total, sw_scalar a, sw_scalar b) {
  if (!is_float(t)) {
    if (is_signed(t)) return ((int64_t)a.bits > (int64_t)b.bits) - ((int64_t)a.bits < (int64_t)b.bits);
    return (a.bits > b.bits) - (a.bits < b.bits);
  }
  double x = isnan(a.re) ? (total && signbit(a.re) ? -3 : 3) : isinf(a.re) ? (a.re > 0 ? 2 : -2) : 0;
  double y = isnan(b.re) ? (total && signbit(b.re) ? -3 : 3) : isinf(b.re) ? (b.re > 0 ? 2 : -2) : 0;
  if (x == 0 && y == 0)
    x = a.re, y = b.re;
  else if (x == 0 || y == 0)
    return (x > y) - (x < y);
  if (x == y && total && x == 0) return (int)signbit(b.re) - (int)signbit(a.re);
  return (x > y) - (x < y);
}

/* Repeatedly the best of those not taken. */
static void top_k(const call *c) {
  const sw_buffer *x = c->in[0], *values = c->out[0], *indices = c->out[1];
  int64_t dim = sw_op_int(c->op, SW_ATTR_DIM, x->rank - 1), at[SW_MAX_RANK] = {0};
  if (is_empty(values->rank, values->dims)) return;
  do {
    int64_t from[SW_MAX_RANK], best[SW_MAX_RANK], other[SW_MAX_RANK], earlier[SW_MAX_RANK];
    memcpy(from, at, sizeof from);
    best[dim] = -1;
    for (int64_t i = 0; i < x->dims[dim]; i++) {
      bool taken = false;
      memcpy(earlier, at, sizeof earlier);
      for (earlier[dim] = 0; earlier[dim] < at[dim]; earlier[dim]++)
        taken = taken || (int64_t)get(indices, earlier).bits == i;
      from[dim] = i;
      memcpy(other, from, sizeof other);
      if (taken || (best[dim] >= 0 && before(x->dtype, true, get(x, other), get(x, best)) <= 0)) continue;
      memcpy(best, from, sizeof best);
    }
    sw_scalar_store(values->dtype, get(x, best), address(values, at));
    sw_scalar_store(indices->dtype, (sw_scalar){.bits = (uint64_t)best[dim]}, address(indices, at));
  } while (next(values->rank, values->dims, at));
}

/* --- products ----------------------------------------------------------------------------------------------------- */

/* Sum of products in f64 or 64-bit integers. */
typedef struct products {
  bool floats, bools;
  sw_scalar v;
} products;
static void multiply_add(products *p, sw_scalar a, sw_scalar b) {
  if (p->floats) {
    p->v.re += a.re * b.re;
  } else {
    p->v.bits = p->bools ? p->v.bits | (a.bits & b.bits) : p->v.bits + a.bits * b.bits;
  }
}
static products products_of(const call *c) {
  return (products){.floats = is_float(c->out[0]->dtype), .bools = c->out[0]->dtype == SW_BOOL};
}
/* An operand's element as a number of the result's class. */
static sw_scalar factor(const call *c, int i, const int64_t *at) {
  sw_dtype t = c->in[i]->dtype, r = c->out[0]->dtype;
  return is_float(t) == is_float(r) ? get(c->in[i], at)
                                    : sw_scalar_convert(t, is_float(r) ? SW_F64 : SW_I64, get(c->in[i], at));
}

static sw_scalar dot(const call *c, const int64_t *at) {
  const sw_buffer *x = c->in[0], *y = c->in[1];
  int nb, nk, n;
  const int64_t *xb = sw_op_ints(c->op, SW_ATTR_LHS_BATCH, &nb), *yb = sw_op_ints(c->op, SW_ATTR_RHS_BATCH, &n);
  const int64_t *xk = sw_op_ints(c->op, SW_ATTR_LHS_CONTRACT, &nk), *yk = sw_op_ints(c->op, SW_ATTR_RHS_CONTRACT, &n);
  int64_t i[SW_MAX_RANK] = {0}, j[SW_MAX_RANK] = {0}, k[SW_MAX_RANK] = {0}, sizes[SW_MAX_RANK];
  int o = nb;
  for (int b = 0; b < nb; b++) i[xb[b]] = j[yb[b]] = at[b];
  for (int b = 0; b < x->rank; b++) {
    if (!has(xb, nb, b) && !has(xk, nk, b)) i[b] = at[o++];
  }
  for (int b = 0; b < y->rank; b++) {
    if (!has(yb, nb, b) && !has(yk, nk, b)) j[b] = at[o++];
  }
  for (int b = 0; b < nk; b++) sizes[b] = x->dims[xk[b]];
  products p = products_of(c);
  if (is_empty(nk, sizes)) return p.v;
  do {
    for (int b = 0; b < nk; b++) i[xk[b]] = j[yk[b]] = k[b];
    multiply_add(&p, factor(c, 0, i), factor(c, 1, j));
  } while (next(nk, sizes, k));
  return p.v;
}

/* The dim that a layout gives to a letter or digit. */
static int dim_of(const call *c, sw_attr_key k, char letter) {
  const char *text = sw_op_text(c->op, k, "");
  return (int)(strchr(text, letter) - text);
}

static sw_scalar convolution(const call *c, const int64_t *at) {
  const sw_buffer *x = c->in[0], *w = c->in[1];
  int rank = x->rank - 2, xb = dim_of(c, SW_ATTR_LHS_LAYOUT, 'b'), xf = dim_of(c, SW_ATTR_LHS_LAYOUT, 'f');
  int wo = dim_of(c, SW_ATTR_RHS_LAYOUT, 'o'), wi = dim_of(c, SW_ATTR_RHS_LAYOUT, 'i');
  int64_t groups = sw_op_int(c->op, SW_ATTR_FEATURE_GROUPS, 1), batches = sw_op_int(c->op, SW_ATTR_BATCH_GROUPS, 1);
  int64_t b = at[dim_of(c, SW_ATTR_OUT_LAYOUT, 'b')], o = at[dim_of(c, SW_ATTR_OUT_LAYOUT, 'f')];
  int64_t outs = w->dims[wo], k[SW_MAX_RANK] = {0}, sizes[SW_MAX_RANK];
  for (int i = 0; i < rank; i++) sizes[i] = w->dims[dim_of(c, SW_ATTR_RHS_LAYOUT, (char)('0' + i))];
  sizes[rank] = w->dims[wi];
  products p = products_of(c);
  if (is_empty(rank + 1, sizes)) return p.v;
  do {
    int64_t from[SW_MAX_RANK], kernel[SW_MAX_RANK];
    bool inside = true;
    from[xb] = b + o / (outs / batches) * (x->dims[xb] / batches);
    from[xf] = o / (outs / groups) * sizes[rank] + k[rank];
    kernel[wo] = o, kernel[wi] = k[rank];
    if (batches > 1) from[xf] = k[rank];
    for (int i = 0; i < rank; i++) {
      int dim = dim_of(c, SW_ATTR_LHS_LAYOUT, (char)('0' + i));
      int64_t q = at[dim_of(c, SW_ATTR_OUT_LAYOUT, (char)('0' + i))] * attr(c, SW_ATTR_STRIDES, i, 1) +
                  k[i] * attr(c, SW_ATTR_RHS_DILATION, i, 1) - attr(c, SW_ATTR_PAD_LOW, i, 0);
      int64_t step = attr(c, SW_ATTR_LHS_DILATION, i, 1);
      inside = inside && q >= 0 && q % step == 0 && q / step < x->dims[dim];
      from[dim] = q / step;
      kernel[dim_of(c, SW_ATTR_RHS_LAYOUT, (char)('0' + i))] = k[i];
    }
    if (inside) multiply_add(&p, factor(c, 0, from), factor(c, 1, kernel));
  } while (next(rank + 1, sizes, k));
  return p.v;
}

/* --- gather and scatter, in the words of StableHLO ---------------------------------------------------------------- */

/* The start indices of the window at batch index `batch` (one entry per dim of indices but the vector's). */
static void full_start(const call *c, const int64_t *batch, int64_t *start) {
  const sw_buffer *s = c->in[1];
  int n_map, n_batch;
  const int64_t *map = sw_op_ints(c->op, SW_ATTR_START_INDEX_MAP, &n_map);
  const int64_t *operand_batch = sw_op_ints(c->op, SW_ATTR_OPERAND_BATCH, &n_batch);
  int64_t vector_dim = sw_op_int(c->op, SW_ATTR_INDEX_VECTOR_DIM, s->rank), at[SW_MAX_RANK];
  for (int i = 0; i < c->in[0]->rank; i++) start[i] = 0;
  for (int v = 0; v < n_map; v++) {
    for (int i = 0, k = 0; i < s->rank; i++) at[i] = i == vector_dim ? v : batch[k++];
    start[map[v]] = whole(s->dtype, get(s, at));
  }
  for (int i = 0; i < n_batch; i++) {
    int64_t dim = attr(c, SW_ATTR_INDICES_BATCH, i, 0);
    start[operand_batch[i]] = batch[dim - (dim > vector_dim)];
  }
}

/* Split an index of `window` (result or updates) into its batch part and its offset within the operand's window. */
static void split_index(const call *c, const int64_t *at, int rank, sw_attr_key window_dims, sw_attr_key dropped,
                        int64_t *batch, int64_t *offset) {
  int n, n_dropped, n_batch;
  const int64_t *dims = sw_op_ints(c->op, window_dims, &n), *gone = sw_op_ints(c->op, dropped, &n_dropped);
  const int64_t *operand_batch = sw_op_ints(c->op, SW_ATTR_OPERAND_BATCH, &n_batch);
  for (int i = 0, k = 0; i < rank; i++) {
    if (!has(dims, n, i)) batch[k++] = at[i];
  }
  for (int i = 0, k = 0; i < c->in[0]->rank; i++) {
    bool kept = !has(gone, n_dropped, i) && !has(operand_batch, n_batch, i);
    offset[i] = kept ? at[dims[k++]] : 0;
  }
}

static sw_scalar gather(const call *c, const int64_t *at) {
  const sw_buffer *x = c->in[0];
  int64_t batch[SW_MAX_RANK], offset[SW_MAX_RANK], start[SW_MAX_RANK];
  split_index(c, at, c->out[0]->rank, SW_ATTR_OFFSET_DIMS, SW_ATTR_COLLAPSED_DIMS, batch, offset);
  full_start(c, batch, start);
  for (int i = 0; i < x->rank; i++) offset[i] += clamp(0, start[i], x->dims[i] - attr(c, SW_ATTR_SIZES, i, 1));
  return get(x, offset);
}

/* Row-major number of the index vector at `batch`. */
static int64_t vector_number(const call *c, const int64_t *batch) {
  const sw_buffer *s = c->in[1];
  int64_t vector_dim = sw_op_int(c->op, SW_ATTR_INDEX_VECTOR_DIM, s->rank), n = 0;
  for (int i = 0, k = 0; i < s->rank; i++) {
    if (i != vector_dim) n = n * s->dims[i] + batch[k++];
  }
  return n;
}

/* An element of the result, and the index vector that replaced it last: the one of the highest number stays. */
typedef struct target {
  sw_scalar v;
  int64_t by;
} target;

/* How far the window reaches along a dim of the operand. */
static int64_t reach(const call *c, int dim) {
  int n, n_dropped, n_batch, k = 0;
  const int64_t *dims = sw_op_ints(c->op, SW_ATTR_UPDATE_WINDOW_DIMS, &n);
  const int64_t *gone = sw_op_ints(c->op, SW_ATTR_INSERTED_DIMS, &n_dropped);
  const int64_t *batch = sw_op_ints(c->op, SW_ATTR_OPERAND_BATCH, &n_batch);
  for (int i = 0; i < dim; i++) k += !has(gone, n_dropped, i) && !has(batch, n_batch, i);
  return has(gone, n_dropped, dim) || has(batch, n_batch, dim) ? 1 : c->in[2]->dims[dims[k]];
}

static void scatter_one(const call *c, const int64_t *at, target *targets) {
  sw_buffer *y = c->out[0];
  const sw_buffer *u = c->in[2];
  sw_reduction kind = kind_of(c);
  int64_t batch[SW_MAX_RANK], offset[SW_MAX_RANK], start[SW_MAX_RANK], e = 0;
  split_index(c, at, u->rank, SW_ATTR_UPDATE_WINDOW_DIMS, SW_ATTR_INSERTED_DIMS, batch, offset);
  full_start(c, batch, start);
  for (int i = 0; i < y->rank; i++) {
    if (start[i] < 0 || start[i] > y->dims[i] - reach(c, i)) return; /* the whole window is dropped */
    e = e * y->dims[i] + start[i] + offset[i];
  }
  int64_t by = vector_number(c, batch);
  if (kind != SW_REDUCE_GENERIC) {
    targets[e].v = sw_reduction_combine(kind, is_float(y->dtype) ? SW_F64 : y->dtype, targets[e].v, get(u, at));
  } else if (by >= targets[e].by) {
    targets[e] = (target){get(u, at), by};
  }
}

static void scatter(const call *c) {
  sw_buffer *y = c->out[0];
  const sw_buffer *u = c->in[2];
  int64_t n = sw_buffer_elements(y), bytes = sw_dtype_bytes(y->dtype), at[SW_MAX_RANK] = {0};
  target *targets = calloc((size_t)n + 1, sizeof *targets);
  for (int64_t i = 0; i < n; i++) targets[i].v = sw_scalar_load(y->dtype, (char *)c->in[0]->data + i * bytes);
  if (!is_empty(u->rank, u->dims)) {
    do {
      scatter_one(c, at, targets);
    } while (next(u->rank, u->dims, at));
  }
  for (int64_t i = 0; i < n; i++) sw_scalar_store(y->dtype, targets[i].v, (char *)y->data + i * bytes);
  free(targets);
}

/* --- sort --------------------------------------------------------------------------------------------------------- */

static bool goes_first(const call *c, const int64_t *a, const int64_t *b, int64_t dim) {
  int n;
  const int64_t *keys = sw_op_ints(c->op, SW_ATTR_KEYS, &n);
  bool total = sw_op_int(c->op, SW_ATTR_TOTAL_ORDER, 0) != 0;
  for (int k = 0; k < n; k++) {
    const sw_buffer *x = c->in[keys[k]];
    int order = before(x->dtype, total, get(x, a), get(x, b));
    if (sw_op_int(c->op, SW_ATTR_DESCENDING, 0)) order = -order;
    if (order) return order < 0;
  }
  return a[dim] < b[dim];
}

/* Each element goes to the place that has as many before it. */
static void sort(const call *c) {
  const sw_buffer *x = c->in[0];
  int64_t dim = sw_op_int(c->op, SW_ATTR_DIM, x->rank - 1), at[SW_MAX_RANK] = {0};
  if (is_empty(x->rank, x->dims)) return;
  do {
    int64_t to[SW_MAX_RANK], other[SW_MAX_RANK];
    memcpy(to, at, sizeof to);
    memcpy(other, at, sizeof other);
    to[dim] = 0;
    for (other[dim] = 0; other[dim] < x->dims[dim]; other[dim]++) to[dim] += goes_first(c, other, at, dim);
    for (int i = 0; i < c->op->n_operands; i++) {
      memcpy(address(c->out[i], to), address(c->in[i], at), (size_t)sw_dtype_bytes(c->in[i]->dtype));
    }
  } while (next(x->rank, x->dims, at));
}

/* --- bits --------------------------------------------------------------------------------------------------------- */

static sw_scalar complex_of(const call *c, const int64_t *at) {
  return (sw_scalar){.re = get(c->in[0], at).re, .im = get(c->in[1], at).re};
}

/* Bit by bit: the elements' bits stand behind each other, the lowest first. */
static void bitcast(const call *c) {
  const sw_buffer *x = c->in[0], *y = c->out[0];
  int from = width(x->dtype), to = width(y->dtype);
  for (int64_t i = 0; i < sw_buffer_elements(y); i++) {
    uint64_t bits = 0;
    for (int64_t k = i * to; k < (i + 1) * to; k++) {
      const unsigned char *bytes = (const unsigned char *)x->data + k / from * sw_dtype_bytes(x->dtype);
      bits |= (uint64_t)(bytes[k % from / 8] >> k % from % 8 & 1) << (k - i * to);
    }
    bits = sw_dtype_wrap(y->dtype, bits);
    memcpy((char *)y->data + i * sw_dtype_bytes(y->dtype), &bits, (size_t)sw_dtype_bytes(y->dtype));
  }
}

/* The nearest of the format's numbers, by trying the two around. */
static sw_scalar reduce_precision(const call *c, const int64_t *at) {
  double v = get(c->in[0], at).re, most = ldexp(1, (int)sw_op_int(c->op, SW_ATTR_EXPONENT_BITS, 0) - 1) - 1;
  int exponent;
  if (!isfinite(v) || v == 0) return (sw_scalar){.re = v};
  (void)frexp(v, &exponent);
  double step = ldexp(1, exponent - 1 - (int)sw_op_int(c->op, SW_ATTR_MANTISSA_BITS, 0));
  double low = floor(fabs(v) / step) * step, high = low + step, gap = fabs(v) - low;
  double r = gap < step / 2 || (gap == step / 2 && fmod(low / step, 2) == 0) ? low : high;
  (void)frexp(r, &exponent);
  if (exponent - 1 > most) r = INFINITY;
  if (exponent - 1 < 1 - most) r = 0;
  return (sw_scalar){.re = copysign(r, v)};
}

/* --- from nothing ------------------------------------------------------------------------------------------------- */

static sw_scalar iota(const call *c, const int64_t *at) {
  return sw_scalar_convert(SW_I64, c->out[0]->dtype,
                           (sw_scalar){.bits = (uint64_t)at[sw_op_int(c->op, SW_ATTR_DIM, 0)]});
}

static sw_scalar constant(const call *c, const int64_t *at) {
  sw_data v = sw_op_attr(c->op, SW_ATTR_VALUE)->u.data;
  int64_t n = (char *)address(c->out[0], at) - (char *)c->out[0]->data;
  return sw_scalar_load(c->out[0]->dtype, (const char *)v.bytes + (v.splat ? 0 : n));
}

/* The shard number: coordinates along the refs, major first. */
static int64_t shard_of(const call *c) {
  int64_t n = 0;
  for (int i = 0; i < c->op->n_refs; i++)
    n = n * c->op->refs[i].size + sw_mesh_coord(c->mesh, c->device, c->op->refs[i]);
  return sw_op_int(c->op, SW_ATTR_BASE, 0) + sw_op_int(c->op, SW_ATTR_STEP, 0) * n;
}
static sw_scalar shard_start(const call *c, const int64_t *at) {
  (void)at;
  return sw_scalar_convert(SW_I64, c->out[0]->dtype, (sw_scalar){.bits = (uint64_t)shard_of(c)});
}
static sw_scalar mask(const call *c, const int64_t *at) {
  int64_t g = shard_of(c) + at[sw_op_int(c->op, SW_ATTR_DIM, 0)];
  bool keep = g >= attr(c, SW_ATTR_START, 0, INT64_MIN) && g < attr(c, SW_ATTR_LIMIT, 0, INT64_MAX);
  return keep ? get(c->in[0], at) : get(c->in[1], c->in[1]->rank ? at : NULL);
}

static const element kElements[SW_OP_COUNT] = {[SW_OP_COMPARE] = compare,
                                               [SW_OP_SELECT] = select_one,
                                               [SW_OP_CLAMP] = clamp_one,
                                               [SW_OP_CONVERT] = convert,
                                               [SW_OP_REDUCE_PRECISION] = reduce_precision,
                                               [SW_OP_COMPLEX] = complex_of,
                                               [SW_OP_BROADCAST] = broadcast,
                                               [SW_OP_TRANSPOSE] = transpose,
                                               [SW_OP_RESHAPE] = reshape,
                                               [SW_OP_REVERSE] = reverse,
                                               [SW_OP_REDUCE] = reduce,
                                               [SW_OP_ARGMAX] = arg_pick,
                                               [SW_OP_ARGMIN] = arg_pick,
                                               [SW_OP_DOT] = dot,
                                               [SW_OP_IOTA] = iota,
                                               [SW_OP_CONSTANT] = constant,
                                               [SW_OP_SLICE] = slice,
                                               [SW_OP_DYNAMIC_SLICE] = dynamic_slice,
                                               [SW_OP_DYNAMIC_UPDATE_SLICE] = dynamic_update_slice,
                                               [SW_OP_PAD] = pad,
                                               [SW_OP_CONCATENATE] = concatenate,
                                               [SW_OP_CONVOLUTION] = convolution,
                                               [SW_OP_REDUCE_WINDOW] = reduce_window,
                                               [SW_OP_CUMULATIVE] = cumulative,
                                               [SW_OP_GATHER] = gather,
                                               [SW_OP_SHARD_START] = shard_start,
                                               [SW_OP_MASK] = mask};

bool reference_eval(const sw_op *op, const sw_buffer *const *in, sw_buffer *const *out, const sw_mesh *mesh,
                    int64_t device) {
  call c = {op, in, out, mesh, device};
  if (op->code == SW_OP_TOP_K) return top_k(&c), true;
  if (op->code == SW_OP_SORT) return sort(&c), true;
  if (op->code == SW_OP_BITCAST) return bitcast(&c), true;
  if (op->code == SW_OP_SCATTER) return scatter(&c), true;
  if (reference_more(op, in, out)) return true;
  sw_op_class class = sw_op_class_of(op->code);
  element f = class == SW_OPS_UNARY ? unary : class == SW_OPS_BINARY ? binary : kElements[op->code];
  if (!f) return false;
  sw_buffer *y = out[0];
  int64_t at[SW_MAX_RANK] = {0};
  if (is_empty(y->rank, y->dims)) return true;
  do {
    sw_scalar_store(y->dtype, f(&c, at), address(y, at));
  } while (next(y->rank, y->dims, at));
  return true;
}
