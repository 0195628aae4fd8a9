/* Basic: axes go along a factor as far as no tensor of the step contradicts, be it by another cut of the factor or by
 * the use of an axis elsewhere. */
#include "propagate/flow/projection.h"

void sw_propagate_basic(sw_projection *p, const sw_direction *direction) {
  sw_axes axes[SW_MOST_FACTORS];
  for (int k = 0; k < p->n_factors; k++) {
    axes[k] = sw_compatible_axes(p, k, direction[k]);
    for (int i = 0; i < p->n && axes[k].n; i++) {
      if (!p->tensor[i].absent) axes[k] = sw_axes_allowed(p, i, k, &axes[k]);
    }
  }
  for (int k = 0; k < p->n_factors; k++) {
    for (int i = 0; i < p->n; i++) {
      sw_factor_cut *c = &p->tensor[i].at[k];
      if (!c->present || !sw_axes_extend(&c->axes, &axes[k])) continue;
      c->axes = axes[k];
      c->grown = true;
    }
  }
}
