#include "base/packed.h"

#include <zlib.h>

#include "shardwright/arena.h"

static void put_base64(const unsigned char *bytes, size_t n, sw_text *out) {
  static const char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < n; i += 3) {
    const size_t have = n - i < 3 ? n - i : 3;
    const unsigned bits = (unsigned)bytes[i] << 16 | (have > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                          (have > 2 ? (unsigned)bytes[i + 2] : 0);
    char four[4] = {kDigits[bits >> 18], kDigits[bits >> 12 & 63], '=', '='};
    if (have > 1) four[2] = kDigits[bits >> 6 & 63];
    if (have > 2) four[3] = kDigits[bits & 63];
    sw_text_append(out, four, sizeof four);
  }
}

void sw_put_deflated(const void *text, size_t size, sw_text *out) {
  uLongf n = compressBound((uLong)size);
  unsigned char *bytes = sw_mem_alloc((size_t)n, 1, NULL);
  const bool done = bytes && compress2(bytes, &n, text, (uLong)size, 9) == Z_OK;
  if (done)
    put_base64(bytes, (size_t)n, out);
  else
    out->rc = SW_E_RESOURCE;
  sw_mem_free(bytes);
}
