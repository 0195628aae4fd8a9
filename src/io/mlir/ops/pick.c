/* Regions that compare: the comparator of a sort, and reductions that pick an index.
 *
 *   sort      { return compare LT, %a, %b }                                  ascending by operand 0
 *   reduce    (%x, %iota) { c = compare GT, %a, %b; ... select c ... }       max, and argmax
 */
#include <string.h>

#include "io/mlir/regions/lift.h"

/* A region with one block: its ops, and the slot of its first argument. */
typedef struct body {
  const sw_importer *m;
  const sw_ir_block *block;
  uint32_t first;
} body;

static bool open_body(const sw_importer *m, uint32_t region, uint32_t n_args, body *b) {
  if (region == SW_IR_NONE) return false;
  uint32_t block = m->t->regions.at[region].first_block;
  if (block == SW_IR_NONE || m->t->blocks.at[block].n_args != n_args) return false;
  *b = (body){m, &m->t->blocks.at[block], m->names->block[block]};
  return true;
}

static uint32_t use_of(const body *b, const sw_ir_op *op, uint32_t i) { return b->m->names->use[op->first_use + i]; }

/* The op of the body that gives the slot; NULL: an argument, or a value from outside. */
static const sw_ir_op *giver(const body *b, uint32_t slot) {
  for (uint32_t i = b->block->first_op; i != SW_IR_NONE; i = b->m->t->ops.at[i].next) {
    const sw_ir_op *op = &b->m->t->ops.at[i];
    if (op->n_results == 1 && b->m->names->result[op->first_result] == slot) return op;
  }
  return NULL;
}

static bool is_code(const body *b, const sw_ir_op *op, sw_opcode code, uint32_t n_uses) {
  const sw_ir_row *row = op ? sw_ir_row_of(b->m->t, op->name) : NULL;
  return row && row->code == code && op->n_uses == n_uses;
}

/* select(is NaN or zero, that in one form, x) is x for an order that knows NaN and takes -0 for 0. */
static uint32_t behind_canonical(const body *b, uint32_t slot, bool *canonical) {
  for (int hops = 0; hops < 4; hops++) {
    const sw_ir_op *op = giver(b, slot);
    if (!is_code(b, op, SW_OP_SELECT, 3)) break;
    *canonical = true;
    slot = use_of(b, op, 2);
  }
  return slot;
}

static sw_ir_span direction_of(const body *b, const sw_ir_op *op) {
  const sw_ir_tree *t = b->m->t;
  sw_ir_span v = sw_ir_attr(t, op, "comparison_direction", NULL);
  if (sw_ir_present(v)) return sw_ir_last_word(t, v);
  uint32_t at = sw_ir_blanks(t->s, op->body.at);
  return (sw_ir_span){at, sw_ir_name(t->s, at)};
}

static bool is_total(const body *b, const sw_ir_op *op) {
  const sw_ir_tree *t = b->m->t;
  sw_ir_span v = sw_ir_attr(t, op, "compare_type", NULL);
  if (sw_ir_present(v)) return sw_ir_is(t, sw_ir_last_word(t, v), "TOTALORDER");
  uint32_t end = sw_ir_present(op->attrs) ? op->attrs.at : op->body.end;
  return !op->generic && sw_ir_is(t, sw_ir_last_word(t, (sw_ir_span){op->body.at, end}), "TOTALORDER");
}

/* --- sort -------------------------------------------------------------------------------------------------------- */

typedef struct order {
  int64_t key;
  bool descending, total;
} order;

/* return compare LT or GT of the two arguments of one operand. */
static bool read_order(const body *b, uint32_t n, order *out) {
  const sw_ir_op *ret = NULL;
  for (uint32_t i = b->block->first_op; i != SW_IR_NONE; i = b->m->t->ops.at[i].next) ret = &b->m->t->ops.at[i];
  if (!ret || ret->n_uses != 1) return false;
  const sw_ir_op *compare = giver(b, use_of(b, ret, 0));
  if (!is_code(b, compare, SW_OP_COMPARE, 2)) return false;
  bool canonical = false;
  uint32_t left = behind_canonical(b, use_of(b, compare, 0), &canonical) - b->first;
  uint32_t right = behind_canonical(b, use_of(b, compare, 1), &canonical) - b->first;
  sw_ir_span direction = direction_of(b, compare);
  bool greater = sw_ir_is(b->m->t, direction, "GT");
  if (!greater && !sw_ir_is(b->m->t, direction, "LT")) return false;
  if (left / 2 != right / 2 || left / 2 >= n || left == right) return false;
  *out = (order){left / 2, greater != (left > right), is_total(b, compare) && !canonical};
  return true;
}

sw_rc sw_im_sort(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  body b;
  order by;
  int64_t dim = -1;
  SW_TRY(sw_im_operand_count(m, op, 1, SW_MAX_RESULTS));
  sw_id x[SW_MAX_RESULTS];
  for (uint32_t i = 0; i < o->n_uses; i++) x[i] = sw_im_operand(m, op, i);
  sw_ir_span v = sw_ir_attr(m->t, o, "dimension", NULL);
  if (sw_ir_present(v) && !sw_ir_read_int(m->t, v, &dim))
    return SW_IM_FAIL(m, op, "expected a whole number as 'dimension'");
  if (dim < 0) dim += m->g->values[x[0]].type.rank;
  if (!open_body(m, o->first_region, 2 * o->n_uses, &b) || !read_order(&b, o->n_uses, &by)) {
    bool done;
    SW_TRY(sw_im_sort_by_region(m, op, dim, &done));
    return done ? SW_OK : sw_im_opaque(m, op, "stablehlo.sort (a comparator that cannot be written out)");
  }
  sw_im_attrs a = {.n = 0};
  sw_im_int(&a, SW_ATTR_DIM, dim);
  sw_im_numbers(&a, SW_ATTR_KEYS, &by.key, 1);
  sw_im_int(&a, SW_ATTR_DESCENDING, by.descending);
  sw_im_int(&a, SW_ATTR_TOTAL_ORDER, by.total);
  return sw_im_emit(m, op, &(sw_im_add){.code = row->code, .n_operands = (int)o->n_uses, .operands = x, .attrs = &a},
                    NULL);
}

/* --- argmax ------------------------------------------------------------------------------------------------------ */

/* Does the body compare the two positions? */
static bool breaks_ties(const body *b, bool generic) {
  uint32_t first = b->first + (generic ? 1 : 2), second = b->first + 3;
  for (uint32_t i = b->block->first_op; i != SW_IR_NONE; i = b->m->t->ops.at[i].next) {
    const sw_ir_op *op = &b->m->t->ops.at[i];
    if (is_code(b, op, SW_OP_COMPARE, 2) && use_of(b, op, 0) == first && use_of(b, op, 1) == second) return true;
    if (is_code(b, op, SW_OP_MINIMUM, 2) && use_of(b, op, 0) == first && use_of(b, op, 1) == second) return true;
  }
  return false;
}

/* Which way the first comparison of the values goes: 1 the greater one stays, -1 the smaller, 0 no such body. The
 * generic form has arguments (a, ai, b, bi), the custom one writes them (a, b) (ai, bi). */
static int picks(const body *b, bool generic) {
  for (uint32_t i = b->block->first_op; i != SW_IR_NONE; i = b->m->t->ops.at[i].next) {
    const sw_ir_op *op = &b->m->t->ops.at[i];
    if (!is_code(b, op, SW_OP_COMPARE, 2)) continue;
    if (use_of(b, op, 0) != b->first || use_of(b, op, 1) != b->first + (generic ? 2 : 1)) continue;
    sw_ir_span d = direction_of(b, op);
    bool strict = sw_ir_is(b->m->t, d, "GT") || sw_ir_is(b->m->t, d, "LT");
    if (strict && !breaks_ties(b, generic)) return 0; /* the later one wins among equals */
    if (sw_ir_is(b->m->t, d, "GT") || sw_ir_is(b->m->t, d, "GE")) return 1;
    if (sw_ir_is(b->m->t, d, "LT") || sw_ir_is(b->m->t, d, "LE")) return -1;
  }
  return 0;
}

/* Positions along `dim`, of any shape. */
static bool counts_along(const sw_graph *g, sw_id value, int64_t dim) {
  for (int hops = 0; hops < 4 && g->values[value].def >= 0; hops++) {
    const sw_op *op = &g->ops[g->values[value].def];
    if (op->code == SW_OP_IOTA) return sw_op_int(op, SW_ATTR_DIM, -1) == dim;
    if (op->code != SW_OP_BROADCAST) return false;
    int n, at = -1;
    const int64_t *dims = sw_op_ints(op, SW_ATTR_DIMS, &n);
    for (int i = 0; i < n; i++) {
      if (dims[i] == dim) at = i;
    }
    if (at < 0) return false;
    dim = at;
    value = op->operands[0];
  }
  return false;
}

sw_rc sw_im_arg_reduce(sw_importer *m, uint32_t op, bool *done) {
  const sw_ir_op *o = sw_im_op(m, op);
  body b;
  const int64_t *dims;
  int n, which;
  *done = false;
  if (o->n_uses != 4 || sw_ir_result_count(m->t, o) != 2) return SW_OK;
  if (!open_body(m, o->first_region, 4, &b) || (which = picks(&b, o->generic)) == 0) return SW_OK;
  SW_TRY(sw_im_list(m, sw_ir_attr(m->t, o, "dimensions", "dimensions"), &dims, &n));
  sw_id x = sw_im_operand(m, op, 0), positions = sw_im_operand(m, op, o->generic ? 1 : 2);
  sw_id init = sw_im_operand(m, op, o->generic ? 2 : 1); /* (x, positions, inits...), or (x init: i), (positions ...) */
  sw_reduction kind = which > 0 ? SW_REDUCE_MAX : SW_REDUCE_MIN;
  if (n != 1 || !counts_along(m->g, positions, dims[0])) return SW_OK;
  if (!sw_im_is_identity(m, init, kind)) return SW_OK;
  *done = true;
  sw_im_attrs a = {.n = 0}, p = {.n = 0};
  sw_im_text(&a, SW_ATTR_KIND, sw_reduction_text(kind));
  sw_im_numbers(&a, SW_ATTR_DIMS, dims, n);
  sw_im_int(&p, SW_ATTR_DIM, dims[0]);
  sw_im_int(&p, SW_ATTR_DTYPE, m->g->values[positions].type.dtype);
  sw_im_add best = {.code = SW_OP_REDUCE, .n_operands = 1, .operands = &x, .attrs = &a};
  sw_im_add index = {.code = which > 0 ? SW_OP_ARGMAX : SW_OP_ARGMIN, .n_operands = 1, .operands = &x, .attrs = &p};
  SW_TRY(sw_im_emit_one(m, op, &best, 0, NULL));
  return sw_im_emit_one(m, op, &index, 1, NULL);
}

/* select(p, true, false) is p. */
uint32_t sw_im_behind_select(const sw_importer *m, uint32_t region, uint32_t slot) {
  body b;
  if (!open_body(m, region, 2, &b)) return slot;
  const sw_ir_op *op = giver(&b, slot);
  if (!is_code(&b, op, SW_OP_SELECT, 3)) return slot;
  static const char *const kWant[2] = {"true", "false"};
  for (uint32_t i = 0; i < 2; i++) {
    const sw_ir_op *c = giver(&b, use_of(&b, op, i + 1));
    if (!is_code(&b, c, SW_OP_CONSTANT, 0)) return slot;
    sw_ir_span in = sw_ir_inside(m->t, sw_ir_constant_literal(m->t, c));
    if (!sw_ir_is(m->t, sw_ir_trimmed(m->t, in), kWant[i])) return slot;
  }
  return use_of(&b, op, 0);
}
