#include "report/diff_levers.h"

#include <string.h>

static sw_rc put_lever(sw_diff_levers *l, sw_lever how, const char *op, sw_diag *d) {
  return sw_dict_put(&l->of, op, strlen(op), how, NULL, NULL, d);
}

static sw_lever lever_of(sw_source_kind source) {
  if (source == SW_SOURCE_OFFLOADED) return SW_LEVER_OFFLOADS;
  return source ? SW_LEVER_KEEPS : SW_LEVER_AGAIN;
}

/* By the key that says so; SW_SOURCE_NONE: it is no source. */
static sw_rc find_source(const sw_json *of, sw_source_kind *source, const char **value, sw_diag *d) {
  static const sw_source_kind kKinds[] = {SW_SOURCE_KEPT, SW_SOURCE_OFFLOADED, SW_SOURCE_FETCHED};
  *source = SW_SOURCE_NONE;
  *value = NULL;
  for (size_t k = 0; k < sizeof kKinds / sizeof *kKinds && !*value; k++) {
    SW_TRY(sw_json_opt_string(of, sw_source_text(kKinds[k]), value, d));
    if (*value) *source = kKinds[k];
  }
  return SW_OK;
}

/* An entry of a schedule, under the name that its op has on the stage. */
static sw_rc read_schedule_entry(const sw_json *entry, sw_diff_levers *out, sw_diag *d) {
  const char *op = NULL, *value;
  int64_t instance = 0;
  sw_source_kind source;
  sw_text t = {0};
  SW_TRY(sw_json_expect(entry, SW_JSON_OBJECT, d));
  SW_TRY(sw_json_opt_string(entry, "op", &op, d));
  SW_TRY(find_source(entry, &source, &value, d));
  SW_TRY(sw_json_opt_i64(entry, "instance", 0, INT32_MAX, &instance, d));
  if (!source && (!op || !instance)) return SW_OK;
  sw_text_printf(&t, "%s%s", source ? value : op, source ? sw_source_suffix(source) : SW_AGAIN_SUFFIX);
  if (instance > 1) sw_text_printf(&t, "%lld", (long long)instance);
  const sw_rc rc =
      t.rc ? SW_FAIL(d, t.rc, SW_NOWHERE, "out of memory") : put_lever(out, lever_of(source), sw_text_str(&t), d);
  sw_text_free(&t);
  return rc;
}

static sw_rc read_report_op(const sw_json *op, sw_diff_levers *out, sw_diag *d) {
  const char *name, *value;
  sw_source_kind source;
  SW_TRY(sw_json_expect(op, SW_JSON_OBJECT, d));
  SW_TRY(find_source(op, &source, &value, d));
  if (!source && !sw_json_find(op, "again_of")) return SW_OK;
  SW_TRY(sw_json_string(op, "name", &name, d));
  return put_lever(out, lever_of(source), name, d);
}

sw_rc sw_diff_read_levers(const sw_json *root, sw_diff_levers *out, sw_diag *d) {
  const sw_json *schedule = NULL, *entries = NULL, *ops = NULL;
  SW_TRY(sw_json_opt_object(root, "schedule", &schedule, d));
  if (schedule) SW_TRY(sw_json_opt_array(schedule, "entries", &entries, d));
  SW_TRY(sw_json_opt_array(root, "ops_in_order", &ops, d));
  for (int32_t i = 0; entries && i < entries->n; i++) SW_TRY(read_schedule_entry(&entries->at[i], out, d));
  for (int32_t i = 0; ops && i < ops->n; i++) SW_TRY(read_report_op(&ops->at[i], out, d));
  return SW_OK;
}

/* Without what stands behind it on the stage. */
static sw_rc original_of(const char *op, const char *suffix, sw_arena *arena, const char **out, sw_diag *d) {
  const char *end = NULL;
  for (const char *at = op; (at = strstr(at, suffix)) != NULL; at++) end = at;
  *out = sw_arena_strndup(arena, op, end ? (size_t)(end - op) : strlen(op), d);
  return *out ? SW_OK : SW_E_RESOURCE;
}

sw_rc sw_diff_lever_alone(const sw_diff_levers *own, const sw_diff_levers *other, const char *op, sw_arena *arena,
                          sw_lever *how, const char **original, sw_diag *d) {
  const int64_t *found = sw_dict_get(&own->of, op, strlen(op));
  const bool alone = found && !sw_dict_get(&other->of, op, strlen(op));
  *original = NULL;
  *how = alone ? (sw_lever)*found : SW_LEVER_NONE;
  if (*how == SW_LEVER_OFFLOADS) return original_of(op, sw_source_suffix(SW_SOURCE_OFFLOADED), arena, original, d);
  return *how == SW_LEVER_AGAIN ? original_of(op, SW_AGAIN_SUFFIX, arena, original, d) : SW_OK;
}
