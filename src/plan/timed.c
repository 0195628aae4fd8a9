/* The timeline of a plan. Its entries stand in the order of the account: by step, reshards before the op that is the
 * first to need them, each hop by itself. What an op exchanges inside, and what breaks a kernel, is a kernel's.
 *
 * The body of a loop is a list of its own, which is laid out once: trips are alike, as nothing runs across the border
 * of a loop. In the list around it the loop is one kernel that takes all streams for all of its trips.
 *
 *   x=..  while { g=all_gather(w) y=dot(x, g) }  z=..      list 0: x  loop  z        list 1: g  y
 */
#include "plan/timed.h"

#include <assert.h>

#include "base/array.h"
#include "base/checked.h"

#define ALL_STREAMS ((uint8_t)((1u << SW_MAX_STREAMS) - 1))
#define WORK_BIT ((uint8_t)(1u << SW_STREAM_WORK))
#define LEVEL_BITS ((uint8_t)((1u << SW_STREAM_TO_HOST) - (1u << SW_STREAM_LEVEL)))
_Static_assert(SW_STREAM_TO_HOST == SW_STREAM_LEVEL + SW_LINK_TO_HOST &&
                   SW_STREAM_FROM_HOST == SW_STREAM_LEVEL + SW_LINK_FROM_HOST &&
                   SW_MAX_STREAMS == SW_STREAM_LEVEL + SW_MAX_LINKS,
               "a stream for each link");

/* `need` of a collective for which only what follows it waits. */
enum { MAY_WAIT = INT32_MAX };

typedef struct wait {
  int32_t entry, on;
} wait;

/* The ops of one loop, or all that is in none. */
typedef struct list {
  int32_t around, at; /* the list that it stands in, and its entry there; -1: of none */
  int32_t depth;
  int64_t trips; /* of the loop */
  SW_ARRAY(sw_timeline_entry) entries;
  SW_ARRAY(int32_t) items; /* by entry; -k: the loop of list k */
  SW_ARRAY(wait) waits;
  int32_t pending; /* collectives from here on are not needed by anything that stands yet */
  double start_s;  /* of the first trip, once the list around it is laid */
  sw_timeline_sums sums;
} list;

typedef struct item {
  sw_timed timed;
  int32_t list, at; /* its entry */
  bool early;       /* it works on arguments alone; a collective: on what is no input */
  bool of_inputs;   /* likewise, on inputs, too */
  bool scale;       /* a kernel that makes one number, or repeats it */
  int32_t late;     /* the item of a collective that may wait: it, or a kernel that follows it; -1: neither */
} item;

typedef struct timing {
  const sw_plan *p;
  const sw_breakdown *a;
  const sw_plan_borders *borders;
  sw_arena *arena, *mem;
  int32_t n_lists;
  list *lists; /* that around all, and one by frame, of which those of loops are used */
  SW_ARRAY(item) items;
  int32_t *of_op;         /* by op, once it is there */
  int32_t *made;          /* by value: the item that makes it as it is used, -1: none does */
  int32_t *first_port;    /* by op: of its operands in `taken` */
  int32_t *taken;         /* by operand: the item behind its reshards; -1: there are none */
  int32_t *begun, *ended; /* by reshard: its first and last collective; -1: none */
} timing;

/* --- lists -------------------------------------------------------------------------------------------------------- */

/* That of the innermost loop; 0: there is none. */
static int32_t list_of_frame(const sw_graph *g, sw_id frame) { return sw_loop_around(g, frame) + 1; }

static sw_rc add_entry(timing *t, int32_t of, const sw_timeline_entry *e, int32_t id, sw_diag *d) {
  list *l = &t->lists[of];
  SW_TRY(sw_array_push(&l->entries, *e, d));
  return sw_array_push(&l->items, id, d);
}

/* Collectives that nothing needs yet are needed by this entry. */
static void need_pending(list *l, int32_t entry) {
  for (; l->pending < entry; l->pending++)
    if (!(l->entries.at[l->pending].streams & WORK_BIT) && l->entries.at[l->pending].need != MAY_WAIT)
      l->entries.at[l->pending].need = entry;
}

/* The list of a loop that begins at the step has its place around, where what enters is needed. */
static sw_rc begin_list(timing *t, int32_t of, int32_t step, sw_diag *d) {
  const sw_graph *g = t->p->job.graph;
  list *l = &t->lists[of];
  if (of == 0 || l->around >= 0) return SW_OK;
  const sw_frame *f = &g->frames[of - 1];
  const int32_t around = list_of_frame(g, f->parent);
  SW_TRY(begin_list(t, around, step, d));
  l->around = around;
  l->at = (int32_t)t->lists[around].entries.n;
  l->depth = t->lists[around].depth + 1;
  l->trips = f->trips < 0 ? 1 : f->trips;
  const sw_timeline_entry e = {.streams = ALL_STREAMS, .step = step, .feeds = -1, .follows = -1};
  SW_TRY(add_entry(t, around, &e, -of, d));
  need_pending(&t->lists[around], l->at);
  return SW_OK;
}

static sw_rc add_item(timing *t, int32_t of, const sw_timeline_entry *e, const sw_timed *timed, int32_t *id,
                      sw_diag *d) {
  *id = (int32_t)t->items.n;
  SW_TRY(sw_array_push(&t->items,
                       ((item){.timed = *timed, .list = of, .at = (int32_t)t->lists[of].entries.n, .late = -1}), d));
  return add_entry(t, of, e, *id, d);
}

/* A collective that may wait does so at most for what does not follow it. */
static void need_late(timing *t, const item *on, int32_t of, int32_t at) {
  if (on->late < 0 || t->items.at[on->late].list != of) return;
  int32_t *need = &t->lists[of].entries.at[t->items.at[on->late].at].need;
  *need = sw_min_i32(*need, at);
}

/* Between lists the loops wait that the items are in. */
static sw_rc add_wait(timing *t, int32_t id, int32_t on, sw_diag *d) {
  if (on < 0) return SW_OK;
  int32_t x = t->items.at[id].list, y = t->items.at[on].list, at = t->items.at[id].at, behind = t->items.at[on].at;
  while (x != y) {
    const list *deeper = &t->lists[t->lists[x].depth >= t->lists[y].depth ? x : y];
    if (deeper == &t->lists[x])
      at = deeper->at, x = deeper->around;
    else
      behind = deeper->at, y = deeper->around;
  }
  if (t->items.at[id].late < 0) need_late(t, &t->items.at[on], x, at);
  const sw_timeline_entry *both = t->lists[x].entries.at;
  assert(both);
  const bool kernels = both[at].streams & both[behind].streams & WORK_BIT;
  return at == behind || kernels ? SW_OK : sw_array_push(&t->lists[x].waits, ((wait){at, behind}), d);
}

static sw_timeline_entry *entry_of(const timing *t, int32_t id) {
  assert(t->items.at);
  return &t->lists[t->items.at[id].list].entries.at[t->items.at[id].at];
}

/* --- entries ------------------------------------------------------------------------------------------------------ */

static int stream_of_hop(const timing *t, const sw_plan_reshard *r, const sw_hop *h) {
  const sw_machine *m = sw_value_machine(&t->p->job, r->value);
  if (!h->coll.src && (sw_coll_flags(h->coll.op) & SW_COLL_LOCAL)) return SW_STREAM_WORK;
  const int level = h->coll.src ? sw_machine_exchange_level(m, h->coll.src, h->coll.dst)
                                : sw_machine_level(m, h->coll.axes, h->coll.n_axes);
  return level < 0 ? SW_STREAM_WORK : SW_STREAM_LEVEL + level;
}

/* The bytes of a value that is not held beyond the step. */
static int64_t bytes_dying_at(const timing *t, sw_id value, int32_t step) {
  return t->borders->life[value].last <= step ? t->borders->bytes[value] : 0;
}

/* What a device holds more while the copy is there early: nothing, where it takes the place of what it is made of,
 * which nobody else needs. */
static int64_t early_bytes(const timing *t, const sw_plan_reshard *r) {
  const sw_type *type = &t->p->job.graph->values[r->value].type;
  int64_t bytes = sw_sharding_held_bytes(&r->to, type->dims, type->dtype);
  if (r->leg == 1 && bytes <= bytes_dying_at(t, r->value, r->steps.first)) return 0;
  for (int i = 0; i + 1 < r->route->n_steps; i++)
    bytes = sw_max_i64(bytes, sw_sharding_held_bytes(&r->route->step[i].after, type->dims, type->dtype) +
                                  sw_sharding_held_bytes(&r->to, type->dims, type->dtype));
  return bytes;
}

static int32_t *item_taken_by(const timing *t, sw_value_use use) {
  return use.op < 0 ? NULL : &t->taken[t->first_port[use.op] + use.index];
}

/* The item that makes what the op reads there; -1: none does. */
static int32_t item_read_by(const timing *t, sw_id op, int operand) {
  const int32_t taken = *item_taken_by(t, (sw_value_use){op, operand});
  return taken >= 0 ? taken : t->made[t->p->job.graph->ops[op].operands[operand]];
}

/* What works on arguments alone can run when a collective of its result is issued, however late the program has it, as
 * weights are scaled and converted before they are gathered. What feeds two goes with the first, and the `reader` that
 * goes with the other waits for it. *bytes: what is held early for the collective. */
static sw_rc feed_early(timing *t, int32_t collective, int32_t reader, int32_t on, int64_t *bytes, sw_diag *d) {
  const item *it = on < 0 ? NULL : &t->items.at[on], *of = &t->items.at[collective];
  if (!it || !it->early || it->timed.reshard >= 0 || it->list != of->list) return SW_OK;
  sw_timeline_entry *e = entry_of(t, on);
  if (e->feeds == of->at) return SW_OK;
  if (e->feeds >= 0) return sw_array_push(&t->lists[of->list].waits, ((wait){t->items.at[reader].at, it->at}), d);
  const sw_op *op = &t->p->job.graph->ops[it->timed.op];
  e->feeds = of->at;
  *bytes += t->borders->bytes[op->results[0]];
  for (int i = 0; i < op->n_operands; i++) SW_TRY(feed_early(t, collective, on, t->made[op->operands[i]], bytes, d));
  return SW_OK;
}

/* The memory of a reshard that is issued early: from its first collective on, with what feeds that. */
static sw_rc hold_early(timing *t, int32_t first, int32_t on, sw_diag *d) {
  sw_timeline_entry *e = entry_of(t, first);
  e->early_bytes = early_bytes(t, &t->a->reshards[t->items.at[first].timed.reshard]);
  return feed_early(t, first, first, on, &e->early_bytes, d);
}

/* That of one that may wait: what it is made of, until its last collective has ended, behind which ops follow. */
static void hold_late(timing *t, int32_t last) {
  const sw_plan_reshard *r = &t->a->reshards[t->items.at[last].timed.reshard];
  sw_timeline_entry *e = entry_of(t, last);
  e->late_bytes = t->borders->bytes[r->value];
  e->held = r->steps.first;
  t->items.at[last].late = last;
}

/* The last of the collectives that its hops begin with, and have all of; -1: there are others behind a local one. */
static int last_exchange(const timing *t, const sw_plan_reshard *r) {
  int n = 0, all = 0;
  while (n < r->route->n_steps && stream_of_hop(t, r, &r->route->step[n]) != SW_STREAM_WORK) n++;
  for (int k = 0; k < r->route->n_steps; k++) all += stream_of_hop(t, r, &r->route->step[k]) != SW_STREAM_WORK;
  return n == all ? n - 1 : -1;
}

static sw_rc add_hops(timing *t, int32_t i, int32_t of, int32_t step, int32_t *last, sw_diag *d) {
  const sw_plan_reshard *r = &t->a->reshards[i];
  const bool of_input = t->p->job.graph->values[r->value].kind == SW_VALUE_INPUT;
  assert(*last < 0 || t->items.at);
  bool of_weights = *last < 0 ? !of_input : t->items.at[*last].early && !t->items.at[*last].of_inputs;
  const bool early = (of_weights && *last >= 0) || early_bytes(t, r) > 0;
  const int late = early ? -1 : last_exchange(t, r);
  const sw_id gate = sw_frame_gate(t->p->job.graph, sw_value_frame(t->p->job.graph, r->value), r->steps.first);
  sw_timed timed = {.op = r->steps.first, .reshard = i, .repeats = sw_value_repeats(t->p->job.graph, r->value)};
  const double before_s = r->break_s - r->unpack_s; /* of a kernel that breaks */
  const int n_hops = r->route->n_steps;
  for (timed.hop = before_s > 0 ? -1 : 0; timed.hop < n_hops + (r->unpack_s > 0); timed.hop++) {
    const sw_hop *h = timed.hop < 0 || timed.hop == n_hops ? NULL : &r->route->step[timed.hop];
    int32_t id;
    timed.stream = h ? stream_of_hop(t, r, h) : SW_STREAM_WORK;
    const bool moves = timed.stream != SW_STREAM_WORK;
    const sw_timeline_entry e = {.streams = (uint8_t)(1u << timed.stream),
                                 .seconds = h               ? h->cost_s
                                            : timed.hop < 0 ? before_s
                                                            : r->unpack_s,
                                 .step = step,
                                 .need = moves && late >= 0 ? MAY_WAIT : 0,
                                 .early = moves && early,
                                 .feeds = -1,
                                 .follows = late >= 0 && timed.hop > late ? t->items.at[t->ended[i]].at : -1};
    SW_TRY(add_item(t, of, &e, &timed, &id, d));
    t->items.at[id].early = of_weights = of_weights && moves;
    if (e.follows >= 0) t->items.at[id].late = t->ended[i];
    if (!moves) need_pending(&t->lists[of], t->items.at[id].at);
    for (int32_t k = t->begun[i]; k >= 0 && k < id && early; k++) entry_of(t, k)->rest_s += e.seconds;
    if (moves && t->begun[i] < 0) {
      t->begun[i] = id;
      if (early) SW_TRY(hold_early(t, id, *last, d));
    }
    SW_TRY(add_wait(t, id, *last, d));
    if (moves && gate >= 0) SW_TRY(add_wait(t, id, t->of_op[gate], d));
    *last = id;
    if (moves) t->ended[i] = id;
    if (moves && timed.hop == late) hold_late(t, id);
  }
  return SW_OK;
}

/* From where its first use has the value so far, for all of its uses. */
static sw_rc add_reshard_at(timing *t, int32_t i, int32_t step, sw_diag *d) {
  const sw_plan_reshard *r = &t->a->reshards[i];
  const int32_t of = list_of_frame(t->p->job.graph, sw_value_frame(t->p->job.graph, r->value));
  const int32_t *before = r->leg == 2 ? item_taken_by(t, r->uses[0]) : NULL;
  int32_t last = before && *before >= 0 ? *before : t->made[r->value];
  t->begun[i] = t->ended[i] = -1;
  SW_TRY(add_hops(t, i, of, step, &last, d));
  if (r->leg == 0) t->made[r->value] = last;
  for (int32_t u = 0; r->leg && u < r->n_uses; u++)
    if (r->uses[u].op >= 0) *item_taken_by(t, r->uses[u]) = last;
  return SW_OK;
}

/* One number, or that repeated. */
static bool is_scale(const timing *t, const sw_op *op) {
  const int32_t of = op->code == SW_OP_BROADCAST ? t->made[op->operands[0]] : -1;
  const bool one = op->n_results == 1 && sw_type_elements(&t->p->job.graph->values[op->results[0]].type) == 1;
  return one || (of >= 0 && t->items.at[of].scale);
}

/* Does the op work on arguments alone; or may it wait with a collective, as it works on nothing else but that, them and
 * scales? */
static void find_kind(timing *t, sw_id id, item *it) {
  const sw_graph *g = t->p->job.graph;
  const sw_op *op = &g->ops[id];
  sw_timeline_entry *entries = t->lists[it->list].entries.at;
  int64_t bytes = 0;
  it->early = op->n_results == 1 && t->a->op[id].move_s <= 0;
  it->scale = is_scale(t, op);
  bool late = t->a->op[id].move_s <= 0;
  for (int i = 0; i < op->n_operands; i++) {
    const int32_t on = item_read_by(t, id, i);
    const item *of = on < 0 ? NULL : &t->items.at[on];
    const bool early = !of || of->early, scale = !early && of->scale && !it->scale;
    it->early = it->early && early;
    it->of_inputs = it->of_inputs || (of ? of->of_inputs : g->values[op->operands[i]].kind == SW_VALUE_INPUT);
    if (of && (early || scale)) bytes += bytes_dying_at(t, op->operands[i], id);
    if (scale) need_late(t, of, it->list, it->at);
    if (early || scale) continue;
    late = late && of->late >= 0 && of->list == it->list && (it->late < 0 || it->late == of->late);
    it->late = sw_max_i32(it->late, of->late);
  }
  if (!late) it->late = -1;
  if (it->late < 0) return;
  const item *of = &t->items.at[it->late];
  entries[it->at].follows = of->at;
  entries[of->at].late_bytes += bytes;
}

/* --- copies to the host and back -----------------------------------------------------------------------------------
 */

static bool is_copy_of_host(const timing *t, sw_id id) {
  return sw_strategy_host_s(&t->p->job, &t->p->job.graph->ops[id], &t->p->ops[id]) > 0;
}

/* The last step at which the device holds what goes to the host in any case. */
static int32_t held_until(const timing *t, sw_id id) {
  const sw_units units = sw_units_of(&t->p->job);
  const int32_t on = item_read_by(t, id, 0), reshard = on < 0 ? -1 : t->items.at[on].timed.reshard;
  const int32_t life =
      reshard >= 0 ? t->a->reshards[reshard].steps.last : t->borders->life[t->p->job.graph->ops[id].operands[0]].last;
  return sw_max_i32(life, sw_use_until(&units, (sw_value_use){id, 0}));
}

/* To the host as soon as the value is there, which is held until it has been copied; back in time for the next kernel,
 * and held from then on. */
static sw_rc add_host_copy(timing *t, sw_id id, int32_t of, sw_diag *d) {
  const sw_op *op = &t->p->job.graph->ops[id];
  const bool away = op->code == SW_OP_OFFLOAD;
  const int stream = away ? SW_STREAM_TO_HOST : SW_STREAM_FROM_HOST;
  const int64_t bytes = sw_strategy_host_bytes(t->p->job.graph, op, &t->p->ops[id]);
  const sw_timed timed = {.op = id, .reshard = -1, .hop = -1, .stream = stream, .repeats = op->repeats};
  const sw_timeline_entry e = {.streams = (uint8_t)(1u << stream),
                               .seconds = t->a->op[id].local_s,
                               .step = id,
                               .need = away ? MAY_WAIT : 0,
                               .early = !away,
                               .early_bytes = away ? 0 : bytes,
                               .late_bytes = away ? bytes : 0,
                               .held = away ? held_until(t, id) : id,
                               .feeds = -1,
                               .follows = -1};
  const sw_id gate = sw_frame_gate(t->p->job.graph, op->frame, id);
  int32_t added;
  SW_TRY(add_item(t, of, &e, &timed, &added, d));
  need_pending(&t->lists[of], t->items.at[added].at);
  SW_TRY(add_wait(t, added, item_read_by(t, id, 0), d));
  if (gate >= 0) SW_TRY(add_wait(t, added, t->of_op[gate], d));
  if (away) t->items.at[added].late = added;
  t->made[op->results[0]] = t->of_op[id] = added;
  return SW_OK;
}

static sw_rc add_timed_op(timing *t, sw_id id, int32_t of, sw_diag *d) {
  const sw_op *op = &t->p->job.graph->ops[id];
  const sw_op_cost *c = &t->a->op[id];
  if (is_copy_of_host(t, id)) return add_host_copy(t, id, of, d);
  const sw_timed timed = {.op = id, .reshard = -1, .hop = -1, .stream = SW_STREAM_WORK, .repeats = op->repeats};
  const sw_timeline_entry e = {.streams = (uint8_t)(c->move_s > 0 ? WORK_BIT | LEVEL_BITS : WORK_BIT),
                               .seconds = c->local_s - c->launch_s + c->move_s,
                               .launch_s = c->launch_s,
                               .step = id,
                               .feeds = -1,
                               .follows = -1};
  int32_t added;
  SW_TRY(add_item(t, of, &e, &timed, &added, d));
  need_pending(&t->lists[of], t->items.at[added].at);
  find_kind(t, id, &t->items.at[added]);
  t->of_op[id] = added;
  if (sw_op_is_on_host(t->p->job.graph, op)) { /* no kernel: what is behind it waits for copies, not for it */
    int32_t copied = -1;
    for (int i = 0; i < op->n_operands; i++)
      if (sw_value_is_on_host(t->p->job.graph, op->operands[i])) copied = sw_max_i32(copied, t->made[op->operands[i]]);
    t->made[op->results[0]] = copied;
    return SW_OK;
  }
  for (int i = 0; i < op->n_operands; i++) SW_TRY(add_wait(t, added, item_read_by(t, id, i), d));
  for (int i = 0; i < op->n_results; i++) t->made[op->results[i]] = added;
  return SW_OK;
}

/* The first from there on that does not go with a collective: no such one reads what is fetched. */
static int32_t kernel_that_stays(const list *l, int32_t at) {
  const sw_timeline_entry *e = l->entries.at;
  while (at < (int32_t)l->entries.n && (!(e[at].streams & WORK_BIT) || e[at].feeds >= 0 || e[at].follows >= 0)) at++;
  return at;
}

static sw_rc add_timed_steps(timing *t, sw_diag *d) {
  const sw_graph *g = t->p->job.graph;
  int32_t next = 0;
  for (sw_id step = 0; step <= g->n_ops; step++) {
    const int32_t of = step < g->n_ops ? list_of_frame(g, g->ops[step].frame) : 0;
    sw_id last = step; /* what enters is brought to where it does before the loop or choice */
    while (last < g->n_ops && g->ops[last].code == SW_OP_ENTER && g->ops[last + 1].code == SW_OP_ENTER) last++;
    for (; next < t->a->n_reshards && t->a->reshards[next].steps.first <= last; next++)
      SW_TRY(add_reshard_at(t, next, step, d));
    SW_TRY(begin_list(t, of, step, d));
    if (step < g->n_ops) SW_TRY(add_timed_op(t, step, of, d));
  }
  for (int32_t i = 0; i < t->n_lists; i++) {
    list *l = &t->lists[i];
    need_pending(l, (int32_t)l->entries.n);
    for (size_t k = 0; k < l->entries.n; k++) {
      sw_timeline_entry *e = &l->entries.at[k];
      e->need = sw_min_i32(e->need, (int32_t)l->entries.n);
      if (e->streams == 1u << SW_STREAM_FROM_HOST) e->need = kernel_that_stays(l, e->need);
    }
  }
  return SW_OK;
}

/* --- times -------------------------------------------------------------------------------------------------------- */

static sw_rc set_waits(list *l, sw_arena *mem, sw_diag *d) {
  int32_t *all, n = 0;
  SW_ARENA_NEW(all, mem, l->waits.n + 1, d);
  for (size_t i = 0; i < l->waits.n; i++) l->entries.at[l->waits.at[i].entry].n_waits++;
  for (size_t i = 0; i < l->entries.n; i++) {
    sw_timeline_entry *e = &l->entries.at[i];
    e->waits = all + n;
    n += e->n_waits;
    e->n_waits = 0;
  }
  for (size_t i = 0; i < l->waits.n; i++) {
    sw_timeline_entry *e = &l->entries.at[l->waits.at[i].entry];
    all[(e->waits - all) + e->n_waits++] = l->waits.at[i].on;
  }
  return SW_OK;
}

static void add_sums(sw_timeline_sums *to, const sw_timeline_sums *of, double times) {
  to->total_s += times * of->total_s;
  to->work_s += times * of->work_s;
  to->slowed_s += times * of->slowed_s;
  to->exposed_s += times * of->exposed_s;
  to->waited_s += times * of->waited_s;
}

/* Issues the list, and has items and loops follow their entries. */
static sw_rc issue_list(timing *t, list *l, int32_t n, int64_t *room, sw_diag *d) {
  int32_t *order, *items;
  SW_ARENA_NEW(order, t->mem, n + 1, d);
  if (!(items = sw_arena_copy(t->mem, l->items.at, (size_t)n, sizeof *items, d))) return SW_E_RESOURCE;
  SW_TRY(sw_timeline_issue(l->entries.at, n, room, order, d));
  for (int32_t i = 0; i < n; i++) {
    assert(l->items.at && t->items.at);
    const int32_t id = l->items.at[i] = items[order[i]];
    *(id < 0 ? &t->lists[-id].at : &t->items.at[id].at) = i;
  }
  return SW_OK;
}

/* Lists inside stand behind those around them, so that a loop's time is known before that of the list around. */
static sw_rc lay_list(timing *t, int32_t of, int64_t *room, sw_timeline_slot **slots, sw_diag *d) {
  list *l = &t->lists[of];
  const double contention = sw_machine_contention(t->p->job.machine);
  const int32_t n = (int32_t)l->entries.n;
  SW_TRY(set_waits(l, t->mem, d));
  SW_TRY(issue_list(t, l, n, room, d));
  SW_ARENA_NEW(slots[of], t->mem, n + 1, d);
  sw_timeline_sums sums;
  SW_TRY(sw_timeline_lay(l->entries.at, n, contention, slots[of], &sums, d));
  const double own_s = sums.total_s, loops_s = l->sums.total_s; /* of the loops inside, which count as kernels here */
  sums.work_s -= loops_s;
  sums.total_s -= loops_s;
  add_sums(&l->sums, &sums, 1);
  if (of) {
    add_sums(&t->lists[l->around].sums, &l->sums, (double)l->trips);
    t->lists[l->around].entries.at[l->at].seconds = own_s * (double)l->trips;
  }
  return SW_OK;
}

static sw_rc lay_lists(timing *t, sw_timeline_slot ***out, sw_diag *d) {
  const int32_t n_steps = t->a->n_steps;
  const sw_plan *p = t->p;
  const int64_t of_job = p->job.memory ? p->job.memory : sw_profile_memory_bytes(sw_machine_profile(p->job.machine));
  const bool said = p->capacity_bytes > 0 && p->capacity_bytes < INT64_MAX;
  const int64_t capacity = said ? p->capacity_bytes : of_job;
  int64_t *room;
  sw_timeline_slot **slots;
  SW_ARENA_NEW(room, t->mem, n_steps + 1, d);
  SW_ARENA_NEW(slots, t->mem, t->n_lists, d);
  for (int32_t i = 0; i < n_steps; i++) room[i] = capacity - t->a->bytes_at[i];
  for (int32_t i = t->n_lists - 1; i >= 0; i--)
    if (t->lists[i].entries.n) SW_TRY(lay_list(t, i, room, slots, d));
  for (int32_t i = 1; i < t->n_lists; i++) {
    list *l = &t->lists[i];
    if (l->around >= 0) l->start_s = t->lists[l->around].start_s + slots[l->around][l->at].start_s;
  }
  *out = slots;
  return SW_OK;
}

/* What the device holds more of what is copied to the host, or of what comes back. */
static sw_interval held_beside(const timing *t, sw_id id) {
  const sw_timeline_entry *e = entry_of(t, t->of_op[id]);
  return t->p->job.graph->ops[id].code == SW_OP_OFFLOAD ? (sw_interval){held_until(t, id) + 1, e->held}
                                                        : (sw_interval){e->held, id - 1};
}

/* Its copy from the step at which it may be issued, and what that is made of to the last before which it has ended. */
static sw_interval held_of(const timing *t, int32_t r) {
  const int32_t first = t->a->reshards[r].steps.first;
  if (t->begun[r] < 0) return (sw_interval){first, first};
  const sw_timeline_entry *begun = entry_of(t, t->begun[r]), *ended = entry_of(t, t->ended[r]);
  return (sw_interval){begun->early_bytes ? begun->held : first, ended->late_bytes ? ended->held : first};
}

static sw_rc write_timed(timing *t, sw_timeline_slot *const *slots, sw_interval *held, sw_timeline *out, sw_diag *d) {
  sw_timed *all;
  SW_ARENA_NEW(all, t->arena, t->items.n + 1, d);
  for (size_t i = 0; i < t->items.n; i++) {
    const item *it = &t->items.at[i];
    const list *l = &t->lists[it->list];
    const sw_timeline_entry *e = &l->entries.at[it->at];
    const sw_timeline_slot *slot = &slots[it->list][it->at];
    sw_timed *to = &all[i];
    *to = it->timed;
    const bool waits = !(e->streams & WORK_BIT) && e->need < (int32_t)l->entries.n;
    to->needed = waits ? sw_max_i32(-1, l->items.at[e->need]) : -1;
    to->start_s = l->start_s + slot->start_s;
    to->end_s = l->start_s + slot->end_s;
    to->exposed_s = slot->exposed_s;
    out->busy_s[to->stream] += (slot->end_s - slot->start_s) * (double)to->repeats;
    out->exposed_s[to->stream] += slot->exposed_s * (double)to->repeats;
    out->launches_s += e->launch_s * (double)to->repeats;
  }
  for (int32_t r = 0; r < t->a->n_reshards; r++) held[r] = held_of(t, r);
  for (sw_id i = 0; i < t->p->job.graph->n_ops; i++)
    held[t->a->n_reshards + i] = is_copy_of_host(t, i) ? held_beside(t, i) : (sw_interval){0, -1};
  out->n = (int32_t)t->items.n;
  out->at = all;
  out->sums = t->lists[0].sums;
  return SW_OK;
}

static sw_rc time_all(timing *t, sw_interval *held, sw_timeline *out, sw_diag *d) {
  const sw_graph *g = t->p->job.graph;
  sw_timeline_slot **slots = NULL;
  int32_t n_ports = 0;
  SW_ARENA_NEW(t->lists, t->mem, t->n_lists, d);
  SW_ARENA_NEW(t->of_op, t->mem, g->n_ops + 1, d);
  SW_ARENA_NEW(t->made, t->mem, g->n_values + 1, d);
  SW_ARENA_NEW(t->first_port, t->mem, g->n_ops + 1, d);
  SW_ARENA_NEW_EACH(t->mem, t->a->n_reshards + 1, d, t->begun, t->ended);
  for (int32_t i = 0; i < t->n_lists; i++) t->lists[i].around = t->lists[i].at = -1;
  for (int32_t i = 0; i < g->n_values; i++) t->made[i] = -1;
  for (sw_id i = 0; i < g->n_ops; n_ports += g->ops[i++].n_operands) t->first_port[i] = n_ports;
  SW_ARENA_NEW(t->taken, t->mem, n_ports + 1, d);
  for (int32_t i = 0; i < n_ports; i++) t->taken[i] = -1;
  SW_TRY(add_timed_steps(t, d));
  SW_TRY(lay_lists(t, &slots, d));
  return write_timed(t, slots, held, out, d);
}

sw_rc sw_plan_time(const sw_plan *p, const sw_breakdown *a, const sw_plan_borders *borders, sw_arena *arena,
                   sw_interval *held, sw_timeline *out, sw_diag *d) {
  sw_arena mem = {0};
  timing t = {.p = p, .a = a, .borders = borders, .arena = arena, .mem = &mem, .n_lists = 1 + p->job.graph->n_frames};
  *out = (sw_timeline){0};
  const sw_rc rc = time_all(&t, held, out, d);
  for (int32_t i = 0; t.lists && i < t.n_lists; i++) {
    sw_array_free(&t.lists[i].entries);
    sw_array_free(&t.lists[i].items);
    sw_array_free(&t.lists[i].waits);
  }
  sw_array_free(&t.items);
  sw_arena_deinit(&mem);
  return rc;
}
