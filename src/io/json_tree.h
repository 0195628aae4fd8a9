/* JSON text as a tree that remembers where everything stood, for readers with good messages.
 *
 * {"shape": "4x8"} read with sw_json_array(obj, "shape", &v, d) gives
 *   m.json:1:11: error: 'shape' is a string; expected an array
 *
 * Nodes live in the arena given to sw_json_parse and are read-only. Integers are exact over all of int64; `text` of a
 * number keeps its spelling, for u64 and for readers that want more digits than a double has. Refused while parsing:
 * what RFC 8259 refuses, a key twice in one object, nesting beyond SW_JSON_MAX_DEPTH, invalid UTF-8, a NUL character
 * in a string.
 */
#ifndef IO_JSON_TREE_H_
#define IO_JSON_TREE_H_

#include "shardwright/arena.h"

enum { SW_JSON_MAX_DEPTH = 200 };

typedef enum sw_json_kind {
  SW_JSON_NULL,
  SW_JSON_BOOL,
  SW_JSON_INT,   /* written without fraction or exponent, and fits int64 */
  SW_JSON_FLOAT, /* any other number */
  SW_JSON_STRING,
  SW_JSON_ARRAY,
  SW_JSON_OBJECT,
} sw_json_kind;

typedef struct sw_json sw_json;
struct sw_json {
  sw_json_kind kind;
  int32_t n; /* children, or bytes of `text` */
  int32_t line, col, key_line, key_col;
  const char *file;
  const char *key; /* name in the enclosing object; NULL elsewhere */
  union {
    const sw_json *at; /* array: elements; object: members, in file order */
    const char *text;  /* string: NUL-terminated UTF-8; number: as it was written */
    bool truth;
  };
  int64_t i64; /* INT */
  double f64;  /* INT and FLOAT */
};

/* Parse all of `bytes`. `file` (copied) is what messages call it. *out is the top-level value. */
SW_API SW_CHECKED sw_rc sw_json_parse(const char *file, const char *bytes, size_t n, sw_arena *arena,
                                      const sw_json **out, sw_diag *d);
/* Read the file (sw_file_read: "-", gzip) and parse it. */
SW_API SW_CHECKED sw_rc sw_json_read(const char *path, sw_arena *arena, const sw_json **out, sw_diag *d);

static inline sw_span sw_json_span(const sw_json *v) { return (sw_span){v->file, v->line, v->col}; }
static inline sw_span sw_json_key_span(const sw_json *v) { return (sw_span){v->file, v->key_line, v->key_col}; }

/* The member of an object, or NULL. Linear in the members: to visit a large object walk `at` instead. */
SW_API const sw_json *sw_json_find(const sw_json *object, const char *key);

/* Fails, at the key, for the first member that is not among keys[0..n): "unknown key 'shpe' in a value; did you mean
 * 'shape'?". `what` names the object. Also fails when `v` is not an object. */
SW_API SW_CHECKED sw_rc sw_json_only(const sw_json *v, const char *const *keys, int n, const char *what, sw_diag *d);

/* The same for one member. */
SW_API SW_CHECKED sw_rc sw_json_check_key(const sw_json *member, const char *const *keys, int n, const char *what,
                                          sw_diag *d);

/* A value as a type, or a failure at its place that calls it by its key (or as "element"). Ranges are inclusive. */
SW_API SW_CHECKED sw_rc sw_json_as_i64(const sw_json *v, int64_t min, int64_t max, int64_t *out, sw_diag *d);
SW_API SW_CHECKED sw_rc sw_json_as_f64(const sw_json *v, double min, double max, double *out, sw_diag *d);
SW_API SW_CHECKED sw_rc sw_json_as_bool(const sw_json *v, bool *out, sw_diag *d);
SW_API SW_CHECKED sw_rc sw_json_as_string(const sw_json *v, const char **out, sw_diag *d);
SW_API SW_CHECKED sw_rc sw_json_expect(const sw_json *v, sw_json_kind kind, sw_diag *d);

/* The same for a member that must be there. `object` must be an object (a failure says so too). */
SW_API SW_CHECKED sw_rc sw_json_member(const sw_json *object, const char *key, const sw_json **out, sw_diag *d);
SW_API SW_CHECKED sw_rc sw_json_i64(const sw_json *object, const char *key, int64_t min, int64_t max, int64_t *out,
                                    sw_diag *d);
SW_API SW_CHECKED sw_rc sw_json_f64(const sw_json *object, const char *key, double min, double max, double *out,
                                    sw_diag *d);
SW_API SW_CHECKED sw_rc sw_json_string(const sw_json *object, const char *key, const char **out, sw_diag *d);
SW_API SW_CHECKED sw_rc sw_json_array(const sw_json *object, const char *key, const sw_json **out, sw_diag *d);
SW_API SW_CHECKED sw_rc sw_json_object(const sw_json *object, const char *key, const sw_json **out, sw_diag *d);

/* The same for a member that may be absent: then *out keeps what the caller put there. */
SW_API SW_CHECKED sw_rc sw_json_opt_i64(const sw_json *object, const char *key, int64_t min, int64_t max, int64_t *out,
                                        sw_diag *d);
SW_API SW_CHECKED sw_rc sw_json_opt_f64(const sw_json *object, const char *key, double min, double max, double *out,
                                        sw_diag *d);
SW_API SW_CHECKED sw_rc sw_json_opt_bool(const sw_json *object, const char *key, bool *out, sw_diag *d);
SW_API SW_CHECKED sw_rc sw_json_opt_string(const sw_json *object, const char *key, const char **out, sw_diag *d);
SW_API SW_CHECKED sw_rc sw_json_opt_array(const sw_json *object, const char *key, const sw_json **out, sw_diag *d);
SW_API SW_CHECKED sw_rc sw_json_opt_object(const sw_json *object, const char *key, const sw_json **out, sw_diag *d);

/* An array of integers in range, copied to out[0..*n); at most `cap`. */
SW_API SW_CHECKED sw_rc sw_json_i64_list(const sw_json *v, int64_t min, int64_t max, int64_t *out, int cap, int *n,
                                         sw_diag *d);
/* One of `words[0..n)`: its index. "'kind' is 'inpt'; expected one of input, output". */
SW_API SW_CHECKED sw_rc sw_json_word(const sw_json *v, const char *const *words, int n, int *out, sw_diag *d);

#endif
