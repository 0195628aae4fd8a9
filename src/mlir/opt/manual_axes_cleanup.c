#include "mlir/opt/pass.h"

#include <string.h>

/* Is the axis in a sharding, whole or in part, for a dimension or as replicated or unreduced? */
static bool has_axis(const sw_open_sharding *s, int axis) {
  for (int i = 0; i < s->cut.n_refs + s->cut.n_partial; i++) {
    if (s->cut.refs[i].axis == axis) return true;
  }
  for (int i = 0; i < s->n_replicated; i++) {
    if (s->replicated[i].axis == axis) return true;
  }
  return false;
}

/* Manual axes that a sharding does not speak of are replicated in it, in the order of the mesh. */
static sw_rc complete(sw_opt_work *w, uint32_t slot, uint32_t manual) {
  sw_open_sharding s;
  bool any;
  SW_TRY(sw_opt_sharding(w, slot, &s, &any));
  if (!any) return SW_OK;
  const sw_mesh *m = &sw_opt_mesh(&w->shardings, &s)->mesh;
  uint8_t n = s.n_replicated;
  for (int axis = 0; axis < m->n_axes; axis++) {
    if (!(manual >> axis & 1) || has_axis(&s, axis)) continue;
    if (s.n_replicated == SW_MAX_REFS)
      return SW_FAIL_INPUT(w->d, sw_ir_place(w->t, w->shardings.slots.at[slot].said.at), "more than %d axes",
                           SW_MAX_REFS);
    int at = s.n_replicated++;
    for (; at > 0 && s.replicated[at - 1].axis > axis; at--) s.replicated[at] = s.replicated[at - 1];
    s.replicated[at] = sw_axis_whole(m, axis);
  }
  return s.n_replicated > n ? sw_opt_say(w, slot, &s) : SW_OK;
}

/* {"x", "y"} in the order of the mesh. */
static sw_rc sort_manual_axes(sw_opt_work *w, uint32_t op, const sw_mesh *m, uint32_t manual) {
  const sw_ir_span axes = sw_sdy_manual_axes(w->t, &w->t->ops.at[op]);
  sw_axis_ref refs[SW_MAX_AXES];
  sw_text t = {0};
  int n = 0;
  for (int axis = 0; axis < m->n_axes; axis++) {
    if (manual >> axis & 1) refs[n++] = sw_axis_whole(m, axis);
  }
  sw_text_puts(&t, "{");
  sw_sdy_axes_print(m, refs, n, &t);
  sw_text_puts(&t, "}");
  const char *text = sw_text_keep(&t, &w->arena, w->d);
  if (!text) return SW_E_RESOURCE;
  const bool same = strlen(text) == sw_ir_len(axes) && memcmp(text, w->t->s + axes.at, sw_ir_len(axes)) == 0;
  return same ? SW_OK : sw_ir_replace(&w->edits, axes.at, axes.end, text);
}

static sw_rc clean_place(sw_opt_work *w, const sw_sharded_place *p, bool *sorted) {
  sw_open_sharding s;
  bool any = false;
  if (!p->n) return SW_OK;
  SW_TRY(sw_opt_sharding(w, p->first, &s, &any));
  if (!any) return SW_OK;
  const sw_mesh m = sw_opt_mesh(&w->shardings, &s)->mesh;
  const uint32_t manual = sw_opt_manual_axes(w, p, &m);
  if (!*sorted && manual) SW_TRY(sort_manual_axes(w, p->op, &m, manual));
  *sorted = true;
  for (uint32_t i = p->first; i < p->first + p->n; i++) SW_TRY(complete(w, i, manual));
  return SW_OK;
}

sw_rc sw_pass_manual_axes_cleanup(sw_opt_work *w) {
  bool sorted = false;
  for (size_t i = 0; i < w->shardings.places.n; i++) {
    const sw_sharded_place p = w->shardings.places.at[i];
    if (!sw_ir_is(w->t, w->t->ops.at[p.op].name, "sdy.manual_computation")) continue;
    if (p.kind == SW_SHARDED_IN) sorted = false; /* the next op */
    SW_TRY(clean_place(w, &p, &sorted));
  }
  return SW_OK;
}
