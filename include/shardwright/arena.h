/* Memory: counted heap blocks with a fault hook, and arenas that free everything at once.
 *
 * No other file of the project calls malloc. The verb tells the lifetime: _create/_destroy own heap memory, _init/
 * _deinit use the caller's storage, _build(arena, ...) makes something that dies with the arena.
 */
#ifndef SHARDWRIGHT_ARENA_H_
#define SHARDWRIGHT_ARENA_H_

#include <stddef.h>

#include "shardwright/status.h"

/* `count * size` bytes, zeroed, aligned to 64; NULL with `d` filled when it cannot be had or the product overflows.
 * A request of 0 bytes gives a valid pointer. */
SW_API void *sw_mem_alloc(size_t count, size_t size, sw_diag *d);
/* The same, not zeroed: for much that is written before it is read, and is no matter of the stack. */
SW_API void *sw_mem_room(size_t count, size_t size, sw_diag *d);
/* Grow `old` (NULL allowed) from `old_count` to `count` elements, new ones zeroed. On failure `old` stays valid. */
SW_API void *sw_mem_grow(void *old, size_t old_count, size_t count, size_t size, sw_diag *d);
SW_API void sw_mem_free(void *p); /* NULL allowed */

/* For programs that allocate and free much: what is freed stays with the process (up to 512 MiB of it), instead of
 * going back to the system and coming again page by page. Process-wide; nothing where the C library has no such
 * setting. */
SW_API void sw_mem_keep_freed(void);

/* Tests: fail the n-th allocation from now (1 = the next), 0 = never. Process-wide, atomic. */
SW_API void sw_mem_fail_after(long n);

typedef struct sw_arena_block sw_arena_block;
typedef struct sw_arena_end sw_arena_end;

/* Zero-initialise to start; not thread-safe. */
typedef struct sw_arena {
  sw_arena_block *head;
  size_t bytes; /* handed out, for statistics */
  sw_arena_end *ends;
} sw_arena;

/* `count * size` zeroed bytes, aligned to 16, valid until sw_arena_deinit or a reset. */
SW_API void *sw_arena_alloc(sw_arena *a, size_t count, size_t size, sw_diag *d);
SW_API char *sw_arena_strndup(sw_arena *a, const char *text, size_t len, sw_diag *d);
/* The whole text. */
SW_API SW_CHECKED sw_rc sw_arena_keep(sw_arena *a, const char *text, const char **out, sw_diag *d);
SW_API char *sw_arena_printf(sw_arena *a, sw_diag *d, const char *fmt, ...) SW_PRINTF(3, 4);
SW_API void *sw_arena_copy(sw_arena *a, const void *src, size_t count, size_t size, sw_diag *d);
/* Room for n + more elements of `size` bytes at *at, where n are used and *cap there is room for: a copy with twice as
 * much where that is less. On failure all stays as it is. */
SW_API SW_CHECKED sw_rc sw_arena_grow(sw_arena *a, void **at, int32_t *cap, int32_t n, int32_t more, size_t size,
                                      sw_diag *d);
/* Calls end(of) before what the arena holds is freed, the last one asked for first: for what lives as long as the arena
 * but is not in it. */
SW_API SW_CHECKED sw_rc sw_arena_at_end(sw_arena *a, void (*end)(void *of), void *of, sw_diag *d);
/* Free everything but one block, for reuse in a loop. */
SW_API void sw_arena_reset(sw_arena *a);
SW_API void sw_arena_deinit(sw_arena *a);

/* `ptr = count objects from the arena`, or return the failure. */
#define SW_ARENA_NEW(ptr, arena, count, d)                                \
  do {                                                                    \
    (ptr) = sw_arena_alloc((arena), (size_t)(count), sizeof *(ptr), (d)); \
    if (!(ptr)) return SW_E_RESOURCE;                                     \
  } while (0)
/* The same for each of up to eight pointers: SW_ARENA_NEW_EACH(arena, n, d, first, second). */
#define SW_ARENA_NEW_EACH(arena, count, d, ...)                                                         \
  do {                                                                                                  \
    if (!(SW_ARENA_NAME_(__VA_ARGS__, 8_, 7_, 6_, 5_, 4_, 3_, 2_, 1_, )(arena, count, d, __VA_ARGS__))) \
      return SW_E_RESOURCE;                                                                             \
  } while (0)
#define SW_ARENA_NAME_(p1, p2, p3, p4, p5, p6, p7, p8, n, ...) SW_ARENA_GOT_##n
#define SW_ARENA_GOT_1_(a, n, d, p) ((p) = sw_arena_alloc((a), (size_t)(n), sizeof *(p), (d)))
#define SW_ARENA_GOT_2_(a, n, d, p, ...) SW_ARENA_GOT_1_(a, n, d, p) && SW_ARENA_GOT_1_(a, n, d, __VA_ARGS__)
#define SW_ARENA_GOT_3_(a, n, d, p, ...) SW_ARENA_GOT_1_(a, n, d, p) && SW_ARENA_GOT_2_(a, n, d, __VA_ARGS__)
#define SW_ARENA_GOT_4_(a, n, d, p, ...) SW_ARENA_GOT_1_(a, n, d, p) && SW_ARENA_GOT_3_(a, n, d, __VA_ARGS__)
#define SW_ARENA_GOT_5_(a, n, d, p, ...) SW_ARENA_GOT_1_(a, n, d, p) && SW_ARENA_GOT_4_(a, n, d, __VA_ARGS__)
#define SW_ARENA_GOT_6_(a, n, d, p, ...) SW_ARENA_GOT_1_(a, n, d, p) && SW_ARENA_GOT_5_(a, n, d, __VA_ARGS__)
#define SW_ARENA_GOT_7_(a, n, d, p, ...) SW_ARENA_GOT_1_(a, n, d, p) && SW_ARENA_GOT_6_(a, n, d, __VA_ARGS__)
#define SW_ARENA_GOT_8_(a, n, d, p, ...) SW_ARENA_GOT_1_(a, n, d, p) && SW_ARENA_GOT_7_(a, n, d, __VA_ARGS__)
/* sw_arena_grow for one more element at `ptr`, or return the failure. */
#define SW_ARENA_ROOM(ptr, n, cap, arena, d)                                                               \
  do {                                                                                                     \
    if (sw_arena_grow((arena), (void **)&(ptr), &(cap), (n), 1, sizeof *(ptr), (d))) return SW_E_RESOURCE; \
  } while (0)
#define SW_MEM_NEW(ptr, count, d)                              \
  do {                                                         \
    (ptr) = sw_mem_alloc((size_t)(count), sizeof *(ptr), (d)); \
    if (!(ptr)) return SW_E_RESOURCE;                          \
  } while (0)
#define SW_MEM_ROOM(ptr, count, d)                            \
  do {                                                        \
    (ptr) = sw_mem_room((size_t)(count), sizeof *(ptr), (d)); \
    if (!(ptr)) return SW_E_RESOURCE;                         \
  } while (0)

#endif
