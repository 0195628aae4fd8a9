#include "mlir/opt/pass.h"

sw_rc sw_pass_sharding_constraint_to_reshard(sw_opt_work *w) {
  for (uint32_t i = 0; i < w->t->ops.n; i++) {
    const sw_ir_span name = w->t->ops.at[i].name;
    if (sw_ir_is(w->t, name, "sdy.sharding_constraint"))
      SW_TRY(sw_ir_replace(&w->edits, name.at, name.end, "sdy.reshard"));
  }
  return SW_OK;
}
