/* What a loop hands on to a later loop, a slice in each trip: as the forward part of scanned layers does to the
 * backward part.
 *
 *   s = zeros                                    enter                                     enter
 *   while i < n: ...  r = f(..)  s[i] = r        update, of what is made      while j < n: ...  r' = s[n - 1 - j]  ...
 *
 * In trip j the later loop reads what was made in the trip of its index, so r' may as well be made again there.
 */
#ifndef SCHEDULE_STACKS_H_
#define SCHEDULE_STACKS_H_

#include "schedule/policies.h"

enum { SW_STACK_OPS = 44 };
typedef struct sw_stack {
  sw_id forward, backward; /* loops */
  sw_id counter, index;    /* of forward; the value in backward that is equal to it */
  sw_id made, back;        /* r, r' */
  int32_t through;         /* the stack of the loops around, of which this one is a slice in each trip; -1: none */
  int32_t n_ops;
  sw_id ops[SW_STACK_OPS]; /* that are there for the stack alone: there are none of these where it is left out */
} sw_stack;
/* A value of a later loop that the earlier one makes, too, in the trip of the index: it can be read from a stack
 * instead, one more; through stacks of the loops around, as the pair's own. Or what a stack of the program's hands on,
 * by way of the host, in place of that or beside it, if a plan has it. */
enum { SW_STACK_LEVELS = 4 };
typedef struct sw_added_stack {
  const sw_stack *of[SW_STACK_LEVELS]; /* pairs of loops, those inside first */
  int n_levels;
  sw_id made, value; /* in the earlier loop, in the later one */
  bool on_host;
  int32_t offloaded, fetched; /* then: entries */
} sw_added_stack;
typedef struct sw_stacks {
  int32_t n;
  sw_stack *at;
  int32_t n_added;
  sw_added_stack *added;
} sw_stacks;

/* Those of loops that stand in one frame; and in loops of such a pair, where what the inner one makes is stacked by the
 * outer one. In the arena. */
sw_rc sw_stacks_find(const sw_graph *g, sw_arena *arena, sw_stacks *out, sw_diag *d);
/* With those that a schedule leaves out, and those that it adds: of what it offloads and fetches, and of what ops make
 * that it lacks. *has, by op: the schedule has it, or it is of a stack that it leaves out, or read from one that it
 * adds. In the arena. */
sw_rc sw_stacks_left_out(const sw_graph *g, const sw_schedule_spec *s, sw_arena *arena, sw_stacks *out, bool **left_out,
                         bool **has, sw_diag *d);
/* By value in a later loop: the value of the earlier one that it is equal to in its trip, so that copies of the earlier
 * one's ops read it; -1: none. Of the stacks that are not left out, and of what both make alike. In the arena. */
sw_rc sw_stacks_alike(const sw_graph *g, const sw_stacks *s, const bool *left_out, sw_arena *arena, sw_id **out,
                      sw_diag *d);
/* The op behind which the index is known. stacks_added.c. */
sw_id sw_stack_known_at(const sw_graph *g, const sw_stack *s);
/* The stack's pair of loops and those around it, for one that is added; false: they are too many. stacks_added.c. */
bool sw_stack_around(const sw_stacks *s, const sw_stack *pair, sw_added_stack *out);
/* Of what the schedule offloads in a loop and fetches in a later one: stacks that are added, and are not left out.
 * stacks_added.c. */
sw_rc sw_stacks_add_on_host(const sw_graph *g, const sw_schedule_spec *s, sw_arena *arena, bool *left_out,
                            sw_stacks *out, sw_diag *d);
/* Where the schedule lacks an op: stacks that are added, and *has of what is read from them. stacks_added.c. */
sw_rc sw_stacks_add(const sw_graph *g, const bool *left_out, sw_arena *arena, sw_stacks *s, bool *has, sw_diag *d);
/* Ops of later loops that make again what earlier ones make, of what these stack: they do not run, if one is heavy. */
sw_rc sw_stacks_fold(const sw_graph *g, sw_arena *arena, bool *runs, bool *heavy, sw_diag *d);
/* The list of entries in which stacks are left out as far as `how` says, and what is made for them is made again in the
 * later loop, before its first reader. Loops that stand in the earlier one are made again as a whole. In the arena. */
sw_rc sw_stacks_spec(const sw_graph *g, sw_recompute how, sw_arena *arena, sw_schedule_spec *out, sw_diag *d);

#endif
