/* Validation notices every wrong collective: for every small model and several plans, each collective of the program in
 * turn is left out, and then done wrongly; the run must differ from that of one device every time.
 *
 *   SW_TEST_SCALE=100000 ./unit_sabotage [model]     all collectives; by default a few of each program; the model is
 *                                                    the name of a small one or the path of another (other.json)
 */
#include "check.h"
#include "support/meshes.h"

#include "shardwright/hash.h"
#include "shardwright/model_json.h"
#include "shardwright/validate.h"

static const char *const kModels[] = {"mlp",        "gpt2",       "llama3",     "llama3-decode",
                                      "mixtral",    "vit",        "resnet",     "mlp-train",
                                      "gpt2-train", "conv-train", "bert-train", "moe-layers-train"};

typedef struct subject {
  sw_arena arena;
  sw_graph *graph;
  sw_machine *machine;
  sw_plan plan;
  const char *model, *how;
} subject;

static void open_model(subject *s, const char *model, const char *mesh) {
  sw_diag diag = {0};
  char path[512];
  *s = (subject){.model = model};
  if (strstr(model, ".json")) {
    snprintf(path, sizeof path, "%s", model);
  } else {
    snprintf(path, sizeof path, "%s/models/small/%s.json", SW_SOURCE_DIR, model);
  }
  assert_ok(sw_model_read(path, &s->graph, &diag));
  s->machine = machine_of("dgx-h100", mesh, &s->arena);
}

static void close_model(subject *s) {
  sw_graph_destroy(s->graph);
  sw_arena_deinit(&s->arena);
}

/* Is a value computed from constants alone? They are the same everywhere. */
static bool is_constant(const sw_graph *g, sw_id value) {
  const sw_op *op = g->values[value].def >= 0 ? &g->ops[g->values[value].def] : NULL;
  if (!op || op->code == SW_OP_IOTA || op->code == SW_OP_RNG || op->code == SW_OP_SHARD_START) return false;
  for (int i = 0; i < op->n_operands; i++) {
    if (!is_constant(g, op->operands[i])) return false;
  }
  return true;
}

/* Why a wrong collective may change nothing. */
typedef enum excuse { NO_EXCUSE, EQUAL_ELEMENTS, ROUNDING_NOISE, EXCUSE_COUNT } excuse;

/* It moves the equal elements of a constant or a broadcast, or makes zeros zero on all devices but one; or it is of the
 * gradient of a bias of the keys, which softmax ignores: that is zero, and what Adam makes of it is rounding noise. */
static excuse excuse_of(const sw_graph *program, const sw_op *op) {
  sw_id def = program->values[op->operands[0]].def;
  bool equal = is_constant(program, op->operands[0]) || (def >= 0 && program->ops[def].code == SW_OP_BROADCAST);
  if (equal && !sw_coll_combines(op->collective->op)) return EQUAL_ELEMENTS;
  return strstr(op->name, ".attn.bk.") || strstr(op->name, ".attn.k.rows.d0") ? ROUNDING_NOISE : NO_EXCUSE;
}

static excuse describe(const subject *s, int32_t n, sw_text *name) {
  sw_diag diag = {0};
  sw_spmd spmd;
  excuse found = NO_EXCUSE;
  assert_ok(sw_partition(&s->plan, &spmd, &diag));
  for (int32_t i = 0, seen = 0; i < spmd.program->n_ops; i++) {
    const sw_op *op = &spmd.program->ops[i];
    if (!op->collective || ++seen != n) continue;
    found = excuse_of(spmd.program, op);
    sw_text_printf(name, "%s, %s", op->name, sw_coll_text(op->collective->op));
  }
  sw_spmd_deinit(&spmd);
  return found;
}

/* Validates with collective n wrong (0: none); says whether the outputs are those of one device. */
static bool matches(const subject *s, int32_t n, bool alter, int32_t *collectives) {
  sw_diag diag = {0};
  sw_arena scratch = {0};
  sw_validation v;
  sw_validate_options o = {.seed = 1, .timeout_s = 60, .intermediates = true, .sabotage = n, .sabotage_alters = alter};
  assert_ok(sw_validate(&s->plan, &o, &scratch, &v, &diag));
  if (collectives) *collectives = v.collectives;
  sw_arena_deinit(&scratch);
  return v.matches;
}

/* A wrong collective that changes nothing: reported, unless it cannot change anything. */
static excuse unnoticed(const subject *s, const char *mesh, int32_t which, bool alter) {
  sw_text name = {0};
  excuse found = describe(s, which, &name);
  if (!found) {
    print_message("%s on %s, %s: collective %d (%s) %s, and nothing is noticed\n", s->model, mesh, s->how, which,
                  sw_text_str(&name), alter ? "altered" : "left out");
  }
  sw_text_free(&name);
  return found;
}

/* Returns how many wrong collectives went unnoticed without excuse. */
static int try_plan(const subject *s, const char *mesh, sw_rng *rng) {
  int32_t n, most = check_scale(3), count[EXCUSE_COUNT] = {0};
  assert_true(matches(s, 0, false, &n));
  int tries = n < most ? n : most;
  for (int i = 0; i < tries; i++) {
    int32_t which = 1 + (tries == n ? i : (int32_t)sw_rng_below(rng, n));
    for (int alter = 0; alter < 2; alter++) {
      if (matches(s, which, alter, NULL)) count[unnoticed(s, mesh, which, alter)]++;
    }
  }
  print_message("%-16s %-8s %-14s %3d of %3d collectives; without effect: %d of equal elements, %d of noise\n",
                s->model, mesh, s->how, tries, n, count[EQUAL_ELEMENTS], count[ROUNDING_NOISE]);
  return count[NO_EXCUSE];
}

static int try_baselines(subject *s, const char *mesh, sw_rng *rng) {
  sw_diag diag = {0};
  int missed = 0;
  for (int b = SW_BASELINE_DATA_PARALLEL; b < SW_BASELINE_COUNT; b++) {
    s->how = sw_baseline_text((sw_baseline)b);
    assert_ok(sw_baseline_build(s->graph, s->machine, (sw_baseline)b, &s->arena, &s->plan, &diag));
    missed += try_plan(s, mesh, rng);
  }
  return missed;
}

static int try_search(subject *s, const char *mesh, sw_rng *rng) {
  sw_diag diag = {0};
  sw_plan_options o = {.solve = {.threads = 1, .work_limit = 150000000}, .selection = {.cut_heavy_ops = true}};
  s->how = "search";
  assert_ok(sw_plan_search(s->graph, s->machine, &o, &s->arena, &s->plan, &diag));
  return try_plan(s, mesh, rng);
}

static const char *g_model;

static void every_wrong_collective_is_noticed(void **state) {
  (void)state;
  sw_rng rng;
  uint64_t seed = check_seed(1);
  int missed = 0, turn = 0;
  sw_rng_seed(&rng, seed);
  const size_t n = g_model ? 1 : sizeof kModels / sizeof kModels[0];
  for (size_t i = 0; i < n; i++) {
    static const char *const kMeshes[] = {"x=2,y=2", "x=3"};
    for (size_t m = 0; m < sizeof kMeshes / sizeof kMeshes[0]; m++) {
      subject s;
      if (!g_model && !check_turn(seed, turn++)) continue;
      open_model(&s, g_model ? g_model : kModels[i], kMeshes[m]);
      missed += try_baselines(&s, kMeshes[m], &rng) + try_search(&s, kMeshes[m], &rng);
      close_model(&s);
    }
  }
  assert_int_equal(missed, 0);
}

int main(int argc, char **argv) {
  g_model = argc > 1 ? argv[1] : NULL;
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_wrong_collective_is_noticed)};
  return cmocka_run_group_tests_name("sabotage", tests, NULL, NULL);
}
