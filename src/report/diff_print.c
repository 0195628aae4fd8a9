/* What differs between two plans (diff.h), as a table and as JSON. */
#include <math.h>
#include <stdio.h>

#include "base/columns.h"
#include "io/json_write.h"
#include "shardwright/diff.h"

enum { MOST_ROWS = 16, MOST_RENAMED = 8 };

static const char *or_dash(const char *text) { return text ? text : "-"; }

/* --- the table ---------------------------------------------------------------------------------------------------- */

static void add_change(sw_columns *c, double was, double now) {
  if (was > 0 && now > 0)
    sw_columns_add(c, fabs(now / was - 1) > 0 ? "%+.2f %%" : "", 100 * (now / was - 1));
  else
    sw_columns_add(c, "%s", "");
}

static void add_seconds(sw_columns *c, const char *what, double was, double now) {
  sw_columns_add(c, "%s", what);
  sw_columns_add_seconds(c, was);
  sw_columns_add_seconds(c, now);
  add_change(c, was, now);
}

static void add_texts(sw_columns *c, const char *what, const char *was, const char *now) {
  sw_columns_add(c, "%s", what);
  sw_columns_add(c, "%s", or_dash(was));
  sw_columns_add(c, "%s", or_dash(now));
  sw_columns_add(c, "%s", "");
}

static void print_sums(const sw_diff *diff, sw_text *out) {
  const sw_diff_side *a = &diff->was, *b = &diff->now;
  sw_columns c = {.n = 4, .right = {false, true, true, false}};
  add_texts(&c, "", a->file, b->file);
  if (!sw_texts_equal(a->model, b->model)) add_texts(&c, "model", a->model, b->model);
  if (!sw_texts_equal(a->mesh, b->mesh)) add_texts(&c, "mesh", a->mesh, b->mesh);
  if (!sw_texts_equal(a->profile, b->profile)) add_texts(&c, "profile", a->profile, b->profile);
  char compiled[2][64];
  for (int i = 0; i < 2; i++) {
    const sw_diff_side *of = i ? b : a;
    snprintf(compiled[i], sizeof compiled[i], "%s%s%s", of->compiler, of->dtype ? ", " : "",
             of->dtype ? of->dtype : "");
  }
  add_texts(&c, "compiler", compiled[0], compiled[1]);
  if (a->priced && b->priced) {
    add_seconds(&c, "predicted time", a->total_s, b->total_s);
    add_seconds(&c, "  local work", a->local_s, b->local_s);
    add_seconds(&c, "  resharding", a->reshard_s, b->reshard_s);
    add_seconds(&c, "  inside ops", a->inside_s, b->inside_s);
    sw_columns_add(&c, "memory");
    sw_columns_add_bytes(&c, (double)a->peak_bytes);
    sw_columns_add_bytes(&c, (double)b->peak_bytes);
    add_change(&c, (double)a->peak_bytes, (double)b->peak_bytes);
  }
  sw_columns_print(&c, 0, out);
  for (int i = 0; i < 2; i++) {
    const sw_diff_side *s = i ? b : a;
    if (!s->priced) sw_text_printf(out, "%s says no times; with --model they are priced\n", s->file);
  }
}

/* "3.68 ms -> 4.09 ms", or one where both are the same. */
static void add_was_and_now(sw_columns *c, double was, double now, void (*print)(sw_text *, double)) {
  sw_text a = {0}, b = {0};
  print(&a, was);
  print(&b, now);
  if (sw_texts_equal(sw_text_str(&a), sw_text_str(&b)))
    sw_columns_add(c, "%s", sw_text_str(&a));
  else
    sw_columns_add(c, "%s -> %s", sw_text_str(&a), sw_text_str(&b));
  if (a.rc || b.rc) c->cells.rc = SW_E_RESOURCE;
  sw_text_free(&a);
  sw_text_free(&b);
}

static void print_number(sw_text *t, double v) { sw_text_printf(t, "%.0f", v); }

static void print_collectives(const sw_diff *diff, sw_text *out) {
  static const char *const kHeads[] = {"collective", "calls", "bytes/device", "time", ""};
  enum { HEADS = sizeof kHeads / sizeof *kHeads };
  const sw_diff_side *a = &diff->was, *b = &diff->now;
  sw_columns c = {.n = HEADS};
  bool any = false;
  if (!a->has_collectives || !b->has_collectives) {
    sw_text_puts(out, "\nplan files have no collectives: with --model, or of two reports, they are compared\n");
    return;
  }
  for (int i = 0; i < SW_COLL_COUNT; i++) any = any || a->by_collective[i].calls || b->by_collective[i].calls;
  if (!any) return;
  sw_text_puts(out, "\ncommunication\n");
  for (int i = 0; i < HEADS; i++) sw_columns_add(&c, "%s", kHeads[i]);
  for (int i = 0; i < SW_COLL_COUNT; i++) {
    const sw_collective_sum *x = &a->by_collective[i], *y = &b->by_collective[i];
    if (!x->calls && !y->calls) continue;
    sw_columns_add(&c, "%s", sw_coll_text((sw_coll_op)i));
    add_was_and_now(&c, (double)x->calls, (double)y->calls, print_number);
    add_was_and_now(&c, x->bytes, y->bytes, sw_text_bytes);
    add_was_and_now(&c, x->seconds, y->seconds, sw_text_seconds);
    add_change(&c, x->seconds, y->seconds);
  }
  sw_columns_print(&c, 2, out);
}

static void print_counts(const sw_diff *diff, sw_text *out) {
  const char *sep = "";
  sw_text_puts(out, "\n");
  for (int k = 0; k < SW_DIFF_KINDS; k++) {
    if (!diff->n_now[k]) continue;
    sw_text_printf(out, "%s%d of %d %ss", sep, diff->n_changed[k], diff->n_now[k], sw_diff_kind_text((sw_diff_kind)k));
    sep = ", ";
  }
  sw_text_puts(out, " cut otherwise\n");
}

/* Of ops that nothing cuts the strategy is "-". */
static const char *cut_in_words(const char *cut) { return sw_texts_equal(cut, "-") ? "uncut" : cut; }

static void add_diff_row(sw_columns *c, const sw_diff_row *r) {
  sw_columns_add(c, "%s", sw_diff_kind_text(r->kind));
  sw_columns_add(c, "%s", r->name);
  sw_columns_add(c, r->n > 1 ? "x%d" : "", r->n);
  if (r->was && r->now)
    sw_columns_add(c, "%s -> %s", cut_in_words(r->was), cut_in_words(r->now));
  else
    sw_columns_add(c, r->now ? "new, %s" : "gone, was %s", cut_in_words(r->now ? r->now : r->was));
}

static bool same_row_kind(const sw_diff_row *a, const sw_diff_row *b) {
  return a->kind == b->kind && !a->was == !b->was && !a->now == !b->now;
}

static void print_rows(const sw_diff *diff, sw_text *out) {
  sw_columns c = {.n = 4, .right = {false, false, true, false}};
  for (int32_t i = 0, nth = 0; i < diff->n_rows; i++) {
    const sw_diff_row *r = &diff->rows[i];
    const bool last = i + 1 == diff->n_rows || !same_row_kind(r, r + 1);
    nth = i && same_row_kind(r - 1, r) ? nth + 1 : 0;
    if (nth < MOST_ROWS) add_diff_row(&c, r);
    if (!last || nth < MOST_ROWS) continue;
    sw_columns_add(&c, "%s", sw_diff_kind_text(r->kind));
    sw_columns_add(&c, "and %d more rows; --json has all", nth + 1 - MOST_ROWS);
    sw_columns_add(&c, "%s", "");
    sw_columns_add(&c, "%s", "");
  }
  sw_columns_print(&c, 2, out);
  for (int32_t i = 0; i < diff->n_renamed && i < MOST_RENAMED; i++)
    sw_text_printf(out, "  %s %s is taken for %s\n", sw_diff_kind_text(diff->renamed[i].kind), diff->renamed[i].was,
                   diff->renamed[i].now);
  if (diff->n_renamed > MOST_RENAMED)
    sw_text_printf(out, "  and %d more of other names\n", diff->n_renamed - MOST_RENAMED);
}

/* "b.json makes layers.{0..3}.relu x4, layers.0.dot again; a.json keeps them"; or offloads these. */
static void print_levers(const sw_diff *diff, bool now, bool offloaded, sw_text *out) {
  int32_t n = 0, rows = 0;
  for (int32_t i = 0; i < diff->n_again; i++) {
    const sw_diff_again *a = &diff->again[i];
    if (a->now != now || a->offloaded != offloaded) continue;
    n += a->n;
    if (rows++ == MOST_ROWS) sw_text_puts(out, " and others");
    if (rows > MOST_ROWS) continue;
    if (rows == 1)
      sw_text_printf(out, "\n%s %s ", (now ? &diff->now : &diff->was)->file, offloaded ? "offloads" : "makes");
    sw_text_printf(out, "%s%s", rows > 1 ? ", " : "", a->name);
    if (a->n > 1) sw_text_printf(out, " x%d", a->n);
  }
  if (n)
    sw_text_printf(out, "%s; %s %s %s\n", offloaded ? "" : " again", (now ? &diff->was : &diff->now)->file,
                   offloaded ? "does not offload" : "keeps", n > 1 ? "them" : "it");
}

void sw_diff_table(const sw_diff *diff, sw_text *out) {
  print_sums(diff, out);
  if (sw_diff_is_empty(diff)) {
    sw_text_puts(out, "\nno difference\n");
    return;
  }
  print_collectives(diff, out);
  for (int k = 0; k < 4; k++) print_levers(diff, k % 2 == 0, k > 1, out);
  print_counts(diff, out);
  print_rows(diff, out);
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void put_side(sw_json_out *o, const char *key, const sw_diff_side *s) {
  sw_jw_object(o, key);
  sw_jw_string(o, "file", s->file);
  sw_jw_string(o, "kind", s->is_report ? "report" : "plan");
  if (s->model) sw_jw_string(o, "model", s->model);
  if (s->profile) sw_jw_string(o, "profile", s->profile);
  if (s->mesh) sw_jw_string(o, "mesh", s->mesh);
  sw_jw_string(o, "compiler", s->compiler);
  if (s->dtype) sw_jw_string(o, "dtype", s->dtype);
  if (s->priced) {
    sw_jw_f64(o, "total_s", s->total_s);
    sw_jw_f64(o, "local_s", s->local_s);
    sw_jw_f64(o, "reshard_s", s->reshard_s);
    sw_jw_f64(o, "inside_ops_s", s->inside_s);
    sw_jw_i64(o, "peak_bytes", s->peak_bytes);
  }
  sw_jw_end(o);
}

static void put_collectives(sw_json_out *o, const sw_diff *diff) {
  sw_jw_array(o, "collectives");
  for (int i = 0; i < SW_COLL_COUNT; i++) {
    const sw_collective_sum *x = &diff->was.by_collective[i], *y = &diff->now.by_collective[i];
    if (!x->calls && !y->calls) continue;
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "op", sw_coll_text((sw_coll_op)i));
    sw_jw_i64(o, "calls_before", x->calls);
    sw_jw_i64(o, "calls", y->calls);
    sw_jw_f64(o, "bytes_before", x->bytes);
    sw_jw_f64(o, "bytes", y->bytes);
    sw_jw_f64(o, "seconds_before", x->seconds);
    sw_jw_f64(o, "seconds", y->seconds);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

static void put_counts(sw_json_out *o, const char *key, const int32_t *n) {
  static const char *const kKeys[] = {"arguments", "ops", "outputs"};
  sw_jw_object_row(o, key);
  for (int k = 0; k < SW_DIFF_KINDS; k++) sw_jw_i64(o, kKeys[k], n[k]);
  sw_jw_end(o);
}

/* Rows that have both cuts, only the second, or only the first. */
static void put_rows(sw_json_out *o, const sw_diff *diff, const char *key, bool was, bool now) {
  sw_jw_array(o, key);
  for (int32_t i = 0; i < diff->n_rows; i++) {
    const sw_diff_row *r = &diff->rows[i];
    if ((r->was != NULL) != was || (r->now != NULL) != now) continue;
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "kind", sw_diff_kind_text(r->kind));
    sw_jw_string(o, "name", r->name);
    sw_jw_i64(o, "count", r->n);
    if (was) sw_jw_string(o, "was", r->was);
    if (now) sw_jw_string(o, "now", r->now);
    sw_jw_row(o, "names");
    for (int32_t k = 0; k < r->n; k++) sw_jw_string(o, NULL, r->names[k]);
    sw_jw_end(o);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

/* What the second makes again or offloads, or what the first does. */
static void put_levers(sw_json_out *o, const sw_diff *diff, const char *key, bool now, bool offloaded) {
  bool any = false;
  for (int32_t i = 0; i < diff->n_again; i++) any = any || diff->again[i].offloaded == offloaded;
  if (!any) return;
  sw_jw_array(o, key);
  for (int32_t i = 0; i < diff->n_again; i++) {
    const sw_diff_again *a = &diff->again[i];
    if (a->now != now || a->offloaded != offloaded) continue;
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "name", a->name);
    sw_jw_i64(o, "count", a->n);
    sw_jw_row(o, "names");
    for (int32_t k = 0; k < a->n; k++) sw_jw_string(o, NULL, a->names[k]);
    sw_jw_end(o);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

void sw_diff_json(const sw_diff *diff, sw_text *out) {
  sw_json_out o;
  sw_json_out_init(&o, out);
  sw_jw_format(&o, "diff", 1);
  sw_jw_bool(&o, "same", sw_diff_is_empty(diff));
  put_side(&o, "before", &diff->was);
  put_side(&o, "after", &diff->now);
  if (diff->was.has_collectives && diff->now.has_collectives) put_collectives(&o, diff);
  put_counts(&o, "n_changed", diff->n_changed);
  put_counts(&o, "n_added", diff->n_added);
  put_counts(&o, "n_removed", diff->n_removed);
  put_rows(&o, diff, "changed", true, true);
  put_rows(&o, diff, "added", false, true);
  put_rows(&o, diff, "removed", true, false);
  put_levers(&o, diff, "made_again_now", true, false);
  put_levers(&o, diff, "made_again_before", false, false);
  put_levers(&o, diff, "offloaded_now", true, true);
  put_levers(&o, diff, "offloaded_before", false, true);
  sw_jw_array(&o, "renamed");
  for (int32_t i = 0; i < diff->n_renamed; i++) {
    sw_jw_object_row(&o, NULL);
    sw_jw_string(&o, "kind", sw_diff_kind_text(diff->renamed[i].kind));
    sw_jw_string(&o, "was", diff->renamed[i].was);
    sw_jw_string(&o, "now", diff->renamed[i].now);
    sw_jw_end(&o);
  }
  sw_jw_end(&o);
  sw_jw_end(&o);
}
