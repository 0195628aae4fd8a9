/* Why a collective may be done wrong without changing anything. Facts flow from operands to results:
 *
 *   z = broadcast(constant 0)   equal: every element on every device is 0
 *   g = all_gather z            left out or shifted, it is all 0 as well
 *   m = all_reduce max h        its result goes into nothing that is compared: unread
 *
 * Loops and branches end what is known, as values there change from trip to trip.
 */
#include "exec/validate/no_effect.h"

#include <string.h>

static const char *const kTexts[SW_NO_EFFECT_COUNT] = {"none", "equal", "alone", "empty", "unread"};
const char *sw_no_effect_text(sw_no_effect w) { return kTexts[w]; }

static const char *const kWords[SW_NO_EFFECT_COUNT] = {
    "it may have an effect", "all elements are equal on all devices, whatever the arguments are",
    "each device is a group by itself", "there are no elements", "nothing that is compared is made of its result"};
const char *sw_no_effect_words(sw_no_effect w) { return kWords[w]; }

static bool is_output(const sw_graph *g, sw_id value) {
  for (int32_t i = 0; i < g->n_outputs; i++) {
    if (g->outputs[i] == value) return true;
  }
  return false;
}

bool sw_is_compared(const sw_sharded *s, bool intermediates, sw_id value) {
  const sw_layout *l = s->layout ? &s->layout[value] : NULL;
  return is_output(s->program, value) ||
         (intermediates && l && l->is_block && l->source >= 0 && !l->sharding.n_partial);
}

static bool is_whole_sharding(const sw_sharding *s) { return !s || sw_sharding_is_replicated(s); }

static bool has_one_element(const sw_no_effects *n, sw_id value) {
  return sw_type_elements(&n->s->program->values[value].type) == 1;
}

static bool all_operands(const sw_op *op, const bool *facts) {
  for (int i = 0; i < op->n_operands; i++) {
    if (!facts[op->operands[i]]) return false;
  }
  return true;
}

/* --- equal -------------------------------------------------------------------------------------------------------- */

static bool is_splat(const sw_graph *g, const sw_op *op, bool *zero) {
  const sw_data *data = &sw_op_attr(op, SW_ATTR_VALUE)->u.data;
  const sw_type *t = sw_result_type(g, op, 0);
  const size_t bytes = (size_t)sw_dtype_bytes(t->dtype);
  *zero = true;
  for (size_t i = 0; i < bytes; i++) *zero = *zero && ((const char *)data->bytes)[i] == 0;
  for (int64_t i = 1, all = data->splat ? 1 : sw_type_elements(t); i < all; i++) {
    if (memcmp(data->bytes, (const char *)data->bytes + (size_t)i * bytes, bytes) != 0) return false;
  }
  return true;
}

/* Of equal operands, is the reduction one of them again? Then it also does not matter how many there are. */
static bool keeps_equal(sw_reduction r) {
  return r == SW_REDUCE_MIN || r == SW_REDUCE_MAX || r == SW_REDUCE_AND || r == SW_REDUCE_OR ||
         r == SW_REDUCE_BIT_AND || r == SW_REDUCE_BIT_OR || r == SW_REDUCE_AVERAGE;
}

/* Every device of it gets elements of others, or what all devices of equal groups combine. */
static bool keeps_collective(const sw_collective *c) {
  const bool moves = !(sw_coll_flags(c->op) & SW_COLL_USES_REDUCTION);
  const bool partly = c->lists || c->sources || c->fill_outside || (sw_coll_flags(c->op) & SW_COLL_USES_HALOS);
  return (sw_coll_combines(c->op) || moves) && !partly && c->op != SW_COLL_SHIFT && c->op != SW_COLL_RECV;
}

/* Zeros stay zeros, also where a part of them is made of other devices' or filled up. */
static bool keeps_zero(const sw_collective *c) {
  const bool fills = (sw_coll_flags(c->op) & SW_COLL_USES_REDUCTION) || c->fill_outside;
  return !fills || c->reduction == SW_REDUCE_SUM || c->reduction == SW_REDUCE_OR || c->reduction == SW_REDUCE_BIT_OR;
}

/* One number for each point, by the operands' numbers there alone. */
static bool is_by_point(const sw_op *op) {
  if (sw_op_is_pointwise(op->code) || sw_op_content(op) == SW_CONTENT_MOVED) return true;
  return op->code == SW_OP_CONVERT || op->code == SW_OP_COMPARE || op->code == SW_OP_SELECT;
}

static bool reduces_to_equal(const sw_op *op) {
  sw_reduction r;
  return op->code == SW_OP_REDUCE && sw_reduction_parse(sw_op_text(op, SW_ATTR_KIND, ""), &r) && keeps_equal(r);
}

/* What times 0 is 0? No infinity, so of floats not all. */
static bool is_zero(const sw_no_effects *n, const sw_op *op) {
  const sw_dtype_class class = sw_dtype_class_of(sw_result_type(n->s->program, op, 0)->dtype);
  const bool whole = class != SW_CLASS_FLOAT && class != SW_CLASS_COMPLEX;
  const bool takes = whole && (op->code == SW_OP_MULTIPLY || op->code == SW_OP_AND);
  if (takes && (n->zero[op->operands[0]] || n->zero[op->operands[1]])) return true;
  if (op->n_operands == 0 || !all_operands(op, n->zero)) return false;
  if (op->code == SW_OP_COLLECTIVE) return keeps_zero(op->collective);
  return sw_op_content(op) == SW_CONTENT_MOVED || strcmp(sw_op_text(op, SW_ATTR_KIND, ""), "sum") == 0;
}

static bool is_equal(const sw_no_effects *n, const sw_op *op) {
  const sw_id r = op->results[0];
  if (op->code == SW_OP_CONSTANT) return is_splat(n->s->program, op, &n->zero[r]);
  n->zero[r] = is_zero(n, op);
  if (n->zero[r]) return true;
  if (op->n_operands == 0 || !all_operands(op, n->equal)) return false;
  if (op->code == SW_OP_COLLECTIVE) return keeps_collective(op->collective);
  return is_by_point(op) || reduces_to_equal(op);
}

/* --- same --------------------------------------------------------------------------------------------------------- */

static bool is_same_everywhere(const sw_no_effects *n, const sw_op *op) {
  const sw_layout *l = n->s->layout ? &n->s->layout[op->results[0]] : NULL;
  if (l && l->is_block && is_whole_sharding(&l->sharding)) return true;
  if (op->code == SW_OP_COLLECTIVE) return n->equal[op->results[0]];
  return sw_op_class_of(op->code) != SW_OPS_DEVICE && all_operands(op, n->same);
}

static void find_same_and_equal(sw_no_effects *n) {
  const sw_graph *g = n->s->program;
  for (int32_t i = 0; i < g->n_args; i++) {
    n->same[g->args[i]] = is_whole_sharding(n->s->args[i]);
    n->equal[g->args[i]] = n->same[g->args[i]] && has_one_element(n, g->args[i]);
  }
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    if (op->n_results != 1 || sw_op_class_of(op->code) == SW_OPS_CONTROL) continue;
    const sw_id r = op->results[0];
    n->equal[r] = is_equal(n, op);
    n->same[r] = n->equal[r] || is_same_everywhere(n, op);
    n->equal[r] = n->equal[r] || (n->same[r] && has_one_element(n, r));
  }
}

/* --- read --------------------------------------------------------------------------------------------------------- */

/* What tests a loop or a choice decides all that follows. */
static bool is_result_read(const sw_no_effects *n, const sw_op *op) {
  for (int i = 0; i < op->n_results; i++) {
    if (n->read[op->results[i]]) return true;
  }
  return op->n_results == 0;
}

static void find_read(sw_no_effects *n, bool intermediates) {
  const sw_graph *g = n->s->program;
  for (sw_id v = 0; v < g->n_values; v++) n->read[v] = sw_is_compared(n->s, intermediates, v);
  for (bool more = true; more;) {
    more = false;
    for (int32_t i = g->n_ops - 1; i >= 0; i--) {
      const sw_op *op = &g->ops[i];
      for (int k = 0; k < op->n_operands && is_result_read(n, op); k++) {
        more = more || !n->read[op->operands[k]];
        n->read[op->operands[k]] = true;
      }
    }
  }
}

sw_rc sw_no_effects_find(const sw_sharded *s, bool intermediates, sw_arena *arena, sw_no_effects *out, sw_diag *d) {
  *out = (sw_no_effects){.s = s};
  SW_ARENA_NEW_EACH(arena, s->program->n_values, d, out->same, out->equal, out->zero, out->read);
  find_same_and_equal(out);
  find_read(out, intermediates);
  return SW_OK;
}

/* --- faults ------------------------------------------------------------------------------------------------------- */

static bool is_alone(const sw_collective *c, int64_t devices) {
  const bool by_groups = c->lists || c->n_axes;
  for (int64_t i = 0; i < devices && by_groups; i++) {
    if (sw_collective_members(c, i) > 1) return false;
  }
  return by_groups;
}

/* A sum of equal numbers is another number than each, unless that is 0. */
static bool is_unchanged(const sw_no_effects *n, const sw_op *op, sw_coll_fault fault) {
  const sw_collective *c = op->collective;
  if (fault == SW_COLL_FAULT_SHIFTED) return n->equal[op->results[0]];
  if (n->zero[op->operands[0]] && n->zero[op->results[0]])
    return fault == SW_COLL_FAULT_LEFT_OUT || sw_coll_combines(c->op);
  return n->equal[op->operands[0]] && n->equal[op->results[0]] && keeps_collective(c) &&
         (!sw_coll_combines(c->op) || keeps_equal(c->reduction));
}

sw_no_effect sw_no_effect_of(const sw_no_effects *n, const sw_op *op, sw_coll_fault fault) {
  const sw_graph *g = n->s->program;
  if (op->n_results != 1 || op->n_operands < 1) return SW_NO_EFFECT_NONE;
  if (!n->read[op->results[0]]) return SW_NO_EFFECT_UNREAD;
  if (sw_type_elements(&g->values[op->results[0]].type) == 0) return SW_NO_EFFECT_EMPTY;
  if (fault == SW_COLL_FAULT_STALE) return SW_NO_EFFECT_NONE;
  if (fault == SW_COLL_FAULT_OTHER_VALUE) return n->equal[op->results[0]] ? SW_NO_EFFECT_EQUAL : SW_NO_EFFECT_NONE;
  if (fault != SW_COLL_FAULT_SHIFTED && is_alone(op->collective, sw_mesh_devices(n->s->grid)))
    return SW_NO_EFFECT_ALONE;
  return is_unchanged(n, op, fault) ? SW_NO_EFFECT_EQUAL : SW_NO_EFFECT_NONE;
}
