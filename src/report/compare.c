#include "report/compare.h"

#include <stdio.h>
#include <string.h>

#include "base/columns.h"
#include "report/memory.h"
#include "report/words.h"

/* Bytes of each class at a plan's peak. */
typedef struct held {
  int64_t bytes[SW_MEMORY_CLASSES];
} held;

/* The plan's own first, then one for each comparison; in the arena. */
static sw_rc find_held(const sw_report *r, sw_arena *arena, const held **out, sw_diag *d) {
  sw_found_classes found = {0};
  held *all;
  SW_ARENA_NEW(all, arena, r->n_comparisons + 1, d);
  SW_TRY(sw_memory_at_peak(r->plan, r->breakdown, &found, arena, all[0].bytes, d));
  for (int i = 0; i < r->n_comparisons; i++) {
    const sw_comparison *c = &r->comparisons[i];
    if (c->made) SW_TRY(sw_memory_at_peak(&c->plan, &c->breakdown, &found, arena, all[i + 1].bytes, d));
  }
  *out = all;
  return SW_OK;
}

static double exposed_s(const sw_breakdown *a) {
  return a->timeline ? a->timeline->sums.exposed_s : a->reshard_s + a->move_s;
}

/* Kernels, on a timeline with what they take longer beside collectives. */
static double work_s(const sw_breakdown *a) {
  return a->timeline ? a->timeline->sums.work_s + a->timeline->sums.slowed_s : a->local_s;
}

static double hidden_s(const sw_breakdown *a) {
  double all_s = a->hidden_s;
  for (int s = SW_STREAM_LEVEL; a->timeline && s < SW_MAX_STREAMS; s++)
    all_s += a->timeline->busy_s[s] - a->timeline->exposed_s[s];
  return all_s;
}

static void add_time_columns(const char *name, const sw_breakdown *a, const char *more, sw_columns *c) {
  sw_columns_add(c, "%s", name);
  sw_columns_add_seconds(c, a->total_s);
  sw_columns_add_seconds(c, work_s(a));
  sw_columns_add_seconds(c, exposed_s(a));
  sw_columns_add_seconds(c, hidden_s(a));
  sw_columns_add_bytes(c, (double)a->peak_bytes);
  sw_columns_add(c, "%s", more);
}

static void print_times(const sw_report *r, sw_text *out) {
  static const char *const kHeads[] = {"plan", "time", "work", "exposed", "hidden", "memory", ""};
  sw_columns c = {.n = sizeof kHeads / sizeof *kHeads, .right = {false, true, true, true, true, true, false}};
  for (int i = 0; i < c.n; i++) sw_columns_add(&c, "%s", kHeads[i]);
  add_time_columns("this one", r->breakdown, "", &c);
  for (int i = 0; i < r->n_comparisons; i++) {
    const sw_comparison *k = &r->comparisons[i];
    char more[80] = "-"; /* beside a plan that costs nothing */
    if (!k->made) {
      sw_columns_add(&c, "%s", k->name);
      for (int n = 2; n < c.n; n++) sw_columns_add(&c, "-");
      sw_columns_add(&c, "cannot be made");
      continue;
    }
    if (r->breakdown->total_s > 0) snprintf(more, sizeof more, "%.2f x", k->breakdown.total_s / r->breakdown->total_s);
    const size_t n = strlen(more);
    snprintf(more + n, sizeof more - n, "%s%s", sw_comparison_fits(r, k) ? "" : ", does not fit",
             k->breaks ? ", breaks a requirement" : "");
    add_time_columns(k->name, &k->breakdown, more, &c);
  }
  sw_columns_print(&c, 2, out);
}

/* Plans by rule say by their names what they do, those of files do not. */
static void print_notes(const sw_report *r, sw_text *out) {
  for (int i = 0; i < r->n_comparisons; i++) {
    const sw_comparison *k = &r->comparisons[i];
    if (i >= SW_BASELINE_COUNT) {
      sw_text_printf(out, "  %s: ", k->name);
      if (sw_plan_words(&k->plan, out, NULL)) out->rc = SW_E_RESOURCE;
      sw_text_puts(out, "\n");
    }
    if (k->breaks) sw_text_printf(out, "  %s: %s\n", k->name, k->breaks);
    if (k->made && k->spread) sw_text_printf(out, "  %s: %s\n", k->name, k->spread);
    if (k->made && k->uncut) sw_text_printf(out, "  %s: %s\n", k->name, k->uncut);
  }
}

/* Plans [from, to) of the plan itself and those that it is compared with, as columns. */
static void print_held(const sw_report *r, const held *all, int from, int to, sw_text *out) {
  sw_columns c = {.n = 1};
  sw_columns_add(&c, "at the peak");
  for (int i = from; i < to; i++) {
    c.right[c.n++] = true;
    sw_columns_add(&c, "%s", i ? r->comparisons[i - 1].name : "this one");
  }
  for (int k = 0; k < SW_MEMORY_CLASSES; k++) {
    int64_t most = 0;
    for (int i = from; i < to; i++)
      if (all[i].bytes[k] > most) most = all[i].bytes[k];
    if (!most) continue;
    sw_columns_add(&c, "%s", sw_memory_class_text((sw_memory_class)k));
    for (int i = from; i < to; i++) {
      if (!i || r->comparisons[i - 1].made)
        sw_columns_add_bytes(&c, (double)all[i].bytes[k]);
      else
        sw_columns_add(&c, "-");
    }
  }
  sw_text_puts(out, "\n");
  sw_columns_print(&c, 2, out);
}

void sw_comparisons_table(const sw_report *r, sw_text *out) {
  sw_arena scratch = {0};
  const held *all;
  print_times(r, out);
  print_notes(r, out);
  if (find_held(r, &scratch, &all, NULL)) out->rc = SW_E_RESOURCE;
  for (int from = 0; !out->rc && from <= r->n_comparisons; from += SW_MAX_COLUMNS - 1) {
    const int most = from + SW_MAX_COLUMNS - 1, n = r->n_comparisons + 1;
    print_held(r, all, from, most < n ? most : n, out);
  }
  sw_arena_deinit(&scratch);
}
