/* Graphs as a whole: maps as text, names, use lists, sharing, work, hashes, and what building refuses. */
#include "check.h"

#include "shardwright/graph.h"
#include "shardwright/request.h"
#include "graph/derive.h"

static sw_graph *new_graph(void) {
  sw_graph *g = NULL;
  assert_ok(sw_graph_create("test", &g, &diag));
  return g;
}

static sw_id argument(sw_graph *g, const char *name, sw_value_kind kind, int rank, const int64_t *dims) {
  sw_id id = -1;
  assert_ok(sw_graph_add_arg(g, name, SW_F32, rank, dims, kind, SW_NOWHERE, &id, &diag));
  return id;
}

static sw_id add_op(sw_graph *g, sw_opcode code, const char *name, int n, const sw_id *x, int n_attrs,
                    const sw_attr *a) {
  sw_id results[SW_MAX_RESULTS];
  sw_op_spec spec = {.code = code, .name = name, .n_operands = n, .operands = x, .n_attrs = n_attrs, .attrs = a};
  assert_ok(sw_graph_add_op(g, &spec, results, &diag));
  return results[0];
}

static sw_id unary(sw_graph *g, sw_opcode code, const char *name, sw_id x) {
  return add_op(g, code, name, 1, &x, 0, NULL);
}

static sw_id dot(sw_graph *g, const char *name, sw_id x, sw_id w) {
  int64_t one = 1, zero = 0;
  sw_attr a[] = {{.key = SW_ATTR_RHS_CONTRACT, .u.ints = {&zero, 1}},
                 {.key = SW_ATTR_LHS_CONTRACT, .u.ints = {&one, 1}}};
  return add_op(g, SW_OP_DOT, name, 2, (sw_id[]){x, w}, 2, a);
}

static void finish(sw_graph *g, sw_id value) {
  assert_ok(sw_graph_add_output(g, NULL, value, -1, SW_NOWHERE, &diag));
  assert_ok(sw_graph_seal(g, &diag));
}

static const int64_t kSquare[] = {4, 4};

/* --- maps as text ------------------------------------------------------------------------------------------------- */

static void maps_are_read_and_printed(void **state) {
  (void)state;
  static const struct {
    int n_loops;
    const char *text, *printed; /* printed NULL: as written; or what the message says after "!" */
  } kMaps[] = {
      {2, "(d0,d1)->(d0,d1)", NULL},
      {0, "()->()", NULL},
      {1, "(d0)->()", NULL},
      {3, "(d0,d1,d2)->(d0,2*d1+d2-1)", NULL},
      {1, "(d0)->(-d0+3)", NULL},
      {2, "(d0,d1)->(0,-5)", NULL},
      {2, " ( d0 , d1 ) -> ( d1*3 - 2 , 7 - d0 ) ", "(d0,d1)->(3*d1-2,-d0+7)"},
      {1, "(d0)->(d0+d0)", "(d0)->(2*d0)"},
      {1, "(d0)->(d0-d0)", "(d0)->(0)"},
      {2, "(d0)->(d0)", "!has ')->(d0)' at character 4; expected , d1"},
      {1, "(d0,d1)->(d0)", "!has ',d1)->(d0)' at character 4; expected ')' after the loops"},
      {2, "(d1,d0)->(d0)", "!expected d0"},
      {1, "(d0)->(d1)", "!uses loop d1; the op has 1 loops"},
      {1, "(d0)->(x)", "!expected a loop d0, d1, ..."},
      {1, "(d0)->(d0", "!ends early; expected ',' or ')'"},
      {1, "(d0)->(d0) x", "!expected the end"},
      {1, "(d0)(d0)", "!expected '->'"},
      {1, "(d0)->(99999999999999999999)", "!expected a number that fits 64 bits"},
      {1, "(d0)->(0,0,0,0,0,0,0,0,0,0,0,0,0)", "!expected at most 12 dims"},
      {0, "", "!ends early; expected '('"},
  };
  for (size_t i = 0; i < sizeof kMaps / sizeof *kMaps; i++) {
    sw_arena arena = {0};
    sw_map m;
    sw_text text = {0};
    const char *want = kMaps[i].printed ? kMaps[i].printed : kMaps[i].text;
    sw_rc rc = sw_map_parse(kMaps[i].text, kMaps[i].n_loops, (sw_span){"m", 2, 3}, &arena, &m, &diag);
    if (want[0] == '!') {
      assert_int_equal(rc, SW_E_INPUT);
      assert_int_equal(diag.line, 2);
      if (!strstr(diag.text, want + 1)) fail_msg("'%s': %s", kMaps[i].text, diag.text);
    } else {
      assert_ok(rc);
      sw_map_print(&m, kMaps[i].n_loops, &text);
      assert_string_equal(sw_text_str(&text), want);
    }
    sw_text_free(&text);
    sw_arena_deinit(&arena);
  }
}

/* --- building ----------------------------------------------------------------------------------------------------- */

static void names_uses_and_listing(void **state) {
  (void)state;
  sw_graph *g = new_graph();
  sw_id x = argument(g, "x", SW_VALUE_INPUT, 2, kSquare), s = argument(g, "s", SW_VALUE_STATE, 2, kSquare);
  sw_id y = dot(g, NULL, x, s), z = dot(g, NULL, y, y);
  sw_id t = unary(g, SW_OP_TANH, "t", z);
  assert_ok(sw_graph_add_output(g, NULL, t, s, SW_NOWHERE, &diag));
  assert_ok(sw_graph_add_output(g, NULL, t, -1, SW_NOWHERE, &diag));
  assert_ok(sw_graph_seal(g, &diag));
  sw_text text = {0};
  sw_graph_print(g, &text);
  assert_string_equal(sw_text_str(&text),
                      "func @main {\n"
                      "  %x = input : f32[4,4]\n"
                      "  %s = state : f32[4,4]\n"
                      "  %dot_general = dot_general(%x, %s) {lhs_contract=[1], rhs_contract=[0]} : f32[4,4]\n"
                      "  %dot_general_1 = dot_general(%dot_general, %dot_general) {lhs_contract=[1], rhs_contract=[0]} "
                      ": f32[4,4]\n"
                      "  %t = tanh(%dot_general_1) : f32[4,4]\n"
                      "  return %t into %s, %t as t_2\n"
                      "}\n");
  sw_text_free(&text);
  assert_int_equal(sw_graph_value_named(g, "t"), t);
  assert_int_equal(g->ops[sw_graph_op_named(g, "t")].code, SW_OP_TANH);
  assert_int_equal(sw_graph_value_named(g, "u"), -1);
  assert_int_equal(g->values[y].n_uses, 2);
  assert_int_equal(g->values[y].uses[1].op, 1);
  assert_int_equal(g->values[y].uses[1].index, 1);
  assert_int_equal(g->values[t].n_uses, 2);
  assert_int_equal(g->values[t].uses[0].op, -1);
  assert_int_equal(g->values[t].uses[1].index, 1);
  /* Canonical attributes: sorted, with the defaults. */
  const sw_op *op = &g->ops[0];
  int n;
  assert_int_equal(op->n_attrs, 5);
  assert_int_equal(op->attrs[0].key, SW_ATTR_LHS_BATCH);
  assert_int_equal(sw_op_int(op, SW_ATTR_DTYPE, -1), SW_F32);
  assert_int_equal(sw_op_ints(op, SW_ATTR_LHS_CONTRACT, &n)[0], 1);
  /* Equal ops share. */
  assert_ptr_equal(g->ops[0].nest, g->ops[1].nest);
  assert_ptr_equal(g->ops[0].attrs, g->ops[1].attrs);
  sw_graph_destroy(g);
}

static void results_are_named(void **state) {
  (void)state;
  sw_graph *g = new_graph();
  sw_id x = argument(g, "x", SW_VALUE_INPUT, 2, kSquare);
  sw_attr k[] = {{.key = SW_ATTR_K, .u.i = 2}};
  sw_id top = add_op(g, SW_OP_TOP_K, "best", 1, &x, 1, k);
  assert_string_equal(g->values[top].name, "best");
  assert_string_equal(g->values[top + 1].name, "best.1");
  sw_id p = add_op(g, SW_OP_SOFTMAX, "p", 1, &top, 0, NULL);
  assert_string_equal(g->values[p].name, "p");
  assert_true(sw_graph_value_named(g, "p.exp") >= 0);
  finish(g, p);
  sw_graph_destroy(g);
}

typedef void (*attempt)(sw_graph *g, sw_id x);

static void name_twice(sw_graph *g, sw_id x) {
  unary(g, SW_OP_TANH, "t", x);
  sw_op_spec spec = {.code = SW_OP_EXP, .name = "t", .n_operands = 1, .operands = &x, .span = {"f", 3, 4}};
  sw_id results[SW_MAX_RESULTS];
  assert_int_equal(sw_graph_add_op(g, &spec, results, &diag), SW_E_INPUT);
}

static void sugar_name_twice(sw_graph *g, sw_id x) {
  unary(g, SW_OP_TANH, "t", x);
  sw_op_spec spec = {.code = SW_OP_SOFTMAX, .name = "t", .n_operands = 1, .operands = &x, .span = {"f", 3, 4}};
  sw_id results[SW_MAX_RESULTS];
  assert_int_equal(sw_graph_add_op(g, &spec, results, &diag), SW_E_INPUT);
}

static void empty_name(sw_graph *g, sw_id x) {
  (void)x;
  assert_int_equal(sw_graph_add_arg(g, "", SW_F32, 0, NULL, SW_VALUE_INPUT, SW_NOWHERE, NULL, &diag), SW_E_INPUT);
}

static void too_many_dims(sw_graph *g, sw_id x) {
  int64_t dims[13] = {0};
  (void)x;
  assert_int_equal(sw_graph_add_arg(g, "y", SW_F32, 13, dims, SW_VALUE_INPUT, SW_NOWHERE, NULL, &diag), SW_E_INPUT);
}

static void alias_of_input(sw_graph *g, sw_id x) {
  assert_int_equal(sw_graph_add_output(g, NULL, x, x, SW_NOWHERE, &diag), SW_E_INPUT);
}

static void alias_twice(sw_graph *g, sw_id x) {
  sw_id s = argument(g, "s", SW_VALUE_STATE, 2, kSquare);
  assert_ok(sw_graph_add_output(g, NULL, x, s, SW_NOWHERE, &diag));
  assert_int_equal(sw_graph_add_output(g, "again", x, s, SW_NOWHERE, &diag), SW_E_INPUT);
}

static void alias_of_other_shape(sw_graph *g, sw_id x) {
  sw_id s = argument(g, "s", SW_VALUE_STATE, 1, kSquare);
  assert_int_equal(sw_graph_add_output(g, NULL, x, s, SW_NOWHERE, &diag), SW_E_INPUT);
}

static void output_twice(sw_graph *g, sw_id x) {
  assert_ok(sw_graph_add_output(g, "y", x, -1, SW_NOWHERE, &diag));
  assert_int_equal(sw_graph_add_output(g, "y", x, -1, SW_NOWHERE, &diag), SW_E_INPUT);
}

static void operand_that_is_none(sw_graph *g, sw_id x) {
  x = g->n_values;
  sw_op_spec spec = {.code = SW_OP_EXP, .n_operands = 1, .operands = &x};
  sw_id results[SW_MAX_RESULTS];
  assert_int_equal(sw_graph_add_op(g, &spec, results, &diag), SW_E_BUG);
}

static void unknown_size(sw_graph *g, sw_id x) {
  int64_t dims[] = {-1, 4};
  sw_id y = argument(g, "y", SW_VALUE_INPUT, 2, dims);
  (void)x;
  assert_int_equal(g->values[unary(g, SW_OP_EXP, "e", y)].type.dims[0], -1);
  int64_t zero = 0;
  sw_attr a[] = {{.key = SW_ATTR_DIMS, .u.ints = {&zero, 1}}};
  sw_op_spec spec = {.code = SW_OP_REVERSE, .n_operands = 1, .operands = &y, .n_attrs = 1, .attrs = a};
  sw_id results[SW_MAX_RESULTS];
  assert_int_equal(sw_graph_add_op(g, &spec, results, &diag), SW_E_INPUT);
}

static const struct {
  attempt attempt;
  const char *message;
} kRefused[] = {
    {name_twice, "name 't' is taken by another op (line 0, column 0); expected a new name"},
    {sugar_name_twice, "name 't' is taken by another op"},
    {empty_name, "a name is empty"},
    {too_many_dims, "value 'y' has 13 dims; expected at most 12"},
    {alias_of_input, "output 'x' becomes 'x'; expected a value of kind state"},
    {alias_twice, "two outputs become state 's'; expected one"},
    {alias_of_other_shape, "becomes state 's' of another shape or dtype"},
    {output_twice, "two outputs are named 'y'"},
    {operand_that_is_none, "operand 0 of 'exponential' is no earlier value"},
    {unknown_size, "the size of dim 0 of operand 0 is not known; expected a known size"},
};

static void building_refuses(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kRefused / sizeof *kRefused; i++) {
    sw_graph *g = new_graph();
    kRefused[i].attempt(g, argument(g, "x", SW_VALUE_INPUT, 2, kSquare));
    if (!strstr(diag.text, kRefused[i].message)) fail_msg("expected '%s': %s", kRefused[i].message, diag.text);
    sw_graph_destroy(g);
  }
}

static void verify_sees_damage(void **state) {
  (void)state;
  sw_graph *g = new_graph(), *damaged;
  sw_arena arena = {0};
  sw_id x = argument(g, "x", SW_VALUE_INPUT, 2, kSquare);
  sw_id y = unary(g, SW_OP_TANH, "y", x);
  finish(g, unary(g, SW_OP_EXP, "z", y));
  sw_value *values = sw_arena_copy(&arena, g->values, (size_t)g->n_values, sizeof *values, &diag);
  assert_non_null(values);
  assert_ok(sw_graph_derive(g, &(sw_graph_parts){.values = values}, &arena, &damaged, &diag));
  int64_t other[] = {4, 5};
  values[y].type.dims = other;
  assert_int_equal(sw_graph_verify(damaged, &diag), SW_E_BUG);
  values[y] = g->values[y];
  ((sw_id *)g->ops[0].operands)[0] = 2; /* its own user */
  assert_int_equal(sw_graph_verify(g, &diag), SW_E_BUG);
  ((sw_id *)g->ops[0].operands)[0] = x;
  values[x].n_uses = 0;
  assert_int_equal(sw_graph_verify(damaged, &diag), SW_E_BUG);
  values[x].n_uses = 1;
  assert_ok(sw_graph_verify(damaged, &diag));
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
}

/* --- work and hash ------------------------------------------------------------------------------------------------ */

static void work_follows_the_maps(void **state) {
  (void)state;
  sw_graph *g = new_graph();
  int64_t xs[] = {8, 16}, ws[] = {16, 32}, table[] = {1000, 64}, rows[] = {10};
  sw_id x = argument(g, "x", SW_VALUE_INPUT, 2, xs), w = argument(g, "w", SW_VALUE_INPUT, 2, ws);
  sw_id t = argument(g, "t", SW_VALUE_INPUT, 2, table), i = -1;
  assert_ok(sw_graph_add_arg(g, "i", SW_I32, 1, rows, SW_VALUE_INPUT, SW_NOWHERE, &i, &diag));
  sw_id y = dot(g, "y", x, w);
  sw_id e = add_op(g, SW_OP_TAKE, "e", 2, (sw_id[]){t, i}, 0, NULL);
  int64_t flat[] = {256};
  sw_attr shape[] = {{.key = SW_ATTR_SHAPE, .u.ints = {flat, 1}}};
  sw_id r = add_op(g, SW_OP_RESHAPE, "r", 1, &y, 1, shape);
  assert_ok(sw_graph_add_output(g, NULL, e, -1, SW_NOWHERE, &diag));
  finish(g, r);
  double flops, bytes;
  const sw_op *op = &g->ops[g->values[y].def];
  sw_op_work(g, op, NULL, &flops, &bytes);
  assert_true(flops == 2.0 * 8 * 32 * 16 && bytes == 4.0 * (8 * 16 + 16 * 32 + 8 * 32));
  sw_op_work(g, op, (int64_t[]){8, 8, 16}, &flops, &bytes); /* columns cut in four */
  assert_true(flops == 2.0 * 8 * 8 * 16 && bytes == 4.0 * (8 * 16 + 16 * 8 + 8 * 8));
  sw_op_work(g, &g->ops[g->values[e].def], NULL, &flops, &bytes); /* rows that are read, not the table */
  assert_true(flops == 0 && bytes == 4.0 * (10 * 64 + 10 + 10 * 64));
  sw_op_work(g, &g->ops[g->values[r].def], NULL, &flops, &bytes);
  assert_true(flops == 0 && bytes == 0);
  sw_graph_destroy(g);
}

static uint64_t hash_of(sw_opcode code, const char *name, int64_t rows, sw_value_kind kind, int32_t line) {
  sw_graph *g = new_graph();
  int64_t dims[] = {rows, 4};
  sw_id x, results[SW_MAX_RESULTS];
  assert_ok(sw_graph_add_arg(g, "x", SW_F32, 2, dims, kind, (sw_span){"f", line, 1}, &x, &diag));
  sw_op_spec spec = {.code = code, .name = name, .n_operands = 1, .operands = &x, .span = {"f", line + 1, 1}};
  assert_ok(sw_graph_add_op(g, &spec, results, &diag));
  finish(g, results[0]);
  uint64_t h = sw_request_hash(g->written);
  sw_graph_destroy(g);
  return h;
}

static void hash_is_of_the_meaning(void **state) {
  (void)state;
  uint64_t h = hash_of(SW_OP_TANH, "y", 4, SW_VALUE_INPUT, 1);
  assert_true(h == hash_of(SW_OP_TANH, "y", 4, SW_VALUE_INPUT, 99));
  assert_true(h != hash_of(SW_OP_EXP, "y", 4, SW_VALUE_INPUT, 1));
  assert_true(h != hash_of(SW_OP_TANH, "z", 4, SW_VALUE_INPUT, 1));
  assert_true(h != hash_of(SW_OP_TANH, "y", 5, SW_VALUE_INPUT, 1));
  assert_true(h != hash_of(SW_OP_TANH, "y", 4, SW_VALUE_PARAMETER, 1));
}

/* --- size, and failing allocations -------------------------------------------------------------------------------- */

static sw_rc build_layers(int n, sw_graph **out) {
  SW_TRY(sw_graph_create("deep", out, &diag));
  sw_graph *g = *out;
  sw_id x, results[SW_MAX_RESULTS];
  SW_TRY(sw_graph_add_arg(g, "x", SW_F32, 2, kSquare, SW_VALUE_INPUT, SW_NOWHERE, &x, &diag));
  for (int i = 0; i < n; i++) {
    sw_op_spec spec = {.code = i % 2 ? SW_OP_SOFTMAX : SW_OP_TANH, .n_operands = 1, .operands = &x};
    SW_TRY(sw_graph_add_op(g, &spec, results, &diag));
    x = results[0];
  }
  SW_TRY(sw_graph_add_output(g, NULL, x, -1, SW_NOWHERE, &diag));
  return sw_graph_seal(g, &diag);
}

static void many_ops_are_small_and_no_slower_each(void **state) {
  (void)state;
  double seconds[2];
  for (int k = 0; k < 2; k++) {
    sw_graph *g = NULL;
    int layers = k ? 25000 : 6250;
    double start = check_cpu_s();
    assert_ok(build_layers(layers, &g));
    seconds[k] = check_cpu_s() - start;
    print_message("%d ops in %.2f s, %.1f MB\n", g->n_ops, seconds[k], (double)g->arena.bytes / 1e6);
    assert_int_equal(g->n_ops, layers * 4);
    assert_true((double)g->arena.bytes / g->n_ops < 600);
    sw_graph_destroy(g);
  }
  check_grows_linearly(seconds[0], seconds[1]);
}

static void every_failing_allocation_is_reported(void **state) {
  (void)state;
  for (long n = 1;; n++) {
    sw_graph *g = NULL;
    sw_mem_fail_after(n);
    sw_rc rc = build_layers(4, &g);
    sw_mem_fail_after(0);
    if (rc) {
      assert_int_equal(rc, SW_E_RESOURCE);
    }
    sw_graph_destroy(g);
    if (!rc) {
      assert_true(n > 5);
      return;
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(maps_are_read_and_printed),
      cmocka_unit_test(names_uses_and_listing),
      cmocka_unit_test(results_are_named),
      cmocka_unit_test(building_refuses),
      cmocka_unit_test(verify_sees_damage),
      cmocka_unit_test(work_follows_the_maps),
      cmocka_unit_test(hash_is_of_the_meaning),
      cmocka_unit_test(many_ops_are_small_and_no_slower_each),
      cmocka_unit_test(every_failing_allocation_is_reported),
  };
  return cmocka_run_group_tests_name("graphs", tests, NULL, NULL);
}
