/* gather and scatter with StableHLO's dimension numbers.
 *
 *   gather(f32[50,8], i32[4]) {offset_dims=[1], collapsed_dims=[0], start_index_map=[0], index_vector_dim=1,
 *                              sizes=[1,8]}  : f32[4,8]
 *   loops  d0 (4, parallel)  d1 (8, parallel)  d2 (50, masked sum)
 *   maps   table (d2,d1)   indices (d0)   result (d0,d1)
 *
 * A device that holds part of the table contributes the rows it has and zeros elsewhere. Scatter is the transpose: cut
 * along the table, each device drops the updates that fall elsewhere (parallel: operand and result are cut, indices and
 * updates whole); cut along the updates, each has its own and the operand counts as partial.
 */
#include <string.h>

#include "graph/ops/op_rules.h"

#include "base/checked.h"

/* What a dim of the table (operand 0) is. */
typedef enum table_dim { WINDOW, COLLAPSED, BATCH } table_dim;

/* gather: window = the result's offset dims; scatter: window = the updates' window dims. */
typedef struct numbers {
  int table_rank, index_rank, index_vector_dim;
  int n_window, n_collapsed, n_batch, n_map;
  const int64_t *window, *collapsed, *table_batch, *index_batch, *map;
} numbers;

static numbers numbers_of(const sw_rule_call *c, bool gather) {
  numbers k = {.table_rank = c->operands[0].rank, .index_rank = c->operands[1].rank};
  k.index_vector_dim = (int)sw_call_int(c, SW_ATTR_INDEX_VECTOR_DIM);
  k.window = sw_call_ints(c, gather ? SW_ATTR_OFFSET_DIMS : SW_ATTR_UPDATE_WINDOW_DIMS, &k.n_window);
  k.collapsed = sw_call_ints(c, gather ? SW_ATTR_COLLAPSED_DIMS : SW_ATTR_INSERTED_DIMS, &k.n_collapsed);
  k.table_batch = sw_call_ints(c, SW_ATTR_OPERAND_BATCH, &k.n_batch);
  k.index_batch = sw_call_ints(c, SW_ATTR_INDICES_BATCH, &k.n_batch);
  k.map = sw_call_ints(c, SW_ATTR_START_INDEX_MAP, &k.n_map);
  return k;
}

static table_dim kind_of(const numbers *k, int dim) {
  if (sw_list_has(k->collapsed, k->n_collapsed, dim)) return COLLAPSED;
  return sw_list_has(k->table_batch, k->n_batch, dim) ? BATCH : WINDOW;
}

/* Dims of the indices but the index vector's. */
static int batch_rank(const numbers *k) { return k->index_rank - (k->index_vector_dim < k->index_rank); }

static sw_rc check_lists_disjoint(const sw_rule_call *c, const numbers *k) {
  for (int i = 0; i < k->n_batch; i++) {
    int64_t dim = k->table_batch[i];
    if (sw_list_has(k->collapsed, k->n_collapsed, dim) || sw_list_has(k->map, k->n_map, dim)) {
      return SW_RULE_FAIL(c, "dim %lld is in 'operand_batch' and in another list; expected it there alone",
                          (long long)dim);
    }
    if (k->index_batch[i] == k->index_vector_dim) {
      return SW_RULE_FAIL(c, "'indices_batch' holds %d, which is 'index_vector_dim'", k->index_vector_dim);
    }
    if (c->operands[0].dims[dim] != c->operands[1].dims[k->index_batch[i]]) {
      return SW_RULE_FAIL(c, "batch dim %lld of operand 0 has size %lld and dim %lld of operand 1 %lld; expected equal",
                          (long long)dim, (long long)c->operands[0].dims[dim], (long long)k->index_batch[i],
                          (long long)c->operands[1].dims[k->index_batch[i]]);
    }
  }
  return SW_OK;
}

/* What gather and scatter have in common; `windowed` is the tensor with window dims. */
static sw_rc check_numbers(const sw_rule_call *c, bool gather, int windowed_rank, const char *windowed) {
  SW_TRY(sw_check_class(c, 1, SW_INTS));
  numbers k = numbers_of(c, gather);
  int64_t ivd = sw_call_int(c, SW_ATTR_INDEX_VECTOR_DIM);
  if (ivd < 0 || ivd > k.index_rank) {
    return SW_RULE_FAIL(c, "'index_vector_dim' is %lld; expected 0 .. %d", (long long)ivd, k.index_rank);
  }
  int64_t coordinates = ivd < k.index_rank ? c->operands[1].dims[ivd] : 1;
  if (k.n_map != coordinates) {
    return SW_RULE_FAIL(c, "'start_index_map' has %d dims and an index has %lld coordinates; expected as many", k.n_map,
                        (long long)coordinates);
  }
  SW_TRY(sw_check_sorted_dims(c, gather ? SW_ATTR_OFFSET_DIMS : SW_ATTR_UPDATE_WINDOW_DIMS, windowed_rank, windowed));
  SW_TRY(sw_check_sorted_dims(c, gather ? SW_ATTR_COLLAPSED_DIMS : SW_ATTR_INSERTED_DIMS, k.table_rank, "operand 0"));
  SW_TRY(sw_check_sorted_dims(c, SW_ATTR_OPERAND_BATCH, k.table_rank, "operand 0"));
  SW_TRY(sw_check_dims(c, SW_ATTR_INDICES_BATCH, k.index_rank, "operand 1"));
  SW_TRY(sw_check_dims(c, SW_ATTR_START_INDEX_MAP, k.table_rank, "operand 0"));
  int n_table, n_index;
  (void)sw_call_ints(c, SW_ATTR_OPERAND_BATCH, &n_table);
  (void)sw_call_ints(c, SW_ATTR_INDICES_BATCH, &n_index);
  if (n_table != n_index) {
    return SW_RULE_FAIL(c, "'operand_batch' has %d dims and 'indices_batch' %d; expected as many", n_table, n_index);
  }
  SW_TRY(check_lists_disjoint(c, &k));
  if (k.n_window != k.table_rank - k.n_collapsed - k.n_batch) {
    return SW_RULE_FAIL(c,
                        "there are %d window dims; expected %d, the dims of operand 0 that are neither dropped nor "
                        "batch",
                        k.n_window, k.table_rank - k.n_collapsed - k.n_batch);
  }
  return SW_OK;
}

static sw_rc check_slice_sizes(const sw_rule_call *c, const numbers *k) {
  SW_TRY(sw_check_list(c, SW_ATTR_SIZES, k->table_rank, 0));
  int n;
  const int64_t *sizes = sw_call_ints(c, SW_ATTR_SIZES, &n);
  for (int i = 0; i < n; i++) {
    int64_t most = kind_of(k, i) == WINDOW ? c->operands[0].dims[i] : sw_min_i64(c->operands[0].dims[i], 1);
    if (sizes[i] > most) {
      return SW_RULE_FAIL(c, "'sizes' holds %lld for dim %d of operand 0; expected at most %lld", (long long)sizes[i],
                          i, (long long)most);
    }
  }
  return SW_OK;
}

/* What the dims of the windowed tensor (gather's result, scatter's updates) stand for. */
typedef struct roles {
  int table[SW_MAX_RANK]; /* dim of the table: window and batch dims; else -1 */
  int index[SW_MAX_RANK]; /* dim of the indices: all but window dims; else -1 */
} roles;

static roles roles_of(const numbers *k, int rank) {
  roles r;
  int table = 0, index = 0;
  for (int i = 0; i < rank; i++) {
    r.table[i] = r.index[i] = -1;
    if (sw_list_has(k->window, k->n_window, i)) {
      while (kind_of(k, table) != WINDOW) table++;
      r.table[i] = table++;
      continue;
    }
    if (index == k->index_vector_dim) index++;
    r.index[i] = index++;
    for (int j = 0; j < k->n_batch; j++) {
      if (k->index_batch[j] == r.index[i]) r.table[i] = (int)k->table_batch[j];
    }
  }
  return r;
}

sw_rc sw_infer_gather(sw_rule_call *c) {
  int n;
  numbers k = numbers_of(c, true);
  int rank = batch_rank(&k) + k.n_window;
  int64_t *dims;
  SW_TRY(sw_call_result(c, c->operands[0].dtype, rank, &dims));
  SW_TRY(check_numbers(c, true, rank, "the result"));
  SW_TRY(check_slice_sizes(c, &k));
  roles r = roles_of(&k, rank);
  const int64_t *sizes = sw_call_ints(c, SW_ATTR_SIZES, &n);
  for (int i = 0; i < rank; i++) dims[i] = r.index[i] < 0 ? sizes[r.table[i]] : c->operands[1].dims[r.index[i]];
  return SW_OK;
}

void sw_nest_of_gather(const sw_rule_call *c, sw_nest_builder *b) {
  numbers k = numbers_of(c, true);
  const sw_type *x = &c->operands[0], *out = &c->results[0];
  roles r = roles_of(&k, out->rank);
  for (int i = 0; i < out->rank; i++) {
    int t = r.table[i];
    bool partial = r.index[i] < 0 && out->dims[i] != x->dims[t];
    int loop = sw_nest_loop(b, out->dims[i], partial ? SW_LOOP_WHOLE : SW_LOOP_PARALLEL);
    sw_nest_set(b, sw_nest_result(b, 0), i, loop);
    if (t >= 0 && !partial) sw_nest_set(b, 0, t, loop);
    if (r.index[i] >= 0) sw_nest_set(b, 1, r.index[i], loop);
  }
  for (int t = 0; t < x->rank; t++) {
    if (kind_of(&k, t) != COLLAPSED || !sw_list_has(k.map, k.n_map, t)) continue;
    sw_nest_set(b, 0, t, sw_nest_combining_loop(b, x->dims[t], SW_LOOP_MASKED, SW_REDUCE_SUM));
  }
  sw_nest_moves(b, 1);
}

/* Kinds of scatter: replace, or a reduction whose partial results add up. */
static bool scatter_kind(const sw_rule_call *c, sw_reduction *out) {
  *out = SW_REDUCE_GENERIC;
  const char *text = sw_call_text(c, SW_ATTR_KIND);
  if (strcmp(text, "replace") == 0) return true;
  return sw_reduction_parse(text, out) &&
         (*out == SW_REDUCE_SUM || *out == SW_REDUCE_PRODUCT || *out == SW_REDUCE_MIN || *out == SW_REDUCE_MAX);
}

sw_rc sw_infer_scatter(sw_rule_call *c) {
  const sw_type *x = &c->operands[0], *u = &c->operands[2];
  sw_reduction kind;
  if (!scatter_kind(c, &kind)) {
    return SW_RULE_FAIL(c, "'kind' is '%s'; expected sum, product, min, max or replace", sw_call_text(c, SW_ATTR_KIND));
  }
  SW_TRY(sw_check_class(c, 0, kind == SW_REDUCE_MIN || kind == SW_REDUCE_MAX ? SW_REALS : SW_ELEMENTS));
  SW_TRY(sw_check_same_dtype(c, 0, 2));
  numbers k = numbers_of(c, false);
  int rank = batch_rank(&k) + k.n_window;
  if (u->rank != rank) return SW_RULE_FAIL(c, "operand 2 (updates) has %d dims; expected %d", u->rank, rank);
  SW_TRY(check_numbers(c, false, u->rank, "operand 2"));
  roles r = roles_of(&k, u->rank);
  for (int i = 0; i < u->rank; i++) {
    bool window = r.index[i] < 0;
    int64_t want = window ? x->dims[r.table[i]] : c->operands[1].dims[r.index[i]];
    if (window ? u->dims[i] <= want : u->dims[i] == want) continue;
    return SW_RULE_FAIL(c, "dim %d of operand 2 (updates) has size %lld; expected %s%lld", i, (long long)u->dims[i],
                        window ? "at most " : "", (long long)want);
  }
  return sw_call_result_like(c, x->dtype, x);
}

/* Loops over the table's dims. A window that is moved by an index (its dim is in start_index_map) is clipped as a
 * whole at the end of the dim, so that dim is not cut. */
static void table_loops(const sw_rule_call *c, const numbers *k, const roles *r, sw_nest_builder *b) {
  const sw_type *x = &c->operands[0], *u = &c->operands[2];
  bool cut[SW_MAX_RANK] = {false};
  for (int t = 0; t < x->rank; t++) {
    bool mapped = sw_list_has(k->map, k->n_map, t);
    cut[t] = kind_of(k, t) == COLLAPSED ? mapped : !mapped;
  }
  for (int i = 0; i < u->rank; i++) {
    if (r->index[i] < 0 && u->dims[i] != x->dims[r->table[i]]) cut[r->table[i]] = false;
  }
  int first = b->n_loops;
  for (int t = 0; t < x->rank; t++) (void)sw_nest_loop(b, x->dims[t], cut[t] ? SW_LOOP_PARALLEL : SW_LOOP_WHOLE);
  sw_nest_identity(b, 0, first);
  sw_nest_identity(b, sw_nest_result(b, 0), first);
  for (int i = 0; i < u->rank; i++) {
    int t = r->table[i];
    if (t < 0) continue;
    if (r->index[i] >= 0) sw_nest_set(b, 1, r->index[i], first + t);
    if (cut[t]) sw_nest_set(b, 2, i, first + t);
  }
}

void sw_nest_of_scatter(const sw_rule_call *c, sw_nest_builder *b) {
  numbers k = numbers_of(c, false);
  const sw_type *u = &c->operands[2];
  roles r = roles_of(&k, u->rank);
  sw_reduction kind;
  bool replace = scatter_kind(c, &kind) && kind == SW_REDUCE_GENERIC;
  table_loops(c, &k, &r, b);
  for (int i = 0; i < u->rank; i++) {
    if (r.table[i] >= 0) continue;
    int loop = sw_nest_combining_loop(b, u->dims[i], replace ? SW_LOOP_WHOLE : SW_LOOP_REDUCTION, kind);
    if (!replace && !b->rc) b->loops[loop].partial_operands = 1;
    sw_nest_set(b, 1, r.index[i], loop);
    sw_nest_set(b, 2, i, loop);
  }
  if (replace) {
    sw_nest_moves(b, 5);
  } else {
    sw_nest_linear(b, 5, kind);
  }
  sw_nest_total_flops(b, replace ? 0 : (double)sw_type_elements(u));
}
