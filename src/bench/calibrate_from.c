/* Kernels of one device, collectives of one node and those over several are fitted one after the other, each by the fit
 * of the published tables (cost_fit.c) on the part of the profile that it speaks of. Measured training steps then move
 * what large ops achieve, as far as the steps ask for it.
 */
#include "bench/calibrate_from.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "hw/group.h"
#include "bench/calibrate_keys.h"
#include "bench/cost_fit.h"
#include "bench/data_sheet.h"
#include "bench/evidence.h"
#include "bench/runs_fit.h"

typedef SW_ARRAY(sw_calibrated_rows) rows_list;

typedef struct making {
  const sw_calibrate_from_options *o;
  sw_profile *p; /* what is made */
  sw_profile start;
  evidence e;
  rows_list rows;
  int64_t fitted[EVIDENCE_PARTS], judged[EVIDENCE_PARTS];
  double error[EVIDENCE_PARTS]; /* of the rows that judge, or of all fitted ones where none does */
  int64_t triples;              /* of kernels beside collectives, that were fitted */
  double triples_error;
  int64_t steps; /* training runs that were fitted */
  double steps_error;
  sw_run_scales scales;           /* of these, what the profile does not hold */
  const char *sheet, *sheet_file; /* NULL: none */
  sw_calibrated *out;
  sw_arena *arena;
  sw_diag *d;
} making;

/* --- where to start --- */

static sw_rc start_from_profile(making *m) {
  const sw_calibrate_from_options *o = m->o;
  const sw_profile *start = NULL;
  int64_t row;
  if (o->start) SW_TRY(sw_profile_read(o->start, m->arena, &start, m->d));
  if (!start && !m->e.sheet)
    return SW_FAIL_INPUT(
        m->d, SW_NOWHERE,
        "nothing says what is not measured; expected --start PROFILE, or a data sheet among the files");
  if (start) *m->p = *start;
  if (m->e.sheet) {
    SW_TRY(sw_data_sheet_row(m->e.sheet, o->device, &row, m->d));
    SW_TRY(sw_data_sheet_device(m->e.sheet, row, m->arena, m->p, m->d));
    if (!start) SW_TRY(sw_data_sheet_network(m->e.sheet, row, m->arena, m->p, m->d));
    m->sheet = m->p->device_name;
    m->sheet_file = m->e.sheet->file;
  }
  m->p->name = o->name;
  m->p->hash = 0;
  m->p->n_measured = m->p->n_run_hardware = 0;
  m->p->description =
      sw_arena_printf(m->arena, m->d, "%s, from measurements and what `sources` says.", m->p->device_name);
  m->start = *m->p;
  return m->p->description ? SW_OK : SW_E_RESOURCE;
}

/* --- fits --- */

/* The levels that a part of the samples speaks of. */
static int last_level(const making *m, evidence_part part) {
  return part == EVIDENCE_ACROSS ? m->p->n_levels - 1 : part == EVIDENCE_INSIDE ? m->p->node_level : 0;
}
static int first_level(const making *m, evidence_part part) {
  return part == EVIDENCE_ACROSS ? m->p->node_level + 1 : 0;
}

/* The levels up to one that a part of the samples speaks of, with as many units of an open one as they have. */
static void view_profile_part(const making *m, evidence_part part, int level, sw_profile *out) {
  const sample_set *set = &m->e.set[part];
  *out = *m->p;
  out->n_levels = level + 1;
  sw_level *outer = &out->level[level];
  if (!outer->open) return;
  outer->open = false;
  for (int i = 0; i < set->n_layouts; i++) {
    int64_t units = sw_sample_layout_units(out, set->layouts[i], level);
    if (units > outer->dims[0]) outer->dims[0] = units;
  }
}

/* A shape that has no rows is priced all the same. */
static void replace_unfit(sample_set *set, const sw_profile *view) {
  if (set->n == 0) set->n_layouts = 0;
  for (int i = 0; i < set->n_layouts; i++)
    if (!sw_sample_layout_fits(view, set->layouts[i]) && set->at[0].layout >= 0)
      set->layouts[i] = set->layouts[set->at[0].layout];
}

/* Takes out the samples of groups that the profile's network cannot hold. */
static void drop_unfit(making *m, evidence_part part, const sw_profile *view) {
  sample_set *set = &m->e.set[part];
  bool fits[MAX_LAYOUTS];
  int64_t n = 0, gone[MAX_LAYOUTS] = {0};
  for (int i = 0; i < set->n_layouts; i++)
    fits[i] = sw_sample_layout_fits(view, set->layouts[i]) &&
              (part != EVIDENCE_ACROSS || first_level(m, part) < view->n_levels);
  for (int64_t i = 0; i < set->n; i++) {
    int l = set->at[i].layout;
    if (l < 0 || fits[l])
      set->at[n++] = set->at[i];
    else
      gone[l]++;
  }
  set->n = n;
  for (int i = 0; i < set->n_layouts; i++)
    if (gone[i])
      sw_text_printf(&m->e.left,
                     "%" PRId64 " rows of %" PRId64 " ranks on %" PRId64
                     " nodes: the network of the start has no such "
                     "group\n",
                     gone[i], set->layouts[i].ranks, set->layouts[i].nodes);
  replace_unfit(set, view);
}

enum { DIGITS = 4, SECONDS = 3 }; /* of the constants of a class the first ones are in seconds */

static double round_to_digits(double v) { return sw_round_to(v, DIGITS); }

static void round_line(sw_cost_line *l) {
  double *at[FIT_LINE_VALUES];
  sw_fit_line_values(l, at);
  for (int i = 0; i < FIT_LINE_VALUES; i++)
    if (*at[i] > 0)
      *at[i] = i < SECONDS ? round_to_digits(*at[i]) : 1 / round_to_digits(1 / *at[i]); /* a file says rates */
}

static bool same_cost_line(sw_cost_line *a, sw_cost_line *b) {
  return sw_fit_lines_equal(a, b) && a->knots == b->knots;
}

static void take_achieved(sw_profile *p, const sw_profile *from) {
  p->flop_fraction = round_to_digits(from->flop_fraction);
  p->flop_fraction_8bit = round_to_digits(from->flop_fraction_8bit);
  p->memory_fraction = round_to_digits(from->memory_fraction);
  p->launch_s = round_to_digits(from->launch_s);
  for (int k = 0; k < SW_PRICED_COUNT; k++)
    for (int c = 0; c < SW_KERNEL_CONSTANT_COUNT; c++) p->kernel[k].v[c] = round_to_digits(from->kernel[k].v[c]);
}

/* What the fit of a part has moved goes back into the profile. */
static void take_fitted_back(making *m, evidence_part part, sw_profile *view) {
  sw_level *fitted = &view->level[view->n_levels - 1], *own = &m->p->level[view->n_levels - 1];
  if (part == EVIDENCE_LOCAL) {
    take_achieved(m->p, view);
    for (int k = SW_PRICED_ATTENTION; k < SW_PRICED_COUNT && m->e.library; k++) m->p->kernel[k].library = m->e.library;
    return;
  }
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
    if (same_cost_line(&fitted->line[c], &own->line[c])) continue;
    own->line[c] = fitted->line[c];
    round_line(&own->line[c]);
  }
  if (view->n_levels > 1) own->serial_fraction = round_to_digits(fitted->serial_fraction);
}

static const char *name_of_rows(making *m, evidence_part part, int source, int op) {
  const char *of = m->e.set[part].source[source];
  if (part != EVIDENCE_LOCAL) return sw_arena_printf(m->arena, m->d, "%s, %s", sw_coll_text((sw_coll_op)op), of);
  return sw_arena_strndup(m->arena, of, strlen(of), m->d);
}

static void add_to(sw_calibrated_rows *r, bool fitted, double error) {
  *(fitted ? &r->fitted : &r->judged) += 1;
  *(fitted ? &r->fitted_error : &r->judged_error) += error;
}

static sw_rc keep_rows(making *m, sw_calibrated_rows *r) {
  if (r->fitted) r->fitted_error /= (double)r->fitted;
  if (r->judged) r->judged_error /= (double)r->judged;
  if (!r->fitted && !r->judged) return SW_OK;
  return r->what ? sw_array_push(&m->rows, *r, m->d) : SW_E_RESOURCE;
}

static sw_rc judge_evidence_part(making *m, evidence_part part, const double *predicted) {
  const sample_set *set = &m->e.set[part];
  double sum[2] = {0};
  int64_t n[2] = {0};
  for (int source = 0; source < set->n_sources; source++)
    for (int op = 0; op < SW_COLL_COUNT; op++) {
      sw_calibrated_rows r = {0};
      for (int64_t i = 0; i < set->n; i++) {
        const sample *s = &set->at[i];
        if (s->source != source || (int)s->op != op) continue;
        add_to(&r, s->train, fabs(log(predicted[i] / s->measured_s)));
      }
      for (int train = 0; train < 2 && r.fitted; train++) { /* kinds that only judge say nothing of the fit */
        sum[train] += train ? r.fitted_error : r.judged_error;
        n[train] += train ? r.fitted : r.judged;
      }
      if (r.fitted || r.judged) r.what = name_of_rows(m, part, source, op);
      SW_TRY(keep_rows(m, &r));
    }
  m->fitted[part] = n[1];
  m->judged[part] = n[0];
  m->error[part] = n[0] ? sum[0] / (double)n[0] : n[1] ? sum[1] / (double)n[1] : 0;
  return SW_OK;
}

static bool eight_bits(const sample_set *set) {
  for (int64_t i = 0; i < set->n; i++)
    if (set->at[i].work.flops > 0 && sw_dtype_bytes(set->at[i].work.dtype) == 1) return true;
  return false;
}

/* An all_gather and a reduce_scatter move the same bytes, and an all_reduce is one after the other, which its price is
 * bound by: where one is not measured it takes the constants of one that is. */
static void tie_unseen(const bool seen[SW_COST_CLASS_COUNT], sw_level *level) {
  sw_cost_line *gather = &level->line[SW_COST_ALL_GATHER], *scatter = &level->line[SW_COST_REDUCE_SCATTER];
  if (seen[SW_COST_ALL_GATHER] && !seen[SW_COST_REDUCE_SCATTER]) *scatter = *gather;
  if (seen[SW_COST_REDUCE_SCATTER] && !seen[SW_COST_ALL_GATHER]) *gather = *scatter;
  if (seen[SW_COST_ALL_GATHER] || seen[SW_COST_REDUCE_SCATTER] || !seen[SW_COST_ALL_REDUCE]) return;
  *gather = level->line[SW_COST_ALL_REDUCE];
  gather->in_network_min = 0;
  gather->in_network_s_per_byte = 0;
  gather->knots = NULL;
  *scatter = *gather;
}

static void scale_line(sw_cost_line *l, double by) {
  double *at[FIT_LINE_VALUES];
  sw_fit_line_values(l, at);
  for (int i = 0; i < FIT_LINE_VALUES; i++) *at[i] *= by;
}

/* Assumed constants begin at the right order: every class that was measured is scaled by its mean ratio. */
static sw_rc scale_to(making *m, const sample_set *set, const bool seen[SW_COST_CLASS_COUNT], sw_profile *view,
                      double *predicted) {
  sw_level *level = &view->level[view->n_levels - 1];
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
    double sum = 0;
    int64_t n = 0;
    if (!seen[c]) continue;
    SW_TRY(sw_samples_predict(view, set, predicted, m->d));
    for (int64_t i = 0; i < set->n; i++) {
      if (!set->at[i].train || sw_coll_cost_class(set->at[i].op) != (sw_cost_class)c) continue;
      sum += log(set->at[i].measured_s / predicted[i]);
      n++;
    }
    scale_line(&level->line[c], exp(sum / (double)n));
    tie_unseen(seen, level);
  }
  return SW_OK;
}

static sw_rc fit_collectives(making *m, sample_set *set, sw_profile *view, double *predicted) {
  sw_level *level = &view->level[view->n_levels - 1];
  bool seen[SW_COST_CLASS_COUNT];
  (void)sw_fit_classes_seen(set, seen);
  tie_unseen(seen, level);
  if (!m->o->start) SW_TRY(scale_to(m, set, seen, view, predicted));
  SW_TRY(sw_fit(view, set, predicted, m->d));
  tie_unseen(seen, level);
  if (!seen[SW_COST_ALL_GATHER] && !seen[SW_COST_REDUCE_SCATTER] && seen[SW_COST_ALL_REDUCE]) {
    SW_TRY(sw_fit(view, set, predicted, m->d)); /* its own price was bound by those that now follow it */
    tie_unseen(seen, level);
  }
  SW_TRY(sw_fit_knots(view, set, m->arena, predicted, m->d));
  tie_unseen(seen, level);
  return SW_OK;
}

/* The samples whose groups span a level and none beyond it. */
static sw_rc samples_of_level(const making *m, evidence_part part, int level, const sw_profile *view, sample_set *out) {
  const sample_set *set = &m->e.set[part];
  *out = *set;
  SW_ARENA_NEW(out->at, m->arena, set->n, m->d);
  out->n = 0;
  for (int64_t i = 0; i < set->n; i++) {
    const int l = set->at[i].layout;
    if (sw_sample_layout_level(m->p, set->layouts[l]) == level) out->at[out->n++] = set->at[i];
  }
  replace_unfit(out, view);
  return SW_OK;
}

/* From the inside out, as prices of an outer level stand on those below. */
static sw_rc fit_levels(making *m, evidence_part part, double *predicted) {
  for (int level = first_level(m, part); level <= last_level(m, part); level++) {
    sw_profile *view;
    sample_set own;
    SW_ARENA_NEW(view, m->arena, 1, m->d);
    view_profile_part(m, part, level, view);
    SW_TRY(samples_of_level(m, part, level, view, &own));
    if (own.n == 0) continue;
    SW_TRY(fit_collectives(m, &own, view, predicted));
    take_fitted_back(m, part, view);
  }
  return SW_OK;
}

static sw_rc fit_kernels(making *m, double *predicted) {
  const sample_set *set = &m->e.set[EVIDENCE_LOCAL];
  sw_profile *view;
  SW_ARENA_NEW(view, m->arena, 1, m->d);
  view_profile_part(m, EVIDENCE_LOCAL, 0, view);
  if (eight_bits(set) && view->flop_fraction_8bit == view->flop_fraction)
    view->flop_fraction_8bit *= 0.9; /* equal ones are taken for one constant */
  SW_TRY(sw_fit(view, set, predicted, m->d));
  take_fitted_back(m, EVIDENCE_LOCAL, view);
  return SW_OK;
}

static sw_rc fit_part(making *m, evidence_part part) {
  sample_set *set = &m->e.set[part];
  sw_profile *view;
  double *predicted;
  if (set->n == 0) return SW_OK;
  if (sw_cancelled(m->o->cancel)) return SW_FAIL(m->d, SW_E_CANCELLED, SW_NOWHERE, "interrupted while fitting");
  SW_ARENA_NEW(view, m->arena, 1, m->d);
  view_profile_part(m, part, last_level(m, part), view);
  drop_unfit(m, part, view);
  if (set->n == 0) return SW_OK;
  SW_ARENA_NEW(predicted, m->arena, set->n, m->d);
  SW_TRY(part == EVIDENCE_LOCAL ? fit_kernels(m, predicted) : fit_levels(m, part, predicted));
  view_profile_part(m, part, last_level(m, part), view);
  SW_TRY(sw_samples_predict(view, set, predicted, m->d));
  return judge_evidence_part(m, part, predicted);
}

/* --- kernels beside collectives --- */

static const double kTells = 1.01, kMostContention = 100;

/* Kernels take so many times longer while the collective runs, as timelines have it: what is left of them when it ends
 * runs alone. */
static double both_s(const evidence_triple *t, double contention) {
  const double done = t->collective_s / contention;
  return done >= t->kernels_s ? t->collective_s : t->collective_s + t->kernels_s - done;
}

static double contention_of(const evidence_triple *t) {
  const double done = t->kernels_s + t->collective_s - t->both_s; /* of the kernels, when the collective ends */
  return fmin(fmax(done > 0 ? t->collective_s / done : kMostContention, 1), kMostContention);
}

/* The median of what the triples say; kernels that end first say nothing. */
static sw_rc fit_contention(making *m) {
  const evidence_triple *at = m->e.triples.at;
  const int64_t n = (int64_t)m->e.triples.n;
  sw_calibrated_rows r = {.what = "kernels beside collectives"};
  double *said;
  int64_t silent = 0;
  if (!n) return SW_OK;
  SW_ARENA_NEW(said, m->arena, n, m->d);
  for (int64_t i = 0; i < n; i++) {
    const bool tells = at[i].both_s > kTells * at[i].collective_s;
    silent += !tells;
    if (tells && at[i].train) said[m->triples++] = contention_of(&at[i]);
  }
  if (silent)
    sw_text_printf(&m->e.left, "%" PRId64 " rows of kernels beside a collective: they end before it does\n", silent);
  if (!m->triples) return SW_OK;
  sw_errors_sort(said, m->triples);
  m->p->contention = round_to_digits(sw_errors_quantile(said, m->triples, 0.5));
  for (int64_t i = 0; i < n; i++) {
    if (at[i].both_s > kTells * at[i].collective_s)
      add_to(&r, at[i].train, fabs(log(both_s(&at[i], m->p->contention) / at[i].both_s)));
  }
  SW_TRY(keep_rows(m, &r));
  m->triples_error = r.judged ? r.judged_error : r.fitted_error;
  return SW_OK;
}

/* --- training runs --- */

enum { ROUNDS = 3 };

static sw_rc predict_runs(making *m) {
  for (int64_t i = 0; i < m->e.runs.n; i++) {
    sw_run_row *r = &m->e.runs.rows[i];
    if (r->left) continue;
    if (sw_cancelled(m->o->cancel)) return SW_FAIL(m->d, SW_E_CANCELLED, SW_NOWHERE, "interrupted while fitting");
    SW_TRY(sw_run_predict(r, m->p, SW_OVERLAP_COMPILER, 0, m->d));
  }
  return SW_OK;
}

/* Every second run that is predicted is fitted. */
static sw_rc choose_runs(making *m, bool *fitted, int64_t *n) {
  bool any = m->p->level[m->p->n_levels - 1].open, every_other = true;
  *n = 0;
  for (int64_t i = 0; i < m->e.runs.n; i++) {
    sw_run_row *r = &m->e.runs.rows[i];
    r->left = NULL;
    if (!any && r->gpus > sw_profile_devices(m->p))
      r->left = "more devices than the start has";
    else
      SW_TRY(sw_run_predict(r, m->p, SW_OVERLAP_COMPILER, 0, m->d));
    if (r->left) continue;
    fitted[i] = every_other;
    *n += every_other;
    every_other = !every_other;
  }
  return SW_OK;
}

static void left_runs(making *m) {
  sw_runs *runs = &m->e.runs;
  for (int64_t i = 0; i < runs->n; i++) {
    const char *why = runs->rows[i].left;
    int64_t n = 0;
    bool first = why != NULL;
    for (int64_t k = 0; k < runs->n && why; k++) {
      if (!runs->rows[k].left || strcmp(runs->rows[k].left, why) != 0) continue;
      if (k < i) first = false;
      n++;
    }
    if (first) sw_text_printf(&m->e.left, "%" PRId64 " training runs: %s\n", n, why);
  }
}

static void slow_kernel(sw_kernel_price *k, double by) {
  static const sw_kernel_constant kRates[] = {SW_KERNEL_FLOP_FRACTION, SW_KERNEL_MEMORY_FRACTION};
  for (int c = 0; c < 2; c++) k->v[kRates[c]] = fmin(1, k->v[kRates[c]] / by);
  k->v[SW_KERNEL_HEAD] *= by;
}

/* What makes kernels slower than priced becomes part of the profile, which without a price of attention does not say
 * how fast that is. */
static void take_scales(making *m, const sw_run_scales *s) {
  sw_profile now = *m->p;
  now.flop_fraction = fmin(1, m->p->flop_fraction / s->of[0]);
  now.flop_fraction_8bit = fmin(1, m->p->flop_fraction_8bit / s->of[0]);
  now.memory_fraction = fmin(1, m->p->memory_fraction / s->of[2]);
  for (int k = 0; k < SW_PRICED_COUNT; k++)
    if (now.kernel[k].known) slow_kernel(&now.kernel[k], s->of[k > SW_PRICED_PRODUCT_8BIT]);
  take_achieved(m->p, &now);
}

static sw_rc fit_runs(making *m) {
  int64_t n = m->e.runs.n;
  const sw_run_row **fitted;
  bool *chosen;
  if (n == 0) return SW_OK;
  SW_ARENA_NEW_EACH(m->arena, n, m->d, chosen, fitted);
  SW_TRY(choose_runs(m, chosen, &m->steps));
  left_runs(m);
  if (!m->steps) return SW_OK;
  for (int64_t i = 0, k = 0; i < n; i++)
    if (chosen[i]) fitted[k++] = &m->e.runs.rows[i];
  for (int round = 0; round < ROUNDS; round++) {
    SW_TRY(sw_runs_fit_rows(fitted, m->steps, m->arena, &m->scales, m->d));
    take_scales(m, &m->scales);
    SW_TRY(predict_runs(m));
  }
  SW_TRY(sw_runs_fit_rows(fitted, m->steps, m->arena, &m->scales, m->d)); /* of the profile as it is now */
  m->scales.of[0] = m->scales.of[2] = 1;
  if (m->p->kernel[SW_PRICED_ATTENTION].known) m->scales.of[1] = 1;
  sw_calibrated_rows r = {.what = "steps of training runs"};
  for (int64_t i = 0; i < n; i++) {
    const sw_run_row *row = &m->e.runs.rows[i];
    if (!row->left) add_to(&r, chosen[i], fabs(log(sw_run_step_s(&row->parts, &m->scales) / row->measured_s)));
  }
  SW_TRY(keep_rows(m, &r));
  m->steps_error = r.judged ? r.judged_error : r.fitted_error;
  return SW_OK;
}

/* --- where everything is from --- */

enum {
  FROM_ASSUMED,
  FROM_START,
  FROM_SHEET,
  FROM_KERNELS,
  FROM_INSIDE,
  FROM_ACROSS,
  FROM_STEPS,
  FROM_OTHERS,
  FROM_BESIDE,
  FROMS
};
static const char *const kFromIds[FROMS] = {"assumed", "start", "sheet",  "kernels", "inside",
                                            "across",  "steps", "others", "beside"};

/* What is said of contention behind what is said of all else that is achieved. */
static sw_rc add_contention(making *m, const char **text) {
  if (!m->triples) return SW_OK;
  *text = sw_arena_printf(m->arena, m->d,
                          "%s; contention fitted to %" PRId64
                          " times of kernels beside collectives, mean error of the "
                          "others %.1f %%",
                          *text, m->triples, 100 * m->triples_error);
  return *text ? SW_OK : SW_E_RESOURCE;
}

static sw_rc source_text(making *m, int from, const char **out) {
  static const char kAssumed[] = "assumed: of the right order, neither measured nor published";
  static const char *const what[] = {"kernels of one device", "collectives of one node", "collectives over nodes"};
  switch (from) {
    case FROM_ASSUMED:
      *out = kAssumed;
      return SW_OK;
    case FROM_OTHERS:
      *out = "those of a measured collective that moves the same bytes: all_gather, reduce_scatter or all_reduce";
      return SW_OK;
    case FROM_START:
      *out = sw_arena_printf(m->arena, m->d, "as in the profile %s", m->o->start);
      break;
    case FROM_BESIDE:
      *out = m->o->start ? sw_arena_printf(m->arena, m->d, "as in the profile %s", m->o->start) : kAssumed;
      break;
    case FROM_SHEET:
      *out = sw_arena_printf(m->arena, m->d, "data sheet figures of %s in %s", m->sheet, sw_path_base(m->sheet_file));
      break;
    case FROM_STEPS:
      *out = sw_arena_printf(m->arena, m->d,
                             "fitted by `shardwright calibrate --from` to %" PRId64
                             " training steps (attention %.2f times as long as priced); mean error of the others "
                             "%.1f %%",
                             m->steps, m->scales.of[1], 100 * m->steps_error);
      break;
    default: {
      int part = from - FROM_KERNELS;
      *out = sw_arena_printf(m->arena, m->d,
                             "fitted by `shardwright calibrate --from` to %" PRId64
                             " times of %s; mean error of the %" PRId64 " others %.1f %%",
                             m->fitted[part], what[part], m->judged[part], 100 * m->error[part]);
    }
  }
  if (!*out) return SW_E_RESOURCE;
  const bool achieved = from == FROM_STEPS || from == FROM_BESIDE || (from == FROM_KERNELS && !m->steps);
  return achieved ? add_contention(m, out) : SW_OK;
}

/* What a constant class at a level is from; those that a fit has moved are from its rows. */
static int line_from(making *m, int level, int c, int otherwise) {
  bool seen[SW_COST_CLASS_COUNT];
  if (same_cost_line(&m->p->level[level].line[c], &m->start.level[level].line[c])) return otherwise;
  evidence_part part = level <= m->p->node_level && m->fitted[EVIDENCE_INSIDE] ? EVIDENCE_INSIDE : EVIDENCE_ACROSS;
  (void)sw_fit_classes_seen(&m->e.set[part], seen);
  if (!seen[c]) return FROM_OTHERS;
  return part == EVIDENCE_INSIDE ? FROM_INSIDE : FROM_ACROSS;
}

static void set_froms(making *m, int *memory, int *flops, int *achieved, int *level,
                      int line[SW_MAX_LEVELS][SW_COST_CLASS_COUNT]) {
  int rest = m->o->start ? FROM_START : FROM_ASSUMED;
  *memory = *flops = m->sheet ? FROM_SHEET : rest;
  *achieved = m->steps ? FROM_STEPS : m->fitted[EVIDENCE_LOCAL] ? FROM_KERNELS : m->triples ? FROM_BESIDE : rest;
  *level = m->o->start ? FROM_START : FROM_SHEET;
  for (int l = 0; l < m->p->n_levels; l++)
    for (int c = 0; c < SW_COST_CLASS_COUNT; c++) line[l][c] = line_from(m, l, c, rest);
}

static sw_rc say_origins(making *m) {
  int memory, flops, achieved, level, line[SW_MAX_LEVELS][SW_COST_CLASS_COUNT];
  int rest = m->o->start ? FROM_START : FROM_ASSUMED;
  bool used[FROMS] = {[FROM_ASSUMED] = !m->o->start, [FROM_START] = m->o->start != NULL};
  sw_profile_origins *o = &m->out->origins;
  set_froms(m, &memory, &flops, &achieved, &level, line);
  sw_profile_origins_all(o, kFromIds[rest]);
  o->memory = kFromIds[memory];
  o->flops = kFromIds[flops];
  o->achieved = kFromIds[achieved];
  used[memory] = used[flops] = used[achieved] = used[level] = true;
  for (int l = 0; l < m->p->n_levels; l++) {
    o->level[l] = kFromIds[level];
    for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
      o->line[l][c] = kFromIds[line[l][c]];
      used[line[l][c]] = true;
    }
  }
  for (int i = 0; i < FROMS; i++) {
    if (!used[i]) continue;
    o->source[o->n_sources].id = kFromIds[i];
    SW_TRY(source_text(m, i, &o->source[o->n_sources].text));
    o->n_sources++;
  }
  return SW_OK;
}

static const char *source_text_of(const sw_profile_origins *o, const char *id) {
  for (int i = 0; i < o->n_sources; i++)
    if (!strcmp(o->source[i].id, id)) return o->source[i].text;
  return "";
}

static sw_rc say_keys(making *m) {
  const sw_calibrated_key *keys;
  sw_calibrated *out = m->out;
  SW_TRY(sw_calibrate_keys(m->p, m->arena, &keys, &out->n_keys, m->d));
  sw_calibrated_key *own = sw_arena_copy(m->arena, keys, (size_t)out->n_keys, sizeof *keys, m->d);
  if (!own) return SW_E_RESOURCE;
  for (int i = 0; i < out->n_keys; i++) {
    const char *id = *sw_calibrate_key_source(m->p, &out->origins, i);
    own[i].from = source_text_of(&out->origins, id);
    bool said = id != kFromIds[FROM_ASSUMED] && id != kFromIds[FROM_OTHERS];
    own[i].known = said && (id != kFromIds[FROM_START] || !sw_calibrate_key_is_measured(m->p, i));
  }
  out->keys = own;
  return SW_OK;
}

static sw_rc make_calibration(making *m) {
  const sw_calibrate_from_options *o = m->o;
  m->e.library = o->library;
  for (int i = 0; i < o->n_files; i++) SW_TRY(sw_evidence_read(&m->e, o->files[i], o->hardware, m->arena, m->d));
  SW_TRY(start_from_profile(m));
  for (int part = 0; part < EVIDENCE_PARTS; part++) SW_TRY(fit_part(m, (evidence_part)part));
  SW_TRY(fit_contention(m));
  SW_TRY(fit_runs(m));
  SW_TRY(say_origins(m));
  SW_TRY(say_keys(m));
  m->out->profile = m->p;
  m->out->n_rows = (int64_t)m->rows.n;
  if (m->rows.n) {
    m->out->rows = sw_arena_copy(m->arena, m->rows.at, m->rows.n, sizeof *m->rows.at, m->d);
    if (!m->out->rows) return SW_E_RESOURCE;
  }
  m->out->left = sw_arena_strndup(m->arena, sw_text_str(&m->e.left), m->e.left.n, m->d);
  return m->out->left ? sw_profile_verify(m->p, m->d) : SW_E_RESOURCE;
}

sw_rc sw_calibrate_from(const sw_calibrate_from_options *o, sw_arena *arena, sw_calibrated *out, sw_diag *d) {
  making *m;
  *out = (sw_calibrated){.left = ""};
  SW_ARENA_NEW(m, arena, 1, d);
  m->o = o;
  m->out = out;
  m->arena = arena;
  m->d = d;
  SW_ARENA_NEW(m->p, arena, 1, d);
  sw_rc rc = make_calibration(m);
  sw_evidence_free(&m->e);
  sw_array_free(&m->rows);
  return rc;
}

sw_rc sw_calibrate_template(const char *start, const char *name, sw_arena *arena, sw_calibrated *out, sw_diag *d) {
  const sw_profile *from;
  *out = (sw_calibrated){.left = ""};
  SW_TRY(sw_profile_read(start, arena, &from, d));
  sw_profile *p = sw_arena_copy(arena, from, 1, sizeof *from, d);
  if (!p) return SW_E_RESOURCE;
  p->name = name;
  p->n_measured = p->n_run_hardware = 0;
  p->description = "Replace the numbers; `sources` says what each part means and how it is measured.";
  out->profile = p;
  SW_TRY(sw_calibrate_keys(p, arena, &out->keys, &out->n_keys, d));
  for (int i = 0; i < out->n_keys; i++) {
    const sw_calibrated_key *k = &out->keys[i];
    const char *text = sw_arena_printf(arena, d, "%s. To be had from: %s", k->meaning, k->how);
    if (!text) return SW_E_RESOURCE;
    if (i == SW_MAX_PROFILE_SOURCES) return SW_BUG(d, "more parts of a profile than sources");
    out->origins.source[i].id = k->key;
    out->origins.source[i].text = text;
    *sw_calibrate_key_source(p, &out->origins, i) = k->key;
  }
  out->origins.n_sources = out->n_keys;
  return SW_OK;
}
