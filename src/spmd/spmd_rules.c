/* The lowering rules, one per opcode, and the simple ones.
 *
 * Most ops run as they are on their blocks. What a rule adds: the neutral element where padding would be reduced (a sum
 * over 10 elements on 4 devices reads blocks of 3, the last one a third full), attributes that name extents.
 */
#include <string.h>

#include "collective/scalar.h"
#include "spmd/spmd_emit.h"

#define REDUCING ((1u << SW_LOOP_REDUCTION) | (1u << SW_LOOP_MASKED))

#define sw_lower_none NULL
static const sw_lower kLower[SW_OP_COUNT] = {
#define SW_COLUMN_LOCAL(id, local, blocks) sw_lower_##local,
#include "shardwright/ops.def"
};

sw_rc sw_lower_op(sw_emit *e, sw_diag *d) {
  sw_lower lower = kLower[e->op->code];
  if (!lower) return SW_BUG(d, "no lowering rule for '%s'", sw_opcode_text(e->op->code));
  return lower(e, d);
}

static const bool kOnBlocks[SW_OP_COUNT] = {
#define SIZES_ANY true
#define SIZES_EQUAL false
#define SW_COLUMN_LOCAL(id, local, blocks) [SW_OP_##id] = SIZES_##blocks,
#include "shardwright/ops.def"
};

bool sw_op_runs_on_blocks(sw_opcode c) {
  const sw_lower l = kLower[c];
  const bool plain = l == sw_lower_same || l == sw_lower_shaped || l == sw_lower_reduce || l == sw_lower_dot;
  return plain && kOnBlocks[c] && sw_op_class_of(c) != SW_OPS_CONTROL;
}

/* A conversion to eight bits rounds by so much that it is done, even where its result is then held wider: parts that
 * are the least or greatest of all are rounded first or last to the same. */
sw_rc sw_lower_same(sw_emit *e, sw_diag *d) {
  sw_attrs at;
  sw_attrs_copy(e->op, &at);
  const bool coarse = e->op->code == SW_OP_CONVERT && sw_dtype_bits(sw_result_type(e->model, e->op, 0)->dtype) <= 8;
  bool says = e->wide && !coarse && (e->op->code == SW_OP_DOT || e->op->code == SW_OP_CONVERT);
  if (says) sw_attrs_int(&at, SW_ATTR_DTYPE, SW_F32);
  if (e->op->code != SW_OP_OPAQUE) return sw_emit_with(e, &at, d);
  sw_type types[SW_MAX_RESULTS];
  for (int i = 0; i < e->op->n_results; i++) types[i] = *sw_result_type(e->model, e->op, i);
  return sw_emit_typed(e, e->op, &at, types, d);
}

/* broadcast_in_dim and reshape say the shape that they give. */
sw_rc sw_lower_shaped(sw_emit *e, sw_diag *d) {
  sw_attrs at;
  int64_t dims[SW_MAX_RANK];
  sw_attrs_copy(e->op, &at);
  sw_emit_result_dims(e, 0, dims);
  sw_attrs_ints(&at, SW_ATTR_SHAPE, dims, sw_result_type(e->model, e->op, 0)->rank);
  return sw_emit_with(e, &at, d);
}

sw_rc sw_lower_reduce(sw_emit *e, sw_diag *d) {
  sw_reduction kind = SW_REDUCE_SUM;
  if (!sw_reduction_parse(sw_op_text(e->op, SW_ATTR_KIND, "sum"), &kind)) return SW_BUG(d, "reduce without a kind");
  SW_TRY(sw_emit_neutralise(e, 0, REDUCING, kind, d));
  return sw_lower_same(e, d);
}

/* Both factors: a poisoned one times zero would not be zero. */
sw_rc sw_lower_dot(sw_emit *e, sw_diag *d) {
  for (int i = 0; i < 2; i++) SW_TRY(sw_emit_neutralise(e, i, REDUCING, SW_REDUCE_SUM, d));
  return sw_lower_same(e, d);
}

/* The digits of a device's block: those that are cut count less, or are gone. */
static sw_rc local_digits(sw_emit *e, const sw_loop *loops, sw_affine *a, sw_diag *d) {
  sw_term *terms;
  SW_ARENA_NEW(terms, &e->scratch, a->n_terms, d);
  int64_t coef = a->terms[a->n_terms - 1].coef;
  int n = 0;
  for (int t = a->n_terms - 1; t >= 0; coef *= loops[a->terms[t--].loop].size) {
    if (loops[a->terms[t].loop].size > 1) terms[a->n_terms - ++n] = (sw_term){a->terms[t].loop, coef};
  }
  a->terms = terms + a->n_terms - n;
  a->n_terms = n;
  a->mixed_radix = n > 1 || (n == 1 && a->terms[0].coef > 1);
  return SW_OK;
}

/* A window starts at the least index that its device reaches: cut dimensions of the map count from there. */
static sw_rc local_map(sw_emit *e, int operand, const sw_loop *loops, sw_map *map, sw_diag *d) {
  sw_affine *dims;
  SW_ARENA_NEW(dims, &e->scratch, map->rank, d);
  for (int k = 0; k < map->rank; k++) {
    dims[k] = map->dims[k];
    if (dims[k].mixed_radix) SW_TRY(local_digits(e, loops, &dims[k], d));
    if (map->dims[k].mixed_radix || sw_emit_cut_loop_of_dim(e, operand, k) < 0) continue;
    dims[k].constant = 0;
    for (int t = 0; t < dims[k].n_terms; t++) {
      const sw_term *term = &dims[k].terms[t];
      if (term->coef < 0) dims[k].constant -= term->coef * (loops[term->loop].size - 1);
    }
  }
  map->dims = dims;
  return SW_OK;
}

static sw_rc local_result_map(sw_emit *e, const sw_loop *loops, sw_map *map, sw_diag *d) {
  sw_affine *dims = sw_arena_copy(&e->scratch, map->dims, (size_t)map->rank, sizeof *dims, d);
  if (!dims) return SW_E_RESOURCE;
  for (int k = 0; k < map->rank; k++) {
    if (dims[k].mixed_radix) SW_TRY(local_digits(e, loops, &dims[k], d));
  }
  map->dims = dims;
  return SW_OK;
}

static sw_rc local_maps(sw_emit *e, sw_loop_nest *local, sw_diag *d) {
  sw_map *maps;
  SW_ARENA_NEW(maps, &e->scratch, local->n_maps, d);
  memcpy(maps, local->maps, (size_t)local->n_maps * sizeof *maps);
  for (int i = 0; i < e->op->n_operands; i++) {
    SW_TRY(sw_emit_window(e, i, NULL, d));
    SW_TRY(local_map(e, i, local->loops, &maps[i], d));
  }
  for (int i = 0; i < e->op->n_results; i++) SW_TRY(local_result_map(e, local->loops, &maps[e->op->n_operands + i], d));
  local->maps = maps;
  return SW_OK;
}

/* Loops and maps are explicit: the same with the block's sizes, on windows where an operand is reached by several
 * loops or at an offset. (Strategies neither cut a loop whose index the body
 * reads nor pad a reduction loop: what a body makes of padding is not known.) */
sw_rc sw_lower_generic(sw_emit *e, sw_diag *d) {
  const sw_loop_nest *nest = e->op->nest;
  sw_loop_nest local = *nest;
  sw_loop *loops;
  SW_ARENA_NEW(loops, &e->scratch, nest->n_loops, d);
  for (int l = 0; l < nest->n_loops; l++) {
    loops[l] = nest->loops[l];
    loops[l].size = sw_emit_block(e, l);
  }
  local.loops = loops;
  SW_TRY(local_maps(e, &local, d));
  sw_attrs at;
  sw_attrs_copy(e->op, &at);
  sw_type types[SW_MAX_RESULTS];
  int64_t dims[SW_MAX_RESULTS][SW_MAX_RANK];
  for (int i = 0; i < e->op->n_results; i++) {
    types[i] = *sw_result_type(e->model, e->op, i);
    if (e->wide && sw_dtype_class_of(types[i].dtype) == SW_CLASS_FLOAT) types[i].dtype = SW_F32;
    sw_emit_result_dims(e, i, dims[i]);
    types[i].dims = dims[i];
  }
  sw_op op = *e->op;
  op.nest = &local;
  return sw_emit_typed(e, &op, &at, types, d);
}

/* --- ops that make values out of nothing ------------------------------------------------------------------------- */

/* Are all whole numbers below n exact in the type? They are when the largest odd one is, which has no bit to spare. */
static bool holds_positions(sw_dtype t, int64_t n) {
  if (n < 2 || (sw_dtype_class_of(t) != SW_CLASS_FLOAT && sw_dtype_class_of(t) != SW_CLASS_COMPLEX)) return true;
  int64_t odd = (n - 2) | 1;
  sw_scalar there = sw_scalar_convert(SW_I64, t, sw_scalar_load(SW_I64, &odd));
  return sw_scalar_convert(t, SW_F64, there).re == (double)odd;
}

/* The positions in a block and where it begins. In a type that rounds, their sum may be another number than the
 * position rounded: it is taken in whole numbers then. (Those of too few bits wrap, in a sum as well.) */
sw_rc sw_lower_iota(sw_emit *e, sw_diag *d) {
  int dim = (int)sw_op_int(e->op, SW_ATTR_DIM, 0);
  int loop = sw_emit_loop_of_dim(e, 0, dim), n = 0;
  const sw_axis_ref *refs = loop < 0 ? NULL : sw_emit_loop(e, loop, &n);
  if (!n) return sw_lower_shaped(e, d);
  const sw_type *model = sw_result_type(e->model, e->op, 0);
  bool rounds = !holds_positions(model->dtype, model->dims[dim]);
  sw_dtype counts = rounds ? SW_I64 : model->dtype;
  int64_t dims[SW_MAX_RANK];
  sw_id start, spread;
  sw_emit_result_dims(e, 0, dims);
  if (rounds)
    SW_TRY(sw_emit_iota(e, SW_I64, model->rank, dims, dim, &e->results[0], d));
  else
    SW_TRY(sw_lower_shaped(e, d));
  SW_TRY(sw_emit_shard_start(e, SW_I64, refs, n, 0, sw_emit_block(e, loop), &start, d));
  SW_TRY(sw_emit_convert(e, start, counts, &start, d));
  SW_TRY(sw_emit_broadcast(e, start, model->rank, dims, NULL, &spread, d));
  SW_TRY(sw_emit_binary(e, SW_OP_ADD, e->results[0], spread, &e->results[0], d));
  return rounds ? sw_emit_convert(e, e->results[0], model->dtype, &e->results[0], d) : SW_OK;
}

sw_rc sw_lower_constant(sw_emit *e, sw_diag *d) {
  const sw_attr *value = sw_op_attr(e->op, SW_ATTR_VALUE);
  if (value && value->u.data.splat) return sw_lower_shaped(e, d);
  SW_TRY(sw_lower_same(e, d));
  const sw_type *type = sw_result_type(e->model, e->op, 0);
  int64_t dims[SW_MAX_RANK];
  memcpy(dims, type->dims, (size_t)type->rank * sizeof *dims);
  sw_sharding s;
  sw_strategy_result(e->op, e->strategy, 0, &s);
  for (int k = 0; k < type->rank; k++) {
    int n;
    const sw_axis_ref *refs = sw_sharding_dim(&s, k, &n);
    if (!n) continue;
    sw_collective c = {.op = SW_COLL_ALL_SLICE, .n_axes = n, .dim = k};
    memcpy(c.axes, refs, (size_t)n * sizeof *refs);
    dims[k] = sw_sharding_block(&s, k, type->dims[k]);
    SW_TRY(sw_emit_collective(e, e->results[0], &c, dims, &e->results[0], d));
  }
  return SW_OK;
}

/* The first global index of this device's block of result r, per dim. */
static sw_rc starts_of_result(sw_emit *e, int r, const sw_sharding *s, sw_id *starts, sw_diag *d) {
  const sw_type *type = sw_result_type(e->model, e->op, r);
  for (int k = 0; k < type->rank; k++) {
    int n;
    const sw_axis_ref *refs = sw_sharding_dim(s, k, &n);
    SW_TRY(sw_emit_shard_start(e, SW_I64, refs, n, 0, sw_sharding_block(s, k, type->dims[k]), &starts[k], d));
  }
  return SW_OK;
}

/* Random result r of the op: operands `in`, n of them so far, get the starts; each element is a function of its global
 * position. */
static sw_rc lower_random(sw_emit *e, int r, sw_id *in, int n, sw_diag *d) {
  const sw_type *type = sw_result_type(e->model, e->op, r);
  sw_sharding s;
  sw_strategy_result(e->op, e->strategy, r, &s);
  if (s.n_refs == 0) return sw_lower_same(e, d);
  SW_TRY(starts_of_result(e, r, &s, in + n, d));
  sw_attrs at;
  int64_t dims[SW_MAX_RANK];
  sw_attrs_copy(e->op, &at);
  sw_emit_result_dims(e, r, dims);
  sw_attrs_ints(&at, SW_ATTR_SHAPE, dims, type->rank);
  sw_attrs_ints(&at, SW_ATTR_GLOBAL, type->dims, type->rank);
  return sw_emit_op_n(e, e->op->code, in, n + type->rank, &at, e->results, d);
}

sw_rc sw_lower_rng(sw_emit *e, sw_diag *d) {
  sw_id in[SW_MAX_RANK];
  return lower_random(e, 0, in, 0, d);
}

sw_rc sw_lower_rng_bits(sw_emit *e, sw_diag *d) {
  sw_id in[SW_MAX_RANK + 1] = {e->in[0]};
  return lower_random(e, 1, in, 1, d);
}
