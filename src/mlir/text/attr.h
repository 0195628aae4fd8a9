/* Reading attributes where they stand: dictionaries, lists, numbers, words.
 *
 * A value is a span: `[0, 1]`, `array<i64: 1, 2>`, `dense<[1, 2]> : tensor<2xi64>`, `1 : i64`, `"text"`, `#alias`. The
 * text was bracketed well when it was parsed, so these readers only find their way. An empty span is an absent value; a
 * unit attribute (a key alone) has a place and no length.
 */
#ifndef MLIR_ATTR_H_
#define MLIR_ATTR_H_

#include <string.h>

#include "mlir/text/text_scan.h"

static inline bool sw_ir_present(sw_ir_span s) { return s.end != 0; }

/* The value at `key` among `key = value, ...`; braces or angles around them may be part of `entries`. */
sw_ir_span sw_ir_entry(const sw_ir_tree *t, sw_ir_span entries, const char *key);
/* The entries one after the other: *cursor starts at 0; false at the end. Keys without quotes. */
bool sw_ir_next_entry(const sw_ir_tree *t, sw_ir_span entries, uint32_t *cursor, sw_ir_span *key, sw_ir_span *value);
/* The items of [a, b] or a, b one after the other: *cursor starts at 0. */
bool sw_ir_next_item(const sw_ir_tree *t, sw_ir_span list, uint32_t *cursor, sw_ir_span *item);
/* `key = value` in the custom form of an op. */
sw_ir_span sw_ir_clause(const sw_ir_tree *t, const sw_ir_op *op, const char *key);
/* An attribute of an op by its name in the generic form, in properties or attributes, or (not NULL) in the custom one.
 * Aliases are looked up. */
sw_ir_span sw_ir_attr(const sw_ir_tree *t, const sw_ir_op *op, const char *key, const char *custom);
/* What a custom_call calls. */
sw_ir_span sw_ir_call_target(const sw_ir_tree *t, const sw_ir_op *call);
/* sdy.mesh: its name, and what stands behind it from the angle on. */
sw_ir_span sw_ir_mesh_name(const sw_ir_tree *t, const sw_ir_op *op);
sw_ir_span sw_ir_mesh_value(const sw_ir_tree *t, const sw_ir_op *op);
/* What an alias stands for, else the value itself. */
sw_ir_span sw_ir_resolved(const sw_ir_tree *t, sw_ir_span value);

/* The span without the brackets (or `#dialect.name<` `>`) around it. */
sw_ir_span sw_ir_inside(const sw_ir_tree *t, sw_ir_span value);
sw_ir_span sw_ir_trimmed(const sw_ir_tree *t, sw_ir_span s);
/* Have both spans the same text? */
static inline bool sw_ir_same(const sw_ir_tree *t, sw_ir_span a, sw_ir_span b) {
  return sw_ir_len(a) == sw_ir_len(b) && memcmp(t->s + a.at, t->s + b.at, sw_ir_len(a)) == 0;
}
/* The text in quotes, or of @symbol, or as it is. Escapes stay. */
sw_ir_span sw_ir_unquoted(const sw_ir_tree *t, sw_ir_span value);
/* The last word: GT of GT, #stablehlo<comparison_direction GT>, "GT". */
sw_ir_span sw_ir_last_word(const sw_ir_tree *t, sw_ir_span value);

/* Whole numbers of a list in any of its spellings (true and false are 1 and 0), appended to an array; one that stands
 * for all is repeated as often as its tensor type says. */
typedef SW_ARRAY(int64_t) sw_ir_ints;
SW_CHECKED sw_rc sw_ir_read_ints(const sw_ir_tree *t, sw_ir_span value, sw_ir_ints *out, sw_diag *d);
bool sw_ir_read_int(const sw_ir_tree *t, sw_ir_span value, int64_t *out);
bool sw_ir_read_float(const sw_ir_tree *t, sw_ir_span value, double *out);

#endif
