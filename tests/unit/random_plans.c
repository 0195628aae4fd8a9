/* Random legal plans of the small models, executed: every strategy of every op is as good as any other for correctness.
 * A failing plan is shrunk (ops made uncut, arguments and outputs replicated, as long as it still fails) and printed.
 *
 *   SW_TEST_SCALE=100 SW_TEST_SEED=7 ./unit_random_plans [model [mesh]]     200 plans per model and mesh
 *   ./unit_random_plans ./step.mlir                                         a StableHLO program
 */
#include "check.h"

#include "base/hash.h"
#include "shardwright/profile_json.h"
#include "shardwright/program.h"
#include "shardwright/validate.h"
#include "support/random_plan.h"
#include "support/meshes.h"
#include "support/job.h"

typedef struct chooser {
  const sw_graph *g;
  const sw_machine *machine;
  sw_arena arena;
  sw_dict classes;
  sw_enumeration of_class[4096];
  int n_classes;
  sw_rng rng;
} chooser;

static const sw_enumeration *strategies_of(chooser *c, const sw_op *op) {
  sw_text key = {0};
  int64_t *slot;
  bool fresh;
  sw_op_class_key(JOB(c->g, NULL), op, &key);
  assert_ok(sw_dict_put(&c->classes, key.at, key.n, c->n_classes, &slot, &fresh, &diag));
  sw_text_free(&key);
  if (fresh) {
    assert_true(c->n_classes < 4096);
    sw_enumeration *all = &c->of_class[c->n_classes++];
    assert_ok(sw_strategies_enumerate(JOB(c->g, c->machine), op, NULL, &c->arena, all, &diag));
    for (int32_t i = 0; i < all->n; i++)
      assert_true(sw_op_least_s(JOB(c->g, c->machine), op) <= all->cost[i].local_s + all->cost[i].move_s);
  }
  return &c->of_class[*slot];
}

static sw_sharding random_sharding(chooser *c, sw_id value) {
  const sw_type *t = &c->g->values[value].type;
  sw_arena scratch = {0};
  sw_listed_shardings all;
  assert_ok(sw_shardings_enumerate(NULL, sw_machine_mesh(c->machine), t->rank, t->dims, 0, &scratch, &all, &diag));
  sw_sharding s = all.at[sw_rng_below(&c->rng, all.n)];
  sw_arena_deinit(&scratch);
  return s;
}

static void choose(chooser *c, sw_plan *p) {
  const sw_graph *g = c->g;
  assert_ok(sw_plan_build(JOB(g, c->machine), &c->arena, p, &diag));
  for (int32_t i = 0; i < g->n_args; i++) p->args[i] = random_sharding(c, g->args[i]);
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_enumeration *e = strategies_of(c, &g->ops[i]);
    sw_id leader = sw_op_tied_to(g, i);
    p->ops[i] = leader < 0 ? e->at[sw_rng_below(&c->rng, e->n)] : p->ops[leader];
  }
  for (int32_t i = 0; i < g->n_outputs; i++) {
    bool back = g->alias[i] >= 0;
    p->outputs[i] = back ? p->args[g->values[g->alias[i]].def_index] : random_sharding(c, g->outputs[i]);
  }
  p->args_whole = sw_rng_below(&c->rng, 4) == 0;
}

/* Does it run and match? Impossible reshards (a partial maximum wanted as a partial sum) make a plan illegal: drawn
 * again. */
typedef enum verdict { GOOD, BAD, ILLEGAL } verdict;

static verdict try_plan(chooser *c, const sw_plan *p, uint64_t seed, sw_text *why) {
  diag = (sw_diag){0};
  sw_arena scratch = {0};
  sw_validation v;
  sw_validate_options o = {.seed = seed, .timeout_s = 60, .intermediates = true};
  verdict result = ILLEGAL;
  (void)c;
  if (sw_plan_verify(p, &diag) == SW_OK) {
    sw_rc rc = sw_validate(p, &o, &scratch, &v, &diag);
    result = rc == SW_OK && v.matches ? GOOD : BAD;
    why->n = 0;
    if (!rc && v.first_bad_op) {
      sw_text_printf(why, "%s, made by %s: ", v.first_bad.name, v.first_bad_op);
      sw_difference_print(&v.first_bad.worst, v.first_bad.rank, why);
      sw_text_puts(why, "; ");
    }
    if (rc) sw_text_printf(why, "%s (%s)", diag.text, diag.n_notes ? diag.notes[0] : "");
    for (int32_t i = 0; !rc && i < v.n_outputs; i++) {
      if (!v.outputs[i].worst.differing) continue;
      sw_text_printf(why, "output %s: ", v.outputs[i].name);
      sw_difference_print(&v.outputs[i].worst, 0, why);
      sw_text_puts(why, "; ");
    }
  }
  sw_arena_deinit(&scratch);
  return result;
}

/* Make the i-th part plain; returns false when there is no such part. */
static bool simplify(const sw_graph *g, sw_plan *p, int32_t i, sw_strategy *op, sw_sharding *sharding) {
  if (i < g->n_ops) {
    *op = p->ops[i];
    p->ops[i] = (sw_strategy){0};
  } else if (i < g->n_ops + g->n_args) {
    *sharding = p->args[i - g->n_ops];
    p->args[i - g->n_ops] = sw_sharding_replicated(sharding->rank);
  } else {
    return false;
  }
  for (int32_t k = 0; k < g->n_outputs; k++) {
    if (g->alias[k] >= 0) p->outputs[k] = p->args[g->values[g->alias[k]].def_index];
  }
  return true;
}

static void restore(const sw_graph *g, sw_plan *p, int32_t i, const sw_strategy *op, const sw_sharding *sharding) {
  if (i < g->n_ops) p->ops[i] = *op;
  if (i >= g->n_ops) p->args[i - g->n_ops] = *sharding;
  for (int32_t k = 0; k < g->n_outputs; k++) {
    if (g->alias[k] >= 0) p->outputs[k] = p->args[g->values[g->alias[k]].def_index];
  }
}

static void print_plan(const chooser *c, const sw_plan *p) {
  const sw_graph *g = c->g;
  sw_text t = {0};
  for (int32_t i = 0; i < g->n_args; i++) {
    if (sw_sharding_is_replicated(&p->args[i])) continue;
    sw_text_printf(&t, "  arg %s ", g->values[g->args[i]].name);
    sw_sharding_print(sw_machine_mesh(c->machine), &p->args[i], &t);
    sw_text_puts(&t, "\n");
  }
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    if (p->ops[i].n_refs == 0) continue;
    sw_text_printf(&t, "  op %s (%s) ", op->name, sw_opcode_text(op->code));
    sw_type_print(sw_operand_type(g, op, 0), &t);
    sw_text_puts(&t, " ");
    sw_strategy_print(sw_machine_mesh(c->machine), op->nest, &p->ops[i], &t);
    sw_text_puts(&t, "\n");
  }
  print_message("%s", sw_text_str(&t));
  sw_text_free(&t);
}

static void shrink_and_print(chooser *c, sw_plan *p, uint64_t seed, sw_text *why) {
  sw_strategy op;
  sw_sharding sharding;
  for (int32_t i = 0; simplify(c->g, p, i, &op, &sharding); i++) {
    sw_text now = {0};
    if (try_plan(c, p, seed, &now) != BAD) restore(c->g, p, i, &op, &sharding);
    sw_text_free(&now);
  }
  (void)try_plan(c, p, seed, why);
  print_plan(c, p);
}

/* *program is NULL for a model of our own; else it owns the graph, and annotations bind nothing. */
static sw_graph *read_model(const char *model, const sw_mesh *m, sw_program **program) {
  *program = NULL;
  if (strstr(model, ".mlir")) {
    assert_ok(sw_program_read(model, &(sw_program_options){.mesh = m, .keep = SW_KEEP_NONE}, program, &diag));
    return (sw_graph *)sw_program_graph(*program);
  }
  return small_model(model);
}

/* Plans of one model on one mesh; returns how many failed. */
static int try_model(const char *model, const char *mesh, uint64_t seed, int plans) {
  char profile[512];
  chooser *c = calloc(1, sizeof *c);
  sw_program *program;
  sw_mesh m;
  const sw_profile *hw;
  sw_machine *machine;
  int failed = 0, executed = 0, drawn = 0;
  snprintf(profile, sizeof profile, "%s/hwprofiles/dgx-h100.json", SW_SOURCE_DIR);
  assert_ok(sw_profile_read(profile, &c->arena, &hw, &diag));
  assert_ok(sw_mesh_parse(mesh, &c->arena, &m, &diag));
  assert_ok(sw_machine_build(&c->arena, hw, &m, &machine, &diag));
  sw_graph *g = read_model(model, &m, &program);
  c->g = g;
  c->machine = machine;
  for (; executed < plans && drawn < 200 * plans && failed < 3; drawn++) {
    uint64_t s = seed + (uint64_t)drawn;
    sw_text why = {0};
    sw_plan p;
    sw_rng_seed(&c->rng, s);
    choose(c, &p);
    verdict v = try_plan(c, &p, s, &why);
    executed += v != ILLEGAL;
    if (v == BAD) {
      failed++;
      print_message("%s on %s, seed %llu: %s\n", model, mesh, (unsigned long long)s, sw_text_str(&why));
      shrink_and_print(c, &p, s, &why);
      print_message("  shrunk: %s\n", sw_text_str(&why));
    }
    sw_text_free(&why);
  }
  print_message("%-16s %-12s %d plans executed, %d of %d drawn were impossible\n", model, mesh, executed,
                drawn - executed, drawn);
  failed += executed == 0; /* a test of nothing */
  sw_dict_deinit(&c->classes);
  sw_arena_deinit(&c->arena);
  if (!program) sw_graph_destroy(g);
  sw_program_destroy(program);
  free(c);
  return failed;
}

static const char *g_model, *g_mesh;

/* On all meshes; a run at a small scale leaves out some, others for each model (`turn` counts them). */
static int try_meshes(const char *model, uint64_t seed, int *turn) {
  int failed = 0;
  if (g_mesh) return try_model(model, g_mesh, seed, check_scale(2));
  for (size_t j = 0; j < RANDOM_MESHES; j++) {
    if (check_turn(seed, (*turn)++)) failed += try_model(model, random_meshes[j], seed + 100000 * j, check_scale(2));
  }
  return failed;
}

static void random_plans_execute_correctly(void **state) {
  (void)state;
  uint64_t seed = check_seed(1);
  bool is_program = g_model && strstr(g_model, ".mlir");
  int turn = 0, failed = is_program ? try_meshes(g_model, seed, &turn) : 0;
  for (size_t i = 0; i < RANDOM_MODELS && !is_program; i++) {
    if (!g_model || strcmp(g_model, random_models[i]) == 0)
      failed += try_meshes(random_models[i], seed + 1000000 * i, &turn);
  }
  assert_int_equal(failed, 0);
}

int main(int argc, char **argv) {
  g_model = argc > 1 ? argv[1] : NULL;
  g_mesh = argc > 2 ? argv[2] : NULL;
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_plans_execute_correctly)};
  return cmocka_run_group_tests_name("random_plans", tests, NULL, NULL);
}
