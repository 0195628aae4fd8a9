/* Copying much memory. */
#ifndef SRC_COMM_COPY_H_
#define SRC_COMM_COPY_H_

#include <stdbool.h>
#include <stddef.h>

/* A call that reads and writes so much does not stay in a last-level cache; its results go past it. */
enum { SW_STREAM_BYTES = 40 << 20 };

/* memcpy; `streams`: past the caches, where the machine can. Done when it returns, also for other threads. */
void sw_copy(void *dst, const void *src, size_t bytes, bool streams);
/* A piece of such a copy: whole cache lines go past the caches. Other threads see it after the caller's
 * sw_stream_end. */
void sw_stream(void *dst, const void *src, size_t bytes);
void sw_stream_end(void);

#endif
