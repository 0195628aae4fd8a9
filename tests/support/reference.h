/* A slow evaluator of ops, straight from their definitions, in f64 and 64-bit integers: what kernels are tested
 * against. It shares no code with them but the element-wise load, store and conversion of the dtypes. */
#ifndef TESTS_REFERENCE_H_
#define TESTS_REFERENCE_H_

#include "shardwright/graph.h"
#include "shardwright/tensor.h"

/* Fills out[i]->data; false when the op has no definition here (rng, generic, opaque, collective). */
/* Ops of matrices and of pooling (reference_more.c); false: none of them. */
bool reference_more(const sw_op *op, const sw_buffer *const *in, sw_buffer *const *out);
bool reference_eval(const sw_op *op, const sw_buffer *const *in, sw_buffer *const *out, const sw_mesh *mesh,
                    int64_t device);

#endif
