/* Plans whose cuts must be even: against every plan of small graphs, each tried; and what is required all the same. */
#include "check.h"

#include "shardwright/emit.h"
#include "shardwright/plan.h"
#include "support/building.h"
#include "support/meshes.h"
#include "support/job.h"

enum { N_MODES = SW_EVEN_ALWAYS + 1 };

/* --- evenness by what a device holds ------------------------------------------------------------------------------ */

static bool divides(const sw_sharding *s, const sw_type *t) {
  for (int k = 0; k < t->rank; k++)
    if (sw_sharding_block(s, k, t->dims[k]) * sw_sharding_shards(s, k) != t->dims[k]) return false;
  return true;
}

static bool ends_divide(const sw_plan *p) {
  const sw_graph *g = p->job.graph;
  bool all = true;
  for (int32_t i = 0; i < g->n_args; i++) all = all && divides(&p->args[i], &g->values[g->args[i]].type);
  for (int32_t i = 0; i < g->n_outputs; i++) all = all && divides(&p->outputs[i], &g->values[g->outputs[i]].type);
  return all;
}

static bool values_divide(const sw_plan *p) {
  const sw_graph *g = p->job.graph;
  bool all = true;
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    for (int k = 0; k < op->n_operands + op->n_results; k++) {
      sw_sharding s;
      sw_strategy_port(op, &p->ops[i], k, &s);
      all = all && divides(&s, sw_port_type(g, op, k));
    }
  }
  return all;
}

static bool admits(sw_even even, const sw_plan *p) {
  return even == SW_EVEN_NEVER || (ends_divide(p) && (even == SW_EVEN_ARGUMENTS || values_divide(p)));
}

/* --- all plans of two products ------------------------------------------------------------------------------------ */

typedef struct trial {
  sw_plan plan;
  sw_listed_shardings of_arg[3], of_output;
  sw_enumeration of_op[2];
  sw_arena *arena;
  int64_t least[N_MODES]; /* cost units */
} trial;

static void judge(trial *t) {
  sw_arena scratch = {0};
  sw_breakdown a;
  if (sw_plan_verify(&t->plan, &diag) == SW_OK) {
    assert_ok(sw_plan_breakdown(&t->plan, &scratch, &a, &diag));
    for (int even = 0; even < N_MODES; even++)
      if (admits((sw_even)even, &t->plan) && sw_cost_units(t->plan.job.machine, a.total_s) < t->least[even])
        t->least[even] = sw_cost_units(t->plan.job.machine, a.total_s);
  }
  sw_arena_deinit(&scratch);
}

static void try_all(trial *t, int at) {
  if (at < 3) {
    for (int32_t i = 0; i < t->of_arg[at].n; i++) {
      t->plan.args[at] = t->of_arg[at].at[i];
      try_all(t, at + 1);
    }
  } else if (at < 5) {
    for (int32_t i = 0; i < t->of_op[at - 3].n; i++) {
      t->plan.ops[at - 3] = t->of_op[at - 3].at[i];
      try_all(t, at + 1);
    }
  } else {
    for (int32_t i = 0; i < t->of_output.n; i++) {
      t->plan.outputs[0] = t->of_output.at[i];
      judge(t);
    }
  }
}

static void list(const sw_graph *g, const sw_machine *m, sw_id value, sw_arena *arena, sw_listed_shardings *out) {
  const sw_type *type = &g->values[value].type;
  assert_ok(sw_shardings_enumerate(NULL, sw_machine_mesh(m), type->rank, type->dims, 0, arena, out, &diag));
}

static void best_of_all(const sw_graph *g, const sw_machine *m, sw_arena *arena, trial *t) {
  *t = (trial){.arena = arena, .least = {INT64_MAX, INT64_MAX, INT64_MAX}};
  assert_ok(sw_plan_build(JOB(g, m), arena, &t->plan, &diag));
  for (int i = 0; i < 3; i++) list(g, m, g->args[i], arena, &t->of_arg[i]);
  list(g, m, g->outputs[0], arena, &t->of_output);
  for (int i = 0; i < 2; i++)
    assert_ok(sw_strategies_enumerate(JOB(g, m), &g->ops[i], NULL, arena, &t->of_op[i], &diag));
  try_all(t, 0);
}

static sw_graph *two_products(const int64_t n[4]) {
  const sw_attr a[] = {INTS(LHS_CONTRACT, 1), INTS(RHS_CONTRACT, 0)};
  sw_graph *g = new_graph();
  const sw_id x = arg(g, "x", SW_F32, 2, (int64_t[]){n[0], n[1]}), w = arg(g, "w", SW_F32, 2, (int64_t[]){n[1], n[2]}),
              v = arg(g, "v", SW_F32, 2, (int64_t[]){n[2], n[3]});
  const sw_id y = add(g, SW_OP_DOT, 2, (sw_id[]){x, w}, 2, a);
  output(g, "z", add(g, SW_OP_DOT, 2, (sw_id[]){y, v}, 2, a));
  return seal(g);
}

static int64_t search(const sw_job *j, sw_even even, double gap, sw_arena *arena, sw_plan *plan) {
  sw_plan_options o = {.solve = {.gap = gap, .work_limit = gap > 0 ? 10000000 : 0}, .selection.even = even};
  assert_ok(sw_plan_search(j, &o, arena, plan, &diag));
  assert_ok(sw_plan_verify(plan, &diag));
  return plan->cost_units;
}

/* Costs of the search count a unit or so for each step and argument, to break ties. */
static void the_best_even_plan_is_found(void **state) {
  (void)state;
  static const int64_t kSizes[] = {3, 1023, 1024, 2047, 4095, 4096, 9000};
  static const char *const kMeshes[] = {"x=2", "x=3", "x=4"};
  const uint64_t seed = check_seed(1);
  const int64_t kTies = 64;
  sw_rng r;
  int dearer = 0, n = check_scale(16);
  sw_rng_seed(&r, seed);
  for (int i = 0; i < n; i++) {
    sw_arena arena = {0};
    int64_t sizes[4], cost[N_MODES];
    trial t;
    for (int k = 0; k < 4; k++) sizes[k] = kSizes[sw_rng_below(&r, 7)];
    const sw_machine *m = machine_of("dgx-h100", kMeshes[sw_rng_below(&r, 3)], &arena);
    sw_graph *g = two_products(sizes);
    best_of_all(g, m, &arena, &t);
    for (int even = 0; even < N_MODES; even++) {
      sw_plan plan;
      cost[even] = search(JOB(g, m), (sw_even)even, 0, &arena, &plan);
      assert_true(admits((sw_even)even, &plan));
      assert_in_range(cost[even], t.least[even], t.least[even] + kTies);
    }
    dearer += cost[SW_EVEN_ALWAYS] > cost[SW_EVEN_NEVER] + kTies;
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
  print_message("%d models; even cuts cost more in %d\n", n, dearer);
  assert_true(dearer > n / 10);
}

/* --- whole models ------------------------------------------------------------------------------------------------- */

static void models_are_cut_evenly(void **state) {
  (void)state;
  static const char *const kModels[] = {"resnet", "mixtral", "dlrm-train", "llama3-decode"};
  for (size_t i = 0; i < sizeof kModels / sizeof *kModels; i++) {
    if (!check_turn(1, (int)i)) continue;
    sw_arena arena = {0};
    const sw_machine *m = machine_of("local", "x=2,y=3", &arena);
    sw_graph *g = small_model(kModels[i]);
    for (int even = 0; even < N_MODES; even++) {
      sw_plan plan;
      (void)search(JOB(g, m), (sw_even)even, 0.01, &arena, &plan);
      assert_true(admits((sw_even)even, &plan));
    }
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
}

/* --- what is required stays --------------------------------------------------------------------------------------- */

typedef struct bench {
  sw_arena arena;
  const sw_machine *m;
  sw_graph *g;
} bench;

static void begin(bench *b, const int64_t sizes[4]) {
  *b = (bench){0};
  b->m = machine_of("dgx-h100", "x=2,y=4", &b->arena);
  b->g = two_products(sizes);
}

static void end(bench *b) {
  sw_graph_destroy(b->g);
  sw_arena_deinit(&b->arena);
}

/* Names the value, and writes nothing. */
static void refuses(sw_rc (*emit)(const sw_plan *p, sw_text *out, sw_diag *d), const sw_plan *plan, const char *why) {
  diag = (sw_diag){0};
  sw_text out = {0};
  assert_int_equal(emit(plan, &out, &diag), SW_E_INPUT);
  assert_non_null(strstr(diag.text, why));
  assert_int_equal(out.n, 0);
  sw_text_free(&out);
}

static void required_cuts_stay_and_are_refused(void **state) {
  (void)state;
  bench b;
  sw_plan plan;
  begin(&b, (int64_t[]){8, 30, 16, 10});
  const sw_graph *g = b.g;
  sw_annotation a = {.value = g->args[1], .op = -1, .required = true, .sharding = sw_sharding_replicated(2)};
  assert_true(sw_sharding_push(&a.sharding, 0, sw_axis_whole(sw_machine_mesh(b.m), 1)));
  sw_request pinned = *g->written;
  pinned.annotations = &a;
  pinned.n_annotations = 1;
  (void)search(&(sw_job){g, &pinned, NULL, b.m}, SW_EVEN_ALWAYS, 0, &b.arena, &plan);
  assert_true(sw_sharding_equal(&plan.args[1], &a.sharding));
  assert_true(divides(&plan.args[0], &g->values[g->args[0]].type));
  assert_true(divides(&plan.args[2], &g->values[g->args[2]].type));
  refuses(sw_emit_jax, &plan, "argument 'w', f32[30,16], is cut as [[y],[]]");
  sw_text out = {0};
  assert_ok(sw_emit_dtensor(&plan, &out, &diag)); /* blocks of one axis are as torch.chunk has them */
  sw_text_free(&out);
  end(&b);
}

/* 10 rows over 2 x 4 devices: DTensor cuts 5 rows in four, we 10 in eight. */
static void dtensor_nests_blocks(void **state) {
  (void)state;
  bench b;
  sw_plan plan;
  begin(&b, (int64_t[]){10, 8, 8, 8});
  assert_ok(sw_plan_build(JOB(b.g, b.m), &b.arena, &plan, &diag));
  for (int axis = 0; axis < 2; axis++)
    assert_true(sw_sharding_push(&plan.args[0], 0, sw_axis_whole(sw_machine_mesh(b.m), axis)));
  refuses(sw_emit_dtensor, &plan, "argument 'x' is cut unevenly by several axes");
  end(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_best_even_plan_is_found), cmocka_unit_test(models_are_cut_evenly),
      cmocka_unit_test(required_cuts_stay_and_are_refused), cmocka_unit_test(dtensor_nests_blocks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
