/* One device executing the main function of a graph. */
#ifndef EXEC_DEVICE_H_
#define EXEC_DEVICE_H_

#include "shardwright/exec.h"

typedef struct sw_device {
  const sw_graph *graph;
  const sw_exec_program *program; /* NULL: the whole graph on one device */
  int64_t device;
  const sw_exec_options *options;
  double began_s; /* of the run, on sw_now_s's clock */
} sw_device;

/* args: n_args buffers; outputs: n_outputs tensors made here. On failure no output is left allocated. */
sw_rc sw_device_execute(sw_device *v, const sw_buffer *const *args, sw_tensor *outputs, sw_diag *d);

#endif
