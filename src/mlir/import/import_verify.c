/* Verifying (verify.h).
 *
 *   %0 = stablehlo.negate %x : (tensor<4xf32>) -> ...         %x: tensor<8xf32>
 *                         ^ value '%x' is tensor<8xf32>; expected tensor<4xf32>, as the op says
 *
 * One walk over the ops in the order of the text, with the types that the values of the function at hand were defined
 * with. A type that nobody can tell without knowing the op (custom forms of other dialects) is not compared.
 */
#include "mlir/import/import_verify.h"

#include <ctype.h>
#include <string.h>

#include "mlir/import/value_types.h"

typedef struct checker {
  sw_ir_tree *t;
  const sw_ir_names *names;
  sw_ir_span *types;          /* by slot of the function at hand; empty: not known */
  uint32_t n_slots, function; /* SW_IR_NONE: between functions */
  sw_arena scratch;           /* of one comparison */
  sw_diag *d;
} checker;

/* --- comparing --------------------------------------------------------------------------------------------------- */

/* The same but for blanks? */
static bool same_text(const char *s, sw_ir_span a, sw_ir_span b) {
  while (a.at < a.end && b.at < b.end) {
    if (isspace((unsigned char)s[a.at])) {
      a.at++;
    } else if (isspace((unsigned char)s[b.at])) {
      b.at++;
    } else if (s[a.at++] != s[b.at++]) {
      return false;
    }
  }
  return a.at == a.end && b.at == b.end;
}

bool sw_ir_types_fit(const sw_ir_tree *t, sw_ir_span a, sw_ir_span b, sw_arena *scratch) {
  a = sw_ir_resolved(t, sw_ir_trimmed(t, a));
  b = sw_ir_resolved(t, sw_ir_trimmed(t, b));
  if (same_text(t->s, a, b)) return true;
  bool tensors = sw_ir_starts(t, a, "tensor<");
  if (tensors != sw_ir_starts(t, b, "tensor<")) return false;
  sw_type x, y;
  sw_arena_reset(scratch);
  if (!tensors || sw_ir_read_type(t, a, scratch, &x, NULL) || sw_ir_read_type(t, b, scratch, &y, NULL)) return true;
  bool same = x.dtype == y.dtype && x.rank == y.rank;
  for (int k = 0; same && k < x.rank; k++) same = x.dims[k] < 0 || y.dims[k] < 0 || x.dims[k] == y.dims[k];
  return same;
}

static bool types_fit(checker *c, sw_ir_span a, sw_ir_span b) { return sw_ir_types_fit(c->t, a, b, &c->scratch); }

/* --- ops --------------------------------------------------------------------------------------------------------- */

/* `rc`, or what adding the error that it stands for gives. */
static sw_rc found(checker *c, sw_rc rc, const sw_diag *error) {
  if (rc != SW_E_INPUT) return rc;
  return sw_array_push(&c->t->errors, *error, c->d);
}
#define FOUND(c, at, ...)                                                        \
  do {                                                                           \
    sw_diag error = {0};                                                         \
    sw_rc wrong = SW_FAIL_INPUT(&error, sw_ir_place((c)->t, (at)), __VA_ARGS__); \
    SW_TRY(found((c), wrong, &error));                                           \
  } while (0)

static uint32_t length(const sw_ir_tree *t, sw_ir_types_cursor list) {
  sw_ir_span type;
  uint32_t n = 0;
  while (sw_ir_next_type(t, &list, &type)) n++;
  return n;
}

/* By the types, where these are listed; otherwise by the names. */
static uint32_t result_count(const sw_ir_tree *t, const sw_ir_op *op) {
  bool listed = sw_ir_has_function_type(t, op) || (sw_ir_lists_operands(t, op) && !sw_ir_ends(t, op->name, "return"));
  return listed ? length(t, sw_ir_result_types(t, op)) : sw_ir_result_count(t, op);
}

static sw_rc check_use(checker *c, uint32_t use, sw_ir_span said) {
  const sw_ir_use *u = &c->t->uses.at[use];
  uint32_t slot = c->names->use[use];
  sw_ir_span is = slot < c->n_slots ? c->types[slot] : (sw_ir_span){0, 0};
  if (!sw_ir_present(is) || types_fit(c, is, said)) return SW_OK;
  is = sw_ir_trimmed(c->t, is);
  FOUND(c, u->name.at - 1, "value '%%%.*s' is %.*s; expected %.*s, as the op says", SW_IR_TEXT(c->t, u->name),
        SW_IR_TEXT(c->t, is), SW_IR_TEXT(c->t, said));
  return SW_OK;
}

static sw_rc check_result_names(checker *c, const sw_ir_op *op) {
  const uint32_t names = sw_ir_result_count(c->t, op), results = result_count(c->t, op);
  if (names && names != results) {
    FOUND(c, op->text.at, "'%.*s' gives %u results, but %u names are given; expected as many",
          SW_IR_TEXT(c->t, op->name), results, names);
  }
  return SW_OK;
}

static sw_rc check_listed_types(checker *c, const sw_ir_op *op) {
  sw_ir_types_cursor list = sw_ir_operand_types(c->t, op->types);
  sw_ir_span type;
  uint32_t n = 0;
  for (; sw_ir_next_type(c->t, &list, &type); n++) {
    if (n < op->n_uses) SW_TRY(check_use(c, op->first_use + sw_ir_operand_of_type(c->t, op, n), type));
  }
  if (n != op->n_uses) {
    FOUND(c, op->types.at, "there are types of %u operands; expected %u, one for each", n, op->n_uses);
  }
  return check_result_names(c, op);
}

static sw_rc verify_op(checker *c, const sw_ir_op *op) {
  sw_diag error = {0};
  if (!sw_ir_has_known_types(c->t, op)) return sw_ir_has_function_type(c->t, op) ? check_result_names(c, op) : SW_OK;
  if (sw_ir_has_function_type(c->t, op) || sw_ir_lists_operands(c->t, op)) SW_TRY(check_listed_types(c, op));
  return found(c, sw_ir_verify_regions(c->t, op, result_count(c->t, op), &c->scratch, &error), &error);
}

/* --- functions --------------------------------------------------------------------------------------------------- */

/* Types `said` at `at` beside those that the function declares to take or give. */
static sw_rc check_list(checker *c, uint32_t at, const char *what, sw_ir_types_cursor said,
                        sw_ir_types_cursor declared) {
  sw_ir_span a, b;
  uint32_t n = length(c->t, said), want = length(c->t, declared);
  if (n != want) {
    FOUND(c, at, "there are %u %ss; expected the %u that the function declares", n, what, want);
    return SW_OK;
  }
  for (uint32_t i = 0; sw_ir_next_type(c->t, &said, &a) && sw_ir_next_type(c->t, &declared, &b); i++) {
    sw_ir_span type = sw_ir_type_alone(c->t, b);
    if (types_fit(c, a, type)) continue;
    FOUND(c, at, "%s %u is %.*s; expected %.*s, as the function declares", what, i, SW_IR_TEXT(c->t, a),
          SW_IR_TEXT(c->t, type));
  }
  return SW_OK;
}

/* What a call gives to a function beside the arguments of its block. */
static sw_rc check_call_arguments(checker *c, const sw_ir_op *call, const sw_ir_op *f) {
  uint32_t region = f->first_region;
  if (region == SW_IR_NONE || c->t->regions.at[region].first_block == SW_IR_NONE) return SW_OK;
  const sw_ir_block *b = &c->t->blocks.at[c->t->regions.at[region].first_block];
  sw_ir_types_cursor list = sw_ir_operand_types(c->t, call->types);
  sw_ir_span said;
  for (uint32_t i = 0; i < b->n_args && sw_ir_next_type(c->t, &list, &said); i++) {
    sw_ir_span type = c->t->args.at[b->first_arg + i].type;
    if (!sw_ir_present(type) || types_fit(c, said, type)) continue;
    FOUND(c, said.at, "argument %u is %.*s; expected %.*s, which the function takes", i, SW_IR_TEXT(c->t, said),
          SW_IR_TEXT(c->t, type));
  }
  return SW_OK;
}

static sw_rc check_call(checker *c, const sw_ir_op *op) {
  bool calls = sw_ir_is_among(c->t, op->name, "call func.call"),
       composite = sw_ir_ends(c->t, op->name, "hlo.composite");
  if ((!calls && !composite) || !sw_ir_has_function_type(c->t, op)) return SW_OK;
  sw_ir_span callee = sw_ir_unquoted(c->t, sw_ir_attr(c->t, op, composite ? "decomposition" : "callee", NULL));
  if (!sw_ir_present(callee)) callee = op->symbol;
  uint32_t f = sw_ir_function_named(c->t, c->names, callee);
  if (f == SW_IR_NONE) return SW_OK; /* importing says so, and counts arguments */
  SW_TRY(check_call_arguments(c, op, &c->t->ops.at[f]));
  return check_list(c, op->text.at, "result", sw_ir_result_types(c->t, op),
                    sw_ir_declared_results(c->t, &c->t->ops.at[f]));
}

static sw_rc enter_function(checker *c, uint32_t i) {
  c->function = i;
  sw_mem_free(c->types);
  c->types = NULL;
  c->n_slots = 0;
  SW_MEM_NEW(c->types, c->names->n_slots[i], c->d);
  c->n_slots = c->names->n_slots[i];
  return SW_OK;
}

static sw_rc check_return(checker *c, const sw_ir_op *op) {
  bool returns = sw_ir_is(c->t, op->name, "return") || sw_ir_is(c->t, op->name, "func.return");
  if (!returns || c->function == SW_IR_NONE) return SW_OK;
  return check_list(c, op->text.at, "returned value", sw_ir_operand_types(c->t, op->types),
                    sw_ir_declared_results(c->t, &c->t->ops.at[c->function]));
}

static sw_rc check_last(checker *c, const sw_ir_op *op) {
  if (op->next == SW_IR_NONE || !sw_ir_ends(c->t, op->name, "return")) return SW_OK;
  FOUND(c, c->t->ops.at[op->next].text.at, "an op stands behind the return of its block; expected none");
  return SW_OK;
}

static sw_rc verify_next_op(checker *c, uint32_t i) {
  const sw_ir_op *op = &c->t->ops.at[i];
  if (c->function != SW_IR_NONE && op->text.at >= c->t->ops.at[c->function].text.end) {
    c->function = SW_IR_NONE;
    c->n_slots = 0;
  }
  if (op->block && c->t->blocks.at[op->block].first_op == i)
    sw_ir_type_args(c->t, c->names, op->block, c->types, c->n_slots);
  SW_TRY(verify_op(c, op));
  SW_TRY(check_call(c, op));
  SW_TRY(check_return(c, op));
  SW_TRY(check_last(c, op));
  sw_ir_type_results(c->t, c->names, op, c->types, c->n_slots);
  return sw_ir_is_function(c->t, op) ? enter_function(c, i) : SW_OK;
}

sw_rc sw_ir_verify(sw_ir_tree *t, const sw_ir_names *names, sw_diag *d) {
  checker c = {.t = t, .names = names, .function = SW_IR_NONE, .d = d};
  sw_rc rc = SW_OK;
  for (uint32_t i = 0; i < t->ops.n && t->errors.n < SW_IR_MOST_ERRORS && !rc; i++) rc = verify_next_op(&c, i);
  sw_mem_free(c.types);
  sw_arena_deinit(&c.scratch);
  if (rc || !t->errors.n) return rc;
  if (d) *d = t->errors.at[0];
  return SW_E_INPUT;
}
