/* Attributes (attr.h): one walk over tokens and brackets finds where a value ends. */
#include "mlir/text/attr.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What ends a run of plain characters in brackets. */
enum { PLAIN, OPENS, CLOSES, QUOTE, DASH };
static const uint8_t kMarks[256] = {['('] = OPENS,  ['['] = OPENS,  ['{'] = OPENS,  ['<'] = OPENS, [')'] = CLOSES,
                                    [']'] = CLOSES, ['}'] = CLOSES, ['>'] = CLOSES, ['"'] = QUOTE, ['-'] = DASH};

/* From an opening bracket to behind its partner; the text is well bracketed. */
static uint32_t behind_bracket(const char *s, uint32_t i, uint32_t end) {
  int64_t depth = 0;
  while (i < end) {
    const uint8_t mark = kMarks[(unsigned char)s[i]];
    if (mark == QUOTE) {
      i = sw_ir_behind_string(s, i, end);
      continue;
    }
    if (sw_ir_is_no_bracket(s, i)) {
      i += 2;
      continue;
    }
    i++;
    depth += (mark == OPENS) - (mark == CLOSES);
    if (depth <= 0) break;
    while (i < end && kMarks[(unsigned char)s[i]] == PLAIN) i++;
  }
  return i;
}

/* Behind a string, all of a bracket, or one other mark. */
static uint32_t behind_piece(const char *s, uint32_t i, uint32_t end) {
  if (strchr("([{<", s[i])) return behind_bracket(s, i, end);
  if (s[i] == '"') return sw_ir_behind_string(s, i, end);
  return i + (s[i] == '-' && s[i + 1] == '>' ? 2 : 1);
}

/* The end of a value: the next comma outside of brackets, or the end. */
static uint32_t value_end(const char *s, uint32_t i, uint32_t end) {
  while (i < end && s[i] != ',') i = behind_piece(s, i, end);
  return i;
}

sw_ir_span sw_ir_trimmed(const sw_ir_tree *t, sw_ir_span s) {
  while (s.at < s.end && isspace((unsigned char)t->s[s.at])) s.at++;
  while (s.end > s.at && isspace((unsigned char)t->s[s.end - 1])) s.end--;
  return s;
}

sw_ir_span sw_ir_inside(const sw_ir_tree *t, sw_ir_span value) {
  value = sw_ir_trimmed(t, value);
  uint32_t at = value.at;
  while (at < value.end && !strchr("([{<\"", t->s[at])) at++;
  if (at >= value.end || t->s[at] == '"') return value;
  uint32_t end = behind_bracket(t->s, at, value.end);
  return (sw_ir_span){at + 1, end > at + 1 ? end - 1 : at + 1};
}

static bool is_bracketed(const sw_ir_tree *t, sw_ir_span s) {
  static const char kPairs[] = "()[]{}<>";
  const char *open = s.at < s.end && t->s[s.at] ? strchr(kPairs, t->s[s.at]) : NULL;
  bool pair = open && (open - kPairs) % 2 == 0 && t->s[s.end - 1] == open[1];
  return pair && behind_bracket(t->s, s.at, s.end) == s.end;
}

bool sw_ir_next_item(const sw_ir_tree *t, sw_ir_span list, uint32_t *cursor, sw_ir_span *item) {
  list = sw_ir_trimmed(t, list);
  const bool bracketed = is_bracketed(t, list);
  if (!*cursor) *cursor = list.at + (bracketed ? 1 : 0);
  const uint32_t end = list.end - (bracketed ? 1 : 0), at = sw_ir_blanks(t->s, *cursor);
  if (at >= end) return false;
  *cursor = value_end(t->s, at, end);
  *item = sw_ir_trimmed(t, (sw_ir_span){at, *cursor});
  if (*cursor < end) ++*cursor;
  return true;
}

bool sw_ir_next_entry(const sw_ir_tree *t, sw_ir_span entries, uint32_t *cursor, sw_ir_span *key, sw_ir_span *value) {
  sw_ir_span item;
  if (!sw_ir_next_item(t, entries, cursor, &item)) return false;
  uint32_t at = item.at;
  if (t->s[at] == '"') {
    uint32_t end = sw_ir_behind_string(t->s, at, item.end);
    *key = (sw_ir_span){at + 1, end > at + 1 ? end - 1 : at + 1};
    at = end;
  } else {
    at = sw_ir_value_name(t->s, at);
    if (at > item.end) at = item.end;
    *key = (sw_ir_span){item.at, at};
  }
  at = sw_ir_blanks(t->s, at);
  *value = (sw_ir_span){item.end, item.end}; /* unit attribute */
  if (at < item.end && t->s[at] == '=') *value = sw_ir_trimmed(t, (sw_ir_span){at + 1, item.end});
  return true;
}

sw_ir_span sw_ir_entry(const sw_ir_tree *t, sw_ir_span entries, const char *key) {
  uint32_t cursor = 0;
  sw_ir_span k, v;
  while (sw_ir_present(entries) && sw_ir_next_entry(t, entries, &cursor, &k, &v)) {
    if (sw_ir_is(t, k, key)) return v;
  }
  return (sw_ir_span){0, 0};
}

sw_ir_span sw_ir_resolved(const sw_ir_tree *t, sw_ir_span value) {
  for (int hops = 0; hops < 16 && value.at < value.end; hops++) {
    if (t->s[value.at] != '#' && t->s[value.at] != '!') break;
    uint32_t end = sw_ir_value_name(t->s, value.at + 1);
    sw_ir_span to = sw_ir_alias_value(t, (sw_ir_span){value.at, end < value.end ? end : value.end});
    if (!sw_ir_present(to) || end < value.end) break;
    value = to;
  }
  return value;
}

/* A value in a custom form: a string, a bracket, or a word, perhaps with brackets, with no blanks outside of them. */
static sw_ir_span clause_value(const sw_ir_tree *t, uint32_t at, uint32_t end) {
  uint32_t behind = at;
  if (strchr("([{<\"", t->s[at])) {
    behind = behind_piece(t->s, at, end);
  } else {
    while (behind < end && t->s[behind] != ',' && !isspace((unsigned char)t->s[behind])) {
      behind = strchr("([{<", t->s[behind]) ? behind_bracket(t->s, behind, end) : behind + 1;
    }
  }
  return sw_ir_trimmed(t, (sw_ir_span){at, behind});
}

sw_ir_span sw_ir_clause(const sw_ir_tree *t, const sw_ir_op *op, const char *key) {
  uint32_t i = op->body.at, end = op->body.end;
  while ((i = sw_ir_blanks(t->s, i)) < end) {
    uint32_t name = sw_ir_name(t->s, i), at = sw_ir_blanks(t->s, name);
    if (name > i && t->s[at] == '=' && sw_ir_is(t, (sw_ir_span){i, name}, key)) {
      return clause_value(t, sw_ir_blanks(t->s, at + 1), end);
    }
    i = name > i ? name : behind_piece(t->s, i, end);
  }
  return (sw_ir_span){0, 0};
}

sw_ir_span sw_ir_attr(const sw_ir_tree *t, const sw_ir_op *op, const char *key, const char *custom) {
  sw_ir_span v = sw_ir_entry(t, op->props, key);
  if (!sw_ir_present(v)) v = sw_ir_entry(t, op->attrs, key);
  if (!sw_ir_present(v) && custom && !op->generic) v = sw_ir_clause(t, op, custom);
  return sw_ir_resolved(t, v);
}

sw_ir_span sw_ir_unquoted(const sw_ir_tree *t, sw_ir_span v) {
  v = sw_ir_trimmed(t, v);
  if (v.at < v.end && t->s[v.at] == '@') v.at++;
  if (sw_ir_len(v) >= 2 && t->s[v.at] == '"' && t->s[v.end - 1] == '"') return (sw_ir_span){v.at + 1, v.end - 1};
  return v;
}

sw_ir_span sw_ir_last_word(const sw_ir_tree *t, sw_ir_span v) {
  v = sw_ir_trimmed(t, v);
  while (v.end > v.at && strchr(">\"", t->s[v.end - 1])) v.end--;
  uint32_t at = v.end;
  while (at > v.at && sw_ir_is_name((unsigned char)t->s[at - 1])) at--;
  return (sw_ir_span){at, v.end};
}

/* --- numbers ----------------------------------------------------------------------------------------------------- */

bool sw_ir_read_int(const sw_ir_tree *t, sw_ir_span v, int64_t *out) {
  v = sw_ir_trimmed(t, v);
  if (sw_ir_word(t->s, v.at, "true") || sw_ir_word(t->s, v.at, "false")) {
    *out = t->s[v.at] == 't';
    return v.at < v.end;
  }
  if (v.at >= v.end || !(isdigit((unsigned char)t->s[v.at]) || t->s[v.at] == '-')) return false;
  char *end;
  *out = strtoll(t->s + v.at, &end, t->s[v.at] == '0' && t->s[v.at + 1] == 'x' ? 16 : 10);
  return end > t->s + v.at;
}

bool sw_ir_read_float(const sw_ir_tree *t, sw_ir_span v, double *out) {
  v = sw_ir_trimmed(t, v);
  char *end;
  if (v.at >= v.end) return false;
  *out = strtod(t->s + v.at, &end);
  return end > t->s + v.at;
}

/* dense<"0x..."> of 64-bit integers. */
static sw_rc read_int64_blob(const sw_ir_tree *t, sw_ir_span digits, sw_ir_ints *out, sw_diag *d) {
  for (uint32_t at = digits.at; at + 16 <= digits.end; at += 16) {
    uint64_t v = 0;
    for (int byte = 7; byte >= 0; byte--) {
      char pair[3] = {t->s[at + 2 * (uint32_t)byte], t->s[at + 2 * (uint32_t)byte + 1], 0};
      v = v << 8 | (uint64_t)strtoul(pair, NULL, 16);
    }
    SW_TRY(sw_array_push(out, (int64_t)v, d));
  }
  return SW_OK;
}

/* Elements of the tensor type behind `dense<...> :`; -1 when there is none. */
static int64_t elements_said(const sw_ir_tree *t, uint32_t at, uint32_t end) {
  int64_t n = 1;
  while (at < end && t->s[at] != '<') at++;
  if (at >= end) return -1;
  at++;
  while (at < end && isdigit((unsigned char)t->s[at])) {
    char *behind;
    long long size = strtoll(t->s + at, &behind, 10);
    if (*behind != 'x' || size < 0 || size > 1 << 20 || n > 1 << 20) return -1;
    n *= size;
    at = (uint32_t)(behind - t->s) + 1;
  }
  return n;
}

static sw_rc read_int_tokens(const sw_ir_tree *t, sw_ir_span in, sw_ir_ints *out, sw_diag *d) {
  uint32_t i = in.at;
  while (i < in.end) {
    char c = t->s[i];
    if (isdigit((unsigned char)c) || c == '-' || c == 't' || c == 'f') {
      int64_t v;
      uint32_t behind = c == '-' ? i + 1 : i;
      while (behind < in.end && sw_ir_is_name((unsigned char)t->s[behind])) behind++;
      if (sw_ir_read_int(t, (sw_ir_span){i, behind}, &v)) SW_TRY(sw_array_push(out, v, d));
      i = behind > i ? behind : i + 1;
    } else {
      uint32_t behind = sw_ir_name(t->s, i); /* i64 */
      i = behind > i ? behind : i + 1;
    }
  }
  return SW_OK;
}

sw_rc sw_ir_read_ints(const sw_ir_tree *t, sw_ir_span v, sw_ir_ints *out, sw_diag *d) {
  v = sw_ir_trimmed(t, v);
  size_t before = out->n;
  bool dense = sw_ir_word(t->s, v.at, "dense");
  sw_ir_span in = strchr("([{<", t->s[v.at]) || sw_ir_name(t->s, v.at) > v.at ? sw_ir_inside(t, v) : v;
  if (sw_ir_word(t->s, v.at, "array")) { /* array<i64: 1, 2> */
    while (in.at < in.end && t->s[in.at] != ':') in.at++;
  }
  if (in.at < in.end && t->s[in.at] == '"') {
    sw_ir_span digits = sw_ir_unquoted(t, in);
    digits.at += 2;
    return read_int64_blob(t, digits, out, d);
  }
  SW_TRY(read_int_tokens(t, in, out, d));
  if (!dense || out->n != before + 1) return SW_OK;
  int64_t n = elements_said(t, in.end + 1, v.end);
  for (int64_t i = 1; i < n; i++) SW_TRY(sw_array_push(out, out->at[before], d));
  return SW_OK;
}

sw_ir_span sw_ir_call_target(const sw_ir_tree *t, const sw_ir_op *call) {
  const sw_ir_span said = sw_ir_unquoted(t, sw_ir_attr(t, call, "call_target_name", NULL));
  return sw_ir_present(said) ? said : call->symbol;
}

/* --- meshes ------------------------------------------------------------------------------------------------------- */

sw_ir_span sw_ir_mesh_name(const sw_ir_tree *t, const sw_ir_op *op) {
  return op->generic ? sw_ir_unquoted(t, sw_ir_entry(t, op->props, "sym_name")) : op->symbol;
}

sw_ir_span sw_ir_mesh_value(const sw_ir_tree *t, const sw_ir_op *op) {
  sw_ir_span in = sw_ir_attr(t, op, "mesh", NULL);
  if (!sw_ir_present(in)) { /* @mesh = <["x"=2]>, or an alias of such */
    in = op->body;
    while (in.at < in.end && t->s[in.at] != '=') in.at++;
    in.at += in.at < in.end;
    in = sw_ir_resolved(t, sw_ir_trimmed(t, in));
  }
  while (in.at < in.end && t->s[in.at] != '<') in.at++;
  return in;
}
