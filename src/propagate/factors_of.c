/* What Shardy's rules have and loops and maps do not say, op by op: hooks of the column `factors`. Known from its
 * published tests of 2026 (op_sharding_rule_registry), restated in tests/unit/factor_rule.c. */
#include <string.h>

#include "base/checked.h"
#include "propagate/factors.h"

static bool in_list(const sw_factors *f, sw_attr_key k, int64_t x) {
  int n;
  const int64_t *at = sw_op_ints(f->op, k, &n);
  for (int i = 0; i < n; i++) {
    if (at[i] == x) return true;
  }
  return false;
}

/* --- ops that move elements --------------------------------------------------------------------------------------- */

/* A dim of extent 1 that is repeated is named before the one that it becomes. */
bool sw_factors_hook_broadcast(sw_factors *f) {
  int n;
  const int64_t *dims = sw_op_ints(f->op, SW_ATTR_DIMS, &n);
  for (int k = 0; k < f->type[1]->rank; k++) {
    for (int i = 0; i < n; i++) {
      if (dims[i] == k) (void)sw_factor_of_dim(f, 0, i);
    }
    (void)sw_factor_of_dim(f, 1, k);
  }
  return true;
}

/* One side of a reshape: its dims are used up from the major end. */
typedef struct side {
  const sw_type *type;
  int tensor, dim;
  int64_t left, done; /* of this dim; product of all factors so far */
} side;

static bool side_has_dims(const side *s) { return s->dim < s->type->rank; }

static void begin_dim(side *s, int dim) {
  s->dim = dim;
  s->left = side_has_dims(s) ? s->type->dims[dim] : 1;
}

static void take_of_side(sw_factors *f, side *s, int factor) {
  sw_factor_in(f, factor, s->tensor, s->dim);
  s->done *= f->rule.size[factor];
  s->left /= f->rule.size[factor];
  if (s->left <= 1) begin_dim(s, s->dim + 1);
}

/* The side that is behind takes what brings it level, or what the other can never share. */
static void catch_up(sw_factors *f, side *behind, const side *ahead) {
  int64_t gap = ahead->done / behind->done, alone = behind->left / sw_gcd_i64(behind->left, ahead->left);
  bool level = ahead->done % behind->done == 0 && behind->left % gap == 0;
  take_of_side(f, behind, sw_factor(f, level ? gap : alone > 1 ? alone : behind->left, SW_FACTOR_PASS));
}

static void reshape_step(sw_factors *f, side *x, side *r) {
  int64_t common = sw_gcd_i64(x->left, r->left);
  side *one = side_has_dims(x) && x->left == 1 ? x : side_has_dims(r) && r->left == 1 ? r : NULL;
  if (one) {
    take_of_side(f, one, sw_factor(f, 1, SW_FACTOR_PASS));
  } else if (x->done != r->done) {
    catch_up(f, x->done < r->done ? x : r, x->done < r->done ? r : x);
  } else if (common > 1) {
    int factor = sw_factor(f, common, SW_FACTOR_PASS);
    take_of_side(f, x, factor);
    take_of_side(f, r, factor);
  } else {
    take_of_side(f, x, sw_factor(f, x->left, SW_FACTOR_PASS));
    take_of_side(f, r, sw_factor(f, r->left, SW_FACTOR_PASS));
  }
}

/* Maps stop where factors do not meet; here those behind are shared, too, and those that are not get names. */
bool sw_factors_hook_reshape(sw_factors *f) {
  side x = {.type = f->type[0], .tensor = 0, .done = 1}, r = {.type = f->type[1], .tensor = 1, .done = 1};
  if (sw_type_elements(x.type) <= 0) return false;
  begin_dim(&x, 0);
  begin_dim(&r, 0);
  while ((side_has_dims(&x) || side_has_dims(&r)) && !f->full) reshape_step(f, &x, &r);
  return true;
}

/* A concatenation of slices may be a rotation. */
static bool joins_slices(const sw_factors *f) {
  int slices = 0;
  bool one = true;
  sw_id whole = -1;
  for (int i = 0; i < f->op->n_operands; i++) {
    const sw_op *by = sw_value_maker(f->g, f->op->operands[i]);
    bool slice = by && by->code == SW_OP_SLICE;
    sw_id of = slice ? by->operands[0] : f->op->operands[i];
    slices += slice;
    one = one && (whole < 0 || of == whole);
    whole = of;
  }
  return slices == f->op->n_operands || (slices > 0 && one);
}

bool sw_factors_hook_concatenate(sw_factors *f) {
  sw_factors_of_dims(f);
  int joined = sw_factor_of_dim(f, f->rule.n_operands, (int)sw_op_int(f->op, SW_ATTR_DIM, 0));
  f->rule.kind[joined] = joins_slices(f) ? SW_FACTOR_PERMUTATION : SW_FACTOR_REPLICATE;
  return true;
}

/* A dim of which a part is updated, and the part: at a place known beforehand it passes through. */
bool sw_factors_hook_dynamic_update_slice(sw_factors *f) {
  bool known = true;
  for (int i = 2; i < f->op->n_operands; i++) {
    const sw_op *by = sw_value_maker(f->g, f->op->operands[i]);
    known = known && by && by->code == SW_OP_CONSTANT;
  }
  for (int k = 0; k < f->type[0]->rank; k++) {
    (void)sw_factor_of_dim(f, 0, k);
    if (!sw_factor_is_reached(f, 1, k)) (void)sw_factor_alone(f, 1, k, known ? SW_FACTOR_PASS : SW_FACTOR_REPLICATE);
  }
  return true;
}

/* --- contractions, windows, lines --------------------------------------------------------------------------------- */

static int at_letter(const sw_factors *f, sw_attr_key layout, int letter) {
  const char *text = sw_op_text(f->op, layout, ""), *at = strchr(text, letter);
  return at ? (int)(at - text) : 0;
}

/* A dim that takes no part. */
static void leave_out_dim(sw_factors *f, int tensor, int dim) {
  f->rule.size[sw_factor_alone(f, tensor, dim, SW_FACTOR_PASS)] = 1;
}

/* A spatial dim is as many windows as the result has, or as long a kernel, whichever are more, times what it has room
 * for of the other. */
static void spatial_dim(sw_factors *f, int digit) {
  enum { X, KERNEL, RESULT };
  const int at[] = {at_letter(f, SW_ATTR_LHS_LAYOUT, digit), at_letter(f, SW_ATTR_RHS_LAYOUT, digit),
                    at_letter(f, SW_ATTR_OUT_LAYOUT, digit)};
  int64_t size[3];
  for (int t = 0; t < 3; t++) size[t] = f->type[t]->dims[at[t]];
  const int more = size[RESULT] >= size[KERNEL] ? RESULT : KERNEL, less = more == RESULT ? KERNEL : RESULT;
  const int major = sw_factor_of_dim(f, more, at[more]);
  f->rule.size[major] = sw_min_i64(size[X], size[more]);
  f->rule.kind[major] = more == RESULT ? SW_FACTOR_PERMUTATION : SW_FACTOR_REDUCTION;
  sw_factor_in(f, major, X, at[X]);
  const int64_t rest = size[X] / sw_max_i64(f->rule.size[major], 1);
  if (sw_min_i64(rest, size[less]) <= 1) {
    leave_out_dim(f, less, at[less]);
    return;
  }
  const int minor = sw_factor_of_dim(f, less, at[less]);
  f->rule.size[minor] = sw_min_i64(rest, size[less]);
  f->rule.kind[minor] = more == RESULT ? SW_FACTOR_REDUCTION : SW_FACTOR_PERMUTATION;
  sw_factor_in(f, minor, X, at[X]);
}

bool sw_factors_hook_convolution(sw_factors *f) {
  (void)sw_factor_of_dim(f, 0, at_letter(f, SW_ATTR_LHS_LAYOUT, 'b'));
  (void)sw_factor_of_dim(f, 2, at_letter(f, SW_ATTR_OUT_LAYOUT, 'b'));
  for (int i = 0; i < f->type[0]->rank - 2; i++) spatial_dim(f, '0' + i);
  return true;
}

/* What windows of x choose is of another size than x. */
bool sw_factors_hook_select_and_scatter(sw_factors *f) {
  for (int k = 0; k < f->type[0]->rank; k++) {
    if (!sw_factor_is_reached(f, 1, k)) (void)sw_factor_alone(f, 1, k, SW_FACTOR_REPLICATE);
    (void)sw_factor_of_dim(f, 0, k);
  }
  return true;
}

/* A dim of one element is turned around as well. */
bool sw_factors_hook_reverse(sw_factors *f) {
  int n;
  const int64_t *dims = sw_op_ints(f->op, SW_ATTR_DIMS, &n);
  sw_factors_of_dims(f);
  for (int i = 0; i < n; i++) f->rule.kind[sw_factor_of_dim(f, 0, (int)dims[i])] = SW_FACTOR_PERMUTATION;
  return true;
}

/* Nothing could take the axes of the sorted dim when all others have size 1. */
bool sw_factors_hook_sort(sw_factors *f) {
  const sw_type *x = f->type[0];
  int dim = (int)sw_op_int(f->op, SW_ATTR_DIM, 0);
  sw_factors_of_dims(f);
  f->rule.blocked[sw_factor_of_dim(f, 0, dim)] = sw_type_elements(x) == x->dims[dim];
  return true;
}

bool sw_factors_hook_rng_bits(sw_factors *f) {
  f->rule.blocked[sw_factor_of_dim(f, 0, 0)] = true;
  return true;
}

/* The matrix dim that meets the unknowns, and the one that gives them; columns of b by themselves. */
bool sw_factors_hook_triangular_solve(sw_factors *f) {
  bool left = sw_op_int(f->op, SW_ATTR_LEFT_SIDE, 1) != 0,
       turned = strcmp(sw_op_text(f->op, SW_ATTR_TRANSPOSE_A, "none"), "none") != 0;
  int rows = f->type[0]->rank - 2, columns = rows + 1;
  int solved = left ? rows : columns, wants = left == turned ? rows : columns;
  for (int k = 0; k < rows; k++) (void)sw_factor_of_dim(f, 0, k);
  int met = sw_factor_alone(f, 1, solved, SW_FACTOR_REPLICATE);
  f->rule.kind[sw_factor_of_dim(f, 2, rows + columns - solved)] = SW_FACTOR_REPLICATE;
  sw_factor_in(f, met, 0, rows + columns - wants);
  sw_factor_in(f, sw_factor_of_dim(f, 2, solved), 0, wants);
  return true;
}

/* Of a call that is not known: by loops, if it was given with a rule. */
bool sw_factors_hook_opaque(sw_factors *f) { return f->op->nest->n_loops > 0; }

/* --- gather and scatter ------------------------------------------------------------------------------------------- */

enum { WINDOWS = 2 }; /* the tensor that has positions and windows: the result of a gather, updates of a scatter */

/* One element of a dim is found by the index, more are cut out of it. */
static void gather_part(sw_factors *f, int k, int window) {
  bool found = f->type[WINDOWS]->dims[window] == 1;
  if (found) (void)sw_factor_alone(f, 0, k, SW_FACTOR_REDUCTION);
  int factor = sw_factor_of_dim(f, WINDOWS, window);
  if (found) return;
  f->rule.size[factor] = f->type[0]->dims[k];
  f->rule.blocked[factor] = true;
  sw_factor_in(f, factor, 0, k);
}

static void update_part(sw_factors *f, int k, int window) {
  f->rule.kind[sw_factor_of_dim(f, 0, k)] = SW_FACTOR_REPLICATE;
  (void)sw_factor_alone(f, WINDOWS, window, SW_FACTOR_REPLICATE);
}

static void whole_window(sw_factors *f, int k, int window) {
  int factor = sw_factor_of_dim(f, 0, k);
  f->rule.kind[factor] = SW_FACTOR_PASS;
  if (!sw_factor_is_reached(f, WINDOWS, window)) sw_factor_in(f, factor, WINDOWS, window);
}

/* In this order: positions of indices, dims of x with windows, those without, coordinates. */
static bool by_index(sw_factors *f, sw_attr_key window_dims, sw_attr_key dropped_dims,
                     void (*part)(sw_factors *f, int k, int window)) {
  const sw_type *x = f->type[0];
  int n, vector = (int)sw_op_int(f->op, SW_ATTR_INDEX_VECTOR_DIM, 0), indices = f->type[1]->rank;
  const int64_t *window = sw_op_ints(f->op, window_dims, &n);
  for (int k = 0; k < indices; k++) {
    if (k != vector) (void)sw_factor_of_dim(f, 1, k);
  }
  for (int k = 0; k < x->rank; k++) {
    if (in_list(f, dropped_dims, k) || in_list(f, SW_ATTR_OPERAND_BATCH, k)) continue;
    int at = (int)*window++;
    (f->type[WINDOWS]->dims[at] == x->dims[k] ? whole_window : part)(f, k, at);
  }
  for (int k = 0; k < x->rank; k++) {
    if (!in_list(f, dropped_dims, k)) continue;
    sw_factor_kind found = x->dims[k] > 1 ? SW_FACTOR_REDUCTION : SW_FACTOR_REPLICATE;
    if (part == gather_part) (void)sw_factor_alone(f, 0, k, found);
    if (part == update_part) f->rule.kind[sw_factor_of_dim(f, 0, k)] = SW_FACTOR_PASS;
  }
  if (vector < indices) (void)sw_factor_alone(f, 1, vector, SW_FACTOR_REPLICATE);
  return true;
}

bool sw_factors_hook_gather(sw_factors *f) {
  return by_index(f, SW_ATTR_OFFSET_DIMS, SW_ATTR_COLLAPSED_DIMS, gather_part);
}

bool sw_factors_hook_scatter(sw_factors *f) {
  return by_index(f, SW_ATTR_UPDATE_WINDOW_DIMS, SW_ATTR_INSERTED_DIMS, update_part);
}
