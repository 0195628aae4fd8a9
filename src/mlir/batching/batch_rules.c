/* Each op on batched operands: the same op with a dim more in front, by a table of what becomes of its lists.
 *
 *   slice {start=[1], limit=[5]} of f32[8] on 4 devices    slice {start=[0,1], limit=[4,5]} of f32[4,8]
 *   dot_general {lhs_contract=[1], rhs_contract=[0]}       {lhs_batch=[0], rhs_batch=[0], lhs_contract=[2],
 *                                                           rhs_contract=[1]}, or no batch and the same right side
 */
#include <string.h>

#include "mlir/batching/batch.h"
#include "collective/scalar.h"

/* What comes in front of a list. */
typedef enum before { NOTHING, ZERO, ONE, ALL } before;

typedef struct edit {
  sw_attr_key key;
  before front;
  bool moved; /* numbers name dims of what is batched: each is one more */
} edit;

enum { MOST_EDITS = 8, OTHERS = 1 << 30 };

/* One rule to batch an op: operands of `flat` (bits; OTHERS: the third and further ones) do not differ. */
typedef struct rule {
  uint32_t flat;
  int n_starts; /* 1: an index 0 for the new dim stands before the last operands, one for each dim */
  edit edits[MOST_EDITS];
} rule;

#define E(key, front, moved) \
  { SW_ATTR_##key, front, moved }
#define WINDOWS E(WINDOW, ONE, 0), E(STRIDES, ONE, 0), E(PAD_LOW, ZERO, 0), E(PAD_HIGH, ZERO, 0)

/* The rules that rows of ops.def name, the first that fits is taken. */
static const rule rules_broadcast[] = {{0, 0, {E(SHAPE, ALL, 0), E(DIMS, ZERO, 1)}}};
static const rule rules_permutation[] = {{0, 0, {E(PERMUTATION, ZERO, 1)}}};
static const rule rules_shape[] = {{0, 0, {E(SHAPE, ALL, 0)}}};
static const rule rules_dims[] = {{0, 0, {E(DIMS, NOTHING, 1)}}};
static const rule rules_dim[] = {{0, 0, {E(DIM, NOTHING, 1)}}};
static const rule rules_slice[] = {{0, 0, {E(START, ZERO, 0), E(LIMIT, ALL, 0), E(STRIDES, ONE, 0)}}};
static const rule rules_pad[] = {{2, 0, {E(LOW, ZERO, 0), E(HIGH, ZERO, 0), E(INTERIOR, ZERO, 0)}}};
static const rule rules_reduce_window[] = {{0, 0, {WINDOWS, E(LHS_DILATION, ONE, 0), E(RHS_DILATION, ONE, 0)}}};
static const rule rules_select_and_scatter[] = {{4, 0, {WINDOWS}}};
static const rule rules_dot[] = {
    {0, 0, {E(LHS_BATCH, ZERO, 1), E(RHS_BATCH, ZERO, 1), E(LHS_CONTRACT, NOTHING, 1), E(RHS_CONTRACT, NOTHING, 1)}}};
static const rule rules_dynamic_slice[] = {{2 | OTHERS, 1, {E(SIZES, ALL, 0)}}};
static const rule rules_dynamic_update_slice[] = {{4 | OTHERS, 1, {{0}}}};
static const rule rules_gather[] = {
    {2,
     0,
     {E(OFFSET_DIMS, ZERO, 1), E(COLLAPSED_DIMS, NOTHING, 1), E(OPERAND_BATCH, NOTHING, 1),
      E(START_INDEX_MAP, NOTHING, 1), E(SIZES, ALL, 0)}},
    {1, 0, {E(OFFSET_DIMS, NOTHING, 1), E(INDICES_BATCH, NOTHING, 1), E(INDEX_VECTOR_DIM, NOTHING, 1)}},
    {0,
     0,
     {E(OFFSET_DIMS, NOTHING, 1), E(COLLAPSED_DIMS, NOTHING, 1), E(OPERAND_BATCH, ZERO, 1), E(INDICES_BATCH, ZERO, 1),
      E(START_INDEX_MAP, NOTHING, 1), E(INDEX_VECTOR_DIM, NOTHING, 1), E(SIZES, ONE, 0)}}};
static const rule rules_scatter[] = {
    {2,
     0,
     {E(UPDATE_WINDOW_DIMS, ZERO, 1), E(INSERTED_DIMS, NOTHING, 1), E(OPERAND_BATCH, NOTHING, 1),
      E(START_INDEX_MAP, NOTHING, 1)}},
    {0,
     0,
     {E(UPDATE_WINDOW_DIMS, NOTHING, 1), E(INSERTED_DIMS, NOTHING, 1), E(OPERAND_BATCH, ZERO, 1),
      E(INDICES_BATCH, ZERO, 1), E(START_INDEX_MAP, NOTHING, 1), E(INDEX_VECTOR_DIM, NOTHING, 1)}}};

typedef sw_rc (*writer)(sw_batch *s, uint32_t set, sw_id *results);
/* What a row of ops.def says in the column "batching". */
typedef struct batching {
  bool plain, marker; /* as it is: the new dim is in the shapes alone, or there is none */
  int n_rules;
  const rule *rules;
  writer write; /* where no rule fits */
} batching;

#define BATCHING_none \
  { 0 }
#define BATCHING_PLAIN \
  { .plain = true }
#define BATCHING_MARKER \
  { .marker = true }
#define BATCHING_EDIT(name) \
  { .n_rules = sizeof rules_##name / sizeof(rule), .rules = rules_##name }
#define BATCHING_WRITE(name) \
  { .write = write_##name }
#define BATCHING_EITHER(name) \
  { .n_rules = sizeof rules_##name / sizeof(rule), .rules = rules_##name, .write = write_##name }
static sw_rc write_convolution(sw_batch *s, uint32_t set, sw_id *results);
static sw_rc write_given(sw_batch *s, uint32_t set, sw_id *results);
static sw_rc write_dynamic_slice(sw_batch *s, uint32_t set, sw_id *results);
static sw_rc write_dynamic_update_slice(sw_batch *s, uint32_t set, sw_id *results);
static sw_rc write_enter(sw_batch *s, uint32_t set, sw_id *results);
static const batching kBatchings[SW_OP_COUNT] = {
#define SW_COLUMN_BATCHING(id, batching) BATCHING_##batching,
#include "shardwright/ops.def"
};

static bool is_flat(const sw_batch *s, const sw_op *op, uint32_t mask) {
  for (int i = 0; i < op->n_operands; i++) {
    bool asked = mask >> i & 1 || (i >= 2 && (mask & OTHERS));
    if (i < 30 && asked && s->varies[op->operands[i]]) return false;
  }
  return true;
}

static const rule *rule_of(const sw_batch *s, const sw_op *op) {
  const batching *b = &kBatchings[op->code];
  for (int i = 0; i < b->n_rules; i++) {
    if (is_flat(s, op, b->rules[i].flat)) return &b->rules[i];
  }
  return NULL;
}

/* --- attributes -------------------------------------------------------------------------------------------------- */

static void copy_attrs(const sw_op *op, sw_im_attrs *a) {
  a->n = 0;
  for (int i = 0; i < op->n_attrs && a->n < SW_IM_ATTRS; i++) a->at[a->n++] = op->attrs[i];
}

static sw_rc apply_edit(sw_batch *s, const edit *e, int64_t all, sw_im_attrs *a) {
  for (int i = 0; i < a->n; i++) {
    if (a->at[i].key != e->key) continue;
    if (sw_attr_kind_of(e->key) == SW_ATTR_KIND_INT) {
      a->at[i].u.i += e->moved;
      return SW_OK;
    }
    int n = a->at[i].u.ints.n, first = e->front != NOTHING;
    int64_t *v;
    SW_ARENA_NEW(v, &s->m->scratch, n + 1, s->m->d);
    v[0] = e->front == ALL ? all : e->front == ONE;
    for (int k = 0; k < n; k++) v[first + k] = a->at[i].u.ints.at[k] + e->moved;
    a->at[i].u.ints.at = v;
    a->at[i].u.ints.n = n + first;
  }
  return SW_OK;
}

static sw_rc scalar_zero(sw_batch *s, sw_dtype t, sw_id *out) {
  return sw_batch_zeros(s, &(sw_type){.dtype = t}, NULL, out);
}

/* --- the op itself ----------------------------------------------------------------------------------------------- */

/* Under its own names; results are batched over the set. */
static sw_rc put_own(sw_batch *s, uint32_t set, int n, const sw_id *in, const sw_im_attrs *a, const sw_loop_nest *nest,
                     sw_id *results) {
  const sw_op *op = s->now;
  sw_sharding cut[SW_MAX_RESULTS];
  sw_type types[SW_MAX_RESULTS];
  bool typed = sw_op_class_of(op->code) == SW_OPS_GIVEN;
  for (int i = 0; i < op->n_results; i++) {
    const sw_type *local = &s->body->values[op->results[i]].type;
    int rank = local->rank + (set != 0);
    int64_t *dims;
    SW_ARENA_NEW(dims, &s->m->scratch, rank, s->m->d);
    dims[0] = sw_batch_size(s, set);
    for (int k = 0; k < local->rank; k++) dims[k + (set != 0)] = local->dims[k];
    types[i] = (sw_type){local->dtype, rank, dims};
    sw_batch_sharding(s, set, rank, &cut[i]);
  }
  sw_batch_op put = {.code = op->code,
                     .n = n,
                     .in = in,
                     .attrs = a,
                     .sharding = cut,
                     .own = true,
                     .nest = nest,
                     .n_types = typed ? op->n_results : 0,
                     .types = types};
  return sw_batch_put(s, &put, results);
}

/* Nothing differs: the op as it is. */
static sw_rc write_flat(sw_batch *s, sw_id *results) {
  const sw_op *op = s->now;
  sw_im_attrs a;
  sw_id *in;
  SW_ARENA_NEW(in, &s->m->scratch, op->n_operands, s->m->d);
  for (int i = 0; i < op->n_operands; i++) in[i] = s->of[op->operands[i]];
  copy_attrs(op, &a);
  bool given = sw_op_class_of(op->code) == SW_OPS_GIVEN;
  return put_own(s, 0, op->n_operands, in, &a, given ? op->nest : NULL, results);
}

/* A scalar that differs, in the shape of what it chooses from or bounds. */
static sw_rc operand_in_shape(sw_batch *s, int i, uint32_t set, const sw_type *local, sw_id *out) {
  const sw_type *is = &s->body->values[s->now->operands[i]].type;
  SW_TRY(sw_batch_operand(s, i, set, out));
  if (is->rank == local->rank) return SW_OK;
  sw_im_attrs a = {.n = 0};
  int64_t shape[SW_MAX_RANK + 1] = {sw_batch_size(s, set)}, dim = 0;
  const sw_batch_form to = sw_batch_form_over(s, set, local);
  memcpy(shape + 1, local->dims, (size_t)local->rank * sizeof *shape);
  sw_im_numbers(&a, SW_ATTR_SHAPE, shape, local->rank + 1);
  sw_im_numbers(&a, SW_ATTR_DIMS, &dim, 1);
  return sw_batch_one(s, SW_OP_BROADCAST, *out, &a, &to, out);
}

static sw_rc write_plain(sw_batch *s, uint32_t set, sw_id *results) {
  const sw_op *op = s->now;
  sw_im_attrs a;
  sw_id *in;
  SW_ARENA_NEW(in, &s->m->scratch, op->n_operands, s->m->d);
  for (int i = 0; i < op->n_operands; i++) {
    bool chosen = op->code == SW_OP_SELECT || op->code == SW_OP_CLAMP;
    const sw_type *local = &s->body->values[chosen ? op->results[0] : op->operands[i]].type;
    bool scalar = chosen && s->body->values[op->operands[i]].type.rank == 0 && local->rank > 0;
    if (scalar && !s->varies[op->operands[i]])
      in[i] = s->of[op->operands[i]];
    else
      SW_TRY(operand_in_shape(s, i, set, local, &in[i]));
  }
  copy_attrs(op, &a);
  return put_own(s, set, op->n_operands, in, &a, NULL, results);
}

/* Weights that all devices have: no batch. */
static sw_rc write_dot_by_left(sw_batch *s, uint32_t set, sw_id *results) {
  const edit contract = E(LHS_CONTRACT, NOTHING, 1);
  sw_im_attrs a;
  sw_id in[2] = {0, s->of[s->now->operands[1]]};
  SW_TRY(sw_batch_operand(s, 0, set, &in[0]));
  copy_attrs(s->now, &a);
  SW_TRY(apply_edit(s, &contract, 0, &a));
  return put_own(s, set, 2, in, &a, NULL, results);
}

static sw_rc write_by_rule(sw_batch *s, const rule *w, uint32_t set, sw_id *results) {
  const sw_op *op = s->now;
  sw_im_attrs a;
  sw_id *in;
  int n = 0, tensors = op->code == SW_OP_DYNAMIC_UPDATE_SLICE ? 2 : 1;
  SW_ARENA_NEW(in, &s->m->scratch, op->n_operands + 1, s->m->d);
  for (int i = 0; i < op->n_operands; i++) {
    bool flat = w->flat >> i & 1 || (i >= 2 && (w->flat & OTHERS));
    if (w->n_starts && i == tensors) {
      SW_TRY(scalar_zero(s, s->body->values[op->operands[i]].type.dtype, &in[n++]));
    }
    if (flat)
      in[n++] = s->of[op->operands[i]];
    else
      SW_TRY(sw_batch_operand(s, i, set, &in[n++]));
  }
  copy_attrs(op, &a);
  for (int i = 0; i < MOST_EDITS && (w->edits[i].key || w->edits[i].front || w->edits[i].moved); i++) {
    SW_TRY(apply_edit(s, &w->edits[i], sw_batch_size(s, set), &a));
  }
  return put_own(s, set, n, in, &a, NULL, results);
}

/* --- windows at starts that differ ------------------------------------------------------------------------------- */

/* The starts as rows of a matrix, one for each device. With `most` (room along each dim) clamped to it. */
static sw_rc start_rows(sw_batch *s, uint32_t set, int first, const int64_t *most, sw_id *out) {
  const sw_op *op = s->now;
  int n = op->n_operands - first;
  int64_t size = sw_batch_size(s, set);
  sw_id *rows;
  sw_sharding column;
  sw_batch_sharding(s, set, 2, &column);
  SW_ARENA_NEW(rows, &s->m->scratch, n, s->m->d);
  for (int i = 0; i < n; i++) {
    sw_im_attrs a = {.n = 0};
    _Alignas(16) unsigned char limit[16] = {0};
    sw_dtype t = s->body->values[op->operands[first + i]].type.dtype;
    sw_id v[3];
    SW_TRY(sw_batch_operand(s, first + i, set, &v[1]));
    if (most) {
      sw_scalar_store(t, sw_scalar_convert(SW_I64, t, sw_scalar_load(SW_I64, &most[i])), limit);
      SW_TRY(scalar_zero(s, t, &v[0]));
      SW_TRY(sw_batch_constant(s, &(sw_type){.dtype = t}, limit, true, NULL, &v[2]));
      SW_TRY(sw_batch_put(s, &(sw_batch_op){.code = SW_OP_CLAMP, .n = 3, .in = v}, &v[1]));
    }
    sw_im_numbers(&a, SW_ATTR_SHAPE, (int64_t[]){size, 1}, 2);
    SW_TRY(sw_batch_put(s, &(sw_batch_op){.code = SW_OP_RESHAPE, .n = 1, .in = &v[1], .attrs = &a, .sharding = &column},
                        &rows[i]));
  }
  sw_im_attrs a = {.n = 0};
  sw_im_int(&a, SW_ATTR_DIM, 1);
  *out = rows[0];
  if (n == 1) return SW_OK;
  return sw_batch_put(
      s, &(sw_batch_op){.code = SW_OP_CONCATENATE, .n = n, .in = rows, .attrs = &a, .sharding = &column}, out);
}

static void count_up(int64_t *v, int n, int64_t from) {
  for (int i = 0; i < n; i++) v[i] = from + i;
}

/* One row of starts for each device, which are dim 0 of both sides; `dims` are the others. */
static void add_row_indices(sw_im_attrs *a, const int64_t *dims, int rank) {
  static const int64_t kFront = 0;
  sw_im_numbers(a, SW_ATTR_OPERAND_BATCH, &kFront, 1);
  sw_im_numbers(a, SW_ATTR_INDICES_BATCH, &kFront, 1);
  sw_im_numbers(a, SW_ATTR_START_INDEX_MAP, dims, rank);
  sw_im_int(a, SW_ATTR_INDEX_VECTOR_DIM, 1);
}

static sw_rc write_dynamic_slice(sw_batch *s, uint32_t set, sw_id *results) {
  const sw_op *op = s->now;
  int n, rank = op->n_operands - 1;
  const int64_t *sizes = sw_op_ints(op, SW_ATTR_SIZES, &n);
  int64_t dims[SW_MAX_RANK + 1], wide[SW_MAX_RANK + 1] = {1};
  sw_im_attrs a = {.n = 0};
  sw_id in[2];
  SW_TRY(sw_batch_operand(s, 0, set, &in[0]));
  SW_TRY(start_rows(s, set, 1, NULL, &in[1]));
  count_up(dims, rank, 1);
  memcpy(wide + 1, sizes, (size_t)rank * sizeof *wide);
  sw_im_numbers(&a, SW_ATTR_OFFSET_DIMS, dims, rank);
  sw_im_numbers(&a, SW_ATTR_COLLAPSED_DIMS, NULL, 0);
  add_row_indices(&a, dims, rank);
  sw_im_numbers(&a, SW_ATTR_SIZES, wide, rank + 1);
  sw_sharding cut;
  sw_batch_sharding(s, set, rank + 1, &cut);
  return sw_batch_put(
      s, &(sw_batch_op){.code = SW_OP_GATHER, .n = 2, .in = in, .attrs = &a, .sharding = &cut, .own = true}, results);
}

static sw_rc write_dynamic_update_slice(sw_batch *s, uint32_t set, sw_id *results) {
  const sw_op *op = s->now;
  int rank = op->n_operands - 2;
  int64_t dims[SW_MAX_RANK + 1], most[SW_MAX_RANK];
  const sw_type *x = &s->body->values[op->operands[0]].type, *u = &s->body->values[op->operands[1]].type;
  sw_im_attrs a = {.n = 0};
  sw_id in[3];
  for (int k = 0; k < rank; k++) most[k] = x->dims[k] - u->dims[k];
  SW_TRY(sw_batch_operand(s, 0, set, &in[0]));
  SW_TRY(start_rows(s, set, 2, most, &in[1]));
  SW_TRY(sw_batch_operand(s, 1, set, &in[2]));
  count_up(dims, rank, 1);
  sw_im_text(&a, SW_ATTR_KIND, "replace");
  sw_im_numbers(&a, SW_ATTR_UPDATE_WINDOW_DIMS, dims, rank);
  sw_im_numbers(&a, SW_ATTR_INSERTED_DIMS, NULL, 0);
  add_row_indices(&a, dims, rank);
  sw_sharding cut;
  sw_batch_sharding(s, set, rank + 1, &cut);
  return sw_batch_put(
      s, &(sw_batch_op){.code = SW_OP_SCATTER, .n = 3, .in = in, .attrs = &a, .sharding = &cut, .own = true}, results);
}

/* --- convolutions: devices as a digit of the batch, or as groups ------------------------------------------------- */

static int letter(const sw_op *op, sw_attr_key layout, char c) {
  const char *text = sw_op_text(op, layout, ""), *at = strchr(text, c);
  return at ? (int)(at - text) : 0;
}

/* Operand or result [N, dims...] as dims with N as major digit of dim k. */
static sw_batch_form folded_form(const sw_batch_form *apart, const sw_type *local, int k) {
  sw_batch_form folded = {.n = 0};
  for (int d = 0; d < local->rank; d++) {
    sw_batch_add_dim(&folded);
    for (int a = 0; a < apart->n - local->rank && d == k; a++) {
      sw_batch_add_atom(&folded, apart->at[a].id, apart->at[a].axis, apart->at[a].size);
    }
    sw_batch_add_atom(&folded, SW_BATCH_DIM + d, -1, local->dims[d]);
  }
  return folded;
}

static sw_rc fold_operand(sw_batch *s, int i, uint32_t set, int k, sw_id *out) {
  const sw_type *local = &s->body->values[s->now->operands[i]].type;
  const sw_batch_form apart = sw_batch_form_over(s, set, local), folded = folded_form(&apart, local, k);
  SW_TRY(sw_batch_operand(s, i, set, out));
  return sw_batch_regroup(s, *out, &apart, &folded, out);
}

static sw_rc write_convolution(sw_batch *s, uint32_t set, sw_id *results) {
  const sw_op *op = s->now;
  bool batches = sw_op_int(op, SW_ATTR_BATCH_GROUPS, 1) > 1, weights = s->varies[op->operands[1]] != 0;
  bool grouped = weights || batches;
  const sw_type *local = &s->body->values[op->results[0]].type;
  sw_im_attrs a;
  sw_sharding cut;
  sw_id in[2] = {0, s->of[op->operands[1]]}, r;
  SW_TRY(fold_operand(s, 0, set, letter(op, SW_ATTR_LHS_LAYOUT, grouped && !batches ? 'f' : 'b'), &in[0]));
  if (grouped) SW_TRY(fold_operand(s, 1, set, letter(op, SW_ATTR_RHS_LAYOUT, 'o'), &in[1]));
  copy_attrs(op, &a);
  for (int i = 0; i < a.n && grouped; i++) {
    if (a.at[i].key == (batches ? SW_ATTR_BATCH_GROUPS : SW_ATTR_FEATURE_GROUPS)) a.at[i].u.i *= sw_batch_size(s, set);
  }
  const sw_batch_form apart = sw_batch_form_over(s, set, local);
  const sw_batch_form folded = folded_form(&apart, local, letter(op, SW_ATTR_OUT_LAYOUT, grouped ? 'f' : 'b'));
  sw_batch_cut(s, &folded, &cut);
  SW_TRY(
      sw_batch_put(s, &(sw_batch_op){.code = SW_OP_CONVOLUTION, .n = 2, .in = in, .attrs = &a, .sharding = &cut}, &r));
  return sw_batch_regroup(s, r, &folded, &apart, results);
}

/* --- ops with loops of their own --------------------------------------------------------------------------------- */

/* One loop more, for the devices; an op that is not known keeps its dims whole. */
static sw_rc write_given(sw_batch *s, uint32_t set, sw_id *results) {
  const sw_op *op = s->now;
  const sw_loop_nest *is = op->nest;
  sw_loop_nest *nest;
  sw_loop *loops;
  sw_map *maps;
  sw_im_attrs a;
  sw_id *in;
  int n_maps = op->n_operands + op->n_results;
  SW_ARENA_NEW(nest, &s->m->scratch, 1, s->m->d);
  SW_ARENA_NEW(loops, &s->m->scratch, is->n_loops + 1 + n_maps * SW_MAX_RANK, s->m->d);
  SW_ARENA_NEW(maps, &s->m->scratch, n_maps, s->m->d);
  SW_ARENA_NEW(in, &s->m->scratch, op->n_operands, s->m->d);
  for (int l = 0; l < is->n_loops; l++) loops[l] = is->loops[l];
  int devices = is->n_loops, n_loops = is->n_loops + 1;
  loops[devices] = (sw_loop){.size = sw_batch_size(s, set), .kind = SW_LOOP_PARALLEL};
  for (int i = 0; i < n_maps; i++) {
    sw_id v = i < op->n_operands ? op->operands[i] : op->results[i - op->n_operands];
    const sw_type *local = &s->body->values[v].type;
    bool given = is->n_maps == n_maps && is->n_loops > 0;
    bool batched = i >= op->n_operands || s->varies[v];
    sw_affine *dims;
    sw_term *terms;
    SW_ARENA_NEW_EACH(&s->m->scratch, local->rank + 1, s->m->d, dims, terms);
    terms[0] = (sw_term){devices, 1};
    if (batched) dims[0] = (sw_affine){.n_terms = 1, .terms = terms};
    for (int k = 0; k < local->rank; k++) {
      sw_affine *to = &dims[k + batched];
      if (given) *to = is->maps[i].dims[k];
      if (given || i < op->n_operands || local->dims[k] == 1) continue;
      loops[n_loops] = (sw_loop){.size = local->dims[k], .kind = SW_LOOP_WHOLE};
      terms[k + 1] = (sw_term){n_loops++, 1};
      *to = (sw_affine){.n_terms = 1, .terms = &terms[k + 1]};
    }
    maps[i] = (sw_map){local->rank + batched, dims};
    if (i >= op->n_operands) continue;
    in[i] = s->of[v];
    if (batched) SW_TRY(sw_batch_operand(s, i, set, &in[i]));
  }
  *nest = *is;
  nest->n_loops = n_loops;
  nest->n_maps = n_maps;
  nest->loops = loops;
  nest->maps = maps;
  nest->n_linear = 0;
  copy_attrs(op, &a);
  return put_own(s, set, op->n_operands, in, &a, nest, results);
}

/* --- loops and choices ------------------------------------------------------------------------------------------- */

/* What enters is batched before the loop or choice begins. */
static sw_rc spread_entering(sw_batch *s) {
  const sw_graph *g = s->body;
  const sw_op *opener = s->now;
  sw_rc rc = SW_OK;
  for (sw_id f = sw_frame_begun_by(g, (sw_id)(opener - g->ops)); f >= 0 && !rc;
       f = sw_frame_begun_by(g, g->frames[f].end)) {
    for (sw_id id = g->frames[f].begin + 1; !rc && g->ops[id].code == SW_OP_ENTER; id++) {
      s->now = &g->ops[id];
      s->base = s->body->values[s->now->results[0]].name;
      /* held here until the enter takes it */
      rc = sw_batch_operand(s, 0, s->varies[s->now->results[0]], &s->of[s->now->results[0]]);
    }
  }
  s->now = opener;
  return rc;
}

static sw_rc write_enter(sw_batch *s, uint32_t set, sw_id *results) {
  sw_id in = s->of[s->now->results[0]];
  sw_im_attrs none = {.n = 0};
  return put_own(s, set, 1, &in, &none, NULL, results);
}

/* --- which ------------------------------------------------------------------------------------------------------- */

static bool has_batch(const sw_op *op) {
  int n;
  (void)sw_op_ints(op, SW_ATTR_LHS_BATCH, &n);
  return n > 0;
}

static writer special(const sw_batch *s, const sw_op *op) {
  if (op->code == SW_OP_DOT && !s->varies[op->operands[1]] && !has_batch(op)) return write_dot_by_left;
  return rule_of(s, op) ? NULL : kBatchings[op->code].write;
}

const char *sw_batch_why_not(const sw_batch *s, const sw_op *op) {
  bool differs = false;
  for (int i = 0; i < op->n_operands; i++) differs = differs || s->varies[op->operands[i]];
  if (!differs || kBatchings[op->code].plain || sw_batch_is_collective(s, op) || special(s, op) || rule_of(s, op))
    return NULL;
  if (op->code == SW_OP_TEST) return "devices leave a loop of it at different times";
  if (op->code == SW_OP_CASE) return "devices choose different branches in it";
  return "an op in it takes a number that differs by device";
}

sw_rc sw_batch_write(sw_batch *s, uint32_t set, sw_id *results) {
  const sw_op *op = s->now;
  if (op->code == SW_OP_WHILE || op->code == SW_OP_CASE) SW_TRY(spread_entering(s));
  if (op->code == SW_OP_ENTER) return write_enter(s, set, results);
  if (!set || kBatchings[op->code].marker) return write_flat(s, results);
  writer w = special(s, op);
  if (w) return w(s, set, results);
  if (kBatchings[op->code].plain) return write_plain(s, set, results);
  const rule *known = rule_of(s, op);
  return known ? write_by_rule(s, known, set, results)
               : SW_BUG(s->m->d, "an op of a manual computation was not looked at");
}
