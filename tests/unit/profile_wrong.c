/* Everything that is wrong in a profile is told at once, each where it stands; and of numbers that no machine has there
 * is a warning. */
#include "check.h"

#include <unistd.h>

#include "base/file.h"
#include "shardwright/profile_json.h"
#include "shardwright/text.h"

enum { MOST_HEARD = 64, MOST_WRONG = 8 };

typedef struct heard {
  int n;
  sw_diag at[MOST_HEARD];
} heard;

static void hear(void *user, const sw_diag *d) {
  heard *h = user;
  assert_in_range(h->n, 0, MOST_HEARD - 1);
  h->at[h->n++] = *d;
}

static bool has_heard(const heard *h, int line, int col, const char *text) {
  for (int i = 0; i < h->n; i++)
    if (h->at[i].line == line && h->at[i].col == col && strcmp(h->at[i].text, text) == 0) return true;
  return false;
}

/* All errors of a text. */
static void read_wrong(const sw_text *text, heard *out) {
  sw_arena a = {0};
  const sw_profile *p;
  char path[] = "/tmp/shardwright-profile-XXXXXX", name[64];
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(close(fd), 0);
  snprintf(name, sizeof name, "%s", path);
  out->n = 0;
  assert_ok(sw_file_write(name, text->at, text->n, &diag));
  assert_int_equal(sw_profile_read_with(name, &(sw_profile_reading){.report = hear, .user = out}, &a, &p, &diag),
                   SW_E_INPUT);
  hear(out, &diag);
  assert_int_equal(unlink(name), 0);
  sw_arena_deinit(&a);
}

/* One of the numbers of the file, from its key on. */
static const char *some_number(const char *text, sw_rng *r) {
  static const char *const kKeys[] = {"\"base_s\": ", "\"bytes_per_s\": ", "\"launch_s\": ", "\"reserved_bytes\": "};
  const char *found[MOST_HEARD];
  int n = 0;
  for (size_t k = 0; k < sizeof kKeys / sizeof *kKeys; k++)
    for (const char *at = text; n < MOST_HEARD && (at = strstr(at, kKeys[k])); at++) found[n++] = at;
  return found[sw_rng_below(r, n)];
}

typedef struct mistake {
  const char *at; /* the key, in the text without mistakes */
  int line, col;  /* of what stands there instead of the number */
  char text[80];
} mistake;

static int by_place(const void *a, const void *b) {
  const mistake *x = a, *y = b;
  return (x->at > y->at) - (x->at < y->at);
}

static int choose(const char *text, sw_rng *r, mistake *out) {
  const int wanted = 1 + (int)sw_rng_below(r, MOST_WRONG);
  int n = 0;
  for (int i = 0; i < wanted; i++) {
    const mistake m = {.at = some_number(text, r)};
    bool again = false;
    for (int k = 0; k < n; k++) again |= out[k].at == m.at;
    if (!again) out[n++] = m;
  }
  qsort(out, (size_t)n, sizeof *out, by_place);
  return n;
}

/* The text with words in place of these numbers; fills in where they are. */
static void spoil(const char *text, mistake *m, int n, sw_text *out) {
  static const char kWord[] = "\"fast\"";
  int line = 1;
  const char *line_begin = text, *p = text;
  long longer = 0; /* this line, up to here */
  for (int i = 0; i < n; i++) {
    const char *value = strchr(m[i].at, ':') + 2, *end = value + strcspn(value, ",}\n");
    for (const char *q = p; q < value; q++) {
      if (*q != '\n') continue;
      line++;
      line_begin = q + 1;
      longer = 0;
    }
    m[i].line = line;
    m[i].col = (int)(value - line_begin + longer) + 1;
    snprintf(m[i].text, sizeof m[i].text, "'%.*s' is a string; expected a number", (int)(value - 4 - m[i].at),
             m[i].at + 1);
    sw_text_printf(out, "%.*s%s", (int)(value - p), p, kWord);
    longer += (long)strlen(kWord) - (end - value);
    p = end;
  }
  sw_text_puts(out, p);
}

static void every_mistake_is_told_where_it_stands(void **state) {
  (void)state;
  static const char *const kNames[] = {"dgx-h100", "h100x64", "mi300x-8", "local"};
  sw_rng r;
  sw_rng_seed(&r, check_seed(20261127));
  for (int round = 0; round < check_scale(200); round++) {
    mistake m[MOST_WRONG];
    heard h;
    sw_text text = {0};
    char path[200], *bytes;
    size_t n_bytes;
    snprintf(path, sizeof path, "%s/hwprofiles/%s.json", SW_SOURCE_DIR, kNames[sw_rng_below(&r, 4)]);
    assert_ok(sw_file_read_text(path, &bytes, &n_bytes, &diag));
    const int n = choose(bytes, &r, m);
    spoil(bytes, m, n, &text);
    read_wrong(&text, &h);
    for (int i = 0; i < n; i++) {
      if (!has_heard(&h, m[i].line, m[i].col, m[i].text))
        fail_msg("%s:%d:%d: %s", path, m[i].line, m[i].col, m[i].text);
    }
    assert_int_equal(h.n, n);
    sw_text_free(&text);
    sw_mem_free(bytes);
  }
}

/* Keys that are missing, and one in their place that is none. */
static void missing_and_unknown_keys_are_told_together(void **state) {
  (void)state;
  static const char kTold[] =
      "3:37: unknown key 'byte' in 'memory'; did you mean 'bytes'?\n"
      "3:81: source 't' is not among the file's sources\n"
      "3:36: missing key 'bytes'\n"
      "3:36: missing key 'reserved_bytes'\n"
      "4:17: missing key 'f32'\n"
      "3:12: missing key 'achieved'\n"
      "2:43: missing key 'peer_s'\n"
      "5:84: missing key 'all_gather'\n"
      "5:84: missing key 'reduce_scatter'\n"
      "5:84: missing key 'all_reduce'\n"
      "5:84: missing key 'all_to_all'\n"
      "5:84: missing key 'permute'\n"
      "2:70: 'meshes' has 0 elements; expected 1 to 16\n";
  heard h;
  sw_text text = {0};
  sw_text_puts(
      &text,
      "{\"format\": \"shardwright.profile\", \"version\": 1, \"name\": \"t\", \"description\": \"d\",\n"
      " \"sources\": {\"s\": \"made up\"}, \"exchange\": {\"source\": \"s\"}, \"meshes\": [],\n"
      " \"device\": {\"name\": \"d\", \"memory\": {\"byte\": 1e9, \"bytes_per_s\": 1e12, \"source\": \"t\"},\n"
      "  \"flop_per_s\": {\"bf16\": 1e14, \"source\": \"s\"}},\n"
      " \"levels\": [{\"name\": \"l\", \"topology\": \"switch\", \"size\": 2, \"source\": \"s\", \"costs\": {}}]}\n");
  read_wrong(&text, &h);
  sw_text told = {0};
  for (int k = 0; k < h.n; k++) sw_text_printf(&told, "%d:%d: %s\n", h.at[k].line, h.at[k].col, h.at[k].text);
  assert_string_equal(sw_text_str(&told), kTold);
  sw_text_free(&told);
  sw_text_free(&text);
}

/* Each with one change of a shipped profile; the number that is warned of is in the text. */
static const struct {
  const char *change, *warning;
} kDoubtful[] = {
    {"device.memory.bytes=80", "device.memory.bytes is 80, less than 1e+07: is it in GB?"},
    {"device.memory.reserved_bytes=7e10", "more than 0.5 times device.memory.bytes, which is 8.4933e+10"},
    {"device.memory.bytes_per_s=3350", "device.memory.bytes_per_s is 3350, less than 1e+08"},
    {"device.flop_per_s.bf16=989", "device.flop_per_s.bf16 is 989, less than 1e+08: is it in TFLOP/s?"},
    {"device.flop_per_s.f32=1e11", "less than 0.25 times device.memory.bytes_per_s"},
    {"device.flop_per_s.f64=9e13", "more than device.flop_per_s.f32"},
    {"device.flop_per_s.f8e4m3fn=9e13", "less than device.flop_per_s.bf16"},
    {"device.achieved.flop_fraction=0.005", "large ops would reach next to nothing"},
    {"device.achieved.launch_s=0.5", "device.achieved.launch_s is 0.5, more than 0.001"},
    {"exchange.peer_s=0.5", "exchange.peer_s is 0.5"},
    {"levels.nvlink.costs.all_gather.base_s=8.5", "levels.nvlink.costs.all_gather.base_s is 8.5, more than 0.01"},
    {"levels.nvlink.costs.all_gather.peer_s=0.8", "levels.nvlink.costs.all_gather.peer_s is 0.8"},
    {"levels.nvlink.costs.all_gather.bytes_per_s=360", "is it in GB/s, as nccl-tests print?"},
    {"levels.nvlink.costs.all_gather.bytes_per_s=3.6e12", "more than device.memory.bytes_per_s, which is 3.35e+12"},
    {"levels.infiniband.costs.all_gather.bytes_per_s=2e12",
     "more than 2 times levels.nvlink.costs.all_gather.bytes_per_s"},
};

static void what_no_machine_has_is_warned_of(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kDoubtful / sizeof *kDoubtful; i++) {
    sw_arena a = {0};
    heard h = {0};
    bool found = false;
    const sw_profile *p;
    (void)!sw_profile_read_with("h100", &(sw_profile_reading){&kDoubtful[i].change, 1, hear, &h}, &a, &p, &diag);
    for (int k = 0; k < h.n; k++) {
      found |= strstr(h.at[k].text, kDoubtful[i].warning) != NULL;
      assert_int_equal(h.at[k].rc, SW_OK);
      assert_true(h.at[k].line > 0 && h.at[k].col > 0);
    }
    if (!found) fail_msg("%s: no warning '%s'", kDoubtful[i].change, kDoubtful[i].warning);
    sw_arena_deinit(&a);
  }
}

static void shipped_profiles_are_not_warned_of(void **state) {
  (void)state;
  sw_arena a = {0};
  const char *const *names;
  int n;
  assert_ok(sw_profile_names(&a, &names, &n, &diag));
  assert_true(n > 20);
  for (int i = 0; i < n; i++) {
    heard h = {0};
    const sw_profile *p;
    assert_ok(sw_profile_read_with(names[i], &(sw_profile_reading){.report = hear, .user = &h}, &a, &p, &diag));
    if (h.n) fail_msg("%s: %s", names[i], h.at[0].text);
  }
  sw_arena_deinit(&a);
}

/* Without a listener the others are notes to the first. */
static void notes_tell_the_others(void **state) {
  (void)state;
  static const char *const kChanges[] = {"device.achieved.*_fraction=2", "levels.*.costs.*.base_s=-1"};
  sw_arena a = {0};
  diag = (sw_diag){0};
  const sw_profile *p;
  assert_int_equal(sw_profile_read_with("h100", &(sw_profile_reading){kChanges, 2, NULL, NULL}, &a, &p, &diag),
                   SW_E_INPUT);
  assert_non_null(strstr(diag.text, "'flop_fraction' is 2; expected 1e-06 to 1"));
  assert_non_null(strstr(diag.notes[0], "'memory_fraction' is 2; expected 1e-06 to 1"));
  assert_non_null(strstr(diag.notes[1], "'base_s' is -1; expected 0 to"));
  assert_non_null(strstr(diag.notes[4], "more errors in the profile are not shown"));
  sw_arena_deinit(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_mistake_is_told_where_it_stands),
      cmocka_unit_test(missing_and_unknown_keys_are_told_together), cmocka_unit_test(what_no_machine_has_is_warned_of),
      cmocka_unit_test(shipped_profiles_are_not_warned_of), cmocka_unit_test(notes_tell_the_others)};
  return cmocka_run_group_tests_name("profile_wrong", tests, NULL, NULL);
}
