/* Polynomials in unknown sizes, found from their values: what a plan moves is a sum of products of dims, so values at
 * enough sizes say which one. Exact: numbers are whole or fractions, and the result is tried at further sizes. */
#ifndef REPORT_POLYNOMIAL_H_
#define REPORT_POLYNOMIAL_H_

#include "shardwright/arena.h"
#include "shardwright/text.h"

enum { SW_MAX_UNKNOWNS = 8 };

typedef struct sw_poly_term {
  int64_t num, den; /* den > 0, no common factor */
  int8_t power[SW_MAX_UNKNOWNS];
} sw_poly_term;

typedef struct sw_poly {
  int n_unknowns, n_terms;
  const sw_poly_term *terms; /* of highest degree first; in the arena */
} sw_poly;

/* Values of n_out quantities where unknown i is unit * at[i]; whole numbers below 2^53. */
typedef sw_rc (*sw_poly_values)(void *user, const int64_t *at, double *out, sw_diag *d);

/* Where to look: at multiples of the unit near around[i] for unknown i, no two alike. */
typedef struct sw_poly_grid {
  int n_unknowns;
  int64_t unit;
  const int64_t *around;
} sw_poly_grid;

/* The polynomials that have the values. *fits: they have them at sizes that they were not made from, too. */
SW_API SW_CHECKED sw_rc sw_poly_fit(const sw_poly_grid *g, int n_out, sw_poly_values values, void *user,
                                    sw_arena *arena, sw_poly *out, bool *fits, sw_diag *d);
/* "3/2*N*M + 128*N + 64"; "0" without terms. */
SW_API void sw_poly_print(const sw_poly *p, const char *const *names, sw_text *out);
SW_API double sw_poly_at(const sw_poly *p, const double *sizes);

#endif
