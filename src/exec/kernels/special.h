/* Special functions of one element, exact to f64 but for a few units in the last place. */
#ifndef EXEC_SPECIAL_H_
#define EXEC_SPECIAL_H_

#include <stdbool.h>

double sw_lgamma(double a);
double sw_digamma(double a);
double sw_erf_inv(double a);
/* Hurwitz' sum of (q+k)^-x over k >= 0; the derivative of digamma of order n; exp(-|a|) times the modified Bessel
 * function of order 1. */
double sw_zeta(double x, double q);
double sw_polygamma(double n, double a);
double sw_bessel_i1e(double a);

#endif
