/* One program beside the model that it should be: what is known of one device's run, and runs on all devices that are
 * judged by it. */
#ifndef EXEC_VALIDATOR_H_
#define EXEC_VALIDATOR_H_

#include <pthread.h>

#include "exec/parallel.h"
#include "exec/validate/roundings.h"
#include "exec/validate/sharded.h"
#include "exec/validate/single.h"

/* Runs of one device whose roundings are perturbed. Where something differs and numbers were chosen by comparing
 * floats, the larger number sees most choices that may turn. */
enum { SW_PERTURBED_RUNS = 2, SW_MORE_PERTURBED_RUNS = 16 };

/* One run on all devices. */
typedef struct sw_judged_run {
  sw_injected_fault inject_fault;
  sw_exec_observer observe; /* NULL: none; told of each op before it is compared, on every device's thread */
  void *observe_user;
  bool quiet; /* a run that fails says so to the caller alone */
} sw_judged_run;

typedef struct sw_validator {
  const sw_sharded *s;
  const sw_validate_options *o;
  sw_single sharp;
  sw_roundings roundings; /* with `intermediates` */
  sw_tensor *blocks;      /* devices * n_args; NULL: not cut yet */
  bool *own;              /* of them, those that are nobody else's */
  sw_tensor *got;         /* devices * n_outputs */
  int64_t devices;
  sw_parallel_options alone, listened; /* how devices run */
  sw_arena *arena;                     /* of lists */
  sw_sharding_list *ways;              /* by value of the model */
  pthread_mutex_t lock;                /* guards the roundings and the fields below during a run */
  sw_parallel run;
  int32_t *made; /* device * n_values + value of the model, of those in loops: how often it was made */
  const sw_judged_run *how;
  sw_validation *out;
  int32_t first_bad_step;
  int32_t overflow_step;
} sw_validator;

/* Runs one device, and finds out what roundings do. Closed by sw_validator_close, also after a failure. */
SW_CHECKED sw_rc sw_validator_open(sw_validator *v, const sw_sharded *s, const sw_validate_options *o,
                                   int perturbed_runs, sw_arena *arena, sw_diag *d);
/* *out and its entries live in `arena`. */
SW_CHECKED sw_rc sw_validator_run(sw_validator *v, const sw_judged_run *how, sw_arena *arena, sw_validation *out,
                                  sw_diag *d);
void sw_validator_close(sw_validator *v);

/* The program of a plan in *spmd, which outlives *out, and what it is compared with: the plan's model, or `against`. */
SW_CHECKED sw_rc sw_sharded_of_plan(const sw_plan *plan, const sw_graph *against, sw_arena *arena, sw_spmd *spmd,
                                    sw_sharded *out, sw_diag *d);
/* Does some op make integers or bools of floats? */
bool sw_graph_chooses(const sw_graph *g);
/* The n-th collective of the program, counted from 1, sends not counted; NULL when there are fewer. */
const sw_op *sw_nth_collective(const sw_graph *g, int32_t n, int32_t *count);

#endif
