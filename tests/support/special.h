/* Unary functions of floats, slowly where the C library lacks them: for comparison with fast ones. */
#ifndef TESTS_SUPPORT_SPECIAL_H_
#define TESTS_SUPPORT_SPECIAL_H_

#include "shardwright/op.h"
#include "collective/scalar.h"

double unary_float(sw_opcode code, double a);
double zeta_or_polygamma(sw_opcode code, double a, double b);
/* Of complex numbers, from functions of real ones; b is unused by unary ops. */
sw_scalar complex_op(sw_opcode code, sw_scalar a, sw_scalar b);

#endif
