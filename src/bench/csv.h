/* Small comma-separated tables with a header line (RFC 4180: quoted cells, doubled quotes). */
#ifndef BENCH_CSV_H_
#define BENCH_CSV_H_

#include "shardwright/arena.h"

typedef struct sw_csv {
  const char *file; /* as given; for messages */
  int n_cols;
  int64_t n_rows;     /* without the header */
  const char **head;  /* n_cols */
  const char **cells; /* n_rows * n_cols */
  int32_t *line;      /* of each row in the file */
} sw_csv;

/* All of it lives in the arena. A row with another number of cells than the header is refused. */
SW_CHECKED sw_rc sw_csv_parse(const char *file, const char *bytes, size_t n, sw_arena *arena, sw_csv *out, sw_diag *d);
SW_CHECKED sw_rc sw_csv_read(const char *path, sw_arena *arena, sw_csv *out, sw_diag *d);

/* A name for comparing: its letters and digits alone, in lower case, as far as they fit. */
void sw_csv_plain_name(const char *name, char *out, size_t size);
/* Is `pattern` the text, or its beginning with a '*' behind it? */
bool sw_csv_fits(const char *pattern, const char *text);
/* Index of a column; -1: there is none. */
int sw_csv_find(const sw_csv *t, const char *name);
/* The same, or a failure that names it. */
SW_CHECKED sw_rc sw_csv_column(const sw_csv *t, const char *name, int *out, sw_diag *d);
static inline const char *sw_csv_at(const sw_csv *t, int64_t row, int col) { return t->cells[row * t->n_cols + col]; }
/* A cell as a number, finite and >= 0. */
SW_CHECKED sw_rc sw_csv_number(const sw_csv *t, int64_t row, int col, double *out, sw_diag *d);

#endif
