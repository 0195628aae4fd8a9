/* Hashing and two small hash maps. Iteration order is never exposed: results may not depend on it. */
#ifndef BASE_HASH_H_
#define BASE_HASH_H_

#include <stddef.h>

#include "shardwright/arena.h"

/* 64-bit hash of bytes; stable across runs and machines of one byte order (it is written into plan files). */
SW_API uint64_t sw_hash_bytes(const void *bytes, size_t n, uint64_t seed);
SW_API uint64_t sw_hash_u64(uint64_t x, uint64_t seed);
/* For tables in memory: several times as fast on long keys, and another from version to version. */
SW_API uint64_t sw_hash_quick(const void *bytes, size_t n);

/* From byte strings (copied) to int64. Zero-initialise to start. */
typedef struct sw_dict_slot sw_dict_slot;
typedef struct sw_dict {
  sw_dict_slot *slots;
  size_t n, cap;
  sw_arena keys;
} sw_dict;

/* The value at the key, or NULL. The pointer is valid until the next put. */
SW_API int64_t *sw_dict_get(const sw_dict *m, const void *key, size_t n);
/* Insert `value` if the key is new. *slot (may be NULL) = the place of the key's value; *fresh (may be NULL) says
 * whether it was inserted. */
SW_API SW_CHECKED sw_rc sw_dict_put(sw_dict *m, const void *key, size_t n, int64_t value, int64_t **slot, bool *fresh,
                                    sw_diag *d);
SW_API void sw_dict_deinit(sw_dict *m);

#endif
