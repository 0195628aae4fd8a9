/* Ops that move elements along a dimension that is cut (reverse, windows, padding, slices of a part) get it whole:
 *
 *   %1 = sdy.reshard %0 <@mesh, [{"x"}, {}]>
 *   %2 = stablehlo.reverse %1, dims = [1]       in [{"x"}, {}]
 *   %3 = sdy.reshard %2 <@mesh, [{"x"}, {"y"}]>
 */
#include "io/mlir/opt/factor_axes.h"
#include "io/mlir/opt/local.h"

/* Axes of dimension k of tensor i that stay: what is minor to a factor that moves goes with it. */
static int axes_kept(const sw_flow_rule *rule, const sw_flow_dim *dim, const sw_axis_ref *refs, int n,
                     sw_axis_ref *kept) {
  sw_axes along[SW_MOST_FACTORS] = {{0}};
  int count = 0;
  if (!sw_axes_along_factors(rule, dim, refs, n, along)) return -1;
  for (int f = 0; f < dim->n; f++) {
    const sw_axes *a = &along[dim->at[f]];
    if (a->n && rule->kind[dim->at[f]] == SW_FACTOR_PERMUTATION) break;
    for (int i = 0; i < a->n; i++) kept[count++] = a->at[i];
  }
  return count;
}

/* The sharding of tensor i without what moves; *changed false: it stays. */
static sw_rc without_moves(sw_local *l, const sw_flow_step *s, int i, sw_open_sharding *out, bool *changed) {
  const sw_open_sharding *from = &l->sharding[s->tensors[i]];
  *out = *from;
  *changed = false;
  out->cut = sw_sharding_replicated(from->cut.rank);
  for (int k = 0; k < from->cut.rank; k++) {
    int n;
    sw_axis_ref kept[SW_MAX_REFS];
    const sw_axis_ref *refs = sw_sharding_dim(&from->cut, k, &n);
    const int count = axes_kept(s->rule, &s->rule->dim[i * SW_MAX_RANK + k], refs, n, kept);
    if (count < 0)
      return SW_LOCAL_FAIL(l, s->source, "'%.*s' does not pass on how dimension %d of value %d is cut",
                           SW_IR_TEXT(l->t, l->t->ops.at[s->source].name), k, i);
    for (int a = 0; a < count; a++) (void)sw_sharding_push(&out->cut, k, kept[a]);
    if (n && (count < n || sw_axis_refs_size(kept, count) < sw_axis_refs_size(refs, n))) *changed = true;
  }
  for (int a = 0; a < from->cut.n_partial; a++)
    (void)sw_sharding_push_partial(&out->cut, (sw_reduction)from->cut.partial_kind, sw_sharding_partial(&from->cut)[a]);
  return SW_OK;
}

/* `%new = sdy.reshard %x <...> : type` */
static sw_rc put_reshard(sw_local *l, const char *x, const sw_open_sharding *to, sw_ir_span type, const char **name) {
  l->lines.n = 0;
  *name = sw_local_begin(l, NULL);
  sw_text_printf(&l->lines, "sdy.reshard %s ", x);
  SW_TRY(sw_open_sharding_print(&l->flow.sdy, to, &l->lines));
  type = sw_ir_trimmed(l->t, type);
  sw_text_printf(&l->lines, " : %.*s\n", SW_IR_TEXT(l->t, type));
  return *name ? SW_OK : SW_E_RESOURCE;
}

/* All shardings of the op's results, with `to` in place of those that change. */
static sw_rc say_results(sw_local *l, const sw_flow_step *s, const sw_open_sharding *to) {
  l->lines.n = 0;
  sw_text_puts(&l->lines, "#sdy.sharding_per_value<[");
  for (int i = 0; i < s->n_results; i++) {
    sw_text_puts(&l->lines, i ? ", " : "");
    SW_TRY(sw_open_sharding_print(&l->flow.sdy, &to[i], &l->lines));
  }
  sw_text_puts(&l->lines, "]>");
  const char *value = sw_arena_strndup(&l->w->arena, sw_text_str(&l->lines), l->lines.n, l->d);
  return value ? sw_ir_set_op(&l->w->edits, &l->t->ops.at[s->source], value) : SW_E_RESOURCE;
}

static bool moves(const sw_local *l, const sw_flow_step *s) {
  if (!s->rule || sw_ir_starts(l->t, l->t->ops.at[s->source].name, "sdy.")) return false;
  bool any = false;
  for (int f = 0; f < s->rule->n; f++) any = any || s->rule->kind[f] == SW_FACTOR_PERMUTATION;
  return any;
}

static sw_rc reshard_operands(sw_local *l, const sw_flow_step *s) {
  const sw_ir_op *o = &l->t->ops.at[s->source];
  const char *name;
  for (int i = 0; i < s->n_operands && i < (int)o->n_uses; i++) {
    sw_open_sharding to;
    bool changed;
    const uint32_t value = sw_ir_operand_value(&l->w->values, o, (uint32_t)i);
    if (s->tensors[i] < 0 || l->sharding[s->tensors[i]].mesh < 0) continue;
    SW_TRY(without_moves(l, s, i, &to, &changed));
    if (!changed) continue;
    SW_TRY(put_reshard(l, sw_opt_text_of_uses(l->w, value), &to, l->type[value], &name));
    SW_TRY(sw_local_put_before(l, s->source));
    SW_TRY(sw_opt_replace_use(l->w, o->first_use + (uint32_t)i, name));
  }
  return SW_OK;
}

static sw_rc reshard_results(sw_local *l, const sw_flow_step *s) {
  const sw_ir_op *o = &l->t->ops.at[s->source];
  sw_open_sharding *to;
  bool any = false;
  SW_ARENA_NEW(to, &l->w->arena, s->n_results, l->d);
  for (int i = 0; i < s->n_results; i++) {
    const int32_t tensor = s->tensors[s->n_operands + i];
    const uint32_t value = sw_ir_result_value(&l->w->values, l->t, o, (uint32_t)i);
    const char *name;
    bool changed = false;
    if (tensor < 0 || l->sharding[tensor].mesh < 0) return SW_OK;
    SW_TRY(without_moves(l, s, s->n_operands + i, &to[i], &changed));
    any = any || changed;
    if (!changed || value == SW_IR_NONE) continue;
    SW_TRY(put_reshard(l, sw_opt_text_of_uses(l->w, value), &l->sharding[tensor], l->type[value], &name));
    SW_TRY(sw_local_put_behind(l, s->source));
    sw_opt_replace(l->w, value, name);
  }
  return any ? say_results(l, s, to) : SW_OK;
}

static sw_rc resolve(sw_local *l) {
  SW_TRY(sw_local_read(l));
  for (int32_t i = 0; i < l->flow.flow.n_steps; i++) {
    const sw_flow_step *s = &l->flow.flow.steps[i];
    if (!moves(l, s)) continue;
    SW_TRY(sw_local_begin_lines(l, s->source));
    SW_TRY(reshard_operands(l, s));
    SW_TRY(reshard_results(l, s));
  }
  return SW_OK;
}

static sw_rc resolve_permutation_factors(sw_opt_work *w) {
  bool halo;
  SW_TRY(sw_opt_flag(w, "enable-halo-exchange", false, &halo));
  if (halo)
    return SW_FAIL(w->d, SW_E_USAGE, SW_NOWHERE, "enable-halo-exchange=true: halos are not exchanged; expected false");
  return sw_local_pass(w, resolve);
}

const sw_opt_pass sw_pass_resolve_permutation_factors = {
    "resolve-permutation-factors", "reshard around ops that move elements along a dimension that is cut",
    "enable-halo-exchange=false: exchanges of halos instead of reshards are not made\n", false,
    resolve_permutation_factors};
