/* Loops over arrays of numbers, compiled for several instruction sets; the machine's best is taken at run time. Only by
 * gcc on x86-64, and not under sanitizers, which start before such functions can be chosen.
 *
 *   SW_SIMD_CLONES static double total(const double *x, int32_t n) { ...
 */
#ifndef BASE_SIMD_H_
#define BASE_SIMD_H_

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__clang__)
#define SW_SIMD_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SW_SIMD_CLONES
#endif

#endif
