#include "schedule/policies.h"

#include <string.h>

typedef enum again { AGAIN_NOTHING, AGAIN_CORE, AGAIN_OF_LAYERS, AGAIN_ALL } again;
/* What is kept of a layer. */
enum { KEEPS_ATTENTION = 1, KEEPS_COLLECTIVES = 2, KEEPS_PRODUCTS = 4 };

typedef struct policy {
  const char *name;
  again what;     /* of the core of attention: scores, softmax, dropout; of layers, but: */
  unsigned keeps; /* results of these */
  bool whole;     /* what nobody reads is made again, too */
  int every;      /* of products with weights, in order in a layer: the first of so many */
} policy;

/* Megatron-LM's --recompute-granularity full, and selective of core_attn; torchtitan's selective activation
 * checkpointing "op". */
static const policy kPolicies[SW_RECOMPUTE_COUNT] = {
    [SW_RECOMPUTE_AS_WRITTEN] = {.name = "as-written"},
    [SW_RECOMPUTE_SEARCH] = {.name = "search", .what = AGAIN_ALL},
    [SW_RECOMPUTE_FULL] = {.name = "full", .what = AGAIN_OF_LAYERS},
    [SW_RECOMPUTE_WHOLE] = {.name = "full=megatron", .what = AGAIN_OF_LAYERS, .whole = true},
    [SW_RECOMPUTE_MEGATRON] = {.name = "selective=megatron", .what = AGAIN_CORE},
    [SW_RECOMPUTE_TORCHTITAN] = {.name = "selective=torchtitan",
                                 .what = AGAIN_OF_LAYERS,
                                 .keeps = KEEPS_ATTENTION | KEEPS_COLLECTIVES | KEEPS_PRODUCTS,
                                 .every = 2},
    [SW_RECOMPUTE_NONE] = {.name = "none"},
};
const char *sw_recompute_text(sw_recompute r) { return kPolicies[r].name; }

sw_rc sw_recompute_parse(const char *text, sw_span at, sw_recompute *out, sw_diag *d) {
  sw_text known = {0};
  for (*out = 0; *out < SW_RECOMPUTE_COUNT; ++*out)
    if (strcmp(text, sw_recompute_text(*out)) == 0) return SW_OK;
  for (sw_recompute r = 0; r < SW_RECOMPUTE_COUNT; r++)
    sw_text_printf(&known, "%s%s", r ? ", " : "", sw_recompute_text(r));
  const sw_rc rc = SW_FAIL(d, SW_E_USAGE, at, "'%s' is no way to recompute; expected one of %s", text,
                           known.rc ? "those of --recompute" : sw_text_str(&known));
  sw_text_free(&known);
  return rc;
}

bool sw_policy_is_whole(sw_recompute r) { return kPolicies[r].whole; }
bool sw_policy_is_of_layers(sw_recompute r) { return kPolicies[r].what == AGAIN_OF_LAYERS; }

/* --- attention's core --------------------------------------------------------------------------------------------- */

typedef struct core {
  const sw_graph *g;
  sw_id n_ops;
  const bool *large;
  bool *of_input; /* by value: it depends on an input */
  bool *follows;  /* by value: made of a product of two that do, with no other contraction between */
  bool *leads;    /* by value: likewise, to such a product */
  bool *feeds;    /* by op: of no large value but those of such ops, for those in the core alone: what dropout draws */
} core;

static void find_of_input(core *c) {
  const sw_graph *g = c->g;
  for (int32_t i = 0; i < g->n_args; i++) c->of_input[g->args[i]] = g->values[g->args[i]].kind == SW_VALUE_INPUT;
  for (sw_id i = 0; i < c->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    bool any = false;
    for (int k = 0; k < op->n_operands; k++) any = any || c->of_input[op->operands[k]];
    for (int k = 0; k < op->n_results; k++) c->of_input[op->results[k]] = any;
  }
}

static bool multiplies_two(const core *c, const sw_op *op) {
  return sw_op_class_of(op->code) == SW_OPS_CONTRACTION && op->n_operands == 2 && c->of_input[op->operands[0]] &&
         c->of_input[op->operands[1]];
}

static void find_between_products(core *c) {
  for (sw_id i = 0; i < c->n_ops; i++) {
    const sw_op *op = &c->g->ops[i];
    bool any = multiplies_two(c, op);
    for (int k = 0; k < op->n_operands && !sw_op_is_heavy(op); k++) any = any || c->follows[op->operands[k]];
    for (int k = 0; k < op->n_results; k++) c->follows[op->results[k]] = any;
  }
  for (sw_id i = c->n_ops; i-- > 0;) {
    const sw_op *op = &c->g->ops[i];
    bool any = multiplies_two(c, op);
    for (int k = 0; k < op->n_results && !sw_op_is_heavy(op); k++) any = any || c->leads[op->results[k]];
    for (int k = 0; k < op->n_operands; k++) c->leads[op->operands[k]] = c->leads[op->operands[k]] || any;
  }
}

static bool is_core(const core *c, const sw_op *op) {
  if (op->code == SW_OP_ATTENTION) return true;
  bool any = false;
  for (int k = 0; k < op->n_results; k++)
    any = any || (c->follows[op->results[k]] && c->leads[op->results[k]] && c->large[op->results[k]]);
  return any;
}

/* Do only ops of the core, or what feeds it, read what is large of it? */
static bool is_for_core(const core *c, const sw_op *op) {
  bool any = false;
  for (int k = 0; k < op->n_results; k++) {
    const sw_value *v = &c->g->values[op->results[k]];
    for (int32_t u = 0; u < v->n_uses && c->large[op->results[k]]; u++) {
      const sw_id reader = v->uses[u].op;
      if (reader >= c->n_ops) continue;
      if (reader < 0 || !(c->feeds[reader] || is_core(c, &c->g->ops[reader]))) return false;
      any = true;
    }
  }
  return any && !sw_op_is_heavy(op);
}

static void mark_core(core *c, bool *may) {
  for (sw_id i = c->n_ops; i-- > 0;) c->feeds[i] = is_for_core(c, &c->g->ops[i]);
  for (sw_id i = 0; i < c->n_ops; i++) {
    const sw_op *op = &c->g->ops[i];
    for (int k = 0; k < op->n_operands; k++) {
      const sw_id def = c->g->values[op->operands[k]].def;
      if (c->large[op->operands[k]] && (def < 0 || !c->feeds[def])) c->feeds[i] = false;
    }
    may[i] = c->feeds[i] || is_core(c, op);
  }
}

static sw_rc find_core(core *c, sw_arena *arena, sw_diag *d) {
  SW_ARENA_NEW_EACH(arena, c->g->n_values + 1, d, c->of_input, c->follows, c->leads);
  SW_ARENA_NEW(c->feeds, arena, c->n_ops + 1, d);
  find_of_input(c);
  find_between_products(c);
  return SW_OK;
}

/* --- by layer ----------------------------------------------------------------------------------------------------- */

static void mark_layer(const core *c, const policy *p, sw_id first, sw_id end, bool *may) {
  int products = 0;
  for (sw_id i = first; i < end; i++) {
    const sw_op *op = &c->g->ops[i];
    const bool product =
        sw_op_class_of(op->code) == SW_OPS_CONTRACTION && !multiplies_two(c, op) && c->of_input[op->results[0]];
    may[i] = !(p->keeps & KEEPS_ATTENTION && op->code == SW_OP_ATTENTION) &&
             !(p->keeps & KEEPS_COLLECTIVES && op->code == SW_OP_COLLECTIVE) &&
             !(p->keeps & KEEPS_PRODUCTS && product && products % p->every == 0);
    products += product;
  }
}

sw_rc sw_policy_apply(const sw_graph *g, sw_recompute how, sw_id n_ops, const sw_layers *layers, const bool *large,
                      bool *may, sw_diag *d) {
  const policy *p = &kPolicies[how];
  core c = {.g = g, .n_ops = n_ops, .large = large};
  sw_arena scratch = {0};
  sw_rc rc = find_core(&c, &scratch, d);
  if (!rc && p->what == AGAIN_CORE) mark_core(&c, may);
  const bool everywhere = p->what == AGAIN_ALL || (p->what == AGAIN_OF_LAYERS && !layers->n);
  if (!rc && everywhere) mark_layer(&c, p, 0, n_ops, may);
  for (int32_t k = 0; !rc && p->what == AGAIN_OF_LAYERS && k < layers->n; k++)
    mark_layer(&c, p, layers->first[k], layers->end[k], may);
  sw_arena_deinit(&scratch);
  return rc;
}
