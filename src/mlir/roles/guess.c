/* What arguments are of which nothing says it, guessed from their uses in the graph, where calls, loops and choices are
 * in line:
 *
 *   an output is this argument, updated (donated.c)                                        state
 *   one side of a contraction or convolution whose other side is an argument, too          data
 *   the right side of such, when there are no batch dims                                   parameter
 *   both the other way round, where the left one is known to be weights, or the right one to be data
 *   with a dim that runs over examples (examples.c); a scalar                                 data
 *   the right side of one with batch dims, which shares a dim with data that no weights have data
 *   integers of two dims or more: data, but for those whose bits are shifted or cast, which are packed and as floats
 *   taken beside what was made of examples, always in its shape, as targets and rewards    data
 *   in a step of a training behind all state, in a tree of which no contraction has weights   data
 *   anything else                                                                          parameter
 *
 * For contractions an argument is followed through ops that only move it: a layer's weights are a slice, in a loop, of
 * all layers'; otherwise through those on single elements, too.
 */
#include <string.h>

#include "mlir/roles/roles.h"

typedef struct guesser {
  sw_role_guess shared;
  sw_graph *g;
  sw_id *from;     /* by value: the argument that it is, moved; -1: none */
  sw_id *made_of;  /* by value: the argument that it is, moved or changed; -1: none */
  bool *is_spread; /* by value: an argument that is broadcast */
  bool *is_beside; /* by value: an argument that an op takes beside what was made of examples */
  bool *is_packed; /* by value: an argument whose bits are several numbers */
  bool *is_behind; /* by value: an argument that comes where a step of a training has its batch */
  int32_t *role;   /* by value: which argument of the table it is; -1 */
} guesser;

static bool moves(sw_opcode code) {
  sw_content content = sw_content_of(code);
  return content == SW_CONTENT_MOVED || content == SW_CONTENT_ROUNDED || code == SW_OP_JOIN;
}

static void note_evidence(guesser *r, sw_id argument, sw_evidence what) {
  if (argument >= 0 && r->shared.evidence[argument] == SW_EVIDENCE_NONE) r->shared.evidence[argument] = what;
}

/* Does something say that the argument is weights, or state that may be such; or data? */
static bool is_kind_known(const guesser *r, sw_id argument, bool weights) {
  const sw_role *a = r->role[argument] < 0 ? NULL : &r->shared.roles->at[r->role[argument]];
  if (!a || a->output >= 0) return a && weights;
  return a->source <= SW_ROLE_NAMED && a->kind == (weights ? SW_VALUE_PARAMETER : SW_VALUE_INPUT);
}

/* Two arguments, no dim of which is common to both and the result. */
static void see_two_arguments(guesser *r, sw_id left, sw_id right) {
  const bool other_way = (is_kind_known(r, left, true) && !is_kind_known(r, right, true)) ||
                         (is_kind_known(r, right, false) && !is_kind_known(r, left, false));
  note_evidence(r, right, other_way ? SW_EVIDENCE_DATA : SW_EVIDENCE_SURELY_WEIGHTS);
  note_evidence(r, left, other_way ? SW_EVIDENCE_SURELY_WEIGHTS : SW_EVIDENCE_DATA);
}

static void see_contraction(guesser *r, const sw_op *op) {
  sw_id left = op->n_operands > 0 ? r->from[op->operands[0]] : -1;
  if (sw_op_class_of(op->code) == SW_OPS_CONTRACTION) {
    sw_id right = r->from[op->operands[1]];
    int n_batch;
    sw_op_ints(op, SW_ATTR_LHS_BATCH, &n_batch);
    bool both = left >= 0 && right >= 0;
    sw_evidence alone = n_batch ? SW_EVIDENCE_BATCHED : SW_EVIDENCE_WEIGHTS;
    if (both && !n_batch) {
      see_two_arguments(r, left, right);
    } else {
      note_evidence(r, right, both ? SW_EVIDENCE_DATA : alone);
      note_evidence(r, left, both ? SW_EVIDENCE_DATA : alone);
    }
  }
  bool unpacks =
      op->code == SW_OP_SHIFT_RIGHT_LOGICAL || op->code == SW_OP_SHIFT_RIGHT_ARITHMETIC || op->code == SW_OP_BITCAST;
  if (unpacks && left >= 0) r->is_packed[left] = true;
  if (moves(op->code) || unpacks || op->code == SW_OP_AND) r->from[op->results[0]] = left;
}

/* Does the op repeat its operand, or could it, in front? */
static bool spreads(const sw_graph *g, const sw_op *op) {
  int n;
  const int64_t *dims = sw_op_ints(op, SW_ATTR_DIMS, &n);
  if (op->code != SW_OP_BROADCAST) return false;
  return (n && dims[0]) || sw_type_elements(sw_result_type(g, op, 0)) > sw_type_elements(sw_operand_type(g, op, 0));
}

static void see_company(guesser *r, const sw_op *op) {
  bool on_elements = sw_op_is_pointwise(op->code), examples = false;
  sw_id argument = -1;
  for (int32_t i = 0; i < op->n_operands; i++) {
    examples |= r->shared.has_examples[op->operands[i]];
    if (argument < 0) argument = r->made_of[op->operands[i]];
  }
  for (int32_t i = 0; i < op->n_results; i++) r->shared.has_examples[op->results[i]] = examples;
  if (argument < 0) return;
  if (spreads(r->g, op)) r->is_spread[argument] = true;
  if (on_elements && examples) r->is_beside[argument] = true;
  if (moves(op->code) || (on_elements && !examples)) r->made_of[op->results[0]] = argument;
}

/* How much of the name says of which tree the argument is: params['w'][0]. */
static size_t tree_of(const char *name) { return strcspn(name, "[."); }

bool sw_same_tree(const sw_graph *g, sw_id a, sw_id b) {
  const char *one = g->values[a].name, *other = g->values[b].name;
  const size_t n = tree_of(one);
  return tree_of(other) == n && memcmp(one, other, n) == 0;
}

/* What comes behind all state, tree by tree. */
static void see_order(guesser *r) {
  const sw_roles *roles = r->shared.roles;
  uint32_t begin = roles->n;
  while (begin > 0 && roles->at[begin - 1].output < 0) begin--;
  for (uint32_t end; begin > 0 && begin < roles->n; begin = end) {
    bool weights = false;
    for (end = begin; end < roles->n; end++) {
      if (roles->at[begin].value < 0 || roles->at[end].value < 0) break;
      if (!sw_same_tree(r->g, roles->at[begin].value, roles->at[end].value)) break;
      weights |= r->shared.evidence[roles->at[end].value] >= SW_EVIDENCE_WEIGHTS;
    }
    if (end == begin) end++; /* a tuple */
    for (uint32_t i = begin; i < end && !weights; i++) {
      if (roles->at[i].value >= 0) r->is_behind[roles->at[i].value] = true;
    }
  }
}

static sw_value_kind guess_argument_kind(const guesser *r, sw_id argument) {
  bool is_target =
      r->is_beside[argument] && !r->is_spread[argument] && r->shared.evidence[argument] == SW_EVIDENCE_NONE;
  bool is_data =
      r->shared.has_examples[argument] || is_target || r->is_behind[argument] || !r->g->values[argument].type.rank;
  return is_data && r->shared.evidence[argument] != SW_EVIDENCE_SURELY_WEIGHTS ? SW_VALUE_INPUT : SW_VALUE_PARAMETER;
}

static sw_rc guesser_init(guesser *r) {
  sw_arena *scratch = r->shared.scratch;
  sw_diag *d = r->shared.d;
  SW_ARENA_NEW_EACH(scratch, r->g->n_values, d, r->from, r->made_of, r->is_spread, r->is_beside, r->is_packed,
                    r->is_behind, r->role, r->shared.has_examples);
  SW_ARENA_NEW(r->shared.evidence, scratch, r->g->n_values, d);
  for (sw_id v = 0; v < r->g->n_values; v++) {
    r->from[v] = r->made_of[v] = r->g->values[v].def < 0 ? v : -1;
    r->role[v] = -1;
  }
  for (uint32_t i = 0; i < r->shared.roles->n; i++)
    if (r->shared.roles->at[i].value >= 0) r->role[r->shared.roles->at[i].value] = (int32_t)i;
  return SW_OK;
}

sw_rc sw_guess_roles(sw_graph *g, const sw_roles *roles, const sw_role_output *outputs, uint32_t n_outputs,
                     sw_arena *scratch, sw_diag *d) {
  guesser r = {.shared = {.g = g, .roles = roles, .scratch = scratch, .d = d}, .g = g};
  SW_TRY(guesser_init(&r));
  for (sw_id i = 0; i < g->n_ops; i++) see_contraction(&r, &g->ops[i]);
  SW_TRY(sw_guess_donated(&r.shared, outputs, n_outputs));
  if (r.shared.trains) see_order(&r);
  for (uint32_t i = 0; i < roles->n; i++) {
    sw_role *a = &roles->at[i];
    if (a->source == SW_ROLE_UNSAID_INTEGERS && r.is_packed[a->value]) a->source = SW_ROLE_UNSAID;
  }
  SW_TRY(sw_guess_examples(&r.shared));
  for (sw_id i = 0; i < g->n_ops; i++) see_company(&r, &g->ops[i]);
  for (uint32_t i = 0; i < roles->n; i++) {
    sw_role *a = &roles->at[i];
    if (a->source != SW_ROLE_UNSAID || a->output >= 0) continue;
    a->kind = guess_argument_kind(&r, a->value);
    sw_graph_set_arg_kind(g, a->value, a->kind);
  }
  return SW_OK;
}
