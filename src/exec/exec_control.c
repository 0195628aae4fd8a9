/* Loops and choices: where execution goes on, and values that cross borders. Nothing is computed here, and where a
 * value is not read again it is handed over rather than copied.
 *
 * A loop's entered values live until it ends, however often they are read. At its end, what was yielded takes the place
 * of what had entered, and execution goes on after the enters; when the test fails, joins take what is there.
 */
#include "exec/execution.h"

#include <string.h>

static const sw_op *op_at(const sw_execution *e, sw_id id) { return &e->v->graph->ops[id]; }

static bool is_joined(const sw_graph *g, sw_id value) {
  const sw_value *v = &g->values[value];
  for (int i = 0; i < v->n_uses; i++) {
    if (v->uses[i].op >= 0 && g->ops[v->uses[i].op].code == SW_OP_JOIN) return true;
  }
  return false;
}

/* A value that a loop keeps: one use more than it has. */
static int32_t uses_of(const sw_graph *g, sw_id value) {
  return g->values[value].n_uses + (sw_value_held_for(g, value) >= 0);
}

static void release_use(sw_execution *e, sw_id value) {
  sw_held *h = &e->values[value];
  if (--h->uses_left == 0) sw_held_release(e, h);
}

/* `to` becomes what `from` is, which nobody reads any more. */
static void hand_over_value(sw_execution *e, sw_id from, sw_id to) {
  e->values[to] = e->values[from];
  e->values[from] = (sw_held){0};
  e->values[to].uses_left = uses_of(e->v->graph, to);
  sw_held_set_valid(e, to, &e->values[to].t);
}

static sw_rc observe(sw_execution *e, const sw_op *op, sw_diag *d) {
  const sw_exec_options *o = e->v->options;
  sw_held *h = &e->values[op->results[0]];
  const sw_buffer *result = &h->t;
  if (o->poison) sw_buffer_poison_padding(&h->t);
  if (o->observe) SW_TRY(o->observe(o->observe_user, e->v->device, op, &result, d));
  if (h->uses_left == 0) sw_held_release(e, h);
  return SW_OK;
}

/* enter, yield: the value under another name. */
static sw_rc pass_value_on(sw_execution *e, const sw_op *op, sw_diag *d) {
  sw_held *from = &e->values[op->operands[0]];
  sw_id to = op->results[0];
  if (from->uses_left == 1 && from->bytes) {
    hand_over_value(e, op->operands[0], to);
    return observe(e, op, d);
  }
  SW_TRY(sw_held_create(e, to, d));
  sw_buffer *t = &e->values[to].t;
  int64_t bytes = sw_buffer_elements(t) * sw_dtype_bytes(t->dtype);
  if (bytes) memcpy(t->data, from->t.data, (size_t)bytes);
  e->values[to].uses_left = uses_of(e->v->graph, to);
  release_use(e, op->operands[0]);
  return observe(e, op, d);
}

/* The one operand that was made: what a loop carries, or what the branch that ran has yielded. */
static sw_rc join_made(sw_execution *e, const sw_op *op, sw_diag *d) {
  for (int i = 0; i < op->n_operands; i++) {
    if (!e->values[op->operands[i]].bytes) continue;
    hand_over_value(e, op->operands[i], op->results[0]);
    return observe(e, op, d);
  }
  return SW_BUG(d, "join '%s' finds no value", op->name);
}

/* The frame whose last op is right before `end` (OTHERWISE or END). */
static const sw_frame *frame_ended_by(const sw_graph *g, sw_id end) {
  for (sw_id f = g->n_frames - 1; f > 0; f--) {
    if (g->frames[f].end == end) return &g->frames[f];
  }
  return &g->frames[0];
}

/* --- choices ------------------------------------------------------------------------------------------------------ */

/* Nothing enters a branch that does not run. */
static void skip_branch(sw_execution *e, const sw_frame *f) {
  for (sw_id id = f->begin + 1; id < f->end && op_at(e, id)->code == SW_OP_ENTER; id++) {
    release_use(e, op_at(e, id)->operands[0]);
  }
}

static void choose_branch(sw_execution *e, const sw_op *op, sw_id *next) {
  const sw_graph *g = e->v->graph;
  sw_id id = (sw_id)(op - g->ops);
  const sw_buffer *b = &e->values[op->operands[0]].t;
  int64_t i = sw_buffer_int(b, 0), n = 0;
  if (b->dtype == SW_BOOL) i = !i;
  for (sw_id f = sw_frame_begun_by(g, id); f >= 0; f = sw_frame_begun_by(g, g->frames[f].end)) n++;
  if (i < 0 || i >= n) i = n - 1;
  for (sw_id f = sw_frame_begun_by(g, id); f >= 0; f = sw_frame_begun_by(g, g->frames[f].end)) {
    if (g->frames[f].branch == i) *next = g->frames[f].begin + 1;
    if (g->frames[f].branch != i) skip_branch(e, &g->frames[f]);
  }
  release_use(e, op->operands[0]);
}

/* --- loops -------------------------------------------------------------------------------------------------------- */

/* Once more: what was yielded has entered, and is observed as that. */
static sw_rc repeat_loop(sw_execution *e, const sw_frame *f, sw_id *next, sw_diag *d) {
  const sw_graph *g = e->v->graph;
  if (f->kind != SW_OP_WHILE) return SW_OK; /* the last branch of a choice: joins follow */
  for (sw_id id = f->closed_by + 1; id < g->n_ops && op_at(e, id)->code == SW_OP_JOIN; id++) {
    const sw_id *pair = op_at(e, id)->operands;
    sw_held_release(e, &e->values[pair[0]]);
    hand_over_value(e, pair[1], pair[0]);
    SW_TRY(observe(e, op_at(e, g->values[pair[0]].def), d));
  }
  *next = f->begin + 1;
  for (; op_at(e, *next)->code == SW_OP_ENTER; ++*next) {
    sw_id value = op_at(e, *next)->results[0];
    e->values[value].uses_left = uses_of(g, value);
  }
  return SW_OK;
}

/* Of what the loop made before its test, joins want the carried values; nobody wants the rest. */
static void leave_loop(sw_execution *e, const sw_frame *f, sw_id *next) {
  for (sw_id id = f->begin + 1; id < f->test; id++) {
    const sw_op *op = op_at(e, id);
    for (int r = 0; r < op->n_results; r++) {
      sw_held *h = &e->values[op->results[r]];
      if (h->bytes && !(op->code == SW_OP_ENTER && is_joined(e->v->graph, op->results[r]))) sw_held_release(e, h);
    }
  }
  *next = f->closed_by + 1;
}

static void test(sw_execution *e, const sw_op *op, sw_id *next) {
  const sw_frame *f = &e->v->graph->frames[op->frame];
  bool more = sw_buffer_int(&e->values[op->operands[0]].t, 0) != 0;
  release_use(e, op->operands[0]);
  if (!more) leave_loop(e, f, next);
}

sw_rc sw_control_run(sw_execution *e, const sw_op *op, sw_id *next, sw_diag *d) {
  sw_id id = (sw_id)(op - e->v->graph->ops);
  switch ((int)op->code) {
    case SW_OP_CASE:
      choose_branch(e, op, next);
      return SW_OK;
    case SW_OP_OTHERWISE:
      *next = frame_ended_by(e->v->graph, id)->closed_by + 1;
      return SW_OK;
    case SW_OP_TEST:
      test(e, op, next);
      return SW_OK;
    case SW_OP_END:
      return repeat_loop(e, frame_ended_by(e->v->graph, id), next, d);
    case SW_OP_ENTER:
    case SW_OP_YIELD:
      return pass_value_on(e, op, d);
    case SW_OP_JOIN:
      return join_made(e, op, d);
    default: /* while */
      return SW_OK;
  }
}
