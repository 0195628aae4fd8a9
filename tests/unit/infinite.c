/* Where a factor may be infinite, or a divisor zero, the other operand is not taken as a partial sum: 0 times that is
 * no 0. Each row is a program that ends in %r, and what may be partial there: a, b, both, or nothing.
 */
#include "check.h"

#include "shardwright/program.h"

#define A "tensor<4x6xf32>"
static const char kArgs[] = "%x: " A ", %y: " A ", %i: tensor<4x6xi32>";

static const struct {
  const char *what, *text;
  const char *may; /* operands that may be partial, by number */
} kRows[] = {
    {"arguments are finite", "%r = stablehlo.multiply %x, %y : " A, "01"},
    {"a logarithm", "%l = stablehlo.log %x : " A "\n%r = stablehlo.multiply %l, %y : " A, "0"},
    {"of what is at least 1",
     "%e = stablehlo.exponential %x : " A "\n%k = stablehlo.constant dense<1.0> : " A "\n%s = stablehlo.add %e, %k : " A
     "\n%l = stablehlo.log %s : " A "\n%r = stablehlo.multiply %l, %y : " A,
     "01"},
    {"an infinite constant",
     "%k = stablehlo.constant dense<0xFF800000> : " A "\n%m = stablehlo.maximum %x, %k : " A
     "\n%r = stablehlo.multiply %y, %m : " A,
     "1"},
    {"one infinite element of a constant",
     "%k = stablehlo.constant dense<[1.0, 0x7F800000]> : tensor<2xf32>\n%c = stablehlo.broadcast_in_dim %k, dims = [0] "
     ": (tensor<2xf32>) -> tensor<2x6xf32>\n%p = stablehlo.concatenate %c, %c, dim = 0 : (tensor<2x6xf32>, "
     "tensor<2x6xf32>) -> " A "\n%r = stablehlo.multiply %y, %p : " A,
     "1"},
    {"a divisor of zero", "%r = stablehlo.divide %x, %y : " A, ""},
    {"a constant divisor", "%k = stablehlo.constant dense<3.0> : " A "\n%r = stablehlo.divide %x, %k : " A, "0"},
    {"a root and more",
     "%q = stablehlo.multiply %x, %x : " A "\n%k = stablehlo.constant dense<0.1> : " A
     "\n%s = stablehlo.add %q, %k : " A "\n%n = stablehlo.sqrt %s : " A "\n%r = stablehlo.divide %y, %n : " A,
     "0"},
    {"a root of what may be zero",
     "%q = stablehlo.multiply %x, %x : " A "\n%n = stablehlo.rsqrt %q : " A "\n%r = stablehlo.multiply %y, %n : " A,
     "1"},
    {"a quotient", "%q = stablehlo.divide %x, %y : " A "\n%r = stablehlo.multiply %q, %y : " A, "0"},
    {"a quotient as a factor of sums",
     "%q = stablehlo.divide %x, %y : " A "\n%r = stablehlo.dot_general %q, %y, contracting_dims = [1] x [1] : (" A
     ", " A ") -> tensor<4x4xf32>",
     "0"},
    {"integers are finite",
     "%k = stablehlo.constant dense<0> : tensor<4x6xi32>\n%r = stablehlo.multiply %i, %k : tensor<4x6xi32>", "01"},
    {"what a loop makes infinite",
     "%n = stablehlo.constant dense<3> : tensor<i32>\n%z = stablehlo.constant dense<0> : tensor<i32>\n"
     "%o = stablehlo.constant dense<1> : tensor<i32>\n"
     "%w:2 = stablehlo.while(%j = %z, %v = %x) : tensor<i32>, " A "\n cond {\n"
     "%p = stablehlo.compare LT, %j, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     "stablehlo.return %p : tensor<i1>\n} do {\n%r = stablehlo.multiply %v, %y : " A "\n%l = stablehlo.log %r : " A
     "\n%k = stablehlo.add %j, %o : tensor<i32>\nstablehlo.return %k, %l : tensor<i32>, " A "\n}",
     "0"},
    {"what a loop keeps",
     "%n = stablehlo.constant dense<3> : tensor<i32>\n%z = stablehlo.constant dense<0> : tensor<i32>\n"
     "%o = stablehlo.constant dense<1> : tensor<i32>\n"
     "%w:2 = stablehlo.while(%j = %z, %v = %x) : tensor<i32>, " A "\n cond {\n"
     "%p = stablehlo.compare LT, %j, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     "stablehlo.return %p : tensor<i1>\n} do {\n%r = stablehlo.multiply %v, %y : " A "\n%l = stablehlo.tanh %r : " A
     "\n%k = stablehlo.add %j, %o : tensor<i32>\nstablehlo.return %k, %l : tensor<i32>, " A "\n}",
     "01"},
    {"rounded to 8 bits", "%r = stablehlo.convert %x : (" A ") -> tensor<4x6xf8E5M2>", ""},
    {"rounded to 16 bits", "%r = stablehlo.convert %x : (" A ") -> tensor<4x6xbf16>", "0"},
};

/* Operands that are partial sums in some linearity of the op. */
static void forms_of(const sw_op *op, char *out) {
  for (int i = 0; i < op->n_operands; i++) {
    bool may = false;
    for (int k = 0; k < op->nest->n_linear; k++) {
      const sw_linearity *f = &op->nest->linear[k];
      may = may || (f->kind == SW_REDUCE_SUM && f->operands >> i & 1);
    }
    if (may) *out++ = (char)('0' + i);
  }
  *out = 0;
}

static const sw_op *op_named(const sw_graph *g, const char *name) {
  for (int32_t i = 0; i < g->n_ops; i++) {
    if (strcmp(g->ops[i].name, name) == 0) return &g->ops[i];
  }
  fail_msg("no op '%s'", name);
  return NULL;
}

/* What nobody reads is dropped: %r is the result, where no loop has it. */
static void write_program(const char *body, sw_text *out) {
  const char *last = strrchr(body, '\n'), *type = body;
  last = last ? last + 1 : body;
  const bool is_result = strncmp(last, "%r", 2) == 0;
  for (const char *at = last; is_result && (at = strpbrk(at, ":>")) != NULL; at++)
    if (at[1] == ' ') type = at + 2;
  if (is_result)
    sw_text_printf(out, "func.func @main(%s) -> %s {\n%s\nreturn %%r : %s\n}\n", kArgs, type, body, type);
  else
    sw_text_printf(out, "func.func @main(%s) -> " A " {\n%s\nreturn %%w#1 : " A "\n}\n", kArgs, body);
}

static void forms_follow_from_what_is_finite(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kRows / sizeof kRows[0]; i++) {
    sw_text text = {0};
    sw_program *p;
    char found[8];
    write_program(kRows[i].text, &text);
    assert_ok(sw_program_parse("t.mlir", text.at, text.n, NULL, &p, &diag));
    forms_of(op_named(sw_program_graph(p), "r"), found);
    if (strcmp(found, kRows[i].may) != 0) {
      fail_msg("%s: operands '%s' may be partial, expected '%s'", kRows[i].what, found, kRows[i].may);
    }
    sw_program_destroy(p);
    sw_text_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(forms_follow_from_what_is_finite)};
  return cmocka_run_group_tests_name("infinite", tests, NULL, NULL);
}
