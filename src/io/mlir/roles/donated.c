/* State that nothing says is such: of programs whose arguments are not donated. An output is an argument, updated, when
 * ops on single elements lead from the one to the other:
 *
 *   step(w, m, x):   g = ... ;  m' = 0.9 m + g ;  w' = w - 0.1 m' ;  returns w', m', loss
 *
 * Of several such arguments of the output's type it is the nearest one (w, not m, for w'). That counts where weights
 * are donated so, which means that the program is a step of a training; elsewhere a layer's input, added to what the
 * layer makes of it, would look alike. Buffers into which something is written (caches of keys and values) count
 * everywhere.
 */
#include <string.h>

#include "io/mlir/roles/roles.h"

enum { MOST_SEEN = 256 }; /* values seen on the way from one output */

/* An argument that becomes an output. */
typedef struct pair {
  uint32_t argument, output;
  bool written; /* on the way something is written into it */
} pair;

typedef struct seen {
  sw_id value;
  bool written;
} seen;

typedef struct finder {
  const sw_role_guess *r;
  const sw_role_output *outputs;
  int32_t *argument; /* by value: the candidate that it is; -1: none */
  int32_t *mark;     /* by value: 1 + the last output from which it was seen */
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

static bool same_shape(const sw_type *a, const sw_type *b) {
  return a->rank == b->rank && (!a->rank || !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims));
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

/* The nearest candidate on the ways back from the output. */
static void look_back(finder *f, sw_id from, uint32_t output) {
  const sw_graph *g = f->r->g;
  seen queue[MOST_SEEN] = {{from, false}};
  int32_t n = 1;
  for (int32_t next = 0; next < n; next++) {
    seen s = queue[next];
    const sw_value *v = &g->values[s.value];
    if (v->def < 0 && may_become(f, &s, from, output)) {
      f->pairs[f->n++] = (pair){(uint32_t)f->argument[s.value], output, s.written};
      f->argument[s.value] = -1; /* taken */
      return;
    }
    if (v->def < 0) continue;
    bool written;
    const sw_op *op = &g->ops[v->def];
    int32_t ways = ways_back(op, &written);
    for (int32_t i = 0; i < ways && n < MOST_SEEN; i++) {
      sw_id x = op->operands[i];
      if (f->mark[x] == (int32_t)output + 1 || !same_shape(&g->values[x].type, &v->type)) continue;
      f->mark[x] = (int32_t)output + 1;
      queue[n++] = (seen){x, s.written || written};
    }
  }
}

static bool is_taken(const sw_roles *roles, uint32_t output) {
  for (uint32_t a = 0; a < roles->n; a++) {
    if (roles->at[a].output == (int64_t)output) return true;
  }
  return false;
}

static bool are_weights(const finder *f, uint32_t argument) {
  sw_id value = f->r->roles->at[argument].value;
  return value >= 0 && f->r->evidence[value] >= SW_EVIDENCE_WEIGHTS;
}

/* Are there weights among what is donated? */
static bool trains(const finder *f) {
  const sw_roles *roles = f->r->roles;
  for (uint32_t i = 0; i < f->n; i++) {
    if (are_weights(f, f->pairs[i].argument)) return true;
  }
  for (uint32_t a = 0; a < roles->n; a++) {
    if (roles->at[a].output >= 0 && are_weights(f, a)) return true;
  }
  return false;
}

sw_rc sw_guess_donated(const sw_role_guess *r, const sw_role_output *outputs, uint32_t n_outputs) {
  finder f = {.r = r, .outputs = outputs};
  SW_ARENA_NEW(f.argument, r->scratch, r->g->n_values, r->d);
  SW_ARENA_NEW(f.mark, r->scratch, r->g->n_values, r->d);
  SW_ARENA_NEW(f.pairs, r->scratch, n_outputs, r->d);
  for (sw_id v = 0; v < r->g->n_values; v++) f.argument[v] = -1;
  for (uint32_t i = 0; i < r->roles->n; i++) {
    /* candidates: floats of which nothing, or not a file, says what they are */
    const sw_role *a = &r->roles->at[i];
    bool may_come_back = a->output < 0 && (a->source == SW_ROLE_UNSAID || a->source == SW_ROLE_NAMED);
    if (a->value >= 0 && may_come_back) f.argument[a->value] = (int32_t)i;
  }
  for (uint32_t k = 0; k < n_outputs; k++) {
    if (!is_taken(r->roles, k)) look_back(&f, outputs[k].value, k);
  }
  bool all = trains(&f);
  for (uint32_t i = 0; i < f.n; i++) {
    const pair *p = &f.pairs[i];
    sw_role *a = &r->roles->at[p->argument];
    if (!all && !p->written) continue;
    a->output = p->output;
    a->kind = r->g->values[a->value].kind = SW_VALUE_STATE;
  }
  return SW_OK;
}
