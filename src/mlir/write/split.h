/* Functions that a plan cuts in several ways, as one copy for each of them: a program whose every function is cut in
 * one way. */
#ifndef MLIR_SPLIT_H_
#define MLIR_SPLIT_H_

#include "mlir/import/import_program.h"
#include "shardwright/plan.h"

/* Text, tree and names of `p` with these copies, and of each function's calls one in `made`, `carried`, `captured` and
 * `calls`; the graph is that of `p`. *done = false, and nothing in `q`: calls stand where they cannot go to another
 * function. `q` is zeroed, and to be freed in any case. */
SW_CHECKED sw_rc sw_ir_split(const sw_program *p, const sw_plan *plan, sw_program *q, bool *done, sw_diag *d);
void sw_ir_split_free(sw_program *q);

#endif
