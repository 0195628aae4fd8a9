/* chlo.scan: its body with one slice after the other of the inputs, carrying values on; a loop in the graph.
 *
 *   %y, %last = chlo.scan(%x) inits (%c) dimension=0 { ^bb0(%x_i, %c_i): return f(%x_i, %c_i), g(%x_i, %c_i) }
 *
 *   while {trips: the dim's size}; i, c, y = enter(0, %c, zeros); test(i < size);  x_i = dynamic_slice(x, i);
 *   y' = dynamic_update_slice(y, f(x_i, c), i);  yield(i + 1, g(x_i, c), y'); end
 */
#include "mlir/chlo/chlo.h"
#include "mlir/import/import_emit.h"

typedef struct scan {
  uint32_t n_in, n_carry, n_out;
  int64_t size, dim;
  bool reverse;
  sw_im_repeat loop;
  sw_id *carry, *out, *in; /* as they are entered, one list behind the other */
  sw_id at;                /* the position: from the end when reversed */
} scan;

/* Inputs have one dim more than the body's arguments, initial values as many. */
static sw_rc read_counts(sw_importer *m, uint32_t op, const sw_ir_block *b, scan *s) {
  const sw_ir_op *o = sw_im_op(m, op);
  uint32_t results = sw_ir_result_count(m->t, o);
  if (b->n_args != o->n_uses) {
    return SW_IM_FAIL(m, op, "the body has %u arguments; expected one for each of %u operands", b->n_args, o->n_uses);
  }
  for (; s->n_in < o->n_uses; s->n_in++) {
    sw_type t;
    SW_TRY(sw_ir_read_type(m->t, m->t->args.at[b->first_arg + s->n_in].type, &m->scratch, &t, m->d));
    if (t.rank == sw_im_type(m, sw_im_operand(m, op, s->n_in))->rank) break;
  }
  s->n_carry = o->n_uses - s->n_in;
  if (results < s->n_carry) return SW_IM_FAIL(m, op, "%u results; expected %u carries at least", results, s->n_carry);
  s->n_out = results - s->n_carry;
  return SW_OK;
}

static sw_rc read_settings(sw_importer *m, uint32_t op, scan *s) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_ir_span dim = sw_ir_attr(m->t, o, "dimension", "dimension"),
             reverse = sw_ir_attr(m->t, o, "is_reverse", "is_reverse");
  sw_ir_span size = sw_ir_attr(m->t, o, "scan_dim_size", "scan_dim_size");
  int64_t on = 0;
  if (!sw_ir_present(dim) || !sw_ir_read_int(m->t, dim, &s->dim)) {
    return SW_IM_FAIL(m, op, "expected a whole number as 'dimension'");
  }
  s->reverse = sw_ir_present(reverse) && sw_ir_read_int(m->t, reverse, &on) && on;
  bool said = sw_ir_present(size) && sw_ir_read_int(m->t, size, &s->size);
  for (uint32_t i = 0; i < s->n_in; i++) {
    const sw_type *t = sw_im_type(m, sw_im_operand(m, op, i));
    if (s->dim < 0 || s->dim >= t->rank || (said && t->dims[s->dim] != s->size)) {
      return SW_IM_FAIL(m, op, "operand %u has no dim %lld, or one of another size", i, (long long)s->dim);
    }
    s->size = t->dims[s->dim];
    said = true;
  }
  return said ? SW_OK : SW_IM_FAIL(m, op, "nothing says how many steps there are; expected 'scan_dim_size'");
}

/* Where slice `at` of a tensor begins: operands of a dynamic slice, behind those that are there. */
static sw_rc add_starts(sw_importer *m, uint32_t op, const scan *s, int rank, sw_id *x) {
  sw_id zero = -1;
  for (int k = 0; k < rank; k++) {
    if (k != s->dim && zero < 0) SW_TRY(sw_im_number(m, op, SW_I32, 0, 0, NULL, &zero));
    x[k] = k == s->dim ? s->at : zero;
  }
  return SW_OK;
}

/* The slice, without its dim. */
static sw_rc take_scan_slice(sw_importer *m, uint32_t op, const scan *s, sw_id from, sw_id *out) {
  const sw_type t = *sw_im_type(m, from);
  int64_t sizes[SW_MAX_RANK], left[SW_MAX_RANK];
  sw_id x[1 + SW_MAX_RANK] = {from};
  sw_im_attrs a = {.n = 0};
  SW_TRY(add_starts(m, op, s, t.rank, x + 1));
  for (int k = 0, n = 0; k < t.rank; k++) {
    sizes[k] = k == s->dim ? 1 : t.dims[k];
    if (k != s->dim) left[n++] = t.dims[k];
  }
  sw_im_numbers(&a, SW_ATTR_SIZES, sizes, t.rank);
  SW_TRY(sw_im_help(m, op, SW_OP_DYNAMIC_SLICE, 1 + t.rank, x, &a, out));
  return sw_im_reshaped(m, op, *out, t.rank - 1, left, out);
}

static sw_rc put_scan_slice(sw_importer *m, uint32_t op, const scan *s, sw_id into, sw_id slice, sw_id *out) {
  const sw_type t = *sw_im_type(m, into);
  int64_t dims[SW_MAX_RANK];
  sw_id x[2 + SW_MAX_RANK] = {into};
  for (int k = 0; k < t.rank; k++) dims[k] = k == s->dim ? 1 : t.dims[k];
  SW_TRY(sw_im_reshaped(m, op, slice, t.rank, dims, &x[1]));
  SW_TRY(add_starts(m, op, s, t.rank, x + 2));
  return sw_im_help(m, op, SW_OP_DYNAMIC_UPDATE_SLICE, 2 + t.rank, x, NULL, out);
}

/* Everything that comes in, and the test. */
static sw_rc open_scan_loop(sw_importer *m, uint32_t op, scan *s) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_id first;
  SW_ARENA_NEW(s->carry, &m->keep, s->n_carry + s->n_out + s->n_in, m->d);
  s->out = s->carry + s->n_carry;
  s->in = s->out + s->n_out;
  s->loop = (sw_im_repeat){.m = m, .op = op};
  SW_TRY(sw_im_number(m, op, SW_I32, 0, 0, NULL, &first));
  for (uint32_t i = 0; i < s->n_out; i++) {
    sw_type t;
    SW_TRY(sw_im_result_type(m, op, (int)i, &t));
    if (s->dim >= t.rank || t.dims[s->dim] != s->size) {
      return SW_IM_FAIL(m, op, "result %u has no dim %lld of size %lld", i, (long long)s->dim, (long long)s->size);
    }
    SW_TRY(sw_im_number(m, op, t.dtype, 0, t.rank, t.dims, &s->out[i]));
  }
  for (uint32_t i = 0; i < s->n_carry; i++) s->carry[i] = sw_im_operand(m, op, s->n_in + i);
  for (uint32_t i = 0; i < s->n_in; i++) s->in[i] = sw_im_operand(m, op, i);
  return sw_im_open_repeat(&s->loop, s->size, first, s->size, s->carry, (int)(s->n_carry + s->n_out + s->n_in),
                           &m->t->regions.at[o->first_region].text, m->names->block[sw_ir_block_at(m->t, o, 0)]);
}

static sw_rc find_slice_position(sw_importer *m, uint32_t op, scan *s) {
  sw_id last;
  s->at = s->loop.counter;
  if (!s->reverse) return SW_OK;
  SW_TRY(sw_im_number(m, op, SW_I32, (double)(s->size - 1), 0, NULL, &last));
  return sw_im_two(m, op, SW_OP_SUBTRACT, last, s->loop.counter, &s->at);
}

static sw_rc join_loop_value(sw_importer *m, uint32_t op, uint32_t result, sw_id entered, sw_id next) {
  sw_id both[2] = {entered, next};
  return sw_im_emit_one(m, op, &(sw_im_add){.code = SW_OP_JOIN, .n_operands = 2, .operands = both}, result, NULL);
}

static sw_rc leave_scan_body(sw_importer *m, uint32_t op, void *state, uint32_t ret, const sw_id *values, uint32_t n) {
  const scan *s = state;
  uint32_t all = s->n_out + s->n_carry;
  sw_id one, next, *yielded;
  if (n != all) return SW_IM_FAIL(m, ret, "%u values are returned; expected %u", n, all);
  SW_ARENA_NEW(yielded, &m->keep, all, m->d);
  for (uint32_t i = 0; i < s->n_out; i++) SW_TRY(put_scan_slice(m, op, s, s->out[i], values[i], &yielded[i]));
  for (uint32_t i = s->n_out; i < all; i++) yielded[i] = values[i];
  SW_TRY(sw_im_number(m, op, SW_I32, 1, 0, NULL, &one));
  SW_TRY(sw_im_two(m, op, SW_OP_ADD, s->loop.counter, one, &next));
  SW_TRY(sw_im_one(m, op, SW_OP_YIELD, next, &next));
  for (uint32_t i = 0; i < all; i++) SW_TRY(sw_im_one(m, op, SW_OP_YIELD, yielded[i], &yielded[i]));
  SW_TRY(sw_im_mark(m, op, SW_OP_END, -1, NULL));
  sw_im_leave_captured(m, &s->loop.read);
  SW_TRY(sw_im_two(m, op, SW_OP_JOIN, s->loop.counter, next, &next));
  for (uint32_t i = 0; i < all; i++) {
    SW_TRY(join_loop_value(m, op, i, i < s->n_out ? s->out[i] : s->carry[i - s->n_out], yielded[i]));
  }
  return sw_im_annotate_results(m, op);
}

sw_rc sw_im_scan(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  uint32_t block = sw_ir_block_at(m->t, sw_im_op(m, op), 0);
  scan *s;
  if (block == SW_IR_NONE) return SW_IM_FAIL(m, op, "the body is missing");
  const sw_ir_block *b = &m->t->blocks.at[block];
  SW_ARENA_NEW(s, &m->keep, 1, m->d);
  SW_TRY(read_counts(m, op, b, s));
  SW_TRY(read_settings(m, op, s));
  SW_TRY(open_scan_loop(m, op, s));
  SW_TRY(find_slice_position(m, op, s));
  sw_id *slots = sw_im_here(m)->slots + m->names->block[block];
  for (uint32_t i = 0; i < s->n_in; i++) SW_TRY(take_scan_slice(m, op, s, s->in[i], &slots[i]));
  for (uint32_t i = 0; i < s->n_carry; i++) slots[s->n_in + i] = s->carry[i];
  return sw_im_enter_block(m, op, block, leave_scan_body, s);
}
