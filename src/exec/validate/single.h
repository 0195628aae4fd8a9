/* The run on one device that a validation compares with. */
#ifndef EXEC_SINGLE_H_
#define EXEC_SINGLE_H_

#include "exec/validate/arguments.h"
#include "base/array.h"
#include "shardwright/exec.h"

/* What each run of an op in a loop made of a value. */
typedef struct sw_trips {
  SW_ARRAY(sw_tensor) at;
} sw_trips;

typedef struct sw_single {
  const sw_graph *graph;
  sw_tensor *args; /* of the main function */
  bool own_args;   /* made up here, not the caller's */
  sw_tensor *want; /* by output */
  double seconds;
  sw_tensor *values;  /* by value of the graph, a loop's of its last trip; NULL: not kept */
  sw_trips *trips;    /* by value of the graph, of those made in loops; NULL: not kept */
  int64_t trip_bytes; /* kept so far; when they are too many, no more are */
  bool held;          /* as in the options */
  bool exact;         /* all numbers seen are small integers */
  int64_t terms;      /* longest reduction */
  sw_dtype *coarsest; /* by value: whose roundings are in it; f64: at most those */
  bool *rounded;      /* by value: false where elements of arguments are only moved, and so must be equal bit for bit */
} sw_single;

typedef struct sw_single_options {
  const sw_tensor *inputs; /* NULL: made up by `seed`; else borrowed */
  uint64_t seed;
  bool random_floats, keep_values;
  sw_cuts_of *cuts; /* how values are cut; NULL: not known */
  void *cuts_user;
  bool held;            /* parts of what is added up in floats of few digits are held in f32 */
  const bool *averaged; /* by value: the program holds parts of an average of it, which rounds; NULL: of none */
  sw_cancel *cancel;
} sw_single_options;

/* Runs the main function. Lists live in the arena; what they hold is released by sw_single_deinit, also after a
 * failure. */
SW_CHECKED sw_rc sw_single_run(const sw_graph *g, const sw_single_options *o, sw_arena *arena, sw_single *out,
                               sw_diag *d);
void sw_single_deinit(sw_single *s);
/* What the run left of a value; NULL: nothing. */
const sw_buffer *sw_single_value(const sw_single *s, sw_id value);
/* The same of a certain run of the op that makes it, from 0; of one outside of loops there is but one. */
const sw_buffer *sw_single_trip(const sw_single *s, sw_id value, int32_t trip);
/* See coarse.c. */
SW_CHECKED sw_rc sw_single_find_rounded(const sw_graph *g, const bool *averaged, sw_arena *arena, bool **out,
                                        sw_diag *d);
SW_CHECKED sw_rc sw_single_find_coarsest(const sw_graph *g, sw_arena *arena, sw_dtype **out, sw_diag *d);
/* Must it be equal bit for bit? */
static inline bool sw_single_is_exact(const sw_single *s, sw_id value) { return s->exact || !s->rounded[value]; }
/* An integer or bool that follows from inexact floats may turn at any rounding. */
bool sw_single_may_turn(const sw_single *s, sw_id value);

#endif
