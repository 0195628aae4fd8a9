/* Every kernel against the slow evaluator: random shapes, dtypes and attributes, through the registry's inference and
 * the interpreter with poisoned results. */
#include <dirent.h>
#include <math.h>

#include "check.h"

#include "shardwright/exec.h"
#include "support/kernel_case.h"
#include "support/reference.h"

/* --- makers ------------------------------------------------------------------------------------------------------- */

static bool one_of(sw_opcode code, const sw_opcode *list, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (list[i] == code) return true;
  }
  return false;
}
#define IS(code, ...) \
  one_of(code, (const sw_opcode[]){__VA_ARGS__}, sizeof((sw_opcode[]){__VA_ARGS__}) / sizeof(sw_opcode))

static sw_dtype elementwise_dtype(op_case *c) {
  if (below(c, 5) == 0 &&
      IS(c->code, SW_OP_ABS, SW_OP_REAL, SW_OP_IMAG, SW_OP_NEGATE, SW_OP_EXP, SW_OP_EXPM1, SW_OP_LOG, SW_OP_LOG1P,
         SW_OP_SQRT, SW_OP_RSQRT, SW_OP_CBRT, SW_OP_TANH, SW_OP_LOGISTIC, SW_OP_SIN, SW_OP_COS, SW_OP_TAN, SW_OP_SIGN,
         SW_OP_ADD, SW_OP_SUBTRACT, SW_OP_MULTIPLY, SW_OP_DIVIDE, SW_OP_POWER)) {
    return SW_C64;
  }
  if (IS(c->code, SW_OP_NOT, SW_OP_AND, SW_OP_OR, SW_OP_XOR) && below(c, 4) == 0) return SW_BOOL;
  if (IS(c->code, SW_OP_NOT, SW_OP_AND, SW_OP_OR, SW_OP_XOR, SW_OP_POPCNT, SW_OP_CLZ, SW_OP_SHIFT_LEFT,
         SW_OP_SHIFT_RIGHT_ARITHMETIC, SW_OP_SHIFT_RIGHT_LOGICAL)) {
    return ANY_OF(c, kInts);
  }
  bool numeric = IS(c->code, SW_OP_ADD, SW_OP_SUBTRACT, SW_OP_MULTIPLY, SW_OP_DIVIDE, SW_OP_REMAINDER, SW_OP_MAXIMUM,
                    SW_OP_MINIMUM, SW_OP_POWER);
  static const sw_dtype kSigned[] = {SW_I2, SW_I4, SW_I8, SW_I16, SW_I32, SW_I64};
  if (numeric && below(c, 2)) return ANY_OF(c, kInts);
  if (IS(c->code, SW_OP_ABS, SW_OP_NEGATE, SW_OP_SIGN) && below(c, 2)) return ANY_OF(c, kSigned);
  return ANY_OF(c, kFloats);
}

static void make_elementwise(op_case *c) {
  int64_t dims[SW_MAX_RANK];
  int rank = shape(c, 0, 3, dims), n = sw_op_class_of(c->code) == SW_OPS_UNARY ? 1 : 2;
  if (below(c, 5) == 0) dims[0] = 600 + below(c, 600), rank = 1; /* more than one chunk */
  sw_dtype t = elementwise_dtype(c);
  c->wild = t != SW_C64 && below(c, 2) == 0;
  for (int i = 0; i < n; i++) numbers(c, t, rank, dims);
  if (t == SW_C64) c->terms = 4, c->magnitude = 4;
  if (c->code == SW_OP_DIGAMMA) c->terms = 64, c->magnitude = 4; /* next to its roots the absolute error counts */
}

static void make_bitcast(op_case *c) {
  static const sw_dtype kNumbers[] = {SW_F64, SW_F32, SW_F16, SW_I8, SW_I16, SW_I32, SW_I64,      SW_U8,
                                      SW_U16, SW_U64, SW_I4,  SW_U4, SW_I2,  SW_U2,  SW_F4E2M1FN, SW_F8E8M0FNU};
  int64_t dims[SW_MAX_RANK];
  int rank = shape(c, 0, 3, dims);
  sw_dtype from = ANY_OF(c, kNumbers), to = ANY_OF(c, kNumbers);
  int64_t parts = sw_dtype_bits(to) / sw_dtype_bits(from);
  if (parts > 1) dims[rank++] = parts;
  input(c, from, rank, dims, (sw_fill){.kind = SW_FILL_RANDOM, .limit = 4});
  put_int(c, SW_ATTR_DTYPE, to);
}

static void make_reduce_precision(op_case *c) {
  int64_t dims[SW_MAX_RANK];
  int rank = shape(c, 0, 3, dims);
  c->wild = below(c, 2) == 0;
  numbers(c, ANY_OF(c, kFloats), rank, dims);
  put_int(c, SW_ATTR_EXPONENT_BITS, between(c, 2, 11));
  put_int(c, SW_ATTR_MANTISSA_BITS, between(c, 0, 23));
}

/* Matrices with a heavy diagonal, symmetric by lying about the upper triangle: only one is read. */
static sw_tensor *matrices(op_case *c, sw_dtype t, int rank, const int64_t *dims) {
  sw_tensor *x = input(c, t, rank, dims, (sw_fill){.kind = SW_FILL_SMALL, .limit = 2});
  int64_t n = dims[rank - 1], all = sw_buffer_elements(x), bytes = sw_dtype_bytes(t);
  for (int64_t i = 0; i < all; i++) {
    if (i % (n * n) % (n + 1) == 0) sw_element_store(t, 16 + (double)below(c, 8), (char *)x->data + i * bytes);
  }
  return x;
}

static int square(op_case *c, int64_t *dims) {
  int rank = shape(c, 0, 2, dims);
  dims[rank] = dims[rank + 1] = between(c, 1, 6);
  c->terms = 64;
  c->magnitude = 32;
  return rank + 2;
}

static void make_cholesky(op_case *c) {
  int64_t dims[SW_MAX_RANK];
  int rank = square(c, dims);
  matrices(c, below(c, 2) ? SW_F64 : SW_F32, rank, dims);
  put_int(c, SW_ATTR_LOWER, below(c, 2));
}

static void make_triangular_solve(op_case *c) {
  static const char *const kTurns[] = {"none", "transpose", "adjoint"};
  int64_t dims[SW_MAX_RANK];
  int rank = square(c, dims), left = (int)below(c, 2);
  sw_dtype t = below(c, 2) ? SW_F64 : SW_F32;
  matrices(c, t, rank, dims);
  dims[rank - (left ? 1 : 2)] = between(c, 0, 5);
  input(c, t, rank, dims, (sw_fill){.kind = SW_FILL_SMALL, .limit = 4});
  put_int(c, SW_ATTR_LEFT_SIDE, left);
  put_int(c, SW_ATTR_LOWER, below(c, 2));
  if (below(c, 4) == 0) put_int(c, SW_ATTR_UNIT_DIAGONAL, 1);
  put_text(c, SW_ATTR_TRANSPOSE_A, ANY_OF(c, kTurns));
}

static void make_select_and_scatter(op_case *c) {
  static const char *const kWords[] = {"ge", "gt", "le", "lt"};
  static const char *const kKinds[] = {"sum", "max"};
  int64_t x[SW_MAX_RANK], source[SW_MAX_RANK], window[SW_MAX_RANK], stride[SW_MAX_RANK], low[SW_MAX_RANK],
      high[SW_MAX_RANK];
  int rank = (int)between(c, 1, 3);
  for (int i = 0; i < rank; i++) {
    x[i] = between(c, 1, 6);
    window[i] = between(c, 1, 3);
    stride[i] = between(c, 1, 3);
    low[i] = between(c, -1, 2);
    high[i] = between(c, -1, 2);
    int64_t room = x[i] + low[i] + high[i] - window[i];
    source[i] = room < 0 || x[i] + low[i] + high[i] <= 0 ? 0 : room / stride[i] + 1;
  }
  sw_dtype t = below(c, 2) ? ANY_OF(c, kFloats) : below(c, 4) ? SW_I32 : SW_BOOL;
  c->wild = below(c, 2) == 0;
  numbers(c, t, rank, x);
  input(c, t, rank, source, (sw_fill){.kind = SW_FILL_SMALL, .limit = 4});
  input(c, t, 0, NULL, (sw_fill){.kind = SW_FILL_SMALL, .limit = 4});
  put_ints(c, SW_ATTR_WINDOW, window, rank);
  put_ints(c, SW_ATTR_STRIDES, stride, rank);
  put_ints(c, SW_ATTR_PAD_LOW, low, rank);
  put_ints(c, SW_ATTR_PAD_HIGH, high, rank);
  put_text(c, SW_ATTR_SELECT_BY, ANY_OF(c, kWords));
  put_text(c, SW_ATTR_KIND, ANY_OF(c, kKinds));
  c->terms = 32;
  c->magnitude = 4;
}

static void make_complex(op_case *c) {
  int64_t dims[SW_MAX_RANK];
  int rank = shape(c, 0, 3, dims);
  sw_dtype t = below(c, 2) ? SW_F32 : SW_F64;
  c->wild = below(c, 2) == 0;
  for (int i = 0; i < 2; i++) numbers(c, t, rank, dims);
}

static void make_complex_convert(op_case *c) {
  static const sw_dtype kTypes[] = {SW_C64, SW_C128, SW_F32, SW_I32};
  int64_t dims[SW_MAX_RANK];
  int rank = shape(c, 0, 3, dims);
  sw_dtype from = ANY_OF(c, kTypes);
  numbers(c, from, rank, dims);
  put_int(c, SW_ATTR_DTYPE, from == SW_C64 || from == SW_C128 ? ANY_OF(c, kTypes) : SW_C64);
}

static void make_fft(op_case *c) {
  static const char *const kKinds[] = {"fft", "ifft", "rfft", "irfft"};
  int64_t dims[SW_MAX_RANK], length[SW_MAX_RANK];
  int rank = shape(c, 1, 3, dims), n = (int)between(c, 1, rank), kind = (int)below(c, 4);
  for (int i = 0; i < n; i++) length[i] = dims[rank - n + i] = between(c, 1, 12);
  if (kind == 3) {
    length[n - 1] = between(c, 1, 12);
    dims[rank - 1] = length[n - 1] / 2 + 1;
    n = 1; /* over several dims a spectrum must be symmetric: left to the comparison with rfft */
    length[0] = 2 * (dims[rank - 1] - 1) + below(c, 2);
    if (length[0] == 0) length[0] = 1;
  }
  static const sw_dtype kTypes[2][2] = {{SW_C64, SW_C128}, {SW_F32, SW_F64}};
  input(c, kTypes[kind == 2][below(c, 2)], rank, dims, (sw_fill){.kind = SW_FILL_RANDOM, .limit = 4});
  put_text(c, SW_ATTR_FFT_TYPE, kKinds[kind]);
  put_ints(c, SW_ATTR_FFT_LENGTH, length, n);
  c->terms = 2000;
  c->magnitude = 4;
}

static void make_sort(op_case *c) {
  int64_t dims[SW_MAX_RANK], keys[3];
  int rank = shape(c, 1, 3, dims), n = (int)between(c, 1, 3), n_keys = (int)between(c, 1, n), dim = (int)below(c, rank);
  dims[dim] = between(c, 0, 20);
  for (int i = 0; i < n; i++) {
    c->wild = below(c, 2) == 0;
    numbers(c, ANY_OF(c, kAll), rank, dims);
    keys[i] = below(c, n);
  }
  put_int(c, SW_ATTR_DIM, dim);
  put_ints(c, SW_ATTR_KEYS, keys, n_keys);
  put_int(c, SW_ATTR_DESCENDING, below(c, 2));
  put_int(c, SW_ATTR_TOTAL_ORDER, below(c, 2));
}

static void make_compare(op_case *c) {
  static const char *const kDirections[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  int64_t dims[SW_MAX_RANK];
  int rank = shape(c, 0, 3, dims);
  sw_dtype t = ANY_OF(c, kAll);
  c->wild = below(c, 2) == 0;
  numbers(c, t, rank, dims);
  numbers(c, t, rank, dims);
  put_text(c, SW_ATTR_DIRECTION, ANY_OF(c, kDirections));
}

static void make_select(op_case *c) {
  static const sw_dtype kComplex[] = {SW_C64, SW_C128};
  int64_t dims[SW_MAX_RANK];
  int rank = shape(c, 0, 3, dims);
  sw_dtype t = below(c, 4) ? ANY_OF(c, kAll) : ANY_OF(c, kComplex);
  numbers(c, SW_BOOL, below(c, 3) ? rank : 0, dims);
  numbers(c, t, rank, dims);
  numbers(c, t, rank, dims);
}

static void make_clamp(op_case *c) {
  int64_t dims[SW_MAX_RANK];
  int rank = shape(c, 0, 3, dims);
  if (below(c, 5) == 0) dims[0] = 600 + below(c, 600), rank = 1;
  sw_dtype t = below(c, 2) ? ANY_OF(c, kFloats) : below(c, 8) ? ANY_OF(c, kInts) : SW_BOOL;
  c->wild = below(c, 2) == 0;
  bool scalars = below(c, 2) == 0;
  numbers(c, t, scalars ? 0 : rank, dims);
  numbers(c, t, rank, dims);
  numbers(c, t, scalars ? 0 : rank, dims);
}

static void make_convert(op_case *c) {
  int64_t dims[SW_MAX_RANK];
  int rank = shape(c, 0, 3, dims);
  if (below(c, 5) == 0) dims[0] = 600 + below(c, 600), rank = 1;
  c->wild = below(c, 2) == 0;
  numbers(c, ANY_OF(c, kAll), rank, dims);
  put_int(c, SW_ATTR_DTYPE, ANY_OF(c, kAll));
}

static void random_permutation(op_case *c, int n, int64_t *p) {
  for (int i = 0; i < n; i++) {
    int j = (int)below(c, i + 1);
    p[i] = p[j];
    p[j] = i;
  }
}

/* Some of 0..n-1 in increasing order. */
static int random_subset(op_case *c, int n, int64_t *out) {
  int k = 0;
  for (int i = 0; i < n; i++) {
    if (below(c, 2)) out[k++] = i;
  }
  return k;
}

static void make_broadcast(op_case *c) {
  int64_t out[SW_MAX_RANK], dims[SW_MAX_RANK], from[SW_MAX_RANK];
  int rank = shape(c, 0, 4, out), n = random_subset(c, rank, dims);
  for (int i = 0; i < n; i++) from[i] = below(c, 4) ? out[dims[i]] : 1;
  numbers(c, ANY_OF(c, kAll), n, from);
  put_ints(c, SW_ATTR_SHAPE, out, rank);
  put_ints(c, SW_ATTR_DIMS, dims, n);
}

static void make_transpose(op_case *c) {
  int64_t dims[SW_MAX_RANK], p[SW_MAX_RANK];
  int rank = shape(c, 0, 5, dims);
  if (rank == 2 && below(c, 2)) dims[0] = between(c, 10, 40), dims[1] = between(c, 10, 40); /* several tiles */
  random_permutation(c, rank, p);
  numbers(c, ANY_OF(c, kAll), rank, dims);
  put_ints(c, SW_ATTR_PERMUTATION, p, rank);
}

static void make_reshape(op_case *c) {
  int64_t dims[SW_MAX_RANK], flat = 1;
  int rank = shape(c, 0, 4, dims);
  for (int i = 0; i < rank; i++) flat *= dims[i];
  numbers(c, ANY_OF(c, kAll), rank, dims);
  put_ints(c, SW_ATTR_SHAPE, &flat, 1);
}

static void make_reverse(op_case *c) {
  int64_t dims[SW_MAX_RANK], which[SW_MAX_RANK];
  int rank = shape(c, 0, 4, dims), n = random_subset(c, rank, which);
  numbers(c, ANY_OF(c, kAll), rank, dims);
  put_ints(c, SW_ATTR_DIMS, which, n);
}

static void make_slice(op_case *c) {
  int64_t dims[SW_MAX_RANK], start[SW_MAX_RANK], limit[SW_MAX_RANK], strides[SW_MAX_RANK];
  int rank = shape(c, 0, 4, dims);
  for (int i = 0; i < rank; i++) {
    start[i] = between(c, 0, dims[i]);
    limit[i] = between(c, start[i], dims[i]);
    strides[i] = between(c, 1, 3);
  }
  numbers(c, ANY_OF(c, kAll), rank, dims);
  put_ints(c, SW_ATTR_START, start, rank);
  put_ints(c, SW_ATTR_LIMIT, limit, rank);
  if (below(c, 3)) put_ints(c, SW_ATTR_STRIDES, strides, rank);
}

static void put_starts(op_case *c, int rank) {
  sw_dtype t = below(c, 2) ? SW_I32 : ANY_OF(c, kInts);
  for (int i = 0; i < rank; i++) numbers(c, t, 0, NULL);
}

static void make_dynamic_slice(op_case *c) {
  int64_t dims[SW_MAX_RANK], sizes[SW_MAX_RANK];
  int rank = shape(c, 0, 4, dims);
  for (int i = 0; i < rank; i++) sizes[i] = between(c, 0, dims[i]);
  c->wild = below(c, 2) == 0;
  numbers(c, ANY_OF(c, kAll), rank, dims);
  put_starts(c, rank);
  put_ints(c, SW_ATTR_SIZES, sizes, rank);
}

static void make_dynamic_update_slice(op_case *c) {
  int64_t dims[SW_MAX_RANK], sizes[SW_MAX_RANK];
  int rank = shape(c, 0, 4, dims);
  sw_dtype t = ANY_OF(c, kAll);
  for (int i = 0; i < rank; i++) sizes[i] = between(c, 0, dims[i]);
  numbers(c, t, rank, dims);
  numbers(c, t, rank, sizes);
  put_starts(c, rank);
}

static void make_pad(op_case *c) {
  int64_t dims[SW_MAX_RANK], low[SW_MAX_RANK], high[SW_MAX_RANK], interior[SW_MAX_RANK];
  int rank = shape(c, 0, 3, dims);
  sw_dtype t = ANY_OF(c, kAll);
  for (int i = 0; i < rank; i++) {
    interior[i] = below(c, 3);
    int64_t size = dims[i] ? dims[i] + (dims[i] - 1) * interior[i] : 0;
    low[i] = between(c, -size, 3);
    high[i] = between(c, -(size + low[i]), 3);
  }
  numbers(c, t, rank, dims);
  numbers(c, t, 0, NULL);
  put_ints(c, SW_ATTR_LOW, low, rank);
  put_ints(c, SW_ATTR_HIGH, high, rank);
  put_ints(c, SW_ATTR_INTERIOR, interior, rank);
}

static void make_concatenate(op_case *c) {
  int64_t dims[SW_MAX_RANK];
  int rank = shape(c, 1, 3, dims), n = (int)between(c, 1, 4), dim = (int)below(c, rank);
  sw_dtype t = ANY_OF(c, kAll);
  for (int i = 0; i < n; i++) {
    dims[dim] = below(c, 4);
    numbers(c, t, rank, dims);
  }
  put_int(c, SW_ATTR_DIM, dim);
}

static const char *some_kind(op_case *c, sw_dtype t) {
  static const char *const kBool[] = {"and", "or"}, *const kNumber[] = {"sum", "min", "max", "product"};
  return t == SW_BOOL ? ANY_OF(c, kBool) : ANY_OF(c, kNumber);
}

/* Operand of a reduction: products must not overflow narrow floats. */
static void make_reducible(op_case *c, int rank, const int64_t *dims) {
  sw_dtype t = ANY_OF(c, kAll);
  const char *kind = some_kind(c, t);
  bool product = strcmp(kind, "product") == 0;
  sw_fill fill = {.kind = below(c, 2) ? SW_FILL_RANDOM : SW_FILL_SMALL, .limit = product ? 1 : 4};
  c->wild = (kind[0] == 'm' || t == SW_BOOL) && below(c, 2);
  if (c->wild) {
    numbers(c, t, rank, dims);
  } else {
    input(c, t, rank, dims, fill);
  }
  put_text(c, SW_ATTR_KIND, kind);
  c->magnitude = 4;
  c->terms = sw_buffer_elements(&c->in[0]);
}

static void make_reduce(op_case *c) {
  int64_t dims[SW_MAX_RANK], which[SW_MAX_RANK];
  int rank = shape(c, 0, 4, dims);
  if (below(c, 6) == 0) dims[0] = 3, dims[1] = 500 + below(c, 700), rank = 2;
  int n = random_subset(c, rank, which);
  make_reducible(c, rank, dims);
  put_ints(c, SW_ATTR_DIMS, which, n);
  if (below(c, 2)) put_int(c, SW_ATTR_KEEP_DIMS, 1);
}

static void make_reduce_window(op_case *c) {
  int64_t dims[SW_MAX_RANK], v[6][SW_MAX_RANK];
  int rank = shape(c, 1, 3, dims);
  for (int i = 0; i < rank; i++) {
    if (dims[i] == 0) dims[i] = 5;
    v[0][i] = between(c, 1, 3);                           /* window */
    v[1][i] = between(c, 1, 3);                           /* stride */
    v[4][i] = between(c, 1, 3);                           /* dilation */
    v[5][i] = between(c, 1, 2);                           /* of the window */
    v[2][i] = between(c, -1, 3);                          /* low */
    v[3][i] = between(c, 2, 4) + (v[0][i] - 1) * v[5][i]; /* high */
  }
  static const sw_attr_key kKeys[] = {SW_ATTR_WINDOW,   SW_ATTR_STRIDES,      SW_ATTR_PAD_LOW,
                                      SW_ATTR_PAD_HIGH, SW_ATTR_LHS_DILATION, SW_ATTR_RHS_DILATION};
  make_reducible(c, rank, dims);
  for (int k = 0; k < 6; k++) put_ints(c, kKeys[k], v[k], rank);
}

static void make_cumulative(op_case *c) {
  int64_t dims[SW_MAX_RANK];
  int rank = shape(c, 1, 3, dims);
  make_reducible(c, rank, dims);
  put_int(c, SW_ATTR_DIM, below(c, rank));
  put_int(c, SW_ATTR_REVERSED, below(c, 2));
  put_int(c, SW_ATTR_EXCLUSIVE, below(c, 2));
}

static void make_arg_pick(op_case *c) {
  int64_t dims[SW_MAX_RANK];
  int rank = shape(c, 1, 3, dims), dim = (int)below(c, rank);
  dims[dim] = between(c, 1, 9) * (below(c, 6) ? 1 : 150);
  c->wild = below(c, 2) == 0;
  numbers(c, ANY_OF(c, kAll), rank, dims);
  put_int(c, SW_ATTR_DIM, dim);
  put_int(c, SW_ATTR_KEEP_DIMS, below(c, 2));
  if (below(c, 2)) put_int(c, SW_ATTR_DTYPE, SW_I64);
}

static void make_top_k(op_case *c) {
  int64_t dims[SW_MAX_RANK];
  int rank = shape(c, 1, 3, dims), dim = (int)below(c, rank);
  dims[dim] = between(c, 1, 12);
  c->wild = below(c, 2) == 0;
  numbers(c, below(c, 2) ? ANY_OF(c, kFloats) : below(c, 4) ? ANY_OF(c, kInts) : SW_BOOL, rank, dims);
  put_int(c, SW_ATTR_K, between(c, 1, dims[dim]));
  if (dim != rank - 1 || below(c, 2)) put_int(c, SW_ATTR_DIM, dim);
}

/* Dims of an operand: batch, contracted and free ones, shuffled. */
static void make_factor(op_case *c, sw_dtype t, const int64_t *sizes, int nb, int nk, sw_attr_key batch,
                        sw_attr_key contract) {
  int64_t dims[SW_MAX_RANK], place[SW_MAX_RANK], b[SW_MAX_RANK], k[SW_MAX_RANK];
  int n_free = (int)below(c, 3), rank = nb + nk + n_free;
  random_permutation(c, rank, place);
  for (int i = 0; i < nb; i++) dims[place[i]] = sizes[i], b[i] = place[i];
  for (int i = 0; i < nk; i++) dims[place[nb + i]] = sizes[nb + i], k[i] = place[nb + i];
  for (int i = 0; i < n_free; i++) dims[place[nb + nk + i]] = below(c, 8) ? between(c, 1, 6) : 0;
  sw_fill fill = {.kind = below(c, 2) ? SW_FILL_RANDOM : SW_FILL_SMALL, .limit = 3};
  input(c, t, rank, dims, fill);
  put_ints(c, batch, b, nb);
  put_ints(c, contract, k, nk);
}

static void make_dot(op_case *c) {
  int64_t sizes[SW_MAX_RANK];
  int nb = (int)below(c, 3), nk = (int)below(c, 3);
  sw_dtype t = below(c, 3) ? ANY_OF(c, kFloats) : ANY_OF(c, kInts);
  c->terms = 1;
  for (int i = 0; i < nb + nk; i++) sizes[i] = below(c, 10) ? between(c, 1, 5) : 0;
  for (int i = nb; i < nb + nk; i++) c->terms *= sizes[i] + 1;
  c->magnitude = 9;
  make_factor(c, t, sizes, nb, nk, SW_ATTR_LHS_BATCH, SW_ATTR_LHS_CONTRACT);
  make_factor(c, t, sizes, nb, nk, SW_ATTR_RHS_BATCH, SW_ATTR_RHS_CONTRACT);
  if (t == SW_BF16 && below(c, 2)) put_int(c, SW_ATTR_DTYPE, SW_F32);
  if (t == SW_I8 && below(c, 2)) put_int(c, SW_ATTR_DTYPE, SW_I32);
}

/* A layout: letters and digits in random order, and the dims that it gives. */
static const char *random_layout(op_case *c, const char *letters, int rank, const int64_t *canonical, int64_t *dims) {
  int64_t place[SW_MAX_RANK];
  char *text = sw_arena_strndup(&c->arena, "            ", (size_t)rank, &diag);
  random_permutation(c, rank, place);
  for (int i = 0; i < rank; i++) {
    text[place[i]] = i < 2 ? letters[i] : (char)('0' + i - 2);
    if (dims) dims[place[i]] = canonical[i];
  }
  return text;
}

static void make_convolution(op_case *c) {
  int rank = (int)below(c, 4), kind = (int)below(c, 3);
  int64_t groups = between(c, 1, 3), in = between(c, 1, 3), out = between(c, 1, 3), v[5][SW_MAX_RANK],
          dims[SW_MAX_RANK];
  int64_t x[SW_MAX_RANK] = {between(c, 1, 3), in}, w[SW_MAX_RANK] = {out, in};
  if (kind == 1) x[1] *= groups, w[0] *= groups;
  if (kind == 2) x[0] *= groups, w[0] *= groups;
  c->terms = in;
  bool plain = below(c, 4) == 0; /* 1x1 */
  for (int i = 0; i < rank; i++) {
    w[i + 2] = plain ? 1 : between(c, 1, 3);
    x[i + 2] = between(c, 1, 6);
    v[0][i] = plain ? 1 : between(c, 1, 3);                             /* stride */
    v[3][i] = plain ? 1 : between(c, 1, 2), v[4][i] = between(c, 1, 2); /* dilations */
    v[1][i] = plain ? 0 : between(c, -1, 2);                            /* low */
    v[2][i] = plain ? 0 : between(c, 1, 2) + (w[i + 2] - 1) * v[4][i];  /* high */
    c->terms *= w[i + 2];
  }
  sw_dtype t = below(c, 4) ? ANY_OF(c, kFloats) : ANY_OF(c, kInts);
  sw_fill fill = {.kind = below(c, 2) ? SW_FILL_RANDOM : SW_FILL_SMALL, .limit = 3};
  c->magnitude = 9;
  put_text(c, SW_ATTR_LHS_LAYOUT, random_layout(c, "bf", rank + 2, x, dims));
  input(c, t, rank + 2, dims, fill);
  put_text(c, SW_ATTR_RHS_LAYOUT, random_layout(c, "oi", rank + 2, w, dims));
  input(c, t, rank + 2, dims, fill);
  put_text(c, SW_ATTR_OUT_LAYOUT, random_layout(c, "bf", rank + 2, NULL, NULL));
  static const sw_attr_key kKeys[] = {SW_ATTR_STRIDES, SW_ATTR_PAD_LOW, SW_ATTR_PAD_HIGH, SW_ATTR_LHS_DILATION,
                                      SW_ATTR_RHS_DILATION};
  for (int k = 0; k < 5; k++) put_ints(c, kKeys[k], v[k], rank);
  if (kind == 1) put_int(c, SW_ATTR_FEATURE_GROUPS, groups);
  if (kind == 2) put_int(c, SW_ATTR_BATCH_GROUPS, groups);
}

/* The dims of a gather or scatter: each operand dim is batch, dropped or kept; starts map some that are not batch. */
typedef struct index_case {
  int rank, n_batch, n_dropped, n_kept, n_map, n_positions;
  int64_t operand[SW_MAX_RANK], sizes[SW_MAX_RANK], batch[SW_MAX_RANK], dropped[SW_MAX_RANK], kept[SW_MAX_RANK];
  int64_t map[SW_MAX_RANK], indices_batch[SW_MAX_RANK], positions[SW_MAX_RANK]; /* positions: extents */
  int64_t vector_dim, indices_rank, indices[SW_MAX_RANK];
  int window_rank;
  int64_t window[SW_MAX_RANK], window_dims[SW_MAX_RANK]; /* of result or updates */
} index_case;

static void index_operand(op_case *c, index_case *v) {
  int64_t order[SW_MAX_RANK];
  v->rank = shape(c, 1, 4, v->operand);
  for (int i = 0; i < v->rank; i++) {
    if (v->operand[i] == 0) v->operand[i] = 3;
    int64_t kind = below(c, 3);
    v->sizes[i] = kind == 2 ? between(c, 1, v->operand[i]) : 1;
    if (kind == 0) v->batch[v->n_batch++] = i;
    if (kind == 1) v->dropped[v->n_dropped++] = i;
    if (kind == 2) v->kept[v->n_kept++] = i;
  }
  random_permutation(c, v->rank, order);
  for (int i = 0; i < v->rank; i++) {
    bool batched = false;
    for (int b = 0; b < v->n_batch; b++) batched = batched || v->batch[b] == order[i];
    if (!batched && below(c, 3)) v->map[v->n_map++] = order[i];
  }
}

/* Positions: batch dims and up to two more, shuffled; the index vector lies anywhere among them. */
static void index_indices(op_case *c, index_case *v) {
  int64_t place[SW_MAX_RANK];
  v->n_positions = v->n_batch + (int)below(c, 3);
  random_permutation(c, v->n_positions, place);
  for (int i = 0; i < v->n_positions; i++) {
    v->positions[place[i]] = i < v->n_batch ? v->operand[v->batch[i]] : below(c, 10) ? between(c, 1, 4) : 0;
  }
  bool implicit = v->n_map == 1 && below(c, 2);
  v->vector_dim = implicit ? v->n_positions : below(c, v->n_positions + 1);
  v->indices_rank = v->n_positions + (implicit ? 0 : 1);
  for (int i = 0, k = 0; i < v->indices_rank; i++) {
    v->indices[i] = i == v->vector_dim && !implicit ? v->n_map : v->positions[k++];
  }
  for (int i = 0; i < v->n_batch; i++) v->indices_batch[i] = place[i] + (place[i] >= v->vector_dim && !implicit);
  /* the window's tensor: positions and kept dims, interleaved at random */
  v->window_rank = v->n_positions + v->n_kept;
  int kept = 0, position = 0;
  for (int i = 0; i < v->window_rank; i++) {
    bool take_kept = position == v->n_positions || (kept < v->n_kept && below(c, 2));
    if (take_kept) {
      v->window_dims[kept] = i;
      v->window[i] = v->sizes[v->kept[kept++]];
    } else {
      v->window[i] = v->positions[position++];
    }
  }
}

static void put_index_attrs(op_case *c, const index_case *v) {
  bool gather = c->code == SW_OP_GATHER;
  put_ints(c, gather ? SW_ATTR_OFFSET_DIMS : SW_ATTR_UPDATE_WINDOW_DIMS, v->window_dims, v->n_kept);
  put_ints(c, gather ? SW_ATTR_COLLAPSED_DIMS : SW_ATTR_INSERTED_DIMS, v->dropped, v->n_dropped);
  put_ints(c, SW_ATTR_OPERAND_BATCH, v->batch, v->n_batch);
  put_ints(c, SW_ATTR_INDICES_BATCH, v->indices_batch, v->n_batch);
  put_ints(c, SW_ATTR_START_INDEX_MAP, v->map, v->n_map);
  put_int(c, SW_ATTR_INDEX_VECTOR_DIM, v->vector_dim);
  if (gather) put_ints(c, SW_ATTR_SIZES, v->sizes, v->rank);
}

static void make_gather(op_case *c) {
  index_case v = {0};
  index_operand(c, &v);
  index_indices(c, &v);
  numbers(c, ANY_OF(c, kAll), v.rank, v.operand);
  c->wild = below(c, 2) == 0;
  numbers(c, ANY_OF(c, kInts), (int)v.indices_rank, v.indices); /* some out of bounds */
  put_index_attrs(c, &v);
}

static void make_scatter(op_case *c) {
  static const char *const kKinds[] = {"sum", "min", "max", "replace"};
  index_case v = {0};
  index_operand(c, &v);
  index_indices(c, &v);
  sw_dtype t = below(c, 2) ? ANY_OF(c, kFloats) : ANY_OF(c, kInts);
  sw_fill fill = {.kind = below(c, 2) ? SW_FILL_RANDOM : SW_FILL_SMALL, .limit = 4};
  input(c, t, v.rank, v.operand, fill);
  c->wild = below(c, 2) == 0;
  numbers(c, ANY_OF(c, kInts), (int)v.indices_rank, v.indices);
  input(c, t, v.window_rank, v.window, fill);
  put_text(c, SW_ATTR_KIND, ANY_OF(c, kKinds));
  put_index_attrs(c, &v);
  c->terms = 64;
  c->magnitude = 4;
}

static void make_iota(op_case *c) {
  int64_t dims[SW_MAX_RANK];
  int rank = shape(c, 1, 4, dims);
  put_ints(c, SW_ATTR_SHAPE, dims, rank);
  put_int(c, SW_ATTR_DTYPE, below(c, 2) ? ANY_OF(c, kFloats) : ANY_OF(c, kInts));
  put_int(c, SW_ATTR_DIM, below(c, rank));
}

static void make_constant(op_case *c) {
  int64_t dims[SW_MAX_RANK];
  int rank = shape(c, 0, 3, dims);
  sw_dtype t = ANY_OF(c, kAll);
  sw_tensor *x = numbers(c, t, rank, dims);
  bool splat = sw_buffer_elements(x) > 0 && below(c, 2);
  void *bytes = sw_arena_copy(&c->arena, x->data, (size_t)(sw_buffer_elements(x) * sw_dtype_bytes(t)), 1, &diag);
  c->n_in = 0;
  sw_tensor_deinit(x);
  c->attrs[c->n_attrs++] = (sw_attr){.key = SW_ATTR_VALUE, .u.data = {bytes, splat}};
  put_ints(c, SW_ATTR_SHAPE, dims, rank);
  put_int(c, SW_ATTR_DTYPE, t);
}

static const struct {
  sw_opcode code;
  make_case make;
} kMakers[] = {{SW_OP_COMPARE, make_compare},
               {SW_OP_SELECT, make_select},
               {SW_OP_CLAMP, make_clamp},
               {SW_OP_CONVERT, make_convert},
               {SW_OP_BROADCAST, make_broadcast},
               {SW_OP_TRANSPOSE, make_transpose},
               {SW_OP_RESHAPE, make_reshape},
               {SW_OP_REVERSE, make_reverse},
               {SW_OP_SLICE, make_slice},
               {SW_OP_DYNAMIC_SLICE, make_dynamic_slice},
               {SW_OP_DYNAMIC_UPDATE_SLICE, make_dynamic_update_slice},
               {SW_OP_PAD, make_pad},
               {SW_OP_CONCATENATE, make_concatenate},
               {SW_OP_REDUCE, make_reduce},
               {SW_OP_REDUCE_WINDOW, make_reduce_window},
               {SW_OP_CUMULATIVE, make_cumulative},
               {SW_OP_ARGMAX, make_arg_pick},
               {SW_OP_ARGMIN, make_arg_pick},
               {SW_OP_TOP_K, make_top_k},
               {SW_OP_BITCAST, make_bitcast},
               {SW_OP_REDUCE_PRECISION, make_reduce_precision},
               {SW_OP_SORT, make_sort},
               {SW_OP_COMPLEX, make_complex},
               {SW_OP_CONVERT, make_complex_convert},
               {SW_OP_FFT, make_fft},
               {SW_OP_CHOLESKY, make_cholesky},
               {SW_OP_TRIANGULAR_SOLVE, make_triangular_solve},
               {SW_OP_SELECT_AND_SCATTER, make_select_and_scatter},
               {SW_OP_DOT, make_dot},
               {SW_OP_CONVOLUTION, make_convolution},
               {SW_OP_GATHER, make_gather},
               {SW_OP_SCATTER, make_scatter},
               {SW_OP_IOTA, make_iota},
               {SW_OP_CONSTANT, make_constant}};
enum { N_MAKERS = sizeof kMakers / sizeof kMakers[0] };

/* --- running ------------------------------------------------------------------------------------------------------ */

/* A graph of this one op. */
static sw_graph *graph_of(op_case *c, sw_id *op) {
  sw_graph *g;
  sw_id ids[MOST_OPERANDS], results[SW_MAX_RESULTS];
  char name[16];
  assert_ok(sw_graph_create("case", &g, &diag));
  for (int i = 0; i < c->n_in; i++) {
    snprintf(name, sizeof name, "x%d", i);
    const sw_tensor *x = &c->in[i];
    assert_ok(sw_graph_add_arg(g, name, x->dtype, x->rank, x->dims, SW_VALUE_INPUT, SW_NOWHERE, &ids[i], &diag));
  }
  sw_op_spec spec = {.code = c->code, .n_operands = c->n_in, .operands = ids, .n_attrs = c->n_attrs, .attrs = c->attrs};
  assert_ok(sw_graph_add_op(g, &spec, results, &diag));
  *op = g->values[results[0]].def;
  for (int i = 0; i < g->ops[*op].n_results; i++) {
    snprintf(name, sizeof name, "y%d", i);
    assert_ok(sw_graph_add_output(g, name, g->ops[*op].results[i], -1, SW_NOWHERE, &diag));
  }
  assert_ok(sw_graph_seal(g, &diag));
  return g;
}

static void check_result(const sw_graph *g, const op_case *c, const sw_tensor *got, const sw_tensor *want) {
  sw_difference difference;
  sw_tolerance tolerance = sw_tolerance_for(got->dtype, c->terms, c->magnitude);
  if (c->terms == 0 && sw_dtype_class_of(got->dtype) == SW_CLASS_FLOAT) tolerance.absolute = 1e-44; /* subnormals */
  assert_ok(sw_tensor_compare(got, want, tolerance, &difference, &diag));
  if (difference.differing == 0) return;
  sw_text text = {0};
  sw_graph_print(g, &text);
  sw_difference_print(&difference, got->rank, &text);
  print_message("%s\n", sw_text_str(&text));
  sw_text_free(&text);
  fail();
}

static void run_case(op_case *c) {
  sw_id id;
  sw_graph *g = graph_of(c, &id);
  const sw_op *op = &g->ops[id];
  const sw_buffer *args[MOST_OPERANDS];
  sw_tensor got[3], want[3];
  sw_buffer *out[3] = {&want[0], &want[1], &want[2]};
  for (int i = 0; i < c->n_in; i++) args[i] = &c->in[i];
  assert_ok(sw_exec_run(g, args, &(sw_exec_options){.poison = true}, got, &diag));
  for (int i = 0; i < op->n_results; i++) {
    assert_ok(sw_tensor_init(&want[i], got[i].dtype, got[i].rank, got[i].dims, &diag));
  }
  assert_true(reference_eval(op, args, out, NULL, 0));
  for (int i = 0; i < op->n_results; i++) {
    check_result(g, c, &got[i], &want[i]);
    sw_tensor_deinit(&got[i]);
    sw_tensor_deinit(&want[i]);
  }
  sw_graph_destroy(g);
}

static void make_and_run(sw_rng *rng, sw_opcode code, make_case make) {
  op_case c = {.rng = rng, .code = code};
  make(&c);
  run_case(&c);
  for (int k = 0; k < c.n_in; k++) sw_tensor_deinit(&c.in[k]);
  sw_arena_deinit(&c.arena);
}

static void kernels_agree_with_definitions(void **state) {
  (void)state;
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(11));
  int rounds = check_scale(120);
  for (int code = 0; code < SW_OP_COUNT; code++) {
    sw_op_class class = sw_op_class_of((sw_opcode)code);
    bool elementwise = class == SW_OPS_UNARY || class == SW_OPS_BINARY;
    for (int i = 0; elementwise && i < rounds / 3 + 1; i++) make_and_run(&rng, (sw_opcode)code, make_elementwise);
  }
  for (int m = 0; m < N_MAKERS; m++) {
    for (int i = 0; i < rounds; i++) make_and_run(&rng, kMakers[m].code, kMakers[m].make);
  }
}

/* Nor does what they are linked with, while it is loaded or later. */
static void kernels_start_no_threads(void **state) {
  (void)state;
  DIR *tasks = opendir("/proc/self/task");
  int n = 0;
  assert_non_null(tasks); /* Linux has it */
  for (const struct dirent *e = readdir(tasks); e; e = readdir(tasks)) n += e->d_name[0] != '.';
  closedir(tasks);
  assert_int_equal(n, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_agree_with_definitions),
                                     cmocka_unit_test(kernels_start_no_threads)};
  return cmocka_run_group_tests_name("kernels", tests, NULL, NULL);
}
