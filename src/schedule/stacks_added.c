/* What a later loop makes again of what an earlier one has made, as checkpoints in loops do, read from one more stack:
 *
 *   s = zeros                         enters both loops
 *   while i < n: ..  r = f(x)  ..     s[i] = r
 *   while j < n: x' = xs[n - 1 - j]   r' = s[n - 1 - j] in place of f(x')
 */
#include "base/checked.h"
#include "graph/attr_of.h"
#include "schedule/schedule_write.h"

/* --- which there are ---------------------------------------------------------------------------------------------- */

sw_id sw_stack_known_at(const sw_graph *g, const sw_stack *s) {
  return sw_max_i32(g->values[s->index].def, g->frames[s->backward].test);
}

/* Does the op of the later loop do what one of the earlier loop does, behind where its trip is known? */
static bool does_alike(const sw_graph *g, const sw_stack *pair, const sw_id *alike, sw_id op) {
  const sw_op *o = &g->ops[op];
  bool all = o->frame == pair->backward && o->n_results > 0 && op > sw_stack_known_at(g, pair);
  for (int k = 0; k < o->n_results && all; k++) {
    const sw_id made = alike[o->results[k]];
    all = made >= 0 && g->values[made].def >= 0 && g->ops[g->values[made].def].frame == pair->forward;
  }
  return all && sw_op_class_of(o->code) != SW_OPS_CONTROL;
}

/* Of loops that follow each other, the first stack that stays. */
static bool is_first_of_pair(const sw_stacks *s, const bool *left_out, int32_t stack) {
  bool first = !left_out[stack];
  for (int32_t i = 0; i < stack; i++) first = first && (left_out[i] || s->at[i].backward != s->at[stack].backward);
  return first;
}

static bool is_read_by(const sw_graph *g, sw_id value, const bool *runs) {
  bool any = false;
  for (int32_t u = 0; u < g->values[value].n_uses; u++)
    any = any || (g->values[value].uses[u].op >= 0 && runs[g->values[value].uses[u].op]);
  return any;
}

bool sw_stack_around(const sw_stacks *s, const sw_stack *pair, sw_added_stack *out) {
  *out = (sw_added_stack){.n_levels = 0};
  for (; pair && out->n_levels < SW_STACK_LEVELS; pair = pair->through < 0 ? NULL : &s->at[pair->through])
    out->of[out->n_levels++] = pair;
  return !pair;
}

sw_rc sw_stacks_add_on_host(const sw_graph *g, const sw_schedule_spec *s, sw_arena *arena, bool *left_out,
                            sw_stacks *out, sw_diag *d) {
  int32_t *away; /* by value: the entry that offloads it; -1: none */
  SW_ARENA_NEW(away, arena, g->n_values + 1, d);
  for (sw_id v = 0; v < g->n_values; v++) away[v] = -1;
  for (int32_t i = 0; i < s->n_entries && out->n; i++) {
    const sw_entry *e = &s->entries[i];
    if (e->source == SW_SOURCE_OFFLOADED) away[e->value] = i;
    for (int32_t k = 0; k < out->n && e->source == SW_SOURCE_FETCHED; k++) {
      const sw_stack *of = &out->at[k];
      sw_added_stack one;
      if (of->back != e->value || away[of->made] < 0 || !sw_stack_around(out, of, &one)) continue;
      one.made = of->made;
      one.value = of->back;
      one.on_host = true;
      one.offloaded = away[of->made];
      one.fetched = i;
      out->added[out->n_added++] = one;
      left_out[k] = false;
      break;
    }
  }
  return SW_OK;
}

sw_rc sw_stacks_add(const sw_graph *g, const bool *left_out, sw_arena *arena, sw_stacks *s, bool *has, sw_diag *d) {
  bool *runs, all = true;
  sw_id *alike;
  for (sw_id i = 0; i < g->n_ops; i++) all = all && has[i];
  if (all || !s->n) return SW_OK;
  SW_TRY(sw_stacks_alike(g, s, left_out, arena, &alike, d));
  if (!(runs = sw_arena_copy(arena, has, (size_t)g->n_ops + 1, sizeof *runs, d))) return SW_E_RESOURCE;
  for (int32_t k = 0; k < s->n; k++) {
    const sw_stack *p = &s->at[k];
    sw_added_stack one;
    if (!sw_stack_around(s, p, &one)) continue;
    if (!is_first_of_pair(s, left_out, k)) continue;
    for (sw_id i = g->frames[p->backward].begin; i < g->frames[p->backward].end; i++) {
      if (has[i] || !does_alike(g, p, alike, i)) continue;
      has[i] = true;
      for (int r = 0; r < g->ops[i].n_results; r++) {
        const sw_id v = g->ops[i].results[r];
        if (!is_read_by(g, v, runs)) continue;
        one.made = alike[v];
        one.value = v;
        s->added[s->n_added++] = one;
      }
    }
  }
  return SW_OK;
}

/* The same elements in other words: compilers make them where they are read. */
static bool is_other_words(const sw_op *op) {
  const sw_opcode c = op->code;
  return c == SW_OP_BROADCAST || c == SW_OP_RESHAPE || c == SW_OP_SLICE || c == SW_OP_TRANSPOSE || c == SW_OP_CONVERT;
}

sw_rc sw_stacks_fold(const sw_graph *g, sw_arena *arena, bool *runs, bool *heavy, sw_diag *d) {
  sw_stacks s;
  bool *none, *both, *follows; /* by op: both loops have it; by value: made of what the later one takes from a stack */
  sw_id *alike;
  SW_TRY(sw_stacks_find(g, arena, &s, d));
  SW_ARENA_NEW(none, arena, s.n + 1, d);
  SW_ARENA_NEW(both, arena, g->n_ops + 1, d);
  SW_ARENA_NEW(follows, arena, g->n_values + 1, d);
  SW_TRY(sw_stacks_alike(g, &s, none, arena, &alike, d));
  for (int32_t k = 0; k < s.n; k++) follows[s.at[k].back] = true;
  for (int32_t k = 0; k < s.n; k++) {
    if (!is_first_of_pair(&s, none, k)) continue;
    for (sw_id i = g->frames[s.at[k].backward].begin; i < g->frames[s.at[k].backward].end; i++) {
      const sw_op *op = &g->ops[i];
      bool any = false;
      for (int r = 0; r < op->n_operands; r++) any = any || follows[op->operands[r]];
      both[i] = does_alike(g, &s.at[k], alike, i);
      if (!any || !both[i]) continue;
      for (int r = 0; r < op->n_results; r++) follows[op->results[r]] = true;
      runs[i] = false;
      *heavy = *heavy || sw_op_is_heavy(op);
    }
  }
  for (sw_id i = g->n_ops - 1; i >= 0; i--) {
    const sw_op *op = &g->ops[i];
    if (!(runs[i] ? both[i] : op->frame >= 0 && is_other_words(op))) continue;
    runs[i] = false;
    for (int r = 0; r < op->n_results; r++) runs[i] = runs[i] || is_read_by(g, op->results[r], runs);
  }
  return SW_OK;
}

/* --- written ------------------------------------------------------------------------------------------------------ */

/* What a stack is of at this level: slices are of the type, and trips inside are further dims. */
static sw_rc slice_type(const sw_stage_writer *w, const sw_added_stack *a, int level, int64_t *dims, sw_type *out) {
  const sw_value *made = &w->program->values[a->made];
  *out = made->type;
  if (made->type.rank + a->n_levels >= SW_MAX_RANK)
    return SW_FAIL_INPUT(w->d, SW_NOWHERE, "a stack of '%s' has %d dims; expected fewer than %d", made->name,
                         made->type.rank + a->n_levels, SW_MAX_RANK);
  for (int l = 0; l < level; l++) dims[level - 1 - l] = w->program->frames[a->of[l]->forward].trips;
  for (int k = 0; k < made->type.rank; k++) dims[level + k] = made->type.dims[k];
  out->rank += level;
  out->dims = dims;
  return SW_OK;
}

/* Of a trip: one slice, and where it begins. */
static sw_rc put_slice_starts(sw_stage_writer *w, const sw_type *t, sw_id at, int64_t *slice, sw_id *starts) {
  sw_id zero;
  SW_TRY(sw_stage_put_number(w, w->to->values[at].type.dtype, 0, 0, NULL, &zero));
  for (int k = 0; k <= t->rank; k++) {
    slice[k] = k ? t->dims[k - 1] : 1;
    starts[k] = k ? zero : at;
  }
  return SW_OK;
}

static sw_rc put_in(sw_stage_writer *w, const sw_added_stack *a, int level, sw_id made, sw_id *stack) {
  int64_t slice[SW_MAX_RANK], dims[SW_MAX_RANK];
  sw_id in[SW_MAX_RANK + 2] = {*stack};
  sw_type t;
  SW_TRY(slice_type(w, a, level, dims, &t));
  SW_TRY(put_slice_starts(w, &t, w->now[a->of[level]->counter], slice, in + 2));
  SW_TRY(sw_stage_put(w, SW_OP_RESHAPE, 1, &made, 1, &SW_ATTR_L(SHAPE, slice, t.rank + 1), &in[1]));
  return sw_stage_put(w, SW_OP_DYNAMIC_UPDATE_SLICE, t.rank + 3, in, 0, NULL, stack);
}

static sw_rc put_out(sw_stage_writer *w, const sw_added_stack *a, int level, sw_id stack, sw_id *out) {
  int64_t slice[SW_MAX_RANK], dims[SW_MAX_RANK];
  sw_id in[SW_MAX_RANK + 1] = {stack}, taken;
  sw_type t;
  SW_TRY(slice_type(w, a, level, dims, &t));
  SW_TRY(put_slice_starts(w, &t, w->now[a->of[level]->index], slice, in + 1));
  SW_TRY(sw_stage_put(w, SW_OP_DYNAMIC_SLICE, t.rank + 2, in, 1, &SW_ATTR_L(SIZES, slice, t.rank + 1), &taken));
  return sw_stage_put(w, SW_OP_RESHAPE, 1, &taken, 1, &SW_ATTR_L(SHAPE, t.dims, t.rank), out);
}

static sw_rc put_empty(sw_stage_writer *w, const sw_added_stack *a, int level, sw_id *stack) {
  int64_t dims[SW_MAX_RANK];
  sw_type t;
  SW_TRY(slice_type(w, a, level + 1, dims, &t));
  return sw_stage_put_number(w, t.dtype, 0, t.rank, t.dims, stack);
}

/* What is put from here on is there for the stack alone. */
static void put_for(sw_stage_writer *w, const sw_added_stack *a) { w->put_for = a && a->on_host ? a->fetched + 1 : 0; }

sw_rc sw_stage_stack_before(sw_stage_writer *w, sw_id op) {
  for (int32_t k = 0; k < w->stacks->n_added; k++) {
    const sw_added_stack *a = &w->stacks->added[k];
    put_for(w, a);
    if (w->joined[k] && w->program->ops[op].code != SW_OP_JOIN) {
      w->joined[k] = false;
      SW_TRY(put_in(w, a, 0, w->now[a->made], &w->added[k][0]));
    }
    for (int l = 0; l < a->n_levels; l++) {
      const sw_frame *f = &w->program->frames[a->of[l]->forward];
      if (w->ended[k][l] && w->program->ops[op].code != SW_OP_JOIN) { /* joins follow the end of a loop */
        w->ended[k][l] = false;
        SW_TRY(put_in(w, a, l + 1, w->added[k][l], &w->added[k][l + 1]));
      }
      if (op == f->opened_by) SW_TRY(put_empty(w, a, l, &w->added[k][l]));
      if (op == f->end) SW_TRY(sw_stage_put(w, SW_OP_YIELD, 1, &w->added[k][l], 0, NULL, &w->added[k][l]));
    }
  }
  put_for(w, NULL);
  return SW_OK;
}

/* Behind an op that begins a loop, ends one, or makes what the later one counts by. */
static sw_rc go_around(sw_stage_writer *w, int32_t stack, int level, sw_id op) {
  const sw_graph *g = w->program;
  const sw_added_stack *a = &w->stacks->added[stack];
  const sw_stack *pair = a->of[level];
  const sw_frame *f = &g->frames[pair->forward];
  sw_id *now = &w->added[stack][level], *entered = &w->entered[stack][level];
  if (op == f->opened_by || op == g->frames[pair->backward].opened_by)
    SW_TRY(sw_stage_put(w, SW_OP_ENTER, 1, now, 0, NULL, now));
  if (op == f->opened_by) *entered = *now;
  if (op == f->end) {
    SW_TRY(sw_stage_put(w, SW_OP_JOIN, 2, (sw_id[]){*entered, *now}, 0, NULL, now));
    w->ended[stack][level] = level + 1 < a->n_levels;
  }
  if (op != sw_stack_known_at(g, pair)) return SW_OK;
  sw_id *out = a->on_host ? &w->on_host[a->value] : &w->now[a->value];
  return put_out(w, a, level, *now, level ? &w->added[stack][level - 1] : out);
}

sw_rc sw_stage_stack_behind(sw_stage_writer *w, sw_id op) {
  for (int32_t k = 0; k < w->stacks->n_added; k++) {
    const sw_added_stack *a = &w->stacks->added[k];
    put_for(w, a);
    for (int l = 0; l < a->n_levels; l++) SW_TRY(go_around(w, k, l, op));
    if (a->on_host || op != w->program->values[a->made].def) continue;
    w->joined[k] = w->program->ops[op].code == SW_OP_JOIN;
    if (!w->joined[k]) SW_TRY(put_in(w, a, 0, w->now[a->made], &w->added[k][0]));
  }
  put_for(w, NULL);
  return SW_OK;
}

sw_rc sw_stage_stack_offloaded(sw_stage_writer *w, int32_t entry) {
  const sw_value *v = &w->program->values[w->spec->entries[entry].value];
  bool any = sw_value_frame(w->program, w->spec->entries[entry].value) < 0;
  for (int32_t k = 0; k < w->stacks->n_added; k++) {
    const sw_added_stack *a = &w->stacks->added[k];
    if (!a->on_host || a->offloaded != entry) continue;
    any = true;
    put_for(w, a);
    SW_TRY(put_in(w, a, 0, w->on_host[a->made], &w->added[k][0]));
  }
  put_for(w, NULL);
  if (any) return SW_OK;
  return SW_FAIL_INPUT(w->d, v->span, "'%s' is offloaded in a loop; expected a later one that fetches it", v->name);
}
