/* What a device holds while it executes; device.c runs straight lines, control.c loops and choices. */
#ifndef EXEC_EXECUTION_H_
#define EXEC_EXECUTION_H_

#include <pthread.h>

#include "exec/device.h"
#include "shardwright/clock.h"

enum { SW_POOL_BLOCKS = 32 };

typedef struct sw_pool_block {
  void *at;
  int64_t bytes;
} sw_pool_block;

typedef struct sw_held {
  sw_tensor t;
  int64_t bytes; /* of its block; 0: borrowed from the caller */
  int32_t uses_left;
} sw_held;

typedef struct sw_execution {
  sw_device *v;
  sw_comm *comm;           /* of what it exchanges */
  sw_held *values;         /* by id */
  pthread_mutex_t *shared; /* NULL, or of the values of which other threads release some, too */
  sw_pool_block pool[SW_POOL_BLOCKS];
  int n_pool;
  sw_arena scratch;     /* of the op that runs */
  size_t scratch_block; /* bytes of the block that it keeps */
  int64_t held_bytes, peak_bytes;
  sw_rng perturb; /* draws of the option */
} sw_execution;

/* An op, behind which values that nothing uses any more are released; *next is where execution goes on. */
SW_CHECKED sw_rc sw_execution_run_op(sw_execution *e, sw_id id, sw_id *next, sw_diag *d);
/* All ops, each stream by a thread and for as long as the device's options say. */
SW_CHECKED sw_rc sw_execution_run_delayed(sw_execution *e, sw_diag *d);
/* What is the execution's alone: not its values. */
void sw_execution_deinit(sw_execution *e);

/* Room for a value, filled with garbage when poisoning. */
SW_CHECKED sw_rc sw_held_create(sw_execution *e, sw_id id, sw_diag *d);
void sw_held_release(sw_execution *e, sw_held *h);
/* The extents that mean something. */
void sw_held_set_valid(const sw_execution *e, sw_id value, sw_buffer *b);

static inline bool sw_is_control(sw_opcode c) { return sw_op_class_of(c) == SW_OPS_CONTROL; }
/* One op of control flow; *next is where execution goes on. */
SW_CHECKED sw_rc sw_control_run(sw_execution *e, const sw_op *op, sw_id *next, sw_diag *d);

#endif
