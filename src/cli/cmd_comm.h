/* shardwright comm, in two files: comm.c has the options and `check`, comm_bench.c has `bench`. */
#ifndef CLI_CMD_COMM_H_
#define CLI_CMD_COMM_H_

#include "cli/command.h"

typedef struct sw_comm_settings {
  const char *what, *op, *devices, *bytes, *mesh, *axes, *dtype, *reduction, *format, *engine, *trace;
  int64_t threads, calls, seed, faults, step;
  double min_s, timeout_s;
  bool json;
} sw_comm_settings;

sw_rc sw_comm_bench_command(const sw_call *call, sw_diag *d);

#endif
