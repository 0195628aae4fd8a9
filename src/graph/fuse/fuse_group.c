/* Heads that a program repeats or joins with batches, as jnp.repeat and products over one batch dim have it:
 *
 *   k [b, s, 2, d] -> broadcast [b, s, 2, 3, d] -> reshape [b, s, 6, d]     k is that of 2 heads, each of 3 queries
 *   q [b, 6, s, d] -> reshape [b*6, s, d]                                   q is the first
 *
 * and the gradients of k and v are what is added up over the 3. In front of k conversions and a number that scales it
 * may stand, which belong to the scores' scale then.
 */
#include <math.h>
#include <string.h>

#include "graph/fuse/region.h"

enum { MOST_STEPS = 16 };
static const double kSame = 1e-5; /* relative difference of numbers that are meant to be one */

/* A way from an operand up to what it is made of, or from a result down: the numbers by which it is multiplied. */
typedef struct way {
  const sw_fuse_region *r;
  const sw_fuse_space *s;
  int head; /* the dim of the scores that the heads are in */
  double scale;
  int n;
  sw_id ops[MOST_STEPS];
} way;

static bool step_up(way *w, sw_fuse_operand *x, bool scales) {
  const sw_graph *g = w->r->g;
  const sw_op *op = sw_value_maker(g, x->id);
  sw_fuse_dims before;
  double by;
  if (!op || w->s->kept[x->id]) return false;
  if (op->code == SW_OP_CONVERT && sw_fuse_unwidened(g, x->id) == x->id) return false;
  const int side = scales ? sw_fuse_scaled(g, op, &by) : -1;
  if (side >= 0) {
    w->scale *= by;
    x->id = op->operands[side];
    return true;
  }
  if (!sw_fuse_dims_before(w->r, op, &x->dims, &before)) return false;
  *x = (sw_fuse_operand){op->operands[0], before};
  return true;
}

static int64_t operand_extent(const sw_graph *g, const sw_fuse_operand *x, int i) {
  return g->values[x->id].type.dims[i];
}

/* Elements along the heads' dim, and along all others. */
static void count(const way *w, const sw_fuse_operand *x, int64_t *heads, int64_t *others) {
  *heads = *others = 1;
  for (int i = 0; i < x->dims.rank; i++)
    *(x->dims.at[i].dim == w->head ? heads : others) *= operand_extent(w->r->g, x, i);
}

/* How often each head of x stands one after the other where all are told: 1 all are there, 0 x is something else. */
static int64_t repeats(const way *w, const sw_fuse_operand *x, int64_t others) {
  int64_t heads, rest;
  count(w, x, &heads, &rest);
  if (rest != others || heads <= 0 || w->r->size[w->head] % heads) return 0;
  const int64_t n = w->r->size[w->head] / heads;
  for (int i = 0; i < x->dims.rank; i++) {
    const sw_fuse_dim at = x->dims.at[i];
    if (at.dim == w->head && operand_extent(w->r->g, x, i) > 1 && at.stride % n) return 0;
  }
  return n;
}

/* What x is repeated from, if it is: how often. */
static int64_t find_repeated(way *w, sw_fuse_operand *x, bool scales) {
  sw_fuse_operand at = *x;
  int64_t heads, others, found = 1;
  double scale = 1;
  count(w, x, &heads, &others);
  for (int i = 0; i < MOST_STEPS && step_up(w, &at, scales); i++) {
    const int64_t n = repeats(w, &at, others);
    if (n == 0) break;
    if (n <= found) continue;
    found = n;
    *x = at;
    scale = w->scale;
  }
  w->scale = scale;
  return found;
}

/* --- down --------------------------------------------------------------------------------------------------------- */

/* Only what is repeated `n` times is added up. */
static bool adds_up_repeats(const way *w, const sw_op *op, const sw_fuse_dims *of, int64_t n) {
  int n_dims;
  const int64_t *dims = sw_op_ints(op, SW_ATTR_DIMS, &n_dims);
  for (int i = 0; i < n_dims; i++) {
    const sw_fuse_dim at = of->at[dims[i]];
    const int64_t size = w->r->g->values[op->operands[0]].type.dims[dims[i]];
    if (size != 1 && (at.dim != w->head || at.stride * size > n)) return false;
  }
  return strcmp(sw_op_text(op, SW_ATTR_KIND, ""), "sum") == 0;
}

static bool step_down(way *w, sw_fuse_exit *e, int64_t n) {
  const sw_graph *g = w->r->g;
  const sw_value *v = &g->values[g->ops[e->op].results[0]];
  sw_fuse_dims after;
  double by;
  if (v->n_uses != 1 || v->uses[0].op < 0 || w->s->kept[g->ops[e->op].results[0]] || w->n == MOST_STEPS) return false;
  const sw_id id = v->uses[0].op;
  const sw_op *op = &g->ops[id];
  if (w->s->taken[id] || op->frame != g->ops[w->r->scores].frame || op->n_results != 1) return false;
  switch ((int)op->code) {
    case SW_OP_REDUCE:
      if (!adds_up_repeats(w, op, &e->dims, n)) return false;
      break;
    case SW_OP_CONVERT:
      if (sw_dtype_class_of(sw_result_type(g, op, 0)->dtype) != SW_CLASS_FLOAT) return false;
      break;
    case SW_OP_TRANSPOSE:
    case SW_OP_RESHAPE:
      break;
    default:
      if (sw_fuse_scaled(g, op, &by) != v->uses[0].index) return false;
      w->scale *= by;
  }
  if (!sw_fuse_dims_after(w->r, op, &e->dims, &after)) return false;
  *e = (sw_fuse_exit){id, after};
  w->ops[w->n++] = id;
  return true;
}

static sw_fuse_operand result_of(const way *w, const sw_fuse_exit *e) {
  return (sw_fuse_operand){w->r->g->ops[e->op].results[0], e->dims};
}

/* To where the gradient is added up over `n` heads, multiplied by as much as the operand was. */
static bool find_sum(way *w, sw_fuse_exit *e, int64_t n) {
  const double scale = w->scale;
  int64_t heads, others, left;
  w->scale = 1;
  if (e->op < 0) return true;
  const sw_fuse_operand all = result_of(w, e);
  count(w, &all, &heads, &others);
  do {
    const sw_fuse_operand now = result_of(w, e);
    count(w, &now, &left, &others);
    if (left * n == heads && fabs(w->scale - scale) <= kSame * fabs(scale)) return repeats(w, &now, others) == n;
  } while (step_down(w, e, n));
  return false;
}

/* --- batches and heads in one dim --------------------------------------------------------------------------------- */

/* Of the scores' only batch dim: how many heads it has, by the least parts of it that an operand has; 0: not known. */
static int64_t heads_of(const way *w, const sw_fuse_operand *x) {
  int64_t stride = INT64_MAX, heads = 0;
  int parts = 0;
  for (int i = 0; i < x->dims.rank; i++) {
    const sw_fuse_dim at = x->dims.at[i];
    if (at.dim != w->head || operand_extent(w->r->g, x, i) == 1) continue;
    parts++;
    if (at.stride >= stride) continue;
    stride = at.stride;
    heads = at.stride * operand_extent(w->r->g, x, i);
  }
  return parts > 1 || (parts == 1 && stride > 1) ? heads : 0;
}

static bool is_move(const sw_op *op) { return op && (op->code == SW_OP_RESHAPE || op->code == SW_OP_TRANSPOSE); }

/* What it is made of by moves alone, if that is as the op takes it. */
static void move_up(const way *from, sw_fuse_operand *x) {
  way w = *from;
  sw_fuse_operand at = *x;
  for (int i = 0; x->id >= 0 && i < MOST_STEPS && !sw_fuse_is_native(w.r, &at); i++) {
    if (!is_move(sw_value_maker(w.r->g, at.id)) || !step_up(&w, &at, false)) return;
  }
  *x = at;
}

static sw_rc keep_ops(sw_fuse_region *r, const way *w, sw_diag *d) {
  for (int i = 0; i < w->n; i++) SW_TRY(sw_array_push(&r->removed, w->ops[i], d));
  return SW_OK;
}

/* What moves alone make of the result, if that is as the op gives it. */
static sw_rc move_down(const way *from, sw_fuse_region *r, int which, sw_diag *d) {
  way w = *from;
  sw_fuse_exit at = r->exit[which];
  w.n = 0;
  if (at.op < 0) return SW_OK;
  for (sw_fuse_operand x = result_of(&w, &at); !sw_fuse_is_native(r, &x); x = result_of(&w, &at)) {
    if (!step_down(&w, &at, 0) || !is_move(&r->g->ops[at.op])) return SW_OK;
  }
  const sw_id gradient = which == SW_FUSE_O ? sw_fuse_first_gradient(r) : -1;
  if (gradient >= 0 && at.op > gradient) return SW_OK;
  r->exit[which] = at;
  return keep_ops(r, &w, d);
}

/* Parts of the dim that the number of heads does not divide are no batches and heads. */
static bool divides(const way *w, int64_t heads, const sw_fuse_operand *x) {
  for (int i = 0; x->id >= 0 && i < x->dims.rank; i++) {
    const sw_fuse_dim at = x->dims.at[i];
    const int64_t end = at.stride * operand_extent(w->r->g, x, i);
    if (at.dim != w->head || at.stride >= heads || end <= heads) continue;
    if (heads % at.stride || end % heads) return false;
  }
  return true;
}

/* Of one batch dim so many are heads. */
static void tell_apart(const way *w, sw_fuse_region *r, int64_t heads) {
  const sw_fuse_operand *const all[] = {&r->q, &r->k, &r->v, &r->d_o, &r->keep, &r->bias, &r->mask};
  bool fits = heads > 0 && r->size[w->head] % heads == 0;
  for (int i = 0; i < 7 && fits; i++) fits = divides(w, heads, all[i]);
  for (int e = 0; e < SW_FUSE_EXITS && fits; e++) {
    const sw_fuse_operand x = r->exit[e].op < 0 ? (sw_fuse_operand){.id = -1} : result_of(w, &r->exit[e]);
    fits = divides(w, heads, &x);
  }
  if (!fits) return;
  r->kv_head = w->head;
  r->heads = heads;
}

/* The heads of one batch dim, by what k or q is made of; 0: not known. */
static int64_t find_heads(const way *from, const sw_fuse_region *r) {
  way w = *from;
  sw_fuse_operand q = r->q;
  int64_t heads = heads_of(from, &r->k);
  for (int i = 0; heads == 0 && i < MOST_STEPS; i++) {
    if (!is_move(sw_value_maker(r->g, q.id)) || !step_up(&w, &q, false)) break;
    heads = heads_of(from, &q);
    if (heads == 0 && q.dims.rank == 4) heads = r->size[w.head]; /* of one batch */
  }
  return heads;
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

static sw_rc group(const way *from, sw_fuse_region *r, sw_diag *d) {
  way of_k = *from, of_v = *from;
  sw_fuse_operand k = r->k, v = r->v;
  sw_fuse_exit dk = r->exit[SW_FUSE_DK], dv = r->exit[SW_FUSE_DV];
  const int64_t n = find_repeated(&of_k, &k, true);
  if (n < 2 || r->group >= 0 || find_repeated(&of_v, &v, false) != n) return SW_OK;
  const double scale = of_k.scale;
  if (!find_sum(&of_k, &dk, n) || !find_sum(&of_v, &dv, n)) return SW_OK;
  const int64_t heads = heads_of(from, &k);
  if (r->n_batch == 1 && (heads == 0 || !divides(from, heads, &v))) return SW_OK;
  r->k = k;
  r->v = v;
  r->scale *= scale;
  r->shared = n;
  r->exit[SW_FUSE_DK] = dk;
  r->exit[SW_FUSE_DV] = dv;
  SW_TRY(keep_ops(r, &of_k, d));
  return keep_ops(r, &of_v, d);
}

sw_rc sw_fuse_members(sw_fuse_region *r, const sw_fuse_space *s, sw_diag *d) {
  const way w = {.r = r, .s = s, .head = r->n_batch - 1, .scale = 1};
  sw_fuse_operand *const all[] = {&r->q, &r->k, &r->v, &r->d_o};
  if (r->joined[0] < 0 && r->group >= 0 && r->kv_head >= 0) {
    r->joined[0] = r->kv_head;
    r->joined[1] = r->group;
  }
  if (r->n_batch > 0) SW_TRY(group(&w, r, d));
  if (r->n_batch == 1) tell_apart(&w, r, find_heads(&w, r));
  for (int i = 0; i < 4; i++) move_up(&w, all[i]);
  for (int e = 0; e < SW_FUSE_EXITS; e++) SW_TRY(move_down(&w, r, e, d));
  return SW_OK;
}
