/* drop: collectives of what all their members hold alike.
 *
 *   before  y = all_reduce max [x] a       where a is the same along x      after  y stands for a
 *           y = all_reduce sum [x] a                                               y = a * (devices along x)
 *           y = to_partial [x] a    z = all_reduce sum [x] y                       z stands for a
 *           y = to_partial [x] a    z = reduce_scatter sum [x] dim=0 y             z = all_slice [x] dim=0 a
 *
 * What is the same where is read off layouts and, from there, through ops (layout.c). */
#include "collective/scalar.h"
#include "spmd/spmd_emit.h"
#include "spmd/passes/spmd_passes.h"

/* Is the reduction of equal values that value? */
static bool keeps_equals(sw_reduction k, sw_dtype t) {
  const unsigned kinds = 1u << SW_REDUCE_MIN | 1u << SW_REDUCE_MAX | 1u << SW_REDUCE_AVERAGE | 1u << SW_REDUCE_BIT_AND |
                         1u << SW_REDUCE_BIT_OR | 1u << SW_REDUCE_AND | 1u << SW_REDUCE_OR;
  return (kinds >> k & 1) || (k == SW_REDUCE_SUM && t == SW_BOOL);
}

static sw_rc add_times(sw_rewrite *r, sw_id x, int64_t times, const sw_rewrite_as *as, sw_id *out, sw_diag *d) {
  const sw_type t = *sw_rewrite_type(r, x);
  char one[16];
  sw_id in[2] = {x};
  sw_attrs at = {0};
  sw_scalar_store(t.dtype, sw_scalar_convert(SW_I64, t.dtype, sw_scalar_load(SW_I64, &times)), one);
  at.at[at.n++] = (sw_attr){.key = SW_ATTR_VALUE, .u.data = {one, true}};
  sw_attrs_int(&at, SW_ATTR_DTYPE, t.dtype);
  sw_attrs_ints(&at, SW_ATTR_SHAPE, t.dims, t.rank);
  sw_op_spec number = {.code = SW_OP_CONSTANT, .n_attrs = at.n, .attrs = at.at};
  SW_TRY(sw_rewrite_add(r, &number, &(sw_rewrite_as){as->like, SW_NO_LAYOUT}, &in[1], d));
  sw_op_spec product = {.code = SW_OP_MULTIPLY, .n_operands = 2, .operands = in};
  return sw_rewrite_add(r, &product, as, out, d);
}

/* The value that was made partial over just the axes that are reduced; -1: the operand is none. */
static sw_id before_partial(const sw_rewrite *r, const sw_op *op) {
  const sw_op *made = sw_rewrite_def(r, op->operands[0]);
  const sw_collective *c = op->collective, *m = made ? made->collective : NULL;
  if (!m || m->op != SW_COLL_TO_PARTIAL || m->dst || m->reduction != c->reduction) return -1;
  return sw_refs_same_set(m->axes, m->n_axes, c->axes, c->n_axes) ? made->operands[0] : -1;
}

static bool is_equal_reduced(const sw_rewrite *r, const sw_op *op, const uint32_t *same, sw_id old_operand) {
  const sw_collective *c = op->collective;
  const sw_dtype t = sw_rewrite_type(r, op->operands[0])->dtype;
  if (!sw_refs_within(r->to.mesh, c->axes, c->n_axes, same[old_operand])) return false;
  return keeps_equals(c->reduction, t) || c->reduction == SW_REDUCE_SUM;
}

/* What is left of a reduce_scatter of equal values, or of an all_reduce (nothing: the value). */
static sw_rc take_part(sw_rewrite *r, const sw_op *op, const sw_rewrite_as *as, sw_id x, sw_id *out, sw_diag *d) {
  sw_collective c = *op->collective;
  *out = x;
  if (c.op == SW_COLL_ALL_REDUCE) return SW_OK;
  c.op = SW_COLL_ALL_SLICE;
  return sw_rewrite_add_collective(r, x, &c, NULL, as, out, d);
}

static sw_rc drop_reduction(sw_rewrite *r, sw_id old, sw_id id, void *user, sw_diag *d) {
  const uint32_t *same = *(const uint32_t **)user;
  const sw_op op = *sw_rewrite_op(r, id);
  if (!sw_rewrite_is(r, &op, SW_COLL_ALL_REDUCE) && !sw_rewrite_is(r, &op, SW_COLL_REDUCE_SCATTER)) return SW_OK;
  const sw_op *was = &r->from->program->ops[old];
  const sw_rewrite_as as = {id, *sw_rewrite_layout(r, op.results[0])};
  const double instead = sw_rewrite_seconds(r, &op);
  double seconds = 0;
  sw_id made = before_partial(r, &op), out;
  if (made < 0 && !is_equal_reduced(r, &op, same, was->operands[0])) return SW_OK;
  SW_TRY(take_part(r, &op, &as, made < 0 ? op.operands[0] : made, &out, d));
  if (op.collective->op == SW_COLL_REDUCE_SCATTER) seconds += sw_rewrite_seconds_of(r, out);
  if (made < 0 && !keeps_equals(op.collective->reduction, sw_rewrite_type(r, out)->dtype)) {
    SW_TRY(add_times(r, out, sw_axis_refs_size(op.collective->axes, op.collective->n_axes), &as, &out, d));
    seconds += sw_rewrite_seconds_of(r, out);
  }
  if (seconds <= instead && sw_type_equal(sw_rewrite_type(r, out), sw_rewrite_type(r, op.results[0]))) {
    sw_rewrite_replace(r, was->results[0], out);
  }
  return SW_OK;
}

const sw_pass sw_pass_drop = {.name = "drop", .visit_same = drop_reduction};
