/* Loops and choices: what they compute, how often they are said to run, what is not well formed, and what a plan makes
 * of them. A program is one line per row:
 *
 *   "while(); i = enter(k0); n = enter(k9); p = compare(i, n) 'direction':'lt'; test(p); ..."
 *
 * over the arguments a, b (i32 scalars), v (f32[4]), c (bool scalar) and the constants k0, k1, k2, k9 (i32 scalars).
 */
#include "check.h"

#include "shardwright/profile_json.h"
#include "shardwright/validate.h"
#include "support/program.h"
#include "support/job.h"

/* --- programs ----------------------------------------------------------------------------------------------------- */

static sw_rc program_on(const char *args, const char *ops, const char *outputs, sw_graph **g) {
  sw_text constants = {0};
  for (int k = 0; k < 10; k++) {
    sw_text_printf(&constants, "%s{\"name\":\"k%d\",\"kind\":\"constant\",\"dtype\":\"i32\",\"shape\":[],\"value\":%d}",
                   k ? ",\n" : "", k, k);
  }
  sw_rc rc = program_of(args, sw_text_str(&constants), ops, outputs, g, &diag);
  sw_text_free(&constants);
  return rc;
}

static sw_rc program(const char *ops, const char *outputs, sw_graph **g) {
  return program_on("a i32; b i32; v f32 4; c bool", ops, outputs, g);
}

/* --- what they compute -------------------------------------------------------------------------------------------- */

#define COUNTED "while(); i = enter(k0); n = enter(a); one = enter(k1); "
#define TO_N "p = compare(i, n) 'direction':'lt'; test(p); j = add(i, one); jy = yield(j); "

static const struct {
  const char *what, *ops, *output;
  int a, b, c, want; /* of a scalar, or of an element of v = 1 1 1 1 */
} kResults[] = {
    {"counts", COUNTED TO_N "end(); r = join(i, jy)", "r", 7, 0, 0, 7},
    {"no trip at all", COUNTED TO_N "end(); r = join(i, jy)", "r", -3, 0, 0, 0},
    {"fibonacci: both carried values change at once",
     COUNTED "x = enter(k0); y = enter(k1); " TO_N
             "s = add(x, y); xy = yield(y); yy = yield(s); end(); r = join(i, jy); f = join(x, xy); g = join(y, yy)",
     "f", 10, 0, 0, 55},
    {"a swap per trip",
     COUNTED "x = enter(k2); y = enter(k5); " TO_N
             "xy = yield(y); yy = yield(x); end(); r = join(i, jy); f = join(x, xy); g = join(y, yy)",
     "f", 3, 0, 0, 5},
    {"a captured value is read on every trip and before the test",
     COUNTED "m = enter(b); s = enter(k0); q = add(m, m); " TO_N
             "t = add(s, m); u = add(t, q); sy = yield(u); end(); r = join(i, jy); f = join(s, sy)",
     "f", 4, 5, 0, 60},
    {"an argument enters and is used after",
     COUNTED "s = enter(b); " TO_N "t = add(s, one); sy = yield(t); end(); r = join(i, jy); f = join(s, sy); "
             "h = add(f, b)",
     "h", 3, 5, 0, 13},
    {"a loop in a loop: a * b",
     "while(); i = enter(k0); n = enter(a); m = enter(b); one = enter(k1); zero = enter(k0); s = enter(k0); " TO_N
     "while(); i2 = enter(zero); n2 = enter(m); one2 = enter(one); s2 = enter(s); "
     "p2 = compare(i2, n2) 'direction':'lt'; test(p2); j2 = add(i2, one2); t2 = add(s2, one2); iy2 = yield(j2); "
     "sy2 = yield(t2); end(); x2 = join(i2, iy2); r2 = join(s2, sy2); sy = yield(r2); end(); x = join(i, jy); "
     "r = join(s, sy)",
     "r", 6, 7, 0, 42},
    {"the first branch",
     "case(a); x = enter(b); y = add(x, x); yy = yield(y); otherwise(); z = enter(b); zz = yield(z); end(); "
     "r = join(yy, zz)",
     "r", 0, 4, 0, 8},
    {"the last branch, and for what is out of range",
     "case(a); x = enter(b); y = add(x, x); yy = yield(y); otherwise(); z = enter(b); zz = yield(z); end(); "
     "r = join(yy, zz)",
     "r", -1, 4, 0, 4},
    {"the middle one of three",
     "case(a); x = enter(k1); xx = yield(x); otherwise(); y = enter(k2); yy = yield(y); otherwise(); z = enter(k3); "
     "zz = yield(z); end(); r = join(xx, yy, zz)",
     "r", 1, 0, 0, 2},
    {"a bool: true is first",
     "case(c); x = enter(k1); xx = yield(x); otherwise(); y = enter(k2); yy = yield(y); end(); r = join(xx, yy)", "r",
     0, 0, 1, 1},
    {"a bool: false is second",
     "case(c); x = enter(k1); xx = yield(x); otherwise(); y = enter(k2); yy = yield(y); end(); r = join(xx, yy)", "r",
     0, 0, 0, 2},
    {"a choice in a loop: only odd trips count",
     COUNTED "s = enter(k0); two = enter(k2); p = compare(i, n) 'direction':'lt'; test(p); odd = remainder(i, two); "
             "case(odd); e = enter(s); ey = yield(e); otherwise(); o = enter(s); w = enter(one); q = add(o, w); "
             "qy = yield(q); end(); t = join(ey, qy); j = add(i, one); jy = yield(j); sy = yield(t); end(); "
             "r = join(i, jy); f = join(s, sy)",
     "f", 7, 0, 0, 3},
    {"a result that nobody reads",
     COUNTED "s = enter(k0); " TO_N "sy = yield(n); end(); r = join(i, jy); f = join(s, sy)", "r", 2, 0, 0, 2},
    {"vectors: v doubled a times",
     COUNTED "x = enter(v); " TO_N "y = add(x, x); xy = yield(y); end(); r = join(i, jy); f = join(x, xy)", "f", 3, 0,
     0, 8},
};
enum { N_RESULTS = sizeof kResults / sizeof *kResults };

static void run(const sw_graph *g, int a, int b, int c, double *got) {
  sw_tensor in[4], out;
  const sw_buffer *args[4];
  static const sw_dtype kTypes[] = {SW_I32, SW_I32, SW_F32, SW_BOOL};
  int64_t dims[1] = {4}, peak;
  double values[4] = {a, b, 1, c};
  for (int i = 0; i < 4; i++) {
    assert_ok(sw_tensor_init(&in[i], kTypes[i], i == 2, dims, &diag));
    for (int64_t k = 0; k < sw_buffer_elements(&in[i]); k++) {
      sw_element_store(kTypes[i], values[i], (char *)in[i].data + k * sw_dtype_bytes(kTypes[i]));
    }
    args[i] = &in[i];
  }
  assert_ok(sw_exec_run(g, args, &(sw_exec_options){.poison = true, .peak_bytes = &peak}, &out, &diag));
  *got = sw_element_load(out.dtype, out.data);
  for (int i = 0; i < 4; i++) sw_tensor_deinit(&in[i]);
  sw_tensor_deinit(&out);
}

static void programs_compute(void **state) {
  (void)state;
  for (int i = 0; i < N_RESULTS; i++) {
    sw_graph *g;
    double got;
    assert_ok(program(kResults[i].ops, kResults[i].output, &g));
    run(g, kResults[i].a, kResults[i].b, kResults[i].c, &got);
    if (got != kResults[i].want) fail_msg("%s: %g, expected %d", kResults[i].what, got, kResults[i].want);
    sw_text first = {0}, second = {0};
    sw_graph *again;
    assert_ok(sw_model_write(g, &first, &diag));
    assert_ok(sw_model_parse("again", first.at, first.n, &again, &diag));
    assert_ok(sw_model_write(again, &second, &diag));
    assert_string_equal(sw_text_str(&first), sw_text_str(&second));
    sw_text_free(&first);
    sw_text_free(&second);
    sw_graph_destroy(again);
    sw_graph_destroy(g);
  }
}

/* --- how often ---------------------------------------------------------------------------------------------------- */

#define LOOP(before, first, limit, way, step, by)                                   \
  "while() " before "; i = enter(" first "); n = enter(" limit "); s = enter(" step \
  "); p = compare(i, n) 'direction':'" way "'; test(p); j = " by "; jy = yield(j); end(); r = join(i, jy)"

static const struct {
  const char *ops;
  int64_t repeats; /* of the op before the yield */
} kTrips[] = {
    {LOOP("", "k0", "k9", "lt", "k1", "add(i, s)"), 9}, {LOOP("", "k0", "k9", "lt", "k2", "add(s, i)"), 5},
    {LOOP("", "k0", "k9", "le", "k3", "add(i, s)"), 4}, {LOOP("", "k5", "k5", "lt", "k1", "add(i, s)"), 1},
    {LOOP("", "k0", "a", "lt", "k1", "add(i, s)"), 1},  {LOOP("'trips':12", "k0", "a", "lt", "k1", "add(i, s)"), 12},
    {LOOP("", "b", "k9", "lt", "k1", "add(i, s)"), 1},  {LOOP("", "k0", "k9", "lt", "k1", "multiply(i, s)"), 1},
    {LOOP("", "k0", "k9", "gt", "k1", "add(i, s)"), 1}, {LOOP("", "k0", "k9", "lt", "k0", "add(i, s)"), 1},
};

static void trips_are_counted(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kTrips / sizeof *kTrips; i++) {
    sw_graph *g;
    assert_ok(program(kTrips[i].ops, "r", &g));
    assert_int_equal(g->ops[g->values[sw_graph_value_named(g, "j")].def].repeats, kTrips[i].repeats);
    assert_int_equal(g->ops[g->values[sw_graph_value_named(g, "r")].def].repeats, 1);
    sw_graph_destroy(g);
  }
  sw_graph *g; /* a limit that the loop changes is no limit */
  assert_ok(
      program("while(); i = enter(k0); n = enter(k9); s = enter(k1); p = compare(i, n) 'direction':'lt'; test(p); "
              "j = add(i, s); m = subtract(n, s); jy = yield(j); my = yield(m); end(); r = join(i, jy); "
              "q = join(n, my)",
              "r", &g));
  assert_int_equal(g->ops[g->values[sw_graph_value_named(g, "j")].def].repeats, 1);
  sw_graph_destroy(g);
  assert_ok(
      program("while() 'trips':3; i = enter(a); p = compare(i, i) 'direction':'lt'; test(p); while() 'trips':5; "
              "k = enter(i); q = compare(k, k) 'direction':'lt'; test(q); m = add(k, k); ky = yield(m); end(); "
              "t = join(k, ky); iy = yield(t); end(); r = join(i, iy)",
              "r", &g));
  assert_int_equal(g->ops[g->values[sw_graph_value_named(g, "m")].def].repeats, 15);
  assert_int_equal(g->ops[g->values[sw_graph_value_named(g, "t")].def].repeats, 3);
  sw_graph_destroy(g);
}

/* --- what is wrong ------------------------------------------------------------------------------------------------ */

static const struct {
  const char *ops, *message;
} kWrong[] = {
    {"while(); i = enter(a)", "has no end"},
    {"end()", "ends nothing"},
    {"while(); i = enter(a); end()", "has no test"},
    {"test(c)", "in no loop"},
    {"while(); p = enter(c); test(p); test(p); end()", "in a loop that has one"},
    {"case(a); x = enter(c); test(x); end()", "in no loop"},
    {"otherwise()", "in no case"},
    {"while(); p = enter(c); test(p); otherwise(); end()", "in no case"},
    {"while(); p = enter(c); test(p); x = enter(a); end()", "at the beginning"},
    {"x = enter(a)", "at the beginning"},
    {"while(); p = enter(c); test(p); x = add(a, a); end()", "reads 'a'"},
    {"while(); p = enter(c); test(p); end(); q = not(p)", "reads 'p'"},
    {"while(); p = enter(c); test(p); q = not(p); y = yield(q); end()", "read 0 times"},
    {"while(); p = enter(c); test(p); y = yield(p); end(); r = join(p, y); s = not(y)", "reads 'y'"},
    {"while(); p = enter(c); test(p); y = yield(p); end(); r = join(p, y); s = join(p, y)", "joined twice"},
    {"while(); p = enter(c); test(p); y = yield(p); end(); r = join(y, p)", "expected an entered value"},
    {"while(); p = enter(c); test(p); y = yield(p); end(); q = not(c); r = join(p, y)", "does not follow an end"},
    {"while(); p = enter(c); test(p); y = yield(p); end(); r = join(p)", "operands"},
    {"case(a); x = enter(b); y = yield(x); otherwise(); z = enter(b); w = yield(z); end(); r = join(y)", "operands"},
    {"case(a); x = enter(b); y = yield(x); otherwise(); z = enter(b); w = yield(z); end(); r = join(w, y)",
     "expected a yielded value of that branch"},
    {"case(v); end()", "scalar"},
    {"while() 'trips':-1; p = enter(c); test(p); end()", "'trips' is -1"},
};

static void mistakes_are_named(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kWrong / sizeof *kWrong; i++) {
    sw_graph *g = NULL;
    sw_rc rc = program(kWrong[i].ops, "a", &g);
    if (rc != SW_E_INPUT || !strstr(diag.text, kWrong[i].message)) {
      fail_msg("%s: '%s', expected '%s'", kWrong[i].ops, rc ? diag.text : "accepted", kWrong[i].message);
    }
    sw_graph_destroy(g);
  }
  sw_graph *g = NULL;
  assert_int_equal(program("while(); p = enter(c); test(p); end()", "p", &g), SW_E_INPUT);
  sw_graph_destroy(g);
}

/* --- plans -------------------------------------------------------------------------------------------------------- */

/* What a loop does is paid per trip, what enters it once; a search and the breakdown agree. */
static void plans_pay_per_trip(void **state) {
  (void)state;
  static const char kOps[] = LOOP("", "k0", "k8", "lt", "k1", "add(i, s)");
  sw_arena arena = {0};
  const sw_profile *hw;
  sw_machine *machine;
  sw_mesh m;
  double seconds[2];
  char path[512];
  snprintf(path, sizeof path, "%s/hwprofiles/dgx-h100.json", SW_SOURCE_DIR);
  assert_ok(sw_profile_read(path, &arena, &hw, &diag));
  assert_ok(sw_mesh_parse("x=2", &arena, &m, &diag));
  assert_ok(sw_machine_build(&arena, hw, &m, &machine, &diag));
  for (int k = 0; k < 2; k++) {
    sw_graph *g;
    sw_plan plan;
    sw_breakdown breakdown;
    assert_ok(program(k ? kOps : LOOP("'trips':1", "k0", "k8", "lt", "k1", "add(i, s)"), "r", &g));
    assert_ok(sw_plan_search(JOB(g, machine), &(sw_plan_options){0}, &arena, &plan, &diag));
    assert_ok(sw_plan_breakdown(&plan, &arena, &breakdown, &diag));
    assert_true(plan.status == SW_SOLVE_OPTIMAL);
    assert_true(plan.bound_units <= plan.cost_units);
    seconds[k] = breakdown.total_s;
    sw_graph_destroy(g);
  }
  assert_true(seconds[1] > 7.9 * seconds[0] && seconds[1] < 8.1 * seconds[0]);
  sw_arena_deinit(&arena);
}

enum { WIDE = 4096 };

static int64_t peak_of(const char *ops, const sw_machine *hw) {
  sw_arena arena = {0};
  sw_graph *g;
  sw_machine *machine;
  sw_plan plan;
  sw_breakdown breakdown;
  assert_ok(program_on("a i32; w f32 4096; h f32 4096", ops, "f", &g));
  assert_ok(sw_machine_build(&arena, sw_machine_profile(hw), sw_machine_mesh(hw), &machine, &diag));
  sw_job job;
  assert_ok(sw_job_make("xla-cpu", g->written, machine, &arena, &job, &diag));
  assert_ok(sw_plan_search(&job, &(sw_plan_options){0}, &arena, &plan, &diag));
  assert_ok(sw_plan_breakdown(&plan, &arena, &breakdown, &diag));
  const int64_t peak = breakdown.peak_bytes;
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
  return peak;
}

/* A loop that yields what it only reads holds no more than one that does not carry it; one that yields it changed does.
 */
static void what_is_only_read_is_held_once(void **state) {
  (void)state;
  static const char kBefore[] = COUNTED "x = enter(w); s = enter(h); " TO_N "t = multiply(s, x); ty = yield(t); ";
  static const struct { const char *yielded, *joined; } kLoops[] = {{"", ""}, {"xy = yield(x); ", "; u = join(x, xy)"}};
  sw_arena arena = {0};
  const sw_profile *hw;
  sw_machine *machine;
  sw_mesh m;
  int64_t peak[2];
  char path[512];
  snprintf(path, sizeof path, "%s/hwprofiles/dgx-h100.json", SW_SOURCE_DIR);
  assert_ok(sw_profile_read(path, &arena, &hw, &diag));
  assert_ok(sw_mesh_parse("x=1", &arena, &m, &diag));
  assert_ok(sw_machine_build(&arena, hw, &m, &machine, &diag));
  for (int k = 0; k < 2; k++) {
    sw_text ops = {0};
    sw_text_printf(&ops, "%s%send(); r = join(i, jy); f = join(s, ty)%s", kBefore, kLoops[k].yielded, kLoops[k].joined);
    peak[k] = peak_of(sw_text_str(&ops), machine);
    sw_text_free(&ops);
  }
  assert_true(peak[0] >= 3 * 4 * WIDE); /* w, h and what becomes of it */
  assert_int_equal(peak[1], peak[0]);
  sw_arena_deinit(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(programs_compute), cmocka_unit_test(trips_are_counted),
                                     cmocka_unit_test(mistakes_are_named), cmocka_unit_test(plans_pay_per_trip),
                                     cmocka_unit_test(what_is_only_read_is_held_once)};
  return cmocka_run_group_tests_name("control flow", tests, NULL, NULL);
}
