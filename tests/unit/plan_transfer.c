/* Plans of a model carried over to the model after random edits: what was not edited keeps its strategy, the rest is
 * completed to a plan that is legal and computes the same; and the completion of one op against all ways to cut it. */
#include "check.h"

#include <math.h>

#include "base/file.h"
#include "gen/gen.h"
#include "shardwright/model_json.h"
#include "shardwright/plan_json.h"
#include "shardwright/validate.h"
#include "support/meshes.h"
#include "support/random_plan.h"
#include "support/job.h"

static const char kFile[] = "unit-plan-transfer.json";

typedef struct edits {
  bool rename;       /* some ops and arguments, at random */
  sw_id inserted_at; /* an op before this one, on one of its operands; -1: none */
} edits;

typedef struct edited {
  sw_graph *g;
  sw_id *op_of;   /* by op of the old graph: what it is now */
  sw_id inserted; /* -1: nothing is */
} edited;

static const char *maybe_renamed(const char *name, const edits *e, sw_rng *r, sw_arena *a) {
  if (!e->rename || sw_rng_below(r, 3)) return name;
  return sw_arena_printf(a, NULL, "new %s", name);
}

static sw_id insert(sw_graph *g, sw_id operand) {
  sw_id made[SW_MAX_RESULTS];
  const sw_dtype t = g->values[operand].type.dtype;
  const sw_opcode code = t == SW_BOOL ? SW_OP_NOT : SW_OP_NEGATE;
  assert_ok(sw_graph_add_op(
      g, &(sw_op_spec){.code = code, .name = "an inserted op", .n_operands = 1, .operands = &operand}, made, &diag));
  return made[0];
}

/* Op by op, as a person would write the program again. */
static edited edit(const sw_graph *g, const edits *e, sw_rng *r, sw_arena *a) {
  edited out = {.inserted = -1};
  sw_id *value = sw_arena_alloc(a, (size_t)g->n_values + 1, sizeof *value, &diag);
  out.op_of = sw_arena_alloc(a, (size_t)g->n_ops + 1, sizeof *out.op_of, &diag);
  assert_true(value && out.op_of);
  assert_ok(sw_graph_create(g->name, &out.g, &diag));
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    assert_ok(sw_graph_add_arg(out.g, maybe_renamed(v->name, e, r, a), v->type.dtype, v->type.rank, v->type.dims,
                               v->kind, SW_NOWHERE, &value[g->args[i]], &diag));
  }
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    sw_id operands[64], made[SW_MAX_RESULTS];
    const char *names[SW_MAX_RESULTS];
    assert_true(op->n_operands <= 64);
    for (int k = 0; k < op->n_operands; k++) operands[k] = value[op->operands[k]];
    if (i == e->inserted_at && op->n_operands) {
      out.inserted = out.g->n_ops;
      operands[0] = insert(out.g, operands[0]);
    }
    const char *name = maybe_renamed(op->name, e, r, a);
    for (int k = 0; k < op->n_results; k++) {
      names[k] = g->values[op->results[k]].name;
      if (name != op->name) names[k] = sw_arena_printf(a, NULL, "new %s", names[k]);
    }
    const sw_op_spec spec = {.code = op->code,
                             .name = name,
                             .n_operands = op->n_operands,
                             .operands = operands,
                             .n_attrs = op->n_attrs,
                             .attrs = op->attrs,
                             .n_result_names = op->n_results,
                             .result_names = names,
                             .nest = op->code == SW_OP_GENERIC ? op->nest : NULL};
    out.op_of[i] = out.g->n_ops;
    assert_ok(sw_graph_add_op(out.g, &spec, made, &diag));
    for (int k = 0; k < op->n_results; k++) value[op->results[k]] = made[k];
  }
  for (int32_t i = 0; i < g->n_outputs; i++)
    assert_ok(sw_graph_add_output(out.g, g->output_names[i], value[g->outputs[i]],
                                  g->alias[i] < 0 ? -1 : value[g->alias[i]], SW_NOWHERE, &diag));
  assert_ok(sw_graph_seal(out.g, &diag));
  return out;
}

static void write_plan(const sw_plan *p) {
  sw_text text = {0};
  assert_ok(sw_plan_write(p, NULL, &text, &diag));
  assert_ok(sw_file_write(kFile, text.at, text.n, &diag));
  sw_text_free(&text);
}

static void carry_over(const sw_plan *p, const sw_graph *g, sw_arena *a, sw_plan *out, sw_plan_transfer *t) {
  write_plan(p);
  assert_ok(sw_plan_read_other(kFile, JOB(g, p->job.machine), a, out, t, &diag));
  assert_int_equal(remove(kFile), 0);
}

static double total_of(const sw_plan *p) {
  sw_arena a = {0};
  sw_breakdown b;
  assert_ok(sw_plan_breakdown(p, &a, &b, &diag));
  sw_arena_deinit(&a);
  return b.total_s;
}

static void computes_the_same(const sw_plan *p, uint64_t seed) {
  sw_arena a = {0};
  sw_validation v;
  assert_ok(sw_validate(p, &(sw_validate_options){.seed = seed, .timeout_s = 60}, &a, &v, &diag));
  assert_true(v.matches);
  sw_arena_deinit(&a);
}

/* The plan of the edited model, with every strategy of the inserted op in turn, costs no less than with the one chosen,
 * but for copies that others make anyway. */
static void is_completed_well(const sw_plan *done, sw_id op, sw_arena *a) {
  const double kShared = 1.1;
  sw_enumeration all;
  const sw_enumerate_options o = {.runs = 2};
  const sw_strategy chosen = done->ops[op];
  const double total = total_of(done);
  double least = INFINITY;
  assert_ok(
      sw_strategies_enumerate(JOB(done->job.graph, done->job.machine), &done->job.graph->ops[op], &o, a, &all, &diag));
  for (int32_t k = 0; k < all.n; k++) {
    done->ops[op] = all.at[k];
    if (sw_plan_verify(done, NULL)) continue;
    least = fmin(least, total_of(done));
  }
  done->ops[op] = chosen;
  if (total > least * kShared) fail_msg("'%s': %g s; the best is %g s", done->job.graph->ops[op].name, total, least);
}

static void check_edit(const sw_plan *p, const edits *e, sw_rng *r) {
  sw_arena a = {0};
  const edited now = edit(p->job.graph, e, r, &a);
  sw_plan plan;
  sw_plan_transfer t;
  carry_over(p, now.g, &a, &plan, &t);
  if (t.same_model) assert_true(!e->rename && now.inserted < 0);
  int32_t refused = 0; /* what stands before an op may say whether it can be zero or infinite */
  for (sw_id i = 0; i < p->job.graph->n_ops; i++) {
    const sw_op *op = &now.g->ops[now.op_of[i]];
    const bool legal = sw_strategy_legal(now.g, op, sw_machine_mesh(p->job.machine), &p->ops[i]);
    refused += !legal;
    if (legal && sw_op_tied_to(now.g, now.op_of[i]) < 0 && !sw_strategy_equal(&plan.ops[now.op_of[i]], &p->ops[i]))
      fail_msg("'%s', now '%s', has another strategy", p->job.graph->ops[i].name, op->name);
  }
  assert_int_equal(t.n_left, refused);
  if (now.inserted < 0) assert_int_equal(refused, 0);
  for (int32_t i = 0; i < p->job.graph->n_args; i++) assert_true(sw_sharding_equal(&plan.args[i], &p->args[i]));
  for (int32_t i = 0; i < p->job.graph->n_outputs; i++)
    assert_true(sw_sharding_equal(&plan.outputs[i], &p->outputs[i]));
  assert_int_equal(t.n_ops_open, refused + (now.inserted >= 0));
  assert_ok(sw_plan_verify(&plan, &diag));
  if (now.inserted >= 0 && !refused) is_completed_well(&plan, now.inserted, &a);
  if (now.inserted < 0) assert_true(total_of(&plan) == total_of(p));
  if (sw_rng_below(r, 6) == 0) computes_the_same(&plan, 1 + (uint64_t)sw_rng_below(r, 1000));
  sw_graph_destroy(now.g);
  sw_arena_deinit(&a);
}

/* Frames have ops that must stand where they do. */
static bool may_insert(const sw_graph *g, sw_id op) {
  const sw_op *o = &g->ops[op];
  if (g->n_frames || !o->n_operands) return false;
  const sw_dtype t = g->values[o->operands[0]].type.dtype;
  return t == SW_F32 || t == SW_I32;
}

static void edits_keep_what_they_do_not_touch(void **state) {
  (void)state;
  sw_rng r;
  sw_rng_seed(&r, check_seed(20261127));
  for (int round = 0; round < check_scale(60); round++) {
    sw_arena a = {0};
    sw_graph *g = small_model(random_models[sw_rng_below(&r, RANDOM_MODELS)]);
    sw_machine *machine = machine_of("dgx-h100", random_meshes[sw_rng_below(&r, 6)], &a);
    sw_plan p;
    if (random_plan(JOB(g, machine), &r, &a, &p, &diag) == SW_OK) {
      edits e = {.rename = sw_rng_below(&r, 2) != 0, .inserted_at = -1};
      const sw_id at = (sw_id)sw_rng_below(&r, g->n_ops);
      if (sw_rng_below(&r, 2) && may_insert(g, at)) e.inserted_at = at;
      check_edit(&p, &e, &r);
    }
    sw_graph_destroy(g);
    sw_arena_deinit(&a);
  }
}

/* Other layers, widths and batches: names and kinds are as they were where they still exist, and the plan is legal. */
static void other_sizes_are_taken_as_far_as_they_fit(void **state) {
  (void)state;
  static const struct {
    const char *arch;
    sw_gen_arg was[3], now[3];
  } kRows[] = {
      {"mlp",
       {{"layers", "3"}, {"batch", "16"}, {"hidden", "32"}},
       {{"layers", "5"}, {"batch", "16"}, {"hidden", "32"}}},
      {"mlp",
       {{"layers", "4"}, {"batch", "16"}, {"hidden", "32"}},
       {{"layers", "2"}, {"batch", "24"}, {"hidden", "40"}}},
      {"gpt2", {{"layers", "2"}, {"batch", "4"}, {"seq", "8"}}, {{"layers", "3"}, {"batch", "6"}, {"seq", "12"}}}};
  sw_rng r;
  sw_rng_seed(&r, check_seed(4));
  for (size_t i = 0; i < sizeof kRows / sizeof *kRows; i++) {
    sw_arena a = {0};
    sw_graph *was, *now;
    sw_plan p, plan;
    sw_plan_transfer t;
    assert_ok(sw_gen_model(kRows[i].arch, kRows[i].was, 3, &was, &diag));
    assert_ok(sw_gen_model(kRows[i].arch, kRows[i].now, 3, &now, &diag));
    sw_machine *machine = machine_of("dgx-h100", "x=2,y=2", &a);
    assert_ok(random_plan(JOB(was, machine), &r, &a, &p, &diag));
    carry_over(&p, now, &a, &plan, &t);
    assert_false(t.same_model);
    assert_true(t.n_taken > 0);
    int32_t same = 0;
    for (sw_id k = 0; k < was->n_ops; k++) {
      const sw_id n = sw_graph_op_named(now, was->ops[k].name);
      if (n < 0 || now->ops[n].code != was->ops[k].code) continue;
      if (!sw_strategy_legal(now, &now->ops[n], sw_machine_mesh(machine), &p.ops[k])) continue;
      assert_true(sw_strategy_equal(&plan.ops[n], &p.ops[k]));
      same++;
    }
    print_message("%s: %d of %d ops keep their strategies\n", was->name, same, was->n_ops);
    assert_true(same > 3);
    assert_int_equal(t.n_ops_open + t.n_taken, now->n_ops + now->n_args + now->n_outputs - t.n_args_open);
    assert_ok(sw_plan_verify(&plan, &diag));
    sw_graph_destroy(was);
    sw_graph_destroy(now);
    sw_arena_deinit(&a);
  }
}

/* With nothing given there is a whole plan to make, of every model. */
static void nothing_given_is_a_plan_by_rule(void **state) {
  (void)state;
  for (int i = 0; i < RANDOM_MODELS; i++) {
    sw_arena a = {0};
    sw_graph *g = small_model(random_models[i]);
    sw_machine *machine = machine_of("dgx-h100", "x=2,y=2", &a);
    sw_plan p;
    bool *none = sw_arena_alloc(&a, (size_t)(g->n_ops + g->n_args + g->n_outputs) + 1, sizeof *none, &diag);
    assert_non_null(none);
    assert_ok(sw_plan_build(JOB(g, machine), &a, &p, &diag));
    assert_ok(sw_plan_complete(&p, &(sw_plan_given){none, none, none}, &diag));
    assert_ok(sw_plan_verify(&p, &diag));
    sw_graph_destroy(g);
    sw_arena_deinit(&a);
  }
}

/* What is required of a result that is returned, or of what a state comes back as, is kept, too. */
static void required_ends_are_kept(void **state) {
  (void)state;
  static const char kModel[] =
      "{\"format\": \"shardwright-model\", \"version\": 1, \"name\": \"ends\", \"mesh\": \"x=2,y=2\", "
      "\"values\": ["
      "{\"name\": \"w\", \"kind\": \"state\", \"dtype\": \"f32\", \"shape\": [8, 8]},"
      "{\"name\": \"v\", \"annotations\": [{\"sharding\": \"[[],[x]]\", \"required\": true, \"for_users\": "
      "[{\"output\": "
      "\"v\"}]}]},"
      "{\"name\": \"r\", \"annotations\": [{\"sharding\": \"[[y],[]]\", \"required\": true, \"for_users\": true}]}],"
      "\"ops\": [{\"op\": \"negate\", \"inputs\": [\"w\"], \"outputs\": [\"v\"]},"
      "{\"op\": \"exponential\", \"inputs\": [\"v\"], \"outputs\": [\"r\"]}],"
      "\"outputs\": [{\"value\": \"v\", \"alias\": \"w\"}, \"r\"]}";
  sw_arena a = {0};
  sw_graph *g;
  sw_plan p;
  const bool none[2] = {false};
  assert_ok(sw_model_parse("ends.json", kModel, sizeof kModel - 1, &g, &diag));
  sw_machine *machine = machine_of("dgx-h100", "x=2,y=2", &a);
  assert_ok(sw_plan_build(JOB(g, machine), &a, &p, &diag));
  assert_ok(sw_plan_complete(&p, &(sw_plan_given){none, none, none}, &diag));
  assert_ok(sw_plan_verify(&p, &diag));
  sw_graph_destroy(g);
  sw_arena_deinit(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(edits_keep_what_they_do_not_touch), cmocka_unit_test(other_sizes_are_taken_as_far_as_they_fit),
      cmocka_unit_test(nothing_given_is_a_plan_by_rule), cmocka_unit_test(required_ends_are_kept)};
  return cmocka_run_group_tests_name("plan_transfer", tests, NULL, NULL);
}
