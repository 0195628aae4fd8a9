/* What arguments are of which nothing says it, guessed from their uses in the graph, where calls, loops and choices are
 * in line:
 *
 *   the left side of a contraction or convolution whose right side is another argument     data
 *   contracted, convolved, gathered from, or of one dim                                    parameter
 *   anything else                                                                          data
 *
 * An argument is followed through ops that only move it: a layer's weights are a slice, in a loop, of all layers'.
 */
#include "io/mlir/import/import.h"

typedef struct guesser {
  sw_graph *g;
  sw_id *from;          /* by value: the argument that it is, moved; -1: none */
  sw_value_kind *found; /* by value: of an argument; what its first use that tells says */
} guesser;

static bool moves(sw_opcode code) {
  static const sw_opcode kCodes[] = {SW_OP_RESHAPE, SW_OP_TRANSPOSE,     SW_OP_CONVERT, SW_OP_BROADCAST,
                                     SW_OP_SLICE,   SW_OP_DYNAMIC_SLICE, SW_OP_ENTER,   SW_OP_JOIN};
  for (size_t i = 0; i < sizeof kCodes / sizeof *kCodes; i++) {
    if (code == kCodes[i]) return true;
  }
  return false;
}

static void tell(guesser *r, sw_id argument, sw_value_kind kind) {
  if (argument >= 0 && r->found[argument] == SW_VALUE_INTERMEDIATE) r->found[argument] = kind;
}

static void see_op(guesser *r, const sw_op *op) {
  sw_id left = op->n_operands > 0 ? r->from[op->operands[0]] : -1;
  if (op->code == SW_OP_DOT || op->code == SW_OP_CONVOLUTION) {
    sw_id right = r->from[op->operands[1]];
    tell(r, right, SW_VALUE_PARAMETER);
    tell(r, left, right >= 0 ? SW_VALUE_INPUT : SW_VALUE_PARAMETER);
  }
  if (op->code == SW_OP_GATHER) tell(r, left, SW_VALUE_PARAMETER);
  if (moves(op->code)) r->from[op->results[0]] = left;
}

static sw_value_kind kind_of(const guesser *r, sw_id argument) {
  if (r->found[argument] != SW_VALUE_INTERMEDIATE) return r->found[argument];
  return r->g->values[argument].type.rank == 1 ? SW_VALUE_PARAMETER : SW_VALUE_INPUT;
}

sw_rc sw_im_guess_roles(sw_importer *m) {
  guesser r = {.g = m->g};
  int32_t n_args = 0, parameters = 0;
  if (!m->unsaid.n) return SW_OK;
  SW_ARENA_NEW(r.from, &m->scratch, m->g->n_values, m->d);
  SW_ARENA_NEW(r.found, &m->scratch, m->g->n_values, m->d);
  for (sw_id v = 0; v < m->g->n_values; v++) {
    r.from[v] = m->g->values[v].def < 0 ? v : -1;
    r.found[v] = SW_VALUE_INTERMEDIATE;
  }
  for (sw_id i = 0; i < m->g->n_ops; i++) see_op(&r, &m->g->ops[i]);
  for (size_t i = 0; i < m->unsaid.n; i++) m->g->values[m->unsaid.at[i]].kind = kind_of(&r, m->unsaid.at[i]);
  for (sw_id v = 0; v < m->g->n_values; v++) {
    n_args += m->g->values[v].def < 0;
    parameters += m->g->values[v].kind == SW_VALUE_PARAMETER;
  }
  sw_im_warn(m, sw_im_op(m, m->main)->text.at,
             "what %zu of %d arguments are is guessed from their uses (%d parameters in all); a roles file says it",
             m->unsaid.n, n_args, parameters);
  return SW_OK;
}
