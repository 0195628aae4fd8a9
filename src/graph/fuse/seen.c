/* Which pairs are seen, as a mask says it: the parts that all have to be true are compared with what the op knows,
 *
 *   key <= query + a (+ start)    key >= query + b (+ start)    key < lengths[batch]
 *
 * and what is left of the mask is a mask. Positions are iotas and constants that count, and numbers added.
 */
#include <math.h>
#include <string.h>

#include "collective/scalar.h"
#include "graph/fuse/region.h"

enum { MOST_DEPTH = 24 };

typedef struct seen {
  const sw_fuse_region *r;
  bool right, left; /* last and first say something */
  double last, first;
  bool starts; /* queries stand from `start` on */
  sw_id lengths, start;
  int n_rest;
  sw_fuse_operand rest;
  bool rest_hides;
} seen;

/* A sum of positions: how often each is in it. */
typedef struct sum_of {
  double key, query, number, length, starts;
  sw_id lengths, start;
} sum_of;

/* Does the op that does the attention have the value at hand? Loops have what enters them. */
static bool is_at_hand(const seen *s, sw_id v) {
  const sw_graph *g = s->r->g;
  const sw_id def = g->values[v].def, frame = def < 0 ? -1 : g->ops[def].frame;
  return frame == g->ops[s->r->scores].frame;
}
static const sw_type *type_of(const seen *s, sw_id v) { return &s->r->g->values[v].type; }

/* --- positions ---------------------------------------------------------------------------------------------------- */

/* 1-dim integers a, a + 1, ..: *first is a. */
static bool counts(const seen *s, const sw_op *op, double *first) {
  const sw_type *t = sw_result_type(s->r->g, op, 0);
  if (op->code != SW_OP_CONSTANT || t->rank != 1 || sw_dtype_class_of(t->dtype) == SW_CLASS_COMPLEX) return false;
  const sw_data *data = &sw_op_attr(op, SW_ATTR_VALUE)->u.data;
  if (data->splat) return false;
  for (int64_t i = 0; i < t->dims[0]; i++) {
    const unsigned char *at = (const unsigned char *)data->bytes + i * sw_dtype_bytes(t->dtype);
    const double v = sw_scalar_convert(t->dtype, SW_F64, sw_scalar_load(t->dtype, at)).re;
    if (i == 0) *first = v;
    if (v != *first + (double)i) return false;
  }
  return t->dims[0] > 0;
}

static bool add_position(const seen *s, const sw_fuse_operand *x, int k, double by, sum_of *out) {
  const sw_fuse_dim at = x->dims.at[k];
  const int64_t n = type_of(s, x->id)->dims[k];
  if (n == 1) return true;
  if (at.dim < 0 || at.dim >= s->r->n_dims || n != s->r->size[at.dim]) return false;
  if (at.dim == s->r->key) out->key += by;
  if (at.dim == s->r->query) out->query += by;
  return at.dim == s->r->key || at.dim == s->r->query;
}

/* A value that the program computes: one number for all, or one for each batch. */
static bool add_given(const seen *s, const sw_fuse_operand *x, double by, sum_of *out) {
  const sw_type *t = type_of(s, x->id);
  const sw_fuse_region *r = s->r;
  const bool joined = r->kv_head == 0; /* batches and heads are one dim */
  const int64_t stride = joined ? r->heads : 1;
  const int batches = r->n_batch - (r->kv_head > 0);
  if (sw_dtype_class_of(t->dtype) != SW_CLASS_SIGNED && sw_dtype_class_of(t->dtype) != SW_CLASS_UNSIGNED) return false;
  if (!is_at_hand(s, x->id)) return false;
  if (t->rank == 0 && (out->start < 0 || out->start == x->id)) {
    out->start = x->id;
    out->starts += by;
    return true;
  }
  if (t->rank != 1 || batches != 1 || x->dims.at[0].dim != 0 || x->dims.at[0].stride != stride) return false;
  if (t->dims[0] * stride != r->size[0]) return false;
  if (out->lengths >= 0 && out->lengths != x->id) return false;
  out->lengths = x->id;
  out->length += by;
  return true;
}

static bool add_sum(const seen *s, sw_fuse_operand x, double by, int depth, sum_of *out) {
  double number;
  if (depth > MOST_DEPTH) return false;
  sw_fuse_unspread(s->r, &x);
  const sw_id outside = sw_behind_enters(s->r->g, x.id);
  if (outside != x.id) {
    if (add_given(s, &x, by, out)) return true;
    x.id = outside;
    sw_fuse_unspread(s->r, &x);
  }
  const sw_op *op = sw_value_maker(s->r->g, x.id);
  if (sw_fuse_is_number(s->r->g, x.id, &number)) {
    out->number += by * number;
    return true;
  }
  switch (op ? (int)op->code : -1) {
    case SW_OP_IOTA:
      return add_position(s, &x, (int)sw_op_int(op, SW_ATTR_DIM, 0), by, out);
    case SW_OP_CONSTANT:
      if (!counts(s, op, &number)) return false;
      out->number += by * number;
      return add_position(s, &x, 0, by, out);
    case SW_OP_ADD:
    case SW_OP_SUBTRACT:
      return add_sum(s, (sw_fuse_operand){op->operands[0], x.dims}, by, depth + 1, out) &&
             add_sum(s, (sw_fuse_operand){op->operands[1], x.dims}, op->code == SW_OP_ADD ? by : -by, depth + 1, out);
    case SW_OP_CONVERT:
      return add_sum(s, (sw_fuse_operand){op->operands[0], x.dims}, by, depth + 1, out);
    case SW_OP_RESHAPE: {
      sw_fuse_operand before = {.id = op->operands[0]};
      if (!sw_fuse_reshaped(s->r, x.id, before.id, &x.dims, &before.dims)) return false;
      return add_sum(s, before, by, depth + 1, out);
    }
    default:
      return add_given(s, &x, by, out);
  }
}

/* --- parts of a mask ---------------------------------------------------------------------------------------------- */

/* sum <= 0. */
static bool add_bound(seen *s, const sum_of *e) {
  const bool one_query = s->r->query < 0 || s->r->size[s->r->query] == 1;
  if (fabs(e->key) != 1 || fabs(e->number) > 1e15 || e->number != floor(e->number)) return false;
  if (e->length != 0) {
    const bool fits = e->key == 1 && e->query == 0 && e->starts == 0 && e->length == -1 && e->number == 1;
    if (!fits || (s->lengths >= 0 && s->lengths != e->lengths)) return false;
    s->lengths = e->lengths;
    return true;
  }
  if (e->query != -e->key && !(one_query && e->query == 0)) return false;
  const bool starts = e->starts != 0, bounds = s->right || s->left;
  if (starts && e->starts != -e->key) return false;
  if (bounds && (starts != s->starts || (starts && s->start != e->start))) return false;
  double last = s->last, first = s->first;
  if (e->key > 0) last = s->right ? fmin(last, -e->number) : -e->number;
  if (e->key < 0) first = s->left ? fmax(first, e->number) : e->number;
  const bool right = s->right || e->key > 0, left = s->left || e->key < 0;
  if (right && left && first > last) return false; /* nothing is seen: no window */
  s->starts = starts;
  s->start = starts ? e->start : -1;
  s->right = right;
  s->left = left;
  s->last = last;
  s->first = first;
  return true;
}

/* A comparison of positions, or its opposite. */
static bool add_compare(seen *s, const sw_op *op, const sw_fuse_dims *dims, bool opposite) {
  const char *how = sw_op_text(op, SW_ATTR_DIRECTION, "");
  if ((how[0] != 'l' && how[0] != 'g') || sw_dtype_class_of(type_of(s, op->operands[0])->dtype) == SW_CLASS_FLOAT)
    return false;
  sum_of e = {.lengths = -1, .start = -1};
  const bool less = (how[0] == 'l') != opposite, strict = (how[1] == 't') != opposite;
  const double by = less ? 1 : -1;
  if (!add_sum(s, (sw_fuse_operand){op->operands[0], *dims}, by, 0, &e)) return false;
  if (!add_sum(s, (sw_fuse_operand){op->operands[1], *dims}, -by, 0, &e)) return false;
  e.number += strict ? 1 : 0;
  return add_bound(s, &e);
}

static bool is_bool(const seen *s, sw_id v) { return sw_dtype_class_of(type_of(s, v)->dtype) == SW_CLASS_BOOL; }

/* Is it a bool as a number, compared with 0? */
static bool is_same_bool(const seen *s, const sw_op *op, sw_fuse_operand *x, bool *opposite) {
  const char *how = sw_op_text(op, SW_ATTR_DIRECTION, "");
  double zero;
  if (!sw_fuse_is_number(s->r->g, op->operands[1], &zero) || zero != 0) return false;
  if (strcmp(how, "ne") != 0 && strcmp(how, "eq") != 0 && strcmp(how, "gt") != 0) return false;
  sw_fuse_operand of = {op->operands[0], x->dims};
  sw_fuse_unspread(s->r, &of);
  const sw_op *by = sw_value_maker(s->r->g, of.id);
  if (!by || by->code != SW_OP_CONVERT || !is_bool(s, by->operands[0])) return false;
  *x = (sw_fuse_operand){by->operands[0], of.dims};
  *opposite = *opposite != (how[0] == 'e');
  return true;
}

static void add_mask(seen *s, sw_fuse_operand x, bool opposite, int depth);

/* Both have to be true. */
static bool add_both(seen *s, const sw_op *op, const sw_fuse_dims *dims, bool opposite, int depth) {
  double c;
  const bool selects = op->code == SW_OP_SELECT;
  if (op->code == SW_OP_AND ? opposite : op->code == SW_OP_OR ? !opposite : !selects) return false;
  /* where(c, x, false), or not where(c, true, x) */
  if (selects && (!sw_fuse_is_number(s->r->g, op->operands[opposite ? 1 : 2], &c) || (c != 0) != opposite))
    return false;
  add_mask(s, (sw_fuse_operand){op->operands[0], *dims}, opposite, depth + 1);
  add_mask(s, (sw_fuse_operand){op->operands[selects && opposite ? 2 : 1], *dims}, opposite, depth + 1);
  return true;
}

static void add_mask(seen *s, sw_fuse_operand x, bool opposite, int depth) {
  double c;
  sw_fuse_unspread(s->r, &x);
  const sw_fuse_operand outside = {sw_behind_enters(s->r->g, x.id), x.dims};
  if (outside.id != x.id) {
    seen with = *s;
    add_mask(&with, outside, opposite, depth + 1);
    if (with.n_rest == s->n_rest) {
      *s = with;
      return;
    }
  }
  const bool at_hand = is_at_hand(s, x.id);
  const sw_op *op = depth > MOST_DEPTH ? NULL : sw_value_maker(s->r->g, x.id);
  if (op && op->code == SW_OP_ENTER) op = NULL;
  if (sw_fuse_is_number(s->r->g, x.id, &c) && (c != 0) != opposite) return;
  if (op && op->code == SW_OP_NOT) {
    add_mask(s, (sw_fuse_operand){op->operands[0], x.dims}, !opposite, depth + 1);
    return;
  }
  if (op && is_bool(s, x.id) && add_both(s, op, &x.dims, opposite, depth)) return;
  if (op && op->code == SW_OP_COMPARE) {
    sw_fuse_operand of = x;
    bool turned = opposite;
    if (is_same_bool(s, op, &of, &turned)) {
      add_mask(s, of, turned, depth + 1);
      return;
    }
    if (add_compare(s, op, &x.dims, opposite)) return;
  }
  if (op && op->code == SW_OP_RESHAPE) {
    sw_fuse_operand before = {.id = op->operands[0]};
    if (sw_fuse_reshaped(s->r, x.id, before.id, &x.dims, &before.dims)) {
      add_mask(s, before, opposite, depth + 1);
      return;
    }
  }
  s->n_rest += at_hand ? 1 : 2; /* what is not is no mask alone */
  s->rest = x;
  s->rest_hides = opposite;
}

/* --- the region --------------------------------------------------------------------------------------------------- */

/* A bias that is 0 where a pair is seen and less than any score elsewhere: *x is that mask then. */
static bool is_mask(const sw_fuse_region *r, sw_fuse_operand *x, bool *hides) {
  double zero, low;
  for (int hops = 0; hops < MOST_DEPTH; hops++) {
    sw_fuse_unspread(r, x);
    x->id = sw_behind_enters(r->g, x->id);
    sw_fuse_unspread(r, x);
    const sw_op *op = sw_value_maker(r->g, x->id);
    if (op && op->code == SW_OP_CONVERT) {
      x->id = op->operands[0];
      continue;
    }
    if (!op || op->code != SW_OP_SELECT) return false;
    if (!sw_fuse_is_number(r->g, op->operands[1], &zero) || !sw_fuse_is_number(r->g, op->operands[2], &low))
      return false;
    *hides = zero != 0;
    if ((*hides ? low : zero) != 0 || (*hides ? zero : low) > SW_FUSE_HIDDEN_BELOW) return false;
    x->id = op->operands[0];
    return true;
  }
  return false;
}

static void take_bounds(sw_fuse_region *r, const seen *s) {
  r->causal = s->right;
  r->base = (int64_t)(s->right ? s->last : s->left ? fmax(s->first, 0) : 0);
  r->window[0] = s->left ? r->base - (int64_t)s->first : -1;
  r->window[1] = -1;
  r->lengths = s->lengths;
  r->start = s->start;
}

void sw_fuse_see(sw_fuse_region *r) {
  seen s = {.r = r, .lengths = -1, .start = -1};
  sw_fuse_operand by = r->bias;
  bool hides;
  if (r->mask.id >= 0) {
    add_mask(&s, r->mask, r->mask_hides, 0);
    if (s.n_rest == 1 && sw_fuse_fits_scores(r, &s.rest)) {
      r->mask = s.rest;
      r->mask_hides = s.rest_hides;
    }
    if (s.n_rest == 0) r->mask.id = -1;
  }
  if (by.id >= 0 && is_mask(r, &by, &hides)) {
    seen with = s;
    with.n_rest = 0;
    add_mask(&with, by, hides, 0);
    const bool as_mask = with.n_rest == 1 && r->mask.id < 0 && sw_fuse_fits_scores(r, &with.rest);
    if (as_mask) {
      r->mask = with.rest;
      r->mask_hides = with.rest_hides;
    }
    if (with.n_rest == 0 || as_mask) {
      r->bias.id = -1;
      s = with;
    }
  }
  take_bounds(r, &s);
}
