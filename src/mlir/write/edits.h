/* Changes to a text: bytes put in place of others, mostly of none. They are gathered in any order, and go into the text
 * in one pass; several at one place stand in the order in which they were put.
 *
 * An attribute is set where an op, an argument or a result has its dictionary, in either form of the text.
 */
#ifndef MLIR_EDITS_H_
#define MLIR_EDITS_H_

#include "mlir/text/attr.h"
#include "shardwright/arena.h"

/* `text` in place of bytes [at, end). */
typedef struct sw_ir_edit {
  uint32_t at, end;
  int64_t order;
  const char *text;
} sw_ir_edit;

typedef struct sw_ir_edits {
  const sw_ir_tree *t;
  const char *key;   /* the attribute that is set */
  const char *other; /* one of arguments and results that would contradict it, and makes room for it; NULL: none */
  SW_ARRAY(sw_ir_edit) list;
  sw_arena arena;
  sw_diag *d;
} sw_ir_edits;
void sw_ir_edits_free(sw_ir_edits *e);

/* Text at a place, and text in place of [at, end). It is borrowed; NULL: out of memory. */
SW_CHECKED sw_rc sw_ir_insert(sw_ir_edits *e, uint32_t at, const char *text);
SW_CHECKED sw_rc sw_ir_replace(sw_ir_edits *e, uint32_t at, uint32_t end, const char *text);
/* The attribute in a dictionary, braces included. Here and below, "" takes it out. */
SW_CHECKED sw_rc sw_ir_set_entry(sw_ir_edits *e, sw_ir_span dict, const char *value);
SW_CHECKED sw_rc sw_ir_drop_entries(sw_ir_edits *e, sw_ir_span dict, const char *const *keys, size_t n);
/* The attribute of an op; of arguments and of results of a function, values[0 .. n): NULL where one gets none. */
SW_CHECKED sw_rc sw_ir_set_op(sw_ir_edits *e, const sw_ir_op *o, const char *value);
SW_CHECKED sw_rc sw_ir_set_args(sw_ir_edits *e, const sw_ir_op *f, const char *const *values, uint32_t n);
SW_CHECKED sw_rc sw_ir_set_results(sw_ir_edits *e, const sw_ir_op *f, const char *const *values, uint32_t n);
/* The end of what stands between an op's name and its types, blanks left out. */
uint32_t sw_ir_body_end(const sw_ir_tree *t, const sw_ir_op *o);

/* Append the text, or a part of it, with all of them; what is inside bytes that are replaced is not looked at. Several
 * parts one after the other: the edits are sorted once. */
SW_CHECKED sw_rc sw_ir_edits_apply(sw_ir_edits *e, sw_text *out);
SW_CHECKED sw_rc sw_ir_edits_apply_within(sw_ir_edits *e, sw_ir_span text, sw_text *out);
void sw_ir_edits_sort(sw_ir_edits *e);
SW_CHECKED sw_rc sw_ir_edits_apply_sorted(const sw_ir_edits *e, sw_ir_span text, sw_text *out);

#endif
