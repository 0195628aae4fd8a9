/* The cost model judged by measured tables: a small table made here, of which every figure is known, and the shared one
 * (SHARDWRIGHT_FACTS_DIR), where the shipped profiles must stay within the limit and a new fit must find no worse. */
#include "../knots_case.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/json_tree.h"
#include "bench/csv.h"
#include "bench/bench_costs.h"
#include "bench/cost_fit.h"
#include "base/file.h"
#include "shardwright/profile_json.h"

static void write_file(const char *dir, const char *name, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  assert_ok(sw_file_write(path, text, strlen(text), &diag));
}

static void remove_file(const char *dir, const char *name) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  remove(path);
}

/* --- tables ----------------------------------------------------------------------------------------------------- */

static void quoted_cells_are_read(void **state) {
  (void)state;
  char dir[] = "/tmp/sw_bench_test_XXXXXX";
  assert_non_null(mkdtemp(dir));
  write_file(dir, "t.csv", "a,b\r\n\"x, \"\"y\"\"\",2.5\n\n,\"\"\nz,1e3");
  char path[256];
  snprintf(path, sizeof path, "%s/t.csv", dir);
  diag = (sw_diag){0};
  sw_arena arena = {0};
  sw_csv t;
  assert_ok(sw_csv_read(path, &arena, &t, &diag));
  assert_int_equal(t.n_cols, 2);
  assert_int_equal(t.n_rows, 3);
  assert_string_equal(sw_csv_at(&t, 0, 0), "x, \"y\"");
  assert_string_equal(sw_csv_at(&t, 1, 0), "");
  assert_string_equal(sw_csv_at(&t, 1, 1), "");
  double v;
  assert_ok(sw_csv_number(&t, 0, 1, &v, &diag));
  assert_true(v == 2.5);
  assert_ok(sw_csv_number(&t, 2, 1, &v, &diag));
  assert_true(v == 1000);
  assert_int_equal(sw_csv_number(&t, 1, 1, &v, &diag), SW_E_INPUT);
  assert_int_equal(diag.line, 4);
  write_file(dir, "t.csv", "a,b\n1,2\n3\n");
  assert_int_equal(sw_csv_read(path, &arena, &t, &diag), SW_E_INPUT);
  assert_int_equal(diag.line, 3);
  assert_string_equal(diag.text, "1 cells; the header has 2");
  sw_arena_deinit(&arena);
  remove_file(dir, "t.csv");
  rmdir(dir);
}

/* --- a made-up machine -------------------------------------------------------------------------------------------- */

/* A switch of 8 on which all_gather of S bytes over n takes 10 us + (n-1)/n S / 100 GB/s, and local ops 1 us. */
static sw_profile made_up(void) {
  sw_profile p = {.name = "made-up",
                  .description = "",
                  .device_name = "made-up",
                  .memory_bytes = 1000,
                  .memory_bytes_per_s = 1e12,
                  .flop_fraction = 1,
                  .flop_fraction_8bit = 1,
                  .memory_fraction = 1,
                  .launch_s = 1e-6,
                  .n_levels = 1,
                  .n_measured = 1,
                  .measured = {{"M*", "*", 1}}};
  for (int t = 0; t < SW_DTYPE_COUNT; t++) p.flop_per_s[t] = 1e14;
  p.level[0] = (sw_level){.name = "switch", .n_dims = 1, .dims = {8}};
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++)
    p.level[0].line[c] = (sw_cost_line){.base_s = 1e-5, .s_per_byte = 1e-11};
  return p;
}

/* Measured by the same law, but `factor` times as long. */
static void write_tables(const char *dir, double factor) {
  sw_text t = {0};
  sw_text_puts(&t, "source,hardware,ranks,nodes,collective,bytes,time_us,busbw_GBps,place,notes\n");
  for (int ranks = 2; ranks <= 8; ranks *= 2)
    for (double bytes = 65536; bytes < 1e9; bytes *= 2) {
      double us = factor * (10 + 1e-5 * bytes * (ranks - 1) / ranks);
      sw_text_printf(&t, "\"lab/one@1: a, b\",M1,%d,1,all_gather,%.0f,%.17g,0,out,\"x, y\"\n", ranks, bytes, us);
    }
  sw_text_puts(&t, "lab/one@1,other,2,1,all_gather,1048576,1,0,out,\nlab/one@1,M1,16,1,all_gather,1048576,1,0,out,\n");
  write_file(dir, "collectives.csv", sw_text_str(&t));
  sw_text_free(&t);
  sw_text_puts(&t, "source,hardware,dtype,m,n,k,time_us,tflops\n");
  for (int m = 16; m <= 4096; m *= 2) {
    double flops = 2.0 * m * 4096 * 4096, bytes = 2.0 * m * 4096 * 2 + 2.0 * 4096 * 4096;
    sw_text_printf(&t, "lab/two@1,M1,bfloat16,%d,4096,4096,%.17g,0\n", m, 1 + 1e6 * fmax(flops / 1e14, bytes / 1e12));
  }
  write_file(dir, "gemm.csv", sw_text_str(&t));
  sw_text_free(&t);
}

static const sw_json *run(const sw_profile *p, const char *dir, bool fit, sw_arena *arena, bool *passed) {
  sw_text table = {0}, json = {0};
  const sw_json *tree;
  sw_bench_costs_options o = {.facts_dir = dir, .fit = fit};
  assert_ok(sw_bench_costs(&p, 1, &o, &table, &json, passed, &diag));
  assert_ok(sw_json_parse("bench", sw_text_str(&json), json.n, arena, &tree, &diag));
  assert_true(table.n > 0);
  sw_text_free(&table);
  sw_text_free(&json);
  return tree;
}

static const sw_json *source_named(const sw_json *tree, const char *name) {
  const sw_json *sources = sw_json_find(&sw_json_find(tree, "profiles")->at[0], "sources");
  for (int i = 0; i < sources->n; i++)
    if (!strcmp(sw_json_find(&sources->at[i], "source")->text, name)) return &sources->at[i];
  fail_msg("no source %s", name);
  return NULL;
}

static double number(const sw_json *v, const char *key) { return sw_json_find(v, key)->f64; }

static void errors_are_those_of_the_rows(void **state) {
  (void)state;
  char dir[] = "/tmp/sw_bench_test_XXXXXX";
  assert_non_null(mkdtemp(dir));
  sw_arena arena = {0};
  sw_profile p = made_up();
  bool passed;
  write_tables(dir, 1);
  const sw_json *tree = run(&p, dir, false, &arena, &passed), *one = source_named(tree, "lab/one");
  assert_true(passed);
  /* Ten sizes from 1 MiB up, of which every other one judges, on 2, 4 and 8 ranks. */
  assert_true(number(one, "rows") == 15 && number(one, "error_per_cent") < 1e-9);
  assert_true(number(one, "small_rows") == 6);
  assert_true(number(source_named(tree, "lab/two gemm bf16"), "error_per_cent") < 1e-9);
  write_tables(dir, 1.5);
  tree = run(&p, dir, false, &arena, &passed);
  one = source_named(tree, "lab/one");
  assert_false(passed);
  assert_true(fabs(number(one, "error_per_cent") - 100 * log(1.5)) < 1e-9);
  assert_true(fabs(number(one, "bias_per_cent") + 100 * log(1.5)) < 1e-9);
  assert_string_equal(sw_json_find(one, "verdict")->text, "beyond");
  assert_int_equal(sw_json_find(tree, "unclaimed_rows")->i64, 1); /* hardware "other" */
  p.library = "one library";                                      /* rows of another one speak of other constants */
  p.measured[0].library = "another";
  assert_int_equal(sw_json_find(run(&p, dir, false, &arena, &passed), "unclaimed_rows")->i64, 53);
  p.measured[0].library = "one library";
  tree = run(&p, dir, true, &arena, &passed);
  assert_true(passed);
  assert_true(number(source_named(tree, "lab/one"), "error_per_cent") < 0.5);
  sw_arena_deinit(&arena);
  remove_file(dir, "collectives.csv");
  remove_file(dir, "gemm.csv");
  rmdir(dir);
}

/* Where a profile knows no kernels, the roofline counts: of an eight-bit layer beside the op that casts its activations
 * from two bytes, of attention by the pairs of queries and keys that are seen. No collectives need be there. */
static void kernels_are_counted_by_hand(void **state) {
  (void)state;
  char dir[] = "/tmp/sw_bench_test_XXXXXX";
  assert_non_null(mkdtemp(dir));
  sw_arena arena = {0};
  sw_profile p = made_up();
  sw_text t = {0};
  bool passed;
  sw_text_puts(&t, "source,hardware,dtype,m,n,k,time_us,tflops\n");
  for (double m = 16; m <= 65536; m *= 4) {
    const double n = 2048, k = 1024, cast_us = 1 + 1e6 * 3 * m * k / 1e12;
    const double us = 1 + 1e6 * fmax(2 * m * n * k / 1e14, (m * k + k * n + 2 * m * n) / 1e12);
    for (int twice = 0; twice < 2; twice++)
      sw_text_printf(&t, "lab@1,M1,fp8,%.0f,2048,1024,%.17g,0\n", m, cast_us + us);
  }
  write_file(dir, "gemm.csv", sw_text_str(&t));
  sw_text_free(&t);
  sw_text_puts(&t, "source,hardware,kind,batch,seq,heads,kv_heads,head_dim,window,time_us\n");
  for (int seq = 256; seq <= 16384; seq *= 4)
    for (int i = 0; i < 6; i++) {
      static const char *const kKinds[] = {"context", "backward", "generation"};
      const int window = i % 2 ? 100 : 0, queries = i / 2 == 2 ? 1 : seq;
      double pairs = 0;
      for (int q = 0; q < queries; q++) {
        const int before = queries == 1 ? seq : q + 1;
        pairs += window && window < before ? window : before;
      }
      const double products = i / 2 == 1 ? 5 : 2, seen = queries == 1 && window ? window : seq;
      const double values = (i / 2 == 1 ? 4 : 2) * (queries * 8.0 + seen * 2.0) * 3 * 64;
      const double us = 1 + 1e6 * fmax(2 * products * 3 * 8 * 64 * pairs / 1e14, 2 * values / 1e12);
      for (int twice = 0; twice < 2; twice++)
        sw_text_printf(&t, "lab@1,M1,%s,3,%d,8,2,64,%d,%.17g\n", kKinds[i / 2], seq, window, us);
    }
  write_file(dir, "attention.csv", sw_text_str(&t));
  sw_text_free(&t);
  const sw_json *tree = run(&p, dir, false, &arena, &passed);
  static const char *const kSources[] = {"lab gemm f8e4m3fn", "lab attention context", "lab attention backward",
                                         "lab attention decode"};
  for (size_t i = 0; i < sizeof kSources / sizeof *kSources; i++) {
    const sw_json *s = source_named(tree, kSources[i]);
    assert_true(number(s, "rows") + number(s, "small_rows") > 0);
    assert_true(number(s, "error_per_cent") < 1e-9 && number(s, "small_error_per_cent") < 1e-9);
  }
  sw_arena_deinit(&arena);
  remove_file(dir, "gemm.csv");
  remove_file(dir, "attention.csv");
  rmdir(dir);
}

/* Tables that bend where no straight line does: knots follow, and what they were not shown is near them, too. */
static void knots_follow_what_the_formula_leaves(void **state) {
  (void)state;
  static const double kBytes[] = {65536, 2097152, 268435456}, kLn[2][3] = {{0.3, -0.3, 0.1}, {-0.2, 0.4, 0}};
  char dir[] = "/tmp/sw_bench_test_XXXXXX";
  sw_cost_knots k = {.n_members = 2, .n_sizes = 3, .ln_members = {log(2), log(8)}};
  for (int j = 0; j < 3; j++) k.ln_bytes[j] = log(kBytes[j]);
  for (int i = 0; i < 6; i++) k.ln_factor[i / 3][i % 3] = kLn[i / 3][i % 3];
  assert_non_null(mkdtemp(dir));
  sw_arena arena = {0};
  sw_profile p = made_up();
  sw_text t = {0};
  bool passed;
  sw_text_puts(&t, "source,hardware,ranks,nodes,collective,bytes,time_us,busbw_GBps,place,notes\n");
  for (int ranks = 2; ranks <= 8; ranks *= 2)
    for (double bytes = 65536; bytes < 1e9; bytes *= 2) {
      const double volume = bytes * (ranks - 1) / ranks;
      sw_text_printf(&t, "lab/one@1,M1,%d,1,all_gather,%.0f,%.17g,0,out,\n", ranks, bytes,
                     (10 + 1e-5 * volume) * knot_factor(&k, ranks, volume));
    }
  write_file(dir, "collectives.csv", sw_text_str(&t));
  sw_text_free(&t);
  const double was = number(source_named(run(&p, dir, false, &arena, &passed), "lab/one"), "error_per_cent"),
               is = number(source_named(run(&p, dir, true, &arena, &passed), "lab/one"), "error_per_cent");
  print_message("off by %.1f %%, with knots by %.1f %%\n", was, is);
  assert_true(was > 10 && is < 0.6 * was);
  sw_arena_deinit(&arena);
  remove_file(dir, "collectives.csv");
  rmdir(dir);
}

/* A fit may not promise more of the peak than some product reached. */
static void no_product_is_fitted_faster_than_any_was(void **state) {
  (void)state;
  static sample_set set;
  sample at[] = {{.layout = -1, .train = true, .weight = 1}, {.layout = -1, .train = true, .weight = 1}};
  sw_profile p = made_up();
  fit_constants fits;
  p.multiprocessors = 100;
  p.kernel[SW_PRICED_PRODUCT].known = true;
  p.kernel[SW_PRICED_PRODUCT].v[SW_KERNEL_FLOP_FRACTION] = 0.3;
  set.at = at;
  set.n = 2;
  for (int i = 0; i < 2; i++) {
    sw_sample_set_product(&at[i], SW_BF16, 4096, 4096, 4096);
    at[i].measured_s = at[i].work.flops / 1e14 / (i ? 0.5 : 0.25);
  }
  sw_fit_constants_of(&p, &set, &fits);
  int found = 0;
  for (int i = 0; i < fits.n; i++)
    if (fits.at[i].value == &p.kernel[SW_PRICED_PRODUCT].v[SW_KERNEL_FLOP_FRACTION]) {
      assert_true(fabs(fits.at[i].max - 0.5) < 1e-12);
      found++;
    }
  assert_int_equal(found, 1);
}

/* --- the shared tables -------------------------------------------------------------------------------------------- */

static void shipped_profiles_stay_within_the_limit(void **state) {
  (void)state;
  const char *facts = getenv("SHARDWRIGHT_FACTS_DIR");
  if (!facts) {
    print_message("SHARDWRIGHT_FACTS_DIR is not set: skipped\n");
    skip();
  }
  static const char *const kJudged[] = {"dgx-a100", "dgx-h100", "h100x64", "p4de-x2", "h200", "b200", "gb200-nvl72"};
  for (size_t i = 0; i < sizeof kJudged / sizeof kJudged[0]; i++) {
    sw_arena arena = {0};
    const sw_profile *p;
    bool passed;
    assert_ok(sw_profile_read(kJudged[i], &arena, &p, &diag));
    const sw_json *tree = run(p, facts, false, &arena, &passed);
    if (!passed) fail_msg("%s is beyond %g %%", kJudged[i], SW_BENCH_COSTS_LIMIT);
    const sw_json *profile = &sw_json_find(tree, "profiles")->at[0];
    assert_true(sw_json_find(profile, "judged")->truth);
    assert_in_range(sw_json_find(profile, "constants")->i64, 1, SW_BENCH_COSTS_MAX_CONSTANTS);
    assert_in_range(sw_json_find(profile, "kernel_constants")->i64, 0, SW_BENCH_COSTS_MAX_KERNEL_CONSTANTS);
    sw_arena_deinit(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(quoted_cells_are_read),
      cmocka_unit_test(errors_are_those_of_the_rows),
      cmocka_unit_test(kernels_are_counted_by_hand),
      cmocka_unit_test(knots_follow_what_the_formula_leaves),
      cmocka_unit_test(no_product_is_fitted_faster_than_any_was),
      cmocka_unit_test(shipped_profiles_stay_within_the_limit),
  };
  return cmocka_run_group_tests_name("bench_costs", tests, NULL, NULL);
}
