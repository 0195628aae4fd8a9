/* Which rounding is the coarsest on the way to a value: an f32 that bf16 was converted to has bf16's errors, if bf16
 * was computed and not only read.
 *
 *   w (bf16, an argument)   c = convert(w) to f32: f32      p = multiply(w, w): bf16   q = convert(p) to f32: bf16
 *
 * And which values are not rounded at all: an argument's elements, moved and widened, are the same on every device.
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
  if (op->code != SW_OP_CONVERT) return op->nest && op->nest->flops_per_point > 0;
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

/* --- not rounded -------------------------------------------------------------------------------------------------- */

/* The greatest or least of elements is one of them. */
static bool takes_one(const sw_op *op) {
  sw_reduction r;
  if (op->code == SW_OP_TOP_K || op->code == SW_OP_ARGMAX || op->code == SW_OP_ARGMIN) return true;
  if (op->code != SW_OP_REDUCE && op->code != SW_OP_REDUCE_WINDOW && op->code != SW_OP_CUMULATIVE) return false;
  return sw_reduction_parse(sw_op_text(op, SW_ATTR_KIND, ""), &r) && (r == SW_REDUCE_MIN || r == SW_REDUCE_MAX);
}

static bool is_rounded(const sw_graph *g, const sw_op *op, const bool *rounded) {
  bool floats = false;
  sw_dtype t;
  for (int k = 0; k < op->n_operands; k++) {
    if (rounded[op->operands[k]]) return true;
    floats = floats || part_of(sw_operand_type(g, op, k)->dtype, &t);
  }
  for (int r = 0; r < op->n_results; r++) floats = floats || part_of(sw_result_type(g, op, r)->dtype, &t);
  if (op->code == SW_OP_CONVERT) return floats && (!part_of(sw_result_type(g, op, 0)->dtype, &t) || rounds(g, op, t));
  return floats && sw_op_content(op) < SW_CONTENT_EXACT && !takes_one(op);
}

static bool pass_rounded(const sw_graph *g, bool *rounded) {
  bool changed = false;
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    bool now = is_rounded(g, op, rounded);
    for (int r = 0; now && r < op->n_results; r++) {
      changed = changed || !rounded[op->results[r]];
      rounded[op->results[r]] = true;
    }
    if (op->code == SW_OP_JOIN && rounded[op->results[0]] && !rounded[op->operands[0]]) {
      rounded[op->operands[0]] = changed = true;
    }
  }
  return changed;
}

sw_rc sw_single_find_rounded(const sw_graph *g, const bool *averaged, sw_arena *arena, bool **out, sw_diag *d) {
  SW_ARENA_NEW(*out, arena, g->n_values, d);
  for (sw_id i = 0; averaged && i < g->n_values; i++) (*out)[i] = averaged[i];
  while (pass_rounded(g, *out)) continue;
  return SW_OK;
}

sw_rc sw_single_find_coarsest(const sw_graph *g, sw_arena *arena, sw_dtype **out, sw_diag *d) {
  SW_ARENA_NEW(*out, arena, g->n_values, d);
  for (sw_id i = 0; i < g->n_values; i++) (*out)[i] = SW_F64;
  while (pass(g, *out)) continue;
  return SW_OK;
}
