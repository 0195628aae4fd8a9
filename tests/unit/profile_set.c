/* Numbers of a profile changed before it is read: which a path names, what they become, and what is said of none. */
#include "check.h"

#include <math.h>

#include "shardwright/profile_json.h"

static const sw_profile *read_with(sw_arena *a, const char *name, const char *const *changes, int n) {
  const sw_profile *p;
  assert_ok(sw_profile_read_with(name, &(sw_profile_reading){.changes = changes, .n_changes = n}, a, &p, &diag));
  return p;
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * fabs(b); }

/* Every slope of h100's network doubles where its rates are halved, and nothing else of it changes. */
static void all_rates_of_a_level_are_halved(void **state) {
  (void)state;
  static const char *const kChanges[][1] = {{"levels.*.**.*bytes_per_s*=0.5"}, {"levels.nvlink.**.*bytes_per_s*=0.5"}};
  for (int i = 0; i < 2; i++) {
    sw_arena a = {0};
    const sw_profile *was = read_with(&a, "h100", NULL, 0), *now = read_with(&a, "h100", kChanges[i], 1);
    for (int l = 0; l < was->n_levels; l++) {
      const double times = i == 0 || l == 0 ? 2 : 1;
      for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
        const sw_cost_line *x = &was->level[l].line[c], *y = &now->level[l].line[c];
        assert_true(near(y->s_per_byte, times * x->s_per_byte));
        assert_true(near(y->pair_s_per_byte, times * x->pair_s_per_byte));
        assert_true(near(y->in_network_s_per_byte, times * x->in_network_s_per_byte));
        assert_true(y->base_s == x->base_s && y->in_network_min == x->in_network_min);
      }
    }
    assert_true(now->memory_bytes_per_s == was->memory_bytes_per_s);
    assert_true(sw_profile_hash(now) != sw_profile_hash(was));
    sw_arena_deinit(&a);
  }
}

static void changes_are_made_in_order(void **state) {
  (void)state;
  static const char *const kChanges[] = {"device.memory.bytes=4e10", "device.memory.bytes*=2",
                                         "device.kernels.multiprocessors=100", "device.flop_per_s.bf16*=3"};
  sw_arena a = {0};
  const sw_profile *was = read_with(&a, "dgx-h100", NULL, 0), *now = read_with(&a, "dgx-h100", kChanges, 4);
  assert_int_equal(now->memory_bytes, INT64_C(80000000000));
  assert_true(now->multiprocessors == 100 && near(now->flop_per_s[SW_BF16], 3 * was->flop_per_s[SW_BF16]));
  assert_string_equal(now->name,
                      "dgx-h100 with device.memory.bytes=4e10, device.memory.bytes*=2, "
                      "device.kernels.multiprocessors=100, device.flop_per_s.bf16*=3");
  sw_arena_deinit(&a);
}

/* How many of the five classes have another base_s then; reduce_scatter takes that of all_gather. */
static void patterns_name_what_they_should(void **state) {
  (void)state;
  static const struct {
    const char *change;
    int ones;
  } kRows[] = {{"levels.xgmi.costs.all_gather.base_s=1", 2},
               {"levels.*.costs.all_*.base_s=1", 4},
               {"**.base_s=1", 5},
               {"levels.**.base_s=1", 5},
               {"**.costs.**.base_s=1", 5},
               {"l*s.x*i.c*.*e*c*.base_s=1", 1},
               {"**.permute.*_s=1", 1},
               {"*.*.costs.permute.base_s=1", 1}};
  for (size_t i = 0; i < sizeof kRows / sizeof *kRows; i++) {
    sw_arena a = {0};
    const sw_profile *p = read_with(&a, "mi300x-8", &kRows[i].change, 1);
    int ones = 0;
    for (int c = 0; c < SW_COST_CLASS_COUNT; c++) ones += p->level[0].line[c].base_s == 1;
    if (ones != kRows[i].ones) fail_msg("%s: %d", kRows[i].change, ones);
    sw_arena_deinit(&a);
  }
}

static void what_names_nothing_is_refused(void **state) {
  (void)state;
  static const char *const kRows[][2] = {
      {"device.memory.bytes", "no change; expected PATH=NUMBER or PATH*=NUMBER"},
      {"=4", "no change; expected"},
      {"device.memory.byte=4", "nearest: 'device.memory.bytes'"},
      {"levels.nvlnk.costs.permute.base_s*=2", "nearest: 'levels.nvlink.costs.permute.base_s'"},
      {"device=4", "no number 'device'"},
      {"device.name=4", "no number 'device.name'"},
      {"device.memory.bytes=much", "'much'"},
      {"device.memory.bytes*=", "the factor is ''"},
      {"**.none=4", "no number '**.none'"},
  };
  for (size_t i = 0; i < sizeof kRows / sizeof *kRows; i++) {
    sw_arena a = {0};
    diag = (sw_diag){0};
    const sw_profile *p;
    assert_int_equal(
        sw_profile_read_with("dgx-h100", &(sw_profile_reading){.changes = &kRows[i][0], .n_changes = 1}, &a, &p, &diag),
        SW_E_USAGE);
    if (!strstr(diag.text, kRows[i][1])) fail_msg("'%s' lacks '%s'", diag.text, kRows[i][1]);
    sw_arena_deinit(&a);
  }
}

static void count_dropped(void *user, const sw_diag *d) {
  *(int *)user += d->rc == SW_OK && strstr(d->text, "is priced without its knots") != NULL;
}

/* Knots that were fitted beside slower links do not hold beside faster ones; those that hold stay. */
static void knots_that_fall_are_dropped_and_told(void **state) {
  (void)state;
  static const struct {
    const char *change;
    bool falls;
  } kRows[] = {{"levels.*.costs.**.bytes_per_s*=4", true}, {"levels.*.costs.**.bytes_per_s*=0.5", false}};
  for (size_t i = 0; i < sizeof kRows / sizeof *kRows; i++) {
    int told = 0, had = 0, has = 0;
    sw_arena a = {0};
    const sw_profile *was = read_with(&a, "dgx-h100", NULL, 0), *is;
    const sw_profile_reading o = {&kRows[i].change, 1, count_dropped, &told};
    assert_ok(sw_profile_read_with("dgx-h100", &o, &a, &is, &diag));
    for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
      had += was->level[0].line[c].knots != NULL;
      has += is->level[0].line[c].knots != NULL;
    }
    assert_true(had > 0 && had - has == told && (told > 0) == kRows[i].falls);
    sw_arena_deinit(&a);
  }
}

static void out_of_range_is_refused_where_it_stands(void **state) {
  (void)state;
  static const char *const kChange[] = {"device.achieved.flop_fraction*=2"};
  sw_arena a = {0};
  diag = (sw_diag){0};
  const sw_profile *p;
  assert_int_equal(
      sw_profile_read_with("dgx-h100", &(sw_profile_reading){.changes = kChange, .n_changes = 1}, &a, &p, &diag),
      SW_E_INPUT);
  assert_non_null(strstr(diag.text, "'flop_fraction' is 1.558; expected 1e-06 to 1"));
  assert_true(diag.line > 1);
  sw_arena_deinit(&a);
}

static void memory_failures_come_back(void **state) {
  (void)state;
  static const struct {
    const char *change;
    sw_rc end;
  } kRows[] = {{"exchange.peer_s*=2", SW_OK}, {"device.memory.byte=4", SW_E_USAGE}};
  for (int i = 0; i < 2; i++) {
    sw_rc rc = SW_E_RESOURCE;
    for (long n = 1; rc == SW_E_RESOURCE; n++) {
      sw_arena a = {0};
      const sw_profile *p;
      assert_true(n < 100000);
      sw_mem_fail_after(n);
      rc = sw_profile_read_with("dgx-h100", &(sw_profile_reading){.changes = &kRows[i].change, .n_changes = 1}, &a, &p,
                                &diag);
      sw_mem_fail_after(0);
      sw_arena_deinit(&a);
    }
    assert_int_equal(rc, kRows[i].end);
  }
}

static void a_name_that_is_not_known_lists_those_that_are(void **state) {
  (void)state;
  sw_arena a = {0};
  diag = (sw_diag){0};
  const sw_profile *p;
  sw_mesh mesh;
  assert_int_equal(sw_profile_read("dgx-h10", &a, &p, &diag), SW_E_INPUT);
  assert_non_null(strstr(diag.text, "did you mean 'dgx-h100'?"));
  assert_non_null(strstr(diag.text, "uniform"));
  diag = (sw_diag){0};
  assert_ok(sw_mesh_parse("x=2,y=4", &a, &mesh, &diag));
  diag.rc = SW_E_INPUT;
  sw_profile_note_fitting(&mesh, &diag);
  assert_int_equal(diag.n_notes, 1);
  assert_non_null(strstr(diag.notes[0], "dgx-a100"));
  assert_ok(sw_mesh_parse("x=7,y=11,z=13,w=17,v=19", &a, &mesh, &diag));
  diag = (sw_diag){.rc = SW_E_INPUT};
  sw_profile_note_fitting(&mesh, &diag);
  assert_true(diag.n_notes == 0 || !strstr(diag.notes[0], "dgx-a100"));
  sw_arena_deinit(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_rates_of_a_level_are_halved),
                                     cmocka_unit_test(changes_are_made_in_order),
                                     cmocka_unit_test(patterns_name_what_they_should),
                                     cmocka_unit_test(what_names_nothing_is_refused),
                                     cmocka_unit_test(knots_that_fall_are_dropped_and_told),
                                     cmocka_unit_test(out_of_range_is_refused_where_it_stands),
                                     cmocka_unit_test(memory_failures_come_back),
                                     cmocka_unit_test(a_name_that_is_not_known_lists_those_that_are)};
  return cmocka_run_group_tests_name("profile_set", tests, NULL, NULL);
}
