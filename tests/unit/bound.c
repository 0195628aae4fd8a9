/* A plan's account is what the search counted, but for what decides between equals; its bound is never above it.
 *
 *   - choices at random, and plans that are searched for, of the small models under all compilers, and of programs
 * whose state comes back otherwise than it is held: what the problem counts for a plan and what the plan's account says
 *     differ by roundings and ties;
 *   - of those searched for, the bound in seconds is no more than the time, the gap follows from the two as the report
 *     has them, and a plan is optimal exactly where the integers agree.
 */
#include <math.h>

#include "check.h"

#include <cJSON.h>

#include "base/checked.h"
#include "shardwright/report.h"
#include "support/building.h"
#include "support/meshes.h"
#include "support/random_plan.h"

/* Units that decide between equals, and roundings: of an op, of an argument, of a copy with its break. */
enum { UNITS_OF_ITEM = 4 };

/* Of one run of each op and of each copy. */
static double runs_of(const sw_plan *p, const sw_breakdown *a) {
  double n = p->job.graph->n_args + p->job.graph->n_outputs;
  for (sw_id i = 0; i < p->job.graph->n_ops; i++) n += (double)p->job.graph->ops[i].repeats;
  for (int32_t i = 0; i < a->n_reshards; i++) n += (double)sw_value_repeats(p->job.graph, a->reshards[i].value);
  return n;
}

static void complain(const sw_plan *p, const sw_breakdown *a, const char *what) {
  sw_text mesh = {0};
  sw_mesh_print(sw_machine_mesh(p->job.machine), &mesh);
  fail_msg("%s on %s %s as by '%s' (%s): %s: %.17g s, %.17g s counted, bound %.17g s", p->job.graph->name,
           sw_profile_name(sw_machine_profile(p->job.machine)), sw_text_str(&mesh),
           p->job.kernels ? p->job.kernels->compiler : "none", p->origin, what, a->total_s,
           sw_cost_seconds(p->job.machine, p->cost_units), sw_plan_bound_s(p, a));
}

static double number(const cJSON *of, const char *key) {
  const cJSON *n = cJSON_GetObjectItem(of, key);
  assert_true(cJSON_IsNumber(n));
  return cJSON_GetNumberValue(n);
}

/* As it is printed. */
static void judge_report(const sw_plan *p, const sw_breakdown *a) {
  const double kRounding = 1e-12;
  sw_text t = {0};
  sw_report_json(&(sw_report){.plan = p, .breakdown = a}, &t);
  cJSON *r = cJSON_ParseWithLength(t.at, t.n);
  assert_non_null(r);
  if (cJSON_GetObjectItem(r, "bound_s")) {
    const double total_s = number(r, "total_s"), bound_s = number(r, "bound_s"), gap = number(r, "gap");
    const bool optimal = strcmp(cJSON_GetStringValue(cJSON_GetObjectItem(r, "status")), "optimal") == 0;
    if (bound_s > total_s) complain(p, a, "the bound is above the time");
    if (fabs(total_s - bound_s - gap * total_s) > kRounding * total_s) complain(p, a, "the gap is another");
    if (optimal != (p->cost_units == p->bound_units && sw_plan_bound_is_proven(p))) complain(p, a, "the status");
    if (optimal && bound_s < total_s) complain(p, a, "it is optimal, and its bound is below it");
  }
  cJSON_Delete(r);
  sw_text_free(&t);
}

static void judge_cost(const sw_plan *p, const sw_breakdown *a) {
  const double kRounding = 1e-12;
  const double counted = (double)p->cost_units, units = a->total_s * sw_cost_units_per_s(p->job.machine);
  if (counted < units * (1 - kRounding)) complain(p, a, "the search counts less");
  if (counted > units * (1 + kRounding) + UNITS_OF_ITEM * runs_of(p, a)) complain(p, a, "the search counts more");
}

static void judge(const sw_plan *p, sw_arena *arena) {
  sw_breakdown a;
  assert_ok(sw_plan_breakdown(p, arena, &a, &diag));
  judge_cost(p, &a);
  judge_report(p, &a);
}

/* What the selection problem says of choices at random; returns of how many it says something. */
static int judge_choices(sw_rng *r, const sw_job *j, int n, sw_arena *arena) {
  const sw_selection_options o = {.enumerate = {.runs = SW_MAX_REFS}, .capacity_bytes = INT64_MAX};
  sw_selection *s;
  int64_t least;
  int32_t *choice;
  int said = 0;
  assert_ok(sw_selection_build(j, &o, arena, &s, &least, &diag));
  const sw_problem *p = sw_selection_problem(s);
  assert_non_null(choice = sw_arena_alloc(arena, (size_t)p->n_nodes, sizeof *choice, &diag));
  for (int k = 0; k < n; k++) {
    sw_plan plan;
    sw_breakdown a;
    for (int32_t i = 0; i < p->n_nodes; i++) choice[i] = (int32_t)sw_rng_below(r, p->nodes[i].n_choices);
    assert_ok(sw_plan_build(j, arena, &plan, &diag));
    sw_selection_decode(s, choice, plan.ops, plan.args, plan.outputs);
    assert_ok(sw_selection_stated(s, choice, arena, &plan.n_stated, &plan.stated, &diag));
    if (sw_plan_verify(&plan, NULL)) continue; /* what enters a loop and what leaves it */
    assert_ok(sw_selection_settle(s, choice, 1e-9, &diag));
    assert_ok(sw_plan_breakdown(&plan, arena, &a, &diag));
    plan.cost_units = sw_problem_cost(p, choice);
    judge_cost(&plan, &a);
    said++;
  }
  sw_selection_deinit(s);
  return said;
}

/* Of the plan's own peak, or none at all. */
static int64_t any_capacity(sw_rng *r, const sw_job *j, sw_arena *arena) {
  sw_plan other;
  sw_breakdown a;
  if (sw_rng_below(r, 2) || random_plan(j, r, arena, &other, NULL) || sw_plan_breakdown(&other, arena, &a, NULL))
    return 0;
  return sw_max_i64(1, a.peak_bytes / (1 + sw_rng_below(r, 3)));
}

typedef struct tally {
  int searched, chosen;
} tally;

static void search_any(sw_rng *r, const char *model, const char *compiler, tally *made) {
  static const char *const kProfiles[] = {"dgx-h100", "local", "h100x64", "uniform"};
  static const double kGaps[] = {0, 1e-3, 0.05};
  sw_arena arena = {0};
  sw_plan plan, start;
  sw_graph *g = small_model(model);
  sw_machine *m = machine_of(kProfiles[sw_rng_below(r, 4)], random_meshes[sw_rng_below(r, RANDOM_MESHES)], &arena);
  sw_job job;
  assert_ok(sw_job_make(compiler, g->written, m, &arena, &job, &diag));
  job.overlap = SW_OVERLAP_NONE; /* what the search counts is a sum */
  sw_plan_options o = {.solve = {.work_limit = 1000000 << sw_rng_below(r, 5), .gap = kGaps[sw_rng_below(r, 3)]},
                       .selection = {.even = (sw_even)sw_rng_below(r, 3), .args_whole = sw_rng_below(r, 4) == 0},
                       .simplicity = sw_rng_below(r, 2) ? 0.003 : 0};
  o.solve.threads = 1;
  o.selection.capacity_bytes = any_capacity(r, &job, &arena);
  if (sw_rng_below(r, 2) && !random_plan(&job, r, &arena, &start, NULL)) o.start = &start;
  if (!sw_plan_search(&job, &o, &arena, &plan, NULL)) {
    judge(&plan, &arena);
    made->searched++;
  }
  made->chosen += judge_choices(r, &job, 1, &arena);
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
}

static void small_models_under_all_compilers(void **state) {
  (void)state;
  static const char *const kCompilers[] = {"none", "eager", "xla", "xla-cpu", "inductor", "ideal"};
  const uint64_t seed = check_seed(1);
  const int n = check_scale(RANDOM_MODELS * 3);
  tally made = {0};
  sw_rng r;
  sw_rng_seed(&r, seed);
  for (int i = 0; i < n; i++)
    search_any(&r, random_models[i % RANDOM_MODELS], kCompilers[(i + i / RANDOM_MODELS) % 6], &made);
  print_message("%d searches, %d with a plan; %d choices\n", n, made.searched, made.chosen);
  assert_true(made.searched > n / 3 && made.chosen > n / 3);
}

/* --- a state that comes back -------------------------------------------------------------------------------------- */

/* The mean of what many ops have made becomes a part of the state, as batch statistics do. */
static sw_graph *running_mean(int64_t rows, int64_t columns, int length) {
  sw_graph *g = new_graph();
  sw_id mean;
  const sw_attr over_rows[] = {INTS(DIMS, 0), TEXT(KIND, "sum")};
  assert_ok(sw_graph_add_arg(g, "mean", SW_F32, 1, &columns, SW_VALUE_STATE, SW_NOWHERE, &mean, &diag));
  sw_id x = arg(g, "x", SW_F32, 2, (int64_t[]){rows, columns});
  const sw_id w = arg(g, "w", SW_F32, 2, (int64_t[]){columns, columns});
  const sw_attr contract[] = {INTS(LHS_CONTRACT, 1), INTS(RHS_CONTRACT, 0)};
  for (int i = 0; i < length; i++)
    x = i % 4 ? add(g, SW_OP_EXP, 1, &x, 0, NULL) : add(g, SW_OP_DOT, 2, (sw_id[]){x, w}, 2, contract);
  const sw_id sum = add(g, SW_OP_REDUCE, 1, &x, 2, over_rows);
  const sw_id now = add(g, SW_OP_ADD, 2, (sw_id[]){mean, sum}, 0, NULL);
  assert_ok(sw_graph_add_output(g, "mean", now, mean, SW_NOWHERE, &diag));
  output(g, "y", x);
  return seal(g);
}

static void a_state_comes_back(void **state) {
  (void)state;
  static const char *const kCompilers[] = {"xla", "inductor"}, *const kMeshes[] = {"x=2,y=4", "x=8", "x=2,y=2"};
  int apart = 0, said = 0;
  sw_rng r;
  sw_rng_seed(&r, check_seed(1));
  for (int k = 0; k < 6; k++) {
    sw_arena arena = {0};
    sw_plan plan;
    sw_graph *g = running_mean(512, 64 << k % 2, 12 + 8 * (k / 3));
    sw_machine *m = machine_of("dgx-h100", kMeshes[k % 3], &arena);
    const sw_plan_options o = {.solve = {.work_limit = 20000000, .threads = 1}};
    sw_job job;
    assert_ok(sw_job_make(kCompilers[k % 2], g->written, m, &arena, &job, &diag));
    job.overlap = SW_OVERLAP_NONE;
    apart += sw_value_combines(job.kernels, g->args[0]) != sw_value_combines(job.kernels, g->outputs[0]);
    assert_ok(sw_plan_search(&job, &o, &arena, &plan, &diag));
    judge(&plan, &arena);
    said += judge_choices(&r, &job, 20, &arena);
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
  assert_true(apart > 0 && said > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(small_models_under_all_compilers),
                                     cmocka_unit_test(a_state_comes_back)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
