/* Tables of text whose columns align: rows are gathered first, widths follow from what they hold. */
#ifndef BASE_COLUMNS_H_
#define BASE_COLUMNS_H_

#include "base/array.h"
#include "shardwright/text.h"

enum { SW_MAX_COLUMNS = 10 };

typedef struct sw_columns {
  int n;
  bool right[SW_MAX_COLUMNS]; /* align to the right */
  sw_text cells;              /* texts one after another, each with its NUL */
  SW_ARRAY(size_t) at;        /* where each cell starts, row by row */
} sw_columns;

/* Append one cell (rows fill up from the left). */
SW_API void sw_columns_add(sw_columns *c, const char *fmt, ...) SW_PRINTF(2, 3);
SW_API void sw_columns_add_bytes(sw_columns *c, double bytes);
SW_API void sw_columns_add_seconds(sw_columns *c, double seconds);
/* Print with `indent` blanks before each row and two between columns, and free. */
SW_API void sw_columns_print(sw_columns *c, int indent, sw_text *out);

/* 0 of nothing. */
static inline double sw_percent_of(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

#endif
