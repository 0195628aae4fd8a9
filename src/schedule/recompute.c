/* Which values are kept for what runs late, and which can be made again: a list of entries (schedule.h).
 *
 *   early   x -> a -> b -> y -> c -> d -> z      segments {a, b, y} and {c, d, z}: only y goes from one to the next
 *   late    z' .. d' .. c' .. y' .. b' .. a'     d' reads z, d, c and y: their sources stand right before it
 *
 * The entries of a segment stand together, before the first late reader of any of them: what is made again of it lives
 * no longer than its own late part does. Segments are those that make the bytes between them and those of the longest
 * one least together (Chen et al. 2016, Training Deep Nets with Sublinear Memory Cost). Small values are always kept.
 */
#include "base/array.h"
#include "base/checked.h"
#include "graph/attention.h"
#include "schedule/moved_loop.h"
#include "schedule/policies.h"
#include "schedule/same_ops.h"
#include "schedule/stacks.h"
#include "shardwright/schedule.h"

typedef struct recompute {
  const sw_graph *g;
  sw_recompute how;
  bool gathers_again;
  sw_id split;              /* the last early op */
  int64_t small, small_arg; /* bytes up to which a value is kept as it is, and an argument, or a form of one */
  bool *large;              /* by value: made early, and not small */
  bool *from_nothing;       /* by value: of no argument */
  bool *of_input;           /* by value */
  bool *form;               /* by value: an argument that is no input, or the same elements in other words */
  sw_id *last_early;        /* by value: the last early op that reads it; -1: none */
  bool *read_late;          /* by value: by an op of the program */
  int32_t *segment;         /* by early op */
  sw_id *segment_at;        /* by segment: its first op; one more at the end */
  sw_layers layers;         /* of the early part */
  bool *crosses;            /* by value: it goes from one segment to another, or is an argument */
  bool *kept_only;          /* by value: it does, or is of what never runs again */
  bool *needed, *kept;      /* by value: a source of it is to stand; it stands */
  bool *written;            /* by segment: its entries stand */
  bool *leading, *listed;   /* by late op: a contraction depends on it; its entry stands */
  int32_t *waits;           /* by late op that leads to none: for so many */
  SW_ARRAY(sw_id) ready;    /* of these */
  bool *free;               /* by late op: it depends on no late op that leads to a contraction */
  SW_ARRAY(sw_id) open;     /* ops that wait for one that is free */
  SW_ARRAY(sw_entry) entries;
} recompute;

static int64_t whole_bytes(const recompute *r, sw_id value) { return sw_type_bytes(&r->g->values[value].type); }

/* --- where early ends --------------------------------------------------------------------------------------------- */

/* Late begins behind what is delivered of early, as a loss, where about as much is held then. */
static sw_id end_with_output(const recompute *r, const int64_t *held, sw_id most_at) {
  const sw_graph *g = r->g;
  sw_id end = -1;
  for (int32_t i = 0; i < g->n_outputs; i++) {
    const sw_id def = g->alias[i] < 0 ? g->values[g->outputs[i]].def : -1;
    if (def > end && def < most_at && held[def] > held[most_at] / 2) end = def;
  }
  return end < 0 ? most_at : end;
}

/* Early ends at the step at which most bytes have been read and will be again. */
static sw_rc find_split(recompute *r, sw_arena *arena, sw_diag *d) {
  const sw_graph *g = r->g;
  int64_t *held;
  SW_ARENA_NEW(held, arena, g->n_ops + 1, d);
  for (sw_id v = 0; v < g->n_values; v++) {
    const sw_value *x = &g->values[v];
    sw_id first = g->n_ops, last = -1;
    for (int32_t u = 0; u < x->n_uses; u++) {
      if (x->uses[u].op < 0) continue;
      first = sw_min_i32(first, x->uses[u].op);
      last = sw_max_i32(last, x->uses[u].op);
    }
    if (x->def < 0 || last <= first) continue;
    held[first] += whole_bytes(r, v);
    held[last] -= whole_bytes(r, v);
  }
  r->split = -1;
  for (sw_id i = 0; i < g->n_ops; i++) {
    held[i] += i ? held[i - 1] : 0;
    if (held[i] > (r->split < 0 ? 0 : held[r->split])) r->split = i;
  }
  if (r->split >= 0) r->split = end_with_output(r, held, r->split);
  return SW_OK;
}

static bool is_delivered_value(const sw_value *v) {
  bool any = false;
  for (int32_t u = 0; u < v->n_uses; u++) any = any || v->uses[u].op < 0;
  return any;
}

/* Of what compilers make where they need it. */
static bool is_made_anywhere(const recompute *r, sw_id op) {
  const sw_opcode c = r->g->ops[op].code;
  const bool made = c == SW_OP_CONSTANT || c == SW_OP_IOTA || c == SW_OP_BROADCAST || c == SW_OP_RESHAPE;
  return made && r->g->ops[op].n_results && r->from_nothing[r->g->ops[op].results[0]];
}

/* Numbers of arguments that are no inputs, with as many elements as one of those? */
static bool is_form(const recompute *r, const sw_op *op) {
  const sw_value *v = r->g->values;
  bool is = false;
  if (!op->n_results || sw_dtype_class_of(v[op->results[0]].type.dtype) != SW_CLASS_FLOAT) return false;
  for (int k = 0; k < op->n_operands; k++) {
    const sw_id x = op->operands[k];
    if (r->of_input[x]) return false;
    is = is || (r->form[x] && sw_type_elements(&v[x].type) == sw_type_elements(&v[op->results[0]].type));
  }
  return is;
}

/* Small is what is so beside the largest of its kind: a weight beside weights, whatever is done at a time. */
static sw_rc find_small(recompute *r, sw_arena *arena, sw_diag *d) {
  const int64_t kSmall = 4096; /* statistics of rows beside the longest rows */
  const sw_graph *g = r->g;
  SW_ARENA_NEW_EACH(arena, g->n_values + 1, d, r->from_nothing, r->of_input, r->form);
  int64_t most = 0;
  for (int32_t i = 0; i < g->n_args; i++) {
    r->of_input[g->args[i]] = g->values[g->args[i]].kind == SW_VALUE_INPUT;
    r->form[g->args[i]] = !r->of_input[g->args[i]];
    if (r->form[g->args[i]]) r->small_arg = sw_max_i64(r->small_arg, whole_bytes(r, g->args[i]) / kSmall);
  }
  for (sw_id i = 0; i <= r->split; i++) {
    const sw_op *op = &g->ops[i];
    bool nothing = true, input = false;
    for (int k = 0; k < op->n_operands; k++) {
      nothing = nothing && r->from_nothing[op->operands[k]];
      input = input || r->of_input[op->operands[k]];
    }
    for (int k = 0; k < op->n_results; k++) {
      r->from_nothing[op->results[k]] = nothing;
      r->of_input[op->results[k]] = input;
      r->form[op->results[k]] = is_form(r, op);
      if (!nothing) most = sw_max_i64(most, whole_bytes(r, op->results[k]));
    }
  }
  r->small = most / kSmall;
  return SW_OK;
}

/* Of loops and choices, and of what is delivered, nothing is made again. */
static sw_rc classify_values(recompute *r, sw_arena *arena, sw_diag *d) {
  const sw_graph *g = r->g;
  SW_TRY(find_small(r, arena, d));
  for (sw_id v = 0; v < g->n_values; v++) {
    const sw_value *x = &g->values[v];
    r->last_early[v] = -1;
    for (int32_t u = 0; u < x->n_uses; u++) {
      if (x->uses[u].op > r->split) r->read_late[v] = true;
      if (x->uses[u].op >= 0 && x->uses[u].op <= r->split)
        r->last_early[v] = sw_max_i32(r->last_early[v], x->uses[u].op);
    }
    const int64_t small = r->form[v] ? sw_min_i64(r->small, r->small_arg) : r->small;
    r->large[v] = x->def >= 0 && !is_made_anywhere(r, x->def) && x->def <= r->split && whole_bytes(r, v) > small &&
                  !is_delivered_value(x) && g->ops[x->def].frame < 0 &&
                  sw_op_class_of(g->ops[x->def].code) != SW_OPS_CONTROL;
  }
  return SW_OK;
}

/* --- segments ----------------------------------------------------------------------------------------------------- */

/* By early op: bytes that go on behind it to other early ops, and bytes made up to it. */
static sw_rc find_going_on(const recompute *r, int64_t *crossing, int64_t *made, sw_diag *d) {
  const sw_graph *g = r->g;
  int64_t *change;
  SW_MEM_NEW(change, (size_t)r->split + 2, d);
  for (sw_id i = 0; i <= r->split; i++) {
    const sw_op *op = &g->ops[i];
    made[i + 1] = made[i];
    for (int k = 0; k < op->n_results; k++) {
      const sw_id v = op->results[k];
      if (!r->large[v]) continue;
      made[i + 1] += whole_bytes(r, v);
      if (r->last_early[v] <= i || r->from_nothing[v]) continue;
      change[i] += whole_bytes(r, v);
      change[r->last_early[v]] -= whole_bytes(r, v);
    }
  }
  for (sw_id i = 0; i <= r->split; i++) crossing[i] = change[i] + (i ? crossing[i - 1] : 0);
  sw_mem_free(change);
  return SW_OK;
}

/* Work space, by early op. */
typedef struct cutting {
  const int64_t *crossing, *made;
  int64_t *least; /* what goes on at the cut behind it, and at all before */
  sw_id *before;  /* the cut before; -1: none */
  sw_id *queue;   /* cuts that may be the one before, the least first */
} cutting;

/* Segments of at most `most` bytes, or of one op, with the least that goes on between them. Returns that with the
 * longest of them; the last segment ends with the last op. */
static int64_t cut_segments(const cutting *c, sw_id n, int64_t most) {
  int32_t head = 0, tail = 0;
  int64_t longest = 0;
  for (sw_id i = 0; i < n; i++) {
    while (head < tail && c->made[i + 1] - c->made[c->queue[head] + 1] > most) head++;
    const bool from_start = c->made[i + 1] <= most || i == 0;
    c->before[i] = from_start || head == tail ? -1 : c->queue[head];
    if (!from_start && head == tail) c->before[i] = i - 1;
    c->least[i] = (i + 1 < n ? c->crossing[i] : 0) + (c->before[i] < 0 ? 0 : c->least[c->before[i]]);
    while (head < tail && c->least[c->queue[tail - 1]] >= c->least[i]) tail--;
    c->queue[tail++] = i;
  }
  for (sw_id i = n - 1; i >= 0; i = c->before[i])
    longest = sw_max_i64(longest, c->made[i + 1] - c->made[c->before[i] + 1]);
  return c->least[n - 1] + longest;
}

/* Of the bytes: those that make the bytes between them and those of the longest one least together. */
static sw_rc cut_by_bytes(recompute *r, sw_arena *arena, sw_diag *d) {
  enum { TRIES = 32 }; /* each with segments shorter by 2^(1/2) than the one before */
  const sw_id n = r->split + 1;
  int64_t *crossing, *made, best = INT64_MAX, best_most = 0;
  cutting c;
  SW_ARENA_NEW(crossing, arena, n, d);
  SW_ARENA_NEW(made, arena, n + 1, d);
  SW_ARENA_NEW_EACH(arena, n, d, c.least, c.before, c.queue);
  c.crossing = crossing;
  c.made = made;
  SW_TRY(find_going_on(r, crossing, made, d));
  double most = (double)made[n];
  for (int k = 0; k < TRIES; k++, most *= 0.70710678) {
    const int64_t held = cut_segments(&c, n, (int64_t)most);
    if (held < best) best = held, best_most = (int64_t)most;
  }
  (void)cut_segments(&c, n, best_most);
  int32_t segments = 0;
  for (sw_id i = n - 1; i >= 0; i = c.before[i]) segments++;
  for (sw_id i = n - 1, s = segments; i >= 0; i = c.before[i]) r->segment_at[s--] = i + 1;
  return SW_OK;
}

/* Layers, and what is between them. */
static void cut_by_layers(recompute *r) {
  int32_t n = 0;
  for (int32_t k = 0; k < r->layers.n; k++) {
    if (r->layers.first[k] > r->segment_at[n]) r->segment_at[++n] = r->layers.first[k];
    r->segment_at[++n] = r->layers.end[k];
  }
  if (r->segment_at[n] <= r->split) r->segment_at[n + 1] = r->split + 1;
}

/* Would the same numbers come out, without an effect? */
static bool can_run_again(const recompute *r, const sw_op *op) {
  if (op->code == SW_OP_OPAQUE || op->code == SW_OP_RNG) return false;
  for (int k = 0; k < op->n_results; k++)
    if (r->kept_only[op->results[k]] || is_delivered_value(&r->g->values[op->results[k]])) return false;
  return true;
}

static sw_rc find_kept_only(recompute *r, sw_arena *arena, sw_diag *d) {
  const sw_graph *g = r->g;
  bool *may;
  SW_ARENA_NEW(may, arena, r->split + 2, d);
  for (sw_id v = 0; v < g->n_values; v++) {
    const sw_id def = g->values[v].def, last = r->last_early[v];
    if (last < 0) continue;
    r->crosses[v] = def < 0 ? whole_bytes(r, v) > r->small_arg : r->large[v] && r->segment[last] > r->segment[def];
    if (r->crosses[v] && r->from_nothing[v])
      r->crosses[v] = r->large[v] = false; /* read as it is: compilers make it again */
    r->kept_only[v] = r->crosses[v];
  }
  SW_TRY(sw_policy_apply(g, r->how, r->split + 1, &r->layers, r->large, may, d));
  for (sw_id i = 0; i <= r->split; i++) {
    const sw_op *op = &g->ops[i];
    const bool again = may[i] && can_run_again(r, op);
    for (int k = 0; k < op->n_results && !again; k++) r->kept_only[op->results[k]] = r->large[op->results[k]];
  }
  return SW_OK;
}

static sw_rc find_segments(recompute *r, sw_arena *arena, sw_diag *d) {
  SW_TRY(sw_layers_find(r->g, r->split + 1, arena, &r->layers, d));
  if (r->layers.n)
    cut_by_layers(r);
  else
    SW_TRY(cut_by_bytes(r, arena, d));
  for (sw_id i = 0, segment = 0; i <= r->split; i++) {
    if (i == r->segment_at[segment + 1]) segment++;
    r->segment[i] = segment;
  }
  return find_kept_only(r, arena, d);
}

/* --- entries ------------------------------------------------------------------------------------------------------ */

/* Where some of its results are large, and needed. */
static bool is_run_again(const recompute *r, const sw_op *op) {
  bool any = false;
  for (int k = 0; k < op->n_results; k++) {
    const sw_id v = op->results[k];
    any = any || (r->large[v] && r->needed[v] && !r->kept_only[v]);
  }
  return any;
}

static sw_rc add_source_of(recompute *r, sw_id value, bool again, sw_diag *d) {
  const bool chosen = r->how == SW_RECOMPUTE_SEARCH;
  if (r->kept[value]) return SW_OK;
  r->kept[value] = true;
  const bool stands = r->g->values[value].def < 0 ? r->gathers_again : !again && sw_policy_is_of_layers(r->how);
  if (!chosen && !(stands && r->crosses[value])) return SW_OK; /* read as it was made last, as compilers have it */
  const sw_entry e = {.op = r->g->values[value].def,
                      .source = again ? SW_SOURCE_EITHER : SW_SOURCE_KEPT,
                      .value = value,
                      .optional = chosen && !r->read_late[value]};
  return sw_array_push(&r->entries, e, d);
}

/* Sources of what an op reads, but for what its own segment makes again. */
static sw_rc add_sources_of(recompute *r, const sw_op *op, sw_diag *d) {
  for (int k = 0; k < op->n_operands; k++)
    if (r->kept_only[op->operands[k]]) SW_TRY(add_source_of(r, op->operands[k], false, d));
  return SW_OK;
}

static sw_rc put_again(recompute *r, sw_id id, sw_diag *d) {
  const sw_op *op = &r->g->ops[id];
  if (!is_run_again(r, op)) return SW_OK;
  const sw_entry e = {.op = id, .instance = 1, .optional = r->how == SW_RECOMPUTE_SEARCH};
  SW_TRY(add_sources_of(r, op, d));
  SW_TRY(sw_array_push(&r->entries, e, d));
  for (int k = 0; k < op->n_results; k++) {
    const sw_id v = op->results[k];
    if (r->large[v] && r->needed[v]) SW_TRY(add_source_of(r, v, true, d));
  }
  return SW_OK;
}

static sw_rc put_segment(recompute *r, int32_t segment, sw_diag *d) {
  const sw_id first = r->segment_at[segment], end = r->segment_at[segment + 1];
  const bool whole = sw_policy_is_whole(r->how);
  if (r->written[segment]) return SW_OK;
  r->written[segment] = true;
  for (sw_id i = end - 1; i >= first; i--) {
    const sw_op *op = &r->g->ops[i];
    for (int k = 0; k < op->n_results; k++)
      r->needed[op->results[k]] =
          r->needed[op->results[k]] || (r->large[op->results[k]] && (whole || r->read_late[op->results[k]]));
    for (int k = 0; k < op->n_operands && is_run_again(r, op); k++) r->needed[op->operands[k]] = true;
  }
  for (sw_id i = first; i < end; i++) SW_TRY(put_again(r, i, d));
  return SW_OK;
}

/* What a late op reads has its source before it. */
static sw_rc put_late(recompute *r, sw_id id, sw_diag *d) {
  const sw_op *op = &r->g->ops[id];
  const sw_entry e = {.op = id};
  for (int k = 0; k < op->n_operands; k++) {
    const sw_id v = op->operands[k];
    if (r->large[v] && !r->kept_only[v]) SW_TRY(put_segment(r, r->segment[r->g->values[v].def], d));
  }
  SW_TRY(add_sources_of(r, op, d));
  return sw_array_push(&r->entries, e, d);
}

/* --- the order of the late part ------------------------------------------------------------------------------------
 *
 * Ops that no contraction depends on, as updates of states are, run as soon as they can: what they read, a gradient
 * say, is not held up to the end. One that updates a state waits for all others that read it.
 */

static bool is_large_arg(const recompute *r, sw_id value) {
  return r->g->values[value].def < 0 && whole_bytes(r, value) > r->small_arg;
}

/* By late op: does a contraction depend on it, or a loop or choice? */
static void find_leading(recompute *r) {
  const sw_graph *g = r->g;
  for (sw_id i = g->n_ops - 1; i > r->split; i--) {
    const sw_op *op = &g->ops[i];
    const sw_op_class c = sw_op_class_of(op->code);
    r->leading[i] = c == SW_OPS_CONTRACTION || c == SW_OPS_CONTROL || op->frame >= 0 || sw_is_attention(op->code);
    for (int k = 0; k < op->n_results; k++) {
      const sw_value *v = &g->values[op->results[k]];
      for (int32_t u = 0; u < v->n_uses; u++)
        r->leading[i] = r->leading[i] || (v->uses[u].op >= 0 && r->leading[v->uses[u].op]);
    }
  }
}

/* By late op: does it depend on early ones and arguments alone? Such run right before what reads them. */
static void find_free(recompute *r) {
  const sw_graph *g = r->g;
  for (sw_id i = r->split + 1; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    r->free[i] = !r->leading[i];
    for (int k = 0; k < op->n_operands; k++) {
      const sw_id def = g->values[op->operands[k]].def;
      r->free[i] = r->free[i] && (def <= r->split || r->free[def]);
    }
  }
}

/* How many entries an op that leads to nothing waits for. */
static void count_waits(recompute *r) {
  const sw_graph *g = r->g;
  for (sw_id i = r->split + 1; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    for (int k = 0; k < op->n_operands && !r->leading[i]; k++) {
      const sw_value *v = &g->values[op->operands[k]];
      r->waits[i] += v->def > r->split && !r->free[v->def];
      for (int32_t u = 0; u < v->n_uses && is_large_arg(r, op->operands[k]); u++)
        r->waits[i] += v->uses[u].op > r->split && r->leading[v->uses[u].op];
    }
  }
}

/* An entry stands that the user waited for. */
static sw_rc let_go(recompute *r, sw_value_use use, sw_diag *d) {
  if (use.op <= r->split || r->leading[use.op] || r->free[use.op] || --r->waits[use.op]) return SW_OK;
  return sw_array_push(&r->ready, use.op, d);
}

static sw_rc put_in_order(recompute *r, sw_id id, sw_diag *d) {
  const sw_graph *g = r->g;
  const sw_op *op = &g->ops[id];
  r->listed[id] = true;
  SW_TRY(put_late(r, id, d));
  for (int k = 0; k < op->n_results && !r->free[id]; k++) {
    const sw_value *v = &g->values[op->results[k]];
    for (int32_t u = 0; u < v->n_uses; u++) SW_TRY(let_go(r, v->uses[u], d));
  }
  for (int k = 0; k < op->n_operands && r->leading[id]; k++) {
    const sw_value *v = &g->values[op->operands[k]];
    for (int32_t u = 0; u < v->n_uses && is_large_arg(r, op->operands[k]); u++) SW_TRY(let_go(r, v->uses[u], d));
  }
  return SW_OK;
}

/* With what it reads that is free. */
static sw_rc put_with_free(recompute *r, sw_id id, sw_diag *d) {
  const sw_graph *g = r->g;
  r->open.n = 0;
  SW_TRY(sw_array_push(&r->open, id, d));
  while (r->open.n) {
    const sw_id at = r->open.at[r->open.n - 1];
    sw_id first = -1;
    for (int k = 0; k < g->ops[at].n_operands && first < 0; k++) {
      const sw_id def = g->values[g->ops[at].operands[k]].def;
      if (def > r->split && r->free[def] && !r->listed[def]) first = def;
    }
    if (first < 0) r->open.n--;
    if (first >= 0)
      SW_TRY(sw_array_push(&r->open, first, d));
    else if (!r->listed[at])
      SW_TRY(put_in_order(r, at, d));
  }
  return SW_OK;
}

/* Ops that wait run behind the last of what they wait for; those that nobody reads, where they stand. */
static sw_rc put_late_part(recompute *r, sw_diag *d) {
  const sw_graph *g = r->g;
  find_leading(r);
  find_free(r);
  count_waits(r);
  for (sw_id i = r->split + 1; i < g->n_ops; i++) {
    const bool alone = !r->leading[i] && !r->waits[i] && !r->listed[i];
    if (r->leading[i] || (alone && !r->free[i])) SW_TRY(put_with_free(r, i, d));
    for (size_t k = 0; k < r->ready.n; k++) SW_TRY(put_with_free(r, r->ready.at[k], d));
    r->ready.n = 0;
  }
  for (sw_id i = r->split + 1; i < g->n_ops; i++)
    if (!r->listed[i]) SW_TRY(put_with_free(r, i, d));
  return SW_OK;
}

static sw_rc list_entries(recompute *r, sw_arena *arena, sw_diag *d) {
  const sw_graph *g = r->g;
  SW_ARENA_NEW_EACH(arena, g->n_values + 1, d, r->large, r->last_early, r->read_late, r->crosses, r->kept_only,
                    r->needed, r->kept);
  SW_ARENA_NEW(r->segment, arena, g->n_ops + 1, d);
  SW_ARENA_NEW(r->segment_at, arena, g->n_ops + 2, d);
  SW_ARENA_NEW_EACH(arena, g->n_ops + 1, d, r->leading, r->free, r->listed, r->waits, r->written);
  r->split = -1;
  const bool changes = (r->how != SW_RECOMPUTE_AS_WRITTEN && r->how != SW_RECOMPUTE_NONE) || r->gathers_again;
  if (changes && !g->n_frames) SW_TRY(find_split(r, arena, d));
  SW_TRY(classify_values(r, arena, d));
  if (r->split >= 0) SW_TRY(find_segments(r, arena, d));
  const sw_id as_they_are = r->split < 0 ? g->n_ops - 1 : r->split;
  for (sw_id i = 0; i <= as_they_are; i++) SW_TRY(sw_array_push(&r->entries, ((sw_entry){.op = i}), d));
  return r->split < 0 ? SW_OK : put_late_part(r, d);
}

static sw_rc keep_entries(recompute *r, sw_arena *arena, sw_schedule_spec *out, sw_diag *d) {
  const sw_entry *entries = sw_arena_copy(arena, r->entries.at, r->entries.n, sizeof *entries, d);
  *out = (sw_schedule_spec){.n_entries = (int32_t)r->entries.n, .entries = entries, .n_stages = 1, .micro_batches = 1};
  return entries ? SW_OK : SW_E_RESOURCE;
}

static sw_rc list_spec(const sw_graph *g, sw_recompute how, bool gathers_again, sw_arena *arena, sw_schedule_spec *out,
                       sw_diag *d) {
  recompute r = {.g = g, .how = how, .gathers_again = gathers_again};
  sw_arena scratch = {0};
  if (g->n_frames && how != SW_RECOMPUTE_AS_WRITTEN && how != SW_RECOMPUTE_NONE)
    return sw_stacks_spec(g, how, arena, out, d);
  sw_rc rc = list_entries(&r, &scratch, d);
  if (!rc) rc = keep_entries(&r, arena, out, d);
  sw_array_free(&r.entries);
  sw_array_free(&r.ready);
  sw_array_free(&r.open);
  sw_arena_deinit(&scratch);
  return rc;
}

/* --- the program's own checkpoints -------------------------------------------------------------------------------- */

/* Without copies of its own; *any: it has some. */
static sw_rc fold_spec(const sw_graph *g, sw_arena *arena, sw_schedule_spec *out, bool *any, sw_diag *d) {
  sw_same_ops same;
  sw_entry *entries;
  sw_arena scratch = {0};
  sw_rc rc = sw_same_ops_find(g, NULL, &scratch, &same, d);
  for (sw_id i = 0; !rc && !same.heavy && i < g->n_ops; i++) same.runs[i] = true;
  bool *runs = rc ? NULL : sw_arena_copy(&scratch, same.runs, (size_t)g->n_ops + 1, sizeof *runs, d);
  bool heavy = false;
  if (!rc) rc = runs ? sw_stacks_fold(g, &scratch, runs, &heavy, d) : SW_E_RESOURCE;
  if (heavy) same.runs = runs, same.heavy = true;
  *any = !rc && same.heavy;
  *out = (sw_schedule_spec){.n_stages = 1, .micro_batches = 1};
  entries = rc ? NULL : sw_arena_alloc(arena, (size_t)g->n_ops + 1, sizeof *entries, d);
  if (!rc && !entries) rc = SW_E_RESOURCE;
  for (sw_id i = 0; !rc && i < g->n_ops; i++)
    if (same.runs[i]) entries[out->n_entries++] = (sw_entry){.op = i};
  out->entries = entries;
  sw_arena_deinit(&scratch);
  return rc;
}

/* The program in which a loop has moved out of a later one; NULL: none can. */
static sw_rc move_loop(const sw_request *written, sw_graph **out, sw_diag *d) {
  sw_arena scratch = {0};
  sw_schedule made = {0};
  sw_schedule_spec spec;
  sw_moved_loop moved;
  bool any = false;
  sw_rc rc = sw_moved_loop_find(written->graph, &scratch, &moved, &any, d);
  if (!rc && any) rc = sw_moved_loop_spec(written->graph, &moved, &scratch, &spec, d);
  if (!rc && any) rc = sw_schedule_make_moved(written, &spec, &moved, &scratch, &made, d);
  *out = !rc && any ? made.owned[0] : NULL;
  sw_arena_deinit(&scratch);
  return rc;
}

sw_rc sw_schedule_fold(const sw_request *written, sw_graph **out, sw_diag *d) {
  sw_arena scratch = {0};
  sw_schedule folded = {0};
  sw_schedule_spec spec;
  bool any = false;
  sw_graph *moved = NULL, *next = NULL;
  sw_rc rc = move_loop(written, &moved, d);
  for (; !rc && moved; moved = next) {
    rc = move_loop(moved->written, &next, d);
    if (rc || !next) break;
    sw_graph_destroy(moved);
  }
  if (moved) written = moved->written;
  if (!rc) rc = fold_spec(written->graph, &scratch, &spec, &any, d);
  if (!rc && any) rc = sw_schedule_make(written, &spec, &scratch, &folded, d);
  *out = rc ? NULL : any ? folded.owned[0] : moved;
  if (*out != moved) sw_graph_destroy(moved);
  sw_arena_deinit(&scratch);
  return rc;
}

/* Entries of the folded program, as those of the program. */
static sw_rc unfold(const sw_schedule *folded, sw_arena *arena, sw_schedule_spec *spec, sw_diag *d) {
  const sw_stage *stage = &folded->stages[0];
  sw_entry *entries = sw_arena_copy(arena, spec->entries, (size_t)spec->n_entries, sizeof *entries, d);
  if (!entries) return SW_E_RESOURCE;
  for (int32_t i = 0; i < spec->n_entries; i++) {
    sw_entry *e = &entries[i];
    if (e->op >= 0) e->op = folded->spec.entries[stage->entry[e->op]].op;
    if (!e->source) continue;
    const sw_value *v = &stage->graph->values[e->value];
    e->value = v->def < 0 ? stage->args[v->def_index] : folded->program->ops[e->op].results[v->def_index];
  }
  spec->entries = entries;
  return SW_OK;
}

/* Of a program with loops: entries of what it folds to. */
static sw_rc list_folded(const sw_graph *g, sw_recompute how, bool gathers_again, sw_arena *arena,
                         sw_schedule_spec *out, sw_diag *d) {
  sw_graph *folded;
  SW_TRY(sw_schedule_fold(g->written, &folded, d));
  const sw_rc rc = list_spec(folded ? folded : g, how, gathers_again, arena, out, d);
  out->folded = folded != NULL;
  sw_graph_destroy(folded);
  return rc;
}

sw_rc sw_recompute_spec(const sw_graph *g, sw_recompute how, bool gathers_again, sw_arena *arena, sw_schedule_spec *out,
                        sw_diag *d) {
  sw_schedule folded;
  sw_schedule_spec fold;
  bool any = false;
  if (how != SW_RECOMPUTE_AS_WRITTEN && g->n_frames) return list_folded(g, how, gathers_again, arena, out, d);
  if (how != SW_RECOMPUTE_AS_WRITTEN) SW_TRY(fold_spec(g, arena, &fold, &any, d));
  if (any && how == SW_RECOMPUTE_NONE) *out = fold;
  if (any && how == SW_RECOMPUTE_NONE) return SW_OK;
  if (!any) return list_spec(g, how, gathers_again, arena, out, d);
  SW_TRY(sw_schedule_make(g->written, &fold, arena, &folded, d));
  sw_rc rc = list_spec(folded.stages[0].graph, how, gathers_again, arena, out, d);
  if (!rc) rc = unfold(&folded, arena, out, d);
  sw_schedule_deinit(&folded);
  return rc;
}

sw_rc sw_layers_of_early(const sw_graph *g, sw_arena *arena, sw_layers *out, sw_diag *d) {
  recompute r = {.g = g};
  sw_arena scratch = {0};
  *out = (sw_layers){0};
  if (g->n_frames) return SW_OK;
  sw_rc rc = find_split(&r, &scratch, d);
  if (!rc) rc = sw_layers_find(g, r.split + 1, arena, out, d);
  sw_arena_deinit(&scratch);
  return rc;
}

sw_rc sw_schedule_without_copies(const sw_schedule *s, sw_arena *arena, sw_schedule_spec *out, sw_diag *d) {
  const sw_graph *g = s->program;
  const bool loops = g->n_frames > 0; /* which have the stacks, too, that the schedule leaves out */
  sw_entry *entries;
  *out = s->spec;
  out->n_entries = 0;
  SW_ARENA_NEW(entries, arena, loops ? g->n_ops : s->spec.n_entries, d);
  for (sw_id i = 0; loops && i < g->n_ops; i++) entries[out->n_entries++] = (sw_entry){.op = i};
  for (int32_t i = 0; !loops && i < s->spec.n_entries; i++)
    if (!s->spec.entries[i].source && !s->spec.entries[i].instance) entries[out->n_entries++] = s->spec.entries[i];
  out->entries = entries;
  return SW_OK;
}

/* --- what a plan chose -------------------------------------------------------------------------------------------- */

sw_rc sw_schedule_chosen(const sw_schedule *s, const int8_t *takes, sw_arena *arena, sw_schedule_spec *out,
                         sw_diag *d) {
  const sw_stage *stage = &s->stages[0];
  sw_entry *entries;
  *out = s->spec;
  out->n_entries = 0;
  SW_ARENA_NEW(entries, arena, s->spec.n_entries, d);
  for (sw_id i = 0; i < stage->graph->n_ops; i++) {
    if (stage->entry[i] < 0 || takes[i] < 0) continue; /* of a stack that is added; left out */
    sw_entry e = s->spec.entries[stage->entry[i]];
    if (e.source == SW_SOURCE_FETCHED && stage->graph->ops[i].code != SW_OP_FETCH) continue; /* of its stack */
    if (takes[i] && sw_keep_way_of(stage->graph, &stage->graph->ops[i], takes[i] - 1) != SW_WAY_KEPT)
      continue; /* read as it was made again, or fetched */
    if (e.source == SW_SOURCE_EITHER) e.source = SW_SOURCE_KEPT;
    e.optional = e.or_fetched = false;
    entries[out->n_entries++] = e;
  }
  out->entries = entries;
  return SW_OK;
}
