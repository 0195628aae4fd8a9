/* Dijkstra over sharding states.
 *
 * Nodes are states; a popped node relaxes the moves of moves.c, then direct exchanges: to the target, and, where blocks
 * are equal, to states from which one collective reaches the target (a permute followed by a gather or an all_to_all).
 * The first exchange, from the source straight to the target, bounds everything else, so few nodes are popped.
 *
 *   [[x],[y]] -> [[y],[x]] on 2x2:   [[x],[y]] --permute--> [[y],[x]]                       one hop, the exchange
 * itself
 *   [[x,y],[]] -> [[],[x]]:          --all_gather y--> [[x],[]] --all_to_all x--> [[],[x]]
 *
 * No exchange is taken where one collective does the same. Among equal costs: fewer hops, then fewer exchanges.
 */
#include "reshard/search.h"

#include <math.h>
#include <string.h>

#include "reshard/moves.h"
#include "reshard/price.h"
#include "base/hash.h"

enum { MAX_NODES = 800, N_SLOTS = 2048 };

typedef struct node {
  rs_state state;
  double cost;
  rs_move move;
  int16_t parent;
  double offered_s;   /* price of the collective that leads here from the node below */
  int16_t offered_by; /* the node expanded last whose collective leads here */
  uint8_t hops, exchanges;
  bool done, queued;
} node;

typedef struct search {
  const rs_query *q;
  int n, n_heap, target;
  int16_t heap[2 * MAX_NODES];
  int16_t slot[N_SLOTS]; /* hash of a state -> node + 1 */
  node node[MAX_NODES];
  rs_state near[RS_MAX_NEAR]; /* one collective before the target */
  int64_t near_shards[RS_MAX_NEAR][SW_MAX_RANK];
  int n_near;
  rs_lists target_lists;
} search;

/* Costs that differ by rounding alone count as equal. */
static bool cheaper(double cost, int hops, int exchanges, const node *b) {
  if (isinf(b->cost)) return !isinf(cost);
  double slack = 1e-10 * b->cost;
  if (cost < b->cost - slack) return true;
  if (cost > b->cost + slack) return false;
  return hops != b->hops ? hops < b->hops : exchanges < b->exchanges;
}

static bool before(const search *s, int16_t a, int16_t b) {
  const node *x = &s->node[a], *y = &s->node[b];
  if (x->cost != y->cost) return x->cost < y->cost;
  return x->hops != y->hops ? x->hops < y->hops : a < b;
}

static void heap_up(search *s, int i) {
  while (i > 0 && before(s, s->heap[i], s->heap[(i - 1) / 2])) {
    int16_t t = s->heap[i];
    s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[(i - 1) / 2] = t;
    i = (i - 1) / 2;
  }
}

static int heap_pop(search *s) {
  int top = s->heap[0], i = 0;
  s->heap[0] = s->heap[--s->n_heap];
  for (;;) {
    int least = i;
    for (int c = 2 * i + 1; c <= 2 * i + 2 && c < s->n_heap; c++) {
      if (before(s, s->heap[c], s->heap[least])) least = c;
    }
    if (least == i) return top;
    int16_t t = s->heap[i];
    s->heap[i] = s->heap[least];
    s->heap[least] = t;
    i = least;
  }
}

static int new_node(search *s, const rs_state *state) {
  s->node[s->n] = (node){.state = *state, .cost = HUGE_VAL, .parent = -1, .offered_by = -1};
  return s->n++;
}

/* The node of a state, made when it is new; -1 when the table is full. */
static int node_of(search *s, const rs_state *state) {
  uint64_t words[2];
  memcpy(words, state->at, sizeof words);
  uint64_t h = (words[0] * UINT64_C(0x9e3779b97f4a7c15)) ^ (words[1] * UINT64_C(0xc2b2ae3d27d4eb4f));
  for (uint64_t i = h >> 40;; i++) {
    int16_t *slot = &s->slot[i % N_SLOTS];
    if (*slot && memcmp(s->node[*slot - 1].state.at, state->at, sizeof state->at) == 0) return *slot - 1;
    if (*slot) continue;
    if (s->n == MAX_NODES) return -1;
    *slot = (int16_t)(s->n + 1);
    return new_node(s, state);
  }
}

static void relax(search *s, int from, int to, rs_move move, double price) {
  node *f = &s->node[from], *t = &s->node[to];
  double cost = f->cost + price;
  int exchanges = f->exchanges + (move.op == SW_COLL_EXCHANGE);
  if (t->done || f->hops + 1 >= SW_MAX_ROUTE_STEPS || !cheaper(cost, f->hops + 1, exchanges, t)) return;
  if (to != s->target && !cheaper(cost, 0, 0, &s->node[s->target])) return;
  t->cost = cost;
  t->move = move;
  t->parent = (int16_t)from;
  t->hops = (uint8_t)(f->hops + 1);
  t->exchanges = (uint8_t)exchanges;
  if (s->n_heap == 2 * MAX_NODES) return;
  s->heap[s->n_heap] = (int16_t)to;
  heap_up(s, s->n_heap++);
}

/* Bytes that a state needs beside the buffers of both ends. */
static bool fits(const search *s, int from, int to, double bytes_before, double bytes_after) {
  if (s->q->max_temp_bytes <= 0) return true;
  double temp = (from == 0 ? 0 : bytes_before) + (to == s->target ? 0 : bytes_after);
  return temp <= (double)s->q->max_temp_bytes;
}

typedef struct expansion {
  search *s;
  int from;
} expansion;

static void offer(void *user, const rs_state *state, rs_move move, double price, double bytes_before,
                  double bytes_after) {
  expansion *x = user;
  int to = node_of(x->s, state);
  if (to < 0) return;
  x->s->node[to].offered_by = (int16_t)x->from;
  x->s->node[to].offered_s = price;
  if (fits(x->s, x->from, to, bytes_before, bytes_after)) relax(x->s, x->from, to, move, price);
}

static bool equal_blocks(const search *s, const rs_lists *l, int to) {
  rs_lists after;
  if (s->q->opaque_source || s->q->opaque_target) return false;
  rs_lists_of(&s->q->space, &s->node[to].state, &after);
  return memcmp(l->shards, after.shards, (size_t)s->q->space.rank * sizeof l->shards[0]) == 0;
}

/* Cuts of several dimensions are as many slices. */
static bool only_cuts(const search *s, const rs_lists *l, int to) {
  const rs_space *space = &s->q->space;
  rs_lists after;
  if (s->q->opaque_source || s->q->opaque_target) return false;
  rs_lists_of(space, &s->node[to].state, &after);
  for (int d = 0; d < space->rank; d++) {
    if (l->len[d] > after.len[d] || memcmp(l->atom[d], after.atom[d], l->len[d]) != 0) return false;
    if (!rs_cuts_nest(space->dims[d], l->shards[d], after.shards[d] / l->shards[d])) return false;
  }
  return true;
}

static void exchange_to(search *s, int from, const rs_lists *l, int to) {
  static const rs_move kExchange = {.op = SW_COLL_EXCHANGE};
  if (to < 0 || to == from || s->node[to].done) return;
  if ((s->q->no_exchange && !equal_blocks(s, l, to)) || only_cuts(s, l, to)) return;
  const rs_state *src = from == 0 && s->q->opaque_source ? NULL : &s->node[from].state;
  const rs_state *dst = to == s->target && s->q->opaque_target ? NULL : &s->node[to].state;
  double price = rs_exchange_s(s->q, src, dst);
  if (s->node[to].offered_by == from) {
    rs_lists after;
    rs_lists_of(&s->q->space, &s->node[to].state, &after);
    if (!rs_exchange_beats(s->q, l->shards, after.shards, price, s->node[to].offered_s)) return;
  }
  relax(s, from, to, kExchange, price);
}

static void exchanges(search *s, int from, const rs_lists *l) {
  exchange_to(s, from, l, s->target);
  for (int i = 0; i < s->n_near; i++) {
    if (memcmp(s->near_shards[i], l->shards, (size_t)s->q->space.rank * sizeof(int64_t)) != 0) continue;
    int to = node_of(s, &s->near[i]);
    double bytes = rs_local_bytes(s->q, l->shards);
    if (to >= 0 && fits(s, from, to, bytes, bytes)) exchange_to(s, from, l, to);
  }
  rs_state gathered;
  if (s->q->opaque_target || !rs_state_to_gather(s->q, l->shards, &gathered)) return;
  double bytes = rs_local_bytes(s->q, l->shards);
  int to = node_of(s, &gathered);
  if (to >= 0 && fits(s, from, to, bytes, bytes)) exchange_to(s, from, l, to);
}

static void expand(search *s, int from) {
  expansion x = {s, from};
  const rs_query *q = s->q;
  rs_state state = s->node[from].state;
  const rs_lists *target = &s->target_lists;
  rs_lists l;
  rs_lists_of(&q->space, &state, &l);
  bool opaque = from == 0 && q->opaque_source;
  bool reduced = (l.partial & ~target->partial) == 0;
  bool tangled = opaque || rs_moves(q, &l, target, offer, &x);
  const sw_coll_op op = (sw_coll_op)s->node[from].move.op;
  bool moved = from != 0 && (op == SW_COLL_ALL_GATHER || op == SW_COLL_ALL_TO_ALL || op == SW_COLL_ALL_TO_ALL_DIMS ||
                             op == SW_COLL_EXCHANGE);
  if (moved && !tangled && !q->thorough && !q->opaque_target) return;
  if (reduced) exchanges(s, from, &l);
}

static void find_near(search *s) {
  s->n_near = s->q->opaque_target ? 0 : rs_states_before(s->q, s->near);
  for (int i = 0; i < s->n_near; i++) {
    rs_lists l;
    rs_lists_of(&s->q->space, &s->near[i], &l);
    memcpy(s->near_shards[i], l.shards, sizeof l.shards);
  }
}

static void read_path(const search *s, rs_path *out) {
  const node *t = &s->node[s->target];
  out->cost_s = t->parent < 0 && s->target != 0 ? HUGE_VAL : t->cost;
  out->n = t->parent < 0 ? 0 : t->hops;
  out->n_left = 0;
  int at = s->target;
  for (int i = out->n - 1; i >= 0; i--) {
    const node *n = &s->node[at];
    out->hop[i] = (rs_hop){n->move, n->state, n->cost - s->node[n->parent].cost};
    at = n->parent;
  }
}

sw_rc rs_search(const rs_query *q, rs_path *out, sw_diag *d) {
  search *s;
  SW_MEM_ROOM(s, 1, d);
  s->q = q;
  s->n = s->n_heap = 0;
  memset(s->slot, 0, sizeof s->slot);
  int source = q->opaque_source ? new_node(s, &q->source) : node_of(s, &q->source);
  s->target = q->opaque_target ? new_node(s, &q->target) : node_of(s, &q->target);
  find_near(s);
  rs_lists_of(&q->space, &q->target, &s->target_lists);
  if (q->limit_s > 0) s->node[s->target].cost = q->limit_s;
  s->node[source].cost = 0;
  s->heap[s->n_heap++] = (int16_t)source;
  while (s->n_heap > 0) {
    int at = heap_pop(s);
    if (s->node[at].done) continue;
    s->node[at].done = true;
    if (at == s->target) break;
    expand(s, at);
  }
  read_path(s, out);
  sw_mem_free(s);
  return SW_OK;
}
