#include "io/json_numbers.h"

#include <string.h>

#include "base/pattern.h"

static sw_rc gather_numbers(const sw_json *v, const char *path, sw_number_list *out, sw_arena *arena, sw_diag *d) {
  if (v->kind == SW_JSON_INT || v->kind == SW_JSON_FLOAT)
    return sw_array_push(out, ((sw_number){path, (sw_json *)(uintptr_t)v}), d);
  if (v->kind != SW_JSON_ARRAY && v->kind != SW_JSON_OBJECT) return SW_OK;
  for (int i = 0; i < v->n; i++) {
    const sw_json *child = &v->at[i], *name = sw_json_find(child, "name");
    const char *key = name && name->kind == SW_JSON_STRING ? name->text : NULL;
    const char *dot = *path ? "." : "", *longer;
    if (v->kind == SW_JSON_OBJECT) key = child->key;
    longer =
        key ? sw_arena_printf(arena, d, "%s%s%s", path, dot, key) : sw_arena_printf(arena, d, "%s%s%d", path, dot, i);
    if (!longer) return SW_E_RESOURCE;
    SW_TRY(gather_numbers(child, longer, out, arena, d));
  }
  return SW_OK;
}

sw_rc sw_numbers_of(const sw_json *tree, sw_number_list *out, sw_arena *arena, sw_diag *d) {
  return gather_numbers(tree, "", out, arena, d);
}

bool sw_number_path_matches(const char *pattern, const char *path) {
  static const char kAnyKeys[] = ".**"; /* at the end: or none */
  const size_t tail = strlen(kAnyKeys);
  for (size_t n = strlen(pattern);; n -= tail) {
    if (sw_pattern_distance(pattern, n, path) == 0) return true;
    if (n < tail || memcmp(pattern + n - tail, kAnyKeys, tail) != 0) return false;
  }
}
