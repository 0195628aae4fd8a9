/* sw_json_parse: yajl's events become nodes. A container's children wait on a stack until it closes and are then
 * copied to the arena in one piece, so that children are contiguous:
 *
 *   [1, {"a": 2}]     stack: 1 | 1 2 -> {a} | 1 {a} -> [ ]
 *
 * yajl says where a token ends, not where it starts; but between two tokens there are only blanks, ',' and ':', so the
 * start is found by skipping those from the end of the token before.
 */
#include "io/json_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "base/array.h"
#include "base/file.h"
#include "base/hash.h"

typedef struct open_container {
  size_t first; /* its first child on the stack of nodes */
  sw_json self; /* place, kind and key */
} open_container;

typedef struct parser {
  const char *file, *bytes;
  size_t n;
  sw_arena *arena;
  sw_diag *d;
  sw_rc rc;
  yajl_handle yajl;
  bool completing; /* yajl has all bytes and counts its positions anew */
  size_t end;      /* of the last token */
  size_t seen;     /* bytes up to here are counted in line and col */
  int32_t line, col;
  const char *key;
  int32_t key_line, key_col;
  SW_ARRAY(sw_json) nodes;
  SW_ARRAY(open_container) open;
} parser;

/* Moves the place (line, col) to byte `to`. Columns count characters. */
static void move_place(parser *p, size_t to) {
  for (; p->seen < to; p->seen++) {
    unsigned char c = (unsigned char)p->bytes[p->seen];
    if (c == '\n') {
      p->line++;
      p->col = 1;
    } else if ((c & 0xc0) != 0x80) {
      p->col++;
    }
  }
}

static bool between_tokens(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ':'; }

/* Place of the token that yajl has just read. */
static void start_token(parser *p) {
  size_t at = p->end;
  while (at < p->n && between_tokens(p->bytes[at])) at++;
  move_place(p, at);
  p->end = p->completing ? p->n : yajl_get_bytes_consumed(p->yajl);
}

static sw_span here(const parser *p) { return (sw_span){p->file, p->line, p->col}; }

static int stop(parser *p, sw_rc rc) {
  p->rc = rc;
  return 0;
}

static sw_json new_json_node(parser *p, sw_json_kind kind) {
  start_token(p);
  sw_json v = {.kind = kind, .file = p->file, .line = p->line, .col = p->col};
  v.key = p->key;
  v.key_line = p->key_line;
  v.key_col = p->key_col;
  p->key = NULL;
  p->key_line = p->key_col = 0;
  return v;
}

static int push_json_node(parser *p, sw_json v) {
  sw_rc rc = sw_array_push(&p->nodes, v, p->d);
  return rc ? stop(p, rc) : 1;
}

static int on_null(void *ctx) { return push_json_node(ctx, new_json_node(ctx, SW_JSON_NULL)); }

static int on_bool(void *ctx, int truth) {
  sw_json v = new_json_node(ctx, SW_JSON_BOOL);
  v.truth = truth != 0;
  return push_json_node(ctx, v);
}

/* The \\u escape at `at`, as "d83d", or -1: it is none, or behind the string's end. */
static long escaped(const parser *p, size_t at) {
  char digits[5] = {0};
  if (at + 6 > p->n || p->bytes[at] != '\\' || p->bytes[at + 1] != 'u') return -1;
  memcpy(digits, p->bytes + at + 2, 4);
  return strtol(digits, NULL, 16);
}

/* Halves of a pair that stand alone in the string that begins here: yajl makes other characters of them. */
static sw_rc check_surrogates(parser *p) {
  if (!memchr(p->bytes + p->seen, '\\', p->end - p->seen)) return SW_OK;
  for (size_t at = p->seen + 1; at < p->n && p->bytes[at] != '"'; at++) {
    if (p->bytes[at] != '\\') continue;
    long code = escaped(p, at);
    bool high = code >= 0xd800 && code < 0xdc00, low = code >= 0xdc00 && code < 0xe000;
    long next = high ? escaped(p, at + 6) : -1;
    bool paired = next >= 0xdc00 && next < 0xe000;
    if (low || (high && !paired)) {
      move_place(p, at);
      return SW_FAIL_INPUT(p->d, here(p), "'\\u%04lx' is half of a surrogate pair; expected both halves", code);
    }
    at += paired ? 11 : code >= 0 ? 5 : 1;
  }
  return SW_OK;
}

static char *keep_string(parser *p, const void *bytes, size_t n) {
  p->rc = check_surrogates(p);
  if (p->rc) return NULL;
  if (n > INT32_MAX || memchr(bytes, 0, n)) {
    p->rc = SW_FAIL_INPUT(p->d, here(p), "a string holds a NUL character or is too long");
    return NULL;
  }
  char *s = sw_arena_strndup(p->arena, bytes, n, p->d);
  if (!s) p->rc = SW_E_RESOURCE;
  return s;
}

static int on_number(void *ctx, const char *text, size_t n) {
  parser *p = ctx;
  sw_json v = new_json_node(p, SW_JSON_FLOAT);
  v.text = keep_string(p, text, n);
  if (!v.text) return 0;
  v.n = (int32_t)n;
  v.f64 = strtod(v.text, NULL);
  if (v.f64 > 1.7976931348623157e308 || v.f64 < -1.7976931348623157e308)
    return stop(p, SW_FAIL_INPUT(p->d, here(p), "number %s is beyond the range of a double", v.text));
  if (!strpbrk(v.text, ".eE")) {
    errno = 0;
    long long i = strtoll(v.text, NULL, 10);
    if (!errno) {
      v.kind = SW_JSON_INT;
      v.i64 = i;
    }
  }
  return push_json_node(p, v);
}

static int on_string(void *ctx, const unsigned char *text, size_t n) {
  parser *p = ctx;
  sw_json v = new_json_node(p, SW_JSON_STRING);
  v.text = keep_string(p, text, n);
  if (!v.text) return 0;
  v.n = (int32_t)n;
  return push_json_node(p, v);
}

static int open_one(parser *p, sw_json_kind kind) {
  open_container o = {.self = new_json_node(p, kind), .first = p->nodes.n};
  if (p->open.n >= SW_JSON_MAX_DEPTH)
    return stop(p, SW_FAIL_INPUT(p->d, here(p), "nested deeper than %d levels", SW_JSON_MAX_DEPTH));
  sw_rc rc = sw_array_push(&p->open, o, p->d);
  return rc ? stop(p, rc) : 1;
}

static sw_rc twice(parser *p, const sw_json *first, const sw_json *second) {
  return SW_FAIL_INPUT(p->d, sw_json_key_span(second), "key '%s' appears twice; the first is at %d:%d", second->key,
                       first->key_line, first->key_col);
}

/* Few keys are compared pair by pair; many go through a map. */
static sw_rc check_keys(parser *p, const sw_json *members, int64_t n) {
  enum { FEW = 12 };
  if (n <= FEW) {
    for (int64_t i = 1; i < n; i++)
      for (int64_t j = 0; j < i; j++)
        if (!strcmp(members[i].key, members[j].key)) return twice(p, &members[j], &members[i]);
    return SW_OK;
  }
  sw_dict seen = {0};
  sw_rc rc = SW_OK;
  for (int64_t i = 0; i < n && !rc; i++) {
    int64_t *first;
    bool fresh = true;
    rc = sw_dict_put(&seen, members[i].key, strlen(members[i].key), i, &first, &fresh, p->d);
    if (!rc && !fresh) rc = twice(p, &members[*first], &members[i]);
  }
  sw_dict_deinit(&seen);
  return rc;
}

static int close_one(parser *p) {
  start_token(p);
  open_container o = p->open.at[--p->open.n];
  size_t n = p->nodes.n - o.first;
  const sw_json *children = n ? p->nodes.at + o.first : NULL;
  if (n > INT32_MAX) return stop(p, SW_FAIL_INPUT(p->d, sw_json_span(&o.self), "too many elements"));
  if (o.self.kind == SW_JSON_OBJECT) {
    sw_rc rc = check_keys(p, children, (int64_t)n);
    if (rc) return stop(p, rc);
  }
  if (n) {
    o.self.at = sw_arena_copy(p->arena, children, n, sizeof *children, p->d);
    if (!o.self.at) return stop(p, SW_E_RESOURCE);
  }
  o.self.n = (int32_t)n;
  p->nodes.n = o.first;
  return push_json_node(p, o.self);
}

static int on_open_object(void *ctx) { return open_one(ctx, SW_JSON_OBJECT); }
static int on_open_array(void *ctx) { return open_one(ctx, SW_JSON_ARRAY); }
static int on_close(void *ctx) { return close_one(ctx); }

static int on_key(void *ctx, const unsigned char *text, size_t n) {
  parser *p = ctx;
  start_token(p);
  p->key = keep_string(p, text, n);
  p->key_line = p->line;
  p->key_col = p->col;
  return p->key != NULL;
}

static const yajl_callbacks kCallbacks = {.yajl_null = on_null,
                                          .yajl_boolean = on_bool,
                                          .yajl_number = on_number,
                                          .yajl_string = on_string,
                                          .yajl_start_map = on_open_object,
                                          .yajl_map_key = on_key,
                                          .yajl_end_map = on_close,
                                          .yajl_start_array = on_open_array,
                                          .yajl_end_array = on_close};

/* yajl's own words ("parse error: unallowed token at this point in JSON text"), without its prefix and newline. */
static sw_rc syntax_error(parser *p) {
  size_t at = p->completing ? p->n : yajl_get_bytes_consumed(p->yajl);
  if (at < p->end) at = p->end;
  move_place(p, at > p->n ? p->n : at);
  unsigned char *raw = yajl_get_error(p->yajl, 0, NULL, 0);
  const char *text = raw ? (const char *)raw : "not JSON";
  const char *colon = strstr(text, "error: ");
  if (colon) text = colon + strlen("error: ");
  sw_rc rc = SW_FAIL_INPUT(p->d, here(p), "%.*s", (int)strcspn(text, "\n"), text);
  if (raw) yajl_free_error(p->yajl, raw);
  return rc;
}

static sw_rc run_yajl(parser *p) {
  yajl_status s = yajl_parse(p->yajl, (const unsigned char *)p->bytes, p->n);
  if (s == yajl_status_ok) {
    p->completing = true;
    s = yajl_complete_parse(p->yajl);
  }
  if (p->rc) return p->rc;
  if (s != yajl_status_ok) return syntax_error(p);
  if (p->nodes.n != 1) return SW_FAIL_INPUT(p->d, here(p), "no JSON value in the file");
  return SW_OK;
}

sw_rc sw_json_parse(const char *file, const char *bytes, size_t n, sw_arena *arena, const sw_json **out, sw_diag *d) {
  parser p = {.bytes = bytes, .n = n, .arena = arena, .d = d, .line = 1, .col = 1};
  p.file = sw_arena_strndup(arena, file, strlen(file), d);
  if (!p.file) return SW_E_RESOURCE;
  p.yajl = yajl_alloc(&kCallbacks, NULL, &p);
  if (!p.yajl) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "no memory for the JSON parser");
  sw_rc rc = run_yajl(&p);
  if (!rc) {
    *out = sw_arena_copy(arena, p.nodes.at, 1, sizeof **out, d);
    if (!*out) rc = SW_E_RESOURCE;
  }
  yajl_free(p.yajl);
  sw_array_free(&p.nodes);
  sw_array_free(&p.open);
  return rc;
}

sw_rc sw_json_read(const char *path, sw_arena *arena, const sw_json **out, sw_diag *d) {
  char *bytes;
  size_t n;
  SW_TRY(sw_file_read_text(path, &bytes, &n, d));
  sw_rc rc = sw_json_parse(strcmp(path, "-") ? path : "<stdin>", bytes, n, arena, out, d);
  sw_mem_free(bytes);
  return rc;
}
