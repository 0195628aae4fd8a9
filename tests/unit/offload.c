/* What is offloaded: when a device holds it, what it costs, the host's memory, and the best choice against all others.
 */
#include <math.h>
#include <string.h>

#include "gen/gen.h"
#include "shardwright/model_json.h"
#include "shardwright/profile.h"
#include "shardwright/schedule.h"
#include "support/job.h"
#include "support/meshes.h"
#include "support/random_plan.h"
#include "support/same.h"

static sw_graph *step(void) {
  const sw_gen_arg args[] = {{"mode", "train"}, {"layers", "3"}, {"hidden", "8"}, {"batch", "512"}};
  sw_graph *g;
  assert_ok(sw_gen_model("mlp", args, 4, &g, &diag));
  return g;
}

/* A machine a thousand times slower than an H100, whose kernels start at once, with a link to a host. */
static const sw_machine *machine_with(double bytes_per_s, int64_t memory_bytes, sw_arena *arena) {
  const sw_machine *h100 = machine_of("dgx-h100", "x=2", arena);
  sw_profile *p = sw_arena_copy(arena, sw_machine_profile(h100), 1, sizeof *p, &diag);
  sw_machine *m;
  assert_non_null(p);
  p->launch_s = 0;
  for (int k = 0; k < SW_PRICED_COUNT; k++) p->kernel[k].known = false;
  for (int t = 0; t < SW_DTYPE_COUNT; t++) p->flop_per_s[t] /= 1000;
  p->memory_bytes_per_s /= 1000;
  p->host_bytes_per_s = bytes_per_s;
  p->host_memory_bytes = memory_bytes;
  assert_ok(sw_machine_build(arena, p, sw_machine_mesh(h100), &m, &diag));
  return m;
}

static void offered(const sw_graph *g, sw_arena *arena, sw_schedule *out) {
  sw_schedule_spec spec;
  assert_ok(sw_recompute_spec(g, SW_RECOMPUTE_SEARCH, true, arena, &spec, &diag));
  bool *dear = sw_arena_alloc(arena, (size_t)g->n_ops + 1, sizeof *dear, &diag);
  assert_non_null(dear);
  for (sw_id i = 0; i < g->n_ops; i++) dear[i] = sw_op_class_of(g->ops[i].code) == SW_OPS_CONTRACTION;
  assert_ok(sw_schedule_offer_host(g, dear, arena, &spec, &diag));
  assert_ok(sw_schedule_make(g->written, &spec, arena, out, &diag));
}

/* Nothing is made again; of what can be, that of these bits is offloaded, the rest kept. Returns how many values can
 * be. */
static int choose(const sw_schedule *choices, uint64_t bits, sw_arena *arena, sw_schedule *out) {
  const sw_graph *g = choices->stages[0].graph;
  int8_t *takes = sw_arena_alloc(arena, (size_t)g->n_ops, 1, &diag);
  int *number = sw_arena_alloc(arena, (size_t)choices->program->n_values, sizeof *number, &diag), n = 0;
  sw_schedule_spec spec;
  assert_true(takes && number);
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_entry *e = &choices->spec.entries[choices->stages[0].entry[i]];
    if (e->source == SW_SOURCE_OFFLOADED) number[e->value] = n++;
    const bool away = e->source && bits >> number[e->value] & 1;
    takes[i] = (int8_t)(e->instance || e->optional ? -1 : 0);
    if (e->source && !sw_entry_is_keep(e)) takes[i] = (int8_t)(away ? 0 : -1);
    if (sw_entry_is_keep(e) && !e->optional && g->ops[i].n_operands > 1)
      takes[i] = (int8_t)(sw_keep_operand(g, &g->ops[i], away && e->or_fetched ? SW_WAY_FETCHED : SW_WAY_KEPT) + 1);
  }
  assert_ok(sw_schedule_chosen(choices, takes, arena, &spec, &diag));
  assert_ok(sw_schedule_make(choices->written, &spec, arena, out, &diag));
  return n;
}

static int32_t count_offloads(const sw_graph *g) {
  int32_t n = 0;
  for (sw_id i = 0; i < g->n_ops; i++) n += g->ops[i].code == SW_OP_OFFLOAD;
  return n;
}

static sw_plan_options within(int64_t capacity) {
  return (sw_plan_options){.solve = {.work_limit = 20000000, .threads = 1}, .selection.capacity_bytes = capacity};
}

static const sw_timed *timed_op(const sw_breakdown *a, sw_id op) {
  for (int32_t i = 0; i < a->timeline->n; i++)
    if (a->timeline->at[i].reshard < 0 && a->timeline->at[i].op == op) return &a->timeline->at[i];
  fail_msg("op %d is not on the timeline", op);
  return NULL;
}

/* Does a device hold the value whenever a kernel runs? Of plans without reshards, whose kernels run in order. */
static bool is_held_beside(const sw_breakdown *a, sw_id value, double from_s, double to_s, int *seen) {
  const double kRounding = 1e-12;
  for (int32_t k = 0; k < a->timeline->n && !a->n_reshards; k++) {
    const sw_timed *e = &a->timeline->at[k];
    bool held = false;
    if (e->stream != SW_STREAM_WORK || e->reshard >= 0 || e->end_s <= e->start_s || e->end_s <= from_s + kRounding ||
        e->start_s >= to_s - kRounding)
      continue;
    for (int32_t l = 0; l < a->n_live; l++) {
      const sw_live *x = &a->live[l];
      held = held || (x->value == value && x->steps.first <= e->op && x->steps.last >= e->op);
    }
    if (!held) return false;
    ++*seen;
  }
  return true;
}

/* Copies run one way each, in order, and are held meanwhile. */
static void judge_copies(const sw_plan *p, const sw_breakdown *a, int *seen) {
  const double kRounding = 1e-9;
  const sw_graph *g = p->job.graph;
  double all_s[2] = {0};
  for (sw_id i = 0; i < g->n_ops; i++) {
    if (g->ops[i].code != SW_OP_OFFLOAD) continue;
    const sw_id value = g->ops[i].operands[0], back = g->values[g->ops[i].results[0]].uses[0].op;
    const sw_timed *there = timed_op(a, i), *here = timed_op(a, back);
    assert_true(there->stream == SW_STREAM_TO_HOST && here->stream == SW_STREAM_FROM_HOST);
    assert_true(there->start_s >= timed_op(a, g->values[value].def)->end_s && here->start_s >= there->end_s);
    assert_true(is_held_beside(a, value, there->start_s, there->end_s, seen));
    const sw_value *fetched = &g->values[g->ops[back].results[0]];
    const double taken_s = fetched->n_uses ? timed_op(a, fetched->uses[0].op)->start_s : here->end_s;
    assert_true(taken_s >= here->end_s);
    assert_true(is_held_beside(a, g->ops[back].results[0], here->start_s, taken_s, seen));
    all_s[0] += a->op[i].local_s;
    all_s[1] += a->op[back].local_s;
  }
  for (int k = 0; k < 2; k++) {
    const double busy_s = a->timeline->busy_s[SW_STREAM_TO_HOST + k];
    assert_true(fabs(busy_s - all_s[k]) <= kRounding * busy_s && busy_s <= a->total_s * (1 + kRounding));
  }
}

/* On a timeline copies run beside kernels; nothing takes less than is proven. */
static void judge_timed(const sw_plan *summed, const sw_breakdown *sum, sw_rng *r, sw_arena *arena, int *seen) {
  const double kRounding = 1e-9;
  const sw_plan_options o = within(INT64_MAX);
  sw_plan plan = *summed, best;
  sw_breakdown a;
  plan.job.overlap = SW_OVERLAP_COMPILER;
  assert_ok(sw_plan_breakdown(&plan, arena, &a, &diag));
  assert_true(a.sum_s == sum->sum_s && a.total_s <= a.sum_s * (1 + kRounding) && a.peak_bytes >= sum->peak_bytes);
  judge_copies(&plan, &a, seen);
  assert_ok(sw_plan_build(&plan.job, arena, &best, &diag)); /* whole everywhere: nothing is resharded */
  assert_ok(sw_plan_breakdown(&best, arena, &a, &diag));
  judge_copies(&best, &a, seen);
  assert_ok(sw_plan_search(&plan.job, &o, arena, &best, &diag));
  assert_ok(sw_plan_breakdown(&best, arena, &a, &diag));
  judge_copies(&best, &a, seen);
  const double bound_s = sw_plan_bound_s(&best, &a);
  for (int n = 0; n < 8; n++) {
    if (n && random_plan(&plan.job, r, arena, &plan, NULL)) continue;
    assert_ok(sw_plan_breakdown(&plan, arena, &a, &diag));
    if (a.total_s < bound_s * (1 - kRounding))
      fail_msg("a plan takes %.9g s, and the bound is %.9g s", a.total_s, bound_s);
  }
}

/* Of any plan, each by itself and compiled. */
static void it_is_held_up_to_there_and_from_there_on(void **state) {
  (void)state;
  const double kRate = 1e9;
  int seen = 0;
  sw_rng r;
  sw_rng_seed(&r, check_seed(1));
  for (int k = 0; k < check_scale(12); k++) {
    sw_arena arena = {0};
    sw_schedule choices, s;
    sw_graph *g = step();
    const sw_machine *m = machine_with(kRate, INT64_MAX, &arena);
    offered(g, &arena, &choices);
    (void)choose(&choices, sw_rng_next(&r) | 1, &arena, &s);
    const sw_graph *on = s.stages[0].graph;
    const sw_job j = job_under(on, m, k & 1 ? "inductor" : "none", &arena);
    sw_plan plan;
    sw_breakdown a;
    int64_t host = 0;
    assert_true(count_offloads(on) > 0);
    assert_ok(random_plan(&j, &r, &arena, &plan, &diag));
    assert_ok(sw_plan_verify(&plan, &diag));
    assert_ok(sw_plan_breakdown(&plan, &arena, &a, &diag));
    for (sw_id i = 0; i < on->n_ops; i++) {
      if (on->ops[i].code != SW_OP_OFFLOAD) continue;
      const sw_value *away = &on->values[on->ops[i].results[0]];
      const int64_t bytes = sw_strategy_host_bytes(on, &on->ops[i], &plan.ops[i]);
      const sw_id back = away->uses[0].op;
      host += bytes;
      assert_true(away->n_uses == 1 && on->ops[back].code == SW_OP_FETCH && bytes > 0);
      assert_true(fabs(a.op[i].local_s + a.op[back].local_s - 2 * (double)bytes / kRate) <= 1e-9 * a.op[i].local_s);
      for (int32_t l = 0; l < a.n_live; l++) {
        const sw_live *held = &a.live[l];
        if (held->value == on->ops[i].operands[0]) assert_true(held->steps.last <= i);
        if (held->value == on->ops[i].results[0]) assert_int_equal(held->bytes, 0);
        if (held->value == on->ops[back].results[0]) assert_true(held->steps.first >= back);
      }
    }
    assert_int_equal(host, sw_plan_host_bytes(&plan));
    judge_timed(&plan, &a, &r, &arena, &seen);
    gives_the_same(&plan, g, &arena);
    sw_schedule_deinit(&s);
    sw_schedule_deinit(&choices);
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
  print_message("%d kernels beside copies\n", seen);
  assert_true(seen > 0);
}

static double planned_s(const sw_job *j, int64_t capacity, sw_breakdown *a, sw_arena *arena) {
  const sw_plan_options o = within(capacity);
  sw_plan plan;
  if (sw_plan_search(j, &o, arena, &plan, NULL)) return HUGE_VAL;
  assert_ok(sw_plan_breakdown(&plan, arena, a, &diag));
  return a->total_s;
}

/* Of all sets of values that can be offloaded, each planned by itself. */
static double best_set_s(const sw_job *j, int64_t capacity) {
  sw_arena arena = {0};
  sw_schedule choices, s;
  double best = HUGE_VAL;
  offered(j->graph, &arena, &choices);
  for (uint64_t bits = 0, n = 0; bits < UINT64_C(1) << n || !bits; bits++) {
    sw_arena mem = {0};
    sw_job job;
    sw_breakdown a;
    n = (uint64_t)choose(&choices, bits, &mem, &s);
    assert_in_range(n, 1, 8);
    assert_ok(sw_job_of_stage(j, &s, 0, &mem, &job, &diag));
    best = fmin(best, planned_s(&job, capacity, &a, &mem));
    sw_schedule_deinit(&s);
    sw_arena_deinit(&mem);
  }
  sw_schedule_deinit(&choices);
  sw_arena_deinit(&arena);
  return best;
}

/* A link that costs next to nothing is taken, as far as the host has room. */
static void judge_against_sets(sw_overlap overlap) {
  sw_arena arena = {0};
  sw_graph *g = step();
  int64_t host_bytes = INT64_C(1) << 40;
  sw_breakdown written;
  sw_job first = job_under(g, machine_with(1e18, host_bytes, &arena), "inductor", &arena);
  first.overlap = overlap;
  const double written_s = planned_s(&first, INT64_MAX, &written, &arena);
  const int64_t capacity = written.peak_bytes * 7 / 8;
  const double sets_s = best_set_s(&first, capacity);
  for (int k = 0; k < 3; k++) {
    const sw_machine *m = machine_with(1e18, host_bytes, &arena);
    sw_job j = job_under(g, m, "inductor", &arena);
    j.overlap = overlap;
    const sw_plan_options o = within(capacity);
    sw_schedule s;
    sw_plan plan;
    sw_breakdown a;
    assert_ok(sw_plan_search_sources(&j, j.request, &o, &arena, &s, &plan, &diag));
    assert_ok(sw_plan_breakdown(&plan, &arena, &a, &diag));
    const int64_t held = sw_plan_host_bytes(&plan);
    print_message("%lld of %lld bytes, %lld of %lld on the host: %.4g us, proven %.4g; sets %.4g, as written %.4g\n",
                  (long long)a.peak_bytes, (long long)capacity, (long long)held, (long long)host_bytes, 1e6 * a.total_s,
                  1e6 * sw_plan_bound_s(&plan, &a), 1e6 * sets_s, 1e6 * written_s);
    assert_true(a.peak_bytes <= capacity && held <= host_bytes);
    assert_true(k > 0 || (held > 0 && sw_plan_bound_s(&plan, &a) <= sets_s * (1 + 1e-6) && a.total_s <= sets_s * 1.05));
    gives_the_same(&plan, g, &arena);
    sw_schedule_deinit(&s);
    host_bytes = k ? 0 : held / 2;
  }
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
}

static void no_set_is_better_than_what_is_proven(void **state) {
  (void)state;
  judge_against_sets(SW_OVERLAP_NONE);
  judge_against_sets(SW_OVERLAP_COMPILER);
}

static void wrong_lists_are_refused(void **state) {
  (void)state;
  sw_arena arena = {0};
  sw_graph *g = step();
  sw_schedule choices, s;
  sw_entry *entries;
  offered(g, &arena, &choices);
  sw_schedule_spec spec = choices.spec;
  spec.entries = entries = sw_arena_copy(&arena, spec.entries, (size_t)spec.n_entries, sizeof *entries, &diag);
  assert_non_null(entries);
  spec.n_entries = 0;
  for (int32_t i = 0; i < choices.spec.n_entries; i++)
    if (entries[i].source != SW_SOURCE_OFFLOADED) entries[spec.n_entries++] = entries[i];
  assert_int_equal(sw_schedule_make(g->written, &spec, &arena, &s, &diag), SW_E_INPUT);
  assert_non_null(strstr(diag.text, "is fetched before it is offloaded"));
  sw_schedule_deinit(&choices);
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
}

/* What is on the host is fetched before anything else is done with it, and whole stacks are there. */
static void what_is_half_on_the_host_is_refused(void **state) {
  (void)state;
  static const char kAway[] = "{\"op\": \"offload\", \"inputs\": [\"x\"], \"outputs\": [\"h\"]}, ";
  static const struct {
    const char *before, *op, *inputs, *output, *says;
  } kWrong[] = {{kAway, "exponential", "\"h\"", "y", "'h' is read in memory of the host by y; expected a fetch of it"},
                {kAway, "exponential", "\"x\"", "h", "'h' is read in memory of the host by an output"},
                {kAway, "dynamic_update_slice", "\"x\", \"h\", \"zero\"", "x",
                 "'x' is put into memory of the host; expected an offload of it"},
                {"", "fetch", "\"x\"", "y", "'y' fetches 'x', which the device has; expected what is offloaded"}};
  for (size_t i = 0; i < sizeof kWrong / sizeof *kWrong; i++) {
    sw_text t = {0};
    sw_graph *g;
    diag = (sw_diag){0};
    sw_text_printf(
        &t,
        "{\"format\": \"shardwright-model\", \"version\": 1, \"name\": \"t\", \"values\": [{\"name\": \"x\", "
        "\"kind\": \"input\", \"dtype\": \"f32\", \"shape\": [4]}, {\"name\": \"zero\", \"kind\": "
        "\"constant\", \"dtype\": \"i32\", \"shape\": [], \"value\": 0}], \"ops\": [%s{\"op\": \"%s\", "
        "\"inputs\": [%s], \"outputs\": [\"y\"]}], \"outputs\": [\"%s\"]}",
        kWrong[i].before, kWrong[i].op, kWrong[i].inputs, kWrong[i].output);
    assert_int_equal(sw_model_parse("t.json", sw_text_str(&t), t.n, &g, &diag), SW_E_INPUT);
    if (!strstr(diag.text, kWrong[i].says)) fail_msg("%s", diag.text);
    sw_text_free(&t);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(it_is_held_up_to_there_and_from_there_on),
                                     cmocka_unit_test(no_set_is_better_than_what_is_proven),
                                     cmocka_unit_test(what_is_half_on_the_host_is_refused),
                                     cmocka_unit_test(wrong_lists_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
