#include "shardwright/arena.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/array.h"

enum { MEM_ALIGN = 64, ARENA_ALIGN = 16, ARENA_FIRST_BYTES = 16 << 10, ARENA_MOST_BYTES = 4 << 20 };

static atomic_long g_fail_after;

void sw_mem_fail_after(long n) { atomic_store(&g_fail_after, n); }

void sw_mem_keep_freed(void) {
#ifdef __GLIBC__
  (void)mallopt(M_MMAP_THRESHOLD, 32 << 20);
  (void)mallopt(M_TRIM_THRESHOLD, 512 << 20);
  (void)mallopt(M_TOP_PAD, 16 << 20);
#endif
}

static bool fault_due(void) {
  if (atomic_load_explicit(&g_fail_after, memory_order_relaxed) <= 0) return false;
  return atomic_fetch_sub(&g_fail_after, 1) == 1;
}

static sw_rc no_memory(sw_diag *d, size_t count, size_t size) {
  return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory (asked for %zu x %zu bytes)", count, size);
}

void *sw_mem_room(size_t count, size_t size, sw_diag *d) {
  size_t bytes;
  if (fault_due() || __builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX - MEM_ALIGN) {
    (void)no_memory(d, count, size);
    return NULL;
  }
  if (bytes == 0) bytes = 1;
  const bool big = bytes >= (size_t)4 * MEM_ALIGN; /* aligned for SIMD and cache lines */
  void *p = big ? aligned_alloc(MEM_ALIGN, (bytes + MEM_ALIGN - 1) / MEM_ALIGN * MEM_ALIGN) : malloc(bytes);
  if (!p) (void)no_memory(d, count, size);
  return p;
}

void *sw_mem_alloc(size_t count, size_t size, sw_diag *d) {
  void *p = sw_mem_room(count, size, d);
  return p ? memset(p, 0, count * size) : NULL;
}

void *sw_mem_grow(void *old, size_t old_count, size_t count, size_t size, sw_diag *d) {
  void *p = sw_mem_alloc(count, size, d);
  if (!p) return NULL;
  if (old && old_count) memcpy(p, old, (old_count < count ? old_count : count) * size);
  sw_mem_free(old);
  return p;
}

void sw_mem_free(void *p) { free(p); }

struct sw_arena_block {
  sw_arena_block *next;
  size_t cap, used;
  _Alignas(ARENA_ALIGN) unsigned char bytes[];
};

static sw_arena_block *arena_block(sw_arena *a, size_t need, sw_diag *d) {
  size_t cap = a->head ? a->head->cap * 2 : ARENA_FIRST_BYTES;
  if (cap > ARENA_MOST_BYTES) cap = ARENA_MOST_BYTES;
  if (cap < need) cap = need;
  if (fault_due() || need > PTRDIFF_MAX - sizeof(sw_arena_block)) {
    (void)no_memory(d, 1, need);
    return NULL;
  }
  sw_arena_block *b = malloc(sizeof *b + cap);
  if (!b) {
    (void)no_memory(d, 1, need);
    return NULL;
  }
  b->cap = cap;
  b->used = 0;
  b->next = a->head;
  a->head = b;
  return b;
}

void *sw_arena_alloc(sw_arena *a, size_t count, size_t size, sw_diag *d) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX - ARENA_ALIGN) {
    (void)no_memory(d, count, size);
    return NULL;
  }
  bytes = (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
  sw_arena_block *b = a->head;
  if (!b || b->cap - b->used < bytes) b = arena_block(a, bytes, d);
  if (!b) return NULL;
  void *p = b->bytes + b->used;
  b->used += bytes;
  a->bytes += bytes;
  return memset(p, 0, bytes);
}

void *sw_arena_copy(sw_arena *a, const void *src, size_t count, size_t size, sw_diag *d) {
  void *p = sw_arena_alloc(a, count, size, d);
  if (p && count && size) memcpy(p, src, count * size);
  return p;
}

sw_rc sw_arena_grow(sw_arena *a, void **at, int32_t *cap, int32_t n, int32_t more, size_t size, sw_diag *d) {
  if (more <= *cap - n) return SW_OK;
  const int64_t room = 2 * ((int64_t)n + more) + 2;
  if (room > INT32_MAX) return no_memory(d, (size_t)room, size);
  void *to = sw_arena_alloc(a, (size_t)room, size, d);
  if (!to) return SW_E_RESOURCE;
  if (n) memcpy(to, *at, (size_t)n * size);
  *at = to;
  *cap = (int32_t)room;
  return SW_OK;
}

char *sw_arena_strndup(sw_arena *a, const char *text, size_t len, sw_diag *d) {
  char *p = sw_arena_alloc(a, len + 1, 1, d);
  if (p && len) memcpy(p, text, len);
  return p;
}

sw_rc sw_arena_keep(sw_arena *a, const char *text, const char **out, sw_diag *d) {
  *out = sw_arena_strndup(a, text, strlen(text), d);
  return *out ? SW_OK : SW_E_RESOURCE;
}

char *sw_arena_printf(sw_arena *a, sw_diag *d, const char *fmt, ...) {
  va_list ap, ap2;
  va_start(ap, fmt);
  va_copy(ap2, ap);
  int n = vsnprintf(NULL, 0, fmt, ap);
  va_end(ap);
  char *p = n < 0 ? NULL : sw_arena_alloc(a, (size_t)n + 1, 1, d);
  if (p) vsnprintf(p, (size_t)n + 1, fmt, ap2);
  va_end(ap2);
  return p;
}

struct sw_arena_end {
  sw_arena_end *next;
  void (*end)(void *of);
  void *of;
};

sw_rc sw_arena_at_end(sw_arena *a, void (*end)(void *of), void *of, sw_diag *d) {
  sw_arena_end *e;
  SW_ARENA_NEW(e, a, 1, d);
  *e = (sw_arena_end){a->ends, end, of};
  a->ends = e;
  return SW_OK;
}

static void run_ends(sw_arena *a) {
  for (const sw_arena_end *e = a->ends; e; e = e->next) e->end(e->of);
  a->ends = NULL;
}

static void free_from(sw_arena_block *b) {
  while (b) {
    sw_arena_block *next = b->next;
    free(b);
    b = next;
  }
}

void sw_arena_reset(sw_arena *a) {
  if (!a->head) return;
  run_ends(a);
  free_from(a->head->next);
  a->head->next = NULL;
  a->head->used = 0;
  a->bytes = 0;
}

void sw_arena_deinit(sw_arena *a) {
  run_ends(a);
  free_from(a->head);
  a->head = NULL;
  a->bytes = 0;
}

sw_rc sw_array_reserve_(void **at, size_t *cap, size_t n, size_t want, size_t size, sw_diag *d) {
  if (want <= *cap) return SW_OK;
  size_t more = *cap < 8 ? 8 : *cap + *cap / 2;
  if (more < want) more = want;
  void *p = sw_mem_grow(*at, n, more, size, d);
  if (!p) return SW_E_RESOURCE;
  *at = p;
  *cap = more;
  return SW_OK;
}
