/* Routes found before: open addressing over what decides a route, compared by content.
 *
 *   same shardings, dims, dtype, options   ->   the route found the first time
 */
#include <string.h>

#include "shardwright/reshard.h"
#include "base/hash.h"

typedef struct entry {
  uint64_t hash;
  sw_reshard wanted; /* what it points to is in the arena */
  sw_route route;
} entry;

struct sw_route_cache {
  sw_arena *arena;
  size_t n, cap; /* cap: a power of two */
  entry **slot;
};

sw_rc sw_route_cache_make(sw_arena *arena, sw_route_cache **out, sw_diag *d) {
  sw_route_cache *c;
  SW_ARENA_NEW(c, arena, 1, d);
  *c = (sw_route_cache){.arena = arena, .cap = 64};
  SW_ARENA_NEW(c->slot, arena, c->cap, d);
  *out = c;
  return SW_OK;
}

static uint64_t mix(uint64_t h, uint64_t word) { return (h ^ word) * UINT64_C(0x9e3779b97f4a7c15) + (h >> 29); }

/* Enough to tell shardings apart as a rule; offsets and halos are left to the comparison. */
static uint64_t mix_end(uint64_t h, const sw_sharding *s) {
  h = mix(h, (uint64_t)s->n_refs << 8 | (uint64_t)s->n_partial << 16 | (uint64_t)s->partial_kind << 24);
  for (int i = 0; i < s->n_refs + s->n_partial; i++) {
    sw_axis_ref r = s->refs[i];
    uint64_t dim = i < s->n_refs ? (uint64_t)s->dim_of[i] : SW_MAX_RANK;
    h = mix(h, dim << 56 | (uint64_t)r.axis << 48 | (uint64_t)r.pre << 24 | (uint64_t)r.size);
  }
  return h;
}

static uint64_t hash_of(const sw_reshard *w) {
  uint64_t h = mix(mix_end(1, w->from), mix_end(2, w->to));
  h = mix(h, (uint64_t)w->dtype | (uint64_t)w->options.no_exchange << 8 | (uint64_t)w->options.max_temp_bytes << 16);
  for (int d = 0; d < w->rank; d++) h = mix(h, (uint64_t)w->dims[d]);
  return sw_hash_u64(h, 0);
}

static bool same(const sw_reshard *a, const sw_reshard *b) {
  return a->machine == b->machine && a->rank == b->rank && a->dtype == b->dtype &&
         a->options.no_exchange == b->options.no_exchange && a->options.refresh_halos == b->options.refresh_halos &&
         a->options.max_temp_bytes == b->options.max_temp_bytes && a->options.to_mesh == b->options.to_mesh &&
         memcmp(a->dims, b->dims, (size_t)a->rank * sizeof a->dims[0]) == 0 && sw_sharding_equal(a->from, b->from) &&
         sw_sharding_equal(a->to, b->to);
}

/* The slot that holds the reshard, or the free one where it belongs. */
static entry **slot_of(const sw_route_cache *c, const sw_reshard *wanted, uint64_t hash) {
  for (size_t i = hash & (c->cap - 1);; i = (i + 1) & (c->cap - 1)) {
    entry *e = c->slot[i];
    if (!e || (e->hash == hash && same(&e->wanted, wanted))) return &c->slot[i];
  }
}

static sw_rc grow_cache(sw_route_cache *c, sw_diag *d) {
  sw_route_cache wider = *c;
  wider.cap *= 2;
  SW_ARENA_NEW(wider.slot, c->arena, wider.cap, d);
  for (size_t i = 0; i < c->cap; i++) {
    if (c->slot[i]) *slot_of(&wider, &c->slot[i]->wanted, c->slot[i]->hash) = c->slot[i];
  }
  *c = wider;
  return SW_OK;
}

static sw_rc copy_end(sw_arena *arena, const sw_sharding *s, const sw_sharding **out, sw_diag *d) {
  sw_sharding *copy;
  SW_ARENA_NEW(copy, arena, 1, d);
  *copy = *s;
  SW_TRY(sw_sharding_keep(copy, arena, d));
  *out = copy;
  return SW_OK;
}

static sw_rc add_route_entry(sw_route_cache *c, const sw_reshard *wanted, uint64_t hash, entry **slot, sw_diag *d) {
  entry *e;
  SW_ARENA_NEW(e, c->arena, 1, d);
  e->hash = hash;
  e->wanted = *wanted;
  SW_TRY(copy_end(c->arena, wanted->from, &e->wanted.from, d));
  SW_TRY(copy_end(c->arena, wanted->to, &e->wanted.to, d));
  e->wanted.dims = sw_arena_copy(c->arena, wanted->dims, (size_t)wanted->rank, sizeof wanted->dims[0], d);
  if (!e->wanted.dims) return SW_E_RESOURCE;
  SW_TRY(sw_route_find(&e->wanted, c->arena, &e->route, d));
  *slot = e;
  c->n++;
  return SW_OK;
}

sw_rc sw_route_cached(sw_route_cache *c, const sw_reshard *wanted, const sw_route **out, sw_diag *d) {
  uint64_t hash = hash_of(wanted);
  entry **slot = slot_of(c, wanted, hash);
  if (!*slot && 2 * c->n >= c->cap) {
    SW_TRY(grow_cache(c, d));
    slot = slot_of(c, wanted, hash);
  }
  if (!*slot) SW_TRY(add_route_entry(c, wanted, hash, slot, d));
  *out = &(*slot)->route;
  return SW_OK;
}
