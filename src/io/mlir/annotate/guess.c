/* What arguments are of which nothing says it, guessed from their uses in the graph, where calls, loops and choices are
 * in line:
 *
 *   an output is this argument, updated (comes_back.c)                                     state
 *   the left side of a contraction or convolution whose right side is another argument     data
 *   contracted or convolved                                                                parameter
 *   gathered from, or of one dim: as long as integers that are data                        data
 *                                 otherwise                                                parameter
 *   anything else                                                                          data
 *
 * An argument is followed through ops that only move it: a layer's weights are a slice, in a loop, of all layers'.
 */
#include "io/mlir/annotate/guess.h"

typedef struct guesser {
  sw_graph *g;
  sw_id *from;           /* by value: the argument that it is, moved; -1: none */
  sw_im_evidence *found; /* by value: of an argument */
} guesser;

static bool moves(sw_opcode code) {
  static const sw_opcode kCodes[] = {SW_OP_RESHAPE, SW_OP_TRANSPOSE,     SW_OP_CONVERT, SW_OP_BROADCAST,
                                     SW_OP_SLICE,   SW_OP_DYNAMIC_SLICE, SW_OP_ENTER,   SW_OP_JOIN};
  for (size_t i = 0; i < sizeof kCodes / sizeof *kCodes; i++) {
    if (code == kCodes[i]) return true;
  }
  return false;
}

static void tell(guesser *r, sw_id argument, sw_im_evidence what) {
  if (argument >= 0 && r->found[argument] <= SW_IM_GATHERED && r->found[argument] < what) r->found[argument] = what;
}

static void see_op(guesser *r, const sw_op *op) {
  sw_id left = op->n_operands > 0 ? r->from[op->operands[0]] : -1;
  if (op->code == SW_OP_DOT || op->code == SW_OP_CONVOLUTION) {
    sw_id right = r->from[op->operands[1]];
    tell(r, right, SW_IM_WEIGHTS);
    tell(r, left, right >= 0 ? SW_IM_DATA : SW_IM_WEIGHTS);
  }
  if (op->code == SW_OP_GATHER) tell(r, left, SW_IM_GATHERED);
  if (moves(op->code)) r->from[op->results[0]] = left;
}

/* Has the argument as many rows as integers that are data have, as labels and masks of a batch do? */
static bool is_row_of_data(const guesser *r, sw_id argument) {
  const sw_type *type = &r->g->values[argument].type;
  for (sw_id v = 0; v < r->g->n_values && r->g->values[v].def < 0; v++) {
    const sw_value *other = &r->g->values[v];
    bool integers = other->kind == SW_VALUE_INPUT && sw_dtype_class_of(other->type.dtype) != SW_CLASS_FLOAT;
    if (integers && other->type.rank && other->type.dims[0] == type->dims[0] && type->dims[0] > 1) return true;
  }
  return false;
}

static sw_value_kind kind_of(const guesser *r, sw_id argument) {
  sw_im_evidence found = r->found[argument];
  if (found >= SW_IM_DATA) return found == SW_IM_DATA ? SW_VALUE_INPUT : SW_VALUE_PARAMETER;
  if (found != SW_IM_GATHERED && r->g->values[argument].type.rank != 1) return SW_VALUE_INPUT;
  return is_row_of_data(r, argument) ? SW_VALUE_INPUT : SW_VALUE_PARAMETER;
}

static void warn(sw_importer *m, const sw_graph *g) {
  int32_t n_args = 0, count[SW_VALUE_STATE + 1] = {0};
  for (sw_id v = 0; v < g->n_values; v++) {
    if (g->values[v].def >= 0) continue;
    n_args++;
    count[g->values[v].kind]++;
  }
  sw_im_warn(
      m, sw_im_op(m, m->main)->text.at,
      "what %zu of %d arguments are is guessed from their uses (%d parameters, %d state that comes back, in all); "
      "a roles file says it",
      m->unsaid.n, n_args, count[SW_VALUE_PARAMETER], count[SW_VALUE_STATE]);
}

sw_rc sw_im_guess_roles(sw_importer *m, const sw_id *outputs, uint32_t n) {
  guesser r = {.g = m->g};
  SW_ARENA_NEW(r.from, &m->scratch, m->g->n_values, m->d);
  SW_ARENA_NEW(r.found, &m->scratch, m->g->n_values, m->d);
  for (sw_id v = 0; v < m->g->n_values; v++) r.from[v] = m->g->values[v].def < 0 ? v : -1;
  for (sw_id i = 0; i < m->g->n_ops; i++) see_op(&r, &m->g->ops[i]);
  SW_TRY(sw_im_guess_state(m, r.found, outputs, n));
  for (size_t i = 0; i < m->unsaid.n; i++) {
    sw_value *v = &m->g->values[m->unsaid.at[i]];
    if (v->kind != SW_VALUE_STATE) v->kind = kind_of(&r, m->unsaid.at[i]);
  }
  if (m->unsaid.n) warn(m, m->g);
  return SW_OK;
}
