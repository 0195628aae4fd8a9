/* Sizes that a model leaves open: names and sums of products of them, what is given and what is missing. */
#include "check.h"

#include "shardwright/sizes.h"

static int64_t by_class(const void *user, int class_of) { return *(const int64_t *)user * (class_of + 2); }

typedef struct text_row {
  const char *text;
  int64_t want; /* with N=5, M=7; -1: not known */
  const char *wrong;
} text_row;

static const text_row kTexts[] = {
    {"12", 12, NULL},
    {"N", 5, NULL},
    {" 2*N + 1 ", 11, NULL},
    {"N*M-N", 30, NULL},
    {"N - M + 4", 2, NULL},
    {"K", -1, NULL},
    {"2*K+N", -1, NULL},
    {"N-M", 0, "the size 'N-M' is -2; expected none below 0"},
    {"", 0, "'' is no size; expected a number, \"?\", a name, or a sum"},
    {"N+", 0, "'N+' is no size"},
    {"N M", 0, "'N M' is no size"},
    {"2**N", 0, "'2**N' is no size"},
    {"-N", 0, "'-N' is no size"},
    {"99999999999*99999999999", 0, "does not fit 63 bits"},
    {"99999999999999999999", 0, "a number in a size"},
};

static void texts_are_sums_of_products(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kTexts / sizeof *kTexts; i++) {
    const text_row *row = &kTexts[i];
    sw_sizes s = {0};
    diag = (sw_diag){0};
    int64_t out;
    assert_ok(sw_sizes_give(&s, "N", "5", &diag));
    assert_ok(sw_sizes_give(&s, "M", "7", &diag));
    const sw_rc rc = sw_sizes_meet_text(&s, row->text, SW_NOWHERE, &out, &diag);
    if (rc != (row->wrong ? SW_E_INPUT : SW_OK)) fail_msg("'%s' gives %d: %s", row->text, (int)rc, diag.text);
    if (row->wrong && !strstr(diag.text, row->wrong)) fail_msg("'%s': %s", row->text, diag.text);
    if (!row->wrong && out != row->want) fail_msg("'%s' is %lld", row->text, (long long)out);
  }
}

static int64_t from_eight(const void *unit, int class_of) { return *(const int64_t *)unit * (8 + class_of); }

static void open_sizes_are_named(void **state) {
  (void)state;
  const int64_t unit = 10;
  sw_sizes s = {.stand_in = by_class, .user = &unit};
  diag = (sw_diag){0};
  int64_t a, b, c;
  assert_ok(sw_sizes_give(&s, "N", "5", &diag));
  assert_ok(sw_sizes_meet(&s, "x:0", SW_NOWHERE, &a, &diag));
  assert_ok(sw_sizes_meet(&s, "y:0", SW_NOWHERE, &b, &diag));
  assert_ok(sw_sizes_meet(&s, "N", SW_NOWHERE, &c, &diag));
  assert_true(a == 20 && b == 30 && c == 5);
  assert_int_equal(sw_sizes_open(&s), 2);
  assert_int_equal(sw_sizes_check(&s, "m", &diag), SW_E_INPUT);
  assert_string_equal(diag.text, "sizes of 'm' are not known: 'x:0', 'y:0'; expected --size x:0=... --size y:0=...");
  sw_sizes_unite(&s, 0, 1);
  assert_ok(sw_sizes_meet(&s, "y:0", SW_NOWHERE, &b, &diag));
  assert_true(b == a);
}

/* x and y stand in as 64000 and 72000; what is made of them must be a number. */
static const struct made_row {
  int64_t made, is;
  int64_t x, y; /* -1: not known */
} kMade[] = {
    {64000, 5, 5, -1},          {72000, 5, -1, 5},      {2 * 64000 + 1, 11, 5, -1},
    {72000 - 3, 4, -1, 7},      {64000 / 2, 6, 12, -1}, {2 * 72000, 7, -1, -1},
    {64000 + 72000, 9, -1, -1}, {17, 18, -1, -1},       {3, 64000 / 4, 12, -1},
};

static void what_makes_a_size_is_undone(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kMade / sizeof *kMade; i++) {
    const int64_t unit = 8000;
    sw_sizes s = {.stand_in = from_eight, .user = &unit};
    int64_t v;
    assert_ok(sw_sizes_meet(&s, "x", SW_NOWHERE, &v, &diag));
    assert_ok(sw_sizes_meet(&s, "y", SW_NOWHERE, &v, &diag));
    sw_sizes_equate(&s, kMade[i].made, kMade[i].is);
    for (int k = 0; k < 2; k++) {
      const int64_t want = k ? kMade[i].y : kMade[i].x, got = s.at[k].given ? s.at[k].value : -1;
      if (got != want) fail_msg("row %d: size %d is %lld", (int)i, k, (long long)got);
    }
  }
}

/* What an error says of numbers that stand in. */
static void numbers_have_names(void **state) {
  (void)state;
  const int64_t unit = 8000;
  sw_sizes s = {.stand_in = from_eight, .user = &unit};
  int64_t v;
  char text[] = "f32[64000,144003] has 4608000000, not 32000, 136000 or 12                  ";
  assert_ok(sw_sizes_meet(&s, "x", SW_NOWHERE, &v, &diag));
  assert_ok(sw_sizes_meet(&s, "y", SW_NOWHERE, &v, &diag));
  sw_sizes_name(&s, text, sizeof text);
  for (char *end = text + strlen(text); end > text && end[-1] == ' ';) *--end = 0;
  assert_string_equal(text, "f32[x,2*y + 3] has x*y, not x/2, x + y or 12");
}

static void sizes_that_nothing_has_are_told(void **state) {
  (void)state;
  sw_sizes s = {0};
  assert_ok(sw_sizes_give(&s, "N", "5", &diag));
  assert_int_equal(sw_sizes_give(&s, "N", "6", &diag), SW_E_USAGE);
  assert_int_equal(sw_sizes_check(&s, "m", &diag), SW_E_USAGE);
  int64_t out = 0;
  assert_ok(sw_sizes_meet(NULL, "N", SW_NOWHERE, &out, &diag)); /* nobody knows any */
  assert_true(out == -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(texts_are_sums_of_products),      cmocka_unit_test(open_sizes_are_named),
      cmocka_unit_test(what_makes_a_size_is_undone),     cmocka_unit_test(numbers_have_names),
      cmocka_unit_test(sizes_that_nothing_has_are_told),
  };
  return cmocka_run_group_tests_name("sizes", tests, NULL, NULL);
}
