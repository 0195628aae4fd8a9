/* Regions (verify.h): how many an op has, and what goes into each and out of it, of which types.
 *
 *   "stablehlo.reduce"(%x, %init) ({ ^bb0(%a: T, %b: T): ... return %c : T })      one region, a pair in, one value out
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "mlir/import/types.h"
#include "mlir/import/import_verify.h"
#include "mlir/text/attr.h"

/* Numbers as `of_uses` for each operand, `of_results` for each result, and `more`. */
typedef struct count {
  int of_uses, of_results, more;
} count;

/* What type number k of a region's arguments or values is. */
typedef enum wanted {
  OF_ANY,
  OF_OPERAND,         /* of operand k */
  OF_RESULT,          /* of result k */
  OF_OPERAND_ELEMENT, /* a scalar: an element of it */
  OF_RESULT_ELEMENT,
  OF_BOOL, /* tensor<i1> */
} wanted;

/* A region's arguments, of which operand or result k has one, or a left and a right one: a b c a' b' c', or side by
 * side a a' b b' c c'; and the values that it returns. */
typedef enum arg_order { SINGLE, SIDES, PAIRS } arg_order;
typedef struct region_side {
  count args, values;
  wanted of_args, of_values;
} region_side;

typedef struct region_rule {
  const char *name;        /* behind stablehlo. or mhlo. */
  uint32_t regions;        /* 0: one or more */
  region_side first, last; /* the last region; those before it */
  arg_order order;
  bool reduces; /* what operand k holds must fit into result k */
} region_rule;

#define NONE \
  { 0, 0, 0 }
#define ONE \
  { 0, 0, 1 }
#define TWO \
  { 0, 0, 2 }
#define OPERANDS \
  { 1, 0, 0 }
#define PAIRS_OF_OPERANDS \
  { 2, 0, 0 }
#define RESULTS \
  { 0, 1, 0 }
#define PAIRS_OF_RESULTS \
  { 0, 2, 0 }
#define ALIKE(args, of_args, values, of_values) \
  {args, values, of_args, of_values}, { args, values, of_args, of_values }
#define REDUCER ALIKE(PAIRS_OF_RESULTS, OF_RESULT_ELEMENT, RESULTS, OF_RESULT_ELEMENT), SIDES, true
#define REDUCER_OF_ALL ALIKE(TWO, OF_RESULT_ELEMENT, ONE, OF_RESULT_ELEMENT), PAIRS, true
#define BRANCHES ALIKE(NONE, OF_ANY, RESULTS, OF_RESULT), SINGLE, false

static const region_rule kRules[] = {
    {"reduce", 1, REDUCER},
    {"reduce_window", 1, REDUCER},
    {"scatter", 1, REDUCER},
    {"sort", 1, ALIKE(PAIRS_OF_OPERANDS, OF_OPERAND_ELEMENT, ONE, OF_BOOL), PAIRS, false},
    {"map", 1, ALIKE(OPERANDS, OF_OPERAND_ELEMENT, ONE, OF_RESULT_ELEMENT), SINGLE, false},
    {"select_and_scatter",
     2,
     {TWO, ONE, OF_OPERAND_ELEMENT, OF_BOOL},
     {TWO, ONE, OF_RESULT_ELEMENT, OF_RESULT_ELEMENT},
     PAIRS,
     true},
    {"while", 2, {OPERANDS, ONE, OF_OPERAND, OF_BOOL}, {OPERANDS, OPERANDS, OF_OPERAND, OF_OPERAND}, SINGLE, false},
    {"if", 2, BRANCHES},
    {"case", 0, BRANCHES},
    {"all_reduce", 1, REDUCER_OF_ALL},
    {"reduce_scatter", 1, REDUCER_OF_ALL},
    {"collective_reduce", 1, REDUCER_OF_ALL},
};

static const region_rule *region_rule_of(const sw_ir_tree *t, const sw_ir_op *op) {
  static const char *const kDialects[] = {"stablehlo.", "mhlo."};
  for (size_t k = 0; k < sizeof kDialects / sizeof *kDialects; k++) {
    if (!sw_ir_starts(t, op->name, kDialects[k])) continue;
    sw_ir_span word = {op->name.at + (uint32_t)strlen(kDialects[k]), op->name.end};
    for (size_t i = 0; i < sizeof kRules / sizeof *kRules; i++) {
      if (sw_ir_is(t, word, kRules[i].name)) return &kRules[i];
    }
  }
  return NULL;
}

static uint32_t region_count_of(count c, const sw_ir_op *op, uint32_t results) {
  return (uint32_t)c.of_uses * op->n_uses + (uint32_t)c.of_results * results + (uint32_t)c.more;
}

/* --- types -------------------------------------------------------------------------------------------------------- */

/* A list of types and how far it was gone through: what asks for them in order is linear. */
typedef struct types {
  sw_ir_types_cursor all, at;
  uint32_t next;   /* number of the type at the cursor */
  sw_ir_span last; /* the one before; empty behind the end */
} types;

/* The op at hand. */
typedef struct checked {
  const sw_ir_tree *t;
  const sw_ir_op *op;
  const region_rule *rule;
  uint32_t n_results;
  types operands, results;
  sw_arena *scratch; /* of comparisons */
  sw_diag *error;
} checked;

static types types_of(sw_ir_types_cursor list) { return (types){.all = list, .at = list}; }

static sw_ir_span nth_type(const sw_ir_tree *t, types *list, uint32_t k) {
  if (k + 1 < list->next) *list = types_of(list->all);
  while (list->next <= k) {
    if (!sw_ir_next_type(t, &list->at, &list->last)) list->last = (sw_ir_span){0, 0};
    list->next++;
  }
  return sw_ir_present(list->last) ? sw_ir_trimmed(t, list->last) : list->last;
}

/* f32 of tensor<2x?xf32, #encoding>; empty where it is no tensor. */
static sw_ir_span element_text_of(const sw_ir_tree *t, sw_ir_span type) {
  uint32_t cursor = 0;
  sw_ir_span element = {0, 0};
  type = sw_ir_resolved(t, type);
  if (!sw_ir_starts(t, type, "tensor<") || !sw_ir_next_item(t, sw_ir_inside(t, type), &cursor, &element))
    return (sw_ir_span){0, 0};
  for (uint32_t i = element.at; i < element.end && (isdigit((unsigned char)t->s[i]) || t->s[i] == '?'); i++) {
    while (isdigit((unsigned char)t->s[i + 1])) i++;
    if (t->s[++i] == 'x') element.at = i + 1;
  }
  return element;
}

static bool is_scalar_of(const sw_ir_tree *t, sw_ir_span type, sw_ir_span element) {
  sw_ir_span own = element_text_of(t, type), in = sw_ir_inside(t, sw_ir_resolved(t, type));
  return own.at == in.at && sw_ir_same(t, sw_ir_resolved(t, own), sw_ir_resolved(t, element));
}

static bool is_of_operand(wanted w) { return w == OF_OPERAND || w == OF_OPERAND_ELEMENT; }
static bool wants_whole_type(wanted w) { return w == OF_OPERAND || w == OF_RESULT; }

/* Type `said` is what is wanted as number k of what a region takes or returns; *type: what that follows from. */
static bool is_wanted_type(checked *c, wanted want, uint32_t k, sw_ir_span said, sw_ir_span *type) {
  const sw_ir_tree *t = c->t;
  *type = (sw_ir_span){0, 0};
  if (want == OF_ANY || !sw_ir_present(said)) return true;
  if (want == OF_BOOL)
    return is_scalar_of(t, said, element_text_of(t, said)) && sw_ir_is(t, element_text_of(t, said), "i1");
  *type = nth_type(t, is_of_operand(want) ? &c->operands : &c->results, k);
  if (!sw_ir_present(*type)) return true;
  if (wants_whole_type(want)) return sw_ir_types_fit(t, said, *type, c->scratch);
  sw_ir_span element = element_text_of(t, *type);
  return !sw_ir_present(element) || is_scalar_of(t, said, element);
}

static sw_rc wrong_type(const checked *c, uint32_t at, const char *what, sw_ir_span said, wanted want, sw_ir_span type,
                        uint32_t k) {
  const sw_ir_tree *t = c->t;
  if (want == OF_BOOL)
    return SW_FAIL_INPUT(c->error, sw_ir_place(t, at), "%s of '%.*s' is %.*s; expected tensor<i1>", what,
                         SW_IR_TEXT(t, c->op->name), SW_IR_TEXT(t, said));
  sw_ir_span part = wants_whole_type(want) ? type : element_text_of(t, type);
  return SW_FAIL_INPUT(c->error, sw_ir_place(t, at), "%s of '%.*s' is %.*s; expected %s%.*s%s, as %s %u %s", what,
                       SW_IR_TEXT(t, c->op->name), SW_IR_TEXT(t, said), wants_whole_type(want) ? "" : "tensor<",
                       SW_IR_TEXT(t, part), wants_whole_type(want) ? "" : ">",
                       is_of_operand(want) ? "operand" : "result", k, wants_whole_type(want) ? "is" : "holds");
}

static uint32_t number_at(arg_order order, uint32_t i, uint32_t n_args) {
  return order == PAIRS ? i / 2 : order == SIDES ? i % (n_args / 2) : i;
}

static sw_rc check_region_types(checked *c, uint32_t number, const sw_ir_block *b, const sw_ir_op *last,
                                const region_side *side) {
  const sw_ir_tree *t = c->t;
  /* the custom form of reduce writes (a, a') (b, b') */
  arg_order order = c->rule->order == SIDES && !c->op->generic ? PAIRS : c->rule->order;
  types given = types_of(sw_ir_operand_types(t, last->types));
  char what[64];
  sw_ir_span type;
  for (uint32_t i = 0; i < b->n_args; i++) {
    const sw_ir_arg *a = &t->args.at[b->first_arg + i];
    uint32_t k = number_at(order, i, b->n_args);
    if (is_wanted_type(c, side->of_args, k, a->type, &type)) continue;
    (void)snprintf(what, sizeof what, "argument %u of region %u", i, number);
    return wrong_type(c, a->name.at - 1, what, a->type, side->of_args, type, k);
  }
  for (uint32_t k = 0; k < last->n_uses; k++) {
    sw_ir_span said = nth_type(t, &given, k);
    if (is_wanted_type(c, side->of_values, k, said, &type)) continue;
    (void)snprintf(what, sizeof what, "returned value %u of region %u", k, number);
    return wrong_type(c, said.at, what, said, side->of_values, type, k);
  }
  return SW_OK;
}

/* Numbers of one kind of which the second has as many bits. */
static bool promotes(sw_dtype from, sw_dtype to) {
  sw_dtype_class a = sw_dtype_class_of(from), b = sw_dtype_class_of(to);
  bool whole = a != SW_CLASS_FLOAT && a != SW_CLASS_COMPLEX && b != SW_CLASS_FLOAT && b != SW_CLASS_COMPLEX;
  return (a == b || whole) && sw_dtype_bits(from) <= sw_dtype_bits(to);
}

static sw_rc check_promotes(checked *c) {
  for (uint32_t k = 0; k < c->n_results; k++) {
    sw_ir_span x = nth_type(c->t, &c->operands, k), y = nth_type(c->t, &c->results, k);
    sw_type from, to;
    sw_arena_reset(c->scratch);
    if (!sw_ir_present(x) || !sw_ir_present(y) || sw_ir_read_type(c->t, x, c->scratch, &from, NULL) ||
        sw_ir_read_type(c->t, y, c->scratch, &to, NULL) || promotes(from.dtype, to.dtype))
      continue;
    return SW_FAIL_INPUT(c->error, sw_ir_place(c->t, y.at),
                         "result %u of '%.*s' holds %s, operand %u %s; expected the same, or wider numbers of its kind",
                         k, SW_IR_TEXT(c->t, c->op->name), sw_dtype_text(to.dtype), k, sw_dtype_text(from.dtype));
  }
  return SW_OK;
}

/* --- regions ------------------------------------------------------------------------------------------------------ */

static sw_rc check_region(checked *c, uint32_t number, uint32_t region, const region_side *side) {
  const sw_ir_tree *t = c->t;
  const sw_ir_op *op = c->op;
  const sw_ir_region *r = &t->regions.at[region];
  const sw_ir_block *b = r->first_block == SW_IR_NONE ? NULL : &t->blocks.at[r->first_block];
  uint32_t args = region_count_of(side->args, op, c->n_results),
           values = region_count_of(side->values, op, c->n_results);
  if (!b || b->first_op == SW_IR_NONE) {
    return SW_FAIL_INPUT(c->error, sw_ir_place(t, r->text.at),
                         "region %u of '%.*s' is empty; expected ops and a return", number, SW_IR_TEXT(t, op->name));
  }
  if (b->n_args != args) {
    return SW_FAIL_INPUT(c->error, sw_ir_place(t, r->text.at), "region %u of '%.*s' takes %u values; expected %u",
                         number, SW_IR_TEXT(t, op->name), b->n_args, args);
  }
  const sw_ir_op *last = &t->ops.at[sw_ir_last_op(t, r->first_block)];
  if (last->n_uses == values) return check_region_types(c, number, b, last, side);
  return SW_FAIL_INPUT(c->error, sw_ir_place(t, last->text.at), "region %u of '%.*s' returns %u values; expected %u",
                       number, SW_IR_TEXT(t, op->name), last->n_uses, values);
}

sw_rc sw_ir_verify_regions(const sw_ir_tree *t, const sw_ir_op *op, uint32_t results, sw_arena *scratch,
                           sw_diag *error) {
  const region_rule *rule = region_rule_of(t, op);
  checked c = {.t = t, .op = op, .rule = rule, .n_results = results, .scratch = scratch, .error = error};
  c.operands = types_of(sw_ir_operand_types(t, op->types));
  c.results = types_of(sw_ir_result_types(t, op));
  bool in_words = !op->generic && op->first_region == SW_IR_NONE; /* reduce(...) applies stablehlo.add */
  if (rule && rule->reduces) SW_TRY(check_promotes(&c));
  if (!rule || in_words) return SW_OK;
  uint32_t found = sw_ir_region_count(t, op);
  if (rule->regions ? found != rule->regions : !found) {
    return SW_FAIL_INPUT(error, sw_ir_place(t, op->text.at), "'%.*s' has %u regions; expected %u%s",
                         SW_IR_TEXT(t, op->name), found, rule->regions ? rule->regions : 1,
                         rule->regions ? "" : " or more");
  }
  uint32_t k = 0;
  for (uint32_t r = op->first_region; r != SW_IR_NONE; r = t->regions.at[r].next, k++) {
    SW_TRY(check_region(&c, k, r, k + 1 == found ? &rule->last : &rule->first));
  }
  return SW_OK;
}
