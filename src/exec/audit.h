/* How much a validation notices: every collective of a program, and every op that a plan makes again, is done wrong in
 * turn, in every way there is, and the run must differ from that of one device. What is not noticed is explained by the
 * program, or left undecided.
 *
 *   sw_audit a;
 *   SW_TRY(sw_audit_plan(&plan, &(sw_validate_options){.seed = 1}, &arena, &a, d));
 *   a.count[SW_AUDIT_MISSED] of a.n_entries faults changed what is compared bit for bit, and went by
 */
#ifndef EXEC_AUDIT_H_
#define EXEC_AUDIT_H_

#include "shardwright/validate.h"

typedef enum sw_audit_verdict {
  SW_AUDIT_NOTICED,   /* a value or an output differs, or the run fails */
  SW_AUDIT_NO_EFFECT, /* it changes nothing, and the program says why (sw_no_effect) */
  SW_AUDIT_UNDECIDED, /* what changes keeps within what roundings are allowed, or these arguments change nothing */
  SW_AUDIT_MISSED,    /* a value changes that is compared bit for bit: a mistake of the comparison */
  SW_AUDIT_VERDICT_COUNT
} sw_audit_verdict;
SW_API const char *sw_audit_verdict_text(sw_audit_verdict v);

/* What of the program keeps a fault from changing anything, whatever the arguments are. */
typedef enum sw_no_effect {
  SW_NO_EFFECT_NONE,
  SW_NO_EFFECT_EQUAL,  /* elements are equal on all devices: of a constant, of one number that all hold */
  SW_NO_EFFECT_ALONE,  /* each device is a group by itself */
  SW_NO_EFFECT_EMPTY,  /* there are no elements */
  SW_NO_EFFECT_UNREAD, /* nothing that is compared is made of the result */
  SW_NO_EFFECT_COUNT
} sw_no_effect;
SW_API const char *sw_no_effect_text(sw_no_effect w);  /* "equal" */
SW_API const char *sw_no_effect_words(sw_no_effect w); /* a clause */
SW_API const char *sw_coll_fault_text(sw_coll_fault f);

typedef struct sw_audit_entry {
  int32_t collective; /* from 1, as `run --inject-fault N` counts; 0: an op that is made again, and `op` is not set */
  const char *name;   /* of the program's op */
  sw_coll_op op;
  sw_coll_fault fault;
  sw_audit_verdict verdict;
  sw_no_effect why; /* of NO_EFFECT */
  /* Noticed: what the first op that differs makes, or NULL (the run failed). Undecided or missed: the first value of
   * the model that changed, and the largest part that any value uses of what it is allowed; NULL: none changed. */
  const char *value;
  double used;
} sw_audit_entry;

typedef struct sw_audit {
  int32_t n_collectives, n_copies, n_entries; /* copies: local ops that make values again */
  const sw_audit_entry *entries;              /* by collective, then of copies; of each by fault */
  int32_t count[SW_AUDIT_VERDICT_COUNT];
  sw_validation right; /* the run without a fault; when it does not match, no fault is tried */
} sw_audit;

/* `intermediates` are compared where o says so; o->inject_fault, outputs, mpi and listeners are not used. */
SW_API SW_CHECKED sw_rc sw_audit_plan(const sw_plan *plan, const sw_validate_options *o, sw_arena *arena, sw_audit *out,
                                      sw_diag *d);
/* The same of a program that came partitioned, beside the whole one. */
SW_API SW_CHECKED sw_rc sw_audit_local(const sw_local_program *p, const sw_graph *whole, const sw_validate_options *o,
                                       sw_arena *arena, sw_audit *out, sw_diag *d);

#endif
