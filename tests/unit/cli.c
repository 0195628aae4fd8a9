#include "check.h"

#include <ctype.h>

#include "cli/command.h"
#include "shardwright/text.h"

typedef struct settings {
  const char *name, *file, *dir, *pick, *one;
  sw_words rest, words;
  int64_t count, bytes;
  double ratio;
  bool json;
  sw_pairs emit;
} settings;

static const sw_option kOptions[] = {
    {"name", 'n', SW_OPTION_TEXT, "NAME", "bob", "a name", SW_INTO_TEXT(settings, name)},
    {"file", 'f', SW_OPTION_FILE, "FILE", NULL, "a file", SW_INTO_TEXT(settings, file)},
    {"dir", 0, SW_OPTION_DIR, "DIR", NULL, "a folder", SW_INTO_TEXT(settings, dir)},
    {"pick", 0, SW_OPTION_CHOICE, "WHICH", "b", "a choice", SW_INTO_TEXT(settings, pick), .choices = "a|b|cd"},
    {"count", 'c', SW_OPTION_INT, "N", "3", "a count", SW_INTO_INT(settings, count), .min = 1, .max = 64},
    {"ratio", 0, SW_OPTION_NUMBER, "X", NULL, "a ratio", SW_INTO_NUMBER(settings, ratio), .min = 0, .max = 1},
    {"bytes", 0, SW_OPTION_BYTES, "SIZE", NULL, "a size", SW_INTO_BYTES(settings, bytes)},
    {"word", 'w', SW_OPTION_WORDS, "WORD", NULL, "words", SW_INTO_WORDS(settings, words)},
    {"emit", 'e', SW_OPTION_PAIRS, "KIND=FILE", NULL, "pairs", SW_INTO_PAIRS(settings, emit), .choices = "sdy|jax"},
    SW_OPTION_JSON_INTO(settings, json),
};

static const sw_operand kOperands[] = {
    {"ONE", "the first", SW_INTO_TEXT(settings, one)},
    {"REST", "the others", SW_INTO_WORDS(settings, rest), .optional = true, .repeated = true},
};

/* Every field that was set, in a fixed order. */
static void show(const settings *s, sw_text *out) {
  sw_text_printf(out, "name=%s pick=%s count=%lld", s->name, s->pick, (long long)s->count);
  if (s->file) sw_text_printf(out, " file=%s", s->file);
  if (s->dir) sw_text_printf(out, " dir=%s", s->dir);
  if (s->ratio > 0) sw_text_printf(out, " ratio=%g", s->ratio);
  if (s->bytes) sw_text_printf(out, " bytes=%lld", (long long)s->bytes);
  if (s->json) sw_text_puts(out, " json");
  for (int i = 0; i < s->words.n; i++) sw_text_printf(out, " w:%s", s->words.at[i]);
  for (int i = 0; i < s->emit.n; i++) sw_text_printf(out, " %s>%s", s->emit.at[i].key, s->emit.at[i].value);
  if (s->one) sw_text_printf(out, " one=%s", s->one);
  for (int i = 0; i < s->rest.n; i++) sw_text_printf(out, " r:%s", s->rest.at[i]);
}

typedef struct row {
  const char *line;  /* blank-separated words */
  const char *shown; /* settings, or NULL for a usage error */
  const char *error; /* part of its text */
} row;

static const row kRows[] = {
    {"x", "name=bob pick=b count=3 one=x", NULL},
    {"--name=al x", "name=al pick=b count=3 one=x", NULL},
    {"--na=al --jso x", "name=al pick=b count=3 json one=x", NULL},
    {"--name al x", "name=al pick=b count=3 one=x", NULL},
    {"-n al x", "name=al pick=b count=3 one=x", NULL},
    {"-nal x", "name=al pick=b count=3 one=x", NULL},
    {"--name= x", "name= pick=b count=3 one=x", NULL},
    {"--name=a --name=b x", "name=b pick=b count=3 one=x", NULL},
    {"--name=a=b x", "name=a=b pick=b count=3 one=x", NULL},
    {"x -f - -", "name=bob pick=b count=3 file=- one=x r:-", NULL},
    {"-- --name -x", "name=bob pick=b count=3 one=--name r:-x", NULL},
    {"a --json b c d e", "name=bob pick=b count=3 json one=a r:b r:c r:d r:e", NULL},
    {"a --dir d --pick cd --ratio 0.5 --bytes 2KiB", "name=bob pick=cd count=3 dir=d ratio=0.5 bytes=2048 one=a", NULL},
    {"a -w 1 -w2 --word=3", "name=bob pick=b count=3 w:1 w:2 w:3 one=a", NULL},
    {"a -e sdy=f.mlir --emit jax=-", "name=bob pick=b count=3 sdy>f.mlir jax>- one=a", NULL},
    {"a --emit sdy=x=y", "name=bob pick=b count=3 sdy>x=y one=a", NULL},
    {"a --name --json", "name=--json pick=b count=3 one=a", NULL},
    {"", NULL, "operand ONE is missing"},
    {"a --nmae=x", NULL, "unknown option '--nmae'; did you mean '--name'?"},
    {"a --names=x", NULL, "unknown option '--names'; did you mean '--name'?"},
    {"a --b=1", "name=bob pick=b count=3 bytes=1 one=a", NULL},
    {"a --zzzzz", NULL, "unknown option '--zzzzz'"},
    {"a --=x", NULL, "unknown option '--'"},
    {"a -z", NULL, "unknown option '-z'"},
    {"a --name", NULL, "option '--name' needs a value NAME"},
    {"a -n", NULL, "option '-n' needs a value NAME"},
    {"a --json=1", NULL, "option '--json' takes no value; found '1'"},
    {"a --count=0", NULL, "--count is '0'; expected an integer from 1 to 64"},
    {"a --count=65", NULL, "--count is '65'"},
    {"a -c 3x", NULL, "-c is '3x'"},
    {"a --count=", NULL, "--count is ''"},
    {"a --ratio=1.5", NULL, "--ratio is '1.5'; expected a number from 0 to 1"},
    {"a --ratio=nan", NULL, "--ratio is 'nan'"},
    {"a --bytes=-1", NULL, "--bytes is '-1'; expected a size"},
    {"a --pick=c", NULL, "--pick is 'c'; expected one of a|b|cd"},
    {"a --emit=sdy", NULL, "--emit is 'sdy'; expected KIND=FILE"},
    {"a --emit==f", NULL, "--emit is '=f'; expected KIND=FILE"},
    {"a --emit=sdy=", NULL, "--emit is 'sdy='; expected KIND=FILE"},
    {"a --emit=hlo=f", NULL, "--emit is 'hlo'; expected one of sdy|jax"},
};

/* The words of the line in an array, then read by the tables above. */
static sw_rc read_line(const char *line, settings *s, sw_arena *arena, sw_diag *d) {
  const char *at[32];
  sw_words words = {at, 0}, operands = {0};
  char *save = NULL, *copy = sw_arena_strndup(arena, line, strlen(line), d);
  if (!copy) return SW_E_RESOURCE;
  for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) at[words.n++] = w;
  sw_option_table set = {kOptions, sizeof kOptions / sizeof kOptions[0], s};
  int used;
  SW_TRY(sw_options_default(&set, 1, arena, d));
  SW_TRY(sw_options_parse(&set, 1, &words, false, arena, &operands, &used, d));
  assert_int_equal(used, words.n);
  return sw_operands_store(kOperands, 2, &operands, s, arena, d);
}

static void check_row(void **state) {
  const row *r = *state;
  sw_arena arena = {0};
  diag = (sw_diag){0};
  settings s = {0};
  sw_rc rc = read_line(r->line, &s, &arena, &diag);
  assert_int_equal(rc, r->shown ? SW_OK : SW_E_USAGE);
  assert_int_equal(diag.rc, rc);
  if (r->error && !strstr(diag.text, r->error)) fail_msg("'%s' does not contain '%s'", diag.text, r->error);
  sw_text out = {0};
  if (!rc) show(&s, &out);
  if (r->shown) assert_string_equal(sw_text_str(&out), r->shown);
  sw_text_free(&out);
  sw_arena_deinit(&arena);
}

static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  sw_rc rc = SW_E_RESOURCE;
  for (long n = 1; rc; n++) {
    sw_arena arena = {0};
    settings s = {0};
    sw_mem_fail_after(n);
    rc = read_line("a -w 1 -w 2 -w 3 --emit sdy=f b c d --name=x", &s, &arena, &diag);
    sw_mem_fail_after(0);
    assert_true(rc == SW_OK || rc == SW_E_RESOURCE);
    sw_arena_deinit(&arena);
  }
}

static void check_help_text(const char *where, const char *help) {
  size_t n = strlen(help);
  bool acronym = isupper((unsigned char)help[0]) && isupper((unsigned char)help[1]);
  if (!n || help[n - 1] == '.') fail_msg("%s: help '%s' is empty or ends in a full stop", where, help);
  if (isupper((unsigned char)help[0]) && !acronym) fail_msg("%s: help '%s' begins in upper case", where, help);
}

static void check_option(const sw_command *c, const sw_option *o) {
  char where[128];
  snprintf(where, sizeof where, "%s --%s", c->name, o->name);
  check_help_text(where, o->help);
  if ((o->kind == SW_OPTION_FLAG) != (o->value == NULL)) fail_msg("%s: only a flag has no value", where);
  if (o->kind == SW_OPTION_CHOICE && !o->choices) fail_msg("%s: a choice needs choices", where);
  for (const char *p = o->name; *p; p++) {
    if (!islower((unsigned char)*p) && !isdigit((unsigned char)*p) && *p != '-') fail_msg("%s: bad name", where);
  }
}

static void check_distinct(const sw_command *c) {
  for (int i = 0; i < c->n_options; i++) {
    const sw_option *a = &c->options[i];
    for (int j = 0; j < i + SW_COMMON_OPTIONS; j++) {
      const sw_option *b = j < i ? &c->options[j] : &sw_common_options[j - i];
      bool same = strcmp(a->name, b->name) == 0 || (a->letter && a->letter == b->letter);
      if (same) fail_msg("%s: --%s and --%s clash", c->name, a->name, b->name);
    }
  }
}

static void tables_of_all_commands_are_sound(void **state) {
  (void)state;
  for (int i = 0; i < sw_command_count(); i++) {
    const sw_command *c = sw_command_at(i);
    sw_arena arena = {0};
    check_help_text(c->name, c->summary);
    check_distinct(c);
    for (int j = 0; j < c->n_options; j++) check_option(c, &c->options[j]);
    for (int j = 0; j + 1 < c->n_operands; j++) assert_false(c->operands[j].repeated);
    sw_option_table set = {c->options, c->n_options, sw_arena_alloc(&arena, 1, c->settings_bytes, &diag)};
    assert_non_null(set.into);
    assert_ok(sw_options_default(&set, 1, &arena, &diag));
    assert_ptr_equal(sw_command_find(c->name, &diag), c);
    sw_arena_deinit(&arena);
  }
}

int main(void) {
  enum { ROWS = sizeof kRows / sizeof kRows[0] };
  struct CMUnitTest tests[ROWS + 2] = {
      cmocka_unit_test(memory_may_run_out_anywhere),
      cmocka_unit_test(tables_of_all_commands_are_sound),
  };
  for (int i = 0; i < ROWS; i++) {
    union {
      const row *row;
      void *state;
    } r = {&kRows[i]};
    tests[2 + i] = (struct CMUnitTest){kRows[i].line, check_row, NULL, NULL, r.state};
  }
  return cmocka_run_group_tests_name("cli", tests, NULL, NULL);
}
