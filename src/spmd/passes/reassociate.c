/* reassociate: what is linear in reduced values is done on their parts, and its result is reduced, once.
 *
 *   before  p = all_reduce sum [x] a   q = all_reduce sum [x] b   z = add(p, q)
 *   after   c = add(a, b)              z = all_reduce sum [x] c
 *
 *   before  p = all_reduce max [x] a   q = all_reduce max [x] b   z = maximum(p, q)
 *   after   c = maximum(a, b)          z = all_reduce max [x] c
 *
 * Likewise with reduce_scatter, and with subtract.
 *
 * Which ops are linear in what, and in which reduction, their loop nests say: sums, scaling by what is the same on the
 * devices that are reduced over, products with it, transposes, sums along a dimension. Parts of floats of fewer bits
 * are held wider, so that the op is computed wider, too, and its result rounded once. Made where it costs less; where
 * it costs as much, only when the next op is linear, too, so that a gain behind it is found. Does not: move a reduction
 * that somebody else reads, too. */
#include "spmd/spmd_emit.h"
#include "spmd/passes/spmd_passes.h"

typedef struct association {
  sw_op op;
  sw_id id;
  sw_op reduce;      /* of the first reduced operand */
  uint32_t reduced;  /* operands */
  bool wide;         /* they were rounded behind their reductions */
  sw_followed along; /* the dimension that a reduce_scatter cuts */
  double before, after;
  sw_id in[SW_MOST_FOLLOWED];
} association;

/* The reduction that gives the value, with or without a conversion to the type that it is read in. */
static const sw_op *reduction_of(const sw_rewrite *r, const sw_op *reader, sw_id v, bool *wide, double *goes) {
  const sw_op *op = sw_rewrite_def(r, v), *narrow = NULL;
  const sw_sharding parts = {.n_partial = 1};
  *goes = 0;
  bool last = sw_rewrite_read_by_one(r, reader, v);
  if (op && op->code == SW_OP_CONVERT) {
    const sw_dtype from = sw_operand_type(r->to.program, op, 0)->dtype;
    if (from != sw_sharding_held_as(&parts, sw_result_type(r->to.program, op, 0)->dtype)) return NULL;
    if (last) *goes += sw_rewrite_seconds(r, op);
    last = last && sw_rewrite_read_by_one(r, op, op->operands[0]);
    narrow = op;
    op = sw_rewrite_def(r, op->operands[0]);
  }
  if (!sw_rewrite_is(r, op, SW_COLL_ALL_REDUCE) && !sw_rewrite_is(r, op, SW_COLL_REDUCE_SCATTER)) return NULL;
  if (last) *goes += sw_rewrite_seconds(r, op);
  *wide = narrow != NULL;
  return op;
}

static bool same_reduction(const sw_collective *a, const sw_collective *b) {
  return a->op == b->op && a->reduction == b->reduction && sw_refs_same_set(a->axes, a->n_axes, b->axes, b->n_axes) &&
         (a->op == SW_COLL_ALL_REDUCE || sw_axis_refs_equal(a->axes, a->n_axes, b->axes, b->n_axes));
}

/* Are just the operands of the linearity reduced, in its way and all alike? Adds up what goes. */
static bool fits_association(const sw_rewrite *r, association *a, const sw_linearity *l) {
  a->before = sw_rewrite_seconds(r, &a->op);
  a->reduced = l->operands;
  bool first = true;
  for (int k = 0; k < a->op.n_operands; k++) {
    bool wide, counted = false;
    double goes;
    if (!(l->operands >> k & 1)) continue;
    const sw_op *reduce = reduction_of(r, &a->op, a->op.operands[k], &wide, &goes);
    if (!reduce || reduce->collective->reduction != l->kind) return false;
    if (first) {
      a->reduce = *reduce;
      a->wide = wide;
      first = false;
    }
    if (wide != a->wide || !same_reduction(reduce->collective, a->reduce.collective)) return false;
    for (int i = 0; i < k; i++) counted = counted || a->op.operands[i] == a->op.operands[k];
    if (!counted) a->before += goes;
    a->in[k] = reduce->operands[0];
    if (reduce->collective->op == SW_COLL_REDUCE_SCATTER) {
      sw_followed along;
      if (!sw_follow(r, &a->op, k, reduce->collective->dim, &along)) return false;
      if (reduce->results[0] != a->reduce.results[0] && along.result_dim != a->along.result_dim) return false;
      a->along = along;
    }
  }
  return !first;
}

/* Can the op be done on parts in the type that these have? Parts of narrow floats are held in f32, and ops that compute
 * in the type of their operands, whatever it is, give such parts again. */
static bool gives_parts(const sw_rewrite *r, const association *a) {
  const sw_sharding parts = {.n_partial = 1};
  const sw_dtype t = sw_rewrite_type(r, a->op.results[0])->dtype;
  const sw_op *op = &a->op;
  if (!a->wide) return sw_sharding_held_as(&parts, t) == t;
  return sw_op_is_pointwise(op->code) || op->code == SW_OP_TRANSPOSE || op->code == SW_OP_RESHAPE ||
         op->code == SW_OP_BROADCAST || op->code == SW_OP_REDUCE;
}

/* Of the dimension that is scattered, before it is. */
static int64_t part_extent(const sw_rewrite *r, const association *a) {
  const sw_id part = a->reduce.operands[0];
  return sw_rewrite_extent(r, part, sw_rewrite_layout(r, part), a->reduce.collective->dim);
}

/* The other operands: the same where is reduced, of the extent that the parts have, in their type. */
static sw_rc take_others(sw_rewrite *r, association *a, const uint32_t *same, const sw_op *was, bool *ok, sw_diag *d) {
  const sw_collective *c = a->reduce.collective;
  const sw_dtype t = sw_rewrite_type(r, a->reduce.operands[0])->dtype;
  *ok = true;
  for (int k = 0; k < a->op.n_operands && *ok; k++) {
    const sw_id v = a->op.operands[k];
    const int dim = c->op == SW_COLL_REDUCE_SCATTER ? a->along.operand_dim[k] : -1;
    if (a->reduced >> k & 1) continue;
    a->in[k] = v;
    if (dim >= 0) {
      SW_TRY(sw_rewrite_resized(r, v, dim, part_extent(r, a), &a->in[k], d));
    }
    *ok = a->in[k] >= 0 && sw_refs_within(r->to.mesh, c->axes, c->n_axes, same[was->operands[k]]);
    if (!*ok || !a->wide || sw_dtype_class_of(sw_rewrite_type(r, v)->dtype) != SW_CLASS_FLOAT) continue;
    const sw_id read = a->in[k];
    SW_TRY(sw_rewrite_add_convert(r, read, t, &(sw_rewrite_as){a->id, SW_NO_LAYOUT}, &a->in[k], d));
    if (a->in[k] != read) a->after += sw_rewrite_seconds_of(r, a->in[k]);
  }
  return SW_OK;
}

/* Is the result read once, by an op that is linear, too? */
static bool goes_on(const sw_rewrite *r, sw_id old_result, sw_reduction kind) {
  const sw_value *v = &r->from->program->values[old_result];
  if (v->n_uses != 1 || v->uses[0].op < 0) return false;
  const sw_loop_nest *nest = r->from->program->ops[v->uses[0].op].nest;
  for (int i = 0; nest && i < nest->n_linear; i++) {
    if (nest->linear[i].kind == kind && nest->linear[i].operands >> v->uses[0].index & 1) return true;
  }
  return false;
}

/* The op on the parts, its result reduced; *out -1: it is no better. */
static sw_rc rebuild(sw_rewrite *r, association *a, sw_id old_result, sw_id *out, sw_diag *d) {
  sw_collective c = *a->reduce.collective;
  sw_rewrite_as as = {a->id, *sw_rewrite_layout(r, a->op.results[0])}, part = as;
  int64_t dims[SW_MAX_RANK];
  sw_id made;
  *out = -1;
  if (c.op == SW_COLL_REDUCE_SCATTER) {
    c.dim = a->along.result_dim;
    if (!sw_layout_join(&part.layout, c.dim, c.axes, c.n_axes)) return SW_OK;
    if (sw_rewrite_extent(r, a->op.results[0], &part.layout, c.dim) != part_extent(r, a)) return SW_OK;
  }
  if (as.layout.on || !sw_layout_make_partial(&part.layout, c.reduction, c.axes, c.n_axes)) return SW_OK;
  if (!sw_rewrite_block_dims(r, &part.layout, dims)) return SW_OK;
  SW_TRY(sw_rewrite_add_like(r, a->in, dims, &part, &made, d));
  a->after += sw_rewrite_seconds_of(r, made);
  SW_TRY(sw_rewrite_add_collective(r, made, &c, NULL, &as, &made, d));
  a->after += sw_rewrite_seconds_of(r, made);
  const sw_id reduced = made;
  SW_TRY(sw_rewrite_add_convert(r, reduced, sw_rewrite_type(r, a->op.results[0])->dtype, &as, &made, d));
  if (made != reduced) a->after += sw_rewrite_seconds_of(r, made);
  const double margin = a->before * 1e-9;
  const bool better = a->after < a->before - margin;
  if (better || (a->after <= a->before + margin && goes_on(r, old_result, c.reduction))) *out = made;
  return SW_OK;
}

static sw_rc reassociate_op(sw_rewrite *r, sw_id old, sw_id id, void *user, sw_diag *d) {
  const uint32_t *same = *(const uint32_t **)user;
  const sw_op *was = &r->from->program->ops[old]; /* linearities are known of sealed programs */
  const sw_loop_nest *nest = was->nest;
  if (!nest || was->n_results != 1 || was->n_operands > SW_MOST_FOLLOWED || was->collective) return SW_OK;
  if (sw_op_class_of(was->code) == SW_OPS_CONTROL || sw_op_class_of(was->code) == SW_OPS_GIVEN) return SW_OK;
  for (int i = 0; i < nest->n_linear; i++) {
    association a = {.op = *sw_rewrite_op(r, id), .id = id};
    bool ok;
    sw_id out;
    if (!fits_association(r, &a, &nest->linear[i]) || !gives_parts(r, &a)) continue;
    SW_TRY(take_others(r, &a, same, was, &ok, d));
    if (!ok) continue;
    SW_TRY(rebuild(r, &a, was->results[0], &out, d));
    if (out < 0) continue;
    sw_rewrite_replace(r, was->results[0], out);
    return SW_OK;
  }
  return SW_OK;
}

const sw_pass sw_pass_reassociate = {.name = "reassociate", .visit_same = reassociate_op};
