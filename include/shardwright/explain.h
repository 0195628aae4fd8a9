/* Why a plan is as it is: what its collectives are for, what else could be done and what that would cost, what fills a
 * device at the peak and how to hold less.
 *
 *   all_gather of 'layers.{0..31}.wq' x32, 3.2 ms: held as [[],[x]], wanted as [[],[]]
 *     otherwise   held as it is wanted: 2 % more memory than a device has
 *                 taken as it is held: 1.2 ms more each, for the op's other operand is then gathered
 *
 * What else could be done is priced in two ways. Alone: everything else stays (alternatives.h), exact and at once.
 * Anew: the best plan with that pinned (sw_planner_ask), of a group with all of it pinned; only where there is a
 * planner.
 */
#ifndef SHARDWRIGHT_EXPLAIN_H_
#define SHARDWRIGHT_EXPLAIN_H_

#include "shardwright/alternatives.h"

/* The best plan with something pinned. */
typedef struct sw_anew {
  bool asked;
  bool made; /* there is one within the capacity; else why not */
  const char *why;
  const char *pins;    /* as --pin takes them; NULL where they are too many to say */
  double total_s, gap; /* what it takes; the part of it that may be above the best there is */
  int64_t peak_bytes;
} sw_anew;

typedef enum sw_option_way { SW_WAY_MADE, SW_WAY_TAKEN } sw_option_way;
typedef struct sw_explained_option {
  sw_option_way way; /* the value is made, or held, otherwise; or what uses it takes it otherwise */
  sw_alternative alone;
  sw_anew anew;
} sw_explained_option;

/* What the plan sends, those of one role over all layers in one: copies of values in other shardings, or exchanges that
 * ops do themselves. Figures are sums over all runs of all of them. */
typedef struct sw_traffic {
  const char *name; /* of the values, or of the ops that exchange (base/folded_names.h) */
  int32_t n;
  const sw_plan_reshard *const *reshards; /* n of them, alike; NULL: ops exchange: */
  const sw_id *ops;                       /* NULL: reshards */
  double seconds;                         /* of collectives */
  double hidden_s;                        /* of these: behind arithmetic */
  double break_s;                         /* besides: for the kernel that breaks there (sw_value_break_s) */
  double bytes;                           /* received by the busiest device */
  bool explained;                         /* else the next three are not set */
  int32_t n_options;
  const sw_explained_option *options; /* about the first of them */
  const char *because;                /* what keeps the plan from the cheapest of these; NULL: nothing is known */
} sw_traffic;

/* What making one value again, or offloading it, is about. Steps are those of the line of time (unit.h). */
typedef struct sw_again {
  sw_id copy;        /* the op that makes it again; -1: it is not made again, and the rest is not set */
  int32_t n_ops;     /* with those that only it needs */
  double seconds;    /* of these, and of resharding what only they read */
  int64_t bytes;     /* that a device would hold more, if the value were kept instead, */
  sw_interval steps; /* in these: those between its early readers and the copy */
  int32_t fullest;   /* of these: the step at which most is held */
  sw_id offload;     /* the op that brings it to the host; -1: none, and the rest is not set */
  double host_s;     /* there and back */
  int64_t host_bytes;
} sw_again;
typedef struct sw_explained_value {
  const char *name; /* of all that are made alike and in one sharding */
  int32_t n;
  const sw_id *values; /* the figures are of the first */
  sw_sharding sharding;
  int32_t n_options;
  const sw_explained_option *options;
  const char *because;
  sw_again again;
  int32_t n_traffic; /* of the value, and for the op that makes it */
  const int32_t *traffic;
} sw_explained_value;

/* A value that is held at the peak, cut otherwise so that a device holds less. */
typedef struct sw_lower {
  const char *name; /* of all of its role at the peak */
  int32_t n;
  sw_id value; /* the first; the figures are of it alone */
  sw_alternative alone;
  double s_per_byte; /* that the plan takes longer, of what a device then holds less */
} sw_lower;

typedef struct sw_explain_options {
  int32_t top;              /* kinds of traffic to explain, the dearest first */
  bool peak;                /* memory, too */
  const char *name;         /* of a value, or a pattern of values as in pins.h: to explain; NULL: none */
  sw_planner *planner;      /* for questions, about values and their traffic; NULL: none are asked */
  const sw_plan *free_plan; /* the best without a limit on memory; NULL: not known */
  sw_cancel *cancel;        /* NULL allowed */
} sw_explain_options;

typedef struct sw_explanation {
  const sw_plan *plan;
  const sw_breakdown *breakdown;
  sw_explain_options options;
  double free_total_s; /* of the free plan */
  int32_t n_traffic;
  const sw_traffic *traffic; /* all of it, the dearest first */
  int32_t n_values;
  const sw_explained_value *values;
  int32_t n_lower;
  const sw_lower *lower; /* the cheapest per byte first */
} sw_explanation;

static inline const sw_mesh *sw_explanation_mesh(const sw_explanation *e) {
  return sw_machine_mesh(e->plan->job.machine);
}

/* All in the arena; what the options and the plan hold is borrowed. */
SW_API SW_CHECKED sw_rc sw_explain_build(const sw_plan *p, const sw_breakdown *a, const sw_explain_options *o,
                                         sw_arena *arena, sw_explanation *out, sw_diag *d);
SW_API void sw_explanation_table(const sw_explanation *e, sw_text *out);
/* docs/explain.schema.json */
SW_API void sw_explanation_json(const sw_explanation *e, sw_text *out);

#endif
