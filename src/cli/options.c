/* Reads a command line by tables (options.h). One function stores each kind of value; kKinds says which:
 *
 *   --threads=4   kOptions row "threads", kind INT   ->  store_int   ->  settings.threads = 4
 */
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "shardwright/text.h"

/* Where one value goes, and what to call it in a message. */
typedef struct slot {
  const sw_option *option;
  char *at;
  const char *shown; /* "--threads" */
  sw_arena *arena;
} slot;

const char *sw_option_word_at(const char *choices, int i, int *n) {
  for (; choices; i--) {
    const char *bar = strchr(choices, '|');
    *n = (int)(bar ? (size_t)(bar - choices) : strlen(choices));
    if (i == 0) return choices;
    choices = bar ? bar + 1 : NULL;
  }
  return NULL;
}

/* The bytes of `word` are one of the choices, or a usage error that lists them. */
static sw_rc check_choice(const char *choices, const char *word, int n_word, const char *what, sw_diag *d) {
  int n;
  const char *choice;
  for (int i = 0; (choice = sw_option_word_at(choices, i, &n)); i++) {
    if (n == n_word && memcmp(choice, word, (size_t)n) == 0) return SW_OK;
  }
  return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "%s is '%.*s'; expected one of %s", what, n_word, word, choices);
}

/* The readers of base speak of bad input; here the command line is wrong. */
static sw_rc as_usage(sw_rc rc, sw_diag *d) {
  if (rc == SW_E_INPUT && d) d->rc = SW_E_USAGE;
  return rc == SW_E_INPUT ? SW_E_USAGE : rc;
}

static sw_rc store_flag(const slot *s, const char *value, sw_diag *d) {
  (void)value, (void)d;
  *(bool *)(void *)s->at = true;
  return SW_OK;
}

static sw_rc store_text(const slot *s, const char *value, sw_diag *d) {
  if (s->option->kind == SW_OPTION_CHOICE) {
    SW_TRY(check_choice(s->option->choices, value, (int)strlen(value), s->shown, d));
  }
  *(const char **)(void *)s->at = value;
  return SW_OK;
}

static bool has_range(const sw_option *o) { return o->min < o->max; }

static sw_rc store_int(const slot *s, const char *value, sw_diag *d) {
  const sw_option *o = s->option;
  int64_t min = has_range(o) ? (int64_t)o->min : INT64_MIN, max = has_range(o) ? (int64_t)o->max : INT64_MAX;
  return as_usage(sw_parse_i64(value, min, max, s->shown, (int64_t *)(void *)s->at, d), d);
}

static sw_rc store_number(const slot *s, const char *value, sw_diag *d) {
  const sw_option *o = s->option;
  double min = has_range(o) ? o->min : -1e300, max = has_range(o) ? o->max : 1e300;
  return as_usage(sw_parse_f64(value, min, max, s->shown, (double *)(void *)s->at, d), d);
}

static sw_rc store_percent(const slot *s, const char *value, sw_diag *d) {
  const size_t n = strlen(value);
  const char *number = value;
  if (n > 1 && value[n - 1] == '%') number = sw_arena_strndup(s->arena, value, n - 1, d);
  return number ? store_number(s, number, d) : SW_E_RESOURCE;
}

static sw_rc store_bytes_option(const slot *s, const char *value, sw_diag *d) {
  int64_t *bytes = (void *)s->at;
  SW_TRY(as_usage(sw_parse_bytes(value, s->shown, bytes, d), d));
  if ((double)*bytes >= s->option->min) return SW_OK;
  return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--%s is '%s'; expected at least %.0f bytes", s->option->name, value,
                 s->option->min);
}

/* One more element of an arena array whose room doubles. */
static sw_rc arena_append(sw_arena *arena, void *at, int *n, const void *item, size_t size, sw_diag *d) {
  char **array = at;
  if ((*n & (*n - 1)) == 0) {
    char *wider = sw_arena_alloc(arena, *n ? (size_t)*n * 2 : 1, size, d);
    if (!wider) return SW_E_RESOURCE;
    if (*n) memcpy(wider, *array, (size_t)*n * size);
    *array = wider;
  }
  memcpy(*array + (size_t)*n * size, item, size);
  ++*n;
  return SW_OK;
}

static sw_rc words_push(sw_arena *arena, sw_words *words, const char *word, sw_diag *d) {
  return arena_append(arena, (void *)&words->at, &words->n, (const void *)&word, sizeof word, d);
}

static sw_rc store_words(const slot *s, const char *value, sw_diag *d) {
  return words_push(s->arena, (sw_words *)(void *)s->at, value, d);
}

static sw_rc store_pairs(const slot *s, const char *value, sw_diag *d) {
  const char *equals = strchr(value, '=');
  if (!equals || equals == value || !equals[1]) {
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "%s is '%s'; expected %s", s->shown, value, s->option->value);
  }
  int n_key = (int)(equals - value);
  if (s->option->choices) SW_TRY(check_choice(s->option->choices, value, n_key, s->shown, d));
  sw_pair pair = {sw_arena_strndup(s->arena, value, (size_t)n_key, d), equals + 1};
  if (!pair.key) return SW_E_RESOURCE;
  sw_pairs *pairs = (sw_pairs *)(void *)s->at;
  return arena_append(s->arena, (void *)&pairs->at, &pairs->n, &pair, sizeof pair, d);
}

static sw_rc (*const kStore[])(const slot *s, const char *value, sw_diag *d) = {
    [SW_OPTION_FLAG] = store_flag,     [SW_OPTION_TEXT] = store_text,       [SW_OPTION_FILE] = store_text,
    [SW_OPTION_DIR] = store_text,      [SW_OPTION_CHOICE] = store_text,     [SW_OPTION_INT] = store_int,
    [SW_OPTION_NUMBER] = store_number, [SW_OPTION_PERCENT] = store_percent, [SW_OPTION_BYTES] = store_bytes_option,
    [SW_OPTION_WORDS] = store_words,   [SW_OPTION_PAIRS] = store_pairs,
};
_Static_assert(sizeof kStore / sizeof kStore[0] == SW_OPTION_KINDS, "one function per kind");

sw_rc sw_options_default(const sw_option_table *sets, int n_sets, sw_arena *arena, sw_diag *d) {
  for (int i = 0; i < n_sets; i++) {
    for (int j = 0; j < sets[i].n; j++) {
      const sw_option *o = &sets[i].options[j];
      if (!o->by_default) continue;
      slot s = {o, (char *)sets[i].into + o->into, o->name, arena};
      SW_TRY_NOTE(d, kStore[o->kind](&s, o->by_default, d), "in the default of --%s", o->name);
    }
  }
  return SW_OK;
}

/* State of one reading. */
typedef struct reader {
  const sw_option_table *sets;
  int n_sets;
  const sw_words *words;
  int next; /* the word to read next */
  sw_arena *arena;
} reader;

static slot option_slot_of(const reader *r, int set, const sw_option *o) {
  return (slot){o, (char *)r->sets[set].into + o->into, NULL, r->arena};
}

static bool find_letter(const reader *r, char letter, slot *out) {
  for (int i = 0; i < r->n_sets; i++) {
    for (int j = 0; j < r->sets[i].n; j++) {
      const sw_option *o = &r->sets[i].options[j];
      if (o->letter != letter) continue;
      *out = option_slot_of(r, i, o);
      return true;
    }
  }
  return false;
}

/* Finds the option of that name, else the one whose name alone begins so; returns how many do. */
static int find_long(const reader *r, const char *name, size_t n_name, slot *out) {
  int begin_so = 0;
  for (int i = 0; i < r->n_sets; i++) {
    for (int j = 0; j < r->sets[i].n; j++) {
      const sw_option *o = &r->sets[i].options[j];
      if (n_name == 0 || strncmp(o->name, name, n_name) != 0) continue;
      *out = option_slot_of(r, i, o);
      if (o->name[n_name] == '\0') return 1;
      begin_so++;
    }
  }
  return begin_so;
}

static sw_rc unknown_option(const reader *r, const char *name, size_t n_name, sw_diag *d) {
  char wanted[64];
  snprintf(wanted, sizeof wanted, "%.*s", (int)n_name, name);
  sw_nearest near = {.wanted = wanted};
  for (int i = 0; i < r->n_sets; i++) {
    for (int j = 0; j < r->sets[i].n; j++) sw_nearest_offer(&near, r->sets[i].options[j].name);
  }
  return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "unknown option '--%s'%s%s%s", wanted,
                 near.best ? "; did you mean '--" : "", near.best ? near.best : "", near.best ? "'?" : "");
}

static sw_rc ambiguous_option(const reader *r, const char *name, size_t n_name, sw_diag *d) {
  sw_text all = {0};
  for (int i = 0; i < r->n_sets; i++) {
    for (int j = 0; j < r->sets[i].n; j++) {
      const char *full = r->sets[i].options[j].name;
      if (strncmp(full, name, n_name) == 0) sw_text_printf(&all, "%s'--%s'", all.n ? " or " : "", full);
    }
  }
  sw_rc rc = SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "'--%.*s' may be %s", (int)n_name, name, sw_text_str(&all));
  sw_text_free(&all);
  return rc;
}

/* Stores the value of an option: `inline_value` (after '=' or after the letter) or the next word. */
static sw_rc read_option_value(reader *r, slot *s, const char *inline_value, sw_diag *d) {
  const sw_option *o = s->option;
  const char *value = inline_value;
  if (o->kind == SW_OPTION_FLAG) {
    if (value) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "option '%s' takes no value; found '%s'", s->shown, value);
  } else if (!value) {
    if (r->next == r->words->n) {
      return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "option '%s' needs a value %s", s->shown, o->value);
    }
    value = r->words->at[r->next++];
  }
  return kStore[o->kind](s, value, d);
}

static sw_rc read_long(reader *r, const char *word, sw_diag *d) {
  const char *name = word + 2, *equals = strchr(name, '=');
  size_t n_name = equals ? (size_t)(equals - name) : strlen(name);
  slot s;
  int found = find_long(r, name, n_name, &s);
  if (found == 0) return unknown_option(r, name, n_name, d);
  if (found > 1) return ambiguous_option(r, name, n_name, d);
  s.shown = sw_arena_strndup(r->arena, word, n_name + 2, d);
  if (!s.shown) return SW_E_RESOURCE;
  return read_option_value(r, &s, equals ? equals + 1 : NULL, d);
}

/* -qv is -q -v; -oFILE is -o FILE. */
static sw_rc read_letters(reader *r, const char *word, sw_diag *d) {
  for (const char *c = word + 1; *c; c++) {
    slot s;
    if (!find_letter(r, *c, &s)) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "unknown option '-%c'", *c);
    char shown[] = {'-', *c, '\0'};
    s.shown = shown;
    bool takes_rest = s.option->kind != SW_OPTION_FLAG;
    SW_TRY(read_option_value(r, &s, takes_rest && c[1] ? c + 1 : NULL, d));
    if (takes_rest) break;
  }
  return SW_OK;
}

sw_rc sw_options_parse(const sw_option_table *sets, int n_sets, const sw_words *words, bool stop_at_operand,
                       sw_arena *arena, sw_words *operands, int *used, sw_diag *d) {
  reader r = {sets, n_sets, words, 0, arena};
  bool options_over = false;
  while (r.next < words->n) {
    const char *word = words->at[r.next];
    bool is_option = !options_over && word[0] == '-' && word[1];
    if (!is_option && stop_at_operand) break;
    r.next++;
    if (is_option && strcmp(word, "--") == 0) {
      options_over = true;
    } else if (is_option) {
      SW_TRY(word[1] == '-' ? read_long(&r, word, d) : read_letters(&r, word, d));
    } else {
      SW_TRY(words_push(arena, operands, word, d));
    }
  }
  *used = r.next;
  return SW_OK;
}

static sw_rc missing_operand(const sw_operand *o, sw_diag *d) {
  return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "operand %s is missing", o->name);
}

sw_rc sw_operands_store(const sw_operand *operands, int n, const sw_words *words, void *into, sw_arena *arena,
                        sw_diag *d) {
  int next = 0;
  for (int i = 0; i < n; i++) {
    const sw_operand *o = &operands[i];
    char *at = (char *)into + o->into;
    if (next == words->n && !o->optional) return missing_operand(o, d);
    for (bool more = true; more && next < words->n; more = o->repeated) {
      const char *word = words->at[next++];
      if (o->choices) SW_TRY(check_choice(o->choices, word, (int)strlen(word), o->name, d));
      if (o->repeated) SW_TRY(words_push(arena, (sw_words *)(void *)at, word, d));
      if (!o->repeated) *(const char **)(void *)at = word;
    }
  }
  if (next < words->n) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "unexpected operand '%s'", words->at[next]);
  return SW_OK;
}
