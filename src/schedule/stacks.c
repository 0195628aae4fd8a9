#include "schedule/stacks.h"

#include <string.h>

#include "base/array.h"
#include "base/checked.h"
#include "base/hash.h"
#include "graph/fuse.h"
#include "schedule/same_ops.h"

static const sw_op *made_by(const sw_graph *g, sw_id value, sw_opcode code) {
  const sw_op *op = sw_value_maker(g, value);
  return op && op->code == code ? op : NULL;
}

static const sw_op *only_reader(const sw_graph *g, sw_id value, sw_opcode code) {
  const sw_value *v = &g->values[value];
  if (v->n_uses != 1 || v->uses[0].op < 0) return NULL;
  const sw_op *op = &g->ops[v->uses[0].op];
  return op->code == code ? op : NULL;
}

/* Does the op enter what the loop only reads? */
static bool enters_as_it_is(const sw_graph *g, const sw_op *op) {
  return op->code == SW_OP_ENTER && sw_entered_yields(g, op->results[0]) == op->results[0];
}

/* --- which trip an index is of ------------------------------------------------------------------------------------ */

/* What a loop counts by. */
typedef struct counting_loop {
  sw_id counter;
  int64_t first, step, trips;
} counting_loop;

static bool find_what_counts(const sw_graph *g, sw_id frame, counting_loop *out) {
  const sw_frame *f = &g->frames[frame];
  const sw_op *compare = f->kind == SW_OP_WHILE ? made_by(g, g->ops[f->test].operands[0], SW_OP_COMPARE) : NULL;
  const sw_op *enter = compare ? made_by(g, compare->operands[0], SW_OP_ENTER) : NULL;
  const sw_id next = enter ? sw_entered_yields(g, compare->operands[0]) : -1;
  const sw_op *add = next < 0 ? NULL : made_by(g, next, SW_OP_ADD);
  if (!add || f->trips <= 0 || f->assumed) return false;
  *out = (counting_loop){.counter = compare->operands[0], .trips = f->trips};
  if (!sw_value_constant(g, enter->operands[0], &out->first)) return false;
  for (int k = 0; k < 2; k++)
    if (add->operands[k] == out->counter && sw_value_constant(g, add->operands[1 - k], &out->step)) return true;
  return false;
}

/* A scalar of whole numbers in the trip in which the counter is `at`; of few ops. */
static bool scalar_at(const sw_graph *g, const counting_loop *l, int64_t at, sw_id value, int most_ops, int64_t *out) {
  int64_t x[3] = {0};
  const sw_op *op = sw_value_maker(g, value);
  if (value == l->counter) *out = at;
  if (value == l->counter || sw_value_constant(g, value, out)) return true;
  if (!op || !most_ops || op->n_operands > 3 || g->values[value].type.rank) return false;
  for (int k = 0; k < op->n_operands; k++)
    if (!scalar_at(g, l, at, op->operands[k], most_ops - 1, &x[k])) return false;
  const char *way = op->code == SW_OP_COMPARE ? sw_op_text(op, SW_ATTR_DIRECTION, "") : "";
  if (op->code == SW_OP_ADD) return sw_add_i64(x[0], x[1], out);
  if (op->code == SW_OP_SUBTRACT) return sw_sub_i64(x[0], x[1], out);
  if (op->code == SW_OP_CONVERT || op->code == SW_OP_RESHAPE) *out = x[0];
  if (op->code == SW_OP_SELECT) *out = x[0] ? x[1] : x[2];
  if (op->code == SW_OP_COMPARE) *out = x[0] < x[1];
  return op->code == SW_OP_CONVERT || op->code == SW_OP_RESHAPE || op->code == SW_OP_SELECT || strcmp(way, "lt") == 0;
}

/* Where each trip writes or reads: along one dim of `op`, all of the others. *index: the value of it; -1: another. */
static int slice_dim(const sw_graph *g, const sw_op *op, int first_index, const sw_type *part, sw_id *index) {
  const sw_type *whole = sw_operand_type(g, op, 0);
  int dim = -1;
  int64_t at;
  for (int k = 0; k < whole->rank; k++) {
    const bool cut = part->dims[k] == 1 && whole->dims[k] != 1;
    if (cut && dim >= 0) return -1;
    if (cut) dim = k;
    if (!cut && (part->dims[k] != whole->dims[k] || !sw_value_constant(g, op->operands[first_index + k], &at) || at))
      return -1;
  }
  if (dim >= 0) *index = op->operands[first_index + dim];
  return dim;
}

enum { MOST_OPS = 8, MOST_TRIPS = 1 << 16 }; /* that are looked at */

/* Each trip of the earlier loop writes where its counter says, and each of the later one reads what one of them wrote.
 */
static bool reads_what_was_written(const sw_graph *g, const counting_loop *f, const counting_loop *b, sw_id written,
                                   sw_id read, int64_t extent) {
  int64_t at;
  if (f->trips > MOST_TRIPS || b->trips > MOST_TRIPS || f->first != 0 || f->step != 1 || f->trips > extent)
    return false;
  for (int64_t t = 0; t < f->trips; t++)
    if (!scalar_at(g, f, t, written, MOST_OPS, &at) || at != t) return false;
  for (int64_t t = 0; t < b->trips; t++)
    if (!scalar_at(g, b, b->first + t * b->step, read, MOST_OPS, &at) || at < 0 || at >= f->trips) return false;
  return true;
}

/* Are two indices of a loop, of which stacks are read, the same in each trip? */
static bool are_same_index(const sw_graph *g, sw_id frame, sw_id a, sw_id b) {
  counting_loop l;
  bool same = find_what_counts(g, frame, &l);
  for (int64_t t = 0; same && a != b && t < l.trips; t++) {
    const int64_t counter = l.first + t * l.step;
    int64_t at, other;
    same = scalar_at(g, &l, counter, a, MOST_OPS, &at) && scalar_at(g, &l, counter, b, MOST_OPS, &other) && at == other;
  }
  return same;
}

/* --- which there are ---------------------------------------------------------------------------------------------- */

static void add_own_op(const sw_graph *g, sw_stack *s, const sw_op *op) { s->ops[s->n_ops++] = (sw_id)(op - g->ops); }

/* What enters the later loop is only read, by one slice in each trip. */
static bool find_taken_out(const sw_graph *g, sw_id stack, sw_stack *s, const sw_op **slice) {
  const sw_op *enter = only_reader(g, stack, SW_OP_ENTER);
  const sw_op *round[2] = {0}; /* yield, join */
  if (!enter || enter->frame < 0 || !enters_as_it_is(g, enter)) return false;
  const sw_value *entered = &g->values[enter->results[0]];
  s->backward = enter->frame;
  *slice = NULL;
  for (int32_t u = 0; u < entered->n_uses; u++) {
    const sw_op *op = &g->ops[entered->uses[u].op];
    if (op->code == SW_OP_DYNAMIC_SLICE && !*slice && op->frame == s->backward)
      *slice = op;
    else if (op->code == SW_OP_YIELD)
      round[0] = op;
    else if (op->code == SW_OP_JOIN && !g->values[op->results[0]].n_uses)
      round[1] = op;
    else
      return false;
  }
  add_own_op(g, s, enter);
  for (int k = 0; k < 2; k++)
    if (round[k]) add_own_op(g, s, round[k]);
  return *slice && !round[0] == !round[1];
}

static bool is_view(const sw_op *op) { return op->code == SW_OP_RESHAPE || op->code == SW_OP_BROADCAST; }

/* What is made is put into a slice, and taken out of it again. */
static void find_ends(const sw_graph *g, const sw_op *update, const sw_op *slice, sw_stack *s) {
  const sw_op *in = sw_value_maker(g, update->operands[1]), *out = only_reader(g, slice->results[0], SW_OP_RESHAPE);
  const bool views = in && out && is_view(in) && in->frame == s->forward &&
                     sw_type_bytes(sw_operand_type(g, in, 0)) == sw_type_bytes(sw_result_type(g, in, 0)) &&
                     sw_type_equal(sw_operand_type(g, in, 0), sw_result_type(g, out, 0));
  s->made = views ? in->operands[0] : update->operands[1];
  s->back = views ? out->results[0] : slice->results[0];
  if (views) add_own_op(g, s, out);
  if (views && g->values[in->results[0]].n_uses == 1) add_own_op(g, s, in);
}

/* Of a join: what the loop updates in each trip and does not read. `outer`: which stacks the join itself; NULL: none.
 */
static bool find_stack(const sw_graph *g, const sw_op *join, const sw_stack *outer, sw_stack *s) {
  const sw_op *enter = made_by(g, join->operands[0], SW_OP_ENTER), *slice;
  const sw_op *update = enter ? made_by(g, sw_join_yielded(g, join), SW_OP_DYNAMIC_UPDATE_SLICE) : NULL;
  counting_loop f, b;
  sw_id written;
  *s = (sw_stack){.forward = enter ? enter->frame : -1, .through = -1};
  if (!update || update->frame != s->forward || update->operands[0] != enter->results[0]) return false;
  if (g->values[enter->results[0]].n_uses != 2 || g->values[update->results[0]].n_uses != 1) return false;
  if (!find_taken_out(g, outer ? outer->back : join->results[0], s, &slice)) return false;
  const sw_id in = g->frames[s->forward].parent, from = g->frames[s->backward].parent;
  if (s->backward == s->forward || in != (outer ? outer->forward : from) || (outer && from != outer->backward))
    return false;
  const int dim = slice_dim(g, update, 2, sw_operand_type(g, update, 1), &written);
  if (dim < 0 || slice_dim(g, slice, 1, sw_result_type(g, slice, 0), &s->index) != dim) return false;
  if (!find_what_counts(g, s->forward, &f) || !find_what_counts(g, s->backward, &b)) return false;
  if (!reads_what_was_written(g, &f, &b, written, s->index, sw_result_type(g, join, 0)->dims[dim])) return false;
  s->counter = f.counter;
  if (!sw_type_equal(&g->values[s->counter].type, &g->values[s->index].type)) return false;
  find_ends(g, update, slice, s);
  add_own_op(g, s, slice);
  add_own_op(g, s, enter);
  add_own_op(g, s, update);
  add_own_op(g, s, &g->ops[g->values[join->operands[1]].def]);
  add_own_op(g, s, join);
  const sw_op *empty = sw_value_maker(g, enter->operands[0]);
  if (empty && g->values[enter->operands[0]].n_uses == 1) add_own_op(g, s, empty);
  return true;
}

typedef struct stack_list {
  SW_ARRAY(sw_stack) all;
} stack_list;

/* A later loop reads of one earlier one, in each trip of one trip of it. */
static sw_rc add_stack(const sw_graph *g, stack_list *l, const sw_stack *s, sw_diag *d) {
  const sw_stack *first = NULL;
  for (size_t k = 0; k < l->all.n && !first; k++)
    if (l->all.at[k].backward == s->backward) first = &l->all.at[k];
  if (first && (first->forward != s->forward || !are_same_index(g, s->backward, first->index, s->index))) return SW_OK;
  return sw_array_push(&l->all, *s, d);
}

sw_rc sw_stacks_find(const sw_graph *g, sw_arena *arena, sw_stacks *out, sw_diag *d) {
  enum { MOST_OF_ONE = 11 };
  stack_list l = {0};
  sw_stack s;
  sw_rc rc = SW_OK;
  *out = (sw_stacks){0};
  for (sw_id i = 0; i < g->n_ops && !rc && g->n_frames; i++)
    if (g->ops[i].code == SW_OP_JOIN && find_stack(g, &g->ops[i], NULL, &s)) rc = add_stack(g, &l, &s, d);
  for (size_t k = 0; k < l.all.n && !rc; k++) {
    const sw_stack outer = l.all.at[k];
    const sw_op *join = made_by(g, outer.made, SW_OP_JOIN);
    if (!join || g->values[outer.made].n_uses != 1 || outer.n_ops + MOST_OF_ONE > SW_STACK_OPS) continue;
    if (!find_stack(g, join, &outer, &s)) continue;
    s.through = (int32_t)k;
    for (int i = 0; i < outer.n_ops; i++) s.ops[s.n_ops++] = outer.ops[i];
    rc = add_stack(g, &l, &s, d);
  }
  out->n = (int32_t)l.all.n;
  if (!rc && l.all.n && !(out->at = sw_arena_copy(arena, l.all.at, l.all.n, sizeof s, d))) rc = SW_E_RESOURCE;
  sw_array_free(&l.all);
  return rc;
}

sw_rc sw_schedule_loop_again(const sw_graph *g, sw_id *out, sw_diag *d) {
  sw_arena mem = {0};
  sw_stacks s = {0};
  const sw_rc rc = sw_stacks_find(g, &mem, &s, d);
  *out = -1;
  for (int32_t i = 0; i < s.n && *out < 0; i++) {
    const sw_frame *f = &g->frames[s.at[i].forward];
    for (int32_t k = 0; k < s.n && *out < 0; k++)
      if (s.at[k].backward == f->parent && g->frames[s.at[i].backward].parent == f->parent) *out = f->opened_by;
  }
  sw_arena_deinit(&mem);
  return rc;
}

sw_rc sw_stacks_left_out(const sw_graph *g, const sw_schedule_spec *s, sw_arena *arena, sw_stacks *out, bool **left_out,
                         bool **has, sw_diag *d) {
  bool *present;
  SW_ARENA_NEW(present, arena, g->n_ops + 1, d);
  *has = present;
  for (int32_t i = 0; i < s->n_entries; i++)
    if (!s->entries[i].source) present[s->entries[i].op] = true;
  SW_TRY(sw_stacks_find(g, arena, out, d));
  SW_ARENA_NEW(*left_out, arena, out->n + 1, d);
  for (int32_t i = 0; i < out->n; i++) {
    (*left_out)[i] = true;
    for (int k = 0; k < out->at[i].n_ops; k++) (*left_out)[i] = (*left_out)[i] && !present[out->at[i].ops[k]];
  }
  for (int32_t i = 0; i < out->n; i++)
    for (int k = 0; (*left_out)[i] && k < out->at[i].n_ops; k++) present[out->at[i].ops[k]] = true;
  SW_ARENA_NEW(out->added, arena, g->n_values + 1, d);
  SW_TRY(sw_stacks_add_on_host(g, s, arena, *left_out, out, d));
  return sw_stacks_add(g, *left_out, arena, out, present, d);
}

/* --- what the later loop has already ------------------------------------------------------------------------------ */

/* Of a later loop what an earlier one makes, or what stands before both: compilers take out of loops what is the same
 * in all trips, and write it once or several times. */
typedef struct likeness {
  const sw_graph *g;
  sw_id *alike;   /* sw_stacks_alike */
  sw_id *like;    /* by value: the first that is equal, outside of loops that only read it; -1: unknown */
  sw_id *entered; /* by value: the first of the earlier loop that is equal; -1: none */
  sw_dict seen;   /* of the key of an op: the op */
  sw_text key;
} likeness;

static bool has_key(likeness *l, const sw_op *op) {
  bool all = sw_op_is_of_operands(op);
  for (int k = 0; k < op->n_operands; k++) all = all && l->like[op->operands[k]] >= 0;
  if (all) sw_op_likeness(l->g, op, l->like, &l->key);
  return all && !l->key.rc;
}

static bool stands_around(const sw_graph *g, sw_id frame, sw_id inner) {
  while (inner >= 0 && inner != frame) inner = g->frames[inner].parent;
  return inner == frame;
}

/* The value that the op's result is: what enters a loop that only reads it, what reshapes and transposes bring back, as
 * they stand around an attention; -1: it is new. */
static sw_id find_what_it_is(const sw_graph *g, const sw_op *op) {
  if (enters_as_it_is(g, op)) return op->operands[0];
  if (op->code == SW_OP_TRANSPOSE) return sw_value_given_back(g, op);
  for (const sw_op *at = op; at && at->code == SW_OP_RESHAPE;) {
    const sw_id from = at->operands[0];
    if (sw_type_equal(&g->values[from].type, sw_result_type(g, op, 0))) return from;
    at = sw_value_maker(g, from);
    const sw_id back = at ? sw_value_given_back(g, at) : -1;
    if (back >= 0) at = sw_value_maker(g, back);
  }
  return -1;
}

/* What the earlier loop makes, and what stands before it. */
static sw_rc list_alike_ops(likeness *l, sw_id forward, sw_diag *d) {
  const sw_graph *g = l->g;
  for (sw_id v = 0; v < g->n_values; v++) l->entered[v] = -1;
  for (sw_id i = 0; i < g->frames[forward].end; i++) {
    const sw_op *op = &g->ops[i];
    int64_t *first = NULL;
    bool fresh = true;
    if (!stands_around(g, op->frame, forward)) continue;
    const sw_id is = find_what_it_is(g, op);
    if (is < 0 && has_key(l, op)) SW_TRY(sw_dict_put(&l->seen, l->key.at, l->key.n, i, &first, &fresh, d));
    for (int r = 0; r < op->n_results; r++) {
      const sw_id v = op->results[r];
      l->like[v] = is >= 0 ? l->like[is] : fresh ? v : l->like[g->ops[*first].results[r]];
      if (op->frame == forward && l->like[v] >= 0 && l->entered[l->like[v]] < 0) l->entered[l->like[v]] = v;
    }
  }
  return SW_OK;
}

static sw_rc find_alike_values(likeness *l, sw_id forward, sw_id backward, sw_diag *d) {
  const sw_graph *g = l->g;
  SW_TRY(list_alike_ops(l, forward, d));
  for (sw_id v = 0; v < g->n_values; v++)
    if (l->alike[v] >= 0 && l->like[l->alike[v]] >= 0) l->like[v] = l->like[l->alike[v]];
  for (sw_id i = g->frames[backward].begin + 1; i < g->frames[backward].end; i++) {
    const sw_op *op = &g->ops[i];
    if (op->frame != backward || !op->n_results || l->alike[op->results[0]] >= 0) continue;
    const sw_id is = find_what_it_is(g, op);
    const int64_t *other = is < 0 && has_key(l, op) ? sw_dict_get(&l->seen, l->key.at, l->key.n) : NULL;
    for (int r = 0; r < op->n_results; r++) {
      sw_id *like = &l->like[op->results[r]];
      *like = is >= 0 ? l->like[is] : other ? l->like[g->ops[*other].results[r]] : -1;
      if (*like >= 0) l->alike[op->results[r]] = l->entered[*like];
    }
  }
  return SW_OK;
}

sw_rc sw_stacks_alike(const sw_graph *g, const sw_stacks *s, const bool *left_out, sw_arena *arena, sw_id **out,
                      sw_diag *d) {
  likeness l = {.g = g};
  sw_rc rc = SW_OK;
  SW_ARENA_NEW_EACH(arena, g->n_values + 1, d, l.alike, l.like, l.entered);
  *out = l.alike;
  for (sw_id v = 0; v < g->n_values; v++) {
    l.alike[v] = -1;
    l.like[v] = g->values[v].def < 0 ? v : -1;
  }
  for (int32_t i = 0; i < s->n; i++) {
    const sw_stack *x = &s->at[i];
    l.alike[x->index] = x->counter;
    if (!left_out[i]) l.alike[x->back] = x->made;
  }
  for (int32_t i = 0; i < s->n && !rc; i++) {
    bool first = true;
    for (int32_t k = 0; k < i; k++) first = first && s->at[k].backward != s->at[i].backward;
    if (first) rc = find_alike_values(&l, s->at[i].forward, s->at[i].backward, d);
    sw_dict_deinit(&l.seen);
    l.seen = (sw_dict){0};
  }
  sw_text_free(&l.key);
  return rc;
}

/* --- what is left out --------------------------------------------------------------------------------------------- */

typedef struct chooser {
  const sw_graph *g;
  bool offers; /* stacks that can be left out are offered to a plan: it has them, or what is made again */
  sw_stacks stacks;
  bool *left_out;    /* by stack */
  bool *put_again;   /* by stack: it is, and none inside its loops */
  int32_t *first_of; /* by op: the first stack of what it makes; -1: none */
  int32_t *next_of;  /* by stack: the next of the same op; -1: none */
  int32_t *read_in;  /* by frame: a stack put again that the loop reads; -1: none */
  bool *may;         /* by op: it may run again */
  sw_id *alike;
  bool *had;    /* by value of the earlier loop: the later one has it before what is made again */
  bool *needed; /* by value: likewise, to make it again */
  bool *again;  /* by op */
  sw_id place;  /* the op of the later loop before which copies stand */
  SW_ARRAY(sw_entry) entries;
  int32_t *seen; /* by op: so many entries */
  bool *is_gone; /* by op: it was there for a stack alone */
} chooser;

/* The op of the frame that the op is, or stands in. */
static sw_id op_of_frame(const sw_graph *g, sw_id op, sw_id frame) {
  while (g->ops[op].frame != frame) op = g->frames[g->ops[op].frame].opened_by;
  return op;
}

static bool is_of_pair(const sw_stack *a, const sw_stack *b) {
  return a->forward == b->forward && a->backward == b->backward;
}

static void list_put_again(chooser *c) {
  memcpy(c->put_again, c->left_out, (size_t)c->stacks.n * sizeof *c->put_again);
  for (int32_t i = 0; i < c->stacks.n; i++)
    if (c->left_out[i] && c->stacks.at[i].through >= 0) c->put_again[c->stacks.at[i].through] = false;
  memset(c->is_gone, 0, (size_t)c->g->n_ops * sizeof *c->is_gone);
  for (int32_t i = 0; i < c->stacks.n; i++)
    for (int k = 0; c->left_out[i] && k < c->stacks.at[i].n_ops; k++) c->is_gone[c->stacks.at[i].ops[k]] = true;
}

/* Where copies for the stacks that are left out between two loops stand, and what is had there. */
static void find_place(chooser *c, const sw_stack *pair) {
  const sw_graph *g = c->g;
  c->place = g->frames[pair->backward].end;
  for (int32_t i = 0; i < c->stacks.n; i++) {
    const sw_value *v = &g->values[c->stacks.at[i].back];
    for (int32_t u = 0; u < v->n_uses && c->put_again[i] && is_of_pair(&c->stacks.at[i], pair); u++)
      c->place = sw_min_i32(c->place, op_of_frame(g, v->uses[u].op, pair->backward));
  }
  memset(c->had, 0, (size_t)g->n_values * sizeof *c->had);
  memset(c->needed, 0, (size_t)g->n_values * sizeof *c->needed);
  memset(c->again, 0, (size_t)g->n_ops * sizeof *c->again);
  for (sw_id i = g->frames[pair->backward].begin; i < c->place; i++)
    for (int k = 0; k < g->ops[i].n_results && g->ops[i].frame == pair->backward; k++)
      if (c->alike[g->ops[i].results[k]] >= 0) c->had[c->alike[g->ops[i].results[k]]] = true;
}

static bool is_needed_of(const chooser *c, sw_id op) {
  bool any = false;
  for (int k = 0; k < c->g->ops[op].n_results; k++)
    any = any || (c->needed[c->g->ops[op].results[k]] && !c->had[c->g->ops[op].results[k]]);
  return any;
}

/* A loop or choice that ends at op `last`, with its joins: as a whole. Returns its first op; -1: it cannot run again.
 */
static sw_id need_whole(chooser *c, sw_id last) {
  const sw_graph *g = c->g;
  const sw_id inside = g->ops[g->values[g->ops[last].operands[0]].def].frame, first = g->frames[inside].opened_by;
  bool any = false;
  for (sw_id i = last; g->ops[i].code == SW_OP_JOIN; i--) any = any || is_needed_of(c, i);
  for (sw_id i = last; any && i >= first; i--) {
    const sw_op *op = &g->ops[i];
    if (c->is_gone[i]) continue;
    if (op->code == SW_OP_RNG || op->code == SW_OP_OPAQUE || (sw_op_is_heavy(op) && !c->may[i])) return -1;
    c->again[i] = true;
    for (int k = 0; k < op->n_operands; k++)
      if (g->values[op->operands[k]].def < first) c->needed[op->operands[k]] = true;
  }
  return first;
}

/* What enters the earlier loop, into the later one: where they stand in others, as those have it. */
static bool can_enter(const chooser *c, const sw_stack *pair, sw_id value) {
  const sw_frame *b = &c->g->frames[pair->backward];
  bool any = b->parent == c->g->frames[pair->forward].parent;
  for (sw_id i = any ? b->begin : c->g->frames[b->parent].begin; i < b->begin && !any; i++)
    for (int k = 0; k < c->g->ops[i].n_results && c->g->ops[i].frame == b->parent; k++)
      any = any || c->alike[c->g->ops[i].results[k]] == value;
  return any;
}

/* Mark what is to be made again for what is needed; false: it cannot be. */
static bool close_over(chooser *c, const sw_stack *pair) {
  const sw_graph *g = c->g;
  for (sw_id i = g->frames[pair->forward].end; i-- > g->frames[pair->forward].begin + 1;) {
    const sw_op *op = &g->ops[i];
    if (op->code == SW_OP_JOIN) {
      const sw_id first = need_whole(c, i);
      if (first < 0 || (c->offers && c->again[first])) return false;
      i = first;
      continue;
    }
    if (!is_needed_of(c, i)) continue;
    const bool enters = enters_as_it_is(g, op);
    if (enters ? !can_enter(c, pair, op->operands[0]) : !sw_op_is_of_operands(op)) return false;
    if (sw_op_is_heavy(op) && !c->may[i]) return false;
    c->again[i] = true;
    for (int k = 0; k < op->n_operands && !enters; k++) c->needed[op->operands[k]] = true;
  }
  return true;
}

/* Can the stack be left out, beside those that are? Where a plan chooses, what is taken from it stands before copies.
 */
static bool can_leave_out(chooser *c, const sw_stack *s) {
  find_place(c, s);
  c->needed[s->made] = true;
  return (!c->offers || c->g->values[s->back].def < c->place) && close_over(c, s);
}

/* As many as can be at once: those that cannot are kept, which others may then be made of. */
static sw_rc choose_stacks(chooser *c, sw_arena *arena, sw_diag *d) {
  for (int32_t i = 0; i < c->stacks.n; i++) {
    const sw_op *op = sw_value_maker(c->g, c->stacks.at[i].made);
    c->left_out[i] = op && op->code != SW_OP_ENTER && c->may[op - c->g->ops];
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (int32_t i = c->stacks.n; i-- > 0;)
      if (c->left_out[i] && c->stacks.at[i].through >= 0) c->left_out[c->stacks.at[i].through] = true;
    list_put_again(c);
    SW_TRY(sw_stacks_alike(c->g, &c->stacks, c->left_out, arena, &c->alike, d));
    for (int32_t i = 0; i < c->stacks.n && !changed; i++) {
      if (!c->put_again[i] || can_leave_out(c, &c->stacks.at[i])) continue;
      c->left_out[i] = false;
      changed = true;
    }
  }
  return SW_OK;
}

/* Those put again, by the op that makes what they hold and by the loop that reads it. */
static sw_rc index_stacks(chooser *c, sw_arena *arena, sw_diag *d) {
  SW_ARENA_NEW(c->first_of, arena, c->g->n_ops + 1, d);
  SW_ARENA_NEW(c->next_of, arena, c->stacks.n + 1, d);
  SW_ARENA_NEW(c->read_in, arena, c->g->n_frames + 1, d);
  for (sw_id i = 0; i < c->g->n_ops; i++) c->first_of[i] = -1;
  for (sw_id f = 0; f < c->g->n_frames; f++) c->read_in[f] = -1;
  for (int32_t i = c->stacks.n; i-- > 0;) {
    const sw_id op = c->g->values[c->stacks.at[i].made].def;
    if (!c->put_again[i]) continue;
    c->next_of[i] = c->first_of[op];
    c->first_of[op] = i;
    c->read_in[c->stacks.at[i].backward] = i;
  }
  return SW_OK;
}

static sw_rc put_of_op(chooser *c, sw_id op, sw_diag *d) {
  const int32_t instance = c->seen[op]++;
  const sw_entry e = {.op = op, .instance = instance, .optional = c->offers && (instance || c->is_gone[op])};
  return sw_array_push(&c->entries, e, d);
}

/* What is read of an offered stack from here on. */
static sw_rc put_choice(chooser *c, const sw_stack *s, const sw_stack *pair, sw_diag *d) {
  const sw_entry e = {.op = c->g->values[s->back].def, .source = SW_SOURCE_EITHER, .value = s->back};
  return is_of_pair(s, pair) ? sw_array_push(&c->entries, e, d) : SW_OK;
}

/* Of those that the later loop has made before. */
static sw_rc put_first_choices(chooser *c, const sw_stack *pair, sw_diag *d) {
  for (int32_t i = 0; c->offers && i < c->stacks.n; i++)
    if (c->put_again[i] && c->had[c->stacks.at[i].made]) SW_TRY(put_choice(c, &c->stacks.at[i], pair, d));
  return SW_OK;
}

static sw_rc put_choices_behind(chooser *c, const sw_stack *pair, sw_id op, sw_diag *d) {
  for (int32_t i = c->offers ? c->first_of[op] : -1; i >= 0; i = c->next_of[i])
    SW_TRY(put_choice(c, &c->stacks.at[i], pair, d));
  return SW_OK;
}

/* What enters stands first in a loop. */
static sw_rc put_again_before(chooser *c, const sw_stack *pair, bool entering, sw_diag *d) {
  if (!entering) SW_TRY(put_first_choices(c, pair, d));
  for (sw_id i = c->g->frames[pair->forward].begin; i < c->g->frames[pair->forward].end; i++) {
    const bool enters = c->g->ops[i].code == SW_OP_ENTER && c->g->ops[i].frame == pair->forward;
    if (!c->again[i] || enters != entering) continue;
    SW_TRY(put_of_op(c, i, d));
    if (!entering) SW_TRY(put_choices_behind(c, pair, i, d));
  }
  return SW_OK;
}

/* The pair of loops whose later one is the frame, or stands around it: the innermost. */
static const sw_stack *pair_of(const chooser *c, sw_id frame) {
  while (frame >= 0 && c->read_in[frame] < 0) frame = c->g->frames[frame].parent;
  return frame < 0 ? NULL : &c->stacks.at[c->read_in[frame]];
}

/* What is to be made again is that for the stacks of the pair from here on. */
static void turn_to(chooser *c, const sw_stack *pair) {
  find_place(c, pair);
  for (int32_t k = 0; k < c->stacks.n; k++)
    if (c->put_again[k] && is_of_pair(&c->stacks.at[k], pair)) c->needed[c->stacks.at[k].made] = true;
  (void)close_over(c, pair);
}

/* Where a loop begins it is read by the one around it. */
static sw_rc put_all_ops(chooser *c, sw_diag *d) {
  const sw_graph *g = c->g;
  const sw_stack *pair = NULL;
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_stack *around = pair_of(c, g->ops[i].frame);
    const sw_id begun = sw_frame_begun_by(g, i);
    const sw_stack *here = begun < 0 ? around : pair_of(c, begun);
    if (around && (!pair || !is_of_pair(around, pair))) turn_to(c, around);
    if (around && i == c->place) SW_TRY(put_again_before(c, around, false, d));
    pair = around;
    if (here && (!pair || !is_of_pair(here, pair))) turn_to(c, pair = here);
    if (c->offers || !c->is_gone[i]) SW_TRY(put_of_op(c, i, d));
    if (here && i == g->frames[here->backward].begin) SW_TRY(put_again_before(c, here, true, d));
  }
  return SW_OK;
}

static sw_rc open_chooser(chooser *c, sw_recompute how, sw_arena *mem, sw_diag *d) {
  const sw_graph *g = c->g;
  bool *large;
  SW_TRY(sw_stacks_find(g, mem, &c->stacks, d));
  SW_ARENA_NEW_EACH(mem, c->stacks.n + 1, d, c->left_out, c->put_again);
  SW_ARENA_NEW(c->may, mem, g->n_ops + 1, d);
  SW_ARENA_NEW_EACH(mem, g->n_values + 1, d, c->had, c->needed);
  SW_ARENA_NEW_EACH(mem, g->n_ops + 1, d, c->again, c->is_gone, c->seen);
  SW_ARENA_NEW(large, mem, g->n_values + 1, d);
  for (sw_id v = 0; v < g->n_values; v++) large[v] = g->values[v].def >= 0;
  for (int32_t i = 0; i < c->stacks.n; i++) { /* a body is a layer */
    const sw_frame *f = &g->frames[c->stacks.at[i].forward];
    const sw_id first = f->begin + 1;
    const sw_layers body = {1, &first, &f->end};
    SW_TRY(sw_policy_apply(g, how, g->frames[c->stacks.at[i].backward].begin, &body, large, c->may, d));
  }
  SW_TRY(choose_stacks(c, mem, d));
  return index_stacks(c, mem, d);
}

sw_rc sw_stacks_spec(const sw_graph *g, sw_recompute how, sw_arena *arena, sw_schedule_spec *out, sw_diag *d) {
  chooser c = {.g = g, .offers = how == SW_RECOMPUTE_SEARCH};
  sw_arena mem = {0};
  sw_rc rc = open_chooser(&c, how, &mem, d);
  if (!rc) rc = put_all_ops(&c, d);
  *out = (sw_schedule_spec){.n_entries = (int32_t)c.entries.n, .n_stages = 1, .micro_batches = 1};
  if (!rc && !(out->entries = sw_arena_copy(arena, c.entries.at, c.entries.n, sizeof *c.entries.at, d)))
    rc = SW_E_RESOURCE;
  sw_array_free(&c.entries);
  sw_arena_deinit(&mem);
  return rc;
}
