/* The layers of propagation as passes (propagate/flow.h). */
#include "mlir/opt/pass.h"

static sw_rc propagate(sw_opt_work *w, sw_layer layer) {
  SW_TRY(sw_opt_flag(w, "conservative-propagation", false, &w->flow->flow.conservative));
  return sw_flow_propagate(&w->flow->flow, layer, w->d);
}

static sw_rc basic(sw_opt_work *w) { return propagate(w, SW_LAYER_BASIC); }
static sw_rc aggressive(sw_opt_work *w) { return propagate(w, SW_LAYER_AGGRESSIVE); }
static sw_rc op_priority(sw_opt_work *w) { return propagate(w, SW_LAYER_OP_PRIORITY); }
static sw_rc user_priority(sw_opt_work *w) { return propagate(w, SW_LAYER_USER_PRIORITY); }

static const char kOptions[] = "conservative-propagation=BOOL: split no axis, and cut only what axes divide\n";

const sw_opt_pass sw_pass_basic_propagate = {"basic-propagate", "propagate what nothing contradicts", kOptions, true,
                                             basic};
const sw_opt_pass sw_pass_aggressive_propagate = {"aggressive-propagate", "propagate, and resolve conflicts", kOptions,
                                                  true, aggressive};
const sw_opt_pass sw_pass_op_priority_propagate = {"op-priority-propagate", "propagate, cheap ops first", kOptions,
                                                   true, op_priority};
const sw_opt_pass sw_pass_user_priority_propagate = {
    "user-priority-propagate", "propagate by priorities, the lowest number first", kOptions, true, user_priority};
