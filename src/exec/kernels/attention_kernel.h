/* What attention and its gradient share: blocks of queries and keys in the wide type, and their scores. */
#ifndef EXEC_ATTENTION_H_
#define EXEC_ATTENTION_H_

#include "exec/kernels/gemm.h"
#include "exec/kernels/op_kernel.h"
#include "graph/attention.h"

enum { SW_QUERY_BLOCK = 64, SW_KEY_BLOCK = 256 };

typedef struct sw_attention_job {
  const sw_kernel_call *c;
  sw_attention a;
  sw_dtype wide; /* f32 or f64 */
  size_t bytes;  /* of an element of that */
  int64_t batches, heads, kv_heads, group, queries, keys, width, value_width;
  int64_t origin; /* key position of query 0 */
  double scale;
  /* Room: */
  void *q, *k, *v; /* a block of each, dense rows */
  void *scores;    /* [queries of a block, SW_KEY_BLOCK] */
  void *slope;     /* of the softcap, likewise; NULL: none */
  void *row;       /* SW_KEY_BLOCK elements */
} sw_attention_job;

/* A block of one head: queries [q0, q0 + nq) and keys [k0, k0 + nk) of a batch and a query head. */
typedef struct sw_attention_block {
  int64_t batch, head, q0, nq, k0, nk;
} sw_attention_block;

SW_CHECKED sw_rc sw_attention_job_init(sw_attention_job *j, const sw_kernel_call *c, sw_diag *d);
/* Room for n wide elements, zeroed. */
SW_CHECKED sw_rc sw_attention_room(const sw_attention_job *j, int64_t n, void **out, sw_diag *d);

/* Rows [first, first + n) of a head of q, k, v or o, and back. */
void sw_attention_load(const sw_attention_job *j, const sw_buffer *x, int64_t batch, int64_t head, int64_t first,
                       int64_t n, void *to);
void sw_attention_store(const sw_attention_job *j, sw_buffer *x, int64_t batch, int64_t head, int64_t first, int64_t n,
                        const void *from);
/* Rows of k and v; keys behind the batch's length are 0 there. */
void sw_attention_load_keys(const sw_attention_job *j, const sw_attention_block *at);

/* The first and the last key, and one, that any query in [q0, q1) of a batch sees. */
void sw_attention_seen(const sw_attention_job *j, int64_t batch, int64_t q0, int64_t q1, int64_t *first, int64_t *end);
/* j->scores of j->q and j->k; -inf where a key is not seen. */
void sw_attention_scores(const sw_attention_job *j, const sw_attention_block *at);

/* With dropout: row `row` of the block's weights, or of their derivative, where they are kept, and 0. */
void sw_attention_drop(const sw_attention_job *j, const sw_attention_block *at, int64_t row, void *x);

/* Row-major steps in elements of a bias or mask [batch, head, query, key]: 0 along dims of extent 1. */
void sw_attention_strides(const sw_buffer *b, int64_t step[4]);

static inline sw_matrix sw_attention_rows(const void *at, int64_t row) { return (sw_matrix){at, row, 1}; }
static inline sw_matrix sw_attention_turned(const void *at, int64_t row) { return (sw_matrix){at, 1, row}; }

#endif
