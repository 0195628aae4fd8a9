/* Tuples: names for several values at once. A graph has none; while it is made, a slot holds the number of a tuple in
 * place of a value, and whatever carries values carries the tuple's elements (its leaves, as tuples nest).
 *
 *   %t = stablehlo.tuple %a, %b                 %t is (a, b)
 *   %c = stablehlo.get_tuple_element %t[1]      %c is b
 */
#ifndef MLIR_TUPLE_H_
#define MLIR_TUPLE_H_

#include "mlir/import/import.h"

static inline bool sw_im_is_tuple(sw_id v) { return v < -1; }
bool sw_ir_is_tuple_type(const sw_ir_tree *t, sw_ir_span type);

/* Leaves in order, in the keep arena. */
typedef struct sw_im_leaves {
  const sw_id *at;
  uint32_t n;
} sw_im_leaves;
SW_CHECKED sw_rc sw_im_leaves_of(sw_importer *m, const sw_id *values, uint32_t n, sw_im_leaves *out);
/* What is built like `like` (a value, or a tuple) of the next leaves; *next moves on. */
SW_CHECKED sw_rc sw_im_built_like(sw_importer *m, uint32_t op, sw_id like, const sw_id **next, sw_id *out);

/* The types of leaves of a list of types, in the keep arena. */
SW_CHECKED sw_rc sw_im_leaf_types(sw_importer *m, const sw_ir_span *types, uint32_t n, sw_ir_span **out,
                                  uint32_t *n_out);
/* What a type describes, built of the next leaves. */
SW_CHECKED sw_rc sw_im_built_of_type(sw_importer *m, uint32_t op, sw_ir_span type, const sw_id **next, sw_id *out);

/* An op whose one result is a tuple of tensors, while its importer runs: to that the op has a result for each of them.
 */
typedef struct sw_im_split {
  uint32_t op, n;
  const sw_ir_span *types;
  sw_id given[SW_MAX_RESULTS];
} sw_im_split;
/* Import `op` by `run` so, and bind the tuple when *done; as it is, when its result is no tuple. */
SW_CHECKED sw_rc sw_im_with_tuple_split(sw_importer *m, uint32_t op,
                                        sw_rc (*run)(sw_importer *m, uint32_t op, sw_ir_span target, bool *done),
                                        sw_ir_span target, bool *done);
bool sw_im_splits_tuple(const sw_importer *m);
/* Results of an op: of a tuple that is split, its elements. */
uint32_t sw_im_result_count(const sw_importer *m, uint32_t op);

/* An op of the graph with `n` results, of which those of the op of the text are built. */
SW_CHECKED sw_rc sw_im_give(sw_importer *m, uint32_t op, const sw_im_add *add, uint32_t n);

#endif
