/* Small graphs and tensors by hand, for tests of execution. */
#ifndef TESTS_BUILDING_H_
#define TESTS_BUILDING_H_

#include "check.h"

#include "shardwright/exec.h"

static inline sw_graph *new_graph(void) {
  sw_graph *g;
  assert_ok(sw_graph_create("test", &g, &diag));
  return g;
}

static inline sw_id arg(sw_graph *g, const char *name, sw_dtype t, int rank, const int64_t *dims) {
  sw_id id;
  assert_ok(sw_graph_add_arg(g, name, t, rank, dims, SW_VALUE_INPUT, SW_NOWHERE, &id, &diag));
  return id;
}

static inline sw_id add_spec(sw_graph *g, const sw_op_spec *spec) {
  sw_id results[SW_MAX_RESULTS];
  assert_ok(sw_graph_add_op(g, spec, results, &diag));
  return results[0];
}

static inline sw_id add(sw_graph *g, sw_opcode code, int n, const sw_id *operands, int n_attrs, const sw_attr *attrs) {
  return add_spec(
      g, &(sw_op_spec){.code = code, .n_operands = n, .operands = operands, .n_attrs = n_attrs, .attrs = attrs});
}

static inline void output(sw_graph *g, const char *name, sw_id value) {
  assert_ok(sw_graph_add_output(g, name, value, -1, SW_NOWHERE, &diag));
}

static inline sw_graph *seal(sw_graph *g) {
  assert_ok(sw_graph_seal(g, &diag));
  return g;
}

#define INTS(k, ...)                                     \
  {                                                      \
    .key = SW_ATTR_##k, .u.ints = {                      \
      (const int64_t[]){__VA_ARGS__},                    \
      sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t) \
    }                                                    \
  }
#define INT(k, v) \
  { .key = SW_ATTR_##k, .u.i = (v) }
#define FLOAT(k, v) \
  { .key = SW_ATTR_##k, .u.f = (v) }
#define TEXT(k, v) \
  { .key = SW_ATTR_##k, .u.text = (v) }

static inline sw_tensor tensor_of(sw_dtype t, int rank, const int64_t *dims, const double *values) {
  sw_tensor x;
  assert_ok(sw_tensor_init(&x, t, rank, dims, &diag));
  for (int64_t i = 0; i < sw_buffer_elements(&x); i++) {
    sw_element_store(t, values[i], (char *)x.data + i * sw_dtype_bytes(t));
  }
  return x;
}

static inline void assert_values(const sw_buffer *b, const double *want, int64_t n) {
  assert_int_equal(sw_buffer_elements(b), n);
  for (int64_t i = 0; i < n; i++) {
    double got = sw_element_load(b->dtype, (const char *)b->data + i * sw_dtype_bytes(b->dtype));
    if (got != want[i]) fail_msg("element %d is %g, expected %g", (int)i, got, want[i]);
  }
}
#define VALUES(...) (const double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double)

#endif
