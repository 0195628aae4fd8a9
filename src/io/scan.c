/* A pointer scanner for JSON that arrives in pieces.
 *
 * Tokens may be cut by a piece's end, so every byte goes through `next_piece` when the pointer reaches `end`; the NUL
 * there lets the number loop run without a bounds check.
 */
#include "io/scan.h"

#include <string.h>

static sw_rc next_piece(io_scan *s, bool *some) {
  *some = false;
  if (!s->more) return SW_OK;
  const char *piece;
  size_t n;
  SW_TRY(s->more(s, &piece, &n));
  if (n == 0) return SW_OK;
  s->before += s->end - s->start;
  s->at = s->start = piece;
  s->end = piece + n;
  *some = true;
  return SW_OK;
}

sw_rc io_scan_fail(const io_scan *s, const char *expected) {
  long long offset = (long long)s->before + (s->at - s->start);
  sw_span at = {s->name, 0, 0};
  if (s->at == s->end) return SW_FAIL_INPUT(s->d, at, "offset %lld: the text ends; expected %s", offset, expected);
  unsigned char c = (unsigned char)*s->at;
  if (c >= 0x20 && c < 0x7f)
    return SW_FAIL_INPUT(s->d, at, "offset %lld: found '%c'; expected %s", offset, c, expected);
  return SW_FAIL_INPUT(s->d, at, "offset %lld: found byte 0x%02x; expected %s", offset, c, expected);
}

sw_rc io_scan_peek(io_scan *s, char *c) {
  for (;;) {
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\t' || *s->at == '\r')) s->at++;
    *c = 0;
    if (s->at < s->end) {
      *c = *s->at;
      return *c ? SW_OK : io_scan_fail(s, "text");
    }
    bool some;
    SW_TRY(next_piece(s, &some));
    if (!some) return SW_OK;
  }
}

sw_rc io_scan_take(io_scan *s, char c, const char *expected) {
  char found;
  SW_TRY(io_scan_peek(s, &found));
  if (found != c) return io_scan_fail(s, expected);
  s->at++;
  return SW_OK;
}

sw_rc io_scan_next(io_scan *s, char close, bool *again) {
  char c;
  SW_TRY(io_scan_peek(s, &c));
  if (c != ',' && c != close) return io_scan_fail(s, close == ']' ? "',' or ']'" : "',' or '}'");
  s->at++;
  *again = c == ',';
  return SW_OK;
}

sw_rc io_scan_empty(io_scan *s, char close, bool *empty) {
  char c;
  SW_TRY(io_scan_peek(s, &c));
  *empty = c == close;
  s->at += *empty;
  return SW_OK;
}

/* The next byte, across pieces; 0 at the end. */
static sw_rc byte_at(io_scan *s, char *c) {
  bool some = true;
  if (s->at == s->end) SW_TRY(next_piece(s, &some));
  *c = some ? *s->at : 0;
  return SW_OK;
}

sw_rc io_scan_int(io_scan *s, int64_t *out) {
  char c;
  SW_TRY(io_scan_peek(s, &c));
  if (c < '0' || c > '9') return io_scan_fail(s, "a whole number, 0 or more");
  uint64_t v = 0;
  while (c >= '0' && c <= '9') {
    unsigned digit = (unsigned)(c - '0');
    if (v > ((uint64_t)INT64_MAX - digit) / 10) return io_scan_fail(s, "a number of at most 9223372036854775807");
    v = v * 10 + digit;
    if (++s->at < s->end)
      c = *s->at;
    else
      SW_TRY(byte_at(s, &c));
  }
  if (c == '.' || c == 'e' || c == 'E') return io_scan_fail(s, "a whole number");
  *out = (int64_t)v;
  return SW_OK;
}

sw_rc io_scan_string(io_scan *s, char *out, size_t cap) {
  SW_TRY(io_scan_take(s, '"', "a string"));
  size_t n = 0;
  bool escaped = false, full = false; /* full: also when a backslash would lose what it escapes */
  for (;;) {
    char c;
    SW_TRY(byte_at(s, &c));
    if (s->at == s->end) return io_scan_fail(s, "the end of a string");
    if ((unsigned char)c < 0x20) return io_scan_fail(s, "the end of a string");
    s->at++;
    if (c == '"' && !escaped) break;
    escaped = c == '\\' && !escaped;
    full = full || n + 1 + escaped >= cap;
    if (!full) out[n++] = c;
  }
  if (cap) out[n] = 0;
  return SW_OK;
}

sw_rc io_scan_key(io_scan *s, char *out, size_t cap) {
  SW_TRY(io_scan_string(s, out, cap));
  return io_scan_take(s, ':', "':' after a key");
}

/* A number, true, false or null. */
static sw_rc skip_word(io_scan *s) {
  const char *kExpected = "a value";
  char c;
  SW_TRY(io_scan_peek(s, &c));
  int n = 0;
  while ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '+' || c == '.' || c == 'E') {
    s->at++;
    n++;
    SW_TRY(byte_at(s, &c));
  }
  return n ? SW_OK : io_scan_fail(s, kExpected);
}

/* Containers are counted, not nested in calls: a bit per level says which bracket closes it. */
sw_rc io_scan_skip(io_scan *s) {
  enum { DEPTH = 256 };
  char closer[DEPTH];
  int depth = 0;
  for (;;) {
    char c;
    SW_TRY(io_scan_peek(s, &c));
    bool opened = c == '[' || c == '{', empty = false;
    if (opened) {
      if (depth == DEPTH) return io_scan_fail(s, "lists nested at most 256 deep");
      closer[depth++] = c == '[' ? ']' : '}';
      s->at++;
      SW_TRY(io_scan_empty(s, closer[depth - 1], &empty));
      depth -= empty;
    } else if (c == '"') {
      SW_TRY(io_scan_string(s, NULL, 0));
    } else {
      SW_TRY(skip_word(s));
    }
    bool again = opened && !empty;
    while (depth && !again) {
      SW_TRY(io_scan_next(s, closer[depth - 1], &again));
      depth -= !again;
    }
    if (!depth) return SW_OK;
    if (closer[depth - 1] == '}') SW_TRY(io_scan_key(s, NULL, 0));
  }
}
