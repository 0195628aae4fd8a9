/* Constants, then knots on what they leave.
 *
 * The objective is the root mean square, over (source, collective), of the mean |ln(predicted/measured)| of training
 * samples, so that no source is bought at the price of another. It is neither smooth nor linear (all_reduce is clamped,
 * levels overlap), so a plain random search in the logarithms does: propose a step in a few constants at once, keep it
 * when it is better, widen steps that succeed and narrow those that do not; now and then start with wide ones again.
 */
#include "bench/cost_fit.h"

#include <math.h>
#include <string.h>

#include "hw/knots.h"
#include "shardwright/clock.h"

enum { PROPOSALS = 40000, WIDENED = 10000 /* after so many, steps are wide again */ };
static const double kWide = 0.3; /* of a logarithm */
/* Bytes at which there may be knots. */
static const double kKnotBytes[] = {65536, 524288, 2097152, 16777216, 268435456};
enum { KNOT_SIZES = sizeof kKnotBytes / sizeof kKnotBytes[0], KNOT_MEMBERS = 3, MAX_KNOTS = KNOT_SIZES * KNOT_MEMBERS };
/* So much of a sample says at each knot that there is nothing to correct: few samples move it little. */
static const double kStill = 0.3;

static const double kReach = 100; /* a constant moves at most so many times up or down */

void sw_fit_line_values(sw_cost_line *l, double *at[FIT_LINE_VALUES]) {
  double *all[FIT_LINE_VALUES] = {&l->base_s,     &l->peer_s,          &l->ramp_s_per_sqrt_byte,
                                  &l->s_per_byte, &l->pair_s_per_byte, &l->in_network_s_per_byte};
  for (int i = 0; i < FIT_LINE_VALUES; i++) at[i] = all[i];
}

bool sw_fit_lines_equal(sw_cost_line *a, sw_cost_line *b) {
  double *x[FIT_LINE_VALUES], *y[FIT_LINE_VALUES];
  sw_fit_line_values(a, x);
  sw_fit_line_values(b, y);
  for (int i = 0; i < FIT_LINE_VALUES; i++)
    if (*x[i] != *y[i]) return false;
  return true;
}

static void add_fit_constant(fit_constants *c, double *value, double *tied, double max) {
  if (*value > 0 && c->n < MAX_FIT)
    c->at[c->n++] = (fit_constant){value, tied, *value / kReach, fmin(max, *value * kReach)};
}

/* Of the peak, the part that the fastest product of that kernel reached: none is taken to reach more. */
static double fastest_product(const sw_profile *p, const sample_set *s, sw_priced_kernel k) {
  double most = 0;
  for (int64_t i = 0; i < s->n; i++) {
    const sample *x = &s->at[i];
    if (x->train && x->layout < 0 && x->work.kind == SW_WORK_PRODUCT && sw_work_kernel(&x->work) == k)
      most = fmax(most, x->work.flops / (x->measured_s * p->flop_per_s[x->work.dtype]));
  }
  return most > 0 ? fmin(most, 1) : 1;
}

/* Constants of the kernels that samples speak of; are all such samples of known kernels? */
static bool add_kernels(sw_profile *p, const sample_set *s, fit_constants *out) {
  bool seen[SW_PRICED_COUNT] = {false}, all = true;
  for (int64_t i = 0; i < s->n; i++) {
    const sample *x = &s->at[i];
    if (!x->train || x->layout >= 0) continue;
    const sw_priced_kernel k = sw_work_kernel(&x->work);
    all = all && k < SW_PRICED_COUNT && p->kernel[k].known;
    if (k < SW_PRICED_COUNT) seen[k] = true;
  }
  const int before = out->n;
  for (int k = 0; k < SW_PRICED_COUNT; k++) {
    double most[SW_KERNEL_CONSTANT_COUNT];
    for (int c = 0; c < SW_KERNEL_CONSTANT_COUNT; c++) most[c] = HUGE_VAL;
    most[SW_KERNEL_FLOP_FRACTION] = fastest_product(p, s, (sw_priced_kernel)k);
    most[SW_KERNEL_MEMORY_FRACTION] = 1;
    for (int c = 0; seen[k] && p->kernel[k].known && c < SW_KERNEL_CONSTANT_COUNT; c++)
      add_fit_constant(out, &p->kernel[k].v[c], NULL, most[c]);
  }
  out->n_kernels = out->n - before;
  return all;
}

/* Is there a product in 8 bits that no kernel's constants price? Of others no sample could hold the fraction. */
static bool has_roofline_in_8bit(const sw_profile *p, const sample_set *s) {
  for (int64_t i = 0; i < s->n; i++) {
    const sample *x = &s->at[i];
    const sw_priced_kernel k = sw_work_kernel(&x->work);
    const bool priced = k < SW_PRICED_COUNT && p->kernel[k].known;
    if (x->train && x->layout < 0 && !priced && sw_dtype_bytes(x->work.dtype) == 1) return true;
  }
  return false;
}

/* How many different numbers of units of the outer level the training samples span. */
static int outer_spans(const sw_profile *p, const sample_set *s) {
  int64_t seen = 0;
  int n = 0;
  for (int64_t i = 0; i < s->n; i++) {
    if (s->at[i].layout < 0 || !s->at[i].train) continue;
    const int64_t units = sw_sample_layout_units(p, s->layouts[s->at[i].layout], p->n_levels - 1);
    if (units != seen) n++;
    seen = units;
  }
  return n;
}

/* Samples of a single span cannot tell the base from the steps, nor, behind the inner levels that run beside it, the
 * rate of the links: those stay what the profile says. A permute has no inner part. */
static bool told_by_one_span(sw_cost_class c, const double *value, const sw_cost_line *l) {
  return value == &l->base_s || value == &l->ramp_s_per_sqrt_byte || (c == SW_COST_PERMUTE && value == &l->s_per_byte);
}

bool sw_fit_classes_seen(const sample_set *s, bool seen[SW_COST_CLASS_COUNT]) {
  bool products = false;
  memset(seen, 0, SW_COST_CLASS_COUNT * sizeof *seen);
  for (int64_t i = 0; i < s->n; i++) {
    if (!s->at[i].train) continue;
    if (s->at[i].layout < 0)
      products = true;
    else
      seen[sw_coll_cost_class(s->at[i].op)] = true;
  }
  return products;
}

static bool is_one_span(const sw_profile *p, const sample_set *s) { return p->n_levels > 1 && outer_spans(p, s) == 1; }

void sw_fit_constants_of(sw_profile *p, const sample_set *s, fit_constants *out) {
  bool seen[SW_COST_CLASS_COUNT];
  const bool products = sw_fit_classes_seen(s, seen), one_span = is_one_span(p, s);
  out->n = out->n_kernels = 0;
  sw_level *level = &p->level[p->n_levels - 1];
  sw_cost_line *gather = &level->line[SW_COST_ALL_GATHER], *scatter = &level->line[SW_COST_REDUCE_SCATTER];
  bool shared = sw_fit_lines_equal(gather, scatter) && !seen[SW_COST_REDUCE_SCATTER];
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
    double *value[FIT_LINE_VALUES], *tied[FIT_LINE_VALUES];
    if (!seen[c] || (shared && c == SW_COST_REDUCE_SCATTER)) continue;
    sw_fit_line_values(&level->line[c], value);
    sw_fit_line_values(scatter, tied);
    for (int i = 0; i < FIT_LINE_VALUES; i++)
      if (!one_span || told_by_one_span((sw_cost_class)c, value[i], &level->line[c]))
        add_fit_constant(out, value[i], shared && c == SW_COST_ALL_GATHER ? tied[i] : NULL, HUGE_VAL);
  }
  if (p->n_levels > 1) add_fit_constant(out, &level->serial_fraction, NULL, 1);
  if (!products) return;
  if (add_kernels(p, s, out)) return;
  add_fit_constant(out, &p->flop_fraction, NULL, 1);
  if (p->flop_fraction_8bit != p->flop_fraction && has_roofline_in_8bit(p, s))
    add_fit_constant(out, &p->flop_fraction_8bit, NULL, 1);
  add_fit_constant(out, &p->memory_fraction, NULL, 1);
  add_fit_constant(out, &p->launch_s, NULL, HUGE_VAL);
}

/* Root mean square over (source, collective) of the mean |ln(predicted/measured)|. */
static sw_rc objective(const sw_profile *p, const sample_set *s, double *predicted, double *out, sw_diag *d) {
  double sum[MAX_SOURCES][SW_COLL_COUNT] = {0}, weight[MAX_SOURCES][SW_COLL_COUNT] = {0};
  SW_TRY(sw_samples_predict(p, s, predicted, d));
  for (int64_t i = 0; i < s->n; i++) {
    const sample *x = &s->at[i];
    if (!x->train) continue;
    sum[x->source][x->op] += x->weight * fabs(log(predicted[i] / x->measured_s));
    weight[x->source][x->op] += x->weight;
  }
  double squares = 0;
  int n = 0;
  for (int i = 0; i < s->n_sources; i++)
    for (int op = 0; op < SW_COLL_COUNT; op++) {
      if (weight[i][op] <= 0) continue;
      n++;
      squares += pow(sum[i][op] / weight[i][op], 2);
    }
  *out = n ? sqrt(squares / n) : 0;
  return SW_OK;
}

static void set_constant(fit_constant *c, double v) {
  *c->value = fmin(fmax(v, c->min), c->max);
  if (c->tied) *c->tied = *c->value;
}

/* Changes one to three constants by random factors; `old` keeps what they were. */
static void propose(fit_constants *c, double step, sw_rng *rng, double *old) {
  for (int i = 0; i < c->n; i++) old[i] = *c->at[i].value;
  for (int64_t k = 1 + sw_rng_below(rng, 3); k > 0; k--) {
    int64_t i = sw_rng_below(rng, c->n);
    set_constant(&c->at[i], *c->at[i].value * exp(step * (2 * sw_rng_unit(rng) - 1)));
  }
}

/* Of the classes whose knots are to be fitted again. */
static void drop_knots(sw_profile *p, const sample_set *s) {
  bool seen[SW_COST_CLASS_COUNT];
  sw_cost_line *line = p->level[p->n_levels - 1].line;
  (void)sw_fit_classes_seen(s, seen);
  if (is_one_span(p, s)) return;
  if (seen[SW_COST_ALL_GATHER] && line[SW_COST_REDUCE_SCATTER].knots == line[SW_COST_ALL_GATHER].knots)
    line[SW_COST_REDUCE_SCATTER].knots = NULL;
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++)
    if (seen[c]) line[c].knots = NULL;
}

sw_rc sw_fit(sw_profile *p, const sample_set *s, double *scratch_s, sw_diag *d) {
  fit_constants c;
  drop_knots(p, s);
  sw_fit_constants_of(p, s, &c);
  if (c.n == 0) return SW_OK;
  sw_rng rng;
  sw_rng_seed(&rng, 1);
  double best, now, old[MAX_FIT], step = kWide;
  SW_TRY(objective(p, s, scratch_s, &best, d));
  for (int k = 0; k < PROPOSALS; k++) {
    if (k % WIDENED == 0) step = kWide;
    propose(&c, step, &rng, old);
    SW_TRY(objective(p, s, scratch_s, &now, d));
    if (now < best) {
      best = now;
      step = fmin(step * 1.5, 1);
    } else {
      for (int i = 0; i < c.n; i++) set_constant(&c.at[i], old[i]);
      step = fmax(step * 0.985, 0.002);
    }
  }
  return SW_OK;
}

/* --- knots -------------------------------------------------------------------------------------------------------- */

static void add_member_knot(sw_cost_knots *k, double n) {
  const double ln = log(n);
  int i = 0;
  while (i < k->n_members && k->ln_members[i] < ln) i++;
  if (i < k->n_members && k->ln_members[i] == ln) return;
  if (k->n_members == KNOT_MEMBERS) { /* the ends, and one between */
    if (i == 0 || i == KNOT_MEMBERS) k->ln_members[i ? i - 1 : 0] = ln;
    return;
  }
  for (int j = k->n_members++; j > i; j--) k->ln_members[j] = k->ln_members[j - 1];
  k->ln_members[i] = ln;
}

/* Knots of no effect, at the group sizes and between the bytes that training samples have. */
static void place_knots(const sw_profile *p, const sample_set *s, sw_cost_class c, sw_cost_knots *k) {
  double least = HUGE_VAL, most = 0;
  for (int64_t i = 0; i < s->n; i++) {
    const sample *x = &s->at[i];
    if (!x->train || x->layout < 0 || sw_coll_cost_class(x->op) != c) continue;
    const int64_t units = sw_sample_layout_units(p, s->layouts[x->layout], p->n_levels - 1);
    if (units > 1 || p->n_levels == 1) add_member_knot(k, (double)units);
    least = fmin(least, x->bytes);
    most = fmax(most, x->bytes);
  }
  for (int j = 0; j < KNOT_SIZES; j++)
    if (kKnotBytes[j] >= least && kKnotBytes[j] <= most) k->ln_bytes[k->n_sizes++] = log(kKnotBytes[j]);
}

/* Normal equations of the knots' logarithms, by ln(measured / predicted) of the samples. */
typedef struct knot_equations {
  int n;
  double a[MAX_KNOTS][MAX_KNOTS], b[MAX_KNOTS];
} knot_equations;

/* What each knot counts for in the factor of a sample. */
static void knot_weights(sw_cost_knots *k, double position, double ln_bytes, double *weight) {
  for (int i = 0; i < k->n_members; i++)
    for (int j = 0; j < k->n_sizes; j++) {
      k->ln_factor[i][j] = 1;
      weight[i * k->n_sizes + j] = sw_knots_ln_factor(k, position, ln_bytes);
      k->ln_factor[i][j] = 0;
    }
}

static void add_equation(knot_equations *e, const double *weight, double residual, double counts) {
  for (int i = 0; i < e->n; i++) {
    e->b[i] += counts * weight[i] * residual;
    for (int j = 0; j < e->n; j++) e->a[i][j] += counts * weight[i] * weight[j];
  }
}

/* By elimination: what stands on the diagonal is positive. */
static void solve_equations(knot_equations *e) {
  for (int i = 0; i < e->n; i++)
    for (int r = 0; r < e->n; r++) {
      if (r == i) continue;
      const double times = e->a[r][i] / e->a[i][i];
      for (int c = i; c < e->n; c++) e->a[r][c] -= times * e->a[i][c];
      e->b[r] -= times * e->b[i];
    }
  for (int i = 0; i < e->n; i++) e->b[i] /= e->a[i][i];
}

/* Solutions in thousandths, all made smaller until no price falls. */
static void set_knots(const sw_level *level, sw_cost_class c, const knot_equations *e, sw_cost_knots *k) {
  double times = 1;
  do {
    for (int i = 0; i < e->n; i++)
      k->ln_factor[i / k->n_sizes][i % k->n_sizes] = round(1000 * times * fmin(1, fmax(-1, e->b[i]))) / 1000;
    times = times > 0.05 ? times - 0.05 : 0;
  } while (!sw_knots_rise(&level->line[c], c, level->open ? SW_MAX_DEVICES : level->dims[0]));
}

/* The class' knots, which are of no effect yet. `group`: of each layout. */
static void fit_class(const sw_level *level, const sample_set *s, sw_cost_class c, const sw_group *group,
                      const double *predicted, sw_cost_knots *k) {
  knot_equations e = {.n = k->n_members * k->n_sizes};
  double weight[MAX_KNOTS];
  for (int i = 0; i < e.n; i++) e.a[i][i] = kStill;
  for (int64_t i = 0; i < s->n; i++) {
    const sample *x = &s->at[i];
    if (!x->train || x->layout < 0 || sw_coll_cost_class(x->op) != c) continue;
    const sw_curve *line = &group[x->layout].line[c];
    const sw_curve_knots *at = line->n_parts ? &line->knots[line->n_parts - 1] : NULL;
    if (!at || at->at != k) continue;
    knot_weights(k, at->position, at->ln_bytes + log(x->bytes), weight);
    add_equation(&e, weight, log(x->measured_s / predicted[i]), x->weight);
  }
  solve_equations(&e);
  set_knots(level, c, &e, k);
}

/* Knots of no effect for all classes that samples speak of; NULL for others. */
static sw_rc start_knots(sw_profile *p, const sample_set *s, sw_arena *arena, sw_cost_knots **knots, sw_diag *d) {
  bool seen[SW_COST_CLASS_COUNT];
  sw_level *level = &p->level[p->n_levels - 1];
  (void)sw_fit_classes_seen(s, seen);
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
    knots[c] = NULL;
    if (!seen[c]) continue;
    SW_ARENA_NEW(knots[c], arena, 1, d);
    place_knots(p, s, (sw_cost_class)c, knots[c]);
    if (!knots[c]->n_members || !knots[c]->n_sizes) knots[c] = NULL;
    level->line[c].knots = knots[c];
  }
  return SW_OK;
}

sw_rc sw_fit_knots(sw_profile *p, const sample_set *s, sw_arena *arena, double *scratch_s, sw_diag *d) {
  sw_cost_knots *knots[SW_COST_CLASS_COUNT];
  sw_level *level = &p->level[p->n_levels - 1];
  sw_cost_line *gather = &level->line[SW_COST_ALL_GATHER], *scatter = &level->line[SW_COST_REDUCE_SCATTER];
  const bool shared = sw_fit_lines_equal(gather, scatter) && gather->knots == scatter->knots;
  sw_group *group;
  if (level->kind == SW_TOPOLOGY_TORUS || is_one_span(p, s)) return SW_OK;
  SW_ARENA_NEW(group, arena, MAX_LAYOUTS, d);
  SW_TRY(start_knots(p, s, arena, knots, d));
  for (int i = 0; i < s->n_layouts; i++) SW_TRY(sw_sample_group(p, s, i, arena, &group[i], d));
  SW_TRY(sw_samples_predict(p, s, scratch_s, d));
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++)
    if (knots[c]) fit_class(level, s, (sw_cost_class)c, group, scratch_s, knots[c]);
  if (shared && !knots[SW_COST_REDUCE_SCATTER]) scatter->knots = gather->knots;
  return SW_OK;
}
