/* attention, block by block: scores of 64 queries and 256 keys at a time, the softmax while keys come in. With the
 * largest score so far m, the sum l of e^(score - m) and the output o so far, a new block with largest score m' gives
 *
 *   m'' = max(m, m')    l'' = l e^(m - m'') + sum of e^(score - m'')    o'' = o e^(m - m'') + e^(score - m'') v
 *
 * and in the end o / l and m + log l (Milakov and Gimelshein 2018; Dao et al. 2022).
 */
#include "exec/kernels/attention_kernel.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "exec/kernels/lapack_calls.h"
#include "exec/kernels/native.h"

/* --- what the gradient shares ------------------------------------------------------------------------------------- */

sw_rc sw_attention_room(const sw_attention_job *j, int64_t n, void **out, sw_diag *d) {
  *out = sw_arena_alloc(j->c->scratch, (size_t)(n > 0 ? n : 1), j->bytes, d);
  if (!*out) return SW_E_RESOURCE;
  memset(*out, 0, (size_t)(n > 0 ? n : 1) * j->bytes);
  return SW_OK;
}

sw_rc sw_attention_job_init(sw_attention_job *j, const sw_kernel_call *c, sw_diag *d) {
  const sw_buffer *q = c->in[SW_ATTENTION_Q], *k = c->in[SW_ATTENTION_K], *v = c->in[SW_ATTENTION_V];
  *j = (sw_attention_job){.c = c};
  if (!sw_convertible(q->dtype)) return sw_kernel_no_dtype(c, q->dtype, d);
  sw_attention_read(c->op->code, c->op->n_attrs, c->op->attrs, &j->a);
  for (int i = j->a.least; i < c->op->n_operands; i++)
    (void)sw_attention_take(&j->a, i, c->in[i]->dtype, c->in[i]->rank); /* checked when the op was made */
  j->wide = sw_wide_of(q->dtype);
  j->bytes = (size_t)sw_dtype_bytes(j->wide);
  j->batches = q->dims[0];
  j->heads = q->dims[j->a.heads];
  j->kv_heads = k->dims[j->a.heads];
  j->group = j->kv_heads > 0 ? j->heads / j->kv_heads : 0;
  j->queries = q->dims[j->a.positions];
  j->keys = k->dims[j->a.positions];
  j->width = q->dims[3];
  j->value_width = v->dims[3];
  j->origin = j->a.base + (j->a.start < 0 ? 0 : sw_buffer_int(c->in[j->a.start], 0));
  j->scale = j->a.scale != 0 ? j->a.scale : j->width > 0 ? 1 / sqrt((double)j->width) : 1;
  SW_TRY(sw_attention_room(j, SW_QUERY_BLOCK * j->width, &j->q, d));
  SW_TRY(sw_attention_room(j, SW_KEY_BLOCK * j->width, &j->k, d));
  SW_TRY(sw_attention_room(j, SW_KEY_BLOCK * j->value_width, &j->v, d));
  SW_TRY(sw_attention_room(j, (int64_t)SW_QUERY_BLOCK * SW_KEY_BLOCK, &j->scores, d));
  return sw_attention_room(j, SW_KEY_BLOCK, &j->row, d);
}

/* Where row `first` of a head is, and the step between rows, in elements. */
static int64_t head_row_at(const sw_attention_job *j, const sw_buffer *x, int64_t batch, int64_t head, int64_t first,
                           int64_t *step) {
  const bool heads_first = j->a.heads == 1;
  const int64_t width = x->dims[3];
  *step = heads_first ? width : width * x->dims[2];
  const int64_t of_head = heads_first ? width * x->dims[2] : width;
  return batch * x->dims[1] * x->dims[2] * width + head * of_head + first * *step;
}

void sw_attention_load(const sw_attention_job *j, const sw_buffer *x, int64_t batch, int64_t head, int64_t first,
                       int64_t n, void *to) {
  int64_t step, at = head_row_at(j, x, batch, head, first, &step), width = x->dims[3], bytes = sw_dtype_bytes(x->dtype);
  for (int64_t i = 0; i < n; i++) {
    sw_convert(x->dtype, (const char *)x->data + (at + i * step) * bytes, j->wide,
               (char *)to + (size_t)(i * width) * j->bytes, width);
  }
}

void sw_attention_store(const sw_attention_job *j, sw_buffer *x, int64_t batch, int64_t head, int64_t first, int64_t n,
                        const void *from) {
  int64_t step, at = head_row_at(j, x, batch, head, first, &step), width = x->dims[3], bytes = sw_dtype_bytes(x->dtype);
  for (int64_t i = 0; i < n; i++) {
    sw_convert(j->wide, (const char *)from + (size_t)(i * width) * j->bytes, x->dtype,
               (char *)x->data + (at + i * step) * bytes, width);
  }
}

/* Keys of a batch: those from there on are none. */
static int64_t length_of(const sw_attention_job *j, int64_t batch) {
  if (j->a.lengths < 0) return j->keys;
  return sw_max_i64(0, sw_min_i64(j->keys, sw_buffer_int(j->c->in[j->a.lengths], batch)));
}

void sw_attention_load_keys(const sw_attention_job *j, const sw_attention_block *at) {
  const int64_t group = sw_max_i64(1, j->group), kv_head = at->head / group,
                n = sw_max_i64(0, sw_min_i64(at->nk, length_of(j, at->batch) - at->k0));
  sw_attention_load(j, j->c->in[SW_ATTENTION_K], at->batch, kv_head, at->k0, n, j->k);
  sw_attention_load(j, j->c->in[SW_ATTENTION_V], at->batch, kv_head, at->k0, n, j->v);
  memset((char *)j->k + (size_t)(n * j->width) * j->bytes, 0, (size_t)((at->nk - n) * j->width) * j->bytes);
  memset((char *)j->v + (size_t)(n * j->value_width) * j->bytes, 0, (size_t)((at->nk - n) * j->value_width) * j->bytes);
}

/* x + y, cut to what fits. */
static int64_t sum(int64_t x, int64_t y) {
  int64_t s;
  return sw_add_i64(x, y, &s) ? s : y > 0 ? INT64_MAX : INT64_MIN;
}

void sw_attention_seen(const sw_attention_job *j, int64_t batch, int64_t q0, int64_t q1, int64_t *first, int64_t *end) {
  *first = 0;
  *end = length_of(j, batch);
  if (j->a.left_bound) *first = sw_max_i64(*first, sum(sum(j->origin, q0), -j->a.left));
  if (j->a.right_bound) *end = sw_min_i64(*end, sum(sum(sum(j->origin, q1 - 1), j->a.right), 1));
  *end = sw_max_i64(*first, *end);
}

void sw_attention_strides(const sw_buffer *b, int64_t step[4]) {
  int64_t dense = 1;
  for (int i = 3; i >= 0; i--) {
    step[i] = b->dims[i] == 1 ? 0 : dense;
    dense *= b->dims[i];
  }
}

static const char *element_of(const sw_buffer *b, const sw_attention_block *at, int64_t row, int64_t *step) {
  int64_t steps[4];
  sw_attention_strides(b, steps);
  *step = steps[3];
  const int64_t element = at->batch * steps[0] + at->head * steps[1] + (at->q0 + row) * steps[2] + at->k0 * steps[3];
  return (const char *)b->data + element * sw_dtype_bytes(b->dtype);
}

/* For each type of numbers: one row of scores from products of queries and keys; its bias; what is not seen; a block
 * added to the softmax of a row, whose largest score and sum are given, and by which the output so far is to be
 * multiplied. */
#define OF_TYPE(id, T, TANH, EXP)                                                          \
  static void scale_##id(const sw_attention_job *j, T *s, T *slope, int64_t n) {           \
    const T scale = (T)j->scale, cap = (T)j->a.softcap;                                    \
    for (int64_t i = 0; i < n; i++) s[i] *= scale;                                         \
    for (int64_t i = 0; cap > 0 && i < n; i++) {                                           \
      const T t = TANH(s[i] / cap);                                                        \
      s[i] = cap * t;                                                                      \
      if (slope) slope[i] = 1 - t * t;                                                     \
    }                                                                                      \
  }                                                                                        \
  static void add_##id(T *s, const T *bias, bool one, int64_t n) {                         \
    for (int64_t i = 0; i < n; i++) s[i] += bias[one ? 0 : i];                             \
  }                                                                                        \
  static void hide_##id(T *s, int64_t n) {                                                 \
    for (int64_t i = 0; i < n; i++) s[i] = -(T)INFINITY;                                   \
  }                                                                                        \
  static void hide_masked_##id(T *s, const unsigned char *mask, int64_t step, int64_t n) { \
    for (int64_t i = 0; i < n; i++) {                                                      \
      if (!mask[i * step]) s[i] = -(T)INFINITY;                                            \
    }                                                                                      \
  }                                                                                        \
  static void drop_##id(T *x, T by, const unsigned char *keep, int64_t step, int64_t n) {  \
    for (int64_t i = 0; i < n; i++) x[i] = keep[i * step] ? x[i] * by : 0;                 \
  }                                                                                        \
  static T soften_##id(T *s, int64_t n, T *most, T *sum_of) {                              \
    T m = *most, total = 0;                                                                \
    for (int64_t i = 0; i < n; i++) m = s[i] > m || s[i] != s[i] ? s[i] : m;               \
    if (m == -(T)INFINITY) { /* nothing seen yet */                                        \
      memset(s, 0, (size_t)n * sizeof *s);                                                 \
      return 1;                                                                            \
    }                                                                                      \
    for (int64_t i = 0; i < n; i++) s[i] = EXP(s[i] - m);                                  \
    for (int64_t i = 0; i < n; i++) total += s[i];                                         \
    const T by = EXP(*most - m);                                                           \
    *sum_of = *sum_of * by + total;                                                        \
    *most = m;                                                                             \
    return by;                                                                             \
  }                                                                                        \
  static void gather_##id(T *o, const T *more, T by, int64_t n) {                          \
    for (int64_t i = 0; i < n; i++) o[i] = o[i] * by + more[i];                            \
  }                                                                                        \
  static void finish_##id(T *o, T l, int64_t n) {                                          \
    for (int64_t i = 0; i < n; i++) o[i] = l != 0 ? o[i] / l : 0;                          \
  }
OF_TYPE(f32, float, tanhf, expf)
OF_TYPE(f64, double, tanh, exp)

static void hide(const sw_attention_job *j, void *s, int64_t from, int64_t to) {
  if (to <= from) return;
  if (j->wide == SW_F32)
    hide_f32((float *)s + from, to - from);
  else
    hide_f64((double *)s + from, to - from);
}

static void add_bias(const sw_attention_job *j, const sw_attention_block *at, int64_t row, void *s) {
  const sw_buffer *bias = j->c->in[j->a.bias];
  int64_t step;
  const char *from = element_of(bias, at, row, &step);
  sw_convert(bias->dtype, from, j->wide, j->row, step ? at->nk : 1);
  if (j->wide == SW_F32)
    add_f32(s, j->row, step == 0, at->nk);
  else
    add_f64(s, j->row, step == 0, at->nk);
}

static void hide_masked(const sw_attention_job *j, const sw_attention_block *at, int64_t row, void *s) {
  int64_t step;
  const unsigned char *mask = (const unsigned char *)element_of(j->c->in[j->a.mask], at, row, &step);
  if (j->wide == SW_F32)
    hide_masked_f32(s, mask, step, at->nk);
  else
    hide_masked_f64(s, mask, step, at->nk);
}

void sw_attention_drop(const sw_attention_job *j, const sw_attention_block *at, int64_t row, void *x) {
  int64_t step;
  if (j->a.keep < 0) return;
  const double by = 1 / (1 - j->a.dropout);
  const unsigned char *keep = (const unsigned char *)element_of(j->c->in[j->a.keep], at, row, &step);
  if (j->wide == SW_F32)
    drop_f32(x, (float)by, keep, step, at->nk);
  else
    drop_f64(x, by, keep, step, at->nk);
}

void sw_attention_scores(const sw_attention_job *j, const sw_attention_block *at) {
  sw_gemm(j->wide, at->nq, at->nk, j->width, sw_attention_rows(j->q, j->width), sw_attention_turned(j->k, j->width),
          j->scores, SW_KEY_BLOCK);
  for (int64_t i = 0; i < at->nq; i++) {
    const size_t offset = (size_t)(i * SW_KEY_BLOCK) * j->bytes;
    void *s = (char *)j->scores + offset, *slope = j->slope ? (char *)j->slope + offset : NULL;
    int64_t first, end;
    if (j->wide == SW_F32)
      scale_f32(j, s, slope, at->nk);
    else
      scale_f64(j, s, slope, at->nk);
    if (j->a.bias >= 0) add_bias(j, at, i, s);
    if (j->a.mask >= 0) hide_masked(j, at, i, s);
    sw_attention_seen(j, at->batch, at->q0 + i, at->q0 + i + 1, &first, &end);
    hide(j, s, 0, sw_min_i64(first - at->k0, at->nk));
    hide(j, s, sw_max_i64(0, end - at->k0), at->nk);
  }
}

/* --- forward ------------------------------------------------------------------------------------------------------ */

typedef struct forward {
  sw_attention_job j;
  void *o, *more;   /* of a block of queries */
  void *most, *sum; /* of a row of scores */
} forward;

/* Another block of keys. */
static void take_keys(forward *f, const sw_attention_block *at) {
  const sw_attention_job *j = &f->j;
  const int64_t n = j->value_width;
  sw_attention_load_keys(j, at);
  sw_attention_scores(j, at);
  double by[SW_QUERY_BLOCK];
  for (int64_t i = 0; i < at->nq; i++) {
    if (j->wide == SW_F32)
      by[i] =
          (double)soften_f32((float *)j->scores + i * SW_KEY_BLOCK, at->nk, (float *)f->most + i, (float *)f->sum + i);
    else
      by[i] = soften_f64((double *)j->scores + i * SW_KEY_BLOCK, at->nk, (double *)f->most + i, (double *)f->sum + i);
    sw_attention_drop(j, at, i, (char *)j->scores + (size_t)(i * SW_KEY_BLOCK) * j->bytes);
  }
  sw_gemm(j->wide, at->nq, n, at->nk, sw_attention_rows(j->scores, SW_KEY_BLOCK), sw_attention_rows(j->v, n), f->more,
          n);
  for (int64_t i = 0; i < at->nq; i++) {
    if (j->wide == SW_F32)
      gather_f32((float *)f->o + i * n, (float *)f->more + i * n, (float)by[i], n);
    else
      gather_f64((double *)f->o + i * n, (double *)f->more + i * n, by[i], n);
  }
}

static void finish_queries(forward *f, const sw_attention_block *at) {
  const sw_attention_job *j = &f->j;
  sw_buffer *lse = j->c->out[1];
  char *to = (char *)lse->data + (size_t)((at->batch * j->heads + at->head) * j->queries + at->q0) * j->bytes;
  for (int64_t i = 0; i < at->nq; i++) {
    if (j->wide == SW_F32) {
      const float l = ((float *)f->sum)[i];
      finish_f32((float *)f->o + i * j->value_width, l, j->value_width);
      ((float *)to)[i] = ((float *)f->most)[i] + logf(l);
    } else {
      const double l = ((double *)f->sum)[i];
      finish_f64((double *)f->o + i * j->value_width, l, j->value_width);
      ((double *)to)[i] = ((double *)f->most)[i] + log(l);
    }
  }
  sw_attention_store(j, j->c->out[0], at->batch, at->head, at->q0, at->nq, f->o);
}

static void attend(forward *f, int64_t batch, int64_t head, int64_t q0) {
  const sw_attention_job *j = &f->j;
  sw_attention_block at = {batch, head, q0, sw_min_i64(SW_QUERY_BLOCK, j->queries - q0), 0, 0};
  int64_t first, end;
  sw_attention_load(j, j->c->in[SW_ATTENTION_Q], batch, head, q0, at.nq, j->q);
  memset(f->o, 0, (size_t)(at.nq * j->value_width) * j->bytes);
  memset(f->sum, 0, (size_t)at.nq * j->bytes);
  hide(j, f->most, 0, at.nq);
  sw_attention_seen(j, batch, q0, q0 + at.nq, &first, &end);
  for (at.k0 = first - first % SW_KEY_BLOCK; at.k0 < end; at.k0 += SW_KEY_BLOCK) {
    at.nk = sw_min_i64(SW_KEY_BLOCK, j->keys - at.k0);
    take_keys(f, &at);
  }
  finish_queries(f, &at);
}

sw_rc sw_kernel_attention(const sw_kernel_call *c, sw_diag *d) {
  forward f;
  SW_TRY(sw_attention_job_init(&f.j, c, d));
  SW_TRY(sw_attention_room(&f.j, SW_QUERY_BLOCK * f.j.value_width, &f.o, d));
  SW_TRY(sw_attention_room(&f.j, SW_QUERY_BLOCK * f.j.value_width, &f.more, d));
  SW_TRY(sw_attention_room(&f.j, SW_QUERY_BLOCK, &f.most, d));
  SW_TRY(sw_attention_room(&f.j, SW_QUERY_BLOCK, &f.sum, d));
  SW_TRY(sw_blas_enter(d));
  for (int64_t b = 0; b < f.j.batches; b++) {
    for (int64_t h = 0; h < f.j.heads; h++) {
      for (int64_t q = 0; q < f.j.queries; q += SW_QUERY_BLOCK) attend(&f, b, h, q);
    }
  }
  sw_blas_leave();
  return SW_OK;
}
