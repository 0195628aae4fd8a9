/* GLPK is not thread-safe: every call happens under one lock. */
#ifndef SELECT_GLPK_LOCK_H_
#define SELECT_GLPK_LOCK_H_

#include <pthread.h>

extern pthread_mutex_t sel_glpk_lock; /* glpk.c */

#endif
