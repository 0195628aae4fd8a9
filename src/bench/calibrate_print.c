/* What calibrate_from.c found, as a table and as JSON. */
#include <inttypes.h>

#include "base/columns.h"
#include "io/json_write.h"
#include "bench/calibrate_from.h"

static void add_error(sw_columns *c, int64_t rows, double error) {
  if (rows)
    sw_columns_add(c, "%.1f %%", 100 * error);
  else
    sw_columns_add(c, "-");
}

void sw_calibrated_table(const sw_calibrated *c, sw_text *out) {
  sw_columns rows = {.n = 5, .right = {[1] = true, [2] = true, [3] = true, [4] = true}};
  static const char *const heads[] = {"measured", "fitted", "error", "judged", "error"};
  for (int i = 0; i < 5 && c->n_rows; i++) sw_columns_add(&rows, "%s", heads[i]);
  for (int64_t i = 0; i < c->n_rows; i++) {
    const sw_calibrated_rows *r = &c->rows[i];
    sw_columns_add(&rows, "%s", r->what);
    sw_columns_add(&rows, "%" PRId64, r->fitted);
    add_error(&rows, r->fitted, r->fitted_error);
    sw_columns_add(&rows, "%" PRId64, r->judged);
    add_error(&rows, r->judged, r->judged_error);
  }
  if (c->n_rows) sw_columns_print(&rows, 0, out);
  sw_columns keys = {.n = 2};
  int unknown = 0;
  for (int i = 0; i < c->n_keys; i++) {
    unknown += !c->keys[i].known;
    sw_columns_add(&keys, "%s", c->keys[i].key);
    sw_columns_add(&keys, "%s", c->keys[i].from);
  }
  sw_text_printf(out, "\nprofile %s\n", c->profile->name);
  sw_columns_print(&keys, 2, out);
  if (unknown) sw_text_puts(out, "\nnot measured, and what would\n");
  sw_columns how = {.n = 2};
  for (int i = 0; i < c->n_keys; i++) {
    if (c->keys[i].known) continue;
    sw_columns_add(&how, "%s", c->keys[i].key);
    sw_columns_add(&how, "%s", c->keys[i].how);
  }
  if (unknown) sw_columns_print(&how, 2, out);
  if (*c->left) sw_text_printf(out, "\nleft out\n%s", c->left);
}

void sw_calibrated_json(const sw_calibrated *c, sw_text *out) {
  sw_json_out j;
  sw_json_out_init(&j, out);
  sw_jw_format(&j, "calibration", 1);
  sw_jw_string(&j, "profile", c->profile->name);
  sw_jw_array(&j, "measured");
  for (int64_t i = 0; i < c->n_rows; i++) {
    const sw_calibrated_rows *r = &c->rows[i];
    sw_jw_object(&j, NULL);
    sw_jw_string(&j, "what", r->what);
    sw_jw_i64(&j, "fitted", r->fitted);
    if (r->fitted) sw_jw_f64(&j, "fitted_error", r->fitted_error);
    sw_jw_i64(&j, "judged", r->judged);
    if (r->judged) sw_jw_f64(&j, "judged_error", r->judged_error);
    sw_jw_end(&j);
  }
  sw_jw_end(&j);
  sw_jw_array(&j, "keys");
  for (int i = 0; i < c->n_keys; i++) {
    sw_jw_object(&j, NULL);
    sw_jw_string(&j, "key", c->keys[i].key);
    sw_jw_string(&j, "from", c->keys[i].from);
    sw_jw_bool(&j, "known", c->keys[i].known);
    sw_jw_string(&j, "meaning", c->keys[i].meaning);
    sw_jw_string(&j, "how", c->keys[i].how);
    sw_jw_end(&j);
  }
  sw_jw_end(&j);
  sw_jw_lines(&j, "left_out", c->left);
  sw_jw_end(&j);
}
