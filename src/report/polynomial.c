/* Differences along a grid: of a polynomial of degree k in one unknown the (k+1)-th differences are 0, and the others
 * are its coefficients over the binomials C(t-b, 0), C(t-b, 1), ...; these are then multiplied out.
 *
 *   f(t) = 3t + 5 around b = 10:  35 38 41    differences 35, 3, 0    35 + 3 (t - 10)
 */
#include "report/polynomial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEGREE = 6, MOST_POINTS = 4096 };

__extension__ typedef __int128 wide;

typedef struct fit {
  int n, n_out, degree[SW_MAX_UNKNOWNS];
  int64_t unit;
  const int64_t *around;
  sw_poly_values values;
  void *user;
  sw_arena *arena;
} fit;

/* Values at around + steps, as whole numbers. */
static sw_rc evaluate_at_steps(const fit *f, const int *steps, int64_t *out, sw_diag *d) {
  int64_t at[SW_MAX_UNKNOWNS];
  double *values;
  SW_ARENA_NEW(values, f->arena, f->n_out, d);
  for (int i = 0; i < f->n; i++) at[i] = f->around[i] + steps[i];
  SW_TRY(f->values(f->user, at, values, d));
  for (int k = 0; k < f->n_out; k++) out[k] = llround(values[k]);
  return SW_OK;
}

/* Differences of order `order` at the first two points. */
static bool vanish(const int64_t *line, int order) {
  for (int first = 0; first < 2; first++) {
    wide sum = 0, binomial = 1;
    for (int j = 0; j <= order; j++) {
      sum += ((order - j) % 2 ? -binomial : binomial) * line[first + j];
      binomial = binomial * (order - j) / (j + 1);
    }
    if (sum != 0) return false;
  }
  return true;
}

/* The degree in one unknown, of all quantities; false: none up to the most. */
static sw_rc find_degree(fit *f, int unknown, bool *found, sw_diag *d) {
  int64_t line[SW_MAX_UNKNOWNS][MOST_DEGREE + 3], values[SW_MAX_UNKNOWNS];
  int n = 0;
  *found = false;
  for (int degree = 0; degree <= MOST_DEGREE && !*found; degree++) {
    for (; n < degree + 3; n++) {
      int steps[SW_MAX_UNKNOWNS] = {0};
      steps[unknown] = n;
      SW_TRY(evaluate_at_steps(f, steps, values, d));
      for (int k = 0; k < f->n_out; k++) line[k][n] = values[k];
    }
    *found = true;
    for (int k = 0; k < f->n_out; k++) *found = *found && vanish(line[k], degree + 1);
    f->degree[unknown] = degree;
  }
  return SW_OK;
}

static int points_of(const fit *f) {
  int n = 1;
  for (int i = 0; i < f->n && n <= MOST_POINTS; i++) n *= f->degree[i] + 1;
  return n;
}

static void steps_of_point(const fit *f, int point, int *steps) {
  for (int i = f->n - 1; i >= 0; i--) {
    steps[i] = point % (f->degree[i] + 1);
    point /= f->degree[i] + 1;
  }
}

static int stride_of_unknown(const fit *f, int unknown) {
  int stride = 1;
  for (int i = f->n - 1; i > unknown; i--) stride *= f->degree[i] + 1;
  return stride;
}

/* Along an unknown, values become differences: g[k] the k-th one. */
static void difference(const fit *f, int unknown, wide *grid, int n) {
  const int stride = stride_of_unknown(f, unknown), size = f->degree[unknown] + 1;
  for (int p = 0; p < n; p++) {
    if (p / stride % size != 0) continue;
    for (int order = 1; order < size; order++) {
      for (int j = size - 1; j >= order; j--) grid[p + j * stride] -= grid[p + (j - 1) * stride];
    }
  }
}

static int64_t factorial(int n) { return n <= 1 ? 1 : n * factorial(n - 1); }

/* Along an unknown, coefficients over binomials become those over powers, times the factorial of the degree. */
static void multiply_out(const fit *f, int unknown, wide *grid, int n) {
  const int stride = stride_of_unknown(f, unknown), size = f->degree[unknown] + 1;
  const int64_t all = factorial(size - 1);
  for (int p = 0; p < n; p++) {
    if (p / stride % size != 0) continue;
    wide power[MOST_DEGREE + 1] = {0}, product[MOST_DEGREE + 2] = {1}; /* (t-b)(t-b-1)... */
    for (int k = 0; k < size; k++) {
      const wide c = grid[p + k * stride] * (all / factorial(k));
      const wide next = -(wide)(f->around[unknown] + k);
      for (int j = 0; j <= k; j++) power[j] += c * product[j];
      for (int j = k + 1; j >= 0; j--) product[j] = product[j] * next + (j ? product[j - 1] : 0);
    }
    for (int k = 0; k < size; k++) grid[p + k * stride] = power[k];
  }
}

static wide common_factor(wide a, wide b) {
  a = a < 0 ? -a : a;
  while (b) {
    const wide rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static int degree_of(const sw_poly_term *t) {
  int sum = 0;
  for (int i = 0; i < SW_MAX_UNKNOWNS; i++) sum += t->power[i];
  return sum;
}

static int compare_terms(const void *a, const void *b) {
  const sw_poly_term *x = a, *y = b;
  if (degree_of(x) != degree_of(y)) return degree_of(y) - degree_of(x);
  return memcmp(y->power, x->power, sizeof x->power);
}

/* In sizes, not in multiples of the unit. */
static sw_rc take_terms(const fit *f, const wide *grid, int n, sw_poly *out, sw_diag *d) {
  sw_poly_term *terms;
  wide all = 1;
  SW_ARENA_NEW(terms, f->arena, n, d);
  *out = (sw_poly){.n_unknowns = f->n, .terms = terms};
  for (int i = 0; i < f->n; i++) all *= factorial(f->degree[i]);
  for (int p = 0; p < n; p++) {
    int steps[SW_MAX_UNKNOWNS] = {0};
    sw_poly_term *t = &terms[out->n_terms];
    wide den = all;
    if (grid[p] == 0) continue;
    steps_of_point(f, p, steps);
    for (int i = 0; i < f->n; i++) {
      t->power[i] = (int8_t)steps[i];
      for (int k = 0; k < steps[i]; k++) den *= f->unit;
    }
    const wide factor = common_factor(grid[p], den);
    t->num = (int64_t)(grid[p] / factor);
    t->den = (int64_t)(den / factor);
    out->n_terms++;
  }
  if (out->n_terms) qsort(terms, (size_t)out->n_terms, sizeof *terms, compare_terms);
  return SW_OK;
}

static sw_rc solve_polynomial(const fit *f, sw_poly *out, sw_diag *d) {
  const int n = points_of(f);
  int64_t *values;
  wide *grid;
  SW_ARENA_NEW(values, f->arena, n * f->n_out, d);
  SW_ARENA_NEW(grid, f->arena, n, d);
  for (int p = 0; p < n; p++) {
    int steps[SW_MAX_UNKNOWNS];
    steps_of_point(f, p, steps);
    SW_TRY(evaluate_at_steps(f, steps, values + (ptrdiff_t)p * f->n_out, d));
  }
  for (int k = 0; k < f->n_out; k++) {
    for (int p = 0; p < n; p++) grid[p] = values[p * f->n_out + k];
    for (int i = 0; i < f->n; i++) difference(f, i, grid, n);
    for (int i = 0; i < f->n; i++) multiply_out(f, i, grid, n);
    SW_TRY(take_terms(f, grid, n, &out[k], d));
  }
  return SW_OK;
}

/* At sizes far from those that it was made from. */
static sw_rc try_elsewhere(const fit *f, const sw_poly *p, bool *fits, sw_diag *d) {
  int64_t values[SW_MAX_UNKNOWNS];
  *fits = true;
  for (int round = 0; round < 2; round++) {
    int steps[SW_MAX_UNKNOWNS];
    double sizes[SW_MAX_UNKNOWNS];
    for (int i = 0; i < f->n; i++) {
      steps[i] = 17 + 12 * round + 5 * i;
      sizes[i] = (double)(f->unit * (f->around[i] + steps[i]));
    }
    SW_TRY(evaluate_at_steps(f, steps, values, d));
    for (int k = 0; k < f->n_out; k++) {
      const double at = sw_poly_at(&p[k], sizes), is = (double)values[k];
      *fits = *fits && fabs(at - is) <= 1e-9 * fmax(fabs(is), 1);
    }
  }
  return SW_OK;
}

sw_rc sw_poly_fit(const sw_poly_grid *g, int n_out, sw_poly_values values, void *user, sw_arena *arena, sw_poly *out,
                  bool *fits, sw_diag *d) {
  const int n_unknowns = g->n_unknowns;
  fit f = {n_unknowns, n_out, {0}, g->unit, g->around, values, user, arena};
  *fits = false;
  if (n_unknowns > SW_MAX_UNKNOWNS || n_out > SW_MAX_UNKNOWNS) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%d sizes are not known; expected at most %d to be left open", n_unknowns,
                         SW_MAX_UNKNOWNS);
  }
  for (int i = 0; i < n_unknowns; i++) {
    bool found;
    SW_TRY(find_degree(&f, i, &found, d));
    if (!found) return SW_OK;
  }
  if (points_of(&f) > MOST_POINTS) return SW_OK;
  SW_TRY(solve_polynomial(&f, out, d));
  return try_elsewhere(&f, out, fits, d);
}

double sw_poly_at(const sw_poly *p, const double *sizes) {
  double sum = 0;
  for (int k = 0; k < p->n_terms; k++) {
    double product = (double)p->terms[k].num / (double)p->terms[k].den;
    for (int i = 0; i < p->n_unknowns; i++) product *= pow(sizes[i], p->terms[k].power[i]);
    sum += product;
  }
  return sum;
}

static void print_term(const sw_poly *p, const sw_poly_term *t, const char *const *names, sw_text *out) {
  const long long num = (long long)(t->num < 0 ? -t->num : t->num);
  bool any = num != 1 || t->den != 1 || degree_of(t) == 0;
  if (any) sw_text_printf(out, "%lld", num);
  if (t->den != 1) sw_text_printf(out, "/%lld", (long long)t->den);
  for (int i = 0; i < p->n_unknowns; i++) {
    for (int k = 0; k < t->power[i]; k++) {
      sw_text_printf(out, "%s%s", any ? "*" : "", names[i]);
      any = true;
    }
  }
}

void sw_poly_print(const sw_poly *p, const char *const *names, sw_text *out) {
  if (!p->n_terms) sw_text_puts(out, "0");
  for (int k = 0; k < p->n_terms; k++) {
    const bool minus = p->terms[k].num < 0;
    sw_text_puts(out, k ? minus ? " - " : " + " : minus ? "-" : "");
    print_term(p, &p->terms[k], names, out);
  }
}
