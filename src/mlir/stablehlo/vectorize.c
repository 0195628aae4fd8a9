/* Regions written out on tensors (vectorize.h): the walk of the importer goes through the region's block once per
 * application, its arguments bound to the tensors; an op of it that meets a scalar (a constant) gets that in the
 * tensors' shape. */
#include "mlir/stablehlo/vectorize.h"

#include "mlir/batching/batch.h"

enum { MOST_DEEP_CALLS = 16 };

/* --- which regions ----------------------------------------------------------------------------------------------- */

static uint32_t callee_block(const sw_importer *m, uint32_t op) {
  const sw_ir_op *o = &m->t->ops.at[op];
  sw_ir_span callee = sw_ir_unquoted(m->t, sw_ir_attr(m->t, o, "callee", NULL));
  uint32_t f = sw_ir_function_named(m->t, m->names, sw_ir_present(callee) ? callee : o->symbol);
  return f == SW_IR_NONE ? SW_IR_NONE : sw_ir_block_at(m->t, &m->t->ops.at[f], 0);
}

static bool op_vectorizes(const sw_importer *m, uint32_t op, uint32_t n_results, int depth) {
  const sw_ir_op *o = &m->t->ops.at[op];
  const sw_ir_row *row = sw_ir_row_of(m->t, o->name);
  if (!row) return false;
  if (o->first_region != SW_IR_NONE) return depth <= MOST_DEEP_CALLS && sw_im_control_vectorizes(m, row, op, depth);
  if (sw_ir_is_return(m->t, o)) return o->next == SW_IR_NONE && o->n_uses == n_results;
  if (row->import == sw_im_call)
    return sw_im_block_vectorizes(m, callee_block(m, op), sw_ir_result_count(m->t, o), depth + 1);
  return (row->flags & (SW_IR_SCALARS | SW_IR_SPREADS)) != 0;
}

bool sw_im_block_vectorizes(const sw_importer *m, uint32_t block, uint32_t n_results, int depth) {
  if (block == SW_IR_NONE || depth > MOST_DEEP_CALLS) return false;
  uint32_t last = SW_IR_NONE;
  for (uint32_t i = m->t->blocks.at[block].first_op; i != SW_IR_NONE; i = m->t->ops.at[i].next) {
    if (!op_vectorizes(m, i, n_results, depth)) return false;
    last = i;
  }
  return last != SW_IR_NONE && sw_ir_is_return(m->t, &m->t->ops.at[last]);
}

/* Slots are numbered in the order of the text: what is from around the block stands before it. */
static bool reads_outside(const sw_importer *m, uint32_t block) {
  const sw_ir_block *b = &m->t->blocks.at[block];
  uint32_t first = m->names->block[block], end = m->t->regions.at[b->region].text.end;
  for (uint32_t i = b->first_op; i < m->t->ops.n && m->t->ops.at[i].text.at < end; i++) {
    const sw_ir_op *o = &m->t->ops.at[i];
    for (uint32_t k = 0; k < o->n_uses; k++) {
      if (m->names->use[o->first_use + k] < first) return true;
    }
  }
  return false;
}

sw_rc sw_im_open_body(sw_importer *m, uint32_t op, uint32_t region, uint32_t n_args, uint32_t n_results,
                      sw_im_body *out, bool *vectorizes) {
  uint32_t block = region == SW_IR_NONE ? SW_IR_NONE : m->t->regions.at[region].first_block;
  sw_ir_span name;
  const sw_ir_row *applied = region == SW_IR_NONE ? sw_im_applied(m, sw_im_op(m, op), &name) : NULL;
  *out = (sw_im_body){.op = op, .block = block, .applied = applied};
  *vectorizes =
      applied && n_args == 2 && n_results == 1 && applied->import == sw_im_simple && applied->most_operands == 2;
  if (applied || block == SW_IR_NONE) return SW_OK;
  if (m->t->blocks.at[block].n_args != n_args || n_results > SW_MAX_RESULTS) return SW_OK;
  out->captures = reads_outside(m, block);
  *vectorizes = sw_im_block_vectorizes(m, block, n_results, 0);
  if (*vectorizes) return SW_OK;
  SW_TRY(sw_batch_open_region(m, op, block, n_args, n_results, &out->inside));
  *vectorizes = out->inside != NULL;
  return SW_OK;
}

sw_rc sw_im_open_body_repeat(const sw_im_body *b, sw_im_repeat *l, int64_t trips, sw_id first, int64_t limit,
                             sw_id *values, int n) {
  l->op = b->op;
  if (!b->captures) return sw_im_open_repeat(l, trips, first, limit, values, n, NULL, 0);
  sw_ir_span text = l->m->t->regions.at[l->m->t->blocks.at[b->block].region].text;
  return sw_im_open_repeat(l, trips, first, limit, values, n, &text, l->m->names->block[b->block]);
}

/* --- applying one ------------------------------------------------------------------------------------------------ */

static sw_rc import_vectorized(sw_importer *m, uint32_t op) {
  const sw_ir_row *row = sw_ir_row_of(m->t, sw_im_op(m, op)->name);
  if (sw_im_op(m, op)->first_region != SW_IR_NONE) return sw_im_vectorized_control(m, row, op);
  return row->flags & SW_IR_SPREADS ? sw_im_identity(m, row, op) : row->import(m, row, op);
}

sw_rc sw_im_run_vectorized(sw_importer *m, uint32_t op, uint32_t block, const sw_id *args, sw_id *out, uint32_t *n) {
  return sw_im_run_block(m, op, block, args, import_vectorized, out, n);
}

sw_rc sw_im_apply(sw_importer *m, const sw_im_body *b, const sw_id *args, const sw_type *shape, sw_id *out) {
  if (b->applied && sw_im_is_complex_extreme(m, b->applied, args)) {
    return sw_im_complex_extreme(m, b->op, b->applied->code == SW_OP_MAXIMUM, args, out);
  }
  if (b->applied) return sw_im_two(m, b->op, b->applied->code, args[0], args[1], out);
  if (b->inside) return sw_batch_apply_region(m, b->inside, args, shape, out);
  sw_im_vectorized *outer = m->vectorized,
                   own = {*shape, -1}; /* types of the graph move as it grows; their sizes stay */
  m->vectorized = &own;
  uint32_t n;
  SW_TRY(sw_im_run_vectorized(m, b->op, b->block, args, out, &n));
  for (uint32_t i = 0; i < n; i++) {
    if (sw_im_type(m, out[i])->rank < own.shape.rank)
      SW_TRY(sw_im_spread(m, b->op, out[i], own.shape.rank, own.shape.dims, -1, &out[i]));
  }
  m->vectorized = outer;
  return SW_OK;
}
