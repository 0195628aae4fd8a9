#include "mlir/opt/pass.h"

/* Open dimensions end before their first axis that is a part. */
static bool without_parts(const sw_mesh *m, const sw_open_sharding *s, sw_open_sharding *out) {
  bool changed = false;
  *out = *s;
  out->cut = (sw_sharding){.rank = s->cut.rank};
  for (int k = 0; k < s->cut.rank; k++) {
    int n, kept = 0;
    const sw_axis_ref *a = sw_sharding_dim(&s->cut, k, &n);
    const bool open = s->open >> k & 1;
    while (kept < n && (!open || a[kept].size == m->axis[a[kept].axis].size))
      (void)sw_sharding_push(&out->cut, k, a[kept++]);
    changed |= kept < n;
  }
  for (int i = 0; i < s->cut.n_partial; i++)
    (void)sw_sharding_push_partial(&out->cut, (sw_reduction)s->cut.partial_kind, sw_sharding_partial(&s->cut)[i]);
  return changed;
}

sw_rc sw_pass_remove_sub_axes_in_input_output_shardings(sw_opt_work *w) {
  for (uint32_t i = 0; i < w->shardings.slots.n; i++) {
    const sw_sharded_place *p = &w->shardings.places.at[w->shardings.slots.at[i].place];
    sw_open_sharding s, out;
    bool any;
    if (p->kind != SW_SHARDED_ARGUMENTS && p->kind != SW_SHARDED_RESULTS) continue;
    if (!sw_opt_is_entry(w->t, w->names, p->op)) continue;
    SW_TRY(sw_opt_sharding(w, i, &s, &any));
    if (any && without_parts(&sw_opt_mesh(&w->shardings, &s)->mesh, &s, &out)) SW_TRY(sw_opt_say(w, i, &out));
  }
  return SW_OK;
}
