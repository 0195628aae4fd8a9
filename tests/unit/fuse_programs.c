/* Attention as JAX writes it (tests/data/attention, by scripts/make-attention-texts): how often it is found in
 * programs, what is seen of their masks, and that the fused program computes what the written one does. */
#include <math.h>

#include "check.h"

#include "graph/attention.h"
#include "shardwright/exec.h"
#include "shardwright/plan.h"
#include "shardwright/program.h"
#include "shardwright/validate.h"
#include "support/meshes.h"
#include "support/random_plan.h"
#include "support/job.h"

enum { MOST = 8 };

static sw_program *read_text(const char *name, bool fuse) {
  char path[512];
  sw_program *p;
  snprintf(path, sizeof path, "%s/tests/data/attention/%s.mlir", SW_SOURCE_DIR, name);
  assert_ok(sw_program_read(path, &(sw_program_options){.fuse_attention = fuse}, &p, &diag));
  return p;
}

/* Integers are lengths, 3 and 6; in each row of a mask some are true. */
static void fill(const sw_graph *g, double limit, sw_tensor *args) {
  assert_in_range(g->n_args, 1, MOST);
  for (int i = 0; i < g->n_args; i++) {
    const sw_type *t = &g->values[g->args[i]].type;
    assert_ok(sw_tensor_init(&args[i], t->dtype, t->rank, t->dims, &diag));
    assert_ok(
        sw_tensor_fill(&args[i], &(sw_fill){.kind = SW_FILL_RANDOM, .seed = (uint64_t)i + 1, .limit = limit}, &diag));
    for (int64_t k = 0; t->dtype == SW_BOOL && k < sw_buffer_elements(&args[i]); k++)
      ((bool *)args[i].data)[k] = k % 3 == 0 || k % 8 == 0;
    if (t->dtype == SW_I32 && t->rank == 1) memcpy(args[i].data, (int32_t[]){3, 6}, 2 * sizeof(int32_t));
    if (t->dtype == SW_I32 && t->rank == 0) memcpy(args[i].data, (int32_t[]){5}, sizeof(int32_t));
  }
}

static void run(const sw_graph *g, const sw_tensor *args, sw_tensor *out) {
  const sw_buffer *in[MOST];
  for (int i = 0; i < g->n_args; i++) in[i] = &args[i];
  assert_ok(sw_exec_run(g, in, &(sw_exec_options){.poison = true}, out, &diag));
}

/* On numbers up to `limit`. */
static void expect_same(const char *name, const sw_graph *got, const sw_graph *want, double limit) {
  sw_tensor args[MOST], a[MOST], b[MOST];
  assert_in_range(got->n_outputs, 1, MOST);
  fill(want, limit, args);
  run(got, args, a);
  run(want, args, b);
  for (int i = 0; i < got->n_outputs; i++) {
    sw_difference off;
    const double small = a[i].dtype == SW_BF16 ? 0.03 : 1e-4;
    assert_ok(sw_tensor_compare(&a[i], &b[i], (sw_tolerance){small, small}, &off, &diag));
    if (off.differing) fail_msg("%s: output %d differs by %g", name, i, off.worst_absolute);
    sw_tensor_deinit(&a[i]);
    sw_tensor_deinit(&b[i]);
  }
  for (int i = 0; i < got->n_args; i++) sw_tensor_deinit(&args[i]);
}

/* What the ops of a program should be like. */
typedef struct text {
  const char *name;
  int forward, gradient;
  int64_t group;
  bool causal;
  int64_t left; /* of the window; -1: none */
  bool bias, mask, lengths, start;
  double softcap, dropout;
} text;

static const text kTexts[] = {
    {"plain", 1, 1, 1, .left = -1},
    {"causal", 1, 1, 1, true, -1},
    {"grouped", 1, 1, 2, true, -1},
    {"bf16_grouped", 1, 1, 2, true, -1},
    {"bias", 1, 1, 1, .left = -1, .bias = true},
    {"bias_mask_causal", 1, 1, 1, true, -1, .bias = true, .mask = true},
    {"window", 1, 1, 1, true, 4}, /* 3 before, 1 behind: up to 1 later, 4 before that */
    {"window_causal", 1, 1, 1, true, 3},
    {"kv_lengths", 1, 1, 1, .left = -1, .lengths = true},
    {"lengths", 1, 1, 1, .left = -1, .mask = true, .lengths = true}, /* those of queries are a mask */
    {"lengths_causal_grouped", 1, 1, 2, true, -1, .lengths = true},
    {"hand_bf16_softcap_repeat", 1, 1, 2, true, -1, .softcap = 30},
    {"hand_softcap", 1, 1, 1, true, -1, .softcap = 30},
    {"hand_inf", 1, 1, 1, true, -1},
    {"hand_repeat", 1, 1, 2, true, -1},
    {"hand_repeat_one", 1, 1, 4, true, -1},
    {"joined_groups", 1, 1, 2, true, -1},
    {"joined_groups_softcap", 1, 1, 2, true, -1, .softcap = 50},
    {"joined_batch", 1, 1, 2, .left = -1, .bias = true},
    {"constrained", 1, 1, 1, true, -1},
    {"constrained_keys", 1, 1, 1, true, -1},
    {"constrained_repeat", 1, 1, 2, true, -1},
    {"constrained_twice", 0, 0, .left = -1}, /* one op cannot be cut in two ways */
    {"dropout", 1, 1, 2, true, -1, .dropout = 0.25},
    {"dropout_all_heads", 1, 1, 2, true, -1, .dropout = 0.25},
    {"dropout_number", 1, 1, 2, true, -1, .dropout = 0.1},
    {"dropout_flax", 1, 1, 1, .left = -1, .dropout = 0.25},
    {"dropout_flax_shared", 1, 1, 1, .left = -1, .dropout = 0.25},
    {"flax", 1, 1, 1, true, -1},
    {"scan_remat", 2, 1, 1, true, -1}, /* layers in a loop; the backward one does the forward part again */
    {"scan", 0, 0, .left = -1},        /* the forward loop stores each softmax */
};

static void expect_op(const text *want, const sw_graph *g, const sw_op *op) {
  sw_attention a;
  sw_attention_of(g, op, &a);
  const int64_t group = op->nest->loops[SW_ATTENTION_GROUP].size;
  const bool left = a.left_bound ? a.left == want->left : want->left < 0;
  const bool same = (a.bias >= 0) == want->bias && (a.mask >= 0) == want->mask && (a.lengths >= 0) == want->lengths &&
                    (a.start >= 0) == want->start && a.right_bound == want->causal && left && group == want->group;
  const bool drops = fabs(a.dropout - want->dropout) < 1e-6 && (a.keep >= 0) == (want->dropout > 0);
  if (same && drops && a.softcap == want->softcap) return;
  sw_text t = {0};
  sw_graph_print(g, &t);
  print_message("%s\n", sw_text_str(&t));
  sw_text_free(&t);
  fail_msg("%s: an attention with other operands or attributes is made", want->name);
}

static void programs_of_jax_are_fused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kTexts / sizeof *kTexts; i++) {
    const text *t = &kTexts[i];
    sw_program *fused = read_text(t->name, true), *plain = read_text(t->name, false);
    int forward = 0, gradient = 0;
    for (sw_id k = 0; k < sw_program_graph(fused)->n_ops; k++) {
      const sw_op *op = &sw_program_graph(fused)->ops[k];
      forward += op->code == SW_OP_ATTENTION;
      gradient += op->code == SW_OP_ATTENTION_GRAD;
      if (op->code == SW_OP_ATTENTION || op->code == SW_OP_ATTENTION_GRAD) expect_op(t, sw_program_graph(fused), op);
    }
    if (forward != t->forward || gradient != t->gradient)
      fail_msg("%s: %d attentions and %d gradients are found; expected %d and %d", t->name, forward, gradient,
               t->forward, t->gradient);
    expect_same(t->name, sw_program_graph(fused), sw_program_graph(plain), 0.5);
    sw_program_destroy(fused);
    sw_program_destroy(plain);
  }
}

/* --- programs of PyTorch's ---------------------------------------------------------------------------------------- */

/* Exports of others: joined batches, repeated heads, scales in front of the product. */
static const struct {
  const char *file;
  int forward;
  int64_t kv_heads, group;
  double limit; /* it is executed on numbers up to this; 0: it is not, having too many arguments */
} kTorch[] = {{"pt_bert.mlir", 12, 12, 1, 0},
              {"torch_llama_small.mlir", 2, 8, 3, 0},
              {"tt-mlir__sdy_llama_sdpa_auto.mlir", 1, 8, 4, 0.5},
              {"tt-mlir__sdy_minimal_attn_auto.mlir", 1, 8, 1, 0.1}};

static void programs_of_pytorch_are_fused(void **state) {
  (void)state;
  const char *folder = getenv("SHARDWRIGHT_PROGRAMS_DIR");
  if (!folder || !*folder) {
    print_message("skipped: SHARDWRIGHT_PROGRAMS_DIR is not set\n");
    skip();
  }
  for (size_t i = 0; i < sizeof kTorch / sizeof *kTorch; i++) {
    char path[1024];
    sw_program *fused, *plain;
    int forward = 0;
    snprintf(path, sizeof path, "%s/%s", folder, kTorch[i].file);
    assert_ok(sw_program_read(path, &(sw_program_options){.fuse_attention = true}, &fused, &diag));
    const sw_graph *g = sw_program_graph(fused);
    for (sw_id k = 0; k < g->n_ops; k++) {
      if (g->ops[k].code != SW_OP_ATTENTION) continue;
      const sw_loop *loops = g->ops[k].nest->loops;
      forward++;
      assert_int_equal(loops[SW_ATTENTION_KV_HEAD].size, kTorch[i].kv_heads);
      assert_int_equal(loops[SW_ATTENTION_GROUP].size, kTorch[i].group);
    }
    if (forward != kTorch[i].forward) fail_msg("%s: %d attentions are found", kTorch[i].file, forward);
    if (kTorch[i].limit > 0) {
      assert_ok(sw_program_read(path, NULL, &plain, &diag));
      expect_same(kTorch[i].file, g, sw_program_graph(plain), kTorch[i].limit);
      sw_program_destroy(plain);
    }
    sw_program_destroy(fused);
  }
}

/* --- what plans say, in the text as it was ------------------------------------------------------------------------ */

/* The sharding that a constraint gives the value of this name, as text; NULL: none does. */
static const char *constraint_of(const char *in, const char *name, char *out, size_t room) {
  char line[160];
  snprintf(line, sizeof line, "%%%s = sdy.sharding_constraint %%", name);
  const char *at = strstr(in, line);
  if (!at) return NULL;
  const char *from = strstr(at, "@mesh, ");
  assert_non_null(from);
  from += strlen("@mesh, ");
  snprintf(out, room, "%.*s", (int)strcspn(from, ">"), from);
  return out;
}

static bool is_attention(const sw_op *op) { return op->code == SW_OP_ATTENTION || op->code == SW_OP_ATTENTION_GRAD; }

/* Each value is said as the plan has it; returns how many of these are results of attentions and in the text of other
 * ops. */
static int expect_said(const char *name, const sw_plan *plan, const sw_graph *plain, const char *in) {
  const sw_graph *g = plan->job.graph;
  int said = 0;
  for (sw_id v = 0; v < g->n_values; v++) {
    const sw_id written = sw_graph_value_named(plain, g->values[v].name);
    char got[128];
    sw_sharding s;
    sw_text want = {0};
    if (g->values[v].def < 0 || !constraint_of(in, g->values[v].name, got, sizeof got)) continue;
    sw_plan_value_sharding(plan, v, &s);
    if (s.n_partial) continue; /* it may be said as those that read it want its sum */
    assert_ok(sw_sharding_print_as(sw_machine_mesh(plan->job.machine), &s, SW_FORM_SDY, &want, &diag));
    if (strcmp(got, sw_text_str(&want)) != 0) fail_msg("%s: '%s' is said %s", name, g->values[v].name, got);
    sw_text_free(&want);
    const sw_id def = written < 0 ? -1 : plain->values[written].def;
    said += def >= 0 && !is_attention(&plain->ops[def]) && is_attention(&g->ops[g->values[v].def]);
  }
  return said;
}

/* -1: the plan drawn fits no device. */
static int expect_constraints(const char *name, const sw_program *fused, const sw_program *plain, sw_rng *rng) {
  static const char *const kMeshes[] = {"x=2", "x=2,y=2"};
  sw_arena arena = {0};
  sw_text t = {0};
  sw_plan plan;
  sw_program *again;
  int said = -1;
  sw_machine *machine = machine_of("local", kMeshes[sw_rng_below(rng, 2)], &arena);
  if (!random_plan(JOB(sw_program_graph(fused), machine), rng, &arena, &plan, &diag)) {
    assert_ok(sw_program_emit(fused, &plan, "sdy", &t, &diag));
    assert_ok(sw_program_parse("again.mlir", t.at, t.n, NULL, &again, &diag));
    expect_same(name, sw_program_graph(again), sw_program_graph(plain), 0.5);
    char *others = strstr(t.at, "func.func private"); /* their names are others */
    if (others) *others = '\0';
    const bool loops = strstr(t.at, "stablehlo.while"); /* names of one body may be others in the next */
    said = loops ? 0 : expect_said(name, &plan, sw_program_graph(plain), t.at);
    sw_program_destroy(again);
  }
  sw_text_free(&t);
  sw_arena_deinit(&arena);
  return said;
}

static void constraints_are_of_the_text(void **state) {
  (void)state;
  sw_rng rng;
  int said = 0, plans = 0;
  sw_rng_seed(&rng, check_seed(11));
  for (size_t i = 0; i < sizeof kTexts / sizeof *kTexts; i++) {
    sw_program *fused = read_text(kTexts[i].name, true), *plain = read_text(kTexts[i].name, false);
    for (int n = 0; n < check_scale(4); n++) {
      const int more = expect_constraints(kTexts[i].name, fused, plain, &rng);
      said += more > 0 ? more : 0;
      plans += more >= 0;
    }
    sw_program_destroy(fused);
    sw_program_destroy(plain);
  }
  print_message("%d results of attentions are said in %d plans\n", said, plans);
  assert_true(said > 0);
}

/* --- plans, executed ---------------------------------------------------------------------------------------------- */

static bool plan_runs(const char *name, const sw_graph *g, sw_rng *rng) {
  static const char *const kMeshes[] = {"x=2,y=2", "x=3", "x=4"};
  sw_arena arena = {0};
  sw_plan plan;
  sw_validation v;
  const char *mesh = kMeshes[sw_rng_below(rng, 3)];
  const bool drawn = random_plan(JOB(g, machine_of("local", mesh, &arena)), rng, &arena, &plan, &diag) == SW_OK;
  if (drawn) {
    assert_ok(sw_validate(&plan, &(sw_validate_options){.seed = 3, .intermediates = true}, &arena, &v, &diag));
    if (!v.matches)
      fail_msg("%s on %s: a plan differs from one device, at %s", name, mesh, v.first_bad_op ? v.first_bad_op : "?");
  }
  sw_arena_deinit(&arena);
  return drawn;
}

static void plans_of_fused_programs_run(void **state) {
  (void)state;
  sw_rng rng;
  int plans = 0;
  sw_rng_seed(&rng, check_seed(5));
  for (size_t i = 0; i < sizeof kTexts / sizeof *kTexts; i++) {
    sw_program *fused = read_text(kTexts[i].name, true);
    for (int n = 0; n < check_scale(3); n++) plans += plan_runs(kTexts[i].name, sw_program_graph(fused), &rng);
    sw_program_destroy(fused);
  }
  print_message("%d plans are executed\n", plans);
  assert_true(plans > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(programs_of_jax_are_fused), cmocka_unit_test(programs_of_pytorch_are_fused),
      cmocka_unit_test(constraints_are_of_the_text), cmocka_unit_test(plans_of_fused_programs_run)};
  return cmocka_run_group_tests_name("fuse_programs", tests, NULL, NULL);
}
