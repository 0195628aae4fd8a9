/* Choices that rounding turns: 16 sums of the same numbers, each begun at another one, are alike but for rounding, so
 * that which is the greatest depends on the order of additions. A plan that cuts the sums chooses others than one
 * device, and what is looked up by the choice differs altogether; neither is a mistake, and a collective that is left
 * out still is. */
#include "check.h"

#include <string.h>

#include "shardwright/profile_json.h"
#include "shardwright/program.h"
#include "shardwright/validate.h"
#include "support/job.h"

static void put_program(sw_text *t) {
  sw_text_puts(
      t,
      "module {\nsdy.mesh @m = <[\"x\"=4]>\n"
      "func.func @main(%x: tensor<8x256xf32>, %e: tensor<16x8xf32>) -> (tensor<8x1xi32>, tensor<8x8xf32>) {\n");
  for (int j = 1; j < 16; j++) {
    sw_text_printf(t,
                   "%%a%d = stablehlo.slice %%x [0:8, %d:256] : (tensor<8x256xf32>) -> tensor<8x%dxf32>\n"
                   "%%b%d = stablehlo.slice %%x [0:8, 0:%d] : (tensor<8x256xf32>) -> tensor<8x%dxf32>\n"
                   "%%c%d = stablehlo.concatenate %%a%d, %%b%d, dim = 1 : (tensor<8x%dxf32>, tensor<8x%dxf32>) -> "
                   "tensor<8x256xf32>\n"
                   "%%d%d = stablehlo.reshape %%c%d : (tensor<8x256xf32>) -> tensor<8x1x256xf32>\n",
                   j, 16 * j, 256 - 16 * j, j, 16 * j, 16 * j, j, j, j, 256 - 16 * j, 16 * j, j, j);
  }
  sw_text_puts(t,
               "%d0 = stablehlo.reshape %x : (tensor<8x256xf32>) -> tensor<8x1x256xf32>\n%s = stablehlo.concatenate ");
  for (int j = 0; j < 16; j++) sw_text_printf(t, "%s%%d%d", j ? ", " : "", j);
  sw_text_puts(t, ", dim = 1 : (");
  for (int j = 0; j < 16; j++) sw_text_printf(t, "%stensor<8x1x256xf32>", j ? ", " : "");
  sw_text_puts(t,
               ") -> tensor<8x16x256xf32>\n"
               "%k = sdy.sharding_constraint %s <@m, [{}, {}, {\"x\"}]> : tensor<8x16x256xf32>\n"
               "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
               "%l = stablehlo.reduce(%k init: %z) applies stablehlo.add across dimensions = [2] : "
               "(tensor<8x16x256xf32>, tensor<f32>) -> tensor<8x16xf32>\n"
               "%v, %i = chlo.top_k(%l, k = 1) : tensor<8x16xf32> -> (tensor<8x1xf32>, tensor<8x1xi32>)\n"
               "%w = stablehlo.broadcast_in_dim %i, dims = [0, 1] : (tensor<8x1xi32>) -> tensor<8x16xi32>\n"
               "%n = stablehlo.iota dim = 1 : tensor<8x16xi32>\n"
               "%p = stablehlo.compare EQ, %w, %n : (tensor<8x16xi32>, tensor<8x16xi32>) -> tensor<8x16xi1>\n"
               "%h = stablehlo.convert %p : (tensor<8x16xi1>) -> tensor<8x16xf32>\n"
               "%r = stablehlo.dot_general %h, %e, contracting_dims = [1] x [0] : (tensor<8x16xf32>, "
               "tensor<16x8xf32>) -> tensor<8x8xf32>\n"
               "return %i, %r : tensor<8x1xi32>, tensor<8x8xf32>\n}\n}\n");
}

/* How many choices are others than on one device. */
static int64_t turned(const sw_graph *g, uint64_t seed, const sw_tensor *outputs) {
  sw_tensor args[2], alone[2];
  int64_t n = 0;
  assert_ok(sw_make_arguments(g, seed, true, args, &diag));
  assert_ok(sw_exec_run(g, (const sw_buffer *const[]){&args[0], &args[1]}, NULL, alone, &diag));
  for (int i = 0; i < 8; i++) n += ((const int32_t *)alone[0].data)[i] != ((const int32_t *)outputs[0].data)[i];
  for (int i = 0; i < 2; i++) {
    sw_tensor_deinit(&args[i]);
    sw_tensor_deinit(&alone[i]);
  }
  return n;
}

static void turned_choices_are_no_mistakes(void **state) {
  (void)state;
  sw_text t = {0};
  diag = (sw_diag){0};
  sw_arena arena = {0};
  const sw_profile *hw;
  sw_machine *machine;
  sw_plan plan;
  sw_program *p;
  sw_plan_options o = {.solve = {.threads = 1, .time_limit_s = 60}};
  int64_t others = 0;
  put_program(&t);
  sw_rc rc = sw_program_parse("t.mlir", sw_text_str(&t), t.n, NULL, &p, &diag);
  if (rc) fail_msg("%d:%d: %s", diag.line, diag.col, diag.text);
  const sw_graph *g = sw_program_graph(p);
  assert_ok(sw_profile_read(SW_SOURCE_DIR "/hwprofiles/dgx-h100.json", &arena, &hw, &diag));
  assert_ok(sw_machine_build(&arena, hw, &g->written->mesh, &machine, &diag));
  assert_ok(sw_plan_search(JOB(g, machine), &o, &arena, &plan, &diag));
  for (uint64_t seed = 1; seed <= 6; seed++) {
    sw_tensor outputs[2];
    sw_validation v;
    sw_validate_options vo = {.seed = seed, .random_floats = true, .intermediates = true, .outputs = outputs};
    assert_ok(sw_validate(&plan, &vo, &arena, &v, &diag));
    if (!v.matches) fail_msg("seed %d: %s", (int)seed, v.first_bad_op ? v.first_bad_op : "an output");
    others += turned(g, seed, outputs);
    for (int i = 0; i < 2; i++) sw_tensor_deinit(&outputs[i]);
    for (int32_t n = 1; n <= v.collectives; n++) {
      sw_validation bad;
      sw_validate_options broken = {.seed = seed, .random_floats = true, .intermediates = true, .inject_fault = n};
      assert_ok(sw_validate(&plan, &broken, &arena, &bad, &diag));
      assert_false(bad.matches);
    }
  }
  assert_in_range(others, 1, 6 * 8); /* else this shows nothing */
  sw_arena_deinit(&arena);
  sw_program_destroy(p);
  sw_text_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(turned_choices_are_no_mistakes)};
  return cmocka_run_group_tests_name("choices", tests, NULL, NULL);
}
