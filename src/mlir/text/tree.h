/* The syntax tree of an MLIR text: ops, regions, blocks and arguments as spans of the text, which stays as it is.
 *
 * Of `%0:2 = "a.b"(%x) <{k = 1 : i64}> ({ ... }) : (T) -> (T, T) loc(#l)` the tree has the results, the name, the
 * operand, the properties, the region, the types and the location, each as a place in the text; so does it of custom
 * forms (`%1 = stablehlo.reduce(%x init: %c) applies ...`), whatever the dialect. What stands in attributes is read
 * when someone asks (mlir/text/attr.h). Everything is in flat arrays; lists of ops, blocks and regions are chained
 * by index, in the order of the text. Nothing recurses: a text may nest as deeply as it likes.
 */
#ifndef MLIR_TREE_H_
#define MLIR_TREE_H_

#include "base/array.h"
#include "base/hash.h"
#include "shardwright/text.h"

/* Bytes [at, end) of the text; empty when there is nothing. */
typedef struct sw_ir_span {
  uint32_t at, end;
} sw_ir_span;

/* For %.*s. */
#define SW_IR_TEXT(t, span) (int)sw_ir_len(span), (t)->s + (span).at

static inline uint32_t sw_ir_len(sw_ir_span s) { return s.end - s.at; }

#define SW_IR_NONE UINT32_MAX

/* %name or %name#index. */
typedef struct sw_ir_use {
  sw_ir_span name; /* without % */
  uint32_t index;
} sw_ir_use;

/* %name or %name:count on the left of "=". */
typedef struct sw_ir_result {
  sw_ir_span name;
  uint32_t count;
} sw_ir_result;

/* Argument of a block or function; spans that are not written are empty. */
typedef struct sw_ir_arg {
  sw_ir_span name, type, attrs, loc;
} sw_ir_arg;

typedef struct sw_ir_op {
  sw_ir_span text;   /* from the first result to the end of the location */
  sw_ir_span name;   /* without quotes */
  sw_ir_span body;   /* what stands between the name and the types (or the end) */
  sw_ir_span props;  /* <{...}> of the generic form, braces included */
  sw_ir_span attrs;  /* {...}, braces included */
  sw_ir_span types;  /* after ":" */
  sw_ir_span loc;    /* loc(...) */
  sw_ir_span symbol; /* first @symbol, without the @ */
  uint32_t first_result, n_results;
  uint32_t first_use, n_uses;
  uint32_t first_region;      /* SW_IR_NONE: no region */
  uint32_t next;              /* op of the same block */
  uint32_t block;             /* where it stands */
  uint32_t first_arg, n_args; /* names written before the regions: `(%a: T)` or `(%a = %x)` */
  uint32_t n_bound;           /* of them, those bound to operands */
  bool generic;
} sw_ir_op;

typedef struct sw_ir_block {
  uint32_t first_op, region, next;
  uint32_t first_arg, n_args;
  sw_ir_span label; /* ^bb0 */
} sw_ir_block;

typedef struct sw_ir_region {
  uint32_t op, first_block, next;
  sw_ir_span text; /* braces included */
} sw_ir_region;

/* #name = value or !name = value. */
typedef struct sw_ir_alias {
  sw_ir_span name, value; /* the name with its # or ! */
} sw_ir_alias;

enum { SW_IR_MOST_ERRORS = 20 };

typedef struct sw_ir_tree {
  const char *file;
  const char *s; /* the text, a NUL behind it; borrowed */
  uint32_t n;
  SW_ARRAY(sw_ir_op) ops; /* parents before what is in their regions */
  SW_ARRAY(sw_ir_use) uses;
  SW_ARRAY(sw_ir_result) results;
  SW_ARRAY(sw_ir_arg) args;
  SW_ARRAY(sw_ir_block) blocks; /* block 0 is the file */
  SW_ARRAY(sw_ir_region) regions;
  SW_ARRAY(sw_ir_alias) aliases;
  SW_ARRAY(uint32_t) lines;       /* where each line begins */
  SW_ARRAY(sw_ir_span) resources; /* {-# ... #-} */
  SW_ARRAY(sw_diag) errors;       /* at most SW_IR_MOST_ERRORS, in the order of the text */
  sw_dict alias_of;               /* name to index of `aliases` */
} sw_ir_tree;

/* Parse. `s` has a NUL behind its n bytes and outlives the tree. SW_E_INPUT with *d the first of t->errors; the tree
 * then lacks what could not be read. To be freed in any case. */
SW_CHECKED sw_rc sw_ir_parse(const char *file, const char *s, size_t n, sw_ir_tree *t, sw_diag *d);
/* The same errors, and a tree that keeps no ops: memory follows the depth of the text, not its length. */
SW_CHECKED sw_rc sw_ir_check(const char *file, const char *s, size_t n, sw_ir_tree *t, sw_diag *d);
void sw_ir_free(sw_ir_tree *t);

/* The text again, from the pieces of the tree: what is between and inside ops, in their order. Equal to the input; the
 * writer of annotations walks the same way. */
void sw_ir_print(const sw_ir_tree *t, sw_text *out);

uint32_t sw_ir_region_count(const sw_ir_tree *t, const sw_ir_op *op);
/* Region `i` of an op, and its first block; SW_IR_NONE: there is none. */
uint32_t sw_ir_region_at(const sw_ir_tree *t, const sw_ir_op *op, uint32_t i);
uint32_t sw_ir_block_at(const sw_ir_tree *t, const sw_ir_op *op, uint32_t i);

/* The last op of a block; SW_IR_NONE: there is none, or no block. */
uint32_t sw_ir_last_op(const sw_ir_tree *t, uint32_t block);
/* The first op from `op` on that begins at byte `at` or behind it; t->ops.n: there is none. */
uint32_t sw_ir_op_from(const sw_ir_tree *t, uint32_t op, uint32_t at);
int sw_ir_compare_ops(const void *a, const void *b); /* of numbers of ops, for qsort */

sw_span sw_ir_place(const sw_ir_tree *t, uint32_t at); /* line and column of a byte */
bool sw_ir_is(const sw_ir_tree *t, sw_ir_span s, const char *text);
/* Is it one of these, with blanks between them? */
bool sw_ir_is_among(const sw_ir_tree *t, sw_ir_span s, const char *names);
bool sw_ir_starts(const sw_ir_tree *t, sw_ir_span s, const char *text);
bool sw_ir_ends(const sw_ir_tree *t, sw_ir_span s, const char *text);
/* The name that has result `i` of an op (over all names), and the number under that name; NULL: it has none. */
const sw_ir_result *sw_ir_result_at(const sw_ir_tree *t, const sw_ir_op *op, uint32_t i, uint32_t *number);
/* A text that was written with `rc`, in the arena; the buffer is freed. *out is NULL where it fails. */
SW_CHECKED sw_rc sw_ir_keep_text(sw_rc rc, sw_text *t, sw_arena *arena, const char **out, sw_diag *d);
/* The value of an alias; empty when there is none of the name (which has its # or !). */
sw_ir_span sw_ir_alias_value(const sw_ir_tree *t, sw_ir_span name);

#endif
