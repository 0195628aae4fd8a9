/* Which values may be infinite, and what that forbids.
 *
 *   y = log(x)
 *   z = multiply(y, c)   c must not be taken as a partial sum (8 on one device, 0 on the next): where y is -inf,
 *                        -inf * 8 + -inf * 0 is not -inf
 *   z = divide(c, n)     nor c here, unless n is never zero
 *
 * Facts flow from operands to results; around a loop until they stay. Arguments count as finite, and so does what only
 * overflows. A linearity that is forbidden keeps its number and loses its operands.
 */
#include "graph/infinite.h"

#include <float.h>
#include <string.h>

#include "graph/builder.h"
#include "collective/scalar.h"

enum { FINITE = 1, NONZERO = 2, NOT_NEGATIVE = 4, POSITIVE = NONZERO | NOT_NEGATIVE, ALL = 7 };

static bool has(int facts, int all) { return (facts & all) == all; }

/* The facts of a result, given those of the first two operands. */
typedef int rule(const sw_graph *g, const sw_op *op, int a, int b);

static int of_constant(const sw_graph *g, const sw_op *op, int a, int b) {
  (void)a, (void)b;
  const sw_type *t = sw_result_type(g, op, 0);
  const sw_data *data = &sw_op_attr(op, SW_ATTR_VALUE)->u.data;
  int64_t n = data->splat ? 1 : sw_type_elements(t), bytes = sw_dtype_bytes(t->dtype);
  sw_dtype_class class = sw_dtype_class_of(t->dtype);
  bool is_float = class == SW_CLASS_FLOAT || class == SW_CLASS_COMPLEX;
  int facts = ALL;
  for (int64_t i = 0; i < n && facts; i++) {
    sw_scalar x = sw_scalar_load(t->dtype, (const char *)data->bytes + i * bytes);
    if (is_float && (x.re > DBL_MAX || x.re < -DBL_MAX || x.im > DBL_MAX || x.im < -DBL_MAX)) facts &= ~FINITE;
    if (is_float ? x.re == 0 : x.bits == 0) facts &= ~NONZERO;
    bool negative = is_float ? x.re < 0 : class == SW_CLASS_SIGNED && (int64_t)x.bits < 0;
    if (negative || class == SW_CLASS_COMPLEX) facts &= ~NOT_NEGATIVE;
  }
  return facts;
}

static int of_exponential(const sw_graph *g, const sw_op *op, int a, int b) {
  (void)g, (void)op, (void)b;
  return FINITE | NOT_NEGATIVE | (has(a, FINITE) ? NONZERO : 0);
}

static int of_logarithm(const sw_graph *g, const sw_op *op, int a, int b) {
  (void)g, (void)op, (void)b;
  return has(a, FINITE | NONZERO) ? FINITE : 0;
}

static int of_log_plus_one(const sw_graph *g, const sw_op *op, int a, int b) {
  (void)g, (void)op, (void)b;
  return has(a, FINITE | NOT_NEGATIVE) ? FINITE | NOT_NEGATIVE : 0;
}

static int of_quotient(const sw_graph *g, const sw_op *op, int a, int b) {
  (void)g, (void)op;
  int facts = a & b & NOT_NEGATIVE;
  if (has(a, FINITE) && has(b, NONZERO)) facts |= FINITE;
  return has(a, NONZERO) && has(b, FINITE) ? facts | NONZERO : facts;
}

static int of_rsqrt(const sw_graph *g, const sw_op *op, int a, int b) {
  (void)b;
  return of_quotient(g, op, ALL, a) | NOT_NEGATIVE;
}

static int of_sum(const sw_graph *g, const sw_op *op, int a, int b) {
  (void)g, (void)op;
  int facts = a & b & (FINITE | NOT_NEGATIVE);
  return has(facts, NOT_NEGATIVE) && ((a | b) & NONZERO) ? facts | NONZERO : facts;
}

static int of_product(const sw_graph *g, const sw_op *op, int a, int b) {
  (void)g;
  return (a & b) | (op->operands[0] == op->operands[1] ? NOT_NEGATIVE : 0);
}

static int of_maximum(const sw_graph *g, const sw_op *op, int a, int b) {
  (void)g, (void)op;
  int facts = (a & b) | ((a | b) & NOT_NEGATIVE);
  return has(a, POSITIVE) || has(b, POSITIVE) ? facts | NONZERO : facts;
}

static int of_power(const sw_graph *g, const sw_op *op, int a, int b) {
  (void)g, (void)op;
  bool finite = has(a, FINITE) && (has(a, NONZERO) || has(b, NOT_NEGATIVE));
  return (a & NOT_NEGATIVE) | (finite ? FINITE : 0);
}

static int of_conversion(const sw_graph *g, const sw_op *op, int a, int b) {
  (void)b;
  bool drops = sw_dtype_class_of(sw_operand_type(g, op, 0)->dtype) == SW_CLASS_FLOAT &&
               sw_dtype_class_of(sw_result_type(g, op, 0)->dtype) != SW_CLASS_FLOAT;
  return drops ? a & ~NONZERO : a;
}

/* Sums of positive numbers are positive. Least and largest elements and products are as the elements are. */
static int of_reduction(const sw_graph *g, const sw_op *op, int a, int b) {
  (void)g, (void)b;
  bool sum = strcmp(sw_op_text(op, SW_ATTR_KIND, ""), sw_reduction_text(SW_REDUCE_SUM)) == 0;
  return sum && !has(a, POSITIVE) ? a & ~NONZERO : a;
}

/* A result has those facts of `keeps` that all operands of `from` (bit i) have, and those of `gains`; or `of` says. */
typedef struct flow {
  uint32_t from;
  uint8_t keeps, gains;
  rule *of;
} flow;

#define FACTS_KEEPS(...) \
  { __VA_ARGS__, NULL }
#define FACTS_BY(rule) \
  { .of = of_##rule }
#define FACTS_none \
  { 0 }
static const flow kFlows[SW_OP_COUNT] = {
#define SW_COLUMN_FACTS(id, facts) FACTS_##facts,
#include "shardwright/ops.def"
};

static int facts_of(const sw_graph *g, const sw_op *op, const uint8_t *facts) {
  const flow *f = &kFlows[op->code];
  if (f->of) {
    int a = op->n_operands > 0 ? facts[op->operands[0]] : 0, b = op->n_operands > 1 ? facts[op->operands[1]] : 0;
    return f->of(g, op, a, b);
  }
  int x = f->keeps;
  for (int i = 0; i < op->n_operands; i++) {
    if (f->from == UINT32_MAX || (i < 32 && f->from >> i & 1)) x &= facts[op->operands[i]];
  }
  return x | f->gains;
}

/* What holds of every element of the dtype. */
static int of_dtype(sw_dtype t) {
  sw_dtype_class class = sw_dtype_class_of(t);
  if (class == SW_CLASS_SIGNED) return FINITE;
  return class == SW_CLASS_UNSIGNED || class == SW_CLASS_BOOL ? FINITE | NOT_NEGATIVE : 0;
}

/* One walk through all ops; returns whether an entered value turned out to have fewer facts than it entered with. */
static bool walk_facts(const sw_graph *g, uint8_t *facts, uint8_t *lost) {
  bool fewer = false;
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    int found = facts_of(g, op, facts);
    for (int r = 0; r < op->n_results; r++) {
      sw_id v = op->results[r];
      sw_dtype t = g->values[v].type.dtype;
      int complex = sw_dtype_class_of(t) == SW_CLASS_COMPLEX ? ~NOT_NEGATIVE : ALL;
      facts[v] = (uint8_t)(((found & ~lost[v] & complex) | of_dtype(t)) & ALL);
    }
    if (op->code != SW_OP_JOIN) continue;
    const sw_value *entered = &g->values[op->operands[0]];
    if (entered->def < 0 || g->ops[entered->def].code != SW_OP_ENTER) continue;
    uint8_t gone = facts[op->operands[0]] & (uint8_t)~facts[op->results[0]];
    lost[op->operands[0]] |= gone;
    fewer = fewer || gone;
  }
  return fewer;
}

static void find_facts(const sw_graph *g, uint8_t *facts, uint8_t *lost) {
  for (sw_id v = 0; v < g->n_values; v++) {
    if (g->values[v].def < 0) facts[v] = (uint8_t)(FINITE | of_dtype(g->values[v].type.dtype));
  }
  bool fewer = true;
  while (fewer) fewer = walk_facts(g, facts, lost);
}

/* Forms (bit k) that need another operand to be finite, or not zero, and have no such one. */
static uint32_t forbidden(const sw_op *op, const uint8_t *facts) {
  bool product = op->code == SW_OP_MULTIPLY || sw_op_class_of(op->code) == SW_OPS_CONTRACTION;
  if (!op->nest || !(product || op->code == SW_OP_DIVIDE)) return 0;
  uint32_t out = 0;
  for (int k = 0; k < op->nest->n_linear; k++) {
    int other = op->nest->linear[k].operands == 1 ? 1 : 0;
    if (!has(facts[op->operands[other]], product ? FINITE : NONZERO)) out |= 1u << k;
  }
  return out;
}

/* The nest without the operands of these forms; equal ones are shared. */
static sw_rc without(sw_graph *g, sw_dict *made, const sw_loop_nest *s, uint32_t forms, const sw_loop_nest **out,
                     sw_diag *d) {
  const struct {
    const sw_loop_nest *nest;
    uintptr_t forms;
  } key = {s, forms};
  int64_t *slot;
  bool fresh;
  SW_TRY(sw_dict_put(made, &key, sizeof key, 0, &slot, &fresh, d));
  if (fresh) {
    sw_loop_nest *copy = sw_arena_copy(&g->arena, s, 1, sizeof *s, d);
    sw_linearity *linear = sw_arena_copy(&g->arena, s->linear, (size_t)s->n_linear, sizeof *linear, d);
    if (!copy || !linear) return SW_E_RESOURCE;
    for (int k = 0; k < s->n_linear; k++) {
      if (forms >> k & 1) linear[k].operands = 0;
    }
    copy->linear = linear;
    *slot = (int64_t)(intptr_t)copy;
  }
  *out = (const sw_loop_nest *)(intptr_t)*slot;
  return SW_OK;
}

static sw_rc forbid(sw_graph *g, const uint8_t *facts, sw_dict *made, sw_diag *d) {
  for (sw_id i = 0; i < g->n_ops; i++) {
    uint32_t forms = forbidden(&g->ops[i], facts);
    if (forms) SW_TRY(without(g, made, g->ops[i].nest, forms, &g->builder->ops.at[i].nest, d));
  }
  return SW_OK;
}

sw_rc sw_graph_mind_infinities(sw_graph *g, sw_diag *d) {
  sw_arena scratch = {0};
  sw_dict made = {0};
  uint8_t *facts = sw_arena_alloc(&scratch, (size_t)g->n_values, sizeof *facts, d);
  uint8_t *lost = sw_arena_alloc(&scratch, (size_t)g->n_values, sizeof *lost, d);
  sw_rc rc = facts && lost ? SW_OK : SW_E_RESOURCE;
  if (!rc) find_facts(g, facts, lost);
  if (!rc) rc = forbid(g, facts, &made, d);
  sw_dict_deinit(&made);
  sw_arena_deinit(&scratch);
  return rc;
}
