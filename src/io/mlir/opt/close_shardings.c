#include "io/mlir/opt/pass.h"

/* No dimension is open any more, so replicated axes say nothing. */
static sw_rc close_shardings(sw_opt_work *w) {
  for (size_t i = 0; i < w->flow->said.n; i++) {
    w->flow->said.at[i].open = 0;
    w->flow->said.at[i].n_replicated = 0;
  }
  return SW_OK;
}

const sw_opt_pass sw_pass_close_shardings = {"close-shardings", "close all dimensions and drop replicated axes", NULL,
                                             true, close_shardings};
