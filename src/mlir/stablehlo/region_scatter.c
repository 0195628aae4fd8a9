/* scatter with any region and any number of inputs, and select_and_scatter with regions of its own (vectorize.h).
 *
 * One index vector after the other: its updates are put into an empty tensor of the input's shape and marked in
 * another, and the region is applied everywhere, to be kept where there is a mark:
 *
 *   for k: u = scatter(0, indices[k], updates[k]); s = scatter(false, indices[k], true); x = select(s, f(x, u), x)
 *
 * When no place occurs twice (unique_indices), once for all of them. Updates out of bounds are dropped by both
 * scatters.
 *
 * select_and_scatter is a reduction over windows that carries along where each element is, then a scatter to there.
 */
#include "mlir/stablehlo/vectorize.h"
#include "base/lists.h"

#include <string.h>

typedef struct scattering {
  sw_importer *m;
  uint32_t op;
  sw_im_body body;
  int n;                      /* inputs */
  const sw_im_attrs *numbers; /* of the scatter, as the graph has them, without its kind */
  sw_type table, updates;     /* of inputs; of the updates */
  sw_id indices, update[SW_MAX_RESULTS];
} scattering;

static const int64_t *scatter_numbers_of(const scattering *s, sw_attr_key k, int *n) {
  for (int i = 0; i < s->numbers->n; i++) {
    if (s->numbers->at[i].key != k) continue;
    *n = s->numbers->at[i].u.ints.n;
    return s->numbers->at[i].u.ints.at;
  }
  *n = 0;
  return NULL;
}

static int64_t index_dim(const scattering *s) {
  for (int i = 0; i < s->numbers->n; i++) {
    if (s->numbers->at[i].key == SW_ATTR_INDEX_VECTOR_DIM) return s->numbers->at[i].u.i;
  }
  return 0;
}

/* Updates put into a tensor of one number. */
static sw_rc put_scatter_updates(const scattering *s, sw_dtype t, sw_id indices, sw_id updates, sw_id *out) {
  sw_im_attrs a = *s->numbers;
  sw_id empty;
  sw_im_text(&a, SW_ATTR_KIND, "replace");
  SW_TRY(sw_im_number(s->m, s->op, t, 0, s->table.rank, s->table.dims, &empty));
  return sw_im_help(s->m, s->op, SW_OP_SCATTER, 3, (sw_id[]){empty, indices, updates}, &a, out);
}

/* x with the updates of `indices` combined into it; no place may occur twice. */
static sw_rc apply_updates(const scattering *s, sw_id indices, const sw_id *updates, sw_id *x) {
  sw_id args[2 * SW_MAX_RESULTS], y[SW_MAX_RESULTS], marks, marked;
  sw_type t = *sw_im_type(s->m, updates[0]);
  SW_TRY(sw_im_number(s->m, s->op, SW_BOOL, 1, t.rank, t.dims, &marks));
  SW_TRY(put_scatter_updates(s, SW_BOOL, indices, marks, &marked));
  for (int i = 0; i < s->n; i++) {
    args[i] = x[i];
    SW_TRY(put_scatter_updates(s, sw_im_type(s->m, x[i])->dtype, indices, updates[i], &args[s->n + i]));
  }
  SW_TRY(sw_im_apply(s->m, &s->body, args, &s->table, y));
  for (int i = 0; i < s->n; i++) SW_TRY(sw_im_choose(s->m, s->op, marked, y[i], x[i], &x[i]));
  return SW_OK;
}

/* --- the loop ---------------------------------------------------------------------------------------------------- */

/* Dims of the updates that count index vectors, and those of the indices, in the same order. */
typedef struct counted {
  int n;
  int update_dim[SW_MAX_RANK], index_dim[SW_MAX_RANK];
  int64_t size[SW_MAX_RANK], total;
} counted;

static sw_rc find_counted(const scattering *s, counted *c) {
  const sw_type *indices = sw_im_type(s->m, s->indices);
  int n_window, at = 0;
  const int64_t *window = scatter_numbers_of(s, SW_ATTR_UPDATE_WINDOW_DIMS, &n_window), vector = index_dim(s);
  *c = (counted){.total = 1};
  for (int k = 0; k < s->updates.rank; k++) {
    if (sw_list_has(window, n_window, k)) continue;
    at += at == vector;
    if (at >= indices->rank || indices->dims[at] != s->updates.dims[k]) break;
    c->update_dim[c->n] = k;
    c->index_dim[c->n] = at++;
    c->size[c->n++] = s->updates.dims[k];
    c->total *= s->updates.dims[k];
  }
  at += at == vector && at < indices->rank;
  if (at == indices->rank && c->n + n_window == s->updates.rank) return SW_OK;
  return SW_IM_FAIL(s->m, s->op,
                    "the updates do not have the dims of the indices, but for dim %lld, beside their windows",
                    (long long)vector);
}

/* The coordinates of number `k` as scalars. */
static sw_rc coordinates_of_number(const scattering *s, const counted *c, sw_id k, sw_id *at) {
  for (int i = c->n - 1; i >= 0; i--) {
    sw_id size;
    SW_TRY(sw_im_number(s->m, s->op, SW_I64, (double)c->size[i], 0, NULL, &size));
    SW_TRY(sw_im_two(s->m, s->op, SW_OP_REMAINDER, k, size, &at[i]));
    SW_TRY(sw_im_two(s->m, s->op, SW_OP_DIVIDE, k, size, &k));
  }
  return SW_OK;
}

/* x at those coordinates of the listed dims, all of the others. */
static sw_rc slice_at_coordinates(const scattering *s, sw_id x, const counted *c, const int *dims, const sw_id *at,
                                  sw_id *out) {
  sw_type t = *sw_im_type(s->m, x);
  sw_id in[SW_MAX_RANK + 1] = {x}, zero;
  int64_t sizes[SW_MAX_RANK];
  SW_TRY(sw_im_number(s->m, s->op, SW_I64, 0, 0, NULL, &zero));
  for (int k = 0; k < t.rank; k++) {
    in[k + 1] = zero;
    sizes[k] = t.dims[k];
  }
  for (int i = 0; i < c->n; i++) {
    in[dims[i] + 1] = at[i];
    sizes[dims[i]] = 1;
  }
  sw_im_attrs a = {.n = 0};
  sw_im_numbers(&a, SW_ATTR_SIZES, sizes, t.rank);
  return sw_im_help(s->m, s->op, SW_OP_DYNAMIC_SLICE, t.rank + 1, in, &a, out);
}

/* Batch dims pair a dim of the input with one of the indices: an index vector then says that coordinate, too. */
static sw_rc spell_batch_dims(scattering *s, sw_im_attrs *numbers) {
  int n_table, n_index, n_inserted, n_map;
  const int64_t *table = scatter_numbers_of(s, SW_ATTR_OPERAND_BATCH, &n_table);
  const int64_t *index = scatter_numbers_of(s, SW_ATTR_INDICES_BATCH, &n_index);
  const int64_t *inserted = scatter_numbers_of(s, SW_ATTR_INSERTED_DIMS, &n_inserted);
  const int64_t *map = scatter_numbers_of(s, SW_ATTR_START_INDEX_MAP, &n_map);
  if (!n_table || n_table != n_index || n_map + n_table > SW_MAX_RANK) return SW_OK;
  int64_t *new_map, *new_inserted, dims[SW_MAX_RANK];
  SW_ARENA_NEW_EACH(&s->m->scratch, SW_MAX_RANK, s->m->d, new_map, new_inserted);
  sw_type t = *sw_im_type(s->m, s->indices);
  int vector = (int)index_dim(s), rank = t.rank + (vector == t.rank);
  for (int k = 0; k < rank; k++) dims[k] = k == vector ? 1 : t.dims[k];
  if (rank > t.rank) SW_TRY(sw_im_reshaped(s->m, s->op, s->indices, rank, dims, &s->indices));
  sw_id parts[SW_MAX_RANK + 1] = {s->indices};
  for (int i = 0; i < n_map; i++) new_map[i] = map[i];
  for (int i = 0; i < n_table; i++) {
    new_map[n_map + i] = table[i];
    SW_TRY(sw_im_positions(s->m, s->op, t.dtype, rank, dims, index[i], &parts[i + 1]));
  }
  sw_im_attrs a = {.n = 0};
  sw_im_int(&a, SW_ATTR_DIM, vector);
  SW_TRY(sw_im_help(s->m, s->op, SW_OP_CONCATENATE, n_table + 1, parts, &a, &s->indices));
  int n = 0;
  for (int k = 0; k < s->table.rank; k++) {
    if (sw_list_has(inserted, n_inserted, k) || sw_list_has(table, n_table, k)) new_inserted[n++] = k;
  }
  for (int i = 0; i < numbers->n; i++) {
    sw_attr *at = &numbers->at[i];
    if (at->key == SW_ATTR_OPERAND_BATCH || at->key == SW_ATTR_INDICES_BATCH) at->u.ints.n = 0;
    if (at->key == SW_ATTR_START_INDEX_MAP) at->u.ints.at = new_map, at->u.ints.n = n_map + n_table;
    if (at->key == SW_ATTR_INSERTED_DIMS) at->u.ints.at = new_inserted, at->u.ints.n = n;
  }
  return SW_OK;
}

static sw_rc scatter_one_by_one(const scattering *s, sw_id *x) {
  counted c;
  sw_im_repeat l = {.m = s->m};
  sw_id first, one, next, at[SW_MAX_RANK], in[1 + 2 * SW_MAX_RESULTS] = {s->indices};
  sw_id entered[SW_MAX_RESULTS], update[SW_MAX_RESULTS], indices;
  SW_TRY(find_counted(s, &c));
  SW_TRY(sw_im_number(s->m, s->op, SW_I64, 0, 0, NULL, &first));
  for (int i = 0; i < s->n; i++) {
    in[1 + 2 * i] = x[i];
    in[2 + 2 * i] = s->update[i];
  }
  SW_TRY(sw_im_open_body_repeat(&s->body, &l, c.total, first, c.total, in, 1 + 2 * s->n));
  SW_TRY(coordinates_of_number(s, &c, l.counter, at));
  SW_TRY(slice_at_coordinates(s, in[0], &c, c.index_dim, at, &indices));
  for (int i = 0; i < s->n; i++) {
    x[i] = entered[i] = in[1 + 2 * i];
    SW_TRY(slice_at_coordinates(s, in[2 + 2 * i], &c, c.update_dim, at, &update[i]));
  }
  SW_TRY(apply_updates(s, indices, update, x));
  SW_TRY(sw_im_number(s->m, s->op, SW_I64, 1, 0, NULL, &one));
  SW_TRY(sw_im_two(s->m, s->op, SW_OP_ADD, l.counter, one, &next));
  return sw_im_close_repeat(&l, next, entered, x, s->n);
}

/* --- scatter ----------------------------------------------------------------------------------------------------- */

static sw_rc scatter_by_body(scattering *s, bool unique, sw_id *x) {
  s->table = *sw_im_type(s->m, x[0]);
  s->updates = *sw_im_type(s->m, s->update[0]);
  if (sw_type_elements(&s->updates) == 0) return SW_OK;
  if (unique) return apply_updates(s, s->indices, s->update, x);
  sw_im_attrs numbers = *s->numbers;
  scattering spelled = *s;
  SW_TRY(spell_batch_dims(&spelled, &numbers));
  spelled.numbers = &numbers;
  return scatter_one_by_one(&spelled, x);
}

sw_rc sw_im_scatter_by_region(sw_importer *m, uint32_t op, const sw_im_attrs *numbers, bool unique, bool *done) {
  const sw_ir_op *o = sw_im_op(m, op);
  uint32_t n = (o->n_uses - 1) / 2;
  scattering s = {.m = m, .op = op, .n = (int)n, .numbers = numbers};
  sw_id x[SW_MAX_RESULTS];
  *done = o->n_uses == 2 * n + 1 && n >= 1 && n <= SW_MAX_RESULTS && sw_ir_result_count(m->t, o) == n;
  if (*done) SW_TRY(sw_im_open_body(m, op, o->first_region, 2 * n, n, &s.body, done));
  if (!*done) return SW_OK;
  s.indices = sw_im_operand(m, op, n);
  for (uint32_t i = 0; i < n; i++) {
    x[i] = sw_im_operand(m, op, i);
    s.update[i] = sw_im_operand(m, op, n + 1 + i);
    SW_TRY(sw_im_reduced_as(m, op, i, &x[i]));
    SW_TRY(sw_im_reduced_as(m, op, i, &s.update[i]));
  }
  SW_TRY(scatter_by_body(&s, unique, x));
  return sw_im_results_are(m, op, x, n);
}

/* --- select_and_scatter ------------------------------------------------------------------------------------------ */

/* A dim in which windows are single elements is one of the batch. */
static bool has_windows(const sw_im_window *w, int k) {
  const int64_t *padding = w->padding + 2 * (size_t)k;
  return w->sizes[k] != 1 || w->strides[k] != 1 || padding[0] || padding[1];
}

/* Where in x each window's element is, as the index vectors of a scatter, coordinates behind each other in a last dim;
 * out of bounds for windows without any. */
static sw_rc selected_places(const scattering *s, const sw_im_body *select, const sw_im_window *w, sw_id x,
                             sw_id *indices, bool *empty) {
  sw_type t = s->table, said = s->updates;
  sw_id part[SW_MAX_RANK + 2] = {x}, none;
  int64_t dims[SW_MAX_RANK];
  int n = 1;
  for (int k = 0; k < t.rank; k++) {
    if (has_windows(w, k)) SW_TRY(sw_im_positions(s->m, s->op, SW_I64, t.rank, t.dims, k, &part[n++]));
  }
  SW_TRY(sw_im_number(s->m, s->op, SW_BOOL, 1, t.rank, t.dims, &part[n++]));
  SW_TRY(sw_im_select_in_windows(s->m, select, w, &said, n, part, empty));
  if (*empty) return SW_OK;
  SW_TRY(sw_im_number(s->m, s->op, SW_I64, -1, said.rank, said.dims, &none));
  for (int k = 0; k < said.rank; k++) dims[k] = said.dims[k];
  dims[said.rank] = 1;
  for (int i = 1; i < n - 1; i++) {
    SW_TRY(sw_im_choose(s->m, s->op, part[n - 1], part[i], none, &part[i]));
    SW_TRY(sw_im_reshaped(s->m, s->op, part[i], said.rank + 1, dims, &part[i]));
  }
  sw_im_attrs a = {.n = 0};
  sw_im_int(&a, SW_ATTR_DIM, said.rank);
  return sw_im_help(s->m, s->op, SW_OP_CONCATENATE, n - 2, part + 1, &a, indices);
}

/* The numbers of that scatter; true: no two windows meet. */
static bool numbers_of_pool(const sw_im_window *w, int64_t *batch, int64_t *with_windows, sw_im_attrs *a) {
  int n = 0, n_batch = 0;
  bool apart = true;
  for (int k = 0; k < w->n; k++) {
    if (has_windows(w, k))
      with_windows[n++] = k;
    else
      batch[n_batch++] = k;
    apart = apart && w->strides[k] >= w->sizes[k];
  }
  sw_im_numbers(a, SW_ATTR_OPERAND_BATCH, batch, n_batch);
  sw_im_numbers(a, SW_ATTR_INDICES_BATCH, batch, n_batch);
  sw_im_numbers(a, SW_ATTR_START_INDEX_MAP, with_windows, n);
  sw_im_numbers(a, SW_ATTR_INSERTED_DIMS, with_windows, n);
  sw_im_numbers(a, SW_ATTR_UPDATE_WINDOW_DIMS, NULL, 0);
  sw_im_int(a, SW_ATTR_INDEX_VECTOR_DIM, w->n);
  return apart;
}

/* Both regions can be written out, or the second one is a known reduction; there is a dim with windows. */
static sw_rc open_pool(scattering *s, const sw_im_window *w, sw_im_body *select, const char **kind, bool *done) {
  sw_reduction known;
  uint32_t region = sw_im_op(s->m, s->op)->first_region;
  bool any = false;
  for (int k = 0; k < w->n; k++) any = any || has_windows(w, k);
  *done = region != SW_IR_NONE && any && w->n < SW_MAX_RANK;
  if (*done) SW_TRY(sw_im_open_body(s->m, s->op, region, 2, 1, select, done));
  if (!*done) return SW_OK;
  uint32_t scatter = s->m->t->regions.at[region].next;
  *kind = sw_im_region_kind(s->m, scatter, &known) ? sw_reduction_text(known) : NULL;
  return *kind ? SW_OK : sw_im_open_body(s->m, s->op, scatter, 2, 1, &s->body, done);
}

sw_rc sw_im_pool_by_regions(sw_importer *m, uint32_t op, const sw_im_window *w, bool *done) {
  sw_im_attrs numbers = {.n = 0};
  scattering s = {.m = m, .op = op, .n = 1, .numbers = &numbers};
  sw_im_body select;
  const char *kind = NULL;
  bool empty;
  int64_t batch[SW_MAX_RANK], with_windows[SW_MAX_RANK];
  SW_TRY(open_pool(&s, w, &select, &kind, done));
  if (!*done) return SW_OK;
  sw_id x = sw_im_operand(m, op, 0), init = sw_im_operand(m, op, 2);
  s.update[0] = sw_im_operand(m, op, 1);
  SW_TRY(sw_im_reduced_as(m, op, 0, &s.update[0]));
  SW_TRY(sw_im_reduced_as(m, op, 0, &init));
  s.table = *sw_im_type(m, x);
  s.updates = *sw_im_type(m, s.update[0]);
  SW_TRY(selected_places(&s, &select, w, x, &s.indices, &empty));
  SW_TRY(sw_im_spread(m, op, init, s.table.rank, s.table.dims, -1, &x));
  bool apart = numbers_of_pool(w, batch, with_windows, &numbers);
  if (kind) sw_im_text(&numbers, SW_ATTR_KIND, kind);
  if (!empty && kind) SW_TRY(sw_im_help(m, op, SW_OP_SCATTER, 3, (sw_id[]){x, s.indices, s.update[0]}, &numbers, &x));
  if (!empty && !kind) SW_TRY(scatter_by_body(&s, apart, &x));
  return sw_im_results_are(m, op, &x, 1);
}
