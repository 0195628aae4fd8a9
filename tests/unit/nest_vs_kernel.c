/* Loops, maps and linearities of every op against its kernel, on random small cases:
 *
 *   - an element of an operand that is changed changes only results that some point of the loops connects with it;
 *   - every element of a result has one owner along each parallel loop;
 *   - cutting a reduction or masked loop in two and combining both results gives the whole;
 *   - combining operands by a linearity's reduction combines the results by it.
 */
#include "check.h"

#include "support/op_case.h"

/* --- makers ------------------------------------------------------------------------------------------------------- */

static int shape(op_case *c, int least, int most, int64_t *dims) {
  int rank = (int)between(c, least, most);
  for (int i = 0; i < rank; i++) dims[i] = between(c, 1, rank > 2 ? 3 : 5);
  return rank;
}

static void make_elementwise(op_case *c) {
  static const sw_opcode kOps[] = {SW_OP_ADD,     SW_OP_SUBTRACT, SW_OP_MULTIPLY, SW_OP_MAXIMUM,
                                   SW_OP_MINIMUM, SW_OP_NEGATE,   SW_OP_ABS,      SW_OP_DIVIDE};
  int64_t dims[RANK];
  int rank = shape(c, 0, 3, dims);
  c->code = kOps[below(c, 8)];
  input(c, SW_F32, SMALL, rank, dims);
  if (c->code == SW_OP_NEGATE || c->code == SW_OP_ABS) return;
  input(c, SW_F32, c->code == SW_OP_DIVIDE ? POWERS : SMALL, rank, dims);
}

static void make_select(op_case *c) {
  int64_t dims[RANK];
  int rank = shape(c, 0, 3, dims);
  input(c, SW_BOOL, TRUTH, below(c, 2) ? rank : 0, dims);
  input(c, SW_F32, SMALL, rank, dims);
  input(c, SW_F32, SMALL, rank, dims);
}

static void make_clamp(op_case *c) {
  int64_t dims[RANK];
  int rank = shape(c, 0, 3, dims);
  input(c, SW_F32, SMALL, below(c, 2) ? rank : 0, dims);
  input(c, SW_F32, SMALL, rank, dims);
  input(c, SW_F32, SMALL, below(c, 2) ? rank : 0, dims);
}

static void make_compare(op_case *c) {
  int64_t dims[RANK];
  int rank = shape(c, 0, 3, dims);
  input(c, SW_F32, SMALL, rank, dims);
  input(c, SW_F32, SMALL, rank, dims);
  word(c, SW_ATTR_DIRECTION, "lt");
}

static void make_convert(op_case *c) {
  static const sw_dtype kTo[] = {SW_F64, SW_BF16, SW_I64, SW_I32};
  int64_t dims[RANK];
  int rank = shape(c, 0, 3, dims);
  input(c, below(c, 2) ? SW_F32 : SW_I32, SMALL, rank, dims);
  number(c, SW_ATTR_DTYPE, kTo[below(c, 4)]);
}

/* A random order of 0 .. n-1. */
static void shuffle(op_case *c, int64_t *at, int n) {
  for (int i = 0; i < n; i++) {
    int k = (int)below(c, i + 1);
    at[i] = at[k];
    at[k] = i;
  }
}

static void make_broadcast(op_case *c) {
  int64_t to[RANK], order[RANK], dims[RANK];
  int rank = shape(c, 1, 3, to), n = (int)between(c, 0, rank);
  shuffle(c, order, rank);
  for (int i = 0; i < n; i++) dims[i] = below(c, 3) ? to[order[i]] : 1;
  input(c, SW_F32, SMALL, n, dims);
  put_list(c, SW_ATTR_SHAPE, to, rank);
  put_list(c, SW_ATTR_DIMS, order, n);
  c->exact = true;
}

static void make_transpose(op_case *c) {
  int64_t dims[RANK];
  int rank = shape(c, 0, 4, dims);
  input(c, SW_F32, SMALL, rank, dims);
  shuffle(c, list(c, SW_ATTR_PERMUTATION, rank), rank);
  c->exact = true;
}

/* Prime factors dealt out to two shapes at random. */
static void make_reshape(op_case *c) {
  int64_t from[RANK] = {1, 1, 1, 1}, to[RANK] = {1, 1, 1, 1};
  int a = (int)between(c, 1, 4), b = (int)between(c, 1, 4);
  for (int i = 0; i < 5; i++) {
    int64_t prime = below(c, 3) ? 2 : 3;
    if (from[0] * from[1] * from[2] * from[3] * prime > MOST_ELEMENTS / 2) break;
    from[below(c, a)] *= prime;
    to[below(c, b)] *= prime;
  }
  input(c, SW_F32, SMALL, a, from);
  put_list(c, SW_ATTR_SHAPE, to, b);
}

static void make_reverse(op_case *c) {
  int64_t dims[RANK], order[RANK];
  int rank = shape(c, 1, 3, dims);
  input(c, SW_F32, SMALL, rank, dims);
  shuffle(c, order, rank);
  put_list(c, SW_ATTR_DIMS, order, (int)between(c, 0, rank));
  c->exact = true;
}

static void make_slice(op_case *c) {
  int64_t dims[RANK], start[RANK], limit[RANK], strides[RANK];
  int rank = shape(c, 1, 3, dims);
  for (int i = 0; i < rank; i++) {
    start[i] = below(c, dims[i]);
    limit[i] = between(c, start[i] + 1, dims[i]);
    strides[i] = between(c, 1, 3);
  }
  input(c, SW_F32, SMALL, rank, dims);
  put_list(c, SW_ATTR_START, start, rank);
  put_list(c, SW_ATTR_LIMIT, limit, rank);
  put_list(c, SW_ATTR_STRIDES, strides, rank);
  c->exact = true;
}

static void make_pad(op_case *c) {
  int64_t dims[RANK];
  int rank = shape(c, 1, 2, dims);
  input(c, SW_F32, SMALL, rank, dims);
  input(c, SW_F32, SMALL, 0, NULL);
  int64_t *low = list(c, SW_ATTR_LOW, rank), *high = list(c, SW_ATTR_HIGH, rank),
          *gap = list(c, SW_ATTR_INTERIOR, rank);
  for (int i = 0; i < rank; i++) {
    low[i] = between(c, dims[i] > 1 ? -1 : 0, 2);
    high[i] = between(c, 0, 2);
    gap[i] = below(c, 4) ? 0 : 1;
  }
}

static void make_concatenate(op_case *c) {
  int64_t dims[RANK];
  int rank = shape(c, 1, 3, dims);
  int64_t dim = below(c, rank);
  for (int i = (int)between(c, 1, 3); i > 0; i--) {
    dims[dim] = between(c, 1, 3);
    input(c, SW_F32, SMALL, rank, dims);
  }
  number(c, SW_ATTR_DIM, dim);
  c->exact = true;
}

static void starts(op_case *c, int n) {
  for (int i = 0; i < n; i++) input(c, SW_I32, INDEX, 0, NULL);
}

static void make_dynamic_slice(op_case *c) {
  int64_t dims[RANK];
  int rank = shape(c, 1, 3, dims);
  input(c, SW_F32, SMALL, rank, dims);
  starts(c, rank);
  int64_t *sizes = list(c, SW_ATTR_SIZES, rank);
  for (int i = 0; i < rank; i++) sizes[i] = below(c, 2) ? dims[i] : between(c, 1, dims[i]);
}

static void make_dynamic_update_slice(op_case *c) {
  int64_t dims[RANK], update[RANK];
  int rank = shape(c, 1, 3, dims);
  for (int i = 0; i < rank; i++) update[i] = below(c, 2) ? dims[i] : between(c, 1, dims[i]);
  input(c, SW_F32, SMALL, rank, dims);
  input(c, SW_F32, SMALL, rank, update);
  starts(c, rank);
}

static const char *const kKinds[] = {"sum", "max", "min", "product"};

static void make_reduce(op_case *c) {
  int64_t dims[RANK], order[RANK];
  int rank = shape(c, 1, 3, dims);
  shuffle(c, order, rank);
  input(c, SW_F32, SMALL, rank, dims);
  put_list(c, SW_ATTR_DIMS, order, (int)between(c, 0, rank));
  word(c, SW_ATTR_KIND, kKinds[below(c, 4)]);
  number(c, SW_ATTR_KEEP_DIMS, below(c, 2));
}

static void make_argmax(op_case *c) {
  int64_t dims[RANK];
  int rank = shape(c, 1, 3, dims);
  input(c, SW_F32, SMALL, rank, dims);
  number(c, SW_ATTR_DIM, below(c, rank));
}

static void make_cumulative(op_case *c) {
  make_argmax(c);
  word(c, SW_ATTR_KIND, kKinds[below(c, 3)]);
  number(c, SW_ATTR_REVERSED, below(c, 2));
  number(c, SW_ATTR_EXCLUSIVE, below(c, 2));
}

static void make_top_k(op_case *c) {
  make_argmax(c);
  number(c, SW_ATTR_K, between(c, 1, c->in[0].dims[c->attrs[0].u.i]));
}

static void make_bitcast(op_case *c) {
  static const sw_dtype kPairs[][2] = {
      {SW_I32, SW_I32}, {SW_I16, SW_I32}, {SW_I32, SW_I16}, {SW_U8, SW_I32}, {SW_I32, SW_U8}};
  int64_t dims[RANK], pair = below(c, 5);
  int rank = shape(c, 1, 2, dims), parts = sw_dtype_bytes(kPairs[pair][1]) / sw_dtype_bytes(kPairs[pair][0]);
  if (parts > 1) dims[rank++] = parts;
  input(c, kPairs[pair][0], SMALL, rank, dims);
  number(c, SW_ATTR_DTYPE, kPairs[pair][1]);
}

static void make_cholesky(op_case *c) {
  int64_t dims[RANK] = {between(c, 1, 3), 2, 2};
  sw_tensor *x = input(c, SW_F64, SMALL, 3, dims);
  for (int64_t i = 0; i < dims[0]; i++) put(x, 4 * i, 40), put(x, 4 * i + 3, 50);
}

static void make_triangular_solve(op_case *c) {
  int64_t dims[RANK] = {between(c, 1, 3), 3, 3};
  input(c, SW_F64, POWERS, 3, dims);
  int64_t left = below(c, 2);
  dims[left ? 2 : 1] = between(c, 1, 3);
  input(c, SW_F64, SMALL, 3, dims);
  number(c, SW_ATTR_LEFT_SIDE, left);
  number(c, SW_ATTR_LOWER, below(c, 2));
  word(c, SW_ATTR_TRANSPOSE_A, below(c, 2) ? "none" : "transpose");
}

static void make_factor(op_case *c) {
  static const struct {
    const char *how;
    bool square, columns, taus;
  } kHow[] = {{"lu", 0, 0, 0},    {"qr", 0, 0, 0},         {"pivoted_qr", 0, 1, 0}, {"householder", 0, 0, 1},
              {"svd", 0, 0, 0},   {"full_svd", 0, 0, 0},   {"eigh", 1, 0, 0},       {"eig", 1, 0, 0},
              {"schur", 1, 0, 0}, {"hessenberg", 1, 0, 0}, {"tridiagonal", 1, 0, 0}};
  int which = (int)below(c, sizeof kHow / sizeof *kHow);
  int64_t dims[RANK] = {between(c, 1, 3), 3, kHow[which].square ? 3 : 2};
  input(c, SW_F64, SMALL, 3, dims);
  int64_t second[RANK] = {dims[0], 2};
  if (kHow[which].taus) input(c, SW_F64, SMALL, 2, second);
  if (kHow[which].columns) input(c, SW_I32, SMALL, 2, second);
  word(c, SW_ATTR_HOW, kHow[which].how);
}

/* The first number below the diagonal and the last above it are not read. */
static void make_tridiagonal_solve(op_case *c) {
  int64_t dims[RANK] = {between(c, 1, 3), 3, between(c, 1, 3)};
  for (int k = 0; k < 4; k++) input(c, SW_F64, k == 1 ? POWERS : SMALL, k < 3 ? 2 : 3, dims);
}

static void make_select_and_scatter(op_case *c) {
  int64_t x[RANK] = {between(c, 1, 3), between(c, 2, 6)}, source[RANK] = {x[0], x[1] - 1};
  input(c, SW_F32, SMALL, 2, x);
  input(c, SW_F32, SMALL, 2, source);
  input(c, SW_F32, SMALL, 0, NULL);
  int64_t *window = list(c, SW_ATTR_WINDOW, 2);
  window[0] = 1;
  window[1] = 2;
}

static void make_sort(op_case *c) {
  int64_t dims[RANK];
  int rank = shape(c, 1, 3, dims);
  for (int i = (int)between(c, 1, 2); i > 0; i--) input(c, SW_F32, SMALL, rank, dims);
  number(c, SW_ATTR_DIM, below(c, rank));
  *list(c, SW_ATTR_KEYS, 1) = below(c, c->n_in);
  number(c, SW_ATTR_DESCENDING, below(c, 2));
}

static void make_reduce_window(op_case *c) {
  int64_t dims[RANK];
  int rank = shape(c, 1, 2, dims);
  input(c, SW_F32, SMALL, rank, dims);
  word(c, SW_ATTR_KIND, kKinds[below(c, 3)]);
  int64_t *window = list(c, SW_ATTR_WINDOW, rank), *strides = list(c, SW_ATTR_STRIDES, rank);
  int64_t *low = list(c, SW_ATTR_PAD_LOW, rank), *high = list(c, SW_ATTR_PAD_HIGH, rank);
  int64_t *base = list(c, SW_ATTR_LHS_DILATION, rank), *dilation = list(c, SW_ATTR_RHS_DILATION, rank);
  for (int i = 0; i < rank; i++) {
    window[i] = between(c, 1, 3);
    strides[i] = between(c, 1, 2);
    low[i] = between(c, dims[i] > 1 ? -1 : 0, 2);
    high[i] = between(c, 2, 4);
    base[i] = below(c, 4) ? 1 : 2;
    dilation[i] = between(c, 1, 2);
  }
}

/* Batch, own and contracted dims of two operands in random order. */
static void make_dot(op_case *c) {
  int n[3] = {(int)below(c, 2), (int)below(c, 2), (int)below(c, 3)}; /* batch, own, contracted */
  int64_t sizes[2][RANK], order[2][RANK], dims[2][RANK], pairs[2][2][RANK];
  int rank = n[0] + n[1] + n[2];
  for (int i = 0; i < rank; i++) {
    sizes[0][i] = sizes[1][i] = between(c, 1, 3);
    if (i >= n[0] && i < n[0] + n[1]) sizes[1][i] = between(c, 1, 3);
  }
  for (int side = 0; side < 2; side++) {
    shuffle(c, order[side], rank);
    for (int i = 0; i < rank; i++) {
      dims[side][order[side][i]] = sizes[side][i];
      if (i < n[0]) pairs[side][0][i] = order[side][i];
      if (i >= n[0] + n[1]) pairs[side][1][i - n[0] - n[1]] = order[side][i];
    }
    input(c, SW_F32, SMALL, rank, dims[side]);
    put_list(c, side ? SW_ATTR_RHS_BATCH : SW_ATTR_LHS_BATCH, pairs[side][0], n[0]);
    put_list(c, side ? SW_ATTR_RHS_CONTRACT : SW_ATTR_LHS_CONTRACT, pairs[side][1], n[2]);
  }
}

static void make_convolution(op_case *c) {
  static const char *const kLayouts[2][3] = {{"bf0", "oi0", "bf0"}, {"0bf", "i0o", "b0f"}};
  int64_t groups = between(c, 1, 2), batch_groups = groups == 1 ? between(c, 1, 2) : 1, per = between(c, 1, 2);
  int which = (int)below(c, 2);
  int64_t batch = between(c, 1, 2) * batch_groups, features = per * groups, space = between(c, 3, 5);
  int64_t outputs = between(c, 1, 2) * groups * batch_groups, window = between(c, 1, 3);
  int64_t x[2][3] = {{batch, features, space}, {space, batch, features}},
          w[2][3] = {{outputs, per, window}, {per, window, outputs}};
  input(c, SW_F32, SMALL, 3, x[which]);
  input(c, SW_F32, SMALL, 3, w[which]);
  word(c, SW_ATTR_LHS_LAYOUT, kLayouts[which][0]);
  word(c, SW_ATTR_RHS_LAYOUT, kLayouts[which][1]);
  word(c, SW_ATTR_OUT_LAYOUT, kLayouts[which][2]);
  number(c, SW_ATTR_FEATURE_GROUPS, groups);
  number(c, SW_ATTR_BATCH_GROUPS, batch_groups);
  *list(c, SW_ATTR_STRIDES, 1) = between(c, 1, 2);
  *list(c, SW_ATTR_PAD_LOW, 1) = between(c, -1, 2);
  *list(c, SW_ATTR_PAD_HIGH, 1) = between(c, 1, 3);
  *list(c, SW_ATTR_LHS_DILATION, 1) = below(c, 4) ? 1 : 2;
  *list(c, SW_ATTR_RHS_DILATION, 1) = between(c, 1, 2);
}

/* Dimension numbers over a table [b?, t, w]: an optional batch dim, an indexed dim, a window dim. */
typedef struct lookup {
  bool batch, vector;
  int64_t table[3], indices[3], window[3]; /* window: dims of the tensor with windows */
  int table_rank, index_rank, window_rank, window_at;
} lookup;

static lookup make_lookup(op_case *c, bool full_window) {
  lookup k = {.batch = below(c, 2), .vector = below(c, 2)};
  int64_t batch = between(c, 1, 3), n = between(c, 1, 3), width = between(c, 1, 3);
  if (k.batch) k.table[k.table_rank++] = k.indices[k.index_rank++] = batch;
  k.table[k.table_rank++] = between(c, 2, 5);
  k.table[k.table_rank++] = width;
  k.indices[k.index_rank++] = n;
  for (int i = 0; i < k.index_rank; i++) k.window[k.window_rank++] = k.indices[i];
  k.window_at = k.window_rank;
  k.window[k.window_rank++] = full_window ? width : between(c, 1, width);
  if (k.vector) k.indices[k.index_rank++] = 1;
  return k;
}

static void put_lookup(op_case *c, const lookup *k, bool gather) {
  int b = k->batch;
  *list(c, gather ? SW_ATTR_OFFSET_DIMS : SW_ATTR_UPDATE_WINDOW_DIMS, 1) = k->window_at;
  *list(c, gather ? SW_ATTR_COLLAPSED_DIMS : SW_ATTR_INSERTED_DIMS, 1) = b;
  *list(c, SW_ATTR_START_INDEX_MAP, 1) = b;
  *list(c, SW_ATTR_OPERAND_BATCH, b) = 0;
  *list(c, SW_ATTR_INDICES_BATCH, b) = 0;
  number(c, SW_ATTR_INDEX_VECTOR_DIM, k->vector ? k->index_rank - 1 : k->index_rank);
}

static void make_gather(op_case *c) {
  lookup k = make_lookup(c, below(c, 2));
  input(c, SW_F32, SMALL, k.table_rank, k.table);
  input(c, SW_I32, INDEX, k.index_rank, k.indices);
  put_lookup(c, &k, true);
  int64_t *sizes = list(c, SW_ATTR_SIZES, k.table_rank);
  for (int i = 0; i < k.table_rank; i++) sizes[i] = 1;
  sizes[k.table_rank - 1] = k.window[k.window_at];
}

/* A window moved by its index along the only dim. */
static void make_gather_window(op_case *c) {
  int64_t table[1] = {between(c, 3, 6)}, indices[2] = {between(c, 1, 3), 1};
  input(c, SW_F32, SMALL, 1, table);
  input(c, SW_I32, INDEX, 2, indices);
  *list(c, SW_ATTR_OFFSET_DIMS, 1) = 1;
  (void)list(c, SW_ATTR_COLLAPSED_DIMS, 0);
  *list(c, SW_ATTR_START_INDEX_MAP, 1) = 0;
  number(c, SW_ATTR_INDEX_VECTOR_DIM, 1);
  *list(c, SW_ATTR_SIZES, 1) = between(c, 1, table[0]);
}

static void make_scatter(op_case *c) {
  static const char *const kScatter[] = {"sum", "max", "min", "product", "replace"};
  lookup k = make_lookup(c, below(c, 2));
  input(c, SW_F32, SMALL, k.table_rank, k.table);
  input(c, SW_I32, INDEX, k.index_rank, k.indices);
  input(c, SW_F32, SMALL, k.window_rank, k.window);
  put_lookup(c, &k, false);
  word(c, SW_ATTR_KIND, kScatter[below(c, 5)]);
}

static void make_scatter_window(op_case *c) {
  int64_t table[1] = {between(c, 3, 6)}, indices[2] = {between(c, 1, 3), 1};
  int64_t updates[2] = {indices[0], between(c, 1, table[0])};
  input(c, SW_F32, SMALL, 1, table);
  input(c, SW_I32, INDEX, 2, indices);
  input(c, SW_F32, SMALL, 2, updates);
  *list(c, SW_ATTR_UPDATE_WINDOW_DIMS, 1) = 1;
  (void)list(c, SW_ATTR_INSERTED_DIMS, 0);
  *list(c, SW_ATTR_START_INDEX_MAP, 1) = 0;
  number(c, SW_ATTR_INDEX_VECTOR_DIM, 1);
  word(c, SW_ATTR_KIND, "sum");
}

typedef struct op_row {
  const char *name;
  sw_opcode code;
  void (*make)(op_case *c);
} op_row;

static const op_row kRows[] = {{"elementwise", SW_OP_ADD, make_elementwise},
                               {"select", SW_OP_SELECT, make_select},
                               {"clamp", SW_OP_CLAMP, make_clamp},
                               {"compare", SW_OP_COMPARE, make_compare},
                               {"convert", SW_OP_CONVERT, make_convert},
                               {"broadcast_in_dim", SW_OP_BROADCAST, make_broadcast},
                               {"transpose", SW_OP_TRANSPOSE, make_transpose},
                               {"reshape", SW_OP_RESHAPE, make_reshape},
                               {"reverse", SW_OP_REVERSE, make_reverse},
                               {"slice", SW_OP_SLICE, make_slice},
                               {"pad", SW_OP_PAD, make_pad},
                               {"concatenate", SW_OP_CONCATENATE, make_concatenate},
                               {"dynamic_slice", SW_OP_DYNAMIC_SLICE, make_dynamic_slice},
                               {"dynamic_update_slice", SW_OP_DYNAMIC_UPDATE_SLICE, make_dynamic_update_slice},
                               {"reduce", SW_OP_REDUCE, make_reduce},
                               {"argmax", SW_OP_ARGMAX, make_argmax},
                               {"argmin", SW_OP_ARGMIN, make_argmax},
                               {"cumulative", SW_OP_CUMULATIVE, make_cumulative},
                               {"top_k", SW_OP_TOP_K, make_top_k},
                               {"bitcast_convert", SW_OP_BITCAST, make_bitcast},
                               {"sort", SW_OP_SORT, make_sort},
                               {"cholesky", SW_OP_CHOLESKY, make_cholesky},
                               {"triangular_solve", SW_OP_TRIANGULAR_SOLVE, make_triangular_solve},
                               {"factor", SW_OP_FACTOR, make_factor},
                               {"tridiagonal_solve", SW_OP_TRIDIAGONAL_SOLVE, make_tridiagonal_solve},
                               {"attention", SW_OP_ATTENTION, make_attention},
                               {"attention_grad", SW_OP_ATTENTION_GRAD, make_attention},
                               {"select_and_scatter", SW_OP_SELECT_AND_SCATTER, make_select_and_scatter},
                               {"reduce_window", SW_OP_REDUCE_WINDOW, make_reduce_window},
                               {"dot_general", SW_OP_DOT, make_dot},
                               {"convolution", SW_OP_CONVOLUTION, make_convolution},
                               {"gather", SW_OP_GATHER, make_gather},
                               {"gather of windows", SW_OP_GATHER, make_gather_window},
                               {"scatter", SW_OP_SCATTER, make_scatter},
                               {"scatter of windows", SW_OP_SCATTER, make_scatter_window}};
enum { N_ROWS = sizeof kRows / sizeof *kRows };

/* --- running ------------------------------------------------------------------------------------------------------ */

enum { MOST_OUT = 5 };
typedef struct results {
  int n;
  sw_tensor at[MOST_OUT];
} results;

static void evaluate(const sw_graph *g, const sw_op *op, const sw_tensor *in, results *out) {
  const sw_buffer *ins[MOST_IN];
  sw_buffer *outs[MOST_OUT];
  for (int i = 0; i < op->n_operands; i++) ins[i] = &in[i];
  out->n = op->n_results;
  for (int r = 0; r < out->n; r++) {
    const sw_type *t = sw_result_type(g, op, r);
    assert_ok(sw_tensor_init(&out->at[r], t->dtype, t->rank, t->dims, &diag));
    outs[r] = &out->at[r];
  }
  assert_ok(sw_exec_eval(op, ins, outs, &(sw_exec_ctx){0}, &diag));
}

static void free_results(results *r) {
  for (int i = 0; i < r->n; i++) sw_tensor_deinit(&r->at[i]);
}

static void copy_inputs(const op_case *c, sw_tensor *out) {
  for (int i = 0; i < c->n_in; i++) assert_ok(sw_tensor_copy(&out[i], &c->in[i], &diag));
}
static void free_inputs(const op_case *c, sw_tensor *in) {
  for (int i = 0; i < c->n_in; i++) sw_tensor_deinit(&in[i]);
}

static double combine(sw_reduction kind, double a, double b) {
  switch ((int)kind) {
    case SW_REDUCE_SUM:
      return a + b;
    case SW_REDUCE_PRODUCT:
      return a * b;
    case SW_REDUCE_MIN:
      return a < b ? a : b;
    default:
      return a > b ? a : b;
  }
}

static void expect_combined(const results *whole, const results *a, const results *b, sw_reduction kind,
                            const char *what, int which) {
  for (int r = 0; r < whole->n; r++) {
    for (int64_t i = 0; i < sw_buffer_elements(&whole->at[r]); i++) {
      double want = get(&whole->at[r], i), got = combine(kind, get(&a->at[r], i), get(&b->at[r], i));
      if (want == got || (want != want && got != got)) continue;
      fail_msg("%s %d (%s): element %lld of result %d is %g, the parts give %g", what, which, sw_reduction_text(kind),
               (long long)i, r, want, got);
    }
  }
}

/* --- points of the loops ------------------------------------------------------------------------------------------ */

/* Calls `see` with the row-major number of every element of a tensor that the map reaches from the point. */
static void elements_at(const sw_map *m, const int64_t *dims, const int64_t *point,
                        void (*see)(void *user, int64_t element), void *user) {
  int64_t first[SW_MAX_RANK], count[SW_MAX_RANK], index[SW_MAX_RANK] = {0};
  for (int i = 0; i < m->rank; i++) {
    const sw_affine *e = &m->dims[i];
    first[i] = e->constant;
    count[i] = e->n_terms ? 1 : dims[i]; /* no loop: all of it */
    if (!e->n_terms) first[i] = 0;
    for (int t = 0; t < e->n_terms; t++) first[i] += e->terms[t].coef * point[e->terms[t].loop];
    if (e->mixed_radix) count[i] = e->terms[e->n_terms - 1].coef;
  }
  for (;;) {
    int64_t element = 0;
    bool inside = true;
    for (int i = 0; i < m->rank; i++) {
      int64_t at = first[i] + index[i];
      inside = inside && at >= 0 && at < dims[i];
      element = element * dims[i] + at;
    }
    if (inside) see(user, element);
    int i = m->rank - 1;
    while (i >= 0 && ++index[i] == count[i]) index[i--] = 0;
    if (i < 0) return;
  }
}

static bool next_point(const int64_t *sizes, int n, int64_t *point) {
  int i = n - 1;
  while (i >= 0 && ++point[i] == sizes[i]) point[i--] = 0;
  return i >= 0;
}

typedef struct element_list {
  int n;
  int64_t at[MOST_ELEMENTS];
} element_list;

static void add_element(void *user, int64_t element) {
  element_list *l = user;
  assert_true(l->n < MOST_ELEMENTS);
  l->at[l->n++] = element;
}

static element_list elements_of(const sw_map *m, const sw_type *t, const int64_t *point) {
  element_list l = {0};
  elements_at(m, t->dims, point, add_element, &l);
  return l;
}

/* --- the four properties ------------------------------------------------------------------------------------------ */

typedef struct claims {
  bool may[MOST_IN][MOST_OUT][MOST_ELEMENTS][MOST_ELEMENTS];
  int32_t owner[MOST_OUT][MOST_ELEMENTS][64]; /* index along each parallel loop, + 1 */
} claims;

static void own(claims *k, const sw_loop_nest *s, int r, int64_t q, const int64_t *point) {
  for (int l = 0; l < s->n_loops; l++) {
    if (s->loops[l].kind != SW_LOOP_PARALLEL) continue;
    int32_t *owner = &k->owner[r][q][l];
    if (*owner && *owner != point[l] + 1) {
      fail_msg("element %lld of result %d has owners %d and %lld along loop %d", (long long)q, r, *owner - 1,
               (long long)point[l], l);
    }
    *owner = (int32_t)point[l] + 1;
  }
}

/* A scan connects an index of its loop with all others: the result's index runs by itself. */
static void gather_claims(const sw_graph *g, const sw_op *op, claims *k) {
  const sw_loop_nest *s = op->nest;
  int64_t sizes[128], point[128] = {0}, at_result[64];
  int n = s->n_loops, scan = -1;
  for (int l = 0; l < s->n_loops; l++) {
    sizes[l] = s->loops[l].size;
    if (s->loops[l].kind == SW_LOOP_SCAN) scan = l;
  }
  if (scan >= 0) sizes[n++] = s->loops[scan].size;
  do {
    memcpy(at_result, point, sizeof(int64_t) * (size_t)s->n_loops);
    if (scan >= 0) at_result[scan] = point[n - 1];
    for (int r = 0; r < op->n_results; r++) {
      element_list q = elements_of(&s->maps[op->n_operands + r], sw_result_type(g, op, r), at_result);
      for (int j = 0; j < q.n; j++) own(k, s, r, q.at[j], at_result);
      for (int i = 0; i < op->n_operands; i++) {
        element_list p = elements_of(&s->maps[i], sw_operand_type(g, op, i), point);
        for (int a = 0; a < p.n; a++) {
          for (int j = 0; j < q.n; j++) k->may[i][r][p.at[a]][q.at[j]] = true;
        }
      }
    }
  } while (next_point(sizes, n, point));
}

static void check_ownership(const sw_graph *g, const sw_op *op, const claims *k) {
  for (int r = 0; r < op->n_results; r++) {
    for (int64_t q = 0; q < sw_type_elements(sw_result_type(g, op, r)); q++) {
      for (int l = 0; l < op->nest->n_loops; l++) {
        if (op->nest->loops[l].kind != SW_LOOP_PARALLEL || k->owner[r][q][l]) continue;
        fail_msg("element %lld of result %d has no owner along loop %d", (long long)q, r, l);
      }
    }
  }
}

/* Marks the elements of result r that differ; every one must be connected with element p of operand i. */
static void mark_changed(const results *base, const results *now, int r, bool *seen, const claims *k, int i,
                         int64_t p) {
  for (int64_t q = 0; q < sw_buffer_elements(&base->at[r]); q++) {
    double a = get(&base->at[r], q), b = get(&now->at[r], q);
    if (a == b || (a != a && b != b)) continue;
    seen[q] = true;
    if (k->may[i][r][p][q]) continue;
    fail_msg("element %lld of operand %d changes element %lld of result %d, but no point connects them", (long long)p,
             i, (long long)q, r);
  }
}

/* Changes one element in several ways and looks which results follow. */
static void check_element(const op_case *c, const sw_graph *g, const sw_op *op, const results *base, sw_tensor *in,
                          int i, int64_t p, const claims *k) {
  static const double kChanges[] = {1000, -1000, 0.5};
  double was = get(&in[i], p);
  bool seen[MOST_OUT][MOST_ELEMENTS] = {0};
  for (int way = 0; way < (c->fills[i] == INDEX ? 8 : 3); way++) {
    results now;
    put(&in[i], p, c->fills[i] == INDEX ? way - 1 : c->fills[i] == TRUTH ? 1 - was : was + kChanges[way]);
    evaluate(g, op, in, &now);
    for (int r = 0; r < base->n; r++) mark_changed(base, &now, r, seen[r], k, i, p);
    free_results(&now);
  }
  put(&in[i], p, was);
  for (int64_t q = 0; c->exact && q < sw_buffer_elements(&base->at[0]); q++) {
    if (k->may[i][0][p][q] == seen[0][q]) continue;
    fail_msg("element %lld of operand %d is connected with element %lld, which it does not change", (long long)p, i,
             (long long)q);
  }
}

static void check_dependence(const op_case *c, const sw_graph *g, const sw_op *op, const claims *k) {
  sw_tensor in[MOST_IN];
  results base;
  copy_inputs(c, in);
  evaluate(g, op, in, &base);
  for (int i = 0; i < c->n_in; i++) {
    for (int64_t p = 0; p < sw_buffer_elements(&in[i]); p++) check_element(c, g, op, &base, in, i, p, k);
  }
  free_results(&base);
  free_inputs(c, in);
}

/* Keep what the points with lo <= point[loop] < hi reach; the identity elsewhere. */
static void keep_part(const op_case *c, const sw_graph *g, const sw_op *op, int loop, int64_t lo, int64_t hi,
                      sw_tensor *in) {
  const sw_loop_nest *s = op->nest;
  for (int i = 0; i < op->n_operands; i++) {
    bool keep[MOST_ELEMENTS] = {0}, target = s->loops[loop].partial_operands >> i & 1;
    int64_t sizes[64], point[64] = {0};
    if (c->fills[i] == INDEX || c->fills[i] == TRUTH) continue;
    for (int l = 0; l < s->n_loops; l++) sizes[l] = s->loops[l].size;
    do {
      if (point[loop] < lo || point[loop] >= hi) continue;
      element_list p = elements_of(&s->maps[i], sw_operand_type(g, op, i), point);
      for (int a = 0; a < p.n; a++) keep[p.at[a]] = !target || lo == 0;
    } while (next_point(sizes, s->n_loops, point));
    double identity = sw_reduction_identity(s->loops[loop].combiner, in[i].dtype);
    for (int64_t p = 0; p < sw_buffer_elements(&in[i]); p++) {
      if (!keep[p]) put(&in[i], p, identity);
    }
  }
}

static void check_reductions(op_case *c, const sw_graph *g, const sw_op *op) {
  for (int l = 0; l < op->nest->n_loops; l++) {
    const sw_loop *loop = &op->nest->loops[l];
    if ((loop->kind != SW_LOOP_REDUCTION && loop->kind != SW_LOOP_MASKED) || loop->size < 2) continue;
    int64_t cut = between(c, 1, loop->size - 1);
    results whole, part[2];
    evaluate(g, op, c->in, &whole);
    for (int k = 0; k < 2; k++) {
      sw_tensor in[MOST_IN];
      copy_inputs(c, in);
      keep_part(c, g, op, l, k ? cut : 0, k ? loop->size : cut, in);
      evaluate(g, op, in, &part[k]);
      free_inputs(c, in);
    }
    expect_combined(&whole, &part[0], &part[1], loop->combiner, "loop", l);
    free_results(&whole);
    free_results(&part[0]);
    free_results(&part[1]);
  }
}

static void check_linear(op_case *c, const sw_graph *g, const sw_op *op) {
  for (int f = 0; f < op->nest->n_linear; f++) {
    const sw_linearity *form = &op->nest->linear[f];
    if (!form->operands) continue;
    sw_tensor second[MOST_IN], both[MOST_IN];
    results a, b, whole;
    copy_inputs(c, second);
    copy_inputs(c, both);
    for (int i = 0; i < c->n_in; i++) {
      if (!(form->operands >> i & 1)) continue;
      for (int64_t p = 0; p < sw_buffer_elements(&both[i]); p++) {
        put(&second[i], p, draw(c, c->fills[i]));
        put(&both[i], p, combine(form->kind, get(&c->in[i], p), get(&second[i], p)));
      }
    }
    evaluate(g, op, c->in, &a);
    evaluate(g, op, second, &b);
    evaluate(g, op, both, &whole);
    expect_combined(&whole, &a, &b, form->kind, "linearity", f);
    free_results(&a);
    free_results(&b);
    free_results(&whole);
    free_inputs(c, second);
    free_inputs(c, both);
  }
}

/* --- cases -------------------------------------------------------------------------------------------------------- */

static sw_graph *build(const op_case *c) {
  sw_graph *g = NULL;
  sw_id x[MOST_IN], made[SW_MAX_RESULTS];
  assert_ok(sw_graph_create("case", &g, &diag));
  for (int i = 0; i < c->n_in; i++) {
    char name[8];
    snprintf(name, sizeof name, "x%d", i);
    assert_ok(sw_graph_add_arg(g, name, c->in[i].dtype, c->in[i].rank, c->in[i].dims, SW_VALUE_INPUT, SW_NOWHERE, &x[i],
                               &diag));
  }
  sw_op_spec spec = {.code = c->code, .n_operands = c->n_in, .operands = x, .n_attrs = c->n_attrs, .attrs = c->attrs};
  assert_ok(sw_graph_add_op(g, &spec, made, &diag));
  assert_ok(sw_graph_add_output(g, NULL, made[0], -1, SW_NOWHERE, &diag));
  assert_ok(sw_graph_seal(g, &diag));
  return g;
}

static void check_op(void **state) {
  const op_row *row = *state;
  uint64_t seed = check_seed(1);
  claims *k = sw_mem_alloc(1, sizeof *k, NULL);
  for (int n = 0; n < check_scale(300); n++) {
    op_case c = {.code = row->code};
    sw_rng_seed(&c.rng, seed * 1000 + (uint64_t)n);
    row->make(&c);
    sw_graph *g = build(&c);
    const sw_op *op = &g->ops[0];
    memset(k, 0, sizeof *k);
    if (sw_type_elements(sw_result_type(g, op, 0)) > 0) {
      gather_claims(g, op, k);
      check_ownership(g, op, k);
      check_dependence(&c, g, op, k);
      /* Parts of a softmax do not just add up: unit.attention. */
      const bool adds_up = op->code != SW_OP_ATTENTION && op->code != SW_OP_ATTENTION_GRAD;
      if (adds_up) check_reductions(&c, g, op);
      if (adds_up) check_linear(&c, g, op);
    }
    sw_graph_destroy(g);
    free_inputs(&c, c.in);
  }
  sw_mem_free(k);
}

int main(void) {
  static struct CMUnitTest tests[N_ROWS];
  for (int i = 0; i < N_ROWS; i++) {
    tests[i] = (struct CMUnitTest){
        .name = kRows[i].name, .test_func = check_op, .initial_state = (void *)(uintptr_t)&kRows[i]};
  }
  return cmocka_run_group_tests_name("loops and maps", tests, NULL, NULL);
}
