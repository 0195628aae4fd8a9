/* Knots over the formula of a class: what measured times are apart from it, by members and bytes.
 *
 * Between knots the logarithm of the factor is linear in the logarithms of both, beyond them it stays what it is at the
 * nearest. A time is then, by the logarithm of bytes, a convex curve (the formula's) plus a straight line on each
 * segment: it falls nowhere when it does not fall where segments begin.
 */
#include "hw/knots.h"

#include <math.h>

/* Where a number of members lies among those of the knots. */
static double knots_position(const sw_cost_knots *k, double members) {
  const double x = log(members);
  int i = 0;
  if (x <= k->ln_members[0]) return 0;
  while (i + 1 < k->n_members && x >= k->ln_members[i + 1]) i++;
  if (i + 1 == k->n_members) return i;
  return i + (x - k->ln_members[i]) / (k->ln_members[i + 1] - k->ln_members[i]);
}

static double between(const sw_cost_knots *k, double position, int size) {
  const int i = (int)position;
  const double part = position - i, here = k->ln_factor[i][size];
  return part > 0 ? here + part * (k->ln_factor[i + 1][size] - here) : here;
}

double sw_knots_ln_factor(const sw_cost_knots *k, double position, double ln_bytes) {
  int j = 0;
  if (!(ln_bytes > k->ln_bytes[0])) return between(k, position, 0);
  while (j + 1 < k->n_sizes && ln_bytes >= k->ln_bytes[j + 1]) j++;
  const double here = between(k, position, j);
  if (j + 1 == k->n_sizes) return here;
  const double part = (ln_bytes - k->ln_bytes[j]) / (k->ln_bytes[j + 1] - k->ln_bytes[j]);
  return here + part * (between(k, position, j + 1) - here);
}

double sw_knots_least_factor(const sw_cost_knots *k) {
  double least = HUGE_VAL;
  for (int i = 0; k && i < k->n_members; i++)
    for (int j = 0; j < k->n_sizes; j++) least = fmin(least, k->ln_factor[i][j]);
  return k ? exp(least) : 1;
}

static double greatest_factor(const sw_cost_knots *k) {
  double greatest = -HUGE_VAL;
  for (int i = 0; i < k->n_members; i++)
    for (int j = 0; j < k->n_sizes; j++) greatest = fmax(greatest, k->ln_factor[i][j]);
  return exp(greatest);
}

/* Per cent that the formula grows by when bytes grow by one, where each segment begins: no less than the knots fall. */
static bool segments_rise(const sw_cost_line *l, double position, double latency_s, double slope) {
  const sw_cost_knots *k = l->knots;
  for (int j = 0; j + 1 < k->n_sizes; j++) {
    const double bytes = exp(k->ln_bytes[j]), ramp = l->ramp_s_per_sqrt_byte * sqrt(bytes), work = slope * bytes,
                 all = latency_s + ramp + work, grows = all > 0 ? (ramp / 2 + work) / all : 0,
                 bends =
                     (between(k, position, j + 1) - between(k, position, j)) / (k->ln_bytes[j + 1] - k->ln_bytes[j]);
    if (grows + bends < -1e-12) return false;
  }
  return true;
}

static bool rises_at(const sw_cost_line *l, sw_cost_class c, int64_t n) {
  const double position = knots_position(l->knots, (double)n),
               latency_s = l->base_s + l->peer_s * (c == SW_COST_PERMUTE ? 1 : (double)(n - 1));
  if (!segments_rise(l, position, latency_s, l->s_per_byte + l->pair_s_per_byte / (double)(n - 1))) return false;
  return !l->in_network_min || n < l->in_network_min || segments_rise(l, position, latency_s, l->in_network_s_per_byte);
}

bool sw_knots_rise(const sw_cost_line *l, sw_cost_class c, int64_t max_members) {
  if (!l->knots) return true;
  const int64_t last = llround(exp(l->knots->ln_members[l->knots->n_members - 1]));
  for (int64_t n = 2; n <= last && n <= max_members; n++)
    if (!rises_at(l, c, n)) return false;
  return max_members < 2 || rises_at(l, c, max_members);
}

void sw_curve_add_knots(sw_curve *c, int i, const sw_cost_knots *k, double members, double busy, double latency_s) {
  sw_curve_knots *out = &c->knots[i];
  if (!k) {
    c->latency_s += latency_s;
    return;
  }
  c->has_knots = true;
  *out = (sw_curve_knots){k, log(busy), knots_position(k, members), latency_s, 0};
  out->first_s = latency_s * exp(between(k, out->position, 0));
  c->latency_s += out->first_s;
}

sw_curve sw_curve_above_knots(const sw_curve *c) {
  sw_curve above = *c;
  for (int i = 0; c->has_knots && i < c->n_parts; i++) {
    const sw_curve_knots *k = &c->knots[i];
    const double times = k->at ? greatest_factor(k->at) : 1;
    above.latency_s += k->latency_s * times - k->first_s;
    above.ramp[i] *= times;
    above.slope[i] *= times;
    above.knots[i] = (sw_curve_knots){0};
  }
  above.has_knots = false;
  return above;
}

static double part_s(const sw_curve *c, int i, double size, double root, double ln_size) {
  const sw_curve_knots *k = &c->knots[i];
  const double work = c->ramp[i] * root + c->slope[i] * size;
  if (!k->at) return work;
  return fmax(0,
              (k->latency_s + work) * exp(sw_knots_ln_factor(k->at, k->position, ln_size + k->ln_bytes)) - k->first_s);
}

double sw_curve_with_knots_s(const sw_curve *c, double size, double root) {
  const double ln_size = log(size);
  double work = part_s(c, 0, size, root, ln_size);
  for (int i = 1; i < c->n_parts; i++) {
    const double outer = part_s(c, i, size, root, ln_size);
    work = work > outer ? work + c->serial[i] * outer : outer + c->serial[i] * work;
  }
  return c->latency_s + work;
}
