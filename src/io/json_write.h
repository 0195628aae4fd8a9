/* Writes JSON into a text buffer: two blanks per level, members in the order of the calls, so that equal data gives
 * equal bytes.
 *
 *   sw_json_out o;  sw_json_out_init(&o, &text);
 *   sw_jw_object(&o, NULL);                  {
 *   sw_jw_string(&o, "name", "a");             "name": "a",
 *   sw_jw_row(&o, "dims");                     "dims": [4, 8]
 *   sw_jw_i64(&o, NULL, 4); sw_jw_i64(&o, NULL, 8);
 *   sw_jw_end(&o);                           }
 *   sw_jw_end(&o);
 *
 * `key` is the member's name inside an object and NULL elsewhere. Failures of the buffer are kept in text.rc, as is a
 * call that does not fit (a key in an array, more ends than starts): SW_E_BUG.
 */
#ifndef IO_JSON_WRITE_H_
#define IO_JSON_WRITE_H_

#include "shardwright/sharding.h"

enum { SW_JSON_OUT_DEPTH = 64 };

typedef struct sw_json_out {
  sw_text *text;
  int depth;
  struct {
    bool object, inline_, any; /* any: has a child already */
  } level[SW_JSON_OUT_DEPTH];
} sw_json_out;

SW_API void sw_json_out_init(sw_json_out *o, sw_text *text);
SW_API void sw_jw_object(sw_json_out *o, const char *key);
SW_API void sw_jw_array(sw_json_out *o, const char *key);
/* The same on one line, everything inside included: [4, 8]; {"lo": 1, "hi": 2}. */
SW_API void sw_jw_row(sw_json_out *o, const char *key);
SW_API void sw_jw_object_row(sw_json_out *o, const char *key);
/* The outermost object, which says what it is: {"format": "shardwright-NAME", "version": N, as docs/NAME.schema.json
 * describes it. */
SW_API void sw_jw_format(sw_json_out *o, const char *name, int version);
SW_API void sw_jw_end(sw_json_out *o); /* closes the innermost; the outermost ends with a newline */

SW_API void sw_jw_null(sw_json_out *o, const char *key);
SW_API void sw_jw_bool(sw_json_out *o, const char *key, bool v);
SW_API void sw_jw_i64(sw_json_out *o, const char *key, int64_t v);
/* The fewest of 15 to 17 digits that read back as the same double, with ".0" where they look like an integer; null when
 * not finite. */
SW_API void sw_jw_f64(sw_json_out *o, const char *key, double v);
SW_API void sw_jw_string(sw_json_out *o, const char *key, const char *v);
SW_API void sw_jw_string_n(sw_json_out *o, const char *key, const char *v, size_t n);
/* Frees the text; what failed in it is kept in text.rc. */
SW_API void sw_jw_text(sw_json_out *o, const char *key, sw_text *t);
/* As sw_sharding_print has it. */
SW_API void sw_jw_sharding(sw_json_out *o, const char *key, const sw_mesh *m, const sw_sharding *s);
/* As sw_mesh_print has it. */
SW_API void sw_jw_mesh(sw_json_out *o, const char *key, const sw_mesh *m);
/* An array with an element for each line of the text. */
SW_API void sw_jw_lines(sw_json_out *o, const char *key, const char *text);
SW_API void sw_jw_i64_list(sw_json_out *o, const char *key, const int64_t *v, int n);

/* One string, quoted and escaped; invalid UTF-8 bytes become U+FFFD. For writers of other formats too. */
/* The control character that a text begins with, 0: none, which takes *length bytes. NUL is none. */
SW_API uint32_t sw_control_at(const char *s, size_t n, size_t *length);
SW_API void sw_json_quote(sw_text *t, const char *s, size_t n);

#endif
