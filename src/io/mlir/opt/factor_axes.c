#include "io/mlir/opt/factor_axes.h"

static bool push(sw_axes *a, sw_axis_ref r) {
  if (a->n == SW_MAX_REFS) return false;
  a->at[a->n++] = r;
  return true;
}

bool sw_axes_along_factors(const sw_flow_rule *rule, const sw_flow_dim *dim, const sw_axis_ref *refs, int n,
                           sw_axes *out) {
  int f = 0;
  int64_t left = dim->n ? rule->size[dim->at[0]] : 1;
  for (int i = 0; i < n; i++) {
    sw_axis_ref r = refs[i];
    while (r.size > 1) {
      while (left == 1 && f + 1 < dim->n) left = rule->size[dim->at[++f]];
      const bool fits = left % r.size == 0;
      if (left <= 1 || (!fits && r.size % left)) return false;
      const int32_t size = fits ? r.size : (int32_t)left;
      if (!push(&out[dim->at[f]], (sw_axis_ref){r.axis, r.pre, size})) return false;
      r = (sw_axis_ref){r.axis, r.pre * size, r.size / size};
      left /= size;
    }
  }
  return true;
}
