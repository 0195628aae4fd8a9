/* State that nothing says is such: of programs whose arguments are not donated. An output is an argument, updated, when
 * ops on single elements lead from the one to the other:
 *
 *   step(w, m, x):   g = ... ;  m' = 0.9 m + g ;  w' = w - 0.1 m' ;  returns w', m', loss
 *
 * Of several such arguments of the output's type it is the nearest one (w, not m, for w'). That counts where weights
 * come back so, which means that the program is a step of a training; elsewhere a layer's input, added to what the
 * layer makes of it, would look alike. Buffers into which something is written (caches of keys and values) count
 * everywhere.
 */
#include <string.h>

#include "io/mlir/annotate/guess.h"

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
  sw_importer *m;
  const sw_ir_op *f;
  const sw_ir_block *block;
  const sw_im_evidence *evidence;
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
  bool through = op->code <= SW_OP_SHIFT_RIGHT_LOGICAL; /* unary and binary ops stand first */
  for (size_t i = 0; i < sizeof kOthers / sizeof *kOthers; i++) through |= op->code == kOthers[i];
  return through ? op->n_operands : 0;
}

static bool same_shape(const sw_type *a, const sw_type *b) {
  return a->rank == b->rank && (!a->rank || !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims));
}

/* The text of a sharding that an argument or output bears. */
static sw_ir_span sharding_of(const sw_importer *m, sw_ir_span attrs) {
  sw_ir_span s = sw_ir_entry(m->t, attrs, "sdy.sharding");
  return sw_ir_present(s) ? s : sw_ir_entry(m->t, attrs, "mhlo.sharding");
}

/* What comes back is cut as it was: neither says that it is not. */
static bool shardings_agree(const finder *r, uint32_t argument, uint32_t output) {
  const sw_ir_tree *t = r->m->t;
  sw_ir_span a = sharding_of(r->m, sw_im_arg_attrs(t, r->f, argument));
  sw_ir_span b = sharding_of(r->m, r->m->declared_attrs[output]);
  return sw_ir_len(a) == sw_ir_len(b) && !memcmp(t->s + a.at, t->s + b.at, sw_ir_len(a));
}

/* What is called data comes back only where something is written into it. */
static bool may_become(const finder *r, const seen *s, sw_id from, uint32_t output) {
  const sw_graph *g = r->m->g;
  int32_t argument = r->argument[s->value];
  if (argument < 0 || !sw_type_equal(&g->values[s->value].type, &g->values[from].type)) return false;
  bool data = r->m->roles->named[argument] && r->m->roles->kind[argument] == SW_VALUE_INPUT;
  return (s->written || !data) && shardings_agree(r, (uint32_t)argument, output);
}

/* The nearest candidate on the ways back from the output. */
static void look_back(finder *r, sw_id from, uint32_t output) {
  const sw_graph *g = r->m->g;
  seen queue[MOST_SEEN] = {{from, false}};
  int32_t n = 1;
  for (int32_t next = 0; next < n; next++) {
    seen s = queue[next];
    const sw_value *v = &g->values[s.value];
    if (v->def < 0 && may_become(r, &s, from, output)) {
      r->pairs[r->n++] = (pair){(uint32_t)r->argument[s.value], output, s.written};
      r->argument[s.value] = -1; /* taken */
      return;
    }
    if (v->def < 0) continue;
    bool written;
    const sw_op *op = &g->ops[v->def];
    int32_t ways = ways_back(op, &written);
    for (int32_t i = 0; i < ways && n < MOST_SEEN; i++) {
      sw_id x = op->operands[i];
      if (r->mark[x] == (int32_t)output + 1 || !same_shape(&g->values[x].type, &v->type)) continue;
      r->mark[x] = (int32_t)output + 1;
      queue[n++] = (seen){x, s.written || written};
    }
  }
}

/* Candidates: floats of which nothing, or not a file, says what they are. */
static void find_candidates(finder *r) {
  const sw_ir_roles *roles = r->m->roles;
  const sw_id *slots = sw_im_top(r->m)->instance->slots + r->m->names->block[sw_im_block(r->m->t, r->f, 0)];
  for (uint32_t a = 0; a < roles->n; a++) {
    bool may_come_back = roles->alias[a] < 0 && (roles->unsaid[a] || roles->named[a]);
    if (slots[a] >= 0 && may_come_back) r->argument[slots[a]] = (int32_t)a;
  }
}

static bool is_taken(const sw_ir_roles *roles, uint32_t output) {
  for (uint32_t a = 0; a < roles->n; a++) {
    if (roles->alias[a] == (int64_t)output) return true;
  }
  return false;
}

static bool are_weights(const finder *r, sw_id argument) {
  return argument >= 0 && r->evidence[argument] >= SW_IM_WEIGHTS;
}

/* Are there weights among what comes back? */
static bool trains(const finder *r, const sw_id *slots) {
  const sw_ir_roles *roles = r->m->roles;
  for (uint32_t i = 0; i < r->n; i++) {
    if (are_weights(r, slots[r->pairs[i].argument])) return true;
  }
  for (uint32_t a = 0; a < roles->n; a++) {
    if (roles->alias[a] >= 0 && are_weights(r, slots[a])) return true;
  }
  return false;
}

sw_rc sw_im_guess_state(sw_importer *m, const sw_im_evidence *evidence, const sw_id *values, uint32_t n) {
  finder r = {.m = m, .f = sw_im_op(m, m->main), .evidence = evidence};
  const sw_id *slots = sw_im_top(m)->instance->slots + m->names->block[sw_im_block(m->t, r.f, 0)];
  SW_ARENA_NEW(r.argument, &m->scratch, m->g->n_values, m->d);
  SW_ARENA_NEW(r.mark, &m->scratch, m->g->n_values, m->d);
  SW_ARENA_NEW(r.pairs, &m->scratch, n, m->d);
  for (sw_id v = 0; v < m->g->n_values; v++) r.argument[v] = -1;
  find_candidates(&r);
  for (uint32_t k = 0; k < n && k < m->n_declared; k++) {
    if (!is_taken(m->roles, k)) look_back(&r, values[k], k);
  }
  bool all = trains(&r, slots);
  for (uint32_t i = 0; i < r.n; i++) {
    const pair *p = &r.pairs[i];
    if (!all && !p->written) continue;
    m->roles->alias[p->argument] = p->output;
    m->g->values[slots[p->argument]].kind = SW_VALUE_STATE;
  }
  return SW_OK;
}
