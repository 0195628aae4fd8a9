/* Running a program that is partitioned already, on all its devices. */
#ifndef CLI_RUN_LOCAL_H_
#define CLI_RUN_LOCAL_H_

#include "cli/session.h"
#include "shardwright/validate.h"

typedef struct sw_local_cli {
  const char *against;          /* the whole program; NULL: nothing is compared */
  const char *plan;             /* of the whole program: says how arguments and results are cut; NULL: the text does */
  const sw_model_options *from; /* how the whole program is read */
  const char *inputs, *outputs; /* folders of arrays; NULL: made up, and thrown away */
  uint64_t seed;
  bool random_floats, outputs_only;
  sw_parallel_options run;
} sw_local_cli;

SW_CHECKED sw_rc sw_run_local(const sw_local_cli *r, const sw_local_program *p, const sw_call *call, sw_diag *d);

#endif
