#include "mlir/opt/pass.h"

static bool is_one(const sw_mesh *m, const sw_axis_ref *a) { return m->axis[a->axis].size == 1; }

/* The sharding without axes of one device; *changed: it had some. */
static bool without_ones(const sw_mesh *m, const sw_open_sharding *s, sw_open_sharding *out) {
  bool changed = false;
  *out = *s;
  out->cut = (sw_sharding){.rank = s->cut.rank};
  out->n_replicated = 0;
  for (int k = 0; k < s->cut.rank; k++) {
    int n, kept = 0;
    const sw_axis_ref *a = sw_sharding_dim(&s->cut, k, &n);
    for (int i = 0; i < n; i++) kept += !is_one(m, &a[i]) && sw_sharding_push(&out->cut, k, a[i]);
    changed |= kept < n;
    if (!kept && !(s->open >> k & 1)) out->has_priority &= ~(1u << k); /* it has nothing to order */
  }
  for (int i = 0; i < s->n_replicated; i++) {
    if (!is_one(m, &s->replicated[i])) out->replicated[out->n_replicated++] = s->replicated[i];
  }
  const sw_axis_ref *partial = sw_sharding_partial(&s->cut);
  for (int i = 0; i < s->cut.n_partial; i++) {
    if (!is_one(m, &partial[i]))
      (void)sw_sharding_push_partial(&out->cut, (sw_reduction)s->cut.partial_kind, partial[i]);
  }
  return changed || out->n_replicated < s->n_replicated || out->cut.n_partial < s->cut.n_partial;
}

sw_rc sw_pass_remove_size_one_axes(sw_opt_work *w) {
  for (uint32_t i = 0; i < w->shardings.slots.n; i++) {
    sw_open_sharding s, out;
    bool any;
    SW_TRY(sw_opt_sharding(w, i, &s, &any));
    if (any && without_ones(&sw_opt_mesh(&w->shardings, &s)->mesh, &s, &out)) SW_TRY(sw_opt_say(w, i, &out));
  }
  return SW_OK;
}
