/* Lists of axis refs: are they digits of their axes, and can they stand together? */
#include "mesh/refs.h"

static sw_rc check_one(const sw_mesh *m, sw_axis_ref r, sw_span at, sw_diag *d) {
  if (r.axis < 0 || r.axis >= m->n_axes) {
    return SW_FAIL_INPUT(d, at, "axis %d is not in the mesh; expected 0 to %d", r.axis, m->n_axes - 1);
  }
  int64_t axis_size = m->axis[r.axis].size;
  if (axis_size < 0 && r.pre == 1 && r.size == -1) return SW_OK;
  if (r.pre >= 1 && r.size >= 1 && axis_size % ((int64_t)r.pre * r.size) == 0) return SW_OK;
  if (axis_size < 0) {
    return SW_FAIL_INPUT(d, at, "axis '%s' has no known size, so it has no sub-axes", m->axis[r.axis].name);
  }
  return SW_FAIL_INPUT(d, at,
                       "'%s:(%d)%d' is no part of an axis of size %lld; expected (pre)size whose product divides it",
                       m->axis[r.axis].name, r.pre, r.size, (long long)axis_size);
}

static bool share_digit(sw_axis_ref a, sw_axis_ref b) {
  return sw_axis_ref_equal(a, b) || (a.pre < b.pre * b.size && b.pre < a.pre * a.size);
}

sw_rc sw_axis_refs_check(const sw_mesh *m, const sw_axis_ref *refs, int n, sw_span at, sw_diag *d) {
  for (int i = 0; i < n; i++) {
    SW_TRY(check_one(m, refs[i], at, d));
    for (int j = 0; j < i; j++) {
      if (!sw_axis_ref_overlaps(refs[i], refs[j])) continue;
      if (share_digit(refs[i], refs[j])) {
        return SW_FAIL_INPUT(d, at, "axis '%s' is used twice", m->axis[refs[i].axis].name);
      }
      return SW_FAIL_INPUT(
          d, at, "'%s:(%d)%d' and '%s:(%d)%d' do not nest; expected one to start where a multiple of the other ends",
          m->axis[refs[i].axis].name, refs[i].pre, refs[i].size, m->axis[refs[j].axis].name, refs[j].pre, refs[j].size);
    }
  }
  return SW_OK;
}
