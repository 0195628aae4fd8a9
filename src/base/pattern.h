/* Patterns of names.
 *
 *   *            any signs within one part of the name; parts end at . / [ and ]
 *   **           any signs; "**" and a separator behind it may also be nothing: "**.wq" matches "wq" and "h.3.attn.wq"
 *   ?            one sign within a part
 *   {a,b,0..31}  one of these; 0..30..2 are the even numbers
 *
 * All else stands for itself. A pattern without brackets also meets the names of a JAX tree as if they were written
 * with dots: "params.h.*.wq" matches "params['h'][3]['wq']".
 */
#ifndef BASE_PATTERN_H_
#define BASE_PATTERN_H_

#include <stddef.h>

#include "shardwright/status.h"

/* Has it signs that make it a pattern? */
SW_API bool sw_pattern_is(const char *text, size_t n);
/* Has it none of the signs between parts? */
SW_API bool sw_pattern_is_of_one_part(const char *text, size_t n);
/* SW_E_USAGE for braces that are not closed, empty, or in each other, and for ranges that are none. */
SW_API SW_CHECKED sw_rc sw_pattern_check(const char *text, size_t n, sw_diag *d);
/* How many signs of a checked pattern or of the name would have to be others for a match; 0: it matches. Names and
 * patterns that are too long for this never match. */
SW_API int sw_pattern_distance(const char *text, size_t n, const char *name);

#endif
