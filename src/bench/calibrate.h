/* Measures the machine that it runs on and makes a profile of it: device threads that share its cores, local ops as the
 * interpreter runs them, collectives as the threaded communicator does.
 */
#ifndef BENCH_CALIBRATE_H_
#define BENCH_CALIBRATE_H_

#include "shardwright/clock.h"
#include "shardwright/profile.h"

typedef struct sw_calibrate_options {
  const char *name;      /* of the profile */
  int64_t cores;         /* that the devices share; 0: as many as the machine has */
  int64_t max_devices;   /* of the profile; 0: 64 */
  int64_t memory_bytes;  /* of one device; 0: an eighth of the machine's */
  int64_t largest_bytes; /* of a collective; 0: 4 MiB */
  double min_s;          /* measure each figure at least so long; 0: 0.02 */
  sw_cancel *cancel;     /* NULL allowed */
} sw_calibrate_options;

/* How well the constants fit what was measured: mean |ln(predicted / measured)| in per cent. */
typedef struct sw_calibration {
  const sw_profile *profile; /* in the arena */
  int n_collectives, n_ops;  /* measured times */
  double collectives_per_cent, ops_per_cent;
} sw_calibration;

SW_API SW_CHECKED sw_rc sw_calibrate(const sw_calibrate_options *o, sw_arena *arena, sw_calibration *out, sw_diag *d);

#endif
