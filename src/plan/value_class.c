#include "plan/value_class.h"

const char *sw_memory_class_text(sw_memory_class c) {
  static const char *const kText[] = {[SW_MEMORY_INPUTS] = "inputs",
                                      [SW_MEMORY_PARAMETERS] = "parameters",
                                      [SW_MEMORY_OPTIMIZER] = "optimizer state",
                                      [SW_MEMORY_STATE] = "state",
                                      [SW_MEMORY_GRADIENTS] = "gradients",
                                      [SW_MEMORY_KEPT] = "kept for backward",
                                      [SW_MEMORY_OUTPUTS] = "outputs",
                                      [SW_MEMORY_TEMPORARIES] = "temporaries",
                                      [SW_MEMORY_COPIES] = "resharded copies"};
  _Static_assert(sizeof kText / sizeof *kText == SW_MEMORY_CLASSES, "one text per class");
  return kText[c];
}

/* --- the class of a value ----------------------------------------------------------------------------------------- */

typedef struct classifier {
  const sw_graph *g;
  bool *forward; /* by value: an output that is no next version of a state needs it */
  bool *update;  /* by value: made from state, on the way from a gradient to the next version of a parameter */
  sw_id *next;   /* by value: the next version of an argument, or -1 */
  bool *result;  /* by output: it is the gradient of a parameter */
  uint8_t *class_of;
  bool trains;
} classifier;

/* --- gradients that are outputs ---------------------------------------------------------------------------------- */

/* A float with dims, as weights and what is trained beside them are; no counter, key or scale of the loss. */
static bool may_be_trained(const sw_value *v) {
  return sw_dtype_class_of(v->type.dtype) == SW_CLASS_FLOAT && v->type.rank > 0;
}

static bool is_parameter(const sw_value *v) { return v->kind == SW_VALUE_PARAMETER && may_be_trained(v); }

/* By value: is it made of an input, on whatever ways? */
static sw_rc find_made_of_inputs(const sw_graph *g, sw_arena *arena, bool **out, sw_diag *d) {
  bool *of;
  SW_ARENA_NEW(of, arena, g->n_values, d);
  for (int32_t i = 0; i < g->n_args; i++) of[g->args[i]] = g->values[g->args[i]].kind == SW_VALUE_INPUT;
  for (sw_id id = 0; id < g->n_ops; id++) {
    const sw_op *op = &g->ops[id];
    bool any = false;
    for (int i = 0; i < op->n_operands; i++) any = any || of[op->operands[i]];
    for (int i = 0; i < op->n_results; i++) of[op->results[i]] = any;
  }
  *out = of;
  return SW_OK;
}

/* A program that returns the loss and its gradients: an output for each parameter, of its shape, in their order, made
 * of inputs, and others beside them. */
static sw_rc find_results(classifier *c, sw_arena *arena, sw_diag *d) {
  const sw_graph *g = c->g;
  bool *of_input;
  int32_t output = 0, others = g->n_outputs, n = 0;
  SW_ARENA_NEW(c->result, arena, g->n_outputs, d);
  SW_TRY(find_made_of_inputs(g, arena, &of_input, d));
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_value *parameter = &g->values[g->args[i]];
    if (!is_parameter(parameter)) continue;
    for (; output < g->n_outputs; output++) {
      const sw_value *made = &g->values[g->outputs[output]];
      if (g->alias[output] < 0 && of_input[g->outputs[output]] && sw_type_same_shape(&made->type, &parameter->type))
        break;
    }
    if (output < g->n_outputs) c->result[output++] = true;
    n++;
    others--;
  }
  int32_t found = 0;
  for (int32_t i = 0; i < g->n_outputs; i++) found += c->result[i];
  const bool all = n > 0 && found == n && others > 0;
  for (int32_t i = 0; i < g->n_outputs && !all; i++) c->result[i] = false;
  c->trains = all;
  return SW_OK;
}

/* --- what is made forward, and arguments -------------------------------------------------------------------------- */

/* From the outputs back; frames stand in line, so one walk sees all but what a loop carries to its next trip. */
static void find_forward(classifier *c) {
  const sw_graph *g = c->g;
  for (int32_t i = 0; i < g->n_outputs; i++) {
    if (g->alias[i] < 0 && !c->result[i]) c->forward[g->outputs[i]] = true;
  }
  for (sw_id id = g->n_ops; id-- > 0;) {
    const sw_op *op = &g->ops[id];
    bool needed = false;
    for (int i = 0; i < op->n_results; i++) needed = needed || c->forward[op->results[i]];
    for (int i = 0; needed && i < op->n_operands; i++) c->forward[op->operands[i]] = true;
  }
}

static bool made_forward(const classifier *c, const sw_op *op) {
  for (int i = 0; i < op->n_results; i++) {
    if (c->forward[op->results[i]]) return true;
  }
  return false;
}

/* Does an op of the part of the program that is, or is not, needed forward use it? */
static bool is_used(const classifier *c, sw_id value, bool forward) {
  const sw_value *v = &c->g->values[value];
  for (int32_t u = 0; u < v->n_uses; u++) {
    if (v->uses[u].op >= 0 && made_forward(c, &c->g->ops[v->uses[u].op]) == forward) return true;
  }
  return false;
}

/* What the op takes over, with something else written into a part of it or not; -1: nothing. */
static sw_id taken_over(const sw_graph *g, const sw_op *op) {
  if (op->code == SW_OP_JOIN) return sw_join_yielded(g, op);
  return op->code == SW_OP_ENTER || op->code == SW_OP_DYNAMIC_UPDATE_SLICE ? op->operands[0] : -1;
}

/* A cache: its next version is itself, with rows written into it. */
static bool is_written_into(const classifier *c, sw_id arg) {
  const sw_graph *g = c->g;
  bool written = false;
  sw_id v = c->next[arg];
  while (v >= 0 && g->values[v].def >= 0) {
    const sw_op *op = &g->ops[g->values[v].def];
    written = written || op->code == SW_OP_DYNAMIC_UPDATE_SLICE;
    v = taken_over(g, op);
  }
  return written && v == arg;
}

static uint8_t class_of_argument(classifier *c, sw_id arg) {
  const sw_value *v = &c->g->values[arg];
  if (v->kind == SW_VALUE_INPUT) return SW_MEMORY_INPUTS;
  if (v->kind == SW_VALUE_PARAMETER) return SW_MEMORY_PARAMETERS;
  const sw_id next = c->next[arg];
  if (next < 0 || c->forward[next] || c->g->values[next].def < 0 || is_written_into(c, arg)) return SW_MEMORY_STATE;
  if (!is_used(c, arg, true)) return SW_MEMORY_OPTIMIZER;
  return may_be_trained(v) ? SW_MEMORY_PARAMETERS : SW_MEMORY_STATE;
}

/* A sum over steps: its next version is itself and something more, and it has the shape of a parameter. */
static bool sums_gradients(const classifier *c, sw_id arg, int least_rank) {
  const sw_graph *g = c->g;
  if (c->class_of[arg] != SW_MEMORY_OPTIMIZER || g->values[arg].type.rank < least_rank) return false;
  const sw_op *op = &g->ops[g->values[c->next[arg]].def];
  if (op->code != SW_OP_ADD || (op->operands[0] != arg && op->operands[1] != arg)) return false;
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    if (is_parameter(v) && sw_type_same_shape(&v->type, &g->values[arg].type)) return true;
  }
  return false;
}

/* Where no parameter is updated: a step that adds gradients to the sums of earlier ones, which matrices tell from
 * statistics of batches; other state is no optimizer's. */
static void classify_sums(classifier *c) {
  const sw_graph *g = c->g;
  for (int32_t i = 0; i < g->n_args && !c->trains; i++) c->trains = sums_gradients(c, g->args[i], 2);
  for (int32_t i = 0; i < g->n_args; i++) {
    uint8_t *class_of = &c->class_of[g->args[i]];
    if (*class_of != SW_MEMORY_OPTIMIZER) continue;
    *class_of = c->trains && sums_gradients(c, g->args[i], 1) ? SW_MEMORY_GRADIENTS : SW_MEMORY_STATE;
  }
}

static void classify_arguments(classifier *c) {
  const sw_graph *g = c->g;
  bool updates = false;
  for (int32_t i = 0; i < g->n_args; i++) {
    const uint8_t class_of = c->class_of[g->args[i]] = class_of_argument(c, g->args[i]);
    updates = updates || (g->values[g->args[i]].kind == SW_VALUE_STATE && class_of == SW_MEMORY_PARAMETERS);
  }
  c->trains = c->trains || updates;
  if (!updates) classify_sums(c);
}

static void classify_made(classifier *c) {
  const sw_graph *g = c->g;
  for (sw_id v = 0; v < g->n_values; v++) {
    if (g->values[v].def < 0) continue;
    const bool kept = c->trains && c->forward[v] && is_used(c, v, false);
    c->class_of[v] = kept ? SW_MEMORY_KEPT : SW_MEMORY_TEMPORARIES;
  }
  for (int32_t i = 0; i < g->n_outputs; i++) {
    const uint8_t of_output = c->result[i] ? SW_MEMORY_GRADIENTS : SW_MEMORY_OUTPUTS;
    if (g->values[g->outputs[i]].def >= 0)
      c->class_of[g->outputs[i]] = g->alias[i] < 0 ? of_output : c->class_of[g->alias[i]];
  }
}

/* Element by element, or only in another shape? */
static bool hands_through(const sw_op *op) {
  for (int32_t k = 0; op->nest && k < op->nest->n_loops; k++) {
    if (op->nest->loops[k].kind != SW_LOOP_PARALLEL) return false;
  }
  return op->nest != NULL;
}

/* Is it made from state of this size, directly or on the way? */
static bool updates_state(const classifier *c, const sw_op *op, int64_t elements) {
  for (int i = 0; i < op->n_operands; i++) {
    const sw_id v = op->operands[i];
    if (sw_type_elements(&c->g->values[v].type) != elements) continue;
    if (c->update[v] || (c->g->values[v].def < 0 && c->g->values[v].kind == SW_VALUE_STATE)) return true;
  }
  return false;
}

/* Ops in order, so that what an op is made of is known. */
static void find_updates(classifier *c) {
  const sw_graph *g = c->g;
  for (sw_id id = 0; id < g->n_ops; id++) {
    const sw_op *op = &g->ops[id];
    for (int i = 0; hands_through(op) && !made_forward(c, op) && i < op->n_results; i++)
      c->update[op->results[i]] = updates_state(c, op, sw_type_elements(&g->values[op->results[i]].type));
  }
}

/* Are elements of the operand, of which there are so many, elements of the result? */
static bool hands_on(const sw_graph *g, const sw_op *op, int operand, int64_t elements) {
  if (op->code == SW_OP_DYNAMIC_UPDATE_SLICE) return operand <= 1; /* a stack, and what is written into it */
  return hands_through(op) && sw_type_elements(sw_operand_type(g, op, operand)) == elements;
}

/* From the next versions of parameters, and of sums of gradients, back through what hands elements on, to what is not
 * made from state. */
static void find_gradients(classifier *c, bool *reached) {
  const sw_graph *g = c->g;
  for (int32_t i = 0; i < g->n_outputs; i++) {
    const uint8_t of_arg = g->alias[i] < 0 ? SW_MEMORY_OUTPUTS : c->class_of[g->alias[i]];
    if (c->result[i] || of_arg == SW_MEMORY_PARAMETERS || of_arg == SW_MEMORY_GRADIENTS) reached[g->outputs[i]] = true;
  }
  for (sw_id id = g->n_ops; id-- > 0;) {
    const sw_op *op = &g->ops[id];
    for (int i = 0; i < op->n_results; i++) {
      const sw_id made = op->results[i];
      if (!reached[made] || c->forward[made]) continue;
      if (!c->update[made] && c->class_of[made] == SW_MEMORY_TEMPORARIES) c->class_of[made] = SW_MEMORY_GRADIENTS;
      const int64_t elements = sw_type_elements(&g->values[made].type);
      for (int k = 0; k < op->n_operands; k++) {
        const sw_value *from = &g->values[op->operands[k]];
        if (from->def >= 0 && hands_on(g, op, k, elements)) reached[op->operands[k]] = true;
      }
    }
  }
}

sw_rc sw_classify_values(const sw_graph *g, sw_arena *arena, const uint8_t **of_value, sw_diag *d) {
  classifier c = {.g = g};
  bool *reached;
  SW_ARENA_NEW_EACH(arena, g->n_values, d, c.forward, c.update, c.next, c.class_of, reached);
  for (sw_id v = 0; v < g->n_values; v++) c.next[v] = -1;
  for (int32_t i = 0; i < g->n_outputs; i++)
    if (g->alias[i] >= 0) c.next[g->alias[i]] = g->outputs[i];
  SW_TRY(find_results(&c, arena, d));
  find_forward(&c);
  classify_arguments(&c);
  classify_made(&c);
  if (c.trains) {
    find_updates(&c);
    find_gradients(&c, reached);
  }
  *of_value = c.class_of;
  return SW_OK;
}

/* --- extents of inputs -------------------------------------------------------------------------------------------- */

bool sw_takes_apart(const sw_graph *g, const sw_op *op) {
  int n;
  const int64_t *sizes = op->code == SW_OP_DYNAMIC_SLICE ? sw_op_ints(op, SW_ATTR_SIZES, &n) : NULL;
  return sizes && n > 0 && sizes[0] == 1 && sw_operand_type(g, op, 0)->dims[0] > 1 && sw_op_is_repeated(g, op);
}

bool sw_is_walked(const sw_graph *g, sw_id value) {
  const sw_value *v = &g->values[value];
  for (int32_t u = 0; u < v->n_uses; u++) {
    const sw_op *op = v->uses[u].op < 0 ? NULL : &g->ops[v->uses[u].op];
    if (!op || v->uses[u].index != 0) continue;
    if (sw_takes_apart(g, op) || (op->code == SW_OP_ENTER && sw_is_walked(g, op->results[0]))) return true;
  }
  return false;
}

int sw_input_batch_dim(const sw_graph *g, sw_id input) {
  return g->values[input].type.rank > 1 && sw_is_walked(g, input) ? 1 : 0;
}

bool sw_has_sequence(const sw_value *v, int batch) {
  const int rank = v->type.rank - batch;
  const bool tokens = rank == 2 && sw_dtype_class_of(v->type.dtype) != SW_CLASS_FLOAT;
  return (tokens || rank == 3) && v->type.dims[batch + 1] > 1;
}

sw_input_extents sw_find_input_extents(const sw_graph *g, const bool *is_weight) {
  sw_input_extents out = {0};
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t i = g->n_args - 1; i >= 0; i--) {
      const sw_value *v = &g->values[g->args[i]];
      if (v->kind != SW_VALUE_INPUT || !v->type.rank || (is_weight && is_weight[g->args[i]])) continue;
      const int batch = sw_input_batch_dim(g, g->args[i]);
      if (pass == 0)
        out.batch = v->type.dims[batch];
      else if (sw_has_sequence(v, batch) && v->type.dims[batch] == out.batch)
        out.sequence = v->type.dims[batch + 1];
    }
  }
  return out;
}
