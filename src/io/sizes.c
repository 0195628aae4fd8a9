#include "shardwright/sizes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

static int find_size(const sw_sizes *s, const char *name) {
  for (int i = 0; i < s->n; i++) {
    if (strcmp(s->at[i].name, name) == 0) return i;
  }
  return -1;
}

static sw_rc add_open_size(sw_sizes *s, const char *name, sw_span at, sw_size **out, sw_diag *d) {
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
  if (find_size(s, name) >= 0) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--size %s is given twice", name);
  SW_TRY(add_open_size(s, name, SW_NOWHERE, &size, d));
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
  const int i = find_size(s, name);
  sw_size *size = i < 0 ? NULL : &s->at[i];
  const int fresh = new_class(s);
  if (!size) SW_TRY(add_open_size(s, name, at, &size, d));
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

static sw_rc wrong_size(const reader *r) {
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
  if (n == 0 || n >= sizeof name) return wrong_size(r);
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

static sw_rc read_size_product(reader *r, int64_t *out, bool *known) {
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
  SW_TRY(read_size_product(&r, out, &known));
  for (skip(&r); *r.at == '+' || *r.at == '-'; skip(&r)) {
    const bool minus = *r.at++ == '-';
    int64_t next;
    SW_TRY(read_size_product(&r, &next, &known));
    if (!sw_add_i64(*out, minus ? -next : next, out)) return wrong_size(&r);
  }
  if (*r.at) return wrong_size(&r);
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

enum { MOST_TIMES = 64, MOST_MORE = 1024 };

/* Is x one of the model's, or computed from stand-ins, which are large? */
static bool is_plain_size(const sw_sizes *s, int64_t x) { return x < s->stand_in(s->user, 0) - MOST_MORE; }

/* Number = times * stand-in / parts + more, what ops make of a size: windows, padding, dims joined. */
typedef struct made_of {
  int size;
  int64_t times, parts, more;
} made_of;

/* The simplest that gives x; false: there is none. */
static bool unmake(const sw_sizes *s, int64_t x, made_of *out) {
  int64_t best = MOST_MORE;
  for (int i = 0; i < s->n && x > 0; i++) {
    if (!s->at[i].met || s->at[i].given) continue;
    const int64_t stands = s->stand_in(s->user, s->at[i].class_of);
    const made_of makes[2] = {{i, (x + stands / 2) / stands, 1, x - (x + stands / 2) / stands * stands},
                              {i, 1, (stands + x / 2) / x, x - stands / sw_max_i64(1, (stands + x / 2) / x)}};
    for (int k = 0; k < 2; k++) {
      const int64_t is = makes[k].more < 0 ? -makes[k].more : makes[k].more;
      if (!makes[k].times || makes[k].times > MOST_TIMES || !makes[k].parts || makes[k].parts > MOST_TIMES) continue;
      if (is < best) *out = makes[k];
      best = sw_min_i64(best, is);
    }
  }
  return best < MOST_MORE;
}

void sw_sizes_take(sw_sizes *s, int class_of, int64_t value) {
  for (int i = 0; i < s->n; i++) {
    if (s->at[i].given || s->at[i].class_of != class_of) continue;
    s->at[i].given = true;
    s->at[i].value = value;
  }
  s->found++;
}

/* The size that makes y, where its stand-in makes x. */
static void solve_size(sw_sizes *s, int64_t x, int64_t y) {
  made_of m;
  if (!unmake(s, x, &m) || (y - m.more) % m.times || y < m.more) return;
  sw_sizes_take(s, s->at[m.size].class_of, (y - m.more) / m.times * m.parts);
}

void sw_sizes_equate(sw_sizes *s, int64_t x, int64_t y) {
  if (!s || !s->stand_in || x == y || x < 0 || y < 0) return;
  const int a = behind(s, x), b = behind(s, y);
  if (a >= 0 && b >= 0) {
    s->found++;
    sw_sizes_unite(s, s->at[a].class_of, s->at[b].class_of);
    return;
  }
  const bool plain[2] = {is_plain_size(s, x) && a < 0, is_plain_size(s, y) && b < 0};
  made_of m;
  if (plain[0] && plain[1]) { /* one of them may be a part of a size */
    const bool first = unmake(s, x > y ? x : y, &m) && m.parts > 1;
    if (first) solve_size(s, x > y ? x : y, x > y ? y : x);
  } else if (plain[0] != plain[1]) {
    solve_size(s, plain[0] ? y : x, plain[0] ? x : y);
  }
}

/* The product, or the sum, of two. */
static bool print_pair(const sw_sizes *s, int64_t number, sw_text *out) {
  for (int i = 0; i < s->n; i++) {
    for (int j = i; j < s->n; j++) {
      const int64_t x = s->stand_in(s->user, s->at[i].class_of), y = s->stand_in(s->user, s->at[j].class_of);
      const char *sign = number == x + y ? " + " : number % x == 0 && number / x == y ? "*" : NULL;
      if (!sign || !s->at[i].met || !s->at[j].met) continue;
      sw_text_printf(out, "%s%s%s", s->at[i].name, sign, s->at[j].name);
      return true;
    }
  }
  return false;
}

/* A number in the names of sizes; false: it is none of theirs. */
static bool print_made(const sw_sizes *s, int64_t number, sw_text *out) {
  made_of m;
  const bool made = unmake(s, number, &m);
  if (is_plain_size(s, number) && !(made && m.parts > 1 && !m.more)) return false;
  if ((!made || m.more) && print_pair(s, number, out)) return true;
  if (!made) return false;
  if (m.times > 1) sw_text_printf(out, "%lld*", (long long)m.times);
  sw_text_puts(out, s->at[m.size].name);
  if (m.parts > 1) sw_text_printf(out, "/%lld", (long long)m.parts);
  if (m.more) sw_text_printf(out, " %c %lld", m.more < 0 ? '-' : '+', (long long)(m.more < 0 ? -m.more : m.more));
  return true;
}

void sw_sizes_name(const sw_sizes *s, char *text, size_t room) {
  sw_text named = {0};
  for (const char *at = text; *at;) {
    char *end = NULL;
    const long long number = isdigit((unsigned char)*at) ? strtoll(at, &end, 10) : 0;
    if (!end) end = (char *)at + 1;
    if (!s->stand_in || number <= 0 || !print_made(s, number, &named)) sw_text_append(&named, at, (size_t)(end - at));
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
