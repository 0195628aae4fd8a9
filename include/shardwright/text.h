/* A growable text buffer. Invariant: `at` is NULL or NUL-terminated at at[n]. A failed append is remembered in `rc`
 * and later appends do nothing, so a printer checks once, at the end. */
#ifndef SHARDWRIGHT_TEXT_H_
#define SHARDWRIGHT_TEXT_H_

#include "shardwright/arena.h"

typedef struct sw_text {
  char *at;
  size_t n, cap;
  sw_rc rc;
} sw_text;

SW_API void sw_text_append(sw_text *t, const char *bytes, size_t n);
SW_API void sw_text_puts(sw_text *t, const char *s);
SW_API void sw_text_printf(sw_text *t, const char *fmt, ...) SW_PRINTF(2, 3);
/* Pad with blanks up to `width` characters counted from position `start` of the buffer. */
SW_API void sw_text_pad(sw_text *t, size_t start, size_t width);
SW_API const char *sw_text_str(const sw_text *t); /* "" when empty; borrowed */
/* NULL is equal to NULL alone. */
SW_API bool sw_texts_equal(const char *a, const char *b);
SW_API void sw_text_free(sw_text *t);
/* The text as it stands, in the arena; the buffer is freed. NULL when memory was or is short. */
SW_API const char *sw_text_keep(sw_text *t, sw_arena *arena, sw_diag *d);

/* Human forms: "1.50 GiB", "12.3 us", "4.2 GFLOP". The number keeps three significant digits. */
SW_API void sw_text_bytes(sw_text *t, double bytes);
/* The number that so many significant digits say. */
SW_API double sw_round_to(double v, int digits);
SW_API void sw_text_seconds(sw_text *t, double seconds);

/* Numbers from users: the whole of `s` must be one number, and in range. `what` names it in the message. */
SW_API SW_CHECKED sw_rc sw_parse_i64(const char *s, int64_t min, int64_t max, const char *what, int64_t *out,
                                     sw_diag *d);
SW_API SW_CHECKED sw_rc sw_parse_f64(const char *s, double min, double max, const char *what, double *out, sw_diag *d);
/* "80GB", "1.5GiB", "512MiB", "4096": to bytes. */
SW_API SW_CHECKED sw_rc sw_parse_bytes(const char *s, const char *what, int64_t *out, sw_diag *d);

#endif
