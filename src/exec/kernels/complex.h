/* Complex numbers in kernels. */
#ifndef EXEC_COMPLEX_H_
#define EXEC_COMPLEX_H_

#include <complex.h>

/* C11's CMPLX, which glibc defines for gcc only: re + im * I would lose signs of zeros, NaN and infinities. */
static inline double complex sw_complex_of(double re, double im) {
  union {
    double parts[2];
    double complex z;
  } u = {{re, im}};
  return u.z;
}

#endif
