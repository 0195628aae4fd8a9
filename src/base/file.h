/* Whole files: read, and write so that a reader never sees half of one. "-" is standard input or output. */
#ifndef BASE_FILE_H_
#define BASE_FILE_H_

#include <stddef.h>

#include "shardwright/arena.h"

/* Read all of `path` (gzip is unpacked when the bytes start with its magic; it must be whole, with nothing behind it).
 * *bytes is NUL-terminated beyond *n and owned by the caller (sw_mem_free). */
SW_API SW_CHECKED sw_rc sw_file_read(const char *path, char **bytes, size_t *n, sw_diag *d);
/* The same of less than 2 GiB, checked: `check` sees the first bytes as soon as they are there, for what is refused may
 * have no end, and then all. */
typedef sw_rc (*sw_file_check)(const char *path, const char *bytes, size_t n, sw_diag *d);
SW_API SW_CHECKED sw_rc sw_file_read_checked(const char *path, sw_file_check check, char **bytes, size_t *n,
                                             sw_diag *d);
/* The same of text: */
SW_API SW_CHECKED sw_rc sw_file_read_text(const char *path, char **bytes, size_t *n, sw_diag *d);
/* No byte order mark, no UTF-16 or UTF-32, no byte 0; `path` is for the message. */
SW_API SW_CHECKED sw_rc sw_check_text(const char *path, const char *bytes, size_t n, sw_diag *d);
/* The same bytes piece by piece, each NUL-terminated and valid until the next; the end is a piece of no bytes. `path`
 * outlives the stream. */
typedef struct sw_file_stream sw_file_stream;
SW_API SW_CHECKED sw_rc sw_file_open(const char *path, sw_file_stream **out, sw_diag *d);
SW_API SW_CHECKED sw_rc sw_file_next(sw_file_stream *s, const char **piece, size_t *n, sw_diag *d);
SW_API void sw_file_close(sw_file_stream *s); /* NULL allowed */

/* A file that a program reads, or writes. */
typedef struct sw_file_use {
  const char *path;
  bool written;
} sw_file_use;
/* Is it one file, however the paths are spelled and whatever links there are? Of standard output, too, when that goes
 * into a file. What is no file (a pipe, /dev/null, an input that is not there) is none. */
SW_API bool sw_file_same(const sw_file_use *a, const sw_file_use *b);
/* Will sw_file_write find a folder to write to, as far as can be told before? */
SW_API SW_CHECKED sw_rc sw_file_can_write(const char *path, sw_diag *d);
/* Write beside the target, or what it links to, and rename over it. */
SW_API SW_CHECKED sw_rc sw_file_write(const char *path, const void *bytes, size_t n, sw_diag *d);
/* A file that comes with the program, as FOLDER/NAME ("hwprofiles", "local.json"). Looked for in $SHARDWRIGHT_DATA, in
 * the working folder, and for the folder of the library (or what it is linked into), that of the running program, and
 * the four above each: there, and in share/shardwright there. *path is in the arena; not found is SW_E_INPUT. */
SW_API SW_CHECKED sw_rc sw_data_file(const char *folder, const char *name, sw_arena *arena, const char **path,
                                     sw_diag *d);
/* More than the ending, as ".json", and that at its end. */
SW_API bool sw_path_ends_in(const char *path, const char *ending);
SW_API const char *sw_path_base(const char *path); /* part after the last '/'; borrowed */

#endif
