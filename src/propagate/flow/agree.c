/* Shardings on which the tensors of an op agree: every factor is cut alike wherever it is, and no axis cuts two.
 *
 *   dot [{"x"}, {"y"}], [{"y"}, {"x"}] -> [{"x"}, {}]     i by x, k by y: the second operand is [{"y"}, {}]
 *                                                      or j by x, k by y: the first is [{}, {"y"}], the result [{},
 * {"x"}]
 */
#include <string.h>

#include "base/checked.h"
#include "propagate/flow/projection.h"
#include "shardwright/arena.h"

typedef struct sw_factor_axes {
  sw_axes of[SW_MOST_FACTORS];
} sw_factor_axes;

struct sw_agreeing {
  sw_projection p;
  sw_tensor_cut tensor;
  sw_factor_axes axes;
  sw_axes busy; /* over which operands stay partial */
  int order[SW_MOST_TENSORS];
  int64_t elements[SW_MOST_TENSORS];
};

sw_rc sw_agreeing_make(sw_agreeing **out, sw_diag *d) {
  SW_MEM_ROOM(*out, 1, d);
  return SW_OK;
}

void sw_agreeing_destroy(sw_agreeing *a) { sw_mem_free(a); }

/* --- factors ------------------------------------------------------------------------------------------------------ */

static const sw_flow_dim *dim_of(const sw_projection *p, int tensor, int k) {
  return &p->step->rule->dim[tensor * SW_MAX_RANK + k];
}

static int rank_of(const sw_projection *p, int tensor) {
  const int32_t id = p->step->tensors[tensor];
  return id < 0 ? 0 : p->f->types[id]->rank;
}

/* What of an axis no other factor has. */
static sw_axis_ref free_of(const sw_agreeing *a, int factor, sw_axis_ref ref) {
  ref = sw_free_part(a->busy.at, a->busy.n, ref);
  for (int k = 0; k < a->p.n_factors && ref.size; k++) {
    if (k != factor) ref = sw_free_part(a->axes.of[k].at, a->axes.of[k].n, ref);
  }
  return ref;
}

/* The factor goes on as this tensor has it, if that begins with what it has already. */
static void follow(sw_agreeing *a, int tensor, int factor) {
  const sw_axes *want = &a->p.tensor[tensor].at[factor].axes;
  sw_axes *have = &a->axes.of[factor];
  if (!sw_axes_extend(have, want)) return;
  int i = have->n;
  if (i && !sw_axis_ref_equal(have->at[i - 1], want->at[i - 1])) i--;
  for (; i < want->n; i++) {
    const sw_axis_ref part = free_of(a, factor, want->at[i]);
    if (part.size < 1 || (i < have->n && part.size < have->at[i].size)) return;
    have->at[i] = part;
    have->n = i + 1;
    if (part.size < want->at[i].size) return;
  }
}

/* Of a dimension with several factors: a minor one is cut only where those before it are cut whole, and these by what
 * divides them. */
static bool cut_back(sw_agreeing *a, int tensor, int k) {
  const sw_flow_dim *dim = dim_of(&a->p, tensor, k);
  bool whole = true, changed = false;
  for (int i = 0; i < dim->n; i++) {
    sw_axes *axes = &a->axes.of[dim->at[i]];
    const int had = axes->n;
    int64_t left = a->p.size[dim->at[i]];
    if (!whole) axes->n = 0;
    for (int r = 0; i + 1 < dim->n && r < axes->n; r++) {
      if (left % axes->at[r].size)
        axes->n = r;
      else
        left /= axes->at[r].size;
    }
    whole = whole && left == 1;
    changed |= axes->n != had;
  }
  return changed;
}

static void cut_all_back(sw_agreeing *a) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < a->p.n; i++) {
      for (int k = 0; k < rank_of(&a->p, i); k++) changed |= cut_back(a, i, k);
    }
  }
}

/* What cuts a factor that must be whole cuts another of the tensor, which its size allows. */
static void move_axes(sw_agreeing *a, int tensor) {
  const sw_tensor_cut *t = &a->p.tensor[tensor];
  for (int k = 0; k < a->p.n_factors; k++) {
    if (!t->at[k].present || a->p.kind[k] != SW_FACTOR_REPLICATE) continue;
    for (int r = 0; r < t->at[k].axes.n; r++) {
      const sw_axis_ref ref = t->at[k].axes.at[r];
      for (int to = 0; to < a->p.n_factors; to++) {
        sw_axes *axes = &a->axes.of[to];
        if (!t->at[to].present || a->p.kind[to] != SW_FACTOR_PASS || axes->n == SW_MAX_REFS) continue;
        if (a->p.size[to] % (sw_axes_size(axes) * ref.size) || free_of(a, -1, ref).size < ref.size) continue;
        axes->at[axes->n++] = ref;
        break;
      }
    }
  }
}

/* Tensors in the order a->order. `alone`: factors of the first one are cut as that has them, and no further. */
static void lead(sw_agreeing *a, bool moves, bool alone) {
  for (int k = 0; k < a->p.n_factors; k++) a->axes.of[k].n = 0;
  for (int i = 0; i < a->p.n; i++) {
    const int tensor = a->order[i];
    for (int k = 0; k < a->p.n_factors; k++) {
      if (!a->p.tensor[tensor].at[k].present || a->p.kind[k] == SW_FACTOR_REPLICATE) continue;
      if (!alone || !i || !a->p.tensor[a->order[0]].at[k].present) follow(a, tensor, k);
    }
    cut_all_back(a);
    if (moves) move_axes(a, tensor);
    if (moves) cut_all_back(a);
  }
}

/* --- tensors ------------------------------------------------------------------------------------------------------ */

static bool cut_of(sw_agreeing *a, int tensor, sw_sharding *out) {
  *out = sw_sharding_replicated(rank_of(&a->p, tensor));
  for (int k = 0; k < a->p.n_factors; k++) {
    const sw_factor_cut *now = &a->p.tensor[tensor].at[k];
    a->tensor.at[k] = (sw_factor_cut){.present = now->present, .axes = a->axes.of[k]};
    if (now->present) a->tensor.at[k].minor = now->minor;
  }
  for (int k = 0; k < out->rank; k++) {
    const sw_flow_dim *dim = dim_of(&a->p, tensor, k);
    sw_axes axes = {0};
    if (!sw_join_dim(&a->p, &a->tensor, dim->at, dim->n, &axes)) return false;
    for (int r = 0; r < axes.n; r++) {
      if (!sw_sharding_push(out, k, axes.at[r])) return false;
    }
  }
  return true;
}

static bool is_cut_so(const sw_projection *p, int tensor, const sw_sharding *cut) {
  const int32_t id = p->step->tensors[tensor];
  if (id < 0) return true;
  sw_sharding now = p->f->shardings[id].cut;
  if (p->f->shardings[id].mesh < 0) now = sw_sharding_replicated(cut->rank);
  now.n_partial = 0;
  return sw_sharding_equal(&now, cut);
}

static bool agreement_of(sw_agreeing *a, sw_agreement *out) {
  *out = (sw_agreement){.mesh = a->p.mesh_id};
  for (int i = 0; i < a->p.n; i++) {
    if (!cut_of(a, i, &out->cut[i])) return false;
    out->changes |= !is_cut_so(&a->p, i, &out->cut[i]);
  }
  for (int k = 0; k < a->p.n_factors; k++) {
    const sw_axes *axes = &a->axes.of[k];
    if (a->p.kind[k] != SW_FACTOR_REDUCTION) continue;
    if (out->n_reduced + axes->n > SW_MAX_REFS) return false;
    for (int r = 0; r < axes->n; r++) out->reduced[out->n_reduced++] = axes->at[r];
  }
  return true;
}

/* --- choosing ----------------------------------------------------------------------------------------------------- */

/* Does a result stay unreduced over the axis, or a part of it? */
static bool stays_partial(const sw_projection *p, sw_axis_ref ref) {
  for (int i = p->step->n_operands; i < p->n; i++) {
    const sw_open_sharding *s = p->step->tensors[i] < 0 ? NULL : &p->f->shardings[p->step->tensors[i]];
    for (int r = 0; s && s->mesh >= 0 && r < s->cut.n_partial; r++) {
      if (sw_axis_ref_overlaps(sw_sharding_partial(&s->cut)[r], ref)) return true;
    }
  }
  return false;
}

static void read_tensors(sw_agreeing *a) {
  const sw_projection *p = &a->p;
  a->busy.n = 0;
  for (int i = 0; i < p->n; i++) {
    const int32_t id = p->step->tensors[i];
    a->elements[i] = id < 0 ? 0 : 1;
    for (int k = 0; k < rank_of(p, i); k++) {
      if (!sw_mul_i64(a->elements[i], p->f->types[id]->dims[k], &a->elements[i])) a->elements[i] = INT64_MAX;
    }
    const sw_open_sharding *s = id < 0 || i >= p->step->n_operands ? NULL : &p->f->shardings[id];
    for (int r = 0; s && s->mesh >= 0 && r < s->cut.n_partial && a->busy.n < SW_MAX_REFS; r++) {
      const sw_axis_ref ref = sw_sharding_partial(&s->cut)[r];
      if (stays_partial(p, ref)) a->busy.at[a->busy.n++] = ref;
    }
  }
}

/* `leader`, then the others, the larger first. */
static void order_by(sw_agreeing *a, int leader) {
  int n = 0;
  a->order[n++] = leader;
  for (int i = 0; i < a->p.n; i++) {
    int k = n;
    if (i == leader) continue;
    for (; k > 1 && a->elements[a->order[k - 1]] < a->elements[i]; k--) a->order[k] = a->order[k - 1];
    a->order[k] = i;
    n++;
  }
}

static bool has_axes(const sw_projection *p, int tensor) {
  for (int k = 0; k < p->n_factors; k++) {
    if (p->tensor[tensor].at[k].present && p->tensor[tensor].at[k].axes.n) return true;
  }
  return false;
}

/* Ops that only pass their factors on may as well be done by all; what is more work is worth to be cut. */
static bool passes_all(const sw_projection *p) {
  for (int k = 0; k < p->n_factors; k++) {
    if (p->kind[k] != SW_FACTOR_PASS) return false;
  }
  return true;
}

/* Is what a tensor has in a factor that must be whole? */
static bool may_move(const sw_projection *p) {
  for (int i = 0; i < p->n; i++) {
    for (int k = 0; k < p->n_factors; k++) {
      if (p->kind[k] == SW_FACTOR_REPLICATE && p->tensor[i].at[k].present && p->tensor[i].at[k].axes.n) return true;
    }
  }
  return false;
}

static double price_of(const sw_agreeing *a, const sw_agreement *found, sw_agreement_price price, void *user) {
  double sum = 0;
  for (int i = 0; i < a->p.n; i++) {
    if (a->p.step->tensors[i] >= 0) sum += price(user, i, found);
  }
  return sum;
}

/* All tensors, the larger first; returns how many. */
static int find_leaders(const sw_agreeing *a, int *leaders) {
  for (int i = 0; i < a->p.n; i++) {
    int k = i;
    for (; k > 0 && a->elements[leaders[k - 1]] < a->elements[i]; k--) leaders[k] = leaders[k - 1];
    leaders[k] = i;
  }
  return a->p.n;
}

/* Ways to lead, in the order in which they are preferred. */
static const struct { bool moves, alone; } kWays[] = {{true, false}, {false, false}, {false, true}};

bool sw_agree(sw_agreeing *a, const sw_flow *f, const sw_flow_step *s, sw_agreement_price price, void *user,
              sw_agreement *out) {
  if (!s->rule || !sw_project(f, s, INT32_MAX, &a->p)) return false;
  read_tensors(a);
  int leaders[SW_MOST_TENSORS];
  bool any = false;
  double least = 0;
  const int n = find_leaders(a, leaders);
  const bool moves = may_move(&a->p), alone = passes_all(&a->p);
  for (size_t i = 0; i < 3 * (size_t)n; i++) {
    const int leader = leaders[i % (size_t)n], way = (int)(i / (size_t)n);
    sw_agreement found;
    if ((kWays[way].moves && !moves) || (kWays[way].alone && !alone)) continue;
    if (!kWays[way].alone && !has_axes(&a->p, leader)) continue;
    order_by(a, leader);
    lead(a, kWays[way].moves, kWays[way].alone);
    if (!agreement_of(a, &found)) continue;
    const double cost = found.changes ? price_of(a, &found, price, user) : 0;
    if (any && found.changes && cost >= least) continue;
    *out = found;
    least = cost;
    any = true;
    if (!found.changes) break;
  }
  return any;
}
