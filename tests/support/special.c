#include "support/special.h"

#include <math.h>

/* psi by its recurrence up to where its series is exact; of numbers that are not huge. */
static double psi(double a) {
  if (isinf(a) || a == 0 || a == floor(a)) {
    if (a > 0 && isinf(a)) return a;
    if (a <= 0) return a == 0 ? (signbit(a) ? INFINITY : -INFINITY) : NAN;
  }
  long double x = a, sum = 0;
  for (; x < 400; x++) sum -= 1 / x;
  long double q = 1 / (x * x);
  return (double)(sum + logl(x) - 1 / (2 * x) - q / 12 + q * q / 120 - q * q * q / 252);
}

/* Terms up to 400, then the integral with its first corrections. */
static long double hurwitz_sum(double x, long double q) {
  long double sum = 0;
  for (; q < 400; q++) sum += powl(q, -x);
  if (x > 1000) return sum; /* the rest is nothing beside the first term */
  return sum + powl(q, 1 - x) / (x - 1) + powl(q, -x) / 2 + x * powl(q, -x - 1) / 12 -
         x * (x + 1) * (x + 2) * powl(q, -x - 3) / 720;
}

static long double hurwitz(double x, double q) {
  bool even = x == floor(x) && fmod(x, 2) == 0;
  if (!(x > 1) || isnan(q)) return x == 1 && !isnan(q) ? INFINITY : NAN;
  if (q <= 0 && q == floor(q)) return even ? INFINITY : NAN;
  if (q <= 0 && x != floor(x)) return NAN;
  if (isinf(x)) return q > 1 ? 0 : q == 1 ? 1 : INFINITY;
  if (isinf(q)) return 0;
  if (q > -2000) return hurwitz_sum(x, q);
  long double up = q - floorl(q), mirrored = hurwitz_sum(x, 1 - up) - hurwitz_sum(x, 1 - (long double)q);
  return hurwitz_sum(x, up) + (even ? mirrored : -mirrored);
}

/* By its integral, with points closer than its peak is wide; near 0, where that cancels, and far out by what it tends
 * to. */
static double scaled_bessel(double a) {
  long double pi = acosl(-1), sum = 0, x = fabsl(a);
  if (isnan(a) || isinf(a)) return isnan(a) ? a : copysign(0, a);
  if (x < 1e-2L) return (double)copysignl(expl(-x) * x / 2 * (1 + x * x / 8 + x * x * x * x / 192), a);
  if (x > 1e5L) return (double)copysignl((1 - 3 / (8 * x) - 15 / (128 * x * x)) / sqrtl(2 * pi * x), a);
  int n = 64 + (int)(16 * sqrtl(x));
  for (int i = 0; i < n; i++) {
    long double c = cosl(pi * (i + 0.5L) / n);
    sum += expl(x * (c - 1)) * c;
  }
  return (double)copysignl(sum / n, a);
}

double zeta_or_polygamma(sw_opcode code, double a, double b) {
  if (code == SW_OP_ZETA) return (double)hurwitz(a, b);
  if (!(a >= 0 && a <= 1700) || a != floor(a)) return NAN;
  return a == 0 ? psi(b) : (double)((fmod(a, 2) == 0 ? -1 : 1) * tgammal(a + 1.0L) * hurwitz(a + 1, b));
}

/* The number whose erf is a, by halving; near 1 by erfc. */
static double inverse_erf(double a) {
  if (fabs(a) >= 1 || isnan(a)) return fabs(a) == 1 ? a * INFINITY : NAN;
  double lo = 0, hi = 6, b = fabs(a);
  if (b < 1e-6) return a * sqrt(acos(-1.0)) / 2;
  for (int i = 0; i < 200; i++) {
    double middle = (lo + hi) / 2;
    bool below = b < 0.5 ? erf(middle) < b : erfc(middle) > 1 - b;
    *(below ? &lo : &hi) = middle;
  }
  return copysign(lo, a);
}

double unary_float(sw_opcode code, double a) {
  switch ((int)code) {
    case SW_OP_ABS:
      return fabs(a);
    case SW_OP_NEGATE:
      return -a;
    case SW_OP_EXP:
      return exp(a);
    case SW_OP_EXPM1:
      return expm1(a);
    case SW_OP_LOG:
      return log(a);
    case SW_OP_LOG1P:
      return log1p(a);
    case SW_OP_SQRT:
      return sqrt(a);
    case SW_OP_RSQRT:
      return 1 / sqrt(a);
    case SW_OP_CBRT:
      return cbrt(a);
    case SW_OP_TANH:
      return tanh(a);
    case SW_OP_LOGISTIC:
      return 1 / (1 + exp(-a));
    case SW_OP_SIN:
      return sin(a);
    case SW_OP_COS:
      return cos(a);
    case SW_OP_TAN:
      return tan(a);
    case SW_OP_ERF:
      return erf(a);
    case SW_OP_ASIN:
      return asin(a);
    case SW_OP_ACOS:
      return acos(a);
    case SW_OP_ATAN:
      return atan(a);
    case SW_OP_SINH:
      return sinh(a);
    case SW_OP_COSH:
      return cosh(a);
    case SW_OP_ASINH:
      return asinh(a);
    case SW_OP_ACOSH:
      return acosh(a);
    case SW_OP_ATANH:
      return atanh(a);
    case SW_OP_ERFC:
      return erfc(a);
    case SW_OP_ERF_INV:
      return inverse_erf(a);
    case SW_OP_LGAMMA:
      return lgamma(a);
    case SW_OP_DIGAMMA:
      return psi(a);
    case SW_OP_BESSEL_I1E:
      return scaled_bessel(a);
    case SW_OP_REAL:
      return a;
    case SW_OP_IMAG:
      return 0;
    case SW_OP_SIGN:
      return isnan(a) ? a : (a > 0) - (a < 0);
    case SW_OP_FLOOR:
      return floor(a);
    case SW_OP_CEIL:
      return ceil(a);
    case SW_OP_ROUND_EVEN:
      return isinf(a) ? a : a - remainder(a, 1);
    case SW_OP_ROUND_AFZ:
      return a < 0 ? -floor(0.5 - a) : floor(a + 0.5);
    default:
      return NAN;
  }
}

typedef sw_scalar z;

static z at(double re, double im) { return (z){.re = re, .im = im}; }
static z times(z a, z b) { return at(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re); }
static z over(z a, z b) {
  double n = b.re * b.re + b.im * b.im;
  return at((a.re * b.re + a.im * b.im) / n, (a.im * b.re - a.re * b.im) / n);
}
static z polar(double r, double turn) { return at(r * cos(turn), r * sin(turn)); }
static z power(z a, z e) {
  double l = log(hypot(a.re, a.im)), turn = atan2(a.im, a.re);
  return polar(exp(e.re * l - e.im * turn), e.im * l + e.re * turn);
}
static z root(z a) { return polar(sqrt(hypot(a.re, a.im)), atan2(a.im, a.re) / 2); }
static z exponential(z a) { return polar(exp(a.re), a.im); }
static z sine(z a) { return at(sin(a.re) * cosh(a.im), cos(a.re) * sinh(a.im)); }
static z cosine(z a) { return at(cos(a.re) * cosh(a.im), -sin(a.re) * sinh(a.im)); }
static z tangent(z a) { return over(sine(a), cosine(a)); }

static z unary_complex(sw_opcode code, z a) {
  double size = hypot(a.re, a.im);
  const z one = {.re = 1};
  switch ((int)code) {
    case SW_OP_ABS:
      return at(size, 0);
    case SW_OP_REAL:
      return at(a.re, 0);
    case SW_OP_IMAG:
      return at(a.im, 0);
    case SW_OP_NEGATE:
      return at(-a.re, -a.im);
    case SW_OP_EXP:
      return exponential(a);
    case SW_OP_EXPM1:
      return at(exponential(a).re - 1, exponential(a).im);
    case SW_OP_LOG:
      return at(log(size), atan2(a.im, a.re));
    case SW_OP_LOG1P:
      return at(log(hypot(1 + a.re, a.im)), atan2(a.im, 1 + a.re));
    case SW_OP_SQRT:
      return root(a);
    case SW_OP_RSQRT:
      return over(one, root(a));
    case SW_OP_CBRT:
      return power(a, at(1.0 / 3, 0));
    case SW_OP_TANH:
      a = tangent(at(-a.im, a.re)); /* tanh z = -i tan iz */
      return at(a.im, -a.re);
    case SW_OP_LOGISTIC:
      a = exponential(at(-a.re, -a.im));
      return over(one, at(1 + a.re, a.im));
    case SW_OP_SIN:
      return sine(a);
    case SW_OP_COS:
      return cosine(a);
    case SW_OP_TAN:
      return tangent(a);
    default: /* sign */
      return size == 0 ? at(0, 0) : at(a.re / size, a.im / size);
  }
}

z complex_op(sw_opcode code, z a, z b) {
  switch ((int)code) {
    case SW_OP_ADD:
      return at(a.re + b.re, a.im + b.im);
    case SW_OP_SUBTRACT:
      return at(a.re - b.re, a.im - b.im);
    case SW_OP_MULTIPLY:
      return times(a, b);
    case SW_OP_DIVIDE:
      return over(a, b);
    case SW_OP_POWER:
      return power(a, b);
    default:
      return unary_complex(code, a);
  }
}
