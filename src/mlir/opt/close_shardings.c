#include "mlir/opt/pass.h"

/* No dimension is open any more, so replicated axes say nothing. */
sw_rc sw_pass_close_shardings(sw_opt_work *w) {
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
