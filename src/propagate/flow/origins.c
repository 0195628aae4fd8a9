/* What changed in a step is found by comparing it with a projection of the step as it was. */
#include "propagate/flow/origins.h"

#include <string.h>

#include "propagate/flow/propagation_run.h"

void sw_origins_free(sw_origins *o) {
  sw_array_free(&o->came);
  sw_array_free(&o->lost);
  sw_arena_deinit(&o->arena);
}

sw_axis_ref sw_axis_common(sw_axis_ref a, sw_axis_ref b) {
  const int64_t end_a = (int64_t)a.pre * a.size, end_b = (int64_t)b.pre * b.size, end = end_a < end_b ? end_a : end_b;
  const int32_t pre = a.pre > b.pre ? a.pre : b.pre;
  const bool is = a.axis == b.axis && end > pre && end % pre == 0;
  return (sw_axis_ref){a.axis, pre, is ? (int32_t)(end / pre) : 0};
}

/* --- questions ---------------------------------------------------------------------------------------------------- */

static bool has_said(const sw_open_sharding *s, sw_axis_ref axis, bool all) {
  for (int i = 0; s && i < s->cut.n_refs; i++) {
    const sw_axis_ref common = sw_axis_common(s->cut.refs[i], axis);
    if (common.size && (!all || sw_axis_ref_equal(common, axis))) return true;
  }
  return false;
}

/* The first of the tensor before `time` that has all of it, or some. */
static int32_t first_that_came(const sw_origins *o, int32_t t, sw_axis_ref axis, int32_t time, bool all) {
  int32_t first = SW_ORIGIN_NONE;
  for (int32_t i = o->last[t]; i >= 0; i = o->came.at[i].before) {
    const sw_axis_ref common = sw_axis_common(o->came.at[i].axis, axis);
    if (i < time && common.size && (!all || sw_axis_ref_equal(common, axis))) first = i;
  }
  return first;
}

int32_t sw_origin_of(const sw_origins *o, int32_t t, sw_axis_ref axis, int32_t time) {
  for (int all = 1; all >= 0; all--) {
    if (has_said(o->initial[t], axis, all)) return SW_ORIGIN_SAID;
    int32_t i = first_that_came(o, t, axis, time, all);
    if (i != SW_ORIGIN_NONE) return i;
  }
  return SW_ORIGIN_NONE;
}

/* --- recording ---------------------------------------------------------------------------------------------------- */

sw_rc sw_watch_begin(sw_run *r, sw_arena *arena, sw_diag *d) {
  sw_origins *o = r->f->origins;
  const int32_t n = r->f->n_tensors;
  SW_ARENA_NEW(r->watch, arena, 1, d);
  SW_ARENA_NEW_EACH(&o->arena, n, d, o->initial, o->last, o->last_lost);
  for (int32_t t = 0; t < n; t++) {
    const sw_open_sharding *s = &r->f->shardings[t];
    o->last[t] = o->last_lost[t] = -1;
    if (s->mesh >= 0 && !(o->initial[t] = sw_arena_copy(&o->arena, s, 1, sizeof *s, d))) return SW_E_RESOURCE;
  }
  return SW_OK;
}

void sw_watch_before(sw_run *r) {
  bool any = false;
  for (int i = 0; i < r->p.n && r->watch; i++) {
    if (r->p.step->tensors[i] < 0 || !sw_has_grown(&r->p, i)) continue;
    r->watch->old[i] = r->f->shardings[r->p.step->tensors[i]];
    any = true;
  }
  if (any) (void)sw_project(r->f, r->p.step, r->priority, &r->watch->p); /* as it succeeded before */
}

static sw_rc note_arrival(sw_run *r, sw_axis_arrival what, sw_diag *d) {
  sw_origins *o = r->f->origins;
  what.priority = r->priority;
  what.round = r->round;
  what.before = o->last[what.tensor];
  o->last[what.tensor] = (int32_t)o->came.n;
  return sw_array_push(&o->came, what, d);
}

static bool is_among_refs(const sw_axis_ref *refs, int n, sw_axis_ref a, bool within) {
  for (int i = 0; i < n; i++) {
    if (sw_axis_ref_equal(within ? sw_axis_common(refs[i], a) : refs[i], a)) return true;
  }
  return false;
}

/* The tensor of the step that had an axis along the factor, and most of `all` that is there now; of several the
 * first. */
static int tensor_that_had(const sw_projection *p, int factor, sw_axis_ref a, const sw_axes *all) {
  int best = -1, most = -1;
  for (int i = 0; i < p->n; i++) {
    const sw_factor_cut *c = &p->tensor[i].at[factor];
    if (!c->present || !is_among_refs(c->axes.at, c->axes.n, a, true)) continue;
    int n = 0;
    while (n < all->n && is_among_refs(c->axes.at, c->axes.n, all->at[n], true)) n++;
    if (n > most) best = i;
    if (n > most) most = n;
  }
  return best;
}

/* Axis `as` of dimension k of tensor i is new: its parts by factor, each from the first tensor that had it. */
static sw_rc note_axis(sw_run *r, int i, int k, sw_axis_ref as, sw_diag *d) {
  const sw_flow_op *s = r->p.step;
  const uint8_t edge = (uint8_t)k;
  const sw_factor_dim *dim = s->rule ? &s->rule->dim[i * SW_MAX_RANK + k] : NULL;
  for (int f = 0; f < (dim ? dim->n : 1); f++) {
    const int factor = dim ? dim->at[f] : edge;
    const sw_axes *now = &r->p.tensor[i].at[factor].axes, *then = &r->watch->p.tensor[i].at[factor].axes;
    for (int a = 0; a < now->n; a++) {
      if (!sw_axis_ref_equal(sw_axis_common(as, now->at[a]), now->at[a])) continue;
      if (is_among_refs(then->at, then->n, now->at[a], false)) continue;
      int from = tensor_that_had(&r->watch->p, factor, now->at[a], now);
      if (from < 0) continue;
      SW_TRY(note_arrival(r,
                          (sw_axis_arrival){.tensor = s->tensors[i],
                                            .dim = k,
                                            .axis = now->at[a],
                                            .as = as,
                                            .from = s->tensors[from],
                                            .step = (int32_t)(s - r->f->steps),
                                            .factor = factor},
                          d));
    }
  }
  return SW_OK;
}

static sw_rc note_tensor(sw_run *r, int i, sw_diag *d) {
  const sw_open_sharding *s = &r->f->shardings[r->p.step->tensors[i]], *old = &r->watch->old[i];
  for (int k = 0; k < s->cut.rank; k++) {
    int n, n_old = 0;
    const sw_axis_ref *refs = sw_sharding_dim(&s->cut, k, &n);
    const sw_axis_ref *before = old->mesh < 0 ? NULL : sw_sharding_dim(&old->cut, k, &n_old);
    for (int a = 0; a < n; a++) {
      if (!is_among_refs(before, n_old, refs[a], false)) SW_TRY(note_axis(r, i, k, refs[a], d));
    }
  }
  return SW_OK;
}

/* Did another factor take the axis of tensor i in this step? -1: none did. */
static int winner_of(const sw_run *r, int i, int factor, sw_axis_ref axis) {
  for (int k = 0; k < r->p.n_factors; k++) {
    const sw_factor_cut *now = &r->p.tensor[i].at[k], *then = &r->watch->p.tensor[i].at[k];
    for (int a = 0; k != factor && now->present && now->grown && a < now->axes.n; a++) {
      if (sw_axis_common(now->axes.at[a], axis).size &&
          !is_among_refs(then->axes.at, then->axes.n, now->axes.at[a], false))
        return k;
    }
  }
  return -1;
}

/* The dimension of tensor i that has the factor. */
static int dim_of(const sw_flow_op *s, int i, int factor) {
  for (int k = 0; s->rule && k < SW_MAX_RANK; k++) {
    const sw_factor_dim *dim = &s->rule->dim[i * SW_MAX_RANK + k];
    if (memchr(dim->at, factor, dim->n)) return k;
  }
  return factor;
}

/* What tensor i would have got along a factor, had it been alone. */
static sw_rc note_loss(sw_run *r, int i, const sw_direction *direction, const sw_wish *w, sw_diag *d) {
  sw_origins *o = r->f->origins;
  const sw_projection *then = &r->watch->p;
  const sw_flow_op *s = r->p.step;
  const sw_axes *got = &r->p.tensor[i].at[w->factor].axes;
  const sw_axes alone = sw_axes_allowed(then, i, w->factor, &w->axes);
  sw_wish other;
  if (!sw_axes_extend(got, &alone)) return SW_OK;
  const bool longer = got->n && !sw_axis_ref_equal(got->at[got->n - 1], alone.at[got->n - 1]);
  const sw_axis_ref axis = alone.at[longer ? got->n - 1 : got->n];
  const int winner = winner_of(r, i, w->factor, axis), from = tensor_that_had(then, w->factor, axis, &w->axes);
  if (winner < 0 || from < 0 || !sw_wish_of(then, winner, direction[winner], s->kind == SW_STEP_ELEMENTWISE, &other))
    return SW_OK;
  if (sw_wish_compare(&other, w) > 0) return SW_OK; /* it was met earlier, and could not have the axis all the same */
  const int winner_from = tensor_that_had(then, winner, other.axes.at[0], &other.axes);
  sw_loss loss = {.tensor = s->tensors[i],
                  .step = (int32_t)(s - r->f->steps),
                  .axis = axis,
                  .factor = w->factor,
                  .from = s->tensors[from],
                  .dim = dim_of(s, i, w->factor),
                  .winner_dim = dim_of(s, i, winner),
                  .winner_from = winner_from < 0 ? s->tensors[i] : s->tensors[winner_from],
                  .weight = w->weight,
                  .winner_weight = other.weight,
                  .before = o->last_lost[s->tensors[i]]};
  o->last_lost[s->tensors[i]] = (int32_t)o->lost.n;
  return sw_array_push(&o->lost, loss, d);
}

static sw_rc note_losses(sw_run *r, const sw_direction *direction, const bool *changed, sw_diag *d) {
  for (int k = 0; k < r->p.n_factors; k++) {
    sw_wish w;
    if (!sw_wish_of(&r->watch->p, k, direction[k], r->p.step->kind == SW_STEP_ELEMENTWISE, &w)) continue;
    for (int i = 0; i < r->p.n; i++) {
      if (changed[i] && r->p.tensor[i].at[k].present) SW_TRY(note_loss(r, i, direction, &w, d));
    }
  }
  return SW_OK;
}

sw_rc sw_watch_after(sw_run *r, const sw_direction *direction, const bool *changed, sw_diag *d) {
  bool any = false;
  for (int i = 0; i < r->p.n && r->watch; i++) {
    if (changed[i]) SW_TRY(note_tensor(r, i, d));
    any |= changed[i];
  }
  return any && r->layer != SW_LAYER_BASIC ? note_losses(r, direction, changed, d) : SW_OK;
}

sw_rc sw_watch_join(sw_run *r, int32_t tensor, int32_t from, sw_diag *d) {
  if (!r->watch) return SW_OK;
  const sw_open_sharding *s = &r->f->shardings[from], *old = &r->f->shardings[tensor];
  for (int i = 0; i < s->cut.n_refs; i++) {
    if (old->mesh >= 0 && is_among_refs(old->cut.refs, old->cut.n_refs, s->cut.refs[i], false)) continue;
    SW_TRY(note_arrival(r,
                        (sw_axis_arrival){.tensor = tensor,
                                          .dim = s->cut.dim_of[i],
                                          .axis = s->cut.refs[i],
                                          .as = s->cut.refs[i],
                                          .from = from,
                                          .step = -1},
                        d));
  }
  return SW_OK;
}
