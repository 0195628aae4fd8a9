/* A checkpoint around a loop: a loop is run again later, to make what the backward part reads beside what it gave at
 * first. Without the checkpoint it is the later one that runs, in the place of the first. A' does what A does, and
 * stacks s:
 *
 *   x = loop A(x)   _, s = loop A'(x)   g = loop B(g, s)
 *   x, s = loop A'(x)                   g = loop B(g, s)
 *
 * Where the two stand in loops of a pair, what the later one of these reads comes from stacks:
 *
 *   while { x = loop A(x) }                         while { _, s = loop A'(x)   g = loop B(g, s) }
 *   while { x, s = loop A'(x)   ss[i] = s }         while { g = loop B(g, ss[j]) }
 */
#include "schedule/moved_loop.h"

#include <string.h>

#include "base/hash.h"
#include "schedule/same_ops.h"

static bool is_carried_in(const sw_graph *g, const sw_op *op) {
  return op->code == SW_OP_ENTER && sw_entered_yields(g, op->results[0]) != op->results[0];
}

/* What the loop gives in the end for what entered it; -1: nothing. */
static sw_id join_of_entered(const sw_graph *g, sw_id entered) {
  const sw_value *v = &g->values[entered];
  for (int32_t u = 0; u < v->n_uses; u++)
    if (v->uses[u].op >= 0 && g->ops[v->uses[u].op].code == SW_OP_JOIN) return g->ops[v->uses[u].op].results[0];
  return -1;
}

/* Where its last join ends. */
static sw_id behind_loop(const sw_graph *g, sw_id frame) {
  sw_id i = g->frames[frame].closed_by + 1;
  while (i < g->n_ops && g->ops[i].code == SW_OP_JOIN && sw_value_frame(g, g->ops[i].operands[0]) == frame) i++;
  return i;
}

static bool is_in_again(const sw_graph *g, const sw_moved_loop *m, sw_id op) {
  return op >= g->frames[m->again].opened_by && op < m->end;
}

/* Is the op read by others than the loop, and what moves with that? */
static bool is_read_elsewhere(const sw_graph *g, const sw_moved_loop *m, sw_id op) {
  bool any = false;
  for (int r = 0; r < g->ops[op].n_results; r++) {
    const sw_value *v = &g->values[g->ops[op].results[r]];
    for (int32_t u = 0; u < v->n_uses; u++)
      any = any || v->uses[u].op < 0 || !(is_in_again(g, m, v->uses[u].op) || m->with[v->uses[u].op]);
  }
  return any;
}

typedef struct matching {
  const sw_graph *g;
  sw_moved_loop *out;
  sw_id earlier, later; /* frames that the two stand in; the same, or of a pair */
  sw_id *same;          /* by value: the first that ops of its frame make alike */
  sw_id *id;            /* by value: that of the earlier part which it is equal to; else itself */
  sw_id *partner;       /* by value that enters a loop, of either side: that which enters the other one; -1: none */
  sw_id *peer;          /* by frame, of either side: the other one; -1: none */
  sw_dict seen;         /* of the key of an op of the earlier part: the op */
  sw_text key;
} matching;

/* What ops that do the same give is the same. `notes`: the op is of the earlier part. */
static sw_rc identify_op(matching *m, sw_id op, bool notes, sw_diag *d) {
  const sw_graph *g = m->g;
  int64_t *first = NULL;
  if (!sw_op_is_of_operands(&g->ops[op])) return SW_OK;
  sw_op_likeness(g, &g->ops[op], m->id, &m->key);
  if (m->key.rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  if (notes) SW_TRY(sw_dict_put(&m->seen, m->key.at, m->key.n, op, &first, NULL, d));
  if (!notes) first = sw_dict_get(&m->seen, m->key.at, m->key.n);
  for (int r = 0; r < g->ops[op].n_results && first; r++)
    m->id[g->ops[op].results[r]] = m->id[g->ops[*first].results[r]];
  return SW_OK;
}

/* Constants are the same wherever they stand. */
static sw_rc find_same_in_frames(matching *m, sw_diag *d) {
  for (sw_id v = 0; v < m->g->n_values; v++) m->id[v] = v;
  for (sw_id i = 0; i < m->g->n_ops; i++) SW_TRY(identify_op(m, i, true, d));
  memcpy(m->same, m->id, (size_t)m->g->n_values * sizeof *m->same);
  return SW_OK;
}

static sw_rc list_once(matching *m, sw_diag *d) {
  const sw_graph *g = m->g;
  const sw_id opened = g->frames[m->out->once].opened_by, again = g->frames[m->out->again].opened_by;
  sw_dict_deinit(&m->seen);
  m->seen = (sw_dict){0};
  memcpy(m->id, m->same, (size_t)g->n_values * sizeof *m->id);
  for (sw_id i = m->earlier < 0 ? 0 : g->frames[m->earlier].begin; i < m->out->once_end; i++) {
    const sw_op *op = &g->ops[i];
    if (op->frame != m->earlier && i < opened) continue;
    if (op->code == SW_OP_ENTER) m->id[op->results[0]] = m->id[sw_behind_enters(g, op->results[0])];
    if (op->n_operands) SW_TRY(identify_op(m, i, true, d));
  }
  if (m->later == m->earlier) return SW_OK;
  for (sw_id i = g->frames[m->later].begin; i < again; i++)
    for (int r = 0; r < g->ops[i].n_results && g->ops[i].frame == m->later; r++) {
      const sw_id v = g->ops[i].results[r], like = m->out->alike[v];
      m->id[v] = m->id[like >= 0 ? like : sw_behind_enters(g, v)];
    }
  return SW_OK;
}

/* Loops inside come in one order; those that only one side has are not like the next of the other's. */
static void find_peer(matching *m, sw_id frame) {
  const sw_frame *f = &m->g->frames[frame];
  const sw_id around = m->peer[f->parent];
  for (sw_id k = 0; around >= 0 && k < m->g->n_frames && m->peer[frame] < 0; k++) {
    const sw_frame *other = &m->g->frames[k];
    if (other->parent != around || m->peer[k] >= 0 || other->kind != f->kind || other->trips != f->trips) continue;
    m->peer[frame] = k;
    m->peer[k] = frame;
  }
}

/* What both loops carry begins as the same; of several the first that nothing else is. */
static void find_partner(matching *m, const sw_op *enter) {
  const sw_graph *g = m->g;
  const sw_id other = m->peer[enter->frame], entered = enter->results[0];
  const sw_id first = other < 0 ? 0 : g->frames[other].begin + 1, end = other < 0 ? 0 : g->frames[other].end;
  for (sw_id i = first; i < end && g->ops[i].code == SW_OP_ENTER && m->partner[entered] < 0; i++) {
    const sw_id v = g->ops[i].results[0];
    if (m->partner[v] >= 0 || !is_carried_in(g, &g->ops[i]) ||
        m->id[g->ops[i].operands[0]] != m->id[enter->operands[0]])
      continue;
    m->partner[entered] = v;
    m->partner[v] = entered;
    m->id[entered] = v;
  }
}

static sw_rc match_again(matching *m, sw_diag *d) {
  const sw_graph *g = m->g;
  for (sw_id i = g->frames[m->out->again].begin + 1; i < m->out->end; i++) {
    const sw_op *op = &g->ops[i];
    const sw_id begun = sw_frame_begun_by(g, i);
    if (begun >= 0) find_peer(m, begun);
    if (is_carried_in(g, op))
      find_partner(m, op);
    else if (op->code == SW_OP_ENTER)
      m->id[op->results[0]] = m->id[op->operands[0]];
    const sw_id partner = op->code == SW_OP_JOIN ? m->partner[op->operands[0]] : -1;
    if (partner >= 0) m->id[op->results[0]] = join_of_entered(g, partner);
    SW_TRY(identify_op(m, i, false, d));
  }
  return SW_OK;
}

/* No draws, effects and choices. */
static bool has_no_effects(const sw_graph *g, sw_id frame) {
  bool all = true;
  for (sw_id i = g->frames[frame].begin; i < g->frames[frame].end; i++)
    all = all && g->ops[i].code != SW_OP_CASE &&
          (sw_op_class_of(g->ops[i].code) == SW_OPS_CONTROL || sw_op_is_of_operands(&g->ops[i]));
  return all;
}

/* All that `once` and the loops in it carry `again` does, too, as often. */
static bool does_all(const matching *m) {
  const sw_graph *g = m->g;
  const sw_frame *once = &g->frames[m->out->once];
  bool all = has_no_effects(g, m->out->once) && has_no_effects(g, m->out->again);
  for (sw_id i = once->begin; i < once->end && all; i++) {
    const sw_op *op = &g->ops[i];
    const sw_id v = is_carried_in(g, op) ? op->results[0] : -1, f = sw_frame_begun_by(g, i);
    if (f >= 0)
      all = m->peer[f] >= 0 &&
            m->id[g->ops[g->frames[f].test].operands[0]] == m->id[g->ops[g->frames[m->peer[f]].test].operands[0]];
    if (v >= 0)
      all = m->partner[v] >= 0 && m->id[sw_entered_yields(g, v)] == m->id[sw_entered_yields(g, m->partner[v])];
  }
  return all;
}

static bool stands_before_once(const matching *m, sw_id value) {
  return m->g->values[value].def < m->g->frames[m->out->once].opened_by;
}

/* What `again` reads stands before `once`, too, or is made of nothing and stands there with it. */
static bool bring_with(const matching *m, sw_id value) {
  const sw_graph *g = m->g;
  const sw_op *op = sw_value_maker(g, value);
  if (op && op - g->ops >= g->frames[m->out->again].opened_by) return true;
  if (!op || op->frame != m->later) return stands_before_once(m, value);
  if (m->out->alike[value] >= 0 && stands_before_once(m, m->out->alike[value])) return true;
  bool all = sw_op_is_of_operands(op) && op->n_operands <= 1;
  for (int k = 0; k < op->n_operands && all; k++) all = bring_with(m, op->operands[k]);
  m->out->with[op - g->ops] = all;
  return all;
}

/* What the joins of `once` gave, those of `again` do; what was only read is as it entered. */
static void find_joins(const matching *m) {
  const sw_graph *g = m->g;
  for (sw_id i = g->frames[m->out->once].closed_by + 1; i < m->out->once_end; i++) {
    const sw_id entered = g->ops[i].operands[0], partner = m->partner[entered];
    m->out->read_as[g->ops[i].results[0]] =
        partner < 0 ? sw_value_maker(g, entered)->operands[0] : join_of_entered(g, partner);
  }
}

static sw_rc match_loops(matching *m, bool *found, sw_diag *d) {
  const sw_graph *g = m->g;
  sw_moved_loop *out = m->out;
  memset(out->with, 0, (size_t)g->n_ops * sizeof *out->with);
  for (sw_id v = 0; v < g->n_values; v++) m->partner[v] = -1, out->read_as[v] = v;
  for (sw_id f = 0; f < g->n_frames; f++) m->peer[f] = -1;
  m->peer[out->once] = out->again;
  m->peer[out->again] = out->once;
  out->once_end = behind_loop(g, out->once);
  out->end = behind_loop(g, out->again);
  SW_TRY(list_once(m, d));
  SW_TRY(match_again(m, d));
  *found = does_all(m);
  if (*found) find_joins(m);
  for (sw_id i = g->frames[out->again].opened_by; i < out->end; i++)
    for (int k = 0; k < g->ops[i].n_operands && *found; k++) *found = bring_with(m, g->ops[i].operands[k]);
  return SW_OK;
}

/* The stacks of the pair of loops whose later one is the frame, of an index that is known before op `first`. */
static bool find_pair_of(const sw_graph *g, const sw_stacks *s, sw_id frame, sw_id first, sw_added_stack *out) {
  for (int32_t k = 0; k < s->n; k++)
    if (s->at[k].backward == frame && sw_stack_known_at(g, &s->at[k]) < first && sw_stack_around(s, &s->at[k], out))
      return true;
  return false;
}

static bool is_stacked_for_later(const sw_graph *g, const sw_stacks *s, sw_id frame) {
  bool any = false;
  for (int32_t i = 0; i < s->n; i++)
    any = any || (s->at[i].forward == frame && g->frames[s->at[i].backward].parent == g->frames[frame].parent);
  return any;
}

/* In one frame: does each value that `once` carries begin as one of `again`? Most do not, and need not be matched. */
static bool begins_alike(const matching *m, sw_id once) {
  const sw_graph *g = m->g;
  bool all = true;
  for (sw_id i = g->frames[once].begin + 1; g->ops[i].code == SW_OP_ENTER && all; i++) {
    all = !is_carried_in(g, &g->ops[i]);
    for (sw_id k = g->frames[m->out->again].begin + 1; g->ops[k].code == SW_OP_ENTER && !all; k++)
      all = m->same[g->ops[k].operands[0]] == m->same[g->ops[i].operands[0]];
  }
  return all;
}

/* Of those before it in the frame of the earlier ones. */
static sw_rc find_once(matching *m, bool *found, sw_diag *d) {
  const sw_graph *g = m->g;
  const sw_frame *again = &g->frames[m->out->again];
  for (sw_id once = 0; once < g->n_frames && !*found; once++) {
    const sw_frame *f = &g->frames[once];
    if (f->kind != SW_OP_WHILE || f->parent != m->earlier || f->trips < 0 || f->trips != again->trips ||
        f->opened_by >= again->opened_by || (m->later == m->earlier && !begins_alike(m, once)))
      continue;
    m->out->once = once;
    SW_TRY(match_loops(m, found, d));
  }
  return SW_OK;
}

static sw_rc find_moved(matching *m, const sw_stacks *s, const sw_id *alike, bool *found, sw_diag *d) {
  const sw_graph *g = m->g;
  for (sw_id again = 0; again < g->n_frames && !*found; again++) {
    m->out->again = again;
    m->out->of = (sw_added_stack){0};
    m->out->alike = m->id;
    m->later = m->earlier = g->frames[again].parent;
    if (!is_stacked_for_later(g, s, again)) continue;
    SW_TRY(find_once(m, found, d));
    if (*found || m->later < 0 || !find_pair_of(g, s, m->later, g->frames[again].opened_by, &m->out->of)) continue;
    m->out->alike = alike;
    m->earlier = m->out->of.of[0]->forward;
    SW_TRY(find_once(m, found, d));
  }
  return SW_OK;
}

sw_rc sw_moved_loop_find(const sw_graph *g, sw_arena *arena, sw_moved_loop *out, bool *found, sw_diag *d) {
  sw_stacks s;
  bool *none;
  sw_id *alike;
  matching m = {.g = g, .out = out};
  *found = false;
  SW_TRY(sw_stacks_find(g, arena, &s, d));
  if (!s.n) return SW_OK;
  SW_ARENA_NEW(none, arena, s.n + 1, d);
  SW_TRY(sw_stacks_alike(g, &s, none, arena, &alike, d));
  SW_ARENA_NEW_EACH(arena, g->n_values + 1, d, m.id, m.same, m.partner);
  SW_ARENA_NEW(m.peer, arena, g->n_frames + 1, d);
  SW_ARENA_NEW(out->with, arena, g->n_ops + 1, d);
  SW_ARENA_NEW(out->read_as, arena, g->n_values + 1, d);
  sw_rc rc = find_same_in_frames(&m, d);
  if (!rc) rc = find_moved(&m, &s, alike, found, d);
  sw_dict_deinit(&m.seen);
  sw_text_free(&m.key);
  return rc;
}

sw_rc sw_moved_loop_spec(const sw_graph *g, const sw_moved_loop *m, sw_arena *arena, sw_schedule_spec *out,
                         sw_diag *d) {
  const sw_id opened = g->frames[m->once].opened_by;
  sw_entry *entries;
  int32_t n = 0;
  SW_ARENA_NEW(entries, arena, 2 * (size_t)g->n_ops, d);
  for (sw_id i = 0; i < g->n_ops; i++) {
    if (i == opened)
      for (sw_id k = 0; k < m->end; k++)
        if (is_in_again(g, m, k) || m->with[k]) entries[n++] = (sw_entry){.op = k};
    if ((i >= opened && i < m->once_end) || is_in_again(g, m, i)) continue;
    if (!m->with[i] || is_read_elsewhere(g, m, i)) entries[n++] = (sw_entry){.op = i, .instance = m->with[i]};
  }
  *out = (sw_schedule_spec){.n_entries = n, .entries = entries, .n_stages = 1, .micro_batches = 1};
  return SW_OK;
}

sw_rc sw_moved_loop_stacks(const sw_graph *g, const sw_moved_loop *m, sw_arena *arena, sw_stacks *out, sw_diag *d) {
  *out = (sw_stacks){0};
  SW_ARENA_NEW(out->added, arena, g->n_values + 1, d);
  for (sw_id i = g->frames[m->again].closed_by + 1; i < m->end && m->of.n_levels; i++) {
    sw_added_stack *a = &out->added[out->n_added];
    if (!is_read_elsewhere(g, m, i)) continue;
    *a = m->of;
    a->made = a->value = g->ops[i].results[0];
    out->n_added++;
  }
  return SW_OK;
}
