#include "mlir/text/values.h"

#include "mlir/text/attr.h"
#include "shardwright/arena.h"

/* The first value of each function; functions stand after each other in the text, and hold their own ops. */
static uint32_t number_functions(const sw_ir_tree *t, const sw_ir_names *names, uint32_t *function_of, uint32_t *base) {
  uint32_t n = 0, function = SW_IR_NONE;
  for (uint32_t i = 0; i < t->ops.n; i++) {
    if (function != SW_IR_NONE && t->ops.at[i].text.at >= t->ops.at[function].text.end) function = SW_IR_NONE;
    if (sw_ir_is_function(t, &t->ops.at[i])) {
      function = i;
      base[i] = n;
      n += names->n_slots[i];
    }
    function_of[i] = function;
  }
  return n;
}

/* Values of ops outside of functions are not numbered. */
static void find_definitions(const sw_ir_tree *t, const sw_ir_names *names, sw_ir_values *v) {
  const uint32_t *base = v->first_value;
  for (uint32_t i = 0; i < t->ops.n; i++) {
    const sw_ir_op *o = &t->ops.at[i];
    if (v->function_of[i] == SW_IR_NONE) continue;
    const uint32_t first = base[v->function_of[i]];
    for (uint32_t k = 0; k < o->n_results; k++) {
      const uint32_t result = o->first_result + k;
      v->of_result[result] = first + names->result[result];
      for (uint32_t m = 0; m < t->results.at[result].count; m++) {
        v->maker[v->of_result[result] + m] = i;
        v->index_of[v->of_result[result] + m] = result;
      }
    }
    for (uint32_t k = 0; k < o->n_uses; k++) {
      v->of_use[o->first_use + k] = first + names->use[o->first_use + k];
      v->op_of_use[o->first_use + k] = i;
    }
  }
  for (uint32_t i = 1; i < t->blocks.n; i++) {
    const uint32_t op = t->regions.at[t->blocks.at[i].region].op;
    if (v->function_of[op] == SW_IR_NONE) continue;
    v->of_block[i] = base[v->function_of[op]] + names->block[i];
    for (uint32_t k = 0; k < t->blocks.at[i].n_args; k++) {
      v->index_of[v->of_block[i] + k] = t->blocks.at[i].first_arg + k;
      v->block_of_value[v->of_block[i] + k] = i;
    }
  }
}

static void none(uint32_t *at, size_t n) {
  for (size_t i = 0; i < n; i++) at[i] = SW_IR_NONE;
}

sw_rc sw_ir_values_find(const sw_ir_tree *t, const sw_ir_names *names, sw_arena *arena, sw_ir_values *v, sw_diag *d) {
  *v = (sw_ir_values){0};
  SW_ARENA_NEW_EACH(arena, t->ops.n, d, v->first_value, v->function_of);
  v->n = number_functions(t, names, v->function_of, v->first_value);
  SW_ARENA_NEW_EACH(arena, t->uses.n, d, v->of_use, v->op_of_use, v->next_use);
  SW_ARENA_NEW(v->of_result, arena, t->results.n, d);
  SW_ARENA_NEW(v->of_block, arena, t->blocks.n, d);
  SW_ARENA_NEW_EACH(arena, v->n, d, v->first_use, v->maker, v->index_of, v->block_of_value);
  none(v->of_use, t->uses.n);
  none(v->op_of_use, t->uses.n);
  none(v->next_use, t->uses.n);
  none(v->of_result, t->results.n);
  none(v->of_block, t->blocks.n);
  none(v->first_use, v->n);
  none(v->maker, v->n);
  none(v->index_of, v->n);
  none(v->block_of_value, v->n);
  find_definitions(t, names, v);
  for (size_t i = t->uses.n; i-- > 0;) {
    const uint32_t value = v->of_use[i];
    if (value == SW_IR_NONE) continue;
    v->next_use[i] = v->first_use[value];
    v->first_use[value] = (uint32_t)i;
  }
  return SW_OK;
}

uint32_t sw_ir_result_value(const sw_ir_values *v, const sw_ir_tree *t, const sw_ir_op *o, uint32_t i) {
  uint32_t number;
  const sw_ir_result *at = sw_ir_result_at(t, o, i, &number);
  return at && v->of_result[at - t->results.at] != SW_IR_NONE ? v->of_result[at - t->results.at] + number : SW_IR_NONE;
}

bool sw_opt_is_private(const sw_ir_tree *t, const sw_ir_op *f) {
  return sw_ir_starts(t, sw_ir_trimmed(t, f->body), "private") ||
         sw_ir_is(t, sw_ir_unquoted(t, sw_ir_entry(t, f->props, "sym_visibility")), "private");
}

bool sw_opt_is_entry(const sw_ir_tree *t, const sw_ir_names *names, uint32_t op) {
  const int64_t *main = sw_dict_get(&names->functions, "main", 4);
  return main ? *main == (int64_t)op : !sw_opt_is_private(t, &t->ops.at[op]);
}

bool sw_opt_is_data_flow(const sw_ir_tree *t, const sw_ir_op *o) {
  static const char kNames[] = "stablehlo.while stablehlo.case stablehlo.optimization_barrier";
  return sw_ir_is_among(t, o->name, kNames);
}

bool sw_opt_is_main(const sw_ir_tree *t, const sw_ir_op *f) { return sw_ir_is(t, sw_ir_function_name(t, f), "main"); }

bool sw_opt_is_call(const sw_ir_tree *t, const sw_ir_op *o) { return sw_ir_is_among(t, o->name, "call func.call"); }

sw_ir_span sw_opt_called_symbol(const sw_ir_tree *t, const sw_ir_op *call) {
  return call->generic ? sw_ir_unquoted(t, sw_ir_entry(t, call->props, "callee")) : call->symbol;
}

uint32_t sw_opt_callee(const sw_ir_tree *t, const sw_ir_names *names, const sw_ir_op *o) {
  if (!sw_opt_is_call(t, o)) return SW_IR_NONE;
  return sw_ir_function_named(t, names, sw_opt_called_symbol(t, o));
}
