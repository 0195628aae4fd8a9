#include "check.h"

#include "base/nearest.h"

static const struct {
  const char *wanted, *known; /* known names, blank-separated */
  const char *best;           /* NULL: nothing is close */
} kRows[] = {
    {"modle", "mesh model mode", "model"}, /* a swap beats a replacement and a removal */
    {"sovle", "solve", "solve"},
    {"time", "threads time-limit", "time-limit"},
    {"plam", "run plan", "plan"},
    {"plan", "run gen", NULL},
    {"x", "y z", NULL},
    {"", "a b", NULL},
    {"colour", "color colours", "color"}, /* both at distance 1: the first one */
    {"convert", "opt explain report", NULL},
    {"chek-solution", "check check-solution", "check-solution"},
};

static void the_closest_name_is_found(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kRows / sizeof kRows[0]; i++) {
    char known[128], *save = NULL;
    snprintf(known, sizeof known, "%s", kRows[i].known);
    sw_nearest near = {.wanted = kRows[i].wanted};
    for (char *k = strtok_r(known, " ", &save); k; k = strtok_r(NULL, " ", &save)) sw_nearest_offer(&near, k);
    if (kRows[i].best && near.best) assert_string_equal(near.best, kRows[i].best);
    assert_int_equal(near.best != NULL, kRows[i].best != NULL);
  }
}

/* The distance by its recursive definition: the cheapest of the last edits, everything before it by recursion. */
static int slow_distance(const char *a, int na, const char *b, int nb) {
  if (na == 0 || nb == 0) return na + nb;
  int d = slow_distance(a, na - 1, b, nb - 1) + (a[na - 1] != b[nb - 1]);
  int removed = slow_distance(a, na - 1, b, nb) + 1, inserted = slow_distance(a, na, b, nb - 1) + 1;
  if (removed < d) d = removed;
  if (inserted < d) d = inserted;
  if (na > 1 && nb > 1 && a[na - 1] == b[nb - 2] && a[na - 2] == b[nb - 1]) {
    int swapped = slow_distance(a, na - 2, b, nb - 2) + 1;
    if (swapped < d) d = swapped;
  }
  return d;
}

static void the_distance_is_that_of_the_definition(void **state) {
  (void)state;
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(3));
  int kept = 0;
  for (int round = check_scale(3000); round > 0; round--) {
    char a[8] = "", b[8] = "";
    int na = 2 + (int)sw_rng_below(&rng, 5), nb = 2 + (int)sw_rng_below(&rng, 5);
    for (int i = 0; i < na; i++) a[i] = (char)('a' + sw_rng_below(&rng, 3));
    for (int i = 0; i < nb; i++) b[i] = (char)('a' + sw_rng_below(&rng, 3));
    int want = slow_distance(a, na, b, nb), most = (na > nb ? na : nb) / 3;
    if (strncmp(a, b, (size_t)na) == 0 && want > 1) want = 1;
    sw_nearest near = {.wanted = a};
    sw_nearest_offer(&near, b);
    assert_int_equal(near.best != NULL, want <= (most > 1 ? most : 1));
    if (near.best) assert_int_equal(near.distance, want);
    kept += near.best != NULL;
  }
  assert_true(kept > 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_closest_name_is_found),
      cmocka_unit_test(the_distance_is_that_of_the_definition),
  };
  return cmocka_run_group_tests_name("nearest", tests, NULL, NULL);
}
