/* Sums of products of p, g, l, r, t and d (region.h). False: not one, or of too many terms. */
#ifndef GRAPH_FUSE_TERMS_H_
#define GRAPH_FUSE_TERMS_H_

#include "graph/fuse/region.h"

bool sw_fuse_add(sw_fuse_value *to, const sw_fuse_value *x, double factor);
/* x y, or with sign -1 x / y, where y has one term. */
bool sw_fuse_multiply(sw_fuse_value *to, const sw_fuse_value *x, const sw_fuse_value *y, int sign);
/* Over the keys: p adds up to 1, p g (p g d, if it drops) to r; what is the same for all keys comes out. */
bool sw_fuse_sum(sw_fuse_value *to, const sw_fuse_value *x, bool drops);
/* p, or *by p d */
bool sw_fuse_is_softmax(const sw_fuse_value *v, bool drops, double *by);
bool sw_fuse_is_tanh(const sw_fuse_value *v);
/* factor (p g - p r), or *by factor (p g d - p r), and (1 - t t) times that with a softcap */
bool sw_fuse_is_derivative(const sw_fuse_value *v, double factor, bool capped, bool drops, double *by);

#endif
