/* The cursor of reader.h. Example: over "x:(1)2, y", word -> "x", accept(":(") -> true, int -> 1, ... */
#include "mesh/reader.h"

#include <ctype.h>
#include <string.h>

sw_reader sw_reader_of(const char *text, size_t n, sw_span at) {
  return (sw_reader){.start = text, .p = text, .end = text + n, .at = at};
}

static void skip_blanks(sw_reader *r) {
  while (r->p < r->end && isspace((unsigned char)*r->p)) r->p++;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || c == '-'; }

sw_span sw_reader_span(sw_reader *r) {
  skip_blanks(r);
  sw_span at = r->at;
  if (at.col > 0) at.col += (int32_t)(r->p - r->start);
  return at;
}

bool sw_reader_accept(sw_reader *r, const char *literal) {
  skip_blanks(r);
  size_t n = strlen(literal);
  if ((size_t)(r->end - r->p) < n || memcmp(r->p, literal, n) != 0) return false;
  bool cuts_word = is_word(literal[n - 1]) && r->p + n < r->end && is_word(r->p[n]);
  if (cuts_word) return false;
  r->p += n;
  return true;
}

sw_rc sw_reader_fail(sw_reader *r, const char *want, sw_diag *d) {
  sw_span at = sw_reader_span(r);
  int left = (int)(r->end - r->p);
  if (left <= 0) return SW_FAIL_INPUT(d, at, "the text ends too early; expected %s", want);
  int n = 0;
  while (n < left && n < 24 && is_word(r->p[n])) n++;
  return SW_FAIL_INPUT(d, at, "found '%.*s'; expected %s", n ? n : 1, r->p, want);
}

sw_rc sw_reader_expect(sw_reader *r, const char *literal, sw_diag *d) {
  if (sw_reader_accept(r, literal)) return SW_OK;
  char want[32];
  snprintf(want, sizeof want, "'%s'", literal);
  return sw_reader_fail(r, want, d);
}

bool sw_reader_at_end(sw_reader *r) {
  skip_blanks(r);
  return r->p == r->end;
}

sw_rc sw_reader_expect_end(sw_reader *r, sw_diag *d) {
  return sw_reader_at_end(r) ? SW_OK : sw_reader_fail(r, "the end of the text", d);
}

bool sw_reader_word(sw_reader *r, const char **word, size_t *n) {
  skip_blanks(r);
  *word = r->p;
  while (r->p < r->end && is_word(*r->p)) r->p++;
  *n = (size_t)(r->p - *word);
  return *n > 0;
}

sw_rc sw_reader_int(sw_reader *r, int64_t min, int64_t max, const char *what, int64_t *out, sw_diag *d) {
  sw_span at = sw_reader_span(r);
  const char *word;
  char copy[32];
  size_t n;
  if (!sw_reader_word(r, &word, &n) || n >= sizeof copy) return sw_reader_fail(r, what, d);
  memcpy(copy, word, n);
  copy[n] = '\0';
  sw_rc rc = sw_parse_i64(copy, min, max, what, out, d);
  if (rc && d) {
    d->line = at.line;
    d->col = at.col;
    if (at.file) snprintf(d->file, sizeof d->file, "%s", at.file);
  }
  return rc;
}

sw_rc sw_reader_ints(sw_reader *r, const char *what, sw_arena *arena, const int64_t **out, int *n, sw_diag *d) {
  SW_TRY(sw_reader_expect(r, "[", d));
  size_t room = 1;
  for (const char *p = r->p; p < r->end && *p != ']'; p++) room += *p == ',';
  int64_t *at;
  SW_ARENA_NEW(at, arena, room, d);
  *out = at;
  *n = 0;
  if (sw_reader_accept(r, "]")) return SW_OK;
  do {
    SW_TRY(sw_reader_int(r, 0, INT64_MAX, what, &at[(*n)++], d));
  } while (sw_reader_accept(r, ","));
  return sw_reader_expect(r, "]", d);
}
