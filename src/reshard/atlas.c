/* An atlas is a net of a tensor that every list cuts evenly, with rows of steps: made when a search leaves their state,
 * under a lock, and then read by all without one.
 *
 *   steps [[x],[]] -> [[],[x]] and [[y],[]] -> [[],[y]] have one price where x and y lie alike on the network
 */
#include "reshard/atlas.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { ALIKE_DIMS = 8, CHUNK = 128, CHUNKS = RS_ATLAS_PRICES / CHUNK, FIRST_SLOTS = 1024 };

/* What decides the price of a step. */
typedef struct key {
  double bytes, peers, buffer, outside[SW_MAX_LEVELS];
  uint32_t kind, group;
} key;

/* Numbers of prices, some of which take the curves behind them, too. */
typedef struct chunk {
  key of[CHUNK];
  uint8_t n_curves[CHUNK];
  sw_curve curve[CHUNK];
} chunk;

struct rs_atlas {
  sw_machine_cache note; /* first: the machine holds it by that */
  rs_query query;
  bool partial;
  bool asks; /* rows are filled as steps are asked for */
  int64_t cuts;
  int64_t dims[SW_MAX_RANK];
  rs_net net;
  chunk *chunk[CHUNKS];
  _Atomic(rs_row *) row[2][RS_NET_STATES];
  _Atomic(rs_gaps *) gaps[2][RS_NET_STATES];
  _Atomic(rs_alike *) alike[1 << ALIKE_DIMS];
  pthread_mutex_t lock; /* of what follows, and of making all that is made later */
  int n_prices, n_slots, n_used;
  uint16_t *slot; /* hash of a key -> number + 1 */
};

static const char kOwner[] = "atlas";

const rs_net *rs_atlas_net(const rs_atlas *a) { return &a->net; }

bool rs_atlas_cuts_evenly(const rs_atlas *a, const rs_query *q) {
  for (int d = 0; d < q->space.rank; d++) {
    if (q->space.dims[d] % a->cuts) return false;
  }
  return true;
}

/* --- prices ------------------------------------------------------------------------------------------------------ */

static key key_of(const rs_step *s) {
  const double *outside = s->load.outside_bytes;
  key k = {.kind = (uint32_t)s->exchanges << 8 | s->move.op, .group = s->group, .bytes = s->bytes};
  if (!s->exchanges) return k;
  k.bytes = s->load.bytes;
  k.peers = s->load.peers;
  k.buffer = s->load.buffer_bytes;
  for (int l = 1; l < SW_MAX_LEVELS; l++) k.outside[l] = outside[l];
  return k;
}

/* Of whole words. */
static inline uint64_t hash_of(const void *of, size_t bytes) {
  uint64_t h = 0, odd = UINT64_C(0x9e3779b97f4a7c15);
  for (size_t i = 0; i < bytes / sizeof(uint64_t); i++) {
    uint64_t word;
    memcpy(&word, (const char *)of + i * sizeof word, sizeof word);
    h += (word ^ word >> 32) * odd;
    odd *= UINT64_C(0xd1342543de82ef95);
  }
  return h ^ h >> 29;
}

static uint16_t *slot_of(const rs_atlas *a, const key *k) {
  for (uint64_t i = hash_of(k, sizeof *k);; i++) {
    uint16_t *slot = &a->slot[i % (uint64_t)a->n_slots];
    if (*slot == 0) return slot;
    const int number = *slot - 1;
    if (memcmp(&a->chunk[number / CHUNK]->of[number % CHUNK], k, sizeof *k) == 0) return slot;
  }
}

static sw_rc grow_slots(rs_atlas *a, sw_diag *d) {
  uint16_t *old = a->slot;
  const int n = a->n_slots;
  SW_MEM_NEW(a->slot, n ? 2 * n : FIRST_SLOTS, d);
  a->n_slots = n ? 2 * n : FIRST_SLOTS;
  for (int i = 0; i < n; i++) {
    if (old[i] == 0) continue;
    const int number = old[i] - 1;
    *slot_of(a, &a->chunk[number / CHUNK]->of[number % CHUNK]) = old[i];
  }
  sw_mem_free(old);
  return SW_OK;
}

static sw_rc add_price(rs_atlas *a, const rs_step *step, const key *k, uint16_t *slot, sw_diag *d) {
  sw_curve curve[SW_MAX_CURVES];
  const int n = rs_step_curves(&a->net, step, curve);
  if (a->n_prices % CHUNK + n > CHUNK) a->n_prices += CHUNK - a->n_prices % CHUNK;
  if (a->n_prices + n > RS_ATLAS_PRICES) return SW_BUG(d, "an atlas has more than %d prices", RS_ATLAS_PRICES);
  chunk **c = &a->chunk[a->n_prices / CHUNK];
  const int at = a->n_prices % CHUNK;
  if (!*c) SW_MEM_NEW(*c, 1, d);
  (*c)->of[at] = *k;
  (*c)->n_curves[at] = (uint8_t)n;
  memcpy(&(*c)->curve[at], curve, (size_t)n * sizeof curve[0]);
  a->n_used++;
  *slot = (uint16_t)(a->n_prices + 1);
  a->n_prices += n;
  return SW_OK;
}

static sw_rc number_of(rs_atlas *a, const rs_step *step, uint16_t *out, sw_diag *d) {
  const key k = key_of(step);
  if (2 * a->n_used >= a->n_slots) SW_TRY(grow_slots(a, d));
  uint16_t *slot = slot_of(a, &k);
  if (*slot == 0) SW_TRY(add_price(a, step, &k, slot, d));
  *out = (uint16_t)(*slot - 1);
  return SW_OK;
}

double rs_atlas_price_s(const rs_atlas *a, int number, double scale, double root) {
  const chunk *c = a->chunk[number / CHUNK];
  return sw_curves_s(&c->curve[number % CHUNK], c->n_curves[number % CHUNK], scale, root);
}

void rs_sized_init(rs_sized *s, const rs_atlas *a, const rs_query *q) {
  double bytes = sw_dtype_bytes(q->dtype);
  for (int d = 0; d < q->space.rank; d++) bytes *= (double)q->space.dims[d];
  s->atlas = a;
  s->scale = bytes / a->net.whole_bytes;
  s->root = sqrt(s->scale);
  s->n = RS_UNKNOWN + 1;
  s->price_s[RS_NO_STEP] = HUGE_VAL;
  s->price_s[RS_UNKNOWN] = a->net.floor.step_s;
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

static sw_rc add_number(rs_atlas *a, int state, bool to_it, int other, rs_row *row, sw_diag *d) {
  const rs_net *n = &a->net;
  uint16_t *number = &row->number[other];
  rs_step step;
  *number = RS_NO_STEP;
  if (rs_net_step(n, to_it ? other : state, to_it ? state : other, &step)) {
    SW_TRY(number_of(a, &step, number, d));
    if (*number > row->most) row->most = *number;
  } else if (n->state[other].partial == n->state[state].partial) {
    row->cut[row->n_cuts++] = (uint16_t)other;
  }
  return SW_OK;
}

/* Steps that are not asked for yet are known to none. */
static sw_rc fill_row(rs_atlas *a, int state, bool to_it, rs_row *row, sw_diag *d) {
  const int n = a->net.n_states;
  row->cut = row->number + n;
  for (int i = 0; i < n; i++) row->number[i] = RS_UNKNOWN;
  row->number[state] = RS_NO_STEP;
  for (int i = 0; i < n && !a->asks; i++) {
    if (i != state) SW_TRY(add_number(a, state, to_it, i, row, d));
  }
  return SW_OK;
}

/* Numbers in the order of the first states that have them. */
typedef struct sorting {
  int n;
  uint16_t place[RS_ATLAS_PRICES]; /* by number, its place + 1 */
  uint16_t number[RS_NET_STATES], n_states[RS_NET_STATES];
} sorting;

static void count_steps(const rs_row *row, int n_states, sorting *s) {
  const int most = row->most > RS_UNKNOWN ? row->most : RS_UNKNOWN;
  s->n = 0;
  memset(s->place, 0, (size_t)(most + 1) * sizeof s->place[0]);
  for (int i = 0; i < n_states; i++) {
    const uint16_t number = row->number[i];
    if (number == RS_NO_STEP) continue;
    if (s->place[number] == 0) {
      s->number[s->n] = number;
      s->n_states[s->n] = 0;
      s->place[number] = (uint16_t)++s->n;
    }
    s->n_states[s->place[number] - 1]++;
  }
}

static sw_rc list_steps(rs_row *row, int n_states, const sorting *s, sw_diag *d) {
  uint16_t *number, *end, *state;
  SW_MEM_NEW(number, 2 * s->n + n_states, d);
  end = number + s->n;
  state = end + s->n;
  memcpy(number, s->number, (size_t)s->n * sizeof number[0]);
  for (int k = 1; k < s->n; k++) end[k] = (uint16_t)(end[k - 1] + s->n_states[k - 1]); /* where it begins */
  for (int i = 0; i < n_states; i++) {
    if (row->number[i] != RS_NO_STEP) state[end[s->place[row->number[i]] - 1]++] = (uint16_t)i;
  }
  row->steps = (rs_steps){s->n, number, end, state};
  return SW_OK;
}

static sw_rc sort_steps(rs_row *row, int n_states, sw_diag *d) {
  sorting *s;
  SW_MEM_ROOM(s, 1, d);
  count_steps(row, n_states, s);
  sw_rc rc = list_steps(row, n_states, s, d);
  sw_mem_free(s);
  return rc;
}

sw_rc rs_atlas_ask(rs_atlas *a, int state, bool to_it, int other, sw_diag *d) {
  rs_row *row = atomic_load_explicit(&a->row[to_it][state], memory_order_relaxed);
  return row->number[other] == RS_UNKNOWN ? add_number(a, state, to_it, other, row, d) : SW_OK;
}

static sw_rc make_row(rs_atlas *a, int state, bool to_it, sw_diag *d) {
  rs_row *row = sw_mem_alloc(1, sizeof *row + 2 * (size_t)a->net.n_states * sizeof row->number[0], d);
  if (!row) return SW_E_RESOURCE;
  sw_rc rc = fill_row(a, state, to_it, row, d);
  if (!rc && !a->asks) rc = sort_steps(row, a->net.n_states, d);
  if (rc)
    sw_mem_free(row);
  else
    atomic_store_explicit(&a->row[to_it][state], row, memory_order_release);
  return rc;
}

sw_rc rs_atlas_row(rs_atlas *a, int state, bool to_it, const rs_row **out, sw_diag *d) {
  _Atomic(rs_row *) *row = &a->row[to_it][state];
  *out = atomic_load_explicit(row, memory_order_acquire);
  if (*out) return SW_OK;
  pthread_mutex_lock(&a->lock);
  sw_rc rc = atomic_load(row) ? SW_OK : make_row(a, state, to_it, d);
  pthread_mutex_unlock(&a->lock);
  *out = atomic_load(row);
  return rc;
}

/* --- gaps -------------------------------------------------------------------------------------------------------- */

enum { GAP_SLOTS = 2 * RS_NET_STATES };

typedef struct gap_work {
  rs_net_gap gap[RS_NET_STATES]; /* the different ones */
  uint16_t of[RS_NET_STATES];    /* by state, its gap's number */
  uint16_t slot[GAP_SLOTS];      /* number + 1 */
} gap_work;

/* Numbers the different ones; returns how many. */
static int number_gaps(const rs_net *n, int state, bool to_it, gap_work *w) {
  int k = 0;
  memset(w->slot, 0, sizeof w->slot);
  for (int i = 0; i < n->n_states; i++) {
    const rs_net_gap g = rs_net_gap_of(n, to_it ? i : state, to_it ? state : i);
    uint64_t at = hash_of(&g, sizeof g) % GAP_SLOTS;
    while (w->slot[at] && memcmp(&w->gap[w->slot[at] - 1], &g, sizeof g) != 0) at = (at + 1) % GAP_SLOTS;
    if (!w->slot[at]) {
      w->gap[k++] = g;
      w->slot[at] = (uint16_t)k;
    }
    w->of[i] = (uint16_t)(w->slot[at] - 1);
  }
  return k;
}

static rs_gaps *list_gaps(const gap_work *w, int k, size_t n_states, sw_diag *d) {
  rs_gaps *g = sw_mem_alloc(1, sizeof *g + (size_t)k * sizeof w->gap[0] + n_states * sizeof w->of[0], d);
  if (!g) return NULL;
  g->n = k;
  g->of = (uint16_t *)(g->gap + k);
  memcpy(g->gap, w->gap, (size_t)k * sizeof w->gap[0]);
  memcpy(g->of, w->of, n_states * sizeof w->of[0]);
  return g;
}

static sw_rc make_gaps(rs_atlas *a, int state, bool to_it, sw_diag *d) {
  gap_work *w;
  SW_MEM_ROOM(w, 1, d);
  const int k = number_gaps(&a->net, state, to_it, w);
  rs_gaps *g = list_gaps(w, k, (size_t)a->net.n_states, d);
  sw_mem_free(w);
  if (!g) return SW_E_RESOURCE;
  atomic_store_explicit(&a->gaps[to_it][state], g, memory_order_release);
  return SW_OK;
}

sw_rc rs_atlas_gaps(rs_atlas *a, int state, bool to_it, const rs_gaps **out, sw_diag *d) {
  _Atomic(rs_gaps *) *made = &a->gaps[to_it][state];
  *out = atomic_load_explicit(made, memory_order_acquire);
  if (*out) return SW_OK;
  pthread_mutex_lock(&a->lock);
  sw_rc rc = atomic_load(made) ? SW_OK : make_gaps(a, state, to_it, d);
  pthread_mutex_unlock(&a->lock);
  *out = atomic_load(made);
  return rc;
}

/* --- alike states ------------------------------------------------------------------------------------------------ */

/* The state with the lists of these dimensions in falling order. */
static int in_order(const rs_net *n, int state, unsigned dims) {
  rs_net_state at = n->state[state];
  for (int d = 1; d < n->q->space.rank; d++) {
    for (int e = d, f; dims >> e & 1u; e = f) { /* to where it belongs */
      for (f = e - 1; f >= 0 && !(dims >> f & 1u); f--) continue;
      if (f < 0 || at.list[f] >= at.list[e]) break;
      const uint8_t list = at.list[f];
      at.list[f] = at.list[e];
      at.list[e] = list;
    }
  }
  return rs_net_find_state(n, &at);
}

static sw_rc make_alike(rs_atlas *a, unsigned dims, sw_diag *d) {
  const rs_net *n = &a->net;
  rs_alike *alike = sw_mem_alloc(1, offsetof(rs_alike, of) + (size_t)n->n_states * sizeof alike->of[0], d);
  int16_t first[RS_NET_STATES];
  if (!alike) return SW_E_RESOURCE;
  alike->n = 0;
  for (int i = 0; i < n->n_states; i++) {
    first[i] = (int16_t)(dims ? in_order(n, i, dims) : i);
    if (first[i] == i) alike->of[i] = (uint16_t)alike->n++;
  }
  for (int i = 0; i < n->n_states; i++) alike->of[i] = alike->of[first[i]];
  atomic_store_explicit(&a->alike[dims], alike, memory_order_release);
  return SW_OK;
}

sw_rc rs_atlas_alike(rs_atlas *a, unsigned dims, const rs_alike **out, sw_diag *d) {
  dims &= (1u << ALIKE_DIMS) - 1;
  if ((dims & (dims - 1)) == 0) dims = 0; /* one dimension has no other order */
  _Atomic(rs_alike *) *made = &a->alike[dims];
  *out = atomic_load_explicit(made, memory_order_acquire);
  if (*out) return SW_OK;
  pthread_mutex_lock(&a->lock);
  sw_rc rc = atomic_load(made) ? SW_OK : make_alike(a, dims, d);
  pthread_mutex_unlock(&a->lock);
  *out = atomic_load(made);
  return rc;
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

static void forget_states(rs_atlas *a) {
  for (int i = 0; i < 2 * a->net.n_states; i++) {
    rs_row *row = atomic_exchange(&a->row[i % 2][i / 2], NULL);
    if (row) sw_mem_free((void *)row->steps.number);
    sw_mem_free(row);
    if (!a->asks) sw_mem_free(atomic_load(&a->gaps[i % 2][i / 2]));
  }
  for (int i = 0; i < 1 << ALIKE_DIMS; i++) sw_mem_free(atomic_exchange(&a->alike[i], NULL));
}

static void destroy(sw_machine_cache *note) {
  rs_atlas *a = (rs_atlas *)note;
  forget_states(a);
  for (int i = 0; i < CHUNKS; i++) sw_mem_free(a->chunk[i]);
  sw_mem_free(a->slot);
  rs_net_deinit(&a->net);
  pthread_mutex_destroy(&a->lock);
  sw_mem_free(a);
}

static bool is_of(const sw_machine_cache *note, const rs_query *q, bool partial) {
  const rs_atlas *a = (const rs_atlas *)note;
  const rs_space *x = &q->space;
  if (note->of != kOwner) return false;
  const rs_space *y = &a->query.space;
  return a->partial == partial && x->rank == y->rank && rs_space_equal(x, y);
}

static sw_rc init(rs_atlas *a, const rs_query *q, bool partial, sw_diag *d) {
  a->cuts = 1;
  for (int i = 0; i < q->space.n; i++) a->cuts *= q->space.atom[i].size;
  for (int i = 0; i < q->space.rank; i++) a->dims[i] = a->cuts;
  a->n_prices = RS_UNKNOWN + 1;
  a->note = (sw_machine_cache){.of = kOwner, .destroy = destroy};
  a->partial = partial;
  a->query = (rs_query){.machine = q->machine, .dtype = SW_I8, .kind = SW_REDUCE_SUM, .space = q->space};
  a->query.space.mesh = sw_machine_mesh(q->machine);
  a->query.space.dims = a->dims;
  sw_rc rc = rs_net_init(&a->net, &a->query, d);
  if (!rc) rc = grow_slots(a, d);
  if (pthread_mutex_init(&a->lock, NULL)) rc = SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "no lock could be had");
  return rc;
}

static sw_rc make(const rs_query *q, bool partial, rs_atlas **out, sw_diag *d) {
  SW_MEM_NEW(*out, 1, d);
  const sw_rc rc = init(*out, q, partial, d);
  if (rc) destroy(&(*out)->note);
  return rc;
}

static sw_rc fill(rs_atlas *a, const rs_query *q, const rs_net_ends *ends, sw_diag *d) {
  const bool counts = !ends || q->opaque_source || q->opaque_target || !rs_atlas_cuts_evenly(a, q);
  a->asks = ends != NULL;
  const sw_rc rc = rs_net_fill(&a->net, ends, a->partial, counts, d);
  if (rc) destroy(&a->note);
  return rc;
}

/* --- of two ends ------------------------------------------------------------------------------------------------- */

/* The last atlas of two ends: the next one over the same atoms is made in its place, and prices stay. */
typedef struct spare {
  sw_machine_cache note; /* first: the machine holds it by that */
  _Atomic(rs_atlas *) atlas;
} spare;

static const char kSpare[] = "spare atlas";

static void destroy_spare(sw_machine_cache *note) {
  rs_atlas *a = atomic_load(&((spare *)note)->atlas);
  if (a) destroy(&a->note);
  sw_mem_free(note);
}

static spare *spare_of(const sw_machine *m) {
  sw_machine_cache *n = sw_machine_caches(m);
  while (n && n->of != kSpare) n = n->next;
  return (spare *)n;
}

static rs_atlas *take_spare(const rs_query *q, bool partial) {
  spare *s = spare_of(q->machine);
  rs_atlas *a = s ? atomic_exchange(&s->atlas, NULL) : NULL;
  if (a && is_of(&a->note, q, partial) && a->n_prices < RS_ATLAS_PRICES / 2) return a;
  if (a) destroy(&a->note);
  return NULL;
}

sw_rc rs_atlas_make(const rs_query *q, const rs_net_ends *ends, bool partial, rs_atlas **out, sw_diag *d) {
  *out = take_spare(q, partial);
  if (!*out) SW_TRY(make(q, partial, out, d));
  return fill(*out, q, ends, d);
}

void rs_atlas_give_back(rs_atlas *a) {
  spare *s = spare_of(a->query.machine);
  if (!s) {
    s = sw_mem_alloc(1, sizeof *s, NULL);
    if (s) s->note = (sw_machine_cache){.of = kSpare, .destroy = destroy_spare};
    if (s) sw_machine_cache_add(a->query.machine, &s->note);
  }
  forget_states(a);
  a->net.n_states = 0;
  rs_atlas *last = s ? atomic_exchange(&s->atlas, a) : a;
  if (last) destroy(&last->note);
}

/* --- of all states ----------------------------------------------------------------------------------------------- */

sw_rc rs_atlas_of(const rs_query *q, bool partial, rs_atlas **out, sw_diag *d) {
  for (sw_machine_cache *n = sw_machine_caches(q->machine); n; n = n->next) {
    if (!is_of(n, q, partial)) continue;
    *out = (rs_atlas *)n;
    return SW_OK;
  }
  SW_TRY(make(q, partial, out, d));
  SW_TRY(fill(*out, q, NULL, d));
  sw_machine_cache_add(q->machine, &(*out)->note);
  return SW_OK;
}
