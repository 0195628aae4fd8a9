#include "mlir/opt/pass.h"

#include "base/checked.h"

/* Axes of dimension k that stay: as long as what is left of its size is a multiple of theirs, the first that is not
 * with the part that divides it. Manual axes, which come first, divide it by construction. */
static void push_even(const sw_axis_ref *a, int n, int64_t size, uint32_t manual, int k, sw_sharding *out) {
  for (int i = 0; i < n; i++) {
    sw_axis_ref part = a[i];
    const bool is_manual = manual >> a[i].axis & 1;
    if (!is_manual) part.size = (int32_t)sw_gcd_i64(size, a[i].size);
    if (part.size == 1 && !is_manual) return;
    (void)sw_sharding_push(out, k, part);
    if (part.size != a[i].size) return;
    size /= part.size;
  }
}

/* Each dimension that the axes do not divide loses its priority, too. */
static bool make_even(const sw_type *type, uint32_t manual, const sw_open_sharding *s, sw_open_sharding *out) {
  bool changed = false;
  *out = *s;
  out->cut = (sw_sharding){.rank = s->cut.rank};
  for (int k = 0; k < s->cut.rank; k++) {
    int n;
    const sw_axis_ref *a = sw_sharding_dim(&s->cut, k, &n);
    if (type->dims[k] % sw_sharding_shards(&s->cut, k) == 0) {
      for (int i = 0; i < n; i++) (void)sw_sharding_push(&out->cut, k, a[i]);
      continue;
    }
    changed = true;
    push_even(a, n, type->dims[k], manual, k, &out->cut);
    out->has_priority &= ~(1u << k);
    out->priority[k] = 0;
  }
  for (int i = 0; i < s->cut.n_partial; i++)
    (void)sw_sharding_push_partial(&out->cut, (sw_reduction)s->cut.partial_kind, sw_sharding_partial(&s->cut)[i]);
  return changed;
}

static bool is_border(const sw_opt_work *w, const sw_sharded_place *p) {
  const sw_ir_span name = w->t->ops.at[p->op].name;
  if (p->kind == SW_SHARDED_IN || p->kind == SW_SHARDED_OUT) return sw_ir_is(w->t, name, "sdy.manual_computation");
  return p->kind == SW_SHARDED_ARGUMENTS || p->kind == SW_SHARDED_RESULTS ||
         (p->kind == SW_SHARDED_OP && sw_ir_is_among(w->t, name, "call func.call"));
}

static sw_rc update_slot(sw_opt_work *w, const sw_sharded_place *p, uint32_t slot) {
  sw_open_sharding s, out;
  sw_type type;
  bool any, known;
  SW_TRY(sw_opt_sharding(w, slot, &s, &any));
  SW_TRY(sw_opt_slot_type(w, slot, &type, &known));
  if (!any || !known || type.rank != s.cut.rank) return SW_OK;
  const uint32_t manual = sw_opt_manual_axes(w, p, &sw_opt_mesh(&w->shardings, &s)->mesh);
  return make_even(&type, manual, &s, &out) ? sw_opt_say(w, slot, &out) : SW_OK;
}

sw_rc sw_pass_update_non_divisible_input_output_shardings(sw_opt_work *w) {
  for (size_t i = 0; i < w->shardings.places.n; i++) {
    const sw_sharded_place p = w->shardings.places.at[i];
    for (uint32_t k = p.first; is_border(w, &p) && k < p.first + p.n; k++) SW_TRY(update_slot(w, &p, k));
  }
  return SW_OK;
}
