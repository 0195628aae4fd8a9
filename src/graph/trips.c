/* How often a loop runs, when somebody or a counter says so: the test compares a carried integer with a constant, the
 * body adds a constant to it, and it enters as a constant.
 *
 *   i = enter(0); test(i < 12); yield(i + 1)      12 times
 */
#include "graph/control.h"
#include "graph/derive.h"

#include <string.h>

#include "base/checked.h"

#define MOST_STEP (INT64_C(1) << 32)

bool sw_value_constant(const sw_graph *g, sw_id value, int64_t *out) {
  const sw_op *op = sw_value_maker(g, sw_behind_enters(g, value));
  const sw_type *t = &g->values[value].type;
  sw_dtype_class c = sw_dtype_class_of(t->dtype);
  if (!op || op->code != SW_OP_CONSTANT || t->rank != 0) return false;
  if (c != SW_CLASS_SIGNED && c != SW_CLASS_UNSIGNED) return false;
  *out = (int64_t)sw_element_load(t->dtype, sw_op_attr(op, SW_ATTR_VALUE)->u.data.bytes);
  return true;
}

static const sw_op *def_of(const sw_graph *g, sw_id value, sw_opcode code) {
  const sw_op *op = sw_value_maker(g, value);
  return op && op->code == code ? op : NULL;
}

/* The constant that `next` adds to `counter`. */
static bool step_of(const sw_graph *g, sw_id counter, sw_id next, int64_t *step) {
  const sw_op *add = next < 0 ? NULL : def_of(g, next, SW_OP_ADD);
  for (int i = 0; add && i < 2; i++) {
    if (add->operands[i] == counter && sw_value_constant(g, add->operands[1 - i], step))
      return *step != 0 && *step > -MOST_STEP && *step < MOST_STEP;
  }
  return false;
}

typedef struct comparison {
  const char *name;
  int sign;     /* of the step with which it ends */
  int64_t more; /* runs at equality */
} comparison;

/* Runs of: for (i = first; i <direction> limit; i += step); -1: not known. */
static int64_t runs(const char *direction, int64_t first, int64_t limit, int64_t step) {
  static const comparison kKinds[] = {{"lt", 1, 0}, {"le", 1, 1}, {"gt", -1, 0}, {"ge", -1, 1}};
  for (int i = 0; i < 4; i++) {
    int64_t way;
    if (strcmp(kKinds[i].name, direction) != 0 || (step > 0) != (kKinds[i].sign > 0)) continue;
    if (!sw_sub_i64(limit, first, &way)) return -1;
    way = way * kKinds[i].sign + kKinds[i].more;
    return way <= 0 ? 0 : (way - 1) / (step * kKinds[i].sign) + 1;
  }
  return -1;
}

/* -1: not known. */
static int64_t trips_of(const sw_graph *g, const sw_frame *f) {
  int64_t given = sw_op_int(&g->ops[f->opened_by], SW_ATTR_TRIPS, 0), first, limit, step;
  const sw_op *compare = given ? NULL : def_of(g, g->ops[f->test].operands[0], SW_OP_COMPARE);
  if (given) return given;
  if (!compare) return -1;
  sw_id counter = compare->operands[0];
  const sw_op *enter = def_of(g, counter, SW_OP_ENTER);
  if (!enter || !sw_value_constant(g, enter->operands[0], &first) ||
      !sw_value_constant(g, compare->operands[1], &limit))
    return -1;
  if (!step_of(g, counter, sw_entered_yields(g, counter), &step)) return -1;
  return runs(sw_op_text(compare, SW_ATTR_DIRECTION, ""), first, limit, step);
}

void sw_frame_find_trips(const sw_graph *g, sw_frame *f) { f->trips = f->kind == SW_OP_WHILE ? trips_of(g, f) : 1; }

sw_rc sw_count_repeats(const sw_frame *frames, int32_t n_frames, sw_op *ops, int32_t n_ops, sw_diag *d) {
  int64_t *of = sw_mem_alloc((size_t)n_frames + 1, sizeof *of, d);
  if (!of) return SW_E_RESOURCE;
  for (int32_t i = 0; i < n_frames; i++) {
    const sw_frame *f = &frames[i];
    of[i] = f->parent < 0 ? 1 : of[f->parent];
    const int64_t trips = f->assumed ? f->trips : sw_max_i64(1, f->trips);
    if (!sw_mul_i64(of[i], trips, &of[i])) of[i] = INT64_MAX;
  }
  for (sw_id i = 0; i < n_ops; i++) ops[i].repeats = ops[i].frame < 0 ? 1 : of[ops[i].frame];
  sw_mem_free(of);
  return SW_OK;
}

/* --- as somebody says --------------------------------------------------------------------------------------------- */

static const char *loop_name(const sw_graph *g, const sw_frame *f) { return g->ops[f->opened_by].name; }

static void put_open(const sw_graph *g, bool assumed, sw_text *out) {
  for (int32_t i = 0; i < g->n_frames; i++) {
    const sw_frame *f = &g->frames[i];
    if (sw_frame_is_open(f) && (assumed || !f->assumed))
      sw_text_printf(out, "%s%s", sw_text_str(out)[0] ? ", " : "", loop_name(g, f));
  }
}

void sw_graph_put_unknown_loops(const sw_graph *g, sw_text *out) { put_open(g, false, out); }

static sw_rc fail_unknown(const sw_graph *g, const char *loop, sw_diag *d) {
  sw_text open = {0};
  put_open(g, true, &open);
  const sw_rc rc = SW_FAIL_INPUT(d, SW_NOWHERE, "no loop whose trips are not known is called '%s'; expected %s%s", loop,
                                 open.n ? "one of: " : "none: those of all loops are known", sw_text_str(&open));
  sw_text_free(&open);
  return rc;
}

sw_rc sw_graph_with_trips(const sw_graph *g, const sw_said_trips *said, sw_arena *arena, sw_graph **out, sw_diag *d) {
  sw_frame *frames = sw_arena_copy(arena, g->frames, (size_t)g->n_frames, sizeof *frames, d);
  sw_op *ops = sw_arena_copy(arena, g->ops, (size_t)g->n_ops, sizeof *ops, d);
  const bool all = strcmp(said->loop, "*") == 0;
  bool found = all;
  if (!frames || !ops) return SW_E_RESOURCE;
  if (said->trips < 0)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "loop '%s' runs %lld times; expected at least 0", said->loop,
                         (long long)said->trips);
  for (int32_t i = 0; i < g->n_frames; i++) {
    sw_frame *f = &frames[i];
    if (!sw_frame_is_open(f) || (all ? f->assumed : strcmp(said->loop, loop_name(g, f)) != 0)) continue;
    f->trips = said->trips;
    f->assumed = found = true;
  }
  if (!found) return fail_unknown(g, said->loop, d);
  SW_TRY(sw_count_repeats(frames, g->n_frames, ops, g->n_ops, d));
  return sw_graph_derive(g, &(sw_graph_parts){.ops = ops, .frames = frames}, arena, out, d);
}
