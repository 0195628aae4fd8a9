/* User priority: all of the layer below for the dimensions of the first priority, then for those of the second as well,
 * and so on. Until its turn a dimension neither gives nor takes, and its axes cut nothing else. */
#include "propagate/flow/propagation_run.h"

static int32_t next_priority(const sw_flow *f, int32_t last) {
  int32_t next = INT32_MAX;
  for (int32_t t = 0; t < f->n_tensors; t++) {
    for (int k = 0; f->shardings[t].mesh >= 0 && k < f->types[t]->rank; k++) {
      int32_t p = f->shardings[t].priority[k];
      if (p > last && p < next) next = p;
    }
  }
  return next;
}

sw_rc sw_run_user_priority(sw_run *r, sw_diag *d) {
  for (int32_t p = 0; p != INT32_MAX; p = next_priority(r->f, p)) {
    r->priority = p;
    SW_TRY(sw_run_op_priority(r, d));
  }
  return SW_OK;
}
