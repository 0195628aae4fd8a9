/* A pattern is read once from the left, with the least number of edits for each prefix of the name. */
#include "base/pattern.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 1000, NEVER = 1 << 14, MOST_DIGITS = 18 };

static bool is_pattern_separator(char c) { return c == '.' || c == '/' || c == '[' || c == ']'; }

bool sw_pattern_is(const char *text, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (text[i] && strchr("*?{}", text[i])) return true;
  }
  return false;
}

bool sw_pattern_is_of_one_part(const char *text, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (is_pattern_separator(text[i])) return false;
  }
  return true;
}

/* --- what stands in braces ---------------------------------------------------------------------------------------- */

typedef struct range {
  int64_t first, last, step;
} range;

static bool read_number(const char **at, const char *end, int64_t *out) {
  const char *begin = *at;
  *out = 0;
  while (*at < end && isdigit((unsigned char)**at) && *at - begin < MOST_DIGITS) *out = *out * 10 + (*(*at)++ - '0');
  return *at > begin && (*at == end || !isdigit((unsigned char)**at));
}

static bool skip_dots(const char **at, const char *end) {
  if (end - *at < 2 || (*at)[0] != '.' || (*at)[1] != '.') return false;
  *at += 2;
  return true;
}

/* "0..31", "0..30..2" */
static bool reads_range(const char *at, size_t n, range *out) {
  const char *end = at + n;
  *out = (range){.step = 1};
  if (!read_number(&at, end, &out->first) || !skip_dots(&at, end) || !read_number(&at, end, &out->last)) return false;
  if (at < end && (!skip_dots(&at, end) || !read_number(&at, end, &out->step))) return false;
  return at == end && out->step > 0;
}

static bool has_dots(const char *at, size_t n) {
  for (size_t i = 0; i + 1 < n; i++) {
    if (at[i] == '.' && at[i + 1] == '.') return true;
  }
  return false;
}

/* The alternative at *at, up to a comma or `end`; *at behind it. */
static size_t next_alternative(const char **at, const char *end, const char **out) {
  *out = *at;
  while (*at < end && **at != ',') ++*at;
  const size_t n = (size_t)(*at - *out);
  if (*at < end) ++*at;
  return n;
}

static sw_rc check_braces(const char *text, size_t n, const char *inside, const char *end, sw_diag *d) {
  const char *at = inside;
  if (inside == end || end[-1] == ',')
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "'%.*s': expected a word or a range before '%s'", (int)n, text,
                   inside == end ? "}" : ",}");
  while (at < end) {
    const char *word;
    range r;
    const size_t length = next_alternative(&at, end, &word);
    if (!length)
      return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "'%.*s': expected a word or a range before ','", (int)n, text);
    if (has_dots(word, length) && (!reads_range(word, length, &r) || r.last < r.first)) {
      return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "'%.*s': '%.*s' is no range; expected FIRST..LAST or FIRST..LAST..STEP",
                     (int)n, text, (int)length, word);
    }
  }
  return SW_OK;
}

sw_rc sw_pattern_check(const char *text, size_t n, sw_diag *d) {
  const char *end = text + n;
  if (n > LONGEST)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "a name of %zu characters; expected at most %d", n, LONGEST);
  for (const char *at = text; at < end; at++) {
    if (*at == '}') return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "'%.*s': no '{' is open before '}'", (int)n, text);
    if (*at != '{') continue;
    const char *close = memchr(at, '}', (size_t)(end - at));
    if (!close) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "'%.*s': '{' is not closed", (int)n, text);
    if (memchr(at + 1, '{', (size_t)(close - at - 1)))
      return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "'%.*s': '{' stands in another '{'", (int)n, text);
    SW_TRY(check_braces(text, n, at + 1, close, d));
    at = close;
  }
  return SW_OK;
}

/* --- matching ----------------------------------------------------------------------------------------------------- */

/* The least edits that bring what has been read of the pattern to the first j signs of the name. */
typedef struct matching {
  const char *name;
  int n;
  int16_t now[LONGEST + 1], next[LONGEST + 1];
} matching;

static void offer(int16_t *at, int edits) {
  if (edits < *at) *at = (int16_t)edits;
}

/* What `next` has gets there with signs of the name left over, too. */
static void take_next(matching *m) {
  for (int j = 0; j <= m->n; j++) {
    m->now[j] = m->next[j];
    if (j > 0) offer(&m->now[j], m->now[j - 1] + 1);
    m->next[j] = NEVER;
  }
}

static void read_sign(matching *m, char c, bool any) {
  for (int j = 0; j <= m->n; j++) {
    offer(&m->next[j], m->now[j] + 1);
    if (j == m->n) break;
    const bool same = any ? !is_pattern_separator(m->name[j]) : m->name[j] == c;
    offer(&m->next[j + 1], m->now[j] + !same);
  }
  take_next(m);
}

static void read_star(matching *m, bool across) {
  for (int j = 0; j <= m->n; j++) {
    offer(&m->next[j], m->now[j]);
    if (j > 0 && (across || !is_pattern_separator(m->name[j - 1]))) offer(&m->next[j], m->next[j - 1]);
  }
  take_next(m);
}

/* "**" and a separator: nothing, or any signs up to behind a separator. */
static void read_parts(matching *m) {
  int least = NEVER;
  for (int j = 0; j <= m->n; j++) {
    if (j > 0 && is_pattern_separator(m->name[j - 1])) offer(&m->next[j], least);
    const bool begins = j == 0 || is_pattern_separator(m->name[j - 1]);
    if (begins) offer(&m->next[j], m->now[j]);
    if (m->now[j] < least) least = m->now[j];
  }
  take_next(m);
}

static void read_range(matching *m, const range *r, int j) {
  int64_t value = 0;
  for (int k = j; k < m->n && k - j < MOST_DIGITS && isdigit((unsigned char)m->name[k]); k++) {
    value = value * 10 + (m->name[k] - '0');
    if (value >= r->first && value <= r->last && (value - r->first) % r->step == 0) offer(&m->next[k + 1], m->now[j]);
    if (value == 0) break; /* no number begins with a zero */
  }
}

static void read_braces(matching *m, const char *inside, const char *end) {
  for (int j = 0; j <= m->n; j++) {
    offer(&m->next[j], m->now[j] + 1);
    for (const char *at = inside, *word; at < end;) {
      range r;
      const size_t length = next_alternative(&at, end, &word);
      if (reads_range(word, length, &r))
        read_range(m, &r, j);
      else if ((int)length <= m->n - j && memcmp(m->name + j, word, length) == 0)
        offer(&m->next[j + (int)length], m->now[j]);
    }
  }
  take_next(m);
}

static int distance_to(const char *text, size_t n, const char *name, size_t name_n) {
  matching m = {.name = name, .n = (int)name_n};
  if (name_n > LONGEST || n > LONGEST) return NEVER;
  for (int j = 0; j <= m.n; j++) m.next[j] = (int16_t)(j ? NEVER : 0);
  take_next(&m);
  for (const char *at = text, *end = text + n; at < end; at++) {
    if (*at == '{') {
      const char *close = memchr(at, '}', (size_t)(end - at));
      read_braces(&m, at + 1, close);
      at = close;
    } else if (*at == '*' && end - at > 1 && at[1] == '*') {
      const bool parts = end - at > 2 && is_pattern_separator(at[2]) && at[2] != '[' && at[2] != ']';
      if (parts)
        read_parts(&m);
      else
        read_star(&m, true);
      at += parts ? 2 : 1;
    } else if (*at == '*') {
      read_star(&m, false);
    } else {
      read_sign(&m, *at, *at == '?');
    }
  }
  return m.now[m.n];
}

/* params['h'][3]['wq'] as params.h.3.wq; 0: it is too long, or has no brackets. */
static size_t dotted(const char *name, char out[LONGEST]) {
  size_t n = 0;
  if (!strchr(name, '[')) return 0;
  for (const char *p = name; *p; p++) {
    if (n + 1 >= LONGEST) return 0;
    if (*p == '[' && n > 0) out[n++] = '.';
    if (!strchr("[]'\"", *p)) out[n++] = *p;
  }
  return n;
}

int sw_pattern_distance(const char *text, size_t n, const char *name) {
  char with_dots[LONGEST];
  int least = distance_to(text, n, name, strlen(name));
  if (least == 0 || memchr(text, '[', n)) return least;
  const size_t length = dotted(name, with_dots);
  const int other = length ? distance_to(text, n, with_dots, length) : NEVER;
  return other < least ? other : least;
}
