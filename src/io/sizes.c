#include "shardwright/sizes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

static int find(const sw_sizes *s, const char *name) {
  for (int i = 0; i < s->n; i++) {
    if (strcmp(s->at[i].name, name) == 0) return i;
  }
  return -1;
}

static sw_rc add(sw_sizes *s, const char *name, sw_span at, sw_size **out, sw_diag *d) {
  if (s->n == SW_MAX_SIZES) {
    return SW_FAIL_INPUT(d, at, "more than %d sizes are not known; expected at most so many", SW_MAX_SIZES);
  }
  *out = &s->at[s->n++];
  **out = (sw_size){.value = -1, .class_of = -1};
  if (strlen(name) >= SW_SIZE_NAME_BYTES) {
    return SW_FAIL_INPUT(d, at, "the name '%.70s' of a size is too long; expected at most %d characters", name,
                         SW_SIZE_NAME_BYTES - 1);
  }
  memcpy((*out)->name, name, strlen(name) + 1);
  return SW_OK;
}

sw_rc sw_sizes_give(sw_sizes *s, const char *name, const char *value, sw_diag *d) {
  sw_size *size;
  if (find(s, name) >= 0) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--size %s is given twice", name);
  SW_TRY(add(s, name, SW_NOWHERE, &size, d));
  size->given = true;
  return sw_parse_i64(value, 0, INT64_MAX, "a size", &size->value, d);
}

static int new_class(const sw_sizes *s) {
  int most = -1;
  for (int i = 0; i < s->n; i++) most = s->at[i].class_of > most ? s->at[i].class_of : most;
  return most + 1;
}

sw_rc sw_sizes_meet(sw_sizes *s, const char *name, sw_span at, int64_t *out, sw_diag *d) {
  *out = -1;
  if (!s) return SW_OK;
  const int i = find(s, name);
  sw_size *size = i < 0 ? NULL : &s->at[i];
  const int fresh = new_class(s);
  if (!size) SW_TRY(add(s, name, at, &size, d));
  size->met = true;
  if (!size->given && size->class_of < 0) size->class_of = fresh;
  *out = size->given ? size->value : s->stand_in ? s->stand_in(s->user, size->class_of) : -1;
  return SW_OK;
}

/* --- text --------------------------------------------------------------------------------------------------------- */

typedef struct reader {
  sw_sizes *s;
  const char *text, *at;
  sw_span place;
  sw_diag *d;
} reader;

static void skip(reader *r) {
  while (*r->at == ' ') r->at++;
}

static sw_rc wrong(const reader *r) {
  return SW_FAIL_INPUT(r->d, r->place,
                       "'%.60s' is no size; expected a number, \"?\", a name, or a sum of products of "
                       "such as \"2*N + 1\"",
                       r->text);
}

static bool in_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.' || c == ':'; }

/* -1 all along when a name in it is not known. */
static sw_rc read_atom(reader *r, int64_t *out, bool *known) {
  char name[SW_SIZE_NAME_BYTES];
  size_t n = 0;
  skip(r);
  const bool number = isdigit((unsigned char)*r->at);
  while (number ? isdigit((unsigned char)r->at[n]) : in_name(r->at[n])) n++;
  if (n == 0 || n >= sizeof name) return wrong(r);
  memcpy(name, r->at, n);
  name[n] = 0;
  r->at += n;
  if (number) return sw_parse_i64(name, 0, INT64_MAX, "a number in a size", out, r->d);
  SW_TRY(sw_sizes_meet(r->s, name, r->place, out, r->d));
  if (*out < 0) {
    *known = false;
    *out = 0;
  }
  return SW_OK;
}

static sw_rc read_product(reader *r, int64_t *out, bool *known) {
  SW_TRY(read_atom(r, out, known));
  for (skip(r); *r->at == '*'; skip(r)) {
    int64_t next;
    r->at++;
    SW_TRY(read_atom(r, &next, known));
    if (!sw_mul_i64(*out, next, out))
      return SW_FAIL_INPUT(r->d, r->place, "the size '%.60s' does not fit 63 bits", r->text);
  }
  return SW_OK;
}

sw_rc sw_sizes_meet_text(sw_sizes *s, const char *text, sw_span at, int64_t *out, sw_diag *d) {
  reader r = {s, text, text, at, d};
  bool known = true;
  SW_TRY(read_product(&r, out, &known));
  for (skip(&r); *r.at == '+' || *r.at == '-'; skip(&r)) {
    const bool minus = *r.at++ == '-';
    int64_t next;
    SW_TRY(read_product(&r, &next, &known));
    if (!sw_add_i64(*out, minus ? -next : next, out)) return wrong(&r);
  }
  if (*r.at) return wrong(&r);
  if (!known) *out = -1;
  return known && *out < 0
             ? SW_FAIL_INPUT(d, at, "the size '%.60s' is %lld; expected none below 0", text, (long long)*out)
             : SW_OK;
}

/* --- what is open ------------------------------------------------------------------------------------------------- */

int sw_sizes_open(const sw_sizes *s) {
  int n = 0;
  for (int i = 0; i < s->n; i++) n += s->at[i].met && !s->at[i].given;
  return n;
}

sw_rc sw_sizes_check(const sw_sizes *s, const char *model, sw_diag *d) {
  sw_text names = {0}, options = {0};
  int n = 0;
  for (int i = 0; i < s->n; i++) {
    const sw_size *size = &s->at[i];
    if (size->given || !size->met) continue;
    sw_text_printf(&names, "%s'%s'", n ? ", " : "", size->name);
    sw_text_printf(&options, "%s--size %s=...", n++ ? " " : "", size->name);
  }
  sw_rc rc = SW_OK;
  if (n) {
    rc = SW_FAIL_INPUT(d, SW_NOWHERE, "%s of '%s' %s not known: %s; expected %s", n == 1 ? "a size" : "sizes", model,
                       n == 1 ? "is" : "are", sw_text_str(&names), sw_text_str(&options));
  }
  for (int i = 0; i < s->n && !rc; i++) {
    if (s->at[i].given && !s->at[i].met) {
      rc = SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--size %s: '%s' has no size of this name that is not known",
                   s->at[i].name, model);
    }
  }
  sw_text_free(&names);
  sw_text_free(&options);
  return rc;
}

/* The size whose stand-in is x; -1: none. */
static int behind(const sw_sizes *s, int64_t x) {
  for (int i = 0; i < s->n; i++) {
    if (s->at[i].met && !s->at[i].given && s->stand_in(s->user, s->at[i].class_of) == x) return i;
  }
  return -1;
}

/* Is x one of the model's, or computed from stand-ins, which are large? */
static bool is_plain(const sw_sizes *s, int64_t x) { return x < s->stand_in(s->user, 0); }

void sw_sizes_equate(sw_sizes *s, int64_t x, int64_t y) {
  if (!s || !s->stand_in || x == y || x < 0 || y < 0) return;
  const int a = behind(s, x), b = behind(s, y);
  if ((a < 0 && (b < 0 || !is_plain(s, x))) || (b < 0 && !is_plain(s, y))) return;
  s->found++;
  if (a >= 0 && b >= 0) {
    sw_sizes_unite(s, s->at[a].class_of, s->at[b].class_of);
    return;
  }
  const int open = a >= 0 ? a : b, class_of = s->at[open].class_of;
  for (int i = 0; i < s->n; i++) {
    if (s->at[i].given || s->at[i].class_of != class_of) continue;
    s->at[i].given = true;
    s->at[i].value = a >= 0 ? y : x;
  }
}

enum { MOST_TIMES = 64 };

void sw_sizes_name(const sw_sizes *s, char *text, size_t room) {
  sw_text named = {0};
  for (const char *at = text; *at;) {
    char *end = NULL;
    const long long number = isdigit((unsigned char)*at) ? strtoll(at, &end, 10) : 0;
    long long times = 1;
    int i = end && s->stand_in ? behind(s, number) : -1;
    for (long long k = 2; end && s->stand_in && i < 0 && k <= MOST_TIMES; k++) {
      if (number % k == 0) i = behind(s, number / k);
      if (i >= 0) times = k;
    }
    if (!end) end = (char *)at + 1;
    if (i >= 0 && times > 1) sw_text_printf(&named, "%lld*", times);
    if (i >= 0)
      sw_text_puts(&named, s->at[i].name);
    else
      sw_text_append(&named, at, (size_t)(end - at));
    at = end;
  }
  if (!named.rc) (void)snprintf(text, room, "%s", sw_text_str(&named));
  sw_text_free(&named);
}

void sw_sizes_unite(sw_sizes *s, int a, int b) {
  const int less = a < b ? a : b, more = a < b ? b : a;
  for (int i = 0; i < s->n && less != more; i++) {
    if (s->at[i].class_of == more) s->at[i].class_of = less;
  }
}
