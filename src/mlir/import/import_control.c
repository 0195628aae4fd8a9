/* while, case and if, written in line as the graph has them:
 *
 *   %r = stablehlo.while(%i = %x) cond { return p(%i, %n) } do { return f(%i, %n) }
 *
 *   while(); i = enter(x); m = enter(n); test(p(i, m)); y = yield(f(i, m)); end(); r = join(i, y)
 *
 * Values from around that a region only reads (%n) are entered as well: in its ops their slots hold the entered value,
 * and get the old one back where the region ends.
 */
#include "mlir/import/import_passes.h"
#include "mlir/import/import_emit.h"
#include "mlir/import/tuple.h"

struct sw_ir_control {
  uint32_t n;        /* values that it carries or gives, those of tuples one by one */
  uint32_t n_bound;  /* names for them: arguments of a loop's regions, results */
  const sw_id *like; /* by name: what is built as it is */
  sw_id *entered;
  uint32_t n_branches, branch; /* of a choice */
  sw_id *yielded;              /* by branch, then value */
  sw_im_captured captured;
};

static sw_rc emit_control_value(sw_importer *m, uint32_t op, sw_opcode code, sw_id value, const char *part, uint32_t i,
                                sw_id *out) {
  return sw_im_emit_one(m, op, &(sw_im_add){.code = code, .n_operands = 1, .operands = &value, .part = part}, i, out);
}

/* --- what a region reads from around it -------------------------------------------------------------------------- */

/* Slots before `first` that ops inside the text read; each once. */
sw_rc sw_im_find_captured(sw_importer *m, uint32_t op, sw_ir_span text, uint32_t first, sw_im_captured *c) {
  const sw_id *slots = sw_im_top(m)->instance->slots;
  SW_ARRAY(uint32_t) found = {0};
  sw_rc rc = SW_OK;
  const uint32_t last = sw_ir_op_from(m->t, op + 1, text.end);
  unsigned char *seen = sw_mem_alloc(m->names->n_slots[sw_im_top(m)->instance->function], 1, m->d);
  if (!seen) return SW_E_RESOURCE;
  for (uint32_t i = op + 1; i < last && !rc; i++) {
    const sw_ir_op *o = &m->t->ops.at[i];
    for (uint32_t k = 0; o->text.at >= text.at && k < o->n_uses && !rc; k++) {
      uint32_t slot = m->names->use[o->first_use + k];
      if (slot >= first || slots[slot] == -1 || seen[slot]) continue;
      seen[slot] = 1;
      rc = sw_array_push(&found, slot, m->d);
    }
  }
  sw_mem_free(seen);
  c->n = (uint32_t)found.n;
  c->slots = rc ? NULL : sw_arena_copy(&m->keep, found.at, found.n, sizeof *found.at, m->d);
  sw_array_free(&found);
  return rc ? rc : c->slots ? SW_OK : SW_E_RESOURCE;
}

sw_rc sw_im_enter_captured(sw_importer *m, uint32_t op, sw_ir_span text, uint32_t first, sw_im_captured *c) {
  sw_id *slots = sw_im_top(m)->instance->slots;
  SW_TRY(sw_im_find_captured(m, op, text, first, c));
  SW_ARENA_NEW(c->before, &m->keep, c->n, m->d);
  for (uint32_t i = 0; i < c->n; i++) {
    sw_id *slot = &slots[c->slots[i]], *inside;
    sw_im_leaves leaves;
    c->before[i] = *slot;
    SW_TRY(sw_im_leaves_of(m, slot, 1, &leaves));
    SW_ARENA_NEW(inside, &m->keep, leaves.n, m->d);
    for (uint32_t k = 0; k < leaves.n; k++)
      SW_TRY(emit_control_value(m, op, SW_OP_ENTER, leaves.at[k], "reads", 0, &inside[k]));
    const sw_id *next = inside;
    SW_TRY(sw_im_built_like(m, op, c->before[i], &next, slot));
  }
  return SW_OK;
}

void sw_im_leave_captured(sw_importer *m, const sw_im_captured *c) {
  for (uint32_t i = 0; i < c->n; i++) sw_im_top(m)->instance->slots[c->slots[i]] = c->before[i];
}

/* Tuples, and what regions of scalars read, are not told of. */
static sw_rc tell_captured(sw_importer *m, uint32_t op, uint32_t branch, const sw_im_captured *c) {
  const sw_ir_instance *at = sw_im_top(m)->instance;
  for (uint32_t i = 0; i < c->n && !m->vectorized; i++) {
    sw_id inside = at->slots[c->slots[i]];
    if (sw_im_is_tuple(inside)) continue;
    sw_ir_captured one = {op, branch, c->slots[i], at->call, m->g->values[inside].def};
    SW_TRY(sw_array_push(&m->passes->trace.captured, one, m->d));
  }
  return SW_OK;
}

/* Around region `index` of a loop or choice, which is the first of those in the text. */
static sw_rc enter_captured(sw_importer *m, uint32_t op, sw_ir_span text, uint32_t index, struct sw_ir_control *c) {
  uint32_t block = sw_ir_block_at(m->t, sw_im_op(m, op), index);
  uint32_t first = block == SW_IR_NONE ? 0 : m->names->block[block];
  SW_TRY(sw_im_enter_captured(m, op, text, first, &c->captured));
  return tell_captured(m, op, index, &c->captured);
}

/* --- walks ------------------------------------------------------------------------------------------------------- */

static sw_rc open_control_region(sw_importer *m, uint32_t op, uint32_t index, sw_ir_frame_kind kind,
                                 struct sw_ir_control *c) {
  uint32_t block = sw_ir_block_at(m->t, sw_im_op(m, op), index);
  if (block == SW_IR_NONE) return SW_IM_FAIL(m, op, "region %u is missing", index);
  const sw_ir_block *b = &m->t->blocks.at[block];
  uint32_t want = kind == SW_IR_IN_BRANCH ? 0 : c->n_bound;
  if (b->n_args != want) return SW_IM_FAIL(m, op, "region %u has %u arguments; expected %u", index, b->n_args, want);
  sw_ir_walk w = {.kind = kind,
                  .op = op,
                  .cursor = b->first_op,
                  .region = b->region,
                  .instance = sw_im_top(m)->instance,
                  .control = c};
  const sw_id *next = c->entered;
  for (uint32_t i = 0; i < want; i++) {
    SW_TRY(sw_im_built_like(m, op, c->like[i], &next, &w.instance->slots[m->names->block[block] + i]));
  }
  return sw_array_push(&m->passes->walks, w, m->d);
}

static sw_ir_span text_of_region(const sw_importer *m, uint32_t op, uint32_t index) {
  uint32_t r = sw_ir_region_at(m->t, sw_im_op(m, op), index);
  return r == SW_IR_NONE ? (sw_ir_span){0, 0} : m->t->regions.at[r].text;
}

sw_rc sw_im_while(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  const sw_ir_op *o = sw_im_op(m, op);
  struct sw_ir_control *c;
  sw_im_leaves leaves;
  sw_id *operands;
  SW_ARENA_NEW(c, &m->keep, 1, m->d);
  SW_ARENA_NEW(operands, &m->keep, o->n_uses, m->d);
  for (uint32_t i = 0; i < o->n_uses; i++) operands[i] = sw_im_operand(m, op, i);
  SW_TRY(sw_im_leaves_of(m, operands, o->n_uses, &leaves));
  c->n = leaves.n;
  c->n_bound = o->n_uses;
  c->like = operands;
  SW_ARENA_NEW(c->entered, &m->keep, c->n, m->d);
  if (sw_ir_region_count(m->t, o) != 2)
    return SW_IM_FAIL(m, op, "a while has %u regions; expected 2", sw_ir_region_count(m->t, o));
  SW_TRY(sw_im_mark(m, op, SW_OP_WHILE, -1, NULL));
  for (uint32_t i = 0; i < c->n; i++) {
    SW_TRY(emit_control_value(m, op, SW_OP_ENTER, leaves.at[i], "enter", i, &c->entered[i]));
  }
  sw_ir_span both = {text_of_region(m, op, 0).at, text_of_region(m, op, 1).end};
  SW_TRY(enter_captured(m, op, both, 0, c));
  return open_control_region(m, op, 0, SW_IR_IN_TEST, c);
}

sw_rc sw_im_case(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  const sw_ir_op *o = sw_im_op(m, op);
  struct sw_ir_control *c;
  SW_ARENA_NEW(c, &m->keep, 1, m->d);
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  c->n_bound = sw_ir_result_count(m->t, o);
  c->n_branches = sw_ir_region_count(m->t, o);
  if (!c->n_branches) return SW_IM_FAIL(m, op, "a choice has no branch; expected one");
  SW_TRY(sw_im_mark(m, op, SW_OP_CASE, sw_im_operand(m, op, 0), NULL));
  SW_TRY(enter_captured(m, op, text_of_region(m, op, 0), 0, c));
  return open_control_region(m, op, 0, SW_IR_IN_BRANCH, c);
}

/* --- returns ----------------------------------------------------------------------------------------------------- */

static sw_rc check_count(sw_importer *m, uint32_t ret, uint32_t n, uint32_t want) {
  if (n == want) return SW_OK;
  return SW_IM_FAIL(m, ret, "%u values are returned; expected %u", n, want);
}

/* The joins of leaves, and the results that are built of them; operands of join k: at[k], at[k + step], ..., `n` of
 * them. */
static sw_rc join_leaves(sw_importer *m, const sw_ir_walk *w, const sw_id *at, uint32_t step, uint32_t n) {
  const struct sw_ir_control *c = w->control;
  sw_id *x, *made;
  uint32_t k = 0;
  SW_ARENA_NEW(x, &m->keep, n, m->d);
  SW_ARENA_NEW(made, &m->keep, c->n, m->d);
  for (uint32_t i = 0; i < c->n_bound; i++) {
    const sw_id *next = made + k;
    sw_im_leaves leaves;
    sw_id result;
    bool tuple = sw_im_is_tuple(c->like[i]);
    SW_TRY(sw_im_leaves_of(m, &c->like[i], 1, &leaves));
    for (uint32_t end = k + leaves.n; k < end; k++) {
      for (uint32_t b = 0; b < n; b++) x[b] = at[k + (size_t)b * step];
      sw_im_add add = {.code = SW_OP_JOIN, .n_operands = (int)n, .operands = x, .part = tuple ? "join" : NULL};
      SW_TRY(sw_im_emit_one(m, w->op, &add, i, &made[k]));
    }
    if (!tuple) continue;
    SW_TRY(sw_im_built_like(m, w->op, c->like[i], &next, &result));
    SW_TRY(sw_im_bind(m, w->op, i, result, false));
  }
  return sw_im_annotate_results(m, w->op);
}

/* A loop of tuples, or in a region of scalars, is not told of. */
static sw_rc tell_carried(sw_importer *m, const sw_ir_walk *w, uint32_t ret, const sw_id *both) {
  const struct sw_ir_control *c = w->control;
  if (m->vectorized || c->n != c->n_bound) return SW_OK;
  for (uint32_t i = 0; i < c->n; i++) {
    sw_ir_carried carried = {
        w->op, ret, i, w->instance->call, m->g->values[both[i]].def, m->g->values[both[c->n + i]].def};
    SW_TRY(sw_array_push(&m->passes->trace.carried, carried, m->d));
  }
  return SW_OK;
}

static sw_rc after_loop(sw_importer *m, const sw_ir_walk *w, uint32_t ret, const sw_id *values, uint32_t n) {
  const struct sw_ir_control *c = w->control;
  sw_im_leaves leaves;
  sw_id *both;
  SW_TRY(check_count(m, ret, n, c->n_bound));
  SW_TRY(sw_im_leaves_of(m, values, n, &leaves));
  SW_TRY(check_count(m, ret, leaves.n, c->n));
  SW_ARENA_NEW(both, &m->keep, 2 * (size_t)c->n, m->d);
  for (uint32_t i = 0; i < c->n; i++) {
    both[i] = c->entered[i];
    SW_TRY(emit_control_value(m, w->op, SW_OP_YIELD, leaves.at[i], "next", i, &both[c->n + i]));
  }
  SW_TRY(tell_carried(m, w, ret, both));
  SW_TRY(sw_im_mark(m, w->op, SW_OP_END, -1, NULL));
  sw_im_leave_captured(m, &c->captured);
  return join_leaves(m, w, both, c->n, 2);
}

/* The first branch says of which values results are built. */
static sw_rc see_first_branch(sw_importer *m, struct sw_ir_control *c, const sw_id *values, uint32_t n,
                              const sw_im_leaves *leaves) {
  c->n = leaves->n;
  c->like = sw_arena_copy(&m->keep, values, n, sizeof *values, m->d);
  if (!c->like) return SW_E_RESOURCE;
  SW_ARENA_NEW(c->yielded, &m->keep, (size_t)c->n * c->n_branches, m->d);
  return SW_OK;
}

static sw_rc after_branch(sw_importer *m, const sw_ir_walk *w, uint32_t ret, const sw_id *values, uint32_t n) {
  struct sw_ir_control *c = w->control;
  sw_im_leaves leaves;
  SW_TRY(check_count(m, ret, n, c->n_bound));
  SW_TRY(sw_im_leaves_of(m, values, n, &leaves));
  if (c->branch == 0) SW_TRY(see_first_branch(m, c, values, n, &leaves));
  SW_TRY(check_count(m, ret, leaves.n, c->n));
  for (uint32_t i = 0; i < c->n; i++) {
    SW_TRY(emit_control_value(m, w->op, SW_OP_YIELD, leaves.at[i], "branch", i,
                              &c->yielded[(size_t)c->branch * c->n + i]));
  }
  sw_im_leave_captured(m, &c->captured);
  if (++c->branch == c->n_branches) {
    SW_TRY(sw_im_mark(m, w->op, SW_OP_END, -1, NULL));
    return join_leaves(m, w, c->yielded, c->n, c->n_branches);
  }
  SW_TRY(sw_im_mark(m, w->op, SW_OP_OTHERWISE, -1, NULL));
  SW_TRY(enter_captured(m, w->op, text_of_region(m, w->op, c->branch), c->branch, c));
  return open_control_region(m, w->op, c->branch, SW_IR_IN_BRANCH, c);
}

sw_rc sw_im_leave_region(sw_importer *m, uint32_t ret, const sw_id *values, uint32_t n) {
  sw_ir_walk w = m->passes->walks.at[--m->passes->walks.n];
  if (w.kind == SW_IR_IN_OTHER) return w.leave(m, w.op, w.state, ret, values, n);
  if (w.kind == SW_IR_IN_BRANCH) return after_branch(m, &w, ret, values, n);
  if (w.kind == SW_IR_IN_LOOP) return after_loop(m, &w, ret, values, n);
  SW_TRY(check_count(m, ret, n, 1));
  SW_TRY(sw_im_mark(m, w.op, SW_OP_TEST, values[0], NULL));
  return open_control_region(m, w.op, 1, SW_IR_IN_LOOP, w.control);
}
