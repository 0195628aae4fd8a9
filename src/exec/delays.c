/* From a timeline to what streams do: an item for each of its entries, with the ops of the device's program that it is
 * of, and one in front that has what becomes of arguments beforehand. The item of a WHILE has the whole loop, whose
 * items are a list of their own; between lists those wait that have them in theirs. What an item waits for is
 *
 *   - items whose ops make what its own read;
 *   - of a collective, the kernel before that which runs, or is the next, when the timeline starts it: so it is issued
 *     no sooner;
 *   - of a kernel, collectives that the timeline has it wait for, and, where it takes all streams, what runs on these;
 *   - behind a test, or in a branch, what says whether it runs.
 */
#include "exec/delays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/checked.h"

typedef struct placed {
  double start_s, end_s;
  int32_t list, item;
} placed;

typedef struct wait {
  int32_t item, on;
} wait;

typedef struct delaying {
  const sw_plan *p;
  const sw_spmd *s;
  const sw_breakdown *a;
  const sw_timeline *t;
  sw_arena *mem;
  int32_t front;      /* the item before all others */
  int32_t *of_op;     /* by op of the model: its item */
  int32_t *first_hop; /* by reshard */
  int32_t *item;      /* by op of the program; -1: not known yet */
  bool *is_driven;    /* likewise: it begins a loop, or ends a trip, and is in none */
  int32_t n_lists;    /* that around all, and one by frame of the model, of which those of loops are used */
  int32_t *list;      /* by item */
  int32_t *loop_of;   /* by op of the model: of a WHILE its list; others: 0 */
  int32_t *loop;      /* by list that is used, but the first: the item of its WHILE */
  sw_id *frame;       /* likewise: in the program */
  double *begins_s;   /* by list */
  int32_t *place;     /* by item: in the order of its stream */
  int n[SW_MAX_STREAMS];
  placed *order[SW_MAX_STREAMS];  /* by list, then time */
  int32_t *opens[SW_MAX_STREAMS]; /* by list, and behind the last: where it begins there */
  SW_ARRAY(wait) waits;
} delaying;

static int stream_of_item(const delaying *x, int32_t item) {
  return item == x->front ? SW_STREAM_WORK : x->t->at[item].stream;
}

/* --- loops -------------------------------------------------------------------------------------------------------- */

/* The list of what the timeline has: of an op, or of where a reshard's value is. */
static int32_t list_of_timed(const delaying *x, const sw_timed *e) {
  const sw_graph *g = x->p->job.graph;
  return 1 +
         sw_loop_around(g, e->reshard < 0 ? g->ops[e->op].frame : sw_value_frame(g, x->a->reshards[e->reshard].value));
}

static void find_loops(delaying *x) {
  const sw_graph *g = x->s->program, *model = x->p->job.graph;
  for (int32_t l = 0; l < x->n_lists; l++) x->begins_s[l] = HUGE_VAL;
  for (int32_t i = 0; i < x->t->n; i++) {
    const int32_t l = x->list[i] = list_of_timed(x, &x->t->at[i]);
    x->begins_s[l] = fmin(x->begins_s[l], x->t->at[i].start_s);
  }
  for (sw_id f = 0; f < model->n_frames; f++) {
    if (model->frames[f].kind != SW_OP_WHILE) continue;
    x->loop_of[model->frames[f].opened_by] = f + 1;
    x->loop[f + 1] = x->of_op[model->frames[f].opened_by];
  }
  for (sw_id f = 0; f < g->n_frames; f++) {
    if (g->frames[f].kind != SW_OP_WHILE) continue;
    x->frame[x->loop_of[x->s->origin[g->frames[f].opened_by].op]] = f;
    x->is_driven[g->frames[f].end] = true;
    for (sw_id id = g->frames[f].begin + 1; g->ops[id].code == SW_OP_ENTER; id++) x->is_driven[id] = true;
  }
}

/* --- which item an op of the program is of ------------------------------------------------------------------------ */

static bool is_hop(const delaying *x, sw_id op, sw_origin of) {
  const sw_origin *o = &x->s->origin[op];
  return o->op == of.op && o->value == of.value && x->s->program->ops[op].collective;
}

static bool is_for(const sw_plan_reshard *r, sw_id op) {
  bool found = r->leg == 0;
  for (int32_t u = 0; u < r->n_uses; u++) found = found || r->uses[u].op == op || (op < 0 && r->uses[u].op < 0);
  return found;
}

/* The hops of the reshard, one after the other from the op on, as ops of the program. False: they are others. */
static bool find_hops(const delaying *x, const sw_plan_reshard *r, sw_id op, sw_id *hops) {
  const sw_spmd *s = x->s;
  const sw_origin of = s->origin[op];
  int n = 0;
  for (; n < r->route->n_steps && op < s->program->n_ops; op++) {
    if (s->origin[op].op != of.op || s->origin[op].value != of.value) return false;
    if (!is_hop(x, op, of)) continue;
    const sw_layout *made = &s->layout[s->program->ops[op].results[0]];
    if (!made->is_block || !sw_sharding_equal(&made->sharding, &r->route->step[n].after)) return false;
    hops[n++] = op;
  }
  return n > 0 && n == r->route->n_steps;
}

/* A conversion in front of a hop is the hop's. */
static void take_hop(delaying *x, sw_id op, int32_t item) {
  const sw_graph *g = x->s->program;
  const sw_id def = g->ops[op].n_operands ? g->values[g->ops[op].operands[0]].def : -1;
  x->item[op] = item;
  if (def >= 0 && x->item[def] < 0 && !g->ops[def].collective) x->item[def] = item;
}

static sw_rc find_items_of_hops(delaying *x, sw_diag *d) {
  const sw_graph *g = x->s->program;
  bool *taken;
  SW_ARENA_NEW(taken, x->mem, x->a->n_reshards + 1, d);
  for (sw_id id = 0; id < g->n_ops; id++) {
    const sw_origin *o = &x->s->origin[id];
    sw_id hops[SW_MAX_ROUTE_STEPS], found[SW_MAX_ROUTE_STEPS] = {0};
    int32_t best = -1;
    if (o->value < 0 || !g->ops[id].collective || x->item[id] >= 0) continue;
    for (int32_t r = 0; r < x->a->n_reshards; r++) {
      const sw_plan_reshard *of = &x->a->reshards[r];
      if (taken[r] || of->value != o->value || !is_for(of, o->op) || !find_hops(x, of, id, hops)) continue;
      if (best >= 0 && x->a->reshards[best].route->n_steps >= of->route->n_steps) continue;
      best = r;
      memcpy(found, hops, sizeof found);
    }
    for (int k = 0; best >= 0 && k < x->a->reshards[best].route->n_steps; k++)
      take_hop(x, found[k], x->first_hop[best] + k);
    if (best >= 0) taken[best] = true;
  }
  return SW_OK;
}

/* What says whether the op runs; the front: it always does. */
static int32_t gate_of(const delaying *x, sw_id op) {
  const sw_graph *g = x->s->program;
  const sw_id gate = sw_frame_gate(g, g->ops[op].frame, op);
  return gate >= 0 ? x->item[gate] : g->ops[op].frame < 0 ? x->front : x->item[g->frames[g->ops[op].frame].begin + 1];
}

/* What no item is said of is done with what it works on, where that runs whenever it does, else with what says whether
 * it does. */
static sw_rc find_items(delaying *x, sw_diag *d) {
  const sw_graph *g = x->s->program;
  for (sw_id id = 0; id < g->n_ops; id++) x->item[id] = x->s->origin[id].value < 0 ? x->of_op[x->s->origin[id].op] : -1;
  find_loops(x);
  SW_TRY(find_items_of_hops(x, d));
  for (sw_id id = 0; id < g->n_ops; id++) {
    const sw_op *op = &g->ops[id];
    const sw_id def = op->n_operands ? g->values[op->operands[0]].def : -1;
    if (x->item[id] >= 0) continue;
    if (op->collective && !(sw_coll_flags(op->collective->op) & SW_COLL_LOCAL))
      return SW_BUG(d, "collective '%s' is none of the timeline's", op->name);
    x->item[id] = def >= 0 && gate_of(x, def) == gate_of(x, id) ? x->item[def] : gate_of(x, id);
  }
  return SW_OK;
}

/* --- in which order ----------------------------------------------------------------------------------------------- */

static int by_placed(const void *a, const void *b) {
  const placed *x = a, *y = b;
  if (x->list != y->list) return x->list < y->list ? -1 : 1;
  if (x->start_s != y->start_s) return x->start_s < y->start_s ? -1 : 1;
  if (x->end_s != y->end_s) return x->end_s < y->end_s ? -1 : 1;
  return (x->item > y->item) - (x->item < y->item);
}

/* A loop takes all streams from where its first trip begins to its END. */
static double placed_start(const delaying *x, int32_t item) {
  if (item == x->front) return -1;
  const sw_timed *e = &x->t->at[item];
  return e->reshard < 0 && x->loop_of[e->op] ? x->begins_s[x->loop_of[e->op]] : e->start_s;
}

static double placed_end(const delaying *x, int32_t item) {
  if (item == x->front) return -1;
  const sw_timed *e = &x->t->at[item];
  const int32_t loop = e->reshard < 0 ? x->loop_of[e->op] : 0;
  return loop ? x->t->at[x->of_op[x->p->job.graph->frames[loop - 1].closed_by]].start_s : e->end_s;
}

static sw_rc order_items(delaying *x, sw_diag *d) {
  for (int32_t i = 0; i <= x->front; i++) x->n[stream_of_item(x, i)]++;
  for (int s = 0; s < SW_MAX_STREAMS; s++) {
    SW_ARENA_NEW(x->order[s], x->mem, x->n[s] + 1, d);
    SW_ARENA_NEW(x->opens[s], x->mem, x->n_lists + 1, d);
    x->n[s] = 0;
  }
  for (int32_t i = 0; i <= x->front; i++) {
    const int s = stream_of_item(x, i);
    x->order[s][x->n[s]++] = (placed){placed_start(x, i), placed_end(x, i), x->list[i], i};
    for (int32_t l = x->list[i] + 1; l <= x->n_lists; l++) x->opens[s][l]++;
  }
  for (int s = 0; s < SW_MAX_STREAMS; s++) {
    qsort(x->order[s], (size_t)x->n[s], sizeof *x->order[s], by_placed);
    for (int32_t k = 0; k < x->n[s]; k++) x->place[x->order[s][k].item] = k;
  }
  return SW_OK;
}

/* The place in a stream behind those of a list that have ended at the time. */
static int32_t ended_at(const delaying *x, int stream, int32_t list, double at_s) {
  int32_t first = x->opens[stream][list], last = x->opens[stream][list + 1];
  while (first < last) {
    const int32_t middle = first + (last - first) / 2;
    if (x->order[stream][middle].end_s <= at_s)
      first = middle + 1;
    else
      last = middle;
  }
  return first;
}

/* --- what they wait for ------------------------------------------------------------------------------------------- */

static int depth_of(const delaying *x, int32_t list) {
  int n = 0;
  for (; list; list = x->list[x->loop[list]]) n++;
  return n;
}

static sw_rc have_wait(delaying *x, int32_t item, int32_t on, sw_diag *d) {
  while (x->list[item] != x->list[on]) {
    const bool deeper = depth_of(x, x->list[item]) >= depth_of(x, x->list[on]);
    *(deeper ? &item : &on) = x->loop[x->list[deeper ? item : on]];
  }
  const bool is_before = stream_of_item(x, item) == stream_of_item(x, on) && x->place[on] <= x->place[item];
  return is_before ? SW_OK : sw_array_push(&x->waits, ((wait){item, on}), d);
}

static sw_rc wait_for_operands(delaying *x, sw_diag *d) {
  const sw_graph *g = x->s->program;
  for (sw_id id = 0; id < g->n_ops; id++)
    for (int i = 0; i < g->ops[id].n_operands; i++) {
      const sw_id def = g->values[g->ops[id].operands[i]].def;
      if (def >= 0) SW_TRY(have_wait(x, x->item[id], x->item[def], d));
    }
  for (sw_id id = 0; id < g->n_ops; id++)
    if (g->ops[id].frame >= 0) SW_TRY(have_wait(x, x->item[id], gate_of(x, id), d));
  return SW_OK;
}

static sw_rc wait_to_be_issued(delaying *x, int32_t item, sw_diag *d) {
  const sw_timed *e = &x->t->at[item];
  const int32_t list = x->list[item];
  int32_t n = ended_at(x, SW_STREAM_WORK, list, e->start_s);
  if (e->needed >= 0 && stream_of_item(x, e->needed) == SW_STREAM_WORK) n = sw_min_i32(n, x->place[e->needed]);
  if (n > x->opens[SW_STREAM_WORK][list]) SW_TRY(have_wait(x, item, x->order[SW_STREAM_WORK][n - 1].item, d));
  return e->needed >= 0 ? have_wait(x, e->needed, item, d) : SW_OK;
}

static sw_rc wait_for_streams(delaying *x, int32_t item, sw_diag *d) {
  const sw_timed *e = &x->t->at[item];
  if (e->reshard >= 0 || (x->a->op[e->op].move_s <= 0 && !x->loop_of[e->op])) return SW_OK;
  for (int s = SW_STREAM_LEVEL; s < SW_MAX_STREAMS; s++) {
    const int32_t n = ended_at(x, s, x->list[item], placed_start(x, item));
    if (n > x->opens[s][x->list[item]]) SW_TRY(have_wait(x, item, x->order[s][n - 1].item, d));
  }
  return SW_OK;
}

static sw_rc find_waits(delaying *x, sw_diag *d) {
  SW_TRY(wait_for_operands(x, d));
  for (int32_t i = 0; i < x->t->n; i++)
    SW_TRY((stream_of_item(x, i) == SW_STREAM_WORK ? wait_for_streams : wait_to_be_issued)(x, i, d));
  return SW_OK;
}

/* --- items -------------------------------------------------------------------------------------------------------- */

static void describe_item(const delaying *x, const sw_timed *e, double times, sw_delayed_item *out) {
  const sw_graph *g = x->p->job.graph;
  const sw_plan_reshard *r = e->reshard < 0 ? NULL : &x->a->reshards[e->reshard];
  out->seconds = (e->end_s - e->start_s) * times;
  if (!r) out->launch_s = x->a->op[e->op].launch_s * times;
  if (!r) out->loop = x->loop_of[e->op];
  if (e->end_s <= e->start_s) return;
  const bool moves = r && e->hop >= 0 && e->hop < r->route->n_steps;
  out->what = !r ? sw_opcode_text(g->ops[e->op].code) : moves ? sw_coll_text(r->route->step[e->hop].coll.op) : "copy";
  out->of = r ? g->values[r->value].name : g->ops[e->op].name;
}

static sw_rc write_items(delaying *x, sw_delayed_item *items, double times, sw_arena *arena, sw_diag *d) {
  const sw_graph *g = x->s->program;
  sw_id *ops;
  int32_t *waits, n_ops = 0, n_waits = 0;
  SW_ARENA_NEW(ops, arena, g->n_ops + 1, d);
  SW_ARENA_NEW(waits, arena, x->waits.n + 1, d);
  for (sw_id id = 0; id < g->n_ops; id++) items[x->item[id]].n_ops += !x->is_driven[id];
  for (size_t i = 0; i < x->waits.n; i++) items[x->waits.at[i].item].n_waits++;
  for (int32_t i = 0; i <= x->front; i++) {
    sw_delayed_item *it = &items[i];
    const sw_timed *e = i < x->front ? &x->t->at[i] : NULL;
    it->ops = ops + n_ops;
    it->waits = waits + n_waits;
    n_ops += it->n_ops;
    n_waits += it->n_waits;
    it->n_ops = it->n_waits = 0;
    if (e) describe_item(x, e, times, it);
  }
  for (sw_id id = 0; id < g->n_ops; id++) {
    sw_delayed_item *it = &items[x->item[id]];
    if (x->is_driven[id]) continue;
    ops[(it->ops - ops) + it->n_ops++] = id;
  }
  for (size_t i = 0; i < x->waits.n; i++) {
    sw_delayed_item *it = &items[x->waits.at[i].item];
    waits[(it->waits - waits) + it->n_waits++] = x->waits.at[i].on;
  }
  return SW_OK;
}

/* Some order of all streams' items has each behind what it waits for, so devices do not wait for ever. */
static sw_rc check_order(const delaying *x, int32_t list, const sw_delayed_item *items, sw_diag *d) {
  int32_t next[SW_MAX_STREAMS], left = 0;
  bool *ended, more = true;
  SW_ARENA_NEW(ended, x->mem, x->front + 1, d);
  for (int s = 0; s < SW_MAX_STREAMS; s++) {
    next[s] = x->opens[s][list];
    left += x->opens[s][list + 1] - next[s];
  }
  while (more) {
    more = false;
    for (int s = 0; s < SW_MAX_STREAMS; s++) {
      bool can = next[s] < x->opens[s][list + 1];
      const int32_t id = can ? x->order[s][next[s]].item : 0;
      for (int32_t i = 0; i < items[id].n_waits && can; i++) can = ended[items[id].waits[i]];
      if (!can) continue;
      ended[id] = more = true;
      next[s]++;
      left--;
    }
  }
  return left ? SW_BUG(d, "the timeline's order is none of the program's") : SW_OK;
}

static sw_rc write_lists(const delaying *x, sw_arena *arena, sw_exec_delays *out, sw_diag *d) {
  sw_delayed_list *lists;
  SW_ARENA_NEW(lists, arena, x->n_lists, d);
  for (int32_t l = 0; l < x->n_lists; l++) {
    lists[l].frame = l ? x->frame[l] : -1;
    SW_TRY(check_order(x, l, out->items, d));
  }
  for (int s = 0; s < SW_MAX_STREAMS; s++) {
    int32_t *at;
    SW_ARENA_NEW(at, arena, x->n[s] + 1, d);
    for (int32_t k = 0; k < x->n[s]; k++) at[k] = x->order[s][k].item;
    out->has[s] = x->n[s] > 0;
    for (int32_t l = 0; l < x->n_lists; l++) {
      lists[l].at[s] = at + x->opens[s][l];
      lists[l].n_at[s] = x->opens[s][l + 1] - x->opens[s][l];
    }
  }
  out->lists = lists;
  return SW_OK;
}

static sw_rc find_delays(delaying *x, double step_s, sw_arena *arena, sw_exec_delays *out, sw_diag *d) {
  sw_delayed_item *items;
  SW_ARENA_NEW(x->of_op, x->mem, x->s->model->n_ops + 1, d);
  SW_ARENA_NEW(x->first_hop, x->mem, x->a->n_reshards + 1, d);
  SW_ARENA_NEW_EACH(x->mem, x->s->program->n_ops + 1, d, x->item, x->is_driven);
  SW_ARENA_NEW(x->loop_of, x->mem, x->s->model->n_ops + 1, d);
  SW_ARENA_NEW(x->list, x->mem, x->front + 1, d);
  SW_ARENA_NEW_EACH(x->mem, x->n_lists, d, x->loop, x->frame, x->begins_s);
  SW_ARENA_NEW(x->place, x->mem, x->front + 1, d);
  SW_ARENA_NEW(items, arena, x->front + 1, d);
  for (int32_t i = 0; i < x->t->n; i++) {
    const sw_timed *e = &x->t->at[i];
    if (e->reshard < 0) x->of_op[e->op] = i;
    if (e->reshard >= 0 && e->hop == 0) x->first_hop[e->reshard] = i;
  }
  SW_TRY(find_items(x, d));
  SW_TRY(order_items(x, d));
  SW_TRY(find_waits(x, d));
  *out = (sw_exec_delays){.step_s = step_s,
                          .times = step_s / x->t->sums.total_s,
                          .items = items,
                          .n_items = x->front + 1,
                          .n_lists = x->n_lists};
  SW_TRY(write_items(x, items, out->times, arena, d));
  return write_lists(x, arena, out, d);
}

sw_rc sw_delays_of_plan(const sw_plan *p, const sw_spmd *s, double step_s, sw_arena *arena, sw_exec_delays *out,
                        sw_diag *d) {
  sw_arena mem = {0};
  sw_breakdown a;
  SW_TRY(sw_plan_breakdown(p, arena, &a, d));
  if (!a.timeline || a.total_s <= 0)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "the plan has no timeline; expected one that is timed with --overlap compiler");
  if (p->passes) return SW_FAIL_INPUT(d, SW_NOWHERE, "a program with passes is not run by its timeline");
  delaying x = {.p = p,
                .s = s,
                .a = &a,
                .t = a.timeline,
                .mem = &mem,
                .front = a.timeline->n,
                .n_lists = 1 + p->job.graph->n_frames};
  const sw_rc rc = find_delays(&x, step_s, arena, out, d);
  sw_array_free(&x.waits);
  sw_arena_deinit(&mem);
  return rc;
}
