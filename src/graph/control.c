/* Loops and choices written in line: what their ops take, and the frames that their order spells.
 *
 *   while; a = enter(x); p = compare(a, n); test(p); b = add(a, one); y = yield(b); end; r = join(a, y)
 *
 * Frames are read off the ops of each function when the graph is sealed, with one pass and a stack; what does not nest,
 * or a value that crosses a border other than through enter, yield and join, is refused.
 */
#include "graph/control.h"

#include "graph/ops/op_rules.h"

sw_rc sw_infer_marker(sw_rule_call *c) {
  if (c->code != SW_OP_WHILE || sw_call_int(c, SW_ATTR_TRIPS) >= 0) return SW_OK;
  return SW_RULE_FAIL(c, "'trips' is %lld; expected at least 0", (long long)sw_call_int(c, SW_ATTR_TRIPS));
}

sw_rc sw_infer_choice(sw_rule_call *c) {
  SW_TRY(sw_check_scalar(c, 0));
  return sw_check_class(c, 0, c->code == SW_OP_CASE ? SW_BOOLS | SW_INTS : SW_BOOLS);
}

sw_rc sw_infer_equal(sw_rule_call *c) {
  for (int i = 1; i < c->n_operands; i++) {
    SW_TRY(sw_check_same_shape(c, 0, i));
    SW_TRY(sw_check_same_dtype(c, 0, i));
  }
  return sw_call_result_like(c, c->operands[0].dtype, &c->operands[0]);
}

/* --- frames ------------------------------------------------------------------------------------------------------ */

enum { MOST_DEEP = 64 };

typedef struct reader {
  sw_graph *g;
  SW_ARRAY(sw_frame) frames;
  sw_id open[MOST_DEEP]; /* frames around the op at hand */
  int n_open;
  bool entering;  /* only enter ops so far in the innermost frame */
  sw_id closed;   /* END right before, but for joins; -1 */
  int32_t *joins; /* by value: how many joins read it */
  sw_diag *d;
} reader;

#define WRONG(r, op, ...) SW_FAIL_INPUT((r)->d, (op)->span, __VA_ARGS__)

static sw_id innermost(const reader *r) { return r->n_open ? r->open[r->n_open - 1] : -1; }

static sw_rc push_frame(reader *r, const sw_frame *f, const sw_op *op) {
  if (r->n_open == MOST_DEEP) return WRONG(r, op, "loops and choices are nested deeper than %d", MOST_DEEP);
  r->open[r->n_open++] = (sw_id)r->frames.n;
  r->entering = true;
  return sw_array_push(&r->frames, *f, r->d);
}

static sw_rc open_frame(reader *r, sw_id id, sw_op *op) {
  sw_frame f = {.kind = op->code, .parent = innermost(r), .opened_by = id, .begin = id, .test = -1, .end = -1};
  return push_frame(r, &f, op);
}

static sw_rc test_here(reader *r, sw_id id, sw_op *op) {
  sw_frame *f = r->n_open ? &r->frames.at[innermost(r)] : NULL;
  if (!f || f->kind != SW_OP_WHILE || f->test >= 0) {
    return WRONG(r, op, "test '%s' stands %s; expected it once in a while", op->name,
                 f && f->kind == SW_OP_WHILE ? "in a loop that has one" : "in no loop");
  }
  f->test = id;
  return SW_OK;
}

static sw_rc next_branch(reader *r, sw_id id, sw_op *op) {
  if (!r->n_open || r->frames.at[innermost(r)].kind != SW_OP_CASE) {
    return WRONG(r, op, "otherwise '%s' stands in no case; expected it between two branches of one", op->name);
  }
  sw_frame f = r->frames.at[r->open[--r->n_open]];
  r->frames.at[r->open[r->n_open]].end = id;
  f.branch++;
  f.begin = id;
  return push_frame(r, &f, op);
}

/* All branches of a choice end at the same END. */
static sw_rc close_frame(reader *r, sw_id id, sw_op *op) {
  if (!r->n_open) return WRONG(r, op, "end '%s' ends nothing; expected it after a while or a case", op->name);
  sw_frame *f = &r->frames.at[r->open[--r->n_open]];
  if (f->kind == SW_OP_WHILE && f->test < 0) {
    return WRONG(r, op, "the loop that ends at '%s' has no test; expected one", op->name);
  }
  f->end = id;
  for (size_t i = 0; i < r->frames.n; i++) {
    if (r->frames.at[i].opened_by == f->opened_by) r->frames.at[i].closed_by = id;
  }
  r->closed = id;
  r->entering = false;
  return SW_OK;
}

/* A value of the inside that join may take: a yield, or what a loop carried in. */
static sw_rc check_joined(reader *r, const sw_op *op, int i, sw_opcode want, sw_id frame) {
  const sw_value *v = &r->g->values[op->operands[i]];
  const sw_op *from = sw_value_maker(r->g, op->operands[i]);
  if (!from || from->code != want || from->frame != frame) {
    return WRONG(r, op, "operand %d of join '%s' is '%s'; expected %s of that %s", i, op->name, v->name,
                 want == SW_OP_ENTER ? "an entered value" : "a yielded value",
                 r->frames.at[frame].kind == SW_OP_WHILE ? "loop" : "branch");
  }
  if (r->joins[op->operands[i]]++) return WRONG(r, op, "value '%s' is joined twice; expected once", v->name);
  return SW_OK;
}

static sw_rc check_join(reader *r, const sw_op *op) {
  if (r->closed < 0) return WRONG(r, op, "join '%s' does not follow an end; expected it right there", op->name);
  int n = 0;
  for (sw_id f = 0; f < (sw_id)r->frames.n; f++) {
    const sw_frame *frame = &r->frames.at[f];
    if (frame->closed_by != r->closed) continue;
    bool loop = frame->kind == SW_OP_WHILE;
    n += loop ? 2 : 1;
    if (n > op->n_operands) break;
    if (loop) SW_TRY(check_joined(r, op, 0, SW_OP_ENTER, f));
    SW_TRY(check_joined(r, op, n - 1, SW_OP_YIELD, f));
  }
  if (n == op->n_operands) return SW_OK;
  return WRONG(r, op, "join '%s' has %d operands; expected %d or more: two for a loop, one per branch of a case",
               op->name, op->n_operands, n);
}

/* Values come from the op's own frame, those that enter from the one around it. */
static sw_rc check_scope(reader *r, const sw_op *op) {
  sw_id here = op->frame;
  if (op->code == SW_OP_JOIN) return check_join(r, op);
  if (op->code == SW_OP_ENTER) {
    if (here < 0 || !r->entering) {
      return WRONG(r, op, "enter '%s' does not stand at the beginning of a loop or branch; expected it there",
                   op->name);
    }
    here = r->frames.at[here].parent;
  }
  if (op->code == SW_OP_YIELD && here < 0) return WRONG(r, op, "yield '%s' stands in no loop or branch", op->name);
  for (int i = 0; i < op->n_operands; i++) {
    if (sw_value_frame(r->g, op->operands[i]) == here) continue;
    return WRONG(r, op, "'%s' reads '%s' of %s; expected it to enter, or to be yielded and joined", op->name,
                 r->g->values[op->operands[i]].name, "another loop or branch");
  }
  return SW_OK;
}

static sw_rc see_op(reader *r, sw_id id) {
  sw_op *op = &r->g->builder->ops.at[id];
  static sw_rc (*const kMarkers[SW_OP_COUNT])(reader *, sw_id, sw_op *) = {[SW_OP_WHILE] = open_frame,
                                                                           [SW_OP_CASE] = open_frame,
                                                                           [SW_OP_TEST] = test_here,
                                                                           [SW_OP_OTHERWISE] = next_branch,
                                                                           [SW_OP_END] = close_frame};
  bool outside = op->code == SW_OP_END || op->code == SW_OP_OTHERWISE; /* of the frame that they end */
  op->frame = outside && r->n_open ? r->frames.at[innermost(r)].parent : innermost(r);
  if (op->code != SW_OP_ENTER) r->entering = false;
  SW_TRY(check_scope(r, op));
  if (op->code != SW_OP_JOIN) r->closed = -1;
  return kMarkers[op->code] ? kMarkers[op->code](r, id, op) : SW_OK;
}

/* What is yielded is joined, and read by nothing else. */
static sw_rc check_yields(reader *r) {
  for (sw_id v = 0; v < r->g->n_values; v++) {
    const sw_value *x = &r->g->values[v];
    if (x->def < 0 || r->g->ops[x->def].code != SW_OP_YIELD) continue;
    if (x->n_uses == 1 && r->joins[v] == 1) continue;
    return WRONG(r, &r->g->ops[x->def], "value '%s' is yielded and read %d times; expected one join alone", x->name,
                 x->n_uses);
  }
  return SW_OK;
}

static sw_rc check_outputs(reader *r) {
  const sw_graph *g = r->g;
  for (int i = 0; i < g->n_outputs; i++) {
    sw_id v = g->outputs[i];
    if (sw_value_frame(g, v) < 0) continue;
    return SW_FAIL_INPUT(r->d, g->output_spans[i], "output '%s' is a value inside a loop or branch", g->values[v].name);
  }
  return SW_OK;
}

static sw_rc read_frames(reader *r) {
  sw_graph *g = r->g;
  r->closed = -1;
  for (int32_t i = 0; i < g->n_ops; i++) SW_TRY(see_op(r, i));
  if (r->n_open) {
    const sw_op *begin = &g->ops[r->frames.at[innermost(r)].opened_by];
    return WRONG(r, begin, "%s '%s' has no end; expected one", sw_opcode_text(begin->code), begin->name);
  }
  SW_TRY(check_yields(r));
  SW_TRY(check_outputs(r));
  g->n_frames = (int32_t)r->frames.n;
  for (size_t i = 0; i < r->frames.n; i++) sw_frame_find_trips(g, &r->frames.at[i]);
  g->frames = sw_arena_copy(&g->arena, r->frames.at, r->frames.n, sizeof *r->frames.at, r->d);
  return g->frames ? sw_count_repeats(g->frames, g->n_frames, g->builder->ops.at, g->n_ops, r->d) : SW_E_RESOURCE;
}

sw_rc sw_graph_read_frames(sw_graph *g, sw_diag *d) {
  reader r = {.g = g, .d = d};
  SW_MEM_NEW(r.joins, g->n_values, d);
  sw_rc rc = read_frames(&r);
  sw_array_free(&r.frames);
  sw_mem_free(r.joins);
  return rc;
}

sw_id sw_frame_begun_by(const sw_graph *g, sw_id op) {
  sw_id low = 0, high = g->n_frames;
  while (low < high) {
    const sw_id middle = low + (high - low) / 2;
    if (g->frames[middle].begin < op)
      low = middle + 1;
    else
      high = middle;
  }
  return low < g->n_frames && g->frames[low].begin == op ? low : -1;
}

bool sw_op_is_repeated(const sw_graph *g, const sw_op *op) {
  for (sw_id f = op->frame; f >= 0; f = g->frames[f].parent) {
    if (g->frames[f].kind == SW_OP_WHILE) return true;
  }
  return false;
}

sw_id sw_value_held_for(const sw_graph *g, sw_id value) {
  const sw_op *op = sw_value_maker(g, value);
  if (!op || op->code != SW_OP_ENTER || g->frames[op->frame].kind != SW_OP_WHILE) return -1;
  return g->frames[op->frame].end;
}

sw_id sw_join_yielded(const sw_graph *g, const sw_op *join) {
  const sw_id entered = g->values[join->operands[0]].def;
  if (entered < 0 || g->ops[entered].code != SW_OP_ENTER) return -1;
  return g->ops[g->values[join->operands[1]].def].operands[0];
}

sw_id sw_entered_yields(const sw_graph *g, sw_id entered) {
  const sw_value *v = &g->values[entered];
  for (int i = 0; i < v->n_uses; i++) {
    const sw_op *op = v->uses[i].op < 0 ? NULL : &g->ops[v->uses[i].op];
    if (op && op->code == SW_OP_JOIN) return sw_join_yielded(g, op);
  }
  return entered;
}

sw_id sw_behind_enters(const sw_graph *g, sw_id value) {
  for (const sw_op *op = sw_value_maker(g, value); op && op->code == SW_OP_ENTER; op = sw_value_maker(g, value)) {
    if (sw_entered_yields(g, value) != value) return value;
    value = op->operands[0];
  }
  return value;
}

sw_id sw_op_tied_to(const sw_graph *g, sw_id id) {
  const sw_op *op = &g->ops[id];
  if (op->code == SW_OP_FETCH && sw_value_made_by(g, op->operands[0], SW_OP_OFFLOAD))
    return g->values[op->operands[0]].def;
  if (op->code == SW_OP_YIELD) op = &g->ops[g->values[op->results[0]].uses[0].op];
  if (op->code != SW_OP_JOIN) return -1;
  sw_id first = g->values[op->operands[0]].def;
  return first == id ? -1 : first;
}
