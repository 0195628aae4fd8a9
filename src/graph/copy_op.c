#include "graph/copy_op.h"

sw_rc sw_graph_copy_args(sw_graph *to, const sw_graph *from, sw_id *now, sw_diag *d) {
  for (int32_t i = 0; i < from->n_args; i++) {
    const sw_value *v = &from->values[from->args[i]];
    SW_TRY(sw_graph_add_arg(to, v->name, v->type.dtype, v->type.rank, v->type.dims, v->kind, v->span,
                            &now[from->args[i]], d));
    sw_graph_set_arg_location(to, now[from->args[i]], v->location);
  }
  return SW_OK;
}

sw_rc sw_op_spec_of(const sw_graph *from, const sw_op *op, const sw_id *now, sw_arena *arena, sw_op_spec *out,
                    sw_diag *d) {
  const bool given = sw_op_class_of(op->code) == SW_OPS_GIVEN;
  const bool typed = given || sw_op_class_of(op->code) == SW_OPS_DEVICE;
  sw_id *operands;
  const char **names;
  sw_type *types;
  SW_ARENA_NEW(operands, arena, op->n_operands, d);
  SW_ARENA_NEW_EACH(arena, op->n_results, d, names, types);
  for (int i = 0; now && i < op->n_operands; i++) operands[i] = now[op->operands[i]];
  for (int i = 0; i < op->n_results; i++) {
    names[i] = from->values[op->results[i]].name;
    types[i] = *sw_result_type(from, op, i);
  }
  *out = (sw_op_spec){.code = op->code,
                      .name = op->name,
                      .n_operands = op->n_operands,
                      .operands = operands,
                      .n_attrs = op->n_attrs,
                      .attrs = op->attrs,
                      .span = op->span,
                      .location = op->location,
                      .function = op->function,
                      .blocked = op->blocked,
                      .n_result_names = op->n_results,
                      .result_names = names,
                      .nest = given ? op->nest : NULL,
                      .n_result_types = typed ? op->n_results : 0,
                      .result_types = types,
                      .collective = op->collective,
                      .n_refs = op->n_refs,
                      .refs = op->refs};
  return SW_OK;
}

sw_rc sw_graph_copy_op(sw_graph *to, const sw_graph *from, const sw_op *op, sw_id *now, sw_arena *arena, sw_diag *d) {
  sw_op_spec spec;
  sw_id results[SW_MAX_RESULTS];
  SW_TRY(sw_op_spec_of(from, op, now, arena, &spec, d));
  SW_TRY(sw_graph_add_op(to, &spec, results, d));
  for (int i = 0; i < op->n_results; i++) now[op->results[i]] = results[i];
  return SW_OK;
}
