/* Training steps: the forward ops, their derivatives from the last to the first, and the optimizer.
 *
 *   y = dot(x, w); loss = ...           forward
 *   y.d1 = einsum(x, dy)                gradient of w: op "y", operand 1
 *   w.new = w - 0.01 y.d1               sgd
 *
 * Several uses of a value add their gradients up, in reverse program order. Values that no parameter reaches through
 * float ops get none.
 */
#include "gen/train.h"

#include <string.h>

#include "graph/copy_op.h"

static const double kSgdRate = 0.01;
static const double kAdamRate = 1e-3, kAdamDecay1 = 0.9, kAdamDecay2 = 0.999, kAdamEpsilon = 1e-8;
static const double kClipEpsilon = 1e-6;

static bool is_float(sw_dtype t) { return sw_dtype_class_of(t) == SW_CLASS_FLOAT; }

static void copy_forward_args(swg_reverse *r) {
  const sw_graph *f = r->forward;
  for (int i = 0; i < f->n_args; i++) {
    const sw_value *v = &f->values[f->args[i]];
    swg_shape shape = {.n = v->type.rank};
    if (shape.n) memcpy(shape.at, v->type.dims, (size_t)shape.n * sizeof *shape.at);
    bool trained = v->kind == SW_VALUE_PARAMETER;
    r->active[f->args[i]] = trained && is_float(v->type.dtype);
    r->now[f->args[i]] = swg_arg(&r->b, v->name, trained ? SW_VALUE_STATE : v->kind, v->type.dtype, shape);
  }
}

/* Is x - max(x) the only use of the maximum? Then it serves a softmax, which does not depend on it. */
static bool is_shift(const sw_graph *f, const sw_op *op) {
  if (op->code != SW_OP_REDUCE || strcmp(sw_op_text(op, SW_ATTR_KIND, ""), "max") != 0) return false;
  sw_id v = op->results[0];
  for (int hops = 0; hops < 2; hops++) {
    if (f->values[v].n_uses != 1 || f->values[v].uses[0].op < 0) return false;
    const sw_op *user = &f->ops[f->values[v].uses[0].op];
    if (user->code == SW_OP_SUBTRACT) return f->values[v].uses[0].index == 1 && user->operands[0] == op->operands[0];
    if (user->code != SW_OP_BROADCAST) return false;
    v = user->results[0];
  }
  return false;
}

static void copy_forward_op(swg_reverse *r, const sw_op *op) {
  const sw_graph *f = r->forward;
  bool reached = false;
  for (int i = 0; i < op->n_operands; i++) reached = reached || r->active[op->operands[i]];
  if (is_shift(f, op)) reached = false;
  swg_fail(&r->b, sw_graph_copy_op(r->b.graph, f, op, r->now, r->arena, r->b.diag));
  for (int i = 0; i < op->n_results; i++)
    r->active[op->results[i]] = reached && is_float(f->values[op->results[i]].type.dtype);
}

/* The op that converts a parameter to the type in which ops use it, when the value is its result; else NULL. */
static const sw_op *conversion(const sw_graph *f, sw_id old) {
  sw_id def = f->values[old].def;
  if (def < 0 || f->ops[def].code != SW_OP_CONVERT) return NULL;
  const sw_value *from = &f->values[f->ops[def].operands[0]];
  return from->def < 0 && from->kind == SW_VALUE_PARAMETER ? &f->ops[def] : NULL;
}

static sw_id value_for_backward(swg_reverse *r, sw_id old) {
  const sw_op *made = r->how->converts_again ? conversion(r->forward, old) : NULL;
  if (!made) return r->now[old];
  if (r->again[old] < 0) {
    sw_text scope; /* it is called by the parameter, not by the op that is the first to want it */
    char name[256];
    swg_leave_all(&r->b, &scope);
    swg_name_like(&r->b, r->now[old], "_again", name, sizeof name);
    const char *function = r->b.function;
    r->b.function = NULL;
    r->again[old] = swg_convert(&r->b, name, r->now[made->operands[0]], r->forward->values[old].type.dtype);
    r->b.function = function;
    swg_return(&r->b, &scope);
  }
  return r->again[old];
}

sw_id swg_operand(swg_reverse *r, const sw_op *op, int i) { return value_for_backward(r, op->operands[i]); }

sw_dtype swg_gradient_type(const swg_reverse *r, sw_id old) {
  const sw_graph *f = r->forward;
  sw_dtype own = f->values[old].type.dtype;
  bool weight = conversion(f, old) || (f->values[old].def < 0 && f->values[old].kind == SW_VALUE_PARAMETER);
  return weight && r->how->wide_gradients && sw_dtype_bytes(own) < sw_dtype_bytes(SW_F32) ? SW_F32 : own;
}

/* Add g to the gradient of old value v, as operand i of the op. */
static void give_to(swg_reverse *r, sw_id v, int i, sw_id g) {
  char part[32];
  if (!r->active[v] || r->b.rc) return;
  snprintf(part, sizeof part, "wide_%d", i);
  g = swg_convert(&r->b, part, g, swg_gradient_type(r, v));
  if (r->gradient[v] < 0) {
    r->gradient[v] = g;
    r->by[v] = r->b.function;
    return;
  }
  const char *function = r->b.function;
  if (r->by[v] != function) r->b.function = r->by[v] = NULL; /* what comes from several is added up by none of them */
  snprintf(part, sizeof part, "sum_%d", i);
  r->gradient[v] = swg_binary(&r->b, SW_OP_ADD, part, r->gradient[v], g);
  r->b.function = function;
}

void swg_give(swg_reverse *r, const sw_op *op, int i, sw_id g) { give_to(r, op->operands[i], i, g); }

/* --- products in eight bits (linear.h)
 * --------------------------------------------------------------------------------- */

/* The weight that backward ops multiply by: where parameters are converted again, so is this. */
static swg_narrow weight_for_backward(swg_reverse *r, const swg_product *p) {
  swg_narrow w = {r->now[p->w8.values], r->now[p->w8.scale], r->now[p->w8.inverse]};
  if (!r->how->converts_again) return w;
  sw_text scope;
  char name[256];
  sw_id wide = value_for_backward(r, p->w);
  swg_leave_all(&r->b, &scope);
  swg_name_like(&r->b, w.values, "_again", name, sizeof name);
  w.values = swg_narrow_by(&r->b, name, wide, w.inverse, r->how->products->forward);
  swg_return(&r->b, &scope);
  return w;
}

static void derive_product(swg_reverse *r, const sw_op *op, const swg_product *p, sw_id g) {
  const swg_letters *of_x = &p->dims[0], *of_w = &p->dims[1], *of_y = &p->dims[2];
  swg_enter(&r->b, "%s", op->name);
  const swg_narrow x = {r->now[p->x8.values], r->now[p->x8.scale], r->now[p->x8.inverse]};
  const swg_narrow narrow = swg_narrow_down(&r->b, "d.f8", g, r->how->products->gradient);
  if (r->active[p->x]) {
    const swg_narrow w = weight_for_backward(r, p);
    const sw_dtype t = swg_gradient_type(r, p->x);
    give_to(r, p->x, 0,
            swg_narrow_product(&r->b, "d0", swg_scaled_in(t), t, (swg_narrow_side){of_y, &narrow},
                               (swg_narrow_side){of_w, &w}, of_x));
  }
  const sw_dtype t = swg_gradient_type(r, p->w);
  give_to(r, p->w, 1,
          swg_narrow_product(&r->b, "d1", swg_scaled_in(t), t, (swg_narrow_side){of_y, &narrow},
                             (swg_narrow_side){of_x, &x}, of_w));
  swg_leave(&r->b);
}

/* --- derivatives, op by op ---------------------------------------------------------------------------------------- */

/* The name of the gradient of a function; one text as long as ops of that function follow each other. */
static const char *gradient_of(swg_reverse *r, const char *function) {
  if (function == r->function || !function) return function ? r->grad_function : NULL;
  r->function = function;
  r->grad_function = sw_arena_printf(r->arena, r->b.diag, "%s.grad", function);
  if (!r->grad_function) swg_fail(&r->b, SW_E_RESOURCE);
  return r->grad_function;
}

static void derive_op(swg_reverse *r, const sw_op *op) {
  sw_id g = r->gradient[op->results[0]];
  if (g < 0 || !r->active[op->results[0]]) return;
  if (r->product[op->results[0]]) {
    derive_product(r, op, r->product[op->results[0]], g);
    return;
  }
  swg_derivative derive = swg_derivative_of(op->code);
  if (!derive) {
    swg_fail(&r->b, SW_FAIL_INPUT(r->b.diag, op->span, "op '%s' (%s) has no derivative here", op->name,
                                  sw_opcode_text(op->code)));
    return;
  }
  swg_enter(&r->b, "%s", op->name);
  r->b.function = gradient_of(r, op->function);
  derive(r, op, g);
  r->b.function = NULL;
  swg_leave(&r->b);
}

static void derive_all(swg_reverse *r) {
  const sw_graph *f = r->forward;
  sw_id loss = f->outputs[0];
  if (!r->active[loss] || f->values[loss].type.rank != 0) {
    swg_fail(&r->b, SW_FAIL_INPUT(r->b.diag, SW_NOWHERE, "the loss is no scalar that depends on a parameter"));
    return;
  }
  r->gradient[loss] = swg_splat(&r->b, "loss.gradient", 1, f->values[loss].type.dtype, SWG_SCALAR);
  for (int i = f->n_ops; i-- > 0 && !r->b.rc;) derive_op(r, &f->ops[i]);
}

/* --- optimizers -------------------------------------------------------------------------------------------------- */

static void output_new(swg_builder *b, sw_id fresh, sw_id old) {
  if (!b->rc) swg_output(b, b->graph->values[fresh].name, fresh, old);
}

static void sgd(swg_builder *b, sw_id w, sw_id g) {
  sw_id step = swg_scale(b, "step", g, kSgdRate);
  sw_id fresh = swg_binary(b, SW_OP_SUBTRACT, "new", w, step);
  output_new(b, fresh, w);
}

/* keep * old + (1 - keep) * x, as output NAME.new of state NAME; in eight bits with the scale of each block, as state
 * NAME.scale. */
static sw_id moving_average(swg_builder *b, const char *name, sw_dtype kept, sw_id x, double keep) {
  const sw_dtype wide = swg_type(b, x)->dtype;
  const bool scaled = kept == SW_F8E4M3FN;
  const swg_blocks k = swg_blocks_of(swg_shape_of(b, x));
  swg_scaled old = {swg_arg(b, name, SW_VALUE_STATE, kept, swg_shape_of(b, x)), -1}, now;
  swg_enter(b, "%s", name);
  if (scaled) old.scale = swg_arg(b, "scale", SW_VALUE_STATE, SW_F32, swg_blocks_scales(&k));
  sw_id was = scaled ? swg_scale_up(b, "wide", old, wide, &k) : swg_convert(b, "wide", old.values, wide);
  sw_id part = swg_scale(b, "kept", was, keep), more = swg_scale(b, "added", x, 1 - keep);
  sw_id fresh = swg_binary(b, SW_OP_ADD, kept == wide ? "new" : "sum", part, more);
  now = scaled ? swg_scale_down(b, "new", fresh, &k) : (swg_scaled){swg_convert(b, "new", fresh, kept), -1};
  output_new(b, now.values, old.values);
  if (scaled) output_new(b, now.scale, old.scale);
  swg_leave(b);
  return fresh;
}

/* Sums are f32 or wider, whatever the moments are stored in; `rate` is a scalar of their type. The square root is of
 * maximum(v, 0), so that any state gives a number. */
static void adam(swg_builder *b, sw_id w, sw_id g, sw_id rate, sw_dtype moments) {
  sw_dtype own = swg_type(b, w)->dtype, wide = swg_type(b, rate)->dtype, kept = moments == SW_F32 ? wide : moments;
  g = swg_convert(b, "gradient_wide", g, wide);
  sw_id m = moving_average(b, "m", kept, g, kAdamDecay1);
  sw_id v = moving_average(b, "v", kept, swg_binary(b, SW_OP_MULTIPLY, "square", g, g), kAdamDecay2);
  sw_id positive = swg_binary(b, SW_OP_MAXIMUM, "v_positive", v, swg_splat_like(b, "zero", 0, v));
  sw_id root = swg_shift(b, "root_up", swg_unary(b, SW_OP_SQRT, "root", positive), kAdamEpsilon);
  sw_id scaled = swg_binary(b, SW_OP_MULTIPLY, "m_rate", m, swg_trailing(b, "rate_wide", rate, m));
  sw_id step = swg_convert(b, "step_narrow", swg_binary(b, SW_OP_DIVIDE, "step", scaled, root), own);
  sw_id fresh = swg_binary(b, SW_OP_SUBTRACT, "new", w, step);
  output_new(b, fresh, w);
}

/* 1 - decay^t. */
static sw_id correction(swg_builder *b, const char *name, double decay, sw_id t) {
  swg_enter(b, "%s", name);
  sw_id power = swg_binary(b, SW_OP_POWER, "power", swg_splat_like(b, "decay", decay, t), t);
  sw_id one = swg_splat_like(b, "one", 1, t);
  swg_leave(b);
  return swg_binary(b, SW_OP_SUBTRACT, name, one, power);
}

/* rate * sqrt(1 - decay2^t) / (1 - decay1^t) with t = steps done + 1. */
static sw_id adam_rate(swg_builder *b, sw_dtype t) {
  swg_enter(b, "adam");
  sw_id step = swg_arg(b, "step", SW_VALUE_STATE, t, SWG_SCALAR);
  sw_id done = swg_binary(b, SW_OP_MAXIMUM, "done", step, swg_splat_like(b, "zero", 0, step));
  sw_id now = swg_shift(b, "step.new", done, 1);
  sw_id root = swg_unary(b, SW_OP_SQRT, "correction_root", correction(b, "correction_2", kAdamDecay2, now));
  sw_id ratio = swg_binary(b, SW_OP_DIVIDE, "ratio", root, correction(b, "correction_1", kAdamDecay1, now));
  sw_id rate = swg_scale(b, "rate", ratio, kAdamRate);
  swg_leave(b);
  swg_output(b, "adam.step.new", now, step);
  return rate;
}

/* min(1, clip_norm / (norm of all gradients + 1e-6)), in the type `wide`; ops of the norm are one function, as
 * libraries take many tensors at a time. */
static sw_id clip_factor(swg_reverse *r, sw_dtype wide) {
  const sw_graph *f = r->forward;
  swg_builder *b = &r->b;
  sw_id sum = -1;
  swg_enter(b, "clip");
  swg_function(b, "norm");
  for (int i = 0; i < f->n_args && !b->rc; i++) {
    const sw_value *v = &f->values[f->args[i]];
    if (v->kind != SW_VALUE_PARAMETER || r->gradient[f->args[i]] < 0) continue;
    swg_enter(b, "%s", v->name);
    const sw_id g = swg_convert(b, "wide", r->gradient[f->args[i]], wide);
    swg_shape all = {.n = v->type.rank};
    for (int k = 0; k < all.n; k++) all.at[k] = k;
    const sw_id own = swg_reduce(b, "own", "sum", swg_binary(b, SW_OP_MULTIPLY, "square", g, g), all);
    sum = sum < 0 ? own : swg_binary(b, SW_OP_ADD, "sum", sum, own);
    swg_leave(b);
  }
  const sw_id norm = swg_unary(b, SW_OP_SQRT, "norm", sum);
  swg_function(b, NULL);
  const sw_id ratio = swg_binary(b, SW_OP_DIVIDE, "ratio", swg_splat_like(b, "most", r->how->clip_norm, norm),
                                 swg_shift(b, "norm_up", norm, kClipEpsilon));
  const sw_id factor = swg_binary(b, SW_OP_MINIMUM, "factor", ratio, swg_splat_like(b, "one", 1, norm));
  swg_leave(b);
  return factor;
}

static void update_all(swg_reverse *r) {
  const sw_graph *f = r->forward;
  sw_dtype wide = f->values[f->outputs[0]].type.dtype;
  bool with_adam = r->how->adam;
  const sw_id clip = r->how->clip_norm > 0 ? clip_factor(r, wide) : -1;
  sw_id rate = with_adam ? adam_rate(&r->b, wide) : -1;
  for (int i = 0; i < f->n_args && !r->b.rc; i++) {
    const sw_value *v = &f->values[f->args[i]];
    sw_id g = r->gradient[f->args[i]], w = r->now[f->args[i]];
    if (v->kind != SW_VALUE_PARAMETER) continue;
    swg_enter(&r->b, "%s", v->name);
    if (g >= 0 && clip >= 0) {
      g = swg_convert(&r->b, "gradient_wide", g, wide);
      g = swg_binary(&r->b, SW_OP_MULTIPLY, "gradient_clipped", g, swg_trailing(&r->b, "clip_wide", clip, g));
    }
    if (g < 0) g = swg_splat_like(&r->b, "gradient", 0, w);
    if (with_adam) {
      adam(&r->b, w, g, rate, r->how->moments);
    } else {
      sgd(&r->b, w, swg_convert(&r->b, "gradient_own", g, v->type.dtype));
    }
    swg_leave(&r->b);
  }
}

/* --- the step ---------------------------------------------------------------------------------------------------- */

static sw_rc tables_build(swg_reverse *r, sw_arena *arena, sw_diag *d) {
  int32_t n = r->forward->n_values;
  SW_ARENA_NEW_EACH(arena, n, d, r->now, r->gradient, r->by, r->active, r->again, r->product);
  for (size_t i = 0; r->how->products && i < r->how->products->done.n; i++)
    r->product[r->how->products->done.at[i].y] = &r->how->products->done.at[i];
  for (int32_t i = 0; i < n; i++) r->now[i] = r->gradient[i] = r->again[i] = -1;
  return SW_OK;
}

static void build_training(swg_reverse *r) {
  const sw_graph *f = r->forward;
  copy_forward_args(r);
  for (int i = 0; i < f->n_ops && !r->b.rc; i++) copy_forward_op(r, &f->ops[i]);
  if (r->b.rc) return;
  derive_all(r);
  swg_output(&r->b, f->output_names[0], r->b.rc ? -1 : r->now[f->outputs[0]], -1);
  for (int i = 1; i < f->n_outputs && !r->b.rc; i++)
    if (f->alias[i] >= 0) swg_output(&r->b, f->output_names[i], r->now[f->outputs[i]], r->now[f->alias[i]]);
  update_all(r);
}

sw_rc swg_train_step(const sw_graph *forward, const swg_how *how, sw_graph **out, sw_diag *d) {
  sw_arena arena = {0};
  swg_reverse r = {.forward = forward, .how = how, .arena = &arena};
  sw_rc rc;
  SW_TRY_TO(done, tables_build(&r, &arena, d));
  SW_TRY_TO(done, swg_begin(&r.b, forward->name, SW_F32, d));
  build_training(&r);
  rc = swg_finish(&r.b, out);
done:
  sw_arena_deinit(&arena);
  return rc;
}
