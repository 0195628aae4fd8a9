/* Groups: made when a device first names them, found again by axes or list.
 *
 *   mesh x=2,y=2, axes [x]: device 1 (0,1) sits at index 0 of the group {1, 3}
 */
#include <stddef.h>
#include <string.h>

#include "comm/threads/threads.h"

typedef struct group_key {
  int32_t first, n; /* n: axes, or of a list minus its length */
  sw_axis_ref axes[SW_MAX_REFS];
  uint64_t members; /* of a list: a hash */
} group_key;

static void free_thread_group(sw_thread_group *g) {
  /* A call that failed as it began has left its copy behind. */
  for (int64_t j = 0; g->slots && j < g->n * sw_ring_of(g); j++) sw_mem_free(g->slots[j].room.data);
  sw_mem_free(g->slots);
  sw_mem_free(g->arrivals.store);
  sw_mem_free(g->mid.store);
  sw_mem_free(g->bulk.store);
  sw_mem_free(g->told);
  sw_mem_free(g->src);
  sw_mem_free(g->dst);
  sw_mem_free(g->ended);
  sw_mem_free(g->came);
  sw_mem_free(g->devices);
  sw_mem_free(g);
}

/* Its part of what the group has for all rendezvous. */
static void init_rendezvous(const sw_thread_group *g, unsigned i, sw_rendezvous *m) {
  size_t before = (size_t)g->n * i;
  m->slots = g->slots + before;
  m->src = g->src + before;
  m->dst = g->dst + before;
  atomic_init(&m->futex.word, i << SW_PHASE_BITS | SW_OPEN);
  for (int64_t j = 0; j < g->n; j++) m->slots[j].member.device = g->devices[j];
}

/* A call's line lies among a member's in the order of Gray's code, so that the machine, which likes to read on at equal
 * distances, leaves those alone that are about to be filled. In pairs of lines, as caches fetch them. */
static sw_rc make_area(const sw_thread_group *g, size_t item_bytes, bool by_call, sw_area *a, sw_diag *d) {
  size_t pair = (size_t)2 * SW_LINE, n = (size_t)g->n;
  unsigned shares = by_call && 2 * item_bytes <= SW_LINE; /* two calls to a line */
  a->item_bytes = item_bytes;
  a->member_step = by_call ? item_bytes << shares : item_bytes * sw_ring_of(g);
  size_t call_step = by_call ? a->member_step * n : item_bytes;
  char *store;
  SW_MEM_NEW(store, n * sw_ring_of(g) * item_bytes + pair, d);
  a->store = store;
  store += (pair - (uintptr_t)store % pair) % pair;
  for (unsigned i = 0; i < sw_ring_of(g); i++) {
    unsigned line = i ^ i >> 1;
    a->row[i] = store + (line >> shares) * call_step + (line & shares) * item_bytes;
  }
  return SW_OK;
}

/* Of a pair of members small inputs follow their arrivals. */
static sw_rc make_areas(sw_thread_group *g, sw_diag *d) {
  bool pair = g->n <= 2;
  SW_TRY(make_area(g, pair ? (size_t)6 * SW_LINE : sizeof(sw_arrival), !pair, &g->arrivals, d));
  if (g->n > SW_SMALL_MEMBERS) return SW_OK;
  SW_TRY(make_area(g, SW_MID_BYTES, !pair, &g->mid, d));
  return make_area(g, SW_BULK_STEP, false, &g->bulk, d);
}

static sw_rc fill_thread_group(sw_thread_group *g, const sw_mesh *m, const sw_circle *c, int64_t device, sw_diag *d) {
  SW_MEM_NEW(g->devices, g->n, d);
  for (int64_t i = 0; i < g->n; i++) g->devices[i] = sw_circle_peer(m, c, device, i);
  g->circle = *c;
  g->listed = (sw_device_list){g->devices, g->n, 0}; /* the caller's list may be gone by the next call */
  if (c->list) g->circle.list = &g->listed;
  size_t places = (size_t)g->n * sw_ring_of(g);
  if (g->n <= SW_SMALL_MEMBERS) {
    SW_MEM_NEW(g->ended, SW_SMALL_MEMBERS, d); /* a large block is aligned */
    SW_MEM_NEW(g->came, SW_SMALL_MEMBERS, d);
    SW_MEM_NEW(g->told, places, d);
  }
  SW_TRY(make_areas(g, d));
  SW_MEM_NEW(g->slots, places, d);
  SW_MEM_NEW(g->src, places, d);
  SW_MEM_NEW(g->dst, places, d);
  for (unsigned i = 0; i < sw_ring_of(g); i++) init_rendezvous(g, i, &g->ring[i]);
  return SW_OK;
}

static sw_rc new_thread_group(sw_threads *t, int64_t device, const sw_circle *c, sw_thread_group **out, sw_diag *d) {
  sw_thread_group *g;
  SW_MEM_NEW(g, 1, d);
  g->n = sw_circle_size(c);
  g->ring_calls = g->n <= SW_SMALL_MEMBERS ? SW_RING : SW_LARGE_RING;
  sw_rc rc = fill_thread_group(g, &t->base.mesh, c, device, d);
  if (!rc) rc = sw_array_push(&t->groups, g, d);
  if (rc) free_thread_group(g);
  *out = g;
  return rc;
}

static group_key thread_group_key(const sw_mesh *m, const sw_circle *c, int64_t device) {
  group_key key;
  memset(&key, 0, sizeof key);
  key.first = (int32_t)sw_circle_peer(m, c, device, 0);
  key.n = c->list ? -(int32_t)c->list->n : c->n_axes;
  memcpy(key.axes, c->axes, (size_t)c->n_axes * sizeof *c->axes);
  if (c->list) key.members = sw_hash_bytes(c->list->members, (size_t)c->list->n * sizeof *c->list->members, 1);
  return key;
}

/* The lock is held. */
static sw_rc find_thread_group(sw_threads *t, int64_t device, const sw_circle *c, sw_thread_group **out, sw_diag *d) {
  group_key key = thread_group_key(&t->base.mesh, c, device);
  const int64_t *known = sw_dict_get(&t->index, &key, sizeof key);
  if (known) {
    *out = t->groups.at[*known];
    return SW_OK;
  }
  SW_TRY(new_thread_group(t, device, c, out, d));
  return sw_dict_put(&t->index, &key, sizeof key, (int64_t)t->groups.n - 1, NULL, NULL, d);
}

static sw_rc new_rank(sw_threads *t, int64_t device, const sw_circle *c, sw_rank **out, sw_diag *d) {
  sw_thread_device *dev = &t->device[device];
  sw_thread_group *g;
  pthread_mutex_lock(&t->lock);
  sw_rc rc = find_thread_group(t, device, c, &g, d);
  pthread_mutex_unlock(&t->lock);
  if (rc) return rc;
  SW_MEM_NEW(*out, 1, d);
  (*out)->group = g;
  (*out)->index = sw_circle_index(&t->base.mesh, c, device);
  rc = sw_array_push(&dev->ranks, *out, d);
  if (rc) sw_mem_free(*out);
  return rc;
}

sw_rc sw_rank_find(sw_threads *t, int64_t device, const sw_collective *c, sw_rank **out, sw_diag *d) {
  sw_thread_device *dev = &t->device[device];
  sw_circle circle;
  sw_circle_of(&t->base.mesh, c, device, &circle);
  *out = dev->last_rank;
  if (*out && sw_circle_equal(&(*out)->group->circle, &circle)) return SW_OK;
  for (size_t i = 0; i < dev->ranks.n; i++) {
    if (!sw_circle_equal(&dev->ranks.at[i]->group->circle, &circle)) continue;
    *out = dev->last_rank = dev->ranks.at[i];
    return SW_OK;
  }
  SW_TRY(new_rank(t, device, &circle, out, d));
  dev->last_rank = *out;
  return SW_OK;
}

static void free_rank(sw_rank *rank) {
  for (int i = 0; i < SW_CACHED_CALLS && rank->cached_calls[i]; i++) sw_mem_free(rank->cached_calls[i]);
  sw_mem_free(rank);
}

void sw_groups_free(sw_threads *t) {
  for (int64_t i = 0; i < t->base.devices; i++) {
    for (size_t s = 0; s < t->device[i].ranks.n; s++) free_rank(t->device[i].ranks.at[s]);
    sw_array_free(&t->device[i].ranks);
  }
  for (size_t i = 0; i < t->groups.n; i++) free_thread_group(t->groups.at[i]);
  sw_array_free(&t->groups);
  sw_dict_deinit(&t->index);
}
