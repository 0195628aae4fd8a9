/* What proves a plan's bound, recounted from the graph.
 *
 * Products and sums of square matrices on one axis, on a machine whose times are written down here. From the names of
 * choices alone, by code of its own, the test knows how each node is cut, what one device's work, its launches and the
 * collectives in between take, and what the weights make of these; so it recounts the costs of the file's problem,
 * those of the plan's solution, and that no plan's timeline ends before the bound.
 */
#include <math.h>

#include "check.h"

#include "shardwright/certificate.h"
#include "shardwright/iopddl.h"
#include "shardwright/model_json.h"
#include "shardwright/plan_json.h"
#include "shardwright/profile_json.h"

enum { SIZE = 64, DEVICES = 4, MOST_OPS = 4, MOST_PLANS = 3000 };
/* Of a device's share of a product, of a whole sum, of a launch; of collectives by kind. */
static const double kProduct_s = 1e-3, kLaunch_s = 1e-4, kContention = 1.25, kRounding = 1e-9;
enum { GATHER, SCATTER, REDUCE, SWAP, KINDS };

/* How a matrix lies. */
typedef enum lie { WHOLE, ROWS, COLUMNS, PARTIAL, LIES } lie;

typedef struct known {
  double exchange_s[KINDS], share, launch; /* what the problem counts of them, */
  double host_s[2]; /* and of the copy of a whole matrix to the host, and back, and of a launch */
  double host_launch[2];
} known;

/* The ops of a model: y = a b, y = a + b, or y is a copied to the host, or from there; values are the arguments first.
 */
typedef enum kind { SUM, PRODUCT, AWAY, BACK } kind;
typedef struct graph {
  int n_args, n_ops;
  kind kind[MOST_OPS];
  int of[MOST_OPS][2];
} graph;

static const graph kGraphs[] = {
    {3, 2, {PRODUCT, PRODUCT}, {{0, 1}, {3, 2}}},
    {2, 3, {PRODUCT, PRODUCT, SUM}, {{0, 1}, {2, 1}, {2, 3}}},
    {3, 3, {PRODUCT, PRODUCT, PRODUCT}, {{0, 1}, {0, 2}, {3, 4}}},
    {2, 4, {PRODUCT, AWAY, BACK, PRODUCT}, {{0, 1}, {2, -1}, {3, -1}, {4, 2}}},
};

/* --- what takes how long -------------------------------------------------------------------------------------------
 */

static double least2(double a, double b) { return a < b ? a : b; }

/* From one way to another; a slice is a launch that counts in full. */
static double exchange_s(const known *k, lie from, lie to) {
  const double *c = k->exchange_s;
  if (from == to) return 0;
  if (from == WHOLE) return kLaunch_s;
  if (from == PARTIAL) return to == WHOLE ? c[REDUCE] : c[SCATTER];
  if (to == WHOLE) return c[GATHER];
  return to == PARTIAL ? c[GATHER] + kLaunch_s : least2(c[SWAP], c[GATHER] + kLaunch_s);
}

static lie lie_of_sharding(const char *text) {
  static const char *const kTexts[] = {[WHOLE] = "[[],[]]", [ROWS] = "[[x],[]]", [COLUMNS] = "[[],[x]]"};
  for (lie s = WHOLE; s < PARTIAL; s++)
    if (strcmp(text, kTexts[s]) == 0) return s;
  fail_msg("'%s' is no sharding of a matrix", text);
  return WHOLE;
}

/* What of an op is cut: nothing, its rows, its columns, what a product adds up; or it takes an operand in parts. */
typedef enum cut { NOTHING, ITS_ROWS, ITS_COLUMNS, ADDED, PARTS_0, PARTS_1 } cut;

static cut cut_of_strategy(const char *text) {
  static const char *const kTexts[] = {"-", "d0:[x]", "d1:[x]", "d2:[x]", "partial0:[x]", "partial1:[x]"};
  for (cut c = NOTHING; c <= PARTS_1; c++)
    if (strcmp(text, kTexts[c]) == 0) return c;
  fail_msg("'%s' is no strategy of a product or sum", text);
  return NOTHING;
}

static lie operand_of(kind of, cut c, int i) {
  static const lie kOfProduct[2][PARTS_1 + 1] = {{WHOLE, ROWS, WHOLE, COLUMNS, PARTIAL, WHOLE},
                                                 {WHOLE, WHOLE, COLUMNS, ROWS, WHOLE, PARTIAL}};
  static const lie kOfSum[] = {WHOLE, ROWS, COLUMNS, WHOLE, PARTIAL, PARTIAL};
  return of == PRODUCT ? kOfProduct[i][c] : kOfSum[c];
}

static lie result_of(cut c) {
  static const lie kOf[] = {WHOLE, ROWS, COLUMNS, PARTIAL, PARTIAL, PARTIAL};
  return kOf[c];
}

/* Of a device's share; a sum is a product's part that is counted below. */
static double work_s(const known *k, kind of, cut c) {
  const double flops = of == PRODUCT ? 2.0 * SIZE * SIZE * SIZE : SIZE * SIZE;
  if (of >= AWAY)
    return k->host_s[of - AWAY] / (c == NOTHING || c >= PARTS_0 ? 1 : DEVICES) + k->host_launch[of - AWAY] * kLaunch_s;
  return flops / (2.0 * SIZE * SIZE * SIZE) * kProduct_s / (c == NOTHING || c >= PARTS_0 ? 1 : DEVICES) +
         k->launch * kLaunch_s;
}

/* --- files ---------------------------------------------------------------------------------------------------------
 */

static void write_model(const graph *g, sw_text *t) {
  sw_text_puts(t, "{\"format\": \"shardwright-model\", \"version\": 1, \"name\": \"m\", \"values\": [");
  for (int i = 0; i < g->n_args; i++)
    sw_text_printf(t, "%s{\"name\": \"v%d\", \"kind\": \"%s\", \"dtype\": \"f32\", \"shape\": [%d, %d]}", i ? ", " : "",
                   i, i ? "parameter" : "input", SIZE, SIZE);
  sw_text_puts(t, "], \"ops\": [");
  static const char *const kNames[] = {"\"add\"",
                                       "\"dot_general\", \"attrs\": {\"lhs_contract\": [1], \"rhs_contract\": [0]}",
                                       "\"offload\"", "\"fetch\""};
  for (int i = 0; i < g->n_ops; i++) {
    sw_text_printf(t, "%s{\"op\": %s, \"outputs\": [\"v%d\"], \"inputs\": [\"v%d\"", i ? ", " : "", kNames[g->kind[i]],
                   g->n_args + i, g->of[i][0]);
    if (g->kind[i] < AWAY) sw_text_printf(t, ", \"v%d\"", g->of[i][1]);
    sw_text_puts(t, "]}");
  }
  sw_text_printf(t, "], \"outputs\": [\"v%d\"]}", g->n_args + g->n_ops - 1);
}

static void write_profile(const double *exchange_s, double host_s, sw_text *t) {
  static const char *const kNames[] = {"all_gather", "reduce_scatter", "all_reduce", "all_to_all"};
  sw_text_printf(t,
                 "{\"format\": \"shardwright.profile\", \"version\": 1, \"name\": \"known\", \"description\": \"of "
                 "known times\", \"sources\": {\"none\": \"made up\"}, \"device\": {\"name\": \"d\", \"memory\": "
                 "{\"bytes\": 1e15, \"reserved_bytes\": 0, \"bytes_per_s\": 1e30, \"source\": \"none\"}, "
                 "\"flop_per_s\": {\"f32\": %.17g, \"source\": \"none\"}, \"achieved\": {\"flop_fraction\": 1.0, "
                 "\"memory_fraction\": 1.0, \"launch_s\": %g, \"contention\": %g, \"source\": \"none\"}, "
                 "\"host_link\": {\"bytes_per_s\": %.17g, \"memory_bytes\": 1e15, \"source\": \"none\"}}, "
                 "\"exchange\": {\"peer_s\": 0.0, \"source\": \"none\"}, \"levels\": [{\"name\": \"all\", "
                 "\"topology\": \"switch\", \"size\": \"any\", \"source\": \"none\", \"costs\": {",
                 2.0 * SIZE * SIZE * SIZE / kProduct_s, kLaunch_s, kContention, 4.0 * SIZE * SIZE / host_s);
  for (int i = 0; i < KINDS; i++)
    sw_text_printf(t, "\"%s\": {\"base_s\": %.17g, \"bytes_per_s\": 1e30, \"source\": \"none\"}, ", kNames[i],
                   exchange_s[i]);
  sw_text_printf(t,
                 "\"permute\": {\"base_s\": 1, \"bytes_per_s\": 1e30, \"source\": \"none\"}}}], \"meshes\": "
                 "[\"x=%d\"]}",
                 DEVICES);
}

/* --- one of them ---------------------------------------------------------------------------------------------------
 */

typedef struct subject {
  const graph *g;
  known k;
  sw_graph *model;
  sw_job job;
  sw_plan plan;
  sw_plan_proof proof;
  double units_per_s;
  sw_arena arena;
} subject;

static void open_subject(const graph *g, sw_rng *r, bool overlaps, subject *s) {
  sw_text model = {0}, hw = {0};
  const sw_profile *profile;
  sw_machine *machine;
  sw_mesh *mesh;
  double exchange[KINDS];
  *s = (subject){.g = g};
  /* As collectives are: what moves more takes longer. */
  exchange[SWAP] = (0.05 + 0.5 * sw_rng_unit(r)) * kProduct_s;
  exchange[GATHER] = exchange[SWAP] * (1 + sw_rng_unit(r));
  exchange[SCATTER] = exchange[GATHER] * (0.8 + 0.2 * sw_rng_unit(r));
  exchange[REDUCE] = exchange[GATHER] + exchange[SCATTER] * sw_rng_unit(r);
  const double host_s = (0.1 + 3 * sw_rng_unit(r)) * kProduct_s;
  mesh = sw_arena_alloc(&s->arena, 1, sizeof *mesh, &diag);
  assert_non_null(mesh);
  assert_ok(sw_mesh_parse("x=4", &s->arena, mesh, &diag));
  write_model(g, &model);
  write_profile(exchange, host_s, &hw);
  assert_ok(sw_model_parse("m", sw_text_str(&model), model.n, &s->model, &diag));
  assert_ok(sw_profile_parse("p", sw_text_str(&hw), hw.n, &s->arena, &profile, &diag));
  assert_ok(sw_machine_build(&s->arena, profile, mesh, &machine, &diag));
  assert_ok(sw_job_make("none", s->model->written, machine, &s->arena, &s->job, &diag));
  s->job.overlap = overlaps ? SW_OVERLAP_COMPILER : SW_OVERLAP_NONE;
  s->units_per_s = sw_cost_units_per_s(machine);
  const sw_plan_options o = {.solve = {.gap = 1e-6}};
  assert_ok(sw_plan_search(&s->job, &o, &s->arena, &s->plan, &diag));
  assert_ok(sw_plan_prove(&s->job, &s->plan, &o, &s->arena, &s->proof, &diag));
  const sw_bound_weights *w = &s->proof.weights;
  const double unit = SW_WEIGHT_UNIT;
  s->k.share = overlaps ? (double)(w->link[0] + w->beside[0]) / unit : 1;
  s->k.launch = overlaps ? (double)w->launches / unit : 1;
  for (int i = 0; i < KINDS; i++) s->k.exchange_s[i] = s->k.share * exchange[i];
  for (int i = 0; i < 2; i++) {
    s->k.host_launch[i] = overlaps ? (double)w->link[SW_LINK_TO_HOST + i] / unit : 1;
    s->k.host_s[i] = s->k.host_launch[i] * host_s;
  }
  sw_text_free(&model);
  sw_text_free(&hw);
}

static void close_subject(subject *s) {
  sw_graph_destroy(s->model);
  sw_arena_deinit(&s->arena);
}

static lie lie_of_node(const subject *s, const sw_sharding *of) {
  sw_text t = {0};
  sw_sharding_print(sw_machine_mesh(s->job.machine), of, &t);
  const lie got = lie_of_sharding(sw_text_str(&t));
  sw_text_free(&t);
  return got;
}

static cut cut_of_node(const subject *s, int op, const sw_strategy *of) {
  sw_text t = {0};
  sw_strategy_print(sw_machine_mesh(s->job.machine), s->model->ops[op].nest, of, &t);
  const cut got = cut_of_strategy(sw_text_str(&t));
  sw_text_free(&t);
  return got;
}

/* Seconds that the weights make of all choices, a value's copies in one way being made once; kinds of partial operands
 * are not told apart. */
static double weighed_s(const subject *s, const int32_t *choice) {
  const graph *g = s->g;
  const sw_plan *all = s->proof.choices;
  const int last = g->n_args + g->n_ops;
  double sum = 0;
  lie lies[MOST_OPS * 2];
  cut cuts[MOST_OPS];
  for (int i = 0; i < g->n_args; i++) lies[i] = lie_of_node(s, &all[choice[i]].args[i]);
  for (int op = 0; op < g->n_ops; op++) {
    cuts[op] = cut_of_node(s, op, &all[choice[g->n_args + op]].ops[op]);
    lies[g->n_args + op] = result_of(cuts[op]);
    sum += work_s(&s->k, g->kind[op], cuts[op]);
  }
  for (int v = 0; v < last; v++) {
    bool wanted[LIES] = {false};
    for (int op = 0; op < g->n_ops; op++)
      for (int i = 0; i < 2; i++)
        if (g->of[op][i] == v) wanted[operand_of(g->kind[op], cuts[op], i)] = true;
    if (v == last - 1) wanted[lie_of_node(s, &all[choice[last]].outputs[0])] = true;
    for (lie to = WHOLE; to < LIES; to++)
      if (wanted[to]) sum += exchange_s(&s->k, lies[v], to);
  }
  return sum;
}

/* --- what is recounted ---------------------------------------------------------------------------------------------
 */

static void judge_weights(const subject *s) {
  const sw_bound_weights *w = &s->proof.weights;
  const double unit = SW_WEIGHT_UNIT;
  int64_t sum = w->kernels + w->launches;
  for (int l = 0; l < SW_MAX_LINKS; l++) sum += w->link[l];
  assert_int_equal(sum, w->of);
  if (s->proof.timed) assert_true((double)w->beside[0] / unit <= 1 - 1 / kContention);
  assert_true(w->kernels == SW_WEIGHT_UNIT && w->launches >= 0 && w->link[0] >= 0 && w->beside[0] >= 0);
  const double units = (double)(s->proof.bound_units - s->proof.beside_units);
  assert_true(fabs(units * unit / (double)w->of / s->units_per_s - s->proof.bound_s) <= kRounding * s->proof.bound_s);
}

/* Every combination of choices costs what is recounted, but for prices of routes that the problem does not know yet.
 * The plan's costs just that. No timeline ends before the bound. */
static void judge_all(const subject *s, int *judged) {
  const sw_problem *p = &s->proof.problem;
  const double slack = (double)s->proof.beside_units;
  int32_t choice[3 * MOST_OPS] = {0};
  sw_score score;
  int k = 0;
  assert_int_equal(p->n_nodes, s->g->n_args + s->g->n_ops + 1);
  assert_ok(sw_problem_score(p, s->proof.choice, &score, &diag));
  const double own = weighed_s(s, s->proof.choice) * s->units_per_s;
  if ((double)score.cost < own * (1 - kRounding) || (double)score.cost > own + slack)
    fail_msg("the solution costs %.0f units, recounted %.0f", (double)score.cost, own);
  for (int n = 0; n < MOST_PLANS && k < p->n_nodes; n++) {
    sw_arena mem = {0};
    sw_plan plan;
    sw_breakdown a;
    assert_ok(sw_problem_score(p, choice, &score, &diag));
    const double all = weighed_s(s, choice) * s->units_per_s;
    if (score.cost < SW_FORBIDDEN && (double)score.cost > all + slack)
      fail_msg("a choice costs %.0f units, recounted %.0f", (double)score.cost, all);
    assert_ok(sw_plan_build(&s->job, &mem, &plan, &diag));
    for (int i = 0; i < p->n_nodes; i++) {
      const sw_plan *of = &s->proof.choices[choice[i]];
      const int op = i - s->g->n_args, out = op - s->g->n_ops;
      if (op < 0) plan.args[i] = of->args[i];
      if (op >= 0 && out < 0) plan.ops[op] = of->ops[op];
      if (out >= 0) plan.outputs[out] = of->outputs[out];
    }
    if (!sw_plan_verify(&plan, &diag)) {
      assert_ok(sw_plan_breakdown(&plan, &mem, &a, &diag));
      if (a.total_s < s->proof.bound_s * (1 - kRounding))
        fail_msg("a step takes %g s, and the bound is %g s", a.total_s, s->proof.bound_s);
      ++*judged;
    }
    sw_arena_deinit(&mem);
    for (k = 0; k < p->n_nodes && ++choice[k] == p->nodes[k].n_choices; k++) choice[k] = 0;
  }
}

/* Files say the same, and the check accepts them. */
static void judge_files(const subject *s) {
  sw_text text = {0};
  sw_arena mem = {0};
  sw_problem p;
  int64_t bound;
  assert_ok(sw_iopddl_print(&s->proof.problem, &text, &diag));
  assert_ok(sw_iopddl_parse(sw_text_str(&text), text.n, "problem", &mem, &p, &diag));
  assert_ok(sw_problem_verify(&p, &diag));
  assert_ok(sw_certificate_check(&p, s->proof.certificate, strlen(s->proof.certificate), "c", &bound, &diag));
  assert_int_equal(bound, s->proof.bound_units);
  assert_true(sw_problem_cost(&p, s->proof.choice) >= bound);
  sw_text_free(&text);
  sw_arena_deinit(&mem);
}

static void recounted(void **state) {
  (void)state;
  const int n = check_scale(24), n_graphs = sizeof kGraphs / sizeof *kGraphs;
  int judged = 0, hidden = 0;
  double nearest = 0;
  sw_rng r;
  sw_rng_seed(&r, check_seed(1));
  for (int i = 0; i < n; i++) {
    subject s;
    sw_breakdown a;
    open_subject(&kGraphs[i % n_graphs], &r, i % 5 != 4, &s);
    assert_ok(sw_plan_breakdown(&s.plan, &s.arena, &a, &diag));
    assert_true(a.total_s >= s.proof.bound_s * (1 - kRounding));
    judge_weights(&s);
    judge_all(&s, &judged);
    judge_files(&s);
    nearest = fmax(nearest, s.proof.bound_s / a.total_s);
    hidden += s.proof.timed && s.k.share < 1;
    close_subject(&s);
  }
  print_message("%d plans, the bound at most %.1f %% below\n", judged, 100 * (1 - nearest));
  assert_true(judged > n && hidden > 0 && nearest > 0.99);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(recounted)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
