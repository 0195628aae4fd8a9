/* Partial results that leave the range of their type where one device's do not: parts of f16 and narrower floats are
 * held in f32, so nothing happens; of f32 the run says what happened. Rows over two devices, [-v 0 1 0 | v v -v 0]: one
 * device adds -v + 1 + v + v - v in order, the second device begins with v + v.
 */
#include "check.h"
#include "support/meshes.h"

#include "shardwright/program.h"
#include "shardwright/propagate.h"
#include "shardwright/validate.h"
#include "support/job.h"

typedef struct subject {
  sw_arena arena;
  sw_program *program;
  sw_plan plan;
} subject;

/* A sum over rows that are cut, or the product with a row of ones. */
static void open_program(subject *s, const char *type, bool product) {
  static const char kSum[] =
      "  %%c = stablehlo.constant dense<0.0> : tensor<%s>\n"
      "  %%s = stablehlo.reduce(%%a init: %%c) applies stablehlo.add across dimensions = [0] : (tensor<8x4x%s>, "
      "tensor<%s>) -> tensor<4x%s>\n";
  static const char kProduct[] =
      "  %%o = stablehlo.constant dense<1.0> : tensor<8x%s>\n"
      "  %%s = stablehlo.dot_general %%o, %%a, contracting_dims = [0] x [0] : (tensor<8x%s>, "
      "tensor<8x4x%s>) -> tensor<4x%s>\n";
  sw_text t = {0};
  *s = (subject){0};
  sw_text_printf(
      &t,
      "sdy.mesh @mesh = <[\"x\"=2]>\nfunc.func @main(%%a: tensor<8x4x%s> {sdy.sharding = "
      "#sdy.sharding<@mesh, [{\"x\"}, {}]>}) -> (tensor<4x%s> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {\n",
      type, type);
  sw_text_printf(&t, product ? kProduct : kSum, type, type, type, type);
  sw_text_printf(&t, "  %%n = stablehlo.negate %%s : tensor<4x%s>\n  return %%n : tensor<4x%s>\n}\n", type, type);
  assert_ok(sw_program_parse("t.mlir", sw_text_str(&t), t.n, NULL, &s->program, &diag));
  sw_text_free(&t);
  sw_machine *machine = machine_of("local", "x=2", &s->arena);
  assert_ok(sw_propagate(JOB(sw_program_graph(s->program), machine), SW_TRAVERSE_BACKWARD_FORWARD, &s->arena, &s->plan,
                         &diag));
}

static sw_validation run(subject *s, double large) {
  const sw_graph *g = sw_program_graph(s->program);
  const sw_type *t = &g->values[g->args[0]].type;
  const double rows[8] = {-large, 0, 1, 0, large, large, -large, 0};
  sw_tensor x;
  sw_validation v;
  assert_ok(sw_tensor_init(&x, t->dtype, t->rank, t->dims, &diag));
  for (int i = 0; i < 32; i++) {
    sw_element_store(t->dtype, rows[i / 4], (char *)x.data + i * sw_dtype_bytes(t->dtype));
  }
  sw_validate_options o = {.seed = 1, .intermediates = true, .inputs = &x, .timeout_s = 60};
  assert_ok(sw_validate(&s->plan, &o, &s->arena, &v, &diag));
  sw_tensor_deinit(&x);
  return v;
}

static void close_program(subject *s) {
  sw_program_destroy(s->program);
  sw_arena_deinit(&s->arena);
}

static void narrow_parts_do_not_overflow(void **state) {
  (void)state;
  static const struct {
    const char *type;
    double large;
  } kCases[] = {{"f16", 60000}, {"f8E4M3FN", 300}, {"f8E5M2", 50000}, {"f8E4M3", 200}, {"f8E3M4", 12}};
  for (size_t i = 0; i < 2 * sizeof kCases / sizeof kCases[0]; i++) {
    subject s;
    open_program(&s, kCases[i / 2].type, i % 2);
    sw_validation v = run(&s, kCases[i / 2].large);
    int64_t reduced = v.comm.calls[SW_COLL_ALL_REDUCE];
    if (!v.matches || !reduced) print_message("%s, %s\n", kCases[i / 2].type, i % 2 ? "product" : "sum");
    assert_true(reduced > 0);
    assert_true(v.matches);
    assert_int_equal(v.outputs[0].not_finite, 0);
    close_program(&s);
  }
}

static void overflow_of_f32_has_a_name(void **state) {
  (void)state;
  subject s;
  open_program(&s, "f32", false);
  sw_validation v = run(&s, 1.5e38); /* two of them are finite */
  assert_true(v.matches);
  assert_null(v.overflow.value);
  v = run(&s, 3e38);
  assert_false(v.matches);
  assert_string_equal(v.overflow.value, "s");
  assert_int_equal(v.overflow.dtype, SW_F32);
  close_program(&s);
}

/* A difference that is none of overflow is not called so. */
static void another_difference_is_no_overflow(void **state) {
  (void)state;
  subject s;
  sw_validation v;
  open_program(&s, "f32", false);
  sw_validate_options o = {.seed = 1, .intermediates = true, .random_floats = true, .inject_fault = 1, .timeout_s = 60};
  assert_ok(sw_validate(&s.plan, &o, &s.arena, &v, &diag));
  assert_false(v.matches);
  assert_null(v.overflow.value);
  close_program(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(narrow_parts_do_not_overflow),
      cmocka_unit_test(overflow_of_f32_has_a_name),
      cmocka_unit_test(another_difference_is_no_overflow),
  };
  return cmocka_run_group_tests_name("overflow", tests, NULL, NULL);
}
