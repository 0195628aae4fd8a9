/* Which factors an op has, in the order in which Shardy makes them. Known from its published tests of 2026
 * (op_sharding_rule_registry), restated in tests/unit/factor_rule.c.
 *
 *   slice [0:32, 1:2] of [32,4]:  ([i, j])->([i, j]) {i=32, j=4} permutation={j}
 */
#include <string.h>

#include "propagate/factors.h"
#include "base/checked.h"

static bool has(const int64_t *at, int n, int64_t x) {
  for (int i = 0; i < n; i++) {
    if (at[i] == x) return true;
  }
  return false;
}

static bool in_list(const sw_factors *f, sw_attr_key k, int64_t x) {
  int n;
  const int64_t *at = sw_op_ints(f->op, k, &n);
  return has(at, n, x);
}

static int64_t nth(const sw_factors *f, sw_attr_key k, int i, int64_t absent) {
  int n;
  const int64_t *at = sw_op_ints(f->op, k, &n);
  return i < n ? at[i] : absent;
}

/* --- a factor per dimension --------------------------------------------------------------------------------------- */

/* One factor per dim of the first result, in all tensors of its rank; scalars have none. `kind_of` says which kind;
 * sizes are those of tensor `sized_by`. */
typedef struct kind_of_dim {
  sw_factor_kind kind;
  bool blocked;
} kind_of_dim;

static bool per_dim(sw_factors *f, int sized_by, kind_of_dim (*kind_of)(const sw_factors *, int)) {
  int rank = sw_factor_type(f, sw_factor_result(f, 0))->rank;
  for (int k = 0; k < rank; k++) {
    kind_of_dim what = kind_of(f, k);
    int64_t size = sw_factor_type(f, sized_by)->dims[k];
    int factor = what.blocked ? sw_factor_blocked(f, size, what.kind) : sw_factor(f, size, what.kind);
    for (int t = 0; t < f->op->n_operands + f->op->n_results; t++) {
      if (sw_factor_type(f, t)->rank == rank) sw_factor_in(f, factor, t, k);
    }
  }
  return true;
}

static const kind_of_dim kPass = {SW_FACTOR_PASS, false};
static kind_of_dim pass(const sw_factors *f, int k) {
  (void)f;
  (void)k;
  return kPass;
}
static bool pointwise(sw_factors *f) { return per_dim(f, sw_factor_result(f, 0), pass); }

static kind_of_dim moved(const sw_factors *f, int k) {
  bool same = sw_factor_type(f, 0)->dims[k] == sw_factor_type(f, sw_factor_result(f, 0))->dims[k];
  return same ? kPass : (kind_of_dim){SW_FACTOR_PERMUTATION, false};
}
static bool resized(sw_factors *f) { return per_dim(f, 0, moved); }

static kind_of_dim cut_out(const sw_factors *f, int k) {
  bool same = sw_factor_type(f, 0)->dims[k] == sw_factor_type(f, sw_factor_result(f, 0))->dims[k];
  return same ? kPass : (kind_of_dim){SW_FACTOR_REPLICATE, true};
}
static bool dynamic_slice(sw_factors *f) { return per_dim(f, 0, cut_out); }
static bool top_k(sw_factors *f) { return per_dim(f, 0, cut_out); }

static kind_of_dim reversed(const sw_factors *f, int k) {
  return in_list(f, SW_ATTR_DIMS, k) ? (kind_of_dim){SW_FACTOR_PERMUTATION, false} : kPass;
}
static bool reverse(sw_factors *f) { return per_dim(f, 0, reversed); }

static kind_of_dim windowed(const sw_factors *f, int k) {
  bool plain = nth(f, SW_ATTR_WINDOW, k, 1) == 1 && nth(f, SW_ATTR_STRIDES, k, 1) == 1 &&
               nth(f, SW_ATTR_PAD_LOW, k, 0) == 0 && nth(f, SW_ATTR_PAD_HIGH, k, 0) == 0;
  return plain ? kPass : (kind_of_dim){SW_FACTOR_PERMUTATION, false};
}
static bool reduce_window(sw_factors *f) {
  f->n_implied = 1;
  return per_dim(f, sw_factor_result(f, 0), windowed);
}

static kind_of_dim scanned(const sw_factors *f, int k) {
  return sw_op_int(f->op, SW_ATTR_DIM, 0) == k ? (kind_of_dim){SW_FACTOR_PERMUTATION, false} : kPass;
}
static bool cumulative(sw_factors *f) {
  f->n_implied = 1;
  return per_dim(f, 0, scanned);
}

/* Along the sorted dim; nothing could take its axes when all others have size 1. */
static kind_of_dim sorted(const sw_factors *f, int k) {
  const sw_type *x = sw_factor_type(f, 0);
  if (sw_op_int(f->op, SW_ATTR_DIM, 0) != k) return kPass;
  return (kind_of_dim){SW_FACTOR_REPLICATE, sw_type_elements(x) == x->dims[k]};
}
static bool sort(sw_factors *f) { return per_dim(f, 0, sorted); }

/* A concatenation of slices may be a rotation. */
static bool joins_slices(const sw_factors *f) {
  int slices = 0;
  bool one = true;
  sw_id whole = -1;
  for (int i = 0; i < f->op->n_operands; i++) {
    sw_id x = f->op->operands[i], def = f->g->values[x].def;
    bool slice = def >= 0 && f->g->ops[def].code == SW_OP_SLICE;
    sw_id of = slice ? f->g->ops[def].operands[0] : x;
    slices += slice;
    one = one && (whole < 0 || of == whole);
    whole = of;
  }
  return slices == f->op->n_operands || (slices > 0 && one);
}

static kind_of_dim concatenated(const sw_factors *f, int k) {
  if (sw_op_int(f->op, SW_ATTR_DIM, 0) != k) return kPass;
  return (kind_of_dim){joins_slices(f) ? SW_FACTOR_PERMUTATION : SW_FACTOR_REPLICATE, false};
}
static bool concatenate(sw_factors *f) { return per_dim(f, sw_factor_result(f, 0), concatenated); }

/* --- other shapes ------------------------------------------------------------------------------------------------- */

static bool transpose(sw_factors *f) {
  const sw_type *r = sw_factor_type(f, 1);
  for (int k = 0; k < r->rank; k++) {
    int factor = sw_factor(f, r->dims[k], SW_FACTOR_PASS);
    sw_factor_in(f, factor, 0, (int)nth(f, SW_ATTR_PERMUTATION, k, k));
    sw_factor_in(f, factor, 1, k);
  }
  return true;
}

static bool broadcast(sw_factors *f) {
  const sw_type *x = sw_factor_type(f, 0), *r = sw_factor_type(f, 1);
  for (int k = 0; k < r->rank; k++) {
    int from = -1;
    for (int i = 0; i < x->rank; i++) from = nth(f, SW_ATTR_DIMS, i, i) == k ? i : from;
    bool expanded = from >= 0 && x->dims[from] != r->dims[k];
    if (expanded) sw_factor_in(f, sw_factor(f, x->dims[from], SW_FACTOR_PASS), 0, from);
    int factor = sw_factor(f, r->dims[k], SW_FACTOR_PASS);
    if (from >= 0 && !expanded) sw_factor_in(f, factor, 0, from);
    sw_factor_in(f, factor, 1, k);
  }
  return true;
}

static bool bitcast(sw_factors *f) {
  const sw_type *x = sw_factor_type(f, 0), *r = sw_factor_type(f, 1);
  int both = x->rank < r->rank ? x->rank : r->rank, more = x->rank > r->rank ? 0 : 1;
  for (int k = 0; k < both; k++) {
    int factor = sw_factor(f, x->dims[k], SW_FACTOR_PASS);
    sw_factor_in(f, factor, 0, k);
    sw_factor_in(f, factor, 1, k);
  }
  if (x->rank == r->rank) return true;
  sw_factor_in(f, sw_factor(f, sw_factor_type(f, more)->dims[both], SW_FACTOR_REPLICATE), more, both);
  return true;
}

static int64_t gcd(int64_t a, int64_t b) { return b ? gcd(b, a % b) : a; }

/* One side of a reshape: its dims are used up from the major end. */
typedef struct side {
  int tensor, dim;
  int64_t left, done; /* of this dim; product of all factors so far */
} side;

static int64_t dims_left(const sw_factors *f, const side *s) { return sw_factor_type(f, s->tensor)->rank - s->dim; }

static void begin_dim(const sw_factors *f, side *s) {
  s->left = dims_left(f, s) > 0 ? sw_factor_type(f, s->tensor)->dims[s->dim] : 1;
}

static void take(sw_factors *f, side *s, int factor) {
  int64_t size = f->size[factor];
  sw_factor_in(f, factor, s->tensor, s->dim);
  s->done *= size;
  s->left /= size;
  if (s->left > 1) return;
  s->dim++;
  begin_dim(f, s);
}

/* The side that is behind takes what brings it level, or what the other can never share. */
static void catch_up(sw_factors *f, side *behind, const side *ahead) {
  int64_t gap = ahead->done / behind->done, alone = behind->left / gcd(behind->left, ahead->left);
  bool level = ahead->done % behind->done == 0 && behind->left % gap == 0;
  take(f, behind, sw_factor(f, level ? gap : alone > 1 ? alone : behind->left, SW_FACTOR_PASS));
}

static void reshape_step(sw_factors *f, side *x, side *r) {
  side *one = dims_left(f, x) && x->left == 1 ? x : dims_left(f, r) && r->left == 1 ? r : NULL;
  if (one) {
    take(f, one, sw_factor(f, 1, SW_FACTOR_PASS));
  } else if (x->done != r->done) {
    catch_up(f, x->done < r->done ? x : r, x->done < r->done ? r : x);
  } else if (gcd(x->left, r->left) > 1) {
    int factor = sw_factor(f, gcd(x->left, r->left), SW_FACTOR_PASS);
    take(f, x, factor);
    take(f, r, factor);
  } else {
    take(f, x, sw_factor(f, x->left, SW_FACTOR_PASS));
    take(f, r, sw_factor(f, r->left, SW_FACTOR_PASS));
  }
}

static bool reshape(sw_factors *f) {
  side x = {.tensor = 0, .done = 1}, r = {.tensor = 1, .done = 1};
  if (sw_type_elements(sw_factor_type(f, 0)) <= 0) return false;
  begin_dim(f, &x);
  begin_dim(f, &r);
  while ((dims_left(f, &x) || dims_left(f, &r)) && !f->full) reshape_step(f, &x, &r);
  return true;
}

static bool reduce(sw_factors *f) {
  const sw_type *x = sw_factor_type(f, 0);
  bool keeps = sw_op_int(f->op, SW_ATTR_KEEP_DIMS, 0) != 0;
  f->n_implied = 1;
  for (int k = 0, to = 0; k < x->rank; k++) {
    bool gone = in_list(f, SW_ATTR_DIMS, k);
    int factor = sw_factor(f, x->dims[k], gone ? SW_FACTOR_REDUCTION : SW_FACTOR_PASS);
    sw_factor_in(f, factor, 0, k);
    if (!gone) sw_factor_in(f, factor, 1, to);
    to += !gone || keeps;
  }
  return true;
}

static bool dynamic_update_slice(sw_factors *f) {
  const sw_type *x = sw_factor_type(f, 0), *u = sw_factor_type(f, 1);
  int result = sw_factor_result(f, 0);
  for (int k = 0; k < x->rank; k++) {
    int factor = sw_factor(f, x->dims[k], SW_FACTOR_PASS);
    sw_factor_in(f, factor, 0, k);
    sw_factor_in(f, factor, result, k);
    if (u->dims[k] != x->dims[k]) factor = sw_factor(f, u->dims[k], SW_FACTOR_REPLICATE);
    sw_factor_in(f, factor, 1, k);
  }
  return true;
}

/* --- contractions ------------------------------------------------------------------------------------------------- */

/* The dims of a factor of a dot that are in neither list, with those of the result from `to` on. */
static int free_dims(sw_factors *f, int tensor, sw_attr_key batch, sw_attr_key contract, int to) {
  const sw_type *t = sw_factor_type(f, tensor);
  for (int k = 0; k < t->rank; k++) {
    if (in_list(f, batch, k) || in_list(f, contract, k)) continue;
    int factor = sw_factor(f, t->dims[k], SW_FACTOR_PASS);
    sw_factor_in(f, factor, tensor, k);
    sw_factor_in(f, factor, 2, to++);
  }
  return to;
}

static bool dot(sw_factors *f) {
  int n_batch, n_contract, to = 0;
  const int64_t *a = sw_op_ints(f->op, SW_ATTR_LHS_BATCH, &n_batch);
  for (; to < n_batch; to++) {
    int factor = sw_factor(f, sw_factor_type(f, 0)->dims[a[to]], SW_FACTOR_PASS);
    sw_factor_in(f, factor, 0, (int)a[to]);
    sw_factor_in(f, factor, 1, (int)nth(f, SW_ATTR_RHS_BATCH, to, 0));
    sw_factor_in(f, factor, 2, to);
  }
  to = free_dims(f, 0, SW_ATTR_LHS_BATCH, SW_ATTR_LHS_CONTRACT, to);
  (void)free_dims(f, 1, SW_ATTR_RHS_BATCH, SW_ATTR_RHS_CONTRACT, to);
  a = sw_op_ints(f->op, SW_ATTR_LHS_CONTRACT, &n_contract);
  for (int i = 0; i < n_contract; i++) {
    int factor = sw_factor(f, sw_factor_type(f, 0)->dims[a[i]], SW_FACTOR_REDUCTION);
    sw_factor_in(f, factor, 0, (int)a[i]);
    sw_factor_in(f, factor, 1, (int)nth(f, SW_ATTR_RHS_CONTRACT, i, 0));
  }
  return true;
}

static int at_letter(const sw_factors *f, sw_attr_key layout, char letter) {
  const char *text = sw_op_text(f->op, layout, ""), *at = strchr(text, letter);
  return at ? (int)(at - text) : 0;
}

/* A spatial dim is that of the result times that of the kernel, the larger one major. */
static void spatial_dim(sw_factors *f, char digit) {
  int x = at_letter(f, SW_ATTR_LHS_LAYOUT, digit), w = at_letter(f, SW_ATTR_RHS_LAYOUT, digit),
      r = at_letter(f, SW_ATTR_OUT_LAYOUT, digit);
  int64_t extent = sw_factor_type(f, 0)->dims[x], window = sw_factor_type(f, 1)->dims[w],
          windows = sw_factor_type(f, 2)->dims[r];
  int64_t larger = sw_max_i64(sw_max_i64(window, windows), 1), rest = sw_ceil_div(extent, larger);
  for (int i = 0; i < 2; i++) {
    bool kernel = (window > windows) == (i == 0);
    int64_t size = i == 0 ? larger : sw_min_i64(rest, sw_min_i64(window, windows));
    int factor = sw_factor(f, size, kernel ? SW_FACTOR_REDUCTION : SW_FACTOR_PERMUTATION);
    sw_factor_in(f, factor, 0, x);
    sw_factor_in(f, factor, kernel ? 1 : 2, kernel ? w : r);
  }
}

static bool convolution(sw_factors *f) {
  int64_t batches = sw_op_int(f->op, SW_ATTR_BATCH_GROUPS, 1), groups = sw_op_int(f->op, SW_ATTR_FEATURE_GROUPS, 1);
  int xb = at_letter(f, SW_ATTR_LHS_LAYOUT, 'b'), xf = at_letter(f, SW_ATTR_LHS_LAYOUT, 'f');
  int wi = at_letter(f, SW_ATTR_RHS_LAYOUT, 'i'), wo = at_letter(f, SW_ATTR_RHS_LAYOUT, 'o');
  int rb = at_letter(f, SW_ATTR_OUT_LAYOUT, 'b'), rf = at_letter(f, SW_ATTR_OUT_LAYOUT, 'f');
  int group = batches > 1 ? sw_factor(f, batches, SW_FACTOR_PASS) : -1;
  if (group >= 0) sw_factor_in(f, group, 0, xb);
  int batch = sw_factor(f, sw_factor_type(f, 2)->dims[rb], SW_FACTOR_PASS);
  sw_factor_in(f, batch, 0, xb);
  sw_factor_in(f, batch, 2, rb);
  for (int i = 0; i < sw_factor_type(f, 0)->rank - 2; i++) spatial_dim(f, (char)('0' + i));
  if (groups > 1) {
    group = sw_factor(f, groups, SW_FACTOR_PASS);
    sw_factor_in(f, group, 0, xf);
  }
  int in = sw_factor(f, sw_factor_type(f, 1)->dims[wi], SW_FACTOR_REDUCTION);
  sw_factor_in(f, in, 0, xf);
  sw_factor_in(f, in, 1, wi);
  if (group >= 0) sw_factor_in(f, group, 1, wo);
  if (group >= 0) sw_factor_in(f, group, 2, rf);
  int out = sw_factor(f, sw_factor_type(f, 1)->dims[wo] / (batches > 1 ? batches : groups), SW_FACTOR_PASS);
  sw_factor_in(f, out, 1, wo);
  sw_factor_in(f, out, 2, rf);
  return true;
}

/* --- gather and scatter ------------------------------------------------------------------------------------------- */

/* The operand's dim that goes with a dim of the indices as a batch; -1: none. */
static int batched_dim(const sw_factors *f, int index_dim) {
  int n;
  const int64_t *of = sw_op_ints(f->op, SW_ATTR_OPERAND_BATCH, &n);
  for (int i = 0; i < n; i++) {
    if (nth(f, SW_ATTR_INDICES_BATCH, i, -1) == index_dim) return (int)of[i];
  }
  return -1;
}

/* Dims of the indices, in order, with those of `windows` that are no window dims; `kind` of those that are no batches.
 * `result`: a scatter's result, which has the operand's batches too; -1: none. */
static void index_dims(sw_factors *f, int windows, sw_attr_key window_dims, sw_factor_kind kind, int result) {
  const sw_type *indices = sw_factor_type(f, 1);
  int64_t vector = sw_op_int(f->op, SW_ATTR_INDEX_VECTOR_DIM, 0);
  for (int k = 0, to = 0; k < indices->rank; k++) {
    if (k == vector) continue;
    while (in_list(f, window_dims, to)) to++;
    int batch = batched_dim(f, k), factor = sw_factor(f, indices->dims[k], batch >= 0 ? SW_FACTOR_PASS : kind);
    sw_factor_in(f, factor, 1, k);
    sw_factor_in(f, factor, windows, to++);
    if (batch >= 0) sw_factor_in(f, factor, 0, batch);
    if (batch >= 0 && result >= 0) sw_factor_in(f, factor, result, batch);
  }
}

static void vector_dim(sw_factors *f) {
  const sw_type *indices = sw_factor_type(f, 1);
  int64_t vector = sw_op_int(f->op, SW_ATTR_INDEX_VECTOR_DIM, 0);
  if (vector < indices->rank) {
    sw_factor_in(f, sw_factor(f, indices->dims[vector], SW_FACTOR_REPLICATE), 1, (int)vector);
  }
}

static void gathered_dim(sw_factors *f, int k, int to, int64_t slice) {
  int64_t size = sw_factor_type(f, 0)->dims[k];
  if (slice == 1 && size > 1) {
    sw_factor_in(f, sw_factor(f, size, SW_FACTOR_REDUCTION), 0, k);
    sw_factor_in(f, sw_factor(f, slice, SW_FACTOR_REPLICATE), 2, to);
    return;
  }
  int factor = slice == size ? sw_factor(f, size, SW_FACTOR_PASS) : sw_factor_blocked(f, size, SW_FACTOR_REPLICATE);
  sw_factor_in(f, factor, 0, k);
  sw_factor_in(f, factor, 2, to);
}

static bool gather(sw_factors *f) {
  const sw_type *x = sw_factor_type(f, 0);
  index_dims(f, 2, SW_ATTR_OFFSET_DIMS, SW_FACTOR_PASS, -1);
  for (int k = 0, i = 0; k < x->rank; k++) {
    if (in_list(f, SW_ATTR_COLLAPSED_DIMS, k) || in_list(f, SW_ATTR_OPERAND_BATCH, k)) continue;
    gathered_dim(f, k, (int)nth(f, SW_ATTR_OFFSET_DIMS, i++, 0), nth(f, SW_ATTR_SIZES, k, 1));
  }
  for (int k = 0; k < x->rank; k++) {
    if (!in_list(f, SW_ATTR_COLLAPSED_DIMS, k)) continue;
    sw_factor_in(f, sw_factor(f, x->dims[k], x->dims[k] > 1 ? SW_FACTOR_REDUCTION : SW_FACTOR_REPLICATE), 0, k);
  }
  vector_dim(f);
  return true;
}

static bool scatter(sw_factors *f) {
  const sw_type *x = sw_factor_type(f, 0), *u = sw_factor_type(f, 2);
  bool replaces = strcmp(sw_op_text(f->op, SW_ATTR_KIND, ""), "replace") == 0;
  index_dims(f, 2, SW_ATTR_UPDATE_WINDOW_DIMS, replaces ? SW_FACTOR_REPLICATE : SW_FACTOR_REDUCTION, 3);
  for (int k = 0, i = 0; k < x->rank; k++) {
    if (in_list(f, SW_ATTR_INSERTED_DIMS, k) || in_list(f, SW_ATTR_OPERAND_BATCH, k)) continue;
    int window = (int)nth(f, SW_ATTR_UPDATE_WINDOW_DIMS, i++, 0);
    bool all = u->dims[window] == x->dims[k];
    int factor = sw_factor(f, x->dims[k], all ? SW_FACTOR_PASS : SW_FACTOR_REPLICATE);
    sw_factor_in(f, factor, 0, k);
    sw_factor_in(f, factor, 3, k);
    sw_factor_in(f, all ? factor : sw_factor(f, u->dims[window], SW_FACTOR_REPLICATE), 2, window);
  }
  for (int k = 0; k < x->rank; k++) {
    if (!in_list(f, SW_ATTR_INSERTED_DIMS, k)) continue;
    int factor = sw_factor(f, x->dims[k], SW_FACTOR_PASS);
    sw_factor_in(f, factor, 0, k);
    sw_factor_in(f, factor, 3, k);
  }
  vector_dim(f);
  return true;
}

/* --- by loops ----------------------------------------------------------------------------------------------------- */

static sw_factor_kind kind_of_loop(sw_loop_kind k) {
  if (k == SW_LOOP_PARALLEL) return SW_FACTOR_PASS;
  return k == SW_LOOP_REDUCTION || k == SW_LOOP_MASKED ? SW_FACTOR_REDUCTION : SW_FACTOR_REPLICATE;
}

/* Ops that StableHLO lacks: a factor per loop that some tensor has. */
static bool by_loops(sw_factors *f) {
  const sw_space *s = f->op->space;
  int factor_of[SW_MOST_FACTORS];
  if (!s || s->n_loops > SW_MOST_FACTORS) return false;
  for (int l = 0; l < s->n_loops; l++) factor_of[l] = -1;
  for (int t = 0; t < s->n_maps; t++) {
    for (int k = 0; k < s->maps[t].rank; k++) {
      for (int i = 0; i < s->maps[t].dims[k].n_terms; i++) {
        int loop = s->maps[t].dims[k].terms[i].loop, *factor = &factor_of[loop];
        if (*factor < 0) *factor = sw_factor(f, s->loops[loop].size, kind_of_loop(s->loops[loop].kind));
        sw_factor_in(f, *factor, t, k);
      }
    }
  }
  return true;
}

static kind_of_dim of_matrix(const sw_factors *f, int k) {
  return k < sw_factor_type(f, 0)->rank - 2 ? kPass : (kind_of_dim){SW_FACTOR_REPLICATE, false};
}
/* The last dim of a real transform changes its size. */
static kind_of_dim transformed(const sw_factors *f, int k) {
  int n;
  const sw_type *x = sw_factor_type(f, 0), *r = sw_factor_type(f, 1);
  (void)sw_op_ints(f->op, SW_ATTR_FFT_LENGTH, &n);
  return k < x->rank - n ? kPass : (kind_of_dim){SW_FACTOR_REPLICATE, x->dims[k] != r->dims[k]};
}
static bool fft(sw_factors *f) { return per_dim(f, 0, transformed); }

static bool cholesky(sw_factors *f) { return per_dim(f, 0, of_matrix); }

/* The matrix dim that meets the unknowns, and the one that gives them; columns of b by themselves. */
static bool triangular_solve(sw_factors *f) {
  const sw_type *a = sw_factor_type(f, 0), *b = sw_factor_type(f, 1);
  bool left = sw_op_int(f->op, SW_ATTR_LEFT_SIDE, 1) != 0,
       turned = strcmp(sw_op_text(f->op, SW_ATTR_TRANSPOSE_A, "none"), "none") != 0;
  int n = a->rank, solved = left ? n - 2 : n - 1, free_dim = left ? n - 1 : n - 2;
  int wants = left == turned ? n - 2 : n - 1, gives = left == turned ? n - 1 : n - 2;
  for (int k = 0; k < n - 2; k++) {
    int factor = sw_factor(f, a->dims[k], SW_FACTOR_PASS);
    for (int t = 0; t < 3; t++) sw_factor_in(f, factor, t, k);
  }
  int met = sw_factor(f, b->dims[solved], SW_FACTOR_REPLICATE),
      column = sw_factor(f, b->dims[free_dim], SW_FACTOR_REPLICATE);
  int given = sw_factor(f, b->dims[solved], SW_FACTOR_REPLICATE);
  sw_factor_in(f, met, 0, gives);
  sw_factor_in(f, met, 1, solved);
  sw_factor_in(f, column, 1, free_dim);
  sw_factor_in(f, column, 2, free_dim);
  sw_factor_in(f, given, 0, wants);
  sw_factor_in(f, given, 2, solved);
  return true;
}

static bool random_bits(sw_factors *f) {
  sw_factor_in(f, sw_factor_blocked(f, sw_factor_type(f, 0)->dims[0], SW_FACTOR_REPLICATE), 0, 0);
  sw_factor_in(f, 0, sw_factor_result(f, 0), 0);
  const sw_type *bits = sw_factor_type(f, sw_factor_result(f, 1));
  for (int k = 0; k < bits->rank; k++) {
    sw_factor_in(f, sw_factor(f, bits->dims[k], SW_FACTOR_PASS), sw_factor_result(f, 1), k);
  }
  return true;
}

static bool select_and_scatter(sw_factors *f) {
  const sw_type *x = sw_factor_type(f, 0), *source = sw_factor_type(f, 1);
  for (int k = 0; k < x->rank; k++) {
    bool plain = windowed(f, k).kind == SW_FACTOR_PASS;
    int of_source = plain ? -1 : sw_factor(f, source->dims[k], SW_FACTOR_REPLICATE);
    int factor = sw_factor(f, x->dims[k], plain ? SW_FACTOR_PASS : SW_FACTOR_PERMUTATION);
    sw_factor_in(f, factor, 0, k);
    sw_factor_in(f, plain ? factor : of_source, 1, k);
    sw_factor_in(f, factor, 3, k);
  }
  return true;
}

typedef bool (*factors_of)(sw_factors *f);
static const factors_of kRules[SW_OP_COUNT] = {
    [SW_OP_COMPARE] = pointwise,
    [SW_OP_SELECT] = pointwise,
    [SW_OP_CLAMP] = pointwise,
    [SW_OP_CONVERT] = pointwise,
    [SW_OP_REDUCE_PRECISION] = pointwise,
    [SW_OP_COMPLEX] = pointwise,
    [SW_OP_FFT] = fft,
    [SW_OP_BITCAST] = bitcast,
    [SW_OP_BROADCAST] = broadcast,
    [SW_OP_TRANSPOSE] = transpose,
    [SW_OP_RESHAPE] = reshape,
    [SW_OP_REVERSE] = reverse,
    [SW_OP_REDUCE] = reduce,
    [SW_OP_ARGMAX] = by_loops,
    [SW_OP_ARGMIN] = by_loops,
    [SW_OP_DOT] = dot,
    [SW_OP_SLICE] = resized,
    [SW_OP_DYNAMIC_SLICE] = dynamic_slice,
    [SW_OP_DYNAMIC_UPDATE_SLICE] = dynamic_update_slice,
    [SW_OP_PAD] = resized,
    [SW_OP_CONCATENATE] = concatenate,
    [SW_OP_CONVOLUTION] = convolution,
    [SW_OP_REDUCE_WINDOW] = reduce_window,
    [SW_OP_CUMULATIVE] = cumulative,
    [SW_OP_TOP_K] = top_k,
    [SW_OP_SORT] = sort,
    [SW_OP_CHOLESKY] = cholesky,
    [SW_OP_FACTOR] = by_loops,
    [SW_OP_TRIDIAGONAL_SOLVE] = by_loops,
    [SW_OP_TRIANGULAR_SOLVE] = triangular_solve,
    [SW_OP_RNG_BITS] = random_bits,
    [SW_OP_SELECT_AND_SCATTER] = select_and_scatter,
    [SW_OP_GATHER] = gather,
    [SW_OP_SCATTER] = scatter,
    [SW_OP_SHUFFLE] = by_loops,
    [SW_OP_GENERIC] = by_loops,
};

bool sw_factors_of(sw_factors *f) {
  if (sw_op_is_pointwise(f->op->code)) return pointwise(f);
  return kRules[f->op->code] && kRules[f->op->code](f);
}
