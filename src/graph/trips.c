/* How often a loop runs, when a counter says so: the test compares a carried integer with a constant, the body adds a
 * constant to it, and it enters as a constant.
 *
 *   i = enter(0); test(i < 12); yield(i + 1)      12 times
 */
#include "graph/control.h"

#include <string.h>

#include "base/checked.h"

#define MOST_STEP (INT64_C(1) << 32)

/* What the loop yields for an entered value; -1: it only reads it. */
static sw_id yielded_for(const sw_graph *g, sw_id entered) {
  const sw_value *v = &g->values[entered];
  for (int i = 0; i < v->n_uses; i++) {
    const sw_op *op = v->uses[i].op < 0 ? NULL : &g->ops[v->uses[i].op];
    if (op && op->code == SW_OP_JOIN) return sw_join_yielded(g, op);
  }
  return -1;
}

/* The op that gives a value, behind enters of what does not change; NULL for arguments. */
static const sw_op *source_of(const sw_graph *g, sw_id value) {
  const sw_op *op = g->values[value].def < 0 ? NULL : &g->ops[g->values[value].def];
  while (op && op->code == SW_OP_ENTER) {
    sw_id next = yielded_for(g, op->results[0]), x = op->operands[0];
    if (next >= 0 && next != op->results[0]) return NULL;
    op = g->values[x].def < 0 ? NULL : &g->ops[g->values[x].def];
  }
  return op;
}

static bool constant_of(const sw_graph *g, sw_id value, int64_t *out) {
  const sw_op *op = source_of(g, value);
  const sw_type *t = &g->values[value].type;
  sw_dtype_class c = sw_dtype_class_of(t->dtype);
  if (!op || op->code != SW_OP_CONSTANT || t->rank != 0) return false;
  if (c != SW_CLASS_SIGNED && c != SW_CLASS_UNSIGNED) return false;
  *out = (int64_t)sw_element_load(t->dtype, sw_op_attr(op, SW_ATTR_VALUE)->u.data.bytes);
  return true;
}

static const sw_op *def_of(const sw_graph *g, sw_id value, sw_opcode code) {
  const sw_op *op = g->values[value].def < 0 ? NULL : &g->ops[g->values[value].def];
  return op && op->code == code ? op : NULL;
}

/* The constant that `next` adds to `counter`. */
static bool step_of(const sw_graph *g, sw_id counter, sw_id next, int64_t *step) {
  const sw_op *add = next < 0 ? NULL : def_of(g, next, SW_OP_ADD);
  for (int i = 0; add && i < 2; i++) {
    if (add->operands[i] == counter && constant_of(g, add->operands[1 - i], step))
      return *step != 0 && *step > -MOST_STEP && *step < MOST_STEP;
  }
  return false;
}

typedef struct comparison {
  const char *name;
  int sign;     /* of the step with which it ends */
  int64_t more; /* runs at equality */
} comparison;

/* Runs of: for (i = first; i <direction> limit; i += step). */
static int64_t runs(const char *direction, int64_t first, int64_t limit, int64_t step) {
  static const comparison kKinds[] = {{"lt", 1, 0}, {"le", 1, 1}, {"gt", -1, 0}, {"ge", -1, 1}};
  for (int i = 0; i < 4; i++) {
    int64_t way;
    if (strcmp(kKinds[i].name, direction) != 0 || (step > 0) != (kKinds[i].sign > 0)) continue;
    if (!sw_sub_i64(limit, first, &way)) return 0;
    way = way * kKinds[i].sign + kKinds[i].more;
    return way <= 0 ? 0 : (way - 1) / (step * kKinds[i].sign) + 1;
  }
  return 0;
}

int64_t sw_loop_trips(const sw_graph *g, const sw_frame *f) {
  int64_t given = sw_op_int(&g->ops[f->opened_by], SW_ATTR_TRIPS, 0), first, limit, step;
  const sw_op *compare = given ? NULL : def_of(g, g->ops[f->test].operands[0], SW_OP_COMPARE);
  if (!compare) return given;
  sw_id counter = compare->operands[0];
  const sw_op *enter = def_of(g, counter, SW_OP_ENTER);
  if (!enter || !constant_of(g, enter->operands[0], &first) || !constant_of(g, compare->operands[1], &limit)) return 0;
  if (!step_of(g, counter, yielded_for(g, counter), &step)) return 0;
  return runs(sw_op_text(compare, SW_ATTR_DIRECTION, ""), first, limit, step);
}
