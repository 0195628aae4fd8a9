/* generic: explicit loops, affine maps and a scalar body.
 *
 *   loops d0 (4), d1 (3, reduction sum); maps (d0,d1)->(d0,d1) and (d0,d1)->(d0); body "x0*x0":  sums of squares of
 * rows
 *
 * Loops run in row-major order; the innermost is done in rows. Because maps are affine, an operand's element offset is
 * a constant plus a step per loop. Results are accumulated in f64.
 */
#include "exec/kernels/expr.h"
#include "exec/walk.h"
#include "exec/kernels/native.h"
#include "exec/kernels/wide.h"
#include "base/checked.h"
#include "base/lists.h"

enum { MOST_LOOPS = 64 }; /* the registry allows no more */

/* Element offset of an operand or result: constant + sum of step[i] * loop i. */
typedef struct access {
  int64_t constant;
  const int64_t *step; /* per loop */
} access;

typedef struct generic {
  const sw_kernel_call *c;
  int n_loops, n_operands, n_results;
  const int64_t *extent;
  access *access; /* operands, then results */
  sw_expr *body;  /* per result */
  bool reduces;   /* some loop is not in the results */
  sw_fold fold;
  double *rows;     /* per operand SW_EXPR_ROW elements */
  const double **x; /* rows again, one pointer each */
  double *stack;
  double **acc; /* per result */
} generic;

/* Offsets of one map over a dense buffer; every index must lie inside. */
static sw_rc access_init(const generic *v, const sw_map *m, const sw_buffer *b, access *out, sw_diag *d) {
  int64_t stride[SW_MAX_RANK], *step;
  SW_ARENA_NEW(step, v->c->scratch, v->n_loops + 1, d);
  sw_dense_strides(b->rank, b->dims, 1, stride);
  out->constant = 0;
  out->step = step;
  for (int i = 0; i < m->rank; i++) {
    const sw_affine *a = &m->dims[i];
    int64_t lo = a->constant, hi = a->constant;
    for (int t = 0; t < a->n_terms; t++) {
      int64_t reach = a->terms[t].coef * (v->extent[a->terms[t].loop] - 1);
      lo += sw_min_i64(reach, 0), hi += sw_max_i64(reach, 0);
      step[a->terms[t].loop] += a->terms[t].coef * stride[i];
    }
    if (lo < 0 || hi >= b->dims[i]) {
      return SW_FAIL_INPUT(d, v->c->op->span,
                           "op '%s': indices %lld to %lld of dimension %d lie outside its extent %lld", v->c->op->name,
                           (long long)lo, (long long)hi, i, (long long)b->dims[i]);
    }
    out->constant += a->constant * stride[i];
  }
  return SW_OK;
}

/* All loops that are reduced combine in one way. */
static sw_rc fold_init(generic *v, const sw_loop_nest *nest, sw_diag *d) {
  const sw_loop *first = NULL;
  for (int i = 0; i < nest->n_loops; i++) {
    const sw_loop *l = &nest->loops[i];
    if (l->kind != SW_LOOP_REDUCTION) continue;
    if (first && first->combiner != l->combiner) {
      return SW_FAIL_INPUT(d, v->c->op->span, "op '%s': loops are reduced by %s and by %s; expected one kind",
                           v->c->op->name, sw_reduction_text(first->combiner), sw_reduction_text(l->combiner));
    }
    first = l;
  }
  v->reduces = first != NULL;
  return first ? sw_fold_init(v->c, first->combiner, SW_F64, &v->fold, d) : SW_OK;
}

static sw_rc body_init(generic *v, sw_diag *d) {
  const sw_op *op = v->c->op;
  sw_expr_scope scope = {v->n_operands, v->n_loops, v->n_results, op->name, op->span};
  int depth = 1;
  SW_ARENA_NEW(v->body, v->c->scratch, v->n_results, d);
  SW_TRY(sw_expr_parse(sw_op_text(op, SW_ATTR_BODY, ""), &scope, v->c->scratch, v->body, d));
  for (int i = 0; i < v->n_results; i++) depth = v->body[i].depth > depth ? v->body[i].depth : depth;
  SW_ARENA_NEW(v->stack, v->c->scratch, depth * SW_EXPR_ROW, d);
  SW_ARENA_NEW(v->rows, v->c->scratch, v->n_operands * SW_EXPR_ROW, d);
  SW_ARENA_NEW(v->x, v->c->scratch, v->n_operands, d);
  for (int i = 0; i < v->n_operands; i++) v->x[i] = v->rows + i * SW_EXPR_ROW;
  return SW_OK;
}

static sw_rc accumulators_init(generic *v, sw_diag *d) {
  SW_ARENA_NEW(v->acc, v->c->scratch, v->n_results, d);
  for (int i = 0; i < v->n_results; i++) {
    void *at;
    SW_TRY(sw_wide_begin(v->c, v->c->out[i], SW_F64, &at, d));
    v->acc[i] = at;
    if (v->reduces) sw_fill_elements(at, v->fold.identity, 8, sw_buffer_elements(v->c->out[i]));
  }
  return SW_OK;
}

static int64_t offset_at(const generic *v, const access *a, const int64_t *loop) {
  int64_t offset = a->constant;
  for (int i = 0; i < v->n_loops; i++) offset += a->step[i] * loop[i];
  return offset;
}

/* n points from `loop` on along the last loop. */
static void run_row(const generic *v, const int64_t *loop, int64_t n) {
  int last = v->n_loops - 1;
  for (int i = 0; i < v->n_operands; i++) {
    const sw_buffer *b = v->c->in[i];
    int64_t bytes = sw_dtype_bytes(b->dtype), far = last < 0 ? 0 : v->access[i].step[last] * bytes;
    const char *from = (const char *)b->data + offset_at(v, &v->access[i], loop) * bytes;
    sw_chunk packed;
    if (far != bytes) {
      sw_copy_row((int)bytes, packed.bytes, bytes, from, far, n);
      from = packed.bytes;
    }
    sw_convert(b->dtype, from, SW_F64, v->rows + i * SW_EXPR_ROW, n);
  }
  sw_expr_rows rows = {v->x, loop, last};
  for (int i = 0; i < v->n_results; i++) {
    const access *a = &v->access[v->n_operands + i];
    char *to = (char *)(v->acc[i] + offset_at(v, a, loop));
    int64_t step = last < 0 ? 8 : a->step[last] * 8;
    sw_expr_eval(&v->body[i], &rows, n, v->stack);
    if (!v->reduces) {
      sw_copy_row(8, to, step, (const char *)v->stack, 8, n);
    } else if (step == 0) {
      sw_fold_row(&v->fold, to, SW_F64, v->stack, n);
    } else {
      sw_fold_strided(&v->fold, to, step, (const char *)v->stack, 8, n);
    }
  }
}

static void run_loops(const generic *v) {
  int64_t loop[MOST_LOOPS] = {0};
  int last = v->n_loops - 1;
  int64_t width = last < 0 ? 1 : v->extent[last];
  for (;;) {
    for (int64_t at = 0; at < width; at += SW_EXPR_ROW) {
      if (last >= 0) loop[last] = at;
      run_row(v, loop, sw_min_i64(SW_EXPR_ROW, width - at));
    }
    if (!sw_next_position(last, v->extent, loop)) return;
  }
}

sw_rc sw_kernel_generic(const sw_kernel_call *c, sw_diag *d) {
  const sw_op *op = c->op;
  const sw_loop_nest *nest = op->nest;
  if (!nest || nest->n_maps != op->n_operands + op->n_results) return SW_BUG(d, "generic '%s' lacks maps", op->name);
  if (nest->n_loops > MOST_LOOPS) return SW_BUG(d, "generic '%s' has %d loops", op->name, nest->n_loops);
  generic v = {.c = c, .n_loops = nest->n_loops, .n_operands = op->n_operands, .n_results = op->n_results};
  int64_t *extent;
  SW_ARENA_NEW(extent, c->scratch, v.n_loops + 1, d);
  bool empty = false;
  for (int i = 0; i < v.n_loops; i++) {
    extent[i] = nest->loops[i].size;
    empty = empty || extent[i] == 0;
  }
  v.extent = extent;
  SW_TRY(body_init(&v, d));
  SW_TRY(fold_init(&v, nest, d));
  SW_TRY(accumulators_init(&v, d));
  SW_ARENA_NEW(v.access, c->scratch, nest->n_maps, d);
  for (int i = 0; i < nest->n_maps && !empty; i++) {
    const sw_buffer *b = i < op->n_operands ? c->in[i] : c->out[i - op->n_operands];
    if (!sw_convertible(b->dtype)) return sw_kernel_no_dtype(c, b->dtype, d);
    SW_TRY(access_init(&v, &nest->maps[i], b, &v.access[i], d));
  }
  if (!empty) run_loops(&v);
  for (int i = 0; i < v.n_results; i++) sw_wide_finish(c->out[i], SW_F64, v.acc[i]);
  return SW_OK;
}
