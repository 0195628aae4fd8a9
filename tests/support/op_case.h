/* An op with random operands and attributes, being made up for unit.nest_vs_kernel. */
#ifndef TESTS_SUPPORT_OP_CASE_H_
#define TESTS_SUPPORT_OP_CASE_H_

#include "check.h"
#include "shardwright/exec.h"
#include "shardwright/graph.h"

enum { MOST_IN = 6, MOST_ATTRS = 16, MOST_ELEMENTS = 220, RANK = 4 };

typedef enum fill { SMALL, POWERS, INDEX, TRUTH } fill;

/* An op on inputs, being made up. */
typedef struct op_case {
  sw_rng rng;
  sw_opcode code;
  int n_in, n_attrs;
  sw_tensor in[MOST_IN];
  fill fills[MOST_IN];
  sw_attr attrs[MOST_ATTRS];
  int64_t lists[MOST_ATTRS][SW_MAX_RANK];
  bool exact; /* every claimed dependence shows */
} op_case;

static inline int64_t below(op_case *c, int64_t n) { return sw_rng_below(&c->rng, n); }
static inline int64_t between(op_case *c, int64_t lo, int64_t hi) { return lo + below(c, hi - lo + 1); }

/* --- elements ----------------------------------------------------------------------------------------------------- */

static inline double get(const sw_buffer *t, int64_t i) {
  return sw_element_load(t->dtype, (char *)t->data + i * sw_dtype_bytes(t->dtype));
}
static inline void put(sw_buffer *t, int64_t i, double v) {
  sw_element_store(t->dtype, v, (char *)t->data + i * sw_dtype_bytes(t->dtype));
}

static inline double draw(op_case *c, fill f) {
  switch (f) {
    case SMALL:
      return (double)between(c, -4, 4);
    case POWERS:
      return (double)(INT64_C(1) << below(c, 3));
    case INDEX:
      return (double)between(c, -1, 5);
    case TRUTH:
      break;
  }
  return (double)below(c, 2);
}

static inline sw_tensor *input(op_case *c, sw_dtype t, fill f, int rank, const int64_t *dims) {
  sw_tensor *x = &c->in[c->n_in];
  c->fills[c->n_in++] = f;
  assert_ok(sw_tensor_init(x, t, rank, dims, &diag));
  for (int64_t i = 0; i < sw_buffer_elements(x); i++) put(x, i, draw(c, f));
  return x;
}

static inline int64_t *list(op_case *c, sw_attr_key k, int n) {
  int64_t *at = c->lists[c->n_attrs];
  c->attrs[c->n_attrs++] = (sw_attr){.key = k, .u.ints = {at, n}};
  return at;
}
static inline void put_list(op_case *c, sw_attr_key k, const int64_t *v, int n) {
  memcpy(list(c, k, n), v, sizeof *v * (size_t)n);
}
static inline void number(op_case *c, sw_attr_key k, int64_t v) {
  c->attrs[c->n_attrs++] = (sw_attr){.key = k, .u.i = v};
}
static inline void word(op_case *c, sw_attr_key k, const char *v) {
  c->attrs[c->n_attrs++] = (sw_attr){.key = k, .u.text = v};
}

/* Operands and attributes of attention, and of its gradient those that come after v. */
static inline void make_attention(op_case *c) {
  const bool gradient = c->code == SW_OP_ATTENTION_GRAD;
  static const char *const kLayouts[] = {"bhsd", "bshd"};
  const int64_t batch = between(c, 1, 2), kv = between(c, 1, 2), heads = kv * between(c, 1, 2),
                queries = between(c, 1, 3);
  const int64_t keys = between(c, 1, 3), first = below(c, 2), scores[RANK] = {batch, heads, queries, keys};
  const int64_t q[RANK] = {batch, first ? queries : heads, first ? heads : queries, 2};
  const int64_t k[RANK] = {batch, first ? keys : kv, first ? kv : keys, 2};
  input(c, SW_F32, SMALL, 4, q);
  input(c, SW_F32, SMALL, 4, k);
  input(c, SW_F32, SMALL, 4, k);
  for (int i = 0; gradient && i < 3; i++) input(c, SW_F32, SMALL, i == 1 ? 3 : 4, i == 1 ? scores : q);
  if (!gradient && below(c, 2)) input(c, SW_F32, SMALL, 4, scores);
  if (!gradient && below(c, 2)) input(c, SW_BOOL, TRUTH, 4, scores);
  if (!gradient && below(c, 2)) input(c, SW_I32, INDEX, 1, scores);
  word(c, SW_ATTR_LAYOUT, kLayouts[first]);
  number(c, SW_ATTR_CAUSAL, below(c, 2));
}

#endif
