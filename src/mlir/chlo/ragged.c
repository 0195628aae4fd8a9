/* chlo.ragged_dot, the contraction of mixtures of experts: rows come in groups, group i with matrix i. The left side is
 * repeated once for each group, zero outside of it, and groups become one more dim of a dot_general:
 *
 *   x[m,k], w[g,k,n], sizes[g]   groups are rows          x'[g,m,k] . w[g,k,n] over g and k -> [m,n]
 *   x[m,k], y[m,n],   sizes[g]   groups are contracted    x'[g,m,k] . y[m,n] over m         -> [g,k,n]
 *
 * x'[i,j,:] = x[j,:] where sizes[0] + ... + sizes[i-1] <= j < sizes[0] + ... + sizes[i]
 */
#include <string.h>

#include "mlir/chlo/chlo.h"
#include "mlir/import/import_emit.h"
#include "base/lists.h"

typedef struct ragged {
  sw_importer *m;
  uint32_t op;
  sw_id x[3]; /* left, right, sizes */
  int n_batch, n_contract, n_ragged, n_group;
  const int64_t *left_batch, *right_batch, *left, *right, *ragged, *group;
  int rank; /* of the left side with groups */
  int64_t dims[SW_MAX_RANK];
} ragged;

static sw_rc read_lists(ragged *r) {
  const struct {
    const char *name;
    const int64_t **out;
    int *n;
  } lists[] = {{"lhs_batching_dimensions", &r->left_batch, &r->n_batch},
               {"rhs_batching_dimensions", &r->right_batch, &r->n_batch},
               {"lhs_contracting_dimensions", &r->left, &r->n_contract},
               {"rhs_contracting_dimensions", &r->right, &r->n_contract},
               {"lhs_ragged_dimensions", &r->ragged, &r->n_ragged},
               {"rhs_group_dimensions", &r->group, &r->n_group}};
  sw_ir_span all = sw_ir_attr(r->m->t, sw_im_op(r->m, r->op), "ragged_dot_dimension_numbers", NULL);
  if (!sw_ir_present(all)) return SW_IM_FAIL(r->m, r->op, "attribute 'ragged_dot_dimension_numbers' is missing");
  all = sw_ir_inside(r->m->t, all);
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    sw_ir_span v = sw_ir_entry(r->m->t, all, lists[i].name);
    int before = *lists[i].n;
    SW_TRY(sw_im_list(r->m, v, lists[i].out, lists[i].n));
    if (*lists[i].n < 0) *lists[i].n = 0;
    if (i % 2 && i < 4 && before != *lists[i].n)
      return SW_IM_FAIL(r->m, r->op, "'%s' and its other side differ in length", lists[i].name);
  }
  return SW_OK;
}

static bool in_range(const int64_t *at, int n, int rank) {
  for (int i = 0; i < n; i++) {
    if (at[i] < 0 || at[i] >= rank) return false;
  }
  return true;
}

/* Group sizes of each batch, or the same for all. */
static sw_rc check_ragged_dims(const ragged *r) {
  int left = sw_im_type(r->m, r->x[0])->rank, right = sw_im_type(r->m, r->x[1])->rank;
  const sw_type *sizes = sw_im_type(r->m, r->x[2]);
  bool fits = in_range(r->left_batch, r->n_batch, left) && in_range(r->left, r->n_contract, left) &&
              in_range(r->right_batch, r->n_batch, right) && in_range(r->right, r->n_contract, right) &&
              in_range(r->ragged, r->n_ragged, left) && in_range(r->group, r->n_group, right);
  if (!fits || r->n_ragged != 1 || r->n_group > 1)
    return SW_IM_FAIL(r->m, r->op,
                      "dimension numbers do not fit the operands; expected one ragged dim of the left side");
  if (sizes->rank != 1 && sizes->rank != 1 + r->n_batch)
    return SW_IM_FAIL(r->m, r->op, "group sizes have %d dims; expected 1, or %d with batches", sizes->rank,
                      1 + r->n_batch);
  return left < SW_MAX_RANK ? SW_OK : SW_IM_FAIL(r->m, r->op, "the left side has too many dims");
}

/* Numbers of groups [b..,g] in the shape of the repeated left side. */
static sw_rc over_all(const ragged *r, sw_id x, sw_id *out) {
  int64_t dims[SW_MAX_RANK];
  const sw_type t = *sw_im_type(r->m, x);
  sw_im_attrs a = {.n = 0};
  for (int i = 0; i + 1 < t.rank; i++) dims[i] = 1 + r->left_batch[i];
  dims[t.rank - 1] = 0;
  sw_im_shape(&a, &(sw_type){t.dtype, r->rank, r->dims});
  sw_im_numbers(&a, SW_ATTR_DIMS, dims, t.rank);
  return sw_im_help(r->m, r->op, SW_OP_BROADCAST, 1, &x, &a, out);
}

/* Which rows are in which group. */
static sw_rc emit_group_mask(const ragged *r, sw_id *out) {
  const sw_type t = *sw_im_type(r->m, r->x[2]);
  sw_id ends, starts, at, after, before;
  sw_im_attrs a = {.n = 0};
  sw_im_int(&a, SW_ATTR_DIM, t.rank - 1);
  sw_im_text(&a, SW_ATTR_KIND, "sum");
  SW_TRY(sw_im_help(r->m, r->op, SW_OP_CUMULATIVE, 1, &r->x[2], &a, &ends));
  SW_TRY(sw_im_two(r->m, r->op, SW_OP_SUBTRACT, ends, r->x[2], &starts));
  SW_TRY(over_all(r, ends, &ends));
  SW_TRY(over_all(r, starts, &starts));
  SW_TRY(sw_im_positions(r->m, r->op, t.dtype, r->rank, r->dims, 1 + r->ragged[0], &at));
  SW_TRY(sw_im_compared(r->m, r->op, "ge", at, starts, &after));
  SW_TRY(sw_im_compared(r->m, r->op, "lt", at, ends, &before));
  return sw_im_two(r->m, r->op, SW_OP_AND, after, before, out);
}

static sw_rc repeated_left(ragged *r, sw_id *out) {
  const sw_type t = *sw_im_type(r->m, r->x[0]), sizes = *sw_im_type(r->m, r->x[2]);
  int64_t dims[SW_MAX_RANK];
  sw_id inside, all, zero;
  r->rank = t.rank + 1;
  r->dims[0] = sizes.dims[sizes.rank - 1];
  for (int i = 0; i < t.rank; i++) {
    r->dims[1 + i] = t.dims[i];
    dims[i] = 1 + i;
  }
  SW_TRY(emit_group_mask(r, &inside));
  sw_im_attrs a = {.n = 0};
  sw_im_shape(&a, &(sw_type){t.dtype, r->rank, r->dims});
  sw_im_numbers(&a, SW_ATTR_DIMS, dims, t.rank);
  SW_TRY(sw_im_help(r->m, r->op, SW_OP_BROADCAST, 1, &r->x[0], &a, &all));
  SW_TRY(sw_im_number(r->m, r->op, t.dtype, 0, r->rank, r->dims, &zero));
  return sw_im_choose(r->m, r->op, inside, all, zero, out);
}

/* Groups come first in the result, batches first in what dot_general gives. */
static sw_rc groups_first(const ragged *r, const sw_im_add *dot) {
  int64_t order[SW_MAX_RANK];
  sw_id product;
  sw_im_attrs a = {.n = 0};
  SW_TRY(sw_im_help(r->m, r->op, dot->code, dot->n_operands, dot->operands, dot->attrs, &product));
  int rank = sw_im_type(r->m, product)->rank;
  for (int i = 0; i < rank; i++) order[i] = i == 0 ? r->n_batch : i <= r->n_batch ? i - 1 : i;
  sw_im_numbers(&a, SW_ATTR_PERMUTATION, order, rank);
  return sw_im_emit(r->m, r->op,
                    &(sw_im_add){.code = SW_OP_TRANSPOSE, .n_operands = 1, .operands = &product, .attrs = &a}, NULL);
}

static sw_rc contract(ragged *r, bool grouped) {
  int64_t batch[SW_MAX_RANK], left[SW_MAX_RANK], right[SW_MAX_RANK];
  sw_id x[2] = {r->x[0], r->x[1]};
  bool plain =
      sw_list_has(r->left_batch, r->n_batch, r->ragged[0]); /* batches in groups: no row meets another's matrix */
  int n = r->n_contract, shift = !plain;
  sw_type t;
  if (!plain) SW_TRY(repeated_left(r, &x[0]));
  for (int i = 0; i < r->n_batch; i++) batch[i] = shift + r->left_batch[i];
  for (int i = 0; i < n; i++) left[i] = shift + r->left[i], right[i] = r->right[i];
  if (grouped) left[n] = 0, right[n++] = r->group[0];
  SW_TRY(sw_im_result_type(r->m, r->op, 0, &t));
  sw_im_attrs a = {.n = 0};
  sw_im_numbers(&a, SW_ATTR_LHS_BATCH, batch, r->n_batch);
  sw_im_numbers(&a, SW_ATTR_RHS_BATCH, r->right_batch, r->n_batch);
  sw_im_numbers(&a, SW_ATTR_LHS_CONTRACT, left, n);
  sw_im_numbers(&a, SW_ATTR_RHS_CONTRACT, right, n);
  sw_im_int(&a, SW_ATTR_DTYPE, t.dtype);
  const sw_im_add dot = {.code = SW_OP_DOT, .n_operands = 2, .operands = x, .attrs = &a};
  return !plain && !grouped && r->n_batch ? groups_first(r, &dot) : sw_im_emit(r->m, r->op, &dot, NULL);
}

sw_rc sw_im_ragged_dot(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  ragged r = {.m = m, .op = op};
  SW_TRY(sw_im_operand_count(m, op, 3, 3));
  for (uint32_t i = 0; i < 3; i++) r.x[i] = sw_im_operand(m, op, i);
  SW_TRY(read_lists(&r));
  SW_TRY(check_ragged_dims(&r));
  bool over_rows =
      !sw_list_has(r.left_batch, r.n_batch, r.ragged[0]) && !sw_list_has(r.left, r.n_contract, r.ragged[0]);
  if (over_rows != (r.n_group == 1))
    return SW_IM_FAIL(m, op, "the right side has %d group dims; expected %d", r.n_group, over_rows);
  return contract(&r, over_rows);
}
