/* Collectives that are done together:
 *
 *   - which values wait for others, beside ways through random programs that are all walked;
 *   - prices of parts add up to the price of a call, whatever the group;
 *   - the search's cost of a plan is the plan's, the plan costs no more than when each collective is a call, and its
 *     program, of fewer calls, gives what one device gives.
 */
#include <math.h>

#include "check.h"

#include "gen/gen.h"
#include "kernel/combine.h"
#include "shardwright/plan.h"
#include "shardwright/validate.h"
#include "support/meshes.h"
#include "support/program.h"
#include "support/job.h"

/* --- which values wait -------------------------------------------------------------------------------------------- */

/* Ops on the longest way that ends with the op, and on that which begins with it. */
static int32_t upto(const sw_graph *g, sw_id op) {
  int32_t most = 0;
  for (int i = 0; i < g->ops[op].n_operands; i++) {
    const sw_id def = g->values[g->ops[op].operands[i]].def;
    const int32_t here = def < 0 ? 0 : upto(g, def);
    most = here > most ? here : most;
  }
  return most + 1;
}
static int32_t from(const sw_graph *g, sw_id op) {
  int32_t most = 0;
  const sw_value *v = &g->values[g->ops[op].results[0]];
  for (int32_t u = 0; u < v->n_uses; u++) {
    const int32_t here = v->uses[u].op < 0 ? 0 : from(g, v->uses[u].op);
    most = here > most ? here : most;
  }
  return most + 1;
}

static bool is_critical(const sw_graph *g, int32_t length, sw_id op) {
  return upto(g, op) - 1 + from(g, op) > length - SW_LEAST_WAIT;
}

static bool waits(const sw_graph *g, int32_t length, const sw_value *v, int64_t most_bytes) {
  const int32_t made = v->def < 0 ? 0 : upto(g, v->def);
  bool candidate = v->def < 0, delivered = true, soon = false;
  for (int32_t u = 0; u < v->n_uses; u++) {
    const sw_id op = v->uses[u].op;
    soon = soon || length - (op < 0 ? 0 : from(g, op)) - made < SW_LEAST_WAIT;
    delivered = delivered && op < 0;
  }
  for (int i = 0; v->def >= 0 && i < g->ops[v->def].n_operands; i++) {
    const sw_id def = g->values[g->ops[v->def].operands[i]].def;
    candidate = candidate || (def >= 0 && is_critical(g, length, def));
  }
  return v->n_uses && (candidate || delivered) && !soon && sw_type_bytes(&v->type) <= most_bytes;
}

/* A chain, as layers are, of which arguments join and from which ops branch off. */
static sw_graph *random_program(sw_rng *rng) {
  sw_text ops = {0}, outputs = {0};
  sw_graph *g;
  const int chain = 8 + (int)sw_rng_below(rng, 30);
  sw_text_puts(&ops, "c0 = add(x, y)");
  for (int i = 1; i < chain; i++)
    sw_text_printf(&ops, "; c%d = %s(c%d, %s)", i, i % 2 ? "add" : "multiply", i - 1, i % 3 ? "y" : "z");
  sw_text_printf(&outputs, "c%d", chain - 1);
  for (int i = 0; i < 6; i++) {
    const int length = 1 + (int)sw_rng_below(rng, 20);
    sw_text_printf(&ops, "; b%d_0 = negate(c%d)", i, (int)sw_rng_below(rng, chain));
    for (int k = 1; k < length; k++) sw_text_printf(&ops, "; b%d_%d = exponential(b%d_%d)", i, k, i, k - 1);
    sw_text_printf(&outputs, ", b%d_%d", i, length - 1);
  }
  assert_ok(program_of("x f32 8; y f32 8; z f32 8", NULL, sw_text_str(&ops), sw_text_str(&outputs), &g, &diag));
  sw_text_free(&ops);
  sw_text_free(&outputs);
  return g;
}

static void values_wait_that_nobody_needs_soon(void **state) {
  (void)state;
  sw_rng rng;
  int waiting = 0, not_waiting = 0;
  sw_rng_seed(&rng, check_seed(41));
  for (int n = 0; n < check_scale(60); n++) {
    sw_arena arena = {0};
    const bool *combines;
    sw_graph *g = random_program(&rng);
    const int64_t most_bytes = sw_rng_below(&rng, 4) ? 1024 : 16; /* a value has 32 */
    int32_t length = 0;
    for (sw_id i = 0; i < g->n_ops; i++) length = upto(g, i) > length ? upto(g, i) : length;
    assert_ok(sw_combined_find(g, most_bytes, &arena, &combines, &diag));
    for (sw_id v = 0; v < g->n_values; v++) {
      const bool want = waits(g, length, &g->values[v], most_bytes);
      if (combines[v] != want) fail_msg("program %d: '%s' %s", n, g->values[v].name, want ? "waits" : "does not wait");
      *(want ? &waiting : &not_waiting) += 1;
    }
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
  assert_true(waiting > 0 && not_waiting > 0);
}

/* --- prices ------------------------------------------------------------------------------------------------------- */

static const char *const kMachines[][2] = {{"dgx-h100", "x=2,y=4"}, {"h100x64", "x=8,y=8"}, {"local", "x=2,y=2"}};

static void parts_add_up_to_a_call(void **state) {
  (void)state;
  static const sw_coll_op kOps[] = {SW_COLL_ALL_GATHER, SW_COLL_ALL_REDUCE, SW_COLL_REDUCE_SCATTER, SW_COLL_ALL_TO_ALL};
  const double call = 1 << 24;
  for (size_t k = 0; k < sizeof kMachines / sizeof *kMachines; k++) {
    sw_arena arena = {0};
    sw_machine *m = machine_of(kMachines[k][0], kMachines[k][1], &arena);
    assert_ptr_equal(sw_machine_combining(m), m);
    assert_ok(sw_machine_combine(m, 1 << 24, &arena, &diag));
    const sw_machine *parts = sw_machine_combining(m);
    for (int axes = 1; axes < 4; axes++) {
      sw_axis_ref refs[2];
      int n = 0;
      for (int a = 0; a < 2; a++)
        if (axes >> a & 1) refs[n++] = sw_axis_whole(sw_machine_mesh(m), a);
      for (int o = 0; o < 4; o++) {
        const double whole_s = sw_machine_collective_s(m, kOps[o], refs, n, call);
        const double part_s = sw_machine_collective_s(parts, kOps[o], refs, n, call / 16);
        const double alone_s = sw_machine_collective_s(m, kOps[o], refs, n, call / 16);
        if (kOps[o] == SW_COLL_ALL_TO_ALL)
          assert_true(fabs(part_s - alone_s) <= 1e-12 * alone_s); /* is not put together */
        else
          assert_true(fabs(16 * part_s - whole_s) <= 1e-9 * whole_s && part_s <= alone_s * (1 + 1e-9));
      }
    }
    sw_arena_deinit(&arena);
  }
}

/* --- plans -------------------------------------------------------------------------------------------------------- */

typedef struct searched {
  sw_plan plan;
  sw_breakdown b;
} searched;

static void search(const sw_job *j, sw_arena *arena, searched *out) {
  const sw_graph *g = j->graph;
  const sw_machine *m = j->machine;
  const sw_plan_options o = {.solve = {.time_limit_s = 60, .work_limit = 20000000, .threads = 1},
                             .selection = {.cut_heavy_ops = true}};
  assert_ok(sw_plan_search(j, &o, arena, &out->plan, &diag));
  assert_ok(sw_plan_breakdown(&out->plan, arena, &out->b, &diag));
  const double cost_s = sw_cost_seconds(m, out->plan.cost_units);
  const double roundings = (double)(g->n_ops + g->n_values) * 4 / sw_cost_units_per_s(m);
  if (fabs(cost_s - out->b.total_s) > roundings)
    fail_msg("%s: the search's cost is %g s, the plan's %g s", g->name, cost_s, out->b.total_s);
}

static int64_t calls_of(const sw_plan *p, const sw_passes *passes) {
  sw_spmd s;
  sw_spmd_cost cost;
  sw_plan with = *p;
  with.passes = passes;
  assert_ok(sw_partition(&with, &s, &diag));
  assert_ok(sw_spmd_price(&s, p->job.machine, &cost, &diag));
  sw_spmd_deinit(&s);
  return sw_spmd_cost_calls(&cost);
}

static void plans_are_priced_and_done_so(void **state) {
  (void)state;
  static const char *const kCompilers[] = {"eager", "xla"}, *const kTrained[] = {"mlp-train", "gpt2-train",
                                                                                 "mpt-train"};
  int64_t fewer = 0;
  for (int k = 0; k < 6; k++) {
    sw_arena arena = {0};
    searched alone = {0}, together = {0};
    sw_validation v;
    sw_graph *g = small_model(kTrained[k / 2]);
    sw_machine *m = machine_of("dgx-h100", k % 2 ? "x=4" : "x=2,y=2", &arena);
    const sw_job job = job_under(g, m, kCompilers[k % 2], &arena);
    search(&job, &arena, &alone);
    assert_ok(sw_machine_combine(m, job.kernels->combine_bytes, &arena, &diag));
    search(&job, &arena, &together);
    assert_true(together.b.total_s <= alone.b.total_s * (1 + 1e-9));
    sw_passes passes;
    assert_ok(sw_passes_parse("combine", &passes, &diag));
    passes.combine_bytes = job.kernels->combine_bytes;
    passes.combine_in_place = true;
    const int64_t without = calls_of(&together.plan, NULL), with = calls_of(&together.plan, &passes);
    assert_true(with <= without);
    fewer += without - with;
    together.plan.passes = &passes;
    assert_ok(sw_validate(&together.plan, &(sw_validate_options){.seed = 5, .timeout_s = 120}, &arena, &v, &diag));
    if (!v.matches) fail_msg("%s: '%s' differs", kTrained[k / 2], v.first_bad_op ? v.first_bad_op : "an output");
    print_message("%s, %s: %g -> %g ms; %lld calls, %lld together\n", kTrained[k / 2], kCompilers[k % 2],
                  alone.b.total_s * 1e3, together.b.total_s * 1e3, (long long)without, (long long)with);
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
  assert_true(fewer > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(values_wait_that_nobody_needs_soon),
                                     cmocka_unit_test(parts_add_up_to_a_call),
                                     cmocka_unit_test(plans_are_priced_and_done_so)};
  return cmocka_run_group_tests_name("combine", tests, NULL, NULL);
}
