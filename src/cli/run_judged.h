/* A run on all devices that is compared with one device: of a plan, or of a program that is partitioned already. */
#ifndef CLI_RUN_JUDGED_H_
#define CLI_RUN_JUDGED_H_

#include "cli/command.h"
#include "shardwright/validate.h"

/* What runs, and the program that it should be. */
typedef struct sw_judged {
  const sw_graph *whole;
  const sw_plan *plan;           /* NULL: `local` */
  const sw_local_program *local; /* else NULL */
} sw_judged;

typedef struct sw_judged_options {
  const char *inputs, *outputs; /* folders of arrays; NULL: made up, and thrown away */
  const char *trace;            /* NULL: none */
  bool outputs_only;
  bool audit; /* do every collective wrong in turn */
  bool json;
  sw_validate_options o;
} sw_judged_options;

/* Runs, prints, and writes what is asked for. SW_E_MISMATCH when they differ. */
SW_CHECKED sw_rc sw_run_judged(const sw_judged *j, const sw_judged_options *o, const sw_call *call, sw_diag *d);

#endif
