/* Whole files: read, and write so that a reader never sees half of one. "-" is standard input or output. */
#ifndef SHARDWRIGHT_FILE_H_
#define SHARDWRIGHT_FILE_H_

#include <stddef.h>

#include "shardwright/arena.h"

/* Read all of `path` (gzip is unpacked when the bytes start with its magic). *bytes is NUL-terminated beyond *n and
 * owned by the caller (sw_mem_free). */
SW_API SW_CHECKED sw_rc sw_file_read(const char *path, char **bytes, size_t *n, sw_diag *d);
/* Write beside the target and rename over it. */
SW_API SW_CHECKED sw_rc sw_file_write(const char *path, const void *bytes, size_t n, sw_diag *d);
SW_API const char *sw_path_base(const char *path); /* part after the last '/'; borrowed */

#endif
