/* gather and scatter, as StableHLO defines them.
 *
 * Both walk the index vectors in row-major order. A vector gives the start of a window in the operand; the window is a
 * box of the result (gather) or of the updates (scatter) at the vector's own position there.
 *
 *   take of rows: x[4,8], indices[2,3], offset_dims=[2], collapsed_dims=[0], start_index_map=[0], sizes=[1,8]
 *   result[i,j,:] = x[clamp(indices[i,j], 0, 3), :]
 *
 * gather clamps starts so that the window fits; scatter drops the elements of a window that fall outside.
 */
#include <string.h>

#include "exec/kernels/native.h"
#include "exec/walk.h"
#include "exec/kernels/wide.h"
#include "base/checked.h"
#include "base/lists.h"

typedef struct indexing {
  const sw_buffer *operand, *indices, *window; /* window: result or updates */
  int n_batch;                                 /* dims of the index vectors' positions */
  int64_t batch[SW_MAX_RANK];                  /* their extents */
  int64_t batch_in_indices[SW_MAX_RANK];       /* their steps in elements of `indices` */
  int64_t batch_in_window[SW_MAX_RANK];        /* and in elements of `window` */
  int n_starts;
  int64_t start_step;                   /* between elements of an index vector */
  const int64_t *start_map;             /* operand dim of each */
  int batch_of[SW_MAX_RANK];            /* operand dim -> batch dim that indexes it, or -1 */
  int64_t size[SW_MAX_RANK];            /* window extent per operand dim */
  int64_t step_in_operand[SW_MAX_RANK]; /* elements */
  int64_t step_in_window[SW_MAX_RANK];  /* per operand dim; 0 where the window has no such dim */
} indexing;

/* Dims of `indices` but index_vector_dim, in order, are the dims of `window` that are not window dims, in order. */
static void batch_init(indexing *v, const sw_op *op, const int64_t *window_dims, int n_window_dims) {
  int64_t in_indices[SW_MAX_RANK], in_window[SW_MAX_RANK];
  int64_t vector_dim = sw_op_int(op, SW_ATTR_INDEX_VECTOR_DIM, v->indices->rank);
  sw_dense_strides(v->indices->rank, v->indices->dims, 1, in_indices);
  sw_dense_strides(v->window->rank, v->window->dims, 1, in_window);
  v->start_step = vector_dim < v->indices->rank ? in_indices[vector_dim] : 1;
  for (int i = 0; i < v->indices->rank; i++) {
    if (i == vector_dim) continue;
    v->batch[v->n_batch] = v->indices->dims[i];
    v->batch_in_indices[v->n_batch++] = in_indices[i];
  }
  for (int i = 0, k = 0; i < v->window->rank; i++) {
    if (!sw_list_has(window_dims, n_window_dims, i)) v->batch_in_window[k++] = in_window[i];
  }
  int n, n_batch;
  const int64_t *operand_batch = sw_op_ints(op, SW_ATTR_OPERAND_BATCH, &n);
  const int64_t *indices_batch = sw_op_ints(op, SW_ATTR_INDICES_BATCH, &n_batch);
  for (int i = 0; i < SW_MAX_RANK; i++) v->batch_of[i] = -1;
  for (int i = 0; i < n && i < n_batch; i++) {
    v->batch_of[operand_batch[i]] = (int)(indices_batch[i] - (indices_batch[i] > vector_dim));
  }
}

/* `dropped`: operand dims that the window lacks (collapsed or inserted); `sizes`: window extents, NULL: those of the
 * window's own dims, 1 where it has none. */
static void indexing_init(indexing *v, const sw_op *op, sw_attr_key window_key, sw_attr_key dropped_key,
                          const int64_t *sizes) {
  int n_window_dims, n_dropped;
  const int64_t *window_dims = sw_op_ints(op, window_key, &n_window_dims);
  const int64_t *dropped = sw_op_ints(op, dropped_key, &n_dropped);
  int64_t in_window[SW_MAX_RANK];
  batch_init(v, op, window_dims, n_window_dims);
  v->start_map = sw_op_ints(op, SW_ATTR_START_INDEX_MAP, &v->n_starts);
  sw_dense_strides(v->operand->rank, v->operand->dims, 1, v->step_in_operand);
  sw_dense_strides(v->window->rank, v->window->dims, 1, in_window);
  for (int i = 0, k = 0; i < v->operand->rank; i++) {
    bool kept = !sw_list_has(dropped, n_dropped, i) && v->batch_of[i] < 0;
    int64_t dim = kept ? window_dims[k++] : -1;
    v->size[i] = sizes ? sizes[i] : kept ? v->window->dims[dim] : 1;
    v->step_in_window[i] = kept ? in_window[dim] : 0;
  }
}

/* Where the window of batch position `at` starts, per operand dim, not clamped; and its first element in `window`. */
static int64_t window_start(const indexing *v, const int64_t *at, int64_t *start) {
  int64_t vector = 0, first = 0;
  for (int i = 0; i < v->n_batch; i++) {
    vector += at[i] * v->batch_in_indices[i];
    first += at[i] * v->batch_in_window[i];
  }
  for (int i = 0; i < v->operand->rank; i++) start[i] = v->batch_of[i] < 0 ? 0 : at[v->batch_of[i]];
  for (int i = 0; i < v->n_starts; i++) {
    int64_t s = sw_buffer_int(v->indices, vector + i * v->start_step);
    start[v->start_map[i]] = sw_max_i64(-(INT64_C(1) << 60), sw_min_i64(s, INT64_C(1) << 60));
  }
  return first;
}

/* The window as a walk over {operand, window} (or the other way round) in bytes. */
static sw_walk window_walk(const indexing *v, int64_t bytes, bool window_first) {
  sw_walk w = {.rank = v->operand->rank, .n_arrays = 2};
  for (int i = 0; i < w.rank; i++) {
    w.dims[i] = v->size[i];
    w.stride[window_first][i] = v->step_in_operand[i] * bytes;
    w.stride[!window_first][i] = v->step_in_window[i] * bytes;
  }
  sw_walk_simplify(&w);
  return w;
}

sw_rc sw_kernel_gather(const sw_kernel_call *c, sw_diag *d) {
  indexing v = {.operand = c->in[0], .indices = c->in[1], .window = c->out[0]};
  int n, bytes = sw_dtype_bytes(v.window->dtype);
  const int64_t *sizes = sw_op_ints(c->op, SW_ATTR_SIZES, &n);
  if (n != v.operand->rank) return SW_BUG(d, "gather '%s' has %d sizes", c->op->name, n);
  indexing_init(&v, c->op, SW_ATTR_OFFSET_DIMS, SW_ATTR_COLLAPSED_DIMS, sizes);
  int64_t at[SW_MAX_RANK] = {0}, start[SW_MAX_RANK];
  sw_walk w = window_walk(&v, bytes, true);
  if (sw_has_no_position(v.n_batch, v.batch)) return SW_OK;
  do {
    int64_t to = window_start(&v, at, start), from = 0;
    for (int i = 0; i < v.operand->rank; i++) {
      from += v.step_in_operand[i] * sw_max_i64(0, sw_min_i64(start[i], v.operand->dims[i] - v.size[i]));
    }
    sw_copy_walk(&w, bytes, (char *)v.window->data + to * bytes, (const char *)v.operand->data + from * bytes);
  } while (sw_next_position(v.n_batch, v.batch, at));
  return SW_OK;
}

/* --- scatter ------------------------------------------------------------------------------------------------------ */

/* What is done with the elements of a window. */
typedef struct scatter {
  indexing v;
  const sw_fold *fold; /* NULL: replace */
  int bytes;           /* of an element of result and updates as they are held here */
  char *result;
  const char *updates;
  sw_walk whole; /* window that lies inside */
} scatter;

static void apply_window(const scatter *s, const sw_walk *w, char *to, const char *from) {
  if (!s->fold) {
    sw_copy_walk(w, s->bytes, to, from);
  } else {
    sw_fold_walk(w, s->fold, to, from);
  }
}

/* A window that does not fit is dropped as a whole, as XLA does. */
static void scatter_window(const scatter *s, const int64_t *start, int64_t first) {
  const indexing *v = &s->v;
  int64_t to = 0;
  for (int i = 0; i < v->operand->rank; i++) {
    if (start[i] < 0 || start[i] > v->operand->dims[i] - v->size[i]) return;
    to += start[i] * v->step_in_operand[i];
  }
  apply_window(s, &s->whole, s->result + to * s->bytes, s->updates + first * s->bytes);
}

static void scatter_all(scatter *s) {
  int64_t at[SW_MAX_RANK] = {0}, start[SW_MAX_RANK];
  s->whole = window_walk(&s->v, s->bytes, false);
  if (sw_has_no_position(s->v.n_batch, s->v.batch)) return;
  do {
    int64_t first = window_start(&s->v, at, start);
    scatter_window(s, start, first);
  } while (sw_next_position(s->v.n_batch, s->v.batch, at));
}

sw_rc sw_kernel_scatter(const sw_kernel_call *c, sw_diag *d) {
  const sw_buffer *x = c->in[0];
  sw_buffer *y = c->out[0];
  scatter s = {.v = {.operand = y, .indices = c->in[1], .window = c->in[2]}};
  indexing_init(&s.v, c->op, SW_ATTR_UPDATE_WINDOW_DIMS, SW_ATTR_INSERTED_DIMS, NULL);
  int64_t n = sw_buffer_elements(y);
  if (strcmp(sw_op_text(c->op, SW_ATTR_KIND, ""), "replace") == 0) {
    s.bytes = sw_dtype_bytes(y->dtype);
    s.result = y->data;
    s.updates = c->in[2]->data;
    if (n > 0) memcpy(y->data, x->data, (size_t)(n * s.bytes));
    scatter_all(&s);
    return SW_OK;
  }
  sw_fold f;
  void *result;
  const void *updates;
  SW_TRY(sw_fold_of_op(c, y->dtype, &f, d));
  SW_TRY(sw_wide_begin(c, y, f.wide, &result, d));
  SW_TRY(sw_wide_load(c, c->in[2], f.wide, &updates, d));
  sw_convert(x->dtype, x->data, f.wide, result, n);
  s.fold = &f, s.bytes = sw_dtype_bytes(f.wide), s.result = result, s.updates = updates;
  scatter_all(&s);
  sw_wide_finish(y, f.wide, result);
  return SW_OK;
}
