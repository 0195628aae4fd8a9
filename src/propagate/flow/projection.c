/* Between dimensions and factors, and how far axes go along a factor. */
#include "propagate/flow/projection.h"

#include <string.h>

static int64_t end_of(sw_axis_ref a) { return (int64_t)a.pre * a.size; }

/* The major part of an axis with that many shards; size 0 when there is none. */
static sw_axis_ref major_part(sw_axis_ref a, int64_t size) {
  bool is = size > 1 && size < a.size && a.size % size == 0;
  return (sw_axis_ref){a.axis, a.pre, is ? (int32_t)size : 0};
}

static int64_t gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

int64_t sw_axes_size(const sw_axes *axes) { return sw_axis_refs_size(axes->at, axes->n); }

static bool push_axis(sw_axes *a, sw_axis_ref r) {
  if (a->n == SW_MAX_REFS) return false;
  a->at[a->n++] = r;
  return true;
}

static bool is_prefix(sw_axis_ref a, sw_axis_ref b) {
  return a.axis == b.axis && a.pre == b.pre && a.size < b.size && b.size % a.size == 0;
}

bool sw_axes_extend(const sw_axes *have, const sw_axes *axes) {
  if (axes->n < have->n) return false;
  for (int i = 0; i < have->n; i++) {
    if (sw_axis_ref_equal(have->at[i], axes->at[i])) continue;
    return i == have->n - 1 && is_prefix(have->at[i], axes->at[i]);
  }
  return axes->n > have->n;
}

/* --- to factors --------------------------------------------------------------------------------------------------- */

static bool same_mesh(const sw_mesh *a, const sw_mesh *b) {
  if (a->n_axes != b->n_axes || !a->device_ids != !b->device_ids) return false;
  for (int i = 0; i < a->n_axes; i++) {
    if (a->axis[i].size != b->axis[i].size || strcmp(a->axis[i].name, b->axis[i].name)) return false;
  }
  return !a->device_ids || !memcmp(a->device_ids, b->device_ids, (size_t)sw_mesh_devices(a) * sizeof *a->device_ids);
}

static bool is_empty_mesh(const sw_mesh *m) { return m->n_axes == 0 && !m->device_ids; }

/* The one mesh of all shardings, those on a mesh without axes aside; -1: none, or several. */
static int32_t common_mesh(const sw_flow *f, const sw_flow_op *step) {
  int32_t found = -1;
  for (int i = 0; i < step->n_operands + step->n_results; i++) {
    if (step->tensors[i] < 0) continue;
    int32_t mesh = f->shardings[step->tensors[i]].mesh;
    if (mesh < 0 || is_empty_mesh(&f->meshes[mesh])) continue;
    if (found >= 0 && !same_mesh(&f->meshes[found], &f->meshes[mesh])) return -1;
    if (found < 0) found = mesh;
  }
  return found >= 0 && f->meshes[found].n_axes > 0 ? found : -1;
}

/* The axes of a dimension to its factors, major first. What does not divide a factor that is not the last stays with it
 * as `rest`: then no later factor has axes. */
static void split_dim_to_factors(const sw_projection *p, sw_tensor_cut *t, const uint8_t *factors, int n,
                                 const sw_axes *axes, bool fixed) {
  int next = 0;
  sw_axis_ref a = next < axes->n ? axes->at[next++] : (sw_axis_ref){0};
  for (int k = 0; k < n; k++) {
    sw_factor_cut *c = &t->at[factors[k]];
    int64_t left = p->size[factors[k]];
    *c = (sw_factor_cut){.present = true, .fixed = fixed, .minor = k == n - 1};
    while (a.size && (c->minor || left > 1 || a.size == 1) && !c->rest.n) {
      int64_t take = c->minor || left % a.size == 0 ? a.size : gcd(left, a.size);
      sw_axis_ref part = take == a.size ? a : major_part(a, take);
      if (part.size) (void)push_axis(&c->axes, part);
      if (!c->minor) left /= part.size ? part.size : 1;
      if (part.size == a.size) {
        a = next < axes->n ? axes->at[next++] : (sw_axis_ref){0};
        continue;
      }
      if (part.size) a = (sw_axis_ref){a.axis, (int32_t)end_of(part), a.size / part.size};
      if (left == 1) break; /* the rest of the axis is the next factor's */
      (void)push_axis(&c->rest, a);
      while (next < axes->n) (void)push_axis(&c->rest, axes->at[next++]);
      a.size = 0;
    }
    if (c->rest.n) c->fixed = fixed = true;
  }
}

/* How many of a dimension's axes are manual, of the tensor outside of a manual computation. */
static int n_manual(const sw_flow_op *s, int tensor, const sw_axis_ref *refs, int n) {
  int k = 0;
  if (!s->n_manual || tensor != s->outside) return 0;
  for (bool is = true; k < n && is; k += is) {
    is = false;
    for (int i = 0; i < s->n_manual; i++) is |= s->manual[i].axis == refs[k].axis;
  }
  return k;
}

static void project_tensor(const sw_flow *f, sw_projection *p, int i, int32_t id, int32_t priority) {
  const sw_open_sharding *s = &f->shardings[id];
  const int rank = f->types[id]->rank;
  sw_tensor_cut *t = &p->tensor[i];
  bool none = s->mesh < 0;
  t->absent = false;
  t->n_taken = 0;
  for (int k = 0; !none && k < s->n_replicated; k++) t->taken[t->n_taken++] = s->replicated[k];
  for (int k = 0; !none && k < s->cut.n_partial; k++) t->taken[t->n_taken++] = sw_sharding_partial(&s->cut)[k];
  t->n_whole = t->n_taken;
  for (int k = 0; k < rank; k++) {
    int n = 0, m = 1;
    const sw_axis_ref *refs = none ? NULL : sw_sharding_dim(&s->cut, k, &n);
    int skip = n_manual(p->step, i, refs, n);
    sw_axes axes = {.n = n - skip};
    if (n > skip) memcpy(axes.at, refs + skip, (size_t)(n - skip) * sizeof *refs);
    const uint8_t edge = (uint8_t)k, *factors = &edge;
    if (p->step->rule) {
      m = p->step->rule->dim[i * SW_MAX_RANK + k].n;
      factors = p->step->rule->dim[i * SW_MAX_RANK + k].at;
    }
    bool hidden = !none && s->priority[k] > priority;
    bool fixed = hidden || (!none && !(s->open >> k & 1));
    if (!m) { /* the rule does not speak of the dimension: its axes are taken */
      for (int r = 0; r < n && t->n_taken < 2 * SW_MAX_REFS; r++) t->taken[t->n_taken++] = refs[r];
      continue;
    }
    split_dim_to_factors(p, t, factors, m, hidden ? &(sw_axes){0} : &axes, fixed);
    if (hidden) t->at[factors[0]].rest = axes;
  }
}

bool sw_project(const sw_flow *f, const sw_flow_op *step, int32_t priority, sw_projection *p) {
  const sw_factor_rule *rule = step->rule;
  p->f = f;
  p->step = step;
  p->careful = f->conservative && step->kind != SW_STEP_EDGE;
  p->mesh_id = common_mesh(f, step);
  p->n = step->n_operands + step->n_results;
  if (p->mesh_id < 0 || p->n > SW_MOST_TENSORS) return false;
  p->mesh = &f->meshes[p->mesh_id];
  const sw_type *type = rule ? NULL : f->types[step->tensors[0]];
  p->n_factors = rule ? rule->n : type->rank;
  for (int k = 0; k < p->n_factors; k++) {
    p->size[k] = rule ? rule->size[k] : type->dims[k];
    p->blocked[k] = rule && (rule->blocked[k] || (p->careful && rule->resized[k]));
    p->kind[k] = rule ? rule->kind[k] : SW_FACTOR_PASS;
  }
  for (int i = 0; i < p->n; i++) {
    sw_tensor_cut *t = &p->tensor[i];
    t->absent = true;
    for (int k = 0; k < p->n_factors; k++) t->at[k].present = t->at[k].grown = false;
    if (step->tensors[i] >= 0) project_tensor(f, p, i, step->tensors[i], priority);
  }
  return true;
}

/* --- and back ----------------------------------------------------------------------------------------------------- */

/* The axes of a dimension from those of its factors: minor ones follow only where the major one is cut whole. False
 * where there is no room. */
static bool join_dim(const sw_projection *p, const sw_tensor_cut *t, const uint8_t *factors, int n, sw_axes *out) {
  out->n = 0;
  for (int k = 0; k < n; k++) {
    const sw_factor_cut *c = &t->at[factors[k]];
    for (int i = 0; i < c->axes.n + c->rest.n; i++) {
      sw_axis_ref a = i < c->axes.n ? c->axes.at[i] : c->rest.at[i - c->axes.n];
      sw_axis_ref *last = out->n ? &out->at[out->n - 1] : NULL;
      if (last && last->axis == a.axis && end_of(*last) == a.pre) {
        last->size *= a.size;
      } else if (!push_axis(out, a)) {
        return false;
      }
    }
    if (c->rest.n || (!c->minor && sw_axes_size(&c->axes) < p->size[factors[k]])) break;
  }
  return true;
}

static bool has_grown_along(const sw_tensor_cut *t, const uint8_t *factors, int n) {
  for (int k = 0; k < n; k++) {
    if (t->at[factors[k]].grown) return true;
  }
  return false;
}

static bool unproject_tensor(sw_flow *f, const sw_projection *p, int i, bool *changed) {
  sw_open_sharding *s = &f->shardings[p->step->tensors[i]], next = *s;
  const sw_tensor_cut *t = &p->tensor[i];
  const int rank = f->types[p->step->tensors[i]]->rank;
  const bool fresh = s->mesh < 0;
  if (fresh) next.open = rank ? (1u << rank) - 1 : 0;
  next.mesh = p->mesh_id; /* of several with the same axes one is named */
  next.cut = sw_sharding_replicated(rank);
  next.cut.partial_kind = s->cut.partial_kind;
  for (int k = 0; k < rank; k++) {
    const uint8_t edge = (uint8_t)k;
    const uint8_t *factors = p->step->rule ? p->step->rule->dim[i * SW_MAX_RANK + k].at : &edge;
    int m = p->step->rule ? p->step->rule->dim[i * SW_MAX_RANK + k].n : 1, n = 0;
    const sw_axis_ref *refs = fresh ? NULL : sw_sharding_dim(&s->cut, k, &n);
    bool grown = has_grown_along(t, factors, m);
    sw_axes axes = {0};
    if (grown && !join_dim(p, t, factors, m, &axes)) return false;
    if (grown) n = n_manual(p->step, i, refs, n);
    for (int r = 0; r < n; r++) {
      if (!sw_sharding_push(&next.cut, k, refs[r])) return false;
    }
    for (int r = 0; r < axes.n; r++) {
      if (!sw_sharding_push(&next.cut, k, axes.at[r])) return false;
    }
  }
  for (int r = 0; !fresh && r < s->cut.n_partial; r++) {
    sw_reduction kind = (sw_reduction)s->cut.partial_kind;
    if (!sw_sharding_push_partial(&next.cut, kind, sw_sharding_partial(&s->cut)[r])) return false;
  }
  *changed = !sw_sharding_equal(&next.cut, &s->cut);
  if (*changed) *s = next;
  return true;
}

bool sw_has_grown(const sw_projection *p, int i) {
  for (int k = 0; k < p->n_factors; k++) {
    if (p->tensor[i].at[k].present && p->tensor[i].at[k].grown) return true;
  }
  return false;
}

/* A tensor that the step has twice is what it becomes the last time. */
static bool has_changed_later(const sw_projection *p, const bool *changed, int i) {
  for (int k = i + 1; k < p->n; k++) {
    if (changed[k] && p->step->tensors[k] == p->step->tensors[i]) return true;
  }
  return false;
}

bool sw_unproject(sw_flow *f, const sw_projection *p, bool *changed) {
  for (int i = p->n - 1; i >= 0; i--) {
    changed[i] = false;
    if (p->step->tensors[i] < 0 || !sw_has_grown(p, i) || has_changed_later(p, changed, i)) continue;
    if (!unproject_tensor(f, p, i, &changed[i])) return false;
  }
  return true;
}

/* --- along a factor ----------------------------------------------------------------------------------------------- */

/* What both say: the longer where one begins with the other, else what they have in common; then nothing is added to it
 * any more. */
static void meet(sw_axes *r, bool *can_grow, const sw_axes *t) {
  for (int i = 0;; i++) {
    if (i == t->n) return;
    if (i == r->n) {
      while (*can_grow && i < t->n) (void)push_axis(r, t->at[i++]);
      return;
    }
    sw_axis_ref *a = &r->at[i], b = t->at[i];
    if (sw_axis_ref_equal(*a, b)) continue;
    if (is_prefix(*a, b)) {
      if (i == r->n - 1 && *can_grow) {
        *a = b;
        continue;
      }
      r->n = i + 1;
    } else if (is_prefix(b, *a)) {
      if (i == t->n - 1) return;
      *a = b;
      r->n = i + 1;
    } else {
      r->n = i;
    }
    *can_grow = false;
    return;
  }
}

static sw_axes common_axes(const sw_projection *p, int factor, int from, int to) {
  sw_axes r = {0};
  bool can_grow = true;
  for (int i = from; i < to; i++) {
    if (p->tensor[i].at[factor].present) meet(&r, &can_grow, &p->tensor[i].at[factor].axes);
  }
  return r;
}

sw_axes sw_compatible_axes(const sw_projection *p, int factor, sw_direction direction) {
  const int operands = p->step->n_operands;
  if (p->blocked[factor] || direction == SW_DIRECTION_NONE) return (sw_axes){0};
  if (direction == SW_DIRECTION_BOTH) return common_axes(p, factor, 0, p->n);
  bool forward = direction == SW_DIRECTION_FORWARD, can_grow = false;
  sw_axes r = common_axes(p, factor, forward ? 0 : operands, forward ? operands : p->n);
  for (int i = forward ? operands : 0; i < (forward ? p->n : operands); i++) {
    if (p->tensor[i].at[factor].present) meet(&r, &can_grow, &p->tensor[i].at[factor].axes);
  }
  return r;
}

/* The part of an axis, major first, that cuts nothing else of the tensor; size 0: none. */
static sw_axis_ref free_part(const sw_axis_ref *taken, int n, sw_axis_ref a) {
  for (int i = 0; i < n && a.size; i++) {
    if (sw_axis_ref_overlaps(a, taken[i])) a = major_part(a, taken[i].pre % a.pre ? 0 : taken[i].pre / a.pre);
  }
  return a;
}

/* What is replicated or unreduced along an axis is not cut by it; what is not cut along the factor may be so. */
static sw_axis_ref free_in_tensor(const sw_tensor_cut *t, int n_factors, int factor, sw_axis_ref a) {
  const int first = t->at[factor].present ? 0 : t->n_whole;
  a = free_part(t->taken + first, t->n_taken - first, a);
  for (int k = 0; k < n_factors && a.size; k++) {
    const sw_factor_cut *c = &t->at[k];
    if (!c->present) continue;
    if (k != factor) a = free_part(c->axes.at, c->axes.n, a);
    a = free_part(c->rest.at, c->rest.n, a);
  }
  return a;
}

/* What of an axis a factor of which `left` elements are not cut yet can take. */
static sw_axis_ref divisible_part(const sw_projection *p, const sw_factor_cut *c, int64_t left, sw_axis_ref a) {
  if (c->minor || left % a.size == 0) return a;
  return p->f->conservative ? (sw_axis_ref){0} : major_part(a, gcd(left, a.size));
}

sw_axes sw_axes_allowed(const sw_projection *p, int tensor, int factor, const sw_axes *axes) {
  const sw_tensor_cut *t = &p->tensor[tensor];
  const sw_factor_cut none = {.minor = true}, *c = t->at[factor].present ? &t->at[factor] : &none;
  sw_axes out = {0};
  int64_t left = p->size[factor];
  for (int i = 0; i < axes->n; i++) {
    sw_axis_ref a = axes->at[i], have = i < c->axes.n ? c->axes.at[i] : (sw_axis_ref){0};
    bool stands = have.size && (sw_axis_ref_equal(have, a) || is_prefix(a, have));
    bool grows = !have.size ? i >= c->axes.n : i == c->axes.n - 1 && is_prefix(have, a);
    if (p->careful && stands && a.size != p->mesh->axis[a.axis].size) return out; /* nothing goes on behind a part */
    if (!stands && (!grows || c->fixed)) {
      if (have.size && is_prefix(have, a)) (void)push_axis(&out, have);
      return out;
    }
    if (!stands) {
      sw_axis_ref part = free_in_tensor(t, p->n_factors, factor, a);
      if (part.size && t->at[factor].present) part = divisible_part(p, c, left, part);
      if (p->careful && (part.size != a.size || a.size != p->mesh->axis[a.axis].size)) part.size = 0;
      if (part.size < have.size) part = have;
      if (part.size) (void)push_axis(&out, part);
      if (part.size != a.size) return out;
      a = part;
    } else {
      (void)push_axis(&out, a);
      if (!sw_axis_ref_equal(have, a)) return out;
    }
    left = !a.size || left % a.size ? 1 : left / a.size;
  }
  return out;
}
