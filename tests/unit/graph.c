/* The graph: types, maps as text, building, names, use lists, sharing, errors, sugar, work. */
#include "check.h"

#include "shardwright/graph.h"

#define INTS(...) \
  (const int64_t[]) { __VA_ARGS__ }
#define COUNT(...) ((int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)))
#define A_LIST(k, ...)                                                      \
  {                                                                         \
    .key = SW_ATTR_##k, .u.ints = { INTS(__VA_ARGS__), COUNT(__VA_ARGS__) } \
  }
#define A_NONE(k) \
  { .key = SW_ATTR_##k }
#define A_INT(k, v) \
  { .key = SW_ATTR_##k, .u.i = (v) }
#define A_TEXT(k, v) \
  { .key = SW_ATTR_##k, .u.text = (v) }

enum { MOST = 6 };

typedef struct operand {
  sw_dtype dtype;
  int rank;
  int64_t dims[5];
} operand;

/* An op on fresh inputs: its listing with loops and maps, or what its error says. */
typedef struct op_row {
  const char *name;
  sw_opcode code;
  int n_operands;
  operand operands[MOST];
  int n_attrs;
  sw_attr attrs[12];
  const char *expected; /* "result types | loops | maps", or a part of the message after "!" */
} op_row;

static const char *const kLoopMarks[] = {"", "r", "m", "s", "p", "h", "w"};

static void print_space(const sw_graph *g, const sw_op *op, sw_text *out) {
  for (int i = 0; i < op->n_results; i++) {
    if (i) sw_text_puts(out, " ");
    sw_type_print(sw_result_type(g, op, i), out);
  }
  sw_text_puts(out, " |");
  for (int i = 0; i < op->nest->n_loops; i++) {
    sw_text_printf(out, " %lld%s", (long long)op->nest->loops[i].size, kLoopMarks[op->nest->loops[i].kind]);
  }
  sw_text_puts(out, " |");
  for (int i = 0; i < op->nest->n_maps; i++) {
    sw_text text = {0};
    sw_map_print(&op->nest->maps[i], op->nest->n_loops, &text);
    sw_text_printf(out, " %s", strstr(sw_text_str(&text), "->") + 2);
    sw_text_free(&text);
  }
}

static sw_graph *new_graph(void) {
  sw_graph *g = NULL;
  assert_ok(sw_graph_create("test", &g, &diag));
  return g;
}

static sw_id input(sw_graph *g, const char *name, sw_dtype t, int rank, const int64_t *dims) {
  sw_id id = -1;
  assert_ok(sw_graph_add_arg(g, name, t, rank, dims, SW_VALUE_INPUT, SW_NOWHERE, &id, &diag));
  return id;
}

static void check_row(void **state) {
  const op_row *row = *state;
  sw_graph *g = new_graph();
  sw_id x[MOST], results[SW_MAX_RESULTS];
  for (int i = 0; i < row->n_operands; i++) {
    char name[16];
    snprintf(name, sizeof name, "x%d", i);
    x[i] = input(g, name, row->operands[i].dtype, row->operands[i].rank, row->operands[i].dims);
  }
  sw_op_spec spec = {.code = row->code,
                     .name = "it",
                     .n_operands = row->n_operands,
                     .operands = x,
                     .n_attrs = row->n_attrs,
                     .attrs = row->attrs,
                     .span = {"model.json", 7, 9}};
  sw_rc rc = sw_graph_add_op(g, &spec, results, &diag);
  if (row->expected[0] == '!') {
    assert_int_equal(rc, SW_E_INPUT);
    if (!strstr(diag.text, row->expected + 1)) fail_msg("message is: %s", diag.text);
    assert_int_equal(diag.line, 7);
    assert_int_equal(diag.col, 9);
  } else {
    assert_ok(rc);
    sw_text text = {0};
    print_space(g, &g->ops[g->n_ops - 1], &text);
    assert_string_equal(sw_text_str(&text), row->expected);
    sw_text_free(&text);
    assert_ok(sw_graph_add_output(g, NULL, results[0], -1, SW_NOWHERE, &diag));
    assert_ok(sw_graph_seal(g, &diag));
  }
  sw_graph_destroy(g);
}

#define F(...)                                  \
  {                                             \
    SW_F32, COUNT(__VA_ARGS__), { __VA_ARGS__ } \
  }
#define I(...)                                  \
  {                                             \
    SW_I32, COUNT(__VA_ARGS__), { __VA_ARGS__ } \
  }
#define B(...)                                   \
  {                                              \
    SW_BOOL, COUNT(__VA_ARGS__), { __VA_ARGS__ } \
  }
#define F0           \
  {                  \
    SW_F32, 0, { 0 } \
  }
#define I0           \
  {                  \
    SW_I32, 0, { 0 } \
  }

static const op_row kRows[] = {
    {"add", SW_OP_ADD, 2, {F(2, 3), F(2, 3)}, 0, {{0}}, "f32[2,3] | 2 3 | (d0,d1) (d0,d1) (d0,d1)"},
    {"add of shapes",
     SW_OP_ADD,
     2,
     {F(2, 3), F(3, 2)},
     0,
     {{0}},
     "!add 'it': operand 1 is f32[3,2] and operand 0 is f32[2,3]; expected the same shape"},
    {"add of dtypes", SW_OP_ADD, 2, {F(2), I(2)}, 0, {{0}}, "!expected the same dtype"},
    {"add of one", SW_OP_ADD, 1, {F(2)}, 0, {{0}}, "!there are 1 operands; expected 2"},
    {"add with attribute", SW_OP_ADD, 2, {F(2), F(2)}, 1, {A_INT(DIM, 0)}, "!attribute 'dim' is not one that add has"},
    {"exp of ints", SW_OP_EXP, 1, {I(2)}, 0, {{0}}, "!operand 0 is i32; expected a float or complex dtype"},
    {"is_finite", SW_OP_IS_FINITE, 1, {F(2)}, 0, {{0}}, "bool[2] | 2 | (d0) (d0)"},
    {"not of floats", SW_OP_NOT, 1, {F(2)}, 0, {{0}}, "!expected an integer dtype or bool"},
    {"compare", SW_OP_COMPARE, 2, {F(2), F(2)}, 1, {A_TEXT(DIRECTION, "lt")}, "bool[2] | 2 | (d0) (d0) (d0)"},
    {"compare direction",
     SW_OP_COMPARE,
     2,
     {F(2), F(2)},
     1,
     {A_TEXT(DIRECTION, "less")},
     "!'direction' is 'less'; expected eq"},
    {"compare without", SW_OP_COMPARE, 2, {F(2), F(2)}, 0, {{0}}, "!attribute 'direction' is missing"},
    {"select, scalar", SW_OP_SELECT, 3, {{SW_BOOL, 0, {0}}, F(2), F(2)}, 0, {{0}}, "f32[2] | 2 | () (d0) (d0) (d0)"},
    {"select, full", SW_OP_SELECT, 3, {B(2), F(2), F(2)}, 0, {{0}}, "f32[2] | 2 | (d0) (d0) (d0) (d0)"},
    {"select of ints", SW_OP_SELECT, 3, {I(2), F(2), F(2)}, 0, {{0}}, "!operand 0 is i32; expected bool"},
    {"clamp", SW_OP_CLAMP, 3, {F0, F(2), F(2)}, 0, {{0}}, "f32[2] | 2 | () (d0) (d0) (d0)"},
    {"clamp bounds", SW_OP_CLAMP, 3, {F(3), F(2), F0}, 0, {{0}}, "!operand 0 is f32[3] and operand 1 is f32[2]"},
    {"convert", SW_OP_CONVERT, 1, {F(2)}, 1, {A_INT(DTYPE, SW_BF16)}, "bf16[2] | 2 | (d0) (d0)"},
    {"broadcast",
     SW_OP_BROADCAST,
     1,
     {F(1, 3)},
     2,
     {A_LIST(SHAPE, 3, 2, 5), A_LIST(DIMS, 1, 0)},
     "f32[3,2,5] | 3 2 5 | (0,d0) (d0,d1,d2)"},
    {"broadcast sizes",
     SW_OP_BROADCAST,
     1,
     {F(4)},
     2,
     {A_LIST(SHAPE, 3), A_LIST(DIMS, 0)},
     "!dim 0 of operand 0 has size 4 and dim 0 of the result 3; expected 1 or equal"},
    {"broadcast dim range",
     SW_OP_BROADCAST,
     1,
     {F(4)},
     2,
     {A_LIST(SHAPE, 4), A_LIST(DIMS, 1)},
     "!'dims' holds 1, but the result has 1 dims; expected numbers in 0 .. 0"},
    {"transpose",
     SW_OP_TRANSPOSE,
     1,
     {F(2, 3, 4)},
     1,
     {A_LIST(PERMUTATION, 2, 0, 1)},
     "f32[4,2,3] | 4 2 3 | (d1,d2,d0) (d0,d1,d2)"},
    {"transpose twice", SW_OP_TRANSPOSE, 1, {F(2, 3)}, 1, {A_LIST(PERMUTATION, 1, 1)}, "!'permutation' holds 1 twice"},
    {"reshape split",
     SW_OP_RESHAPE,
     1,
     {F(4, 12)},
     1,
     {A_LIST(SHAPE, 4, 2, 6)},
     "f32[4,2,6] | 4 2 6 | (d0,6*d1+d2) (d0,d1,d2)"},
    {"reshape join",
     SW_OP_RESHAPE,
     1,
     {F(2, 3, 4)},
     1,
     {A_LIST(SHAPE, 24)},
     "f32[24] | 2 3 4 | (d0,d1,d2) (12*d0+4*d1+d2)"},
    {"reshape ones", SW_OP_RESHAPE, 1, {F(1, 6)}, 1, {A_LIST(SHAPE, 6, 1, 1)}, "f32[6,1,1] | 6 | (0,d0) (d0,0,0)"},
    {"reshape refined",
     SW_OP_RESHAPE,
     1,
     {F(4, 6)},
     1,
     {A_LIST(SHAPE, 2, 12)},
     "f32[2,12] | 2 2 6 | (2*d0+d1,d2) (d0,6*d1+d2)"},
    {"reshape by gcd", SW_OP_RESHAPE, 1, {F(6, 4)}, 1, {A_LIST(SHAPE, 4, 6)}, "f32[4,6] | 2 12w | (3*d0,0) (2*d0,0)"},
    {"reshape by gcd, then more",
     SW_OP_RESHAPE,
     1,
     {F(6, 4, 10)},
     1,
     {A_LIST(SHAPE, 4, 6, 5, 2)},
     "f32[4,6,5,2] | 2 12w 5 2 | (3*d0,0,2*d2+d3) (2*d0,0,d2,d3)"},
    {"reshape without", SW_OP_RESHAPE, 1, {F(2, 3)}, 1, {A_LIST(SHAPE, 3, 2)}, "f32[3,2] | 6w | (0,0) (0,0)"},
    {"reshape of nothing", SW_OP_RESHAPE, 1, {F(0, 3)}, 1, {A_LIST(SHAPE, 5, 0)}, "f32[5,0] | 0w | (0,0) (0,0)"},
    {"reshape of one", SW_OP_RESHAPE, 1, {F(1, 1)}, 1, {A_NONE(SHAPE)}, "f32[] | | (0,0) ()"},
    {"reshape elements",
     SW_OP_RESHAPE,
     1,
     {F(2, 3)},
     1,
     {A_LIST(SHAPE, 7)},
     "!operand 0 has 6 elements and 'shape' 7; expected as many"},
    {"reverse", SW_OP_REVERSE, 1, {F(4, 3)}, 1, {A_LIST(DIMS, 0)}, "f32[4,3] | 4 3 | (-d0+3,d1) (d0,d1)"},
    {"slice",
     SW_OP_SLICE,
     1,
     {F(10, 4)},
     3,
     {A_LIST(START, 2, 0), A_LIST(LIMIT, 9, 4), A_LIST(STRIDES, 3, 1)},
     "f32[3,4] | 3 4 | (3*d0+2,d1) (d0,d1)"},
    {"slice limit",
     SW_OP_SLICE,
     1,
     {F(10)},
     2,
     {A_LIST(START, 2), A_LIST(LIMIT, 11)},
     "!dim 0 of size 10 is sliced [2, 11)"},
    {"slice list",
     SW_OP_SLICE,
     1,
     {F(10)},
     2,
     {A_LIST(START, 2, 1), A_LIST(LIMIT, 11)},
     "!'start' has 2 numbers; expected 1"},
    {"pad",
     SW_OP_PAD,
     2,
     {F(4, 3), F0},
     3,
     {A_LIST(LOW, 1, -1), A_LIST(HIGH, 2, 0), A_LIST(INTERIOR, 0, 1)},
     "f32[7,4] | 7 4w | (d0-1,0) () (d0,d1)"},
    {"pad to less", SW_OP_PAD, 2, {F(4), F0}, 2, {A_LIST(LOW, -3), A_LIST(HIGH, -2)}, "!is padded by -3 and -2"},
    {"pad value", SW_OP_PAD, 2, {F(4), F(1)}, 2, {A_LIST(LOW, 0), A_LIST(HIGH, 0)}, "!operand 1 has 1 dims"},
    {"concatenate",
     SW_OP_CONCATENATE,
     3,
     {F(2, 3), F(2, 4), F(2, 1)},
     1,
     {A_INT(DIM, 1)},
     "f32[2,8] | 2 8 | (d0,d1) (d0,d1-3) (d0,d1-7) (d0,d1)"},
    {"concatenate shapes", SW_OP_CONCATENATE, 2, {F(2, 3), F(3, 3)}, 1, {A_INT(DIM, 1)}, "!operand 1 differs"},
    {"dynamic_slice",
     SW_OP_DYNAMIC_SLICE,
     3,
     {F(8, 3), I0, I0},
     1,
     {A_LIST(SIZES, 2, 3)},
     "f32[2,3] | 2w 3 8m | (d2,d1) () () (d0,d1)"},
    {"dynamic_slice starts",
     SW_OP_DYNAMIC_SLICE,
     2,
     {F(8, 3), I0},
     1,
     {A_LIST(SIZES, 2, 3)},
     "!there are 1 start indices; expected 2"},
    {"dynamic_update_slice",
     SW_OP_DYNAMIC_UPDATE_SLICE,
     4,
     {F(8, 3), F(2, 3), I0, I0},
     0,
     {{0}},
     "f32[8,3] | 8 3 | (d0,d1) (0,d1) () () (d0,d1)"},
    {"iota",
     SW_OP_IOTA,
     0,
     {{0}},
     3,
     {A_LIST(SHAPE, 2, 3), A_INT(DTYPE, SW_I64), A_INT(DIM, 1)},
     "i64[2,3] | 2 3 | (d0,d1)"},
    {"iota dim",
     SW_OP_IOTA,
     0,
     {{0}},
     3,
     {A_LIST(SHAPE, 2, 3), A_INT(DTYPE, SW_I64), A_INT(DIM, 2)},
     "!'dim' is 2; expected a dim in 0 .. 1"},
    {"rng",
     SW_OP_RNG,
     0,
     {{0}},
     3,
     {A_LIST(SHAPE, 2, 3), A_INT(DTYPE, SW_F32), A_INT(SEED, 1)},
     "f32[2,3] | 2 3 | (d0,d1)"},
    {"reduce",
     SW_OP_REDUCE,
     1,
     {F(2, 3, 4)},
     2,
     {A_TEXT(KIND, "sum"), A_LIST(DIMS, 1)},
     "f32[2,4] | 2 3r 4 | (d0,d1,d2) (d0,d2)"},
    {"reduce keeping",
     SW_OP_REDUCE,
     1,
     {F(2, 3)},
     3,
     {A_TEXT(KIND, "max"), A_LIST(DIMS, 0), A_INT(KEEP_DIMS, 1)},
     "f32[1,3] | 2r 3 | (d0,d1) (0,d1)"},
    {"reduce kind", SW_OP_REDUCE, 1, {F(2)}, 2, {A_TEXT(KIND, "average"), A_LIST(DIMS, 0)}, "!'kind' is 'average'"},
    {"reduce and",
     SW_OP_REDUCE,
     1,
     {F(2)},
     2,
     {A_TEXT(KIND, "and"), A_LIST(DIMS, 0)},
     "!operand 0 is f32; expected bool"},
    {"argmax", SW_OP_ARGMAX, 1, {F(2, 5)}, 1, {A_INT(DIM, 1)}, "i32[2] | 2 5p | (d0,d1) (d0)"},
    {"cumulative",
     SW_OP_CUMULATIVE,
     1,
     {F(2, 5)},
     2,
     {A_INT(DIM, 1), A_TEXT(KIND, "sum")},
     "f32[2,5] | 2 5s | (d0,d1) (d0,d1)"},
    {"top_k", SW_OP_TOP_K, 1, {F(2, 5)}, 1, {A_INT(K, 3)}, "f32[2,3] i32[2,3] | 2 5p 3w | (d0,d1) (d0,d2) (d0,d2)"},
    {"sort",
     SW_OP_SORT,
     2,
     {F(2, 5), I(2, 5)},
     2,
     {A_INT(DIM, 0), A_LIST(KEYS, 1)},
     "f32[2,5] i32[2,5] | 2w 5 | (0,d1) (0,d1) (d0,d1) (d0,d1)"},
    {"sort by no operand",
     SW_OP_SORT,
     1,
     {F(2, 5)},
     1,
     {A_LIST(KEYS, 1)},
     "!'keys' holds 1; expected an operand below 1"},
    {"bitcast to wider", SW_OP_BITCAST, 1, {F(3, 2)}, 1, {A_INT(DTYPE, SW_F64)}, "f64[3] | 3 2w | (d0,d1) (d0)"},
    {"bitcast to narrower",
     SW_OP_BITCAST,
     1,
     {F(3, 2)},
     1,
     {A_INT(DTYPE, SW_U16)},
     "u16[3,2,2] | 3 2 2w | (d0,d1) (d0,d1,d2)"},
    {"bitcast of a dim too large",
     SW_OP_BITCAST,
     1,
     {F(3, 4)},
     1,
     {A_INT(DTYPE, SW_F64)},
     "!the last dim has 4 elements; expected 2"},
    {"attention",
     SW_OP_ATTENTION,
     5,
     {F(2, 6, 8, 4), F(2, 3, 7, 4), F(2, 3, 7, 5), F(1, 6, 1, 7), {SW_I32, 1, {2}}},
     0,
     {{0}},
     "f32[2,6,8,5] f32[2,6,8] | 2 3 2 8 7r 4w 5w | (d0,2*d1+d2,d3,d5) (d0,d1,d4,d5) (d0,d1,d4,d6) (0,2*d1+d2,0,d4) "
     "(d0) "
     "(d0,2*d1+d2,d3,d6) (d0,2*d1+d2,d3)"},
    {"attention without values",
     SW_OP_ATTENTION,
     2,
     {F(2, 6, 8, 4), F(2, 3, 7, 4)},
     0,
     {{0}},
     "!there are 2 operands; expected at least 3"},
    {"attention, positions first",
     SW_OP_ATTENTION,
     3,
     {F(2, 8, 3, 4), F(2, 7, 3, 4), F(2, 7, 3, 4)},
     1,
     {A_TEXT(LAYOUT, "bshd")},
     "f32[2,8,3,4] f32[2,3,8] | 2 3 1 8 7r 4w 4w | (d0,d3,d1,d5) (d0,d4,d1,d5) (d0,d4,d1,d6) (d0,d3,d1,d6) (d0,d1,d3)"},
    {"attention of other heads",
     SW_OP_ATTENTION,
     3,
     {F(2, 4, 8, 4), F(2, 3, 7, 4), F(2, 3, 7, 4)},
     0,
     {{0}},
     "!operand 0 has 4 heads and operand 1 has 3; expected a multiple of them"},
    {"attention of other values",
     SW_OP_ATTENTION,
     3,
     {F(2, 3, 8, 4), F(2, 3, 7, 4), F(2, 3, 6, 4)},
     0,
     {{0}},
     "!operand 2 is f32[2,3,6,4]; expected f32[2,3,7,4]"},
    {"attention with a bias of queries",
     SW_OP_ATTENTION,
     4,
     {F(2, 3, 8, 4), F(2, 3, 7, 4), F(2, 3, 7, 4), F(8, 7)},
     0,
     {{0}},
     "!operand 3 is f32 of 2 dims; expected, in this order and each at most once, a bias"},
    {"attention with lengths before a bias",
     SW_OP_ATTENTION,
     5,
     {F(2, 3, 8, 4), F(2, 3, 7, 4), F(2, 3, 7, 4), {SW_I32, 1, {2}}, F(1, 1, 8, 7)},
     0,
     {{0}},
     "!operand 4 is f32 of 4 dims; expected, in this order"},
    {"attention with a start that does not matter",
     SW_OP_ATTENTION,
     4,
     {F(2, 3, 8, 4), F(2, 3, 7, 4), F(2, 3, 7, 4), {SW_I32, 0, {0}}},
     0,
     {{0}},
     "!operand 3 says where queries start"},
    {"attention with half a window",
     SW_OP_ATTENTION,
     3,
     {F(2, 3, 8, 4), F(2, 3, 7, 4), F(2, 3, 7, 4)},
     1,
     {A_LIST(WINDOW, 4)},
     "!'window' has 1 numbers; expected 2"},
    {"attention in another layout",
     SW_OP_ATTENTION,
     3,
     {F(2, 3, 8, 4), F(2, 3, 7, 4), F(2, 3, 7, 4)},
     1,
     {A_TEXT(LAYOUT, "sbhd")},
     "!'layout' is 'sbhd'; expected bhsd or bshd"},
    {"attention_grad",
     SW_OP_ATTENTION_GRAD,
     6,
     {F(2, 6, 8, 4), F(2, 3, 7, 4), F(2, 3, 7, 5), F(2, 6, 8, 5), F(2, 6, 8), F(2, 6, 8, 5)},
     0,
     {{0}},
     "f32[2,6,8,4] f32[2,3,7,4] f32[2,3,7,5] | 2 3 2r 8r 7r 4w 5w 4w 5w | (d0,2*d1+d2,d3,d5) (d0,d1,d4,d5) "
     "(d0,d1,d4,d6) "
     "(d0,2*d1+d2,d3,d6) (d0,2*d1+d2,d3) (d0,2*d1+d2,d3,d6) (d0,2*d1+d2,d3,d7) (d0,d1,d4,d7) (d0,d1,d4,d8)"},
    {"attention_grad of a bias that is not there",
     SW_OP_ATTENTION_GRAD,
     6,
     {F(2, 3, 8, 4), F(2, 3, 7, 4), F(2, 3, 7, 4), F(2, 3, 8, 4), F(2, 3, 8), F(2, 3, 8, 4)},
     1,
     {A_INT(BIAS_GRAD, 1)},
     "!'bias_grad' asks for the gradient of a bias, and there is none"},
    {"reduce_precision",
     SW_OP_REDUCE_PRECISION,
     1,
     {F(3)},
     2,
     {A_INT(EXPONENT_BITS, 8), A_INT(MANTISSA_BITS, 7)},
     "f32[3] | 3 | (d0) (d0)"},
    {"reduce_precision without exponent",
     SW_OP_REDUCE_PRECISION,
     1,
     {F(3)},
     2,
     {A_INT(EXPONENT_BITS, 0), A_INT(MANTISSA_BITS, 7)},
     "!there are 0 exponent"},
    {"top_k of too many", SW_OP_TOP_K, 1, {F(2, 5)}, 1, {A_INT(K, 6)}, "!'k' is 6; expected 0 .. 5"},
    {"reduce_window",
     SW_OP_REDUCE_WINDOW,
     1,
     {F(2, 8)},
     5,
     {A_TEXT(KIND, "max"), A_LIST(WINDOW, 1, 3), A_LIST(STRIDES, 1, 2), A_LIST(PAD_LOW, 0, 1),
      A_LIST(RHS_DILATION, 1, 2)},
     "f32[2,3] | 2 3 1w 3w | (d0,2*d1+2*d3-1) (d0,d1)"},
    {"dot",
     SW_OP_DOT,
     2,
     {F(2, 4, 8), F(2, 8, 5)},
     4,
     {A_LIST(LHS_BATCH, 0), A_LIST(RHS_BATCH, 0), A_LIST(LHS_CONTRACT, 2), A_LIST(RHS_CONTRACT, 1)},
     "f32[2,4,5] | 2 4 5 8r | (d0,d1,d3) (d0,d3,d2) (d0,d1,d2)"},
    {"dot sizes",
     SW_OP_DOT,
     2,
     {F(2, 8), F(9, 5)},
     2,
     {A_LIST(LHS_CONTRACT, 1), A_LIST(RHS_CONTRACT, 0)},
     "!contracting dim 1 of operand 0 has size 8 and dim 0 of operand 1 has size 9; expected equal sizes"},
    {"dot lists",
     SW_OP_DOT,
     2,
     {F(2, 8), F(8, 2)},
     2,
     {A_LIST(LHS_CONTRACT, 1), A_LIST(RHS_CONTRACT, 0, 1)},
     "!'lhs_contract' has 1 dims and 'rhs_contract' 2; expected as many"},
    {"dot twice",
     SW_OP_DOT,
     2,
     {F(8, 8), F(8, 8)},
     4,
     {A_LIST(LHS_BATCH, 0), A_LIST(RHS_BATCH, 1), A_LIST(LHS_CONTRACT, 0), A_LIST(RHS_CONTRACT, 0)},
     "!dim 0 is in 'lhs_batch' and in 'lhs_contract'"},
    {"convolution",
     SW_OP_CONVOLUTION,
     2,
     {F(2, 8, 8, 3), F(3, 3, 3, 16)},
     6,
     {A_TEXT(LHS_LAYOUT, "b01f"), A_TEXT(RHS_LAYOUT, "01io"), A_TEXT(OUT_LAYOUT, "b01f"), A_LIST(STRIDES, 2, 2),
      A_LIST(PAD_LOW, 1, 1), A_LIST(PAD_HIGH, 0, 0)},
     "f32[2,4,4,16] | 2 16 3r 4 3r 4 3r | (d0,2*d3+d4-1,2*d5+d6-1,d2) (d4,d6,d2,d1) (d0,d3,d5,d1)"},
    {"convolution in groups",
     SW_OP_CONVOLUTION,
     2,
     {F(2, 6, 8), F(4, 3, 1)},
     4,
     {A_TEXT(LHS_LAYOUT, "bf0"), A_TEXT(RHS_LAYOUT, "oi0"), A_TEXT(OUT_LAYOUT, "bf0"), A_INT(FEATURE_GROUPS, 2)},
     "f32[2,4,8] | 2 2 2 3r 8 1r | (d0,3*d1+d3,d4) (2*d1+d2,d3,d5) (d0,2*d1+d2,d4)"},
    {"convolution in batch groups",
     SW_OP_CONVOLUTION,
     2,
     {F(4, 3, 8), F(6, 3, 8)},
     4,
     {A_TEXT(LHS_LAYOUT, "bf0"), A_TEXT(RHS_LAYOUT, "oi0"), A_TEXT(OUT_LAYOUT, "bf0"), A_INT(BATCH_GROUPS, 2)},
     "f32[2,6,1] | 2 2 3 3r 1 8r | (2*d1+d0,d3,d5) (3*d1+d2,d3,d5) (d0,3*d1+d2,d4)"},
    {"convolution, dilated base",
     SW_OP_CONVOLUTION,
     2,
     {F(1, 1, 4), F(1, 1, 3)},
     4,
     {A_TEXT(LHS_LAYOUT, "bf0"), A_TEXT(RHS_LAYOUT, "oi0"), A_TEXT(OUT_LAYOUT, "bf0"), A_LIST(LHS_DILATION, 2)},
     "f32[1,1,5] | 1 1 1r 5w 3w | (d0,d2,0) (d1,d2,d4) (d0,d1,d3)"},
    {"convolution layout",
     SW_OP_CONVOLUTION,
     2,
     {F(1, 1, 4), F(1, 1, 3)},
     3,
     {A_TEXT(LHS_LAYOUT, "bf1"), A_TEXT(RHS_LAYOUT, "oi0"), A_TEXT(OUT_LAYOUT, "bf0")},
     "!'lhs_layout' is 'bf1'; expected 'b', 'f' and the digits 0 to 0, each once"},
    {"convolution features",
     SW_OP_CONVOLUTION,
     2,
     {F(1, 4, 4), F(1, 3, 3)},
     3,
     {A_TEXT(LHS_LAYOUT, "bf0"), A_TEXT(RHS_LAYOUT, "oi0"), A_TEXT(OUT_LAYOUT, "bf0")},
     "!operand 0 has 4 features and operand 1 takes 3"},
    {"gather",
     SW_OP_GATHER,
     2,
     {F(50, 8), I(4)},
     5,
     {A_LIST(OFFSET_DIMS, 1), A_LIST(COLLAPSED_DIMS, 0), A_LIST(START_INDEX_MAP, 0), A_INT(INDEX_VECTOR_DIM, 1),
      A_LIST(SIZES, 1, 8)},
     "f32[4,8] | 4 8 50m | (d2,d1) (d0) (d0,d1)"},
    {"gather of windows",
     SW_OP_GATHER,
     2,
     {F(50, 8), I(4, 2)},
     5,
     {A_LIST(OFFSET_DIMS, 0, 2), A_NONE(COLLAPSED_DIMS), A_LIST(START_INDEX_MAP, 1, 0), A_INT(INDEX_VECTOR_DIM, 1),
      A_LIST(SIZES, 5, 8)},
     "f32[5,4,8] | 5w 4 8 | (0,d2) (d1,0) (d0,d1,d2)"},
    {"gather in batches",
     SW_OP_GATHER,
     2,
     {F(3, 9), I(4, 3)},
     7,
     {A_NONE(OFFSET_DIMS), A_LIST(COLLAPSED_DIMS, 1), A_LIST(OPERAND_BATCH, 0), A_LIST(INDICES_BATCH, 1),
      A_LIST(START_INDEX_MAP, 1), A_INT(INDEX_VECTOR_DIM, 2), A_LIST(SIZES, 1, 1)},
     "f32[4,3] | 4 3 9m | (d1,d2) (d0,d1) (d0,d1)"},
    {"gather sizes",
     SW_OP_GATHER,
     2,
     {F(50, 8), I(4)},
     5,
     {A_LIST(OFFSET_DIMS, 1), A_LIST(COLLAPSED_DIMS, 0), A_LIST(START_INDEX_MAP, 0), A_INT(INDEX_VECTOR_DIM, 1),
      A_LIST(SIZES, 2, 8)},
     "!'sizes' holds 2 for dim 0 of operand 0; expected at most 1"},
    {"scatter",
     SW_OP_SCATTER,
     3,
     {F(50, 8), I(4), F(4, 8)},
     5,
     {A_TEXT(KIND, "sum"), A_LIST(UPDATE_WINDOW_DIMS, 1), A_LIST(INSERTED_DIMS, 0), A_LIST(START_INDEX_MAP, 0),
      A_INT(INDEX_VECTOR_DIM, 1)},
     "f32[50,8] | 50 8 4r | (d0,d1) (d2) (d2,d1) (d0,d1)"},
    {"scatter of replacements",
     SW_OP_SCATTER,
     3,
     {F(50, 8), I(4), F(4, 8)},
     5,
     {A_TEXT(KIND, "replace"), A_LIST(UPDATE_WINDOW_DIMS, 1), A_LIST(INSERTED_DIMS, 0), A_LIST(START_INDEX_MAP, 0),
      A_INT(INDEX_VECTOR_DIM, 1)},
     "f32[50,8] | 50 8 4w | (d0,d1) (d2) (d2,d1) (d0,d1)"},
    {"softmax", SW_OP_SOFTMAX, 1, {F(2, 3)}, 0, {{0}}, "f32[2,3] | 2 3 | (d0,d1) (d0,d1) (d0,d1)"},
    {"softmax, narrow", SW_OP_SOFTMAX, 1, {{SW_BF16, 2, {2, 3}}}, 0, {{0}}, "bf16[2,3] | 2 3 | (d0,d1) (d0,d1)"},
    {"softmax of ints", SW_OP_SOFTMAX, 1, {I(2, 3)}, 0, {{0}}, "!softmax 'it': operand 0 is i32"},
    {"layer_norm", SW_OP_LAYER_NORM, 3, {F(2, 3), F(3), F(3)}, 0, {{0}}, "f32[2,3] | 2 3 | (d0,d1) (d0,d1) (d0,d1)"},
    {"layer_norm gamma", SW_OP_LAYER_NORM, 3, {F(2, 3), F(2), F(3)}, 0, {{0}}, "!operand 1 has another shape than [3]"},
    {"rms_norm",
     SW_OP_RMS_NORM,
     2,
     {{SW_F16, 2, {2, 3}}, {SW_F16, 1, {3}}},
     0,
     {{0}},
     "f16[2,3] | 2 3 | (d0,d1) (d0,d1)"},
    {"gelu", SW_OP_GELU, 1, {F(3)}, 0, {{0}}, "f32[3] | 3 | (d0) (d0) (d0)"},
    {"gelu, exact", SW_OP_GELU, 1, {F(3)}, 1, {A_INT(APPROXIMATE, 0)}, "f32[3] | 3 | (d0) (d0) (d0)"},
    {"silu", SW_OP_SILU, 1, {F(3)}, 0, {{0}}, "f32[3] | 3 | (d0) (d0) (d0)"},
    {"take",
     SW_OP_TAKE,
     2,
     {F(5, 9, 8), I(2, 3)},
     1,
     {A_INT(DIM, 1)},
     "f32[5,2,3,8] | 5 2 3 8 9m | (d0,d4,d3) (d1,d2) (d0,d1,d2,d3)"},
    {"scatter_add",
     SW_OP_SCATTER_ADD,
     3,
     {F(5, 9, 8), I(2, 3), F(5, 2, 3, 8)},
     1,
     {A_INT(DIM, 1)},
     "f32[5,9,8] | 5 9 8 2r 3r | (d0,d1,d2) (d3,d4) (d0,d3,d4,d2) (d0,d1,d2)"},
    {"one_hot", SW_OP_ONE_HOT, 1, {I(4)}, 2, {A_INT(K, 7), A_INT(DTYPE, SW_F32)}, "f32[4,7] | 4 7 | (d0,d1) (d0,d1)"},
    {"cumsum", SW_OP_CUMSUM, 1, {F(4)}, 1, {A_INT(DIM, 0)}, "f32[4] | 4s | (d0) (d0)"},
    {"einsum",
     SW_OP_EINSUM,
     2,
     {F(2, 3, 4), F(2, 4, 5)},
     1,
     {A_TEXT(EQUATION, "bij,bjk->bik")},
     "f32[2,3,5] | 2 3 5 4r | (d0,d1,d3) (d0,d3,d2) (d0,d1,d2)"},
    {"einsum of three",
     SW_OP_EINSUM,
     3,
     {F(2, 3), F(3, 4), F(4, 5)},
     1,
     {A_TEXT(EQUATION, "ij, jk, kl -> li")},
     "f32[5,2] | 5 2 | (d1,d0) (d0,d1)"},
    {"einsum of one", SW_OP_EINSUM, 1, {F(2, 3)}, 1, {A_TEXT(EQUATION, "ij->j")}, "f32[3] | 2r 3 | (d0,d1) (d1)"},
    {"einsum to a scalar", SW_OP_EINSUM, 2, {F(2), F(2)}, 1, {A_TEXT(EQUATION, "i,i->")}, "f32[] | 2r | (d0) (d0) ()"},
    {"einsum with a scalar", SW_OP_EINSUM, 2, {F(2), F0}, 1, {A_TEXT(EQUATION, "i,->i")}, "f32[2] | 2 | (d0) () (d0)"},
    {"einsum sizes",
     SW_OP_EINSUM,
     2,
     {F(2, 3), F(4, 5)},
     1,
     {A_TEXT(EQUATION, "ij,jk->ik")},
     "!label 'j' has size 3 and in operand 1 size 4"},
    {"einsum terms", SW_OP_EINSUM, 2, {F(2, 3), F(3, 5)}, 1, {A_TEXT(EQUATION, "ij->ij")}, "!"},
    {"einsum diagonal", SW_OP_EINSUM, 1, {F(2, 2)}, 1, {A_TEXT(EQUATION, "ii->i")}, "!'equation' has label 'i' twice"},
    {"einsum result", SW_OP_EINSUM, 1, {F(2, 2)}, 1, {A_TEXT(EQUATION, "ij->k")}, "!has 'k' in the result"},
};
enum { N_ROWS = sizeof kRows / sizeof *kRows };

int main(void) {
  static struct CMUnitTest tests[N_ROWS];
  for (int i = 0; i < N_ROWS; i++) {
    tests[i] = (struct CMUnitTest){
        .name = kRows[i].name, .test_func = check_row, .initial_state = (void *)(uintptr_t)&kRows[i]};
  }
  return cmocka_run_group_tests_name("ops", tests, NULL, NULL);
}
