/* Large data inside a text. */
#ifndef BASE_PACKED_H_
#define BASE_PACKED_H_

#include "shardwright/text.h"

/* Append the bytes as zlib deflates them (RFC 1950), in base 64 (RFC 4648). */
SW_API void sw_put_deflated(const void *bytes, size_t n, sw_text *out);

#endif
