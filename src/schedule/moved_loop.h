/* Checkpoints around loops, which are folded back as a whole. */
#ifndef SCHEDULE_MOVED_LOOP_H_
#define SCHEDULE_MOVED_LOOP_H_

#include "schedule/stacks.h"

/* The loop `again` does all that the loop `once` does, which stands before it in the same loop or in none, or `again`
 * in the later one of a pair and `once` in the earlier one, and runs in its place. */
typedef struct sw_moved_loop {
  sw_added_stack of;   /* the pair, and those around it; of no levels: there is none */
  sw_id once, again;   /* frames */
  sw_id once_end, end; /* behind their joins */
  const sw_id *alike;  /* by value that `again` reads: an equal one that stands where `once` does */
  bool *with;          /* by op where `again` stands: it is made of nothing, and stands in both places */
  sw_id *read_as;      /* by value: that which is read in its place */
} sw_moved_loop;

/* The first that there is; in the arena. */
sw_rc sw_moved_loop_find(const sw_graph *g, sw_arena *arena, sw_moved_loop *out, bool *found, sw_diag *d);
/* The schedule in which it has moved, what that adds, stacks of what the later loop reads of it, and both carried out
 * (schedule.c). In the arena. */
sw_rc sw_moved_loop_spec(const sw_graph *g, const sw_moved_loop *m, sw_arena *arena, sw_schedule_spec *out, sw_diag *d);
sw_rc sw_moved_loop_stacks(const sw_graph *g, const sw_moved_loop *m, sw_arena *arena, sw_stacks *out, sw_diag *d);
sw_rc sw_schedule_make_moved(const sw_request *written, const sw_schedule_spec *spec, const sw_moved_loop *m,
                             sw_arena *arena, sw_schedule *out, sw_diag *d);

#endif
