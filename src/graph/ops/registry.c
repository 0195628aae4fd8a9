/* The registry: what each op takes and how its types, loops and maps follow, from the rows of ops.def. */
#include "graph/ops/op_rule.h"
#include "graph/ops/op_rules.h"

/* What stands for an absent attribute, in the cells of the column. */
#define NEEDED(k) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_WRONG }
#define EMPTY(k) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_EMPTY }
#define INT(k, v) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_INT, .fill = (v) }
#define NUMBER(k, v) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_FLOAT, .fill_float = (v) }
#define WORD(k, v) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_TEXT, .fill_text = (v) }
#define OPTIONAL(k) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_NOTHING }
#define EACH(k, v) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_RANK, .fill = (v) }
#define ZEROS(k, n) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_ZEROS, .fill = (n) }
#define SPATIAL(k, v) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_SPATIAL, .fill = (v) }
#define LAST(k) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_LAST }
#define ELEMENT(k) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_ELEMENT }
#define COPY(k, from) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_COPY, .fill = SW_ATTR_##from }
#define ATTRIBUTES_WITH(...)                                                                                        \
  .n_attrs = (int)(sizeof((sw_attr_rule[]){__VA_ARGS__}) / sizeof(sw_attr_rule)), .attrs = (const sw_attr_rule[]) { \
    __VA_ARGS__                                                                                                     \
  }
#define ATTRIBUTES_none .n_attrs = 0

/* Sums of these operands (bits) together, and so on (sw_linearity). */
#define LINEAR_FORMS(...)                                                                                             \
  .n_linear = (int)(sizeof((sw_linearity[]){__VA_ARGS__}) / sizeof(sw_linearity)), .linear = (const sw_linearity[]) { \
    __VA_ARGS__                                                                                                       \
  }
#define LINEAR_none .n_linear = 0
#define LINEAR_one_sum LINEAR_FORMS({1, SW_REDUCE_SUM})
#define LINEAR_both_sum LINEAR_FORMS({3, SW_REDUCE_SUM})
#define LINEAR_each_sum LINEAR_FORMS({1, SW_REDUCE_SUM}, {2, SW_REDUCE_SUM})
#define LINEAR_both_max LINEAR_FORMS({3, SW_REDUCE_MAX})
#define LINEAR_both_min LINEAR_FORMS({3, SW_REDUCE_MIN})
#define LINEAR_chosen LINEAR_FORMS({6, SW_REDUCE_SUM}, {6, SW_REDUCE_MIN}, {6, SW_REDUCE_MAX})

/* Words of the cells. */
enum {
  none = 0,
  FREE = SW_RULE_FREE,
  SPARSE = SW_RULE_SPARSE,
  UNSHARED = SW_RULE_UNSHARED,
  DYNAMIC = SW_RULE_DYNAMIC,
  DEVICE = SW_RULE_DEVICE,
  FLOATS = SW_FLOATS,
  SIGNED = SW_SIGNED,
  INTS = SW_INTS,
  BOOLS = SW_BOOLS,
  COMPLEX = SW_COMPLEX,
  REALS = SW_REALS,
  NUMBERS = SW_NUMBERS,
  ELEMENTS = SW_ELEMENTS,
  ANYTHING = SW_ANY
};
#define sw_infer_none NULL
#define sw_nest_of_none NULL
#define sw_expand_none NULL

static const sw_op_rule kRules[SW_OP_COUNT] = {
#define SW_COLUMN_RULE(id, least, most, attributes, types, how, what, per_point, dtypes, linear_in, bits) \
  {.least_operands = (least),                                                                             \
   .most_operands = (most),                                                                               \
   ATTRIBUTES_##attributes,                                                                               \
   .infer = sw_infer_##types,                                                                             \
   .nest = sw_nest_of_##how,                                                                              \
   .expand = sw_expand_##what,                                                                            \
   .flops = (per_point),                                                                                  \
   .classes = (unsigned)(dtypes),                                                                         \
   LINEAR_##linear_in,                                                                                    \
   .flags = (unsigned)(bits)},
#include "shardwright/ops.def"
};

const sw_op_rule *sw_op_rule_of(sw_opcode c) { return &kRules[c]; }
