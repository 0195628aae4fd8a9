#include "base/hash.h"

#include <string.h>

/* Finaliser of splitmix64 (Steele, Lea and Flood 2014). */
uint64_t sw_hash_u64(uint64_t x, uint64_t seed) {
  x += seed * UINT64_C(0x9e3779b97f4a7c15) + UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

uint64_t sw_hash_bytes(const void *bytes, size_t n, uint64_t seed) {
  const unsigned char *p = bytes;
  uint64_t h = sw_hash_u64(n, seed);
  while (n >= 8) {
    uint64_t w;
    memcpy(&w, p, 8);
    h = sw_hash_u64(w, h);
    p += 8;
    n -= 8;
  }
  uint64_t w = 0;
  if (n) memcpy(&w, p, n);
  return n ? sw_hash_u64(w, h) : h;
}

/* Four words at a time, so that their multiplications overlap. */
uint64_t sw_hash_quick(const void *bytes, size_t n) {
  enum { LANES = 4 };
  const unsigned char *p = bytes;
  uint64_t lane[LANES] = {1, 2, 3, 4}, h = n;
  for (; n >= sizeof lane; n -= sizeof lane, p += sizeof lane) {
    uint64_t w[LANES];
    memcpy(w, p, sizeof w);
    for (int i = 0; i < LANES; i++) {
      lane[i] = (lane[i] ^ w[i]) * UINT64_C(0x9e3779b97f4a7c15);
      lane[i] ^= lane[i] >> 29;
    }
  }
  for (int i = 0; i < LANES; i++) h = sw_hash_u64(lane[i], h);
  return sw_hash_bytes(p, n, h);
}

struct sw_dict_slot {
  uint64_t hash; /* 0 = free */
  const char *key;
  size_t key_bytes;
  int64_t value;
};

static uint64_t key_hash(const void *key, size_t n) {
  uint64_t h = sw_hash_quick(key, n);
  return h ? h : 1;
}

/* The slot of the key, or the free slot where it would go. The table is never full. */
static sw_dict_slot *probe(sw_dict_slot *slots, size_t cap, uint64_t h, const void *key, size_t n) {
  size_t i = (size_t)h & (cap - 1);
  while (slots[i].hash) {
    sw_dict_slot *s = &slots[i];
    if (s->hash == h && s->key_bytes == n && (!n || memcmp(s->key, key, n) == 0)) return s;
    i = (i + 1) & (cap - 1);
  }
  return &slots[i];
}

int64_t *sw_dict_get(const sw_dict *m, const void *key, size_t n) {
  if (!m->n) return NULL;
  sw_dict_slot *s = probe(m->slots, m->cap, key_hash(key, n), key, n);
  return s->hash ? &s->value : NULL;
}

static sw_rc map_grow(sw_dict *m, sw_diag *d) {
  size_t cap = m->cap ? m->cap * 2 : 16;
  sw_dict_slot *slots;
  SW_MEM_NEW(slots, cap, d);
  for (size_t i = 0; i < m->cap; i++) {
    sw_dict_slot *s = &m->slots[i];
    if (s->hash) *probe(slots, cap, s->hash, s->key, s->key_bytes) = *s;
  }
  sw_mem_free(m->slots);
  m->slots = slots;
  m->cap = cap;
  return SW_OK;
}

sw_rc sw_dict_put(sw_dict *m, const void *key, size_t n, int64_t value, int64_t **slot, bool *fresh, sw_diag *d) {
  if (m->n * 4 >= m->cap * 3) SW_TRY(map_grow(m, d));
  uint64_t h = key_hash(key, n);
  sw_dict_slot *s = probe(m->slots, m->cap, h, key, n);
  bool is_new = !s->hash;
  if (is_new) {
    const char *copy = sw_arena_strndup(&m->keys, key, n, d);
    if (!copy) return SW_E_RESOURCE;
    *s = (sw_dict_slot){h, copy, n, value};
    m->n++;
  }
  if (slot) *slot = &s->value;
  if (fresh) *fresh = is_new;
  return SW_OK;
}

void sw_dict_deinit(sw_dict *m) {
  sw_mem_free(m->slots);
  sw_arena_deinit(&m->keys);
  *m = (sw_dict){0};
}
