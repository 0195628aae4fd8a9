/* LAPACK's routines, which come with OpenBLAS, mostly for f64 (d) and c128 (z): everything by address, matrices column
 * by column, lengths of texts behind. Matrices are void, so that one call serves both types. */
#ifndef EXEC_LAPACK_H_
#define EXEC_LAPACK_H_

#include <stddef.h>

#include "shardwright/status.h"

/* Around calls of BLAS and LAPACK, which then run on the calling thread alone. SW_E_RESOURCE, and not entered: the
 * limit on address space leaves no room for their work space. */
SW_CHECKED sw_rc sw_blas_enter(sw_diag *d);
void sw_blas_leave(void);

typedef const int *sw_fint;

#define SW_LAPACK_OF_BOTH(p, un, he)                                                                                   \
  void p##getrf_(sw_fint m, sw_fint n, void *a, sw_fint lda, int *pivots, int *info);                                  \
  void p##geqrf_(sw_fint m, sw_fint n, void *a, sw_fint lda, void *taus, void *work, sw_fint lwork, int *info);        \
  void p##un##gqr_(sw_fint m, sw_fint n, sw_fint k, void *a, sw_fint lda, const void *taus, void *work, sw_fint lwork, \
                   int *info);                                                                                         \
  void p##gehrd_(sw_fint n, sw_fint low, sw_fint high, void *a, sw_fint lda, void *taus, void *work, sw_fint lwork,    \
                 int *info);                                                                                           \
  void p##he##trd_(const char *uplo, sw_fint n, void *a, sw_fint lda, double *d, double *e, void *taus, void *work,    \
                   sw_fint lwork, int *info, size_t l1);                                                               \
  void p##gtsv_(sw_fint n, sw_fint rhs, void *below, void *diagonal, void *above, void *b, sw_fint ldb, int *info);
SW_LAPACK_OF_BOTH(d, or, sy)
SW_LAPACK_OF_BOTH(z, un, he)

void dgeqp3_(sw_fint m, sw_fint n, void *a, sw_fint lda, int *columns, void *taus, void *work, sw_fint lwork,
             int *info);
void zgeqp3_(sw_fint m, sw_fint n, void *a, sw_fint lda, int *columns, void *taus, void *work, sw_fint lwork,
             double *rwork, int *info);
void dsyevd_(const char *vectors, const char *uplo, sw_fint n, void *a, sw_fint lda, double *w, void *work,
             sw_fint lwork, int *iwork, sw_fint liwork, int *info, size_t l1, size_t l2);
void zheevd_(const char *vectors, const char *uplo, sw_fint n, void *a, sw_fint lda, double *w, void *work,
             sw_fint lwork, double *rwork, sw_fint lrwork, int *iwork, sw_fint liwork, int *info, size_t l1, size_t l2);
void dgesdd_(const char *job, sw_fint m, sw_fint n, void *a, sw_fint lda, double *s, void *u, sw_fint ldu, void *vt,
             sw_fint ldvt, void *work, sw_fint lwork, int *iwork, int *info, size_t l1);
void zgesdd_(const char *job, sw_fint m, sw_fint n, void *a, sw_fint lda, double *s, void *u, sw_fint ldu, void *vt,
             sw_fint ldvt, void *work, sw_fint lwork, double *rwork, int *iwork, int *info, size_t l1);

/* Eigenvalues come in the order in which iterations found them, which differs with the precision: these are there for
 * f32 (s) and c64 (c), too. Real numbers are void here. */
#define SW_LAPACK_OF_REAL(p)                                                                                        \
  void p##geev_(const char *left, const char *right, sw_fint n, void *a, sw_fint lda, void *re, void *im, void *vl, \
                sw_fint ldvl, void *vr, sw_fint ldvr, void *work, sw_fint lwork, int *info, size_t l1, size_t l2);  \
  void p##gees_(const char *vectors, const char *sort, const void *select, sw_fint n, void *a, sw_fint lda,         \
                int *chosen, void *re, void *im, void *vs, sw_fint ldvs, void *work, sw_fint lwork, int *bwork,     \
                int *info, size_t l1, size_t l2);
#define SW_LAPACK_OF_COMPLEX(p)                                                                                        \
  void p##geev_(const char *left, const char *right, sw_fint n, void *a, sw_fint lda, void *w, void *vl, sw_fint ldvl, \
                void *vr, sw_fint ldvr, void *work, sw_fint lwork, void *rwork, int *info, size_t l1, size_t l2);      \
  void p##gees_(const char *vectors, const char *sort, const void *select, sw_fint n, void *a, sw_fint lda,            \
                int *chosen, void *w, void *vs, sw_fint ldvs, void *work, sw_fint lwork, void *rwork, int *bwork,      \
                int *info, size_t l1, size_t l2);
SW_LAPACK_OF_REAL(s)
SW_LAPACK_OF_REAL(d)
SW_LAPACK_OF_COMPLEX(c)
SW_LAPACK_OF_COMPLEX(z)

#endif
