/* The writer of json_write.h. Every value goes through begin_value (comma, line, key); a level remembers whether it is
 * an object, whether it stays on one line and whether it has a child already. */
#include "io/json_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void sw_json_out_init(sw_json_out *o, sw_text *text) {
  memset(o, 0, sizeof *o);
  o->text = text;
}

static void misuse(sw_json_out *o) {
  if (!o->text->rc) o->text->rc = SW_E_BUG;
}

static void new_line(sw_json_out *o, int depth) {
  sw_text_puts(o->text, "\n");
  sw_text_pad(o->text, o->text->n, (size_t)depth * 2);
}

/* Length of the valid UTF-8 sequence at s, 0 when there is none. */
static size_t utf8_length(const unsigned char *s, size_t n) {
  size_t len = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : 4;
  if (s[0] >= 0x80 && (s[0] < 0xc2 || s[0] > 0xf4)) return 0;
  if (len > n) return 0;
  for (size_t i = 1; i < len; i++)
    if ((s[i] & 0xc0) != 0x80) return 0;
  if (s[0] == 0xe0 && s[1] < 0xa0) return 0;
  if (s[0] == 0xed && s[1] > 0x9f) return 0; /* surrogates */
  if (s[0] == 0xf0 && s[1] < 0x90) return 0;
  if (s[0] == 0xf4 && s[1] > 0x8f) return 0;
  return len;
}

/* C0 and DEL, C1 (in UTF-8, or alone as a byte), and what changes the direction of text. */
uint32_t sw_control_at(const char *s, size_t n, size_t *length) {
  static const struct { uint32_t first, last; } kOthers[] = {{0x80, 0x9f}, {0x202a, 0x202e}, {0x2066, 0x2069}};
  const unsigned char *u = (const unsigned char *)s;
  const size_t len = utf8_length(u, n);
  uint32_t code = u[0];
  *length = len ? len : 1;
  if (len == 1) return code < 0x20 || code == 0x7f ? code : 0;
  if (len == 2) code = (u[0] & 0x1fu) << 6 | (u[1] & 0x3fu);
  if (len == 3) code = (u[0] & 0x0fu) << 12 | (u[1] & 0x3fu) << 6 | (u[2] & 0x3fu);
  for (size_t i = 0; len < 4 && i < sizeof kOthers / sizeof *kOthers; i++)
    if (code >= kOthers[i].first && code <= kOthers[i].last) return code;
  return 0;
}

static void put_ascii(sw_text *t, unsigned char c) {
  static const char *const kShort[128] = {
      ['"'] = "\\\"", ['\\'] = "\\\\", ['\n'] = "\\n", ['\t'] = "\\t", ['\r'] = "\\r", ['\b'] = "\\b", ['\f'] = "\\f"};
  if (kShort[c])
    sw_text_puts(t, kShort[c]);
  else if (c < 0x20 || c == 0x7f)
    sw_text_printf(t, "\\u%04x", c);
  else
    sw_text_append(t, (const char *)&c, 1);
}

void sw_json_quote(sw_text *t, const char *s, size_t n) {
  const unsigned char *u = (const unsigned char *)s;
  sw_text_puts(t, "\"");
  for (size_t i = 0; i < n;) {
    size_t len = utf8_length(u + i, n - i), of_control;
    const uint32_t control = len ? sw_control_at(s + i, n - i, &of_control) : 0;
    if (len == 1)
      put_ascii(t, u[i]);
    else if (control)
      sw_text_printf(t, "\\u%04x", control);
    else if (len)
      sw_text_append(t, s + i, len);
    else
      sw_text_puts(t, "\xef\xbf\xbd");
    i += len ? len : 1;
  }
  sw_text_puts(t, "\"");
}

static void begin_value(sw_json_out *o, const char *key) {
  if (o->depth > 0) {
    bool in_line = o->level[o->depth - 1].inline_;
    if (o->level[o->depth - 1].object != (key != NULL)) misuse(o);
    if (o->level[o->depth - 1].any) sw_text_puts(o->text, in_line ? ", " : ",");
    o->level[o->depth - 1].any = true;
    if (!in_line) new_line(o, o->depth);
  } else if (key) {
    misuse(o);
  }
  if (key) {
    sw_json_quote(o->text, key, strlen(key));
    sw_text_puts(o->text, ": ");
  }
}

static void open_level(sw_json_out *o, const char *key, bool object, bool in_line) {
  begin_value(o, key);
  if (o->depth == SW_JSON_OUT_DEPTH) {
    misuse(o);
    return;
  }
  bool inherited = o->depth > 0 && o->level[o->depth - 1].inline_;
  o->level[o->depth].object = object;
  o->level[o->depth].inline_ = in_line || inherited;
  o->level[o->depth].any = false;
  o->depth++;
  sw_text_puts(o->text, object ? "{" : "[");
}

void sw_jw_object(sw_json_out *o, const char *key) { open_level(o, key, true, false); }
void sw_jw_array(sw_json_out *o, const char *key) { open_level(o, key, false, false); }
void sw_jw_row(sw_json_out *o, const char *key) { open_level(o, key, false, true); }
void sw_jw_object_row(sw_json_out *o, const char *key) { open_level(o, key, true, true); }

void sw_jw_end(sw_json_out *o) {
  if (o->depth == 0) {
    misuse(o);
    return;
  }
  o->depth--;
  if (o->level[o->depth].any && !o->level[o->depth].inline_) new_line(o, o->depth);
  sw_text_puts(o->text, o->level[o->depth].object ? "}" : "]");
  if (o->depth == 0) sw_text_puts(o->text, "\n");
}

void sw_jw_null(sw_json_out *o, const char *key) {
  begin_value(o, key);
  sw_text_puts(o->text, "null");
}

void sw_jw_bool(sw_json_out *o, const char *key, bool v) {
  begin_value(o, key);
  sw_text_puts(o->text, v ? "true" : "false");
}

void sw_jw_i64(sw_json_out *o, const char *key, int64_t v) {
  begin_value(o, key);
  sw_text_printf(o->text, "%" PRId64, v);
}

void sw_jw_f64(sw_json_out *o, const char *key, double v) {
  if (!isfinite(v)) {
    sw_jw_null(o, key);
    return;
  }
  char digits[40];
  for (int precision = 15; precision <= 17; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, v);
    if (strtod(digits, NULL) == v) break;
  }
  begin_value(o, key);
  sw_text_puts(o->text, digits);
  if (!strpbrk(digits, ".e")) sw_text_puts(o->text, ".0");
}

void sw_jw_string_n(sw_json_out *o, const char *key, const char *v, size_t n) {
  begin_value(o, key);
  sw_json_quote(o->text, v, n);
}

void sw_jw_string(sw_json_out *o, const char *key, const char *v) { sw_jw_string_n(o, key, v, strlen(v)); }

void sw_jw_i64_list(sw_json_out *o, const char *key, const int64_t *v, int n) {
  sw_jw_row(o, key);
  for (int i = 0; i < n; i++) sw_jw_i64(o, NULL, v[i]);
  sw_jw_end(o);
}

void sw_jw_lines(sw_json_out *o, const char *key, const char *text) {
  sw_jw_array(o, key);
  for (size_t n; *text; text += n + (text[n] == '\n')) {
    n = strcspn(text, "\n");
    sw_jw_string_n(o, NULL, text, n);
  }
  sw_jw_end(o);
}

void sw_jw_text(sw_json_out *o, const char *key, sw_text *t) {
  sw_jw_string(o, key, sw_text_str(t));
  if (t->rc) o->text->rc = t->rc;
  sw_text_free(t);
}

void sw_jw_sharding(sw_json_out *o, const char *key, const sw_mesh *m, const sw_sharding *s) {
  sw_text t = {0};
  sw_sharding_print(m, s, &t);
  sw_jw_text(o, key, &t);
}

void sw_jw_mesh(sw_json_out *o, const char *key, const sw_mesh *m) {
  sw_text t = {0};
  sw_mesh_print(m, &t);
  sw_jw_text(o, key, &t);
}

void sw_jw_format(sw_json_out *o, const char *name, int version) {
  sw_text format = {0};
  sw_text_printf(&format, "shardwright-%s", name);
  sw_jw_object(o, NULL);
  sw_jw_text(o, "format", &format);
  sw_jw_i64(o, "version", version);
}
