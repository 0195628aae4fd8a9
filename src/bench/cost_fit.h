/* Fits a profile's constants to its training samples. */
#ifndef BENCH_COST_FIT_H_
#define BENCH_COST_FIT_H_

#include "bench/measured.h"

enum { MAX_FIT = 64 };

/* A constant that may move, with its tied when two classes share their constants (NULL: none). */
typedef struct fit_constant {
  double *value, *tied;
  double min, max; /* fractions end at 1 */
} fit_constant;

typedef struct fit_constants {
  int n;
  int n_kernels; /* of these, of kernels that are priced by shape */
  fit_constant at[MAX_FIT];
} fit_constants;

/* The constants of a class: three in seconds, then three in seconds per byte. Pointers into the line. */
enum { FIT_LINE_VALUES = 6 };
void sw_fit_line_values(sw_cost_line *l, double *at[FIT_LINE_VALUES]);
/* Are these equal? Knots do not count. */
bool sw_fit_lines_equal(sw_cost_line *a, sw_cost_line *b);

/* The classes that training samples speak of; whether there are products. */
bool sw_fit_classes_seen(const sample_set *s, bool seen[SW_COST_CLASS_COUNT]);
/* The constants of `p` that are not zero and that training samples speak of: those of the outermost level (inner levels
 * are taken over from another profile's fit), and of local ops when there are matrix products. Pointers into `p`. */
void sw_fit_constants_of(sw_profile *p, const sample_set *s, fit_constants *out);

/* Move them. Deterministic. `scratch_s` has room for s->n numbers. Knots that sw_fit_knots would make are dropped. */
SW_CHECKED sw_rc sw_fit(sw_profile *p, const sample_set *s, double *scratch_s, sw_diag *d);

/* Knots over the fitted formulas of the outermost level, in the arena, by the group sizes and bytes of the training
 * samples; prices rise with bytes. None on a torus, nor where samples span a single number of units. Deterministic. */
SW_CHECKED sw_rc sw_fit_knots(sw_profile *p, const sample_set *s, sw_arena *arena, double *scratch_s, sw_diag *d);

#endif
