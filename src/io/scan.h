/* Inside io: JSON tokens from a stream, for readers of large files of one known format. */
#ifndef IO_SCAN_H_
#define IO_SCAN_H_

#include <stdint.h>

#include "shardwright/arena.h"

/* Text in [at, end); `more` gives the next piece, or sets n = 0 at the end. */
typedef struct io_scan {
  const char *at, *end, *start; /* start: of the piece */
  int64_t before;               /* bytes in earlier pieces */
  sw_rc (*more)(struct io_scan *s, const char **piece, size_t *n);
  void *source;
  const char *name; /* of the file, for messages */
  sw_diag *d;
} io_scan;

sw_rc io_scan_fail(const io_scan *s, const char *expected); /* "offset 12: found 'x'; expected ..." */
/* Skip blanks and return the next byte without taking it; 0 at the end. */
sw_rc io_scan_peek(io_scan *s, char *c);
sw_rc io_scan_take(io_scan *s, char c, const char *expected);
/* After an element: takes ',' (then *again is true) or `close`. */
sw_rc io_scan_next(io_scan *s, char close, bool *again);
/* Whether a list or object that was just opened is closed at once; takes the closing byte then. */
sw_rc io_scan_empty(io_scan *s, char close, bool *empty);
/* A whole number of digits, at most INT64_MAX. */
sw_rc io_scan_int(io_scan *s, int64_t *out);
/* A string without its quotes, cut to cap - 1 bytes; escapes are kept as they stand. */
sw_rc io_scan_string(io_scan *s, char *out, size_t cap);
/* The key of the next member, and its colon. */
sw_rc io_scan_key(io_scan *s, char *out, size_t cap);
sw_rc io_scan_skip(io_scan *s); /* any value */

#endif
