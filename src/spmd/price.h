/* Prices of single ops of a program, those that sw_spmd_price adds up. The program need not be sealed. */
#ifndef SPMD_PRICE_H_
#define SPMD_PRICE_H_

#include "shardwright/spmd.h"

/* One run of the op on one device. */
double sw_spmd_op_s(const sw_spmd *s, const sw_machine *machine, const sw_op *op);
/* The bytes that a collective is priced by: of the larger side, and of a slice what is copied. */
double sw_spmd_collective_bytes(const sw_spmd *s, const sw_op *op);

#endif
