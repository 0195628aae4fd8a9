/* What annotations say holds in plans of random programs: members of a sharding group are cut alike, arguments and
 * results of ops; axes that a value is said to be replicated over never cut it, closed dims stay, open ones are only
 * refined, what is said to be partial stays so; and what is planned gives the numbers of one device. Then what only
 * breaks ties, by hand: priorities; and what a barrier lets pass.
 */
#include "check.h"

#include "shardwright/model_json.h"
#include "shardwright/profile_json.h"
#include "shardwright/program.h"
#include "shardwright/propagate.h"
#include "shardwright/validate.h"
#include "support/job.h"

static const sw_profile *profile;

/* --- random models: values of 8x12 and matrices of 12x12 --------------------------------------------------------- */

enum { MOST_VALUES = 24 };

typedef struct model {
  const char *mesh;
  int n;                       /* values */
  char said[MOST_VALUES][160]; /* annotations of each */
  sw_text ops, groups;
} model;

static const struct {
  const char *op, *inputs, *rest;
} kBodies[] = {
    {"add", "\"v%1$d\", \"v%2$d\"", ""},
    {"tanh", "\"v%1$d\"", ""},
    {"negate", "\"v%1$d\"", ""},
    {"multiply", "\"v%1$d\", \"v%2$d\"", ""},
    {"dot_general", "\"v%1$d\", \"w\"", ", \"attrs\": {\"lhs_contract\": [1], \"rhs_contract\": [0]}"},
    {"reverse", "\"v%1$d\"", ", \"attrs\": {\"dims\": [1]}"},
    {"reshape", "\"v%1$d\"", ", \"attrs\": {\"shape\": [8, 12]}, \"allowed_direction\": \"none\""},
};

/* Each axis cuts dim 0 or 1 of the value, or is said to be replicated, or left out; each dim is open or not. */
static void say(sw_rng *r, const sw_mesh *mesh, bool partial, char *out, size_t room) {
  char dims[2][48] = {"", ""}, kept[48] = "", sum[48] = "";
  for (int a = 0; a < mesh->n_axes; a++) {
    const int where = (int)sw_rng_below(r, partial ? 5 : 4);
    char *into = where < 2 ? dims[where] : where == 2 ? kept : where == 4 && !sum[0] ? sum : NULL;
    const size_t at = into ? strlen(into) : 0;
    const char *quote = into == kept ? "\"" : "";
    if (into) snprintf(into + at, 48 - at, "%s%s%s%s", at ? "," : "", quote, mesh->axis[a].name, quote);
  }
  for (int k = 0; k < 2; k++) {
    const size_t at = strlen(dims[k]);
    if (sw_rng_below(r, 2)) snprintf(dims[k] + at, 48 - at, "%s?", at ? "," : "");
  }
  snprintf(out, room, "{\"sharding\": \"[[%s],[%s]]%s%s%s\", \"required\": true, \"replicated\": [%s]}", dims[0],
           dims[1], sum[0] ? " partial sum[" : "", sum, sum[0] ? "]" : "", kept);
}

static void random_model(model *m, sw_rng *r, bool only_groups) {
  static const char *const kMeshes[] = {"x=2,y=2", "x=2,y=3", "x=4,y=2"};
  *m = (model){.mesh = kMeshes[sw_rng_below(r, 3)], .n = 2};
  sw_arena arena = {0};
  sw_mesh mesh;
  assert_ok(sw_mesh_parse(m->mesh, &arena, &mesh, &diag));
  for (int64_t k = 2 + sw_rng_below(r, 5); k > 0; k--, m->n++) {
    const int body = (int)sw_rng_below(r, (int64_t)(sizeof kBodies / sizeof *kBodies));
    sw_text_printf(&m->ops, "%s  {\"op\": \"%s\", \"inputs\": [", m->n > 2 ? ",\n" : "", kBodies[body].op);
    sw_text_printf(&m->ops, kBodies[body].inputs, (int)sw_rng_below(r, m->n), (int)sw_rng_below(r, m->n));
    sw_text_printf(&m->ops, "]%s, \"outputs\": [\"v%d\"]}", kBodies[body].rest, m->n);
  }
  for (int v = 0; v < m->n; v++) {
    if (!only_groups && sw_rng_below(r, 3) == 0) say(r, &mesh, v >= 2, m->said[v], sizeof m->said[v]);
    if (only_groups && sw_rng_below(r, 2))
      snprintf(m->said[v], sizeof m->said[v],
               "{\"sharding\": \"[[?],[?]]\", \"required\": true, \"replicated\": [\"%c\"]}", "xy"[sw_rng_below(r, 2)]);
  }
  for (int64_t k = sw_rng_below(r, 3); k > 0; k--)
    sw_text_printf(&m->groups, "%s[\"v%d\", \"v%d\", \"v%d\"]", sw_text_str(&m->groups)[0] ? ", " : "",
                   (int)sw_rng_below(r, m->n), (int)sw_rng_below(r, m->n), (int)sw_rng_below(r, m->n));
  sw_arena_deinit(&arena);
}

static void write_model(const model *m, sw_text *out) {
  sw_text_printf(out, "{\"format\": \"shardwright-model\", \"version\": 1, \"mesh\": \"%s\", \"values\": [\n", m->mesh);
  for (int v = 0; v < m->n; v++) {
    const char *type = v < 2 ? ", \"kind\": \"input\", \"dtype\": \"f32\", \"shape\": [8, 12]" : "";
    if (v < 2 || m->said[v][0])
      sw_text_printf(out, "  {\"name\": \"v%d\"%s, \"annotations\": [%s]},\n", v, type, m->said[v]);
  }
  sw_text_printf(out,
                 "  {\"name\": \"w\", \"kind\": \"parameter\", \"dtype\": \"f32\", \"shape\": [12, 12]}],\n"
                 " \"ops\": [\n%s],\n \"outputs\": [\"v%d\"], \"sharding_groups\": [%s]}\n",
                 sw_text_str(&m->ops), m->n - 1, sw_text_str(&m->groups));
}

/* --- what must hold, told without the planner's own words --------------------------------------------------------- */

static bool uses(const sw_axis_ref *refs, int n, sw_axis_ref ref) {
  for (int i = 0; i < n; i++) {
    if (sw_axis_ref_overlaps(refs[i], ref)) return true;
  }
  return false;
}

/* Axes are whole in these models, so that a prefix is one axis by axis. */
static bool is_as_said(const sw_annotation *a, const sw_sharding *s) {
  const sw_sharding *want = &a->sharding;
  for (int i = 0; i < a->n_kept; i++) {
    if (uses(s->refs, s->n_refs + s->n_partial, a->kept[i])) return false;
  }
  if (s->n_partial != want->n_partial) return false;
  for (int i = 0; i < s->n_partial; i++) {
    if (!uses(sw_sharding_partial(s), s->n_partial, sw_sharding_partial(want)[i])) return false;
  }
  for (int k = 0; k < s->rank; k++) {
    int n, m;
    const sw_axis_ref *have = sw_sharding_dim(s, k, &n), *said = sw_sharding_dim(want, k, &m);
    if (n < m || (n > m && !(a->open_dims >> k & 1))) return false;
    for (int i = 0; i < m; i++) {
      if (!sw_axis_ref_equal(have[i], said[i])) return false;
    }
  }
  return true;
}

static void check_values(const sw_plan *plan) {
  const sw_graph *g = plan->job.graph;
  for (int32_t i = 0; i < g->written->n_annotations; i++) {
    sw_sharding s;
    sw_plan_value_sharding(plan, g->written->annotations[i].value, &s);
    if (!is_as_said(&g->written->annotations[i], &s))
      fail_msg("'%s' is not as it is said", g->values[g->written->annotations[i].value].name);
  }
  for (int32_t i = 0; i < g->written->n_sharding_groups; i++) {
    sw_sharding a, b;
    sw_plan_value_sharding(plan, g->written->sharding_groups[i].a, &a);
    sw_plan_value_sharding(plan, g->written->sharding_groups[i].b, &b);
    if (!sw_sharding_equal(&a, &b)) fail_msg("a group's members differ");
  }
}

static void check_run(const sw_plan *plan) {
  sw_arena scratch = {0};
  sw_validation v;
  const sw_validate_options o = {.seed = 1, .timeout_s = 60, .intermediates = true};
  assert_ok(sw_validate(plan, &o, &scratch, &v, &diag));
  assert_true(v.matches);
  sw_arena_deinit(&scratch);
}

static const sw_plan_options kOptions = {.selection.capacity_bytes = INT64_MAX / 2,
                                         .solve = {.work_limit = 100000000, .gap = 0, .threads = 1}};

static bool one_model(sw_rng *r, bool only_groups, bool runs) {
  model m;
  sw_text text = {0};
  sw_arena arena = {0};
  sw_graph *g;
  sw_machine *machine;
  sw_plan plan;
  random_model(&m, r, only_groups);
  write_model(&m, &text);
  assert_ok(sw_model_parse("m.json", sw_text_str(&text), text.n, &g, &diag));
  assert_ok(sw_machine_build(&arena, profile, &g->written->mesh, &machine, &diag));
  sw_rc rc = sw_plan_search(JOB(g, machine), &kOptions, &arena, &plan, &diag);
  if (rc != SW_E_INFEASIBLE || only_groups) {
    if (rc) fputs(sw_text_str(&text), stderr);
    assert_ok(rc);
    check_values(&plan);
    if (runs) check_run(&plan);
  }
  sw_graph_destroy(g);
  sw_text_free(&text);
  sw_text_free(&m.ops);
  sw_text_free(&m.groups);
  sw_arena_deinit(&arena);
  return rc == SW_OK;
}

static void what_is_said_holds(void **state) {
  (void)state;
  const int n = check_scale(400);
  sw_rng r;
  int planned = 0;
  sw_rng_seed(&r, check_seed(7));
  for (int i = 0; i < n; i++) planned += one_model(&r, false, i % 4 == 0);
  print_message("%d of %d models can be as they are said\n", planned, n);
  assert_true(planned > n / 2);
}

/* Nothing cut is as it is said, so there is always a plan. */
static void groups_and_replicated_axes_are_always_met(void **state) {
  (void)state;
  sw_rng r;
  sw_rng_seed(&r, check_seed(11));
  for (int i = check_scale(200); i > 0; i--) assert_true(one_model(&r, true, i % 4 == 0));
}

/* --- completion: hints as requirements ---------------------------------------------------------------------------- */

/* The same annotations as hints, of priorities 0 to 2. */
static void as_hints(model *m, sw_rng *r) {
  for (int v = 0; v < m->n; v++) {
    char *at = strstr(m->said[v], "\"required\": true");
    char rest[sizeof m->said[v]];
    if (!at) continue;
    snprintf(rest, sizeof rest, "%s", at + strlen("\"required\": true"));
    snprintf(at, sizeof m->said[v] - (size_t)(at - m->said[v]), "\"priority\": %d%s", (int)sw_rng_below(r, 3), rest);
  }
}

static bool can_be(const sw_job *j, sw_arena *arena, sw_plan *plan) {
  sw_rc rc = sw_plan_search(j, &kOptions, arena, plan, &diag);
  if (rc != SW_E_INFEASIBLE) assert_ok(rc);
  return rc == SW_OK;
}

/* Hints that are taken hold in the plan, and of those left none could be required as well. */
static int one_completion(sw_rng *r) {
  model m;
  sw_text text = {0};
  sw_arena arena = {0};
  sw_graph *g;
  sw_request all;
  sw_machine *machine;
  sw_plan plan;
  int32_t taken;
  random_model(&m, r, false);
  as_hints(&m, r);
  write_model(&m, &text);
  assert_ok(sw_model_parse("m.json", sw_text_str(&text), text.n, &g, &diag));
  assert_ok(sw_machine_build(&arena, profile, &g->written->mesh, &machine, &diag));
  assert_ok(sw_hints_require(JOB(g, machine), &arena, &all, &taken, &diag));
  const sw_job completed = {g, &all, NULL, machine};
  const bool holds = can_be(&completed, &arena, &plan);
  if (!holds) fputs(sw_text_str(&text), stderr);
  assert_true(holds);
  assert_ok(sw_plan_verify(&plan, &diag));
  check_run(&plan);
  int left = 0;
  for (int32_t i = 0; i < all.n_annotations; i++) {
    sw_annotation *a = (sw_annotation *)&all.annotations[i];
    if (a->required || a->sharding.n_partial) continue;
    a->required = true;
    const bool too = can_be(&completed, &arena, &plan);
    if (too) fputs(sw_text_str(&text), stderr);
    assert_false(too);
    a->required = false;
    left++;
  }
  sw_graph_destroy(g);
  sw_text_free(&text);
  sw_text_free(&m.ops);
  sw_text_free(&m.groups);
  sw_arena_deinit(&arena);
  return left;
}

static void as_many_hints_hold_as_can(void **state) {
  (void)state;
  const int n = check_scale(200);
  sw_rng r;
  int left = 0;
  sw_rng_seed(&r, check_seed(23));
  for (int i = 0; i < n; i++) left += one_completion(&r);
  print_message("%d hints of %d models are left\n", left, n);
  assert_true(left > 0);
}

/* --- by hand ------------------------------------------------------------------------------------------------------ */

/* The sharding of value `of` in a plan, or in what propagation makes. */
static void planned(const char *program, const char *of, bool by_rule, sw_text *out) {
  sw_arena arena = {0};
  sw_program *p = NULL;
  sw_graph *read = NULL;
  sw_machine *machine;
  sw_plan plan;
  sw_sharding s;
  if (program[0] == '{')
    assert_ok(sw_model_parse("m.json", program, strlen(program), &read, &diag));
  else
    assert_ok(sw_program_parse("m.mlir", program, strlen(program), NULL, &p, &diag));
  const sw_graph *g = p ? sw_program_graph(p) : read;
  assert_ok(sw_machine_build(&arena, profile, &g->written->mesh, &machine, &diag));
  if (by_rule)
    assert_ok(sw_propagate(JOB(g, machine), SW_TRAVERSE_BACKWARD_FORWARD, &arena, &plan, &diag));
  else
    assert_ok(sw_plan_search(JOB(g, machine), &kOptions, &arena, &plan, &diag));
  sw_plan_value_sharding(&plan, sw_graph_value_named(g, of), &s);
  sw_sharding_print(&g->written->mesh, &s, out);
  sw_program_destroy(p);
  sw_graph_destroy(read);
  sw_arena_deinit(&arena);
}

static void expect(const char *program, const char *of, bool by_rule, const char *want) {
  sw_text t = {0};
  planned(program, of, by_rule, &t);
  assert_string_equal(sw_text_str(&t), want);
  sw_text_free(&t);
}

/* Two arguments that would cut their sum alike at the same cost. */
static void sum_of(const char *a, const char *b, const char *out, char *text, size_t room) {
  snprintf(text, room,
           "sdy.mesh @m = <[\"x\"=2, \"y\"=2]>\n"
           "func.func @main(%%a: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@m, %s>},\n"
           "                %%b: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@m, %s>})\n"
           "    -> (tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@m, %s>}) {\n"
           "  %%sum = stablehlo.add %%a, %%b : tensor<32x32xf32>\n"
           "  return %%sum : tensor<32x32xf32>\n}\n",
           a, b, out);
}

static void lower_priorities_win(void **state) {
  (void)state;
  static const struct {
    const char *a, *b, *out, *sum;
  } kRows[] = {
      {"[{\"x\"}p1, {}]", "[{\"y\"}p0, {}]", "[{?}, {?}]", "[[y],[]]"},
      {"[{\"x\"}p0, {}]", "[{\"y\"}p1, {}]", "[{?}, {?}]", "[[x],[]]"},
      {"[{\"x\"}p2, {}]", "[{\"y\"}, {}]", "[{?}, {?}]", "[[y],[]]"}, /* none said: 0 */
      {"[{}, {\"x\"}p7]", "[{}, {\"y\"}p3]", "[{?}, {?}]", "[[],[y]]"},
      {"[{\"x\"}p1, {}]", "[{?}, {?}]", "[{\"y\"}p0, {}]", "[[y],[]]"}, /* a result speaks of its maker */
  };
  for (size_t i = 0; i < sizeof kRows / sizeof *kRows; i++) {
    char text[1024];
    sum_of(kRows[i].a, kRows[i].b, kRows[i].out, text, sizeof text);
    expect(text, "sum", false, kRows[i].sum);
  }
}

static const char kHints[] =
    "{\"format\": \"shardwright-model\", \"version\": 1, \"mesh\": \"x=2,y=2\", \"values\": [\n"
    " {\"name\": \"a\", \"kind\": \"input\", \"dtype\": \"f32\", \"shape\": [32, 32]},\n"
    " {\"name\": \"s\", \"annotations\": [{\"sharding\": \"[[x],[]]\", \"priority\": %d},\n"
    "   {\"sharding\": \"[[y],[]]\", \"priority\": %d}, {\"sharding\": \"[[],[x]]\", \"priority\": 9}]}],\n"
    " \"ops\": [{\"op\": \"tanh\", \"inputs\": [\"a\"], \"outputs\": [\"s\"]}], \"outputs\": [\"s\"]}\n";

static void hints_have_priorities(void **state) {
  (void)state;
  char text[1024];
  for (int swapped = 0; swapped < 2; swapped++) {
    snprintf(text, sizeof text, kHints, swapped ? 5 : 2, swapped ? 2 : 5);
    expect(text, "s", false, swapped ? "[[y],[]]" : "[[x],[]]");
    expect(text, "s", true, swapped ? "[[y],[]]" : "[[x],[]]");
  }
}

static const char kBarrier[] =
    "sdy.mesh @m = <[\"x\"=2, \"y\"=2]>\n"
    "func.func @main(%%a: tensor<32x32xf32> {sdy.sharding = #sdy.sharding<@m, [{%s}, {?}]>}) -> tensor<32x32xf32> {\n"
    "  %%before = stablehlo.tanh %%a : tensor<32x32xf32>\n"
    "  %%b = sdy.propagation_barrier %%before allowed_direction=%s : tensor<32x32xf32>\n"
    "  %%after = stablehlo.tanh %%b : tensor<32x32xf32>\n"
    "  %%c = sdy.sharding_constraint %%after <@m, [{?}, {%s}]> : tensor<32x32xf32>\n"
    "  return %%c : tensor<32x32xf32>\n}\n";

/* Propagation carries shardings up to a barrier and no further, but where it lets them pass. */
static void barriers_let_pass_what_they_allow(void **state) {
  (void)state;
  static const struct {
    const char *allowed, *a, *c, *value, *sharding;
  } kRows[] = {
      {"FORWARD", "\"x\"", "?", "after", "[[x],[]]"},   {"FORWARD", "?", "\"y\"", "before", "[[],[]]"},
      {"BACKWARD", "?", "\"y\"", "before", "[[],[y]]"}, {"BACKWARD", "\"x\"", "?", "after", "[[],[]]"},
      {"NONE", "\"x\"", "?", "after", "[[],[]]"},       {"NONE", "?", "\"y\"", "before", "[[],[]]"},
  };
  for (size_t i = 0; i < sizeof kRows / sizeof *kRows; i++) {
    char text[1024];
    snprintf(text, sizeof text, kBarrier, kRows[i].a, kRows[i].allowed, kRows[i].c);
    expect(text, kRows[i].value, true, kRows[i].sharding);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lower_priorities_win),
      cmocka_unit_test(hints_have_priorities),
      cmocka_unit_test(barriers_let_pass_what_they_allow),
      cmocka_unit_test(groups_and_replicated_axes_are_always_met),
      cmocka_unit_test(what_is_said_holds),
      cmocka_unit_test(as_many_hints_hold_as_can),
  };
  sw_arena a = {0};
  if (sw_profile_read("dgx-h100", &a, &profile, &diag)) return 1;
  const int failed = cmocka_run_group_tests_name("plan_said", tests, NULL, NULL);
  sw_arena_deinit(&a);
  return failed;
}
