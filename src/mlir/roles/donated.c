/* State that nothing says is such: of programs whose arguments are not donated.
 *
 * An output is an argument, updated, when ops on single elements lead from the one to the other:
 *
 *   step(w, m, x):   g = ... ;  m' = 0.9 m + g ;  w' = w - 0.1 m' ;  returns w', m', loss
 *
 * Of several such arguments of the output's type it is the nearest one (w, not m, for w'). That counts where weights
 * are donated so, which means that the program is a step of a training; elsewhere a layer's input, added to what the
 * layer makes of it, would look alike. Buffers into which something is written (caches of keys and values) count
 * everywhere. In a step of a training these come back, too:
 *
 *   copies that are used in place of master weights     w = bf16(master'), which is no update of the old w
 *   sums of gradients                                   acc' = acc + g, where acc is of the shape of weights
 *   integers made of themselves alone                   counters of steps, keys of random numbers
 *   arguments that nothing uses                         places that an optimizer keeps for other shapes of weights
 *   what an output of its type is made of by any ops    q' = qr(q g), where q stands in a tree as far from a weight as
 * q' from what that becomes
 *
 * The first two are a step of a training by themselves.
 */
#include <string.h>

#include "mlir/roles/roles.h"

enum { MOST_SEEN = 256 }; /* values seen on the way from one output */

/* An argument that becomes an output. */
typedef struct pair {
  uint32_t argument, output;
  bool written; /* on the way something is written into it */
  bool trains;  /* it is state of a training's step, by itself */
} pair;

typedef struct seen {
  sw_id value;
  bool written;
} seen;

typedef struct finder {
  const sw_role_guess *r;
  const sw_role_output *outputs;
  int32_t *argument; /* by value: the candidate that it is; -1: none, or it is taken */
  bool *is_state;    /* by value: an argument that becomes an output */
  int32_t *n_uses;   /* by value: by ops */
  int32_t *mark;     /* by value: the last search that saw it */
  int32_t search;
  sw_id *queue;       /* as many as there are values */
  int64_t *output_of; /* by argument: the output that it becomes; -1: none */
  bool *is_paired;    /* by output: an argument becomes it */
  pair *pairs;
  uint32_t n;
} finder;

/* How many of an op's operands the way goes back to; *written: something is put into the first one. */
static int32_t ways_back(const sw_op *op, bool *written) {
  *written = op->code == SW_OP_DYNAMIC_UPDATE_SLICE || op->code == SW_OP_SCATTER;
  if (*written) return 1;
  static const sw_opcode kOthers[] = {SW_OP_SELECT, SW_OP_CLAMP, SW_OP_CONVERT, SW_OP_REDUCE_PRECISION,
                                      SW_OP_ENTER,  SW_OP_YIELD, SW_OP_JOIN};
  bool through = sw_op_is_pointwise(op->code);
  for (size_t i = 0; i < sizeof kOthers / sizeof *kOthers; i++) through |= op->code == kOthers[i];
  return through ? op->n_operands : 0;
}

/* What is called data is donated only where something is written into it; and what is donated is cut as it was, so that
 * neither or both say how. */
static bool may_become(const finder *f, const seen *s, sw_id from, uint32_t output) {
  const sw_graph *g = f->r->g;
  int32_t argument = f->argument[s->value];
  if (argument < 0 || !sw_type_equal(&g->values[s->value].type, &g->values[from].type)) return false;
  const sw_role *a = &f->r->roles->at[argument];
  bool data = a->source == SW_ROLE_NAMED && a->kind == SW_VALUE_INPUT;
  return (s->written || !data) && strcmp(a->sharding, f->outputs[output].sharding) == 0;
}

static void pair_with_output(finder *f, uint32_t output, sw_id value, bool written, bool trains) {
  f->pairs[f->n++] = (pair){(uint32_t)f->argument[value], output, written, trains};
  f->output_of[f->argument[value]] = output;
  f->is_paired[output] = true;
  f->argument[value] = -1;
  f->is_state[value] = true;
}

/* Is this argument what is looked for? */
typedef bool (*is_found)(const finder *f, const seen *s, sw_id from, uint32_t output);

/* The nearest value of the kind that is looked for, on the ways back from the output; false: there is none. */
static bool search_back(finder *f, sw_id from, uint32_t output, is_found found, seen *out) {
  const sw_graph *g = f->r->g;
  seen queue[MOST_SEEN] = {{from, false}};
  int32_t n = 1;
  f->search++;
  for (int32_t next = 0; next < n; next++) {
    seen s = queue[next];
    const sw_value *v = &g->values[s.value];
    if (v->def < 0 && found(f, &s, from, output)) {
      *out = s;
      return true;
    }
    if (v->def < 0) continue;
    bool written;
    const sw_op *op = &g->ops[v->def];
    int32_t ways = ways_back(op, &written);
    for (int32_t i = 0; i < ways && n < MOST_SEEN; i++) {
      sw_id x = op->operands[i];
      if (f->mark[x] == f->search || !sw_type_same_shape(&g->values[x].type, &v->type)) continue;
      f->mark[x] = f->search;
      queue[n++] = (seen){x, s.written || written};
    }
  }
  return false;
}

static bool are_weights(const finder *f, uint32_t argument) {
  sw_id value = f->r->roles->at[argument].value;
  return value >= 0 && f->r->evidence[value] >= SW_EVIDENCE_WEIGHTS;
}

/* Is the output the argument and something of the shape of weights, and the argument nowhere else? */
static bool is_gradient_sum(const finder *f, sw_id argument, sw_id output) {
  const sw_graph *g = f->r->g;
  const sw_value *made = &g->values[output];
  if (made->def < 0 || g->ops[made->def].code != SW_OP_ADD || f->n_uses[argument] != 1 || made->type.rank < 2)
    return false;
  const sw_op *op = &g->ops[made->def];
  if (op->operands[0] != argument && op->operands[1] != argument) return false;
  for (uint32_t a = 0; a < f->r->roles->n; a++) {
    if (are_weights(f, a) && sw_type_same_shape(&g->values[f->r->roles->at[a].value].type, &made->type)) return true;
  }
  return false;
}

static void find_update(finder *f, uint32_t output) {
  const sw_id made = f->outputs[output].value;
  seen s;
  if (!search_back(f, made, output, may_become, &s)) return;
  const bool trains = are_weights(f, (uint32_t)f->argument[s.value]) || is_gradient_sum(f, s.value, made);
  pair_with_output(f, output, s.value, s.written, trains);
}

/* A state of another type, as master weights are. */
static bool is_other_state(const finder *f, const seen *s, sw_id from, uint32_t output) {
  (void)output;
  return f->is_state[s->value] && f->r->g->values[s->value].type.dtype != f->r->g->values[from].type.dtype;
}

/* As JAX pairs what is donated: the first argument of the type that is left. */
static void find_state_copy(finder *f, uint32_t output) {
  const sw_graph *g = f->r->g;
  const sw_id made = f->outputs[output].value;
  seen s;
  if (g->values[made].def < 0 || g->values[made].type.rank < 1) return;
  if (!search_back(f, made, output, is_other_state, &s)) return;
  for (uint32_t a = 0; a < f->r->roles->n; a++) {
    const sw_id value = f->r->roles->at[a].value;
    if (value < 0 || !may_become(f, &(seen){value, false}, made, output)) continue;
    pair_with_output(f, output, value, false, are_weights(f, a));
    return;
  }
}

/* All that the value is made of, by whatever ops, is marked and in the queue; how many. */
static int32_t walk_back(finder *f, sw_id from) {
  const sw_graph *g = f->r->g;
  int32_t n = 1;
  f->search++;
  f->queue[0] = from;
  f->mark[from] = f->search;
  for (int32_t next = 0; next < n; next++) {
    const sw_value *v = &g->values[f->queue[next]];
    for (int32_t i = 0; v->def >= 0 && i < g->ops[v->def].n_operands; i++) {
      const sw_id operand = g->ops[v->def].operands[i];
      if (f->mark[operand] == f->search) continue;
      f->mark[operand] = f->search;
      f->queue[n++] = operand;
    }
  }
  return n;
}

/* The only argument that an integer is made of; -1: there are several. */
static sw_id only_source(finder *f, sw_id from) {
  const int32_t n = walk_back(f, from);
  sw_id source = -1;
  for (int32_t i = 0; i < n; i++) {
    if (f->r->g->values[f->queue[i]].def >= 0) continue;
    if (source >= 0) return -1;
    source = f->queue[i];
  }
  return source;
}

static void find_counter(finder *f, uint32_t output) {
  const sw_value *made = &f->r->g->values[f->outputs[output].value];
  if (made->def < 0 || sw_dtype_class_of(made->type.dtype) == SW_CLASS_FLOAT) return;
  const sw_id source = only_source(f, f->outputs[output].value);
  if (source >= 0 && may_become(f, &(seen){source, false}, f->outputs[output].value, output))
    pair_with_output(f, output, source, false, false);
}

static void find_unused(finder *f, uint32_t output) {
  const sw_id made = f->outputs[output].value;
  if (f->r->g->values[made].type.rank < 1) return;
  for (uint32_t a = 0; a < f->r->roles->n; a++) {
    const sw_id value = f->r->roles->at[a].value;
    if (value < 0 || f->n_uses[value] || !may_become(f, &(seen){value, false}, made, output)) continue;
    pair_with_output(f, output, value, false, false);
    return;
  }
}

/* Arguments and outputs are the leaves of trees in order: what comes back in its tree is as far on as what came before.
 */
static void find_in_tree(finder *f, uint32_t output) {
  const sw_roles *roles = f->r->roles;
  const sw_id made = f->outputs[output].value;
  bool walked = false;
  for (uint32_t a = 0; a < roles->n; a++) {
    const int64_t before = f->output_of[a], at = before < 0 ? -1 : (int64_t)a + output - before;
    if (at < 0 || at >= roles->n) continue;
    const sw_id value = roles->at[at].value;
    if (value < 0 || !sw_same_tree(f->r->g, value, roles->at[a].value)) continue;
    if (!may_become(f, &(seen){value, false}, made, output)) continue;
    if (!walked) (void)walk_back(f, made);
    walked = true;
    if (f->mark[value] != f->search) continue;
    pair_with_output(f, output, value, false, false);
    return;
  }
}

/* Is it a step of a training? */
static bool trains(const finder *f) {
  const sw_roles *roles = f->r->roles;
  for (uint32_t i = 0; i < f->n; i++) {
    if (f->pairs[i].trains) return true;
  }
  for (uint32_t a = 0; a < roles->n; a++) {
    if (roles->at[a].output >= 0 && are_weights(f, a)) return true;
  }
  return false;
}

static void for_outputs_left(finder *f, uint32_t n_outputs, void (*find)(finder *f, uint32_t output)) {
  for (uint32_t k = 0; k < n_outputs; k++) {
    if (!f->is_paired[k]) find(f, k);
  }
}

static sw_rc finder_init(finder *f, uint32_t n_outputs) {
  const sw_role_guess *r = f->r;
  SW_ARENA_NEW_EACH(r->scratch, r->g->n_values, r->d, f->argument, f->is_state, f->n_uses, f->mark, f->queue);
  SW_ARENA_NEW(f->pairs, r->scratch, n_outputs, r->d);
  SW_ARENA_NEW(f->output_of, r->scratch, r->roles->n, r->d);
  SW_ARENA_NEW(f->is_paired, r->scratch, n_outputs, r->d);
  for (sw_id v = 0; v < r->g->n_values; v++) f->argument[v] = -1;
  for (sw_id i = 0; i < r->g->n_ops; i++) {
    for (int32_t k = 0; k < r->g->ops[i].n_operands; k++) f->n_uses[r->g->ops[i].operands[k]]++;
  }
  for (uint32_t i = 0; i < r->roles->n; i++) {
    const sw_role *a = &r->roles->at[i];
    f->output_of[i] = a->output;
    if (a->output >= 0 && a->output < n_outputs) f->is_paired[a->output] = true;
    if (a->value < 0) continue;
    f->is_state[a->value] = a->output >= 0;
    if (a->output < 0 && a->source != SW_ROLE_GIVEN) f->argument[a->value] = (int32_t)i;
  }
  return SW_OK;
}

sw_rc sw_guess_donated(sw_role_guess *r, const sw_role_output *outputs, uint32_t n_outputs) {
  finder f = {.r = r, .outputs = outputs};
  SW_TRY(finder_init(&f, n_outputs));
  for_outputs_left(&f, n_outputs, find_update);
  for_outputs_left(&f, n_outputs, find_state_copy);
  const bool all = r->trains = trains(&f);
  if (all) for_outputs_left(&f, n_outputs, find_counter);
  if (all) for_outputs_left(&f, n_outputs, find_unused);
  if (all) for_outputs_left(&f, n_outputs, find_in_tree);
  for (uint32_t i = 0; i < f.n; i++) {
    const pair *p = &f.pairs[i];
    sw_role *a = &r->roles->at[p->argument];
    if (!all && !p->written) continue;
    a->output = p->output;
    a->kind = SW_VALUE_STATE;
    sw_graph_set_arg_kind(r->g, a->value, a->kind);
  }
  return SW_OK;
}
