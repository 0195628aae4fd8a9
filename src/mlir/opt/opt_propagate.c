/* The layers of propagation as passes (propagate/flow.h). */
#include "mlir/opt/pass.h"

static sw_rc propagate(sw_opt_work *w, sw_layer layer) {
  SW_TRY(sw_opt_flag(w, "conservative-propagation", false, &w->flow->flow.conservative));
  return sw_flow_propagate(&w->flow->flow, layer, w->d);
}

sw_rc sw_pass_basic_propagate(sw_opt_work *w) { return propagate(w, SW_LAYER_BASIC); }
sw_rc sw_pass_aggressive_propagate(sw_opt_work *w) { return propagate(w, SW_LAYER_AGGRESSIVE); }
sw_rc sw_pass_op_priority_propagate(sw_opt_work *w) { return propagate(w, SW_LAYER_OP_PRIORITY); }
sw_rc sw_pass_user_priority_propagate(sw_opt_work *w) { return propagate(w, SW_LAYER_USER_PRIORITY); }
