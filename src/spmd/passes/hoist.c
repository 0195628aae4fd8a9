/* hoist: a collective of what a loop only reads is done once, before the loop.
 *
 *   before  while   w = enter(a)             ... y = all_gather [x] w ...
 *   after   b = all_gather [x] a   while   w' = enter(b)   ... w' stands for y ...
 *
 * With it goes what it is computed from inside. Made when it costs less, that is where the loop is known to run more
 * than once; and whether what now stays around the loop fits into memory is looked at behind the pass. Out of one loop
 * at a time: the pass runs again while it moves something. Does not: leave a choice (which may not run at all). */
#include "spmd/passes/spmd_passes.h"

typedef struct hoisting {
  const sw_graph *g;
  bool *invariant;         /* by old value: of a loop, and each trip the same */
  bool *moves;             /* by old op: it goes before its loop */
  bool *read;              /* by old value that moves: something that stays reads it */
  sw_id *first_of;         /* by frame: its first op that moves; -1 */
  sw_id *next;             /* by old op that moves: the next of its frame; -1 */
  sw_id *last_of;          /* by frame */
  const sw_frame **opened; /* by op: the loop that a WHILE opens, else NULL */
  sw_id *entered;          /* by op: the loop that has all its ENTERs behind it, or -1 */
} hoisting;

static const sw_frame *loop_of(const sw_graph *g, const sw_op *op) {
  const sw_frame *f = op->frame < 0 ? NULL : &g->frames[op->frame];
  return f && f->kind == SW_OP_WHILE ? f : NULL;
}

static bool is_pure(const sw_op *op) {
  const sw_op_class c = sw_op_class_of(op->code);
  if (op->collective && (op->collective->op == SW_COLL_SEND || op->collective->op == SW_COLL_RECV)) return false;
  return op->n_results > 0 && c != SW_OPS_CONTROL && op->code != SW_OP_OPAQUE;
}

static void find_invariant(hoisting *h) {
  const sw_graph *g = h->g;
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    bool same = loop_of(g, op) && (is_pure(op) || op->code == SW_OP_ENTER);
    if (op->code == SW_OP_ENTER) same = same && sw_entered_yields(g, op->results[0]) == op->results[0];
    for (int k = 0; same && op->code != SW_OP_ENTER && k < op->n_operands; k++) same = h->invariant[op->operands[k]];
    for (int k = 0; k < op->n_results; k++) h->invariant[op->results[k]] = same;
  }
}

/* Is it worth it: a call per trip for one? */
static bool gains(const sw_rewrite *r, const sw_op *op) {
  const sw_frame *f = loop_of(r->from->program, op);
  const int64_t outside = f->parent < 0 ? 1 : r->from->program->ops[f->opened_by].repeats;
  return op->repeats > outside && sw_spmd_op_s(r->from, r->machine, op) > 0;
}

/* May the op, which computes something, leave the loop? What a value is inside a loop that stands in a loop is known by
 * the trip of the inner one, so there only copies of what enters go. */
static bool may_leave(const sw_rewrite *r, const sw_op *op) {
  const sw_layout *l = r->from->layout;
  if (loop_of(r->from->program, op)->parent < 0) return true;
  return op->n_operands == 1 && op->n_results == 1 && l[op->results[0]].is_block && l[op->operands[0]].is_block &&
         l[op->results[0]].source == l[op->operands[0]].source;
}

/* Collectives that gain, and from the last op to the first what they need. */
static void find_moving(const sw_rewrite *r, hoisting *h) {
  const sw_graph *g = h->g;
  for (sw_id i = g->n_ops - 1; i >= 0; i--) {
    const sw_op *op = &g->ops[i];
    if (op->n_results < 1 || op->code == SW_OP_ENTER || !h->invariant[op->results[0]]) continue;
    bool gathers = op->collective && !(sw_coll_flags(op->collective->op) & SW_COLL_LOCAL) && gains(r, op);
    if (!h->moves[i] && !gathers) continue;
    h->moves[i] = true;
    for (int k = 0; k < op->n_operands; k++) {
      const sw_id def = g->values[op->operands[k]].def;
      if (g->ops[def].code != SW_OP_ENTER) h->moves[def] = true;
    }
  }
}

/* What cannot leave keeps what needs it. */
static void keep_back(const sw_rewrite *r, hoisting *h) {
  const sw_graph *g = h->g;
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    if (!h->moves[i]) continue;
    h->moves[i] = may_leave(r, op);
    for (int k = 0; k < op->n_operands; k++) {
      const sw_id def = g->values[op->operands[k]].def;
      h->moves[i] = h->moves[i] && (g->ops[def].code == SW_OP_ENTER || h->moves[def]);
    }
  }
}

static void note_places(hoisting *h) {
  const sw_graph *g = h->g;
  for (sw_id f = 0; f < g->n_frames; f++) {
    h->first_of[f] = h->last_of[f] = -1;
    if (g->frames[f].kind == SW_OP_WHILE) h->opened[g->frames[f].opened_by] = &g->frames[f];
  }
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    h->next[i] = -1;
    const bool last = i + 1 < g->n_ops && g->ops[i + 1].code != SW_OP_ENTER;
    h->entered[i] = -1;
    if (last && op->code == SW_OP_ENTER && loop_of(g, op)) h->entered[i] = op->frame;
    if (last && h->opened[i]) h->entered[i] = (sw_id)(h->opened[i] - g->frames);
    for (int k = 0; !h->moves[i] && k < op->n_operands; k++) h->read[op->operands[k]] = true;
    if (!h->moves[i]) continue;
    *(h->first_of[op->frame] < 0 ? &h->first_of[op->frame] : &h->next[h->last_of[op->frame]]) = i;
    h->last_of[op->frame] = i;
  }
}

/* Where a value of the loop comes from. A layout that speaks of what entered speaks of that outside. */
static void lie_outside(const sw_rewrite *r, sw_id v, sw_layout *l) {
  const sw_graph *g = r->from->program;
  const sw_op *op = &g->ops[g->values[v].def];
  while (op->code != SW_OP_ENTER && op->n_operands == 1) op = &g->ops[g->values[op->operands[0]].def];
  if (op->code != SW_OP_ENTER) return;
  const sw_layout *inside = &r->from->layout[op->results[0]], *outside = &r->from->layout[op->operands[0]];
  if (l->is_block && inside->is_block && outside->is_block && l->source == inside->source) l->source = outside->source;
}

/* An op before its loop: entered operands are read where they enter from. */
static sw_rc move_op(sw_rewrite *r, sw_id id, sw_diag *d) {
  const sw_graph *g = r->from->program;
  const sw_op *op = &g->ops[id];
  sw_id *inside;
  SW_ARENA_NEW(inside, &r->scratch, op->n_operands, d);
  for (int k = 0; k < op->n_operands; k++) inside[k] = r->now[op->operands[k]];
  for (int k = 0; k < op->n_operands; k++) {
    const sw_op *def = &g->ops[g->values[op->operands[k]].def];
    if (def->code == SW_OP_ENTER) r->now[op->operands[k]] = r->now[def->operands[0]];
  }
  SW_TRY(sw_rewrite_copy(r, id, d));
  for (int k = 0; k < op->n_operands; k++) r->now[op->operands[k]] = inside[k];
  for (int k = 0; k < op->n_results; k++) {
    sw_layout *l = &r->layouts.at[r->now[op->results[k]]];
    lie_outside(r, op->results[k], l);
  }
  r->rewrites++;
  return SW_OK;
}

/* Behind the loop's own: what was moved enters, where something that stays reads it. */
static sw_rc enter_moved(sw_rewrite *r, const hoisting *h, sw_id frame, sw_id like, sw_diag *d) {
  for (sw_id i = h->first_of[frame]; i >= 0; i = h->next[i]) {
    const sw_op *op = &h->g->ops[i];
    for (int k = 0; k < op->n_results; k++) {
      const sw_id old = op->results[k];
      if (!h->read[old]) continue;
      const sw_rewrite_as as = {like, r->from->layout[old]};
      sw_op_spec spec = {.code = SW_OP_ENTER, .n_operands = 1, .operands = &r->now[old]};
      SW_TRY(sw_rewrite_add(r, &spec, &as, &r->now[old], d));
      r->uses.at[r->now[old]] = h->g->values[old].n_uses;
      r->origins.at[r->to.program->n_ops - 1].value = as.layout.source; /* no trip's own work */
    }
  }
  return SW_OK;
}

static sw_rc write_moved(sw_rewrite *r, const hoisting *h, sw_diag *d) {
  for (sw_id i = 0; i < h->g->n_ops; i++) {
    const sw_frame *f = h->opened[i];
    for (sw_id k = f ? h->first_of[f - h->g->frames] : -1; k >= 0; k = h->next[k]) SW_TRY(move_op(r, k, d));
    if (!h->moves[i]) SW_TRY(sw_rewrite_copy(r, i, d));
    if (h->entered[i] >= 0) SW_TRY(enter_moved(r, h, h->entered[i], r->to.program->n_ops - 1, d));
    sw_arena_reset(&r->scratch);
  }
  return SW_OK;
}

static sw_rc hoist(sw_rewrite *r, sw_arena *arena, sw_diag *d) {
  const sw_graph *g = r->from->program;
  hoisting h = {.g = g};
  SW_ARENA_NEW_EACH(arena, g->n_values, d, h.invariant, h.read);
  SW_ARENA_NEW_EACH(arena, g->n_ops, d, h.moves, h.next, h.opened, h.entered);
  SW_ARENA_NEW_EACH(arena, g->n_frames, d, h.first_of, h.last_of);
  find_invariant(&h);
  find_moving(r, &h);
  keep_back(r, &h);
  note_places(&h);
  return write_moved(r, &h, d);
}

static sw_rc run_hoist(sw_rewrite *r, sw_diag *d) {
  sw_arena arena = {0};
  sw_rc rc = hoist(r, &arena, d);
  sw_arena_deinit(&arena);
  return rc;
}

const sw_pass sw_pass_hoist = {.name = "hoist", .run = run_hoist, .repeats = true};
