/* Reshards, written out, where ops need their tensors cut otherwise than they are.
 *
 *   %0 = stablehlo.dot %x, %y {[{"x"}, {}]}        x: [{"x"}, {"y"}], y: [{"y"}, {"x"}]
 *
 *   %1 = sdy.reshard %y <@mesh, [{"y"}, {}]>
 *   %0 = stablehlo.dot %x, %1 {[{"x"}, {}]}
 *   %2 = sdy.all_reduce {"y"} %0 out_sharding=<@mesh, [{"x"}, {}]>
 *
 * What the tensors of an op agree on is found in propagate/flow/agree.c; of several ways the one that moves least. The
 * short version leaves to a partitioner what it does well itself: it reduces what shall not stay unreduced, and
 * reshards tensors of concatenates, and results of dots that would otherwise be all_gathers of operands.
 */
#include <math.h>
#include <string.h>

#include "io/mlir/flow/rule.h"
#include "io/mlir/opt/change_value.h"
#include "io/mlir/opt/collective_route.h"

typedef struct inserting {
  sw_opt_work *w;
  bool full;
  const int32_t *tensors;    /* by value */
  sw_open_sharding *said;    /* by tensor, as those that use it see it */
  sw_open_sharding *of_op;   /* by tensor: what its op says now, where that is something else; mesh -1: nothing */
  const sw_flow_step **rule; /* by op; NULL: it has none, or several */
  bool *changed;             /* by op: its shardings are written anew */
  uint32_t *first_result;    /* by op: of a function, the first place of its results; SW_IR_NONE */
  sw_agreeing *agreeing;
  const sw_flow_step *step; /* at hand */
  const sw_ir_op *op;
} inserting;

static bool is(const inserting *x, const sw_ir_op *o, const char *name) { return sw_ir_is(x->w->t, o->name, name); }

static const sw_open_sharding *said_of(const inserting *x, uint32_t value) {
  const int32_t tensor = value == SW_IR_NONE ? -1 : x->tensors[value];
  return tensor < 0 ? NULL : &x->said[tensor];
}

static uint32_t operand(const inserting *x, const sw_ir_op *o, uint32_t i) {
  return sw_ir_operand_value(&x->w->values, o, i);
}

static uint32_t result(const inserting *x, const sw_ir_op *o, uint32_t i) {
  return sw_ir_result_value(&x->w->values, x->w->t, o, i);
}

static sw_open_sharding whole_on(int32_t mesh, int rank) {
  return (sw_open_sharding){.mesh = mesh, .cut = sw_sharding_replicated(rank)};
}

/* --- operands ----------------------------------------------------------------------------------------------------- */

/* Operand `i` of an op, as it is wanted there. */
static sw_rc lead(inserting *x, const sw_ir_op *o, uint32_t i, const sw_open_sharding *to, bool reduces_only) {
  sw_opt_work *w = x->w;
  const uint32_t value = operand(x, o, i);
  const int32_t tensor = x->tensors[value];
  if (tensor < 0 || to->mesh < 0) return SW_OK;
  const sw_type *type = &w->flow->type.at[tensor];
  sw_open_sharding from = x->said[tensor];
  const bool is_unsaid = from.mesh < 0;
  if (is_unsaid) from = whole_on(to->mesh, type->rank);
  sw_value_change c = {sw_opt_text_of_uses(w, value), type, &from, to, is_unsaid, reduces_only,
                       (uint32_t)(o - w->t->ops.at),  false};
  const char *name = c.value;
  if (!name) return SW_E_RESOURCE;
  SW_TRY(sw_opt_change_value(w, &c, &name));
  return name == c.value ? SW_OK : sw_opt_replace_use(w, o->first_use + i, name);
}

/* As it is, but for what is unreduced and the op does not leave so. */
static sw_open_sharding reduced_for(const sw_open_sharding *s, const sw_open_sharding *target) {
  sw_open_sharding to = *s;
  sw_axis_ref lost[SW_MAX_REFS], kept[SW_MAX_REFS];
  const int n_kept = target && target->mesh >= 0 ? target->cut.n_partial : 0;
  const sw_axis_ref *partial = sw_sharding_partial(&s->cut);
  const int n =
      sw_refs_minus(partial, s->cut.n_partial, n_kept ? sw_sharding_partial(&target->cut) : partial, n_kept, lost);
  const int m = sw_refs_minus(partial, s->cut.n_partial, lost, n, kept);
  to.cut.n_partial = 0;
  for (int i = 0; i < m; i++) (void)sw_sharding_push_partial(&to.cut, (sw_reduction)s->cut.partial_kind, kept[i]);
  sw_sharding_join(&to.cut);
  return to;
}

static sw_rc reduce_operands(inserting *x, const sw_ir_op *o) {
  const sw_open_sharding *target = said_of(x, result(x, o, 0));
  for (uint32_t i = 0; i < o->n_uses; i++) {
    const sw_open_sharding *s = said_of(x, operand(x, o, i));
    if (!s || s->mesh < 0 || !s->cut.n_partial) continue;
    const sw_open_sharding to = reduced_for(s, target);
    SW_TRY(lead(x, o, i, &to, true));
  }
  return SW_OK;
}

/* --- ops that hand values on -------------------------------------------------------------------------------------- */

/* To a place that says how: as that says; without reshards in the short version, unless it becomes unreduced. */
static sw_rc hand_on(inserting *x, const sw_ir_op *o, uint32_t i, const sw_open_sharding *place) {
  const sw_open_sharding *s = said_of(x, operand(x, o, i));
  if (!s || !place) return SW_OK;
  sw_open_sharding to = *place;
  if (to.mesh < 0) to = whole_on(s->mesh, s->cut.rank);
  return lead(x, o, i, &to, !x->full);
}

static sw_rc return_of_function(inserting *x, const sw_ir_op *o, uint32_t function) {
  const sw_program_flow *p = x->w->flow;
  for (uint32_t i = 0; i < o->n_uses; i++) {
    const uint32_t at = x->first_result[function] == SW_IR_NONE ? SW_IR_NONE : x->first_result[function] + i;
    if (at >= p->places.n || p->places.at[at].kind != SW_SAID_RESULT || p->places.at[at].op != function) return SW_OK;
    const int32_t tensor = p->said_of.at[p->places.at[at].first];
    if (tensor >= 0) SW_TRY(hand_on(x, o, i, &x->said[tensor]));
  }
  return SW_OK;
}

typedef SW_ARRAY(sw_open_sharding) shardings;

static bool is_manual(const inserting *x, sw_ir_span axes, const char *axis) {
  sw_ir_span name;
  for (uint32_t at = 0; sw_ir_present(axes) && sw_ir_next_item(x->w->t, axes, &at, &name);) {
    if (sw_ir_is(x->w->t, sw_ir_unquoted(x->w->t, name), axis)) return true;
  }
  return false;
}

/* What is left of a sharding inside of a computation. */
static sw_open_sharding without_manual(const inserting *x, const sw_open_sharding *s, sw_ir_span axes) {
  sw_open_sharding local = *s;
  const sw_mesh *m = &x->w->flow->sdy.meshes.at[s->mesh].mesh;
  local.cut = sw_sharding_replicated(s->cut.rank);
  for (int r = 0; r < s->cut.n_refs + s->cut.n_partial; r++) {
    const sw_axis_ref ref = s->cut.refs[r];
    if (is_manual(x, axes, m->axis[ref.axis].name)) continue;
    if (r < s->cut.n_refs)
      (void)sw_sharding_push(&local.cut, s->cut.dim_of[r], ref);
    else
      (void)sw_sharding_push_partial(&local.cut, (sw_reduction)s->cut.partial_kind, ref);
  }
  return local;
}

/* in_shardings or out_shardings; `inside`: without the manual axes. */
static sw_rc read_list(const inserting *x, const sw_ir_op *o, const char *key, bool inside, shardings *out) {
  const sw_ir_tree *t = x->w->t;
  sw_ir_span list = sw_ir_attr(t, o, key, key), axes = sw_ir_attr(t, o, "manual_axes", "manual_axes"), item;
  uint32_t cursor = 0;
  while (sw_ir_present(list) && sw_ir_next_item(t, list, &cursor, &item)) {
    sw_open_sharding s;
    SW_TRY(sw_open_sharding_read(&x->w->flow->sdy, item, &s));
    if (inside) s = without_manual(x, &s, axes);
    SW_TRY(sw_array_push(out, s, x->w->d));
  }
  return SW_OK;
}

static sw_rc hand_to_list(inserting *x, const sw_ir_op *o, const sw_ir_op *computation, const char *key, bool inside) {
  shardings list = {0};
  sw_rc rc = read_list(x, computation, key, inside, &list);
  for (uint32_t i = 0; !rc && i < o->n_uses && i < list.n; i++) rc = hand_on(x, o, i, &list.at[i]);
  sw_array_free(&list);
  return rc;
}

static void say(inserting *x, uint32_t value, const sw_open_sharding *s) {
  const int32_t tensor = value == SW_IR_NONE ? -1 : x->tensors[value];
  if (tensor >= 0 && x->said[tensor].mesh < 0) x->said[tensor] = *s;
}

/* Operands come in as they are wanted; arguments and results are as the computation says. */
static sw_rc computation(inserting *x, const sw_ir_op *o) {
  const uint32_t block = sw_ir_block_at(x->w->t, o, 0);
  shardings in = {0}, out = {0};
  sw_rc rc = hand_to_list(x, o, o, "in_shardings", false);
  if (!rc) rc = read_list(x, o, "in_shardings", true, &in);
  if (!rc) rc = read_list(x, o, "out_shardings", false, &out);
  for (uint32_t i = 0; !rc && i < in.n && block != SW_IR_NONE && i < x->w->t->blocks.at[block].n_args; i++)
    say(x, x->w->values.of_block[block] + i, &in.at[i]);
  for (uint32_t i = 0; !rc && i < out.n; i++) say(x, result(x, o, i), &out.at[i]);
  sw_array_free(&in);
  sw_array_free(&out);
  return rc;
}

static sw_rc return_of(inserting *x, const sw_ir_op *o) {
  const sw_ir_tree *t = x->w->t;
  const uint32_t region = t->blocks.at[o->block].region, at = t->regions.at[region].op;
  const sw_ir_op *around = &t->ops.at[at];
  if (sw_ir_is_function(t, around)) return return_of_function(x, o, at);
  if (is(x, around, "sdy.manual_computation")) return hand_to_list(x, o, around, "out_shardings", true);
  if (is(x, around, "sdy.named_computation")) return hand_to_list(x, o, around, "out_shardings", false);
  const bool loop = is(x, around, "stablehlo.while"),
             choice = is(x, around, "stablehlo.case") || is(x, around, "stablehlo.if");
  if ((!loop && !choice) || (loop && region == sw_ir_region_at(t, around, 0))) return SW_OK;
  for (uint32_t i = 0; i < o->n_uses; i++) SW_TRY(hand_on(x, o, i, said_of(x, result(x, around, i))));
  return SW_OK;
}

static sw_rc reshard_op(inserting *x, const sw_ir_op *o) {
  sw_opt_work *w = x->w;
  const uint32_t from = operand(x, o, 0), to = result(x, o, 0);
  const sw_open_sharding *a = said_of(x, from), *b = said_of(x, to);
  if (!a || !b || a->mesh < 0 || b->mesh < 0 || !(a->cut.n_partial + b->cut.n_partial)) return SW_OK;
  const uint32_t at = (uint32_t)(o - w->t->ops.at);
  const sw_value_change c = {
      sw_opt_text_of_uses(w, from), &w->flow->type.at[x->tensors[to]], a, b, false, false, at, false};
  const char *name = c.value;
  if (!name) return SW_E_RESOURCE;
  SW_TRY(sw_opt_change_value(w, &c, &name));
  sw_opt_replace(w, to, name);
  return sw_opt_erase(w, at);
}

/* --- ops with a rule ---------------------------------------------------------------------------------------------- */

/* The use of the text that operand `i` of the rule is. */
static uint32_t use_of(const inserting *x, int i) {
  const uint32_t n = x->op->n_uses;
  const bool in_pairs = !x->op->generic && sw_ir_last_part_is(x->w->t, x->op->name, "reduce");
  const uint32_t at = (uint32_t)i;
  return !in_pairs ? at : at < n / 2 ? 2 * at : 2 * (at - n / 2) + 1;
}

static sw_open_sharding own_of(const inserting *x, int i, int32_t mesh) {
  const int32_t tensor = x->step->tensors[i];
  return x->said[tensor].mesh < 0 ? whole_on(mesh, x->w->flow->type.at[tensor].rank) : x->said[tensor];
}

static double route_bytes(const inserting *x, int i, const sw_sharding *from, const sw_sharding *to, int32_t mesh) {
  const sw_type *type = &x->w->flow->type.at[x->step->tensors[i]];
  sw_sharding a = *from, b = *to;
  a.n_partial = b.n_partial = 0;
  if (sw_sharding_equal(&a, &b)) return 0;
  const sw_collective_ends ends = {&x->w->flow->sdy.meshes.at[mesh].mesh, type->rank, type->dims, &a, &b, false};
  return sw_collective_route_elements(&ends) * (double)sw_dtype_bytes(type->dtype);
}

/* Axes that a result is left to be reduced over, beside those that it says itself. */
static int reduced_of(const inserting *x, int i, const sw_agreement *a, sw_axis_ref *out) {
  const sw_sharding *cut = &x->said[x->step->tensors[i]].cut;
  const bool says = x->said[x->step->tensors[i]].mesh >= 0;
  return sw_refs_minus(a->reduced, a->n_reduced, sw_sharding_partial(cut), says ? cut->n_partial : 0, out);
}

static double price(void *user, int i, const sw_agreement *a) {
  const inserting *x = user;
  const sw_open_sharding own = own_of(x, i, a->mesh);
  if (i < x->step->n_operands) return route_bytes(x, i, &own.cut, &a->cut[i], a->mesh);
  const sw_type *type = &x->w->flow->type.at[x->step->tensors[i]];
  sw_axis_ref reduced[SW_MAX_REFS];
  const int64_t g = sw_axis_refs_size(reduced, reduced_of(x, i, a, reduced));
  const double block = (double)sw_sharding_local_bytes(&a->cut[i], type->dims, type->dtype);
  const bool stays = x->said[x->step->tensors[i]].mesh < 0;
  return 2 * block * (1 - 1 / (double)g) + (stays ? 0 : route_bytes(x, i, &a->cut[i], &own.cut, a->mesh));
}

/* Operands stay as they are. */
static double result_price(void *user, int i, const sw_agreement *a) {
  const inserting *x = user;
  sw_open_sharding own = own_of(x, i, a->mesh);
  own.cut.n_partial = 0;
  return i >= x->step->n_operands || sw_sharding_equal(&own.cut, &a->cut[i]) ? 0 : HUGE_VAL;
}

/* How the op combines what it reduces; false: it is not known. */
static bool reduction_of(const inserting *x, sw_reduction *out) {
  static const struct {
    const char *word;
    sw_reduction kind;
  } kWords[] = {{"add", SW_REDUCE_SUM}, {"maximum", SW_REDUCE_MAX}, {"minimum", SW_REDUCE_MIN}};
  const sw_ir_tree *t = x->w->t;
  *out = SW_REDUCE_SUM;
  if (!sw_ir_last_part_is(t, x->op->name, "reduce") && !sw_ir_last_part_is(t, x->op->name, "scatter") &&
      !sw_ir_last_part_is(t, x->op->name, "select_and_scatter"))
    return true;
  sw_ir_span word = sw_ir_applied(t, x->op);
  const uint32_t block = sw_ir_block_at(t, x->op, 0);
  if (block != SW_IR_NONE) word = t->ops.at[t->blocks.at[block].first_op].name;
  for (size_t i = 0; i < sizeof kWords / sizeof *kWords; i++) {
    *out = kWords[i].kind;
    if (sw_ir_last_part_is(t, word, kWords[i].word)) return true;
  }
  return false;
}

/* Result `i` of the rule is cut as `a` says now, and goes on as it was. */
static sw_rc change_result(inserting *x, int i, const sw_agreement *a, bool reduces, sw_reduction kind) {
  sw_opt_work *w = x->w;
  const uint32_t value = result(x, x->op, (uint32_t)(i - x->step->n_operands));
  const int32_t tensor = x->step->tensors[i];
  sw_axis_ref reduced[SW_MAX_REFS];
  if (tensor < 0) return SW_OK;
  sw_open_sharding own = own_of(x, i, a->mesh), now = own;
  const bool fresh = x->said[tensor].mesh < 0;
  now.cut = a->cut[i];
  for (int r = 0; r < own.cut.n_partial; r++)
    (void)sw_sharding_push_partial(&now.cut, (sw_reduction)own.cut.partial_kind, sw_sharding_partial(&own.cut)[r]);
  const int n = reduces ? reduced_of(x, i, a, reduced) : 0;
  if (!sw_sharding_equal(&now.cut, &own.cut) || (fresh && n)) {
    memset(now.priority, 0, sizeof now.priority);
    now.has_priority = now.n_replicated = 0;
    x->of_op[tensor] = now;
    x->changed[x->op - w->t->ops.at] = true;
  }
  if (fresh) x->said[tensor] = own = now;
  if (value == SW_IR_NONE) return SW_OK;
  for (int r = 0; r < n; r++) (void)sw_sharding_push_partial(&now.cut, kind, reduced[r]);
  sw_sharding_join(&now.cut);
  const sw_type *type = &w->flow->type.at[tensor];
  const sw_value_change c = {sw_opt_value_text(w, value),      type, &now, &own, false, false,
                             (uint32_t)(x->op - w->t->ops.at), true};
  const char *name = c.value;
  if (!name) return SW_E_RESOURCE;
  SW_TRY(sw_opt_change_value(w, &c, &name));
  if (name != c.value) sw_opt_replace(w, value, name);
  return SW_OK;
}

static sw_rc change_operands(inserting *x, const sw_agreement *a) {
  for (int i = 0; i < x->step->n_operands; i++) {
    if (x->step->tensors[i] < 0) continue;
    const sw_open_sharding own = own_of(x, i, a->mesh);
    sw_open_sharding to = reduced_for(&own, said_of(x, result(x, x->op, 0)));
    const sw_sharding kept = to.cut;
    sw_sharding cut = a->cut[i], same = own.cut;
    same.n_partial = 0;
    if (!sw_sharding_equal(&cut, &same)) to = whole_on(a->mesh, cut.rank);
    to.cut = cut;
    for (int r = 0; r < kept.n_partial; r++)
      (void)sw_sharding_push_partial(&to.cut, (sw_reduction)kept.partial_kind, sw_sharding_partial(&kept)[r]);
    SW_TRY(lead(x, x->op, use_of(x, i), &to, false));
  }
  return SW_OK;
}

/* The one dimension of a dot's result that its operands cut otherwise, where a reshard of it costs less than theirs:
 * what it is cut by is all that is reduced, and the operand is not the smaller. */
static bool is_left_to_result(const inserting *x, const sw_agreement *a) {
  const int y = x->step->n_operands;
  const sw_open_sharding *own = &x->said[x->step->tensors[y]];
  int differs = -1, n, n_now;
  sw_axis_ref other[SW_MAX_REFS];
  if (own->mesh < 0 || own->cut.n_partial) return false;
  for (int d = 0; d < own->cut.rank; d++) {
    const sw_axis_ref *refs = sw_sharding_dim(&own->cut, d, &n), *now = sw_sharding_dim(&a->cut[y], d, &n_now);
    if (n == n_now && !(n && memcmp(refs, now, (size_t)n * sizeof *refs))) continue;
    if (differs >= 0) return false;
    differs = d;
  }
  if (differs < 0) return false;
  const sw_axis_ref *refs = sw_sharding_dim(&own->cut, differs, &n);
  (void)sw_sharding_dim(&a->cut[y], differs, &n_now);
  if (!n || !n_now || sw_refs_minus(refs, n, a->reduced, a->n_reduced, other) ||
      sw_refs_minus(a->reduced, a->n_reduced, refs, n, other))
    return false;
  const uint8_t factor = x->step->rule->dim[y * SW_MAX_RANK + differs].at[0];
  const sw_program_flow *p = x->w->flow;
  for (int i = 0; i < y; i++) {
    const sw_type *type = &p->type.at[x->step->tensors[i]], *of_result = &p->type.at[x->step->tensors[y]];
    for (int d = 0; d < type->rank; d++) {
      const sw_flow_dim *dim = &x->step->rule->dim[i * SW_MAX_RANK + d];
      if (dim->n && dim->at[0] == factor && sw_type_elements(of_result) <= sw_type_elements(type)) return true;
    }
  }
  return false;
}

static sw_rc short_version(inserting *x) {
  sw_agreement a;
  const bool joins = sw_ir_last_part_is(x->w->t, x->op->name, "concatenate");
  const bool dot =
      sw_ir_last_part_is(x->w->t, x->op->name, "dot") || sw_ir_last_part_is(x->w->t, x->op->name, "dot_general");
  const int y = x->step->n_operands;
  const bool unreduced = x->said[x->step->tensors[y]].mesh >= 0 && x->said[x->step->tensors[y]].cut.n_partial;
  sw_reduction kind;
  if (joins && sw_agree(x->agreeing, &x->w->flow->flow, x->step, price, x, &a) && a.changes) {
    SW_TRY(change_operands(x, &a));
    return change_result(x, y, &a, false, SW_REDUCE_SUM);
  }
  SW_TRY(reduce_operands(x, x->op));
  if (!dot && !unreduced) return SW_OK;
  if (!sw_agree(x->agreeing, &x->w->flow->flow, x->step, result_price, x, &a)) return SW_OK;
  for (int i = 0; i < y; i++) {
    if (x->step->tensors[i] >= 0 && result_price(x, i, &a) > 0) return SW_OK;
  }
  if (!unreduced && !is_left_to_result(x, &a)) return SW_OK;
  if (!reduction_of(x, &kind)) return SW_OK;
  for (int i = 0; i < x->step->n_results; i++) SW_TRY(change_result(x, y + i, &a, unreduced, kind));
  return SW_OK;
}

static sw_rc full_version(inserting *x) {
  sw_agreement a;
  sw_reduction kind;
  if (!reduction_of(x, &kind) || !sw_agree(x->agreeing, &x->w->flow->flow, x->step, price, x, &a))
    return reduce_operands(x, x->op);
  SW_TRY(change_operands(x, &a));
  for (int i = 0; i < x->step->n_results; i++) SW_TRY(change_result(x, x->step->n_operands + i, &a, true, kind));
  return SW_OK;
}

static sw_rc insert_at(inserting *x, uint32_t at) {
  const sw_ir_op *o = x->op = &x->w->t->ops.at[at];
  if (x->w->values.function_of[at] == SW_IR_NONE) return SW_OK;
  if (sw_ir_is_return(x->w->t, o)) return return_of(x, o);
  if (is(x, o, "sdy.reshard")) return reshard_op(x, o);
  if (is(x, o, "sdy.manual_computation") || is(x, o, "sdy.named_computation")) return computation(x, o);
  if (is(x, o, "sdy.propagation_barrier")) {
    const sw_open_sharding *in = said_of(x, operand(x, o, 0));
    if (in) say(x, result(x, o, 0), in);
    return SW_OK;
  }
  if (sw_ir_starts(x->w->t, o->name, "sdy.") || sw_ir_is_function(x->w->t, o)) return SW_OK;
  if (is(x, o, "stablehlo.while") || is(x, o, "stablehlo.optimization_barrier")) {
    for (uint32_t i = 0; i < o->n_uses; i++) SW_TRY(hand_on(x, o, i, said_of(x, result(x, o, i))));
    return SW_OK;
  }
  x->step = x->rule[at];
  if (!x->step) return reduce_operands(x, o);
  return x->full ? full_version(x) : short_version(x);
}

/* --- the pass ----------------------------------------------------------------------------------------------------- */

static bool fits_text(const sw_opt_work *w, const sw_flow_step *s) {
  const sw_ir_op *o = &w->t->ops.at[s->source];
  return s->rule && s->n_results && (uint32_t)s->n_operands == o->n_uses &&
         (uint32_t)s->n_results == sw_ir_result_count(w->t, o) && s->tensors[s->n_operands] >= 0;
}

static sw_rc prepare(inserting *x) {
  sw_opt_work *w = x->w;
  const size_t n = w->t->ops.n, n_tensors = w->flow->said.n;
  bool *seen;
  int32_t *tensors;
  SW_TRY(sw_opt_flag(w, "enable-full-version", false, &x->full));
  SW_TRY(sw_opt_tensors(w, &tensors));
  x->tensors = tensors;
  x->said = w->flow->said.at;
  SW_ARENA_NEW(x->of_op, &w->arena, n_tensors, w->d);
  SW_ARENA_NEW(x->rule, &w->arena, n, w->d);
  SW_ARENA_NEW(x->changed, &w->arena, n, w->d);
  SW_ARENA_NEW(x->first_result, &w->arena, n, w->d);
  SW_ARENA_NEW(seen, &w->arena, n, w->d);
  for (size_t i = 0; i < n_tensors; i++) x->of_op[i].mesh = -1;
  for (size_t i = 0; i < n; i++) x->first_result[i] = SW_IR_NONE;
  for (size_t i = w->flow->places.n; i-- > 0;) {
    if (w->flow->places.at[i].kind == SW_SAID_RESULT) x->first_result[w->flow->places.at[i].op] = (uint32_t)i;
  }
  for (int32_t i = 0; i < w->flow->flow.n_steps; i++) {
    const sw_flow_step *s = &w->flow->flow.steps[i];
    if (!s->rule) continue;
    x->rule[s->source] = !seen[s->source] && fits_text(w, s) ? s : NULL;
    seen[s->source] = true;
  }
  return sw_agreeing_make(&x->agreeing, w->d);
}

/* Only what has changed is written, as the ops say it now. */
static void settle(inserting *x) {
  sw_program_flow *p = x->w->flow;
  size_t n = 0;
  for (size_t i = 0; i < p->places.n; i++) {
    const sw_said s = p->places.at[i];
    if (s.kind == SW_SAID_OP && x->changed[s.op]) p->places.at[n++] = s;
  }
  p->places.n = n;
  for (size_t i = 0; i < p->said.n; i++) {
    if (x->of_op[i].mesh >= 0) p->said.at[i] = x->of_op[i];
  }
}

static sw_rc run(sw_opt_work *w) {
  inserting x = {.w = w};
  sw_rc rc = prepare(&x);
  for (uint32_t i = 0; i < w->t->ops.n && !rc; i++) rc = insert_at(&x, i);
  if (!rc) settle(&x);
  sw_agreeing_destroy(x.agreeing);
  return rc;
}

const sw_opt_pass sw_pass_insert_explicit_reshards = {
    "insert-explicit-reshards", "reshard operands and results on which ops do not agree",
    "enable-full-version=BOOL: of all ops, not only what is unreduced, dots and concatenates\n", true, run};
