/* The objective is the root mean square, over (source, collective), of the mean |ln(predicted/measured)| of training
 * samples, so that no source is bought at the price of another. It is neither smooth nor linear (all_reduce is clamped,
 * levels overlap), so a plain random search in the logarithms does: propose a step in a few constants at once, keep it
 * when it is better, widen steps that succeed and narrow those that do not.
 */
#include "report/cost_fit.h"

#include <math.h>

#include "hw/group.h"
#include "shardwright/clock.h"

enum { PROPOSALS = 40000 };
static const double kReach = 100; /* a constant moves at most so many times up or down */

enum { LINE_VALUES = 6 };

static void line_values(sw_cost_line *l, double *at[LINE_VALUES]) {
  double *all[LINE_VALUES] = {&l->base_s,     &l->peer_s,          &l->ramp_s_per_sqrt_byte,
                              &l->s_per_byte, &l->pair_s_per_byte, &l->in_network_s_per_byte};
  for (int i = 0; i < LINE_VALUES; i++) at[i] = all[i];
}

static bool lines_equal(sw_cost_line *a, sw_cost_line *b) {
  double *x[LINE_VALUES], *y[LINE_VALUES];
  line_values(a, x);
  line_values(b, y);
  for (int i = 0; i < LINE_VALUES; i++)
    if (*x[i] != *y[i]) return false;
  return true;
}

static void add(fit_constants *c, double *value, double *tied, double max) {
  if (*value > 0 && c->n < MAX_FIT)
    c->at[c->n++] = (fit_constant){value, tied, *value / kReach, fmin(max, *value * kReach)};
}

static int priced_kernel(const sample *s) {
  if (s->work.kind == SW_WORK_PRODUCT)
    return sw_dtype_bytes(s->work.dtype) == 1 ? SW_PRICED_PRODUCT_8BIT : SW_PRICED_PRODUCT;
  if (s->work.kind == SW_WORK_ATTENTION_GRAD) return SW_PRICED_ATTENTION_GRAD;
  return s->work.m > 1 ? SW_PRICED_ATTENTION : SW_PRICED_DECODE;
}

/* Constants of the kernels that samples speak of; are all such samples of known kernels? */
static bool add_kernels(sw_profile *p, const sample_set *s, fit_constants *out) {
  const uint32_t fractions = SW_KERNEL_BIT(FLOP_FRACTION) | SW_KERNEL_BIT(MEMORY_FRACTION);
  bool seen[SW_PRICED_COUNT] = {false}, all = true;
  for (int64_t i = 0; i < s->n; i++) {
    const sample *x = &s->at[i];
    if (!x->train || x->layout >= 0) continue;
    const int k = x->work.kind == SW_WORK_ANY ? SW_PRICED_COUNT : priced_kernel(x);
    all = all && k < SW_PRICED_COUNT && p->kernel[k].known;
    if (k < SW_PRICED_COUNT) seen[k] = true;
  }
  for (int k = 0; k < SW_PRICED_COUNT; k++)
    for (int c = 0; seen[k] && p->kernel[k].known && c < SW_KERNEL_CONSTANT_COUNT; c++)
      add(out, &p->kernel[k].v[c], NULL, fractions >> c & 1 ? 1 : HUGE_VAL);
  return all;
}

/* How many different numbers of units of the outer level the training samples span. */
static int outer_spans(const sw_profile *p, const sample_set *s) {
  int64_t seen = 0;
  int n = 0;
  for (int64_t i = 0; i < s->n; i++) {
    if (s->at[i].layout < 0 || !s->at[i].train) continue;
    int64_t nodes = p->n_levels > 1 ? s->layouts[s->at[i].layout].nodes : s->layouts[s->at[i].layout].ranks;
    if (nodes != seen) n++;
    seen = nodes;
  }
  return n;
}

/* Samples of a single span cannot tell the base from the steps, nor, behind the inner levels that run beside it, the
 * rate of the links: those stay what the profile says. A permute has no inner part. */
static bool told_by_one_span(sw_cost_class c, const double *value, const sw_cost_line *l) {
  return value == &l->base_s || value == &l->ramp_s_per_sqrt_byte || (c == SW_COST_PERMUTE && value == &l->s_per_byte);
}

void sw_fit_constants_of(sw_profile *p, const sample_set *s, fit_constants *out) {
  bool seen[SW_COST_CLASS_COUNT] = {false}, products = false;
  for (int64_t i = 0; i < s->n; i++) {
    if (!s->at[i].train) continue;
    if (s->at[i].layout < 0)
      products = true;
    else
      seen[sw_coll_cost_class(s->at[i].op)] = true;
  }
  out->n = 0;
  bool one_span = p->n_levels > 1 && outer_spans(p, s) == 1;
  sw_level *level = &p->level[p->n_levels - 1];
  sw_cost_line *gather = &level->line[SW_COST_ALL_GATHER], *scatter = &level->line[SW_COST_REDUCE_SCATTER];
  bool shared = lines_equal(gather, scatter);
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
    double *value[LINE_VALUES], *tied[LINE_VALUES];
    if (!seen[c] || (shared && c == SW_COST_REDUCE_SCATTER)) continue;
    line_values(&level->line[c], value);
    line_values(scatter, tied);
    for (int i = 0; i < LINE_VALUES; i++)
      if (!one_span || told_by_one_span((sw_cost_class)c, value[i], &level->line[c]))
        add(out, value[i], shared && c == SW_COST_ALL_GATHER ? tied[i] : NULL, HUGE_VAL);
  }
  if (p->n_levels > 1) add(out, &level->serial_fraction, NULL, 1);
  if (!products) return;
  if (add_kernels(p, s, out)) return;
  add(out, &p->flop_fraction, NULL, 1);
  if (p->flop_fraction_8bit != p->flop_fraction) add(out, &p->flop_fraction_8bit, NULL, 1);
  add(out, &p->memory_fraction, NULL, 1);
  add(out, &p->launch_s, NULL, HUGE_VAL);
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

static void set(fit_constant *c, double v) {
  *c->value = fmin(fmax(v, c->min), c->max);
  if (c->tied) *c->tied = *c->value;
}

/* Changes one to three constants by random factors; `old` keeps what they were. */
static void propose(fit_constants *c, double step, sw_rng *rng, double *old) {
  for (int i = 0; i < c->n; i++) old[i] = *c->at[i].value;
  for (int64_t k = 1 + sw_rng_below(rng, 3); k > 0; k--) {
    int64_t i = sw_rng_below(rng, c->n);
    set(&c->at[i], *c->at[i].value * exp(step * (2 * sw_rng_unit(rng) - 1)));
  }
}

sw_rc sw_fit(sw_profile *p, const sample_set *s, double *scratch_s, sw_diag *d) {
  fit_constants c;
  sw_fit_constants_of(p, s, &c);
  if (c.n == 0) return SW_OK;
  sw_rng rng;
  sw_rng_seed(&rng, 1);
  double best, now, old[MAX_FIT], step = 0.3;
  SW_TRY(objective(p, s, scratch_s, &best, d));
  for (int k = 0; k < PROPOSALS; k++) {
    propose(&c, step, &rng, old);
    SW_TRY(objective(p, s, scratch_s, &now, d));
    if (now < best) {
      best = now;
      step = fmin(step * 1.5, 1);
    } else {
      for (int i = 0; i < c.n; i++) set(&c.at[i], old[i]);
      step = fmax(step * 0.985, 0.002);
    }
  }
  return SW_OK;
}
