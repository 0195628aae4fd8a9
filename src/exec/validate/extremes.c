/* A walk from each argument over what keeps the order of its numbers, or turns it round, to reductions that keep one
 * extreme of many; and from reductions back to arguments that get there by other ways.
 *
 *   b [64, 6], rows over x=2    c = compare(b, 0) gt    reduce(c) or, dims [0]
 *
 * b's rows are reduced, six columns; what counts is the side of 0; blocks of rows are 0-31 and 32-63. */
#include "exec/validate/extremes.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "exec/validate/domains.h"

/* A value in which the argument's order is kept. */
typedef struct step {
  sw_id value;
  int turned;             /* -1: the least is the greatest now; 0: only sizes count; else 1 */
  uint32_t dims;          /* of the argument, that have been reduced */
  int8_t at[SW_MAX_RANK]; /* by dim of the argument: the value's dim that it is, or is a part of; -1: none */
  bool plain;             /* its elements are the argument's */
  bool sided, or_equal, only_equal, apart, nan, mask_is;
  double side;
  int32_t other, mask; /* arguments; -1: none */
} step;

typedef struct finder {
  const sw_graph *g;
  sw_cuts_of *cuts;
  void *user;
  sw_arena *arena;
  SW_ARRAY(step) todo;
  bool *seen; /* by value */
  bool *far;  /* by value: a reduction whose rows are cut may follow from it */
  sw_id arg;
  sw_extremes *found;
} finder;

/* --- ops that keep extremes --------------------------------------------------------------------------------------- */

/* What an op keeps of operand 0, and over which dims of it. */
typedef struct kept {
  unsigned keeps;
  uint32_t dims;
  int places;
  bool bits, goes_on; /* the result is one of the elements */
} kept;

static uint32_t set_of(const int64_t *dims, int n) {
  uint32_t set = 0;
  for (int i = 0; i < n; i++) set |= 1u << dims[i];
  return set;
}

static kept kept_by_kind(sw_reduction r, sw_dtype t, uint32_t dims) {
  kept k = {.dims = dims, .places = 1, .goes_on = true};
  const bool bools = t == SW_BOOL, few_digits = sw_dtype_class_of(t) == SW_CLASS_FLOAT && sw_dtype_bits(t) <= 8;
  k.bits = r == SW_REDUCE_BIT_AND || r == SW_REDUCE_BIT_OR || r == SW_REDUCE_BIT_XOR;
  switch ((int)r) {
    case SW_REDUCE_MAX:
    case SW_REDUCE_OR:
    case SW_REDUCE_BIT_OR:
      k.keeps = SW_KEEPS_GREATEST;
      break;
    case SW_REDUCE_MIN:
    case SW_REDUCE_AND:
    case SW_REDUCE_BIT_AND:
      k.keeps = SW_KEEPS_LEAST;
      break;
    case SW_REDUCE_PRODUCT:
      k.keeps = bools ? SW_KEEPS_LEAST : SW_KEEPS_PRODUCT;
      break;
    case SW_REDUCE_BIT_XOR: /* of many random bits all columns may have the same */
      k.keeps = sw_dtype_bits(t) <= 4 ? SW_KEEPS_GREATEST : 0;
      break;
    case SW_REDUCE_SUM:
      k.keeps = bools ? SW_KEEPS_GREATEST : few_digits ? SW_KEEPS_SUM : 0;
      break;
    default:
      break;
  }
  return k;
}

static kept kept_by(const sw_graph *g, const sw_op *op) {
  const sw_dtype dtype = op->n_operands ? sw_operand_type(g, op, 0)->dtype : SW_BOOL; /* those below have operands */
  const uint32_t dim = 1u << sw_op_int(op, SW_ATTR_DIM, 0);
  int n = 0;
  const int64_t *list;
  sw_reduction kind = SW_REDUCE_SUM;
  (void)sw_reduction_parse(sw_op_text(op, SW_ATTR_KIND, "sum"), &kind);
  switch ((int)op->code) {
    case SW_OP_REDUCE:
      list = sw_op_ints(op, SW_ATTR_DIMS, &n);
      return kept_by_kind(kind, dtype, set_of(list, n));
    case SW_OP_CUMULATIVE:
      return kept_by_kind(kind, dtype, dim);
    case SW_OP_REDUCE_WINDOW: {
      uint32_t windows = 0;
      list = sw_op_ints(op, SW_ATTR_WINDOW, &n);
      for (int k = 0; k < n; k++) windows |= (uint32_t)(list[k] > 1) << k;
      return kept_by_kind(kind, dtype, windows);
    }
    case SW_OP_ARGMAX:
      return (kept){SW_KEEPS_GREATEST, dim, 1, false, false};
    case SW_OP_ARGMIN:
      return (kept){SW_KEEPS_LEAST, dim, 1, false, false};
    case SW_OP_TOP_K:
      return (kept){SW_KEEPS_GREATEST, dim, (int)fmin((double)sw_op_int(op, SW_ATTR_K, 1), 64), false, false};
    default:
      return (kept){0};
  }
}

/* --- how rows are cut --------------------------------------------------------------------------------------------- */

/* Is the dim of the argument one of the value's, and all of it? */
static int whole_dim_of(const finder *f, const step *s, int k) {
  const sw_type *arg = &f->g->values[f->arg].type, *t = &f->g->values[s->value].type;
  const int at = s->at[k];
  return at >= 0 && t->dims[at] == arg->dims[k] ? at : -1;
}

static bool is_known(const sw_extremes *x, const sw_row_block *r, const sw_row_block *more, int32_t n_more) {
  for (int32_t i = 0; i < x->n_blocks; i++) {
    if (memcmp(&x->blocks[i], r, sizeof *r) == 0) return true;
  }
  for (int32_t i = 0; i < n_more; i++) {
    if (memcmp(&more[i], r, sizeof *r) == 0) return true;
  }
  return false;
}

/* The rows of the argument that a device has of the value; false: none. */
static bool device_rows_of(const finder *f, const step *s, uint32_t dims, const sw_mesh *m, const sw_sharding *way,
                           int64_t device, sw_row_block *out) {
  const sw_type *arg = &f->g->values[f->arg].type, *t = &f->g->values[s->value].type;
  sw_buffer whole = {.dtype = t->dtype, .rank = t->rank};
  int64_t lo[SW_MAX_RANK], n[SW_MAX_RANK], at[SW_MAX_RANK];
  memcpy(whole.dims, t->dims, (size_t)t->rank * sizeof *t->dims);
  sw_block_extent(m, way, &whole, device, lo, n, at);
  *out = (sw_row_block){0};
  for (int k = 0; k < arg->rank; k++) {
    const int to = whole_dim_of(f, s, k);
    if (!(dims >> k & 1)) continue;
    out->lo[k] = to < 0 ? 0 : lo[to];
    out->hi[k] = to < 0 ? arg->dims[k] - 1 : lo[to] + n[to] - 1;
    if (out->hi[k] < out->lo[k]) return false;
  }
  return true;
}

/* Adds the blocks of rows under all ways in which the value is cut, where a way parts them. */
static sw_rc add_blocks(finder *f, const step *s, uint32_t dims, sw_diag *d) {
  const sw_sharding_list ways = f->cuts(f->user, s->value);
  const int64_t devices = ways.n ? sw_mesh_devices(ways.mesh) : 0;
  sw_extremes *x = f->found;
  for (int32_t w = 0; w < ways.n; w++) {
    sw_row_block *blocks;
    int32_t n = 0;
    SW_ARENA_NEW(blocks, f->arena, x->n_blocks + devices, d);
    for (int64_t device = 0; device < devices; device++) {
      if (!device_rows_of(f, s, dims, ways.mesh, ways.shardings[w], device, &blocks[x->n_blocks + n])) continue;
      n += !is_known(x, &blocks[x->n_blocks + n], blocks + x->n_blocks, n);
    }
    if (n < 2) continue;
    if (x->n_blocks) memcpy(blocks, x->blocks, (size_t)x->n_blocks * sizeof *blocks);
    x->blocks = blocks;
    x->n_blocks += n;
  }
  return SW_OK;
}

/* --- what is found ------------------------------------------------------------------------------------------------ */

static unsigned turned_keeps(unsigned keeps, int by) {
  const unsigned both = SW_KEEPS_GREATEST | SW_KEEPS_LEAST;
  if (by > 0 || !(keeps & both)) return keeps;
  return by == 0 ? keeps & SW_KEEPS_GREATEST : keeps ^ both;
}

/* The first reduction over rows that are cut counts, and later ones over the same. What keeps a side keeps an extreme,
 * too. */
static sw_rc record_reduction(finder *f, const step *s, const kept *k, uint32_t dims, sw_diag *d) {
  sw_extremes *x = f->found;
  const unsigned keeps = turned_keeps(k->keeps, s->turned);
  step self = {.value = f->arg};
  for (int i = 0; i < SW_MAX_RANK; i++) self.at[i] = (int8_t)i;
  if (!keeps || !dims || (x->keeps && x->dims != dims)) return SW_OK;
  if (s->sided && x->sided && (s->side != x->side || s->only_equal != x->only_equal)) return SW_OK;
  if (s->sided && x->sided && (s->other != x->other || s->nan != x->nan)) return SW_OK;
  SW_TRY(add_blocks(f, &self, dims, d));
  SW_TRY(add_blocks(f, s, dims, d));
  if (x->n_blocks < 2) return SW_OK;
  if (s->sided && !x->sided) {
    x->sided = true, x->or_equal = s->or_equal, x->only_equal = s->only_equal, x->apart = s->apart;
    x->side = s->side;
    x->other = s->other, x->nan = s->nan;
  }
  if (x->mask < 0) x->mask = s->mask, x->mask_is = s->mask_is;
  x->keeps |= keeps;
  x->dims = dims;
  x->bits = x->bits || k->bits;
  x->sizes = x->sizes || s->turned == 0;
  x->places = k->places > x->places ? k->places : x->places;
  return SW_OK;
}

/* --- ops that keep the order -------------------------------------------------------------------------------------- */

/* 1: of larger numbers come larger ones, -1: smaller ones; 2: of numbers of larger size. */
static const signed char kOrder[SW_OP_COUNT] = {
    [SW_OP_NEGATE] = -1, [SW_OP_NOT] = -1,     [SW_OP_ABS] = 2,  [SW_OP_EXP] = 1,    [SW_OP_EXPM1] = 1,
    [SW_OP_LOG] = 1,     [SW_OP_LOG1P] = 1,    [SW_OP_SQRT] = 1, [SW_OP_RSQRT] = -1, [SW_OP_CBRT] = 1,
    [SW_OP_TANH] = 1,    [SW_OP_LOGISTIC] = 1, [SW_OP_ATAN] = 1, [SW_OP_SINH] = 1,   [SW_OP_ASINH] = 1,
    [SW_OP_ERF] = 1,     [SW_OP_ERFC] = -1,    [SW_OP_SIGN] = 1, [SW_OP_ASIN] = 1,   [SW_OP_ACOS] = -1,
    [SW_OP_REAL] = 1,    [SW_OP_COSH] = 2,
};

/* An argument's elements as they are, of a type with both signs. */
static bool is_argument(const finder *f, sw_id value) {
  const sw_graph *g = f->g;
  while (g->values[value].def >= 0 && sw_op_content(&g->ops[g->values[value].def]) == SW_CONTENT_MOVED)
    value = g->ops[g->values[value].def].operands[0];
  const sw_dtype_class class = sw_dtype_class_of(g->values[value].type.dtype);
  return g->values[value].def < 0 && value != f->arg && (class == SW_CLASS_FLOAT || class == SW_CLASS_SIGNED);
}

/* An argument of the same type, that is made before this one. */
static bool is_other(const finder *f, sw_id value) {
  const sw_value *v = &f->g->values[value], *own = &f->g->values[f->arg];
  return v->def < 0 && v->def_index < own->def_index && sw_type_equal(&v->type, &own->type);
}

/* May some of the argument's elements be no numbers, as nobody computes with them? */
static bool may_be_none(const finder *f) {
  const sw_value *v = &f->g->values[f->arg];
  if (sw_dtype_class_of(v->type.dtype) != SW_CLASS_FLOAT || sw_dtype_bits(v->type.dtype) < 16) return false;
  for (int32_t i = 0; i < v->n_uses; i++) {
    const sw_op *op = v->uses[i].op < 0 ? NULL : &f->g->ops[v->uses[i].op];
    const bool itself = op && op->code == SW_OP_COMPARE && op->operands[0] == op->operands[1];
    if (!op || !(itself || op->code == SW_OP_IS_FINITE || (op->code == SW_OP_SELECT && v->uses[i].index > 0)))
      return false;
  }
  return true;
}

/* Whether an element is a number. */
static bool step_none(const finder *f, sw_id value, bool true_for_numbers, step *s) {
  if (value != f->arg || s->sided || !may_be_none(f)) return false;
  s->sided = s->nan = true;
  if (!true_for_numbers) s->turned = -s->turned;
  return true;
}

/* Whether an element is the one that the other argument has there. */
static bool step_other(const finder *f, sw_id value, bool true_for_equal, step *s) {
  s->sided = true;
  s->other = f->g->values[value].def_index;
  if (!true_for_equal) s->turned = -s->turned;
  return true;
}

/* Is the value where its elements are the argument's, each at its place? */
static bool lies_as_argument(const finder *f, const step *s) {
  const sw_type *t = &f->g->values[f->arg].type;
  for (int k = 0; k < t->rank; k++) {
    if (s->at[k] != k) return false;
  }
  return sw_type_equal(t, &f->g->values[s->value].type);
}

/* What a mask takes. Of one that is an argument it is said, so that it takes what matters. */
static bool step_select(const finder *f, const sw_op *op, int32_t operand, step *s) {
  const sw_value *mask = &f->g->values[op->operands[0]];
  const sw_type *t = sw_result_type(f->g, op, 0);
  if (operand == 0) return false;
  const bool shown = mask->def < 0 && mask->type.rank == t->rank && s->mask < 0 && lies_as_argument(f, s);
  if (shown) s->mask = mask->def_index, s->mask_is = operand == 1;
  return shown || operand == 1;
}

/* x compared with a number: true for those above it, or not, or for it alone. */
static bool step_compare(const finder *f, const sw_op *op, int32_t operand, step *s) {
  double low, high;
  const char *by = sw_op_text(op, SW_ATTR_DIRECTION, "eq");
  const bool less = by[0] == 'l', equal = strcmp(by, "eq") == 0 || strcmp(by, "ne") == 0;
  if (!s->plain || s->sided) return false;
  if (equal && op->operands[0] == op->operands[1]) return step_none(f, op->operands[0], by[0] == 'e', s);
  if (equal && op->operands[operand] == f->arg && is_other(f, op->operands[1 - operand]))
    return step_other(f, op->operands[1 - operand], by[0] == 'e', s);
  if (!sw_value_range(f->g, op->operands[1 - operand], &low, &high)) {
    s->apart = operand == 0 && !equal && is_argument(f, op->operands[1]);
    if (!s->apart) return false;
    low = high = 0;
  }
  if (low < high) return false;
  s->sided = sw_operand_type(f->g, op, operand)->dtype != SW_BOOL;
  s->side = low;
  s->only_equal = equal;
  if (equal) {
    s->turned = (strcmp(by, "eq") == 0) == (s->sided || low > 0) ? 1 : -1;
    return true;
  }
  const bool below = less == (operand == 0); /* it is true for numbers below */
  s->or_equal = (by[1] == 'e') != below;
  if (below) s->turned = -s->turned;
  return true;
}

/* With a number that is known. */
static bool step_number(const finder *f, const sw_op *op, int32_t operand, step *s) {
  double low, high;
  if (s->sided || !sw_value_range(f->g, op->operands[1 - operand], &low, &high) || low != high) return false;
  s->plain = false;
  const bool scales = op->code == SW_OP_MULTIPLY || op->code == SW_OP_DIVIDE;
  if ((scales && low == 0) || (op->code == SW_OP_DIVIDE && operand == 1)) return false;
  if (scales ? low < 0 : op->code == SW_OP_SUBTRACT && operand == 1) s->turned = -s->turned;
  return true;
}

/* To a bool: whether it is not 0. */
static bool step_convert(const finder *f, const sw_op *op, step *s) {
  if (sw_result_type(f->g, op, 0)->dtype != SW_BOOL || sw_operand_type(f->g, op, 0)->dtype == SW_BOOL) return true;
  if (!s->plain || s->sided) return false;
  s->sided = s->only_equal = true;
  s->side = 0;
  s->turned = -1;
  return true;
}

static bool step_unary(const sw_op *op, step *s) {
  const int order = kOrder[op->code];
  if (order == 0) return false;
  s->plain = false;
  s->turned = order == 2 ? 0 : order * s->turned;
  return order != 2 || !s->sided;
}

static bool keeps_order(const finder *f, const sw_op *op, int32_t operand, step *s) {
  const sw_content content = sw_op_content(op);
  switch ((int)op->code) {
    case SW_OP_MULTIPLY:
      if (op->operands[0] != op->operands[1]) return step_number(f, op, operand, s);
      s->plain = false;
      s->turned = 0;
      return !s->sided;
    case SW_OP_ADD:
    case SW_OP_SUBTRACT:
    case SW_OP_DIVIDE:
    case SW_OP_MAXIMUM:
    case SW_OP_MINIMUM:
      return step_number(f, op, operand, s);
    case SW_OP_COMPARE:
      return step_compare(f, op, operand, s);
    case SW_OP_CONVERT:
      return step_convert(f, op, s);
    case SW_OP_SELECT:
      return step_select(f, op, operand, s);
    case SW_OP_IS_FINITE:
      return step_none(f, op->operands[0], true, s);
    case SW_OP_CLAMP:
      return operand == 1;
    case SW_OP_CONCATENATE:
    case SW_OP_PAD:
    case SW_OP_JOIN:
      return true;
    default:
      if (operand == 0 && (content == SW_CONTENT_MOVED || content == SW_CONTENT_ROUNDED)) return true;
      return step_unary(op, s);
  }
}

/* The result's dim that the loop of an operand's dim is in. */
static int8_t dim_behind(const sw_op *op, int32_t operand, int at) {
  const sw_loop_nest *s = op->nest;
  const sw_map *in = &s->maps[operand], *out = &s->maps[op->n_operands];
  if (at >= in->rank || in->dims[at].n_terms != 1) return -1;
  for (int k = 0; k < out->rank; k++) {
    for (int32_t i = 0; i < out->dims[k].n_terms; i++) {
      if (out->dims[k].terms[i].loop == in->dims[at].terms[0].loop) return (int8_t)k;
    }
  }
  return -1;
}

/* To the op's result. What is lost on the way without being reduced is not followed: s->at says -1 for it. */
static sw_rc step_to_result(finder *f, step s, const sw_op *op, int32_t operand, sw_diag *d) {
  const sw_id to = op->results[0];
  if (op->n_results != 1 || f->seen[to]) return SW_OK;
  if (!op->nest && sw_op_class_of(op->code) != SW_OPS_CONTROL) return SW_OK;
  f->seen[to] = true;
  for (int k = 0; op->nest && k < SW_MAX_RANK; k++) s.at[k] = s.at[k] < 0 ? -1 : dim_behind(op, operand, s.at[k]);
  s.value = to;
  return sw_array_push(&f->todo, s, d);
}

static sw_rc follow_use(finder *f, const step *s, sw_value_use u, sw_diag *d) {
  if (u.op < 0) return SW_OK;
  const sw_op *op = &f->g->ops[u.op];
  const kept k = u.index == 0 ? kept_by(f->g, op) : (kept){0};
  step next = *s;
  for (int i = 0; i < f->g->values[f->arg].type.rank; i++) {
    if (s->at[i] >= 0 && (k.dims >> s->at[i] & 1)) next.dims |= 1u << i;
  }
  if (k.keeps) SW_TRY(record_reduction(f, s, &k, next.dims, d));
  const bool on =
      k.keeps ? k.goes_on && !(k.keeps & (SW_KEEPS_PRODUCT | SW_KEEPS_SUM)) : keeps_order(f, op, u.index, &next);
  return on ? step_to_result(f, next, op, u.index, d) : SW_OK;
}

static sw_rc find_one(finder *f, sw_id arg, sw_extremes *out, sw_diag *d) {
  step first = {.value = arg, .turned = 1, .plain = true, .other = -1, .mask = -1};
  f->arg = arg;
  f->found = out;
  *out = (sw_extremes){.other = -1, .mask = -1};
  memset(f->seen, 0, (size_t)f->g->n_values * sizeof *f->seen);
  for (int k = 0; k < SW_MAX_RANK; k++) first.at[k] = (int8_t)(k < f->g->values[arg].type.rank ? k : -1);
  f->todo.n = 0;
  SW_TRY(sw_array_push(&f->todo, first, d));
  for (size_t at = 0; at < f->todo.n; at++) {
    const step s = f->todo.at[at];
    const sw_value *v = &f->g->values[s.value];
    for (int32_t i = 0; i < v->n_uses; i++) SW_TRY(follow_use(f, &s, v->uses[i], d));
  }
  out->far = !out->keeps && f->far[arg];
  return SW_OK;
}

/* --- by other ways ------------------------------------------------------------------------------------------------ */

static bool is_cut(const finder *f, sw_id value, uint32_t dims) {
  const sw_sharding_list ways = f->cuts(f->user, value);
  for (int32_t w = 0; w < ways.n; w++) {
    for (int i = 0; i < ways.shardings[w]->n_refs; i++) {
      if (dims >> ways.shardings[w]->dim_of[i] & 1) return true;
    }
  }
  return false;
}

/* Values that reductions over cut rows follow from, against the order of ops; in loops, what is known from one pass. */
static void find_far(finder *f) {
  for (int32_t i = f->g->n_ops - 1; i >= 0; i--) {
    const sw_op *op = &f->g->ops[i];
    const kept k = kept_by(f->g, op);
    bool far = k.keeps && !(k.keeps & SW_KEEPS_SUM) && is_cut(f, op->operands[0], k.dims);
    for (int r = 0; r < op->n_results; r++) far = far || f->far[op->results[r]];
    if (op->code == SW_OP_COMPARE) continue; /* of many numbers as of few */
    for (int n = 0; n < op->n_operands && far; n++) f->far[op->operands[n]] = true;
  }
}

sw_rc sw_extremes_find(const sw_graph *g, sw_cuts_of *cuts, void *user, sw_arena *arena, sw_extremes *out, sw_diag *d) {
  finder f = {.g = g, .cuts = cuts, .user = user, .arena = arena};
  f.seen = sw_mem_alloc((size_t)g->n_values + 1, sizeof *f.seen, d);
  f.far = sw_mem_alloc((size_t)g->n_values + 1, sizeof *f.far, d);
  sw_rc rc = f.seen && f.far ? SW_OK : SW_E_RESOURCE;
  if (!rc) find_far(&f);
  for (int32_t i = 0; !rc && i < g->n_args; i++) rc = find_one(&f, g->args[i], &out[i], d);
  sw_mem_free(f.seen);
  sw_mem_free(f.far);
  sw_array_free(&f.todo);
  return rc;
}
