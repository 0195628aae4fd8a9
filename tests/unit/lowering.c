/* Collectives as a compiler carries them out (sw_lowering), beside the same routes of a machine that does what is asked
 * for. */
#include <math.h>

#include "../reshard_case.h"

#include "gen/gen.h"
#include "shardwright/emit.h"
#include "shardwright/hw.h"
#include "shardwright/model_json.h"
#include "shardwright/plan.h"
#include "shardwright/profile.h"
#include "shardwright/profile_json.h"
#include "shardwright/program.h"
#include "shardwright/strategy.h"
#include "support/job.h"

enum { PAIRS = 400 };

typedef struct pair {
  int rank;
  int64_t dims[SW_MAX_RANK];
  sw_sharding from, to;
} pair;

static pair random_pair(rng *r, const sw_mesh *m) {
  pair p = {.rank = 1 + (int)rng_below(r, 3)};
  for (int d = 0; d < p.rank; d++) p.dims[d] = 48 * (1 + rng_below(r, 9));
  p.from = random_sharding(r, m, p.rank, rng_below(r, 2));
  p.to = random_sharding(r, m, p.rank, false);
  return p;
}

typedef void (*pair_check)(const pair *p, const sw_machine *plain, const sw_machine *lowered, sw_arena *arena);

/* Random pairs on a mesh whose axes divide all sizes. */
static void on_pairs(sw_lowering how, uint64_t seed, pair_check check) {
  sw_arena arena = {0};
  sw_profile profile;
  sw_mesh mesh;
  sw_machine *plain, *lowered;
  rng r = {check_seed(seed)};
  two_level_profile(&profile, 16, 4, 1e-6, 1e-9);
  assert_ok(sw_mesh_parse("x=2,y=4,z=2", &arena, &mesh, &diag));
  assert_ok(sw_machine_build(&arena, &profile, &mesh, &plain, &diag));
  assert_ok(sw_machine_build(&arena, &profile, &mesh, &lowered, &diag));
  assert_ok(sw_machine_lower(lowered, how, &arena, &diag));
  for (int i = 0; i < check_scale(PAIRS); i++) {
    const pair p = random_pair(&r, &mesh);
    check(&p, plain, lowered, &arena);
  }
  sw_arena_deinit(&arena);
}

static void find(const pair *p, const sw_machine *m, sw_dtype t, sw_arena *arena, sw_route *out) {
  const sw_reshard wanted = {m, &p->from, &p->to, p->rank, p->dims, t, {0}};
  assert_ok(sw_route_find(&wanted, arena, out, &diag));
}

/* --- narrow floats ------------------------------------------------------------------------------------------------ */

static void as_f32(const pair *p, const sw_machine *plain, const sw_machine *lowered, sw_arena *arena) {
  sw_route wide, narrow, whole;
  find(p, plain, SW_F32, arena, &wide);
  find(p, lowered, SW_BF16, arena, &narrow);
  assert_true(fabs(narrow.cost_s - wide.cost_s) <= 1e-9 * wide.cost_s);
  assert_true(narrow.max_bytes == wide.max_bytes && narrow.total_bytes == wide.total_bytes);
  find(p, plain, SW_I16, arena, &wide);
  find(p, lowered, SW_I16, arena, &whole); /* integers stay */
  assert_true(whole.cost_s == wide.cost_s && whole.max_bytes == wide.max_bytes);
}

static void narrow_floats_are_moved_as_f32(void **state) {
  (void)state;
  on_pairs((sw_lowering){.wide_floats = true}, 31, as_f32);
}

/* --- reduce_scatters ---------------------------------------------------------------------------------------------- */

static int64_t elements(const pair *p, const sw_sharding *s) {
  int64_t n = 1;
  for (int d = 0; d < p->rank; d++) n *= p->dims[d] / sw_sharding_shards(s, d);
  return n;
}

/* Each costs and moves what an all_reduce of its whole operand does. */
static void by_all_reduce(const pair *p, const sw_machine *plain, const sw_machine *lowered, sw_arena *arena) {
  sw_route route;
  sw_sharding before = p->from;
  (void)plain;
  find(p, lowered, SW_F32, arena, &route);
  for (int i = 0; i < route.n_steps; before = route.step[i++].after) {
    const sw_hop *s = &route.step[i];
    if (s->coll.op != SW_COLL_REDUCE_SCATTER) continue;
    const double n = (double)sw_axis_refs_size(s->coll.axes, s->coll.n_axes),
                 bytes = 4.0 * (double)elements(p, &before);
    const double whole_s = sw_machine_collective_s(lowered, SW_COLL_ALL_REDUCE, s->coll.axes, s->coll.n_axes, bytes);
    assert_true(fabs(s->max_bytes - 2 * bytes * (n - 1) / n) < 1);
    if (fabs(s->cost_s - whole_s) > 1e-6 * whole_s) fail_msg("%g s, an all_reduce %g s, %g", s->cost_s, whole_s, bytes);
  }
}

static void reduce_scatters_are_all_reduces(void **state) {
  (void)state;
  on_pairs((sw_lowering){.whole_scatters = true}, 32, by_all_reduce);
}

/* --- moves -------------------------------------------------------------------------------------------------------- */

static int n_exchanges;

/* Rounds begin one after the other, and none sends parts of a sum; the search is no more exact than a twentieth. */
static void by_rounds(const pair *p, const sw_machine *plain, const sw_machine *lowered, sw_arena *arena) {
  sw_route at_once, rounds;
  sw_sharding before = p->from;
  find(p, plain, SW_F32, arena, &at_once);
  find(p, lowered, SW_F32, arena, &rounds);
  assert_true(isfinite(rounds.cost_s) && rounds.cost_s >= 0.95 * at_once.cost_s);
  for (int i = 0; i < rounds.n_steps; before = rounds.step[i++].after) {
    const sw_hop *s = &rounds.step[i];
    const bool written = s->coll.op == SW_COLL_EXCHANGE || s->coll.op == SW_COLL_ALL_TO_ALL_DIMS;
    assert_false(written && before.n_partial);
    if (s->coll.op == SW_COLL_EXCHANGE) n_exchanges++;
  }
}

static void exchanges_are_sent_in_rounds(void **state) {
  (void)state;
  on_pairs((sw_lowering){.rounds = true}, 33, by_rounds);
  assert_true(n_exchanges > 0);
}

/* --- sums --------------------------------------------------------------------------------------------------------- */

static const char kAdd[] =
    "{\"format\": \"shardwright-model\", \"version\": 1, \"name\": \"a\", \"values\": ["
    "{\"name\": \"a\", \"kind\": \"input\", \"dtype\": \"f32\", \"shape\": [64, 64]},"
    "{\"name\": \"b\", \"kind\": \"input\", \"dtype\": \"f32\", \"shape\": [64, 64]},"
    "{\"name\": \"c\", \"dtype\": \"f32\", \"shape\": [64, 64]}],"
    "\"ops\": [{\"op\": \"add\", \"inputs\": [\"a\", \"b\"], \"outputs\": [\"c\"]}], \"outputs\": [\"c\"]}";

/* An addition of parts costs an all_reduce of each operand more, all other strategies what they did; under `none`
 * again none does. */
static void parts_are_completed_before(void **state) {
  (void)state;
  sw_arena arena = {0};
  sw_graph *g;
  sw_profile profile;
  sw_mesh mesh;
  sw_machine *plain, *lowered;
  sw_enumeration all;
  int n_partial = 0;
  flat_profile(&profile, 8, 1e-6, 1e-9);
  assert_ok(sw_mesh_parse("x=2,y=4", &arena, &mesh, &diag));
  assert_ok(sw_machine_build(&arena, &profile, &mesh, &plain, &diag));
  assert_ok(sw_machine_build(&arena, &profile, &mesh, &lowered, &diag));
  assert_ok(sw_machine_lower(lowered, (sw_lowering){.early_sums = true}, &arena, &diag));
  assert_ok(sw_model_parse("a.json", kAdd, sizeof kAdd - 1, &g, &diag));
  assert_ok(sw_strategies_enumerate(JOB(g, plain), &g->ops[0], NULL, &arena, &all, &diag));
  for (int32_t i = 0; i < all.n; i++) {
    sw_op_cost was, is;
    sw_sharding at;
    sw_strategy_operand(&g->ops[0], &all.at[i], 0, &at);
    sw_strategy_cost(JOB(g, plain), &g->ops[0], &all.at[i], &was);
    sw_strategy_cost(JOB(g, lowered), &g->ops[0], &all.at[i], &is);
    const double bytes = (double)sw_sharding_held_bytes(&at, (int64_t[]){64, 64}, SW_F32);
    const double one_s =
        sw_machine_collective_s(plain, SW_COLL_ALL_REDUCE, sw_sharding_partial(&at), at.n_partial, bytes);
    n_partial += at.n_partial > 0;
    assert_true(fabs(is.move_s - was.move_s - (at.n_partial ? 2 * one_s : 0)) < 1e-15);
    assert_true(is.local_s == was.local_s);
  }
  assert_true(n_partial > 0);
  sw_job job;
  assert_ok(sw_job_make("xla-cpu", g->written, lowered, &arena, &job, &diag));
  assert_true(sw_machine_lowering(lowered).early_sums && sw_machine_lowering(lowered).whole_scatters);
  assert_ok(sw_job_make("none", g->written, lowered, &arena, &job, &diag));
  assert_false(sw_machine_lowering(lowered).early_sums || sw_machine_lowering(lowered).whole_scatters);
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
}

/* --- software ----------------------------------------------------------------------------------------------------- */

/* Kernels of the library that a compiler calls, and all so many times longer but for their launch. */
static void software_prices_kernels_as_it_runs_them(void **state) {
  (void)state;
  enum { SHAPES = 3 };
  sw_arena arena = {0};
  const sw_profile *shipped;
  sw_machine *plain, *flash, *slow;
  sw_mesh one = {0};
  assert_ok(sw_profile_read("h100", &arena, &shipped, &diag));
  sw_profile own = *shipped; /* as if flash were all that it knows */
  int at = 0;
  while (strcmp(shipped->library_kernels[at].name, "flash") != 0) at++;
  own.kernel[SW_PRICED_ATTENTION] = shipped->library_kernels[at].kernel[SW_PRICED_ATTENTION];
  own.kernel[SW_PRICED_ATTENTION_GRAD] = shipped->library_kernels[at].kernel[SW_PRICED_ATTENTION_GRAD];
  own.n_libraries = 0;
  assert_ok(sw_machine_build(&arena, &own, &one, &plain, &diag));
  assert_ok(sw_machine_build(&arena, shipped, &one, &flash, &diag));
  assert_ok(sw_machine_build(&arena, shipped, &one, &slow, &diag));
  assert_ok(sw_machine_run(flash, &(sw_software){"flash", 1, 0}, &arena, &diag));
  assert_ok(sw_machine_run(slow, &(sw_software){"flash", 4, 0}, &arena, &diag));
  assert_ok(sw_machine_run(slow, &(sw_software){"flash", 2, 0}, &arena, &diag)); /* in place of the former */
  static const sw_work_kind kKinds[SHAPES] = {SW_WORK_ATTENTION, SW_WORK_ATTENTION_GRAD, SW_WORK_PRODUCT};
  for (int i = 0; i < SHAPES; i++) {
    const sw_work w = {kKinds[i], SW_BF16, 4e12, 1e8, 4, 4096, 4096, 128, 16, 16};
    const double s = sw_machine_work_s(plain, &w), launch_s = own.kernel[sw_work_kernel(&w)].v[SW_KERNEL_LAUNCH];
    assert_true(fabs(sw_machine_work_s(flash, &w) / s - 1) < 1e-12);
    assert_true(fabs((sw_machine_work_s(slow, &w) - launch_s) / (s - launch_s) / 2 - 1) < 1e-9);
    assert_true(sw_machine_work_least_s(slow, &w) <= sw_machine_work_s(slow, &w));
  }
  assert_true(sw_machine_host_times(slow) == 1);
  assert_ok(sw_machine_run(flash, &(sw_software){"flash", 1, 5 * own.launch_s}, &arena, &diag));
  assert_true(fabs(sw_machine_host_times(flash) - 5) < 1e-12);
  assert_true(sw_machine_launch_s(flash) == own.launch_s); /* on the device nothing changes */
  const double s = sw_machine_local_s(plain, SW_F32, 1e9, 1e9);
  assert_true(fabs((sw_machine_local_s(slow, SW_F32, 1e9, 1e9) - own.launch_s) / (s - own.launch_s) / 2 - 1) < 1e-9);
  sw_arena_deinit(&arena);
}

/* What programs say of the precision of products is kept and written; what a device may do where they say nothing is
 * the compiler's. */
#define MATRIX "tensor<6x6xf32>"
#define DOT "stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]"
#define DOTS "(" MATRIX ", " MATRIX ") -> " MATRIX "\n"
#define CONV                                                                                               \
  "stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} "      \
  "{batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision " \
  "DEFAULT>, #stablehlo<precision "
#define CONVS ">]} : (tensor<2x8x8x4xf32>, tensor<3x3x4x4xf32>) -> tensor<2x6x6x4xf32>\n"
static void products_are_as_precise_as_said(void **state) {
  (void)state;
  static const char kText[] =
      "func.func @main(%a: " MATRIX ", %x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x4xf32>) -> (" MATRIX ", " MATRIX
      ", " MATRIX ", tensor<2x6x6x4xf32>, tensor<2x6x6x4xf32>) {\n%0 = " DOT " : " DOTS "%1 = " DOT
      ", precision = [DEFAULT, HIGHEST] : " DOTS
      "%2 = \"stablehlo.dot_general\"(%a, %a) "
      "<{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, "
      "precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGH>]}> : " DOTS "%3 = " CONV
      "DEFAULT" CONVS "%4 = " CONV "HIGHEST" CONVS "return %0, %1, %2, %3, %4 : " MATRIX ", " MATRIX ", " MATRIX
      ", tensor<2x6x6x4xf32>, tensor<2x6x6x4xf32>\n}\n";
  enum { PRODUCTS = 5, D = SW_PRECISION_DEFAULT, H = SW_PRECISION_HIGH, F = SW_PRECISION_HIGHEST };
  static const struct {
    const char *compiler;
    int precision[PRODUCTS];
  } kAre[] = {{"none", {F, F, H, F, F}}, {"eager", {F, F, H, D, F}},   {"inductor", {F, F, H, D, F}},
              {"xla", {D, F, H, D, F}},  {"xla-cpu", {F, F, H, F, F}}, {"ideal", {D, F, H, D, F}}};
  static const char *const kSaid[] = {"precision=highest}", "precision=high}", "precision=highest}"};
  sw_arena arena = {0};
  sw_machine *machine;
  const sw_profile *profile;
  sw_mesh one = {0};
  sw_plan plan;
  sw_program *p, *again;
  sw_text once = {0}, listing = {0}, listing_again = {0};
  assert_ok(sw_profile_read("h100", &arena, &profile, &diag));
  assert_ok(sw_machine_build(&arena, profile, &one, &machine, &diag));
  assert_ok(sw_program_parse("t.mlir", kText, sizeof kText - 1, NULL, &p, &diag));
  for (size_t c = 0; c < sizeof kAre / sizeof *kAre; c++) {
    const sw_job job = job_under(sw_program_graph(p), machine, kAre[c].compiler, &arena);
    for (int i = 0; i < PRODUCTS; i++) {
      sw_work w;
      sw_op_shape(&job, &job.graph->ops[i], NULL, &w);
      assert_int_equal(w.precision, kAre[c].precision[i]);
    }
  }
  assert_ok(sw_plan_build(JOB(sw_program_graph(p), machine), &arena, &plan, &diag));
  assert_ok(sw_emit_plan(&plan, "spmd-stablehlo", &once, &diag));
  assert_ok(sw_program_parse("again.mlir", once.at, once.n, NULL, &again, &diag));
  sw_graph_print(sw_program_graph(p), &listing);
  sw_graph_print(sw_program_graph(again), &listing_again);
  for (int i = 0; i < 2; i++) {
    const char *at = sw_text_str(i ? &listing_again : &listing);
    for (int k = 0; k < 3; k++) {
      assert_non_null(at = strstr(at, kSaid[k]));
      at += strlen(kSaid[k]);
    }
    assert_null(strstr(at, "precision="));
  }
  sw_text_free(&once);
  sw_text_free(&listing);
  sw_text_free(&listing_again);
  sw_program_destroy(p);
  sw_program_destroy(again);
  sw_arena_deinit(&arena);
}

/* FSDP gathers weights into a buffer: what kernels read is copied out of it, once more written and read. */
static void gathered_weights_are_copied(void **state) {
  (void)state;
  static const struct {
    const char *compiler;
    double in_step; /* 0: it copies nothing */
  } kAre[] = {{"none", 0}, {"eager", 1.14}, {"inductor", 1.14}, {"xla", 0}, {"ideal", 0}};
  sw_arena arena = {0};
  sw_machine *machine;
  const sw_profile *p;
  sw_mesh four;
  sw_graph *g;
  int gathered = 0;
  assert_ok(sw_profile_read("h100", &arena, &p, &diag));
  assert_ok(sw_mesh_parse("dp=4", &arena, &four, &diag));
  assert_ok(sw_machine_build(&arena, p, &four, &machine, &diag));
  assert_ok(sw_gen_model("mlp", (sw_gen_arg[]){{"mode", "train"}}, 1, &g, &diag));
  for (size_t c = 0; c < sizeof kAre / sizeof *kAre; c++) {
    sw_job job;
    sw_plan plan;
    sw_breakdown b;
    assert_ok(sw_job_make(kAre[c].compiler, g->written, machine, &arena, &job, &diag));
    assert_ok(sw_baseline_build(&job, SW_BASELINE_FSDP, &arena, &plan, &diag));
    assert_ok(sw_plan_breakdown(&plan, &arena, &b, &diag));
    for (int32_t i = 0; i < b.n_reshards; i++) {
      const sw_plan_reshard *r = &b.reshards[i];
      const sw_value *v = &g->values[r->value];
      const bool whole = v->def < 0 && v->kind != SW_VALUE_INPUT && sw_sharding_is_replicated(&r->to);
      const double moved_s = 2 * (double)sw_type_bytes(&v->type) / (p->memory_bytes_per_s * p->memory_fraction);
      assert_true(whole || v->def < 0 || r->unpack_s == 0 || sw_value_maker(g, r->value)->code == SW_OP_CONVERT);
      if (whole) assert_true(fabs(r->unpack_s - moved_s * kAre[c].in_step) <= 1e-9 * moved_s);
      gathered += whole;
    }
  }
  assert_true(gathered > 0);
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(software_prices_kernels_as_it_runs_them),
                                     cmocka_unit_test(narrow_floats_are_moved_as_f32),
                                     cmocka_unit_test(reduce_scatters_are_all_reduces),
                                     cmocka_unit_test(exchanges_are_sent_in_rounds),
                                     cmocka_unit_test(parts_are_completed_before),
                                     cmocka_unit_test(gathered_weights_are_copied),
                                     cmocka_unit_test(products_are_as_precise_as_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
