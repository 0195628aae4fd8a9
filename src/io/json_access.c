/* Typed access to the nodes of json_tree.h, with the messages. One checker per type (sw_json_as_*); the member forms
 * are that checker behind a look-up:
 *
 *   {"seq": "9"}   sw_json_i64(o, "seq", ...)    'seq' is a string; expected an integer
 *                  sw_json_i64(o, "len", ...)    missing key 'len'
 */
#include <inttypes.h>
#include <string.h>

#include "io/json_tree.h"
#include "base/nearest.h"

static const char *const kKindText[] = {
    [SW_JSON_NULL] = "null",        [SW_JSON_BOOL] = "a boolean",  [SW_JSON_INT] = "an integer",
    [SW_JSON_FLOAT] = "a number",   [SW_JSON_STRING] = "a string", [SW_JSON_ARRAY] = "an array",
    [SW_JSON_OBJECT] = "an object",
};

typedef struct label {
  char text[72];
} label;

/* How a message calls a value: its key in quotes, or "element". */
static label label_of(const sw_json *v) {
  label l;
  if (v->key)
    snprintf(l.text, sizeof l.text, "'%.60s'", v->key);
  else
    snprintf(l.text, sizeof l.text, "element");
  return l;
}

sw_rc sw_json_expect(const sw_json *v, sw_json_kind kind, sw_diag *d) {
  if (v->kind == kind) return SW_OK;
  return SW_FAIL_INPUT(d, sw_json_span(v), "%s is %s; expected %s", label_of(v).text, kKindText[v->kind],
                       kKindText[kind]);
}

sw_rc sw_json_as_i64(const sw_json *v, int64_t min, int64_t max, int64_t *out, sw_diag *d) {
  if (v->kind == SW_JSON_FLOAT)
    return SW_FAIL_INPUT(d, sw_json_span(v), "%s is %.40s; expected an integer", label_of(v).text, v->text);
  SW_TRY(sw_json_expect(v, SW_JSON_INT, d));
  if (v->i64 < min || v->i64 > max) {
    if (max == INT64_MAX)
      return SW_FAIL_INPUT(d, sw_json_span(v), "%s is %" PRId64 "; expected at least %" PRId64, label_of(v).text,
                           v->i64, min);
    return SW_FAIL_INPUT(d, sw_json_span(v), "%s is %" PRId64 "; expected %" PRId64 " to %" PRId64, label_of(v).text,
                         v->i64, min, max);
  }
  *out = v->i64;
  return SW_OK;
}

sw_rc sw_json_as_f64(const sw_json *v, double min, double max, double *out, sw_diag *d) {
  if (v->kind != SW_JSON_INT) {
    if (v->kind != SW_JSON_FLOAT)
      return SW_FAIL_INPUT(d, sw_json_span(v), "%s is %s; expected a number", label_of(v).text, kKindText[v->kind]);
  }
  if (!(v->f64 >= min && v->f64 <= max))
    return SW_FAIL_INPUT(d, sw_json_span(v), "%s is %.40s; expected %g to %g", label_of(v).text, v->text, min, max);
  *out = v->f64;
  return SW_OK;
}

sw_rc sw_json_as_bool(const sw_json *v, bool *out, sw_diag *d) {
  SW_TRY(sw_json_expect(v, SW_JSON_BOOL, d));
  *out = v->truth;
  return SW_OK;
}

sw_rc sw_json_as_string(const sw_json *v, const char **out, sw_diag *d) {
  SW_TRY(sw_json_expect(v, SW_JSON_STRING, d));
  *out = v->text;
  return SW_OK;
}

const sw_json *sw_json_find(const sw_json *object, const char *key) {
  if (object->kind != SW_JSON_OBJECT) return NULL;
  for (int i = 0; i < object->n; i++)
    if (!strcmp(object->at[i].key, key)) return &object->at[i];
  return NULL;
}

sw_rc sw_json_member(const sw_json *object, const char *key, const sw_json **out, sw_diag *d) {
  SW_TRY(sw_json_expect(object, SW_JSON_OBJECT, d));
  *out = sw_json_find(object, key);
  return *out ? SW_OK : SW_FAIL_INPUT(d, sw_json_span(object), "missing key '%s'", key);
}

static sw_rc optional(const sw_json *object, const char *key, const sw_json **out, sw_diag *d) {
  SW_TRY(sw_json_expect(object, SW_JSON_OBJECT, d));
  *out = sw_json_find(object, key);
  return SW_OK;
}

sw_rc sw_json_i64(const sw_json *object, const char *key, int64_t min, int64_t max, int64_t *out, sw_diag *d) {
  const sw_json *v;
  SW_TRY(sw_json_member(object, key, &v, d));
  return sw_json_as_i64(v, min, max, out, d);
}

sw_rc sw_json_f64(const sw_json *object, const char *key, double min, double max, double *out, sw_diag *d) {
  const sw_json *v;
  SW_TRY(sw_json_member(object, key, &v, d));
  return sw_json_as_f64(v, min, max, out, d);
}

sw_rc sw_json_string(const sw_json *object, const char *key, const char **out, sw_diag *d) {
  const sw_json *v;
  SW_TRY(sw_json_member(object, key, &v, d));
  return sw_json_as_string(v, out, d);
}

sw_rc sw_json_array(const sw_json *object, const char *key, const sw_json **out, sw_diag *d) {
  SW_TRY(sw_json_member(object, key, out, d));
  return sw_json_expect(*out, SW_JSON_ARRAY, d);
}

sw_rc sw_json_object(const sw_json *object, const char *key, const sw_json **out, sw_diag *d) {
  SW_TRY(sw_json_member(object, key, out, d));
  return sw_json_expect(*out, SW_JSON_OBJECT, d);
}

sw_rc sw_json_opt_i64(const sw_json *object, const char *key, int64_t min, int64_t max, int64_t *out, sw_diag *d) {
  const sw_json *v;
  SW_TRY(optional(object, key, &v, d));
  return v ? sw_json_as_i64(v, min, max, out, d) : SW_OK;
}

sw_rc sw_json_opt_f64(const sw_json *object, const char *key, double min, double max, double *out, sw_diag *d) {
  const sw_json *v;
  SW_TRY(optional(object, key, &v, d));
  return v ? sw_json_as_f64(v, min, max, out, d) : SW_OK;
}

sw_rc sw_json_opt_bool(const sw_json *object, const char *key, bool *out, sw_diag *d) {
  const sw_json *v;
  SW_TRY(optional(object, key, &v, d));
  return v ? sw_json_as_bool(v, out, d) : SW_OK;
}

sw_rc sw_json_opt_string(const sw_json *object, const char *key, const char **out, sw_diag *d) {
  const sw_json *v;
  SW_TRY(optional(object, key, &v, d));
  return v ? sw_json_as_string(v, out, d) : SW_OK;
}

static sw_rc opt_kind(const sw_json *object, const char *key, sw_json_kind kind, const sw_json **out, sw_diag *d) {
  const sw_json *v;
  SW_TRY(optional(object, key, &v, d));
  if (!v) return SW_OK;
  SW_TRY(sw_json_expect(v, kind, d));
  *out = v;
  return SW_OK;
}

sw_rc sw_json_opt_array(const sw_json *object, const char *key, const sw_json **out, sw_diag *d) {
  return opt_kind(object, key, SW_JSON_ARRAY, out, d);
}

sw_rc sw_json_opt_object(const sw_json *object, const char *key, const sw_json **out, sw_diag *d) {
  return opt_kind(object, key, SW_JSON_OBJECT, out, d);
}

sw_rc sw_json_i64_list(const sw_json *v, int64_t min, int64_t max, int64_t *out, int cap, int *n, sw_diag *d) {
  SW_TRY(sw_json_expect(v, SW_JSON_ARRAY, d));
  if (v->n > cap)
    return SW_FAIL_INPUT(d, sw_json_span(v), "%s has %d elements; expected at most %d", label_of(v).text, v->n, cap);
  for (int i = 0; i < v->n; i++)
    SW_TRY_NOTE(d, sw_json_as_i64(&v->at[i], min, max, &out[i], d), "in %s", label_of(v).text);
  *n = v->n;
  return SW_OK;
}

/* "a, b, c" into `out`, cut short when it does not fit. */
static void join_words(const char *const *words, int n, char *out, size_t cap) {
  size_t used = 0;
  out[0] = 0;
  for (int i = 0; i < n; i++) {
    int k = snprintf(out + used, cap - used, "%s%s", i ? ", " : "", words[i]);
    if (k < 0 || (size_t)k >= cap - used) return;
    used += (size_t)k;
  }
}

sw_rc sw_json_word(const sw_json *v, const char *const *words, int n, int *out, sw_diag *d) {
  SW_TRY(sw_json_expect(v, SW_JSON_STRING, d));
  for (int i = 0; i < n; i++)
    if (!strcmp(v->text, words[i])) {
      *out = i;
      return SW_OK;
    }
  char all[400];
  join_words(words, n, all, sizeof all);
  return SW_FAIL_INPUT(d, sw_json_span(v), "%s is '%.60s'; expected one of %s", label_of(v).text, v->text, all);
}

static sw_rc unknown_key(const sw_json *member, const char *const *keys, int n, const char *what, sw_diag *d) {
  sw_nearest near = {.wanted = member->key};
  for (int i = 0; i < n; i++) sw_nearest_offer(&near, keys[i]);
  if (near.best)
    return SW_FAIL_INPUT(d, sw_json_key_span(member), "unknown key '%.60s' in %s; did you mean '%s'?", member->key,
                         what, near.best);
  char all[400];
  join_words(keys, n, all, sizeof all);
  return SW_FAIL_INPUT(d, sw_json_key_span(member), "unknown key '%.60s' in %s; expected one of %s", member->key, what,
                       all);
}

sw_rc sw_json_check_key(const sw_json *member, const char *const *keys, int n, const char *what, sw_diag *d) {
  for (int j = 0; j < n; j++)
    if (!strcmp(member->key, keys[j])) return SW_OK;
  return unknown_key(member, keys, n, what, d);
}

sw_rc sw_json_only(const sw_json *v, const char *const *keys, int n, const char *what, sw_diag *d) {
  if (v->kind != SW_JSON_OBJECT)
    return SW_FAIL_INPUT(d, sw_json_span(v), "%s is %s; expected an object", what, kKindText[v->kind]);
  for (int i = 0; i < v->n; i++) SW_TRY(sw_json_check_key(&v->at[i], keys, n, what, d));
  return SW_OK;
}
