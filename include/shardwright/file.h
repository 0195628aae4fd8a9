/* Whole files: read, and write so that a reader never sees half of one. "-" is standard input or output. */
#ifndef SHARDWRIGHT_FILE_H_
#define SHARDWRIGHT_FILE_H_

#include <stddef.h>

#include "shardwright/arena.h"

/* Read all of `path` (gzip is unpacked when the bytes start with its magic). *bytes is NUL-terminated beyond *n and
 * owned by the caller (sw_mem_free). */
SW_API SW_CHECKED sw_rc sw_file_read(const char *path, char **bytes, size_t *n, sw_diag *d);
/* Write beside the target, or what it links to, and rename over it. */
SW_API SW_CHECKED sw_rc sw_file_write(const char *path, const void *bytes, size_t n, sw_diag *d);
/* A file that comes with the program, as FOLDER/NAME ("hwprofiles", "local.json"). Looked for in $SHARDWRIGHT_DATA, in
 * the working folder, and for the folder of the running program and the four above it: there, and in share/shardwright
 * there. *path is in the arena; not found is SW_E_INPUT. */
SW_API SW_CHECKED sw_rc sw_data_file(const char *folder, const char *name, sw_arena *arena, const char **path,
                                     sw_diag *d);
SW_API const char *sw_path_base(const char *path); /* part after the last '/'; borrowed */

#endif
