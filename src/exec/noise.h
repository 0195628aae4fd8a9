/* How large the rounding errors of values are, relative to each other. */
#ifndef EXEC_NOISE_H_
#define EXEC_NOISE_H_

#include "shardwright/graph.h"

/* noise[value] from magnitude[value] (the largest absolute element; 0 for what is not a float), both by value id: the
 * size of number whose rounding shows in the value. It is the magnitude where nothing cancels. */
void sw_noise_scales(const sw_graph *g, const double *magnitude, double *noise);

#endif
