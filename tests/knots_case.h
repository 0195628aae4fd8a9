/* Random knots, and what they say, summed over all of them: each counts by how near it is in both logarithms. */
#ifndef TESTS_KNOTS_CASE_H_
#define TESTS_KNOTS_CASE_H_

#include <math.h>
#include <string.h>

#include "random_sharding.h"

#include "hw/knots.h"

/* 1 at a place of the grid, 0 at its neighbours and beyond them. */
static inline double nearness(const double *at, int n, int i, double x) {
  const double in = fmin(fmax(x, at[0]), at[n - 1]);
  if (in < at[i]) return i == 0 ? 1 : fmax(0, (in - at[i - 1]) / (at[i] - at[i - 1]));
  return i == n - 1 ? 1 : fmax(0, (at[i + 1] - in) / (at[i + 1] - at[i]));
}

static inline double knot_factor(const sw_cost_knots *k, double members, double bytes) {
  double sum = 0;
  for (int i = 0; k && i < k->n_members; i++)
    for (int j = 0; j < k->n_sizes; j++)
      sum += nearness(k->ln_members, k->n_members, i, log(members)) * nearness(k->ln_bytes, k->n_sizes, j, log(bytes)) *
             k->ln_factor[i][j];
  return exp(sum);
}

static inline void random_knots(rng *r, sw_cost_knots *k) {
  *k = (sw_cost_knots){.n_members = (int)(1 + rng_below(r, SW_MAX_KNOT_MEMBERS)),
                       .n_sizes = (int)(1 + rng_below(r, SW_MAX_KNOT_SIZES))};
  double members = 2, bytes = 1;
  for (int i = 0; i < k->n_members; i++, members += (double)(1 + rng_below(r, 3))) k->ln_members[i] = log(members);
  for (int j = 0; j < k->n_sizes; j++) {
    bytes *= exp((double)(1 + rng_below(r, 400)) / 100);
    k->ln_bytes[j] = log(bytes);
  }
  for (int i = 0; i < k->n_members; i++)
    for (int j = 0; j < k->n_sizes; j++) k->ln_factor[i][j] = (double)(rng_below(r, 1601) - 800) / 1000;
}

/* On most classes of levels that may have them; smaller until no price falls. `room`: for all. */
static inline void add_random_knots(rng *r, sw_profile *p, sw_cost_knots room[SW_MAX_LEVELS][SW_COST_CLASS_COUNT]) {
  for (int l = 0; l < p->n_levels; l++)
    for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
      sw_cost_knots *k = &room[l][c];
      sw_cost_line *line = &p->level[l].line[c];
      if (p->level[l].kind == SW_TOPOLOGY_TORUS || rng_below(r, 4) == 0) continue;
      random_knots(r, k);
      line->knots = k;
      for (int tries = 0; !sw_knots_rise(line, (sw_cost_class)c, SW_MAX_DEVICES); tries++) {
        for (int i = 0; i < k->n_members; i++)
          for (int j = 0; j < k->n_sizes; j++) k->ln_factor[i][j] *= tries < 30 ? 0.8 : 0;
      }
    }
}

#endif
