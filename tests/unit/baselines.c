/* Plans made by rule: they keep what is required, or say what they cannot; they use of a mesh what the batch leaves
 * them; and what does not divide is named. */
#include "check.h"

#include "gen/gen.h"
#include "shardwright/model_json.h"
#include "shardwright/pins.h"
#include "shardwright/validate.h"
#include "support/meshes.h"
#include "support/job.h"

static const char *const kModels[] = {"mlp", "gpt2", "llama3", "mlp-train", "gpt2-train", "mixtral"};

/* A sharding of a value by axes of the mesh that divide its dims, at random. */
static void draw_sharding(sw_rng *rng, const sw_mesh *m, const sw_type *t, sw_sharding *out) {
  *out = (sw_sharding){.rank = (uint8_t)t->rank};
  int64_t shards[SW_MAX_RANK];
  for (int k = 0; k < t->rank; k++) shards[k] = 1;
  for (int a = 0; a < m->n_axes && t->rank; a++) {
    const int k = (int)sw_rng_below(rng, t->rank);
    if (sw_rng_below(rng, 3) == 0 || t->dims[k] % (shards[k] * m->axis[a].size)) continue;
    shards[k] *= m->axis[a].size;
    assert_true(sw_sharding_push(out, k, sw_axis_whole(m, a)));
  }
}

/* What is required is looked up in the plan value by value. */
static bool keeps_all(const sw_plan *p, int32_t n, const sw_pin *pins) {
  for (int32_t i = 0; i < n; i++) {
    sw_sharding have;
    if (pins[i].of_use)
      sw_plan_use_sharding(p, pins[i].use, &have);
    else
      sw_plan_value_sharding(p, pins[i].value, &have);
    if (!sw_sharding_equal(&have, &pins[i].sharding)) return false;
  }
  return true;
}

typedef struct tally {
  int kept, not_kept, ran;
} tally;

static void check_pinned(const sw_graph *g, const sw_machine *machine, sw_rng *rng, tally *t) {
  enum { MOST = 4 };
  sw_arena arena = {0};
  sw_pin pins[MOST] = {{0}};
  sw_request pinned;
  const sw_job job = {g, &pinned, NULL, machine};
  const sw_comparison *all;
  const int32_t n = 1 + (int32_t)sw_rng_below(rng, MOST);
  for (int32_t i = 0; i < n; i++) {
    pins[i].value = (sw_id)sw_rng_below(rng, g->n_values);
    const sw_value *v = &g->values[pins[i].value];
    draw_sharding(rng, sw_machine_mesh(machine), &v->type, &pins[i].sharding);
    pins[i].of_use = v->n_uses && sw_rng_below(rng, 3) == 0;
    if (pins[i].of_use) pins[i].use = v->uses[sw_rng_below(rng, v->n_uses)];
  }
  assert_ok(
      sw_pins_require(g->written, sw_machine_mesh(machine), n, pins, (sw_span){"pins", 1, 1}, &arena, &pinned, &diag));
  assert_ok(sw_baselines_build(&job, &arena, &all, &diag));
  for (int b = 0; b < SW_BASELINE_COUNT; b++) {
    assert_true(all[b].made);
    assert_int_equal(all[b].breaks == NULL, sw_plan_verify(&all[b].plan, NULL) == SW_OK);
    if (all[b].breaks) {
      assert_true(strncmp(all[b].breaks, "pins:1:1: ", 10) == 0);
      t->not_kept++;
      continue;
    }
    assert_true(keeps_all(&all[b].plan, n, pins));
    t->kept++;
    if (sw_rng_below(rng, 4)) continue;
    sw_validation v;
    const sw_validate_options o = {.seed = 1, .timeout_s = 60};
    assert_ok(sw_validate(&all[b].plan, &o, &arena, &v, &diag));
    t->ran++;
  }
  sw_arena_deinit(&arena);
}

static void what_is_required_is_kept_or_named(void **state) {
  (void)state;
  sw_rng rng;
  sw_arena a = {0};
  tally t = {0};
  sw_rng_seed(&rng, check_seed(1));
  const sw_machine *machine = machine_of("dgx-h100", "x=2,y=2", &a);
  for (size_t i = 0; i < sizeof kModels / sizeof *kModels; i++) {
    sw_graph *g = small_model(kModels[i]);
    for (int k = 0; k < check_scale(12); k++) check_pinned(g, machine, &rng, &t);
    sw_graph_destroy(g);
  }
  print_message("%d plans keep all, %d cannot, %d ran\n", t.kept, t.not_kept, t.ran);
  assert_true(t.kept > 4 * t.not_kept); /* two pins may exclude each other */
  assert_true(t.ran > 0);
  sw_arena_deinit(&a);
}

typedef struct made {
  sw_arena arena;
  sw_graph *g;
  const sw_comparison *all;
} made;

static void make_mpt(made *m, const char *batch, const char *heads, const char *mesh) {
  const sw_gen_arg args[] = {{"layers", "2"}, {"hidden", "320"}, {"heads", heads}, {"vocab", "512"},
                             {"seq", "512"},  {"batch", batch},  {"mode", "train"}};
  *m = (made){0};
  assert_ok(sw_gen_model("mpt", args, sizeof args / sizeof *args, &m->g, &diag));
  assert_ok(sw_baselines_build(JOB(m->g, machine_of("dgx-h100", mesh, &m->arena)), &m->arena, &m->all, &diag));
}

static void drop(made *m) {
  sw_graph_destroy(m->g);
  sw_arena_deinit(&m->arena);
}

/* With half of the batch nothing needs more memory, parameters and state are cut as before, and work is not done eight
 * times, but where only the batch is cut. */
static void a_batch_below_the_mesh_leaves_the_rest_to_use(void **state) {
  (void)state;
  static const char *const kBatches[] = {"8", "4", "2", "1"};
  made whole, m;
  make_mpt(&whole, "8", "8", "x=8");
  for (size_t i = 0; i < sizeof kBatches / sizeof *kBatches; i++) {
    make_mpt(&m, kBatches[i], "8", "x=8");
    for (int b = SW_BASELINE_FSDP; b <= SW_BASELINE_ZERO1; b++) {
      const sw_breakdown *now = &m.all[b].breakdown, *then = &whole.all[b].breakdown;
      assert_int_equal(now->param_bytes, then->param_bytes);
      assert_true((double)now->peak_bytes <= 1.02 * (double)then->peak_bytes);
      assert_true(now->flops <= 1.1 * then->flops);
      assert_int_equal(m.all[b].spread == NULL, i == 0);
      if (i) assert_non_null(strstr(m.all[b].spread, "x=8 cuts sequences of 512"));
    }
    const sw_comparison *dp = &m.all[SW_BASELINE_DATA_PARALLEL];
    if (i) assert_non_null(strstr(dp->spread, "devices along x=8 do the same"));
    if (i) assert_true(dp->breakdown.flops == m.all[SW_BASELINE_REPLICATED].breakdown.flops);
    drop(&m);
  }
  drop(&whole);
}

/* On two axes the batch takes the one that divides it. */
static void axes_that_divide_the_batch_cut_it(void **state) {
  (void)state;
  made m;
  make_mpt(&m, "2", "8", "x=4,y=2");
  const sw_plan *p = &m.all[SW_BASELINE_FSDP].plan;
  const sw_sharding *tokens = &p->args[m.g->values[sw_graph_value_named(m.g, "tokens")].def_index];
  assert_int_equal(sw_sharding_shards(tokens, 0), 2);
  assert_int_equal(sw_sharding_shards(tokens, 1), 4);
  assert_non_null(strstr(m.all[SW_BASELINE_FSDP].spread, "a batch of 2 does not divide by x=4 beside y=2"));
  drop(&m);
}

static void check_near(double have, double want) {
  if (have < 0.95 * want || have > 1.06 * want) fail_msg("%.0f bytes received, %.0f expected", have, want);
}

static double received(const sw_comparison *c) {
  double bytes = 0;
  for (int i = 0; i < SW_COLL_COUNT; i++) bytes += c->breakdown.by_collective[i].bytes;
  return bytes;
}

/* What a device receives of each plan of a step, in bytes per parameter and (n - 1) / n of them, whatever state is kept
 * in: data-parallel sums gradients, a half of the bytes to add and the other to tell the sums; sharded ones gather
 * weights as ops use them, once for a step whose copies are kept, and add gradients where their part of the state is.
 */
static void frameworks_send_what_is_known_of_them(void **state) {
  (void)state;
  static const struct {
    const char *param, *grad;
    double data_parallel, sharded;
  } kKinds[] = {{"same", "same", 4, 4}, {"f32", "same", 4, 4}, {"f32", "f32", 8, 6}};
  for (size_t i = 0; i < sizeof kKinds / sizeof *kKinds; i++) {
    const sw_gen_arg args[] = {{"mode", "train"},
                               {"layers", "2"},
                               {"hidden", "512"},
                               {"heads", "8"},
                               {"kv-heads", "8"},
                               {"ffn", "1024"},
                               {"vocab", "1024"},
                               {"seq", "32"},
                               {"batch", "8"},
                               {"dtype", "bf16"},
                               {"param-dtype", kKinds[i].param},
                               {"grad-dtype", kKinds[i].grad},
                               {"attention", "fused"}};
    sw_arena a = {0};
    sw_graph *g;
    const sw_comparison *all;
    int64_t n = 0;
    assert_ok(sw_gen_model("llama3", args, sizeof args / sizeof *args, &g, &diag));
    for (int32_t k = 0; k < g->n_args; k++) {
      const sw_value *v = &g->values[g->args[k]];
      const bool moment = strlen(v->name) > 2 && v->name[strlen(v->name) - 2] == '.';
      if (v->kind == SW_VALUE_STATE && !moment && v->type.rank) n += sw_type_elements(&v->type);
    }
    assert_ok(sw_baselines_build(JOB(g, machine_of("dgx-h100", "x=8", &a)), &a, &all, &diag));
    const double each = (double)n * 7 / 8;
    check_near(received(&all[SW_BASELINE_DATA_PARALLEL]), each * kKinds[i].data_parallel);
    check_near(received(&all[SW_BASELINE_FSDP]), each * kKinds[i].sharded);
    sw_graph_destroy(g);
    sw_arena_deinit(&a);
  }
}

/* x[4,6,40] * w[40,40], reshaped to 5 heads of 8, whose products are attention's: 40 columns divide by 4, heads do not.
 */
static const char kHeads[] =
    "{\"format\": \"shardwright-model\", \"version\": 1, \"name\": \"heads\", \"values\": ["
    "{\"name\": \"x\", \"kind\": \"input\", \"dtype\": \"f32\", \"shape\": [4, 6, 40]},"
    "{\"name\": \"wq\", \"kind\": \"parameter\", \"dtype\": \"f32\", \"shape\": [40, 40]},"
    "{\"name\": \"wk\", \"kind\": \"parameter\", \"dtype\": \"f32\", \"shape\": [40, 40]}], \"ops\": ["
    "{\"op\": \"dot_general\", \"inputs\": [\"x\", \"wq\"], \"outputs\": [\"q\"], \"attrs\": {\"lhs_contract\": [2], "
    "\"rhs_contract\": [0]}},"
    "{\"op\": \"dot_general\", \"inputs\": [\"x\", \"wk\"], \"outputs\": [\"k\"], \"attrs\": {\"lhs_contract\": [2], "
    "\"rhs_contract\": [0]}},"
    "{\"op\": \"reshape\", \"inputs\": [\"q\"], \"outputs\": [\"qh\"], \"attrs\": {\"shape\": [4, 6, 5, 8]}},"
    "{\"op\": \"reshape\", \"inputs\": [\"k\"], \"outputs\": [\"kh\"], \"attrs\": {\"shape\": [4, 6, 5, 8]}},"
    "{\"op\": \"transpose\", \"inputs\": [\"qh\"], \"outputs\": [\"qt\"], \"attrs\": {\"permutation\": [0, 2, 1, 3]}},"
    "{\"op\": \"transpose\", \"inputs\": [\"kh\"], \"outputs\": [\"kt\"], \"attrs\": {\"permutation\": [0, 2, 1, 3]}},"
    "%s], \"outputs\": [\"s\"]}";
static const char kBatched[] =
    "{\"op\": \"dot_general\", \"inputs\": [\"qt\", \"kt\"], \"outputs\": [\"s\"], \"attrs\": {\"lhs_batch\": [0, 1], "
    "\"rhs_batch\": [0, 1], \"lhs_contract\": [3], \"rhs_contract\": [3]}}";
/* as frameworks do that have products with one batch dim: heads are the minor part of it */
static const char kMerged[] =
    "{\"op\": \"reshape\", \"inputs\": [\"qt\"], \"outputs\": [\"qm\"], \"attrs\": {\"shape\": [20, 6, 8]}},"
    "{\"op\": \"reshape\", \"inputs\": [\"kt\"], \"outputs\": [\"km\"], \"attrs\": {\"shape\": [20, 6, 8]}},"
    "{\"op\": \"dot_general\", \"inputs\": [\"qm\", \"km\"], \"outputs\": [\"s\"], \"attrs\": {\"lhs_batch\": [0], "
    "\"rhs_batch\": [0], \"lhs_contract\": [2], \"rhs_contract\": [2]}}";

static void heads_that_do_not_divide_are_named(void **state) {
  (void)state;
  static const char *const kProducts[] = {kBatched, kMerged};
  for (size_t i = 0; i < 2; i++) {
    char text[4096];
    sw_arena a = {0};
    sw_graph *g;
    const sw_comparison *all;
    snprintf(text, sizeof text, kHeads, kProducts[i]);
    assert_ok(sw_model_parse("heads.json", text, strlen(text), &g, &diag));
    assert_ok(sw_baselines_build(JOB(g, machine_of("dgx-h100", "x=4", &a)), &a, &all, &diag));
    assert_string_equal(all[SW_BASELINE_MEGATRON].uncut, "5 heads of 'wq' do not divide by 4, nor do 1 more");
    assert_int_equal(all[SW_BASELINE_MEGATRON].plan.args[1].n_refs, 0);
    assert_null(all[SW_BASELINE_FSDP].uncut);
    assert_ok(sw_baselines_build(JOB(g, machine_of("dgx-h100", "x=5", &a)), &a, &all, &diag));
    assert_null(all[SW_BASELINE_MEGATRON].uncut);
    assert_int_equal(sw_sharding_shards(&all[SW_BASELINE_MEGATRON].plan.args[1], 1), 5);
    sw_graph_destroy(g);
    sw_arena_deinit(&a);
  }
}

static void parameters_that_do_not_divide_are_named(void **state) {
  (void)state;
  made m;
  make_mpt(&m, "8", "8", "x=7");
  assert_non_null(strstr(m.all[SW_BASELINE_FSDP].uncut, "do not divide by 7"));
  assert_non_null(strstr(m.all[SW_BASELINE_ZERO1].uncut, "do not divide by 7"));
  assert_non_null(strstr(m.all[SW_BASELINE_MEGATRON].uncut, "8 heads of "));
  drop(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_required_is_kept_or_named),
      cmocka_unit_test(a_batch_below_the_mesh_leaves_the_rest_to_use),
      cmocka_unit_test(axes_that_divide_the_batch_cut_it),
      cmocka_unit_test(frameworks_send_what_is_known_of_them),
      cmocka_unit_test(heads_that_do_not_divide_are_named),
      cmocka_unit_test(parameters_that_do_not_divide_are_named),
  };
  return cmocka_run_group_tests_name("baselines", tests, NULL, NULL);
}
