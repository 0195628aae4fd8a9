/* Manual computations: whatever their shardings, the one strategy that the op is bound to has just these, it is the
 * only one that a plan takes, and the program of a device has it with the block's shapes. */
#include "random_sharding.h"

#include "shardwright/plan.h"
#include "shardwright/profile_json.h"
#include "shardwright/program.h"
#include "shardwright/spmd.h"
#include "shardwright/strategy.h"

enum { MOST = 3 };

/* A tensor with a sharding that divides it. */
typedef struct part {
  int rank;
  int64_t dims[3], block[3];
  char sharding[128];
} part;

static void random_part(rng *r, part *p) {
  static const struct {
    const char *text;
    int by;
  } kAxes[] = {{"\"x\"", 2}, {"\"y\"", 4}, {"\"z\"", 3}};
  bool used[3] = {false};
  sw_text t = {0};
  p->rank = (int)rng_below(r, 4);
  for (int k = 0; k < p->rank; k++) {
    p->dims[k] = p->block[k] = 1 + rng_below(r, 4);
    sw_text_puts(&t, k ? ", {" : "{");
    for (int i = 0, n = 0; i < 3; i++) {
      int a = (int)rng_below(r, 3);
      if (used[a] || rng_below(r, 2)) continue;
      used[a] = true;
      p->dims[k] *= kAxes[a].by;
      sw_text_printf(&t, "%s%s", n++ ? ", " : "", kAxes[a].text);
    }
    sw_text_puts(&t, "}");
  }
  snprintf(p->sharding, sizeof p->sharding, "<@m, [%s]>", t.n ? sw_text_str(&t) : "");
  sw_text_free(&t);
}

static void put_type(const part *p, const int64_t *dims, sw_text *t) {
  sw_text_puts(t, "tensor<");
  for (int k = 0; k < p->rank; k++) sw_text_printf(t, "%lldx", (long long)dims[k]);
  sw_text_puts(t, "f32>");
}

static void put_list(const part *p, int n, const char *before, bool types, sw_text *t) {
  for (int i = 0; i < n; i++) {
    sw_text_printf(t, "%s%s", i ? ", " : "", before);
    if (*before) sw_text_printf(t, "%d: ", i);
    if (types) put_type(&p[i], *before == '%' && before[1] == 'l' ? p[i].block : p[i].dims, t);
    if (!types) sw_text_puts(t, p[i].sharding);
  }
}

/* All operands in, results out of one manual computation that makes them from nothing. */
static void put_module(const part *in, int n_in, const part *out, int n_out, sw_text *t) {
  sw_text_puts(t, "module {\n  sdy.mesh @m = <[\"x\"=2, \"y\"=4, \"z\"=3]>\n  func.func @main(");
  put_list(in, n_in, "%a", true, t);
  sw_text_puts(t, ") -> (");
  put_list(out, n_out, "", true, t);
  sw_text_printf(t, ") {\n    %%r:%d = sdy.manual_computation(", n_out);
  for (int i = 0; i < n_in; i++) sw_text_printf(t, "%s%%a%d", i ? ", " : "", i);
  sw_text_puts(t, ") in_shardings=[");
  put_list(in, n_in, "", false, t);
  sw_text_puts(t, "] out_shardings=[");
  put_list(out, n_out, "", false, t);
  sw_text_puts(t, "] manual_axes={\"x\", \"y\", \"z\"} (");
  put_list(in, n_in, "%l", true, t);
  sw_text_puts(t, ") {\n");
  for (int i = 0; i < n_out; i++) {
    sw_text_printf(t, "      %%c%d = stablehlo.constant dense<1.0> : ", i);
    put_type(&out[i], out[i].block, t);
    sw_text_puts(t, "\n");
  }
  sw_text_puts(t, "      sdy.return ");
  for (int i = 0; i < n_out; i++) sw_text_printf(t, "%s%%c%d", i ? ", " : "", i);
  sw_text_puts(t, " : ");
  for (int i = 0; i < n_out; i++) {
    if (i) sw_text_puts(t, ", ");
    put_type(&out[i], out[i].block, t);
  }
  sw_text_puts(t, "\n    } : (");
  put_list(in, n_in, "", true, t);
  sw_text_puts(t, ") -> (");
  put_list(out, n_out, "", true, t);
  sw_text_puts(t, ")\n    return ");
  for (int i = 0; i < n_out; i++) sw_text_printf(t, "%s%%r#%d", i ? ", " : "", i);
  sw_text_puts(t, " : ");
  put_list(out, n_out, "", true, t);
  sw_text_puts(t, "\n  }\n}\n");
}

static void expect_sharding(const sw_graph *g, const part *p, const sw_sharding *got) {
  sw_diag diag = {0};
  sw_arena arena = {0};
  sw_sharding want;
  const char *list = strchr(p->sharding, '[');
  assert_ok(
      sw_sharding_parse_as(&g->mesh, p->rank, SW_FORM_SDY, list, strlen(list) - 1, SW_NOWHERE, &arena, &want, &diag));
  assert_true(sw_sharding_equal(&want, got));
  sw_arena_deinit(&arena);
}

static void expect_plan(const sw_graph *g, const part *in, int n_in, const part *out, int n_out) {
  sw_diag diag = {0};
  sw_arena arena = {0};
  const sw_profile *hw;
  sw_machine *machine;
  sw_plan plan;
  sw_spmd spmd;
  sw_plan_options o = {.solve = {.threads = 1, .time_limit_s = 5}};
  assert_ok(sw_profile_read(SW_SOURCE_DIR "/hwprofiles/local.json", &arena, &hw, &diag));
  assert_ok(sw_machine_build(&arena, hw, &g->mesh, &machine, &diag));
  assert_ok(sw_plan_search(g, machine, &o, &arena, &plan, &diag));
  const sw_op *op = &g->ops[0];
  for (int i = 0; i < n_in; i++) {
    sw_sharding s;
    sw_strategy_operand(g, op, &plan.ops[0], i, &s);
    expect_sharding(g, &in[i], &s);
  }
  for (int i = 0; i < n_out; i++) {
    sw_sharding s;
    sw_strategy_result(g, op, &plan.ops[0], i, &s);
    expect_sharding(g, &out[i], &s);
  }
  assert_ok(sw_partition(&plan, &spmd, &diag));
  for (int32_t i = 0; i < spmd.program->n_ops; i++) {
    const sw_op *local = &spmd.program->ops[i];
    for (int r = 0; local->code == SW_OP_OPAQUE && r < n_out; r++) {
      const sw_type *t = sw_result_type(spmd.program, local, r);
      for (int k = 0; k < t->rank; k++) assert_int_equal(t->dims[k], out[r].block[k]);
    }
  }
  sw_spmd_deinit(&spmd);
  sw_arena_deinit(&arena);
}

static void random_manual_computations(void **state) {
  (void)state;
  rng r = {check_seed(1)};
  for (int round = 0, n = check_scale(60); round < n; round++) {
    part in[MOST], out[MOST];
    sw_text t = {0};
    sw_diag diag = {0};
    sw_program *p;
    int n_in = 1 + (int)rng_below(&r, MOST), n_out = 1 + (int)rng_below(&r, MOST);
    for (int i = 0; i < n_in; i++) random_part(&r, &in[i]);
    for (int i = 0; i < n_out; i++) random_part(&r, &out[i]);
    put_module(in, n_in, out, n_out, &t);
    sw_rc rc = sw_program_parse("t.mlir", sw_text_str(&t), t.n, NULL, &p, &diag);
    if (rc) fail_msg("%d:%d: %s\n%s", diag.line, diag.col, diag.text, sw_text_str(&t));
    expect_plan(sw_program_graph(p), in, n_in, out, n_out);
    sw_program_destroy(p);
    sw_text_free(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_manual_computations)};
  return cmocka_run_group_tests_name("manual", tests, NULL, NULL);
}
