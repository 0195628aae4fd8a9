/* Sugar by its meaning: every expansion is run and compared with the formula in doubles, element by element. */
#include <math.h>

#include "check.h"

#include "shardwright/exec.h"

enum { MOST_IN = 4, MOST_ATTRS = 4, MOST = 4096 };

/* A graph of one op on tensors of small random numbers, run. */
typedef struct run {
  sw_graph *g;
  int n;
  sw_tensor in[MOST_IN];
  sw_tensor out;
} run;

static void add_input(run *r, sw_dtype t, int rank, const int64_t *dims, double limit) {
  sw_tensor *x = &r->in[r->n++];
  sw_fill fill = {.kind = sw_dtype_class_of(t) == SW_CLASS_FLOAT ? SW_FILL_RANDOM : SW_FILL_INDEX,
                  .seed = (uint64_t)r->n,
                  .limit = limit};
  assert_ok(sw_tensor_init(x, t, rank, dims, &diag));
  assert_ok(sw_tensor_fill(x, &fill, &diag));
}

static void execute(run *r, sw_opcode code, int n_attrs, const sw_attr *attrs) {
  sw_id x[MOST_IN], made[SW_MAX_RESULTS];
  const sw_buffer *args[MOST_IN];
  assert_ok(sw_graph_create("sugar", &r->g, &diag));
  for (int i = 0; i < r->n; i++) {
    char name[8];
    snprintf(name, sizeof name, "x%d", i);
    assert_ok(sw_graph_add_arg(r->g, name, r->in[i].dtype, r->in[i].rank, r->in[i].dims, SW_VALUE_INPUT, SW_NOWHERE,
                               &x[i], &diag));
    args[i] = &r->in[i];
  }
  sw_op_spec spec = {.code = code, .name = "it", .n_operands = r->n, .operands = x, .n_attrs = n_attrs, .attrs = attrs};
  assert_ok(sw_graph_add_op(r->g, &spec, made, &diag));
  assert_ok(sw_graph_add_output(r->g, NULL, made[0], -1, SW_NOWHERE, &diag));
  assert_ok(sw_graph_seal(r->g, &diag));
  assert_ok(sw_exec_run(r->g, args, NULL, &r->out, &diag));
}

static void end(run *r) {
  for (int i = 0; i < r->n; i++) sw_tensor_deinit(&r->in[i]);
  sw_tensor_deinit(&r->out);
  sw_graph_destroy(r->g);
}

static double at(const sw_buffer *t, int64_t i) {
  return sw_element_load(t->dtype, (const char *)t->data + i * sw_dtype_bytes(t->dtype));
}

static void expect(const run *r, int64_t i, double want) {
  double relative = r->out.dtype == SW_F32 ? 2e-5 : 2e-2, got = at(&r->out, i);
  if (fabs(got - want) > relative * (1 + fabs(want)))
    fail_msg("element %lld is %g; expected %g", (long long)i, got, want);
}

static const sw_dtype kFloats[] = {SW_F32, SW_BF16, SW_F16};

static void softmax_by_definition(void **state) {
  (void)state;
  const int64_t dims[] = {3, 5, 4};
  for (int t = 0; t < 3; t++) {
    for (int dim = 0; dim < 3; dim++) {
      run r = {0};
      add_input(&r, kFloats[t], 3, dims, 6);
      execute(&r, SW_OP_SOFTMAX, 1, &(sw_attr){.key = SW_ATTR_DIM, .u.i = dim});
      int64_t stride = dim == 2 ? 1 : dim == 1 ? 4 : 20;
      for (int64_t i = 0; i < 60; i++) {
        int64_t first = i - i / stride % dims[dim] * stride;
        double sum = 0;
        for (int64_t k = 0; k < dims[dim]; k++) sum += exp(at(&r.in[0], first + k * stride));
        expect(&r, i, exp(at(&r.in[0], i)) / sum);
      }
      end(&r);
    }
  }
}

static void norms_by_definition(void **state) {
  (void)state;
  const int64_t dims[] = {2, 3, 8}, last[] = {8};
  for (int t = 0; t < 3; t++) {
    for (int layer = 0; layer < 2; layer++) {
      run r = {0};
      add_input(&r, kFloats[t], 3, dims, 3);
      add_input(&r, kFloats[t], 1, last, 2);
      if (layer) add_input(&r, kFloats[t], 1, last, 2);
      execute(&r, layer ? SW_OP_LAYER_NORM : SW_OP_RMS_NORM, 1, &(sw_attr){.key = SW_ATTR_EPSILON, .u.f = 0.25});
      for (int64_t i = 0; i < 48; i++) {
        int64_t first = i / 8 * 8;
        double mean = 0, square = 0;
        for (int k = 0; layer && k < 8; k++) mean += at(&r.in[0], first + k) / 8;
        for (int k = 0; k < 8; k++) square += pow(at(&r.in[0], first + k) - mean, 2) / 8;
        double y = (at(&r.in[0], i) - mean) / sqrt(square + 0.25) * at(&r.in[1], i % 8);
        expect(&r, i, y + (layer ? at(&r.in[2], i % 8) : 0));
      }
      end(&r);
    }
  }
}

static void activations_by_definition(void **state) {
  (void)state;
  const int64_t dims[] = {50};
  for (int which = 0; which < 3; which++) {
    run r = {0};
    add_input(&r, SW_F32, 1, dims, 5);
    sw_attr a = {.key = SW_ATTR_APPROXIMATE, .u.i = which};
    execute(&r, which == 2 ? SW_OP_SILU : SW_OP_GELU, which < 2, &a);
    for (int64_t i = 0; i < 50; i++) {
      double x = at(&r.in[0], i);
      double exact = x / 2 * (1 + erf(x / sqrt(2.0)));
      double bent = x / 2 * (1 + tanh(sqrt(2 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
      expect(&r, i, which == 0 ? exact : which == 1 ? bent : x / (1 + exp(-x)));
    }
    end(&r);
  }
}

/* take and its transpose along the middle of three dims. */
static void lookups_by_definition(void **state) {
  (void)state;
  const int64_t table[] = {2, 5, 3}, indices[] = {2, 2}, taken[] = {2, 2, 2, 3};
  sw_attr dim = {.key = SW_ATTR_DIM, .u.i = 1};
  run r = {0};
  add_input(&r, SW_F32, 3, table, 3);
  add_input(&r, SW_I32, 2, indices, 5);
  execute(&r, SW_OP_TAKE, 1, &dim);
  for (int64_t i = 0; i < 24; i++) {
    int64_t row = (int64_t)at(&r.in[1], i / 3 % 4);
    expect(&r, i, at(&r.in[0], (i / 12 * 5 + row) * 3 + i % 3));
  }
  end(&r);
  run s = {0};
  add_input(&s, SW_F32, 3, table, 3);
  add_input(&s, SW_I32, 2, indices, 5);
  add_input(&s, SW_F32, 4, taken, 3);
  execute(&s, SW_OP_SCATTER_ADD, 1, &dim);
  double want[30];
  for (int64_t i = 0; i < 30; i++) want[i] = at(&s.in[0], i);
  for (int64_t i = 0; i < 24; i++) {
    want[(i / 12 * 5 + (int64_t)at(&s.in[1], i / 3 % 4)) * 3 + i % 3] += at(&s.in[2], i);
  }
  for (int64_t i = 0; i < 30; i++) expect(&s, i, want[i]);
  end(&s);
}

static void one_hot_and_cumsum(void **state) {
  (void)state;
  const int64_t dims[] = {6};
  run r = {0}, s = {0};
  add_input(&r, SW_I64, 1, dims, 5);
  execute(&r, SW_OP_ONE_HOT, 2, (sw_attr[]){{.key = SW_ATTR_K, .u.i = 4}, {.key = SW_ATTR_DTYPE, .u.i = SW_F32}});
  for (int64_t i = 0; i < 24; i++) expect(&r, i, (int64_t)at(&r.in[0], i / 4) == i % 4);
  end(&r);
  add_input(&s, SW_F32, 1, dims, 3);
  execute(&s, SW_OP_CUMSUM, 3,
          (sw_attr[]){{.key = SW_ATTR_DIM}, {.key = SW_ATTR_REVERSED, .u.i = 1}, {.key = SW_ATTR_EXCLUSIVE, .u.i = 1}});
  for (int64_t i = 0; i < 6; i++) {
    double sum = 0;
    for (int64_t k = i + 1; k < 6; k++) sum += at(&s.in[0], k);
    expect(&s, i, sum);
  }
  end(&s);
}

/* Segments 0 .. 3; the rows of segment 4 are dropped. */
static void segment_max_by_definition(void **state) {
  (void)state;
  const int64_t dims[] = {9, 3};
  const sw_dtype types[] = {SW_F32, SW_I32};
  for (int t = 0; t < 2; t++) {
    run r = {0};
    add_input(&r, types[t], 2, dims, 50);
    add_input(&r, SW_I32, 1, dims, 5);
    execute(&r, SW_OP_SEGMENT_MAX, 1, &(sw_attr){.key = SW_ATTR_K, .u.i = 4});
    assert_int_equal(r.out.dims[0], 4);
    for (int64_t i = 0; i < 12; i++) {
      double most = t ? INT32_MIN : -INFINITY;
      for (int64_t row = 0; row < 9; row++) {
        if ((int64_t)at(&r.in[1], row) == i / 3) most = fmax(most, at(&r.in[0], row * 3 + i % 3));
      }
      if (at(&r.out, i) != most) fail_msg("element %lld is %g; expected %g", (long long)i, at(&r.out, i), most);
    }
    end(&r);
  }
}

/* Large numbers too, whose exponentials are none; the middle of three dims, both ways. */
static void cumulative_logsumexp_by_definition(void **state) {
  (void)state;
  const int64_t dims[] = {2, 7, 3};
  for (int t = 0; t < 6; t++) {
    int64_t reversed = t % 2;
    run r = {0};
    add_input(&r, kFloats[t / 2], 3, dims, t < 2 ? 900 : 9);
    execute(&r, SW_OP_CUMULATIVE_LOGSUMEXP, 2,
            (sw_attr[]){{.key = SW_ATTR_DIM, .u.i = 1}, {.key = SW_ATTR_REVERSED, .u.i = reversed}});
    for (int64_t i = 0; i < 42; i++) {
      int64_t first = i - i / 3 % 7 * 3, from = reversed ? i : first, to = reversed ? first + 18 : i;
      double most = -INFINITY, sum = 0;
      for (int64_t k = from; k <= to; k += 3) most = fmax(most, at(&r.in[0], k));
      for (int64_t k = from; k <= to; k += 3) sum += exp(at(&r.in[0], k) - most);
      expect(&r, i, most + log(sum));
    }
    end(&r);
  }
}

/* --- einsum ------------------------------------------------------------------------------------------------------- */

/* Sizes of labels a, b, c, ... */
static const int64_t kSizes[] = {2, 3, 1, 4, 2, 3};
enum { N_LABELS = sizeof kSizes / sizeof *kSizes };

static int64_t element_of(const char *labels, size_t n, const int64_t *index) {
  int64_t e = 0;
  for (size_t i = 0; i < n; i++) e = e * kSizes[labels[i] - 'a'] + index[labels[i] - 'a'];
  return e;
}

static bool next(int64_t *index) {
  int i = N_LABELS - 1;
  while (i >= 0 && ++index[i] == kSizes[i]) index[i--] = 0;
  return i >= 0;
}

/* Sum over all labels at once; labels that no operand has count once. */
static void einsum_in_one_loop(const run *r, const char *equation, double *out) {
  const char *result = strstr(equation, "->") + 2;
  int64_t index[N_LABELS] = {0};
  do {
    bool counts = true;
    for (int l = 0; l < N_LABELS; l++) counts = counts && (index[l] == 0 || strchr(equation, 'a' + l));
    if (!counts) continue;
    double product = 1;
    const char *p = equation;
    for (int i = 0; i < r->n; i++) {
      size_t n = strcspn(p, ",-");
      product *= at(&r->in[i], element_of(p, n, index));
      p += n + 1;
    }
    out[element_of(result, strlen(result), index)] += product;
  } while (next(index));
}

static void check_equation(const char *equation) {
  run r = {0};
  const char *p = equation;
  for (;;) {
    int64_t dims[SW_MAX_RANK];
    size_t n = strcspn(p, ",-");
    for (size_t i = 0; i < n; i++) dims[i] = kSizes[p[i] - 'a'];
    add_input(&r, SW_F32, (int)n, dims, 2);
    if (p[n] == '-') break;
    p += n + 1;
  }
  static double want[MOST];
  memset(want, 0, sizeof want);
  execute(&r, SW_OP_EINSUM, 1, &(sw_attr){.key = SW_ATTR_EQUATION, .u.text = equation});
  einsum_in_one_loop(&r, equation, want);
  for (int64_t i = 0; i < sw_buffer_elements(&r.out); i++) expect(&r, i, want[i]);
  end(&r);
}

static void einsum_by_definition(void **state) {
  (void)state;
  static const char *const kEquations[] = {
      "ab,bc->ac",    "abd,adf->abf", "ab->ba", "ab->a",  "ab->",      "ab->ab",
      "abd->db",      "a,b->ab",      "a,a->a", "a,a->",  "ab,b->a",   "ab,ab,ab->ba",
      "ab,bd,df->fa", "abd,b,f->fd",  ",a->a",  "a,,a->", "abd,ef->f", "->"};
  for (size_t i = 0; i < sizeof kEquations / sizeof *kEquations; i++) check_equation(kEquations[i]);
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(5));
  for (int n = 0; n < check_scale(300); n++) {
    char equation[64] = "", all[N_LABELS + 1] = "";
    int operands = 1 + (int)sw_rng_below(&rng, 3);
    size_t end_of_text = 0, n_all = 0;
    for (int i = 0; i < operands; i++) {
      for (int l = 0; l < N_LABELS; l++) {
        char label = (char)('a' + (l * 5 + n) % N_LABELS); /* an order of its own */
        if (sw_rng_below(&rng, 2)) continue;
        equation[end_of_text++] = label;
        if (!strchr(all, label)) all[n_all++] = label;
      }
      equation[end_of_text++] = i + 1 < operands ? ',' : '-';
    }
    equation[end_of_text++] = '>';
    for (size_t i = n_all; i-- > 0;) {
      if (sw_rng_below(&rng, 2)) equation[end_of_text++] = all[i];
    }
    check_equation(equation);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(softmax_by_definition),
      cmocka_unit_test(norms_by_definition),
      cmocka_unit_test(activations_by_definition),
      cmocka_unit_test(lookups_by_definition),
      cmocka_unit_test(one_hot_and_cumsum),
      cmocka_unit_test(segment_max_by_definition),
      cmocka_unit_test(cumulative_logsumexp_by_definition),
      cmocka_unit_test(einsum_by_definition),
  };
  return cmocka_run_group_tests_name("sugar", tests, NULL, NULL);
}
