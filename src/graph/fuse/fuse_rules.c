/* Ops on what is inside an attention that give something inside again. */
#include <math.h>
#include <string.h>

#include "graph/fuse/finder.h"
#include "graph/fuse/terms.h"

static sw_fuse_verdict take_op(sw_finder *f, const sw_op *op, sw_fuse_value *v) {
  return sw_finder_take(f, op, v) ? SW_FUSE_YES : SW_FUSE_NO;
}

static bool is_constant_number(const sw_finder *f, sw_id v, double *out) { return sw_fuse_is_number(f->r->g, v, out); }

/* --- one operand -------------------------------------------------------------------------------------------------- */

static sw_fuse_verdict moved(sw_finder *f, const sw_op *op, const sw_fuse_value *x) {
  sw_fuse_value v = *x;
  if (op->code == SW_OP_RESHAPE) sw_fuse_join(f->r, x->id, op->results[0], &x->dims);
  if (!sw_fuse_dims_after(f->r, op, &x->dims, &v.dims)) return SW_FUSE_NO;
  return take_op(f, op, &v);
}

static sw_fuse_verdict converted(sw_finder *f, const sw_op *op, const sw_fuse_value *x) {
  const bool floats = sw_dtype_class_of(sw_finder_type(f, op->results[0])->dtype) == SW_CLASS_FLOAT;
  return floats && x->kind <= SW_FUSE_SUM ? moved(f, op, x) : SW_FUSE_NO;
}

static sw_fuse_verdict exponential(sw_finder *f, const sw_op *op, const sw_fuse_value *x) {
  sw_fuse_value v = {.kind = SW_FUSE_SUM, .dims = x->dims, .n = 1, .term = {{.factor = 1, .p = 1, .l = 1}}};
  return x->kind == SW_FUSE_SHIFTED ? take_op(f, op, &v) : SW_FUSE_NO;
}

/* What is inside so far is scores over the cap; what follows from the tanh is scores again when the cap is multiplied
 * by. */
static sw_fuse_verdict capped(sw_finder *f, const sw_op *op, const sw_fuse_value *x) {
  sw_fuse_region *r = f->r;
  sw_fuse_value v = {.kind = SW_FUSE_SUM, .dims = x->dims, .n = 1, .term = {{.factor = 1, .t = 1}}};
  const bool first = r->bias.id < 0 && r->mask.id < 0 && r->final < 0 && !r->is_capped;
  if (x->kind != SW_FUSE_SCORE || !first) return SW_FUSE_NO;
  r->is_capped = true;
  return take_op(f, op, &v);
}

static sw_fuse_verdict negated(sw_finder *f, const sw_op *op, const sw_fuse_value *x) {
  sw_fuse_value v = {.kind = SW_FUSE_SUM, .dims = x->dims};
  return x->kind == SW_FUSE_SUM && sw_fuse_add(&v, x, -1) ? take_op(f, op, &v) : SW_FUSE_NO;
}

static sw_fuse_verdict inverted(sw_finder *f, const sw_op *op, const sw_fuse_value *x) {
  sw_fuse_value v = *x;
  if (x->kind != SW_FUSE_HIDDEN && x->kind != SW_FUSE_SEEN) return SW_FUSE_NO;
  v.kind = x->kind == SW_FUSE_SEEN ? SW_FUSE_HIDDEN : SW_FUSE_SEEN;
  return take_op(f, op, &v);
}

/* Only of dims of one element, of which none is the keys': nothing is reduced. */
static bool reduces_nothing(const sw_finder *f, const sw_op *op, const sw_fuse_dims *of) {
  int n;
  const int64_t *dims = sw_op_ints(op, SW_ATTR_DIMS, &n);
  for (int i = 0; i < n; i++) {
    if (sw_finder_type(f, op->operands[0])->dims[dims[i]] != 1) return false;
    if (f->r->final < 0 ? of->at[dims[i]].dim >= 0 : of->at[dims[i]].dim == f->r->key) return false;
  }
  return true;
}

/* The one dim that is reduced; -1: several, or parts of one. */
static int reduced_dim(const sw_finder *f, const sw_op *op, const sw_fuse_dims *of) {
  int n, found = -1;
  const int64_t *dims = sw_op_ints(op, SW_ATTR_DIMS, &n);
  for (int i = 0; i < n; i++) {
    if (sw_finder_type(f, op->operands[0])->dims[dims[i]] == 1 && n > 1) continue;
    if (found >= 0 || of->at[dims[i]].dim < 0 || of->at[dims[i]].stride != 1) return -1;
    found = of->at[dims[i]].dim;
  }
  return found;
}

static sw_fuse_verdict reduced_value(sw_finder *f, const sw_op *op, const sw_fuse_value *x) {
  sw_fuse_region *r = f->r;
  sw_fuse_value v = {.kind = x->kind};
  const char *kind = sw_op_text(op, SW_ATTR_KIND, "");
  if (reduces_nothing(f, op, &x->dims)) return strcmp(kind, "prod") == 0 ? SW_FUSE_NO : moved(f, op, x);
  const int dim = reduced_dim(f, op, &x->dims);
  if (dim < 0 || !sw_fuse_dims_after(r, op, &x->dims, &v.dims)) return SW_FUSE_NO;
  if (x->kind == SW_FUSE_SCORE && strcmp(kind, "max") == 0) {
    if (r->final >= 0 || !sw_fuse_finds_keys(f, dim)) return SW_FUSE_NO;
    r->final = x->scores;
    v.kind = SW_FUSE_LARGEST;
    return take_op(f, op, &v);
  }
  if (x->kind == SW_FUSE_SUM)
    return r->final >= 0 && dim == r->key && strcmp(kind, "sum") == 0 && sw_fuse_sum(&v, x, r->keep.id >= 0)
               ? take_op(f, op, &v)
               : SW_FUSE_NO;
  if (r->seen_dim >= 0 && r->seen_dim != dim) return SW_FUSE_NO;
  r->seen_dim = dim;
  const bool any = x->kind == SW_FUSE_SEEN && (strcmp(kind, "or") == 0 || strcmp(kind, "max") == 0);
  const bool all = x->kind == SW_FUSE_HIDDEN && (strcmp(kind, "and") == 0 || strcmp(kind, "min") == 0);
  return any || all ? take_op(f, op, &v) : SW_FUSE_NO;
}

/* --- two operands ------------------------------------------------------------------------------------------------- */

static sw_fuse_verdict both_inside(sw_finder *f, const sw_op *op, const sw_fuse_value *x, const sw_fuse_value *y) {
  sw_fuse_value v = {.kind = SW_FUSE_SUM, .dims = x->dims};
  bool done = false;
  if (!sw_fuse_dims_equal(f->r->g, x->id, &x->dims, y->id, &y->dims)) return SW_FUSE_NO;
  if (op->code == SW_OP_SUBTRACT && x->kind == SW_FUSE_SCORE && y->kind == SW_FUSE_LARGEST) {
    v.kind = SW_FUSE_SHIFTED;
    return x->scores == f->r->final ? take_op(f, op, &v) : SW_FUSE_NO;
  }
  if (x->kind != SW_FUSE_SUM || y->kind != SW_FUSE_SUM) return SW_FUSE_NO;
  if (op->code == SW_OP_ADD) done = sw_fuse_add(&v, x, 1) && sw_fuse_add(&v, y, 1);
  if (op->code == SW_OP_SUBTRACT) done = sw_fuse_add(&v, x, 1) && sw_fuse_add(&v, y, -1);
  if (op->code == SW_OP_MULTIPLY) done = sw_fuse_multiply(&v, x, y, 1);
  if (op->code == SW_OP_DIVIDE) done = sw_fuse_multiply(&v, x, y, -1);
  return done ? take_op(f, op, &v) : SW_FUSE_NO;
}

/* --- dropout ------------------------------------------------------------------------------------------------------ */

/* x where `keep` is true (or false), times a number, and 0 elsewhere. */
static sw_fuse_verdict kept(sw_finder *f, const sw_op *op, const sw_fuse_value *x, sw_fuse_operand keep, bool drops,
                            double by) {
  sw_fuse_region *r = f->r;
  sw_fuse_value v = {.kind = SW_FUSE_SUM, .dims = x->dims};
  const sw_fuse_value d = {.kind = SW_FUSE_SUM, .n = 1, .term = {{.factor = by, .d = 1}}};
  if (r->final < 0 || x->kind != SW_FUSE_SUM) return SW_FUSE_NO;
  sw_fuse_unspread(r, &keep);
  if (r->keep.id < 0) {
    r->keep = keep;
    r->keep_drops = drops;
  }
  const bool same = r->keep.id == keep.id && r->keep_drops == drops &&
                    sw_fuse_dims_equal(r->g, keep.id, &keep.dims, r->keep.id, &r->keep.dims);
  return same && sw_fuse_multiply(&v, x, &d, 1) ? take_op(f, op, &v) : SW_FUSE_NO;
}

bool sw_fuse_is_kept(const sw_finder *f, sw_fuse_operand *x, double *by) {
  enum { MOST_HOPS = 12 };
  *by = 1;
  for (int hops = 0; hops < MOST_HOPS; hops++) {
    sw_fuse_dims before;
    double c;
    sw_fuse_unspread(f->r, x);
    const sw_op *op = sw_value_maker(f->r->g, x->id);
    const int scaled = op ? sw_fuse_scaled(f->r->g, op, &c) : -1;
    if (scaled >= 0) {
      *by *= c;
      x->id = op->operands[scaled];
      continue;
    }
    if (!op || (op->code != SW_OP_CONVERT && op->code != SW_OP_RESHAPE)) return false;
    if (!sw_fuse_dims_before(f->r, op, &x->dims, &before)) return false;
    *x = (sw_fuse_operand){op->operands[0], before};
    if (sw_finder_type(f, x->id)->dtype == SW_BOOL) return true;
  }
  return false;
}

/* x is operand `i`, the other one a number. */
static sw_fuse_verdict with_number(sw_finder *f, const sw_op *op, int i, const sw_fuse_value *x, double c) {
  sw_fuse_value v = *x;
  const bool scales = c != 0 && isfinite(c) && (op->code == SW_OP_MULTIPLY || (op->code == SW_OP_DIVIDE && i == 0));
  if (scales && x->kind == SW_FUSE_SCORE && f->r->bias.id < 0 && f->r->mask.id < 0 && f->r->final < 0 &&
      !f->r->is_capped) {
    f->r->scale *= op->code == SW_OP_MULTIPLY ? c : 1 / c;
    v.scores = -1;
    return take_op(f, op, &v);
  }
  if (op->code == SW_OP_MULTIPLY && c > 0 && isfinite(c) && sw_fuse_is_tanh(x) && f->r->softcap <= 0) {
    f->r->softcap = c;
    f->r->scale *= c;
    v = (sw_fuse_value){.kind = SW_FUSE_SCORE, .scores = -1, .dims = x->dims};
    return take_op(f, op, &v);
  }
  if ((op->code == SW_OP_ADD || op->code == SW_OP_SUBTRACT) && x->kind == SW_FUSE_SUM && c != 0 && isfinite(c)) {
    const sw_fuse_value number = {.kind = SW_FUSE_SUM, .n = 1, .term = {{.factor = c}}};
    const bool minus = op->code == SW_OP_SUBTRACT; /* x - c, c - x */
    v.n = 0;
    const bool done =
        sw_fuse_add(&v, x, minus && i == 1 ? -1 : 1) && sw_fuse_add(&v, &number, minus && i == 0 ? -1 : 1);
    return done ? take_op(f, op, &v) : SW_FUSE_NO;
  }
  if (op->code == SW_OP_DIVIDE && i == 1 && x->kind == SW_FUSE_SUM && c != 0 && isfinite(c)) {
    const sw_fuse_value number = {.kind = SW_FUSE_SUM, .n = 1, .term = {{.factor = c}}};
    v.n = 0;
    return sw_fuse_multiply(&v, &number, x, -1) ? take_op(f, op, &v) : SW_FUSE_NO;
  }
  if (scales && x->kind == SW_FUSE_SUM) {
    for (int k = 0; k < v.n; k++) v.term[k].factor *= op->code == SW_OP_MULTIPLY ? c : 1 / c;
    return take_op(f, op, &v);
  }
  if (op->code == SW_OP_MAXIMUM && x->kind == SW_FUSE_LARGEST && c < SW_FUSE_HIDDEN_BELOW) return take_op(f, op, &v);
  return SW_FUSE_NO;
}

static sw_fuse_verdict binary(sw_finder *f, const sw_op *op) {
  const sw_fuse_value *x = sw_finder_inside(f, op->operands[0]), *y = sw_finder_inside(f, op->operands[1]);
  if (x && y) return both_inside(f, op, x, y);
  const int i = x ? 0 : 1;
  const sw_id other = op->operands[1 - i];
  double c;
  if (!x) x = y;
  if (is_constant_number(f, other, &c)) return with_number(f, op, i, x, c);
  if (x->kind == SW_FUSE_SUM) {
    const sw_fuse_dims dims = x->dims; /* x moves as more is inside */
    sw_fuse_operand keep = {other, dims};
    if (op->code == SW_OP_MULTIPLY && sw_fuse_is_kept(f, &keep, &c)) return kept(f, op, x, keep, false, c);
    return sw_fuse_finds_gradient(f, other, &dims) ? SW_FUSE_LATER : SW_FUSE_NO;
  }
  if (op->code != SW_OP_ADD || x->kind != SW_FUSE_SCORE || f->r->bias.id >= 0 || f->r->final >= 0) return SW_FUSE_NO;
  f->r->bias = (sw_fuse_operand){other, x->dims};
  sw_fuse_value v = *x;
  v.scores = -1;
  return take_op(f, op, &v);
}

static sw_fuse_verdict compared(sw_finder *f, const sw_op *op) {
  double c;
  const sw_fuse_value *x = sw_finder_inside(f, op->operands[0]);
  const char *how = sw_op_text(op, SW_ATTR_DIRECTION, "");
  if (!x || x->kind != SW_FUSE_SCORE || !is_constant_number(f, op->operands[1], &c) || !(c < 0) || !isinf(c))
    return SW_FUSE_NO;
  if (f->r->seen_of >= 0 && f->r->seen_of != x->scores) return SW_FUSE_NO;
  f->r->seen_of = x->scores;
  sw_fuse_value v = {.kind = strcmp(how, "eq") == 0 ? SW_FUSE_HIDDEN : SW_FUSE_SEEN, .dims = x->dims};
  return strcmp(how, "eq") == 0 || strcmp(how, "ne") == 0 || strcmp(how, "gt") == 0 ? take_op(f, op, &v) : SW_FUSE_NO;
}

/* A pair that is not seen has no part in the softmax, nor in what is multiplied by it. */
static bool vanishes(const sw_fuse_value *x) {
  for (int i = 0; i < x->n; i++) {
    if (x->term[i].p < 1) return false;
  }
  return x->kind == SW_FUSE_SUM;
}

static sw_fuse_verdict selected(sw_finder *f, const sw_op *op) {
  const sw_fuse_value *by = sw_finder_inside(f, op->operands[0]), *x = sw_finder_inside(f, op->operands[1]);
  const bool hides = !x;
  double c;
  if (!x) x = sw_finder_inside(f, op->operands[2]);
  if (!x || !is_constant_number(f, op->operands[hides ? 1 : 2], &c)) return SW_FUSE_NO;
  sw_fuse_value v = *x;
  if (by) {
    const bool right = by->kind == (hides ? SW_FUSE_HIDDEN : SW_FUSE_SEEN);
    return right && c == 0 && vanishes(x) ? take_op(f, op, &v) : SW_FUSE_NO;
  }
  sw_fuse_operand *mask = &f->r->mask;
  const bool same = mask->id == op->operands[0] && f->r->mask_hides == hides;
  if (x->kind == SW_FUSE_SUM && c != 0) return SW_FUSE_NO;
  if (x->kind == SW_FUSE_SUM && same && vanishes(x)) return take_op(f, op, &v);
  if (x->kind == SW_FUSE_SUM) return kept(f, op, x, (sw_fuse_operand){op->operands[0], x->dims}, hides, 1);
  if (x->kind != SW_FUSE_SCORE || c > SW_FUSE_HIDDEN_BELOW || mask->id >= 0 || f->r->final >= 0) return SW_FUSE_NO;
  if (sw_finder_type(f, op->operands[0])->rank != x->dims.rank) return SW_FUSE_NO;
  *mask = (sw_fuse_operand){op->operands[0], x->dims};
  f->r->mask_hides = hides;
  v.scores = -1;
  return take_op(f, op, &v);
}

sw_fuse_verdict sw_fuse_rule(sw_finder *f, const sw_op *op) {
  const sw_fuse_value *x = op->n_operands ? sw_finder_inside(f, op->operands[0]) : NULL;
  switch ((int)op->code) {
    case SW_OP_DOT:
      return sw_fuse_dot_rule(f, op);
    case SW_OP_ADD:
    case SW_OP_SUBTRACT:
    case SW_OP_MULTIPLY:
    case SW_OP_DIVIDE:
    case SW_OP_MAXIMUM:
      return binary(f, op);
    case SW_OP_SELECT:
      return selected(f, op);
    case SW_OP_COMPARE:
      return compared(f, op);
    default:
      break;
  }
  if (!x || op->n_operands != 1 || op->n_results != 1) return SW_FUSE_NO;
  switch ((int)op->code) {
    case SW_OP_BROADCAST:
    case SW_OP_TRANSPOSE:
    case SW_OP_RESHAPE:
      return moved(f, op, x);
    case SW_OP_CONVERT:
      return converted(f, op, x);
    case SW_OP_EXP:
      return exponential(f, op, x);
    case SW_OP_TANH:
      return capped(f, op, x);
    case SW_OP_NEGATE:
      return negated(f, op, x);
    case SW_OP_NOT:
      return inverted(f, op, x);
    case SW_OP_REDUCE:
      return reduced_value(f, op, x);
    default:
      return SW_FUSE_NO;
  }
}
