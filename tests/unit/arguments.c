/* Arguments that validation makes up: within what their uses allow, over all of it, and no two blocks alike. The uses
 * of each case are written by hand, and so is what must hold of the numbers.
 */
#include "check.h"

#include <math.h>

#include "exec/validate/arguments.h"
#include "shardwright/program.h"

enum { MOST_ARGS = 4 };

typedef struct made {
  sw_program *program;
  sw_tensor args[MOST_ARGS];
  int n;
} made;

static made make(const char *text, bool random_floats) {
  made m = {0};
  assert_ok(sw_program_parse("t.mlir", text, strlen(text), NULL, &m.program, &diag));
  const sw_graph *g = sw_program_graph(m.program);
  m.n = g->n_args;
  assert_in_range(m.n, 1, MOST_ARGS);
  assert_ok(sw_make_arguments(g, check_seed(11), random_floats, m.args, &diag));
  return m;
}

static void drop(made *m) {
  for (int i = 0; i < m->n; i++) sw_tensor_deinit(&m->args[i]);
  sw_program_destroy(m->program);
}

static double element(const sw_tensor *t, int64_t i) {
  return sw_element_load(t->dtype, (const char *)t->data + i * sw_dtype_bytes(t->dtype));
}

static void least_and_most(const sw_tensor *t, double *least, double *most) {
  *least = INFINITY;
  *most = -INFINITY;
  for (int64_t i = 0; i < sw_buffer_elements(t); i++) {
    *least = fmin(*least, element(t, i));
    *most = fmax(*most, element(t, i));
  }
}

/* --- ranges ------------------------------------------------------------------------------------------------------- */

/* Argument 0 of a program must stay within [low, high], and with its many elements come near both ends. */
typedef struct range_case {
  const char *what, *text;
  double low, high;
} range_case;

#define GATHER_OF(index)                                                                                          \
  "  %r = \"stablehlo.gather\"(%t, " index                                                                        \
  ") <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "                                                 \
  "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : " \
  "(tensor<96x4xf32>, tensor<4000x1xi32>) -> tensor<4000x4xf32>\n  return %r : tensor<4000x4xf32>\n}\n"
#define TOKENS "func.func @main(%x: tensor<4000x1xi32>, %t: tensor<96x4xf32>) -> tensor<4000x4xf32> {\n"
#define SPLAT(name, v) "  " name " = stablehlo.constant dense<" v "> : tensor<4000x1xi32>\n"

static const range_case kRanges[] = {
    {"an index", TOKENS GATHER_OF("%x"), 0, 95},
    {"x < 0 ? x + n : x",
     TOKENS SPLAT("%z", "0") SPLAT(
         "%n",
         "96") "  %c = stablehlo.compare LT, %x, %z : (tensor<4000x1xi32>, tensor<4000x1xi32>) -> tensor<4000x1xi1>\n"
               "  %a = stablehlo.add %x, %n : tensor<4000x1xi32>\n"
               "  %s = stablehlo.select %c, %a, %x : tensor<4000x1xi1>, tensor<4000x1xi32>\n" GATHER_OF("%s"),
     0, 95},
    {"x + 3", TOKENS SPLAT("%k", "3") "  %a = stablehlo.add %x, %k : tensor<4000x1xi32>\n" GATHER_OF("%a"), -3, 92},
    {"10 - x", TOKENS SPLAT("%k", "10") "  %a = stablehlo.subtract %k, %x : tensor<4000x1xi32>\n" GATHER_OF("%a"), -85,
     10},
    {"4 x", TOKENS SPLAT("%k", "4") "  %a = stablehlo.multiply %x, %k : tensor<4000x1xi32>\n" GATHER_OF("%a"), 0, 23},
    {"one of an iota's",
     "func.func @main(%x: tensor<4000xi32>) -> tensor<4000x7xi1> {\n"
     "  %b = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4000xi32>) -> tensor<4000x7xi32>\n"
     "  %i = stablehlo.iota dim = 0 : tensor<7xi32>\n"
     "  %j = stablehlo.broadcast_in_dim %i, dims = [1] : (tensor<7xi32>) -> tensor<4000x7xi32>\n"
     "  %c = stablehlo.compare EQ, %b, %j : (tensor<4000x7xi32>, tensor<4000x7xi32>) -> tensor<4000x7xi1>\n"
     "  return %c : tensor<4000x7xi1>\n}\n",
     0, 6},
    {"a length",
     "func.func @main(%x: tensor<4000xi32>) -> tensor<4000x9xi1> {\n"
     "  %b = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4000xi32>) -> tensor<4000x9xi32>\n"
     "  %j = stablehlo.iota dim = 1 : tensor<4000x9xi32>\n"
     "  %c = stablehlo.compare LT, %j, %b : (tensor<4000x9xi32>, tensor<4000x9xi32>) -> tensor<4000x9xi1>\n"
     "  return %c : tensor<4000x9xi1>\n}\n",
     1, 9},
    {"more than 40, or not",
     "func.func @main(%x: tensor<4000xi32>) -> tensor<4000xi1> {\n"
     "  %k = stablehlo.constant dense<40> : tensor<4000xi32>\n"
     "  %c = stablehlo.compare GT, %x, %k : (tensor<4000xi32>, tensor<4000xi32>) -> tensor<4000xi1>\n"
     "  return %c : tensor<4000xi1>\n}\n",
     38, 42},
    {"log(1 - x)",
     "func.func @main(%x: tensor<4000xf32>) -> tensor<4000xf32> {\n"
     "  %k = stablehlo.constant dense<1.0> : tensor<4000xf32>\n"
     "  %a = stablehlo.subtract %k, %x : tensor<4000xf32>\n  %r = stablehlo.log %a : tensor<4000xf32>\n"
     "  return %r : tensor<4000xf32>\n}\n",
     -1, 0.75},
    {"a divisor",
     "func.func @main(%x: tensor<4000xf32>, %y: tensor<4000xf32>) -> tensor<4000xf32> {\n"
     "  %r = stablehlo.divide %y, %x : tensor<4000xf32>\n  return %r : tensor<4000xf32>\n}\n",
     0.25, 1.25},
    {"the start of a window",
     "func.func @main(%x: tensor<i32>, %t: tensor<50xf32>) -> tensor<8xf32> {\n"
     "  %r = stablehlo.dynamic_slice %t, %x, sizes = [8] : (tensor<50xf32>, tensor<i32>) -> tensor<8xf32>\n"
     "  return %r : tensor<8xf32>\n}\n",
     0, 42},
};

static void arguments_cover_what_their_uses_allow(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kRanges / sizeof kRanges[0]; i++) {
    const range_case *c = &kRanges[i];
    made m = make(c->text, true);
    double least, most;
    least_and_most(&m.args[0], &least, &most);
    double near = sw_buffer_elements(&m.args[0]) > 1 ? 0.02 * (c->high - c->low) : c->high - c->low;
    bool fine = least >= c->low && most <= c->high && least <= c->low + near && most >= c->high - near;
    if (!fine) print_message("%s: %g .. %g; expected %g .. %g\n", c->what, least, most, c->low, c->high);
    assert_true(fine);
    drop(&m);
  }
}

/* Index vectors: each part over its own dimension, and no further. */
static void parts_of_index_vectors_have_ends_of_their_own(void **state) {
  (void)state;
  made m = make(
      "func.func @main(%x: tensor<4000x2xi32>, %t: tensor<3x90xf32>) -> tensor<4000xf32> {\n"
      "  %r = \"stablehlo.gather\"(%t, %x) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = "
      "[0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : "
      "(tensor<3x90xf32>, tensor<4000x2xi32>) -> tensor<4000xf32>\n  return %r : tensor<4000xf32>\n}\n",
      true);
  double most[2] = {0, 0};
  for (int64_t i = 0; i < 8000; i++) most[i % 2] = fmax(most[i % 2], element(&m.args[0], i));
  assert_true(most[0] == 2 && most[1] > 85 && most[1] < 90);
  drop(&m);
}

static void masks_have_both_values_in_every_row(void **state) {
  (void)state;
  made m = make(
      "func.func @main(%x: tensor<500x3xi1>) -> tensor<500x3xi1> {\n"
      "  %r = stablehlo.not %x : tensor<500x3xi1>\n  return %r : tensor<500x3xi1>\n}\n",
      false);
  for (int64_t i = 0; i < 500; i++) {
    double sum = element(&m.args[0], 3 * i) + element(&m.args[0], 3 * i + 1) + element(&m.args[0], 3 * i + 2);
    assert_true(sum == 1 || sum == 2);
  }
  drop(&m);
}

/* --- blocks ------------------------------------------------------------------------------------------------------- */

/* How many different contents a block of so many elements has. */
static double contents(double choices, int64_t elements) { return pow(choices, (double)elements); }

/* Random shapes, dtypes and shardings over x=4,y=2: equal blocks only where there are more blocks than contents. */
static void blocks_differ_where_there_is_room(void **state) {
  (void)state;
  static const struct {
    sw_dtype dtype;
    double choices; /* of the fill below */
  } kTypes[] = {{SW_BOOL, 2}, {SW_I32, 8}, {SW_U8, 8}, {SW_F32, 1e6}, {SW_I4, 8}};
  sw_rng rng;
  sw_arena arena = {0};
  sw_mesh mesh;
  sw_rng_seed(&rng, check_seed(3));
  assert_ok(sw_mesh_parse("x=4,y=2", &arena, &mesh, &diag));
  for (int round = 0; round < check_scale(400); round++) {
    int which = (int)sw_rng_below(&rng, 5);
    int64_t dims[2] = {1 + sw_rng_below(&rng, 9), 1 + sw_rng_below(&rng, 5)}, equal;
    sw_sharding s = sw_sharding_replicated(2);
    assert_true(sw_sharding_push(&s, (int)sw_rng_below(&rng, 2), sw_axis_whole(&mesh, 0)));
    if (sw_rng_below(&rng, 2)) assert_true(sw_sharding_push(&s, 1, sw_axis_whole(&mesh, 1)));
    const sw_sharding *list[] = {&s};
    sw_sharding_list ways = {&mesh, 1, list};
    sw_tensor t;
    sw_fill fill = {.kind = SW_FILL_WITHIN, .low = 0, .limit = 7, .seed = sw_rng_next(&rng)};
    assert_ok(sw_tensor_init(&t, kTypes[which].dtype, 2, dims, &diag));
    assert_ok(sw_tensor_fill(&t, &fill, &diag));
    assert_ok(sw_make_distinct(&t, &fill, ways, &diag));
    assert_ok(sw_count_equal_blocks(&t, ways, &equal, &diag));
    int64_t fewest = INT64_MAX, blocks = sw_sharding_shards(&s, 0) * sw_sharding_shards(&s, 1);
    for (int64_t device = 0; device < 8; device++) {
      int64_t lo[2], n[2], at[2];
      sw_block_extent(&mesh, &s, &t, device, lo, n, at);
      if (n[0] > 0 && n[1] > 0 && n[0] * n[1] < fewest) fewest = n[0] * n[1];
    }
    if (contents(kTypes[which].choices, fewest) >= (double)blocks) assert_int_equal(equal, 0);
    double least, most;
    least_and_most(&t, &least, &most);
    assert_true(least >= 0 && most <= 7);
    sw_tensor_deinit(&t);
  }
  sw_arena_deinit(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arguments_cover_what_their_uses_allow),
      cmocka_unit_test(parts_of_index_vectors_have_ends_of_their_own),
      cmocka_unit_test(masks_have_both_values_in_every_row),
      cmocka_unit_test(blocks_differ_where_there_is_room),
  };
  return cmocka_run_group_tests_name("arguments", tests, NULL, NULL);
}
