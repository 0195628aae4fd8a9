/* Steps of training as JAX lowers them (tests/data/steps, by scripts/make-step-texts): what their arguments are, said
 * by what is donated, and found without. */
#include "check.h"

#include <string.h>

#include "base/file.h"
#include "report/memory.h"
#include "shardwright/program.h"

static const char *const kSteps[] = {"master", "copies",   "sums", "dropout", "scaled", "averaged",
                                     "micro",  "factored", "sgd",  "lion",    "fourth", "gradients"};

typedef struct step {
  const char *name;
  char *text;
  size_t n;
  sw_program *program;
  const sw_graph *g;
  const uint8_t *class_of;
  sw_arena arena;
} step;

static void open_step(step *s, const char *name, bool donates) {
  static const char kDonated[] = "tf.aliasing_output";
  char path[512];
  *s = (step){.name = name};
  snprintf(path, sizeof path, "%s/tests/data/steps/%s.mlir", SW_SOURCE_DIR, name);
  assert_ok(sw_file_read_text(path, &s->text, &s->n, &diag));
  for (char *at = s->text; !donates && (at = strstr(at, kDonated)) != NULL; at += strlen(kDonated))
    memcpy(at, "no", 2); /* an attribute that says nothing */
  assert_ok(sw_program_parse(path, s->text, s->n, NULL, &s->program, &diag));
  s->g = sw_program_graph(s->program);
  assert_ok(sw_classify_values(s->g, &s->arena, &s->class_of, &diag));
}

static void close_step(step *s) {
  sw_program_destroy(s->program);
  sw_mem_free(s->text);
  sw_arena_deinit(&s->arena);
}

/* The first line says the class of every argument. */
static void check_classes(const step *s, const char *how) {
  static const char kLetters[SW_MEMORY_CLASSES] = {[SW_MEMORY_INPUTS] = 'i',
                                                   [SW_MEMORY_PARAMETERS] = 'p',
                                                   [SW_MEMORY_OPTIMIZER] = 'o',
                                                   [SW_MEMORY_STATE] = 's',
                                                   [SW_MEMORY_GRADIENTS] = 'g'};
  const char *said = s->text + strlen("// ");
  assert_int_equal(strcspn(said, "\n"), s->g->n_args);
  for (int32_t i = 0; i < s->g->n_args; i++) {
    const char found = kLetters[s->class_of[s->g->args[i]]];
    if (found != said[i]) fail_msg("%s, %s: argument %d is '%c', not '%c'", s->name, how, i, found, said[i]);
  }
}

static void what_is_donated_says_the_classes(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kSteps / sizeof *kSteps; i++) {
    step s;
    open_step(&s, kSteps[i], true);
    check_classes(&s, "donated");
    close_step(&s);
  }
}

static void what_is_not_donated_is_found(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kSteps / sizeof *kSteps; i++) {
    step s, donated;
    open_step(&donated, kSteps[i], true);
    open_step(&s, kSteps[i], false);
    check_classes(&s, "not donated");
    for (int32_t k = 0; k < s.g->n_outputs; k++) {
      if (s.g->alias[k] != donated.g->alias[k])
        fail_msg("%s: output %d is the next version of value %d, not %d", s.name, k, (int)s.g->alias[k],
                 (int)donated.g->alias[k]);
    }
    close_step(&s);
    close_step(&donated);
  }
}

/* Each parameter has a gradient of its size, and something is kept to make it. */
static void all_have_gradients_and_what_is_kept_for_them(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kSteps / sizeof *kSteps; i++) {
    step s;
    int kept = 0;
    open_step(&s, kSteps[i], false);
    for (sw_id v = 0; v < s.g->n_values; v++) kept += s.class_of[v] == SW_MEMORY_KEPT;
    if (!kept) fail_msg("%s: nothing is kept for the backward part", s.name);
    for (int32_t k = 0; k < s.g->n_args; k++) {
      if (s.class_of[s.g->args[k]] != SW_MEMORY_PARAMETERS) continue;
      const int64_t elements = sw_type_elements(&s.g->values[s.g->args[k]].type);
      bool any = false;
      for (sw_id v = 0; v < s.g->n_values && !any; v++)
        any = s.class_of[v] == SW_MEMORY_GRADIENTS && s.g->values[v].def >= 0 &&
              sw_type_elements(&s.g->values[v].type) == elements;
      if (!any) fail_msg("%s: argument %d has no gradient", s.name, k);
    }
    close_step(&s);
  }
}

#define CACHE "tensor<8x4xf32>"
#define WRITTEN(NAME, OF, AT)                                                    \
  NAME " = stablehlo.dynamic_update_slice " OF ", %row, " AT ", %zero : (" CACHE \
       ", tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> " CACHE "\n"

/* How the next version %new of an argument %c is made that the program reads. */
static const struct {
  const char *how, *text;
  sw_memory_class is;
} kNext[] = {
    {"a row is written", WRITTEN("%new", "%c", "%i"), SW_MEMORY_STATE},
    {"rows are written in a loop",
     "%new, %n = stablehlo.while(%k = %c, %j = %i) : " CACHE ", tensor<i32> cond {\n"
     "%go = stablehlo.compare LT, %j, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     "stablehlo.return %go : tensor<i1>\n} do {\n" WRITTEN(
         "%w", "%k", "%j") "%next = stablehlo.add %j, %j : tensor<i32>\nstablehlo.return %w, %next : " CACHE
                           ", tensor<i32>\n}\n",
     SW_MEMORY_STATE},
    {"the one branch of a choice",
     "%new = \"stablehlo.case\"(%i) ({\n" WRITTEN("%u", "%c", "%i") "stablehlo.return %u : " CACHE
                                                                    "\n}) : (tensor<i32>) -> " CACHE "\n",
     SW_MEMORY_PARAMETERS},
    {"the last branch alone",
     "%new = \"stablehlo.case\"(%i) ({\n%s = stablehlo.add %c, %c : " CACHE "\nstablehlo.return %s : " CACHE
     "\n}, {\n" WRITTEN("%u", "%c", "%i") "stablehlo.return %u : " CACHE "\n}) : (tensor<i32>) -> " CACHE "\n",
     SW_MEMORY_PARAMETERS},
    {"something is added", "%new = stablehlo.add %c, %c : " CACHE "\n", SW_MEMORY_PARAMETERS},
};

static void what_is_written_into_is_a_cache(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kNext / sizeof *kNext; i++) {
    char text[4096];
    sw_arena arena = {0};
    sw_program *p;
    const uint8_t *class_of;
    const int n =
        snprintf(text, sizeof text,
                 "func.func @main(%%c: " CACHE
                 " {tf.aliasing_output = 0 : i32}, %%row: tensor<1x4xf32>, %%i: tensor<i32>) -> "
                 "(" CACHE
                 ", tensor<4xf32>) {\n%%zero = stablehlo.constant dense<0> : tensor<i32>\n"
                 "%%f = stablehlo.constant dense<0.0> : tensor<f32>\n%s"
                 "%%sum = stablehlo.reduce(%%c init: %%f) applies stablehlo.add across dimensions = [0] : (" CACHE
                 ", tensor<f32>) -> tensor<4xf32>\nreturn %%new, %%sum : " CACHE ", tensor<4xf32>\n}",
                 kNext[i].text);
    assert_ok(sw_program_parse("x.mlir", text, (size_t)n, NULL, &p, &diag));
    const sw_graph *g = sw_program_graph(p);
    assert_ok(sw_classify_values(g, &arena, &class_of, &diag));
    if (class_of[g->args[0]] != kNext[i].is)
      fail_msg("%s: class %s", kNext[i].how, sw_memory_class_text((sw_memory_class)class_of[g->args[0]]));
    sw_program_destroy(p);
    sw_arena_deinit(&arena);
  }
}

static const struct {
  const char *name, *text;
} kNoSteps[] = {
    {"a layer's input, added to what it makes",
     "func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {\n"
     "%0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> "
     "tensor<4x4xf32>\n%1 = stablehlo.add %x, %0 : tensor<4x4xf32>\nreturn %1 : tensor<4x4xf32>\n}"},
    {"the next number, beside a layer",
     "func.func @main(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>, %n: tensor<i32>) -> (tensor<2x4xf32>, tensor<i32>) {\n"
     "%0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> "
     "tensor<2x4xf32>\n%1 = stablehlo.add %n, %n : tensor<i32>\nreturn %0, %1 : tensor<2x4xf32>, tensor<i32>\n}"},
};

static void other_programs_have_no_such_state(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kNoSteps / sizeof *kNoSteps; i++) {
    sw_program *p;
    assert_ok(sw_program_parse("x.mlir", kNoSteps[i].text, strlen(kNoSteps[i].text), NULL, &p, &diag));
    const sw_graph *g = sw_program_graph(p);
    for (int32_t k = 0; k < g->n_outputs; k++) {
      if (g->alias[k] >= 0) fail_msg("%s: output %d is taken for state", kNoSteps[i].name, k);
    }
    sw_program_destroy(p);
  }
}

#define A "tensor<4x6xf32>"
#define B "tensor<6x6xf32>"

static const struct {
  const char *name, *text;
  const char *kinds; /* a letter per argument: i(nput), p(arameter), s(tate) */
} kKinds[] = {
    {"state on the left side of a contraction, beside data",
     "func.func @main(%w: " B " {tf.aliasing_output = 0 : i32}, %x: " A ") -> " B
     " {\n%0 = stablehlo.dot_general %w, %x, contracting_dims = [1] x [1] : (" B ", " A ") -> tensor<6x4xf32>\n"
     "%1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0] : (tensor<6x4xf32>, " A ") -> " B
     "\n%2 = stablehlo.subtract %w, %1 : " B "\nreturn %2 : " B "\n}",
     "si"},
    {"behind the state of a training: data, but for trees with weights",
     "func.func @main(%w: " B " {tf.aliasing_output = 0 : i32}, %k: " B " {jax.arg_info = \"base['k']\"}, "
     "%g: tensor<6xf32> {jax.arg_info = \"base['g']\"}, %x: " A ", %t: tensor<6xf32>) -> " B " {\n"
     "%0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (" A ", " B ") -> " A "\n"
     "%1 = stablehlo.dot_general %0, %k, contracting_dims = [1] x [0] : (" A ", " B ") -> " A "\n"
     "%2 = stablehlo.broadcast_in_dim %g, dims = [1] : (tensor<6xf32>) -> " A "\n%3 = stablehlo.multiply %1, %2 : " A
     "\n%4 = stablehlo.broadcast_in_dim %t, dims = [1] : (tensor<6xf32>) -> " A "\n%5 = stablehlo.subtract %3, %4 : " A
     "\n%6 = stablehlo.dot_general %x, %5, contracting_dims = [0] x [0] : (" A ", " A ") -> " B
     "\n%7 = stablehlo.subtract %w, %6 : " B "\nreturn %7 : " B "\n}",
     "sppii"},
    {"what comes back in its tree is state, by whatever ops it is made; beside its tree it is not",
     "func.func @main(%q: " B " {jax.arg_info = \"state['q']\"}, %w: " B
     " {tf.aliasing_output = 1 : i32, jax.arg_info = "
     "\"state['w']\"}, %x: " A ", %r: " B ") -> (" B ", " B ", " B ") {\n"
     "%0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (" A ", " B ") -> " A "\n"
     "%1 = stablehlo.dot_general %x, %0, contracting_dims = [0] x [0] : (" A ", " A ") -> " B "\n"
     "%2 = stablehlo.dot_general %q, %1, contracting_dims = [1] x [0] : (" B ", " B ") -> " B "\n"
     "%3 = stablehlo.subtract %w, %2 : " B "\n%4 = stablehlo.dot_general %r, %1, contracting_dims = [0] x [0] : (" B
     ", " B ") -> " B "\nreturn %2, %3, %4 : " B ", " B ", " B "\n}",
     "ssip"},
};

static void order_and_what_is_known_say_kinds(void **state) {
  (void)state;
  static const char kLetters[] = {[SW_VALUE_INPUT] = 'i', [SW_VALUE_PARAMETER] = 'p', [SW_VALUE_STATE] = 's'};
  for (size_t i = 0; i < sizeof kKinds / sizeof *kKinds; i++) {
    sw_program *p;
    assert_ok(sw_program_parse("x.mlir", kKinds[i].text, strlen(kKinds[i].text), NULL, &p, &diag));
    const sw_graph *g = sw_program_graph(p);
    assert_int_equal(g->n_args, strlen(kKinds[i].kinds));
    for (int32_t k = 0; k < g->n_args; k++) {
      const char found = kLetters[g->values[g->args[k]].kind];
      if (found != kKinds[i].kinds[k]) fail_msg("%s: argument %d is '%c'", kKinds[i].name, k, found);
    }
    sw_program_destroy(p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_donated_says_the_classes),
      cmocka_unit_test(what_is_not_donated_is_found),
      cmocka_unit_test(all_have_gradients_and_what_is_kept_for_them),
      cmocka_unit_test(what_is_written_into_is_a_cache),
      cmocka_unit_test(other_programs_have_no_such_state),
      cmocka_unit_test(order_and_what_is_known_say_kinds),
  };
  return cmocka_run_group_tests_name("roles", tests, NULL, NULL);
}
