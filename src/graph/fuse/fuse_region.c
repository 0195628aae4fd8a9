/* Follows what becomes of scores, op by op in program order, until everything has left through a known product, or
 * something is met that an attention does not have (region.h). */
#include "graph/fuse/finder.h"

/* --- the heap of ops to come -------------------------------------------------------------------------------------- */

static void swap(sw_id *a, sw_id *b) {
  const sw_id t = *a;
  *a = *b;
  *b = t;
}

static void queue(sw_finder *f, sw_id op) {
  if (f->s->queued[op] || f->rc) return;
  f->s->queued[op] = true;
  f->rc = sw_array_push(&f->r->todo, op, f->d);
  if (f->rc) return;
  sw_id *at = f->r->todo.at;
  for (size_t i = f->r->todo.n - 1; i > 0 && at[(i - 1) / 2] > at[i]; i = (i - 1) / 2) swap(&at[(i - 1) / 2], &at[i]);
}

static sw_id next_op(sw_finder *f) {
  sw_id *at = f->r->todo.at;
  const sw_id first = at[0];
  const size_t n = --f->r->todo.n;
  at[0] = at[n];
  for (size_t i = 0, k = 1; k < n; i = k, k = 2 * i + 1) {
    if (k + 1 < n && at[k + 1] < at[k]) k++;
    if (at[i] <= at[k]) break;
    swap(&at[i], &at[k]);
  }
  f->s->queued[first] = false;
  return first;
}

bool sw_finder_take(sw_finder *f, const sw_op *op, sw_fuse_value *v) {
  v->id = op->results[0];
  if (v->kind == SW_FUSE_SCORE && v->scores < 0) v->scores = v->id;
  const sw_value *value = &f->r->g->values[v->id];
  if (f->s->value[v->id] || f->rc) return false;
  f->rc = sw_array_push(&f->r->values, *v, f->d);
  if (f->rc) return false;
  f->s->value[v->id] = (int32_t)f->r->values.n;
  for (int i = 0; i < value->n_uses; i++) {
    if (value->uses[i].op < 0) return false;
    queue(f, value->uses[i].op);
  }
  return !f->rc && (!f->s->kept[v->id] || f->s->said[v->id] > 0);
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

/* Ops found late put those that read them back to the queue: each op may come so often. */
enum { MOST_TURNS = 4000 };

static bool follow(sw_finder *f) {
  const sw_id frame = f->r->g->ops[f->r->scores].frame;
  for (int turns = 0; f->r->todo.n && !f->rc; turns++) {
    const sw_id id = next_op(f);
    const sw_op *op = &f->r->g->ops[id];
    if (turns > MOST_TURNS || f->s->taken[id] || op->frame != frame) return false;
    const sw_fuse_verdict verdict = sw_fuse_rule(f, op);
    if (verdict == SW_FUSE_NO) return false;
    if (verdict == SW_FUSE_LATER)
      queue(f, id);
    else if (!f->rc)
      f->rc = sw_array_push(&f->r->removed, id, f->d);
  }
  return !f->rc;
}

static sw_dtype dtype_of(const sw_fuse_region *r, sw_id v) { return r->g->values[v].type.dtype; }

/* Is the value there before the op? */
static bool precedes(const sw_fuse_region *r, const sw_fuse_operand *x, sw_id op) {
  return x->id < 0 || r->g->values[x->id].def < op;
}

sw_id sw_fuse_first_gradient(const sw_fuse_region *r) {
  sw_id first = -1;
  for (int e = SW_FUSE_DQ; e < SW_FUSE_EXITS; e++) {
    if (r->exit[e].op >= 0 && (first < 0 || r->exit[e].op < first)) first = r->exit[e].op;
  }
  return first;
}

/* One type of floats for q, k, v and the gradient of the output, if need be without their conversions to more bits. */
static bool one_type(sw_fuse_region *r) {
  sw_fuse_operand *const all[] = {&r->q, &r->k, &r->v, &r->d_o};
  bool same = false;
  for (int strip = 0; strip < 2 && !same; strip++) {
    same = true;
    for (int i = 0; i < 4 && all[i]->id >= 0; i++) {
      if (strip) all[i]->id = sw_fuse_unwidened(r->g, all[i]->id);
      same = same && dtype_of(r, all[i]->id) == dtype_of(r, r->q.id);
    }
  }
  return same && sw_dtype_class_of(dtype_of(r, r->q.id)) == SW_CLASS_FLOAT;
}

/* Heads and groups are joined, if anything is; those of k and v are no others. */
static bool has_heads(const sw_fuse_region *r) {
  const bool heads = r->kv_head >= 0 && r->joined[0] == r->kv_head && r->joined[1] == r->group;
  const sw_fuse_operand *const all[] = {&r->v, &r->k, &r->q, &r->d_o, &r->keep, &r->bias, &r->mask};
  for (int i = 0; i < 7; i++) {
    for (int k = 0; all[i]->id >= 0 && k < all[i]->dims.rank; k++) {
      const int dim = all[i]->dims.at[k].dim;
      if (i < 2 ? dim == SW_FUSE_JOINED || (dim >= 0 && dim == r->group) : dim == SW_FUSE_JOINED && !heads)
        return false;
    }
  }
  for (int e = 0; e < SW_FUSE_EXITS; e++) {
    for (int k = 0; r->exit[e].op >= 0 && k < r->exit[e].dims.rank; k++) {
      if (r->exit[e].dims.at[k].dim == SW_FUSE_JOINED && !heads) return false;
    }
  }
  return true;
}

/* An op for all that leaves, and everything there in time? Gradients may leave as other floats, converted. */
static bool is_whole(sw_fuse_region *r) {
  const sw_id out = r->exit[SW_FUSE_O].op, gradient = sw_fuse_first_gradient(r), first = out < 0 ? gradient : out;
  if (first < 0 || r->final < 0 || r->v.id < 0 || r->is_capped != (r->softcap > 0)) return false;
  if (!has_heads(r) || (r->keep.id >= 0 && !(r->kept_by > 1))) return false;
  if ((r->seen_of >= 0 && r->seen_of != r->final) || (r->seen_dim >= 0 && r->seen_dim != r->key)) return false;
  if (gradient >= 0 && (r->d_o.id < 0 || gradient < out)) return false;
  bool fits = one_type(r) && (gradient < 0 || precedes(r, &r->d_o, gradient));
  for (int e = 0; e < SW_FUSE_EXITS && fits; e++) {
    if (r->exit[e].op < 0) continue;
    const sw_dtype t = dtype_of(r, r->g->ops[r->exit[e].op].results[0]);
    fits = e == SW_FUSE_O ? t == dtype_of(r, r->q.id) : sw_dtype_class_of(t) == SW_CLASS_FLOAT;
  }
  const sw_fuse_operand *const needed[] = {&r->q, &r->k, &r->v, &r->keep, &r->bias, &r->mask};
  for (int i = 0; i < 6; i++) fits = fits && precedes(r, needed[i], first);
  return fits;
}

static void forget(sw_fuse_space *s, sw_fuse_region *r) {
  for (size_t i = 0; i < r->values.n; i++) s->value[r->values.at[i].id] = 0;
  for (size_t i = 0; i < r->todo.n; i++) s->queued[r->todo.at[i]] = false;
  r->todo.n = 0;
}

sw_rc sw_fuse_find(const sw_graph *g, sw_id id, sw_fuse_space *s, sw_fuse_region *r, bool *found, sw_diag *d) {
  const sw_op *op = &g->ops[id];
  const sw_type *t = sw_result_type(g, op, 0);
  sw_fuse_dot dot;
  sw_finder f = {r, s, d, SW_OK};
  sw_fuse_value scores = {.kind = SW_FUSE_SCORE, .scores = -1, .dims = {.rank = t->rank}};
  static const sw_fuse_operand kNone = {.id = -1};
  *r = (sw_fuse_region){.g = g,
                        .scores = id,
                        .n_dims = t->rank,
                        .scale = 1,
                        .shared = 1,
                        .final = -1,
                        .seen_of = -1,
                        .seen_dim = -1,
                        .joined = {-1, -1},
                        .kv_head = -1,
                        .group = -1,
                        .lengths = -1,
                        .start = -1,
                        .query = -1};
  r->q = r->k = r->v = r->d_o = r->keep = r->bias = r->mask = kNone;
  for (int e = 0; e < SW_FUSE_EXITS; e++) r->exit[e].op = -1;
  sw_fuse_dot_of(op, &dot);
  r->n_batch = dot.n_batch;
  *found = false;
  if (dot.n_contract != 1 || sw_type_elements(t) <= 0 || s->taken[id]) return SW_OK;
  for (int i = 0; i < t->rank; i++) {
    scores.dims.at[i] = (sw_fuse_dim){i, 1};
    r->size[i] = t->dims[i];
  }
  *found = sw_finder_take(&f, op, &scores);
  if (*found) f.rc = sw_array_push(&r->removed, id, d);
  *found = *found && follow(&f) && is_whole(r);
  if (*found) f.rc = sw_fuse_members(r, s, d);
  *found = *found && (r->keep.id < 0 || sw_fuse_fits_scores(r, &r->keep)) && sw_fuse_say(r, s);
  if (*found) sw_fuse_see(r);
  forget(s, r);
  return f.rc;
}
