/* Characters of MLIR (scan.h). Long strings are passed by memchr: a blob in hexadecimal costs no more than reading it.
 */
#include "mlir/text/text_scan.h"

#include <ctype.h>
#include <string.h>

bool sw_ir_is_name(unsigned char c) { return isalnum(c) || c == '_' || c == '.' || c == '$'; }
/* Of %name: also - */
static bool is_value(unsigned char c) { return sw_ir_is_name(c) || c == '-'; }

uint32_t sw_ir_blanks(const char *s, uint32_t i) {
  for (;;) {
    while (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') i++;
    if (s[i] != '/' || s[i + 1] != '/') return i;
    while (s[i] && s[i] != '\n') i++;
  }
}

uint32_t sw_ir_name(const char *s, uint32_t i) {
  if (isdigit((unsigned char)s[i]) || s[i] == '.' || s[i] == '$') return i;
  while (sw_ir_is_name((unsigned char)s[i])) i++;
  return i;
}

uint32_t sw_ir_value_name(const char *s, uint32_t i) {
  while (is_value((unsigned char)s[i])) i++;
  return i;
}

bool sw_ir_word(const char *s, uint32_t i, const char *word) {
  size_t n = strlen(word);
  return strncmp(s + i, word, n) == 0 && !sw_ir_is_name((unsigned char)s[i + n]);
}

/* --- what was found ---------------------------------------------------------------------------------------------- */

static void describe_token(const char *s, uint32_t n, uint32_t i, char *out, size_t room) {
  if (i >= n) {
    snprintf(out, room, "the end of the text");
    return;
  }
  uint32_t end = i;
  if (s[end] == '%' || s[end] == '@' || s[end] == '#' || s[end] == '!' || s[end] == '^' || s[end] == '"') end++;
  while (is_value((unsigned char)s[end]) && end - i < 24) end++;
  if (end == i) end++;
  if (iscntrl((unsigned char)s[i]) || (unsigned char)s[i] >= 0x80) {
    snprintf(out, room, "the byte 0x%02x", (unsigned char)s[i]);
    return;
  }
  snprintf(out, room, "'%.*s'", (int)(end - i), s + i);
}

sw_rc sw_ir_expected(const char *s, uint32_t n, uint32_t i, const char *what, sw_ir_flaw *flaw) {
  char found[64];
  describe_token(s, n, i, found, sizeof found);
  flaw->at = i;
  snprintf(flaw->text, sizeof flaw->text, "found %s; expected %s", found, what);
  return SW_E_INPUT;
}

sw_rc sw_ir_expect(const char *s, uint32_t n, uint32_t *i, const char *mark, sw_ir_flaw *flaw) {
  char what[32];
  uint32_t at = sw_ir_blanks(s, *i);
  size_t len = strlen(mark);
  if (strncmp(s + at, mark, len) != 0) {
    snprintf(what, sizeof what, "'%s'", mark);
    return sw_ir_expected(s, n, at, what, flaw);
  }
  *i = at + (uint32_t)len;
  return SW_OK;
}

/* --- strings and tokens ------------------------------------------------------------------------------------------ */

static sw_rc unterminated(uint32_t at, sw_ir_flaw *flaw) {
  flaw->at = at;
  snprintf(flaw->text, sizeof flaw->text, "a string does not end in its line; expected '\"'");
  return SW_E_INPUT;
}

sw_rc sw_ir_string(const char *s, uint32_t n, uint32_t *i, sw_ir_flaw *flaw) {
  uint32_t at = *i + 1;
  for (;;) {
    const char *quote = memchr(s + at, '"', n - at);
    if (!quote) return unterminated(*i, flaw);
    uint32_t end = (uint32_t)(quote - s);
    if (memchr(s + at, '\n', end - at)) return unterminated(*i, flaw);
    uint32_t slashes = 0;
    while (end - slashes > at && s[end - slashes - 1] == '\\') slashes++;
    at = end + 1;
    if (slashes % 2 == 0) break;
  }
  *i = at;
  return SW_OK;
}

uint32_t sw_ir_behind_string(const char *s, uint32_t i, uint32_t end) {
  sw_ir_flaw ignored;
  return sw_ir_string(s, end, &i, &ignored) ? end : i;
}

sw_rc sw_ir_token(const char *s, uint32_t n, uint32_t *i, sw_ir_flaw *flaw) {
  unsigned char c = (unsigned char)s[*i];
  if (c == '"') return sw_ir_string(s, n, i, flaw);
  if (sw_ir_is_name(c)) {
    while (sw_ir_is_name((unsigned char)s[*i])) ++*i;
    return SW_OK;
  }
  if (iscntrl(c) || c >= 0x80) return sw_ir_expected(s, n, *i, "MLIR", flaw);
  ++*i;
  return SW_OK;
}

/* --- brackets ---------------------------------------------------------------------------------------------------- */

/* What closes an opening bracket; 0: it is none. */
static const char kCloser[128] = {['('] = ')', ['['] = ']', ['{'] = '}', ['<'] = '>'};
static bool closes(char c) { return c == ')' || c == ']' || c == '}' || c == '>'; }

static sw_rc wrong_closer(const char *s, uint32_t n, uint32_t i, char due, sw_ir_flaw *flaw) {
  char what[8];
  snprintf(what, sizeof what, "'%c'", due);
  return sw_ir_expected(s, n, i, what, flaw);
}

/* One closing bracket at i. */
static sw_rc close(const char *s, uint32_t n, uint32_t i, sw_ir_closers *c, size_t base, sw_ir_flaw *flaw) {
  char due = c->due.at[c->due.n - 1];
  if (s[i] == due) {
    c->due.n--;
    return SW_OK;
  }
  c->due.n = base;
  return wrong_closer(s, n, i, due, flaw);
}

sw_rc sw_ir_balanced(const char *s, uint32_t n, uint32_t *i, sw_ir_closers *due, const sw_ir_see *see, sw_ir_flaw *flaw,
                     sw_diag *d) {
  size_t base = due->due.n;
  uint32_t at = *i;
  do {
    char c = s[at];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r' || (c == '/' && s[at + 1] == '/')) {
      at = sw_ir_blanks(s, at);
      continue;
    }
    if (sw_ir_is_no_bracket(s, at)) {
      at += 2;
      continue;
    }
    if (c == '%' && see) {
      SW_TRY(see->value(see->user, &at, flaw, d));
      continue;
    }
    if ((unsigned char)c < 128 && kCloser[(unsigned char)c]) {
      SW_TRY(sw_array_push(&due->due, kCloser[(unsigned char)c], d));
      at++;
      continue;
    }
    if (closes(c)) {
      SW_TRY(close(s, n, at, due, base, flaw));
      at++;
      continue;
    }
    if (at >= n) {
      char missing = due->due.at[due->due.n - 1];
      due->due.n = base;
      return wrong_closer(s, n, n, missing, flaw);
    }
    sw_rc rc = sw_ir_token(s, n, &at, flaw);
    if (rc) due->due.n = base;
    SW_TRY(rc);
  } while (due->due.n > base);
  *i = at;
  return SW_OK;
}

/* --- types ------------------------------------------------------------------------------------------------------- */

bool sw_ir_starts_type(const char *s, uint32_t i) {
  return s[i] == '!' || s[i] == '(' || isalpha((unsigned char)s[i]) || s[i] == '_';
}

sw_rc sw_ir_type(const char *s, uint32_t n, uint32_t *i, sw_ir_closers *c, sw_ir_flaw *flaw, sw_diag *d) {
  uint32_t at = sw_ir_blanks(s, *i);
  if (!sw_ir_starts_type(s, at)) return sw_ir_expected(s, n, at, "a type", flaw);
  if (s[at] == '(') {
    *i = at;
    return sw_ir_balanced(s, n, i, c, NULL, flaw, d);
  }
  if (s[at] == '!') at++;
  uint32_t end = sw_ir_name(s, at);
  if (end == at) return sw_ir_expected(s, n, at, "the name of a type", flaw);
  *i = end;
  return s[end] == '<' ? sw_ir_balanced(s, n, i, c, NULL, flaw, d) : SW_OK;
}

sw_rc sw_ir_types(const char *s, uint32_t n, uint32_t *i, sw_ir_closers *c, sw_ir_flaw *flaw, sw_diag *d) {
  for (;;) {
    SW_TRY(sw_ir_type(s, n, i, c, flaw, d));
    uint32_t at = sw_ir_blanks(s, *i);
    if (s[at] == '-' && s[at + 1] == '>') {
      *i = at + 2;
      SW_TRY(sw_ir_type(s, n, i, c, flaw, d));
      at = sw_ir_blanks(s, *i);
    }
    if (s[at] != ',') return SW_OK;
    uint32_t next = sw_ir_blanks(s, at + 1);
    if (!sw_ir_starts_type(s, next)) return SW_OK;
    *i = next;
  }
}
