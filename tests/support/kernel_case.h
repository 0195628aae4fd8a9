/* An op with random operands and attributes, being made up for unit.kernels. */
#ifndef TESTS_SUPPORT_KERNEL_CASE_H_
#define TESTS_SUPPORT_KERNEL_CASE_H_

#include <math.h>

#include "check.h"
#include "shardwright/exec.h"

enum { MOST_OPERANDS = 8, MOST_ATTRS = 24 };

/* An op with its operands, being made up. */
typedef struct op_case {
  sw_rng *rng;
  sw_opcode code;
  sw_arena arena;
  int n_in, n_attrs;
  sw_tensor in[MOST_OPERANDS];
  sw_attr attrs[MOST_ATTRS];
  int64_t terms; /* numbers added up per element, for the tolerance */
  double magnitude;
  bool wild; /* inputs hold NaN, infinities and extremes */
} op_case;

typedef void (*make_case)(op_case *c);

static inline int64_t below(op_case *c, int64_t n) { return sw_rng_below(c->rng, n); }
static inline int64_t between(op_case *c, int64_t lo, int64_t hi) { return lo + below(c, hi - lo + 1); }

static const sw_dtype kFloats[] = {SW_F64,    SW_F32,        SW_F16,        SW_BF16,     SW_F8E4M3FN, SW_F8E5M2,
                                   SW_F8E3M4, SW_F8E4M3FNUZ, SW_F8E5M2FNUZ, SW_F6E2M3FN, SW_F4E2M1FN};
static const sw_dtype kInts[] = {SW_I2,  SW_U2,  SW_I4, SW_U4,  SW_I8,  SW_I16,
                                 SW_I32, SW_I64, SW_U8, SW_U16, SW_U32, SW_U64};
static const sw_dtype kAll[] = {SW_I4,  SW_U2,  SW_F4E2M1FN, SW_F64, SW_F32, SW_F16, SW_BF16, SW_I8,
                                SW_I16, SW_I32, SW_I64,      SW_U8,  SW_U16, SW_U32, SW_U64,  SW_BOOL};
#define ANY_OF(c, list) ((list)[below((c), (int64_t)(sizeof(list) / sizeof(list)[0]))])

/* A shape of about `most` elements at most; extents 0 and 1 are frequent. */
static inline int shape(op_case *c, int least_rank, int most_rank, int64_t *dims) {
  int rank = (int)between(c, least_rank, most_rank);
  for (int i = 0; i < rank; i++) {
    int64_t kind = below(c, 12);
    dims[i] = kind == 0 ? 0 : kind == 1 ? 1 : between(c, 1, rank > 3 ? 4 : 7);
  }
  return rank;
}

static inline sw_tensor *input(op_case *c, sw_dtype t, int rank, const int64_t *dims, sw_fill fill) {
  sw_tensor *x = &c->in[c->n_in++];
  fill.seed = sw_rng_next(c->rng);
  assert_ok(sw_tensor_init(x, t, rank, dims, &diag));
  assert_ok(sw_tensor_fill(x, &fill, &diag));
  return x;
}

/* Numbers, and when the case is wild some that are none. */
static inline sw_tensor *numbers(op_case *c, sw_dtype t, int rank, const int64_t *dims) {
  sw_fill_kind kind = below(c, 2) ? SW_FILL_RANDOM : SW_FILL_SMALL;
  sw_tensor *x = input(c, t, rank, dims, (sw_fill){.kind = kind, .limit = 4});
  static const double kWild[] = {NAN, INFINITY, -INFINITY, -0.0, 1e38, -1e300, 0.5, 2.5, 200, -129};
  for (int64_t i = 0; c->wild && i < sw_buffer_elements(x); i++) {
    if (below(c, 4) == 0) sw_element_store(t, ANY_OF(c, kWild), (char *)x->data + i * sw_dtype_bytes(t));
  }
  return x;
}

static inline void *copy_ints(op_case *c, const int64_t *v, int n) {
  void *p = sw_arena_copy(&c->arena, v, (size_t)n, sizeof *v, &diag);
  assert_non_null(p);
  return p;
}
static inline void put_ints(op_case *c, sw_attr_key k, const int64_t *v, int n) {
  c->attrs[c->n_attrs++] = (sw_attr){.key = k, .u.ints = {copy_ints(c, v, n), n}};
}
static inline void put_int(op_case *c, sw_attr_key k, int64_t v) {
  c->attrs[c->n_attrs++] = (sw_attr){.key = k, .u.i = v};
}
static inline void put_text(op_case *c, sw_attr_key k, const char *v) {
  c->attrs[c->n_attrs++] = (sw_attr){.key = k, .u.text = v};
}

#endif
