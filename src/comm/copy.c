/* Stores past the caches: a plain store reads the line that it is about to overwrite, which for results that no cache
 * holds is a third of the traffic.
 *
 *   sw_copy(to, from, 1 << 24, true):  up to 63 bytes plainly, then 64 at a time to aligned lines, then the rest
 */
#include "comm/copy.h"

#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { LINE = 64, LEAST = 1024 };

#if defined(__SSE2__)
void sw_stream(void *dst, const void *src, size_t bytes) {
  size_t head = -(uintptr_t)dst % LINE;
  if (head > bytes) head = bytes;
  memcpy(dst, src, head);
  __m128i *to = (__m128i *)(void *)((char *)dst + head);
  const __m128i *from = (const __m128i *)(const void *)((const char *)src + head);
  for (size_t n = (bytes - head) / LINE; n > 0; n--, to += 4, from += 4) {
    __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
    __m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
    _mm_stream_si128(to, a);
    _mm_stream_si128(to + 1, b);
    _mm_stream_si128(to + 2, c);
    _mm_stream_si128(to + 3, d);
  }
  memcpy(to, from, (bytes - head) % LINE);
}

void sw_stream_end(void) { _mm_sfence(); }
#else
void sw_stream(void *dst, const void *src, size_t bytes) { memcpy(dst, src, bytes); }
void sw_stream_end(void) {}
#endif

void sw_copy(void *dst, const void *src, size_t bytes, bool streams) {
  if (!streams || bytes < LEAST) {
    memcpy(dst, src, bytes);
    return;
  }
  sw_stream(dst, src, bytes);
  sw_stream_end();
}
