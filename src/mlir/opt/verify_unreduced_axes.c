/* What is unreduced is reduced by an op that says so, or stays so in the results of the op that takes it. */
#include <string.h>

#include "mlir/opt/opt_rewrite.h"

/* Ops that hand values on, to be checked where these are used, or that say themselves what they reduce. */
static bool is_bound(const sw_ir_tree *t, const sw_ir_op *o) {
  return sw_ir_starts(t, o->name, "sdy.") || sw_ir_ends(t, o->name, "return") || sw_opt_is_call(t, o);
}

static sw_rc unreduced(sw_opt_work *w, uint32_t value, sw_open_sharding *out) {
  const uint32_t slot = value == SW_IR_NONE ? SW_IR_NONE : w->shardings.of_value[value];
  bool any = false;
  if (slot != SW_IR_NONE) SW_TRY(sw_opt_sharding(w, slot, out, &any));
  if (!any) *out = (sw_open_sharding){.mesh = -1};
  return SW_OK;
}

static int64_t end_of_axis_ref(sw_axis_ref a) { return (int64_t)a.pre * a.size; }

/* What is left of one ref before and behind another one of its axis. */
static int minus_one(sw_axis_ref a, sw_axis_ref b, sw_axis_ref *out) {
  int n = 0;
  if (!sw_axis_ref_overlaps(a, b)) {
    out[n++] = a;
    return n;
  }
  if (b.pre > a.pre) out[n++] = (sw_axis_ref){a.axis, a.pre, b.pre / a.pre};
  if (end_of_axis_ref(b) < end_of_axis_ref(a))
    out[n++] = (sw_axis_ref){a.axis, (int32_t)end_of_axis_ref(b), (int32_t)(end_of_axis_ref(a) / end_of_axis_ref(b))};
  return n;
}

/* refs[0 .. n) without the axes of without[0 .. m), in parts where these are parts; at most SW_MAX_REFS in out[].
 * Returns how many. */
static int refs_minus(const sw_axis_ref *refs, int n, const sw_axis_ref *without, int m, sw_axis_ref *out) {
  sw_axis_ref left[SW_MAX_REFS], next[2 * SW_MAX_REFS];
  int n_left = n < SW_MAX_REFS ? n : SW_MAX_REFS;
  memcpy(left, refs, (size_t)n_left * sizeof *left);
  for (int k = 0; k < m; k++) {
    int n_next = 0;
    for (int i = 0; i < n_left; i++) n_next += minus_one(left[i], without[k], &next[n_next]);
    n_left = n_next < SW_MAX_REFS ? n_next : SW_MAX_REFS;
    memcpy(left, next, (size_t)n_left * sizeof *left);
  }
  memcpy(out, left, (size_t)n_left * sizeof *left);
  return n_left;
}

/* Axes of `from` over which `to` is not unreduced by the same reduction. */
static int lost(sw_opt_work *w, const sw_open_sharding *from, const sw_open_sharding *to, sw_axis_ref *out) {
  const bool kept = to->mesh >= 0 && from->cut.partial_kind == to->cut.partial_kind &&
                    sw_sdy_same_mesh(&sw_opt_mesh(&w->shardings, from)->mesh, &sw_opt_mesh(&w->shardings, to)->mesh);
  return refs_minus(sw_sharding_partial(&from->cut), from->cut.n_partial, sw_sharding_partial(&to->cut),
                    kept ? to->cut.n_partial : 0, out);
}

static sw_rc check_result_unreduced(sw_opt_work *w, uint32_t op, uint32_t operand, const sw_open_sharding *from,
                                    uint32_t i) {
  const sw_ir_op *o = &w->t->ops.at[op];
  sw_open_sharding to;
  sw_axis_ref left[SW_MAX_REFS];
  SW_TRY(unreduced(w, sw_ir_result_value(&w->values, w->t, o, i), &to));
  const int n = lost(w, from, &to, left);
  if (!n) return SW_OK;
  sw_text axes = {0};
  sw_sdy_axes_print(&sw_opt_mesh(&w->shardings, from)->mesh, left, n, &axes);
  const sw_rc rc =
      SW_FAIL_INPUT(w->d, sw_ir_place(w->t, o->text.at),
                    "operand %u of '%.*s' is unreduced over {%s}, and result %u is not; expected it to stay "
                    "so or a reduction before it",
                    operand, SW_IR_TEXT(w->t, o->name), sw_text_str(&axes), i);
  sw_text_free(&axes);
  return rc;
}

static sw_rc check_op_unreduced(sw_opt_work *w, uint32_t op) {
  const sw_ir_op *o = &w->t->ops.at[op];
  const uint32_t n = sw_ir_result_count(w->t, o);
  const bool one_to_one = sw_opt_is_data_flow(w->t, o) && o->n_uses == n;
  for (uint32_t k = 0; k < o->n_uses; k++) {
    sw_open_sharding from;
    SW_TRY(unreduced(w, sw_ir_operand_value(&w->values, o, k), &from));
    if (from.mesh < 0 || !from.cut.n_partial) continue;
    for (uint32_t i = one_to_one ? k : 0; i < (one_to_one ? k + 1 : n); i++)
      SW_TRY(check_result_unreduced(w, op, k, &from, i));
  }
  return SW_OK;
}

sw_rc sw_pass_verify_unreduced_axes(sw_opt_work *w) {
  for (uint32_t op = 0; op < w->t->ops.n; op++) {
    if (w->values.function_of[op] == op || is_bound(w->t, &w->t->ops.at[op])) continue;
    SW_TRY(check_op_unreduced(w, op));
  }
  return SW_OK;
}
