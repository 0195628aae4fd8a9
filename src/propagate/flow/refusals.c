/* What the neighbours of a tensor have and it has not, and why: read off the flow when it is at its end. */
#include "propagate/flow/origins.h"
#include "propagate/flow/projection.h"

typedef struct asked {
  const sw_flow *f;
  const sw_projection *p;
  int tensor, dim, factor; /* of the step: the one that is asked about */
  int from;                /* the one that has more */
} asked;

static bool is_listed(const asked *a, sw_axis_ref axis) {
  const sw_tensor_cut *t = &a->p->tensor[a->tensor];
  for (int i = 0; i < t->n_taken; i++) {
    if (sw_axis_ref_overlaps(t->taken[i], axis)) return true;
  }
  return false;
}

/* The dimension that the axis cuts, other than the one at hand; -1: none. */
static int dim_cut_by(const asked *a, sw_axis_ref axis) {
  const sw_open_sharding *s = &a->f->shardings[a->p->step->tensors[a->tensor]];
  for (int i = 0; s->mesh >= 0 && i < s->cut.n_refs; i++) {
    if (s->cut.dim_of[i] != a->dim && sw_axis_ref_overlaps(s->cut.refs[i], axis)) return s->cut.dim_of[i];
  }
  return -1;
}

static bool goes_that_way(const asked *a) {
  const sw_flow_op *s = a->p->step;
  const bool from_operand = a->from < s->n_operands, to_operand = a->tensor < s->n_operands;
  if (from_operand && !to_operand) return s->allowed & SW_DIRECTION_FORWARD;
  if (!from_operand && to_operand) return s->allowed & SW_DIRECTION_BACKWARD;
  return s->allowed != SW_DIRECTION_NONE;
}

/* The first other tensor of the step that cannot have the axes, or has others; -1: none. */
static int contradicted_by(const asked *a, const sw_axes *axes) {
  for (int i = 0; i < a->p->n; i++) {
    const sw_factor_cut *c = &a->p->tensor[i].at[a->factor];
    if (i == a->tensor || i == a->from || !c->present) continue;
    const sw_axes can = sw_axes_allowed(a->p, i, a->factor, axes);
    if (sw_axes_extend(&can, axes)) return i;
  }
  return -1;
}

static sw_refusal_reason reason(const asked *a, const sw_axes *axes, sw_axis_ref next, int32_t *by) {
  const sw_factor_cut *c = &a->p->tensor[a->tensor].at[a->factor];
  int other = -1;
  *by = -1;
  if (!sw_axes_extend(&c->axes, axes)) return SW_REFUSED_STANDS;
  if (a->p->blocked[a->factor]) return SW_REFUSED_BLOCKED;
  if (!goes_that_way(a)) return SW_REFUSED_BARRIER;
  if (c->fixed) return SW_REFUSED_CLOSED;
  if ((*by = dim_cut_by(a, next)) >= 0) return SW_REFUSED_USED;
  if (is_listed(a, next)) return SW_REFUSED_LISTED;
  const sw_axes can = sw_axes_allowed(a->p, a->tensor, a->factor, axes);
  if (!sw_axes_extend(&c->axes, &can)) return SW_REFUSED_SIZE;
  if ((other = contradicted_by(a, axes)) < 0) return SW_REFUSED_LAYER;
  *by = a->p->step->tensors[other];
  return SW_REFUSED_TENSOR;
}

static sw_rc find_refusal(const asked *a, int32_t step, sw_refusals *out, sw_diag *d) {
  const sw_axes *mine = &a->p->tensor[a->tensor].at[a->factor].axes;
  const sw_factor_cut *theirs = &a->p->tensor[a->from].at[a->factor];
  int at = 0;
  if (!theirs->present) return SW_OK;
  while (at < mine->n && at < theirs->axes.n && sw_axis_ref_equal(mine->at[at], theirs->axes.at[at])) at++;
  if (at == theirs->axes.n) return SW_OK;
  sw_refusal r = {.step = step,
                  .factor = a->factor,
                  .dim = a->dim,
                  .from = a->p->step->tensors[a->from],
                  .axis = theirs->axes.at[at]};
  if (at < mine->n) { /* a part of what this one has? */
    sw_axis_ref common = sw_axis_common(mine->at[at], r.axis);
    if (sw_axis_ref_equal(common, r.axis)) return SW_OK;
  }
  r.why = reason(a, &theirs->axes, r.axis, &r.by);
  return sw_array_push(out, r, d);
}

static sw_rc ask_all(asked *a, int32_t step, sw_refusals *out, sw_diag *d) {
  const sw_flow_op *s = a->p->step;
  const int rank = a->f->types[s->tensors[a->tensor]]->rank;
  for (a->dim = 0; a->dim < rank; a->dim++) {
    const uint8_t edge = (uint8_t)a->dim;
    const sw_factor_dim *dim = s->rule ? &s->rule->dim[a->tensor * SW_MAX_RANK + a->dim] : NULL;
    for (int k = 0; k < (dim ? dim->n : 1); k++) {
      a->factor = dim ? dim->at[k] : edge;
      for (a->from = 0; a->from < a->p->n; a->from++) {
        if (a->from != a->tensor && s->tensors[a->from] != s->tensors[a->tensor]) SW_TRY(find_refusal(a, step, out, d));
      }
    }
  }
  return SW_OK;
}

sw_rc sw_flow_refusals(const sw_flow *f, int32_t tensor, sw_refusals *out, sw_diag *d) {
  sw_projection *p = sw_mem_alloc(1, sizeof *p, d);
  sw_rc rc = p ? SW_OK : SW_E_RESOURCE;
  asked a = {.f = f, .p = p};
  for (int32_t k = 0; k < f->n_steps && !rc; k++) {
    const sw_flow_op *s = &f->steps[k];
    int at = 0;
    const int n = s->n_operands + s->n_results;
    while (at < n && s->tensors[at] != tensor) at++;
    if (at == n || !sw_project(f, s, INT32_MAX, p)) continue;
    a.tensor = at;
    rc = ask_all(&a, k, out, d);
  }
  sw_mem_free(p);
  return rc;
}
