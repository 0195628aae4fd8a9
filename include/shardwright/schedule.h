/* A schedule: what runs of a program, in order, and on what.
 *
 *   entry      op, instance      an op of the program: itself (instance 0), or made again for those that read it later
 *              slot              once, or once for each micro-batch
 *              stage             which machine it runs on
 *
 * A reader takes a value from the last entry before its own that makes it: its source. The schedule is carried out as
 * one graph for each stage, which is planned, priced, partitioned and run like any other:
 *
 *   x = exp(a)  y = dot(x, b)  z = add(x, y)        x  y  x.again  z       z reads x.again: x is not held beside y
 *
 * Entries of all micro-batches stand together: they become a loop over parts of what they read, which carries sums (of
 * what a micro-batch gives a part of) and results (of which it gives a block). Where parts are not equal, the last one
 * is shorter and follows the loop. What one stage makes and another reads leaves the one as an output and enters the
 * other as an input of its name.
 *
 * A program by itself is the schedule that runs each op once on one machine: its only stage is the program.
 */
#ifndef SHARDWRIGHT_SCHEDULE_H_
#define SHARDWRIGHT_SCHEDULE_H_

#include "shardwright/request.h"

typedef enum sw_slot { SW_SLOT_ONCE, SW_SLOT_EACH } sw_slot;

typedef struct sw_entry {
  sw_id op; /* of the program */
  int32_t instance;
  sw_slot slot;
  int32_t stage;
} sw_entry;

/* An argument that micro-batches take a part of each, along this dim. */
typedef struct sw_slot_cut {
  sw_id value;
  int32_t dim;
} sw_slot_cut;

/* What a lever decides; the rest of a schedule follows. */
typedef struct sw_schedule_spec {
  int32_t n_entries;
  const sw_entry *entries;
  int32_t n_stages;      /* >= 1 */
  int64_t micro_batches; /* >= 1 */
  int32_t n_cuts;
  const sw_slot_cut *cuts;
} sw_schedule_spec;

/* A value of the program that one stage makes for another. */
typedef struct sw_send {
  sw_id value;
  int32_t from, to; /* stages */
} sw_send;

typedef struct sw_stage {
  const sw_graph *graph; /* what runs there */
  const int32_t *entry;  /* by op of the graph: its entry; -1: it carries others (borders of the loop, slices, sums) */
  const sw_id *args;     /* by argument of the graph: the value of the program */
  const sw_id *outputs;  /* by output of the graph: likewise */
} sw_stage;

typedef struct sw_schedule {
  const sw_graph *program;   /* borrowed, as: */
  const sw_request *written; /* what is asked of it */
  sw_schedule_spec spec;     /* its lists are in the arena */
  const sw_stage *stages;    /* by stage */
  int32_t n_sends;
  const sw_send *sends; /* in order of values, then stages */
  sw_graph **owned;     /* graphs of stages that are not the program; NULL where one is */
} sw_schedule;

/* What is asked of the program by `written` is asked of the stages: of definitions where the op itself stands, of uses
 * where they stand. SW_E_INPUT names the op where entries miss one, have one twice, or have one before what it reads;
 * where a micro-batch would need more than its part; where a state comes back on another stage. */
SW_API SW_CHECKED sw_rc sw_schedule_make(const sw_request *written, const sw_schedule_spec *spec, sw_arena *arena,
                                         sw_schedule *out, sw_diag *d);
SW_API void sw_schedule_deinit(sw_schedule *s); /* frees the graphs of stages */

#endif
