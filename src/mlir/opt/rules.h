/* Sharding rules that passes say. */
#ifndef MLIR_OPT_RULES_H_
#define MLIR_OPT_RULES_H_

#include "mlir/opt/pass.h"

/* ([i, j])->([i, j]) {i=8, j=8}: of an op whose result, of this slot, is cut as its operand is. */
SW_CHECKED sw_rc sw_opt_say_identity_rule(sw_opt_work *w, uint32_t op, uint32_t slot);

#endif
