#include "check.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/checked.h"
#include "base/file.h"
#include "base/hash.h"
#include "shardwright/log.h"
#include "shardwright/select.h"
#include "shardwright/text.h"

static void arena_gives_zeroed_aligned_memory(void **state) {
  (void)state;
  diag = (sw_diag){0};
  sw_arena a = {0};
  for (size_t n = 1; n < 100000; n = n * 3 + 1) {
    unsigned char *p = sw_arena_alloc(&a, n, 1, &diag);
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % 16, 0);
    for (size_t i = 0; i < n; i++) assert_int_equal(p[i], 0);
    memset(p, 0xff, n);
  }
  assert_null(sw_arena_alloc(&a, SIZE_MAX / 2, 3, &diag));
  assert_int_equal(diag.rc, SW_E_RESOURCE);
  sw_arena_deinit(&a);
}

static void add_digit(void *of) {
  int *digits = of;
  digits[0] = 10 * digits[0] + digits[1];
}

static void arena_calls_its_ends_in_turn(void **state) {
  (void)state;
  sw_arena a = {0};
  int other[2] = {0, 7}, *inside = sw_arena_alloc(&a, 2, sizeof *inside, &diag);
  assert_non_null(inside);
  inside[1] = 3;
  assert_ok(sw_arena_at_end(&a, add_digit, other, &diag));
  assert_ok(sw_arena_at_end(&a, add_digit, inside, &diag)); /* while what it holds is there */
  sw_arena_reset(&a);
  assert_int_equal(other[0], 7);
  sw_arena_deinit(&a); /* once, not again */
  assert_int_equal(other[0], 7);
}

static void array_survives_a_failed_growth(void **state) {
  (void)state;
  SW_ARRAY(int) xs = {0};
  for (int i = 0; i < 8; i++) assert_ok(sw_array_push(&xs, i, &diag));
  sw_mem_fail_after(1);
  assert_int_equal(sw_array_push(&xs, 8, &diag), SW_E_RESOURCE);
  sw_mem_fail_after(0);
  assert_int_equal(xs.n, 8);
  for (int i = 0; i < 1000; i++) assert_ok(sw_array_push(&xs, i, &diag));
  assert_int_equal(xs.at[7], 7);
  sw_array_free(&xs);
}

static void map_agrees_with_a_plain_array(void **state) {
  (void)state;
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(1));
  enum { KEYS = 2000 };
  int64_t want[KEYS];
  for (int i = 0; i < KEYS; i++) want[i] = -1;
  sw_dict m = {0};
  for (int round = 0; round < 20000; round++) {
    int64_t k = sw_rng_below(&rng, KEYS);
    char key[32];
    int n = snprintf(key, sizeof key, "key%lld", (long long)k);
    int64_t *slot;
    bool fresh;
    assert_ok(sw_dict_put(&m, key, (size_t)n, round, &slot, &fresh, &diag));
    assert_int_equal(fresh, want[k] < 0);
    if (fresh) want[k] = round;
    assert_int_equal(*slot, want[k]);
  }
  assert_null(sw_dict_get(&m, "other", 5));
  sw_dict_deinit(&m);
}

static const struct {
  const char *text;
  int64_t bytes; /* -1: refused */
} kBytes[] = {{"4096", 4096},   {"80GB", INT64_C(80000000000)},
              {"1.5KiB", 1536}, {"2MiB", 2097152},
              {"GB", -1},       {"-1", -1},
              {"3 GB", -1},     {"1e30", -1},
              {"12Gigs", -1}};

static void bytes_are_parsed_or_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kBytes / sizeof kBytes[0]; i++) {
    int64_t v = 0;
    sw_rc rc = sw_parse_bytes(kBytes[i].text, "size", &v, &diag);
    assert_int_equal(rc, kBytes[i].bytes < 0 ? SW_E_INPUT : SW_OK);
    if (!rc) assert_int_equal(v, kBytes[i].bytes);
  }
}

static void numbers_for_people(void **state) {
  (void)state;
  sw_text t = {0};
  sw_text_bytes(&t, 1536);
  sw_text_puts(&t, "|");
  sw_text_seconds(&t, 12.34e-6);
  assert_string_equal(sw_text_str(&t), "1.50 KiB|12.3 us");
  sw_text_free(&t);
}

static void take_message(void *user, sw_log_level level, const char *text) {
  sw_text_printf(user, "%d:%s;", (int)level, text);
}

static void messages_go_to_whoever_asks(void **state) {
  (void)state;
  sw_text t = {0};
  sw_log(SW_LOG_WARN, "nobody hears %d", 1);
  sw_log_to(take_message, &t);
  sw_log(SW_LOG_WARN, "heard %d", 2);
  sw_log(SW_LOG_INFO, "beyond the level");
  sw_log_to(NULL, NULL);
  sw_log(SW_LOG_WARN, "nobody hears %d", 3);
  assert_string_equal(sw_text_str(&t), "1:heard 2;");
  sw_text_free(&t);
}

static void costs_saturate(void **state) {
  (void)state;
  assert_int_equal(sw_cost_add(SW_FORBIDDEN, SW_FORBIDDEN), SW_FORBIDDEN);
  assert_int_equal(sw_cost_add(SW_FORBIDDEN - 1, 1), SW_FORBIDDEN);
  assert_int_equal(sw_cost_add(3, 4), 7);
  assert_int_equal(sw_floor_div(-1, 4), -1);
  assert_int_equal(sw_ceil_div(9, 4), 3);
}

static void files_are_written_whole(void **state) {
  (void)state;
  char path[] = "/tmp/sw_base_test_XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_ok(sw_file_write(path, "hello", 5, &diag));
  char *bytes;
  size_t n;
  assert_ok(sw_file_read(path, &bytes, &n, &diag));
  assert_int_equal(n, 5);
  assert_string_equal(bytes, "hello");
  sw_mem_free(bytes);
  remove(path);
  assert_int_equal(sw_file_read(path, &bytes, &n, &diag), SW_E_INPUT);
  assert_int_equal(sw_file_write("/nonexistent/x", "a", 1, &diag), SW_E_INPUT);
}

static void links_stay_links(void **state) {
  (void)state;
  struct stat st;
  char folder[] = "/tmp/sw_base_test_XXXXXX", file[64], link[64], *bytes;
  size_t n;
  assert_non_null(mkdtemp(folder));
  snprintf(file, sizeof file, "%s/file", folder);
  snprintf(link, sizeof link, "%s/link", folder);
  assert_ok(sw_file_write(file, "before", 6, &diag));
  assert_int_equal(symlink(file, link), 0);
  assert_ok(sw_file_write(link, "after", 5, &diag));
  assert_int_equal(lstat(link, &st), 0);
  assert_true(S_ISLNK(st.st_mode));
  assert_ok(sw_file_read(file, &bytes, &n, &diag));
  assert_string_equal(bytes, "after");
  sw_mem_free(bytes);
  remove(link);
  remove(file);
  remove(folder);
}

static void files_that_came_along_are_found(void **state) {
  (void)state;
  diag = (sw_diag){0};
  sw_arena arena = {0};
  const char *path = NULL;
  assert_ok(sw_data_file("src", "layers.txt", &arena, &path, &diag)); /* some folders above this program */
  assert_non_null(strstr(path, "/src/layers.txt"));
  assert_int_equal(sw_data_file("src", "no such file", &arena, &path, &diag), SW_E_INPUT);
  assert_non_null(strstr(diag.text, "src/no such file"));
  char folder[] = "/tmp/sw_data_XXXXXX";
  assert_non_null(mkdtemp(folder));
  assert_int_equal(setenv("SHARDWRIGHT_DATA", folder, 1), 0);
  char *file = sw_arena_printf(&arena, &diag, "%s/src", folder);
  assert_int_equal(mkdir(file, 0700), 0);
  file = sw_arena_printf(&arena, &diag, "%s/layers.txt", file);
  assert_ok(sw_file_write(file, "x", 1, &diag));
  assert_ok(sw_data_file("src", "layers.txt", &arena, &path, &diag)); /* the user's folder comes first */
  assert_string_equal(path, file);
  unsetenv("SHARDWRIGHT_DATA");
  remove(file);
  *strrchr(file, '/') = '\0';
  remove(file);
  remove(folder);
  sw_arena_deinit(&arena);
}

/* Every length and every bit counts, in whole lanes and behind them. */
static void quick_hashes_see_every_bit(void **state) {
  (void)state;
  enum { N = 77 };
  unsigned char bytes[N] = {0};
  sw_dict seen = {0};
  for (size_t n = 0; n <= N; n++) {
    for (size_t bit = 0; bit <= 8 * n; bit++) { /* the last flips none */
      if (bit < 8 * n) bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
      uint64_t h = sw_hash_quick(bytes, n);
      bool fresh;
      assert_ok(sw_dict_put(&seen, &h, sizeof h, 0, NULL, &fresh, &diag));
      assert_true(fresh);
      if (bit < 8 * n) bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
  }
  sw_dict_deinit(&seen);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(quick_hashes_see_every_bit),
      cmocka_unit_test(arena_gives_zeroed_aligned_memory),
      cmocka_unit_test(arena_calls_its_ends_in_turn),
      cmocka_unit_test(array_survives_a_failed_growth),
      cmocka_unit_test(map_agrees_with_a_plain_array),
      cmocka_unit_test(bytes_are_parsed_or_refused),
      cmocka_unit_test(numbers_for_people),
      cmocka_unit_test(costs_saturate),
      cmocka_unit_test(messages_go_to_whoever_asks),
      cmocka_unit_test(files_are_written_whole),
      cmocka_unit_test(links_stay_links),
      cmocka_unit_test(files_that_came_along_are_found),
  };
  return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
