/* Aggressive: every tensor takes what it can have itself. Where factors want one axis of a tensor, the factor goes
 * first whose axes come from the larger tensor (elementwise: that is cut more); of equal ones the first. */
#include "propagate/flow/projection.h"

#include <stdlib.h>

/* As the rule counts them: where tensors of several sizes share a factor, its size is that of all. */
static double elements_of(const sw_projection *p, int i) {
  double n = 1;
  for (int k = 0; k < p->n_factors; k++) {
    if (p->tensor[i].at[k].present) n *= (double)p->size[k];
  }
  return n;
}

/* The largest tensor that has all these axes along the factor; else the first that has some. */
static int source_tensor_of(const sw_projection *p, const sw_wish *w, double *elements) {
  int best = -1;
  int64_t most = 0;
  for (int i = 0; i < p->n; i++) {
    const sw_factor_cut *c = &p->tensor[i].at[w->factor];
    if (!c->present || !c->axes.n) continue;
    int64_t shards = sw_axes_size(&c->axes);
    double n = elements_of(p, i);
    if (shards < most || (shards == most && best >= 0 && n <= *elements)) continue;
    best = i;
    most = shards;
    *elements = n;
  }
  return best;
}

int sw_wish_compare(const void *a, const void *b) {
  const sw_wish *x = a, *y = b;
  if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
  if (x->source != y->source) return x->source < y->source ? -1 : 1;
  return x->factor < y->factor ? -1 : x->factor > y->factor;
}

/* Operands of an elementwise op among themselves agree on no more than some result can have: else the op would work on
 * cut operands and give a result that is not. */
static sw_axes within_results(const sw_projection *p, int factor, const sw_axes *axes) {
  sw_axes best = {0};
  bool any = false;
  for (int i = p->step->n_operands; i < p->n; i++) {
    if (!p->tensor[i].at[factor].present) continue;
    sw_axes here = sw_axes_allowed(p, i, factor, axes);
    if (!any || sw_axes_size(&here) > sw_axes_size(&best)) best = here;
    any = true;
  }
  return any ? best : *axes;
}

bool sw_wish_of(const sw_projection *p, int factor, sw_direction direction, bool elementwise, sw_wish *out) {
  *out = (sw_wish){.factor = factor, .axes = sw_compatible_axes(p, factor, direction)};
  if (!out->axes.n) return false;
  out->source = source_tensor_of(p, out, &out->weight);
  if (elementwise) out->weight = (double)sw_axes_size(&out->axes);
  return true;
}

void sw_propagate_aggressive(sw_projection *p, const sw_direction *direction, bool elementwise) {
  sw_wish wishes[SW_MOST_FACTORS];
  int n = 0;
  for (int k = 0; k < p->n_factors; k++) n += sw_wish_of(p, k, direction[k], elementwise, &wishes[n]);
  qsort(wishes, (size_t)n, sizeof *wishes, sw_wish_compare);
  for (int k = 0; k < n; k++) {
    const int factor = wishes[k].factor;
    const sw_axes sideways = elementwise ? within_results(p, factor, &wishes[k].axes) : wishes[k].axes;
    for (int i = 0; i < p->n; i++) {
      sw_factor_cut *c = &p->tensor[i].at[factor];
      if (!c->present) continue;
      sw_axes axes = sw_axes_allowed(p, i, factor, i < p->step->n_operands ? &sideways : &wishes[k].axes);
      if (!sw_axes_extend(&c->axes, &axes)) continue;
      c->axes = axes;
      c->grown = true;
    }
  }
}
