/* The new values are put into the tree; the readers that follow see no difference. */
#include "io/profile_set.h"

#include <math.h>
#include <string.h>

#include "base/nearest.h"
#include "base/pattern.h"
#include "io/json_numbers.h"
#include "shardwright/text.h"

static size_t key_length(const char *path) { return strcspn(path, "."); }
static const char *next_key(const char *path) {
  path += key_length(path);
  return *path ? path + 1 : path;
}

/* --- what to say of a path that names none ------------------------------------------------------------------------ */

/* Keys of `wanted` that `path` has, or has nearly; the last key says what the number is, so it counts for two. */
static int path_likeness(const char *wanted, const char *path, sw_arena *arena) {
  int score = 0;
  for (const char *w = wanted; *w; w = next_key(w)) {
    const bool last = w[key_length(w)] == 0;
    const char *key = sw_arena_strndup(arena, w, key_length(w), NULL);
    int best = 0;
    for (const char *s = path; key && *s; s = next_key(s)) {
      const char *other = sw_arena_strndup(arena, s, key_length(s), NULL);
      sw_nearest near = {.wanted = key};
      if (!other) continue;
      sw_nearest_offer(&near, other);
      const int like = !near.best ? 0 : near.distance ? 2 : 3;
      best = like > best ? like : best;
    }
    score += last ? 2 * best : best;
  }
  return score;
}

static sw_rc refuse_path(const char *wanted, const sw_number_list *all, sw_arena *arena, sw_diag *d) {
  enum { MOST = 3 };
  const char *near[MOST] = {NULL};
  int like[MOST] = {0};
  for (size_t i = 0; i < all->n; i++) {
    int now = path_likeness(wanted, all->at[i].path, arena);
    const char *path = all->at[i].path;
    for (int k = 0; k < MOST; k++) {
      if (now <= like[k]) continue;
      const int was = like[k];
      const char *other = near[k];
      like[k] = now, near[k] = path;
      now = was, path = other;
    }
  }
  sw_text t = {0};
  for (int k = 0; k < MOST && near[k]; k++) sw_text_printf(&t, "%s'%.120s'", k ? ", " : "; nearest: ", near[k]);
  if (!near[0]) sw_text_puts(&t, "; expected a path such as 'device.memory.bytes_per_s'");
  sw_rc rc = SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "the profile has no number '%.120s'%s", wanted, sw_text_str(&t));
  sw_text_free(&t);
  return rc;
}

/* --- changes ------------------------------------------------------------------------------------------------------ */

static sw_rc set_number(sw_json *v, double x, sw_arena *arena, sw_diag *d) {
  const bool whole = v->kind == SW_JSON_INT && x == floor(x) && fabs(x) < 9e15;
  const char *text = sw_arena_printf(arena, d, "%.10g", x);
  if (!text) return SW_E_RESOURCE;
  v->kind = whole ? SW_JSON_INT : SW_JSON_FLOAT;
  v->i64 = whole ? (int64_t)x : 0;
  v->f64 = x;
  v->text = text;
  return SW_OK;
}

static sw_rc apply_change(const char *text, const sw_number_list *all, sw_arena *arena, sw_diag *d) {
  const char *sign = strchr(text, '=');
  double x;
  bool found = false;
  if (!sign || sign == text)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "'%.200s' is no change; expected PATH=NUMBER or PATH*=NUMBER", text);
  const bool times = sign[-1] == '*';
  const char *path = sw_arena_strndup(arena, text, (size_t)(sign - text) - times, d);
  if (!path) return SW_E_RESOURCE;
  SW_TRY(sw_pattern_check(path, strlen(path), d));
  sw_diag inner = {0};
  if (sw_parse_f64(sign + 1, -1e30, 1e30, times ? "the factor" : "the number", &x, &inner))
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "%s", inner.text);
  for (size_t i = 0; i < all->n; i++) {
    if (!sw_number_path_matches(path, all->at[i].path)) continue;
    SW_TRY(set_number(all->at[i].at, times ? all->at[i].at->f64 * x : x, arena, d));
    found = true;
  }
  return found ? SW_OK : refuse_path(path, all, arena, d);
}

sw_rc sw_profile_set(const sw_json *tree, const char *const *changes, int n, sw_arena *arena, sw_diag *d) {
  sw_number_list all = {0};
  sw_rc rc = sw_numbers_of(tree, &all, arena, d);
  for (int i = 0; !rc && i < n; i++) {
    rc = apply_change(changes[i], &all, arena, d);
    if (rc) sw_diag_note(d, "in --hw-set '%.200s'", changes[i]);
  }
  sw_array_free(&all);
  return rc;
}
