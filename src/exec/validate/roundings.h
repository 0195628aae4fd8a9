/* What rounding may do to the values of a program, found by running it again: perturbed on one device, and sharded for
 * its partial sums. */
#ifndef EXEC_ROUNDINGS_H_
#define EXEC_ROUNDINGS_H_

#include "exec/validate/sharded.h"
#include "exec/validate/single.h"

typedef struct sw_roundings {
  const sw_single *sharp; /* the run without perturbation */
  double *magnitude;      /* by value: the largest element */
  double *noise;          /* by value: how far roundings were seen to move one */
  double *norm, *spread;  /* by value: that of all elements, and how far roundings were seen to move it */
  sw_tensor *turned;      /* by value; of integers and bools, true where a rounding turned one; no data: nowhere */
  double **partials;      /* by value and element: the largest partial sum on the way to it; NULL: none */
  int32_t *trip;          /* by value: how often a perturbed run has made it */
  double **moved;         /* by output and element: how far roundings were seen to move it; NULL: not known */
} sw_roundings;

/* Nothing is known yet but magnitudes. The sharp run must outlive it; what is noted is released by deinit, also after a
 * failure. */
SW_CHECKED sw_rc sw_roundings_init(sw_roundings *r, const sw_single *sharp, sw_arena *arena, sw_diag *d);
void sw_roundings_deinit(sw_roundings *r);

/* Partial sums may be larger than what they add up to, and it is they that are rounded: notes those among the results
 * of an op of the partitioned program on one device. Not for several threads at once. */
SW_CHECKED sw_rc sw_roundings_record_partials(sw_roundings *r, const sw_sharded *s, int64_t device, const sw_op *op,
                                              const sw_buffer *const *results, sw_diag *d);
/* Room for what is seen of outputs alone; init makes it, too. */
SW_CHECKED sw_rc sw_roundings_init_outputs(sw_roundings *r, const sw_single *sharp, sw_arena *arena, sw_diag *d);
/* Runs the program `runs` times with every result moved by about a last place, of itself or of its partial sums. */
SW_CHECKED sw_rc sw_roundings_perturb(sw_roundings *r, int runs, sw_cancel *cancel, sw_arena *scratch, sw_diag *d);

/* Tolerance of the elements of a value; `whole` is what the sharp run made of it. Nothing need be known of roundings
 * (all zero): then none for what cancels. */
sw_tolerance sw_roundings_tolerance(const sw_roundings *r, const sw_single *sharp, sw_id value, const sw_buffer *whole);
/* Where roundings turn elements of a value; NULL: nowhere. */
static inline const sw_buffer *sw_roundings_turned(const sw_roundings *r, sw_id value) {
  return r->turned && r->turned[value].data ? &r->turned[value] : NULL;
}

/* Is a block of a value as a whole further off than roundings move all of it? Fills the norms of *e. */
void sw_roundings_judge_block(const sw_roundings *r, sw_id value, const sw_block_pair *c, sw_validate_entry *e);

/* Compares output `i` on the cut's devices, blocks[device * stride], with the sharp run's, which is the cut's whole:
 * the worst of them in *e, and the elements compared added to out->elements; what differs ends out->matches. Where it
 * is known how roundings move elements, a block as a whole must not be much further off than they were. */
SW_CHECKED sw_rc sw_roundings_judge(const sw_roundings *r, const sw_single *sharp, int32_t i, const sw_cut *c,
                                    const sw_tensor *blocks, sw_validate_entry *e, sw_validation *out, sw_diag *d);

#endif
