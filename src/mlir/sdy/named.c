/* sdy.named_computation: its block is a part of the function. What it says of operands is about values inside, and of
 * results about those outside, so that either side may be cut in its own way:
 *
 *   %1 = sdy.named_computation<"f">(%0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}]>] (%a: T)
 * ... %a is a value of its own, the same as %0 and cut by x; %1 is the same as what is returned, and whole
 */
#include "mlir/import/dialect.h"
#include "mlir/import/tuple.h"
#include "mlir/sdy/sdy.h"

/* `part`: of its name; NULL: it is result i. */
static sw_rc same_value(sw_importer *m, uint32_t op, uint32_t i, sw_id x, const char *part, sw_ir_span sharding,
                        sw_id *out) {
  sw_im_attrs a = {.n = 0};
  sw_im_shape(&a, &m->g->values[x].type);
  sw_im_add add = {.code = SW_OP_RESHAPE, .n_operands = 1, .operands = &x, .attrs = &a, .part = part};
  SW_TRY(sw_im_emit_one(m, op, &add, i, out));
  return sw_im_annotate(m, *out, sharding, 0, sharding.at);
}

static sw_ir_span shardings(const sw_importer *m, uint32_t op, const char *key) {
  const sw_ir_span list = sw_ir_attr(m->t, sw_im_op(m, op), key, key);
  return sw_ir_present(list) ? sw_sdy_items(m->t, list) : list;
}

/* Tuples and tokens stay what they are. */
static bool has_sharding(const sw_importer *m, sw_id x) {
  return x >= 0 && !sw_im_is_tuple(x) && m->g->values[x].type.dtype != SW_TOKEN;
}

static sw_rc leave_named_computation(sw_importer *m, uint32_t op, void *state, uint32_t ret, const sw_id *values,
                                     uint32_t n) {
  sw_ir_span list = shardings(m, op, "out_shardings"), item;
  uint32_t cursor = 0;
  (void)state;
  (void)ret;
  for (uint32_t i = 0; i < n; i++) {
    sw_id made;
    if (sw_ir_present(list) && sw_ir_next_item(m->t, list, &cursor, &item) && has_sharding(m, values[i]))
      SW_TRY(same_value(m, op, i, values[i], NULL, item, &made));
    else
      SW_TRY(sw_im_bind(m, op, i, values[i], false));
  }
  return SW_OK;
}

sw_rc sw_sdy_named(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  sw_ir_span list = shardings(m, op, "in_shardings"), item;
  const bool said = sw_ir_present(list) || sw_ir_present(shardings(m, op, "out_shardings"));
  const uint32_t n = sw_im_op(m, op)->n_uses;
  const sw_id *given;
  sw_id *args;
  uint32_t cursor = 0;
  if (!said || m->o->keep != SW_KEEP_ALL) return sw_im_named_computation(m, row, op);
  SW_TRY(sw_im_all_operands(m, op, &given));
  SW_ARENA_NEW(args, &m->scratch, n, m->d);
  for (uint32_t i = 0; i < n; i++) {
    args[i] = given[i];
    if (!sw_ir_present(list) || !sw_ir_next_item(m->t, list, &cursor, &item) || !has_sharding(m, given[i])) continue;
    SW_TRY(same_value(m, op, 0, given[i], "in", item, &args[i]));
  }
  return sw_im_enter_part(m, op, args, leave_named_computation);
}
