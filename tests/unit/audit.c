/* Validation notices every wrong collective: for every small model and several plans, each collective of the program in
 * turn is left out, shifted and reduced otherwise; the run must differ from that of one device every time, unless the
 * audit shows that nothing can differ.
 *
 *   ./unit_audit [model]     the name of a small model or the path of another (other.json); by default all small ones
 */
#include "check.h"
#include "support/meshes.h"

#include "exec/audit.h"
#include "shardwright/model_json.h"
#include "support/job.h"

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
  *s = (subject){.model = model};
  if (strstr(model, ".json"))
    assert_ok(sw_model_read(model, &s->graph, &diag));
  else
    s->graph = small_model(model);
  s->machine = machine_of("uniform", mesh, &s->arena); /* whose prices no calibration moves */
}

static void close_model(subject *s) {
  sw_graph_destroy(s->graph);
  sw_arena_deinit(&s->arena);
}

static void print_unnoticed(const sw_audit *a) {
  for (int32_t i = 0; i < a->n_entries; i++) {
    const sw_audit_entry *e = &a->entries[i];
    if (e->verdict == SW_AUDIT_NOTICED) continue;
    print_message("  %s: collective %d (%s, %s) %s: %s changes, %.2g of what is allowed, %s\n",
                  sw_audit_verdict_text(e->verdict), e->collective, e->name, sw_coll_text(e->op),
                  sw_coll_fault_text(e->fault), e->value ? e->value : "nothing", e->used, sw_no_effect_text(e->why));
  }
}

/* How many faults of one plan go by; all are added to `sum`. */
static void try_plan(const subject *s, const char *mesh, sw_audit *sum) {
  sw_arena scratch = {0};
  sw_audit a;
  sw_validate_options o = {.seed = 1, .timeout_s = 60, .intermediates = true};
  assert_ok(sw_audit_plan(&s->plan, &o, &scratch, &a, &diag));
  assert_true(a.right.matches);
  print_message(
      "%-16s %-8s %-14s %4d collectives, %4d faults: %4d noticed, %2d without effect, %2d undecided, %d missed\n",
      s->model, mesh, s->how, a.n_collectives, a.n_entries, a.count[SW_AUDIT_NOTICED], a.count[SW_AUDIT_NO_EFFECT],
      a.count[SW_AUDIT_UNDECIDED], a.count[SW_AUDIT_MISSED]);
  print_unnoticed(&a);
  for (int v = 0; v < SW_AUDIT_VERDICT_COUNT; v++) sum->count[v] += a.count[v];
  sum->n_entries += a.n_entries;
  sw_arena_deinit(&scratch);
}

static void try_baselines(subject *s, const char *mesh, sw_audit *sum) {
  for (int b = SW_BASELINE_DATA_PARALLEL; b < SW_BASELINE_COUNT; b++) {
    s->how = sw_baseline_text((sw_baseline)b);
    assert_ok(sw_baseline_build(JOB(s->graph, s->machine), (sw_baseline)b, &s->arena, &s->plan, &diag));
    try_plan(s, mesh, sum);
  }
}

static void try_search(subject *s, const char *mesh, sw_audit *sum) {
  sw_plan_options o = {.solve = {.threads = 1, .work_limit = 150000000}, .selection = {.cut_heavy_ops = true}};
  s->how = "search";
  assert_ok(sw_plan_search(JOB(s->graph, s->machine), &o, &s->arena, &s->plan, &diag));
  try_plan(s, mesh, sum);
}

static const char *g_model;

static void every_wrong_collective_is_noticed(void **state) {
  (void)state;
  const uint64_t seed = check_seed(1);
  int turn = 0;
  sw_audit sum = {0};
  const size_t n = g_model ? 1 : sizeof kModels / sizeof kModels[0];
  for (size_t i = 0; i < n; i++) {
    static const char *const kMeshes[] = {"x=2,y=2", "x=3"};
    for (size_t m = 0; m < sizeof kMeshes / sizeof kMeshes[0]; m++) {
      subject s;
      if (!g_model && !check_turn(seed, turn++)) continue;
      open_model(&s, g_model ? g_model : kModels[i], kMeshes[m]);
      try_baselines(&s, kMeshes[m], &sum);
      try_search(&s, kMeshes[m], &sum);
      close_model(&s);
    }
  }
  print_message("%d faults, %d undecided\n", sum.n_entries, sum.count[SW_AUDIT_UNDECIDED]);
  assert_int_equal(sum.count[SW_AUDIT_MISSED], 0);
}

int main(int argc, char **argv) {
  g_model = argc > 1 ? argv[1] : NULL;
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_wrong_collective_is_noticed)};
  return cmocka_run_group_tests_name("audit", tests, NULL, NULL);
}
