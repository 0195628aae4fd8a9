#include "mlir/opt/pass.h"

/* No dimension is open any more, so replicated axes say nothing. */
static sw_rc close_shardings(sw_opt_work *w) {
  SW_TRY(sw_opt_read_shardings(w));
  for (uint32_t i = 0; i < w->shardings.slots.n; i++) {
    sw_open_sharding s;
    bool any;
    SW_TRY(sw_opt_sharding(w, i, &s, &any));
    if (!any || (!s.open && !s.n_replicated)) continue;
    s.open = 0;
    s.n_replicated = 0;
    for (int k = 0, n; k < s.cut.rank; k++) {
      (void)sw_sharding_dim(&s.cut, k, &n);
      if (!n) s.has_priority &= ~(1u << k); /* it has nothing to order */
    }
    SW_TRY(sw_opt_say(w, i, &s));
  }
  return SW_OK;
}

const sw_opt_pass sw_pass_close_shardings = {"close-shardings", "close all dimensions and drop replicated axes", NULL,
                                             false, close_shardings};
