/* What this process may still take of the machine, as far as the system says: for refusing before the start what would
 * end in the middle. */
#ifndef BASE_LIMITS_H_
#define BASE_LIMITS_H_

#include <stdint.h>

#include "shardwright/status.h"

typedef struct sw_needs {
  int64_t threads;
  int64_t mappings;      /* of memory: each stack is two, itself and its guard */
  int64_t bytes;         /* of memory that is written to */
  int64_t address_bytes; /* and of what is only reserved, stacks above all */
} sw_needs;

/* SW_E_RESOURCE when there is not as much as `n` says: "`what` would take 65536 threads; there is room
 * for 32000". */
SW_API SW_CHECKED sw_rc sw_limits_check(const sw_needs *n, const char *what, sw_diag *d);

#endif
