/* The gradient of attention, block by block, from the log-sum-exps of the forward part (Dao et al. 2022, algorithm 4).
 * With weights p = e^(scores - lse), do the gradient of the output and delta = the sum over a row of do * o:
 *
 *   dv = p^T do    dscores = p * (do v^T - delta)    dq = scale dscores k    dk = scale dscores^T q
 *
 * where dropout multiplies p on the way to dv, and do v^T, by 1 / (1 - dropout) or 0, a softcap multiplies dscores by
 * its slope on the way to dq and dk, and the gradient of a bias is the sum of dscores over what shares it.
 */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "exec/kernels/attention_kernel.h"
#include "exec/kernels/lapack_calls.h"
#include "exec/kernels/wide.h"

typedef struct backward {
  sw_attention_job j;
  void *o, *d_o, *delta; /* a block of queries */
  void *d_scores;        /* a block */
  void *dk, *dv;         /* a block of keys, added up */
  void *more;            /* a block of queries or keys */
  void *dq;              /* of all queries of a batch and head, one after the other */
  void *bias;            /* the gradient of all of it; NULL: not wanted */
} backward;

#define OF_TYPE(id, T, EXP)                                                                                           \
  static void add_##id(T *to, const T *x, int64_t n) {                                                                \
    for (int64_t i = 0; i < n; i++) to[i] += x[i];                                                                    \
  }                                                                                                                   \
  static T product_##id(const T *x, const T *y, int64_t n) {                                                          \
    T s = 0;                                                                                                          \
    for (int64_t i = 0; i < n; i++) s += x[i] * y[i];                                                                 \
    return s;                                                                                                         \
  }                                                                                                                   \
  static void weigh_##id(T *s, T lse, int64_t n) {                                                                    \
    for (int64_t i = 0; i < n; i++) s[i] = s[i] == -(T)INFINITY ? 0 : EXP(s[i] - lse);                                \
  }                                                                                                                   \
  static void derive_##id(T *ds, const T *p, T delta, int64_t n) { /* what is not seen has no part, whatever do is */ \
    for (int64_t i = 0; i < n; i++) ds[i] = p[i] == 0 ? 0 : p[i] * (ds[i] - delta);                                   \
  }                                                                                                                   \
  static void slope_##id(T *ds, const T *slope, T scale, int64_t n) {                                                 \
    for (int64_t i = 0; i < n; i++) ds[i] *= slope ? slope[i] * scale : scale;                                        \
  }                                                                                                                   \
  static void add_bias_##id(T *to, int64_t step, const T *ds, int64_t n) {                                            \
    for (int64_t i = 0; i < n; i++) to[i * step] += ds[i];                                                            \
  }
OF_TYPE(f32, float, expf)
OF_TYPE(f64, double, exp)

static void add_wide(const sw_attention_job *j, void *to, const void *x, int64_t n) {
  if (j->wide == SW_F32)
    add_f32(to, x, n);
  else
    add_f64(to, x, n);
}

static void *wide_element(const sw_attention_job *j, void *at, int64_t i) { return (char *)at + (size_t)i * j->bytes; }

/* Row i of the scores becomes weights, that of d_scores, so far do v^T, what it is to be. */
static void derive_row(const backward *b, const sw_attention_block *at, int64_t i) {
  const sw_attention_job *j = &b->j;
  const sw_buffer *lse = j->c->in[SW_ATTENTION_LSE];
  const int64_t row = (at->batch * j->heads + at->head) * j->queries + at->q0 + i, first = i * SW_KEY_BLOCK;
  int64_t steps[4] = {0}, in_bias = 0;
  if (b->bias) {
    sw_attention_strides(j->c->in[j->a.bias], steps);
    in_bias = at->batch * steps[0] + at->head * steps[1] + (at->q0 + i) * steps[2] + at->k0 * steps[3];
  }
  sw_attention_drop(j, at, i, wide_element(j, b->d_scores, first));
  if (j->wide == SW_F32) {
    float *s = (float *)j->scores + first, *ds = (float *)b->d_scores + first;
    weigh_f32(s, ((const float *)lse->data)[row], at->nk);
    derive_f32(ds, s, ((float *)b->delta)[i], at->nk);
    if (b->bias) add_bias_f32((float *)b->bias + in_bias, steps[3], ds, at->nk);
    slope_f32(ds, j->slope ? (float *)j->slope + first : NULL, (float)j->scale, at->nk);
  } else {
    double *s = (double *)j->scores + first, *ds = (double *)b->d_scores + first;
    weigh_f64(s, ((const double *)lse->data)[row], at->nk);
    derive_f64(ds, s, ((double *)b->delta)[i], at->nk);
    if (b->bias) add_bias_f64((double *)b->bias + in_bias, steps[3], ds, at->nk);
    slope_f64(ds, j->slope ? (double *)j->slope + first : NULL, j->scale, at->nk);
  }
  sw_attention_drop(j, at, i, wide_element(j, j->scores, first));
}

static void load_queries(const backward *b, const sw_attention_block *at) {
  const sw_attention_job *j = &b->j;
  const int64_t n = j->value_width;
  sw_attention_load(j, j->c->in[SW_ATTENTION_Q], at->batch, at->head, at->q0, at->nq, j->q);
  sw_attention_load(j, j->c->in[SW_ATTENTION_O], at->batch, at->head, at->q0, at->nq, b->o);
  sw_attention_load(j, j->c->in[SW_ATTENTION_DO], at->batch, at->head, at->q0, at->nq, b->d_o);
  for (int64_t i = 0; i < at->nq; i++) {
    if (j->wide == SW_F32)
      ((float *)b->delta)[i] = product_f32((float *)b->o + i * n, (float *)b->d_o + i * n, n);
    else
      ((double *)b->delta)[i] = product_f64((double *)b->o + i * n, (double *)b->d_o + i * n, n);
  }
}

/* One block of queries against the block of keys that is loaded. */
static void take_queries(const backward *b, const sw_attention_block *at) {
  const sw_attention_job *j = &b->j;
  const int64_t w = j->width, n = j->value_width, row = SW_KEY_BLOCK;
  load_queries(b, at);
  sw_attention_scores(j, at);
  sw_gemm(j->wide, at->nq, at->nk, n, sw_attention_rows(b->d_o, n), sw_attention_turned(j->v, n), b->d_scores, row);
  for (int64_t i = 0; i < at->nq; i++) derive_row(b, at, i);
  sw_gemm(j->wide, at->nk, n, at->nq, sw_attention_turned(j->scores, row), sw_attention_rows(b->d_o, n), b->more, n);
  add_wide(j, b->dv, b->more, at->nk * n);
  sw_gemm(j->wide, at->nk, w, at->nq, sw_attention_turned(b->d_scores, row), sw_attention_rows(j->q, w), b->more, w);
  add_wide(j, b->dk, b->more, at->nk * w);
  sw_gemm(j->wide, at->nq, w, at->nk, sw_attention_rows(b->d_scores, row), sw_attention_rows(j->k, w), b->more, w);
  const int64_t of_head = (at->head % j->group) * j->queries;
  add_wide(j, wide_element(j, b->dq, (of_head + at->q0) * w), b->more, at->nq * w);
}

static void take_key_block(const backward *b, int64_t batch, int64_t kv_head, int64_t k0) {
  const sw_attention_job *j = &b->j;
  sw_attention_block at = {batch, kv_head * j->group, 0, 0, k0, sw_min_i64(SW_KEY_BLOCK, j->keys - k0)};
  sw_attention_load_keys(j, &at);
  memset(b->dk, 0, (size_t)(at.nk * j->width) * j->bytes);
  memset(b->dv, 0, (size_t)(at.nk * j->value_width) * j->bytes);
  for (int64_t g = 0; g < j->group; g++, at.head++) {
    for (at.q0 = 0; at.q0 < j->queries; at.q0 += SW_QUERY_BLOCK) {
      int64_t first, end;
      at.nq = sw_min_i64(SW_QUERY_BLOCK, j->queries - at.q0);
      sw_attention_seen(j, batch, at.q0, at.q0 + at.nq, &first, &end);
      if (end > k0 && first < k0 + at.nk) take_queries(b, &at);
    }
  }
  sw_attention_store(j, j->c->out[1], batch, kv_head, k0, at.nk, b->dk);
  sw_attention_store(j, j->c->out[2], batch, kv_head, k0, at.nk, b->dv);
}

static sw_rc backward_init(backward *b, const sw_kernel_call *c, sw_diag *d) {
  *b = (backward){0};
  SW_TRY(sw_attention_job_init(&b->j, c, d));
  const sw_attention_job *j = &b->j;
  const int64_t widest = sw_max_i64(j->width, j->value_width);
  SW_TRY(sw_attention_room(j, SW_QUERY_BLOCK * j->value_width, &b->o, d));
  SW_TRY(sw_attention_room(j, SW_QUERY_BLOCK * j->value_width, &b->d_o, d));
  SW_TRY(sw_attention_room(j, SW_QUERY_BLOCK, &b->delta, d));
  SW_TRY(sw_attention_room(j, (int64_t)SW_QUERY_BLOCK * SW_KEY_BLOCK, &b->d_scores, d));
  SW_TRY(sw_attention_room(j, SW_KEY_BLOCK * j->width, &b->dk, d));
  SW_TRY(sw_attention_room(j, SW_KEY_BLOCK * j->value_width, &b->dv, d));
  SW_TRY(sw_attention_room(j, SW_KEY_BLOCK * widest, &b->more, d));
  SW_TRY(sw_attention_room(j, j->group * j->queries * j->width, &b->dq, d));
  if (j->a.softcap > 0) SW_TRY(sw_attention_room(j, (int64_t)SW_QUERY_BLOCK * SW_KEY_BLOCK, &b->j.slope, d));
  return j->a.bias_grad ? sw_attention_room(j, sw_buffer_elements(c->out[3]), &b->bias, d) : SW_OK;
}

sw_rc sw_kernel_attention_grad(const sw_kernel_call *c, sw_diag *d) {
  backward b;
  SW_TRY(backward_init(&b, c, d));
  const sw_attention_job *j = &b.j;
  SW_TRY(sw_blas_enter(d));
  for (int64_t batch = 0; batch < j->batches; batch++) {
    for (int64_t h = 0; h < j->kv_heads; h++) {
      memset(b.dq, 0, (size_t)(j->group * j->queries * j->width) * j->bytes);
      for (int64_t k0 = 0; k0 < j->keys; k0 += SW_KEY_BLOCK) take_key_block(&b, batch, h, k0);
      for (int64_t g = 0; g < j->group; g++) {
        sw_attention_store(j, c->out[0], batch, h * j->group + g, 0, j->queries,
                           wide_element(j, b.dq, g * j->queries * j->width));
      }
    }
  }
  sw_blas_leave();
  if (b.bias) sw_wide_finish(c->out[3], j->wide, b.bias);
  return SW_OK;
}
