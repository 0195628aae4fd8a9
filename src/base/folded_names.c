/* Each item starts as a group by itself: its name as fields, separators between them. Groups that differ in one field
 * alone become one, field by field from the right: first over numbers, then over words, both within one variant; then
 * over numbers of layers, whatever the variants; and over words once more. So the values of the fields of a group are
 * independent of each other, and its name says exactly what is in it. */
#include "base/folded_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/lists.h"
#include "shardwright/text.h"

enum { MOST_FIELDS = 48, MOST_DIGITS = 18, LONGEST_WORDS = 48, SHORTEST_RANGE = 3, SHORTEST_STEPS = 4 };

typedef enum field_kind { FIELD_SEPARATOR, FIELD_WORD, FIELD_NUMBER, FIELD_LAYER } field_kind;

typedef struct field {
  field_kind kind;
  int32_t n;              /* values */
  const int64_t *numbers; /* ascending; NULL: words */
  const char *const *words;
  const char *text; /* as it is printed */
} field;

typedef struct group {
  int32_t first, last; /* items, chained */
  int32_t n;
  int32_t n_fields;
  field *fields;
  const char *variant;
  bool uniform;
  int32_t next_alike; /* group that becomes one with this; -1 */
  bool gone;
} group;

typedef struct grouping {
  const sw_named *items;
  sw_arena *arena;
  sw_dict alike;
  sw_text key;
  SW_ARRAY(group) groups;
  SW_ARRAY(const field *) merging;
  int32_t *next; /* item of the same group */
  int32_t most_fields;
} grouping;

/* --- names as fields --------------------------------------------------------------------------------------------- */

static bool is_separator(char c) { return c && strchr("./[]'\"", c) != NULL; }

static bool is_number(const char *s, size_t n) { return n <= MOST_DIGITS && (n == 1 || s[0] != '0'); }

static size_t field_at(const char *s, field_kind *kind) {
  size_t n = 0;
  if (isdigit((unsigned char)*s)) {
    while (isdigit((unsigned char)s[n])) n++;
    *kind = is_number(s, n) ? FIELD_NUMBER : FIELD_WORD;
    return n;
  }
  const bool separator = is_separator(*s);
  *kind = separator ? FIELD_SEPARATOR : FIELD_WORD;
  while (s[n] && !isdigit((unsigned char)s[n]) && is_separator(s[n]) == separator) n++;
  return n;
}

static sw_rc set_field(grouping *s, const char *text, size_t n, field_kind kind, field *out, sw_diag *d) {
  int64_t *number;
  const char **word;
  *out = (field){.kind = kind, .n = 1};
  if (!(out->text = sw_arena_strndup(s->arena, text, n, d))) return SW_E_RESOURCE;
  if (kind == FIELD_NUMBER) {
    SW_ARENA_NEW(number, s->arena, 1, d);
    *number = strtoll(out->text, NULL, 10);
    out->numbers = number;
    return SW_OK;
  }
  SW_ARENA_NEW(word, s->arena, 1, d);
  *word = out->text;
  out->words = word;
  return SW_OK;
}

/* A number between separators, or at an end of the name. */
static void find_layers(field *f, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    if (f[i].kind != FIELD_NUMBER) continue;
    if ((i == 0 || f[i - 1].kind == FIELD_SEPARATOR) && (i + 1 == n || f[i + 1].kind == FIELD_SEPARATOR))
      f[i].kind = FIELD_LAYER;
  }
}

static sw_rc split_name(grouping *s, const char *name, group *g, sw_diag *d) {
  field fields[MOST_FIELDS];
  int32_t n = 0;
  const bool plain = *name && !strpbrk(name, "{},*?");
  for (const char *at = name; plain && *at && n < MOST_FIELDS; n++) {
    field_kind kind;
    const size_t length = field_at(at, &kind);
    SW_TRY(set_field(s, at, length, kind, &fields[n], d));
    at += length;
    if (*at && n + 1 == MOST_FIELDS) n = MOST_FIELDS;
  }
  if (n == 0 || n >= MOST_FIELDS) { /* nothing is joined with it */
    n = 1;
    SW_TRY(set_field(s, name, strlen(name), FIELD_SEPARATOR, &fields[0], d));
  }
  find_layers(fields, n);
  g->n_fields = n;
  s->most_fields = n > s->most_fields ? n : s->most_fields;
  return (g->fields = sw_arena_copy(s->arena, fields, (size_t)n, sizeof *fields, d)) ? SW_OK : SW_E_RESOURCE;
}

/* --- fields of several values ------------------------------------------------------------------------------------- */

/* Values from `i` on that follow each other at one distance. */
static int32_t progression(const int64_t *x, int32_t n, int32_t i) {
  int32_t end = i + 1;
  while (end < n && x[end] - x[end - 1] == x[i + 1] - x[i]) end++;
  return end - i;
}

static void print_numbers(const int64_t *x, int32_t n, sw_text *out) {
  sw_text_puts(out, "{");
  for (int32_t i = 0; i < n;) {
    const int32_t run = progression(x, n, i);
    const int64_t step = i + 1 < n ? x[i + 1] - x[i] : 1;
    const bool range = run >= (step == 1 ? SHORTEST_RANGE : SHORTEST_STEPS);
    sw_text_printf(out, "%s%lld", i ? "," : "", (long long)x[i]);
    if (range) sw_text_printf(out, "..%lld", (long long)x[i + run - 1]);
    if (range && step > 1) sw_text_printf(out, "..%lld", (long long)step);
    i += range ? run : 1;
  }
  sw_text_puts(out, "}");
}

static sw_rc unite_numbers(grouping *s, int32_t n, field *out, sw_diag *d) {
  int64_t *all;
  int32_t at = 0;
  SW_ARENA_NEW(all, s->arena, n, d);
  for (size_t i = 0; i < s->merging.n; i++) {
    for (int32_t k = 0; k < s->merging.at[i]->n; k++) all[at++] = s->merging.at[i]->numbers[k];
  }
  qsort(all, (size_t)n, sizeof *all, sw_compare_i64);
  out->numbers = all;
  print_numbers(all, n, &s->key);
  return SW_OK;
}

static sw_rc unite_words(grouping *s, int32_t n, field *out, sw_diag *d) {
  const char **all;
  int32_t at = 0;
  SW_ARENA_NEW(all, s->arena, n, d);
  for (size_t i = 0; i < s->merging.n; i++) {
    for (int32_t k = 0; k < s->merging.at[i]->n; k++) {
      all[at] = s->merging.at[i]->words[k];
      sw_text_printf(&s->key, "%s%s", at ? "," : "{", all[at]);
      at++;
    }
  }
  sw_text_puts(&s->key, "}");
  out->words = all;
  return SW_OK;
}

/* All of `merging` in one field. */
static sw_rc unite_fields(grouping *s, field *out, sw_diag *d) {
  field all = {.kind = out->kind};
  for (size_t i = 0; i < s->merging.n; i++) all.n += s->merging.at[i]->n;
  s->key.n = 0;
  SW_TRY(out->numbers ? unite_numbers(s, all.n, &all, d) : unite_words(s, all.n, &all, d));
  if (s->key.rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  if (!(all.text = sw_arena_strndup(s->arena, s->key.at, s->key.n, d))) return SW_E_RESOURCE;
  *out = all;
  return SW_OK;
}

/* --- groups that become one --------------------------------------------------------------------------------------- */

typedef enum pass { PASS_NUMBERS, PASS_WORDS, PASS_LAYERS } pass;

static bool takes(const group *g, int32_t at, pass how) {
  if (g->gone || at >= g->n_fields) return false;
  const field *f = &g->fields[at];
  if (how == PASS_WORDS) return f->kind == FIELD_WORD && g->n_fields > 1;
  return how == PASS_LAYERS ? f->kind == FIELD_LAYER : f->kind == FIELD_NUMBER || f->kind == FIELD_LAYER;
}

/* What groups that become one have in common: all but the field. */
static void put_key(grouping *s, const group *g, int32_t at, pass how) {
  s->key.n = 0;
  sw_text_printf(&s->key, "%s\n%s\n", s->items[g->first].like, how == PASS_LAYERS ? "" : g->variant);
  for (int32_t i = 0; i < g->n_fields; i++) {
    if (i != at) sw_text_puts(&s->key, g->fields[i].text);
    sw_text_puts(&s->key, "\n");
  }
}

/* Chain the groups that become one, each behind the first of them. */
static sw_rc find_alike(grouping *s, int32_t at, pass how, sw_diag *d) {
  sw_rc rc = SW_OK;
  for (int32_t i = 0; !rc && i < (int32_t)s->groups.n; i++) {
    group *g = &s->groups.at[i];
    int64_t *slot;
    bool fresh;
    g->next_alike = -1;
    if (!takes(g, at, how)) continue;
    put_key(s, g, at, how);
    if (s->key.rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
    /* the slot has the last one of the chain */
    if ((rc = sw_dict_put(&s->alike, s->key.at, s->key.n, i, &slot, &fresh, d)) || fresh) continue;
    s->groups.at[*slot].next_alike = i;
    *slot = i;
  }
  sw_dict_deinit(&s->alike);
  s->alike = (sw_dict){0};
  return rc;
}

static size_t length_of_words(const grouping *s) {
  size_t n = 0;
  for (size_t i = 0; i < s->merging.n; i++) n += strlen(s->merging.at[i]->text) + 1;
  return n;
}

static sw_rc join_variants(grouping *s, group *g, const group *other, sw_diag *d) {
  g->uniform = g->uniform && other->uniform && strcmp(g->variant, other->variant) == 0;
  if (g->uniform) return SW_OK;
  g->variant = sw_arena_printf(s->arena, d, "%s|%s", g->variant, other->variant);
  return g->variant ? SW_OK : SW_E_RESOURCE;
}

static void unlink_chain(grouping *s, int32_t first) {
  for (int32_t i = first, next; i >= 0; i = next) {
    next = s->groups.at[i].next_alike;
    s->groups.at[i].next_alike = -1;
  }
}

static sw_rc merge_chain(grouping *s, int32_t first, int32_t at, sw_diag *d) {
  group *g = &s->groups.at[first];
  s->merging.n = 0;
  for (int32_t i = first; i >= 0; i = s->groups.at[i].next_alike) {
    SW_TRY(sw_array_push(&s->merging, &s->groups.at[i].fields[at], d));
  }
  if (!g->fields[at].numbers && length_of_words(s) > LONGEST_WORDS) {
    unlink_chain(s, first);
    return SW_OK;
  }
  SW_TRY(unite_fields(s, &g->fields[at], d));
  for (int32_t i = g->next_alike; i >= 0; i = s->groups.at[i].next_alike) {
    group *other = &s->groups.at[i];
    SW_TRY(join_variants(s, g, other, d));
    s->next[g->last] = other->first;
    g->last = other->last;
    g->n += other->n;
    other->gone = true;
  }
  return SW_OK;
}

static sw_rc merge_at(grouping *s, int32_t at, pass how, sw_diag *d) {
  SW_TRY(find_alike(s, at, how, d));
  for (int32_t i = 0; i < (int32_t)s->groups.n; i++) {
    if (!s->groups.at[i].gone && s->groups.at[i].next_alike >= 0) SW_TRY(merge_chain(s, i, at, d));
  }
  return SW_OK;
}

static sw_rc merge_all(grouping *s, sw_diag *d) {
  static const pass kPasses[] = {PASS_NUMBERS, PASS_WORDS, PASS_LAYERS, PASS_WORDS};
  for (size_t p = 0; p < sizeof kPasses / sizeof *kPasses; p++) {
    for (int32_t at = s->most_fields; at-- > 0;) SW_TRY(merge_at(s, at, kPasses[p], d));
  }
  return SW_OK;
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static sw_rc finish(grouping *s, const group *g, sw_folded_name *out, sw_diag *d) {
  int32_t *items, n = 0;
  SW_ARENA_NEW(items, s->arena, g->n, d);
  for (int32_t i = g->first; i >= 0; i = s->next[i]) items[n++] = i;
  qsort(items, (size_t)n, sizeof *items, sw_compare_i32);
  s->key.n = 0;
  for (int32_t i = 0; i < g->n_fields; i++) sw_text_puts(&s->key, g->fields[i].text);
  if (s->key.rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  *out = (sw_folded_name){sw_arena_strndup(s->arena, sw_text_str(&s->key), s->key.n, d), n, items, g->uniform};
  return out->name ? SW_OK : SW_E_RESOURCE;
}

static sw_rc group_all(grouping *s, int32_t n, int32_t *n_groups, const sw_folded_name **out, sw_diag *d) {
  sw_folded_name *all;
  SW_ARENA_NEW(s->next, s->arena, n, d);
  for (int32_t i = 0; i < n; i++) {
    group g = {.first = i, .last = i, .n = 1, .variant = s->items[i].variant, .uniform = true, .next_alike = -1};
    s->next[i] = -1;
    SW_TRY(split_name(s, s->items[i].name, &g, d));
    SW_TRY(sw_array_push(&s->groups, g, d));
  }
  SW_TRY(merge_all(s, d));
  SW_ARENA_NEW(all, s->arena, n, d);
  *n_groups = 0;
  *out = all;
  for (size_t i = 0; i < s->groups.n; i++) {
    if (!s->groups.at[i].gone) SW_TRY(finish(s, &s->groups.at[i], &all[(*n_groups)++], d));
  }
  return SW_OK;
}

sw_rc sw_fold_names(int32_t n, const sw_named *items, sw_arena *arena, int32_t *n_groups, const sw_folded_name **out,
                    sw_diag *d) {
  grouping s = {.items = items, .arena = arena};
  sw_rc rc = group_all(&s, n, n_groups, out, d);
  sw_dict_deinit(&s.alike);
  sw_text_free(&s.key);
  sw_array_free(&s.groups);
  sw_array_free(&s.merging);
  return rc;
}
