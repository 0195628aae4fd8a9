/* Special functions that the C library lacks, or has with a global result (special.h). Sums are in long double. */
#include "exec/kernels/special.h"

#include <math.h>

/* lgamma's sign would be a global. */
double sw_lgamma(double a) {
  int sign;
  return isinf(a) ? INFINITY : lgamma_r(a, &sign);
}

/* Series of psi for large x; smaller ones by psi(x) = psi(x+1) - 1/x, far below 0 by reflection. */
double sw_digamma(double a) {
  if (a == 0 || (a < 0 && a == floor(a))) return a == 0 ? copysign(INFINITY, -a) : NAN;
  if (isinf(a)) return a > 0 ? a : NAN;
  long double x = a, rest = 0;
  if (a < -1000) {
    rest = -M_PI / tan(M_PI * (a - floor(a)));
    x = 1 - x;
  }
  for (; x < 30; x++) rest -= 1 / x;
  long double q = 1 / (x * x);
  long double series = q * (1.0L / 12 - q * (1.0L / 120 - q * (1.0L / 252 - q * (1.0L / 240 - q * (1.0L / 132)))));
  return (double)(rest + logl(x) - 0.5L / x - series);
}

/* A rough start (Winitzki), then Newton's steps on erf, or on the logarithm of erfc where erf is nearly flat. */
double sw_erf_inv(double a) {
  double b = fabs(a);
  if (!(b < 1)) return b == 1 ? copysign(INFINITY, a) : NAN;
  if (b < 1e-8) return a * 0.88622692545275801365;
  double l = log1p(-b * b), t = 2 / (M_PI * 0.147) + l / 2, x = sqrt(sqrt(t * t - l / 0.147) - t);
  for (int i = 0; i < 4; i++) {
    double slope = 1.12837916709551257390 * exp(-x * x);
    if (b < 0.5) x -= (erf(x) - b) / slope;
    if (b >= 0.5) x += log(erfc(x) / (1 - b)) * erfc(x) / slope;
  }
  return copysign(x, a);
}

/* The sum of (q+k)^-x for x > 1: terms up to some positive one as they are, the rest by Euler and Maclaurin's
 * formula. */
static long double sum_from(long double x, long double q) {
  /* (2k)! / B(2k) of the formula's terms */
  static const long double kTerms[] = {12.0L,
                                       -720.0L,
                                       30240.0L,
                                       -1209600.0L,
                                       47900160.0L,
                                       -1307674368000.0L / 691,
                                       74724249600.0L,
                                       -10670622842880000.0L / 3617,
                                       5109094217170944000.0L / 43867,
                                       -802857662698291200000.0L / 174611};
  long double sum = 0;
  for (int k = 0; k < 20 || q < 20; k++, q++) sum += powl(q, -x);
  long double power = powl(q, -x), factor = x;
  sum += q * power / (x - 1) + power / 2;
  for (int k = 0; k < (int)(sizeof kTerms / sizeof *kTerms) && power > 0; k++) {
    power /= q;
    sum += factor * power / kTerms[k];
    factor *= (x + 2 * k + 1) * (x + 2 * k + 2);
    power /= q;
  }
  return sum;
}

/* Far below 0 the terms are those of two sums from above, mirrored: of -2.3, (-2.3)^-x + (-1.3)^-x + (-0.3)^-x and then
 * 0.7 and on. At the whole numbers there is a pole, and between them only whole x give real numbers. */
static long double zeta(double x, double q) {
  if (isnan(x) || isnan(q) || x < 1) return NAN;
  if (x == 1) return INFINITY;
  bool whole = x == floor(x), odd = fmod(x, 2) != 0;
  if (q <= 0 && q == floor(q)) return whole && !odd ? INFINITY : NAN;
  if (q <= 0 && !whole) return NAN;
  if (isinf(x)) return q > 1 ? 0 : q == 1 ? 1 : INFINITY;
  if (isinf(q)) return 0;
  if (q > -1000) return sum_from(x, q);
  long double up = (long double)q - floorl(q);
  long double down = sum_from(x, 1 - up) - sum_from(x, 1 - (long double)q);
  return sum_from(x, up) + (odd ? -down : down);
}

double sw_zeta(double x, double q) { return (double)zeta(x, q); }

/* Beyond order 1700 n! does not fit: not a number. */
double sw_polygamma(double n, double a) {
  if (!(n >= 0 && n <= 1700) || n != floor(n)) return NAN;
  if (n == 0) return sw_digamma(a);
  return (double)((fmod(n, 2) == 0 ? -1 : 1) * tgammal(n + 1.0L) * zeta(n + 1, a));
}

/* The power series, whose terms have one sign, or for large x the series in 1/x. */
double sw_bessel_i1e(double a) {
  long double x = fabsl(a);
  if (isnan(a) || isinf(a)) return isnan(a) ? a : copysign(0, a);
  long double term = x / 2, sum = 0;
  if (x < 40) {
    for (int k = 1; term > sum * 1e-21L; k++) {
      sum += term;
      term *= x * x / 4 / (k * (k + 1.0L));
    }
    return (double)copysignl(sum * expl(-x), a);
  }
  term = 1;
  for (int k = 1; k < 60 && fabsl(term) > 1e-21L; k++) {
    sum += term;
    term *= -(4 - (2.0L * k - 1) * (2 * k - 1)) / (8 * k * x);
  }
  return (double)copysignl(sum / sqrtl(2 * acosl(-1) * x), a);
}
