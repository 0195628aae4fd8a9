/* One pass over the bytes: cells are unquoted in place into the arena's copy and collected; a line's end closes a row.
 *
 *   a,"b ""c"", d"\n   ->   two cells: a | b "c", d
 */
#include "bench/csv.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"

typedef SW_ARRAY(const char *) cell_list;
typedef SW_ARRAY(int32_t) line_list;

/* Ends a cell at `*write` and moves both cursors behind the separator that stopped it. */
static char *take_cell(char **read, char *end, bool *row_done) {
  char *cell = *read, *write = *read, *r = *read;
  bool quoted = false;
  while (r < end && (quoted || (*r != ',' && *r != '\n'))) {
    if (*r == '"' && quoted && r + 1 < end && r[1] == '"') {
      *write++ = '"';
      r += 2;
    } else if (*r == '"') {
      quoted = !quoted;
      r++;
    } else {
      *write++ = *r++;
    }
  }
  *row_done = r >= end || *r == '\n';
  if (write > cell && write[-1] == '\r') write--;
  *read = r < end ? r + 1 : r;
  *write = 0;
  return cell;
}

static sw_rc check_width(sw_csv *t, int64_t cells, int32_t line, sw_diag *d) {
  if (t->n_cols == 0) t->n_cols = (int)cells;
  if (cells == t->n_cols) return SW_OK;
  return SW_FAIL_INPUT(d, ((sw_span){t->file, line, 1}), "%" PRId64 " cells; the header has %d", cells, t->n_cols);
}

static sw_rc split_rows(sw_csv *t, char *bytes, size_t n, cell_list *cells, line_list *lines, sw_diag *d) {
  char *end = bytes + n;
  int32_t line = 1;
  for (char *at = bytes; at < end; line++) {
    if (*at == '\n') {
      at++;
      continue;
    }
    size_t before = cells->n;
    for (bool done = false; !done;) SW_TRY(sw_array_push(cells, take_cell(&at, end, &done), d));
    SW_TRY(check_width(t, (int64_t)(cells->n - before), line, d));
    SW_TRY(sw_array_push(lines, line, d));
  }
  return lines->n ? SW_OK : SW_FAIL_INPUT(d, ((sw_span){t->file, 1, 1}), "no header line");
}

static sw_rc keep_csv_cells(sw_csv *t, sw_arena *arena, const cell_list *cells, const line_list *lines, sw_diag *d) {
  const char **all = sw_arena_copy(arena, cells->at, cells->n, sizeof *all, d);
  t->line = sw_arena_copy(arena, lines->at, lines->n, sizeof *t->line, d);
  if (!all || !t->line) return SW_E_RESOURCE;
  t->head = all;
  t->cells = all + t->n_cols;
  t->n_rows = (int64_t)lines->n - 1;
  t->line++;
  return SW_OK;
}

sw_rc sw_csv_parse(const char *file, const char *bytes, size_t n, sw_arena *arena, sw_csv *out, sw_diag *d) {
  *out = (sw_csv){0};
  out->file = sw_arena_strndup(arena, file, strlen(file), d);
  char *copy = sw_arena_strndup(arena, bytes, n, d);
  if (!out->file || !copy) return SW_E_RESOURCE;
  cell_list cells = {0};
  line_list lines = {0};
  sw_rc rc = split_rows(out, copy, n, &cells, &lines, d);
  if (!rc) rc = keep_csv_cells(out, arena, &cells, &lines, d);
  sw_array_free(&cells);
  sw_array_free(&lines);
  return rc;
}

sw_rc sw_csv_read(const char *path, sw_arena *arena, sw_csv *out, sw_diag *d) {
  char *bytes;
  size_t n;
  SW_TRY(sw_file_read_text(path, &bytes, &n, d));
  sw_rc rc = sw_csv_parse(path, bytes, n, arena, out, d);
  sw_mem_free(bytes);
  return rc;
}

void sw_csv_plain_name(const char *name, char *out, size_t size) {
  size_t n = 0;
  for (; *name && n + 1 < size; name++)
    if (isalnum((unsigned char)*name)) out[n++] = (char)tolower((unsigned char)*name);
  out[n] = 0;
}

bool sw_csv_fits(const char *pattern, const char *text) {
  const size_t n = strlen(pattern);
  return n && pattern[n - 1] == '*' ? strncmp(pattern, text, n - 1) == 0 : strcmp(pattern, text) == 0;
}

int sw_csv_find(const sw_csv *t, const char *name) {
  for (int i = 0; i < t->n_cols; i++)
    if (!strcmp(t->head[i], name)) return i;
  return -1;
}

sw_rc sw_csv_column(const sw_csv *t, const char *name, int *out, sw_diag *d) {
  *out = sw_csv_find(t, name);
  if (*out >= 0) return SW_OK;
  return SW_FAIL_INPUT(d, ((sw_span){t->file, 1, 1}), "no column '%s'", name);
}

sw_rc sw_csv_number(const sw_csv *t, int64_t row, int col, double *out, sw_diag *d) {
  const char *text = sw_csv_at(t, row, col);
  char *end;
  double v = strtod(text, &end);
  if (end == text || *end || !isfinite(v) || v < 0)
    return SW_FAIL_INPUT(d, ((sw_span){t->file, t->line[row], 1}), "'%s' is '%.40s'; expected a number", t->head[col],
                         text);
  *out = v;
  return SW_OK;
}
