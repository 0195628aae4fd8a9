/* Which rounding is the coarsest on the way to a value: an f32 that bf16 was converted to has bf16's errors, if bf16
 * was computed and not only read.
 *
 *   w (bf16, an argument)   c = convert(w) to f32: f32      p = multiply(w, w): bf16   q = convert(p) to f32: bf16
 */
#include "exec/kernels/native.h"
#include "exec/validate/single.h"

/* What an inexact dtype rounds as; false: it is exact. */
static bool part_of(sw_dtype t, sw_dtype *out) {
  sw_dtype_class class = sw_dtype_class_of(t);
  *out = t == SW_C64 ? SW_F32 : t == SW_C128 ? SW_F64 : t;
  return class == SW_CLASS_FLOAT || class == SW_CLASS_COMPLEX;
}

static bool is_coarser(sw_dtype a, sw_dtype b) { return sw_unit_roundoff(a) > sw_unit_roundoff(b); }

/* Does the op round to its result's dtype, more than to move elements? */
static bool rounds(const sw_graph *g, const sw_op *op, sw_dtype result) {
  if (op->code != SW_OP_CONVERT) return op->space && op->space->flops_per_point > 0;
  sw_dtype from;
  return !part_of(sw_operand_type(g, op, 0)->dtype, &from) || is_coarser(result, from);
}

static bool raise_to(sw_dtype *of, sw_dtype t) {
  if (!is_coarser(t, *of)) return false;
  *of = t;
  return true;
}

/* One pass in the order of ops; what a loop hands on is known when it ends: false when nothing changed. */
static bool pass(const sw_graph *g, sw_dtype *coarsest) {
  bool changed = false;
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    for (int r = 0; r < op->n_results; r++) {
      sw_id id = op->results[r];
      sw_dtype t;
      if (part_of(g->values[id].type.dtype, &t) && rounds(g, op, t)) changed = raise_to(&coarsest[id], t) || changed;
      for (int k = 0; k < op->n_operands; k++) changed = raise_to(&coarsest[id], coarsest[op->operands[k]]) || changed;
    }
    if (op->code == SW_OP_JOIN) {
      sw_id entered = op->operands[0];
      changed = raise_to(&coarsest[entered], coarsest[op->results[0]]) || changed;
    }
  }
  return changed;
}

sw_rc sw_single_find_coarsest(const sw_graph *g, sw_arena *arena, sw_dtype **out, sw_diag *d) {
  SW_ARENA_NEW(*out, arena, g->n_values, d);
  for (sw_id i = 0; i < g->n_values; i++) (*out)[i] = SW_F64;
  while (pass(g, *out)) continue;
  return SW_OK;
}
