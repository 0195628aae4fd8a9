/* Types of values (value_types.h). */
#include "mlir/import/value_types.h"

bool sw_ir_has_known_types(const sw_ir_tree *t, const sw_ir_op *op) {
  return op->generic || sw_ir_is_among(t, op->name, "call return") || sw_ir_starts(t, op->name, "stablehlo.") ||
         sw_ir_starts(t, op->name, "mhlo.") || sw_ir_starts(t, op->name, "chlo.") || sw_ir_starts(t, op->name, "func.");
}

/* The next type; empty behind the last. */
static sw_ir_span take_type(const sw_ir_tree *t, sw_ir_types_cursor *list) {
  sw_ir_span type;
  return sw_ir_next_type(t, list, &type) ? type : (sw_ir_span){0, 0};
}

void sw_ir_type_results(const sw_ir_tree *t, const sw_ir_names *names, const sw_ir_op *op, sw_ir_span *types,
                        uint32_t n_slots) {
  if (!sw_ir_has_known_types(t, op) || !sw_ir_present(op->types)) return;
  sw_ir_types_cursor list = sw_ir_result_types(t, op);
  for (uint32_t i = 0; i < op->n_results; i++) {
    uint32_t slot = names->result[op->first_result + i];
    for (uint32_t j = 0; j < t->results.at[op->first_result + i].count; j++) {
      sw_ir_span type = take_type(t, &list);
      if (slot + j < n_slots) types[slot + j] = type;
    }
  }
}

/* Those of `while(%i = %x)` bear the types of the op's list. */
void sw_ir_type_args(const sw_ir_tree *t, const sw_ir_names *names, uint32_t block, sw_ir_span *types,
                     uint32_t n_slots) {
  const sw_ir_block *b = &t->blocks.at[block];
  const sw_ir_op *op = &t->ops.at[t->regions.at[b->region].op];
  bool listed = sw_ir_lists_operands(t, op);
  sw_ir_types_cursor list = {0};
  if (listed) list = sw_ir_operand_types(t, op->types);
  for (uint32_t i = 0; i < b->n_args; i++) {
    sw_ir_span own = t->args.at[b->first_arg + i].type, said = {0, 0};
    uint32_t slot = names->block[block] + i;
    if (listed) said = take_type(t, &list);
    if (slot < n_slots) types[slot] = sw_ir_present(own) ? own : said;
  }
}
