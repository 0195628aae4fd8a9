/* Regions (verify.h): how many an op has, and what goes into each and out of it.
 *
 *   "stablehlo.reduce"(%x, %init) ({ ^bb0(%a: T, %b: T): ... return %c : T })      one region, a pair in, one value out
 */
#include <string.h>

#include "io/mlir/import/verify.h"
#include "io/mlir/text/attr.h"

/* Numbers as `of_uses` for each operand, `of_results` for each result, and `more`. */
typedef struct count {
  int of_uses, of_results, more;
} count;

typedef struct region_rule {
  const char *name;   /* behind stablehlo. or mhlo. */
  uint32_t regions;   /* 0: one or more */
  count args, values; /* into and out of a region */
  count last_values;  /* out of the last region */
} region_rule;

#define ONE \
  { 0, 0, 1 }
#define RESULTS \
  { 0, 1, 0 }
#define PAIRS_OF_RESULTS \
  { 0, 2, 0 }

static const region_rule kRules[] = {
    {"reduce", 1, PAIRS_OF_RESULTS, RESULTS, RESULTS},
    {"reduce_window", 1, PAIRS_OF_RESULTS, RESULTS, RESULTS},
    {"scatter", 1, PAIRS_OF_RESULTS, RESULTS, RESULTS},
    {"sort", 1, {2, 0, 0}, ONE, ONE},
    {"map", 1, {1, 0, 0}, ONE, ONE},
    {"select_and_scatter", 2, {0, 0, 2}, ONE, ONE},
    {"while", 2, {1, 0, 0}, ONE, {1, 0, 0}},
    {"if", 2, {0, 0, 0}, RESULTS, RESULTS},
    {"case", 0, {0, 0, 0}, RESULTS, RESULTS},
    {"all_reduce", 1, {0, 0, 2}, ONE, ONE},
    {"reduce_scatter", 1, {0, 0, 2}, ONE, ONE},
};

static const region_rule *rule_of(const sw_ir_tree *t, const sw_ir_op *op) {
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

static sw_rc check_region(const sw_ir_tree *t, const sw_ir_op *op, uint32_t number, uint32_t region, uint32_t args,
                          uint32_t values, sw_diag *error) {
  const sw_ir_region *r = &t->regions.at[region];
  const sw_ir_block *b = r->first_block == SW_IR_NONE ? NULL : &t->blocks.at[r->first_block];
  if (!b || b->first_op == SW_IR_NONE) {
    return SW_FAIL_INPUT(error, sw_ir_place(t, r->text.at), "region %u of '%.*s' is empty; expected ops and a return",
                         number, SW_IR_TEXT(t, op->name));
  }
  if (b->n_args != args) {
    return SW_FAIL_INPUT(error, sw_ir_place(t, r->text.at), "region %u of '%.*s' takes %u values; expected %u", number,
                         SW_IR_TEXT(t, op->name), b->n_args, args);
  }
  const sw_ir_op *last = &t->ops.at[b->first_op];
  while (last->next != SW_IR_NONE) last = &t->ops.at[last->next];
  if (last->n_uses == values) return SW_OK;
  return SW_FAIL_INPUT(error, sw_ir_place(t, last->text.at), "region %u of '%.*s' returns %u values; expected %u",
                       number, SW_IR_TEXT(t, op->name), last->n_uses, values);
}

static uint32_t number_of(count c, const sw_ir_op *op, uint32_t results) {
  return (uint32_t)c.of_uses * op->n_uses + (uint32_t)c.of_results * results + (uint32_t)c.more;
}

sw_rc sw_ir_verify_regions(const sw_ir_tree *t, const sw_ir_op *op, uint32_t results, sw_diag *error) {
  const region_rule *rule = rule_of(t, op);
  bool in_words = !op->generic && op->first_region == SW_IR_NONE; /* reduce(...) applies stablehlo.add */
  if (!rule || in_words) return SW_OK;
  uint32_t found = sw_ir_region_count(t, op);
  if (rule->regions ? found != rule->regions : !found) {
    return SW_FAIL_INPUT(error, sw_ir_place(t, op->text.at), "'%.*s' has %u regions; expected %u%s",
                         SW_IR_TEXT(t, op->name), found, rule->regions ? rule->regions : 1,
                         rule->regions ? "" : " or more");
  }
  uint32_t k = 0;
  for (uint32_t r = op->first_region; r != SW_IR_NONE; r = t->regions.at[r].next, k++) {
    count values = k + 1 == found ? rule->last_values : rule->values;
    SW_TRY(check_region(t, op, k, r, number_of(rule->args, op, results), number_of(values, op, results), error));
  }
  return SW_OK;
}
