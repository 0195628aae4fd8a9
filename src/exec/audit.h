/* How much a validation notices: every collective of a program is done wrong in turn, in every way there is, and the
 * run must differ from that of one device. What is not noticed is explained by what was measured, or counted as missed.
 *
 *   sw_audit a;
 *   SW_TRY(sw_audit_plan(&plan, &(sw_validate_options){.seed = 1}, &arena, &a, d));
 *   sw_audit_missed(&a) of a.n_entries faults would go by unseen
 */
#ifndef EXEC_AUDIT_H_
#define EXEC_AUDIT_H_

#include "shardwright/validate.h"

typedef enum sw_audit_verdict {
  SW_AUDIT_NOTICED,   /* a value or an output differs, or the run fails */
  SW_AUDIT_SAME_BITS, /* every value has the same bits on every device as without the fault, with three sets of
                         arguments */
  SW_AUDIT_UNREAD,    /* so has every value of the model and every output: what changed is a helper that says nothing */
  SW_AUDIT_NOISE,     /* what the collective makes is rounding noise: roundings move it as far as it is large */
  SW_AUDIT_BLIND,     /* nothing changes with these arguments, but something does with those of another seed */
  SW_AUDIT_MISSED,    /* values change, and by no more than is allowed */
  SW_AUDIT_VERDICT_COUNT
} sw_audit_verdict;
SW_API const char *sw_audit_verdict_text(sw_audit_verdict v);
SW_API const char *sw_coll_fault_text(sw_coll_fault f);

typedef struct sw_audit_entry {
  int32_t collective; /* from 1, as `run --inject-fault N` counts */
  const char *name;   /* of the program's op */
  sw_coll_op op;
  sw_coll_fault fault;
  sw_audit_verdict verdict;
  /* Noticed: what the first op that differs makes, or NULL (the run failed). Not noticed: the first of the model's
   * values that changed, or NULL; and the largest part that any value uses of what it is allowed. */
  const char *value;
  double used;
  double norm, moved; /* NOISE: how large what it makes is, and how far roundings move it (Euclidean) */
} sw_audit_entry;

typedef struct sw_audit {
  int32_t n_collectives, n_entries;
  const sw_audit_entry *entries; /* by collective, then by fault */
  int32_t count[SW_AUDIT_VERDICT_COUNT];
  sw_validation right; /* the run without a fault; when it does not match, no fault is tried */
} sw_audit;

static inline int32_t sw_audit_missed(const sw_audit *a) {
  return a->count[SW_AUDIT_BLIND] + a->count[SW_AUDIT_MISSED];
}

/* `intermediates` are compared where o says so; o->inject_fault, outputs, mpi and listeners are not used. */
SW_API SW_CHECKED sw_rc sw_audit_plan(const sw_plan *plan, const sw_validate_options *o, sw_arena *arena, sw_audit *out,
                                      sw_diag *d);
/* The same of a program that came partitioned, beside the whole one. */
SW_API SW_CHECKED sw_rc sw_audit_local(const sw_local_program *p, const sw_graph *whole, const sw_validate_options *o,
                                       sw_arena *arena, sw_audit *out, sw_diag *d);

#endif
