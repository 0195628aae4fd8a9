/* Entries of older plans against the model as it is now: what was edited is known here, so the right match is, too; and
 * stretches against all ways to pair them. */
#include "check.h"

#include "io/plan_match.h"

enum { MOST = 40, FORMS = 5 };

static const char *const kForms[FORMS] = {"add f32[8]", "dot_general f32[8,4]", "tanh f32[8,4]", "add f32[4]",
                                          "negate f32[8]"};

typedef struct side {
  int32_t n;
  char name[MOST][24];
  const char *names[MOST], *forms[MOST];
  int from[MOST]; /* of the new side: the entry of the old one that it was; -1: it is new */
} side;

static void put(side *s, const char *name, const char *form, int from) {
  snprintf(s->name[s->n], sizeof s->name[0], "%s", name);
  s->forms[s->n] = form;
  s->from[s->n++] = from;
}

static sw_match_side view(side *s) {
  for (int32_t i = 0; i < s->n; i++) s->names[i] = s->name[i];
  return (sw_match_side){s->n, s->names, s->forms};
}

/* Renamed, removed and inserted at random; no two neighbours are edited, so each edit is alone between names. */
static void single_edits_are_seen_through(void **state) {
  (void)state;
  sw_rng r;
  sw_rng_seed(&r, check_seed(5));
  for (int round = 0; round < check_scale(2000); round++) {
    side was = {0}, now = {0};
    int32_t to[MOST];
    char name[24];
    bool before = false;
    for (int i = 0; i < 20; i++) {
      snprintf(name, sizeof name, "op.%d", i);
      put(&was, name, kForms[sw_rng_below(&r, FORMS)], -1);
      const int edit = before ? 0 : (int)sw_rng_below(&r, 6);
      before = edit == 1 || edit == 2 || edit == 3;
      if (edit == 1) snprintf(name, sizeof name, "other.%d", i); /* renamed */
      if (edit == 2) continue;                                   /* removed */
      put(&now, name, was.forms[i], i);
      if (edit == 3) put(&now, "new", kForms[sw_rng_below(&r, FORMS)], -1);
      if (edit == 3) snprintf(now.name[now.n - 1], sizeof now.name[0], "new.%d", i);
    }
    const sw_match_side a = view(&was), b = view(&now);
    assert_ok(sw_plan_match(&a, &b, to, &diag));
    int found = 0, kept = 0;
    for (int j = 0; j < now.n; j++) {
      kept += now.from[j] >= 0;
      if (now.from[j] >= 0 && to[now.from[j]] != j)
        fail_msg("round %d: '%s' is taken for entry %d", round, now.name[j], to[now.from[j]]);
    }
    for (int i = 0; i < was.n; i++) found += to[i] >= 0;
    assert_int_equal(found, kept);
  }
}

/* The most that pairs in order are worth, by trying all. */
static int best_worth(const side *was, const side *now, int i, int j) {
  if (i == was->n || j == now->n) return 0;
  int best = best_worth(was, now, i + 1, j);
  const int other = best_worth(was, now, i, j + 1);
  if (other > best) best = other;
  const size_t n = strcspn(was->forms[i], " ");
  const bool same = strcmp(was->forms[i], now->forms[j]) == 0;
  const bool kind = n == strcspn(now->forms[j], " ") && memcmp(was->forms[i], now->forms[j], n) == 0;
  if (!same && !kind) return best;
  const int both = best_worth(was, now, i + 1, j + 1) + (same ? 1000 : 1);
  return both > best ? both : best;
}

/* Nothing has its name: matched in order, and worth as much as the best of all ways. */
static void stretches_are_matched_as_well_as_can_be(void **state) {
  (void)state;
  sw_rng r;
  sw_rng_seed(&r, check_seed(6));
  for (int round = 0; round < check_scale(500); round++) {
    side was = {0}, now = {0};
    int32_t to[MOST];
    char name[24];
    const int n = (int)sw_rng_below(&r, 8), m = (int)sw_rng_below(&r, 8);
    for (int i = 0; i < n; i++) {
      snprintf(name, sizeof name, "was.%d", i);
      put(&was, name, kForms[sw_rng_below(&r, FORMS)], -1);
    }
    for (int j = 0; j < m; j++) {
      snprintf(name, sizeof name, "now.%d", j);
      put(&now, name, kForms[sw_rng_below(&r, FORMS)], -1);
    }
    const sw_match_side a = view(&was), b = view(&now);
    assert_ok(sw_plan_match(&a, &b, to, &diag));
    int worth = 0, last = -1;
    for (int i = 0; i < n; i++) {
      if (to[i] < 0) continue;
      assert_true(to[i] > last && to[i] < m);
      last = to[i];
      worth += strcmp(was.forms[i], now.forms[last]) == 0 ? 1000 : 1;
    }
    assert_int_equal(worth, best_worth(&was, &now, 0, 0));
  }
}

static void other_kinds_of_one_name_are_apart(void **state) {
  (void)state;
  side was = {0}, now = {0};
  int32_t to[MOST];
  put(&was, "1", "add f32[8]", -1);
  put(&was, "2", "dot_general f32[8,4]", -1);
  put(&now, "1", "negate f32[8]", -1);
  put(&now, "2", "add f32[8]", -1);
  put(&now, "3", "dot_general f32[8,4]", -1);
  const sw_match_side a = view(&was), b = view(&now);
  assert_ok(sw_plan_match(&a, &b, to, &diag));
  assert_int_equal(to[0], 1);
  assert_int_equal(to[1], 2);
}

/* Files of earlier versions say no forms. */
static void without_forms_counts_decide(void **state) {
  (void)state;
  side was = {0}, now = {0};
  int32_t to[MOST];
  const char *const kWas[] = {"a", "b", "c", "d", "e"}, *const kNow[] = {"a", "x", "c", "y", "z", "e"};
  for (int i = 0; i < 5; i++) put(&was, kWas[i], NULL, -1);
  for (int j = 0; j < 6; j++) put(&now, kNow[j], kForms[j % FORMS], -1);
  const sw_match_side a = view(&was), b = view(&now);
  assert_ok(sw_plan_match(&a, &b, to, &diag));
  const int32_t kTo[] = {0, 1, 2, -1, 5};
  for (int i = 0; i < 5; i++) assert_int_equal(to[i], kTo[i]);
}

static void memory_failures_come_back(void **state) {
  (void)state;
  side was = {0}, now = {0};
  for (int i = 0; i < 5; i++) {
    char name[24];
    snprintf(name, sizeof name, "%d", i);
    put(&was, name, kForms[i], -1);
    put(&now, i == 2 ? "x" : name, kForms[i], -1);
  }
  const sw_match_side a = view(&was), b = view(&now);
  sw_rc rc = SW_E_RESOURCE;
  for (long n = 1; rc; n++) {
    int32_t to[MOST];
    sw_mem_fail_after(n);
    rc = sw_plan_match(&a, &b, to, &diag);
    sw_mem_fail_after(0);
    assert_true(rc == SW_OK || rc == SW_E_RESOURCE);
    assert_true(n < 1000);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(single_edits_are_seen_through), cmocka_unit_test(stretches_are_matched_as_well_as_can_be),
      cmocka_unit_test(other_kinds_of_one_name_are_apart), cmocka_unit_test(without_forms_counts_decide),
      cmocka_unit_test(memory_failures_come_back)};
  return cmocka_run_group_tests_name("plan_match", tests, NULL, NULL);
}
