#include "mlir/opt/pass.h"

static sw_rc constraints_to_reshards(sw_opt_work *w) {
  for (uint32_t i = 0; i < w->t->ops.n; i++) {
    const sw_ir_span name = w->t->ops.at[i].name;
    if (sw_ir_is(w->t, name, "sdy.sharding_constraint"))
      SW_TRY(sw_ir_replace(&w->edits, name.at, name.end, "sdy.reshard"));
  }
  return SW_OK;
}

const sw_opt_pass sw_pass_sharding_constraint_to_reshard = {"sharding-constraint-to-reshard",
                                                            "make a reshard of every sharding constraint", NULL, false,
                                                            constraints_to_reshards};
