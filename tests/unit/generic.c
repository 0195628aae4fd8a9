/* generic ops: rows of text with their results or messages, and random bodies evaluated twice. */
#include <math.h>

#include "check.h"

#include "shardwright/exec.h"
#include "support/building.h"

/* --- generic ------------------------------------------------------------------------------------------------------ */

typedef struct generic_row {
  const char *name;
  int n_loops;
  sw_loop loops[4];
  int n_operands;
  const char *maps[4]; /* operands, then one result */
  const char *body;
  double want[6]; /* for x0 = 1 -2 3 / -4 5 -6 and x1 = 10 20 30 */
  const char *error;
} generic_row;
#define PAR(n) \
  { .size = n, .kind = SW_LOOP_PARALLEL }
#define RED(n, how) \
  { .size = n, .kind = SW_LOOP_REDUCTION, .combiner = SW_REDUCE_##how }

static const generic_row kGeneric[] = {
    {"elementwise",
     2,
     {PAR(2), PAR(3)},
     1,
     {"(d0,d1)->(d0,d1)", "(d0,d1)->(d0,d1)"},
     "x0*x0 - 1",
     {0, 3, 8, 15, 24, 35},
     NULL},
    {"precedence",
     2,
     {PAR(2), PAR(3)},
     1,
     {"(d0,d1)->(d0,d1)", "(d0,d1)->(d0,d1)"},
     "2 + 3*x0/2 - -1",
     {4.5, 0, 7.5, -3, 10.5, -6},
     NULL},
    {"parentheses",
     2,
     {PAR(2), PAR(3)},
     1,
     {"(d0,d1)->(d0,d1)", "(d0,d1)->(d0,d1)"},
     " -(x0 - (1+1)) * .5e0 ",
     {0.5, 2, -0.5, 3, -1.5, 4},
     NULL},
    {"transposed result",
     2,
     {PAR(2), PAR(3)},
     1,
     {"(d0,d1)->(d0,d1)", "(d0,d1)->(d1,d0)"},
     "x0",
     {1, -4, -2, 5, 3, -6},
     NULL},
    {"loop indices",
     2,
     {PAR(2), PAR(3)},
     1,
     {"(d0,d1)->(d0,d1)", "(d0,d1)->(d0,d1)"},
     "10*d0 + d1",
     {0, 1, 2, 10, 11, 12},
     NULL},
    {"select and compare",
     2,
     {PAR(2), PAR(3)},
     1,
     {"(d0,d1)->(d0,d1)", "(d0,d1)->(d0,d1)"},
     "select(x0 >= 3, 100, x0 != -2)",
     {1, 0, 100, 1, 100, 1},
     NULL},
    {"functions",
     2,
     {PAR(2), PAR(3)},
     1,
     {"(d0,d1)->(d0,d1)", "(d0,d1)->(d0,d1)"},
     "max(abs(x0), 3) + min(x0, pow(2, 2)) + sqrt(16)*rsqrt(4) + exp(log(1))",
     {7, 4, 9, 3, 12, 3},
     NULL},
    {"broadcast operand",
     2,
     {PAR(2), PAR(3)},
     2,
     {"(d0,d1)->(d0,d1)", "(d0,d1)->(d1)", "(d0,d1)->(d0,d1)"},
     "x0 + x1",
     {11, 18, 33, 6, 25, 24},
     NULL},
    {"row sums", 2, {PAR(2), RED(3, SUM)}, 1, {"(d0,d1)->(d0,d1)", "(d0,d1)->(d0)"}, "x0", {2, -5}, NULL},
    {"column maxima", 2, {RED(2, MAX), PAR(3)}, 1, {"(d0,d1)->(d0,d1)", "(d0,d1)->(d1)"}, "x0", {1, 5, 3}, NULL},
    {"product of all",
     2,
     {RED(2, PRODUCT), RED(3, PRODUCT)},
     1,
     {"(d0,d1)->(d0,d1)", "(d0,d1)->()"},
     "x0",
     {-720},
     NULL},
    {"matrix times vector",
     2,
     {PAR(2), RED(3, SUM)},
     2,
     {"(d0,d1)->(d0,d1)", "(d0,d1)->(d1)", "(d0,d1)->(d0)"},
     "x0*x1",
     {60, -120},
     NULL},
    {"window",
     3,
     {PAR(2), PAR(2), RED(2, SUM)},
     1,
     {"(d0,d1,d2)->(d0,d1+d2)", "(d0,d1,d2)->(d0,d1)"},
     "x0",
     {-1, 1, 1, -1},
     NULL},
    {"flattened result",
     2,
     {PAR(2), PAR(3)},
     1,
     {"(d0,d1)->(d0,d1)", "(d0,d1)->(3*d0+d1)"},
     "x0",
     {1, -2, 3, -4, 5, -6},
     NULL},
    {"two kinds",
     2,
     {RED(2, MAX), RED(3, SUM)},
     1,
     {"(d0,d1)->(d0,d1)", "(d0,d1)->()"},
     "x0",
     {0},
     "reduced by max and by sum"},
    {"unknown function",
     2,
     {PAR(2), PAR(3)},
     1,
     {"(d0,d1)->(d0,d1)", "(d0,d1)->(d0,d1)"},
     "x0 + foo(1)",
     {0},
     "unknown name at character 6"},
    {"unknown operand",
     2,
     {PAR(2), PAR(3)},
     1,
     {"(d0,d1)->(d0,d1)", "(d0,d1)->(d0,d1)"},
     "x1",
     {0},
     "no such operand or loop at character 1"},
    {"unknown loop",
     2,
     {PAR(2), PAR(3)},
     1,
     {"(d0,d1)->(d0,d1)", "(d0,d1)->(d0,d1)"},
     "d2",
     {0},
     "no such operand or loop"},
    {"missing parenthesis",
     2,
     {PAR(2), PAR(3)},
     1,
     {"(d0,d1)->(d0,d1)", "(d0,d1)->(d0,d1)"},
     "(x0 + 1",
     {0},
     "expected ')' at character 8"},
    {"missing argument",
     2,
     {PAR(2), PAR(3)},
     1,
     {"(d0,d1)->(d0,d1)", "(d0,d1)->(d0,d1)"},
     "max(x0)",
     {0},
     "expected ','"},
    {"empty",
     2,
     {PAR(2), PAR(3)},
     1,
     {"(d0,d1)->(d0,d1)", "(d0,d1)->(d0,d1)"},
     "",
     {0},
     "expected a number, a name or '('"},
    {"trailing",
     2,
     {PAR(2), PAR(3)},
     1,
     {"(d0,d1)->(d0,d1)", "(d0,d1)->(d0,d1)"},
     "x0 x0",
     {0},
     "expected the end at character 4"},
};

static void check_generic(void **state) {
  const generic_row *row = *state;
  diag = (sw_diag){0};
  sw_arena arena = {0};
  sw_graph *g = new_graph();
  sw_id x[2] = {arg(g, "x0", SW_F32, 2, (int64_t[]){2, 3}), arg(g, "x1", SW_F32, 1, (int64_t[]){3})};
  sw_map maps[4];
  for (int i = 0; i <= row->n_operands; i++) {
    assert_ok(sw_map_parse(row->maps[i], row->n_loops, SW_NOWHERE, &arena, &maps[i], &diag));
  }
  sw_loop_nest nest = {.n_loops = row->n_loops, .loops = row->loops, .n_maps = row->n_operands + 1, .maps = maps};
  sw_type type = {.dtype = SW_F32, .rank = maps[row->n_operands].rank};
  sw_op_spec spec = {.code = SW_OP_GENERIC,
                     .n_operands = row->n_operands,
                     .operands = x,
                     .n_attrs = 1,
                     .attrs = (sw_attr[]){TEXT(BODY, row->body)},
                     .nest = &nest,
                     .n_result_types = 1,
                     .result_types = &type};
  output(g, "y", add_spec(g, &spec));
  seal(g);
  sw_tensor a = tensor_of(SW_F32, 2, (int64_t[]){2, 3}, (double[]){1, -2, 3, -4, 5, -6});
  sw_tensor b = tensor_of(SW_F32, 1, (int64_t[]){3}, (double[]){10, 20, 30}), y;
  sw_rc rc = sw_exec_run(g, (const sw_buffer *[]){&a, &b}, &(sw_exec_options){.poison = true}, &y, &diag);
  if (row->error) {
    assert_int_equal(rc, SW_E_INPUT);
    if (!strstr(diag.text, row->error)) fail_msg("'%s' does not say '%s'", diag.text, row->error);
  } else {
    assert_ok(rc);
    assert_values(&y, row->want, sw_buffer_elements(&y));
    sw_tensor_deinit(&y);
  }
  sw_tensor_deinit(&a);
  sw_tensor_deinit(&b);
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
}

/* --- random bodies: the text of an expression and its value, made together --- */

typedef struct body {
  sw_rng *rng;
  sw_text text;
  double x[2], d[2]; /* elements and loop indices at the point looked at */
} body;

static double random_expression(body *b, int depth);

static double random_leaf(body *b) {
  int64_t k = sw_rng_below(b->rng, 6), i = sw_rng_below(b->rng, 2);
  double v = (double)sw_rng_below(b->rng, 40) / 8;
  if (k < 3) sw_text_printf(&b->text, "x%d", (int)i);
  if (k == 3) sw_text_printf(&b->text, "d%d", (int)i);
  if (k > 3) sw_text_printf(&b->text, "%g", v);
  return k < 3 ? b->x[i] : k == 3 ? b->d[i] : v;
}

static double random_operator(body *b, int depth) {
  static const char *const kSigns[] = {"+", "-", "*", "/", "<", "<=", ">", ">=", "==", "!="};
  int64_t k = sw_rng_below(b->rng, 10);
  sw_text_puts(&b->text, "(");
  double l = random_expression(b, depth - 1);
  sw_text_printf(&b->text, " %s ", kSigns[k]);
  double r = random_expression(b, depth - 1);
  sw_text_puts(&b->text, ")");
  const double values[] = {l + r, l - r, l * r, l / r, l<r, l <= r, l> r, l >= r, l == r, l != r};
  return values[k];
}

static double random_call(body *b, int depth) {
  static const char *const kNames[] = {"abs", "sqrt", "exp", "tanh", "min", "max", "pow", "select"};
  int64_t k = sw_rng_below(b->rng, 8);
  double v[3] = {0};
  sw_text_printf(&b->text, "%s(", kNames[k]);
  for (int i = 0; i < (k < 4 ? 1 : k < 7 ? 2 : 3); i++) {
    if (i) sw_text_puts(&b->text, ", ");
    v[i] = random_expression(b, depth - 1);
  }
  sw_text_puts(&b->text, ")");
  bool nan = isnan(v[0]) || isnan(v[1]);
  const double values[] = {fabs(v[0]),
                           sqrt(v[0]),
                           exp(v[0]),
                           tanh(v[0]),
                           nan ? NAN : fmin(v[0], v[1]),
                           nan ? NAN : fmax(v[0], v[1]),
                           pow(v[0], v[1]),
                           v[0] != 0 ? v[1] : v[2]};
  return values[k];
}

static double random_expression(body *b, int depth) {
  int64_t k = depth > 0 ? sw_rng_below(b->rng, 5) : 0;
  if (k == 0) return random_leaf(b);
  if (k == 4) return random_call(b, depth);
  if (k < 4 && sw_rng_below(b->rng, 5)) return random_operator(b, depth);
  sw_text_puts(&b->text, "-");
  return -random_expression(b, depth - 1);
}

/* All points of a 3x300 space (more than a row of the evaluator), each compared with its own recomputation. */
static void check_random_body(uint64_t seed) {
  enum { ROWS = 3, COLUMNS = 300 };
  sw_arena arena = {0};
  sw_rng rng;
  body b = {.rng = &rng};
  const int64_t dims[2] = {ROWS, COLUMNS};
  sw_graph *g = new_graph();
  sw_id x[2] = {arg(g, "x0", SW_F64, 2, dims), arg(g, "x1", SW_F64, 1, &dims[1])};
  sw_map maps[3];
  const char *const texts[] = {"(d0,d1)->(d0,d1)", "(d0,d1)->(d1)", "(d0,d1)->(d0,d1)"};
  for (int i = 0; i < 3; i++) assert_ok(sw_map_parse(texts[i], 2, SW_NOWHERE, &arena, &maps[i], &diag));
  sw_loop loops[2] = {PAR(ROWS), PAR(COLUMNS)};
  sw_loop_nest nest = {.n_loops = 2, .loops = loops, .n_maps = 3, .maps = maps};
  sw_rng_seed(&rng, seed);
  (void)random_expression(&b, 5);
  sw_op_spec spec = {.code = SW_OP_GENERIC,
                     .n_operands = 2,
                     .operands = x,
                     .n_attrs = 1,
                     .attrs = (sw_attr[]){TEXT(BODY, sw_text_str(&b.text))},
                     .nest = &nest,
                     .n_result_types = 1,
                     .result_types = &(sw_type){.dtype = SW_F64, .rank = 2}};
  output(g, "y", add_spec(g, &spec));
  seal(g);
  sw_tensor in[2], y;
  sw_fill fill = {.kind = SW_FILL_SMALL, .seed = seed, .limit = 4};
  assert_ok(sw_tensor_init(&in[0], SW_F64, 2, dims, &diag));
  assert_ok(sw_tensor_init(&in[1], SW_F64, 1, &dims[1], &diag));
  for (int i = 0; i < 2; i++) assert_ok(sw_tensor_fill(&in[i], &fill, &diag));
  assert_ok(sw_exec_run(g, (const sw_buffer *[]){&in[0], &in[1]}, &(sw_exec_options){.poison = true}, &y, &diag));
  for (int i = 0; i < ROWS * COLUMNS; i++) {
    sw_text copy = b.text;
    b.text = (sw_text){0};
    int row = i / COLUMNS, column = i % COLUMNS;
    b.d[0] = row, b.d[1] = column;
    b.x[0] = ((const double *)in[0].data)[i], b.x[1] = ((const double *)in[1].data)[column];
    sw_rng_seed(&rng, seed);
    double want = random_expression(&b, 5), got = ((const double *)y.data)[i];
    sw_text_free(&b.text);
    b.text = copy;
    if (!(got == want || (isnan(got) && isnan(want)))) {
      fail_msg("'%s' at (%g,%g) is %.17g, expected %.17g", sw_text_str(&b.text), b.d[0], b.d[1], got, want);
    }
  }
  sw_text_free(&b.text);
  for (int i = 0; i < 2; i++) sw_tensor_deinit(&in[i]);
  sw_tensor_deinit(&y);
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
}

static void random_bodies_are_evaluated(void **state) {
  (void)state;
  uint64_t seed = check_seed(31);
  for (int i = 0; i < check_scale(150); i++) check_random_body(seed + (uint64_t)i);
}

/* A body of many open parentheses is refused, not a deep recursion. */
static void generic_nesting_is_bounded(void **state) {
  (void)state;
  char text[5000];
  memset(text, '(', sizeof text);
  text[sizeof text - 1] = 0;
  generic_row row = kGeneric[0];
  row.body = text;
  row.error = "too deep a nesting";
  void *at = &row;
  check_generic(&at);
}

int main(void) {
  enum { ROWS = sizeof kGeneric / sizeof kGeneric[0] };
  const struct CMUnitTest fixed[] = {cmocka_unit_test(generic_nesting_is_bounded),
                                     cmocka_unit_test(random_bodies_are_evaluated)};
  struct CMUnitTest rows[ROWS];
  for (int i = 0; i < ROWS; i++) {
    rows[i] = (struct CMUnitTest){
        .name = kGeneric[i].name, .test_func = check_generic, .initial_state = (void *)(uintptr_t)&kGeneric[i]};
  }
  int failed = cmocka_run_group_tests_name("generic bodies", fixed, NULL, NULL);
  return failed + cmocka_run_group_tests_name("generic", rows, NULL, NULL);
}
