/* Unary functions of floats, slowly where the C library lacks them: for comparison with fast ones. */
#ifndef TESTS_SUPPORT_SPECIAL_H_
#define TESTS_SUPPORT_SPECIAL_H_

#include "shardwright/op.h"

double unary_float(sw_opcode code, double a);

#endif
