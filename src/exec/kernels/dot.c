/* dot_general: one matrix product per batch index.
 *
 * An operand's dims fall into batch, free and contracted ones. Where the free dims step as one (and so the contracted
 * ones), BLAS reads the operand in place, whatever the order of the dims; otherwise it is copied to [batch, free,
 * contracted] first. For attention, q[b,s,h,d] with batch {b,h}, free {s}, contracted {d} is read in place: row h*d,
 * column 1. A large operand of a narrow type (the weights) is widened panel by panel of its free dims.
 */
#include "exec/kernels/gemm.h"
#include "exec/kernels/lapack_calls.h"
#include "exec/kernels/native.h"
#include "exec/walk.h"
#include "exec/kernels/wide.h"
#include "base/checked.h"

enum { PANEL_ELEMENTS = 1 << 21 };

/* Dims that act as one: their product, and the step of the innermost in elements. */
typedef struct dim_group {
  int n;
  int dim[SW_MAX_RANK];
  int64_t size, step;
} dim_group;

typedef struct operand {
  const char *at; /* wide elements; NULL: those of `narrow` are widened by panels */
  const sw_buffer *narrow;
  char *panel;        /* room for one */
  int64_t panel_free; /* indices of the free dims at a time */
  int rank;
  int64_t dims[SW_MAX_RANK], stride[SW_MAX_RANK]; /* in elements */
  dim_group batch, free, contract;
} operand;

static void group_push(dim_group *g, int dim) { g->dim[g->n++] = dim; }

/* Size of the group, and whether its dims step as one. */
static bool group_close(const operand *x, dim_group *g) {
  bool one = true;
  g->size = 1;
  g->step = 1;
  int64_t want = -1; /* step that the next dim outwards must have */
  for (int i = g->n - 1; i >= 0; i--) {
    int64_t size = x->dims[g->dim[i]], step = x->stride[g->dim[i]];
    g->size *= size;
    if (size == 1) continue;
    if (want < 0) g->step = step;
    one = one && (want < 0 || step == want);
    want = step * size;
  }
  return one;
}

static void operand_init(operand *x, const sw_buffer *b, const int64_t *batch, int n_batch, const int64_t *contract,
                         int n_contract) {
  bool taken[SW_MAX_RANK] = {false};
  *x = (operand){.rank = b->rank};
  for (int i = 0; i < b->rank; i++) x->dims[i] = b->dims[i];
  sw_dense_strides(b->rank, b->dims, 1, x->stride);
  for (int i = 0; i < n_batch; i++) group_push(&x->batch, (int)batch[i]), taken[batch[i]] = true;
  for (int i = 0; i < n_contract; i++) group_push(&x->contract, (int)contract[i]), taken[contract[i]] = true;
  for (int i = 0; i < b->rank; i++) {
    if (!taken[i]) group_push(&x->free, i);
  }
}

/* Copy to dense [batch, free, contract]. */
static sw_rc operand_pack(operand *x, const sw_kernel_call *c, int bytes, sw_diag *d) {
  const dim_group *order[3] = {&x->batch, &x->free, &x->contract};
  int64_t dims[SW_MAX_RANK], dense[SW_MAX_RANK], from[SW_MAX_RANK], to[SW_MAX_RANK];
  size_t elements = 1;
  int n = 0;
  for (int g = 0; g < 3; g++) {
    for (int i = 0; i < order[g]->n; i++, n++) {
      dims[n] = x->dims[order[g]->dim[i]];
      from[n] = x->stride[order[g]->dim[i]] * bytes;
      elements *= (size_t)dims[n];
    }
  }
  char *copy = sw_arena_alloc(c->scratch, elements, (size_t)bytes, d);
  if (!copy) return SW_E_RESOURCE;
  sw_dense_strides(n, dims, bytes, to);
  sw_copy_box(n, dims, bytes, copy, to, x->at, from);
  x->at = copy;
  sw_dense_strides(n, dims, 1, dense);
  for (int g = 0, k = 0; g < 3; g++) {
    for (int i = 0; i < order[g]->n; i++, k++) x->stride[order[g]->dim[i]] = dense[k];
  }
  return SW_OK;
}

/* Every [free, contract] matrix steps so that BLAS can read it in place. */
static bool operand_fits_blas(operand *x) {
  bool free_one = group_close(x, &x->free), contract_one = group_close(x, &x->contract);
  return free_one && contract_one && sw_gemm_accepts(x->free.size, x->contract.size, x->free.step, x->contract.step);
}

/* Do its matrices take several panels? Only then may it stay narrow. */
static bool takes_panels(const operand *x, const sw_buffer *b, sw_dtype wide) {
  const int64_t k = x->contract.size;
  return b->dtype != wide && sw_convertible(b->dtype) && k > 0 && k <= PANEL_ELEMENTS / 2 &&
         x->free.size > PANEL_ELEMENTS / k;
}

/* Load as `wide` and make sure that BLAS can read it. */
static sw_rc operand_prepare(operand *x, const sw_kernel_call *c, const sw_buffer *b, bool is_larger, sw_dtype wide,
                             sw_diag *d) {
  const void *at;
  bool fits = operand_fits_blas(x);
  x->panel_free = x->free.size;
  if (fits && is_larger && takes_panels(x, b, wide)) {
    x->narrow = b;
    x->panel_free = PANEL_ELEMENTS / x->contract.size;
    x->panel = sw_arena_alloc(c->scratch, PANEL_ELEMENTS, (size_t)sw_dtype_bytes(wide), d);
    return x->panel ? SW_OK : SW_E_RESOURCE;
  }
  SW_TRY(sw_wide_load(c, b, wide, &at, d));
  x->at = at;
  if (fits) return SW_OK;
  SW_TRY(operand_pack(x, c, sw_dtype_bytes(wide), d));
  (void)operand_fits_blas(x);
  return SW_OK;
}

/* Element offset of batch number `i` (row-major over the batch dims). */
static int64_t batch_offset(const operand *x, int64_t i) {
  int64_t offset = 0;
  for (int k = x->batch.n - 1; k >= 0; k--) {
    int64_t size = x->dims[x->batch.dim[k]];
    offset += i % size * x->stride[x->batch.dim[k]];
    i /= size;
  }
  return offset;
}

/* Rows are of the free dims, columns of the contracted ones: `n` rows from `first` on, of the batch at `offset`. */
static sw_matrix operand_panel(const operand *x, sw_dtype wide, int64_t offset, int64_t first, int64_t n) {
  const int64_t bytes = sw_dtype_bytes(wide), from = offset + first * x->free.step, k = x->contract.size;
  if (!x->narrow) return (sw_matrix){x->at + from * bytes, x->free.step, x->contract.step};
  const char *src = (const char *)x->narrow->data + from * sw_dtype_bytes(x->narrow->dtype);
  const bool by_row = x->contract.step == 1;
  const int64_t runs = by_row ? n : k, length = by_row ? k : n, step = by_row ? x->free.step : x->contract.step;
  for (int64_t i = 0; i < runs; i++) {
    const char *run = src + i * step * sw_dtype_bytes(x->narrow->dtype);
    sw_convert(x->narrow->dtype, run, wide, x->panel + i * length * bytes, length);
  }
  return by_row ? (sw_matrix){x->panel, k, 1} : (sw_matrix){x->panel, 1, n};
}

static sw_matrix transposed_matrix(sw_matrix m) { return (sw_matrix){m.at, m.col, m.row}; }

/* One batch: out[m,n], panels of the rows of `a` by those of `b`; at most one of the two is in more than one. */
static void multiply_panels(const operand *a, const operand *b, sw_dtype wide, const int64_t offset[2], char *out) {
  const int64_t m = a->free.size, n = b->free.size, k = a->contract.size, bytes = sw_dtype_bytes(wide);
  for (int64_t i = 0, rows; i < m; i += rows) {
    rows = sw_min_i64(a->panel_free, m - i);
    sw_matrix x = operand_panel(a, wide, offset[0], i, rows);
    for (int64_t j = 0, cols; j < n; j += cols) {
      cols = sw_min_i64(b->panel_free, n - j);
      sw_matrix w = transposed_matrix(operand_panel(b, wide, offset[1], j, cols));
      sw_gemm(wide, rows, cols, k, x, w, out + (i * n + j) * bytes, n);
    }
  }
}

/* Narrow operands with an f64 result, or the other way round, compute in the wider of the types. */
static sw_dtype compute_type(const sw_kernel_call *c) {
  sw_dtype a = sw_wide_of(c->in[0]->dtype), b = sw_wide_of(c->in[1]->dtype), r = sw_wide_of(c->out[0]->dtype);
  if (a == SW_F64 || b == SW_F64 || r == SW_F64) return SW_F64;
  if (a == SW_F32 || b == SW_F32 || r == SW_F32) return SW_F32;
  return a == SW_U64 && b == SW_U64 ? SW_U64 : SW_I64;
}

sw_rc sw_kernel_dot(const sw_kernel_call *c, sw_diag *d) {
  int n_batch, n_contract;
  operand a, b;
  const int64_t *batch = sw_op_ints(c->op, SW_ATTR_LHS_BATCH, &n_batch);
  const int64_t *contract = sw_op_ints(c->op, SW_ATTR_LHS_CONTRACT, &n_contract);
  operand_init(&a, c->in[0], batch, n_batch, contract, n_contract);
  batch = sw_op_ints(c->op, SW_ATTR_RHS_BATCH, &n_batch);
  contract = sw_op_ints(c->op, SW_ATTR_RHS_CONTRACT, &n_contract);
  operand_init(&b, c->in[1], batch, n_batch, contract, n_contract);

  sw_buffer *y = c->out[0];
  if (sw_buffer_elements(y) == 0) return SW_OK;
  sw_dtype wide = compute_type(c);
  void *out;
  bool a_is_larger = sw_buffer_elements(c->in[0]) > sw_buffer_elements(c->in[1]);
  SW_TRY(operand_prepare(&a, c, c->in[0], a_is_larger, wide, d));
  SW_TRY(operand_prepare(&b, c, c->in[1], !a_is_larger, wide, d));
  SW_TRY(sw_wide_begin(c, y, wide, &out, d));
  int64_t size = a.free.size * b.free.size, batches = sw_buffer_elements(y) / size;
  SW_TRY(sw_blas_enter(d));
  for (int64_t i = 0; i < batches; i++) {
    const int64_t offset[2] = {batch_offset(&a, i), batch_offset(&b, i)};
    multiply_panels(&a, &b, wide, offset, (char *)out + i * size * sw_dtype_bytes(wide));
  }
  sw_blas_leave();
  sw_wide_finish(y, wide, out);
  return SW_OK;
}
