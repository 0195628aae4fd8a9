/* Real programs: every one gets a plan with a small gap; a plan is no worse than shardings that people wrote; and
 * propagating such shardings takes no more communication than Shardy's own output. Skipped without
 * SHARDWRIGHT_PROGRAMS_DIR. */
#include "check.h"

#include <dirent.h>

#include "base/file.h"
#include "shardwright/plan.h"
#include "shardwright/profile_json.h"
#include "shardwright/program.h"
#include "shardwright/propagate.h"
#include "support/job.h"

typedef struct opened {
  sw_arena arena;
  sw_program *program;
  sw_machine *machine;
  const sw_graph *graph;
  sw_plan plan;
  sw_breakdown breakdown;
} opened;

static const char *folder;

static int find_folder(void **state) {
  (void)state;
  folder = getenv("SHARDWRIGHT_PROGRAMS_DIR");
  return 0;
}

static void need_folder(void) {
  if (folder && *folder) return;
  print_message("skipped: SHARDWRIGHT_PROGRAMS_DIR is not set\n");
  skip();
}

/* `mesh` NULL: the program's own. */
static void open_program(opened *o, const char *name, const char *profile, const char *mesh) {
  char path[1024];
  const sw_profile *hw;
  sw_mesh given;
  *o = (opened){0};
  snprintf(path, sizeof path, "%s/hwprofiles/%s.json", SW_SOURCE_DIR, profile);
  assert_ok(sw_profile_read(path, &o->arena, &hw, &diag));
  if (mesh) assert_ok(sw_mesh_parse(mesh, &o->arena, &given, &diag));
  snprintf(path, sizeof path, "%s/%s", folder, name);
  assert_ok(sw_program_read(path, &(sw_program_options){.mesh = mesh ? &given : NULL}, &o->program, &diag));
  o->graph = sw_program_graph(o->program);
  assert_true(o->graph->written->has_mesh);
  assert_ok(sw_machine_build(&o->arena, hw, &o->graph->written->mesh, &o->machine, &diag));
}

static void close_program(opened *o) {
  sw_program_destroy(o->program);
  sw_arena_deinit(&o->arena);
}

static void price(opened *o) {
  assert_ok(sw_plan_verify(&o->plan, &diag));
  assert_ok(sw_plan_breakdown(&o->plan, &o->arena, &o->breakdown, &diag));
}

static void search(opened *o, double gap, int64_t capacity) {
  sw_plan_options options = {.solve = {.time_limit_s = 60, .threads = 1, .gap = gap},
                             .selection = {.capacity_bytes = capacity}};
  assert_ok(sw_plan_search(JOB(o->graph, o->machine), &options, &o->arena, &o->plan, &diag));
  price(o);
}

/* --- every program ----------------------------------------------------------------------------------------------- */

static const struct {
  const char *mesh, *profile;
} kMeshes[] = {{"2", "dgx-h100"}, {"2x4", "dgx-h100"}, {"8x8", "h100x64"}};

/* The largest program is planned on its own mesh below; on two axes that is for an optimised build. */
static void check_program(const char *name) {
  const double most_gap = 0.01;
  bool is_large = strstr(name, "z_image") != NULL;
  for (size_t i = 0; i < (is_large ? 1 : sizeof kMeshes / sizeof *kMeshes); i++) {
    opened o;
    open_program(&o, name, kMeshes[i].profile, kMeshes[i].mesh);
    search(&o, most_gap, 0);
    double gap = (double)(o.plan.cost_units - o.plan.bound_units);
    print_message("%s on %s: %.4g s, planned in %.2f s\n", name, kMeshes[i].mesh, o.breakdown.total_s, o.plan.time_s);
    assert_true(gap <= most_gap * (double)o.plan.cost_units);
    close_program(&o);
  }
}

static void every_program_gets_a_plan(void **state) {
  (void)state;
  need_folder();
  struct dirent **entries;
  int n = scandir(folder, &entries, NULL, alphasort), programs = 0;
  assert_true(n >= 0);
  for (int i = 0; i < n; i++) {
    size_t length = strlen(entries[i]->d_name);
    if (length > 5 && strcmp(entries[i]->d_name + length - 5, ".mlir") == 0) {
      check_program(entries[i]->d_name);
      programs++;
    }
    free(entries[i]);
  }
  free(entries);
  assert_true(programs > 0);
}

/* --- shardings that people wrote --------------------------------------------------------------------------------- */

static const char *const kPairs[] = {"mlp", "minimal_attn", "llama_sdpa"};

/* Our plan of the program without shardings: no slower with all memory, nor with only as much as the person's holds. */
static void check_against(const opened *person, const char *pair, const char *how) {
  char name[64];
  snprintf(name, sizeof name, "tt-mlir__sdy_%s_auto.mlir", pair);
  for (int tight = 0; tight < 2; tight++) {
    opened own;
    open_program(&own, name, "dgx-h100", NULL);
    search(&own, 0, tight ? person->breakdown.peak_bytes : 0);
    print_message("%s, %s%s: %.4g s, ours %.4g s\n", pair, how, tight ? ", as little memory" : "",
                  person->breakdown.total_s, own.breakdown.total_s);
    assert_true(own.breakdown.total_s <= person->breakdown.total_s * (1 + 1e-9));
    if (tight) assert_true(own.breakdown.peak_bytes <= person->breakdown.peak_bytes);
    close_program(&own);
  }
}

/* Against the best plan that keeps the person's shardings, and against the one that follows from them by propagation.
 */
static void no_person_beats_the_search(void **state) {
  (void)state;
  need_folder();
  for (size_t i = 0; i < sizeof kPairs / sizeof *kPairs; i++) {
    char name[64];
    opened person;
    snprintf(name, sizeof name, "tt-mlir__sdy_%s_manual.mlir", kPairs[i]);
    open_program(&person, name, "dgx-h100", NULL);
    assert_true(person.graph->written->n_annotations > 0);
    search(&person, 0, 0);
    check_against(&person, kPairs[i], "kept");
    assert_ok(sw_propagate(JOB(person.graph, person.machine), SW_TRAVERSE_BACKWARD_FORWARD, &person.arena, &person.plan,
                           &diag));
    price(&person);
    check_against(&person, kPairs[i], "propagated");
    close_program(&person);
  }
}

/* --- Shardy's output --------------------------------------------------------------------------------------------- */

static int64_t count(const char *text, const char *what) {
  int64_t n = 0;
  for (; (text = strstr(text, what)); text++) n++;
  return n;
}

/* Bytes that a device sends: each of Shardy's all_reduces on n devices moves 2 (n - 1) / n of its operand. */
static void propagation_communicates_no_more_than_shardy(void **state) {
  (void)state;
  need_folder();
  opened o;
  char path[1024], *text;
  size_t n;
  open_program(&o, "tt-xla__z_image_text_encoder.1_global_annotated.mlir", "dgx-h100", NULL);
  assert_ok(sw_propagate(JOB(o.graph, o.machine), SW_TRAVERSE_BACKWARD_FORWARD, &o.arena, &o.plan, &diag));
  price(&o);
  snprintf(path, sizeof path, "%s/tt-xla__z_image_text_encoder.2_partitioned.mlir", folder);
  assert_ok(sw_file_read(path, &text, &n, &diag));
  int64_t theirs = count(text, "\"stablehlo.all_reduce\"");
  assert_int_equal(count(text, "}) : (tensor<7x2560xbf16>) -> tensor<7x2560xbf16>"), theirs);
  double devices = (double)sw_mesh_devices(&o.graph->written->mesh), ours = 0;
  double most = (double)(theirs * 7 * 2560 * 2) * 2 * (devices - 1) / devices;
  for (int c = 0; c < SW_COLL_COUNT; c++) ours += (double)o.breakdown.by_collective[c].bytes;
  print_message("%.0f bytes sent by a device, Shardy's %.0f\n", ours, most);
  assert_int_equal(theirs, 72);
  assert_true(o.breakdown.by_collective[SW_COLL_ALL_REDUCE].calls <= theirs);
  assert_true(ours <= most);
  sw_mem_free(text);
  close_program(&o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_program_gets_a_plan),
      cmocka_unit_test(no_person_beats_the_search),
      cmocka_unit_test(propagation_communicates_no_more_than_shardy),
  };
  return cmocka_run_group_tests_name("programs", tests, find_folder, NULL);
}
