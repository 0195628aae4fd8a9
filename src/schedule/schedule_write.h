/* The graph of one stage while it is written. */
#ifndef SCHEDULE_SCHEDULE_WRITE_H_
#define SCHEDULE_SCHEDULE_WRITE_H_

#include "schedule/stacks.h"

typedef struct sw_stage_writer {
  const sw_graph *program;
  const sw_id *same;  /* by value of the program: that which is read in its place */
  const sw_id *alike; /* sw_stacks_alike; NULL: no stack is left out */
  const sw_id
      *moved; /* by value that a loop reads which has moved before it: that of the earlier loop; NULL: none has */
  const sw_stacks *stacks;
  sw_id (*added)[SW_STACK_LEVELS];   /* by stack that is added, and loop: as it stands now */
  sw_id (*entered)[SW_STACK_LEVELS]; /* as it entered the earlier loop */
  bool *joined;                      /* by stack that is added: a loop gave what it takes, whose other joins follow */
  bool (*ended)[SW_STACK_LEVELS];    /* that has ended, and the loop around has not put it into its own yet */
  const sw_schedule_spec *spec;
  int32_t stage;
  sw_graph *to;
  sw_id *now;               /* by value of the program: its source; -1: none yet */
  sw_id *first;             /* likewise: as it was made at first */
  sw_id *on_host, *fetched; /* likewise: as it was offloaded; as a keep may have it from there */
  int32_t *entry;           /* by op of `to` that was noted: its entry; -1: it carries others */
  int32_t n_noted, room;
  int32_t put_for;    /* the entry of what sw_stage_put puts, plus one; 0: none */
  int32_t *output_at; /* by output of the program: its number here; -1: another stage's */
  int32_t *last_in;   /* by value: the last entry of the list that reads it, n_entries for an output; -1: none */
  sw_arena *arena;    /* of what stays */
  sw_arena scratch;
  sw_diag *d;
} sw_stage_writer;

/* Append an op, on what now stands for its operands or on `in`. `suffix` goes behind its name and those of its results;
 * dims of results: as they follow, along `cut_dim` (by result; -1: none) of `size`. */
typedef struct sw_entry_parts {
  const sw_id *in;        /* by operand; NULL: the sources */
  const char *suffix;     /* NULL: none */
  const int32_t *cut_dim; /* by result; NULL: none is cut */
  int64_t size;
} sw_entry_parts;
SW_CHECKED sw_rc sw_stage_add_entry(sw_stage_writer *w, int32_t entry, const sw_entry_parts *parts, sw_id *results);
/* The ops appended since the last note are this entry's; -1: they carry others. */
SW_CHECKED sw_rc sw_stage_note(sw_stage_writer *w, int32_t entry);

/* An op of none of the entries, and a constant of one number. slots.c. */
SW_CHECKED sw_rc sw_stage_put(sw_stage_writer *w, sw_opcode code, int n, const sw_id *in, int n_attrs,
                              const sw_attr *attrs, sw_id *out);
SW_CHECKED sw_rc sw_stage_put_number(sw_stage_writer *w, sw_dtype t, double x, int rank, const int64_t *dims,
                                     sw_id *out);

/* stacks_added.c: what stacks that are added need before an op of the program, and behind it. */
SW_CHECKED sw_rc sw_stage_stack_before(sw_stage_writer *w, sw_id op);
SW_CHECKED sw_rc sw_stage_stack_behind(sw_stage_writer *w, sw_id op);
/* Likewise behind the entry that offloads, where that stands in a loop: it is put into its stack on the host. */
SW_CHECKED sw_rc sw_stage_stack_offloaded(sw_stage_writer *w, int32_t entry);

/* slots.c: entries [first, end) of the list, those of this stage: once for each micro-batch. */
SW_CHECKED sw_rc sw_stage_add_slots(sw_stage_writer *w, int32_t first, int32_t end);

#endif
