/* Random meshes and shardings for tests, and the brute-force view of who holds which element. */
#ifndef TESTS_RANDOM_SHARDING_H_
#define TESTS_RANDOM_SHARDING_H_

#include "check.h"

#include "base/checked.h"
#include "base/hash.h"
#include "shardwright/tiling.h"

typedef struct rng {
  uint64_t state;
} rng;

static inline uint64_t rng_next(rng *r) {
  r->state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = r->state;
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* In [0, n). */
static inline int64_t rng_below(rng *r, int64_t n) { return (int64_t)(rng_next(r) % (uint64_t)n); }

static inline sw_mesh random_mesh(rng *r, int max_axes, int64_t max_devices) {
  static const int64_t kSizes[] = {2, 3, 4, 2, 6, 1, 8};
  for (;;) {
    sw_mesh m = {.n_axes = (int)rng_below(r, max_axes + 1)};
    for (int a = 0; a < m.n_axes; a++) {
      snprintf(m.axis[a].name, SW_AXIS_NAME_BYTES, "%c", "xyzwuv"[a]);
      m.axis[a].size = kSizes[rng_below(r, 7)];
    }
    if (sw_mesh_devices(&m) <= max_devices) return m;
  }
}

static inline int random_refs(rng *r, const sw_mesh *m, sw_axis_ref *refs) {
  int n = 0;
  for (int a = 0; a < m->n_axes; a++) {
    int64_t size = m->axis[a].size, pre = 1;
    if (rng_below(r, 3) > 0 || size < 4) {
      refs[n++] = sw_axis_whole(m, a);
      continue;
    }
    while (pre < size) { /* split into digits */
      int64_t digit = 2;
      while (size / pre % digit != 0) digit++;
      if (rng_below(r, 3) == 0) digit = size / pre;
      refs[n++] = (sw_axis_ref){a, (int32_t)pre, (int32_t)digit};
      pre *= digit;
    }
  }
  for (int i = n - 1; i > 0; i--) {
    int64_t j = rng_below(r, i + 1);
    sw_axis_ref t = refs[i];
    refs[i] = refs[j];
    refs[j] = t;
  }
  return n;
}

/* Refs in random order on random dimensions, some partial, some unused. */
static inline sw_sharding random_sharding(rng *r, const sw_mesh *m, int rank, bool partial) {
  sw_sharding s = sw_sharding_replicated(rank);
  sw_axis_ref refs[SW_MAX_REFS * 2];
  int n = random_refs(r, m, refs);
  for (int i = 0; i < n; i++) {
    int64_t where = rng_below(r, 5);
    if (partial && where == 0) {
      (void)sw_sharding_push_partial(&s, SW_REDUCE_SUM, refs[i]);
    } else if (where > 1 && rank > 0) {
      (void)sw_sharding_push(&s, (int)rng_below(r, rank), refs[i]);
    }
  }
  return s;
}

/* Random offsets or halos for what is cut; memory from the arena. */
static inline void random_lists(rng *r, sw_arena *arena, const int64_t *dims, sw_sharding *s) {
  int64_t *list = sw_arena_alloc(arena, 256, sizeof *list, NULL), n = 0;
  bool offsets = rng_below(r, 2) == 0;
  if (s->n_refs == 0) return;
  for (int d = 0; d < s->rank; d++) {
    int refs;
    (void)sw_sharding_dim(s, d, &refs);
    if (refs == 0) continue;
    int64_t shards = sw_sharding_shards(s, d), at = 0;
    if (n + shards + 1 > 256) return;
    if (!offsets) {
      list[n++] = rng_below(r, 4);
      list[n++] = rng_below(r, 4);
      continue;
    }
    for (int64_t i = 0; i < shards; i++) {
      list[n++] = at;
      at += rng_below(r, dims[d] - at + 1);
    }
    list[n++] = dims[d];
  }
  if (offsets) s->offsets = list;
  if (!offsets) s->halos = list;
}

static inline int64_t elements_of(int rank, const int64_t *dims) {
  int64_t n = 1;
  for (int d = 0; d < rank; d++) n *= dims[d];
  return n;
}

/* Element number -> index. */
static inline void index_of(int rank, const int64_t *dims, int64_t element, int64_t *index) {
  for (int d = rank - 1; d >= 0; d--) {
    index[d] = element % dims[d];
    element /= dims[d];
  }
}

/* The definition, one element at a time and by other arithmetic than the library's: split the axis' coordinate into
 * digits, read them major to minor, compare with the block that the index falls into. Halos not included. */
static inline bool brute_holds(const sw_mesh *m, const sw_sharding *s, const int64_t *dims, int64_t device,
                               const int64_t *index) {
  int64_t coord[SW_MAX_AXES], rest = device;
  for (int a = m->n_axes - 1; a >= 0; a--) {
    coord[a] = rest % m->axis[a].size;
    rest /= m->axis[a].size;
  }
  const int64_t *offsets = s->offsets;
  for (int d = 0; d < s->rank; d++) {
    int64_t shard = 0, shards = 1;
    bool cut = false;
    for (int i = 0; i < s->n_refs; i++) {
      if (s->dim_of[i] != d) continue;
      sw_axis_ref ref = s->refs[i];
      int64_t digit = coord[ref.axis];
      for (int64_t below = m->axis[ref.axis].size / ref.pre / ref.size; below > 1; below--) {
        digit = coord[ref.axis] / (m->axis[ref.axis].size / ref.pre / ref.size);
      }
      shard = shard * ref.size + digit % ref.size;
      shards *= ref.size;
      cut = true;
    }
    int64_t owner = 0;
    if (cut && s->offsets) {
      while (index[d] >= offsets[owner + 1]) owner++;
      offsets += shards + 1;
    } else {
      int64_t block = dims[d] / shards;
      while (block * shards < dims[d]) block++;
      owner = block ? index[d] / block : 0;
    }
    if (owner != shard) return false;
  }
  return true;
}

/* The same with halos: within lo below or hi above the device's block. */
static inline bool brute_shows(const sw_mesh *m, const sw_sharding *s, const int64_t *dims, int64_t device,
                               const int64_t *index) {
  if (!s->halos) return brute_holds(m, s, dims, device, index);
  const int64_t *halo = s->halos;
  for (int d = 0; d < s->rank; d++) {
    int n;
    (void)sw_sharding_dim(s, d, &n);
    int64_t lo = n ? halo[0] : 0, hi = n ? halo[1] : 0;
    if (n) halo += 2;
    int64_t shards = sw_sharding_shards(s, d), i = sw_sharding_index(m, s, d, device);
    int64_t block = dims[d] / shards + (dims[d] % shards > 0);
    if (index[d] < i * block - lo || index[d] >= (i + 1) * block + hi) return false;
  }
  return true;
}

#endif
