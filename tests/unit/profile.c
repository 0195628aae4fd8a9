/* Reading hardware profiles: what is read, and what is refused and where. */
#include "check.h"

#include <math.h>
#include <unistd.h>

#include "shardwright/profile_json.h"

static const char kText[] =
    "{\"format\": \"shardwright.profile\", \"version\": 1, \"name\": \"t\", \"description\": \"d\",\n"
    " \"sources\": {\"s\": \"somewhere\"},\n"
    " \"device\": {\"name\": \"dev\",\n"
    "  \"memory\": {\"bytes\": 8e10, \"reserved_bytes\": 1000000000, \"bytes_per_s\": 2e12, \"source\": \"s\"},\n"
    "  \"flop_per_s\": {\"f32\": 1e13, \"bf16\": 3e14, \"source\": \"s\"},\n"
    "  \"achieved\": {\"flop_fraction\": 0.8, \"memory_fraction\": 0.7, \"launch_s\": 5e-6, \"source\": \"s\"}},\n"
    " \"exchange\": {\"peer_s\": 1e-6, \"source\": \"s\"},\n"
    " \"levels\": [\n"
    "  {\"name\": \"ici\", \"topology\": \"torus\", \"shape\": [2, 4], \"wrap\": [false, true], \"source\": \"s\",\n"
    "   \"costs\": {\n"
    "    \"all_gather\": {\"base_s\": 1e-6, \"peer_s\": 1e-7, \"bytes_per_s\": 4e10, \"source\": \"s\"},\n"
    "    \"reduce_scatter\": \"all_gather\",\n"
    "    \"all_reduce\": {\"base_s\": 2e-6, \"bytes_per_s\": 4e10, \"pair_bytes_per_s\": 8e10,\n"
    "     \"in_network\": {\"min_members\": 3, \"bytes_per_s\": 5e10, \"source\": \"s\"}, \"source\": \"s\"},\n"
    "    \"all_to_all\": \"all_gather\", \"permute\": \"all_gather\"}},\n"
    "  {\"name\": \"dcn\", \"topology\": \"switch\", \"size\": 3, \"source\": \"s\",\n"
    "   \"overlap\": {\"serial_fraction\": 0.25, \"source\": \"s\"},\n"
    "   \"costs\": {\n"
    "    \"all_gather\": {\"base_s\": 1e-5, \"bytes_per_s\": 1e9, \"source\": \"s\"},\n"
    "    \"reduce_scatter\": \"all_gather\", \"all_reduce\": \"all_gather\", \"all_to_all\": \"all_gather\",\n"
    "    \"permute\": \"all_gather\"}}],\n"
    " \"meshes\": [\"x=3,y=2,z=4\", \"a=24\"],\n"
    " \"measured\": [{\"hardware\": \"TPU*\", \"source\": \"*\", \"nodes\": 2, \"library\": \"l\"}],\n"
    " \"runs\": {\"hardware\": [{\"name\": \"TPU*\", \"memory\":\n"
    "  {\"bytes\": 9e10, \"bytes_per_s\": 1e12, \"source\": \"s\"}, \"clock\": 0.5, \"source\": \"s\"}]},\n"
    " \"library\": \"l\"}\n";

static void everything_is_read(void **state) {
  (void)state;
  sw_arena a = {0};
  const sw_profile *p;
  assert_ok(sw_profile_parse("t.json", kText, strlen(kText), &a, &p, &diag));
  assert_string_equal(sw_profile_name(p), "t");
  assert_int_equal(sw_profile_devices(p), 24);
  assert_int_equal(sw_profile_memory_bytes(p), INT64_C(79000000000));
  assert_true(p->flop_per_s[SW_F32] == 1e13 && p->flop_per_s[SW_BF16] == 3e14);
  assert_true(p->flop_per_s[SW_F64] == 5e12 && p->flop_per_s[SW_F8E5M2] == 3e14 && p->flop_per_s[SW_I64] == 5e12);
  assert_true(p->flop_fraction == 0.8 && p->flop_fraction_8bit == 0.8 && p->memory_fraction == 0.7);
  assert_true(p->launch_s == 5e-6 && p->exchange_peer_s == 1e-6 && p->shared_cores == 0);
  assert_int_equal(p->n_levels, 2);
  const sw_level *ici = &p->level[0], *dcn = &p->level[1];
  assert_int_equal(ici->kind, SW_TOPOLOGY_TORUS);
  assert_true(ici->n_dims == 2 && ici->dims[0] == 2 && ici->dims[1] == 4 && !ici->wrap[0] && ici->wrap[1]);
  assert_memory_equal(&ici->line[SW_COST_REDUCE_SCATTER], &ici->line[SW_COST_ALL_GATHER], sizeof ici->line[0]);
  const sw_cost_line *ar = &ici->line[SW_COST_ALL_REDUCE];
  assert_true(ar->base_s == 2e-6 && ar->peer_s == 0 && fabs(ar->s_per_byte - 2.5e-11) < 1e-24);
  assert_true(ar->in_network_min == 3 && fabs(ar->in_network_s_per_byte - 2e-11) < 1e-24);
  assert_true(fabs(ar->pair_s_per_byte - 1.25e-11) < 1e-24);
  assert_true(dcn->serial_fraction == 0.25 && dcn->dims[0] == 3);
  assert_int_equal(sw_profile_mesh_count(p), 2);
  assert_int_equal(sw_profile_mesh(p, 1)->axis[0].size, 24);
  assert_true(p->n_measured == 1 && p->measured[0].nodes == 2);
  assert_string_equal(p->library, "l");
  assert_string_equal(p->measured[0].library, "l");
  const sw_run_hardware *h = &p->run_hardware[0];
  assert_int_equal(p->n_run_hardware, 1);
  assert_string_equal(h->name, "TPU*");
  assert_true(h->memory_bytes == 90000000000 && h->memory_bytes_per_s == 1e12 && h->clock == 0.5);
  sw_arena_deinit(&a);
}

static void knots_are_read(void **state) {
  (void)state;
  static const char kRate[] = "\"bytes_per_s\": 1e9";
  sw_arena a = {0};
  sw_text text = {0};
  const sw_profile *p;
  const char *at = strstr(kText, kRate) + strlen(kRate);
  sw_text_append(&text, kText, (size_t)(at - kText));
  sw_text_puts(&text,
               ", \"knots\": {\"members\": [2, 3], \"bytes\": [1000, 1e6, 1e9], \"source\": \"s\",\n"
               "\"ln_factor\": [[0.1, 0.2, 0.3], [-0.25, 0, 0.5]]}");
  sw_text_puts(&text, at);
  assert_ok(sw_profile_parse("t.json", sw_text_str(&text), text.n, &a, &p, &diag));
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) { /* all are named as all_gather is */
    const sw_cost_knots *k = p->level[1].line[c].knots;
    assert_true(k && k->n_members == 2 && k->n_sizes == 3);
    assert_true(k->ln_members[1] == log(3) && k->ln_bytes[0] == log(1000) && k->ln_bytes[2] == log(1e9));
    assert_true(k->ln_factor[0][1] == 0.2 && k->ln_factor[1][0] == -0.25 && k->ln_factor[1][2] == 0.5);
    assert_null(p->level[0].line[c].knots);
  }
  sw_text_free(&text);
  sw_arena_deinit(&a);
}

/* What is written reads back to the same profile, and writing that gives the same text. */
static void what_is_written_reads_back(void **state) {
  (void)state;
  sw_arena a = {0};
  const char *const *names;
  int n;
  assert_ok(sw_profile_names(&a, &names, &n, &diag));
  for (int i = 0; i < n; i++) {
    const sw_profile *p, *q;
    sw_text one = {0}, two = {0};
    assert_ok(sw_profile_read(names[i], &a, &p, &diag));
    assert_ok(sw_profile_write(p, "a \"test\"", &one, &diag));
    assert_ok(sw_profile_parse("t.json", sw_text_str(&one), one.n, &a, &q, &diag));
    assert_ok(sw_profile_write(q, "a \"test\"", &two, &diag));
    assert_string_equal(sw_text_str(&one), sw_text_str(&two));
    assert_memory_equal(p->flop_per_s, q->flop_per_s, sizeof p->flop_per_s);
    assert_memory_equal(p->f32_per_s, q->f32_per_s, sizeof p->f32_per_s);
    assert_int_equal(p->n_levels, q->n_levels);
    assert_int_equal(p->n_run_hardware, q->n_run_hardware);
    for (int k = 0; k < p->n_run_hardware; k++) assert_true(p->run_hardware[k].clock == q->run_hardware[k].clock);
    assert_int_equal(p->n_libraries, q->n_libraries);
    for (int k = 0; k < p->n_libraries; k++)
      assert_string_equal(p->library_kernels[k].name, q->library_kernels[k].name);
    for (int l = 0; l < p->n_levels; l++)
      for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
        const sw_cost_line *x = &p->level[l].line[c], *y = &q->level[l].line[c];
        assert_true(x->base_s == y->base_s && x->peer_s == y->peer_s && x->in_network_min == y->in_network_min);
        assert_true(fabs(x->s_per_byte - y->s_per_byte) <= 1e-12 * x->s_per_byte);
        assert_int_equal(!x->knots, !y->knots);
        if (x->knots) assert_memory_equal(x->knots, y->knots, sizeof *x->knots);
      }
    sw_text_free(&one);
    sw_text_free(&two);
  }
  sw_arena_deinit(&a);
}

/* The text above with one place changed. */
typedef struct refusal {
  const char *find, *put;
  int line; /* 0: not checked */
  const char *message;
} refusal;

#define WITH_KNOTS(rate, members, bytes, factors)                                         \
  "\"bytes_per_s\": " rate ", \"knots\": {\"members\": [" members "], \"bytes\": [" bytes \
  "], \"ln_factor\": [" factors "], \"source\": \"s\"}"

static const refusal kRefused[] = {
    {"\"version\": 1", "\"version\": 2", 1, "'version' is 2; expected 1 to 1"},
    {"shardwright.profile", "other", 1, "'format' is 'other'; expected 'shardwright.profile'"},
    {"\"version\": 1", "\"version\": 1, \"node\": \"rack\"", 1, "'node' is 'rack'; expected the name of a level"},
    {"\"reserved_bytes\"", "\"reserve_bytes\"", 4,
     "unknown key 'reserve_bytes' in 'memory'; did you mean 'reserved_bytes'?"},
    {"2e12, \"source\": \"s\"", "2e12, \"source\": \"q\"", 4, "source 'q' is not among the file's sources"},
    {"2e12, \"source\": \"s\"", "2e12", 4, "missing key 'source'"},
    {"\"bytes\": 8e10", "\"bytes\": \"80GB\"", 4, "'bytes' is a string; expected a number"},
    {"\"f32\": 1e13, ", "", 5, "missing key 'f32'"},
    {"\"f32\"", "\"f33\"", 5, "'f33' is not a dtype"},
    {"\"flop_fraction\": 0.8", "\"flop_fraction\": 1.8", 6, "'flop_fraction' is 1.8; expected 1e-06 to 1"},
    {"\"torus\"", "\"donut\"", 9, "'topology' is 'donut'; expected one of switch, full_mesh, torus"},
    {"[false, true]", "[true]", 9, "'wrap' has 1 elements; 'shape' has 2"},
    {"[2, 4]", "[2, 0]", 9, "element is 0; expected 1 to 1048576"},
    {"\"shape\": [2, 4]", "\"size\": 8", 9, "unknown key 'size' in a level"},
    {"\"all_to_all\": \"all_gather\", \"permute\": \"all_gather\"}},",
     "\"all_to_all\": \"permute\", \"permute\": \"all_gather\"}},", 15,
     "'all_to_all' is 'permute'; expected an object, or the name of a cost that is one"},
    {"\"bytes_per_s\": 1e9", "\"bytes_per_s\": 0", 19, "'bytes_per_s' is 0; expected"},
    {"\"bytes_per_s\": 1e9", "\"bytes_per_s\": 1e9, \"peer_s\": -1", 19, "'peer_s' is -1"},
    {"\"bytes_per_s\": 1e9", WITH_KNOTS("1e9", "3, 2", "10, 20", "[0, 0], [0, 0]"), 19, "'members' does not ascend"},
    {"\"bytes_per_s\": 1e9", WITH_KNOTS("1e9", "1", "10", "[0]"), 19, "element is 1; expected 2 to"},
    {"\"bytes_per_s\": 1e9", WITH_KNOTS("1e9", "2, 3", "10, 10", "[0, 0], [0, 0]"), 19, "'bytes' does not ascend"},
    {"\"bytes_per_s\": 1e9", WITH_KNOTS("1e9", "2", "", "[]"), 19, "'bytes' has 0 elements; expected 1 to 8"},
    {"\"bytes_per_s\": 1e9", WITH_KNOTS("1e9", "2, 3", "10", "[0]"), 19, "'ln_factor' has 1 elements; 'members' has 2"},
    {"\"bytes_per_s\": 1e9", WITH_KNOTS("1e9", "2", "10", "[0, 1]"), 19, "2 factors; expected one for each of 1 sizes"},
    {"\"bytes_per_s\": 1e9", WITH_KNOTS("1e9", "2", "10", "[9]"), 19, "element is 9; expected -5 to 5"},
    /* At 1 kB all but a tenth is latency, so ten times as many bytes may not cost a fifth less. */
    {"\"bytes_per_s\": 1e9", WITH_KNOTS("1e9", "2", "1e3, 1e4", "[0, -0.5]"), 0,
     "under its knots a larger all_gather costs less"},
    {"\"bytes_per_s\": 4e10", WITH_KNOTS("4e10", "2", "10", "[0]"), 0, "expected none on a torus"},
    {"\"x=3,y=2,z=4\"", "\"x=3,y=2,z\"", 22, ""},
    {"\"x=3,y=2,z=4\"", "\"x=48\"", 0, "the mesh has 48 devices; profile 't' has 24"},
    {"\"a=24\"", "\"a=9\"", 0, "unequal parts"},
    {"\"size\": 3", "\"size\": \"some\"", 16, "'size' is 'some'; expected"},
    {"\"size\": 3", "\"size\": 0", 16, "'size' is 0; expected 1 to"},
    {"\"nodes\": 2", "\"nodes\": 0", 23, "'nodes' is 0"},
    {"\"name\": \"TPU*\", \"memory\"", "\"memory\"", 24, "missing key 'name'"},
    {"9e10", "1e9", 0, "leaves nothing"},
    {"9e10, ", "9e10, \"reserved_bytes\": 1e9, ", 25, "unknown key 'reserved_bytes' in 'memory'"},
    {"1e12, \"source\": \"s\"", "1e12", 25, "missing key 'source'"},
    {"\"clock\": 0.5", "\"clock\": 2", 25, "clock"},
    {"\"clock\": 0.5", "\"clocks\": 0.5", 25, "unknown key 'clocks' in an element of 'hardware'"},
    {"\"clock\": 0.5, \"source\": \"s\"", "\"clock\": 0.5", 24, "missing key 'source'"},
    {"\"exchange\"", "\"name\"", 7, "key 'name' appears twice; the first is at 1:"},
    {" \"exchange\": {\"peer_s\": 1e-6, \"source\": \"s\"},\n", "", 1, "missing key 'exchange'"},
};

static void a_wrong_profile_is_refused_where_it_is_wrong(void **state) {
  const refusal *row = *state;
  diag = (sw_diag){0};
  sw_arena a = {0};
  sw_text text = {0};
  const char *at = strstr(kText, row->find);
  assert_non_null(at);
  sw_text_append(&text, kText, (size_t)(at - kText));
  sw_text_puts(&text, row->put);
  sw_text_puts(&text, at + strlen(row->find));
  const sw_profile *p;
  assert_int_equal(sw_profile_parse("t.json", sw_text_str(&text), text.n, &a, &p, &diag), SW_E_INPUT);
  if (!strstr(diag.text, row->message)) fail_msg("'%s' lacks '%s'", diag.text, row->message);
  assert_string_equal(diag.file, "t.json");
  if (row->line) assert_int_equal(diag.line, row->line);
  sw_text_free(&text);
  sw_arena_deinit(&a);
}

static void memory_failures_come_back(void **state) {
  (void)state;
  for (long n = 1; n < 500; n++) {
    sw_arena a = {0};
    const sw_profile *p;
    sw_mem_fail_after(n);
    sw_rc rc = sw_profile_parse("t.json", kText, strlen(kText), &a, &p, &diag);
    sw_mem_fail_after(0);
    sw_arena_deinit(&a);
    if (!rc) return;
    assert_int_equal(rc, SW_E_RESOURCE);
  }
  fail_msg("never succeeded");
}

static void names_are_found_and_listed(void **state) {
  (void)state;
  diag = (sw_diag){0};
  sw_arena a = {0};
  const sw_profile *p;
  const char *const *names;
  int n;
  assert_ok(sw_profile_names(&a, &names, &n, &diag));
  assert_in_range(n, 8, 100);
  for (int i = 0; i < n; i++) {
    if (i) assert_true(strcmp(names[i - 1], names[i]) < 0);
    assert_ok(sw_profile_read(names[i], &a, &p, &diag));
    assert_string_equal(sw_profile_name(p), names[i]);
  }
  assert_int_equal(sw_profile_read("no-such-machine", &a, &p, &diag), SW_E_INPUT);
  assert_int_equal(sw_profile_read("./no/such/file.json", &a, &p, &diag), SW_E_INPUT);
  assert_string_equal(diag.file, "./no/such/file.json");
  sw_arena_deinit(&a);
}

/* As many bytes in place of others. */
static void put_over(char *text, const char *find, const char *put) {
  char *at = strstr(text, find);
  assert_non_null(at);
  while (*put) *at++ = *put++;
}

/* kText with an open level: on any mesh it costs what the profile costs whose level has just as many units. */
static void an_open_level_has_the_units_that_a_mesh_asks_for(void **state) {
  (void)state;
  static const struct {
    const char *mesh;
    int units;
  } kRows[] = {{"a=2", 1}, {"x=2,y=4", 1}, {"x=3,y=8", 3}, {"x=5,y=2,z=4", 5}, {"x=64,y=8", 64}, {"x=16384", 2048}};
  for (size_t i = 0; i < sizeof kRows / sizeof kRows[0]; i++) {
    sw_arena a = {0};
    sw_mesh mesh;
    const sw_profile *p;
    sw_machine *m[2];
    assert_ok(sw_mesh_parse(kRows[i].mesh, &a, &mesh, &diag));
    for (int open = 0; open < 2; open++) {
      char *text = sw_arena_strndup(&a, kText, strlen(kText), &diag), *size = strstr(text, "\"size\": 3,");
      assert_non_null(size);
      put_over(text, "\"a=24\"", "\"a=8\" "); /* offered whatever the level has */
      put_over(text, "x=3,y=2,z=4", "x=1,y=2,z=4");
      const char *out =
          open ? sw_arena_printf(&a, &diag, "%.*s\"size\": \"any\",%s", (int)(size - text), text, size + 10)
               : sw_arena_printf(&a, &diag, "%.*s\"size\": %d,%s", (int)(size - text), text, kRows[i].units, size + 10);
      assert_ok(sw_profile_parse("t.json", out, strlen(out), &a, &p, &diag));
      assert_int_equal(sw_profile_is_open(p), open);
      assert_ok(sw_machine_build(&a, p, &mesh, &m[open], &diag));
      assert_int_equal(sw_profile_devices(sw_machine_profile(m[open])), 8 * kRows[i].units);
    }
    for (int axis = 0; axis < mesh.n_axes; axis++) {
      const sw_axis_ref ref = sw_axis_whole(&mesh, axis);
      for (sw_coll_op op = SW_COLL_ALL_GATHER; op <= SW_COLL_REDUCE_SCATTER; op++)
        assert_true(sw_machine_collective_s(m[0], op, &ref, 1, 1e6) == sw_machine_collective_s(m[1], op, &ref, 1, 1e6));
    }
    sw_arena_deinit(&a);
  }
}

static void a_number_of_devices_sizes_an_open_profile(void **state) {
  (void)state;
  static const struct {
    const char *profile;
    int64_t devices;
    const char *mesh, *why;
  } kRows[] = {
      {"h100", 1024, "x=128,y=8", NULL}, {"h100", 8, "x=8", NULL},
      {"h100", 4, "x=4", NULL},          {"h100", 12, NULL, "units of 8 devices; expected at most that, or a multiple"},
      {"uniform", 12, "x=12", NULL},     {"trainium2", 128, "x=2,y=64", NULL},
      {"dgx-h100", 8, "x=8", NULL},      {"dgx-h100", 16, NULL, "has 8 devices and no open level; expected 8"}};
  for (size_t i = 0; i < sizeof kRows / sizeof kRows[0]; i++) {
    diag = (sw_diag){0};
    sw_arena a = {0};
    sw_text text = {0};
    const sw_profile *p;
    assert_ok(sw_profile_read(kRows[i].profile, &a, &p, &diag));
    sw_rc rc = sw_profile_with_devices(p, kRows[i].devices, &a, &p, &diag);
    assert_int_equal(rc, kRows[i].mesh ? SW_OK : SW_E_INPUT);
    if (kRows[i].why) assert_non_null(strstr(diag.text, kRows[i].why));
    if (kRows[i].mesh) {
      sw_mesh_print(sw_profile_mesh(p, 0), &text);
      assert_string_equal(sw_text_str(&text), kRows[i].mesh);
      assert_false(sw_profile_is_open(p));
    }
    sw_text_free(&text);
    sw_arena_deinit(&a);
  }
}

int main(void) {
  enum { FIXED = 7, ROWS = sizeof kRefused / sizeof kRefused[0] };
  struct CMUnitTest tests[FIXED + ROWS] = {
      cmocka_unit_test(everything_is_read),
      cmocka_unit_test(knots_are_read),
      cmocka_unit_test(what_is_written_reads_back),
      cmocka_unit_test(memory_failures_come_back),
      cmocka_unit_test(names_are_found_and_listed),
      cmocka_unit_test(an_open_level_has_the_units_that_a_mesh_asks_for),
      cmocka_unit_test(a_number_of_devices_sizes_an_open_profile),
  };
  for (int i = 0; i < ROWS; i++)
    tests[FIXED + i] = (struct CMUnitTest){kRefused[i].put, a_wrong_profile_is_refused_where_it_is_wrong, NULL, NULL,
                                           (void *)(uintptr_t)&kRefused[i]};
  return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
