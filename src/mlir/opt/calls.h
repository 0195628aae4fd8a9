/* Which functions call which. */
#ifndef MLIR_OPT_CALLS_H_
#define MLIR_OPT_CALLS_H_

#include "mlir/opt/pass.h"

typedef struct sw_opt_calls {
  uint32_t *callee;   /* by op: the function that it calls; SW_IR_NONE: it is no call of one of the text */
  uint32_t *first;    /* by op that is a function: the first call in it; SW_IR_NONE: it has none */
  uint32_t *next;     /* by call: the next one of the same function, in the order of the text */
  uint32_t *order, n; /* functions, each behind those that it calls */
} sw_opt_calls;

/* In the arena. SW_E_INPUT where a function calls itself, also through others. */
SW_CHECKED sw_rc sw_opt_calls_read(sw_opt_work *w, sw_opt_calls *out);
/* The name of the function that a function is a copy of, or its own. */
sw_ir_span sw_opt_original_name(const sw_ir_tree *t, const sw_ir_op *f);
/* The last op of the module: what is put in behind it ends the text of the module. SW_IR_NONE: there is none. */
uint32_t sw_opt_last_of_module(const sw_opt_work *w);

#endif
