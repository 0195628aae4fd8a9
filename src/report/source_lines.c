#include "report/source_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

enum { MOST_BYTES = 240 }; /* of a line; what is behind is not shown */

static int by_file_and_line(const void *a, const void *b) {
  const sw_source_line *x = a, *y = b;
  const int order = strcmp(x->file, y->file);
  return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* The text of lines[0 .. n), all of one file; returns how many of them it has. */
static int32_t read_lines(sw_source_line *lines, int32_t n, sw_arena *arena) {
  char *bytes;
  size_t size;
  int32_t found = 0, line = 1;
  if (sw_file_read_text(lines[0].file, &bytes, &size, NULL)) return 0;
  for (const char *at = bytes; at && found < n; line++) {
    const char *end = strchr(at, '\n');
    size_t length = end ? (size_t)(end - at) : strlen(at);
    if (length && at[length - 1] == '\r') length--;
    if (line == lines[found].line) {
      lines[found].text = sw_arena_strndup(arena, at, length < MOST_BYTES ? length : MOST_BYTES, NULL);
      if (!lines[found].text) break;
      found++;
    }
    at = end ? end + 1 : NULL;
  }
  sw_mem_free(bytes);
  return found;
}

sw_rc sw_read_source_lines(const sw_graph *g, sw_arena *arena, int32_t *n, const sw_source_line **out, sw_diag *d) {
  sw_source_line *lines;
  int32_t all = 0, kept = 0;
  SW_ARENA_NEW(lines, arena, g->n_ops, d);
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_span at = g->ops[i].location.at;
    if (at.line > 0 && at.file && sw_path_ends_in(at.file, ".py"))
      lines[all++] = (sw_source_line){at.file, at.line, NULL};
  }
  if (all) qsort(lines, (size_t)all, sizeof *lines, by_file_and_line);
  int32_t different = 0;
  for (int32_t i = 0; i < all; i++)
    if (!different || by_file_and_line(&lines[different - 1], &lines[i])) lines[different++] = lines[i];
  for (int32_t first = 0, next; first < different; first = next) {
    for (next = first + 1; next < different && !strcmp(lines[next].file, lines[first].file);) next++;
    const int32_t read = read_lines(&lines[first], next - first, arena);
    memmove(&lines[kept], &lines[first], (size_t)read * sizeof *lines);
    kept += read;
  }
  *n = kept;
  *out = lines;
  return SW_OK;
}
