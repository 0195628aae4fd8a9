/* Values whose collectives can wait for others, and be done with them in one call: parameters, gradients, and what
 * updates give back.
 *
 *   w1 ----> dot --> relu --> dot --> ...      w2 is there long before its reader can run, and the gradient of w2
 *   w2 ----------------------/                 long before the end needs it; what goes from dot to dot cannot wait
 *
 * Ops are taken to be steps of one length. `first` is the earliest step of an op, `last` the latest that does not make
 * the program longer: what lies between a value and its reader is how long it can wait. Where an update could take a
 * gradient in parts through several of its steps, the first value counts alone: the later ones come one after the
 * other.
 */
#include "kernel/combine.h"

#include "base/checked.h"

typedef struct steps {
  const sw_graph *g;
  int32_t *first, *behind; /* by op: ops before it on the longest way, and from it on */
  int32_t length;
} steps;

/* The step behind which a value is there; arguments are from the start. */
static int32_t made_at(const steps *s, sw_id value) {
  const sw_id def = s->g->values[value].def;
  return def < 0 ? 0 : s->first[def] + 1;
}

static void find_first(steps *s) {
  for (sw_id i = 0; i < s->g->n_ops; i++) {
    const sw_op *op = &s->g->ops[i];
    for (int k = 0; k < op->n_operands; k++) s->first[i] = sw_max_i32(s->first[i], made_at(s, op->operands[k]));
  }
}

static void find_behind(steps *s) {
  for (sw_id i = s->g->n_ops - 1; i >= 0; i--) {
    const sw_op *op = &s->g->ops[i];
    s->behind[i]++;
    s->length = sw_max_i32(s->length, s->first[i] + s->behind[i]);
    for (int k = 0; k < op->n_operands; k++) {
      const sw_id def = s->g->values[op->operands[k]].def;
      if (def >= 0) s->behind[def] = sw_max_i32(s->behind[def], s->behind[i]);
    }
  }
}

static int32_t last_of(const steps *s, sw_id op) { return s->length - (op < 0 ? 0 : s->behind[op]); }

/* Is an operand of the op made where the program cannot wait? */
static bool reads_critical(const steps *s, const sw_op *op) {
  for (int k = 0; k < op->n_operands; k++) {
    const sw_id def = s->g->values[op->operands[k]].def;
    if (def >= 0 && last_of(s, def) - s->first[def] < SW_LEAST_WAIT) return true;
  }
  return false;
}

static bool is_delivered(const sw_value *v) {
  int32_t outputs = 0;
  for (int32_t u = 0; u < v->n_uses; u++) outputs += v->uses[u].op < 0;
  return outputs == v->n_uses;
}

static bool is_candidate(const steps *s, const sw_value *v) {
  return v->n_uses > 0 && (v->def < 0 || is_delivered(v) || reads_critical(s, &s->g->ops[v->def]));
}

static bool can_wait(const steps *s, sw_id value) {
  const sw_value *v = &s->g->values[value];
  for (int32_t u = 0; u < v->n_uses; u++) {
    if (last_of(s, v->uses[u].op) - made_at(s, value) < SW_LEAST_WAIT) return false;
  }
  return true;
}

sw_rc sw_combined_find(const sw_graph *g, int64_t combine_bytes, sw_arena *arena, const bool **out, sw_diag *d) {
  steps s = {.g = g};
  bool *combines;
  sw_arena scratch = {0};
  SW_ARENA_NEW(combines, arena, g->n_values, d);
  *out = combines;
  if (combine_bytes <= 0) return SW_OK;
  s.first = sw_arena_alloc(&scratch, (size_t)g->n_ops + 1, sizeof *s.first, d);
  s.behind = sw_arena_alloc(&scratch, (size_t)g->n_ops + 1, sizeof *s.behind, d);
  const sw_rc rc = s.first && s.behind ? SW_OK : SW_E_RESOURCE;
  if (!rc) find_first(&s);
  if (!rc) find_behind(&s);
  for (sw_id v = 0; !rc && v < g->n_values; v++)
    combines[v] =
        sw_type_bytes(&g->values[v].type) <= combine_bytes && is_candidate(&s, &g->values[v]) && can_wait(&s, v);
  sw_arena_deinit(&scratch);
  return rc;
}
