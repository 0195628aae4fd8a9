/* The parts of a profile, what they mean and how they are measured: for calibrate_from.c. */
#ifndef BENCH_CALIBRATE_KEYS_H_
#define BENCH_CALIBRATE_KEYS_H_

#include "bench/calibrate_from.h"

/* All parts of the profile, in the order of the file; `known` is false. */
SW_CHECKED sw_rc sw_calibrate_keys(const sw_profile *p, sw_arena *arena, const sw_calibrated_key **out, int *n,
                                   sw_diag *d);
/* Where `origins` keeps the source of the i-th of them. */
const char **sw_calibrate_key_source(const sw_profile *p, sw_profile_origins *origins, int i);
/* Whether the i-th has to be measured; the others a description of the machine says. */
bool sw_calibrate_key_is_measured(const sw_profile *p, int i);

#endif
