/* A checkpoint around a loop: the later loop of a pair runs a loop of the earlier one again, to make what the backward
 * part reads beside what the loop gave at first. Without the checkpoint it is that one which runs, in the place of the
 * first, and what the later loop reads of it comes from stacks. A' does what A does, and stacks s:
 *
 *   while { x = loop A(x) }                         while { _, s = loop A'(x)   g = loop B(g, s) }
 *   while { x, s = loop A'(x)   ss[i] = s }         while { g = loop B(g, ss[j]) }
 */
#include "schedule/moved_loop.h"

#include "base/hash.h"
#include "schedule/same_ops.h"

/* Behind the loop's last join. */
static sw_id behind_loop(const sw_graph *g, sw_id frame) {
  sw_id i = g->frames[frame].closed_by + 1;
  while (i < g->n_ops && g->ops[i].code == SW_OP_JOIN && sw_value_frame(g, g->ops[i].operands[0]) == frame) i++;
  return i;
}

static bool stands_in(const sw_graph *g, sw_id frame, sw_id op) {
  return op >= g->frames[frame].opened_by && op < behind_loop(g, frame);
}

/* Is the op read by others than the loop, and what moves with that? */
static bool is_read_elsewhere(const sw_graph *g, const sw_moved_loop *m, sw_id op) {
  bool any = false;
  for (int r = 0; r < g->ops[op].n_results; r++) {
    const sw_value *v = &g->values[g->ops[op].results[r]];
    for (int32_t u = 0; u < v->n_uses; u++)
      any = any || v->uses[u].op < 0 || !(stands_in(g, m->again, v->uses[u].op) || m->with[v->uses[u].op]);
  }
  return any;
}

typedef struct matching {
  const sw_graph *g;
  sw_id once, again, later; /* frames: of the two loops, and of that which `again` stands in */
  const sw_id *alike;       /* sw_stacks_alike */
  sw_id *id;                /* by value: that of the earlier part which it is equal to; else itself */
  sw_id *partner;           /* by value that enters `again`: that which enters `once` */
  sw_dict seen;             /* of the key of an op of the earlier part: the op */
  sw_text key;
} matching;

/* The value where it was made, and of the later loop that of the earlier one. */
static sw_id identify(const matching *m, sw_id value) {
  const sw_id v = sw_behind_enters(m->g, value);
  const bool later = sw_value_frame(m->g, v) == m->later && m->alike[v] >= 0;
  return later ? sw_behind_enters(m->g, m->alike[v]) : v;
}

/* What ops that do the same give is the same. */
static sw_rc note_op(matching *m, sw_id op, sw_diag *d) {
  const sw_graph *g = m->g;
  int64_t *first;
  sw_op_likeness(g, &g->ops[op], m->id, &m->key);
  if (m->key.rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  SW_TRY(sw_dict_put(&m->seen, m->key.at, m->key.n, op, &first, NULL, d));
  for (int r = 0; r < g->ops[op].n_results; r++) m->id[g->ops[op].results[r]] = m->id[g->ops[*first].results[r]];
  return SW_OK;
}

/* Constants are the same wherever they stand. */
static sw_rc list_once(matching *m, sw_diag *d) {
  const sw_graph *g = m->g;
  for (sw_id v = 0; v < g->n_values; v++) m->id[v] = v;
  for (sw_id i = 0; i < g->n_ops; i++)
    if (!g->ops[i].n_operands && sw_op_is_of_operands(&g->ops[i])) SW_TRY(note_op(m, i, d));
  for (sw_id v = 0; v < g->n_values; v++) m->id[v] = m->id[identify(m, v)];
  for (sw_id i = g->frames[m->once].begin; i < g->frames[m->once].end; i++)
    if (g->ops[i].frame == m->once && g->ops[i].n_operands && sw_op_is_of_operands(&g->ops[i]))
      SW_TRY(note_op(m, i, d));
  return SW_OK;
}

/* What both loops carry begins as the same; of several the first that nothing else is. */
static void find_partner(matching *m, sw_id entered) {
  const sw_graph *g = m->g;
  const sw_op *enter = sw_value_maker(g, entered);
  for (sw_id i = g->frames[m->once].begin; i < g->frames[m->once].end && m->partner[entered] < 0; i++) {
    const sw_op *op = &g->ops[i];
    if (op->code != SW_OP_ENTER || op->frame != m->once || m->id[op->results[0]] != op->results[0]) continue;
    bool taken = false;
    for (sw_id k = g->frames[m->again].begin; k < g->frames[m->again].end; k++)
      taken = taken || (g->ops[k].code == SW_OP_ENTER && m->partner[g->ops[k].results[0]] == op->results[0]);
    if (!taken && m->id[op->operands[0]] == m->id[enter->operands[0]]) m->partner[entered] = op->results[0];
  }
  if (m->partner[entered] >= 0) m->id[entered] = m->partner[entered];
}

static sw_rc match_again(matching *m, sw_diag *d) {
  const sw_graph *g = m->g;
  for (sw_id i = g->frames[m->again].begin; i < g->frames[m->again].end; i++) {
    const sw_op *op = &g->ops[i];
    if (op->frame != m->again) continue;
    if (op->code == SW_OP_ENTER && sw_entered_yields(g, op->results[0]) != op->results[0])
      find_partner(m, op->results[0]);
    else if (op->code == SW_OP_ENTER)
      m->id[op->results[0]] = m->id[op->operands[0]];
    if (!sw_op_is_of_operands(op)) continue;
    sw_op_likeness(g, op, m->id, &m->key);
    if (m->key.rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
    const int64_t *other = sw_dict_get(&m->seen, m->key.at, m->key.n);
    for (int r = 0; r < op->n_results && other; r++) m->id[op->results[r]] = m->id[g->ops[*other].results[r]];
  }
  return SW_OK;
}

/* All that `once` carries does `again`, too, as often. */
static bool does_all(const matching *m) {
  const sw_graph *g = m->g;
  const sw_frame *once = &g->frames[m->once], *again = &g->frames[m->again];
  int n_carried = 0, n_matched = 0;
  bool all = once->trips >= 0 && once->trips == again->trips &&
             m->id[g->ops[once->test].operands[0]] == m->id[g->ops[again->test].operands[0]];
  for (sw_id i = once->begin + 1; i < once->end; i++) {
    const sw_op *op = &g->ops[i];
    all = all && op->frame == m->once; /* no loops inside */
    n_carried += op->code == SW_OP_ENTER && m->id[op->results[0]] == op->results[0];
  }
  for (sw_id i = again->begin + 1; i < again->end; i++) {
    const sw_op *op = &g->ops[i];
    const sw_id v = op->code == SW_OP_ENTER ? op->results[0] : -1;
    all = all && op->frame == m->again &&
          (sw_op_class_of(op->code) == SW_OPS_CONTROL || sw_op_is_of_operands(op)); /* no other draws or effects */
    if (v < 0 || m->partner[v] < 0) continue;
    n_matched++;
    all = all && m->id[sw_entered_yields(g, v)] == m->id[sw_entered_yields(g, m->partner[v])];
  }
  return all && n_carried == n_matched;
}

static bool stands_before_once(const matching *m, sw_id value) {
  return m->g->values[value].def < m->g->frames[m->once].opened_by;
}

/* What `again` reads stands before `once`, too, or is made of nothing and stands there with it. */
static bool bring_with(const matching *m, sw_id value, sw_moved_loop *out) {
  const sw_graph *g = m->g;
  const sw_op *op = sw_value_maker(g, value);
  if (!op || op->frame != m->later) return stands_before_once(m, value);
  if (m->alike[value] >= 0) return stands_before_once(m, m->alike[value]);
  bool all = sw_op_is_of_operands(op) && op->n_operands <= 1;
  for (int k = 0; k < op->n_operands && all; k++) all = bring_with(m, op->operands[k], out);
  out->with[op - g->ops] = all;
  return all;
}

/* What the joins of `once` gave, those of `again` do. */
static bool find_joins(const matching *m, sw_moved_loop *out) {
  const sw_graph *g = m->g;
  bool all = true;
  for (sw_id i = g->frames[m->once].closed_by + 1; i < behind_loop(g, m->once); i++) {
    const sw_op *join = &g->ops[i];
    bool any = !g->values[join->results[0]].n_uses;
    for (sw_id k = g->frames[m->again].closed_by + 1; k < behind_loop(g, m->again); k++) {
      if (m->partner[g->ops[k].operands[0]] != join->operands[0]) continue;
      out->read_as[join->results[0]] = g->ops[k].results[0];
      any = true;
    }
    all = all && any;
  }
  return all;
}

static sw_rc match_pair(matching *m, sw_arena *arena, sw_moved_loop *out, bool *found, sw_diag *d) {
  const sw_graph *g = m->g;
  SW_ARENA_NEW(m->id, arena, g->n_values + 1, d);
  SW_ARENA_NEW(m->partner, arena, g->n_values + 1, d);
  SW_ARENA_NEW(out->with, arena, g->n_ops + 1, d);
  SW_ARENA_NEW(out->read_as, arena, g->n_values + 1, d);
  for (sw_id v = 0; v < g->n_values; v++) m->partner[v] = -1, out->read_as[v] = v;
  SW_TRY(list_once(m, d));
  SW_TRY(match_again(m, d));
  *found = does_all(m) && find_joins(m, out);
  for (sw_id i = g->frames[m->again].opened_by; i < behind_loop(g, m->again) && *found; i++) {
    for (int k = 0; k < g->ops[i].n_operands && *found; k++)
      *found =
          stands_in(g, m->again, g->values[g->ops[i].operands[k]].def) || bring_with(m, g->ops[i].operands[k], out);
  }
  return SW_OK;
}

static sw_rc try_pair(const sw_graph *g, const sw_stack *pair, sw_id again, const sw_id *alike, sw_arena *arena,
                      sw_moved_loop *out, bool *found, sw_diag *d) {
  for (sw_id f = 0; f < g->n_frames && !*found; f++) {
    if (g->frames[f].kind != SW_OP_WHILE || g->frames[f].parent != pair->forward) continue;
    matching m = {.g = g, .once = f, .again = again, .later = pair->backward, .alike = alike};
    *out = (sw_moved_loop){.once = f, .again = again, .pair = *pair, .alike = alike};
    const sw_rc rc = match_pair(&m, arena, out, found, d);
    sw_dict_deinit(&m.seen);
    sw_text_free(&m.key);
    if (rc) return rc;
  }
  return SW_OK;
}

sw_rc sw_moved_loop_find(const sw_graph *g, sw_arena *arena, sw_moved_loop *out, bool *found, sw_diag *d) {
  sw_stacks s;
  bool *none;
  sw_id *alike;
  *found = false;
  SW_TRY(sw_stacks_find(g, arena, &s, d));
  if (!s.n) return SW_OK;
  SW_ARENA_NEW(none, arena, s.n + 1, d);
  SW_TRY(sw_stacks_alike(g, &s, none, arena, &alike, d));
  for (int32_t i = 0; i < s.n && !*found; i++) {
    const sw_id again = s.at[i].forward, later = g->frames[again].parent;
    if (g->frames[s.at[i].backward].parent != later) continue;
    for (int32_t k = 0; k < s.n && !*found; k++)
      if (s.at[k].backward == later && s.at[k].through < 0)
        SW_TRY(try_pair(g, &s.at[k], again, alike, arena, out, found, d));
  }
  return SW_OK;
}

sw_rc sw_moved_loop_spec(const sw_graph *g, const sw_moved_loop *m, sw_arena *arena, sw_schedule_spec *out,
                         sw_diag *d) {
  const sw_id first = g->frames[m->again].opened_by, end = behind_loop(g, m->again);
  sw_entry *entries;
  int32_t n = 0;
  SW_ARENA_NEW(entries, arena, 2 * (size_t)g->n_ops, d);
  for (sw_id i = 0; i < g->n_ops; i++) {
    if (i == g->frames[m->once].opened_by)
      for (sw_id k = 0; k < end; k++)
        if (k >= first || m->with[k]) entries[n++] = (sw_entry){.op = k};
    if (stands_in(g, m->once, i) || stands_in(g, m->again, i)) continue;
    if (!m->with[i] || is_read_elsewhere(g, m, i)) entries[n++] = (sw_entry){.op = i, .instance = m->with[i]};
  }
  *out = (sw_schedule_spec){.n_entries = n, .entries = entries, .n_stages = 1, .micro_batches = 1, .moved = m};
  return SW_OK;
}

sw_rc sw_moved_loop_stacks(const sw_graph *g, const sw_moved_loop *m, sw_arena *arena, sw_stacks *out, bool *has,
                           sw_diag *d) {
  SW_ARENA_NEW(out->added, arena, g->n_values + 1, d);
  out->n_added = 0;
  for (sw_id i = 0; i < g->n_ops; i++) has[i] = true;
  for (sw_id i = g->frames[m->again].closed_by + 1; i < behind_loop(g, m->again); i++) {
    const sw_id v = g->ops[i].results[0];
    if (is_read_elsewhere(g, m, i))
      out->added[out->n_added++] = (sw_added_stack){.of = {&m->pair}, .n_levels = 1, .made = v, .value = v};
  }
  return SW_OK;
}
