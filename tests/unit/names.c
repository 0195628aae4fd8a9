/* Names in groups, and patterns of names: against definitions that enumerate. */
#include "check.h"

#include "base/array.h"
#include "base/folded_names.h"
#include "base/pattern.h"
#include "graph/find.h"

enum { LONGEST = 64, MOST_ITEMS = 400 };

/* --- groups ------------------------------------------------------------------------------------------------------ */

static const struct {
  const char *names;  /* blank-separated */
  const char *groups; /* likewise */
} kGroups[] = {
    {"h.0.wq h.1.wq h.2.wq h.3.wq", "h.{0..3}.wq"},
    {"h.0.w h.1.w h.10.w", "h.{0,1,10}.w"},
    {"h.0.w h.2.w h.4.w h.6.w h.7.w", "h.{0..6..2,7}.w"},
    {"h.0.b h.0.w h.1.b h.1.w", "h.{0,1}.{b,w}"},
    {"h.0.b h.0.w h.1.w", "h.0.b h.{0,1}.w"},
    {"h.0.ln_1.b h.0.ln_2.b h.1.ln_1.b h.1.ln_2.b", "h.{0,1}.ln_{1,2}.b"},
    {"x y z", "x y z"},
    {"wte wte.m wte.v", "wte wte.{m,v}"},
    {"p['h'][0]['w'] p['h'][1]['w'] p['h'][2]['w']", "p['h'][{0..2}]['w']"},
    {"a/b_0/w a/b_1/w", "a/b_{0,1}/w"},
    {"l.01.w l.02.w", "l.{01,02}.w"},
    {"l.{0}.w l.{1}.w", "l.{0}.w l.{1}.w"},
    {"7 8 9", "{7..9}"},
};

static int32_t split_words(char *text, sw_named *out) {
  int32_t n = 0;
  char *save = NULL;
  for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
    assert_true(n < MOST_ITEMS);
    out[n++] = (sw_named){word, "", ""};
  }
  return n;
}

static void groups_have_the_names_that_people_would_give(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kGroups / sizeof *kGroups; i++) {
    sw_arena arena = {0};
    char text[256];
    sw_named items[MOST_ITEMS];
    int32_t n_groups;
    const sw_folded_name *groups;
    sw_text got = {0};
    snprintf(text, sizeof text, "%s", kGroups[i].names);
    assert_ok(sw_fold_names(split_words(text, items), items, &arena, &n_groups, &groups, &diag));
    for (int32_t k = 0; k < n_groups; k++) sw_text_printf(&got, "%s%s", k ? " " : "", groups[k].name);
    assert_string_equal(sw_text_str(&got), kGroups[i].groups);
    sw_text_free(&got);
    sw_arena_deinit(&arena);
  }
}

static void variants_stand_together_over_layers_alone(void **state) {
  (void)state;
  sw_arena arena = {0};
  const sw_named items[] = {{"s.0.c_1.w", "", "64"},
                            {"s.0.c_2.w", "", "32"},
                            {"s.1.c_1.w", "", "128"},
                            {"s.1.c_2.w", "", "16"},
                            {"s.2.c_1.w", "x", "64"}};
  int32_t n;
  const sw_folded_name *groups;
  assert_ok(sw_fold_names(5, items, &arena, &n, &groups, &diag));
  assert_int_equal(n, 3);
  assert_string_equal(groups[0].name, "s.{0,1}.c_1.w");
  assert_string_equal(groups[1].name, "s.{0,1}.c_2.w");
  assert_string_equal(groups[2].name, "s.2.c_1.w");
  assert_false(groups[0].uniform);
  assert_true(groups[2].uniform);
  sw_arena_deinit(&arena);
}

/* A random name of few parts, so that many are alike. */
static void random_name(sw_rng *rng, char out[LONGEST]) {
  static const char *const kParts[] = {"h", "w", "ln_", "q", "'k'", "12", "b"};
  static const char kBetween[] = "./_";
  out[0] = '\0';
  for (int i = 0, n = 2 + (int)sw_rng_below(rng, 3); i < n; i++) {
    char part[16];
    if (sw_rng_below(rng, 2))
      snprintf(part, sizeof part, "%d", (int)sw_rng_below(rng, 9));
    else
      snprintf(part, sizeof part, "%s", kParts[sw_rng_below(rng, sizeof kParts / sizeof *kParts)]);
    const size_t at = strlen(out);
    snprintf(out + at, LONGEST - at, "%s%s", part, i + 1 < n ? (char[2]){kBetween[sw_rng_below(rng, 3)], 0} : "");
  }
}

static int32_t random_items(sw_rng *rng, char names[][LONGEST], sw_named *items) {
  static const char *const kLike[] = {"a", "b"}, *const kVariants[] = {"u", "v"};
  int32_t n = 0;
  for (int tries = 0; tries < MOST_ITEMS; tries++) {
    bool known = false;
    random_name(rng, names[n]);
    for (int32_t i = 0; i < n && !known; i++) known = strcmp(names[i], names[n]) == 0;
    if (known) continue;
    items[n] = (sw_named){names[n], kLike[sw_rng_below(rng, 8) == 0], kVariants[sw_rng_below(rng, 6) == 0]};
    n++;
  }
  return n;
}

/* Every item is in one group; what the group's name matches among all items of its `like` is the group, and nothing
 * else. */
static void a_group_is_what_its_name_matches(void **state) {
  (void)state;
  static char names[MOST_ITEMS][LONGEST];
  static sw_named items[MOST_ITEMS];
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(17));
  int joined = 0;
  for (int round = check_scale(40); round > 0; round--) {
    sw_arena arena = {0};
    bool seen[MOST_ITEMS] = {false};
    int32_t n = random_items(&rng, names, items), n_groups, last = -1;
    const sw_folded_name *groups;
    assert_ok(sw_fold_names(n, items, &arena, &n_groups, &groups, &diag));
    for (int32_t k = 0; k < n_groups; k++) {
      const sw_folded_name *g = &groups[k];
      const sw_named *first = &items[g->items[0]];
      assert_true(g->items[0] > last);
      last = g->items[0];
      joined += g->n > 1;
      int32_t at = 0;
      bool uniform = true;
      for (int32_t i = 0; i < n; i++) {
        const bool in = at < g->n && g->items[at] == i;
        if (in) {
          assert_false(seen[i]);
          seen[i] = true;
          at++;
          assert_string_equal(items[i].like, first->like);
          uniform = uniform && strcmp(items[i].variant, first->variant) == 0;
        }
        const bool matched = sw_pattern_distance(g->name, strlen(g->name), items[i].name) == 0;
        if (in && !matched) fail_msg("'%s' is in '%s', which does not match it", items[i].name, g->name);
        if (!in && matched && g->n > 1 && strcmp(items[i].like, first->like) == 0)
          fail_msg("'%s' is matched by '%s' and not in it", items[i].name, g->name);
      }
      assert_int_equal(at, g->n);
      assert_int_equal(uniform, g->uniform);
    }
    for (int32_t i = 0; i < n; i++) assert_true(seen[i]);
    sw_arena_deinit(&arena);
  }
  assert_true(joined > 0);
}

static void groups_survive_failing_allocations(void **state) {
  (void)state;
  const sw_named items[] = {{"h.0.b", "", "1"}, {"h.1.b", "", "2"}, {"h.0.w", "", "1"}, {"h.1.w", "", "2"}};
  bool done = false;
  for (long at = 1; !done; at++) {
    sw_arena arena = {0};
    int32_t n;
    const sw_folded_name *groups;
    sw_mem_fail_after(at);
    const sw_rc rc = sw_fold_names(4, items, &arena, &n, &groups, &diag);
    sw_mem_fail_after(0);
    assert_true(rc == SW_OK || rc == SW_E_RESOURCE);
    done = rc == SW_OK;
    sw_arena_deinit(&arena);
  }
}

/* --- patterns ---------------------------------------------------------------------------------------------------- */

static const struct {
  const char *pattern, *name;
  bool matches;
} kMatches[] = {
    {"h.*.w", "h.3.w", true},
    {"h.*.w", "h.3.4.w", false},
    {"h.*.w", "h..w", true},
    {"h.**.w", "h.3.4.w", true},
    {"h.**.w", "h.w", true},
    {"h.**.w", "hx.w", false},
    {"**/wq", "wq", true},
    {"**/wq", "a/b/wq", true},
    {"**/wq", "a.b.wq", true}, /* whatever separates its parts */
    {"**/wq", "a/xwq", false},
    {"**", "a.b/c[0]", true},
    {"**wq", "a/xwq", true},
    {"h.?.w", "h.3.w", true},
    {"h.?.w", "h.31.w", false},
    {"h.?.w", "h...w", false},
    {"h.{0..3}.w", "h.3.w", true},
    {"h.{0..3}.w", "h.4.w", false},
    {"h.{0..3}.w", "h.03.w", false},
    {"h.{0..6..2}.w", "h.4.w", true},
    {"h.{0..6..2}.w", "h.3.w", false},
    {"h.{0,2..3}.{w,b}", "h.3.b", true},
    {"h.{0,2..3}.{w,b}", "h.1.b", false},
    {"p['h'][*]['w']", "p['h'][12]['w']", true},
    {"p['h']*['w']", "p['h'][12]['w']", false},
    {"p.h.*.w", "p['h'][12]['w']", true},
    {"**.w", "p['h'][12]['w']", true},
    {"a*b*c", "axxbyyc", true},
    {"a*b*c", "axxbyy", false},
    {"", "", true},
    {"*", "", true},
};

static void patterns_match_what_they_say(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kMatches / sizeof *kMatches; i++) {
    const size_t n = strlen(kMatches[i].pattern);
    assert_ok(sw_pattern_check(kMatches[i].pattern, n, &diag));
    if ((sw_pattern_distance(kMatches[i].pattern, n, kMatches[i].name) == 0) != kMatches[i].matches)
      fail_msg("'%s' and '%s': expected %smatch", kMatches[i].pattern, kMatches[i].name,
               kMatches[i].matches ? "a " : "no ");
  }
}

static const struct {
  const char *pattern, *says;
} kBad[] = {
    {"h.{0..3.w", "'{' is not closed"},
    {"h.0}.w", "no '{' is open"},
    {"h.{a{b}}", "stands in another"},
    {"h.{}.w", "expected a word or a range before '}'"},
    {"h.{a,}.w", "expected a word or a range before ',}'"},
    {"h.{,a}.w", "expected a word or a range before ','"},
    {"h.{3..0}.w", "'3..0' is no range"},
    {"h.{0..}.w", "'0..' is no range"},
    {"h.{0..8..0}.w", "'0..8..0' is no range"},
    {"h.{0..99999999999999999999}.w", "is no range"},
};

static void patterns_that_are_none_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kBad / sizeof *kBad; i++) {
    diag = (sw_diag){0};
    assert_int_equal(sw_pattern_check(kBad[i].pattern, strlen(kBad[i].pattern), &diag), SW_E_USAGE);
    if (!strstr(diag.text, kBad[i].says)) fail_msg("'%s' is refused with: %s", kBad[i].pattern, diag.text);
  }
}

/* The definition: every way to read the pattern, by recursion. */
static bool slow_match(const char *p, const char *s, bool begins) {
  if (!*p) return !*s;
  const bool apart = *s && strchr("./[]", *s);
  if (p[0] == '*' && p[1] == '*') {
    const bool parts = p[2] == '.' || p[2] == '/';
    if (parts && begins && slow_match(p + 3, s, true)) return true;
    for (const char *end = s;; end++) {
      if (!parts && slow_match(p + 2, end, end > s ? strchr("./[]", end[-1]) != NULL : begins)) return true;
      if (parts && end > s && strchr("./[]", end[-1]) && slow_match(p + 3, end, true)) return true;
      if (!*end) return false;
    }
  }
  if (*p == '*') {
    if (slow_match(p + 1, s, begins)) return true;
    return *s && !apart && slow_match(p, s + 1, false);
  }
  return *s && (*p == '?' ? !apart : *p == *s) && slow_match(p + 1, s + 1, apart);
}

static void matching_is_that_of_the_definition(void **state) {
  (void)state;
  static const char kPattern[] = "ab./*?", kName[] = "ab./";
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(5));
  int matched = 0;
  for (int round = check_scale(20000); round > 0; round--) {
    char p[9] = "", s[9] = "";
    for (int i = 0, n = (int)sw_rng_below(&rng, 8); i < n; i++) p[i] = kPattern[sw_rng_below(&rng, 6)];
    for (int i = 0, n = (int)sw_rng_below(&rng, 8); i < n; i++) s[i] = kName[sw_rng_below(&rng, 4)];
    const bool want = slow_match(p, s, true), got = sw_pattern_distance(p, strlen(p), s) == 0;
    if (want != got) fail_msg("'%s' and '%s': expected %smatch", p, s, want ? "a " : "no ");
    matched += want;
  }
  assert_true(matched > 0);
}

static void very_long_names_match_nothing(void **state) {
  (void)state;
  static char name[5000];
  memset(name, 'a', sizeof name - 1);
  assert_true(sw_pattern_distance("*", 1, name) > 0);
  assert_int_equal(sw_pattern_check(name, sizeof name - 1, &diag), SW_E_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(groups_have_the_names_that_people_would_give),
      cmocka_unit_test(variants_stand_together_over_layers_alone),
      cmocka_unit_test(a_group_is_what_its_name_matches),
      cmocka_unit_test(groups_survive_failing_allocations),
      cmocka_unit_test(patterns_match_what_they_say),
      cmocka_unit_test(patterns_that_are_none_are_refused),
      cmocka_unit_test(matching_is_that_of_the_definition),
      cmocka_unit_test(very_long_names_match_nothing),
  };
  return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
