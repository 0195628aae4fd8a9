/* What rounding may do to the values of a program, found by trial (exec/validate/perturb.c). */
#ifndef EXEC_PERTURB_H_
#define EXEC_PERTURB_H_

#include "shardwright/clock.h"
#include "shardwright/graph.h"
#include "shardwright/tensor.h"

/* The largest absolute finite element of a float or complex tensor; 0 for others, which are compared exactly. */
double sw_magnitude(const sw_buffer *b);
/* Elements of floats and complex numbers (their parts) that are infinite or NaN. */
int64_t sw_count_not_finite(const sw_buffer *b);
/* Are all elements integers that leave room for exact sums? Of floats of few digits only where the parts of sums are
 * `held` in f32 (of bf16, which is not, with room in its own digits). */
bool sw_small_integers(const sw_buffer *b, bool held);

/* Moves every float element at random by up to one unit in the last place, each way, of itself or of its `least` (NULL:
 * none; of floats only) if that is larger; small integers stay, since arithmetic on them is exact, and so do
 * infinities, NaN and what might overflow. */
void sw_perturb(sw_buffer *b, const double *least, sw_rng *rng);
/* Euclidean, of finite float or complex elements; of the distance between two of one type (`b` NULL: from zero). */
double sw_norm(const sw_buffer *a, const sw_buffer *b);
/* The largest distance between elements of two float or complex tensors of one type where both are finite (`b` NULL:
 * from zero). */
double sw_farthest(const sw_buffer *a, const sw_buffer *b);

#endif
