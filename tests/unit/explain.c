/* Explanations and comparisons of plans: every alternative beside the plan that is changed by hand, and memory that
 * runs out anywhere. */
#include "check.h"

#include <math.h>

#include "support/meshes.h"

#include "shardwright/diff.h"
#include "shardwright/explain.h"
#include "shardwright/report.h"
#include "support/job.h"

typedef struct planned {
  sw_arena arena;
  sw_graph *g;
  sw_plan plan;
  sw_breakdown breakdown;
} planned;

/* A small model under a plan made by rule. */
static void make(planned *p, const char *model, sw_baseline rule) {
  *p = (planned){0};
  p->g = small_model(model);
  const sw_machine *machine = machine_of("dgx-h100", "x=2,y=2", &p->arena);
  assert_ok(sw_baseline_build(JOB(p->g, machine), rule, &p->arena, &p->plan, &diag));
  p->plan.capacity_bytes = INT64_MAX;
  assert_ok(sw_plan_breakdown(&p->plan, &p->arena, &p->breakdown, &diag));
}

static void drop(planned *p) {
  sw_graph_destroy(p->g);
  sw_arena_deinit(&p->arena);
}

/* The plan with the alternative in it, counted. */
static void check_alternative(planned *p, sw_id value, const sw_alternative *x) {
  const sw_graph *g = p->g;
  sw_arena a = {0};
  sw_breakdown b;
  sw_plan q = p->plan;
  sw_sharding made;
  q.ops = sw_arena_copy(&a, q.ops, (size_t)g->n_ops, sizeof *q.ops, &diag);
  q.args = sw_arena_copy(&a, q.args, (size_t)g->n_args, sizeof *q.args, &diag);
  q.outputs = sw_arena_copy(&a, q.outputs, (size_t)g->n_outputs, sizeof *q.outputs, &diag);
  for (int32_t i = 0; i < x->n_ops; i++) q.ops[x->ops[i]] = x->strategies[i];
  if (g->values[value].def < 0) q.args[g->values[value].def_index] = x->sharding;
  for (int32_t i = 0; i < g->n_outputs; i++)
    if (g->alias[i] == value) q.outputs[i] = x->sharding;
  assert_ok(sw_plan_verify(&q, &diag));
  assert_ok(sw_plan_breakdown(&q, &a, &b, &diag));
  sw_plan_value_sharding(&q, value, &made);
  assert_true(sw_sharding_equal(&made, &x->sharding));
  assert_true(fabs(b.total_s - x->total_s) <= 1e-12 * b.total_s);
  assert_int_equal(b.peak_bytes, x->peak_bytes);
  const double parts = x->op_s + x->value_s + x->others_s;
  assert_true(fabs(p->breakdown.total_s + parts - x->total_s) <= 1e-9 * x->total_s);
  sw_arena_deinit(&a);
}

/* No strategy that gives the sharding is cheaper, of ops that no other must follow. */
static void check_cheapest(planned *p, sw_id value, const sw_alternative *x) {
  const sw_graph *g = p->g;
  const sw_id def = g->values[value].def;
  sw_arena a = {0};
  sw_enumeration e;
  if (def < 0 || x->n_ops != 1) return;
  assert_ok(
      sw_strategies_enumerate(JOB(g, p->plan.job.machine), &g->ops[def], &(sw_enumerate_options){0}, &a, &e, &diag));
  const sw_strategy before = p->plan.ops[def];
  for (int32_t i = 0; i < e.n; i++) {
    sw_breakdown b;
    sw_sharding made;
    p->plan.ops[def] = e.at[i];
    sw_plan_value_sharding(&p->plan, value, &made);
    if (!sw_sharding_equal(&made, &x->sharding) || sw_plan_verify(&p->plan, NULL)) continue;
    assert_ok(sw_plan_breakdown(&p->plan, &a, &b, &diag));
    assert_true(b.total_s >= x->total_s * (1 - 1e-9));
  }
  p->plan.ops[def] = before;
  sw_arena_deinit(&a);
}

static void alternatives_cost_what_the_changed_plan_does(void **state) {
  (void)state;
  static const char *const kModels[] = {"mlp-train", "gpt2", "conv-train"};
  static const sw_baseline kRules[] = {SW_BASELINE_FSDP, SW_BASELINE_MEGATRON, SW_BASELINE_REPLICATED};
  int32_t checked = 0;
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(1));
  for (int round = check_scale(60); round > 0; round--) {
    const sw_alternative *found;
    int32_t n;
    planned p;
    make(&p, kModels[round % 3], kRules[round / 3 % 3]);
    const sw_id value = (sw_id)sw_rng_below(&rng, p.g->n_values);
    assert_ok(sw_alternatives_made(&p.plan, &p.breakdown, value, 4, &p.arena, &n, &found, &diag));
    for (int32_t i = 0; i < n; i++) {
      if (!found[i].legal) continue;
      assert_true(i == 0 || !found[i - 1].legal || found[i - 1].total_s <= found[i].total_s);
      check_alternative(&p, value, &found[i]);
      check_cheapest(&p, value, &found[i]);
      checked++;
    }
    drop(&p);
  }
  assert_true(checked > 60);
}

static void explanations_survive_failing_allocations(void **state) {
  (void)state;
  planned p;
  sw_rc rc = SW_E_RESOURCE;
  make(&p, "mlp-train", SW_BASELINE_FSDP);
  for (long n = 1; rc; n += 1 + n / 8) {
    sw_arena arena = {0};
    sw_text table = {0}, json = {0};
    sw_explanation e;
    const sw_explain_options o = {.top = 2, .peak = true, .name = "layers.1.*"};
    sw_mem_fail_after(n);
    rc = sw_explain_build(&p.plan, &p.breakdown, &o, &arena, &e, &diag);
    if (!rc) sw_explanation_table(&e, &table);
    if (!rc) sw_explanation_json(&e, &json);
    sw_mem_fail_after(0);
    rc = rc ? rc : table.rc ? table.rc : json.rc;
    assert_true(rc == SW_OK || rc == SW_E_RESOURCE);
    sw_text_free(&table);
    sw_text_free(&json);
    sw_arena_deinit(&arena);
  }
  drop(&p);
}

static void comparisons_survive_failing_allocations(void **state) {
  (void)state;
  planned p[2];
  sw_text reports[2] = {{0}, {0}};
  sw_rc rc = SW_E_RESOURCE;
  for (int i = 0; i < 2; i++) {
    make(&p[i], "mlp-train", i ? SW_BASELINE_FSDP : SW_BASELINE_REPLICATED);
    sw_report_json(&(sw_report){.plan = &p[i].plan, .breakdown = &p[i].breakdown}, &reports[i]);
  }
  const sw_diff_text was = {"was", sw_text_str(&reports[0]), reports[0].n},
                     now = {"now", sw_text_str(&reports[1]), reports[1].n};
  for (long n = 1; rc; n += 1 + n / 8) {
    sw_arena arena = {0};
    sw_text table = {0}, json = {0};
    sw_diff diff;
    sw_mem_fail_after(n);
    rc = sw_diff_build(&was, &now, &arena, &diff, &diag);
    if (!rc) sw_diff_table(&diff, &table);
    if (!rc) sw_diff_json(&diff, &json);
    sw_mem_fail_after(0);
    rc = rc ? rc : table.rc ? table.rc : json.rc;
    assert_true(rc == SW_OK || rc == SW_E_RESOURCE);
    if (!rc) assert_false(sw_diff_is_empty(&diff));
    sw_text_free(&table);
    sw_text_free(&json);
    sw_arena_deinit(&arena);
  }
  for (int i = 0; i < 2; i++) {
    sw_text_free(&reports[i]);
    drop(&p[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(alternatives_cost_what_the_changed_plan_does),
      cmocka_unit_test(explanations_survive_failing_allocations),
      cmocka_unit_test(comparisons_survive_failing_allocations),
  };
  return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
