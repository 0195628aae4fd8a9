/* Running a program that is partitioned already, on all its devices. */
#ifndef CLI_RUN_LOCAL_H_
#define CLI_RUN_LOCAL_H_

#include "cli/command.h"
#include "shardwright/validate.h"

typedef struct sw_local_cli {
  const char *inputs, *outputs; /* folders of arrays; NULL: made up, and thrown away */
  const char *trace;            /* NULL: none */
  uint64_t seed;
  bool random_floats, json;
  sw_parallel_options run;
} sw_local_cli;

SW_CHECKED sw_rc sw_run_local(const sw_local_cli *r, const sw_local_program *p, const sw_call *call, sw_diag *d);

#endif
