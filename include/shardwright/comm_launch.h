/* Running every device of a communicator, many of them on few threads.
 *
 * A device is a function with a stack of its own. Devices that share a thread take turns: a device that waits in a
 * call of the communicator lets another one run. So 512 devices on 2 cores cost 2 threads, and a call costs no kernel
 * switch. A device that blocks elsewhere (in a sleep, on a lock) blocks those that share its thread.
 */
#ifndef SHARDWRIGHT_COMM_LAUNCH_H_
#define SHARDWRIGHT_COMM_LAUNCH_H_

#include "shardwright/comm.h"

/* What a device runs. Its failure ends the run for all. */
typedef sw_rc (*sw_device_main)(sw_comm *c, int64_t device, void *user, sw_diag *d);

typedef struct sw_launch_options {
  int threads;        /* <= 0: as many as there are cores; never more than devices */
  size_t stack_bytes; /* of a device; 0: 1 MiB, taken as it is touched */
  bool pin;           /* bind thread i to core i, when there are as many cores */
} sw_launch_options;

/* Runs `main` once per device, leaves the communicator on its behalf, and returns when all have ended: SW_OK, or the
 * first failure of the run. `o` may be NULL. */
SW_API SW_CHECKED sw_rc sw_comm_launch(sw_comm *c, sw_device_main main, void *user, const sw_launch_options *o,
                                       sw_diag *d);

#endif
